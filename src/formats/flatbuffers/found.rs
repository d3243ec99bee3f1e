//! What the first half of a walk finds: objects, vtables with their users, buffers, and what lies between them.

use std::collections::HashMap;

use crate::formats::flatbuffers::faults::Fault;
use crate::formats::flatbuffers::table::Vtable;
use crate::model::flat::{Flat, Of};
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

// The vtable of what has none has that number too.
pub use crate::formats::scattered::NONE;

/// A buffer: that of the input, or one inside a vector of it.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    /// Where its root offset stands.
    pub start: u64,
    /// From where alignment counts: the start of the size prefix, if there is one.
    pub origin: u64,
    /// Where it ends.
    pub end: u64,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A root offset, with what stands beside it.
    Head,
    /// A table, of a type that may not be known.
    Table(Option<MessageId>),
    /// A vector: count and elements.
    Vector(Elements),
    /// A string; its offset may be a wide one.
    Text,
    /// A struct that an offset leads to, as a value of a union.
    Struct(MessageId),
}

/// The elements of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elements {
    /// What each is.
    pub of: Of,
    /// The count has 8 bytes.
    pub wide: bool,
    /// What is special about them.
    pub content: Content,
}

/// What is special about the elements of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Plain,
    /// They are a buffer with a root of this type.
    Nested(MessageId),
    /// They are a FlexBuffer.
    Flex,
    /// They are values of unions; their types are the elements of the vector at this offset, if it is there.
    Types(Option<u64>),
}

/// How an object is reached from the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It adds nothing to the path.
    Same,
    /// A field, by its slot.
    Field(u16),
    /// An element.
    Index(u64),
}

/// An object. `parent` and `from` are those of the first offset in the file that leads to it.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte, as far as the buffer holds it.
    pub end: u64,
    /// What it is.
    pub what: What,
    /// The object whose offset leads to it.
    pub parent: u32,
    /// The step from there.
    pub reach: Reach,
    /// Where the offset stands that leads to it.
    pub from: u64,
    /// Offsets that lead to it.
    pub refs: u32,
    /// The buffer it is in.
    pub buffer: u32,
    /// Position of its vtable in [`Found::vtables`]; [`NONE`] where it has none that can be read.
    pub vtable: u32,
    /// It announces more than the buffer has, and ends where the next object or vtable begins.
    pub open_ended: bool,
    /// Objects around it, along `parent`.
    pub level: u32,
    /// Tables around it along the longest way, itself included.
    pub depth: u32,
    /// Ways that lead to it.
    pub ways: u64,
}

/// A vtable with who uses it.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    /// The vtable.
    pub vtable: Vtable,
    /// Tables that use it.
    pub users: u32,
    /// The first of them in the file.
    pub first: u32,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Objects in the order of the file; the first is the head of the input.
    pub objects: Vec<Object>,
    /// Vtables, in the order in which their first users stand in the file.
    pub vtables: Vec<Shared>,
    /// What is wrong, by offset.
    pub faults: Vec<Fault>,
    /// Buffers; the first is that of the input.
    pub buffers: Vec<Buffer>,
    /// The largest alignment of what stands in a table or vector.
    pub widest: u64,
    /// Something was not followed: an offset that is wrong, or one that may be one.
    pub partial: bool,
    /// Where fields of no known type may lead, if they are offsets.
    pub candidates: Vec<u64>,
    /// Positions of vtables, by where they stand and their buffer.
    pub known: HashMap<(u64, u32), u32, foldhash::fast::FixedState>,
}

/// Whether the head of a buffer has a file identifier: four printable bytes behind the root offset that belong to
/// no object, or those that the schema declares.
pub fn has_identifier(bytes: Bytes<'_>, found: &Found, flat: Option<&Flat>, number: u32, buffer: &Buffer) -> bool {
    let start = buffer.start.saturating_add(4);
    let end = start.saturating_add(4);
    let Some(four) = bytes.range(start, end).filter(|_| end <= buffer.end) else { return false };
    let Some(head) = usize::try_from(number).ok().and_then(|at| found.objects.get(at)) else { return false };
    let next = usize::try_from(number.saturating_add(1)).ok().and_then(|at| found.objects.get(at));
    let taken = |at: u64| found.known.contains_key(&(at, head.buffer));
    if next.is_none_or(|next| next.start < end) || taken(start) || taken(start.saturating_add(2)) {
        return false;
    }
    let declared = flat.and_then(|flat| flat.identifier);
    declared.is_some_and(|declared| declared == four) || four.iter().all(|byte| byte.is_ascii_graphic())
}

/// The ranges that objects and vtables claim, sorted.
pub fn claims(found: &Found) -> Vec<(u64, u64)> {
    let objects = found.objects.iter().map(|object| (object.start, object.end));
    let vtables = found.vtables.iter().map(|shared| {
        let vtable = shared.vtable;
        (vtable.start, vtable.start.saturating_add(vtable.size))
    });
    let mut claims: Vec<(u64, u64)> = objects.chain(vtables).collect();
    claims.sort_unstable();
    claims
}

/// The ranges that no object and no vtable claims.
pub fn gaps(buffer: Buffer, found: &Found) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut at = buffer.origin;
    for (start, end) in claims(found) {
        if start > at {
            gaps.push((at, start));
        }
        at = at.max(end);
    }
    if at < buffer.end {
        gaps.push((at, buffer.end));
    }
    gaps
}

/// Bytes that are neither reached nor zero.
pub fn unread(bytes: Bytes<'_>, buffer: Buffer, found: &Found) -> u64 {
    let named = has_identifier(bytes, found, None, 0, &buffer);
    let mut unread = 0u64;
    for (start, end) in gaps(buffer, found) {
        let start = if named && start == buffer.start.saturating_add(4) { start.saturating_add(4) } else { start };
        let left = bytes.clipped(start, end).iter().filter(|byte| **byte != 0).count();
        unread = unread.saturating_add(crate::model::num::len64(left));
    }
    unread
}
