//! Hostile input: whatever the bytes, every byte has one owner, nothing panics, memory and time stay in
//! proportion. [`common::Checker`] asserts the rules on each decode.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{As, Random, check, golden, in_parallel, inspect};

const FORMATS: [&str; 4] = ["protobuf", "flatbuffers", "msgpack", "json"];

/// Samples up to this size are cut and changed everywhere.
const SMALL: usize = 512;

/// An input, and how it is read.
struct Sample {
    format: String,
    bytes: Vec<u8>,
    /// All readings that it is put through: each with and without schema, and as a stream.
    readings: Vec<As>,
}

/// Golden vectors and samples, by whether they are small; their own format first.
fn samples(small: bool) -> Vec<Sample> {
    let golden = golden();
    let all = golden.into_iter().map(|golden| {
        let (own, untyped) = (golden.read_as(), golden.untyped_as());
        (golden.format.clone(), golden.message(), own, untyped)
    });
    let own = ["document.msgpack", "document.json"].map(|name| {
        let format = name.split('.').next_back().unwrap().to_string();
        let read = As::format(&format);
        (format, common::file(&format!("samples/{name}")), read, read)
    });
    // Several writers made the same bytes of one record.
    let mut seen = std::collections::HashSet::new();
    let fresh = |(format, bytes, ..): &(String, Vec<u8>, As, As)| {
        (bytes.len() <= SMALL) == small && !bytes.is_empty() && seen.insert((format.clone(), bytes.clone()))
    };
    let sample = |(format, bytes, own, untyped): (String, Vec<u8>, As, As)| {
        let readings = match format.as_str() {
            "protobuf" => {
                let streams = ["plain", "delimited", "grpc"];
                streams.iter().flat_map(|variant| [own.variant(variant), untyped.variant(variant)]).collect()
            }
            "flatbuffers" => {
                let sized = ["plain", "size-prefixed"];
                sized.iter().flat_map(|variant| [own.variant(variant), untyped.variant(variant)]).collect()
            }
            _ => vec![own],
        };
        Sample { format, bytes, readings }
    };
    own.into_iter().chain(all).filter(fresh).map(sample).collect()
}

#[test]
fn every_prefix_of_a_small_sample_is_owned_byte_by_byte() {
    let samples = samples(true);
    assert!(samples.len() > 350, "{}", samples.len());
    in_parallel(samples.len(), |at| {
        let Sample { format, bytes, readings, .. } = &samples[at];
        for read in readings {
            for end in 0..bytes.len() {
                let checker = read.check(&bytes[..end]);
                if end == 0 {
                    let empty = if format == "protobuf" { "pb-empty" } else { "empty-input" };
                    assert_eq!(checker.codes().first(), Some(&empty));
                }
            }
        }
    });
}

#[test]
fn a_prefix_of_one_container_is_an_error_at_every_length() {
    // A map, array or object is only complete with its last byte; a pipe says the same as memory.
    for (format, bytes) in
        [("msgpack", common::file("samples/document.msgpack")), ("json", common::file("samples/document.json"))]
    {
        for end in 0..=bytes.len() {
            let memory = check(format, &bytes[..end]);
            assert_eq!(memory.has_error(), end < bytes.len(), "{format} cut at {end}");
            let pipe = common::decode_piped(format, &bytes[..end], 7);
            assert_eq!(pipe.codes(), memory.codes(), "{format} cut at {end}");
        }
    }
}

#[test]
fn every_byte_of_a_small_sample_may_be_anything() {
    let samples = samples(true);
    in_parallel(samples.len(), |at| {
        let Sample { bytes, readings, .. } = &samples[at];
        let mut changed = bytes.clone();
        for at in 0..bytes.len() {
            for byte in [0x00, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
                changed[at] = byte;
                for read in readings {
                    read.check(&changed);
                }
            }
            changed[at] = bytes[at];
        }
    });
}

#[test]
fn small_samples_may_be_damaged_where_nobody_said_what_they_are() {
    // Detection and text encodings see a part of the same damage: each cut, and each byte once.
    let samples = samples(true);
    in_parallel(samples.len(), |at| {
        let bytes = &samples[at].bytes;
        let mut changed = bytes.clone();
        for at in (0..bytes.len()).step_by(3) {
            inspect(&bytes[..at]);
            changed[at] ^= if at % 2 == 0 { 0x80 } else { 1 };
            inspect(&changed);
            changed[at] = bytes[at];
        }
    });
}

