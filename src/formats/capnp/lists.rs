//! Lists: text, data, numbers, bits, pointers, and structs behind a tag.

use crate::formats::capnp::chart::Teller;
use crate::formats::capnp::decode::Walk;
use crate::formats::capnp::objects::{Object, Reach, What, struct_type};
use crate::formats::capnp::structs::{self, shown};
use crate::formats::capnp::wire::{self, ElementSize, WORD};
use crate::formats::capnp::{pointers, words};
use crate::formats::scattered::NONE;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::capnp::Type;
use crate::model::events::Flow;
use crate::model::num::{bytes, count, len64, push_number};
use crate::wire::reader::little_endian;

/// Numbers that have leaves of their own; more are one leaf.
const SINGLE: u64 = 64;

/// Bytes of a list of numbers that is told in one row, without a heading.
const SHORT: u64 = 8;

/// Bytes of a list of which nothing is known that are looked at for text.
const TEXT_LOOKED_AT: u64 = 4096;

/// Tells a list of anything but structs behind a tag.
///
/// # Errors
/// What the sink returns.
pub fn tell(walk: &mut Walk<'_>, object: &Object) -> Flow {
    let What::List { size, count, ty } = object.what else { return Ok(()) };
    let element = element_of(&walk.teller, ty);
    let count = u64::from(count);
    match (ty, size) {
        (Some(Type::Text), _) => text(walk, object, count, true),
        (Some(Type::Data), _) => data(walk, object, count),
        (_, ElementSize::Byte) if element.is_none() => {
            if is_text(&walk.teller, object, count) {
                text(walk, object, count, false)
            } else {
                data(walk, object, count)
            }
        }
        (_, ElementSize::Pointer) => of_pointers(walk, object, element, count),
        (_, ElementSize::Bit) => of_bits(walk, object, count),
        _ if matches!(element, Some(Type::Struct(_))) => upgraded(walk, object, element, size, count),
        _ => numbers(walk, object, element, size, count),
    }
}

/// The type of the elements, where the schema says it.
fn element_of(teller: &Teller<'_>, ty: Option<Type>) -> Option<Type> {
    match ty? {
        Type::List(id) => Some(teller.chart.shapes?.capnp.element(id)),
        _ => None,
    }
}

/// Whether bytes of which nothing is known look like a text: a NUL at the end and only there, and readable.
fn is_text(teller: &Teller<'_>, object: &Object, count: u64) -> bool {
    let all = teller.bytes.clipped(object.start, object.start.saturating_add(count));
    let Some((0, rest)) = all.split_last() else { return false };
    let seen = rest.get(..usize::try_from(TEXT_LOOKED_AT).unwrap_or(0)).unwrap_or(rest);
    let valid = match std::str::from_utf8(seen) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(seen.get(..error.valid_up_to()).unwrap_or(&[])).unwrap_or("")
        }
        Err(_) => return false,
    };
    valid.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

fn text(walk: &mut Walk<'_>, object: &Object, count: u64, known: bool) -> Flow {
    walk.heading(object, "", "")?;
    let teller = &mut walk.teller;
    let end = object.start.saturating_add(count).min(object.end);
    let last = end.saturating_sub(1).max(object.start);
    let from = pointers::from_words(object);
    if teller.words {
        let long = count > len64(crate::model::limits::PIECE);
        let head = teller.bytes.clipped(object.start, object.start.saturating_add(64));
        let said = teller.say();
        said.refs = object.refs;
        said.behind = from;
        if !known {
            said.words.push_str("like text ");
        }
        if long {
            crate::formats::quote(head, &mut said.words);
            said.words.push_str(" ...");
        } else if !known || last == object.start {
            let all = teller.bytes.clipped(object.start, last);
            crate::formats::quote(all, &mut teller.say().words);
        }
    }
    if last > object.start {
        teller.leaf(object.start, last, wire::TEXT, None, Flags::NONE)?;
    }
    if last < end {
        let byte = teller.bytes.u8(last).unwrap_or(0);
        if teller.words {
            // Without a byte of text the row still says that there is one.
            let said = teller.say();
            said.words.push_str(if byte == 0 { "|NUL" } else { "|no NUL" });
        }
        teller.leaf(last, end, wire::NUL, None, Flags::NONE)?;
    }
    padding(teller, end, object.end)
}

