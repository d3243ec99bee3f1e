//! What all tests share: a sink that checks the rules of the byte map on every decode, a way to run the
//! binary, the golden vectors, seeded numbers.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a test that goes wrong may end at once"
)]

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use wireinspect::formats::{self, Format, Seen, Telling};
use wireinspect::inspect::{Inspection, Options};
use wireinspect::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, NO_TARGET};
use wireinspect::model::diag::{Diagnostic, Severity};
use wireinspect::model::events::{Flow, Inner, PathStack, Reading, Said, Sink, Stop};
use wireinspect::model::limits::PIECE;
use wireinspect::model::schema::{MessageId, Schema};
use wireinspect::model::value::{Event, Node, TreeBuilder};
use wireinspect::schema::{self, Request};
use wireinspect::size::Ledger;
use wireinspect::wire::reader::Window;

/// A group that has closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub parent: GroupId,
    pub kind: GroupKind,
    pub path: String,
    pub start: u64,
    pub end: u64,
}

/// What a decoder said on a leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    pub words: String,
    pub more: String,
    pub value: Option<String>,
    pub readings: Vec<Reading>,
    pub doubt: bool,
    pub why: String,
}

/// A leaf with its first bytes, the path of its group and what was said on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub leaf: Leaf,
    pub head: Vec<u8>,
    pub path: String,
    pub heard: Option<Heard>,
}

/// A layer inside the message, as it was announced; `rows` are its leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    pub name: String,
    pub by: &'static str,
    pub start: u64,
    pub end: u64,
    pub size: u64,
    pub rows: Vec<Row>,
}

impl Row {
    pub fn kind(&self) -> &'static str {
        formats::kind_info(self.leaf.kind).name
    }

    pub fn cause(&self) -> &'static str {
        formats::cause_of(&self.leaf).name()
    }

    pub fn width(&self) -> u64 {
        formats::width_of(&self.leaf, &self.head)
    }

    pub fn payload(&self) -> u64 {
        if self.cause() == "payload" { self.leaf.len() - self.width() } else { 0 }
    }

    pub fn text(&self) -> String {
        let heard = self.heard.clone().unwrap_or_default();
        let mut text = heard.words;
        if text.is_empty() {
            formats::ALL[usize::from(self.leaf.kind.owner)].tell(&self.leaf, &self.head, Telling::Alone, &mut text);
        }
        text + &heard.more
    }

    pub fn value(&self) -> Option<String> {
        if let Some(value) = self.heard.as_ref().and_then(|heard| heard.value.clone()) {
            return Some(value);
        }
        formats::ALL[usize::from(self.leaf.kind.owner)].value(&self.leaf, &self.head)
    }
}

/// Checks the rules that hold for every decode, whatever the input, and keeps what came.
#[derive(Default)]
pub struct Checker {
    at: u64,
    open: Vec<GroupId>,
    path: PathStack,
    more: u64,
    depth: i64,
    pub groups: Vec<Closed>,
    pub rows: Vec<Row>,
    pub found: Vec<Diagnostic>,
    /// The layer of each finding: 0 is the message's own.
    pub found_in: Vec<usize>,
    pub ledger: Ledger,
    pub tree: TreeBuilder,
    by_kind: BTreeMap<(u8, u8), u64>,
    error_leaf: bool,
    row: Vec<Seen>,
    /// Said on the leaf that comes next.
    pending: Option<Heard>,
    /// Groups of the layers before the one that is open.
    base: usize,
    /// Where the layers before that one ended, or should have.
    ended: Vec<u64>,
    /// Layers inside the message.
    pub inside: Vec<Inside>,
    /// Only the checks: nothing is kept but findings.
    pub lean: bool,
    /// Decoders are told that nobody wants their words.
    pub silent: bool,
    /// Objects lie apart: groups open again where they go on, and leaves lead elsewhere.
    pub scattered: bool,
    /// Groups that have been open, by number: parent, path.
    known: HashMap<GroupId, (GroupId, String)>,
    /// Leaves with a target: their range and where they lead. Only where objects lie apart.
    targets: Vec<(u64, u64, u64)>,
    /// Where leaves begin, in order; as `targets`.
    starts: Vec<u64>,
}

