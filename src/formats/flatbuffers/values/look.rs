//! Where values stand: every offset, count and length checked against the bytes of the buffer. Nothing here
//! sends anything.

use crate::formats::flatbuffers::wire;
use crate::model::flat::{EnumId, Field, Flat, Of, Scalar as Type, Shape};
use crate::model::schema::MessageId;
use crate::wire::reader::{Bytes, little_endian};

/// A table whose vtable is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Where it begins: its soffset.
    pub at: u64,
    /// Where its vtable begins.
    pub vtable: u64,
    /// Slots of the vtable.
    pub slots: u16,
}

impl Table {
    /// The table at an offset; none where it, or its vtable, is not there.
    pub fn read(data: Bytes<'_>, at: u64) -> Option<Table> {
        let soffset = i64::from(data.i32(at)?);
        let vtable = u64::try_from(i64::try_from(at).ok()?.checked_sub(soffset)?).ok()?;
        let size = u64::from(data.u16(vtable)?);
        let slots = size.checked_sub(wire::VTABLE_HEAD)? / wire::VOFFSET;
        data.range(vtable, vtable.checked_add(size)?)?;
        Some(Table { at, vtable, slots: u16::try_from(slots).ok()? })
    }

    /// Where the field of a slot begins; none where it is absent.
    pub fn slot(self, data: Bytes<'_>, id: u16) -> Option<u64> {
        if id >= self.slots {
            return None;
        }
        let place = wire::VTABLE_HEAD.saturating_add(wire::VOFFSET.saturating_mul(u64::from(id)));
        let voffset = data.u16(self.vtable.saturating_add(place))?;
        if voffset == 0 { None } else { self.at.checked_add(u64::from(voffset)) }
    }
}

/// The types of a vector of unions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Union {
    /// The union.
    pub id: EnumId,
    /// Where the types begin.
    pub at: u64,
    /// How many there are.
    pub count: u64,
    /// Bytes of each.
    pub width: u64,
}

impl Union {
    /// What the value at a position is.
    pub fn kind(self, data: Bytes<'_>, place: u64) -> Option<(EnumId, i64)> {
        if place >= self.count {
            return None;
        }
        let from = self.at.saturating_add(place.saturating_mul(self.width));
        let bytes = data.range(from, from.saturating_add(self.width))?;
        Some((self.id, little_endian(bytes).cast_signed()))
    }
}

/// Elements in a row that are all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List {
    /// What each is.
    pub of: Of,
    /// Where the first begins.
    pub at: u64,
    /// How many there are.
    pub count: u64,
    /// Bytes of each.
    pub stride: u64,
    /// Of a vector of unions, their types.
    pub union: Option<Union>,
}

impl List {
    /// Whether it is what other formats call bytes.
    pub fn is_bytes(&self) -> bool {
        self.of == Of::Scalar(Type::Ubyte)
    }
}

