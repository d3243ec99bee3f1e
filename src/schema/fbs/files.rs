//! The files of a FlatBuffers schema: those that were told, and all that they include.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::model::flat::Flat;
use crate::model::schema::{Finding, Place, SchemaError};
use crate::schema::Request;
use crate::schema::fbs::ast;
use crate::schema::fbs::lexer::{Fault, line_column};
use crate::schema::fbs::{bfbs, parse};
use crate::schema::file::{self, Problem};
use crate::schema::folders::{Folder, folders, join, searched};

/// A file that was read.
#[derive(Debug)]
pub struct Loaded {
    /// What it declares.
    pub file: ast::File,
    /// Its text.
    pub text: String,
    /// Its name as messages call it.
    pub shown: String,
    /// It was told, not only included.
    pub told: bool,
    /// Its number among the files.
    pub number: usize,
    /// Numbers of the files that it includes.
    pub includes: Vec<usize>,
    /// Attributes that are declared in it or in front of it, with the place from which on they are known in it.
    pub declared: HashMap<String, usize>,
}

impl Loaded {
    /// A place in it.
    pub fn place(&self, at: usize) -> Place {
        let (line, column) = line_column(&self.text, at);
        Place { file: self.shown.clone(), line, column }
    }

    /// A fault in it as an error.
    pub fn error(&self, fault: Fault) -> SchemaError {
        SchemaError { place: self.place(fault.at), message: fault.message, help: fault.help }
    }
}

/// All files of a schema.
#[derive(Debug, Default)]
pub struct Files {
    /// Source, told files first.
    pub sources: Vec<Loaded>,
    /// Numbers of the files as flatc reads them: what a file includes comes in front of it.
    pub order: Vec<usize>,
    /// Compiled schemas that were told.
    pub compiled: Vec<Flat>,
    /// Names of the files that were told.
    pub told: Vec<String>,
    /// Includes that were not found.
    pub missing: Vec<Finding>,
    /// What else is odd.
    pub found: Vec<Finding>,
}

struct Loader {
    out: Files,
    folders: Vec<Folder>,
    known: HashMap<PathBuf, usize>,
    /// Folder of each file, for its own includes.
    own: Vec<PathBuf>,
}

/// Reads the files of a request and all that they include.
///
/// # Errors
/// A file cannot be read, or is no schema.
pub fn load(request: &Request) -> Result<Files, SchemaError> {
    let mut loader =
        Loader { out: Files::default(), folders: folders(request), known: HashMap::new(), own: Vec::new() };
    for path in &request.files {
        loader.told(path)?;
    }
    let mut next = 0;
    while next < loader.out.sources.len() {
        loader.includes(next)?;
        next = next.saturating_add(1);
    }
    let mut files = loader.out;
    files.order = order(&files.sources);
    declare(&mut files);
    files.found = files.sources.iter().filter_map(data).collect();
    Ok(files)
}

/// Includes first, each file once.
fn order(sources: &[Loaded]) -> Vec<usize> {
    let (mut order, mut begun) = (Vec::new(), vec![false; sources.len()]);
    for first in 0..sources.len() {
        // Files that wait for what they include, with the next include to look at.
        let mut stack = vec![(first, 0usize)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 && begun.get(at).copied().unwrap_or(true) {
                continue;
            }
            if let Some(begun) = begun.get_mut(at) {
                *begun = true;
            }
            match sources.get(at).and_then(|loaded| loaded.includes.get(next)) {
                Some(include) => {
                    stack.push((at, next.saturating_add(1)));
                    stack.push((*include, 0));
                }
                None => order.push(at),
            }
        }
    }
    order
}

/// Tells each file the attributes that are declared when it is read.
fn declare(files: &mut Files) {
    let mut known: HashMap<String, usize> = HashMap::new();
    for number in &files.order {
        let Some(loaded) = files.sources.get_mut(*number) else { continue };
        let mut declared = known.clone();
        for (name, at) in &loaded.file.attributes {
            declared.entry(name.clone()).or_insert(*at);
            known.insert(name.clone(), 0);
        }
        loaded.declared = declared;
    }
}

