//! How Protobuf leaves are told: their words, values, widths and bits.

use std::fmt::{self, Write as _};

use super::likely;
use super::wire::{self, Varint, WireType};
use crate::formats::Telling;
use crate::model::bytemap::{Bits, Flags, Leaf};
use crate::model::limits;
use crate::model::num::{bytes, len64, push_number, push_signed};
use crate::model::value::float32_words;
use crate::wire::reader::{big_endian, bytes_of_signed, bytes_of_unsigned};

/// A value as its kind says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Not negative.
    Unsigned(u64),
    /// With a sign.
    Signed(i64),
    /// A boolean, and the number that stands for it.
    Bool(u64),
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit float.
    Double(f64),
}

/// The number in a leaf; none for other leaves, and for those that are cut.
pub fn number(leaf: &Leaf, head: &[u8]) -> Option<Number> {
    let code = leaf.kind.code;
    let fixed = match code {
        wire::I32 | wire::FLOAT | wire::FIXED32 | wire::SFIXED32 => Some(4),
        wire::I64 | wire::DOUBLE | wire::FIXED64 | wire::SFIXED64 => Some(8),
        _ => None,
    };
    if let Some(width) = fixed {
        let bits = wire::little_endian(head.get(..width)?);
        return Some(match code {
            wire::FLOAT => Number::Float(f32::from_bits(wire::low32(bits))),
            wire::DOUBLE => Number::Double(f64::from_bits(bits)),
            wire::SFIXED32 => Number::Signed(i64::from(wire::low32(bits).cast_signed())),
            wire::SFIXED64 => Number::Signed(bits.cast_signed()),
            _ => Number::Unsigned(bits),
        });
    }
    if !matches!(code, wire::VARINT | wire::INT32..=wire::SINT64 | wire::BOOL | wire::ENUM) {
        return None;
    }
    let Varint::Whole(value, _) = wire::varint(head) else { return None };
    Some(match code {
        wire::INT32 | wire::ENUM => Number::Signed(i64::from(wire::low32(value).cast_signed())),
        wire::INT64 => Number::Signed(value.cast_signed()),
        wire::UINT32 => Number::Unsigned(u64::from(wire::low32(value))),
        wire::SINT32 => Number::Signed(wire::unzigzag(u64::from(wire::low32(value)))),
        wire::SINT64 => Number::Signed(wire::unzigzag(value)),
        wire::BOOL => Number::Bool(value),
        _ => Number::Unsigned(value),
    })
}

/// Bytes of a leaf that count as width: what an integer or float spends beyond its shortest form.
pub fn width(leaf: &Leaf, head: &[u8]) -> u64 {
    // Four or eight bytes of no known type are values whole.
    if matches!(leaf.kind.code, wire::I32 | wire::I64) {
        return 0;
    }
    let needed = match number(leaf, head) {
        None => return 0,
        Some(Number::Unsigned(value)) => bytes_of_unsigned(value),
        Some(Number::Signed(value)) => bytes_of_signed(value),
        Some(Number::Bool(_)) => 1,
        Some(Number::Float(_)) => 4,
        Some(Number::Double(value)) if fits_float32(value) => 4,
        Some(Number::Double(_)) => 8,
    };
    leaf.len().saturating_sub(needed)
}

/// Whether a float32 holds the value exactly.
fn fits_float32(value: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the cast is the question: does the value survive it")]
    let narrow = value as f32;
    f64::from(narrow).to_bits() == value.to_bits()
}

/// Appends what a leaf says, see [`crate::formats::Format::tell`].
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = match telling {
        Telling::Row if leaf.flags.has(Flags::ELEMENT) => element(leaf, head, out),
        Telling::Row => in_row(leaf, head, out),
        Telling::Alone => alone(leaf, head, out),
    };
}

/// An element of a packed run: the value alone, behind a comma.
fn element(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    match number(leaf, head) {
        Some(value) => {
            out.push_str(", ");
            number_words(value, out)
        }
        None => write!(out, ", {} cut", bytes(leaf.len())),
    }
}

fn number_words(value: Number, out: &mut String) -> fmt::Result {
    match value {
        Number::Unsigned(value) => push_number(out, value),
        Number::Signed(value) => push_signed(out, value),
        Number::Bool(value) => out.push_str(if value != 0 { "true" } else { "false" }),
        Number::Float(value) => out.push_str(&float32_words(value)),
        Number::Double(value) => out.push_str(ryu::Buffer::new().format(value)),
    }
    Ok(())
}

