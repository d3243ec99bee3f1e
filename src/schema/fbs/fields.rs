//! Fields: types, slots, defaults, and what their attributes ask for.

use crate::model::flat::{Absent, Field, Flat, Of, Scalar, Shape, Type};
use crate::model::schema::MessageId;
use crate::schema::fbs::ast::{self, Given};
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::link::{Named, Names};
use crate::schema::fbs::{asked, attributes, defaults, numbers};

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
        let told = if object.is_struct { None } else { id_of(field)? };
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
    // An attribute without a value has 0.
    let value = if attribute.given == Given::Nothing { "0" } else { &attribute.value };
    match numbers::integer(value).and_then(|id| u16::try_from(id).ok()) {
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
    (made.default, made.optional) = defaults::of_field(field, object, ty, flat)?;
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
