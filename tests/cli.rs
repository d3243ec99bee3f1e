//! The command line as a user or a script sees it: exit statuses, streams, inputs, choices of rows, files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Stdio;

use common::{Golden, command, file, golden, run, run_with};
use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value as Json;

const DOCUMENT: &str = "samples/document.msgpack";

fn ok<S: AsRef<std::ffi::OsStr> + std::fmt::Debug>(args: &[S]) -> String {
    let ran = run(args);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{args:?}");
    ran.text().to_string()
}

/// Status 2: nothing on standard output, one line on standard error; the line.
fn usage(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!((ran.status, ran.text()), (2, ""), "{args:?}: {}", ran.err);
    assert_eq!(ran.err.matches('\n').count(), 1, "{args:?}: one line: {}", ran.err);
    assert!(ran.err.starts_with("error[") && ran.err.ends_with('\n'), "{args:?}: {}", ran.err);
    ran.err
}

/// The bytes in a dump: the text between the offset and the columns that follow it, read as a person reads it. A
/// line of bytes begins with an offset in hex; groups of two digits stand with one blank or `|` between them.
fn dumped(dump: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let digits = line.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits < 4 || usize::from_str_radix(&line[..digits], 16) != Ok(bytes.len()) {
            continue;
        }
        let rest = line[digits..].trim_start_matches(['!', '?']).trim_start();
        let mut cells = rest.as_bytes();
        while let [a, b, left @ ..] = cells {
            let Ok(byte) = u8::from_str_radix(std::str::from_utf8(&[*a, *b]).unwrap_or("x"), 16) else { break };
            bytes.push(byte);
            match left {
                [b' ' | b'|', next @ ..] if next.first().is_some_and(u8::is_ascii_hexdigit) => cells = next,
                _ => break,
            }
        }
    }
    bytes
}

#[test]
fn a_sound_input_ends_with_0_and_a_silent_stderr() {
    for args in [
        vec![DOCUMENT],
        vec!["samples/document.json"],
        vec!["detect", DOCUMENT],
        vec!["convert", "--to", "json", DOCUMENT],
    ] {
        ok(&args);
    }
}

#[test]
fn an_error_in_an_input_ends_with_1_and_everything_is_still_shown() {
    let path = "tests/data/golden/bad/msgpack/trunc_12.msgpack";
    let ran = run(&[path]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err.matches('\n').count(), 1);
    assert!(
        ran.err.starts_with(&format!("{path}:0x09: error[mp-cut]: 5 of the 8 bytes of this float64 are missing")),
        "{}",
        ran.err
    );
    assert_eq!(dumped(ran.text()), file(path));
    assert!(ran.text().contains("ERROR mp-cut"));
    let warned = run(&["tests/data/golden/zoo/msgpack/int_nonminimal.msgpack"]);
    assert_eq!(
        (warned.status, warned.err.matches("warning[mp-non-minimal]").count()),
        (0, 10),
        "warnings are no errors"
    );
}

#[test]
fn usage_and_file_errors_end_with_2_and_one_line() {
    assert!(usage(&["nosuch.msgpack"]).contains("nosuch.msgpack: no such file"));
    assert!(usage(&["samples/document.msgpac"]).contains("samples/document.msgpack exists"), "a near name is offered");
    assert!(usage(&["samples"]).contains("is a folder"));
    assert!(usage(&[DOCUMENT, "-f", "nope"]).contains("msgpack, json"), "the known names are listed");
    assert!(usage(&[DOCUMENT, "-f", "msgpack/nope"]).contains("plain"));
    assert!(usage(&[DOCUMENT, "--range", "4..4"]).contains("range"));
    assert!(usage(&[DOCUMENT, "--range", "4"]).contains("range"));
    assert!(usage(&[DOCUMENT, "--at", "999"]).contains("325 bytes"));
    assert!(usage(&[DOCUMENT, "--nope"]).contains("--nope"));
    assert!(usage(&[DOCUMENT, "-e", "rot13"]).contains("rot13"));
    assert!(usage(&["convert", DOCUMENT]).contains("--to"));
    assert!(usage(&["convert", DOCUMENT, DOCUMENT, "--to", "json"]).contains("one input"));
    assert!(usage(&["convert", DOCUMENT, "--to", "nope"]).contains("msgpack, json"));
    assert!(usage(&["help", "nope"]).contains("nope"));
    assert!(usage(&[DOCUMENT, "-o", "/nonexistent/x"]).contains("/nonexistent/x"));
}

