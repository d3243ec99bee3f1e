//! Protobuf to Protobuf: what a reader that knows the schema writes again (known fields merged, in the order
//! of their numbers, in their shortest form; unknown ones behind them as they were), or without a schema the
//! same bytes in other framing.

use std::io::Write;

use crate::formats::Context;
use crate::formats::protobuf::encode::buffer::Buffer;
use crate::formats::protobuf::gather::{Content, Fields, Hit, How, UNKNOWN};
use crate::formats::protobuf::records::Packed;
use crate::formats::protobuf::unframe;
use crate::formats::protobuf::values::{default, is_signed, signed, unsigned};
use crate::formats::protobuf::wire::{self, WireType};
use crate::model::events::{Flow, Stop};
use crate::model::schema::{Bound, Cardinality, Field, FieldKind, MessageId};
use crate::wire::reader::Window;

/// Writes the messages of an input in a variant.
///
/// # Errors
/// What stopped the walk; several messages where the variant holds one, and groups without a schema, are
/// refused.
pub fn rewrite(input: &mut Window, context: &Context<'_>, variant: &str, out: &mut dyn Write) -> Flow {
    let bound = context.bound();
    if variant == unframe::CONFLUENT {
        return Err(Stop::Refused(
            "protobuf/confluent is only read; plain, delimited and grpc are written".to_string(),
        ));
    }
    if variant == unframe::GROUPS && bound.is_none() {
        let sentence = "without a schema nobody can tell nested messages from text: protobuf/groups needs -s SCHEMA";
        return Err(Stop::Refused(sentence.to_string()));
    }
    let groups = variant == unframe::GROUPS;
    let mut count = 0u64;
    let mut framed = Vec::new();
    let mut buffer = Buffer::default();
    unframe::each(input, context.variant, &mut |_, bytes| {
        count = count.saturating_add(1);
        if count > 1 && !unframe::is_stream(variant) {
            return Err(Stop::Refused(several(variant)));
        }
        let message = match bound {
            None => bytes,
            Some(bound) => {
                buffer.clear();
                Rewriter::new(bytes, bound, context, groups, &mut buffer).message(bound.root);
                &buffer.bytes
            }
        };
        framed.clear();
        unframe::frame(variant, message, &mut framed)?;
        Ok(out.write_all(&framed)?)
    })?;
    if count == 0 && !unframe::is_stream(variant) {
        return Err(Stop::Refused(format!("no message: protobuf/{variant} holds one")));
    }
    Ok(())
}

fn several(variant: &str) -> String {
    format!("several messages: protobuf/{variant} holds one; protobuf/delimited and protobuf/grpc hold a row of them")
}

/// What is being written, the innermost last; `open` is how many things stay open behind it, the others as
/// in [`super::values`].
#[derive(Debug, Clone, Copy)]
enum Frame {
    Fields { id: MessageId, at: usize, end: usize, depth: usize, base: usize, open: usize },
    Elements { id: MessageId, at: usize, end: usize, depth: usize },
    Entries { id: MessageId, number: u32, at: usize, end: usize, depth: usize, open: usize },
}

struct Rewriter<'a, 'b> {
    fields: Fields<'a>,
    groups: bool,
    buffer: &'b mut Buffer,
    stack: Vec<Frame>,
}

impl<'a, 'b> Rewriter<'a, 'b> {
    fn new(bytes: &'a [u8], bound: Bound<'a>, context: &Context<'_>, groups: bool, buffer: &'b mut Buffer) -> Self {
        let how = How { keep_unknown: true, groups: true, depth: context.depth };
        Rewriter { fields: Fields::new(bytes, bound.schema, how), groups, buffer, stack: Vec::new() }
    }

