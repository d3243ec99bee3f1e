//! A schema as JSON. The shape is fixed; members may be added.
//!
//! ```text
//! {"language":"fbs"|"proto", "files":[…], "root":NAME|null, "identifier":TEXT|null, "extension":TEXT|null,
//!  "types":[…], "services":[…], "findings":[{"code","file","line","column","message","help"}]}
//! ```
//!
//! A type has `kind` and `name`. `table`: fields with `id` and `slot`. `struct`: `size`, `align`, fields with
//! `offset`, `bytes` and `padding`. `enum`, `union`: `base` and values. `message`: fields with `number`, `key` and
//! `wire_type`.

use serde_json::{Map, Value, json};

use crate::model::flat::{Absent, Call, Enum, EnumValue, Field, Flat, Object, Of, Shape, Type};
use crate::model::schema::{self, Cardinality, Language, Message, Presence, Schema};
use crate::render::schema::{Picked, pick, proto};

/// A schema, whole or the types that were asked for.
pub fn json(schema: &Schema, picked: Option<&Picked>) -> Value {
    let whole = pick::all(schema);
    let picked = picked.unwrap_or(&whole);
    let (language, types, services) = match (&schema.flat, schema.language) {
        (Some(flat), Language::Fbs) => ("fbs", flat_types(flat, picked), services(flat, picked)),
        _ => ("proto", proto_types(schema, picked), Vec::new()),
    };
    let flat = schema.flat.as_deref();
    let root = flat.and_then(|flat| flat.object(flat.root?)).map(|root| root.name.as_str());
    let identifier = flat.and_then(|flat| flat.identifier).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let findings: Vec<Value> = schema
        .found
        .iter()
        .map(|found| {
            json!({"code": found.code, "file": found.place.file, "line": line(found.place.line),
                   "column": line(found.place.column), "message": found.message, "help": found.help})
        })
        .collect();
    json!({"language": language, "files": schema.files, "root": root, "identifier": identifier,
           "extension": flat.and_then(|flat| flat.extension.as_deref()), "types": types, "services": services,
           "findings": findings})
}

/// Lines and columns that are not known are null.
fn line(number: usize) -> Option<usize> {
    (number > 0).then_some(number)
}

fn flat_types(flat: &Flat, picked: &Picked) -> Vec<Value> {
    let objects = picked.messages.iter().filter_map(|at| flat.objects.get(*at)).map(|one| object(flat, one));
    let enums = picked.enums.iter().filter_map(|at| flat.enums.get(*at)).map(|one| enumeration(flat, one));
    objects.chain(enums).collect()
}

/// An object of JSON that grows member by member.
struct Members(Map<String, Value>);

impl Members {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Members {
        self.0.insert(name.to_string(), value.into());
        self
    }

    fn end(self) -> Value {
        Value::Object(self.0)
    }
}

fn object(flat: &Flat, object: &Object) -> Value {
    let fields: Vec<Value> = object.fields.iter().map(|one| field(flat, one, object.is_struct)).collect();
    let all = Members(Map::new())
        .with("kind", if object.is_struct { "struct" } else { "table" })
        .with("name", object.name.as_str())
        .with("file", object.place.file.as_str())
        .with("line", line(object.place.line))
        .with("told", object.told)
        .with("doc", object.doc.as_slice())
        .with("attributes", pairs(&object.attributes));
    let all = match object.is_struct {
        true => all.with("size", object.size).with("align", object.align),
        false => all.with("original_order", object.original_order),
    };
    all.with("fields", fields).end()
}

fn field(flat: &Flat, field: &Field, in_struct: bool) -> Value {
    let count = if let Shape::Array(count) = field.ty.shape { u64::from(count) } else { 1 };
    let bytes = match (field.offset64, field.ty.is_offset()) {
        (true, _) => 8,
        (false, true) => 4,
        (false, false) => flat.width(field.ty.of).saturating_mul(count),
    };
    let all = Members(Map::new()).with("name", field.name.as_str());
    let all = match in_struct {
        true => all.with("offset", field.offset),
        false => all.with("id", field.id).with("slot", field.offset),
    };
    let all = all.with("type", ty(flat, field.ty)).with("bytes", bytes);
    let nested = field.nested.and_then(|id| flat.object(id)).map(|one| one.name.clone());
    let all = match in_struct {
        true => all.with("padding", field.padding).with("key", field.key),
        false => all
            .with("default", default(&field.default))
            .with("required", field.required)
            .with("optional", field.optional)
            .with("deprecated", field.deprecated)
            .with("key", field.key)
            .with("offset64", field.offset64)
            .with("shared", field.shared)
            .with("flexbuffer", field.flexbuffer)
            .with("nested", nested)
            .with("hash", field.hash.clone()),
    };
    all.with("attributes", pairs(&field.attributes))
        .with("doc", field.doc.as_slice())
        .with("line", line(field.place.line))
        .end()
}

