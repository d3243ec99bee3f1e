//! One row of a dump while it is open: its leaves, bytes and meaning, and how they become lines.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::formats::{Note, Seen, Telling};
use crate::model::bytemap::{Flags, Leaf};
use crate::model::diag::{Diagnostic, Severity};
use crate::model::events::{Reading, Spoken};
use crate::model::num;
use crate::model::num::len64;
use crate::render::columns::Columns;
use crate::render::line::{Line, blanks, offset, pad, push_hex, push_offset};
use crate::render::style::Paint;
use crate::render::{View, wrap};

mod notes;

use notes::{finding, note};

/// A run of bytes within a row; the next one may start further on, where bytes are elided between.
#[derive(Debug, Clone, Copy)]
struct Piece {
    leaf: Leaf,
    /// Offset of the first byte.
    start: u64,
    /// Its bytes within [`Row::bytes`].
    from: usize,
    to: usize,
}

/// Bytes of a meaning up to which the elements of a packed run are told.
const LONG_RUN: usize = 160;

/// The row that is being put together. One is used for all rows of a dump, so that its memory is too.
#[derive(Debug, Default)]
pub struct Row {
    pieces: Vec<Piece>,
    bytes: Vec<u8>,
    /// Leaves with their first bytes, for notes.
    pub seen: Vec<Seen>,
    /// What the leaves say, joined.
    pub meaning: String,
    /// Where each leaf begins, and its part of the meaning.
    parts: Vec<(u64, usize)>,
    /// Parts of the meaning that stand in the lines of their leaves, further down.
    later: Vec<(u64, String)>,
    /// What the leaves of further lines say stands in those lines.
    apart: bool,
    /// Findings on the row.
    pub found: Vec<Diagnostic>,
    /// Competing readings of its leaves.
    rivals: Vec<Spoken>,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last.
    pub end: u64,
    /// Lines printed already, where a row is longer than memory should hold.
    begun: bool,
    /// What the field column says, where that is not the path.
    pub label: String,
    /// Path of its first leaf, where rows are no groups.
    pub path: String,
    /// What is said at its end.
    behind: String,
    /// Bytes of the meaning that the leaves so far have said.
    said: usize,
    /// Lines that are not written yet.
    text: String,
    /// Memory for the bytes of a line.
    spare: String,
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
    /// Meanings go on in further lines where they are wider than their column.
    pub wrap: bool,
    /// Notes below, with the bytes they speak of.
    pub notes: Vec<Note>,
}

impl Columns {
    /// The look of a row in these columns.
    pub fn look<'a>(&'a self, paint: Paint, depth: usize, field: &'a str, view: &View, notes: Vec<Note>) -> Look<'a> {
        Look { columns: self, paint, depth, field, cut: view.cut, wrap: view.wrap, notes }
    }
}

impl Row {
    /// No row yet; `apart` is whether the leaves of further lines say in those lines what they are.
    pub fn new(apart: bool) -> Row {
        Row { apart, ..Row::default() }
    }

