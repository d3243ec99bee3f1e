//! The types of `google.protobuf` that have a form of their own in JSON (protobuf.dev, "ProtoJSON Format").
//! One whose content that form cannot hold is written as an ordinary message.

use std::borrow::Cow;

use super::{Frame, Ranges, Writer};
use crate::formats::Dress;
use crate::formats::protobuf::gather::{Content, Hit};
use crate::formats::protobuf::times;
use crate::formats::protobuf::wire;
use crate::model::events::Flow;
use crate::model::schema::{FieldKind, MessageId, WellKnown};
use crate::model::value::{Event, Scalar, Shape};

/// Name of the member that says which type an Any holds.
pub const AT_TYPE: &str = "@type";

impl Writer<'_, '_> {
    /// A message in the form that its type has.
    pub(super) fn value_of(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let schema = self.fields.schema;
        let well_known = schema.message(id).map_or(WellKnown::No, |message| message.well_known);
        match well_known {
            WellKnown::No | WellKnown::Empty => self.object(id, ranges, depth),
            WellKnown::Timestamp | WellKnown::Duration => self.time(id, well_known, ranges, depth),
            WellKnown::FieldMask => self.mask(id, ranges, depth),
            WellKnown::Wrapper => self.wrapper(id, ranges, depth),
            WellKnown::Struct | WellKnown::ListValue => self.bare_field(id, ranges, depth),
            WellKnown::Value => self.dynamic(id, ranges, depth),
            WellKnown::Any => self.any(id, ranges, depth),
        }
    }

    fn number(&self, id: MessageId, number: u32, from: usize) -> u64 {
        match self.fields.last(id, number, from) {
            Some(Content::Number(number)) => number,
            _ => 0,
        }
    }