impl Checker {
    /// The checks that are due when all has come.
    pub fn finish(&self, size: u64) {
        let outer = self.ended.first().copied().unwrap_or(self.at);
        assert_eq!(outer, size, "the leaves end where the layer does");
        assert_eq!(self.at, self.inside.last().map_or(size, |inside| inside.size), "so do those of an inner one");
        assert_eq!(self.pending, None, "what is said is said on a leaf");
        assert!(self.open.is_empty(), "every group has closed");
        self.check_targets(self.inside.last().map_or(size, |inside| inside.size));
        assert_eq!((self.more, self.depth), (0, 0), "the last leaf and all containers are complete");
        assert_eq!(self.ledger.causes.total(), size, "the sum by cause");
        let fields: u64 = self.ledger.fields.values().map(|line| line.bytes).sum();
        assert_eq!(fields + self.ledger.others.bytes, size, "the sum by field");
        assert_eq!(self.by_kind.values().sum::<u64>(), size, "the sum by kind");
        for (found, layer) in self.found.iter().zip(&self.found_in) {
            let size = if *layer == 0 { size } else { self.inside[layer - 1].size };
            assert!(found.start <= found.end && found.end <= size, "a finding lies within the layer: {found:?}");
            assert!(!found.message.is_empty() && !found.message.contains('\n'), "a finding is one sentence: {found:?}");
        }
        if self.error_leaf {
            assert!(self.has_error(), "a leaf with an error has a finding that says which");
        }
    }

    /// Each offset or pointer of the layer that ends leads to a leaf of it.
    fn check_targets(&self, size: u64) {
        for (start, end, target) in &self.targets {
            let speaks = |found: &Diagnostic| {
                let of_offset = found.start < *end && *start < found.end.max(found.start + 1);
                // Of a vtable also the second size may be wrong, two bytes further on.
                of_offset || found.start <= *target + 2 && *target < found.end
            };
            let resolves = *target < size && self.starts.binary_search(target).is_ok() || self.found.iter().any(speaks);
            assert!(resolves, "{start:#x} leads to a leaf, or a finding speaks of it: {target:#x}");
        }
    }

    pub fn has_error(&self) -> bool {
        self.found.iter().any(|found| found.severity() == Severity::Error)
    }

    pub fn codes(&self) -> Vec<&'static str> {
        self.found.iter().map(|found| found.code.text()).collect()
    }

    pub fn messages(&self) -> &[Node] {
        &self.tree.messages
    }

    /// `kind cause bytes` of each leaf.
    pub fn lines(&self) -> Vec<String> {
        self.rows.iter().map(|row| format!("{} {} {}", row.kind(), row.cause(), row.leaf.len())).collect()
    }

    /// Bytes by cause, as design.md writes them: `payload 96 width 4`.
    pub fn causes(&self) -> String {
        let parts: Vec<String> =
            self.ledger.causes.present().map(|(cause, bytes)| format!("{} {bytes}", cause.name())).collect();
        parts.join(" ")
    }

    /// All leaves of the message's own layer as `path: kind "what it says"`.
    pub fn said(&self) -> Vec<String> {
        self.rows.iter().map(|row| format!("{}: {} {}", row.path, row.kind(), row.text())).collect()
    }

    /// The rows of a path, in order.
    pub fn at(&self, path: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.path == path).collect()
    }

    fn check_words(&mut self, leaf: &Leaf, head: &[u8]) {
        let Some(format) = formats::ALL.get(usize::from(leaf.kind.owner)) else {
            assert_eq!(leaf.kind.owner, Kind::COMMON, "a kind has an owner");
            return;
        };
        assert!(usize::from(leaf.kind.code) < format.kinds().len(), "a kind has a name");
        let mut text = String::new();
        format.tell(leaf, head, Telling::Row, &mut text);
        text.clear();
        format.tell(leaf, head, Telling::Alone, &mut text);
        assert!(!text.is_empty(), "a leaf says something: {leaf:?}");
        if let Some(value) = format.value(leaf, head) {
            let range = |error: &str| error.starts_with("number out of range");
            let parsed = json(value.as_bytes());
            assert!(parsed.as_ref().map_or_else(|error| range(error), |_| true), "the value is JSON: {value}");
        }
        check_bits(*format, leaf, head);
    }
}

