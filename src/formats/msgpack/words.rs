//! How MessagePack leaves are told: their words, values and bits.

use std::fmt::{self, Write as _};

use super::read;
use super::wire;
use crate::formats::Telling;
use crate::model::bytemap::{Bits, Flags, Leaf};
use crate::model::limits;
use crate::model::num::{bytes, count, len64};
use crate::model::value::{Scalar, float32_words, utc};
use crate::wire::reader::{big_endian, bytes_of_signed, bytes_of_unsigned};

/// Bytes of a leaf that count as width: what an integer or float spends beyond its shortest form.
pub fn width(leaf: &Leaf, head: &[u8]) -> u64 {
    match leaf.kind.code {
        wire::UINT_VALUE => leaf.len().saturating_sub(bytes_of_unsigned(big_endian(head))),
        wire::INT_VALUE => leaf.len().saturating_sub(bytes_of_signed(read::signed(head))),
        wire::FLOAT64_VALUE => read::float64(head).filter(|value| fits_float32(*value)).map_or(0, |_| 4),
        _ => 0,
    }
}

/// Whether a float32 holds the value exactly; of the NaNs those whose payload it holds.
pub fn fits_float32(value: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the cast is the question: does the value survive it")]
    let narrow = value as f32;
    f64::from(narrow).to_bits() == value.to_bits()
}

/// Whether the leaf is a key whole, head and content. Inside a key that is a container the parts of
/// objects are leaves of their own, as in values.
fn whole_key(leaf: &Leaf) -> bool {
    leaf.flags.has(Flags::KEY) && !leaf.flags.has(Flags::NESTED)
}

/// Appends what a leaf says, see [`crate::formats::Format::tell`].
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = match (whole_key(leaf), telling) {
        (true, Telling::Row) => Ok(()),
        (true, Telling::Alone) => out.write_str(&key(leaf, head)),
        (false, Telling::Row) => in_row(leaf, head, out),
        (false, Telling::Alone) => alone(leaf, head, out),
    };
}

/// A key whole, with the name of its form.
fn key(leaf: &Leaf, head: &[u8]) -> String {
    let name = wire::name(leaf.kind.code);
    match object_value(leaf, head) {
        Some(value) if leaf.len() <= len64(head.len()) => format!("key {}, {name}", read::short(&value)),
        _ => format!("key, {name} of {} bytes", leaf.len()),
    }
}

/// The value of a leaf that is a whole object.
fn object_value<'a>(leaf: &Leaf, head: &'a [u8]) -> Option<Scalar<'a>> {
    let first = wire::first(*head.first()?);
    let content = head.get(usize::try_from(first.head_bytes()).ok()?..)?;
    (first.kind == leaf.kind.code).then(|| read::scalar(first, head, content, 0).0)
}

/// What a leaf adds to the meaning of its field's row: `fixstr` and then `"ytgl"`.
fn in_row(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    let kind = leaf.kind.code;
    let name = wire::name(kind);
    match kind {
        wire::POSITIVE_FIXINT | wire::NEGATIVE_FIXINT => write!(out, "{name} {}", fixint(head)),
        wire::FIXMAP | wire::FIXARRAY => write!(out, "{name}, {}", counted(kind, low_nibble(head))),
        wire::ELEMENTS | wire::ENTRIES => write!(out, ", {}", counted(kind, big_endian(head))),
        wire::LENGTH if big_endian(head) == 0 && !leaf.flags.has(Flags::ERROR) => out.write_str(", 0 bytes"),
        wire::LENGTH if big_endian(head) > len64(limits::PIECE) => write!(out, ", {}", bytes(big_endian(head))),
        wire::LENGTH => Ok(()),
        wire::FIXSTR if fixstr_len(head) == 0 => write!(out, "{name} \"\""),
        wire::EXT_TYPE => write!(out, "type {}", read::signed(head)),
        wire::BIN_CONTENT | wire::EXT_CONTENT => {
            let long = is_long(leaf, head);
            if !long {
                write!(out, ", {}", bytes(leaf.len()))?;
            }
            match readable(head) {
                Some(shown) => write!(out, "{}\"{shown}\"", if long { "" } else { " " }),
                None => Ok(()),
            }
        }
        wire::NEVER_USED => write!(out, "|{name}|"),
        _ if kind <= wire::MAP32 => out.write_str(name),
        _ => content(leaf, head, out),
    }
}

/// Characters of binary content that are shown as text.
const READABLE: usize = 48;

/// Printable characters in a row that make binary content worth showing as text.
const WORD: usize = 4;

