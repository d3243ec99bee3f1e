//! The fields of some bytes, one behind the other, without looking into their content.

use crate::formats::protobuf::wire::{self, MAX_FIELD, Varint, WireType};
use crate::model::limits;

/// A field as it stands in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Where its tag begins.
    pub at: usize,
    /// Its number.
    pub number: u32,
    /// Its wire type.
    pub wire: WireType,
    /// The value of a varint, of fixed bytes, or the length of LEN content.
    pub value: u64,
    /// LEN content, as much of it as is there.
    pub content: &'a [u8],
    /// Bytes of the tag.
    pub tag_len: usize,
    /// Bytes of the varint, value or length, behind the tag.
    pub value_len: usize,
    /// Tag and varint have their shortest form.
    pub minimal: bool,
}

/// What rules a reading as fields out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the byte that does it.
    pub at: usize,
    /// Bytes that it speaks of.
    pub len: usize,
    /// What it is.
    pub what: Wrong,
}

/// What can be wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A varint of more than ten bytes.
    TooLong,
    /// The bytes end inside a field; the end of a part explains it.
    Cut,
    /// Wire type 6 or 7.
    WireType,
    /// Field number 0.
    Zero,
    /// A field number above 2^29 - 1.
    TooHigh,
    /// The end of a group that did not begin.
    NoGroup,
    /// The end of another group than the innermost.
    OtherGroup(u32, u32),
    /// A length and the bytes that are left.
    Length(u64, usize),
    /// A group that does not end; the end of a part explains it.
    Open(u32),
    /// Groups nested deeper than anybody reads.
    Deep,
}

impl Fault {
    /// The fault in words, without its offset: `84 would end a group that never began`.
    pub fn words(&self, bytes: &[u8]) -> String {
        let hex = wire_hex(bytes.get(self.at..).unwrap_or(&[]), self.len);
        match self.what {
            Wrong::TooLong => format!("{hex} begins a varint of more than 10 bytes"),
            Wrong::Cut => format!("{hex} begins a field that the end cuts"),
            Wrong::WireType => format!("{hex} is a tag with wire type 6 or 7, which do not exist"),
            Wrong::Zero => format!("{hex} is a tag with field number 0"),
            Wrong::TooHigh => format!("{hex} is a tag with a field number above {MAX_FIELD}"),
            Wrong::NoGroup => format!("{hex} would end a group that never began"),
            Wrong::OtherGroup(ended, open) => format!("{hex} would end group {ended} inside of group {open}"),
            Wrong::Length(length, left) => {
                format!("the length says {}, {left} are left", crate::model::num::bytes(length))
            }
            Wrong::Open(number) => format!("{hex} begins group {number}, which does not end"),
            Wrong::Deep => "groups nested deeper than anybody reads".to_string(),
        }
    }
}

fn wire_hex(bytes: &[u8], len: usize) -> String {
    let shown: Vec<String> = bytes.iter().take(len.max(1)).map(|byte| format!("{byte:02x}")).collect();
    shown.join(" ")
}

/// Reads fields one by one.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    complete: bool,
    /// Open groups: number and offset of the tag. Empty for nearly all input, and then without memory.
    groups: Vec<(u32, usize)>,
    /// What ended the reading before the last byte.
    pub fault: Option<Fault>,
}

impl<'a> Fields<'a> {
    /// The fields of these bytes; unless `complete`, the end may cut one.
    pub fn new(bytes: &'a [u8], complete: bool) -> Fields<'a> {
        Fields { bytes, at: 0, complete, groups: Vec::new(), fault: None }
    }

    /// Bytes not read yet.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn stop<T>(&mut self, at: usize, len: usize, what: Wrong) -> Option<T> {
        let by_cut = matches!(what, Wrong::Cut | Wrong::Open(_) | Wrong::Length(..));
        if self.complete || !by_cut {
            self.fault = Some(Fault { at, len, what });
        }
        self.at = self.bytes.len();
        None
    }

