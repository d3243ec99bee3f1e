//! The notes of a lesson: how the bytes of a row are read.

use super::read;
use super::wire::{self, Body, First};
use super::words::fits_float32;
use crate::formats::{Note, Seen};
use crate::model::bytemap::Flags;
use crate::model::num::bytes;

/// Notes on a row, one for each form that is wanted; key and value of one form share one.
pub fn notes(row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for (index, seen) in row.iter().enumerate() {
        let Some(byte) = seen.head().first().copied().filter(|_| tells(seen)) else { continue };
        let first = wire::first(byte);
        if first.kind != seen.leaf.kind.code {
            continue;
        }
        let content = content(first, seen, row.get(index.saturating_add(1)));
        let id = identity(first, content.head());
        let object = Object { first, byte, content: content.head(), seen };
        if let Some(same) = notes.iter_mut().find(|note| note.id == id) {
            same.carets.extend(object.carets(&content));
            same.text.push_str(&object.joined());
        } else if wanted(id) {
            notes.push(Note { id, carets: object.carets(&content), text: object.text() });
        }
    }
    notes
}

/// Whether a note has something to explain: a first byte whose object is all there.
fn tells(seen: &Seen) -> bool {
    seen.leaf.kind.code <= wire::MAP32 && !(seen.leaf.flags.has(Flags::ERROR) && seen.leaf.flags.has(Flags::KEY))
}

/// The number behind a first byte: a leaf of its own, or within the leaf of a key.
fn content(first: First, seen: &Seen, next: Option<&Seen>) -> Seen {
    let nothing = Seen::new(&seen.leaf, &[]);
    if seen.leaf.flags.has(Flags::KEY) && !seen.leaf.flags.has(Flags::NESTED) {
        return seen.head().get(1..).map_or(nothing, |inside| Seen::new(&seen.leaf, inside));
    }
    let follows = |next: &&Seen| next.leaf.start == seen.leaf.end && first.body != Body::None;
    next.filter(follows).copied().unwrap_or(nothing)
}

/// Which note speaks of a form.
fn identity(first: First, content: &[u8]) -> &'static str {
    match first.kind {
        wire::FALSE | wire::TRUE => "bool",
        wire::FLOAT64 if read::float64(content).is_some_and(fits_float32) => "float64 that a float32 holds",
        kind => wire::name(kind),
    }
}

/// An object as far as a note needs it.
struct Object<'a> {
    first: First,
    byte: u8,
    content: &'a [u8],
    seen: &'a Seen,
}

impl Object<'_> {
    /// The bytes a note speaks of: the first byte, and the number behind it.
    fn carets(&self, content: &Seen) -> Vec<(u64, u64)> {
        let start = self.seen.leaf.start;
        let mut carets = vec![(start, start.saturating_add(1))];
        let numeric = matches!(self.first.kind, wire::FLOAT32..=wire::INT64 | wire::ARRAY16..=wire::MAP32);
        if numeric && content.leaf.start > start {
            carets.push((content.leaf.start, content.leaf.end));
        }
        carets
    }

    fn text(&self) -> String {
        let byte = self.byte;
        let name = wire::name(self.first.kind);
        match self.first.kind {
            wire::FIXMAP | wire::FIXARRAY => {
                format!("{byte:02x} = {:04b} {:04b}: the low four bits hold the count", byte >> 4, byte & 0x0f)
            }
            wire::FIXSTR => format!("a0..bf = fixstr, the low five bits hold the length: {}", self.string()),
            wire::POSITIVE_FIXINT => "00..7f = positive fixint: the byte is the value".to_string(),
            wire::NEGATIVE_FIXINT => {
                format!("e0..ff = negative fixint: the byte less 256, {byte:02x} = {byte} - 256")
            }
            wire::NIL => "c0 = nil, one byte".to_string(),
            wire::FALSE | wire::TRUE => "c2 = false, c3 = true, one byte each".to_string(),
            wire::UINT8..=wire::INT64 => self.integer(),
            wire::FLOAT32 => self.float32(),
            wire::FLOAT64 => self.float64(),
            wire::FIXEXT1..=wire::FIXEXT16 => self.fixext(),
            wire::ARRAY16..=wire::MAP32 => {
                format!("{byte:02x} = {name}: the count in {} bytes, highest first", self.first.sizing_bytes())
            }
            _ => self.sized(),
        }
    }

    /// What a second object of the same form adds to the note.
    fn joined(&self) -> String {
        if self.first.kind == wire::FIXSTR { format!(", {}", self.string()) } else { String::new() }
    }

    fn string(&self) -> String {
        let role = if self.seen.leaf.flags.has(Flags::KEY) { "the key" } else { "the value" };
        format!("{:02x} = {} ({role})", self.byte, bytes(u64::from(self.byte & 0x1f)))
    }

    fn integer(&self) -> String {
        let name = wire::name(self.first.kind);
        let follow = match self.first.body {
            Body::Fixed(2) => "two bytes follow, highest first",
            Body::Fixed(4) => "four bytes follow, highest first",
            Body::Fixed(8) => "eight bytes follow, highest first",
            _ => "one byte follows",
        };
        let signed = (wire::INT8..=wire::INT64).contains(&self.first.kind);
        let sign = if signed { ", two's complement" } else { "" };
        let size = match self.first.body {
            Body::Fixed(size) => usize::try_from(size).unwrap_or(0),
            _ => 0,
        };
        let hex: String = self.content.iter().take(size).map(|byte| format!("{byte:02x}")).collect();
        format!("{:02x} = {name}, {follow}{sign}: 0x{hex}", self.byte)
    }

    fn float32(&self) -> String {
        let base = format!("{:02x} = float32: IEEE 754 binary32, highest byte first", self.byte);
        let Some(value) = read::float32(self.content).filter(|value| value.is_finite()) else { return base };
        let (short, exact) = (ryu::Buffer::new().format(value).to_string(), f64::from(value));
        // The shortest decimal of a float32 is often not what a float64 reader shows.
        if short.parse::<f64>().is_ok_and(|read| read == exact) {
            base
        } else {
            format!("{base}. Readers that widen it to float64 show {}", ryu::Buffer::new().format(exact))
        }
    }

    fn float64(&self) -> String {
        let base = format!("{:02x} = float64: IEEE 754 binary64, highest byte first", self.byte);
        if read::float64(self.content).is_some_and(fits_float32) {
            format!("{base}. A float32 holds this value too, in 5 bytes and not 9")
        } else {
            base
        }
    }

    fn sized(&self) -> String {
        let sizes = self.first.sizing_bytes();
        let size = if sizes == 1 { "1 byte".to_string() } else { format!("{sizes} bytes, highest first") };
        let ext = if self.first.is_ext() { ", then the application's type" } else { "" };
        format!("{:02x} = {}: the length in {size}{ext}, then the content", self.byte, wire::name(self.first.kind))
    }

    fn fixext(&self) -> String {
        let content = match self.first.body {
            Body::Fixed(count) => bytes(count),
            _ => String::new(),
        };
        let name = wire::name(self.first.kind);
        format!(
            "{:02x} = {name}: one byte of type (-1 is a timestamp, 0..127 the application's own), then {content}",
            self.byte
        )
    }
}
