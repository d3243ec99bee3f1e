//! Numbers and bytes in any form that a value of another format gives them.

use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};

use crate::model::value::Scalar;

/// Digits that an integer of 64 bits has at most.
const DIGITS: usize = 20;

/// base64 in both alphabets, what the last digit holds too much ignored.
static BASE64: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.check_trailing_bits = false;
    specification.encoding().ok()
});

/// Bytes behind base64, with or without padding, of either alphabet.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last.saturating_add(1));
    let (digits, padding) = text.split_at_checked(end)?;
    if padding.len() > 2 {
        return None;
    }
    BASE64.as_ref()?.decode(digits).ok()
}

/// Splits a JSON number into sign, digits before and behind the point, and exponent; none where it is none.
pub fn parts(text: &str) -> Option<(bool, &str, &str, i64)> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            // An exponent with more digits than fit makes every number 0 or too large.
            let huge = if exponent.starts_with('-') { i64::from(i32::MIN) } else { i64::from(i32::MAX) };
            (mantissa, exponent.parse().unwrap_or(huge))
        }
        None => (rest, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((_, "")) => return None,
        Some(both) => both,
        None => (mantissa, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let leads = whole.len() > 1 && whole.starts_with('0');
    (!whole.is_empty() && !leads && digits(whole) && digits(fraction)).then_some((negative, whole, fraction, exponent))
}

/// The integer that a JSON number is: `1`, `1.0`, `1e3`; none where it is none, or far out of range.
fn integral(text: &str) -> Option<i128> {
    let (negative, whole, fraction, exponent) = parts(text)?;
    let mut digits = [whole, fraction].concat();
    let behind = i64::try_from(fraction.len()).ok()?;
    let mut scale = exponent.saturating_sub(behind);
    let kept = digits.trim_end_matches('0').len();
    scale = scale.saturating_add(i64::try_from(digits.len().saturating_sub(kept)).ok()?);
    digits.truncate(kept);
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let scale = usize::try_from(scale).ok()?;
    if digits.len().saturating_add(scale) > DIGITS {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    let value = value.checked_mul(10i128.checked_pow(u32::try_from(scale).ok()?)?)?;
    Some(if negative { -value } else { value })
}

/// An integer in any form that readers take.
pub fn integer(value: &Scalar<'_>) -> Option<i128> {
    match value {
        Scalar::Uint(value) => Some(i128::from(*value)),
        Scalar::Int(value) => Some(i128::from(*value)),
        Scalar::F32(value) => integral(&format!("{value}")),
        Scalar::F64(value) => integral(&format!("{value}")),
        Scalar::Number(text) => plain(text).or_else(|| integral(text)),
        Scalar::Text(text) => std::str::from_utf8(text).ok().and_then(integral),
        _ => None,
    }
}

/// The usual form, without point and exponent.
fn plain(text: &str) -> Option<i128> {
    text.parse::<i64>().ok().map(i128::from)
}

/// A float in any form that readers take.
pub fn float(value: &Scalar<'_>) -> Option<f64> {
    let finite = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    match value {
        Scalar::F32(value) => Some(f64::from(*value)),
        Scalar::F64(value) => Some(*value),
        Scalar::Uint(value) => finite(&value.to_string()),
        Scalar::Int(value) => finite(&value.to_string()),
        Scalar::Number(text) => finite(text),
        Scalar::Text(text) => match std::str::from_utf8(text).ok()? {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            text => parts(text).and_then(|_| finite(text)),
        },
        _ => None,
    }
}

/// A float32; one that a number beyond its range would become infinity is refused.
pub fn float32(value: &Scalar<'_>) -> Option<f32> {
    let wide = float(value)?;
    let narrow = match value {
        Scalar::F32(value) => *value,
        // From the decimal, so that it is rounded once.
        Scalar::Number(text) => text.parse().ok()?,
        Scalar::Text(text) if wide.is_finite() => std::str::from_utf8(text).ok()?.parse().ok()?,
        _ => narrowed(wide),
    };
    (narrow.is_finite() == wide.is_finite()).then_some(narrow)
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest float32 is what is wanted")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_all_their_forms() {
        let known = [("1", 1), ("1.0", 1), ("1e3", 1000), ("100e-2", 1), ("-0", 0), ("0.0e5", 0), ("1.5e1", 15)];
        for (text, number) in known {
            assert_eq!(integral(text), Some(number), "{text}");
        }
        assert!(
            ["1.5", " 1", "01", "+1", "1.", "1e", "1e400", "", "-", "1e99999999999999999999"]
                .iter()
                .all(|text| integral(text).is_none())
        );
        assert_eq!(integral("18446744073709551615"), Some(i128::from(u64::MAX)));
    }

    #[test]
    fn base64_of_both_alphabets_with_and_without_padding() {
        for text in ["-_8=", "+/8=", "-_8", "+/8"] {
            assert_eq!(base64(text.as_bytes()), Some(vec![0xfb, 0xff]));
        }
        assert!(base64(b"A").is_none() && base64(b"A!==").is_none());
    }
}
