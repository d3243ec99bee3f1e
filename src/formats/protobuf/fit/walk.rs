//! Tries one type on the bytes of a message.

use crate::formats::protobuf::guess::scan::{Field, Fields};
use crate::formats::protobuf::guess::weigh;
use crate::formats::protobuf::wire::{self, Varint, WireType};
use crate::model::num::len64;
use crate::model::schema::{self, Cardinality, FieldKind, Message, MessageId, Presence, Schema};

use super::{fields_count, fields_words, kind_name, required};

/// Messages inside each other that are walked.
const DEPTH: usize = 100;
/// Findings that are kept to be told.
const KEPT: usize = 16;
/// Errors and clashes after which a type is given up.
const HOPELESS: u64 = 100;

/// What a walk as one type found.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    errors: u64,
    clashes: u64,
    unknown: u64,
    unknown_bytes: u64,
    /// Bytes of fields that the type knows.
    pub known_bytes: u64,
    /// Values that fit, and that its writers hardly write.
    odd: u64,
    unknown_paths: Vec<String>,
    told: Vec<String>,
}

impl Tally {
    /// No error, no unknown field, no wire type that clashes.
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && self.clashes == 0 && self.unknown == 0
    }

    /// It cannot become the best any more.
    pub fn is_hopeless(&self) -> bool {
        self.errors.saturating_add(self.clashes) >= HOPELESS
    }

    /// Points that a clean type loses for odd values.
    pub fn odd_points(&self) -> i64 {
        i64::try_from(self.odd.min(1000)).unwrap_or(0)
    }

    /// Orders types with faults: the share of the bytes that is known less the unknown one, in thousandths,
    /// less the faults.
    pub fn score(&self) -> i64 {
        let share = |bytes: u64| {
            let all = self.known_bytes.saturating_add(self.unknown_bytes).max(1);
            i64::try_from(bytes.saturating_mul(1000) / all).unwrap_or(1000)
        };
        let some = |number: u64, each: i64| i64::try_from(number.min(20)).unwrap_or(20) * each;
        share(self.known_bytes)
            - share(self.unknown_bytes)
            - some(self.errors, 600)
            - some(self.clashes, 300)
            - some(self.unknown, 20)
    }

    /// A field that the type does not have.
    pub fn unknown(&mut self, path: String, bytes: u64) {
        self.unknown = self.unknown.saturating_add(1);
        self.unknown_bytes = self.unknown_bytes.saturating_add(bytes);
        if self.unknown_paths.len() < KEPT && !self.unknown_paths.contains(&path) {
            self.unknown_paths.push(path);
        }
    }

    /// A field whose wire type is not the declared one.
    pub fn clash(&mut self, path: String, found: WireType, declared: WireType, bytes: u64) {
        self.clashes = self.clashes.saturating_add(1);
        self.unknown_bytes = self.unknown_bytes.saturating_add(bytes);
        self.tell(format!("field {path} is {} where {} is declared", found.name(), declared.name()));
    }

    fn error(&mut self, sentence: String) {
        self.errors = self.errors.saturating_add(1);
        self.tell(sentence);
    }

    fn tell(&mut self, sentence: String) {
        if self.told.len() < KEPT && !self.told.contains(&sentence) {
            self.told.push(sentence);
        }
    }

    /// What speaks against the type; `knows all fields` where nothing does.
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        if !self.unknown_paths.is_empty() {
            parts.push(format!("{} unknown", fields_words(&self.unknown_paths)));
        }
        parts.extend(self.told.iter().take(2).cloned());
        let rest = len64(self.told.len()).saturating_sub(2);
        if rest > 0 {
            parts.push(format!("{} more that do not fit", fields_count(rest)));
        }
        if parts.is_empty() { "knows all fields".to_string() } else { parts.join(", ") }
    }
}

/// Whether a field may have this wire type.
pub fn takes(field: &schema::Field, wire: WireType) -> bool {
    let packed = wire == WireType::Len && field.cardinality == Cardinality::Repeated && field.kind.is_packable();
    packed || wire == WireType::of_kind(&field.kind)
}

