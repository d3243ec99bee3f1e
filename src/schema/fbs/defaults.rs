//! Defaults of fields: numbers, names of values, strings, `null` and `[]`.

use crate::model::flat::{Absent, EnumId, Flat, Of, Scalar, Shape, Type};
use crate::schema::fbs::ast::{self, Name, Value};
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::{enums, numbers, order};

/// What an absent field means, and whether that is a value of its own.
///
/// # Errors
/// A default that its type cannot have.
pub fn of_field(field: &ast::Field, object: &ast::Object, ty: Type, flat: &Flat) -> Result<(Absent, bool), Fault> {
    let scalar = if ty.shape == Shape::One { flat.scalar(ty.of) } else { None };
    let Some((value, at)) = &field.default else {
        let absent = scalar.map_or(Absent::None, zero);
        part_of(field, ty, &absent, field.head.at, flat)?;
        return Ok((absent, false));
    };
    if object.is_struct {
        let by_name = match ty.of {
            Of::Enum(id) => scalar.and_then(|base| enumerated(flat, id, value, base)) == Some(Absent::Int(0)),
            _ => is_zero(value),
        };
        let Some(zero) = scalar.map(zero).filter(|_| by_name) else {
            return Err(Fault::new(*at, "members of a struct have no defaults: they are always there")
                .help("take `=` and what is behind it away"));
        };
        return part_of(field, ty, &zero, *at, flat).map(|()| (zero, false));
    }
    let wrong = |expected: &str| Err(Fault::new(*at, format!("expected {expected}, here is {}", told(value))));
    match (ty.shape, ty.of, value, scalar) {
        (_, _, Value::Word(word), Some(_)) if word == "null" => Ok((Absent::None, true)),
        (Shape::One, Of::Enum(id), _, Some(base)) => match enumerated(flat, id, value, base) {
            Some(default) => part_of(field, ty, &default, *at, flat).map(|()| (default, false)),
            None => wrong("a value of the enumeration"),
        },
        (Shape::One, Of::Scalar(_), _, Some(scalar)) => {
            match of_scalar(scalar, value).or_else(|| qualified(field, scalar, value, flat)) {
                Some(default) => Ok((default, false)),
                None => wrong(&format!("a default that fits {}", scalar.name())),
            }
        }
        (Shape::One, Of::Text, Value::Text(text), _) => Ok((Absent::Text(text.clone()), false)),
        (Shape::One, Of::Text, ..) => wrong("a string in quotes"),
        (Shape::Vector | Shape::Vector64, _, Value::Empty, _) => Ok((Absent::EmptyVector, false)),
        (Shape::Vector | Shape::Vector64, ..) => wrong("`[]`, the only default of a vector"),
        _ => Err(Fault::new(*at, "tables, structs and unions have no defaults")),
    }
}

/// Checks that the default of an enumeration is one of its values; bit flags may have any.
fn part_of(field: &ast::Field, ty: Type, default: &Absent, at: usize, flat: &Flat) -> Result<(), Fault> {
    let (Of::Enum(id), Shape::One | Shape::Array(_)) = (ty.of, ty.shape) else { return Ok(()) };
    let Some(one) = flat.enumeration(id).filter(|one| !one.bit_flags) else { return Ok(()) };
    let number = match default {
        Absent::Int(number) => *number,
        Absent::Uint(number) => number.cast_signed(),
        // All elements of an array are 0.
        Absent::None if ty.shape != Shape::One => 0,
        _ => return Ok(()),
    };
    if one.values.iter().any(|value| value.number == number) {
        return Ok(());
    }
    let shown = if one.base == Scalar::Ulong { number.cast_unsigned().to_string() } else { number.to_string() };
    let message = format!("the default of `{}` is {shown}, which is no value of `{}`", field.head.name, one.name);
    let first = one.values.first().map_or("", |value| value.name.as_str());
    Err(Fault::new(at, message).help(format!("give one, as in `= {first}`, or add a value {shown}, or use `= null`")))
}

fn zero(scalar: Scalar) -> Absent {
    if scalar.is_float() { Absent::Float(0.0) } else { Absent::Int(0) }
}

fn told(value: &Value) -> String {
    match value {
        Value::Number(text) | Value::Word(text) | Value::Computed(text) => format!("`{text}`"),
        Value::Text(text) => format!("\"{}\"", text.escape_debug()),
        Value::Empty => "`[]`".to_string(),
    }
}

fn of_scalar(scalar: Scalar, value: &Value) -> Option<Absent> {
    let text = match value {
        Value::Number(text) | Value::Word(text) => text.as_str(),
        Value::Text(text) => text.trim_matches(' '),
        Value::Computed(text) if scalar.is_float() => text.as_str(),
        Value::Computed(_) | Value::Empty => return None,
    };
    if scalar.is_float() {
        return numbers::float(text).map(Absent::Float);
    }
    let number = match text {
        "true" if scalar == Scalar::Bool => 1,
        "false" if scalar == Scalar::Bool => 0,
        _ => numbers::integer(text)?,
    };
    integer(number, scalar)
}

fn integer(number: i128, scalar: Scalar) -> Option<Absent> {
    // Any number but 0 is true.
    let number = if scalar == Scalar::Bool { i128::from(number != 0) } else { number };
    let stored = enums::fitted(number, scalar)?;
    Some(if number > i128::from(i64::MAX) { Absent::Uint(stored.cast_unsigned()) } else { Absent::Int(stored) })
}

/// A value of an enumeration: by name, in quotes by several names with one space between, or by number.
fn enumerated(flat: &Flat, id: EnumId, value: &Value, base: Scalar) -> Option<Absent> {
    let one = flat.enumeration(id)?;
    let find = |name: &str| one.values.iter().find(|value| value.name == name).map(|value| value.number);
    let number = match value {
        Value::Number(text) => numbers::integer(text)?,
        Value::Word(name) => wide(find(name)?, base),
        Value::Text(text) => match numbers::integer(text.trim_matches(' ')) {
            Some(number) => number,
            None => wide(all_of(text, find)?, base),
        },
        Value::Computed(_) | Value::Empty => return None,
    };
    integer(number, base)
}

/// Values of any enumeration as the default of an integer: `"Color.Red Color.Blue"`.
fn qualified(field: &ast::Field, scalar: Scalar, value: &Value, flat: &Flat) -> Option<Absent> {
    let Value::Text(text) = value else { return None };
    let number = all_of(text, |word| {
        let (name, value) = word.rsplit_once('.')?;
        let name = Name { text: name.to_string(), space: field.head.space.clone(), at: field.head.at };
        let one = order::around(&name).find_map(|full| flat.enums.iter().find(|one| one.name == full))?;
        one.values.iter().find(|known| known.name == value).map(|value| value.number)
    })?;
    integer(wide(number, scalar), scalar).filter(|_| !scalar.is_float() && scalar != Scalar::Bool)
}

/// What the words of a text stand for, put together.
fn all_of(text: &str, find: impl Fn(&str) -> Option<i64>) -> Option<i64> {
    text.split(' ').try_fold(0, |sum, word| Some(sum | find(word)?))
}

fn wide(number: i64, base: Scalar) -> i128 {
    if base == Scalar::Ulong { i128::from(number.cast_unsigned()) } else { i128::from(number) }
}

/// The only default that a member of a struct may be told.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Number(text) => numbers::integer(text) == Some(0),
        Value::Word(word) => word == "false",
        _ => false,
    }
}
