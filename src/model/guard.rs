//! The check that every walk passes through: leaves partition the layer, groups nest, findings have a
//! path, and no flood of them gets through.

use crate::model::bytemap::{BrokenPartition, Group, GroupId, Leaf, NO_GROUP, Partition};
use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Heading, Inner, PathStack, Said, Sink, Stop};
use crate::model::num::len64;
use crate::model::value::Event;

/// Stands between decoder and sink: checks the map and the nesting, fills in the paths of findings,
/// and holds back findings past the limit.
pub struct Guard<'a> {
    out: &'a mut dyn Sink,
    /// The sink keeps paths, so that they need not be kept here.
    lent: bool,
    partition: Partition,
    groups: Vec<GroupId>,
    paths: PathStack,
    /// Findings, counted.
    pub tally: Tally,
    /// Bytes of the last leaf that its decoder has still to send.
    due: u64,
    /// Where the map of the message's layer ended, once an inner layer has begun.
    outer_end: Option<u64>,
    /// Size of the inner layer that is open.
    inner_size: Option<u64>,
}

impl Guard<'_> {
    /// All bytes of the last leaf have come.
    fn complete(&self) -> Flow {
        match self.due {
            0 => Ok(()),
            due => Err(Stop::Internal(format!("{due} bytes of the leaf before {:#x} never came", self.partition.at()))),
        }
    }
}

impl<'a> Guard<'a> {
    /// A guard in front of a sink.
    pub fn new(out: &'a mut dyn Sink) -> Guard<'a> {
        Guard {
            lent: out.path().is_some(),
            out,
            partition: Partition::default(),
            groups: Vec::new(),
            paths: PathStack::default(),
            tally: Tally::default(),
            due: 0,
            outer_end: None,
            inner_size: None,
        }
    }

    /// Offset behind the last leaf of the message's layer.
    pub fn at(&self) -> u64 {
        self.outer_end.unwrap_or(self.partition.at())
    }

    /// The walk has ended: the map ends at `size`, and no group is open.
    ///
    /// # Errors
    /// [`Stop::Internal`] where that is not so.
    pub fn finish(&self, size: u64) -> Flow {
        self.complete()?;
        let broken = |broken: BrokenPartition| Stop::Internal(broken.to_string());
        self.partition.finish(self.inner_size.unwrap_or(size)).map_err(broken)?;
        if self.outer_end.is_some_and(|end| end != size) {
            return Err(broken(BrokenPartition { due: self.at(), start: size, end: size }));
        }
        match self.groups.last() {
            None => Ok(()),
            Some(group) => Err(Stop::Internal(format!("group {group} is still open at the end"))),
        }
    }
}

impl Sink for Guard<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        if group.parent != self.groups.last().copied().unwrap_or(NO_GROUP) {
            return Err(Stop::Internal(format!("group {} opens outside its parent", group.id)));
        }
        self.groups.push(group.id);
        if !self.lent {
            self.paths.push(group.step);
        }
        self.out.open(group)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        self.complete()?;
        self.partition.take(leaf).map_err(|broken| Stop::Internal(broken.to_string()))?;
        self.due = leaf.len().saturating_sub(len64(head.len()));
        if Some(&leaf.group) != self.groups.last() {
            return Err(Stop::Internal(format!("leaf {:#x} is not in the innermost group", leaf.start)));
        }
        self.out.leaf(leaf, head)
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        match self.due.checked_sub(len64(bytes.len())) {
            Some(due) => self.due = due,
            None => {
                return Err(Stop::Internal(format!("more bytes than the leaf before {:#x} has", self.partition.at())));
            }
        }
        self.out.more(bytes)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.complete()?;
        if self.groups.pop() != Some(id) || end != self.partition.at() {
            return Err(Stop::Internal(format!("group {id} closes out of turn at {end:#x}")));
        }
        if !self.lent {
            self.paths.pop();
        }
        self.out.close(id, end)
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        if !self.tally.count(found.severity()) {
            return Ok(());
        }
        if found.path.is_empty() {
            let path = self.out.path().unwrap_or(self.paths.path()).to_string();
            let found = found.clone().at(path);
            return self.out.diagnostic(&found);
        }
        self.out.diagnostic(found)
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        self.out.value(event)
    }

    fn duplicate_key(&mut self) -> Flow {
        self.out.duplicate_key()
    }

    fn wants_values(&self) -> bool {
        self.out.wants_values()
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        self.out.say(said)
    }

    fn wants_words(&self) -> bool {
        self.out.wants_words()
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Flow {
        self.out.heading(heading)
    }

    fn foot(&mut self, line: &str) -> Flow {
        self.out.foot(line)
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        self.complete()?;
        if let Some(group) = self.groups.last() {
            return Err(Stop::Internal(format!("group {group} is still open where an inner layer begins")));
        }
        if let Some(size) = self.inner_size.replace(layer.size) {
            self.partition.finish(size).map_err(|broken| Stop::Internal(broken.to_string()))?;
        } else {
            self.outer_end = Some(self.partition.at());
        }
        self.partition = Partition::default();
        self.out.layer(layer)
    }
}