#[test]
fn a_form_given_as_file_name_is_refused() {
    for (command, name) in [("explain", "json"), ("explain", "hex"), ("convert", "msgpack"), ("convert", "json")] {
        let mut args = vec![command, DOCUMENT, "-o", name];
        if command == "convert" {
            args.extend(["--to", "json"]);
        }
        assert!(usage(&args).contains(&format!("did you mean --to {name}?")), "{command} {name}");
        assert!(!common::root().join(name).exists());
    }
}

#[test]
fn explain_is_what_a_file_alone_gets() {
    let told = ok(&["explain", DOCUMENT]);
    assert_eq!(ok(&[DOCUMENT]), told);
    assert_eq!(dumped(&told), file(DOCUMENT));
}

#[test]
fn standard_input_reads_as_the_file_does_but_for_its_name() {
    let bytes = file(DOCUMENT);
    for args in [&["-"][..], &[], &["explain"], &["explain", "-f", "msgpack", "-"]] {
        let ran = run_with(args, &bytes);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
        let body = |text: &str| text[text.find("\n\n").unwrap()..].to_string();
        assert_eq!(body(ran.text()), body(&ok(&[DOCUMENT])), "{args:?}");
        assert!(ran.text().starts_with("stdin: "), "{args:?}");
    }
    let piped = run_with(&["explain", "--to", "json"], &bytes).json();
    let mut from_file = run(&["explain", "--to", "json", DOCUMENT]).json();
    from_file["input"]["name"] = "stdin".into();
    assert_eq!(piped, from_file);
}

#[test]
fn output_is_the_same_twice() {
    let forms = [
        vec![],
        vec!["--to", "json"],
        vec!["--to", "jsonl"],
        vec!["--to", "grid"],
        vec!["--to", "tree"],
        vec!["--all", "--bits"],
    ];
    for golden in golden().iter().step_by(9) {
        for form in &forms {
            let args: Vec<&str> = ["explain", &golden.path].into_iter().chain(form.iter().copied()).collect();
            assert_eq!(run(&args), run(&args), "{}", golden.id);
        }
    }
}

#[test]
fn several_inputs_have_a_head_each_and_the_largest_status() {
    let bad = "tests/data/golden/bad/msgpack/trunc_12.msgpack";
    let ran = run(&[DOCUMENT, bad, "samples/document.json"]);
    assert_eq!(ran.status, 1);
    for name in [DOCUMENT, bad, "samples/document.json"] {
        assert_eq!(ran.text().matches(&format!("{name}: ")).count(), 1, "{name}");
    }
    let ran = run(&["--to", "json", DOCUMENT, "samples/document.json"]);
    let lines: Vec<Json> = ran.text().lines().map(|line| common::json(line.as_bytes()).unwrap()).collect();
    assert_eq!(lines.len(), 2, "one object a line");
    assert_eq!(lines[0]["value"], lines[1]["value"], "the same record");
    let ran = run(&[DOCUMENT, "nosuch", bad]);
    assert_eq!((ran.status, ran.text()), (2, ""), "a file that is not there: nothing on standard output");
    assert!(ran.err.contains("nosuch: no such file"), "{}", ran.err);
}

