//! The walk: finds the objects ([`super::objects`]), then tells them in the order of the file, with the bytes
//! between them.

use crate::formats::Context;
use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::found::{Buffer, Found, NONE, Object, Shared, What};
use crate::formats::flatbuffers::objects::{self, Hints};
use crate::formats::flatbuffers::table::vtable_at;
use crate::formats::flatbuffers::tell::{Chart, Teller};
use crate::formats::flatbuffers::users::Users;
use crate::formats::flatbuffers::{found, gaps, guess, likely, order, wire};
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::events::{Flow, Sink};
use crate::model::flat::Flat;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::wire::reader::{Bytes, Window};

/// Walks a buffer.
///
/// # Errors
/// What stopped the walk.
pub fn decode(input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    let bytes = input.all(u64::MAX)?.unwrap_or_default();
    let bytes = Bytes(&bytes);
    let buffer = buffer_of(bytes, context.variant);
    match context.bound().and_then(|bound| Some((bound.schema.flat.as_deref()?, bound.root))) {
        Some((flat, root)) => walk(bytes, buffer, (flat, root, &Hints::default()), context, out),
        None => {
            let guess = guess::guess(bytes, buffer);
            walk(bytes, buffer, (&guess.flat, guess.root, &guess.hints), context, out)
        }
    }
}

/// Where the buffer of an input stands, by its variant.
pub fn buffer_of(bytes: Bytes<'_>, variant: &str) -> Buffer {
    if variant != "size-prefixed" {
        let start = behind_zeros(bytes).unwrap_or(0);
        return Buffer { start, origin: start, end: bytes.len() };
    }
    let size = bytes.u32(0).map_or(0, u64::from);
    let start = wire::OFFSET.min(bytes.len());
    let end = start.saturating_add(size);
    // A prefix that does not fit is told, and what is there is read.
    let end = if size < wire::OFFSET || end > bytes.len() { bytes.len() } else { end };
    Buffer { start, origin: 0, end }
}

/// Where a buffer begins behind zeros: a builder fills its array from the end, and all of it was written. A root
/// offset of 0 leads nowhere, so nothing else can be meant.
fn behind_zeros(bytes: Bytes<'_>) -> Option<u64> {
    bytes.u32(0).filter(|root| *root == 0)?;
    let zeros = len64(bytes.0.iter().take_while(|byte| **byte == 0).count());
    let start = zeros.saturating_sub(zeros % wire::OFFSET);
    let root = start.checked_add(u64::from(bytes.u32(start)?))?;
    let buffer = Buffer { start, origin: start, end: bytes.len() };
    let vtable = vtable_at(bytes, root, start, buffer.end).ok()?;
    (vtable.slot_count() > 0 && likely::is_table(bytes, root, buffer)).then_some(start)
}

fn walk(
    bytes: Bytes<'_>,
    buffer: Buffer,
    (flat, root, hints): (&Flat, MessageId, &Hints),
    context: &Context<'_>,
    out: &mut dyn Sink,
) -> Flow {
    let found = objects::search_with(bytes, buffer, Some(root), Some(flat), context.depth, hints);
    let chart = Chart::new(&found, Some(flat));
    let mut teller = Teller::new(bytes, &chart, context.owner, out);
    let mut users = Users::default();
    if teller.words {
        teller.ranks = order::ranks(&found);
        users = Users::of(&found);
    }
    tell_all(&mut teller, &found, &users)
}

