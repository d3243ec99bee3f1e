//! The files of one `.fbs` schema: the one that was told, and all that it includes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::model::schema::{Place, SchemaError};
use crate::schema::Request;
use crate::schema::fbs::lexer::{Fault, Spot};
use crate::schema::fbs::parse;
use crate::schema::fbs::syntax::{Name, Source};
use crate::schema::file::{self, problem};
use crate::schema::folders::{self, Folder};

/// What to tell instead of a folder.
pub const INSTEAD: &str = "tell its .fbs files, or -I for includes";

/// A file of a schema.
#[derive(Debug)]
pub struct Loaded {
    /// What it declares.
    pub source: Source,
    /// Its name as messages call it.
    pub shown: String,
    /// It was told.
    pub told: bool,
    /// Its includes that are not there.
    pub missing: Vec<Name>,
}

/// Reads a file and all that it includes: each file stands behind those that it includes, as far as no two include
/// each other.
///
/// # Errors
/// A file that cannot be read, or a mistake in it.
pub fn load(path: &Path, text: &str, request: &Request) -> Result<Vec<Loaded>, SchemaError> {
    let own = Request { files: vec![path.to_path_buf()], include: request.include.clone() };
    let told = request.files.iter().map(|path| canonical(path)).collect();
    let mut loader = Loader { told, folders: folders::folders(&own), ..Loader::default() };
    let first = loader.add(path, path.display().to_string(), text)?;
    let mut stack = vec![(first, 0usize)];
    while let Some((at, next)) = stack.pop() {
        let include = loader.files.get(at).and_then(|file| file.loaded.source.includes.get(next).cloned());
        let Some(include) = include else {
            loader.order.push(at);
            continue;
        };
        stack.push((at, next.saturating_add(1)));
        if let Some(new) = loader.include(at, &include)? {
            stack.push((new, 0));
        }
    }
    let mut files: Vec<Option<Loaded>> = loader.files.into_iter().map(|file| Some(file.loaded)).collect();
    Ok(loader.order.iter().filter_map(|at| files.get_mut(*at)?.take()).collect())
}

#[derive(Debug)]
struct Opened {
    loaded: Loaded,
    /// The folder that it stands in.
    folder: PathBuf,
}

#[derive(Debug, Default)]
struct Loader {
    files: Vec<Opened>,
    /// Files in the order in which their declarations count.
    order: Vec<usize>,
    folders: Vec<Folder>,
    told: HashSet<PathBuf>,
    seen: HashSet<PathBuf>,
    /// Files by name and text: a copy of a file is the same file.
    copies: HashMap<(String, String), usize>,
}

impl Loader {
    fn add(&mut self, path: &Path, shown: String, text: &str) -> Result<usize, SchemaError> {
        let source = parse::parse(text).map_err(|fault| faulty(&shown, fault))?;
        let canonical = canonical(path);
        let told = self.files.is_empty() || self.told.contains(&canonical);
        let at = self.files.len();
        self.seen.insert(canonical);
        self.copies.insert((base(path), text.to_string()), at);
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        self.files.push(Opened { loaded: Loaded { source, shown, told, missing: Vec::new() }, folder });
        Ok(at)
    }

    /// A file that another one includes, where it is a new one.
    fn include(&mut self, from: usize, name: &Name) -> Result<Option<usize>, SchemaError> {
        let Some((path, shown)) = self.find(from, &name.text) else {
            if let Some(file) = self.files.get_mut(from) {
                file.loaded.missing.push(name.clone());
            }
            return Ok(None);
        };
        if self.seen.contains(&canonical(&path)) {
            return Ok(None);
        }
        let text = text(&path).map_err(|problem| problem.error(&shown))?;
        if self.copies.contains_key(&(base(&path), text.clone())) {
            return Ok(None);
        }
        self.add(&path, shown, &text).map(Some)
    }

    /// Where an included file is: beside the file that includes it, else in the folders.
    fn find(&self, from: usize, name: &str) -> Option<(PathBuf, String)> {
        let name = name.trim_start_matches('/');
        let from = self.files.get(from)?;
        let beside = from.folder.join(name);
        if beside.is_file() {
            let folder = Path::new(&from.loaded.shown).parent().map(|folder| folder.display().to_string());
            let shown = folders::join(folder.filter(|folder| !folder.is_empty()).as_deref().unwrap_or("."), name);
            return Some((beside, shown));
        }
        self.folders.iter().find_map(|folder| {
            let path = folder.path.join(name);
            path.is_file().then(|| (path, folders::join(&folder.shown, name)))
        })
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn base(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The text of an included file.
fn text(path: &Path) -> Result<String, file::Problem> {
    source(file::bytes(path, INSTEAD)?)
}

/// The text of a source. Comments may be in any encoding, so what is not UTF-8 is replaced.
///
/// # Errors
/// It is no text, or empty.
pub fn source(bytes: Vec<u8>) -> Result<String, file::Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(problem(if bytes.is_empty() { "is empty" } else { "holds only white space" }, ""));
    }
    if bytes.contains(&0) {
        let help = "expected a .fbs file, or a .bfbs file as `flatc -b --schema` writes it";
        return Err(problem("is neither text nor a compiled FlatBuffers schema", help));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn faulty(shown: &str, fault: Fault) -> SchemaError {
    let Spot { line, column } = fault.at;
    let place = Place { file: shown.to_string(), line, column };
    SchemaError { place, message: fault.message, help: fault.help }
}
