//! Vtables: two sizes and a slot for each field.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::tell::Teller;
use crate::formats::flatbuffers::users::Users;
use crate::formats::flatbuffers::words::absent_words;
use crate::formats::flatbuffers::{gaps, wire};
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::events::Flow;
use crate::model::flat::Object;
use crate::model::num::{bytes, count, push_number};
use crate::model::schema::MessageId;

/// Slots behind the end of a vtable that a note names.
const NAMED: usize = 8;

/// Tells a vtable.
///
/// # Errors
/// What the sink returns.
pub fn tell(teller: &mut Teller<'_>, number: u32, users: &Users) -> Flow {
    let Some(shared) = usize::try_from(number).ok().and_then(|at| teller.found.vtables.get(at)).copied() else {
        return Ok(());
    };
    let vtable = shared.vtable;
    let end = vtable.start.saturating_add(vtable.size);
    if vtable.start < teller.at {
        teller.warn(vtable.start, end.min(teller.at), Wrong::Overlap(teller.at))?;
    }
    if end <= teller.at {
        return Ok(());
    }
    gaps::up_to(teller, vtable.start)?;
    teller.enter(shared.first)?;
    let types = if teller.words { users.types(number, teller.found) } else { Vec::new() };
    if teller.words {
        let text = heading(teller, &types, vtable.start, vtable.size, vtable.slot_count());
        let from = users.words(number, teller.found, teller.flat);
        teller.heading(shared.first, &text, &from)?;
    }
    teller.enter_field(Step::None, GroupKind::Part)?;
    if teller.words {
        teller.say().field.push_str("(sizes)");
        teller.say().refs = shared.users;
    }
    teller.leaf(vtable.start, vtable.start.saturating_add(2), wire::VTABLE_SIZE, None, Flags::NONE)?;
    teller.leaf(vtable.start.saturating_add(2), vtable.start.saturating_add(4), wire::TABLE_SIZE, None, Flags::NONE)?;
    teller.leave_field()?;
    if vtable.slot_count() == 0 {
        return Ok(());
    }
    teller.enter_field(Step::None, GroupKind::Part)?;
    for id in 0..vtable.slot_count() {
        if teller.words {
            say_slot(teller, &types, id, vtable.voffset(teller.bytes, id).unwrap_or(0));
            if id.saturating_add(1) == vtable.slot_count() {
                say_trimmed(teller, &types, id);
            }
        }
        let at = vtable.slot_at(id);
        teller.leaf(at, at.saturating_add(wire::VOFFSET), wire::VOFFSET_SLOT, None, Flags::NONE)?;
    }
    teller.leave_field()
}

/// `vtable 0x0a for FixtureRoot: 10 bytes, slots 0..2 of 11`
fn heading(teller: &Teller<'_>, types: &[Option<MessageId>], start: u64, size: u64, slots: u16) -> String {
    let known: Vec<&Object> = types.iter().filter_map(|ty| teller.flat?.object((*ty)?)).take(NAMED).collect();
    let names: Vec<&str> = known.iter().map(|object| object.short_name()).collect();
    let names = if names.is_empty() { String::new() } else { format!(" for {}", names.join(", ")) };
    let fields = match known.as_slice() {
        [one] => one.fields.last().map(|field| field.id.saturating_add(1)),
        _ => None,
    };
    let slots = match fields {
        Some(fields) if fields > slots && slots > 1 => format!("slots 0..{} of {fields}", slots.saturating_sub(1)),
        Some(fields) if fields > slots && slots == 1 => format!("1 slot of {fields}"),
        Some(fields) if fields > slots => format!("no slot of {fields}"),
        Some(fields) if fields < slots => format!("{slots} slots, the schema knows {fields}"),
        _ => count(u64::from(slots), "slot", "slots"),
    };
    format!("   -- vtable {start:#04x}{names}: {}, {slots}", bytes(size))
}

/// `|document +8`, `|message none`
fn say_slot(teller: &mut Teller<'_>, types: &[Option<MessageId>], id: u16, voffset: u16) {
    let mut names: Vec<String> = Vec::new();
    let mut absent = String::new();
    let flat = teller.flat;
    for object in types.iter().filter_map(|ty| flat?.object((*ty)?)).take(NAMED) {
        let Some(field) = object.field(id) else { continue };
        let name = if types.len() > 1 { format!("{}.{}", object.short_name(), field.name) } else { field.name.clone() };
        if !names.contains(&name) {
            names.push(name);
        }
        if let (Some(flat), 0) = (flat, voffset) {
            absent = absent_words(field, flat);
        }
    }
    let words = teller.say();
    words.field.push_str("(slots)");
    words.joins = id > 0;
    words.words.push('|');
    if names.is_empty() {
        push_number(&mut words.words, u64::from(id));
    } else {
        words.words.push_str(&names.join(", "));
    }
    if voffset == 0 {
        words.words.push_str(" none");
        words.words.push_str(&absent);
    } else {
        words.words.push_str(" +");
        push_number(&mut words.words, u64::from(voffset));
    }
}

/// What lies behind the last slot: fields that are absent too, and what that means.
fn say_trimmed(teller: &mut Teller<'_>, types: &[Option<MessageId>], last: u16) {
    let ([Some(ty)], Some(flat)) = (types, teller.flat) else { return };
    let Some(object) = flat.object(*ty).filter(|_| !flat.guessed) else { return };
    let missing: Vec<String> = object
        .fields
        .iter()
        .filter(|field| field.id > last)
        .map(|field| format!("{}{}", field.name, absent_words(field, flat)))
        .collect();
    if missing.is_empty() {
        return;
    }
    let more = missing.len().saturating_sub(NAMED);
    let mut text = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    let behind = match missing.len() {
        1 => "1 slot behind it is absent too".to_string(),
        many => format!("{many} slots behind it are absent too"),
    };
    teller.say().why = format!("the vtable ends early: {behind}: {text}");
}