/// Whether a field is an item of a MessageSet: a group with number 1, which holds a type and a message.
pub fn is_set_item(owner: &Message, number: u32, wire: WireType) -> bool {
    owner.message_set && number == 1 && wire == WireType::SGroup
}

/// A message that is being walked.
struct Level<'a> {
    fields: Fields<'a>,
    complete: bool,
    /// Number of its field, 0 for the message itself.
    number: u32,
    /// Its type, and those of the groups open in it; none in what the type does not know.
    types: Vec<(Option<MessageId>, u32)>,
}

impl<'a> Level<'a> {
    fn new(bytes: &'a [u8], complete: bool, id: MessageId, number: u32) -> Level<'a> {
        Level { fields: Fields::new(bytes, complete), complete, number, types: vec![(Some(id), 0)] }
    }
}

/// Walks a message as a type and adds what is found.
pub fn walk(bytes: &[u8], complete: bool, id: MessageId, schema: &Schema, tally: &mut Tally) {
    let mut open = vec![Level::new(bytes, complete, id, 0)];
    let needed: Vec<u32> = schema.message(id).map_or(Vec::new(), |message| required(message).collect());
    let mut missing = needed.clone();
    while let Some(level) = open.last_mut() {
        let Some(field) = level.fields.next() else {
            // A fault at the top is one for every type.
            if level.fields.fault.is_some() && open.len() > 1 {
                broken(&open, schema, tally);
            }
            open.pop();
            continue;
        };
        if level.number == 0 && level.types.len() == 1 {
            missing.retain(|number| *number != field.number);
        }
        if let Some(inner) = step(&mut open, &field, schema, tally) {
            open.push(inner);
        }
        if tally.is_hopeless() {
            return;
        }
    }
    if complete {
        for number in missing {
            tally.error(format!("required field {number} missing"));
        }
    }
}

/// Content that is no message of the declared type.
fn broken(open: &[Level<'_>], schema: &Schema, tally: &mut Tally) {
    let ids = open.last().and_then(|level| level.types.first()).and_then(|(id, _)| *id);
    let name = ids.and_then(|id| schema.message(id)).map_or(String::new(), |message| message.name.clone());
    let outer = open.get(..open.len().saturating_sub(1)).unwrap_or(&[]);
    let number = open.last().map_or(0, |level| level.number);
    tally.error(format!("field {} does not parse as {name}", path(outer, number)));
}

/// The path of a field by numbers: `4.2`.
fn path(open: &[Level<'_>], number: u32) -> String {
    let levels = open.iter().flat_map(|level| {
        let groups = level.types.iter().map(|(_, number)| *number);
        std::iter::once(level.number).chain(groups)
    });
    let numbers = levels.filter(|number| *number != 0).chain(std::iter::once(number));
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(".")
}

/// Takes one field; the level that opens with it, if one does.
fn step<'a>(open: &mut [Level<'a>], field: &Field<'a>, schema: &Schema, tally: &mut Tally) -> Option<Level<'a>> {
    let depth = open.len();
    let level = open.last_mut()?;
    let complete = level.complete || len64(field.content.len()) == field.value;
    if field.wire == WireType::EGroup {
        level.types.pop();
        return None;
    }
    let owner = level.types.last().and_then(|(id, _)| *id).and_then(|id| schema.message(id));
    let bytes = len64(field.tag_len.saturating_add(field.value_len).saturating_add(field.content.len()));
    let group = field.wire == WireType::SGroup;
    let declared = owner.and_then(|message| message.field(field.number));
    let fits = declared.filter(|declared| takes(declared, field.wire));
    if group {
        level.types.push((fits.and_then(|declared| declared.kind.message()), field.number));
    }
    let Some(owner) = owner else {
        // Inside of what is not known already.
        tally.unknown_bytes = tally.unknown_bytes.saturating_add(bytes);
        return None;
    };
    let Some(declared) = fits else {
        refuse(open, field, declared, owner, bytes, group, tally);
        return None;
    };
    tally.known_bytes = tally.known_bytes.saturating_add(bytes);
    match (&declared.kind, field.wire) {
        (FieldKind::Message(id), _) if depth < DEPTH => Some(Level::new(field.content, complete, *id, field.number)),
        (FieldKind::Message(_) | FieldKind::Group(_), _) => None,
        _ => {
            if let Some(problem) = value(declared, field, complete, schema, tally) {
                let path = path(open, field.number);
                tally.error(format!("field {path} is {problem}"));
            }
            None
        }
    }
}

/// A field that the type does not have, or not so.
fn refuse(
    open: &[Level<'_>],
    field: &Field<'_>,
    declared: Option<&schema::Field>,
    owner: &Message,
    bytes: u64,
    group: bool,
    tally: &mut Tally,
) {
    if is_set_item(owner, field.number, field.wire) {
        tally.known_bytes = tally.known_bytes.saturating_add(bytes);
        return;
    }
    // A group was just opened for the field itself.
    let mut path = path(open, field.number);
    if group {
        let own = format!(".{}", field.number);
        path.truncate(path.len().saturating_sub(own.len()));
    }
    match declared {
        None => tally.unknown(path, bytes),
        Some(declared) => tally.clash(path, field.wire, WireType::of_kind(&declared.kind), bytes),
    }
}

/// What is wrong with a value, if something is; oddities are counted.
fn value(
    declared: &schema::Field,
    field: &Field<'_>,
    complete: bool,
    schema: &Schema,
    tally: &mut Tally,
) -> Option<String> {
    let odd = |tally: &mut Tally, is: bool| tally.odd = tally.odd.saturating_add(u64::from(is));
    match (&declared.kind, field.wire) {
        (FieldKind::String, _) => {
            let text = weigh::text(field.content, complete);
            odd(tally, text.is_some_and(|text| !text.clean) || is_default(declared, field));
            let refused = text.is_none() && declared.utf8;
            odd(tally, text.is_none());
            return refused.then(|| "no UTF-8".to_string());
        }
        (FieldKind::Bytes | FieldKind::Opaque(_), _) => odd(tally, is_default(declared, field)),
        (kind, WireType::Len) => {
            if !is_packed_run(kind, field.content, complete) {
                return Some(format!("no packed run of {}", kind_name(kind, schema)));
            }
        }
        (kind, _) => odd(tally, is_default(declared, field) || is_out_of_range(kind, field.value, schema)),
    }
    None
}

/// The default of a field whose writers leave it out.
fn is_default(declared: &schema::Field, field: &Field<'_>) -> bool {
    declared.presence == Presence::Implicit && declared.cardinality == Cardinality::Singular && field.value == 0
}

/// Whether content can be a packed run; the end of a part may cut it.
fn is_packed_run(kind: &FieldKind, content: &[u8], complete: bool) -> bool {
    match WireType::of_kind(kind) {
        WireType::I64 => !complete || content.len().is_multiple_of(8),
        WireType::I32 => !complete || content.len().is_multiple_of(4),
        _ => {
            let mut at = 0usize;
            while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
                match wire::varint(rest) {
                    Varint::Whole(_, len) => at = at.saturating_add(len),
                    Varint::Cut(_) => return !complete,
                    Varint::TooLong => return false,
                }
            }
            true
        }
    }
}

/// Numbers that readers cut down, or have no name for.
fn is_out_of_range(kind: &FieldKind, value: u64, schema: &Schema) -> bool {
    let int32 = i32::try_from(value.cast_signed());
    match kind {
        FieldKind::Bool => value > 1,
        FieldKind::Int32 => int32.is_err(),
        FieldKind::Uint32 | FieldKind::Sint32 => u32::try_from(value).is_err(),
        FieldKind::Enum(id) => {
            let named = |number| schema.enumeration(*id).is_none_or(|one| one.name_of(number).is_some());
            !int32.is_ok_and(named)
        }
        _ => false,
    }
}
