//! Sends what the messages of an input say: merged, in the order of field numbers, in one of two dresses
//! ([`Dress`]). Types of `google.protobuf` that have a form of their own stand in [`wellknown`], messages
//! without a schema in [`bare`].
//!
//! ```text
//! bytes ── Fields::gather ──> hits of one message, sorted ── step ──> events
//!                                  ^                           │ a nested message
//!                                  └───────────────────────────┘ (frame pushed, hits appended)
//! ```

mod bare;
mod wellknown;

use std::borrow::Cow;

use crate::formats::protobuf::gather::{Content, Fields, Hit, How};
use crate::formats::protobuf::records::Packed;
use crate::formats::protobuf::unframe;
use crate::formats::protobuf::wire;
use crate::formats::{Context, Dress};
use crate::model::events::{Flow, Sink};
use crate::model::num::len64;
use crate::model::schema::{Bound, Cardinality, Field, FieldKind, MessageId};
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::Window;

/// Full name of the enumeration whose one value is JSON's null.
pub const NULL_VALUE: &str = "google.protobuf.NullValue";

/// Sends the values of all messages; only value events, and notes on what is left out.
///
/// # Errors
/// What stopped the walk; an input that is too large to hold is [`crate::model::events::Stop::Refused`].
pub fn values(input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
    let Some(bound) = context.bound() else { return bare::values(input, context, dress, out) };
    let how = How { keep_unknown: false, groups: true, depth: context.depth };
    let mut unknown = None;
    unframe::each(input, context.variant, &mut |number, bytes| {
        let mut fields = Fields::new(bytes, bound.schema, how);
        fields.unknown = unknown.take().unwrap_or_default();
        let (stack, text) = (Vec::new(), String::new());
        let mut writer = Writer { fields, dress, out: &mut *out, stack, text };
        writer.message(number, bound)?;
        unknown = Some(writer.fields.unknown);
        Ok(())
    })?;
    let told = unknown.map(|unknown| [unknown.sentence(), unknown.misread()]);
    for sentence in told.into_iter().flatten().flatten() {
        out.left_out(&sentence)?;
    }
    Ok(())
}

/// What is being sent, the innermost last. All `at` and `end` are places of hits; `base` is where the hits
/// begin that go when the frame is done.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// The fields of a message.
    Fields { id: MessageId, at: usize, end: usize, depth: usize, base: usize },
    /// The elements of a repeated field.
    Elements { id: MessageId, at: usize, end: usize, depth: usize, base: usize },
    /// The entries of a map.
    Entries { id: MessageId, at: usize, end: usize, depth: usize, base: usize },
    /// A message that is still to be begun, in the range at `at`.
    Message { id: MessageId, at: usize, depth: usize },
    /// Only the end of a container is due.
    End { base: usize },
}

/// The hits from one place to another are the ranges of one message.
#[derive(Debug, Clone, Copy)]
struct Ranges {
    from: usize,
    to: usize,
    /// Where the hits begin that go when the message is done.
    base: usize,
}

struct Writer<'a, 's> {
    fields: Fields<'a>,
    dress: Dress,
    out: &'s mut dyn Sink,
    stack: Vec<Frame>,
    /// Text that is being made.
    text: String,
}

