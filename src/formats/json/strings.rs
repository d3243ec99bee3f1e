//! Strings: finds where one ends, what is wrong in it, and the text it stands for.

use crate::formats::json::wire::{
    BACKSLASH, CARRIAGE_RETURN, Class, FIRST_PRINTABLE, Fit, LINE_FEED, LONG_ESCAPE, QUOTE, SHORT_ESCAPE, class,
    escape_letter, escaped, is_high_surrogate, is_white, is_word, literal_fit, number_fit, pair,
};

/// Bytes that are looked at to tell what a quote belongs to; bounds the work that damage makes.
pub const NEAR: usize = 256;

/// What is wrong inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A byte that is no part of a UTF-8 character.
    Utf8(u8),
    /// A control character that is not escaped.
    Control(u8),
    /// A backslash in front of something that RFC 8259 does not list.
    Escape,
    /// Half of a surrogate pair.
    Surrogate,
}

/// Where a scan stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stopped {
    /// In front of the closing quote.
    AtQuote,
    /// In front of a line end where the closing quote is missing.
    AtLineEnd,
    /// At the most bytes of one piece; the string goes on.
    #[default]
    Full,
    /// The input ends in the string.
    Cut,
    /// The input ends in an escape of it.
    CutInEscape,
}

/// What a scan found. Kept from string to string for its memory.
#[derive(Debug, Default)]
pub struct Scan {
    /// Bytes of the string that the scan went over.
    pub len: usize,
    /// Why it stopped there.
    pub stopped: Stopped,
    /// The bytes as written are the text; otherwise `text` is.
    pub plain: bool,
    /// The text with escapes undone, where `plain` is false.
    pub text: Vec<u8>,
    /// `text` has a U+FFFD where the bytes stand for nothing.
    pub damaged: bool,
    /// What is wrong: position, length, what. In the order of the positions.
    pub faults: Vec<(usize, usize, Fault)>,
    /// A control character or a byte that is not UTF-8 has been told of this string.
    told_control: bool,
    told_utf8: bool,
}

impl Scan {
    /// A new string begins.
    pub fn begin(&mut self) {
        self.told_control = false;
        self.told_utf8 = false;
    }

    /// Scans at most `most` bytes of a string's content, up to where it most likely ends: see
    /// [`missing_quote`]. `rest` goes on past them by an escape, or `ended` says that the input does not.
    pub fn scan(&mut self, rest: &[u8], most: usize, ended: bool) {
        let told = (self.told_control, self.told_utf8);
        self.scan_content(rest, most, ended);
        if self.told_control
            && let Some(end) = missing_quote(rest, self.len)
        {
            (self.told_control, self.told_utf8) = told;
            self.scan_content(rest.get(..end).unwrap_or(rest), end, true);
            self.stopped = Stopped::AtLineEnd;
        }
        if matches!(self.stopped, Stopped::Cut | Stopped::CutInEscape) {
            self.forgive_cut(rest);
        }
    }

    /// Leaves out what is wrong only because the input ends in the string.
    fn forgive_cut(&mut self, rest: &[u8]) {
        let content = rest.get(..self.len).unwrap_or(rest);
        let goes_on = |at: usize| {
            let end = std::str::from_utf8(content.get(at..).unwrap_or(&[]));
            end.is_err_and(|bad| bad.valid_up_to() == 0 && bad.error_len().is_none())
        };
        self.faults.retain(|(at, _, fault)| match fault {
            Fault::Control(byte) => !matches!(*byte, LINE_FEED | CARRIAGE_RETURN),
            Fault::Utf8(_) => !goes_on(*at),
            Fault::Escape | Fault::Surrogate => true,
        });
    }

    /// Scans at most `most` bytes of a string's content. `rest` goes on past them by an escape, or
    /// `ended` says that the input does not.
    fn scan_content(&mut self, rest: &[u8], most: usize, ended: bool) {
        (self.len, self.stopped, self.plain, self.damaged) = (0, Stopped::Full, true, false);
        self.text.clear();
        self.faults.clear();
        while self.len < most {
            let ahead = rest.get(self.len..).unwrap_or(&[]);
            let room = ahead.get(..most.saturating_sub(self.len)).unwrap_or(ahead);
            let clean = memchr::memchr2(QUOTE, BACKSLASH, room);
            let span = room.get(..clean.unwrap_or(room.len())).unwrap_or(room);
            let cut = clean.is_none() && !(ended && room.len() == ahead.len());
            let all = self.span(span, rest, cut);
            match ahead.get(span.len()) {
                _ if !all => return,
                Some(&QUOTE) if clean.is_some() => {
                    self.stopped = Stopped::AtQuote;
                    return;
                }
                Some(&BACKSLASH) if clean.is_some() => {
                    if !self.escape(ahead.get(span.len()..).unwrap_or(&[]), rest, most) {
                        return;
                    }
                }
                _ => {
                    if !cut {
                        self.stopped = Stopped::Cut;
                    }
                    break;
                }
            }
        }
        // The quote may stand right behind the most bytes of a piece.
        if self.stopped == Stopped::Full && rest.get(self.len) == Some(&QUOTE) {
            self.stopped = Stopped::AtQuote;
        }
    }

