//! FlatBuffers types as text: tables by slot, structs byte by byte, enumerations and unions by number.

use crate::model::flat::{Absent, Enum, Field, Flat, Object, Of, Scalar, Service, Shape, Type};
use crate::model::num::{bytes, count, len64};
use crate::render::schema::table::{Look, Row, Table};
use crate::render::schema::{Picked, heading, namespace, short};
use crate::render::style::Paint;

/// Attributes that the columns say already.
const SAID: [&str; 11] = [
    "bit_flags",
    "deprecated",
    "flexbuffer",
    "force_align",
    "id",
    "key",
    "nested_flatbuffer",
    "offset64",
    "original_order",
    "required",
    "vector64",
];

/// Appends the types that are shown.
pub fn print(flat: &Flat, picked: &Picked, width: usize, paint: Paint, out: &mut String) {
    for object in picked.messages.iter().filter_map(|at| flat.objects.get(*at)) {
        if object.is_struct {
            structure(flat, object, width, paint, out);
        } else {
            table(flat, object, width, paint, out);
        }
    }
    for one in picked.enums.iter().filter_map(|at| flat.enums.get(*at)) {
        enumeration(flat, one, width, paint, out);
    }
    for service in flat.services.iter().filter(|_| picked.services) {
        calls(flat, service, width, paint, out);
    }
}

fn table(flat: &Flat, object: &Object, width: usize, paint: Paint, out: &mut String) {
    let slots = len64(object.fields.len());
    let vtable = slots.saturating_mul(2).saturating_add(4);
    let mut facts = vec![count(slots, "field", "fields")];
    if slots > 0 {
        facts.push(format!("vtable of up to {}", bytes(vtable)));
    }
    if flat.root.and_then(|id| flat.object(id)).is_some_and(|root| root.name == object.name) {
        facts.push("root type".to_string());
    }
    if object.original_order {
        facts.push("written in this order".to_string());
    }
    facts.extend(own(&object.attributes));
    heading("table", &object.name, &facts.join(", "), &object.doc, paint, out);
    let mut rows = Table::new(&[
        ("id", Look::Number),
        ("slot", Look::Bytes),
        ("field", Look::Name),
        ("type", Look::Type),
        ("in the table", Look::Plain),
        ("default", Look::Value),
        ("", Look::Plain),
    ]);
    let space = namespace(&object.name);
    for field in &object.fields {
        rows.push(Row {
            cells: vec![
                field.id.to_string(),
                field.offset.to_string(),
                field.name.clone(),
                type_name(flat, field.ty, space),
                stored(flat, field),
                default(flat, field),
                notes(flat, field, space),
            ],
            doc: field.doc.clone(),
            dim: false,
        });
    }
    rows.print(width, paint, out);
}

fn structure(flat: &Flat, object: &Object, width: usize, paint: Paint, out: &mut String) {
    let mut facts = vec![bytes(u64::from(object.size))];
    let gaps: u64 = object.fields.iter().map(|field| u64::from(field.padding)).sum();
    if gaps > 0 {
        facts.push(format!("{gaps} of them in gaps"));
    }
    let forced = object.attributes.iter().any(|(name, _)| name == "force_align");
    facts.push(format!("aligned to {}{}", object.align, if forced { " (force_align)" } else { "" }));
    facts.extend(own(&object.attributes));
    heading("struct", &object.name, &facts.join(", "), &object.doc, paint, out);
    let mut rows = Table::new(&[
        ("offset", Look::Bytes),
        ("bytes", Look::Bytes),
        ("member", Look::Name),
        ("type", Look::Type),
        ("", Look::Plain),
    ]);
    let space = namespace(&object.name);
    for field in &object.fields {
        let size = size(flat, field.ty);
        rows.push(Row {
            cells: vec![
                field.offset.to_string(),
                size.to_string(),
                field.name.clone(),
                type_name(flat, field.ty, space),
                notes(flat, field, space),
            ],
            doc: field.doc.clone(),
            dim: false,
        });
        if field.padding > 0 {
            let at = u64::from(field.offset).saturating_add(size);
            let cells =
                vec![at.to_string(), field.padding.to_string(), "(gap)".to_string(), String::new(), String::new()];
            rows.push(Row { cells, doc: Vec::new(), dim: true });
        }
    }
    rows.print(width, paint, out);
}

fn enumeration(flat: &Flat, one: &Enum, width: usize, paint: Paint, out: &mut String) {
    let size = bytes(u64::from(one.base.size()));
    let mut facts = if one.is_union {
        vec![format!("the type in {size} ({}), the value behind an offset", one.base.name())]
    } else {
        vec![format!("{size} ({})", one.base.name())]
    };
    if one.bit_flags {
        facts.push("sums of flags".to_string());
    }
    facts.extend(own(&one.attributes));
    let what = if one.is_union { "union" } else { "enum" };
    heading(what, &one.name, &facts.join(", "), &one.doc, paint, out);
    let name = if one.is_union { "member" } else { "name" };
    let mut rows = Table::new(&[
        ("value", Look::Bytes),
        ("bits", Look::Number),
        (name, Look::Name),
        ("type", Look::Type),
        ("", Look::Plain),
    ]);
    let space = namespace(&one.name);
    for value in &one.values {
        let bits = value.number.cast_unsigned();
        let digits = usize::from(one.base.size()).saturating_mul(2);
        let hex = if one.bit_flags { format!("0x{bits:0digits$x}") } else { String::new() };
        let member = value.member.map(|of| of_name(flat, of, space)).unwrap_or_default();
        rows.push(Row {
            cells: vec![
                number(value.number, one.base),
                hex,
                value.name.clone(),
                member,
                own(&value.attributes).join(", "),
            ],
            doc: value.doc.clone(),
            dim: false,
        });
    }
    rows.print(width, paint, out);
}

