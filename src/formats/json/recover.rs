//! What the walker does with a token that is not due: it says what was expected, and goes on where
//! a reader would who knows what was meant. Also the words for what is wrong.

use std::borrow::Cow;

use crate::formats::json::decode::{Cut, Due, Walker, group_kind};
use crate::formats::json::strings::Fault;
use crate::formats::json::tokens::{Skim, behind_white, byte_behind_colon, path_text};
use crate::formats::json::wire::{
    BACKSLASH, Bracket, Class, Fit, LINE_FEED, Token, class, is_white, is_word, number_fit,
};
use crate::model::bytemap::{Flags, Kind, Step, is_plain_name};
use crate::model::diag::Code;
use crate::model::events::{Flow, Stop};
use crate::model::limits::PIECE;
use crate::model::value::{Event, Scalar};

/// Characters of the input that a sentence repeats.
const SHOWN: usize = 24;

impl Walker<'_> {
    /// Takes a comment, if one stands here.
    pub(super) fn comment(&mut self, byte: u8) -> Result<bool, Stop> {
        let block = match (byte, self.text.rest().get(1)) {
            (b'/', Some(b'*')) => true,
            (b'/', Some(b'/')) | (b'#', _) => false,
            _ => return Ok(false),
        };
        let help = "JSON has no comments: remove it, or read the file as JSON5 or JSONC and write it as JSON";
        self.report(Code::JsonSyntax, if byte == b'/' { 2 } else { 1 }, "expected JSON, found a comment", help)?;
        if block {
            self.leaf_until(Kind::UNREAD, block_end())?;
        } else {
            self.leaf_until(Kind::UNREAD, |bytes| memchr::memchr(LINE_FEED, bytes))?;
        }
        Ok(true)
    }

    /// No document begins here: the rest of the line is left.
    pub(super) fn no_document(&mut self) -> Flow {
        let due = if self.documents == 0 { "a value" } else { "the end of the text or another value" };
        let sentence = format!("expected {due}, found {}", self.found());
        self.report(Code::JsonSyntax, self.junk(), &sentence, self.quote_help())?;
        self.close_item()?;
        self.leaf_until(Kind::UNREAD, |bytes| memchr::memchr(LINE_FEED, bytes))
    }

    /// A comma or colon where an element is due.
    pub(super) fn no_element(&mut self, byte: u8) -> Flow {
        self.expected("a value", "")?;
        if class(byte) == Class::Comma {
            self.set_due(Due::Item);
            return self.leaf(Token::Comma, 1, Flags::NONE);
        }
        self.leaf(Token::Colon, 1, Flags::NONE)
    }

    /// Something else where a name is due.
    pub(super) fn no_name(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Comma => {
                self.expected("a name", "")?;
                self.set_due(Due::Item);
                self.leaf(Token::Comma, 1, Flags::NONE)
            }
            Class::Colon => {
                self.expected("a name", "a member is a name in double quotes, a colon and a value")?;
                self.nameless(byte_behind_colon(self.text.rest()))?;
                self.leaf(Token::Colon, 1, Flags::NONE)
            }
            Class::Open(_) => {
                self.expected("a name", "a member is a name in double quotes, a colon and a value")?;
                self.nameless(Some(byte))
            }
            Class::Quote | Class::Close(_) | Class::Word | Class::Other => self.bare_name(),
        }
    }

    /// A member whose name is not there.
    fn nameless(&mut self, value: Option<u8>) -> Flow {
        self.open_item(group_kind(value), Step::None)?;
        self.set_due(Due::Value);
        self.missing()
    }

    /// A name without double quotes.
    fn bare_name(&mut self) -> Flow {
        self.expected("a name in double quotes", self.quote_help())?;
        let len = self.junk();
        let word = self.text.next(len);
        let name = path_text(bare(word));
        let kind = group_kind(self.text.rest().get(len..).and_then(byte_behind_colon));
        let step = if is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        self.open_item(kind, step)?;
        self.set_due(Due::Colon);
        if self.wants {
            let text = Cow::Borrowed(bare(self.text.next(len)));
            self.out.value(Event::Scalar(Scalar::Text(text)))?;
        }
        self.unread(len)
    }

    /// Something else where a colon is due.
    pub(super) fn no_colon(&mut self, byte: u8) -> Flow {
        self.expected("a colon behind the name", "a member is a name in double quotes, a colon and a value")?;
        match class(byte) {
            Class::Comma | Class::Close(_) => {
                self.set_due(Due::Next);
                self.missing()
            }
            Class::Quote | Class::Open(_) | Class::Word | Class::Colon => {
                self.set_due(Due::Value);
                Ok(())
            }
            Class::Other if byte == b'=' => {
                self.set_due(Due::Value);
                let arrow = self.text.rest().get(1) == Some(&b'>');
                self.unread(if arrow { 2 } else { 1 })
            }
            Class::Other => self.unread(self.junk()),
        }
    }

    /// A colon, comma or closing bracket where the value of a member is due.
    pub(super) fn no_value(&mut self, byte: u8) -> Flow {
        self.expected("a value", "")?;
        if class(byte) == Class::Colon {
            return self.leaf(Token::Colon, 1, Flags::NONE);
        }
        self.set_due(Due::Next);
        self.missing()
    }

    /// Something else where a comma or the end is due.
    pub(super) fn no_comma(&mut self, byte: u8) -> Flow {
        let bracket = self.frames.last().map_or(Bracket::Array, |frame| frame.bracket);
        let item = match (class(byte), bracket) {
            (Class::Quote | Class::Open(_), _) | (Class::Word, Bracket::Array) => true,
            (Class::Word, Bracket::Object) => byte.is_ascii_alphabetic(),
            _ => byte == b'\'',
        };
        let due = match bracket {
            Bracket::Object => "a comma or \"}\"",
            Bracket::Array => "a comma or \"]\"",
        };
        self.expected(due, if item { "a comma stands between two items" } else { "" })?;
        if item {
            self.set_due(Due::Item);
            return Ok(());
        }
        if class(byte) != Class::Colon {
            return self.unread(self.junk());
        }
        if bracket == Bracket::Array {
            self.set_due(Due::Item);
        }
        self.leaf(Token::Colon, 1, Flags::NONE)
    }

    /// Something that begins no value where one is due.
    pub(super) fn odd_value(&mut self) -> Flow {
        self.expected("a value", self.quote_help())?;
        self.missing()?;
        self.unread(self.junk())
    }

    /// A container past the limit: all of it is left.
    pub(super) fn too_deep(&mut self, depth: usize) -> Flow {
        let sentence = format!("expected at most {depth} arrays and objects within each other, found one more");
        let help = "readers limit this, since each level costs memory; --limit-depth moves the limit";
        self.report(Code::JsonDepth, 1, &sentence, help)?;
        self.missing()?;
        let mut skim = Skim::default();
        self.leaf_until(Kind::UNREAD, |bytes| skim.end(bytes))
    }

    /// A closing bracket of the other kind. Where the container around the innermost one is of that
    /// kind, the innermost one lacks its bracket; otherwise this bracket was meant for it.
    pub(super) fn wrong_bracket(&mut self, found: Bracket) -> Flow {
        let (due, help) = match found {
            Bracket::Object => ("a comma or \"]\"", "the innermost open container is an array"),
            Bracket::Array => ("a comma or \"}\"", "the innermost open container is an object"),
        };
        self.expected(due, help)?;
        if self.closes_two(found) { self.pop() } else { Ok(()) }
    }

    /// Whether a bracket is likely to end the container around the innermost one.
    fn closes_two(&self, found: Bracket) -> bool {
        let Some(outer) = self.frames.len().checked_sub(2) else { return false };
        let next = behind_white(self.text.rest().get(1..).unwrap_or(&[])).first().copied().map(class);
        // Behind the outermost container nothing goes on.
        let goes_on = outer == 0 && matches!(next, Some(Class::Comma | Class::Close(_)));
        self.frames.get(outer).is_some_and(|frame| frame.bracket == found) && !goes_on
    }

    /// A closing bracket behind a comma.
    pub(super) fn trailing_comma(&mut self) -> Flow {
        let bracket = self.frames.last().map_or(Bracket::Array, |frame| frame.bracket);
        let due = match bracket {
            Bracket::Object => "another member behind the comma",
            Bracket::Array => "another element behind the comma",
        };
        self.expected(due, "JSON has no trailing comma: remove the last one in front of this bracket")
    }

    /// What the end of the input leaves open.
    pub(super) fn report_end(&mut self) -> Flow {
        if self.cut == Cut::Not && self.frames.is_empty() {
            if self.documents > 0 || self.has_erred() {
                return Ok(());
            }
            return self.report(Code::JsonSyntax, 0, "expected a value, found only white space", "");
        }
        let inside = match self.cut {
            Cut::Not => "",
            Cut::Escape => " inside an escape",
            Cut::String => " inside a string",
            Cut::Name => " inside a name",
            Cut::Number => " inside a number",
            Cut::Literal => " inside a literal",
        };
        let open = self.still_open();
        let colon = if open.is_empty() { "" } else { ": " };
        let sentence = format!("the text ends{inside}{colon}{open}");
        self.report(Code::JsonCut, 0, &sentence, "the end is missing: compare the size with that of the original")
    }

    /// `1 string, 2 objects and 1 array are still open`
    fn still_open(&self) -> String {
        let strings = usize::from(matches!(self.cut, Cut::Escape | Cut::String | Cut::Name));
        let of = |bracket| self.frames.iter().filter(|frame| frame.bracket == bracket).count();
        let counts = [("string", strings), ("object", of(Bracket::Object)), ("array", of(Bracket::Array))];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(noun, count)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let all: usize = counts.iter().map(|(_, count)| *count).sum();
        match parts.split_last() {
            None => String::new(),
            Some((last, [])) => format!("{last} {} still open", if all == 1 { "is" } else { "are" }),
            Some((last, others)) => format!("{} and {last} are still open", others.join(", ")),
        }
    }

    /// Reports a syntax error: what was expected at the cursor, and what stands there.
    fn expected(&mut self, what: &str, help: &str) -> Flow {
        let sentence = format!("expected {what}, found {}", self.found());
        self.report(Code::JsonSyntax, self.token_len(), &sentence, help)
    }

    /// The token at the cursor as a sentence names it.
    fn found(&self) -> String {
        match self.text.rest().first().copied().map(class) {
            Some(Class::Quote) => "a string".to_owned(),
            _ => shown(self.text.next(self.token_len())),
        }
    }

    fn token_len(&self) -> usize {
        match self.text.rest().first().copied().map(class) {
            Some(Class::Word) => {
                let word = self.text.next(PIECE);
                word.iter().position(|byte| !is_word(*byte)).unwrap_or(word.len())
            }
            Some(Class::Other) => self.junk(),
            Some(Class::Quote | Class::Open(_) | Class::Close(_) | Class::Colon | Class::Comma) | None => 1,
        }
    }

    /// Length of what nobody can place at the cursor, at most [`PIECE`].
    fn junk(&self) -> usize {
        junk_len(self.text.next(PIECE))
    }

    /// Help for quotes that are not those of JSON.
    fn quote_help(&self) -> &'static str {
        match self.text.rest() {
            [b'\'' | b'`', ..] | [0xe2, 0x80, ..] => "names and strings stand in double quotes, U+0022",
            [byte, ..] if class(*byte) == Class::Word => "names stand in double quotes, U+0022",
            _ => "",
        }
    }
}

