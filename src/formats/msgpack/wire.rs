//! The MessagePack wire: the standard's names for all 256 first bytes, what follows each, and the
//! kinds of leaves. Numbers of the wire stand here and nowhere else.
//!
//! Section names are those of the MessagePack specification (spec.md, "Formats").

use rmp::Marker;

use crate::model::bytemap::{Cause, KindInfo};
use crate::model::value::Shape;
use crate::wire::reader::big_endian;

/// Application type that the specification reserves for timestamps ("Timestamp extension type").
pub const TIMESTAMP_TYPE: i8 = -1;

/// Most nanoseconds that a timestamp may hold.
pub const NANOS_MAX: u32 = 999_999_999;

/// Declares kinds once: constant, name, cause.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $cause:ident;)*) => {
        $($(#[$doc])* pub const $name: u8 = $code;)*
        /// Kinds of leaves, indexed by code.
        pub const KINDS: &[KindInfo] = &[$(KindInfo { name: $text, cause: Cause::$cause },)*];
    };
}

kinds! {
    /// 0xxxxxxx: the byte is the value.
    POSITIVE_FIXINT = 0, "positive fixint", Payload;
    /// 111xxxxx: the byte is the value in two's complement.
    NEGATIVE_FIXINT = 1, "negative fixint", Payload;
    /// 1000xxxx.
    FIXMAP = 2, "fixmap", Length;
    /// 1001xxxx.
    FIXARRAY = 3, "fixarray", Length;
    /// 101xxxxx.
    FIXSTR = 4, "fixstr", Length;
    /// 0xc0.
    NIL = 5, "nil", Payload;
    /// 0xc2.
    FALSE = 6, "false", Payload;
    /// 0xc3.
    TRUE = 7, "true", Payload;
    /// 0xc4.
    BIN8 = 8, "bin8", Type;
    /// 0xc5.
    BIN16 = 9, "bin16", Type;
    /// 0xc6.
    BIN32 = 10, "bin32", Type;
    /// 0xc7.
    EXT8 = 11, "ext8", Type;
    /// 0xc8.
    EXT16 = 12, "ext16", Type;
    /// 0xc9.
    EXT32 = 13, "ext32", Type;
    /// 0xca.
    FLOAT32 = 14, "float32", Type;
    /// 0xcb.
    FLOAT64 = 15, "float64", Type;
    /// 0xcc.
    UINT8 = 16, "uint8", Type;
    /// 0xcd.
    UINT16 = 17, "uint16", Type;
    /// 0xce.
    UINT32 = 18, "uint32", Type;
    /// 0xcf.
    UINT64 = 19, "uint64", Type;
    /// 0xd0.
    INT8 = 20, "int8", Type;
    /// 0xd1.
    INT16 = 21, "int16", Type;
    /// 0xd2.
    INT32 = 22, "int32", Type;
    /// 0xd3.
    INT64 = 23, "int64", Type;
    /// 0xd4.
    FIXEXT1 = 24, "fixext1", Type;
    /// 0xd5.
    FIXEXT2 = 25, "fixext2", Type;
    /// 0xd6.
    FIXEXT4 = 26, "fixext4", Type;
    /// 0xd7.
    FIXEXT8 = 27, "fixext8", Type;
    /// 0xd8.
    FIXEXT16 = 28, "fixext16", Type;
    /// 0xd9.
    STR8 = 29, "str8", Type;
    /// 0xda.
    STR16 = 30, "str16", Type;
    /// 0xdb.
    STR32 = 31, "str32", Type;
    /// 0xdc.
    ARRAY16 = 32, "array16", Type;
    /// 0xdd.
    ARRAY32 = 33, "array32", Type;
    /// 0xde.
    MAP16 = 34, "map16", Type;
    /// 0xdf.
    MAP32 = 35, "map32", Type;
    /// 0xc1: the specification never uses it.
    NEVER_USED = 36, "never used", Unread;
    /// Bytes that say how long a str, bin or ext is, highest first.
    LENGTH = 37, "length", Length;
    /// Bytes that say how many elements of an array follow, highest first.
    ELEMENTS = 38, "count", Length;
    /// The application type of an ext object.
    EXT_TYPE = 39, "ext type", Type;
    /// The value of uint8 to uint64, highest byte first.
    UINT_VALUE = 40, "uint value", Payload;
    /// The value of int8 to int64, two's complement, highest byte first.
    INT_VALUE = 41, "int value", Payload;
    /// IEEE 754 binary32, highest byte first.
    FLOAT32_VALUE = 42, "float32 value", Payload;
    /// IEEE 754 binary64, highest byte first.
    FLOAT64_VALUE = 43, "float64 value", Payload;
    /// The bytes of a str.
    STR_CONTENT = 44, "str content", Payload;
    /// The bytes of a bin.
    BIN_CONTENT = 45, "bin content", Payload;
    /// The bytes of an ext of an application's own type.
    EXT_CONTENT = 46, "ext content", Payload;
    /// Seconds, 32 bits unsigned.
    TIMESTAMP32 = 47, "timestamp 32", Payload;
    /// Nanoseconds in 30 bits, seconds in 34 bits.
    TIMESTAMP64 = 48, "timestamp 64", Payload;
    /// Nanoseconds in 32 bits, seconds in 64 bits signed.
    TIMESTAMP96 = 49, "timestamp 96", Payload;
    /// Bytes that say how many entries of a map follow, highest first.
    ENTRIES = 50, "count", Length;
}