/// What a leaf adds to the meaning of its field's row.
fn in_row(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    let code = leaf.kind.code;
    let name = wire::KINDS.get(usize::from(code)).map_or("", |info| info.name);
    match code {
        wire::TAG if leaf.flags.has(Flags::ERROR) => out.write_str("tag"),
        wire::TAG => Ok(()),
        wire::LENGTH if leaf.flags.has(Flags::ERROR) && length(head).is_none() => {
            write!(out, "length, {} of it", bytes(leaf.len()))
        }
        wire::LENGTH => Ok(()),
        wire::SGROUP => out.write_str("group"),
        wire::EGROUP => write!(out, "end of group {}", tag(head).map_or(0, |(number, _)| number)),
        wire::MESSAGE_LENGTH => write!(out, "message, {}", bytes(length(head).unwrap_or(0))),
        wire::PACKED_LENGTH => write!(out, "packed, {}", bytes(length(head).unwrap_or(0))),
        wire::VARINT => varint(head, out),
        wire::I32 | wire::I64 => fixed(leaf, head, out),
        wire::SINT32 | wire::SINT64 => zigzag(name, leaf, head, out),
        wire::BOOL => boolean(head, out),
        wire::TEXT | wire::STRING => text(name, leaf, head, out),
        wire::BLOB | wire::BYTES => blob(leaf, head, out),
        wire::FRAME_LENGTH => frame_length(leaf, head, out),
        wire::FRAME_FLAGS => frame_flags(head, out),
        wire::TRAILERS => text("|", leaf, head, out),
        wire::COMPRESSED if leaf.flags.has(Flags::ERROR) => out.write_str("|content that could not be undone"),
        wire::COMPRESSED => out.write_str("|gzip, a layer of its own below"),
        _ => match number(leaf, head) {
            Some(value) => {
                out.push_str(name);
                out.push(' ');
                number_words(value, out)
            }
            None => cut(name, leaf, out),
        },
    }
}

fn cut(name: &str, leaf: &Leaf, out: &mut String) -> fmt::Result {
    let whole = match leaf.kind.code {
        wire::I32 | wire::FLOAT | wire::FIXED32 | wire::SFIXED32 => 4,
        wire::I64 | wire::DOUBLE | wire::FIXED64 | wire::SFIXED64 => 8,
        _ => return write!(out, "{name}, {} of it", bytes(leaf.len())),
    };
    write!(out, "{name}, {} of {whole} bytes", leaf.len())
}

/// `varint 150 (zigzag 75)`: the readings of a varint that differ.
fn varint(head: &[u8], out: &mut String) -> fmt::Result {
    let Varint::Whole(value, len) = wire::varint(head) else {
        return write!(out, "varint, {} of it", bytes(len64(head.len())));
    };
    out.push_str("varint ");
    push_number(out, value);
    if value == 0 {
        out.push_str(if len == 1 { " (false)" } else { "" });
        return Ok(());
    }
    out.push_str(" (");
    if value.cast_signed() < 0 {
        out.push_str("signed ");
        push_signed(out, value.cast_signed());
        out.push_str(", ");
    }
    if value == 1 {
        out.push_str("true, ");
    }
    out.push_str("zigzag ");
    push_signed(out, wire::unzigzag(value));
    if let Some(likely) = likely::of_integer(value) {
        out.push_str(", ");
        out.push_str(&likely);
    }
    out.push(')');
    Ok(())
}

/// `fixed32 1069547520 (float 1.5)`
fn fixed(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    let Some(Number::Unsigned(value)) = number(leaf, head) else {
        return cut(if leaf.kind.code == wire::I32 { "fixed32" } else { "fixed64" }, leaf, out);
    };
    let (name, float, signed) = if leaf.kind.code == wire::I32 {
        let bits = wire::low32(value);
        ("fixed32", format!("float {}", float32_words(f32::from_bits(bits))), i64::from(bits.cast_signed()))
    } else {
        let float = ryu::Buffer::new().format(f64::from_bits(value)).to_string();
        ("fixed64", format!("double {float}"), value.cast_signed())
    };
    let mut others = vec![float];
    if signed < 0 {
        others.push(format!("signed {signed}"));
    }
    others.extend(if leaf.kind.code == wire::I64 { likely::of_fixed64(value) } else { likely::of_fixed32(value) });
    write!(out, "{name} {value} ({})", others.join(", "))
}

/// `sint32 -6782 (zigzag 13563)`
fn zigzag(name: &str, leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    match (number(leaf, head), wire::varint(head)) {
        (Some(value), Varint::Whole(stored, _)) => {
            out.push_str(name);
            out.push(' ');
            number_words(value, out)?;
            out.push_str(" (zigzag ");
            push_number(out, stored);
            out.push(')');
            Ok(())
        }
        _ => cut(name, leaf, out),
    }
}

