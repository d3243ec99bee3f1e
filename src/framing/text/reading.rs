//! A walk over a text from front to back that owns every byte it passes.

use super::map::{Map, Use};
use crate::model::diag::{Code, Diagnostic};
use crate::model::limits;
use crate::model::num::len64;

/// The text is not in this notation: stops a guess.
#[derive(Debug, Clone, Copy)]
pub(super) struct Misfit;

/// How a step of a reading ends. Told notations never stop.
pub(super) type Fit = Result<(), Misfit>;

/// How a whole reading ends.
pub(super) type Read = Result<Notation, Misfit>;

/// What a reading found the text to be.
#[derive(Debug)]
pub(super) struct Notation {
    /// The exact form.
    pub detail: &'static str,
    /// Order among guesses, the most specific form first.
    pub rank: u8,
    /// Form and amount, for headings.
    pub said: String,
}

/// Orders of [`Notation::rank`].
pub(super) mod rank {
    pub const DUMP: u8 = 0;
    pub const COLUMNS: u8 = 1;
    pub const PREFIXED_HEX: u8 = 2;
    pub const ESCAPED: u8 = 3;
    pub const SPACED_HEX: u8 = 4;
    pub const DECIMAL: u8 = 5;
    pub const PLAIN_HEX: u8 = 6;
    pub const BASE64: u8 = 7;
}

impl Notation {
    /// A notation by name, of which nothing was read.
    pub fn none(detail: &'static str) -> Notation {
        Notation { detail, rank: u8::MAX, said: String::from(detail) }
    }
}

/// The walk. Bytes before `at` stand in `map`, without a gap.
pub(super) struct Reading<'a> {
    /// The whole text.
    pub text: &'a [u8],
    /// Offset of the next byte.
    pub at: usize,
    /// The notation is guessed, so the first misfit ends the walk.
    pub strict: bool,
    /// The bytes that the text holds.
    pub bytes: Vec<u8>,
    /// What the bytes of the text are.
    pub map: Map,
    /// Characters of the notation.
    pub digits: u64,
    /// What does not fit.
    pub found: Vec<Diagnostic>,
    /// Findings past the limit, and where the first of them stands.
    untold: u64,
    untold_at: Option<(u64, u64)>,
    /// An offset and the number of its line, from where lines are counted on.
    line: (usize, u64),
}

