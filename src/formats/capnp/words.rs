//! What values say, how many of their bytes count as width, and their JSON: by type and stored bits.

use crate::formats::capnp::layout::{Member, bits_at};
use crate::formats::capnp::wire::{self, ElementSize};
use crate::formats::{Run, Telling, json_string};
use crate::model::bytemap::{Bits, Flags, Leaf};
use crate::model::capnp::{Capnp, Struct, Type};
use crate::model::num::{len64, push_number, push_offset, push_signed};
use crate::wire::reader::{bytes_of_signed, bytes_of_unsigned, little_endian};

/// The signed number of stored bits.
fn signed(ty: Type, bits: u64) -> i64 {
    match ty {
        Type::Int8 => i64::from(u8::try_from(bits & 0xff).unwrap_or(0).cast_signed()),
        Type::Int16 => i64::from(u16::try_from(bits & 0xffff).unwrap_or(0).cast_signed()),
        Type::Int32 => i64::from(u32::try_from(bits & 0xffff_ffff).unwrap_or(0).cast_signed()),
        _ => bits.cast_signed(),
    }
}

fn float32(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0))
}

/// Bytes of a value beyond those that it needs (design.md section 5).
pub fn width(ty: Type, bits: u64) -> u64 {
    let stored = u64::from(ty.bits().unwrap_or(0) / 8);
    let needed = match ty {
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => bytes_of_signed(signed(ty, bits)),
        Type::Float32 => 4,
        Type::Float64 => float_bytes(f64::from_bits(bits)),
        _ => bytes_of_unsigned(bits),
    };
    stored.saturating_sub(needed)
}

/// Bytes of the shortest float that holds a value.
fn float_bytes(value: f64) -> u64 {
    // The cast is the question itself.
    #[allow(clippy::cast_possible_truncation)]
    let narrow = value as f32;
    if f64::from(narrow) == value || value.is_nan() { 4 } else { 8 }
}

/// Bytes of a leaf that count as width.
pub fn leaf_width(leaf: &Leaf, head: &[u8]) -> u64 {
    let code = leaf.kind.code;
    if code == wire::literal(crate::model::bytemap::Cause::Width) {
        return leaf.len();
    }
    let Some(ty) = wire::type_of(code) else { return 0 };
    if !leaf.flags.has(Flags::MANY) {
        return width(ty, little_endian(head));
    }
    let each = usize::try_from(ty.bits().unwrap_or(8) / 8).unwrap_or(1).max(1);
    head.chunks_exact(each).fold(0, |sum, value| sum.saturating_add(width(ty, little_endian(value))))
}

/// Appends a number as a person writes it.
pub fn push_value(capnp: &Capnp, ty: Type, bits: u64, out: &mut String) {
    match ty {
        Type::Bool => out.push_str(if bits & 1 == 1 { "true" } else { "false" }),
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => push_signed(out, signed(ty, bits)),
        Type::Float32 => push_float(out, float32(bits)),
        Type::Float64 => push_float(out, f64::from_bits(bits)),
        Type::Enum(id) => {
            push_number(out, bits);
            let number = u16::try_from(bits).ok();
            match number.and_then(|number| capnp.enumeration(id)?.name_of(number)) {
                Some(name) => {
                    out.push(' ');
                    out.push_str(name);
                }
                None => out.push_str(", not in this schema"),
            }
        }
        _ => push_number(out, bits),
    }
}

fn push_float<F: ryu::Float + Copy + std::fmt::Display>(out: &mut String, value: F) {
    match value.to_string().as_str() {
        text @ ("inf" | "-inf") => out.push_str(text),
        "NaN" => out.push_str("nan"),
        _ => out.push_str(ryu::Buffer::new().format_finite(value).trim_end_matches(".0")),
    }
}

/// The name of a type in a row: `Int32`, `Color`.
pub fn type_word(capnp: &Capnp, ty: Type) -> String {
    let name = capnp.type_name(ty);
    name.rsplit('.').next().unwrap_or(&name).to_string()
}

/// Appends a stored number and what it is: `Int32 4`, `UInt8 1 xor 255 = 254`.
pub fn push_xored(capnp: &Capnp, ty: Type, stored: u64, mask: u64, out: &mut String) {
    match ty {
        Type::Enum(_) => out.push_str(&type_word(capnp, ty)),
        _ => out.push_str(ty.keyword().unwrap_or("")),
    }
    out.push(' ');
    if mask == 0 {
        push_value(capnp, ty, stored, out);
    } else {
        push_stored(ty, stored, out);
        out.push_str(" xor ");
        push_default(capnp, ty, mask, out);
        out.push_str(" = ");
        push_value(capnp, ty, stored ^ mask, out);
    }
    if stored == 0 {
        out.push_str(", the default");
    }
}

