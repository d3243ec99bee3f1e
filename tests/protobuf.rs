//! Protobuf, behaviour by behaviour, with expectations worked out by hand from protobuf.dev, "Encoding".
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{As, Checker, decode, decode_typed, hex};

/// Without schema.
fn of(digits: &str) -> Checker {
    decode("protobuf", &hex(digits))
}

/// As a type of pbzoo.proto (`zoo.`), pbzoo2.proto (`zoo2.`), pbset.proto (`zooset.`) or the editions (`ed23.`).
fn typed(root: &str, digits: &str) -> Checker {
    let schema = match root.split('.').next().unwrap() {
        "zoo" => "pbzoo.proto",
        "zoo2" => "pbzoo2.proto",
        "zooset" => "pbset.proto",
        "ed23" => "editions/wire23.proto",
        other => panic!("{other}"),
    };
    decode_typed(schema, root, &hex(digits), "plain")
}

/// `path kind cause bytes` of each leaf.
fn leaves(checker: &Checker) -> Vec<String> {
    let line = |row: &common::Row| format!("{} {} {} {}", row.path, row.kind(), row.cause(), row.leaf.len());
    checker.rows.iter().map(line).collect()
}

/// The one leaf of a path that is payload or default: what it says, its value, its payload and its width.
fn value(checker: &Checker, path: &str) -> (String, u64, u64) {
    let rows = checker.at(path);
    let row = rows.iter().find(|row| ["payload", "default"].contains(&row.cause()));
    let row = row.unwrap_or_else(|| panic!("{path}: {:?}", leaves(checker)));
    (row.value().unwrap_or_default(), row.payload(), row.width())
}

/// Sentence of the first finding with a code.
fn message(checker: &Checker, code: &str) -> String {
    let found = checker.found.iter().find(|found| found.code.text() == code);
    found.unwrap_or_else(|| panic!("no {code}: {:?}", checker.found)).message.clone()
}

/// Offset of the first finding with a code.
fn place(checker: &Checker, code: &str) -> (u64, u64) {
    let found = checker.found.iter().find(|found| found.code.text() == code);
    found.map(|found| (found.start, found.end)).unwrap_or_else(|| panic!("no {code}: {:?}", checker.found))
}

#[test]
fn the_six_wire_types_without_a_schema() {
    // 1: 150; 2: eight bytes; 3: "testing"; 4: a group with 5: 1 in it; 6: four bytes
    let checker = of("08 9601  11 0102030405060708  1a 07 74657374696e67  23 28 01 24  35 01020304");
    assert_eq!(
        leaves(&checker),
        [
            "1 tag key 1",
            "1 varint payload 2",
            "2 tag key 1",
            "2 i64 payload 8",
            "3 tag key 1",
            "3 length length 1",
            "3 text payload 7",
            "4 sgroup key 1",
            "4.5 tag key 1",
            "4.5 varint payload 1",
            "4 egroup type 1",
            "6 tag key 1",
            "6 i32 payload 4",
        ]
    );
    assert_eq!(checker.codes(), [""; 0]);
    // Two bytes hold 150, which one byte would hold: 1 + 1. Fixed bytes of no known type are payload whole.
    assert_eq!(checker.causes(), "payload 21 width 1 key 6 length 1 type 1");
}

#[test]
fn tags_of_one_to_five_bytes() {
    // A tag is number * 8 + wire type: 15 -> 0x78; 16 -> 0x80; 2047 -> 0x3ff8; 2048 -> 0x4000;
    // 2^29 - 1 -> 0xffff_fff8, five groups of seven bits.
    let checker = typed("zoo.BigNumbers", "78 01  8001 02  f87f 03  808001 04  faffffff0f 03 656e64");
    let tags: Vec<(&str, u64)> =
        checker.rows.iter().filter(|row| row.kind() == "tag").map(|row| (row.path.as_str(), row.leaf.len())).collect();
    assert_eq!(tags, [("f15", 1), ("f16", 2), ("f2047", 2), ("f2048", 3), ("last", 5)]);
    assert_eq!((checker.codes(), checker.causes().as_str()), (vec![], "payload 7 key 13 length 1"));
    let bare = of("faffffff0f 00");
    assert_eq!(bare.rows[0].path, "536870911");
    assert!(bare.rows[0].text().contains("field 536870911, LEN"), "{}", bare.rows[0].text());
    // One more is no field number.
    assert_eq!(message(&of("808080 8010 00"), "pb-field-number").split(':').next(), Some("field number 536870912"));
    assert_eq!(place(&of("08 01 00 01"), "pb-field-number"), (2, 3));
}

