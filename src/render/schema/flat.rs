//! FlatBuffers types: tables with slots, structs with offsets and gaps, enumerations, unions, services.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::model::flat::{Absent, Enum, EnumId, Field, Flat, Object, Of, Scalar, Shape, Type};
use crate::model::num::{bytes, count, len64};
use crate::model::schema::MessageId;
use crate::render::schema::{View, columns, wide};
use crate::render::style::Paint;

/// Writes the types for people.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, flat: &Flat, view: &View, paint: Paint) -> io::Result<()> {
    let shown = shown(flat, view);
    let mut first = true;
    for (id, object) in (0u32..).map(MessageId).zip(&flat.objects) {
        if shown.objects.contains(&id) {
            gap(out, &mut first)?;
            write_object(out, flat, object, flat.root == Some(id), paint)?;
        }
    }
    for (id, one) in (0u32..).map(EnumId).zip(&flat.enums) {
        if shown.enums.contains(&id) {
            gap(out, &mut first)?;
            write_enum(out, flat, one, paint)?;
        }
    }
    if view.root.is_none() {
        for service in &flat.services {
            gap(out, &mut first)?;
            writeln!(out, "{}", bold(paint, &format!("rpc_service {}", service.name)))?;
            for call in &service.calls {
                let name = |id| flat.object(id).map_or("", |object| object.name.as_str());
                writeln!(out, "  {}({}): {}", call.name, name(call.request), name(call.response))?;
            }
        }
        write_heads(out, flat, &mut first)?;
    }
    Ok(())
}

fn gap(out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
    if std::mem::take(first) { Ok(()) } else { writeln!(out) }
}

fn bold(paint: Paint, text: &str) -> String {
    let mut line = String::new();
    paint.bold(text, &mut line);
    line
}

fn write_heads(out: &mut dyn Write, flat: &Flat, first: &mut bool) -> io::Result<()> {
    let mut parts = Vec::new();
    if let Some(root) = flat.root.and_then(|root| flat.object(root)) {
        parts.push(format!("root_type {}", root.name));
    }
    if let Some(four) = flat.identifier {
        parts.push(format!("file_identifier \"{}\", at offset 4", four.escape_ascii()));
    }
    if let Some(extension) = &flat.extension {
        parts.push(format!("file_extension \"{}\"", extension.escape_debug()));
    }
    if !parts.is_empty() {
        gap(out, first)?;
        writeln!(out, "{}", parts.join("   "))?;
    }
    Ok(())
}

