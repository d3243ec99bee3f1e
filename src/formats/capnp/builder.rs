//! A message that is being written: objects as they come, then laid out in one segment.
//!
//! Objects lie in the arena in the order in which values come. [`lay_out`] copies them behind each other as the
//! reference copies a message: an object, then what its pointers lead to, in the order of the pointers. What no
//! pointer leads to any more is left behind.
//!
//! ```text
//! struct    [header] [data words] [pointers]            list      [header] [words of its elements]
//! structs   [header] [count] [places of its elements]   pointers hold the place of an object in the arena; 0 null
//!
//! header    lsb [3 kind][5 element size][8 0][16 data words][16 pointers]   or [32 elements] in its upper half
//! ```

use crate::formats::capnp::canonical;
use crate::formats::capnp::wire::ElementSize;
use crate::model::num::len64;

/// Words that an offset reaches, and elements that a list pointer counts.
const MOST: u64 = (1 << 29) - 1;

const STRUCT: u64 = 0;
const LIST: u64 = 1;
const STRUCTS: u64 = 2;

/// How objects are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// At their full size.
    Full,
    /// Cut to the canonical size.
    Canonical,
}

/// An object in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A struct: words of its data, and pointers.
    Struct {
        /// Words of the data section.
        data: u16,
        /// Pointers.
        pointers: u16,
    },
    /// A list of values in place, or of pointers.
    List {
        /// How elements are stored.
        size: ElementSize,
        /// How many.
        count: u64,
    },
    /// A list of structs, which are objects of their own.
    Structs {
        /// Words of the data section of each.
        data: u16,
        /// Pointers of each.
        pointers: u16,
        /// How many.
        count: u64,
    },
}

/// Objects of a message. A place is the position of a header; 0 is that of no object.
#[derive(Debug)]
pub struct Arena {
    words: Vec<u64>,
}

impl Default for Arena {
    fn default() -> Arena {
        Arena { words: vec![0] }
    }
}

impl Arena {
    /// Forgets all objects, and keeps the memory.
    pub fn clear(&mut self) {
        self.words.truncate(1);
    }

    /// Words that are taken.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// A struct of zeros.
    pub fn add_struct(&mut self, data: u16, pointers: u16) -> usize {
        let place = self.words.len();
        self.words.push(STRUCT | u64::from(data) << 16 | u64::from(pointers) << 32);
        let end = self.words.len().saturating_add(usize::from(data)).saturating_add(usize::from(pointers));
        self.words.resize(end, 0);
        place
    }

