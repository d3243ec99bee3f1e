//! Plain text with escapes, as compilers, debuggers and `protoc` write byte strings.

use super::list::is_called;
use super::reading::{Fit, Misfit, Notation, Read, Reading, count, is_white, nibble, rank, run};
use crate::model::num::len64;

/// Fewest numeric escapes from which the notation is guessed.
const GUESSED_ESCAPES: u64 = 2;

/// Bytes of code in front of a literal at most.
const CODE: usize = 512;

/// What an escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Byte(u8),
    Char(char),
    /// A backslash at the end of a line: nothing.
    Nothing,
}

/// How an escape is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Hex,
    Octal,
    Other,
}

/// An escape: what leads in, what carries, what closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Escape {
    lead: usize,
    digits: usize,
    tail: usize,
    value: Value,
    style: Style,
}

/// Escapes so far.
#[derive(Debug, Default)]
struct Seen {
    hex: u64,
    octal: u64,
}

impl Seen {
    fn detail(&self) -> &'static str {
        match (self.octal > 0, self.hex > 0) {
            (true, true) => "octal and hex escapes",
            (true, false) => "octal escapes",
            (false, true) => "hex escapes",
            (false, false) => "escapes",
        }
    }
}

/// Reads text with escapes.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    if reading.strict && memchr::memchr(b'\\', reading.rest()).is_none() {
        return Err(Misfit);
    }
    let mut seen = Seen::default();
    match opening(reading.rest()) {
        Some((len, quote)) => {
            reading.frame(len);
            literals(reading, quote, &mut seen)?;
        }
        None => plain(reading, None, &mut seen)?,
    }
    if reading.strict && seen.hex.saturating_add(seen.octal) < GUESSED_ESCAPES {
        return Err(Misfit);
    }
    let said = format!("{} of escaped text", count(reading.digits, "character"));
    Ok(Notation { detail: seen.detail(), rank: rank::ESCAPED, said })
}

/// The quote that opens a literal, with what stands in front of it: `b"`, `value: "`, `x = b'`. A
/// quote that the end of the text does not close is a character like others.
fn opening(text: &[u8]) -> Option<(usize, u8)> {
    let head = text.get(..CODE).unwrap_or(text);
    let at = memchr::memchr2(b'"', b'\'', head)?;
    let quote = *text.get(at)?;
    let code = text.get(..at)?;
    let code = code.strip_suffix(b"b").or_else(|| code.strip_suffix(b"B")).unwrap_or(code);
    let end = text.iter().rposition(|byte| !is_after(*byte))?;
    let closed = end > at && text.get(end) == Some(&quote);
    (closed && !code.contains(&b'\\') && is_called(code)).then_some((at.saturating_add(1), quote))
}

/// What may stand behind the last literal.
fn is_after(byte: u8) -> bool {
    is_white(byte) || matches!(byte, b';' | b',' | b')')
}

/// Literals in a row, which C and Python join.
fn literals(reading: &mut Reading<'_>, quote: u8, seen: &mut Seen) -> Fit {
    loop {
        plain(reading, Some(quote), seen)?;
        reading.frame(1);
        let rest = reading.rest();
        let white = run(rest, is_white);
        let mark = rest.get(white..).and_then(|rest| rest.first()).filter(|byte| matches!(byte, b'b' | b'B'));
        let open = white.saturating_add(usize::from(mark.is_some()));
        if rest.get(open) == Some(&quote) {
            reading.frame(open.saturating_add(1));
            continue;
        }
        let after = run(rest, is_after);
        reading.frame(after);
        if after == rest.len() {
            return Ok(());
        }
        let lost = memchr::memchr(quote, reading.rest()).unwrap_or(reading.rest().len());
        reading.misfit(lost.max(1), "the end of the literal")?;
        if reading.rest().is_empty() {
            return Ok(());
        }
        reading.frame(1);
    }
}

