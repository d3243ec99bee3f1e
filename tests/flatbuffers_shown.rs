//! FlatBuffers as a dump shows them: large inputs, elided elements, counts, and what readers refuse although the
//! bytes can be read. Facts that a person checks by hand.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::fmt::Write as _;

use common::{As, Ran, file, hex, put, run, run_with};

/// `explain` of bytes, with a schema given as text.
fn explained(schema: &str, bytes: &[u8], more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let schema = put(folder.path(), "s.fbs", schema.as_bytes());
    let mut args = vec!["explain", "-f", "flatbuffers", "-e", "raw", "-s", &schema];
    args.extend(more);
    run_with(&args, bytes)
}

/// The line of an output that holds a text.
fn line<'a>(out: &'a Ran, part: &str) -> &'a str {
    let found = out.text().lines().find(|line| line.contains(part));
    found.unwrap_or_else(|| panic!("no line with {part:?} in {}", out.text()))
}

const BATCH: &str = "table Rec { name: string; n: int; } table Batch { recs: [Rec]; last: int; } root_type Batch;";

/// 40,000 records of more than 1 MiB.
fn batch(folder: &std::path::Path) -> (String, String) {
    let mut json = String::from("{\"recs\":[");
    for number in 0..40_000 {
        let comma = if number == 0 { "" } else { "," };
        write!(json, "{comma}{{\"name\":\"record {number:05}\",\"n\":{}}}", number + 1).unwrap();
    }
    json.push_str("],\"last\":7}");
    let input = put(folder, "batch.json", json.as_bytes());
    let schema = put(folder, "batch.fbs", BATCH.as_bytes());
    let output = folder.join("batch.fb").to_str().unwrap().to_string();
    let ran = run(&["convert", &input, "-s", &schema, "--to", "flatbuffers", "-o", &output]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(std::fs::metadata(&output).unwrap().len() > 1 << 20);
    (output, schema)
}

#[test]
fn the_head_of_a_large_buffer_tells_values_that_lie_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (input, schema) = batch(folder.path());
    let from_file = run(&["explain", &input, "-s", &schema, "--max-items", "1"]);
    assert!(from_file.text().lines().next().unwrap().ends_with(" bytes of FlatBuffers, one Batch"));
    assert_eq!(line(&from_file, "  value"), "  value  {recs: [40000 Rec], last: 7}");
    // A pipe is read once, and all of it.
    let bytes = std::fs::read(&input).unwrap();
    let piped = run_with(&["explain", "-s", &schema, "--max-items", "1"], &bytes);
    assert_eq!(line(&piped, "  value"), "  value  {recs: [40000 Rec], last: 7}");
    // Field 0 is the vector, field 1 the number. The root shares a vtable near the end, behind the first MiB.
    let untyped = run(&["explain", &input, "--max-items", "1"]);
    assert_eq!(line(&untyped, "  value"), "  value  {0: [40000 tables], 1: 7}");
    assert_eq!(line(&run_with(&["explain", "--max-items", "1"], &bytes), "  value"), line(&untyped, "  value"));
}

#[test]
fn elements_that_are_left_out_are_counted_once_with_what_they_lead_to() {
    let folder = tempfile::tempdir().unwrap();
    let (input, schema) = batch(folder.path());
    let out = run(&["explain", &input, "-s", &schema, "--max-items", "1"]);
    let elided: Vec<&str> = out.text().lines().filter(|line| line.contains("... ")).collect();
    assert_eq!(elided.len(), 1, "{elided:?}");
    assert!(elided[0].contains("... 39999 elements recs[1..40000] and what they lead to, "), "{elided:?}");
    // Where only the offsets are left out, they are alike: 24 are shown.
    let out = run(&["explain", &input, "-s", &schema]);
    assert!(line(&out, "... ").contains("... 39976 elements recs[24..40000], "));
    assert!(line(&out, "... ").ends_with(", 4 bytes each"));
}