    fn time(&mut self, id: MessageId, kind: WellKnown, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        let seconds = self.number(id, 1, at).cast_signed();
        let nanos = i64::from(wire::low32(self.number(id, 2, at)).cast_signed());
        self.fields.hits.truncate(at);
        if let (Dress::Plain, WellKnown::Timestamp, Ok(nanos @ 0..=999_999_999)) =
            (self.dress, kind, u32::try_from(nanos))
        {
            self.fields.hits.truncate(ranges.base);
            return self.send(Scalar::Timestamp(seconds, nanos));
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let fits = match kind {
            WellKnown::Timestamp => times::push_timestamp(seconds, nanos, &mut text),
            _ => times::push_duration(seconds, nanos, &mut text),
        };
        self.text_or_object(fits.then_some(text), id, ranges, depth)
    }

    /// Sends a text, or where there is none the message as it is.
    fn text_or_object(&mut self, text: Option<String>, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let Some(text) = text else { return self.object(id, ranges, depth) };
        self.fields.hits.truncate(ranges.base);
        self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())))?;
        self.text = text;
        Ok(())
    }

    fn mask(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let mut fits = true;
        for hit in self.fields.hits.get(at..).unwrap_or(&[]) {
            let Content::Bytes(from, to) = hit.content() else { continue };
            if !text.is_empty() {
                text.push(',');
            }
            let path = std::str::from_utf8(self.fields.slice(from, to));
            fits &= path.is_ok_and(|path| !path.is_empty() && times::push_path(path, &mut text));
        }
        self.fields.hits.truncate(at);
        self.text_or_object(fits.then_some(text), id, ranges, depth)
    }

    fn wrapper(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        let content = self.fields.last(id, 1, at);
        self.fields.hits.truncate(ranges.base);
        let schema = self.fields.schema;
        match schema.message(id).and_then(|message| message.field(1)) {
            Some(field) => self.scalar(&field.kind, content.unwrap_or(super::default(&field.kind))),
            None => self.send(Scalar::Null),
        }
    }

    /// A Struct or ListValue: its one field, without a name.
    fn bare_field(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let schema = self.fields.schema;
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        match schema.message(id).and_then(|message| message.field(1)) {
            Some(field) => self.field_value(id, field, (at, self.fields.hits.len()), depth, ranges.base),
            None => self.object(id, ranges, depth),
        }
    }

    /// A Value: the member that is set; null where none is.
    fn dynamic(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        let Some((field, content)) = self.field_at(id, at).zip(self.fields.content(at)) else {
            self.fields.hits.truncate(ranges.base);
            return self.send(Scalar::Null);
        };
        let Some(inner) = field.kind.message() else {
            self.fields.hits.truncate(ranges.base);
            if let (Dress::Json, FieldKind::Double, Content::Number(bits)) = (self.dress, &field.kind, content)
                && !f64::from_bits(bits).is_finite()
            {
                self.fields.unknown.endless = self.fields.unknown.endless.saturating_add(1);
            }
            return self.scalar(&field.kind, content);
        };
        // A Struct or ListValue, neither of which is a Value again: this goes one call deep.
        let ranges = Ranges { from: at, to: self.fields.hits.len(), base: ranges.base };
        match self.well_known(inner) {
            WellKnown::Struct | WellKnown::ListValue => self.bare_field(inner, ranges, depth.saturating_add(1)),
            _ => self.object(inner, ranges, depth.saturating_add(1)),
        }
    }

    fn well_known(&self, id: MessageId) -> WellKnown {
        self.fields.schema.message(id).map_or(WellKnown::No, |message| message.well_known)
    }

    /// An Any: the name of its type, and the fields of that type beside it or its own form as `value`.
    fn any(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        let (url, content) = (self.fields.last(id, 1, at), self.fields.last(id, 2, at));
        self.fields.hits.truncate(ranges.base);
        let url = match url {
            Some(Content::Bytes(from, to)) => self.fields.slice(from, to),
            _ => &[],
        };
        if url.is_empty() && content.is_none() {
            self.begin(Shape::Map, 0)?;
            return self.out.value(Event::End);
        }
        let content = content.unwrap_or(Content::Bytes(0, 0));
        let name = std::str::from_utf8(url).ok().and_then(|url| url.rsplit('/').next());
        let schema = self.fields.schema;
        let inner = name.and_then(|name| schema.message_by_full_name(name)).filter(|_| depth < self.fields.depth());
        let Some(inner) = inner else { return self.unknown_any(url, content) };
        // The content is a range like any other.
        let base = self.fields.hits.len();
        self.fields.hits.push(Hit::new(0, content));
        let ranges = Ranges { from: base, to: base.saturating_add(1), base };
        match self.well_known(inner) {
            WellKnown::No | WellKnown::Empty => {
                let at = self.fields.gather(inner, ranges.from, ranges.to, depth.saturating_add(1));
                self.begin(Shape::Map, self.fields.runs(at).saturating_add(1))?;
                self.type_member(url)?;
                let (end, depth) = (self.fields.hits.len(), depth.saturating_add(1));
                self.stack.push(Frame::Fields { id: inner, at, end, depth, base });
                Ok(())
            }
            WellKnown::Any => self.any_in_any(url, inner, ranges, depth),
            _ => {
                self.begin(Shape::Map, 2)?;
                self.type_member(url)?;
                self.send(Scalar::Text(Cow::Borrowed(b"value")))?;
                self.stack.push(Frame::End { base });
                self.value_of(inner, ranges, depth.saturating_add(1))
            }
        }
    }

    fn type_member(&mut self, url: &[u8]) -> Flow {
        self.send(Scalar::Text(Cow::Borrowed(AT_TYPE.as_bytes())))?;
        self.send(Scalar::Text(Cow::Borrowed(url)))
    }

    /// An Any in an Any is sent by the main loop, as the element of a list is, so that no call nests.
    fn any_in_any(&mut self, url: &[u8], inner: MessageId, ranges: Ranges, depth: usize) -> Flow {
        self.begin(Shape::Map, 2)?;
        self.type_member(url)?;
        self.send(Scalar::Text(Cow::Borrowed(b"value")))?;
        self.stack.push(Frame::End { base: ranges.base });
        self.stack.push(Frame::Message { id: inner, at: ranges.from, depth: depth.saturating_add(1) });
        Ok(())
    }

    /// An Any of a type that the schema does not have, or that is too deep.
    fn unknown_any(&mut self, url: &[u8], content: Content) -> Flow {
        self.begin(Shape::Map, 2)?;
        self.type_member(url)?;
        self.send(Scalar::Text(Cow::Borrowed(b"value")))?;
        let bytes = match content {
            Content::Bytes(from, to) => self.fields.slice(from, to),
            _ => &[],
        };
        self.send(Scalar::Bytes(Cow::Borrowed(bytes)))?;
        self.out.value(Event::End)
    }
}
