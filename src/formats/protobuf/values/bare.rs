//! Messages without a schema: a map from field numbers in the order in which they come first, a list where
//! one comes several times. What LEN content is, is guessed.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::formats::protobuf::guess::{Guess, Memory, judge};
use crate::formats::protobuf::peek::place;
use crate::formats::protobuf::records::{Record, record};
use crate::formats::protobuf::unframe;
use crate::formats::protobuf::wire::{self, Varint, WireType};
use crate::formats::{Context, Dress};
use crate::model::events::{Flow, Sink};
use crate::model::limits::PIECE;
use crate::model::num::len64;
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::Window;

/// Largest integer up to which a float64 holds every one: beyond it JSON gets text.
const EXACT: u64 = 1 << 53;

/// Sends the values of all messages.
///
/// # Errors
/// What stopped the walk.
pub fn values(input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
    let mut memory = Memory::default();
    unframe::each(input, context.variant, &mut |number, bytes| {
        let stack = Vec::new();
        let mut bare = Bare { bytes, dress, depth: context.depth, memory: &mut memory, out: &mut *out, stack };
        bare.message(number)
    })
}

/// A container that is being sent.
struct Frame {
    /// Records, those of one field side by side.
    records: Vec<Record>,
    at: usize,
    /// A list is open around occurrences up to this place.
    list: Option<usize>,
    place: u64,
}

struct Bare<'a, 's> {
    bytes: &'a [u8],
    dress: Dress,
    depth: usize,
    memory: &'s mut Memory,
    out: &'s mut dyn Sink,
    stack: Vec<Frame>,
}

impl Bare<'_, '_> {
    fn message(&mut self, number: u64) -> Flow {
        self.out.value(Event::Message(number))?;
        self.open(0, self.bytes.len(), 0)?;
        while let Some(frame) = self.stack.last_mut() {
            let Some(one) = frame.records.get(frame.at).copied() else {
                if frame.list.is_some() {
                    self.out.value(Event::End)?;
                }
                self.stack.pop();
                self.out.value(Event::End)?;
                continue;
            };
            let (at, place) = (frame.at, place(frame.place, one.number));
            frame.at = at.saturating_add(1);
            match frame.list {
                Some(end) if at < end => {}
                Some(_) => {
                    frame.list = None;
                    self.out.value(Event::End)?;
                    self.field(&one, at)?;
                }
                None => self.field(&one, at)?,
            }
            self.value(&one, place)?;
        }
        Ok(())
    }

    /// The number of the field that begins at `at`, and the list around it where it comes several times.
    fn field(&mut self, one: &Record, at: usize) -> Flow {
        let mut buffer = itoa::Buffer::new();
        self.out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(buffer.format(one.number).as_bytes()))))?;
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        let same = frame.records.get(at..).unwrap_or(&[]).iter().take_while(|other| other.number == one.number).count();
        if same > 1 {
            frame.list = Some(at.saturating_add(same));
            self.out.value(Event::Begin(Shape::List, Some(len64(same))))?;
        }
        Ok(())
    }

    /// A message as a map.
    fn open(&mut self, from: usize, to: usize, place: u64) -> Flow {
        let mut order: HashMap<u32, usize, foldhash::fast::FixedState> = HashMap::default();
        let mut records = Vec::new();
        let mut at = from;
        while let Some(one) = record(self.bytes, at, to).filter(|_| at < to) {
            at = one.next;
            if one.wire == WireType::Len && one.cut {
                break;
            }
            let next = order.len();
            order.entry(one.number).or_insert(next);
            records.push(one);
        }
        let rank = |one: &Record| order.get(&one.number).copied().unwrap_or(0);
        if !records.is_sorted_by_key(rank) {
            records.sort_by_key(rank);
        }
        self.out.value(Event::Begin(Shape::Map, Some(len64(order.len()))))?;
        self.stack.push(Frame { records, at: 0, list: None, place });
        Ok(())
    }

    fn value(&mut self, one: &Record, place: u64) -> Flow {
        let deep = self.stack.len() > self.depth;
        let bytes = self.bytes.get(one.from..one.to).unwrap_or(&[]);
        let scalar = match one.wire {
            WireType::Varint | WireType::I64 | WireType::I32 => return self.number(one.value),
            WireType::SGroup if !deep => return self.open(one.from, one.to, place),
            WireType::SGroup | WireType::EGroup => Scalar::Bytes(Cow::Borrowed(bytes)),
            WireType::Len => {
                let head = bytes.get(..PIECE).unwrap_or(bytes);
                match judge(head, head.len() == bytes.len(), place, self.memory, false).best {
                    Guess::Message if !deep => return self.open(one.from, one.to, place),
                    Guess::Varints => return self.numbers(bytes, varint),
                    Guess::Fixed32 => return self.numbers(bytes, |bytes| fixed(bytes, 4)),
                    Guess::Fixed64 => return self.numbers(bytes, |bytes| fixed(bytes, 8)),
                    Guess::Text => Scalar::Text(Cow::Borrowed(bytes)),
                    Guess::Message | Guess::Bytes => Scalar::Bytes(Cow::Borrowed(bytes)),
                }
            }
        };
        self.out.value(Event::Scalar(scalar))
    }

    fn number(&mut self, number: u64) -> Flow {
        if self.dress == Dress::Plain || number <= EXACT {
            return self.out.value(Event::Scalar(Scalar::Uint(number)));
        }
        let mut buffer = itoa::Buffer::new();
        self.out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(buffer.format(number).as_bytes()))))
    }

    /// A packed run as a list.
    fn numbers(&mut self, bytes: &[u8], read: fn(&[u8]) -> Option<(u64, usize)>) -> Flow {
        let each = || {
            let mut left = bytes;
            std::iter::from_fn(move || {
                let (number, len) = read(left)?;
                left = left.get(len..).unwrap_or(&[]);
                Some(number)
            })
        };
        self.out.value(Event::Begin(Shape::List, Some(len64(each().count()))))?;
        for number in each() {
            self.number(number)?;
        }
        self.out.value(Event::End)
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    match wire::varint(bytes) {
        Varint::Whole(number, len) => Some((number, len)),
        Varint::Cut(_) | Varint::TooLong => None,
    }
}

fn fixed(bytes: &[u8], len: usize) -> Option<(u64, usize)> {
    Some((wire::little_endian(bytes.get(..len)?), len))
}
