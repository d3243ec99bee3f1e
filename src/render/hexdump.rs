//! The annotated dump: one row a field (or leaf), with its bytes, name and meaning, in the order of
//! the file. A sink: only the row that is open is held, so that an input of any size streams.

mod events;

use std::collections::HashMap;
use std::io::Write;

use crate::formats::{self, Counts, Format, Note, Telling};
use crate::model::bytemap::{Cause, Flags, Group, GroupKind, Kind, Leaf, Step};
use crate::model::events::{Flow, Heading, PathStack, Spoken, Stop};
use crate::model::num;
use crate::render::bits::{bit_words, bits_in_row};
use crate::render::blocks::Blocks;
use crate::render::columns::Columns;
use crate::render::hidden::{Hidden, Hiding, Reason};
use crate::render::row::{Look, Row};
use crate::render::style::Paint;
use crate::render::{Notes, Rows, View, wrap};
use crate::size::Causes;

/// Elements of a run that have rows, where not all are asked for.
const SHOWN_JOINED: u64 = 24;

/// Lines of one value from which its inside is elided, and how many lines stay in front of that.
const LONG_VALUE_LINES: usize = 12;
const SHOWN_LINES: usize = 4;

/// Bytes of a value that are shown in any case: as many as the narrowest lines hold.
const SHORT: u64 = 32;

/// Elements of a packed run of fixed width that have rows, where not all are asked for.
const SHOWN_ITEMS: u64 = 8;

/// Longest path in a pipe, where nothing is cut to columns.
const LONGEST_FIELD: usize = 42;

/// Bytes of one value held before its full lines are printed (`--all`).
const HELD: usize = 64 * 1024;

/// The dump of one layer.
pub struct Dump<'a> {
    out: &'a mut (dyn Write + Send),
    format: Option<&'static dyn Format>,
    view: View,
    columns: Columns,
    paint: Paint,
    row: Row,
    paths: PathStack,
    levels: Vec<Level>,
    hidden: Option<Hidden>,
    /// Number of open groups when a hidden group opened.
    hiding: Option<usize>,
    /// Bytes that are elided inside the open row's last leaf.
    eliding: bool,
    /// Identities of the notes told: few, so that a list beats a table.
    told: Vec<&'static str>,
    /// Texts that findings add to rows, by the offset of their first leaf.
    remarks: HashMap<u64, String>,
    any_row: bool,
    /// Path of the first element that is left out, and its range where its bytes are one.
    pub example: Option<Example>,
    /// Rows printed.
    pub rows: u64,
    words: String,
    /// The format does not write names.
    nameless: bool,
    /// Objects lie apart from what leads to them: a row is what the walk says it is, not a group.
    scattered: bool,
    /// Leaves in a run that joined the row before them.
    joined: u64,
    /// Rows put in the order in which a reader reaches them, where that is wanted.
    blocks: Option<Blocks>,
    /// The field column of a row, whose memory is used again.
    shown: String,
    spoken: Spoken,
    /// Lines that are ready.
    text: Vec<u8>,
    /// The line above the next row.
    heading: String,
    /// Number of the layer that is open; none in that of the message.
    inner: Option<usize>,
    /// Number of the message's layer.
    pub layer: usize,
    /// Bytes by cause.
    pub causes: Causes,
    /// Names and kinds, for the foot.
    pub counts: Counts,
}

/// An open group.
struct Level {
    kind: GroupKind,
    /// The step is an index: the row shows the path around it too.
    indexed: bool,
    /// It is one of several in a list or field.
    counted: bool,
    start: u64,
    index: u64,
    /// Rows of this group printed: the first names the field.
    named: bool,
    /// The group has been open before: an object that it leads to.
    again: bool,
}

/// The path of an element, and its range where its bytes are one.
pub type Example = (String, Option<(u64, u64)>);

