//! Where things stand: members of structs in bytes, fields of tables in slots.

use crate::model::flat::{Field, Flat, Shape, Type};
use crate::schema::fbs::attributes::Attributes;
use crate::schema::fbs::lexer::{Fault, Spot};
use crate::schema::fbs::number;

/// The largest alignment that `force_align` may ask for.
const MAX_ALIGN: u64 = 32;

/// Fields of a table, at most: a vtable says its own size in 16 bits.
pub const MOST_FIELDS: usize = 32_765;

/// Bytes of a struct up to which offsets in compiled schemas can be right.
pub const OFFSETS: u32 = 65_535;

/// A struct that grows member by member.
#[derive(Debug)]
pub struct Layout {
    size: u64,
    align: u64,
}

impl Layout {
    /// No member yet.
    pub fn new() -> Layout {
        Layout { size: 0, align: 1 }
    }

    /// The place of the next member; the gap before it goes to the member before.
    ///
    /// # Errors
    /// The struct becomes larger than any buffer.
    pub fn member(&mut self, ty: Type, flat: &Flat, before: Option<&mut Field>, at: Spot) -> Result<u32, Fault> {
        let align = flat.align(ty.of).max(1);
        self.align = self.align.max(align);
        self.pad(align, before);
        let offset = self.size;
        let count = if let Shape::Array(count) = ty.shape { u64::from(count) } else { 1 };
        self.size = self.size.saturating_add(flat.width(ty.of).saturating_mul(count));
        match (u32::try_from(offset), u32::try_from(self.size)) {
            (Ok(offset), Ok(size)) if size <= u32::MAX / 2 => Ok(offset),
            _ => Err(Fault::new(at, "the struct is larger than 2 GiB, more than a buffer holds")),
        }
    }

    fn pad(&mut self, align: u64, last: Option<&mut Field>) {
        let gap = self.size.next_multiple_of(align).saturating_sub(self.size);
        self.size = self.size.saturating_add(gap);
        if let Some(last) = last {
            last.padding = u32::try_from(gap).unwrap_or(0);
        }
    }

    /// Size and alignment of the whole struct; the last gap goes to the last member.
    ///
    /// # Errors
    /// `force_align` is no power of two, or less than the struct needs anyway; there is no member.
    pub fn finish(mut self, attributes: &Attributes, last: Option<&mut Field>, at: Spot) -> Result<(u32, u32), Fault> {
        if let Some(forced) = attributes.get("force_align") {
            let align = number::integer(&forced.text).and_then(|align| u64::try_from(align).ok());
            let right = |align: &u64| align.is_power_of_two() && (self.align..=MAX_ALIGN).contains(align);
            self.align = align.filter(right).ok_or_else(|| {
                let need = self.align;
                let message = format!("`force_align` is {}", forced.text);
                Fault::helped(forced.at, message, format!("it has to be a power of two from {need} to {MAX_ALIGN}"))
            })?;
        }
        if self.size == 0 {
            return Err(Fault::helped(at, "a struct without members", "give it a member, or make it a table"));
        }
        self.pad(self.align, last);
        Ok((u32::try_from(self.size).unwrap_or(0), u32::try_from(self.align).unwrap_or(1)))
    }
}

/// Sorts the fields of a table by their ids, and gives each its slot. Where no field tells an id, the order of
/// declaration counts.
///
/// # Errors
/// Only some fields have ids; an id is missing, or given twice.
pub fn slots(fields: &mut [Field], spots: &dyn Fn(&str) -> Spot, at: Spot) -> Result<(), Fault> {
    if fields.len() > MOST_FIELDS {
        return Err(Fault::new(at, format!("a table of {} fields, at most {MOST_FIELDS} fit", fields.len())));
    }
    let told = |field: &Field| field.attributes.iter().find(|(name, _)| name == "id").map(|(_, id)| id.clone());
    let with = fields.iter().filter(|field| told(field).is_some()).count();
    if with > 0 {
        if let Some(bare) = fields.iter().find(|field| told(field).is_none()) {
            let message = format!("field `{}` has no id, others of the table have one", bare.name);
            return Err(Fault::helped(spots(&bare.name), message, "give every field an id, or none"));
        }
        for field in fields.iter_mut() {
            let text = told(field).unwrap_or_default();
            let id = number::integer(&text).and_then(|id| u16::try_from(id).ok());
            field.id = id.ok_or_else(|| {
                let message = format!("the id of `{}` is {text}, expected 0 to 65535", field.name);
                Fault::new(spots(&field.name), message)
            })?;
        }
        fields.sort_by_key(|field| field.id);
        contiguous(fields, spots)?;
    }
    for (id, field) in (0u16..).zip(fields.iter_mut()) {
        field.id = id;
        field.offset = 4u32.saturating_add(u32::from(id).saturating_mul(2));
    }
    Ok(())
}

fn contiguous(fields: &[Field], spots: &dyn Fn(&str) -> Spot) -> Result<(), Fault> {
    let mut before: Option<&Field> = None;
    for (id, field) in (0u16..).zip(fields) {
        if field.id == id {
            before = Some(field);
            continue;
        }
        let at = spots(&field.name);
        return Err(match before.filter(|before| before.id == field.id) {
            Some(twin) => {
                let message = format!("`{}` and `{}` have the same id {}", twin.name, field.name, field.id);
                Fault::helped(at, message, "a union takes the id before its own, too")
            }
            None => Fault::helped(
                at,
                format!("no field has id {id}, the next one is `{}` with {}", field.name, field.id),
                "ids run from 0 without gaps; keep a deleted field and mark it as deprecated",
            ),
        });
    }
    Ok(())
}
