//! Enumerations and unions: the numbers of their values.

use crate::model::flat::{Enum, EnumValue, Of, Scalar};
use crate::schema::fbs::ast::{self, Base, Shape};
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::link::Names;
use crate::schema::fbs::{attributes, numbers};

/// Makes an enumeration or union of its declaration.
///
/// # Errors
/// A value that its type cannot hold, or that stands twice; a member that is not there.
pub fn make(one: &ast::Enum, names: &Names<'_>, loaded: &Loaded) -> Result<Enum, Fault> {
    attributes::check(&one.head, loaded)?;
    let base = base(one)?;
    let bit_flags = one.head.has("bit_flags");
    if let Some(attribute) = one.head.attribute("force_align") {
        return Err(Fault::new(attribute.at, "`force_align` is for structs, an enumeration is aligned as its type"));
    }
    let mut values: Vec<EnumValue> = Vec::new();
    let mut last: Option<i128> = None;
    // flatc lets no enumeration be without a value.
    if one.is_union || one.values.is_empty() {
        values.push(EnumValue {
            name: "NONE".into(),
            number: 0,
            member: None,
            attributes: Vec::new(),
            doc: Vec::new(),
        });
        last = Some(0);
    }
    for value in &one.values {
        attributes::check(&value.head, loaded)?;
        let number = number_of(value, last)?;
        last = Some(number);
        let stored = stored(number, base, bit_flags, value)?;
        let member = value.member.as_ref().map(|base| member(base, names, loaded)).transpose()?;
        // Of an enumeration only the least number stands once: flatc compares no others.
        let same = |other: &&EnumValue| other.name == value.head.name || one.is_union && other.number == stored;
        if let Some(twice) = values.iter().find(same) {
            let what = if twice.name == value.head.name { "name" } else { "number" };
            return Err(Fault::new(value.head.at, format!("`{}` has the {what} of `{}`", value.head.name, twice.name)));
        }
        values.push(EnumValue {
            name: value.head.name.clone(),
            number: stored,
            member,
            attributes: attributes::sorted(&value.head),
            doc: value.head.doc.clone(),
        });
    }
    if base == Scalar::Ulong {
        values.sort_by_key(|value| value.number.cast_unsigned());
    } else {
        values.sort_by_key(|value| value.number);
    }
    if let [first, second, ..] = values.as_slice()
        && first.number == second.number
    {
        let at = one.values.iter().find(|value| value.head.name == second.name).map_or(one.head.at, |it| it.head.at);
        return Err(Fault::new(at, format!("`{}` has the number of `{}`", second.name, first.name)));
    }
    Ok(Enum {
        name: one.head.full(),
        base,
        is_union: one.is_union,
        bit_flags,
        values,
        attributes: attributes::sorted(&one.head),
        doc: one.head.doc.clone(),
        told: loaded.told,
        place: loaded.place(one.head.at),
    })
}

/// The integer type that values are stored as.
fn base(one: &ast::Enum) -> Result<Scalar, Fault> {
    let Some((ty, at)) = &one.base else { return Ok(Scalar::Ubyte) };
    match (&ty.of, ty.shape) {
        (Base::Scalar(scalar), Shape::One) if !scalar.is_float() && *scalar != Scalar::Bool => Ok(*scalar),
        _ => Err(Fault::new(*at, "an enumeration is stored as an integer")
            .help("byte, ubyte, short, ushort, int, uint, long or ulong")),
    }
}

fn number_of(value: &ast::EnumValue, last: Option<i128>) -> Result<i128, Fault> {
    match &value.number {
        Some((text, at)) => {
            numbers::integer(text).ok_or_else(|| Fault::new(*at, format!("expected an integer, here is `{text}`")))
        }
        None => Ok(last.map_or(0, |last| last.saturating_add(1))),
    }
}

/// The number as stored: of bit flags a power of two.
fn stored(number: i128, base: Scalar, bit_flags: bool, value: &ast::EnumValue) -> Result<i64, Fault> {
    let at = value.number.as_ref().map_or(value.head.at, |(_, at)| *at);
    let bits = u32::from(base.size()).saturating_mul(8);
    if bit_flags {
        let shift = u32::try_from(number).ok().filter(|shift| *shift < bits);
        let Some(shift) = shift else {
            return Err(Fault::new(
                at,
                format!("bit {number} of bit_flags: a {} has bits 0 to {}", base.name(), bits.saturating_sub(1)),
            ));
        };
        return Ok(1u64.checked_shl(shift).unwrap_or(0).cast_signed());
    }
    match fitted(number, base) {
        Some(number) => Ok(number),
        None => Err(Fault::new(at, format!("{number} does not fit {}", base.name()))),
    }
}

/// A number in the 64 bits that models keep; none where the type cannot hold it.
pub fn fitted(number: i128, ty: Scalar) -> Option<i64> {
    let bits = u32::from(ty.size()).saturating_mul(8);
    let (least, most) = match ty {
        Scalar::Bool => (0, 1),
        _ if ty.is_signed() => (-(1i128 << bits.saturating_sub(1)), (1i128 << bits.saturating_sub(1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    if number < least || number > most {
        return None;
    }
    i64::try_from(number).ok().or_else(|| u64::try_from(number).ok().map(u64::cast_signed))
}

/// What a member of a union is.
fn member(base: &Base, names: &Names<'_>, loaded: &Loaded) -> Result<Of, Fault> {
    let of = names.of_base(base, loaded)?;
    match (of, base) {
        (Of::Table(_) | Of::Struct(_) | Of::Text, _) => Ok(of),
        (_, Base::Named(name)) => Err(Fault::new(name.at, "a member of a union is a table, a struct or a string")),
        _ => Err(Fault::new(0, "a member of a union is a table, a struct or a string")),
    }
}