fn boolean(head: &[u8], out: &mut String) -> fmt::Result {
    match wire::varint(head) {
        Varint::Whole(value @ 0..=1, _) => write!(out, "bool {}", value == 1),
        Varint::Whole(value, _) => write!(out, "bool true (stored as {value})"),
        _ => out.write_str("bool, cut"),
    }
}

/// Text in quotes, control characters escaped; of a long one the beginning.
fn text(name: &str, leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    out.push_str(name);
    if name != "|" {
        out.push(' ');
    }
    if !is_long(leaf, head) {
        crate::formats::quote(head, out);
        return Ok(());
    }
    crate::formats::quote(head.get(..limits::LONG_TEXT).unwrap_or(head), out);
    write!(out, ".., {}", bytes(leaf.len()))
}

/// Whether the leaf is longer than what is held of it, or one piece of a longer value.
fn is_long(leaf: &Leaf, head: &[u8]) -> bool {
    leaf.len() > len64(head.len()) || leaf.flags.has(Flags::PIECE)
}

/// Characters of binary content that are shown as text.
const READABLE: usize = 48;

/// Printable characters in a row that make binary content worth showing as text.
const WORD: usize = 4;

/// `bytes, 16`, and what they are like.
fn blob(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    if leaf.flags.has(Flags::PIECE) {
        return out.write_str("bytes, many");
    }
    out.push_str("bytes, ");
    push_number(out, leaf.len());
    if is_long(leaf, head) {
        return Ok(());
    }
    if let Some(like) = likely::of_bytes(head) {
        return write!(out, ", {like}");
    }
    let printable = |byte: &u8| matches!(byte, b' '..=b'~');
    if head.len() > READABLE || !head.windows(WORD).any(|word| word.iter().all(printable)) {
        return Ok(());
    }
    let shown: String = head.iter().map(|byte| if printable(byte) { char::from(*byte) } else { '.' }).collect();
    write!(out, " \"{shown}\"")
}

fn frame_length(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    match frame_len(leaf, head) {
        Some(len) if leaf.len() == 4 => write!(out, "|{}", bytes(len)),
        Some(len) => write!(out, "|a message of {}", bytes(len)),
        None => write!(out, "|length, {} of it", bytes(leaf.len())),
    }
}

/// The length in front of a message: four bytes, highest first, behind flags; else a varint.
fn frame_len(leaf: &Leaf, head: &[u8]) -> Option<u64> {
    // A varint of four bytes is a length of more than two million, and its last byte is below 0x80; gRPC's
    // first byte is that high only past two thousand million.
    let varint = match wire::varint(head) {
        Varint::Whole(value, len) if len == head.len() => Some(value),
        _ => None,
    };
    match (head.len(), varint) {
        (4, _) if head.first().is_some_and(|byte| *byte < 0x80) => Some(big_endian(head)),
        (4, None) => Some(big_endian(head)),
        _ if leaf.flags.has(Flags::ERROR) && varint.is_none() => None,
        _ => varint,
    }
}

fn frame_flags(head: &[u8], out: &mut String) -> fmt::Result {
    match head.first() {
        Some(0) => out.write_str("not compressed"),
        Some(1) => out.write_str("compressed"),
        Some(2) => out.write_str("flags 02, Connect's end of a stream"),
        Some(0x80) => out.write_str("trailers (gRPC-Web)"),
        Some(0x81) => out.write_str("trailers (gRPC-Web), compressed"),
        Some(flags) => write!(out, "flags {flags:02x}"),
        None => Ok(()),
    }
}

/// Number and wire type of a tag.
pub fn tag(head: &[u8]) -> Option<(u64, Option<WireType>)> {
    match wire::varint(head) {
        Varint::Whole(value, _) => Some((value >> 3, WireType::of(value))),
        _ => None,
    }
}

/// The value of a length.
pub fn length(head: &[u8]) -> Option<u64> {
    match wire::varint(head) {
        Varint::Whole(value, _) => Some(value),
        _ => None,
    }
}

/// What a leaf says when it has a row of its own.
fn alone(leaf: &Leaf, head: &[u8], out: &mut String) -> fmt::Result {
    match leaf.kind.code {
        wire::TAG | wire::SGROUP | wire::EGROUP => match tag(head) {
            Some((number, Some(wire))) => write!(out, "field {number}, {}", wire.name()),
            Some((number, None)) => write!(out, "field {number}, no known wire type"),
            None => out.write_str("tag, cut"),
        },
        wire::LENGTH | wire::MESSAGE_LENGTH | wire::PACKED_LENGTH => match length(head) {
            Some(length) => write!(out, "length {length}"),
            None => out.write_str("length, cut"),
        },
        _ => {
            let mut part = String::new();
            in_row(leaf, head, &mut part)?;
            out.write_str(part.trim_matches('|'))
        }
    }
}

