//! Whether bytes are a FlatBuffer, with or without a size in front, and what speaks for it.

use crate::formats::flatbuffers::decode::buffer_of;
use crate::formats::flatbuffers::found::Buffer;
use crate::formats::flatbuffers::guess::{self, Counts};
use crate::formats::flatbuffers::objects;
use crate::formats::flatbuffers::table::vtable_at;
use crate::formats::flatbuffers::{likely, wire};
use crate::formats::{Candidate, Context, Level, Sample};
use crate::model::num::{count, listed};
use crate::wire::reader::Bytes;

/// Bytes of a sample that is cut which are looked at as a whole.
const LOOKED_AT: usize = 256 * 1024;

/// Bytes a buffer has at least: a root offset, a vtable without slots, a table without fields.
const SHORTEST: u64 = 12;

/// What speaks for and against FlatBuffers.
pub fn detect(sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
    let bytes = Bytes(sample.bytes);
    let prefix = bytes.u32(0).map_or(0, u64::from);
    let sized = if sample.complete { prefix.checked_add(4) == Some(bytes.len()) } else { prefix >= bytes.len() };
    let plain = judge(bytes, sample.complete, buffer_of(bytes, "plain"), context);
    let as_sized = if prefix >= 8 && (sized || plain.is_err()) {
        Some(judge(bytes, sample.complete, buffer_of(bytes, "size-prefixed"), context))
    } else {
        None
    };
    match (plain, as_sized) {
        (Err(_), Some(Ok(judged))) if sized => candidate("size-prefixed", judged, Some(prefix)),
        (Ok(plain), Some(Ok(judged))) if sized && judged.score >= plain.score => {
            candidate("size-prefixed", judged, Some(prefix))
        }
        (Ok(plain), _) => candidate("plain", plain, None),
        (Err(why), _) => told(bytes, context, why),
    }
}

/// Whether a root offset leads to a table whose vtable stands behind the sample: one that is shared can be anywhere.
pub fn needs_all(bytes: Bytes<'_>) -> bool {
    let behind = |start: u64| {
        let root = start.checked_add(u64::from(bytes.u32(start)?)).filter(|root| root.is_multiple_of(wire::OFFSET))?;
        let vtable = i64::try_from(root).ok()?.checked_sub(i64::from(bytes.i32(root)?))?;
        Some(u64::try_from(vtable).ok()?.saturating_add(4) > bytes.len())
    };
    let sized = bytes.u32(0).is_some_and(|size| u64::from(size) >= bytes.len());
    let start = if sized { wire::OFFSET } else { buffer_of(bytes, "plain").start };
    behind(start) == Some(true)
}

/// A reading that holds together, with its score and evidence.
struct Judged {
    score: u32,
    pro: Vec<String>,
    contra: Vec<String>,
}

fn candidate(variant: &'static str, judged: Judged, prefix: Option<u64>) -> Candidate {
    let Judged { mut score, mut pro, contra } = judged;
    if let Some(prefix) = prefix {
        pro.insert(0, format!("the first four bytes say {prefix}, and so many follow"));
        score = score.saturating_add(60).min(995);
    }
    let level = match score {
        900.. => Level::Certain,
        500..900 => Level::Likely,
        _ => Level::Possible,
    };
    Candidate { format: "flatbuffers", variant, level, score, pro, contra }
}

/// Bytes that are no sound buffer, but have the identifier of the schema that was told; or a schema was told and the
/// root offset leads somewhere.
fn told(bytes: Bytes<'_>, context: &Context<'_>, why: String) -> Candidate {
    let Some(flat) = context.schema.and_then(|schema| schema.flat.as_deref()) else { return against(why) };
    let sized = bytes.u32(0).is_some_and(|size| u64::from(size).saturating_add(4) == bytes.len());
    let found = flat.identifier.and_then(|four| {
        let at = |start: u64| bytes.range(start, start.saturating_add(4)) == Some(&four[..]);
        (at(4) || at(8)).then_some(())
    });
    let inside = bytes.u32(0).is_some_and(|offset| offset >= 4 && u64::from(offset) < bytes.len());
    let (score, evidence) = match (found, inside) {
        (Some(_), _) => (700, "the identifier is that of the schema".to_string()),
        (None, true) => (350, "a FlatBuffers schema was told, and the root offset leads into the bytes".to_string()),
        _ => return against(why),
    };
    let variant = if sized { "size-prefixed" } else { "plain" };
    let level = if score >= 500 { Level::Likely } else { Level::Possible };
    Candidate { format: "flatbuffers", variant, level, score, pro: vec![evidence], contra: vec![why] }
}

fn against(why: String) -> Candidate {
    let (variant, level) = ("plain", Level::Possible);
    Candidate { format: "flatbuffers", variant, level, score: 0, pro: Vec::new(), contra: vec![why] }
}