impl<'a> Reading<'a> {
    fn new(text: &'a [u8], strict: bool) -> Reading<'a> {
        Reading {
            text,
            at: 0,
            strict,
            bytes: Vec::new(),
            map: Map::default(),
            digits: 0,
            found: Vec::new(),
            untold: 0,
            untold_at: None,
            line: (0, 1),
        }
    }

    /// A reading that ends at the first misfit.
    pub fn strict(text: &'a [u8]) -> Reading<'a> {
        Self::new(text, true)
    }

    /// A reading that reports misfits and goes on.
    pub fn told(text: &'a [u8]) -> Reading<'a> {
        Self::new(text, false)
    }

    /// The text from here on.
    pub fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or(&[])
    }

    /// The text from here to an offset.
    pub fn until(&self, end: usize) -> &'a [u8] {
        self.text.get(self.at..end).unwrap_or(&[])
    }

    /// The next `len` bytes only frame.
    pub fn frame(&mut self, len: usize) {
        self.own(len, Use::Frames);
    }

    /// The next `len` bytes carry.
    pub fn carry(&mut self, len: usize) {
        self.own(len, Use::Carries);
    }

    /// All up to an offset only frames.
    pub fn frame_to(&mut self, end: usize) {
        self.frame(end.saturating_sub(self.at));
    }

    fn own(&mut self, len: usize, of: Use) {
        let end = self.at.saturating_add(len).min(self.text.len());
        self.map.push(len64(end.saturating_sub(self.at)), of);
        self.at = end.max(self.at);
    }

    /// The next `len` bytes are none of the notation, where `expected` had to stand.
    pub fn misfit(&mut self, len: usize, expected: &str) -> Fit {
        if self.strict {
            return Err(Misfit);
        }
        let start = len64(self.at);
        let open = self.found.last_mut().filter(|last| last.end == start && last.message.starts_with(expected));
        if let Some(last) = open {
            last.end = len64(self.at.saturating_add(len).min(self.text.len()));
            self.own(len, Use::Misfits);
            return Ok(());
        }
        if self.is_full() {
            return self.unread(len, "", "");
        }
        let shown = shown(self.rest().get(..len).unwrap_or(self.rest()));
        let message = format!("{expected} expected, `{shown}` stands there");
        self.unread(len, &message, "")
    }

    /// The next `len` bytes cannot be read, for the reason told.
    pub fn unread(&mut self, len: usize, message: &str, help: &str) -> Fit {
        let end = self.at.saturating_add(len).min(self.text.len());
        self.complain(self.at, end, message, help)?;
        self.own(len, Use::Misfits);
        Ok(())
    }

    /// Reports an error at a range of the text and owns nothing.
    pub fn complain(&mut self, start: usize, end: usize, message: &str, help: &str) -> Fit {
        if self.strict {
            return Err(Misfit);
        }
        let mut found = Diagnostic::new(Code::EncodingBad, len64(start), len64(end), "").help(help);
        if !self.is_full() {
            found.message = format!("{message} (line {})", self.line_of(start));
        }
        self.report(found);
        Ok(())
    }

    /// Whether further findings are only counted.
    fn is_full(&self) -> bool {
        len64(self.found.len()) >= limits::DIAGNOSTICS
    }

    /// Keeps a finding, or counts it once there are too many.
    pub fn report(&mut self, found: Diagnostic) {
        if !self.is_full() {
            self.found.push(found);
            return;
        }
        self.untold = self.untold.saturating_add(1);
        self.untold_at.get_or_insert((found.start, found.end));
    }

    /// Number of the line that holds an offset, counted from 1. Offsets mostly ask in rising order,
    /// so only what lies between two of them is counted.
    pub fn line_of(&mut self, at: usize) -> u64 {
        let (from, line) = if at < self.line.0 { (0, 1) } else { self.line };
        let passed = memchr::memchr_iter(b'\n', self.text.get(from..at).unwrap_or(&[])).count();
        self.line = (at, line.saturating_add(len64(passed)));
        self.line.1
    }

    /// Owns what is left, and says how many findings were left out.
    pub fn close(&mut self) {
        self.own(usize::MAX, Use::Misfits);
        if let Some((start, end)) = self.untold_at {
            let message = format!("{} more places do not fit, this is the first of them", self.untold);
            self.found.push(Diagnostic::new(Code::EncodingBad, start, end, message));
        }
    }
}

/// How many bytes at the start of `text` are of one sort.
pub(super) fn run(text: &[u8], of: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| of(**byte)).count()
}

/// Space and tab.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What a separator between lines or bytes may be.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

/// The value of a hex digit.
pub(super) fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The value of two hex digits.
pub(super) fn pair(high: u8, low: u8) -> Option<u8> {
    Some(nibble(high)? << 4 | nibble(low)?)
}

/// Length of the line that begins here, without and with what ends it.
pub(super) fn line(text: &[u8]) -> (usize, usize) {
    let Some(end) = memchr::memchr(b'\n', text) else { return (text.len(), text.len()) };
    let content = text.get(..end).unwrap_or(text);
    (content.strip_suffix(b"\r").unwrap_or(content).len(), end.saturating_add(1))
}

/// A number with its noun: `1 line`, `12 lines`.
pub(super) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The first characters of some text, for a message.
fn shown(text: &[u8]) -> String {
    const MOST: usize = 16;
    let head = text.get(..MOST).unwrap_or(text);
    let dots = if head.len() < text.len() { ".." } else { "" };
    format!("{}{dots}", head.escape_ascii())
}
