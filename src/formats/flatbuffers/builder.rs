//! Puts a buffer together from its end to its start, so that nothing that is written moves again. Places are
//! counted from the end: an object's place is the number of bytes that were there once it was written.

use std::collections::HashMap;

use crate::formats::flatbuffers::wire;
use crate::formats::{FlatOrder, FlatPads, FlatWriter};
use crate::model::num::len64;

/// Bytes to begin with.
const FIRST: usize = 1024;

/// Knobs in which writers differ, though readers see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Objects that a table leads to come in the order of the schema, not of the input.
    pub schema_order: bool,
    /// Fields are added by size, 8 bytes first and of one size the last one first; else as the schema declares them.
    pub by_size: bool,
    /// Strings and vectors without content are left out.
    pub drop_empty: bool,
    /// A struct of the input leaves the gap that aligns it in the buffer, although it is written elsewhere.
    pub struct_gaps: bool,
    /// Vectors of types with a key are sorted by it.
    pub sort_keys: bool,
    /// A vector without elements is not aligned as its elements would be.
    pub loose_empty: bool,
    /// Tables with the same slots share a vtable.
    pub share_vtables: bool,
    /// Scalars that are told are written even where they are the default.
    pub force_defaults: bool,
}

impl Layout {
    /// What a writer does.
    pub fn of(writer: FlatWriter) -> Layout {
        let met = writer.order == FlatOrder::Met;
        Layout {
            schema_order: !met,
            by_size: writer.order != FlatOrder::Declared,
            drop_empty: writer.order == FlatOrder::Schema,
            struct_gaps: writer.pads == FlatPads::Kept,
            sort_keys: met,
            loose_empty: writer.order != FlatOrder::Declared,
            share_vtables: !writer.own_vtables,
            force_defaults: writer.force_defaults,
        }
    }
}

/// A buffer that grows downwards.
#[derive(Debug)]
pub struct Builder {
    bytes: Vec<u8>,
    /// Position of the first byte that is written.
    head: usize,
    /// The largest alignment that anything in it has.
    pub align: u64,
    vtables: HashMap<Box<[u8]>, u64, foldhash::fast::RandomState>,
    strings: HashMap<Box<[u8]>, u64, foldhash::fast::RandomState>,
    vtable: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Builder {
        let (vtables, strings) = (HashMap::default(), HashMap::default());
        Builder { bytes: Vec::new(), head: 0, align: 1, vtables, strings, vtable: Vec::new() }
    }
}

/// Bytes up to the next multiple of a power of two.
fn gap(size: u64, align: u64) -> u64 {
    size.wrapping_neg() & align.wrapping_sub(1)
}

impl Builder {
    /// Number of bytes so far.
    pub fn size(&self) -> u64 {
        len64(self.bytes.len().saturating_sub(self.head))
    }

    /// The bytes so far.
    pub fn written(&self) -> &[u8] {
        self.bytes.get(self.head..).unwrap_or(&[])
    }

    /// Makes room for `more` bytes in front, and takes it.
    fn room(&mut self, more: usize) -> &mut [u8] {
        if self.head < more {
            self.grow(more);
        }
        let end = self.head;
        self.head = end.saturating_sub(more);
        self.bytes.get_mut(self.head..end).unwrap_or(&mut [])
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let used = self.bytes.len().saturating_sub(self.head);
        let size = self.bytes.len().saturating_mul(2).max(used.saturating_add(more)).max(FIRST);
        let mut bytes = vec![0; size];
        let head = size.saturating_sub(used);
        if let (Some(into), Some(from)) = (bytes.get_mut(head..), self.bytes.get(self.head..)) {
            into.copy_from_slice(from);
        }
        (self.bytes, self.head) = (bytes, head);
    }

