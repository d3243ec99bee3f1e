//! The overview of a large input: how many bytes each field takes, in a table.

use std::io::{self, Write};

use crate::formats::Format;
use crate::model::num;
use crate::render::{View, foot, wrap};
use crate::size::Ledger;

/// Lines of the table before the rest is added up.
const LINES: usize = 9;

/// Writes the table and the ledger by cause.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, format: Option<&dyn Format>, ledger: &Ledger, view: &View) -> io::Result<()> {
    let total = ledger.causes.total();
    let mut lines: Vec<(&str, u64, u64)> =
        ledger.fields.iter().map(|(path, line)| (path.as_str(), line.count, line.bytes)).collect();
    lines.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(b.0)));
    let rest = lines.split_off(lines.len().min(LINES));
    let name_width = lines.iter().map(|(path, ..)| wrap::width(path)).max().unwrap_or(0).clamp(20, 48);
    writeln!(out, "  {:<name_width$}  {:>9}  {:>11}  {:>5}  {:>9}", "field", "count", "bytes", "%", "average")?;
    for (path, count, bytes) in &lines {
        let path = if path.is_empty() { "(the message itself)" } else { path };
        let path = wrap::cut_left(path, name_width);
        let average = tenths(*bytes, *count);
        writeln!(out, "  {path:<name_width$}  {count:>9}  {bytes:>11}  {:>5}  {average:>9}", percent(*bytes, total))?;
    }
    let others = rest.iter().fold(ledger.others.bytes, |sum, line| sum.saturating_add(line.2));
    if others > 0 {
        let name = num::count(u64::try_from(rest.len()).unwrap_or(0), "other", "others");
        let name = if ledger.others.bytes > 0 { format!("{name} and more") } else { name };
        writeln!(out, "  {name:<name_width$}  {:>9}  {others:>11}  {:>5}", "", percent(others, total))?;
    }
    writeln!(out, "  {:<name_width$}  {:>9}  {total:>11}  {:>5}", "total", "", "100.0")?;
    foot::ledger(out, format, &ledger.causes, None, view)
}

/// Ways to see more, with paths and offsets of this very input where it has a list.
pub fn ways_on(ledger: &Ledger) -> String {
    let lists = ledger.fields.iter().filter(|(path, line)| path.ends_with("[]") && line.count > 1);
    let first = lists.min_by_key(|(path, _)| (path.matches("[]").count(), path.len(), path.as_str()));
    let path = match first {
        Some((path, line)) => format!("'{}[{}]'", path.trim_end_matches("[]"), (line.count / 2).min(41)),
        None => "PATH".to_string(),
    };
    let end = ledger.causes.total().min(0x200);
    format!("--path {path}  --range 0..{end:#x}")
}

fn percent(part: u64, total: u64) -> String {
    tenths(part.saturating_mul(100), total)
}

/// A quotient with one decimal, rounded.
fn tenths(part: u64, whole: u64) -> String {
    let Some(scaled) = part.saturating_mul(20).checked_div(whole) else { return "-".to_string() };
    let tenths = scaled.saturating_add(1) / 2;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_to_tenths() {
        assert_eq!(tenths(1_470_462, 73_780), "19.9");
        assert_eq!(percent(1_470_462, 9_130_197), "16.1");
        assert_eq!(tenths(1, 0), "-");
    }
}
