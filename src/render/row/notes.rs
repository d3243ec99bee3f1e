//! What stands below a line: carets, and the text of a note or a finding.

use super::Look;
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::render::line::{Line, pad};
use crate::render::wrap;

/// Carets below a line, and beside them the text.
pub fn note(
    out: &mut String,
    carets: &[(u64, u64)],
    text: &str,
    severity: Option<Severity>,
    line: &Line,
    look: &Look<'_>,
) {
    let columns = look.columns;
    let marks = marks(carets, line, look);
    let paint = |part: &str, out: &mut String| match severity {
        Some(severity) => look.paint.severity(severity, part, out),
        None => look.paint.dim(part, out),
    };
    let room = columns.field.saturating_add(1).saturating_add(columns.meaning).max(20);
    for (index, part) in wrap::lines(text, room).iter().enumerate() {
        out.push_str(&" ".repeat(columns.bytes_at));
        let mut column = columns.bytes_at;
        if index == 0 {
            paint(&marks, out);
            column = column.saturating_add(marks.len());
        }
        pad(out, &mut column, columns.field_at);
        paint(part, out);
        out.push('\n');
    }
}

/// The carets under the bytes of a line.
fn marks(carets: &[(u64, u64)], line: &Line, look: &Look<'_>) -> String {
    let mut marks = String::new();
    for (from, to) in carets {
        let from = (*from).max(line.start);
        let to = (*to).min(line.end());
        let Some(cells) = to.checked_sub(from).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) else {
            continue;
        };
        let first = usize::try_from(from.saturating_sub(line.start)).unwrap_or(0);
        let column = look.columns.indent(look.depth).saturating_add(first.saturating_mul(3));
        while marks.len() < column {
            marks.push(' ');
        }
        marks.push_str(&"^".repeat(cells.saturating_mul(3).saturating_sub(1)));
    }
    marks
}

/// `ERROR mp-cut: what is wrong. What to try`
pub fn finding(found: &Diagnostic) -> String {
    let label = match found.code {
        Code::SchemaFinding => format!("SCHEMA {}", found.message),
        code => format!("{} {}: {}", found.severity().name().to_uppercase(), code.text(), found.message),
    };
    if found.help.is_empty() { label } else { format!("{label}. {}", sentence(&found.help)) }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
