//! Vectors and strings: a count, and what it counts.

use crate::formats::flatbuffers::found::{Content, Elements, Object};
use crate::formats::flatbuffers::tables::from_words;
use crate::formats::flatbuffers::tell::{Teller, shown};
use crate::formats::flatbuffers::{fields, wire};
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::events::Flow;
use crate::model::flat::{Flat, Of, Scalar};
use crate::model::num::{bytes, push_number};

/// Scalar elements that have leaves of their own; more are one leaf.
const SINGLE: u64 = 64;

/// Bytes of a vector of scalars that is told in one row, without a heading.
const SHORT: u64 = 16;

/// Tells a string.
///
/// # Errors
/// What the sink returns.
pub fn text(teller: &mut Teller<'_>, number: u32, object: &Object) -> Flow {
    teller.heading(number, "", "")?;
    let from = object.start.saturating_add(wire::OFFSET);
    let length = u64::from(teller.bytes.u32(object.start).unwrap_or(0));
    let end = from.saturating_add(length).min(object.end).max(from.min(object.end));
    if teller.words {
        let said = teller.say();
        said.refs = object.refs;
        said.behind = from_words(object);
        if length > SHORT {
            said.words.push_str("length ");
        }
        push_number(&mut said.words, length);
    }
    teller.leaf(object.start, from.min(object.end), wire::LENGTH, None, Flags::NONE)?;
    let long = end.saturating_sub(from) > crate::model::num::len64(crate::model::limits::PIECE);
    if long && teller.words {
        let head = teller.bytes.clipped(from, from.saturating_add(64));
        let said = teller.say();
        said.words.push('|');
        crate::formats::quote(head, &mut said.words);
        said.words.push_str(" ...");
    }
    teller.leaf(from, end, wire::STRING, None, Flags::NONE)?;
    if end < object.end {
        let byte = teller.bytes.u8(end).unwrap_or(0);
        if byte != 0 && teller.words {
            teller.say().words.push_str("|no NUL");
        }
        teller.leaf(end, object.end, wire::NUL, None, Flags::NONE)?;
    }
    teller.keep_row();
    Ok(())
}

/// Tells a vector.
///
/// # Errors
/// What the sink returns.
pub fn tell(teller: &mut Teller<'_>, number: u32, object: &Object, elements: Elements) -> Flow {
    let Some(flat) = teller.flat else { return Ok(()) };
    let head = if elements.wide { wire::OFFSET64 } else { wire::OFFSET };
    let from = object.start.saturating_add(head).min(object.end);
    let count = match elements.wide {
        true => teller.bytes.u64(object.start).unwrap_or(0),
        false => u64::from(teller.bytes.u32(object.start).unwrap_or(0)),
    };
    let width = flat.width(elements.of);
    let nested = matches!(elements.content, Content::Nested(_));
    let fit = object.end.saturating_sub(from).checked_div(width).unwrap_or(0).min(count);
    let plain = flat.scalar(elements.of).is_some() && !matches!(elements.of, Of::UnionType(_));
    let short = plain && count.saturating_mul(width) <= SHORT && !nested;
    if teller.words {
        let text = if short { String::new() } else { vector_heading(teller, flat, object, elements, count, width) };
        teller.heading(number, &text, &if short { String::new() } else { from_words(object) })?;
    }
    if short {
        say_count(teller, object, count, Some(from_words(object)));
        teller.leaf(object.start, from, wire::COUNT, None, Flags::NONE)?;
        if teller.words && count > 0 {
            say_many(teller, flat, elements.of, from, object.end);
        }
        many(teller, flat, elements.of, from, from.saturating_add(fit.saturating_mul(width)))?;
    } else {
        teller.enter_field(Step::None, GroupKind::Part)?;
        say_count(teller, object, count, None);
        if teller.words {
            teller.say().field.push_str("(count)");
        }
        teller.leaf(object.start, from, wire::COUNT, None, Flags::NONE)?;
        teller.leave_field()?;
        if !nested || count == 0 || object.end > from {
            content(teller, flat, object, elements, from, fit)?;
        }
    }
    rest(teller, object)?;
    if short {
        teller.keep_row();
    }
    Ok(())
}

fn say_count(teller: &mut Teller<'_>, object: &Object, count: u64, behind: Option<String>) {
    if teller.words {
        let said = teller.say();
        said.refs = object.refs;
        push_number(&mut said.words, count);
        said.behind = behind.unwrap_or_default();
    }
}

/// The elements.
fn content(teller: &mut Teller<'_>, flat: &Flat, object: &Object, elements: Elements, from: u64, count: u64) -> Flow {
    let (of, width) = (elements.of, flat.width(elements.of));
    let end = from.saturating_add(count.saturating_mul(width));
    if elements.content == Content::Flex {
        teller.enter_field(Step::None, GroupKind::Part)?;
        if teller.words {
            let said = teller.say();
            said.words = format!("FlexBuffer, {}", bytes(end.saturating_sub(from)));
            said.field.push_str("  [..]");
        }
        teller.leaf(from, end, wire::FLEXBUFFER, None, Flags::NONE)?;
        return teller.leave_field();
    }
    let scalar = flat.scalar(of).is_some() || matches!(of, Of::Raw(_));
    let types = matches!(of, Of::UnionType(_));
    if scalar && (count > SINGLE || (width == 1 && !types)) {
        teller.enter_field(Step::None, GroupKind::Part)?;
        if teller.words {
            say_many(teller, flat, of, from, end);
            teller.say().field.push_str("  [..]");
        }
        many(teller, flat, of, from, end)?;
        return teller.leave_field();
    }
    let _ = object;
    for index in 0..count {
        let at = from.saturating_add(index.saturating_mul(width));
        if at < teller.at {
            continue;
        }
        element(teller, of, at, index)?;
    }
    Ok(())
}