/// The beginning of binary content as text with dots, where words stand in it.
fn readable(head: &[u8]) -> Option<String> {
    let printable = |byte: &u8| matches!(byte, b' '..=b'~');
    if !head.windows(WORD).any(|word| word.iter().all(printable)) {
        return None;
    }
    let shown = head.iter().take(READABLE).map(|byte| if printable(byte) { char::from(*byte) } else { '.' });
    let more = if head.len() > READABLE { ".." } else { "" };
    Some(shown.chain(more.chars()).collect())
}

/// What a leaf says when it has a row of its own.
fn alone(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    let name = wire::name(leaf.kind.code);
    match leaf.kind.code {
        wire::LENGTH => write!(out, "length {}", big_endian(head)),
        wire::ELEMENTS | wire::ENTRIES => out.write_str(&counted(leaf.kind.code, big_endian(head))),
        wire::FIXSTR => write!(out, "{name}, {}", bytes(fixstr_len(head))),
        wire::EXT_TYPE => write!(out, "ext type {}", read::signed(head)),
        wire::NEVER_USED => out.write_str(name),
        wire::BIN_CONTENT | wire::EXT_CONTENT => out.write_str(&bytes(leaf.len())),
        _ => {
            let mut part = String::new();
            in_row(leaf, head, &mut part)?;
            // Alone there is nothing that a comma would join.
            out.write_str(part.trim_start_matches(", ").trim_matches('|'))
        }
    }
}

/// The content of a str, number or timestamp in words; how much of it is there where it is cut.
fn content(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    let kind = leaf.kind.code;
    if kind == wire::STR_CONTENT {
        return text(leaf, head, out);
    }
    let whole = match kind {
        wire::FLOAT32_VALUE | wire::TIMESTAMP32 => 4,
        wire::FLOAT64_VALUE | wire::TIMESTAMP64 => 8,
        wire::TIMESTAMP96 => 12,
        _ => leaf.len(),
    };
    if leaf.len() < whole {
        return write!(out, ", {} of {whole} bytes", leaf.len());
    }
    if leaf.flags.has(Flags::ERROR) && matches!(kind, wire::UINT_VALUE | wire::INT_VALUE) {
        return write!(out, ", only {}", bytes(leaf.len()));
    }
    match kind {
        wire::UINT_VALUE => write!(out, "{}", big_endian(head)),
        wire::INT_VALUE => write!(out, "{}", read::signed(head)),
        wire::FLOAT32_VALUE => out.write_str(&float32_words(read::float32(head).unwrap_or(0.0))),
        wire::FLOAT64_VALUE => out.write_str(ryu::Buffer::new().format(read::float64(head).unwrap_or(0.0))),
        _ => match time(kind, head) {
            Some(time) => out.write_str(&time),
            None => out.write_str(&bytes(leaf.len())),
        },
    }
}

/// A timestamp as people write it, and its seconds.
fn time(kind: u8, head: &[u8]) -> Option<String> {
    let (secs, nanos) = read::timestamp(head)?;
    let name = wire::name(kind);
    let exact = if nanos == 0 { format!("{secs} s") } else { format!("{secs} s + {nanos} ns") };
    Some(match utc(secs, nanos) {
        Some(utc) => format!("{name}: {utc} ({exact})"),
        None if nanos > wire::NANOS_MAX => format!("{name}: {exact}"),
        None => format!("{name}: {exact}, past the years that a date can have"),
    })
}

/// Whether the leaf is longer than what is held of it, or one piece of a longer value.
fn is_long(leaf: &Leaf, head: &[u8]) -> bool {
    leaf.len() > len64(head.len()) || leaf.flags.has(Flags::PIECE)
}

/// Text in quotes, control characters escaped; of a long one the beginning.
fn text(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    if !is_long(leaf, head) {
        crate::formats::quote(head, out);
        return Ok(());
    }
    crate::formats::quote(head.get(..limits::LONG_TEXT).unwrap_or(head), out);
    out.write_str("..")
}

fn fixint(head: &[u8]) -> i64 {
    let byte = head.first().copied().unwrap_or(0);
    if byte < 0x80 { i64::from(byte) } else { i64::from(byte.cast_signed()) }
}

fn low_nibble(head: &[u8]) -> u64 {
    head.first().map_or(0, |byte| u64::from(byte & 0x0f))
}

fn fixstr_len(head: &[u8]) -> u64 {
    head.first().map_or(0, |byte| u64::from(byte & 0x1f))
}

/// `4 entries`, `1 element`.
fn counted(kind: u8, number: u64) -> String {
    if matches!(kind, wire::FIXMAP | wire::ENTRIES) {
        count(number, "entry", "entries")
    } else {
        count(number, "element", "elements")
    }
}

