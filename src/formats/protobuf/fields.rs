//! Fields of the walk: varints, fixed-width values, LEN content that is no message, and what a schema says
//! of them.

use std::fmt::Write as _;

use super::content::Content;
use super::decode::{HEAD, Role, Tag, Walker, ahead};
use super::guess::{self, Guess, Judged};
use super::wire::{self, Varint, WireType};
use crate::model::bytemap::{Flags, GroupKind};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Stop};
use crate::model::limits;
use crate::model::num::{len64, push_signed};
use crate::model::schema::{Cardinality, Field, FieldKind, Presence};

/// What the schema makes of a field that has arrived in some wire type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reads<'a> {
    /// One value of the declared field.
    As(&'a Field),
    /// A packed run of the declared field.
    Packed(&'a Field),
    /// The declared field has another wire type.
    Clash(&'a Field),
    /// The schema does not have the number.
    Unknown,
    /// There is no schema.
    Untyped,
}

impl<'a> Walker<'a> {
    /// What the innermost message's type says of a field.
    pub(super) fn reads(&self, tag: Tag) -> Reads<'a> {
        let typed = self.message_type().is_some();
        match self.declared(tag.number) {
            None if typed => Reads::Unknown,
            None => Reads::Untyped,
            Some(field) if WireType::of_kind(&field.kind) == tag.wire => Reads::As(field),
            Some(field) if tag.wire == WireType::Len && is_packable(field) => Reads::Packed(field),
            // Protostuff writes nested messages as groups; their content is the same.
            Some(field) if tag.wire == WireType::SGroup && matches!(field.kind, FieldKind::Message(_)) => {
                Reads::As(field)
            }
            Some(field) => Reads::Clash(field),
        }
    }

    /// A field of the innermost message, behind its tag. `behind`: something follows the tag.
    pub(super) fn field(&mut self, tag: Tag, behind: bool) -> Flow {
        let reads = self.reads(tag);
        match tag.wire {
            _ if !behind && tag.wire != WireType::SGroup => self.value_missing(tag, reads),
            WireType::Varint => self.varint_field(tag, reads),
            WireType::I64 => self.fixed_field(tag, reads, 8),
            WireType::I32 => self.fixed_field(tag, reads, 4),
            WireType::Len => self.len_field(tag, reads),
            WireType::SGroup | WireType::EGroup => self.group_field(tag, reads),
        }
    }

    /// Opens the group of a field, says what the schema or earlier fields have against it, and claims its
    /// tag. Flags that come in, and those of an odd tag, are on the tag.
    pub(super) fn begin(&mut self, tag: Tag, reads: Reads<'a>, kind: GroupKind, flags: Flags) -> Flow {
        let before = self.count(tag, reads);
        self.open_named(tag, reads, kind, before)?;
        self.odd_field(tag, reads, before)?;
        self.mixed(tag, reads, before)?;
        self.put_tag(tag, reads, flags)
    }

    /// Counts a value of a field, and says how many came before; what readers take for unknown is no value.
    pub(super) fn count(&mut self, tag: Tag, reads: Reads<'a>) -> u64 {
        let Some(frame) = self.frames.last_mut() else { return 0 };
        match reads {
            Reads::Clash(_) => frame.seen.count(tag.number),
            _ => frame.seen.add(tag.number, 1),
        }
    }

    /// Claims a tag, with a warning where it is longer than it need be.
    pub(super) fn put_tag(&mut self, tag: Tag, reads: Reads<'a>, mut flags: Flags) -> Flow {
        if tag.len > len64(wire::varint_len(wire::tag(tag.number, tag.wire))) {
            let found = self.long_tag(tag);
            flags = flags.with(if found.severity() == crate::model::diag::Severity::Error {
                Flags::ERROR
            } else {
                Flags::WARNING
            });
            self.out.diagnostic(&found)?;
        }
        if reads_clash(reads).is_some() {
            flags = flags.with(Flags::WARNING);
        }
        let code = if tag.wire == WireType::SGroup { wire::SGROUP } else { wire::TAG };
        self.put(tag.len, code, flags)
    }

    fn open_named(&mut self, tag: Tag, reads: Reads<'a>, kind: GroupKind, before: u64) -> Flow {
        match reads {
            Reads::As(field) | Reads::Packed(field) | Reads::Clash(field) => {
                self.open_field(kind, tag.number, Some(field), before)
            }
            Reads::Unknown | Reads::Untyped => match self.role_name(tag) {
                Some(name) => self.open(kind, crate::model::bytemap::Step::Name(name)),
                None => self.open_field(kind, tag.number, None, before),
            },
        }
    }

    /// Names that the standard gives to the fields of a MessageSet's item.
    fn role_name(&self, tag: Tag) -> Option<&'static str> {
        match (self.frames.last()?.role, tag.number) {
            (Role::SetItem(_), 2) => Some("type_id"),
            (Role::SetItem(_), 3) => Some("message"),
            _ => None,
        }
    }

    /// Without a schema: a field that stands as LEN after it stood otherwise cannot be one field, but for
    /// numbers that are packed here and not there.
    fn mixed(&mut self, tag: Tag, reads: Reads<'a>, before: u64) -> Flow {
        let Reads::Untyped = reads else { return Ok(()) };
        // What is cut says nothing of the field.
        let Some(frame) = self.frames.last_mut().filter(|frame| !frame.cut) else { return Ok(()) };
        let Some(earlier) = frame.seen.set_wire(tag.number, tag.wire, before) else { return Ok(()) };
        let text = format!(
            "field {} has two wire types: {} before, {} here, as no field has but one of numbers that are packed in one place and not in the other",
            tag.number,
            earlier.name(),
            tag.wire.name()
        );
        let end = self.at.saturating_add(tag.len);
        let help = "bytes may be missing in front, or two messages of other types stand one behind the other";
        self.out.diagnostic(&Diagnostic::new(Code::PbMixedWireTypes, self.at, end, text).help(help))
    }

    /// Findings on a field as such: another wire type than declared, a singular field again, a oneof.
    pub(super) fn odd_field(&mut self, tag: Tag, reads: Reads<'a>, before: u64) -> Flow {
        if let Some(field) = reads_clash(reads) {
            let found = self.clash(tag, field);
            self.out.diagnostic(&found)?;
        }
        let (Reads::As(field) | Reads::Packed(field)) = reads else { return Ok(()) };
        if field.cardinality == Cardinality::Singular && before > 0 {
            let found = self.again(tag, field, before);
            self.out.diagnostic(&found)?;
        }
        if let Some(oneof) = field.oneof {
            let earlier = self.frames.last_mut().and_then(|frame| frame.seen.set_oneof(oneof, tag.number));
            if let Some(earlier) = earlier.filter(|earlier| *earlier != tag.number) {
                let found = self.replaced(tag, field, oneof, earlier);
                self.out.diagnostic(&found)?;
            }
        }
        Ok(())
    }

    fn varint_field(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        let room = self.room(HEAD);
        let head = self.input.at(self.at, room)?;
        let bytes = head.get(usize::try_from(tag.len).unwrap_or(0)..).unwrap_or(&[]);
        let overflows = wire::varint_overflows(bytes);
        let (value, len) = match wire::varint(bytes) {
            Varint::Whole(value, len) => (value, len64(len)),
            Varint::Cut(there) => return self.value_cut(tag, reads, len64(there)),
            Varint::TooLong => return self.value_too_long(tag, reads),
        };
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        let start = self.at;
        let mut flags = self.odd_varint(start, len, value, overflows)?;
        let code = match reads {
            Reads::As(field) => {
                flags = flags.with(self.odd_value(start, len, value, &field.kind)?);
                if value == 0 && is_default_stored(field) && !self.in_entry() {
                    flags = flags.with(Flags::DEFAULT);
                }
                self.say_varint(field, value)?;
                if self.is_outside(field, value)
                    && let Some(frame) = self.frames.last_mut()
                {
                    frame.seen.take_back(tag.number);
                }
                wire::value_kind(&field.kind)
            }
            other => {
                self.say_more(other)?;
                let is_type_id = self.role_name(tag) == Some("type_id");
                if is_type_id { wire::UINT32 } else { wire::VARINT }
            }
        };
        self.put(len, code, flags)?;
        self.close()
    }

    /// Findings on how a varint is written; the flags they put on it.
    pub(super) fn odd_varint(&mut self, start: u64, len: u64, value: u64, overflows: bool) -> Result<Flags, Stop> {
        let shortest = len64(wire::varint_len(value));
        if len <= shortest && !overflows {
            return Ok(Flags::NONE);
        }
        let end = start.saturating_add(len);
        if overflows {
            let text = "the tenth byte holds more than the 64th bit; the bits above it are dropped";
            let help = "most readers take it so; Go refuses the message";
            self.out.diagnostic(&Diagnostic::new(Code::PbVarintOverflow, start, end, text).help(help))?;
        } else {
            let extra = len.saturating_sub(shortest);
            let cost = crate::model::num::bytes(extra);
            let text = format!("{value} in {len} bytes, {} would do: {cost} more", shortest);
            self.out.diagnostic(&Diagnostic::new(Code::PbNonMinimal, start, end, text))?;
        }
        Ok(Flags::WARNING)
    }

    /// A finding where the value has bits that its type has no room for.
    pub(super) fn odd_value(&mut self, start: u64, len: u64, value: u64, kind: &FieldKind) -> Result<Flags, Stop> {
        let lost = match kind {
            FieldKind::Uint32 | FieldKind::Sint32 => value > u64::from(u32::MAX),
            // A negative number is sign-extended to 64 bits; older writers stop at 32.
            FieldKind::Int32 | FieldKind::Enum(_) => {
                value > u64::from(u32::MAX) && i32::try_from(value.cast_signed()).is_err()
            }
            _ => false,
        };
        if !lost {
            return Ok(Flags::NONE);
        }
        let kept = wire::low32(value);
        let text = format!("{value} does not fit 32 bits: readers keep the low ones, {kept:#x}");
        self.out.diagnostic(&Diagnostic::new(Code::PbTruncated, start, start.saturating_add(len), text))?;
        Ok(Flags::WARNING)
    }

    /// Words on a declared varint, where kind and bytes do not say it all.
    pub(super) fn say_varint(&mut self, field: &'a Field, value: u64) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let FieldKind::Enum(id) = field.kind else { return self.say_more(Reads::As(field)) };
        let number = wire::low32(value).cast_signed();
        let found = self.schema.and_then(|schema| schema.enumeration(id));
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        let mut json = None;
        let _ = match found.map(|one| (one, one.name_of(number))) {
            Some((_, Some(name))) => {
                json = Some(crate::formats::json_string(name));
                words.push_str(name);
                words.push_str(" (");
                push_signed(&mut words, i64::from(number));
                words.push(')');
                Ok(())
            }
            Some((one, None)) if one.closed => {
                write!(words, "enum value {number}, not in {}: readers count the field as unknown", one.name)
            }
            Some((one, None)) => write!(words, "enum value {number}, not named in {}", one.name),
            None => write!(words, "enum {number}"),
        };
        let more = self.oneof_words(field);
        self.out.say(&Said { words: &words, more: &more, value: json.as_deref(), ..Said::default() })?;
        self.words = words;
        Ok(())
    }

    /// Whether a number is no value of a closed enumeration, so that the field counts as unknown.
    fn is_outside(&self, field: &Field, value: u64) -> bool {
        let FieldKind::Enum(id) = field.kind else { return false };
        let one = self.schema.and_then(|schema| schema.enumeration(id));
        one.is_some_and(|one| one.closed && one.name_of(wire::low32(value).cast_signed()).is_none())
    }

    /// `, of oneof choice`
    fn oneof_words(&self, field: &Field) -> String {
        let oneof = field.oneof.and_then(|oneof| usize::try_from(oneof).ok());
        let name = oneof.and_then(|oneof| self.message_type()?.oneofs.get(oneof));
        name.map_or(String::new(), |name| format!(", of oneof {name}"))
    }

    /// Words behind what kind and bytes say.
    pub(super) fn say_more(&mut self, reads: Reads<'a>) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let more = self.more(reads);
        if more.is_empty() {
            return Ok(());
        }
        self.out.say(&Said { more: &more, ..Said::default() })
    }

    /// What is said behind the meaning of a field.
    pub(super) fn more(&self, reads: Reads<'a>) -> String {
        match reads {
            Reads::As(field) | Reads::Packed(field) => self.oneof_words(field),
            Reads::Clash(field) => format!(", not the declared {}", self.type_words(&field.kind)),
            Reads::Unknown => format!(", unknown: field {} is not in this schema", self.field_number),
            Reads::Untyped => String::new(),
        }
    }

    /// Whether the innermost message is the entry of a map, whose key and value always count.
    fn in_entry(&self) -> bool {
        self.message_type().is_some_and(|message| message.map_entry)
    }

    fn fixed_field(&mut self, tag: Tag, reads: Reads<'a>, width: u64) -> Flow {
        let there = self.available(tag.len.saturating_add(width))?.saturating_sub(tag.len);
        if there < width {
            return self.value_cut(tag, reads, there);
        }
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        let untyped = if width == 4 { wire::I32 } else { wire::I64 };
        let (code, flags) = match reads {
            Reads::As(field) => {
                let in_entry = self.in_entry();
                let bytes = self.input.at(self.at, 8.min(usize::try_from(width).unwrap_or(8)))?;
                // Minus zero is written: only the bits of zero are the default.
                let zero = bytes.iter().all(|byte| *byte == 0);
                let stored = zero && is_default_stored(field) && !in_entry;
                (wire::value_kind(&field.kind), if stored { Flags::DEFAULT } else { Flags::NONE })
            }
            _ => (untyped, Flags::NONE),
        };
        self.say_more(reads)?;
        self.put(width, code, flags)?;
        self.close()
    }

    fn len_field(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        let room = self.room(HEAD);
        let head = self.input.at(self.at, room)?;
        let bytes = head.get(usize::try_from(tag.len).unwrap_or(0)..).unwrap_or(&[]);
        let (announced, length_len) = match wire::varint(bytes) {
            Varint::Whole(value, len) => (value, len64(len)),
            Varint::Cut(there) => return self.value_cut(tag, reads, len64(there)),
            Varint::TooLong => return self.value_too_long(tag, reads),
        };
        let head = tag.len.saturating_add(length_len);
        let there = self.available(head.saturating_add(announced))?.saturating_sub(head).min(announced);
        let content = Content { length_len, announced, there, flags: Flags::NONE };
        let any = self.frames.last().map(|frame| frame.role);
        match (reads, any) {
            (Reads::As(field), Some(Role::Any(id))) if tag.number == 2 => {
                let _ = field;
                self.message_field(tag, reads, content, Some(id))
            }
            (Reads::As(field), _) => match &field.kind {
                FieldKind::Message(id) => self.message_field(tag, reads, content, Some(*id)),
                FieldKind::String => self.text_field(tag, reads, content),
                _ => self.bytes_field(tag, reads, content),
            },
            (Reads::Packed(field), _) => self.packed_field(tag, reads, content, Some(field), Guess::Varints),
            (Reads::Untyped, Some(Role::SetItem(Some(id)))) if tag.number == 3 => {
                self.message_field(tag, reads, content, Some(id))
            }
            (Reads::Untyped, Some(Role::Entries(id))) if tag.number == 1 => {
                self.message_field(tag, reads, content, Some(id))
            }
            (Reads::Clash(field), _) if field.kind.message().is_some() && self.is_sound(head, content)? => {
                self.message_field(tag, reads, content, field.kind.message())
            }
            _ => self.guessed_field(tag, reads, content),
        }
    }

    /// Whether LEN content behind a head of so many bytes consists of fields.
    fn is_sound(&mut self, head: u64, content: Content) -> Result<bool, Stop> {
        let want = usize::try_from(content.there).unwrap_or(usize::MAX).min(limits::PIECE);
        let bytes = ahead(self.input, self.at, self.at.saturating_add(head), want)?;
        Ok(guess::scan::is_sound(bytes, len64(bytes.len()) == content.announced))
    }

    /// LEN content without a type: judged, then read as what fits best.
    fn guessed_field(&mut self, tag: Tag, reads: Reads<'a>, content: Content) -> Flow {
        let from = self.at.saturating_add(tag.len).saturating_add(content.length_len);
        let len = usize::try_from(content.there).unwrap_or(usize::MAX).min(limits::PIECE);
        let place = self.place(tag.number);
        let bytes = ahead(self.input, self.at, from, len)?;
        let complete = len64(bytes.len()) == content.announced;
        let judged = guess::judge(bytes, complete, place, &mut self.memory, self.wants);
        match judged.best {
            Guess::Message if self.frames.len() <= self.depth => self.guessed_message(tag, reads, content, &judged),
            Guess::Varints | Guess::Fixed32 | Guess::Fixed64 if complete => {
                self.packed_field(tag, reads, content, None, judged.best)
            }
            Guess::Text => self.guessed_leaf(tag, reads, content, &judged, wire::TEXT),
            best => {
                if best == Guess::Message {
                    let text = format!("it could be a message, but {} are open around it: not opened", self.depth);
                    let help = "--limit-depth N goes deeper";
                    let end = from.saturating_add(content.there);
                    self.out.diagnostic(&Diagnostic::new(Code::PbDepthUnopened, from, end, text).help(help))?;
                }
                self.guessed_leaf(tag, reads, content, &judged, wire::BLOB)
            }
        }
    }

    fn guessed_leaf(&mut self, tag: Tag, reads: Reads<'a>, content: Content, judged: &Judged, code: u8) -> Flow {
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        if content.there == 0 {
            self.say_empty("empty: text, bytes or a message", "\"\"", reads, content)?;
        }
        self.put_length(content, wire::LENGTH)?;
        if self.wants && content.there > 0 {
            let more = self.more_of(reads, content);
            let words = if content.is_cut() && code == wire::BLOB { "bytes" } else { "" };
            self.say(&judged.said(words, &more))?;
        }
        self.put_content(content.there, code, content.flags)?;
        self.close()
    }

    /// Bytes to look at from here on: at most `most`, and not past the innermost message.
    pub(super) fn room(&self, most: usize) -> usize {
        let end = self.frames.last().map_or(self.size, |frame| frame.end);
        usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(most)
    }

    /// How many of `len` bytes from here on are there, within the innermost message. Behind a pipe only
    /// what is not too long to hold is known; the rest is taken for there.
    pub(super) fn available(&mut self, len: u64) -> Result<u64, Stop> {
        self.look_ahead(self.frames.last().map_or(len, |frame| frame.end.saturating_sub(self.at).min(len)))?;
        let end = self.frames.last().map_or(self.size, |frame| frame.end).min(self.size);
        Ok(end.saturating_sub(self.at).min(len))
    }

    /// Looks so many bytes ahead, but not more than one holds: whether a pipe ends before.
    pub(super) fn look_ahead(&mut self, len: u64) -> Result<(), Stop> {
        if self.size != u64::MAX {
            return Ok(());
        }
        let want = usize::try_from(len).unwrap_or(usize::MAX).min(limits::PIECE);
        let there = self.input.at(self.at, want)?.len();
        if there < want {
            self.size = self.at.saturating_add(len64(there));
            for frame in self.frames.iter_mut().filter(|frame| frame.end == u64::MAX) {
                frame.end = self.size;
            }
        }
        Ok(())
    }
}

/// The declared field, where its wire type is another one.
pub(super) fn reads_clash(reads: Reads<'_>) -> Option<&Field> {
    match reads {
        Reads::Clash(field) => Some(field),
        _ => None,
    }
}

/// Whether values of a field may come as one packed run.
fn is_packable(field: &Field) -> bool {
    field.cardinality == Cardinality::Repeated && field.kind.is_packable()
}

/// Whether a stored zero cannot be told from an absent value.
fn is_default_stored(field: &Field) -> bool {
    field.presence == Presence::Implicit && field.cardinality == Cardinality::Singular && field.oneof.is_none()
}
