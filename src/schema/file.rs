//! Schema files as bytes, and the sentence for one that cannot be read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::model::words::slips;

/// Bytes that a schema file may have; the largest known ones have a tenth of that.
const LARGEST: u64 = 64 << 20;

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

/// A problem of a file that is there.
pub fn problem(message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem { message: message.into(), help: help.into(), absent: false }
}

/// The bytes of a file; `ending` is that of the schema files that are told.
///
/// # Errors
/// It is not there, cannot be read, or is too large.
pub fn bytes(path: &Path, ending: &str) -> Result<Vec<u8>, Problem> {
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if meta.is_dir() {
        return Err(problem("is a folder, not a file", format!("tell its {ending} files, or -I for imports")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(LARGEST.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > LARGEST) {
        return Err(problem("is larger than 64 MiB, no schema file", ""));
    }
    Ok(bytes)
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