/// Text and escapes up to the closing quote, or to the end.
fn plain(reading: &mut Reading<'_>, quote: Option<u8>, seen: &mut Seen) -> Fit {
    loop {
        let rest = reading.rest();
        let len = run(rest, |byte| !matches!(byte, b'\\' | b'\n' | b'\r') && Some(byte) != quote);
        let text = rest.get(..len).unwrap_or(rest);
        if reading.strict && text.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return Err(Misfit);
        }
        reading.bytes.extend_from_slice(text);
        reading.carry(len);
        reading.digits = reading.digits.saturating_add(len64(len));
        match reading.rest().first() {
            None => return Ok(()),
            Some(b'\\') => escape(reading, seen)?,
            // Line ends inside are written \n, so a bare one belongs to the text around.
            Some(b'\n' | b'\r') => reading.frame(1),
            Some(_) => return Ok(()),
        }
    }
}

fn escape(reading: &mut Reading<'_>, seen: &mut Seen) -> Fit {
    let Some(found) = Escape::at(reading.rest()) else {
        return reading.misfit(wrong(reading.rest()), "an escape like \\x0a, \\012 or \\n");
    };
    match found.value {
        Value::Byte(byte) => reading.bytes.push(byte),
        Value::Char(char) => reading.bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        Value::Nothing => {}
    }
    seen.hex = seen.hex.saturating_add(u64::from(found.style == Style::Hex));
    seen.octal = seen.octal.saturating_add(u64::from(found.style == Style::Octal));
    if found.digits > 0 {
        let len = found.lead.saturating_add(found.digits).saturating_add(found.tail);
        reading.digits = reading.digits.saturating_add(len64(len));
    }
    reading.frame(found.lead);
    reading.carry(found.digits);
    reading.frame(found.tail);
    Ok(())
}

/// Length of an escape that is none: its digits would mislead as text.
fn wrong(text: &[u8]) -> usize {
    let digits = |rest: &[u8]| run(rest.get(..8).unwrap_or(rest), |byte| nibble(byte).is_some());
    match text.get(1) {
        Some(b'0'..=b'7') => run(text.get(1..4).unwrap_or(text), |byte| byte.is_ascii_digit()).saturating_add(1),
        Some(b'u') => text.get(2..6).map_or(0, digits).saturating_add(2),
        Some(b'U') => text.get(2..).map_or(0, digits).saturating_add(2),
        _ => 2,
    }
}

impl Escape {
    /// The escape that begins with the backslash here.
    fn at(text: &[u8]) -> Option<Escape> {
        let rest = text.get(2..).unwrap_or(&[]);
        match *text.get(1)? {
            b'x' | b'X' => Self::hex(rest),
            b'0'..=b'7' => Self::octal(text.get(1..)?),
            b'u' if rest.first() == Some(&b'{') => Self::braced(rest),
            b'u' => Self::utf16(rest),
            b'U' => Self::char(2, scalar(rest, 8)?, 8, 0),
            b'\n' => Some(Escape { lead: 2, digits: 0, tail: 0, value: Value::Nothing, style: Style::Other }),
            b'\r' => Some(Escape { lead: 1, digits: 0, tail: 0, value: Value::Nothing, style: Style::Other }),
            letter => {
                let value = Value::Byte(control(letter)?);
                Some(Escape { lead: 1, digits: 1, tail: 0, value, style: Style::Other })
            }
        }
    }

    /// `\x0a`: two digits, as everything but C ends it; `\xa` at the end of digits.
    fn hex(rest: &[u8]) -> Option<Escape> {
        let digits = run(rest.get(..2).unwrap_or(rest), |byte| nibble(byte).is_some());
        let value = u8::try_from(scalar(rest, digits)?).ok()?;
        (digits > 0).then_some(Escape { lead: 2, digits, tail: 0, value: Value::Byte(value), style: Style::Hex })
    }

    /// `\012`: one to three digits.
    fn octal(rest: &[u8]) -> Option<Escape> {
        let digits = run(rest.get(..3).unwrap_or(rest), |byte| matches!(byte, b'0'..=b'7'));
        let fold = |value: u16, digit: &u8| value * 8 + u16::from(digit.saturating_sub(b'0'));
        let value = u8::try_from(rest.get(..digits)?.iter().fold(0, fold)).ok()?;
        Some(Escape { lead: 1, digits, tail: 0, value: Value::Byte(value), style: Style::Octal })
    }

