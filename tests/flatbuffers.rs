//! FlatBuffers, by facts that a person checks by hand: the 440-byte document of the suite, structs, unions, buffers
//! inside, offsets of 64 bits, and what is wrong in small buffers.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::collections::BTreeMap;

use common::{As, Checker, Row, file, hex, put, run};
use wireinspect::model::bytemap::{Flags, NO_TARGET};

fn document() -> Checker {
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    suite.decode(&file("tests/data/golden/vectors/document/flatc.fb"))
}

fn zoo(name: &str) -> Checker {
    let root = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root");
    root.decode(&file(&format!("tests/data/golden/zoo/flatbuffers/{name}.fb")))
}

fn bad(name: &str) -> Checker {
    let root = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root");
    root.decode(&file(&format!("tests/data/golden/bad/flatbuffers/{name}.fb")))
}

/// `code start..end` of each finding.
fn findings(checker: &Checker) -> String {
    let found = checker.found.iter().map(|found| format!("{} {}..{}", found.code.text(), found.start, found.end));
    found.collect::<Vec<_>>().join(", ")
}

/// The leaf that begins at an offset.
fn leaf(checker: &Checker, start: u64) -> &Row {
    checker.rows.iter().find(|row| row.leaf.start == start).unwrap_or_else(|| panic!("no leaf at {start:#x}"))
}

/// `start..end kind path "text" -> target` of a leaf.
fn told(checker: &Checker, start: u64) -> String {
    let row = leaf(checker, start);
    let target = if row.leaf.target == NO_TARGET { String::new() } else { format!(" -> {:#x}", row.leaf.target) };
    format!("{:#x}..{:#x} {} {} {}{target}", row.leaf.start, row.leaf.end, row.kind(), row.path, row.text())
}

#[test]
fn the_document_is_what_its_bytes_say() {
    let checker = document();
    assert!(checker.found.is_empty(), "{:?}", checker.found);
    for line in [
        "0x0..0x4 uoffset  uoffset -> 0x14 table FixtureRoot -> 0x14",
        "0x4..0xa padding  |padding 6, so that the file, 440 bytes, is a multiple of 8",
        "0xa..0xc vtable size  vtable 10",
        "0xe..0x10 voffset  |kind +7",
        "0x10..0x12 voffset  |message none",
        "0x14..0x18 soffset  soffset -> 0x0a -> 0xa",
        "0x1b..0x1c int8 kind FixtureKind Document (1)",
        "0x1c..0x20 uoffset document uoffset -> 0x2c table Document -> 0x2c",
        "0x34..0x38 int32 document.status int32 4",
        "0x40..0x44 count document.items 8",
        "0x44..0x48 uoffset document.items[0] |-> 0x16c -> 0x16c",
        "0x64..0x68 soffset document.items[7] soffset -> 0x162 -> 0x162",
        "0x70..0x78 int64 document.items[7].price_minor int64 80173",
        "0x78..0x7c length document.items[7].sku 5",
        "0x7c..0x81 string document.items[7].sku \"eheam\"",
        "0x81..0x82 NUL document.items[7].sku NUL",
        "0x128..0x12c padding document.items[2] padding 4, so that price_minor stands on a multiple of 8",
    ] {
        let start = u64::from_str_radix(line[2..].split('.').next().unwrap(), 16).unwrap();
        assert_eq!(told(&checker, start), line);
    }
}

#[test]
fn seven_items_share_a_vtable_and_the_third_has_its_own() {
    let out = run(&["explain", "samples/document.fb", "-s", "schemas/suite.fbs"]);
    let headings: Vec<&str> = out.text().lines().filter(|line| line.contains("for DocumentItem:")).collect();
    assert_eq!(headings.len(), 2, "{headings:?}");
    assert!(headings[0].starts_with("   -- vtable 0x10a for DocumentItem: 10 bytes, 3 slots"), "{headings:?}");
    assert!(headings[0].ends_with("used by document.items[2]"), "{headings:?}");
    assert!(
        headings[1].contains("vtable 0x162") && headings[1].ends_with("used by 7 tables: document.items[0,1,3..7]")
    );
    let json = run(&["explain", "samples/document.fb", "-s", "schemas/suite.fbs", "--to", "json"]).json();
    let refs: BTreeMap<u64, u64> = json["layers"][0]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|span| span["refs"] != 0)
        .map(|span| (span["start"].as_u64().unwrap(), span["refs"].as_u64().unwrap()))
        .collect();
    assert_eq!((refs[&0x162], refs[&0x10a], refs[&0x16c], refs[&0x1a8]), (7, 1, 1, 1));
}