/// Tells vtables and other objects in the order of the file.
fn tell_all(teller: &mut Teller<'_>, found: &Found, users: &Users) -> Flow {
    let mut vtables: Vec<u32> = (0..u32::try_from(found.vtables.len()).unwrap_or(NONE)).collect();
    vtables.sort_by_key(|number| shared(found, *number).map_or(0, |shared| shared.vtable.start));
    let mut vtables = vtables.into_iter().peekable();
    teller.enter(0)?;
    for (at, object) in found.objects.iter().enumerate() {
        let number = u32::try_from(at).unwrap_or(NONE);
        while let Some(vtable) =
            vtables.next_if(|vtable| shared(found, *vtable).is_some_and(|shared| shared.vtable.start < object.start))
        {
            super::vtables::tell(teller, vtable, users)?;
        }
        gaps::up_to(teller, object.start)?;
        let vtable = vtables.peek().and_then(|next| shared(found, *next)).map_or(u64::MAX, |next| next.vtable.start);
        let next = found.objects.get(at.saturating_add(1)).map_or(u64::MAX, |next| next.start);
        tell(teller, number, next.min(vtable))?;
    }
    for vtable in vtables {
        super::vtables::tell(teller, vtable, users)?;
    }
    let size = teller.bytes.len();
    gaps::up_to(teller, size)?;
    teller.finish()
}

fn shared(found: &Found, number: u32) -> Option<&Shared> {
    found.vtables.get(usize::try_from(number).ok()?)
}

/// Tells an object; `next` is where another one begins.
fn tell(teller: &mut Teller<'_>, number: u32, next: u64) -> Flow {
    let Some(mut object) = teller.object(number).copied() else { return Ok(()) };
    if object.open_ended && next > object.start {
        object.end = object.end.min(next);
    }
    if object.start < teller.at {
        let end = object.end.min(teller.at);
        teller.warn(object.start, end, Wrong::Overlap(teller.at))?;
    }
    if object.end <= teller.at {
        return Ok(());
    }
    teller.enter(number)?;
    match object.what {
        What::Head => head(teller, number, &object),
        What::Table(ty) => super::tables::tell(teller, number, &object, ty, next),
        What::Vector(elements) => super::vectors::tell(teller, number, &object, elements),
        What::Text => super::vectors::text(teller, number, &object),
        What::Struct(id) => super::structs::alone(teller, number, &object, id),
    }
}

/// The head of a buffer: size prefix, root offset, identifier.
fn head(teller: &mut Teller<'_>, number: u32, object: &Object) -> Flow {
    let buffer = teller.found.buffers.get(usize::try_from(object.buffer).unwrap_or(0)).copied();
    let Some(buffer) = buffer else { return Ok(()) };
    if number != 0 && teller.words {
        let text = format!(
            "   -- nested buffer in {}: {}, {:#04x}..{:#04x}",
            teller.path(),
            crate::model::num::bytes(buffer.end.saturating_sub(buffer.start)),
            buffer.start,
            buffer.end
        );
        teller.heading(number, &text, "")?;
    } else {
        teller.heading(number, "", "")?;
    }
    if object.start < buffer.start {
        teller.enter_field(Step::None, GroupKind::Part)?;
        teller.say().field.push_str("(size prefix)");
        teller.leaf(object.start, buffer.start, wire::SIZE_PREFIX, None, Flags::NONE)?;
        teller.leave_field()?;
    }
    let offset = teller.bytes.u32(buffer.start).filter(|_| object.end >= buffer.start.saturating_add(wire::OFFSET));
    let target = offset.map(|offset| buffer.start.saturating_add(u64::from(offset)));
    teller.enter_field(Step::None, GroupKind::Part)?;
    teller.say().field.push_str("(root)");
    super::fields::say_offset(teller, target, "uoffset");
    teller.leaf(buffer.start, object.end, wire::UOFFSET, target, Flags::NONE)?;
    teller.leave_field()?;
    identifier(teller, number, &buffer)
}

/// The file identifier, where four bytes behind the root offset belong to no object and look like one.
fn identifier(teller: &mut Teller<'_>, number: u32, buffer: &Buffer) -> Flow {
    let start = buffer.start.saturating_add(wire::OFFSET);
    let end = start.saturating_add(wire::IDENTIFIER);
    if !found::has_identifier(teller.bytes, teller.found, teller.flat, number, buffer) {
        return Ok(());
    }
    teller.enter_field(Step::None, GroupKind::Part)?;
    teller.say().field.push_str("(identifier)");
    teller.leaf(start, end, wire::FILE_IDENTIFIER, None, Flags::NONE)?;
    teller.leave_field()
}
