//! Ends of containers: where what was gathered becomes bytes, and an offset for what holds it. And the events that
//! wait for the type of a union.

use crate::formats::flatbuffers::builder::Builder;
use crate::formats::flatbuffers::encode::{Frame, Held, OwnedEvent, Stored, Writer};
use crate::formats::flatbuffers::{keys, wire};
use crate::formats::{FlatOrder, FlatPads};
use crate::model::events::Flow;
use crate::model::flat::{Absent, Field, Flat, Object, Of, Scalar as Type, Shape as FieldShape};
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

/// Events that may wait for the type of one union.
const MOST_HELD: usize = 4_000_000;

impl<'a> Writer<'a> {
    /// A table or struct ends.
    pub(super) fn end_object(&mut self) -> Flow {
        match self.frames.last().copied() {
            Some(Frame::Table { ty, from, structs, start, .. }) => self.end_table(ty, from, structs, start),
            Some(Frame::Struct { ty, at, seen, start, .. }) => self.end_struct(ty, at, seen, start),
            _ => Ok(()),
        }
    }

    fn end_struct(&mut self, ty: MessageId, at: usize, seen: usize, start: u64) -> Flow {
        let Some(object) = self.flat.object(ty) else { return Ok(()) };
        if seen != object.fields.len() {
            let sentence = format!("{} has {} members, here are {seen}", object.name, object.fields.len());
            return self.misfit_at(start, sentence, "a struct has no absent members: give them all");
        }
        let align = u64::from(object.align);
        if self.style.pads == FlatPads::Kept {
            // flatc makes each struct at the end of the buffer, and takes away the struct but not its padding.
            self.builder.align_ahead(0, align);
        }
        self.frames.pop();
        let len = usize::try_from(object.size).unwrap_or(0);
        self.arrived(Stored::Struct { from: at, len, align })
    }

    /// A value that has parts is whole: what holds it takes it.
    fn arrived(&mut self, stored: Stored) -> Flow {
        match self.frames.last().copied() {
            Some(Frame::Table { .. }) => {
                let place = self.pending.pop().unwrap_or(0);
                if let (Stored::Struct { from, len, align }, true) = (stored, self.is_union(place)) {
                    // A struct that is the value of a union stands behind an offset.
                    let bytes = self.structs.get(from..from.saturating_add(len)).unwrap_or(&[]).to_vec();
                    self.builder.align_ahead(0, align);
                    self.builder.push(&bytes);
                    let at = self.builder.at();
                    self.keep(place, Stored::Offset(at));
                    return Ok(());
                }
                self.keep(place, stored);
            }
            Some(Frame::Vector { of, .. }) => {
                if let (Stored::Struct { from, len, align }, Of::Union(_)) = (stored, of) {
                    let bytes = self.structs.get(from..from.saturating_add(len)).unwrap_or(&[]).to_vec();
                    self.builder.align_ahead(0, align);
                    self.builder.push(&bytes);
                    let at = self.builder.at();
                    self.keep(0, Stored::Offset(at));
                    return Ok(());
                }
                self.keep(0, stored);
            }
            Some(Frame::Nested) => {
                self.frames.pop();
                let Stored::Offset(root) = stored else { return Ok(()) };
                return self.end_nested(root);
            }
            None => {
                let Stored::Offset(root) = stored else { return Ok(()) };
                return self.end_root(root);
            }
            // Structs in structs and arrays are in place already.
            _ => {}
        }
        Ok(())
    }

    fn is_union(&self, place: usize) -> bool {
        let Some(Frame::Table { ty, .. }) = self.frames.last() else { return false };
        let field = self.flat.object(*ty).and_then(|object| object.fields.get(place));
        field.is_some_and(|field| matches!(field.ty.of, Of::Union(_)))
    }

    fn end_root(&mut self, root: u64) -> Flow {
        let builder = std::mem::replace(&mut self.builder, Builder::new(true));
        let bytes = builder.finish(root, self.flat.identifier, self.prefix);
        self.written = self.written.saturating_add(1);
        Ok(self.out.write_all(&bytes)?)
    }