#[test]
fn structs_are_told_member_by_member_with_their_gaps() {
    let checker = zoo("arrays");
    for line in [
        "0x3c..0x40 int32 arrays.i[1] int32 -2",
        "0x4a..0x4b uint8 arrays.b[2] uint8 9",
        "0x4b..0x4c padding arrays padding 1, a gap in the struct",
        "0x50..0x52 int16 arrays.s[1].a int16 3",
        "0x55..0x56 int8 arrays.e[1] Race None (-1)",
        "0x58..0x60 float64 arrays.d float64 0.5",
    ] {
        let start = u64::from_str_radix(line[2..].split('.').next().unwrap(), 16).unwrap();
        assert_eq!(told(&checker, start), line);
    }
}

#[test]
fn unions_hold_tables_structs_and_strings() {
    let checker = zoo("union_vector_mixed");
    assert!(checker.found.is_empty());
    // Types of the three values: text (4), Pair (2), Stat (3).
    let types: Vec<String> = checker.at("mixeds_type[0]").iter().map(|row| row.text()).collect();
    assert_eq!(types, ["|Mixed text (4)"]);
    assert_eq!(told(&checker, 0x5c), "0x5c..0x60 uint32 mixeds[1].id uint32 1");
    assert_eq!(told(&checker, 0x68), "0x68..0x69 string mixeds[0] \"a\"");
    assert_eq!(leaf(&checker, 0x70).cause(), "type");
}

#[test]
fn a_buffer_inside_is_opened_in_place() {
    let checker = zoo("nested_object");
    assert_eq!(told(&checker, 0x38), "0x38..0x3c uoffset nested uoffset -> 0x44 table Named -> 0x44");
    assert_eq!(told(&checker, 0x4c), "0x4c..0x50 int32 nested.n int32 7");
    assert!(checker.rows.iter().all(|row| row.cause() != "unread"));
}

#[test]
fn only_a_stored_default_that_a_reader_cannot_tell_from_absent_counts_as_default() {
    // A zero is the default of `n`; `hp` has 100.
    let schema = "table T { n: int; hp: short = 100; o: int = null; s: string; }\nroot_type T;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    let json = put(folder.path(), "t.json", br#"{"n": 0, "hp": 100, "o": 0}"#);
    let made = folder.path().join("t.fb");
    let made = made.to_str().unwrap();
    let args =
        ["convert", "-f", "json", &json, "--to", "flatbuffers", "-s", &schema, "-o", made, "--fb-force-defaults"];
    assert_eq!(run(&args).status, 0);
    let out = run(&["explain", "-f", "flatbuffers", made, "-s", &schema, "--to", "json"]).json();
    let causes: BTreeMap<String, String> = out["layers"][0]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|span| span["kind"].as_str().unwrap().starts_with("int"))
        .map(|span| (span["path"].as_str().unwrap().to_string(), span["cause"].as_str().unwrap().to_string()))
        .collect();
    assert_eq!((causes["n"].as_str(), causes["hp"].as_str(), causes["o"].as_str()), ("default", "default", "payload"));
}

#[test]
fn many_scalars_are_one_span_with_its_first_and_last() {
    let telemetry = As::format("flatbuffers").typed("suite.fbs", "suite.Telemetry");
    let checker = telemetry.decode(&file("tests/data/golden/vectors/telemetry/flatc-bare.fb"));
    assert!(checker.found.is_empty());
    let schema = "table T { v: [int]; }\nroot_type T;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    let numbers: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    let json = put(folder.path(), "t.json", format!("{{\"v\": [{}]}}", numbers.join(",")).as_bytes());
    let made = folder.path().join("t.fb");
    let made = made.to_str().unwrap();
    assert_eq!(run(&["convert", "-f", "json", &json, "--to", "fb", "-s", &schema, "-o", made]).status, 0);
    let out = run(&["explain", made, "-s", &schema, "--to", "json"]).json();
    let span = out["layers"][0]["spans"].as_array().unwrap().iter().find(|span| span["count"] == 1000).unwrap().clone();
    assert_eq!((&span["stride"], &span["first"], &span["last"]), (&4.into(), &0.into(), &999.into()));
    // 0 to 255 need one byte, the others two.
    assert_eq!(span["payload"].as_u64(), Some(256 + 744 * 2));
    assert_eq!(span["width"].as_u64(), Some(256 * 3 + 744 * 2));
    assert!(span["value"].is_null());
}

