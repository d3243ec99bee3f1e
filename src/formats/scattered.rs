//! Telling objects that lie apart from what leads to them: bytes in the order of the file, groups that open again
//! where their objects go on, findings right before the leaf they speak of.
//!
//! A format finds its objects first, as a [`Chart`]; a [`Teller`] then hands them on.

use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, NO_TARGET, Step};
use crate::model::diag::{Diagnostic, Severity};
use crate::model::events::{Flow, Heading, PathStack, Reading, Said, Sink, Stop};
use crate::model::limits::PIECE;
use crate::model::num::len64;
use crate::wire::reader::Bytes;

/// The object that nothing leads to.
pub const NONE: u32 = u32::MAX;

/// The objects of an input, by number.
pub trait Chart {
    /// How many there are.
    fn count(&self) -> usize;

    /// The object whose group is around it, and how many are around it; none for a number that is not of this chart.
    fn parent(&self, number: u32) -> Option<(u32, u32)>;

    /// What its group is.
    fn kind(&self, number: u32) -> GroupKind;

    /// The step that leads to it from its parent; `text` is memory for one.
    fn step<'a>(&'a self, number: u32, text: &'a mut String) -> Step<'a>;

    /// The range and severity of a finding; they are in the order of their offsets.
    fn fault(&self, at: usize) -> Option<(u64, u64, Severity)>;

    /// A finding in words; `open` are the objects around the bytes it speaks of, outermost first.
    fn diagnostic(&self, at: usize, open: &[u32]) -> Option<Diagnostic>;
}

/// Words on the next leaf, in memory that is used again; each as in [`Said`].
#[derive(Debug, Default)]
pub struct Words {
    /// What the leaf says.
    pub words: String,
    /// What is said behind that.
    pub more: String,
    /// The value as JSON text.
    pub value: Option<String>,
    /// Why the best reading was taken.
    pub why: String,
    /// The field column.
    pub field: String,
    /// Offsets that lead to it.
    pub refs: u32,
    /// It stands in the row of the leaf before it.
    pub joins: bool,
    /// The end of its row.
    pub behind: String,
    /// Readings that compete.
    pub readings: Vec<Reading>,
    /// The best of them has a close rival.
    pub doubt: bool,
}

impl Words {
    fn clear(&mut self) {
        for text in [&mut self.words, &mut self.more, &mut self.why, &mut self.field, &mut self.behind] {
            text.clear();
        }
        self.value = None;
        self.refs = 0;
        self.joins = false;
        self.readings.clear();
        self.doubt = false;
    }
}

/// Tells leaves in the order of the file.
pub struct Teller<'a, C> {
    /// The input.
    pub bytes: Bytes<'a>,
    /// Its objects.
    pub chart: &'a C,
    /// Where everything goes.
    pub out: &'a mut dyn Sink,
    /// Words are of use.
    pub words: bool,
    /// Offset behind the last leaf.
    pub at: u64,
    /// The owner of the kinds.
    owner: u8,
    /// Objects whose groups are open, outermost first.
    open: Vec<u32>,
    /// Groups that have been open, by the number of their object.
    seen: Vec<bool>,
    /// The field group that is open inside the innermost object.
    inner: Vec<GroupId>,
    next_group: GroupId,
    next_fault: usize,
    paths: PathStack,
    /// What is said of the next leaf.
    said: Words,
    /// What follows stands in the row of the last leaf.
    row_open: bool,
}