#[test]
fn varints_longer_than_they_need_be_cost_what_the_warning_says() {
    // 1 in five bytes; the tag of field 3 in two; length 3 in two.
    let checker = typed("zoo.Scalars", "18 8180808000  a800 05  72 8300 616263");
    assert_eq!(checker.codes(), ["pb-non-minimal"; 3]);
    let costs: Vec<&str> = checker.found.iter().map(|found| found.message.rsplit(": ").next().unwrap()).collect();
    assert_eq!(costs[0], "4 bytes more");
    assert!(costs[1].contains("1 byte") && costs[2] == "1 byte more", "{costs:?}");
    // The value's bytes beyond the first are width; a tag or length keeps its cause.
    assert_eq!(value(&checker, "f_int32"), ("1".to_string(), 1, 4));
    assert_eq!(checker.causes(), "payload 5 width 4 key 4 length 2");
    // Ten bytes are the most; eleven are an error, and the walk goes on behind a value.
    let long = of("08 8080808080808080808001  10 05");
    assert_eq!((message(&long, "pb-varint-too-long"), place(&long, "pb-varint-too-long")).1, (1, 12));
    assert_eq!(long.rows.last().unwrap().path, "2");
    // The tenth byte has room for one bit.
    let over = typed("zoo.Inner", "08 ffffffffffffffffff7f");
    assert_eq!((over.codes(), value(&over, "a").0.as_str()), (vec!["pb-varint-overflow"], "-1"));
}

#[test]
fn integers_have_the_width_of_design_section_5() {
    let minus = "ffffffffffffffffff01";
    // int32, int64, sint32, sint64 and enum of -1: ten bytes where the sign is extended, one after zigzag.
    let checker = typed("zoo.Scalars", &format!("18 {minus} 20 {minus} 38 01 40 01 8001 {minus}"));
    let minus = |payload, width| ("-1".to_string(), payload, width);
    assert_eq!(value(&checker, "f_int32"), minus(1, 9));
    assert_eq!(value(&checker, "f_int64"), minus(1, 9));
    assert_eq!(value(&checker, "f_sint32"), minus(1, 0));
    assert_eq!(value(&checker, "f_sint64"), minus(1, 0));
    assert_eq!(value(&checker, "f_enum"), ("\"NEGATIVE\"".to_string(), 1, 9));
    // 55613 = 0xd93d has two bytes and three groups of seven bits; as sint32 it is 111226, three as well.
    let checker = typed("zoo.Scalars", "28 bdb203  38 fae406  4d 01000000  51 0001000000000000  5d ffffffff");
    assert_eq!(value(&checker, "f_uint32"), ("55613".to_string(), 2, 1));
    assert_eq!(value(&checker, "f_sint32"), ("55613".to_string(), 2, 1));
    assert_eq!(value(&checker, "f_fixed32"), ("1".to_string(), 1, 3));
    assert_eq!(value(&checker, "f_fixed64"), ("256".to_string(), 2, 6));
    assert_eq!(value(&checker, "f_sfixed32"), ("-1".to_string(), 1, 3));
    // Without a type a varint counts as unsigned: 2^64 - 1 has eight bytes.
    assert_eq!(of("18 ffffffffffffffffff01").causes(), "payload 8 width 2 key 1");
}

#[test]
fn zigzag_turns_both_ways() {
    // 0, -1, 1, -2, 2, then both ends of 32 bits.
    for (digits, number) in [
        ("01", "-1"),
        ("02", "1"),
        ("03", "-2"),
        ("04", "2"),
        ("feffffff0f", "2147483647"),
        ("ffffffff0f", "-2147483648"),
    ] {
        assert_eq!(value(&typed("zoo.Scalars", &format!("38 {digits}")), "f_sint32").0, number);
    }
}

#[test]
fn a_double_that_a_float_holds_is_four_and_four() {
    // 1.5; 0.1, which no float32 holds; the float 0.5.
    let checker = typed("zoo.Packed", "0a 10 000000000000f83f 9a9999999999b93f  12 04 0000003f");
    let widths: Vec<u64> = checker.rows.iter().filter(|row| row.cause() == "payload").map(|row| row.width()).collect();
    assert_eq!(widths, [4, 0, 0]);
    assert_eq!(checker.causes(), "payload 16 width 4 key 2 length 2");
}

