//! A dump that was printed in colour: the sequences that colour it frame, the rest is the dump.

use super::Undone;
use super::map::{Map, Use};
use crate::model::num::len64;

/// What a colour sequence begins with; it ends with `m` (ECMA-48, "Select Graphic Rendition").
pub(super) const START: &[u8] = b"\x1b[";

/// Undoes the text that is left without colour, and puts its map and findings back into the whole.
pub(super) fn without(text: &[u8], undo: impl Fn(&[u8]) -> Undone) -> Undone {
    let (plain, places) = strip(text);
    let mut undone = undo(&plain);
    let place = |at: u64| usize::try_from(at).ok().and_then(|at| places.get(at)).copied().unwrap_or(len64(text.len()));
    for found in &mut undone.found {
        (found.start, found.end) = (place(found.start), place(found.end));
    }
    undone.leaves = spread(&undone.leaves, &places, len64(text.len()));
    undone
}

/// The text without colour, and where each of its bytes stands.
fn strip(text: &[u8]) -> (Vec<u8>, Vec<u64>) {
    let (mut plain, mut places) = (Vec::new(), Vec::new());
    let mut at = 0usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(len) = sequence(rest) {
            at = at.saturating_add(len);
            continue;
        }
        plain.extend(rest.first());
        places.push(len64(at));
        at = at.saturating_add(1);
    }
    (plain, places)
}

/// Length of a colour sequence: numbers and semicolons up to `m`.
fn sequence(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(START)?;
    let end = inside.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    let ends = inside.get(end) == Some(&b'm');
    ends.then_some(START.len().saturating_add(end).saturating_add(1))
}

/// The map of the plain text over the whole one; what lies between its bytes frames.
fn spread(plain: &Map, places: &[u64], size: u64) -> Map {
    let mut map = Map::default();
    let mut at = 0u64;
    let mut places = places.iter().copied();
    for (len, of) in plain.runs() {
        for place in places.by_ref().take(usize::try_from(len).unwrap_or(usize::MAX)) {
            map.push(place.saturating_sub(at), Use::Frames);
            map.push(1, of);
            at = place.saturating_add(1);
        }
    }
    map.push(size.saturating_sub(at), Use::Frames);
    map
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::told;

    #[test]
    fn a_dump_in_colour_is_read_as_the_dump() {
        let text = b"\x1b[2m0000\x1b[0m  \x1b[32m82\x1b[0m|\x1b[36ma1 61\x1b[0m  \x1b[1ma\x1b[0m  fixstr\n";
        let undone = told(text, Encoding::Dump);
        assert_eq!((undone.bytes, undone.found.len()), (vec![0x82, 0xa1, 0x61], 0));
    }
}