/// The value of a leaf as JSON text.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    if leaf.len() > len64(head.len()) || leaf.flags.has(Flags::PIECE) {
        return None;
    }
    match leaf.kind.code {
        wire::LENGTH | wire::MESSAGE_LENGTH | wire::PACKED_LENGTH => length(head).map(|length| length.to_string()),
        wire::FRAME_LENGTH => frame_len(leaf, head).map(|length| length.to_string()),
        wire::FRAME_FLAGS => head.first().map(u8::to_string),
        wire::TEXT | wire::STRING | wire::TRAILERS => Some(crate::formats::json_string(&String::from_utf8_lossy(head))),
        wire::BLOB | wire::BYTES => Some(format!("\"{}\"", data_encoding::BASE64.encode(head))),
        _ => Some(match number(leaf, head)? {
            Number::Unsigned(value) => value.to_string(),
            Number::Signed(value) => value.to_string(),
            Number::Bool(value) => (value != 0).to_string(),
            Number::Float(value) if value.is_finite() => ryu::Buffer::new().format(value).to_string(),
            Number::Double(value) if value.is_finite() => ryu::Buffer::new().format(value).to_string(),
            Number::Float(value) => special(f64::from(value)),
            Number::Double(value) => special(value),
        }),
    }
}

fn special(value: f64) -> String {
    let text = match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    format!("\"{text}\"")
}

/// The bit fields of a leaf: the two parts of a tag, the groups of seven of a varint, the parts of a float.
pub fn bits(leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
    // Nothing longer has bits to tell: more bytes than a varint may have are no number.
    if leaf.len() > len64(wire::MAX_VARINT) || leaf.len() > len64(head.len()) {
        return Vec::new();
    }
    match leaf.kind.code {
        wire::TAG | wire::SGROUP | wire::EGROUP => tag_bits(head),
        wire::FLOAT if head.len() == 4 => float_bits(head, &[("fraction", 23), ("exponent", 8), ("sign", 1)]),
        wire::DOUBLE if head.len() == 8 => float_bits(head, &[("fraction", 52), ("exponent", 11), ("sign", 1)]),
        wire::LENGTH | wire::MESSAGE_LENGTH | wire::PACKED_LENGTH => varint_bits(head, "length"),
        wire::VARINT | wire::INT32..=wire::SINT64 | wire::BOOL | wire::ENUM => varint_bits(head, "value"),
        _ => Vec::new(),
    }
}

/// A tag: wire type in the low three bits, the field number above them, in pieces where there are more
/// bytes than one.
fn tag_bits(head: &[u8]) -> Vec<Bits> {
    let Some(first) = head.first().copied() else { return Vec::new() };
    let wire = Bits { hi: 2, lo: 0, name: "wire type", value: u64::from(first & 7) };
    if head.len() == 1 {
        return vec![Bits { hi: 7, lo: 3, name: "field number", value: u64::from(first >> 3) }, wire];
    }
    let mut bits = vec![
        Bits { hi: 7, lo: 7, name: "more follows", value: u64::from(first >> 7) },
        Bits { hi: 6, lo: 3, name: "field number", value: u64::from(first >> 3 & 0x0f) },
        wire,
    ];
    bits.extend(sevens(head, "field number").skip(2));
    bits
}

fn varint_bits(head: &[u8], name: &'static str) -> Vec<Bits> {
    sevens(head, name).collect()
}

/// For each byte of a varint whether more follows, and its seven bits.
fn sevens<'a>(head: &'a [u8], name: &'static str) -> impl Iterator<Item = Bits> + 'a {
    (0u32..).zip(head).flat_map(move |(index, byte)| {
        let base = index.saturating_mul(8);
        let (hi, low) = (base.saturating_add(7), base);
        [
            Bits { hi, lo: hi, name: "more follows", value: u64::from(byte >> 7) },
            Bits { hi: hi.saturating_sub(1), lo: low, name, value: u64::from(byte & 0x7f) },
        ]
    })
}

/// The parts of a float, lowest bits first; a part over several bytes is one entry, since the bytes stand
/// lowest first and so the bits are in a row.
fn float_bits(head: &[u8], parts: &[(&'static str, u32)]) -> Vec<Bits> {
    let value = wire::little_endian(head);
    let mut low = 0u32;
    let mut bits: Vec<Bits> = parts
        .iter()
        .map(|(name, size)| {
            let mask = 1u64.checked_shl(*size).map_or(u64::MAX, |end| end.saturating_sub(1));
            let bit = Bits { hi: low + size - 1, lo: low, name, value: value >> low & mask };
            low = low.saturating_add(*size);
            bit
        })
        .collect();
    bits.reverse();
    bits
}
