//! The numbers and names of the Protobuf wire format (protobuf.dev, "Encoding"), and how its parts are
//! read from bytes. Everything that stands in the standard's tables stands here.

use crate::model::bytemap::{Cause, Kind, KindInfo};
use crate::model::schema::FieldKind;

/// The highest field number, 2^29 - 1.
pub const MAX_FIELD: u32 = (1 << 29) - 1;

/// Bytes of the longest varint: 10 times 7 bits hold 64.
pub const MAX_VARINT: usize = 10;

/// Flag of a gRPC frame: the message is compressed.
pub const FLAG_COMPRESSED: u8 = 1;

/// Flag of a gRPC-Web frame: no message, but the trailers of the call.
pub const FLAG_TRAILERS: u8 = 0x80;

/// Flag of a Connect frame: no message, but the end of the stream as JSON.
pub const FLAG_STREAM_END: u8 = 2;

/// How a field's value is written; the low three bits of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireType {
    /// 0: a varint.
    Varint,
    /// 1: eight bytes.
    I64,
    /// 2: a length, then so many bytes.
    Len,
    /// 3: a group begins.
    SGroup,
    /// 4: a group ends.
    EGroup,
    /// 5: four bytes.
    I32,
}

impl WireType {
    /// The wire type of the low three bits of a tag; none for 6 and 7.
    pub fn of(bits: u64) -> Option<WireType> {
        Some(match bits & 7 {
            0 => WireType::Varint,
            1 => WireType::I64,
            2 => WireType::Len,
            3 => WireType::SGroup,
            4 => WireType::EGroup,
            5 => WireType::I32,
            _ => return None,
        })
    }

    /// The standard's name: `VARINT`.
    pub fn name(self) -> &'static str {
        match self {
            WireType::Varint => "VARINT",
            WireType::I64 => "I64",
            WireType::Len => "LEN",
            WireType::SGroup => "SGROUP",
            WireType::EGroup => "EGROUP",
            WireType::I32 => "I32",
        }
    }

    /// Its number.
    pub fn number(self) -> u64 {
        match self {
            WireType::Varint => 0,
            WireType::I64 => 1,
            WireType::Len => 2,
            WireType::SGroup => 3,
            WireType::EGroup => 4,
            WireType::I32 => 5,
        }
    }

    /// The wire type of one value of a field.
    pub fn of_kind(kind: &FieldKind) -> WireType {
        match kind {
            FieldKind::Double | FieldKind::Fixed64 | FieldKind::Sfixed64 => WireType::I64,
            FieldKind::Float | FieldKind::Fixed32 | FieldKind::Sfixed32 => WireType::I32,
            FieldKind::String | FieldKind::Bytes | FieldKind::Message(_) | FieldKind::Opaque(_) => WireType::Len,
            FieldKind::Group(_) => WireType::SGroup,
            FieldKind::Int32
            | FieldKind::Int64
            | FieldKind::Uint32
            | FieldKind::Uint64
            | FieldKind::Sint32
            | FieldKind::Sint64
            | FieldKind::Bool
            | FieldKind::Enum(_) => WireType::Varint,
        }
    }
}

/// What stands at the beginning of some bytes, read as a varint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varint {
    /// A whole one: its value (bits past the 64th dropped) and its length in bytes.
    Whole(u64, usize),
    /// The bytes end before it does; so many of it are there.
    Cut(usize),
    /// Ten bytes, and the tenth says that more follow.
    TooLong,
}

/// Reads a varint: 7 bits a byte, lowest first, the top bit says that more follow.
pub fn varint(bytes: &[u8]) -> Varint {
    // Most are one byte long.
    if let Some(first) = bytes.first()
        && *first < 0x80
    {
        return Varint::Whole(u64::from(*first), 1);
    }
    let mut value = 0u64;
    for (index, byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        let shift = u32::try_from(index).unwrap_or(0).saturating_mul(7);
        // The tenth byte has room for one bit: shifting drops the others, as the common readers do.
        value |= u64::from(byte & 0x7f).wrapping_shl(shift) & if shift >= 64 { 0 } else { u64::MAX };
        if *byte < 0x80 {
            return Varint::Whole(value, index.saturating_add(1));
        }
    }
    if bytes.len() >= MAX_VARINT { Varint::TooLong } else { Varint::Cut(bytes.len()) }
}

/// Whether a ten-byte varint has bits beyond the 64th.
pub fn varint_overflows(bytes: &[u8]) -> bool {
    let long = bytes.iter().take(MAX_VARINT - 1).all(|byte| *byte >= 0x80);
    long && bytes.get(MAX_VARINT - 1).is_some_and(|last| last & 0x7f > 1)
}

/// Bytes of the shortest varint of a value.
pub fn varint_len(value: u64) -> usize {
    let bits = usize::try_from(64 - value.max(1).leading_zeros()).unwrap_or(64);
    bits.div_ceil(7)
}

/// Appends the shortest varint of a value.
pub fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or(0));
}

/// The number behind a zigzag one (sint32, sint64): 0, -1, 1, -2, 2, …
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// The zigzag form of a number.
pub fn zigzag(value: i64) -> u64 {
    (value << 1).cast_unsigned() ^ (value >> 63).cast_unsigned()
}

/// A tag as a number: field number and wire type.
pub fn tag(number: u32, wire: WireType) -> u64 {
    u64::from(number) << 3 | wire.number()
}

/// The low 32 bits, which is what readers keep of a varint in a 32-bit field.
pub fn low32(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or(0)
}

