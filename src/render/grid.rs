//! The grid: a plain hexdump with the letter of its cause below each byte.

use std::io::Write;

use crate::formats;
use crate::model::bytemap::{Cause, Leaf};
use crate::model::events::{Flow, Inner, Sink};
use crate::render::columns;
use crate::render::style::Paint;

/// Bytes in a line.
const CELLS: usize = 16;

/// The grid of one layer.
pub struct Grid<'a> {
    out: &'a mut dyn Write,
    paint: Paint,
    digits: usize,
    /// Offset of the first byte held.
    at: u64,
    held: Vec<(u8, Cause)>,
    /// Of the last leaf: its cause, length and width, and the bytes of it seen.
    last: (Cause, u64, u64, u64),
    high_first: bool,
    ranges: Vec<(u64, u64)>,
    /// Lines still to print; none where all are.
    left: Option<u64>,
    passed: u64,
    /// What follows is of a layer inside the message, which has a grid of its own.
    inner: bool,
}

impl<'a> Grid<'a> {
    /// A grid to `out`, of at most `most` lines. `high_first`: numbers stand highest byte first, so width
    /// stands in front.
    pub fn new(
        out: &'a mut dyn Write,
        color: bool,
        size: u64,
        high_first: bool,
        ranges: Vec<(u64, u64)>,
        most: Option<u64>,
    ) -> Grid<'a> {
        Grid {
            out,
            paint: Paint::new(color),
            digits: columns::digits(size),
            at: 0,
            held: Vec::with_capacity(CELLS),
            last: (Cause::Unread, 0, 0, 0),
            high_first,
            ranges,
            left: most,
            passed: 0,
            inner: false,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Flow {
        for byte in bytes {
            let (cause, len, width, seen) = self.last;
            let wide = if self.high_first { seen < width } else { seen >= len.saturating_sub(width) };
            self.held.push((*byte, if wide { Cause::Width } else { cause }));
            self.last.3 = seen.saturating_add(1);
            if self.held.len() == CELLS {
                self.line()?;
            }
        }
        Ok(())
    }

    fn line(&mut self) -> Flow {
        let (start, count) = (self.at, u64::try_from(self.held.len()).unwrap_or(0));
        self.at = self.at.saturating_add(count);
        let end = self.at;
        let wanted = self.ranges.is_empty() || self.ranges.iter().any(|(from, to)| start < *to && end > *from);
        if !wanted || self.left == Some(0) {
            self.passed = self.passed.saturating_add(count);
            self.held.clear();
            return Ok(());
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
        let (mut hex, mut causes, mut ascii) = (String::new(), String::new(), String::new());
        for (index, (byte, cause)) in self.held.iter().enumerate() {
            if index > 0 {
                hex.push(' ');
                causes.push_str("  ");
            }
            self.paint.cause(*cause, &format!("{byte:02x}"), &mut hex);
            self.paint.cause(*cause, &cause.letter().to_string(), &mut causes);
            ascii.push(if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' });
        }
        let blanks = CELLS.saturating_sub(self.held.len()).saturating_mul(3).saturating_add(3);
        let digits = self.digits;
        let text = format!("{start:0digits$x}  {hex}{:blanks$}{ascii}\n{:digits$}  {causes}\n", "", "");
        self.held.clear();
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Prints the last line and what was left out.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn finish(&mut self) -> Flow {
        if !self.held.is_empty() {
            self.line()?;
        }
        if self.passed > 0 {
            let digits = self.digits;
            writeln!(self.out, "{:digits$}  ... {} more bytes (--all shows them)", "", self.passed)?;
        }
        Ok(())
    }
}

impl Sink for Grid<'_> {
    fn layer(&mut self, _layer: &Inner<'_>) -> Flow {
        self.inner = true;
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        if self.inner {
            return Ok(());
        }
        self.last = (formats::cause_of(leaf), leaf.len(), formats::width_of(leaf, head), 0);
        self.take(head)
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        if self.inner {
            return Ok(());
        }
        self.take(bytes)
    }
}