impl<'a> Writer<'a, '_> {
    fn message(&mut self, number: u64, bound: Bound<'_>) -> Flow {
        self.out.value(Event::Message(number))?;
        self.fields.hits.push(Hit::new(0, Content::Bytes(0, self.fields.bytes.len())));
        self.value_of(bound.root, Ranges { from: 0, to: 1, base: 0 }, 0)?;
        while let Some(frame) = self.stack.last().copied() {
            match frame {
                Frame::Fields { id, at, end, depth, .. } if at < end => self.field(id, at, end, depth)?,
                Frame::Elements { id, at, end, depth, .. } if at < end => self.element(id, at, depth)?,
                Frame::Entries { id, at, end, depth, .. } if at < end => self.entry(id, at, depth)?,
                Frame::Message { id, at, depth } => {
                    self.stack.pop();
                    let base = self.fields.hits.len();
                    self.value_of(id, Ranges { from: at, to: at.saturating_add(1), base }, depth)?;
                }
                Frame::Fields { base, .. }
                | Frame::Elements { base, .. }
                | Frame::Entries { base, .. }
                | Frame::End { base } => {
                    self.fields.hits.truncate(base);
                    self.stack.pop();
                    self.out.value(Event::End)?;
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, scalar: Scalar<'_>) -> Flow {
        self.out.value(Event::Scalar(scalar))
    }

    fn begin(&mut self, shape: Shape, count: u64) -> Flow {
        self.out.value(Event::Begin(shape, Some(count)))
    }

    /// Moves the innermost frame on.
    fn go_to(&mut self, next: usize) {
        match self.stack.last_mut() {
            Some(Frame::Fields { at, .. } | Frame::Elements { at, .. } | Frame::Entries { at, .. }) => *at = next,
            Some(Frame::Message { .. } | Frame::End { .. }) | None => {}
        }
    }

    /// A message as an object of its fields.
    fn object(&mut self, id: MessageId, ranges: Ranges, depth: usize) -> Flow {
        let at = self.fields.gather(id, ranges.from, ranges.to, depth);
        self.begin(Shape::Map, self.fields.runs(at))?;
        let end = self.fields.hits.len();
        self.stack.push(Frame::Fields { id, at, end, depth, base: ranges.base });
        Ok(())
    }

    /// The field at `at` with its name.
    fn field(&mut self, id: MessageId, at: usize, end: usize, depth: usize) -> Flow {
        let behind = self.fields.run_end(at, end);
        self.go_to(behind);
        let Some(field) = self.field_at(id, at) else { return Ok(()) };
        let named = self.dress == Dress::Json && !field.extension;
        let name = if named { &field.json } else { &field.name };
        self.out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(name.as_bytes()))))?;
        self.field_value(id, field, (at, behind), depth, self.fields.hits.len())
    }

    /// The field that a hit is of.
    fn field_at(&self, id: MessageId, at: usize) -> Option<&'a Field> {
        let place = usize::try_from(self.fields.hits.get(at)?.place).ok()?;
        self.fields.schema.message(id)?.fields.get(place)
    }

    /// All values of one field.
    fn field_value(
        &mut self,
        id: MessageId,
        field: &Field,
        (at, end): (usize, usize),
        depth: usize,
        base: usize,
    ) -> Flow {
        match field.cardinality {
            Cardinality::Map => {
                self.begin(Shape::Map, len64(end.saturating_sub(at)))?;
                let id = field.kind.message().unwrap_or(id);
                self.stack.push(Frame::Entries { id, at, end, depth, base });
                Ok(())
            }
            Cardinality::Repeated => {
                self.begin(Shape::List, self.elements(field, at, end))?;
                self.stack.push(Frame::Elements { id, at, end, depth, base });
                Ok(())
            }
            Cardinality::Singular => match field.kind.message() {
                Some(inner) => self.value_of(inner, Ranges { from: at, to: end, base }, depth.saturating_add(1)),
                None => match self.fields.content(at) {
                    Some(content) => self.scalar(&field.kind, content),
                    None => Ok(()),
                },
            },
        }
    }

    /// Elements of a repeated field.
    fn elements(&self, field: &Field, at: usize, end: usize) -> u64 {
        let hits = self.fields.hits.get(at..end).unwrap_or(&[]);
        let each = hits.iter().map(|hit| match hit.content() {
            Content::Packed(from, to) => Packed::new(self.fields.slice(from, to), &field.kind).count(),
            _ => 1,
        });
        each.map(len64).fold(0, u64::saturating_add)
    }

    /// The next element of a repeated field: a hit, or a number of a packed run.
    fn element(&mut self, id: MessageId, at: usize, depth: usize) -> Flow {
        self.go_to(at.saturating_add(1));
        let (Some(field), Some(content)) = (self.field_at(id, at), self.fields.content(at)) else { return Ok(()) };
        if let Some(inner) = field.kind.message() {
            let ranges = Ranges { from: at, to: at.saturating_add(1), base: self.fields.hits.len() };
            return self.value_of(inner, ranges, depth.saturating_add(1));
        }
        let Content::Packed(from, to) = content else { return self.scalar(&field.kind, content) };
        // A packed run holds nothing that has parts: it is sent at once.
        for number in Packed::new(self.fields.slice(from, to), &field.kind) {
            self.scalar(&field.kind, Content::Number(number))?;
        }
        Ok(())
    }

    /// The entry of a map at `at`: its key, then its value.
    fn entry(&mut self, id: MessageId, at: usize, depth: usize) -> Flow {
        self.go_to(at.saturating_add(1));
        let base = self.fields.hits.len();
        let start = self.fields.gather(id, at, at.saturating_add(1), depth);
        let schema = self.fields.schema;
        let Some(message) = schema.message(id) else { return Ok(()) };
        let (Some(key), Some(value)) = (message.field(1), message.field(2)) else { return Ok(()) };
        let content = self.fields.last(id, 1, start).unwrap_or(default(&key.kind));
        self.key(&key.kind, content)?;
        let Some(inner) = value.kind.message() else {
            let content = self.fields.last(id, 2, start);
            self.fields.hits.truncate(base);
            return self.scalar(&value.kind, content.unwrap_or(self.fields.default_value(&value.kind)));
        };
        // The key stands in front of the value, if it is there at all.
        let has_key = self.field_at(id, start).is_some_and(|field| field.number == 1);
        let from = start.saturating_add(usize::from(has_key));
        self.value_of(inner, Ranges { from, to: self.fields.hits.len(), base }, depth.saturating_add(1))
    }

    /// The key of an entry; JSON has text only.
    fn key(&mut self, kind: &FieldKind, content: Content) -> Flow {
        let text = match (self.dress, content) {
            (Dress::Json, Content::Number(number)) => match kind {
                FieldKind::Bool if number != 0 => "true".to_owned(),
                FieldKind::Bool => "false".to_owned(),
                _ if is_signed(kind) => signed(kind, number).to_string(),
                _ => unsigned(kind, number).to_string(),
            },
            _ => return self.scalar(kind, content),
        };
        self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())))
    }

    /// One value that has no parts.
    fn scalar(&mut self, kind: &FieldKind, content: Content) -> Flow {
        let json = self.dress == Dress::Json;
        let scalar = match content {
            Content::Bytes(from, to) => {
                let bytes = Cow::Borrowed(self.fields.slice(from, to));
                if *kind == FieldKind::String { Scalar::Text(bytes) } else { Scalar::Bytes(bytes) }
            }
            Content::Packed(..) | Content::Stray(_) | Content::Entry(_) => return Ok(()),
            Content::Number(number) => match kind {
                FieldKind::Bool => Scalar::Bool(number != 0),
                FieldKind::Double => Scalar::F64(f64::from_bits(number)),
                FieldKind::Float => return self.float(f32::from_bits(wire::low32(number))),
                FieldKind::Enum(id) => return self.named(*id, number),
                FieldKind::Uint64 | FieldKind::Fixed64 if json => {
                    let mut buffer = itoa::Buffer::new();
                    let text = buffer.format(number);
                    return self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())));
                }
                FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 if json => {
                    let mut buffer = itoa::Buffer::new();
                    let text = buffer.format(signed(kind, number));
                    return self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())));
                }
                _ if is_signed(kind) => Scalar::Int(signed(kind, number)),
                _ => Scalar::Uint(unsigned(kind, number)),
            },
        };
        self.send(scalar)
    }

    /// A float32; JSON gets its shortest decimal, which reads back as the same float32.
    fn float(&mut self, value: f32) -> Flow {
        if self.dress == Dress::Plain || !value.is_finite() {
            return self.send(Scalar::F32(value));
        }
        if value.is_subnormal() {
            return self.send(Scalar::Number(Cow::Owned(subnormal(value))));
        }
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        self.send(Scalar::Number(Cow::Borrowed(text)))
    }

    /// A value of an enumeration by its name, or by its number where it has none.
    fn named(&mut self, id: crate::model::schema::EnumId, number: u64) -> Flow {
        let number = wire::low32(number).cast_signed();
        let known = self.fields.schema.enumeration(id);
        if known.is_some_and(|known| known.full_name == NULL_VALUE) {
            return self.send(Scalar::Null);
        }
        match known.and_then(|known| known.name_of(number)) {
            Some(name) => self.out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(name.as_bytes())))),
            None => self.send(Scalar::Int(i64::from(number))),
        }
    }
}