    /// A list of values in place, from its bytes; none where it has more elements than a pointer counts.
    pub fn add_list(&mut self, size: ElementSize, count: u64, bytes: &[u8]) -> Option<usize> {
        let place = self.header(LIST, size, count)?;
        let (whole, rest) = bytes.as_chunks::<8>();
        self.words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.words.push(crate::wire::reader::little_endian(rest));
        }
        Some(place)
    }

    /// A text: its bytes and a NUL.
    pub fn add_text(&mut self, text: &[u8]) -> Option<usize> {
        let count = len64(text.len()).saturating_add(1);
        let place = self.add_list(ElementSize::Byte, count, text)?;
        if text.len().is_multiple_of(8) {
            self.words.push(0);
        }
        Some(place)
    }

    /// A list of pointers to these objects.
    pub fn add_pointers(&mut self, places: &[u64]) -> Option<usize> {
        let place = self.header(LIST, ElementSize::Pointer, len64(places.len()))?;
        self.words.extend_from_slice(places);
        Some(place)
    }

    /// A list of these structs.
    pub fn add_structs(&mut self, data: u16, pointers: u16, places: &[u64]) -> Option<usize> {
        let count = len64(places.len());
        let stride = u64::from(data).saturating_add(u64::from(pointers));
        if count > MOST || stride.saturating_mul(count) > MOST {
            return None;
        }
        let place = self.words.len();
        self.words.push(STRUCTS | u64::from(data) << 16 | u64::from(pointers) << 32);
        self.words.push(count);
        self.words.extend_from_slice(places);
        Some(place)
    }

    fn header(&mut self, kind: u64, size: ElementSize, count: u64) -> Option<usize> {
        if count > MOST {
            return None;
        }
        let place = self.words.len();
        self.words.push(kind | code(size) << 3 | count << 32);
        Some(place)
    }

    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// The object at a place.
    pub fn object(&self, place: usize) -> Object {
        let header = self.word(place);
        let half = |from: u32| u16::try_from(header >> from & 0xffff).unwrap_or(0);
        match header & 7 {
            LIST => Object::List { size: ElementSize::of(header >> 3), count: header >> 32 },
            STRUCTS => {
                Object::Structs { data: half(16), pointers: half(32), count: self.word(place.saturating_add(1)) }
            }
            _ => Object::Struct { data: half(16), pointers: half(32) },
        }
    }

    /// Data words and pointers of a struct.
    pub fn sections(&self, place: usize) -> (&[u64], &[u64]) {
        let Object::Struct { data, pointers } = self.object(place) else { return (&[], &[]) };
        let from = place.saturating_add(1);
        let middle = from.saturating_add(usize::from(data));
        let end = middle.saturating_add(usize::from(pointers));
        (self.words.get(from..middle).unwrap_or(&[]), self.words.get(middle..end).unwrap_or(&[]))
    }

    /// Words of the elements of a list, or places of the structs of one.
    pub fn elements(&self, place: usize) -> &[u64] {
        let (from, words) = match self.object(place) {
            Object::List { size, count } => (1, count.saturating_mul(size.bits().unwrap_or(0)).div_ceil(64)),
            Object::Structs { count, .. } => (2, count),
            Object::Struct { .. } => return &[],
        };
        let from = place.saturating_add(from);
        let end = from.saturating_add(usize::try_from(words).unwrap_or(usize::MAX));
        self.words.get(from..end).unwrap_or(&[])
    }

    /// So many bits of a struct's data section, from a bit on; zero where it has none.
    pub fn bits(&self, place: usize, from: u64, width: u32) -> u64 {
        let (data, _) = self.sections(place);
        let word = usize::try_from(from / 64).ok().and_then(|at| data.get(at)).copied().unwrap_or(0);
        word >> (from % 64) & mask(width)
    }

    /// Stores bits in a struct's data section.
    pub fn set_bits(&mut self, place: usize, from: u64, width: u32, bits: u64) {
        let Object::Struct { data, .. } = self.object(place) else { return };
        let at = usize::try_from(from / 64).unwrap_or(usize::MAX);
        if at >= usize::from(data) {
            return;
        }
        if let Some(word) = self.words.get_mut(place.saturating_add(1).saturating_add(at)) {
            let shift = from % 64;
            *word = *word & !(mask(width) << shift) | (bits & mask(width)) << shift;
        }
    }

    /// Where the pointer of a struct leads; 0 is null.
    pub fn pointer(&self, place: usize, number: u32) -> usize {
        let (_, pointers) = self.sections(place);
        let word = usize::try_from(number).ok().and_then(|at| pointers.get(at)).copied().unwrap_or(0);
        usize::try_from(word).unwrap_or(0)
    }

    /// Sets a pointer of a struct.
    pub fn set_pointer(&mut self, place: usize, number: u32, to: usize) {
        let Object::Struct { data, pointers } = self.object(place) else { return };
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= usize::from(pointers) {
            return;
        }
        let at = place.saturating_add(1).saturating_add(usize::from(data)).saturating_add(number);
        if let Some(word) = self.words.get_mut(at) {
            *word = len64(to);
        }
    }
}

/// The three bits of an element size in a list pointer.
fn code(size: ElementSize) -> u64 {
    match size {
        ElementSize::Void => 0,
        ElementSize::Bit => 1,
        ElementSize::Byte => 2,
        ElementSize::TwoBytes => 3,
        ElementSize::FourBytes => 4,
        ElementSize::EightBytes => 5,
        ElementSize::Pointer => 6,
        ElementSize::InlineComposite => 7,
    }
}

/// The lowest bits.
fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64u32.saturating_sub(width)).unwrap_or(0)
}

/// Words of one segment, the root pointer first; none where offsets do not reach.
pub fn lay_out(arena: &Arena, root: usize, form: Form) -> Option<Vec<u64>> {
    let mut out = Out { arena, form, words: Vec::with_capacity(arena.len()), due: Vec::new() };
    out.words.push(0);
    out.due.push((0, len64(root)));
    while let Some((slot, place)) = out.due.pop() {
        out.object(slot, usize::try_from(place).ok()?)?;
    }
    Some(out.words)
}

/// A segment as far as it is laid out.
struct Out<'a> {
    arena: &'a Arena,
    form: Form,
    words: Vec<u64>,
    /// Pointers that are due and the objects they lead to, the next one last.
    due: Vec<(usize, u64)>,
}

