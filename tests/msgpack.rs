//! MessagePack, behaviour by behaviour, with expectations worked out by hand from the specification.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{Checker, decode, decode_file, decode_piped, file, hex};
use wireinspect::model::value::{Scalar, Value};

fn of(digits: &str) -> Checker {
    decode("msgpack", &hex(digits))
}

fn paths(checker: &Checker) -> Vec<&str> {
    checker.rows.iter().map(|row| row.path.as_str()).collect()
}

fn message(checker: &Checker, code: &str) -> String {
    let found = checker.found.iter().find(|found| found.code.text() == code);
    found.unwrap_or_else(|| panic!("no {code}: {:?}", checker.codes())).message.clone()
}

/// The table "Formats" of spec.md, written out: first byte, last byte, name, bytes of the head behind the first
/// byte that hold a size, bytes of content where the first byte alone says so.
const SPECIFICATION: [(u8, u8, &str, usize, usize); 37] = [
    (0x00, 0x7f, "positive fixint", 0, 0),
    (0x80, 0x8f, "fixmap", 0, 0),
    (0x90, 0x9f, "fixarray", 0, 0),
    (0xa0, 0xbf, "fixstr", 0, 0),
    (0xc0, 0xc0, "nil", 0, 0),
    (0xc1, 0xc1, "never used", 0, 0),
    (0xc2, 0xc2, "false", 0, 0),
    (0xc3, 0xc3, "true", 0, 0),
    (0xc4, 0xc4, "bin8", 1, 0),
    (0xc5, 0xc5, "bin16", 2, 0),
    (0xc6, 0xc6, "bin32", 4, 0),
    (0xc7, 0xc7, "ext8", 1, 0),
    (0xc8, 0xc8, "ext16", 2, 0),
    (0xc9, 0xc9, "ext32", 4, 0),
    (0xca, 0xca, "float32", 0, 4),
    (0xcb, 0xcb, "float64", 0, 8),
    (0xcc, 0xcc, "uint8", 0, 1),
    (0xcd, 0xcd, "uint16", 0, 2),
    (0xce, 0xce, "uint32", 0, 4),
    (0xcf, 0xcf, "uint64", 0, 8),
    (0xd0, 0xd0, "int8", 0, 1),
    (0xd1, 0xd1, "int16", 0, 2),
    (0xd2, 0xd2, "int32", 0, 4),
    (0xd3, 0xd3, "int64", 0, 8),
    (0xd4, 0xd4, "fixext1", 0, 1),
    (0xd5, 0xd5, "fixext2", 0, 2),
    (0xd6, 0xd6, "fixext4", 0, 4),
    (0xd7, 0xd7, "fixext8", 0, 8),
    (0xd8, 0xd8, "fixext16", 0, 16),
    (0xd9, 0xd9, "str8", 1, 0),
    (0xda, 0xda, "str16", 2, 0),
    (0xdb, 0xdb, "str32", 4, 0),
    (0xdc, 0xdc, "array16", 2, 0),
    (0xdd, 0xdd, "array32", 4, 0),
    (0xde, 0xde, "map16", 2, 0),
    (0xdf, 0xdf, "map32", 4, 0),
    (0xe0, 0xff, "negative fixint", 0, 0),
];

