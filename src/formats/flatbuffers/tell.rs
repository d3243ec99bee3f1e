//! What the second half of a walk tells through: bytes in order, groups that open again where their objects go on,
//! findings right before the leaf they speak of.

use crate::formats::flatbuffers::faults::{Fault, Wrong};
use crate::formats::flatbuffers::found::{Found, NONE, Object, Reach, What};
use crate::formats::flatbuffers::table::{Slot, Vtable};
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, NO_TARGET, Step};
use crate::model::diag::Severity;
use crate::model::events::{Flow, Heading, PathStack, Said, Sink, Stop};
use crate::model::flat::Flat;
use crate::model::limits::PIECE;
use crate::model::num::len64;
use crate::wire::reader::Bytes;

/// Tells leaves in the order of the file.
pub struct Teller<'a> {
    /// The input.
    pub bytes: Bytes<'a>,
    /// Its objects.
    pub found: &'a Found,
    /// The schema, declared or guessed.
    pub flat: Option<&'a Flat>,
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
    /// Zeros that follow stand in the row of the last leaf.
    row_open: bool,
    slots: Vec<Slot>,
    /// For each object its place in the order in which a reader reaches it.
    pub ranks: Vec<u32>,
}

/// Words on the next leaf, in memory that is used again.
#[derive(Debug, Default)]
pub struct Words {
    /// As [`Said::words`].
    pub words: String,
    /// As [`Said::more`].
    pub more: String,
    /// As [`Said::value`].
    pub value: Option<String>,
    /// As [`Said::why`].
    pub why: String,
    /// As [`Said::field`].
    pub field: String,
    /// As [`Said::refs`].
    pub refs: u32,
    /// As [`Said::joins`].
    pub joins: bool,
    /// As [`Said::behind`].
    pub behind: String,
    /// As [`Said::readings`].
    pub readings: Vec<crate::model::events::Reading>,
    /// As [`Said::doubt`].
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

impl<'a> Teller<'a> {
    /// A teller of what was found.
    pub fn new(
        bytes: Bytes<'a>,
        found: &'a Found,
        flat: Option<&'a Flat>,
        owner: u8,
        out: &'a mut dyn Sink,
    ) -> Teller<'a> {
        Teller {
            words: out.wants_words(),
            bytes,
            found,
            flat,
            out,
            at: 0,
            owner,
            open: Vec::new(),
            seen: vec![false; found.objects.len()],
            inner: Vec::new(),
            next_group: u32::try_from(found.objects.len()).unwrap_or(NO_GROUP - 1).saturating_add(1),
            next_fault: 0,
            paths: PathStack::default(),
            said: Words::default(),
            row_open: false,
            slots: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// An object by its number.
    pub fn object(&self, number: u32) -> Option<&'a Object> {
        self.found.objects.get(usize::try_from(number).ok()?)
    }

    /// The words on the next leaf, to be filled.
    pub fn say(&mut self) -> &mut Words {
        &mut self.said
    }

    /// The path of the innermost open group.
    pub fn path(&self) -> &str {
        self.paths.path()
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
        while let Some(object) = self.object(next) {
            let level = usize::try_from(object.level).unwrap_or(usize::MAX);
            if self.open.get(level) == Some(&next) {
                break;
            }
            chain.push(next);
            next = object.parent;
        }
        let keep = match self.object(next) {
            Some(object) => usize::try_from(object.level).unwrap_or(0).saturating_add(1),
            None => 0,
        };
        while self.open.len() > keep {
            self.close()?;
        }
        for number in chain.into_iter().rev() {
            self.open(number)?;
        }
        Ok(())
    }

    /// Opens the group of what a uoffset at `at` leads to, where it is the first that leads there: the object goes
    /// on in it. Else a group of its own. Returns the object for [`Teller::leave_target`].
    pub fn enter_target(&mut self, at: u64, step: Step<'_>, kind: GroupKind) -> Result<Option<u32>, Stop> {
        let innermost = self.open.last().copied().unwrap_or(NONE);
        let first = self.target_of(at).filter(|(_, object)| object.from == at && object.parent == innermost);
        match first.filter(|_| self.inner.is_empty()) {
            Some((number, _)) => {
                self.open(number)?;
                Ok(Some(number))
            }
            None => {
                self.enter_field(step, kind)?;
                Ok(None)
            }
        }
    }

    /// Closes what [`Teller::enter_target`] has opened.
    pub fn leave_target(&mut self, opened: Option<u32>) -> Flow {
        if opened.is_some() { self.close() } else { self.leave_field() }
    }

    /// The object that an offset at a place leads to.
    fn target_of(&self, at: u64) -> Option<(u32, &'a Object)> {
        let near = at.checked_add(u64::from(self.bytes.u32(at)?))?;
        let far = || at.checked_add(self.bytes.u64(at)?);
        let here = |target: u64| {
            let place = self.found.objects.partition_point(|object| object.start < target);
            let object = self.found.objects.get(place).filter(|object| object.start == target && object.from == at)?;
            Some((u32::try_from(place).ok()?, object))
        };
        here(near).or_else(|| here(far()?))
    }

    /// The innermost table and its vtable.
    pub fn table_and_vtable(&self) -> Option<(&'a Object, Vtable)> {
        let object = self.object(*self.open.last()?)?;
        let shared = self.found.vtables.get(usize::try_from(object.vtable).ok()?)?;
        Some((object, shared.vtable))
    }

    /// Where the table begins whose field is told.
    pub fn table_start(&self) -> Option<u64> {
        let object = self.object(*self.open.last()?)?;
        matches!(object.what, What::Table(_)).then_some(object.start)
    }

