//! The files of a Cap'n Proto schema: those that were told, and all that they import.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::model::schema::{Finding, Place, SchemaError};
use crate::schema::Request;
use crate::schema::capnp::ast::{self, Word};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::{bundle, parse};
use crate::schema::file::{self, Problem};
use crate::schema::folders::{Folder, folders, join, searched};

/// Folders in which the compiler looks for what is imported as `/...`, behind those that were told.
const USUAL: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// A file that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What it declares.
    pub file: ast::File,
    /// Its text.
    text: String,
    /// Where its lines begin.
    lines: Vec<usize>,
    /// Its name as messages call it.
    pub shown: String,
    /// It was told, not only imported.
    pub told: bool,
    /// What it imports, by name, as positions of files; none that were not found.
    pub imports: HashMap<String, usize>,
    /// Its folder; of a bundled file its name.
    home: Home,
}

/// Where a file lies.
#[derive(Debug, Clone)]
enum Home {
    Folder(PathBuf),
    Bundle(&'static str),
}

impl Default for Home {
    fn default() -> Home {
        Home::Folder(PathBuf::new())
    }
}

impl Loaded {
    /// A place in it.
    pub fn place(&self, at: usize) -> Place {
        let line = self.lines.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        let before = self.text.get(start..at).unwrap_or("");
        let column = before.trim_start_matches('\u{feff}').chars().count().saturating_add(1);
        Place { file: self.shown.clone(), line, column }
    }

    /// A fault in it as an error.
    pub fn error(&self, fault: Fault) -> SchemaError {
        SchemaError { place: self.place(fault.at), message: fault.message, help: fault.help }
    }

    /// Its last name, for what is derived from it.
    pub fn last_name(&self) -> &str {
        self.shown.rsplit(['/', '\\']).next().unwrap_or(&self.shown)
    }
}

/// All files of a schema.
#[derive(Debug, Default)]
pub struct Files {
    /// Files, told ones first.
    pub all: Vec<Loaded>,
    /// Imports that were not found.
    pub missing: Vec<Finding>,
    folders: Vec<Folder>,
}

struct Loader {
    out: Files,
    known: HashMap<PathBuf, usize>,
}

/// Reads the files of a request and all that they import.
///
/// # Errors
/// A file cannot be read, or is no schema.
pub fn load(request: &Request) -> Result<Files, SchemaError> {
    let out = Files { folders: folders(request), ..Files::default() };
    let mut loader = Loader { out, known: HashMap::new() };
    for path in &request.files {
        loader.told(path)?;
    }
    let mut next = 0;
    while next < loader.out.all.len() {
        loader.imports(next)?;
        next = next.saturating_add(1);
    }
    Ok(loader.out)
}

impl Files {
    /// The bytes of a file that another one embeds.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn embedded(&self, from: usize, name: &str) -> Result<Vec<u8>, Problem> {
        let home = self.all.get(from).map(|loaded| &loaded.home);
        match home.and_then(|home| self.find(home, name)) {
            Some(Found::File(path, _)) => file::bytes(&path, ".capnp"),
            Some(Found::Bundled(_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err(file::problem(format!("\"{}\" not found", name.escape_debug()), "")),
        }
    }

    fn find(&self, home: &Home, name: &str) -> Option<Found> {
        let absolute = name.strip_prefix('/');
        match (absolute, home) {
            (None, Home::Folder(own)) => {
                let path = own.join(name);
                if path.is_file() {
                    return Some(Found::File(path, None));
                }
            }
            (None, Home::Bundle(own)) => return bundled(&resolved(own, name)),
            (Some(_), Home::Bundle(..)) => {
                if let Some(found) = bundled(name) {
                    return Some(found);
                }
            }
            (Some(_), Home::Folder(_)) => {}
        }
        let below = absolute.unwrap_or(name);
        let in_folders = self.folders.iter().find_map(|folder| {
            let path = folder.path.join(below);
            path.is_file().then(|| Found::File(path, Some(join(&folder.shown, below))))
        });
        let usual = || {
            let mut paths = USUAL.iter().map(|folder| Path::new(folder).join(below));
            paths.find(|path| absolute.is_some() && path.is_file()).map(|path| Found::File(path, None))
        };
        in_folders.or_else(|| bundled(name)).or_else(usual)
    }
}

/// A file that an import names.
enum Found {
    File(PathBuf, Option<String>),
    Bundled(&'static str, &'static str),
}

fn bundled(name: &str) -> Option<Found> {
    let (name, text) = bundle::find(name)?;
    Some(Found::Bundled(name, text))
}

/// The name of what a bundled file imports.
pub fn resolved(from: &str, name: &str) -> String {
    match from.rsplit_once('/') {
        Some((folder, _)) if !name.starts_with('/') => format!("{folder}/{name}"),
        _ => name.to_string(),
    }
}

impl Loader {
    fn told(&mut self, path: &Path) -> Result<(), SchemaError> {
        let shown = path.display().to_string();
        // A name below -I will do.
        let below = || self.out.folders.iter().map(|folder| folder.path.join(path)).find(|path| path.is_file());
        let path = if path.exists() { path.to_path_buf() } else { below().unwrap_or_else(|| path.to_path_buf()) };
        let bytes = file::bytes(&path, ".capnp").map_err(|problem| error(&shown, problem))?;
        let canonical = path.canonicalize().unwrap_or(path);
        if !self.known.contains_key(&canonical) {
            self.add_file(canonical, bytes, shown, true)?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: PathBuf, bytes: Vec<u8>, shown: String, told: bool) -> Result<usize, SchemaError> {
        let text = String::from_utf8(bytes).map_err(|bad| error(&shown, not_text(bad.as_bytes())))?;
        let home = Home::Folder(path.parent().map(Path::to_path_buf).unwrap_or_default());
        self.add(path, text, Loaded { shown, told, home, ..Loaded::default() })
    }

    fn add(&mut self, key: PathBuf, text: String, mut loaded: Loaded) -> Result<usize, SchemaError> {
        let at = self.out.all.len();
        loaded.lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at.saturating_add(1))).collect();
        loaded.text = text;
        let parsed = parse::parse(&loaded.text);
        loaded.file = parsed.map_err(|fault| loaded.error(fault))?;
        self.known.insert(key, at);
        self.out.all.push(loaded);
        Ok(at)
    }

