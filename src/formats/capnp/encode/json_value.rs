//! Any JSON as `struct Value` of `json.capnp`.

use crate::formats::capnp::encode::Writer;
use crate::formats::capnp::encode::frames::{Frame, Target};
use crate::formats::capnp::encode::scalars;
use crate::model::capnp::{FieldKind, Slot, Type};
use crate::model::events::Flow;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

impl<'a> Writer<'a> {
    /// Sets a `Value`.
    pub(super) fn json_value(&mut self, at: usize, id: MessageId, event: &Event<'_>) -> Flow {
        match event {
            Event::Begin(Shape::List, _) => {
                self.deeper(2)?;
                self.frames.push(Frame::JsonArray { at, id, pointers: self.pointers.len() });
            }
            Event::Begin(Shape::Map, _) => {
                self.deeper(3)?;
                self.frames.push(Frame::JsonObject { at, id, pointers: self.pointers.len(), member: None });
            }
            Event::Scalar(value) => return self.json_scalar(at, id, value, event),
            _ => {}
        }
        Ok(())
    }

    fn json_scalar(&mut self, at: usize, id: MessageId, value: &Scalar<'_>, event: &Event<'_>) -> Flow {
        match value {
            Scalar::Null | Scalar::Missing => drop(self.json_member(at, id, "null")),
            Scalar::Bool(value) => self.json_bits(at, id, "boolean", u64::from(*value)),
            Scalar::Text(text) => {
                let place = self.arena.add_text(text);
                self.json_pointer(at, id, "string", place);
            }
            value => match scalars::number(value) {
                Some(number) => self.json_bits(at, id, "number", number.to_bits()),
                None => return self.expected("a value that JSON has", event),
            },
        }
        Ok(())
    }

    /// Sets a member of the union of a `Value`.
    fn json_member(&mut self, at: usize, id: MessageId, name: &str) -> Option<&'a Slot> {
        let record = self.capnp.record(id)?;
        let field = record.fields.iter().position(|field| field.name == name)?;
        self.choose(Target { at, id, field });
        json_slot(self, id, name)
    }

    fn json_bits(&mut self, at: usize, id: MessageId, name: &str, bits: u64) {
        if let Some(slot) = self.json_member(at, id, name) {
            let width = slot.ty.bits().unwrap_or(0);
            self.arena.set_bits(at, u64::from(slot.offset).saturating_mul(u64::from(width)), width, bits);
        }
    }

    fn json_pointer(&mut self, at: usize, id: MessageId, name: &str, place: Option<usize>) {
        if let (Some(slot), Some(place)) = (self.json_member(at, id, name), place) {
            self.arena.set_pointer(at, slot.offset, place);
        }
    }

    pub(super) fn in_json(&mut self, event: &Event<'_>) -> Flow {
        match (self.frames.last().copied(), event) {
            (Some(Frame::JsonArray { at, id, pointers }), Event::End) => {
                self.frames.pop();
                self.end_json(at, id, "array", pointers);
                self.depth = self.depth.saturating_sub(2);
            }
            (Some(Frame::JsonObject { at, id, pointers, .. }), Event::End) => {
                self.frames.pop();
                self.end_json(at, id, "object", pointers);
                self.depth = self.depth.saturating_sub(3);
            }
            (Some(Frame::JsonArray { id, .. }), _) => {
                let element = self.add_struct(id);
                self.pointers.push(len64(element));
                return self.json_value(element, id, event);
            }
            (Some(Frame::JsonObject { id, member: None, .. }), Event::Scalar(Scalar::Text(name))) => {
                let made = self.json_name(id, name);
                if let Some(Frame::JsonObject { member, .. }) = self.frames.last_mut() {
                    *member = made;
                }
            }
            (Some(Frame::JsonObject { id, member: Some(named), .. }), _) => {
                if let Some(Frame::JsonObject { member, .. }) = self.frames.last_mut() {
                    *member = None;
                }
                let value = self.add_struct(id);
                let slot = self.json_field(id).and_then(|field| json_slot(self, field, "value"));
                if let Some(slot) = slot {
                    self.arena.set_pointer(named, slot.offset, value);
                }
                return self.json_value(value, id, event);
            }
            _ => return self.expected("a name", event),
        }
        Ok(())
    }

    /// The struct of a member.
    fn json_field(&self, id: MessageId) -> Option<MessageId> {
        let Type::List(of) = json_slot(self, id, "object")?.ty else { return None };
        if let Type::Struct(field) = self.capnp.element(of) { Some(field) } else { None }
    }

    /// A member with its name.
    fn json_name(&mut self, id: MessageId, name: &[u8]) -> Option<usize> {
        let field = self.json_field(id)?;
        let at = self.add_struct(field);
        let place = self.arena.add_text(name);
        if let (Some(slot), Some(place)) = (json_slot(self, field, "name"), place) {
            self.arena.set_pointer(at, slot.offset, place);
        }
        self.pointers.push(len64(at));
        Some(at)
    }

    fn end_json(&mut self, at: usize, id: MessageId, name: &str, pointers: usize) {
        let of = match json_slot(self, id, name).map(|slot| slot.ty) {
            Some(Type::List(of)) => self.capnp.element(of),
            _ => Type::Void,
        };
        let record = if let Type::Struct(id) = of { self.record(id) } else { None };
        let (data, all) = record.map_or((0, 0), |record| (record.data_words, record.pointers));
        let place = self.arena.add_structs(data, all, self.pointers.get(pointers..).unwrap_or(&[]));
        self.pointers.truncate(pointers);
        self.json_pointer(at, id, name, place);
    }
}

/// A field of a struct of `json.capnp`.
fn json_slot<'a>(writer: &Writer<'a>, id: MessageId, name: &str) -> Option<&'a Slot> {
    match &writer.record(id)?.field_by_name(name)?.kind {
        FieldKind::Slot(slot) => Some(slot),
        FieldKind::Group(_) => None,
    }
}
