//! Fields: types, slots, defaults, and what their attributes ask for.

use crate::model::flat::{Absent, EnumId, Field, Flat, Of, Scalar, Shape, Type};
use crate::model::schema::MessageId;
use crate::schema::fbs::ast::{self, Name, Value};
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::link::{Named, Names};
use crate::schema::fbs::{attributes, enums, numbers};

/// Hash functions that `hash` may name.
const HASHES: [&str; 6] = ["fnv1_16", "fnv1a_16", "fnv1_32", "fnv1a_32", "fnv1_64", "fnv1a_64"];

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
    let told = ids.iter().any(|(_, told, _)| *told);
    if told && object.is_struct {
        return Err(Fault::new(object.head.at, "members of a struct have no ids"));
    }
    if !told {
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
    let of = names.of_base(&field.ty.of)?;
    let shape = match field.ty.shape {
        ast::Shape::One => Shape::One,
        ast::Shape::Vector if head.has("vector64") => Shape::Vector64,
        ast::Shape::Vector => Shape::Vector,
        ast::Shape::Array(count) => Shape::Array(count),
    };
    let ty = Type { shape, of };
    let mut made = Field::new(head.name.clone(), 0, ty);
    in_place(field, object, ty, flat)?;
    made.offset64 = head.has("offset64") || shape == Shape::Vector64;
    made.deprecated = head.has("deprecated");
    made.key = head.has("key");
    made.shared = head.has("shared");
    made.flexbuffer = head.has("flexbuffer");
    made.required = head.has("required") || (made.key && ty == Type::one(Of::Text));
    made.nested = nested(field, ty, names)?;
    made.hash = hash(field)?;
    made.attributes = attributes::sorted(head);
    made.doc = head.doc.clone();
    made.place = loaded.place(head.at);
    (made.default, made.optional) = default(field, object, ty, flat)?;
    asked(field, object, ty, &made)?;
    Ok(made)
}

/// What may stand in a struct, and in a table.
fn in_place(field: &ast::Field, object: &ast::Object, ty: Type, _flat: &Flat) -> Result<(), Fault> {
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

/// What attributes ask for that the type does not have.
fn asked(field: &ast::Field, object: &ast::Object, ty: Type, made: &Field) -> Result<(), Fault> {
    let at = |name: &str| field.head.attribute(name).map_or(field.head.at, |attribute| attribute.at);
    let scalar = ty.shape == Shape::One && matches!(ty.of, Of::Scalar(_) | Of::Enum(_));
    if field.head.has("required") && (scalar || object.is_struct) {
        return Err(Fault::new(
            at("required"),
            "only what an offset leads to, or a struct in a table, can be required",
        )
        .help("`= null` tells an absent scalar from its default"));
    }
    if field.head.has("deprecated") && object.is_struct {
        return Err(Fault::new(at("deprecated"), "members of a struct cannot be deprecated"));
    }
    let may_be_key = match ty.shape {
        Shape::One => matches!(ty.of, Of::Scalar(_) | Of::Enum(_) | Of::Struct(_) | Of::Text),
        Shape::Array(_) => true,
        _ => false,
    };
    if made.key && !may_be_key {
        return Err(Fault::new(at("key"), "a key is a scalar, an enumeration, a struct or a string"));
    }
    if made.flexbuffer && ty != Type::vector(Of::Scalar(Scalar::Ubyte)) {
        return Err(Fault::new(at("flexbuffer"), "a FlexBuffer is a vector of ubyte"));
    }
    Ok(())
}

/// The type of a buffer inside.
fn nested(field: &ast::Field, ty: Type, names: &Names<'_>) -> Result<Option<MessageId>, Fault> {
    let Some(attribute) = field.head.attribute("nested_flatbuffer") else { return Ok(None) };
    if ty.of != Of::Scalar(Scalar::Ubyte) || ty.shape == Shape::One {
        return Err(Fault::new(attribute.at, "a buffer inside is a vector of ubyte"));
    }
    let name = Name { text: attribute.value.clone(), space: field.head.space.clone(), at: attribute.at };
    match names.find(&name)? {
        Named::Object(id) => Ok(Some(id)),
        Named::Enum(_) => Err(Fault::new(attribute.at, format!("`{}` is no table", attribute.value))),
    }
}

fn hash(field: &ast::Field) -> Result<Option<String>, Fault> {
    let Some(attribute) = field.head.attribute("hash") else { return Ok(None) };
    if !HASHES.contains(&attribute.value.as_str()) {
        return Err(Fault::new(attribute.at, format!("no hash function `{}`", attribute.value))
            .help(format!("there are {}", HASHES.join(", "))));
    }
    Ok(Some(attribute.value.clone()))
}

/// What an absent field means, and whether that is a value of its own.
fn default(field: &ast::Field, object: &ast::Object, ty: Type, flat: &Flat) -> Result<(Absent, bool), Fault> {
    let scalar = if ty.shape == Shape::One { flat.scalar(ty.of) } else { None };
    let Some((value, at)) = &field.default else {
        return Ok((scalar.map_or(Absent::None, zero), false));
    };
    if object.is_struct {
        return Err(Fault::new(*at, "members of a struct have no defaults: they are always there"));
    }
    let wrong = |expected: &str| Err(Fault::new(*at, format!("expected {expected}, here is {}", told(value))));
    match (ty.shape, ty.of, value, scalar) {
        (_, _, Value::Word(word), Some(_)) if word == "null" => Ok((Absent::None, true)),
        (Shape::One, Of::Enum(id), _, Some(base)) => enumerated(flat, id, value, base)
            .map_or_else(|| wrong("a value of the enumeration"), |value| Ok((value, false))),
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
        "true" => 1,
        "false" => 0,
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
