//! FlatBuffers schemas: `.fbs` source as flatc 25.12 takes it, and the compiled `.bfbs`.
//!
//! ```text
//! files     those that were told, and what they include
//! lexer     source as tokens          parse   tokens as declarations (ast), numbers
//! order     what a name stands for at its place
//! link      declarations as one model: enums, fields, attributes, and layout, the places of struct members
//! defaults  defaults of fields
//! asked     what attributes ask for that cannot be
//! bfbs      what `flatc -b --schema` writes, as the same model
//! ```

use crate::model::schema::{Schema, SchemaError};
use crate::schema::Request;

mod asked;
mod ast;
mod attributes;
mod bfbs;
mod defaults;
mod enums;
mod fields;
mod files;
mod layout;
mod lexer;
mod link;
mod numbers;
mod order;
mod parse;

/// Reads FlatBuffers schemas.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    link::link(files::load(request)?)
}