fn data(walk: &mut Walk<'_>, object: &Object, count: u64) -> Flow {
    walk.heading(object, "", "")?;
    let teller = &mut walk.teller;
    let end = object.start.saturating_add(count).min(object.end);
    if teller.words {
        let text = format!("{} of data", bytes(count));
        let said = teller.say();
        said.refs = object.refs;
        said.words.push_str(&text);
        said.behind = pointers::from_words(object);
    }
    teller.leaf(object.start, end, wire::DATA, None, Flags::NONE)?;
    padding(teller, end, object.end)
}

/// The rest of the last word.
fn padding(teller: &mut Teller<'_>, from: u64, to: u64) -> Flow {
    let from = from.max(teller.at);
    if from >= to {
        return Ok(());
    }
    let zero = teller.bytes.clipped(from, to).iter().all(|byte| *byte == 0);
    if teller.words {
        let len = to.saturating_sub(from);
        let said = teller.say();
        said.words.push_str("|padding ");
        push_number(&mut said.words, len);
    }
    if !zero {
        let fault = super::faults::Fault { start: from, end: to, what: super::faults::Wrong::Padding };
        teller.out.diagnostic(&fault.told())?;
    }
    let flags = if zero { Flags::NONE } else { Flags::WARNING };
    teller.leaf_of(from, to, Kind::PADDING, None, flags)
}

/// `list xs: 5 Int32, 24 bytes 0x..0x..`
fn heading(teller: &Teller<'_>, object: &Object, what: &str) -> String {
    if !teller.words {
        return String::new();
    }
    format!("   -- list {}: {what}, {:#04x}..{:#04x}", shown(teller.path()), object.start, object.end)
}

fn of_bits(walk: &mut Walk<'_>, object: &Object, count: u64) -> Flow {
    walk.heading(object, "", "")?;
    let teller = &mut walk.teller;
    let end = object.start.saturating_add(count.div_ceil(8)).min(object.end);
    if teller.words {
        let shown = teller.bytes.clipped(object.start, object.start.saturating_add(8));
        let mut text = self::count_words(count);
        let most = count.min(64);
        for bit in 0..most {
            let byte = shown.get(usize::try_from(bit / 8).unwrap_or(usize::MAX)).copied().unwrap_or(0);
            text.push_str(if bit > 0 && bit % 8 == 0 { " " } else { "" });
            text.push(if byte >> (bit % 8) & 1 == 1 { '1' } else { '0' });
        }
        if count > most {
            text.push_str(" ...");
        }
        let said = teller.say();
        said.refs = object.refs;
        said.words = text;
        said.behind = pointers::from_words(object);
    }
    teller.leaf(object.start, end, wire::BITS, None, Flags::NONE)?;
    padding(teller, end, object.end)
}

fn count_words(number: u64) -> String {
    format!("{}, the first one first: ", count(number, "bool", "bools"))
}

fn numbers(walk: &mut Walk<'_>, object: &Object, element: Option<Type>, size: ElementSize, count: u64) -> Flow {
    let width = size.bits().unwrap_or(8) / 8;
    let element = element.filter(|ty| ty.bits().is_some_and(|bits| bits > 0));
    let capnp = walk.teller.chart.shapes.map(|shapes| shapes.capnp);
    // An element may be stored wider than the schema says: the type tells its first bytes then.
    let plain = element.is_none_or(|ty| u64::from(ty.bits().unwrap_or(0) / 8) == width);
    let code = element.filter(|_| plain).and_then(wire::kind_of).unwrap_or(wire::RAW);
    let end = object.start.saturating_add(count.saturating_mul(width)).min(object.end);
    let name = match (element, capnp) {
        (Some(ty), Some(capnp)) => words::type_word(capnp, ty),
        _ => format!("of {}", bytes(width)),
    };
    let short = end.saturating_sub(object.start) <= SHORT;
    let many = code == wire::RAW || count > SINGLE || width == 1 || short;
    let text = format!("{count} {name}");
    let above = if short { String::new() } else { heading(&walk.teller, object, &text) };
    walk.heading(object, &above, &if short { String::new() } else { pointers::from_words(object) })?;
    let teller = &mut walk.teller;
    if many {
        if teller.words {
            let mut words = format!("{text}: ");
            push_numbers(teller, object.start, count, width, element, &mut words);
            let said = teller.say();
            said.refs = object.refs;
            said.words = words;
            if short {
                said.behind = pointers::from_words(object);
            } else {
                said.field.push_str("  [..]");
            }
        }
        teller.many(object.start, end, code, width)?;
    } else {
        for index in 0..count {
            let at = object.start.saturating_add(index.saturating_mul(width));
            teller.enter_field(Step::Index(index), GroupKind::Element)?;
            if teller.words {
                let bits = little_endian(teller.bytes.clipped(at, at.saturating_add(width)));
                let said = teller.say();
                said.field = format!("[{index}]");
                said.joins = !index.saturating_mul(width).is_multiple_of(WORD);
                said.words.push('|');
                push_number_of(capnp, element, bits, &mut said.words);
            }
            teller.leaf(at, at.saturating_add(width), code, None, Flags::NONE)?;
            teller.leave_field()?;
        }
    }
    padding(teller, end, object.end)
}

