//! Tables and their vtables: which bytes each field has.

use crate::formats::flatbuffers::faults::{Fault, Wrong};
use crate::formats::flatbuffers::found::Buffer;
use crate::formats::flatbuffers::wire;
use crate::model::flat::{Field, Flat, Object, Shape};
use crate::wire::reader::Bytes;

/// A vtable that can be read: its size is even, at least 4, and ends in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vtable {
    /// Offset of its first byte.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes of the tables that use it.
    pub table_size: u64,
}

/// A field that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its number.
    pub id: u16,
    /// Where its bytes begin.
    pub at: u64,
    /// Bytes that it has.
    pub width: u64,
    /// They lie in the table and in the buffer, and belong to no other field.
    pub usable: bool,
}

/// The vtable of the table at `at`, in a buffer of `start..end`.
///
/// # Errors
/// What is wrong with it, at its byte.
pub fn vtable_at(bytes: Bytes<'_>, at: u64, start: u64, end: u64) -> Result<Vtable, Fault> {
    let soffset = bytes.i32(at).unwrap_or(0);
    let here = |what| Fault { start: at, end: at.saturating_add(4).min(end), what };
    let place = i64::try_from(at).unwrap_or(i64::MAX).saturating_sub(i64::from(soffset));
    let Some(vtable) = u64::try_from(place).ok().filter(|vtable| *vtable >= start) else {
        return Err(here(Wrong::VtableOutside(place)));
    };
    if soffset == 0 {
        return Err(here(Wrong::VtableIsTable));
    }
    if vtable % wire::VTABLE_ALIGN != start % wire::VTABLE_ALIGN {
        return Err(here(Wrong::VtableOdd(vtable)));
    }
    let inside = vtable.saturating_add(wire::VTABLE_HEAD) <= end;
    let (Some(size), Some(table_size), true) = (bytes.u16(vtable), bytes.u16(vtable.saturating_add(2)), inside) else {
        return Err(here(Wrong::VtableOutside(place)));
    };
    let (size, table_size) = (u64::from(size), u64::from(table_size));
    let there =
        |from: u64, what| Fault { start: vtable.saturating_add(from), end: vtable.saturating_add(from + 2), what };
    if size < wire::VTABLE_HEAD || !size.is_multiple_of(2) {
        return Err(there(0, Wrong::VtableSize(size)));
    }
    if vtable.saturating_add(size) > end {
        return Err(there(0, Wrong::VtablePastEnd(size, end)));
    }
    if table_size < wire::OFFSET {
        return Err(there(2, Wrong::TableSize(table_size)));
    }
    Ok(Vtable { start: vtable, size, table_size })
}

impl Vtable {
    /// Number of its slots.
    pub fn slot_count(self) -> u16 {
        u16::try_from(self.size.saturating_sub(wire::VTABLE_HEAD) / wire::VOFFSET).unwrap_or(u16::MAX)
    }

    /// Where a slot stands.
    pub fn slot_at(self, id: u16) -> u64 {
        self.start.saturating_add(wire::VTABLE_HEAD).saturating_add(u64::from(id).saturating_mul(wire::VOFFSET))
    }

    /// The voffset in a slot: 0 is absent; none where the vtable ends before it.
    pub fn voffset(self, bytes: Bytes<'_>, id: u16) -> Option<u16> {
        (id < self.slot_count()).then(|| bytes.u16(self.slot_at(id)))?
    }

    /// Where a field of the table at `at` stands, if it is there.
    pub fn field(self, bytes: Bytes<'_>, at: u64, id: u16) -> Option<u64> {
        let voffset = self.voffset(bytes, id).filter(|voffset| *voffset != 0)?;
        Some(at.saturating_add(u64::from(voffset)))
    }

