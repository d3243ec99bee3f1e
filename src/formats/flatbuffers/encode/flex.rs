//! Writes FlexBuffers as flatc does: keys and texts stored once, maps sorted by key, every width the smallest.

use std::collections::HashMap;

use crate::model::num::len64;

/// `FBT_` of flexbuffers.h.
const NULL: u8 = 0;
const INT: u8 = 1;
const FLOAT: u8 = 3;
const KEY: u8 = 4;
const TEXT: u8 = 5;
const MAP: u8 = 9;
const VECTOR: u8 = 10;
const VECTOR_KEY: u8 = 14;
const BLOB: u8 = 25;
const BOOL: u8 = 26;
const UINT: u8 = 2;

/// A value that waits for its container.
#[derive(Debug, Clone, Copy)]
struct Value {
    kind: u8,
    /// The number, or where it begins.
    bits: u64,
    /// The exponent of the bytes it needs, or that its content has.
    width: u8,
}

/// A FlexBuffer that is being written.
#[derive(Debug, Default)]
pub struct FlexBuilder {
    bytes: Vec<u8>,
    stack: Vec<Value>,
    /// Of each open container where its values begin, and whether it is a map.
    open: Vec<(usize, bool)>,
    keys: HashMap<Box<[u8]>, u64>,
    texts: HashMap<Box<[u8]>, u64>,
}

