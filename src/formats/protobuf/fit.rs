//! Which type of a schema a message is of: each is tried on the bytes, and the one that knows all of them and
//! contradicts none fits best. [`walk`] tries one type, this file ranks them and says why.

use std::collections::HashMap;

use crate::formats::{Context, Fit, Sample};
use crate::model::num::{count, len64, listed};
use crate::model::schema::{FieldKind, Message, MessageId, Presence, Schema, WellKnown};

use super::chain::{Frames, Framing};
use super::guess::scan::Fields;
use super::wire::WireType;

mod walk;

use walk::{Tally, walk};

/// Bytes of the sample that are tried.
const TRIED: usize = 64 * 1024;
/// Bytes that are walked for all types together, beyond [`SURE`] types.
const WALKED: usize = 4 * 1024 * 1024;
/// Types that are walked whatever it costs.
const SURE: usize = 8;
/// Different fields at the top that are told apart.
const DIFFERENT: usize = 256;
/// The score of a type that fits without fault, before what it is told from.
const CLEAN: i64 = 1_000_000;
/// What a type has ahead that stands in a file that was told.
const TOLD: i64 = 50_000;
/// Types and fields that a sentence names.
const NAMED: usize = 4;

/// A message of the sample, or the beginning of one.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    bytes: &'a [u8],
    complete: bool,
}

/// All fields at the top with this number and wire type.
#[derive(Debug, Clone, Copy)]
struct Top {
    number: u32,
    wire: WireType,
    bytes: u64,
}

/// The root types of a schema by how well the sample fits them, best first.
pub fn fits(sample: &Sample<'_>, context: &Context<'_>, schema: &Schema) -> Vec<Fit> {
    let parts = parts(sample, context);
    let tops = tops(&parts);
    let roots: Vec<(MessageId, &Message)> = schema.roots().collect();
    let mut ranked: Vec<(Tally, MessageId, &Message)> =
        roots.into_iter().map(|(id, message)| (quick(message, &tops), id, message)).collect();
    ranked.sort_by_key(|(tally, _, message)| order(tally, message));
    let size: usize = parts.iter().map(|part| part.bytes.len()).sum();
    let affordable = WALKED.checked_div(size).unwrap_or(usize::MAX).max(SURE);
    for (tally, id, _) in ranked.iter_mut().take(affordable) {
        *tally = try_type(&parts, *id, schema);
    }
    ranked.sort_by_key(|(tally, _, message)| order(tally, message));
    let mut fits: Vec<Fit> = ranked
        .iter()
        .map(|(tally, id, message)| Fit {
            root: *id,
            score: score(tally, message),
            clean: tally.is_clean(),
            why: tally.words(),
        })
        .collect();
    let why = why(&ranked, &tops, size);
    if let Some(first) = fits.first_mut() {
        first.why = why;
    }
    fits
}

/// The messages that are tried.
fn parts<'a>(sample: &Sample<'a>, context: &Context<'_>) -> Vec<Part<'a>> {
    let bytes = sample.bytes.get(..TRIED).unwrap_or(sample.bytes);
    let complete = sample.complete && bytes.len() == sample.bytes.len();
    match Framing::of(context.variant) {
        None => vec![Part { bytes, complete }],
        Some(framing) => {
            // A cut at the end of the sample is found by the walk; it speaks against no type.
            let frames = Frames::new(bytes, framing, false).filter(|frame| frame.is_message());
            frames.map(|frame| Part { bytes: frame.content, complete: frame.whole }).collect()
        }
    }
}

