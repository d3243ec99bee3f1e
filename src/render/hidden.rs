//! What a view leaves out, gathered until the next row that is shown: never silently.

use crate::model::num;

/// Why rows are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Elements of a list past the number that was asked for.
    Items,
    /// Messages of a stream that were not asked for.
    Messages,
    /// Groups deeper than asked for.
    Depth,
    /// Rows outside the ranges.
    Range,
    /// Rows outside the path.
    Path,
    /// Rows past the number that an overview shows.
    Rows,
}

/// A row or group that is not shown.
#[derive(Debug, Clone, Copy)]
pub struct Hiding {
    /// Its number in its list.
    pub index: u64,
    /// The group has been open before.
    pub again: bool,
}

impl Hiding {
    /// A row, which has no number.
    pub fn row() -> Hiding {
        Hiding { index: 0, again: false }
    }

    /// Adds it to a run.
    pub fn add_to(self, hidden: &mut Hidden, start: u64, end: u64) {
        if self.again {
            hidden.add_object(self.index, end);
        } else {
            hidden.add(self.index, start, end);
        }
    }
}

/// A run of what is not shown.
#[derive(Debug, Clone)]
pub struct Hidden {
    /// Why.
    pub reason: Reason,
    /// Path of the list or of the first group.
    pub path: String,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte.
    pub end: u64,
    /// Depth of the rows around it.
    pub depth: usize,
    /// The lowest and the highest number in the list.
    first: u64,
    last: u64,
    count: u64,
    /// Objects that groups lead to lie among them.
    objects: bool,
    smallest: u64,
    largest: u64,
}

impl Hidden {
    /// A run that begins with one group or row, number `index` of its list.
    pub fn new(reason: Reason, path: &str, start: u64, depth: usize, index: u64) -> Hidden {
        Hidden {
            reason,
            path: path.to_string(),
            start,
            end: start,
            depth,
            first: index,
            last: index,
            count: 0,
            objects: false,
            smallest: u64::MAX,
            largest: 0,
        }
    }

    /// Whether a further group belongs to this run.
    pub fn continues(&self, reason: Reason, path: &str) -> bool {
        self.reason == reason && (!matches!(reason, Reason::Items) || self.path == path)
    }

    /// Takes a group or row that is not shown.
    pub fn add(&mut self, index: u64, start: u64, end: u64) {
        let size = end.saturating_sub(start);
        self.span(index, end);
        self.count = self.count.saturating_add(1);
        self.smallest = self.smallest.min(size);
        self.largest = self.largest.max(size);
    }

    /// Takes more of a group that has been counted: an object that it leads to.
    pub fn add_object(&mut self, index: u64, end: u64) {
        self.objects = true;
        self.span(index, end);
    }

    fn span(&mut self, index: u64, end: u64) {
        self.first = self.first.min(index);
        self.last = self.last.max(index);
        self.end = end;
    }

    /// The line that stands for it; none where the view is about something else altogether.
    pub fn line(&self) -> Option<String> {
        let range = format!("{:#04x}..{:#04x}", self.start, self.end);
        let bytes = num::bytes(self.end.saturating_sub(self.start));
        Some(match self.reason {
            Reason::Items if self.objects => {
                let list = format!("{}[{}..{}]", self.path, self.first, self.last.saturating_add(1));
                match num::count(self.count, "element", "elements") {
                    _ if self.count == 0 => format!("... {bytes} {range} of what {list} lead to"),
                    elements => format!("... {elements} {list} and what they lead to, {bytes} {range}"),
                }
            }
            Reason::Items => {
                let each = if self.smallest == self.largest {
                    format!("{} each", num::bytes(self.largest))
                } else {
                    format!("{} to {} bytes each", self.smallest, self.largest)
                };
                let elements = num::count(self.count, "element", "elements");
                format!(
                    "... {elements} {}[{}..{}], {range}, {each}",
                    self.path,
                    self.first,
                    self.last.saturating_add(1)
                )
            }
            Reason::Messages => {
                let messages = num::count(self.count, "message", "messages");
                format!("... {messages} #{}..#{}, {bytes} {range}", self.first, self.last.saturating_add(1))
            }
            Reason::Depth => format!("... {bytes} {range} lie deeper"),
            Reason::Range => format!("... {bytes} {range} not in the range"),
            Reason::Rows => format!("... {bytes} {range} in further rows"),
            Reason::Path => return None,
        })
    }
}