/// The exponent of the bytes that hold a number.
fn width_of(value: u64) -> u8 {
    match value {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

fn gap(size: u64, width: u64) -> u64 {
    size.wrapping_neg() & width.wrapping_sub(1)
}

impl Value {
    fn is_inline(self) -> bool {
        self.kind <= FLOAT || self.kind == BOOL
    }

    /// The width that the place of the value needs, if `index` elements come before it.
    fn place_width(self, size: u64, index: u64) -> u8 {
        if self.is_inline() {
            return self.width;
        }
        let fits = |width: &u8| {
            let bytes = 1u64 << width;
            let at = size.saturating_add(gap(size, bytes)).saturating_add(index.saturating_mul(bytes));
            width_of(at.saturating_sub(self.bits)) == *width
        };
        (0..3).find(fits).unwrap_or(3)
    }

    fn packed(self, place: u8) -> u8 {
        let width = if self.is_inline() { self.width.max(place) } else { self.width };
        self.kind << 2 | width
    }
}

impl FlexBuilder {
    fn size(&self) -> u64 {
        len64(self.bytes.len())
    }

    /// Aligns to a width, and returns it in bytes.
    fn align(&mut self, width: u8) -> u64 {
        let bytes = 1u64 << width;
        let end = self.size().saturating_add(gap(self.size(), bytes));
        self.bytes.resize(usize::try_from(end).unwrap_or(self.bytes.len()), 0);
        bytes
    }

    fn number(&mut self, value: u64, width: u64) {
        let bytes = value.to_le_bytes();
        self.bytes.extend_from_slice(bytes.get(..usize::try_from(width).unwrap_or(8)).unwrap_or(&bytes));
    }

    fn push(&mut self, kind: u8, bits: u64, width: u8) {
        self.stack.push(Value { kind, bits, width });
    }

    /// null
    pub fn null(&mut self) {
        self.push(NULL, 0, 0);
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) {
        self.push(BOOL, u64::from(value), 0);
    }

    /// A signed integer.
    pub fn int(&mut self, value: i64) {
        let bits = (value << 1).cast_unsigned();
        self.push(INT, value.cast_unsigned(), width_of(if value < 0 { !bits } else { bits }));
    }

    /// An unsigned integer that no signed one is.
    pub fn uint(&mut self, value: u64) {
        self.push(UINT, value, width_of(value));
    }

    /// A float.
    pub fn float(&mut self, value: f64) {
        let narrow = super::scalars::narrow(value);
        self.push(FLOAT, value.to_bits(), if f64::from(narrow) == value { 2 } else { 3 });
    }

    /// Text.
    pub fn text(&mut self, text: &[u8]) {
        let width = width_of(len64(text.len()));
        let known = self.texts.get(text).copied();
        let start = known.unwrap_or_else(|| {
            let start = self.content(text, width);
            self.bytes.push(0);
            self.texts.insert(text.into(), start);
            start
        });
        self.push(TEXT, start, width);
    }

    /// Bytes.
    pub fn blob(&mut self, bytes: &[u8]) {
        let width = width_of(len64(bytes.len()));
        let start = self.content(bytes, width);
        self.push(BLOB, start, width);
    }

    /// A length and the bytes behind it; returns where they begin.
    fn content(&mut self, bytes: &[u8], width: u8) -> u64 {
        let each = self.align(width);
        self.number(len64(bytes.len()), each);
        let start = self.size();
        self.bytes.extend_from_slice(bytes);
        start
    }

    /// The key of what comes next.
    pub fn key(&mut self, key: &[u8]) {
        // A key ends at its first NUL.
        let key = key.split(|byte| *byte == 0).next().unwrap_or(&[]);
        let known = self.keys.get(key).copied();
        let start = known.unwrap_or_else(|| {
            let start = self.size();
            self.bytes.extend_from_slice(key);
            self.bytes.push(0);
            self.keys.insert(key.into(), start);
            start
        });
        self.push(KEY, start, 0);
    }

    /// Whether a key is due.
    pub fn at_key(&self) -> bool {
        self.open.last().is_some_and(|(start, map)| *map && self.stack.len().saturating_sub(*start).is_multiple_of(2))
    }

    /// Number of open containers.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// A vector or map begins.
    pub fn begin(&mut self, map: bool) {
        self.open.push((self.stack.len(), map));
    }

    /// The innermost container ends; false where a map has one key twice.
    pub fn end(&mut self) -> bool {
        let Some((start, map)) = self.open.pop() else { return true };
        let values = self.stack.split_off(start.min(self.stack.len()));
        let mut distinct = true;
        let ended = if map {
            let mut entries: Vec<(&[u8], Value, Value)> = Vec::new();
            for pair in values.chunks_exact(2) {
                if let [key, value] = pair {
                    entries.push((self.text_at(key.bits), *key, *value));
                }
            }
            entries.sort_by_key(|(text, ..)| *text);
            distinct = entries.windows(2).all(|pair| !matches!(pair, [a, b] if a.0 == b.0));
            let keys: Vec<Value> = entries.iter().map(|(_, key, _)| *key).collect();
            let values: Vec<Value> = entries.iter().map(|(.., value)| *value).collect();
            let keys = self.vector(&keys, 2, VECTOR_KEY, None);
            self.vector(&values, 2, MAP, Some(keys))
        } else {
            self.vector(&values, 1, VECTOR, None)
        };
        self.stack.push(ended);
        distinct
    }

    fn text_at(&self, start: u64) -> &[u8] {
        let from = usize::try_from(start).unwrap_or(usize::MAX);
        let rest = self.bytes.get(from..).unwrap_or(&[]);
        rest.split(|byte| *byte == 0).next().unwrap_or(rest)
    }

    /// Writes elements. Of a map, whose keys and values take turns on the stack of the reference writer, `step` is
    /// 2: widths are chosen as if keys lay between values.
    fn vector(&mut self, values: &[Value], step: u64, kind: u8, keys: Option<Value>) -> Value {
        let size = self.size();
        let head = if keys.is_some() { 3 } else { 1 };
        let mut width = width_of(len64(values.len()));
        if let Some(keys) = keys {
            width = width.max(keys.place_width(size, 0));
        }
        for (index, value) in (0u64..).zip(values) {
            width = width.max(value.place_width(size, index.saturating_mul(step).saturating_add(head)));
        }
        let each = self.align(width);
        if let Some(keys) = keys {
            self.place(keys, each);
            self.number(1 << keys.width, each);
        }
        self.number(len64(values.len()), each);
        let start = self.size();
        for value in values {
            self.place(*value, each);
        }
        if kind != VECTOR_KEY {
            self.bytes.extend(values.iter().map(|value| value.packed(width)));
        }
        Value { kind, bits: start, width }
    }

    /// A value, or the offset to it, in its place.
    fn place(&mut self, value: Value, each: u64) {
        let bits = match value.kind {
            FLOAT if each == 4 => u64::from(super::scalars::narrow(f64::from_bits(value.bits)).to_bits()),
            _ if value.is_inline() => value.bits,
            _ => self.size().saturating_sub(value.bits),
        };
        self.number(bits, each);
    }

    /// The bytes, once the root is whole.
    pub fn finish(mut self) -> Vec<u8> {
        let root = self.stack.pop().unwrap_or(Value { kind: NULL, bits: 0, width: 0 });
        let each = self.align(root.place_width(self.size(), 0));
        self.place(root, each);
        self.bytes.push(root.packed(0));
        self.bytes.push(u8::try_from(each).unwrap_or(1));
        self.bytes
    }
}