#[test]
fn a_stored_zero_is_default_only_where_readers_cannot_tell_it_from_absent() {
    // proto3 without label: int32, bool, double and enum of zero. The tag is no default.
    let checker = typed("zoo.Scalars", "09 0000000000000000  18 00  68 00  8001 00");
    assert_eq!((checker.causes().as_str(), checker.codes()), ("key 5 default 11", vec![]));
    // Minus zero is not the default.
    assert_eq!(typed("zoo.Scalars", "09 0000000000000080").causes(), "payload 4 width 4 key 1");
    // proto3 optional, a oneof, list elements, packed elements, map entries, proto2.
    assert_eq!(typed("zoo.Presence", "08 00").causes(), "payload 1 key 1");
    assert_eq!(typed("zoo.Choice", "08 00").causes(), "payload 1 key 1");
    assert_eq!(typed("zoo.Packed", "a001 00 18 00").causes(), "payload 2 key 3");
    assert_eq!(typed("zoo.Packed", "1a 02 00 00").causes(), "payload 2 key 1 length 1");
    assert_eq!(typed("zoo.Maps", "0a 04 0a00 1000").causes(), "payload 1 key 3 length 2");
    assert_eq!(typed("zoo2.Two", "08 00 10 00").causes(), "payload 2 key 2");
    assert_eq!(of("08 00").causes(), "payload 1 key 1");
    // An edition: implicit for the whole file, explicit for field 2.
    assert_eq!(typed("ed23.Fields", "08 00  10 00  18 00").causes(), "payload 2 key 3 default 1");
}

#[test]
fn repeated_scalars_packed_and_not_either_way() {
    // r_int32 is packed, r_unpacked is not; both come both ways, and the index goes on.
    let checker = typed("zoo.Packed", "1a 04 01 02 ac02  18 05  a001 07  a201 02 08 09");
    let values: Vec<String> = checker
        .rows
        .iter()
        .filter(|row| row.cause() == "payload")
        .map(|row| format!("{}={}", row.path, row.value().unwrap()))
        .collect();
    assert_eq!(
        values,
        [
            "r_int32[0]=1",
            "r_int32[1]=2",
            "r_int32[2]=300",
            "r_int32[3]=5",
            "r_unpacked[0]=7",
            "r_unpacked[1]=8",
            "r_unpacked[2]=9"
        ]
    );
    assert_eq!(checker.codes(), [""; 0]);
    // A run of no elements is no error; one that is no multiple is.
    assert_eq!(typed("zoo.Packed", "1a 00").codes(), [""; 0]);
    assert_eq!(
        message(&typed("zoo.Packed", "4a 05 01000000 02"), "pb-packed-remainder"),
        "1 byte left over, each element has 4"
    );
    assert_eq!(place(&typed("zoo.Packed", "1a 02 01 80"), "pb-field-cut"), (3, 4));
}

#[test]
fn groups_nest_and_their_end_is_type() {
    // Two.single { a: 2 deep { s: "x" } deep {} }
    let checker = typed("zoo2.Two", "08 01  1b 08 02  13 0a 01 78 14  13 14  1c");
    assert_eq!(
        leaves(&checker)[2..],
        [
            "single sgroup key 1",
            "single.a tag key 1",
            "single.a int32 payload 1",
            "single.deep[0] sgroup key 1",
            "single.deep[0].s tag key 1",
            "single.deep[0].s length length 1",
            "single.deep[0].s string payload 1",
            "single.deep[0] egroup type 1",
            "single.deep[1] sgroup key 1",
            "single.deep[1] egroup type 1",
            "single egroup type 1",
        ]
    );
    assert_eq!(checker.codes(), [""; 0]);
}

