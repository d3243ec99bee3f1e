//! The bytes of one line of a dump, and the pieces that lines are made of: offsets, hex digits, blanks.

use crate::formats;
use crate::model::bytemap::Leaf;
use crate::model::num::len64;
use crate::render::row::Look;
use crate::render::style::Paint;

/// Appends an offset in hex.
pub fn offset(text: &mut String, at: u64, digits: usize, paint: Paint) {
    if paint.is_on() {
        let mut hex = String::with_capacity(digits);
        push_offset(&mut hex, at, digits);
        paint.dim(&hex, text);
    } else {
        push_offset(text, at, digits);
    }
}

/// Appends the digits of an offset.
pub fn push_offset(text: &mut String, at: u64, digits: usize) {
    for index in (0..digits).rev() {
        let shift = u32::try_from(index.saturating_mul(4)).unwrap_or(0);
        text.push(digit(u8::try_from(at.checked_shr(shift).unwrap_or(0) & 0x0f).unwrap_or(0)));
    }
}

/// The bytes of one line.
pub struct Line {
    /// Offset of its first byte.
    pub start: u64,
    /// Bytes it has.
    pub cells: usize,
    /// Columns taken, the indentation included.
    pub columns: usize,
    /// The bytes as they are printed.
    pub text: String,
    leaf_start: Option<u64>,
}

impl Line {
    /// An empty line, in memory that an earlier one has left.
    pub fn new(start: u64, look: &Look<'_>, text: String) -> Line {
        let mut line = Line { start, cells: 0, columns: 0, text, leaf_start: None };
        line.restart(start, look);
        line
    }

    /// The next line.
    pub fn restart(&mut self, start: u64, look: &Look<'_>) {
        let indent = look.columns.indent(look.depth);
        (self.start, self.cells, self.columns, self.leaf_start) = (start, 0, indent, None);
        self.text.clear();
        blanks(&mut self.text, indent);
    }

    /// Offset behind its last byte.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(len64(self.cells))
    }

    /// Adds bytes of a leaf, behind `|` where another leaf stands before it.
    pub fn put(&mut self, leaf: &Leaf, bytes: &[u8], paint: Paint) {
        if let Some(before) = self.leaf_start {
            self.text.push(if before == leaf.start { ' ' } else { '|' });
            self.columns = self.columns.saturating_add(1);
        }
        self.leaf_start = Some(leaf.start);
        if paint.is_on() {
            let mut hex = String::with_capacity(bytes.len().saturating_mul(3));
            push_hex(&mut hex, bytes);
            paint.cause(formats::cause_of(leaf), &hex, &mut self.text);
        } else {
            push_hex(&mut self.text, bytes);
        }
        self.columns = self.columns.saturating_add(bytes.len().saturating_mul(3)).saturating_sub(1);
        self.cells = self.cells.saturating_add(bytes.len());
    }
}

/// Appends bytes as pairs of hex digits with blanks between.
pub fn push_hex(text: &mut String, bytes: &[u8]) {
    const CHUNK: usize = 32;
    for (index, chunk) in bytes.chunks(CHUNK).enumerate() {
        if index > 0 {
            text.push(' ');
        }
        let mut line = [b' '; CHUNK * 3];
        for (byte, place) in chunk.iter().zip(line.chunks_exact_mut(3)) {
            if let [high, low, _] = place {
                (*high, *low) = (hex_digit(byte >> 4), hex_digit(byte & 0x0f));
            }
        }
        let used = chunk.len().saturating_mul(3).saturating_sub(1);
        text.push_str(line.get(..used).and_then(|line| std::str::from_utf8(line).ok()).unwrap_or(""));
    }
}

fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble }
}

fn digit(nibble: u8) -> char {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    DIGITS.get(usize::from(nibble & 0x0f)).copied().unwrap_or('0')
}

/// Appends so many blanks.
pub fn blanks(text: &mut String, count: usize) {
    const BLANKS: &str = "                                                                ";
    let mut left = count;
    while left > 0 {
        let now = left.min(BLANKS.len());
        text.push_str(BLANKS.get(..now).unwrap_or(BLANKS));
        left -= now;
    }
}

/// Blanks up to a column, at least two behind text.
pub fn pad(text: &mut String, column: &mut usize, to: usize) {
    let count = to.saturating_sub(*column).max(2);
    blanks(text, count);
    *column = column.saturating_add(count);
}
