//! The first half of a walk: which objects there are, by following pointers from each root in the order in which a
//! reader does. What several pointers lead to is visited once; how many words a reader visits that follows every
//! pointer is counted all the same.

use std::collections::HashMap;

use crate::formats::capnp::faults::{Fault, Wrong};
use crate::formats::capnp::layout::{Shapes, data_of};
use crate::formats::capnp::message::{Messages, Segment};
use crate::formats::capnp::resolve::{self, Found, Place, Target};
use crate::formats::capnp::wire::{ElementSize, WORD};
use crate::formats::scattered::NONE;
use crate::model::capnp::Type;
use crate::model::diag::Severity;
use crate::model::limits;
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

/// Findings kept; what is past that many of one input says nothing new.
const MOST_FAULTS: usize = 100_000;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The whole input.
    Layer,
    /// A message, by its position: what is told of it is its segment table.
    Message(u32),
    /// A struct, behind a pointer or as an element.
    Struct {
        /// Its type, where that is known.
        ty: Option<MessageId>,
        /// Words of its data section.
        data: u16,
        /// Its pointers.
        pointers: u16,
    },
    /// A list of anything but structs behind a tag.
    List {
        /// How elements are stored.
        size: ElementSize,
        /// Elements.
        count: u32,
        /// The type of the field that leads to it: `Text`, `Data`, a list.
        ty: Option<Type>,
    },
    /// A list of structs behind a tag.
    Structs {
        /// Elements.
        count: u32,
        /// Data words of each.
        data: u16,
        /// Pointers of each.
        pointers: u16,
        /// The type of an element, where that is known.
        ty: Option<Type>,
    },
    /// A landing pad.
    Pad,
}

/// How an object is reached from the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It adds nothing to the path.
    Same,
    /// One of several messages.
    Message(u32),
    /// A pointer member of its parent's shape, by position.
    Member(u16),
    /// A pointer that no schema names, by its number.
    Pointer(u16),
    /// An element.
    Index(u32),
}

/// An object. `parent` and `from` are those of the first pointer that leads to it.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte, as far as the input holds it.
    pub end: u64,
    /// What it is.
    pub what: What,
    /// The object that its group is in.
    pub parent: u32,
    /// The step from there.
    pub reach: Reach,
    /// Where the pointer stands that leads to it; of elements the start of the list.
    pub from: u64,
    /// Pointers that lead to it.
    pub refs: u32,
    /// Objects around it, along `parent`.
    pub level: u32,
    /// Its place in the order of a reader.
    pub rank: u32,
    /// The segment it is in.
    pub segment: u32,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Objects {
    /// In the order of the file; the first is the layer.
    pub list: Vec<Object>,
    /// What is wrong, by offset.
    pub faults: Vec<Fault>,
    /// Something was not followed.
    pub partial: bool,
    /// Landing pads.
    pub pads: u32,
}

/// A struct or list whose pointers are being followed.
struct Frame {
    number: u32,
    /// The next pointer or element.
    next: u32,
    /// Words that a reader visits from here.
    words: u64,
    /// Pointers within each other from here.
    height: u32,
    depth: u32,
}

/// Looks for objects.
pub struct Search<'a, 's> {
    bytes: Bytes<'a>,
    shapes: Option<&'s Shapes<'s>>,
    messages: &'s Messages,
    limit: u32,
    list: Vec<Object>,
    known: HashMap<(u64, bool), u32, foldhash::fast::FixedState>,
    /// For each object what a reader visits from there, and how deep it goes; none while it is open.
    done: Vec<Option<(u64, u32)>>,
    faults: Vec<Fault>,
    partial: bool,
    pads: u32,
    rank: u32,
    too_many: bool,
    too_deep: bool,
    message: usize,
}

