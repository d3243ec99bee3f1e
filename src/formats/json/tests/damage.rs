//! Damaged texts: what is told of them, and what is decoded around the damage.

use super::*;

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
        (
            r#"{"a":1]"#,
            &[
                r#"6 json-syntax line 1, column 7: expected a comma, or "}" to end the object opened at line 1, column 1 (0x00), found "]""#,
            ],
        ),
        ("[1] x", &[r#"4 json-syntax line 1, column 5: expected the end of the text or another value, found "x""#]),
        (" \n", &["2 json-syntax line 2, column 1: expected a value, found only white space"]),
        (
            "[{\"a\":[{\"b",
            &["10 json-cut line 1, column 11: the text ends inside the name opened at 0x08; still open: \
                 the object opened at line 1, column 8 (0x07), the array opened at line 1, column 7 (0x06), \
                 the object opened at line 1, column 2 (0x01) and 1 more"],
        ),
        (
            "[1",
            &["2 json-cut line 1, column 3: the text ends; still open: the array opened at line 1, column 1 (0x00)"],
        ),
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