#[test]
fn a_format_in_front_of_a_path_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = common::put(folder.path(), "x", &[0x2a]);
    for name in ["msgpack", "mp", "msgpack/plain"] {
        let ran = run(&["--to", "json", &format!("{name}:{path}")]).json();
        assert_eq!(
            (&ran["format"], &ran["value"], ran["chosen"].as_array().unwrap().len()),
            (&"msgpack".into(), &42.into(), 0)
        );
    }
    assert!(usage(&[&format!("msgpack/nope:{path}")]).contains("nope"));
    // A path whose name begins like a format.
    let odd = common::put(folder.path(), "mp:x", &[0x91, 0x01]);
    assert!(odd.ends_with("/mp:x"));
    assert_eq!(run(&["--to", "json", &odd]).json()["value"], serde_json::json!([1]));
}

#[test]
fn bytes_may_stand_in_the_argument_as_hex_or_base64() {
    for text in ["93010203", "0x93010203", "93 01 02 03", r"\x93\x01\x02\x03"] {
        let out = run(&["--to", "json", text]).json();
        assert_eq!(out["value"], serde_json::json!([1, 2, 3]), "{text}");
        assert_eq!(out["layers"].as_array().unwrap().len(), 2, "{text}: the text and what it holds");
    }
    // Standard base64 has a slash here and may be a path, so it is told; base64url has none.
    let base64 = BASE64.encode(&file(DOCUMENT)[..]);
    assert_eq!(run(&["-e", "base64", "--to", "json", &base64]).json()["value"]["id"], "btimcpxm");
    let base64url = data_encoding::BASE64URL_NOPAD.encode(&file(DOCUMENT)[..]);
    assert_eq!(run(&["--to", "json", &base64url]).json()["value"]["id"], "btimcpxm");
    // As hex it holds 1234: told to be hex, even a short text is bytes.
    assert_eq!(run(&["-e", "hex", "--to", "json", "-f", "msgpack", "cd04d2"]).json()["value"], 1234);
}

/// The document in every text notation.
fn notations() -> Vec<(&'static str, String)> {
    let bytes = file(DOCUMENT);
    let mut xxd = String::new();
    for (line, chunk) in bytes.chunks(16).enumerate() {
        let pairs: Vec<String> = chunk.chunks(2).map(|pair| HEXLOWER.encode(pair)).collect();
        let ascii: String =
            chunk.iter().map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' }).collect();
        writeln!(xxd, "{:08x}: {:<39}  {ascii}", line * 16, pairs.join(" ")).unwrap();
    }
    let escaped = bytes.iter().fold(String::new(), |text, byte| text + &format!("\\x{byte:02x}"));
    let decimal: Vec<String> = bytes.iter().map(u8::to_string).collect();
    vec![
        ("hex", HEXLOWER.encode(&bytes)),
        ("hex", bytes.iter().map(|byte| format!("{byte:02X} ")).collect()),
        ("hex", format!("{{ {} }}", bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", "))),
        ("base64", BASE64.encode(&bytes)),
        ("base64", data_encoding::BASE64URL_NOPAD.encode(&bytes)),
        ("escaped", escaped),
        ("decimal", format!("[{}]", decimal.join(", "))),
        ("xxd", xxd),
    ]
}

#[test]
fn every_text_notation_is_read_where_it_is_told_and_found_where_it_is_not() {
    let want = run(&["--to", "json", DOCUMENT]).json();
    for (name, text) in notations() {
        for encoding in [name, "auto"] {
            let out = run_with(&["explain", "--to", "json", "-e", encoding], text.as_bytes()).json();
            let layers = out["layers"].as_array().unwrap();
            assert_eq!(layers.len(), 2, "{name} by {encoding}");
            assert_eq!(layers[1]["spans"], want["layers"][0]["spans"], "{name} by {encoding}");
            assert_eq!(out["value"], want["value"], "{name} by {encoding}");
            assert_eq!(layers[1]["from"]["by"], name, "{name} by {encoding}");
            assert_eq!(layers[0]["size"].as_u64(), Some(text.len() as u64), "{name} by {encoding}");
            let mut at = 0;
            for span in layers[0]["spans"].as_array().unwrap() {
                assert_eq!(span["start"].as_u64(), Some(at), "{name}: the text has a map of its own");
                at = span["end"].as_u64().unwrap();
            }
            assert_eq!(at, text.len() as u64, "{name}");
        }
        let raw = run_with(&["explain", "--to", "json", "-e", "raw"], text.as_bytes()).json();
        assert_eq!(raw["layers"].as_array().unwrap().len(), 1, "{name}: raw reads the text itself");
    }
}

