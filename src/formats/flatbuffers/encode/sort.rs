//! Vectors of types with a key, sorted by it. Elements with equal keys end up where the sort of flatc leaves them,
//! which keeps no order.

use std::cmp::Ordering;

use crate::formats::flatbuffers::builder::Builder;
use crate::formats::flatbuffers::keys::{self, Key};
use crate::model::flat::{Flat, Of};
use crate::wire::reader::Bytes;

/// Elements among which those with equal keys are placed as flatc places them; its sort is quadratic there.
const MOST_EQUAL: usize = 4096;

/// Sorts structs in a row.
pub fn structs(flat: &Flat, of: Of, bytes: &mut Vec<u8>) {
    let Some(key) = keys::key_of(flat, of) else { return };
    let size = usize::try_from(flat.width(of)).unwrap_or(1).max(1);
    let keys: Vec<Option<Key<'_>>> =
        bytes.chunks_exact(size).map(|each| keys::of_struct(Bytes(each), flat, key, 0)).collect();
    if let Some(order) = order(&keys) {
        let chunk = |at: &usize| bytes.chunks_exact(size).nth(*at).unwrap_or(&[]);
        let sorted: Vec<u8> = order.iter().flat_map(chunk).copied().collect();
        *bytes = sorted;
    }
}

/// Sorts tables by what the builder has of them.
pub fn tables(flat: &Flat, of: Of, builder: &Builder, places: &mut Vec<u64>) {
    let Some(key) = keys::key_of(flat, of) else { return };
    let data = Bytes(builder.written());
    let key = |place: &u64| keys::of_table(data, flat, key, data.len().checked_sub(*place)?, 0, data.len());
    let keys: Vec<Option<Key<'_>>> = places.iter().map(key).collect();
    if let Some(order) = order(&keys) {
        let sorted = order.iter().filter_map(|at| places.get(*at)).copied().collect();
        *places = sorted;
    }
}

/// The order of elements by their keys; none where they are in order.
fn order(keys: &[Option<Key<'_>>]) -> Option<Vec<usize>> {
    let compare = |a: &Option<Key<'_>>, b: &Option<Key<'_>>| match (a, b) {
        (Some(a), Some(b)) => a.order(b).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    };
    if keys.windows(2).all(|pair| matches!(pair, [a, b] if compare(a, b) == Ordering::Less)) {
        return None;
    }
    let at = |place: &usize| keys.get(*place).copied().flatten();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| compare(&at(a), &at(b)));
    let equal = order.windows(2).any(|pair| matches!(pair, [a, b] if compare(&at(a), &at(b)) == Ordering::Equal));
    if equal && keys.len() <= MOST_EQUAL {
        order = (0..keys.len()).collect();
        quick(&mut order, |a, b| compare(&at(a), &at(b)) == Ordering::Less);
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
