//! The walker, the writer and the reader of tagged forms on whole texts.

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

fn context() -> Context {
    Context { owner: owner_of(&Json), variant: "plain", depth: JSON_DEPTH }
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
        self.found.push(found.clone());
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

fn of_events(events: &[Event<'_>]) -> String {
    written(false, &|sink: &mut dyn Sink| events.iter().try_for_each(|event| sink.value(event.clone()))).unwrap()
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
fn bad_golden_texts_have_an_error_where_the_manifest_says() {
    // The manifest puts deep nesting at its first level; the error stands at the level past the limit.
    let expected = [
        ("comment", 7, Code::JsonSyntax),
        ("cut_in_escape", 10, Code::JsonCut),
        ("empty", 0, Code::EmptyInput),
        ("int_leading_zero", 5, Code::JsonNumber),
        ("int_plus", 5, Code::JsonNumber),
        ("invalid_utf8", 7, Code::JsonInvalidUtf8),
        ("lone_surrogate", 6, Code::JsonEscape),
        ("nan_literal", 11, Code::JsonLiteral),
        ("nest_10000", 8 * 512, Code::JsonDepth),
        ("nest_struct_10000", 9 + 511, Code::JsonDepth),
        ("single_quotes", 1, Code::JsonSyntax),
    ];
    let bad = golden("bad");
    for (name, at, code) in expected {
        let (_, bytes) = bad.iter().find(|(file, _)| file == name).unwrap();
        assert_eq!(errors(bytes), [(at, code)], "{name}");
    }
    let overflow = &bad.iter().find(|(file, _)| file == "double_overflow").unwrap().1;
    assert_eq!(checked(overflow).found[0].code, Code::JsonNumberRange);
}

#[test]
fn errors_say_the_place_and_what_was_expected() {
    let cases: [(&str, &[&str]); 16] = [
        (r#"{"a":+1}"#, &[r#"5 json-number line 1, column 6: expected a number, found "+1""#]),
        ("{\"é\":\n tru}", &[r#"8 json-literal line 2, column 2: expected a value, found "tru""#]),
        ("[1 2]", &[r#"3 json-syntax line 1, column 4: expected a comma or "]", found "2""#]),
        ("[1,]", &[r#"3 json-syntax line 1, column 4: expected another element behind the comma, found "]""#]),
        (r#"{"a":1,}"#, &[r#"7 json-syntax line 1, column 8: expected another member behind the comma, found "}""#]),
        (r#"{"a" 1}"#, &[r#"5 json-syntax line 1, column 6: expected a colon behind the name, found "1""#]),
        (r#"{"a"}"#, &[r#"4 json-syntax line 1, column 5: expected a colon behind the name, found "}""#]),
        (r#"{"a":}"#, &[r#"5 json-syntax line 1, column 6: expected a value, found "}""#]),
        ("{a:1}", &[r#"1 json-syntax line 1, column 2: expected a name in double quotes, found "a""#]),
        ("['a b']", &[r#"1 json-syntax line 1, column 2: expected a value, found "'a b'""#]),
        (r#"{"a":1]"#, &[r#"6 json-syntax line 1, column 7: expected a comma or "}", found "]""#]),
        ("[1] x", &[r#"4 json-syntax line 1, column 5: expected the end of the text or another value, found "x""#]),
        (" \n", &["2 json-syntax line 2, column 1: expected a value, found only white space"]),
        (
            "[{\"a\":[{\"b",
            &[
                "10 json-cut line 1, column 11: the text ends inside a name: 1 string, 2 objects and 2 arrays are still open",
            ],
        ),
        ("[1", &["2 json-cut line 1, column 3: the text ends: 1 array is still open"]),
        (
            r#"{"a":1,"a":2}"#,
            &[r#"7 json-duplicate-key line 1, column 8: name "a" stands twice in this object, first at 0x01"#],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(findings(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn what_stands_around_damage_is_decoded() {
    let cases = [
        ("[1 2]", "[#1,#2]"),
        (r#"{"a":1 "b":2}"#, "{a=#1,b=#2}"),
        (r#"{"a":01,"b":2}"#, "{a=?,b=#2}"),
        (r#"{"a","b":2}"#, "{a=?,b=#2}"),
        (r#"{"a" 1,"b"=2}"#, "{a=#1,b=#2}"),
        (r#"{'a':1,b:[2]}"#, "{a=#1,b=[#2]}"),
        (r#"{"a":1 /* } */,"b":2} // end"#, "{a=#1,b=#2}"),
        (r#"[{"a":1],2]"#, "[{a=#1},#2]"),
        (r#"{"a":[1,2}"#, "{a=[#1,#2]}"),
        (r#"[{"a":1]"#, "[{a=#1}]"),
        (r#"{{"a":1},"b":2}"#, "{?={a=#1},b=#2}"),
        (r#"{:1,"b":2}"#, "{?=#1,b=#2}"),
        ("[1,,2,]", "[#1,#2]"),
        (r#"["a":1]"#, "[a,#1]"),
        ("{} garbage {\n[2]", "{} [#2]"),
        (r#"{"a":@@,"b":“x”}"#, "{a=?,b=?}"),
        ("[\"a\u{1}\\q\\ud800x\"]", "[a\u{1}\u{fffd}\u{fffd}x]"),
        ("[tr", "[?]"),
        (r#"{"a":"x\u00"#, "{a=x}"),
    ];
    for (text, expected) in cases {
        assert!(!errors(text.as_bytes()).is_empty(), "{text}");
        assert_eq!(values(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn a_branch_past_the_limit_is_one_unread_leaf_and_the_rest_goes_on() {
    let deep = format!("[{}{},7]", "[".repeat(200_000), "]".repeat(200_000));
    let checker = checked(deep.as_bytes());
    let unread: Vec<_> = checker.leaves.iter().filter(|(leaf, _)| cause_of(leaf) == Cause::Unread).collect();
    assert_eq!((unread.len(), checker.found.len()), (1, 1));
    assert_eq!(unread[0].0.len(), 400_000 - 2 * 511);
    assert!(values(deep.as_bytes()).ends_with(",#7]"));
    let deeper = "[".repeat(3 * SAMPLE);
    let checker = checked(deeper.as_bytes());
    let pieces: Vec<_> = checker.leaves.iter().filter(|(leaf, _)| leaf.flags.has(Flags::PIECE)).collect();
    assert!(pieces.len() > 1 && pieces.iter().all(|(leaf, _)| leaf.group == pieces[0].0.group));
    assert_eq!(checker.found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::JsonDepth, Code::JsonCut]);
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

#[test]
fn a_leaf_that_the_end_cuts_is_flagged() {
    for text in ["[\"abc", "{\"abc", "[-", "[fal", "\"\\u0"] {
        let checker = checked(text.as_bytes());
        assert!(checker.leaves.last().is_some_and(|(leaf, _)| leaf.flags.has(Flags::ERROR)), "{text}");
        assert_eq!(checker.found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::JsonCut], "{text}");
    }
}

#[test]
fn past_the_remembered_names_one_note_says_so() {
    let names: Vec<String> = (0..REMEMBERED_KEYS + 10).map(|n| format!("\"{n}\":0")).collect();
    let found = checked(format!("{{{},\"5\":1}}", names.join(",")).as_bytes()).found;
    assert_eq!(
        found.iter().map(|found| found.code).collect::<Vec<_>>(),
        [Code::JsonKeysNotCompared, Code::JsonDuplicateKey]
    );
}

#[test]
fn marks_and_other_encodings_are_told() {
    let marked = checked(b"\xef\xbb\xbf{}");
    assert_eq!((marked.found[0].code, cause_of(&marked.leaves[0].0)), (Code::JsonByteOrderMark, Cause::Framing));
    for text in [&b"\xff\xfe{\0}\0"[..], b"\xfe\xff\0{\0}", b"{\0}\0", b"\0{\0\"\0a"] {
        let checker = checked(text);
        assert_eq!((checker.found.len(), checker.leaves.len()), (1, 1));
        assert!(checker.found[0].message.contains("UTF-16"));
    }
}

#[test]
fn hostile_changes_keep_every_rule() {
    let sample = "\u{feff}{\"a\" : [1,-2.5e3, true,\"x\\u00e9\\ud83d\\ude00é\"],\n'b':{\"c\":null},} /* c */ [{}]]";
    let bytes = sample.as_bytes();
    for len in 0..bytes.len() {
        checked(&bytes[..len]);
    }
    let swaps =
        [0x00, 0xff, b'"', b'{', b'}', b'[', b']', b',', b':', b'\\', b'/', b'\'', b' ', b'\n', b'u', b'1', 0xc3];
    for at in 0..bytes.len() {
        let old = bytes[at];
        for new in swaps.into_iter().chain([old ^ 1, old ^ 0x80]) {
            let mut changed = bytes.to_vec();
            changed[at] = new;
            let checker = checked(&changed);
            let starts: Vec<u64> =
                checker.found.iter().filter(|f| f.severity() == Severity::Error).map(|f| f.start).collect();
            assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "one error a place: {:?}", checker.found);
        }
    }
}

#[test]
fn random_tokens_keep_every_rule() {
    const PARTS: [&str; 24] = [
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "1", "-", "tr", "true", "null", " ", "\n", "'", "/*", "*/", "//",
        "#", "\\", "=", "é", "\u{1}",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text.push_str(PARTS[(seed >> 33) as usize % PARTS.len()]);
        }
        let again = rewritten(text.as_bytes(), seed & 1 == 0);
        checked(text.as_bytes());
        assert_eq!(errors(again.as_bytes()), [], "what is written is JSON: {text:?} gave {again:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&again).is_ok());
    }
}

#[test]
fn the_judgement_is_that_of_serde_json() {
    const PARTS: [&str; 16] =
        ["{", "}", "[", "]", ",", ":", "\"a\"", "\"b\":", "1", "-1.5", "1e", "01", "true", "null", "[]", " "];
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut valid = 0;
    for _ in 0..60_000 {
        let mut text = String::from("[");
        for _ in 0..4 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text.push_str(PARTS[(seed >> 33) as usize % PARTS.len()]);
        }
        text.push(']');
        // What is beyond a float64 is valid, and serde_json refuses it.
        let found = checked(text.as_bytes()).found;
        let fits = |found: &Diagnostic| found.code == Code::JsonDuplicateKey;
        let fine = found.iter().all(fits) && tree(text.as_bytes()).messages.len() == 1;
        assert_eq!(fine, serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        valid += u32::from(fine);
    }
    assert!(valid > 300, "{valid}");
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

#[test]
fn minified_texts_are_written_as_they_were() {
    let bytes = document();
    assert_eq!(rewritten(&bytes, false).as_bytes(), bytes);
    let pretty = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}";
    assert_eq!(rewritten(br#"{"a":[1,{}],"b":[]}"#, true), pretty);
    assert_eq!(rewritten(b"1 2", false), "[1,2]");
    assert_eq!(rewritten(b"", false), "null");
}

#[test]
fn what_json_lacks_takes_tagged_forms() {
    let text = |text: &'static str| Event::Scalar(Scalar::Text(text.as_bytes().into()));
    let scalars = [
        (Scalar::F64(f64::NAN), "\"NaN\""),
        (Scalar::F64(f64::INFINITY), "\"Infinity\""),
        (Scalar::F32(f32::NEG_INFINITY), "\"-Infinity\""),
        (Scalar::F32(0.1), "0.1"),
        (Scalar::F64(f64::from(0.1f32)), "0.10000000149011612"),
        (Scalar::F64(-0.0), "-0.0"),
        (Scalar::Int(i64::MIN), "-9223372036854775808"),
        (Scalar::Uint(u64::MAX), "18446744073709551615"),
        (Scalar::Bytes(b"\xfb\xff".as_slice().into()), "\"+/8=\""),
        (Scalar::Ext(-3, b"\x0a\xff".as_slice().into()), "{\"$ext\":[-3,\"0aff\"]}"),
        (Scalar::Timestamp(-1, 999_999_999), "{\"$timestamp\":[-1,999999999]}"),
        (Scalar::Text(b"a\xe2\x82z\"\x01\x7f".as_slice().into()), "\"a\u{fffd}z\\\"\\u0001\u{7f}\""),
    ];
    for (scalar, expected) in scalars {
        assert_eq!(of_events(&[Event::Message(0), Event::Scalar(scalar)]), expected);
    }
    let one = || Event::Scalar(Scalar::Uint(1));
    let map = || Event::Begin(Shape::Map, None);
    assert_eq!(of_events(&[map(), one(), one(), text("a"), one(), Event::End]), r#"{"$map":[[1,1],["a",1]]}"#);
    assert_eq!(of_events(&[map(), map(), Event::End, one(), Event::End]), r#"{"$map":[[{},1]]}"#);
    assert_eq!(of_events(&[map(), text("$ext"), one(), Event::End]), r#"{"$map":[["$ext",1]]}"#);
    assert_eq!(of_events(&[map(), text("$ext"), one(), text("b"), one(), Event::End]), r#"{"$ext":1,"b":1}"#);
}

#[test]
fn pieces_give_what_the_whole_gives() {
    let bytes: Vec<u8> = "grün \u{1f600}\"".bytes().chain([0xe2, 0x82, b'x', 0xf0, 0x9f]).collect();
    let whole = |of: Long| match of {
        Long::Text => Scalar::Text(bytes.as_slice().into()),
        Long::Bytes => Scalar::Bytes(bytes.as_slice().into()),
        Long::Ext(kind) => Scalar::Ext(kind, bytes.as_slice().into()),
    };
    for of in [Long::Text, Long::Bytes, Long::Ext(5)] {
        for size in 1..bytes.len() {
            let count = bytes.len().div_ceil(size);
            let piece = |(at, bytes)| Event::Piece { of, total: None, bytes, first: at == 0, last: at + 1 == count };
            let pieces: Vec<Event<'_>> = bytes.chunks(size).enumerate().map(piece).collect();
            assert_eq!(of_events(&pieces), of_events(&[Event::Scalar(whole(of))]), "{of:?} by {size}");
        }
    }
}

/// Values of a text behind a reader of tagged forms.
fn untagged(text: &str) -> Result<TreeBuilder, Stop> {
    let mut tree = TreeBuilder::default();
    let mut survey = Survey::new(Want { counts: true, odd_maps: true, reserved: super::tagged::TAGS });
    let mut both = Tee { first: &mut tree, second: &mut survey };
    let mut reader = TagReader::new(&mut both);
    Json.decode(&mut Window::memory(text.as_bytes().to_vec()), &context(), &mut reader)?;
    Ok(tree)
}

#[test]
fn tagged_forms_read_back_as_what_they_stand_for() {
    let cases = [
        (r#"{"$ext":[-3,"0aFf"]}"#, "Ext(-3, [10, 255])"),
        (r#"{"$timestamp":[-1,999999999]}"#, "Timestamp(-1, 999999999)"),
        (r#"{"$map":[[1,"a"],[{"$map":[]},{"$ext":[1,""]}],[[],{"b":2}]]}"#, "{#1=a,{}=Ext(1, []),[]={b=#2}}"),
        (r#"[{"$ext":[1,"00"]},{"a":{"$timestamp":[1,2]}}]"#, "[Ext(1, [0]),{a=Timestamp(1, 2)}]"),
        // None of these has the shape, so all of it stays as it is.
        (r#"{"$ext":[1,"0"]}"#, "{$ext=[#1,0]}"),
        (r#"{"$ext":[200,"00"]}"#, "{$ext=[#200,00]}"),
        (r#"{"$ext":[1,"00",2]}"#, "{$ext=[#1,00,#2]}"),
        (r#"{"$ext":[1,"00"],"b":{"$ext":[1,"00"]}}"#, "{$ext=[#1,00],b=Ext(1, [0])}"),
        (r#"{"$ext":{"$ext":[1,"00"]}}"#, "{$ext=Ext(1, [0])}"),
        (r#"{"$ext":[{"$ext":[1,"00"]}]}"#, "{$ext=[Ext(1, [0])]}"),
        (r#"{"$timestamp":[1,1000000000]}"#, "{$timestamp=[#1,#1000000000]}"),
        (r#"{"$map":1}"#, "{$map=#1}"),
        (r#"{"$ext":[]}"#, "{$ext=[]}"),
        ("{}", "{}"),
    ];
    for (text, expected) in cases {
        assert_eq!(notation(&untagged(text).unwrap().messages[0].value), expected, "{text}");
    }
    for text in [r#"{"$map":[1]}"#, r#"{"$map":[[1]]}"#, r#"{"$map":[[1,2,3]]}"#, r#"{"$map":[],"a":1}"#] {
        assert!(matches!(untagged(text), Err(Stop::Refused(_))), "{text}");
    }
}

#[test]
fn a_long_ext_object_reads_back_in_pieces() {
    let digits = "0f".repeat(PIECE + 7);
    let tree = untagged(&format!("[{{\"$ext\":[4,\"{digits}\"]}},1]")).unwrap();
    let Value::List(items) = &tree.messages[0].value else { panic!("a list") };
    assert_eq!(items[0].value, Value::Scalar(Scalar::Ext(4, vec![15; PIECE + 7].into())));
    assert_eq!(notation(&items[1].value), "#1");
    assert!(untagged(&format!("{{\"$ext\":[4,\"{digits}0\"]}}")).is_err());
    let name = "x".repeat(2 * PIECE);
    let long = untagged(&format!("{{\"{name}\":\"{name}\"}}")).unwrap();
    assert_eq!(notation(&long.messages[0].value), format!("{{{name}={name}}}"));
}

#[test]
fn tagged_forms_survive_a_round_trip() {
    let text = r#"[{"$map":[[1,{"$ext":[1,"00"]}],["$map",{"$map":[["$ext",[1,"00"]]]}]]},{"$timestamp":[5,0]}]"#;
    let send = |sink: &mut dyn Sink| {
        Json.decode(&mut Window::memory(text.as_bytes().to_vec()), &context(), &mut TagReader::new(sink))
    };
    assert_eq!(written(false, &send).unwrap(), text);
}