    /// Whether the row has no leaf.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.begun
    }

    /// Takes out the findings on bytes behind the row, which the next row tells; what speaks of the end
    /// of the input stays.
    pub fn take_later(&mut self) -> Vec<Diagnostic> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let end = self.end;
        let (later, now) = std::mem::take(&mut self.found)
            .into_iter()
            .partition(|found: &Diagnostic| found.start >= end && found.end > found.start);
        self.found = now;
        later
    }

    /// Forgets everything; findings that came without a leaf stay.
    pub fn clear(&mut self) {
        let kept = if self.is_empty() { std::mem::take(&mut self.found) } else { Vec::new() };
        self.pieces.clear();
        self.bytes.clear();
        self.seen.clear();
        self.meaning.clear();
        self.parts.clear();
        self.later.clear();
        self.rivals.clear();
        self.label.clear();
        self.path.clear();
        self.behind.clear();
        self.said = 0;
        self.found = kept;
        self.begun = false;
    }

    /// Takes a leaf. `shown` are the bytes to print from its start; `tail` from its end, behind what is elided.
    pub fn push(&mut self, leaf: &Leaf, head: &[u8], shown: usize, tail: usize) {
        if self.is_empty() {
            self.start = leaf.start;
        }
        self.end = leaf.end;
        self.put(leaf, leaf.start, head.get(..shown).unwrap_or(head));
        if tail > 0 {
            let from = head.len().saturating_sub(tail);
            let start = leaf.start.saturating_add(len64(from));
            self.put(leaf, start, head.get(from..).unwrap_or(&[]));
        }
        self.seen.push(Seen::new(leaf, head));
        self.parts.push((leaf.start, self.said));
        self.said = self.meaning.len();
    }

    fn put(&mut self, leaf: &Leaf, start: u64, bytes: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.pieces.push(Piece { leaf: *leaf, start, from, to: self.bytes.len() });
    }

    /// Further bytes of the last leaf, all of them shown.
    pub fn extend(&mut self, bytes: &[u8]) {
        if let Some(piece) = self.pieces.last_mut() {
            self.bytes.extend_from_slice(bytes);
            piece.to = self.bytes.len();
        }
    }

    /// Further bytes of the last leaf, of which only the last `keep` are shown.
    pub fn roll(&mut self, bytes: &[u8], keep: usize) {
        let Some(last) = self.pieces.last_mut() else { return };
        let end =
            last.start.saturating_add(len64(last.to.saturating_sub(last.from))).saturating_add(len64(bytes.len()));
        self.bytes.extend_from_slice(bytes);
        let held = self.bytes.len().saturating_sub(last.from);
        self.bytes.drain(last.from..last.from.saturating_add(held.saturating_sub(keep)));
        last.to = self.bytes.len();
        last.start = end.saturating_sub(len64(last.to.saturating_sub(last.from)));
    }

    /// Whether the last leaf is a piece of a longer value.
    pub fn ends_with_a_piece(&self) -> bool {
        self.seen.last().is_some_and(|seen| seen.leaf.flags.has(Flags::PIECE))
    }

    /// A further piece of a value whose inside is elided: of it too only the last bytes are shown.
    pub fn roll_leaf(&mut self, leaf: &Leaf, bytes: &[u8], keep: usize) {
        self.end = leaf.end;
        self.roll(bytes, keep);
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a part to the meaning; one that begins with a comma joins the part before it, a bar parts
    /// what has nothing to do with each other.
    pub fn say(&mut self, part: &str) {
        let part = if self.meaning.is_empty() { part.trim_start_matches('|') } else { part };
        if part.is_empty() {
            return;
        }
        // Behind a colon there is nothing that a comma would join.
        let part = if self.meaning.ends_with(':') { part.trim_start_matches([',', ' ']) } else { part };
        let joined = part.starts_with([',', '|']) || self.meaning.ends_with('|');
        if !self.meaning.is_empty() && !joined {
            self.meaning.push(' ');
        }
        self.meaning.push_str(part);
    }

    /// Takes what the next leaf says of the field column and of the end of the row.
    pub fn name(&mut self, spoken: &Spoken, path: &str) {
        if self.is_empty() {
            self.path.clear();
            self.path.push_str(path);
        }
        if !spoken.field.is_empty() && self.label != spoken.field {
            if !self.label.is_empty() {
                self.label.push(' ');
            } else if spoken.field.starts_with('[') {
                self.label.push_str("  ");
            }
            self.label.push_str(&spoken.field);
        }
        self.behind.push_str(&spoken.behind);
    }

    /// Takes the parts of the meaning out that leaves of further lines say.
    fn part(&mut self, look: &Look<'_>) {
        let cells = look.columns.cells(look.depth);
        let whole = len64(self.bytes.len()) == self.end.saturating_sub(self.start);
        if !self.apart || self.begun || !whole || self.bytes.len() <= cells {
            return;
        }
        let first_end = self.start.saturating_add(len64(cells));
        let is_later = |(start, from): &(u64, usize)| {
            *start >= first_end && self.meaning.get(*from..).is_some_and(|rest| rest.starts_with('|'))
        };
        let Some(first) = self.parts.iter().position(is_later) else { return };
        let moved = self.parts.split_off(first);
        let from = moved.first().map_or(0, |(_, from)| *from);
        let mut ends: Vec<usize> = moved.iter().skip(1).map(|(_, from)| *from).collect();
        ends.push(self.meaning.len());
        for ((start, from), end) in moved.iter().zip(ends) {
            self.later.push((*start, self.meaning.get(*from..end).unwrap_or("").to_string()));
        }
        self.meaning.truncate(from);
    }

    /// Ends the meaning with what leads to the object.
    fn end_meaning(&mut self) {
        if self.behind.is_empty() {
            return;
        }
        if !self.meaning.is_empty() {
            self.meaning.push_str("  ");
        }
        self.meaning.push_str(&self.behind);
        self.behind.clear();
    }

    /// Keeps what was said on the last leaf, where readings compete.
    pub fn hear(&mut self, spoken: &mut Spoken) {
        if spoken.doubt || !spoken.readings.is_empty() || !spoken.why.is_empty() {
            self.rivals.push(spoken.clone());
        }
        spoken.forget();
    }

    /// The readings that lost, as notes.
    pub fn rivals(&self, all: bool) -> Vec<Note> {
        let mut notes = Vec::new();
        for spoken in &self.rivals {
            // What the row says itself needs no line below it.
            let told = |reading: &&Reading| spoken.words.contains(reading.value.as_str());
            for reading in spoken.readings.iter().skip(1).filter(|reading| !told(reading)) {
                let why = if reading.why.is_empty() { String::new() } else { format!(" ({})", reading.why) };
                let text = format!("also fits: {} {}{why}", reading.kind, reading.value);
                notes.push(Note { id: "rival", carets: Vec::new(), text });
            }
            // Where nothing competes it is a lesson, as other notes are.
            if !spoken.why.is_empty() && (all || !spoken.readings.is_empty()) {
                notes.push(Note { id: "rival", carets: Vec::new(), text: spoken.why.clone() });
            }
        }
        notes
    }

    /// Whether an element of a packed run adds nothing to a meaning that is long already.
    pub fn is_told(&mut self, leaf: &Leaf, telling: Telling) -> bool {
        if !leaf.flags.has(Flags::ELEMENT) || telling == Telling::Alone || self.meaning.len() < LONG_RUN {
            return false;
        }
        if !self.meaning.ends_with("..") {
            self.meaning.push_str(", ..");
        }
        true
    }

    /// The mark beside the offset.
    fn mark(&self) -> char {
        let doubtful = || self.rivals.iter().any(|spoken| spoken.doubt);
        match self.found.iter().any(|found| found.severity() == Severity::Error) {
            true => '!',
            false if doubtful() => '?',
            false => ' ',
        }
    }

    /// Prints the row and what stands below it, and makes it empty.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.part(look);
        self.end_meaning();
        if self.is_simple(look) {
            self.simple_line(look);
        } else {
            self.lines(look, true);
        }
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.found.clear();
        self.clear();
        Ok(())
    }

    /// Whether the row is one line with nothing below it and no colour, as nearly all are in a pipe.
    fn is_simple(&self, look: &Look<'_>) -> bool {
        let plain = !look.paint.is_on() && look.notes.is_empty() && self.found.is_empty() && self.rivals.is_empty();
        // Bytes that are elided inside are missing from those held.
        let whole = len64(self.bytes.len()) == self.end.saturating_sub(self.start);
        plain && whole && !self.begun && self.bytes.len() <= look.columns.cells(look.depth)
    }

    /// The line of a simple row, without the general machinery.
    fn simple_line(&mut self, look: &Look<'_>) {
        let columns = look.columns;
        let mut text = std::mem::take(&mut self.text);
        push_offset(&mut text, self.start, columns.digits);
        let indent = columns.indent(look.depth);
        blanks(&mut text, indent.saturating_add(2));
        let mut first = true;
        for piece in &self.pieces {
            if !std::mem::take(&mut first) {
                text.push('|');
            }
            push_hex(&mut text, self.bytes.get(piece.from..piece.to).unwrap_or(&[]));
        }
        let cells = self.bytes.len().saturating_mul(3).saturating_sub(1);
        let mut column = columns.bytes_at.saturating_add(indent).saturating_add(cells);
        self.field_and_meaning(look, &mut column, &mut text);
        text.push('\n');
        self.text = text;
    }

    /// Appends the field and the meaning in their columns.
    fn field_and_meaning(&self, look: &Look<'_>, column: &mut usize, text: &mut String) {
        let columns = look.columns;
        if !look.field.is_empty() {
            pad(text, column, columns.field_at);
            // Two blanks stand in front of the meaning, one of them in the field's last column.
            let field = fit(look, look.field, columns.field.saturating_sub(1), wrap::cut_left);
            look.paint.bold(&field, text);
            *column = column.saturating_add(wrap::width(&field));
        }
        let meaning = self.meaning.trim_end_matches('|');
        if !meaning.is_empty() {
            pad(text, column, columns.meaning_at);
            // A long field pushes the meaning right: what is left of the line is less then.
            let room = columns.meaning_at.saturating_add(columns.meaning).saturating_sub(*column);
            told(look, meaning, room, text);
        }
    }

    /// Prints findings that came without a leaf.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print_loose(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        let line = Line::new(self.end, look, String::new());
        let mut text = String::new();
        for found in std::mem::take(&mut self.found) {
            note(&mut text, &[], &finding(&found), Some(found.severity()), &line, look);
        }
        out.write_all(text.as_bytes())
    }

    /// Prints the full lines of a row that goes on.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn print_begun(&mut self, look: &Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.lines(look, false);
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Makes lines of the bytes held; the last one only where no more come.
    fn lines(&mut self, look: &Look<'_>, last: bool) {
        let cells = look.columns.cells(look.depth);
        let mut text = std::mem::take(&mut self.text);
        let mut line = Line::new(self.start, look, std::mem::take(&mut self.spare));
        let mut next = self.start;
        for piece in &self.pieces {
            if piece.start > next {
                self.line(&mut line, look, &mut text);
                gap(&mut text, next, piece.start, look);
                self.begun = true;
                line.restart(piece.start, look);
            }
            let mut rest = self.bytes.get(piece.from..piece.to).unwrap_or(&[]);
            while !rest.is_empty() {
                let room = cells.saturating_sub(line.cells);
                if room == 0 {
                    let start = line.end();
                    self.line(&mut line, look, &mut text);
                    self.begun = true;
                    line.restart(start, look);
                    continue;
                }
                let (now, later) = rest.split_at_checked(room).unwrap_or((rest, &[]));
                line.put(&piece.leaf, now, look.paint);
                rest = later;
            }
            next = piece.start.saturating_add(len64(piece.to.saturating_sub(piece.from)));
        }
        if last || line.cells == cells {
            self.line(&mut line, look, &mut text);
            self.begun = true;
            self.start = line.end();
            line.cells = 0;
        } else {
            self.start = line.start;
        }
        self.text = text;
        let cells = line.cells;
        self.spare = line.text;
        if !last {
            self.keep_open(cells);
        }
    }

    /// The last bytes, of a line that is not full, wait for more of the same leaf.
    fn keep_open(&mut self, cells: usize) {
        let Some(piece) = self.pieces.last().copied() else { return };
        let from = self.bytes.len().saturating_sub(cells);
        self.bytes.drain(..from);
        self.pieces.clear();
        self.pieces.push(Piece { leaf: piece.leaf, start: self.start, from: 0, to: self.bytes.len() });
    }

    /// Adds a line with field and meaning, if it is the first, and the notes on it.
    fn line(&self, line: &mut Line, look: &Look<'_>, text: &mut String) {
        if line.cells == 0 && self.begun {
            return;
        }
        let columns = look.columns;
        offset(text, line.start, columns.digits, look.paint);
        match self.mark() {
            ' ' => text.push(' '),
            '?' => look.paint.severity(Severity::Warning, "?", text),
            mark => look.paint.severity(Severity::Error, &mark.to_string(), text),
        }
        text.push(' ');
        text.push_str(&line.text);
        let mut column = columns.bytes_at.saturating_add(line.columns);
        if !self.begun {
            self.field_and_meaning(look, &mut column, text);
        } else if !self.later.is_empty() {
            self.later_meaning(line, look, &mut column, text);
        }
        text.push('\n');
        if !look.notes.is_empty() || !self.found.is_empty() {
            self.below(line, look, text);
        }
    }

    /// What the leaves that begin in a further line say; dots stand for what began above.
    fn later_meaning(&self, line: &Line, look: &Look<'_>, column: &mut usize, text: &mut String) {
        let here = |start: u64| start >= line.start && start < line.end();
        let mut said = String::new();
        for (start, part) in self.later.iter().filter(|(start, _)| here(*start)) {
            if said.is_empty() && *start > line.start {
                said.push_str("..");
            }
            said.push_str(if said.is_empty() { part.trim_start_matches('|') } else { part });
        }
        if !said.is_empty() {
            pad(text, column, look.columns.meaning_at);
            let room = look.columns.meaning_at.saturating_add(look.columns.meaning).saturating_sub(*column);
            told(look, said.trim_end_matches('|'), room, text);
        }
    }

    /// Notes and findings whose first caret stands in this line.
    fn below(&self, line: &Line, look: &Look<'_>, text: &mut String) {
        let (start, end) = (line.start, line.end());
        let here = |at: u64| at >= start && at < end;
        for one in &look.notes {
            let last = one.carets.is_empty() && end >= self.end;
            if last || one.carets.first().is_some_and(|(from, _)| here(*from)) {
                note(text, &one.carets, &one.text, None, line, look);
            }
        }
        let final_line = end >= self.end;
        for found in &self.found {
            let on_row = found.start >= self.start && found.start < self.end;
            if here(found.start) || (final_line && !on_row) {
                note(text, &[(found.start, found.end)], &finding(found), Some(found.severity()), line, look);
            }
        }
    }
}

