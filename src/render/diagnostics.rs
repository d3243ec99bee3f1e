//! Findings as lines on stderr, in the form that editors and CI parse:
//! `file:offset: severity[code]: sentence`.

use std::io::{self, Write};

use crate::model::diag::{Diagnostic, Tally};
use crate::model::num;

/// The line of one finding.
pub fn line(name: &str, found: &Diagnostic) -> String {
    let at = if found.path.is_empty() { String::new() } else { format!(" (at {})", found.path) };
    format!("{name}:{:#04x}: {}[{}]: {}{at}", found.start, found.severity().name(), found.code.text(), found.message)
}

/// `2 errors, 8 warnings`
pub fn counted(tally: &Tally) -> String {
    let parts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| num::count(*count, word, &format!("{word}s"))).collect::<Vec<_>>().join(", ")
}

/// Writes the lines of all findings, and how many more there are.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, name: &str, found: &[Diagnostic], tally: &Tally) -> io::Result<()> {
    for one in found {
        writeln!(out, "{}", line(name, one))?;
    }
    match tally.untold() {
        0 => Ok(()),
        more => writeln!(out, "{name}: {more} more findings of these kinds are only counted"),
    }
}
