//! The fields of one message, gathered from the bytes and put in the order of their numbers: what a reader
//! keeps of them. [`super::values`] and [`super::rewrite`] work on the same gathering.
//!
//! A message may stand in several places: occurrences of a singular message field are one message (merge).
//! So a message is a run of ranges, and a range is a [`Hit`] of the message around it. Nothing is a tree:
//! the hits of a message stand behind those of the message around it, and go when it is done.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::formats::protobuf::records::{Packed, Record, half, record};
use crate::formats::protobuf::unknown::Unknown;
use crate::formats::protobuf::wire::{self, WireType};
use crate::model::num::len64;
use crate::model::schema::{Cardinality, Field, FieldKind, Message, MessageId, Presence, Schema};

/// Place of a hit that no field of the type takes.
pub const UNKNOWN: u32 = u32::MAX;
/// Entries of a map up to which keys are compared one by one.
const FEW: usize = 8;
/// Largest input that is held: offsets take 32 bits.
pub const MOST: u64 = 0x7fff_ffff;

/// What stands for a field in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A varint, or four or eight bytes, as a number.
    Number(u64),
    /// Bytes from an offset to another: text, bytes, a message.
    Bytes(usize, usize),
    /// Several numbers, likewise.
    Packed(usize, usize),
    /// An element of a packed run that is no value of its closed enumeration; its place among
    /// [`Fields::strays`].
    Stray(usize),
    /// An entry of a map that counts as an unknown field, likewise.
    Entry(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Number,
    Bytes,
    Packed,
    Stray,
    Entry,
}

/// A field in one place, kept small since there is one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Position of the field in its message, or [`UNKNOWN`].
    pub place: u32,
    form: Form,
    data: u64,
}

impl Hit {
    /// A hit for a field.
    pub fn new(place: u32, content: Content) -> Hit {
        let span = |from: usize, to: usize| len64(from) << 32 | len64(to);
        let (form, data) = match content {
            Content::Number(number) => (Form::Number, number),
            Content::Bytes(from, to) => (Form::Bytes, span(from, to)),
            Content::Packed(from, to) => (Form::Packed, span(from, to)),
            Content::Stray(at) => (Form::Stray, len64(at)),
            Content::Entry(at) => (Form::Entry, len64(at)),
        };
        Hit { place, form, data }
    }

    /// What stands there.
    pub fn content(self) -> Content {
        let (from, to) = (half(self.data >> 32), half(self.data & u64::from(u32::MAX)));
        match self.form {
            Form::Number => Content::Number(self.data),
            Form::Bytes => Content::Bytes(from, to),
            Form::Packed => Content::Packed(from, to),
            Form::Stray => Content::Stray(half(self.data)),
            Form::Entry => Content::Entry(half(self.data)),
        }
    }
}

/// How fields are gathered.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// Unknown fields are kept as hits.
    pub keep_unknown: bool,
    /// Nested messages may stand between group tags, as Protostuff writes them.
    pub groups: bool,
    /// Messages within each other that are read.
    pub depth: usize,
}

/// What the earlier hits of a oneof have come to, from the last one backwards.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// The pass that this is of: others are out of date.
    pass: u64,
    place: u32,
    /// Another member came before: everything earlier is gone.
    closed: bool,
}

/// Hits of a message and of those around it.
pub struct Fields<'a> {
    /// The bytes that offsets count in.
    pub bytes: &'a [u8],
    /// The types.
    pub schema: &'a Schema,
    /// Hits, the innermost message's behind the others'.
    pub hits: Vec<Hit>,
    /// Numbers and values of elements that are no value of a closed enumeration.
    pub strays: Vec<(u32, u64)>,
    /// What was left out.
    pub unknown: Unknown,
    how: How,
    members: Vec<Member>,
    passes: u64,
}

