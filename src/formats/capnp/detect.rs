//! Whether bytes are Cap'n Proto, in which variant, and what speaks for it.

use crate::formats::capnp::judge::judge;
use crate::formats::capnp::message::{self, Messages};
use crate::formats::capnp::wire::{Pointer, WORD, pointer};
use crate::formats::capnp::{decode, packed};
use crate::formats::{Candidate, Context, Level, Sample};
use crate::model::diag::Severity;
use crate::model::limits;
use crate::model::num::{count, len64};
use crate::wire::reader::Bytes;

/// Bytes of a sample that is cut which are unpacked to look at.
const LOOKED_AT: usize = 64 * 1024;

/// What speaks for and against Cap'n Proto.
pub fn detect(sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
    let mut best = none("no segment table, and no struct pointer at the start");
    if sample.bytes.is_empty() {
        return none("no bytes");
    }
    let plain = Bytes(sample.bytes);
    let mut take = |candidate: Candidate| {
        if candidate.score > best.score || (best.score == 0 && !candidate.contra.is_empty()) {
            best = candidate;
        }
    };
    take(framed(plain, sample.complete, "framed", context));
    take(flat(plain, sample.complete, "flat", context));
    let short = sample.bytes.get(..LOOKED_AT).filter(|_| !sample.complete).unwrap_or(sample.bytes);
    let unpacked = packed::unpack(short, false);
    // Of a sample that is cut the last word is missing, and nothing is wrong with that.
    let whole = unpacked.wrong.is_none() || !sample.complete;
    if unpacked.bytes.len() >= 16 && len64(short.len()) > 2 {
        let words = Bytes(&unpacked.bytes);
        let mut packed = framed(words, sample.complete, "packed", context);
        if !whole {
            packed.score = packed.score.min(CUT);
            if let Some(first) = packed.pro.first_mut() {
                *first = "unpacks up to its end, which is cut".to_string();
            }
            packed.contra.extend(unpacked.wrong.as_ref().map(|found| found.message.clone()));
        }
        take(packed);
        if whole {
            take(flat(words, sample.complete, "flat-packed", context));
        }
    }
    told(best, context)
}

/// The score of a packed input that is cut.
const CUT: u32 = 260;

/// The score of bytes that fit nothing where a schema of this language was told.
const TOLD: u32 = 210;

/// A schema of this language was told: somebody means it.
fn told(mut best: Candidate, context: &Context<'_>) -> Candidate {
    if context.schema.is_some_and(|schema| schema.capnp.is_some()) {
        best.score = best.score.saturating_add(60).clamp(TOLD, 995);
        best.pro.push("a .capnp schema was told".to_string());
    }
    best
}

fn none(why: &str) -> Candidate {
    Candidate {
        format: "capnp",
        variant: "framed",
        level: Level::Possible,
        score: 0,
        pro: Vec::new(),
        contra: vec![why.to_string()],
    }
}

fn candidate(variant: &'static str, score: u32, pro: Vec<String>, contra: Vec<String>) -> Candidate {
    let level = match score {
        900.. => Level::Certain,
        500..900 => Level::Likely,
        _ => Level::Possible,
    };
    Candidate { format: "capnp", variant, level, score, pro, contra }
}

/// A segment table that fits, and what its segments hold.
fn framed(bytes: Bytes<'_>, complete: bool, variant: &'static str, context: &Context<'_>) -> Candidate {
    let segments = bytes.u32(0).map_or(u64::MAX, u64::from).saturating_add(1);
    if segments > limits::CAPNP_SEGMENTS {
        let what = if variant == "packed" { "unpacked, " } else { "" };
        return none(&format!("{what}0x00: a segment table of {segments} segments; readers take 512"));
    }
    let table = message::table_size(segments);
    if table.saturating_add(WORD) > bytes.len() {
        return none("too short for a segment table and a root pointer");
    }
    let padding = table.saturating_sub(4).saturating_sub(segments.saturating_mul(4));
    let pad = bytes.clipped(table.saturating_sub(padding), table);
    if pad.iter().any(|byte| *byte != 0) {
        return none("the zeros behind an odd number of segment sizes are missing");
    }
    if bytes.u32(4) == Some(0) {
        return none("0x04: a first segment of no words");
    }
    let messages = message::framed(bytes);
    let words: u64 = messages.segments.iter().map(|segment| segment.words).sum();
    let last = words.saturating_mul(WORD);
    let sound_table = messages.faults.iter().all(|fault| fault.what.severity() != Severity::Error);
    if sound_table && !messages.list.is_empty() && complete || fits_so_far(&messages, bytes, complete) {
        return sound(bytes, &messages, complete, variant, context, segments);
    }
    let Some(root) = messages.list.first().map(|message| bytes.u64(message.table_end).unwrap_or(0)) else {
        return none("no message begins here");
    };
    // A message that is cut: the table announces more than there is.
    let plausible = matches!(pointer(root), Pointer::Struct { offset, .. } if (-1..64).contains(&offset))
        || matches!(pointer(root), Pointer::Far { segment, .. } if u64::from(segment) < segments);
    let due = table.saturating_add(last);
    if plausible && due < bytes.len().saturating_mul(64) && due > bytes.len() {
        let pro = vec![format!(
            "a segment table of {} and a root pointer; {} of {due} bytes are there",
            count(segments, "segment", "segments"),
            bytes.len()
        )];
        return candidate(variant, if variant == "packed" { 180 } else { 320 }, pro, Vec::new());
    }
    none(&format!("the segment table announces {due} bytes, and {} are there", bytes.len()))
}

