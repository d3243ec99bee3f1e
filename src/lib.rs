//! # wireinspect
//!
//! Shows what every byte of a binary message is. This page is the map of the code; the public interface
//! of the project is its command line.
//!
//! ## How an input becomes a dump
//!
//! ```text
//! cli::input        a file, a pipe, bytes in an argument        -> wire::reader::Window
//! inspect           undoes text encodings (framing), chooses the format (formats::*::detect)
//! formats::*        walks the bytes and reports groups, leaves, values, findings
//!                                                               -> model::events::Sink
//! inspect (Guard)   checks on the way: leaves partition the layer, groups nest, no flood of findings
//! render, convert   are sinks: rows of a dump, spans as JSON, another format
//! ```
//!
//! Where a schema says what the bytes mean (`-s`, read by [`schema`]), the decoder says it with the leaves
//! (`Sink::say`): names, types, rival readings. Values of such formats come apart from the walk
//! ([`formats::Format::values`]), merged as the format's readers merge them.
//!
//! Nothing is kept that nobody keeps: a decoder reports events in the order of the bytes, and a sink
//! decides what it remembers. So a dump of a 100 MB file needs the memory of one row. A value too long to
//! hold comes in pieces.
//!
//! ## The rooms
//!
//! - [`model`]: leaves and groups, events, values, findings, limits. Knows no input and no format.
//! - [`schema`]: schema files, found, read and made into one [`model::schema::Schema`]; one folder a language.
//!   `schema::fbs` reads `.fbs` and `.bfbs`; what FlatBuffers need beyond that, slots and offsets and defaults, it
//!   lays down in [`model::flat`]. `schema::capnp` reads `.capnp` and lays fields out in words as the compiler
//!   does, `schema::capnp::cgr` reads what the compiler wrote; both make a [`model::capnp`].
//! - [`wire`]: the window on the input, the only code that slices it.
//! - [`formats`]: one folder a format, each with the same files: `wire` (the standard's numbers and
//!   names), `decode` (the walk), `words` (how leaves are told), `encode`, `detect`, `format.md`.
//!   `formats::flatbuffers` walks twice: `objects` follows the offsets and finds what there is (`found`), then
//!   `decode` tells it in the order of the file through `tell`; `guess` stands in for a schema.
//!   `formats::capnp` does the same with pointers; `packed` is its outer layer, read, and `pack` writes it. What
//!   such formats share lies in `formats::scattered`, what writers share in `formats::here` and `formats::target`.
//! - [`framing`]: what stands around a message: text that holds bytes, and files of other kinds by name.
//! - [`inspect`]: the driver.
//! - [`size`], [`convert`], [`render`]: ledgers, conversions, output. `render::blocks` puts rows in the order in
//!   which a reader reaches the objects, where that is wanted.
//! - [`cli`]: the command line, the only room that knows clap.
//!
//! Calls go one way: cli -> render, size, convert -> inspect -> framing, formats -> wire -> model, and
//! cli, inspect -> schema -> model. Formats never call each other; a test holds all of that.
//!
//! ## A new format
//!
//! A folder in `src/formats/` with the files named above, a `mod` line and an entry in [`formats::ALL`]. It
//! implements [`formats::Format`]; its findings get codes in [`model::diag`] and its depth a line in
//! [`model::limits`]. Names, help, completions, README's table, detection and the tests of the invariants
//! follow.

pub mod cli;
pub mod convert;
pub mod formats;
pub mod framing;
pub mod inspect;
pub mod model;
pub mod render;
pub mod schema;
pub mod size;
pub mod wire;
