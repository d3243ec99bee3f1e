//! Packed runs: the elements of a repeated field behind one tag and one length.

use std::fmt::Write as _;

use super::content::Content;
use super::decode::{HEAD, Tag, Walker, ahead};
use super::fields::Reads;
use super::guess::Guess;
use super::wire::{self, Varint, WireType};
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Stop};
use crate::model::limits;
use crate::model::num::{bytes, len64, push_number, push_offset};
use crate::model::schema::{Field, FieldKind};

/// Bytes of a run up to which its place is not told.
const FEW: u64 = 8;

/// What the elements of a run are.
#[derive(Clone, Copy)]
struct Elements<'a> {
    field: Option<&'a Field>,
    /// Kind of their leaves.
    code: u8,
    /// Bytes of each; none for varints.
    width: Option<u64>,
    /// Offset behind the run.
    end: u64,
    /// The run ends early, and that has been said.
    cut: bool,
}

impl<'a> Walker<'a> {
    /// A packed run: declared as `field`, or taken for one.
    pub(super) fn packed_field(
        &mut self,
        tag: Tag,
        reads: Reads<'a>,
        content: Content,
        field: Option<&'a Field>,
        guess: Guess,
    ) -> Flow {
        let first = self.frames.last_mut().map_or(0, |frame| frame.seen.add(tag.number, 1));
        self.open_run(tag.number, field)?;
        self.odd_field(tag, reads, first)?;
        self.put_tag(tag, reads, Flags::NONE)?;
        let from = self.at.saturating_add(content.length_len);
        let (code, wire) = match (field, guess) {
            (Some(field), _) => (wire::value_kind(&field.kind), WireType::of_kind(&field.kind)),
            (None, Guess::Fixed32) => (wire::I32, WireType::I32),
            (None, Guess::Fixed64) => (wire::I64, WireType::I64),
            (None, _) => (wire::VARINT, WireType::Varint),
        };
        let width = match wire {
            WireType::I32 => Some(4),
            WireType::I64 => Some(8),
            _ => None,
        };
        let end = from.saturating_add(content.there);
        let elements = Elements { field, code, width, end, cut: content.is_cut() };
        self.say_packed(reads, content, from, elements)?;
        self.put_length(content, wire::PACKED_LENGTH)?;
        let count = match width {
            Some(width) => self.fixed_elements(elements, width, first)?,
            None => self.varint_elements(elements, first)?,
        };
        if let Some(frame) = self.frames.last_mut() {
            // One was counted when the field began.
            frame.seen.add(tag.number, count.saturating_sub(1));
        }
        self.close()
    }

