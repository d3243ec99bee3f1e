//! The MessagePack walker: objects one after the other, with an explicit stack of open containers.
//!
//! It claims every byte in order, reports values while it goes, and walks around damage: a cut object
//! ends the walk, a byte that means nothing is an object of its own, a container too deep is one
//! unread leaf. Memory depends on the depth of nesting alone, never on a length that stands in the input.

use super::skip::Skip;
use super::wire::{self, Body, First};
use crate::formats::Context;
use crate::formats::msgpack::read;
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, Step, next_group};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::keys::{Keys, Scope};
use crate::model::limits;
use crate::model::num::len64;
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::{Window, big_endian};

/// Reports an input as MessagePack, see [`crate::formats::Format::decode`].
pub fn decode(input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    let values = out.wants_values();
    let walker = Walker {
        input,
        out,
        owner: context.owner,
        depth: context.depth,
        values,
        at: 0,
        groups: Vec::new(),
        next_group: 0,
        frames: Vec::new(),
        keys_open: 0,
        keys: Keys::default(),
        told_full: false,
        cut: false,
    };
    walker.run()
}

/// An open container.
pub(super) struct Frame {
    pub(super) shape: Shape,
    /// Items announced: elements, or keys and values.
    pub(super) total: u64,
    /// Items begun.
    pub(super) done: u64,
    /// Offset of its first byte.
    pub(super) head: u64,
    pub(super) scope: Scope,
    /// It is the key of a map entry.
    pub(super) is_key: bool,
}

impl Frame {
    /// Elements or entries out of a number of items.
    pub(super) fn units(&self, items: u64) -> u64 {
        if self.shape == Shape::Map { items.div_ceil(2) } else { items }
    }

    pub(super) fn at_key(&self) -> bool {
        self.shape == Shape::Map && self.done.is_multiple_of(2)
    }
}

/// The walk. Parts of it stand in `keys`, `objects` and `damage` beside this file.
pub(super) struct Walker<'a> {
    pub(super) input: &'a mut Window,
    pub(super) out: &'a mut dyn Sink,
    pub(super) owner: u8,
    pub(super) depth: usize,
    pub(super) values: bool,
    /// Offset of the next byte.
    pub(super) at: u64,
    pub(super) groups: Vec<GroupId>,
    pub(super) next_group: GroupId,
    pub(super) frames: Vec<Frame>,
    /// Keys around the next object that are containers themselves.
    pub(super) keys_open: usize,
    pub(super) keys: Keys,
    pub(super) told_full: bool,
    /// The input ended inside an object, and that has been said.
    pub(super) cut: bool,
}