    /// Takes a span without quotes and escapes; `goes_on` if a character may go on behind it. False
    /// if its end was left for the next piece.
    fn span(&mut self, span: &[u8], rest: &[u8], goes_on: bool) -> bool {
        let start = self.len;
        if !self.told_control && span.iter().fold(false, |any, byte| any | (*byte < FIRST_PRINTABLE)) {
            self.told_control = true;
            if let Some(at) = span.iter().position(|byte| *byte < FIRST_PRINTABLE) {
                let byte = span.get(at).copied().unwrap_or(0);
                self.faults.push((start.saturating_add(at), 1, Fault::Control(byte)));
            }
        }
        match std::str::from_utf8(span) {
            Ok(_) => {
                self.keep(span);
                self.len = start.saturating_add(span.len());
                true
            }
            // A character that the end of the piece cuts waits for the next piece.
            Err(bad) if goes_on && bad.error_len().is_none() && start.saturating_add(bad.valid_up_to()) > 0 => {
                self.keep(span.get(..bad.valid_up_to()).unwrap_or(span));
                self.len = start.saturating_add(bad.valid_up_to());
                false
            }
            Err(bad) => {
                self.damaged(span, bad.valid_up_to(), rest);
                true
            }
        }
    }

    /// Takes a span that is not UTF-8 from `at` on.
    fn damaged(&mut self, span: &[u8], at: usize, rest: &[u8]) {
        let start = self.len;
        if !self.told_utf8 {
            self.told_utf8 = true;
            let byte = span.get(at).copied().unwrap_or(0);
            self.faults.push((start.saturating_add(at), 1, Fault::Utf8(byte)));
            self.faults.sort_by_key(|(at, _, _)| *at);
        }
        self.unplain(rest);
        for chunk in span.utf8_chunks() {
            self.text.extend_from_slice(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.push_replacement();
            }
        }
        self.len = start.saturating_add(span.len());
    }

    /// Takes an escape at the start of `ahead`. False if it was left for the next piece, or cut.
    fn escape(&mut self, ahead: &[u8], rest: &[u8], most: usize) -> bool {
        let (len, found) = escape(ahead);
        if self.len > 0 && self.len.saturating_add(len) > most {
            return false;
        }
        self.unplain(rest);
        let at = self.len;
        self.len = at.saturating_add(len);
        match found {
            Escaped::Char(c) => self.push_char(c),
            Escaped::Bad(fault) => {
                self.faults.push((at, len, fault));
                self.push_replacement();
            }
            Escaped::Cut => {
                self.stopped = Stopped::CutInEscape;
                return false;
            }
        }
        true
    }

    fn keep(&mut self, span: &[u8]) {
        if !self.plain {
            self.text.extend_from_slice(span);
        }
    }

    /// The text differs from the bytes from here on.
    fn unplain(&mut self, rest: &[u8]) {
        if self.plain {
            self.plain = false;
            self.text.extend_from_slice(rest.get(..self.len).unwrap_or(&[]));
        }
    }

    fn push_replacement(&mut self) {
        self.damaged = true;
        self.push_char(char::REPLACEMENT_CHARACTER);
    }

