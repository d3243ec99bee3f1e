//! Looks at the content of a message before it is walked: the key of a map entry, the type of an Any, what
//! a well-known type says to people. Damage is no matter here: what cannot be read is left out.

use super::guess::scan::{Field, Fields};
use super::wire::{self, WireType};
use crate::model::limits;
use crate::model::num::count;
use crate::model::schema::{FieldKind, Message, MessageId, Schema, WellKnown};
use crate::model::value::utc;

/// All whole fields from the start of some bytes.
fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields::new(bytes, true)
}

/// The last value of a field, which is the one that counts.
fn last(bytes: &[u8], number: u32, wire: WireType) -> Option<Field<'_>> {
    fields(bytes).filter(|field| field.number == number && field.wire == wire).last()
}

/// The same number for all fields on one path of field numbers.
pub fn place(parent: u64, number: u32) -> u64 {
    (parent ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
}

/// The key of a map entry, as paths show it.
pub fn map_key(entry: &[u8], kind: Option<&FieldKind>) -> String {
    match kind {
        Some(FieldKind::String) | None => {
            let text = last(entry, 1, WireType::Len).map_or(&[][..], |field| field.content);
            String::from_utf8_lossy(text).chars().take(limits::PATH_NAME).collect()
        }
        Some(kind) => {
            let value = last(entry, 1, WireType::of_kind(kind)).map_or(0, |field| field.value);
            number_words(value, kind)
        }
    }
}

/// An integer or boolean of a kind, by the bits that stand on the wire.
fn number_words(value: u64, kind: &FieldKind) -> String {
    match kind {
        FieldKind::Bool => (value != 0).to_string(),
        FieldKind::Int32 | FieldKind::Sfixed32 | FieldKind::Enum(_) => wire::low32(value).cast_signed().to_string(),
        FieldKind::Sint32 => wire::unzigzag(u64::from(wire::low32(value))).to_string(),
        FieldKind::Sint64 => wire::unzigzag(value).to_string(),
        FieldKind::Int64 | FieldKind::Sfixed64 => value.cast_signed().to_string(),
        FieldKind::Uint32 | FieldKind::Fixed32 => wire::low32(value).to_string(),
        FieldKind::Float => crate::model::value::float32_words(f32::from_bits(wire::low32(value))),
        FieldKind::Double => ryu::Buffer::new().format(f64::from_bits(value)).to_string(),
        _ => value.to_string(),
    }
}

/// The name of the type in an Any.
fn type_name(any: &[u8]) -> Option<&str> {
    let url = std::str::from_utf8(last(any, 1, WireType::Len)?.content).ok()?;
    Some(url.rsplit('/').next().unwrap_or(url))
}

/// The type of the content of an Any, where the schema has it.
pub fn any_type(any: &[u8], schema: Option<&Schema>) -> Option<MessageId> {
    schema?.message_by_full_name(type_name(any)?)
}

/// The type id of an item of a MessageSet, from the bytes behind the tag that begins it.
pub fn set_type_id(item: &[u8]) -> Option<u32> {
    // The end of the item is the end of a group that these bytes do not begin.
    let id = fields(item).filter(|field| field.number == 2 && field.wire == WireType::Varint).last()?;
    u32::try_from(id.value).ok()
}

/// Seconds of the years 1 to 9999, which a Timestamp keeps to.
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Seconds of 10,000 years, which a Duration keeps to.
const SPAN: u64 = 315_576_000_000;

/// What is wrong with a Timestamp or Duration; none for other types.
pub fn time_problem(kind: WellKnown, content: &[u8]) -> Option<String> {
    let (secs, nanos) = seconds_and_nanos(content);
    match kind {
        WellKnown::Timestamp if !YEARS.contains(&secs) => {
            Some(format!("{secs} seconds lie outside the years 1 to 9999 that a Timestamp keeps to"))
        }
        WellKnown::Timestamp if !(0..1_000_000_000).contains(&nanos) => {
            Some(format!("{nanos} nanoseconds: a Timestamp has 0 to 999999999"))
        }
        WellKnown::Duration if secs.unsigned_abs() > SPAN => {
            Some(format!("{secs} seconds are more than the 10,000 years of a Duration"))
        }
        WellKnown::Duration if nanos.unsigned_abs() > 999_999_999 => {
            Some(format!("{nanos} nanoseconds: a Duration has up to 999999999"))
        }
        WellKnown::Duration if secs.signum() * i64::from(nanos.signum()) < 0 => {
            Some(format!("{secs} seconds and {nanos} nanoseconds: both of a Duration have the same sign"))
        }
        _ => None,
    }
}

/// What a well-known type says, in the words of people.
pub fn as_people_read(message: &Message, content: &[u8]) -> Option<String> {
    match message.well_known {
        WellKnown::Timestamp => {
            let (secs, nanos) = seconds_and_nanos(content);
            let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
            utc(secs, nanos)
        }
        WellKnown::Duration => {
            let (secs, nanos) = seconds_and_nanos(content);
            let sign = if secs < 0 || nanos < 0 { "-" } else { "" };
            let fraction = format!("{:09}", nanos.unsigned_abs());
            let fraction = fraction.trim_end_matches('0');
            let dot = if fraction.is_empty() { "" } else { "." };
            Some(format!("{sign}{}{dot}{fraction} s", secs.unsigned_abs()))
        }
        WellKnown::FieldMask => {
            let paths: Vec<_> = fields(content)
                .filter(|field| field.number == 1)
                .map(|field| String::from_utf8_lossy(field.content).into_owned())
                .collect();
            Some(crate::formats::printable(&paths.join(", ")).into_owned())
        }
        WellKnown::Any => Some(crate::formats::printable(type_name(content)?).into_owned()),
        WellKnown::Wrapper => wrapped(message, content),
        WellKnown::Struct => {
            let entries = u64::try_from(fields(content).count()).unwrap_or(u64::MAX);
            Some(count(entries, "field", "fields"))
        }
        WellKnown::ListValue => {
            let values = u64::try_from(fields(content).count()).unwrap_or(u64::MAX);
            Some(count(values, "value", "values"))
        }
        WellKnown::Value => json_value(content),
        WellKnown::Empty | WellKnown::No => None,
    }
}

/// Fields 1 and 2 of a Timestamp or Duration.
fn seconds_and_nanos(content: &[u8]) -> (i64, i32) {
    let number = |number| last(content, number, WireType::Varint).map_or(0, |field| field.value);
    (number(1).cast_signed(), wire::low32(number(2)).cast_signed())
}

/// The value in a wrapper type.
fn wrapped(message: &Message, content: &[u8]) -> Option<String> {
    let kind = &message.field(1)?.kind;
    let found = last(content, 1, WireType::of_kind(kind));
    Some(match kind {
        FieldKind::String => crate::formats::quoted(short(found.map_or(&[][..], |field| field.content))),
        FieldKind::Bytes => crate::model::num::bytes(found.map_or(0, |field| field.value)),
        kind => number_words(found.map_or(0, |field| field.value), kind),
    })
}

/// What a google.protobuf.Value holds.
fn json_value(content: &[u8]) -> Option<String> {
    let field = fields(content).last()?;
    Some(match (field.number, field.wire) {
        (1, WireType::Varint) => "null".to_string(),
        (2, WireType::I64) => ryu::Buffer::new().format(f64::from_bits(field.value)).to_string(),
        (3, WireType::Len) => crate::formats::quoted(short(field.content)),
        (4, WireType::Varint) => (field.value != 0).to_string(),
        (5, WireType::Len) => "a struct".to_string(),
        (6, WireType::Len) => "a list".to_string(),
        _ => return None,
    })
}

/// The beginning of a text that may be long.
fn short(text: &[u8]) -> &[u8] {
    text.get(..limits::PATH_NAME).unwrap_or(text)
}
