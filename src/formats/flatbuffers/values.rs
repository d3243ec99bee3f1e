//! Sends what a buffer says, by its type: fields in the order of their ids, as `flatc --json` writes them, or in
//! the plain dress of [`Dress`]. What cannot be read is left out, and counted.
//!
//! ```text
//! a field ── found ──> where its value stands, checked ── begin ──> events
//!                                                           │ a table, struct or vector with parts
//!    innermost frame <── pushed ────────────────────────────┘
//! ```
//!
//! Offsets lead forwards, so a walk ends; but many may lead to one object, which is then sent many times:
//! [`Budget`] bounds that.

mod flex;
pub mod look;

use std::borrow::Cow;

use crate::formats::flatbuffers::values::look::{Found, List, Table, found_in_struct, found_in_table, union_value};
use crate::formats::flatbuffers::wire;
use crate::formats::{Context, Dress};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::flat::{Absent, Enum, Field, Flat, Object, Of, Scalar as Type};
use crate::model::limits::FLATBUFFERS_TABLES;
use crate::model::num::count;
use crate::model::schema::{MessageId, Schema};
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::{Bytes, Window, little_endian, little_endian_signed};

/// The variant with a size in front.
pub const SIZE_PREFIXED: &str = "size-prefixed";

/// Values and bytes of texts that are sent for each byte of a buffer: shared objects count each time.
const MOST_FOR_A_BYTE: u64 = 16;

/// Values and bytes of texts that are sent for any buffer.
const MOST_AT_LEAST: u64 = 1024 * 1024;

/// Slots that are looked at for the price of one value.
const SLOTS_FOR_A_VALUE: u64 = 8;

/// Sends the values of the one message; only value events, and sentences on what is left out. Without a type
/// nothing is sent.
///
/// # Errors
/// What stopped the walk; an input that is too large to hold is [`Stop::Refused`].
pub fn values(input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
    let Some(bound) = context.bound() else { return Ok(()) };
    let Some(bytes) = input.all(wire::LARGEST)? else {
        return Err(Stop::Refused(format!("more than {} bytes, the most that offsets reach", wire::LARGEST)));
    };
    let start = if context.variant == SIZE_PREFIXED { wire::OFFSET } else { 0 };
    let bytes = Bytes(&bytes);
    values_of(bound.schema, bound.root, bytes, (start, bytes.len()), How { depth: context.depth, dress }, out)
}

/// How values are sent.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Tables within each other before a branch is cut.
    pub depth: usize,
    /// Their dress.
    pub dress: Dress,
}

/// Sends the values of the buffer that lies at a range of bytes and begins with the offset of its root.
///
/// # Errors
/// A [`Stop`] of the sink.
pub fn values_of(
    schema: &Schema,
    root: MessageId,
    bytes: Bytes<'_>,
    (start, end): (u64, u64),
    how: How,
    out: &mut dyn Sink,
) -> Flow {
    let Some(flat) = schema.flat.as_deref() else { return Ok(()) };
    let data = Bytes(bytes.clipped(start, end));
    out.value(Event::Message(0))?;
    let mut writer =
        Writer { flat, how, out, frames: Vec::new(), budget: Budget::new(data.len()), lost: Lost::default() };
    match (flat.object(root), look::root(data)) {
        (Some(object), Some(table)) if how.depth > 0 => writer.begin_table(data, object, table, 1)?,
        _ => {
            writer.lost.unreadable = 1;
            writer.send(Scalar::Missing)?;
        }
    }
    writer.run()?;
    let lost = writer.lost;
    lost.tell(how.depth, out)
}

/// What may still be sent.
#[derive(Debug, Clone, Copy)]
struct Budget {
    values: u64,
    tables: u64,
}

impl Budget {
    fn new(size: u64) -> Budget {
        let values = size.saturating_mul(MOST_FOR_A_BYTE).saturating_add(MOST_AT_LEAST);
        Budget { values, tables: FLATBUFFERS_TABLES }
    }

    fn spent(&self) -> bool {
        self.values == 0 || self.tables == 0
    }

    fn pay(&mut self, values: u64) {
        self.values = self.values.saturating_sub(values);
    }
}

