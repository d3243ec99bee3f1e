//! What findings say: where, how often, in which words, and what to try.

use super::*;
use crate::formats::{Seen, Telling};

/// Damaged texts, each with one fault.
const ONE_FAULT: [&str; 36] = [
    "{\n \"a\": \"b,\n \"c\": \"d\",\n \"e\": [1,2]\n}",
    "{\n \"a\": \"b\n}",
    "{\n \"a\": \"b\r\n}\r\n",
    "{\n \"a\": \"b \n, \"c\": 1}",
    "[\n \"b,\n 1]",
    "{\"a: 1,\n \"b\": 2}",
    "{\"a\":\",\n \"b\": 2}",
    r#"{"a":"x"y"}"#,
    r#"{"a":"he said "hi" to me","b":1}"#,
    r#"["he said, "hi""]"#,
    r#"{"a"b":1}"#,
    r#"{"a":1;"b":2}"#,
    r#"{"a":1;}"#,
    "[1;2]",
    "{\"a\":\u{a0}1}",
    "{\u{a0}\u{2003}\"a\":1}",
    "{\"a\":1,\u{b}\"b\":2}",
    "{\"a\":1\u{c},\"b\":2}",
    "\u{3000}[1]",
    "[1]\n\u{feff}[2]",
    r#"{"a": [1, 2, "b": 3}"#,
    r#"{"a": [1, 2 "b": 3}"#,
    r#"{"a":'x, y: z',"b":1}"#,
    r#"['it's', 1]"#,
    "[1,,2]",
    r#"{"a":1,,"b":2}"#,
    r#"{,"b":2}"#,
    r#"{"a":,"b":2}"#,
    r#"{"a":1}}"#,
    r#"{"a" : : 1}"#,
    r#"{"a":1}garbage"#,
    "[1,\u{1} 2]",
    "{\"a\":\"b}\n",
    "[-Infinity]",
    "[\"a\tb\"]",
    "",
];

/// More damage, in which one thing leads to another.
const DAMAGED: [&str; 22] = [
    r#"[1,2,"b":3"#,
    r#"{"a":1:2}"#,
    r#"{"a"}"#,
    r#"{a}"#,
    "[:]",
    "}",
    ",",
    ":",
    "@",
    "\u{1}",
    " \n",
    "[\"a\u{1}\\q\\ud800\"]",
    "[@@, %, 'a, `b`]",
    r#"{"a":1 @@ "b":2}"#,
    r#"{"a" @@ 1}"#,
    r#"{@@:1}"#,
    r#"{[1]}"#,
    "[1 /* c */]",
    "[01, +1, 1., .5, 0x1f, 1_0, tru, True, foo, 1e]",
    "[1,]",
    r#"{"a":1,}"#,
    r#"[{"a":1],2]"#,
];

/// Path, place and message of the only finding.
fn only(text: &[u8]) -> (String, String) {
    let found = checked(text).found;
    assert_eq!(found.len(), 1, "{}: {found:?}", String::from_utf8_lossy(text));
    (found[0].path.clone(), found[0].message.clone())
}

#[test]
fn one_fault_has_one_error() {
    for text in ONE_FAULT {
        only(text.as_bytes());
    }
    only(b"[\"a\xe2\x82");
}

#[test]
fn every_error_has_help_in_one_sentence() {
    let deep = "[".repeat(600);
    let long = format!("[{}]", "x".repeat(3 * PIECE));
    let texts = ONE_FAULT.iter().chain(&DAMAGED).copied().chain([deep.as_str(), &long]);
    let golden = golden("bad").into_iter().map(|(_, bytes)| bytes);
    for text in texts.map(|text| text.as_bytes().to_vec()).chain(golden).chain([b"[\"\xff\"]".to_vec()]) {
        for found in checked(&text).found {
            let fine = !found.help.is_empty() && !found.help.ends_with('.');
            assert!(found.severity() != Severity::Error || fine, "{found:?}");
        }
    }
}

