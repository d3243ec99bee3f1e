//! The files of a schema: those that were told, and all that they import.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::model::schema::{Finding, Place, SchemaError};
use crate::schema::Request;
use crate::schema::file::Problem;
use crate::schema::folders::{Folder, folders, join, searched};
use crate::schema::proto::lexer::Fault;
use crate::schema::proto::read::{self, Content};
use crate::schema::proto::source::{self, Source, line_column};
use crate::schema::proto::{bundle, desc};

/// Import cycles that are told, at most.
const CYCLES: usize = 4;

/// A file of a schema.
#[derive(Debug)]
pub struct Loaded {
    /// What it declares.
    pub file: desc::File,
    /// Its source, unless it came as a descriptor.
    pub source: Option<Source>,
    /// Its name as messages call it.
    pub shown: String,
    /// It was told, or stands in a set that was.
    pub told: bool,
    /// Its imports, in order.
    pub imports: Vec<Import>,
}

impl Loaded {
    /// A place in it, by a path in its descriptor.
    pub fn place(&self, path: &[i32]) -> Place {
        let (line, column) = self.source.as_ref().map_or((0, 0), |source| source.line_column(path));
        Place { file: self.shown.clone(), line, column }
    }
}

/// An import of a file.
#[derive(Debug)]
pub struct Import {
    /// The name that it has there.
    pub name: String,
    /// Whoever imports the file sees it too.
    pub public: bool,
    /// Only options use it: it supplies no types.
    pub option: bool,
    /// The file is there, but cannot be read; that was told.
    pub broken: bool,
    /// Position of the file; none if there is no such file.
    pub file: Option<usize>,
}

/// All files of a schema.
#[derive(Debug, Default)]
pub struct Files {
    /// The files, told ones first.
    pub files: Vec<Loaded>,
    /// Names of the files that were told.
    pub told: Vec<String>,
    /// What is odd.
    pub found: Vec<Finding>,
    /// Where imports were looked for, in words.
    pub searched: String,
}

#[derive(Debug, Default)]
struct Loader {
    out: Files,
    folders: Vec<Folder>,
    by_name: HashMap<String, Option<usize>>,
    /// Names of imported files that cannot be read.
    broken: HashSet<String>,
    by_path: HashMap<PathBuf, usize>,
    /// Files by the names that they declare: a copy of a file is the same file.
    by_types: HashMap<Vec<String>, usize>,
}

/// Reads the files of a request and all that they import.
///
/// # Errors
/// A file that was told cannot be read.
pub fn load(request: &Request) -> Result<Files, SchemaError> {
    let mut loader = Loader::default();
    for path in &request.files {
        loader.told(path, &request.include)?;
    }
    loader.folders = folders(request);
    loader.out.searched = searched(&loader.folders);
    let mut next = 0;
    while next < loader.out.files.len() {
        loader.imports_of(next);
        next = next.saturating_add(1);
    }
    loader.well_known();
    loader.cycles();
    Ok(loader.out)
}

impl Loader {
    fn told(&mut self, path: &Path, include: &[PathBuf]) -> Result<(), SchemaError> {
        let shown = path.display().to_string();
        // protoc takes names as imports have them, so a name below -I will do.
        let below = || include.iter().map(|folder| folder.join(path)).find(|path| path.is_file());
        let path = if path.exists() { path.to_path_buf() } else { below().unwrap_or_else(|| path.to_path_buf()) };
        let content = read::read(&path).map_err(|problem| error(&shown, problem))?;
        self.out.told.push(shown.clone());
        let canonical = path.canonicalize().unwrap_or(path);
        if self.by_path.contains_key(&canonical) {
            return Ok(());
        }
        match content {
            Content::Set(set) => self.set(set, &shown),
            Content::Source(text) => {
                let (file, source) = source::parse(&shown, &text).map_err(|fault| faulty(&shown, &text, fault))?;
                let at = self.add(file, Some(source), shown, true);
                self.by_path.insert(canonical, at);
            }
        }
        Ok(())
    }

