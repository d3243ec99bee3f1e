//! Cap'n Proto types: structs with the place of each field in their words, enums, interfaces, constants.

use std::io::{self, Write};

use crate::model::capnp::{Annotation, Capnp, Enum, Field, FieldKind, Interface, Method, Struct, Type, Value};
use crate::model::num::{count, listed};
use crate::model::schema::MessageId;
use crate::render::schema::{View, columns, wide};
use crate::render::style::Paint;
use crate::render::wrap;

mod json;
mod places;
mod shown;
mod values;

pub use json::json;
use places::place_words;

/// Columns of a line.
const COLUMNS: usize = 80;

/// Groups within each other that are shown; the compiler's own limit is lower.
const DEPTH: usize = 64;

/// Writes the types for people.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, capnp: &Capnp, view: &View, paint: Paint) -> io::Result<()> {
    let shown = shown::shown(capnp, view);
    let mut text = Text { out, capnp, paint, first: true };
    for (id, one) in (0u32..).map(MessageId).zip(&capnp.structs) {
        // Groups stand within their struct.
        if shown.structs.contains(&id) && (!one.is_group || view.root == Some(id)) {
            text.structure(one)?;
        }
    }
    for (_, one) in capnp.enums.iter().enumerate().filter(|(at, _)| shown.enums.contains(at)) {
        text.enumeration(one)?;
    }
    for (_, one) in capnp.interfaces.iter().enumerate().filter(|(at, _)| shown.interfaces.contains(at)) {
        text.interface(one)?;
    }
    if view.root.is_none() {
        text.rest(view.all)?;
    }
    Ok(())
}

/// A row: ordinal, name, type, place, remarks.
type Row = [String; 5];

struct Text<'o> {
    out: &'o mut dyn Write,
    capnp: &'o Capnp,
    paint: Paint,
    first: bool,
}