/// Bits of a leaf are disjoint, lie within it, and have the value that stands in its bytes.
fn check_bits(format: &dyn Format, leaf: &Leaf, head: &[u8]) {
    let mut taken = 0u128;
    let number = head.iter().take(16).rev().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
    for bit in format.bits(leaf, head) {
        assert!(bit.lo <= bit.hi && u64::from(bit.hi) < leaf.len() * 8, "bits lie within the leaf: {bit:?}");
        let mask = ((1u128 << (bit.hi - bit.lo + 1)) - 1) << bit.lo;
        assert_eq!(taken & mask, 0, "bits are disjoint: {bit:?}");
        taken |= mask;
        assert_eq!((number & mask) >> bit.lo, u128::from(bit.value), "bits are those of the bytes: {bit:?}");
    }
}

impl Sink for Checker {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        let opened = self.groups.len() - self.base;
        if self.scattered {
            self.path.push(group.step);
            let again = self.known.contains_key(&group.id);
            assert_eq!(group.again, again, "a group says whether it was open before: {group:?}");
            let known = self.known.entry(group.id).or_insert_with(|| (group.parent, self.path.path().to_string()));
            assert_eq!(known.0, group.parent, "a group that opens again is where it was");
            assert_eq!(known.1, self.path.path(), "a group that opens again has its path");
            self.path.pop();
        } else {
            assert_eq!(group.id as usize, opened, "groups are numbered as they open, from 0 in each layer");
            assert!(!group.again, "a group of contiguous bytes opens once");
        }
        assert_eq!(group.parent, self.open.last().copied().unwrap_or(NO_GROUP), "a group opens inside its parent");
        assert_eq!(group.start, self.at, "a group begins where the last leaf ended");
        self.open.push(group.id);
        self.path.push(group.step);
        let path = if self.lean { String::new() } else { self.path.path().to_string() };
        self.groups.push(Closed { parent: group.parent, kind: group.kind, path, start: group.start, end: u64::MAX });
        self.ledger.open(group)?;
        self.tree.open(group)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        assert_eq!(self.open.pop(), Some(id), "groups nest");
        assert_eq!(end, self.at, "a group ends behind its last leaf, so its bytes are contiguous");
        assert_eq!(self.pending, None, "what is said is said on a leaf of the innermost group");
        if !self.scattered {
            let group = &mut self.groups[self.base + id as usize];
            assert!(id == 0 || end > group.start, "a group has a byte");
            group.end = end;
        }
        self.path.pop();
        self.ledger.close(id, end)?;
        self.tree.close(id, end)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        assert_eq!(self.more, 0, "all of the last leaf has come");
        assert_eq!(leaf.start, self.at, "leaves touch");
        assert!(leaf.end > leaf.start, "no leaf is empty");
        assert_eq!(head.len() as u64, leaf.len().min(PIECE as u64), "the first bytes come with the leaf");
        assert_eq!(Some(&leaf.group), self.open.last(), "a leaf belongs to the innermost group");
        if !self.scattered {
            assert!(leaf.target == NO_TARGET || leaf.target <= leaf.end, "these formats point nowhere");
        } else {
            self.starts.push(leaf.start);
            if leaf.target != NO_TARGET {
                self.targets.push((leaf.start, leaf.end, leaf.target));
            }
        }
        let width = formats::width_of(leaf, head);
        assert!(width <= leaf.len() && (width == 0 || formats::cause_of(leaf).name() == "payload"));
        self.check_words(leaf, head);
        self.at = leaf.end;
        self.more = leaf.len() - head.len() as u64;
        self.error_leaf |= leaf.flags.has(Flags::ERROR);
        if self.inside.is_empty() {
            *self.by_kind.entry((leaf.kind.owner, leaf.kind.code)).or_default() += leaf.len();
        }
        if let Some(format) = formats::ALL.get(usize::from(leaf.kind.owner)) {
            if self.row.last().is_some_and(|seen| seen.leaf.group != leaf.group) {
                for note in format.notes(&self.row, &mut |_| true) {
                    assert!(!note.text.is_empty() && note.carets.iter().all(|(from, to)| from < to));
                }
                self.row.clear();
            }
            self.row.push(Seen::new(leaf, head));
        }
        let heard = self.pending.take();
        if !self.lean {
            let row = Row { leaf: *leaf, head: head.to_vec(), path: self.path.path().to_string(), heard };
            self.inside.last_mut().map_or(&mut self.rows, |inside| &mut inside.rows).push(row);
        }
        self.ledger.leaf(leaf, head)
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        assert!(bytes.len() as u64 <= self.more, "no more bytes come than the leaf has");
        self.more -= bytes.len() as u64;
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.found.push(found.clone());
        self.found_in.push(self.inside.len());
        Ok(())
    }

    fn wants_words(&self) -> bool {
        !self.silent
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        assert_eq!(self.pending, None, "what was said before was on a leaf");
        assert!(!said.is_empty(), "who speaks says something");
        assert!(said.more.is_empty() || said.more.starts_with(", "), "what is said behind joins: {}", said.more);
        for text in [said.words, said.more, said.why] {
            assert!(formats::printable(text) == text, "a terminal obeys nothing of it: {text:?}");
        }
        if let Some(value) = said.value {
            assert!(json(value.as_bytes()).is_ok(), "the value is JSON: {value}");
        }
        assert_ne!(said.readings.len(), 1, "readings compete");
        let unreached = self.scattered && said.words.contains("nothing points at");
        assert!(!said.doubt || said.readings.len() >= 2 || unreached, "who doubts has a rival");
        for reading in said.readings {
            assert!(!reading.kind.is_empty() && !reading.value.is_empty(), "a reading reads something: {reading:?}");
            assert!(formats::printable(&reading.value) == reading.value, "a terminal obeys nothing: {reading:?}");
            assert!(formats::printable(&reading.why) == reading.why, "a terminal obeys nothing: {reading:?}");
        }
        self.pending = Some(Heard {
            words: said.words.to_string(),
            more: said.more.to_string(),
            value: said.value.map(str::to_string),
            readings: said.readings.to_vec(),
            doubt: said.doubt,
            why: said.why.to_string(),
        });
        Ok(())
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        assert!(self.open.is_empty(), "every group has closed where a layer ends");
        assert_eq!((self.more, self.depth, &self.pending), (0, 0, &None), "all of the layer before has come");
        if let Some(before) = self.inside.last() {
            assert_eq!(self.at, before.size, "the leaves of an inner layer end where it does");
        }
        self.ended.push(self.at);
        let outer = self.ended[0];
        assert!(layer.start < layer.end && layer.end <= outer, "an inner layer comes from bytes of the message");
        assert!(!layer.name.is_empty() && !layer.by.is_empty(), "an inner layer has a name");
        let (name, by) = (layer.name.to_string(), layer.by);
        self.inside.push(Inside { name, by, start: layer.start, end: layer.end, size: layer.size, rows: Vec::new() });
        self.check_targets(self.at);
        self.at = 0;
        self.targets.clear();
        self.starts.clear();
        self.known.clear();
        self.base = self.groups.len();
        self.row.clear();
        self.ledger.layer(layer)
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match &event {
            Event::Message(_) => assert_eq!(self.depth, 0, "a message begins outside of all containers"),
            Event::Begin(..) => self.depth += 1,
            Event::End => self.depth -= 1,
            Event::Scalar(_) | Event::Piece { .. } => {}
        }
        assert!(self.depth >= 0, "a container ends once");
        if self.lean { Ok(()) } else { self.tree.value(event) }
    }
}

