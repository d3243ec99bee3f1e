//! Messages inside messages: declared ones, groups, map entries, the content of an Any, items of a
//! MessageSet, and content that is taken for a message.

use std::fmt::Write as _;

use super::content::Content;
use super::decode::{Frame, Role, Tag, Walker, ahead};
use super::fields::Reads;
use super::guess::Judged;
use super::peek;
use super::wire;
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Stop};
use crate::model::limits;
use crate::model::num::{push_number, push_offset};
use crate::model::schema::{Cardinality, Field, FieldKind, MessageId, WellKnown};

impl<'a> Walker<'a> {
    /// The place of a field: the same number for all fields on one path of field numbers.
    pub(super) fn place(&self, number: u32) -> u64 {
        peek::place(self.frames.last().map_or(0, |frame| frame.place), number)
    }

    /// A field that holds a message behind a length.
    pub(super) fn message_field(
        &mut self,
        tag: Tag,
        reads: Reads<'a>,
        content: Content,
        id: Option<MessageId>,
    ) -> Flow {
        if self.frames.len() > self.depth {
            return self.too_deep(tag, reads, content);
        }
        let place = self.place(tag.number);
        let role = self.begin_message(tag, reads, content, id)?;
        self.put_length(content, wire::MESSAGE_LENGTH)?;
        self.enter(id, role, place, content);
        Ok(())
    }

    /// Opens the group of a message field, and says what it is. The role of the message comes from a
    /// look at what is in it.
    fn begin_message(
        &mut self,
        tag: Tag,
        reads: Reads<'a>,
        content: Content,
        id: Option<MessageId>,
    ) -> Result<Role, Stop> {
        let from = self.at.saturating_add(tag.len).saturating_add(content.length_len);
        let map = match reads {
            Reads::As(field) if field.cardinality == Cardinality::Map => Some(field),
            _ => None,
        };
        let type_of = id.and_then(|id| self.schema?.message(id));
        let well_known = type_of.map_or(WellKnown::No, |message| message.well_known);
        // Most messages need no look ahead, and looking costs.
        let look = map.is_some() || well_known != WellKnown::No;
        let want = if look { usize::try_from(content.there).unwrap_or(usize::MAX).min(limits::PIECE) } else { 0 };
        let inside = ahead(self.input, self.at, from, want)?.to_vec();
        match map {
            Some(field) => self.begin_entry(tag, field, reads, &inside)?,
            None => self.begin(tag, reads, GroupKind::Record, Flags::NONE)?,
        }
        self.check_time(well_known, &inside, from, content)?;
        let role = match well_known {
            WellKnown::Any => peek::any_type(&inside, self.schema).map_or(Role::Plain, Role::Any),
            _ => Role::Plain,
        };
        if self.wants {
            let mut words = std::mem::take(&mut self.words);
            words.clear();
            let name = type_of.map_or("message", |message| if map.is_some() { "entry" } else { &message.name });
            message_words(name, from, content, &mut words);
            if let Some(said) = type_of.and_then(|message| peek::as_people_read(message, &inside)) {
                let _ = write!(words, ": {said}");
            }
            if self.frames.last().is_some_and(|frame| matches!(frame.role, Role::Any(_))) {
                words.push_str(", the content of the Any");
            }
            if well_known == WellKnown::Any && role == Role::Plain && content.there > 0 {
                words.push_str(", a type that is not in this schema");
            }
            let more = self.more(reads);
            self.out.say(&Said { words: &words, more: &more, ..Said::default() })?;
            self.words = words;
        }
        Ok(role)
    }

    /// A finding on a point or span of time past what its type allows, which JSON has no form for.
    fn check_time(&mut self, kind: WellKnown, inside: &[u8], from: u64, content: Content) -> Flow {
        let Some(problem) = peek::time_problem(kind, inside).filter(|_| !content.is_cut()) else { return Ok(()) };
        let end = from.saturating_add(content.there);
        let help = "ProtoJSON has no form for it; readers of other languages may refuse it";
        self.out.diagnostic(&Diagnostic::new(Code::PbTimeRange, from, end, problem).help(help))
    }

    /// Opens the group of a map entry, which is called by its key, and claims the tag.
    fn begin_entry(&mut self, tag: Tag, field: &'a Field, reads: Reads<'a>, inside: &[u8]) -> Flow {
        let entry = field.kind.message().and_then(|id| self.schema?.message(id));
        let kind = entry.and_then(|entry| entry.field(1)).map(|key| &key.kind);
        let key = peek::map_key(inside, kind);
        if let Some(frame) = self.frames.last_mut() {
            frame.seen.add(tag.number, 1);
        }
        let twice = self.key_again(tag.number, &key);
        self.open(GroupKind::Record, Step::Entry(&field.name, &key))?;
        if twice {
            let found = self.key_twice(tag, field, &key);
            self.out.diagnostic(&found)?;
        }
        self.put_tag(tag, reads, Flags::NONE)
    }

    /// Content that is taken for a message although nothing says so.
    pub(super) fn guessed_message(&mut self, tag: Tag, reads: Reads<'a>, content: Content, judged: &Judged) -> Flow {
        let place = self.place(tag.number);
        let from = self.at.saturating_add(tag.len).saturating_add(content.length_len);
        self.begin(tag, reads, GroupKind::Record, Flags::NONE)?;
        if self.wants {
            let mut words = std::mem::take(&mut self.words);
            words.clear();
            message_words("message", from, content, &mut words);
            let more = self.more(reads);
            self.out.say(&judged.said(&words, &more))?;
            self.words = words;
        }
        self.put_length(content, wire::MESSAGE_LENGTH)?;
        self.enter(None, Role::Plain, place, content);
        Ok(())
    }