/// What is left out, counted.
#[derive(Debug, Default, Clone, Copy)]
struct Lost {
    /// Values whose offsets, counts or types lead nowhere.
    unreadable: u64,
    /// Tables past the depth.
    deep: u64,
    /// Values behind the end of the budget.
    late: bool,
}

impl Lost {
    fn tell(self, depth: usize, out: &mut dyn Sink) -> Flow {
        if self.unreadable > 0 {
            let values = count(self.unreadable, "value", "values");
            out.left_out(&format!("{values} left out whose offset, length or type leads nowhere"))?;
        }
        if self.deep > 0 {
            let tables = count(self.deep, "table", "tables");
            out.left_out(&format!("{tables} left out past {depth} tables within each other"))?;
        }
        if self.late {
            out.left_out("the rest left out: many offsets lead to the same objects, which would be written each time")?;
        }
        Ok(())
    }
}

/// What is being sent, the innermost last. Nested buffers have bytes of their own.
#[derive(Debug, Clone, Copy)]
enum Frame<'a> {
    /// The fields of a table from position `next` on.
    Fields { data: Bytes<'a>, object: &'a Object, table: Table, next: usize, depth: usize },
    /// The members of a struct.
    Members { data: Bytes<'a>, object: &'a Object, at: u64, next: usize },
    /// The elements of a vector or array.
    Elements { data: Bytes<'a>, list: List, next: u64, depth: usize },
}

struct Writer<'a, 's> {
    flat: &'a Flat,
    how: How,
    out: &'s mut dyn Sink,
    frames: Vec<Frame<'a>>,
    budget: Budget,
    lost: Lost,
}

