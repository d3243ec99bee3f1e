//! Structs as they are stored: the fields of a struct and of all groups in it, by their place.

use crate::model::capnp::{Capnp, FieldKind, Struct, Type, Value};
use crate::model::schema::MessageId;
use crate::wire::reader::{Bytes, little_endian};

/// Groups within each other that are looked into; schemas that are no tree have no end.
const MOST_GROUPS: usize = 64;

/// Bits of a union's tag.
const TAG_BITS: u32 = 16;

/// A condition on the tag of a union that must hold for a field to be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// Where the tag stands, in bits from the start of the data section.
    pub bit: u32,
    /// What it must be.
    pub value: u16,
}

/// What stands at a place of the data section.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// Its path in the struct: `place.lat`; of a tag that of its union, empty where that has no name.
    pub path: String,
    /// Its type; of a tag `Uint16`.
    pub ty: Type,
    /// First bit in the data section.
    pub bit: u32,
    /// Bits.
    pub bits: u32,
    /// What stored bits are xored with.
    pub default: &'a Value,
    /// It is set only under these conditions.
    pub when: Vec<When>,
    /// It is the tag of the union in this struct or group.
    pub tag: Option<&'a Struct>,
}

/// A pointer of a struct.
#[derive(Debug, Clone)]
pub struct PointerMember<'a> {
    /// Its path in the struct.
    pub path: String,
    /// Its type.
    pub ty: Type,
    /// Its number in the pointer section.
    pub index: u16,
    /// What a null pointer stands for.
    pub default: &'a Value,
    /// It is set only under these conditions.
    pub when: Vec<When>,
}

/// A struct with all groups in it.
#[derive(Debug, Clone, Default)]
pub struct Shape<'a> {
    /// Data members and tags, by place.
    pub members: Vec<Member<'a>>,
    /// Pointers, by number.
    pub pointers: Vec<PointerMember<'a>>,
    /// Words of the data section in this schema.
    pub data_words: u16,
    /// Pointers in this schema.
    pub pointer_count: u16,
}

/// The shapes of a schema.
#[derive(Debug)]
pub struct Shapes<'a> {
    /// The schema.
    pub capnp: &'a Capnp,
    made: Vec<Shape<'a>>,
}

static ZERO: Value = Value::Uint(0);

impl<'a> Shapes<'a> {
    /// The shapes of all structs.
    pub fn new(capnp: &'a Capnp) -> Shapes<'a> {
        Shapes { capnp, made: capnp.structs.iter().map(|record| make(capnp, record)).collect() }
    }

    /// The shape of a struct; none only for a number that is not of this schema.
    pub fn shape(&self, id: MessageId) -> Option<&Shape<'a>> {
        self.made.get(usize::try_from(id.0).ok()?)
    }

    /// The name of a struct without what it stands in.
    pub fn name(&self, id: MessageId) -> &'a str {
        self.capnp.record(id).map_or("", |record| record.short_name())
    }
}

fn make<'a>(capnp: &'a Capnp, record: &'a Struct) -> Shape<'a> {
    let mut shape = Shape { data_words: record.data_words, pointer_count: record.pointers, ..Shape::default() };
    gather(capnp, record, "", &[], 0, &mut shape);
    shape.members.sort_by_key(|member| (member.bit, member.bits));
    shape.pointers.sort_by_key(|member| member.index);
    shape
}

fn gather<'a>(capnp: &'a Capnp, record: &'a Struct, path: &str, when: &[When], depth: usize, shape: &mut Shape<'a>) {
    let tag = record.tag.map(|place| place.saturating_mul(TAG_BITS));
    if let Some(bit) = tag {
        let (path, when) = (path.to_string(), when.to_vec());
        let member = Member { path, ty: Type::Uint16, bit, bits: TAG_BITS, default: &ZERO, when, tag: Some(record) };
        shape.members.push(member);
    }
    for field in &record.fields {
        let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        let mut when = when.to_vec();
        when.extend(tag.zip(field.tag).map(|(bit, value)| When { bit, value }));
        match &field.kind {
            FieldKind::Group(id) => {
                if let Some(group) = capnp.record(*id).filter(|_| depth < MOST_GROUPS) {
                    gather(capnp, group, &path, &when, depth.saturating_add(1), shape);
                }
            }
            FieldKind::Slot(slot) => match slot.ty.bits() {
                Some(0) => {}
                Some(bits) => {
                    let bit = slot.offset.saturating_mul(bits);
                    let default = &slot.default;
                    shape.members.push(Member { path, ty: slot.ty, bit, bits, default, when, tag: None });
                }
                None => {
                    let index = u16::try_from(slot.offset).unwrap_or(u16::MAX);
                    shape.pointers.push(PointerMember { path, ty: slot.ty, index, default: &slot.default, when });
                }
            },
        }
    }
}

/// The number at a place of a data section; bits past its end are zero.
pub fn bits_at(data: &[u8], bit: u32, bits: u32) -> u64 {
    let from = usize::try_from(bit / 8).unwrap_or(usize::MAX);
    let len = usize::try_from(bits.div_ceil(8)).unwrap_or(0);
    let there = data.get(from..).unwrap_or(&[]);
    let number = little_endian(there.get(..len).unwrap_or(there));
    if bits == 1 { number >> (bit % 8) & 1 } else { number }
}

/// Whether all conditions hold.
pub fn is_set(data: &[u8], when: &[When]) -> bool {
    when.iter().all(|one| bits_at(data, one.bit, TAG_BITS) == u64::from(one.value))
}

impl<'a> Shape<'a> {
    /// The pointer member that is set at a number: its position and itself.
    pub fn pointer(&self, data: &[u8], index: u16) -> Option<(u16, &PointerMember<'a>)> {
        let from = self.pointers.partition_point(|member| member.index < index);
        let here = self.pointers.iter().enumerate().skip(from).take_while(|(_, member)| member.index == index);
        let (at, member) = here.into_iter().find(|(_, member)| is_set(data, &member.when))?;
        Some((u16::try_from(at).ok()?, member))
    }
}

/// The data section of a struct, as far as the input holds it.
pub fn data_of(bytes: Bytes<'_>, start: u64, words: u16) -> &[u8] {
    bytes.clipped(start, start.saturating_add(u64::from(words).saturating_mul(8)))
}