/// What stands at the top of the messages, in the order in which it comes.
fn tops(parts: &[Part<'_>]) -> Vec<Top> {
    let mut tops: Vec<Top> = Vec::new();
    let mut places: HashMap<(u32, WireType), usize> = HashMap::new();
    for part in parts {
        let mut inside = 0usize;
        for field in Fields::new(part.bytes, part.complete) {
            let ends = field.wire == WireType::EGroup;
            inside = if ends { inside.saturating_sub(1) } else { inside };
            if inside == 0 && !ends {
                let bytes = len64(field.tag_len + field.value_len + field.content.len());
                let key = (field.number, field.wire);
                let next = tops.len();
                let place = *places.entry(key).or_insert(next);
                match tops.get_mut(place) {
                    Some(top) => top.bytes = top.bytes.saturating_add(bytes),
                    None if next < DIFFERENT => tops.push(Top { number: field.number, wire: field.wire, bytes }),
                    None => {}
                }
            }
            inside = inside.saturating_add(usize::from(field.wire == WireType::SGroup));
        }
    }
    tops
}

/// What the fields at the top alone say of a type.
fn quick(message: &Message, tops: &[Top]) -> Tally {
    let mut tally = Tally::default();
    for top in tops {
        match message.field(top.number) {
            None => tally.unknown(top.number.to_string(), top.bytes),
            Some(field) if walk::takes(field, top.wire) => tally.known_bytes += top.bytes,
            Some(field) => tally.clash(top.number.to_string(), top.wire, WireType::of_kind(&field.kind), top.bytes),
        }
    }
    tally
}

/// Walks all parts as one type.
fn try_type(parts: &[Part<'_>], id: MessageId, schema: &Schema) -> Tally {
    let mut tally = Tally::default();
    for part in parts {
        walk(part.bytes, part.complete, id, schema, &mut tally);
        if tally.is_hopeless() {
            break;
        }
    }
    tally
}

/// Orders types for one sample, higher is better.
fn score(tally: &Tally, message: &Message) -> i64 {
    let told = if message.told { TOLD } else { 0 };
    if tally.is_clean() { CLEAN + told - tally.odd_points() } else { tally.score() + i64::from(message.told) }
}

/// Sorts: the score, then types at the top of their file before nested ones, and these before the standard's.
fn order(tally: &Tally, message: &Message) -> (std::cmp::Reverse<i64>, bool, bool) {
    let known = message.well_known != WellKnown::No || message.full_name.starts_with("google.protobuf.");
    (std::cmp::Reverse(score(tally, message)), known, message.name.contains('.'))
}

/// Why the first type was taken.
fn why(ranked: &[(Tally, MessageId, &Message)], tops: &[Top], size: usize) -> String {
    let Some((tally, _, message)) = ranked.first() else { return String::new() };
    let types = ranked.len();
    let name = short_name(message);
    if types == 1 {
        let only = "the only type of the schema";
        return if tally.is_clean() { only.to_string() } else { format!("{only}, but {}", tally.words()) };
    }
    if size == 0 {
        return format!("0 bytes fit each of the {types} types: nothing can be told; {name} stands first");
    }
    if !tally.is_clean() {
        return format!("{name} fits best of {types}: {}", tally.words());
    }
    let all = all_fields(tops);
    let rivals: Vec<&str> = ranked.iter().skip(1).filter(|(tally, ..)| tally.is_clean()).map(|(.., message)| short_name(message)).collect();
    if rivals.is_empty() {
        let next = ranked.get(1).map(|(tally, _, message)| format!("{}, {}", short_name(message), tally.words()));
        let next = next.unwrap_or_default();
        return format!("{name} is the one type of {types} that knows {all} and clashes with none (next best: {next})");
    }
    let others = len64(rivals.len());
    let do_too = if others == 1 { "does" } else { "do" };
    let rivals = some_of(&rivals);
    format!("{name} knows {all} and clashes with none; of {types} types {rivals} {do_too} too")
}

fn short_name(message: &Message) -> &str {
    if message.name.is_empty() { &message.full_name } else { &message.name }
}

/// `all four fields`
fn all_fields(tops: &[Top]) -> String {
    let mut numbers: Vec<u32> = tops.iter().map(|top| top.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let words = ["no", "the one", "both", "all three", "all four", "all five", "all six", "all seven", "all eight", "all nine", "all ten"];
    match words.get(numbers.len()) {
        Some(word) if numbers.len() == 1 => format!("{word} field"),
        Some(word) => format!("{word} fields"),
        None => format!("all {} fields", numbers.len()),
    }
}

/// The first few of a list, and how many more there are.
fn some_of<T: AsRef<str>>(parts: &[T]) -> String {
    let mut shown: Vec<String> = parts.iter().take(NAMED).map(|part| part.as_ref().to_string()).collect();
    if parts.len() > NAMED {
        shown.push(format!("{} more", parts.len().saturating_sub(NAMED)));
    }
    listed(&shown)
}

/// Required fields of a type.
fn required(message: &Message) -> impl Iterator<Item = u32> + '_ {
    message.fields.iter().filter(|field| field.presence == Presence::Required).map(|field| field.number)
}

/// What a kind is called: its keyword, or the type's name.
fn kind_name(kind: &FieldKind, schema: &Schema) -> String {
    match kind {
        FieldKind::Message(id) | FieldKind::Group(id) => {
            schema.message(*id).map_or(String::new(), |message| short_name(message).to_string())
        }
        FieldKind::Enum(id) => schema.enumeration(*id).map_or(String::new(), |one| one.name.clone()),
        FieldKind::Opaque(name) => name.clone(),
        _ => kind.keyword().unwrap_or("").to_string(),
    }
}

/// `1 byte`, `fields 3 and 4`
fn fields_words(paths: &[String]) -> String {
    let noun = if paths.len() == 1 { "field" } else { "fields" };
    format!("{noun} {}", some_of(paths))
}

/// `3 fields` as a number with its noun.
fn fields_count(number: u64) -> String {
    count(number, "field", "fields")
}
