//! The bytes of the message that is being made: lengths that are known only at the end of what they count,
//! and fields that come in another order than their numbers.

use crate::formats::protobuf::encode::scalars::push_len;
use crate::formats::protobuf::wire::{self, WireType};
use crate::model::num::len64;

/// How something nested ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    /// Its length stands in front of it.
    Length,
    /// Likewise, and without content there is nothing of it.
    LengthUnlessEmpty,
    /// A tag stands behind it.
    Group(u32),
    /// Likewise, and without content there is nothing of it.
    GroupUnlessEmpty(u32),
}

#[derive(Debug, Clone, Copy)]
struct Wrap {
    /// Where its tag begins.
    head: usize,
    /// Where its content begins.
    content: usize,
    closing: Closing,
}

/// A member of an object that became bytes, or nothing.
#[derive(Debug, Clone, Copy)]
struct Part {
    number: u32,
    start: usize,
}

/// A message in the making.
#[derive(Debug, Default)]
pub struct Buffer {
    /// Its bytes.
    pub bytes: Vec<u8>,
    wraps: Vec<Wrap>,
    parts: Vec<Part>,
    scratch: Vec<u8>,
    order: Vec<(u32, usize, usize)>,
}

impl Buffer {
    /// Appends a tag.
    pub fn tag(&mut self, number: u32, wire: WireType) {
        wire::push_varint(wire::tag(number, wire), &mut self.bytes);
    }

    /// Appends text or bytes with tag and length.
    pub fn len_field(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, WireType::Len);
        push_len(bytes, &mut self.bytes);
    }

    /// Appends a varint with its tag.
    pub fn varint_field(&mut self, number: u32, value: u64) {
        self.tag(number, WireType::Varint);
        wire::push_varint(value, &mut self.bytes);
    }

    /// Things that are open within each other.
    pub fn open(&self) -> usize {
        self.wraps.len()
    }

    fn wrap(&mut self, number: u32, wire: WireType, closing: Closing) {
        let head = self.bytes.len();
        self.tag(number, wire);
        if wire == WireType::Len {
            // Room for a length of one byte, which most are.
            self.bytes.push(0);
        }
        self.wraps.push(Wrap { head, content: self.bytes.len(), closing });
    }

    /// Begins content that has its length in front.
    pub fn begin(&mut self, number: u32) {
        self.wrap(number, WireType::Len, Closing::Length);
    }

    /// Likewise; without content nothing is written.
    pub fn begin_unless_empty(&mut self, number: u32) {
        self.wrap(number, WireType::Len, Closing::LengthUnlessEmpty);
    }

    /// Begins a group.
    pub fn begin_group(&mut self, number: u32) {
        self.wrap(number, WireType::SGroup, Closing::Group(number));
    }

    /// Likewise; without content nothing is written.
    pub fn begin_group_unless_empty(&mut self, number: u32) {
        self.wrap(number, WireType::SGroup, Closing::GroupUnlessEmpty(number));
    }

    /// Ends what is open until only `open` things are.
    pub fn close_to(&mut self, open: usize) {
        while self.wraps.len() > open {
            let Some(wrap) = self.wraps.pop() else { return };
            let empty = self.bytes.len() == wrap.content;
            match wrap.closing {
                Closing::LengthUnlessEmpty | Closing::GroupUnlessEmpty(_) if empty => self.bytes.truncate(wrap.head),
                Closing::Length | Closing::LengthUnlessEmpty => self.put_length(wrap.content),
                Closing::Group(number) | Closing::GroupUnlessEmpty(number) => self.tag(number, WireType::EGroup),
            }
        }
    }

    /// Writes the length of what stands behind `content` in front of it, where one byte is free.
    fn put_length(&mut self, content: usize) {
        let end = self.bytes.len();
        let length = len64(end.saturating_sub(content));
        let more = wire::varint_len(length).saturating_sub(1);
        if more > 0 {
            self.bytes.resize(end.saturating_add(more), 0);
            self.bytes.copy_within(content..end, content.saturating_add(more));
        }
        let mut left = length;
        let place = content.saturating_sub(1);
        let last = place.saturating_add(more);
        for at in place..=last {
            let low = u8::try_from(left & 0x7f).unwrap_or(0);
            if let Some(byte) = self.bytes.get_mut(at) {
                *byte = if at < last { low | 0x80 } else { low };
            }
            left >>= 7;
        }
    }

    /// Members of the messages that are open.
    pub fn members(&self) -> usize {
        self.parts.len()
    }

    /// A member begins: what is appended from here on is of this field.
    pub fn member(&mut self, number: u32) {
        self.parts.push(Part { number, start: self.bytes.len() });
    }

    /// Whether a field has bytes among the members from `from` on. The last member counts for each field.
    pub fn has(&self, from: usize, number: u32) -> bool {
        let parts = self.parts.get(from..).unwrap_or(&[]);
        let ends = parts.iter().skip(1).map(|part| part.start).chain([self.bytes.len()]);
        let last = parts.iter().zip(ends).filter(|(part, _)| part.number == number).last();
        last.is_some_and(|(part, end)| end > part.start)
    }

    /// Puts the members from `from` on, which are all of one message, in the order of their numbers; of those
    /// with the same number the last one stays.
    pub fn sort(&mut self, from: usize) {
        let parts = self.parts.get(from..).unwrap_or(&[]);
        let first = parts.first().map_or(self.bytes.len(), |part| part.start);
        if !parts.is_sorted_by(|a, b| a.number < b.number) {
            let ends = parts.iter().skip(1).map(|part| part.start).chain([self.bytes.len()]);
            self.order.clear();
            self.order.extend(parts.iter().zip(ends).map(|(part, end)| (part.number, part.start, end)));
            self.order.sort_by_key(|(number, ..)| *number);
            self.scratch.clear();
            for (at, (number, start, end)) in self.order.iter().enumerate() {
                let next = self.order.get(at.saturating_add(1)).map(|(number, ..)| number);
                if next != Some(number) {
                    self.scratch.extend_from_slice(self.bytes.get(*start..*end).unwrap_or(&[]));
                }
            }
            self.bytes.truncate(first);
            self.bytes.extend_from_slice(&self.scratch);
        }
        self.parts.truncate(from);
    }

    /// Forgets everything, for the next message.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.wraps.clear();
        self.parts.clear();
    }
}
