//! The standard's numbers and words (capnproto.org, "Encoding Spec"): words, pointers, element sizes, and the kinds
//! of leaves.
//!
//! ```text
//! message  u32 segments - 1, u32 words of each segment, zeros up to a whole word, then the segments
//!          the first word of the first segment is the root pointer
//! struct   lsb [2 = 0][30 offset in words, signed][16 data words][16 pointers] msb
//! list     lsb [2 = 1][30 offset in words, signed][3 element size][29 elements; of structs words without tag] msb
//! far      lsb [2 = 2][1 two-word pad][29 place in the segment, in words][32 segment] msb
//! other    lsb [2 = 3][30 = 0][32 index in the capability table] msb
//! offset   in words, from the end of the pointer
//! tag      as a struct pointer whose offset bits are the number of elements
//! ```

use crate::model::bytemap::{Cause, KindInfo};
use crate::model::capnp::Type;

/// Bytes of a word.
pub const WORD: u64 = 8;

/// Most elements or words that a list pointer can announce: 29 bits.
pub const MOST_ELEMENTS: u64 = (1 << 29) - 1;

/// Number of segments, minus one.
pub const SEGMENT_COUNT: u8 = 0;
/// Words of a segment.
pub const SEGMENT_SIZE: u8 = 1;
/// Zeros behind an even number of segment sizes.
pub const TABLE_PADDING: u8 = 2;
/// The half of a struct pointer that says where the struct is.
pub const STRUCT_POINTER: u8 = 3;
/// The data words of a struct, in its pointer.
pub const DATA_WORDS: u8 = 4;
/// The pointers of a struct, in its pointer.
pub const POINTER_COUNT: u8 = 5;
/// The half of a list pointer that says where the list is.
pub const LIST_POINTER: u8 = 6;
/// Element size and number of elements, in a list pointer.
pub const LIST_SIZE: u8 = 7;
/// The half of a far pointer that says where the landing pad is in its segment.
pub const FAR_POINTER: u8 = 8;
/// The segment, in a far pointer.
pub const FAR_SEGMENT: u8 = 9;
/// The half of a capability pointer that says it is one.
pub const CAPABILITY_POINTER: u8 = 10;
/// The index in the capability table.
pub const CAPABILITY_INDEX: u8 = 11;
/// A pointer of zeros.
pub const NULL_POINTER: u8 = 12;
/// A pointer of a kind that the standard has not given a meaning.
pub const OTHER_POINTER: u8 = 13;
/// Number of elements, in the tag of a list of structs.
pub const TAG_COUNT: u8 = 14;
/// Data words of an element, in a tag.
pub const TAG_DATA: u8 = 15;
/// Pointers of an element, in a tag.
pub const TAG_POINTERS: u8 = 16;
/// Which member of a union is set.
pub const UNION_TAG: u8 = 17;
/// A byte with one or more bools.
pub const BOOLS: u8 = 18;
/// The first of the numbers: Int8, Int16, Int32, Int64, UInt8 to UInt64, Float32, Float64, enum.
pub const INT8: u8 = 19;
/// 16 bits, signed.
pub const INT16: u8 = 20;
/// 32 bits, signed.
pub const INT32: u8 = 21;
/// 64 bits, signed.
pub const INT64: u8 = 22;
/// 8 bits.
pub const UINT8: u8 = 23;
/// 16 bits.
pub const UINT16: u8 = 24;
/// 32 bits.
pub const UINT32: u8 = 25;
/// 64 bits.
pub const UINT64: u8 = 26;
/// 32 bits, IEEE 754.
pub const FLOAT32: u8 = 27;
/// 64 bits, IEEE 754.
pub const FLOAT64: u8 = 28;
/// A named number.
pub const ENUM: u8 = 29;
/// Bytes of a text.
pub const TEXT: u8 = 30;
/// The NUL behind a text.
pub const NUL: u8 = 31;
/// Bytes.
pub const DATA: u8 = 32;
/// Bits of a list of bools.
pub const BITS: u8 = 33;
/// Bytes whose type nobody knows.
pub const RAW: u8 = 34;
/// Zeros that nothing points at.
pub const HOLE: u8 = 35;
/// Packed: which bytes of a word follow.
pub const PACKED_TAG: u8 = 36;
/// Packed: how many more words are zero.
pub const ZERO_WORDS: u8 = 37;
/// Packed: how many words follow as they are.
pub const VERBATIM_WORDS: u8 = 38;
/// The first of the literal bytes of packed words, by what they count as.
pub const LITERAL: u8 = 39;

