//! The MessagePack walker: objects one after the other, with an explicit stack of open containers.
//!
//! It claims every byte in order, reports values while it goes, and walks around damage: a cut object
//! ends the walk, a byte that means nothing is an object of its own, a container too deep is one
//! unread leaf. Memory depends on the depth of nesting alone, never on a length that stands in the input.

use std::borrow::Cow;

use super::wire::{self, Body, First};
use crate::formats::Context;
use crate::formats::msgpack::read;
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, Step, is_plain_name};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::keys::{Keys, Scope, Seen};
use crate::model::limits;
use crate::model::utf8::Utf8;
use crate::model::value::{Event, Long, Scalar, Shape};
use crate::wire::reader::{Window, big_endian};

/// Reports an input as MessagePack, see [`crate::formats::Format::decode`].
pub fn decode(input: &mut Window, context: &Context, out: &mut dyn Sink) -> Flow {
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
struct Frame {
    shape: Shape,
    /// Items announced: elements, or keys and values.
    total: u64,
    /// Items begun.
    done: u64,
    /// Offset of its first byte.
    head: u64,
    scope: Scope,
    /// It is the key of a map entry.
    is_key: bool,
}

impl Frame {
    /// Elements or entries out of a number of items.
    fn units(&self, items: u64) -> u64 {
        if self.shape == Shape::Map { items.div_ceil(2) } else { items }
    }

    fn at_key(&self) -> bool {
        self.shape == Shape::Map && self.done.is_multiple_of(2)
    }
}

struct Walker<'a> {
    input: &'a mut Window,
    out: &'a mut dyn Sink,
    owner: u8,
    depth: usize,
    values: bool,
    /// Offset of the next byte.
    at: u64,
    groups: Vec<GroupId>,
    next_group: GroupId,
    frames: Vec<Frame>,
    /// Keys around the next object that are containers themselves.
    keys_open: usize,
    keys: Keys,
    told_full: bool,
    /// The input ended inside an object, and that has been said.
    cut: bool,
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
    fn ends_before_the_input(&mut self) -> Result<bool, Stop> {
        let mut skip = Skip::default();
        let mut at = 0u64;
        while skip.pending > 0 || skip.content > 0 {
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

    fn message(&mut self, number: u64, step: Step<'_>) -> Flow {
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
    fn item(&mut self) -> Flow {
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
    fn end_container(&mut self) -> Flow {
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
    fn ends_early(&mut self) -> Flow {
        self.cut = true;
        let message = format!("the input ends at {:#04x}; missing: {}", self.at, self.missing());
        let found = self.cut_off(self.at, self.at, message);
        self.out.diagnostic(&found)
    }

    /// A map key: the entry's group opens, with the key as its step.
    fn key(&mut self) -> Flow {
        let first = match self.input.byte(self.at)? {
            Some(byte) => wire::first(byte),
            None => return Ok(()),
        };
        if matches!(first.body, Body::Few(..) | Body::Many(..)) {
            let step = format!("@{:#04x}", self.at);
            self.open(GroupKind::Value, Step::Key(&step))?;
            self.open_here(Step::None)?;
            self.keys_open = self.keys_open.saturating_add(1);
            let open = self.frames.len();
            self.object(true)?;
            if self.frames.len() == open {
                self.keys_open = self.keys_open.saturating_sub(1);
                self.close()?;
            }
            return Ok(());
        }
        let extent = self.extent(first)?;
        self.open_entry(first, extent)?;
        if first.body == Body::NeverUsed {
            return self.never_used();
        }
        if extent <= len64(limits::PIECE) { self.short_key(first, extent) } else { self.blob(first, Flags::KEY) }
    }

    /// Opens the group of an entry whose key is no container.
    fn open_entry(&mut self, first: First, extent: u64) -> Flow {
        let kind = self.kind_at(self.at.saturating_add(extent))?;
        let wanted = usize::try_from(extent).unwrap_or(usize::MAX).min(limits::PATH_NAME * 4 + 16);
        let bytes = self.input.at(self.at, wanted)?;
        let name = read::key_name(first, bytes);
        let step = if first.is_str() && is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        let (id, parent) = (self.next_group, self.groups.last().copied().unwrap_or(NO_GROUP));
        self.out.open(&Group { id, parent, kind, step, start: self.at })?;
        self.groups.push(id);
        self.next_group = self.next_group.saturating_add(1);
        Ok(())
    }

    /// A key that is held whole: one leaf, head and content.
    fn short_key(&mut self, first: First, extent: u64) -> Flow {
        let (start, wanted) = (self.at, usize::try_from(extent).unwrap_or(limits::PIECE));
        let bytes = self.input.at(start, wanted)?;
        let whole = bytes.len() == wanted;
        let end = start.saturating_add(len64(bytes.len()));
        let content = usize::try_from(first.head_bytes()).ok().and_then(|head| bytes.get(head..)).unwrap_or(&[]);
        let (value, mut found) = read::scalar(first, bytes, content, start);
        if whole && let Some(frame) = self.frames.last() {
            let (class, same) = key_identity(&value);
            self.keys.name(frame.scope);
            self.keys.feed(&[class]);
            self.keys.feed(&same);
            match self.keys.done(frame.scope, start) {
                Seen::New => {}
                Seen::Before(first_at) => {
                    self.out.duplicate_key()?;
                    found.push(duplicate(&value, start, end, first_at));
                }
                Seen::Unknown if self.told_full => {}
                Seen::Unknown => {
                    self.told_full = true;
                    found.push(not_compared(start, end));
                }
            }
        }
        if self.values {
            self.out.value(Event::Scalar(if whole { value } else { Scalar::Missing }))?;
        }
        let mut flags = Flags::KEY;
        if whole {
            flags = read::flags(&found).with(flags);
        } else {
            found.clear();
            self.cut = true;
            flags = flags.with(Flags::ERROR);
            let short = extent.saturating_sub(end.saturating_sub(start));
            let message = format!("this key, a {}, lacks {}", wire::name(first.kind), bytes_word(short));
            found.push(self.cut_off(start, end, format!("{message}{}", self.then_missing())));
        }
        for one in &found {
            self.out.diagnostic(one)?;
        }
        let leaf = self.leaf_to(end, first.kind, flags);
        self.out.leaf(&leaf, self.input.at(start, wanted)?)?;
        self.at = end;
        Ok(())
    }

    /// One object in the innermost group; a container is left open, on top of the stack.
    fn object(&mut self, is_key: bool) -> Flow {
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

    fn container(&mut self, first: First, shape: Shape, count: u64, is_key: bool) -> Flow {
        let head = self.at;
        self.put(1, first.kind, self.key_flag())?;
        self.begin(shape, count, head, is_key)
    }

    fn counted_container(&mut self, first: First, shape: Shape, is_key: bool) -> Flow {
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

    fn begin(&mut self, shape: Shape, count: u64, head: u64, is_key: bool) -> Flow {
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
    fn never_used(&mut self) -> Flow {
        let message = "c1 is never used: no MessagePack writer produces it";
        let help = "damaged or not MessagePack from here on; read on behind it as if it were one object";
        self.out.diagnostic(&Diagnostic::new(Code::MpNeverUsed, self.at, self.at.saturating_add(1), message).help(help))?;
        self.put(1, wire::NEVER_USED, Flags::ERROR)?;
        self.scalar(Scalar::Missing)
    }

    /// An object that is no container: head, then content.
    fn blob(&mut self, first: First, flags: Flags) -> Flow {
        let (start, head_len) = (self.at, first.head_bytes());
        let whole_head = usize::try_from(head_len).unwrap_or(0);
        let head = self.input.at(start, whole_head)?;
        if head.len() < whole_head {
            let sizes = len64(head.len()).saturating_sub(1);
            return self.cut_head(first, sizes);
        }
        let sizes = first.sizing_bytes();
        let len = content_len(first, head);
        let kind = read::content_kind(first, head);
        if len > len64(limits::PIECE) {
            return self.long(first, kind, len, flags);
        }
        let all = self.input.at(start, whole_head.saturating_add(usize::try_from(len).unwrap_or(0)))?;
        let content = all.get(whole_head..).unwrap_or(&[]);
        if len64(content.len()) < len {
            let there = len64(content.len());
            return self.cut_content(first, kind, there, len, flags);
        }
        let (value, found) = read::scalar(first, all, content, start);
        for one in &found {
            self.out.diagnostic(one)?;
        }
        if self.values {
            self.out.value(Event::Scalar(value))?;
        }
        let flags = flags.with(read::flags(&found));
        let group = self.groups.last().copied().unwrap_or(NO_GROUP);
        let parts =
            [(1, first.kind), (sizes, wire::LENGTH), (u64::from(first.is_ext()), wire::EXT_TYPE), (len, kind)];
        let mut rest = all;
        for (bytes, code) in parts {
            let Some((part, behind)) = usize::try_from(bytes).ok().and_then(|bytes| rest.split_at_checked(bytes)) else {
                break;
            };
            if !part.is_empty() {
                let leaf = Leaf::new(self.at, self.at.saturating_add(bytes), group, Kind { owner: self.owner, code });
                self.out.leaf(&leaf.flagged(flags), part)?;
                self.at = leaf.end;
            }
            rest = behind;
        }
        Ok(())
    }

    /// The leaves in front of the content.
    fn put_head(&mut self, first: First, sizes: u64, flags: Flags) -> Flow {
        self.put(1, first.kind, flags)?;
        self.put(sizes, wire::LENGTH, flags)?;
        self.put(u64::from(first.is_ext()), wire::EXT_TYPE, flags)
    }

    /// Content too long to hold: in pieces. Where the size of the input is known it is one leaf.
    fn long(&mut self, first: First, kind: u8, len: u64, flags: Flags) -> Flow {
        let (start, of) = (self.at, read::long_of(first, self.input.at(self.at, 6)?));
        let mut flags = flags;
        let there = self.input.size().map(|size| size.saturating_sub(start.saturating_add(first.head_bytes())));
        if there.is_some_and(|there| there < len) {
            flags = flags.with(Flags::ERROR);
        }
        if let Some(found) = read::long_head(first.kind, len, start) {
            self.out.diagnostic(&found)?;
        }
        self.put_head(first, first.sizing_bytes(), flags)?;
        let begin = self.at;
        let mut utf8 = Utf8::default();
        let mut last = false;
        let mut one_leaf = None;
        while !last {
            let done = self.at.saturating_sub(begin);
            let wanted = usize::try_from(len.saturating_sub(done)).unwrap_or(limits::PIECE).min(limits::PIECE);
            let bytes = self.input.at(self.at, wanted)?;
            let end = self.at.saturating_add(len64(bytes.len()));
            last = bytes.len() < wanted || end.saturating_sub(begin) >= len;
            let leaf_end = there.map_or(end, |there| begin.saturating_add(there.min(len)));
            if one_leaf.is_some() && there.is_some() {
                self.out.more(bytes)?;
            } else if !bytes.is_empty() {
                let piece = if there.is_some() { flags } else { flags.with(Flags::PIECE) };
                let group = self.groups.last().copied().unwrap_or(NO_GROUP);
                let leaf = Leaf::new(self.at, leaf_end, group, Kind { owner: self.owner, code: kind }).flagged(piece);
                self.out.leaf(&leaf, bytes)?;
                one_leaf = Some(leaf);
            }
            if of == Long::Text {
                utf8.feed(bytes);
            }
            if self.values {
                self.out.value(Event::Piece { of, total: Some(len), bytes, first: done == 0, last })?;
            }
            self.at = end;
        }
        self.end_long(first, utf8, begin, len)
    }

    /// Findings on long content, known behind it.
    fn end_long(&mut self, first: First, utf8: Utf8, begin: u64, len: u64) -> Flow {
        let there = self.at.saturating_sub(begin);
        if let Some(bad) = utf8.finish() {
            self.out.diagnostic(&read::not_utf8(begin, begin.saturating_add(bad), self.at))?;
        }
        if there < len {
            self.cut = true;
            let found = self.cut_off(begin, self.at, self.lacks(first, there, len));
            self.out.diagnostic(&found)?;
        }
        Ok(())
    }

    /// The input ends between the first byte and the content; `sizes` bytes stand there.
    fn cut_head(&mut self, first: First, sizes: u64) -> Flow {
        self.cut = true;
        let (start, end) = (self.at, self.at.saturating_add(1).saturating_add(sizes));
        let due = first.head_bytes().saturating_sub(1).saturating_sub(sizes);
        let what = format!("this {} lacks {} of its head", wire::name(first.kind), bytes_word(due));
        let found = self.cut_off(start, end, format!("{what}{}", self.then_missing()));
        self.out.diagnostic(&found)?;
        let flags = self.key_flag().with(Flags::ERROR);
        let length = match first.body {
            Body::Many(shape, _) => count_kind(shape),
            _ => wire::LENGTH,
        };
        self.put(1, first.kind, flags)?;
        self.put(sizes.min(first.sizing_bytes()), length, flags)?;
        self.put(sizes.saturating_sub(first.sizing_bytes()), wire::EXT_TYPE, flags)?;
        self.scalar(Scalar::Missing)
    }

    /// The input ends inside the content: `there` of `len` bytes stand there.
    fn cut_content(&mut self, first: First, kind: u8, there: u64, len: u64, flags: Flags) -> Flow {
        self.cut = true;
        let begin = self.at.saturating_add(first.head_bytes());
        let from = if there == 0 { self.at } else { begin };
        let found = self.cut_off(from, begin.saturating_add(there), self.lacks(first, there, len));
        self.out.diagnostic(&found)?;
        let flags = flags.with(Flags::ERROR);
        self.put_head(first, first.sizing_bytes(), flags)?;
        self.put(there, kind, flags)?;
        self.scalar(Scalar::Missing)
    }

    fn lacks(&self, first: First, there: u64, len: u64) -> String {
        let (name, short) = (wire::name(first.kind), len.saturating_sub(there));
        let are = if short == 1 { "is" } else { "are" };
        format!("{short} of the {} of this {name} {are} missing{}", bytes_word(len), self.then_missing())
    }

    fn then_missing(&self) -> String {
        let missing = self.missing();
        if missing.is_empty() { String::new() } else { format!(", then {missing}") }
    }

    /// Containers too deep: one error, one unread leaf, and the walk goes on behind the branch.
    fn too_deep(&mut self) -> Flow {
        let start = self.at;
        let message = format!("more than {} arrays and maps within each other", self.depth);
        let help = "what is inside is not decoded; --limit-depth N goes deeper".to_string();
        let (mut skip, mut told) = (Skip::default(), false);
        while skip.pending > 0 || skip.content > 0 {
            let piece = self.input.at(self.at, limits::SAMPLE)?;
            let used = skip.over(piece);
            if used == 0 {
                self.cut = true;
                break;
            }
            let end = self.at.saturating_add(len64(used));
            if !told {
                let found = Diagnostic::new(Code::MpDepth, start, end, message.clone()).help(help.clone());
                self.out.diagnostic(&found)?;
                told = true;
            }
            let group = self.groups.last().copied().unwrap_or(NO_GROUP);
            let leaf = Leaf::new(self.at, end, group, Kind::UNREAD).flagged(self.key_flag().with(Flags::ERROR));
            let piece = self.input.at(self.at, used)?;
            let (head, rest) = piece.split_at_checked(limits::PIECE).unwrap_or((piece, &[]));
            self.out.leaf(&leaf, head)?;
            for more in rest.chunks(limits::PIECE) {
                self.out.more(more)?;
            }
            self.at = end;
        }
        self.scalar(Scalar::Missing)
    }

    /// A finding that the input is cut, with what that means for the containers around.
    fn cut_off(&self, start: u64, end: u64, message: String) -> Diagnostic {
        let mut found = Diagnostic::new(Code::MpCut, start, end, message)
            .help(format!("everything before {:#04x} is complete; was the input cut off?", self.at.min(start)));
        for frame in &self.frames {
            let (begun, all) = (frame.units(frame.done), frame.units(frame.total));
            if begun < all {
                found.remarks.push((frame.head, format!("{begun} begun")));
            }
        }
        found
    }

    /// What the open containers still announce: `1 element of the array at 0x03 and 2 entries …`
    fn missing(&self) -> String {
        let mut parts = Vec::new();
        let mut more = 0usize;
        let Some(innermost) = self.frames.last() else { return String::new() };
        for frame in self.frames.iter().rev() {
            let half = frame.shape == Shape::Map && frame.done % 2 == 1;
            let left = frame.units(frame.total).saturating_sub(frame.units(frame.done));
            let (unit, of) = match (frame.shape, left) {
                (Shape::Map, 1) => ("entry", "map"),
                (Shape::Map, _) => ("entries", "map"),
                (Shape::List, 1) => ("element", "array"),
                (Shape::List, _) => ("elements", "array"),
            };
            if parts.len() >= 3 {
                more = more.saturating_add(usize::from(left > 0));
                continue;
            }
            if half && std::ptr::eq(frame, innermost) {
                parts.push("the value of this key".to_string());
            }
            if left > 0 {
                parts.push(format!("{left} {unit} of the {of} at {:#04x}", frame.head));
            }
        }
        if more > 0 {
            parts.push(format!("parts of {more} more containers"));
        }
        join(&parts)
    }

    fn key_flag(&self) -> Flags {
        if self.keys_open > 0 { Flags::KEY.with(Flags::NESTED) } else { Flags::NONE }
    }

    /// Bytes of an object that is no container, from its head.
    fn extent(&mut self, first: First) -> Result<u64, Stop> {
        let head = self.input.at(self.at, usize::try_from(first.head_bytes()).unwrap_or(0))?;
        Ok(first.head_bytes().saturating_add(content_len(first, head)))
    }

    /// What kind of group the object at an offset is.
    fn kind_at(&mut self, at: u64) -> Result<GroupKind, Stop> {
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
    fn open_here(&mut self, step: Step<'_>) -> Flow {
        let kind = self.kind_at(self.at)?;
        self.open(kind, step)
    }

    fn open(&mut self, kind: GroupKind, step: Step<'_>) -> Flow {
        let (id, parent) = (self.next_group, self.groups.last().copied().unwrap_or(NO_GROUP));
        self.groups.push(id);
        self.next_group = self.next_group.saturating_add(1);
        self.out.open(&Group { id, parent, kind, step, start: self.at })
    }

    fn close(&mut self) -> Flow {
        match self.groups.pop() {
            Some(id) => self.out.close(id, self.at),
            None => Err(Stop::Internal("a group closes that never opened".to_string())),
        }
    }

    fn leaf_to(&self, end: u64, kind: u8, flags: Flags) -> Leaf {
        let group = self.groups.last().copied().unwrap_or(NO_GROUP);
        Leaf::new(self.at, end, group, Kind { owner: self.owner, code: kind }).flagged(flags)
    }

    /// The next `len` bytes as a leaf; nothing where there are none. At most a piece.
    fn put(&mut self, len: u64, kind: u8, flags: Flags) -> Flow {
        if len == 0 {
            return Ok(());
        }
        let leaf = self.leaf_to(self.at.saturating_add(len), kind, flags);
        let bytes = self.input.at(self.at, usize::try_from(len).unwrap_or(limits::PIECE))?;
        self.out.leaf(&leaf, bytes)?;
        self.at = leaf.end;
        Ok(())
    }

    fn scalar(&mut self, value: Scalar<'_>) -> Flow {
        if self.values { self.out.value(Event::Scalar(value)) } else { Ok(()) }
    }
}

/// Content bytes behind a complete head.
fn content_len(first: First, head: &[u8]) -> u64 {
    match first.body {
        Body::Fixed(len) => len,
        Body::Sized(bytes) => {
            let sizes = usize::try_from(bytes).ok().and_then(|bytes| head.get(1..bytes.saturating_add(1)));
            sizes.map_or(0, big_endian)
        }
        Body::None | Body::Few(..) | Body::Many(..) | Body::NeverUsed => 0,
    }
}

/// Skips whole objects without taking them apart: a count of objects due, and content still to pass.
struct Skip {
    /// Objects still to pass.
    pending: u64,
    /// Content bytes still to pass.
    content: u64,
}

impl Default for Skip {
    fn default() -> Skip {
        Skip { pending: 1, content: 0 }
    }
}

impl Skip {
    /// Passes over what it can of `bytes` and says how many bytes that were; a head that is cut by
    /// the end of `bytes` is left, unless it stands first.
    fn over(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0usize;
        loop {
            let pass = usize::try_from(self.content).unwrap_or(usize::MAX).min(bytes.len().saturating_sub(at));
            at = at.saturating_add(pass);
            self.content = self.content.saturating_sub(len64(pass));
            if self.content > 0 || self.pending == 0 {
                return at;
            }
            let Some(first) = bytes.get(at).map(|byte| wire::first(*byte)) else { return at };
            let head_len = usize::try_from(first.head_bytes()).unwrap_or(usize::MAX);
            let Some(head) = bytes.get(at..at.saturating_add(head_len)) else {
                return if at == 0 { bytes.len() } else { at };
            };
            at = at.saturating_add(head_len);
            self.content = content_len(first, head);
            let inside = match first.body {
                Body::Few(shape, count) => items(shape, count),
                Body::Many(shape, _) => items(shape, head.get(1..).map_or(0, big_endian)),
                _ => 0,
            };
            self.pending = self.pending.saturating_sub(1).saturating_add(inside);
        }
    }
}

fn count_kind(shape: Shape) -> u8 {
    if shape == Shape::Map { wire::ENTRIES } else { wire::ELEMENTS }
}

fn items(shape: Shape, count: u64) -> u64 {
    if shape == Shape::Map { count.saturating_mul(2) } else { count }
}

/// A class and bytes that are equal where two keys are the same value, however written.
fn key_identity<'a>(value: &'a Scalar<'_>) -> (u8, Cow<'a, [u8]>) {
    let owned = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
    match value {
        Scalar::Null | Scalar::Missing | Scalar::Number(_) => (0, owned(&[])),
        Scalar::Bool(value) => (1, owned(&[u8::from(*value)])),
        Scalar::Uint(value) => (2, owned(&i128::from(*value).to_le_bytes())),
        Scalar::Int(value) => (2, owned(&i128::from(*value).to_le_bytes())),
        Scalar::F32(value) => (3, owned(&f64::from(*value).to_le_bytes())),
        Scalar::F64(value) => (3, owned(&value.to_le_bytes())),
        Scalar::Text(text) => (4, Cow::Borrowed(text)),
        Scalar::Bytes(bytes) => (5, Cow::Borrowed(bytes)),
        Scalar::Ext(kind, bytes) => (6, Cow::Owned([&kind.to_le_bytes()[..], bytes].concat())),
        Scalar::Timestamp(secs, nanos) => (7, owned(&[&secs.to_le_bytes()[..], &nanos.to_le_bytes()[..]].concat())),
    }
}

fn duplicate(key: &Scalar<'_>, start: u64, end: u64, first_at: u64) -> Diagnostic {
    let message = format!("key {} stands in this map twice, first at {first_at:#04x}", read::short(key));
    Diagnostic::new(Code::MpDuplicateKey, start, end, message).help("most readers keep the last one")
}

fn not_compared(start: u64, end: u64) -> Diagnostic {
    let message = format!("more than {} keys: from here on nobody looked for keys that stand twice", limits::REMEMBERED_KEYS);
    Diagnostic::new(Code::MpKeysNotCompared, start, end, message)
}

fn bytes_word(count: u64) -> String {
    if count == 1 { "1 byte".to_string() } else { format!("{count} bytes") }
}

/// `a`, `a and b`, `a, b and c`.
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn len64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
