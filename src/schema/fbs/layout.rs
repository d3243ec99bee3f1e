//! Structs: the place of each member, the gaps, the size (FlatBuffers documentation, "Structs"). A member stands on
//! a multiple of its alignment; a gap is counted to the member in front of it.

use crate::model::flat::{Field, Flat, Of, Shape};
use crate::model::schema::MessageId;

/// The largest alignment that flatc gives (`FLATBUFFERS_MAX_ALIGNMENT`).
const MOST_ALIGN: u64 = 32;

/// Lays out all structs.
///
/// # Errors
/// The position of a struct that contains itself, or is too large, with a sentence.
pub fn all(flat: &mut Flat) -> Result<(), (usize, String)> {
    let count = flat.objects.len();
    // 0 not begun, 1 begun, 2 done.
    let mut states = vec![0u8; count];
    for first in 0..count {
        let mut stack = vec![first];
        while let Some(at) = stack.last().copied() {
            let state = states.get(at).copied().unwrap_or(2);
            let Some(object) = flat.objects.get(at).filter(|object| object.is_struct && state < 2) else {
                stack.pop();
                continue;
            };
            let parts: Vec<usize> = object.fields.iter().filter_map(part).collect();
            let open = parts.iter().copied().find(|part| states.get(*part).copied().unwrap_or(2) < 2);
            match open {
                Some(part) if part == at || states.get(part) == Some(&1) => {
                    return Err((at, format!("the struct `{}` contains itself", object.name)));
                }
                Some(part) => {
                    set(&mut states, at, 1);
                    stack.push(part);
                }
                None => {
                    one(flat, at)?;
                    set(&mut states, at, 2);
                    stack.pop();
                }
            }
        }
    }
    Ok(())
}

fn set(states: &mut [u8], at: usize, to: u8) {
    if let Some(state) = states.get_mut(at) {
        *state = to;
    }
}

/// The struct that a member is.
fn part(field: &Field) -> Option<usize> {
    match field.ty.of {
        Of::Struct(MessageId(id)) => usize::try_from(id).ok(),
        _ => None,
    }
}

/// Lays out a struct whose members are.
fn one(flat: &mut Flat, at: usize) -> Result<(), (usize, String)> {
    let Some(object) = flat.objects.get(at) else { return Ok(()) };
    let forced = object.attributes.iter().find(|(name, _)| name == "force_align");
    let forced = forced
        .map(|(_, value)| super::numbers::integer(value).and_then(|value| u64::try_from(value).ok()).unwrap_or(0));
    let mut fields = object.fields.clone();
    let name = object.name.clone();
    let (mut size, mut align) = (0u64, 1u64);
    let mut last: Option<usize> = None;
    for place in 0..fields.len() {
        let Some(ty) = fields.get(place).map(|field| field.ty) else { break };
        let (each, own) = (flat.width(ty.of), flat.align(ty.of));
        align = align.max(own);
        pad(&mut fields, last, &mut size, own);
        if size > u64::from(u16::MAX) {
            return Err((at, format!("the struct `{name}` has more than 65535 bytes in front of its last member")));
        }
        if let Some(field) = fields.get_mut(place) {
            field.offset = u32::try_from(size).unwrap_or(u32::MAX);
        }
        let count = if let Shape::Array(count) = ty.shape { u64::from(count) } else { 1 };
        size = size.saturating_add(each.saturating_mul(count));
        last = Some(place);
    }
    if size == 0 {
        return Err((at, format!("the struct `{name}` has no members: a struct has one at least")));
    }
    if let Some(forced) = forced.filter(|forced| !forced.is_power_of_two() || *forced < align || *forced > MOST_ALIGN) {
        return Err((at, format!("force_align is {forced}, for `{name}` a power of two from {align} to {MOST_ALIGN}")));
    }
    align = align.max(forced.unwrap_or(1));
    pad(&mut fields, last, &mut size, align);
    if let Some(object) = flat.objects.get_mut(at) {
        object.fields = fields;
        object.size = u32::try_from(size).unwrap_or(u32::MAX);
        object.align = u32::try_from(align).unwrap_or(1);
    }
    Ok(())
}

/// Brings the size to a multiple of `align`; the gap is the last member's.
fn pad(fields: &mut [Field], last: Option<usize>, size: &mut u64, align: u64) {
    let rest = size.checked_rem(align.max(1)).unwrap_or(0);
    let gap = if rest == 0 { 0 } else { align.saturating_sub(rest) };
    *size = size.saturating_add(gap);
    if let Some(field) = last.and_then(|last| fields.get_mut(last)) {
        field.padding = u32::try_from(gap).unwrap_or(0);
    }
}
