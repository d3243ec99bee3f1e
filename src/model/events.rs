//! What a decoder reports while it walks: groups, leaves, values and findings, in the order of the
//! bytes. Whoever wants some of it implements [`Sink`]; nothing is kept that nobody keeps.
//!
//! Rules that every decoder keeps and the driver checks:
//! - groups nest, and each leaf belongs to the innermost open group;
//! - leaves partition the layer ([`crate::model::bytemap::Partition`]);
//! - a diagnostic comes before the leaf it speaks of, or right behind it;
//! - a leaf longer than [`crate::model::limits::PIECE`] comes with its first bytes, the others follow
//!   through [`Sink::more`].

use std::io;

use crate::model::bytemap::{Group, GroupId, Leaf, Step, push_step};
use crate::model::diag::Diagnostic;
use crate::model::value::Event;

/// Why a walk ended before the end of the input.
#[derive(Debug)]
pub enum Stop {
    /// The sink has seen all it wanted.
    Enough,
    /// The reader of our output went away.
    Closed,
    /// Input could not be read.
    Read(io::Error),
    /// Output could not be written.
    Write(io::Error),
    /// A value has no form in the target format; the sentence says which and why.
    Refused(String),
    /// A value of a text does not fit the schema of the target.
    Misfit(Misfit),
    /// A rule of this project is broken: never the input's fault.
    Internal(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        if error.kind() == io::ErrorKind::BrokenPipe { Stop::Closed } else { Stop::Write(error) }
    }
}

/// A value that does not fit the schema it is written by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Offset in the input's message layer.
    pub start: u64,
    /// Path in the input.
    pub path: String,
    /// What was expected and what stands there.
    pub message: String,
    /// What to try; empty if there is nothing to say.
    pub help: String,
}

/// What a decoder knows of a leaf beyond its kind and bytes: names that stand in a schema, and what else
/// the bytes could be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// What the leaf says, instead of what its format makes of kind and bytes; empty leaves it at that.
    pub words: &'a str,
    /// What is said behind that: `, not in this schema`.
    pub more: &'a str,
    /// The value as JSON text, likewise.
    pub value: Option<&'a str>,
    /// The readings that compete, best first, where there is more than one.
    pub readings: &'a [Reading],
    /// The best of them has a close rival.
    pub doubt: bool,
    /// Why the best reading was taken, for a note below the row; empty where there is nothing to say.
    pub why: &'a str,
    /// What the field column says of the leaf, where that is not its path: `.kind +7`, `(slots)`, `[2]`. Those of
    /// the leaves of a row are joined.
    pub field: &'a str,
    /// How many offsets lead to the leaf.
    pub refs: u32,
    /// It stands in the row of the leaf before it, if there is room, although it has a field of its own.
    pub joins: bool,
    /// What is said at the end of its row: what leads to the object that is told there.
    pub behind: &'a str,
}

impl Said<'_> {
    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        let words = [self.words, self.more, self.why, self.field, self.behind];
        words.iter().all(|text| text.is_empty()) && self.value.is_none() && self.readings.is_empty() && self.refs == 0
    }
}

/// What was said on a leaf, kept until the leaf comes; its memory is used again.
#[derive(Debug, Clone, Default)]
pub struct Spoken {
    /// As [`Said::words`].
    pub words: String,
    /// As [`Said::more`].
    pub more: String,
    /// As [`Said::value`].
    pub value: Option<String>,
    /// As [`Said::readings`].
    pub readings: Vec<Reading>,
    /// As [`Said::doubt`].
    pub doubt: bool,
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
    /// Something was said.
    pub any: bool,
}

impl Spoken {
    /// Keeps what is said.
    pub fn hear(&mut self, said: &Said<'_>) {
        self.forget();
        self.words.push_str(said.words);
        self.more.push_str(said.more);
        self.value = said.value.map(str::to_string);
        self.readings.extend_from_slice(said.readings);
        self.doubt = said.doubt;
        self.why.push_str(said.why);
        self.field.push_str(said.field);
        self.refs = said.refs;
        self.joins = said.joins;
        self.behind.push_str(said.behind);
        self.any = true;
    }

    /// The leaf has come.
    pub fn forget(&mut self) {
        if !std::mem::take(&mut self.any) {
            return;
        }
        self.words.clear();
        self.more.clear();
        self.value = None;
        self.readings.clear();
        self.doubt = false;
        self.why.clear();
        self.field.clear();
        self.refs = 0;
        self.joins = false;
        self.behind.clear();
    }
}

/// One reading of bytes that say nothing of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What the bytes would be: `message`, `packed varint`.
    pub kind: &'static str,
    /// What they would say.
    pub value: String,
    /// What speaks for or against it.
    pub why: String,
}

/// A layer inside the message: bytes that become other bytes, such as a compressed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inner<'a> {
    /// What it holds, for a heading.
    pub name: &'a str,
    /// What undid it: `gzip`.
    pub by: &'static str,
    /// Offset of its bytes in the message's layer.
    pub start: u64,
    /// Offset behind them.
    pub end: u64,
    /// Bytes it has now.
    pub size: u64,
}

/// The line above an object that lies apart from what leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    /// What it is: `table document: Document, 20 bytes 0x2c..0x40`.
    pub text: &'a str,
    /// What leads to it, set to the right: `<- 0x1c`.
    pub from: &'a str,
    /// Its place in the order in which a reader reaches the objects.
    pub rank: u32,
}

/// Go on, or stop.
pub type Flow = Result<(), Stop>;