    /// Puts bytes in front.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.room(bytes.len());
        if room.len() == bytes.len() {
            room.copy_from_slice(bytes);
        }
    }

    /// Puts zeros in front.
    pub fn zeros(&mut self, count: u64) {
        if count > 0 {
            self.room(usize::try_from(count).unwrap_or(0)).fill(0);
        }
    }

    /// Makes what comes next end at a multiple of `align`.
    pub fn align_to(&mut self, align: u64) {
        self.before(0, align);
    }

    /// Makes what comes next begin at a multiple of `align` once `len` bytes stand in front of here.
    pub fn before(&mut self, len: u64, align: u64) {
        self.align = self.align.max(align);
        self.zeros(gap(self.size().wrapping_add(len), align));
    }

    /// Puts a scalar in front, aligned to its size.
    pub fn scalar(&mut self, bits: u64, size: u8) {
        self.align_to(u64::from(size));
        let bytes = bits.to_le_bytes();
        self.push(bytes.get(..usize::from(size)).unwrap_or(&bytes));
    }

    /// Puts the offset to an object in front.
    pub fn offset(&mut self, place: u64, wide: bool) {
        let size: u8 = if wide { 8 } else { 4 };
        self.align_to(u64::from(size));
        self.scalar(self.size().wrapping_sub(place).wrapping_add(u64::from(size)), size);
    }

    /// A string.
    pub fn string(&mut self, text: &[u8]) -> u64 {
        self.before(len64(text.len()).saturating_add(1), wire::OFFSET);
        self.zeros(1);
        self.push(text);
        self.scalar(len64(text.len()), 4);
        self.size()
    }

    /// A string that is stored once.
    pub fn shared_string(&mut self, text: &[u8]) -> u64 {
        if let Some(place) = self.strings.get(text) {
            return *place;
        }
        let place = self.string(text);
        self.strings.insert(text.into(), place);
        place
    }

    /// A vector of elements that are written already, in the order of memory. `loose` leaves one without elements
    /// unaligned; `wide` counts in 8 bytes.
    pub fn vector(&mut self, elements: &[u8], count: u64, align: u64, (loose, wide): (bool, bool)) -> u64 {
        let (len, size): (u64, u8) = (len64(elements.len()), if wide { 8 } else { 4 });
        if len > 0 || !loose {
            self.before(len, u64::from(size));
            self.before(len, align);
        }
        self.push(elements);
        self.scalar(count, size);
        self.size()
    }

    /// A vector of offsets to objects.
    pub fn offsets(&mut self, places: &[u64]) -> u64 {
        let len = len64(places.len());
        if len > 0 {
            self.before(len.saturating_mul(wire::OFFSET), wire::OFFSET);
        }
        for place in places.iter().rev() {
            self.offset(*place, false);
        }
        self.scalar(len, 4);
        self.size()
    }

    /// Ends a table whose fields stand at `fields`, by id and place; it began when there were `start` bytes. None
    /// where it is longer than a vtable can say.
    pub fn table(&mut self, start: u64, fields: &[(u16, u64)], share: bool) -> Option<u64> {
        self.scalar(0, 4);
        let place = self.size();
        let slots = fields.iter().map(|(id, _)| u64::from(*id).saturating_add(1)).max().unwrap_or(0);
        let size = wire::VTABLE_HEAD.saturating_add(slots.saturating_mul(wire::VOFFSET));
        let mut vtable = std::mem::take(&mut self.vtable);
        vtable.clear();
        vtable.resize(usize::try_from(size).ok()?, 0);
        let mut put = |at: u64, value: u64| {
            let at = usize::try_from(at).ok()?;
            let into = vtable.get_mut(at..at.checked_add(2)?)?;
            into.copy_from_slice(&u16::try_from(value).ok()?.to_le_bytes());
            Some(())
        };
        put(0, size)?;
        put(wire::VOFFSET, place.saturating_sub(start))?;
        for (id, field) in fields {
            let slot = wire::VTABLE_HEAD.saturating_add(u64::from(*id).saturating_mul(wire::VOFFSET));
            put(slot, place.saturating_sub(*field))?;
        }
        let known = self.vtables.get(&vtable[..]).copied().filter(|_| share);
        let used = known.unwrap_or_else(|| {
            self.push(&vtable);
            let used = self.size();
            self.vtables.insert(vtable.clone().into_boxed_slice(), used);
            used
        });
        self.vtable = vtable;
        let soffset = i32::try_from(i128::from(used) - i128::from(place)).ok()?;
        let at = self.bytes.len().checked_sub(usize::try_from(place).ok()?)?;
        self.bytes.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&soffset.to_le_bytes());
        Some(place)
    }

    /// Puts the root offset in front, behind a size and before an identifier where there are.
    pub fn finish(&mut self, root: u64, identifier: Option<[u8; 4]>, size_prefix: bool) {
        let prefix = if size_prefix { wire::OFFSET } else { 0 };
        let ident = if identifier.is_some() { wire::IDENTIFIER } else { 0 };
        self.align = self.align.max(prefix);
        self.before(prefix.saturating_add(wire::OFFSET).saturating_add(ident), self.align);
        if let Some(identifier) = identifier {
            self.push(&identifier);
        }
        self.offset(root, false);
        if size_prefix {
            self.scalar(self.size(), 4);
        }
    }
}
