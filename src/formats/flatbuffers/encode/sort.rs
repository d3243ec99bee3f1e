//! Vectors of types with a key, sorted by it. Elements with equal keys end up where the sort of flatc leaves them,
//! which keeps no order.

use std::cmp::Ordering;

use crate::formats::flatbuffers::builder::Builder;
use crate::formats::flatbuffers::encode::scalars;
use crate::formats::flatbuffers::values::look::{Found, Table, found_in_struct, found_in_table};
use crate::model::flat::{Absent, Field, Flat, Object, Of, Scalar as Type};
use crate::wire::reader::{Bytes, little_endian, little_endian_signed};

/// Elements among which those with equal keys are placed as flatc places them; its sort is quadratic there.
const MOST_EQUAL: usize = 4096;

/// What an element is sorted by.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    Integer(i128),
    Float(f64),
    Text(Vec<u8>),
}

impl Key {
    fn compare(&self, other: &Key) -> Ordering {
        match (self, other) {
            (Key::Integer(a), Key::Integer(b)) => a.cmp(b),
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Key::Text(a), Key::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }

    fn of_bytes(scalar: Type, bytes: &[u8]) -> Key {
        match scalar {
            Type::Float => Key::Float(f64::from(f32::from_bits(u32::try_from(little_endian(bytes)).unwrap_or(0)))),
            Type::Double => Key::Float(f64::from_bits(little_endian(bytes))),
            _ if scalar.is_signed() => Key::Integer(i128::from(little_endian_signed(bytes))),
            _ => Key::Integer(i128::from(little_endian(bytes))),
        }
    }

    fn of_default(scalar: Type, default: &Absent) -> Key {
        match default {
            Absent::Float(value) if scalar == Type::Float => Key::Float(f64::from(scalars::narrow(*value))),
            Absent::Float(value) => Key::Float(*value),
            Absent::Int(value) => Key::Integer(i128::from(*value)),
            Absent::Uint(value) => Key::Integer(i128::from(*value)),
            Absent::None | Absent::Text(_) | Absent::EmptyVector if scalar.is_float() => Key::Float(0.0),
            Absent::None | Absent::Text(_) | Absent::EmptyVector => Key::Integer(0),
        }
    }
}

/// The key of an object, where it has one.
fn key_of(object: &Object) -> Option<&Field> {
    object.fields.iter().find(|field| field.key)
}

/// Sorts structs in a row.
pub fn structs(flat: &Flat, of: Of, bytes: &mut Vec<u8>) {
    let Of::Struct(id) = of else { return };
    let Some((object, key)) = flat.object(id).and_then(|object| Some((object, key_of(object)?))) else { return };
    let size = usize::try_from(object.size.max(1)).unwrap_or(1);
    let Some(scalar) = flat.scalar(key.ty.of) else { return };
    let keys: Vec<Key> = bytes
        .chunks_exact(size)
        .map(|each| match found_in_struct(flat, Bytes(each), 0, key) {
            Some(Found::Value(_, bytes)) => Key::of_bytes(scalar, bytes),
            _ => Key::Integer(0),
        })
        .collect();
    if let Some(order) = order(&keys) {
        let chunk = |at: &usize| bytes.chunks_exact(size).nth(*at).unwrap_or(&[]);
        let sorted: Vec<u8> = order.iter().flat_map(chunk).copied().collect();
        *bytes = sorted;
    }
}

/// Sorts tables by what the builder has of them.
pub fn tables(flat: &Flat, of: Of, builder: &Builder, places: &mut Vec<u64>) {
    let Of::Table(id) = of else { return };
    let Some(key) = flat.object(id).and_then(key_of) else { return };
    let data = Bytes(builder.written());
    let keys: Vec<Key> = places.iter().map(|place| table_key(flat, data, *place, key)).collect();
    if let Some(order) = order(&keys) {
        let sorted = order.iter().filter_map(|at| places.get(*at)).copied().collect();
        *places = sorted;
    }
}

fn table_key(flat: &Flat, data: Bytes<'_>, place: u64, key: &Field) -> Key {
    let found = || {
        let table = Table::read(data, data.len().checked_sub(place)?)?;
        let at = table.slot(data, key.id)?;
        found_in_table(flat, data, (table, at), key)
    };
    match (found(), flat.scalar(key.ty.of)) {
        (Some(Found::Value(_, bytes)), Some(scalar)) => Key::of_bytes(scalar, bytes),
        (Some(Found::Text(text)), _) => Key::Text(text.to_vec()),
        (_, Some(scalar)) => Key::of_default(scalar, &key.default),
        _ => Key::Text(Vec::new()),
    }
}

/// The order of elements by their keys; none where they are in order.
fn order(keys: &[Key]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let compare = |a: &usize, b: &usize| match (keys.get(*a), keys.get(*b)) {
        (Some(a), Some(b)) => a.compare(b),
        _ => Ordering::Equal,
    };
    order.sort_by(compare);
    let equal = order.windows(2).any(|pair| matches!(pair, [a, b] if compare(a, b) == Ordering::Equal));
    if equal && keys.len() <= MOST_EQUAL {
        order = (0..keys.len()).collect();
        quick(&mut order, |a, b| compare(a, b) == Ordering::Less);
    }
    Some(order)
}

/// The sort of flatc: the first element divides the others into those that are not greater and those that are.
fn quick(order: &mut [usize], less: impl Fn(&usize, &usize) -> bool) {
    let mut ranges = vec![(0, order.len())];
    while let Some((begin, end)) = ranges.pop() {
        if end.saturating_sub(begin) <= 1 {
            continue;
        }
        let (mut left, mut right) = (begin.saturating_add(1), end);
        while left < right {
            let greater = match (order.get(begin), order.get(left)) {
                (Some(first), Some(each)) => less(first, each),
                _ => false,
            };
            if greater {
                right = right.saturating_sub(1);
                order.swap(left, right);
            } else {
                left = left.saturating_add(1);
            }
        }
        left = left.saturating_sub(1);
        order.swap(begin, left);
        ranges.push((begin, left));
        ranges.push((right, end));
    }
}