#[test]
fn all_256_first_bytes_have_the_name_and_the_extent_of_the_specification() {
    let mut seen = 0;
    for (from, to, name, sizing, content) in SPECIFICATION {
        for byte in from..=to {
            assert_eq!(usize::from(byte), seen, "the table is complete");
            seen += 1;
            let is_ext = name.starts_with("ext") || name.starts_with("fixext");
            // The smallest complete object: sizes are zero, an ext has type 5.
            let mut bytes = vec![byte];
            bytes.extend(vec![0; sizing]);
            bytes.extend(is_ext.then_some(5));
            bytes.extend(vec![0; content]);
            let inside = match name {
                "fixmap" => 2 * usize::from(byte & 0x0f),
                "fixarray" => usize::from(byte & 0x0f),
                "fixstr" => usize::from(byte & 0x1f),
                _ => 0,
            };
            // Elements are nils, keys are not compared as nil twice warns only.
            bytes.extend(vec![if name == "fixstr" { b'x' } else { 0xc0 }; inside]);
            let checker = decode("msgpack", &bytes);
            assert_eq!(checker.rows[0].kind(), name, "{byte:02x}");
            assert_eq!(checker.rows[0].leaf.len(), 1, "{byte:02x}: the first byte is a leaf");
            assert_eq!(checker.messages().len(), 1, "{byte:02x}: one object, {} bytes", bytes.len());
            assert_eq!(checker.has_error(), byte == 0xc1, "{byte:02x}: {:?}", checker.codes());
            if sizing > 0 {
                let wanted = if name.starts_with("array") || name.starts_with("map") { "count" } else { "length" };
                assert_eq!((checker.rows[1].kind(), checker.rows[1].leaf.len()), (wanted, sizing as u64), "{byte:02x}");
            }
            if is_ext {
                let at = 1 + usize::from(sizing > 0);
                assert_eq!((checker.rows[at].kind(), checker.rows[at].head[0]), ("ext type", 5), "{byte:02x}");
            }
            // One byte less is cut, and nothing else.
            if bytes.len() > 1 {
                let cut = decode("msgpack", &bytes[..bytes.len() - 1]);
                assert!(cut.codes().contains(&"mp-cut"), "{byte:02x}: {:?}", cut.codes());
            }
        }
    }
    assert_eq!(seen, 256);
}

#[test]
fn causes_are_those_of_the_design() {
    let cases = [
        ("c0", vec!["nil payload 1"]),
        ("c3", vec!["true payload 1"]),
        ("2a", vec!["positive fixint payload 1"]),
        ("ff", vec!["negative fixint payload 1"]),
        ("a2 6869", vec!["fixstr length 1", "str content payload 2"]),
        ("d9 02 6869", vec!["str8 type 1", "length length 1", "str content payload 2"]),
        ("c4 03 0001ff", vec!["bin8 type 1", "length length 1", "bin content payload 3"]),
        ("c7 03 05 616263", vec!["ext8 type 1", "length length 1", "ext type type 1", "ext content payload 3"]),
        ("d4 01 aa", vec!["fixext1 type 1", "ext type type 1", "ext content payload 1"]),
        ("cd d93d", vec!["uint16 type 1", "uint value payload 2"]),
        ("92 01 02", vec!["fixarray length 1", "positive fixint payload 1", "positive fixint payload 1"]),
        ("dc 0001 c0", vec!["array16 type 1", "count length 2", "nil payload 1"]),
        ("81 a1 61 01", vec!["fixmap length 1", "fixstr key 2", "positive fixint payload 1"]),
        ("c1", vec!["never used unread 1"]),
    ];
    for (digits, leaves) in cases {
        assert_eq!(of(digits).lines(), leaves, "{digits}");
    }
}

#[test]
fn width_is_what_an_integer_or_float_spends_beyond_its_fewest_bytes() {
    // (object, payload, width), the first byte not counted: it is type.
    let cases = [
        ("cc 80", 1, 0),
        ("cd 0080", 1, 1),
        ("ce 000162e6", 3, 1),
        ("cf 0000000000000001", 1, 7),
        ("cf ffffffffffffffff", 8, 0),
        ("d0 80", 1, 0),
        ("d1 ff7f", 2, 0),
        ("d1 ffff", 1, 1),
        ("d2 ffffff7f", 2, 2),
        ("d3 ffffffffffffffff", 1, 7),
        ("d3 0000000000000080", 1, 7),
        // 1.5 and -0 fit a float32; 0.1 does not; 2^128 is past it; 2^-149 is its smallest.
        ("cb 3ff8000000000000", 4, 4),
        ("cb 8000000000000000", 4, 4),
        ("cb 3fb999999999999a", 8, 0),
        ("cb 47f0000000000000", 8, 0),
        ("cb 36a0000000000000", 4, 4),
        ("cb 7ff0000000000000", 4, 4),
        ("ca 3dcccccd", 4, 0),
        ("ca 3f800000", 4, 0),
    ];
    for (digits, payload, width) in cases {
        let checker = of(digits);
        let value = checker.rows.last().unwrap();
        assert_eq!((value.payload(), value.width()), (payload, width), "{digits}");
    }
}

