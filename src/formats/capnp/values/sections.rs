//! Where the parts of objects are.

use crate::formats::capnp::layout::data_of;
use crate::formats::capnp::resolve::{Is, Target};
use crate::formats::capnp::wire::{ElementSize, WORD};
use crate::wire::reader::Bytes;

/// A struct that is being read: where its sections are.
#[derive(Debug, Clone, Copy)]
pub struct Sections {
    /// Offset of the data section.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its pointers.
    pub pointers: u16,
    /// The segment it is in.
    pub segment: u32,
}

/// The sections of a struct.
pub fn sections(target: &Target, segment: u32) -> Sections {
    let (data, pointers) = match target.is {
        Is::Struct { data, pointers } => (data, pointers),
        _ => (0, 0),
    };
    Sections { at: target.start, bytes: u64::from(data).saturating_mul(WORD), pointers, segment }
}

/// The bytes of a list of bytes.
pub fn blob<'a>(bytes: Bytes<'a>, target: &Target) -> &'a [u8] {
    let count = match target.is {
        Is::List { size: ElementSize::Byte, count } => u64::from(count),
        _ => 0,
    };
    bytes.clipped(target.start, target.start.saturating_add(count))
}

/// The data section of a struct by words.
pub fn words_of(bytes: Bytes<'_>, at: Sections) -> &[u8] {
    data_of(bytes, at.at, u16::try_from(at.bytes / WORD).unwrap_or(u16::MAX))
}
