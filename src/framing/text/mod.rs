//! Text that holds bytes: hex, base64, escapes, decimal lists, the dumps of other tools and our own.
//!
//! [`guess`] names every notation that leaves nothing of a text over, [`undo`] reads the one that was
//! told. Both give the bytes and the leaves of the text: digits carry, all else is framing. Whether
//! the bytes mean anything is for others to judge.

mod base64;
mod colour;
mod columns;
mod decimal;
mod dump;
mod escaped;
mod hex;
mod list;
mod map;
mod reading;

pub use map::Map;

#[cfg(test)]
mod check;

use std::borrow::Cow;

use crate::model::diag::Diagnostic;
use crate::model::num::len64;
use reading::{Notation, Read, Reading};

/// A notation for bytes in text, as the command line names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Hex digits, with or without prefixes and separators.
    Hex,
    /// Base64 in either alphabet.
    Base64,
    /// Plain text with `\x0a`, `\012` and the like.
    Escaped,
    /// Numbers from 0 to 255.
    Decimal,
    /// Lines with an offset, as xxd, hexdump and od print them.
    Xxd,
    /// The dump that this program prints.
    Dump,
}

impl Encoding {
    /// All notations, in the order of help texts.
    pub const ALL: [Encoding; 6] =
        [Encoding::Hex, Encoding::Base64, Encoding::Escaped, Encoding::Decimal, Encoding::Xxd, Encoding::Dump];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
            Encoding::Escaped => "escaped",
            Encoding::Decimal => "decimal",
            Encoding::Xxd => "xxd",
            Encoding::Dump => "dump",
        }
    }

    /// The notation of a name.
    pub fn by_name(name: &str) -> Option<Encoding> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    fn reader(self) -> fn(&mut Reading<'_>) -> Read {
        match self {
            Encoding::Hex => hex::read,
            Encoding::Base64 => base64::read,
            Encoding::Escaped => escaped::read,
            Encoding::Decimal => decimal::read,
            Encoding::Xxd => columns::read,
            Encoding::Dump => dump::read,
        }
    }
}

/// A text with its notation undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The notation.
    pub encoding: Encoding,
    /// Its exact form: `hex`, `C array`, `hexdump -C`, `base64url`.
    pub detail: &'static str,
    /// The bytes it holds.
    pub bytes: Vec<u8>,
    /// A partition of the text: what carries, what frames, and what fits nowhere (unread).
    pub leaves: Map,
    /// Characters that the notation is made of, without separators.
    pub digits: u64,
    /// The notation in a heading: `26 hex digits`, `xxd dump of 12 lines`.
    pub said: String,
    /// What does not fit.
    pub found: Vec<Diagnostic>,
}

/// Fewest characters of a notation from which it is guessed.
const GUESSED_DIGITS: u64 = 8;

/// Bytes at the start by which binary input is told from text.
const HEAD: usize = 4096;

/// Every notation in which `text` leaves nothing over and at least 8 characters carry; best first.
pub fn guess(text: &[u8]) -> Vec<Undone> {
    let page = Page::of(text);
    if is_binary(&page.text) {
        return Vec::new();
    }
    let mut fitting: Vec<_> = Encoding::ALL.into_iter().filter_map(|encoding| guess_one(&page, encoding)).collect();
    fitting.sort_by_key(|(rank, _)| *rank);
    fitting.into_iter().map(|(_, undone)| undone).collect()
}

/// Undoes a notation that was told. What does not fit is reported at its offset and stays unread;
/// everything else is still decoded.
pub fn undo(text: &[u8], encoding: Encoding) -> Undone {
    if encoding == Encoding::Dump && memchr::memmem::find(text, colour::START).is_some() {
        return colour::without(text, |plain| undo(plain, encoding));
    }
    let page = Page::of(text);
    let mut reading = Reading::told(&page.text);
    // A told reading goes past everything, so the other arm only keeps the function total.
    let notation = encoding.reader()(&mut reading).unwrap_or_else(|_| Notation::none(encoding.name()));
    page.finish(reading, encoding, notation)
}

fn guess_one(page: &Page<'_>, encoding: Encoding) -> Option<(u8, Undone)> {
    let mut reading = Reading::strict(&page.text);
    let notation = encoding.reader()(&mut reading).ok()?;
    let enough = reading.digits >= GUESSED_DIGITS && !reading.bytes.is_empty();
    enough.then(|| (notation.rank, page.finish(reading, encoding, notation)))
}

/// Whether the first bytes are none of a text.
fn is_binary(text: &[u8]) -> bool {
    let head = text.get(..HEAD).unwrap_or(text);
    let strange = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if head.contains(&0) || head.iter().filter(strange).count() > head.len() / 16 {
        return true;
    }
    // A character that the head cuts is no sign of binary data.
    std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
}

/// A text in single bytes, with the way back to where they stand in the input.
struct Page<'a> {
    text: Cow<'a, [u8]>,
    /// Bytes of the byte order mark.
    mark: usize,
    /// Bytes of a character: 2 in UTF-16.
    unit: usize,
}

impl<'a> Page<'a> {
    fn of(input: &'a [u8]) -> Page<'a> {
        if let Some(rest) = input.strip_prefix(b"\xef\xbb\xbf") {
            return Page { text: Cow::Borrowed(rest), mark: 3, unit: 1 };
        }
        let narrowed = match input.first_chunk() {
            Some(b"\xff\xfe") => narrow(input, u16::from_le_bytes),
            Some(b"\xfe\xff") => narrow(input, u16::from_be_bytes),
            _ => None,
        };
        match narrowed {
            Some(text) => Page { text: Cow::Owned(text), mark: 2, unit: 2 },
            None => Page { text: Cow::Borrowed(input), mark: 0, unit: 1 },
        }
    }

    fn place(&self, at: u64) -> u64 {
        len64(self.mark).saturating_add(at.saturating_mul(len64(self.unit)))
    }

    fn finish(&self, mut reading: Reading<'_>, encoding: Encoding, notation: Notation) -> Undone {
        reading.close();
        let Reading { bytes, map, digits, mut found, .. } = reading;
        found.iter_mut().for_each(|told| (told.start, told.end) = (self.place(told.start), self.place(told.end)));
        let leaves = map.behind(len64(self.mark), len64(self.unit));
        Undone { encoding, detail: notation.detail, bytes, leaves, digits, said: notation.said, found }
    }
}

/// The characters behind a byte order mark in single bytes, if all of them are ASCII: notations for
/// bytes use no other, but what PowerShell redirects to a file takes two bytes each.
fn narrow(input: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Vec<u8>> {
    let (units, rest) = input.as_chunks::<2>();
    let ascii = |bytes: &[u8; 2]| u8::try_from(unit(*bytes)).ok().filter(u8::is_ascii);
    if rest.is_empty() { units.iter().skip(1).map(ascii).collect() } else { None }
}
