//! Remembers the keys of open maps, to find one that stands twice, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;

use crate::model::limits;

/// Keys of one map up to which a scan beats a table.
const FEW: usize = 16;

/// The keys of one open map, by a hash of 128 bits, each with the offset where it first stands.
#[derive(Debug, Default)]
pub struct Keys {
    few: Vec<(u128, u64)>,
    many: HashMap<u128, u64, FixedState>,
}

/// What is known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Not seen before in this map.
    Fresh,
    /// Seen before, at this offset.
    Twice(u64),
    /// Too many keys are remembered already: nobody knows.
    Full,
}

/// How many keys may still be remembered, over all open maps of an input.
#[derive(Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(limits::REMEMBERED_KEYS)
    }
}

impl Keys {
    /// Takes the key at offset `at`; `class` tells apart keys of different types with the same bytes.
    pub fn take(&mut self, class: u8, key: &[u8], at: u64, budget: &mut Budget) -> Known {
        let hash = hash128(class, key);
        if let Some(first) = self.find(hash) {
            return Known::Twice(first);
        }
        match budget.0.checked_sub(1) {
            None => return Known::Full,
            Some(left) => budget.0 = left,
        }
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push((hash, at));
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(hash, at);
        }
        Known::Fresh
    }

    fn find(&self, hash: u128) -> Option<u64> {
        if self.many.is_empty() {
            self.few.iter().find(|(other, _)| *other == hash).map(|(_, at)| *at)
        } else {
            self.many.get(&hash).copied()
        }
    }

    /// The map closes: its keys make room for others.
    pub fn release(self, budget: &mut Budget) {
        budget.0 = budget.0.saturating_add(self.few.len()).saturating_add(self.many.len());
    }
}

/// Two 64-bit hashes of different seeds, so that chance never makes two keys one.
fn hash128(class: u8, key: &[u8]) -> u128 {
    const SEEDS: [u64; 2] = [0x7769_7265_696e_7370, 0x6563_7420_6b65_7973];
    let [high, low] = SEEDS.map(|seed| {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        hasher.write(key);
        hasher.write_u8(class);
        hasher.finish()
    });
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_again_among_few_and_among_many() {
        let (mut keys, mut budget) = (Keys::default(), Budget::default());
        for n in 0..100u64 {
            assert_eq!(keys.take(0, &n.to_le_bytes(), n, &mut budget), Known::Fresh);
            assert_eq!(keys.take(0, &0u64.to_le_bytes(), n, &mut budget), Known::Twice(0));
        }
        assert_eq!(keys.take(1, &0u64.to_le_bytes(), 7, &mut budget), Known::Fresh, "another class is another key");
    }

    #[test]
    fn memory_is_bounded_and_comes_back_when_a_map_closes() {
        let mut budget = Budget(2);
        let mut keys = Keys::default();
        assert_eq!(keys.take(0, b"a", 0, &mut budget), Known::Fresh);
        assert_eq!(keys.take(0, b"b", 0, &mut budget), Known::Fresh);
        assert_eq!(keys.take(0, b"c", 0, &mut budget), Known::Full);
        keys.release(&mut budget);
        assert_eq!(Keys::default().take(0, b"c", 0, &mut budget), Known::Fresh);
    }
}