/// Whether a table announces more than the beginning of an input that is known.
fn fits_so_far(messages: &Messages, bytes: Bytes<'_>, complete: bool) -> bool {
    let Some(first) = messages.list.first() else { return false };
    let root = bytes.u64(first.table_end).unwrap_or(0);
    let segment = messages.segments.first().map_or(0, |segment| segment.words);
    let Pointer::Struct { offset, data, pointers } = pointer(root) else { return false };
    let end = i64::from(offset).saturating_add(1 + i64::from(data) + i64::from(pointers));
    !complete && offset >= 0 && u64::try_from(end).is_ok_and(|end| end <= segment)
}

/// The messages hold together as far as their tables go.
fn sound(
    bytes: Bytes<'_>,
    messages: &Messages,
    complete: bool,
    variant: &'static str,
    context: &Context<'_>,
    segments: u64,
) -> Candidate {
    let judged = judge(bytes, messages, None, None, context.depth);
    let mut pro = Vec::new();
    let words: u64 = messages.segments.iter().map(|segment| segment.words).sum();
    if decode::is_packed(variant) {
        pro.push("unpacks without a byte left over".to_string());
    }
    match messages.list.len() {
        1 => pro.push(format!(
            "segment table: {} of {}, {} + {} = {}{}",
            count(segments, "segment", "segments"),
            count(words, "word", "words"),
            message::table_size(segments),
            words.saturating_mul(WORD),
            message::table_size(segments).saturating_add(words.saturating_mul(WORD)),
            if complete && messages.end == bytes.len() { ", all of it" } else { "" }
        )),
        many => pro.push(format!("{many} messages in a row")),
    }
    if judged.errors == 0 && judged.objects > 0 {
        pro.push(format!(
            "{} that all hold",
            count(judged.objects, "object behind pointers", "objects behind pointers")
        ));
    }
    let mut contra = Vec::new();
    let mut score: u32 = match (judged.objects, judged.texts) {
        (0, _) => 420,
        (1..=2, 0) => 800,
        _ => 940,
    };
    if !complete {
        score = score.clamp(700, 900);
    } else if judged.errors > 0 {
        contra.push(count(judged.errors, "error", "errors"));
        score = 520;
    }
    if messages.end < bytes.len() && complete {
        contra.push(format!("{} behind it", crate::model::num::bytes(bytes.len().saturating_sub(messages.end))));
        score = score.saturating_sub(150);
    }
    let half = judged.words / 2;
    if complete && judged.unreached > half && judged.unreached > 8 {
        contra.push(format!("{} of {} words that nothing points at", judged.unreached, judged.words));
        score = score.saturating_sub(200);
    }
    candidate(variant, score, pro, contra)
}

/// A segment without a table: the first word is the root pointer.
fn flat(bytes: Bytes<'_>, complete: bool, variant: &'static str, context: &Context<'_>) -> Candidate {
    let root = bytes.u64(0).unwrap_or(0);
    let Pointer::Struct { offset, data, pointers } = pointer(root) else {
        return none("0x00: the first word is no struct pointer");
    };
    let words = bytes.len() / WORD;
    let size = u64::from(data).saturating_add(u64::from(pointers));
    if !(0..1024).contains(&offset) || size == 0 {
        return none("0x00: as a root pointer the first word leads nowhere near");
    }
    if !complete {
        return none("without its end a segment without a table cannot be told");
    }
    let messages = message::flat(bytes);
    let judged = judge(bytes, &messages, None, None, context.depth);
    let holds = judged.errors == 0 && judged.objects > 0;
    if !holds || judged.unreached > words / 10 {
        return none(&format!(
            "as a flat segment {} and {} of {words} words that nothing points at",
            count(judged.errors, "error", "errors"),
            judged.unreached
        ));
    }
    let mut pro = Vec::new();
    if decode::is_packed(variant) {
        pro.push("unpacks without a byte left over".to_string());
    }
    pro.push(format!(
        "the first word is a struct pointer, and {} hold{} up to the last of {words} words",
        count(judged.objects, "object", "objects"),
        if judged.objects == 1 { "s" } else { "" }
    ));
    let mut score: u32 = match (judged.objects, judged.texts) {
        (1, 0) => 260,
        (1..=2, _) => 480,
        (_, 0) => 640,
        _ => 780,
    };
    if !bytes.len().is_multiple_of(WORD) || judged.unreached > 0 {
        score = score.saturating_sub(120);
    }
    if decode::is_packed(variant) {
        score = score.saturating_sub(60);
    }
    candidate(variant, score, pro, Vec::new())
}