#[test]
fn timestamps_of_all_three_forms_say_their_date() {
    let cases = [
        ("timestamp_32", "timestamp 32", "2024-01-01T00:00:00Z"),
        ("timestamp_32_max", "timestamp 32", "2106-02-07T06:28:15Z"),
        ("timestamp_64_no_nanos", "timestamp 64", "2106-02-07T06:28:16Z"),
        ("timestamp_96_negative", "timestamp 96", "1969-12-31T23:59:59.5Z"),
        ("timestamp_96_far", "timestamp 96", "2514-05-30T01:53:04.000000001Z"),
        ("timestamp_96_year_1", "timestamp 96", "0001-01-01T00:00:00Z"),
    ];
    for (name, kind, date) in cases {
        let checker = decode("msgpack", &file(&format!("tests/data/golden/zoo/msgpack/{name}.msgpack")));
        let content = checker.rows.last().unwrap();
        assert_eq!((content.kind(), checker.found.len()), (kind, 0), "{name}");
        assert!(content.text().contains(date), "{name}: {}", content.text());
        assert_eq!(content.value().unwrap(), format!("\"{date}\""), "{name}");
    }
}

#[test]
fn a_date_past_the_calendar_is_told_in_seconds() {
    // 2^60 seconds are 36 billion years.
    let checker = of("c7 0c ff 00000000 1000000000000000");
    assert!(!checker.has_error());
    assert!(
        checker.rows.last().unwrap().text().contains("1152921504606846976 s"),
        "{}",
        checker.rows.last().unwrap().text()
    );
    assert_eq!(checker.rows.last().unwrap().value().unwrap(), "[1152921504606846976,0]");
}

#[test]
fn timestamp_64_has_thirty_bits_of_nanoseconds_and_thirty_four_of_seconds() {
    // 999999999 << 34 | 1704067200
    let both: u64 = 999_999_999 << 34 | 1_704_067_200;
    let bytes = [&[0xd7, 0xff][..], &both.to_be_bytes()].concat();
    let checker = decode("msgpack", &bytes);
    assert_eq!(checker.messages()[0].value, Value::Scalar(Scalar::Timestamp(1_704_067_200, 999_999_999)));
    let leaf = checker.rows.last().unwrap();
    let bits = common::format("msgpack").bits(&leaf.leaf, &leaf.head);
    let width = |name: &str| bits.iter().filter(|bit| bit.name == name).map(|bit| bit.hi - bit.lo + 1).sum::<u32>();
    assert_eq!((width("nanoseconds"), width("seconds")), (30, 34));
}

#[test]
fn a_billion_nanoseconds_and_odd_lengths_of_a_timestamp_are_refused() {
    let both: u64 = 1_000_000_000 << 34;
    let nanos = decode("msgpack", &[&[0xd7, 0xff][..], &both.to_be_bytes()].concat());
    assert_eq!(nanos.codes(), ["mp-timestamp-nanos"]);
    assert!(message(&nanos, "mp-timestamp-nanos").contains("1000000000 nanoseconds"));
    let told = nanos.rows.last().unwrap().text();
    assert!(told.contains("0 s + 1000000000 ns") && !told.contains("past the years"), "{told}");
    assert_eq!(of("c7 0c ff 3b9aca00 0000000000000000").codes(), ["mp-timestamp-nanos"], "timestamp 96");
    assert_eq!(of("c7 0c ff 3b9ac9ff 8000000000000000").codes(), [""; 0], "999999999 in the year of the big bang");
    for digits in
        ["d4 ff 00", "d5 ff 0000", "c7 00 ff", "c7 05 ff 0000000000", "d8 ff 00000000000000000000000000000000"]
    {
        assert_eq!(of(digits).codes(), ["mp-timestamp-length"], "{digits}");
    }
}

#[test]
fn text_that_is_not_utf8_is_a_warning_and_keeps_its_bytes() {
    for (digits, at) in [("a3 61ff62", 2), ("a2 c328", 1), ("a2 c0af", 1), ("a3 eda080", 1), ("a1 c3", 1)] {
        let checker = of(digits);
        assert_eq!(checker.codes(), ["mp-invalid-utf8"], "{digits}");
        assert_eq!(checker.found[0].severity().name(), "warning");
        assert!(checker.found[0].message.contains(&format!("{at:#04x}")), "{digits}: {}", checker.found[0].message);
        let Value::Scalar(Scalar::Text(text)) = &checker.messages()[0].value else { panic!("{digits}") };
        assert_eq!(text[..], hex(digits)[1..]);
    }
}