#[test]
fn groups_without_an_end_with_a_wrong_one_and_ends_without_a_group() {
    // 9 begins, 1: 5, and nothing ends it.
    let unended = of("4b 08 05");
    assert_eq!(unended.codes(), ["pb-group-unended"]);
    assert!(message(&unended, "pb-group-unended").contains("group 9"));
    // 9 begins, the end of 10 comes.
    let wrong = of("4b 08 05 54");
    assert_eq!((wrong.codes()[0], place(&wrong, "pb-group-end")), ("pb-group-end", (3, 4)));
    assert_eq!(message(&wrong, "pb-group-end"), "the end of group 10 where group 9 is open");
    // The end of an outer group ends the inner one too.
    let outer = of("4b 53 08 05 4c 08 01");
    assert_eq!(message(&outer, "pb-group-end"), "the end of group 9 where group 10 is open");
    assert_eq!(outer.rows.last().unwrap().path, "1", "the walk goes on outside");
    // Nothing is open: owned by a leaf of its own, and the walk goes on.
    let stray = of("08 01 4c 10 02");
    assert_eq!(leaves(&stray)[2], "9 egroup type 1");
    assert_eq!((stray.codes(), stray.rows.len()), (vec!["pb-group-end"], 5));
    // A group of another message does not end here.
    let inside = typed("zoo2.Two", "08 01 1b 1c 1c");
    assert_eq!((inside.codes(), place(&inside, "pb-group-end")), (vec!["pb-group-end"], (4, 5)));
}

#[test]
fn delimited_message_encoding_is_a_group_with_the_name_of_its_field() {
    // ed23.Fields.delimited is field 5 with features.message_encoding = DELIMITED; field 3 is required.
    let checker = typed("ed23.Fields", "2b 08 07 18 00 2c  33 18 00 34  18 00");
    assert_eq!(checker.codes(), [""; 0]);
    let paths: Vec<&str> = checker.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(
        paths[..6],
        [
            "delimited",
            "delimited.implicit",
            "delimited.implicit",
            "delimited.required",
            "delimited.required",
            "delimited"
        ]
    );
    assert_eq!(paths[6], "delimiteds[0]");
    // The same field behind a length is another wire type than declared, and read all the same.
    assert_eq!(typed("ed23.Fields", "2a 02 18 00 18 00").codes(), ["pb-wire-type"]);
}

#[test]
fn unknown_fields_are_told_as_such_and_are_no_finding() {
    let checker = typed("zoo.Inner", "08 01  a006 05  ea06 02 6869");
    assert_eq!(checker.codes(), [""; 0]);
    let said = checker.said();
    assert!(said[3].ends_with(", unknown: field 100 is not in this schema"), "{said:?}");
    assert!(
        checker.at("109").iter().any(|row| row.text().contains("\"hi\", unknown: field 109 is not in")),
        "{said:?}"
    );
    assert_eq!(checker.at("100").len(), 2);
}

