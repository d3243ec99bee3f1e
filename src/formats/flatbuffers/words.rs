//! What a leaf says, how many of its bytes count as width, and its value: from its kind and bytes alone. Names
//! of a schema, targets and sizes in context are told by the walk.

use crate::formats::flatbuffers::wire;
use crate::formats::{Run, Telling, quote};
use crate::model::bytemap::{Flags, Leaf};
use crate::model::flat::{Absent, EnumId, EnumValue, Field, Flat, Of, Scalar, Shape};
use crate::model::num::{push_number, push_offset, push_signed};
use crate::wire::reader::{bytes_of_signed, bytes_of_unsigned, little_endian, little_endian_signed};

/// Bytes that count as width: of each value of a leaf what it takes beyond its shortest form.
pub fn width(leaf: &Leaf, head: &[u8]) -> u64 {
    let Some(scalar) = wire::kind_scalar(leaf.kind.code) else { return 0 };
    if leaf.flags.has(Flags::DEFAULT) || scalar.size() == 1 {
        return 0;
    }
    if !leaf.flags.has(Flags::MANY) {
        return width_of(scalar, head);
    }
    let each = usize::from(scalar.size());
    head.chunks_exact(each).fold(0, |sum, value| sum.saturating_add(width_of(scalar, value)))
}

fn width_of(scalar: Scalar, bytes: &[u8]) -> u64 {
    let stored = u64::from(scalar.size());
    let needed = match scalar {
        Scalar::Float => stored,
        Scalar::Double => double_bytes(f64::from_bits(little_endian(bytes))),
        _ if scalar.is_signed() => bytes_of_signed(little_endian_signed(bytes)),
        _ => bytes_of_unsigned(little_endian(bytes)),
    };
    stored.saturating_sub(needed)
}

/// Bytes of the shortest float that holds a value.
fn double_bytes(value: f64) -> u64 {
    // The cast is the question itself.
    #[allow(clippy::cast_possible_truncation)]
    let narrow = value as f32;
    if f64::from(narrow) == value || value.is_nan() { 4 } else { 8 }
}

/// Appends a scalar as a person writes it.
pub fn push_scalar(scalar: Scalar, bytes: &[u8], out: &mut String) {
    match scalar {
        Scalar::Bool => match bytes.first() {
            Some(0) => out.push_str("false"),
            Some(1) => out.push_str("true"),
            _ => push_number(out, little_endian(bytes)),
        },
        Scalar::Float => push_float(out, f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0))),
        Scalar::Double => push_float(out, f64::from_bits(little_endian(bytes))),
        _ if scalar.is_signed() => push_signed(out, little_endian_signed(bytes)),
        _ => push_number(out, little_endian(bytes)),
    }
}

/// A float with the fewest digits that read back as the same value.
fn push_float<F: ryu::Float + Copy + std::fmt::Display>(out: &mut String, value: F) {
    let text = value.to_string();
    match text.as_str() {
        "NaN" | "inf" | "-inf" => out.push_str(&text.replace("NaN", "nan")),
        _ => {
            let mut buffer = ryu::Buffer::new();
            out.push_str(buffer.format_finite(value).trim_end_matches(".0"));
        }
    }
}

/// Appends what a leaf says where the walk has said nothing.
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    let number = little_endian(head);
    match leaf.kind.code {
        wire::UOFFSET | wire::UOFFSET_64 | wire::SOFFSET => {
            out.push_str(if leaf.kind.code == wire::SOFFSET { "soffset -> " } else { "uoffset -> " });
            push_offset(out, leaf.target);
        }
        wire::VTABLE_SIZE => push_labelled(out, "vtable ", number),
        wire::TABLE_SIZE => push_labelled(out, "|table ", number),
        wire::VOFFSET_SLOT => push_labelled(out, "|+", number),
        wire::COUNT => push_number(out, number),
        wire::LENGTH if telling == Telling::Alone => push_labelled(out, "length ", number),
        wire::LENGTH => push_labelled(out, "length ", number),
        wire::SIZE_PREFIX => push_labelled(out, "size prefix: bytes behind it ", number),
        wire::FILE_IDENTIFIER | wire::STRING => {
            if telling == Telling::Row {
                out.push('|');
            }
            quote(head, out);
        }
        wire::NUL => out.push_str(if telling == Telling::Row { "|NUL" } else { "NUL" }),
        wire::RAW | wire::FLEXBUFFER | wire::UNION_TYPE => push_number(out, number),
        code => {
            if let Some(scalar) = wire::kind_scalar(code) {
                out.push_str(scalar.sized_name());
                out.push(' ');
                push_scalar(scalar, head, out);
            }
        }
    }
    if telling == Telling::Alone {
        let kept = out.trim_start_matches('|').len();
        out.drain(..out.len().saturating_sub(kept));
    }
}

fn push_labelled(out: &mut String, label: &str, number: u64) {
    out.push_str(label);
    push_number(out, number);
}

/// The value of a leaf as JSON text.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    if leaf.flags.has(Flags::MANY) {
        return None;
    }
    let mut text = String::new();
    match leaf.kind.code {
        wire::STRING | wire::FILE_IDENTIFIER => {
            return Some(crate::formats::json_string(&String::from_utf8_lossy(head)));
        }
        wire::NUL | wire::RAW | wire::FLEXBUFFER => return None,
        wire::SOFFSET => push_signed(&mut text, little_endian_signed(head)),
        code => match wire::kind_scalar(code) {
            Some(scalar) => push_json(scalar, head, &mut text),
            None => push_number(&mut text, little_endian(head)),
        },
    }
    Some(text)
}

