//! What messages say, as values: as `capnp convert binary:json` writes them where there is a schema, else words and
//! pointers by number.
//!
//! Nothing here recurses on input. An object that many pointers lead to is sent each time, as readers see it, up to
//! the words that readers visit.

use std::borrow::Cow;

use crate::formats::capnp::decode::{messages, unpacked};
use crate::formats::capnp::faults::{Fault, Wrong};
use crate::formats::capnp::layout::bits_at;
use crate::formats::capnp::message::{Message, Messages, Segment};
use crate::formats::capnp::names::{Bytes as BytesAs, Discriminator, JSON_VALUE, Names};
use crate::formats::capnp::resolve::{self, Is, Place, Target};
use crate::formats::capnp::wire::{ElementSize, Pointer, WORD, pointer};
use crate::formats::{Context, Dress};
use crate::model::capnp::{Capnp, FieldKind, Slot, Type};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape as Container};
use crate::wire::reader::{Bytes, ReadError, Window, little_endian};

mod blind;
mod json_value;
mod sections;

use sections::{Sections, blob, sections, words_of};

/// Sends the values of all messages.
///
/// # Errors
/// What stopped the walk.
pub fn values(input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
    let all = input.all(u64::MAX)?.unwrap_or_default();
    let all = unpacked(all, context.variant);
    let bytes = Bytes(&all);
    let messages = messages(bytes, context.variant);
    let capnp = context.bound().and_then(|bound| Some((bound.schema.capnp.as_deref()?, bound.root)));
    let empty = Capnp::default();
    let names = Names::new(capnp.map_or(&empty, |(capnp, _)| capnp));
    for fault in &messages.faults {
        out.diagnostic(&fault.told())?;
    }
    let mut cut = false;
    let mut unnamed = false;
    for (number, message) in (0u64..).zip(&messages.list) {
        out.value(Event::Message(number))?;
        let mut writer = Writer {
            bytes,
            capnp: capnp.map_or(&empty, |(capnp, _)| capnp),
            names: &names,
            segments: segments(&messages, message),
            first: message.first,
            dress,
            out,
            stack: Vec::new(),
            left: limits::CAPNP_TRAVERSAL,
            limit: context.depth,
            cut: None,
            unnamed: false,
            faults: Vec::new(),
        };
        writer.root(capnp.map(|(_, root)| root))?;
        cut |= writer.cut.is_some();
        unnamed |= writer.unnamed && capnp.is_some();
    }
    if cut {
        out.left_out("what lies deeper, or is reached in more ways, than readers follow")?;
    }
    if unnamed {
        out.left_out("the types of AnyPointer values, which stand as words and pointers, and capabilities")?;
    }
    Ok(())
}

/// How many messages an input holds.
///
/// # Errors
/// Input that cannot be read.
pub fn messages_in(input: &mut Window, context: &Context<'_>) -> Result<u64, ReadError> {
    let all = unpacked(input.all(u64::MAX)?.unwrap_or_default(), context.variant);
    Ok(len64(messages(Bytes(&all), context.variant).list.len()))
}

fn segments<'a>(messages: &'a Messages, message: &Message) -> &'a [Segment] {
    let from = usize::try_from(message.first).unwrap_or(usize::MAX);
    let to = from.saturating_add(usize::try_from(message.count).unwrap_or(0));
    messages.segments.get(from..to).unwrap_or(&[])
}

/// What is being sent, the innermost last.
#[derive(Debug, Clone)]
enum Frame {
    /// Fields of a struct or group, from the one at `next` on; the member of the union that is set comes last.
    Struct {
        at: Sections,
        ty: MessageId,
        next: usize,
        prefix: String,
        discriminator: Option<Discriminator>,
        flat: bool,
    },
    /// Elements of a list that are values in place.
    Numbers { at: u64, ty: Type, bits: u64, next: u64, count: u64 },
    /// Elements of a list of pointers.
    Pointers { at: u64, ty: Option<Type>, next: u64, count: u64, segment: u32 },
    /// Elements that are structs.
    Structs { at: Sections, ty: Option<Type>, stride: u64, next: u64, count: u64 },
    /// Words and pointers of a struct without a type.
    Blind { at: Sections, next: u64 },
}

