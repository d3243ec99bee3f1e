//! Hostile input: whatever the bytes, every byte has one owner, nothing panics, memory and time stay in
//! proportion. [`common::Checker`] asserts the rules on each decode.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Random, check, golden, inspect};

const FORMATS: [&str; 2] = ["msgpack", "json"];

/// Samples up to this size are cut and changed everywhere.
const SMALL: usize = 512;

/// Golden vectors and samples, by whether they are small; their own format first.
fn samples(small: bool) -> Vec<(String, String, Vec<u8>)> {
    let golden = golden();
    let all = golden.into_iter().map(|golden| (golden.id, golden.format, golden.bytes));
    let own = ["document.msgpack", "document.json"].map(|name| {
        let format = name.split('.').next_back().unwrap().to_string();
        (name.to_string(), format, common::file(&format!("samples/{name}")))
    });
    // Several writers made the same bytes of one record.
    let mut seen = std::collections::HashSet::new();
    let fresh = |(_, _, bytes): &(String, String, Vec<u8>)| {
        (bytes.len() <= SMALL) == small && !bytes.is_empty() && seen.insert(bytes.clone())
    };
    own.into_iter().chain(all).filter(fresh).collect()
}

/// Runs `work` on all numbers below `count`, on all cores.
fn in_parallel(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(4, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    work(at);
                }
            });
        }
    });
}

#[test]
fn every_prefix_of_a_small_sample_is_owned_byte_by_byte() {
    let samples = samples(true);
    assert!(samples.len() > 250);
    in_parallel(samples.len(), |at| {
        let (_, format, bytes) = &samples[at];
        for end in 0..bytes.len() {
            let checker = check(format, &bytes[..end]);
            if end == 0 {
                assert_eq!(checker.codes(), ["empty-input"]);
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
        let (_, format, bytes) = &samples[at];
        let mut changed = bytes.clone();
        for at in 0..bytes.len() {
            for byte in [0x00, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
                changed[at] = byte;
                check(format, &changed);
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
        let (_, _, bytes) = &samples[at];
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
        let (_, format, bytes) = &samples[seed % samples.len()];
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
        check(format, &changed);
    });
}

#[test]
fn random_bytes_are_owned_as_every_format_and_undetected() {
    in_parallel(2_000, |seed| {
        let mut random = Random::new(1_000_000 + seed as u64);
        let count = random.below(301);
        let bytes = random.bytes(count);
        for format in FORMATS {
            check(format, &bytes);
        }
        inspect(&bytes);
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
    for (_, _, bytes) in samples(true).iter().step_by(5) {
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

#[test]
fn many_empty_containers_and_long_runs_of_one_byte_break_nothing() {
    for byte in [0x00, 0x20, 0x30, 0x5b, 0x7b, 0x80, 0x90, 0xa0, 0xc1, 0xd4, 0xdc, 0xdf, 0xff, b'"', b'\\', b','] {
        let bytes = vec![byte; 20_000];
        for format in FORMATS {
            check(format, &bytes);
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
}

#[test]
fn the_binary_survives_damaged_files_in_every_form() {
    // Rendering sees a part of the damage: many files in one run, so that a panic or a broken rule (101, 3) shows.
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(3_000_000);
    let samples = samples(true);
    let mut names = Vec::new();
    for number in 0..300 {
        let (_, format, bytes) = &samples[random.below(samples.len())];
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
            let lines: Vec<_> = ran.text().lines().map(|line| common::json(line.as_bytes()).unwrap()).collect();
            assert_eq!(lines.len(), names.len(), "one object a line");
        }
    });
}