    /// Finds the imports of a file; new files queue up behind it.
    fn imports(&mut self, at: usize) -> Result<(), SchemaError> {
        let Some(loaded) = self.out.all.get(at) else { return Ok(()) };
        let (home, mut names) = (loaded.home.clone(), loaded.file.imports.clone());
        let beside = Path::new(&loaded.shown).parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        if loaded.file.streams {
            names.push(Word { text: bundle::STREAM.to_string(), at: 0 });
        }
        let (mut found, mut done) = (HashMap::new(), HashSet::new());
        for Word { text: name, at: place } in names {
            if !done.insert(name.clone()) {
                continue;
            }
            match self.import(&home, &beside, &name)? {
                Some(file) => _ = found.insert(name, file),
                None => self.missing(at, &name, place),
            }
        }
        if let Some(loaded) = self.out.all.get_mut(at) {
            loaded.imports = found;
        }
        Ok(())
    }

    /// The file that an import names, read if it is new.
    fn import(&mut self, home: &Home, beside: &str, name: &str) -> Result<Option<usize>, SchemaError> {
        match self.out.find(home, name) {
            Some(Found::File(path, shown)) => {
                let shown = shown.unwrap_or_else(|| beside_or(beside, name));
                let canonical = path.canonicalize().unwrap_or(path);
                if let Some(known) = self.known.get(&canonical) {
                    return Ok(Some(*known));
                }
                let bytes = file::bytes(&canonical, ".capnp").map_err(|problem| error(&shown, problem))?;
                self.add_file(canonical, bytes, shown, false).map(Some)
            }
            Some(Found::Bundled(name, text)) => {
                if let Some(known) = self.known.get(Path::new(name)) {
                    return Ok(Some(*known));
                }
                let loaded = Loaded { shown: name.to_string(), home: Home::Bundle(name), ..Loaded::default() };
                self.add(PathBuf::from(name), text.to_string(), loaded).map(Some)
            }
            None => Ok(None),
        }
    }

    fn missing(&mut self, at: usize, name: &str, place: usize) {
        let Some(loaded) = self.out.all.get(at) else { return };
        let finding = Finding {
            code: "import-missing",
            place: loaded.place(place),
            message: format!("\"{}\" not found in {}", name.escape_debug(), searched(&self.out.folders)),
            help: "-I DIR adds a place to look".to_string(),
        };
        self.out.missing.push(finding);
    }
}

fn beside_or(folder: &str, name: &str) -> String {
    if name.starts_with('/') { name.to_string() } else { join(folder, name) }
}

fn not_text(bytes: &[u8]) -> Problem {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
    let byte = bytes.get(at).copied().unwrap_or(0);
    file::problem(format!("is no text: byte 0x{byte:02x} at {at:#04x}"), "expected a .capnp file")
}

fn error(shown: &str, problem: Problem) -> SchemaError {
    let place = Place { file: shown.to_string(), line: 0, column: 0 };
    SchemaError { place, message: problem.message, help: problem.help }
}