#[test]
fn findings_have_the_path_of_what_they_speak_of() {
    let cases = [
        ("{\n \"a\": 1\n \"b\": 2\n}", ""),
        ("{\"o\":{\"a\": 1 \"b\": 2}}", "o"),
        ("{\"a\": 1} {\"b\": 2} x", ""),
        (r#"{"a": {"b": 1, "c": 2}"#, ""),
        (r#"{"a": {"b": 1, "c": 2"#, "a"),
        (r#"{"a": {"b": 1, "c": "#, "a.c"),
        (r#"{"a": {"b": "x"#, "a.b"),
        ("[1,,2]", ""),
        ("[1 2]", ""),
        (r#"{"a":[1,]}"#, "a"),
        (r#"{"a": [1, 2, "b": 3}"#, "a"),
        (r#"{"a":1,"b" 2}"#, "b"),
        (r#"{"a":1,"b":}"#, "b"),
        (r#"{"a":1,"b":@}"#, "b"),
    ];
    for (text, path) in cases {
        assert_eq!(only(text.as_bytes()).0, path, "{text}");
    }
    let paths: Vec<String> = checked(b"{a: 1, b: 2}").found.into_iter().map(|found| found.path).collect();
    assert_eq!(paths, ["a", "b"]);
}

#[test]
fn sentences_and_advice_fit_the_fault() {
    let cases: [(&str, &str, &str); 17] = [
        (
            r#"{"a":1] "#,
            "line 1, column 7: expected a comma, or \"}\" to end the object opened at line 1, column 1 (0x00), found \"]\"",
            "the closing bracket is missing",
        ),
        (r#"{"a":"x"y"}"#, "line 1, column 9: expected a comma or \"}\", found", "write \\\" inside a string"),
        (r#"{"a":1;"b":2}"#, "line 1, column 7: expected a comma or \"}\", found \";\"", "a comma stands between"),
        ("{\n\"a\":\"b,\n\"c\":1}", "line 2, column 7: the closing quote is missing", "write \" there"),
        ("{\"a\":\u{a0}1}", "line 1, column 6: expected a blank, tab or line end, found U+00A0, a no-break space", ""),
        ("[\"a\tb\"]", "line 1, column 4: expected an escape, found control", "a tab in a string is written \\t"),
        ("[\"a\u{1}b\"]", "line 1, column 4: expected an escape", "in a string it is written \\u0001"),
        ("[\"a\nb\"]", "line 1, column 4: expected an escape", "a line end in a string is written \\n"),
        ("[True]", "line 1, column 2: expected a value, found \"True\"", "JSON writes true"),
        ("[None]", "line 1, column 2: expected a value, found \"None\"", "JSON writes null"),
        ("[NaN]", "line 1, column 2: expected a value, found \"NaN\"", "JSON has no NaN and no infinity"),
        ("[-Infinity]", "line 1, column 2: expected a value, found \"-Infinity\"", "JSON has no NaN and no infinity"),
        ("{\"a\":1}garbage", "line 1, column 8: expected the end of the text", "behind a text only white space"),
        (
            "[1,\u{1} 2]",
            "line 1, column 4: expected a blank, tab or line end, found \"\\u0001\"",
            "control characters stand in strings",
        ),
        (
            r#"{"a": [1, "b": 3}"#,
            "line 1, column 11: expected \"]\" to end the array opened at line 1, column 7 (0x06)",
            "",
        ),
        ("\u{feff}{\"a\": x}", "", ""),
        ("[1,\r\n2,\r\r3,\n\r x]", "line 6, column 2: expected a value", ""),
    ];
    for (text, message, help) in cases {
        let found = checked(text.as_bytes()).found.pop().unwrap();
        assert!(found.message.starts_with(message) && found.help.starts_with(help), "{text}: {found:?}");
    }
    for text in ["NaN", "Infinity", "-Infinity", "+Infinity"] {
        assert_eq!(errors(format!("[{text}]").as_bytes()), [(1, Code::JsonLiteral)], "{text}");
    }
    let marked = checked(b"\xef\xbb\xbf{\"a\": x}").found.pop().unwrap();
    assert!(marked.message.starts_with("line 1, column 7: "), "{}", marked.message);
}

#[test]
fn values_behind_a_repaired_fault_are_kept() {
    let cases = [
        ("{\n \"a\": \"b,\n \"c\": \"d\",\n \"e\": [1,2]\n}", "{a=b,c=d,e=[#1,#2]}"),
        ("{\"a: 1,\n \"b\": 2}", "{a=#1,b=#2}"),
        ("{\"a\":\",\n \"b\": 2}", "{a=,b=#2}"),
        (r#"{"a":"x"y","b":1}"#, "{a=x,b=#1}"),
        (r#"{"a":1;"b":2}"#, "{a=#1,b=#2}"),
        ("{\"a\":1,\u{a0}\"b\":\u{2003}2}", "{a=#1,b=#2}"),
        (r#"{"a": [1, 2, "b": 3}"#, "{a=[#1,#2],b=#3}"),
        (r#"{"a":'x, y',"b":1}"#, "{a=?,b=#1}"),
        // Text of several lines stays one string.
        ("[\"Dear all,\nas said\n} and so\"]", "[Dear all,\nas said\n} and so]"),
    ];
    for (text, expected) in cases {
        assert_eq!(values(text.as_bytes()), expected, "{text}");
    }
    assert!(rows("[1,\u{a0}2]".as_bytes()).contains(&"unread|[0]|\u{a0}".to_owned()));
    assert!(rows(b"['a b', 1]").contains(&"unread|[0]|'a b'".to_owned()));
}

#[test]
fn names_are_compared_by_their_text_or_if_damaged_by_their_bytes() {
    let twice = |text: &[u8]| checked(text).found.iter().filter(|found| found.code == Code::JsonDuplicateKey).count();
    assert_eq!(twice(br#"{"\ud800":1,"\ud801":2}"#), 0);
    assert_eq!(twice(b"{\"\xff\":1,\"\xfe\":2}"), 0);
    assert_eq!(twice(br#"{"\ud800":1,"\ud800":2}"#), 1);
    assert_eq!(twice(br#"{"\ud800":1,"\\ud800":2}"#), 0);
    assert_eq!(twice(br#"{"\u0061":1,"a":2}"#), 1);
    let long = "n".repeat(2 * PIECE + 5);
    assert_eq!(twice(format!("{{\"{long}\":1,\"{long}x\":2}}").as_bytes()), 0);
    let found = checked(format!("{{\"{long}\":1,\n\"{long}\":2}}").as_bytes()).found;
    let message = "line 2, column 1: name \"nnnnnnnnnnnnnnnnnnnnnnnn...\" stands twice in this object, first at 0x01";
    assert_eq!((found.len(), found[0].message.as_str()), (1, message));
    assert_eq!(found[0].end - found[0].start, long.len() as u64 + 2);
}

#[test]
fn the_first_piece_of_a_long_string_tells_its_beginning() {
    let long = format!("\\u00e9\\u0000{}", "x".repeat(2 * PIECE));
    let checker = checked(format!("[\"{long}\"]").as_bytes());
    let (leaf, head) = &checker.leaves[2];
    assert!(leaf.flags.has(Flags::PIECE));
    let told = |telling| {
        let mut out = String::new();
        Json.tell(leaf, head, telling, &mut out);
        out
    };
    let shown = format!("\"é\\u0000{}..", "x".repeat(198));
    assert_eq!(told(Telling::Row), format!("string {shown}"));
    assert_eq!(told(Telling::Alone), format!("string piece {shown}"));
    assert_eq!(Json.value(leaf, head), None);
    assert!(Json.notes(&[Seen::new(leaf, head)], &mut |_| true).is_empty());
}

#[test]
fn damage_without_end_costs_linear_time() {
    let parts = ["\"a\"b ", "{\"a\n}", "\"x\n\n\n\n", "'a'b", "\"\n,", "\u{a0}", "\"a\"b\" ", "[\"a\":", ";", "\r"];
    for part in parts {
        for front in ["", "[", "{\"a\":[1,", "[\""] {
            checked(format!("{front}{}", part.repeat(60_000)).as_bytes());
        }
    }
}
