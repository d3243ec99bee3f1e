//! A plain panel of bytes that nothing recognised, drawn by the hexyl library.

use std::io::Write;

use hexyl::{BorderStyle, PrinterBuilder};

use crate::model::events::Flow;
use crate::model::num;
use crate::render::View;
use crate::wire::reader::Window;

/// Bytes shown where not all are asked for.
const SHOWN: usize = 256;

/// Draws the first bytes of an input.
///
/// # Errors
/// Input that cannot be read, output that cannot be written.
pub fn write(out: &mut dyn Write, window: &mut Window, view: &View) -> Flow {
    let bytes = window.at(0, SHOWN)?.to_vec();
    if bytes.is_empty() {
        return Ok(());
    }
    let shown = u64::try_from(bytes.len()).unwrap_or(0);
    let more = window.size().map(|size| size.saturating_sub(shown));
    let mut drawn = Vec::new();
    PrinterBuilder::new(&mut drawn)
        .show_color(view.color)
        .with_border_style(BorderStyle::None)
        .enable_squeezing(false)
        .num_panels(if view.width >= 80 { 2 } else { 1 })
        .build()
        .print_all(&bytes[..])?;
    out.write_all(&drawn)?;
    let written = match more {
        Some(0) => Ok(()),
        Some(more) => writeln!(out, "      ... {} (--all shows them)", num::count(more, "more byte", "more bytes")),
        None => writeln!(out, "      ... and what follows (--all shows it)"),
    };
    Ok(written?)
}
