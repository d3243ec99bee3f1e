//! Every limit of the project, with its reason.

/// MessagePack: the depth at which common readers stop (msgpack-python 1,024, rmpv 1,024, others 512).
pub const MSGPACK_DEPTH: usize = 512;

/// Protobuf: messages within each other that the C++, Java and Python readers take.
pub const PROTOBUF_DEPTH: usize = 100;

/// Protobuf: bytes that the compressed frames of one input may have together once they are undone.
pub const INFLATED: u64 = 256 * 1024 * 1024;

/// FlatBuffers: tables within each other that the official verifiers take.
pub const FLATBUFFERS_DEPTH: usize = 64;

/// FlatBuffers: tables that the official verifiers visit; one that several offsets lead to counts each time.
pub const FLATBUFFERS_TABLES: u64 = 1_000_000;

/// Cap'n Proto: pointers within each other that readers follow (`nestingLimit`).
pub const CAPNP_DEPTH: usize = 64;

/// Cap'n Proto: words that readers follow pointers to (`traversalLimitInWords`); one that several pointers lead to
/// counts each time, and so does each element without a size.
pub const CAPNP_TRAVERSAL: u64 = 8 * 1024 * 1024;

/// Cap'n Proto: segments of a message that readers take.
pub const CAPNP_SEGMENTS: u64 = 512;

/// Cap'n Proto: bytes that a packed input may unpack to, twice what [`CAPNP_TRAVERSAL`] lets readers visit.
pub const CAPNP_UNPACKED: u64 = 128 * 1024 * 1024;

/// JSON: common readers stop between 128 (serde_json) and 10,000 (Go).
pub const JSON_DEPTH: usize = 512;

/// Diagnostics that are told one by one; the rest is counted.
pub const DIAGNOSTICS: u64 = 100;

/// Warnings and notes that are told one by one; the rest of [`DIAGNOSTICS`] is kept for errors.
pub const DIAGNOSTICS_BELOW_ERROR: u64 = 80;

/// Bytes of one leaf that are handed over at once; what follows comes in pieces of this size.
/// Bounds memory whatever lengths an input announces.
pub const PIECE: usize = 64 * 1024;

/// Bytes from which format, variant and text encoding are chosen.
pub const SAMPLE: usize = 1024 * 1024;

/// Keys of all open maps that are remembered to find one that stands twice: about 40 bytes each.
pub const REMEMBERED_KEYS: usize = 256 * 1024;

/// Field paths that a ledger keeps apart; the rest goes into one line.
pub const LEDGER_PATHS: usize = 10_000;

/// Characters of a name that a path repeats.
pub const PATH_NAME: usize = 80;

/// Characters of a text longer than [`PIECE`] that a row repeats.
pub const LONG_TEXT: usize = 200;

/// Deepest nesting that `--limit-depth` may ask for: paths grow with the depth, and output with both.
pub const DEEPEST: usize = 10_000;

/// Rows of a dump up to which a terminal gets all of it and not the overview.
pub const ROWS_ON_A_SCREEN: u64 = 300;

/// Bytes of a text whose encoding is undone: it is held whole, and its map takes up to 20 times its size.
pub const TEXT_INPUT: u64 = 64 * 1024 * 1024;
