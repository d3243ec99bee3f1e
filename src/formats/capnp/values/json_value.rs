//! `struct Value` of `json.capnp`: a JSON value as such.

use std::borrow::Cow;

use super::{Sections, Writer};
use crate::formats::capnp::resolve::{Is, Place};
use crate::formats::capnp::wire::WORD;
use crate::model::capnp::{FieldKind, Slot, Struct, Type};
use crate::model::events::Flow;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape as Container};

/// Values within each other that are followed.
const DEEPEST: usize = 64;

/// Sends a value.
///
/// # Errors
/// What the sink returns.
pub fn send(writer: &mut Writer<'_, '_>, at: Sections, ty: MessageId) -> Flow {
    value(writer, at, ty, 0)
}

fn value(writer: &mut Writer<'_, '_>, at: Sections, ty: MessageId, depth: usize) -> Flow {
    let capnp = writer.capnp;
    let Some(record) = capnp.record(ty).filter(|_| depth < DEEPEST) else { return writer.send(Scalar::Null) };
    let data = writer.data(at);
    let tag = record.tag.map_or(0, |tag| super::bits_at(data, tag.saturating_mul(16), 16));
    let set = record.fields.iter().find(|field| field.tag.is_some_and(|number| u64::from(number) == tag));
    let Some((name, FieldKind::Slot(slot))) = set.map(|field| (field.name.as_str(), &field.kind)) else {
        return writer.send(Scalar::Null);
    };
    let bits = |writer: &Writer<'_, '_>| {
        let bits = slot.ty.bits().unwrap_or(0);
        super::bits_at(writer.data(at), slot.offset.saturating_mul(bits), bits)
    };
    match name {
        "boolean" | "number" => {
            let bits = bits(writer);
            writer.scalar(slot.ty, bits)
        }
        "string" => match writer.target(place(at, slot), Type::Text) {
            Some((target, _)) => {
                let bytes = super::blob(writer.bytes, &target);
                let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                writer.send(Scalar::Text(Cow::Borrowed(text)))
            }
            None => writer.text(""),
        },
        "array" => array(writer, at, slot, ty, depth),
        "object" => object(writer, at, slot, ty, depth),
        _ => writer.send(Scalar::Null),
    }
}

fn place(at: Sections, slot: &Slot) -> Place {
    let pointers = at.at.saturating_add(at.bytes);
    Place { at: pointers.saturating_add(u64::from(slot.offset).saturating_mul(WORD)), segment: at.segment }
}

/// The elements of a list of structs.
fn elements(writer: &mut Writer<'_, '_>, at: Sections, slot: &Slot) -> Vec<Sections> {
    if slot.offset >= u32::from(at.pointers) {
        return Vec::new();
    }
    let Some((target, segment)) = writer.target(place(at, slot), slot.ty) else { return Vec::new() };
    let Is::Structs { count, data, pointers } = target.is else { return Vec::new() };
    let bytes = u64::from(data).saturating_mul(WORD);
    let stride = bytes.saturating_add(u64::from(pointers).saturating_mul(WORD));
    let from = target.start.saturating_add(WORD);
    // Elements without a size cost nothing in the input.
    let count = if stride == 0 { 0 } else { u64::from(count) };
    (0..count)
        .map(|index| Sections { at: from.saturating_add(index.saturating_mul(stride)), bytes, pointers, segment })
        .collect()
}

fn array(writer: &mut Writer<'_, '_>, at: Sections, slot: &Slot, ty: MessageId, depth: usize) -> Flow {
    let all = elements(writer, at, slot);
    writer.out.value(Event::Begin(Container::List, None))?;
    for one in all {
        value(writer, one, ty, depth.saturating_add(1))?;
    }
    writer.out.value(Event::End)
}

fn object(writer: &mut Writer<'_, '_>, at: Sections, slot: &Slot, ty: MessageId, depth: usize) -> Flow {
    let capnp = writer.capnp;
    let field = match slot.ty {
        Type::List(id) => super::super::objects::struct_type(Some(capnp.element(id))),
        _ => None,
    };
    let member = |record: &'_ Struct, name: &str| match record.field_by_name(name).map(|field| field.kind.clone()) {
        Some(FieldKind::Slot(slot)) => Some(slot),
        _ => None,
    };
    let all = elements(writer, at, slot);
    writer.out.value(Event::Begin(Container::Map, None))?;
    let parts =
        field.and_then(|field| capnp.record(field)).map(|record| (member(record, "name"), member(record, "value")));
    if let Some((Some(name), Some(content))) = parts {
        for one in all {
            let text = writer.target(place(one, &name), Type::Text);
            let bytes = text.map_or(&[][..], |(target, _)| super::blob(writer.bytes, &target));
            let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            writer.send(Scalar::Text(Cow::Borrowed(bytes)))?;
            match writer.target(place(one, &content), content.ty) {
                Some((target, segment)) => {
                    value(writer, super::sections(&target, segment), ty, depth.saturating_add(1))?
                }
                None => writer.send(Scalar::Null)?,
            }
        }
    }
    writer.out.value(Event::End)
}
