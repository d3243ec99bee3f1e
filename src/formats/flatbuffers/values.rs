//! What a buffer says, as values: fields in the order of their ids, absent ones left out, enumerated values by name,
//! as `flatc --json --strict-json` writes them.
//!
//! Nothing here recurses on input. A table that many offsets lead to is sent each time, as readers see it, up to the
//! number of tables that the official verifiers visit.

use std::borrow::Cow;

use crate::formats::flatbuffers::decode::buffer_of;
use crate::formats::flatbuffers::found::Buffer;
use crate::formats::flatbuffers::table::{Vtable, field_width, vtable_at};
use crate::formats::flatbuffers::{guess, wire, words};
use crate::formats::{Context, Dress};
use crate::model::events::{Flow, Sink};
use crate::model::flat::{Absent, EnumId, Field, Flat, Of, Scalar as Type, Shape};
use crate::model::limits;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape as Container, float32_words};
use crate::wire::reader::{Bytes, Window, little_endian};

mod flex;

/// Bytes of text and scalars that are sent for each byte of the input, before the rest is left out.
const AMPLIFIED: u64 = 64;

/// Sends the values of a buffer.
///
/// # Errors
/// What stopped the walk.
pub fn values(input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
    let bytes = input.all(u64::MAX)?.unwrap_or_default();
    let bytes = Bytes(&bytes);
    let buffer = buffer_of(bytes, context.variant);
    let guessed;
    let (flat, root) = match context.bound().and_then(|bound| Some((bound.schema.flat.as_deref()?, bound.root))) {
        Some(bound) => bound,
        None => {
            guessed = guess::guess(bytes, buffer);
            (&guessed.flat, guessed.root)
        }
    };
    out.value(Event::Message(0))?;
    let left = bytes.len().saturating_mul(AMPLIFIED).saturating_add(64 << 20);
    let limit = u64::try_from(context.depth).unwrap_or(u64::MAX);
    let mut writer = Writer { bytes, flat, dress, out, stack: Vec::new(), tables: 0, left, limit, cut: false };
    writer.root(buffer, root)?;
    writer.run()?;
    if writer.cut {
        out.left_out("tables that are reached in more ways, or lie deeper, than the official verifiers follow")?;
    }
    Ok(())
}

/// What is being sent, the innermost last.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// Fields of a table, from the one at `next` on.
    Table { at: u64, vtable: Vtable, ty: MessageId, next: usize, buffer: Buffer },
    /// Members of a struct.
    Struct { at: u64, ty: MessageId, next: usize },
    /// Elements of a vector, or of an array in a struct; `types` is where the types of unions stand.
    List { at: u64, of: Of, next: u64, count: u64, types: Option<u64>, buffer: Buffer },
}

struct Writer<'a, 's> {
    bytes: Bytes<'a>,
    flat: &'a Flat,
    dress: Dress,
    out: &'s mut dyn Sink,
    stack: Vec<Frame>,
    /// Tables sent.
    tables: u64,
    /// Bytes that may still be sent.
    left: u64,
    /// Tables within each other.
    limit: u64,
    cut: bool,
}

