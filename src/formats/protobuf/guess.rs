//! What LEN content is where no schema tells: text, a message, a packed run, or bytes.
//!
//! Content is judged whole, up to [`crate::model::limits::PIECE`] bytes of it, once for each field. What
//! earlier elements in the same place were taken for counts.

use crate::model::events::Reading;

/// A reading of LEN content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guess {
    /// UTF-8 that people read.
    Text,
    /// Fields.
    Message,
    /// Varints, one behind the other.
    Varints,
    /// Groups of four bytes.
    Fixed32,
    /// Groups of eight bytes.
    Fixed64,
    /// Anything.
    Bytes,
}

/// What was made of some content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The reading to show.
    pub best: Guess,
    /// A rival is close.
    pub doubt: bool,
    /// The readings that are not trivial, the best first; empty where there is no rival, or no words are wanted.
    pub readings: Vec<Reading>,
    /// Why the best one was taken, for a note; empty where there is nothing to say.
    pub why: String,
}

/// What content in each place was taken for so far.
#[derive(Debug, Default)]
pub struct Memory {}

/// Judges the content of one field. `complete`: it is all there; else it is only the beginning. `place`:
/// the same number for fields of the same path of field numbers. `words`: readings and reasons are wanted.
pub fn judge(_content: &[u8], _complete: bool, _place: u64, _memory: &mut Memory, _words: bool) -> Judged {
    Judged { best: Guess::Bytes, doubt: false, readings: Vec::new(), why: String::new() }
}
