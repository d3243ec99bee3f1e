//! What the walk reports, as rows: which leaf begins one, which joins, what is not shown.

use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Leaf, Step};
use crate::model::diag::Diagnostic;
use crate::model::events::{Flow, Heading, Inner, Said, Sink};
use crate::model::num;
use crate::render::Rows;
use crate::render::hexdump::{Dump, HELD, Level, heading_line};
use crate::render::hidden::{Hiding, Reason};

impl Sink for Dump<'_> {
    fn wants_words(&self) -> bool {
        true
    }

    fn path(&self) -> Option<&str> {
        Some(self.paths.path())
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        self.spoken.hear(said);
        Ok(())
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        self.flush()?;
        self.show_hidden()?;
        let number = self.inner.map_or(self.layer, |number| number).saturating_add(1);
        self.inner = Some(number);
        if !self.view.ranges.is_empty() {
            // Ranges count in the message's layer.
            self.view.ranges = vec![(u64::MAX, u64::MAX)];
            return Ok(());
        }
        let text = format!(
            "   -- layer {number}: {}, {} of {} out of {:#04x}..{:#04x} of layer {}",
            layer.name,
            num::bytes(layer.size),
            layer.by,
            layer.start,
            layer.end,
            self.layer
        );
        let mut line = String::new();
        self.paint.bold(&text, &mut line);
        line.push('\n');
        self.text.extend_from_slice(line.as_bytes());
        self.write_text()
    }

    fn foot(&mut self, line: &str) -> Flow {
        if self.inner.is_none() || self.counts.lines.is_empty() {
            self.counts.lines.push(line.to_string());
        }
        Ok(())
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Flow {
        if self.hiding.is_some() {
            return Ok(());
        }
        self.flush()?;
        self.joined = 0;
        if let Some(blocks) = &mut self.blocks {
            blocks.begin(heading.rank);
        }
        self.heading.clear();
        if !heading.text.is_empty() && self.view.rows == Rows::Fields {
            heading_line(heading, &self.view, self.paint, &mut self.heading);
        }
        Ok(())
    }

    fn open(&mut self, group: &Group<'_>) -> Flow {
        if self.hiding.is_none() && !self.scattered && self.parts_rows(group.kind) {
            self.flush()?;
        }
        self.paths.push(group.step);
        let index = match group.step {
            Step::Index(index) | Step::Field(_, index) | Step::Message(index) => index,
            _ => 0,
        };
        match group.step {
            // Names of a schema are not written.
            _ if self.nameless || group.again => {}
            Step::Name(name) | Step::Field(name, _) | Step::Entry(name, _) => self.counts.name(name, true),
            Step::Key(name) => self.counts.name(name, false),
            Step::None | Step::Message(_) | Step::Index(_) => {}
        }
        if self.hiding.is_none() && self.reason(group).is_some() {
            if self.scattered {
                self.flush()?;
            }
            self.hiding = Some(self.levels.len());
        }
        let indexed = matches!(group.step, Step::Index(_)) && group.kind != GroupKind::Item;
        let counted = matches!(group.step, Step::Index(_) | Step::Field(..));
        let (kind, start, again) = (group.kind, group.start, group.again);
        self.levels.push(Level { kind, indexed, counted, start, index, named: false, again });
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        if self.inner.is_none() {
            self.causes.add(leaf, head);
            self.counts.kind(leaf);
        }
        if self.hiding.is_some() || self.is_past(leaf.start) {
            self.spoken.forget();
            return Ok(());
        }
        if self.view.rows == Rows::Leaves || (self.scattered && self.begins_row(leaf)) {
            self.flush()?;
        }
        if self.scattered && self.joins(leaf)? {
            return Ok(());
        }
        if leaf.flags.has(Flags::ELEMENT) && self.is_long_run() {
            self.tell(leaf, head);
            self.spoken.forget();
            self.row.roll_leaf(leaf, head, self.columns.cells(self.depth()));
            return Ok(());
        }
        if self.eliding && leaf.flags.has(Flags::PIECE) && self.row.ends_with_a_piece() {
            self.spoken.forget();
            self.row.roll_leaf(leaf, head, self.columns.cells(self.depth()));
            return Ok(());
        }
        if let Some(format) = self.format.filter(|_| self.row.is_empty()) {
            self.columns = self.columns.rows_of(format.row(leaf));
        }
        self.tell(leaf, head);
        self.row.name(&self.spoken, self.paths.path());
        self.row.hear(&mut self.spoken);
        let (shown, tail) = self.shown(leaf, head);
        self.eliding = tail > 0;
        self.row.push(leaf, head, shown, tail);
        Ok(())
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        if self.hiding.is_some() || self.row.is_empty() {
            return Ok(());
        }
        if self.eliding {
            self.row.roll(bytes, self.columns.cells(self.depth()));
            return Ok(());
        }
        self.row.extend(bytes);
        if self.row.held() > HELD && self.is_visible() && self.view.rows != Rows::Tree {
            let mut field = String::new();
            self.field(&mut field);
            let look = self.columns.look(self.paint, self.depth(), &field, &self.view, Vec::new());
            self.row.print_begun(&look, &mut self.text)?;
            self.write_text()?;
        }
        Ok(())
    }

    fn close(&mut self, _id: GroupId, end: u64) -> Flow {
        let parts = self.levels.last().is_none_or(|level| self.parts_rows(level.kind));
        if self.hiding.is_none() && parts && !self.scattered {
            self.flush()?;
        }
        let level = self.levels.pop();
        if self.hiding == Some(self.levels.len()) {
            self.hiding = None;
            let (start, index) = level.as_ref().map_or((end, 0), |level| (level.start, level.index));
            let again = level.as_ref().is_some_and(|level| level.again);
            let reason = match level.as_ref().map(|level| level.counted) {
                Some(true) if self.view.max_items.is_some_and(|most| index >= most) => Reason::Items,
                _ if level.as_ref().is_some_and(|level| level.kind == GroupKind::Item) => Reason::Items,
                _ if self.levels.len() == 1 && (self.view.messages.is_some() || self.view.max_items.is_some()) => {
                    Reason::Messages
                }
                _ => Reason::Depth,
            };
            self.hide(reason, start, end, Hiding { index, again })?;
        }
        self.paths.pop();
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        if self.hiding.is_some() {
            return Ok(());
        }
        // What is missing at the end of a group belongs to the rows that are printed, not to the next one.
        let at_end = self.row.is_empty() && self.any_row && found.start == found.end && found.start == self.row.end;
        self.row.found.push(found.clone());
        if at_end {
            let look = self.columns.look(self.paint, self.depth(), "", &self.view, Vec::new());
            self.row.print_loose(&look, &mut self.text)?;
            self.write_text()?;
        }
        Ok(())
    }
}