/// One JSON text and white space; serde_json's limit of 128 levels is off, golden values nest deeper.
pub fn json(text: &[u8]) -> Result<serde_json::Value, String> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    let mut values = reader.into_iter();
    let value = values.next().ok_or("no value")?.map_err(|error| error.to_string())?;
    if values.next().is_some() { Err("more than one value".to_string()) } else { Ok(value) }
}

/// A format by its name.
pub fn format(name: &str) -> &'static dyn Format {
    formats::by_name(name).unwrap()
}

/// How bytes are read: format, variant, and the type where there is a schema.
#[derive(Clone, Copy)]
pub struct As {
    pub format: &'static dyn Format,
    pub variant: &'static str,
    pub bound: Option<(&'static Schema, MessageId)>,
}

impl As {
    /// A format, plain and without schema.
    pub fn format(name: &str) -> As {
        As { format: format(name), variant: "plain", bound: None }
    }

    /// The same in another variant.
    pub fn variant(self, name: &str) -> As {
        let known = self.format.info().variants.iter().map(|variant| variant.name).find(|known| *known == name);
        As { variant: known.unwrap_or_else(|| panic!("variant {name}")), ..self }
    }

    /// The same as a type of a schema below `tests/data/schemas`.
    pub fn typed(self, schema: &str, root: &str) -> As {
        let schema = load(schema);
        let root = schema.message_by_full_name(root).unwrap_or_else(|| panic!("no type {root}"));
        As { bound: Some((schema, root)), ..self }
    }