/// Stored bits as a number: of floats the bits, which are no float before they are xored.
fn push_stored(ty: Type, stored: u64, out: &mut String) {
    match ty {
        Type::Float32 | Type::Float64 if stored != 0 => out.push_str(&format!("{stored:#x}")),
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => push_signed(out, signed(ty, stored)),
        _ => push_number(out, stored),
    }
}

fn push_default(capnp: &Capnp, ty: Type, mask: u64, out: &mut String) {
    let Type::Enum(id) = ty else { return push_value(capnp, ty, mask, out) };
    push_number(out, mask);
    if let Some(name) = u16::try_from(mask).ok().and_then(|number| capnp.enumeration(id)?.name_of(number)) {
        out.push_str(&format!(" ({name})"));
    }
}

/// Appends which member of a union a tag says is set.
pub fn push_tag(record: &Struct, stored: u64, out: &mut String) {
    out.push_str("union tag ");
    push_number(out, stored);
    match u16::try_from(stored).ok().and_then(|number| record.member(number)) {
        Some(member) => {
            out.push_str(": ");
            out.push_str(&member.name);
            let void = match &member.kind {
                crate::model::capnp::FieldKind::Slot(slot) => slot.ty == Type::Void,
                crate::model::capnp::FieldKind::Group(_) => false,
            };
            out.push_str(if void { " is set, which has no bytes" } else { " is set" });
        }
        None => out.push_str(", not in this schema"),
    }
}

/// Appends the bools of a byte, to the field column and to the meaning.
pub fn push_bools(members: &[&Member<'_>], section: &[u8], field: &mut String, out: &mut String) {
    if let [one] = members {
        field.push_str(&format!(".{} bit {}", one.path, one.bit % 8));
        out.push_str("Bool ");
        push_bool(one, section, out);
        return;
    }
    if let (Some(first), Some(last)) = (members.first(), members.last()) {
        field.push_str(&format!(".{}..{}", first.path, last.path));
    }
    for (at, one) in members.iter().enumerate() {
        out.push_str(if at == 0 { "bit " } else { ", " });
        push_number(out, u64::from(one.bit % 8));
        out.push(' ');
        out.push_str(&one.path);
        out.push(' ');
        push_bool(one, section, out);
    }
}

fn push_bool(member: &Member<'_>, section: &[u8], out: &mut String) {
    let stored = bits_at(section, member.bit, 1);
    let on = |bit: u64| if bit == 1 { "true" } else { "false" };
    match member.default.mask() {
        0 => out.push_str(on(stored)),
        mask => {
            push_number(out, stored);
            out.push_str(" xor 1 = ");
            out.push_str(on(stored ^ mask));
        }
    }
}

/// A number as `capnp convert` writes it in JSON.
pub fn json(capnp: &Capnp, ty: Type, bits: u64) -> Option<String> {
    Some(match ty {
        Type::Void => "null".to_string(),
        Type::Bool => (bits & 1 == 1).to_string(),
        Type::Int8 | Type::Int16 | Type::Int32 => signed(ty, bits).to_string(),
        Type::Int64 => format!("\"{}\"", signed(ty, bits)),
        Type::Uint64 => format!("\"{bits}\""),
        Type::Float32 => json_float(float32(bits)),
        Type::Float64 => json_float(f64::from_bits(bits)),
        Type::Enum(id) => {
            let name = u16::try_from(bits).ok().and_then(|number| capnp.enumeration(id)?.name_of(number));
            name.map_or_else(|| bits.to_string(), json_string)
        }
        _ => bits.to_string(),
    })
}

fn json_float<F: ryu::Float + Copy + std::fmt::Display>(value: F) -> String {
    match value.to_string().as_str() {
        "inf" => "\"Infinity\"".to_string(),
        "-inf" => "\"-Infinity\"".to_string(),
        "NaN" => "\"NaN\"".to_string(),
        _ => ryu::Buffer::new().format_finite(value).trim_end_matches(".0").to_string(),
    }
}

/// A finite float as `capnp convert` writes it in JSON: whole ones without a point.
pub fn json_number(scalar: &crate::model::value::Scalar<'_>) -> String {
    use crate::model::value::Scalar;
    match scalar {
        Scalar::F32(value) => json_float(*value),
        Scalar::F64(value) => json_float(*value),
        _ => String::new(),
    }
}

/// Appends what a leaf says where the walk has said nothing.
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    let number = little_endian(head.get(..8).unwrap_or(head));
    match leaf.kind.code {
        wire::TEXT => crate::formats::quote(head, out),
        wire::NUL => out.push_str("|NUL"),
        wire::DATA | wire::BITS => out.push_str(&crate::model::num::bytes(leaf.len())),
        // In a row the tag has said what follows.
        code if code >= wire::LITERAL && telling == Telling::Row => {}
        wire::HOLE => out.push_str("zeros that nothing points at"),
        wire::STRUCT_POINTER | wire::LIST_POINTER | wire::FAR_POINTER => {
            out.push_str("-> ");
            push_offset(out, leaf.target);
        }
        code => match wire::type_of(code) {
            Some(ty) if !leaf.flags.has(Flags::MANY) => push_value(&Capnp::default(), plain(ty), number, out),
            _ => out.push_str(&crate::model::num::bytes(leaf.len())),
        },
    }
}

