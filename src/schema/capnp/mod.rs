//! Cap'n Proto schemas: `.capnp` source, and the CodeGeneratorRequest that `capnp compile -o-` writes.
//!
//! ```text
//! files        those that were told, and what they import, from folders and from bundle
//! lexer        source as tokens          expr, parse   tokens as declarations (ast)
//! nodes        declarations numbered: check, ids
//! link         names resolved (types): structs, methods, annotations, then values
//! layout       where fields stand
//! generics     generic structs written out for the bindings they are used with
//! ```

use crate::model::schema::{Schema, SchemaError};
use crate::schema::Request;

mod annotations;
mod ast;
mod bundle;
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

/// Reads Cap'n Proto schemas.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    let (capnp, findings) = link::load(&request.files, &request.include)?;
    let told = request.files.iter().map(|path| path.display().to_string()).collect();
    Ok(Schema::of_capnp(capnp, told, findings))
}
