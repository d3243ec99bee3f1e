//! Tables: their vtables, and where their fields lead.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::found::{Buffer, Content, Elements, NONE, Object, Reach, Shared, What};
use crate::formats::flatbuffers::likely;
use crate::formats::flatbuffers::objects::{LOOKED_AT, MOST_CANDIDATES, Search, member};
use crate::formats::flatbuffers::table::{Slot, Vtable, field_align, vtable_at};
use crate::model::flat::{EnumId, Field, Flat, Of, Shape};
use crate::model::schema::MessageId;
use crate::wire::reader::little_endian;

impl Search<'_> {
    /// A table: its vtable, and the offsets in its fields.
    pub(super) fn table(&mut self, number: u32, object: Object, ty: Option<MessageId>, buffer: Buffer) -> u64 {
        let at = object.start;
        let vtable = match vtable_at(self.bytes, at, buffer.start, buffer.end) {
            Ok(vtable) => vtable,
            Err(fault) => {
                self.fault(fault.start, fault.end, fault.what);
                return at.saturating_add(4).min(buffer.end);
            }
        };
        let shared = self.share(vtable, object.buffer, number);
        if let Some(object) = usize::try_from(number).ok().and_then(|at| self.found.objects.get_mut(at)) {
            object.vtable = shared;
        }
        let end = at.saturating_add(vtable.table_size);
        if end > buffer.end {
            let place = vtable.start.saturating_add(2);
            self.fault(place, place.saturating_add(2), Wrong::TablePastEnd(vtable.table_size, buffer.end));
            self.open_ended = true;
        }
        let mut slots = std::mem::take(&mut self.slots);
        let faults = vtable.slots(self.bytes, at, buffer, self.known_type(ty), self.flat, &mut slots);
        for fault in faults {
            self.fault(fault.start, fault.end, fault.what);
        }
        let fields = slots.iter().filter(|slot| slot.usable).map(|slot| slot.at.saturating_add(slot.width)).max();
        self.claimed = self.claimed.max(fields.unwrap_or(0)).max(at.saturating_add(4));
        self.widen(ty, &slots);
        for slot in slots.iter().filter(|slot| slot.usable) {
            self.field(number, object, ty, vtable, slot);
        }
        self.slots = slots;
        self.required(at, ty, vtable);
        end.min(buffer.end)
    }

    /// Notes the largest alignment of the fields of a table.
    pub(super) fn widen(&mut self, ty: Option<MessageId>, slots: &[Slot]) {
        let (Some(flat), Some(object)) = (self.flat, self.known_type(ty)) else { return };
        let aligns = slots.iter().filter_map(|slot| Some(field_align(object.field(slot.id)?, flat)));
        let widest = aligns.max().unwrap_or(1);
        self.found.widest = self.found.widest.max(widest).max(4);
    }

    pub(super) fn known_type(&self, ty: Option<MessageId>) -> Option<&crate::model::flat::Object> {
        self.flat?.object(ty?)
    }

    /// Notes a further user of a vtable.
    pub(super) fn share(&mut self, vtable: Vtable, buffer: u32, user: u32) -> u32 {
        let next = u32::try_from(self.found.vtables.len()).unwrap_or(NONE);
        let number = *self.found.known.entry((vtable.start, buffer)).or_insert(next);
        if number == next {
            self.found.vtables.push(Shared { vtable, users: 0, first: user });
        }
        if let Some(shared) = usize::try_from(number).ok().and_then(|at| self.found.vtables.get_mut(at)) {
            shared.users = shared.users.saturating_add(1);
        }
        number
    }

    /// Where a field leads.
    pub(super) fn field(&mut self, number: u32, object: Object, ty: Option<MessageId>, vtable: Vtable, slot: &Slot) {
        let known = self.flat.and_then(|flat| Some((flat, flat.object(ty?)?.field(slot.id)?)));
        let Some((flat, field)) = known else { return self.unknown_field(number, object, slot) };
        let reach = Reach::Field(slot.id);
        let wide = field.offset64;
        let what = match (field.ty.shape, field.ty.of) {
            (Shape::One, Of::Text) => What::Text,
            (Shape::One, Of::Table(id)) => What::Table(Some(id)),
            (Shape::One, Of::Union(id)) => match self.union_value(object.start, vtable, field, flat, id) {
                Some(what) => what,
                None => {
                    self.likely(slot.at, number, reach, object.buffer);
                    return;
                }
            },
            (Shape::Vector | Shape::Vector64, of) => What::Vector(self.elements_of(object.start, vtable, field, of)),
            _ => return,
        };
        let name = match what {
            What::Text => "a string",
            What::Vector(_) => "a vector",
            What::Struct(_) => "a struct",
            What::Table(_) | What::Head => "a table",
        };
        self.follow(slot.at, wide, what, number, reach, object.buffer, name);
    }

    /// A field that the schema does not know: where it looks like an offset to a table or string, it is one.
    pub(super) fn unknown_field(&mut self, number: u32, object: Object, slot: &Slot) {
        if slot.width == 4 && self.likely(slot.at, number, Reach::Field(slot.id), object.buffer) {
            return;
        }
        let buffer = self.buffer(object.buffer);
        let target = self.bytes.u32(slot.at).filter(|offset| slot.width == 4 && *offset >= 4);
        let Some(target) = target.map(|offset| slot.at.saturating_add(u64::from(offset))) else { return };
        if target.wrapping_sub(buffer.origin) % 4 != 0 || target.saturating_add(4) > buffer.end {
            return;
        }
        let what = match self.hints.places.get(&target) {
            Some(Of::Text) => What::Text,
            Some(of) => What::Vector(Elements { of: *of, wide: false, content: Content::Plain }),
            None => {
                self.found.partial = true;
                if self.found.candidates.len() < MOST_CANDIDATES {
                    self.found.candidates.push(target);
                }
                return;
            }
        };
        self.unsure = true;
        self.follow(slot.at, false, what, number, Reach::Field(slot.id), object.buffer, "a vector");
    }

    /// Follows what looks like an offset, and returns whether it does.
    pub(super) fn likely(&mut self, at: u64, number: u32, reach: Reach, number_of_buffer: u32) -> bool {
        let buffer = self.buffer(number_of_buffer);
        let what = likely::target(self.bytes, at, buffer).filter(|what| !self.has_no_vtable(at, *what, buffer));
        let Some(what) = what else { return false };
        self.unsure = true;
        self.follow(at, false, what, number, reach, number_of_buffer, "a table");
        true
    }

    /// Whether what looks like a table, or like a vector of tables, has a vtable where other objects are.
    pub(super) fn has_no_vtable(&self, at: u64, what: What, buffer: Buffer) -> bool {
        if self.hints.no_vtables.is_empty() {
            return false;
        }
        let target = |at: u64| at.saturating_add(u64::from(self.bytes.u32(at).unwrap_or(0)));
        let wrong = |table: u64| {
            let vtable = vtable_at(self.bytes, table, buffer.start, buffer.end);
            vtable.is_ok_and(|vtable| self.hints.no_vtables.contains(&vtable.start))
        };
        match what {
            What::Table(_) => wrong(target(at)),
            What::Vector(Elements { of: Of::Table(_), .. }) => {
                let vector = target(at);
                let count = u64::from(self.bytes.u32(vector).unwrap_or(0)).min(LOOKED_AT);
                (1..=count).any(|index| wrong(target(vector.saturating_add(index.saturating_mul(4)))))
            }
            _ => false,
        }
    }

    pub(super) fn elements_of(&self, at: u64, vtable: Vtable, field: &Field, of: Of) -> Elements {
        let content = match (of, field.nested, field.flexbuffer) {
            (Of::Union(_), ..) => Content::Types(self.types_vector(at, vtable, field)),
            (_, Some(root), _) => Content::Nested(root),
            (_, None, true) => Content::Flex,
            _ => Content::Plain,
        };
        Elements { of, wide: field.ty.shape == Shape::Vector64, content }
    }

    /// Where the types of a vector of unions stand.
    pub(super) fn types_vector(&self, at: u64, vtable: Vtable, field: &Field) -> Option<u64> {
        let place = vtable.field(self.bytes, at, field.id.checked_sub(1)?)?;
        let to = place.checked_add(u64::from(self.bytes.u32(place)?))?;
        self.bytes.u32(to).map(|_| to)
    }

    /// What the value of a union is, by the type beside it.
    pub(super) fn union_value(
        &mut self,
        at: u64,
        vtable: Vtable,
        field: &Field,
        flat: &Flat,
        id: EnumId,
    ) -> Option<What> {
        let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
        let place = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id));
        let ty = place.map_or(0, |place| little_endian(self.bytes.clipped(place, place.saturating_add(each))));
        if ty == 0 {
            let value = vtable.field(self.bytes, at, field.id).unwrap_or(at);
            self.fault(value, value.saturating_add(4), Wrong::UnionWithoutType);
            return None;
        }
        let what = member(flat, id, ty);
        if what.is_none() {
            let place = place.unwrap_or(at);
            self.fault(place, place.saturating_add(each), Wrong::UnionTypeUnknown(ty));
        }
        what
    }

    /// Fields that must be there.
    pub(super) fn required(&mut self, at: u64, ty: Option<MessageId>, vtable: Vtable) {
        let Some(flat) = self.flat else { return };
        let Some((id, object)) = ty.and_then(|ty| Some((ty, flat.object(ty)?))) else { return };
        let needs = usize::try_from(id.0).ok().and_then(|at| self.needs.get_mut(at)).map(std::mem::take);
        let needs = needs.unwrap_or_default();
        for field in needs.iter().filter_map(|id| object.field(*id)) {
            let absent = || vtable.voffset(self.bytes, field.id).unwrap_or(0) == 0;
            if field.required && absent() {
                let what = if field.key { Wrong::KeyMissing(field.id) } else { Wrong::RequiredMissing(field.id) };
                self.fault(at, at.saturating_add(4), what);
            } else if let (Shape::One, Of::Union(id)) = (field.ty.shape, field.ty.of)
                && absent()
                && let Some(place) = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id))
            {
                let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
                let number = little_endian(self.bytes.clipped(place, place.saturating_add(each)));
                if number != 0 {
                    self.fault(place, place.saturating_add(each), Wrong::UnionWithoutValue(number));
                }
            }
        }
        if let Some(place) = usize::try_from(id.0).ok().and_then(|at| self.needs.get_mut(at)) {
            *place = needs;
        }
    }
}
