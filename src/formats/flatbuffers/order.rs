//! The order in which a reader reaches the objects: the root, then each table with all that its fields lead to.

use crate::formats::flatbuffers::found::{Found, Object, Reach};

/// For each object its place in that order.
pub fn ranks(found: &Found) -> Vec<u32> {
    let count = found.objects.len();
    let mut ranks = vec![u32::MAX; count];
    let (starts, children) = children(found);
    let mut next = 0u32;
    let mut stack: Vec<u32> = if count > 0 { vec![0] } else { Vec::new() };
    while let Some(number) = stack.pop() {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(rank) = ranks.get_mut(at) {
            *rank = next;
        }
        next = next.saturating_add(1);
        let from = starts.get(at).copied().unwrap_or(0);
        let to = starts.get(at.saturating_add(1)).copied().unwrap_or(from);
        stack.extend(children.get(from..to).unwrap_or(&[]).iter().rev());
    }
    ranks
}

/// Where the children of each object begin in the list, and the list: the children of one object by field or
/// element.
fn children(found: &Found) -> (Vec<usize>, Vec<u32>) {
    let count = found.objects.len();
    let mut starts = vec![0usize; count.saturating_add(2)];
    let parent = |object: &Object| usize::try_from(object.parent).ok().filter(|parent| *parent < count);
    for parent in found.objects.iter().filter_map(parent) {
        if let Some(place) = starts.get_mut(parent.saturating_add(1)) {
            *place = place.saturating_add(1);
        }
    }
    let mut sum = 0usize;
    for place in &mut starts {
        sum = sum.saturating_add(*place);
        *place = sum;
    }
    let mut filled = starts.clone();
    let mut list = vec![0u32; sum];
    for (number, object) in (0u32..).zip(&found.objects) {
        let Some(place) = parent(object).and_then(|parent| filled.get_mut(parent)) else { continue };
        if let Some(entry) = list.get_mut(*place) {
            *entry = number;
        }
        *place = place.saturating_add(1);
    }
    let key = |number: &u32| {
        let object = usize::try_from(*number).ok().and_then(|at| found.objects.get(at));
        object.map_or(0, |object| match object.reach {
            Reach::Same => 0,
            Reach::Field(slot) => u64::from(slot),
            Reach::Index(index) => index,
        })
    };
    for at in 0..count {
        let (Some(from), Some(to)) = (starts.get(at).copied(), starts.get(at.saturating_add(1)).copied()) else {
            break;
        };
        if let Some(part) = list.get_mut(from..to).filter(|part| part.len() > 1) {
            part.sort_by_key(key);
        }
    }
    (starts, list)
}
