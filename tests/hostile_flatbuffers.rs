//! Hostile FlatBuffers: tables that are none, of types that they are not, that lie on each other, without end.
//! [`common::Checker`] asserts the rules on each decode.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use common::{As, Random, golden, in_parallel, inspect};

/// Types of tables with every kind of field, and none.
fn flatbuffers_readings() -> Vec<As> {
    let zoo = ["zoo.Root", "zoo.Vectors", "zoo.Tree", "zoo.Scalars", "zoo.Optionals", "zoo.Defaults", "zoo.Needs"];
    let zoo = zoo.map(|root| As::format("flatbuffers").typed("fbzoo.fbs", root));
    let suite = ["suite.FixtureRoot", "suite.Document"];
    let suite = suite.map(|root| As::format("flatbuffers").typed("suite.fbs", root));
    let plain = zoo.into_iter().chain(suite).chain([As::format("flatbuffers")]);
    plain.flat_map(|one| [one, one.variant("size-prefixed")]).collect()
}

/// Bytes with vtables, tables that use them, and words that lead on to tables and between them: these get further in
/// than random bytes.
fn random_tables(random: &mut Random) -> Vec<u8> {
    let words = 8 + random.below(90);
    let mut bytes = Vec::new();
    for _ in 0..words {
        let word = match random.below(8) {
            0 => random.next() as u32,
            1 | 2 => random.below(9) as u32,
            3 => random.below(1 << 16) as u32,
            _ => 4 * (1 + random.below(16) as u32),
        };
        bytes.extend(word.to_le_bytes());
    }
    let mut put = |at: usize, value: &[u8]| {
        for (byte, value) in bytes.iter_mut().skip(at).zip(value) {
            *byte = *value;
        }
    };
    let vtables: Vec<usize> = (0..=random.below(4)).map(|_| 4 + 2 * random.below(2 * words - 2)).collect();
    for vtable in &vtables {
        let (slots, table) = (random.below(24), 4 + 4 * random.below(16));
        let mut told = vec![4 + 2 * slots, table];
        told.extend((0..slots).map(|_| if random.below(3) == 0 { 0 } else { random.below(table + 2) }));
        for (number, half) in told.iter().enumerate() {
            put(vtable + 2 * number, &(*half as u16).to_le_bytes());
        }
    }
    let tables: Vec<usize> = (0..=random.below(9)).map(|_| 4 * random.below(words)).collect();
    for table in &tables {
        let vtable = vtables[random.below(vtables.len())];
        put(*table, &(*table as u32).wrapping_sub(vtable as u32).to_le_bytes());
    }
    for _ in 0..random.below(12) {
        let (at, table) = (4 * random.below(words), tables[random.below(tables.len())]);
        put(at, &(table as u32).wrapping_sub(at as u32).to_le_bytes());
    }
    let sized = random.below(4) == 0;
    let root = tables[random.below(tables.len())] as u32;
    put(if sized { 4 } else { 0 }, &root.wrapping_sub(if sized { 4 } else { 0 }).to_le_bytes());
    if sized {
        put(0, &(4 * words as u32 - 4).to_le_bytes());
    }
    bytes.truncate(bytes.len() - random.below(3));
    bytes
}

#[test]
fn random_tables_are_owned_as_every_type() {
    let readings = flatbuffers_readings();
    in_parallel(6_000, |seed| {
        let mut random = Random::new(6_000_000 + seed as u64);
        let bytes = random_tables(&mut random);
        for read in &readings {
            read.check(&bytes);
        }
    });
}

#[test]
fn buffers_are_owned_as_types_that_they_are_not() {
    let readings = flatbuffers_readings();
    let all: Vec<_> = golden().into_iter().filter(|golden| golden.format == "flatbuffers").collect();
    assert!(all.len() > 140, "{}", all.len());
    in_parallel(all.len(), |at| {
        for read in &readings {
            read.check(&all[at].bytes);
        }
    });
}

/// Words of a buffer.
fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn tables_very_deep_in_each_other_are_one_error_and_no_deep_stack() {
    const LEVELS: u32 = 100_000;
    let tree = As::format("flatbuffers").typed("fbzoo.fbs", "zoo.Tree");
    // The root offset leads to 0x10; at 0x04 a vtable of 8 bytes for tables of 8: v absent, left +4. Then tables of a
    // soffset and an offset of 4, to the next one.
    let tables = (0..LEVELS).flat_map(|level| [12 + 8 * level, 4]);
    let bytes = words([16, 8 << 16 | 8, 4 << 16, 0].into_iter().chain(tables));
    let checker = tree.check(&bytes);
    assert_eq!(checker.codes().iter().filter(|code| **code == "fb-depth").count(), 1);
    assert!(checker.groups.len() < 2_000, "groups end at the limit, not {}", checker.groups.len());
    As::format("flatbuffers").check(&bytes);
    inspect(&bytes);
}

#[test]
fn vectors_that_lie_on_each_other_end() {
    // Each word is an offset to the next one, and counts four elements: objects begin everywhere.
    let readings = flatbuffers_readings();
    for (first, word) in [(4, 4), (8, 4), (4, 0x0004_0004), (4, 0x0008_0008), (8, 0x0006_0008), (4, 1), (4, 0x100)] {
        let mut bytes = words([first].into_iter().chain(std::iter::repeat_n(word, 5_000)));
        for read in &readings {
            read.check(&bytes);
        }
        // A vtable of 12 bytes at 0x04, whose table at 0x10 has 16: kids +4 of the tree, three fields of the others.
        for (at, half) in [12, 16, 4, 8, 12, 4].into_iter().enumerate() {
            bytes[4 + 2 * at..6 + 2 * at].copy_from_slice(&u16::to_le_bytes(half));
        }
        bytes[..4].copy_from_slice(&16u32.to_le_bytes());
        bytes[16..20].copy_from_slice(&12u32.to_le_bytes());
        for read in &readings {
            read.check(&bytes);
        }
    }
}

#[test]
fn announced_counts_and_lengths_take_no_memory() {
    // A string, a vector of tables, one of structs, one of bytes; their offset is the only field of the root.
    for (slot, root) in [(1, "zoo.Root"), (3, "zoo.Tree"), (13, "zoo.Vectors"), (2, "zoo.Vectors"), (14, "zoo.Root")] {
        let mut halves = vec![0u16; slot + 1];
        halves[slot] = 4;
        let (vtable, table) = (2 * halves.len() + 4, 4 + (2 * halves.len() + 4).next_multiple_of(4));
        let mut bytes = words([table as u32]);
        bytes.extend([vtable as u16, 8].into_iter().chain(halves).flat_map(u16::to_le_bytes));
        bytes.resize(table, 0);
        bytes.extend(words([table as u32 - 4, 4, u32::MAX, 0]));
        let checker = As::format("flatbuffers").typed("fbzoo.fbs", root).check(&bytes);
        assert!(checker.codes().contains(&"fb-length-past-end"), "{root} {slot}: {:?}", checker.codes());
        As::format("flatbuffers").check(&bytes);
    }
}