fn push_number_of(capnp: Option<&crate::model::capnp::Capnp>, element: Option<Type>, bits: u64, out: &mut String) {
    match (capnp, element) {
        (Some(capnp), Some(ty)) => words::push_value(capnp, ty, bits, out),
        _ => push_number(out, bits),
    }
}

fn push_numbers(teller: &Teller<'_>, start: u64, count: u64, width: u64, element: Option<Type>, out: &mut String) {
    let capnp = teller.chart.shapes.map(|shapes| shapes.capnp);
    let one = |index: u64, out: &mut String| {
        let at = start.saturating_add(index.saturating_mul(width));
        push_number_of(capnp, element, little_endian(teller.bytes.clipped(at, at.saturating_add(width))), out);
    };
    let shown = if count > 8 { 4 } else { count };
    for index in 0..shown {
        out.push_str(if index > 0 { ", " } else { "" });
        one(index, out);
    }
    if count > shown {
        out.push_str(", ... ");
        one(count.saturating_sub(1), out);
    }
}

fn of_pointers(walk: &mut Walk<'_>, object: &Object, element: Option<Type>, count: u64) -> Flow {
    let what = self::count(count, "pointer", "pointers");
    let above = heading(&walk.teller, object, &what);
    walk.heading(object, &above, &pointers::from_words(object))?;
    let read_as_structs = matches!(element, Some(Type::Struct(_)));
    for index in 0..count {
        let at = object.start.saturating_add(index.saturating_mul(WORD));
        if at >= object.end {
            break;
        }
        let element = if read_as_structs { walk.element_at(at, object, index) } else { None };
        match element {
            Some((number, element)) => walk.element(number, &element)?,
            None => {
                let field = format!("[{index}]");
                pointers::tell(walk, at, object.segment, Step::Index(index), &field)?;
            }
        }
    }
    Ok(())
}

/// A list of numbers that the schema reads as structs: each number is the beginning of a data section.
fn upgraded(walk: &mut Walk<'_>, object: &Object, element: Option<Type>, size: ElementSize, count: u64) -> Flow {
    let width = size.bits().unwrap_or(8) / 8;
    let name =
        element.zip(walk.teller.chart.shapes).map_or(String::new(), |(ty, shapes)| words::type_word(shapes.capnp, ty));
    let what = format!("{count} of {} each, read as {name}", bytes(width));
    let above = heading(&walk.teller, object, &what);
    walk.heading(object, &above, &pointers::from_words(object))?;
    let teller = &mut walk.teller;
    for index in 0..count {
        let at = object.start.saturating_add(index.saturating_mul(width));
        teller.enter_field(Step::Index(index), GroupKind::Item)?;
        structs::data(teller, at, at.saturating_add(width).min(object.end), struct_type(element))?;
        teller.leave_field()?;
    }
    let end = object.start.saturating_add(count.saturating_mul(width));
    padding(teller, end, object.end)
}

/// Tells a list of structs: the tag, then element by element.
///
/// # Errors
/// What the sink returns.
pub fn structs(walk: &mut Walk<'_>, number: u32, object: &Object) -> Flow {
    let What::Structs { count, data, pointers, ty } = object.what else { return Ok(()) };
    let each = u64::from(data).saturating_add(u64::from(pointers));
    let plural = if count == 1 { "struct" } else { "structs" };
    let size = self::count(each, "word", "words");
    let above = heading(&walk.teller, object, &format!("tag + {count} {plural} of {size}"));
    walk.heading(object, &above, &pointers::from_words(object))?;
    tag(&mut walk.teller, object, (count, data, pointers))?;
    let size = each.saturating_mul(WORD);
    if size == 0 {
        return rest(walk, object);
    }
    for index in 0..u64::from(count) {
        let start = object.start.saturating_add(WORD).saturating_add(index.saturating_mul(size));
        let end = start.saturating_add(size).min(object.end);
        if start >= object.end {
            break;
        }
        match walk.element_at(start, object, index) {
            Some((number, element)) => walk.element(number, &element)?,
            None => {
                walk.teller.enter(number)?;
                walk.teller.enter_field(Step::Index(index), GroupKind::Item)?;
                inline(walk, object, (start, end), ty, (data, pointers))?;
                walk.teller.leave_field()?;
            }
        }
    }
    walk.teller.enter(number)?;
    rest(walk, object)
}