    pub fn context(self) -> formats::Context<'static> {
        formats::Context {
            owner: formats::owner_of(self.format),
            variant: self.variant,
            depth: self.format.info().depth,
            schema: self.bound.map(|(schema, _)| schema),
            root: self.bound.map(|(_, root)| root),
        }
    }

    /// Decodes bytes in memory, with all checks.
    pub fn decode(self, bytes: &[u8]) -> Checker {
        let _shown = self.shown(bytes);
        self.walk(Window::memory(bytes.to_vec()), bytes.len() as u64, Checker::default())
    }

    /// As [`As::decode`], but keeps nothing.
    pub fn check(self, bytes: &[u8]) -> Checker {
        let _shown = self.shown(bytes);
        let lean = Checker { lean: true, ..Checker::default() };
        self.walk(Window::memory(bytes.to_vec()), bytes.len() as u64, lean)
    }

    /// Decodes bytes from a pipe that hands out at most `step` of them at a time.
    pub fn decode_piped(self, bytes: &[u8], step: usize) -> Checker {
        let pipe = Window::pipe(Box::new(Drip { bytes: bytes.to_vec(), at: 0, step }), 0).unwrap();
        self.walk(pipe, bytes.len() as u64, Checker::default())
    }

    /// As [`As::decode_piped`], but keeps nothing.
    pub fn check_piped(self, bytes: &[u8], step: usize) -> Checker {
        let pipe = Window::pipe(Box::new(Drip { bytes: bytes.to_vec(), at: 0, step }), 0).unwrap();
        self.walk(pipe, bytes.len() as u64, Checker { lean: true, ..Checker::default() })
    }

    /// Decodes a file of these bytes, read by position.
    pub fn decode_file(self, bytes: &[u8]) -> Checker {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let size = bytes.len() as u64;
        self.walk(Window::file(file, size, 0), size, Checker::default())
    }

    /// Decodes bytes whose words nobody wants.
    pub fn decode_silent(self, bytes: &[u8]) -> Checker {
        let silent = Checker { silent: true, ..Checker::default() };
        self.walk(Window::memory(bytes.to_vec()), bytes.len() as u64, silent)
    }

    /// Tells the input where a rule is broken.
    fn shown(self, bytes: &[u8]) -> Shown<'_> {
        Shown { read: self, bytes }
    }

    fn walk(self, mut window: Window, size: u64, mut checker: Checker) -> Checker {
        checker.scattered = self.format.info().scattered;
        self.format.decode(&mut window, &self.context(), &mut checker).unwrap();
        checker.finish(size);
        checker
    }
}

