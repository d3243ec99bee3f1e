//! Protobuf types: field numbers, types, the wire type that each is written in.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::model::num::{count, len64};
use crate::model::schema::{Cardinality, EnumId, Field, FieldKind, Message, MessageId, Presence, Schema};
use crate::render::schema::{View, columns, wide};
use crate::render::style::Paint;

/// Writes the types for people.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, schema: &Schema, view: &View, paint: Paint) -> io::Result<()> {
    let (messages, enums) = shown(schema, view);
    let mut first = true;
    for (id, message) in (0u32..).map(MessageId).zip(&schema.messages) {
        if !messages.contains(&id) || message.map_entry {
            continue;
        }
        if !std::mem::take(&mut first) {
            writeln!(out)?;
        }
        let mut head = String::new();
        let fields = count(len64(message.fields.len()), "field", "fields");
        paint.bold(&format!("message {}: {fields}", message.full_name), &mut head);
        writeln!(out, "{head}")?;
        write_fields(out, schema, message, paint)?;
    }
    for (id, one) in (0u32..).map(EnumId).zip(&schema.enums) {
        if !enums.contains(&id) {
            continue;
        }
        if !std::mem::take(&mut first) {
            writeln!(out)?;
        }
        let mut head = String::new();
        let closed = if one.closed { ", closed: other numbers are unknown fields" } else { "" };
        paint.bold(&format!("enum {}: VARINT{closed}", one.full_name), &mut head);
        writeln!(out, "{head}")?;
        let most = one.values.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
        for (number, name) in &one.values {
            writeln!(out, "  {number:>most$}  {name}")?;
        }
    }
    Ok(())
}

fn write_fields(out: &mut dyn Write, schema: &Schema, message: &Message, paint: Paint) -> io::Result<()> {
    let row = |field: &Field| {
        let mut more = wire_words(field).to_string();
        more.push_str(&remarks(message, field));
        [field.number.to_string(), field.name.clone(), type_words(schema, field), more]
    };
    let rows: Vec<[String; 4]> = message.fields.iter().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let title = ["number", "field", "type", "written as"];
    let all: Vec<[&str; 4]> =
        std::iter::once(title).chain(rows.iter().map(|row| row.each_ref().map(String::as_str))).collect();
    let width = |at: usize| wide(all.iter().filter_map(|row| row.get(at).copied()), 40);
    let widths = [width(0), width(1), width(2), 0];
    for (at, row) in all.iter().enumerate() {
        let cells: Vec<(&str, usize)> = row.iter().copied().zip(widths).collect();
        let line = format!("  {}", columns(&cells));
        let mut painted = String::new();
        if at == 0 {
            paint.dim(&line, &mut painted)
        } else {
            painted.push_str(&line)
        }
        writeln!(out, "{painted}")?;
    }
    Ok(())
}

fn kind_words(schema: &Schema, kind: &FieldKind) -> String {
    match kind {
        FieldKind::Enum(id) => schema.enumeration(*id).map_or(String::new(), |one| one.full_name.clone()),
        FieldKind::Message(id) | FieldKind::Group(id) => {
            schema.message(*id).map_or(String::new(), |message| message.full_name.clone())
        }
        FieldKind::Opaque(name) => name.clone(),
        other => other.keyword().unwrap_or("").to_string(),
    }
}

fn type_words(schema: &Schema, field: &Field) -> String {
    match field.cardinality {
        Cardinality::Singular => kind_words(schema, &field.kind),
        Cardinality::Repeated => format!("repeated {}", kind_words(schema, &field.kind)),
        Cardinality::Map => {
            let entry = field.kind.message().and_then(|id| schema.message(id));
            let part = |number| {
                let field = entry.and_then(|entry| entry.field(number));
                field.map_or(String::new(), |field| kind_words(schema, &field.kind))
            };
            format!("map<{}, {}>", part(1), part(2))
        }
    }
}

