//! The foot of a dump: counts, the ledger, a bar of letters, and what the letters mean.

use std::io::{self, Write};

use crate::formats::{self, Counts, Format};
use crate::model::bytemap::Cause;
use crate::render::style::Paint;
use crate::render::{View, wrap};
use crate::size::Causes;

/// Letters of the bar.
const BAR: u64 = 60;

/// Columns before the bar and the legend.
const INDENT: usize = 7;

/// Writes the foot.
///
/// # Errors
/// Output that cannot be written.
pub fn write(
    out: &mut dyn Write,
    format: Option<&dyn Format>,
    causes: &Causes,
    counts: &Counts,
    view: &View,
) -> io::Result<()> {
    writeln!(out)?;
    let said = format.map(|format| format.foot(counts)).unwrap_or_default();
    for line in said.iter().flat_map(|lines| lines.lines()) {
        for part in wrap::lines(line, view.width) {
            writeln!(out, "{part}")?;
        }
    }
    ledger(out, format, causes, Some(counts), view)
}

/// Kinds that the legend names.
const NAMED_KINDS: usize = 4;

/// Writes the ledger, its bar and its legend.
///
/// # Errors
/// Output that cannot be written.
pub fn ledger(
    out: &mut dyn Write,
    format: Option<&dyn Format>,
    causes: &Causes,
    counts: Option<&Counts>,
    view: &View,
) -> io::Result<()> {
    for (index, part) in wrap::lines(&causes.sentence(), view.width).iter().enumerate() {
        writeln!(out, "{}{part}", if index == 0 { "" } else { "    " })?;
    }
    if causes.total() == 0 {
        return Ok(());
    }
    let paint = Paint::new(view.color);
    let mut bar = String::new();
    for (cause, letters) in shares(causes) {
        let letters: String = std::iter::repeat_n(cause.letter(), letters).collect();
        paint.cause(cause, &letters, &mut bar);
    }
    writeln!(out, "{:INDENT$}[{bar}]", "")?;
    legend(out, format, causes, counts, view)
}

/// What the letters that occur mean, some to a line.
fn legend(
    out: &mut dyn Write,
    format: Option<&dyn Format>,
    causes: &Causes,
    counts: Option<&Counts>,
    view: &View,
) -> io::Result<()> {
    let paint = Paint::new(view.color);
    let mut line = String::new();
    let mut used = INDENT;
    for (cause, _) in causes.present() {
        let closer = format.zip(counts).and_then(|(format, counts)| format.legend_of(cause, counts));
        let mut words = closer
            .unwrap_or_else(|| format.map_or(formats::common_legend(cause), |format| format.legend(cause)).to_string());
        if let (Cause::Type, Some(format), Some(counts)) = (cause, format, counts) {
            words.push_str(&named(&counts.kind_names(format, cause)));
        }
        let width = wrap::width(&words).saturating_add(5);
        if used > INDENT && used.saturating_add(width) > view.width {
            writeln!(out, "{:INDENT$}{}", "", line.trim_end())?;
            line.clear();
            used = INDENT;
        }
        paint.cause(cause, &cause.letter().to_string(), &mut line);
        line.push_str(&format!(" {words}   "));
        used = used.saturating_add(width);
    }
    writeln!(out, "{:INDENT$}{}", "", line.trim_end())
}

/// ` (uint16, uint32)`, some of the kinds that stand behind a cause.
fn named(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().copied().take(NAMED_KINDS).collect();
    let more = if names.len() > NAMED_KINDS { ", ..." } else { "" };
    if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) }
}

/// Letters of the bar for each cause that occurs: in proportion, at least one, together [`BAR`].
fn shares(causes: &Causes) -> Vec<(Cause, usize)> {
    let total = causes.total().max(1);
    let mut shares: Vec<(Cause, u64)> = causes
        .present()
        .map(|(cause, bytes)| {
            let exact = u128::from(bytes).saturating_mul(u128::from(BAR)) / u128::from(total);
            (cause, u64::try_from(exact).unwrap_or(BAR).max(1))
        })
        .collect();
    // Rounding leaves a few letters over or short: the largest share evens it out.
    let sum: u64 = shares.iter().map(|(_, letters)| letters).sum();
    if let Some((_, largest)) = shares.iter_mut().max_by_key(|(_, letters)| *letters) {
        *largest = largest.saturating_add(BAR).saturating_sub(sum).max(1);
    }
    shares.into_iter().map(|(cause, letters)| (cause, usize::try_from(letters).unwrap_or(1))).collect()
}

/// The letters of the causes that occur, as one line above a grid.
pub fn key(causes: impl Iterator<Item = Cause>) -> String {
    causes.map(|cause| format!("{} {}", cause.letter(), cause.name())).collect::<Vec<_>>().join("  ")
}
