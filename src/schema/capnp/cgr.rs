//! A CodeGeneratorRequest, the compiled form of a Cap'n Proto schema: what `capnp compile -o-` writes, plain or
//! packed. Itself a message, of the type that `schema.capnp` declares; read by the library for it.
//!
//! ```text
//! nodes    declarations numbered as they stand in one another
//! types    types, and what type parameters are bound to
//! fill     fields, enumerants, methods, annotations, documentation
//! values   defaults, constants, values of annotations; when all structs are there
//! ```

use std::collections::HashSet;
use std::fmt;

use capnp::message::{Reader, ReaderOptions};
use capnp::schema_capnp::{code_generator_request, node};
use capnp::serialize::OwnedSegments;
use capnp::{serialize, serialize_packed};

use crate::model::capnp::Capnp;
use crate::model::limits;
use crate::model::schema::{Place, SchemaError};
use crate::schema::capnp::link;

mod fill;
mod nodes;
#[cfg(test)]
mod tests;
mod types;
mod values;

/// Pointers within each other: types and values nest no deeper than source may have them, a few pointers a level.
const NESTING: i32 = 1024;

/// Words that a packed request may unpack to: 64 MiB, as a schema file may have.
const UNPACKED: usize = 8 << 20;

/// How often each word may be read: the same node is asked for its parts several times.
const VISITS: usize = 32;

/// What is wrong with a request, in a sentence that begins behind its name.
#[derive(Debug)]
struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<capnp::Error> for Broken {
    fn from(error: capnp::Error) -> Broken {
        let text = error.to_string();
        Broken(format!("is damaged: {}", text.lines().next().unwrap_or("").trim_end_matches(['.', ':'])))
    }
}

impl From<capnp::NotInSchema> for Broken {
    fn from(error: capnp::NotInSchema) -> Broken {
        Broken(format!("expected a kind of declaration, type or value that is known, here is number {}", error.0))
    }
}

type Request = Reader<OwnedSegments>;

/// Whether bytes are a request: the files that it was made for are among its declarations. Any other message may
/// be taken for one of empty lists.
pub fn is_request(bytes: &[u8]) -> bool {
    // Neither text nor descriptors of Protobuf begin with the number of segments, nor with how that is packed.
    let flat = bytes.get(1..4).is_some_and(|high| matches!(high, [0 | 1, 0, 0]));
    let names_files = |request: &Request| names_its_files(request).unwrap_or(false);
    (flat && plain(bytes).is_ok_and(|request| names_files(&request)))
        || packed(bytes).is_some_and(|request| names_files(&request))
}

fn names_its_files(request: &Request) -> capnp::Result<bool> {
    let request = request.get_root::<code_generator_request::Reader<'_>>()?;
    let is_file = |node: &node::Reader<'_>| matches!(node.which(), Ok(node::File(())));
    let files: HashSet<u64> = request.get_nodes()?.iter().filter(is_file).map(|node| node.get_id()).collect();
    let requested = request.get_requested_files()?;
    Ok(!requested.is_empty() && requested.iter().all(|file| files.contains(&file.get_id())))
}

fn options(words: usize) -> ReaderOptions {
    let limit =
        words.saturating_add(usize::try_from(limits::CAPNP_SEGMENTS).unwrap_or(usize::MAX)).saturating_mul(VISITS);
    ReaderOptions { traversal_limit_in_words: Some(limit), nesting_limit: NESTING }
}

fn plain(bytes: &[u8]) -> capnp::Result<Request> {
    // The table of segments may not ask for more memory than there are bytes.
    serialize::read_message(bytes, options(bytes.len() / 8))
}

fn packed(bytes: &[u8]) -> Option<Request> {
    // The first word has a byte or two for the number of segments and up to four for the size of the first.
    let tag = *bytes.first()?;
    if tag & 0b1110 != 0 || tag & 0b1111_0000 == 0 {
        return None;
    }
    serialize_packed::read_message(bytes, options(UNPACKED / VISITS)).ok()
}

/// Reads a request; `name` is that of the file, for errors.
///
/// # Errors
/// It is no request, or contradicts itself.
pub fn read(bytes: &[u8], name: &str) -> Result<Capnp, SchemaError> {
    request(bytes).map_err(|broken| SchemaError {
        place: Place { file: name.to_string(), ..Place::default() },
        message: broken.to_string(),
        help: "expected what `capnp compile -o-` writes".into(),
    })
}

fn request(bytes: &[u8]) -> Result<Capnp, Broken> {
    let request = match packed(bytes) {
        Some(request) => request,
        None => plain(bytes)?,
    };
    if !names_its_files(&request)? {
        return Err(Broken("is a message, but none that tells of the files of a schema".into()));
    }
    let request = request.get_root::<code_generator_request::Reader<'_>>()?;
    let (mut capnp, values) = fill::fill(nodes::number(request)?, request)?;
    values::read(&mut capnp, values)?;
    link::copy_values(&mut capnp);
    Ok(capnp)
}
