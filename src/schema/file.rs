//! One file of a schema: its bytes, and the sentence for what cannot be read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::model::schema::{Place, SchemaError};
use crate::model::words::slips;

/// Bytes that a schema file may have; the largest known ones have a tenth of that.
const LARGEST: u64 = 64 << 20;

/// Bytes at the start of a file that say what it is, comments before the first word included.
const START: u64 = 4096;

/// A sentence and what to try.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to try; may be empty.
    pub help: String,
    /// The file is not there.
    pub absent: bool,
}

/// A sentence and what to try, of a file that is there.
pub fn problem(message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem { message: message.into(), help: help.into(), absent: false }
}

impl Problem {
    /// The problem as the error of a file, `shown` as messages call it.
    pub fn error(self, shown: &str) -> SchemaError {
        let place = Place { file: shown.to_string(), ..Place::default() };
        SchemaError { place, message: self.message, help: self.help }
    }
}

/// The bytes of a schema file; `instead` says what to tell where a folder was told.
///
/// # Errors
/// It is not there, is a folder, or is far too large.
pub fn bytes(path: &Path, instead: &str) -> Result<Vec<u8>, Problem> {
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if meta.is_dir() {
        return Err(problem("is a folder, not a file", instead));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(LARGEST.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > LARGEST) {
        return Err(problem("is larger than 64 MiB, no schema file", ""));
    }
    Ok(bytes)
}

/// The first bytes of a file, to see what it is; none where it is no plain file, whose bytes come only once.
pub fn start(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(START).read_to_end(&mut bytes).is_err()
    {
        bytes.clear();
    }
    bytes
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    if error.kind() == io::ErrorKind::NotFound {
        let help = near(path).map(|name| format!("{name} exists")).unwrap_or_default();
        return Problem { message: "no such file".into(), help, absent: true };
    }
    let text = error.to_string();
    problem(text.split(" (os error").next().unwrap_or(&text).to_lowercase(), "")
}

/// A file beside it whose name differs by a slip or two.
fn near(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries =
        std::fs::read_dir(folder).ok()?.take(10_000).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let near = entries.map(|other| (slips(name, &other), other)).filter(|(slips, _)| *slips <= 2);
    let (slips, best) = near.min()?;
    (slips < name.chars().count() / 2).then(|| path.with_file_name(best).display().to_string())
}

/// Whether a file's name ends with `.` and this, in any letter case.
pub fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The first word of source behind its comments.
pub fn first_word(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match rest.get(..2) {
            Some("//") => rest.split_once('\n').map_or("", |(_, behind)| behind),
            Some("/*") => rest.split_once("*/").map_or("", |(_, behind)| behind),
            _ => break,
        };
        rest = behind.trim_start();
    }
    if rest.starts_with(';') {
        return "";
    }
    let word = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    if word.is_empty() { "?" } else { word }
}
