//! FlatBuffers schemas: `.fbs` source, and the compiled `.bfbs`.
//!
//! ```text
//! bfbs      what `flatc -b --schema` writes, as the model
//! ```

use crate::model::schema::{Place, Schema, SchemaError};
use crate::schema::Request;

mod bfbs;

/// Reads FlatBuffers schemas.
///
/// # Errors
/// A file that was told is not there, is no schema, or contradicts itself.
pub fn load(request: &Request) -> Result<Schema, SchemaError> {
    let mut loaded = Vec::new();
    for path in &request.files {
        let shown = path.display().to_string();
        let error = |message: String| SchemaError {
            place: Place { file: shown.clone(), ..Place::default() },
            message,
            help: String::new(),
        };
        let bytes = std::fs::read(path).map_err(|problem| error(problem.to_string()))?;
        if !bfbs::is_bfbs(&bytes) {
            return Err(error("is no .bfbs".to_string()));
        }
        loaded.push((bfbs::read(&bytes).map_err(error)?, shown.clone()));
    }
    let files = loaded.iter().map(|(_, shown)| shown.clone()).collect();
    let flat = loaded.into_iter().next().map(|(flat, _)| flat).unwrap_or_default();
    Ok(Schema::of_flat(flat, files, Vec::new()))
}