#[test]
fn twenty_thousand_seeded_changes_of_the_larger_samples_break_nothing() {
    const CHANGES: usize = 20_000;
    let samples = samples(false);
    assert!(samples.len() > 20);
    in_parallel(CHANGES, |seed| {
        let mut random = Random::new(seed as u64);
        let Sample { bytes, readings, .. } = &samples[seed % samples.len()];
        // Of the largest ones a part, so that many changes are seen and not many copies.
        let from = if bytes.len() > 1024 { random.below(bytes.len() - 512) } else { 0 };
        let mut changed = bytes[from..(from + 1024).min(bytes.len())].to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(changed.len());
            match random.below(4) {
                0 => changed[at] = random.byte(),
                1 => changed[at] ^= 1 << random.below(8),
                2 => changed.truncate(at.max(1)),
                _ => changed.insert(at, random.byte()),
            }
        }
        for read in readings {
            read.check(&changed);
        }
    });
}

/// Types with every kind of field, for bytes that are none of them.
fn protobuf_readings() -> Vec<As> {
    let typed = |schema: &str, root: &str| As::format("protobuf").typed(schema, root);
    let types = [
        typed("pbzoo.proto", "zoo.Scalars"),
        typed("pbzoo.proto", "zoo.Inner"),
        typed("pbzoo.proto", "zoo.Packed"),
        typed("pbzoo.proto", "zoo.Maps"),
        typed("pbzoo.proto", "zoo.Known"),
        typed("pbzoo2.proto", "zoo2.Two"),
        typed("pbset.proto", "zooset.Set"),
    ];
    let streams = ["plain", "delimited", "grpc"];
    types.iter().flat_map(|one| streams.iter().map(|variant| one.variant(variant))).collect()
}

#[test]
fn random_bytes_are_owned_as_every_format_and_undetected() {
    let readings = protobuf_readings();
    in_parallel(2_000, |seed| {
        let mut random = Random::new(1_000_000 + seed as u64);
        let count = random.below(301);
        let bytes = random.bytes(count);
        for format in FORMATS {
            check(format, &bytes);
        }
        for read in &readings {
            read.check(&bytes);
        }
        inspect(&bytes);
    });
}

#[test]
fn random_fields_are_owned_as_every_type() {
    // Tags that may be, with values that may be: these get further in than random bytes.
    let readings = protobuf_readings();
    in_parallel(3_000, |seed| {
        let mut random = Random::new(4_000_000 + seed as u64);
        let mut bytes = Vec::new();
        for _ in 0..random.below(12) {
            random_field(&mut random, 0, &mut bytes);
        }
        if random.below(3) == 0 && !bytes.is_empty() {
            let at = random.below(bytes.len());
            bytes[at] = random.byte();
        }
        for read in &readings {
            read.check(&bytes);
        }
        check("protobuf", &bytes);
    });
}

/// A field with a number that the types of the schemas have, in any wire type.
fn random_field(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    let most = if random.below(4) == 0 { 40 } else { 20 };
    let number = 1 + random.below(most);
    let wire = [0, 0, 1, 2, 2, 2, 3, 4, 5][random.below(9)];
    let tag = number << 3 | wire;
    if tag >= 0x80 {
        out.push(tag as u8 | 0x80);
    }
    out.push(if tag >= 0x80 { (tag >> 7) as u8 } else { tag as u8 });
    match wire {
        0 => {
            let more = if random.below(3) == 0 { random.below(10) } else { 0 };
            out.extend(std::iter::repeat_with(|| random.byte() | 0x80).take(more));
            out.push(random.byte() & 0x7f);
        }
        1 => out.extend(random.bytes(8)),
        5 => out.extend(random.bytes(4)),
        2 => {
            let mut content = Vec::new();
            match random.below(4) {
                0 if depth < 6 => {
                    for _ in 0..random.below(5) {
                        random_field(random, depth + 1, &mut content);
                    }
                }
                1 => content.extend(&b"type.googleapis.com/zoo.Inner"[..random.below(30)]),
                2 => content = vec![b'a'; random.below(20)],
                _ => {
                    let count = random.below(20);
                    content = random.bytes(count);
                }
            }
            let wrong = if random.below(8) == 0 { random.below(3) } else { 0 };
            let len = content.len() + wrong;
            if len >= 0x80 {
                out.push(len as u8 | 0x80);
            }
            out.push(if len >= 0x80 { (len >> 7 & 0x7f) as u8 } else { len as u8 });
            out.extend(content);
        }
        3 if depth < 6 => {
            for _ in 0..random.below(4) {
                random_field(random, depth + 1, out);
            }
            if random.below(4) > 0 && number < 16 {
                out.push((number << 3 | 4) as u8);
            }
        }
        _ => {}
    }
}

