//! Enumerations and unions: their numbers and members.

use std::collections::HashSet;

use crate::model::flat::{Enum, EnumValue, Of, Scalar, Shape};
use crate::schema::fbs::lexer::{Fault, Spot, short};
use crate::schema::fbs::link::Linker;
use crate::schema::fbs::number;
use crate::schema::fbs::syntax::{EnumDecl, Many, Name, TypeName, ValueDecl};
use crate::schema::fbs::value::range;

/// A value before it is sorted, with its place.
struct Draft {
    value: EnumValue,
    number: i128,
    at: Spot,
}

impl Linker<'_> {
    pub(super) fn enumeration(&mut self, decl: &EnumDecl) -> Result<(), Fault> {
        let full = self.full(&decl.name.text);
        if self.is_taken(&full) {
            return Err(self.twice(&full, decl.name.at));
        }
        // It counts from here on: its own name behind `:` means int.
        let first = if decl.is_union { Scalar::Ubyte } else { Scalar::Int };
        let one = Enum {
            name: full.clone(),
            base: first,
            is_union: decl.is_union,
            bit_flags: false,
            values: Vec::new(),
            attributes: Vec::new(),
            doc: decl.docs.clone(),
            told: self.is_told(),
            place: self.place(decl.name.at),
        };
        self.add_enum(&full, one);
        let base = match &decl.base {
            Some(base) => self.base(base)?,
            None => first,
        };
        let attributes = self.attributes(&decl.attributes)?;
        if let Some(given) = attributes.get("force_align") {
            return Err(Fault::new(given.at, "`force_align` is for structs and vectors, not for enumerations"));
        }
        let bit_flags = attributes.has("bit_flags");
        let mut drafts = self.values(decl, base)?;
        if bit_flags {
            flags(&mut drafts, base)?;
        }
        let (values, same) = sorted(drafts)?;
        for (at, message) in same {
            self.find("value-twice", at, message, "the first one names the number");
        }
        if let Some(one) = self.flat.enums.last_mut() {
            (one.base, one.bit_flags, one.values) = (base, bit_flags, values);
            one.attributes = attributes.pairs();
        }
        Ok(())
    }

    fn base(&mut self, ty: &TypeName) -> Result<Scalar, Fault> {
        let wrong = |what: &str| {
            let message = format!("the values are stored as {what}, expected an integer type");
            Err(Fault::helped(ty.name.at, message, "write byte, ubyte, short, ushort, int, uint, long or ulong"))
        };
        if ty.many != Many::One {
            return wrong("a vector");
        }
        let scalar = Scalar::ALL.into_iter().find(|one| one.name() == ty.name.text || one.sized_name() == ty.name.text);
        let of = match scalar {
            Some(scalar) => Some(scalar),
            // The base of another enumeration will do.
            None => self
                .enum_named(&ty.name.text)
                .and_then(|id| self.flat.enumeration(id))
                .and_then(|one| if one.is_union { None } else { Some(one.base) }),
        };
        match of {
            Some(scalar) if !scalar.is_float() && scalar != Scalar::Bool => Ok(scalar),
            _ => wrong(&format!("`{}`", short(&ty.name.text))),
        }
    }

    fn values(&mut self, decl: &EnumDecl, base: Scalar) -> Result<Vec<Draft>, Fault> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut names = HashSet::new();
        if decl.is_union || decl.values.is_empty() {
            let value = EnumValue {
                name: "NONE".to_string(),
                number: 0,
                member: None,
                attributes: Vec::new(),
                doc: Vec::new(),
            };
            names.insert(value.name.clone());
            drafts.push(Draft { value, number: 0, at: decl.name.at });
        }
        for one in &decl.values {
            let name = one.name.text.replace('.', "_");
            let member = if decl.is_union { Some(self.member(one)?) } else { None };
            let before = drafts.last().map(|draft| draft.number);
            let number = numbered(one, &name, before, base)?;
            let attributes = self.attributes(&one.attributes)?.pairs();
            if !names.insert(name.clone()) {
                return Err(again(decl, one, &name));
            }
            let value = EnumValue { name, number: 0, member, attributes, doc: one.docs.clone() };
            drafts.push(Draft { value, number, at: one.name.at });
        }
        Ok(drafts)
    }

    /// What a member of a union holds.
    fn member(&mut self, one: &ValueDecl) -> Result<Of, Fault> {
        let Some(ty) = &one.ty else {
            // Without an alias the name is that of a table or struct, even if it is `string`.
            let at = self.use_object(&one.name);
            return Ok(self.member_of(at));
        };
        let of = self.of(&ty.name);
        match (ty.many, of) {
            (Many::One, Of::Text | Of::Table(_) | Of::Struct(_)) => Ok(of),
            _ => {
                let message = format!("member `{}` is of type `{}`", one.name.text, shown(&ty.name, ty.many));
                Err(Fault::helped(ty.name.at, message, "unions hold tables, structs and strings: wrap it in a table"))
            }
        }
    }

    fn member_of(&self, at: usize) -> Of {
        let id = crate::model::schema::MessageId(u32::try_from(at).unwrap_or(u32::MAX));
        Of::Table(id)
    }
}

