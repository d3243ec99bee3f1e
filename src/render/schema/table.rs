//! Rows in columns as wide as what stands in them; the last one wraps.

use crate::model::bytemap::Cause;
use crate::render::style::Paint;
use crate::render::wrap;

/// Columns between two columns.
const GAP: usize = 2;

/// The narrowest last column.
const NARROWEST: usize = 24;

/// How a column looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Numbers, to the right, that a reader may skip.
    Number,
    /// Numbers, to the right.
    Bytes,
    /// Names.
    Name,
    /// Types.
    Type,
    /// Values.
    Value,
    /// Anything else.
    Plain,
}

/// A row.
#[derive(Debug, Default)]
pub struct Row {
    /// What stands in the columns.
    pub cells: Vec<String>,
    /// Lines of the doc comment above it.
    pub doc: Vec<String>,
    /// A row for what is not there: a gap.
    pub dim: bool,
}

/// Columns with their headings, and rows.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(&'static str, Look)>,
    rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[(&'static str, Look)]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Compiled schemas may have any characters in names: those that control terminals are shown.
    pub fn push(&mut self, mut row: Row) {
        row.cells = row.cells.iter().map(|cell| super::shown(cell)).collect();
        self.rows.push(row);
    }

    /// Appends the table as lines; nothing where it has no row, and without columns that are empty.
    pub fn print(mut self, width: usize, paint: Paint, out: &mut String) {
        self.drop_empty();
        let widths: Vec<usize> = self.columns.iter().enumerate().map(|(at, column)| self.width(at, column.0)).collect();
        if self.rows.is_empty() {
            return;
        }
        let titles = self.columns.iter().map(|(title, _)| (*title).to_string()).collect();
        self.line(&Row { cells: titles, doc: Vec::new(), dim: true }, &widths, width, paint, out);
        let indent = self.name_at(&widths);
        for row in &self.rows {
            for line in &row.doc {
                out.push_str(&" ".repeat(indent));
                paint.dim(&super::comment(line), out);
                out.push('\n');
            }
            self.line(row, &widths, width, paint, out);
        }
    }

    /// Takes out columns in which nothing stands.
    fn drop_empty(&mut self) {
        let used = |at: usize| self.rows.iter().any(|row| row.cells.get(at).is_some_and(|cell| !cell.is_empty()));
        let keep: Vec<bool> = (0..self.columns.len()).map(used).collect();
        let kept = |at: usize| keep.get(at) == Some(&true);
        self.columns = self.columns.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, column)| *column).collect();
        for row in &mut self.rows {
            let cells = std::mem::take(&mut row.cells);
            row.cells = cells.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, cell)| cell).collect();
        }
    }

    fn width(&self, at: usize, title: &str) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| wrap::width(cell));
        cells.max().unwrap_or(0).max(wrap::width(title))
    }

    /// Where names begin: comments stand above them.
    fn name_at(&self, widths: &[usize]) -> usize {
        let before = self.columns.iter().zip(widths).take_while(|((_, look), _)| *look != Look::Name);
        before.fold(GAP, |at, (_, width)| at.saturating_add(*width).saturating_add(GAP))
    }

    fn line(&self, row: &Row, widths: &[usize], width: usize, paint: Paint, out: &mut String) {
        let mut at = 0usize;
        let mut pending = 0usize;
        for (index, (cell, (column, size))) in row.cells.iter().zip(self.columns.iter().zip(widths)).enumerate() {
            let used = wrap::width(cell);
            let rest = size.saturating_sub(used);
            let is_right = matches!(column.1, Look::Number | Look::Bytes);
            pending = pending.saturating_add(GAP);
            at = at.saturating_add(GAP);
            if cell.is_empty() {
                pending = pending.saturating_add(*size);
                at = at.saturating_add(*size);
                continue;
            }
            let left = if is_right { rest } else { 0 };
            out.push_str(&" ".repeat(pending.saturating_add(left)));
            pending = rest.saturating_sub(left);
            let is_last = index.saturating_add(1) == self.columns.len();
            if is_last && at.saturating_add(used) > width {
                wrapped(cell, at, width, out);
            } else {
                painted(cell, column.1, row.dim, paint, out);
            }
            at = at.saturating_add(*size);
        }
        out.push('\n');
    }
}

fn wrapped(cell: &str, at: usize, width: usize, out: &mut String) {
    let lines = wrap::lines(cell, width.saturating_sub(at).max(NARROWEST));
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(&" ".repeat(at));
        }
        out.push_str(line);
    }
}

fn painted(cell: &str, look: Look, dim: bool, paint: Paint, out: &mut String) {
    match look {
        _ if dim => paint.dim(cell, out),
        Look::Number => paint.dim(cell, out),
        Look::Name => paint.cause(Cause::Key, cell, out),
        Look::Type => paint.cause(Cause::Type, cell, out),
        Look::Value => paint.cause(Cause::Payload, cell, out),
        Look::Bytes | Look::Plain => out.push_str(cell),
    }
}