/// What literal bytes of a packed word may count as, in the order of their kinds from [`LITERAL`]; width is a kind of
/// its own, whose bytes all count so.
pub const LITERAL_CAUSES: [Cause; 9] = [
    Cause::Payload,
    Cause::Width,
    Cause::Pointer,
    Cause::Padding,
    Cause::Terminator,
    Cause::Framing,
    Cause::Type,
    Cause::Default,
    Cause::Unread,
];

/// Name and cause of each kind.
pub static KINDS: &[KindInfo] = &[
    KindInfo { name: "segment count", cause: Cause::Framing },
    KindInfo { name: "segment size", cause: Cause::Framing },
    KindInfo { name: "segment table padding", cause: Cause::Framing },
    KindInfo { name: "struct pointer", cause: Cause::Pointer },
    KindInfo { name: "data words", cause: Cause::Pointer },
    KindInfo { name: "pointer count", cause: Cause::Pointer },
    KindInfo { name: "list pointer", cause: Cause::Pointer },
    KindInfo { name: "list size", cause: Cause::Pointer },
    KindInfo { name: "far pointer", cause: Cause::Pointer },
    KindInfo { name: "far segment", cause: Cause::Pointer },
    KindInfo { name: "capability pointer", cause: Cause::Pointer },
    KindInfo { name: "capability index", cause: Cause::Pointer },
    KindInfo { name: "null pointer", cause: Cause::Pointer },
    KindInfo { name: "unknown pointer", cause: Cause::Pointer },
    KindInfo { name: "tag element count", cause: Cause::Framing },
    KindInfo { name: "tag data words", cause: Cause::Framing },
    KindInfo { name: "tag pointer count", cause: Cause::Framing },
    KindInfo { name: "union tag", cause: Cause::Type },
    KindInfo { name: "bools", cause: Cause::Payload },
    KindInfo { name: "int8", cause: Cause::Payload },
    KindInfo { name: "int16", cause: Cause::Payload },
    KindInfo { name: "int32", cause: Cause::Payload },
    KindInfo { name: "int64", cause: Cause::Payload },
    KindInfo { name: "uint8", cause: Cause::Payload },
    KindInfo { name: "uint16", cause: Cause::Payload },
    KindInfo { name: "uint32", cause: Cause::Payload },
    KindInfo { name: "uint64", cause: Cause::Payload },
    KindInfo { name: "float32", cause: Cause::Payload },
    KindInfo { name: "float64", cause: Cause::Payload },
    KindInfo { name: "enum", cause: Cause::Payload },
    KindInfo { name: "text", cause: Cause::Payload },
    KindInfo { name: "NUL", cause: Cause::Terminator },
    KindInfo { name: "data", cause: Cause::Payload },
    KindInfo { name: "bits", cause: Cause::Payload },
    KindInfo { name: "unknown word", cause: Cause::Payload },
    KindInfo { name: "hole", cause: Cause::Padding },
    KindInfo { name: "packed tag", cause: Cause::Framing },
    KindInfo { name: "zero word count", cause: Cause::Framing },
    KindInfo { name: "verbatim word count", cause: Cause::Framing },
    KindInfo { name: "literal", cause: Cause::Payload },
    KindInfo { name: "literal", cause: Cause::Payload },
    KindInfo { name: "literal", cause: Cause::Pointer },
    KindInfo { name: "literal", cause: Cause::Padding },
    KindInfo { name: "literal", cause: Cause::Terminator },
    KindInfo { name: "literal", cause: Cause::Framing },
    KindInfo { name: "literal", cause: Cause::Type },
    KindInfo { name: "literal", cause: Cause::Default },
    KindInfo { name: "literal", cause: Cause::Unread },
];