    fn push_char(&mut self, c: char) {
        self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Where a string whose content begins `rest` ends, if it goes over a line end that it most likely was
/// not meant to: behind that line end stands a name and its colon, perhaps behind a comma, or a closing bracket that ends its
/// line or has a comma behind it, or in front of it a comma and behind it another item. The comma and
/// the white space do not belong to the string.
fn missing_quote(rest: &[u8], len: usize) -> Option<usize> {
    let content = rest.get(..len)?;
    let mut from = 0;
    while let Some(feed) = content.get(from..).and_then(|left| memchr::memchr(LINE_FEED, left)) {
        let feed = from.saturating_add(feed);
        let before = trimmed(content.get(..feed)?);
        let behind = rest.get(feed..)?.iter().position(|byte| !is_white(*byte))?.saturating_add(feed);
        let next = rest.get(behind..)?;
        let comma = before.strip_suffix(b",");
        let leading = next.strip_prefix(b",").is_some_and(|item| begins_member(behind_white(item)));
        let ends = begins_member(next) || leading || ends_container(next) || comma.is_some() && begins_item(next);
        if ends {
            return Some(trimmed(comma.unwrap_or(before)).len());
        }
        // The white space was looked at: line ends in it tell the same.
        from = behind;
    }
    None
}

/// Without the white space at its end.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !is_white(*byte)).map_or(0, |at| at.saturating_add(1));
    bytes.get(..end).unwrap_or(bytes)
}

/// Without the white space at its start.
pub fn behind_white(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().position(|byte| !is_white(*byte)).unwrap_or(bytes.len());
    bytes.get(len..).unwrap_or(&[])
}

/// Whether a name and its colon stand at the start, as far as [`NEAR`] bytes tell.
pub fn begins_member(bytes: &[u8]) -> bool {
    let near = bytes.get(..NEAR).unwrap_or(bytes);
    let Some(mut content) = near.strip_prefix(&[QUOTE]) else { return false };
    while let Some(at) = memchr::memchr3(QUOTE, BACKSLASH, LINE_FEED, content) {
        let behind = content.get(at.saturating_add(1)..).unwrap_or(&[]);
        content = match content.get(at) {
            Some(&QUOTE) => return behind_white(behind).first() == Some(&b':'),
            Some(&BACKSLASH) => behind.get(1..).unwrap_or(&[]),
            _ => return false,
        };
    }
    false
}

/// Whether a closing bracket stands at the start, and behind it the end of the line, a comma or another.
fn ends_container(bytes: &[u8]) -> bool {
    let [first, behind @ ..] = bytes else { return false };
    let blanks = behind.iter().position(|byte| !matches!(*byte, b' ' | b'\t')).unwrap_or(behind.len());
    let next = behind.get(blanks).copied();
    let goes_on = next.is_none_or(|byte| is_white(byte) || matches!(class(byte), Class::Comma | Class::Close(_)));
    matches!(class(*first), Class::Close(_)) && goes_on
}

/// Whether something stands at the start that can follow a comma.
fn begins_item(bytes: &[u8]) -> bool {
    match bytes.first().copied().map(class) {
        Some(Class::Quote | Class::Open(_)) => true,
        Some(Class::Word) => {
            let near = bytes.get(..NEAR).unwrap_or(bytes);
            let len = near.iter().position(|byte| !is_word(*byte)).unwrap_or(near.len());
            let word = near.get(..len).unwrap_or(near);
            number_fit(word) == Fit::Whole || literal_fit(word) == Fit::Whole
        }
        _ => false,
    }
}

/// Appends a character as a JSON string holds it, escaped where it cannot be seen. Quotes and
/// backslashes stay.
pub fn push_visible(c: char, out: &mut String) {
    if let Some(letter) = u8::try_from(c).ok().filter(|byte| c.is_control() && byte.is_ascii()).and_then(escape_letter)
    {
        out.push(char::from(BACKSLASH));
        out.push(char::from(letter));
    } else if is_visible(c) {
        out.push(c);
    } else {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}

/// Whether a character can be seen; one that joins the character in front of it can.
fn is_visible(c: char) -> bool {
    if c.is_ascii() || c.is_alphanumeric() {
        return !c.is_control();
    }
    // Only the whole text of a debug string knows of characters that join the one in front.
    let mut text = String::from("x");
    text.push(c);
    text.escape_debug().nth(2).is_none()
}

/// What an escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escaped {
    /// This character.
    Char(char),
    /// Nothing.
    Bad(Fault),
    /// The input ends in it.
    Cut,
}

/// Length and meaning of the escape at the start of `ahead`.
pub fn escape(ahead: &[u8]) -> (usize, Escaped) {
    match ahead.get(1) {
        None => (ahead.len(), Escaped::Cut),
        Some(b'u') => unicode_escape(ahead),
        Some(&letter) => match escaped(letter) {
            Some(byte) => (SHORT_ESCAPE, Escaped::Char(char::from(byte))),
            // Behind the backslash anything may stand, also the first byte of a longer character.
            None if letter.is_ascii() && letter >= FIRST_PRINTABLE => (SHORT_ESCAPE, Escaped::Bad(Fault::Escape)),
            None => (1, Escaped::Bad(Fault::Escape)),
        },
    }
}

/// `\u` and four hexadecimal digits, or two of these that make a pair.
fn unicode_escape(ahead: &[u8]) -> (usize, Escaped) {
    let digits = ahead.get(SHORT_ESCAPE..).unwrap_or(&[]);
    let count = digits.iter().take(LONG_ESCAPE - SHORT_ESCAPE).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let len = SHORT_ESCAPE.saturating_add(count);
    if len < LONG_ESCAPE {
        return if len == ahead.len() { (len, Escaped::Cut) } else { (len, Escaped::Bad(Fault::Escape)) };
    }
    let Some(unit) = code_unit(ahead) else { return (len, Escaped::Bad(Fault::Escape)) };
    if let Some(c) = char::from_u32(unit) {
        return (LONG_ESCAPE, Escaped::Char(c));
    }
    let second = ahead.get(LONG_ESCAPE..).filter(|_| is_high_surrogate(unit)).and_then(code_unit);
    match second.and_then(|low| pair(unit, low)) {
        Some(c) => (2 * LONG_ESCAPE, Escaped::Char(c)),
        None => (LONG_ESCAPE, Escaped::Bad(Fault::Surrogate)),
    }
}

/// The code unit of a `\uXXXX` at the start.
fn code_unit(ahead: &[u8]) -> Option<u32> {
    let digits = ahead.get(..LONG_ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0u32, |unit, byte| Some(unit << 4 | char::from(*byte).to_digit(16)?))
}

/// The text of a complete content, as readers see it; U+FFFD where it is damaged.
pub fn unescaped(content: &[u8]) -> String {
    let mut text = String::new();
    let mut left = content;
    while !left.is_empty() {
        let len = memchr::memchr(BACKSLASH, left).unwrap_or(left.len());
        text.push_str(&String::from_utf8_lossy(left.get(..len).unwrap_or(left)));
        left = left.get(len..).unwrap_or(&[]);
        if !left.is_empty() {
            let (len, found) = escape(left);
            text.push(if let Escaped::Char(c) = found { c } else { char::REPLACEMENT_CHARACTER });
            left = left.get(len..).unwrap_or(&[]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(content: &[u8], most: usize) -> Scan {
        let mut scan = Scan::default();
        scan.begin();
        scan.scan(content, most, true);
        scan
    }

    #[test]
    fn escapes_become_the_characters_they_stand_for() {
        let scan = scanned(br#"\u00e9\ud83d\ude00\/\n\u0000x"rest"#, 100);
        assert_eq!(std::str::from_utf8(&scan.text).unwrap(), "é\u{1f600}/\n\0x");
        assert_eq!((scan.len, scan.stopped, scan.faults.len()), (29, Stopped::AtQuote, 0));
        assert_eq!(unescaped(br#"\u00e9\"a\ud800"#), "é\"a\u{fffd}");
    }

    #[test]
    fn plain_text_is_not_copied() {
        let scan = scanned("grün\"".as_bytes(), 100);
        assert!(scan.plain && scan.text.is_empty());
        assert_eq!((scan.len, scan.stopped), (5, Stopped::AtQuote));
    }

    #[test]
    fn faults_come_in_order_and_once_a_string_where_told_so() {
        let scan = scanned(b"a\x01\xffb\x02\xfe\\q\\ud800\\ude\"", 100);
        let at: Vec<_> = scan.faults.iter().map(|(at, len, fault)| (*at, *len, *fault)).collect();
        let expected = [
            (1, 1, Fault::Control(1)),
            (2, 1, Fault::Utf8(0xff)),
            (6, 2, Fault::Escape),
            (8, 6, Fault::Surrogate),
            (14, 4, Fault::Escape),
        ];
        assert_eq!(at, expected);
        assert_eq!(String::from_utf8(scan.text).unwrap(), "a\x01\u{fffd}b\x02\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_piece_ends_in_front_of_an_escape_or_character_it_would_cut() {
        assert_eq!(scanned(br#"abc\u00e9""#, 5).len, 3);
        assert_eq!(scanned(br#"abc\ud83d\ude00""#, 12).len, 3);
        assert_eq!(scanned("abé\"".as_bytes(), 3).len, 2);
        assert_eq!(scanned(b"abcde\"", 4).stopped, Stopped::Full);
        assert_eq!(scanned(b"abcd\"", 4).stopped, Stopped::AtQuote);
    }

    #[test]
    fn a_cut_says_whether_it_is_in_an_escape() {
        assert_eq!(scanned(br"a\u00", 100).stopped, Stopped::CutInEscape);
        assert_eq!(scanned(br"a\", 100).stopped, Stopped::CutInEscape);
        assert_eq!(scanned(b"abc", 100).stopped, Stopped::Cut);
        assert_eq!(scanned(b"", 100).stopped, Stopped::Cut);
    }
}
