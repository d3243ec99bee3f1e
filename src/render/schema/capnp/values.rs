//! Values as the language writes them, and as JSON. Fields of a struct that are as in one of zeros and null
//! pointers are left out, whether the source tells them or not.

use serde_json::{Map, Value as Json, json};

use crate::model::capnp::{Capnp, Field, FieldKind, Type, Value};

/// Elements of a list and bytes that a line shows.
const MOST: usize = 32;

/// Values within each other that are shown.
const DEPTH: usize = 256;

/// A value as the language writes it.
pub fn words(capnp: &Capnp, ty: Type, value: &Value) -> String {
    inner_words(capnp, ty, value, 0)
}

fn inner_words(capnp: &Capnp, ty: Type, value: &Value, depth: usize) -> String {
    if depth > DEPTH {
        return "...".to_string();
    }
    let depth = depth.saturating_add(1);
    match value {
        Value::Void => "void".to_string(),
        Value::Bool(set) => set.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Float32(number) => float(number.to_string()),
        Value::Float64(number) => float(number.to_string()),
        Value::Enum(number) => enumerant(capnp, ty, *number),
        Value::Text(text) => format!("\"{}\"", text.escape_debug()),
        Value::Data(bytes) => data_words(bytes),
        Value::List(items) => {
            let element = element(capnp, ty);
            let shown: Vec<String> =
                items.iter().take(MOST).map(|item| inner_words(capnp, element, item, depth)).collect();
            let more = if items.len() > MOST { format!(", ... {} in all", items.len()) } else { String::new() };
            format!("[{}{more}]", shown.join(", "))
        }
        Value::Struct(told) => {
            let parts: Vec<String> = fields(capnp, ty, told)
                .into_iter()
                .map(|(field, ty, value)| format!("{} = {}", field.name, inner_words(capnp, ty, &value, depth)))
                .collect();
            format!("({})", parts.join(", "))
        }
        Value::Null => "null".to_string(),
    }
}

fn float(text: String) -> String {
    if text == "NaN" { "nan".to_string() } else { text }
}

fn enumerant(capnp: &Capnp, ty: Type, number: u16) -> String {
    let name = match ty {
        Type::Enum(id) => capnp.enumeration(id).and_then(|one| one.name_of(number)),
        _ => None,
    };
    name.map_or_else(|| number.to_string(), str::to_string)
}

fn data_words(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(MOST).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > MOST { format!(" ... {} in all", bytes.len()) } else { String::new() };
    format!("0x\"{}{more}\"", shown.join(" "))
}

fn element(capnp: &Capnp, ty: Type) -> Type {
    match ty {
        Type::List(element) => capnp.element(element),
        _ => Type::AnyPointer,
    }
}

/// Fields of a struct's value that are set, with their types, in the order of the struct.
fn fields<'c>(capnp: &'c Capnp, ty: Type, told: &[(u16, Value)]) -> Vec<(&'c Field, Type, Value)> {
    let Type::Struct(id) = ty else { return Vec::new() };
    let Some(one) = capnp.record(id) else { return Vec::new() };
    let mut all = Vec::new();
    for (at, field) in (0u16..).zip(&one.fields) {
        let Some((_, value)) = told.iter().rev().find(|(known, _)| *known == at) else { continue };
        let of = match &field.kind {
            FieldKind::Slot(slot) => slot.ty,
            FieldKind::Group(id) => Type::Struct(*id),
        };
        if is_set(capnp, field, of, value) {
            all.push((field, of, value.clone()));
        }
    }
    all
}

/// Whether a field is not as in a struct of zeros and null pointers.
fn is_set(capnp: &Capnp, field: &Field, ty: Type, value: &Value) -> bool {
    if field.tag.is_some_and(|tag| tag != 0) {
        return true;
    }
    match (&field.kind, value) {
        (FieldKind::Slot(slot), _) if slot.ty.is_pointer() => *value != Value::Null,
        (FieldKind::Slot(slot), _) => value.mask() != slot.default.mask(),
        (FieldKind::Group(_), Value::Struct(told)) => !fields(capnp, ty, told).is_empty(),
        (FieldKind::Group(_), _) => false,
    }
}

/// A value as JSON: 64-bit integers as numbers, enumerants by name, bytes as hex.
pub fn json(capnp: &Capnp, ty: Type, value: &Value) -> Json {
    inner_json(capnp, ty, value, 0)
}

fn inner_json(capnp: &Capnp, ty: Type, value: &Value, depth: usize) -> Json {
    if depth > DEPTH {
        return Json::from("...");
    }
    let depth = depth.saturating_add(1);
    match value {
        Value::Void | Value::Null => Json::Null,
        Value::Bool(set) => Json::from(*set),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Float32(number) if number.is_finite() => json!(number),
        Value::Float32(number) => Json::from(float(number.to_string())),
        Value::Float64(number) if number.is_finite() => json!(number),
        Value::Float64(number) => Json::from(float(number.to_string())),
        Value::Enum(number) => Json::from(enumerant(capnp, ty, *number)),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Data(bytes) => Json::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        Value::List(items) => {
            let element = element(capnp, ty);
            items.iter().map(|item| inner_json(capnp, element, item, depth)).collect::<Vec<_>>().into()
        }
        Value::Struct(told) => fields(capnp, ty, told)
            .into_iter()
            .map(|(field, ty, value)| (field.name.clone(), inner_json(capnp, ty, &value, depth)))
            .collect::<Map<_, _>>()
            .into(),
    }
}