#[test]
fn a_pipe_that_drips_gives_the_leaves_of_memory() {
    let small = samples(true);
    let all: Vec<&Sample> =
        small.iter().filter(|sample| ["protobuf", "flatbuffers"].contains(&sample.format.as_str())).collect();
    assert!(all.len() > 200, "{}", all.len());
    in_parallel(all.len(), |at| {
        let Sample { bytes, readings, .. } = all[at];
        let mut random = Random::new(5_000_000 + at as u64);
        for read in readings {
            for step in [1, 7] {
                // Whole, cut, and with a byte changed.
                let mut changed = bytes.clone();
                let place = random.below(bytes.len());
                changed[place] = random.byte();
                for input in [&bytes[..], &bytes[..place], &changed] {
                    let (memory, pipe) = (read.decode(input), read.decode_piped(input, step));
                    assert_eq!(memory.rows, pipe.rows, "{} {input:02x?}", read.variant);
                    assert_eq!(memory.groups, pipe.groups, "{} {input:02x?}", read.variant);
                    assert_eq!(memory.codes(), pipe.codes(), "{} {input:02x?}", read.variant);
                }
            }
        }
    });
}

#[test]
fn random_text_is_owned_as_every_format_and_undetected() {
    // Digits, signs of JSON, of dumps and of escapes: what the readers of text look for.
    const LETTERS: &[u8] = b"0123456789abcdefABCDEFxX{}[]:,\"\\'=+-/|. \n\t\r#$%;()<>nutrlsE_\xc3\xa9\xef\xbb\xbf";
    in_parallel(2_000, |seed| {
        let mut random = Random::new(2_000_000 + seed as u64);
        let few = 1 + random.below(LETTERS.len());
        let text: Vec<u8> = (0..random.below(301)).map(|_| LETTERS[random.below(few)]).collect();
        for format in FORMATS {
            check(format, &text);
        }
        inspect(&text);
    });
}

#[test]
fn hex_and_base64_of_damaged_samples_open_their_layer_or_stay_text() {
    let mut opened = 0;
    for Sample { bytes, .. } in samples(true).iter().step_by(5) {
        let mut random = Random::new(bytes.len() as u64);
        for text in [data_encoding::HEXLOWER.encode(bytes), data_encoding::BASE64.encode(bytes)] {
            opened += inspect(text.as_bytes()).0.layer();
            let mut text = text.into_bytes();
            let at = random.below(text.len());
            text[at] = random.byte();
            inspect(&text);
        }
    }
    assert!(opened > 20, "{opened}");
}

#[test]
fn a_hundred_thousand_levels_are_one_error_and_no_deep_stack() {
    const LEVELS: usize = 100_000;
    let pairs = |open: &str, close: &str| [open.repeat(LEVELS), close.repeat(LEVELS)].concat().into_bytes();
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("msgpack", [&[0x91; LEVELS][..], &[0xc0]].concat(), "mp-depth"),
        ("msgpack", [&[0x81, 0x01].repeat(LEVELS)[..], &[0xc0]].concat(), "mp-depth"),
        // Each map the key of the one around it.
        ("msgpack", [&[0x81; LEVELS][..], &[0xc0; LEVELS + 1]].concat(), "mp-depth"),
        ("msgpack", [0xdd, 0, 0, 0, 1].repeat(LEVELS), "mp-depth"),
        ("json", pairs("[", "]"), "json-depth"),
        ("json", pairs("{\"a\":", "}"), "json-depth"),
        ("json", "[".repeat(LEVELS).into_bytes(), "json-depth"),
        ("json", "{\"a\":[".repeat(LEVELS).into_bytes(), "json-depth"),
        ("json", "]".repeat(LEVELS).into_bytes(), "json-syntax"),
    ];
    for (format, bytes, code) in cases {
        let checker = check(format, &bytes);
        assert!(checker.codes().contains(&code), "{format} {:02x?}: {:?}", &bytes[..4], checker.codes().first());
        let depth = checker.codes().iter().filter(|found| found.ends_with("depth")).count();
        assert!(depth <= 1, "{format} {:02x?}: one error for the branch", &bytes[..4]);
        let deepest = checker.groups.len();
        assert!(deepest < 2_000, "{format}: groups end at the limit, not {deepest}");
        inspect(&bytes);
    }
}