impl<'a> Dump<'a> {
    /// A dump to `out`. `size` sets the digits of offsets; `remarks` come from an earlier reading.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        format: Option<&'static dyn Format>,
        view: View,
        size: u64,
        remarks: HashMap<u64, String>,
    ) -> Dump<'a> {
        Dump {
            columns: Columns::new(view.width, size).grid(format.map_or(0, |format| format.info().row)),
            paint: Paint::new(view.color),
            blocks: view.logical.then(Blocks::default),
            out,
            format,
            view,
            row: Row::new(format.is_some_and(|format| format.info().scattered)),
            paths: PathStack::default(),
            levels: Vec::new(),
            hidden: None,
            hiding: None,
            eliding: false,
            told: Vec::new(),
            remarks,
            any_row: false,
            example: None,
            rows: 0,
            words: String::new(),
            nameless: format.is_some_and(|format| format.info().bound()),
            scattered: format.is_some_and(|format| format.info().scattered),
            joined: 0,
            shown: String::new(),
            spoken: Spoken::default(),
            text: Vec::new(),
            heading: String::new(),
            inner: None,
            layer: 0,
            causes: Causes::default(),
            counts: Counts::default(),
        }
    }

    /// Prints what is still open.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn finish(&mut self) -> Flow {
        self.flush()?;
        let trailing = self.hidden.as_ref().is_some_and(|hidden| hidden.reason == Reason::Range);
        if trailing {
            self.hidden = None;
        }
        self.show_hidden()?;
        let look = self.columns.look(self.paint, 0, "", &self.view, Vec::new());
        // Findings at the very end speak of bytes that are not there.
        self.row.print_loose(&look, &mut self.text)?;
        self.write_text()?;
        if let Some(blocks) = self.blocks.take() {
            blocks.write(self.out)?;
        }
        Ok(())
    }

    /// Hands on the lines that are ready.
    fn write_text(&mut self) -> Flow {
        match &mut self.blocks {
            Some(blocks) => blocks.add(&self.text),
            None => self.out.write_all(&self.text)?,
        }
        self.text.clear();
        Ok(())
    }

    /// Levels that set bytes further right: those below the message.
    fn depth(&self) -> usize {
        if self.scattered {
            return 0;
        }
        let element = self.levels.last().is_some_and(|level| level.kind == GroupKind::Element);
        self.levels.len().saturating_sub(if element { 4 } else { 3 })
    }

    /// Puts the field column of the open row into `field`.
    fn field(&self, field: &mut String) {
        field.clear();
        if self.scattered {
            return self.field_of_row(field);
        }
        let Some(level) = self.levels.last() else { return };
        let scalar = matches!(level.kind, GroupKind::Value | GroupKind::Item);
        let path = self.paths.path();
        if path.is_empty() {
            return;
        }
        if self.view.full_paths || self.view.rows == Rows::Leaves {
            field.push_str(path);
            return;
        }
        if level.named && self.view.rows != Rows::Tree {
            return;
        }
        let deep = self.levels.len() > 3;
        if scalar && deep && !level.indexed {
            field.push_str("  ");
            field.push_str(self.paths.last());
        } else if path.len() <= LONGEST_FIELD {
            field.push_str(path);
        } else {
            field.push_str(&wrap::cut_left(path, LONGEST_FIELD));
        }
    }

    /// The field column of a row in a format whose groups are not rows: what was said, else the path.
    fn field_of_row(&self, field: &mut String) {
        let (label, path) = (self.row.label.trim_end(), self.row.path.as_str());
        let full = self.view.full_paths || self.view.rows != Rows::Fields;
        if full && !path.is_empty() {
            field.push_str(path);
        } else if !self.row.label.is_empty() {
            field.push_str(label);
        } else if path.len() <= LONGEST_FIELD {
            field.push_str(path);
        } else {
            field.push_str(&wrap::cut_left(path, LONGEST_FIELD));
        }
    }

    /// Whether the next leaf begins a row, in such a format.
    fn begins_row(&self, leaf: &Leaf) -> bool {
        if self.spoken.field.is_empty() {
            return false;
        }
        let held = u64::try_from(self.row.held()).unwrap_or(u64::MAX);
        let room = u64::try_from(self.columns.cells(0)).unwrap_or(u64::MAX).saturating_sub(held);
        !self.spoken.joins || leaf.len() > room
    }

    fn is_visible(&self) -> bool {
        self.is_in_ranges(self.row.start, self.row.end) && self.in_path()
    }

    /// Whether a leaf lies behind all ranges and no row is open: nothing of it will be shown.
    fn is_past(&self, start: u64) -> bool {
        self.row.is_empty() && !self.view.ranges.is_empty() && self.view.ranges.iter().all(|(_, to)| start >= *to)
    }

    fn in_path(&self) -> bool {
        let Some(wanted) = &self.view.path else { return true };
        wanted.covers(if self.scattered { &self.row.path } else { self.paths.path() })
    }

    /// Ends the open row.
    fn flush(&mut self) -> Flow {
        if self.row.is_empty() {
            return Ok(());
        }
        let later = self.row.take_later();
        self.flush_row()?;
        self.row.found.extend(later);
        Ok(())
    }

    fn flush_row(&mut self) -> Flow {
        let full = self.view.max_rows.is_some_and(|most| self.rows >= most);
        if !self.is_visible() || full {
            let reason = match (full, self.in_path()) {
                (true, _) => Reason::Rows,
                (false, true) => Reason::Range,
                (false, false) => Reason::Path,
            };
            let (start, end) = (self.row.start, self.row.end);
            self.hide(reason, start, end, Hiding::row())?;
            self.row.clear();
            return Ok(());
        }
        self.show_hidden()?;
        if !self.heading.is_empty() {
            self.text.extend_from_slice(self.heading.as_bytes());
            self.heading.clear();
        }
        if !self.remarks.is_empty()
            && let Some(remark) = self.row.seen.iter().find_map(|seen| self.remarks.get(&seen.leaf.start))
        {
            let remark = format!(", {remark}");
            self.row.say(&remark);
        }
        let notes = self.notes();
        let mut field = std::mem::take(&mut self.shown);
        self.field(&mut field);
        let look = self.columns.look(self.paint, self.depth(), &field, &self.view, notes);
        if self.view.rows == Rows::Tree {
            let beside = self.scattered && self.row.meaning.is_empty() && self.row.found.is_empty();
            if !beside {
                tree_row(&mut self.row, &look, &mut self.text)?;
            }
        } else {
            self.row.print(&look, &mut self.text)?;
        }
        self.shown = field;
        self.write_text()?;
        self.any_row = true;
        self.rows = self.rows.saturating_add(1);
        self.eliding = false;
        if let Some(level) = self.levels.last_mut() {
            level.named = true;
        }
        self.row.clear();
        Ok(())
    }

    /// Notes to print below the open row.
    fn notes(&mut self) -> Vec<Note> {
        let mut notes = if self.view.bits { self.bit_notes() } else { Vec::new() };
        if self.view.notes == Notes::None || self.view.rows != Rows::Fields {
            notes.extend(self.rival_notes());
            return notes;
        }
        let (all, told) = (self.view.notes == Notes::All, &mut self.told);
        if let Some(format) = self.format {
            notes.extend(format.notes(&self.row.seen, &mut |id| {
                // Nearly always it is the very same constant.
                let known = told.iter().any(|known| std::ptr::eq(*known, id)) || told.contains(&id);
                let fresh = !known;
                if fresh {
                    told.push(id);
                }
                fresh || all
            }));
        }
        // Carets belong right below the bytes, so what has none comes last.
        notes.extend(self.rival_notes());
        notes
    }

    /// What competes with the readings of the open row, and why.
    fn rival_notes(&self) -> Vec<Note> {
        if self.view.rows == Rows::Tree { Vec::new() } else { self.row.rivals(self.view.notes != Notes::None) }
    }

    /// The bit fields of each leaf as a note; in rows of leaves they stand in the row itself.
    fn bit_notes(&self) -> Vec<Note> {
        let (Some(format), true) = (self.format, self.view.rows == Rows::Fields) else { return Vec::new() };
        let mut notes = Vec::new();
        for seen in &self.row.seen {
            let bits = format.bits(&seen.leaf, seen.head());
            if !bits.is_empty() {
                let end =
                    seen.leaf.start.saturating_add(u64::from(bits.iter().map(|b| b.hi).max().unwrap_or(0)) / 8 + 1);
                let carets = vec![(seen.leaf.start, end.min(seen.leaf.end))];
                notes.push(Note { id: "bits", carets, text: bit_words(&bits) });
            }
        }
        notes
    }

    /// Notes a row or group that is not shown; a run of another kind before it is told first.
    fn hide(&mut self, reason: Reason, start: u64, end: u64, what: Hiding) -> Flow {
        let path = self.paths.path();
        if reason == Reason::Items && self.example.is_none() && !what.again {
            let range = (!self.scattered).then_some((start, end));
            self.example = Some((path.to_string(), range));
        }
        let list = path.rfind('[').and_then(|at| path.get(..at)).unwrap_or(path).to_string();
        if let Some(hidden) = self.hidden.as_mut().filter(|hidden| hidden.continues(reason, &list)) {
            what.add_to(hidden, start, end);
            return Ok(());
        }
        if self.hidden.as_ref().is_some_and(|hidden| hidden.reason != Reason::Path && reason != Reason::Path) {
            self.show_hidden()?;
        }
        let mut hidden = Hidden::new(reason, &list, start, self.depth(), what.index);
        what.add_to(&mut hidden, start, end);
        self.hidden = Some(hidden);
        Ok(())
    }

    fn show_hidden(&mut self) -> Flow {
        if self.hidden.is_none() {
            return Ok(());
        }
        let Some(hidden) = self.hidden.take() else { return Ok(()) };
        // What lies before the first row that is shown is not worth a line.
        if !self.any_row && hidden.reason == Reason::Range {
            return Ok(());
        }
        let Some(text) = hidden.line() else { return Ok(()) };
        let indent = self.columns.bytes_at.saturating_add(self.columns.indent(hidden.depth));
        let mut line = " ".repeat(indent);
        self.paint.dim(&text, &mut line);
        line.push('\n');
        self.text.extend_from_slice(line.as_bytes());
        self.write_text()
    }

    /// Why a group that opens is not shown, if so.
    fn reason(&self, group: &Group<'_>) -> Option<Reason> {
        match group.step {
            Step::Message(number) if self.view.messages.is_some_and(|(from, to)| number < from || number >= to) => {
                Some(Reason::Messages)
            }
            Step::None if self.levels.len() == 1 && self.view.messages.is_some_and(|(from, _)| from > 0) => {
                Some(Reason::Messages)
            }
            Step::Message(number) if self.inner.is_none() && self.view.max_items.is_some_and(|most| number >= most) => {
                Some(Reason::Messages)
            }
            Step::Index(index) | Step::Field(_, index) if self.view.max_items.is_some_and(|most| index >= most) => {
                Some(Reason::Items)
            }
            // A packed run is one long value: its inside is left out.
            Step::Index(index) if group.kind == GroupKind::Item && !self.view.all && index >= SHOWN_ITEMS => {
                Some(Reason::Items)
            }
            _ if self.view.depth.is_some_and(|most| self.levels.len() > most.saturating_add(1)) => Some(Reason::Depth),
            _ => None,
        }
    }

    fn tell(&mut self, leaf: &Leaf, head: &[u8]) {
        // A long value of unknown end comes in pieces: the first one speaks for all.
        if leaf.flags.has(Flags::PIECE) && self.row.seen.iter().any(|seen| seen.leaf.flags.has(Flags::PIECE)) {
            return;
        }
        let telling = if self.view.rows == Rows::Leaves { Telling::Alone } else { Telling::Row };
        if self.is_beside_tree(leaf) {
            return;
        }
        self.words.clear();
        match self.format {
            _ if !self.spoken.words.is_empty() => {
                if leaf.flags.has(Flags::ELEMENT) && telling == Telling::Row {
                    self.words.push_str(", ");
                }
                self.words.push_str(&self.spoken.words);
            }
            Some(format) if leaf.kind.owner != Kind::COMMON => format.tell(leaf, head, telling, &mut self.words),
            _ if telling == Telling::Alone => self.words.push_str(&common_words(leaf)),
            // Between bars, since it is no part of what stands beside it.
            _ => self.words.push_str(&format!("|{}|", common_words(leaf))),
        }
        self.words.push_str(&self.spoken.more);
        if self.row.is_told(leaf, telling) {
            return;
        }
        if self.view.rows == Rows::Leaves && self.view.bits {
            let bits = self.format.map(|format| format.bits(leaf, head)).unwrap_or_default();
            self.row.say(&format!("{:<11}", bits_in_row(&bits)));
        }
        self.row.say(&self.words);
    }

    /// Counts a leaf that joins the row before it; of a long run of elements the rest is left out.
    fn joins(&mut self, leaf: &Leaf) -> Result<bool, Stop> {
        if !self.spoken.joins {
            self.joined = 0;
            return Ok(false);
        }
        self.joined = self.joined.saturating_add(1);
        let elided = !self.view.all && self.view.rows == Rows::Fields && self.joined >= SHOWN_JOINED;
        if !elided || !self.spoken.field.starts_with('[') {
            return Ok(false);
        }
        self.flush()?;
        self.spoken.forget();
        let index = self.levels.last().map_or(0, |level| level.index);
        if self.is_in_ranges(leaf.start, leaf.end) {
            self.hide(Reason::Items, leaf.start, leaf.end, Hiding { index, again: false })?;
        }
        Ok(true)
    }

    fn is_in_ranges(&self, start: u64, end: u64) -> bool {
        self.view.ranges.is_empty() || self.view.ranges.iter().any(|(from, to)| start < *to && end > *from)
    }

    /// Whether a tree leaves a leaf out: what only leads to values, or keeps them in place, where objects lie apart.
    fn is_beside_tree(&self, leaf: &Leaf) -> bool {
        let told = matches!(formats::cause_of(leaf), Cause::Payload | Cause::Default | Cause::Type | Cause::Unread);
        self.view.rows == Rows::Tree && self.scattered && !told
    }

    /// Whether a group of this kind has rows of its own.
    fn parts_rows(&self, kind: GroupKind) -> bool {
        kind != GroupKind::Element || self.view.rows == Rows::Leaves
    }

    /// Whether the open row holds so many elements of a packed run that the rest is elided.
    fn is_long_run(&self) -> bool {
        let most = self.columns.cells(self.depth()).saturating_mul(LONG_VALUE_LINES);
        !self.view.all && self.view.rows != Rows::Leaves && self.row.held() >= most
    }

    /// Bytes of a leaf to show in front of and behind what is elided; none behind where nothing is.
    fn shown(&self, leaf: &Leaf, head: &[u8]) -> (usize, usize) {
        // Whatever the columns, so few bytes are shown whole.
        if leaf.len() <= SHORT {
            return (head.len(), 0);
        }
        let cells = self.columns.cells(self.depth());
        let long = cells.saturating_mul(LONG_VALUE_LINES);
        if self.view.all || usize::try_from(leaf.len()).is_ok_and(|len| len <= long) {
            return (head.len(), 0);
        }
        (cells.saturating_mul(SHOWN_LINES), cells)
    }
}