fn plain(ty: Type) -> Type {
    if let Type::Enum(_) = ty { Type::Uint16 } else { ty }
}

/// The value of a leaf as JSON text, from its kind and bytes alone.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    let number = little_endian(head.get(..8).unwrap_or(head));
    if leaf.flags.has(Flags::MANY) {
        return None;
    }
    match leaf.kind.code {
        wire::TEXT if !leaf.flags.has(Flags::PIECE) => Some(json_string(&String::from_utf8_lossy(head))),
        wire::UNION_TAG | wire::SEGMENT_SIZE | wire::DATA_WORDS | wire::POINTER_COUNT | wire::FAR_SEGMENT => {
            Some(number.to_string())
        }
        wire::SEGMENT_COUNT => Some(number.saturating_add(1).to_string()),
        wire::LIST_SIZE => Some((number >> 3).to_string()),
        wire::TAG_COUNT => Some((number >> 2).to_string()),
        wire::NULL_POINTER => Some("null".to_string()),
        code => json(&Capnp::default(), wire::type_of(code)?, number),
    }
}

/// The values of a leaf that holds many of its kind.
pub fn run(leaf: &Leaf, head: &[u8]) -> Option<Run> {
    if !leaf.flags.has(Flags::MANY) {
        return None;
    }
    let ty = wire::type_of(leaf.kind.code)?;
    let stride = u64::from(ty.bits()? / 8);
    let each = usize::try_from(stride).ok()?;
    let one = |bytes: Option<&[u8]>| json(&Capnp::default(), ty, little_endian(bytes?));
    let count = leaf.len().checked_div(stride)?;
    let last = len64(head.len()).checked_sub(stride).and_then(|at| head.get(usize::try_from(at).ok()?..));
    Some(Run { count, stride, first: one(head.get(..each))?, last: one(last)? })
}

/// The bit fields of a leaf.
pub fn bits(leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
    let number = little_endian(head.get(..8).unwrap_or(head));
    let field = |hi: u32, lo: u32, name| {
        let mask = u64::MAX >> 63u32.saturating_sub(hi.saturating_sub(lo));
        Bits { hi, lo, name, value: number >> lo & mask }
    };
    match leaf.kind.code {
        wire::STRUCT_POINTER | wire::LIST_POINTER => {
            vec![field(31, 2, "offset in words"), field(1, 0, "pointer kind")]
        }
        wire::LIST_SIZE => {
            let composite = ElementSize::of(number) == ElementSize::InlineComposite;
            vec![field(31, 3, if composite { "words" } else { "elements" }), field(2, 0, "element size")]
        }
        wire::FAR_POINTER => {
            vec![field(31, 3, "word in the segment"), field(2, 2, "two-word pad"), field(1, 0, "pointer kind")]
        }
        wire::CAPABILITY_POINTER => vec![field(31, 2, "zero"), field(1, 0, "pointer kind")],
        wire::TAG_COUNT => vec![field(31, 2, "elements"), field(1, 0, "pointer kind")],
        wire::BOOLS => (0..8).rev().map(|bit| field(bit, bit, "bit")).collect(),
        wire::PACKED_TAG => (0..8).rev().map(|bit| field(bit, bit, "byte is there")).collect(),
        _ => Vec::new(),
    }
}
