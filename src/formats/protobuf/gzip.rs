//! The content of compressed frames, undone: for the walk, for values, and for choosing a type, which must
//! all see the same bytes.

use std::io::{self, Read as _};

use flate2::read::MultiGzDecoder;

/// What gzip holds, at most so many bytes of it, and what ended it early; what came before damage stays.
pub fn inflated(bytes: &[u8], most: u64) -> (Vec<u8>, Option<io::Error>) {
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most).read_to_end(&mut out);
    (out, read.err())
}
