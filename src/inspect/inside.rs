//! Whether what a text holds in a notation fits a format better than the text itself does.

use super::{CHOSEN_SCORE, NOT_A_WORD, Options, rank};
use crate::formats::plain::PLAIN_TEXT;
use crate::formats::{Candidate, Sample};
use crate::framing::text::{Encoding, Undone};
use crate::model::limits;

/// The best reading of what a text holds in a notation, but as text.
fn best_inside(undone: &Undone, options: &Options, complete: bool) -> Option<Candidate> {
    let bytes = undone.bytes.get(..limits::SAMPLE).unwrap_or(&undone.bytes);
    let complete = complete && bytes.len() == undone.bytes.len();
    rank(&Sample { bytes, complete }, options).into_iter().find(|candidate| candidate.format != PLAIN_TEXT)
}

/// Whether what a text holds in a notation is of any format.
pub fn holds_any(undone: &Undone, options: &Options, complete: bool) -> bool {
    best_inside(undone, options, complete).is_some_and(|inner| inner.score >= CHOSEN_SCORE)
}

/// The score of what a text holds in a notation, where that beats every reading of the text itself.
pub fn inside_score(
    undone: &Undone,
    text: &[u8],
    outside: &[Candidate],
    options: &Options,
    complete: bool,
) -> Option<u32> {
    let inner = best_inside(undone, options, complete)?;
    // A word is valid base64 as well: what it holds must be a message without a fault.
    if undone.encoding == Encoding::Base64 && (inner.score < NOT_A_WORD || !inner.contra.is_empty()) {
        return None;
    }
    // 0x0a and \x0a are no words of any text: only a format that reads the text itself competes.
    let explicit = matches!(undone.encoding, Encoding::Escaped | Encoding::Xxd | Encoding::Dump)
        || text.windows(2).take(limits::PIECE).any(|pair| pair == b"0x");
    let rivals = outside.iter().filter(|rival| !(explicit && rival.format == PLAIN_TEXT));
    let rival = rivals.map(|rival| rival.score).max().unwrap_or(0);
    (inner.score > rival).then_some(inner.score)
}

/// The sample up to its last line end or blank, so that no number is cut.
pub fn whole_lines(sample: &[u8]) -> &[u8] {
    let first = sample.get(..8192).unwrap_or(sample);
    match first.iter().rposition(u8::is_ascii_whitespace) {
        Some(at) => first.get(..at).unwrap_or(first),
        None => first,
    }
}
