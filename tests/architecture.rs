//! The layout of design.md section 2, read from the sources: who may name whom.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{check, golden, inspect, root};
use wireinspect::formats;
use wireinspect::model::diag::Code;

/// Sources below a folder, as path below `src/` and the code without comments.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                out.push(path);
            }
        }
    }
    let src = root().join("src");
    let mut paths = Vec::new();
    walk(&src, &mut paths);
    let mut sources: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
            let text = std::fs::read_to_string(&path).unwrap();
            let code: Vec<&str> =
                text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line }).collect();
            (name, code.join("\n"))
        })
        .collect();
    sources.sort();
    assert!(sources.len() > 40);
    sources
}

/// Lines of sources below `of` that hold one of `words`, but for the files in `but`.
fn named(of: &str, words: &[&str], but: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, code) in sources() {
        if !name.starts_with(of) || but.contains(&name.as_str()) {
            continue;
        }
        for line in code.lines().filter(|line| words.iter().any(|word| line.contains(word))) {
            found.push(format!("{name}: {}", line.trim()));
        }
    }
    found
}

#[test]
fn formats_never_name_each_other_nor_what_stands_above_them() {
    for format in formats::ALL {
        let own = format.info().name;
        let mut words: Vec<String> = formats::ALL
            .iter()
            .map(|other| other.info().name)
            .filter(|other| *other != own)
            .map(|other| format!("formats::{other}::"))
            .collect();
        words.extend(
            formats::ALL
                .iter()
                .filter(|other| other.info().name != own)
                .map(|other| format!("super::super::{}::", other.info().name)),
        );
        words.extend(
            ["render", "cli", "inspect", "convert", "size", "framing"].map(|module| format!("crate::{module}")),
        );
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(named(&format!("formats/{own}/"), &words, &[]), [""; 0]);
    }
}

#[test]
fn modules_name_only_what_stands_below_them() {
    // cli -> render, size, convert -> inspect -> framing, formats -> wire -> model; cli, inspect -> schema -> model
    let rules: [(&str, &[&str]); 10] = [
        ("model/", &["cli", "render", "size", "convert", "inspect", "framing", "formats", "schema", "wire"]),
        ("schema/", &["cli", "render", "size", "convert", "inspect", "framing", "formats", "wire"]),
        ("wire/", &["cli", "render", "size", "convert", "inspect", "framing", "formats", "schema"]),
        ("framing/", &["cli", "render", "size", "convert", "inspect", "schema"]),
        ("formats/", &["cli", "render", "size", "convert", "inspect", "schema"]),
        ("render/", &["schema"]),
        ("inspect", &["cli", "render", "size", "convert"]),
        ("convert.rs", &["cli", "render", "schema"]),
        ("size.rs", &["cli", "render", "schema"]),
        ("render/", &["cli"]),
    ];
    for (of, above) in rules {
        let words: Vec<String> = above.iter().map(|module| format!("crate::{module}::")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(named(of, &words, &[]), [""; 0], "{of} names what stands above it");
    }
}

#[test]
fn only_the_list_of_formats_and_what_writes_json_name_one_format() {
    let words: Vec<String> = formats::ALL.iter().map(|format| format!("formats::{}::", format.info().name)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The JSON output is written by the format JSON, and its tagged forms are read on the way to other formats.
    let allowed = ["convert.rs", "render/json.rs"];
    let found: Vec<String> =
        named("", &words, &allowed).into_iter().filter(|line| !line.starts_with("formats/")).collect();
    assert_eq!(found, [""; 0]);
}

#[test]
fn only_the_command_line_uses_clap_and_only_the_style_uses_owo_colors() {
    let outside = |word: &str, inside: &str| -> Vec<String> {
        named("", &[word], &[]).into_iter().filter(|line| !line.starts_with(inside)).collect()
    };
    assert_eq!(outside("clap", "cli/"), [""; 0]);
    assert_eq!(outside("owo_colors", "render/style.rs"), [""; 0]);
    assert!(!named("cli/", &["clap"], &[]).is_empty() && !named("render/style.rs", &["owo_colors"], &[]).is_empty());
}

#[test]
fn only_the_reader_of_protobuf_schemas_uses_its_crates() {
    let words = ["protox_parse", "prost::", "prost_types"];
    let found: Vec<String> =
        named("", &words, &[]).into_iter().filter(|line| !line.starts_with("schema/proto/")).collect();
    assert_eq!(found, [""; 0]);
}

#[test]
fn there_is_no_unsafe_code() {
    assert_eq!(named("", &["unsafe "], &[]), [""; 0]);
    assert!(std::fs::read_to_string(root().join("Cargo.toml")).unwrap().contains("unsafe_code = \"forbid\""));
}

#[test]
fn every_format_has_the_same_core_files() {
    for format in formats::ALL {
        let folder = root().join("src/formats").join(format.info().name);
        for name in ["mod.rs", "wire.rs", "decode.rs", "encode.rs", "words.rs", "detect.rs", "format.md"] {
            assert!(folder.join(name).is_file(), "{}: {name}", format.info().name);
        }
    }
    let folders =
        std::fs::read_dir(root().join("src/formats")).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), formats::ALL.len(), "every folder of a format is in ALL");
}