#[test]
fn text_that_is_not_in_the_told_notation_is_an_error() {
    let ran = run_with(&["explain", "-e", "hex", "-f", "msgpack"], b"93 01 zz 03");
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("error[encoding-bad]"), "{}", ran.err);
}

#[test]
fn our_own_dump_is_an_input() {
    let bytes = file(DOCUMENT);
    for options in [&["--all"][..], &[], &["--all", "--rows", "leaf", "--bits"], &["--all", "--width", "160"]] {
        let args: Vec<&str> = [DOCUMENT].iter().chain(options).copied().collect();
        let dump = ok(&args);
        let out = run_with(&["explain", "-e", "dump", "--to", "json"], dump.as_bytes()).json();
        assert_eq!(out["layers"][1]["size"].as_u64(), Some(bytes.len() as u64), "{options:?}");
        assert_eq!(out["value"], run(&["--to", "json", DOCUMENT]).json()["value"], "{options:?}");
        let back = run_with(&["convert", "-e", "dump", "--to", "msgpack"], dump.as_bytes());
        assert_eq!(back.out, bytes, "{options:?}");
    }
    // One byte edited in the dump is that byte changed: status 4 to 5.
    let dump = ok(&[DOCUMENT, "--all"]).replacen("74 75 73|04", "74 75 73|05", 1);
    let out = run_with(&["convert", "-e", "dump", "--to", "msgpack"], dump.as_bytes()).out;
    let mut changed = bytes;
    changed[0x14] = 5;
    assert_eq!(out, changed);
}

#[test]
fn the_hex_column_of_all_rows_joined_is_the_input() {
    let mut small = 0;
    // Base64 and packing are layers around the message, whose bytes the rows have.
    let is_layer = |golden: &Golden| golden.variant == "base64" || golden.told().contains("packed");
    for golden in golden().into_iter().filter(|golden| !is_layer(golden)) {
        let size = golden.bytes.len();
        let ran = run(&["explain", "-f", &golden.form(), "--all", &golden.path]);
        assert!(dumped(ran.text()) == golden.bytes, "{}: {} of {size}", golden.id, dumped(ran.text()).len());
        if size <= 512 {
            let ran = run(&["explain", "-f", &golden.form(), &golden.path]);
            assert!(ran.text().contains("...") || dumped(ran.text()) == golden.bytes, "{}", golden.id);
            small += usize::from(!ran.text().contains("..."));
        }
    }
    assert!(small > 200, "{small}");
}

#[test]
fn range_path_depth_items_and_message_choose_rows() {
    // 0x15..0x1b is the head of meta, 0x1b..0x25 its region.
    let rows = |args: &[&str]| {
        let args: Vec<&str> = [DOCUMENT, "--notes", "none"].iter().chain(args).copied().collect();
        let is_row = |line: &&str| line.as_bytes()[0].is_ascii_hexdigit();
        ok(&args).lines().filter(is_row).map(str::to_string).collect::<Vec<_>>()
    };
    let region = rows(&["--range", "0x16..0x1c"]);
    assert!(region.len() == 2 && region[0].starts_with("0015") && region[1].starts_with("001b"), "{region:?}");
    assert_eq!(rows(&["--range", "22..28"]), region, "decimal too");
    assert_eq!(rows(&["--range", "0x1b..0x25"]).len(), 1, "half open");
    assert_eq!(rows(&["--range", "0..1,0x14..0x15"]).len(), 2, "two ranges");
    let item = rows(&["--path", "items[3]"]);
    assert_eq!(item.len(), 5, "the map, sku, qty, and price_minor in two lines: {item:?}");
    assert!(item[0].starts_with("009e") && item[4].starts_with("00b6"));
    assert_eq!(rows(&["--path", "meta.region"]).len(), 1);
    let flat = ok(&[DOCUMENT, "--depth", "1", "--no-head", "--notes", "none"]);
    assert!(!flat.contains(".sku") && flat.contains("items") && flat.contains("lie deeper"), "{flat}");
    let first = ok(&[DOCUMENT, "--max-items", "1", "--no-head"]);
    assert!(first.contains("items[0]") && first.contains("7 elements items[1..8], 0x53..0x145"), "{first}");
    let stream = "tests/data/golden/zoo/msgpack/stream_of_maps.msgpack";
    for (told, shown) in [("1..3", vec![1, 2]), ("3", vec![3])] {
        let out = ok(&[stream, "--message", told, "--no-head"]);
        let seen: Vec<usize> = (0..5).filter(|at| out.contains(&format!("#{at}.i"))).collect();
        assert_eq!(seen, shown, "{told}");
    }
}

