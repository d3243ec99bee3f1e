//! What tokens are made of: names, strings, numbers, literals, and how far a look ahead goes.

use std::borrow::Cow;

use crate::formats::json::decode::{Cut, Due, Walker, group_kind};
use crate::formats::json::recover;
use crate::formats::json::strings::{Fault, Stopped, behind_white, trimmed};
use crate::formats::json::text::Place;
use crate::formats::json::wire::{
    BACKSLASH, Class, Fit, LONG_ESCAPE, QUOTE, Token, begins_number, class, is_special, is_word, literal_fit,
    number_fit,
};
use crate::model::bytemap::{Flags, Step, is_plain_name};
use crate::model::diag::Code;
use crate::model::events::{Flow, Stop};
use crate::model::keys::{Scope, Seen};
use crate::model::limits::{PATH_NAME, PIECE};
use crate::model::num::len64;
use crate::model::value::{Event, Scalar};

/// Bytes ahead that a piece of a string needs, with the escape that may follow it.
const STRING_AHEAD: usize = PIECE + 4 * LONG_ESCAPE;
/// Digits up to which a number without exponent is below the largest float64.
const FLOAT64_DIGITS: usize = 308;

impl Walker<'_> {
    /// The name of a member, with its quotes.
    pub(super) fn name(&mut self) -> Flow {
        self.text.ensure(STRING_AHEAD)?;
        self.scan.begin();
        self.string_at = self.text.offset();
        self.scan_from(1, PIECE - 2);
        self.end_name_at_colon();
        let kind = group_kind(self.value_behind_name());
        let name = self.path_name();
        let step = if is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        self.open_item(kind, step)?;
        self.set_due(Due::Colon);
        self.name_pieces()
    }

    /// A name whose closing quote is missing goes up to its colon.
    fn end_name_at_colon(&mut self) {
        if self.scan.stopped != Stopped::AtLineEnd {
            return;
        }
        let written = self.text.rest().get(1..).and_then(|rest| rest.get(..self.scan.len)).unwrap_or(&[]);
        if let Some(colon) = memchr::memchr(b':', written) {
            let name = trimmed(written.get(..colon).unwrap_or(written));
            self.scan.begin();
            self.scan.scan(name, name.len(), true);
            self.scan.stopped = Stopped::AtLineEnd;
        }
    }

    /// Feeds the piece of a name just scanned to the names that are compared. What is damaged has no
    /// text to compare: there the bytes as written count, behind a byte that no text has.
    fn feed_name(&mut self, from: usize) {
        let written = self.text.rest().get(from..).and_then(|rest| rest.get(..self.scan.len)).unwrap_or(&[]);
        if self.scan.damaged {
            self.keys.feed(&[0xff]);
            self.keys.feed(written);
        } else {
            self.keys.feed(if self.scan.plain { written } else { &self.scan.text });
        }
    }

    /// Warns of a name that the object has already, with `ahead` bytes of it still to be taken. `long`
    /// is how a name in pieces begins.
    fn name_key(&mut self, scope: Scope, ahead: usize, long: Option<(Place, String)>) -> Flow {
        let start = self.string_at;
        let seen = self.keys.done(scope, start);
        if seen == Seen::New || seen == Seen::Unknown && self.keys_told {
            return Ok(());
        }
        let end = self.text.offset().saturating_add(len64(ahead));
        let (place, name) = match long {
            Some(begun) => begun,
            None => (self.text.place(start), self.shown_name()),
        };
        if let Seen::Before(first) = seen {
            self.out.duplicate_key()?;
            let sentence = format!("name {name} stands twice in this object, first at {first:#04x}");
            let help = "most readers keep the last one";
            return self.report_placed(Code::JsonDuplicateKey, (start, end), place, &sentence, help);
        }
        self.keys_told = true;
        let sentence = "too many names are open: from here on names that stand twice are not looked for";
        self.report_placed(Code::JsonKeysNotCompared, (start, end), place, sentence, "")
    }

    /// The name at the cursor, whose first piece is scanned, in a sentence.
    fn shown_name(&self) -> String {
        recover::shown(self.text.rest().get(1..).and_then(|rest| rest.get(..self.scan.len)).unwrap_or(&[]))
    }

    /// Leaves and values of a name whose first piece is scanned.
    fn name_pieces(&mut self) -> Flow {
        let scope = self.frames.last().map(|frame| frame.scope);
        if let Some(scope) = scope {
            self.keys.name(scope);
        }
        let mut begun = None;
        if self.scan.stopped == Stopped::Full {
            begun = Some((self.text.place(self.string_at), self.shown_name()));
        }
        let mut quote = 1;
        loop {
            let (last, long) = (self.scan.stopped != Stopped::Full, self.scan.stopped == Stopped::Full || quote == 0);
            self.feed_name(quote);
            if let (Some(scope), Stopped::AtQuote | Stopped::AtLineEnd) = (scope, self.scan.stopped) {
                let closing = usize::from(self.scan.stopped == Stopped::AtQuote);
                let ahead = quote.saturating_add(self.scan.len).saturating_add(closing);
                self.name_key(scope, ahead, begun.take())?;
            }
            self.faults(quote)?;
            self.send_text(quote, long.then_some((quote == 1, last)))?;
            let closing = usize::from(self.scan.stopped == Stopped::AtQuote);
            let len = quote.saturating_add(self.scan.len).saturating_add(closing);
            if len > 0 {
                self.leaf(Token::Name, len, self.piece_flags(long))?;
            }
            if last {
                self.note_end(Cut::Name);
                return Ok(());
            }
            quote = 0;
            self.text.ensure(STRING_AHEAD)?;
            self.scan_from(0, PIECE - 2);
        }
    }

    /// A string value: its quotes, and between them one leaf or several.
    pub(super) fn string(&mut self) -> Flow {
        self.string_at = self.text.offset();
        self.leaf(Token::Quote, 1, Flags::NONE)?;
        self.scan.begin();
        let mut first = true;
        loop {
            self.text.ensure(STRING_AHEAD)?;
            self.scan_from(0, PIECE);
            let (last, long) = (self.scan.stopped != Stopped::Full, self.scan.stopped == Stopped::Full || !first);
            self.faults(0)?;
            self.send_text(0, long.then_some((first, last)))?;
            if self.scan.len > 0 {
                self.leaf(Token::String, self.scan.len, self.piece_flags(long))?;
            }
            if last {
                break;
            }
            first = false;
        }
        if self.scan.stopped == Stopped::AtQuote {
            self.leaf(Token::Quote, 1, Flags::NONE)?;
        }
        self.note_end(Cut::String);
        Ok(())
    }

    /// Scans a piece of a string that begins `from` bytes ahead.
    fn scan_from(&mut self, from: usize, most: usize) {
        let rest = self.text.rest().get(from..).unwrap_or(&[]);
        self.scan.scan(rest, most, self.text.ended());
    }

    /// Flags of the piece of a string just scanned; the error that a cut one causes follows it.
    fn piece_flags(&self, long: bool) -> Flags {
        let piece = if long { Flags::PIECE } else { Flags::NONE };
        match self.scan.stopped {
            Stopped::Cut | Stopped::CutInEscape => piece.with(Flags::ERROR),
            Stopped::AtQuote | Stopped::AtLineEnd | Stopped::Full => piece,
        }
    }

    /// Remembers how a string ended.
    fn note_end(&mut self, cut: Cut) {
        match self.scan.stopped {
            Stopped::AtQuote => self.behind_quote = Some(self.text.offset()),
            Stopped::Cut => self.cut = cut,
            Stopped::CutInEscape => self.cut = Cut::Escape,
            Stopped::AtLineEnd | Stopped::Full => {}
        }
    }

    /// Reports what is wrong in the piece that was scanned from `from` bytes ahead on.
    fn faults(&mut self, from: usize) -> Flow {
        let faults = std::mem::take(&mut self.scan.faults);
        for (at, len, fault) in &faults {
            let at = from.saturating_add(*at);
            let there = self.text.rest().get(at..).and_then(|rest| rest.get(..*len)).unwrap_or(&[]);
            let sentence = recover::fault_sentence(*fault, there);
            let code = match fault {
                Fault::Utf8(_) => Code::JsonInvalidUtf8,
                Fault::Control(_) => Code::JsonControl,
                Fault::Escape | Fault::Surrogate => Code::JsonEscape,
            };
            self.report_at(code, at, *len, &sentence, &recover::fault_help(*fault))?;
        }
        self.scan.faults = faults;
        if self.scan.stopped != Stopped::AtLineEnd {
            return Ok(());
        }
        let end = from.saturating_add(self.scan.len);
        let help = "write \" there, or \\n where the text goes on in the next line";
        self.report_at(Code::JsonSyntax, end, 1, "the closing quote is missing", help)
    }

    /// The name just scanned as a path repeats it.
    fn path_name(&self) -> String {
        let written = self.text.rest().get(1..).and_then(|rest| rest.get(..self.scan.len)).unwrap_or(&[]);
        path_text(if self.scan.plain { written } else { &self.scan.text })
    }

    /// The first byte of the value behind the name just scanned, as far as can be seen from here.
    fn value_behind_name(&self) -> Option<u8> {
        let closing = if self.scan.stopped == Stopped::AtLineEnd { 1 } else { 2 };
        let closing = self.scan.len.checked_add(closing)?;
        byte_behind_colon(self.text.rest().get(closing..)?)
    }

    /// A number or literal, or what was meant as one.
    pub(super) fn word(&mut self, byte: u8) -> Flow {
        self.text.ensure(PIECE + 1)?;
        let rest = self.text.next(PIECE);
        let len = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        let number = begins_number(byte) && !is_special(self.text.next(len));
        let token = if number { Token::Number } else { Token::Literal };
        if self.text.rest().get(len).copied().is_some_and(is_word) {
            return self.long_word(token);
        }
        let at_end = len == self.text.rest().len();
        let fits = if number { number_fit(self.text.next(len)) } else { literal_fit(self.text.next(len)) };
        match fits {
            Fit::Whole if number => self.number(len),
            Fit::Whole => self.literal(len),
            Fit::Begun if at_end => {
                self.cut = if number { Cut::Number } else { Cut::Literal };
                self.missing()?;
                self.leaf(token, len, Flags::ERROR)
            }
            Fit::Begun | Fit::Not => self.bad_word(token, len),
        }
    }

    fn number(&mut self, len: usize) -> Flow {
        let word = self.text.next(len);
        // The grammar was checked: a number is ASCII.
        let text = std::str::from_utf8(word).unwrap_or("");
        let large = len > FLOAT64_DIGITS || memchr::memchr2(b'e', b'E', word).is_some();
        let beyond = large && text.parse::<f64>().is_ok_and(f64::is_infinite);
        if beyond {
            let sentence = format!("{} is beyond the largest float64", recover::shown(word));
            let help = "most readers make it infinity or refuse it";
            self.report(Code::JsonNumberRange, len, &sentence, help)?;
        }
        if self.wants {
            let text = std::str::from_utf8(self.text.next(len)).unwrap_or("");
            self.out.value(Event::Scalar(Scalar::Number(Cow::Borrowed(text))))?;
        }
        self.leaf(Token::Number, len, Flags::NONE)
    }

    fn literal(&mut self, len: usize) -> Flow {
        let scalar = match self.text.next(len) {
            b"true" => Scalar::Bool(true),
            b"false" => Scalar::Bool(false),
            _ => Scalar::Null,
        };
        self.value_event(Event::Scalar(scalar))?;
        self.leaf(Token::Literal, len, Flags::NONE)
    }

    fn bad_word(&mut self, token: Token, len: usize) -> Flow {
        let word = self.text.next(len);
        let (code, what) = match token {
            Token::Number => (Code::JsonNumber, "a number"),
            _ => (Code::JsonLiteral, "a value"),
        };
        let sentence = format!("expected {what}, found {}", recover::shown(word));
        let help = recover::word_help(word);
        self.report(code, len, &sentence, &help)?;
        self.missing()?;
        self.leaf(token, len, Flags::NONE)
    }

    /// A word that is longer than any that is held at once.
    fn long_word(&mut self, token: Token) -> Flow {
        let code = if token == Token::Number { Code::JsonNumber } else { Code::JsonLiteral };
        let sentence = format!("expected a value, found a word of more than {PIECE} characters");
        self.report(code, PIECE, &sentence, "long text stands in double quotes")?;
        self.missing()?;
        self.leaf_until(self.kind(token), |bytes| bytes.iter().position(|byte| !is_word(*byte)))
    }

    /// Whether `rest` begins a document; the first one may also be a word that is no value.
    pub(super) fn begins_document(&self, rest: &[u8], first: bool) -> bool {
        match rest.first().copied().map(|byte| (class(byte), byte)) {
            Some((Class::Quote | Class::Open(_), _)) => true,
            Some((Class::Word, byte)) => {
                let len = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                let word = rest.get(..len).unwrap_or(rest);
                first || byte == b'-' || byte.is_ascii_digit() || literal_fit(word) != Fit::Not
            }
            _ => false,
        }
    }

    /// Whether a second document begins behind the one at the cursor; on a pipe, within the bytes ahead.
    pub(super) fn another_follows(&mut self) -> Result<bool, Stop> {
        let ahead = self.text.rest();
        let mut skim = Skim::default();
        let end = match ahead.first().copied().map(class) {
            Some(Class::Word) => ahead.iter().position(|byte| !is_word(*byte)),
            _ => skim.end(ahead),
        };
        if let Some(end) = end {
            return Ok(self.begins_document(behind_white(ahead.get(end..).unwrap_or(&[])), false));
        }
        let mut at = self.text.offset().saturating_add(len64(ahead.len()));
        let mut ended = false;
        loop {
            let piece = self.text.far_ahead(at)?;
            if piece.is_empty() {
                return Ok(false);
            }
            let end = if ended { Some(0) } else { skim.end(piece) };
            ended = end.is_some();
            let behind = end.and_then(|end| piece.get(end..)).map(behind_white).unwrap_or(&[]);
            if !behind.is_empty() {
                let word = behind.get(..PIECE).unwrap_or(behind).to_vec();
                return Ok(self.begins_document(&word, false));
            }
            at = at.saturating_add(len64(piece.len()));
        }
    }
}

