//! Pointer words: their leaves and what they say.

use crate::formats::capnp::chart::{Chart, Teller, push_pointer};
use crate::formats::capnp::decode::Walk;
use crate::formats::capnp::objects::Object;
use crate::formats::capnp::wire::{self, ElementSize, Pointer, WORD, pointer};
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::events::Flow;
use crate::model::num::{count, push_offset, push_signed};

/// Tells the pointer at an offset, in the group of the object that it is the first to lead to, or in one of its own.
///
/// # Errors
/// What the sink returns.
pub fn tell(walk: &mut Walk<'_>, at: u64, segment: u32, step: Step<'_>, field: &str) -> Flow {
    let teller = &mut walk.teller;
    let innermost = teller.innermost_object();
    let led = teller.chart.led_from(at).filter(|number| {
        teller.chart.object(*number).is_some_and(|object| object.parent == innermost && object.end > object.start)
    });
    match led {
        Some(number) => teller.open(number)?,
        None => teller.enter_field(step, GroupKind::Value)?,
    }
    if teller.words {
        teller.say().field.push_str(field);
    }
    word(teller, at, segment, "")?;
    match led {
        Some(_) => teller.close(),
        None => teller.leave_field(),
    }
}

/// Tells a pointer word. `null` is what a null pointer means here.
///
/// # Errors
/// What the sink returns.
pub fn word(teller: &mut Teller<'_>, at: u64, segment: u32, null: &str) -> Flow {
    let word = teller.bytes.u64(at).unwrap_or(0);
    let half = at.saturating_add(4);
    let end = at.saturating_add(WORD);
    match pointer(word) {
        Pointer::Null => {
            if teller.words {
                let said = teller.say();
                said.words.push_str("null");
                said.words.push_str(null);
            }
            teller.leaf(at, end, wire::NULL_POINTER, None, Flags::NONE)
        }
        Pointer::Struct { offset, data, pointers } => {
            let empty = data == 0 && pointers == 0;
            led(teller, at, "struct", offset, empty)?;
            let sizes = at.saturating_add(6);
            teller.leaf(at, half, wire::STRUCT_POINTER, target(teller, at, offset), Flags::NONE)?;
            say(teller, &format!("|{data} data"));
            teller.leaf(half, sizes, wire::DATA_WORDS, None, Flags::NONE)?;
            say(teller, &format!("|{pointers} ptr"));
            teller.leaf(sizes, end, wire::POINTER_COUNT, None, Flags::NONE)
        }
        Pointer::List { offset, size, count } => {
            let nothing = count == 0 && size != ElementSize::InlineComposite || size == ElementSize::Void;
            led(teller, at, "list", offset, nothing)?;
            teller.leaf(at, half, wire::LIST_POINTER, target(teller, at, offset), Flags::NONE)?;
            if teller.words {
                teller.say().words = format!("|{}", elements(size, count));
            }
            teller.leaf(half, end, wire::LIST_SIZE, None, Flags::NONE)
        }
        Pointer::Far { double, place, segment: number } => {
            let to = segment_start(teller.chart, segment, number)
                .map(|start| start.saturating_add(u64::from(place).saturating_mul(WORD)));
            if teller.words {
                let said = teller.say();
                said.words.push_str(if double { "far, 2-word pad" } else { "far" });
                if let Some(to) = to {
                    said.words.push_str(" -> ");
                    push_offset(&mut said.words, to);
                }
                said.words.push_str(&format!(" ({place}w)"));
            }
            let to = to.filter(|to| teller.chart.begins(*to) || teller.has_fault(at, end));
            teller.leaf(at, half, wire::FAR_POINTER, to, Flags::NONE)?;
            say(teller, &format!("|segment {number}"));
            teller.leaf(half, end, wire::FAR_SEGMENT, None, Flags::NONE)
        }
        Pointer::Capability(index) => {
            say(teller, "capability");
            teller.leaf(at, half, wire::CAPABILITY_POINTER, None, Flags::NONE)?;
            say(teller, &format!("|index {index}"));
            teller.leaf(half, end, wire::CAPABILITY_INDEX, None, Flags::NONE)
        }
        Pointer::Other => {
            say(teller, "a pointer of kind 3, with reserved bits");
            teller.leaf(at, end, wire::OTHER_POINTER, None, Flags::NONE)
        }
    }
}

fn say(teller: &mut Teller<'_>, text: &str) {
    if teller.words {
        teller.say().words.push_str(text);
    }
}

/// `9 bytes`, `24w of structs`, `3 of 4 bytes`.
fn elements(size: ElementSize, count: u32) -> String {
    let number = u64::from(count);
    match size {
        ElementSize::InlineComposite => format!("{count}w of structs"),
        other => format!("{count} {}", other.name(number)),
    }
}

/// `struct -> 0x10 (+0w)`
fn led(teller: &mut Teller<'_>, at: u64, what: &str, offset: i32, empty: bool) -> Flow {
    if !teller.words {
        return Ok(());
    }
    let to = wire::behind(at, offset);
    let words = &mut teller.say().words;
    words.push_str(what);
    if empty && what == "struct" {
        words.push_str(", empty");
    }
    match to {
        Some(to) => {
            words.push_str(" -> ");
            push_offset(words, to);
        }
        None => words.push_str(" in front of the input"),
    }
    words.push_str(if offset < 0 { " (" } else { " (+" });
    push_signed(words, i64::from(offset));
    words.push_str("w)");
    Ok(())
}

