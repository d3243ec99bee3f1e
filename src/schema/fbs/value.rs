//! Defaults: what a value means for a type.

use crate::model::flat::{Absent, Scalar};
use crate::schema::fbs::lexer::{Fault, short};
use crate::schema::fbs::number;
use crate::schema::fbs::syntax::{Value, ValueKind};

/// What a default is for a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// `null`: absent is a value of its own.
    Null,
    /// An integer, bool or enumerated value.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// As the model has it.
    pub fn absent(self) -> Absent {
        match self {
            Number::Null => Absent::None,
            Number::Float(number) => Absent::Float(number),
            Number::Int(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => Absent::Int(number),
                (Err(_), Ok(number)) => Absent::Uint(number),
                (Err(_), Err(_)) => Absent::None,
            },
        }
    }
}

/// The smallest and largest number of an integer type; a bool holds what a byte holds.
pub fn range(scalar: Scalar) -> (i128, i128) {
    let bits = u32::from(scalar.size()).saturating_mul(8);
    if scalar.is_signed() {
        let half = 1i128 << bits.saturating_sub(1).min(126);
        (half.saturating_neg(), half.saturating_sub(1))
    } else {
        (0, (1i128 << bits.min(126)).saturating_sub(1))
    }
}

/// A value as a number of a scalar type. `named` finds the number of a word: a value of an enumeration.
///
/// # Errors
/// It is none, or does not fit.
pub fn number(value: &Value, scalar: Scalar, named: &dyn Fn(&str) -> Result<u64, String>) -> Result<Number, Fault> {
    if value.kind == ValueKind::Text && !value.plain {
        let message = format!("a {} cannot be written with escapes or non-ASCII characters", scalar.name());
        return Err(Fault::new(value.at, message));
    }
    let is_word = matches!(value.kind, ValueKind::Word | ValueKind::Text);
    if is_word && value.text == "null" && value.functions.is_empty() {
        return Ok(Number::Null);
    }
    if scalar.is_float() {
        return float(value).map(Number::Float);
    }
    if let Some(function) = value.functions.first() {
        let message = format!("`{}` makes a float, the field is of type {}", short(&function.text), scalar.name());
        return Err(Fault::new(function.at, message));
    }
    if is_word && scalar == Scalar::Bool && (value.text == "true" || value.text == "false") {
        return Ok(Number::Int(i128::from(value.text == "true")));
    }
    let begins_name = value.text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if is_word && scalar != Scalar::Bool && begins_name {
        return sum(value, scalar, named);
    }
    integer(value, scalar)
}

fn integer(value: &Value, scalar: Scalar) -> Result<Number, Fault> {
    let number = match value.kind {
        ValueKind::Float | ValueKind::Empty => None,
        ValueKind::Text => number::integer(value.text.trim_end_matches(' ')),
        ValueKind::Word | ValueKind::Int => number::integer(&value.text),
    };
    let (least, most) = range(scalar);
    match number {
        Some(number) if (least..=most).contains(&number) => Ok(Number::Int(number)),
        Some(_) => {
            let message = format!("{} does not fit into {}, {least} to {most}", short(&value.text), scalar.name());
            Err(Fault::new(value.at, message))
        }
        None => {
            Err(Fault::new(value.at, format!("expected a default of type {}, found {}", scalar.name(), shown(value))))
        }
    }
}

/// Names of values, with spaces between: the sum of their bits.
fn sum(value: &Value, scalar: Scalar, named: &dyn Fn(&str) -> Result<u64, String>) -> Result<Number, Fault> {
    let mut bits = 0u64;
    for word in value.text.split(' ') {
        bits |= named(word).map_err(|message| Fault::new(value.at, message))?;
    }
    let number = if scalar.is_signed() { i128::from(bits.cast_signed()) } else { i128::from(bits) };
    Ok(Number::Int(number))
}

fn float(value: &Value) -> Result<f64, Fault> {
    let text = if value.kind == ValueKind::Text { value.text.trim_end_matches(' ') } else { value.text.as_str() };
    let digits = text.trim_start_matches(['+', '-', ' ']);
    let is_hex_integer = digits.starts_with("0x") || digits.starts_with("0X");
    if value.kind != ValueKind::Float && is_hex_integer && !digits.contains(['p', 'P']) {
        let message = format!("`{}` is an integer, the default of a float is none", short(text));
        return Err(Fault::helped(value.at, message, "write an exponent, 0x10p0, or a decimal number"));
    }
    let number = if value.kind == ValueKind::Empty { None } else { number::float(text) };
    let Some(mut number) = number else {
        return Err(Fault::new(value.at, format!("expected a number, found {}", shown(value))));
    };
    for function in value.functions.iter().rev() {
        number = number::function(&function.text, number).ok_or_else(|| {
            let message = format!("no function `{}`", short(&function.text));
            Fault::helped(function.at, message, "there are deg, rad, sin, cos, tan, asin, acos and atan")
        })?;
    }
    Ok(number)
}

/// A value in a sentence.
pub fn shown(value: &Value) -> String {
    match value.kind {
        ValueKind::Empty => "`[]`".to_string(),
        ValueKind::Text => format!("the string \"{}\"", short(&value.text)),
        ValueKind::Word | ValueKind::Int | ValueKind::Float => format!("`{}`", short(&value.text)),
    }
}
