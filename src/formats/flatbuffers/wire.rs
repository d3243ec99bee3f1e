//! The standard's numbers and words (FlatBuffers documentation, "FlatBuffers Internals"): widths of offsets, the
//! head of a vtable, and the kinds of leaves.
//!
//! ```text
//! file     [size prefix u32] root uoffset u32 [identifier 4 bytes] objects ...
//! table    soffset i32 to its vtable, counted backwards: vtable = table - soffset; then fields
//! vtable   u16 its size, u16 size of the table, then a voffset u16 for each slot: 0 is absent, else table + voffset
//! uoffset  u32 forwards from where it stands
//! vector   count u32, elements          string   length u32, bytes, NUL
//! ```

use crate::model::bytemap::{Cause, KindInfo};
use crate::model::flat::Scalar;

/// Bytes of a uoffset, an soffset, a count and a length.
pub const OFFSET: u64 = 4;

/// Bytes of a 64-bit offset, and of the count of a vector64.
pub const OFFSET64: u64 = 8;

/// Bytes of a voffset.
pub const VOFFSET: u64 = 2;

/// Bytes of a vtable in front of its slots: its own size, and that of the table.
pub const VTABLE_HEAD: u64 = 4;

/// Bytes of a file identifier, behind the root offset.
pub const IDENTIFIER: u64 = 4;

/// Offsets and vtables stand on multiples of this.
pub const VTABLE_ALIGN: u64 = 2;

/// Largest buffer of 32-bit offsets: FLATBUFFERS_MAX_BUFFER_SIZE.
pub const LARGEST: u64 = i32::MAX as u64;

/// A uoffset: root, field, element or value of a union.
pub const UOFFSET: u8 = 0;
/// A 64-bit offset.
pub const UOFFSET_64: u8 = 1;
/// The offset of a table to its vtable.
pub const SOFFSET: u8 = 2;
/// Size of a vtable.
pub const VTABLE_SIZE: u8 = 3;
/// Size of a table, in its vtable.
pub const TABLE_SIZE: u8 = 4;
/// A slot of a vtable.
pub const VOFFSET_SLOT: u8 = 5;
/// Elements of a vector.
pub const COUNT: u8 = 6;
/// Bytes of a string, without its NUL.
pub const LENGTH: u8 = 7;
/// Bytes of the file behind it.
pub const SIZE_PREFIX: u8 = 8;
/// The file identifier.
pub const FILE_IDENTIFIER: u8 = 9;
/// The first of the scalar types, in the order of [`Scalar::ALL`].
pub const FIRST_SCALAR: u8 = 10;
/// Which member of a union a value is.
pub const UNION_TYPE: u8 = 21;
/// Bytes of a string.
pub const STRING: u8 = 22;
/// The NUL behind a string.
pub const NUL: u8 = 23;
/// A value whose type nobody knows.
pub const RAW: u8 = 24;
/// A FlexBuffer.
pub const FLEXBUFFER: u8 = 25;

/// Name and cause of each kind.
pub static KINDS: &[KindInfo] = &[
    KindInfo { name: "uoffset", cause: Cause::Pointer },
    KindInfo { name: "uoffset64", cause: Cause::Pointer },
    KindInfo { name: "soffset", cause: Cause::Table },
    KindInfo { name: "vtable size", cause: Cause::Table },
    KindInfo { name: "table size", cause: Cause::Table },
    KindInfo { name: "voffset", cause: Cause::Table },
    KindInfo { name: "count", cause: Cause::Length },
    KindInfo { name: "length", cause: Cause::Length },
    KindInfo { name: "size prefix", cause: Cause::Framing },
    KindInfo { name: "file identifier", cause: Cause::Framing },
    KindInfo { name: "bool", cause: Cause::Payload },
    KindInfo { name: "int8", cause: Cause::Payload },
    KindInfo { name: "uint8", cause: Cause::Payload },
    KindInfo { name: "int16", cause: Cause::Payload },
    KindInfo { name: "uint16", cause: Cause::Payload },
    KindInfo { name: "int32", cause: Cause::Payload },
    KindInfo { name: "uint32", cause: Cause::Payload },
    KindInfo { name: "int64", cause: Cause::Payload },
    KindInfo { name: "uint64", cause: Cause::Payload },
    KindInfo { name: "float32", cause: Cause::Payload },
    KindInfo { name: "float64", cause: Cause::Payload },
    KindInfo { name: "union type", cause: Cause::Type },
    KindInfo { name: "string", cause: Cause::Payload },
    KindInfo { name: "NUL", cause: Cause::Terminator },
    KindInfo { name: "unknown type", cause: Cause::Payload },
    KindInfo { name: "flexbuffer", cause: Cause::Payload },
];

/// The kind of a scalar.
pub fn scalar_kind(scalar: Scalar) -> u8 {
    let place = Scalar::ALL.iter().position(|known| *known == scalar).unwrap_or(0);
    FIRST_SCALAR.saturating_add(u8::try_from(place).unwrap_or(0))
}

/// The scalar of a kind, where it is one.
pub fn kind_scalar(code: u8) -> Option<Scalar> {
    Scalar::ALL.get(usize::from(code.checked_sub(FIRST_SCALAR)?)).copied()
}