#[test]
fn at_tells_one_byte_and_what_lies_around_it() {
    let out = ok(&["explain", "--at", "0x1c", DOCUMENT]);
    for part in ["0x1b..0x22", "a6 72 65 67 69 6f 6e", "meta.region", "7 bytes as key", "0x15..0x2e"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(ok(&["explain", "--at", "28", DOCUMENT]), out, "decimal too");
    for offset in 0..325 {
        let out = ok(&["explain", "--at", &offset.to_string(), DOCUMENT]);
        assert!(out.starts_with(&format!("{offset:#04x} ")), "{offset}: {out}");
    }
}

#[test]
fn rows_of_leaves_show_each_leaf_with_its_bits() {
    let out = ok(&[DOCUMENT, "--rows", "leaf", "--bits", "--range", "0..0x22"]);
    let leaves = common::decode("msgpack", &file(DOCUMENT));
    let touching = leaves.rows.iter().filter(|row| row.leaf.start < 0x22).count();
    assert_eq!(out.lines().filter(|line| line.as_bytes()[0].is_ascii_hexdigit()).count(), touching);
    assert!(out.contains("1000 0100") && out.contains("101 01000"), "{out}");
}

#[test]
fn grid_tree_and_jsonl_hold_what_the_dump_holds() {
    let checker = common::decode("msgpack", &file(DOCUMENT));
    let grid = ok(&[DOCUMENT, "--to", "grid"]);
    let letters: String = grid
        .lines()
        .filter(|line| line.starts_with(' '))
        .flat_map(|line| line.split_whitespace().collect::<Vec<_>>())
        .collect();
    let count = |letter: char| letters.chars().filter(|other| *other == letter).count();
    let counts = [count('p'), count('w'), count('k'), count('l'), count('y')];
    assert_eq!(counts, [96, 4, 196, 21, 8], "a letter under each byte, as the ledger counts them");
    let tree = ok(&[DOCUMENT, "--to", "tree", "--no-head"]);
    assert!(["btimcpxm", "region", "items[7]", "55613"].iter().all(|part| tree.contains(part)), "{tree}");
    let lines: Vec<Json> =
        ok(&[DOCUMENT, "--to", "jsonl"]).lines().map(|line| common::json(line.as_bytes()).unwrap()).collect();
    let whole = run(&[DOCUMENT, "--to", "json"]).json();
    let mut spans: Vec<Json> = lines.iter().filter(|line| line.get("start").is_some()).cloned().collect();
    for span in &mut spans {
        assert_eq!(span.as_object_mut().unwrap().shift_remove("layer"), Some(0.into()));
    }
    assert_eq!(Json::Array(spans), whole["layers"][0]["spans"]);
    assert_eq!(checker.rows.len(), whole["layers"][0]["spans"].as_array().unwrap().len());
    let end = &lines.last().unwrap()["end"];
    assert_eq!((&end["size"], &end["exit"], &end["causes"]["key"]), (&325.into(), &0.into(), &196.into()));
    assert!(lines[0]["tool"]["name"] == "wireinspect" && lines[1].get("layer").is_some());
}

#[test]
fn the_value_in_explain_is_what_convert_writes() {
    for golden in golden().iter().filter(|golden| "ABCD".contains(golden.section)).step_by(7) {
        let value = run(&["explain", "-f", &golden.form(), "--to", "json", &golden.path]).json()["value"].clone();
        let converted = run(&["convert", "-f", &golden.form(), "--to", "json", &golden.path]).json();
        assert_eq!(value, converted, "{}", golden.id);
        let pretty = run(&["convert", "-f", &golden.form(), "--to", "json", "--pretty", &golden.path]).json();
        assert_eq!(pretty, converted, "{}", golden.id);
    }
    assert_eq!(run(&["decode", DOCUMENT]), run(&["convert", "--to", "json", DOCUMENT]), "the hidden name");
}

#[test]
fn convert_writes_a_file_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.msgpack");
    let name = target.to_str().unwrap();
    let bad = "tests/data/golden/bad/msgpack/trunc_12.msgpack";
    let ran = run(&["convert", bad, "--to", "msgpack", "-o", name]);
    assert_eq!((ran.status, ran.text()), (1, ""));
    assert!(ran.err.contains("nothing written") && ran.err.contains("--partial"), "{}", ran.err);
    assert!(!target.exists(), "no file where there was none");
    std::fs::write(&target, b"old").unwrap();
    assert_eq!(run(&["convert", bad, "--to", "msgpack", "-o", name]).status, 1);
    assert_eq!(std::fs::read(&target).unwrap(), b"old", "an old file stays");
    // A text that turns out to have no form in the target while it is written.
    let refused = common::put(folder.path(), "refused.json", b"[1, 1e999]");
    let ran = run(&["convert", &refused, "--to", "msgpack", "-o", name]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(ran.err.contains("1e999"), "{}", ran.err);
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    assert_eq!(run(&["convert", &refused, "--to", "msgpack"]).out, b"", "nothing on standard output either");
    assert_eq!(run(&["convert", "samples/document.json", "--to", "msgpack", "-o", name]).status, 0);
    assert_eq!(std::fs::read(&target).unwrap(), file(DOCUMENT));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no temporary file is left: {left:?}");
}

#[test]
fn partial_writes_what_could_be_decoded() {
    let bad = "tests/data/golden/bad/msgpack/trunc_12.msgpack";
    let ran = run(&["convert", bad, "--to", "json", "--partial"]);
    assert_eq!((ran.status, ran.json()), (1, serde_json::json!({"a": [1, 300, null]})));
    let ran = run(&["convert", bad, "--to", "msgpack", "--partial"]);
    assert_eq!((ran.status, ran.out), (1, common::hex("81 a161 93 01 cd012c c0")));
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_written_straight() {
    for form in ["hex", "json"] {
        assert_eq!(ok(&["explain", DOCUMENT, "--to", form, "-o", "/dev/null"]), "");
    }
    assert_eq!(ok(&["convert", DOCUMENT, "--to", "json", "-o", "/dev/null"]), "");
    use std::os::unix::fs::FileTypeExt as _;
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device(), "it is still a device");
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    // mkfifo is part of every Unix; where it is not, there is no fifo to write to.
    if made.is_ok_and(|status| status.success()) {
        let reader = {
            let fifo = fifo.clone();
            std::thread::spawn(move || std::fs::read(fifo).unwrap())
        };
        assert_eq!(ok(&["convert", "samples/document.json", "--to", "msgpack", "-o", fifo.to_str().unwrap()]), "");
        assert_eq!(reader.join().unwrap(), file(DOCUMENT));
        assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo(), "it is still a fifo");
    }
}