/// The kind of literal bytes that count as this.
pub fn literal(cause: Cause) -> u8 {
    let place = LITERAL_CAUSES.iter().position(|known| *known == cause).unwrap_or(0);
    LITERAL.saturating_add(u8::try_from(place).unwrap_or(0))
}

/// The kind of a value in a data section or list; none for pointers, bools and nothing.
pub fn kind_of(ty: Type) -> Option<u8> {
    Some(match ty {
        Type::Int8 => INT8,
        Type::Int16 => INT16,
        Type::Int32 => INT32,
        Type::Int64 => INT64,
        Type::Uint8 => UINT8,
        Type::Uint16 => UINT16,
        Type::Uint32 => UINT32,
        Type::Uint64 => UINT64,
        Type::Float32 => FLOAT32,
        Type::Float64 => FLOAT64,
        Type::Enum(_) => ENUM,
        _ => return None,
    })
}

/// The type of a kind that is a number; of an enum its 16 bits.
pub fn type_of(kind: u8) -> Option<Type> {
    Some(match kind {
        INT8 => Type::Int8,
        INT16 => Type::Int16,
        INT32 => Type::Int32,
        INT64 => Type::Int64,
        UINT8 => Type::Uint8,
        UINT16 | ENUM => Type::Uint16,
        UINT32 => Type::Uint32,
        UINT64 => Type::Uint64,
        FLOAT32 => Type::Float32,
        FLOAT64 => Type::Float64,
        _ => return None,
    })
}

/// How the elements of a list are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementSize {
    /// No bits: `List(Void)`.
    Void,
    /// One bit.
    Bit,
    /// 1 byte.
    Byte,
    /// 2 bytes.
    TwoBytes,
    /// 4 bytes.
    FourBytes,
    /// 8 bytes that are no pointer.
    EightBytes,
    /// A pointer.
    Pointer,
    /// Structs behind a tag word.
    InlineComposite,
}

impl ElementSize {
    /// The element size of the three bits in a list pointer.
    pub fn of(bits: u64) -> ElementSize {
        match bits & 7 {
            0 => ElementSize::Void,
            1 => ElementSize::Bit,
            2 => ElementSize::Byte,
            3 => ElementSize::TwoBytes,
            4 => ElementSize::FourBytes,
            5 => ElementSize::EightBytes,
            6 => ElementSize::Pointer,
            _ => ElementSize::InlineComposite,
        }
    }

    /// Bits of an element; none for structs.
    pub fn bits(self) -> Option<u64> {
        Some(match self {
            ElementSize::Void => 0,
            ElementSize::Bit => 1,
            ElementSize::Byte => 8,
            ElementSize::TwoBytes => 16,
            ElementSize::FourBytes => 32,
            ElementSize::EightBytes | ElementSize::Pointer => 64,
            ElementSize::InlineComposite => return None,
        })
    }

    /// What elements of it are called: `bytes`, `pointers`.
    pub fn name(self, count: u64) -> &'static str {
        let one = count == 1;
        match self {
            ElementSize::Void if one => "void",
            ElementSize::Void => "voids",
            ElementSize::Bit if one => "bit",
            ElementSize::Bit => "bits",
            ElementSize::Byte if one => "byte",
            ElementSize::Byte => "bytes",
            ElementSize::TwoBytes => "of 2 bytes",
            ElementSize::FourBytes => "of 4 bytes",
            ElementSize::EightBytes => "of 8 bytes",
            ElementSize::Pointer if one => "pointer",
            ElementSize::Pointer => "pointers",
            ElementSize::InlineComposite => "of structs",
        }
    }

    /// The element size that a list of this type is written with.
    pub fn of_type(ty: Type) -> ElementSize {
        match ty.bits() {
            Some(0) => ElementSize::Void,
            Some(1) => ElementSize::Bit,
            Some(8) => ElementSize::Byte,
            Some(16) => ElementSize::TwoBytes,
            Some(32) => ElementSize::FourBytes,
            Some(_) => ElementSize::EightBytes,
            None if matches!(ty, Type::Struct(_) | Type::AnyStruct) => ElementSize::InlineComposite,
            None => ElementSize::Pointer,
        }
    }
}