impl<'a> Writer<'a, '_> {
    fn send(&mut self, scalar: Scalar<'_>) -> Flow {
        self.out.value(Event::Scalar(scalar))
    }

    fn key(&mut self, name: &str) -> Flow {
        self.send(Scalar::Text(Cow::Borrowed(name.as_bytes())))
    }

    /// The root table of a buffer; an empty object where there is none.
    fn root(&mut self, buffer: Buffer, root: MessageId) -> Flow {
        match self.target(buffer.start, false, buffer) {
            Some(at) if self.is_table(at, buffer) => self.table(at, root, buffer),
            _ => {
                self.out.value(Event::Begin(Container::Map, Some(0)))?;
                self.out.value(Event::End)
            }
        }
    }

    fn run(&mut self) -> Flow {
        while let Some(frame) = self.stack.last().copied() {
            match frame {
                Frame::Table { at, vtable, ty, next, buffer } => self.next_field(at, vtable, ty, next, buffer)?,
                Frame::Struct { at, ty, next } => self.next_member(at, ty, next)?,
                Frame::List { at, of, next, count, types, buffer } => {
                    if next < count {
                        self.advance(|frame| {
                            if let Frame::List { next, .. } = frame {
                                *next = next.saturating_add(1)
                            }
                        });
                        self.element(at, of, next, types, buffer)?;
                    } else {
                        self.end()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, step: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.stack.last_mut() {
            step(frame);
        }
    }

    fn end(&mut self) -> Flow {
        self.stack.pop();
        self.out.value(Event::End)
    }

    /// Where an offset leads, if that is inside its buffer.
    fn target(&self, at: u64, wide: bool, buffer: Buffer) -> Option<u64> {
        let offset = if wide { self.bytes.u64(at)? } else { u64::from(self.bytes.u32(at)?) };
        let to = at.checked_add(offset).filter(|_| offset > 0)?;
        (to.checked_add(wire::OFFSET)? <= buffer.end).then_some(to)
    }

    fn is_table(&self, at: u64, buffer: Buffer) -> bool {
        vtable_at(self.bytes, at, buffer.start, buffer.end).is_ok()
    }

    fn table(&mut self, at: u64, ty: MessageId, buffer: Buffer) -> Flow {
        let Ok(vtable) = vtable_at(self.bytes, at, buffer.start, buffer.end) else { return Ok(()) };
        self.tables = self.tables.saturating_add(1);
        self.out.value(Event::Begin(Container::Map, None))?;
        self.stack.push(Frame::Table { at, vtable, ty, next: 0, buffer });
        Ok(())
    }

    /// Whether a further table may be sent; what may not is left out, and that is said.
    fn may_go_on(&mut self) -> bool {
        let depth = self.stack.iter().filter(|frame| matches!(frame, Frame::Table { .. })).count();
        let go = self.tables < limits::FLATBUFFERS_TABLES
            && self.left > 0
            && u64::try_from(depth).is_ok_and(|depth| depth < self.limit);
        self.cut |= !go;
        go
    }

    fn next_field(&mut self, at: u64, vtable: Vtable, ty: MessageId, next: usize, buffer: Buffer) -> Flow {
        let flat = self.flat;
        let fields = flat.object(ty).map_or(&[][..], |object| &object.fields);
        let Some(field) = fields.get(next) else { return self.end() };
        self.advance(|frame| {
            if let Frame::Table { next, .. } = frame {
                *next = next.saturating_add(1)
            }
        });
        let Some(place) = vtable.field(self.bytes, at, field.id) else { return self.absent(field) };
        let end = at.saturating_add(vtable.table_size).min(buffer.end);
        let width = field_width(field, flat);
        if place < at.saturating_add(wire::OFFSET) || place.saturating_add(width) > end {
            return Ok(());
        }
        match field.ty.shape {
            Shape::Vector | Shape::Vector64 => self.vector(at, vtable, place, field, buffer),
            Shape::Array(_) => Ok(()),
            Shape::One => self.single(at, vtable, place, field, buffer),
        }
    }

    /// A field that is not there: the key of a table is sent all the same, as flatc does.
    fn absent(&mut self, field: &Field) -> Flow {
        if !field.key || self.flat.scalar(field.ty.of).is_none() {
            return Ok(());
        }
        let value = match (&field.default, field.ty.of) {
            (Absent::Int(number), Of::Enum(id)) => match enum_name(self.flat, id, *number) {
                Some(name) => Scalar::Text(Cow::Owned(name.into_bytes())),
                None => Scalar::Int(*number),
            },
            (Absent::Int(number), Of::Scalar(Type::Bool)) => Scalar::Bool(*number != 0),
            (Absent::Int(number), _) => Scalar::Int(*number),
            (Absent::Uint(number), _) => Scalar::Uint(*number),
            (Absent::Float(number), _) => Scalar::F64(*number),
            _ => return Ok(()),
        };
        self.key(&field.name)?;
        self.send(value)
    }

    fn single(&mut self, at: u64, vtable: Vtable, place: u64, field: &'a Field, buffer: Buffer) -> Flow {
        match field.ty.of {
            Of::Text => {
                let Some(text) = self.text_at(place, field.offset64, buffer) else { return Ok(()) };
                self.key(&field.name)?;
                self.text(text)
            }
            Of::Table(id) => {
                let Some(to) = self.target(place, false, buffer).filter(|to| self.is_table(*to, buffer)) else {
                    return Ok(());
                };
                if !self.may_go_on() {
                    return Ok(());
                }
                self.key(&field.name)?;
                self.table(to, id, buffer)
            }
            Of::Union(id) => {
                let ty = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id));
                let ty = ty.map_or(0, |ty| self.number(ty, id));
                let Some(to) = self.target(place, false, buffer) else { return Ok(()) };
                let Some(of) = self.member(id, ty).filter(|of| self.holds(*of, to, buffer)) else { return Ok(()) };
                self.key(&field.name)?;
                self.union(of, to, buffer)
            }
            Of::Struct(id) => {
                self.key(&field.name)?;
                self.structure(place, id)
            }
            of => {
                self.key(&field.name)?;
                self.scalar(place, of)
            }
        }
    }

    /// The number of a union's type at a place.
    fn number(&self, at: u64, id: EnumId) -> u64 {
        let size = self.flat.enumeration(id).map_or(1, |one| one.base.size());
        little_endian(self.bytes.clipped(at, at.saturating_add(u64::from(size))))
    }

    fn member(&self, id: EnumId, number: u64) -> Option<Of> {
        self.flat.enumeration(id)?.member(i64::try_from(number).ok()?)?.member
    }

    /// Whether what a union leads to can be sent.
    fn holds(&mut self, of: Of, to: u64, buffer: Buffer) -> bool {
        match of {
            Of::Table(_) => self.is_table(to, buffer) && self.may_go_on(),
            Of::Struct(_) => to.saturating_add(self.flat.width(of)) <= buffer.end,
            _ => self.text_behind(to, buffer).is_some(),
        }
    }

    fn union(&mut self, of: Of, to: u64, buffer: Buffer) -> Flow {
        match of {
            Of::Table(id) => self.table(to, id, buffer),
            Of::Struct(id) => self.structure(to, id),
            _ => match self.text_behind(to, buffer) {
                Some(text) => self.text(text),
                None => self.send(Scalar::Null),
            },
        }
    }

    fn text_at(&self, place: u64, wide: bool, buffer: Buffer) -> Option<&'a [u8]> {
        self.text_behind(self.target(place, wide, buffer)?, buffer)
    }

    /// The bytes of the string at `to`, as far as the buffer has them.
    fn text_behind(&self, to: u64, buffer: Buffer) -> Option<&'a [u8]> {
        let from = to.checked_add(wire::OFFSET)?;
        let end = from.checked_add(u64::from(self.bytes.u32(to)?))?;
        if end > buffer.end { None } else { self.bytes.range(from, end) }
    }

    fn text(&mut self, text: &[u8]) -> Flow {
        self.left = self.left.saturating_sub(crate::model::num::len64(text.len()).saturating_add(1));
        if self.left == 0 {
            self.cut = true;
            return self.send(Scalar::Null);
        }
        self.send(Scalar::Text(Cow::Borrowed(text)))
    }

    fn vector(&mut self, at: u64, vtable: Vtable, place: u64, field: &'a Field, buffer: Buffer) -> Flow {
        let wide = field.ty.shape == Shape::Vector64;
        let Some(to) = self.target(place, field.offset64, buffer) else { return Ok(()) };
        let count = if wide { self.bytes.u64(to) } else { self.bytes.u32(to).map(u64::from) };
        let from = to.saturating_add(if wide { wire::OFFSET64 } else { wire::OFFSET });
        let width = self.flat.width(field.ty.of);
        let fit = buffer.end.saturating_sub(from).checked_div(width).unwrap_or(0);
        let Some(count) = count.filter(|count| *count <= fit) else { return Ok(()) };
        let types = match field.ty.of {
            Of::Union(_) => {
                let place = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id));
                let types = place.and_then(|place| self.target(place, false, buffer));
                match types.filter(|types| self.bytes.u32(*types).map(u64::from) == Some(count)) {
                    Some(types) => Some(types),
                    None => return Ok(()),
                }
            }
            _ => None,
        };
        self.key(&field.name)?;
        let end = from.saturating_add(count.saturating_mul(width));
        if let Some(root) = field.nested {
            let nested = Buffer { start: from, origin: from, end };
            if self.target(from, false, nested).is_some_and(|root| self.is_table(root, nested)) && self.may_go_on() {
                return self.root(nested, root);
            }
        }
        if field.flexbuffer
            && let Some(root) = flex::Root::of(self.bytes.clipped(from, end))
        {
            return flex::send(root, self.out);
        }
        if self.dress == Dress::Plain && field.ty.of == Of::Scalar(Type::Ubyte) {
            self.left = self.left.saturating_sub(count.saturating_add(1));
            return self.send(Scalar::Bytes(Cow::Borrowed(self.bytes.clipped(from, end))));
        }
        self.list(from, field.ty.of, count, types, buffer)
    }

    fn list(&mut self, at: u64, of: Of, count: u64, types: Option<u64>, buffer: Buffer) -> Flow {
        self.left = self.left.saturating_sub(count.saturating_add(1));
        let count = if self.left == 0 { 0 } else { count };
        self.cut |= self.left == 0;
        self.out.value(Event::Begin(Container::List, Some(count)))?;
        self.stack.push(Frame::List { at, of, next: 0, count, types, buffer });
        Ok(())
    }

    fn element(&mut self, at: u64, of: Of, index: u64, types: Option<u64>, buffer: Buffer) -> Flow {
        let place = at.saturating_add(index.saturating_mul(self.flat.width(of)));
        match of {
            Of::Text => match self.text_at(place, false, buffer) {
                Some(text) => self.text(text),
                None => self.send(Scalar::Missing),
            },
            Of::Table(id) => match self.target(place, false, buffer).filter(|to| self.is_table(*to, buffer)) {
                Some(to) if self.may_go_on() => self.table(to, id, buffer),
                _ => self.send(Scalar::Missing),
            },
            Of::Union(id) => {
                let each = self.flat.enumeration(id).map_or(1, |one| u64::from(one.base.size()));
                let ty = types.map_or(0, |types| {
                    self.number(types.saturating_add(wire::OFFSET).saturating_add(index.saturating_mul(each)), id)
                });
                let to = self.target(place, false, buffer);
                let of = self.member(id, ty);
                match to.zip(of).filter(|(to, of)| self.holds(*of, *to, buffer)) {
                    Some((to, of)) => self.union(of, to, buffer),
                    None => self.send(Scalar::Missing),
                }
            }
            Of::Struct(id) => self.structure(place, id),
            of => self.scalar(place, of),
        }
    }

    fn structure(&mut self, at: u64, ty: MessageId) -> Flow {
        self.out.value(Event::Begin(Container::Map, None))?;
        self.stack.push(Frame::Struct { at, ty, next: 0 });
        Ok(())
    }

    fn next_member(&mut self, at: u64, ty: MessageId, next: usize) -> Flow {
        let flat = self.flat;
        let fields = flat.object(ty).map_or(&[][..], |object| &object.fields);
        let Some(field) = fields.get(next) else { return self.end() };
        self.advance(|frame| {
            if let Frame::Struct { next, .. } = frame {
                *next = next.saturating_add(1)
            }
        });
        let place = at.saturating_add(u64::from(field.offset));
        self.key(&field.name)?;
        match (field.ty.shape, field.ty.of) {
            (Shape::Array(count), of) => {
                let buffer = Buffer { start: 0, origin: 0, end: 0 };
                self.list(place, of, u64::from(count), None, buffer)
            }
            (_, Of::Struct(id)) => self.structure(place, id),
            (_, of) => self.scalar(place, of),
        }
    }

    /// A value in place.
    fn scalar(&mut self, at: u64, of: Of) -> Flow {
        let flat = self.flat;
        if let Of::Raw(width) = of {
            let bytes = self.bytes.clipped(at, at.saturating_add(u64::from(width)));
            return self.send(guess::value(bytes));
        }
        let Some(ty) = flat.scalar(of) else { return self.send(Scalar::Null) };
        let bytes = self.bytes.clipped(at, at.saturating_add(u64::from(ty.size())));
        if let Of::Enum(id) | Of::UnionType(id) = of {
            let name = enum_name(flat, id, words::integer(ty, bytes));
            if let Some(name) = name {
                return self.send(Scalar::Text(Cow::Owned(name.into_bytes())));
            }
        }
        self.send(scalar(ty, bytes, self.dress))
    }
}

