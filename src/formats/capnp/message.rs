//! Messages and their segments: which bytes of an input belong to which segment, by its variant.

use crate::formats::capnp::faults::{Fault, Wrong};
use crate::formats::capnp::wire::WORD;
use crate::model::limits;
use crate::wire::reader::Bytes;

/// A segment: a range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte, as far as the input holds it: a multiple of 8 from its start.
    pub end: u64,
    /// Words that the table announces.
    pub words: u64,
}

impl Segment {
    /// Offset behind its last byte, had the input not ended before.
    pub fn due_end(&self) -> u64 {
        self.start.saturating_add(self.words.saturating_mul(WORD))
    }
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Offset of its first byte: of the segment table, or of the segment where there is none.
    pub start: u64,
    /// Offset behind its segment table.
    pub table_end: u64,
    /// Position of its first segment in [`Messages::segments`].
    pub first: u32,
    /// How many segments it has.
    pub count: u32,
    /// Offset behind it.
    pub end: u64,
}

/// The messages of an input.
#[derive(Debug, Default, Clone)]
pub struct Messages {
    /// In the order of the file.
    pub list: Vec<Message>,
    /// Segments of all of them.
    pub segments: Vec<Segment>,
    /// What is wrong with their tables.
    pub faults: Vec<Fault>,
    /// Where what belongs to a message ends; what stands behind is none.
    pub end: u64,
}

/// Reads the segment tables of a row of messages.
pub fn framed(bytes: Bytes<'_>) -> Messages {
    let mut all = Messages::default();
    let mut at = 0;
    while at < bytes.len() || at == 0 {
        let before = all.faults.len();
        match table(bytes, at, &mut all) {
            Some(message) => {
                at = message.end;
                all.list.push(message);
            }
            None => break,
        }
        if all.faults.len() > before {
            break;
        }
    }
    all.end = at;
    all
}

/// The input as one segment.
pub fn flat(bytes: Bytes<'_>) -> Messages {
    let len = bytes.len();
    let words = len / WORD;
    let end = words.saturating_mul(WORD);
    let mut faults = Vec::new();
    if words == 0 {
        let what = if len == 0 { Wrong::Empty } else { Wrong::NoRoot(len) };
        faults.push(Fault { start: 0, end: len, what });
    } else if end < len {
        faults.push(Fault { start: end, end: len, what: Wrong::PartWord(len.saturating_sub(end)) });
    }
    let message = Message { start: 0, table_end: 0, first: 0, count: 1, end };
    Messages { list: vec![message], segments: vec![Segment { start: 0, end, words }], faults, end }
}

/// Missing bytes up to which a message counts as cut, and its table as right.
const NEAR: u64 = 64 * 1024;

/// The message whose table stands at `at`; none where nothing of it can be read.
fn table(bytes: Bytes<'_>, at: u64, all: &mut Messages) -> Option<Message> {
    let left = bytes.len().saturating_sub(at);
    let mut fault = |start: u64, end: u64, what| all.faults.push(Fault { start, end, what });
    if bytes.is_empty() {
        fault(0, 0, Wrong::Empty);
        return None;
    }
    let Some(last) = bytes.u32(at) else {
        let what = if at == 0 { Wrong::TableCut(left, WORD) } else { Wrong::Trailing(left) };
        fault(at, bytes.len(), what);
        return None;
    };
    let count = u64::from(last).saturating_add(1);
    if count > limits::CAPNP_SEGMENTS {
        let what = if at == 0 { Wrong::Segments(count) } else { Wrong::Trailing(left) };
        fault(at, if at == 0 { 4 } else { bytes.len() }, what);
        return None;
    }
    if at > 0 && bytes.clipped(at, bytes.len()).iter().all(|byte| *byte == 0) {
        fault(at, bytes.len(), Wrong::Trailing(left));
        return None;
    }
    let table_end = at.saturating_add(table_size(count));
    if table_end > bytes.len() {
        fault(at, bytes.len(), Wrong::TableCut(left, table_size(count)));
        return None;
    }
    let first = u32::try_from(all.segments.len()).unwrap_or(u32::MAX);
    let mut next = table_end;
    let mut cut = None;
    for number in 0..count {
        let place = at.saturating_add(4).saturating_add(number.saturating_mul(4));
        let words = bytes.u32(place).map_or(0, u64::from);
        let due = next.saturating_add(words.saturating_mul(WORD));
        let there = bytes.len().saturating_sub(next) / WORD;
        let end = next.saturating_add(words.min(there).saturating_mul(WORD));
        if due > bytes.len() && cut.is_none() {
            let missing = due.saturating_sub(bytes.len());
            // Few bytes were lost at the end; a size that is far off is no size.
            let (start, end) =
                if missing < NEAR { (bytes.len(), bytes.len()) } else { (place, place.saturating_add(4)) };
            cut = Some(Fault { start, end, what: Wrong::SegmentPastEnd(words, missing) });
        }
        all.segments.push(Segment { start: next, end, words });
        next = end;
    }
    if bytes.u32(at.saturating_add(4)) == Some(0) {
        all.faults.push(Fault { start: at.saturating_add(4), end: at.saturating_add(8), what: Wrong::SegmentEmpty });
    }
    all.faults.extend(cut);
    Some(Message { start: at, table_end, first, count: u32::try_from(count).unwrap_or(u32::MAX), end: next })
}

/// Bytes of a segment table.
pub fn table_size(segments: u64) -> u64 {
    segments.saturating_mul(4).saturating_add(4).next_multiple_of(WORD)
}