/// A pointer word, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// All zeros.
    Null,
    /// A struct.
    Struct {
        /// Words from the end of the pointer.
        offset: i32,
        /// Words of its data section.
        data: u16,
        /// Its pointers.
        pointers: u16,
    },
    /// A list.
    List {
        /// Words from the end of the pointer.
        offset: i32,
        /// How its elements are stored.
        size: ElementSize,
        /// Elements; of structs the words behind the tag.
        count: u32,
    },
    /// A landing pad, which is where the pointer goes on.
    Far {
        /// The pad has two words.
        double: bool,
        /// Words from the start of the segment.
        place: u32,
        /// The segment.
        segment: u32,
    },
    /// A capability, by its index in a table outside the message.
    Capability(u32),
    /// A kind of pointer without a meaning.
    Other,
}

/// Takes a pointer word apart.
pub fn pointer(word: u64) -> Pointer {
    if word == 0 {
        return Pointer::Null;
    }
    let low = u32::try_from(word & 0xffff_ffff).unwrap_or(0);
    let high = u32::try_from(word >> 32).unwrap_or(0);
    let offset = low.cast_signed() >> 2;
    match low & 3 {
        0 => Pointer::Struct {
            offset,
            data: u16::try_from(high & 0xffff).unwrap_or(0),
            pointers: u16::try_from(high >> 16).unwrap_or(0),
        },
        1 => Pointer::List { offset, size: ElementSize::of(u64::from(high)), count: high >> 3 },
        2 => Pointer::Far { double: low & 4 != 0, place: low >> 3, segment: high },
        _ if low >> 2 == 0 => Pointer::Capability(high),
        _ => Pointer::Other,
    }
}

/// The tag of a list of structs: elements, data words and pointers of each; none where the word is no struct pointer.
pub fn tag(word: u64) -> Option<(u32, u16, u16)> {
    match pointer(word) {
        // A tag of zeros is one of no elements.
        Pointer::Null => Some((0, 0, 0)),
        Pointer::Struct { offset, data, pointers } => Some((offset.cast_unsigned() & 0x3fff_ffff, data, pointers)),
        _ => None,
    }
}

/// Where something begins, so many words behind the end of the pointer at `at`; none in front of the input.
pub fn behind(at: u64, offset: i32) -> Option<u64> {
    let from = i64::try_from(at).ok()?.checked_add(8)?;
    let to = from.checked_add(i64::from(offset).checked_mul(8)?)?;
    u64::try_from(to).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_taken_apart_as_the_encoding_spec_draws_them() {
        let word = |bytes: [u8; 8]| pointer(u64::from_le_bytes(bytes));
        assert_eq!(word([0; 8]), Pointer::Null);
        // The empty struct: offset -1.
        let empty = Pointer::Struct { offset: -1, data: 0, pointers: 0 };
        assert_eq!(word([0xfc, 0xff, 0xff, 0xff, 0, 0, 0, 0]), empty);
        let text = Pointer::List { offset: 2, size: ElementSize::Byte, count: 9 };
        assert_eq!(word([0x09, 0, 0, 0, 0x4a, 0, 0, 0]), text);
        assert_eq!(word([0x06, 0, 0, 0, 1, 0, 0, 0]), Pointer::Far { double: true, place: 0, segment: 1 });
        assert_eq!(word([3, 0, 0, 0, 7, 0, 0, 0]), Pointer::Capability(7));
        assert_eq!(word([7, 0, 0, 0, 7, 0, 0, 0]), Pointer::Other);
    }

    #[test]
    fn there_is_a_kind_for_each_number_and_cause() {
        assert_eq!(KINDS.len(), usize::from(LITERAL) + LITERAL_CAUSES.len());
        assert_eq!(type_of(kind_of(Type::Int64).unwrap_or(0)), Some(Type::Int64));
        assert_eq!(behind(8, -2), Some(0));
        assert_eq!(behind(0, -2), None);
    }
}
