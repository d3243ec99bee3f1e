//! One field, member or element: its leaf and what it says.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::found::{Found, Object, What};
use crate::formats::flatbuffers::tell::Teller;
use crate::formats::flatbuffers::{guess, structs, wire, words};
use crate::model::bytemap::Flags;
use crate::model::events::Flow;
use crate::model::flat::{Flat, Of, Scalar};
use crate::model::num::push_offset;

/// Says where an offset leads, and to what: `uoffset -> 0x2c table Document`.
pub fn say_offset(teller: &mut Teller<'_>, target: Option<u64>, label: &str) {
    if !teller.words {
        return;
    }
    let (found, flat, from) = (teller.found, teller.flat, teller.at);
    let words = &mut teller.say().words;
    words.push_str(label);
    if !label.is_empty() {
        words.push(' ');
    }
    let Some(target) = target else {
        words.push_str("cut off");
        return;
    };
    words.push_str("-> ");
    push_offset(words, target);
    if target == from {
        words.push_str(", itself");
    } else if !label.is_empty() {
        words.push_str(&target_words(found, flat, target));
    }
}

/// What stands at an offset: ` table Document`, ` string`, ` vector`.
fn target_words(found: &Found, flat: Option<&Flat>, target: u64) -> String {
    let Some(object) = object_at(found, target) else { return String::new() };
    let name = |id| flat.and_then(|flat| flat.object(id)).map_or("", |object| object.short_name());
    match object.what {
        What::Table(Some(id)) => format!(" table {}", name(id)),
        What::Table(None) => " table".to_string(),
        What::Vector(_) => " vector".to_string(),
        What::Text => " string".to_string(),
        What::Struct(id) => format!(" struct {}", name(id)),
        What::Head => String::new(),
    }
}

/// The first object that begins at an offset.
fn object_at(found: &Found, start: u64) -> Option<&Object> {
    let at = found.objects.partition_point(|object| object.start < start);
    found.objects.get(at).filter(|object| object.start == start)
}

/// The offset at a place and where it leads; none where it is cut.
pub fn target(teller: &Teller<'_>, at: u64, wide: bool) -> Option<u64> {
    let value = if wide { teller.bytes.u64(at)? } else { u64::from(teller.bytes.u32(at)?) };
    Some(at.saturating_add(value))
}

/// Tells an offset.
///
/// # Errors
/// What the sink returns.
pub fn offset(teller: &mut Teller<'_>, at: u64, wide: bool, label: &str) -> Flow {
    let to = target(teller, at, wide);
    say_offset(teller, to, label);
    let (width, kind) = if wide { (wire::OFFSET64, wire::UOFFSET_64) } else { (wire::OFFSET, wire::UOFFSET) };
    let end = at.saturating_add(width);
    // What nobody follows, such as the value of a union without a type, may lead anywhere.
    let to = to.filter(|to| object_at(teller.found, *to).is_some() || teller.has_fault(at, end));
    teller.leaf(at, end, kind, to, Flags::NONE)
}

/// Tells a value that stands in place: a scalar, an enumerated value, the type of a union, a struct, raw bytes.
///
/// # Errors
/// What the sink returns.
pub fn value(teller: &mut Teller<'_>, at: u64, of: Of, flags: Flags) -> Flow {
    let Some(flat) = teller.flat else { return Ok(()) };
    if let Of::Struct(id) = of {
        return structs::members(teller, at, id);
    }
    if let Of::Raw(width) = of {
        return raw(teller, at, u64::from(width));
    }
    let Some(scalar) = flat.scalar(of) else { return Ok(()) };
    let end = at.saturating_add(u64::from(scalar.size()));
    let bytes = teller.bytes.clipped(at, end);
    if teller.words {
        let said = teller.say();
        words::push_typed(flat, of, bytes, &mut said.words);
        if flags.has(Flags::DEFAULT) {
            said.words.push_str(", the default");
        }
        if let Of::Enum(id) = of {
            let name = flat.value_name(id, words::integer(scalar, bytes));
            said.value = name.map(crate::formats::json_string);
        }
    }
    let kind = match of {
        Of::UnionType(_) => wire::UNION_TYPE,
        _ => wire::scalar_kind(scalar),
    };
    if scalar == Scalar::Bool && bytes.first().is_some_and(|byte| *byte > 1) {
        teller.warn(at, end, Wrong::BoolValue(bytes.first().copied().unwrap_or(0)))?;
        return teller.leaf(at, end, kind, None, flags.with(Flags::WARNING));
    }
    teller.leaf(at, end, kind, None, flags)
}

/// Tells bytes whose type nobody knows.
///
/// # Errors
/// What the sink returns.
pub fn raw(teller: &mut Teller<'_>, at: u64, width: u64) -> Flow {
    let end = at.saturating_add(width);
    if teller.words {
        let bytes = teller.bytes.clipped(at, end);
        let said = teller.say();
        guess::raw_words(bytes, &mut said.words, &mut said.readings);
        said.doubt = !said.readings.is_empty();
    }
    teller.leaf(at, end, wire::RAW, None, Flags::NONE)
}