/// One element.
fn element(teller: &mut Teller<'_>, of: Of, at: u64, index: u64) -> Flow {
    let kind = match of {
        Of::Struct(_) => GroupKind::Item,
        _ => GroupKind::Element,
    };
    let opened = if of.is_offset() {
        teller.enter_target(at, Step::Index(index), kind)?
    } else {
        teller.enter_field(Step::Index(index), kind)?;
        None
    };
    if teller.words && kind == GroupKind::Element {
        let said = teller.say();
        said.field.push('[');
        said.joins = index > 0;
        push_number(&mut said.field, index);
        said.field.push(']');
        said.words.push('|');
    }
    if of.is_offset() {
        fields::offset(teller, at, false, "")?;
    } else {
        fields::value(teller, at, of, Flags::NONE)?;
    }
    teller.leave_target(opened)
}

/// Many scalars as one leaf, or as few as its size allows.
fn many(teller: &mut Teller<'_>, flat: &Flat, of: Of, from: u64, end: u64) -> Flow {
    let code = match of {
        Of::UnionType(_) => wire::UNION_TYPE,
        _ => flat.scalar(of).map_or(wire::RAW, wire::scalar_kind),
    };
    teller.many(from, end, code, flat.width(of))
}

/// `|32 float64: 86.9, 80.8, ... 15.1`
fn say_many(teller: &mut Teller<'_>, flat: &Flat, of: Of, from: u64, end: u64) {
    let width = flat.width(of);
    let count = end.saturating_sub(from).checked_div(width).unwrap_or(0);
    let name = match (flat.scalar(of), of) {
        (Some(scalar), Of::Scalar(_)) => scalar.sized_name().to_string(),
        (Some(_), Of::Enum(id) | Of::UnionType(id)) => {
            flat.enumeration(id).map_or(String::new(), |one| one.short_name().to_string())
        }
        _ => format!("of {}", bytes(width)),
    };
    let mut text = format!("|{count} {name}: ");
    let shown = if count > 8 { 4 } else { count };
    let one = |index: u64, text: &mut String| {
        let at = from.saturating_add(index.saturating_mul(width));
        let bytes = teller.bytes.clipped(at, at.saturating_add(width));
        match (flat.scalar(of), of) {
            (Some(scalar), Of::Enum(id) | Of::UnionType(id)) => {
                text.push_str(&super::words::enum_words(flat, id, super::words::integer(scalar, bytes)));
            }
            (Some(scalar), _) => super::words::push_scalar(scalar, bytes, text),
            (None, _) => super::words::push_scalar(Scalar::Ulong, bytes, text),
        }
    };
    for index in 0..shown {
        if index > 0 {
            text.push_str(", ");
        }
        one(index, &mut text);
    }
    if count > shown {
        text.push_str(", ... ");
        one(count.saturating_sub(1), &mut text);
    }
    teller.say().words = text;
}

/// Bytes of a vector that is cut: less than an element.
fn rest(teller: &mut Teller<'_>, object: &Object) -> Flow {
    if teller.at < object.end {
        let from = teller.at;
        teller.leaf_of(from, object.end, Kind::UNREAD, None, Flags::NONE)?;
    }
    Ok(())
}

/// `vector document.items: 8 offsets to DocumentItem`
fn vector_heading(
    teller: &Teller<'_>,
    flat: &Flat,
    object: &Object,
    elements: Elements,
    count: u64,
    width: u64,
) -> String {
    let path = shown(teller.path());
    let name = |id| flat.object(id).map_or("", |object| object.short_name());
    let of = match elements.of {
        Of::Table(id) => format!("{} to {}", if count == 1 { "offset" } else { "offsets" }, name(id)),
        Of::Text if count == 1 => "offset to a string".to_string(),
        Of::Text => "offsets to strings".to_string(),
        Of::Union(_) => "offsets to values of a union".to_string(),
        Of::Struct(id) => format!("{} of {} each", name(id), bytes(width)),
        Of::Raw(_) => format!("of {} each", bytes(width)),
        Of::Scalar(scalar) => scalar.sized_name().to_string(),
        Of::Enum(id) | Of::UnionType(id) => {
            flat.enumeration(id).map_or(String::new(), |one| one.short_name().to_string())
        }
    };
    if let Content::Nested(root) = elements.content {
        return format!("   -- vector {path}: a nested buffer, {} of {}", bytes(count), name(root));
    }
    if elements.of.is_offset() {
        let mut text = format!("   -- vector {path}: {count} {of}");
        if count > 1 {
            text.push_str(&backwards(teller, object, elements, count));
        }
        return text;
    }
    let range =
        format!("{} {:#04x}..{:#04x}", bytes(object.end.saturating_sub(object.start)), object.start, object.end);
    format!("   -- vector {path}: {count} {of}, {range}")
}

/// Writers build from the end, so that often the last element comes first in the file.
fn backwards(teller: &Teller<'_>, object: &Object, elements: Elements, count: u64) -> String {
    let from = object.start.saturating_add(if elements.wide { wire::OFFSET64 } else { wire::OFFSET });
    let to = |index: u64| fields::target(teller, from.saturating_add(index.saturating_mul(wire::OFFSET)), false);
    let (first, last) = (to(0), to(count.saturating_sub(1)));
    if first > last && last.is_some() {
        let path = teller.path();
        let name = path.rsplit('.').next().unwrap_or(path);
        return format!("; {name}[{}] comes first in the file", count.saturating_sub(1));
    }
    String::new()
}
