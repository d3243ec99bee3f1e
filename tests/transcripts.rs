//! Transcripts: commands with their exact output, in `tests/transcripts/*.txt` and in the fenced ` ```console `
//! blocks of README.md.
//!
//! A line that begins with `$ ` is a command; the lines up to the next command, or to the end, are what it prints:
//! standard output, then standard error. A blank line in front of a command belongs to no output, it only parts it
//! from the one before. Lines before the first command say what the transcript shows. Commands run in the
//! repository root. Known words are `wireinspect …`, with arguments in single quotes where they hold blanks, and
//! `printf 'TEXT' | wireinspect …`, where TEXT may have `\n`, `\\` and `\xNN`. In README a block may show the first
//! lines of an output only: its last line is then `...`.
//!
//! Outputs are compared raw. `WIREINSPECT_UPDATE=1 cargo test` rewrites them: read what it changed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{root, run_with, updating};

/// The words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => word.push(c),
        }
    }
    assert!(!quoted, "an open quote: {line}");
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The bytes that `printf` makes of its argument.
fn printed(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        match rest {
            [b'n', behind @ ..] => (bytes.push(b'\n'), rest = behind).1,
            [b'\\', behind @ ..] => (bytes.push(b'\\'), rest = behind).1,
            [b'x', a, b, behind @ ..] => {
                bytes.push(u8::from_str_radix(std::str::from_utf8(&[*a, *b]).unwrap(), 16).unwrap());
                rest = behind;
            }
            _ => panic!("an escape that printf would not take alike everywhere: {text}"),
        }
    }
    bytes
}

/// What a command prints.
fn output(line: &str) -> String {
    let (input, command) = match line.strip_prefix("printf ") {
        Some(rest) => {
            let (text, command) = rest.split_once(" | ").expect("printf TEXT | wireinspect");
            (printed(&words(text)[0]), command)
        }
        None => (Vec::new(), line),
    };
    let words = words(command);
    assert_eq!(words[0], "wireinspect", "{line}");
    let ran = run_with(&words[1..], &input);
    assert!(ran.status < 3, "{line}: {}", ran.err);
    let mut text = String::from_utf8(ran.out).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &ran.err
}

/// The same transcript with the outputs of now; commands are counted in `commands`.
fn replayed(text: &str, commands: &mut usize) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix("$ ") else { continue };
        *commands += 1;
        let mut old = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            old.push(line);
        }
        let new = output(command);
        match old.split_last() {
            // The first lines only, in README: as many as there were.
            Some((&"...", shown)) if new.lines().count() > shown.len() => {
                new.lines().take(shown.len()).for_each(|line| out.extend([line, "\n"]));
                out.push_str("...\n");
            }
            _ => out.push_str(&new),
        }
        if lines.peek().is_some() {
            out.push('\n');
        }
    }
    out
}

/// Compares, or rewrites.
fn settle(name: &str, old: &str, new: &str) {
    if old == new {
        return;
    }
    if updating() {
        std::fs::write(root().join(name), new).unwrap();
        return;
    }
    let line = old
        .lines()
        .zip(new.lines())
        .position(|(old, new)| old != new)
        .unwrap_or(old.lines().count().min(new.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_string();
    panic!("{name}:{}:\n  was {}\n  now {}\nWIREINSPECT_UPDATE=1 cargo test rewrites it", line + 1, at(old), at(new));
}

#[test]
fn transcripts_print_what_they_printed() {
    let mut names: Vec<_> = std::fs::read_dir(root().join("tests/transcripts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".txt"))
        .collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let path = format!("tests/transcripts/{name}");
        let old = String::from_utf8(common::file(&path)).unwrap();
        let mut commands = 0;
        let new = replayed(&old, &mut commands);
        assert!(commands > 0, "{path} has a command");
        settle(&path, &old, &new);
    }
}

#[test]
fn commands_in_readme_print_what_it_says() {
    let old = String::from_utf8(common::file("README.md")).unwrap();
    let mut new = String::new();
    let mut commands = 0;
    let mut rest = old.as_str();
    while let Some((before, behind)) = rest.split_once("```console\n") {
        let (block, after) = behind.split_once("```").expect("the block ends");
        new.extend([before, "```console\n", &replayed(block, &mut commands), "```"]);
        rest = after;
    }
    new.push_str(rest);
    assert!(commands > 0, "README has commands");
    settle("README.md", &old, &new);
}

#[test]
fn a_transcript_that_differs_in_one_letter_is_noticed() {
    let text = "$ wireinspect detect samples/document.msgpack\n";
    let right = replayed(text, &mut 0);
    assert_eq!(replayed(&right, &mut 0), right, "what was printed is kept");
    let wrong = right.replacen("msgpack  ", "msgpack. ", 1);
    assert_ne!(replayed(&wrong, &mut 0), wrong);
    assert!(output("printf 'ab\\x0a' | wireinspect -f json -").contains("ERROR"));
}
