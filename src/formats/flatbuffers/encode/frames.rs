//! What is open while a buffer is written, and what waits to be laid out.

use crate::model::flat::Of;
use crate::model::schema::MessageId;

/// What is due next in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A name.
    Name,
    /// The value of the field at a position.
    Value(usize),
    /// A value that is left out.
    Ignored,
}

/// A container of the input, by what it becomes.
#[derive(Debug, Clone, Copy)]
pub enum Frame {
    /// A table; its slots and structs begin at `slots` and `scratch`. `next` is the position behind its last field,
    /// `nested` says that it is the root of a buffer inside another.
    Table { id: MessageId, due: Due, next: usize, slots: usize, scratch: usize, start: u64, nested: bool },
    /// A struct at `base` in scratch; `inner` says that it is a part of another one. `seen` has a bit for each of
    /// the first 64 members, `members` counts all.
    Struct { id: MessageId, base: usize, due: Due, next: usize, inner: bool, seen: u64, members: usize, start: u64 },
    /// The vector of a field; its elements begin at `scratch` and `offsets`.
    Vector { id: MessageId, place: usize, count: u64, scratch: usize, offsets: usize },
    /// An array in a struct, from `base` in scratch.
    Array { of: Of, base: usize, next: u64, len: u64, start: u64 },
    /// A FlexBuffer with something open.
    Flex,
    /// The union at a position whose type has not come; so many containers are open in it.
    Hold { depth: usize, place: usize },
    /// Left out; so many containers are open in it.
    Skip { depth: usize },
}

/// A value that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A scalar.
    Bits(u64),
    /// The place of an object in the buffer.
    Offset(u64),
    /// A struct in scratch: where it begins, and its type.
    Struct(usize, MessageId),
}

/// A field of an open table.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Position of the field.
    pub place: usize,
    /// Its id.
    pub id: u16,
    /// Bytes that count when fields are ordered by size: offsets and structs count as 4.
    pub class: u8,
    /// Its value.
    pub stored: Stored,
}