/// The values of a leaf that holds many.
pub fn run(leaf: &Leaf, head: &[u8]) -> Option<Run> {
    let scalar = match leaf.kind.code {
        // Many types of unions are many bytes: wider ones are told one by one.
        wire::UNION_TYPE => Scalar::Ubyte,
        code => wire::kind_scalar(code)?,
    };
    if !leaf.flags.has(Flags::MANY) {
        return None;
    }
    let each = usize::from(scalar.size());
    let json = |bytes: &[u8]| {
        let mut text = String::new();
        push_json(scalar, bytes, &mut text);
        text
    };
    let mut values = head.chunks_exact(each);
    let count = crate::model::num::len64(values.len());
    let (first, last) = (values.next()?, head.chunks_exact(each).next_back()?);
    Some(Run { count, stride: u64::from(scalar.size()), first: json(first), last: json(last) })
}

/// A scalar as JSON text: what is no number there is a string.
fn push_json(scalar: Scalar, head: &[u8], text: &mut String) {
    push_scalar(scalar, head, text);
    if let Some(name) = match text.as_str() {
        "nan" => Some("\"NaN\""),
        "inf" => Some("\"Infinity\""),
        "-inf" => Some("\"-Infinity\""),
        _ => None,
    } {
        text.clear();
        text.push_str(name);
    }
}

/// What an absent field means, behind its name: ` = 3.25`, ` = null`; nothing for what is just not there.
pub fn absent_words(field: &Field, flat: &Flat) -> String {
    match &field.default {
        Absent::None if field.optional && field.ty.shape == Shape::One && flat.scalar(field.ty.of).is_some() => {
            " (null)".to_string()
        }
        Absent::None => String::new(),
        Absent::Int(number) => match field.ty.of {
            Of::Enum(id) => format!(" ({})", enum_words(flat, id, *number)),
            Of::UnionType(_) => String::new(),
            Of::Scalar(Scalar::Bool) => format!(" ({})", *number != 0),
            _ => format!(" ({number})"),
        },
        Absent::Uint(number) => match field.ty.of {
            Of::Enum(id) => format!(" ({})", enum_words(flat, id, number.cast_signed())),
            _ => format!(" ({number})"),
        },
        Absent::Float(number) => {
            let mut text = String::new();
            push_float(&mut text, *number);
            format!(" ({text})")
        }
        Absent::Text(text) => format!(" ({})", crate::formats::quoted(text.as_bytes())),
        Absent::EmptyVector => " ([])".to_string(),
    }
}

/// A value of an enumeration by name: `Document`, `Red|Blue`; a number where there is none.
pub fn enum_words(flat: &Flat, id: EnumId, number: i64) -> String {
    let Some(one) = flat.enumeration(id) else { return number.to_string() };
    if let Some(name) = flat.value_name(id, number) {
        return name.to_string();
    }
    if one.bit_flags && number != 0 {
        let set = |value: &&EnumValue| value.number != 0 && number & value.number == value.number;
        let known: Vec<&EnumValue> = one.values.iter().filter(set).collect();
        let rest = known.iter().fold(number, |rest, value| rest & !value.number);
        let mut names: Vec<String> = known.iter().map(|value| value.name.clone()).collect();
        if rest != 0 {
            names.push(format!("{:#x} not in this schema", rest));
        }
        return names.join("|");
    }
    if one.base == Scalar::Ulong { number.cast_unsigned().to_string() } else { number.to_string() }
}

/// What a scalar of a declared type says: `int32 4`, `FixtureKind Document (1)`, `Race 99, not in this schema`.
pub fn push_typed(flat: &Flat, of: Of, bytes: &[u8], out: &mut String) {
    match of {
        Of::Scalar(scalar) => {
            out.push_str(scalar.sized_name());
            out.push(' ');
            push_scalar(scalar, bytes, out);
        }
        Of::Enum(id) | Of::UnionType(id) => {
            let Some(one) = flat.enumeration(id) else { return };
            let number = integer(one.base, bytes);
            out.push_str(one.short_name());
            out.push(' ');
            let words = enum_words(flat, id, number);
            out.push_str(&words);
            if one.bit_flags && number == 0 {
                out.push_str(", no flag");
            } else if words.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                out.push_str(", not in this schema");
            } else {
                out.push_str(" (");
                if one.base == Scalar::Ulong {
                    push_number(out, number.cast_unsigned())
                } else {
                    push_signed(out, number)
                }
                out.push(')');
            }
        }
        _ => {}
    }
}

/// The integer that bytes of a type hold; of `ulong` the same 64 bits.
pub fn integer(scalar: Scalar, bytes: &[u8]) -> i64 {
    if scalar.is_signed() { little_endian_signed(bytes) } else { little_endian(bytes).cast_signed() }
}

/// Whether a stored scalar is what an absent field means.
pub fn is_default(field: &Field, flat: &Flat, bytes: &[u8]) -> bool {
    if field.optional || matches!(field.ty.of, Of::UnionType(_)) {
        return false;
    }
    let Some(scalar) = flat.scalar(field.ty.of) else { return false };
    match field.default {
        Absent::Int(number) => integer(scalar, bytes) == number,
        Absent::Uint(number) => little_endian(bytes) == number,
        Absent::Float(number) => {
            let stored = match scalar {
                Scalar::Float => f64::from(f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0))),
                _ => f64::from_bits(little_endian(bytes)),
            };
            // The default of a float is kept in the nearest double.
            #[allow(clippy::cast_possible_truncation)]
            let same = stored == number || (scalar == Scalar::Float && stored == f64::from(number as f32));
            same || (stored.is_nan() && number.is_nan())
        }
        _ => false,
    }
}
