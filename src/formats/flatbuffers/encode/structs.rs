//! Structs and the arrays in them, member by member.

use crate::formats::flatbuffers::encode::{Due, Frame, Stored, Writer};
use crate::model::events::Flow;
use crate::model::flat::{Field, Of, Shape as FieldShape};
use crate::model::num::count;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Shape};

impl<'a> Writer<'a> {
    pub(super) fn begin_struct(&mut self, id: MessageId) -> Flow {
        let size = self.object(id).map_or(0, |object| object.size);
        let at = self.structs.len();
        self.structs.resize(at.saturating_add(usize::try_from(size).unwrap_or(0)), 0);
        self.frames.push(Frame::Struct { ty: id, due: Due::Name, at, seen: 0, start: self.start });
        Ok(())
    }

    /// A member of the struct whose bytes are at `at`.
    pub(super) fn member(&mut self, field: &'a Field, at: usize, event: &Event<'_>) -> Flow {
        let place = at.saturating_add(usize::try_from(field.offset).unwrap_or(0));
        if let Some(Frame::Struct { seen, .. }) = self.frames.last_mut() {
            *seen = seen.saturating_add(1);
        }
        match (field.ty.shape, field.ty.of, event) {
            (FieldShape::Array(count), of, Event::Begin(Shape::List, _)) => {
                self.frames.push(Frame::Array { of, at: place, count, next: 0 });
                Ok(())
            }
            (FieldShape::Array(_), ..) => self.expected("an array", event),
            (_, of, _) => self.in_struct(of, place, event),
        }
    }

    /// A value in a struct, at a place of [`Writer::structs`].
    pub(super) fn in_struct(&mut self, of: Of, place: usize, event: &Event<'_>) -> Flow {
        match (of, event) {
            (Of::Struct(ty), Event::Begin(Shape::Map, _)) => {
                self.frames.push(Frame::Struct { ty, due: Due::Name, at: place, seen: 0, start: self.start });
                Ok(())
            }
            (Of::Struct(_), _) => self.expected("an object", event),
            _ => {
                let Stored::Scalar { bits, size } = self.scalar(of, None, event)? else { return Ok(()) };
                let bytes = bits.to_le_bytes();
                let size = usize::from(size);
                if let Some(part) = self.structs.get_mut(place..place.saturating_add(size)) {
                    part.copy_from_slice(bytes.get(..size).unwrap_or(&[]));
                }
                Ok(())
            }
        }
    }

    pub(super) fn in_array(&mut self, of: Of, at: usize, len: u16, next: u16, event: &Event<'_>) -> Flow {
        if matches!(event, Event::End) {
            if next != len {
                let there = count(u64::from(next), "element", "elements");
                return self.misfit(format!("an array of {len} elements was expected, here are {there}"), "");
            }
            self.frames.pop();
            return Ok(());
        }
        if next >= len {
            return self.misfit(format!("an array of {len} elements was expected, here are more"), "");
        }
        if let Some(Frame::Array { next, .. }) = self.frames.last_mut() {
            *next = next.saturating_add(1);
        }
        let width = usize::try_from(self.flat.width(of)).unwrap_or(0);
        self.in_struct(of, at.saturating_add(width.saturating_mul(usize::from(next))), event)
    }
}
