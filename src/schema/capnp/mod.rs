//! Cap'n Proto schemas: `.capnp` source, and the CodeGeneratorRequest that `capnp compile -o-` writes.
//!
//! ```text
//! files        those that were told, and what they import, from folders and from bundle
//! lexer        source as tokens          expr, parse   tokens as declarations (ast)
//! nodes        declarations numbered: check, ids
//! link         names resolved (types): structs, methods, annotations, then values
//! layout       where fields stand
//! generics     generic structs written out for the bindings they are used with
//! cgr          the compiled form
//! ```

use std::path::Path;

use crate::model::capnp::Capnp;
use crate::model::schema::{Place, Schema, SchemaError};
use crate::schema::Request;
use crate::schema::file::{self, Problem};

mod annotations;
mod ast;
mod bundle;
mod cgr;
mod check;
mod expr;
mod files;
mod generics;
mod ids;
mod layout;
mod lexer;
mod link;
mod methods;
mod nodes;
mod parse;
mod structs;
#[cfg(test)]
mod tests;
mod types;
mod values;

/// Reads Cap'n Proto schemas, source and compiled.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    let told = request.files.iter().map(|path| path.display().to_string()).collect();
    let (compiled, source): (Vec<_>, Vec<_>) = request.files.iter().cloned().partition(|path| is_compiled(path));
    let (mut capnp, mut findings) = (Capnp::default(), Vec::new());
    if !source.is_empty() {
        (capnp, findings) = link::load(&source, &request.include)?;
    }
    for path in compiled {
        let shown = path.display().to_string();
        let other = match file::bytes(&path, ".capnp") {
            Ok(bytes) => cgr::read(&bytes, &shown)?,
            Err(Problem { message, help, .. }) => {
                return Err(SchemaError { place: Place { file: shown, ..Place::default() }, message, help });
            }
        };
        capnp = other;
    }
    Ok(Schema::of_capnp(capnp, told, findings))
}

/// Whether a file is a compiled schema: by its bytes, or because its name says it.
pub fn is_compiled(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    name.ends_with(".cgr")
        || name.ends_with(".capnp.bin")
        || file::bytes(path, ".capnp").is_ok_and(|bytes| cgr::is_request(&bytes))
}