/// Data in JSON inside a schema: passed by.
fn data(loaded: &Loaded) -> Option<Finding> {
    Some(Finding {
        code: "schema-data",
        place: loaded.place(loaded.file.data?),
        message: "data in JSON behind the declarations is passed by, right or wrong".to_string(),
        help: "flatc reads it: keep schema and data in files of their own".to_string(),
    })
}

impl Loader {
    fn told(&mut self, path: &Path) -> Result<(), SchemaError> {
        let shown = path.display().to_string();
        // A name below -I will do.
        let below = || self.folders.iter().map(|folder| folder.path.join(path)).find(|path| path.is_file());
        let path = if path.exists() { path.to_path_buf() } else { below().unwrap_or_else(|| path.to_path_buf()) };
        let bytes = file::bytes(&path, ".fbs").map_err(|problem| error(&shown, problem))?;
        self.out.told.push(shown.clone());
        if bfbs::is_bfbs(&bytes) {
            let flat = bfbs::read(&bytes).map_err(|message| error(&shown, file::problem(message, "")))?;
            self.out.compiled.push(flat);
            return Ok(());
        }
        let canonical = path.canonicalize().unwrap_or(path);
        if self.known.contains_key(&canonical) {
            return Ok(());
        }
        self.add(canonical, bytes, shown, true)
    }

    fn add(&mut self, path: PathBuf, bytes: Vec<u8>, shown: String, told: bool) -> Result<(), SchemaError> {
        let text = String::from_utf8(bytes).map_err(|bad| error(&shown, not_text(bad.as_bytes())))?;
        let parsed = parse::parse(&text);
        let number = self.out.sources.len();
        let (includes, declared) = (Vec::new(), HashMap::new());
        let mut loaded = Loaded { file: ast::File::default(), text, shown, told, number, includes, declared };
        loaded.file = parsed.map_err(|fault| loaded.error(fault))?;
        self.own.push(path.parent().map(Path::to_path_buf).unwrap_or_default());
        self.known.insert(path, self.out.sources.len());
        self.out.sources.push(loaded);
        Ok(())
    }

    /// Finds the includes of a file; new files queue up behind it.
    fn includes(&mut self, at: usize) -> Result<(), SchemaError> {
        let Some(loaded) = self.out.sources.get(at) else { return Ok(()) };
        let names = loaded.file.includes.clone();
        let beside = Path::new(&loaded.shown).parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        for (name, place) in names {
            let own = self.own.get(at).map(|folder| (folder.join(&name), join(&beside, &name)));
            let there = own.filter(|(path, _)| path.is_file()).or_else(|| self.in_folders(&name));
            let Some((path, shown)) = there else {
                self.missing(at, &name, place);
                continue;
            };
            let canonical = path.canonicalize().unwrap_or(path);
            if let Some(number) = self.known.get(&canonical).copied() {
                self.include(at, number);
                continue;
            }
            self.include(at, self.out.sources.len());
            let bytes = file::bytes(&canonical, ".fbs").map_err(|problem| error(&shown, problem))?;
            self.add(canonical, bytes, shown, false)?;
        }
        Ok(())
    }

    fn include(&mut self, at: usize, number: usize) {
        if let Some(loaded) = self.out.sources.get_mut(at) {
            loaded.includes.push(number);
        }
    }

    fn in_folders(&self, name: &str) -> Option<(PathBuf, String)> {
        self.folders.iter().find_map(|folder| {
            let path = folder.path.join(name);
            path.is_file().then(|| (path, join(&folder.shown, name)))
        })
    }

    fn missing(&mut self, at: usize, name: &str, place: usize) {
        let Some(loaded) = self.out.sources.get(at) else { return };
        self.out.missing.push(Finding {
            code: "include-missing",
            place: loaded.place(place),
            message: format!("\"{}\" not found in {}", name.escape_debug(), searched(&self.folders)),
            help: "-I DIR adds a place to look".to_string(),
        });
    }
}

fn not_text(bytes: &[u8]) -> Problem {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
    let byte = bytes.get(at).copied().unwrap_or(0);
    file::problem(
        format!("is no text: byte 0x{byte:02x} at {at:#04x}"),
        "expected a .fbs file, or a .bfbs as `flatc -b --schema` writes it",
    )
}

fn error(shown: &str, problem: Problem) -> SchemaError {
    let place = Place { file: shown.to_string(), line: 0, column: 0 };
    SchemaError { place, message: problem.message, help: problem.help }
}
