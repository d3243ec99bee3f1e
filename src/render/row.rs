//! One row of a dump while it is open: its leaves, bytes and meaning, and how they become lines.

use std::io::{self, Write};

use crate::formats::{self, Format, Note, Seen};
use crate::model::bytemap::Leaf;
use crate::model::diag::{Diagnostic, Severity};
use crate::render::columns::Columns;
use crate::render::style::Paint;
use crate::render::wrap;

/// Bytes of a leaf that notes look at.
const NOTE_HEAD: usize = 16;

/// A run of bytes within a row; the next one may start further on, where bytes are elided between.
#[derive(Debug)]
struct Piece {
    leaf: Leaf,
    /// Offset of the first byte.
    start: u64,
    bytes: Vec<u8>,
}

/// The row that is being put together.
#[derive(Debug, Default)]
pub struct Row {
    pieces: Vec<Piece>,
    /// Leaves with their first bytes, for notes.
    pub seen: Vec<Seen>,
    /// What the leaves say, joined.
    pub meaning: String,
    /// Findings on the row.
    pub found: Vec<Diagnostic>,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last.
    pub end: u64,
    /// Lines printed already, where a row is longer than memory should hold.
    begun: bool,
}

/// What a row looks like besides its leaves.
pub struct Look<'a> {
    /// Column places.
    pub columns: &'a Columns,
    /// Colour.
    pub paint: Paint,
    /// Depth that the bytes are set in by.
    pub depth: usize,
    /// The field column.
    pub field: &'a str,
    /// Meanings and fields are cut to their columns.
    pub cut: bool,
    /// Notes below, with the bytes they speak of.
    pub notes: Vec<Note>,
}