/// Words behind the last element.
fn rest(walk: &mut Walk<'_>, object: &Object) -> Flow {
    let teller = &mut walk.teller;
    let from = teller.at;
    if from >= object.end {
        return Ok(());
    }
    let zero = teller.bytes.clipped(from, object.end).iter().all(|byte| *byte == 0);
    teller.enter_field(Step::None, GroupKind::Value)?;
    if teller.words {
        let said = teller.say();
        said.field.push(' ');
        said.words.push_str("words of the list that no element has");
    }
    let kind = if zero { Kind::PADDING } else { Kind::UNREAD };
    teller.leaf_of(from, object.end, kind, None, Flags::NONE)?;
    teller.leave_field()
}

fn tag(teller: &mut Teller<'_>, object: &Object, (count, data, pointers): (u32, u16, u16)) -> Flow {
    let at = object.start;
    teller.enter_field(Step::None, GroupKind::Value)?;
    if teller.words {
        let text = self::count(u64::from(count), "element", "elements");
        let said = teller.say();
        said.refs = object.refs;
        said.field.push_str("(tag)");
        said.words = text;
    }
    teller.leaf(at, at.saturating_add(4), wire::TAG_COUNT, None, Flags::NONE)?;
    if teller.words {
        teller.say().words = format!("|{data} data");
    }
    teller.leaf(at.saturating_add(4), at.saturating_add(6), wire::TAG_DATA, None, Flags::NONE)?;
    if teller.words {
        teller.say().words = format!("|{pointers} ptr");
    }
    teller.leaf(at.saturating_add(6), at.saturating_add(8), wire::TAG_POINTERS, None, Flags::NONE)?;
    teller.leave_field()
}

/// An element whose pointers are all null.
fn inline(walk: &mut Walk<'_>, object: &Object, (start, end): (u64, u64), ty: Option<Type>, sizes: (u16, u16)) -> Flow {
    let id = struct_type(ty);
    let element = Object { start, end, ..*object };
    if walk.teller.words {
        let text = structs::struct_heading(&walk.teller, id, sizes, start, end);
        walk.teller.heading(object.rank, &text, "")?;
    }
    match ty {
        // Structs that the schema reads as single values: the first bytes of each are the value.
        Some(other) if id.is_none() && other.bits().is_some_and(|bits| bits >= 8) => {
            single(&mut walk.teller, start, other)?;
            structs::tell(walk, &element, None, sizes)
        }
        _ => structs::tell(walk, &element, id, sizes),
    }
}

/// The value at the start of a struct.
fn single(teller: &mut Teller<'_>, start: u64, ty: Type) -> Flow {
    let width = u64::from(ty.bits().unwrap_or(8) / 8);
    let end = start.saturating_add(width);
    if teller.words {
        let bits = little_endian(teller.bytes.clipped(start, end));
        let capnp = teller.chart.shapes.map(|shapes| shapes.capnp);
        let said = teller.say();
        said.field.push(' ');
        if let Some(capnp) = capnp {
            words::push_xored(capnp, ty, bits, 0, &mut said.words);
        }
    }
    teller.leaf(start, end, wire::kind_of(ty).unwrap_or(wire::RAW), None, Flags::NONE)?;
    teller.keep_row();
    Ok(())
}

impl Walk<'_> {
    /// The object of an element, if it is one.
    fn element_at(&self, at: u64, list: &Object, index: u64) -> Option<(u32, Object)> {
        let chart = self.teller.chart;
        let mut next = self.next;
        while let Some(object) = chart.object(next).filter(|object| object.start <= at) {
            let parent = chart.object(object.parent).is_some_and(|parent| parent.start == list.start);
            let here = object.start == at && parent && object.from == at;
            if here && object.reach == Reach::Index(u32::try_from(index).unwrap_or(NONE)) {
                return Some((next, *object));
            }
            next = next.saturating_add(1);
        }
        None
    }

    /// Tells an element that is an object.
    fn element(&mut self, number: u32, object: &Object) -> Flow {
        let What::Struct { ty, data, pointers } = object.what else { return Ok(()) };
        self.next = self.next.max(number.saturating_add(1));
        self.teller.enter(number)?;
        if self.teller.words {
            let text = structs::heading(&self.teller, object, ty);
            self.teller.heading(object.rank, &text, "")?;
        }
        structs::tell(self, object, ty, (data, pointers))
    }
}
