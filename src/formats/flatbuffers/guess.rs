//! A schema from the bytes alone: which tables, vectors and strings there are, which tables are of one type, and what
//! their fields look like. The walk and the values then read the buffer by it as by any other.
//!
//! ```text
//! search   tables and strings that offsets lead to; what else may be an offset is noted
//! gaps     bytes that are left: a vector of numbers where its count fills them to the last byte but zeros
//! search   again, with these
//! types    tables of one vector, of one slot, or with one vtable and fields of one kind are of one type
//! ```

use std::collections::{HashMap, HashSet};

use crate::formats::flatbuffers::found;
use crate::formats::flatbuffers::found::{Buffer, Found, Shared, What};
use crate::formats::flatbuffers::objects::{self, Hints};
use crate::formats::flatbuffers::words;
use crate::model::events::Reading;
use crate::model::flat::{Flat, Of};
use crate::model::limits::FLATBUFFERS_DEPTH;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::model::value::Scalar;
use crate::wire::reader::{Bytes, little_endian, little_endian_signed};

mod types;

/// Zeros between two objects that alignment may ask for.
const MOST_PADDING: u64 = 16;

/// What was guessed.
#[derive(Debug)]
pub struct Guess {
    /// The types.
    pub flat: Flat,
    /// That of the root.
    pub root: MessageId,
    /// What is known of places beyond the types.
    pub hints: Hints,
    /// What there is.
    pub counts: Counts,
}

/// What a guess finds in a buffer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Tables.
    pub tables: u64,
    /// Vtables.
    pub vtables: u64,
    /// Strings.
    pub texts: u64,
    /// Vectors.
    pub vectors: u64,
    /// Bytes that are neither reached nor zero.
    pub unread: u64,
    /// Something is wrong with an offset, or with the root.
    pub wrong: bool,
}

/// Guesses the types of a buffer.
pub fn guess(bytes: Bytes<'_>, buffer: Buffer) -> Guess {
    let empty = Flat::default();
    let first = objects::search_with(bytes, buffer, None, Some(&empty), FLATBUFFERS_DEPTH, &Hints::default());
    let hints = Hints { places: in_gaps(bytes, buffer, &first), no_vtables: overlapped(&first) };
    let found = match hints.places.is_empty() && hints.no_vtables.is_empty() {
        true => first,
        false => objects::search_with(bytes, buffer, None, Some(&empty), FLATBUFFERS_DEPTH, &hints),
    };
    let counts = counts(bytes, buffer, &found);
    let (flat, root) = types::of(bytes, &found);
    Guess { flat, root, hints, counts }
}

fn is_zero(bytes: Bytes<'_>, start: u64, end: u64) -> bool {
    bytes.clipped(start, end).iter().all(|byte| *byte == 0)
}

/// Where vtables lie on other objects: what uses them is no table.
fn overlapped(found: &Found) -> HashSet<u64, foldhash::fast::FixedState> {
    let starts = |shared: &&Shared| {
        let (start, end) = (shared.vtable.start, shared.vtable.start.saturating_add(shared.vtable.size));
        let next = found.objects.partition_point(|object| object.start < end);
        let before = next.checked_sub(1).and_then(|at| found.objects.get(at));
        before.is_some_and(|object| object.end > start && object.start != start)
    };
    found.vtables.iter().filter(starts).map(|shared| shared.vtable.start).collect()
}

/// What may be offsets and lead into gaps: to vectors of numbers, and to empty strings.
fn in_gaps(bytes: Bytes<'_>, buffer: Buffer, found: &Found) -> HashMap<u64, Of, foldhash::fast::FixedState> {
    let mut targets = found.candidates.clone();
    targets.sort_unstable();
    targets.dedup();
    let mut hints: HashMap<u64, Of, foldhash::fast::FixedState> = HashMap::default();
    let mut next = 0usize;
    for (start, end) in found::gaps(buffer, found) {
        while targets.get(next).is_some_and(|target| *target < start) {
            next = next.saturating_add(1);
        }
        let mut at = start;
        while let Some(target) = targets.get(next).copied().filter(|target| *target < end) {
            next = next.saturating_add(1);
            let led_in = target >= at && target.saturating_sub(at) < MOST_PADDING && is_zero(bytes, at, target);
            if !led_in {
                continue;
            }
            let later = targets.get(next..).unwrap_or(&[]);
            if let Some((of, behind)) = vector_in(bytes, target, end, later) {
                hints.insert(target, of);
                at = behind;
            }
        }
    }
    hints
}

/// A vector of numbers at `at`, if its elements and zeros fill the bytes up to the next object; and where it ends.
fn vector_in(bytes: Bytes<'_>, at: u64, end: u64, later: &[u64]) -> Option<(Of, u64)> {
    let count = u64::from(bytes.u32(at)?);
    let from = at.checked_add(4).filter(|from| *from <= end)?;
    let behind = |to: u64| {
        let next = later.iter().copied().take(64).find(|next| *next >= to).unwrap_or(end).min(end);
        let fits = [next, end]
            .into_iter()
            .find(|next| *next >= to && next.saturating_sub(to) < MOST_PADDING && is_zero(bytes, to, *next));
        fits.map(|next| next.saturating_sub(to))
    };
    if count == 0 {
        let rest = behind(from)?;
        // An empty string has a NUL, and zeros up to a multiple of 4.
        return Some(if rest >= 4 { (Of::Text, from.saturating_add(1)) } else { (Of::Raw(1), from) });
    }
    let mut best: Option<(u64, u8)> = None;
    for width in [1u8, 2, 4, 8] {
        let to = from.checked_add(count.checked_mul(u64::from(width))?)?;
        if to > end || !from.is_multiple_of(u64::from(width)) {
            continue;
        }
        if let Some(rest) = behind(to).filter(|rest| best.is_none_or(|(least, _)| *rest <= least)) {
            best = Some((rest, width));
        }
    }
    let (_, width) = best?;
    Some((Of::Raw(width), from.saturating_add(count.saturating_mul(u64::from(width)))))
}

