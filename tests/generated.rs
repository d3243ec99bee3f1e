//! Files that are made from the program are current: completions, man page, the table of formats in README.
//!
//! `WIREINSPECT_UPDATE=1 cargo test` rewrites them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{root, run, updating};

#[test]
fn completions_and_the_man_page_are_what_the_program_prints() {
    let files = [
        ("bash", "wireinspect.bash"),
        ("zsh", "_wireinspect"),
        ("fish", "wireinspect.fish"),
        ("powershell", "_wireinspect.ps1"),
        ("man", "wireinspect.1"),
    ];
    let folder = root().join("completions");
    for (target, name) in files {
        let ran = run(&["completions", target]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
        assert!(ran.out.len() > 500, "{target}");
        let path = folder.join(name);
        if updating() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &ran.out).unwrap();
        }
        let there = std::fs::read(&path).unwrap_or_else(|error| panic!("completions/{name}: {error}"));
        assert!(there == ran.out, "completions/{name} is old: WIREINSPECT_UPDATE=1 cargo test rewrites it");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), files.len(), "nothing else lies there");
}

#[test]
fn the_table_of_formats_in_readme_is_current() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- formats -->\n", "<!-- /formats -->");
    let (before, rest) = readme.split_once(begin).expect("README.md has the mark where the table begins");
    let (table, behind) = rest.split_once(end).expect("README.md has the mark where the table ends");
    let want = wireinspect::cli::help::format_table();
    assert!(want.lines().count() >= 4);
    if updating() && table != want {
        std::fs::write(&path, format!("{before}{begin}{want}{end}{behind}")).unwrap();
    } else {
        assert_eq!(table, want, "WIREINSPECT_UPDATE=1 cargo test rewrites it");
    }
}