struct Writer<'a, 's> {
    bytes: Bytes<'a>,
    capnp: &'a Capnp,
    names: &'s Names,
    segments: &'a [Segment],
    first: u32,
    dress: Dress,
    out: &'s mut dyn Sink,
    stack: Vec<Frame>,
    /// Words that may still be sent.
    left: u64,
    limit: usize,
    /// What the limits cut off.
    cut: Option<Wrong>,
    /// Something without a type was sent.
    unnamed: bool,
    /// Findings that are not sent yet.
    faults: Vec<Fault>,
}

/// Findings of one struct or list that are kept until they are sent.
const MOST_FAULTS: usize = 64;

impl Writer<'_, '_> {
    fn root(&mut self, root: Option<MessageId>) -> Flow {
        let start = self.segments.first().filter(|segment| segment.start < segment.end).map(|segment| segment.start);
        let found = start.and_then(|at| {
            let place = Place { at, segment: self.first };
            self.target(place, root.map_or(Type::AnyStruct, Type::Struct))
        });
        match (found, root) {
            (Some((target, segment)), Some(root)) => {
                let at = sections(&target, segment);
                self.record(at, root)?;
            }
            (Some((target, segment)), None) => self.blind(sections(&target, segment))?,
            (None, Some(root)) => self.record(Sections { at: 0, bytes: 0, pointers: 0, segment: self.first }, root)?,
            (None, None) => {
                self.out.value(Event::Begin(Container::Map, Some(0)))?;
                self.out.value(Event::End)?;
            }
        }
        self.run()
    }

    fn run(&mut self) -> Flow {
        while let Some(frame) = self.stack.last_mut() {
            if !self.faults.is_empty() {
                self.send_faults()?;
                continue;
            }
            match frame {
                Frame::Struct { next, .. } => {
                    let field = *next;
                    *next = next.saturating_add(1);
                    self.field(field)?;
                }
                Frame::Numbers { at, ty, bits, next, count } => {
                    let (at, ty, bits, index, count) = (*at, *ty, *bits, *next, *count);
                    *next = next.saturating_add(1);
                    if index >= count { self.end()? } else { self.number(at, ty, bits, index)? }
                }
                Frame::Pointers { at, ty, next, count, segment } => {
                    let at = at.saturating_add(next.saturating_mul(WORD));
                    let (ty, segment, done) = (*ty, *segment, *next >= *count);
                    *next = next.saturating_add(1);
                    if done { self.end()? } else { self.pointer(Place { at, segment }, ty)? }
                }
                Frame::Structs { at, ty, stride, next, count } => {
                    let here = Sections { at: at.at.saturating_add(next.saturating_mul(*stride)), ..*at };
                    let (ty, done) = (*ty, *next >= *count);
                    *next = next.saturating_add(1);
                    if done { self.end()? } else { self.element(here, ty)? }
                }
                Frame::Blind { next, .. } => {
                    let index = *next;
                    *next = next.saturating_add(1);
                    self.blind_part(index)?;
                }
            }
        }
        self.send_faults()
    }

    fn end(&mut self) -> Flow {
        self.stack.pop();
        self.out.value(Event::End)
    }

    fn send(&mut self, scalar: Scalar<'_>) -> Flow {
        self.out.value(Event::Scalar(scalar))
    }

    fn text(&mut self, text: &str) -> Flow {
        self.send(Scalar::Text(Cow::Borrowed(text.as_bytes())))
    }