#[test]
fn a_key_that_stands_twice_is_found_however_it_is_written() {
    let twice = [
        "82 a1 61 01 a1 61 02",
        "82 01 c0 cc01 c0", // 1 as fixint and as uint8
        "82 d3 0000000000000001 c0 01 c0",
        "82 ff c0 d0ff c0",                       // -1 as fixint and as int8
        "82 a1 61 c0 d901 61 c0",                 // fixstr and str8
        "82 c0 c0 c0 c0",                         // nil
        "82 ca3fc00000 c0 cb3ff8000000000000 c0", // 1.5 as float32 and float64
        "82 c401 00 c0 c50001 00 c0",
    ];
    for digits in twice {
        let checker = of(digits);
        assert!(checker.codes().contains(&"mp-duplicate-key"), "{digits}: {:?}", checker.codes());
        assert!(message(&checker, "mp-duplicate-key").contains("first at 0x01"), "{digits}");
        assert!(!checker.has_error(), "{digits}: a warning");
    }
    let once = [
        "82 01 c0 a1 31 c0",          // 1 and "1"
        "82 a1 61 c0 c401 61 c0",     // str and bin
        "82 01 c0 ca3f800000 c0",     // 1 and 1.0
        "82 00 c0 c2 c0",             // 0 and false
        "92 81 a1 61 01 81 a1 61 01", // in two maps
        "81 a1 61 81 a1 61 01",       // in a map and one inside it
    ];
    for digits in once {
        assert!(!of(digits).codes().contains(&"mp-duplicate-key"), "{digits}");
    }
}

#[test]
fn the_never_used_byte_is_one_unread_object_and_the_walk_goes_on() {
    // As value, element, key and at the top.
    for (digits, at) in [("82 a1 61 c1 a1 62 02", 3), ("93 01 c1 03", 2), ("82 c1 01 a1 62 02", 1), ("01 c1 02", 1)] {
        let checker = of(digits);
        assert_eq!(checker.codes(), ["mp-never-used"], "{digits}");
        let row = checker.rows.iter().find(|row| row.leaf.start == at).unwrap();
        assert_eq!((row.kind(), row.cause(), row.leaf.len()), ("never used", "unread", 1), "{digits}");
        let last = checker.rows.last().unwrap();
        assert_eq!((last.kind(), last.cause()), ("positive fixint", "payload"), "{digits}: what follows is read");
    }
    assert_eq!(paths(&of("82 a1 61 c1 a1 62 02")), ["", "a", "a", "b", "b"]);
}

#[test]
fn a_container_that_announces_more_says_how_many_are_missing() {
    let cases = [
        ("93 01", "2 elements of the array at 0x00"),
        ("92 01", "1 element of the array at 0x00"),
        ("83 a1 61 01", "2 entries of the map at 0x00"),
        ("82 a1 61 01", "1 entry of the map at 0x00"),
        ("81 a1 61", "the value of this key"),
        ("82 a1 61 92 01", "1 element of the array at 0x03 and 1 entry of the map at 0x00"),
        ("dd ffffffff 01", "4294967294 elements of the array at 0x00"),
        ("df ffffffff", "4294967295 entries of the map at 0x00"),
        ("a5 6869", "3 of the 5 bytes of this fixstr are missing"),
        ("cb 3ff8", "6 of the 8 bytes of this float64 are missing"),
        ("da 01", "this str16 lacks 1 byte of its head"),
        ("91 a3 68", "2 of the 3 bytes of this fixstr are missing"),
    ];
    for (digits, words) in cases {
        let checker = of(digits);
        assert_eq!(checker.codes(), ["mp-cut"], "{digits}");
        assert!(message(&checker, "mp-cut").contains(words), "{digits}: {}", message(&checker, "mp-cut"));
    }
}

#[test]
fn a_cut_item_keeps_its_causes() {
    assert_eq!(of("a5 6869").lines(), ["fixstr length 1", "str content payload 2"]);
    assert_eq!(of("c8 01").lines(), ["ext16 type 1", "length length 1"]);
    assert_eq!(of("81 a5 6869").lines(), ["fixmap length 1", "fixstr key 3"]);
}

