//! What people and programs read: dump, grid, tree, JSON, tables, findings. Everything is written to a
//! writer that is handed in; colour comes from [`style`] alone.

pub mod at;
pub mod bits;
pub mod blocks;
pub mod columns;
pub mod detected;
pub mod diagnostics;
pub mod foot;
pub mod grid;
pub mod head;
pub mod hexdump;
pub mod hidden;
pub mod json;
pub mod line;
pub mod overview;
pub mod panel;
pub mod pattern;
pub mod relay;
pub mod row;
pub mod schema;
pub mod style;
pub mod types;
pub mod wrap;

/// When a note on how bytes are read is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notes {
    /// Each kind of note once.
    #[default]
    First,
    /// Each time.
    All,
    /// Never.
    None,
}

/// What a row of a dump is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// All leaves of a field.
    #[default]
    Fields,
    /// One leaf.
    Leaves,
    /// A field without its bytes.
    Tree,
}

/// What of an input is shown, and how.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Columns of a line.
    pub width: usize,
    /// Meanings longer than their column are cut; never in a pipe.
    pub cut: bool,
    /// Meanings longer than their column go on in further lines: a pipe with columns that were told.
    pub wrap: bool,
    /// Colour.
    pub color: bool,
    /// Notes.
    pub notes: Notes,
    /// Rows.
    pub rows: Rows,
    /// Bit fields below each row.
    pub bits: bool,
    /// Nothing elided.
    pub all: bool,
    /// Objects in the order in which a reader reaches them, not in that of the file.
    pub logical: bool,
    /// Full paths in every row.
    pub full_paths: bool,
    /// Only rows that touch one of these ranges, half open; all where empty.
    pub ranges: Vec<(u64, u64)>,
    /// Only rows at or below this path.
    pub path: Option<pattern::Pattern>,
    /// Only groups down to this depth.
    pub depth: Option<usize>,
    /// Only so many elements of each list.
    pub max_items: Option<u64>,
    /// Only these messages of a stream, half open.
    pub messages: Option<(u64, u64)>,
    /// At most so many rows.
    pub max_rows: Option<u64>,
}
