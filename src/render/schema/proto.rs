//! Protobuf types as text: fields by number, with the key that stands before each value.

use crate::model::num::{count, len64};
use crate::model::schema::{Cardinality, Enum, Field, FieldKind, Message, Presence, Schema};
use crate::render::schema::table::{Look, Row, Table};
use crate::render::schema::{Picked, heading, short};
use crate::render::style::Paint;

/// Appends the types that are shown; entries of maps stand as the maps that they are.
pub fn print(schema: &Schema, picked: &Picked, width: usize, paint: Paint, out: &mut String) {
    let messages = picked.messages.iter().filter_map(|at| schema.messages.get(*at));
    for message in messages.filter(|message| !message.map_entry) {
        print_message(schema, message, width, paint, out);
    }
    for one in picked.enums.iter().filter_map(|at| schema.enums.get(*at)) {
        print_enum(one, width, paint, out);
    }
}

fn print_message(schema: &Schema, message: &Message, width: usize, paint: Paint, out: &mut String) {
    let mut facts = vec![count(len64(message.fields.len()), "field", "fields")];
    if message.message_set {
        facts.push("MessageSet".to_string());
    }
    facts.extend(ranges("reserved", &message.reserved));
    facts.extend(ranges("extensions", &message.extension_ranges));
    heading("message", &message.full_name, &facts.join(", "), &[], paint, out);
    let mut rows = Table::new(&[
        ("number", Look::Bytes),
        ("key", Look::Number),
        ("field", Look::Name),
        ("type", Look::Type),
        ("label", Look::Plain),
        ("wire type", Look::Plain),
        ("default", Look::Value),
        ("", Look::Plain),
    ]);
    let package = package(message);
    for field in &message.fields {
        rows.push(Row {
            cells: vec![
                field.number.to_string(),
                key(field),
                field.name.clone(),
                type_name(schema, field, package),
                label(field).to_string(),
                wire(field),
                field.default.as_ref().map(|text| text.escape_debug().to_string()).unwrap_or_default(),
                notes(message, field),
            ],
            doc: Vec::new(),
            dim: false,
        });
    }
    rows.print(width, paint, out);
}

fn package(message: &Message) -> &str {
    message.full_name.strip_suffix(message.name.as_str()).map_or("", |package| package.trim_end_matches('.'))
}

fn print_enum(one: &Enum, width: usize, paint: Paint, out: &mut String) {
    let facts = if one.closed { "a varint; closed: other numbers are unknown fields" } else { "a varint" };
    heading("enum", &one.full_name, facts, &[], paint, out);
    let mut rows = Table::new(&[("value", Look::Bytes), ("name", Look::Name)]);
    for (number, name) in &one.values {
        rows.push(Row { cells: vec![number.to_string(), name.clone()], doc: Vec::new(), dim: false });
    }
    rows.print(width, paint, out);
}

/// Ranges of numbers with both ends.
fn ranges(what: &str, ranges: &[(u32, u32)]) -> Option<String> {
    let text = |(from, to): &(u32, u32)| match to.saturating_sub(1) {
        last if last <= *from => from.to_string(),
        last => format!("{from} to {last}"),
    };
    let list: Vec<String> = ranges.iter().map(text).collect();
    (!list.is_empty()).then(|| format!("{what} {}", list.join(", ")))
}

/// The wire type of one value, with its number.
fn kind_wire(kind: &FieldKind) -> (u32, &'static str) {
    match kind {
        FieldKind::Double | FieldKind::Fixed64 | FieldKind::Sfixed64 => (1, "i64"),
        FieldKind::Float | FieldKind::Fixed32 | FieldKind::Sfixed32 => (5, "i32"),
        FieldKind::String | FieldKind::Bytes | FieldKind::Message(_) | FieldKind::Opaque(_) => (2, "len"),
        FieldKind::Group(_) => (3, "sgroup"),
        FieldKind::Int32
        | FieldKind::Int64
        | FieldKind::Uint32
        | FieldKind::Uint64
        | FieldKind::Sint32
        | FieldKind::Sint64
        | FieldKind::Bool
        | FieldKind::Enum(_) => (0, "varint"),
    }
}

/// The wire type of a field; of packed ones that of the run and that of its elements.
pub fn wire(field: &Field) -> String {
    let (_, name) = kind_wire(&field.kind);
    if field.packed { format!("len of {name}") } else { name.to_string() }
}

/// The bytes of the key: number and wire type as a varint.
pub fn key(field: &Field) -> String {
    let wire = if field.packed { 2 } else { kind_wire(&field.kind).0 };
    let mut rest = u64::from(field.number) << 3 | u64::from(wire);
    let mut bytes = Vec::new();
    loop {
        let more = rest > 0x7f;
        bytes.push(format!("{:02x}", (rest & 0x7f) | if more { 0x80 } else { 0 }));
        rest >>= 7;
        if !more {
            return bytes.join(" ");
        }
    }
}

/// The type of a field as source writes it.
pub fn type_name(schema: &Schema, field: &Field, package: &str) -> String {
    if field.cardinality == Cardinality::Map
        && let Some(entry) = field.kind.message().and_then(|id| schema.message(id))
    {
        let part = |number| entry.field(number).map(|field| kind_name(schema, &field.kind, package));
        return format!("map<{}, {}>", part(1).unwrap_or_default(), part(2).unwrap_or_default());
    }
    kind_name(schema, &field.kind, package)
}

fn kind_name(schema: &Schema, kind: &FieldKind, package: &str) -> String {
    if let Some(keyword) = kind.keyword() {
        return keyword.to_string();
    }
    match kind {
        FieldKind::Enum(id) => schema.enumeration(*id).map_or("", |one| inner(&one.full_name, package)).to_string(),
        FieldKind::Message(id) => schema.message(*id).map_or("", |one| inner(&one.full_name, package)).to_string(),
        FieldKind::Group(id) => {
            format!("group {}", schema.message(*id).map_or("", |one| inner(&one.full_name, package)))
        }
        FieldKind::Opaque(name) => format!("{} (not found)", short(name, package)),
        _ => String::new(),
    }
}

/// A name without the package that it is used in; types within messages keep their message.
fn inner<'a>(name: &'a str, package: &str) -> &'a str {
    name.strip_prefix(package).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

fn label(field: &Field) -> &'static str {
    match (field.cardinality, field.presence, field.packed) {
        (Cardinality::Map, ..) => "map",
        (Cardinality::Repeated, _, true) => "repeated, packed",
        (Cardinality::Repeated, _, false) => "repeated",
        (Cardinality::Singular, Presence::Required, _) => "required",
        (Cardinality::Singular, Presence::Explicit, _) if field.oneof.is_none() => "optional",
        (Cardinality::Singular, Presence::Explicit | Presence::Implicit, _) => "",
    }
}

fn notes(message: &Message, field: &Field) -> String {
    let mut notes = Vec::new();
    let oneof = field.oneof.and_then(|at| message.oneofs.get(usize::try_from(at).ok()?));
    notes.extend(oneof.map(|name| format!("oneof {name}")));
    if field.extension {
        notes.push("extension".to_string());
    }
    if field.deprecated {
        notes.push("deprecated".to_string());
    }
    notes.join(", ")
}