/// Finds the end of a comment that begins with two characters and ends with `*/`.
fn block_end() -> impl FnMut(&[u8]) -> Option<usize> {
    let (mut head, mut star) = (2u8, false);
    move |bytes| {
        for (at, byte) in bytes.iter().enumerate() {
            if head > 0 {
                head = head.saturating_sub(1);
            } else if star && *byte == b'/' {
                return at.checked_add(1);
            } else {
                star = *byte == b'*';
            }
        }
        None
    }
}

/// Length of the run at the start that nobody can place: up to the closing single quote in the same
/// line, or up to the next white space or structural character.
fn junk_len(rest: &[u8]) -> usize {
    if let [b'\'', behind @ ..] = rest
        && let Some(len) = single_quoted(behind)
    {
        return len;
    }
    let ends = |byte: &u8| is_white(*byte) || !matches!(class(*byte), Class::Word | Class::Other);
    let behind = rest.get(1..).unwrap_or(&[]);
    behind.iter().position(ends).unwrap_or(behind.len()).saturating_add(1).min(rest.len())
}

/// Length of a string in single quotes whose first quote stands in front of `behind`.
fn single_quoted(behind: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in behind.iter().enumerate() {
        match *byte {
            LINE_FEED => return None,
            b'\'' if !escaped => return at.checked_add(2),
            byte => escaped = byte == BACKSLASH && !escaped,
        }
    }
    None
}

