//! Protobuf schemas: `.proto` source of proto2, proto3 and editions, and sets of descriptors.
//!
//! ```text
//! read      a file's bytes: source, descriptors, or a sentence on what else it is
//! source    source as a descriptor: lexer (guard), editions (rewritten as proto2), protox-parse
//! files     imports, from folders and from bundle
//! link      descriptors of all files as one Schema: names, features
//! ```
//!
//! The linker is our own, so that what only options need is never asked for, and what cannot be found is a
//! warning and a field of bytes.

use crate::model::schema::{Schema, SchemaError};
use crate::schema::Request;

mod bundle;
mod desc;
mod editions;
mod facts;
mod features;
mod files;
mod lexer;
mod link;
mod names;
mod read;
mod source;
#[cfg(test)]
mod tests;

/// Reads Protobuf schemas.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    link::link(files::load(request)?)
}
