//! The map of a text that holds bytes, in four bytes a run: spaced hex has two runs a byte.

use crate::model::bytemap::{Flags, Kind, Leaf};

/// What a run of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Becomes bytes.
    Carries,
    /// Stands around what carries.
    Frames,
    /// Fits nowhere.
    Misfits,
}

/// Bits of a run's length; longer runs take several entries, which [`Map::iter`] joins.
const LENGTH_BITS: u32 = 30;

/// Longest run of one entry.
const LONGEST: u64 = (1 << LENGTH_BITS) - 1;

/// A partition of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    runs: Vec<u32>,
    /// Bytes of a byte order mark in front.
    mark: u64,
    /// Bytes of a character: 2 in UTF-16.
    unit: u64,
}

impl Default for Map {
    fn default() -> Map {
        Map { runs: Vec::new(), mark: 0, unit: 1 }
    }
}

impl Map {
    /// The next `len` characters.
    pub(super) fn push(&mut self, len: u64, of: Use) {
        let tag = (of as u32) << LENGTH_BITS;
        let mut left = len;
        if let Some(last) = self.runs.last_mut().filter(|last| **last >> LENGTH_BITS == of as u32) {
            let joined = u64::from(*last & !(u32::MAX << LENGTH_BITS)).saturating_add(left);
            *last = tag | u32::try_from(joined.min(LONGEST)).unwrap_or(0);
            left = joined.saturating_sub(LONGEST);
        }
        while left > 0 {
            self.runs.push(tag | u32::try_from(left.min(LONGEST)).unwrap_or(0));
            left = left.saturating_sub(LONGEST);
        }
    }

    /// The same map behind a byte order mark, for characters of `unit` bytes.
    pub(super) fn behind(self, mark: u64, unit: u64) -> Map {
        Map { mark, unit, ..self }
    }

    /// Lengths in bytes and uses, in order; neighbours may have one use.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u64, Use)> + '_ {
        let mark = (self.mark > 0).then_some((self.mark, Use::Frames));
        let runs = self.runs.iter().map(|run| {
            let of = match run >> LENGTH_BITS {
                0 => Use::Carries,
                1 => Use::Frames,
                _ => Use::Misfits,
            };
            (u64::from(run & !(u32::MAX << LENGTH_BITS)).saturating_mul(self.unit), of)
        });
        mark.into_iter().chain(runs)
    }

    /// The leaves, in order.
    pub fn iter(&self) -> impl Iterator<Item = Leaf> + '_ {
        let mut runs = self.runs().peekable();
        let mut at = 0u64;
        std::iter::from_fn(move || {
            let (mut len, of) = runs.next()?;
            while let Some((more, _)) = runs.next_if(|(_, next)| *next == of) {
                len = len.saturating_add(more);
            }
            let start = at;
            at = at.saturating_add(len);
            Some(leaf(start, at, of))
        })
    }
}

fn leaf(start: u64, end: u64, of: Use) -> Leaf {
    match of {
        Use::Carries => Leaf::new(start, end, 0, Kind::CARRIER),
        Use::Frames => Leaf::new(start, end, 0, Kind::FRAMING),
        Use::Misfits => Leaf::new(start, end, 0, Kind::UNREAD).flagged(Flags::ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_use_are_one_leaf_also_past_the_longest_entry() {
        let mut map = Map::default();
        for len in [2, 3, LONGEST, 7] {
            map.push(len, Use::Carries);
        }
        map.push(1, Use::Frames);
        let leaves: Vec<Leaf> = map.behind(3, 1).iter().collect();
        let ends: Vec<u64> = leaves.iter().map(|leaf| leaf.end).collect();
        assert_eq!(ends, [3, 3 + LONGEST + 12, 3 + LONGEST + 13]);
        assert_eq!(leaves[1].kind, Kind::CARRIER);
    }
}
