//! The notes of a lesson: how the bytes of a row are read.

use super::wire::{self, Varint, WireType};
use super::words::{self, Number};
use crate::formats::{Note, Seen};
use crate::model::bytemap::Flags;
use crate::model::num::bytes;

/// Notes on a row, one for each form that is wanted.
pub fn notes(row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let Some(first) = row.first().filter(|seen| !seen.leaf.flags.has(Flags::ERROR)) else { return notes };
    match first.leaf.kind.code {
        wire::TAG | wire::SGROUP => notes.extend(tag_note(row, first, wanted)),
        wire::FRAME_LENGTH => notes.extend(delimited_note(first, wanted)),
        wire::FRAME_FLAGS => notes.extend(grpc_note(row, first, wanted)),
        _ => {}
    }
    for seen in row.iter().skip(1).filter(|seen| !seen.leaf.flags.has(Flags::ERROR)) {
        notes.extend(value_note(seen, wanted));
    }
    notes
}

fn range(seen: &Seen) -> (u64, u64) {
    (seen.leaf.start, seen.leaf.end)
}

fn hex(head: &[u8]) -> String {
    let digits: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

/// `0a = 1 << 3 | 2: field 1, LEN      08: 8 bytes follow`
fn tag_note(row: &[Seen], first: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let (number, wire) = words::tag(first.head())?;
    let wire = wire?;
    if first.leaf.len() > 1 {
        return long_tag_note(first, number, wire, wanted);
    }
    let id = match wire {
        WireType::Len => "tag-len",
        WireType::Varint => "tag-varint",
        WireType::I32 => "tag-i32",
        WireType::I64 => "tag-i64",
        WireType::SGroup | WireType::EGroup => "tag-group",
    };
    // Asked before any text is made: most rows have nothing new to tell.
    if !wanted(id) {
        return None;
    }
    let behind = match (wire, row.get(1)) {
        (WireType::Len, Some(length)) => {
            let announced = words::length(length.head())?;
            format!("; {}: {}", hex(length.head()), follow(announced))
        }
        (WireType::Varint, Some(value)) if value.leaf.len() == 1 => {
            format!("; {}: the value", hex(value.head()))
        }
        (WireType::Varint, _) => String::new(),
        (WireType::I32, _) => ": four bytes follow, lowest first".to_string(),
        (WireType::I64, _) => ": eight bytes follow, lowest first".to_string(),
        (WireType::SGroup, _) => {
            let end = u8::try_from(wire::tag(u32::try_from(number).ok()?, WireType::EGroup)).ok();
            let end = end.map_or(String::new(), |end| format!(", until {end:02x}, the tag that ends it"));
            format!(": a group begins, without a length{end}")
        }
        _ => return None,
    };
    let mut carets = vec![range(first)];
    if behind.starts_with(';') {
        carets.extend(row.get(1).map(range));
    }
    let text =
        format!("{} = {number} << 3 | {}: field {number}, {}{behind}", hex(first.head()), wire.number(), wire.name());
    Some(Note { id, carets, text })
}

fn follow(announced: u64) -> String {
    format!("{} follow{}", bytes(announced), if announced == 1 { "s" } else { "" })
}

/// `82 01 = 0x02 + (0x01 << 7) = 130 = 16 << 3 | 2: field 16, LEN. Numbers above 15 take a longer tag`
fn long_tag_note(
    first: &Seen,
    number: u64,
    wire: WireType,
    wanted: &mut dyn FnMut(&'static str) -> bool,
) -> Option<Note> {
    if number < 16 || !wanted("tag-long") {
        return None;
    }
    let (sum, value) = (sum(first.head()), number << 3 | wire.number());
    let text = format!(
        "{} = {sum} = {value} = {number} << 3 | {}: field {number}, {}. Numbers above 15 take more than one byte",
        hex(first.head()),
        wire.number(),
        wire.name()
    );
    Some(Note { id: "tag-long", carets: vec![range(first)], text })
}

/// `0x3d + (0x32 << 7) + (0x03 << 14)`
fn sum(head: &[u8]) -> String {
    let parts: Vec<String> = (0u32..)
        .zip(head)
        .map(|(index, byte)| match index {
            0 => format!("{:#04x}", byte & 0x7f),
            index => format!("({:#04x} << {})", byte & 0x7f, index.saturating_mul(7)),
        })
        .collect();
    parts.join(" + ")
}

/// Makes the text of a note from the bytes of its leaf.
type Text = fn(&[u8]) -> Option<String>;

/// Notes on lengths and values.
fn value_note(seen: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let head = seen.head();
    let (id, text): (_, Text) = match seen.leaf.kind.code {
        wire::MESSAGE_LENGTH if head != [0] => ("message", message_text),
        wire::PACKED_LENGTH if head != [0] => ("packed", packed_text),
        wire::SINT32 | wire::SINT64 => return zigzag_note(seen, wanted),
        wire::INT32 | wire::INT64 | wire::ENUM if seen.leaf.len() == 10 => return negative_note(seen, wanted),
        wire::VARINT | wire::INT32..=wire::UINT64 | wire::ENUM if (2..=5).contains(&seen.leaf.len()) => {
            ("varint", varint_text)
        }
        wire::EGROUP => ("egroup", end_text),
        _ => return None,
    };
    // Asked before any text is made: most rows have nothing new to tell.
    if !wanted(id) {
        return None;
    }
    Some(Note { id, carets: vec![range(seen)], text: text(head)? })
}

fn message_text(head: &[u8]) -> Option<String> {
    Some(format!("LEN again: {} a message of their own", these(words::length(head)?)))
}

fn packed_text(_head: &[u8]) -> Option<String> {
    Some("packed: all values behind one tag and one length, instead of a tag for each".to_string())
}

fn varint_text(head: &[u8]) -> Option<String> {
    let Varint::Whole(value, _) = wire::varint(head) else { return None };
    Some(format!("varint: 7 bits a byte, lowest first; a top bit says more follows: {} = {value}", sum(head)))
}

fn end_text(head: &[u8]) -> Option<String> {
    let (number, _) = words::tag(head)?;
    Some(format!("{} = {number} << 3 | 4: group {number} ends", hex(head)))
}

fn these(announced: u64) -> String {
    if announced == 1 { "this byte is".to_string() } else { format!("these {announced} bytes are") }
}

/// `zigzag: the varint is 13563, odd, so -(13563 + 1) / 2; declared int32, these bytes would read 13563`
fn zigzag_note(seen: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let Varint::Whole(stored, _) = wire::varint(seen.head()) else { return None };
    if stored == 0 || seen.leaf.flags.has(Flags::WARNING) || !wanted("zigzag") {
        return None;
    }
    let plain = if seen.leaf.kind.code == wire::SINT32 { "int32" } else { "int64" };
    let rule = match stored % 2 {
        0 => format!("even, so {stored} / 2"),
        _ => format!("odd, so -({stored} + 1) / 2"),
    };
    let text = format!("zigzag: the varint is {stored}, {rule}; declared {plain}, these bytes would read {stored}");
    Some(Note { id: "zigzag", carets: vec![range(seen)], text })
}

/// `10 bytes: a negative int32 is written as 64 bits (sign extended). Declared sint32 it would take 1 byte`
fn negative_note(seen: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let Some(Number::Signed(value)) = words::number(&seen.leaf, seen.head()) else { return None };
    if value >= 0 || seen.leaf.flags.has(Flags::WARNING) || !wanted("negative") {
        return None;
    }
    let (name, other) = match seen.leaf.kind.code {
        wire::INT32 => ("int32", Some("sint32")),
        wire::INT64 => ("int64", Some("sint64")),
        _ => ("enum", None),
    };
    let better = other.map_or(String::new(), |other| {
        let len = wire::varint_len(wire::zigzag(value));
        format!(" Declared {other} it would take {}.", bytes(crate::model::num::len64(len)))
    });
    let text = format!("10 bytes: a negative {name} is written as 64 bits (sign extended).{better}");
    Some(Note { id: "negative", carets: vec![range(seen)], text })
}

fn delimited_note(first: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let text = "a varint in front of each message says how long it is: Protobuf itself does not".to_string();
    wanted("delimited").then(|| Note { id: "delimited", carets: vec![range(first)], text })
}

fn grpc_note(row: &[Seen], first: &Seen, wanted: &mut dyn FnMut(&'static str) -> bool) -> Option<Note> {
    let text = "gRPC: a byte of flags, and the length as four bytes, highest first".to_string();
    let mut carets = vec![range(first)];
    carets.extend(row.get(1).map(range));
    wanted("grpc").then_some(Note { id: "grpc", carets, text })
}
