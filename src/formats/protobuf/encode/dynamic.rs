//! The types of `google.protobuf` that have a form of their own in JSON, but for Any.

use crate::formats::protobuf::encode::scalars;
use crate::formats::protobuf::encode::{Frame, Writer};
use crate::formats::protobuf::times;
use crate::formats::protobuf::wire::WireType;
use crate::model::events::Flow;
use crate::model::schema::{FieldKind, MessageId, WellKnown};
use crate::model::value::{Event, Scalar, Shape};

impl Writer<'_> {
    /// A value whose type is a message; tag and length are begun. Ends what is open down to `open`, at once
    /// or where the container ends that begins here.
    pub(super) fn message_value(&mut self, id: MessageId, event: &Event<'_>, open: usize) -> Flow {
        match (self.well_known(id), event) {
            (WellKnown::Any, Event::Begin(Shape::Map, _)) => {
                self.frames.push(Frame::Any { start: self.here.start, open });
                Ok(())
            }
            (WellKnown::Struct, Event::Begin(Shape::Map, _)) => {
                self.frames.push(Frame::Object { key: true, open });
                Ok(())
            }
            (WellKnown::ListValue, Event::Begin(Shape::List, _)) => {
                self.frames.push(Frame::List { open });
                Ok(())
            }
            (WellKnown::ListValue, _) => self.expected("an array", event),
            (WellKnown::Value, _) => self.dynamic(event, open),
            (WellKnown::Wrapper, _) => self.wrapper(id, event, open),
            (WellKnown::Timestamp | WellKnown::Duration | WellKnown::FieldMask, Event::Scalar(value)) => {
                self.textual(id, value, event)?;
                self.buffer.close_to(open);
                Ok(())
            }
            // What has no text (a point in time outside the calendar) stands as the message it is.
            (_, Event::Begin(Shape::Map, _)) => {
                self.begin_message(id, open);
                Ok(())
            }
            _ => self.expected("an object", event),
        }
    }

    fn wrapper(&mut self, id: MessageId, event: &Event<'_>, open: usize) -> Flow {
        let schema = self.schema;
        let Some(field) = schema.message(id).and_then(|message| message.field(1)) else { return Ok(()) };
        let start = self.buffer.bytes.len();
        self.buffer.tag(1, WireType::of_kind(&field.kind));
        if self.scalar(&field.kind, event)? {
            self.buffer.bytes.truncate(start);
        }
        self.buffer.close_to(open);
        Ok(())
    }

    /// A Timestamp, Duration or FieldMask.
    fn textual(&mut self, id: MessageId, value: &Scalar<'_>, event: &Event<'_>) -> Flow {
        let kind = self.well_known(id);
        let text = match value {
            Scalar::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        };
        let time = match (kind, value, text) {
            (WellKnown::Timestamp, Scalar::Timestamp(seconds, nanos), _) => Some((*seconds, i64::from(*nanos))),
            (WellKnown::Timestamp, _, Some(text)) => times::timestamp(text),
            (WellKnown::Duration, _, Some(text)) => times::duration(text),
            (WellKnown::FieldMask, _, Some(text)) => return self.mask(text, event),
            _ => None,
        };
        let Some((seconds, nanos)) = time else {
            let (what, like) = match kind {
                WellKnown::Timestamp => ("a point in time", "such as \"2024-01-01T00:00:00Z\""),
                WellKnown::Duration => ("a span of time", "such as \"1.5s\""),
                _ => ("a field mask", "such as \"fooBar,baz\""),
            };
            return self.misfit(format!("expected {what}, found {}", super::found_words(event)), like);
        };
        if seconds != 0 {
            self.buffer.varint_field(1, seconds.cast_unsigned());
        }
        if nanos != 0 {
            self.buffer.varint_field(2, nanos.cast_unsigned());
        }
        Ok(())
    }

    fn mask(&mut self, text: &str, event: &Event<'_>) -> Flow {
        for camel in text.split(',').filter(|_| !text.is_empty()) {
            match times::path(camel) {
                Some(path) => self.buffer.len_field(1, path.as_bytes()),
                None => return self.expected("paths in lowerCamelCase", event),
            }
        }
        Ok(())
    }

    /// A Value: anything.
    fn dynamic(&mut self, event: &Event<'_>, open: usize) -> Flow {
        let schema = self.schema;
        match event {
            Event::Scalar(Scalar::Null | Scalar::Missing) => self.buffer.varint_field(1, 0),
            Event::Scalar(Scalar::Bool(value)) => self.buffer.varint_field(4, u64::from(*value)),
            Event::Scalar(Scalar::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => self.buffer.len_field(3, text.as_bytes()),
                Err(_) => return self.expected("text that is UTF-8", event),
            },
            Event::Scalar(value) => {
                self.buffer.tag(2, WireType::I64);
                if scalars::push(&FieldKind::Double, value, schema, &mut self.buffer.bytes).is_none() {
                    return self.expected("a JSON value that a float64 can hold", event);
                }
            }
            Event::Begin(Shape::Map, _) => {
                self.buffer.begin(5);
                self.frames.push(Frame::Object { key: true, open });
                return Ok(());
            }
            Event::Begin(Shape::List, _) => {
                self.buffer.begin(6);
                self.frames.push(Frame::List { open });
                return Ok(());
            }
            Event::Message(_) | Event::End | Event::Piece { .. } => {}
        }
        self.buffer.close_to(open);
        Ok(())
    }

    /// In a Struct: an entry of the map in its field 1.
    pub(super) fn in_object(&mut self, key: bool, open: usize, event: &Event<'_>) -> Flow {
        if matches!(event, Event::End) {
            self.buffer.close_to(open);
            self.frames.pop();
            return Ok(());
        }
        if let Some(Frame::Object { key, .. }) = self.frames.last_mut() {
            *key = !*key;
        }
        if key {
            self.buffer.begin(1);
            return self.key(&FieldKind::String, event);
        }
        let inside = self.buffer.open().saturating_sub(1);
        self.buffer.begin(2);
        self.dynamic(event, inside)
    }

    /// In a ListValue: an element of its field 1.
    pub(super) fn in_list(&mut self, open: usize, event: &Event<'_>) -> Flow {
        if matches!(event, Event::End) {
            self.buffer.close_to(open);
            self.frames.pop();
            return Ok(());
        }
        let inside = self.buffer.open();
        self.buffer.begin(1);
        self.dynamic(event, inside)
    }
}
