//! The packed encoding (Encoding Spec, "Packing"), written: a tag byte has a bit for each byte of a word that is not
//! zero, and those bytes follow.
//!
//! ```text
//! 00  count   so many more zero words
//! ff  8 bytes, count, words   so many more words as they are: as long as they have at most one zero byte, from two
//!     on a tag is shorter
//! ```

/// Words that a count says at most.
const MOST: usize = 255;

/// Packs words; the bytes are those of the reference.
pub fn pack(words: &[u64], out: &mut Vec<u8>) {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let tag = tag_of(*word);
        out.push(tag);
        match tag {
            0 => {
                let run = run(rest, |word| word == 0);
                rest = rest.get(run..).unwrap_or(&[]);
                out.push(count(run));
            }
            0xff => {
                out.extend_from_slice(&word.to_le_bytes());
                let run = run(rest, |word| tag_of(word).count_zeros() <= 1);
                let (verbatim, behind) = rest.split_at_checked(run).unwrap_or((rest, &[]));
                rest = behind;
                out.push(count(run));
                out.extend(verbatim.iter().flat_map(|word| word.to_le_bytes()));
            }
            _ => out.extend(word.to_le_bytes().iter().filter(|byte| **byte != 0)),
        }
    }
}

/// Words at the start that fit, as many as a count can say.
fn run(words: &[u64], fits: impl Fn(u64) -> bool) -> usize {
    words.iter().take(MOST).take_while(|word| fits(**word)).count()
}

fn count(words: usize) -> u8 {
    u8::try_from(words).unwrap_or(u8::MAX)
}

/// A bit for each byte that is not zero, the lowest first.
fn tag_of(word: u64) -> u8 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The top bit of each byte says whether any of its bits is set; no byte carries into the next.
    let tops = ((word & LOW).wrapping_add(LOW) | word) & !LOW;
    // Each of the eight bits moves to a place of its own in the top byte.
    let gathered = (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    u8::try_from(gathered).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::capnp::packed::unpack;

    fn packed(words: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        pack(words, &mut out);
        out
    }

    #[test]
    fn a_tag_has_a_bit_for_each_byte_that_is_not_zero() {
        assert_eq!(
            [tag_of(0), tag_of(u64::MAX), tag_of(0x80), tag_of(1 << 56), tag_of(0x0100_0080_0000_0000)],
            [0, 0xff, 1, 0x80, 0x90]
        );
        for at in 0..8 {
            assert_eq!(tag_of(0x80 << (8 * at)), 1 << at);
            assert_eq!(tag_of(!(0xff << (8 * at))), !(1 << at));
        }
    }

    #[test]
    fn the_examples_of_the_encoding_spec() {
        assert_eq!(packed(&[0x0000_0002_0000_0008, 0x0000_0001_0000_0006]), [0x11, 8, 2, 0x11, 6, 1]);
        assert_eq!(packed(&[0; 4]), [0, 3]);
        let full = u64::from_le_bytes([0x8a; 8]);
        assert_eq!(packed(&[full; 4])[..10], [0xff, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 0x8a, 3]);
    }

    #[test]
    fn a_verbatim_run_ends_at_a_word_with_two_zero_bytes() {
        let (full, one, two) = (u64::MAX, u64::MAX << 8, u64::MAX << 16);
        assert_eq!(packed(&[full, one, two]).len(), 1 + 8 + 1 + 8 + 1 + 6);
        assert_eq!(packed(&[full, two])[9..], [0, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn runs_are_cut_at_255_words() {
        assert_eq!(packed(&[0; 257]), [0, 255, 0, 0]);
        let long = packed(&[u64::MAX; 257]);
        assert_eq!((long[9], long.len()), (255, 10 + 255 * 8 + 10));
    }

    #[test]
    fn what_is_packed_unpacks_to_the_same_words() {
        let mut state = 1u64;
        let words: Vec<u64> = (0..5000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let mask = (0..8).fold(0u64, |mask, at| {
                    mask | if state >> (20 + at) & 7 < state >> 50 & 7 { 0xff << (8 * at) } else { 0 }
                });
                state & mask
            })
            .collect();
        let plain: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let back = unpack(&packed(&words), false);
        assert!(back.wrong.is_none() && back.bytes == plain);
    }
}
