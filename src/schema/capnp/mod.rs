//! Cap'n Proto schemas: `.capnp` source, and the CodeGeneratorRequest that `capnp compile -o-` writes.
//!
//! ```text
//! generics  generic structs written out for the bindings they are used with
//! ```

use crate::model::schema::{Schema, SchemaError};
use crate::schema::Request;

mod generics;

/// Reads Cap'n Proto schemas.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(_request: &Request) -> Result<Schema, SchemaError> {
    Ok(Schema::of_capnp(Default::default(), Vec::new(), Vec::new()))
}
