//! LEN content of the walk that is no message: text, bytes, and the length in front of any content.

use super::decode::{Tag, Walker};
use super::fields::Reads;
use super::wire;
use crate::model::bytemap::{Flags, GroupKind};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Said, Stop};
use crate::model::limits;
use crate::model::num::len64;
use crate::model::schema::FieldKind;
use crate::model::utf8::Utf8;

/// LEN content as it stands in the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content {
    /// Bytes of the length.
    pub(super) length_len: u64,
    /// Bytes that the length announces.
    pub(super) announced: u64,
    /// Bytes that are there.
    pub(super) there: u64,
    /// The length, and the tag before it, have something odd.
    pub(super) flags: Flags,
}

impl Content {
    /// Whether it ends early.
    pub(super) fn is_cut(&self) -> bool {
        self.there < self.announced
    }
}

impl<'a> Walker<'a> {
    /// Declared text, checked for UTF-8.
    pub(super) fn text_field(&mut self, tag: Tag, reads: Reads<'a>, content: Content) -> Flow {
        let (Reads::As(field) | Reads::Packed(field) | Reads::Clash(field)) = reads else { return Ok(()) };
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        if content.there == 0 {
            self.say_empty("string \"\"", "\"\"", reads, content)?;
        }
        self.put_length(content, wire::LENGTH)?;
        self.say_content(reads, content)?;
        let start = self.at;
        if content.there <= len64(limits::PIECE) {
            let bytes = self.input.at(start, usize::try_from(content.there).unwrap_or(0))?;
            let bad = std::str::from_utf8(bytes).err().map(|error| (error.valid_up_to(), error.error_len()));
            // A character that the cut has split is the cut's fault.
            let bad = bad.filter(|(_, len)| len.is_some() || !content.is_cut());
            let mut flags = content.flags;
            if let Some((at, _)) = bad {
                let byte = bytes.get(at).copied().unwrap_or(0);
                flags = flags.with(self.bad_utf8(field, start, content.there, len64(at), byte)?);
            }
            self.put_content(content.there, wire::STRING, flags)?;
            return self.close();
        }
        let bad = self.put_long_text(content, wire::STRING)?;
        if let Some(at) = bad {
            self.bad_utf8(field, start, content.there, at, 0)?;
        }
        self.close()
    }

    /// Long text in pieces; the offset of the first byte that is not UTF-8, counted from its start.
    fn put_long_text(&mut self, content: Content, code: u8) -> Result<Option<u64>, Stop> {
        let mut check = Utf8::default();
        let (mut at, end) = (self.at, self.at.saturating_add(content.there));
        if self.size == u64::MAX {
            // Behind a pipe the pieces are leaves, and what has passed is gone.
            self.put_pieces(content.there, code, content.flags, &mut check)?;
            return Ok(check.finish().filter(|_| self.at == end));
        }
        while at < end {
            let want = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(limits::PIECE);
            check.feed(self.input.at(at, want)?);
            at = at.saturating_add(len64(want));
        }
        self.put_content(content.there, code, content.flags)?;
        Ok(check.finish().filter(|_| !content.is_cut()))
    }

    /// Declared bytes, or those of a type that could not be found.
    pub(super) fn bytes_field(&mut self, tag: Tag, reads: Reads<'a>, content: Content) -> Flow {
        self.begin(tag, reads, GroupKind::Value, Flags::NONE)?;
        if content.there == 0 {
            self.say_empty("bytes, 0", "\"\"", reads, content)?;
        }
        self.put_length(content, wire::LENGTH)?;
        match reads {
            Reads::As(field) => match &field.kind {
                FieldKind::Opaque(name) if self.wants => {
                    let more = format!(", type {name} not found");
                    self.out.say(&Said { more: &more, ..Said::default() })?;
                }
                _ => self.say_content(reads, content)?,
            },
            _ => self.say_content(reads, content)?,
        }
        self.put_content(content.there, wire::BYTES, content.flags)?;
        self.close()
    }

    /// Words on the length of content that has no byte and so no leaf.
    pub(super) fn say_empty(&mut self, words: &str, value: &str, reads: Reads<'a>, content: Content) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let words = if content.is_cut() { "nothing" } else { words };
        let more = self.more_of(reads, content);
        self.out.say(&Said { words, more: &more, value: Some(value), ..Said::default() })
    }

    /// Words behind what LEN content says.
    fn say_content(&mut self, reads: Reads<'a>, content: Content) -> Flow {
        if !self.wants || content.there == 0 {
            return Ok(());
        }
        let more = self.more_of(reads, content);
        let is_text = matches!(reads, Reads::As(field) if field.kind == FieldKind::String);
        let words = if content.is_cut() && !is_text { "bytes" } else { "" };
        if more.is_empty() { Ok(()) } else { self.out.say(&Said { words, more: &more, ..Said::default() }) }
    }

    /// What is said behind the meaning of LEN content: how much of it is there comes first.
    pub(super) fn more_of(&self, reads: Reads<'a>, content: Content) -> String {
        let more = self.more(reads);
        if !content.is_cut() {
            return more;
        }
        format!(", {} of {}{more}", content.there, crate::model::num::bytes(content.announced))
    }

    /// Claims a length, with what is wrong with it; the words on it are said before.
    pub(super) fn put_length(&mut self, content: Content, code: u8) -> Flow {
        let mut flags = content.flags;
        let start = self.at;
        if content.is_cut() {
            if let Some(found) = self.length_past_end(content) {
                self.out.diagnostic(&found)?;
            }
            flags = flags.with(Flags::ERROR);
        }
        let shortest = len64(wire::varint_len(content.announced));
        if content.length_len > shortest {
            let extra = crate::model::num::bytes(content.length_len.saturating_sub(shortest));
            let text = format!(
                "length {} in {} bytes, {shortest} would do: {extra} more",
                content.announced, content.length_len
            );
            let end = start.saturating_add(content.length_len);
            self.out.diagnostic(&Diagnostic::new(Code::PbNonMinimal, start, end, text))?;
            flags = flags.with(Flags::WARNING);
        }
        self.put(content.length_len, code, flags)
    }

    /// Claims LEN content. Behind a pipe, what is too long to look at first comes as leaves of one piece
    /// each, since nobody knows whether all of it is there.
    pub(super) fn put_content(&mut self, len: u64, code: u8, flags: Flags) -> Flow {
        if len == 0 {
            return Ok(());
        }
        if self.size != u64::MAX || len <= len64(limits::PIECE) {
            return self.put(len, code, flags);
        }
        self.put_pieces(len, code, flags, &mut Utf8::default())
    }

    /// Content behind a pipe, piece by piece, each of which `check` gets to see.
    fn put_pieces(&mut self, len: u64, code: u8, flags: Flags, check: &mut Utf8) -> Flow {
        let end = self.at.saturating_add(len);
        while self.at < end {
            let want = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(limits::PIECE);
            let bytes = self.input.at(self.at, want)?;
            let there = len64(bytes.len());
            if code == wire::STRING {
                check.feed(bytes);
            }
            if there > 0 {
                self.put(there, code, flags.with(Flags::PIECE))?;
            }
            if there < len64(want) {
                return self.ended_in_content(end);
            }
        }
        Ok(())
    }
}
