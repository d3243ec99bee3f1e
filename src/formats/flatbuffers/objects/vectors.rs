//! Structs, strings and vectors: how far they reach, and where their elements lead.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::found::{Buffer, Content, Elements, Object, Reach, What};
use crate::formats::flatbuffers::objects::{Search, member};
use crate::formats::flatbuffers::{keys, likely};
use crate::model::flat::Of;
use crate::model::schema::MessageId;
use crate::wire::reader::little_endian;

impl Search<'_> {
    pub(super) fn structure(&mut self, object: Object, id: MessageId, buffer: Buffer) -> u64 {
        let size = self.flat.map_or(1, |flat| flat.width(Of::Struct(id)));
        let end = object.start.saturating_add(size);
        if end > buffer.end {
            self.fault(object.from, object.from.saturating_add(4), Wrong::PastEnd(end, buffer.end));
        }
        end.min(buffer.end)
    }

    pub(super) fn text(&mut self, object: Object, buffer: Buffer) -> u64 {
        let length = u64::from(self.bytes.u32(object.start).unwrap_or(0));
        let from = object.start.saturating_add(4);
        let end = from.saturating_add(length);
        if end.saturating_add(1) > buffer.end {
            self.fault(object.start, from, Wrong::StringPastEnd(length, buffer.end));
            self.open_ended = true;
            return buffer.end;
        }
        if let Some(byte) = self.bytes.u8(end).filter(|byte| *byte != 0) {
            self.fault(end, end.saturating_add(1), Wrong::NoTerminator(byte));
        }
        let bytes = self.bytes.clipped(from, end);
        if let Err(error) = std::str::from_utf8(bytes) {
            let at = from.saturating_add(crate::model::num::len64(error.valid_up_to()));
            self.fault(from, end, Wrong::InvalidUtf8(at));
        }
        end.saturating_add(1)
    }

    pub(super) fn vector(&mut self, number: u32, object: Object, elements: Elements, buffer: Buffer) -> u64 {
        let head = if elements.wide { 8 } else { 4 };
        let count =
            if elements.wide { self.bytes.u64(object.start) } else { self.bytes.u32(object.start).map(u64::from) };
        let count = count.unwrap_or(0);
        let from = object.start.saturating_add(head);
        let (width, align) = self.flat.map_or((1, 1), |flat| (flat.width(elements.of), flat.align(elements.of)));
        if count > 0 {
            self.found.widest = self.found.widest.max(align);
        }
        if count > 0 && from.wrapping_sub(buffer.origin).checked_rem(align).is_some_and(|rest| rest != 0) {
            self.fault(object.from, object.from.saturating_add(4), Wrong::Unaligned(from, align));
        }
        let fit = buffer.end.saturating_sub(from).checked_div(width).unwrap_or(0);
        if count > fit {
            self.fault(object.start, from.min(buffer.end), Wrong::VectorPastEnd(count, width, buffer.end));
        }
        let shown = count.min(fit);
        self.sorted(elements.of, from, shown, width, buffer);
        match elements.content {
            Content::Nested(root) if count <= fit && count > 0 => {
                let nested = Buffer { start: from, origin: from, end: from.saturating_add(count) };
                self.head(nested, Some(root), number, Reach::Same, object.start);
                return from;
            }
            Content::Types(types) => self.unions(number, elements.of, types, from, count, shown, object.buffer),
            _ => self.elements(number, elements.of, from, shown, object.buffer),
        }
        if shown < count {
            self.open_ended = true;
            return buffer.end;
        }
        from.saturating_add(shown.saturating_mul(width))
    }

    /// Looks whether elements with a key are sorted by it; the first that is not is told.
    pub(super) fn sorted(&mut self, of: Of, from: u64, count: u64, width: u64, buffer: Buffer) {
        let Some((flat, field)) = self.flat.and_then(|flat| Some((flat, keys::key_of(flat, of)?))) else { return };
        let bytes = self.bytes;
        let key = |index: u64| {
            let at = from.checked_add(index.checked_mul(width)?)?;
            match of {
                Of::Struct(_) => keys::of_struct(bytes, flat, field, at),
                _ => {
                    let table = at.checked_add(u64::from(bytes.u32(at)?))?;
                    keys::of_table(bytes, flat, field, table, buffer.start, buffer.end)
                }
            }
        };
        let mut last = key(0);
        for index in 1..count {
            let next = key(index);
            if let (Some(one), Some(other)) = (last, next)
                && other.order(&one) == Some(std::cmp::Ordering::Less)
            {
                let at = from.saturating_add(index.saturating_mul(width));
                return self.fault(at, at.saturating_add(width), Wrong::KeyOrder(index));
            }
            last = next;
        }
    }

    /// The elements of a vector that are offsets.
    pub(super) fn elements(&mut self, number: u32, of: Of, from: u64, count: u64, buffer: u32) {
        let what = match of {
            Of::Text => What::Text,
            Of::Table(id) => What::Table(Some(id).filter(|id| *id != likely::UNKNOWN)),
            _ => return,
        };
        for index in 0..count {
            let at = from.saturating_add(index.saturating_mul(4));
            self.follow(at, false, what, number, Reach::Index(index), buffer, "an element");
        }
    }

    /// The elements of a vector of unions.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn unions(
        &mut self,
        number: u32,
        of: Of,
        types: Option<u64>,
        from: u64,
        count: u64,
        shown: u64,
        buffer: u32,
    ) {
        let (Of::Union(id), Some(flat)) = (of, self.flat) else { return };
        let announced = types.and_then(|types| self.bytes.u32(types)).map_or(0, u64::from);
        if announced != count {
            self.fault(from.saturating_sub(4), from, Wrong::UnionLengths(announced, count));
        }
        let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
        for index in 0..shown.min(announced) {
            let at = from.saturating_add(index.saturating_mul(4));
            let place = types.unwrap_or(0).saturating_add(4).saturating_add(index.saturating_mul(each));
            let ty = little_endian(self.bytes.clipped(place, place.saturating_add(each)));
            if ty == 0 {
                // A writer has no value for it, and leaves an offset of 0.
                if self.bytes.u32(at) != Some(0) {
                    self.fault(at, at.saturating_add(4), Wrong::UnionWithoutType);
                    self.likely(at, number, Reach::Index(index), buffer);
                }
                continue;
            }
            match member(flat, id, ty) {
                Some(what) => self.follow(at, false, what, number, Reach::Index(index), buffer, "an element"),
                None => {
                    self.fault(place, place.saturating_add(each), Wrong::UnionTypeUnknown(ty));
                    self.likely(at, number, Reach::Index(index), buffer);
                }
            }
        }
    }
}