/// The names of an enumerated value, flags with blanks between; none where the schema has none for all of it.
fn enum_name(flat: &Flat, id: EnumId, number: i64) -> Option<String> {
    let one = flat.enumeration(id)?;
    if let Some(name) = flat.value_name(id, number) {
        return Some(name.to_string());
    }
    if !one.bit_flags || number == 0 {
        return None;
    }
    let set = one.values.iter().filter(|value| value.number != 0 && number & value.number == value.number);
    let (rest, names) = set.fold((number, Vec::new()), |(rest, mut names), value| {
        names.push(value.name.as_str());
        (rest & !value.number, names)
    });
    (rest == 0).then(|| names.join(" "))
}

/// A scalar of a type.
fn scalar(ty: Type, bytes: &[u8], dress: Dress) -> Scalar<'static> {
    match ty {
        Type::Bool => Scalar::Bool(bytes.first().is_some_and(|byte| *byte != 0)),
        Type::Float => {
            let value = f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0));
            // In JSON a float has the digits of a float, not those of the double that it is.
            if dress == Dress::Json && value.is_finite() {
                return Scalar::Number(Cow::Owned(float32_words(value)));
            }
            Scalar::F32(value)
        }
        Type::Double => Scalar::F64(f64::from_bits(little_endian(bytes))),
        _ if ty.is_signed() => Scalar::Int(words::integer(ty, bytes)),
        _ => Scalar::Uint(little_endian(bytes)),
    }
}
