//! Repeated fields and maps.

use crate::formats::protobuf::encode::{Frame, Writer, scalars};
use crate::formats::protobuf::wire::WireType;
use crate::model::events::Flow;
use crate::model::schema::{FieldKind, MessageId};
use crate::model::value::{Event, Scalar};

impl Writer<'_> {
    pub(super) fn in_elements(
        &mut self,
        id: MessageId,
        place: usize,
        packed: bool,
        open: usize,
        event: &Event<'_>,
    ) -> Flow {
        if matches!(event, Event::End) {
            self.buffer.close_to(open);
            self.frames.pop();
            return Ok(());
        }
        let Some(field) = self.field_at(id, place) else { return Ok(()) };
        if matches!(event, Event::Scalar(Scalar::Null | Scalar::Missing)) && !self.takes_null(&field.kind) {
            return self.misfit("null is no element of a repeated field", "");
        }
        if packed {
            return self.scalar(&field.kind, event).map(|_| ());
        }
        self.single(id, field, event)
    }

    pub(super) fn in_entries(
        &mut self,
        id: MessageId,
        place: usize,
        key: bool,
        open: usize,
        event: &Event<'_>,
    ) -> Flow {
        if matches!(event, Event::End) {
            self.buffer.close_to(open);
            self.frames.pop();
            return Ok(());
        }
        let field = self.field_at(id, place);
        let entry = field.and_then(|field| self.schema.message(field.kind.message()?));
        let (Some(field), Some(entry)) = (field, entry) else { return Ok(()) };
        if let Some(Frame::Entries { key, .. }) = self.frames.last_mut() {
            *key = !*key;
        }
        if key {
            match self.groups() {
                true => self.buffer.begin_group(1),
                false => self.buffer.begin(field.number),
            }
            return entry.field(1).map_or(Ok(()), |key| self.key(&key.kind, event));
        }
        let Some(value) = entry.field(2) else { return Ok(()) };
        if matches!(event, Event::Scalar(Scalar::Null | Scalar::Missing)) && !self.takes_null(&value.kind) {
            return self.misfit("null is no value of a map", "");
        }
        let inside = self.buffer.open().saturating_sub(1);
        if let Some(inner) = value.kind.message() {
            match self.groups() {
                true => self.buffer.begin_group(value.number),
                false => self.buffer.begin(value.number),
            }
            return self.message_value(inner, event, inside);
        }
        self.buffer.tag(value.number, WireType::of_kind(&value.kind));
        self.scalar(&value.kind, event)?;
        self.buffer.close_to(inside);
        Ok(())
    }

    /// The key of an entry, with its tag.
    pub(super) fn key(&mut self, kind: &FieldKind, event: &Event<'_>) -> Flow {
        self.here.start = self.here.begun();
        self.buffer.tag(1, WireType::of_kind(kind));
        let read = match event {
            Event::Scalar(value) => scalars::key(kind, value),
            _ => None,
        };
        match read {
            Some(value) => self.scalar(kind, &Event::Scalar(value)).map(|_| ()),
            None => self.scalar(kind, event).map(|_| ()),
        }
    }
}
