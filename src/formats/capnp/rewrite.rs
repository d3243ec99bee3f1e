//! Messages in another variant, word by word: what no schema knows stays.
//!
//! ```text
//! framed  packed        the segment table stays
//! flat    flat-packed   no segment table: one message of one segment
//! ```

use std::io::Write;

use crate::formats::Context;
use crate::formats::capnp::decode::{is_packed, messages, unpacked};
use crate::formats::capnp::pack::pack;
use crate::formats::capnp::wire::WORD;
use crate::model::events::{Flow, Stop};
use crate::model::num::len64;
use crate::wire::reader::{Bytes, Window};

/// Writes messages in a variant; none where that takes their values.
pub fn rewrite(input: &mut Window, context: &Context<'_>, variant: &str, out: &mut dyn Write) -> Option<Flow> {
    if matches!(variant, "canonical" | "text") {
        return None;
    }
    let bytes = match input.all(u64::MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => return Some(Err(error.into())),
    };
    if context.variant == variant {
        return Some(out.write_all(&bytes).map_err(Stop::from));
    }
    let words = unpacked(bytes, context.variant);
    let (head, words) = match (has_table(context.variant), has_table(variant)) {
        (true, false) => (None, only_segment(&words, context.variant)?),
        (false, true) => (Some(table(&words)?), words.as_slice()),
        _ => (None, words.as_slice()),
    };
    Some(written(head, words, is_packed(variant), out))
}

fn has_table(variant: &str) -> bool {
    matches!(variant, "framed" | "packed")
}

/// The segment of a message that has no other.
fn only_segment<'a>(words: &'a [u8], variant: &str) -> Option<&'a [u8]> {
    let found = messages(Bytes(words), variant);
    let ([_], [segment]) = (found.list.as_slice(), found.segments.as_slice()) else { return None };
    let is_all = segment.end == len64(words.len()) && segment.due_end() == segment.end;
    is_all.then(|| Bytes(words).clipped(segment.start, segment.end))
}

/// The segment table of one segment: the number of segments minus one, and its words.
fn table(words: &[u8]) -> Option<[u8; 8]> {
    let size = len64(words.len());
    let count = u32::try_from(size / WORD).ok().filter(|_| size.is_multiple_of(WORD))?;
    Some((u64::from(count) << 32).to_le_bytes())
}

fn written(head: Option<[u8; 8]>, words: &[u8], packed: bool, out: &mut dyn Write) -> Flow {
    let head = head.as_ref().map_or(&[][..], |head| head);
    if !packed {
        out.write_all(head)?;
        return Ok(out.write_all(words)?);
    }
    let (whole, rest) = words.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Stop::Refused(format!(
            "{} at the end that are no whole word",
            crate::model::num::bytes(len64(rest.len()))
        )));
    }
    let (first, _) = head.as_chunks::<8>();
    let all: Vec<u64> = first.iter().chain(whole).map(|word| u64::from_le_bytes(*word)).collect();
    let mut text = Vec::new();
    pack(&all, &mut text);
    Ok(out.write_all(&text)?)
}
