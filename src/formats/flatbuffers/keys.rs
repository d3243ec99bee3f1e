//! Vectors that are sorted by the `key` of their elements, so that readers find one by halving.

use std::cmp::Ordering;

use crate::formats::flatbuffers::table::{Vtable, vtable_at};
use crate::formats::flatbuffers::words::integer;
use crate::model::flat::{Absent, Field, Flat, Of, Scalar};
use crate::wire::reader::{Bytes, little_endian};

/// A key that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Key<'a> {
    /// A signed integer.
    Signed(i64),
    /// An unsigned one.
    Unsigned(u64),
    /// A float.
    Float(f64),
    /// A string's bytes.
    Text(&'a [u8]),
}

impl Key<'_> {
    /// How keys are sorted: numbers by value, strings by bytes.
    pub fn order(&self, other: &Key<'_>) -> Option<Ordering> {
        match (self, other) {
            (Key::Signed(one), Key::Signed(other)) => Some(one.cmp(other)),
            (Key::Unsigned(one), Key::Unsigned(other)) => Some(one.cmp(other)),
            (Key::Float(one), Key::Float(other)) => one.partial_cmp(other),
            (Key::Text(one), Key::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

/// The key field of the elements of a vector, if they have one.
pub fn key_of(flat: &Flat, of: Of) -> Option<&Field> {
    match of {
        Of::Table(id) | Of::Struct(id) => flat.object(id)?.fields.iter().find(|field| field.key),
        _ => None,
    }
}

/// The key of a struct at a place.
pub fn of_struct<'a>(bytes: Bytes<'a>, flat: &Flat, field: &Field, at: u64) -> Option<Key<'a>> {
    scalar(bytes, flat.scalar(field.ty.of)?, at.checked_add(u64::from(field.offset))?)
}

/// The key of a table at a place, in a buffer of `start..end`; of an absent one its default.
pub fn of_table<'a>(bytes: Bytes<'a>, flat: &Flat, field: &Field, at: u64, start: u64, end: u64) -> Option<Key<'a>> {
    let vtable: Vtable = vtable_at(bytes, at, start, end).ok()?;
    let place = vtable.field(bytes, at, field.id);
    if field.ty.of == Of::Text {
        let place = place?;
        let text = place.checked_add(u64::from(bytes.u32(place)?))?;
        let from = text.checked_add(4)?;
        return Some(Key::Text(bytes.range(from, from.checked_add(u64::from(bytes.u32(text)?))?)?));
    }
    let ty = flat.scalar(field.ty.of)?;
    match place {
        Some(place) => scalar(bytes, ty, place),
        None => match field.default {
            Absent::Int(number) if ty.is_signed() => Some(Key::Signed(number)),
            Absent::Int(number) => Some(Key::Unsigned(number.cast_unsigned())),
            Absent::Uint(number) => Some(Key::Unsigned(number)),
            Absent::Float(number) => Some(Key::Float(number)),
            _ => None,
        },
    }
}

fn scalar(bytes: Bytes<'_>, ty: Scalar, at: u64) -> Option<Key<'_>> {
    of_bytes(ty, bytes.range(at, at.checked_add(u64::from(ty.size()))?)?)
}

/// A scalar as a key.
pub fn of_bytes(ty: Scalar, part: &[u8]) -> Option<Key<'static>> {
    Some(match ty {
        Scalar::Float => Key::Float(f64::from(f32::from_bits(u32::try_from(little_endian(part)).ok()?))),
        Scalar::Double => Key::Float(f64::from_bits(little_endian(part))),
        _ if ty.is_signed() => Key::Signed(integer(ty, part)),
        _ => Key::Unsigned(little_endian(part)),
    })
}