/// Where a pointer leads, if something begins there or a finding says that nothing does.
fn target(teller: &Teller<'_>, at: u64, offset: i32) -> Option<u64> {
    let to = wire::behind(at, offset)?;
    (teller.chart.begins(to) || teller.has_fault(at, at.saturating_add(WORD))).then_some(to)
}

/// Where a segment of the message begins that `segment` is of.
fn segment_start(chart: &Chart<'_>, segment: u32, number: u32) -> Option<u64> {
    let messages = chart.messages;
    let message = messages.list.iter().rev().find(|message| message.first <= segment)?;
    if number >= message.count {
        return None;
    }
    let at = usize::try_from(message.first.saturating_add(number)).ok()?;
    messages.segments.get(at).map(|segment| segment.start)
}

/// A landing pad.
///
/// # Errors
/// What the sink returns.
pub fn pad(walk: &mut Walk<'_>, object: &Object) -> Flow {
    walk.heading(object, "", "")?;
    let mut at = object.start;
    while at < object.end {
        walk.teller.enter_field(Step::None, GroupKind::Value)?;
        let second = at > object.start;
        if walk.teller.words {
            let said = walk.teller.say();
            said.field.push_str(if second { "(pad, second word)" } else { "(landing pad)" });
        }
        if second {
            tag(&mut walk.teller, at)?;
        } else {
            word(&mut walk.teller, at, object.segment, "")?;
        }
        walk.teller.leave_field()?;
        at = at.saturating_add(WORD);
    }
    Ok(())
}

/// The second word of a two-word pad: what the object is, without where.
fn tag(teller: &mut Teller<'_>, at: u64) -> Flow {
    let word = teller.bytes.u64(at).unwrap_or(0);
    let (half, sizes, end) = (at.saturating_add(4), at.saturating_add(6), at.saturating_add(WORD));
    match pointer(word) {
        Pointer::Struct { data, pointers, .. } => {
            say(teller, "describes a struct");
            teller.leaf(at, half, wire::STRUCT_POINTER, None, Flags::NONE)?;
            say(teller, &format!("|{data} data"));
            teller.leaf(half, sizes, wire::DATA_WORDS, None, Flags::NONE)?;
            say(teller, &format!("|{pointers} ptr"));
            teller.leaf(sizes, end, wire::POINTER_COUNT, None, Flags::NONE)
        }
        Pointer::List { size, count, .. } => {
            say(teller, "describes a list");
            teller.leaf(at, half, wire::LIST_POINTER, None, Flags::NONE)?;
            if teller.words {
                teller.say().words = format!("|{}", elements(size, count));
            }
            teller.leaf(half, end, wire::LIST_SIZE, None, Flags::NONE)
        }
        _ => {
            say(teller, "describes no object");
            teller.leaf(at, end, wire::OTHER_POINTER, None, Flags::NONE)
        }
    }
}

/// `<- 0x18`, and how many more lead there.
pub fn from_words(object: &Object) -> String {
    match object.refs {
        0 => String::new(),
        1 => format!("<- {:#04x}", object.from),
        many => format!("<- {:#04x} and {} more", object.from, many.saturating_sub(1)),
    }
}

/// The pointers of a struct: those of the schema by name, others by number.
///
/// # Errors
/// What the sink returns.
pub fn section(
    walk: &mut Walk<'_>,
    object: &Object,
    ty: Option<crate::model::schema::MessageId>,
    sizes: (u16, u16),
) -> Flow {
    let (data, pointers) = sizes;
    let from = object.start.saturating_add(u64::from(data).saturating_mul(WORD));
    let chart = walk.teller.chart;
    let shape = ty.and_then(|ty| chart.shapes?.shape(ty));
    let section = super::layout::data_of(walk.teller.bytes, object.start, data);
    let mut name = String::new();
    let mut field = String::new();
    for index in 0..pointers {
        let at = from.saturating_add(u64::from(index).saturating_mul(WORD));
        if at < walk.teller.at {
            continue;
        }
        if at >= object.end {
            break;
        }
        let member = shape.and_then(|shape| shape.pointer(section, index));
        name.clear();
        match member {
            Some((_, member)) => name.push_str(&member.path),
            None => push_pointer(&mut name, index),
        }
        field.clear();
        if walk.teller.words {
            field.push('.');
            field.push_str(&name);
            if walk.teller.bytes.u64(at) == Some(0) {
                let said = walk.teller.say();
                match member {
                    Some((_, member)) => said.more.push_str(&null_words(member.default)),
                    None if shape.is_some_and(|shape| index >= shape.pointer_count) => {
                        said.more.push_str(", not in this schema");
                    }
                    None if shape.is_some() => said.more.push_str(", of no member that is set"),
                    None => {}
                }
            } else if member.is_none() && shape.is_some_and(|shape| index >= shape.pointer_count) {
                walk.teller.say().behind.push_str("not in this schema");
            }
        }
        tell(walk, at, object.segment, Step::Name(&name), &field)?;
    }
    Ok(())
}

/// What a null pointer stands for, where the schema says a default.
fn null_words(default: &crate::model::capnp::Value) -> String {
    use crate::model::capnp::Value;
    match default {
        Value::Text(text) => format!(", the default {}", crate::formats::quoted(text.as_bytes())),
        Value::Data(bytes) => {
            format!(", the default, {}", count(crate::model::num::len64(bytes.len()), "byte", "bytes"))
        }
        Value::List(list) => {
            format!(", the default, {}", count(crate::model::num::len64(list.len()), "element", "elements"))
        }
        Value::Struct(_) => ", the default, a struct of the schema".to_string(),
        _ => String::new(),
    }
}