impl Row {
    /// Whether the row has no leaf.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.begun
    }

    /// Takes a leaf. `shown` are the bytes to print from its start; `tail` from its end, behind what is elided.
    pub fn push(&mut self, leaf: &Leaf, head: &[u8], shown: usize, tail: usize) {
        if self.is_empty() {
            self.start = leaf.start;
        }
        self.end = leaf.end;
        let first = head.get(..shown).unwrap_or(head);
        self.pieces.push(Piece { leaf: *leaf, start: leaf.start, bytes: first.to_vec() });
        if tail > 0 {
            let from = head.len().saturating_sub(tail);
            let start = leaf.start.saturating_add(len64(from));
            self.pieces.push(Piece { leaf: *leaf, start, bytes: head.get(from..).unwrap_or(&[]).to_vec() });
        }
        let head = head.get(..NOTE_HEAD).unwrap_or(head).to_vec();
        self.seen.push(Seen { leaf: *leaf, head });
    }

    /// Further bytes of the last leaf, all of them shown.
    pub fn extend(&mut self, bytes: &[u8]) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.bytes.extend_from_slice(bytes);
        }
    }

    /// Further bytes of the last leaf, of which only the last `keep` are shown.
    pub fn roll(&mut self, bytes: &[u8], keep: usize) {
        let Some(last) = self.pieces.last_mut() else { return };
        let end = last.start.saturating_add(len64(last.bytes.len())).saturating_add(len64(bytes.len()));
        last.bytes.extend_from_slice(bytes);
        let from = last.bytes.len().saturating_sub(keep);
        last.bytes.drain(..from);
        last.start = end.saturating_sub(len64(last.bytes.len()));
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes.len()).fold(0, usize::saturating_add)
    }

    /// Adds a part to the meaning; one that begins with a comma joins the part before it.
    pub fn say(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        if !self.meaning.is_empty() && !part.starts_with(',') {
            self.meaning.push(' ');
        }
        self.meaning.push_str(part);
    }

    /// The mark beside the offset.
    fn mark(&self) -> char {
        if self.found.iter().any(|found| found.severity() == Severity::Error) { '!' } else { ' ' }
    }

    /// Prints the row and what stands below it, and makes it empty.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.lines(look, out, true)?;
        self.seen.clear();
        self.meaning.clear();
        self.found.clear();
        self.begun = false;
        Ok(())
    }

    /// Prints findings that came without a leaf.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print_loose(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        let line = Line::new(self.end, look);
        for found in std::mem::take(&mut self.found) {
            self.note(&[], &finding(&found), Some(found.severity()), &line, look, out)?;
        }
        Ok(())
    }

    /// Prints the full lines of a row that goes on.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print_begun(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.lines(look, out, false)
    }

    fn lines(&mut self, look: &Look<'_>, out: &mut dyn Write, last: bool) -> io::Result<()> {
        let cells = look.columns.cells(look.depth);
        let pieces = std::mem::take(&mut self.pieces);
        let mut line = Line::new(self.start, look);
        let mut next = self.start;
        for piece in &pieces {
            if piece.start > next {
                self.flush(&mut line, look, out)?;
                self.gap(next, piece.start, look, out)?;
                line = Line::new(piece.start, look);
            }
            let mut rest = &piece.bytes[..];
            while !rest.is_empty() {
                let room = cells.saturating_sub(line.cells);
                if room == 0 {
                    let start = line.end();
                    self.flush(&mut line, look, out)?;
                    line = Line::new(start, look);
                    continue;
                }
                let (now, later) = rest.split_at_checked(room).unwrap_or((rest, &[]));
                line.put(&piece.leaf, now, look.paint);
                rest = later;
            }
            next = piece.start.saturating_add(len64(piece.bytes.len()));
        }
        if last || line.cells == cells {
            return self.flush(&mut line, look, out);
        }
        // The line that is not full waits for more bytes of the same leaf.
        if let Some(piece) = pieces.into_iter().last() {
            let from = piece.bytes.len().saturating_sub(line.cells);
            let bytes = piece.bytes.get(from..).unwrap_or(&[]).to_vec();
            self.start = line.start;
            self.pieces.push(Piece { leaf: piece.leaf, start: line.start, bytes });
        }
        Ok(())
    }

    /// Prints a line with field and meaning, if it is the first, and the notes on it.
    fn flush(&mut self, line: &mut Line, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        if line.cells == 0 && self.begun {
            return Ok(());
        }
        let columns = look.columns;
        let mut text = String::with_capacity(160);
        look.paint.dim(&format!("{:0digits$x}", line.start, digits = columns.digits), &mut text);
        match self.mark() {
            ' ' => text.push(' '),
            mark => look.paint.severity(Severity::Error, &mark.to_string(), &mut text),
        }
        text.push(' ');
        text.push_str(&line.text);
        let mut column = columns.bytes_at.saturating_add(line.columns);
        if !self.begun {
            if !look.field.is_empty() {
                pad(&mut text, &mut column, columns.field_at);
                let field = if look.cut { wrap::cut_left(look.field, columns.field) } else { look.field.to_string() };
                look.paint.bold(&field, &mut text);
                column = column.saturating_add(wrap::width(&field));
            }
            if !self.meaning.is_empty() {
                pad(&mut text, &mut column, columns.meaning_at);
                let meaning = if look.cut { wrap::cut_right(&self.meaning, columns.meaning) } else { self.meaning.clone() };
                text.push_str(&meaning);
            }
            self.begun = true;
        }
        text.push('\n');
        out.write_all(text.as_bytes())?;
        self.below(line, look, out)
    }

    /// Notes and findings whose last caret stands in this line.
    fn below(&self, line: &Line, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (start, end) = (line.start, line.end());
        let here = |at: u64| at >= start && at < end;
        for note in &look.notes {
            let last = note.carets.iter().map(|(_, to)| to.saturating_sub(1)).max();
            if last.is_some_and(here) {
                self.note(&note.carets, &note.text, None, line, look, out)?;
            }
        }
        let final_line = end >= self.end;
        for found in &self.found {
            let on_row = found.start >= self.start && found.start < self.end;
            if here(found.start) || (final_line && !on_row) {
                self.note(&[(found.start, found.end)], &finding(found), Some(found.severity()), line, look, out)?;
            }
        }
        Ok(())
    }

    /// Carets below a line, and beside them the text.
    fn note(
        &self,
        carets: &[(u64, u64)],
        text: &str,
        severity: Option<Severity>,
        line: &Line,
        look: &Look<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let columns = look.columns;
        let mut marks = String::new();
        for (from, to) in carets {
            let from = (*from).max(line.start);
            let to = (*to).min(line.end());
            let Some(cells) = to.checked_sub(from).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) else { continue };
            let first = usize::try_from(from.saturating_sub(line.start)).unwrap_or(0);
            let column = look.columns.indent(look.depth).saturating_add(first.saturating_mul(3));
            while marks.len() < column {
                marks.push(' ');
            }
            marks.push_str(&"^".repeat(cells.saturating_mul(3).saturating_sub(1)));
        }
        let room = columns.field.saturating_add(1).saturating_add(columns.meaning).max(20);
        for (index, part) in wrap::lines(text, room).iter().enumerate() {
            let mut written = " ".repeat(columns.bytes_at);
            let mut column = columns.bytes_at;
            if index == 0 {
                match severity {
                    Some(severity) => look.paint.severity(severity, &marks, &mut written),
                    None => look.paint.dim(&marks, &mut written),
                }
                column = column.saturating_add(marks.len());
            }
            pad(&mut written, &mut column, columns.field_at);
            match severity {
                Some(severity) => look.paint.severity(severity, part, &mut written),
                None => look.paint.dim(part, &mut written),
            }
            written.push('\n');
            out.write_all(written.as_bytes())?;
        }
        Ok(())
    }

    /// The line that stands for elided bytes of a long value.
    fn gap(&self, from: u64, to: u64, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        let indent = look.columns.bytes_at.saturating_add(look.columns.indent(look.depth));
        let bytes = wrap::count(to.saturating_sub(from), "byte", "bytes");
        writeln!(out, "{:indent$}... {bytes} of this value, {from:#04x}..{to:#04x} (--all shows them)", "")
    }
}

