//! The walker on whole texts, and what the tests of damage and of writing share.

mod damage;
mod findings;
mod writing;

use std::path::Path;

use crate::formats::json::Json;
use crate::formats::json::encode::JsonWriter;
use crate::formats::json::tagged::TagReader;
use crate::formats::{Context, Encoder as _, Format as _, cause_of, kind_info, owner_of};
use crate::model::bytemap::{Cause, Flags, Group, GroupId, GroupKind, Leaf, NO_GROUP, Partition};
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::events::{Flow, PathStack, Sink, Stop, Tee};
use crate::model::limits::{JSON_DEPTH, PIECE, REMEMBERED_KEYS, SAMPLE};
use crate::model::survey::{Survey, Want};
use crate::model::value::{Event, Long, Scalar, Shape, TreeBuilder, Value};
use crate::wire::reader::Window;

fn context() -> Context<'static> {
    Context { owner: owner_of(&Json), variant: "plain", depth: JSON_DEPTH, schema: None, root: None }
}

/// Checks the rules of a walk and keeps what came.
#[derive(Default)]
struct Checker {
    partition: Partition,
    /// Open groups: number and start.
    open: Vec<(GroupId, u64)>,
    groups: GroupId,
    path: PathStack,
    more: u64,
    leaves: Vec<(Leaf, Vec<u8>)>,
    paths: Vec<String>,
    kinds: Vec<GroupKind>,
    found: Vec<Diagnostic>,
    depth: i64,
    values: bool,
}

impl Sink for Checker {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        assert_eq!(group.id, self.groups, "groups are numbered as they open");
        assert_eq!(group.parent, self.open.last().map_or(NO_GROUP, |(id, _)| *id));
        assert_eq!(group.start, self.partition.at(), "a group starts where the last leaf ended");
        self.groups += 1;
        self.open.push((group.id, group.start));
        self.path.push(group.step);
        self.kinds.push(group.kind);
        Ok(())
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        let (open, start) = self.open.pop().expect("a group is open");
        assert_eq!((open, end), (id, self.partition.at()));
        assert!(id == 0 || end > start, "a group has a byte");
        self.path.pop();
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        assert_eq!(self.more, 0, "the last leaf is complete");
        self.partition.take(leaf).expect("leaves touch");
        assert_eq!(leaf.group, self.open.last().expect("a group is open").0);
        assert_eq!(head.len() as u64, leaf.len().min(PIECE as u64));
        self.more = leaf.len() - head.len() as u64;
        self.leaves.push((*leaf, head.to_vec()));
        self.paths.push(self.path.path().to_owned());
        Ok(())
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        self.more -= bytes.len() as u64;
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        assert!(found.start <= found.end);
        let path = if found.path.is_empty() { self.path.path() } else { &found.path };
        self.found.push(found.clone().at(path));
        Ok(())
    }

    fn wants_values(&self) -> bool {
        self.values
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End => self.depth -= 1,
            _ => {}
        }
        assert!(self.depth >= 0);
        Ok(())
    }
}

fn checked(bytes: &[u8]) -> Checker {
    let mut checker = Checker { values: true, ..Checker::default() };
    Json.decode(&mut Window::memory(bytes.to_vec()), &context(), &mut checker).unwrap();
    checker.partition.finish(bytes.len() as u64).expect("the leaves end where the text does");
    assert!(checker.open.is_empty() && checker.more == 0 && checker.depth == 0);
    for found in &checker.found {
        assert!(found.end <= bytes.len() as u64, "{found:?}");
    }
    checker
}

/// The findings, as `offset code message`.
fn findings(bytes: &[u8]) -> Vec<String> {
    let tell = |found: &Diagnostic| format!("{} {} {}", found.start, found.code.text(), found.message);
    checked(bytes).found.iter().map(tell).collect()
}

fn errors(bytes: &[u8]) -> Vec<(u64, Code)> {
    let found = checked(bytes).found;
    found.iter().filter(|found| found.severity() == Severity::Error).map(|found| (found.start, found.code)).collect()
}

