//! Tables: the soffset, then the fields that are there, in the order of their bytes.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::found::Object;
use crate::formats::flatbuffers::table::Slot;
use crate::formats::flatbuffers::tell::{Teller, shown};
use crate::formats::flatbuffers::{fields, wire, words};
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::events::Flow;
use crate::model::flat::{Field, Flat, Of, Shape};
use crate::model::num::{bytes, push_number};
use crate::model::schema::MessageId;

/// Tells a table. Its last bytes, that no slot leads to, are its own only up to `next`, where another object begins:
/// writers are known whose vtables say two bytes more than their tables have.
///
/// # Errors
/// What the sink returns.
pub fn tell(teller: &mut Teller<'_>, number: u32, object: &Object, ty: Option<MessageId>, next: u64) -> Flow {
    let flat = teller.flat;
    let known = ty.and_then(|ty| flat?.object(ty));
    if teller.words {
        let name = known.map_or("", |known| known.short_name());
        let text = heading(teller, "table", name, object);
        let from = from_words(object);
        teller.heading(number, &text, &from)?;
    }
    soffset(teller, object)?;
    let shared = usize::try_from(object.vtable).ok().and_then(|at| teller.found.vtables.get(at)).copied();
    let (Some(shared), Some(buffer)) =
        (shared, teller.found.buffers.get(usize::try_from(object.buffer).unwrap_or(0)).copied())
    else {
        return Ok(());
    };
    let mut slots = teller.take_slots();
    shared.vtable.slots(teller.bytes, object.start, buffer, known, flat, &mut slots);
    for slot in slots.iter().filter(|slot| slot.usable) {
        gap(teller, slot.at, Some((slot, known.and_then(|known| known.field(slot.id)))))?;
        field(teller, object, slot, known.and_then(|known| known.field(slot.id)))?;
    }
    teller.keep_slots(slots);
    gap(teller, object.end.min(next), None)
}

fn soffset(teller: &mut Teller<'_>, object: &Object) -> Flow {
    let value = teller.bytes.i32(object.start);
    let place = value.and_then(|value| i64::try_from(object.start).ok()?.checked_sub(i64::from(value)));
    let target = place.and_then(|place| u64::try_from(place).ok());
    teller.enter_field(Step::None, GroupKind::Part)?;
    if teller.words {
        let said = teller.say();
        said.field.push_str("(vtable)");
        said.refs = object.refs;
        if target.is_none() {
            said.words.push_str("soffset before the start of the input");
        }
    }
    let end = object.start.saturating_add(wire::OFFSET).min(object.end);
    teller.leaf(object.start, end, wire::SOFFSET, target, Flags::NONE)?;
    teller.leave_field()
}

/// A field that is there.
fn field(teller: &mut Teller<'_>, object: &Object, slot: &Slot, field: Option<&Field>) -> Flow {
    let number;
    let name = match field {
        Some(field) => field.name.as_str(),
        None => {
            number = slot.id.to_string();
            number.as_str()
        }
    };
    let kind = match field.map(|field| (field.ty.shape, field.ty.of)) {
        Some((Shape::One, Of::Struct(_))) => GroupKind::Record,
        _ => GroupKind::Value,
    };
    // The object that an offset leads to goes on in the group that opens here.
    let opened = teller.enter_target(slot.at, Step::Name(name), kind)?;
    if teller.words && kind == GroupKind::Value {
        let voffset = slot.at.saturating_sub(object.start);
        let said = teller.say();
        said.field.push_str("  .");
        said.field.push_str(name);
        said.field.push_str(" +");
        push_number(&mut said.field, voffset);
    }
    match field {
        Some(field) if field.ty.is_offset() => fields::offset(teller, slot.at, field.offset64, "uoffset")?,
        Some(field) => {
            let flags = match teller.flat {
                Some(flat)
                    if words::is_default(
                        field,
                        flat,
                        teller.bytes.clipped(slot.at, slot.at.saturating_add(slot.width)),
                    ) =>
                {
                    Flags::DEFAULT
                }
                _ => Flags::NONE,
            };
            fields::value(teller, slot.at, field.ty.of, flags)?;
        }
        None if opened.is_some() => fields::offset(teller, slot.at, false, "not in this schema, like a uoffset")?,
        None => fields::raw(teller, slot.at, slot.width)?,
    }
    teller.leave_target(opened)
}