#[test]
fn offsets_of_64_bits_and_their_vectors_are_followed() {
    let schema = "table T { s: string (offset64); v: [ubyte] (vector64); n: int; }\nroot_type T;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    // Root offset 0x10; at 0x04 a vtable of 10 bytes for a table of 24: s +8, v +16, n +4. The string stands at 0x28,
    // the vector, its count in 8 bytes, at 0x30.
    let bytes = hex("10 00 00 00 0a 00 18 00 08 00 10 00 04 00 00 00 0c 00 00 00 07 00 00 00 10 00 00 00 00 00 00 00 \
         10 00 00 00 00 00 00 00 02 00 00 00 68 69 00 00 03 00 00 00 00 00 00 00 01 02 03 00");
    let path = put(folder.path(), "t.fb", &bytes);
    let out = run(&["explain", "-f", "fb", &path, "-s", &schema, "--to", "json"]);
    let json = out.json();
    assert_eq!((out.status, json["value"].to_string()), (0, r#"{"s":"hi","v":[1,2,3],"n":7}"#.to_string()));
    let kind = |start: u64| {
        let spans = json["layers"][0]["spans"].as_array().unwrap();
        let span = spans.iter().find(|span| span["start"] == start).unwrap();
        format!("{} {}", span["kind"].as_str().unwrap(), span["end"].as_u64().unwrap() - start)
    };
    assert_eq!([kind(0x18), kind(0x20), kind(0x30)], ["uoffset64 8", "uoffset64 8", "count 8"]);
}

#[test]
fn what_the_verifiers_let_pass_is_an_error_all_the_same() {
    for (name, code, at) in [
        ("vtable_is_table", "fb-vtable", 60),
        ("vtable_size_zero", "fb-vtable", 8),
        ("vtable_size_two", "fb-vtable", 8),
        ("table_size_past_end", "fb-vtable", 10),
        ("vector_element_null", "fb-offset-zero", 124),
        ("union_value_without_type", "fb-union", 32),
        ("root_offset_zero", "fb-offset-zero", 0),
    ] {
        let checker = bad(name);
        let found = checker.found.iter().find(|found| found.code.text() == code);
        assert_eq!(found.map(|found| found.start), Some(at), "{name}: {:?}", checker.found);
    }
}

#[test]
fn what_is_wrong_is_told_at_its_bytes_and_only_that() {
    for (name, due) in [
        ("field_offset_in_soffset", "fb-vtable 54..56, fb-unreferenced 72..76"),
        ("field_offset_past_end", "fb-vtable 54..56, fb-unreferenced 72..76"),
        ("nested_broken", "fb-offset-past-end 56..60"),
        ("root_offset_past_end", "fb-offset-past-end 0..4, fb-unreferenced 4..133"),
        ("string_length_huge", "fb-length-past-end 76..80"),
        ("string_no_nul", "fb-no-terminator 85..86"),
        ("string_offset_zero", "fb-offset-zero 64..68, fb-unreferenced 76..85"),
        ("trunc_086", "fb-offset-past-end 68..72"),
        ("union_vectors_lengths_differ", "fb-union 52..56"),
        ("vtable_size_odd", "fb-unreferenced 8..55, fb-vtable 8..10, fb-unreferenced 64..133"),
        ("zeros", "fb-offset-zero 0..4"),
    ] {
        assert_eq!(findings(&bad(name)), due, "{name}");
    }
    // A bool of 2, a vector of pairs with the ids 9 and 1, a nested Named without its key, the identifier of another.
    for (name, due) in [
        ("bool_two", "fb-bool 63..64"),
        ("keys_unsorted", "fb-key-order 84..92"),
        ("nested_bytes", "fb-key-missing 64..68"),
        ("union_unknown_type", "fb-union 43..44"),
        ("wrong_identifier", "fb-identifier 4..8"),
    ] {
        assert_eq!(findings(&zoo(name)), due, "{name}");
    }
}

#[test]
fn cycles_end_where_an_offset_would_lead_back() {
    // Offsets are unsigned: one that leads back wraps around 32 bits, and leads past the end.
    assert_eq!(findings(&bad("table_self_wrap")), "fb-offset-past-end 108..112");
    assert_eq!(findings(&bad("table_parent_wrap")), "fb-offset-past-end 124..128");
    let checker = bad("table_offset_zero");
    assert_eq!(findings(&checker), "fb-offset-zero 68..72, fb-unreferenced 88..133");
    assert_eq!(told(&checker, 68), "0x44..0x48 uoffset tree uoffset -> 0x44, itself -> 0x44");
}

#[test]
fn damage_of_a_sound_buffer_is_told_at_its_bytes() {
    // The document: one byte changed, at the offset, to the value.
    let sound = file("tests/data/golden/vectors/document/flatc.fb");
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    for (at, from, to, due) in [
        // "eheam" of items[7]: its first byte to one that is not UTF-8, and its NUL to `!`.
        (0x7c, 0x65, 0xff, "fb-invalid-utf8 124..129"),
        (0x81, 0, b'!', "fb-no-terminator 129..130"),
        // The padding behind it, and that between the items.
        (0x82, 0, 1, "fb-unreferenced 130..131"),
        (0x128, 0, 1, "fb-unreferenced 296..300"),
        // The sku of items[7] to one byte further on.
        (0x68, 0x10, 0x11, "fb-unaligned 104..108, fb-unreferenced 120..121, fb-length-past-end 121..125"),
        // The vtable of items[2] says 22 bytes of its 24: price_minor still fits, two bytes are left over.
        (0x10c, 0x18, 0x16, ""),
        // The same table with 14 bytes: price_minor at +12 has not enough.
        (0x10c, 0x18, 0x0e, "fb-vtable 274..276, fb-unreferenced 288..290, fb-unreferenced 290..291"),
        // Nine items in a vector of eight: the ninth offset is the soffset of items[7].
        (0x40, 8, 9, "fb-offset-past-end 100..104, fb-overlap 100..104"),
    ] {
        let mut bytes = sound.clone();
        assert_eq!(bytes[at], from, "{at:#x}");
        bytes[at] = to;
        assert_eq!(findings(&suite.decode(&bytes)), due, "{at:#x}");
    }
    assert_eq!(findings(&suite.decode(&sound)), "");
}

#[test]
fn every_cut_of_the_document_is_an_error_until_its_last_zeros() {
    let sound = file("tests/data/golden/vectors/document/flatc.fb");
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    // The last string ends with its NUL at 0x1b4; three zeros follow.
    for end in 0..=sound.len() {
        assert_eq!(suite.decode(&sound[..end]).has_error(), end < 0x1b5, "cut at {end:#x}");
    }
}

#[test]
fn a_finding_stands_at_its_own_leaf_and_an_offset_that_nobody_follows_has_no_target() {
    // Found by random tables: a vector of unions at 0x45 begins inside the offset that leads to it, and its third
    // element follows bytes of other objects, 0x4e..0x51. In them lies the type of a union without a value, 0x50.
    let bytes =
        hex("30000000aeffffff40000000400000002c0000006c000000180000002b52eea6398f3db714000000b7c62b689b100039 \
         daffffff2c000000e2ffffffe6ffffff3800000001000000020000004000000028000000070022002000060003000000 \
         000009001d00200000001a0014000000ccffffff1e00000010000000010000002a00000018000000");
    let checker = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root").decode(&bytes);
    let [hole, element] = [0x4e, 0x51].map(|start| leaf(&checker, start).leaf);
    assert!(checker.found.iter().any(|found| (found.code.text(), found.start, found.end) == ("fb-union", 0x50, 0x51)));
    assert_eq!((hole.end, hole.flags.has(Flags::ERROR)), (0x51, true));
    assert_eq!((element.target, element.flags.has(Flags::ERROR)), (NO_TARGET, false));
}

#[test]
fn a_required_field_that_is_absent_is_told_by_its_name() {
    // Root offset 8; a vtable without slots at 4, of a table of 4 bytes.
    let bytes = hex("08 00 00 00 04 00 04 00 04 00 00 00");
    let checker = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Needs").decode(&bytes);
    assert_eq!(findings(&checker), "fb-required-missing 8..12");
    assert_eq!(checker.found[0].message, "`must` is required and absent");
}

#[test]
fn a_gap_in_a_struct_that_is_not_zero_is_padding_with_a_warning() {
    // The byte behind `b` in `arrays`, from 00 to 01.
    let mut bytes = file("tests/data/golden/zoo/flatbuffers/arrays.fb");
    assert_eq!(bytes[0x4b], 0);
    bytes[0x4b] = 1;
    let checker = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root").decode(&bytes);
    assert_eq!(findings(&checker), "fb-padding 75..76");
    assert_eq!(leaf(&checker, 0x4b).cause(), "padding");
}

#[test]
fn padding_has_a_reason_only_where_it_follows_from_the_bytes() {
    let reasons = |checker: &Checker| -> Vec<String> {
        let padding = checker.rows.iter().filter(|row| row.kind() == "padding");
        padding.map(|row| format!("{:#x} {}", row.leaf.start, row.text().trim_start_matches('|'))).collect()
    };
    let told = reasons(&document());
    let with: Vec<&str> = told.iter().filter(|text| text.contains(',')).map(String::as_str).collect();
    assert_eq!(
        with,
        [
            "0x4 padding 6, so that the file, 440 bytes, is a multiple of 8",
            "0x18 padding 3, kind fills the 4th byte",
            "0x128 padding 4, so that price_minor stands on a multiple of 8",
        ]
    );
    // 6 + 3 + 2 + 3 + 3 + 2 + 4 + 3 + 3 + 1 + 3 are the 33 bytes of the ledger.
    assert_eq!(told.len(), 11, "{told:?}");
    // Four more bytes at the end: 444 is no multiple of 8, so the zeros in front have no reason any more.
    let mut longer = file("tests/data/golden/vectors/document/flatc.fb");
    longer.extend([0; 4]);
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    assert_eq!(reasons(&suite.decode(&longer))[0], "0x4 padding 6");
}

#[test]
fn a_size_in_front_moves_everything_by_its_own_bytes() {
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    let plain = file("tests/data/golden/vectors/document/flatc.fb");
    let sized =
        suite.variant("size-prefixed").decode(&file("tests/data/golden/vectors/document/flatc-size-prefixed.fb"));
    assert_eq!(findings(&sized), "");
    let kinds = |checker: &Checker, after: u64| -> Vec<(String, &'static str, String)> {
        let rows = checker.rows.iter().filter(|row| row.leaf.start >= after && row.kind() != "padding");
        rows.map(|row| (row.path.clone(), row.kind(), row.value().unwrap_or_default())).collect()
    };
    // Behind the head it is the same message, with the same values in all fields and the same vtables.
    let (told, due) = (kinds(&sized, 8), kinds(&suite.decode(&plain), 4));
    assert_eq!(told, due);
    assert_eq!(
        // 440 as without it: the four bytes come from the padding behind the head.
        (sized.rows[0].kind(), sized.rows[0].cause(), sized.rows[0].value()),
        ("size prefix", "framing", Some("436".to_string()))
    );
    // Cut by a byte, with trailing bytes, and with a size that is too small for a root offset.
    let bytes = file("tests/data/golden/vectors/document/flatc-size-prefixed.fb");
    let read = |bytes: &[u8]| findings(&suite.variant("size-prefixed").decode(bytes));
    assert!(read(&bytes[..bytes.len() - 1]).starts_with("fb-size-prefix 0..4"));
    assert_eq!(
        read(&[&bytes[..], &[1, 2, 3]].concat()),
        format!("fb-unreferenced {}..{}", bytes.len(), bytes.len() + 3)
    );
    assert!(read(&[&[3, 0, 0, 0], &bytes[4..]].concat()).starts_with("fb-size-prefix 0..4"));
}

#[test]
fn what_several_offsets_lead_to_is_told_once_and_counted() {
    let schema = "table T { a: string; b: string; c: [string]; }\nroot_type T;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    // Root offset 0x10; at 0x04 a vtable of 10 bytes for a table of 16: a +4, b +8, c +12. a and b and both elements
    // of c lead to the string at 0x2c.
    let bytes = hex("10 00 00 00 0a 00 10 00 04 00 08 00 0c 00 00 00 0c 00 00 00 18 00 00 00 14 00 00 00 04 00 00 00 \
         02 00 00 00 08 00 00 00 04 00 00 00 02 00 00 00 68 69 00 00");
    let path = put(folder.path(), "t.fb", &bytes);
    let json = run(&["explain", "-f", "fb", &path, "-s", &schema, "--to", "json"]).json();
    assert_eq!(json["value"].to_string(), r#"{"a":"hi","b":"hi","c":["hi","hi"]}"#);
    let spans = json["layers"][0]["spans"].as_array().unwrap();
    let length: Vec<_> = spans.iter().filter(|span| span["kind"] == "length").collect();
    // Its path is that of its first referrer in the file.
    assert_eq!((length.len(), &length[0]["refs"], length[0]["path"].as_str()), (1, &4.into(), Some("a")));
    let leads = spans.iter().filter(|span| span["target"] == 0x2c).count();
    assert_eq!(leads, 4);
}

#[test]
fn a_buffer_inside_that_two_tables_share_is_one() {
    let schema = "table N { x: int; }\ntable M { d: [ubyte] (nested_flatbuffer: \"N\"); }\n\
        table R { a: M; b: M; }\nroot_type R;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    // Vtables of R at 0x04 and of M at 0x18; R at 0x0c leads to M at 0x20 and 0x28, both lead to the vector at 0x30. Its
    // 20 bytes are a buffer: root offset 0x0c, a vtable, a table with x = 7.
    let bytes = hex("0c 00 00 00 08 00 0c 00 04 00 08 00 08 00 00 00 10 00 00 00 14 00 00 00 06 00 08 00 04 00 00 00 \
         08 00 00 00 0c 00 00 00 10 00 00 00 04 00 00 00 14 00 00 00 0c 00 00 00 06 00 08 00 04 00 00 00 08 00 00 00 \
         07 00 00 00");
    let path = put(folder.path(), "t.fb", &bytes);
    let ran = run(&["explain", "-f", "fb", &path, "-s", &schema, "--to", "json"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let json = ran.json();
    assert_eq!(json["value"].to_string(), r#"{"a":{"d":{"x":7}},"b":{"d":{"x":7}}}"#);
    let spans = json["layers"][0]["spans"].as_array().unwrap();
    let count = spans.iter().find(|span| span["kind"] == "count").unwrap();
    assert_eq!((&count["refs"], count["path"].as_str()), (&2.into(), Some("a.d")));
}

#[test]
fn types_that_share_a_vtable_are_both_its_users() {
    let schema = "table A { n: int; }\ntable B { m: uint; }\ntable R { a: A; b: B; }\nroot_type R;";
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "t.fbs", schema.as_bytes());
    // The vtable at 0x18 says 8 bytes and +4: the A at 0x20 and the B at 0x28 use it.
    let bytes = hex("0c 00 00 00 08 00 0c 00 04 00 08 00 08 00 00 00 10 00 00 00 14 00 00 00 06 00 08 00 04 00 00 00 \
         08 00 00 00 01 00 00 00 10 00 00 00 02 00 00 00");
    let path = put(folder.path(), "t.fb", &bytes);
    let out = run(&["explain", "-f", "fb", &path, "-s", &schema]);
    let heading = out.text().lines().find(|line| line.contains("vtable 0x18 for A, B: 6 bytes"));
    assert!(heading.is_some_and(|heading| heading.ends_with("used by 2 tables: a as A, b as B")), "{}", out.text());
    assert!(out.text().contains("A.n, B.m +4"), "{}", out.text());
}

#[test]
fn a_value_of_a_union_whose_type_is_not_known_is_followed_all_the_same() {
    let checker = zoo("union_unknown_type");
    assert_eq!(told(&checker, 0x24), "0x24..0x28 uoffset any uoffset -> 0x34 table -> 0x34");
    assert_eq!(told(&checker, 0x4c), "0x4c..0x4d string any.0 \"x\"");
    assert!(checker.rows.iter().all(|row| row.cause() != "unread"));
}

#[test]
fn the_same_table_in_very_many_ways_is_read_once_and_counted() {
    // 24 levels of two offsets to the same table: 16 million tables for a reader that follows them all.
    let root = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root");
    let checker = root.decode(&file("tests/data/golden/bad/flatbuffers/fan_out_24_levels_2.fb"));
    assert_eq!(checker.codes(), ["fb-tables"]);
    assert!(checker.rows.len() < 300);
}

#[test]
fn without_a_schema_the_same_objects_are_found() {
    let mut all = (0, 0);
    for golden in common::golden().iter().filter(|one| one.format == "flatbuffers" && "ABC".contains(one.section)) {
        let (typed, bare) = (golden.read_as().decode(&golden.bytes), golden.untyped_as().decode(&golden.bytes));
        let objects = |checker: &Checker| {
            let kinds = ["soffset", "count", "length"];
            let rows = checker.rows.iter().filter(|row| kinds.contains(&row.kind()));
            rows.map(|row| (row.leaf.start, row.kind())).collect::<Vec<_>>()
        };
        let found = objects(&bare);
        let due = objects(&typed);
        all.0 += due.iter().filter(|object| found.contains(object)).count();
        all.1 += due.len();
        assert!(!bare.has_error(), "{}: {:?}", golden.id, bare.found);
    }
    assert!(all.0 * 100 >= all.1 * 99, "{all:?}");
}

#[test]
fn a_size_in_front_is_found_out_and_told() {
    let out = run(&["explain", "--to", "json", "tests/data/golden/zoo/flatbuffers/size_prefixed.fb"]).json();
    assert_eq!((out["format"].as_str(), out["variant"].as_str()), (Some("flatbuffers"), Some("size-prefixed")));
    assert_eq!(out["layers"][0]["spans"][0]["cause"], "framing");
}

#[test]
fn a_schema_that_cannot_be_read_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("table T { a: Foo; }", "1:14: no type `Foo`"),
        ("struct S { a: string; }", "1:15: a struct holds only scalars"),
        ("struct A { b: B; }\nstruct B { a: A; }", "1:15: `B` is no struct that is declared up to here"),
        ("struct A { a: A; }", "the struct `A` contains itself"),
        ("table T {\n  a: int (id: 0);\n  b: int;\n}", "3:3: `b` has no id, others have"),
        ("table T { a: ubyte = 300; }", "1:22: expected a default that fits ubyte, here is `300`"),
        ("file_identifier \"ABCDE\";", "1:17: a file identifier has 4 characters"),
        ("tabel T {}", "1:1: expected a declaration, here is `tabel`"),
        ("include \"no.fbs\";\ntable T { a: X; }", "2:14: no type `X`"),
    ];
    for (source, due) in cases {
        let path = put(folder.path(), "t.fbs", source.as_bytes());
        let ran = run(&["schema", &path]);
        assert_eq!((ran.status, ran.out.len(), ran.err.lines().count()), (2, 0, 1), "{source}: {}", ran.err);
        assert!(ran.err.contains(due), "{source}: {}", ran.err);
    }
    for bracket in ["[", "{", "("] {
        let text = format!("table T {{ a: {}", bracket.repeat(200_000));
        let path = put(folder.path(), "deep.fbs", text.as_bytes());
        assert_eq!(run(&["schema", &path]).status, 2);
    }
}

#[test]
fn source_and_compiled_schema_say_the_same() {
    for name in ["suite", "fbzoo", "peer"] {
        let [source, compiled] = [".fbs", ".bfbs"].map(|end| common::load(&format!("{name}{end}")));
        let (source, compiled) = (source.flat.as_deref().unwrap(), compiled.flat.as_deref().unwrap());
        assert_eq!((source.objects.len(), source.enums.len()), (compiled.objects.len(), compiled.enums.len()));
        assert_eq!((source.identifier, &source.extension), (compiled.identifier, &compiled.extension));
        for object in &source.objects {
            let other = compiled.objects.iter().find(|other| other.name == object.name).unwrap();
            assert_eq!((object.is_struct, object.size), (other.is_struct, other.size), "{}", object.name);
            let facts = |object: &wireinspect::model::flat::Object| {
                let fields = object.fields.iter();
                fields
                    .map(|field| (field.name.clone(), field.id, field.offset, field.padding, field.required, field.key))
                    .collect::<Vec<_>>()
            };
            assert_eq!(facts(object), facts(other), "{}", object.name);
        }
    }
}
