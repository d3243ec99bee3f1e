//! Schema files: found, read, and turned into [`crate::model::schema`].
//!
//! One folder a language. Formats never read a schema file: they get the finished [`Schema`], so that two
//! formats that share a language (Protobuf and OmniBuf) share its reader.

use std::path::PathBuf;

use crate::model::schema::{Schema, SchemaError};

mod proto;

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Files that were told.
    pub files: Vec<PathBuf>,
    /// Folders to look for imports in, before the usual ones.
    pub include: Vec<PathBuf>,
}

/// Reads schema files of one language into one schema. The well-known types of Protobuf are in it even if no
/// file imports them: an `Any` may hold them.
///
/// # Errors
/// A file that is not there, or that cannot be read at all.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    proto::load(request)
}