    /// The files of a set; imports name them.
    fn set(&mut self, set: desc::FileSet, shown: &str) {
        for file in set.file {
            let name = file.name.clone().unwrap_or_default();
            let is_import = file.buf.as_ref().is_some_and(|buf| buf.is_import == Some(true));
            let told = !is_import && !name.starts_with("google/protobuf/");
            let shown = format!("{shown} ({})", name.escape_debug());
            if let Some(first) = self.by_name.get(&name).copied().flatten() {
                self.twice(first, &file, false, &shown);
                continue;
            }
            let at = self.add(file, None, shown, told);
            self.by_name.insert(name, Some(at));
        }
    }

    /// A file that is there already under another name or in another set.
    fn twice(&mut self, first: usize, file: &desc::File, is_source: bool, shown: &str) {
        let Some(first) = self.out.files.get(first) else { return };
        let same = first.file.message_type == file.message_type && first.file.enum_type == file.enum_type;
        // Source and descriptor of one file differ in form, so they are not compared.
        if same || first.source.is_some() != is_source {
            return;
        }
        self.out.found.push(Finding {
            code: "file-differs",
            place: Place { file: shown.to_string(), line: 0, column: 0 },
            message: format!("declares the types of {}, but not as that file does", first.shown),
            help: "the first one is used".into(),
        });
    }

    fn add(&mut self, file: desc::File, source: Option<Source>, shown: String, told: bool) -> usize {
        let at = self.out.files.len();
        self.by_types.entry(types(&file)).or_insert(at);
        if let Some(newer) = source.as_ref().and_then(|source| source.newer.clone()) {
            let (line, column) = (1, 1);
            self.out.found.push(newer_edition(Place { file: shown.clone(), line, column }, &newer));
        } else if source.is_none()
            && let Some(edition) = file.edition.filter(|edition| *edition > crate::schema::proto::features::NEWEST)
        {
            let place = Place { file: shown.clone(), ..Place::default() };
            self.out.found.push(newer_edition(place, &edition.to_string()));
        }
        self.out.files.push(Loaded { file, source, shown, told, imports: Vec::new() });
        at
    }

    /// Finds the imports of a file; new files queue up behind it.
    fn imports_of(&mut self, at: usize) {
        let Some(loaded) = self.out.files.get(at) else { return };
        let public: HashSet<usize> =
            loaded.file.public_dependency.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
        let options = loaded.source.as_ref().map_or(Vec::new(), |source| source.option_imports.clone());
        let names = loaded.file.dependency.clone();
        let imports = names.into_iter().enumerate().map(|(place, name)| {
            let file = self.import(&name);
            let (option, broken) = (options.contains(&place), self.broken.contains(&name));
            Import { name, public: public.contains(&place), option, broken, file }
        });
        let imports: Vec<Import> = imports.collect();
        if let Some(loaded) = self.out.files.get_mut(at) {
            loaded.imports = imports;
        }
    }

    fn import(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let found = self.in_folders(name).or_else(|| self.in_bundle(name));
        self.by_name.insert(name.to_string(), found);
        found
    }

    fn in_folders(&mut self, name: &str) -> Option<usize> {
        // Folders stand for the root of import paths: no import leads out of them.
        if Path::new(name).is_absolute() || name.split('/').any(|part| part == "..") {
            return None;
        }
        let (path, shown) = self.folders.iter().find_map(|folder| {
            let path = folder.path.join(name);
            path.is_file().then(|| (path, join(&folder.shown, name)))
        })?;
        let canonical = path.canonicalize().unwrap_or(path);
        if let Some(at) = self.by_path.get(&canonical) {
            return Some(*at);
        }
        let (file, source) = self.parsed(&canonical, name, &shown)?;
        let types = types(&file);
        if let Some(first) = self.by_types.get(&types).copied().filter(|_| !types.is_empty()) {
            self.twice(first, &file, true, &shown);
            return Some(first);
        }
        let at = self.add(file, Some(source), shown, false);
        self.by_path.insert(canonical, at);
        Some(at)
    }

    /// An imported file; one that cannot be read counts as missing.
    fn parsed(&mut self, path: &Path, name: &str, shown: &str) -> Option<(desc::File, Source)> {
        let error = match read::read(path) {
            Ok(Content::Source(text)) => match source::parse(name, &text) {
                Ok(parsed) => return Some(parsed),
                Err(fault) => faulty(shown, &text, fault),
            },
            Ok(Content::Set(_)) => error(
                shown,
                Problem { message: "is a set of descriptors, not source".into(), help: String::new(), absent: false },
            ),
            Err(problem) => error(shown, problem),
        };
        let help = if error.help.is_empty() { "it is left out".to_string() } else { error.help };
        self.broken.insert(name.to_string());
        self.out.found.push(Finding { code: "import-broken", place: error.place, message: error.message, help });
        None
    }