    fn end_table(&mut self, ty: MessageId, from: usize, structs: usize, start: u64) -> Flow {
        let Some(object) = self.flat.object(ty) else { return Ok(()) };
        let mut fields: Vec<(usize, Stored)> = self.values.split_off(from);
        fields.sort_by_key(|(place, _)| *place);
        let missing = |(place, field): &(usize, &Field)| {
            field.required && fields.binary_search_by_key(place, |(place, _)| *place).is_err()
        };
        if let Some((_, field)) = object.fields.iter().enumerate().find(missing) {
            return self.misfit_at(start, format!("required field `{}` is missing", field.name), "");
        }
        self.builder.begin_table();
        if self.style.order == FlatOrder::Declared {
            for (place, stored) in &fields {
                self.push_field(object, *place, *stored);
            }
        } else if object.original_order {
            for (place, stored) in fields.iter().rev() {
                self.push_field(object, *place, *stored);
            }
        } else {
            for size in [8u64, 4, 2, 1] {
                for (place, stored) in fields.iter().rev() {
                    if object.fields.get(*place).is_some_and(|field| sort_size(field, self.flat) == size) {
                        self.push_field(object, *place, *stored);
                    }
                }
            }
        }
        let at = self.builder.end_table();
        self.structs.truncate(structs);
        let depth = self.frames.len();
        self.types.retain(|(owner, ..)| *owner < depth);
        self.frames.pop();
        self.arrived(Stored::Offset(at))
    }

    fn push_field(&mut self, object: &Object, place: usize, stored: Stored) {
        let Some(field) = object.fields.get(place) else { return };
        match stored {
            Stored::Scalar { bits, size } => {
                let forced = self.style.force_defaults && self.outer.is_empty();
                // flatc does not force those of a buffer inside.
                if !forced && is_default(field, self.flat, bits) {
                    return;
                }
                self.builder.push_number(bits, size);
            }
            Stored::Offset(to) => self.builder.push_offset(to, field.offset64),
            Stored::Struct { from, len, align } => {
                self.builder.align_ahead(0, align);
                let bytes = self.structs.get(from..from.saturating_add(len)).unwrap_or(&[]);
                self.builder.push(bytes);
            }
        }
        self.builder.field(field.id);
    }

    /// The value of a vector field.
    pub(super) fn vector(&mut self, owner: MessageId, place: usize, field: &'a Field, event: &Event<'_>) -> Flow {
        match (field.ty.of, event) {
            (Of::Scalar(Type::Ubyte), Event::Begin(Shape::Map, _)) if field.nested.is_some() => {
                let inner = Builder::new(!self.style.own_vtables);
                self.outer.push(std::mem::replace(&mut self.builder, inner));
                self.pending.push(place);
                self.frames.push(Frame::Nested);
                field.nested.map_or(Ok(()), |root| self.begin_table(root))
            }
            (Of::Scalar(Type::Ubyte), Event::Scalar(Scalar::Bytes(bytes))) => {
                let bytes = bytes.to_vec();
                self.bytes_vector(place, field, &bytes)
            }
            (Of::Scalar(Type::Ubyte), Event::Scalar(Scalar::Text(text))) => match crate::formats::given::base64(text) {
                Some(bytes) => self.bytes_vector(place, field, &bytes),
                None => self.expected("an array of numbers, or base64", event),
            },
            (of, Event::Begin(Shape::List, _)) => {
                let types = match of {
                    Of::Union(_) => match self.types_of(place) {
                        Some(types) => Some(types),
                        None => {
                            self.frames.push(Frame::Held { place, depth: 0, key: false, found: false });
                            return self.hold(place, 0, false, false, event);
                        }
                    },
                    _ => None,
                };
                self.pending.push(place);
                let (from, structs) = (self.values.len(), self.structs.len());
                let wide = field.ty.shape == FieldShape::Vector64;
                self.frames.push(Frame::Vector { of, wide, from, structs, types, place, owner });
                Ok(())
            }
            _ => self.expected("an array", event),
        }
    }

    fn bytes_vector(&mut self, place: usize, field: &Field, bytes: &[u8]) -> Flow {
        let head = if field.ty.shape == FieldShape::Vector64 { wire::OFFSET64 } else { wire::OFFSET };
        self.builder.begin_vector(len64(bytes.len()), 1, head);
        self.builder.push(bytes);
        let at = self.builder.end_vector(len64(bytes.len()), head);
        self.keep(place, Stored::Offset(at));
        Ok(())
    }

    fn end_nested(&mut self, root: u64) -> Flow {
        let outer = self.outer.pop().unwrap_or_else(|| Builder::new(true));
        let inner = std::mem::replace(&mut self.builder, outer);
        let align = inner.alignment();
        let bytes = inner.finish(root, None, false);
        self.builder.align_content(len64(bytes.len()), align.max(wire::OFFSET));
        self.builder.begin_vector(len64(bytes.len()), 1, wire::OFFSET);
        self.builder.push(&bytes);
        let at = self.builder.end_vector(len64(bytes.len()), wire::OFFSET);
        let place = self.pending.pop().unwrap_or(0);
        self.keep(place, Stored::Offset(at));
        Ok(())
    }