/// Judges a buffer; a sentence where it cannot be one.
fn judge(bytes: Bytes<'_>, complete: bool, buffer: Buffer, context: &Context<'_>) -> Result<Judged, String> {
    let at = buffer.start;
    if buffer.end.saturating_sub(at) < SHORTEST {
        return Err(format!("{} are too few for a root offset and a table", crate::model::num::bytes(bytes.len())));
    }
    let offset = u64::from(bytes.u32(at).unwrap_or(0));
    let root = at.saturating_add(offset);
    if offset < 4 {
        return Err(format!("{at:#04x}: a root offset of {offset}, which leads to no table"));
    }
    if root.saturating_add(4) > buffer.end {
        return Err(format!("{at:#04x}: the root offset {offset:#x} leads past the end"));
    }
    if !root.wrapping_sub(buffer.origin).is_multiple_of(wire::OFFSET) {
        return Err(format!("{at:#04x}: the root offset leads to {root:#04x}, no multiple of 4"));
    }
    let vtable = vtable_at(bytes, root, buffer.start, buffer.end).map_err(|fault| {
        format!("{root:#04x}: the root has no vtable that fits: {}", fault.told(&|_| String::new()).message)
    })?;
    let inside = root.saturating_add(vtable.table_size) <= buffer.end;
    if !likely::slots_fit(bytes, vtable) || !inside {
        return Err(format!("{:#04x}: the slots of the root's vtable do not fit its table", vtable.start));
    }
    let mut judged = Judged { score: 0, pro: Vec::new(), contra: Vec::new() };
    if buffer.origin > 0 {
        judged.pro.push(format!("{} in front of a buffer at {at:#04x}", count(buffer.origin, "zero", "zeros")));
    }
    judged.pro.push(format!("root offset {offset:#04x} leads to a table whose vtable {:#04x} fits", vtable.start));
    if complete || bytes.0.len() <= LOOKED_AT {
        whole(bytes, buffer, &mut judged);
    } else {
        judged.score = 700;
    }
    identifier(bytes, buffer, context, &mut judged);
    by_schema(bytes, complete, buffer, context, &mut judged);
    Ok(judged)
}

/// How much of the bytes the objects reach.
fn whole(bytes: Bytes<'_>, buffer: Buffer, judged: &mut Judged) {
    let counts = guess::guess(bytes, buffer).counts;
    judged.pro.push(counted(&counts));
    let objects = counts.tables.saturating_add(counts.texts).saturating_add(counts.vectors);
    let size = buffer.end.saturating_sub(buffer.start).max(1);
    let unread = counts.unread.saturating_mul(1000).checked_div(size).unwrap_or(1000);
    judged.score = match (counts.unread, objects) {
        (0, 3..) => 960,
        (0, 2) => 900,
        (0, _) => 620,
        (_, 4..) if unread < 100 => 800,
        (_, 2..) if unread < 400 => 520,
        (_, 2..) => 300,
        _ => 120,
    };
    if counts.wrong {
        judged.score = judged.score.saturating_sub(150);
    }
    if counts.unread == 0 {
        judged.pro.push("not one byte is left that is neither reached nor zero".to_string());
    } else {
        judged.contra.push(format!("{} are neither reached nor zero", crate::model::num::bytes(counts.unread)));
    }
}

/// `11 tables, 5 vtables, 10 strings`
fn counted(counts: &Counts) -> String {
    let parts = [
        (counts.tables, "table", "tables"),
        (counts.vtables, "vtable", "vtables"),
        (counts.texts, "string", "strings"),
        (counts.vectors, "vector", "vectors"),
    ];
    let there: Vec<String> =
        parts.iter().filter(|(number, ..)| *number > 0).map(|(number, one, many)| count(*number, one, many)).collect();
    listed(&there)
}

fn identifier(bytes: Bytes<'_>, buffer: Buffer, context: &Context<'_>, judged: &mut Judged) {
    let start = buffer.start.saturating_add(wire::OFFSET);
    let Some(four) = bytes.range(start, start.saturating_add(wire::IDENTIFIER)) else { return };
    let declared = context.schema.and_then(|schema| schema.flat.as_deref()?.identifier);
    if declared.is_some_and(|declared| declared == four) {
        judged.pro.push(format!("the identifier \"{}\" is the schema's", four.escape_ascii()));
        judged.score = judged.score.saturating_add(150).min(990);
    } else if four.iter().all(u8::is_ascii_graphic) && bytes.u32(buffer.start).is_some_and(|offset| offset >= 8) {
        judged.pro.push(format!("a file identifier \"{}\"", four.escape_ascii()));
        judged.score = judged.score.saturating_add(20).min(990);
    }
}

/// Whether the type that was told, or the schema's root, holds.
fn by_schema(bytes: Bytes<'_>, complete: bool, buffer: Buffer, context: &Context<'_>, judged: &mut Judged) {
    let Some(flat) = context.schema.and_then(|schema| schema.flat.as_deref()) else { return };
    let Some(root) = context.root.or(flat.root).filter(|_| complete) else { return };
    let found = objects::search(bytes, buffer, Some(root), Some(flat), context.depth);
    let name = flat.object(root).map_or("", |object| object.name.as_str());
    let wrong =
        found.faults.iter().filter(|fault| fault.what.severity() == crate::model::diag::Severity::Error).count();
    if wrong == 0 {
        judged.pro.push(format!("every offset holds as {name}"));
        judged.score = judged.score.saturating_add(200).min(990);
    } else {
        judged.contra.push(format!("as {name}, {}", count(crate::model::num::len64(wrong), "error", "errors")));
    }
}
