//! The Protobuf walker: fields one after the other, with an explicit stack of open messages.
//!
//! It claims every byte in order and walks around damage: a field that is cut ends its message, bytes
//! behind a tag that means nothing are one unread leaf up to the end of the message around them. Where a
//! schema says what a field is, that is how it is read; else LEN content is judged by [`super::guess`].
//! Memory depends on the depth of nesting, never on a length that stands in the input.

use super::guess::Memory;
use super::seen::Seen;
use super::wire::{self, Varint, WireType};
use crate::formats::Context;
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, Step, next_group};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Sink, Stop};
use crate::model::keys::{Keys, Scope};
use crate::model::limits;
use crate::model::num::{len64, push_number};
use crate::model::schema::{Field, Message, MessageId, Presence, Schema};
use crate::wire::reader::Window;

/// Bytes that hold a tag and a length or varint, however long both are.
pub(super) const HEAD: usize = 2 * wire::MAX_VARINT;

/// Reports an input as Protobuf, see [`crate::formats::Format::decode`].
pub fn decode(input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    let mut walker = Walker::new(input, context, out);
    match context.variant {
        "delimited" => walker.delimited(),
        "grpc" => walker.grpc(),
        _ => walker.plain(Step::None),
    }
}

/// Bytes from `from` on, while those from `at` on are still to be claimed: a pipe keeps nothing before what it
/// was asked for last.
pub(super) fn ahead(input: &mut Window, at: u64, from: u64, want: usize) -> Result<&[u8], Stop> {
    let before = usize::try_from(from.saturating_sub(at)).unwrap_or(usize::MAX);
    let bytes = input.at(at, before.saturating_add(want))?;
    Ok(bytes.get(before..).unwrap_or(&[]))
}

/// An open message.
pub(super) struct Frame {
    /// Offset behind its last byte; that of the message around it for a group, since a group has no length.
    pub(super) end: u64,
    /// Offset behind the bytes that its length announced; that of the message around it for a group.
    pub(super) announced: u64,
    /// The field number, where it is a group.
    pub(super) group: Option<u32>,
    /// Its type.
    pub(super) message: Option<MessageId>,
    /// What becomes of certain fields of it.
    pub(super) role: Role,
    /// The same for all messages on this path of field numbers.
    pub(super) place: u64,
    /// Fields that stood in it.
    pub(super) seen: Seen,
    /// Keys of its map fields.
    pub(super) keys: Scope,
    /// Offset of its first byte.
    pub(super) start: u64,
    /// Its end was cut off, and that has been said.
    pub(super) cut: bool,
}

/// What a message does with certain of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing special.
    Plain,
    /// An Any whose content is of this type: field 2.
    Any(MessageId),
    /// The item of a MessageSet (proto2): its field 3 is of this type.
    SetItem(Option<MessageId>),
    /// A map as a group, as Protostuff writes it: its fields 1 are entries of this type.
    Entries(MessageId),
}

/// The walk. Parts of it stand in `fields`, `messages`, `packed`, `frames` and `damage` beside this file.
pub(super) struct Walker<'a> {
    pub(super) input: &'a mut Window,
    pub(super) out: &'a mut dyn Sink,
    pub(super) owner: u8,
    pub(super) depth: usize,
    pub(super) schema: Option<&'a Schema>,
    pub(super) root: Option<MessageId>,
    /// Whether words beyond kind and bytes are wanted.
    pub(super) wants: bool,
    /// Offset of the next byte.
    pub(super) at: u64,
    /// Offset of the tag of the last field begun.
    pub(super) field_at: u64,
    /// Its number.
    pub(super) field_number: u32,
    /// Offset behind the input, where that is known.
    pub(super) size: u64,
    pub(super) groups: Vec<GroupId>,
    next_group: GroupId,
    pub(super) frames: Vec<Frame>,
    pub(super) memory: Memory,
    pub(super) keys: Keys,
    /// Memory of messages that have ended.
    spare: Vec<Seen>,
    /// The name of a field that has none but its number.
    pub(super) name: String,
    /// Words on the next leaf.
    pub(super) words: String,
}

/// A field as its tag announces it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) number: u32,
    pub(super) wire: WireType,
    /// Bytes of the tag.
    pub(super) len: u64,
}