#[test]
fn another_wire_type_than_declared_names_both() {
    // f_int32 behind a length, f_string as a varint, f_double as four bytes.
    let checker = typed("zoo.Scalars", "1a 03 78797a  70 05  0d 07000000");
    assert_eq!(checker.codes(), ["pb-wire-type"; 3]);
    let said: Vec<&str> = checker.found.iter().map(|found| found.message.as_str()).collect();
    for (said, words) in said.iter().zip([["LEN", "int32"], ["VARINT", "string"], ["I32", "double"]]) {
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    // Nothing is lost, and it is a warning: readers keep such fields as unknown.
    assert!(!checker.has_error());
    assert_eq!(checker.causes(), "payload 8 key 3 length 1");
}

#[test]
fn an_any_is_opened_in_place() {
    // type.googleapis.com/zoo.Inner (29 characters), value a: 150 b: "x"
    let url: String = b"type.googleapis.com/zoo.Inner".iter().map(|byte| format!("{byte:02x}")).collect();
    let checker = typed("zoo.Known", &format!("0a 27 0a 1d {url} 12 06 08 9601 12 01 78"));
    assert_eq!(checker.codes(), [""; 0]);
    assert_eq!(value(&checker, "any.value.a"), ("150".to_string(), 1, 1));
    assert_eq!(value(&checker, "any.value.b").0, "\"x\"");
    // A type that the schema does not have stays bytes, or what they look like.
    let other: String = b"example.com/no.Such".iter().map(|byte| format!("{byte:02x}")).collect();
    let checker = typed("zoo.Known", &format!("0a 1a 0a 13 {other} 12 03 08 9601"));
    assert_eq!(checker.codes(), [""; 0]);
    assert!(checker.at("any.value.a").is_empty());
}

#[test]
fn a_message_set_is_a_group_1_with_type_id_and_message() {
    // item { type_id: 1000 (0xe807) message: SetItem { i: 5 } }, in both orders
    for digits in ["0b 10 e807 1a 02 08 05 0c", "0b 1a 02 08 05 10 e807 0c"] {
        let checker = typed("zooset.Set", digits);
        assert_eq!(checker.codes(), [""; 0]);
        let row = checker.rows.iter().find(|row| row.kind() == "int32").unwrap();
        assert!(row.path.ends_with("message.i") && row.text().contains('5'), "{}: {}", row.path, row.text());
    }
}

#[test]
fn map_entries_are_called_by_their_key() {
    // by_name { "a": 1 }, by_int32 { -1: "m" }, by_bool { true: false }, inner { "b": { a: 2 } }
    let checker = typed(
        "zoo.Maps",
        "0a 05 0a 01 61 10 01  12 0e 08 ffffffffffffffffff01 12 01 6d  1a 04 08 01 10 00  22 07 0a 01 62 12 02 08 02",
    );
    assert_eq!(checker.codes(), [""; 0]);
    let values: Vec<&str> =
        checker.rows.iter().filter(|row| row.cause() == "payload").map(|row| row.path.as_str()).collect();
    assert_eq!(
        values,
        [
            "by_name{a}.key",
            "by_name{a}.value",
            "by_int32{-1}.key",
            "by_int32{-1}.value",
            "by_bool{true}.key",
            "by_bool{true}.value",
            "inner{b}.key",
            "inner{b}.value.a"
        ]
    );
    // The last entry of a key counts: a note at the second.
    let twice = typed("zoo.Maps", "0a 05 0a 01 61 10 01  0a 05 0a 01 61 10 02");
    assert_eq!((twice.codes(), place(&twice, "pb-map-key-twice").0), (vec!["pb-map-key-twice"], 7));
    // Absent keys are the default, twice.
    assert_eq!(typed("zoo.Maps", "0a 02 10 01  0a 00").codes(), ["pb-map-key-twice"]);
}

#[test]
fn later_fields_replace_merge_and_unset() {
    let twice = typed("zoo.Scalars", "18 01 18 02");
    assert_eq!((twice.codes(), place(&twice, "pb-last-wins").0), (vec!["pb-last-wins"], 2));
    let merged = typed("zoo.Inner", "1a 02 08 01  1a 03 12 01 78");
    assert_eq!((merged.codes(), place(&merged, "pb-merged").0), (vec!["pb-merged"], 4));
    // Another member of the oneof unsets the one before.
    let choice = typed("zoo.Choice", "08 05  12 01 74");
    assert_eq!(choice.codes(), ["pb-oneof-replaced"]);
    let said = message(&choice, "pb-oneof-replaced");
    assert!(said.contains("number") && said.contains("text"), "{said}");
    // Lists do not.
    assert_eq!(typed("zoo.Packed", "72 01 61  72 01 62").codes(), [""; 0]);
    // All of these are notes.
    assert!([twice, merged, choice].iter().all(|checker| !checker.has_error()));
}

#[test]
fn text_that_is_not_utf8_is_an_error_in_proto3_and_a_warning_in_proto2() {
    let three = typed("zoo.Scalars", "72 03 61 ff 62");
    assert_eq!((three.codes(), three.has_error()), (vec!["pb-invalid-utf8"], true));
    assert_eq!(place(&three, "pb-invalid-utf8"), (2, 5));
    assert!(message(&three, "pb-invalid-utf8").contains("0x03"), "{:?}", three.found);
    let two = typed("zoo2.Two", "08 01 4a 03 61 ff 62");
    assert_eq!((two.codes(), two.has_error()), (vec!["pb-invalid-utf8-lax"], false));
    // Editions: utf8_validation = NONE for field 11, VERIFY for field 10.
    assert_eq!(typed("ed23.Fields", "18 00 5a 01 ff").codes(), ["pb-invalid-utf8-lax"]);
    assert_eq!(typed("ed23.Fields", "18 00 52 01 ff").codes(), ["pb-invalid-utf8"]);
    // bytes may hold anything.
    assert_eq!(typed("zoo.Scalars", "7a 01 ff").codes(), [""; 0]);
}

#[test]
fn required_fields_that_never_come_are_an_error_at_the_end_of_their_message() {
    let checker = typed("zoo2.Two", "10 05");
    assert_eq!((checker.codes(), place(&checker, "pb-required-missing")), (vec!["pb-required-missing"], (2, 2)));
    assert!(message(&checker, "pb-required-missing").starts_with("id of Two"));
    assert_eq!(typed("zoo2.Two", "").codes(), ["pb-empty", "pb-required-missing"]);
    // LEGACY_REQUIRED of an edition, in a nested message too.
    assert_eq!(place(&typed("ed23.Fields", "18 00 22 02 08 01"), "pb-required-missing").0, 6);
    // What is cut has no further complaint.
    assert_eq!(typed("zoo2.Two", "12 05 61").codes().iter().filter(|code| **code == "pb-required-missing").count(), 0);
}

/// Inner.next within each other, `levels` of them around an empty message.
fn nested(levels: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..levels {
        let mut outer = vec![0x1a];
        if bytes.len() >= 0x80 {
            outer.push(u8::try_from(bytes.len() & 0x7f).unwrap() | 0x80);
        }
        outer.push(u8::try_from(if bytes.len() >= 0x80 { bytes.len() >> 7 } else { bytes.len() }).unwrap());
        outer.extend(bytes);
        bytes = outer;
    }
    bytes
}

#[test]
fn a_hundred_messages_within_each_other_and_no_more() {
    let inner = As::format("protobuf").typed("pbzoo.proto", "zoo.Inner");
    assert_eq!(inner.decode(&nested(100)).codes(), [""; 0]);
    let deep = inner.decode(&nested(101));
    assert_eq!(deep.codes(), ["pb-depth"]);
    assert!(deep.has_error() && message(&deep, "pb-depth").contains("100"));
}

#[test]
fn cut_fields_and_lengths_past_the_end() {
    for (digits, code, at) in [
        ("08", "pb-field-cut", 0),
        ("08 96", "pb-field-cut", 1),
        ("98", "pb-field-cut", 0),
        ("12", "pb-field-cut", 0),
        ("12 83", "pb-field-cut", 1),
        ("12 03 6162", "pb-length-past-end", 1),
        ("15 000000", "pb-field-cut", 1),
        ("11 00000000000000", "pb-field-cut", 1),
        ("0f", "pb-wire-type-unknown", 0),
        ("0e 01", "pb-wire-type-unknown", 0),
    ] {
        let checker = of(digits);
        assert_eq!((checker.codes(), place(&checker, code).0), (vec![code], at), "{digits}");
        assert!(checker.has_error());
    }
    // An inner length past the end of the message around it, which itself is whole.
    let inner = typed("zoo.Inner", "1a 03 12 05 61  08 01");
    assert_eq!((inner.codes(), place(&inner, "pb-length-past-end")), (vec!["pb-length-past-end"], (3, 4)));
    assert_eq!(inner.rows.last().unwrap().path, "a", "the walk goes on behind the message");
    // What follows a tag that means nothing is one unread leaf, up to the end of that message.
    let bad = typed("zoo.Inner", "1a 03 00 01 02  08 01");
    let unread: Vec<(u64, u64)> =
        bad.rows.iter().filter(|row| row.cause() == "unread").map(|row| (row.leaf.start, row.leaf.end)).collect();
    assert_eq!(unread, [(2, 5)]);
}

#[test]
fn thirty_two_bits_are_kept_of_a_longer_value() {
    // 2^32 + 5 in an int32 and an enum; ten bytes of ones in a uint32, 2^32 + 3 in a sint32
    let checker = typed("zoo.Scalars", "18 8580808010  8001 8180808010  28 ffffffffffffffffff01  38 8380808010");
    assert_eq!(checker.codes(), ["pb-truncated"; 4]);
    assert_eq!(value(&checker, "f_int32").0, "5");
    assert_eq!(value(&checker, "f_enum").0, "\"GREEN\"");
    assert_eq!(value(&checker, "f_uint32").0, "4294967295");
    assert_eq!(value(&checker, "f_sint32").0, "-2");
    // A boolean is true for every number but 0, whatever its low 32 bits are.
    assert_eq!(value(&typed("zoo.Scalars", "68 808080808020"), "f_bool").0, "true");
    // A negative int32 of five bytes, which older writers make, is no loss.
    assert_eq!(typed("zoo.Scalars", "18 ffffffff0f").codes(), [""; 0]);
}

#[test]
fn delimited_messages_stand_behind_their_length() {
    let read = As::format("protobuf").variant("delimited").typed("pbzoo.proto", "zoo.Inner");
    let checker = read.decode(&hex("02 08 01  00  05 12 03 616263"));
    assert_eq!(
        leaves(&checker),
        [
            "#0 frame-length framing 1",
            "#0.a tag key 1",
            "#0.a int32 payload 1",
            "#1 frame-length framing 1",
            "#2 frame-length framing 1",
            "#2.b tag key 1",
            "#2.b length length 1",
            "#2.b string payload 3",
        ]
    );
    assert_eq!(checker.codes(), [""; 0]);
    let code = |digits: &str| read.decode(&hex(digits)).codes();
    assert_eq!(code("02 08 01 8302"), ["pb-frame-cut"]);
    assert_eq!(code("02 08 01 83"), ["pb-frame-cut"]);
    assert_eq!(code("8200 08 01"), ["pb-non-minimal"]);
    assert_eq!(code("8080808080808080808001"), ["pb-varint-too-long"]);
    assert_eq!(code(""), ["pb-empty"]);
}

#[test]
fn grpc_frames_with_trailers_flags_and_compression() {
    let read = As::format("protobuf").variant("grpc").typed("pbzoo.proto", "zoo.Inner");
    // A message, the trailers of gRPC-Web.
    let checker = read.decode(&hex("00 00000002 08 01  80 00000003 613a31"));
    assert_eq!(
        leaves(&checker),
        [
            "#0 frame-flags framing 1",
            "#0 frame-length framing 4",
            "#0.a tag key 1",
            "#0.a int32 payload 1",
            "#1 frame-flags framing 1",
            "#1 frame-length framing 4",
            "#1 trailers framing 3",
        ]
    );
    assert_eq!(checker.codes(), [""; 0]);
    // Connect ends a stream with flag 2 and JSON; with anything else behind it the flag means nothing.
    assert_eq!(read.decode(&hex("02 00000002 7b7d")).codes(), [""; 0]);
    let connect = read.decode(&hex("02 00000002 0801"));
    assert_eq!(connect.codes(), ["pb-frame-flags"]);
    assert!(connect.found[0].help.contains("Connect"), "{}", connect.found[0].help);
    assert_eq!(read.decode(&hex("04 00000000")).codes(), ["pb-frame-flags"]);
    assert_eq!(read.decode(&hex("00 000000")).codes(), ["pb-frame-cut"]);
    assert_eq!(read.decode(&hex("00 00000003 08 01")).codes(), ["pb-frame-cut"]);
    assert_eq!(read.decode(&hex("01 00000004 1f8b0800")).codes(), ["pb-frame-compressed"]);
}

#[test]
fn a_compressed_frame_opens_a_layer_inside() {
    // RFC 1952 and 1951: gzip header, one stored block of 3 bytes, CRC-32 and length. CRC-32 of 08 96 01, as
    // Python's zlib.crc32 gives it.
    let gzip = format!("1f8b 08 00 00000000 00 ff  01 0300 fcff 089601 {} 03000000", CRC);
    let bytes = hex(&format!("01 0000001a {gzip}"));
    let checker = As::format("protobuf").variant("grpc").typed("pbzoo.proto", "zoo.Inner").decode(&bytes);
    assert_eq!(checker.codes(), [""; 0]);
    assert_eq!(leaves(&checker), ["#0 frame-flags framing 1", "#0 frame-length framing 4", "#0 compressed payload 26"]);
    let [inside] = &checker.inside[..] else { panic!("{:?}", checker.inside) };
    assert_eq!((inside.by, inside.start, inside.end, inside.size), ("gzip", 5, 31, 3));
    let rows: Vec<String> = inside.rows.iter().map(|row| format!("{} {}", row.path, row.leaf.len())).collect();
    assert_eq!(rows, ["#0.a 1", "#0.a 2"]);
}

/// See above.
const CRC: &str = "a0954ea1";

#[test]
fn without_a_schema_the_first_of_a_field_has_no_index() {
    // Two messages one after the other are one: fields come again.
    let checker = of("20 01  20 02  20 03  08 01");
    let paths: Vec<&str> =
        checker.rows.iter().filter(|row| row.kind() == "varint").map(|row| row.path.as_str()).collect();
    assert_eq!(paths, ["4", "4[1]", "4[2]", "1"]);
    assert_eq!(checker.codes(), [""; 0]);
}

#[test]
fn len_without_a_schema_is_told_with_its_readings() {
    // "testing" can only be text; 08 96 01 is a message, or three bytes; 02 03 04 packed numbers, or bytes.
    let kinds = |digits: &str| leaves(&of(digits)).join("; ");
    assert_eq!(kinds("0a 07 74657374696e67"), "1 tag key 1; 1 length length 1; 1 text payload 7");
    assert_eq!(kinds("0a 03 089601"), "1 tag key 1; 1 length length 1; 1.1 tag key 1; 1.1 varint payload 2");
    assert_eq!(kinds("0a 00"), "1 tag key 1; 1 length length 1");
    let checker = of("0a 03 089601");
    let readings = &checker.rows[1].heard.as_ref().unwrap().readings;
    assert!(readings.len() >= 2 && readings[0].kind == "message", "{readings:?}");
}

#[test]
fn bits_of_a_tag_are_its_number_and_wire_type() {
    // 0x9d 0x01: 29 | 1 << 7 = 157 = 19 * 8 + 5
    let checker = of("9d01 00000000");
    let row = &checker.rows[0];
    let bits = common::format("protobuf").bits(&row.leaf, &row.head);
    let of = |name: &str| {
        let pieces = bits.iter().filter(|bit| bit.name == name);
        pieces.map(|bit| (bit.lo, bit.hi, bit.value)).collect::<Vec<_>>()
    };
    // Four bits of the number in the first byte, seven in the second: 3 and 1, 1 << 4 | 3 = 19.
    assert_eq!(of("wire type"), [(0, 2, 5)]);
    assert_eq!(of("field number"), [(3, 6, 3), (8, 14, 1)]);
}

#[test]
fn the_document_of_the_suite_by_hand() {
    // design.md, section 5: as messages and as groups.
    for (schema, file, causes) in [
        ("suite.proto", "protobuf", "payload 96 width 3 key 37 length 19"),
        ("suite.proto", "protostuff", "payload 96 width 3 key 37 length 10 type 9"),
    ] {
        let bytes = common::file(&format!("tests/data/golden/vectors/document/{file}.bin"));
        let checker = decode_typed(schema, "suite.Document", &bytes, "plain");
        assert_eq!((bytes.len(), checker.causes().as_str(), checker.codes()), (155, causes, vec![]));
    }
}

#[test]
fn editions_are_read_and_written_as_the_python_runtime_does() {
    // DELIMITED, EXPANDED and IMPLICIT of edition 2023, and edition 2024; tests/data/editions/README.md.
    for (name, schema, root) in [
        ("delimited", "wire23.proto", "ed23.Fields"),
        ("expanded", "wire23.proto", "ed23.Fields"),
        ("implicit", "wire23.proto", "ed23.Fields"),
        ("edition24", "wire24.proto", "ed24.Outer"),
    ] {
        let file = |ending: &str| format!("tests/data/editions/{name}.{ending}");
        for schema in [schema.to_string(), schema.replace(".proto", ".desc")] {
            let schema = format!("tests/data/schemas/editions/{schema}");
            let run = |args: &[&str]| {
                let ran = common::run(&[args, &["-s", &schema, "-t", root]].concat());
                assert_eq!(ran.status, 0, "{name}: {}", ran.err);
                ran
            };
            let explained = run(&["explain", "--to", "json", "-f", "protobuf", &file("bin")]).json();
            let told = common::json(&common::file(&file("json"))).unwrap();
            assert_eq!(explained["value"], told, "{name} {schema}");
            assert_eq!(
                explained["diagnostics"].as_array().map(Vec::len),
                Some(0),
                "{name}: {}",
                explained["diagnostics"]
            );
            let made = run(&["convert", "-f", "json", "--to", "protobuf", &file("json")]).out;
            assert_eq!(made, common::file(&file("bin")), "{name} {schema}");
        }
    }
}

#[test]
fn one_cut_is_one_error_however_deep_it_lies() {
    // Field 4, a message of 19 bytes, of which 5 are there; in it field 1, a text of 11 bytes, of which 3 are.
    let read = As::format("protobuf").typed("suite.proto", "suite.Document");
    let checker = read.decode(&hex("22 13 0a 0b 67 6f 6a"));
    assert_eq!(checker.codes(), ["pb-length-past-end"]);
    assert_eq!((checker.found[0].start, checker.found[0].end), (1, 2));
    // A length that the whole message would not hold either is a fault of its own.
    let checker = read.decode(&hex("22 13 0a 7f 67 6f 6a"));
    assert_eq!(checker.codes(), ["pb-length-past-end", "pb-length-past-end"]);
}
