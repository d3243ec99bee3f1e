//! Which type of a schema a message is of: each is tried on the bytes, and the one that knows all of them and
//! contradicts none fits best. [`mod@walk`] tries one type, this file ranks them and says why.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::formats::{Context, Fit, Sample};
use crate::model::num::{count, len64, listed};
use crate::model::schema::{FieldKind, Message, MessageId, Presence, Schema, WellKnown};

use super::chain::{Frame, Frames, Framing};
use super::guess::scan::Fields;
use super::gzip::inflated;
use super::wire::{FLAG_COMPRESSED, WireType};

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
#[derive(Debug, Clone)]
struct Part<'a> {
    bytes: Cow<'a, [u8]>,
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
    let roots = candidates(schema);
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

/// The types a message may be of: the standard's own, which every schema has, only where there is no other.
fn candidates(schema: &Schema) -> Vec<(MessageId, &Message)> {
    let is_own = |message: &Message| message.told || !message.full_name.starts_with("google.protobuf.");
    let own: Vec<_> = schema.roots().filter(|(_, message)| is_own(message)).collect();
    if own.is_empty() { schema.roots().collect() } else { own }
}

/// The messages that are tried.
fn parts<'a>(sample: &Sample<'a>, context: &Context<'_>) -> Vec<Part<'a>> {
    let bytes = sample.bytes.get(..TRIED).unwrap_or(sample.bytes);
    let complete = sample.complete && bytes.len() == sample.bytes.len();
    match Framing::of(context.variant) {
        None => vec![Part { bytes: Cow::Borrowed(bytes), complete }],
        Some(framing) => {
            // A cut at the end of the sample is found by the walk; it speaks against no type.
            Frames::new(bytes, framing, false).filter_map(part).collect()
        }
    }
}

