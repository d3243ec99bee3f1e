//! Eight bytes of which no schema says anything: what they say as numbers, the likeliest reading first.

use crate::model::events::Reading;
use crate::wire::reader::little_endian;

/// Largest number that makes a likelier integer than a float or two halves.
const SMALL: u64 = 1 << 40;

/// Appends what a word says, and its readings, best first: `UInt64 55613 (0x000000000000d93d)`.
pub fn push_word(bytes: &[u8], text: &mut String, readings: &mut Vec<Reading>) {
    let word = little_endian(bytes);
    let all = readings_of(bytes, word);
    let words: Vec<String> = all.iter().map(|one| format!("{} {}", one.kind, one.value)).collect();
    text.push_str(&words.join(", or "));
    text.push_str(&format!(" (0x{word:0digits$x})", digits = bytes.len().saturating_mul(2)));
    if all.len() > 1 {
        readings.extend(all);
    }
}

fn readings_of(bytes: &[u8], word: u64) -> Vec<Reading> {
    let reading = |kind, value: String, why: &str| Reading { kind, value, why: why.to_string() };
    let mut all = Vec::new();
    let float = f64::from_bits(word);
    let digits = ryu::Buffer::new().format(float).len();
    let sane = float.is_finite() && (1e-9..1e15).contains(&float.abs());
    let halves = [word & 0xffff_ffff, word >> 32];
    if word < SMALL && halves[1] == 0 {
        all.push(reading("UInt64", word.to_string(), "the upper half is zero"));
    } else if sane && digits <= 12 {
        all.push(reading("Float64", plain(float), "few digits, and a sane size"));
    } else if word.cast_signed() < 0 && word.cast_signed() > -(1 << 31) {
        all.push(reading("Int64", word.cast_signed().to_string(), "small and negative"));
    } else {
        if halves.iter().all(|half| *half < 1 << 24) {
            all.push(reading("2 x UInt32", format!("{} {}", halves[0], halves[1]), "both halves are small"));
        }
        all.push(reading("UInt64", word.to_string(), "a number fits always"));
        if sane {
            all.push(reading("Float64", plain(float), "a sane size"));
        }
    }
    if bytes.len() == 8 && bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
        all.push(reading("text", crate::formats::quoted(bytes), "all bytes are printable"));
    }
    all
}

fn plain(float: f64) -> String {
    ryu::Buffer::new().format(float).trim_end_matches(".0").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: u64) -> String {
        let mut text = String::new();
        push_word(&word.to_le_bytes(), &mut text, &mut Vec::new());
        text
    }

    #[test]
    fn the_likeliest_reading_comes_first() {
        assert_eq!(said(55613), "UInt64 55613 (0x000000000000d93d)");
        assert_eq!(said(4.75f64.to_bits()), "Float64 4.75 (0x4013000000000000)");
        assert_eq!(said(u64::MAX - 4), "Int64 -5 (0xfffffffffffffffb)");
        assert!(said(7 << 32 | 10).starts_with("2 x UInt32 10 7, or UInt64 "));
    }
}