    /// `\u{e9}`.
    fn braced(rest: &[u8]) -> Option<Escape> {
        let digits = run(rest.get(1..7).or(rest.get(1..))?, |byte| nibble(byte).is_some());
        let inside = rest.get(1..)?;
        let closed = digits > 0 && inside.get(digits) == Some(&b'}');
        if closed { Self::char(3, scalar(inside, digits)?, digits, 1) } else { None }
    }

    /// `\u00e9`, or two of them that make a surrogate pair.
    fn utf16(rest: &[u8]) -> Option<Escape> {
        let first = scalar(rest, 4)?;
        if !(0xd800..0xdc00).contains(&first) {
            return Self::char(2, first, 4, 0);
        }
        let low = rest.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(|rest| scalar(rest, 4))?;
        let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        Self::char(2, 0x10000 + ((first - 0xd800) << 10) + low, 10, 0)
    }

    fn char(lead: usize, value: u32, digits: usize, tail: usize) -> Option<Escape> {
        let value = Value::Char(char::from_u32(value)?);
        Some(Escape { lead, digits, tail, value, style: Style::Other })
    }
}

/// The number of `len` hex digits.
fn scalar(text: &[u8], len: usize) -> Option<u32> {
    let digits = text.get(..len)?;
    digits.iter().try_fold(0, |value: u32, digit| Some((value << 4) | u32::from(nibble(*digit)?)))
}

/// The byte of an escape of one letter.
fn control(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'e' => 27,
        b'\\' | b'"' | b'\'' | b'?' | b'`' | b'/' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::{best, bytes, carried, guesses, told};

    #[test]
    fn an_escaped_text_from_a_bug_report_is_read() {
        let text = br"\x0a\x04ABCD\x10\xbb\xf1\xf0\xa1\xa71";
        assert_eq!(
            best(text),
            (bytes("0a044142434410bbf1f0a1a731"), "hex escapes", "37 characters of escaped text".into())
        );
        assert_eq!(carried(text, &told(text, Encoding::Escaped)), "0a 04ABCD 10 bb f1 f0 a1 a71");
    }

    #[test]
    fn octal_hex_and_letters_mix() {
        let text = br#"\012\004AB\"D\020\xbb\0\n\t\r\\\'\a\b\f\v"#;
        let (read, detail, _) = best(text);
        assert_eq!(read, b"\x0a\x04AB\"D\x10\xbb\0\n\t\r\\'\x07\x08\x0c\x0b");
        assert_eq!(detail, "octal and hex escapes");
    }

    #[test]
    fn literals_of_several_languages_frame() {
        let literals: [&[u8]; 6] = [
            br#"b"\x0a\x02hi'""#,
            b"b'\\x0a\\x02hi\\''\n",
            b"payload: \"\\n\\002hi\\047\" ",
            b"data = b'\\x0a\\x02h'  b'i\\x27';",
            b"\"\\x0a\\x02\"\r\n\"hi'\"",
            b"\\x0a\\x02hi'\n",
        ];
        for text in literals {
            let undone = told(text, Encoding::Escaped);
            assert_eq!(
                (undone.bytes.as_slice(), undone.found.len()),
                (&b"\x0a\x02hi'"[..], 0),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn characters_are_utf_8() {
        let text = br"\u00e9\u{1f600}\ud83d\ude00\U0001f600\x00\x00";
        assert_eq!(best(text).0, "\u{e9}\u{1f600}\u{1f600}\u{1f600}\0\0".as_bytes());
        let half = told(br"\ud83d!", Encoding::Escaped);
        assert_eq!((half.bytes.as_slice(), half.found.len()), (&b"!"[..], 1));
    }

    #[test]
    fn text_without_two_numeric_escapes_is_no_guess() {
        for text in [
            &b"plain text, nothing else"[..],
            br"one \x0a and a \n newline",
            br"C:\q\x41\x42 is no escape",
            br#"{"a":"\u00e9\n"}"#,
        ] {
            assert!(guesses(text).is_empty(), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn unknown_escapes_and_lost_quotes_are_reported() {
        let undone = told(br#""\x41\q\400B" C "D""#, Encoding::Escaped);
        assert_eq!(undone.bytes, b"ABD");
        let places: Vec<_> = undone.found.iter().map(|found| (found.start, found.end)).collect();
        assert_eq!(places, [(5, 11), (14, 16)]);
    }
}
