//! What the walker does with a token that is not due: it says what was expected, and goes on where
//! a reader would who knows what was meant. Also the words for what is wrong.

use std::borrow::Cow;

use crate::formats::json::decode::{Cut, Due, Walker, group_kind};
use crate::formats::json::strings::{Fault, NEAR, begins_member, behind_white, push_visible};
use crate::formats::json::tokens::{Skim, byte_behind_colon, path_text};
use crate::formats::json::wire::{
    BACKSLASH, Bracket, Class, Fit, LINE_FEED, QUOTE, Token, class, escape_letter, is_special, is_white, is_word,
    number_fit, odd_space,
};
use crate::model::bytemap::{Flags, Kind, Step, is_plain_name};
use crate::model::diag::Code;
use crate::model::events::{Flow, Stop};
use crate::model::limits::PIECE;
use crate::model::num::listed;
use crate::model::value::{Event, Scalar};

/// Characters of the input that a sentence repeats.
const SHOWN: usize = 24;
/// Open containers that the finding on a cut text names.
const NAMED: usize = 3;

/// Help where there is no text at all.
pub const LEAST: &str = "the shortest texts are {}, [], \"\" and a single digit";
/// Help where something else stands for a member.
const MEMBER: &str = "a member is a name in double quotes, a colon and a value";

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

    /// Takes white space that JSON does not know, if it stands here.
    pub(super) fn odd_space(&mut self) -> Result<bool, Stop> {
        let Some((first, name)) = odd_space(self.text.rest()) else { return Ok(false) };
        let near = self.text.next(PIECE);
        let mut len = 0usize;
        while let Some((c, _)) = near.get(len..).and_then(odd_space) {
            len = len.saturating_add(c.len_utf8());
        }
        let sentence = format!("expected a blank, tab or line end, found U+{:04X}, {name}", u32::from(first));
        let help = "JSON knows no other white space between tokens: write a blank instead";
        self.report(Code::JsonSyntax, len, &sentence, help)?;
        self.unread(len)?;
        Ok(true)
    }

    /// Takes control characters inside a container.
    pub(super) fn control_character(&mut self, byte: u8) -> Result<bool, Stop> {
        if !is_control(&byte) || self.frames.is_empty() {
            return Ok(false);
        }
        let near = self.text.next(PIECE);
        let len = near.iter().position(|byte| !is_control(byte)).unwrap_or(near.len());
        let sentence = format!("expected a blank, tab or line end, found {}", shown(self.text.next(len)));
        self.report(Code::JsonSyntax, len, &sentence, self.junk_help())?;
        self.unread(len)?;
        Ok(true)
    }

    /// No document begins here: the rest of the line is left.
    pub(super) fn no_document(&mut self) -> Flow {
        self.close_item()?;
        let due = if self.documents == 0 { "a value" } else { "the end of the text or another value" };
        let sentence = format!("expected {due}, found {}", self.found());
        let help = match self.text.rest().first().copied().map(class) {
            Some(Class::Close(_)) => "this bracket closes nothing: every one before it is closed already",
            Some(Class::Comma | Class::Colon) if self.documents > 0 => {
                "the text is complete in front of it: several texts stand in a row without anything between"
            }
            Some(Class::Word) => "behind a text only white space and further texts can stand",
            _ => self.junk_help(),
        };
        self.report(Code::JsonSyntax, self.junk(), &sentence, help)?;
        self.leaf_until(Kind::UNREAD, |bytes| memchr::memchr(LINE_FEED, bytes))
    }

    /// A comma or colon where an element is due.
    pub(super) fn no_element(&mut self, byte: u8) -> Flow {
        self.close_item()?;
        if class(byte) == Class::Comma {
            self.expected(
                "a value",
                "one comma stands between two elements: an element is missing, or a comma too many",
            )?;
            self.set_due(Due::Item);
            return self.leaf(Token::Comma, 1, Flags::NONE);
        }
        self.expected("a value", "colons stand in objects only, between a name and its value")?;
        self.leaf(Token::Colon, 1, Flags::NONE)
    }

    /// Something else where a name is due.
    pub(super) fn no_name(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Comma => {
                self.close_item()?;
                self.expected(
                    "a name",
                    "one comma stands between two members: a member is missing, or a comma too many",
                )?;
                self.set_due(Due::Item);
                self.leaf(Token::Comma, 1, Flags::NONE)
            }
            Class::Colon => {
                self.nameless(byte_behind_colon(self.text.rest()))?;
                self.expected("a name", MEMBER)?;
                self.leaf(Token::Colon, 1, Flags::NONE)
            }
            Class::Open(_) => {
                self.nameless(Some(byte))?;
                self.expected("a name", MEMBER)
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
        let len = self.junk();
        let word = self.text.next(len);
        let name = path_text(bare(word));
        let kind = group_kind(self.text.rest().get(len..).and_then(byte_behind_colon));
        let step = if is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        self.open_item(kind, step)?;
        self.expected("a name in double quotes", self.quote_help().unwrap_or(self.junk_help()))?;
        self.set_due(Due::Colon);
        if self.wants {
            let text = Cow::Borrowed(bare(self.text.next(len)));
            self.out.value(Event::Scalar(Scalar::Text(text)))?;
        }
        self.unread(len)
    }

    /// Something else where a colon is due.
    pub(super) fn no_colon(&mut self, byte: u8) -> Flow {
        if byte != b'='
            && let Some(len) = self.inner_quote(byte, true)
        {
            return self.inner("a colon behind the name", len);
        }
        self.expected("a colon behind the name", MEMBER)?;
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
        let colon = class(byte) == Class::Colon;
        let help = if colon { "one colon stands between a name and its value" } else { "no value is written null" };
        self.expected("a value", help)?;
        if colon {
            return self.leaf(Token::Colon, 1, Flags::NONE);
        }
        self.set_due(Due::Next);
        self.missing()
    }

    /// Something else where a comma or the end is due.
    pub(super) fn no_comma(&mut self, byte: u8) -> Flow {
        if class(byte) == Class::Quote && self.name_in_array()? {
            return Ok(());
        }
        let bracket = self.frames.last().map_or(Bracket::Array, |frame| frame.bracket);
        let due = match bracket {
            Bracket::Object => "a comma or \"}\"",
            Bracket::Array => "a comma or \"]\"",
        };
        if let Some(len) = self.inner_quote(byte, false) {
            return self.inner(due, len);
        }
        self.close_item()?;
        if byte == b';' {
            return self.semicolon(due);
        }
        let item = match (class(byte), bracket) {
            (Class::Quote | Class::Open(_), _) | (Class::Word, Bracket::Array) => true,
            (Class::Word, Bracket::Object) => byte.is_ascii_alphabetic(),
            _ => byte == b'\'',
        };
        let help = match (class(byte), bracket) {
            _ if item => "a comma stands between two items",
            (Class::Colon, Bracket::Array) => "colons stand in objects only: a member of one may have got in here",
            (Class::Colon, Bracket::Object) => "a member has one colon: a comma or a name may be missing",
            _ => self.junk_help(),
        };
        self.expected(due, help)?;
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

    /// A semicolon where a comma is due.
    fn semicolon(&mut self, due: &str) -> Flow {
        self.expected(due, "a comma stands between two items, nothing else")?;
        let next = behind_white(self.text.rest().get(1..).unwrap_or(&[])).first().copied().map(class);
        if !matches!(next, Some(Class::Close(_) | Class::Comma)) {
            self.set_due(Due::Item);
        }
        self.unread(1)
    }

    /// Length of what follows right behind the quote that ended a string, if that quote was most likely
    /// meant to stand in it: up to the quote in the same line behind which the text goes on as it should.
    fn inner_quote(&self, byte: u8, in_name: bool) -> Option<usize> {
        let inside = matches!(class(byte), Class::Word | Class::Other) && self.behind_quote == Some(self.text.offset());
        let near = if inside { self.text.next(NEAR) } else { &[] };
        let (mut last, mut escaped) = (byte, false);
        for (at, byte) in near.iter().enumerate() {
            match *byte {
                LINE_FEED => return None,
                // A quote behind one of these begins a string.
                QUOTE if !escaped && matches!(last, b',' | b':' | b'[' | b'{') => return None,
                QUOTE if !escaped => {
                    let len = at.saturating_add(1);
                    let next = behind_white(near.get(len..).unwrap_or(&[])).first().copied().map(class);
                    let ends = match next {
                        Some(Class::Colon) => in_name,
                        Some(Class::Comma | Class::Close(_)) => !in_name,
                        _ => false,
                    };
                    if ends {
                        return Some(len);
                    }
                }
                _ => {}
            }
            escaped = *byte == BACKSLASH && !escaped;
            if !is_white(*byte) {
                last = *byte;
            }
        }
        None
    }

    /// The rest of a string with a quote in it.
    fn inner(&mut self, due: &str, len: usize) -> Flow {
        let sentence = format!("expected {due}, found {} right behind a closing quote", shown(self.text.next(len)));
        self.report(Code::JsonSyntax, len, &sentence, "write \\\" inside a string")?;
        self.unread(len)
    }

    /// A name and a colon behind the elements of an array that is the value of a member: the array lacks
    /// its bracket. Ends it, and says so.
    pub(super) fn name_in_array(&mut self) -> Result<bool, Stop> {
        let [.., outer, inner] = self.frames.as_slice() else { return Ok(false) };
        let inside = outer.bracket == Bracket::Object && inner.bracket == Bracket::Array && inner.items > 0;
        if !inside || !begins_member(self.text.next(NEAR)) {
            return Ok(false);
        }
        self.close_item()?;
        let sentence = format!("expected \"]\" to end {}, found a name and a colon", self.innermost());
        self.report(Code::JsonSyntax, 1, &sentence, "a \"]\" is missing in front of this name")?;
        self.pop()?;
        self.set_due(Due::Item);
        Ok(true)
    }

    /// Something that begins no value where one is due.
    pub(super) fn odd_value(&mut self) -> Flow {
        self.expected("a value", self.quote_help().unwrap_or(self.junk_help()))?;
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
        let due = match found {
            Bracket::Object => format!("a comma, or \"]\" to end {}", self.innermost()),
            Bracket::Array => format!("a comma, or \"}}\" to end {}", self.innermost()),
        };
        self.expected(&due, "the closing bracket is missing, or this one is of the wrong kind")?;
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
            return self.report(Code::JsonSyntax, 0, "expected a value, found only white space", LEAST);
        }
        // What is missing behind a whole item is missing in its container.
        let due = self.frames.last().map(|frame| frame.due);
        if self.cut == Cut::Not && !matches!(due, Some(Due::Colon | Due::Value)) {
            self.close_item()?;
        }
        let at = self.string_at;
        let inside = match self.cut {
            Cut::Not => String::new(),
            Cut::Escape => format!(" inside an escape of the string opened at {at:#04x}"),
            Cut::String => format!(" inside the string opened at {at:#04x}"),
            Cut::Name => format!(" inside the name opened at {at:#04x}"),
            Cut::Number => " inside a number".to_owned(),
            Cut::Literal => " inside a literal".to_owned(),
        };
        let open = self.still_open();
        let sentence = format!("the text ends{inside}{open}");
        self.report(Code::JsonCut, 0, &sentence, "the end is missing: compare the size with that of the original")
    }

    /// The open containers in a sentence, innermost first.
    fn opened(&mut self) -> impl Iterator<Item = String> {
        let nouns = self.frames.iter().rev().map(|frame| match frame.bracket {
            Bracket::Object => "object",
            Bracket::Array => "array",
        });
        nouns.zip(self.text.kept()).map(|(noun, (at, place))| format!("the {noun} opened at {place} ({at:#04x})"))
    }

    fn innermost(&mut self) -> String {
        self.opened().next().unwrap_or_default()
    }

    /// `; still open: the array opened at …, the object opened at … and 2 more`, innermost first.
    fn still_open(&mut self) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let mut parts: Vec<String> = self.opened().take(NAMED).collect();
        let others = self.frames.len().saturating_sub(NAMED);
        if others > 0 {
            parts.push(format!("{others} more"));
        }
        format!("; still open: {}", listed(&parts))
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

    /// Help for text without quotes, or with others than those of JSON.
    fn quote_help(&self) -> Option<&'static str> {
        match self.text.rest() {
            [b'\'' | b'`', ..] | [0xe2, 0x80, ..] => Some("names and strings stand in double quotes, U+0022"),
            [byte, ..] if class(*byte) == Class::Word => Some("names stand in double quotes, U+0022"),
            _ => None,
        }
    }

    /// Help for what has no place in JSON.
    fn junk_help(&self) -> &'static str {
        match self.text.rest() {
            [b'\'' | b'`', ..] | [0xe2, 0x80, ..] => "names and strings stand in double quotes, U+0022",
            [byte, ..] if is_control(byte) => "control characters stand in strings only, as escapes: remove it",
            _ => "remove it, or write it as text in double quotes",
        }
    }
}