fn counts(bytes: Bytes<'_>, buffer: Buffer, found: &Found) -> Counts {
    let mut counts = Counts { vtables: len64(found.vtables.len()), ..Counts::default() };
    for object in &found.objects {
        let count = match object.what {
            What::Table(_) => &mut counts.tables,
            What::Text => &mut counts.texts,
            What::Vector(_) => &mut counts.vectors,
            What::Head | What::Struct(_) => continue,
        };
        *count = count.saturating_add(1);
    }
    counts.unread = found::unread(bytes, buffer, found);
    counts.wrong = !found.faults.is_empty();
    counts
}

/// The likeliest value of bytes whose type nobody knows.
pub fn value(bytes: &[u8]) -> Scalar<'static> {
    match best(bytes) {
        Best::Float => Scalar::F32(f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0))),
        Best::Double => Scalar::F64(f64::from_bits(little_endian(bytes))),
        Best::Integer => Scalar::Int(little_endian_signed(bytes)),
    }
}

/// What bytes are best read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Best {
    Integer,
    Float,
    Double,
}

/// A float is taken for one where it has a size that people use and its integer is a large one.
fn best(bytes: &[u8]) -> Best {
    let sane = |value: f64| value.is_finite() && (1e-6..1e12).contains(&value.abs());
    let number = little_endian_signed(bytes);
    match bytes.len() {
        4 if number.unsigned_abs() > 0x0080_0000 => {
            let value = f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0));
            if sane(f64::from(value)) { Best::Float } else { Best::Integer }
        }
        8 if number.unsigned_abs() > 1 << 52 => {
            if sane(f64::from_bits(little_endian(bytes))) {
                Best::Double
            } else {
                Best::Integer
            }
        }
        _ => Best::Integer,
    }
}

/// What bytes of unknown type say, the best reading first: `4 bytes: int 39 (float 5.465e-44)`.
pub fn raw_words(bytes: &[u8], text: &mut String, readings: &mut Vec<Reading>) {
    let len = len64(bytes.len());
    let signed = little_endian_signed(bytes);
    text.push_str(&crate::model::num::bytes(len));
    text.push_str(": ");
    if !matches!(len, 1 | 2 | 4 | 8) {
        for (at, byte) in bytes.iter().take(16).enumerate() {
            text.push_str(if at > 0 { " " } else { "" });
            text.push_str(&format!("{byte:02x}"));
        }
        text.push_str(if len > 16 { " .. (a struct?)" } else { " (a struct?)" });
        return;
    }
    let rival = |kind, value: String| Reading { kind, value, why: "the same bytes".to_string() };
    if len == 1 {
        let number = little_endian(bytes);
        text.push_str(&number.to_string());
        readings.push(Reading { kind: "ubyte", value: number.to_string(), why: "a number fits always".to_string() });
        match bytes.first() {
            Some(0 | 1) => {
                text.push_str(&format!(" (bool {}, enum, union?)", number == 1));
                readings.push(rival("bool", (number == 1).to_string()));
            }
            Some(128..) => {
                text.push_str(&format!(" (byte {signed})"));
                readings.push(rival("byte", signed.to_string()));
            }
            _ => {
                text.push_str(" (enum, union?)");
                readings.push(rival("enum", number.to_string()));
            }
        }
        return;
    }
    if len == 2 {
        let number = little_endian(bytes);
        text.push_str(&format!("short {signed}"));
        readings.push(Reading { kind: "short", value: signed.to_string(), why: "a number fits always".to_string() });
        if number != signed.cast_unsigned() {
            text.push_str(&format!(" (ushort {number})"));
        }
        readings.push(rival("ushort", number.to_string()));
        return;
    }
    let name = match len {
        4 => "int",
        _ => "long",
    };
    let integer = format!("{name} {signed}");
    let float = match len {
        4 => format!("float {}", short(f64::from(f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0))))),
        _ => format!("double {}", short(f64::from_bits(little_endian(bytes)))),
    };
    let float_first = best(bytes) != Best::Integer;
    let (first, second) = if float_first { (&float, &integer) } else { (&integer, &float) };
    text.push_str(&format!("{first} ({second})"));
    for (words, why) in [(first, "likelier by its size"), (second, "the same bytes")] {
        let (kind, value) = words.split_once(' ').unwrap_or((words, ""));
        readings.push(Reading { kind: kind_name(kind), value: value.to_string(), why: why.to_string() });
    }
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "int" => "int",
        "long" => "long",
        "float" => "float",
        _ => "double",
    }
}

/// A float in few digits.
fn short(value: f64) -> String {
    let mut text = String::new();
    if value == 0.0 || (1e-4..1e15).contains(&value.abs()) || !value.is_finite() {
        words::push_scalar(crate::model::flat::Scalar::Double, &value.to_le_bytes(), &mut text);
        if text.len() > 12 {
            return format!("{value:.4}");
        }
        return text;
    }
    format!("{value:.3e}")
}