#[test]
fn what_serves_an_object_is_no_value_of_its_own() {
    let suite = As::format("flatbuffers").typed("suite.fbs", "suite.FixtureRoot");
    let checker = suite.decode(&file("tests/data/golden/vectors/document/flatc.fb"));
    let counts = |path: &str| checker.ledger.fields[path].count;
    // Eight items, each a table of three fields; a vector is one value, whatever its count and elements.
    for (path, due) in [
        ("", 1),
        ("kind", 1),
        ("document", 1),
        ("document.items", 1),
        ("document.items[]", 8),
        ("document.items[].sku", 8),
        ("document.items[].qty", 8),
        ("document.meta", 1),
    ] {
        assert_eq!(counts(path), due, "{path}");
    }
    // 1 + 1 (kind) + 5 (document with id, status, meta, items) + 2 of meta + 8 * 4: the root group is one row more.
    let values: u64 = checker.ledger.fields.values().map(|line| line.count).sum();
    assert_eq!((values, checker.ledger.rows - checker.ledger.parts), (41, 42));
    assert_eq!(checker.ledger.fields["document.items[].qty"].kinds(), ["int32"]);
    assert_eq!(checker.ledger.fields["document.items[].sku"].kinds(), ["string"]);
    assert_eq!(checker.ledger.fields["document.items"].kinds(), [""; 0]);
}

const ORDER: &str = "table Order { id: uint32; } file_identifier \"v001\"; root_type Order;";

#[test]
fn a_vtable_behind_its_table_has_a_negative_soffset() {
    // Root offset 8, "v001", table at 8 with soffset -8 and id 100, vtable at 16.
    let bytes = hex("08000000 76303031 f8ffffff 64000000 0600 0800 0400");
    let out = explained(ORDER, &bytes, &["--width", "200"]);
    assert_eq!(out.status, 0);
    assert!(out.text().contains("-0x08 is negative: 0x08 + 0x08 = 0x10, the vtable comes after the table"));
    // Its 22 bytes are used to the last, and no multiple of 4.
    assert_eq!(out.err, "stdin:0x16: note[fb-size]: 22 bytes, no multiple of 4\n");
}

#[test]
fn an_identifier_that_the_schema_has_and_the_buffer_has_not_is_a_warning() {
    // Root offset 12; behind it 00 00 and the vtable at 6.
    let bytes = hex("0c000000 0000 0600 0800 0400 06000000 64000000");
    let out = explained(ORDER, &bytes, &[]);
    assert_eq!(out.status, 0);
    assert_eq!(
        out.err,
        "stdin:0x04: warning[fb-identifier]: expected the identifier \"v001\" of the schema at offset 4, found none\n"
    );
    // Behind a size it would stand at 8.
    let sized = [&hex("14000000")[..], &bytes].concat();
    assert!(explained(ORDER, &sized, &[]).err.contains("stdin:0x08: warning[fb-identifier]"));
    // A type that is no root of a file has none, nor has a schema that declares none.
    let parts = "table Part { n: int; } table Order { id: uint32; } file_identifier \"v001\"; root_type Order;";
    assert_eq!(explained(parts, &bytes, &["-t", "Part"]).err, "");
    assert_eq!(explained("table Order { id: uint32; } root_type Order;", &bytes, &[]).err, "");
}

#[test]
fn a_size_that_is_no_multiple_of_4_is_a_note_unless_bytes_are_left_over() {
    const VECTOR: &str = "table V { v: [double]; } root_type V;";
    // Root offset 4, soffset -12 to the vtable at 16, v at 12: no element. The vtable ends the buffer, 22 bytes.
    let bytes = hex("04000000 f4ffffff 04000000 00000000 0600 0800 0400");
    let out = explained(VECTOR, &bytes, &[]);
    assert_eq!((out.status, out.err.as_str()), (0, "stdin:0x16: note[fb-size]: 22 bytes, no multiple of 4\n"));
    assert!(out.text().contains("padding at the end makes it pass"), "{}", out.text());
    let padded = [&bytes[..], &[0, 0]].concat();
    assert_eq!(explained(VECTOR, &padded, &[]).err, "");
    // One byte too many is told as what it is.
    let more = [&padded[..], &[7]].concat();
    assert_eq!(
        explained(VECTOR, &more, &[]).err,
        "stdin:0x16: warning[fb-unreferenced]: nothing points at 1 byte, 0x18..0x19\n".replace("0x16", "0x18")
    );
}

