//! Findings as lines on stderr, in the form that editors and CI parse:
//! `file:offset: severity[code]: sentence`.

use crate::inspect::Inspection;
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

/// The lines of all findings, and how many more there are.
pub fn lines(name: &str, found: &[Diagnostic], tally: &Tally) -> String {
    let mut lines: String = found.iter().map(|one| format!("{}\n", line(name, one))).collect();
    if tally.untold() > 0 {
        lines.push_str(&format!("{name}: {} more findings of these kinds are only counted\n", tally.untold()));
    }
    lines
}

/// The lines of the findings in the layers around a message; offsets are those of the layer.
pub fn outer(inspection: &Inspection) -> String {
    let layers = (1..).zip(&inspection.outer);
    layers
        .map(|(number, layer)| lines(&format!("{} (layer {number})", inspection.name), &layer.found, &Tally::default()))
        .collect()
}
