//! Whether a segment is in canonical form (Encoding Spec, "Canonicalization"), and what breaks it; and how much of it
//! is reached.

use crate::formats::capnp::message::Messages;
use crate::formats::capnp::objects::{Object, Objects, Reach, What};
use crate::formats::capnp::wire::WORD;
use crate::model::capnp::Type;
use crate::model::num::{count, len64};
use crate::wire::reader::Bytes;

/// A line for the foot of a dump.
pub fn line(bytes: Bytes<'_>, messages: &Messages, found: &Objects) -> String {
    let structs = found.list.iter().filter(|object| matches!(object.what, What::Struct { .. }));
    let inline = found.list.iter().filter_map(|object| match object.what {
        What::Structs { count, .. } => Some(u64::from(count)),
        _ => None,
    });
    let own = structs.filter(|object| !is_element(object)).count();
    let lists = found.list.iter().filter(|object| matches!(object.what, What::Structs { .. })).count();
    let mut texts = 0;
    let mut others = 0;
    for object in &found.list {
        match object.what {
            What::List { ty: Some(Type::Text), .. } => texts += 1usize,
            What::List { .. } => others += 1usize,
            _ => {}
        }
    }
    let structs = len64(own).saturating_add(inline.sum());
    let mut parts = vec![count(structs, "struct", "structs")];
    // Without a schema a text is a list of bytes.
    let (other, others_are) = match texts {
        0 => ("other list or text", "other lists and texts"),
        _ => ("other list", "other lists"),
    };
    for (number, one, many) in
        [(lists, "list of structs", "lists of structs"), (texts, "text", "texts"), (others, other, others_are)]
    {
        if number > 0 {
            parts.push(count(len64(number), one, many));
        }
    }
    if found.pads > 0 {
        parts.push(count(u64::from(found.pads), "landing pad", "landing pads"));
    }
    let unreached = holes(messages, found);
    let reached = match unreached {
        0 => "no word unreachable".to_string(),
        words => format!("{} unreachable", count(words, "word", "words")),
    };
    let canonical = match broken(bytes, messages, found) {
        None => "the segment is in canonical form".to_string(),
        Some(why) => format!("not in canonical form: {why}"),
    };
    format!("{}; {reached}; {canonical}", parts.join(", "))
}

fn is_element(object: &Object) -> bool {
    matches!(object.reach, Reach::Index(_)) && object.from == object.start
}

/// Words of segments that no object has; the root pointers have theirs.
fn holes(messages: &Messages, found: &Objects) -> u64 {
    let mut free: u64 = messages.segments.iter().map(|segment| segment.end.saturating_sub(segment.start)).sum();
    let roots = len64(messages.list.len());
    free = free.saturating_sub(roots.saturating_mul(WORD));
    let mut taken = 0;
    for object in &found.list {
        if matches!(object.what, What::Layer | What::Message(_)) || is_element(object) {
            continue;
        }
        let start = object.start.max(taken);
        free = free.saturating_sub(object.end.saturating_sub(start.min(object.end)));
        taken = taken.max(object.end);
    }
    free / WORD
}

/// The first thing that keeps the segment from being canonical.
fn broken(bytes: Bytes<'_>, messages: &Messages, found: &Objects) -> Option<String> {
    let [message] = messages.list.as_slice() else {
        let why = if messages.list.is_empty() { "there is no message" } else { "more than one message" };
        return Some(why.to_string());
    };
    if message.count != 1 {
        return Some(format!("{} segments", message.count));
    }
    if found.partial {
        return Some("it could not be read whole".to_string());
    }
    let mut objects: Vec<&Object> = found
        .list
        .iter()
        .filter(|object| !matches!(object.what, What::Layer | What::Message(_)) && !is_element(object))
        .collect();
    objects.sort_by_key(|object| object.rank);
    let mut next = message.table_end.saturating_add(WORD);
    for object in objects {
        if object.refs > 1 {
            return Some(format!("{} pointers lead to {:#04x}", object.refs, object.start));
        }
        if matches!(object.what, What::Pad) {
            return Some(format!("a far pointer, its landing pad at {:#04x}", object.start));
        }
        if object.start != next {
            return Some(format!(
                "{:#04x} is not where the object before it ends, in the order of pointers",
                object.start
            ));
        }
        next = object.end;
        if let Some(why) = trimmed(bytes, object) {
            return Some(why);
        }
    }
    (next < message.end).then(|| format!("words behind the last object, from {next:#04x} on"))
}

/// Whether an object has words that canonical form leaves out.
fn trimmed(bytes: Bytes<'_>, object: &Object) -> Option<String> {
    let zero = |start: u64, words: u64| {
        bytes.clipped(start, start.saturating_add(words.saturating_mul(WORD))).iter().all(|byte| *byte == 0)
    };
    match object.what {
        What::Struct { data, pointers, .. } => {
            let section = u64::from(data).saturating_mul(WORD);
            let last_data = object.start.saturating_add(section).saturating_sub(WORD);
            let last_pointer = object.end.saturating_sub(WORD);
            if pointers > 0 && zero(last_pointer, 1) {
                return Some(format!("the struct at {:#04x} ends with a null pointer", object.start));
            }
            (data > 0 && zero(last_data, 1))
                .then(|| format!("the data section of the struct at {:#04x} ends with a word of zeros", object.start))
        }
        What::Structs { count, data, pointers, .. } => {
            let size = u64::from(data).saturating_add(u64::from(pointers)).saturating_mul(WORD);
            let place = |index: u64| object.start.saturating_add(WORD).saturating_add(index.saturating_mul(size));
            let all = |offset: u64| (0..u64::from(count)).all(|index| zero(place(index).saturating_add(offset), 1));
            let data_bytes = u64::from(data).saturating_mul(WORD);
            if data > 0 && all(data_bytes.saturating_sub(WORD)) {
                return Some(format!("no struct of the list at {:#04x} uses its last data word", object.start));
            }
            (pointers > 0 && all(size.saturating_sub(WORD)))
                .then(|| format!("no struct of the list at {:#04x} uses its last pointer", object.start))
        }
        What::List { size, count, .. } => {
            let used = u64::from(count).saturating_mul(size.bits().unwrap_or(0));
            let from = object.start.saturating_add(used.div_ceil(8));
            let rest = bytes.clipped(from, object.end).iter().any(|byte| *byte != 0);
            rest.then(|| format!("the list at {:#04x} has padding that is not zero", object.start))
        }
        _ => None,
    }
}
