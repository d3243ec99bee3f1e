//! Notes for newcomers: how pointers count, what a tag is, what zeros mean.

use crate::formats::capnp::wire::{self, ElementSize, Pointer, pointer};
use crate::formats::{Note, Seen};
use crate::model::bytemap::{Flags, Kind};
use crate::wire::reader::little_endian;

/// Notes on a row.
pub fn notes(row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut add = |id: &'static str, carets: Vec<(u64, u64)>, text: &dyn Fn() -> String| {
        if wanted(id) {
            notes.push(Note { id, carets, text: text() });
        }
    };
    for (place, seen) in row.iter().enumerate() {
        let leaf = &seen.leaf;
        if leaf.kind.owner == Kind::COMMON {
            continue;
        }
        let here = (leaf.start, leaf.end);
        let low = little_endian(seen.head());
        let high = row.get(place.saturating_add(1)).map_or(0, |next| little_endian(next.head()));
        match leaf.kind.code {
            wire::STRUCT_POINTER if row.len() > 1 => add("cp-struct", vec![here], &|| struct_words(low, leaf.start)),
            wire::LIST_POINTER if row.len() > 1 => {
                let first = (leaf.start, leaf.start.saturating_add(1));
                let size = (leaf.end, leaf.end.saturating_add(1));
                add("cp-list", vec![first, size], &|| list_words(low, high, leaf.start));
            }
            wire::FAR_POINTER => add("cp-far", vec![here], &|| {
                format!(
                    "a far pointer: {low:#x} >> 3 = word {} of the segment, where a landing pad says the rest",
                    low >> 3
                )
            }),
            wire::TAG_COUNT => add("cp-tag", vec![(leaf.start, leaf.start.saturating_add(1))], &|| {
                format!("{low:02x} = {} << 2: in a tag the offset bits hold the count", low >> 2)
            }),
            wire::PACKED_TAG if low != 0 && low != 0xff => add("cp-packed", vec![here], &|| packed_words(low)),
            wire::VERBATIM_WORDS => add("cp-verbatim", vec![here], &|| {
                "ff: 8 bytes, and a count of words that follow as they are".to_string()
            }),
            wire::NULL_POINTER => {
                add("cp-null", vec![here], &|| "a pointer of zeros is null: the field has its default".to_string())
            }
            _ if leaf.flags.told_width().is_some() || leaf.flags.has(Flags::DEFAULT) => {}
            _ => {}
        }
    }
    notes
}

fn struct_words(low: u64, at: u64) -> String {
    let Pointer::Struct { offset, .. } = pointer(low | 1 << 32) else { return String::new() };
    let to = wire::behind(at, offset).unwrap_or(0);
    let words = crate::model::num::count(u64::from(offset.unsigned_abs()), "word", "words");
    let past = if offset < 0 { "in front of" } else { "past" };
    format!("low 2 bits 0: a struct; the other 30: {words} {past} the end of this pointer, {to:#04x}")
}

fn list_words(low: u64, high: u64, at: u64) -> String {
    let Pointer::List { offset, size, count } = pointer(low | high << 32) else { return String::new() };
    let end = at.saturating_add(8);
    let words = crate::model::num::count(u64::from(offset.unsigned_abs()), "word", "words");
    let what = match size {
        ElementSize::InlineComposite => format!("{count} words of structs behind a tag"),
        ElementSize::Byte => format!("{count} elements of 1 byte"),
        other => format!("{count} {}", other.name(u64::from(count))),
    };
    format!(
        "{:02x} = {offset} << 2 | 1: a list, {words} past {end:#04x}, the end of this pointer. {:02x} = {count} << 3 \
         | {}: {what}",
        low & 0xff,
        high & 0xff,
        high & 7
    )
}

fn packed_words(tag: u64) -> String {
    let places: Vec<String> = (0..8u64).filter(|bit| tag >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    let verb = if places.len() == 1 { "byte" } else { "bytes" };
    let is = if places.len() == 1 { "is" } else { "are" };
    format!(
        "a tag has a bit for each byte of its word, lowest first: 1 it follows, 0 it is zero. {tag:02x} = {:04b} {:04b}: \
         only {verb} {} {is} not zero",
        tag >> 4,
        tag & 15,
        crate::model::num::listed(&places)
    )
}
