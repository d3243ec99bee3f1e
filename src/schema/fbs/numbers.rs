//! Numbers in schemas: decimal and hex integers, floats, and the functions that the compiler knows.

/// An integer, decimal or hex, with its sign.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let number = match hex {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => digits.parse::<i128>(),
    };
    number.ok().map(|number| if negative { number.saturating_neg() } else { number })
}

/// A float: decimal, or hex with an exponent of two, `0x1.8p3`.
pub fn float(text: &str) -> Option<f64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => hex_float(hex)?,
        None => match digits {
            "inf" | "infinity" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => digits.parse::<f64>().ok()?,
        },
    };
    Some(if negative { -value } else { value })
}

fn hex_float(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        // Without it flatc takes no hex for a float.
        None => return None,
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0f64;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut unit = 1.0 / 16.0;
    for digit in part.chars() {
        value += f64::from(digit.to_digit(16)?) * unit;
        unit /= 16.0;
    }
    Some(value * 2f64.powi(exponent))
}

/// A function of the compiler. It passes results on as text with 12 digits behind the point.
pub fn function(name: &str, value: f64) -> Option<f64> {
    let exact = match name {
        "deg" => value.to_degrees(),
        "rad" => value.to_radians(),
        "cos" => value.cos(),
        "sin" => value.sin(),
        "tan" => value.tan(),
        "acos" => value.acos(),
        "asin" => value.asin(),
        "atan" => value.atan(),
        _ => return None,
    };
    format!("{exact:.12}").to_lowercase().parse().ok()
}