/// An input that is being read: when that ends in a panic, it is told.
struct Shown<'a> {
    read: As,
    bytes: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let As { format, variant, bound } = self.read;
            let root = bound.and_then(|(schema, root)| Some(schema.message(root)?.full_name.clone()));
            let hex = data_encoding::HEXLOWER.encode(&self.bytes[..self.bytes.len().min(4096)]);
            eprintln!("input, as {}/{variant} {root:?}: {hex}", format.info().name);
        }
    }
}

/// A schema below `tests/data/schemas`, read once.
pub fn load(name: &str) -> &'static Schema {
    static LOADED: OnceLock<Mutex<HashMap<String, &'static Schema>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    loaded.entry(name.to_string()).or_insert_with(|| {
        let path = root().join("tests/data/schemas").join(name);
        let request = Request { files: vec![path], include: Vec::new() };
        let mut schemas = schema::load(&request).unwrap_or_else(|error| panic!("{name}: {error}"));
        Box::leak(Box::new(schemas.remove(0)))
    })
}

/// Decodes bytes in memory as a format, with all checks.
pub fn decode(name: &str, bytes: &[u8]) -> Checker {
    As::format(name).decode(bytes)
}

/// Decodes bytes as a Protobuf type of a schema below `tests/data/schemas`, with all checks.
pub fn decode_typed(schema: &str, root: &str, bytes: &[u8], variant: &str) -> Checker {
    As::format("protobuf").variant(variant).typed(schema, root).decode(bytes)
}

/// As [`decode`], but keeps nothing.
pub fn check(name: &str, bytes: &[u8]) -> Checker {
    As::format(name).check(bytes)
}

/// Decodes bytes from a pipe that hands out at most `step` of them at a time.
pub fn decode_piped(name: &str, bytes: &[u8], step: usize) -> Checker {
    As::format(name).decode_piped(bytes, step)
}

/// Decodes a file of these bytes, read by position.
pub fn decode_file(name: &str, bytes: &[u8]) -> Checker {
    As::format(name).decode_file(bytes)
}

/// Opens bytes without being told what they are, and walks what was chosen, with all checks.
pub fn inspect(bytes: &[u8]) -> (Inspection, Checker) {
    let window = Window::memory(bytes.to_vec());
    let mut inspection = Inspection::open("test".to_string(), window, &Options::default()).unwrap();
    let scattered = inspection.format.is_some_and(|format| format.info().scattered);
    let mut checker = Checker { lean: true, scattered, ..Checker::default() };
    let mut at = 0;
    for layer in &inspection.outer {
        let mut end = 0;
        for leaf in layer.leaves.iter() {
            assert!(leaf.start == end && leaf.end > leaf.start, "leaves of an outer layer touch");
            end = leaf.end;
        }
        assert_eq!(end, layer.bytes.len() as u64, "the leaves of an outer layer end where it does");
        at += 1;
    }
    assert_eq!(at, inspection.layer());
    let walked = match inspection.walk(&mut checker) {
        Ok(walked) => walked,
        Err(Stop::Internal(problem)) => panic!("a rule is broken: {problem}"),
        Err(other) => panic!("{other:?}"),
    };
    if inspection.outer.is_empty() {
        assert_eq!(walked.size, bytes.len() as u64);
    }
    checker.finish(walked.size);
    (inspection, checker)
}

/// Hands out its bytes in small parts, as a pipe may.
pub struct Drip {
    pub bytes: Vec<u8>,
    pub at: usize,
    pub step: usize,
}

impl Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(self.step).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// How a run of the binary ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub status: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ran {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("output is UTF-8")
    }

    pub fn json(&self) -> serde_json::Value {
        json(&self.out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.out)))
    }
}

