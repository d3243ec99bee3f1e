//! The first half of a walk: which objects there are. Offsets lead forward only, so objects are taken in the order
//! of the file: when one is reached, all that lead to it are known, how deep it lies, and how often a reader that
//! follows every offset would visit it. Nothing is visited twice, so that the work grows with the file alone.

mod tables;
mod vectors;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::formats::flatbuffers::faults::{Fault, Wrong};
use crate::formats::flatbuffers::found::{Buffer, Elements, Found, NONE, Object, Reach, What, claims, has_identifier};
use crate::formats::flatbuffers::table::{Slot, vtable_at};
use crate::model::diag::Severity;
use crate::model::flat::{EnumId, Field, Flat, Of, Shape};
use crate::model::limits;
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

/// Findings kept; what is past that many of one input says nothing new.
const MOST_FAULTS: usize = 100_000;

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
