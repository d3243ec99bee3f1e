//! Fields: types, slots, defaults, and what their attributes ask for.

use crate::model::flat::{Absent, EnumId, Field, Flat, Of, Scalar, Shape, Type};
use crate::model::schema::MessageId;
use crate::schema::fbs::ast::{self, Value};
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::link::{Named, Names};
use crate::schema::fbs::{asked, attributes, enums, numbers};

/// Makes the fields of a table or struct; those of a table by slot.
///
/// # Errors
/// The first field that the language does not allow.
pub fn make(object: &ast::Object, names: &Names<'_>, flat: &Flat, loaded: &Loaded) -> Result<Vec<Field>, Fault> {
    let mut made: Vec<Field> = Vec::new();
    let mut ids: Vec<(u16, bool, usize)> = Vec::new();
    for field in &object.fields {
        attributes::check(&field.head, loaded)?;
        let one = of_field(field, object, names, flat, loaded)?;
        let told = id_of(field)?;
        if let (Of::Union(id), false) = (one.ty.of, object.is_struct) {
            let ty = Type { shape: one.ty.shape, of: Of::UnionType(id) };
            let mut kind = Field::new(format!("{}_type", one.name), 0, ty);
            kind.default = if ty.shape == Shape::One { Absent::Int(0) } else { Absent::None };
            kind.deprecated = one.deprecated;
            kind.place = one.place.clone();
            if let Some(told) = told.and_then(|id| id.checked_sub(1)) {
                kind.attributes.push(("id".to_string(), told.to_string()));
            }
            ids.push((told.unwrap_or(0).saturating_sub(1), told.is_some(), field.head.at));
            if told == Some(0) {
                return Err(Fault::new(field.head.at, format!("union `{}` has id 0", one.name))
                    .help("the slot before a union is that of its type, so its id is 1 at least"));
            }
            made.push(kind);
        }
        ids.push((told.unwrap_or(0), told.is_some(), field.head.at));
        made.push(one);
    }
    twice(object, &made)?;
    asked::clashes(object, &made)?;
    number(object, &mut made, &ids)?;
    Ok(made)
}

/// Two fields of one name.
fn twice(object: &ast::Object, made: &[Field]) -> Result<(), Fault> {
    let mut names = std::collections::HashSet::new();
    for field in made {
        if !names.insert(field.name.as_str()) {
            let at = object.fields.iter().rev().find(|known| known.head.name == field.name);
            let at = at.map_or(object.head.at, |field| field.head.at);
            return Err(Fault::new(at, format!("`{}` has two fields `{}`", object.head.name, field.name))
                .help("a union `x` has a field `x_type` beside it"));
        }
    }
    if let Some(second) = object.fields.iter().filter(|field| field.head.has("key")).nth(1) {
        return Err(Fault::new(second.head.at, format!("`{}` has a second key", object.head.name)));
    }
    Ok(())
}

/// Numbers the fields: in order, or by their ids, of which none may be left out.
fn number(object: &ast::Object, made: &mut [Field], ids: &[(u16, bool, usize)]) -> Result<(), Fault> {
    // On members of a struct ids say nothing.
    if object.is_struct || !ids.iter().any(|(_, told, _)| *told) {
        for (id, field) in (0u16..).zip(made.iter_mut()) {
            slot(field, id, object.is_struct);
        }
        return Ok(());
    }
    for (field, (id, is_told, at)) in made.iter_mut().zip(ids) {
        if !is_told {
            return Err(Fault::new(*at, format!("`{}` has no id, others have", field.name))
                .help("give all fields an id, or none"));
        }
        slot(field, *id, false);
    }
    made.sort_by_key(|field| field.id);
    for (due, field) in (0u16..).zip(made.iter()) {
        if field.id != due {
            let at = object.fields.iter().find(|known| known.head.name == field.name);
            let at = at.map_or(object.head.at, |field| field.head.at);
            let message = format!("`{}` has id {}, {due} was due: ids go from 0 up without gaps", field.name, field.id);
            return Err(Fault::new(at, message).help("a union takes two: its id, and the one before for its type"));
        }
    }
    Ok(())
}

fn slot(field: &mut Field, id: u16, is_struct: bool) {
    field.id = id;
    if !is_struct {
        field.offset = 4u32.saturating_add(u32::from(id).saturating_mul(2));
    }
}

fn id_of(field: &ast::Field) -> Result<Option<u16>, Fault> {
    let Some(attribute) = field.head.attribute("id") else { return Ok(None) };
    match numbers::integer(&attribute.value).and_then(|id| u16::try_from(id).ok()) {
        Some(id) => Ok(Some(id)),
        None => Err(Fault::new(attribute.at, format!("expected an id from 0 to 65535, here is `{}`", attribute.value))),
    }
}

fn of_field(
    field: &ast::Field,
    object: &ast::Object,
    names: &Names<'_>,
    flat: &Flat,
    loaded: &Loaded,
) -> Result<Field, Fault> {
    let head = &field.head;
    let of = names.of_base(&field.ty.of, loaded)?;
    let shape = match field.ty.shape {
        ast::Shape::One => Shape::One,
        ast::Shape::Vector if head.has("vector64") => Shape::Vector64,
        ast::Shape::Vector => Shape::Vector,
        ast::Shape::Array(count) => Shape::Array(count),
    };
    let ty = Type { shape, of };
    let mut made = Field::new(head.name.clone(), 0, ty);
    in_place(field, object, ty)?;
    made.offset64 = head.has("offset64") || shape == Shape::Vector64;
    made.deprecated = head.has("deprecated");
    made.key = head.has("key");
    made.shared = head.has("shared");
    made.flexbuffer = head.has("flexbuffer");
    made.required = head.has("required") || (made.key && ty == Type::one(Of::Text));
    made.nested = nested(field, ty, names, loaded)?;
    made.hash = head.attribute("hash").map(|hash| hash.value.clone());
    made.attributes = attributes::sorted(head);
    made.doc = head.doc.clone();
    made.place = loaded.place(head.at);
    (made.default, made.optional) = default(field, object, ty, flat)?;
    asked::of_field(field, object, &made, flat)?;
    Ok(made)
}