/// Finds the objects of all messages, the roots of type `root`.
pub fn search(
    bytes: Bytes<'_>,
    messages: &Messages,
    shapes: Option<&Shapes<'_>>,
    root: Option<MessageId>,
    depth: usize,
) -> Objects {
    let mut search = Search {
        bytes,
        shapes,
        messages,
        limit: u32::try_from(depth).unwrap_or(u32::MAX),
        list: Vec::new(),
        known: HashMap::default(),
        done: Vec::new(),
        faults: messages.faults.clone(),
        partial: messages.faults.iter().any(|fault| fault.what.severity() == Severity::Error),
        pads: 0,
        rank: 0,
        too_many: false,
        too_deep: false,
        message: 0,
    };
    search.all(root);
    search.finish()
}

impl Search<'_, '_> {
    fn all(&mut self, root: Option<MessageId>) {
        let end = self.bytes.len();
        self.add(Object { end, what: What::Layer, parent: NONE, reach: Reach::Same, ..blank() });
        let several = self.messages.list.len() > 1;
        for (at, message) in self.messages.list.iter().enumerate() {
            self.message = at;
            let number = u32::try_from(at).unwrap_or(u32::MAX);
            let owner = self.add(Object {
                start: message.start,
                end: message.table_end,
                what: What::Message(number),
                parent: 0,
                reach: if several { Reach::Message(number) } else { Reach::Same },
                level: 1,
                segment: message.first,
                ..blank()
            });
            self.rank(owner);
            let Some(segment) = self.segment(message.first) else { continue };
            if segment.start.saturating_add(WORD) > segment.end {
                continue;
            }
            let place = Place { at: segment.start, segment: message.first };
            self.too_many = false;
            self.root(owner, place, root);
        }
    }

    fn root(&mut self, owner: u32, place: Place, root: Option<MessageId>) {
        // The root pointer is the only one of the message.
        let mut stack = vec![Frame { number: owner, next: 0, words: 0, height: 0, depth: 0 }];
        let ty = root.map_or(Type::AnyStruct, Type::Struct);
        self.follow(&mut stack, place, Some(ty), Reach::Same);
        while stack.len() > 1 {
            if !self.step(&mut stack) {
                self.leave(&mut stack);
            }
        }
    }

    /// Follows the next pointer or element of the innermost object; false where there is none.
    fn step(&mut self, stack: &mut Vec<Frame>) -> bool {
        let Some(frame) = stack.last_mut() else { return false };
        let (number, next) = (frame.number, frame.next);
        frame.next = next.saturating_add(1);
        let Some(object) = self.object(number).copied() else { return false };
        match object.what {
            What::Struct { ty, data, pointers } => {
                let Ok(index) = u16::try_from(next) else { return false };
                if index >= pointers {
                    return false;
                }
                self.pointer_of_struct(stack, &object, ty, data, index);
            }
            What::Structs { count, data, pointers, ty } => {
                if next >= count || pointers == 0 {
                    return false;
                }
                let size = u64::from(data).saturating_add(u64::from(pointers)).saturating_mul(WORD);
                let start = object.start.saturating_add(WORD).saturating_add(u64::from(next).saturating_mul(size));
                let from = start.saturating_add(u64::from(data).saturating_mul(WORD));
                let end = start.saturating_add(size);
                if start >= object.end {
                    return false;
                }
                if self.bytes.clipped(from, end).iter().any(|byte| *byte != 0) {
                    let ty = struct_type(ty);
                    let element = Object { start, end, what: What::Struct { ty, data, pointers }, ..object };
                    self.element(stack, element, number, next);
                }
            }
            What::List { size: ElementSize::Pointer, count, ty } => {
                let at = object.start.saturating_add(u64::from(next).saturating_mul(WORD));
                if next >= count || at >= object.end {
                    return false;
                }
                let place = Place { at, segment: object.segment };
                match self.element_type(ty) {
                    // A list of pointers read as structs of one pointer each.
                    Some(Type::Struct(id)) if self.bytes.u64(at) != Some(0) => {
                        let what = What::Struct { ty: Some(id), data: 0, pointers: 1 };
                        let end = at.saturating_add(WORD);
                        self.element(stack, Object { start: at, end, what, ..object }, number, next);
                    }
                    Some(Type::Struct(_)) => {}
                    element => self.follow(stack, place, element, Reach::Index(next)),
                }
            }
            _ => return false,
        }
        true
    }