    fn message(&mut self, root: MessageId) {
        self.fields.hits.push(Hit::new(0, Content::Bytes(0, self.fields.bytes.len())));
        self.begin(root, (0, 1), 0, 0, 0);
        while let Some(frame) = self.stack.last().copied() {
            match frame {
                Frame::Fields { id, at, end, depth, .. } if at < end => self.field(id, at, end, depth),
                Frame::Elements { id, at, end, depth } if at < end => {
                    self.go_to(at.saturating_add(1));
                    if let Some(field) = self.field_at(id, at) {
                        self.single(id, field, (at, at.saturating_add(1)), depth);
                    }
                }
                Frame::Entries { id, number, at, end, depth, .. } if at < end => self.entry(id, number, at, depth),
                Frame::Fields { base, open, .. } => {
                    self.fields.hits.truncate(base);
                    self.buffer.close_to(open);
                    self.stack.pop();
                }
                Frame::Entries { open, .. } => {
                    self.buffer.close_to(open);
                    self.stack.pop();
                }
                Frame::Elements { .. } => {
                    self.stack.pop();
                }
            }
        }
    }

    fn go_to(&mut self, next: usize) {
        match self.stack.last_mut() {
            Some(Frame::Fields { at, .. } | Frame::Elements { at, .. } | Frame::Entries { at, .. }) => *at = next,
            None => {}
        }
    }