/// A varint of any length.
fn varint(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Messages within each other, each field 3 of the one around it.
fn nested(levels: usize, innermost: &[u8]) -> Vec<u8> {
    // Written from the inside out, so backwards.
    let mut turned: Vec<u8> = innermost.iter().rev().copied().collect();
    for _ in 0..levels {
        let mut head = vec![0x1a];
        varint(turned.len(), &mut head);
        turned.extend(head.iter().rev());
    }
    turned.reverse();
    turned
}

#[test]
fn a_hundred_thousand_messages_and_groups_are_one_error_and_no_deep_stack() {
    const LEVELS: usize = 100_000;
    let two = |root: &str| As::format("protobuf").typed("pbzoo.proto", root);
    let untyped = As::format("protobuf");
    let groups = [vec![0x1b; LEVELS], vec![0x1c; LEVELS]].concat();
    // (bytes, reading, whether the limit is reached)
    let deep = nested(LEVELS, &[8, 1]);
    let cases = [
        (&deep, two("zoo.Inner"), true),
        (&deep, two("zoo.Nothing"), false),
        (&deep, untyped, false),
        (&groups, two("zoo.Inner"), true),
        (&groups, two("zoo.Nothing"), true),
        (&groups, untyped, true),
    ];
    for (bytes, read, limited) in cases {
        let checker = read.check(bytes);
        let depth = checker.codes().iter().filter(|code| **code == "pb-depth").count();
        assert!(if limited { depth == 1 } else { depth <= 1 }, "{depth}");
        assert!(checker.groups.len() < 2_000, "groups end at the limit, not {}", checker.groups.len());
        for variant in ["delimited", "grpc"] {
            read.variant(variant).check(bytes);
        }
        read.check(&bytes[..bytes.len() / 2]);
        inspect(bytes);
    }
    // Groups that nobody ends.
    let checker = untyped.check(&[0x1b; LEVELS]);
    assert!(checker.codes().contains(&"pb-depth"), "{:?}", checker.codes());
    let checker = untyped.check(&[0x1c; LEVELS]);
    assert!(checker.codes().iter().all(|code| *code == "pb-group-end"));
}

#[test]
fn long_content_behind_a_pipe_is_owned_whole() {
    // More than is held at once: declared text, a message, an entry of a map, an Any, and no type at all.
    let known = As::format("protobuf").typed("pbzoo.proto", "zoo.Known");
    let cases = [
        (0x72, As::format("protobuf").typed("pbzoo.proto", "zoo.Scalars")),
        (0x1a, As::format("protobuf").typed("pbzoo.proto", "zoo.Inner")),
        (0x22, As::format("protobuf").typed("pbzoo.proto", "zoo.Maps")),
        (0x0a, known),
        (0x12, known),
        (0x1a, As::format("protobuf").typed("pbzoo.proto", "zoo.Packed")),
        (0x0a, As::format("protobuf")),
    ];
    for (tag, read) in cases {
        for content in [vec![b'a'; 100_000], [0x10, 0x05].repeat(50_000), Random::new(7).bytes(100_000)] {
            let mut bytes = [0x50, 0x01].repeat(3);
            bytes.push(tag);
            varint(content.len(), &mut bytes);
            bytes.extend(&content);
            bytes.extend([0x50, 0x01]);
            let mut framed = Vec::new();
            varint(bytes.len(), &mut framed);
            framed.extend(&bytes);
            for cut in [0, 50_000] {
                for (variant, input) in [("plain", &bytes), ("delimited", &framed)] {
                    let (read, input) = (read.variant(variant), &input[..input.len() - cut]);
                    let (memory, pipe) = (read.check(input), read.check_piped(input, 50_000));
                    assert_eq!(memory.ledger.causes, pipe.ledger.causes, "{tag:02x} {variant} {cut}");
                    assert_eq!(memory.has_error(), pipe.has_error(), "{tag:02x} {variant} {cut}");
                }
            }
        }
    }
    // A compressed frame of more than that, and one that is cut.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut gzip, &[0x10, 0x05].repeat(100_000)).unwrap();
    let gzip = gzip.finish().unwrap();
    let frame = [&[1][..], &u32::try_from(gzip.len()).unwrap().to_be_bytes(), &gzip].concat();
    let read = As::format("protobuf").variant("grpc");
    let (memory, pipe) = (read.decode(&frame), read.decode_piped(&frame, 50_000));
    assert_eq!((memory.codes(), pipe.codes()), (vec![], vec![]));
    assert!(memory.inside.len() == 1 && memory.inside == pipe.inside);
    assert!(read.check_piped(&frame[..frame.len() - 1], 50_000).has_error());
}

#[test]
fn many_empty_containers_and_long_runs_of_one_byte_break_nothing() {
    let readings = protobuf_readings();
    for byte in [
        0x00, 0x01, 0x0a, 0x0b, 0x0c, 0x20, 0x30, 0x5b, 0x7b, 0x80, 0x90, 0xa0, 0xc1, 0xd4, 0xdc, 0xdf, 0xff, b'"',
        b'\\', b',',
    ] {
        let bytes = vec![byte; 20_000];
        for format in FORMATS {
            check(format, &bytes);
        }
        for read in &readings {
            read.check(&bytes);
        }
        inspect(&bytes);
    }
}

#[test]
fn announced_sizes_take_no_memory() {
    // 4 GiB of elements, entries, text and bytes announced, nothing there.
    for head in ["dd ffffffff", "df ffffffff", "db ffffffff", "c6 ffffffff", "c9 ffffffff 05"] {
        for start in ["", "81 a1 61", "94"] {
            let checker = check("msgpack", &common::hex(&format!("{start}{head}")));
            assert!(checker.codes().contains(&"mp-cut"), "{start} {head}");
        }
    }
    // 2^63 bytes of a field, of a message in a message, of packed numbers, of a frame.
    for (bytes, read) in [
        ("0a ffffffffffffffff7f", As::format("protobuf")),
        ("1a 05 1a ffffffffffffffff7f", As::format("protobuf").typed("pbzoo.proto", "zoo.Inner")),
        ("22 ffffffffffffffff7f 01", As::format("protobuf").typed("pbzoo.proto", "zoo.Inner")),
        ("ffffffffffffffff7f 08", As::format("protobuf").variant("delimited")),
        ("00 ffffffff 08", As::format("protobuf").variant("grpc")),
        ("01 ffffffff 1f8b", As::format("protobuf").variant("grpc")),
    ] {
        let bytes = common::hex(bytes);
        assert!(read.check(&bytes).has_error());
        assert!(read.decode_piped(&bytes, 3).has_error());
    }
}

#[test]
fn the_binary_survives_damaged_files_in_every_form() {
    // Rendering sees a part of the damage: many files in one run, so that a panic or a broken rule (101, 3) shows.
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(3_000_000);
    let samples = samples(true);
    let mut names = Vec::new();
    for number in 0..300 {
        let Sample { format, bytes, .. } = &samples[random.below(samples.len())];
        let mut changed = bytes.clone();
        let at = random.below(changed.len());
        if number % 3 == 0 {
            changed.truncate(at);
        } else {
            changed[at] = random.byte();
        }
        let path = common::put(folder.path(), &format!("{number}.{format}"), &changed);
        names.push(if number % 2 == 0 { format!("{format}:{path}") } else { path });
    }
    let forms: [&[&str]; 9] = [
        &["--to", "json"],
        &["--to", "jsonl"],
        &["--to", "tree"],
        &["--to", "grid", "--all"],
        &["--all"],
        &["--width", "80", "--notes", "all", "--color", "always"],
        &["--rows", "leaf", "--bits"],
        &["--depth", "1", "--max-items", "2"],
        &["--range", "0..20"],
    ];
    in_parallel(forms.len() + 1, |at| {
        let args: Vec<&str> = match forms.get(at) {
            Some(form) => ["explain"].iter().chain(form.iter()).copied().collect(),
            None => vec!["detect"],
        };
        let args: Vec<&str> = args.into_iter().chain(names.iter().map(String::as_str)).collect();
        let ran = common::run(&args);
        assert_eq!(ran.status, 1, "{args:?}: {}", &ran.err[ran.err.len().saturating_sub(500)..]);
        if args.contains(&"json") {
            // A number of a JSON text is kept as it is, also where serde_json has no room for it.
            let is_json = |line: &str| match common::json(line.as_bytes()) {
                Ok(_) => true,
                Err(error) => error.starts_with("number out of range"),
            };
            assert!(ran.text().lines().all(is_json));
            assert_eq!(ran.text().lines().count(), names.len(), "one object a line");
        }
    });
}