/// Little-endian bytes, at most eight, as a number.
pub fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $constant:ident, $code:literal, $name:literal, $cause:ident;)*) => {
        $($(#[$doc])* pub const $constant: u8 = $code;)*

        /// Names and causes, by code.
        pub static KINDS: &[KindInfo] = &[$(KindInfo { name: $name, cause: Cause::$cause },)*];
    };
}

kinds! {
    /// A tag of any wire type but the group ones.
    TAG, 0, "tag", Key;
    /// The tag that begins a group.
    SGROUP, 1, "sgroup", Key;
    /// The tag that ends a group.
    EGROUP, 2, "egroup", Type;
    /// The length of text or bytes.
    LENGTH, 3, "length", Length;
    /// The length of a message.
    MESSAGE_LENGTH, 4, "length", Length;
    /// The length of a packed run.
    PACKED_LENGTH, 5, "length", Length;
    /// A varint of no known type.
    VARINT, 6, "varint", Payload;
    /// Four bytes of no known type.
    I32, 7, "i32", Payload;
    /// Eight bytes of no known type.
    I64, 8, "i64", Payload;
    /// LEN content of no known type, taken for text.
    TEXT, 9, "text", Payload;
    /// LEN content of no known type, taken for bytes.
    BLOB, 10, "len", Payload;
    /// A 64-bit float.
    DOUBLE, 11, "double", Payload;
    /// A 32-bit float.
    FLOAT, 12, "float", Payload;
    /// Signed, a varint.
    INT32, 13, "int32", Payload;
    /// Signed, a varint.
    INT64, 14, "int64", Payload;
    /// Unsigned, a varint.
    UINT32, 15, "uint32", Payload;
    /// Unsigned, a varint.
    UINT64, 16, "uint64", Payload;
    /// Signed, a zigzag varint.
    SINT32, 17, "sint32", Payload;
    /// Signed, a zigzag varint.
    SINT64, 18, "sint64", Payload;
    /// Unsigned, four bytes.
    FIXED32, 19, "fixed32", Payload;
    /// Unsigned, eight bytes.
    FIXED64, 20, "fixed64", Payload;
    /// Signed, four bytes.
    SFIXED32, 21, "sfixed32", Payload;
    /// Signed, eight bytes.
    SFIXED64, 22, "sfixed64", Payload;
    /// A boolean.
    BOOL, 23, "bool", Payload;
    /// A named number.
    ENUM, 24, "enum", Payload;
    /// Declared text.
    STRING, 25, "string", Payload;
    /// Declared bytes.
    BYTES, 26, "bytes", Payload;
    /// The length in front of a message in a stream.
    FRAME_LENGTH, 27, "frame-length", Framing;
    /// The flags in front of a gRPC message.
    FRAME_FLAGS, 28, "frame-flags", Framing;
    /// The content of a frame that is no message: trailers.
    TRAILERS, 29, "trailers", Framing;
    /// The content of a frame that is compressed: what is in it stands in a layer of its own.
    COMPRESSED, 30, "compressed", Payload;
}

/// A kind of this format.
pub fn kind(owner: u8, code: u8) -> Kind {
    Kind { owner, code }
}

/// The kind of a leaf that holds one value of a field.
pub fn value_kind(kind: &FieldKind) -> u8 {
    match kind {
        FieldKind::Double => DOUBLE,
        FieldKind::Float => FLOAT,
        FieldKind::Int32 => INT32,
        FieldKind::Int64 => INT64,
        FieldKind::Uint32 => UINT32,
        FieldKind::Uint64 => UINT64,
        FieldKind::Sint32 => SINT32,
        FieldKind::Sint64 => SINT64,
        FieldKind::Fixed32 => FIXED32,
        FieldKind::Fixed64 => FIXED64,
        FieldKind::Sfixed32 => SFIXED32,
        FieldKind::Sfixed64 => SFIXED64,
        FieldKind::Bool => BOOL,
        FieldKind::Enum(_) => ENUM,
        FieldKind::String => STRING,
        FieldKind::Bytes | FieldKind::Opaque(_) | FieldKind::Message(_) | FieldKind::Group(_) => BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_by_the_standards_examples() {
        assert_eq!(varint(&[0x96, 0x01]), Varint::Whole(150, 2));
        assert_eq!(varint(&[0xff; 9]), Varint::Cut(9));
        assert_eq!(varint(&[0xff; 10]), Varint::TooLong);
        let ten = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&ten), Varint::Whole(u64::MAX, 10));
        assert_eq!([varint_len(0), varint_len(127), varint_len(128), varint_len(u64::MAX)], [1, 1, 2, 10]);
        let mut out = Vec::new();
        push_varint(55613, &mut out);
        assert_eq!(out, [0xbd, 0xb2, 0x03]);
    }

    #[test]
    fn zigzag_turns_both_ways() {
        assert_eq!([unzigzag(0), unzigzag(1), unzigzag(2), unzigzag(13563)], [0, -1, 1, -6782]);
        assert_eq!(unzigzag(u64::MAX), i64::MIN);
        assert_eq!([zigzag(-1), zigzag(i64::MIN), zigzag(67)], [1, u64::MAX, 134]);
    }

    #[test]
    fn codes_are_the_places_in_the_table() {
        assert_eq!(KINDS.len(), 31);
        assert_eq!([KINDS[usize::from(TAG)].name, KINDS[usize::from(COMPRESSED)].name], ["tag", "compressed"]);
    }
}