    /// What a pointer leads to, and the segment of that; none for null, for what is wrong, and past the limits.
    fn target(&mut self, place: Place, ty: Type) -> Option<(Target, u32)> {
        self.target_of(place, Some(ty))
    }

    fn target_of(&mut self, place: Place, ty: Option<Type>) -> Option<(Target, u32)> {
        if self.bytes.u64(place.at)? == 0 {
            return None;
        }
        let found = match resolve::resolve(self.bytes, (self.segments, self.first), place) {
            Ok(found) => found,
            Err(fault) => return self.refused(fault.start, fault.what),
        };
        let target = match resolve::check(self.bytes, &found, ty, Some(self.capnp)) {
            Ok(target) => target,
            Err(what) => return self.refused(found.fault_at(what, place), what),
        };
        if let Some((at, what)) = target.wrong {
            self.refused(at, what);
        }
        if matches!(pointer(found.word), Pointer::Null | Pointer::Capability(_)) {
            return None;
        }
        let cost = target.words.saturating_add(1);
        let deep = self.stack.iter().filter(|frame| !self.is_group(frame)).count();
        let what = match (cost > self.left, deep >= self.limit) {
            (true, _) => Wrong::Traversal(limits::CAPNP_TRAVERSAL.saturating_add(1)),
            (_, true) => Wrong::Depth(u64::try_from(self.limit).unwrap_or(u64::MAX)),
            _ => {
                self.left = self.left.saturating_sub(cost);
                return Some((target, found.segment));
            }
        };
        if self.cut.is_none() {
            self.cut = Some(what);
            return self.refused(place.at, what);
        }
        None
    }

    /// Whether a frame stands in the sections of the one around it.
    fn is_group(&self, frame: &Frame) -> bool {
        match frame {
            Frame::Struct { ty, .. } => self.capnp.record(*ty).is_some_and(|record| record.is_group),
            _ => false,
        }
    }