/// What stands behind a first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Nothing: the byte is the whole object.
    None,
    /// So many bytes of content.
    Fixed(u64),
    /// A length in so many bytes, then that much content.
    Sized(u64),
    /// A container with its count in the first byte.
    Few(Shape, u64),
    /// A container with its count in so many bytes.
    Many(Shape, u64),
    /// The first byte is none.
    NeverUsed,
}

/// A first byte, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct First {
    /// The format's name as a kind code.
    pub kind: u8,
    /// What follows.
    pub body: Body,
}

/// Takes a first byte apart ("Overview" of the specification: all 256 are decided).
pub fn first(byte: u8) -> First {
    let marker = Marker::from_u8(byte);
    let (kind, body) = match marker {
        Marker::FixPos(_) => (POSITIVE_FIXINT, Body::None),
        Marker::FixNeg(_) => (NEGATIVE_FIXINT, Body::None),
        Marker::FixMap(count) => (FIXMAP, Body::Few(Shape::Map, u64::from(count))),
        Marker::FixArray(count) => (FIXARRAY, Body::Few(Shape::List, u64::from(count))),
        Marker::FixStr(len) => (FIXSTR, Body::Fixed(u64::from(len))),
        Marker::Null => (NIL, Body::None),
        Marker::False => (FALSE, Body::None),
        Marker::True => (TRUE, Body::None),
        Marker::Bin8 => (BIN8, Body::Sized(1)),
        Marker::Bin16 => (BIN16, Body::Sized(2)),
        Marker::Bin32 => (BIN32, Body::Sized(4)),
        Marker::Ext8 => (EXT8, Body::Sized(1)),
        Marker::Ext16 => (EXT16, Body::Sized(2)),
        Marker::Ext32 => (EXT32, Body::Sized(4)),
        Marker::F32 => (FLOAT32, Body::Fixed(4)),
        Marker::F64 => (FLOAT64, Body::Fixed(8)),
        Marker::U8 => (UINT8, Body::Fixed(1)),
        Marker::U16 => (UINT16, Body::Fixed(2)),
        Marker::U32 => (UINT32, Body::Fixed(4)),
        Marker::U64 => (UINT64, Body::Fixed(8)),
        Marker::I8 => (INT8, Body::Fixed(1)),
        Marker::I16 => (INT16, Body::Fixed(2)),
        Marker::I32 => (INT32, Body::Fixed(4)),
        Marker::I64 => (INT64, Body::Fixed(8)),
        Marker::FixExt1 => (FIXEXT1, Body::Fixed(1)),
        Marker::FixExt2 => (FIXEXT2, Body::Fixed(2)),
        Marker::FixExt4 => (FIXEXT4, Body::Fixed(4)),
        Marker::FixExt8 => (FIXEXT8, Body::Fixed(8)),
        Marker::FixExt16 => (FIXEXT16, Body::Fixed(16)),
        Marker::Str8 => (STR8, Body::Sized(1)),
        Marker::Str16 => (STR16, Body::Sized(2)),
        Marker::Str32 => (STR32, Body::Sized(4)),
        Marker::Array16 => (ARRAY16, Body::Many(Shape::List, 2)),
        Marker::Array32 => (ARRAY32, Body::Many(Shape::List, 4)),
        Marker::Map16 => (MAP16, Body::Many(Shape::Map, 2)),
        Marker::Map32 => (MAP32, Body::Many(Shape::Map, 4)),
        Marker::Reserved => (NEVER_USED, Body::NeverUsed),
    };
    First { kind, body }
}

impl First {
    /// Bytes that say a length or count, behind the first byte.
    pub fn sizing_bytes(self) -> u64 {
        match self.body {
            Body::Sized(bytes) | Body::Many(_, bytes) => bytes,
            Body::None | Body::Fixed(_) | Body::Few(..) | Body::NeverUsed => 0,
        }
    }

    /// Whether an application type stands in front of the content.
    pub fn is_ext(self) -> bool {
        (EXT8..=EXT32).contains(&self.kind) || (FIXEXT1..=FIXEXT16).contains(&self.kind)
    }

    /// Whether the object is a str.
    pub fn is_str(self) -> bool {
        self.kind == FIXSTR || (STR8..=STR32).contains(&self.kind)
    }

    /// Content bytes behind a complete head.
    pub fn content_len(self, head: &[u8]) -> u64 {
        match self.body {
            Body::Fixed(len) => len,
            Body::Sized(bytes) => {
                let sizes = usize::try_from(bytes).ok().and_then(|bytes| head.get(1..bytes.saturating_add(1)));
                sizes.map_or(0, big_endian)
            }
            Body::None | Body::Few(..) | Body::Many(..) | Body::NeverUsed => 0,
        }
    }