#[test]
fn a_closed_pipe_ends_with_0_and_silence() {
    // 65,536 elements: far more output than a pipe holds.
    let path = "tests/data/golden/zoo/msgpack/array_65536.msgpack";
    for form in ["hex", "json", "jsonl", "tree", "grid"] {
        let mut child = command()
            .args(["explain", "--all", "--to", form, path])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), done.stderr.len()), (Some(0), 0), "{form}");
    }
}

#[test]
fn an_empty_file_is_a_protobuf_message_and_an_error_in_other_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = common::put(folder.path(), "empty", b"");
    for format in ["msgpack", "json"] {
        let ran = run(&["-f", format, &path]);
        assert_eq!(ran.status, 1, "{format}");
        assert!(ran.err.contains("empty-input"), "{format}: {}", ran.err);
        let out = run(&["-f", format, "--to", "json", &path]).json();
        assert_eq!(out["diagnostics"][0]["code"], "empty-input");
        assert_eq!(out["value"], Json::Null);
    }
    for args in [&["--to", "json", &path][..], &["-f", "protobuf", "--to", "json", &path]] {
        let ran = run(args);
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
        let out = ran.json();
        assert_eq!((&out["format"], &out["diagnostics"][0]["code"]), (&"protobuf".into(), &"pb-empty".into()));
        assert_eq!((out["diagnostics"][0]["severity"].as_str(), &out["value"]), (Some("note"), &serde_json::json!({})));
    }
}

