//! Single values of a text or another format as the type of a field stores them.

use crate::formats::capnp::names::Names;
use crate::formats::given;
use crate::model::capnp::{Capnp, EnumId, Type};
use crate::model::value::Scalar;

/// The bits of a value as its type stores them; none where it does not fit.
pub fn bits(capnp: &Capnp, names: &Names, ty: Type, value: &Scalar<'_>) -> Option<u64> {
    Some(match ty {
        Type::Void => 0,
        Type::Bool => match value {
            Scalar::Bool(value) => u64::from(*value),
            _ => return None,
        },
        Type::Float32 => u64::from(float32(value)?.to_bits()),
        Type::Float64 => float64(value)?.to_bits(),
        Type::Enum(id) => match value {
            Scalar::Text(text) => u64::from(named(capnp, names, id, text)?),
            _ => u64::from(u16::try_from(integer(value)?).ok()?),
        },
        _ => stored(ty, integer(value)?)?,
    })
}

/// An integer in the bits of its type.
fn stored(ty: Type, value: i128) -> Option<u64> {
    let (low, high) = range(ty)?;
    let bits = ty.bits()?;
    let value = Some(value).filter(|value| (low..=high).contains(value))?;
    let mask = u128::MAX.checked_shr(128u32.saturating_sub(bits))?;
    u64::try_from(value.cast_unsigned() & mask).ok()
}

/// The smallest and largest value of an integer type.
pub fn range(ty: Type) -> Option<(i128, i128)> {
    Some(match ty {
        Type::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Type::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Type::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Type::Int64 => (i64::MIN.into(), i64::MAX.into()),
        Type::Uint8 => (0, u8::MAX.into()),
        Type::Uint16 => (0, u16::MAX.into()),
        Type::Uint32 => (0, u32::MAX.into()),
        Type::Uint64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// The number of an enumerant: by its name in JSON, in the schema, or in other letters.
fn named(capnp: &Capnp, names: &Names, id: EnumId, text: &[u8]) -> Option<u16> {
    let (one, text) = (capnp.enumeration(id)?, std::str::from_utf8(text).ok()?);
    let numbers = || (0u16..).zip(&one.enumerants);
    let find = |fits: &dyn Fn(u16, &str) -> bool| {
        numbers().find(|(number, enumerant)| fits(*number, &enumerant.name)).map(|(number, _)| number)
    };
    let folded = super::lookup::folded;
    find(&|number, _| names.enumerant(id, number) == Some(text))
        .or_else(|| find(&|_, name| name == text))
        .or_else(|| find(&|_, name| folded(name) == folded(text)))
}

/// An integer in any form that readers take; in quotes also hexadecimal.
pub fn integer(value: &Scalar<'_>) -> Option<i128> {
    if let Scalar::Text(text) = value
        && let Some(number) = hexadecimal(std::str::from_utf8(text).ok()?)
    {
        return Some(number);
    }
    given::integer(value)
}

/// `0x1f`, with a sign or not.
fn hexadecimal(text: &str) -> Option<i128> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let value = i128::from(u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
    Some(if negative { value.saturating_neg() } else { value })
}

/// What is no finite number, in any letters: `nan`, `-inf`, `Infinity`. Null is NaN, as `capnp convert` reads it.
fn special(value: &Scalar<'_>) -> Option<f64> {
    let text = match value {
        Scalar::Null => return Some(f64::NAN),
        Scalar::Text(text) => std::str::from_utf8(text).ok()?,
        _ => return None,
    };
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| !has_digit)
}

fn float64(value: &Scalar<'_>) -> Option<f64> {
    special(value).or_else(|| given::float(value))
}

#[expect(clippy::cast_possible_truncation, reason = "what has no finite value has the same form in 32 bits")]
fn float32(value: &Scalar<'_>) -> Option<f32> {
    special(value).map(|value| value as f32).or_else(|| given::float32(value))
}

/// A number as JSON values hold it.
#[expect(clippy::cast_precision_loss, reason = "JSON values hold float64")]
pub fn number(value: &Scalar<'_>) -> Option<f64> {
    match value {
        Scalar::Uint(value) => Some(*value as f64),
        Scalar::Int(value) => Some(*value as f64),
        Scalar::Text(_) => None,
        _ => given::float(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_the_bits_of_their_type() {
        assert_eq!(stored(Type::Int8, -1), Some(0xff));
        assert_eq!(stored(Type::Int64, -1), Some(u64::MAX));
        assert_eq!(stored(Type::Uint64, i128::from(u64::MAX)), Some(u64::MAX));
        assert_eq!([stored(Type::Int8, 128), stored(Type::Uint8, -1), stored(Type::Uint16, 65536)], [None; 3]);
    }

    #[test]
    fn floats_that_are_no_finite_number() {
        let text = |text: &'static str| Scalar::Text(text.as_bytes().into());
        for name in ["nan", "NaN", "NAN"] {
            assert!(float64(&text(name)).is_some_and(f64::is_nan));
        }
        assert_eq!(float64(&text("-inf")), Some(f64::NEG_INFINITY));
        assert_eq!(float32(&text("Infinity")), Some(f32::INFINITY));
        assert_eq!(float32(&Scalar::Null).map(f32::to_bits), Some(0x7fc0_0000));
        assert_eq!((float64(&text("1e400")), float64(&text("1.5"))), (None, Some(1.5)));
    }
}