impl<'a> Walker<'a> {
    /// A walk from the start of a window.
    pub(super) fn new(input: &'a mut Window, context: &Context<'a>, out: &'a mut dyn Sink) -> Walker<'a> {
        Walker {
            wants: out.wants_words(),
            size: input.size().unwrap_or(u64::MAX),
            input,
            out,
            owner: context.owner,
            depth: context.depth,
            schema: context.schema,
            root: context.root.filter(|_| context.schema.is_some()),
            at: 0,
            field_at: 0,
            field_number: 0,
            groups: Vec::new(),
            next_group: 0,
            frames: Vec::new(),
            memory: Memory::default(),
            keys: Keys::default(),
            spare: Vec::new(),
            name: String::new(),
            words: String::new(),
        }
    }

    /// The whole input is one message.
    pub(super) fn plain(&mut self, step: Step<'_>) -> Flow {
        self.open(GroupKind::Root, Step::None)?;
        if self.input.byte(0)?.is_none() {
            let message = "0 bytes: a message without fields, each of which has its default";
            self.out.diagnostic(&Diagnostic::new(Code::PbEmpty, 0, 0, message))?;
            let frame = Frame { message: self.root, ..self.frame() };
            self.push(frame);
            self.check_required()?;
            self.frames.clear();
            return self.close();
        }
        self.open(GroupKind::Record, step)?;
        self.message(self.size, false)?;
        self.close()
    }

    /// A message from here to `end` in the innermost group, which it closes.
    pub(super) fn message(&mut self, end: u64, cut: bool) -> Flow {
        let frame = Frame { end, cut, message: self.root, ..self.frame() };
        self.push(frame);
        while !self.frames.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    /// A message that begins here, to be changed in what is special.
    pub(super) fn frame(&mut self) -> Frame {
        Frame {
            end: self.at,
            announced: u64::MAX,
            group: None,
            message: None,
            role: Role::Plain,
            place: 0,
            seen: self.spare.pop().unwrap_or_default(),
            keys: self.keys.begin(),
            start: self.at,
            cut: false,
        }
    }

    /// The message that begins here is the innermost one now.
    pub(super) fn push(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// One field of the innermost message, or its end.
    fn step(&mut self) -> Flow {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        if self.at >= frame.end {
            return self.end_message();
        }
        self.field_at = self.at;
        let room = usize::try_from(frame.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let head = self.input.at(self.at, HEAD.min(room))?;
        if head.is_empty() {
            return self.input_ended();
        }
        let (value, len) = match wire::varint(head) {
            Varint::Whole(value, len) => (value, len),
            Varint::Cut(len) => return self.tag_cut(len64(len)),
            Varint::TooLong => return self.tag_too_long(),
        };
        let behind = head.get(len..).and_then(|rest| rest.first()).is_some();
        let number = u32::try_from(value >> 3).unwrap_or(u32::MAX);
        let Some(wire) = WireType::of(value).filter(|_| number != 0 && number <= wire::MAX_FIELD) else {
            return self.bad_tag(value, len64(len));
        };
        let tag = Tag { number, wire, len: len64(len) };
        self.field_number = number;
        if wire == WireType::EGroup {
            return self.end_group(tag);
        }
        self.field(tag, behind)
    }

    /// The type of the innermost message.
    pub(super) fn message_type(&self) -> Option<&'a Message> {
        self.schema?.message(self.frames.last()?.message?)
    }

    /// The field that a number is in the innermost message.
    pub(super) fn declared(&self, number: u32) -> Option<&'a Field> {
        self.message_type()?.field(number)
    }

    /// Ends the innermost message and its group.
    pub(super) fn end_message(&mut self) -> Flow {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (group, start, cut) = (frame.group, frame.start, frame.cut);
        if let (Some(number), false) = (group, cut) {
            let found = self.group_unended(number, start);
            self.out.diagnostic(&found)?;
        }
        self.check_required()?;
        self.pop()
    }

    /// Closes the innermost message and its group.
    pub(super) fn pop(&mut self) -> Flow {
        if let Some(frame) = self.frames.pop() {
            self.keys.end(frame.keys);
            let mut seen = frame.seen;
            seen.clear();
            self.spare.push(seen);
        }
        self.close()
    }

    /// Says which required fields never came.
    pub(super) fn check_required(&mut self) -> Flow {
        let Some(message) = self.message_type() else { return Ok(()) };
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.cut {
            return Ok(());
        }
        let is_missing = |field: &&Field| field.presence == Presence::Required;
        let missing: Vec<&str> = message
            .fields
            .iter()
            .filter(is_missing)
            .filter(|field| frame.seen.count(field.number) == 0)
            .map(|field| field.name.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let words = crate::model::num::listed(&missing);
        let text = format!("{} of {} must be there and is not", words, message.name);
        let help = "most readers refuse the message; C++ takes it where it is parsed partially";
        self.out.diagnostic(&Diagnostic::new(Code::PbRequiredMissing, self.at, self.at, text).help(help))
    }

    /// Opens a group at the current offset inside the innermost one.
    pub(super) fn open(&mut self, kind: GroupKind, step: Step<'_>) -> Flow {
        let group = Group {
            id: self.next_group,
            parent: self.groups.last().copied().unwrap_or(NO_GROUP),
            kind,
            step,
            start: self.at,
            again: false,
        };
        self.next_group = next_group(self.next_group);
        self.groups.push(group.id);
        self.out.open(&group)
    }

    /// Opens the group of a field. `index` counts the values of a field that may have several; without
    /// a schema only the second shows that it has.
    pub(super) fn open_field(&mut self, kind: GroupKind, number: u32, field: Option<&'a Field>, index: u64) -> Flow {
        if let Some(field) = field {
            let step = match field.cardinality {
                crate::model::schema::Cardinality::Singular => Step::Name(&field.name),
                _ => Step::Field(&field.name, index),
            };
            return self.open(kind, step);
        }
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        push_number(&mut name, u64::from(number));
        let step = if index == 0 { Step::Name(&name) } else { Step::Field(&name, index) };
        let opened = self.open(kind, step);
        self.name = name;
        opened
    }

    /// Opens the group of a packed run. It has the path of the field as a whole: its elements have an index.
    pub(super) fn open_run(&mut self, number: u32, field: Option<&'a Field>) -> Flow {
        match field {
            Some(field) => self.open(GroupKind::Value, Step::Name(&field.name)),
            None => self.open_field(GroupKind::Value, number, None, 0),
        }
    }

    /// Closes the innermost group.
    pub(super) fn close(&mut self) -> Flow {
        match self.groups.pop() {
            Some(id) => self.out.close(id, self.at),
            None => Ok(()),
        }
    }

    /// Claims the next bytes as a leaf of this kind.
    pub(super) fn put(&mut self, len: u64, code: u8, flags: Flags) -> Flow {
        self.put_kind(len, wire::kind(self.owner, code), flags)
    }

    /// As [`Walker::put`], for the kinds that formats share too.
    pub(super) fn put_kind(&mut self, len: u64, kind: Kind, flags: Flags) -> Flow {
        let group = self.groups.last().copied().unwrap_or(NO_GROUP);
        let end = self.at.saturating_add(len);
        let leaf = Leaf::new(self.at, end, group, kind).flagged(flags);
        let first = usize::try_from(len).unwrap_or(usize::MAX).min(limits::PIECE);
        let bytes = self.input.at(self.at, first)?;
        if bytes.len() < first {
            return Err(Stop::Internal(format!("a leaf {:#x}..{end:#x} past the end of the input", self.at)));
        }
        self.out.leaf(&leaf, bytes)?;
        self.at = self.at.saturating_add(len64(first));
        while self.at < end {
            let want = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(limits::PIECE);
            let bytes = self.input.at(self.at, want)?;
            if bytes.len() < want {
                return Err(Stop::Internal(format!("a leaf to {end:#x} past the end of the input")));
            }
            self.out.more(bytes)?;
            self.at = self.at.saturating_add(len64(want));
        }
        Ok(())
    }

    /// Sends words on the next leaf, if they are wanted.
    pub(super) fn say(&mut self, said: &Said<'_>) -> Flow {
        if self.wants && !said.is_empty() { self.out.say(said) } else { Ok(()) }
    }
}
