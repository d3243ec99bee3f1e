//! Structs: a data section, taken apart by the schema, then pointers.

use crate::formats::capnp::chart::{Teller, push_word};
use crate::formats::capnp::decode::Walk;
use crate::formats::capnp::layout::{Member, Shape, bits_at, is_set};
use crate::formats::capnp::objects::Object;
use crate::formats::capnp::wire::{self, WORD};
use crate::formats::capnp::{pointers, words};
use crate::formats::raw;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::capnp::Type;
use crate::model::events::Flow;
use crate::model::num::{count, len64, push_number};
use crate::model::schema::MessageId;

/// `struct meta: DocumentMeta, 1 data word, 1 pointer, 0x40..0x50`
pub fn heading(teller: &Teller<'_>, object: &Object, ty: Option<MessageId>) -> String {
    if !teller.words {
        return String::new();
    }
    let super::objects::What::Struct { data, pointers, .. } = object.what else { return String::new() };
    struct_heading(teller, ty, (data, pointers), object.start, object.end)
}

/// The heading of a struct of these sizes.
pub fn struct_heading(
    teller: &Teller<'_>,
    ty: Option<MessageId>,
    (data, pointers): (u16, u16),
    start: u64,
    end: u64,
) -> String {
    let shapes = teller.chart.shapes;
    let name = ty.and_then(|ty| Some(shapes?.name(ty))).unwrap_or("");
    let path = shown(teller.path());
    let colon = if name.is_empty() { ":".to_string() } else { format!(": {name},") };
    let words = count(u64::from(data), "data word", "data words");
    let slots = count(u64::from(pointers), "pointer", "pointers");
    let mut text = format!("   -- struct {path}{colon} {words}, {slots}, {start:#04x}..{end:#04x}");
    if let Some(shape) = ty.and_then(|ty| shapes?.shape(ty)) {
        text.push_str(&age(shape, data, pointers));
    }
    text
}

