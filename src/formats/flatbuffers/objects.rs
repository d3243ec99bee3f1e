//! The first half of a walk: which objects there are. Offsets lead forward only, so objects are taken in the order
//! of the file: when one is reached, all that lead to it are known, how deep it lies, and how often a reader that
//! follows every offset would visit it. Nothing is visited twice, so that the work grows with the file alone.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::formats::flatbuffers::faults::{Fault, Wrong};
use crate::formats::flatbuffers::table::{Slot, Vtable, field_align, vtable_at};
use crate::formats::flatbuffers::{keys, likely};
use crate::model::diag::Severity;
use crate::model::flat::{EnumId, Field, Flat, Of, Shape};
use crate::model::limits;
use crate::model::schema::MessageId;
use crate::wire::reader::{Bytes, little_endian};

/// Findings kept; what is past that many of one input says nothing new.
const MOST_FAULTS: usize = 100_000;

/// The object that nothing leads to, and the vtable of what has none.
pub const NONE: u32 = u32::MAX;

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
    depth: u32,
    /// Ways that lead to it.
    ways: u64,
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
    known: HashMap<(u64, u32), u32, foldhash::fast::FixedState>,
}

/// An offset that was met and leads to an object further on.
#[derive(Debug, Clone, Copy)]
struct Pending {
    target: u64,
    from: u64,
    what: What,
    parent: u32,
    reach: Reach,
    buffer: u32,
    /// Bytes of the offset.
    wide: bool,
    /// No schema says that it is an offset: it only looks like one.
    unsure: bool,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Pending) -> bool {
        (self.target, self.from) == (other.target, other.from)
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Pending) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Pending) -> std::cmp::Ordering {
        (self.target, self.from).cmp(&(other.target, other.from))
    }
}

/// Looks for the objects of a buffer.
pub struct Search<'a> {
    hints: &'a Hints,
    bytes: Bytes<'a>,
    flat: Option<&'a Flat>,
    limit: u32,
    pending: BinaryHeap<Reverse<Pending>>,
    found: Found,
    slots: Vec<Slot>,
    /// Tables that a reader visits which follows every offset.
    visits: u64,
    /// Work that is left: hostile objects that lie on each other may not cost more than a long file does.
    work: u64,
    /// The next offset only looks like one.
    unsure: bool,
    /// Where the objects so far end.
    claimed: u64,
    /// The last object announces more than the buffer has: it ends where the next one begins.
    open_ended: bool,
    /// For each type the fields that must be there, and those of unions.
    needs: Vec<Vec<u16>>,
}

/// Work for each byte of the input.
const WORK: u64 = 64;

/// What is known of places that nothing says anything of: vectors of numbers, strings, what is no vtable.
#[derive(Debug, Default)]
pub struct Hints {
    /// What stands there.
    pub places: HashMap<u64, Of, foldhash::fast::FixedState>,
    /// Where no vtable is, although the bytes look like one: other objects have them.
    pub no_vtables: std::collections::HashSet<u64, foldhash::fast::FixedState>,
}

/// Elements of what looks like a vector of tables that are looked at.
const LOOKED_AT: u64 = 64;

/// Places that may be targets of offsets, at most.
const MOST_CANDIDATES: usize = 4_000_000;

/// Finds the objects of a buffer whose root offset stands at `buffer.start`.
pub fn search(bytes: Bytes<'_>, buffer: Buffer, root: Option<MessageId>, flat: Option<&Flat>, depth: usize) -> Found {
    search_with(bytes, buffer, root, flat, depth, &Hints::default())
}

