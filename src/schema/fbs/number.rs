//! Numbers as schemas write them.

/// An integer with its sign, decimal or hexadecimal; none where the text is no integer. What has no room in the
/// result is far outside every type, and comes as its largest or smallest number.
pub fn integer(text: &str) -> Option<i128> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |digits| (digits, 16));
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).unwrap_or(i128::MAX);
    Some(if negative { number.saturating_neg() } else { number })
}

/// A float; `nan`, `inf` and `infinity` in any letter case; hexadecimal ones with an exponent of two. None where
/// the text is no number.
pub fn float(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => hex_float(digits)?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -number } else { number })
}

fn hex_float(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut number = 0.0;
    for digit in whole.chars().chain(part.chars()) {
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let shift = i32::try_from(part.len()).ok()?.saturating_mul(4);
    Some(number * 2f64.powi(exponent.saturating_sub(shift)))
}

/// What a function makes of a number; none for a function that schemas do not have.
pub fn function(name: &str, x: f64) -> Option<f64> {
    let y = match name {
        "deg" => x / std::f64::consts::PI * 180.0,
        "rad" => x * std::f64::consts::PI / 180.0,
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        _ => return None,
    };
    // flatc goes on with twelve decimals.
    format!("{y:.12}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_signs_and_two_notations() {
        let read = ["0", "-12", "+7", "0x1F", "-0X1f", " 5", "18446744073709551615"].map(integer);
        assert_eq!(read, [0, -12, 7, 31, -31, 5, 18_446_744_073_709_551_615].map(Some));
        assert_eq!(["", "-", "0x", "1.5", "a", "--1", "1 "].map(integer), [None; 7]);
        assert_eq!(integer(&"9".repeat(60)), Some(i128::MAX));
    }

    #[test]
    fn floats_have_names_and_hexadecimal_digits() {
        let read = ["1.", ".5", "-2.5e1", "0x1.8p1", "0x1p-1", "INF", "-infinity", "3"].map(float);
        assert_eq!(read, [1.0, 0.5, -25.0, 3.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, 3.0].map(Some));
        assert!(float("-nan").is_some_and(f64::is_nan));
        assert_eq!(["", "x", "1 ", "0x", "+-1", "pi"].map(float), [None; 6]);
    }

    #[test]
    fn functions_keep_twelve_decimals() {
        assert_eq!(function("sin", 1.0), Some(0.841_470_984_808));
        assert_eq!(function("deg", std::f64::consts::PI), Some(180.0));
        assert_eq!(function("sqrt", 1.0), None);
    }
}
