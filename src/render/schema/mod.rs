//! What `schema` prints: each type with its fields, and where their bytes stand.
//!
//! ```text
//! pick      which types are shown
//! table     rows in columns
//! flat      FlatBuffers: slots, offsets and gaps
//! proto     Protobuf: field numbers, keys and wire types
//! json      all of it for programs
//! ```

use std::io::{self, Write};

use crate::model::num::{count, len64};
use crate::model::schema::{Language, Schema};
use crate::render::style::Paint;

mod flat;
mod json;
mod pick;
mod proto;
mod table;
#[cfg(test)]
mod tests;

pub use json::json;
pub use pick::{Picked, pick};

/// Writes the types of a schema as text.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, schema: &Schema, picked: &Picked, width: usize, paint: Paint) -> io::Result<()> {
    let mut text = String::new();
    head(schema, paint, &mut text);
    match (&schema.flat, schema.language) {
        (Some(flat), Language::Fbs) => flat::print(flat, picked, width, paint, &mut text),
        _ => proto::print(schema, picked, width, paint, &mut text),
    }
    if picked.hidden > 0 {
        let types = count(len64(picked.hidden), "type", "types");
        text.push('\n');
        paint.dim(&format!("{types} of included files not shown: -t NAME shows one and what it needs"), &mut text);
        text.push('\n');
    }
    out.write_all(text.as_bytes())
}

/// One line on the whole: files, and what the language says of all of them.
fn head(schema: &Schema, paint: Paint, text: &mut String) {
    paint.bold(&shown(&schema.files.join(", ")), text);
    let mut facts = Vec::new();
    if let Some(flat) = &schema.flat {
        if let Some(root) = flat.root.and_then(|id| flat.object(id)) {
            facts.push(format!("root type {}", root.name));
        }
        if let Some(identifier) = flat.identifier {
            facts.push(format!("file identifier \"{}\"", identifier.escape_ascii()));
        }
        if let Some(extension) = &flat.extension {
            facts.push(format!("file extension \"{}\"", extension.escape_debug()));
        }
    }
    if !facts.is_empty() {
        text.push_str("  ");
        text.push_str(&shown(&facts.join(", ")));
    }
    text.push('\n');
}

/// The heading of a type: what it is, its name, and facts behind it.
fn heading(what: &str, name: &str, facts: &str, doc: &[String], paint: Paint, text: &mut String) {
    text.push('\n');
    for line in doc {
        paint.dim(&comment(line), text);
        text.push('\n');
    }
    text.push_str(what);
    text.push(' ');
    paint.bold(&shown(name), text);
    if !facts.is_empty() {
        text.push_str("  ");
        paint.dim(&shown(facts), text);
    }
    text.push('\n');
}

/// A line of a doc comment as it stands in source; control characters are shown, not sent.
fn comment(line: &str) -> String {
    format!("///{}", shown(line.trim_end()))
}

/// A text with its control characters as escapes.
fn shown(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_string();
    }
    let plain = |char: char| if char.is_control() { char.escape_default().collect() } else { char.to_string() };
    text.chars().map(plain).collect()
}

/// A name as it is called where it is used: short within its own namespace.
fn short<'a>(name: &'a str, namespace: &str) -> &'a str {
    let inside = name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('.'));
    match inside {
        Some(rest) if !rest.contains('.') => rest,
        _ => name,
    }
}

/// The namespace of a full name.
fn namespace(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(namespace, _)| namespace)
}
