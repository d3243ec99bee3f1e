//! Values of fields and elements: what they must be, and what they become.

use crate::formats::capnp::encode::frames::{Due, Frame, Target};
use crate::formats::capnp::encode::{Writer, scalars};
use crate::formats::capnp::names::{Bytes as BytesAs, JSON_VALUE};
use crate::formats::capnp::wire::ElementSize;
use crate::formats::given;
use crate::formats::target::{found_words, nearest};
use crate::model::capnp::{FieldKind, Slot, Type};
use crate::model::events::{Flow, Stop};
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

/// Names of an enum that a sentence lists.
const LISTED: usize = 8;

impl Writer<'_> {
    /// The value of a field.
    pub(super) fn field_value(&mut self, target: Target, event: &Event<'_>) -> Flow {
        let Some(field) = self.field(target) else { return Ok(()) };
        match &field.kind {
            FieldKind::Group(group) => self.group(target, *group, event),
            FieldKind::Slot(slot) if self.is_absent(slot.ty, event) => {
                self.set_due(Due::Name);
                Ok(())
            }
            FieldKind::Slot(slot) if slot.ty.is_pointer() => {
                self.choose(target);
                self.pointer(target, slot, event)
            }
            FieldKind::Slot(slot) => self.in_place(target, slot, event),
        }
    }

    /// Whether a null leaves the field as it is: what has no other value than null takes it as one, and for floats it
    /// is NaN, as `capnp convert` has it.
    fn is_absent(&self, ty: Type, event: &Event<'_>) -> bool {
        match event {
            Event::Scalar(Scalar::Missing) => true,
            Event::Scalar(Scalar::Null) => {
                !matches!(ty, Type::Void | Type::Float32 | Type::Float64) && !self.is_json(ty)
            }
            _ => false,
        }
    }

    fn is_json(&self, ty: Type) -> bool {
        let Type::Struct(id) = ty else { return false };
        self.record(id).is_some_and(|record| record.id == JSON_VALUE)
    }

    fn group(&mut self, target: Target, group: MessageId, event: &Event<'_>) -> Flow {
        match event {
            Event::Begin(Shape::Map, _) => {
                self.choose(target);
                self.clear(target);
                self.set_due(Due::Name);
                self.begin_struct(target.at, group, false)
            }
            Event::Scalar(Scalar::Null | Scalar::Missing) => {
                self.set_due(Due::Name);
                Ok(())
            }
            _ => self.expected("an object", event),
        }
    }

    /// A value in the data section.
    fn in_place(&mut self, target: Target, slot: &Slot, event: &Event<'_>) -> Flow {
        let bits = self.bits(slot.ty, event)?;
        self.choose(target);
        let width = slot.ty.bits().unwrap_or(0);
        let from = u64::from(slot.offset).saturating_mul(u64::from(width));
        self.arena.set_bits(target.at, from, width, bits ^ slot.default.mask());
        self.set_due(Due::Name);
        self.skip_void(event);
        Ok(())
    }

    /// Of nothing any value will do, a container too.
    fn skip_void(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Begin(..)) {
            self.frames.push(Frame::Skip { depth: 1 });
        }
    }

    /// A value in the bits of its type.
    fn bits(&self, ty: Type, event: &Event<'_>) -> Result<u64, Stop> {
        if ty == Type::Void {
            return Ok(0);
        }
        let Event::Scalar(value) = event else { return self.expected(&self.noun(ty), event) };
        match scalars::bits(self.capnp, &self.lookup.names, ty, value) {
            Some(bits) => Ok(bits),
            None => {
                let sentence = format!("expected {}, found {}", self.noun(ty), found_words(event));
                self.misfit(sentence, self.help(ty, value))
            }
        }
    }

    /// What is expected: `an Int16, -32768 to 32767`.
    fn noun(&self, ty: Type) -> String {
        let name = self.capnp.type_name(ty);
        match (ty, scalars::range(ty)) {
            (_, Some((low, high))) => format!("{name} from {low} to {high}"),
            (Type::Bool, _) => "true or false".to_string(),
            (Type::Enum(_), _) => format!("a value of {name}"),
            _ => name,
        }
    }

    fn help(&self, ty: Type, value: &Scalar<'_>) -> String {
        let (Type::Enum(id), Scalar::Text(text)) = (ty, value) else { return String::new() };
        let Some(one) = self.capnp.enumeration(id) else { return String::new() };
        let names = || one.enumerants.iter().map(|enumerant| enumerant.name.as_str());
        let near = nearest(&String::from_utf8_lossy(text), names());
        if !near.is_empty() {
            return near;
        }
        let listed: Vec<&str> = names().take(LISTED).collect();
        let more = if names().count() > LISTED { ", …" } else { "" };
        format!("it has {}{more}", listed.join(", "))
    }

    /// A field that is a pointer.
    fn pointer(&mut self, target: Target, slot: &Slot, event: &Event<'_>) -> Flow {
        let shape = self.lookup.names.shape(target.id);
        let how = shape.and_then(|shape| shape.fields.get(target.field)).map_or(BytesAs::Numbers, |named| named.bytes);
        self.object(slot.ty, how, event)
    }

    /// A value behind a pointer.
    fn object(&mut self, ty: Type, how: BytesAs, event: &Event<'_>) -> Flow {
        match ty {
            Type::Text => self.text(event),
            Type::Data => self.data(how, event),
            Type::List(of) => self.list(self.capnp.element(of), event),
            Type::Struct(id) if self.is_json(ty) => {
                let at = self.add_struct(id);
                self.deliver(Some(at))?;
                self.json_value(at, id, event)
            }
            Type::Struct(id) if matches!(event, Event::Begin(Shape::Map, _)) => {
                let at = self.add_struct(id);
                self.deliver(Some(at))?;
                self.begin_struct(at, id, true)
            }
            Type::Struct(_) => self.expected("an object", event),
            Type::Interface(_) | Type::Capability => {
                self.misfit("a capability is no value: it cannot be written from one", "")
            }
            _ => {
                let name = self.capnp.type_name(ty);
                self.misfit(format!("no schema says of which type this {name} is"), "leave the field out")
            }
        }
    }

    fn text(&mut self, event: &Event<'_>) -> Flow {
        let Event::Scalar(Scalar::Text(text)) = event else { return self.expected("a string", event) };
        if std::str::from_utf8(text).is_err() {
            return self.misfit("expected text, found bytes that are not UTF-8", "");
        }
        let place = self.arena.add_text(text);
        self.deliver(place)
    }

    fn data(&mut self, how: BytesAs, event: &Event<'_>) -> Flow {
        let decoded = match event {
            Event::Begin(Shape::List, _) => {
                self.frames.push(Frame::Bytes { bytes: self.bytes.len() });
                return Ok(());
            }
            Event::Scalar(Scalar::Bytes(bytes)) => return self.bytes_of(bytes),
            Event::Scalar(Scalar::Text(text)) if how == BytesAs::Hex => {
                data_encoding::HEXLOWER_PERMISSIVE.decode(text).ok()
            }
            Event::Scalar(Scalar::Text(text)) => given::base64(text),
            _ => None,
        };
        match (decoded, how) {
            (Some(bytes), _) => self.bytes_of(&bytes),
            (None, BytesAs::Hex) => self.expected("bytes in hex digits", event),
            (None, BytesAs::Base64) => self.expected("bytes in base64", event),
            (None, BytesAs::Numbers) => self.expected("an array of bytes, or bytes in base64", event),
        }
    }

    fn bytes_of(&mut self, bytes: &[u8]) -> Flow {
        let place = self.arena.add_list(ElementSize::Byte, len64(bytes.len()), bytes);
        self.deliver(place)
    }

    /// A byte of an array of numbers.
    pub(super) fn in_bytes(&mut self, from: usize, event: &Event<'_>) -> Flow {
        if *event == Event::End {
            self.frames.pop();
            let bytes = self.bytes.get(from..).unwrap_or(&[]);
            let place = self.arena.add_list(ElementSize::Byte, len64(bytes.len()), bytes);
            self.bytes.truncate(from);
            return self.deliver(place);
        }
        let byte = self.bits(Type::Uint8, event)?;
        self.bytes.push(u8::try_from(byte).unwrap_or(0));
        Ok(())
    }

    fn list(&mut self, of: Type, event: &Event<'_>) -> Flow {
        match event {
            Event::Begin(Shape::List, _) => {
                self.deeper(1)?;
                let (bytes, pointers) = (self.bytes.len(), self.pointers.len());
                self.frames.push(Frame::List { of, count: 0, bytes, pointers });
                Ok(())
            }
            // Bytes of another format.
            Event::Scalar(Scalar::Bytes(bytes)) if matches!(of, Type::Uint8 | Type::Int8) => self.bytes_of(bytes),
            _ => self.expected("an array", event),
        }
    }

    /// An element.
    pub(super) fn in_list(&mut self, of: Type, event: &Event<'_>) -> Flow {
        if *event == Event::End {
            return self.end_list();
        }
        if of.is_pointer() {
            return self.object(of, BytesAs::Numbers, event);
        }
        let bits = self.bits(of, event)?;
        let width = usize::try_from(of.bits().unwrap_or(0).div_ceil(8)).unwrap_or(0);
        self.bytes.extend_from_slice(bits.to_le_bytes().get(..width).unwrap_or(&[]));
        self.count_element();
        self.skip_void(event);
        Ok(())
    }

    pub(super) fn count_element(&mut self) {
        if let Some(Frame::List { count, .. }) = self.frames.last_mut() {
            *count = count.saturating_add(1);
        }
    }

    fn end_list(&mut self) -> Flow {
        let Some(Frame::List { of, count, bytes, pointers }) = self.frames.pop() else { return Ok(()) };
        self.depth = self.depth.saturating_sub(1);
        let places = self.pointers.get(pointers..).unwrap_or(&[]);
        let elements = self.bytes.get(bytes..).unwrap_or(&[]);
        let place = match of {
            Type::Struct(id) => {
                let (data, all) = self.capnp.record(id).map_or((0, 0), |record| (record.data_words, record.pointers));
                self.arena.add_structs(data, all, places)
            }
            Type::Bool => self.arena.add_list(ElementSize::Bit, count, &packed_bits(elements)),
            _ if of.is_pointer() => self.arena.add_pointers(places),
            _ => self.arena.add_list(ElementSize::of_type(of), count, elements),
        };
        self.pointers.truncate(pointers);
        self.bytes.truncate(bytes);
        self.deliver(place)
    }
}

/// Bools of a byte each as bits, the first the lowest.
fn packed_bits(bools: &[u8]) -> Vec<u8> {
    bools.chunks(8).map(|eight| eight.iter().rev().fold(0, |bits, one| bits << 1 | one)).collect()
}