/// The value of a leaf as JSON text.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    if leaf.len() > len64(head.len()) || leaf.flags.has(Flags::ERROR) {
        return None;
    }
    if whole_key(leaf) {
        return object_value(leaf, head).as_ref().map(json);
    }
    let number = |value: f64| json(&Scalar::F64(value));
    Some(match leaf.kind.code {
        wire::POSITIVE_FIXINT | wire::NEGATIVE_FIXINT => fixint(head).to_string(),
        wire::NIL => "null".to_string(),
        wire::TRUE => "true".to_string(),
        wire::FALSE => "false".to_string(),
        wire::FIXMAP | wire::FIXARRAY => low_nibble(head).to_string(),
        wire::FIXSTR => fixstr_len(head).to_string(),
        wire::LENGTH | wire::ELEMENTS | wire::ENTRIES | wire::UINT_VALUE => big_endian(head).to_string(),
        wire::EXT_TYPE | wire::INT_VALUE => read::signed(head).to_string(),
        wire::FLOAT32_VALUE => json(&Scalar::F32(read::float32(head)?)),
        wire::FLOAT64_VALUE => number(read::float64(head)?),
        wire::STR_CONTENT => json(&Scalar::Text(head.into())),
        wire::BIN_CONTENT | wire::EXT_CONTENT => json(&Scalar::Bytes(head.into())),
        wire::TIMESTAMP32 | wire::TIMESTAMP64 | wire::TIMESTAMP96 => {
            let (secs, nanos) = read::timestamp(head)?;
            utc(secs, nanos).map_or_else(|| format!("[{secs},{nanos}]"), |utc| format!("\"{utc}\""))
        }
        _ => return None,
    })
}

/// A scalar as JSON text; what JSON has no form for as text.
fn json(value: &Scalar<'_>) -> String {
    let float = |value: f64, text: String| {
        if value.is_nan() {
            "\"NaN\"".to_string()
        } else if value.is_infinite() {
            if value > 0.0 { "\"Infinity\"".to_string() } else { "\"-Infinity\"".to_string() }
        } else {
            text
        }
    };
    match value {
        Scalar::Null | Scalar::Missing => "null".to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Uint(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::F32(value) => float(f64::from(*value), ryu::Buffer::new().format(f64::from(*value)).to_string()),
        Scalar::F64(value) => float(*value, ryu::Buffer::new().format(*value).to_string()),
        Scalar::Number(text) => text.to_string(),
        Scalar::Text(text) => crate::formats::json_string(&String::from_utf8_lossy(text)),
        Scalar::Bytes(bytes) => format!("\"{}\"", data_encoding::BASE64.encode(bytes)),
        Scalar::Ext(..) | Scalar::Timestamp(..) => crate::formats::json_string(&read::short(value)),
    }
}

/// The bit fields of a leaf: the parts of its first byte, of a float, and of a timestamp 64.
pub fn bits(leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
    let whole = leaf.len() == len64(head.len());
    let key = whole_key(leaf);
    match leaf.kind.code {
        wire::POSITIVE_FIXINT => pieces(head, &[("positive fixint", 1), ("value", 7)]),
        wire::NEGATIVE_FIXINT => pieces(head, &[("negative fixint", 3), ("value + 32", 5)]),
        wire::FIXMAP => pieces(head, &[("fixmap", 4), ("entries", 4)]),
        wire::FIXARRAY => pieces(head, &[("fixarray", 4), ("elements", 4)]),
        wire::FIXSTR => pieces(head, &[("fixstr", 3), ("bytes", 5)]),
        wire::FLOAT32_VALUE if whole && !key && head.len() == 4 => {
            pieces(head, &[("sign", 1), ("exponent", 8), ("fraction", 23)])
        }
        wire::FLOAT64_VALUE if whole && !key && head.len() == 8 => {
            pieces(head, &[("sign", 1), ("exponent", 11), ("fraction", 52)])
        }
        wire::TIMESTAMP64 if head.len() == 8 => pieces(head, &[("nanoseconds", 30), ("seconds", 34)]),
        _ => Vec::new(),
    }
}

/// Values of so many bits each, highest first, over bytes that stand highest first: one entry for each
/// byte that a value touches.
fn pieces(head: &[u8], values: &[(&'static str, u32)]) -> Vec<Bits> {
    let mut bits = Vec::new();
    let mut at = 0u32;
    for (name, size) in values {
        let end = at.saturating_add(*size);
        while at < end {
            let (index, used) = (at / 8, at % 8);
            let Some(byte) = usize::try_from(index).ok().and_then(|index| head.get(index)) else { return bits };
            let take = (8 - used).min(end - at);
            let low = 8 - used - take;
            let value = (u64::from(*byte) >> low) & ((1 << take) - 1);
            let base = index.saturating_mul(8).saturating_add(low);
            bits.push(Bits { hi: base.saturating_add(take) - 1, lo: base, name, value });
            at = at.saturating_add(take);
        }
    }
    bits
}