/// The binary, in the repository root, without what the environment could change.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wireinspect"));
    command.current_dir(root()).env("NO_COLOR", "1");
    for name in ["COLUMNS", "PAGER", "LESS", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// Runs the binary with nothing on standard input.
pub fn run<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Ran {
    run_with(args, &[])
}

/// Runs the binary with bytes on standard input, a pipe.
pub fn run_with<S: AsRef<std::ffi::OsStr>>(args: &[S], input: &[u8]) -> Ran {
    let mut command = command();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A child that never reads its input closes the pipe: that is no failure of the test.
    let feeder = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let done = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    let status = done.status.code().expect("ended by itself");
    Ran { status, out: done.stdout, err: String::from_utf8(done.stderr).unwrap() }
}

/// The repository root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the repository.
pub fn file(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether golden files are to be rewritten: the one update switch.
pub fn updating() -> bool {
    std::env::var_os("WIREINSPECT_UPDATE").is_some_and(|value| value == "1")
}

/// One golden vector, from its line in the manifest.
#[derive(Debug, Clone)]
pub struct Golden {
    pub id: String,
    pub section: char,
    pub format: String,
    pub variant: String,
    /// Path below the repository root.
    pub path: String,
    pub bytes: Vec<u8>,
    pub entry: serde_json::Value,
}

impl Golden {
    /// A text of the entry, empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.entry[name].as_str().unwrap_or("")
    }

    /// The format's variant that the entry is in, on the command line.
    pub fn told(&self) -> &'static str {
        let has = |word: &str| self.variant.contains(word) || self.text("framing") == word;
        match self.format.as_str() {
            "capnp" => ["framed", "packed", "flat", "flat-packed"]
                .into_iter()
                .find(|variant| *variant == self.text("told"))
                .expect("a variant"),
            "protobuf" if has("grpc") => "grpc",
            "protobuf" if has("delimited") => "delimited",
            "flatbuffers" if has("size-prefixed") || self.id == "fb.size_prefixed" => "size-prefixed",
            _ => "plain",
        }
    }

    /// Format and variant, as `-f` takes them.
    pub fn form(&self) -> String {
        format!("{}/{}", self.format, self.told())
    }

    /// Schema below `tests/data/schemas` and type of a binary message, where the entry names them.
    pub fn typed(&self) -> Option<(&str, &str)> {
        let schema = self.text("schema").strip_prefix("schemas/").filter(|_| self.format != "json")?;
        Some((schema, self.text("root")))
    }

    /// How it is read without a schema.
    pub fn untyped_as(&self) -> As {
        As::format(&self.format).variant(self.told())
    }

    /// How it is read, with its schema where it has one.
    pub fn read_as(&self) -> As {
        let untyped = self.untyped_as();
        self.typed().map_or(untyped, |(schema, root)| untyped.typed(schema, root))
    }

    /// The message, where the file holds it in base64.
    pub fn message(&self) -> Vec<u8> {
        match self.variant.as_str() {
            "base64" => data_encoding::BASE64.decode(self.bytes.trim_ascii()).unwrap(),
            _ => self.bytes.clone(),
        }
    }
}

/// All golden vectors of the formats that exist.
pub fn golden() -> Vec<Golden> {
    let manifest = json(&file("tests/data/golden/manifest.json")).unwrap();
    let entries = manifest["entries"].as_array().unwrap();
    let text = |entry: &serde_json::Value, name: &str| entry[name].as_str().unwrap_or("").to_string();
    entries
        .iter()
        .map(|entry| {
            let path = format!("tests/data/golden/{}", text(entry, "file"));
            let bytes = file(&path);
            assert_eq!(entry["bytes"].as_u64(), Some(bytes.len() as u64), "{path}");
            Golden {
                id: text(entry, "id"),
                section: text(entry, "section").chars().next().unwrap(),
                format: text(entry, "format"),
                variant: text(entry, "variant"),
                path,
                bytes,
                entry: entry.clone(),
            }
        })
        .collect()
}

/// Golden vectors of one format.
pub fn golden_of(format: &str) -> Vec<Golden> {
    golden().into_iter().filter(|golden| golden.format == format).collect()
}

/// Runs `work` on all numbers below `count`, on all cores.
pub fn in_parallel(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(4, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    work(at);
                }
            });
        }
    });
}

/// Seeded numbers (xorshift64*): the same ones on every run and machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 11) % end as u64) as usize
    }

    pub fn byte(&mut self) -> u8 {
        (self.next() >> 32) as u8
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// Bytes written as hex digits, spaces between them allowed.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// A file with these bytes in a folder that goes away.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}