/// A name without the single quotes around it.
fn bare(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"'").and_then(|word| word.strip_suffix(b"'")).unwrap_or(word)
}

/// Bytes of the input in a sentence: in quotes, cut, control characters escaped.
pub fn shown(bytes: &[u8]) -> String {
    let start = bytes.get(..SHOWN.saturating_mul(4)).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start);
    let mut shown = String::from("\"");
    for c in text.chars().take(SHOWN) {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    if text.chars().count() > SHOWN || start.len() < bytes.len() {
        shown.push_str("...");
    }
    shown.push('"');
    shown
}

/// What is wrong inside a string, whose bytes are `there`.
pub fn fault_sentence(fault: Fault, there: &[u8]) -> String {
    match fault {
        Fault::Utf8(byte) => format!("expected UTF-8 in a string, found byte {byte:02x}"),
        Fault::Control(byte) => format!("expected an escape, found control character {byte:#04x} in a string"),
        Fault::Escape => format!("expected an escape that JSON knows, found {}", shown(there)),
        Fault::Surrogate => format!("expected a pair of surrogates, found {} alone", shown(there)),
    }
}

/// What to try about it.
pub fn fault_help(fault: Fault) -> &'static str {
    match fault {
        Fault::Utf8(_) => "JSON is UTF-8: the text may be Latin-1, or binary data that belongs into base64",
        Fault::Control(LINE_FEED) => "a line end in a string is written \\n; or the closing quote is missing",
        Fault::Control(_) => "write it as \\u and four hexadecimal digits",
        Fault::Escape => "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t, and \\u with four hexadecimal digits",
        Fault::Surrogate => "characters from U+10000 on take two escapes, \\ud800..\\udbff then \\udc00..\\udfff",
    }
}

