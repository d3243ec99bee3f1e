//! Single values of a text or another format as the type of a field stores them.

use crate::formats::given;
use crate::model::flat::{Enum, EnumId, Flat, Of, Scalar as Type};
use crate::model::value::Scalar;

/// A float64 as the float32 next to it.
#[allow(clippy::cast_possible_truncation, reason = "the nearest float32 is what is stored")]
pub fn narrow(value: f64) -> f32 {
    value as f32
}

/// The bits of a value as its type stores them; none where it does not fit.
pub fn bits(flat: &Flat, of: Of, value: &Scalar<'_>) -> Option<u64> {
    let scalar = flat.scalar(of)?;
    if let (Of::Enum(id) | Of::UnionType(id), Scalar::Text(text)) = (of, value)
        && let Some(number) = named(flat, id, text)
    {
        return Some(number);
    }
    match scalar {
        Type::Float => float32(value).map(|value| u64::from(value.to_bits())),
        Type::Double => float64(value).map(f64::to_bits),
        Type::Bool => boolean(value),
        _ => stored(scalar, integer(value)?),
    }
}

/// An integer in the bits of its type.
fn stored(scalar: Type, value: i128) -> Option<u64> {
    Some(match scalar {
        Type::Byte => i64::from(i8::try_from(value).ok()?).cast_unsigned(),
        Type::Short => i64::from(i16::try_from(value).ok()?).cast_unsigned(),
        Type::Int => i64::from(i32::try_from(value).ok()?).cast_unsigned(),
        Type::Long => i64::try_from(value).ok()?.cast_unsigned(),
        Type::Bool | Type::Ubyte => u64::from(u8::try_from(value).ok()?),
        Type::Ushort => u64::from(u16::try_from(value).ok()?),
        Type::Uint => u64::from(u32::try_from(value).ok()?),
        Type::Ulong => u64::try_from(value).ok()?,
        Type::Float | Type::Double => return None,
    })
}

/// The smallest and largest value of an integer type.
pub fn range(scalar: Type) -> Option<(i128, i128)> {
    let bits = u32::from(scalar.size()) * 8;
    match scalar {
        Type::Float | Type::Double => None,
        _ if scalar.is_signed() => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
        _ => Some((0, (1i128 << bits) - 1)),
    }
}

/// A name of an enumeration, with its type in front or not; flags in a row.
fn named(flat: &Flat, id: EnumId, text: &[u8]) -> Option<u64> {
    let (one, text) = (flat.enumeration(id)?, std::str::from_utf8(text).ok()?);
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let first = number_of(one, words.next()?)?;
    words.try_fold(first, |all, word| Some(all | number_of(one, word).filter(|_| one.bit_flags)?))
}

fn number_of(one: &Enum, word: &str) -> Option<u64> {
    let known = |name: &str| one.values.iter().find(|value| value.name == name).map(|value| value.number);
    let short = || {
        let (prefix, name) = word.rsplit_once('.')?;
        known(name).filter(|_| prefix == one.name || prefix == one.short_name())
    };
    known(word).or_else(short).map(i64::cast_unsigned)
}

fn boolean(value: &Scalar<'_>) -> Option<u64> {
    match value {
        Scalar::Bool(value) => Some(u64::from(*value)),
        Scalar::Text(text) if text[..] == *b"true" => Some(1),
        Scalar::Text(text) if text[..] == *b"false" => Some(0),
        _ => stored(Type::Bool, integer(value)?),
    }
}

/// An integer in any form that readers take; in quotes also hexadecimal, and with spaces behind it.
fn integer(value: &Scalar<'_>) -> Option<i128> {
    match value {
        Scalar::Bool(value) => Some(i128::from(*value)),
        Scalar::Text(text) => {
            let text = std::str::from_utf8(text).ok()?.trim_end_matches(' ');
            hexadecimal(text).or_else(|| given::integer(&Scalar::Text(text.as_bytes().into())))
        }
        _ => given::integer(value),
    }
}

/// `0x1f`, with a sign or not.
fn hexadecimal(text: &str) -> Option<i128> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let value = i128::from(u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
    Some(if negative { -value } else { value })
}

fn float64(value: &Scalar<'_>) -> Option<f64> {
    let Scalar::Text(text) = value else { return given::float(value) };
    let text = std::str::from_utf8(text).ok()?.trim_end_matches(' ');
    text.parse::<f64>().ok().filter(|value| value.is_finite() || !has_digit(text))
}

/// A float32, from a text the one next to it; a number beyond its range is refused.
fn float32(value: &Scalar<'_>) -> Option<f32> {
    let Scalar::Text(text) = value else { return given::float32(value) };
    let text = std::str::from_utf8(text).ok()?.trim_end_matches(' ');
    text.parse::<f32>().ok().filter(|value| value.is_finite() || !has_digit(text))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// What a text stands for where the field says that it is hashed.
pub fn hash(name: &str, text: &[u8]) -> Option<u64> {
    const PRIME32: u32 = 0x0100_0193;
    const BASIS32: u32 = 0x811c_9dc5;
    const PRIME64: u64 = 0x0100_0000_01b3;
    const BASIS64: u64 = 0xcbf2_9ce4_8422_2645;
    let first = |hash: u32, byte: &u8| hash.wrapping_mul(PRIME32) ^ u32::from(*byte);
    let alternate = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(PRIME32);
    let first64 = |hash: u64, byte: &u8| hash.wrapping_mul(PRIME64) ^ u64::from(*byte);
    let alternate64 = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME64);
    let fold = |hash: u32| u64::from(hash >> 16 ^ hash & 0xffff);
    Some(match name {
        "fnv1_16" => fold(text.iter().fold(BASIS32, first)),
        "fnv1a_16" => fold(text.iter().fold(BASIS32, alternate)),
        "fnv1_32" => u64::from(text.iter().fold(BASIS32, first)),
        "fnv1a_32" => u64::from(text.iter().fold(BASIS32, alternate)),
        "fnv1_64" => text.iter().fold(BASIS64, first64),
        "fnv1a_64" => text.iter().fold(BASIS64, alternate64),
        _ => return None,
    })
}

/// Whether a value is what an absent field means, as comparing numbers says: -0 equals 0, and NaN
/// equals nothing, so that flatc writes it where it is the default too.
pub fn is_default(scalar: Type, bits: u64, default: &crate::model::flat::Absent) -> bool {
    use crate::model::flat::Absent;
    match (scalar, default) {
        (Type::Float, _) => {
            let value = f32::from_bits(u32::try_from(bits).unwrap_or(0));
            value == narrow(number(default))
        }
        (Type::Double, _) => f64::from_bits(bits) == number(default),
        (_, Absent::Int(value)) => bits == value.cast_unsigned(),
        (_, Absent::Uint(value)) => bits == *value,
        (_, Absent::None | Absent::Float(_) | Absent::Text(_) | Absent::EmptyVector) => bits == 0,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a default of a float that is written as an integer")]
fn number(default: &crate::model::flat::Absent) -> f64 {
    use crate::model::flat::Absent;
    match default {
        Absent::Float(value) => *value,
        Absent::Int(value) => *value as f64,
        Absent::Uint(value) => *value as f64,
        Absent::None | Absent::Text(_) | Absent::EmptyVector => 0.0,
    }
}
