//! What the second half of a walk tells through: the objects of a buffer as a [`Chart`](scattered::Chart), and a
//! teller that knows tables and offsets.

use std::ops::{Deref, DerefMut};

use crate::formats::flatbuffers::faults::{Fault, Wrong};
use crate::formats::flatbuffers::found::{Found, NONE, Object, Reach, What};
use crate::formats::flatbuffers::table::{Slot, Vtable};
use crate::formats::scattered;
use crate::model::bytemap::{GroupKind, Step};
use crate::model::diag::{Diagnostic, Severity};
use crate::model::events::{Flow, PathStack, Sink, Stop};
use crate::model::flat::Flat;
use crate::wire::reader::Bytes;

/// Everything that was found, and the schema it is told by.
pub struct Chart<'a> {
    found: &'a Found,
    /// The schema, declared or guessed.
    flat: Option<&'a Flat>,
}

impl<'a> Chart<'a> {
    /// A chart of what was found.
    pub fn new(found: &'a Found, flat: Option<&'a Flat>) -> Chart<'a> {
        Chart { found, flat }
    }

    fn object(&self, number: u32) -> Option<&'a Object> {
        self.found.objects.get(usize::try_from(number).ok()?)
    }

    fn told(&self, fault: &Fault, open: &[u32]) -> Diagnostic {
        let table = open.iter().rev().find_map(|number| match self.object(*number)?.what {
            What::Table(ty) => ty,
            _ => None,
        });
        let object = table.and_then(|ty| self.flat?.object(ty));
        let name = |slot: u16| {
            object.and_then(|object| object.field(slot)).map_or_else(|| slot.to_string(), |field| field.name.clone())
        };
        fault.told(&name)
    }
}

impl scattered::Chart for Chart<'_> {
    fn count(&self) -> usize {
        self.found.objects.len()
    }

    fn parent(&self, number: u32) -> Option<(u32, u32)> {
        self.object(number).map(|object| (object.parent, object.level))
    }

    fn kind(&self, number: u32) -> GroupKind {
        match self.object(number).map(|object| object.what) {
            Some(What::Head) if number == 0 => GroupKind::Root,
            Some(What::Head | What::Table(_) | What::Struct(_)) => GroupKind::Record,
            Some(What::Vector(_)) => GroupKind::List,
            Some(What::Text) | None => GroupKind::Value,
        }
    }

    fn step<'a>(&'a self, number: u32, text: &'a mut String) -> Step<'a> {
        self.object(number).map_or(Step::None, |object| step_of(self.found, self.flat, object, text))
    }

    fn fault(&self, at: usize) -> Option<(u64, u64, Severity)> {
        self.found.faults.get(at).map(|fault| (fault.start, fault.end, fault.what.severity()))
    }

    fn diagnostic(&self, at: usize, open: &[u32]) -> Option<Diagnostic> {
        self.found.faults.get(at).map(|fault| self.told(fault, open))
    }
}

/// Tells leaves in the order of the file.
pub struct Teller<'a> {
    told: scattered::Teller<'a, Chart<'a>>,
    /// The objects of the input.
    pub found: &'a Found,
    /// The schema, declared or guessed.
    pub flat: Option<&'a Flat>,
    slots: Vec<Slot>,
    /// For each object its place in the order in which a reader reaches it.
    pub ranks: Vec<u32>,
}

impl<'a> Deref for Teller<'a> {
    type Target = scattered::Teller<'a, Chart<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.told
    }
}

impl DerefMut for Teller<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.told
    }
}

impl<'a> Teller<'a> {
    /// A teller of what was found.
    pub fn new(bytes: Bytes<'a>, chart: &'a Chart<'a>, owner: u8, out: &'a mut dyn Sink) -> Teller<'a> {
        let told = scattered::Teller::new(bytes, chart, owner, out);
        Teller { told, found: chart.found, flat: chart.flat, slots: Vec::new(), ranks: Vec::new() }
    }

    /// An object by its number.
    pub fn object(&self, number: u32) -> Option<&'a Object> {
        self.found.objects.get(usize::try_from(number).ok()?)
    }

    /// Opens the group of what a uoffset at `at` leads to, where it is the first that leads there: the object goes
    /// on in it. Else a group of its own. Returns the object for [`Teller::leave_target`].
    pub fn enter_target(&mut self, at: u64, step: Step<'_>, kind: GroupKind) -> Result<Option<u32>, Stop> {
        let innermost = self.innermost_object();
        let first = self.target_of(at).filter(|(_, object)| object.from == at && object.parent == innermost);
        match first.filter(|_| !self.is_in_field()) {
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
        let object = self.object(self.innermost_object())?;
        let shared = self.found.vtables.get(usize::try_from(object.vtable).ok()?)?;
        Some((object, shared.vtable))
    }

    /// Where the table begins whose field is told.
    pub fn table_start(&self) -> Option<u64> {
        let object = self.object(self.innermost_object())?;
        matches!(object.what, What::Table(_)).then_some(object.start)
    }

    /// A list of slots, whose memory is used again.
    pub fn take_slots(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.slots)
    }

    /// Gives the list back.
    pub fn keep_slots(&mut self, slots: Vec<Slot>) {
        self.slots = slots;
    }

    /// A finding that shows only now, on the bytes that come next.
    ///
    /// # Errors
    /// What the sink returns; so for all that follow.
    pub fn warn(&mut self, start: u64, end: u64, what: Wrong) -> Flow {
        let found = self.chart.told(&Fault { start, end, what }, self.open_objects());
        self.out.diagnostic(&found)
    }

    /// The line above an object, or nothing but the place where it begins.
    pub fn heading(&mut self, number: u32, text: &str, from: &str) -> Flow {
        let rank = usize::try_from(number).ok().and_then(|at| self.ranks.get(at)).copied().unwrap_or(u32::MAX);
        self.told.heading(rank, text, from)
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
