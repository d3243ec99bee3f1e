//! The overview of a large input: how many bytes each field takes, in a table.

use std::io::{self, Write};

use crate::formats::Format;
use crate::model::num;
use crate::render::hexdump::Example;
use crate::render::{View, foot, wrap};
use crate::size::{FieldLine, Ledger};

/// Lines of the table before the rest is added up.
const LINES: usize = 9;

/// Writes the table and the ledger by cause.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, format: Option<&dyn Format>, ledger: &Ledger, view: &View) -> io::Result<()> {
    let total = ledger.causes.total();
    let mut lines: Vec<(&str, &FieldLine)> = ledger.fields.iter().map(|(path, line)| (path.as_str(), line)).collect();
    lines.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(b.0)));
    let rest = lines.split_off(lines.len().min(LINES));
    let name_width = lines.iter().map(|(path, _)| wrap::width(path)).max().unwrap_or(0).clamp(20, 48);
    writeln!(out, "  {:<name_width$}  {:>9}  {:>11}  {:>5}  {:>9}  kinds", "field", "count", "bytes", "%", "average")?;
    for (path, line) in &lines {
        let path = if path.is_empty() { "(the message itself)" } else { path };
        let path = wrap::cut_left(path, name_width);
        let (count, bytes, average) = (line.count, line.bytes, tenths(line.bytes, line.count));
        let share = percent(bytes, total);
        let text = format!("  {path:<name_width$}  {count:>9}  {bytes:>11}  {share:>5}  {average:>9}  {}", kinds(line));
        writeln!(out, "{}", text.trim_end())?;
    }
    let others = rest.iter().fold(ledger.others.bytes, |sum, line| sum.saturating_add(line.1.bytes));
    if others > 0 {
        let name = num::count(u64::try_from(rest.len()).unwrap_or(0), "other", "others");
        let name = if ledger.others.bytes > 0 { format!("{name} and more") } else { name };
        writeln!(out, "  {name:<name_width$}  {:>9}  {others:>11}  {:>5}", "", percent(others, total))?;
    }
    writeln!(out, "  {:<name_width$}  {:>9}  {total:>11}  {:>5}", "total", "", "100.0")?;
    foot::ledger(out, format, &ledger.causes, None, view)
}

/// Kinds that a line names.
const KINDS: usize = 2;

/// What the values of a field begin with: `uint16, uint32 ..`
fn kinds(line: &FieldLine) -> String {
    let names = line.kinds();
    let more = if names.len() > KINDS { " .." } else { "" };
    format!("{}{more}", names.iter().copied().take(KINDS).collect::<Vec<_>>().join(", "))
}

/// Ways to see more, with the path and range of an element of this very input where it has a list.
pub fn ways_on(example: Option<&Example>) -> String {
    match example {
        Some((path, Some((start, end)))) => format!("--path '{path}'  --range {start:#x}..{end:#x}"),
        Some((path, None)) => format!("--path '{path}'  --range A..B"),
        None => "--path PATH  --range A..B".to_string(),
    }
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