/// What may stand in a struct, and in a table.
fn in_place(field: &ast::Field, object: &ast::Object, ty: Type) -> Result<(), Fault> {
    let at = field.ty.at;
    if object.is_struct {
        let fixed = matches!(ty.of, Of::Scalar(_) | Of::Enum(_) | Of::Struct(_)) && !ty.is_offset();
        if !fixed {
            return Err(Fault::new(at, "a struct holds only scalars, enumerations, structs and arrays of these")
                .help("make it a table"));
        }
        return Ok(());
    }
    if let Shape::Array(_) = ty.shape {
        return Err(Fault::new(at, "an array of fixed length stands only in structs").help("put it into a struct"));
    }
    Ok(())
}

/// The type of a buffer inside.
fn nested(field: &ast::Field, ty: Type, names: &Names<'_>, loaded: &Loaded) -> Result<Option<MessageId>, Fault> {
    let Some(attribute) = field.head.attribute("nested_flatbuffer") else { return Ok(None) };
    if ty.of != Of::Scalar(Scalar::Ubyte) || ty.shape == Shape::One {
        return Err(Fault::new(attribute.at, "a buffer inside is a vector of ubyte"));
    }
    let Some(name) = field.nested() else {
        return Err(Fault::new(attribute.at, "expected the type of the buffer inside, in quotes")
            .help("as in `(nested_flatbuffer: \"Monster\")`"));
    };
    match names.find(&name, loaded)? {
        Named::Object(id) => Ok(Some(id)),
        Named::Enum(_) => Err(Fault::new(attribute.at, format!("`{}` is no table", attribute.value))),
    }
}

/// What an absent field means, and whether that is a value of its own.
fn default(field: &ast::Field, object: &ast::Object, ty: Type, flat: &Flat) -> Result<(Absent, bool), Fault> {
    let scalar = if ty.shape == Shape::One { flat.scalar(ty.of) } else { None };
    let Some((value, at)) = &field.default else {
        let absent = scalar.map_or(Absent::None, zero);
        part_of(field, ty, &absent, field.head.at, flat)?;
        return Ok((absent, false));
    };
    if object.is_struct {
        return Err(Fault::new(*at, "members of a struct have no defaults: they are always there"));
    }
    let wrong = |expected: &str| Err(Fault::new(*at, format!("expected {expected}, here is {}", told(value))));
    match (ty.shape, ty.of, value, scalar) {
        (_, _, Value::Word(word), Some(_)) if word == "null" => Ok((Absent::None, true)),
        (Shape::One, Of::Enum(id), _, Some(base)) => match enumerated(flat, id, value, base) {
            Some(default) => part_of(field, ty, &default, *at, flat).map(|()| (default, false)),
            None => wrong("a value of the enumeration"),
        },
        (Shape::One, Of::Scalar(_), _, Some(scalar)) => match of_scalar(scalar, value) {
            Some(default) => Ok((default, false)),
            None => wrong(&format!("a default that fits {}", scalar.name())),
        },
        (Shape::One, Of::Text, Value::Text(text), _) => Ok((Absent::Text(text.clone()), false)),
        (Shape::One, Of::Text, ..) => wrong("a string in quotes"),
        (Shape::Vector | Shape::Vector64, _, Value::Empty, _) => Ok((Absent::EmptyVector, false)),
        (Shape::Vector | Shape::Vector64, ..) => wrong("`[]`, the only default of a vector"),
        _ => Err(Fault::new(*at, "tables, structs and unions have no defaults")),
    }
}

/// Checks that the default of an enumeration is one of its values; bit flags may have any.
fn part_of(field: &ast::Field, ty: Type, default: &Absent, at: usize, flat: &Flat) -> Result<(), Fault> {
    let (Of::Enum(id), Shape::One) = (ty.of, ty.shape) else { return Ok(()) };
    let Some(one) = flat.enumeration(id).filter(|one| !one.bit_flags) else { return Ok(()) };
    let number = match default {
        Absent::Int(number) => *number,
        Absent::Uint(number) => number.cast_signed(),
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
        Value::Number(text) | Value::Word(text) => format!("`{text}`"),
        Value::Text(text) => format!("\"{}\"", text.escape_debug()),
        Value::Empty => "`[]`".to_string(),
    }
}

fn of_scalar(scalar: Scalar, value: &Value) -> Option<Absent> {
    let text = match value {
        Value::Number(text) | Value::Text(text) | Value::Word(text) => text.as_str(),
        Value::Empty => return None,
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

/// A value of an enumeration: by name, by several names, by `Enum.Name`, or by number.
fn enumerated(flat: &Flat, id: EnumId, value: &Value, base: Scalar) -> Option<Absent> {
    let one = flat.enumeration(id)?;
    let text = match value {
        Value::Number(text) => return integer(numbers::integer(text)?, base),
        Value::Word(text) | Value::Text(text) => text,
        Value::Empty => return None,
    };
    let mut sum = 0u64;
    let mut any = false;
    for name in text.split_whitespace() {
        let name = name.rsplit('.').next().unwrap_or(name);
        let value = one.values.iter().find(|value| value.name == name)?;
        sum |= value.number.cast_unsigned();
        any = true;
    }
    let number = if base == Scalar::Ulong { i128::from(sum) } else { i128::from(sum.cast_signed()) };
    any.then(|| integer(number, base))?
}
