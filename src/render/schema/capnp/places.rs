//! Places in the sections of a struct, in words.

use crate::model::capnp::{Slot, Type};

/// Bits of a word.
const WORD: u64 = 64;

/// Word, first bit and bit behind the last of something of so many bits, at a multiple of its size.
pub fn span(bits: u32, offset: u32) -> (u64, u64, u64) {
    let (bits, start) = (u64::from(bits), u64::from(bits).saturating_mul(u64::from(offset)));
    let first = start % WORD;
    (start / WORD, first, first.saturating_add(bits))
}

/// `word 0 bits 16..32`, `word 1`, `word 0 bit 3`
pub fn bits(size: u32, offset: u32) -> String {
    match span(size, offset) {
        (word, 0, WORD) => format!("word {word}"),
        (word, first, _) if size == 1 => format!("word {word} bit {first}"),
        (word, first, end) => format!("word {word} bits {first}..{end}"),
    }
}

/// The place of a field.
pub fn place_words(slot: &Slot) -> String {
    match slot.ty.bits() {
        None => format!("pointer {}", slot.offset),
        Some(0) => "no bits".to_string(),
        Some(size) => bits(size, slot.offset),
    }
}

/// The words and pointers that a type takes in JSON: `{"word": 0, "bit": 16, "bits": 16}`, `{"pointer": 0}`.
pub fn json(ty: Type, offset: u32) -> serde_json::Value {
    match ty.bits() {
        None => serde_json::json!({"pointer": offset}),
        Some(0) => serde_json::Value::Null,
        Some(size) => {
            let (word, bit, _) = span(size, offset);
            serde_json::json!({"word": word, "bit": bit, "bits": size})
        }
    }
}