/// As [`search`], with what is known of places that fields without a type may lead to.
pub fn search_with(
    bytes: Bytes<'_>,
    buffer: Buffer,
    root: Option<MessageId>,
    flat: Option<&Flat>,
    depth: usize,
    hints: &Hints,
) -> Found {
    let mut search = Search {
        hints,
        bytes,
        flat,
        limit: u32::try_from(depth).unwrap_or(u32::MAX),
        pending: BinaryHeap::new(),
        found: Found::default(),
        slots: Vec::new(),
        visits: 0,
        work: bytes.len().saturating_mul(WORK).saturating_add(1 << 20),
        unsure: false,
        claimed: 0,
        open_ended: false,
        needs: flat.map_or(Vec::new(), needs),
    };
    search.head(buffer, root, NONE, Reach::Same, 0);
    while let Some(Reverse(next)) = search.pending.pop() {
        search.take(next);
    }
    search.settle();
    search.of_buffers(root);
    let mut found = search.found;
    found.faults.sort_by_key(|fault| (fault.start, fault.end));
    found.faults.dedup();
    found
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
fn claims(found: &Found) -> Vec<(u64, u64)> {
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

impl Search<'_> {
    /// What shows only when all is known: size prefix, identifier.
    fn of_buffers(&mut self, root: Option<MessageId>) {
        let Some(buffer) = self.found.buffers.first().copied() else { return };
        let (size, there) = (self.bytes.u32(0).map_or(0, u64::from), self.bytes.len().saturating_sub(4));
        if buffer.start > buffer.origin && (size < 4 || size > there) {
            self.fault(0, 4.min(self.bytes.len()), Wrong::SizePrefix(size, there));
        }
        if buffer.origin > 0 {
            self.fault(0, 4, Wrong::LeadingZeros(buffer.origin));
        }
        self.size(buffer);
        let Some(flat) = self.flat else { return };
        let Some(wanted) = flat.identifier else { return };
        let (start, end) = (buffer.start.saturating_add(4), buffer.start.saturating_add(8).min(buffer.end));
        if self.bytes.range(start, end) == Some(&wanted[..]) || self.found.objects.len() < 2 {
            return;
        }
        if has_identifier(self.bytes, &self.found, self.flat, 0, &buffer) {
            self.fault(start, end, Wrong::Identifier(wanted));
        } else if root.is_some() && root == flat.root && start < end {
            // What is no root of a file needs none.
            self.fault(start, end, Wrong::NoIdentifier(wanted, start));
        }
    }

    /// Whether a sound buffer, used up to its end, has a size that an offset could stand behind.
    fn size(&mut self, buffer: Buffer) {
        let size = buffer.end.saturating_sub(buffer.origin);
        if size.is_multiple_of(4) || self.found.partial {
            return;
        }
        let used = claims(&self.found).iter().map(|(_, end)| *end).max();
        if used == Some(buffer.end) {
            self.fault(buffer.end, buffer.end, Wrong::Size(size));
        }
    }

    fn fault(&mut self, start: u64, end: u64, what: Wrong) {
        self.found.partial |= what.severity() == Severity::Error;
        if self.found.faults.len() < MOST_FAULTS {
            self.found.faults.push(Fault { start, end, what });
        }
    }

    fn buffer(&self, number: u32) -> Buffer {
        let nothing = Buffer { start: 0, origin: 0, end: 0 };
        usize::try_from(number).ok().and_then(|at| self.found.buffers.get(at)).copied().unwrap_or(nothing)
    }

    fn object(&self, number: u32) -> Option<&Object> {
        self.found.objects.get(usize::try_from(number).ok()?)
    }

    fn next_number(&self) -> u32 {
        u32::try_from(self.found.objects.len()).unwrap_or(NONE)
    }

    /// The head of a buffer: the root offset, which leads to a table.
    fn head(&mut self, buffer: Buffer, root: Option<MessageId>, parent: u32, reach: Reach, from: u64) {
        let number = u32::try_from(self.found.buffers.len()).unwrap_or(NONE);
        self.found.buffers.push(buffer);
        let start = if parent == NONE { buffer.origin } else { buffer.start };
        let end = buffer.start.saturating_add(4).min(buffer.end);
        let at = self.next_number();
        let (level, depth, ways) =
            self.object(parent).map_or((0, 0, 1), |o| (o.level.saturating_add(1), o.depth, o.ways));
        let head = Object {
            start,
            end,
            what: What::Head,
            parent,
            reach,
            from,
            refs: 0,
            buffer: number,
            vtable: NONE,
            open_ended: false,
            level,
            depth,
            ways,
        };
        self.found.objects.push(head);
        match self.bytes.u32(buffer.start).filter(|_| buffer.start.saturating_add(4) <= buffer.end) {
            Some(_) => self.follow(buffer.start, false, What::Table(root), at, Reach::Same, number, "the root"),
            None if self.bytes.is_empty() => self.fault(0, 0, Wrong::Empty),
            None => {
                let there = buffer.end.saturating_sub(buffer.start);
                self.fault(buffer.start, buffer.end, Wrong::NoRoot(there));
            }
        }
    }

    /// Takes the offset at `from` where it leads into the buffer.
    #[allow(clippy::too_many_arguments)]
    fn follow(
        &mut self,
        from: u64,
        wide: bool,
        what: What,
        parent: u32,
        reach: Reach,
        buffer: u32,
        name: &'static str,
    ) {
        let value = if wide { self.bytes.u64(from) } else { self.bytes.u32(from).map(u64::from) };
        let Some(value) = value else { return };
        let width = if wide { 8 } else { 4 };
        let (to, end) = (from.saturating_add(value), self.buffer(buffer).end);
        if value == 0 {
            return self.fault(from, from.saturating_add(width), Wrong::Zero(name));
        }
        // Nothing that an offset leads to has less than a soffset, a count or a length.
        if to.saturating_add(if matches!(what, What::Struct(_)) { 1 } else { 4 }) > end {
            return self.fault(from, from.saturating_add(width), Wrong::PastEnd(to, end));
        }
        let unsure = std::mem::take(&mut self.unsure);
        self.pending.push(Reverse(Pending { target: to, from, what, parent, reach, buffer, wide, unsure }));
    }

    /// Takes the next object in the file, or one more offset that leads to the last one.
    fn take(&mut self, next: Pending) {
        let (depth, ways) = self.object(next.parent).map_or((0, 1), |parent| (parent.depth, parent.ways));
        if let Some(object) = self.last().filter(|object| object.start == next.target && object.what != What::Head) {
            object.refs = object.refs.saturating_add(1);
            object.ways = object.ways.saturating_add(ways);
            let is_table = matches!(object.what, What::Table(_));
            let depth = depth.saturating_add(u32::from(is_table));
            let (deeper, first, same) = (depth > object.depth, object.from, is_same(object.what, next.what));
            object.depth = object.depth.max(depth);
            self.head_as_vector();
            let width = if next.wide { 8 } else { 4 };
            let guessed = self.flat.is_some_and(|flat| flat.guessed);
            if !same && !guessed {
                self.fault(next.from, next.from.saturating_add(width), Wrong::TwoTypes(first));
            } else if deeper && is_table && depth > self.limit {
                self.fault(next.from, next.from.saturating_add(width), Wrong::Depth(u64::from(self.limit)));
            }
            // What it holds is looked at once, when the next object begins.
            return;
        }
        if next.unsure && next.target < self.claimed {
            // A number that happens to lead into an object.
            self.found.partial = true;
            return;
        }
        self.settle();
        self.clip_last(next.target);
        self.begin(next, depth, ways);
    }

    /// The object that was added last. That is a vector where a buffer inside it has begun.
    fn last(&mut self) -> Option<&mut Object> {
        let last = self.found.objects.len().checked_sub(1)?;
        let of_head = |object: &Object| usize::try_from(object.parent).ok().filter(|_| object.what == What::Head);
        let at = self.found.objects.get(last).and_then(of_head).unwrap_or(last);
        self.found.objects.get_mut(at)
    }

    /// The head of a buffer inside, if that was added last, is reached in the ways in which its vector is.
    fn head_as_vector(&mut self) {
        let Some((depth, ways)) = self.last().map(|vector| (vector.depth, vector.ways)) else { return };
        if let Some(head) = self.found.objects.last_mut() {
            (head.depth, head.ways) = (depth, ways);
        }
    }

    /// A new object.
    fn begin(&mut self, next: Pending, depth: u32, ways: u64) {
        let Pending { target: start, from, what, parent, reach, buffer, wide, .. } = next;
        let is_table = matches!(what, What::Table(_));
        let depth = depth.saturating_add(u32::from(is_table));
        if is_table && depth > self.limit {
            let width = if wide { 8 } else { 4 };
            return self.fault(from, from.saturating_add(width), Wrong::Depth(u64::from(self.limit)));
        }
        let level = self.object(parent).map_or(0, |parent| parent.level.saturating_add(1));
        self.found.objects.push(Object {
            start,
            end: start,
            what,
            parent,
            reach,
            from,
            refs: 1,
            buffer,
            vtable: NONE,
            open_ended: false,
            level,
            depth,
            ways,
        });
        self.content(wide);
    }

    /// Counts the visits of the last object, once all that lead to it are known.
    fn settle(&mut self) {
        let Some(object) = self.found.objects.last().copied() else { return };
        if !matches!(object.what, What::Table(_)) || self.visits > limits::FLATBUFFERS_TABLES {
            return;
        }
        self.visits = self.visits.saturating_add(object.ways);
        if self.visits > limits::FLATBUFFERS_TABLES {
            self.fault(object.start, object.start.saturating_add(4), Wrong::Tables(limits::FLATBUFFERS_TABLES));
        }
    }

    /// Looks into the object that was added last.
    fn content(&mut self, wide: bool) {
        let number = self.next_number().saturating_sub(1);
        let Some(object) = self.object(number).copied() else { return };
        let buffer = self.buffer(object.buffer);
        let align = match object.what {
            What::Struct(id) => self.flat.map_or(1, |flat| flat.align(Of::Struct(id))),
            What::Vector(Elements { wide: true, .. }) => 8,
            _ => 4,
        };
        if object.start.wrapping_sub(buffer.origin).checked_rem(align).is_some_and(|rest| rest != 0) {
            let width = if wide { 8 } else { 4 };
            self.fault(object.from, object.from.saturating_add(width), Wrong::Unaligned(object.start, align));
        }
        let Some(work) = self.work.checked_sub(self.cost(&object)) else {
            return self.fault(object.from, object.from.saturating_add(4), Wrong::TooMuch);
        };
        self.work = work;
        let end = match object.what {
            What::Head => object.end,
            What::Table(ty) => self.table(number, object, ty, buffer),
            What::Vector(elements) => self.vector(number, object, elements, buffer),
            What::Text => self.text(object, buffer),
            What::Struct(id) => self.structure(object, id, buffer),
        };
        let open = self.open_ended;
        if let Some(object) = usize::try_from(number).ok().and_then(|at| self.found.objects.get_mut(at)) {
            object.end = end.max(object.start.saturating_add(1));
            object.open_ended = open;
            // The last bytes of a table, that no slot leads to, may be another object's.
            if !matches!(object.what, What::Table(_)) {
                self.claimed = self.claimed.max(object.end);
            }
        }
    }

    /// What looking into an object costs.
    fn cost(&self, object: &Object) -> u64 {
        let room = self.bytes.len().saturating_sub(object.start);
        let announced = u64::from(self.bytes.u32(object.start).unwrap_or(0));
        match object.what {
            What::Text => announced.min(room) / 4,
            What::Vector(elements) if elements.of.is_offset() => announced.min(room),
            What::Table(_) => {
                let buffer = self.buffer(object.buffer);
                let vtable = vtable_at(self.bytes, object.start, buffer.start, buffer.end);
                vtable.map_or(1, |vtable| u64::from(vtable.slot_count()))
            }
            _ => 1,
        }
    }

    /// The object before is clipped where it reaches past the end anyway, and this one begins inside it.
    fn clip_last(&mut self, start: u64) {
        let open = self.open_ended;
        if let Some(last) = self.found.objects.last_mut().filter(|last| open && last.end > start && last.start < start)
        {
            last.end = start;
        }
        self.open_ended = false;
    }

    fn structure(&mut self, object: Object, id: MessageId, buffer: Buffer) -> u64 {
        let size = self.flat.map_or(1, |flat| flat.width(Of::Struct(id)));
        let end = object.start.saturating_add(size);
        if end > buffer.end {
            self.fault(object.from, object.from.saturating_add(4), Wrong::PastEnd(end, buffer.end));
        }
        end.min(buffer.end)
    }

    fn text(&mut self, object: Object, buffer: Buffer) -> u64 {
        let length = u64::from(self.bytes.u32(object.start).unwrap_or(0));
        let from = object.start.saturating_add(4);
        let end = from.saturating_add(length);
        if end.saturating_add(1) > buffer.end {
            self.fault(object.start, from, Wrong::StringPastEnd(length, buffer.end));
            self.open_ended = true;
            return buffer.end;
        }
        if let Some(byte) = self.bytes.u8(end).filter(|byte| *byte != 0) {
            self.fault(end, end.saturating_add(1), Wrong::NoTerminator(byte));
        }
        let bytes = self.bytes.clipped(from, end);
        if let Err(error) = std::str::from_utf8(bytes) {
            let at = from.saturating_add(crate::model::num::len64(error.valid_up_to()));
            self.fault(from, end, Wrong::InvalidUtf8(at));
        }
        end.saturating_add(1)
    }

    fn vector(&mut self, number: u32, object: Object, elements: Elements, buffer: Buffer) -> u64 {
        let head = if elements.wide { 8 } else { 4 };
        let count =
            if elements.wide { self.bytes.u64(object.start) } else { self.bytes.u32(object.start).map(u64::from) };
        let count = count.unwrap_or(0);
        let from = object.start.saturating_add(head);
        let (width, align) = self.flat.map_or((1, 1), |flat| (flat.width(elements.of), flat.align(elements.of)));
        if count > 0 {
            self.found.widest = self.found.widest.max(align);
        }
        if count > 0 && from.wrapping_sub(buffer.origin).checked_rem(align).is_some_and(|rest| rest != 0) {
            self.fault(object.from, object.from.saturating_add(4), Wrong::Unaligned(from, align));
        }
        let fit = buffer.end.saturating_sub(from).checked_div(width).unwrap_or(0);
        if count > fit {
            self.fault(object.start, from.min(buffer.end), Wrong::VectorPastEnd(count, width, buffer.end));
        }
        let shown = count.min(fit);
        self.sorted(elements.of, from, shown, width, buffer);
        match elements.content {
            Content::Nested(root) if count <= fit && count > 0 => {
                let nested = Buffer { start: from, origin: from, end: from.saturating_add(count) };
                self.head(nested, Some(root), number, Reach::Same, object.start);
                return from;
            }
            Content::Types(types) => self.unions(number, elements.of, types, from, count, shown, object.buffer),
            _ => self.elements(number, elements.of, from, shown, object.buffer),
        }
        if shown < count {
            self.open_ended = true;
            return buffer.end;
        }
        from.saturating_add(shown.saturating_mul(width))
    }

    /// Looks whether elements with a key are sorted by it; the first that is not is told.
    fn sorted(&mut self, of: Of, from: u64, count: u64, width: u64, buffer: Buffer) {
        let Some((flat, field)) = self.flat.and_then(|flat| Some((flat, keys::key_of(flat, of)?))) else { return };
        let bytes = self.bytes;
        let key = |index: u64| {
            let at = from.checked_add(index.checked_mul(width)?)?;
            match of {
                Of::Struct(_) => keys::of_struct(bytes, flat, field, at),
                _ => {
                    let table = at.checked_add(u64::from(bytes.u32(at)?))?;
                    keys::of_table(bytes, flat, field, table, buffer.start, buffer.end)
                }
            }
        };
        let mut last = key(0);
        for index in 1..count {
            let next = key(index);
            if let (Some(one), Some(other)) = (last, next)
                && other.order(&one) == Some(std::cmp::Ordering::Less)
            {
                let at = from.saturating_add(index.saturating_mul(width));
                return self.fault(at, at.saturating_add(width), Wrong::KeyOrder(index));
            }
            last = next;
        }
    }

    /// The elements of a vector that are offsets.
    fn elements(&mut self, number: u32, of: Of, from: u64, count: u64, buffer: u32) {
        let what = match of {
            Of::Text => What::Text,
            Of::Table(id) => What::Table(Some(id).filter(|id| *id != likely::UNKNOWN)),
            _ => return,
        };
        for index in 0..count {
            let at = from.saturating_add(index.saturating_mul(4));
            self.follow(at, false, what, number, Reach::Index(index), buffer, "an element");
        }
    }

    /// The elements of a vector of unions.
    #[allow(clippy::too_many_arguments)]
    fn unions(&mut self, number: u32, of: Of, types: Option<u64>, from: u64, count: u64, shown: u64, buffer: u32) {
        let (Of::Union(id), Some(flat)) = (of, self.flat) else { return };
        let announced = types.and_then(|types| self.bytes.u32(types)).map_or(0, u64::from);
        if announced != count {
            self.fault(from.saturating_sub(4), from, Wrong::UnionLengths(announced, count));
        }
        let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
        for index in 0..shown.min(announced) {
            let at = from.saturating_add(index.saturating_mul(4));
            let place = types.unwrap_or(0).saturating_add(4).saturating_add(index.saturating_mul(each));
            let ty = little_endian(self.bytes.clipped(place, place.saturating_add(each)));
            if ty == 0 {
                // A writer has no value for it, and leaves an offset of 0.
                if self.bytes.u32(at) != Some(0) {
                    self.fault(at, at.saturating_add(4), Wrong::UnionWithoutType);
                    self.likely(at, number, Reach::Index(index), buffer);
                }
                continue;
            }
            match member(flat, id, ty) {
                Some(what) => self.follow(at, false, what, number, Reach::Index(index), buffer, "an element"),
                None => {
                    self.fault(place, place.saturating_add(each), Wrong::UnionTypeUnknown(ty));
                    self.likely(at, number, Reach::Index(index), buffer);
                }
            }
        }
    }

    /// A table: its vtable, and the offsets in its fields.
    fn table(&mut self, number: u32, object: Object, ty: Option<MessageId>, buffer: Buffer) -> u64 {
        let at = object.start;
        let vtable = match vtable_at(self.bytes, at, buffer.start, buffer.end) {
            Ok(vtable) => vtable,
            Err(fault) => {
                self.fault(fault.start, fault.end, fault.what);
                return at.saturating_add(4).min(buffer.end);
            }
        };
        let shared = self.share(vtable, object.buffer, number);
        if let Some(object) = usize::try_from(number).ok().and_then(|at| self.found.objects.get_mut(at)) {
            object.vtable = shared;
        }
        let end = at.saturating_add(vtable.table_size);
        if end > buffer.end {
            let place = vtable.start.saturating_add(2);
            self.fault(place, place.saturating_add(2), Wrong::TablePastEnd(vtable.table_size, buffer.end));
            self.open_ended = true;
        }
        let mut slots = std::mem::take(&mut self.slots);
        let faults = vtable.slots(self.bytes, at, buffer, self.known_type(ty), self.flat, &mut slots);
        for fault in faults {
            self.fault(fault.start, fault.end, fault.what);
        }
        let fields = slots.iter().filter(|slot| slot.usable).map(|slot| slot.at.saturating_add(slot.width)).max();
        self.claimed = self.claimed.max(fields.unwrap_or(0)).max(at.saturating_add(4));
        self.widen(ty, &slots);
        for slot in slots.iter().filter(|slot| slot.usable) {
            self.field(number, object, ty, vtable, slot);
        }
        self.slots = slots;
        self.required(at, ty, vtable);
        end.min(buffer.end)
    }

    /// Notes the largest alignment of the fields of a table.
    fn widen(&mut self, ty: Option<MessageId>, slots: &[Slot]) {
        let (Some(flat), Some(object)) = (self.flat, self.known_type(ty)) else { return };
        let aligns = slots.iter().filter_map(|slot| Some(field_align(object.field(slot.id)?, flat)));
        let widest = aligns.max().unwrap_or(1);
        self.found.widest = self.found.widest.max(widest).max(4);
    }

    fn known_type(&self, ty: Option<MessageId>) -> Option<&crate::model::flat::Object> {
        self.flat?.object(ty?)
    }

    /// Notes a further user of a vtable.
    fn share(&mut self, vtable: Vtable, buffer: u32, user: u32) -> u32 {
        let next = u32::try_from(self.found.vtables.len()).unwrap_or(NONE);
        let number = *self.found.known.entry((vtable.start, buffer)).or_insert(next);
        if number == next {
            self.found.vtables.push(Shared { vtable, users: 0, first: user });
        }
        if let Some(shared) = usize::try_from(number).ok().and_then(|at| self.found.vtables.get_mut(at)) {
            shared.users = shared.users.saturating_add(1);
        }
        number
    }

    /// Where a field leads.
    fn field(&mut self, number: u32, object: Object, ty: Option<MessageId>, vtable: Vtable, slot: &Slot) {
        let known = self.flat.and_then(|flat| Some((flat, flat.object(ty?)?.field(slot.id)?)));
        let Some((flat, field)) = known else { return self.unknown_field(number, object, slot) };
        let reach = Reach::Field(slot.id);
        let wide = field.offset64;
        let what = match (field.ty.shape, field.ty.of) {
            (Shape::One, Of::Text) => What::Text,
            (Shape::One, Of::Table(id)) => What::Table(Some(id)),
            (Shape::One, Of::Union(id)) => match self.union_value(object.start, vtable, field, flat, id) {
                Some(what) => what,
                None => {
                    self.likely(slot.at, number, reach, object.buffer);
                    return;
                }
            },
            (Shape::Vector | Shape::Vector64, of) => What::Vector(self.elements_of(object.start, vtable, field, of)),
            _ => return,
        };
        let name = match what {
            What::Text => "a string",
            What::Vector(_) => "a vector",
            What::Struct(_) => "a struct",
            What::Table(_) | What::Head => "a table",
        };
        self.follow(slot.at, wide, what, number, reach, object.buffer, name);
    }

    /// A field that the schema does not know: where it looks like an offset to a table or string, it is one.
    fn unknown_field(&mut self, number: u32, object: Object, slot: &Slot) {
        if slot.width == 4 && self.likely(slot.at, number, Reach::Field(slot.id), object.buffer) {
            return;
        }
        let buffer = self.buffer(object.buffer);
        let target = self.bytes.u32(slot.at).filter(|offset| slot.width == 4 && *offset >= 4);
        let Some(target) = target.map(|offset| slot.at.saturating_add(u64::from(offset))) else { return };
        if target.wrapping_sub(buffer.origin) % 4 != 0 || target.saturating_add(4) > buffer.end {
            return;
        }
        let what = match self.hints.places.get(&target) {
            Some(Of::Text) => What::Text,
            Some(of) => What::Vector(Elements { of: *of, wide: false, content: Content::Plain }),
            None => {
                self.found.partial = true;
                if self.found.candidates.len() < MOST_CANDIDATES {
                    self.found.candidates.push(target);
                }
                return;
            }
        };
        self.unsure = true;
        self.follow(slot.at, false, what, number, Reach::Field(slot.id), object.buffer, "a vector");
    }

    /// Follows what looks like an offset, and returns whether it does.
    fn likely(&mut self, at: u64, number: u32, reach: Reach, number_of_buffer: u32) -> bool {
        let buffer = self.buffer(number_of_buffer);
        let what = likely::target(self.bytes, at, buffer).filter(|what| !self.has_no_vtable(at, *what, buffer));
        let Some(what) = what else { return false };
        self.unsure = true;
        self.follow(at, false, what, number, reach, number_of_buffer, "a table");
        true
    }

    /// Whether what looks like a table, or like a vector of tables, has a vtable where other objects are.
    fn has_no_vtable(&self, at: u64, what: What, buffer: Buffer) -> bool {
        if self.hints.no_vtables.is_empty() {
            return false;
        }
        let target = |at: u64| at.saturating_add(u64::from(self.bytes.u32(at).unwrap_or(0)));
        let wrong = |table: u64| {
            let vtable = vtable_at(self.bytes, table, buffer.start, buffer.end);
            vtable.is_ok_and(|vtable| self.hints.no_vtables.contains(&vtable.start))
        };
        match what {
            What::Table(_) => wrong(target(at)),
            What::Vector(Elements { of: Of::Table(_), .. }) => {
                let vector = target(at);
                let count = u64::from(self.bytes.u32(vector).unwrap_or(0)).min(LOOKED_AT);
                (1..=count).any(|index| wrong(target(vector.saturating_add(index.saturating_mul(4)))))
            }
            _ => false,
        }
    }

    fn elements_of(&self, at: u64, vtable: Vtable, field: &Field, of: Of) -> Elements {
        let content = match (of, field.nested, field.flexbuffer) {
            (Of::Union(_), ..) => Content::Types(self.types_vector(at, vtable, field)),
            (_, Some(root), _) => Content::Nested(root),
            (_, None, true) => Content::Flex,
            _ => Content::Plain,
        };
        Elements { of, wide: field.ty.shape == Shape::Vector64, content }
    }

    /// Where the types of a vector of unions stand.
    fn types_vector(&self, at: u64, vtable: Vtable, field: &Field) -> Option<u64> {
        let place = vtable.field(self.bytes, at, field.id.checked_sub(1)?)?;
        let to = place.checked_add(u64::from(self.bytes.u32(place)?))?;
        self.bytes.u32(to).map(|_| to)
    }

    /// What the value of a union is, by the type beside it.
    fn union_value(&mut self, at: u64, vtable: Vtable, field: &Field, flat: &Flat, id: EnumId) -> Option<What> {
        let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
        let place = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id));
        let ty = place.map_or(0, |place| little_endian(self.bytes.clipped(place, place.saturating_add(each))));
        if ty == 0 {
            let value = vtable.field(self.bytes, at, field.id).unwrap_or(at);
            self.fault(value, value.saturating_add(4), Wrong::UnionWithoutType);
            return None;
        }
        let what = member(flat, id, ty);
        if what.is_none() {
            let place = place.unwrap_or(at);
            self.fault(place, place.saturating_add(each), Wrong::UnionTypeUnknown(ty));
        }
        what
    }

    /// Fields that must be there.
    fn required(&mut self, at: u64, ty: Option<MessageId>, vtable: Vtable) {
        let Some(flat) = self.flat else { return };
        let Some((id, object)) = ty.and_then(|ty| Some((ty, flat.object(ty)?))) else { return };
        let needs = usize::try_from(id.0).ok().and_then(|at| self.needs.get_mut(at)).map(std::mem::take);
        let needs = needs.unwrap_or_default();
        for field in needs.iter().filter_map(|id| object.field(*id)) {
            let absent = || vtable.voffset(self.bytes, field.id).unwrap_or(0) == 0;
            if field.required && absent() {
                let what = if field.key { Wrong::KeyMissing(field.id) } else { Wrong::RequiredMissing(field.id) };
                self.fault(at, at.saturating_add(4), what);
            } else if let (Shape::One, Of::Union(id)) = (field.ty.shape, field.ty.of)
                && absent()
                && let Some(place) = field.id.checked_sub(1).and_then(|id| vtable.field(self.bytes, at, id))
            {
                let each = u64::from(flat.enumeration(id).map_or(1, |one| one.base.size()));
                let number = little_endian(self.bytes.clipped(place, place.saturating_add(each)));
                if number != 0 {
                    self.fault(place, place.saturating_add(each), Wrong::UnionWithoutValue(number));
                }
            }
        }
        if let Some(place) = usize::try_from(id.0).ok().and_then(|at| self.needs.get_mut(at)) {
            *place = needs;
        }
    }
}

/// For each type the fields that are looked at even where they are absent.
fn needs(flat: &Flat) -> Vec<Vec<u16>> {
    let needed =
        |field: &&Field| field.required || (field.ty.shape == Shape::One && matches!(field.ty.of, Of::Union(_)));
    let tables = flat.objects.iter();
    tables.map(|object| object.fields.iter().filter(needed).map(|field| field.id).collect()).collect()
}

/// What a member of a union is.
fn member(flat: &Flat, id: EnumId, number: u64) -> Option<What> {
    let member = flat.enumeration(id)?.member(i64::try_from(number).ok()?)?.member?;
    Some(match member {
        Of::Table(id) => What::Table(Some(id)),
        Of::Struct(id) => What::Struct(id),
        _ => What::Text,
    })
}

/// Whether two offsets agree on what they lead to. Empty vectors of any kind look the same, so vectors agree where
/// the widths of their elements do.
fn is_same(one: What, other: What) -> bool {
    match (one, other) {
        (What::Vector(one), What::Vector(other)) => {
            one.of.is_offset() == other.of.is_offset() && one.wide == other.wide
        }
        (one, other) => one == other,
    }
}