    /// Where the types of the unions in a vector stand in [`Writer::types`], if they have come.
    fn types_of(&self, place: usize) -> Option<usize> {
        let owner = self.frames.len();
        self.types.iter().position(|(known, field, _)| *known == owner && field.saturating_add(1) == place)
    }

    pub(super) fn in_vector(&mut self, of: Of, event: &Event<'_>) -> Flow {
        match (of, event) {
            (_, Event::End) => self.end_vector(),
            (Of::Table(id), Event::Begin(Shape::Map, _)) => self.begin_table(id),
            (Of::Struct(id), Event::Begin(Shape::Map, _)) => self.begin_struct(id),
            (Of::Table(_) | Of::Struct(_), _) => self.expected("an object", event),
            (Of::Text, _) => {
                let shared = self.vector_field().is_some_and(|field| field.shared);
                let at = self.text(event, shared)?;
                self.keep(0, Stored::Offset(at));
                Ok(())
            }
            (Of::Union(id), _) => {
                let Some(Frame::Vector { from, types: Some(types), .. }) = self.frames.last().copied() else {
                    return Ok(());
                };
                let index = self.values.len().saturating_sub(from);
                let ty = self.types.get(types).and_then(|(_, _, numbers)| numbers.get(index)).copied();
                let Some(ty) = ty else {
                    return self.misfit("more values than the vector of their types has elements", "");
                };
                let one = self.flat.enumeration(id);
                let member = i64::try_from(ty).ok().and_then(|ty| one?.member(ty)).and_then(|member| member.member);
                self.union_value(0, member, event)
            }
            _ => {
                let stored = self.scalar(of, None, event)?;
                self.keep(0, stored);
                Ok(())
            }
        }
    }