/// What to try about a word that is no value.
pub fn word_help(word: &[u8]) -> String {
    let instead = match word {
        b"True" => "true",
        b"False" => "false",
        b"None" | b"nil" | b"undefined" | b"NULL" | b"Null" => "null",
        _ => "",
    };
    if !instead.is_empty() {
        let python = if matches!(word, b"True" | b"False" | b"None") { "; Python's json.dumps does" } else { "" };
        return format!("JSON writes {instead}{python}");
    }
    let lower = word.to_ascii_lowercase();
    let unsigned = lower.strip_prefix(b"-").or(lower.strip_prefix(b"+")).unwrap_or(&lower);
    let help = match unsigned {
        b"nan" | b"inf" | b"infinity" => "JSON has no NaN and no infinity: common is null, or the text \"NaN\"",
        _ if word.starts_with(b"+") => "a number has no plus sign: leave it out",
        [b'.', ..] => "a digit stands in front of the point: 0.5",
        [b'0', b'x' | b'o' | b'b', ..] => "numbers are decimal, or stand in quotes as text",
        [b'0', b'0'..=b'9', ..] => "a number does not begin with 0: leave the zero out, or write text in quotes",
        _ if unsigned.contains(&b'_') => "digits are not grouped: leave the _ out",
        [b'0'..=b'9', ..] if number_fit(word) == Fit::Begun => "digits stand behind a point and behind an e",
        _ => "text stands in double quotes; without them only true, false and null can",
    };
    help.to_owned()
}