    /// `packed 3 uint32, 9 bytes 0x84..0x8d:`
    fn say_packed(&mut self, reads: Reads<'a>, content: Content, from: u64, elements: Elements<'a>) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let count = match elements.width {
            Some(width) => Some(content.there.checked_div(width).unwrap_or(0)),
            None if content.there <= len64(limits::PIECE) => {
                let inside = ahead(self.input, self.at, from, usize::try_from(content.there).unwrap_or(0))?;
                Some(len64(inside.iter().filter(|byte| **byte < 0x80).count()))
            }
            None => None,
        };
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words.push_str("packed ");
        if let Some(count) = count {
            push_number(&mut words, count);
            words.push(' ');
        }
        match elements.field.map(|field| (field.kind.keyword(), field)) {
            Some((Some(keyword), _)) => words.push_str(keyword),
            Some((None, field)) => words.push_str(&self.type_words(&field.kind)),
            None => words.push_str(wire::KINDS.get(usize::from(elements.code)).map_or("values", |info| info.name)),
        }
        let _ = match content.is_cut() {
            true => write!(words, ", {} of {}", content.there, bytes(content.announced)),
            // Of a few values the numbers say more than the place.
            false if content.there <= FEW && elements.width.is_none() => Ok(()),
            false => {
                words.push_str(", ");
                push_number(&mut words, content.there);
                words.push_str(if content.there == 1 { " byte " } else { " bytes " });
                push_offset(&mut words, from);
                words.push_str("..");
                push_offset(&mut words, elements.end);
                Ok(())
            }
        };
        words.push_str(&self.more(reads));
        if elements.width.is_none() && content.there > 0 {
            words.push(':');
        }
        self.out.say(&Said { words: &words, ..Said::default() })?;
        self.words = words;
        Ok(())
    }

    fn fixed_elements(&mut self, elements: Elements<'a>, width: u64, first: u64) -> Result<u64, Stop> {
        let mut count = 0u64;
        while self.at < elements.end {
            let left = elements.end.saturating_sub(self.at);
            let want = usize::try_from(left.min(width)).unwrap_or(8);
            let there = len64(self.input.at(self.at, want)?.len());
            if there < left.min(width) {
                self.ended_in_content(elements.end)?;
                break;
            }
            if there < width {
                let text = format!("{} left over, each element has {width}", bytes(there));
                if !elements.cut {
                    let end = self.at.saturating_add(there);
                    self.out.diagnostic(&Diagnostic::new(Code::PbPackedRemainder, self.at, end, text))?;
                }
                self.put(there, elements.code, Flags::ERROR.with(Flags::ELEMENT))?;
                break;
            }
            self.open(GroupKind::Item, Step::Index(first.saturating_add(count)))?;
            self.put(width, elements.code, Flags::NONE)?;
            self.close()?;
            count = count.saturating_add(1);
        }
        Ok(count)
    }

    fn varint_elements(&mut self, elements: Elements<'a>, first: u64) -> Result<u64, Stop> {
        let mut count = 0u64;
        while self.at < elements.end {
            let left = usize::try_from(elements.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let head = self.input.at(self.at, HEAD.min(left))?;
            if head.is_empty() {
                self.ended_in_content(elements.end)?;
                break;
            }
            let overflows = wire::varint_overflows(head);
            let (value, len) = match wire::varint(head) {
                Varint::Whole(value, len) => (value, len64(len)),
                Varint::Cut(there) => {
                    self.cut_element(elements, len64(there))?;
                    break;
                }
                Varint::TooLong => {
                    self.long_element(elements)?;
                    count = count.saturating_add(1);
                    continue;
                }
            };
            self.open(GroupKind::Element, Step::Index(first.saturating_add(count)))?;
            let start = self.at;
            let mut flags = Flags::ELEMENT;
            if len > 1 {
                flags = flags.with(self.odd_varint(start, len, value, overflows)?);
            }
            if let Some(field) = elements.field {
                if len > 4 {
                    flags = flags.with(self.odd_value(start, len, value, &field.kind)?);
                }
                if matches!(field.kind, FieldKind::Enum(_)) {
                    self.say_varint(field, value)?;
                }
            }
            self.put(len, elements.code, flags)?;
            self.close()?;
            count = count.saturating_add(1);
        }
        Ok(count)
    }

    /// The run ends inside a varint.
    fn cut_element(&mut self, elements: Elements<'a>, there: u64) -> Flow {
        if !elements.cut {
            let text = "the packed run ends inside a varint: the last byte says that more follow";
            let end = self.at.saturating_add(there);
            self.out.diagnostic(&Diagnostic::new(Code::PbFieldCut, self.at, end, text))?;
        }
        self.put(there, elements.code, Flags::ERROR.with(Flags::ELEMENT))
    }

    /// An element of more than ten bytes: owned up to its end, then the walk goes on.
    fn long_element(&mut self, elements: Elements<'a>) -> Flow {
        let left = usize::try_from(elements.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let there = super::damage::run_of_varint(self.input.at(self.at, left.min(limits::PIECE))?);
        let found = super::damage::too_long("an element", self.at, there);
        self.out.diagnostic(&found)?;
        self.put(there, elements.code, Flags::ERROR.with(Flags::ELEMENT))
    }
}