impl<'a> Writer<'a, '_> {
    fn run(&mut self) -> Flow {
        while let Some(frame) = self.frames.last().copied() {
            let more = match frame {
                Frame::Fields { data, object, table, next, depth } => self.field(data, object, table, next, depth)?,
                Frame::Members { data, object, at, next } => self.member(data, object, at, next)?,
                Frame::Elements { data, list, next, depth } => self.element(data, list, next, depth)?,
            };
            if !more {
                self.frames.pop();
                self.out.value(Event::End)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, scalar: Scalar<'_>) -> Flow {
        self.budget.pay(1);
        self.out.value(Event::Scalar(scalar))
    }

    fn name(&mut self, field: &Field) -> Flow {
        self.out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(field.name.as_bytes()))))
    }

    /// Whether there is nothing left to send with; the first time, that is noted.
    fn spent(&mut self) -> bool {
        self.lost.late |= self.budget.spent();
        self.budget.spent()
    }

    fn begin_table(&mut self, data: Bytes<'a>, object: &'a Object, table: Table, depth: usize) -> Flow {
        self.budget.tables = self.budget.tables.saturating_sub(1);
        self.budget.pay(1u64.saturating_add(u64::from(table.slots) / SLOTS_FOR_A_VALUE));
        self.out.value(Event::Begin(Shape::Map, None))?;
        self.frames.push(Frame::Fields { data, object, table, next: 0, depth });
        Ok(())
    }

    /// The next field of a table that has something to say; false where there is none.
    fn field(
        &mut self,
        data: Bytes<'a>,
        object: &'a Object,
        table: Table,
        from: usize,
        depth: usize,
    ) -> Result<bool, Stop> {
        let fields = object.fields.get(from..).unwrap_or(&[]);
        for (place, field) in (from..).zip(fields) {
            let Some(at) = table.slot(data, field.id) else {
                self.absent(field)?;
                continue;
            };
            if self.spent() {
                return Ok(false);
            }
            let found = match found_in_table(self.flat, data, (table, at), field) {
                Some(found) if self.too_deep(found, depth) => {
                    self.lost.deep = self.lost.deep.saturating_add(1);
                    continue;
                }
                Some(found) => found,
                None => {
                    self.lost.unreadable = self.lost.unreadable.saturating_add(1);
                    continue;
                }
            };
            if let Some(Frame::Fields { next, .. }) = self.frames.last_mut() {
                *next = place.saturating_add(1);
            }
            self.name(field)?;
            self.begin(data, found, depth)?;
            if !matches!(found, Found::Value(..)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A field that is absent is left out, but for the scalar that sorts its vector.
    fn absent(&mut self, field: &Field) -> Flow {
        let Some(scalar) = self.flat.scalar(field.ty.of).filter(|_| field.key && !field.deprecated) else {
            return Ok(());
        };
        if self.spent() {
            return Ok(());
        }
        let bits = match field.default {
            Absent::Int(value) => value.cast_unsigned(),
            Absent::Uint(value) => value,
            Absent::Float(value) if scalar == Type::Float => u64::from(narrow(value).to_bits()),
            Absent::Float(value) => value.to_bits(),
            Absent::None | Absent::Text(_) | Absent::EmptyVector => 0,
        };
        let bytes = bits.to_le_bytes();
        self.name(field)?;
        self.scalar(field.ty.of, bytes.get(..usize::from(scalar.size())).unwrap_or(&bytes))
    }

    fn too_deep(&self, found: Found<'_>, depth: usize) -> bool {
        matches!(found, Found::Table(..) | Found::Nested(..)) && depth >= self.how.depth
    }

    /// The next member of a struct.
    fn member(&mut self, data: Bytes<'a>, object: &'a Object, at: u64, from: usize) -> Result<bool, Stop> {
        for field in object.fields.get(from..).unwrap_or(&[]) {
            if let Some(Frame::Members { next, .. }) = self.frames.last_mut() {
                *next = next.saturating_add(1);
            }
            let Some(found) = found_in_struct(self.flat, data, at, field) else { continue };
            if self.spent() {
                return Ok(false);
            }
            self.name(field)?;
            self.begin(data, found, 0)?;
            if !matches!(found, Found::Value(..)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next element of a list whose elements have parts.
    fn element(&mut self, data: Bytes<'a>, list: List, place: u64, depth: usize) -> Result<bool, Stop> {
        if place >= list.count || self.spent() {
            return Ok(false);
        }
        if let Some(Frame::Elements { next, .. }) = self.frames.last_mut() {
            *next = place.saturating_add(1);
        }
        let at = list.at.saturating_add(place.saturating_mul(list.stride));
        let found = match list.union {
            Some(union) => union_value(self.flat, data, at, union.kind(data, place)),
            None => look::found(self.flat, data, at, list.of),
        };
        match found {
            Some(found) if self.too_deep(found, depth) => self.lost.deep = self.lost.deep.saturating_add(1),
            Some(found) => {
                self.begin(data, found, depth)?;
                return Ok(true);
            }
            None => self.lost.unreadable = self.lost.unreadable.saturating_add(1),
        }
        self.send(Scalar::Missing)?;
        Ok(true)
    }

    /// Sends a value, or begins it where it has parts.
    fn begin(&mut self, data: Bytes<'a>, found: Found<'a>, depth: usize) -> Flow {
        let flat = self.flat;
        match found {
            Found::Value(of, bytes) => self.scalar(of, bytes),
            Found::Text(bytes) => {
                self.budget.pay(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                self.send(Scalar::Text(Cow::Borrowed(bytes)))
            }
            Found::Table(id, table) => match flat.object(id) {
                Some(object) => self.begin_table(data, object, table, depth.saturating_add(1)),
                None => self.send(Scalar::Missing),
            },
            Found::Nested(id, _, inner, table) if self.how.dress == Dress::Json => match flat.object(id) {
                Some(object) => self.begin_table(inner, object, table, depth.saturating_add(1)),
                None => self.send(Scalar::Missing),
            },
            Found::Flex(list, bytes) if self.how.dress == Dress::Json => {
                // What is no FlexBuffer is still bytes.
                match flex::Reader::new(Bytes(bytes)) {
                    Some(reader) => self.flexbuffer(&reader),
                    None => self.list(data, list, depth),
                }
            }
            Found::Nested(_, list, ..) | Found::Flex(list, _) | Found::List(list) => self.list(data, list, depth),
            Found::Struct(id, at) => match flat.object(id) {
                Some(object) => {
                    self.budget.pay(1);
                    self.out.value(Event::Begin(Shape::Map, None))?;
                    self.frames.push(Frame::Members { data, object, at, next: 0 });
                    Ok(())
                }
                None => self.send(Scalar::Missing),
            },
        }
    }

    fn flexbuffer(&mut self, reader: &flex::Reader<'_>) -> Flow {
        let (spent, whole) = reader.send(self.budget.values, self.how.depth, self.out)?;
        self.budget.pay(spent);
        self.lost.unreadable = self.lost.unreadable.saturating_add(u64::from(!whole));
        Ok(())
    }

    /// A vector or array. Scalars are sent at once: they hold nothing that has parts.
    fn list(&mut self, data: Bytes<'a>, list: List, depth: usize) -> Flow {
        let end = list.at.saturating_add(list.count.saturating_mul(list.stride));
        let bytes = data.clipped(list.at, end);
        if self.how.dress == Dress::Plain && list.is_bytes() {
            self.budget.pay(list.count);
            return self.send(Scalar::Bytes(Cow::Borrowed(bytes)));
        }
        self.budget.pay(1);
        self.out.value(Event::Begin(Shape::List, Some(list.count)))?;
        if !matches!(list.of, Of::Scalar(_) | Of::Enum(_) | Of::UnionType(_) | Of::Raw(_)) {
            self.frames.push(Frame::Elements { data, list, next: 0, depth });
            return Ok(());
        }
        for each in bytes.chunks_exact(usize::try_from(list.stride.max(1)).unwrap_or(1)) {
            if self.spent() {
                break;
            }
            self.scalar(list.of, each)?;
        }
        self.out.value(Event::End)
    }

    /// One scalar or enumerated value.
    fn scalar(&mut self, of: Of, bytes: &[u8]) -> Flow {
        let Some(scalar) = self.flat.scalar(of) else { return self.raw(bytes) };
        if scalar == Type::Bool {
            return self.send(Scalar::Bool(little_endian(bytes) != 0));
        }
        match of {
            Of::Enum(id) | Of::UnionType(id) => {
                let number =
                    if scalar.is_signed() { little_endian_signed(bytes) } else { little_endian(bytes).cast_signed() };
                let text = self.flat.enumeration(id).and_then(|one| enumerated(one, number));
                if let Some(text) = text {
                    return self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())));
                }
            }
            Of::Scalar(_) | Of::Text | Of::Struct(_) | Of::Table(_) | Of::Union(_) | Of::Raw(_) => {}
        }
        match scalar {
            Type::Float => self.float(f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0))),
            Type::Double => self.send(Scalar::F64(f64::from_bits(little_endian(bytes)))),
            _ if scalar.is_signed() => self.send(Scalar::Int(little_endian_signed(bytes))),
            _ => self.send(Scalar::Uint(little_endian(bytes))),
        }
    }

    /// A float32; JSON gets its shortest decimal, which reads back as the same float32.
    fn float(&mut self, value: f32) -> Flow {
        if self.how.dress == Dress::Plain || !value.is_finite() {
            return self.send(Scalar::F32(value));
        }
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        self.send(Scalar::Number(Cow::Borrowed(text)))
    }

    /// Bytes whose type nobody knows: most scalars are integers, and small ones of either sign look right.
    fn raw(&mut self, bytes: &[u8]) -> Flow {
        self.send(Scalar::Int(little_endian_signed(bytes)))
    }
}

/// A float64 as the float32 next to it.
#[allow(clippy::cast_possible_truncation, reason = "the nearest float32 is what is stored")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// A value by its name, flags as `A B`; none where names do not cover it.
fn enumerated(one: &Enum, number: i64) -> Option<Cow<'_, str>> {
    if let Some(value) = one.member(number) {
        return Some(Cow::Borrowed(&value.name));
    }
    if !one.bit_flags || number == 0 {
        return None;
    }
    let set = one.values.iter().filter(|value| value.number & number != 0);
    let covered = set.clone().fold(0, |bits, value| bits | value.number);
    let names: Vec<&str> = set.map(|value| value.name.as_str()).collect();
    (covered == number).then(|| Cow::Owned(names.join(" ")))
}
