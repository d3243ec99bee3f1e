//! The types of a schema: numbers, slots, places and sizes of their fields.

use std::io::{self, Write};

use crate::model::schema::{MessageId, Schema};
use crate::render::style::Paint;

mod capnp;
mod flat;
mod proto;

/// What of a schema is shown.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Only this type, and those that it holds.
    pub root: Option<MessageId>,
    /// Types of included files too.
    pub all: bool,
    /// Colour.
    pub color: bool,
}

/// Writes the types for people.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, schema: &Schema, view: &View) -> io::Result<()> {
    let paint = Paint::new(view.color);
    match (&schema.flat, &schema.capnp) {
        (Some(flat), _) => flat::write(out, flat, view, paint),
        (_, Some(capnp)) => capnp::write(out, capnp, view, paint),
        _ => proto::write(out, schema, view, paint),
    }
}

/// Writes the types as one JSON object in a line.
///
/// # Errors
/// Output that cannot be written.
pub fn write_json(out: &mut dyn Write, schema: &Schema, view: &View) -> io::Result<()> {
    let value = match (&schema.flat, &schema.capnp) {
        (Some(flat), _) => flat::json(flat, view),
        (_, Some(capnp)) => capnp::json(capnp, view),
        _ => proto::json(schema, view),
    };
    writeln!(out, "{value}")
}

/// A line of columns: text, and the width that it is padded to.
fn columns(cells: &[(&str, usize)]) -> String {
    let mut line = String::new();
    for (text, width) in cells {
        line.push_str(text);
        let gap = width.saturating_sub(crate::render::wrap::width(text));
        line.push_str(&" ".repeat(gap));
    }
    line.truncate(line.trim_end().len());
    line
}

/// The width of a column: of its longest text, and two blanks.
fn wide<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> usize {
    texts.map(crate::render::wrap::width).max().unwrap_or(0).min(most).saturating_add(2)
}
