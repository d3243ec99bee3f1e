//! Values of fields, elements and members: what they must be, and what they become.

use crate::formats::flatbuffers::encode::flex::FlexBuilder;
use crate::formats::flatbuffers::encode::frames::{Due, Frame, Slot, Stored};
use crate::formats::flatbuffers::encode::{Writer, scalars, sort};
use crate::formats::flatbuffers::wire;
use crate::formats::given;
use crate::formats::target::{found_words, nearest};
use crate::model::events::{Flow, Stop};
use crate::model::flat::{Enum, Field, Of, Scalar as Type, Shape as Many};
use crate::model::limits::FLATBUFFERS_DEPTH;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

/// Names of an enumeration that a sentence lists.
const LISTED: usize = 8;

impl Writer<'_> {
    /// The value of a field of a table.
    pub(super) fn field_value(&mut self, id: MessageId, place: usize, event: &Event<'_>) -> Flow {
        let Some(field) = self.field(id, place) else { return Ok(()) };
        match field.ty.shape {
            Many::Vector | Many::Vector64 => self.vector_value(id, place, field, event),
            Many::One => {
                let Of::Union(_) = field.ty.of else { return self.single(field, field.ty.of, event) };
                match self.kind_of(place) {
                    Some(kind) => self.union_value(field, kind, event),
                    None => self.begin_hold(place, event),
                }
            }
            Many::Array(_) => Ok(()),
        }
    }

    /// What the union at a position of the innermost table holds, where its type has come.
    fn kind_of(&self, place: usize) -> Option<u64> {
        let Some(Frame::Table { slots, .. }) = self.frames.last() else { return None };
        let wanted = place.checked_sub(1)?;
        let slot = self.slots.get(*slots..)?.iter().rev().find(|slot| slot.place == wanted)?;
        if let Stored::Bits(bits) = slot.stored { Some(bits) } else { None }
    }

    /// The value of a union whose type is known.
    fn union_value(&mut self, field: &Field, kind: u64, event: &Event<'_>) -> Flow {
        let Of::Union(id) = field.ty.of else { return Ok(()) };
        let member = self.flat.enumeration(id).and_then(|one| one.member(kind.cast_signed())?.member);
        match member {
            Some(of) => self.single(field, of, event),
            None => {
                let name = &field.name;
                self.misfit(format!("`{name}_type` is {kind}, which says of nothing what `{name}` holds"), "")
            }
        }
    }

    /// One value that is no vector.
    fn single(&mut self, field: &Field, of: Of, event: &Event<'_>) -> Flow {
        match (of, event) {
            (Of::Table(id), Event::Begin(Shape::Map, _)) => self.begin_table(id, false),
            (Of::Struct(id), Event::Begin(Shape::Map, _)) => {
                let base = self.scratch.len();
                self.begin_struct(id, base, false)
            }
            (Of::Table(_) | Of::Struct(_), _) => self.expected("an object", event),
            (Of::Text, Event::Scalar(Scalar::Text(text))) => {
                if std::str::from_utf8(text).is_err() {
                    return self.misfit("expected text, found bytes that are not UTF-8", "");
                }
                if self.layout.drop_empty && text.is_empty() && !field.required && self.at_field() {
                    self.set_due(Due::Name);
                    return Ok(());
                }
                let shared = field.shared;
                let place = if shared { self.builder.shared_string(text) } else { self.builder.string(text) };
                self.check_size()?;
                self.deliver(Stored::Offset(place))
            }
            (Of::Text, _) => self.expected("a string", event),
            (Of::Union(_) | Of::Raw(_), _) => self.expected("a value of a known type", event),
            (Of::Scalar(_) | Of::Enum(_) | Of::UnionType(_), _) => {
                let bits = self.bits(field, of, event)?;
                self.deliver(Stored::Bits(bits))
            }
        }
    }

    /// Whether the value belongs to a field, and not to a vector.
    fn at_field(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Table { .. }))
    }

    /// A scalar in the bits of its type.
    fn bits(&self, field: &Field, of: Of, event: &Event<'_>) -> Result<u64, Stop> {
        let Event::Scalar(value) = event else { return self.expected(&self.noun(of), event) };
        if let (Some(hash), Scalar::Text(text)) = (&field.hash, value)
            && let Some(bits) = scalars::hash(hash, text)
        {
            return Ok(bits);
        }
        match scalars::bits(self.flat, of, value) {
            Some(bits) => Ok(bits),
            None => {
                self.misfit(format!("expected {}, found {}", self.noun(of), found_words(event)), self.help(of, value))
            }
        }
    }

    /// What is expected: `a short, -32768 to 32767`.
    fn noun(&self, of: Of) -> String {
        let Some(scalar) = self.flat.scalar(of) else { return "a value".to_string() };
        match (of, scalars::range(scalar)) {
            (Of::Enum(id) | Of::UnionType(id), _) => {
                let name = self.flat.enumeration(id).map_or("", Enum::short_name);
                format!("a value of {name}")
            }
            (_, Some((low, high))) if scalar != Type::Bool => format!("{} from {low} to {high}", scalar.name()),
            _ => scalar.name().to_string(),
        }
    }

    fn help(&self, of: Of, value: &Scalar<'_>) -> String {
        let (Of::Enum(id) | Of::UnionType(id), Scalar::Text(text)) = (of, value) else { return String::new() };
        let Some(one) = self.flat.enumeration(id) else { return String::new() };
        let names = one.values.iter().map(|value| value.name.as_str());
        let near = nearest(&String::from_utf8_lossy(text), names.clone());
        if !near.is_empty() {
            return near;
        }
        let listed: Vec<&str> = names.clone().take(LISTED).collect();
        let more = if names.count() > LISTED { ", …" } else { "" };
        format!("it has {}{more}", listed.join(", "))
    }

    /// A vector, or what stands for one.
    fn vector_value(&mut self, id: MessageId, place: usize, field: &Field, event: &Event<'_>) -> Flow {
        match (field.nested, event) {
            (_, Event::Scalar(Scalar::Bytes(bytes))) => return self.bytes(field, bytes, event),
            (Some(inner), Event::Begin(Shape::Map, _)) => return self.begin_table(inner, true),
            _ if field.flexbuffer => {
                self.flex = Some(FlexBuilder::default());
                self.frames.push(Frame::Flex);
                return self.in_flex(event);
            }
            (_, Event::Scalar(Scalar::Text(text))) => return self.base64(field, text, event),
            _ => {}
        }
        if matches!(event, Event::Begin(Shape::List, _)) {
            if matches!(field.ty.of, Of::Union(_)) && self.kinds_of(place).is_none() {
                return self.begin_hold(place, event);
            }
            let (scratch, offsets) = (self.scratch.len(), self.offsets.len());
            self.frames.push(Frame::Vector { id, place, count: 0, scratch, offsets });
            return Ok(());
        }
        self.expected("an array", event)
    }

    fn is_bytes(field: &Field) -> bool {
        matches!(field.ty.of, Of::Scalar(Type::Ubyte | Type::Byte))
    }

    /// Bytes of another format.
    fn bytes(&mut self, field: &Field, bytes: &[u8], event: &Event<'_>) -> Flow {
        if !Self::is_bytes(field) {
            return self.expected("an array", event);
        }
        if field.nested.is_some() || field.flexbuffer {
            // What they hold needs the alignment of the largest scalar at most, and says nothing of it.
            return self.blob(bytes, wire::OFFSET64);
        }
        self.scalars(field, bytes, len64(bytes.len()))
    }

    /// Bytes as ProtoJSON writes them.
    fn base64(&mut self, field: &Field, text: &[u8], event: &Event<'_>) -> Flow {
        match given::base64(text) {
            Some(bytes) if Self::is_bytes(field) => self.scalars(field, &bytes, len64(bytes.len())),
            _ => self.expected("an array", event),
        }
    }

    /// Types of the vector of unions at a position of the innermost table.
    fn kinds_of(&self, place: usize) -> Option<&Vec<u64>> {
        let frames = self.frames.len();
        let wanted = place.checked_sub(1)?;
        let found = self.kinds.iter().rev().find(|(at, place, _)| *at == frames && *place == wanted);
        found.map(|(.., kinds)| kinds)
    }

    pub(super) fn in_vector(&mut self, id: MessageId, place: usize, count: u64, event: &Event<'_>) -> Flow {
        if *event == Event::End {
            return self.end_vector();
        }
        let Some(field) = self.field(id, place) else { return Ok(()) };
        let Of::Union(_) = field.ty.of else { return self.single(field, field.ty.of, event) };
        // The table around the vector is one frame out.
        let (frames, wanted) = (self.frames.len().saturating_sub(1), place.saturating_sub(1));
        let kinds = self.kinds.iter().rev().find(|(at, place, _)| *at == frames && *place == wanted);
        let at = usize::try_from(count).unwrap_or(usize::MAX);
        match kinds.and_then(|(.., kinds)| kinds.get(at)).copied() {
            Some(kind) => self.union_value(field, kind, event),
            None => self.misfit(format!("`{}_type` has no type for it", field.name), ""),
        }
    }

    pub(super) fn deliver_element(&mut self, id: MessageId, place: usize, stored: Stored) {
        let Some(field) = self.field(id, place) else { return };
        match stored {
            Stored::Bits(bits) => {
                let size = self.flat.scalar(field.ty.of).map_or(1, Type::size);
                self.scratch.extend_from_slice(bits.to_le_bytes().get(..usize::from(size)).unwrap_or(&[]));
            }
            Stored::Offset(place) => self.offsets.push(place),
            Stored::Struct(base, of) if matches!(field.ty.of, Of::Union(_)) => {
                let place = self.lone_struct(base, of);
                self.offsets.push(place);
            }
            Stored::Struct(..) => {}
        }
        if let Some(Frame::Vector { count, .. }) = self.frames.last_mut() {
            *count = count.saturating_add(1);
        }
    }

    /// Writes the struct of a union, which lies behind an offset.
    fn lone_struct(&mut self, base: usize, id: MessageId) -> u64 {
        self.builder.align_to(self.flat.align(Of::Struct(id)));
        self.builder.push(self.scratch.get(base..).unwrap_or(&[]));
        self.scratch.truncate(base);
        self.builder.size()
    }

    fn end_vector(&mut self) -> Flow {
        let Some(Frame::Vector { id, place, count, scratch, offsets }) = self.frames.pop() else { return Ok(()) };
        let Some(field) = self.field(id, place) else { return Ok(()) };
        if matches!(field.ty.of, Of::UnionType(_)) {
            let kinds = self.scratch.get(scratch..).unwrap_or(&[]);
            let size = usize::try_from(self.flat.width(field.ty.of)).unwrap_or(1);
            let kinds = kinds.chunks_exact(size.max(1)).map(crate::wire::reader::little_endian).collect();
            self.kinds.push((self.frames.len(), place, kinds));
        }
        if !field.ty.of.is_offset() {
            let mut bytes = self.scratch.split_off(scratch.min(self.scratch.len()));
            if self.layout.sort_keys {
                sort::structs(self.flat, field.ty.of, &mut bytes);
            }
            self.scalars(field, &bytes, count)?;
            // The memory is used again.
            if self.scratch.is_empty() {
                bytes.clear();
                self.scratch = bytes;
            }
            return Ok(());
        }
        if self.layout.drop_empty && count == 0 && !field.required {
            self.set_due(Due::Name);
            return Ok(());
        }
        let mut places = self.offsets.split_off(offsets.min(self.offsets.len()));
        if self.layout.sort_keys {
            sort::tables(self.flat, field.ty.of, &self.builder, &mut places);
        }
        let place = self.builder.offsets(&places);
        self.check_size()?;
        self.deliver(Stored::Offset(place))
    }

    /// A vector of scalars or structs, from its bytes.
    fn scalars(&mut self, field: &Field, bytes: &[u8], count: u64) -> Flow {
        if self.layout.drop_empty && count == 0 && !field.required {
            self.set_due(Due::Name);
            return Ok(());
        }
        let forced = field.attributes.iter().find(|(name, _)| name == "force_align");
        if let Some(align) =
            forced.and_then(|(_, value)| value.parse::<u64>().ok()).filter(|align| align.is_power_of_two())
            && count > 0
        {
            self.builder.before(len64(bytes.len()), align);
        }
        let align = self.flat.align(field.ty.of);
        let how = (self.layout.loose_empty, field.ty.shape == Many::Vector64);
        let place = self.builder.vector(bytes, count, align, how);
        self.check_size()?;
        self.deliver(Stored::Offset(place))
    }

    /// Refuses a buffer that offsets do not reach.
    fn check_size(&self) -> Flow {
        if self.builder.size() <= wire::LARGEST
            || self.flat.objects.iter().any(|object| object.fields.iter().any(|field| field.offset64))
        {
            return Ok(());
        }
        Err(Stop::Refused(format!("more than {} bytes, the most that offsets reach", wire::LARGEST)))
    }

    pub(super) fn deliver_field(&mut self, id: MessageId, place: usize, stored: Stored) -> Flow {
        let Some(field) = self.field(id, place) else { return Ok(()) };
        self.set_due(Due::Name);
        let stored = match stored {
            Stored::Struct(base, of) if matches!(field.ty.of, Of::Union(_)) => {
                Stored::Offset(self.lone_struct(base, of))
            }
            other => other,
        };
        let class = match (stored, field.ty.shape) {
            (Stored::Bits(_), _) => self.flat.scalar(field.ty.of).map_or(1, Type::size),
            (_, Many::Vector64) => 8,
            _ => 4,
        };
        self.slots.push(Slot { place, id: field.id, class, stored });
        if matches!(field.ty.of, Of::UnionType(_)) {
            self.release(place);
        }
        Ok(())
    }

    /// A table is whole.
    pub(super) fn end_table(&mut self) -> Flow {
        self.refuse_waiting()?;
        let Some(Frame::Table { id, slots, scratch, start, nested, .. }) = self.frames.pop() else { return Ok(()) };
        self.kinds.retain(|(frames, ..)| *frames <= self.frames.len());
        let Some(object) = self.flat.object(id) else { return Ok(()) };
        let mut fields = self.slots.split_off(slots.min(self.slots.len()));
        if !fields.is_sorted_by_key(|slot| slot.id) {
            fields.sort_by_key(|slot| slot.id);
        }
        let twice = fields.windows(2).find_map(|pair| match pair {
            [a, b] if a.id == b.id => object.fields.get(a.place),
            _ => None,
        });
        if let Some(field) = twice {
            return self.misfit_at(start, format!("`{}` stands there twice", field.name), "");
        }
        let required = usize::try_from(id.0).ok().and_then(|at| self.required.get(at));
        for place in required.into_iter().flatten() {
            if !fields.iter().any(|slot| slot.place == *place) {
                let name = object.fields.get(*place).map_or("", |field| field.name.as_str());
                return self.misfit_at(start, format!("required field `{name}` of {} is missing", object.name), "");
            }
        }
        let place = self.lay_out(object, &fields)?;
        // The memory is used again.
        if self.slots.is_empty() {
            fields.clear();
            self.slots = fields;
        }
        self.scratch.truncate(scratch);
        self.tables = self.tables.saturating_sub(1);
        self.check_size()?;
        if nested { self.end_nested(place) } else { self.deliver(Stored::Offset(place)) }
    }

    /// Writes the fields of a table in the order of the layout.
    fn lay_out(&mut self, object: &crate::model::flat::Object, fields: &[Slot]) -> Result<u64, Stop> {
        let begin = self.builder.size();
        self.placed.clear();
        // A pass for each size, or one for all.
        let sizes: &[u8] = if self.layout.by_size && !object.original_order { &[8, 4, 2, 1] } else { &[0] };
        for size in sizes {
            let now = |slot: &&Slot| *size == 0 || slot.class == *size;
            if !self.layout.by_size {
                fields.iter().filter(now).for_each(|slot| self.add(object, slot));
            } else {
                fields.iter().rev().filter(now).for_each(|slot| self.add(object, slot));
            }
        }
        match self.builder.table(begin, &self.placed, self.layout.share_vtables) {
            Some(place) => Ok(place),
            None => self.misfit("fields take more than the 65535 bytes that a table may have", ""),
        }
    }

    fn add(&mut self, object: &crate::model::flat::Object, slot: &Slot) {
        let Some(field) = object.fields.get(slot.place) else { return };
        match slot.stored {
            Stored::Bits(bits) => {
                let Some(scalar) = self.flat.scalar(field.ty.of) else { return };
                let force = self.layout.force_defaults && self.outer.is_empty();
                if !field.optional && !force && scalars::is_default(scalar, bits, &field.default) {
                    return;
                }
                self.builder.scalar(bits, scalar.size());
            }
            Stored::Offset(place) => self.builder.offset(place, field.offset64),
            Stored::Struct(base, id) => {
                let size = usize::try_from(self.flat.width(Of::Struct(id))).unwrap_or(0);
                self.builder.align_to(self.flat.align(Of::Struct(id)));
                self.builder.push(self.scratch.get(base..base.saturating_add(size)).unwrap_or(&[]));
            }
        }
        self.placed.push((slot.id, self.builder.size()));
    }

    /// A buffer inside another is whole: it becomes a vector of bytes.
    fn end_nested(&mut self, root: u64) -> Flow {
        self.builder.finish(root, None, false);
        let inner = std::mem::replace(&mut self.builder, self.outer.pop().unwrap_or_default());
        self.blob(inner.written(), inner.align)
    }

    /// Bytes as the vector of the field that is due, aligned as what they hold.
    fn blob(&mut self, bytes: &[u8], align: u64) -> Flow {
        let Some(Frame::Table { id, due: Due::Value(place), .. }) = self.frames.last().copied() else { return Ok(()) };
        let wide = self.field(id, place).is_some_and(|field| field.ty.shape == Many::Vector64);
        let len = len64(bytes.len());
        self.builder.before(len, align);
        let place = self.builder.vector(bytes, len, 1, (true, wide));
        self.check_size()?;
        self.deliver(Stored::Offset(place))
    }

    /// An event inside a FlexBuffer.
    pub(super) fn in_flex(&mut self, event: &Event<'_>) -> Flow {
        let Some(mut flex) = self.flex.take() else { return Ok(()) };
        match event {
            Event::Begin(..) if flex.depth() >= FLATBUFFERS_DEPTH => {
                return self.misfit(format!("more than {FLATBUFFERS_DEPTH} containers within each other"), "");
            }
            Event::Begin(shape, _) => flex.begin(*shape == Shape::Map),
            Event::End => {
                if !flex.end() {
                    return self.misfit("a map of a FlexBuffer with one key twice", "");
                }
            }
            Event::Scalar(Scalar::Text(key)) if flex.at_key() => flex.key(key),
            Event::Scalar(value) if flex.at_key() || !flex_scalar(&mut flex, value) => {
                return self.expected("a value that JSON has", event);
            }
            Event::Scalar(_) | Event::Message(_) | Event::Piece { .. } => {}
        }
        if flex.depth() > 0 {
            self.flex = Some(flex);
            return Ok(());
        }
        self.frames.pop();
        self.blob(&flex.finish(), 8)
    }

    /// A struct begins at a place in scratch; an inner one lies in the bytes of the outer one.
    fn begin_struct(&mut self, id: MessageId, base: usize, inner: bool) -> Flow {
        if !inner {
            let size = usize::try_from(self.flat.width(Of::Struct(id))).unwrap_or(0);
            self.scratch.resize(base.saturating_add(size), 0);
        }
        let start = self.here.start;
        self.frames.push(Frame::Struct { id, base, due: Due::Name, next: 0, inner, seen: 0, members: 0, start });
        Ok(())
    }

    pub(super) fn in_struct(&mut self, id: MessageId, base: usize, due: Due, event: &Event<'_>) -> Flow {
        match (due, event) {
            (_, Event::End) => self.end_struct(),
            (Due::Name, Event::Scalar(Scalar::Text(name))) => self.name(id, name),
            (Due::Name, _) => self.expected("the name of a member", event),
            (Due::Ignored, _) => {
                self.set_due(Due::Name);
                if matches!(event, Event::Begin(..)) {
                    self.frames.push(Frame::Skip { depth: 1 });
                }
                Ok(())
            }
            (Due::Value(place), _) => self.member(id, base, place, event),
        }
    }

    /// The value of a member of a struct.
    fn member(&mut self, id: MessageId, base: usize, place: usize, event: &Event<'_>) -> Flow {
        let Some(field) = self.field(id, place) else { return Ok(()) };
        if let Some(Frame::Struct { due, seen, members, .. }) = self.frames.last_mut() {
            let bit = 1u64.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0);
            let twice = *seen & bit != 0;
            (*due, *seen, *members) = (Due::Name, *seen | bit, members.saturating_add(1));
            if twice {
                return self.misfit(format!("`{}` stands there twice", field.name), "");
            }
        }
        let base = base.saturating_add(usize::try_from(field.offset).unwrap_or(0));
        match (field.ty.shape, field.ty.of, event) {
            (Many::Array(len), of, Event::Begin(Shape::List, _)) => {
                let (len, start) = (u64::from(len), self.here.start);
                self.frames.push(Frame::Array { of, base, next: 0, len, start });
                Ok(())
            }
            (Many::Array(len), Of::Scalar(Type::Ubyte), Event::Scalar(Scalar::Bytes(bytes)))
                if bytes.len() == usize::from(len) =>
            {
                self.put(base, bytes);
                Ok(())
            }
            (Many::Array(_), ..) => self.expected("an array", event),
            (_, of, _) => self.in_place(field, of, base, event),
        }
    }

    /// A scalar or struct at its place in scratch.
    fn in_place(&mut self, field: &Field, of: Of, base: usize, event: &Event<'_>) -> Flow {
        match (of, event) {
            (Of::Struct(id), Event::Begin(Shape::Map, _)) => self.begin_struct(id, base, true),
            (Of::Struct(_), _) => self.expected("an object", event),
            _ => {
                let bits = self.bits(field, of, event)?;
                let size = self.flat.scalar(of).map_or(1, Type::size);
                self.put(base, bits.to_le_bytes().get(..usize::from(size)).unwrap_or(&[]));
                Ok(())
            }
        }
    }

    fn put(&mut self, base: usize, bytes: &[u8]) {
        let end = base.saturating_add(bytes.len());
        if let Some(into) = self.scratch.get_mut(base..end) {
            into.copy_from_slice(bytes);
        }
    }

    pub(super) fn in_array(&mut self, of: Of, base: usize, (at, len): (u64, u64), event: &Event<'_>) -> Flow {
        if *event == Event::End || at >= len {
            let Some(Frame::Array { start, .. }) = self.frames.pop() else { return Ok(()) };
            if *event == Event::End && at == len {
                return Ok(());
            }
            let found = if at < len { at.to_string() } else { "more".to_string() };
            return self.misfit_at(start, format!("expected an array of {len}, found {found}"), "");
        }
        if let Some(Frame::Array { next, .. }) = self.frames.last_mut() {
            *next = at.saturating_add(1);
        }
        let step = usize::try_from(at.saturating_mul(self.flat.width(of))).unwrap_or(0);
        let field = Field::new(String::new(), 0, crate::model::flat::Type::one(of));
        self.in_place(&field, of, base.saturating_add(step), event)
    }

    fn end_struct(&mut self) -> Flow {
        let Some(Frame::Struct { id, base, inner, members, start, .. }) = self.frames.pop() else { return Ok(()) };
        let Some(object) = self.flat.object(id) else { return Ok(()) };
        let wanted = object.fields.len();
        if members != wanted {
            let sentence = format!("struct {} needs all of its {wanted} members, found {members}", object.name);
            return self.misfit_at(start, sentence, "");
        }
        if self.layout.struct_gaps {
            self.builder.align_to(u64::from(object.align.max(1)));
        }
        if inner { Ok(()) } else { self.deliver(Stored::Struct(base, id)) }
    }
}

/// Adds a value to a FlexBuffer; false where JSON has none like it.
fn flex_scalar(flex: &mut FlexBuilder, value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Null | Scalar::Missing => flex.null(),
        Scalar::Bool(value) => flex.bool(*value),
        Scalar::Int(value) => flex.int(*value),
        Scalar::Uint(value) => match i64::try_from(*value) {
            Ok(value) => flex.int(value),
            Err(_) => flex.uint(*value),
        },
        Scalar::F32(value) => flex.float(f64::from(*value)),
        Scalar::F64(value) => flex.float(*value),
        Scalar::Number(text) => match (text.parse::<i64>(), text.parse::<u64>(), text.parse::<f64>()) {
            (Ok(value), ..) => flex.int(value),
            (_, Ok(value), _) => flex.uint(value),
            (.., Ok(value)) => flex.float(value),
            _ => return false,
        },
        Scalar::Text(text) => flex.text(text),
        Scalar::Bytes(bytes) => flex.blob(bytes),
        Scalar::Ext(..) | Scalar::Timestamp(..) => return false,
    }
    true
}