/// The bytes of one line.
struct Line {
    start: u64,
    cells: usize,
    /// Columns taken, the indentation included.
    columns: usize,
    text: String,
    leaf_start: Option<u64>,
}

impl Line {
    fn new(start: u64, look: &Look<'_>) -> Line {
        let indent = look.columns.indent(look.depth);
        Line { start, cells: 0, columns: indent, text: " ".repeat(indent), leaf_start: None }
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(len64(self.cells))
    }

    /// Adds bytes of a leaf, behind `|` where another leaf stands before it.
    fn put(&mut self, leaf: &Leaf, bytes: &[u8], paint: Paint) {
        if let Some(before) = self.leaf_start {
            self.text.push(if before == leaf.start { ' ' } else { '|' });
            self.columns = self.columns.saturating_add(1);
        }
        self.leaf_start = Some(leaf.start);
        let mut hex = String::with_capacity(bytes.len().saturating_mul(3));
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                hex.push(' ');
            }
            hex.push(digit(byte >> 4));
            hex.push(digit(byte & 0x0f));
        }
        paint.cause(formats::cause_of(leaf), &hex, &mut self.text);
        self.columns = self.columns.saturating_add(hex.len());
        self.cells = self.cells.saturating_add(bytes.len());
    }
}

fn digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

/// Blanks up to a column, at least two behind text.
fn pad(text: &mut String, column: &mut usize, to: usize) {
    let blanks = to.saturating_sub(*column).max(2);
    text.push_str(&" ".repeat(blanks));
    *column = column.saturating_add(blanks);
}

/// `ERROR mp-cut: what is wrong. What to try`
fn finding(found: &Diagnostic) -> String {
    let label = format!("{} {}: {}", found.severity().name().to_uppercase(), found.code.text(), found.message);
    if found.help.is_empty() { label } else { format!("{label}. {}", sentence(&found.help)) }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The notes on a row that are to be told: those whose kind has not been told yet.
pub fn notes_for(format: Option<&dyn Format>, row: &Row) -> Vec<Note> {
    format.map(|format| format.notes(&row.seen)).unwrap_or_default()
}

fn len64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