/// What a struct has more or less than the schema says.
fn age(shape: &Shape<'_>, data: u16, pointers: u16) -> String {
    let part = |there: u16, due: u16, one: &str, many: &str| {
        (there != due).then(|| format!("{} of {due} {}", there, if due == 1 { one } else { many }))
    };
    let parts = [
        part(data, shape.data_words, "data word", "data words"),
        part(pointers, shape.pointer_count, "pointer", "pointers"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    let newer = data > shape.data_words || pointers > shape.pointer_count;
    let who = if newer { "a newer schema wrote it" } else { "an older schema wrote it, or it is trimmed" };
    format!("; {} ({who})", parts.join(", "))
}

/// A path for a sentence: the root by a word.
pub fn shown(path: &str) -> &str {
    match path.strip_suffix('.').unwrap_or(path) {
        "" => "(root)",
        path => path,
    }
}

/// Tells a struct.
///
/// # Errors
/// What the sink returns.
pub fn tell(walk: &mut Walk<'_>, object: &Object, ty: Option<MessageId>, sizes: (u16, u16)) -> Flow {
    let end = object.start.saturating_add(u64::from(sizes.0).saturating_mul(WORD));
    data(&mut walk.teller, object.start, end.min(object.end), ty)?;
    pointers::section(walk, object, ty, sizes)
}

/// Tells a data section.
///
/// # Errors
/// What the sink returns.
pub fn data(teller: &mut Teller<'_>, start: u64, end: u64, ty: Option<MessageId>) -> Flow {
    let chart = teller.chart;
    let Some(shape) = ty.and_then(|ty| chart.shapes?.shape(ty)) else {
        return unknown(teller, start, end, true);
    };
    let section = teller.bytes.clipped(start, end);
    let limit = len64(section.len()).saturating_mul(8);
    let known = start.saturating_add(u64::from(shape.data_words).saturating_mul(WORD)).min(end);
    let mut at = 0;
    while let Some(member) = shape.members.get(at) {
        at = at.saturating_add(1);
        let last = u64::from(member.bit).saturating_add(u64::from(member.bits));
        if last > limit || !is_set(section, &member.when) {
            continue;
        }
        let from = start.saturating_add(u64::from(member.bit / 8));
        if from < teller.at {
            continue;
        }
        rest(teller, start, from)?;
        if member.bits == 1 {
            at = bools(teller, shape, at.saturating_sub(1), section, from)?;
        } else {
            value(teller, member, section, from)?;
        }
        teller.keep_row();
    }
    rest(teller, start, known)?;
    unknown(teller, known, end, false)
}

/// The bytes in front of the next field: padding, or bits that no field has.
fn rest(teller: &mut Teller<'_>, start: u64, to: u64) -> Flow {
    while teller.at < to {
        let from = teller.at;
        // A row is a word: what is left of one stands in the row of its last field.
        let word = from.saturating_sub(start) / WORD;
        let next = start.saturating_add(word.saturating_add(1).saturating_mul(WORD)).min(to);
        piece(teller, from, next, start)?;
    }
    Ok(())
}

fn piece(teller: &mut Teller<'_>, from: u64, to: u64, start: u64) -> Flow {
    let bytes = teller.bytes.clipped(from, to);
    let zero = bytes.iter().all(|byte| *byte == 0);
    let first = from.saturating_sub(start).is_multiple_of(WORD);
    let joined = !first && !teller.opens_row();
    if !joined {
        teller.enter_field(Step::None, GroupKind::Value)?;
    }
    if teller.words {
        let len = to.saturating_sub(from);
        let said = teller.say();
        if !joined {
            said.field.push(' ');
        }
        said.words.push_str(if zero { "|padding " } else { "|not in this schema, " });
        push_number(&mut said.words, len);
        if !zero {
            said.words.push_str(if len == 1 { " byte" } else { " bytes" });
        }
    }
    match zero {
        true => teller.leaf_of(from, to, Kind::PADDING, None, Flags::NONE)?,
        false => {
            let fault = super::faults::Fault { start: from, end: to, what: super::faults::Wrong::Padding };
            teller.out.diagnostic(&fault.told())?;
            teller.leaf(from, to, wire::RAW, None, Flags::WARNING)?;
        }
    }
    if joined { Ok(()) } else { teller.leave_field() }
}

/// A number.
fn value(teller: &mut Teller<'_>, member: &Member<'_>, section: &[u8], from: u64) -> Flow {
    let stored = bits_at(section, member.bit, member.bits);
    let chart = teller.chart;
    let mask = if member.tag.is_some() { 0 } else { member.default.mask() };
    let code = match member.tag {
        Some(_) => wire::UNION_TAG,
        None => wire::kind_of(member.ty).unwrap_or(wire::RAW),
    };
    teller.enter_field(Step::Name(&member.path), GroupKind::Value)?;
    if teller.words {
        let capnp = chart.shapes.map(|shapes| shapes.capnp);
        let said = teller.say();
        match member.tag {
            Some(_) if member.path.is_empty() => said.field.push_str("(union)"),
            _ => {
                said.field.push('.');
                said.field.push_str(&member.path);
            }
        }
        match (member.tag, capnp) {
            (Some(record), _) => words::push_tag(record, stored, &mut said.words),
            (None, Some(capnp)) => {
                words::push_xored(capnp, member.ty, stored, mask, &mut said.words);
                said.value = words::json(capnp, member.ty, stored ^ mask);
            }
            (None, None) => {}
        }
    }
    let mut flags = Flags::NONE;
    if member.tag.is_none() {
        if stored == 0 {
            flags = flags.with(Flags::DEFAULT);
        } else if mask != 0 {
            flags = flags.wide(words::width(member.ty, stored ^ mask));
        }
    }
    let end = from.saturating_add(u64::from(member.bits / 8));
    if let Some(what) = unknown_number(teller, member, stored ^ mask) {
        teller.out.diagnostic(&super::faults::Fault { start: from, end, what }.told())?;
        flags = flags.with(Flags::WARNING);
    }
    teller.leaf(from, end, code, None, flags)?;
    teller.leave_field()
}

/// A tag or enum with a number that the schema does not know.
fn unknown_number(teller: &Teller<'_>, member: &Member<'_>, number: u64) -> Option<super::faults::Wrong> {
    use super::faults::Wrong;
    let number = u16::try_from(number).ok()?;
    match (member.tag, member.ty) {
        (Some(record), _) if record.member(number).is_none() => Some(Wrong::UnionUnknown(number)),
        (None, Type::Enum(id)) => {
            let one = teller.chart.shapes?.capnp.enumeration(id)?;
            one.name_of(number).is_none().then_some(Wrong::EnumUnknown(number))
        }
        _ => None,
    }
}

/// The bools of one byte. Returns the position behind the last of them.
fn bools(
    teller: &mut Teller<'_>,
    shape: &Shape<'_>,
    at: usize,
    section: &[u8],
    from: u64,
) -> Result<usize, crate::model::events::Stop> {
    let byte = shape.members.get(at).map_or(0, |member| member.bit / 8);
    let mut next = at;
    let mut here: Vec<&Member<'_>> = Vec::new();
    while let Some(member) = shape.members.get(next).filter(|member| member.bit / 8 == byte && member.bits == 1) {
        if is_set(section, &member.when) {
            here.push(member);
        }
        next = next.saturating_add(1);
    }
    let any = here.iter().any(|member| bits_at(section, member.bit, 1) == 1);
    let name = here.first().map_or("", |member| member.path.as_str());
    teller.enter_field(if here.len() == 1 { Step::Name(name) } else { Step::None }, GroupKind::Value)?;
    if teller.words {
        let said = teller.say();
        words::push_bools(&here, section, &mut said.field, &mut said.words);
        if let [one] = here.as_slice() {
            let on = bits_at(section, one.bit, 1) ^ one.default.mask() == 1;
            said.value = Some(on.to_string());
        }
    }
    let known = here.iter().fold(0u8, |bits, member| bits | 1 << (member.bit % 8));
    let stored = u8::try_from(bits_at(section, byte.saturating_mul(8), 8)).unwrap_or(0);
    let mut flags = if any { Flags::NONE } else { Flags::DEFAULT };
    if stored & !known != 0 {
        let fault =
            super::faults::Fault { start: from, end: from.saturating_add(1), what: super::faults::Wrong::Padding };
        teller.out.diagnostic(&fault.told())?;
        flags = flags.with(Flags::WARNING);
    }
    teller.leaf(from, from.saturating_add(1), wire::BOOLS, None, flags)?;
    teller.leave_field()?;
    Ok(next)
}

/// Words of which no schema says anything. `alone` where there is no schema at all.
fn unknown(teller: &mut Teller<'_>, start: u64, end: u64, alone: bool) -> Flow {
    let mut at = start.max(teller.at);
    while at < end {
        let next = at.saturating_add(WORD).min(end);
        let zero = teller.bytes.clipped(at, next).iter().all(|byte| *byte == 0);
        let mut name = String::new();
        push_word(&mut name, at.saturating_sub(start) / WORD);
        let step = if alone { Step::Name(&name) } else { Step::None };
        teller.enter_field(step, GroupKind::Value)?;
        if teller.words {
            let bytes = teller.bytes.clipped(at, next);
            let said = teller.say();
            said.field.push_str(if alone { "." } else { " " });
            if alone {
                said.field.push_str(&name);
            }
            if zero {
                said.words.push_str("zero");
            } else {
                raw::push_word(bytes, &mut said.words, &mut said.readings);
                said.doubt = !said.readings.is_empty();
            }
            if !alone {
                said.more.push_str(", not in this schema");
            }
        }
        match zero {
            true => teller.leaf_of(at, next, Kind::PADDING, None, Flags::NONE)?,
            false => teller.leaf(at, next, wire::RAW, None, Flags::NONE)?,
        }
        teller.leave_field()?;
        at = next;
    }
    Ok(())
}
