//! Structs: members in place, with gaps that the schema knows.

use crate::formats::flatbuffers::faults::Wrong;
use crate::formats::flatbuffers::fields;
use crate::formats::flatbuffers::found::Object;
use crate::formats::flatbuffers::tell::Teller;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::events::Flow;
use crate::model::flat::{Of, Shape};
use crate::model::schema::MessageId;

/// A member that is still to be told: its place, what it is, and the step to it.
enum Next<'a> {
    Value { at: u64, of: Of, step: Step<'a> },
    Gap { to: u64 },
    Leave,
}

/// Tells the members of a struct at a place. Structs in structs are told from a list, not by recursion: schemas
/// nest as deep as they like.
///
/// # Errors
/// What the sink returns.
pub fn members(teller: &mut Teller<'_>, at: u64, id: MessageId) -> Flow {
    let mut list = Vec::new();
    push_members(teller, at, id, &mut list);
    while let Some(next) = list.pop() {
        match next {
            Next::Leave => teller.leave_field()?,
            Next::Gap { to } => gap(teller, to)?,
            Next::Value { at, of: Of::Struct(id), step } => {
                teller.enter_field(step, GroupKind::Record)?;
                list.push(Next::Leave);
                push_members(teller, at, id, &mut list);
            }
            Next::Value { at, of, step } => {
                teller.enter_field(step, GroupKind::Value)?;
                if teller.words {
                    let label = label(teller, at);
                    teller.say().field.push_str(&label);
                }
                fields::value(teller, at, of, Flags::NONE)?;
                teller.leave_field()?;
            }
        }
    }
    Ok(())
}

/// The field column of a member: its steps inside the object that holds the struct, and its place in a table.
fn label(teller: &Teller<'_>, at: u64) -> String {
    let path = teller.inner_path();
    let dot = if path.starts_with(['.', '[']) { "" } else { "." };
    match teller.table_start() {
        Some(start) => format!("  {dot}{path} +{}", at.saturating_sub(start)),
        None => format!("  {dot}{path}"),
    }
}

/// Puts members and gaps on the list, the first one on top.
fn push_members<'a>(teller: &Teller<'a>, at: u64, id: MessageId, list: &mut Vec<Next<'a>>) {
    let Some((flat, object)) = teller.flat.and_then(|flat| Some((flat, flat.object(id)?))) else { return };
    let end = at.saturating_add(u64::from(object.size));
    let mut parts = Vec::new();
    let mut last = at;
    for field in &object.fields {
        let from = at.saturating_add(u64::from(field.offset));
        if from > last {
            parts.push(Next::Gap { to: from });
        }
        let width = flat.width(field.ty.of);
        match field.ty.shape {
            Shape::Array(count) => {
                for index in 0..u64::from(count) {
                    let at = from.saturating_add(index.saturating_mul(width));
                    parts.push(Next::Value { at, of: field.ty.of, step: Step::Field(&field.name, index) });
                }
                last = from.saturating_add(width.saturating_mul(u64::from(count)));
            }
            _ => {
                parts.push(Next::Value { at: from, of: field.ty.of, step: Step::Name(&field.name) });
                last = from.saturating_add(width);
            }
        }
    }
    if end > last {
        parts.push(Next::Gap { to: end });
    }
    list.extend(parts.into_iter().rev());
}

/// A gap: padding whatever it holds.
fn gap(teller: &mut Teller<'_>, to: u64) -> Flow {
    let from = teller.at;
    teller.enter_field(Step::None, GroupKind::Part)?;
    let zero = teller.bytes.clipped(from, to).iter().all(|byte| *byte == 0);
    if teller.words {
        let words = teller.say();
        words.field.push(' ');
        words.words = format!("padding {}, a gap in the struct", to.saturating_sub(from));
    }
    let flags = if zero { Flags::NONE } else { Flags::WARNING };
    if !zero {
        teller.warn(from, to, Wrong::PaddingNotZero)?;
    }
    teller.leaf_of(from, to, Kind::PADDING, None, flags)?;
    teller.leave_field()
}

/// Tells a struct that an offset leads to.
///
/// # Errors
/// What the sink returns.
pub fn alone(teller: &mut Teller<'_>, number: u32, object: &Object, id: MessageId) -> Flow {
    if teller.words {
        let name = teller.flat.and_then(|flat| flat.object(id)).map_or("", |object| object.short_name());
        let text = super::tables::heading(teller, "struct", name, object);
        let from = super::tables::from_words(object);
        teller.heading(number, &text, &from)?;
        teller.say().refs = object.refs;
    }
    members(teller, object.start, id)
}