/// Takes what a decoder reports. Every method has a default that ignores its event.
pub trait Sink {
    /// A group opens inside the innermost open one.
    ///
    /// # Errors
    /// A [`Stop`] ends the walk; the same holds for every method here.
    fn open(&mut self, _group: &Group<'_>) -> Flow {
        Ok(())
    }

    /// The next leaf. `head` is all of its bytes, or the first [`crate::model::limits::PIECE`] of them.
    fn leaf(&mut self, _leaf: &Leaf, _head: &[u8]) -> Flow {
        Ok(())
    }

    /// Further bytes of the last leaf, in order.
    fn more(&mut self, _bytes: &[u8]) -> Flow {
        Ok(())
    }

    /// The innermost open group closes; `end` is the offset behind its last byte.
    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        Ok(())
    }

    /// Something is wrong or odd.
    fn diagnostic(&mut self, _found: &Diagnostic) -> Flow {
        Ok(())
    }

    /// The next part of the value tree, in wire order. Only sent where [`Sink::wants_values`] says so.
    fn value(&mut self, _event: Event<'_>) -> Flow {
        Ok(())
    }

    /// A key of the innermost map stands in it for a second time; sent right before or behind its value
    /// event. Unlike the finding that says so, this is sent however many there are.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn duplicate_key(&mut self) -> Flow {
        Ok(())
    }

    /// What the values that were sent leave out, in a sentence; behind them.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn left_out(&mut self, _sentence: &str) -> Flow {
        Ok(())
    }

    /// Whether value events are of use.
    fn wants_values(&self) -> bool {
        false
    }

    /// The path of the innermost open group, where the sink keeps one: nobody in front of it needs to.
    fn path(&self) -> Option<&str> {
        None
    }

    /// Words on the leaf that comes next. Only sent where [`Sink::wants_words`] says so.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn say(&mut self, _said: &Said<'_>) -> Flow {
        Ok(())
    }

    /// Whether words are of use.
    fn wants_words(&self) -> bool {
        false
    }

    /// An object begins with the next leaf, apart from what leads to it; without text no line is due. Only sent where [`Sink::wants_words`]
    /// says so.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn heading(&mut self, _heading: &Heading<'_>) -> Flow {
        Ok(())
    }

    /// A line on the whole input, for the foot of a dump. Only sent where [`Sink::wants_words`] says so.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn foot(&mut self, _line: &str) -> Flow {
        Ok(())
    }

    /// The map of the layer ends here, and that of a layer inside it begins, at offset 0. All groups are
    /// closed.
    ///
    /// # Errors
    /// As for [`Sink::open`].
    fn layer(&mut self, _layer: &Inner<'_>) -> Flow {
        Ok(())
    }
}

/// A sink that hands everything to two others.
pub struct Tee<'a> {
    /// Is told first.
    pub first: &'a mut dyn Sink,
    /// Is told second.
    pub second: &'a mut dyn Sink,
}

impl Sink for Tee<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.first.open(group)?;
        self.second.open(group)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        self.first.leaf(leaf, head)?;
        self.second.leaf(leaf, head)
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        self.first.more(bytes)?;
        self.second.more(bytes)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.first.close(id, end)?;
        self.second.close(id, end)
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.first.diagnostic(found)?;
        self.second.diagnostic(found)
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        self.first.value(event.clone())?;
        self.second.value(event)
    }

    fn duplicate_key(&mut self) -> Flow {
        self.first.duplicate_key()?;
        self.second.duplicate_key()
    }

    fn left_out(&mut self, sentence: &str) -> Flow {
        self.first.left_out(sentence)?;
        self.second.left_out(sentence)
    }

    fn wants_values(&self) -> bool {
        self.first.wants_values() || self.second.wants_values()
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        self.first.say(said)?;
        self.second.say(said)
    }

    fn wants_words(&self) -> bool {
        self.first.wants_words() || self.second.wants_words()
    }

    fn path(&self) -> Option<&str> {
        self.first.path().or_else(|| self.second.path())
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Flow {
        self.first.heading(heading)?;
        self.second.heading(heading)
    }

    fn foot(&mut self, line: &str) -> Flow {
        self.first.foot(line)?;
        self.second.foot(line)
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        self.first.layer(layer)?;
        self.second.layer(layer)
    }
}

/// A sink that ignores everything.
pub struct Nothing;

impl Sink for Nothing {}

/// The path of the innermost open group, kept up to date from `open` and `close`.
#[derive(Debug, Clone, Default)]
pub struct PathStack {
    path: String,
    /// For each open group the length of the path around it, and of its own step.
    marks: Vec<usize>,
}

impl PathStack {
    /// A group opens.
    pub fn push(&mut self, step: Step<'_>) {
        self.marks.push(self.path.len());
        push_step(&mut self.path, step);
    }

    /// The innermost group closes.
    pub fn pop(&mut self) {
        if let Some(len) = self.marks.pop() {
            self.path.truncate(len);
        }
    }

    /// The path, without the dot that ends the number of a message: `#1.` alone reads `#1`.
    pub fn path(&self) -> &str {
        self.path.strip_suffix('.').unwrap_or(&self.path)
    }

    /// The last step alone, as it is written behind the path around it: `.sku`, `[3]`.
    pub fn last(&self) -> &str {
        let from = self.marks.last().copied().unwrap_or(0);
        self.path.get(from..).unwrap_or("").trim_end_matches('.')
    }

    /// The path behind that of the outermost `groups` groups, as it is written behind it.
    pub fn behind(&self, groups: usize) -> &str {
        let from = self.marks.get(groups).copied().unwrap_or(self.path.len());
        self.path.get(from..).unwrap_or("").trim_end_matches('.')
    }

    /// Number of open groups, the root included.
    pub fn depth(&self) -> usize {
        self.marks.len()
    }
}