    fn field_at(&self, id: MessageId, at: usize) -> Option<&'a Field> {
        let place = usize::try_from(self.fields.hits.get(at)?.place).ok()?;
        self.fields.schema.message(id)?.fields.get(place)
    }

    /// The fields of a message that stands in some ranges.
    fn begin(&mut self, id: MessageId, (from, to): (usize, usize), depth: usize, base: usize, open: usize) {
        if depth > self.fields.depth() {
            // Deeper than readers go: as it is.
            for at in from..to {
                if let Some(Content::Bytes(from, to)) = self.fields.content(at) {
                    self.buffer.bytes.extend_from_slice(self.fields.slice(from, to));
                }
            }
            self.fields.hits.truncate(base.max(to));
            self.buffer.close_to(open);
            return;
        }
        let at = self.fields.gather(id, from, to, depth);
        let end = self.fields.hits.len();
        self.stack.push(Frame::Fields { id, at, end, depth, base, open });
    }

    fn field(&mut self, id: MessageId, at: usize, end: usize, depth: usize) {
        if self.fields.hits.get(at).is_none_or(|hit| hit.place == UNKNOWN) {
            self.go_to(at.saturating_add(1));
            return self.unknown(id, at, depth);
        }
        let behind = self.fields.run_end(at, end);
        self.go_to(behind);
        let Some(field) = self.field_at(id, at) else { return };
        match field.cardinality {
            Cardinality::Singular => self.single(id, field, (at, behind), depth),
            Cardinality::Repeated if field.kind.is_packable() => self.numbers(field, at, behind),
            Cardinality::Repeated => self.stack.push(Frame::Elements { id, at, end: behind, depth }),
            Cardinality::Map => {
                let open = self.buffer.open();
                if self.groups {
                    self.buffer.begin_group(field.number);
                }
                let Some(id) = field.kind.message() else { return };
                self.stack.push(Frame::Entries { id, number: field.number, at, end: behind, depth, open });
            }
        }
    }

    /// A field that the schema does not know.
    fn unknown(&mut self, id: MessageId, at: usize, depth: usize) {
        match self.fields.content(at) {
            Some(Content::Bytes(from, to)) => self.buffer.bytes.extend_from_slice(self.fields.slice(from, to)),
            Some(Content::Stray(at)) => {
                if let Some((number, value)) = self.fields.strays.get(at).copied() {
                    self.buffer.varint_field(number, value);
                }
            }
            Some(Content::Entry(at)) => {
                let Some((number, range)) = self.fields.stray_range(at) else { return };
                let entry = self.fields.schema.message(id).and_then(|message| message.field(number)?.kind.message());
                let Some(entry) = entry else { return };
                let (base, open) = (self.fields.hits.len(), self.buffer.open());
                self.fields.hits.push(range);
                self.buffer.begin(number);
                self.begin(entry, (base, base.saturating_add(1)), depth.saturating_add(1), base, open);
            }
            Some(Content::Number(_) | Content::Packed(..)) | None => {}
        }
    }

    /// One value with its tag.
    fn single(&mut self, id: MessageId, field: &Field, (at, end): (usize, usize), depth: usize) {
        let open = self.buffer.open();
        let Some(inner) = field.kind.message() else {
            if let Some(content) = self.fields.content(at) {
                self.value(field.number, &field.kind, content);
            }
            return;
        };
        if self.fields.schema.message(id).is_some_and(|message| message.message_set) {
            self.buffer.begin_group(1);
            self.buffer.varint_field(2, u64::from(field.number));
            self.buffer.begin(3);
        } else {
            self.begin_nested(field.number, matches!(field.kind, FieldKind::Group(_)));
        }
        self.begin(inner, (at, end), depth.saturating_add(1), self.fields.hits.len(), open);
    }

    fn begin_nested(&mut self, number: u32, group: bool) {
        match group || self.groups {
            true => self.buffer.begin_group(number),
            false => self.buffer.begin(number),
        }
    }

    /// A scalar with its tag.
    fn value(&mut self, number: u32, kind: &FieldKind, content: Content) {
        match content {
            Content::Number(value) => {
                self.buffer.tag(number, WireType::of_kind(kind));
                self.number(kind, value);
            }
            Content::Bytes(from, to) => self.buffer.len_field(number, self.fields.slice(from, to)),
            Content::Packed(..) | Content::Stray(_) | Content::Entry(_) => {}
        }
    }

    /// A number as its kind stores it, in its shortest form.
    fn number(&mut self, kind: &FieldKind, value: u64) {
        let bytes = &mut self.buffer.bytes;
        match WireType::of_kind(kind) {
            WireType::I64 => bytes.extend_from_slice(&value.to_le_bytes()),
            WireType::I32 => bytes.extend_from_slice(&wire::low32(value).to_le_bytes()),
            _ => {
                let value = match kind {
                    FieldKind::Bool => u64::from(value != 0),
                    FieldKind::Sint32 | FieldKind::Sint64 => wire::zigzag(signed(kind, value)),
                    _ if is_signed(kind) => signed(kind, value).cast_unsigned(),
                    _ => unsigned(kind, value),
                };
                wire::push_varint(value, bytes);
            }
        }
    }

    /// The elements of a repeated field of numbers.
    fn numbers(&mut self, field: &Field, at: usize, end: usize) {
        let open = self.buffer.open();
        let packed = field.packed && !self.groups;
        if packed {
            self.buffer.begin_unless_empty(field.number);
        }
        for at in at..end {
            match self.fields.content(at) {
                Some(Content::Number(value)) => self.element(field, packed, value),
                Some(Content::Packed(from, to)) => {
                    for value in Packed::new(self.fields.slice(from, to), &field.kind) {
                        self.element(field, packed, value);
                    }
                }
                Some(Content::Bytes(..) | Content::Stray(_) | Content::Entry(_)) | None => {}
            }
        }
        self.buffer.close_to(open);
    }

    fn element(&mut self, field: &Field, packed: bool, value: u64) {
        match packed {
            true => self.number(&field.kind, value),
            false => self.value(field.number, &field.kind, Content::Number(value)),
        }
    }

    /// An entry of a map: key and value, also where they are defaults.
    fn entry(&mut self, id: MessageId, number: u32, at: usize, depth: usize) {
        self.go_to(at.saturating_add(1));
        let schema = self.fields.schema;
        let Some(message) = schema.message(id) else { return };
        let (Some(key), Some(value)) = (message.field(1), message.field(2)) else { return };
        let (base, open) = (self.fields.hits.len(), self.buffer.open());
        let start = self.fields.gather(id, at, at.saturating_add(1), depth);
        match self.groups {
            true => self.buffer.begin_group(1),
            false => self.buffer.begin(number),
        }
        let content = self.fields.last(id, 1, start).unwrap_or(default(&key.kind));
        self.value(1, &key.kind, content);
        if let Some(inner) = value.kind.message() {
            let from = start.saturating_add(usize::from(self.field_at(id, start).is_some_and(|one| one.number == 1)));
            self.begin_nested(2, false);
            let end = self.fields.hits.len();
            return self.begin(inner, (from, end), depth.saturating_add(1), base, open);
        }
        let content = self.fields.last(id, 2, start).unwrap_or(self.fields.default_value(&value.kind));
        self.value(2, &value.kind, content);
        self.fields.hits.truncate(base);
        self.buffer.close_to(open);
    }
}