    fn pointer_of_struct(
        &mut self,
        stack: &mut Vec<Frame>,
        object: &Object,
        ty: Option<MessageId>,
        data: u16,
        index: u16,
    ) {
        let from = object.start.saturating_add(u64::from(data).saturating_mul(WORD));
        let at = from.saturating_add(u64::from(index).saturating_mul(WORD));
        if self.bytes.u64(at).is_none_or(|word| word == 0) {
            return;
        }
        let member = ty.and_then(|ty| self.shapes?.shape(ty)).and_then(|shape| {
            let (position, member) = shape.pointer(data_of(self.bytes, object.start, data), index)?;
            Some((position, member.ty))
        });
        let place = Place { at, segment: object.segment };
        match member {
            Some((position, ty)) => self.follow(stack, place, Some(ty), Reach::Member(position)),
            None => self.follow(stack, place, None, Reach::Pointer(index)),
        }
    }

    /// Goes into an element that is a struct with pointers.
    fn element(&mut self, stack: &mut Vec<Frame>, element: Object, list: u32, index: u32) {
        let level = element.level.saturating_add(1);
        let number = self.add(Object {
            parent: list,
            reach: Reach::Index(index),
            level,
            refs: 0,
            from: element.start,
            ..element
        });
        let depth = stack.last().map_or(0, |frame| frame.depth).saturating_add(1);
        self.enter(stack, number, 0, depth);
    }

    fn enter(&mut self, stack: &mut Vec<Frame>, number: u32, words: u64, depth: u32) {
        self.rank(number);
        stack.push(Frame { number, next: 0, words, height: 1, depth });
    }

    /// The innermost object is done: what a reader visits there counts for the one around it.
    fn leave(&mut self, stack: &mut Vec<Frame>) {
        let Some(frame) = stack.pop() else { return };
        if let Some(done) = usize::try_from(frame.number).ok().and_then(|at| self.done.get_mut(at)) {
            *done = Some((frame.words, frame.height));
        }
        let at = self.object(frame.number).map_or(0, |object| object.from);
        self.charge(stack, at, frame.words, frame.height);
    }

    /// Adds what a reader visits behind the pointer at `at` to the innermost object.
    fn charge(&mut self, stack: &mut [Frame], at: u64, words: u64, height: u32) {
        let Some(frame) = stack.last_mut() else { return };
        frame.words = frame.words.saturating_add(words);
        frame.height = frame.height.max(height.saturating_add(1));
        let (words, deep) = (frame.words, frame.depth.saturating_add(height));
        if words > limits::CAPNP_TRAVERSAL && !self.too_many {
            self.too_many = true;
            self.fault(at, at.saturating_add(WORD), Wrong::Traversal(words));
        }
        if deep > self.limit && !self.too_deep {
            self.too_deep = true;
            self.fault(at, at.saturating_add(WORD), Wrong::Depth(u64::from(self.limit)));
        }
    }

    /// Follows a pointer: adds what it leads to, and goes into it.
    fn follow(&mut self, stack: &mut Vec<Frame>, place: Place, ty: Option<Type>, reach: Reach) {
        let Some(frame) = stack.last() else { return };
        let (owner, depth) = (frame.number, frame.depth.saturating_add(1));
        let found = match resolve::resolve(self.bytes, self.segments(), place) {
            Ok(found) => found,
            Err(fault) => {
                self.refused(fault);
                return;
            }
        };
        let target = match resolve::check(self.bytes, &found, ty, self.shapes.map(|shapes| shapes.capnp)) {
            Ok(target) => target,
            Err(what) => {
                // A pad that leads to something else than is due is told as a pad all the same.
                self.pads(&found, owner);
                let at = found.fault_at(what, place);
                self.refused(Fault { start: at, end: at.saturating_add(WORD), what });
                return;
            }
        };
        let number = self.target(&found, &target, ty, (owner, reach, place.at));
        self.pads(&found, number.map_or(owner, |(number, _)| number));
        if depth > self.limit {
            if number.is_some() {
                self.partial = true;
                if !std::mem::replace(&mut self.too_deep, true) {
                    self.fault(place.at, place.at.saturating_add(WORD), Wrong::Depth(u64::from(self.limit)));
                }
            }
            return;
        }
        match number {
            None => self.charge(stack, place.at, target.words, 0),
            Some((number, true)) => self.enter(stack, number, target.words, depth),
            Some((number, false)) => self.again(stack, number, place.at),
        }
    }

