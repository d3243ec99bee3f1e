//! The writer and the reader of tagged forms.

use super::*;

fn of_events(events: &[Event<'_>]) -> String {
    written(false, &|sink: &mut dyn Sink| events.iter().try_for_each(|event| sink.value(event.clone()))).unwrap()
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
        (Scalar::F32(0.1), "0.10000000149011612"),
        (Scalar::F32(2_147_483_648.0), "2147483648.0"),
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
    let mut survey = Survey::new(Want { counts: true, odd_maps: true, reserved: crate::formats::json::tagged::TAGS });
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