    /// Puts the fields of the table at `at` that are there into `slots`, in the order of their bytes. Returns what
    /// is wrong with them; what cannot be used stays in the list.
    pub fn slots(
        self,
        bytes: Bytes<'_>,
        at: u64,
        buffer: Buffer,
        ty: Option<&Object>,
        flat: Option<&Flat>,
        slots: &mut Vec<Slot>,
    ) -> Vec<Fault> {
        slots.clear();
        for id in 0..self.slot_count() {
            if let Some(place) = self.field(bytes, at, id) {
                slots.push(Slot { id, at: place, width: 0, usable: true });
            }
        }
        slots.sort_by_key(|slot| (slot.at, slot.id));
        let end = at.saturating_add(self.table_size).min(buffer.end);
        self.widths(end, ty, flat, slots);
        let mut faults = Vec::new();
        let mut taken = at.saturating_add(wire::OFFSET);
        for slot in slots.iter_mut() {
            let field = ty.and_then(|ty| ty.field(slot.id));
            let fault = self.check(slot, at, taken, end, buffer, field.zip(flat));
            slot.usable = !matches!(fault, Some(Fault { what, .. }) if !matches!(what, Wrong::FieldUnaligned(..)));
            if slot.usable {
                taken = slot.at.saturating_add(slot.width);
            }
            faults.extend(fault);
        }
        faults
    }

    /// The bytes that each field has: what its type says, else what the next one leaves.
    fn widths(self, end: u64, ty: Option<&Object>, flat: Option<&Flat>, slots: &mut [Slot]) {
        let (mut next, mut after) = (end, end);
        for slot in slots.iter_mut().rev() {
            if slot.at < next {
                (after, next) = (next, slot.at);
            }
            slot.width = match (ty.and_then(|ty| ty.field(slot.id)), flat) {
                (Some(field), Some(flat)) => field_width(field, flat),
                _ => raw_width(slot.at, after.saturating_sub(slot.at)),
            };
        }
    }

    fn check(
        self,
        slot: &Slot,
        at: u64,
        taken: u64,
        end: u64,
        buffer: Buffer,
        field: Option<(&Field, &Flat)>,
    ) -> Option<Fault> {
        let voffset = slot.at.saturating_sub(at);
        let place = self.slot_at(slot.id);
        let fault = |what| Some(Fault { start: place, end: place.saturating_add(wire::VOFFSET), what });
        if voffset < wire::OFFSET {
            return fault(Wrong::SlotInSoffset(voffset));
        }
        if slot.width == 0 || slot.at.saturating_add(slot.width) > end {
            return fault(Wrong::SlotPastTable(voffset, slot.width.max(1), self.table_size));
        }
        if slot.at < taken {
            return fault(Wrong::SlotsOverlap(voffset));
        }
        let align = field.map_or(1, |(field, flat)| field_align(field, flat));
        let rest = slot.at.wrapping_sub(buffer.origin).checked_rem(align);
        if rest.is_some_and(|rest| rest != 0) { fault(Wrong::FieldUnaligned(slot.at, align)) } else { None }
    }
}

/// Bytes that a field takes in its table.
pub fn field_width(field: &Field, flat: &Flat) -> u64 {
    match field.ty.shape {
        Shape::Vector | Shape::Vector64 => offset_width(field),
        Shape::One if field.ty.of.is_offset() => offset_width(field),
        Shape::One => flat.width(field.ty.of),
        Shape::Array(count) => flat.width(field.ty.of).saturating_mul(u64::from(count)),
    }
}

fn offset_width(field: &Field) -> u64 {
    if field.offset64 { wire::OFFSET64 } else { wire::OFFSET }
}

/// Bytes whose multiple the place of a field is.
pub fn field_align(field: &Field, flat: &Flat) -> u64 {
    if field.ty.is_offset() { offset_width(field) } else { flat.align(field.ty.of) }
}

/// Bytes of a field whose type nobody knows: the largest power of two that its place and its room allow; all of
/// the room where that is a struct's.
fn raw_width(at: u64, room: u64) -> u64 {
    if room > wire::OFFSET64 {
        return room;
    }
    [8u64, 4, 2, 1].into_iter().find(|width| at.is_multiple_of(*width) && *width <= room).unwrap_or(room)
}