/// The bytes between two fields, or behind the last one.
fn gap(teller: &mut Teller<'_>, to: u64, next: Option<(&Slot, Option<&Field>)>) -> Flow {
    let from = teller.at;
    if to <= from {
        return Ok(());
    }
    let zero = teller.bytes.clipped(from, to).iter().all(|byte| *byte == 0);
    teller.enter_field(Step::None, GroupKind::Part)?;
    let kind = if zero && to.saturating_sub(from) < 64 { Kind::PADDING } else { Kind::UNREAD };
    if teller.words {
        let len = to.saturating_sub(from);
        let reason = if zero { reason(teller, to, len, next) } else { String::new() };
        let said = teller.say();
        said.field.push(' ');
        said.words = match kind {
            Kind::PADDING => format!("padding {len}{reason}"),
            _ => format!("{} of the table that no slot leads to", bytes(len)),
        };
    }
    let mut flags = Flags::NONE;
    if !zero {
        teller.warn(from, to, Wrong::Unreferenced(to.saturating_sub(from)))?;
        flags = Flags::WARNING;
    }
    teller.leaf_of(from, to, kind, None, flags)?;
    teller.leave_field()
}

/// Why a gap stands before a field, where that follows from the bytes.
fn reason(teller: &Teller<'_>, to: u64, len: u64, next: Option<(&Slot, Option<&Field>)>) -> String {
    let Some(flat) = teller.flat else { return String::new() };
    let Some((slot, Some(field))) = next else { return trailing(teller, flat, to, len) };
    let align = super::table::field_align(field, flat);
    if align > len && to.is_multiple_of(align) {
        return format!(", so that {} stands on a multiple of {align}, {to:#04x}", field.name);
    }
    let end = to.saturating_add(slot.width);
    if slot.width < wire::OFFSET && len < wire::OFFSET && end.is_multiple_of(wire::OFFSET) {
        return match slot.width {
            1 => format!(", {} fills the 4th byte", field.name),
            width => format!(", {} fills the last {width} of 4", field.name),
        };
    }
    String::new()
}

/// Why zeros stand behind the last field: a wide field would not be aligned without them, since writers build from the
/// end.
fn trailing(teller: &Teller<'_>, flat: &Flat, to: u64, len: u64) -> String {
    let Some((object, vtable)) = teller.table_and_vtable() else { return String::new() };
    let crate::formats::flatbuffers::found::What::Table(Some(ty)) = object.what else { return String::new() };
    let fields = flat.object(ty).map_or(&[][..], |object| &object.fields);
    let shifted = |field: &&Field| {
        let align = super::table::field_align(field, flat);
        let at = vtable.field(teller.bytes, object.start, field.id);
        at.is_some_and(|at| {
            align > 4 && at < to && at.is_multiple_of(align) && !at.saturating_add(len).is_multiple_of(align)
        })
    };
    match fields.iter().find(shifted) {
        Some(field) => {
            format!(", so that {} stands on a multiple of {}", field.name, super::table::field_align(field, flat))
        }
        None => String::new(),
    }
}

/// `table document: Document, 20 bytes 0x2c..0x40`
pub fn heading(teller: &Teller<'_>, what: &str, name: &str, object: &Object) -> String {
    let path = shown(teller.path());
    let name = if name.is_empty() { String::new() } else { format!(" {name},") };
    let size = bytes(object.end.saturating_sub(object.start));
    format!("   -- {what} {path}:{name} {size} {:#04x}..{:#04x}", object.start, object.end)
}

/// `<- 0x1c`, and how many more lead there.
pub fn from_words(object: &Object) -> String {
    match object.refs {
        0 => String::new(),
        1 => format!("<- {:#04x}", object.from),
        many => format!("<- {:#04x} and {} more", object.from, many.saturating_sub(1)),
    }
}
