//! Bytes of a buffer, written from its end to its start as the official builders do, so that every object lies behind
//! what it points at. Positions are counted from the end of the buffer. The bytes are kept in reverse, and turned
//! round once at the end.

use std::collections::HashMap;

use crate::formats::flatbuffers::encode::OwnedKey;
use crate::formats::flatbuffers::keys::{self, Key};
use crate::formats::flatbuffers::wire;
use crate::model::flat::{Absent, Field, Flat, Of, Scalar};
use crate::model::num::len64;

/// A field of the table that is being written.
#[derive(Debug, Clone, Copy)]
struct Placed {
    id: u16,
    /// Position of its first byte.
    at: u64,
}

/// A buffer that is being written.
#[derive(Debug)]
pub struct Builder {
    /// The bytes so far, the last one of the buffer first.
    reversed: Vec<u8>,
    /// The largest alignment that was asked for.
    align: u64,
    /// Positions of vtables by their bytes.
    vtables: HashMap<Vec<u8>, u64>,
    /// Positions of strings that are stored once.
    strings: HashMap<Vec<u8>, u64>,
    /// Tables with fields in the same places share one vtable.
    share: bool,
    fields: Vec<Placed>,
    /// Position where the open table begins to be written.
    start: u64,
}

impl Builder {
    /// An empty buffer.
    pub fn new(share: bool) -> Builder {
        Builder {
            reversed: Vec::new(),
            align: 1,
            vtables: HashMap::new(),
            strings: HashMap::new(),
            share,
            fields: Vec::new(),
            start: 0,
        }
    }

    /// Position of what was written last.
    pub fn at(&self) -> u64 {
        len64(self.reversed.len())
    }

    /// The largest alignment that was asked for.
    pub fn alignment(&self) -> u64 {
        self.align
    }

    fn zeros(&mut self, count: u64) {
        let len = self.reversed.len().saturating_add(usize::try_from(count).unwrap_or(0));
        self.reversed.resize(len, 0);
    }

    /// Zeros, so that what is written next, `ahead` bytes and then one more value, begins on a multiple of `align`.
    pub fn align_ahead(&mut self, ahead: u64, align: u64) {
        self.align = self.align.max(align);
        let rest = self.at().saturating_add(ahead).checked_rem(align.max(1)).unwrap_or(0);
        if rest > 0 {
            self.zeros(align.saturating_sub(rest));
        }
    }

    /// As [`Builder::align_ahead`], for content that may be empty: nothing is done for it then.
    pub fn align_content(&mut self, len: u64, align: u64) {
        if len > 0 {
            self.align_ahead(len, align);
        }
    }

    /// Bytes as they stand in the file.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    /// A number of `size` bytes on a multiple of its size.
    pub fn push_number(&mut self, bits: u64, size: u8) {
        self.align_ahead(0, u64::from(size));
        let bytes = bits.to_le_bytes();
        self.push(bytes.get(..usize::from(size)).unwrap_or(&bytes));
    }

    /// An offset to a position; `wide` ones have eight bytes.
    pub fn push_offset(&mut self, to: u64, wide: bool) {
        let size = if wide { 8u8 } else { 4 };
        self.align_ahead(0, u64::from(size));
        let offset = self.at().saturating_sub(to).saturating_add(u64::from(size));
        self.push_number(offset, size);
    }

    /// A string; returns its position.
    pub fn string(&mut self, text: &[u8], shared: bool) -> u64 {
        if shared && let Some(known) = self.strings.get(text) {
            return *known;
        }
        self.align_ahead(len64(text.len()).saturating_add(1), wire::OFFSET);
        self.zeros(1);
        self.push(text);
        self.push_number(len64(text.len()), 4);
        if shared {
            self.strings.insert(text.to_vec(), self.at());
        }
        self.at()
    }

    /// Room in front of the elements of a vector: `len` bytes on a multiple of `align`, its count of `head` bytes too.
    pub fn begin_vector(&mut self, len: u64, align: u64, head: u64) {
        self.align_content(len, head);
        self.align_content(len, align);
    }

    /// The count of a vector; returns its position.
    pub fn end_vector(&mut self, count: u64, head: u64) -> u64 {
        self.push_number(count, if head == wire::OFFSET64 { 8 } else { 4 });
        self.at()
    }

    /// Fields of a table are written from here on.
    pub fn begin_table(&mut self) {
        self.fields.clear();
        self.start = self.at();
    }

    /// The value that was written last is that of a field.
    pub fn field(&mut self, id: u16) {
        let at = self.at();
        self.fields.push(Placed { id, at });
    }

