//! Which types of a schema a buffer may have at its root: the schema's root type, else those that fit best.

use crate::formats::flatbuffers::decode::buffer_of;
use crate::formats::flatbuffers::found::{Buffer, What};
use crate::formats::flatbuffers::objects;
use crate::formats::flatbuffers::table::{Slot, field_width, vtable_at};
use crate::formats::flatbuffers::{found, likely, wire};
use crate::formats::{Context, Fit, Sample};
use crate::model::diag::Severity;
use crate::model::flat::{Flat, Object};
use crate::model::num::{count, len64};
use crate::model::schema::{MessageId, Schema};
use crate::wire::reader::Bytes;

/// Types that are tried to the last offset.
const TRIED: usize = 8;

/// The types of a schema by how well a buffer fits them, best first.
pub fn fits(sample: &Sample<'_>, context: &Context<'_>, schema: &Schema) -> Vec<Fit> {
    let Some(flat) = schema.flat.as_deref() else { return Vec::new() };
    let bytes = Bytes(sample.bytes);
    let buffer = buffer_of(bytes, context.variant);
    let judge = |root: MessageId| deep(bytes, buffer, root, flat, context.depth);
    let told = flat.root.map(|root| (root, if sample.complete { judge(root) } else { Judged::default() }));
    if let Some((root, judged)) = told
        && judged.errors == 0
    {
        return vec![Fit { root, score: 1000, clean: judged.is_clean(), why: rooted(&judged) }];
    }
    let mut ranked: Vec<(MessageId, i64)> = (0u32..)
        .map(MessageId)
        .zip(&flat.objects)
        .filter(|(_, object)| !object.is_struct)
        .map(|(id, object)| (id, shallow(bytes, buffer, object, flat)))
        .collect();
    ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    let mut fits: Vec<Fit> = ranked
        .iter()
        .enumerate()
        .map(|(place, (root, score))| {
            if place < TRIED && sample.complete {
                let judged = judge(*root);
                let score = score.saturating_mul(10).saturating_sub(judged.weight());
                Fit { root: *root, score, clean: judged.is_clean(), why: judged.words() }
            } else {
                let score = score.saturating_mul(10).saturating_sub(1_000_000);
                Fit { root: *root, score, clean: false, why: "not tried to the last offset".to_string() }
            }
        })
        .collect();
    fits.sort_by_key(|fit| std::cmp::Reverse(fit.score));
    // The root that the schema declares is taken where nothing else is better.
    if let Some((root, judged)) = told
        && !fits.first().is_some_and(|best| best.clean)
    {
        let words = format!("{}; no other type fits better: {}", rooted(&judged), judged.words());
        fits.retain(|fit| fit.root != root);
        fits.insert(0, Fit { root, score: i64::MAX, clean: false, why: words });
    } else if let (Some((root, judged)), Some(best)) = (told, fits.first_mut()) {
        let name = flat.object(root).map_or("", |object| object.name.as_str());
        best.why = format!("{}; the schema's root_type {name} does not: {}", best.why, judged.words());
    }
    fits
}

fn rooted(judged: &Judged) -> String {
    match judged.unknown {
        0 => "the schema's root_type".to_string(),
        many => format!("the schema's root_type; {} not in it", count(many, "field", "fields")),
    }
}

/// How a type holds to the last offset.
#[derive(Debug, Clone, Copy, Default)]
struct Judged {
    errors: u64,
    unknown: u64,
    unread: u64,
}

impl Judged {
    fn is_clean(&self) -> bool {
        self.errors == 0 && self.unknown == 0 && self.unread == 0
    }

    fn weight(&self) -> i64 {
        let sum = self.errors.saturating_mul(1000).saturating_add(self.unknown.saturating_mul(100));
        i64::try_from(sum.saturating_add(self.unread)).unwrap_or(i64::MAX)
    }

    fn words(&self) -> String {
        if self.is_clean() {
            return "every offset holds, and no field is unknown".to_string();
        }
        let mut parts = Vec::new();
        for (number, one, many) in [
            (self.errors, "error", "errors"),
            (self.unknown, "unknown field", "unknown fields"),
            (self.unread, "byte that nothing points at", "bytes that nothing points at"),
        ] {
            if number > 0 {
                parts.push(count(number, one, many));
            }
        }
        parts.join(", ")
    }
}

fn deep(bytes: Bytes<'_>, buffer: Buffer, root: MessageId, flat: &Flat, depth: usize) -> Judged {
    let found = objects::search(bytes, buffer, Some(root), Some(flat), depth);
    let errors = found.faults.iter().filter(|fault| fault.what.severity() == Severity::Error).count();
    let mut judged = Judged { errors: len64(errors), ..Judged::default() };
    for object in &found.objects {
        let What::Table(ty) = object.what else { continue };
        let vtable = usize::try_from(object.vtable).ok().and_then(|at| found.vtables.get(at));
        let Some(vtable) = vtable.map(|shared| shared.vtable) else { continue };
        let known = ty.and_then(|ty| flat.object(ty)).map_or(0, |object| object.fields.len());
        let unknown = (0..vtable.slot_count())
            .skip(known)
            .filter(|id| vtable.voffset(bytes, *id).is_some_and(|voffset| voffset != 0));
        judged.unknown = judged.unknown.saturating_add(len64(unknown.count()));
    }
    judged.unread = found::unread(bytes, buffer, &found);
    judged
}

/// How the root table alone fits a type: fields that lead where their type says, and have the room it needs.
fn shallow(bytes: Bytes<'_>, buffer: Buffer, object: &Object, flat: &Flat) -> i64 {
    let root = buffer.start.saturating_add(u64::from(bytes.u32(buffer.start).unwrap_or(0)));
    let Ok(vtable) = vtable_at(bytes, root, buffer.start, buffer.end) else { return 0 };
    let mut slots: Vec<Slot> = Vec::new();
    let faults = vtable.slots(bytes, root, buffer, Some(object), Some(flat), &mut slots);
    let mut score = -20i64.saturating_mul(i64::try_from(faults.len()).unwrap_or(i64::MAX));
    for slot in &slots {
        let Some(field) = object.field(slot.id) else {
            score = score.saturating_sub(30);
            continue;
        };
        if !field.ty.is_offset() {
            score = score.saturating_add(i64::from(slot.usable && field_width(field, flat) == slot.width));
            continue;
        }
        let to = slot.at.saturating_add(u64::from(bytes.u32(slot.at).unwrap_or(0)));
        let holds = match field.ty.of {
            crate::model::flat::Of::Text if field.ty.shape == crate::model::flat::Shape::One => {
                likely::is_text(bytes, to, buffer.end) || bytes.u32(to) == Some(0)
            }
            crate::model::flat::Of::Table(_) if field.ty.shape == crate::model::flat::Shape::One => {
                likely::is_table(bytes, to, buffer)
            }
            _ => to > slot.at && to.saturating_add(wire::OFFSET) <= buffer.end,
        };
        score = score.saturating_add(if holds { 10 } else { -40 });
    }
    score
}
