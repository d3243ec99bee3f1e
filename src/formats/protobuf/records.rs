//! Reads the records of a message, and the numbers of a packed run, where values count and not the bytes:
//! what cannot be read ends the reading, and nothing is told.

use crate::formats::protobuf::wire::{self, MAX_FIELD, Varint, WireType};
use crate::model::schema::FieldKind;

/// Groups within each other that are looked through for the end of the outermost.
const GROUPS: usize = 10_000;

/// One record of a message: a tag and what it announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The field's number.
    pub number: u32,
    /// How it is written.
    pub wire: WireType,
    /// A varint or fixed bytes as a number.
    pub value: u64,
    /// Offset of the content.
    pub from: usize,
    /// Offset behind the content; of a group that is where its end tag begins.
    pub to: usize,
    /// Offset behind the record.
    pub next: usize,
    /// The content ends before it is complete.
    pub cut: bool,
}

/// The record at `at`, in bytes that end at `end`; none where none can be read, or a group ends.
pub fn record(bytes: &[u8], at: usize, end: usize) -> Option<Record> {
    let one = flat(bytes, at, end)?;
    match one.wire {
        WireType::EGroup => None,
        WireType::SGroup => Some(group(bytes, one, end)),
        WireType::Varint | WireType::I64 | WireType::Len | WireType::I32 => Some(one),
    }
}

/// A record of which groups are only the tag.
fn flat(bytes: &[u8], at: usize, end: usize) -> Option<Record> {
    let here = bytes.get(at..end)?;
    let Varint::Whole(tag, len) = wire::varint(here) else { return None };
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..=MAX_FIELD).contains(number))?;
    let wire = WireType::of(tag)?;
    let from = at.saturating_add(len);
    let behind = bytes.get(from..end)?;
    let mut one = Record { number, wire, value: 0, from, to: from, next: from, cut: false };
    match wire {
        WireType::Varint => {
            let Varint::Whole(value, len) = wire::varint(behind) else { return None };
            (one.value, one.to) = (value, from.saturating_add(len));
        }
        WireType::I64 => (one.value, one.to) = (wire::little_endian(behind.get(..8)?), from.saturating_add(8)),
        WireType::I32 => (one.value, one.to) = (wire::little_endian(behind.get(..4)?), from.saturating_add(4)),
        WireType::Len => {
            let Varint::Whole(length, len) = wire::varint(behind) else { return None };
            one.from = from.saturating_add(len);
            one.to = one.from.saturating_add(half(length));
            one.cut = one.to > end;
            one.to = one.to.min(end);
        }
        WireType::SGroup | WireType::EGroup => {}
    }
    one.next = one.to;
    Some(one)
}

/// Goes to the end of a group.
fn group(bytes: &[u8], head: Record, end: usize) -> Record {
    let mut inner: Vec<u32> = Vec::new();
    let mut at = head.from;
    while let Some(one) = flat(bytes, at, end) {
        match one.wire {
            WireType::SGroup if inner.len() < GROUPS => inner.push(one.number),
            WireType::SGroup => break,
            WireType::EGroup => match inner.pop() {
                Some(number) if number == one.number => {}
                None if head.number == one.number => return Record { to: at, next: one.next, ..head },
                Some(_) | None => break,
            },
            WireType::Varint | WireType::I64 | WireType::Len | WireType::I32 => {}
        }
        at = one.next;
    }
    Record { to: at, next: end, cut: true, ..head }
}

/// The numbers of a packed run; ends where the bytes do, or no further number can be read.
pub struct Packed<'a> {
    bytes: &'a [u8],
    wire: WireType,
}

impl<'a> Packed<'a> {
    /// The run in these bytes.
    pub fn new(bytes: &'a [u8], kind: &FieldKind) -> Packed<'a> {
        Packed { bytes, wire: WireType::of_kind(kind) }
    }
}

impl Iterator for Packed<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (value, len) = match self.wire {
            WireType::I64 => (wire::little_endian(self.bytes.get(..8)?), 8),
            WireType::I32 => (wire::little_endian(self.bytes.get(..4)?), 4),
            _ => match wire::varint(self.bytes) {
                Varint::Whole(value, len) => (value, len),
                Varint::Cut(_) | Varint::TooLong => return None,
            },
        };
        self.bytes = self.bytes.get(len..).unwrap_or(&[]);
        Some(value)
    }
}

/// A number as a length in memory.
pub fn half(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