    /// The soffset of the table, and its vtable; returns the table's position.
    pub fn end_table(&mut self) -> u64 {
        self.push_number(0, 4);
        let table = self.at();
        let slots = self.fields.iter().map(|field| field.id.saturating_add(1)).max().unwrap_or(0);
        let size = usize::from(slots).saturating_mul(2).saturating_add(4);
        let mut vtable = vec![0u8; size];
        put(&mut vtable, 0, len64(size));
        put(&mut vtable, 2, table.saturating_sub(self.start));
        for field in &self.fields {
            let place = usize::from(field.id).saturating_mul(2).saturating_add(4);
            put(&mut vtable, place, table.saturating_sub(field.at));
        }
        let known = if self.share { self.vtables.get(&vtable).copied() } else { None };
        let at = match known {
            Some(at) => at,
            None => {
                self.push(&vtable);
                let at = self.at();
                self.vtables.insert(vtable, at);
                at
            }
        };
        self.patch_soffset(table, at);
        table
    }

    /// The soffset of the table at a position: where its vtable is, counted back.
    fn patch_soffset(&mut self, table: u64, vtable: u64) {
        let distance = i64::try_from(vtable).unwrap_or(0).saturating_sub(i64::try_from(table).unwrap_or(0));
        let bytes = i32::try_from(distance).unwrap_or(0).to_le_bytes();
        let end = usize::try_from(table).unwrap_or(0);
        if let Some(part) = self.reversed.get_mut(end.saturating_sub(4)..end) {
            for (place, byte) in part.iter_mut().zip(bytes.iter().rev()) {
                *place = *byte;
            }
        }
    }

    /// Bytes of an object, from `ahead` bytes behind its position on.
    fn part(&self, at: u64, ahead: u64, len: usize) -> Option<Vec<u8>> {
        let end = usize::try_from(at.checked_sub(ahead)?).ok()?;
        let part = self.reversed.get(end.checked_sub(len)?..end)?;
        Some(part.iter().rev().copied().collect())
    }

    /// The key of a table that is written.
    pub fn key(&self, flat: &Flat, field: &Field, table: u64) -> OwnedKey {
        self.stored_key(flat, field, table).unwrap_or(OwnedKey::None)
    }

    fn stored_key(&self, flat: &Flat, field: &Field, table: u64) -> Option<OwnedKey> {
        let number = |part: Vec<u8>| crate::wire::reader::little_endian_signed(&part);
        let soffset = number(self.part(table, 0, 4)?);
        let vtable = u64::try_from(i64::try_from(table).ok()?.checked_add(soffset)?).ok()?;
        let size = crate::wire::reader::little_endian(&self.part(vtable, 0, 2)?);
        let slot = u64::from(field.id).saturating_mul(2).saturating_add(4);
        let voffset = if slot < size { crate::wire::reader::little_endian(&self.part(vtable, slot, 2)?) } else { 0 };
        if voffset == 0 {
            return absent_key(flat, field);
        }
        let at = table.checked_sub(voffset)?;
        if field.ty.of == Of::Text {
            let text = at.checked_sub(crate::wire::reader::little_endian(&self.part(at, 0, 4)?))?;
            let len = crate::wire::reader::little_endian(&self.part(text, 0, 4)?);
            return Some(OwnedKey::Text(self.part(text, 4, usize::try_from(len).ok()?)?));
        }
        let ty: Scalar = flat.scalar(field.ty.of)?;
        let part = self.part(at, 0, usize::from(ty.size()))?;
        Some(crate::formats::flatbuffers::encode::owned(keys::of_bytes(ty, &part)))
    }

    /// The root offset, with identifier and size prefix where they are wanted; returns the buffer.
    pub fn finish(mut self, root: u64, identifier: Option<[u8; 4]>, prefix: bool) -> Vec<u8> {
        let head = wire::OFFSET
            .saturating_add(if identifier.is_some() { wire::IDENTIFIER } else { 0 })
            .saturating_add(if prefix { wire::OFFSET } else { 0 });
        let align = self.align;
        self.align_ahead(head, align);
        if let Some(four) = identifier {
            self.push(&four);
        }
        self.push_offset(root, false);
        if prefix {
            let size = self.at();
            self.push_number(size, 4);
        }
        self.reversed.reverse();
        self.reversed
    }
}

/// The key of a table that does not store it.
fn absent_key(flat: &Flat, field: &Field) -> Option<OwnedKey> {
    let ty = flat.scalar(field.ty.of)?;
    let key = match field.default {
        Absent::Int(number) if ty.is_signed() => Key::Signed(number),
        Absent::Int(number) => Key::Unsigned(number.cast_unsigned()),
        Absent::Uint(number) => Key::Unsigned(number),
        Absent::Float(number) => Key::Float(number),
        _ => return None,
    };
    Some(crate::formats::flatbuffers::encode::owned(Some(key)))
}

/// Two bytes of a vtable.
fn put(vtable: &mut [u8], at: usize, value: u64) {
    let bytes = u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes();
    if let Some(place) = vtable.get_mut(at..at.saturating_add(2)) {
        place.copy_from_slice(&bytes);
    }
}
