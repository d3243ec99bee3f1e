//! What leaves say: in a row, alone, as a value, and in the notes of a first lesson.

use crate::formats::json::encode::quoted;
use crate::formats::json::strings::{Escaped, escape, push_visible, unescaped};
use crate::formats::json::wire::{BACKSLASH, Fit, LONG_ESCAPE, QUOTE, Token, literal_fit, number_fit};
use crate::formats::{Note, Seen, Telling};
use crate::model::bytemap::{Flags, Kind, Leaf};
use crate::model::limits::LONG_TEXT;
use crate::model::num::{bytes, len64};
use crate::wire::reader::bytes_of_signed;

/// The token of a leaf, unless it is of a kind that all formats share.
fn token(leaf: &Leaf) -> Option<Token> {
    if leaf.kind.owner == Kind::COMMON { None } else { Token::of_code(leaf.kind.code) }
}

/// Appends what a leaf says.
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    let Some(token) = token(leaf) else { return };
    match telling {
        Telling::Row => tell_in_row(token, leaf, head, out),
        Telling::Alone => tell_alone(token, leaf, head, out),
    }
}

fn tell_in_row(token: Token, leaf: &Leaf, head: &[u8], out: &mut String) {
    match token {
        Token::ObjectBegin => out.push_str("object"),
        Token::ArrayBegin => out.push_str("array"),
        Token::String => {
            out.push_str("string ");
            push_text(head, is_long(leaf, head), out);
        }
        Token::Number => {
            out.push_str("number ");
            push_word(head, is_long(leaf, head), out);
        }
        Token::Literal => push_word(head, is_long(leaf, head), out),
        Token::ByteOrderMark => out.push_str("byte order mark"),
        Token::ObjectEnd
        | Token::ArrayEnd
        | Token::Colon
        | Token::Comma
        | Token::Quote
        | Token::Name
        | Token::WhiteSpace => {}
    }
}

fn tell_alone(token: Token, leaf: &Leaf, head: &[u8], out: &mut String) {
    match token {
        Token::String | Token::Name => {
            out.push_str(name(token));
            out.push_str(piece_word(leaf));
            let content = if token == Token::Name { without_quotes(head) } else { head };
            push_text(content, is_long(leaf, head), out);
        }
        Token::Number | Token::Literal => {
            out.push_str(name(token));
            out.push_str(piece_word(leaf));
            push_word(head, is_long(leaf, head), out);
        }
        Token::WhiteSpace => {
            out.push_str("white space, ");
            out.push_str(&bytes(leaf.len()));
        }
        Token::ObjectBegin
        | Token::ObjectEnd
        | Token::ArrayBegin
        | Token::ArrayEnd
        | Token::Colon
        | Token::Comma
        | Token::Quote
        | Token::ByteOrderMark => out.push_str(name(token)),
    }
}

fn name(token: Token) -> &'static str {
    crate::formats::json::wire::KINDS.get(token as usize).map_or("", |info| info.name)
}

/// What stands between the name of a token and its text.
fn piece_word(leaf: &Leaf) -> &'static str {
    if leaf.flags.has(Flags::PIECE) { " piece " } else { " " }
}

/// Whether a leaf is longer than what is held of it, or one piece of a longer value.
fn is_long(leaf: &Leaf, head: &[u8]) -> bool {
    leaf.flags.has(Flags::PIECE) || leaf.len() > len64(head.len())
}

/// The content of a name; one that is cut, or whose closing quote is missing, has only the first quote.
fn without_quotes(head: &[u8]) -> &[u8] {
    let name = head.strip_prefix(&[QUOTE]).unwrap_or(head);
    name.strip_suffix(&[QUOTE]).unwrap_or(name)
}

/// The text of a string in quotes, with escapes for what cannot be seen; of a long one the beginning.
fn push_text(content: &[u8], long: bool, out: &mut String) {
    if !long {
        push_readable(unescaped(content).chars(), out);
        out.push('"');
        return;
    }
    // A character takes at most a pair of escapes, so the cut one at the end is not among these.
    let most = LONG_TEXT.saturating_mul(2 * LONG_ESCAPE);
    let text = unescaped(content.get(..most).unwrap_or(content));
    push_readable(text.chars().take(LONG_TEXT), out);
    out.push_str("..");
}

/// A number or literal; of a long one the beginning.
fn push_word(head: &[u8], long: bool, out: &mut String) {
    let shown = if long { head.get(..LONG_TEXT).unwrap_or(head) } else { head };
    out.push_str(&String::from_utf8_lossy(shown));
    if long {
        out.push_str("..");
    }
}

/// A quote and text as JSON writes it, with escapes for what cannot be seen.
fn push_readable(text: impl Iterator<Item = char>, out: &mut String) {
    out.push('"');
    for c in text {
        if matches!(c, '"' | '\\') {
            out.push(char::from(BACKSLASH));
        }
        push_visible(c, out);
    }
}

/// The value of a leaf as JSON text.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    let all = !is_long(leaf, head);
    let text = || std::str::from_utf8(head).ok().map(str::to_owned);
    match token(leaf)? {
        Token::String if all => Some(quoted(&unescaped(head))),
        Token::Number if all && number_fit(head) == Fit::Whole => text(),
        Token::Literal if all && literal_fit(head) == Fit::Whole => text(),
        _ => None,
    }
}

/// What a row teaches; the dump shows each kind of note once.
pub fn notes(row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
    row.iter().flat_map(|seen| note(seen, wanted).into_iter().chain(escape_note(seen, wanted))).collect()
}