    /// Keeps a finding, which [`Writer::run`] sends.
    fn refused(&mut self, start: u64, what: Wrong) -> Option<(Target, u32)> {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { start, end: start.saturating_add(WORD).min(self.bytes.len()), what });
        }
        None
    }

    fn send_faults(&mut self) -> Flow {
        for fault in std::mem::take(&mut self.faults) {
            self.out.diagnostic(&fault.told())?;
        }
        Ok(())
    }

    /// Begins a struct of a known type.
    fn record(&mut self, at: Sections, ty: MessageId) -> Flow {
        if self.capnp.record(ty).is_some_and(|record| record.id == JSON_VALUE) {
            return json_value::send(self, at, ty);
        }
        let discriminator = self.names.shape(ty).and_then(|shape| shape.own.clone());
        self.out.value(Event::Begin(Container::Map, None))?;
        let prefix = String::new();
        self.stack.push(Frame::Struct { at, ty, next: 0, prefix, discriminator, flat: false });
        Ok(())
    }

    fn data(&self, at: Sections) -> &[u8] {
        self.bytes.clipped(at.at, at.at.saturating_add(at.bytes))
    }

    /// Sends the field at a position of the innermost struct, if it is there.
    fn field(&mut self, position: usize) -> Flow {
        let Some(Frame::Struct { at, ty, prefix, discriminator, flat, .. }) = self.stack.last().cloned() else {
            return Ok(());
        };
        let capnp = self.capnp;
        let Some(record) = capnp.record(ty) else { return self.end() };
        if position < record.fields.len() {
            return match record.fields.get(position) {
                Some(field) if field.tag.is_none() => self.member(at, ty, position, &prefix, None),
                _ => Ok(()),
            };
        }
        let set = record.tag.and_then(|tag| {
            let bits = bits_at(self.data(at), tag.saturating_mul(16), 16);
            record.fields.iter().position(|field| field.tag.is_some_and(|tag| u64::from(tag) == bits))
        });
        if position == record.fields.len()
            && let Some(set) = set
        {
            return self.member(at, ty, set, &prefix, discriminator.as_ref());
        }
        if flat {
            self.stack.pop();
            return Ok(());
        }
        self.end()
    }

    /// Sends a field under its name. `union` is the discriminator, for the member of a union that is set.
    fn member(
        &mut self,
        at: Sections,
        ty: MessageId,
        position: usize,
        prefix: &str,
        union: Option<&Discriminator>,
    ) -> Flow {
        let (capnp, names) = (self.capnp, self.names);
        let Some(field) = capnp.record(ty).and_then(|record| record.fields.get(position)) else { return Ok(()) };
        let Some(named) = names.shape(ty).and_then(|shape| shape.fields.get(position)) else { return Ok(()) };
        let is_member = field.tag.is_some();
        if let Some(union) = union.filter(|union| !union.name.is_empty()) {
            self.text(&format!("{prefix}{}", union.name))?;
            self.text(&named.tag)?;
        }
        let name = match union {
            Some(union) if !union.value.is_empty() => &union.value,
            _ => &named.name,
        };
        let full = || format!("{prefix}{name}");
        match &field.kind {
            FieldKind::Group(group) => {
                let inner = named.inner.clone().map(|mut inner| {
                    // A union without a name for its discriminator has that of the field.
                    if inner.name.is_empty() {
                        inner.name.clone_from(&named.name);
                    }
                    inner
                });
                let (flat, inside) = match &named.flatten {
                    Some(more) => (true, format!("{prefix}{more}")),
                    None => (false, String::new()),
                };
                if !flat {
                    self.text(&full())?;
                    self.out.value(Event::Begin(Container::Map, None))?;
                }
                let frame = Frame::Struct { at, ty: *group, next: 0, prefix: inside, discriminator: inner, flat };
                self.stack.push(frame);
                Ok(())
            }
            FieldKind::Slot(slot) if slot.ty == Type::Void => {
                // Where a discriminator speaks, a member without a value needs no name.
                if union.is_some() {
                    return Ok(());
                }
                self.text(&full())?;
                self.send(Scalar::Null)
            }
            FieldKind::Slot(slot) if !slot.ty.is_pointer() => {
                let bits = slot.ty.bits().unwrap_or(0);
                let stored = bits_at(self.data(at), slot.offset.saturating_mul(bits), bits);
                self.text(&full())?;
                self.scalar(slot.ty, stored ^ slot.default.mask())
            }
            FieldKind::Slot(slot) => self.pointer_field(at, slot, named, prefix, &full(), is_member),
        }
    }

    fn pointer_field(
        &mut self,
        at: Sections,
        slot: &Slot,
        named: &super::names::Named,
        prefix: &str,
        full: &str,
        is_member: bool,
    ) -> Flow {
        let there = slot.offset < u32::from(at.pointers);
        let place = Place {
            at: at.at.saturating_add(at.bytes).saturating_add(u64::from(slot.offset).saturating_mul(WORD)),
            segment: at.segment,
        };
        let null = !there || self.bytes.u64(place.at).is_none_or(|word| word == 0);
        // The member of a union that is set is told even where it is null.
        if null && !is_member {
            return Ok(());
        }
        if let (Some(more), Type::Struct(id)) = (&named.flatten, slot.ty) {
            let Some((target, segment)) = self.target(place, slot.ty).filter(|_| !null) else { return Ok(()) };
            let at = sections(&target, segment);
            let prefix = format!("{prefix}{more}");
            let inner = self.names.shape(id).and_then(|shape| shape.own.clone());
            self.stack.push(Frame::Struct { at, ty: id, next: 0, prefix, discriminator: inner, flat: true });
            return Ok(());
        }
        self.text(full)?;
        if slot.ty == Type::Data && named.bytes != BytesAs::Numbers {
            return self.encoded(place, null, named.bytes);
        }
        if null { self.absent(slot.ty) } else { self.pointer(place, Some(slot.ty)) }
    }

    /// Bytes as base64 or hex.
    fn encoded(&mut self, place: Place, null: bool, how: BytesAs) -> Flow {
        let target = if null { None } else { self.target(place, Type::Data) };
        let bytes = target.map_or(&[][..], |(target, _)| blob(self.bytes, &target));
        let text = match how {
            BytesAs::Hex => data_encoding::HEXLOWER.encode(bytes),
            _ => data_encoding::BASE64.encode(bytes),
        };
        match self.dress {
            Dress::Plain => self.send(Scalar::Bytes(Cow::Borrowed(bytes))),
            Dress::Json => self.text(&text),
        }
    }

    /// The value of a null pointer that is told all the same.
    fn absent(&mut self, ty: Type) -> Flow {
        match ty {
            Type::Text => self.text(""),
            Type::Data | Type::List(_) | Type::AnyList => {
                self.out.value(Event::Begin(Container::List, Some(0)))?;
                self.out.value(Event::End)
            }
            Type::Struct(id) => self.record(Sections { at: 0, bytes: 0, pointers: 0, segment: self.first }, id),
            _ => self.send(Scalar::Null),
        }
    }

    /// Sends what a pointer of a type leads to; of no type what can be seen.
    fn pointer(&mut self, place: Place, ty: Option<Type>) -> Flow {
        let typed = ty.filter(|ty| !matches!(ty, Type::AnyPointer | Type::Parameter { .. }));
        let Some((target, segment)) = self.target_of(place, typed) else {
            return match typed {
                Some(ty) => self.absent(ty),
                None => self.send(Scalar::Null),
            };
        };
        match (target.is, typed) {
            (Is::Struct { .. }, Some(Type::Struct(id))) => self.record(sections(&target, segment), id),
            (Is::Struct { .. }, _) => self.blind(sections(&target, segment)),
            (Is::List { .. }, Some(Type::Text)) => {
                let bytes = blob(self.bytes, &target);
                let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                self.send(Scalar::Text(Cow::Borrowed(text)))
            }
            (Is::List { .. }, Some(Type::Data)) => self.bytes_of(&target),
            (Is::List { size, count }, ty) => self.list(&target, segment, size, count, ty),
            (Is::Structs { count, data, pointers }, ty) => {
                let element = ty.and_then(|ty| self.element_type(ty));
                let bytes = u64::from(data).saturating_mul(WORD);
                let stride = bytes.saturating_add(u64::from(pointers).saturating_mul(WORD));
                let at = Sections { at: target.start.saturating_add(WORD), bytes, pointers, segment };
                let count = u64::from(count);
                self.out.value(Event::Begin(Container::List, Some(count)))?;
                self.stack.push(Frame::Structs { at, ty: element, stride, next: 0, count });
                Ok(())
            }
        }
    }

    fn bytes_of(&mut self, target: &Target) -> Flow {
        let bytes = blob(self.bytes, target);
        if self.dress == Dress::Plain {
            return self.send(Scalar::Bytes(Cow::Borrowed(bytes)));
        }
        let count = len64(bytes.len());
        self.out.value(Event::Begin(Container::List, Some(count)))?;
        self.stack.push(Frame::Numbers { at: target.start, ty: Type::Uint8, bits: 8, next: 0, count });
        Ok(())
    }

    fn element_type(&self, ty: Type) -> Option<Type> {
        match ty {
            Type::List(id) => Some(self.capnp.element(id)),
            _ => None,
        }
    }

    fn list(&mut self, target: &Target, segment: u32, size: ElementSize, count: u32, ty: Option<Type>) -> Flow {
        let element = ty.and_then(|ty| self.element_type(ty));
        let count = u64::from(count);
        let (at, bits) = (target.start, size.bits().unwrap_or(0));
        if element.is_none() && size == ElementSize::Byte {
            return self.blind_bytes(target);
        }
        self.out.value(Event::Begin(Container::List, Some(count)))?;
        let frame = match (element, size) {
            (Some(Type::Struct(_)), ElementSize::Pointer) => {
                let at = Sections { at, bytes: 0, pointers: 1, segment };
                Frame::Structs { at, ty: element, stride: WORD, next: 0, count }
            }
            (Some(Type::Struct(_)), _) => {
                let at = Sections { at, bytes: bits / 8, pointers: 0, segment };
                Frame::Structs { at, ty: element, stride: bits / 8, next: 0, count }
            }
            (_, ElementSize::Pointer) => Frame::Pointers { at, ty: element, next: 0, count, segment },
            _ => {
                let ty = element.unwrap_or(blind::number_type(size));
                Frame::Numbers { at, ty, bits, next: 0, count }
            }
        };
        self.stack.push(frame);
        Ok(())
    }

    /// An element that is a struct.
    fn element(&mut self, at: Sections, ty: Option<Type>) -> Flow {
        match ty {
            Some(Type::Struct(id)) => self.record(at, id),
            None => self.blind(at),
            // Structs that the schema reads as single values.
            Some(ty) if ty.is_pointer() => {
                let place = at.at.saturating_add(at.bytes);
                if at.pointers == 0 || self.bytes.u64(place).is_none_or(|word| word == 0) {
                    return self.absent(ty);
                }
                self.pointer(Place { at: place, segment: at.segment }, Some(ty))
            }
            Some(ty) => {
                let bits = bits_at(self.data(at), 0, ty.bits().unwrap_or(0));
                self.scalar(ty, bits)
            }
        }
    }

    fn number(&mut self, at: u64, ty: Type, bits: u64, index: u64) -> Flow {
        let place = index.saturating_mul(bits);
        let own = u64::from(ty.bits().unwrap_or(0));
        let at = at.saturating_add(place / 8);
        let stored = match own {
            0 => 0,
            1 => u64::from(self.bytes.u8(at).unwrap_or(0)) >> (place % 8) & 1,
            own => little_endian(self.bytes.clipped(at, at.saturating_add(own / 8))),
        };
        self.scalar(ty, stored)
    }

    /// A value in place.
    fn scalar(&mut self, ty: Type, bits: u64) -> Flow {
        let names = self.names;
        let json = self.dress == Dress::Json;
        let low = |bits: u64| u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
        let scalar = match ty {
            Type::Void => Scalar::Null,
            Type::Bool => Scalar::Bool(bits & 1 == 1),
            Type::Int8 => Scalar::Int(i64::from(u8::try_from(bits & 0xff).unwrap_or(0).cast_signed())),
            Type::Int16 => Scalar::Int(i64::from(u16::try_from(bits & 0xffff).unwrap_or(0).cast_signed())),
            Type::Int32 => Scalar::Int(i64::from(low(bits).cast_signed())),
            Type::Int64 if json => return self.text(&bits.cast_signed().to_string()),
            Type::Int64 => Scalar::Int(bits.cast_signed()),
            Type::Uint64 if json => return self.text(&bits.to_string()),
            Type::Float32 => Scalar::F32(f32::from_bits(low(bits))),
            Type::Float64 => Scalar::F64(f64::from_bits(bits)),
            Type::Enum(id) => match u16::try_from(bits).ok().and_then(|number| names.enumerant(id, number)) {
                Some(name) => return self.text(name),
                None => Scalar::Uint(bits),
            },
            _ => Scalar::Uint(bits),
        };
        let float = match scalar {
            Scalar::F32(value) => Some(f64::from(value)),
            Scalar::F64(value) => Some(value),
            _ => None,
        };
        match float {
            // `capnp convert` writes whole floats without a point.
            Some(value) if json && value.is_finite() => {
                let text = super::words::json_number(&scalar);
                self.send(Scalar::Number(Cow::Owned(text)))
            }
            _ => self.send(scalar),
        }
    }
}
