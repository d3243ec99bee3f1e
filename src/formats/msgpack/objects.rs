//! Objects that are no containers: head, then content, held whole or passed on in pieces.

use super::decode::Walker;
use super::read;
use super::wire::{self, First};
use crate::model::bytemap::{Flags, Kind, Leaf, NO_GROUP};
use crate::model::events::{Flow, Stop};
use crate::model::limits;
use crate::model::num::len64;
use crate::model::utf8::Utf8;
use crate::model::value::{Event, Long};

impl Walker<'_> {
    /// An object that is no container: head, then content.
    pub(super) fn blob(&mut self, first: First, flags: Flags) -> Flow {
        let (start, head_len) = (self.at, first.head_bytes());
        let whole_head = usize::try_from(head_len).unwrap_or(0);
        let head = self.input.at(start, whole_head)?;
        if head.len() < whole_head {
            let sizes = len64(head.len()).saturating_sub(1);
            return self.cut_head(first, sizes);
        }
        let sizes = first.sizing_bytes();
        let len = first.content_len(head);
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
        let parts = [(1, first.kind), (sizes, wire::LENGTH), (u64::from(first.is_ext()), wire::EXT_TYPE), (len, kind)];
        let mut rest = all;
        for (bytes, code) in parts {
            let Some((part, behind)) = usize::try_from(bytes).ok().and_then(|bytes| rest.split_at_checked(bytes))
            else {
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
    pub(super) fn put_head(&mut self, first: First, sizes: u64, flags: Flags) -> Flow {
        self.put(1, first.kind, flags)?;
        self.put(sizes, wire::LENGTH, flags)?;
        self.put(u64::from(first.is_ext()), wire::EXT_TYPE, flags)
    }

    /// Content too long to hold: in pieces. Where the size of the input is known it is one leaf.
    pub(super) fn long(&mut self, first: First, kind: u8, len: u64, flags: Flags) -> Flow {
        let (start, of) = (self.at, read::long_of(first, self.input.at(self.at, 6)?));
        let begin = start.saturating_add(first.head_bytes());
        // Behind a pipe nobody knows whether all of it will come, so that each piece is a leaf of its own.
        let there = self.input.size().map(|size| size.saturating_sub(begin).min(len));
        let flags = if there.is_some_and(|there| there < len) { flags.with(Flags::ERROR) } else { flags };
        self.put_head(first, first.sizing_bytes(), flags)?;
        self.begin_long_key(flags, of);
        let leaf = self.leaf_to(begin.saturating_add(there.unwrap_or(0)), kind, flags);
        let utf8 = self.pieces(&leaf, of, len)?;
        self.end_long(first, utf8, begin, len)?;
        self.end_long_key(flags, start)
    }

    /// Passes on content piece by piece. `whole` is its leaf, empty where the end of the input is not known.
    fn pieces(&mut self, whole: &Leaf, of: Long, len: u64) -> Result<Utf8, Stop> {
        let begin = self.at;
        let mut utf8 = Utf8::default();
        let mut last = false;
        while !last {
            let done = self.at.saturating_sub(begin);
            let wanted = usize::try_from(len.saturating_sub(done)).unwrap_or(limits::PIECE).min(limits::PIECE);
            let bytes = self.input.at(self.at, wanted)?;
            let end = self.at.saturating_add(len64(bytes.len()));
            last = bytes.len() < wanted || end.saturating_sub(begin) >= len;
            match (whole.is_empty(), bytes.is_empty()) {
                (_, true) => {}
                (true, false) => {
                    let leaf = Leaf { start: self.at, end, ..*whole };
                    self.out.leaf(&leaf.flagged(Flags::PIECE), bytes)?;
                }
                (false, false) if done == 0 => self.out.leaf(whole, bytes)?,
                (false, false) => self.out.more(bytes)?,
            }
            if of == Long::Text {
                utf8.feed(bytes);
            }
            if whole.flags.has(Flags::KEY) {
                self.keys.feed(bytes);
            }
            if self.values {
                self.out.value(Event::Piece { of, total: Some(len), bytes, first: done == 0, last })?;
            }
            self.at = end;
        }
        Ok(utf8)
    }

    /// Findings on long content, known behind it.
    pub(super) fn end_long(&mut self, first: First, utf8: Utf8, begin: u64, len: u64) -> Flow {
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
}