fn write_object(out: &mut dyn Write, flat: &Flat, object: &Object, is_root: bool, paint: Paint) -> io::Result<()> {
    let head = if object.is_struct {
        format!("struct {}: {}, on multiples of {}", object.name, bytes(u64::from(object.size)), object.align)
    } else {
        let root = if is_root { ", the root" } else { "" };
        let slots = count(len64(object.fields.len()), "slot", "slots");
        let order = if object.original_order { ", fields written in this order" } else { "" };
        format!("table {}: {slots}{root}{order}", object.name)
    };
    writeln!(out, "{}", bold(paint, &head))?;
    let rows: Vec<[String; 5]> = object.fields.iter().map(|field| row(flat, object, field)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let title =
        if object.is_struct { ["offset", "member", "type", "", ""] } else { ["id", "vtable", "field", "type", ""] };
    let all: Vec<[&str; 5]> =
        std::iter::once(title).chain(rows.iter().map(|row| row.each_ref().map(String::as_str))).collect();
    let width = |at: usize| wide(all.iter().filter_map(|row| row.get(at).copied()), 40);
    let widths = [width(0), width(1), width(2), width(3), 0];
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

/// Id, place, name, type and remarks of a field; of a member offset, name, type, remarks.
fn row(flat: &Flat, object: &Object, field: &Field) -> [String; 5] {
    let ty = type_words(flat, field.ty);
    if object.is_struct {
        let size = width(flat, field);
        let mut more = bytes(size);
        if field.padding > 0 {
            more.push_str(&format!(", then a gap of {}", field.padding));
        }
        more.push_str(&remarks(flat, field));
        return [field.offset.to_string(), field.name.clone(), ty, more, String::new()];
    }
    let mut more = place_words(flat, field);
    more.push_str(&remarks(flat, field));
    [field.id.to_string(), format!("+{}", field.offset), field.name.clone(), ty, more]
}

fn width(flat: &Flat, field: &Field) -> u64 {
    let each = flat.width(field.ty.of);
    match field.ty.shape {
        Shape::Array(count) => each.saturating_mul(u64::from(count)),
        _ if field.ty.is_offset() => {
            if field.offset64 {
                8
            } else {
                4
            }
        }
        _ => each,
    }
}

/// `4 bytes in place`, `uoffset`
fn place_words(flat: &Flat, field: &Field) -> String {
    match (field.ty.is_offset(), field.offset64) {
        (true, true) => "64-bit offset".to_string(),
        (true, false) => "uoffset".to_string(),
        (false, _) => format!("{} in place", bytes(width(flat, field))),
    }
}

/// Default and attributes: `, default 100, required`
fn remarks(flat: &Flat, field: &Field) -> String {
    let mut text = String::new();
    if field.optional {
        text.push_str(", absent is null");
    }
    if let Some(default) = default_words(flat, field) {
        text.push_str(&format!(", default {default}"));
    }
    for (is, word) in [
        (field.required, "required"),
        (field.key, "key"),
        (field.deprecated, "deprecated"),
        (field.flexbuffer, "a FlexBuffer"),
        (field.shared, "shared"),
    ] {
        if is {
            text.push_str(", ");
            text.push_str(word);
        }
    }
    if let Some(object) = field.nested.and_then(|id| flat.object(id)) {
        text.push_str(&format!(", a buffer of {}", object.name));
    }
    if let Some(hash) = &field.hash {
        text.push_str(&format!(", {hash} of a string"));
    }
    text
}

/// A default that is not the usual one: 0, nothing, empty.
fn default_words(flat: &Flat, field: &Field) -> Option<String> {
    Some(match &field.default {
        Absent::None | Absent::Int(0) if !matches!(field.ty.of, Of::Enum(_)) => return None,
        Absent::None => return None,
        Absent::Int(number) => match field.ty.of {
            Of::Enum(id) => flat.value_name(id, *number).map_or_else(|| number.to_string(), str::to_string),
            Of::Scalar(Scalar::Bool) => (*number != 0).to_string(),
            _ => number.to_string(),
        },
        Absent::Uint(number) => match field.ty.of {
            Of::Enum(id) => {
                flat.value_name(id, number.cast_signed()).map_or_else(|| number.to_string(), str::to_string)
            }
            _ => number.to_string(),
        },
        Absent::Float(number) if *number == 0.0 => return None,
        Absent::Float(number) => float(*number),
        Absent::Text(text) => format!("\"{}\"", text.escape_debug()),
        Absent::EmptyVector => "[]".to_string(),
    })
}

fn float(number: f64) -> String {
    if number.is_nan() { "nan".to_string() } else { number.to_string() }
}

fn write_enum(out: &mut dyn Write, flat: &Flat, one: &Enum, paint: Paint) -> io::Result<()> {
    let what = if one.is_union { "union" } else { "enum" };
    let flags = if one.bit_flags { ", bit flags" } else { "" };
    let size = u64::from(one.base.size());
    let stored = if one.is_union { ", the type beside each value" } else { "" };
    let head = format!("{what} {}: {}, {}{flags}{stored}", one.name, one.base.name(), bytes(size));
    writeln!(out, "{}", bold(paint, &head))?;
    let numbers: Vec<String> = one.values.iter().map(|value| number(one.base, value.number)).collect();
    let most = numbers.iter().map(String::len).max().unwrap_or(0);
    for (value, number) in one.values.iter().zip(&numbers) {
        let member = value.member.map_or(String::new(), |of| {
            let name = of_words(flat, of);
            if name.rsplit('.').next() == Some(value.name.as_str()) { String::new() } else { format!(": {name}") }
        });
        writeln!(out, "  {number:>most$}  {}{member}", value.name)?;
    }
    Ok(())
}

fn number(base: Scalar, number: i64) -> String {
    if base == Scalar::Ulong { number.cast_unsigned().to_string() } else { number.to_string() }
}

/// A type as schemas write it.
fn type_words(flat: &Flat, ty: Type) -> String {
    let of = of_words(flat, ty.of);
    match ty.shape {
        Shape::One => of,
        Shape::Vector => format!("[{of}]"),
        Shape::Vector64 => format!("[{of}] (64-bit count)"),
        Shape::Array(count) => format!("[{of}:{count}]"),
    }
}

fn of_words(flat: &Flat, of: Of) -> String {
    match of {
        Of::Scalar(scalar) => scalar.name().to_string(),
        Of::Text => "string".to_string(),
        Of::Struct(id) | Of::Table(id) => flat.object(id).map_or(String::new(), |object| object.name.clone()),
        Of::Enum(id) | Of::Union(id) => flat.enumeration(id).map_or(String::new(), |one| one.name.clone()),
        Of::UnionType(id) => flat.enumeration(id).map_or(String::new(), |one| format!("type of {}", one.name)),
        Of::Raw(size) => bytes(u64::from(size)),
    }
}

/// The types that are shown.
#[derive(Default)]
struct Shown {
    objects: HashSet<MessageId>,
    enums: HashSet<EnumId>,
}

fn shown(flat: &Flat, view: &View) -> Shown {
    let mut shown = Shown::default();
    let Some(root) = view.root else {
        let ids = (0u32..).map(MessageId).zip(&flat.objects).filter(|(_, object)| object.told || view.all);
        shown.objects = ids.map(|(id, _)| id).collect();
        let ids = (0u32..).map(EnumId).zip(&flat.enums).filter(|(_, one)| one.told || view.all);
        shown.enums = ids.map(|(id, _)| id).collect();
        return shown;
    };
    let mut open = vec![Of::Table(root)];
    while let Some(of) = open.pop() {
        match of {
            Of::Table(id) | Of::Struct(id) if shown.objects.insert(id) => {
                let fields = flat.object(id).map_or(&[][..], |object| &object.fields);
                open.extend(fields.iter().map(|field| field.ty.of));
                open.extend(fields.iter().filter_map(|field| field.nested).map(Of::Table));
            }
            Of::Enum(id) | Of::UnionType(id) | Of::Union(id) if shown.enums.insert(id) => {
                let values = flat.enumeration(id).map_or(&[][..], |one| &one.values);
                open.extend(values.iter().filter_map(|value| value.member));
            }
            _ => {}
        }
    }
    shown
}

/// The types as JSON.
pub fn json(flat: &Flat, view: &View) -> Value {
    let shown = shown(flat, view);
    let objects = (0u32..).map(MessageId).zip(&flat.objects).filter(|(id, _)| shown.objects.contains(id));
    let objects: Vec<Value> = objects.map(|(_, object)| object_json(flat, object)).collect();
    let enums = (0u32..).map(EnumId).zip(&flat.enums).filter(|(id, _)| shown.enums.contains(id));
    let enums: Vec<Value> = enums.map(|(_, one)| enum_json(flat, one)).collect();
    let name = |id: MessageId| flat.object(id).map(|object| object.name.clone());
    let services: Vec<Value> = flat
        .services
        .iter()
        .map(|service| {
            let calls = service.calls.iter().map(|call| {
                json!({"name": call.name, "request": name(call.request), "response": name(call.response),
                    "attributes": attributes(&call.attributes), "doc": call.doc})
            });
            json!({"name": service.name, "calls": calls.collect::<Vec<_>>(), "doc": service.doc})
        })
        .collect();
    json!({
        "language": "fbs",
        "root_type": flat.root.and_then(name),
        "file_identifier": flat.identifier.map(|four| four.escape_ascii().to_string()),
        "file_extension": flat.extension,
        "objects": objects,
        "enums": enums,
        "services": services,
    })
}

fn object_json(flat: &Flat, object: &Object) -> Value {
    let fields: Vec<Value> = object
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name, "id": field.id, "type": type_words(flat, field.ty), "offset": field.offset,
                "bytes": width(flat, field), "padding": field.padding, "default": default_json(&field.default),
                "required": field.required, "optional": field.optional, "deprecated": field.deprecated,
                "key": field.key, "offset64": field.offset64,
                "nested_flatbuffer": field.nested.and_then(|id| flat.object(id)).map(|object| object.name.clone()),
                "attributes": attributes(&field.attributes), "doc": field.doc,
            })
        })
        .collect();
    json!({
        "name": object.name, "struct": object.is_struct, "bytes": object.size, "align": object.align,
        "original_order": object.original_order, "fields": fields,
        "attributes": attributes(&object.attributes), "doc": object.doc,
    })
}

fn enum_json(flat: &Flat, one: &Enum) -> Value {
    let values: Vec<Value> = one
        .values
        .iter()
        .map(|value| {
            json!({
                "name": value.name, "number": number(one.base, value.number),
                "type": value.member.map(|of| of_words(flat, of)),
                "attributes": attributes(&value.attributes), "doc": value.doc,
            })
        })
        .collect();
    json!({
        "name": one.name, "union": one.is_union, "bit_flags": one.bit_flags, "base": one.base.name(),
        "values": values, "attributes": attributes(&one.attributes), "doc": one.doc,
    })
}

fn attributes(list: &[(String, String)]) -> Value {
    list.iter()
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn default_json(default: &Absent) -> Value {
    match default {
        Absent::None => Value::Null,
        Absent::Int(number) => Value::from(*number),
        Absent::Uint(number) => Value::from(*number),
        Absent::Float(number) if number.is_finite() => Value::from(*number),
        Absent::Float(number) => Value::from(float(*number)),
        Absent::Text(text) => Value::from(text.as_str()),
        Absent::EmptyVector => Value::Array(Vec::new()),
    }
}
