//! Base64 in the standard and the URL alphabet, padded or not, in one piece or several.

use data_encoding::{BASE64_NOPAD, Encoding};

use super::list::enclosure;
use super::reading::{Fit, Misfit, Notation, Read, Reading, is_blank, is_white, rank, run};
use crate::model::num::len64;

/// Bytes in front of the data of a `data:` URL at most.
const URL_HEAD: usize = 256;

/// Characters of base64 that are read, and those of them that no piece has ended yet.
struct Pieces {
    decoder: Encoding,
    open: Vec<u8>,
    padding: u64,
    standard: bool,
    url: bool,
}

/// Reads base64.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    let end = head(reading);
    let decoder = if reading.strict { BASE64_NOPAD } else { lenient() };
    let mut pieces = Pieces { decoder, open: Vec::new(), padding: 0, standard: false, url: false };
    while reading.at < end {
        step(reading, end, &mut pieces)?;
    }
    pieces.finish_piece(reading)?;
    if end < reading.text.len() {
        reading.frame(usize::MAX);
    }
    if reading.strict && pieces.url && pieces.standard {
        return Err(Misfit);
    }
    let detail = if pieces.url { "base64url" } else { "base64" };
    let said = format!("{} characters of {detail}", reading.digits.saturating_add(pieces.padding));
    Ok(Notation { detail, rank: rank::BASE64, said })
}

/// A decoder that takes bits behind the last byte whatever they are.
fn lenient() -> Encoding {
    let mut form = BASE64_NOPAD.specification();
    form.check_trailing_bits = false;
    form.encoding().unwrap_or(BASE64_NOPAD)
}