    fn in_bundle(&mut self, name: &str) -> Option<usize> {
        let (file, source) = source::parse(name, bundle::text(name)?).ok()?;
        if let Some(first) = self.by_types.get(&types(&file)) {
            return Some(*first);
        }
        Some(self.add(file, Some(source), name.to_string(), false))
    }

    /// An `Any` may hold them whether or not they are imported.
    fn well_known(&mut self) {
        let mut declared = HashSet::new();
        for loaded in &self.out.files {
            declared.extend(types(&loaded.file));
        }
        for (name, one) in bundle::WELL_KNOWN {
            if !declared.contains(one) {
                self.by_name.remove(name);
                self.in_bundle(name);
            }
        }
    }

    /// Tells files that import each other; types are found all the same.
    fn cycles(&mut self) {
        let mut state: Vec<u8> = vec![0; self.out.files.len()];
        let mut told = Vec::new();
        for start in 0..state.len() {
            let mut stack = vec![(start, 0usize)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 {
                    if state.get(at) != Some(&0) {
                        continue;
                    }
                    set(&mut state, at, 1);
                }
                let Some(import) = self.out.files.get(at).and_then(|loaded| loaded.imports.get(next)) else {
                    set(&mut state, at, 2);
                    continue;
                };
                stack.push((at, next.saturating_add(1)));
                let Some(file) = import.file else { continue };
                if state.get(file) == Some(&1) {
                    told.push((file, at, next, stack.iter().map(|(at, _)| *at).collect::<Vec<_>>()));
                } else {
                    stack.push((file, 0));
                }
            }
        }
        for (first, at, import, stack) in told.into_iter().take(CYCLES) {
            self.cycle(first, at, import, &stack);
        }
    }

    fn cycle(&mut self, first: usize, at: usize, import: usize, stack: &[usize]) {
        let shown = |at: usize| self.out.files.get(at).map_or("", |loaded| loaded.shown.as_str());
        let chain: Vec<&str> = stack.iter().skip_while(|at| **at != first).map(|at| shown(*at)).collect();
        let path = [3, i32::try_from(import).unwrap_or(0)];
        let place = self.out.files.get(at).map(|loaded| loaded.place(&path)).unwrap_or_default();
        let message = match chain.as_slice() {
            [own] => format!("{own} imports itself"),
            _ => format!("{} imports {} again", chain.join(" imports "), shown(first)),
        };
        self.out.found.push(Finding { code: "import-cycle", place, message, help: "protoc refuses this".into() });
    }
}

fn set(state: &mut [u8], at: usize, to: u8) {
    if let Some(entry) = state.get_mut(at) {
        *entry = to;
    }
}

fn newer_edition(place: Place, name: &str) -> Finding {
    Finding {
        code: "edition-newer",
        place,
        message: format!("edition {name} is newer than this program: read with the defaults of 2026"),
        help: String::new(),
    }
}

/// Full names of what a file declares at its top, sorted.
fn types(file: &desc::File) -> Vec<String> {
    let names = file.message_type.iter().map(|record| &record.name).chain(file.enum_type.iter().map(|one| &one.name));
    let package = file.package.as_deref().unwrap_or("");
    let full = |name: &str| if package.is_empty() { name.to_string() } else { format!("{package}.{name}") };
    let mut names: Vec<String> = names.flatten().map(|name| full(name)).collect();
    names.sort();
    names
}

fn error(shown: &str, problem: Problem) -> SchemaError {
    let place = Place { file: shown.to_string(), line: 0, column: 0 };
    SchemaError { place, message: problem.message, help: problem.help }
}

fn faulty(shown: &str, text: &str, fault: Fault) -> SchemaError {
    let (line, column) = line_column(text, fault.at);
    let place = Place { file: shown.to_string(), line, column };
    SchemaError { place, message: fault.message, help: fault.help.to_string() }
}
