//! How well bytes hold together as messages: what detection and the choice of a type count.

use crate::formats::capnp::faults::Wrong;
use crate::formats::capnp::layout::{Shapes, is_set};
use crate::formats::capnp::message::Messages;
use crate::formats::capnp::objects::{self, Objects, Reach, What};
use crate::formats::capnp::wire::{ElementSize, WORD};
use crate::model::diag::Severity;
use crate::model::num::len64;
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judged {
    /// Structs and lists that pointers lead to.
    pub objects: u64,
    /// Texts and lists of bytes that read as text.
    pub texts: u64,
    /// Findings that readers refuse.
    pub errors: u64,
    /// Findings that they take.
    pub warnings: u64,
    /// Words of all segments.
    pub words: u64,
    /// Words that no object has and that are not zero.
    pub unreached: u64,
    /// Words that are zero.
    pub zeros: u64,
    /// Set bytes that no field of the schema has.
    pub unknown: u64,
    /// Set bytes that fields have.
    pub known: u64,
    /// Structs whose sizes are those of the schema.
    pub sized: u64,
    /// Structs whose sizes are others.
    pub odd: u64,
}

/// Walks messages, by the schema where there is one.
pub fn judge(
    bytes: Bytes<'_>,
    messages: &Messages,
    shapes: Option<&Shapes<'_>>,
    root: Option<MessageId>,
    depth: usize,
) -> Judged {
    let found = objects::search(bytes, messages, shapes, root, depth);
    let mut judged = Judged::default();
    for fault in &found.faults {
        match fault.what.severity() {
            // That the input was cut says nothing of what it is.
            _ if matches!(fault.what, Wrong::Lost(..)) => {}
            Severity::Error => judged.errors = judged.errors.saturating_add(1),
            _ => judged.warnings = judged.warnings.saturating_add(1),
        }
    }
    count_words(bytes, messages, &found, &mut judged);
    for object in &found.list {
        count(bytes, object, shapes, &mut judged);
    }
    judged
}

fn count_words(bytes: Bytes<'_>, messages: &Messages, found: &Objects, judged: &mut Judged) {
    let zero = |at: u64| bytes.u64(at) == Some(0);
    for segment in &messages.segments {
        let words = segment.end.saturating_sub(segment.start) / WORD;
        judged.words = judged.words.saturating_add(words);
        let zeros = (0..words).filter(|word| zero(segment.start.saturating_add(word.saturating_mul(WORD))));
        judged.zeros = judged.zeros.saturating_add(len64(zeros.count()));
    }
    let mut reached: u64 = len64(messages.list.len());
    let mut taken = 0;
    for object in &found.list {
        let inside = object.from == object.start && matches!(object.reach, Reach::Index(_));
        if matches!(object.what, What::Layer | What::Message(_)) || inside {
            continue;
        }
        let start = object.start.max(taken).min(object.end);
        reached = reached.saturating_add(object.end.saturating_sub(start) / WORD);
        taken = taken.max(object.end);
    }
    judged.unreached = judged.words.saturating_sub(reached);
}

fn count(bytes: Bytes<'_>, object: &objects::Object, shapes: Option<&Shapes<'_>>, judged: &mut Judged) {
    match object.what {
        What::Layer | What::Message(_) | What::Pad => return,
        What::List { size: ElementSize::Byte, count, .. } => {
            let all = bytes.clipped(object.start, object.start.saturating_add(u64::from(count)));
            if let Some((0, text)) = all.split_last()
                && std::str::from_utf8(text).is_ok_and(|text| !text.contains(|c: char| c.is_control()))
            {
                judged.texts = judged.texts.saturating_add(1);
            }
        }
        What::Struct { ty: Some(ty), data, pointers } => {
            if let Some(shapes) = shapes {
                fields(bytes, object.start, (ty, data, pointers), shapes, judged);
            }
        }
        What::Structs { count, data, pointers, ty: Some(crate::model::capnp::Type::Struct(ty)) } => {
            let stride = u64::from(data).saturating_add(u64::from(pointers)).saturating_mul(WORD);
            if let (Some(shapes), true) = (shapes, stride > 0) {
                for index in 0..u64::from(count).min(64) {
                    let at = object.start.saturating_add(WORD).saturating_add(index.saturating_mul(stride));
                    fields(bytes, at, (ty, data, pointers), shapes, judged);
                }
            }
        }
        _ => {}
    }
    judged.objects = judged.objects.saturating_add(1);
}

/// Which set bytes of a data section fields have.
fn fields(
    bytes: Bytes<'_>,
    start: u64,
    (ty, data, pointers): (MessageId, u16, u16),
    shapes: &Shapes<'_>,
    judged: &mut Judged,
) {
    let Some(shape) = shapes.shape(ty) else { return };
    let same = data == shape.data_words && pointers == shape.pointer_count;
    let place = if same { &mut judged.sized } else { &mut judged.odd };
    *place = place.saturating_add(1);
    let section = super::layout::data_of(bytes, start, data);
    let mut known = vec![false; section.len()];
    for member in shape.members.iter().filter(|member| is_set(section, &member.when)) {
        let from = usize::try_from(member.bit / 8).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(member.bits.div_ceil(8)).unwrap_or(0)).min(known.len());
        if let Some(range) = known.get_mut(from.min(to)..to) {
            range.fill(true);
        }
    }
    for (byte, known) in section.iter().zip(known) {
        if *byte != 0 {
            let place = if known { &mut judged.known } else { &mut judged.unknown };
            *place = place.saturating_add(1);
        }
    }
}
