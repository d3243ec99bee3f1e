//! Sizes in the canonical form (Encoding Spec, "Canonicalization"): zero words at the end of a data section and null
//! pointers at the end of a pointer section are left out; structs of a list share the largest sizes among them.

use crate::formats::capnp::builder::Arena;

/// Data words and pointers that a struct needs.
pub fn sizes(arena: &Arena, place: usize) -> (u16, u16) {
    let (data, pointers) = arena.sections(place);
    (needed(data), needed(pointers))
}

/// Data words and pointers that each struct of a list gets.
pub fn common_sizes(arena: &Arena, list: usize) -> (u16, u16) {
    let places = arena.elements(list).iter().map(|place| usize::try_from(*place).unwrap_or(0));
    places
        .map(|place| sizes(arena, place))
        .fold((0, 0), |(data, pointers), (more_data, more_pointers)| (data.max(more_data), pointers.max(more_pointers)))
}

/// Words up to the last one that is not zero.
fn needed(words: &[u64]) -> u16 {
    let words = words.iter().rposition(|word| *word != 0).map_or(0, |last| last.saturating_add(1));
    u16::try_from(words).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::capnp::builder::{Form, lay_out};

    #[test]
    fn structs_of_a_list_share_the_largest_sizes() {
        let mut arena = Arena::default();
        let elements: Vec<usize> = (0..2).map(|_| arena.add_struct(3, 2)).collect();
        arena.set_bits(elements[0], 64, 8, 5);
        let text = arena.add_text(b"x").unwrap_or(0);
        arena.set_pointer(elements[1], 0, text);
        let places: Vec<u64> = elements.iter().map(|place| *place as u64).collect();
        let list = arena.add_structs(3, 2, &places).unwrap_or(0);
        let root = arena.add_struct(4, 3);
        arena.set_pointer(root, 1, list);
        let words = lay_out(&arena, root, Form::Canonical).unwrap_or_default();
        assert_eq!(
            words,
            [
                2 << 48,
                0,
                1 | 7 << 32 | 6 << 35,
                2 << 2 | 2 << 32 | 1 << 48,
                0,
                5,
                0,
                0,
                0,
                1 | 2 << 32 | 2 << 35,
                u64::from(b'x')
            ]
        );
        assert_eq!(lay_out(&arena, root, Form::Full).map(|words| words.len()), Some(1 + 7 + 1 + 10 + 1));
    }
}