fn ty(flat: &Flat, ty: Type) -> Value {
    let (shape, length) = match ty.shape {
        Shape::One => ("one", None),
        Shape::Vector => ("vector", None),
        Shape::Vector64 => ("vector64", None),
        Shape::Array(len) => ("array", Some(len)),
    };
    let (kind, name) = of(flat, ty.of);
    json!({"shape": shape, "length": length, "kind": kind, "name": name})
}

fn of(flat: &Flat, of: Of) -> (&'static str, String) {
    let one = |id| flat.enumeration(id).map_or(String::new(), |one| one.name.clone());
    let object = |id| flat.object(id).map_or(String::new(), |object| object.name.clone());
    match of {
        Of::Scalar(scalar) => ("scalar", scalar.name().to_string()),
        Of::Text => ("string", "string".to_string()),
        Of::Enum(id) => ("enum", one(id)),
        Of::UnionType(id) => ("union_type", one(id)),
        Of::Union(id) => ("union", one(id)),
        Of::Struct(id) => ("struct", object(id)),
        Of::Table(id) => ("table", object(id)),
        Of::Raw(size) => ("raw", size.to_string()),
    }
}

/// A default; what is no number in JSON is a string.
fn default(absent: &Absent) -> Value {
    match absent {
        Absent::None => Value::Null,
        Absent::Int(number) => json!(number),
        Absent::Uint(number) => json!(number),
        Absent::Float(number) if number.is_finite() => json!(number),
        Absent::Float(number) if number.is_nan() => json!("NaN"),
        Absent::Float(number) => json!(if *number > 0.0 { "Infinity" } else { "-Infinity" }),
        Absent::Text(text) => json!(text),
        Absent::EmptyVector => json!([]),
    }
}

fn enumeration(flat: &Flat, one: &Enum) -> Value {
    let values: Vec<Value> = one.values.iter().map(|value| enum_value(flat, one, value)).collect();
    json!({"kind": if one.is_union { "union" } else { "enum" }, "name": one.name, "file": one.place.file,
           "line": line(one.place.line), "told": one.told, "doc": one.doc, "attributes": pairs(&one.attributes),
           "base": one.base.name(), "bit_flags": one.bit_flags, "values": values})
}

fn enum_value(flat: &Flat, one: &Enum, value: &EnumValue) -> Value {
    let is_ulong = one.base == crate::model::flat::Scalar::Ulong;
    let number = if is_ulong { json!(value.number.cast_unsigned()) } else { json!(value.number) };
    let member = value.member.map(|member| {
        let (kind, name) = of(flat, member);
        json!({"kind": kind, "name": name})
    });
    json!({"name": value.name, "number": number, "type": member, "attributes": pairs(&value.attributes),
           "doc": value.doc})
}

fn services(flat: &Flat, picked: &Picked) -> Vec<Value> {
    let call = |call: &Call| {
        let name = |id| flat.object(id).map(|object| object.name.as_str());
        json!({"name": call.name, "request": name(call.request), "response": name(call.response),
               "attributes": pairs(&call.attributes), "doc": call.doc})
    };
    let shown = flat.services.iter().filter(|_| picked.services);
    shown
        .map(|service| {
            json!({"name": service.name, "doc": service.doc,
                   "calls": service.calls.iter().map(call).collect::<Vec<_>>()})
        })
        .collect()
}

fn pairs(attributes: &[(String, String)]) -> Value {
    let map: Map<String, Value> = attributes.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    Value::Object(map)
}

fn proto_types(schema: &Schema, picked: &Picked) -> Vec<Value> {
    let messages = picked.messages.iter().filter_map(|at| schema.messages.get(*at)).map(|one| message(schema, one));
    let enums = picked.enums.iter().filter_map(|at| schema.enums.get(*at)).map(|one| {
        let values: Vec<Value> =
            one.values.iter().map(|(number, name)| json!({"name": name, "number": number})).collect();
        json!({"kind": "enum", "name": one.full_name, "closed": one.closed, "values": values})
    });
    messages.chain(enums).collect()
}

fn message(schema: &Schema, message: &Message) -> Value {
    let fields: Vec<Value> = message.fields.iter().map(|one| proto_field(schema, message, one)).collect();
    json!({"kind": "message", "name": message.full_name, "told": message.told, "map_entry": message.map_entry,
           "message_set": message.message_set, "reserved": message.reserved,
           "extension_ranges": message.extension_ranges, "fields": fields})
}

fn proto_field(schema: &Schema, message: &Message, field: &schema::Field) -> Value {
    let oneof = field.oneof.and_then(|at| message.oneofs.get(usize::try_from(at).ok()?));
    json!({"name": field.name, "json_name": field.json, "number": field.number, "key": proto::key(field),
           "wire_type": proto::wire(field), "type": proto::type_name(schema, field, ""),
           "cardinality": match field.cardinality {
               Cardinality::Singular => "singular",
               Cardinality::Repeated => "repeated",
               Cardinality::Map => "map",
           },
           "presence": match field.presence {
               Presence::Implicit => "implicit",
               Presence::Explicit => "explicit",
               Presence::Required => "required",
           },
           "packed": field.packed, "oneof": oneof, "default": field.default, "extension": field.extension,
           "deprecated": field.deprecated})
}