/// Frames what stands in front of the data, and gives the offset behind the data.
fn head(reading: &mut Reading<'_>) -> usize {
    let around = enclosure(reading.rest(), b"\"'");
    let end = around.map_or(reading.text.len(), |found| reading.at.saturating_add(found.end));
    reading.frame(around.map_or(0, |found| found.start));
    let blank = run(reading.until(end), is_white);
    let rest = reading.until(end).get(blank..).unwrap_or(&[]);
    let start = rest.get(..URL_HEAD).unwrap_or(rest);
    if start.starts_with(b"data:")
        && let Some(at) = memchr::memmem::find(start, b";base64,")
    {
        reading.frame(blank.saturating_add(at).saturating_add(b";base64,".len()));
    }
    end
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn step(reading: &mut Reading<'_>, end: usize, pieces: &mut Pieces) -> Fit {
    let rest = reading.until(end);
    let digits = run(rest, is_digit);
    if digits > 0 {
        pieces.take(rest.get(..digits).unwrap_or(rest));
        reading.carry(digits);
        reading.digits = reading.digits.saturating_add(len64(digits));
        return Ok(());
    }
    let white = run(rest, is_white);
    if white > 0 {
        return space(reading, rest, white);
    }
    let padding = run(rest, |byte| byte == b'=');
    if padding > 0 { pieces.pad(reading, padding) } else { reading.misfit(1, "a character of base64") }
}

/// White space: a guess takes it only where lines begin or end, or any prose would be base64.
fn space(reading: &mut Reading<'_>, rest: &[u8], white: usize) -> Fit {
    let inside = reading.at > 0 && white < rest.len();
    if reading.strict && inside && rest.get(..white).unwrap_or(rest).iter().all(|byte| is_blank(*byte)) {
        return Err(Misfit);
    }
    reading.frame(white);
    Ok(())
}

impl Pieces {
    fn take(&mut self, digits: &[u8]) {
        let from = self.open.len();
        self.open.extend_from_slice(digits);
        for digit in self.open.get_mut(from..).unwrap_or(&mut []) {
            match *digit {
                b'-' => (*digit, self.url) = (b'+', true),
                b'_' => (*digit, self.url) = (b'/', true),
                b'+' | b'/' => self.standard = true,
                _ => {}
            }
        }
    }

    /// A run of `=` ends a piece; only as many as fill its last four characters belong to it.
    fn pad(&mut self, reading: &mut Reading<'_>, padding: usize) -> Fit {
        let due = match self.open.len() % 4 {
            2 => 2,
            3 => 1,
            _ => 0,
        };
        if reading.strict && padding != due {
            return Err(Misfit);
        }
        self.finish_piece(reading)?;
        let fitting = padding.min(due);
        reading.frame(fitting);
        self.padding = self.padding.saturating_add(len64(fitting));
        match padding.saturating_sub(fitting) {
            0 => Ok(()),
            more => reading.misfit(more, "a character of base64"),
        }
    }

    /// Decodes the characters since the last piece.
    fn finish_piece(&mut self, reading: &mut Reading<'_>) -> Fit {
        if self.open.len() % 4 == 1 {
            self.open.pop();
            let message = "two to four characters of base64 expected, the last one stands alone and holds no byte";
            let last = last_digit(reading);
            reading.complain(last, last.saturating_add(1), message, "the text is cut, or has a character too many")?;
        }
        let bytes = self.decoder.decode(&self.open).map_err(|_| Misfit)?;
        if reading.bytes.is_empty() {
            reading.bytes = bytes;
        } else {
            reading.bytes.extend_from_slice(&bytes);
        }
        self.open.clear();
        Ok(())
    }
}

/// Offset of the last character of base64 before this place.
fn last_digit(reading: &Reading<'_>) -> usize {
    let before = reading.text.get(..reading.at).unwrap_or(&[]);
    before.iter().rposition(|byte| is_digit(*byte)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::{best, bytes, carried, guesses, told};

    #[test]
    fn a_grpc_web_reply_is_read() {
        let expected = bytes("00 0000000c 0801 10c007 1a05 2f74657374");
        assert_eq!(best(b"AAAAAAwIARDABxoFL3Rlc3Q="), (expected, "base64", "24 characters of base64".into()));
    }

    #[test]
    fn both_alphabets_with_and_without_padding_are_read() {
        for (text, detail) in [("+/+/+/+/+/8=", "base64"), ("-_-_-_-_-_8=", "base64url"), ("-_-_-_8AAA", "base64url")] {
            let (read, form, _) = best(text.as_bytes());
            assert_eq!((&read[..4], form), (&[0xfb, 0xff, 0xbf, 0xfb][..], detail));
        }
        assert!(guesses(b"+/+/-_-_").is_empty(), "no encoder mixes the alphabets");
        assert_eq!(told(b"+/+/-_-_", Encoding::Base64).bytes, bytes("fbffbffbffbf"));
    }

    #[test]
    fn pieces_lines_quotes_and_urls_frame() {
        let expected = b"hello\nworld".to_vec();
        for text in [
            "aGVsbG8Kd29ybGQ=",
            "aGVsbG8K\r\nd29ybGQ=\r\n",
            "\"aGVsbG8Kd29ybGQ=\"",
            "aGVsbG8=Cndvcmxk",
            "data:text/plain;base64,aGVsbG8Kd29ybGQ=",
        ] {
            assert_eq!(best(text.as_bytes()).0, expected, "{text}");
        }
        let text = b"aGVsbG8=\nCndvcmxk\n";
        assert_eq!(carried(text, &told(text, Encoding::Base64)), "aGVsbG8 Cndvcmxk");
    }

    #[test]
    fn prose_is_no_guess() {
        for text in [&b"this is no base64 at all"[..], b"abcdefghi", b"abcdefg", b"abcdefgh=", b"abcdef=="] {
            let base64 = guesses(text).into_iter().find(|guess| guess.encoding == Encoding::Base64);
            assert_eq!(base64, None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn stray_bits_are_taken_and_an_impossible_length_is_an_error_when_told() {
        let stray = told(b"abcdefg", Encoding::Base64);
        assert_eq!((stray.bytes.len(), stray.found.len()), (5, 0));
        let alone = told(b"abcdefghi\n", Encoding::Base64);
        assert_eq!((alone.bytes.len(), alone.found[0].start, alone.found[0].end), (6, 8, 9));
        let strange = told(b"abcd!efgh==", Encoding::Base64);
        let places: Vec<_> = strange.found.iter().map(|found| (found.start, found.end)).collect();
        assert_eq!((strange.bytes.len(), places), (6, vec![(4, 5), (9, 11)]));
    }
}
