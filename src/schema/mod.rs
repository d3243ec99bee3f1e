//! Schema files: found, read, and turned into [`crate::model::schema`].
//!
//! One folder a language. Formats never read a schema file: they get the finished [`Schema`], so that two
//! formats that share a language (Protobuf and OmniBuf) share its reader.

use std::path::{Path, PathBuf};

use crate::model::schema::{Language, Schema, SchemaError};

mod capnp;
mod fbs;
mod file;
mod folders;
mod proto;

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Files that were told.
    pub files: Vec<PathBuf>,
    /// Folders to look for imports in, before the usual ones.
    pub include: Vec<PathBuf>,
}

/// Reads schema files: one schema a language, in the order in which the languages are told. The well-known types
/// of Protobuf are in its schema even if no file imports them: an `Any` may hold them.
///
/// # Errors
/// A file that is not there, or that cannot be read at all.
pub fn load(request: &Request) -> Result<Vec<Schema>, SchemaError> {
    let mut parts: Vec<(Language, Vec<PathBuf>)> = Vec::new();
    for file in &request.files {
        let language = language(file);
        match parts.iter_mut().find(|(known, _)| *known == language) {
            Some((_, files)) => files.push(file.clone()),
            None => parts.push((language, vec![file.clone()])),
        }
    }
    let mut schemas = Vec::new();
    for (language, files) in parts {
        let request = Request { files, include: request.include.clone() };
        schemas.push(match language {
            Language::Proto => proto::load(&request)?,
            Language::Fbs => fbs::load(&request)?,
            Language::Capnp => capnp::load(&request)?,
        });
    }
    Ok(schemas)
}

/// The language of a file, by the end of its name; compiled Cap'n Proto has no name of its own.
fn language(file: &Path) -> Language {
    match file.extension().and_then(|end| end.to_str()) {
        Some("fbs" | "bfbs") => Language::Fbs,
        Some("capnp" | "cgr") => Language::Capnp,
        Some("proto") => Language::Proto,
        _ if capnp::is_compiled(file) => Language::Capnp,
        _ => Language::Proto,
    }
}
