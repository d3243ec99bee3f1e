//! Which types of a schema the root of a message may have: those whose fields explain most of it come first.

use crate::formats::capnp::decode::{messages, unpacked};
use crate::formats::capnp::judge::{Judged, judge};
use crate::formats::capnp::layout::Shapes;
use crate::formats::capnp::wire::{Pointer, pointer};
use crate::formats::{Context, Fit, Sample};
use crate::model::num::count;
use crate::model::schema::{MessageId, Schema};
use crate::wire::reader::Bytes;

/// Types that are tried to the last pointer.
const TRIED: usize = 12;

/// The types of a schema by how well a message fits them, best first.
pub fn fits(sample: &Sample<'_>, context: &Context<'_>, schema: &Schema) -> Vec<Fit> {
    let Some(capnp) = schema.capnp.as_deref() else { return Vec::new() };
    let all = unpacked(sample.bytes.to_vec(), context.variant);
    let bytes = Bytes(&all);
    let messages = messages(bytes, context.variant);
    let shapes = Shapes::new(capnp);
    let root = messages.segments.first().and_then(|segment| bytes.u64(segment.start)).unwrap_or(0);
    let mut ranked: Vec<(MessageId, i64)> = schema
        .roots()
        .filter(|(id, _)| capnp.record(*id).is_some_and(|record| !record.is_group && !record.open && !record.of_method))
        .map(|(id, message)| (id, near(&shapes, id, root).saturating_add(i64::from(message.told))))
        .collect();
    ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    let tried = if ranked.len() <= 64 { ranked.len() } else { TRIED };
    let mut fits: Vec<Fit> = ranked
        .iter()
        .enumerate()
        .map(|(place, (root, near))| {
            if place >= tried || !sample.complete {
                let score = near.saturating_sub(1_000_000);
                return Fit { root: *root, score, clean: false, why: "only its sizes were looked at".to_string() };
            }
            let judged = judge(bytes, &messages, Some(&shapes), Some(*root), context.depth);
            let told = i64::from(capnp.record(*root).is_some_and(|record| record.told));
            Fit {
                root: *root,
                score: weight(&judged).saturating_mul(4).saturating_add(near.saturating_mul(2)).saturating_add(told),
                clean: judged.errors == 0 && judged.unknown == 0 && judged.odd == 0,
                why: why(&judged),
            }
        })
        .collect();
    fits.sort_by_key(|fit| std::cmp::Reverse(fit.score));
    fits
}

/// How near the sizes of the root struct are to those of a type.
fn near(shapes: &Shapes<'_>, id: MessageId, root: u64) -> i64 {
    let (Pointer::Struct { data, pointers, .. }, Some(shape)) = (pointer(root), shapes.shape(id)) else { return 0 };
    let apart = |a: u16, b: u16| i64::from(a.abs_diff(b));
    let distance = apart(data, shape.data_words).saturating_add(apart(pointers, shape.pointer_count));
    0i64.saturating_sub(distance)
}

fn weight(judged: &Judged) -> i64 {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    number(judged.known)
        .saturating_add(number(judged.sized).saturating_mul(4))
        .saturating_sub(number(judged.unknown).saturating_mul(8))
        .saturating_sub(number(judged.odd).saturating_mul(3))
        .saturating_sub(number(judged.errors).saturating_mul(50))
        .saturating_sub(number(judged.warnings).saturating_mul(5))
}

fn why(judged: &Judged) -> String {
    let mut parts = Vec::new();
    if judged.errors > 0 {
        parts.push(count(judged.errors, "error", "errors"));
    }
    if judged.sized > 0 {
        parts.push(format!("{} of the size that the schema says", count(judged.sized, "struct", "structs")));
    }
    if judged.odd > 0 {
        parts.push(format!("{} of another size", count(judged.odd, "struct", "structs")));
    }
    match judged.unknown {
        0 => parts.push("no set byte without a field".to_string()),
        many => parts.push(format!("{} without a field", count(many, "set byte", "set bytes"))),
    }
    parts.join(", ")
}