    /// A group: a message between two tags.
    pub(super) fn group_field(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        if self.frames.len() > self.depth {
            return self.group_too_deep(tag, reads);
        }
        let place = self.place(tag.number);
        let set = self.message_type().is_some_and(|message| message.message_set) && tag.number == 1;
        let item = if set { self.set_item_field(tag)? } else { None };
        let entries = match self.frames.last().map(|frame| frame.role) {
            Some(Role::Entries(id)) if tag.number == 1 => Some(id),
            _ => None,
        };
        let map = match reads {
            Reads::As(field) if field.cardinality == Cardinality::Map => field.kind.message(),
            _ => None,
        };
        let (id, role) = match reads {
            _ if set => (None, Role::SetItem(item.and_then(|field| field.kind.message()))),
            _ if entries.is_some() => (entries, Role::Plain),
            _ if map.is_some() => (None, map.map_or(Role::Plain, Role::Entries)),
            Reads::As(field) | Reads::Clash(field) => (field.kind.message(), Role::Plain),
            _ => (None, Role::Plain),
        };
        let name = match (reads, id.and_then(|id| self.schema?.message(id))) {
            _ if set => "group, an item of the message set".to_string(),
            _ if entries.is_some() => "entry as a group".to_string(),
            _ if map.is_some() => "map as a group".to_string(),
            (Reads::As(field), Some(message)) if matches!(field.kind, FieldKind::Message(_)) => {
                format!("{} as a group", message.name)
            }
            (_, Some(message)) => format!("group {}", message.name),
            _ => "group".to_string(),
        };
        let before = self.count(tag, reads);
        match reads {
            _ if item.is_some() => self.open(GroupKind::Record, Step::Name(item.map_or("", |field| &field.name)))?,
            Reads::As(field) if map.is_some() => self.open(GroupKind::Record, Step::Name(&field.name))?,
            Reads::As(field) | Reads::Clash(field) => {
                self.open_field(GroupKind::Record, tag.number, Some(field), before)?;
            }
            _ => self.open_field(GroupKind::Record, tag.number, None, before)?,
        }
        self.odd_field(tag, reads, before)?;
        if self.wants {
            let more = if set { String::new() } else { self.more(reads) };
            self.out.say(&Said { words: &name, more: &more, ..Said::default() })?;
        }
        self.put_tag(tag, reads, Flags::NONE)?;
        let end = self.frames.last().map_or(self.size, |frame| frame.end);
        let cut = self.frames.last().is_some_and(|frame| frame.cut);
        let start = self.field_at;
        let announced = self.frames.last().map_or(u64::MAX, |frame| frame.announced);
        let frame =
            Frame { end, announced, group: Some(tag.number), message: id, role, place, cut, start, ..self.frame() };
        self.push(frame);
        Ok(())
    }

    /// The extension that an item of a MessageSet holds, by its type id, which may stand behind it.
    fn set_item_field(&mut self, tag: Tag) -> Result<Option<&'a Field>, Stop> {
        let from = self.at.saturating_add(tag.len);
        let room = self.room(limits::PIECE);
        let inside = ahead(self.input, self.at, from, room)?;
        let number = peek::set_type_id(inside);
        Ok(number.and_then(|number| self.declared(number)))
    }

    /// The content behind a length is the innermost message now.
    fn enter(&mut self, message: Option<MessageId>, role: Role, place: u64, content: Content) {
        let end = self.at.saturating_add(content.there);
        let announced = self.at.saturating_add(content.announced);
        let frame = Frame { end, announced, message, role, place, cut: content.is_cut(), ..self.frame() };
        self.push(frame);
    }

    /// Whether a map of the innermost message has a key already; remembers it.
    fn key_again(&mut self, number: u32, key: &str) -> bool {
        let Some(scope) = self.frames.last().map(|frame| frame.keys) else { return false };
        self.keys.name(scope);
        self.keys.feed(&number.to_le_bytes());
        self.keys.feed(key.as_bytes());
        matches!(self.keys.done(scope, self.at), crate::model::keys::Seen::Before(_))
    }

    /// `int32`, `message DocumentMeta`: a declared type in words.
    pub(super) fn type_words(&self, kind: &FieldKind) -> String {
        let named = match kind {
            FieldKind::Enum(id) => {
                self.schema.and_then(|schema| schema.enumeration(*id)).map(|one| ("enum", one.name.as_str()))
            }
            FieldKind::Message(id) => {
                self.schema.and_then(|schema| schema.message(*id)).map(|one| ("message", one.name.as_str()))
            }
            FieldKind::Group(id) => {
                self.schema.and_then(|schema| schema.message(*id)).map(|one| ("group", one.name.as_str()))
            }
            FieldKind::Opaque(name) => Some(("type", name.as_str())),
            _ => None,
        };
        match named {
            Some((what, name)) => format!("{what} {name}"),
            None => kind.keyword().unwrap_or("value").to_string(),
        }
    }
}

/// `DocumentMeta, 6 bytes 0x0e..0x14`
fn message_words(name: &str, from: u64, content: Content, words: &mut String) {
    let end = from.saturating_add(content.there);
    words.push_str(name);
    words.push_str(", ");
    push_number(words, content.there);
    if content.is_cut() {
        words.push_str(" of ");
        push_number(words, content.announced);
    }
    words.push_str(if content.announced == 1 { " byte" } else { " bytes" });
    if content.there > 0 && !content.is_cut() {
        words.push(' ');
        push_offset(words, from);
        words.push_str("..");
        push_offset(words, end);
    }
}