fn calls(flat: &Flat, service: &Service, width: usize, paint: Paint, out: &mut String) {
    let facts = count(len64(service.calls.len()), "call", "calls");
    heading("rpc_service", &service.name, &facts, &service.doc, paint, out);
    let mut rows =
        Table::new(&[("call", Look::Name), ("sends", Look::Type), ("brings back", Look::Type), ("", Look::Plain)]);
    let space = namespace(&service.name);
    for call in &service.calls {
        let name = |id| flat.object(id).map_or("", |object| short(&object.name, space)).to_string();
        rows.push(Row {
            cells: vec![call.name.clone(), name(call.request), name(call.response), own(&call.attributes).join(", ")],
            doc: call.doc.clone(),
            dim: false,
        });
    }
    rows.print(width, paint, out);
}

/// What stands in the table itself: the value, or an offset to it.
fn stored(flat: &Flat, field: &Field) -> String {
    match (field.offset64, field.ty.is_offset()) {
        (true, _) => "offset, 8 bytes".to_string(),
        (false, true) => "offset".to_string(),
        (false, false) => bytes(size(flat, field.ty)),
    }
}

/// Bytes of a value that stands in place.
fn size(flat: &Flat, ty: Type) -> u64 {
    let count = if let Shape::Array(count) = ty.shape { u64::from(count) } else { 1 };
    flat.width(ty.of).saturating_mul(count)
}

fn type_name(flat: &Flat, ty: Type, space: &str) -> String {
    let name = of_name(flat, ty.of, space);
    match ty.shape {
        Shape::One => name,
        Shape::Vector | Shape::Vector64 => format!("[{name}]"),
        Shape::Array(len) => format!("[{name}:{len}]"),
    }
}

fn of_name(flat: &Flat, of: Of, space: &str) -> String {
    let one = |id| flat.enumeration(id).map_or("", |one| short(&one.name, space));
    match of {
        Of::Scalar(scalar) => scalar.name().to_string(),
        Of::Text => "string".to_string(),
        Of::Enum(id) | Of::Union(id) => one(id).to_string(),
        Of::UnionType(id) => format!("type of {}", one(id)),
        Of::Struct(id) | Of::Table(id) => flat.object(id).map_or("", |object| short(&object.name, space)).to_string(),
        Of::Raw(size) => bytes(u64::from(size)),
    }
}

fn number(number: i64, base: Scalar) -> String {
    if base == Scalar::Ulong { number.cast_unsigned().to_string() } else { number.to_string() }
}

fn default(flat: &Flat, field: &Field) -> String {
    let is_bool = field.ty.of == Of::Scalar(Scalar::Bool);
    match &field.default {
        Absent::None if field.optional && field.ty.shape == Shape::One && flat.scalar(field.ty.of).is_some() => {
            "null".to_string()
        }
        Absent::None => String::new(),
        Absent::Int(number @ (0 | 1)) if is_bool => (*number == 1).to_string(),
        Absent::Int(number) => match field.ty.of {
            Of::Enum(id) | Of::UnionType(id) => named(flat, id, *number),
            _ => number.to_string(),
        },
        Absent::Uint(number) => match field.ty.of {
            Of::Enum(id) => named(flat, id, number.cast_signed()),
            _ => number.to_string(),
        },
        Absent::Float(number) => number.to_string(),
        Absent::Text(text) => format!("\"{}\"", text.escape_debug()),
        Absent::EmptyVector => "[]".to_string(),
    }
}

/// The name of a value, names of flags with `|` between, else the number.
fn named(flat: &Flat, id: crate::model::flat::EnumId, value: i64) -> String {
    if let Some(name) = flat.value_name(id, value) {
        return name.to_string();
    }
    let Some(one) = flat.enumeration(id) else { return value.to_string() };
    let set: Vec<_> = one.values.iter().filter(|flag| flag.number & value == flag.number).collect();
    let sum = set.iter().fold(0, |sum, flag| sum | flag.number);
    if one.bit_flags && sum == value && value != 0 {
        return set.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>().join("|");
    }
    number(value, one.base)
}

fn notes(flat: &Flat, field: &Field, space: &str) -> String {
    let mut notes = Vec::new();
    let flags = [
        (field.key, "key"),
        (field.required, "required"),
        (field.deprecated, "deprecated"),
        (field.flexbuffer, "a FlexBuffer"),
        (field.ty.shape == Shape::Vector64, "count in 8 bytes"),
    ];
    notes.extend(flags.into_iter().filter(|(is, _)| *is).map(|(_, note)| note.to_string()));
    if let Some(nested) = field.nested.and_then(|id| flat.object(id)) {
        notes.push(format!("nested buffer of {}", short(&nested.name, space)));
    }
    if let Some((_, align)) = field.attributes.iter().find(|(name, _)| name == "force_align") {
        notes.push(format!("elements aligned to {align}"));
    }
    notes.extend(own(&field.attributes));
    notes.join(", ")
}

/// Attributes that no column says.
fn own(attributes: &[(String, String)]) -> Vec<String> {
    let others = attributes.iter().filter(|(name, _)| !SAID.contains(&name.as_str()));
    let text = |(name, value): &(String, String)| match value.as_str() {
        "0" => name.clone(),
        value => format!("{name}: {}", value.escape_debug()),
    };
    others.map(text).collect()
}