/// Whether a byte is a control character that is no white space.
fn is_control(byte: &u8) -> bool {
    byte.is_ascii_control() && !is_white(*byte)
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
    if rest.first() == Some(&b';') {
        return 1;
    }
    let placed = |byte: u8| is_white(byte) || byte == b';' || !matches!(class(byte), Class::Word | Class::Other);
    let ends = |at: &usize| match rest.get(*at..) {
        Some([byte, ..]) => placed(*byte) || odd_space(rest.get(*at..).unwrap_or(&[])).is_some(),
        _ => true,
    };
    (1..rest.len()).find(ends).unwrap_or(rest.len())
}

/// Length of a string in single quotes whose first quote stands in front of `behind`. An apostrophe
/// between letters ends it only if no better quote follows near by.
fn single_quoted(behind: &[u8]) -> Option<usize> {
    let (mut escaped, mut apostrophe) = (false, None);
    for (at, byte) in behind.iter().enumerate() {
        match *byte {
            LINE_FEED => return apostrophe,
            b'\'' if !escaped => {
                let len = at.checked_add(2)?;
                if !behind.get(at.saturating_add(1)).is_some_and(u8::is_ascii_alphanumeric) {
                    return Some(len);
                }
                apostrophe = apostrophe.or(Some(len));
            }
            _ if apostrophe.is_some() && at > NEAR => return apostrophe,
            // The apostrophe did end it: what follows is the next item.
            b',' | b':' | b'{' | b'[' if apostrophe.is_some() => return apostrophe,
            _ => {}
        }
        escaped = *byte == BACKSLASH && !escaped;
    }
    apostrophe
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
        push_visible(c, &mut shown);
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
pub fn fault_help(fault: Fault) -> String {
    let help = match fault {
        Fault::Control(byte) => return control_help(byte),
        Fault::Utf8(_) => "JSON is UTF-8: the text may be Latin-1, or binary data that belongs into base64",
        Fault::Escape => "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t, and \\u with four hexadecimal digits",
        Fault::Surrogate => "characters from U+10000 on take two escapes, \\ud800..\\udbff then \\udc00..\\udfff",
    };
    help.to_owned()
}

/// How a control character is written.
fn control_help(byte: u8) -> String {
    let mut escape = String::new();
    push_visible(char::from(byte), &mut escape);
    match escape_letter(byte) {
        Some(b'n') => format!("a line end in a string is written {escape}; or the closing quote is missing"),
        Some(b't') => format!("a tab in a string is written {escape}"),
        _ => format!("in a string it is written {escape}"),
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
        return format!("JSON writes {instead}");
    }
    if is_special(word) {
        return "JSON has no NaN and no infinity: common is null, or the text \"NaN\"".to_owned();
    }
    let lower = word.to_ascii_lowercase();
    let unsigned = lower.strip_prefix(b"-").or(lower.strip_prefix(b"+")).unwrap_or(&lower);
    let help = match unsigned {
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