/// Leaves as `kind|path|bytes`.
fn rows(bytes: &[u8]) -> Vec<String> {
    let checker = checked(bytes);
    let text = |(leaf, head): &(Leaf, Vec<u8>)| (kind_info(leaf.kind).name, String::from_utf8_lossy(head).into_owned());
    checker
        .leaves
        .iter()
        .map(text)
        .zip(&checker.paths)
        .map(|((kind, text), path)| format!("{kind}|{path}|{text}"))
        .collect()
}

fn tree(bytes: &[u8]) -> TreeBuilder {
    let mut tree = TreeBuilder::default();
    Json.decode(&mut Window::memory(bytes.to_vec()), &context(), &mut tree).unwrap();
    tree
}

/// A value in a short notation: text bare, numbers behind `#`, a missing value as `?`.
fn notation(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join(",");
    match value {
        Value::List(items) => format!("[{}]", join(items.iter().map(|node| notation(&node.value)).collect())),
        Value::Map(entries) => {
            let entry = |(key, value): &(_, _)| pair(key, value);
            format!("{{{}}}", join(entries.iter().map(entry).collect()))
        }
        Value::Scalar(Scalar::Text(text)) => String::from_utf8(text.to_vec()).unwrap(),
        Value::Scalar(Scalar::Number(text)) => format!("#{text}"),
        Value::Scalar(Scalar::Missing) => "?".to_owned(),
        Value::Scalar(other) => format!("{other:?}"),
    }
}

fn pair(key: &crate::model::value::Node, value: &crate::model::value::Node) -> String {
    format!("{}={}", notation(&key.value), notation(&value.value))
}

fn values(bytes: &[u8]) -> String {
    let parts: Vec<String> = tree(bytes).messages.iter().map(|node| notation(&node.value)).collect();
    parts.join(" ")
}

/// Text of values from a source of events, which is asked twice.
fn written(pretty: bool, send: &dyn Fn(&mut dyn Sink) -> Flow) -> Result<String, Stop> {
    let mut survey = Survey::new(Want { odd_maps: true, reserved: super::tagged::TAGS, ..Want::default() });
    send(&mut survey)?;
    let mut out = Vec::new();
    let mut writer = JsonWriter::new(&mut out, pretty, &survey, false);
    send(&mut writer)?;
    writer.finish()?;
    Ok(String::from_utf8(out).unwrap())
}

fn rewritten(bytes: &[u8], pretty: bool) -> String {
    let send = |sink: &mut dyn Sink| Json.decode(&mut Window::memory(bytes.to_vec()), &context(), sink);
    written(pretty, &send).unwrap()
}

fn golden(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(folder).join("json");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

fn document() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/document.json")).unwrap()
}

#[test]
fn every_byte_has_its_leaf_and_members_own_what_follows_them() {
    let expected = [
        "object begin||{",
        "white space||\n",
        "name|id|\"id\"",
        "colon|id|:",
        "white space|id| ",
        "quote|id|\"",
        "string|id|x",
        "quote|id|\"",
        "comma|id|,",
        "white space|id|\n",
        "name|{a b}|\"a b\"",
        "colon|{a b}|:",
        "array begin|{a b}|[",
        "number|{a b}[0]|1",
        "comma|{a b}[0]|,",
        "literal|{a b}[1]|true",
        "array end|{a b}|]",
        "white space|{a b}|\n",
        "object end||}",
        "white space||\n",
    ];
    assert_eq!(rows(b"{\n\"id\": \"x\",\n\"a b\":[1,true]\n}\n"), expected);
}

