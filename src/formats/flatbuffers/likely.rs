//! What bytes look like where no schema says what they are: a table, a string.

use crate::formats::flatbuffers::found::{Buffer, Content, Elements, What};
use crate::formats::flatbuffers::table::{Vtable, vtable_at};
use crate::formats::flatbuffers::wire;
use crate::model::flat::Of;
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

/// Characters of a string that are looked at.
const LOOKED_AT: u64 = 4096;

/// Elements of a vector that are looked at.
const ELEMENTS: usize = 64;

/// The type of a table that no schema knows, as an element of a vector.
pub const UNKNOWN: MessageId = MessageId(u32::MAX);

/// Slots of a vtable that are looked at.
const SLOTS: u16 = 512;

/// What the four bytes at `at` lead to, if they look like an offset to a table or string.
pub fn target(bytes: Bytes<'_>, at: u64, buffer: Buffer) -> Option<What> {
    let to = at.checked_add(u64::from(bytes.u32(at).filter(|offset| *offset >= 4)?))?;
    if to.wrapping_sub(buffer.origin) % wire::OFFSET != 0 || to.checked_add(wire::OFFSET)? > buffer.end {
        return None;
    }
    if is_text(bytes, to, buffer.end) {
        return Some(What::Text);
    }
    if is_table(bytes, to, buffer) {
        return Some(What::Table(None));
    }
    vector_of(bytes, to, buffer).map(|of| What::Vector(Elements { of, wide: false, content: Content::Plain }))
}

/// The elements of a vector at `at`, if all of those that are looked at lead to tables, or all to strings.
fn vector_of(bytes: Bytes<'_>, at: u64, buffer: Buffer) -> Option<Of> {
    let count = u64::from(bytes.u32(at).filter(|count| *count > 0)?);
    let from = at.checked_add(wire::OFFSET)?;
    if from.checked_add(count.checked_mul(wire::OFFSET)?)? > buffer.end {
        return None;
    }
    let leads_to = |index: u64| {
        let place = from.saturating_add(index.saturating_mul(wire::OFFSET));
        let offset = u64::from(bytes.u32(place).filter(|offset| *offset >= 4)?);
        let to = place.checked_add(offset)?;
        if is_table(bytes, to, buffer) {
            return Some(Of::Table(UNKNOWN));
        }
        is_text(bytes, to, buffer.end).then_some(Of::Text)
    };
    let first = leads_to(0)?;
    let all = (0..count).take(ELEMENTS).chain([count.saturating_sub(1)]).all(|index| leads_to(index) == Some(first));
    all.then_some(first)
}

/// Whether a string stands at `at`: its length ends in the buffer, a NUL follows, its bytes are readable text.
pub fn is_text(bytes: Bytes<'_>, at: u64, end: u64) -> bool {
    let Some(length) = bytes.u32(at).map(u64::from) else { return false };
    let from = at.saturating_add(wire::OFFSET);
    let to = from.saturating_add(length);
    if length == 0 || to >= end || bytes.u8(to) != Some(0) {
        return false;
    }
    let part = bytes.clipped(from, to.min(from.saturating_add(LOOKED_AT)));
    let valid = match std::str::from_utf8(part) {
        Ok(text) => text,
        // The part may end inside a character.
        Err(error) if error.error_len().is_none() && length > LOOKED_AT => {
            std::str::from_utf8(part.get(..error.valid_up_to()).unwrap_or(&[])).unwrap_or("\0")
        }
        Err(_) => return false,
    };
    valid.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

/// Whether a table stands at `at`: its vtable can be read, and all slots lead into the table.
pub fn is_table(bytes: Bytes<'_>, at: u64, buffer: Buffer) -> bool {
    let Ok(vtable) = vtable_at(bytes, at, buffer.start, buffer.end) else { return false };
    at.saturating_add(vtable.table_size) <= buffer.end && vtable.slot_count() <= SLOTS && slots_fit(bytes, vtable)
}

/// Whether the slots of a vtable lead into its table, and past the soffset.
pub fn slots_fit(bytes: Bytes<'_>, vtable: Vtable) -> bool {
    let mut seen = 0u128;
    let mut any = false;
    let fit = (0..vtable.slot_count()).all(|id| {
        let voffset = u64::from(vtable.voffset(bytes, id).unwrap_or(0));
        let bit = u32::try_from(voffset).ok().and_then(|voffset| 1u128.checked_shl(voffset)).unwrap_or(0);
        // No two fields stand in one place.
        let twice = voffset != 0 && seen & bit != 0;
        seen |= bit;
        any |= voffset != 0;
        voffset == 0 || (voffset >= wire::OFFSET && voffset < vtable.table_size && !twice)
    });
    // A table without fields has its soffset alone, and padding at most.
    fit && (any || vtable.table_size < 12)
}
