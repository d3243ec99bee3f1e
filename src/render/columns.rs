//! The columns of a dump: offset, mark, bytes, field, meaning.

/// The narrowest dump.
const NARROWEST: usize = 60;

/// Columns a group's bytes are set in per level.
const INDENT: usize = 2;

/// Bytes that fit into a row however deep it lies.
const FEWEST_CELLS: usize = 4;

/// Places of the columns of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// Digits of an offset.
    pub digits: usize,
    /// Where the bytes begin.
    pub bytes_at: usize,
    /// Columns for bytes.
    pub bytes: usize,
    /// Where the field begins.
    pub field_at: usize,
    /// Columns for the field.
    pub field: usize,
    /// Where the meaning begins.
    pub meaning_at: usize,
    /// Columns for the meaning.
    pub meaning: usize,
    /// Bytes in a row at most.
    pub most: usize,
}

impl Columns {
    /// Columns for a line of `width`, and offsets below `size`. At 100: 4 + 2, bytes 36, field 21, meaning
    /// to the end; at 80: 27 and 17.
    pub fn new(width: usize, size: u64) -> Columns {
        let width = width.max(NARROWEST);
        let digits = digits(size);
        let wide = width.saturating_sub(100);
        let narrow = 100usize.saturating_sub(width);
        let bytes = (36 + wide.saturating_mul(9).checked_div(20).unwrap_or(0))
            .saturating_sub(narrow.saturating_mul(9).div_ceil(20))
            .min(48);
        let field = (21 + wide.div_ceil(5)).saturating_sub(narrow.div_ceil(5)).min(36);
        let bytes_at = digits.saturating_add(2);
        let field_at = bytes_at.saturating_add(bytes).saturating_add(1);
        let meaning_at = field_at.saturating_add(field).saturating_add(1);
        let meaning = width.saturating_sub(meaning_at);
        Columns { digits, bytes_at, bytes, field_at, field, meaning_at, meaning, most: usize::MAX }
    }

    /// The same columns for a format whose rows hold so many bytes; what they need less goes to the meaning.
    pub fn grid(self, row: usize) -> Columns {
        let needed = row.saturating_mul(3).saturating_add(6);
        if row == 0 || needed >= self.bytes {
            return Columns { most: if row == 0 { usize::MAX } else { row }, ..self };
        }
        let spare = self.bytes.saturating_sub(needed);
        Columns {
            bytes: needed,
            field_at: self.field_at.saturating_sub(spare),
            meaning_at: self.meaning_at.saturating_sub(spare),
            meaning: self.meaning.saturating_add(spare),
            most: row,
            ..self
        }
    }

    /// The same columns with so many bytes in a row at most; 0 for what fits.
    pub fn rows_of(self, row: usize) -> Columns {
        Columns { most: if row == 0 { usize::MAX } else { row }, ..self }
    }

    /// Columns before the bytes of a row at this depth; deep rows stay where four bytes still fit.
    pub fn indent(&self, depth: usize) -> usize {
        let most = self.bytes.saturating_sub(FEWEST_CELLS.saturating_mul(3));
        depth.saturating_mul(INDENT).min(most)
    }

    /// Bytes in a row at this depth. At least two blanks stay between them and the field, so that a dump
    /// can be read back.
    pub fn cells(&self, depth: usize) -> usize {
        self.bytes.saturating_sub(self.indent(depth)).checked_div(3).unwrap_or(1).clamp(1, self.most.max(1))
    }
}

/// Digits of offsets: 4, or as many as the largest one needs.
pub fn digits(size: u64) -> usize {
    let bits = usize::try_from(64u32.saturating_sub(size.saturating_sub(1).leading_zeros())).unwrap_or(64);
    bits.div_ceil(4).max(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_those_of_the_row_grammar() {
        let at100 = Columns::new(100, 325);
        assert_eq!((at100.bytes_at, at100.bytes, at100.field_at, at100.field, at100.meaning_at), (6, 36, 43, 21, 65));
        let at80 = Columns::new(80, 325);
        assert_eq!((at80.bytes, at80.field_at, at80.field, at80.meaning), (27, 34, 17, 28));
    }

    #[test]
    fn rows_hold_as_many_bytes_as_in_the_drawings() {
        let columns = Columns::new(100, 325);
        assert_eq!([columns.cells(0), columns.cells(1), columns.cells(2)], [12, 11, 10]);
        assert!(columns.cells(500) >= 4);
    }

    #[test]
    fn offsets_have_four_digits_or_as_many_as_they_need() {
        assert_eq!([digits(0), digits(0x10000), digits(0x10001), digits(9_130_197)], [4, 4, 5, 6]);
    }
}
