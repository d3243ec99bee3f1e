//! What the walk does where the bytes make no sense, and what it says about it.

use super::content::Content;
use super::decode::{Tag, Walker};
use super::fields::Reads;
use super::guess::scan::Fields;
use super::wire::{self, WireType};
use crate::model::bytemap::{Flags, GroupKind, Kind};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Stop};
use crate::model::limits;
use crate::model::num::{bytes, len64};
use crate::model::schema::Field;

/// Bytes from here on that have the top bit set, and the one behind them: what a varint that is too long
/// takes.
pub(super) fn run_of_varint(bytes: &[u8]) -> u64 {
    let long = bytes.iter().take_while(|byte| **byte >= 0x80).count();
    len64(long.saturating_add(1).min(bytes.len()))
}

/// A varint of more than ten bytes.
pub(super) fn too_long(what: &str, start: u64, len: u64) -> Diagnostic {
    let text = format!("{what} of {}: a varint has at most 10", bytes(len));
    Diagnostic::new(Code::PbVarintTooLong, start, start.saturating_add(len), text)
        .help("damaged, or no Protobuf from here on")
}

impl<'a> Walker<'a> {
    /// Whether the end of the innermost message is a cut that has been told.
    fn is_cut(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.cut)
    }

    /// The innermost message has no sound end: what is missing there needs no further word.
    fn mark_cut(&mut self) {
        for frame in self.frames.iter_mut().rev() {
            frame.cut = true;
            if frame.group.is_none() {
                break;
            }
        }
    }

    /// The message ends inside a tag.
    pub(super) fn tag_cut(&mut self, len: u64) -> Flow {
        let end = self.at.saturating_add(len);
        if !self.is_cut() {
            let text = format!("the {} ends inside a tag: its last byte says that more follow", self.around());
            self.out.diagnostic(&Diagnostic::new(Code::PbFieldCut, self.at, end, text))?;
        }
        self.mark_cut();
        self.put(len, wire::TAG, Flags::ERROR)
    }

    /// `input`, or `message` inside it.
    fn around(&self) -> &'static str {
        match self.frames.last() {
            Some(frame) if frame.end < self.size => "message",
            _ => "input",
        }
    }

    pub(super) fn tag_too_long(&mut self) -> Flow {
        let room = self.room(limits::PIECE);
        let len = run_of_varint(self.input.at(self.at, room)?);
        let found = too_long("a tag", self.at, len);
        self.out.diagnostic(&found)?;
        self.mark_cut();
        self.unread()
    }

    /// A tag that no field can have: nobody knows what follows it.
    pub(super) fn bad_tag(&mut self, value: u64, len: u64) -> Flow {
        let end = self.at.saturating_add(len);
        let (number, bits) = (value >> 3, value & 7);
        let found = if number == 0 {
            Diagnostic::new(Code::PbFieldNumber, self.at, end, "field number 0: numbers begin at 1")
        } else if number > u64::from(wire::MAX_FIELD) {
            let text = format!("field number {number}: the largest is {} (2^29 - 1)", wire::MAX_FIELD);
            Diagnostic::new(Code::PbFieldNumber, self.at, end, text)
        } else {
            let text = format!("field {number} with wire type {bits}: there are 0 to 5");
            Diagnostic::new(Code::PbWireTypeUnknown, self.at, end, text)
        };
        let help = "damaged, or no Protobuf from here on; what is left of this message is not read";
        self.out.diagnostic(&found.help(help))?;
        self.mark_cut();
        self.unread()
    }

    /// The rest of the innermost message is one unread leaf; behind a pipe, several.
    fn unread(&mut self) -> Flow {
        let end = self.frames.last().map_or(self.at, |frame| frame.end);
        if end <= self.size && self.size != u64::MAX {
            let len = end.saturating_sub(self.at);
            return if len == 0 { Ok(()) } else { self.put_kind(len, Kind::UNREAD, Flags::ERROR) };
        }
        while self.at < end {
            let want = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(limits::PIECE);
            let there = len64(self.input.at(self.at, want)?.len());
            if there == 0 {
                return self.ended();
            }
            self.put_kind(there, Kind::UNREAD, Flags::ERROR)?;
        }
        Ok(())
    }

    /// A tag with nothing behind it.
    pub(super) fn value_missing(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        self.begin_cut(tag, reads)?;
        self.close()
    }

    /// A value or length that its bytes end inside of.
    pub(super) fn value_cut(&mut self, tag: Tag, reads: Reads<'a>, there: u64) -> Flow {
        if there == 0 {
            return self.value_missing(tag, reads);
        }
        let told = self.is_cut();
        let at = self.at.saturating_add(tag.len);
        if !told {
            let what = match tag.wire {
                WireType::Len => "a length whose last byte says that more follow".to_string(),
                WireType::I64 => format!("{there} of 8 bytes"),
                WireType::I32 => format!("{there} of 4 bytes"),
                _ => "a varint whose last byte says that more follow".to_string(),
            };
            let text = format!("field {} has {what}; the {} ends here", tag.number, self.around());
            self.out.diagnostic(&Diagnostic::new(Code::PbFieldCut, at, at.saturating_add(there), text))?;
        }
        self.mark_cut();
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        let code = match (tag.wire, reads) {
            (WireType::Len, _) => wire::LENGTH,
            (_, Reads::As(field)) => wire::value_kind(&field.kind),
            (WireType::I64, _) => wire::I64,
            (WireType::I32, _) => wire::I32,
            _ => wire::VARINT,
        };
        self.put(there, code, Flags::ERROR)?;
        self.close()
    }

    /// Opens a field that has nothing but its tag, and says so.
    fn begin_cut(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        let end = self.at.saturating_add(tag.len);
        if !self.is_cut() {
            let lacks = if tag.wire == WireType::Len { "length" } else { "value" };
            let text =
                format!("field {}, {}, has no {lacks}: the {} ends here", tag.number, tag.wire.name(), self.around());
            let byte = self.input.byte(self.at)?;
            let mut found = Diagnostic::new(Code::PbFieldCut, self.at, end, text);
            if byte == Some(b'\n') && self.frames.len() == 1 {
                found = found.help(format!(
                    "a single 0a at the end is most often a newline that an editor or echo added; without it \
                     (--length {}) the input is sound up to here",
                    self.at
                ));
            }
            self.out.diagnostic(&found)?;
        }
        self.mark_cut();
        self.say(&Said { words: "tag, nothing behind it", ..Said::default() })?;
        self.begin(tag, reads, GroupKind::Value, Flags::ERROR)
    }

    /// A varint or length of more than ten bytes. Behind a varint the walk goes on; a length that says
    /// nothing ends the message.
    pub(super) fn value_too_long(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        let room = self.room(limits::PIECE);
        let head = self.input.at(self.at, room)?;
        let len = run_of_varint(head.get(usize::try_from(tag.len).unwrap_or(0)..).unwrap_or(&[]));
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        let what = if tag.wire == WireType::Len { "a length" } else { "a varint" };
        let found = too_long(what, self.at, len);
        self.out.diagnostic(&found)?;
        if tag.wire != WireType::Len {
            self.put(len, wire::VARINT, Flags::ERROR)?;
            return self.close();
        }
        self.mark_cut();
        self.put(len, wire::LENGTH, Flags::ERROR)?;
        self.unread()?;
        self.close()
    }

    /// A finding on a length that reaches past the end of what is around it; none where the content would
    /// fit if what is around it were whole, since that cut has been told.
    pub(super) fn length_past_end(&mut self, content: Content) -> Option<Diagnostic> {
        let from = self.at.saturating_add(content.length_len);
        let end = from.saturating_add(content.there);
        let missing = content.announced.saturating_sub(content.there);
        let around = self.frames.iter().rev().find(|frame| frame.group.is_none());
        let inner = around.is_some_and(|frame| frame.end < self.size);
        let told = around.is_some_and(|frame| frame.cut);
        let whole = around.map_or(u64::MAX, |frame| frame.announced);
        if told && from.saturating_add(content.announced) <= whole {
            self.mark_cut();
            return None;
        }
        let what = if inner { "the message around it" } else { "the input" };
        let (wanted, is) = (from.saturating_add(content.announced), if missing == 1 { "is" } else { "are" });
        let text = format!(
            "the length of field {} says {}, {from:#04x}..{wanted:#04x}, but {what} ends at {end:#04x}: {missing} {is} missing",
            self.field_number,
            bytes(content.announced)
        );
        let field = self.field_at;
        let help = match (inner, told) {
            (false, false) => format!("cut off? Everything before {field:#04x} is sound"),
            _ => "the length or one of those around it is wrong".to_string(),
        };
        self.mark_cut();
        Some(Diagnostic::new(Code::PbLengthPastEnd, self.at, from, text).help(help))
    }

    /// A pipe has ended where a message is open.
    pub(super) fn input_ended(&mut self) -> Flow {
        let end = self.frames.last().map_or(u64::MAX, |frame| frame.end);
        if end != u64::MAX { self.ended_in_content(end) } else { self.ended() }
    }

    /// A pipe has ended where content up to `end` was announced.
    pub(super) fn ended_in_content(&mut self, end: u64) -> Flow {
        if !self.is_cut() {
            let missing = end.saturating_sub(self.at);
            let verb = if missing == 1 { "is" } else { "are" };
            let text = format!(
                "a length reaches to {end:#04x}, but the input ends at {:#04x}: {missing} {verb} missing",
                self.at
            );
            self.out.diagnostic(&Diagnostic::new(Code::PbLengthPastEnd, self.at, self.at, text).help("cut off?"))?;
        }
        for frame in &mut self.frames {
            frame.cut = true;
        }
        self.ended()
    }

    /// Nothing follows: all that is open ends here.
    fn ended(&mut self) -> Flow {
        for frame in &mut self.frames {
            frame.end = frame.end.min(self.at);
        }
        self.size = self.at;
        Ok(())
    }

    /// A group tag that ends a group.
    pub(super) fn end_group(&mut self, tag: Tag) -> Flow {
        let open = self.frames.iter().rev().take_while(|frame| frame.group.is_some());
        let depth = open.clone().position(|frame| frame.group == Some(tag.number));
        let innermost = self.frames.last().and_then(|frame| frame.group);
        let Some(depth) = depth else { return self.stray_end(tag, innermost) };
        if let Some(other) = innermost.filter(|_| depth > 0) {
            let text = format!("the end of group {} where group {other} is open", tag.number);
            let end = self.at.saturating_add(tag.len);
            self.out.diagnostic(&Diagnostic::new(Code::PbGroupEnd, self.at, end, text).help(END_HELP))?;
        }
        for _ in 0..depth {
            if let Some(frame) = self.frames.last_mut() {
                frame.cut = true;
            }
            self.end_message()?;
        }
        let flags = if depth > 0 { Flags::ERROR } else { Flags::NONE };
        self.check_required()?;
        self.put(tag.len, wire::EGROUP, flags)?;
        self.pop()
    }

    /// The end of a group that is not open: owned, and the walk goes on behind it.
    fn stray_end(&mut self, tag: Tag, innermost: Option<u32>) -> Flow {
        let end = self.at.saturating_add(tag.len);
        let text = match innermost {
            Some(other) => format!("the end of group {} where group {other} is open", tag.number),
            None => format!("the end of group {}, which never began", tag.number),
        };
        // The group that is open has its end here, if a wrong one.
        if innermost.is_some() {
            self.mark_cut();
        }
        self.open_field(GroupKind::Value, tag.number, self.declared(tag.number), 0)?;
        self.out.diagnostic(&Diagnostic::new(Code::PbGroupEnd, self.at, end, text).help(END_HELP))?;
        self.put(tag.len, wire::EGROUP, Flags::ERROR)?;
        self.close()
    }

    /// A group that the end of what is around it leaves open.
    pub(super) fn group_unended(&self, number: u32, start: u64) -> Diagnostic {
        let text = format!("group {number}, begun at {start:#04x}, has no end: the {} ends here", self.around());
        Diagnostic::new(Code::PbGroupUnended, self.at, self.at, text).help(if number == 15 {
            "cut off, or JSON: its first byte, {, is 0x7b, the beginning of group 15"
        } else {
            "cut off?"
        })
    }

    /// A message that lies too deep: one error, and one leaf for all that is in it.
    pub(super) fn too_deep(&mut self, tag: Tag, reads: Reads<'a>, content: Content) -> Flow {
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        let end = self.at.saturating_add(content.length_len).saturating_add(content.there);
        let found = self.depth_error(end);
        self.out.diagnostic(&found)?;
        self.put_length(Content { flags: Flags::ERROR, ..content }, wire::MESSAGE_LENGTH)?;
        if content.there > 0 {
            self.put_unread(content.there)?;
        }
        self.close()
    }

    fn put_unread(&mut self, len: u64) -> Flow {
        let end = self.at.saturating_add(len);
        while self.at < end {
            let left = end.saturating_sub(self.at);
            // A pipe may end before all that was announced has come.
            let want = if self.size == u64::MAX { left.min(len64(limits::PIECE)) } else { left };
            let there = if self.size == u64::MAX {
                len64(self.input.at(self.at, usize::try_from(want).unwrap_or(0))?.len())
            } else {
                want
            };
            if there > 0 {
                self.put_kind(there, Kind::UNREAD, Flags::ERROR)?;
            }
            if there < want {
                return self.ended_in_content(end);
            }
        }
        Ok(())
    }

    fn depth_error(&self, end: u64) -> Diagnostic {
        let text = format!("more than {} messages within each other", self.depth);
        Diagnostic::new(Code::PbDepth, self.at, end, text)
            .help("readers stop here, and what is inside is not decoded; --limit-depth N goes deeper")
    }

    /// A group that lies too deep: one error, and one leaf up to its end.
    pub(super) fn group_too_deep(&mut self, tag: Tag, reads: Reads<'a>) -> Flow {
        let room = self.room(limits::SAMPLE);
        let inside = self.input.at(self.at, room)?;
        let len = group_len(inside);
        self.open_field(GroupKind::Value, tag.number, self.declared(tag.number), 0)?;
        let _ = reads;
        let end = self.at.saturating_add(len.unwrap_or(len64(room)));
        let found = self.depth_error(end);
        self.out.diagnostic(&found)?;
        match len {
            Some(len) => self.put_kind(len, Kind::UNREAD, Flags::ERROR)?,
            None => {
                self.mark_cut();
                self.unread()?;
            }
        }
        self.close()
    }

    /// A tag longer than it need be: up to five bytes a warning, more than that readers refuse.
    pub(super) fn long_tag(&self, tag: Tag) -> Diagnostic {
        let shortest = wire::varint_len(wire::tag(tag.number, tag.wire));
        let end = self.at.saturating_add(tag.len);
        let extra = bytes(tag.len.saturating_sub(len64(shortest)));
        let text = format!("tag of field {} in {} bytes, {shortest} would do: {extra} more", tag.number, tag.len);
        if tag.len <= 5 {
            return Diagnostic::new(Code::PbNonMinimal, self.at, end, text);
        }
        Diagnostic::new(Code::PbVarintTooLong, self.at, end, text)
            .help("C++ and Python refuse a tag of more than five bytes; Java and Go take it")
    }

    /// A field in another wire type than its schema says.
    pub(super) fn clash(&self, tag: Tag, field: &Field) -> Diagnostic {
        let declared = WireType::of_kind(&field.kind).name();
        let text = format!(
            "field {}: {declared} expected, since {} is {} in the schema, and {} is on the wire",
            tag.number,
            field.name,
            self.type_words(&field.kind),
            tag.wire.name()
        );
        Diagnostic::new(Code::PbWireType, self.at, self.at.saturating_add(tag.len), text)
            .help("readers count it as an unknown field; is this the right schema and type?")
    }

    /// A field that may stand once, again.
    pub(super) fn again(&self, tag: Tag, field: &Field, before: u64) -> Diagnostic {
        let times = nth(before.saturating_add(1));
        let end = self.at.saturating_add(tag.len);
        if field.kind.message().is_some() {
            let text = format!("{} stands here for the {times} time: its parts are merged into one", field.name);
            return Diagnostic::new(Code::PbMerged, self.at, end, text);
        }
        let text = format!("{} stands here for the {times} time: the last one counts", field.name);
        Diagnostic::new(Code::PbLastWins, self.at, end, text)
    }

    /// A member of a oneof where another one stood before.
    pub(super) fn replaced(&self, tag: Tag, field: &Field, oneof: u32, earlier: u32) -> Diagnostic {
        let message = self.message_type();
        let name = |number| message.and_then(|message| message.field(number)).map_or("", |field| field.name.as_str());
        let oneof = usize::try_from(oneof).ok().and_then(|oneof| message?.oneofs.get(oneof)).map_or("", String::as_str);
        let text =
            format!("{} replaces {}: both are of oneof {oneof}, and the last one counts", field.name, name(earlier));
        Diagnostic::new(Code::PbOneofReplaced, self.at, self.at.saturating_add(tag.len), text)
    }

    /// A map key that the map has already.
    pub(super) fn key_twice(&self, tag: Tag, field: &Field, key: &str) -> Diagnostic {
        let text = format!(
            "{} has the key {} already: the last entry counts",
            field.name,
            crate::formats::quoted(key.as_bytes())
        );
        Diagnostic::new(Code::PbMapKeyTwice, self.at, self.at.saturating_add(tag.len), text)
    }

    /// A string that is not UTF-8: refused where the schema says so, else a warning.
    pub(super) fn bad_utf8(&mut self, field: &Field, start: u64, len: u64, at: u64, byte: u8) -> Result<Flags, Stop> {
        let place = start.saturating_add(at);
        let (code, help, flags) = match field.utf8 {
            true => (
                Code::PbInvalidUtf8,
                "readers refuse the message; a field that holds bytes should be declared bytes",
                Flags::ERROR,
            ),
            false => (
                Code::PbInvalidUtf8Lax,
                "most readers take it, since the schema does not ask for UTF-8 here; others replace or refuse it",
                Flags::WARNING,
            ),
        };
        let text = match byte {
            0 => format!("{} is declared string and is not UTF-8 at {place:#04x}", field.name),
            byte => format!("{} is declared string and is not UTF-8: byte {byte:02x} at {place:#04x}", field.name),
        };
        self.out.diagnostic(&Diagnostic::new(code, start, start.saturating_add(len), text).help(help))?;
        Ok(flags)
    }
}

const END_HELP: &str = "readers refuse the message here; damaged, or no Protobuf from here on";

/// `2nd`, `3rd`, `11th`
fn nth(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Length of the group that begins at the start of some bytes, if its end is among them.
fn group_len(bytes: &[u8]) -> Option<u64> {
    let mut open = 0usize;
    for field in Fields::new(bytes, true) {
        match field.wire {
            WireType::SGroup => open = open.saturating_add(1),
            WireType::EGroup => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return Some(len64(field.at.saturating_add(field.tag_len)));
        }
    }
    None
}