    /// A pointer to what is known already.
    fn again(&mut self, stack: &mut [Frame], number: u32, at: u64) {
        let at_number = usize::try_from(number).unwrap_or(usize::MAX);
        let start = self.object(number).map_or(0, |object| object.start);
        match self.done.get(at_number).copied().flatten() {
            Some((words, height)) => self.charge(stack, at, words, height),
            None => self.refused(Fault { start: at, end: at.saturating_add(WORD), what: Wrong::Loop(start) }),
        }
    }

    /// The object that a pointer leads to, and whether it is new; none where it has no bytes.
    fn target(
        &mut self,
        found: &Found,
        target: &Target,
        ty: Option<Type>,
        (owner, reach, from): (u32, Reach, u64),
    ) -> Option<(u32, bool)> {
        if let Some((start, what)) = target.wrong {
            let bytes = if matches!(what, Wrong::NoTerminator(_) | Wrong::InvalidUtf8(_)) { 1 } else { WORD };
            self.fault(start, start.saturating_add(bytes), what);
        }
        if target.end <= target.start {
            return None;
        }
        let what = what(target, ty, self.shapes);
        let key = (target.start, matches!(what, What::Struct { .. }));
        if let Some(known) = self.known.get(&key).copied() {
            let object = usize::try_from(known).ok().and_then(|at| self.list.get_mut(at));
            if let Some(object) = object {
                object.refs = object.refs.saturating_add(1);
                if !same(object.what, what) {
                    let start = object.start;
                    self.fault(from, from.saturating_add(WORD), Wrong::TwoTypes(start));
                }
            }
            return Some((known, false));
        }
        let level = self.object(owner).map_or(0, |object| object.level).saturating_add(1);
        let number = self.add(Object {
            start: target.start,
            end: target.end,
            what,
            parent: owner,
            reach,
            from,
            refs: 1,
            level,
            rank: 0,
            segment: found.segment,
        });
        self.known.insert(key, number);
        Some((number, true))
    }

    /// Adds the landing pads of a pointer; they belong to what it leads to.
    fn pads(&mut self, found: &Found, owner: u32) {
        let Some((start, words, segment)) = found.pad else { return };
        let end = start.saturating_add(words.saturating_mul(WORD));
        if self.known.contains_key(&(start, false)) || self.known.contains_key(&(start, true)) {
            return;
        }
        let level = self.object(owner).map_or(0, |object| object.level).saturating_add(1);
        let what = What::Pad;
        let pad = Object { start, end, what, parent: owner, level, segment, from: found.from, ..blank() };
        let number = self.add(pad);
        self.rank(number);
        self.known.insert((start, false), number);
        self.pads = self.pads.saturating_add(1);
    }

    /// The type of the elements of a list field.
    fn element_type(&self, ty: Option<Type>) -> Option<Type> {
        match ty? {
            Type::List(id) => Some(self.shapes?.capnp.element(id)),
            _ => None,
        }
    }

