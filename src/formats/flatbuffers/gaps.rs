//! Bytes that no object claims: padding, and what nothing points at.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::tell::Teller;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::events::Flow;
use crate::model::num::{bytes, len64};

/// Zeros in a run from which they are no padding any more.
const SUSPICIOUS: u64 = 64;

/// Tells the bytes up to an offset.
///
/// # Errors
/// What the sink returns.
pub fn up_to(teller: &mut Teller<'_>, to: u64) -> Flow {
    let to = to.min(teller.bytes.len());
    if to <= teller.at {
        return Ok(());
    }
    let (start, gap) = (teller.at, teller.bytes.clipped(teller.at, to));
    let zeros = len64(gap.iter().take_while(|byte| **byte == 0).count());
    let ends = len64(gap.iter().rev().take_while(|byte| **byte == 0).count());
    if zeros == len64(gap.len()) && zeros < SUSPICIOUS {
        return padding(teller, to);
    }
    let first = if zeros < SUSPICIOUS { start.saturating_add(zeros) } else { start };
    let last = if ends < SUSPICIOUS { to.saturating_sub(ends).max(first) } else { to };
    padding(teller, first)?;
    unread(teller, last)?;
    padding(teller, to)
}

/// Zeros between objects.
fn padding(teller: &mut Teller<'_>, to: u64) -> Flow {
    let from = teller.at;
    if to <= from {
        return Ok(());
    }
    // Behind a string they end its row.
    let own = teller.opens_row();
    if own {
        teller.enter_field(Step::None, GroupKind::Part)?;
    }
    if teller.words {
        let len = to.saturating_sub(from);
        let reason = head_reason(teller, from, len);
        let words = teller.say();
        words.words = format!("|padding {len}{reason}");
        if own {
            words.field.push(' ');
        }
    }
    teller.leaf_of(from, to, Kind::PADDING, None, Flags::NONE)?;
    if own { teller.leave_field() } else { Ok(()) }
}

/// Why zeros stand behind the head of a buffer: its size is a multiple of the widest thing in it.
fn head_reason(teller: &Teller<'_>, from: u64, len: u64) -> String {
    let (Some(buffer), size) = (teller.found.buffers.first(), teller.bytes.len()) else { return String::new() };
    let head = [4, 8].map(|bytes| buffer.start.saturating_add(bytes));
    let align = teller.found.widest;
    if !head.contains(&from) || align <= 1 || len >= align || buffer.end != size || !size.is_multiple_of(align) {
        return String::new();
    }
    format!(", so that the file, {size} bytes, is a multiple of {align}")
}

/// Bytes that nothing points at.
fn unread(teller: &mut Teller<'_>, to: u64) -> Flow {
    let from = teller.at;
    if to <= from {
        return Ok(());
    }
    teller.enter(0)?;
    let len = to.saturating_sub(from);
    if teller.words {
        let who = if teller.found.partial { "nothing that could be read points here" } else { "nothing points here" };
        let text = format!("   -- {who}: {} {from:#04x}..{to:#04x}", bytes(len));
        teller.heading(u32::MAX, &text, "")?;
        let words = teller.say();
        words.field.push(' ');
        words.words = format!("{} that nothing points at", bytes(len));
        words.doubt = true;
    }
    let what = if teller.found.partial { Wrong::Unreached(len) } else { Wrong::Unreferenced(len) };
    teller.warn(from, to, what)?;
    teller.leaf_of(from, to, Kind::UNREAD, None, Flags::WARNING)
}
