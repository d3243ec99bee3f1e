//! The names (or keys) of the objects that are open, to find one that stands twice, in bounded memory.
//!
//! A name is remembered as 128 bits of hash and an offset. Names of one object lie together at the
//! end of one list, since an inner object is complete before the outer one goes on.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::{FoldHasher, RandomState};

use crate::model::limits::REMEMBERED_KEYS;

/// Names of one object up to which a list is searched; a table costs more there.
const FEW: usize = 16;

/// Where the names of one object begin in the list, and its number.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    from: usize,
    object: u64,
}

/// What is known about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The object does not have it so far.
    New,
    /// The object has it at this offset.
    Before(u64),
    /// There are more names than are remembered.
    Unknown,
}

/// The names of all open objects.
pub struct Keys {
    seeds: [RandomState; 2],
    hashers: [FoldHasher<'static>; 2],
    names: Vec<(u128, u64)>,
    /// Names of objects with more than a few; the number of the object is hashed with them.
    table: HashMap<u128, u64>,
    objects: u64,
}

impl Default for Keys {
    fn default() -> Keys {
        // Seeds of this run: an input cannot be made so that its names fall together.
        let seeds = [RandomState::default(), RandomState::default()];
        let hashers = seeds.each_ref().map(|seed| seed.build_hasher());
        Keys { seeds, hashers, names: Vec::new(), table: HashMap::new(), objects: 0 }
    }
}

impl Keys {
    /// An object begins.
    pub fn begin(&mut self) -> Scope {
        self.objects = self.objects.saturating_add(1);
        Scope { from: self.names.len(), object: self.objects }
    }

    /// The innermost object ends.
    pub fn end(&mut self, scope: Scope) {
        let own = self.names.get(scope.from..).unwrap_or(&[]);
        if own.len() > FEW {
            for (hash, _) in own {
                self.table.remove(hash);
            }
        }
        self.names.truncate(scope.from);
    }

    /// A name of the innermost object begins.
    pub fn name(&mut self, scope: Scope) {
        for (hasher, seed) in self.hashers.iter_mut().zip(&self.seeds) {
            *hasher = seed.build_hasher();
            hasher.write_u64(scope.object);
        }
    }

    /// Bytes of that name.
    pub fn feed(&mut self, bytes: &[u8]) {
        for hasher in &mut self.hashers {
            hasher.write(bytes);
        }
    }

    /// That name is complete; `at` is its offset.
    pub fn done(&mut self, scope: Scope, at: u64) -> Seen {
        let [low, high] = self.hashers.each_ref().map(|hasher| u128::from(hasher.finish()));
        let hash = high << 64 | low;
        let own = self.names.get(scope.from..).unwrap_or(&[]);
        let found = if own.len() > FEW {
            self.table.get(&hash).copied()
        } else {
            own.iter().find(|(other, _)| *other == hash).map(|(_, at)| *at)
        };
        if let Some(first) = found {
            return Seen::Before(first);
        }
        if self.names.len() >= REMEMBERED_KEYS {
            return Seen::Unknown;
        }
        if own.len() == FEW {
            self.table.extend(own.iter().copied());
        }
        if own.len() >= FEW {
            self.table.insert(hash, at);
        }
        self.names.push((hash, at));
        Seen::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(keys: &mut Keys, scope: Scope, name: &str, at: u64) -> Seen {
        keys.name(scope);
        keys.feed(name.as_bytes());
        keys.done(scope, at)
    }

    #[test]
    fn a_name_counts_within_its_own_object_only() {
        let mut keys = Keys::default();
        let outer = keys.begin();
        assert_eq!(name(&mut keys, outer, "a", 1), Seen::New);
        let inner = keys.begin();
        assert_eq!(name(&mut keys, inner, "a", 5), Seen::New);
        assert_eq!(name(&mut keys, inner, "a", 9), Seen::Before(5));
        keys.end(inner);
        assert_eq!(name(&mut keys, outer, "a", 20), Seen::Before(1));
    }

    #[test]
    fn many_names_are_found_too_and_forgotten_at_the_end() {
        let mut keys = Keys::default();
        let outer = keys.begin();
        for at in 0..100 {
            assert_eq!(name(&mut keys, outer, &at.to_string(), at), Seen::New);
        }
        for at in 0..100 {
            assert_eq!(name(&mut keys, outer, &at.to_string(), 1000), Seen::Before(at));
        }
        keys.end(outer);
        assert!(keys.table.is_empty() && keys.names.is_empty());
    }
}