/// What stands for a scalar that is not there.
pub fn default(kind: &FieldKind) -> Content {
    match kind {
        FieldKind::String | FieldKind::Bytes | FieldKind::Opaque(_) => Content::Bytes(0, 0),
        _ => Content::Number(0),
    }
}

/// Whether a kind has negative numbers.
pub fn is_signed(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Int32
            | FieldKind::Int64
            | FieldKind::Sint32
            | FieldKind::Sint64
            | FieldKind::Sfixed32
            | FieldKind::Sfixed64
            | FieldKind::Enum(_)
    )
}

/// The number of a signed kind; readers keep the low bits that it has room for.
pub fn signed(kind: &FieldKind, number: u64) -> i64 {
    match kind {
        FieldKind::Sint32 => wire::unzigzag(u64::from(wire::low32(number))),
        FieldKind::Sint64 => wire::unzigzag(number),
        FieldKind::Int64 | FieldKind::Sfixed64 => number.cast_signed(),
        _ => i64::from(wire::low32(number).cast_signed()),
    }
}

/// The number of an unsigned kind.
pub fn unsigned(kind: &FieldKind, number: u64) -> u64 {
    match kind {
        FieldKind::Uint32 | FieldKind::Fixed32 => u64::from(wire::low32(number)),
        _ => number,
    }
}

/// A float32 next to zero as the reference implementations write it: with six digits at least, which for all
/// others come out as the shortest decimal anyway.
fn subnormal(value: f32) -> String {
    let text = format!("{:.5e}", f64::from(value));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let short = format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    if short.parse() == Ok(value) { short } else { ryu::Buffer::new().format_finite(value).to_string() }
}
