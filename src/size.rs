//! Ledgers: how many bytes of an input have which cause, and which field.

use std::collections::HashMap;

use crate::formats;
use crate::model::bytemap::{Cause, Group, GroupId, GroupKind, Kind, Leaf, Step};
use crate::model::events::{Flow, Inner, Sink};
use crate::model::limits;

/// Bytes by cause; width stands apart from the cause of its leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Causes([u64; Cause::ALL.len()]);

impl Causes {
    /// Adds a leaf, by its first bytes.
    pub fn add(&mut self, leaf: &Leaf, head: &[u8]) {
        let cause = formats::cause_of(leaf);
        let width = if cause == Cause::Payload { formats::width_of(leaf, head) } else { 0 };
        self.put(Cause::Width, width);
        self.put(cause, leaf.len().saturating_sub(width));
    }

    fn put(&mut self, cause: Cause, bytes: u64) {
        if let Some(sum) = self.0.get_mut(cause.index()) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Bytes of one cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0.get(cause.index()).copied().unwrap_or(0)
    }

    /// The causes that occur, with their bytes, in the order of [`Cause::ALL`].
    pub fn present(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        Cause::ALL.into_iter().map(|cause| (cause, self.of(cause))).filter(|(_, bytes)| *bytes > 0)
    }

    /// All bytes.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// `325 bytes = payload 96 + width 4 + …`
    pub fn sentence(&self) -> String {
        let parts: Vec<String> = self.present().map(|(cause, bytes)| format!("{} {bytes}", cause.name())).collect();
        let total = self.total();
        let unit = if total == 1 { "byte" } else { "bytes" };
        if parts.is_empty() { format!("{total} {unit}") } else { format!("{total} {unit} = {}", parts.join(" + ")) }
    }
}

/// One line of a ledger by field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldLine {
    /// How often the field occurs.
    pub count: u64,
    /// Its bytes, those of its children left out.
    pub bytes: u64,
    /// Kinds that its values begin with, a bit for each code below 64.
    kinds: u64,
    /// The format they are of.
    owner: u8,
}

impl FieldLine {
    /// Names of the kinds that the values begin with.
    pub fn kinds(&self) -> Vec<&'static str> {
        let codes = (0u8..64).filter(|code| self.kinds >> code & 1 == 1);
        codes.map(|code| formats::kind_info(Kind { owner: self.owner, code }).name).collect()
    }
}

/// Adds up an input by cause and by field; elements of a list count together as `items[].sku`.
#[derive(Debug, Default)]
pub struct Ledger {
    /// By cause.
    pub causes: Causes,
    /// By field.
    pub fields: HashMap<String, FieldLine, foldhash::fast::FixedState>,
    /// Fields past the limit, together.
    pub others: FieldLine,
    /// Groups: the rows that a dump would have.
    pub rows: u64,
    /// Those of them that are no values: what serves the objects around them.
    pub parts: u64,
    path: String,
    marks: Vec<usize>,
    /// The value of the innermost group has not begun.
    before_value: bool,
    /// What follows is of a layer inside the message.
    inner: bool,
}

impl Ledger {
    fn line(&mut self) -> &mut FieldLine {
        if self.fields.len() >= limits::LEDGER_PATHS && !self.fields.contains_key(&self.path) {
            return &mut self.others;
        }
        // Looked up by reference first: the path is copied once a field, not once a leaf.
        if !self.fields.contains_key(&self.path) {
            self.fields.insert(self.path.clone(), FieldLine::default());
        }
        match self.fields.get_mut(&self.path) {
            Some(line) => line,
            None => &mut self.others,
        }
    }
}

impl Sink for Ledger {
    fn layer(&mut self, _layer: &Inner<'_>) -> Flow {
        self.inner = true;
        Ok(())
    }

    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.marks.push(self.path.len());
        // Elements of a packed run count with the run.
        if matches!(group.kind, GroupKind::Element | GroupKind::Item) {
            return Ok(());
        }
        match group.step {
            Step::Index(_) => self.path.push_str("[]"),
            Step::None | Step::Message(_) => {}
            Step::Key(_) => self.path.push_str("{}"),
            Step::Name(_) => crate::model::bytemap::push_step(&mut self.path, group.step),
            Step::Field(name, _) => {
                crate::model::bytemap::push_step(&mut self.path, Step::Name(name));
                self.path.push_str("[]");
            }
            Step::Entry(name, _) => {
                crate::model::bytemap::push_step(&mut self.path, Step::Name(name));
                self.path.push_str("{}");
            }
        }
        self.before_value = true;
        if group.again {
            return Ok(());
        }
        self.rows = self.rows.saturating_add(1);
        if group.kind == GroupKind::Part {
            self.parts = self.parts.saturating_add(1);
        } else if group.kind != GroupKind::Root {
            let line = self.line();
            line.count = line.count.saturating_add(1);
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        if self.inner {
            return Ok(());
        }
        self.causes.add(leaf, head);
        let begins = self.before_value
            && matches!(formats::cause_of(leaf), Cause::Payload | Cause::Type | Cause::Length | Cause::Default);
        // A length or count in front of a value says nothing of its kind.
        let begins = begins && !matches!(formats::kind_info(leaf.kind).name, "length" | "count");
        self.before_value &= !begins;
        let line = self.line();
        line.bytes = line.bytes.saturating_add(leaf.len());
        if begins && leaf.kind.code < 64 {
            line.kinds |= 1 << leaf.kind.code;
            line.owner = leaf.kind.owner;
        }
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        let len = self.marks.pop().unwrap_or(0);
        self.path.truncate(len);
        Ok(())
    }
}