    /// Bytes in front of the content: first byte, length, application type.
    pub fn head_bytes(self) -> u64 {
        1u64.saturating_add(self.sizing_bytes()).saturating_add(u64::from(self.is_ext()))
    }
}

/// Name of a kind behind its article: `an int8`, `a str8`.
pub fn article(kind: u8) -> String {
    let name = name(kind);
    let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Name of a kind.
pub fn name(kind: u8) -> &'static str {
    KINDS.get(usize::from(kind)).map_or("", |info| info.name)
}

/// The kind that is the shortest to write an integer; `None` for what 64 bits cannot hold.
pub fn shortest_int(value: i128) -> Option<u8> {
    Some(match value {
        0..=127 => POSITIVE_FIXINT,
        -32..=-1 => NEGATIVE_FIXINT,
        128..=0xff => UINT8,
        0x100..=0xffff => UINT16,
        0x1_0000..=0xffff_ffff => UINT32,
        0x1_0000_0000..=0xffff_ffff_ffff_ffff => UINT64,
        -0x80..=-33 => INT8,
        -0x8000..=-0x81 => INT16,
        -0x8000_0000..=-0x8001 => INT32,
        -0x8000_0000_0000_0000..=-0x8000_0001 => INT64,
        _ => return None,
    })
}

/// Bytes of a whole object of an integer kind.
pub fn int_bytes(kind: u8) -> u64 {
    match kind {
        UINT8 | INT8 => 2,
        UINT16 | INT16 => 3,
        UINT32 | INT32 => 5,
        UINT64 | INT64 => 9,
        _ => 1,
    }
}

/// The kind that is the shortest head for a str, bin or container of this length or count.
pub fn shortest_head(kind: u8, size: u64) -> u8 {
    let by_size = |fix: Option<(u64, u8)>, eight: Option<u8>, sixteen: u8, thirty_two: u8| match (fix, eight) {
        (Some((most, fix)), _) if size <= most => fix,
        (_, Some(eight)) if size <= 0xff => eight,
        _ if size <= 0xffff => sixteen,
        _ => thirty_two,
    };
    match kind {
        FIXSTR | STR8 | STR16 | STR32 => by_size(Some((31, FIXSTR)), Some(STR8), STR16, STR32),
        BIN8 | BIN16 | BIN32 => by_size(None, Some(BIN8), BIN16, BIN32),
        FIXARRAY | ARRAY16 | ARRAY32 => by_size(Some((15, FIXARRAY)), None, ARRAY16, ARRAY32),
        FIXMAP | MAP16 | MAP32 => by_size(Some((15, FIXMAP)), None, MAP16, MAP32),
        EXT8 | EXT16 | EXT32 => match size {
            1 => FIXEXT1,
            2 => FIXEXT2,
            4 => FIXEXT4,
            8 => FIXEXT8,
            16 => FIXEXT16,
            _ => by_size(None, Some(EXT8), EXT16, EXT32),
        },
        other => other,
    }
}

/// Bytes of a head of this kind: first byte, length or count, application type.
pub fn head_bytes(kind: u8) -> u64 {
    match kind {
        STR8 | BIN8 => 2,
        STR16 | BIN16 | ARRAY16 | MAP16 => 3,
        STR32 | BIN32 | ARRAY32 | MAP32 => 5,
        FIXEXT1..=FIXEXT16 => 2,
        EXT8 => 3,
        EXT16 => 4,
        EXT32 => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_first_bytes_are_those_of_the_specification() {
        let cases = [
            (0x00, "positive fixint"),
            (0x7f, "positive fixint"),
            (0x80, "fixmap"),
            (0x90, "fixarray"),
            (0xa0, "fixstr"),
            (0xbf, "fixstr"),
            (0xc0, "nil"),
            (0xc1, "never used"),
            (0xc7, "ext8"),
            (0xca, "float32"),
            (0xd3, "int64"),
            (0xd8, "fixext16"),
            (0xdb, "str32"),
            (0xdf, "map32"),
            (0xe0, "negative fixint"),
            (0xff, "negative fixint"),
        ];
        for (byte, text) in cases {
            assert_eq!(name(first(byte).kind), text, "first byte {byte:02x}");
        }
    }

    #[test]
    fn every_kind_constant_is_its_place_in_the_table() {
        assert_eq!(name(MAP32), "map32");
        assert_eq!(name(TIMESTAMP96), "timestamp 96");
        assert_eq!(KINDS.len(), usize::from(ENTRIES) + 1);
    }

    #[test]
    fn the_shortest_form_of_each_boundary_is_the_one_of_the_specification() {
        let cases = [
            (127, POSITIVE_FIXINT),
            (128, UINT8),
            (255, UINT8),
            (256, UINT16),
            (65536, UINT32),
            (-32, NEGATIVE_FIXINT),
            (-33, INT8),
            (-129, INT16),
            (-32769, INT32),
            (-2147483649, INT64),
        ];
        for (value, kind) in cases {
            assert_eq!(shortest_int(value), Some(kind), "{value}");
        }
        assert_eq!(shortest_int(i128::from(u64::MAX) + 1), None);
    }
}