/// Text as it is, or cut to its column where the view wants that.
fn fit<'t>(look: &Look<'_>, text: &'t str, columns: usize, cut: fn(&str, usize) -> String) -> Cow<'t, str> {
    if (look.cut || look.wrap) && wrap::width(text) > columns {
        Cow::Owned(cut(text, columns))
    } else {
        Cow::Borrowed(text)
    }
}

/// A meaning in the room that is left: cut on a terminal, in lines of its own below where columns were told.
fn told(look: &Look<'_>, meaning: &str, room: usize, text: &mut String) {
    if !look.wrap || wrap::width(meaning) <= room {
        text.push_str(&fit(look, meaning, room, wrap::cut_right));
        return;
    }
    for (index, part) in wrap::parts(meaning, room).iter().enumerate() {
        if index > 0 {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', look.columns.meaning_at));
        }
        text.push_str(part);
    }
}

/// The line that stands for elided bytes of a long value.
fn gap(text: &mut String, from: u64, to: u64, look: &Look<'_>) {
    let indent = look.columns.bytes_at.saturating_add(look.columns.indent(look.depth));
    let bytes = num::bytes(to.saturating_sub(from));
    text.push_str(&" ".repeat(indent));
    text.push_str(&format!("... {bytes} of this value, {from:#04x}..{to:#04x} (--all shows them)\n"));
}