    /// The path inside the innermost object.
    pub fn inner_path(&self) -> &str {
        let outside = self.open.len();
        self.paths.behind(outside)
    }

    /// Whether a finding that is not told yet speaks of bytes of `start..end`.
    pub fn has_fault(&self, start: u64, end: u64) -> bool {
        let pending = self.found.faults.get(self.next_fault..).unwrap_or_default();
        pending.iter().take_while(|fault| fault.start < end).any(|fault| fault.end > start)
    }

    /// A list of slots, whose memory is used again.
    pub fn take_slots(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.slots)
    }

    /// Gives the list back.
    pub fn keep_slots(&mut self, slots: Vec<Slot>) {
        self.slots = slots;
    }

    /// Zeros that follow end the row of what was told last.
    pub fn keep_row(&mut self) {
        self.row_open = true;
    }

    /// Whether zeros that follow have a row of their own.
    pub fn opens_row(&self) -> bool {
        !self.row_open
    }

    /// A finding that shows only now, on the bytes that come next.
    pub fn warn(&mut self, start: u64, end: u64, what: Wrong) -> Flow {
        self.diagnose(&Fault { start, end, what })
    }

    fn open(&mut self, number: u32) -> Flow {
        let Some(object) = self.object(number) else { return Ok(()) };
        let parent = self.open.last().copied().unwrap_or(NO_GROUP);
        let mut slot = String::new();
        let step = step_of(self.found, self.flat, object, &mut slot);
        let kind = match object.what {
            What::Head if number == 0 => GroupKind::Root,
            What::Head | What::Table(_) | What::Struct(_) => GroupKind::Record,
            What::Vector(_) => GroupKind::List,
            What::Text => GroupKind::Value,
        };
        let seen = usize::try_from(number).ok().and_then(|at| self.seen.get_mut(at));
        let again = seen.is_some_and(|seen| std::mem::replace(seen, true));
        if self.words {
            self.paths.push(step);
        }
        self.open.push(number);
        self.out.open(&Group { id: number, parent, kind, step, start: self.at, again })
    }

    fn close(&mut self) -> Flow {
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
            NO_GROUP | 0 => u32::try_from(self.found.objects.len()).unwrap_or(0).saturating_add(1),
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

    /// Closes all groups.
    pub fn finish(&mut self) -> Flow {
        self.leave_fields()?;
        while !self.open.is_empty() {
            self.close()?;
        }
        while let Some(fault) = self.found.faults.get(self.next_fault) {
            self.next_fault = self.next_fault.saturating_add(1);
            self.diagnose(fault)?;
        }
        Ok(())
    }

    fn diagnose(&mut self, fault: &Fault) -> Flow {
        let table = self.open.iter().rev().find_map(|number| match self.object(*number)?.what {
            What::Table(ty) => ty,
            _ => None,
        });
        let flat = self.flat;
        let name = |slot: u16| {
            let object = table.and_then(|ty| flat?.object(ty));
            object.and_then(|object| object.field(slot)).map_or_else(|| slot.to_string(), |field| field.name.clone())
        };
        self.out.diagnostic(&fault.told(&name))
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
        while let Some(fault) = self.found.faults.get(self.next_fault).filter(|fault| fault.start < end) {
            self.next_fault = self.next_fault.saturating_add(1);
            flags = flags.with(match fault.what.severity() {
                Severity::Error => Flags::ERROR,
                Severity::Warning => Flags::WARNING,
                Severity::Note => Flags::NONE,
            });
            self.diagnose(fault)?;
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

    /// The line above an object, or nothing but the place where it begins.
    pub fn heading(&mut self, number: u32, text: &str, from: &str) -> Flow {
        if !self.words {
            return Ok(());
        }
        let rank = usize::try_from(number).ok().and_then(|at| self.ranks.get(at)).copied().unwrap_or(u32::MAX);
        self.out.heading(&Heading { text, from, rank })
    }
}

/// The step that leads to an object from its parent. A field that the schema does not know goes by its slot.
pub fn step_of<'a>(found: &Found, flat: Option<&'a Flat>, object: &Object, number: &'a mut String) -> Step<'a> {
    match object.reach {
        Reach::Same => Step::None,
        Reach::Index(index) => Step::Index(index),
        Reach::Field(slot) => {
            let parent = usize::try_from(object.parent).ok().and_then(|at| found.objects.get(at));
            let ty = match parent.map(|parent| parent.what) {
                Some(What::Table(ty)) => ty,
                _ => None,
            };
            let field = flat.and_then(|flat| flat.object(ty?)?.field(slot));
            match field {
                Some(field) => Step::Name(&field.name),
                None => {
                    crate::model::num::push_number(number, u64::from(slot));
                    Step::Name(number)
                }
            }
        }
    }
}

/// A path for a sentence: the root by a word, numbers of slots behind a dot.
pub fn shown(path: &str) -> String {
    match path.chars().next() {
        None => "(root)".to_string(),
        Some(c) if c.is_ascii_digit() => format!(".{path}"),
        Some(_) => path.to_string(),
    }
}

/// The path of an object, from its parents.
pub fn path_of(found: &Found, flat: Option<&Flat>, number: u32) -> String {
    let mut chain = Vec::new();
    let mut next = number;
    while let Some(object) = usize::try_from(next).ok().and_then(|at| found.objects.get(at)) {
        chain.push(object);
        next = object.parent;
        if next == NONE {
            break;
        }
    }
    let mut paths = PathStack::default();
    for object in chain.into_iter().rev() {
        paths.push(step_of(found, flat, object, &mut String::new()));
    }
    paths.path().to_string()
}