    fn varint(&mut self, start: usize, at: usize) -> Option<(u64, usize)> {
        match wire::varint(self.bytes.get(at..).unwrap_or(&[])) {
            Varint::Whole(value, len) => Some((value, len)),
            Varint::Cut(len) => self.stop(start, at.saturating_add(len).saturating_sub(start), Wrong::Cut),
            Varint::TooLong => self.stop(at, wire::MAX_VARINT, Wrong::TooLong),
        }
    }

    fn fixed(&mut self, start: usize, at: usize, len: usize) -> Option<u64> {
        match self.bytes.get(at..at.saturating_add(len)) {
            Some(bytes) => Some(wire::little_endian(bytes)),
            None => self.stop(start, at.saturating_sub(start), Wrong::Cut),
        }
    }

    fn end_group(&mut self, number: u32, start: usize, len: usize) -> Option<()> {
        match self.groups.pop() {
            Some((open, _)) if open == number => Some(()),
            Some((open, _)) => self.stop(start, len, Wrong::OtherGroup(number, open)),
            None => self.stop(start, len, Wrong::NoGroup),
        }
    }

    fn begin_group(&mut self, number: u32, start: usize) -> Option<()> {
        if self.groups.len() >= limits::DEEPEST {
            return self.stop(start, 1, Wrong::Deep);
        }
        self.groups.push((number, start));
        Some(())
    }

    fn number(&mut self, tag: u64, start: usize, len: usize) -> Option<u32> {
        match u32::try_from(tag >> 3) {
            Ok(0) => self.stop(start, len, Wrong::Zero),
            Ok(number) if number <= MAX_FIELD => Some(number),
            _ => self.stop(start, len, Wrong::TooHigh),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let start = self.at;
        if start >= self.bytes.len() {
            if let (None, Some((number, at))) = (self.fault, self.groups.pop()) {
                return self.stop(at, 1, Wrong::Open(number));
            }
            return None;
        }
        let (tag, tag_len) = self.varint(start, start)?;
        let Some(wire) = WireType::of(tag) else { return self.stop(start, tag_len, Wrong::WireType) };
        let number = self.number(tag, start, tag_len)?;
        let behind = start.saturating_add(tag_len);
        let mut field = Field {
            at: start,
            number,
            wire,
            value: 0,
            content: &[],
            tag_len,
            value_len: 0,
            minimal: tag_len == wire::varint_len(tag),
        };
        match wire {
            WireType::Varint | WireType::Len => {
                (field.value, field.value_len) = self.varint(start, behind)?;
                field.minimal &= field.value_len == wire::varint_len(field.value);
            }
            WireType::I64 => (field.value, field.value_len) = (self.fixed(start, behind, 8)?, 8),
            WireType::I32 => (field.value, field.value_len) = (self.fixed(start, behind, 4)?, 4),
            WireType::SGroup => self.begin_group(number, start)?,
            WireType::EGroup => self.end_group(number, start, tag_len)?,
        }
        self.at = behind.saturating_add(field.value_len);
        if wire == WireType::Len {
            field.content = self.content(field.value, behind)?;
            self.at = self.at.saturating_add(field.content.len());
        }
        Some(field)
    }
}

/// Whether bytes are fields up to their end.
pub fn is_sound(bytes: &[u8], complete: bool) -> bool {
    let mut fields = Fields::new(bytes, complete);
    while fields.next().is_some() {}
    fields.fault.is_none()
}

impl<'a> Fields<'a> {
    /// LEN content behind the length; of the last field of a part, what is there of it.
    fn content(&mut self, length: u64, length_at: usize) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(content) => Some(content),
            None if !self.complete && length <= u64::from(u32::MAX >> 1) => Some(rest),
            None => {
                let len = self.at.saturating_sub(length_at);
                self.complete = true;
                self.stop(length_at, len, Wrong::Length(length, rest.len()))
            }
        }
    }
}