    /// The field of the innermost vector.
    fn vector_field(&self) -> Option<&'a Field> {
        let Some(Frame::Vector { place, owner, .. }) = self.frames.last() else { return None };
        self.flat.object(*owner)?.fields.get(*place)
    }

    fn end_vector(&mut self) -> Flow {
        let Some(Frame::Vector { of, wide, from, structs, types, place, .. }) = self.frames.last().copied() else {
            return Ok(());
        };
        let elements: Vec<(usize, Stored)> = self.values.split_off(from);
        if let Some((_, _, numbers)) = types.and_then(|types| self.types.get(types))
            && numbers.len() != elements.len()
        {
            let (types, values) = (numbers.len(), elements.len());
            return self.misfit(format!("{types} types and {values} values of a union"), "each value has its type");
        }
        if let Of::UnionType(_) = of {
            let number =
                |(_, stored): &(usize, Stored)| if let Stored::Scalar { bits, .. } = stored { *bits } else { 0 };
            let owner = self.frames.len().saturating_sub(1);
            self.types.push((owner, place, elements.iter().map(number).collect()));
        }
        let at = self.push_vector(of, wide, &elements);
        self.structs.truncate(structs);
        self.frames.pop();
        let place = self.pending.pop().unwrap_or(0);
        self.keep(place, Stored::Offset(at));
        Ok(())
    }

    fn push_vector(&mut self, of: Of, wide: bool, elements: &[(usize, Stored)]) -> u64 {
        let (width, align) = (self.flat.width(of), self.flat.align(of));
        let head = if wide { wire::OFFSET64 } else { wire::OFFSET };
        let len = len64(elements.len()).saturating_mul(width);
        let forced = self
            .vector_field()
            .and_then(|field| field.attributes.iter().find(|(name, _)| name == "force_align")?.1.parse::<u64>().ok());
        if let Some(forced) = forced.filter(|forced| *forced > 1) {
            self.builder.align_content(len, forced);
        }
        self.builder.begin_vector(len, align, head);
        let order = self.sorted(of, elements);
        let list: Vec<Stored> = match &order {
            Some(order) => order.iter().filter_map(|at| elements.get(*at)).map(|(_, stored)| *stored).collect(),
            None => elements.iter().map(|(_, stored)| *stored).collect(),
        };
        for stored in list.iter().rev() {
            match *stored {
                Stored::Scalar { bits, size } => self.builder.push_number(bits, size),
                Stored::Offset(to) => self.builder.push_offset(to, false),
                Stored::Struct { from, len, align } => {
                    self.builder.align_ahead(0, align);
                    let bytes = self.structs.get(from..from.saturating_add(len)).unwrap_or(&[]);
                    self.builder.push(bytes);
                }
            }
        }
        self.builder.end_vector(len64(elements.len()), head)
    }

    /// The order of the elements by their key, where their type has one.
    fn sorted(&self, of: Of, elements: &[(usize, Stored)]) -> Option<Vec<usize>> {
        let field = keys::key_of(self.flat, of)?;
        let keys: Vec<OwnedKey> = elements
            .iter()
            .map(|(_, stored)| match *stored {
                Stored::Struct { from, len, .. } => {
                    let bytes = self.structs.get(from..from.saturating_add(len)).unwrap_or(&[]);
                    owned(keys::of_struct(crate::wire::reader::Bytes(bytes), self.flat, field, 0))
                }
                Stored::Offset(at) => self.builder.key(self.flat, field, at),
                Stored::Scalar { .. } => OwnedKey::None,
            })
            .collect();
        let mut order: Vec<usize> = (0..elements.len()).collect();
        quicksort(&mut order, &|one, other| match (keys.get(one), keys.get(other)) {
            (Some(one), Some(other)) => one.is_less(other),
            _ => false,
        });
        Some(order)
    }

    /// Holds an event back until the type of a union comes; then all that was held is taken again.
    pub(super) fn hold(&mut self, place: usize, depth: usize, key: bool, found: bool, event: &Event<'_>) -> Flow {
        let owned = match event {
            Event::Begin(shape, count) => OwnedEvent::Begin(*shape, *count),
            Event::End => OwnedEvent::End,
            Event::Scalar(scalar) => OwnedEvent::Scalar(scalar.clone().into_owned()),
            Event::Message(_) | Event::Piece { .. } => return Ok(()),
        };
        let (mut depth, mut key, mut found) = (depth, key, found);
        // The value of the union itself comes first, then names and values of the same table in turn.
        if depth == 0 && matches!(event, Event::End) {
            return self.misfit("the type of this union is not there", "give the field with `_type` behind its name");
        }
        if depth == 0 && key && !found {
            found = self.is_type_of(place, event);
        }
        let (start, path) = (self.start, self.paths.path().to_string());
        self.held.push(Held { event: owned, start, path });
        if self.held.len() > MOST_HELD {
            return self.misfit("the type of this union comes too late", "give it in front of the value");
        }
        let was_key = depth == 0 && key;
        match event {
            Event::Begin(..) => depth = depth.saturating_add(1),
            Event::End => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            key = !was_key;
        }
        if found && depth == 0 && !was_key {
            self.frames.pop();
            let mut held = std::mem::take(&mut self.held);
            // The type is taken first, then the value, then the rest in its order.
            let pair = held.split_off(held.len().saturating_sub(self.last_value_len(&held).saturating_add(1)));
            let name = self.flat_name(place);
            let mut again: Vec<Held> = pair;
            again.push(Held {
                event: OwnedEvent::Scalar(Scalar::Text(name.into_bytes().into())),
                start,
                path: self.paths.path().to_string(),
            });
            again.extend(held);
            for one in again.into_iter().rev() {
                self.queue.push_front(one);
            }
            return Ok(());
        }
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Held { place, depth, key, found };
        }
        Ok(())
    }

    /// Events of the last value that was held: one scalar, or a container.
    fn last_value_len(&self, held: &[Held]) -> usize {
        let (mut depth, mut len) = (0usize, 0usize);
        for one in held.iter().rev() {
            len = len.saturating_add(1);
            match one.event {
                OwnedEvent::End => depth = depth.saturating_add(1),
                OwnedEvent::Begin(..) => depth = depth.saturating_sub(1),
                OwnedEvent::Scalar(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        len
    }

    fn flat_name(&self, place: usize) -> String {
        let ty = self
            .frames
            .iter()
            .rev()
            .find_map(|frame| if let Frame::Table { ty, .. } = frame { Some(*ty) } else { None });
        let field = ty.and_then(|ty| self.flat.object(ty)).and_then(|object| object.fields.get(place));
        field.map_or(String::new(), |field| field.name.clone())
    }

    /// Whether a name is that of the type of the union at `place`.
    fn is_type_of(&mut self, place: usize, event: &Event<'_>) -> bool {
        let Event::Scalar(Scalar::Text(name)) = event else { return false };
        let ty = self
            .frames
            .iter()
            .rev()
            .find_map(|frame| if let Frame::Table { ty, .. } = frame { Some(*ty) } else { None });
        let Some((ty, object)) = ty.and_then(|ty| Some((ty, self.flat.object(ty)?))) else { return false };
        let name = String::from_utf8_lossy(name);
        self.place(ty, object, &name).is_some_and(|known| known.saturating_add(1) == place)
    }

    /// Takes what was held back.
    pub(super) fn replay(&mut self) -> Flow {
        while let Some(held) = self.queue.pop_front() {
            let start = std::mem::replace(&mut self.start, held.start);
            self.replayed = Some((held.start, held.path));
            let event = match held.event {
                OwnedEvent::Begin(shape, count) => Event::Begin(shape, count),
                OwnedEvent::End => Event::End,
                OwnedEvent::Scalar(scalar) => Event::Scalar(scalar),
            };
            self.step(&event)?;
            self.start = start;
        }
        self.replayed = None;
        Ok(())
    }
}

/// The size by which flatc sorts fields: an offset and a struct count as 4.
fn sort_size(field: &Field, flat: &Flat) -> u64 {
    match (field.ty.shape, field.ty.of) {
        (FieldShape::Vector64, _) => 8,
        (FieldShape::One, of) => flat.scalar(of).map_or(4, |scalar| u64::from(scalar.size())),
        _ => 4,
    }
}

/// Whether a scalar is what an absent field means.
fn is_default(field: &Field, flat: &Flat, bits: u64) -> bool {
    let Some(ty) = flat.scalar(field.ty.of).filter(|_| !field.optional) else { return false };
    let mask = u64::MAX >> 64u32.saturating_sub(u32::from(ty.size()).saturating_mul(8));
    match field.default {
        Absent::Int(number) => bits == number.cast_unsigned() & mask,
        Absent::Uint(number) => bits == number,
        Absent::Float(number) => {
            let stored = match ty {
                Type::Float => f64::from(f32::from_bits(u32::try_from(bits).unwrap_or(0))),
                _ => f64::from_bits(bits),
            };
            #[expect(clippy::cast_possible_truncation, reason = "the default of a float is the nearest float")]
            let default = if ty == Type::Float { f64::from(number as f32) } else { number };
            stored == default || (stored.is_nan() && default.is_nan())
        }
        Absent::None | Absent::Text(_) | Absent::EmptyVector => false,
    }
}

/// Keys that were read from the bytes written so far.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedKey {
    /// None could be read.
    None,
    /// A number.
    Signed(i64),
    /// An unsigned one.
    Unsigned(u64),
    /// A float.
    Float(f64),
    /// A string.
    Text(Vec<u8>),
}

/// A key with its own memory.
pub fn owned(key: Option<keys::Key<'_>>) -> OwnedKey {
    match key {
        None => OwnedKey::None,
        Some(keys::Key::Signed(number)) => OwnedKey::Signed(number),
        Some(keys::Key::Unsigned(number)) => OwnedKey::Unsigned(number),
        Some(keys::Key::Float(number)) => OwnedKey::Float(number),
        Some(keys::Key::Text(text)) => OwnedKey::Text(text.to_vec()),
    }
}

impl OwnedKey {
    fn is_less(&self, other: &OwnedKey) -> bool {
        match (self, other) {
            (OwnedKey::Signed(one), OwnedKey::Signed(other)) => one < other,
            (OwnedKey::Unsigned(one), OwnedKey::Unsigned(other)) => one < other,
            (OwnedKey::Float(one), OwnedKey::Float(other)) => one < other,
            (OwnedKey::Text(one), OwnedKey::Text(other)) => one < other,
            _ => false,
        }
    }
}

/// Sorts as flatc does, so that elements with one key stand in the same order: by halves around the first element.
fn quicksort(list: &mut [usize], less: &dyn Fn(usize, usize) -> bool) {
    let mut parts = vec![(0usize, list.len())];
    while let Some((from, to)) = parts.pop() {
        if to.saturating_sub(from) <= 1 {
            continue;
        }
        let at = |list: &[usize], place: usize| list.get(place).copied().unwrap_or(0);
        let (mut left, mut right) = (from.saturating_add(1), to);
        while left < right {
            if less(at(list, from), at(list, left)) {
                right = right.saturating_sub(1);
                list.swap(left, right);
            } else {
                left = left.saturating_add(1);
            }
        }
        left = left.saturating_sub(1);
        list.swap(from, left);
        parts.push((from, left));
        parts.push((right, to));
    }
}
