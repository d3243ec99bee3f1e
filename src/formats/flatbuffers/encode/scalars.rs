//! Scalars of a text or another format as a field's type stores them.

use crate::formats::given::{float, float32, integer};
use crate::formats::target::nearest;
use crate::model::flat::{EnumId, Flat, Of, Scalar as Type};
use crate::model::value::Scalar;

/// The bits of a value as its type stores them; none where it does not fit.
pub fn bits(flat: &Flat, of: Of, hash: Option<&str>, value: &Scalar<'_>) -> Option<u64> {
    let ty = flat.scalar(of)?;
    if let (Some(hash), Scalar::Text(text)) = (hash, value) {
        return hashed(hash, text).map(|bits| bits & mask(ty));
    }
    if let (Of::Enum(id) | Of::UnionType(id), Scalar::Text(text)) = (of, value)
        && let Some(number) = named(flat, id, std::str::from_utf8(text).ok()?)
    {
        return Some(number & mask(ty));
    }
    match ty {
        Type::Float => Some(u64::from(match value {
            Scalar::Text(text) => word(text).map(narrowed)?.to_bits(),
            _ => float32(value)?.to_bits(),
        })),
        Type::Double => Some(match value {
            Scalar::Text(text) => word(text)?.to_bits(),
            _ => float(value)?.to_bits(),
        }),
        Type::Bool => match value {
            Scalar::Bool(value) => Some(u64::from(*value)),
            Scalar::Text(text) if text.as_ref() == b"true" => Some(1),
            Scalar::Text(text) if text.as_ref() == b"false" => Some(0),
            _ => integer(value).map(|number| u64::from(number != 0)),
        },
        _ => {
            let number = match value {
                Scalar::Bool(value) => i128::from(*value),
                _ => integer(value)?,
            };
            fitted(number, ty)
        }
    }
}

fn mask(ty: Type) -> u64 {
    u64::MAX >> 64u32.saturating_sub(u32::from(ty.size()).saturating_mul(8))
}

/// An integer in the bits of its type; none where it does not fit.
fn fitted(number: i128, ty: Type) -> Option<u64> {
    let bits = u32::from(ty.size()).saturating_mul(8);
    let (least, most) = match ty.is_signed() {
        true => (-(1i128 << bits.saturating_sub(1)), (1i128 << bits.saturating_sub(1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    if number < least || number > most {
        return None;
    }
    let stored = u64::try_from(number).ok().or_else(|| i64::try_from(number).ok().map(i64::cast_unsigned))?;
    Some(stored & mask(ty))
}

/// A float as text: a number, or one of the words for what is none.
fn word(text: &[u8]) -> Option<f64> {
    match std::str::from_utf8(text).ok()? {
        "nan" | "+nan" | "-nan" | "NaN" => Some(f64::NAN),
        "inf" | "+inf" | "infinity" | "+infinity" | "Infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" | "-Infinity" => Some(f64::NEG_INFINITY),
        text => text.parse::<f64>().ok().filter(|value| value.is_finite()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest float is what is wanted")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

/// The number of an enumerated value: by name, by several names, by `Enum.Name`; a number in quotes is none.
fn named(flat: &Flat, id: EnumId, text: &str) -> Option<u64> {
    let one = flat.enumeration(id)?;
    let mut sum = 0u64;
    let mut any = false;
    for name in text.split_whitespace() {
        let value = one.values.iter().find(|value| value.name == name).or_else(|| {
            let last = name.rsplit('.').next()?;
            one.values.iter().find(|value| value.name == last)
        })?;
        sum |= value.number.cast_unsigned();
        any = true;
    }
    any.then_some(sum)
}

/// The hash of a string (FNV-1 and FNV-1a; of 16 bits folded from 32).
fn hashed(name: &str, text: &[u8]) -> Option<u64> {
    let (a, bits) = (name.contains("1a"), name.rsplit('_').next()?);
    let fold = |basis: u64, prime: u64, mask: u64| {
        text.iter().fold(basis, |hash, byte| {
            let byte = u64::from(*byte);
            if a { (hash ^ byte).wrapping_mul(prime) & mask } else { (hash.wrapping_mul(prime) & mask) ^ byte }
        })
    };
    let wide = || fold(0x811c_9dc5, 0x0100_0193, u64::from(u32::MAX));
    match bits {
        "16" => Some((wide() >> 16 ^ wide()) & 0xffff),
        "32" => Some(wide()),
        "64" => Some(fold(0xcbf2_9ce4_8422_2645, 0x0000_0100_0000_01b3, u64::MAX)),
        _ => None,
    }
}

/// What a value should be, with its article.
pub fn noun(flat: &Flat, of: Of) -> String {
    match of {
        Of::Enum(id) => format!("a value of {}", flat.enumeration(id).map_or("", |one| one.name.as_str())),
        Of::UnionType(id) => format!("a member of {}", flat.enumeration(id).map_or("", |one| one.name.as_str())),
        _ => match flat.scalar(of) {
            Some(Type::Bool) => "true or false".to_string(),
            Some(ty) if ty.is_float() => "a number".to_string(),
            Some(ty) => format!("an integer that fits {}", ty.name()),
            None => "a value".to_string(),
        },
    }
}

/// What to try.
pub fn help(flat: &Flat, of: Of, value: &Scalar<'_>) -> String {
    let (Of::Enum(id) | Of::UnionType(id), Scalar::Text(text)) = (of, value) else { return String::new() };
    let Some(one) = flat.enumeration(id) else { return String::new() };
    nearest(&String::from_utf8_lossy(text), one.values.iter().map(|value| value.name.as_str()))
}