/// Small buffers: a root offset, then a vtable and a table.
fn flatbuffers_that_no_vector_has() -> Vec<Vec<u8>> {
    let hex = common::hex;
    vec![
        // A table without its required field.
        hex("08 00 00 00 04 00 04 00 04 00 00 00"),
        // Field 0 (`must`, or `pos`) is a string that is not UTF-8: ff.
        hex("0c 00 00 00 00 00 06 00 08 00 04 00 06 00 00 00 04 00 00 00 01 00 00 00 ff 00 00 00"),
        // Four zeros in front of a table with one field.
        hex("00 00 00 00 0c 00 00 00 00 00 06 00 08 00 04 00 06 00 00 00 64 00 00 00"),
        // Behind the table four bytes that nothing points at.
        hex("08 00 00 00 04 00 04 00 04 00 00 00 01 02 03 04"),
    ]
}

#[test]
fn every_code_of_a_finding_is_made_by_some_input() {
    let mut seen = BTreeSet::new();
    let mut note = |codes: Vec<&'static str>| seen.extend(codes);
    for golden in golden() {
        note(golden.untyped_as().check(&golden.message()).codes());
        note(golden.read_as().check(&golden.message()).codes());
    }
    // What no golden vector has.
    for text in [
        r#"{"a":1,"a":2}"#,
        "\u{feff}[]",
        "[\"\u{1}\"]",
        "1e400",
        "tru",
        "[1",
        "",
        "\"\\x\"",
        "\"\\ud800\"",
        "01",
        "[,]",
    ] {
        note(check("json", text.as_bytes()).codes());
    }
    note(check("json", b"\"\xff\"").codes());
    let names: Vec<String> = (0..300_000).map(|number| format!("\"{number}\":0")).collect();
    note(check("json", format!("{{{}}}", names.join(",")).as_bytes()).codes());
    let keys: Vec<u8> = (0..300_000u32).flat_map(|key| [&[0xce][..], &key.to_be_bytes(), &[0xc0]].concat()).collect();
    note(check("msgpack", &[&[0xdf][..], &300_000u32.to_be_bytes(), &keys].concat()).codes());
    note(inspect(b"plain text, no message at all").1.codes());
    note(check("protobuf", &common::hex("08 01 0a 01 61")).codes());
    // A Timestamp with 1,000,000,000 nanoseconds.
    let known = common::As::format("protobuf").typed("pbzoo.proto", "zoo.Known");
    note(known.check(&common::hex("12 06 10 80 94 eb dc 03")).codes());
    for bytes in flatbuffers_that_no_vector_has() {
        let needs = common::As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Needs");
        let root = common::As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Root");
        note(needs.check(&bytes).codes());
        note(root.check(&bytes).codes());
    }
    // The gap behind `b` in the struct `arrays`, 0x4b, from 00 to 01.
    let arrays = golden().into_iter().find(|golden| golden.id == "fb.arrays").unwrap();
    let mut bytes = arrays.message();
    bytes[0x4b] = 1;
    note(arrays.read_as().check(&bytes).codes());
    // Nine items in a vector of eight, 0x40: the soffset of a table is an offset too.
    let document = golden().into_iter().find(|golden| golden.id == "document.flatbuffers").unwrap();
    let mut bytes = document.message();
    bytes[0x40] = 9;
    note(document.read_as().check(&bytes).codes());
    // Two structs of two words and of one, the second in the first.
    let overlap = "00 00 00 00 05 00 00 00  00 00 00 00 00 00 02 00  04 00 00 00 02 00 00 00  04 00 00 00 01 00 00 00 \
                   01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00";
    note(common::As::format("capnp").variant("framed").check(&common::hex(overlap)).codes());
    // The text "root", its first byte ff.
    let tree = golden().into_iter().find(|golden| golden.id == "cap.tree").unwrap();
    let mut bytes = tree.message();
    let place = bytes.windows(4).position(|four| four == b"root").unwrap();
    bytes[place] = 0xff;
    note(tree.read_as().check(&bytes).codes());
    // Runs of 256 words of zeros, 2 KiB each from 2 bytes.
    let zeros = [0x00, 0xff].repeat(70_000);
    note(common::As::format("capnp").variant("packed").check(&zeros).codes());
    // Findings on the choice of format and on text encodings show at the command line.
    let mut told = String::new();
    let cases: [(&[&str], &str); 3] = [
        (&["explain", "-f", "msgpack"], "{\"a\":[1,2,3]}"),
        (&["explain", "-e", "hex"], "93 01 zz"),
        (&["explain", "-e", "dump"], "0000  93 01 02\n0009  03\n"),
    ];
    for (args, input) in cases {
        let ran = common::run_with(args, input.as_bytes());
        told.push_str(&ran.err);
        told.push_str(ran.text());
    }
    // A schema with two types that are the same, and an import that is not there.
    let folder = tempfile::tempdir().unwrap();
    let twins = "syntax = \"proto3\"; import \"no.proto\"; message A { int32 a = 1; } message B { int32 a = 1; }";
    let schema = common::put(folder.path(), "t.proto", twins.as_bytes());
    told.push_str(&common::run_with(&["explain", "-f", "protobuf", "-s", &schema], b"\x08\x01").err);
    told.push_str(&common::run_with(&["explain", "-f", "json", "-s", &schema], b"{}").err);
    // Findings in a schema have codes of their own, and the place in its file.
    told = told.replace("t.proto:1:20: warning[import-missing]", "warning[schema]");
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.text())
        .filter(|code| !seen.contains(code) && !told.contains(&format!("[{code}]")))
        .collect();
    assert_eq!(missing, [""; 0], "no input makes these");
}