impl Text<'_> {
    fn head(&mut self, name: &str, id: u64, more: &str) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            writeln!(self.out)?;
        }
        let mut line = String::new();
        self.paint.bold(name, &mut line);
        let more = if more.is_empty() { String::new() } else { format!("  {more}") };
        writeln!(self.out, "{line}  {}{more}", hex(id))
    }

    /// A line for each annotation.
    fn applied(&mut self, all: &[Annotation]) -> io::Result<()> {
        for one in all {
            writeln!(self.out, "  {}", applied(self.capnp, one))?;
        }
        Ok(())
    }

    fn structure(&mut self, one: &Struct) -> io::Result<()> {
        let what = if one.is_group { "group" } else { "struct" };
        let size = format!(
            "{}, {}",
            count(u64::from(one.data_words), "data word", "data words"),
            count(u64::from(one.pointers), "pointer", "pointers")
        );
        self.head(&format!("{what} {}{}", one.name, parameters(one)), one.id, &size)?;
        self.applied(&one.annotations)?;
        if let Some(of) = one.instance_of.and_then(|of| self.capnp.record(of)) {
            writeln!(self.out, "  written out of {}{}", of.name, parameters(of))?;
        }
        if let Some(union) = union_words(one) {
            writeln!(self.out, "  {union}")?;
        }
        let mut rows = Vec::new();
        rows_of(self.capnp, one, 0, &mut rows);
        self.rows(&rows)
    }

    fn rows(&mut self, rows: &[Row]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let title = ["", "field", "type", "place", ""].map(str::to_string);
        let width = |at: usize| {
            let texts = std::iter::once(&title).chain(rows).filter_map(|row| row.get(at).map(String::as_str));
            wide(texts, 28)
        };
        let widths = [width(0), width(1), width(2), width(3), 0];
        let indent = 2usize.saturating_add(width(0)).saturating_add(2);
        for (at, row) in std::iter::once(&title).chain(rows).enumerate() {
            let cells: Vec<(&str, usize)> = row.iter().map(String::as_str).zip(widths).collect();
            let line = format!("  {}", columns(&cells));
            if at == 0 {
                let mut painted = String::new();
                self.paint.dim(&line, &mut painted);
                writeln!(self.out, "{painted}")?;
            } else if wrap::width(&line) <= COLUMNS {
                writeln!(self.out, "{line}")?;
            } else {
                self.broken(&cells, indent)?;
            }
        }
        Ok(())
    }

    /// A row that is too long: its remarks stand below it.
    fn broken(&mut self, cells: &[(&str, usize)], indent: usize) -> io::Result<()> {
        let (front, remarks) = cells.split_at(cells.len().saturating_sub(1));
        writeln!(self.out, "  {}", columns(front))?;
        for (text, _) in remarks {
            for line in wrap::lines(text, COLUMNS.saturating_sub(indent)) {
                writeln!(self.out, "{}{line}", " ".repeat(indent))?;
            }
        }
        Ok(())
    }

    fn enumeration(&mut self, one: &Enum) -> io::Result<()> {
        self.head(&format!("enum {}", one.name), one.id, "16 bits")?;
        self.applied(&one.annotations)?;
        let most = one.enumerants.len().saturating_sub(1).to_string().len();
        for (number, value) in one.enumerants.iter().enumerate() {
            let words: Vec<String> = value.annotations.iter().map(|one| applied(self.capnp, one)).collect();
            let line = format!("  {number:>most$}  {}  {}", value.name, words.join(" "));
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn interface(&mut self, one: &Interface) -> io::Result<()> {
        let names: Vec<&str> =
            one.extends.iter().filter_map(|id| self.capnp.interface(*id)).map(|one| one.name.as_str()).collect();
        let extends = if names.is_empty() { String::new() } else { format!("extends {}", listed(&names)) };
        self.head(&format!("interface {}", one.name), one.id, &extends)?;
        self.applied(&one.annotations)?;
        for (number, method) in one.methods.iter().enumerate() {
            let line = format!("  @{number}  {}", method_words(self.capnp, method));
            let mut lines = wrap::lines(&line, COLUMNS).into_iter();
            writeln!(self.out, "{}", lines.next().unwrap_or_default())?;
            for more in lines {
                writeln!(self.out, "        {more}")?;
            }
            for one in &method.annotations {
                writeln!(self.out, "        {}", applied(self.capnp, one))?;
            }
        }
        Ok(())
    }

    /// Constants, annotations and files.
    fn rest(&mut self, all: bool) -> io::Result<()> {
        let capnp = self.capnp;
        for one in capnp.consts.iter().filter(|one| one.told || all) {
            let value = values::words(capnp, one.ty, &one.value);
            self.head(&format!("const {} :{}", one.name, capnp.type_name(one.ty)), one.id, "")?;
            for line in wrap::lines(&value, COLUMNS.saturating_sub(2)) {
                writeln!(self.out, "  {line}")?;
            }
        }
        for one in capnp.annotations.iter().filter(|one| one.told || all) {
            let targets = if one.targets.len() == TARGETS { "*".to_string() } else { one.targets.join(", ") };
            let name = format!("annotation {}({targets}) :{}", one.name, capnp.type_name(one.ty));
            self.head(&name, one.id, "")?;
        }
        for one in capnp.files.iter().filter(|one| one.told || all) {
            self.head(&format!("file {}", one.name), one.id, "")?;
            self.applied(&one.annotations)?;
        }
        Ok(())
    }
}

/// All that an annotation may stand on.
const TARGETS: usize = 12;

fn hex(id: u64) -> String {
    format!("@0x{id:016x}")
}

/// `(Key, Value)`
fn parameters(one: &Struct) -> String {
    // The name of a written out struct has what its parameters stand for.
    if one.parameters.is_empty() || one.instance_of.is_some() {
        String::new()
    } else {
        format!("({})", one.parameters.join(", "))
    }
}

/// Where the tag of an unnamed union stands.
fn union_words(one: &Struct) -> Option<String> {
    let place = places::bits(16, one.tag?);
    let members = count(u64::from(one.members), "member", "members");
    Some(format!("union of {members}, its tag in {place}"))
}

/// Rows of a struct's fields, those of groups behind the group.
fn rows_of(capnp: &Capnp, one: &Struct, depth: usize, rows: &mut Vec<Row>) {
    if depth > DEPTH {
        return;
    }
    let indent = "  ".repeat(depth);
    for field in &one.fields {
        let ordinal = field.ordinal.map_or_else(String::new, |ordinal| format!("@{ordinal}"));
        let name = format!("{indent}{}", field.name);
        let mut remarks = Vec::new();
        if let Some(tag) = field.tag {
            remarks.push(format!("tag {tag}"));
        }
        match &field.kind {
            FieldKind::Slot(slot) => {
                if slot.explicit {
                    remarks.push(format!("default {}", values::words(capnp, slot.ty, &slot.default)));
                }
                annotated(capnp, field, &mut remarks);
                rows.push([ordinal, name, capnp.type_name(slot.ty), place_words(slot), remarks.join(", ")]);
            }
            FieldKind::Group(id) => {
                let Some(group) = capnp.record(*id) else { continue };
                let union_only = group.tag.is_some() && group.fields.iter().all(|field| field.tag.is_some());
                let what = if union_only { "union" } else { "group" };
                let place = group.tag.map_or_else(String::new, |tag| format!("tag: {}", places::bits(16, tag)));
                annotated(capnp, field, &mut remarks);
                rows.push([ordinal, name, what.to_string(), place, remarks.join(", ")]);
                rows_of(capnp, group, depth.saturating_add(1), rows);
            }
        }
    }
}

fn annotated(capnp: &Capnp, field: &Field, remarks: &mut Vec<String>) {
    remarks.extend(field.annotations.iter().map(|one| applied(capnp, one)));
}

/// An annotation as it is applied: `$Json.name("x")`.
fn applied(capnp: &Capnp, one: &Annotation) -> String {
    match &one.value {
        Value::Void => format!("${}", one.name),
        value @ Value::Struct(_) => format!("${}{}", one.name, values::words(capnp, one.ty, value)),
        value => format!("${}({})", one.name, values::words(capnp, one.ty, value)),
    }
}

fn method_words(capnp: &Capnp, method: &Method) -> String {
    let gives = if method.streaming { "stream".to_string() } else { side(capnp, method.results) };
    format!("{} {} -> {gives}", method.name, side(capnp, method.parameters))
}

/// Parameters or results: in brackets where the method lists them.
fn side(capnp: &Capnp, id: MessageId) -> String {
    let Some(one) = capnp.record(id) else { return String::new() };
    if !one.of_method {
        return one.name.clone();
    }
    let ty = |field: &Field| match &field.kind {
        FieldKind::Slot(slot) => capnp.type_name(slot.ty),
        FieldKind::Group(id) => capnp.type_name(Type::Struct(*id)),
    };
    let fields: Vec<String> = one.fields.iter().map(|field| format!("{} :{}", field.name, ty(field))).collect();
    format!("({})", fields.join(", "))
}