/// A value that is there, or whose beginning is.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// A scalar or enumerated value.
    Value(Of, &'a [u8]),
    /// A string.
    Text(&'a [u8]),
    /// A table.
    Table(MessageId, Table),
    /// A struct, where it begins.
    Struct(MessageId, u64),
    /// A vector or array.
    List(List),
    /// A buffer of a type, the bytes as a vector, as a buffer, and its root.
    Nested(MessageId, List, Bytes<'a>, Table),
    /// A FlexBuffer, the bytes as a vector and as they are.
    Flex(List, &'a [u8]),
}

/// The root of a buffer.
pub fn root(data: Bytes<'_>) -> Option<Table> {
    Table::read(data, follow(data, 0, false)?)
}

/// Where an offset leads. One of 0 would lead to itself.
fn follow(data: Bytes<'_>, at: u64, wide: bool) -> Option<u64> {
    let offset = if wide { data.u64(at)? } else { u64::from(data.u32(at)?) };
    let target = at.checked_add(offset)?;
    (offset > 0 && target < data.len()).then_some(target)
}

/// A vector or the elements of an array; they are all there.
fn list(flat: &Flat, data: Bytes<'_>, of: Of, at: u64, count: u64) -> Option<List> {
    let stride = flat.width(of);
    data.range(at, at.checked_add(count.checked_mul(stride)?)?)?;
    Some(List { of, at, count, stride, union: None })
}

/// The vector that begins at an offset, its count first.
fn vector(flat: &Flat, data: Bytes<'_>, of: Of, at: u64, wide: bool) -> Option<List> {
    let (count, head) = if wide { (data.u64(at)?, wire::OFFSET64) } else { (u64::from(data.u32(at)?), wire::OFFSET) };
    list(flat, data, of, at.checked_add(head)?, count)
}

/// The text of the string that begins at an offset; its NUL is of no concern here.
fn text(data: Bytes<'_>, at: u64) -> Option<&[u8]> {
    let from = at.checked_add(wire::OFFSET)?;
    data.range(from, from.checked_add(u64::from(data.u32(at)?))?)
}

/// A field of a table that is present, at `at`.
pub fn found_in_table<'a>(flat: &Flat, data: Bytes<'a>, (table, at): (Table, u64), field: &Field) -> Option<Found<'a>> {
    match field.ty.shape {
        Shape::One => match field.ty.of {
            Of::Union(id) => union_value(flat, data, at, union_kind(flat, data, table, field, id)),
            Of::Text if field.offset64 => Some(Found::Text(text(data, follow(data, at, true)?)?)),
            of => found(flat, data, at, of),
        },
        Shape::Vector | Shape::Vector64 => {
            let wide = field.ty.shape == Shape::Vector64;
            let start = follow(data, at, wide || field.offset64)?;
            let mut list = vector(flat, data, field.ty.of, start, wide)?;
            if let Of::Union(id) = field.ty.of {
                list.union = union_types(flat, data, table, field, id);
            }
            Some(opened(data, field, list))
        }
        Shape::Array(count) => Some(Found::List(list(flat, data, field.ty.of, at, u64::from(count))?)),
    }
}

/// A vector, or what it is known to hold.
fn opened<'a>(data: Bytes<'a>, field: &Field, list: List) -> Found<'a> {
    let bytes = data.clipped(list.at, list.at.saturating_add(list.count.saturating_mul(list.stride)));
    if list.stride != 1 {
        return Found::List(list);
    }
    let inner = Bytes(bytes);
    match field.nested.zip(root(inner)) {
        Some((id, table)) => Found::Nested(id, list, inner, table),
        None if field.flexbuffer => Found::Flex(list, bytes),
        None => Found::List(list),
    }
}

/// A member of the struct at `at`.
pub fn found_in_struct<'a>(flat: &Flat, data: Bytes<'a>, at: u64, field: &Field) -> Option<Found<'a>> {
    let at = at.checked_add(u64::from(field.offset))?;
    match field.ty.shape {
        Shape::Array(count) => Some(Found::List(list(flat, data, field.ty.of, at, u64::from(count))?)),
        Shape::One if !field.ty.of.is_offset() => found(flat, data, at, field.ty.of),
        Shape::One | Shape::Vector | Shape::Vector64 => None,
    }
}

/// One value at an offset: in place, or where the offset there leads.
pub fn found<'a>(flat: &Flat, data: Bytes<'a>, at: u64, of: Of) -> Option<Found<'a>> {
    Some(match of {
        Of::Scalar(_) | Of::Enum(_) | Of::UnionType(_) | Of::Raw(_) => {
            Found::Value(of, data.range(at, at.checked_add(flat.width(of))?)?)
        }
        Of::Struct(id) => {
            data.range(at, at.checked_add(flat.width(of))?)?;
            Found::Struct(id, at)
        }
        Of::Text => Found::Text(text(data, follow(data, at, false)?)?),
        Of::Table(id) => Found::Table(id, Table::read(data, follow(data, at, false)?)?),
        // A union without its type is nothing.
        Of::Union(_) => return None,
    })
}

/// The value of a union, whose offset stands at `at`: a struct lies behind it too.
pub fn union_value<'a>(flat: &Flat, data: Bytes<'a>, at: u64, kind: Option<(EnumId, i64)>) -> Option<Found<'a>> {
    let (id, number) = kind?;
    match flat.enumeration(id)?.member(number)?.member? {
        of @ Of::Struct(_) => found(flat, data, follow(data, at, false)?, of),
        of => found(flat, data, at, of),
    }
}

/// What a union holds: its type stands in the slot before.
fn union_kind(flat: &Flat, data: Bytes<'_>, table: Table, field: &Field, id: EnumId) -> Option<(EnumId, i64)> {
    let at = table.slot(data, field.id.checked_sub(1)?)?;
    let width = flat.width(Of::UnionType(id));
    Some((id, little_endian(data.range(at, at.checked_add(width)?)?).cast_signed()))
}

/// The types of a vector of unions: a vector in the slot before.
fn union_types(flat: &Flat, data: Bytes<'_>, table: Table, field: &Field, id: EnumId) -> Option<Union> {
    let none = Union { id, at: 0, count: 0, width: 1 };
    let types = || {
        let at = table.slot(data, field.id.checked_sub(1)?)?;
        let list = vector(flat, data, Of::UnionType(id), follow(data, at, false)?, false)?;
        Some(Union { id, at: list.at, count: list.count, width: list.stride })
    };
    Some(types().unwrap_or(none))
}