#[test]
fn zeros_in_front_of_a_buffer_are_told_and_the_buffer_behind_them_is_read() {
    const CUE: &str = "table Cue { id: string; name: string; } root_type Cue;";
    // The root offset, 12, stands behind four zeros.
    let buffer = hex("0c000000 0800 0c00 0800 0400 08000000 08000000 14000000 \
                      08000000 436f6f6c20637565 00000000 0c000000 6c74787370746b3130363035 00000000");
    for zeros in [4usize, 8, 20] {
        let bytes = [vec![0; zeros], buffer.clone()].concat();
        let out = explained(CUE, &bytes, &[]);
        let begins = format!("a buffer begins at {zeros:#04x}\n");
        assert!(out.err.starts_with("stdin:0x00: warning[fb-leading-zeros]: the root offset 0 leads to itself"));
        assert!(out.err.ends_with(&begins) && out.err.lines().count() == 1, "{}", out.err);
        assert_eq!(line(&out, "  value"), "  value  {id: \"ltxsptk10605\", name: \"Cool cue\"}");
        // Nobody said that it is a FlatBuffer.
        let found = run_with(&["explain", "-e", "raw"], &bytes);
        assert_eq!(line(&found, "  value"), "  value  {0: \"ltxsptk10605\", 1: \"Cool cue\"}");
    }
    // Zeros alone are no buffer.
    assert!(explained(CUE, &[0; 64], &[]).err.contains("error[fb-offset-zero]"));
}

#[test]
fn a_buffer_in_a_vector_is_called_nested() {
    const WRAP: &str =
        "table Leaf { n: int; } table Wrap { blob: [ubyte] (nested_flatbuffer: \"Leaf\"); } root_type Wrap;";
    // The vector at 20 has 20 bytes, which are a buffer with n = 7.
    let bytes = hex("0c000000 0000 0600 0800 0400 06000000 04000000 14000000 \
                     0c000000 0000 0600 0800 0400 06000000 07000000");
    let out = explained(WRAP, &bytes, &[]);
    assert!(line(&out, "-- vector blob").starts_with("   -- vector blob: a nested buffer, 20 bytes of Leaf"));
    assert!(line(&out, "nested buffer in").starts_with("   -- nested buffer in blob: 20 bytes, 0x18..0x2c"));
    assert_eq!(line(&out, "  value"), "  value  {blob: {n: 7}}");
}

#[test]
fn a_short_vector_of_tables_is_told_in_full_in_the_head() {
    const BAR: &str = "table Foo { x: int; } table Bar { foos: [Foo]; } root_type Bar;";
    // The vtable at 42 is that of Bar at 4 and of foos[0] at 48.
    let bytes = hex("04000000 daffffff 04000000 02000000 20000000 0c000000 0000 0600 0a00 0400 \
                     06000000 06000000 0000 0600 0800 0400 06000000 05000000");
    let out = explained(BAR, &bytes, &[]);
    assert_eq!(line(&out, "  value"), "  value  {foos: [{x: 5}, {x: 6}]}");
    assert!(line(&out, "vtable 0x2a").ends_with("used by 2 tables: (root) as Bar, foos[0] as Foo"));
}

#[test]
fn without_notes_only_rows_and_findings_are_left() {
    let args = ["explain", "samples/document.fb", "-s", "schemas/suite.fbs"];
    assert!(run(&args).text().contains("the vtable ends early"));
    let out = run(&[&args[..], &["--notes", "none"]].concat());
    for note in ["the vtable ends early", "a slot of 0", "lowest byte first"] {
        assert!(!out.text().contains(note), "{note}");
    }
}