impl Walker<'_> {
    fn run(mut self) -> Flow {
        self.open(GroupKind::Root, Step::None)?;
        let several = self.ends_before_the_input()?;
        let mut number = 0u64;
        while self.input.byte(self.at)?.is_some() {
            let step = if several || number > 0 { Step::Message(number) } else { Step::None };
            self.message(number, step)?;
            number = number.saturating_add(1);
        }
        if number == 0 {
            let message = "0 bytes: MessagePack has no empty message, nil is one byte, c0";
            self.out.diagnostic(&Diagnostic::new(Code::EmptyInput, 0, 0, message))?;
        }
        self.close()
    }

    /// Whether another object follows the first one; a pipe is looked at as far as the sample goes.
    pub(super) fn ends_before_the_input(&mut self) -> Result<bool, Stop> {
        let mut skip = Skip::default();
        let mut at = 0u64;
        while skip.is_due() {
            let piece = match self.input.size() {
                Some(_) => {
                    at = at.saturating_add(std::mem::take(&mut skip.content));
                    self.input.at(at, limits::PIECE)?
                }
                None if at > 0 => return Ok(false),
                None => self.input.at(0, limits::SAMPLE)?,
            };
            let used = skip.over(piece);
            if used == 0 {
                return Ok(false);
            }
            at = at.saturating_add(len64(used));
        }
        match self.input.size() {
            Some(size) => Ok(at <= size && self.input.byte(at)?.is_some()),
            // Asked from the start: behind its end a pipe would forget what lies before.
            None => {
                let whole = usize::try_from(at).unwrap_or(limits::SAMPLE);
                Ok(self.input.at(0, whole.saturating_add(1))?.len() > whole)
            }
        }
    }

    pub(super) fn message(&mut self, number: u64, step: Step<'_>) -> Flow {
        if self.values {
            self.out.value(Event::Message(number))?;
        }
        self.open_here(step)?;
        self.object(false)?;
        if self.frames.is_empty() {
            self.close()?;
        }
        while !self.frames.is_empty() {
            self.item()?;
        }
        Ok(())
    }

    /// Goes on in the innermost container: its next key, value or element, or its end.
    pub(super) fn item(&mut self) -> Flow {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        if self.cut || frame.done >= frame.total {
            return self.end_container();
        }
        if self.input.byte(self.at)?.is_none() {
            return self.ends_early();
        }
        let (at_key, shape, number) = (frame.at_key(), frame.shape, frame.done);
        if let Some(frame) = self.frames.last_mut() {
            frame.done = frame.done.saturating_add(1);
        }
        let open = self.frames.len();
        match (shape, at_key) {
            (Shape::Map, true) => return self.key(),
            (Shape::Map, false) => {}
            (Shape::List, _) => self.open_here(Step::Index(number))?,
        }
        self.object(false)?;
        if self.frames.len() == open { self.close() } else { Ok(()) }
    }

    /// Closes the innermost container and its group.
    pub(super) fn end_container(&mut self) -> Flow {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        // A key whose value the cut took away: its entry is still open.
        let half = frame.shape == Shape::Map && frame.done % 2 == 1 && frame.done < frame.total;
        if half && self.cut {
            self.scalar(Scalar::Missing)?;
            self.close()?;
        }
        self.keys.end(frame.scope);
        if frame.is_key {
            self.keys_open = self.keys_open.saturating_sub(1);
        }
        if self.values {
            self.out.value(Event::End)?;
        }
        self.close()
    }

    /// The input ends where an item is due.
    pub(super) fn ends_early(&mut self) -> Flow {
        self.cut = true;
        let message = format!("the input ends at {:#04x}; missing: {}", self.at, self.missing());
        let found = self.cut_off(self.at, self.at, message);
        self.out.diagnostic(&found)
    }

    /// One object in the innermost group; a container is left open, on top of the stack.
    pub(super) fn object(&mut self, is_key: bool) -> Flow {
        let Some(byte) = self.input.byte(self.at)? else { return Ok(()) };
        let first = wire::first(byte);
        match first.body {
            Body::Few(..) | Body::Many(..) if self.frames.len() >= self.depth => self.too_deep(),
            Body::Few(shape, count) => self.container(first, shape, count, is_key),
            Body::Many(shape, _) => self.counted_container(first, shape, is_key),
            Body::NeverUsed => self.never_used(),
            Body::None | Body::Fixed(_) | Body::Sized(_) => self.blob(first, self.key_flag()),
        }
    }

    pub(super) fn container(&mut self, first: First, shape: Shape, count: u64, is_key: bool) -> Flow {
        let head = self.at;
        self.put(1, first.kind, self.key_flag())?;
        self.begin(shape, count, head, is_key)
    }

    pub(super) fn counted_container(&mut self, first: First, shape: Shape, is_key: bool) -> Flow {
        let (head, sizing) = (self.at, first.sizing_bytes());
        let bytes = self.input.at(head, usize::try_from(first.head_bytes()).unwrap_or(0))?;
        let sizes = bytes.get(1..).unwrap_or(&[]);
        let (there, count) = (len64(sizes.len()), big_endian(sizes));
        if there < sizing {
            return self.cut_head(first, there);
        }
        let mut flags = self.key_flag();
        if let Some(found) = read::long_head(first.kind, count, head) {
            self.out.diagnostic(&found)?;
            flags = flags.with(Flags::WARNING);
        }
        self.put(1, first.kind, flags)?;
        self.put(sizing, count_kind(shape), flags)?;
        self.begin(shape, count, head, is_key)
    }

    pub(super) fn begin(&mut self, shape: Shape, count: u64, head: u64, is_key: bool) -> Flow {
        if self.values {
            self.out.value(Event::Begin(shape, Some(count)))?;
        }
        let total = if shape == Shape::Map { count.saturating_mul(2) } else { count };
        let scope = self.keys.begin();
        self.frames.push(Frame { shape, total, done: 0, head, scope, is_key });
        Ok(())
    }

    /// A byte that the specification never uses: nobody can say what follows, so the walk goes on
    /// behind it.
    pub(super) fn never_used(&mut self) -> Flow {
        let message = "c1 is never used: no MessagePack writer produces it";
        let help = "damaged or not MessagePack from here on; read on behind it as if it were one object";
        self.out
            .diagnostic(&Diagnostic::new(Code::MpNeverUsed, self.at, self.at.saturating_add(1), message).help(help))?;
        self.put(1, wire::NEVER_USED, Flags::ERROR)?;
        self.scalar(Scalar::Missing)
    }

    /// Containers too deep: one error, one unread leaf, and the walk goes on behind the branch. Behind a
    /// pipe a branch longer than the sample is several leaves, since each is owned before more is read.
    pub(super) fn too_deep(&mut self) -> Flow {
        let mut skip = Skip::default();
        let mut told = false;
        while skip.is_due() {
            let end = self.skim(&mut skip)?;
            if !std::mem::replace(&mut told, true) {
                let message = format!("more than {} arrays and maps within each other", self.depth);
                let help = "what is inside is not decoded; --limit-depth N goes deeper";
                self.out.diagnostic(&Diagnostic::new(Code::MpDepth, self.at, end, message).help(help))?;
            }
            if end == self.at {
                self.cut = true;
                break;
            }
            self.unread_to(end)?;
        }
        self.scalar(Scalar::Missing)
    }

    /// How far a skip gets from here: to its end, or as far as a pipe can be looked at.
    fn skim(&mut self, skip: &mut Skip) -> Result<u64, Stop> {
        if self.input.size().is_none() {
            let used = skip.over(self.input.at(self.at, limits::SAMPLE)?);
            return Ok(self.at.saturating_add(len64(used)));
        }
        let mut end = self.at;
        while skip.is_due() {
            let used = skip.over(self.input.at(end, limits::PIECE)?);
            if used == 0 {
                break;
            }
            end = end.saturating_add(len64(used));
        }
        Ok(end)
    }

    /// All up to an offset is one unread leaf.
    fn unread_to(&mut self, end: u64) -> Flow {
        let group = self.groups.last().copied().unwrap_or(NO_GROUP);
        let leaf = Leaf::new(self.at, end, group, Kind::UNREAD).flagged(self.key_flag().with(Flags::ERROR));
        let mut first = true;
        while self.at < end {
            let wanted = usize::try_from(end.saturating_sub(self.at)).unwrap_or(limits::PIECE).min(limits::PIECE);
            let bytes = self.input.at(self.at, wanted)?;
            if bytes.is_empty() {
                return Err(Stop::Internal("an unread branch ends behind the input".to_string()));
            }
            if std::mem::take(&mut first) {
                self.out.leaf(&leaf, bytes)?
            } else {
                self.out.more(bytes)?
            }
            self.at = self.at.saturating_add(len64(bytes.len()));
        }
        Ok(())
    }

    pub(super) fn key_flag(&self) -> Flags {
        if self.keys_open > 0 { Flags::KEY.with(Flags::NESTED) } else { Flags::NONE }
    }

    /// Bytes of an object that is no container, from its head.
    pub(super) fn extent(&mut self, first: First) -> Result<u64, Stop> {
        let head = self.input.at(self.at, usize::try_from(first.head_bytes()).unwrap_or(0))?;
        Ok(first.head_bytes().saturating_add(first.content_len(head)))
    }

    /// What kind of group the object at an offset is.
    pub(super) fn kind_at(&mut self, at: u64) -> Result<GroupKind, Stop> {
        // On a pipe, looking past the buffer would lose what lies before it.
        let near = at.saturating_sub(self.at);
        if near > len64(limits::PIECE) {
            return Ok(GroupKind::Value);
        }
        let bytes = self.input.at(self.at, usize::try_from(near).unwrap_or(0).saturating_add(1))?;
        Ok(match bytes.get(usize::try_from(near).unwrap_or(usize::MAX)).map(|byte| wire::first(*byte).body) {
            Some(Body::Few(Shape::Map, _) | Body::Many(Shape::Map, _)) => GroupKind::Map,
            Some(Body::Few(Shape::List, _) | Body::Many(Shape::List, _)) => GroupKind::List,
            _ => GroupKind::Value,
        })
    }

    /// Opens the group of the object that stands here.
    pub(super) fn open_here(&mut self, step: Step<'_>) -> Flow {
        let kind = self.kind_at(self.at)?;
        self.open(kind, step)
    }

    pub(super) fn open(&mut self, kind: GroupKind, step: Step<'_>) -> Flow {
        let (id, parent) = (self.next_group, self.groups.last().copied().unwrap_or(NO_GROUP));
        self.groups.push(id);
        self.next_group = next_group(self.next_group);
        self.out.open(&Group { id, parent, kind, step, start: self.at, again: false })
    }

    pub(super) fn close(&mut self) -> Flow {
        match self.groups.pop() {
            Some(id) => self.out.close(id, self.at),
            None => Err(Stop::Internal("a group closes that never opened".to_string())),
        }
    }

    pub(super) fn leaf_to(&self, end: u64, kind: u8, flags: Flags) -> Leaf {
        let group = self.groups.last().copied().unwrap_or(NO_GROUP);
        Leaf::new(self.at, end, group, Kind { owner: self.owner, code: kind }).flagged(flags)
    }

    /// The next `len` bytes as a leaf; nothing where there are none. At most a piece.
    pub(super) fn put(&mut self, len: u64, kind: u8, flags: Flags) -> Flow {
        if len == 0 {
            return Ok(());
        }
        let leaf = self.leaf_to(self.at.saturating_add(len), kind, flags);
        let bytes = self.input.at(self.at, usize::try_from(len).unwrap_or(limits::PIECE))?;
        self.out.leaf(&leaf, bytes)?;
        self.at = leaf.end;
        Ok(())
    }

    pub(super) fn scalar(&mut self, value: Scalar<'_>) -> Flow {
        if self.values { self.out.value(Event::Scalar(value)) } else { Ok(()) }
    }
}

pub(super) fn count_kind(shape: Shape) -> u8 {
    if shape == Shape::Map { wire::ENTRIES } else { wire::ELEMENTS }
}
