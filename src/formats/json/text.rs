//! A cursor on a text that is read through a window: bytes ahead, and lines and columns.
//!
//! It holds what lies ahead in a buffer of its own, so that whole tokens can be looked at while
//! something is reported, and so that a short read at the end costs nothing more.

use std::fmt;

use crate::formats::json::wire::{CARRIAGE_RETURN, LINE_FEED};
use crate::model::limits::{PIECE, SAMPLE};
use crate::model::num::len64;
use crate::wire::reader::{ReadError, Window};

/// A line and a column, both from 1; columns count characters. A line ends with a line feed, a
/// carriage return, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The character in it.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

/// The cursor. Lines and columns are counted from a mark that only moves forward, so that asking
/// for many places costs one pass over the text in all.
pub struct Text<'a> {
    input: &'a mut Window,
    ahead: Vec<u8>,
    /// Position of the cursor in `ahead`.
    from: usize,
    /// Offset of the first byte of `ahead`.
    base: u64,
    ended: bool,
    mark: u64,
    place: Place,
    /// The character in front of the mark is a carriage return.
    behind_return: bool,
    /// Offsets whose places will be asked for late, in order, and the places of the first of them.
    kept: Vec<u64>,
    places: Vec<Place>,
}

impl<'a> Text<'a> {
    /// A cursor at the start of the input.
    pub fn new(input: &'a mut Window) -> Text<'a> {
        let place = Place { line: 1, column: 1 };
        Text {
            input,
            ahead: Vec::new(),
            from: 0,
            base: 0,
            ended: false,
            mark: 0,
            place,
            behind_return: false,
            kept: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Makes `want` bytes available ahead of the cursor, fewer only where the input ends.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn ensure(&mut self, want: usize) -> Result<(), ReadError> {
        if self.ended || self.rest().len() >= want { Ok(()) } else { self.fill(want) }
    }

    fn fill(&mut self, want: usize) -> Result<(), ReadError> {
        self.move_mark(self.offset());
        self.base = self.offset();
        self.ahead.drain(..self.from);
        self.from = 0;
        while self.ahead.len() < want && !self.ended {
            let piece = self.input.at(self.base.saturating_add(len64(self.ahead.len())), PIECE)?;
            self.ended = piece.len() < PIECE;
            self.ahead.extend_from_slice(piece);
        }
        Ok(())
    }

    /// The bytes ahead that are available.
    pub fn rest(&self) -> &[u8] {
        self.ahead.get(self.from..).unwrap_or(&[])
    }

    /// The next `len` bytes, or what there is of them.
    pub fn next(&self, len: usize) -> &[u8] {
        let rest = self.rest();
        rest.get(..len).unwrap_or(rest)
    }

    /// Bytes from an offset behind [`Text::rest`] on. On a pipe only those right behind it, as far as a
    /// sample goes: what is passed over there is lost.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn far_ahead(&mut self, at: u64) -> Result<&[u8], ReadError> {
        let next = self.base.saturating_add(len64(self.ahead.len()));
        match (self.input.size(), at == next) {
            (Some(_), _) => self.input.at(at, PIECE),
            (None, true) => self.input.at(at, SAMPLE),
            (None, false) => Ok(&[]),
        }
    }

    /// Whether the input has no byte behind those of [`Text::rest`].
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Offset of the cursor.
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(len64(self.from))
    }

    /// Moves the cursor over bytes that are available.
    pub fn skip(&mut self, len: usize) {
        self.from = self.from.saturating_add(len).min(self.ahead.len());
    }

    /// Line and column of an available offset; asked for in the order of the text.
    pub fn place(&mut self, offset: u64) -> Place {
        self.move_mark(offset);
        self.place
    }

    /// Keeps the place of the cursor until [`Text::forget`]. It is found when the mark passes it, so that
    /// what is forgotten before costs nothing.
    pub fn keep(&mut self) {
        self.kept.push(self.offset());
    }

    /// Forgets what was kept last.
    pub fn forget(&mut self) {
        self.kept.pop();
        self.places.truncate(self.kept.len());
    }

    /// The offsets that are kept, and their places, the last one first.
    pub fn kept(&mut self) -> impl Iterator<Item = (u64, Place)> {
        self.move_mark(self.offset());
        self.kept.iter().copied().zip(self.places.iter().copied()).rev()
    }

    fn move_mark(&mut self, to: u64) {
        while let Some(kept) = self.kept.get(self.places.len()).copied().filter(|kept| *kept <= to) {
            self.move_mark_only(kept);
            self.places.push(self.place);
        }
        self.move_mark_only(to);
    }

    fn move_mark_only(&mut self, to: u64) {
        let position = |offset: u64| usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let (start, end) = (position(self.mark), position(to).min(self.ahead.len()));
        let Some(mut passed) = self.ahead.get(start..end) else { return };
        let Some(end) = passed.last().copied() else { return };
        let lines = line_ends(passed, self.behind_return);
        if let Some(last) = memchr::memrchr2(LINE_FEED, CARRIAGE_RETURN, passed) {
            self.place = Place { line: self.place.line.saturating_add(lines), column: 1 };
            passed = passed.get(last.saturating_add(1)..).unwrap_or(&[]);
        }
        self.place.column = self.place.column.saturating_add(characters(passed));
        self.mark = to;
        self.behind_return = end == CARRIAGE_RETURN;
    }

    /// Moves the mark over the next `len` bytes, which are no column.
    pub fn pass_unseen(&mut self, len: usize) {
        self.mark = self.offset().saturating_add(len64(len));
    }
}

/// Number of line ends; a line feed behind a carriage return, which may stand in front of `bytes`, ends
/// no line of its own.
fn line_ends(bytes: &[u8], behind_return: bool) -> u64 {
    let feeds = len64(memchr::memchr_iter(LINE_FEED, bytes).count());
    let own = |at: usize| bytes.get(at.saturating_add(1)) != Some(&LINE_FEED);
    let returns = len64(memchr::memchr_iter(CARRIAGE_RETURN, bytes).filter(|at| own(*at)).count());
    let counted = behind_return && bytes.first() == Some(&LINE_FEED);
    feeds.saturating_add(returns).saturating_sub(u64::from(counted))
}

/// Number of UTF-8 characters, by the bytes that do not continue one.
fn characters(bytes: &[u8]) -> u64 {
    len64(bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_across_buffers() {
        let mut bytes = "é\n".repeat(PIECE).into_bytes();
        bytes.extend_from_slice("äb".as_bytes());
        let mut window = Window::memory(bytes);
        let mut text = Text::new(&mut window);
        assert_eq!(text.place(0), Place { line: 1, column: 1 });
        text.ensure(3).unwrap();
        assert_eq!(text.place(2), Place { line: 1, column: 2 });
        assert_eq!(text.place(3), Place { line: 2, column: 1 });
        while !text.ended() {
            text.skip(PIECE);
            text.ensure(PIECE).unwrap();
        }
        let end = len64(PIECE * 3 + 3);
        assert_eq!(text.place(end - 1), Place { line: len64(PIECE) + 1, column: 2 });
    }

    #[test]
    fn a_carriage_return_ends_a_line_and_the_line_feed_behind_it_no_other() {
        let bytes = b"a\r\nb\rc\n\rd\r\r\n";
        let lines = [1, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7];
        for step in 1..bytes.len() {
            let mut window = Window::memory(bytes.to_vec());
            let mut text = Text::new(&mut window);
            text.ensure(bytes.len()).unwrap();
            for (at, line) in lines.iter().enumerate().step_by(step) {
                // Between a carriage return and its line feed the line is the next one already.
                let within = at > 0 && bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n');
                assert_eq!(text.place(len64(at)).line, line + u64::from(within), "{at} by {step}");
            }
        }
    }
}