fn again(decl: &EnumDecl, one: &ValueDecl, name: &str) -> Fault {
    let what = if decl.is_union { "member" } else { "value" };
    let help = if decl.is_union { "give it an alias: `Other:T`" } else { "" };
    Fault::helped(one.name.at, format!("{what} `{name}` is there already"), help)
}

fn shown(name: &Name, many: Many) -> String {
    match many {
        Many::One => short(&name.text),
        Many::Vector => format!("[{}]", short(&name.text)),
        Many::Array(len) => format!("[{}:{len}]", short(&name.text)),
    }
}

/// The number of a value: told, or one more than the one before.
fn numbered(one: &ValueDecl, name: &str, before: Option<i128>, base: Scalar) -> Result<i128, Fault> {
    let (number, at) = match &one.number {
        Some(told) => (number::integer(&told.text).unwrap_or(i128::MAX), told.at),
        None => (before.map_or(0, |before| before.saturating_add(1)), one.name.at),
    };
    let (least, most) = range(base);
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let told = one.number.as_ref().map_or(number.to_string(), |told| short(&told.text));
    let message = format!("`{name}` is {told}, but {} holds {least} to {most}", base.name());
    Err(Fault::helped(at, message, "choose a wider type behind the name of the enum"))
}

/// Numbers of flags are bits: 3 is 8.
fn flags(drafts: &mut [Draft], base: Scalar) -> Result<(), Fault> {
    let bits = i128::from(base.size()).saturating_mul(8);
    for draft in drafts {
        let most = if base.is_signed() { bits.saturating_sub(1) } else { bits };
        if !(0..most).contains(&draft.number) {
            let name = &draft.value.name;
            let message = format!(
                "flag `{name}` is bit {}, but {} has bits 0 to {}",
                draft.number,
                base.name(),
                most.saturating_sub(1)
            );
            return Err(Fault::helped(draft.at, message, "numbers of bit flags are bits, not values"));
        }
        draft.number = 1i128 << draft.number.clamp(0, 64);
    }
    Ok(())
}

/// Values by number. flatc compares each with the smallest only, so that of the others two may be the same.
fn sorted(mut drafts: Vec<Draft>) -> Result<(Vec<EnumValue>, Vec<(Spot, String)>), Fault> {
    drafts.sort_by(|a, b| (a.number, &a.value.name).cmp(&(b.number, &b.value.name)));
    let mut values: Vec<EnumValue> = Vec::new();
    let mut same = Vec::new();
    let smallest = drafts.first().map(|draft| draft.number);
    let mut before: Option<i128> = None;
    for mut draft in drafts {
        if before == Some(draft.number)
            && let Some(first) = values.last()
        {
            let message = format!("`{}` and `{}` are both {}", first.name, draft.value.name, draft.number);
            if smallest == before {
                return Err(Fault::helped(draft.at, message, "each value needs a number of its own"));
            }
            same.push((draft.at, message));
        }
        before = Some(draft.number);
        let bits = u64::try_from(draft.number).map(u64::cast_signed);
        draft.value.number = i64::try_from(draft.number).or(bits).unwrap_or(0);
        values.push(draft.value);
    }
    Ok((values, same))
}

/// The shape of a type that is written with brackets.
pub(super) fn shape(many: Many) -> Shape {
    match many {
        Many::One => Shape::One,
        Many::Vector => Shape::Vector,
        Many::Array(len) => Shape::Array(len),
    }
}