#[test]
fn a_longer_form_than_needed_says_what_it_costs() {
    // (object, bytes it takes, bytes of the shortest form)
    let cases = [
        ("cc 01", 2, 1),
        ("cd 0001", 3, 1),
        ("cd 00ff", 3, 2),
        ("ce 00000100", 5, 3),
        ("cf 0000000100000000", 0, 0),
        ("d0 01", 2, 1),
        ("d1 ffff", 3, 1),
        ("d3 0000000000000001", 9, 1),
        ("d9 02 6869", 0, 0),
        ("c7 01 05 aa", 0, 0),
    ];
    for (digits, takes, least) in cases {
        let checker = of(digits);
        let shortest = digits == "cf 0000000100000000";
        assert_eq!(checker.codes().contains(&"mp-non-minimal"), !shortest, "{digits}");
        if takes > 0 {
            let text = message(&checker, "mp-non-minimal");
            assert!(text.contains(&takes.to_string()) && text.contains(&least.to_string()), "{digits}: {text}");
        }
    }
    // Heads of containers and of text, at the boundary and one past it.
    for (digits, long) in
        [("de 0001 01 01", true), ("dc 000f 000102030405060708090a0b0c0d0e", true), ("dd 00000000", true)]
    {
        assert_eq!(of(digits).codes(), if long { vec!["mp-non-minimal"] } else { vec![] }, "{digits}");
    }
    let sixteen = decode("msgpack", &[&[0xdc, 0, 16][..], &[0xc0; 16]].concat());
    assert_eq!(sixteen.codes(), [""; 0], "a fixarray ends at 15");
    let thirty_two = decode("msgpack", &[&[0xd9, 32][..], &[b'x'; 32]].concat());
    assert_eq!(thirty_two.codes(), [""; 0], "a fixstr ends at 31");
    assert_eq!(decode("msgpack", &[&[0xd9, 31][..], &[b'x'; 31]].concat()).codes(), ["mp-non-minimal"]);
    assert_eq!(
        of("c7 0c ff 00000000 0000000000000005").codes(),
        ["mp-non-minimal"],
        "timestamp 96 for the fifth second"
    );
}

#[test]
fn objects_in_a_row_are_numbered() {
    let checker = of("81 a1 69 00 2a 92 01 02");
    assert_eq!(paths(&checker), ["#0", "#0.i", "#0.i", "#1", "#2", "#2.[0]", "#2.[1]"]);
    assert_eq!(checker.messages().len(), 3);
    assert_eq!(paths(&of("2a")), [""], "one alone has no number");
}

#[test]
fn keys_may_be_anything() {
    let cases = [
        ("81 c0 01", "{nil}"),
        ("81 c3 01", "{true}"),
        ("81 2a 01", "{42}"),
        ("81 ff 01", "{-1}"),
        ("81 cb3ff8000000000000 01", "{1.5}"),
        ("81 a3 612062 01", "{a b}"),
        ("81 a3 737562 01", "sub"),
    ];
    for (digits, path) in cases {
        let checker = of(digits);
        assert_eq!(checker.rows.last().unwrap().path, path, "{digits}");
        let causes: Vec<&str> = checker.rows.iter().map(common::Row::cause).collect();
        assert_eq!(causes, ["length", "key", "payload"], "{digits}: a key is one leaf, head and content");
    }
    for digits in ["81 c402 00ff 01", "81 d4 01 aa 01"] {
        let checker = of(digits);
        assert_eq!(checker.rows[1].cause(), "key", "{digits}");
        assert!(checker.rows[2].path.starts_with('{') && checker.rows[2].path.ends_with('}'), "{digits}");
    }
}

#[test]
fn a_container_as_key_is_key_whole_and_named_by_its_offset() {
    let checker = of("81 92 01 a1 78 2a");
    let causes: Vec<&str> = checker.rows.iter().map(common::Row::cause).collect();
    assert_eq!(causes, ["length", "key", "key", "key", "key", "payload"]);
    assert_eq!(checker.rows.last().unwrap().path, "{@0x01}");
    let Value::Map(entries) = &checker.messages()[0].value else { panic!("a map") };
    assert!(matches!(&entries[0].0.value, Value::List(items) if items.len() == 2));
}

#[test]
fn a_key_that_the_end_cuts_has_no_name_but_its_offset() {
    // A str key of two bytes of which one stands there, the head of an int8 key, a str key without content.
    for digits in ["81a261", "81d0", "81a3"] {
        let checker = of(digits);
        assert_eq!(paths(&checker).last(), Some(&"{@0x01}"), "{digits}");
        assert_eq!(checker.codes(), ["mp-cut"], "{digits}");
    }
}