    fn segments(&self) -> (&[Segment], u32) {
        let Some(message) = self.messages.list.get(self.message) else { return (&[], 0) };
        let from = usize::try_from(message.first).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(message.count).unwrap_or(0));
        (self.messages.segments.get(from..to).unwrap_or(&[]), message.first)
    }

    fn segment(&self, number: u32) -> Option<Segment> {
        self.messages.segments.get(usize::try_from(number).ok()?).copied()
    }

    fn object(&self, number: u32) -> Option<&Object> {
        self.list.get(usize::try_from(number).ok()?)
    }

    fn add(&mut self, object: Object) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(NONE);
        self.list.push(object);
        self.done.push(None);
        number
    }

    fn rank(&mut self, number: u32) {
        let rank = self.rank;
        self.rank = rank.saturating_add(1);
        if let Some(object) = usize::try_from(number).ok().and_then(|at| self.list.get_mut(at)) {
            object.rank = rank;
        }
    }

    fn fault(&mut self, start: u64, end: u64, what: Wrong) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { start, end, what });
        }
    }

    /// A pointer that is not followed.
    fn refused(&mut self, fault: Fault) {
        self.partial = true;
        self.fault(fault.start, fault.end, fault.what);
    }

    /// Puts everything in the order of the file.
    fn finish(mut self) -> Objects {
        drop(std::mem::take(&mut self.known));
        drop(std::mem::take(&mut self.done));
        let mut order: Vec<u32> = (0..u32::try_from(self.list.len()).unwrap_or(NONE)).collect();
        let list = &self.list;
        let key = |number: &u32| {
            let object = usize::try_from(*number).ok().and_then(|at| list.get(at));
            // Of what begins at one place the outer one comes first.
            object.map_or((u64::MAX, u32::MAX, 0), |object| (object.start, object.level, object.rank))
        };
        order.sort_by_key(key);
        let mut place = vec![NONE; self.list.len()];
        for (to, from) in (0u32..).zip(&order) {
            if let Some(entry) = usize::try_from(*from).ok().and_then(|at| place.get_mut(at)) {
                *entry = to;
            }
        }
        let moved = |number: u32| usize::try_from(number).ok().and_then(|at| place.get(at)).copied().unwrap_or(NONE);
        let objects = order.iter().filter_map(|number| {
            let object = list.get(usize::try_from(*number).ok()?)?;
            Some(Object { parent: moved(object.parent), ..*object })
        });
        let list: Vec<Object> = objects.collect();
        overlaps(&list, &mut self.faults);
        self.faults.sort_by_key(|fault| (fault.start, fault.end));
        self.faults.dedup();
        Objects { list, faults: self.faults, partial: self.partial, pads: self.pads }
    }
}

/// Finds objects that have bytes of another one, elements apart.
fn overlaps(list: &[Object], faults: &mut Vec<Fault>) {
    let mut taken = 0;
    for object in list {
        let inside = object.from == object.start && matches!(object.reach, Reach::Index(_));
        if inside || matches!(object.what, What::Layer) {
            continue;
        }
        if object.start < taken && faults.len() < MOST_FAULTS {
            let end = object.end.min(taken);
            faults.push(Fault { start: object.start, end, what: Wrong::Overlap(taken) });
        }
        taken = taken.max(object.end);
    }
}

fn blank() -> Object {
    Object {
        start: 0,
        end: 0,
        what: What::Layer,
        parent: NONE,
        reach: Reach::Same,
        from: 0,
        refs: 0,
        level: 0,
        rank: u32::MAX,
        segment: 0,
    }
}

/// The struct that a type is.
pub fn struct_type(ty: Option<Type>) -> Option<MessageId> {
    match ty? {
        Type::Struct(id) => Some(id),
        _ => None,
    }
}

/// What a pointer of this type leads to.
fn what(target: &Target, ty: Option<Type>, shapes: Option<&Shapes<'_>>) -> What {
    let element = match ty {
        Some(Type::List(id)) => shapes.map(|shapes| shapes.capnp.element(id)),
        _ => None,
    };
    match target.is {
        resolve::Is::Struct { data, pointers } => What::Struct { ty: struct_type(ty), data, pointers },
        resolve::Is::List { size, count } => What::List { size, count, ty },
        resolve::Is::Structs { count, data, pointers } => What::Structs { count, data, pointers, ty: element },
    }
}

/// Whether two pointers read the same bytes alike; a reading without a type agrees with any.
fn same(one: What, other: What) -> bool {
    match (one, other) {
        (What::Struct { ty: a, .. }, What::Struct { ty: b, .. }) => a == b || a.is_none() || b.is_none(),
        (What::List { size: s, ty: a, .. }, What::List { size: t, ty: b, .. }) => {
            s == t && (a == b || a.is_none() || b.is_none())
        }
        (What::Structs { ty: a, .. }, What::Structs { ty: b, .. }) => a == b || a.is_none() || b.is_none(),
        _ => false,
    }
}