impl<'a, C: Chart> Teller<'a, C> {
    /// A teller of what was found.
    pub fn new(bytes: Bytes<'a>, chart: &'a C, owner: u8, out: &'a mut dyn Sink) -> Teller<'a, C> {
        let count = chart.count();
        Teller {
            words: out.wants_words(),
            bytes,
            chart,
            out,
            at: 0,
            owner,
            open: Vec::new(),
            seen: vec![false; count],
            inner: Vec::new(),
            next_group: first_inner(count),
            next_fault: 0,
            paths: PathStack::default(),
            said: Words::default(),
            row_open: false,
        }
    }

    /// The words on the next leaf, to be filled.
    pub fn say(&mut self) -> &mut Words {
        &mut self.said
    }

    /// The path of the innermost open group.
    pub fn path(&self) -> &str {
        self.paths.path()
    }

    /// The path inside the innermost object.
    pub fn inner_path(&self) -> &str {
        self.paths.behind(self.open.len())
    }

    /// The objects whose groups are open, outermost first.
    pub fn open_objects(&self) -> &[u32] {
        &self.open
    }

    /// Whether the group of a field is open inside the innermost object.
    pub fn is_in_field(&self) -> bool {
        !self.inner.is_empty()
    }

    /// The innermost object whose group is open.
    pub fn innermost_object(&self) -> u32 {
        self.open.last().copied().unwrap_or(NONE)
    }

    /// Makes an object's group the innermost one: closes what it is not in, opens what is around it.
    ///
    /// # Errors
    /// What the sink returns; so for all that follow.
    pub fn enter(&mut self, number: u32) -> Flow {
        self.row_open = false;
        self.leave_fields()?;
        let mut chain = Vec::new();
        let mut next = number;
        let mut keep = 0;
        while let Some((parent, level)) = self.chart.parent(next) {
            let level = usize::try_from(level).unwrap_or(usize::MAX);
            if self.open.get(level) == Some(&next) {
                keep = level.saturating_add(1);
                break;
            }
            chain.push(next);
            next = parent;
        }
        while self.open.len() > keep {
            self.close()?;
        }
        for number in chain.into_iter().rev() {
            self.open(number)?;
        }
        Ok(())
    }

    /// Opens the group of an object inside the innermost one, which is its parent's.
    pub fn open(&mut self, number: u32) -> Flow {
        let parent = self.open.last().copied().unwrap_or(NO_GROUP);
        let mut text = String::new();
        let chart = self.chart;
        let step = chart.step(number, &mut text);
        let seen = usize::try_from(number).ok().and_then(|at| self.seen.get_mut(at));
        let again = seen.is_some_and(|seen| std::mem::replace(seen, true));
        if self.words {
            self.paths.push(step);
        }
        self.open.push(number);
        self.out.open(&Group { id: number, parent, kind: chart.kind(number), step, start: self.at, again })
    }

    /// Closes the group of the innermost object.
    pub fn close(&mut self) -> Flow {
        let Some(number) = self.open.pop() else { return Ok(()) };
        if self.words {
            self.paths.pop();
        }
        self.out.close(number, self.at)
    }

    /// Opens the group of a field, member or element inside the innermost one.
    pub fn enter_field(&mut self, step: Step<'_>, kind: GroupKind) -> Flow {
        let id = self.next_group;
        self.next_group = match self.next_group.wrapping_add(1) {
            NO_GROUP | 0 => first_inner(self.chart.count()),
            next => next,
        };
        let parent = self.innermost();
        self.inner.push(id);
        if self.words {
            self.paths.push(step);
        }
        self.out.open(&Group { id, parent, kind, step, start: self.at, again: false })
    }

    /// Closes the group of the innermost field.
    pub fn leave_field(&mut self) -> Flow {
        let Some(id) = self.inner.pop() else { return Ok(()) };
        if self.words {
            self.paths.pop();
        }
        self.out.close(id, self.at)
    }

    fn leave_fields(&mut self) -> Flow {
        while !self.inner.is_empty() {
            self.leave_field()?;
        }
        Ok(())
    }

    fn innermost(&self) -> GroupId {
        self.inner.last().or(self.open.last()).copied().unwrap_or(NO_GROUP)
    }

    /// Closes all groups, and tells the findings that are left.
    pub fn finish(&mut self) -> Flow {
        self.leave_fields()?;
        while !self.open.is_empty() {
            self.close()?;
        }
        while let Some(found) = self.chart.diagnostic(self.next_fault, &self.open) {
            self.next_fault = self.next_fault.saturating_add(1);
            self.out.diagnostic(&found)?;
        }
        Ok(())
    }

    /// What follows stands in the row of what was told last.
    pub fn keep_row(&mut self) {
        self.row_open = true;
    }

    /// Whether what follows has a row of its own.
    pub fn opens_row(&self) -> bool {
        !self.row_open
    }

    /// Whether a finding that is not told yet speaks of bytes of `start..end`.
    pub fn has_fault(&self, start: u64, end: u64) -> bool {
        let mut next = self.next_fault;
        while let Some((from, to, _)) = self.chart.fault(next).filter(|(from, ..)| *from < end) {
            if to > start && from < end {
                return true;
            }
            next = next.saturating_add(1);
        }
        false
    }

    /// Tells the next leaf, with what was said of it. Bytes that belong to a leaf before it stay with that one.
    pub fn leaf(&mut self, start: u64, end: u64, code: u8, target: Option<u64>, flags: Flags) -> Flow {
        self.leaf_of(start, end, Kind { owner: self.owner, code }, target, flags)
    }

    /// As [`Teller::leaf`], of any kind.
    pub fn leaf_of(&mut self, start: u64, end: u64, kind: Kind, target: Option<u64>, flags: Flags) -> Flow {
        let (start, end) = (start.max(self.at), end.min(self.bytes.len()));
        if start >= end {
            self.said.clear();
            return Ok(());
        }
        if start > self.at {
            // A hole inside an object: what it holds nobody knows.
            self.said.clear();
            let flags = self.faults_before(start)?;
            self.piece(self.at, start, Kind::UNREAD, None, flags)?;
        }
        let flags = flags.with(self.faults_before(end)?);
        self.piece(start, end, kind, target, flags)
    }

    /// Sends the findings that begin before `end`; their worst severity as a flag.
    fn faults_before(&mut self, end: u64) -> Result<Flags, Stop> {
        let mut flags = Flags::NONE;
        while let Some((.., severity)) = self.chart.fault(self.next_fault).filter(|(start, ..)| *start < end) {
            let found = self.chart.diagnostic(self.next_fault, &self.open);
            self.next_fault = self.next_fault.saturating_add(1);
            flags = flags.with(severity_flag(severity));
            if let Some(found) = found {
                self.out.diagnostic(&found)?;
            }
        }
        Ok(flags)
    }

    fn piece(&mut self, start: u64, end: u64, kind: Kind, target: Option<u64>, flags: Flags) -> Flow {
        let group = self.innermost();
        let leaf = Leaf { start, end, target: target.unwrap_or(NO_TARGET), group, kind, flags };
        if self.words {
            let Words { words, more, value, why, field, refs, joins, behind, readings, doubt } = &self.said;
            let (value, refs, joins, doubt) = (value.as_deref(), *refs, *joins, *doubt);
            let said = Said { words, more, value, readings, doubt, why, field, refs, joins, behind };
            if !said.is_empty() {
                self.out.say(&said)?;
            }
            self.said.clear();
        }
        self.at = end;
        let bytes = self.bytes.clipped(start, end);
        let (head, rest) = bytes.split_at_checked(PIECE).unwrap_or((bytes, &[]));
        self.out.leaf(&leaf, head)?;
        for more in rest.chunks(PIECE) {
            self.out.more(more)?;
        }
        Ok(())
    }

    /// Tells a run of many values of one width as leaves of at most [`PIECE`] bytes.
    pub fn many(&mut self, start: u64, end: u64, code: u8, each: u64) -> Flow {
        let most = len64(PIECE).saturating_sub(len64(PIECE).checked_rem(each.max(1)).unwrap_or(0)).max(each);
        let several = end.saturating_sub(start) > most;
        let flags = if several { Flags::MANY.with(Flags::PIECE) } else { Flags::MANY };
        let mut at = start;
        while at < end {
            let next = at.saturating_add(most).min(end);
            self.leaf(at, next, code, None, flags)?;
            at = next;
        }
        Ok(())
    }

    /// The line above an object, or nothing but the place where it begins in the order of a reader.
    pub fn heading(&mut self, rank: u32, text: &str, from: &str) -> Flow {
        if self.words { self.out.heading(&Heading { text, from, rank }) } else { Ok(()) }
    }
}

/// The first number of a group that is no object's.
fn first_inner(count: usize) -> GroupId {
    u32::try_from(count).unwrap_or(NO_GROUP - 1).saturating_add(1)
}

/// How a finding marks its leaf.
pub fn severity_flag(severity: Severity) -> Flags {
    match severity {
        Severity::Error => Flags::ERROR,
        Severity::Warning => Flags::WARNING,
        Severity::Note => Flags::NONE,
    }
}
