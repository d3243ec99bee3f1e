//! Whether bytes are MessagePack. Nearly any bytes are a run of small integers, so that alone counts
//! for nothing; one container that ends where the input ends counts for much.

use crate::formats::probe::Probe;
use crate::formats::{Candidate, Context, Level, Sample};
use crate::model::diag::Code;
use crate::model::num::count;
use crate::model::value::Shape;

use super::{MessagePack, wire};

/// The candidate that every input gets, with what speaks for and against it.
pub fn detect(sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
    let probe = Probe::of(&MessagePack, sample, context);
    let mut candidate = Candidate {
        format: "msgpack",
        variant: "plain",
        level: Level::Possible,
        score: 0,
        pro: Vec::new(),
        contra: Vec::new(),
    };
    judge(&probe, sample, &mut candidate);
    candidate
}

fn judge(probe: &Probe, sample: &Sample<'_>, candidate: &mut Candidate) {
    if sample.bytes.is_empty() {
        candidate.contra.push("0 bytes: MessagePack has no empty message".to_string());
        return;
    }
    let text = is_ascii_text(sample.bytes);
    if text {
        candidate
            .contra
            .push("printable text: each of its bytes alone is a positive fixint, as in any text".to_string());
    }
    if let Some(error) = &probe.error {
        candidate.contra.push(format!("{:#04x}: {}", error.start, error.message));
    }
    if probe.bad_texts > 0 {
        candidate.contra.push(count(probe.bad_texts, "str that is not UTF-8", "strs that are not UTF-8"));
    }
    let (score, evidence) = if probe.errors == 0 { sound(probe, sample) } else { damaged(probe, sample) };
    candidate.pro.extend(evidence);
    candidate.score =
        if text { score.min(20) } else { score.saturating_sub(if probe.bad_texts > 0 { 150 } else { 0 }) };
    candidate.level = match candidate.score {
        900.. => Level::Certain,
        500.. => Level::Likely,
        _ => Level::Possible,
    };
}

/// Score and evidence where everything fits.
fn sound(probe: &Probe, sample: &Sample<'_>) -> (u32, Vec<String>) {
    let first = first_word(probe, sample);
    let named = probe.names > 0;
    if probe.messages == 1 {
        let ends = if sample.complete { "ends exactly at the last byte" } else { "goes on past the first MiB" };
        let evidence = vec![format!("the first object, {first}, {ends}")];
        return match (probe.first, named) {
            (Some(_), true) => (960, evidence),
            (Some(_), false) if probe.leaves > 3 => (800, evidence),
            (Some(_), false) => (600, evidence),
            (None, _) => (if sample.bytes.len() > 3 { 650 } else { 250 }, evidence),
        };
    }
    let scalars = probe.messages.saturating_sub(probe.containers);
    let ends = if sample.complete { "end at the last byte" } else { "fill the first MiB" };
    if scalars == 0 {
        let evidence = vec![format!("{} objects in a row, all of them arrays or maps, {ends}", probe.messages)];
        return (if named { 930 } else { 700 }, evidence);
    }
    let evidence = vec![format!("{} objects in a row {ends}, {scalars} of them single values", probe.messages)];
    // The share of bytes that are objects of their own: in random bytes half of them are.
    let loose = probe.single_bytes.saturating_mul(100).checked_div(probe.leaves).unwrap_or(100);
    let score = match loose {
        0..=10 if named => 600,
        0..=30 => 250,
        31..=70 => 100,
        _ => 30,
    };
    (score, evidence)
}

/// Score and evidence where something does not fit.
fn damaged(probe: &Probe, sample: &Sample<'_>) -> (u32, Vec<String>) {
    let Some(error) = &probe.error else { return (0, Vec::new()) };
    let first = first_word(probe, sample);
    let size = u64::try_from(sample.bytes.len()).unwrap_or(u64::MAX).max(1);
    let sound_part = error.start.saturating_mul(100).checked_div(size).unwrap_or(0);
    if error.code == Code::MpDepth && probe.messages == 1 {
        return (400, vec![format!("begins with {first}, nested deeper than readers go")]);
    }
    let many = probe.messages > 1 && probe.containers < probe.messages;
    if probe.names > 0 && probe.bad_texts == 0 {
        let names = count(probe.names, "name", "names");
        let text = format!("begins with {first}; {names} and {} parts fit up to {:#04x}", probe.leaves, error.start);
        let score = match (many, sound_part) {
            (false, 50..) => 650,
            (false, _) => 450,
            (true, 30..) => 280,
            (true, _) => 120,
        };
        return (score, vec![text]);
    }
    if many {
        return (10, Vec::new());
    }
    // One object that is cut or faulty: nothing says more than its first byte.
    let score = match (probe.first, sound_part) {
        (Some(_), 30..) => 300,
        (Some(_), _) => 60,
        (None, _) if error.code == Code::MpNeverUsed => 10,
        (None, _) => 60,
    };
    (score, vec![format!("begins with {first}, sound up to {:#04x}", error.start)])
}

fn first_word(probe: &Probe, sample: &Sample<'_>) -> String {
    match probe.first {
        Some((Shape::Map, Some(1))) => "a map of 1 entry".to_string(),
        Some((Shape::Map, size)) => format!("a map of {} entries", size.unwrap_or(0)),
        Some((Shape::List, Some(1))) => "an array of 1 element".to_string(),
        Some((Shape::List, size)) => format!("an array of {} elements", size.unwrap_or(0)),
        None => {
            let byte = sample.bytes.first().copied().unwrap_or(0);
            wire::article(wire::first(byte).kind)
        }
    }
}

/// Printable ASCII and white space throughout.
fn is_ascii_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\t' | b'\n' | b'\r'))
}