impl Out<'_> {
    /// Lays out an object, and points there.
    fn object(&mut self, slot: usize, place: usize) -> Option<()> {
        let offset = self.words.len().checked_sub(slot)?.checked_sub(1)?;
        let offset = u64::try_from(offset).ok().filter(|offset| *offset <= MOST)?;
        let pointer = match self.arena.object(place) {
            Object::Struct { .. } => {
                let (data, pointers) = self.sizes(place);
                let due = self.due.len();
                self.section(place, data, pointers);
                self.reverse(due);
                // A pointer to nothing here would be a null pointer: it leads to itself.
                let offset = if data == 0 && pointers == 0 { (1 << 30) - 1 } else { offset };
                offset << 2 | u64::from(data) << 32 | u64::from(pointers) << 48
            }
            Object::List { size, count } => {
                self.list(place, size);
                offset << 2 | 1 | code(size) << 32 | count << 35
            }
            Object::Structs { count, .. } => {
                let words = self.structs(place, count);
                offset << 2 | 1 | code(ElementSize::InlineComposite) << 32 | words << 35
            }
        };
        *self.words.get_mut(slot)? = pointer;
        Some(())
    }

    /// Pointers that were noted from here on are due in the order they were noted.
    fn reverse(&mut self, from: usize) {
        if let Some(noted) = self.due.get_mut(from..) {
            noted.reverse();
        }
    }

    /// Data words and pointers with which a struct is written.
    fn sizes(&self, place: usize) -> (u16, u16) {
        match (self.form, self.arena.object(place)) {
            (Form::Canonical, _) => canonical::sizes(self.arena, place),
            (Form::Full, Object::Struct { data, pointers }) => (data, pointers),
            (Form::Full, _) => (0, 0),
        }
    }

    /// The sections of a struct; its pointers are due.
    fn section(&mut self, place: usize, data: u16, pointers: u16) {
        let (words, targets) = self.arena.sections(place);
        let words = words.get(..usize::from(data)).unwrap_or(words);
        self.words.extend_from_slice(words);
        let missing = usize::from(data).saturating_sub(words.len());
        self.words.resize(self.words.len().saturating_add(missing), 0);
        self.pointers(targets.get(..usize::from(pointers)).unwrap_or(targets), usize::from(pointers));
    }

    /// Pointers to these objects, in so many words.
    fn pointers(&mut self, targets: &[u64], words: usize) {
        let first = self.words.len();
        self.words.resize(first.saturating_add(words), 0);
        let targets = targets.iter().enumerate().filter(|(_, target)| **target != 0);
        self.due.extend(targets.map(|(at, target)| (first.saturating_add(at), *target)));
    }

    fn list(&mut self, place: usize, size: ElementSize) {
        let elements = self.arena.elements(place);
        if size != ElementSize::Pointer {
            self.words.extend_from_slice(elements);
            return;
        }
        let due = self.due.len();
        self.pointers(elements, elements.len());
        self.reverse(due);
    }

    /// A list of structs behind its tag; returns the words of its elements.
    fn structs(&mut self, place: usize, count: u64) -> u64 {
        let (data, pointers) = match self.form {
            Form::Canonical => canonical::common_sizes(self.arena, place),
            Form::Full => match self.arena.object(place) {
                Object::Structs { data, pointers, .. } => (data, pointers),
                _ => (0, 0),
            },
        };
        self.words.push(count << 2 | u64::from(data) << 32 | u64::from(pointers) << 48);
        let due = self.due.len();
        for element in self.arena.elements(place) {
            self.section(usize::try_from(*element).unwrap_or(0), data, pointers);
        }
        self.reverse(due);
        u64::from(data).saturating_add(u64::from(pointers)).saturating_mul(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_a_data_section() {
        let mut arena = Arena::default();
        let at = arena.add_struct(2, 0);
        arena.set_bits(at, 64, 64, u64::MAX);
        arena.set_bits(at, 80, 16, 0x1234);
        arena.set_bits(at, 3, 1, 1);
        assert_eq!(arena.sections(at).0, [8, 0xffff_ffff_1234_ffff]);
        assert_eq!([arena.bits(at, 80, 16), arena.bits(at, 3, 1), arena.bits(at, 128, 8)], [0x1234, 1, 0]);
        // Behind its end there is nothing to set.
        arena.set_bits(at, 128, 8, 1);
        assert_eq!(arena.len(), 4);
    }

    #[test]
    fn an_empty_struct_points_in_front_of_itself() {
        let mut arena = Arena::default();
        let root = arena.add_struct(0, 0);
        assert_eq!(lay_out(&arena, root, Form::Full), Some(vec![0xffff_fffc]));
    }

    #[test]
    fn objects_lie_in_the_order_of_the_pointers_not_of_their_coming() {
        let mut arena = Arena::default();
        let second = arena.add_text(b"second").unwrap_or(0);
        let first = arena.add_text(b"first").unwrap_or(0);
        let root = arena.add_struct(0, 2);
        arena.set_pointer(root, 1, second);
        arena.set_pointer(root, 0, first);
        let words = lay_out(&arena, root, Form::Full).unwrap_or_default();
        let text = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        assert_eq!(
            words,
            [
                0x0002_0000_0000_0000,
                1 << 2 | 1 | 2 << 32 | 6 << 35,
                1 << 2 | 1 | 2 << 32 | 7 << 35,
                text(b"first\0\0\0"),
                text(b"second\0\0")
            ]
        );
    }

    #[test]
    fn a_replaced_object_is_left_behind() {
        let mut arena = Arena::default();
        let root = arena.add_struct(0, 1);
        for text in [&b"old and long"[..], b"12345678"] {
            let place = arena.add_text(text).unwrap_or(0);
            arena.set_pointer(root, 0, place);
        }
        let words = lay_out(&arena, root, Form::Full).unwrap_or_default();
        assert_eq!(words.len(), 4);
    }
}