#[test]
fn groups_have_the_kind_of_their_value() {
    let kinds = checked(br#"{"a":{},"b" : [0],"c":1}"#).kinds;
    let expected =
        [GroupKind::Root, GroupKind::Map, GroupKind::Map, GroupKind::List, GroupKind::Value, GroupKind::Value];
    assert_eq!(kinds, expected);
}

#[test]
fn the_ledger_of_the_document_is_that_of_the_design() {
    let checker = checked(&document());
    assert!(checker.found.is_empty());
    let sum =
        |cause| checker.leaves.iter().filter(|(leaf, _)| cause_of(leaf) == cause).map(|(leaf, _)| leaf.len()).sum();
    let sums: [u64; 3] = [Cause::Payload, Cause::Key, Cause::Punctuation].map(sum);
    assert_eq!((sums, document().len()), ([123, 226, 99], 448));
}

#[test]
fn values_keep_their_text_order_and_duplicates() {
    assert_eq!(values(br#"{"b":1.50,"a":"\u00e9\n","b":[null,-0,{}]}"#), "{b=#1.50,a=é\n,b=[Null,#-0,{}]}");
    assert_eq!(values(b"1 [2]\n\"x\""), "#1 [#2] x");
}

#[test]
fn texts_in_a_row_are_numbered() {
    assert_eq!(checked(b"{}\n{\"a\":1}").paths, ["#0", "#0", "#0", "#1", "#1.a", "#1.a", "#1.a", "#1"]);
    assert_eq!(checked(b"{\"a\":1}\n").paths.first().map(String::as_str), Some(""));
    let far = format!("\"{}\" 2", "x".repeat(PIECE));
    assert_eq!(
        checked(far.as_bytes()).paths.last().map(String::as_str),
        Some("#1"),
        "the first one is too long to see"
    );
}

#[test]
fn valid_golden_texts_have_no_error() {
    let zoo = golden("zoo");
    assert!(zoo.len() > 20);
    for (name, bytes) in zoo {
        assert_eq!(errors(&bytes), [], "{name}");
        let again = rewritten(&bytes, false);
        assert_eq!(values(again.as_bytes()), values(&bytes), "{name}");
        assert_eq!(values(rewritten(&bytes, true).as_bytes()), values(&bytes), "{name}");
    }
}

#[test]
fn long_strings_and_names_come_in_pieces_that_cut_no_escape() {
    let long = format!("{}\\u00e9\u{1f600}tail", "é".repeat(PIECE / 2 - 1));
    for text in [format!("[\"{long}\"]"), format!("{{\"{long}\":1}}"), format!("[\"{}\"]", "x".repeat(PIECE))] {
        let checker = checked(text.as_bytes());
        assert!(checker.found.is_empty(), "{:?}", checker.found);
        let joined: Vec<u8> = checker.leaves.iter().flat_map(|(_, head)| head.clone()).collect();
        assert_eq!(joined, text.as_bytes());
        let again = rewritten(text.as_bytes(), false);
        assert_eq!(again, text.replace("\\u00e9", "é"));
    }
    let pieces = checked(format!("[\"{long}\"]").as_bytes()).leaves;
    assert!(pieces.iter().filter(|(leaf, _)| leaf.flags.has(Flags::PIECE)).count() > 1);
    assert_eq!(checked(format!("[\"{}\"]", "x".repeat(PIECE)).as_bytes()).leaves.len(), 5, "one piece is no piece");
    let digits = format!("[{},1]", "1".repeat(3 * PIECE));
    assert_eq!(errors(digits.as_bytes()), [(1, Code::JsonNumber)]);
    assert_eq!(values(digits.as_bytes()), "[?,#1]");
}

/// Hands out its bytes in parts of odd sizes, as a pipe may.
struct Drip(Vec<u8>, usize);

impl std::io::Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(7_919).min(self.0.len() - self.1);
        into[..count].copy_from_slice(&self.0[self.1..self.1 + count]);
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn a_pipe_gives_what_memory_gives() {
    let item = format!("{{\"name\":[1,\n  \"\\u00e9 \\\\ {}é\" ],'x':+1}} ,\n", "text ".repeat(300));
    let text = format!("[{}7]\n{}", item.repeat(400), "[".repeat(100_000));
    let memory = checked(text.as_bytes());
    let mut pipe = Checker { values: true, ..Checker::default() };
    let mut window = Window::pipe(Box::new(Drip(text.clone().into_bytes(), 0)), 0).unwrap();
    Json.decode(&mut window, &context(), &mut pipe).unwrap();
    pipe.partition.finish(text.len() as u64).unwrap();
    assert!(memory.leaves == pipe.leaves && memory.found == pipe.found && memory.paths == pipe.paths);
    assert_eq!(memory.found.len(), 802);
}