fn note(seen: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let leaf = &seen.leaf;
    if leaf.flags.has(Flags::ERROR) || is_long(leaf, seen.head()) && token(leaf) != Some(Token::WhiteSpace) {
        return None;
    }
    let token = token(leaf)?;
    let id = match token {
        Token::ObjectBegin => "json-object",
        Token::ArrayBegin => "json-array",
        Token::Name => "json-name",
        Token::String => "json-string",
        Token::Number => "json-number",
        Token::WhiteSpace => "json-white-space",
        _ => return None,
    };
    if !wanted(id) {
        return None;
    }
    let text = match token {
        Token::ObjectBegin => "7b is {: no count or length follows, a reader goes on up to the matching }".to_owned(),
        Token::ArrayBegin => "5b is [: how many elements follow is known only at the matching ]".to_owned(),
        Token::Name => name_text(leaf),
        Token::String => string_text(leaf),
        Token::Number => number_text(leaf, seen.head())?,
        _ => white_text(leaf),
    };
    Some(Note { id, carets: vec![(leaf.start, leaf.end)], text })
}

fn name_text(leaf: &Leaf) -> String {
    format!("the name in full, {} with its quotes, wherever the member occurs", bytes(leaf.len()))
}

fn string_text(leaf: &Leaf) -> String {
    let held = bytes(leaf.len());
    format!("{held} of text; no length is stored: a string goes up to the next 22 (\") that no 5c (\\) escapes")
}

fn white_text(leaf: &Leaf) -> String {
    format!("white space between tokens means nothing: {} that minified JSON leaves out", bytes(leaf.len()))
}

/// What a whole number costs as text and as a binary integer.
fn number_text(leaf: &Leaf, head: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(head).ok()?;
    let binary = text.parse::<i64>().ok().map(bytes_of_signed);
    Some(match binary {
        Some(binary) => format!(
            "a number is written in decimal, a byte a character: {} here, {} as a binary integer",
            bytes(leaf.len()),
            binary
        ),
        None => format!("a number is written in decimal, a byte a character: {} here", bytes(leaf.len())),
    })
}

/// An escape such as `\u00e9`, if the first bytes show one.
fn escape_note(seen: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    if token(&seen.leaf)? != Token::String || is_long(&seen.leaf, seen.head()) {
        return None;
    }
    let at = seen.head().windows(2).position(|pair| pair == [BACKSLASH, b'u'])?;
    // A backslash in front would make this one the second half of an escaped backslash.
    let before = seen.head().get(..at)?.iter().rev().take_while(|byte| **byte == BACKSLASH).count();
    let (len, Escaped::Char(c)) = escape(seen.head().get(at..)?) else { return None };
    if !before.is_multiple_of(2) || len < LONG_ESCAPE {
        return None;
    }
    if !wanted("json-escape") {
        return None;
    }
    let start = seen.leaf.start.checked_add(u64::try_from(at).ok()?)?;
    let end = start.checked_add(u64::try_from(len).ok()?)?;
    let written = String::from_utf8_lossy(seen.head().get(at..at.checked_add(len)?)?).into_owned();
    let shown = if c.is_control() { format!("the control character U+{:04X}", u32::from(c)) } else { c.to_string() };
    let plain = c.len_utf8();
    let text = format!("{written} is {shown}: {len} bytes for a character that takes {plain} in UTF-8");
    Some(Note { id: "json-escape", carets: vec![(start, end)], text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(token: Token, len: u64) -> Leaf {
        Leaf::new(4, 4 + len, 0, token.kind(0))
    }

    fn told(token: Token, head: &str, telling: Telling) -> String {
        let mut out = String::new();
        tell(&leaf(token, head.len() as u64), head.as_bytes(), telling, &mut out);
        out
    }

    #[test]
    fn rows_tell_values_and_leave_out_what_is_seen() {
        assert_eq!(told(Token::String, r"gr\u00fcn it's\n", Telling::Row), r#"string "grün it's\n""#);
        assert_eq!(told(Token::Number, "12", Telling::Row), "number 12");
        assert_eq!(told(Token::Literal, "true", Telling::Row), "true");
        assert_eq!(told(Token::Name, "\"id\"", Telling::Row), "");
    }

    #[test]
    fn alone_every_token_says_something() {
        assert_eq!(told(Token::Name, "\"id\"", Telling::Alone), "name \"id\"");
        assert_eq!(told(Token::WhiteSpace, " \n  ", Telling::Alone), "white space, 4 bytes");
        for token in Token::ALL {
            assert!(!told(token, "1", Telling::Alone).is_empty(), "{token:?}");
        }
    }

    #[test]
    fn values_are_json_text() {
        let of = |token, text: &str| value(&leaf(token, text.len() as u64), text.as_bytes());
        assert_eq!(of(Token::String, r"\u00e9\n\/").as_deref(), Some(r#""é\n/""#));
        assert_eq!(of(Token::Number, "1.50").as_deref(), Some("1.50"));
        assert_eq!(of(Token::Number, "01"), None);
        assert_eq!(of(Token::Colon, ":"), None);
    }

    #[test]
    fn notes_count_the_bytes_they_speak_of() {
        let seen = |token, text: &str| Seen::new(&leaf(token, text.len() as u64), text.as_bytes());
        let number = notes(&[seen(Token::Number, "55613")], &mut |_| true);
        let expected = "a number is written in decimal, a byte a character: 5 bytes here, 2 as a binary integer";
        assert_eq!(number[0].text, expected);
        let escape = notes(&[seen(Token::String, r"a\u00e9b")], &mut |_| true);
        assert_eq!(escape[1].text, r"\u00e9 is é: 6 bytes for a character that takes 2 in UTF-8");
        assert_eq!(escape[1].carets, [(5, 11)]);
        assert_eq!(notes(&[seen(Token::String, r"\\u00e9")], &mut |_| true).len(), 1);
    }
}
