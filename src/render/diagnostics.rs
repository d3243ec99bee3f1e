//! Findings as lines on stderr, in the form that editors and CI parse:
//! `file:offset: severity[code]: sentence`.

use crate::inspect::Inspection;
use crate::model::diag::{Code, Diagnostic, Tally};
use crate::model::num;
use crate::render::wrap;

/// Columns of a path; of a longer one the end is told.
const LONGEST_PATH: usize = 200;

/// The line of one finding.
pub fn line(name: &str, found: &Diagnostic) -> String {
    if found.code == Code::SchemaFinding {
        // It has its own place, in the form that editors read.
        let help = if found.help.is_empty() { String::new() } else { format!("\n    {}", found.help) };
        return format!("{}{help}", found.message);
    }
    let path = wrap::cut_left(&found.path, LONGEST_PATH);
    let at = if path.is_empty() { path } else { format!(" (at {path})") };
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