impl<'a> Fields<'a> {
    /// A gathering of nothing yet.
    pub fn new(bytes: &'a [u8], schema: &'a Schema, how: How) -> Fields<'a> {
        let (hits, strays, unknown) = (Vec::new(), Vec::new(), Unknown::default());
        Fields { bytes, schema, hits, strays, unknown, how, members: Vec::new(), passes: 0 }
    }

    /// Messages within each other that are read.
    pub fn depth(&self) -> usize {
        self.how.depth
    }

    /// What a map entry without a value holds.
    pub fn default_value(&self, kind: &FieldKind) -> Content {
        let first = match kind {
            FieldKind::String | FieldKind::Bytes | FieldKind::Opaque(_) => return Content::Bytes(0, 0),
            FieldKind::Enum(id) => self.schema.enumeration(*id).and_then(|known| known.values.first()),
            _ => None,
        };
        Content::Number(first.map_or(0, |(number, _)| i64::from(*number).cast_unsigned()))
    }

    /// What stands in a hit.
    pub fn content(&self, at: usize) -> Option<Content> {
        self.hits.get(at).map(|hit| hit.content())
    }

    /// Bytes of a range.
    pub fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or(&[])
    }

    /// Behind `at`, the first hit that is of another field, at most `end`.
    pub fn run_end(&self, at: usize, end: usize) -> usize {
        let hits = self.hits.get(at..end).unwrap_or(&[]);
        let Some(first) = hits.first() else { return end };
        let same = hits.iter().take_while(|hit| hit.place == first.place).count();
        at.saturating_add(same)
    }

    /// Fields among the hits from `from` on.
    pub fn runs(&self, from: usize) -> u64 {
        let hits = self.hits.get(from..).unwrap_or(&[]);
        let changes = hits.windows(2).filter(|pair| matches!(pair, [a, b] if a.place != b.place)).count();
        len64(changes).saturating_add(u64::from(!hits.is_empty()))
    }

    /// The last hit of a field among the hits from `from` on.
    pub fn last(&self, id: MessageId, number: u32, from: usize) -> Option<Content> {
        let place = self.place(id, number)?;
        self.hits.get(from..)?.iter().rfind(|hit| hit.place == place).map(|hit| hit.content())
    }

    fn place(&self, id: MessageId, number: u32) -> Option<u32> {
        self.schema.message(id)?.position(number).and_then(|place| u32::try_from(place).ok())
    }

    /// Gathers the fields of a message that stands in the ranges `from..to` of the hits; they are appended
    /// in the order of fields, with what a reader drops left out. Returns where they begin.
    pub fn gather(&mut self, id: MessageId, from: usize, to: usize, depth: usize) -> usize {
        let start = self.hits.len();
        let Some(message) = self.schema.message(id) else { return start };
        for at in from..to {
            if let Some(Content::Bytes(from, to)) = self.content(at) {
                self.scan(message, from, to, depth);
            }
        }
        if !message.oneofs.is_empty() {
            self.oneofs(message, start);
        }
        let new = self.hits.get_mut(start..).unwrap_or(&mut []);
        if !new.is_sorted_by_key(|hit| hit.place) {
            new.sort_by_key(|hit| hit.place);
        }
        self.resolve(message, start);
        start
    }

    /// Appends the hits of one range in the order of the bytes, up to the first damage.
    fn scan(&mut self, message: &Message, from: usize, to: usize, depth: usize) {
        let mut at = from;
        while at < to {
            let Some(one) = record(self.bytes, at, to) else { return };
            if message.message_set && one.wire == WireType::SGroup && one.number == 1 {
                self.set_item(message, at, &one);
            } else {
                self.take(message, at, &one, depth);
            }
            at = one.next;
        }
    }

    fn take(&mut self, message: &Message, at: usize, one: &Record, depth: usize) {
        let place = message.position(one.number);
        if self.how.groups && one.wire == WireType::SGroup && self.wrapped_map(message, place, one) {
            return;
        }
        let field = place.and_then(|place| message.fields.get(place));
        let content = field.and_then(|field| self.content_of(field, one));
        let (Some(field), Some(content), Some(place)) = (field, content, place.and_then(|at| u32::try_from(at).ok()))
        else {
            self.unknown(at, one);
            return;
        };
        let nested = field.kind.message().is_some() && field.cardinality != Cardinality::Map;
        if nested && depth >= self.how.depth && !self.how.keep_unknown {
            return;
        }
        // Text that ends before it is complete is no value.
        if one.cut && matches!(content, Content::Bytes(..)) && field.kind.message().is_none() {
            return;
        }
        match (&field.kind, content) {
            (FieldKind::Enum(id), content) if self.schema.enumeration(*id).is_some_and(|one| one.closed) => {
                self.closed(field, place, content, at, one);
            }
            (FieldKind::Message(id), Content::Bytes(from, to)) if field.cardinality == Cardinality::Map => {
                let known = self.schema.message(*id).is_some_and(|entry| self.key(entry, from, to).is_some());
                let hit = Hit::new(place, content);
                if known { self.hits.push(hit) } else { self.unknown_entry(field.number, hit, at, one) }
            }
            _ => self.hits.push(Hit::new(place, content)),
        }
    }

    /// Entries as Protostuff writes a map: a group around them, each in its field 1.
    fn wrapped_map(&mut self, message: &Message, place: Option<usize>, one: &Record) -> bool {
        let field = place.and_then(|place| message.fields.get(place));
        let map = field.is_some_and(|field| field.cardinality == Cardinality::Map);
        let (true, Some(place)) = (map, place.and_then(|place| u32::try_from(place).ok())) else { return false };
        let start = self.hits.len();
        let mut at = one.from;
        while let Some(entry) = record(self.bytes, at, one.to) {
            if entry.number != 1 || entry.wire != WireType::SGroup {
                self.hits.truncate(start);
                return false;
            }
            self.hits.push(Hit::new(place, Content::Bytes(entry.from, entry.to)));
            at = entry.next;
        }
        true
    }

    /// The content of a record where its wire type fits the field.
    fn content_of(&self, field: &Field, one: &Record) -> Option<Content> {
        let own = WireType::of_kind(&field.kind);
        let grouped = self.how.groups && one.wire == WireType::SGroup && matches!(field.kind, FieldKind::Message(_));
        if one.wire == own || grouped {
            return Some(match own {
                WireType::Len | WireType::SGroup => Content::Bytes(one.from, one.to),
                WireType::Varint | WireType::I64 | WireType::I32 | WireType::EGroup => Content::Number(one.value),
            });
        }
        let packed =
            one.wire == WireType::Len && field.cardinality == Cardinality::Repeated && field.kind.is_packable();
        packed.then_some(Content::Packed(one.from, one.to))
    }

    /// A value of a closed enumeration: numbers without a name count as unknown fields.
    fn closed(&mut self, field: &Field, place: u32, content: Content, at: usize, one: &Record) {
        let schema = self.schema;
        let FieldKind::Enum(id) = field.kind else { return };
        let known = |number: u64| {
            let number = wire::low32(number).cast_signed();
            schema.enumeration(id).is_some_and(|known| known.name_of(number).is_some())
        };
        match content {
            Content::Number(number) if !known(number) => self.unknown(at, one),
            Content::Packed(from, to) => {
                let run = self.slice(from, to);
                if Packed::new(run, &field.kind).all(known) {
                    self.hits.push(Hit::new(place, content));
                    return;
                }
                for number in Packed::new(run, &field.kind) {
                    if known(number) {
                        self.hits.push(Hit::new(place, Content::Number(number)));
                    } else {
                        self.stray(field.number, number);
                    }
                }
            }
            _ => self.hits.push(Hit::new(place, content)),
        }
    }

    fn stray(&mut self, number: u32, value: u64) {
        self.unknown.count(number, wire::varint_len(value), Some(value));
        if self.how.keep_unknown {
            self.hits.push(Hit::new(UNKNOWN, Content::Stray(self.strays.len())));
            self.strays.push((number, value));
        }
    }

    fn unknown(&mut self, at: usize, one: &Record) {
        let is_number = matches!(one.wire, WireType::Varint | WireType::I32 | WireType::I64);
        self.unknown.count(one.number, one.next.saturating_sub(at), is_number.then_some(one.value));
        // What is cut cannot be written again.
        if self.how.keep_unknown && !one.cut {
            self.hits.push(Hit::new(UNKNOWN, Content::Bytes(at, one.next)));
        }
    }

    /// An item of a message set: a group with the number of an extension and its message.
    fn set_item(&mut self, message: &Message, at: usize, item: &Record) {
        let (mut number, mut content, mut inner) = (None, None, item.from);
        while let Some(one) = record(self.bytes, inner, item.to) {
            match (one.number, one.wire) {
                (2, WireType::Varint) => number = u32::try_from(one.value).ok(),
                (3, WireType::Len) => content = Some(Content::Bytes(one.from, one.to)),
                _ => {}
            }
            inner = one.next;
        }
        let place = number.and_then(|number| message.position(number)).and_then(|place| u32::try_from(place).ok());
        match (place, content) {
            (Some(place), Some(content)) => self.hits.push(Hit::new(place, content)),
            _ => self.unknown(at, item),
        }
    }

    /// Drops the members of a oneof that a later other member has replaced.
    fn oneofs(&mut self, message: &Message, start: usize) {
        self.passes = self.passes.saturating_add(1);
        let (pass, none) = (self.passes, Member { pass: 0, place: 0, closed: false });
        if self.members.len() < message.oneofs.len() {
            self.members.resize(message.oneofs.len(), none);
        }
        let members = &mut self.members;
        let mut dropped = false;
        for hit in self.hits.get_mut(start..).unwrap_or(&mut []).iter_mut().rev() {
            let field = usize::try_from(hit.place).ok().and_then(|place| message.fields.get(place));
            let oneof = field.and_then(|field| usize::try_from(field.oneof?).ok());
            let Some(member) = oneof.and_then(|oneof| members.get_mut(oneof)) else { continue };
            if member.pass != pass {
                *member = Member { pass, place: hit.place, closed: false };
            } else if member.closed || member.place != hit.place {
                member.closed = true;
                dropped = true;
                // A packed run of nothing: no oneof has one, so it marks what is to go.
                *hit = Hit::new(hit.place, Content::Packed(0, 0));
            }
        }
        if dropped {
            self.retain(start, |hit| hit.content() != Content::Packed(0, 0));
        }
    }

    /// Keeps some of the hits from `start` on.
    fn retain(&mut self, start: usize, keep: impl Fn(Hit) -> bool) {
        let mut kept = start;
        for at in start..self.hits.len() {
            if let Some(hit) = self.hits.get(at).copied().filter(|hit| keep(*hit)) {
                self.put(&mut kept, hit);
            }
        }
        self.hits.truncate(kept);
    }

    fn put(&mut self, at: &mut usize, hit: Hit) {
        if let Some(place) = self.hits.get_mut(*at) {
            *place = hit;
            *at = at.saturating_add(1);
        }
    }

    /// Of each field, what counts in the end: the last value of a singular one, the last entry of a key, no
    /// default that is no value.
    fn resolve(&mut self, message: &Message, start: usize) {
        let (mut kept, mut at, end) = (start, start, self.hits.len());
        while at < end {
            let behind = self.run_end(at, end);
            let place = self.hits.get(at).map_or(UNKNOWN, |hit| hit.place);
            let field = usize::try_from(place).ok().and_then(|place| message.fields.get(place));
            match field.map(|field| (field, field.cardinality)) {
                Some((field, Cardinality::Map)) if behind.saturating_sub(at) > 1 => {
                    self.entries(field, at, behind, &mut kept);
                }
                Some((field, Cardinality::Repeated)) => self.elements(field, at, behind, &mut kept),
                Some((field, Cardinality::Singular)) if field.kind.message().is_none() => {
                    if let Some(hit) = self.hits.get(behind.saturating_sub(1)).copied()
                        && !(field.presence == Presence::Implicit && is_default(field, hit.content()))
                    {
                        self.put(&mut kept, hit);
                    }
                }
                Some((_, Cardinality::Singular | Cardinality::Map)) | None => {
                    for at in at..behind {
                        if let Some(hit) = self.hits.get(at).copied() {
                            self.put(&mut kept, hit);
                        }
                    }
                }
            }
            at = behind;
        }
        self.hits.truncate(kept);
    }

    fn elements(&mut self, field: &Field, at: usize, behind: usize, kept: &mut usize) {
        for at in at..behind {
            let Some(hit) = self.hits.get(at).copied() else { continue };
            let empty = match hit.content() {
                Content::Packed(from, to) => Packed::new(self.slice(from, to), &field.kind).next().is_none(),
                _ => false,
            };
            if !empty {
                self.put(kept, hit);
            }
        }
    }

    /// The entries of a map: one a key, where it stood first, with what it held last.
    fn entries(&mut self, field: &Field, at: usize, behind: usize, kept: &mut usize) {
        let Some(entry) = field.kind.message().and_then(|id| self.schema.message(id)) else { return };
        let mut keys = Keys::default();
        for at in at..behind {
            let Some(hit) = self.hits.get(at).copied() else { continue };
            let Content::Bytes(from, to) = hit.content() else { continue };
            // Entries without one were sorted out when they came.
            let Some(key) = self.key(entry, from, to) else { continue };
            match keys.first(key, *kept).and_then(|first| self.hits.get_mut(first)) {
                Some(first) => *first = hit,
                None => self.put(kept, hit),
            }
        }
    }

    /// An entry with an unknown field is an unknown field itself, as most readers have it.
    fn unknown_entry(&mut self, number: u32, hit: Hit, at: usize, one: &Record) {
        self.unknown.count(number, one.next.saturating_sub(at), None);
        if self.how.keep_unknown {
            self.hits.push(Hit::new(UNKNOWN, Content::Entry(self.strays.len())));
            self.strays.push((number, hit.data));
        }
    }

    /// Range of an entry among the strays.
    pub fn stray_range(&self, at: usize) -> Option<(u32, Hit)> {
        let (number, data) = self.strays.get(at).copied()?;
        Some((number, Hit { place: UNKNOWN, form: Form::Bytes, data }))
    }

    /// The key of an entry; none where the entry has a field that a map entry has not.
    fn key(&self, entry: &Message, from: usize, to: usize) -> Option<Key<'a>> {
        let kind = entry.field(1).map(|field| &field.kind)?;
        let empty = if *kind == FieldKind::String { Key::Text(&[]) } else { Key::Number(0) };
        let (mut key, mut at) = (empty, from);
        while at < to {
            let Some(one) = record(self.bytes, at, to) else { break };
            let field = entry.field(one.number)?;
            match (self.content_of(field, &one)?, one.number) {
                (Content::Number(number), 1) => key = Key::Number(narrow(kind, number)),
                (Content::Bytes(from, to), 1) => key = Key::Text(self.slice(from, to)),
                (Content::Number(number), _) => self.named(field, number)?,
                _ => {}
            }
            at = one.next;
        }
        Some(key)
    }

    /// Some unless a number is none of a closed enumeration.
    fn named(&self, field: &Field, number: u64) -> Option<()> {
        let FieldKind::Enum(id) = field.kind else { return Some(()) };
        let known = self.schema.enumeration(id)?;
        let named = known.name_of(wire::low32(number).cast_signed()).is_some();
        (named || !known.closed).then_some(())
    }
}

