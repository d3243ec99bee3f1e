//! Where imports and includes are looked for: told folders, those of the files that were told, and those above
//! them up to the root of a repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::model::num::listed;
use crate::schema::Request;

/// Folders above a file in which its imports are looked for; a repository's root ends it earlier.
const ABOVE: usize = 12;

/// A folder to look for imports in.
#[derive(Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// As messages call it.
    pub shown: String,
    /// It stands above a file that was told, and is not named in messages.
    above: bool,
}

/// A name below a folder, as messages call it.
pub fn join(folder: &str, name: &str) -> String {
    if folder == "." { name.to_string() } else { Path::new(folder).join(name).display().to_string() }
}

/// Where to look for imports, in order, each folder once.
pub fn folders(request: &Request) -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |path: PathBuf, shown: String, above: bool| {
        if seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            folders.push(Folder { path, shown, above });
        }
    };
    for path in &request.include {
        add(path.clone(), path.display().to_string(), false);
    }
    let current = PathBuf::from(".").canonicalize().unwrap_or_default();
    let own = |path: &PathBuf| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    for folder in request.files.iter().map(own) {
        add(folder.clone(), folder.display().to_string(), false);
    }
    for folder in request.files.iter().map(own).filter_map(|folder| folder.canonicalize().ok()) {
        for path in above(&folder) {
            let (shown, is_below) = match path.strip_prefix(&current) {
                Ok(rest) if rest.as_os_str().is_empty() => (".".to_string(), true),
                Ok(rest) => (rest.display().to_string(), true),
                Err(_) => (path.display().to_string(), false),
            };
            add(path, shown, !is_below);
        }
    }
    add(PathBuf::from("."), ".".into(), false);
    folders
}

/// Folders above one, up to the root of its repository.
fn above(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in folder.ancestors().take(ABOVE) {
        all.push(path.to_path_buf());
        if path.join(".git").exists() {
            break;
        }
    }
    all
}

/// `api, .`, or `api, . and 3 folders above`.
pub fn searched(folders: &[Folder]) -> String {
    let named: Vec<&str> = folders.iter().filter(|folder| !folder.above).map(|folder| folder.shown.as_str()).collect();
    match folders.len().saturating_sub(named.len()) {
        0 => named.join(", "),
        1 => listed(&[&named.join(", "), "one folder above"]),
        more => format!("{} and {more} folders above", named.join(", ")),
    }
}
