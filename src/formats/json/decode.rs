//! The walker: reports every byte of a JSON text, its values, and what is wrong with it.
//!
//! One step looks at one token and at what is due in the innermost container. Each step either
//! consumes a token or changes what is due to something that will, so the walk always ends. What a
//! step does with a token that is not due stands in [`super::recover`], what a token is made of in
//! [`super::tokens`].
//!
//! ```text
//! object   First ── name ──> Colon ── : ──> Value ── value ──> Next ── , ──> Item ── name ──> Colon …
//! array    First ── value ─> Next ── , ──> Item ── value ──> Next …
//! ```
//!
//! The group of a member or element stays open until the next one begins, so that it owns the comma
//! and the white space behind it.

use std::borrow::Cow;

use crate::formats::Context;
use crate::formats::json::recover::LEAST;
use crate::formats::json::strings::Scan;
use crate::formats::json::text::{Place, Text};
use crate::formats::json::wire::{BYTE_ORDER_MARK, Bracket, Class, Token, UTF16_MARKS, class, is_white};
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, Step};
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::keys::{Keys, Scope};
use crate::model::limits::{PIECE, SAMPLE};
use crate::model::num::len64;
use crate::model::value::{Event, Long, Scalar, Shape};
use crate::wire::reader::Window;

/// The group around everything.
const ROOT: GroupId = 0;
/// Bytes at the start from which UTF-16 is recognised by its zeros.
const UTF16_PROBE: usize = 16;

/// What is due in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// The first name or element, or the end.
    First,
    /// A name or element, behind a comma.
    Item,
    /// A colon, behind a name.
    Colon,
    /// The value of a member.
    Value,
    /// A comma or the end.
    Next,
}

/// An open container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) bracket: Bracket,
    pub(super) due: Due,
    pub(super) scope: Scope,
    group: GroupId,
    pub(super) items: u64,
}

/// Where the input ended before a value did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Not,
    Escape,
    String,
    Name,
    Number,
    Literal,
}

/// The state of one walk.
pub(super) struct Walker<'a> {
    pub(super) text: Text<'a>,
    pub(super) out: &'a mut dyn Sink,
    owner: u8,
    depth: usize,
    pub(super) frames: Vec<Frame>,
    /// The group of the member, element or document that began last, while it is no open container.
    item: Option<GroupId>,
    groups: GroupId,
    pub(super) wants: bool,
    /// Flags of the next leaf, from the findings that speak of it.
    flags: Flags,
    /// Start of the last error: one place has one.
    last_error: Option<u64>,
    pub(super) documents: u64,
    pub(super) cut: Cut,
    /// Where the last string or name begins.
    pub(super) string_at: u64,
    /// Offset behind the quote that ended the last string or name.
    pub(super) behind_quote: Option<u64>,
    pub(super) scan: Scan,
    pub(super) keys: Keys,
    pub(super) keys_told: bool,
}

/// Walks `input` and reports to `out`.
///
/// # Errors
/// What stopped the walk.
pub fn decode(input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    let wants = out.wants_values();
    let mut walker = Walker {
        text: Text::new(input),
        out,
        owner: context.owner,
        depth: context.depth,
        frames: Vec::new(),
        item: None,
        groups: 0,
        wants,
        flags: Flags::NONE,
        last_error: None,
        documents: 0,
        cut: Cut::Not,
        string_at: 0,
        behind_quote: None,
        scan: Scan::default(),
        keys: Keys::default(),
        keys_told: false,
    };
    walker.run()
}