/// The wire type, in the standard's words.
fn wire_words(field: &Field) -> &'static str {
    if field.packed {
        return "LEN, packed";
    }
    match field.kind {
        FieldKind::Double | FieldKind::Fixed64 | FieldKind::Sfixed64 => "I64",
        FieldKind::Float | FieldKind::Fixed32 | FieldKind::Sfixed32 => "I32",
        FieldKind::Sint32 | FieldKind::Sint64 => "VARINT, zigzag",
        FieldKind::Int32
        | FieldKind::Int64
        | FieldKind::Uint32
        | FieldKind::Uint64
        | FieldKind::Bool
        | FieldKind::Enum(_) => "VARINT",
        FieldKind::Group(_) => "SGROUP, EGROUP",
        FieldKind::String | FieldKind::Bytes | FieldKind::Message(_) | FieldKind::Opaque(_) => "LEN",
    }
}

fn remarks(message: &Message, field: &Field) -> String {
    let mut text = String::new();
    if field.presence == Presence::Required {
        text.push_str(", required");
    }
    if let Some(oneof) = field.oneof.and_then(|at| message.oneofs.get(usize::try_from(at).ok()?)) {
        text.push_str(&format!(", oneof {oneof}"));
    }
    if let Some(default) = &field.default {
        text.push_str(&format!(", default {}", default.escape_debug()));
    }
    if field.deprecated {
        text.push_str(", deprecated");
    }
    text
}

fn shown(schema: &Schema, view: &View) -> (HashSet<MessageId>, HashSet<EnumId>) {
    let (mut messages, mut enums) = (HashSet::new(), HashSet::new());
    let told = (0u32..).map(MessageId).zip(&schema.messages).filter(|(_, message)| message.told || view.all);
    let mut open: Vec<MessageId> = match view.root {
        Some(root) => vec![root],
        None => told.map(|(id, _)| id).collect(),
    };
    if view.all {
        enums.extend((0u32..).map(EnumId).take(schema.enums.len()));
    }
    while let Some(id) = open.pop() {
        if !messages.insert(id) {
            continue;
        }
        for field in schema.message(id).map_or(&[][..], |message| &message.fields) {
            match (&field.kind, field.kind.message()) {
                (FieldKind::Enum(id), _) => {
                    enums.insert(*id);
                }
                (_, Some(part)) if view.root.is_some() || field.cardinality == Cardinality::Map => open.push(part),
                _ => {}
            }
        }
    }
    (messages, enums)
}

/// The types as JSON.
pub fn json(schema: &Schema, view: &View) -> Value {
    let (messages, enums) = shown(schema, view);
    let messages =
        (0u32..).map(MessageId).zip(&schema.messages).filter(|(id, m)| messages.contains(id) && !m.map_entry);
    let messages: Vec<Value> = messages.map(|(_, message)| message_json(schema, message)).collect();
    let enums = (0u32..).map(EnumId).zip(&schema.enums).filter(|(id, _)| enums.contains(id));
    let enums: Vec<Value> = enums
        .map(|(_, one)| {
            let values: Vec<Value> =
                one.values.iter().map(|(number, name)| json!({"name": name, "number": number})).collect();
            json!({"name": one.full_name, "closed": one.closed, "values": values})
        })
        .collect();
    json!({"language": "proto", "messages": messages, "enums": enums})
}

fn message_json(schema: &Schema, message: &Message) -> Value {
    let fields: Vec<Value> = message
        .fields
        .iter()
        .map(|field| {
            let oneof = field.oneof.and_then(|at| message.oneofs.get(usize::try_from(at).ok()?));
            json!({
                "name": field.name, "number": field.number, "type": type_words(schema, field),
                "json_name": field.json, "wire": wire_words(field), "oneof": oneof, "default": field.default,
                "required": field.presence == Presence::Required, "deprecated": field.deprecated,
                "extension": field.extension,
            })
        })
        .collect();
    json!({"name": message.full_name, "fields": fields})
}