#[test]
fn the_empty_input_is_no_message() {
    assert_eq!(decode("msgpack", b"").codes(), ["empty-input"]);
}

/// A map of one long str and one long bin: head of each, and its content.
fn long(size: usize) -> Vec<u8> {
    let len = u32::try_from(size).unwrap().to_be_bytes();
    let mut bytes = vec![0x82, 0xa1, b's', 0xdb];
    bytes.extend(len);
    bytes.extend((0..size).map(|at| b'a' + (at % 26) as u8));
    bytes.extend([0xa1, b'b', 0xc6]);
    bytes.extend(len);
    bytes.extend((0..size).map(|at| at as u8));
    bytes
}

#[test]
fn long_content_is_one_leaf_from_a_file_and_pieces_on_a_pipe() {
    let bytes = long(200_000);
    for checker in [decode("msgpack", &bytes), decode_file("msgpack", &bytes)] {
        let long: Vec<u64> = checker.rows.iter().map(|row| row.leaf.len()).filter(|len| *len > 100).collect();
        assert_eq!(long, [200_000, 200_000]);
        assert_eq!(checker.found, []);
    }
    let piped = decode_piped("msgpack", &bytes, 4096);
    let pieces: u64 = piped.rows.iter().filter(|row| row.kind() == "str content").map(|row| row.leaf.len()).sum();
    assert_eq!(pieces, 200_000);
    assert!(piped.rows.iter().all(|row| row.leaf.len() <= 64 * 1024));
    assert_eq!(piped.messages()[0].value, decode("msgpack", &bytes).messages()[0].value);
    assert_eq!(piped.causes(), decode("msgpack", &bytes).causes());
}

#[test]
fn a_string_of_three_mib_on_a_pipe_keeps_every_byte() {
    // Past the first MiB, which is all that is seen before the choice of a format.
    let size = 3usize << 20;
    let mut bytes = vec![0x82, 0xa1, b's', 0xdb];
    bytes.extend(u32::try_from(size).unwrap().to_be_bytes());
    bytes.extend((0..size).map(|at| b'a' + (at % 26) as u8));
    bytes.extend([0xa1, b'b', 0x07]);
    let checker = decode_piped("msgpack", &bytes, 60_000);
    assert_eq!(checker.found, []);
    assert_eq!(checker.rows.last().unwrap().path, "b");
    let ran = common::run_with(&["explain", "--to", "jsonl"], &bytes);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let last = ran.text().lines().last().unwrap().to_string();
    let last = common::json(last.as_bytes()).unwrap();
    assert_eq!(last["end"]["size"].as_u64(), Some(bytes.len() as u64));
    let back = common::run_with(&["convert", "--to", "msgpack"], &bytes);
    assert!(back.status == 0 && back.out == bytes, "{}", back.err);
}

#[test]
fn a_long_string_that_is_cut_or_not_utf8_says_so() {
    let bytes = long(200_000);
    for checker in [decode("msgpack", &bytes[..150_000]), decode_piped("msgpack", &bytes[..150_000], 4096)] {
        assert_eq!(checker.codes(), ["mp-cut"]);
        assert!(message(&checker, "mp-cut").contains("50008 of the 200000 bytes of this str32 are missing"));
    }
    let mut broken = bytes;
    broken[180_000] = 0xff;
    for checker in [decode("msgpack", &broken), decode_piped("msgpack", &broken, 4096)] {
        assert_eq!(checker.codes(), ["mp-invalid-utf8"]);
        assert!(message(&checker, "mp-invalid-utf8").contains("0x2bf20"), "{}", message(&checker, "mp-invalid-utf8"));
    }
}

#[test]
fn more_keys_than_are_remembered_are_said_once() {
    // 300,000 keys of 5 bytes, the last one twice.
    let count: u32 = 300_000;
    let mut bytes = vec![0xdf];
    bytes.extend((count + 1).to_be_bytes());
    for key in (0..count).chain([0]) {
        bytes.extend([&[0xce][..], &(key + 70_000).to_be_bytes(), &[0xc0]].concat());
    }
    let checker = common::check("msgpack", &bytes);
    let mut codes = checker.codes();
    codes.sort_unstable();
    assert_eq!(codes, ["mp-duplicate-key", "mp-keys-not-compared"], "the first keys are still known");
}