impl Walker<'_> {
    fn run(&mut self) -> Flow {
        self.open_group(NO_GROUP, GroupKind::Root, Step::None)?;
        self.text.ensure(PIECE)?;
        if self.text.rest().is_empty() {
            let found = Diagnostic::new(Code::EmptyInput, 0, 0, "expected a JSON text, found no byte").help(LEAST);
            self.out.diagnostic(&found)?;
        } else if looks_like_utf16(self.text.next(UTF16_PROBE)) {
            self.utf16()?;
        } else {
            self.byte_order_mark()?;
            while self.step()? {}
            self.end_of_input()?;
        }
        self.out.close(ROOT, self.text.offset())
    }

    /// Takes one token and the white space in front of it. False at the end of the input.
    fn step(&mut self) -> Result<bool, Stop> {
        self.text.ensure(PIECE)?;
        self.white_space()?;
        let Some(&byte) = self.text.rest().first() else { return Ok(false) };
        if class(byte) == Class::Other && (self.comment(byte)? || self.odd_space()? || self.control_character(byte)?) {
            return Ok(true);
        }
        let due = self.frames.last().map(|frame| (frame.bracket, frame.due));
        match due {
            None => self.document(byte)?,
            Some((_, Due::Next)) => self.behind_item(byte)?,
            Some((Bracket::Array, _)) => self.element(byte)?,
            Some((Bracket::Object, Due::Colon)) => self.colon(byte)?,
            Some((Bracket::Object, Due::Value)) => self.member_value(byte)?,
            Some((Bracket::Object, Due::First | Due::Item)) => self.member(byte)?,
        }
        Ok(true)
    }

    fn white_space(&mut self) -> Flow {
        if self.text.rest().first().copied().is_some_and(is_white) {
            let kind = Token::WhiteSpace.kind(self.owner);
            self.leaf_until(kind, |bytes| bytes.iter().position(|byte| !is_white(*byte)))?;
            self.text.ensure(PIECE)?;
        }
        Ok(())
    }

    fn byte_order_mark(&mut self) -> Flow {
        if !self.text.rest().starts_with(&BYTE_ORDER_MARK) {
            return Ok(());
        }
        let len = BYTE_ORDER_MARK.len();
        let sentence = "a byte order mark stands in front of the text";
        let help = "RFC 8259 section 8.1 forbids to write one, and some readers refuse it: save as UTF-8 without BOM";
        self.report(Code::JsonByteOrderMark, len, sentence, help)?;
        self.text.pass_unseen(len);
        self.leaf(Token::ByteOrderMark, len, Flags::NONE)
    }

    fn utf16(&mut self) -> Flow {
        let help = "JSON is UTF-8: convert it first, for example with iconv -f UTF-16 -t UTF-8";
        self.report(Code::JsonSyntax, UTF16_PROBE, "expected UTF-8, found text in UTF-16", help)?;
        self.leaf_until(Kind::UNREAD, |_| None)
    }

    /// A document is due.
    fn document(&mut self, byte: u8) -> Flow {
        if !self.begins_document(self.text.rest(), self.documents == 0) {
            return self.no_document();
        }
        let numbered = self.documents > 0 || self.another_follows()?;
        let step = if numbered { Step::Message(self.documents) } else { Step::None };
        self.value_event(Event::Message(self.documents))?;
        self.documents = self.documents.saturating_add(1);
        self.open_item(group_kind(Some(byte)), step)?;
        self.value(byte)
    }

    /// An element of an array is due, or its end.
    fn element(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Close(bracket) => self.close(bracket),
            Class::Comma | Class::Colon => self.no_element(byte),
            Class::Quote if self.name_in_array()? => Ok(()),
            Class::Quote | Class::Open(_) | Class::Word | Class::Other => {
                let index = self.frames.last().map_or(0, |frame| frame.items);
                self.open_item(group_kind(Some(byte)), Step::Index(index))?;
                self.value(byte)
            }
        }
    }

    /// A name is due, or the end of the object.
    fn member(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Quote => self.name(),
            Class::Close(bracket) => self.close(bracket),
            Class::Comma | Class::Colon | Class::Open(_) | Class::Word | Class::Other => self.no_name(byte),
        }
    }

    /// The colon behind a name is due.
    fn colon(&mut self, byte: u8) -> Flow {
        if class(byte) != Class::Colon {
            return self.no_colon(byte);
        }
        self.set_due(Due::Value);
        self.leaf(Token::Colon, 1, Flags::NONE)
    }

    /// The value of a member is due.
    fn member_value(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Colon | Class::Comma | Class::Close(_) => self.no_value(byte),
            Class::Quote | Class::Open(_) | Class::Word | Class::Other => self.value(byte),
        }
    }

    /// A comma is due, or the end of the container.
    fn behind_item(&mut self, byte: u8) -> Flow {
        match class(byte) {
            Class::Comma => {
                self.set_due(Due::Item);
                self.leaf(Token::Comma, 1, Flags::NONE)
            }
            Class::Close(bracket) => self.close(bracket),
            Class::Quote | Class::Open(_) | Class::Colon | Class::Word | Class::Other => self.no_comma(byte),
        }
    }

    /// A value in the group of its item.
    fn value(&mut self, byte: u8) -> Flow {
        self.set_due(Due::Next);
        match class(byte) {
            Class::Quote => self.string(),
            Class::Open(bracket) => self.begin(bracket),
            Class::Word => self.word(byte),
            Class::Colon | Class::Comma | Class::Close(_) | Class::Other => self.odd_value(),
        }
    }

    fn begin(&mut self, bracket: Bracket) -> Flow {
        if self.frames.len() >= self.depth {
            return self.too_deep(self.depth);
        }
        self.text.keep();
        self.leaf(bracket.begin(), 1, Flags::NONE)?;
        self.value_event(Event::Begin(shape(bracket), None))?;
        let group = self.item.take().unwrap_or(ROOT);
        let scope = self.keys.begin();
        self.frames.push(Frame { bracket, due: Due::First, scope, group, items: 0 });
        Ok(())
    }

    /// A closing bracket.
    fn close(&mut self, bracket: Bracket) -> Flow {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        self.close_item()?;
        if frame.bracket != bracket {
            self.wrong_bracket(bracket)?;
        } else if frame.due == Due::Item {
            self.trailing_comma()?;
        }
        self.close_item()?;
        self.leaf(bracket.end(), 1, Flags::NONE)?;
        self.pop()
    }

    /// The innermost container is complete, with or without its bracket.
    pub(super) fn pop(&mut self) -> Flow {
        self.close_item()?;
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        self.text.forget();
        if matches!(frame.due, Due::Colon | Due::Value) {
            self.missing()?;
        }
        self.keys.end(frame.scope);
        self.item = Some(frame.group);
        self.value_event(Event::End)
    }

    fn end_of_input(&mut self) -> Flow {
        self.report_end()?;
        while !self.frames.is_empty() {
            self.pop()?;
        }
        self.close_item()
    }

    /// What is due next in the innermost container.
    pub(super) fn set_due(&mut self, due: Due) {
        if let Some(frame) = self.frames.last_mut() {
            frame.due = due;
        }
    }

    /// The group of the next member, element or document opens; that of the last one closes.
    pub(super) fn open_item(&mut self, kind: GroupKind, step: Step<'_>) -> Flow {
        self.close_item()?;
        let parent = self.frames.last().map_or(ROOT, |frame| frame.group);
        if let Some(frame) = self.frames.last_mut() {
            frame.items = frame.items.saturating_add(1);
        }
        let group = self.open_group(parent, kind, step)?;
        self.item = Some(group);
        Ok(())
    }

    pub(super) fn close_item(&mut self) -> Flow {
        match self.item.take() {
            Some(group) => self.out.close(group, self.text.offset()),
            None => Ok(()),
        }
    }

    fn open_group(&mut self, parent: GroupId, kind: GroupKind, step: Step<'_>) -> Result<GroupId, Stop> {
        let id = self.groups;
        self.groups = id.saturating_add(1);
        self.out.open(&Group { id, parent, kind, step, start: self.text.offset(), again: false })?;
        Ok(id)
    }

    pub(super) fn missing(&mut self) -> Flow {
        self.value_event(Event::Scalar(Scalar::Missing))
    }

    pub(super) fn value_event(&mut self, event: Event<'_>) -> Flow {
        if self.wants { self.out.value(event) } else { Ok(()) }
    }

    /// Sends the bytes of the last scan, or what they stand for, as text or a part of it.
    pub(super) fn send_text(&mut self, from: usize, part: Option<(bool, bool)>) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let written = self.text.rest().get(from..).and_then(|rest| rest.get(..self.scan.len)).unwrap_or(&[]);
        let bytes = if self.scan.plain { written } else { &self.scan.text };
        self.out.value(match part {
            None => Event::Scalar(Scalar::Text(Cow::Borrowed(bytes))),
            Some((first, last)) => Event::Piece { of: Long::Text, total: None, bytes, first, last },
        })
    }

    /// The next `len` bytes as bytes that nobody could place.
    pub(super) fn unread(&mut self, len: usize) -> Flow {
        self.emit(Kind::UNREAD, len, Flags::NONE)
    }

    /// The next `len` bytes as a leaf.
    pub(super) fn leaf(&mut self, token: Token, len: usize, flags: Flags) -> Flow {
        self.emit(token.kind(self.owner), len, flags)
    }

    /// The next `len` bytes, all of which are available, as a leaf.
    fn emit(&mut self, kind: Kind, len: usize, flags: Flags) -> Flow {
        let start = self.text.offset();
        let group = self.item.or(self.frames.last().map(|frame| frame.group)).unwrap_or(ROOT);
        let flags = flags.with(std::mem::take(&mut self.flags));
        let leaf = Leaf::new(start, start.saturating_add(len64(len)), group, kind).flagged(flags);
        let mut pieces = self.text.next(len).chunks(PIECE);
        self.out.leaf(&leaf, pieces.next().unwrap_or(&[]))?;
        for piece in pieces {
            self.out.more(piece)?;
        }
        self.text.skip(len);
        Ok(())
    }

    /// A leaf up to where `end` says, which is given the bytes one run after the other. Memory has
    /// its bound: what is longer than [`SAMPLE`] becomes several leaves, marked as pieces.
    pub(super) fn leaf_until(&mut self, kind: Kind, mut end: impl FnMut(&[u8]) -> Option<usize>) -> Flow {
        let status = self.flags;
        let mut pieces = Flags::NONE;
        loop {
            let (len, found) = self.look_ahead(&mut end)?;
            if !found && (!self.text.ended() || len < self.text.rest().len()) {
                pieces = Flags::PIECE;
            }
            if len > 0 {
                self.emit(kind, len, status.with(pieces))?;
            }
            self.text.ensure(PIECE)?;
            if found || self.text.rest().is_empty() {
                return Ok(());
            }
        }
    }

    /// How many bytes lie in front of where `end` says, and whether it said so at all.
    fn look_ahead(&mut self, end: &mut impl FnMut(&[u8]) -> Option<usize>) -> Result<(usize, bool), Stop> {
        let mut len = 0usize;
        while len < SAMPLE {
            let fresh = match self.text.rest().get(len..) {
                Some(fresh) if !fresh.is_empty() => fresh,
                _ => {
                    self.text.ensure(len.saturating_add(PIECE))?;
                    self.text.rest().get(len..).unwrap_or(&[])
                }
            };
            if fresh.is_empty() {
                break;
            }
            if let Some(more) = end(fresh) {
                return Ok((len.saturating_add(more), true));
            }
            len = len.saturating_add(fresh.len());
        }
        Ok((len, false))
    }

    /// Reports something about the next `len` bytes.
    pub(super) fn report(&mut self, code: Code, len: usize, sentence: &str, help: &str) -> Flow {
        self.report_at(code, 0, len, sentence, help)
    }

    /// Reports something about the `len` bytes that begin `from` bytes ahead.
    pub(super) fn report_at(&mut self, code: Code, from: usize, len: usize, sentence: &str, help: &str) -> Flow {
        let start = self.text.offset().saturating_add(len64(from));
        let there = self.text.rest().len().saturating_sub(from).min(len);
        let place = self.text.place(start);
        self.report_placed(code, (start, start.saturating_add(len64(there))), place, sentence, help)
    }

    /// Reports something about bytes some of which may have passed.
    pub(super) fn report_placed(
        &mut self,
        code: Code,
        (start, end): (u64, u64),
        place: Place,
        sentence: &str,
        help: &str,
    ) -> Flow {
        match code.severity() {
            Severity::Error => {
                self.flags = self.flags.with(Flags::ERROR);
                if self.last_error.replace(start) == Some(start) {
                    return Ok(());
                }
            }
            Severity::Warning => self.flags = self.flags.with(Flags::WARNING),
            Severity::Note => {}
        }
        let found = Diagnostic::new(code, start, end, format!("{place}: {sentence}")).help(help);
        self.out.diagnostic(&found)
    }

    /// Whether an error has been reported.
    pub(super) fn has_erred(&self) -> bool {
        self.last_error.is_some()
    }

    /// Kind of leaf of a token, for [`Walker::leaf_until`].
    pub(super) fn kind(&self, token: Token) -> Kind {
        token.kind(self.owner)
    }
}

/// The kind of group of an item, by the first byte of its value.
pub(super) fn group_kind(byte: Option<u8>) -> GroupKind {
    match byte.map(class) {
        Some(Class::Open(Bracket::Object)) => GroupKind::Map,
        Some(Class::Open(Bracket::Array)) => GroupKind::List,
        _ => GroupKind::Value,
    }
}

fn shape(bracket: Bracket) -> Shape {
    match bracket {
        Bracket::Object => Shape::Map,
        Bracket::Array => Shape::List,
    }
}

/// Whether a text begins as UTF-16 does: with its byte order mark, or with every second byte zero.
fn looks_like_utf16(start: &[u8]) -> bool {
    let zeros = |first: usize| start.iter().skip(first).step_by(2).all(|byte| *byte == 0);
    let others = |first: usize| start.iter().skip(first).step_by(2).all(|byte| *byte != 0);
    let halves = start.len() >= 4 && start.len().is_multiple_of(2);
    UTF16_MARKS.iter().any(|mark| start.starts_with(mark)) || halves && (zeros(0) && others(1) || zeros(1) && others(0))
}
