//! A FlexBuffer as values (FlatBuffers documentation, "FlexBuffers"): the root stands at the end, in front of its type
//! and its width; offsets lead backwards.

use std::borrow::Cow;

use crate::model::events::{Flow, Sink};
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::{Bytes, little_endian, little_endian_signed};

/// Containers within each other.
const DEPTH: usize = 64;

/// Values of one FlexBuffer.
const MOST: u64 = 1_000_000;

/// A value: where it or its offset stands, how wide it is, and its type with the width of what it holds.
#[derive(Debug, Clone, Copy)]
struct Slot {
    at: u64,
    width: u64,
    packed: u8,
}

/// The root of a FlexBuffer.
#[derive(Debug, Clone, Copy)]
pub struct Root<'a> {
    bytes: Bytes<'a>,
    slot: Slot,
}

impl<'a> Root<'a> {
    /// The root of some bytes, if they look like a FlexBuffer.
    pub fn of(bytes: &'a [u8]) -> Option<Root<'a>> {
        let [.., packed, width] = bytes else { return None };
        let (packed, width) = (*packed, u64::from(*width));
        let at = Bytes(bytes).len().checked_sub(2)?.checked_sub(width)?;
        let root = Root { bytes: Bytes(bytes), slot: Slot { at, width, packed } };
        matches!(width, 1 | 2 | 4 | 8).then_some(root)
    }
}

/// The elements of a container that are still to be sent.
#[derive(Debug, Clone, Copy)]
struct Frame {
    at: u64,
    width: u64,
    count: u64,
    next: u64,
    /// Where the types of the elements stand; else all have this type.
    types: Result<u64, u8>,
    /// Keys of a map: where their vector begins, and the width of its offsets.
    keys: Option<(u64, u64)>,
}

/// Sends the values of a FlexBuffer.
///
/// # Errors
/// What the sink returns.
pub fn send(root: Root<'_>, out: &mut dyn Sink) -> Flow {
    let mut stack: Vec<Frame> = Vec::new();
    let mut left = MOST;
    value(root.bytes, root.slot, &mut stack, out)?;
    while let Some(frame) = stack.last_mut() {
        if frame.next >= frame.count || left == 0 {
            stack.pop();
            out.value(Event::End)?;
            continue;
        }
        left -= 1;
        let index = frame.next;
        frame.next = frame.next.saturating_add(1);
        let frame = *frame;
        if let Some((at, width)) = frame.keys {
            let place = at.saturating_add(index.saturating_mul(width));
            let key = back(root.bytes, place, width).map_or(&[][..], |at| text(root.bytes, at));
            out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(key))))?;
        }
        let packed = match frame.types {
            Ok(types) => root.bytes.u8(types.saturating_add(index)).unwrap_or(0),
            Err(packed) => packed,
        };
        let at = frame.at.saturating_add(index.saturating_mul(frame.width));
        value(root.bytes, Slot { at, width: frame.width, packed }, &mut stack, out)?;
    }
    Ok(())
}

fn part(bytes: Bytes<'_>, at: u64, width: u64) -> &[u8] {
    bytes.range(at, at.saturating_add(width)).unwrap_or(&[])
}

/// Where an offset leads: so many bytes back from where it stands.
fn back(bytes: Bytes<'_>, at: u64, width: u64) -> Option<u64> {
    at.checked_sub(little_endian(part(bytes, at, width)))
}

/// The bytes up to a NUL.
fn text(bytes: Bytes<'_>, at: u64) -> &[u8] {
    let rest = bytes.clipped(at, bytes.len());
    rest.split(|byte| *byte == 0).next().unwrap_or(&[])
}

fn float(part: &[u8]) -> Scalar<'static> {
    match part.len() {
        4 => Scalar::F32(f32::from_bits(u32::try_from(little_endian(part)).unwrap_or(0))),
        _ => Scalar::F64(f64::from_bits(little_endian(part))),
    }
}

/// Sends a value, or begins a container and puts it on the stack.
fn value(bytes: Bytes<'_>, slot: Slot, stack: &mut Vec<Frame>, out: &mut dyn Sink) -> Flow {
    let Slot { at, width, packed } = slot;
    let inline = part(bytes, at, width);
    // Types of the standard, Type in flexbuffers.h; the low two bits are the width of what an offset leads to.
    let (ty, inner) = (packed >> 2, 1u64 << (packed & 3));
    let to = back(bytes, at, width);
    let behind = |to: Option<u64>| part(bytes, to.unwrap_or(u64::MAX), inner);
    let scalar = match ty {
        1 => Scalar::Int(little_endian_signed(inline)),
        2 => Scalar::Uint(little_endian(inline)),
        3 => float(inline),
        4 => Scalar::Text(Cow::Borrowed(to.map_or(&[][..], |to| text(bytes, to)))),
        5 => Scalar::Text(Cow::Borrowed(sized(bytes, to, inner))),
        6 => Scalar::Int(little_endian_signed(behind(to))),
        7 => Scalar::Uint(little_endian(behind(to))),
        8 => float(behind(to)),
        25 => Scalar::Bytes(Cow::Borrowed(sized(bytes, to, inner))),
        26 => Scalar::Bool(little_endian(inline) != 0),
        9..=24 | 36 if stack.len() < DEPTH => match to.and_then(|to| container(bytes, to, inner, ty)) {
            Some((frame, shape)) => {
                stack.push(frame);
                return out.value(Event::Begin(shape, Some(frame.count)));
            }
            None => Scalar::Null,
        },
        _ => Scalar::Null,
    };
    out.value(Event::Scalar(scalar))
}

/// The content of a string or blob: its size stands in front of it.
fn sized(bytes: Bytes<'_>, to: Option<u64>, width: u64) -> &[u8] {
    let Some(to) = to else { return &[] };
    let size = to.checked_sub(width).map_or(0, |at| little_endian(part(bytes, at, width)));
    bytes.range(to, to.saturating_add(size)).unwrap_or(&[])
}

/// A map, a vector, or a vector of one type, at `to`.
fn container(bytes: Bytes<'_>, to: u64, width: u64, ty: u8) -> Option<(Frame, Shape)> {
    let fixed = match ty {
        16..=18 => Some(2),
        19..=21 => Some(3),
        22..=24 => Some(4),
        _ => None,
    };
    let count = match fixed {
        Some(count) => count,
        None => little_endian(part(bytes, to.checked_sub(width)?, width)),
    };
    let end = to.checked_add(count.checked_mul(width)?)?;
    if end > bytes.len() {
        return None;
    }
    let types = match ty {
        9 | 10 => Ok(end),
        11..=15 => Err((ty - 10) << 2 | width_bits(width)),
        36 => Err(26 << 2),
        _ => Err(((ty - 16) % 3 + 1) << 2 | width_bits(width)),
    };
    let keys = match ty {
        // In front of the count stand the offset of the keys and the width of their offsets.
        9 => {
            let at = to.checked_sub(width.checked_mul(3)?)?;
            let each = little_endian(part(bytes, at.checked_add(width)?, width));
            Some((back(bytes, at, width)?, each)).filter(|_| matches!(each, 1 | 2 | 4 | 8))
        }
        _ => None,
    };
    let shape = if keys.is_some() { Shape::Map } else { Shape::List };
    Some((Frame { at: to, width, count, next: 0, types, keys }, shape))
}

fn width_bits(width: u64) -> u8 {
    u8::try_from(width.trailing_zeros()).unwrap_or(0)
}