/// The key of a map entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Number(u64),
    Text(&'a [u8]),
}

/// Keys of a map so far, with where their entries stand.
#[derive(Default)]
struct Keys<'a> {
    few: Vec<(Key<'a>, usize)>,
    many: HashMap<Key<'a>, usize, foldhash::fast::FixedState>,
}

impl<'a> Keys<'a> {
    /// Where this key stood first; else it is remembered for `at`.
    fn first(&mut self, key: Key<'a>, at: usize) -> Option<usize> {
        if !self.many.is_empty() {
            return match self.many.entry(key) {
                Entry::Occupied(known) => Some(*known.get()),
                Entry::Vacant(free) => {
                    free.insert(at);
                    None
                }
            };
        }
        let known = self.few.iter().find(|(known, _)| *known == key).map(|(_, at)| *at);
        if known.is_none() {
            self.few.push((key, at));
            if self.few.len() > FEW {
                self.many.extend(self.few.drain(..));
            }
        }
        known
    }
}

/// A number as a field of this kind keeps it.
fn narrow(kind: &FieldKind, number: u64) -> u64 {
    match kind {
        FieldKind::Int32
        | FieldKind::Uint32
        | FieldKind::Sint32
        | FieldKind::Fixed32
        | FieldKind::Sfixed32
        | FieldKind::Float
        | FieldKind::Enum(_) => u64::from(wire::low32(number)),
        FieldKind::Bool => u64::from(number != 0),
        _ => number,
    }
}

/// Whether a field without presence holds what it holds when it is absent.
fn is_default(field: &Field, content: Content) -> bool {
    match content {
        Content::Number(number) => narrow(&field.kind, number) == 0,
        Content::Bytes(from, to) => from == to,
        Content::Packed(..) | Content::Stray(_) | Content::Entry(_) => false,
    }
}