#[test]
fn text_that_is_no_message_is_not_decoded_unless_told() {
    let ran = run_with(&["explain"], b"Hello, this is plain text.\n");
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("unknown-format") && ran.err.contains("plain text"), "{}", ran.err);
    let told = run_with(&["explain", "-f", "msgpack", "-e", "raw"], b"Hello");
    assert!(told.text().contains("5 objects in a row"), "{}", told.text());
    let doubted = run_with(&["explain", "-f", "msgpack"], b"{\"a\":[1,2,3]}");
    assert!(doubted.err.contains("format-doubt"), "{}", doubted.err);
}

#[test]
fn skip_and_length_choose_bytes() {
    let ran = run(&["explain", "--to", "json", "-f", "msgpack", "--skip", "0x1a", "--length", "20", DOCUMENT]).json();
    assert_eq!(ran["value"], serde_json::json!({"region": "al", "version": 3}));
    assert_eq!(ran["layers"][0]["size"], 20);
    let piped =
        run_with(&["explain", "--to", "json", "-f", "msgpack", "--skip", "26", "--length", "0x14"], &file(DOCUMENT))
            .json();
    assert_eq!(piped["value"], ran["value"]);
}

#[test]
fn detection_says_the_format_with_evidence_and_fails_where_there_is_none() {
    let ran = run(&["detect", "--to", "json", DOCUMENT, "samples/document.json"]).json();
    let formats: Vec<&str> = ran["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["candidates"][0]["format"].as_str().unwrap())
        .collect();
    assert_eq!(formats, ["msgpack", "json"]);
    for candidate in ran["inputs"][0]["candidates"].as_array().unwrap() {
        let evidence = ["for", "against"].iter().map(|side| candidate[*side].as_array().unwrap().len()).sum::<usize>();
        assert!(evidence > 0, "{candidate}");
    }
    let text = run_with(&["detect"], b"Hello, this is plain text.\n");
    assert_eq!(text.status, 1);
    // All records of the golden vectors are found without being told; int keys and positions have no names.
    for golden in golden().iter().filter(|golden| "ABC".contains(golden.section)) {
        let out = run(&["detect", "--to", "json", &golden.path]).json();
        assert_eq!(out["inputs"][0]["candidates"][0]["format"], golden.format.as_str(), "{}", golden.id);
    }
}

#[test]
fn told_columns_are_kept_by_every_line_but_the_name_of_the_input() {
    use unicode_width::UnicodeWidthStr as _;
    let paths = [
        DOCUMENT,
        "samples/document.json",
        "tests/data/golden/zoo/msgpack/int_nonminimal.msgpack",
        "tests/data/golden/zoo/msgpack/timestamp_in_map.msgpack",
        "tests/data/golden/records/long.json",
        "tests/data/golden/bad/msgpack/trunc_12.msgpack",
        "tests/data/golden/zoo/msgpack/str_utf8.msgpack",
    ];
    let mut full = 0;
    for path in paths {
        for columns in [80, 100, 132, 200] {
            for form in [&[][..], &["--rows", "leaf"], &["--notes", "all"]] {
                let width = columns.to_string();
                let args: Vec<&str> = ["explain", path, "--width", &width].iter().chain(form).copied().collect();
                for line in run(&args).text().lines() {
                    assert!(
                        line.width() <= columns || line.contains(path),
                        "{args:?}: {} columns: {line}",
                        line.width()
                    );
                    full += usize::from(line.width() + 10 > columns);
                }
            }
        }
    }
    assert!(full > 100, "lines come near the last column: {full}");
}

#[test]
fn a_pipe_cuts_no_meaning() {
    // Without a told width nobody cuts: the whole date and its seconds are there.
    let out = ok(&["tests/data/golden/zoo/msgpack/timestamp_in_map.msgpack"]);
    assert!(out.contains("timestamp 64: 2024-01-01T00:00:00.001Z (1704067200 s + 1000000 ns)"), "{out}");
}

#[test]
fn colour_comes_only_where_it_is_asked_for() {
    assert!(!ok(&[DOCUMENT]).contains('\u{1b}'));
    let coloured = ok(&[DOCUMENT, "--color", "always"]);
    assert!(coloured.contains('\u{1b}'));
    // Colour never stands alone: without it the text is the same.
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = &behind[behind.find('m').unwrap() + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, ok(&[DOCUMENT]));
}

#[test]
fn help_is_there_for_commands_and_formats() {
    for topic in [
        &["--help"][..],
        &["help"],
        &["help", "explain"],
        &["help", "msgpack"],
        &["help", "json"],
        &["explain", "--help"],
        &["--version"],
    ] {
        assert!(ok(topic).len() > 10, "{topic:?}");
    }
    for (name, about) in [("msgpack", "src/formats/msgpack/format.md"), ("json", "src/formats/json/format.md")] {
        assert_eq!(ok(&["help", name]).as_bytes(), file(about));
    }
}

#[test]
fn past_the_limit_of_depth_a_branch_is_one_error_and_more_can_be_asked_for() {
    let path = "tests/data/golden/zoo/msgpack/nest_array_100.msgpack";
    ok(&["-f", "msgpack", path]);
    let ran = run(&["-f", "msgpack", "--limit-depth", "50", path]);
    assert!(ran.status == 1 && ran.err.contains("mp-depth"), "{}", ran.err);
    let deep = "tests/data/golden/bad/msgpack/nest_1024.msgpack";
    assert_eq!(run(&["-f", "msgpack", deep]).status, 1);
    assert_eq!(run(&["-f", "msgpack", "--limit-depth", "2000", deep]).status, 0);
}

#[test]
fn what_is_said_of_a_row_that_is_hidden_stands_in_no_other_row() {
    // An empty key has words on its length, which lies deeper than what is shown.
    let maps = "tests/data/golden/zoo/protobuf/maps_all.bin";
    let args = [maps, "-s", "tests/data/schemas/pbzoo.proto", "-t", "Maps", "--notes", "none", "--no-head"];
    let rows = |more: &[&str]| ok(&args.iter().chain(more).copied().collect::<Vec<_>>());
    let (whole, flat) = (rows(&[]), rows(&["--depth", "1"]));
    let shown: Vec<&str> = flat.lines().filter(|line| line.as_bytes()[0].is_ascii_hexdigit()).collect();
    assert_eq!(shown.len(), 10, "{flat}");
    for row in shown {
        assert!(whole.contains(row), "{row}");
    }
}

#[test]
fn a_schema_is_called_unused_only_where_nothing_is_read_or_written_by_it() {
    let args = ["convert", "-f", "json", "-", "-s", "schemas/suite.proto", "-t", "Document", "--to", "protobuf"];
    let ran = run_with(&args, br#"{"id":"x"}"#);
    assert_eq!((ran.status, &ran.out[..], ran.err.as_str()), (0, &b"\x0a\x01x"[..], ""));
    let ran = run(&[DOCUMENT, "-s", "schemas/suite.proto"]);
    assert!(ran.status == 0 && ran.err.contains("note[schema-unused]"), "{}", ran.err);
}
