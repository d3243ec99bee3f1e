//! Bytes that no object claims: holes in segments, and what stands around messages.

use crate::formats::capnp::decode::Walk;
use crate::formats::capnp::faults::{Fault, Wrong};
use crate::formats::capnp::wire::{self, WORD};
use crate::formats::scattered::NONE;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::events::Flow;
use crate::model::num::{bytes, count};

/// Tells the bytes up to an offset.
///
/// # Errors
/// What the sink returns.
pub fn up_to(walk: &mut Walk<'_>, to: u64) -> Flow {
    let to = to.min(walk.teller.bytes.len());
    while walk.teller.at < to {
        let at = walk.teller.at;
        match segment_around(walk, at) {
            Some(end) => hole(walk, end.min(to))?,
            None => around(walk, to)?,
        }
    }
    Ok(())
}

/// Where the segment ends that an offset lies in.
fn segment_around(walk: &Walk<'_>, at: u64) -> Option<u64> {
    let segments = &walk.teller.chart.messages.segments;
    let place = segments.partition_point(|segment| segment.end <= at);
    segments.get(place).filter(|segment| segment.start <= at).map(|segment| segment.end)
}

/// Words of a segment that nothing points at: zeros in whole words are a hole.
fn hole(walk: &mut Walk<'_>, to: u64) -> Flow {
    let from = walk.teller.at;
    let zeros = zero_words(walk, from, to);
    let (to, zero) =
        if zeros > 0 { (from.saturating_add(zeros).min(to), true) } else { (next_zero_word(walk, from, to), false) };
    let partial = walk.teller.chart.objects.partial;
    let words = to.saturating_sub(from).div_ceil(WORD);
    walk.teller.enter(0)?;
    walk.teller.enter_field(Step::None, GroupKind::Value)?;
    if walk.teller.words {
        let who = if partial { "nothing that could be read points here" } else { "nothing points here" };
        let text = format!("   -- {who}: {} {from:#04x}..{to:#04x}", count(words, "word", "words"));
        walk.teller.heading(NONE, &text, "")?;
        let said = walk.teller.say();
        said.field.push(' ');
        said.words = match zero {
            true => format!("hole, {} of zeros", count(words, "word", "words")),
            false => format!("{} that nothing points at", count(words, "word", "words")),
        };
        said.doubt = !zero;
    }
    if zero {
        walk.teller.leaf(from, to, wire::HOLE, None, Flags::NONE)?;
    } else {
        let fault = Fault { start: from, end: to, what: Wrong::Unreachable(words, partial) };
        walk.teller.out.diagnostic(&fault.told())?;
        walk.teller.leaf_of(from, to, Kind::UNREAD, None, Flags::WARNING)?;
    }
    walk.teller.leave_field()
}

/// Bytes of zeros from an offset on, in whole words.
fn zero_words(walk: &Walk<'_>, from: u64, to: u64) -> u64 {
    let zeros = walk.teller.bytes.clipped(from, to).iter().take_while(|byte| **byte == 0).count();
    let zeros = crate::model::num::len64(zeros);
    if from.saturating_add(zeros) >= to { to.saturating_sub(from) } else { zeros / WORD * WORD }
}

/// Where the next word of zeros begins.
fn next_zero_word(walk: &Walk<'_>, from: u64, to: u64) -> u64 {
    let gap = walk.teller.bytes.clipped(from, to);
    let place = gap.chunks(8).position(|word| word.len() == 8 && word.iter().all(|byte| *byte == 0));
    place.map_or(to, |words| from.saturating_add(crate::model::num::len64(words).saturating_mul(WORD)))
}

/// Bytes outside all segments.
fn around(walk: &mut Walk<'_>, to: u64) -> Flow {
    let from = walk.teller.at;
    let segments = &walk.teller.chart.messages.segments;
    let next = segments.iter().map(|segment| segment.start).filter(|start| *start > from).min();
    let to = to.min(next.unwrap_or(to));
    walk.teller.enter(0)?;
    walk.teller.enter_field(Step::None, GroupKind::Value)?;
    if walk.teller.words {
        let text = format!("   -- outside of all segments: {} {from:#04x}..{to:#04x}", bytes(to.saturating_sub(from)));
        walk.teller.heading(NONE, &text, "")?;
        let said = walk.teller.say();
        said.field.push(' ');
        said.words = format!("{} that belong to no message", bytes(to.saturating_sub(from)));
    }
    walk.teller.leaf_of(from, to, Kind::UNREAD, None, Flags::NONE)?;
    walk.teller.leave_field()
}