/// The line above an object: what it is, and to the right what leads to it.
fn heading_line(heading: &Heading<'_>, view: &View, paint: Paint, line: &mut String) {
    let (above, text) = heading.text.rsplit_once('\n').unwrap_or(("", heading.text));
    if !above.is_empty() {
        paint.bold(above, line);
        line.push('\n');
    }
    paint.bold(text, line);
    if !heading.from.is_empty() {
        let used = wrap::width(text).saturating_add(wrap::width(heading.from));
        let gap = view.width.saturating_sub(used.saturating_add(2)).max(2);
        line.push_str(&" ".repeat(gap));
        paint.dim(heading.from, line);
    }
    line.push('\n');
}

/// Words for leaves of no format.
pub fn common_words(leaf: &Leaf) -> String {
    let bytes = num::bytes(leaf.len());
    match leaf.kind {
        Kind::CARRIER => format!("{bytes} that carry what is inside"),
        Kind::FRAMING => format!("{bytes} around it"),
        _ => format!("{bytes} {}", formats::kind_info(leaf.kind).name),
    }
}

/// A row of the tree: offset, name set in by depth, meaning.
fn tree_row(row: &mut Row, look: &Look<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let indent = look.depth.saturating_add(usize::from(!look.field.is_empty())).saturating_mul(2).min(60);
    let field = look.field.trim_start();
    let mut text = String::new();
    look.paint.dim(&format!("{:0digits$x}", row.start, digits = look.columns.digits), &mut text);
    text.push_str(&" ".repeat(indent.saturating_add(2)));
    look.paint.bold(field, &mut text);
    if !field.is_empty() {
        text.push_str("  ");
    }
    let used = look.columns.digits.saturating_add(indent).saturating_add(4).saturating_add(wrap::width(field));
    let room = look.columns.meaning_at.saturating_add(look.columns.meaning).saturating_sub(used);
    let meaning = row.meaning.trim_end_matches('|');
    text.push_str(&if look.cut || look.wrap { wrap::cut_right(meaning, room) } else { meaning.to_string() });
    text.truncate(text.trim_end().len());
    text.push('\n');
    for found in &row.found {
        let line = format!("{} {}: {}\n", found.severity().name().to_uppercase(), found.code.text(), found.message);
        text.push_str(&" ".repeat(indent.saturating_add(look.columns.digits).saturating_add(2)));
        look.paint.severity(found.severity(), &line, &mut text);
    }
    out.write_all(text.as_bytes())
}