/// The message in a frame, undone where it is compressed; none in a frame that holds something else.
fn part(frame: Frame<'_>) -> Option<Part<'_>> {
    if frame.is_message() {
        return Some(Part { bytes: Cow::Borrowed(frame.content), complete: frame.whole });
    }
    if frame.flags != FLAG_COMPRESSED || !frame.whole {
        return None;
    }
    let most = len64(TRIED);
    let (bytes, _) = inflated(frame.content, most);
    let complete = len64(bytes.len()) < most;
    Some(Part { bytes: Cow::Owned(bytes), complete })
}

/// What stands at the top of the messages, in the order in which it comes.
fn tops(parts: &[Part<'_>]) -> Vec<Top> {
    let mut tops: Vec<Top> = Vec::new();
    let mut places: HashMap<(u32, WireType), usize> = HashMap::new();
    for part in parts {
        let mut inside = 0usize;
        for field in Fields::new(&part.bytes, part.complete) {
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
            None if walk::is_set_item(message, top.number, top.wire) => tally.known_bytes += top.bytes,
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
        walk(&part.bytes, part.complete, id, schema, &mut tally);
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
    let rivals: Vec<&str> =
        ranked.iter().skip(1).filter(|(tally, ..)| tally.is_clean()).map(|(.., message)| short_name(message)).collect();
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
    let words = [
        "no",
        "the one",
        "both",
        "all three",
        "all four",
        "all five",
        "all six",
        "all seven",
        "all eight",
        "all nine",
        "all ten",
    ];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::{Cardinality, Field};

    /// Types of a little notation: `Document: 1 string, 2 int32, 3 DocumentMeta, 4 *DocumentItem`. A star is
    /// repeated, an exclamation mark required, `group` in front of a type a group.
    fn schema(text: &str) -> Schema {
        let mut schema = Schema::default();
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.trim().split_once(": ")).collect();
        let id = |name: &str| {
            let place = lines.iter().position(|(other, _)| *other == name).unwrap();
            MessageId(u32::try_from(place).unwrap())
        };
        for (name, fields) in &lines {
            let fields = fields.split(", ").filter(|field| !field.is_empty() && *field != "-");
            let fields = fields.map(|field| {
                let (number, kind) = field.split_once(' ').unwrap();
                let bare = kind.trim_start_matches(['*', '!']);
                let kind_of = match bare {
                    "string" => FieldKind::String,
                    "bytes" => FieldKind::Bytes,
                    "int32" => FieldKind::Int32,
                    "int64" => FieldKind::Int64,
                    "bool" => FieldKind::Bool,
                    "double" => FieldKind::Double,
                    "float" => FieldKind::Float,
                    _ => match bare.strip_prefix("group ") {
                        Some(name) => FieldKind::Group(id(name)),
                        None => FieldKind::Message(id(bare)),
                    },
                };
                Field {
                    number: number.parse().unwrap(),
                    name: format!("f{number}"),
                    json: format!("f{number}"),
                    kind: kind_of,
                    cardinality: if kind.starts_with('*') { Cardinality::Repeated } else { Cardinality::Singular },
                    presence: if kind.starts_with('!') { Presence::Required } else { Presence::Implicit },
                    packed: true,
                    utf8: true,
                    oneof: None,
                    default: None,
                    extension: false,
                    deprecated: false,
                }
            });
            let imported = name.starts_with("google.");
            let mut message = Message::default();
            message.full_name = if imported { name.to_string() } else { format!("suite.{name}") };
            message.name = name.to_string();
            message.fields = fields.collect();
            message.told = !imported;
            message.index();
            schema.add_message(message);
        }
        schema
    }

    const SUITE: &str = "Message: 1 bool, 2 int32, 3 int64, 4 double, 5 string, 6 bool, 7 int32, 8 string
        DocumentMeta: 1 string, 2 int32
        DocumentItem: 1 string, 2 int32, 3 int64
        Document: 1 string, 2 int32, 3 DocumentMeta, 4 *DocumentItem
        Telemetry: 1 string, 2 int64, 3 *string, 4 *double
        Strings: 1 *string
        EventAttr: 1 string, 2 string
        Event: 1 string, 2 string, 3 int64, 4 string, 5 *EventAttr
        BatchMessage: 1 *Message
        BatchDocument: 1 *Document
        BatchTelemetry: 1 *Telemetry
        BatchStrings: 1 *Strings
        BatchEvent: 1 *Event";

    fn hex(text: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(text.replace(' ', "").as_bytes()).unwrap()
    }

    fn ranked(bytes: &[u8], complete: bool, variant: &'static str, schema: &Schema) -> Vec<(String, bool, String)> {
        let context = Context { owner: 0, variant, depth: 100, schema: Some(schema), root: None };
        let fits = fits(&Sample { bytes, complete }, &context, schema);
        let name = |id| schema.message(id).unwrap().name.clone();
        fits.into_iter().map(|fit| (name(fit.root), fit.clean, fit.why)).collect()
    }

    fn best(text: &str, schema: &Schema) -> (String, bool, String) {
        ranked(&hex(text), true, "plain", schema).remove(0)
    }

    #[test]
    fn open_types_know_what_they_declare_alone() {
        let mut schema = schema("Set: -\nOpen: 1 int32\nPlain: 1 int32, 5 string");
        schema.messages[0].message_set = true;
        schema.messages[0].extension_ranges = vec![(4, 0x7fff_ffff)];
        schema.messages[1].extension_ranges = vec![(4, 1 << 29)];
        let all = ranked(&hex("0801 2a026162"), true, "plain", &schema);
        let clean: Vec<&str> = all.iter().filter(|(_, clean, _)| *clean).map(|(name, ..)| name.as_str()).collect();
        assert_eq!((all[0].0.as_str(), clean), ("Plain", vec!["Plain"]), "{all:?}");
        // An item: a type and a message of it, in a group with number 1.
        let (name, clean, _) = best("0b 10e707 1a020801 0c", &schema);
        assert_eq!((name.as_str(), clean), ("Set", true));
        assert!(!ranked(&hex("13 10e707 1a020801 14"), true, "plain", &schema).iter().any(|(_, clean, _)| *clean));
    }

    /// The golden document: 155 bytes.
    const DOCUMENT: &str = concat!(
        "0a086274696d6370786d10041a060a02616c1003220c0a047974676c100a18bdb203",
        "22110a0a7364776b686f6b716d661026189d13",
        "22130a0b676f6a6874696670756570106118e6c505",
        "220b0a037a6961104f18f38d04220c0a04706e6a74103d18ebfe01",
        "22140a0c7466746a6c646d71726f7474103618fdc105",
        "220f0a0775636970657 26a104e1884da03220d0a0565686561 6d102718adf204"
    );

    #[test]
    fn the_one_type_that_knows_all_fields_is_first() {
        let all = ranked(&hex(DOCUMENT), true, "plain", &schema(SUITE));
        assert_eq!((all.len(), all[0].0.as_str(), all[0].1, all[1].1), (13, "Document", true, false));
        assert_eq!(
            all[0].2,
            "Document is the one type of 13 that knows all four fields and clashes with none (next best: \
             DocumentMeta, fields 3 and 4 unknown)"
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let suite = schema("A: 1 string, 2 string\nB: 1 int32");
        let found = best("0a01611003 1801 2001", &suite);
        assert_eq!(
            (found.0.as_str(), found.1, found.2.as_str()),
            ("A", false, "A fits best of 2: fields 3 and 4 unknown, field 2 is VARINT where LEN is declared")
        );
        let one = schema("A: 1 string, 3 !int32");
        assert_eq!(best("0a0161 1801", &one).2, "the only type of the schema");
        assert_eq!(best("0a0161", &one).2, "the only type of the schema, but required field 3 missing");
        assert_eq!(best("0a02ffff 1801", &one).2, "the only type of the schema, but field 1 is no UTF-8");
        let nested = schema("A: 1 B, 2 *int32\nB: 1 string, 2 C\nC: 1 int32");
        let reason = |text| ranked(&hex(text), true, "plain", &nested).into_iter().find(|fit| fit.0 == "A").unwrap().2;
        assert!(
            reason("0a06 0a0161 12011a").ends_with("field 1.2 does not parse as C"),
            "{}",
            reason("0a06 0a0161 12011a")
        );
        assert!(reason("0a04 1a02 0801").ends_with("field 1.3 unknown"));
        assert!(reason("0a03 0a0161 120180").ends_with("field 2 is no packed run of int32"));
    }

    #[test]
    fn types_that_fit_as_well_tie_and_are_named() {
        let suite = schema("A: 1 string\nB: 1 string, 2 int32\ngoogle.protobuf.C: 1 string");
        let context = Context { owner: 0, variant: "plain", depth: 100, schema: Some(&suite), root: None };
        let bytes = hex("0a0161");
        let fits = fits(&Sample { bytes: &bytes, complete: true }, &context, &suite);
        assert_eq!(fits[0].why, "A knows the one field and clashes with none; of 2 types B does too");
        assert_eq!((fits[0].score, fits.len()), (fits[1].score, 2), "the standard's own types do not compete");
    }

    #[test]
    fn groups_and_streams_are_followed() {
        let groups = schema("Two: 1 int32, 3 group G\nG: 1 int32, 2 string\nOther: 1 int32, 3 string");
        assert_eq!(best("0805 1b 0801 120161 1c", &groups).0, "Two");
        assert!(best("0805 1b 0801 120161 1c", &groups).1);
        assert_eq!(best("0805 1b 2001 1c", &groups).2, "Two fits best of 3: field 3.4 unknown");
        let suite = schema(SUITE);
        let one = hex(DOCUMENT);
        let mut delimited = vec![155, 1];
        delimited.extend_from_slice(&one);
        let twice = delimited.repeat(2);
        assert_eq!(ranked(&twice, true, "delimited", &suite)[0].0, "Document");
        let mut grpc = vec![1, 0, 0, 0, 1, 9, 0, 0, 0, 0, 155];
        grpc.extend_from_slice(&one);
        assert!(ranked(&grpc, true, "grpc", &suite)[0].1);
    }

    #[test]
    fn a_cut_sample_speaks_against_no_type() {
        let suite = schema(SUITE);
        let bytes = hex(DOCUMENT);
        for cut in 20..bytes.len() {
            assert_eq!(ranked(&bytes[..cut], false, "plain", &suite)[0].0, "Document", "{cut}");
        }
        let nothing = ranked(&[], true, "plain", &suite);
        assert_eq!(nothing[0].2, "0 bytes fit each of the 13 types: nothing can be told; Message stands first");
    }

    #[test]
    fn thousands_of_types_are_ranked_in_time() {
        let mut text = String::new();
        for number in 0..2000 {
            text.push_str(&format!(
                "T{number}: 1 string, 2 int32, 3 T{}, 4 *T{}\n",
                (number + 1) % 2000,
                (number + 7) % 2000
            ));
        }
        let schema = schema(&text);
        let bytes = hex(DOCUMENT).repeat(700);
        assert_eq!(ranked(&bytes, true, "plain", &schema).len(), 2000);
        ranked(&bytes[..100], true, "plain", &schema);
    }
}