/// The text of a name as a path repeats it: cut, and damaged characters replaced.
pub fn path_text(bytes: &[u8]) -> String {
    // A character has at most four bytes; a cut one at the end falls away with the rest.
    let start = bytes.get(..PATH_NAME.saturating_mul(4)).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start);
    match text.char_indices().nth(PATH_NAME) {
        Some((end, _)) => text.get(..end).unwrap_or("").to_owned(),
        None => text.into_owned(),
    }
}

/// The first byte behind white space, a colon and white space.
pub fn byte_behind_colon(rest: &[u8]) -> Option<u8> {
    behind_white(behind_white(rest).strip_prefix(b":")?).first().copied()
}

/// Finds the end of a container or string by brackets and quotes alone.
#[derive(Debug, Default)]
pub struct Skim {
    open: u64,
    in_string: bool,
    escaped: bool,
}

impl Skim {
    /// Position behind the byte that ends it, if that is among `bytes`; goes on in the next ones.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(left) = bytes.get(at..).filter(|left| !left.is_empty()) {
            let ends = if self.in_string { self.string(left) } else { self.outside(left) };
            at = at.saturating_add(ends?);
            if self.open == 0 && !self.in_string {
                return Some(at);
            }
        }
        None
    }

    /// Goes to behind the next quote.
    fn string(&mut self, left: &[u8]) -> Option<usize> {
        if std::mem::take(&mut self.escaped) {
            return Some(1);
        }
        let at = memchr::memchr2(QUOTE, BACKSLASH, left)?;
        match left.get(at) {
            Some(&BACKSLASH) => self.escaped = true,
            _ => self.in_string = false,
        }
        Some(at.saturating_add(1))
    }

    /// Goes to behind the next bracket or quote.
    fn outside(&mut self, left: &[u8]) -> Option<usize> {
        let at =
            left.iter().position(|byte| matches!(class(*byte), Class::Quote | Class::Open(_) | Class::Close(_)))?;
        match left.get(at).copied().map(class) {
            Some(Class::Quote) => self.in_string = true,
            Some(Class::Open(_)) => self.open = self.open.saturating_add(1),
            _ => self.open = self.open.saturating_sub(1),
        }
        Some(at.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skim_finds_the_end_whatever_stands_in_strings_and_wherever_it_is_cut() {
        let text = br#"{"a":["]}\"",{"b\\":[]}]} rest"#;
        let end = text.len() - 5;
        assert_eq!(Skim::default().end(text), Some(end));
        for cut in 1..end {
            let mut skim = Skim::default();
            assert_eq!(skim.end(&text[..cut]), None);
            assert_eq!(skim.end(&text[cut..]), Some(end - cut), "cut at {cut}");
        }
    }

    #[test]
    fn a_path_repeats_80_characters_of_a_name() {
        assert_eq!(path_text("é".repeat(100).as_bytes()), "é".repeat(80));
        assert_eq!(path_text(b"a\xff"), "a\u{fffd}");
    }
}
