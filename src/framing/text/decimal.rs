//! Lists of decimal numbers, one a byte.

use super::list::{enclosure, gap, word};
use super::reading::{Fit, Misfit, Notation, Read, Reading, count, is_white, rank, run};
use crate::model::num::len64;

/// Fewest numbers from which a list is guessed.
const GUESSED_NUMBERS: u64 = 4;

/// What the numbers of a list are, as far as it was read.
#[derive(Debug, Default)]
struct List {
    numbers: u64,
    negative: bool,
    above_127: bool,
}

/// Reads a list of numbers.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    let around = enclosure(reading.rest(), b"{[(");
    let end = around.map_or(reading.text.len(), |found| reading.at.saturating_add(found.end));
    if let Some(found) = around {
        reading.frame(found.start);
    }
    let list = items(reading, end)?;
    if around.is_some() {
        reading.frame(usize::MAX);
    }
    if reading.strict && (list.numbers < GUESSED_NUMBERS || (list.negative && list.above_127)) {
        return Err(Misfit);
    }
    let detail = if list.negative { "signed decimal" } else { "decimal" };
    Ok(Notation { detail, rank: rank::DECIMAL, said: count(list.numbers, "decimal number") })
}

fn is_separator(byte: u8) -> bool {
    is_white(byte) || matches!(byte, b',' | b';')
}

fn items(reading: &mut Reading<'_>, end: usize) -> Result<List, Misfit> {
    let mut list = List::default();
    while reading.at < end {
        let rest = reading.until(end);
        let between = gap(rest, is_separator);
        if between > 0 {
            reading.frame(between);
            continue;
        }
        item(reading, rest, &mut list)?;
    }
    Ok(list)
}

fn item(reading: &mut Reading<'_>, rest: &[u8], list: &mut List) -> Fit {
    let sign = usize::from(rest.first() == Some(&b'-'));
    let unsigned = rest.get(sign..).unwrap_or(&[]);
    // One digit more than a byte can have, so that no long run of digits is walked in a guess.
    let digits = run(unsigned.get(..4).unwrap_or(unsigned), |byte| byte.is_ascii_digit());
    let len = sign.saturating_add(digits);
    let ends = !rest.get(len).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    match byte_of(unsigned.get(..digits).unwrap_or(&[]), sign > 0).filter(|_| ends) {
        Some(byte) => {
            list.numbers = list.numbers.saturating_add(1);
            list.negative |= sign > 0;
            list.above_127 |= sign == 0 && byte > 127;
            reading.bytes.push(byte);
            reading.carry(len);
            reading.digits = reading.digits.saturating_add(len64(len));
            Ok(())
        }
        None if reading.strict => Err(Misfit),
        None => reading.misfit(sign.saturating_add(word(unsigned)), "a number from 0 to 255"),
    }
}

/// The byte of up to three digits: 0 to 255, or -128 to -1 in two's complement.
fn byte_of(digits: &[u8], negative: bool) -> Option<u8> {
    if digits.is_empty() || digits.len() > 3 {
        return None;
    }
    let value = digits.iter().fold(0u16, |value, digit| value * 10 + u16::from(digit.saturating_sub(b'0')));
    let value = u8::try_from(value).ok()?;
    if negative { (value <= 128).then(|| value.wrapping_neg()) } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::{best, bytes, carried, guesses, told};

    #[test]
    fn a_list_from_a_bug_report_is_read() {
        let text = b"130 166 82 111 111 109 73 100 123 168 78 105 99 107 110 97 109 101 163 102 111 111";
        let expected = bytes("82 a6 526f6f6d4964 7b a8 4e69636b6e616d65 a3 666f6f");
        assert_eq!(best(text), (expected, "decimal", "22 decimal numbers".into()));
    }

    #[test]
    fn lists_of_several_languages_give_the_same_bytes() {
        let lists = [
            "[130, 39, 170, 7]",
            "{130,39,170,7}",
            "130;39;170;7\r\n",
            "130\n39\n170\n7\n",
            "new byte[] { 130, 39, (byte)170, 7 };",
            "Uint8Array(4) [ 130, 39, 170, 7 ]",
            "{\"type\":\"Buffer\",\"data\":[130,39,170,7]}",
            "[-126, 39, -86, 7]",
        ];
        for list in lists {
            let (read, detail, _) = best(list.as_bytes());
            assert_eq!(read, [130, 39, 170, 7], "{list}");
            assert_eq!(detail, if list.contains('-') { "signed decimal" } else { "decimal" });
        }
    }

    #[test]
    fn what_is_no_byte_is_reported_and_the_rest_read() {
        let text = b"1, 256, -129, x7, 1.5, 255, -128";
        let undone = told(text, Encoding::Decimal);
        assert_eq!(undone.bytes, [1, 5, 255, 128]);
        assert_eq!(undone.found.len(), 4);
        assert_eq!(undone.found[0].message, "a number from 0 to 255 expected, `256` stands there (line 1)");
        assert_eq!(carried(text, &undone), "1 5 255 -128");
    }

    #[test]
    fn few_numbers_and_mixed_signs_are_no_guess() {
        for text in [&b"100 200 300"[..], b"1000 2000 3000", b"-1 200 100 100", b"1.5 2.5 3.5 4.5", b"1 2 3 4"] {
            let decimal = guesses(text).into_iter().find(|guess| guess.encoding == Encoding::Decimal);
            assert_eq!(decimal, None, "{}", text.escape_ascii());
        }
    }
}
