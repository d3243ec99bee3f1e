//! The packed encoding (Encoding Spec, "Packing") as a layer: each byte says which words it unpacks to.

use crate::formats::capnp::wire::{self, WORD};
use crate::formats::capnp::words;
use crate::formats::{cause_of, width_of};
use crate::model::bytemap::{Cause, Flags, Group, GroupId, GroupKind, Kind, Leaf, NO_GROUP, NO_TARGET, Step};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Heading, Said, Sink};
use crate::model::limits;
use crate::model::num::{count, len64};
use crate::wire::reader::little_endian;

/// A part of a packed input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A tag byte at an offset, and where its word begins.
    Tag {
        /// Offset of the tag.
        at: u64,
        /// The tag.
        tag: u8,
        /// Where its word begins in the unpacked bytes.
        to: u64,
    },
    /// A count of further zero words.
    Zeros {
        /// Offset of the count.
        at: u64,
        /// Words.
        words: u8,
        /// Where they begin.
        to: u64,
    },
    /// A count of further words that stand as they are.
    Verbatim {
        /// Offset of the count.
        at: u64,
        /// Words.
        words: u8,
        /// Where they begin.
        to: u64,
    },
}

/// An unpacked input.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The words.
    pub bytes: Vec<u8>,
    /// What stands where.
    pub parts: Vec<Part>,
    /// Why it ends before the input does, or inside what it announces.
    pub wrong: Option<Diagnostic>,
    /// Offset up to which the input was taken.
    pub end: u64,
}

/// Unpacks as much as makes sense.
pub fn unpack(input: &[u8], keep_parts: bool) -> Unpacked {
    let mut all = Unpacked { bytes: Vec::with_capacity(input.len().saturating_mul(2)), ..Unpacked::default() };
    let mut at = 0usize;
    while let Some(tag) = input.get(at).copied() {
        if len64(all.bytes.len()) > limits::CAPNP_UNPACKED {
            all.wrong = Some(too_much(at));
            break;
        }
        let to = len64(all.bytes.len());
        if keep_parts {
            all.parts.push(Part::Tag { at: len64(at), tag, to });
        }
        at = at.saturating_add(1);
        let due = usize::try_from(tag.count_ones()).unwrap_or(0);
        let there = input.get(at..at.saturating_add(due).min(input.len())).unwrap_or(&[]);
        let mut literal = there.iter().copied();
        for bit in 0..8 {
            let byte = if tag >> bit & 1 == 1 { literal.next().unwrap_or(0) } else { 0 };
            all.bytes.push(byte);
        }
        at = at.saturating_add(there.len());
        if there.len() < due {
            let missing = len64(due.saturating_sub(there.len()));
            all.wrong = Some(cut(at, &format!("{} of the word at {to:#04x} missing", are(missing))));
            break;
        }
        if !matches!(tag, 0x00 | 0xff) {
            continue;
        }
        let Some(words) = input.get(at).copied() else {
            let what = if tag == 0 { "the count of zero words" } else { "the count of words as they are" };
            all.wrong = Some(cut(at, &format!("{what} is missing")));
            break;
        };
        let to = len64(all.bytes.len());
        if keep_parts {
            let at = len64(at);
            all.parts.push(match tag {
                0 => Part::Zeros { at, words, to },
                _ => Part::Verbatim { at, words, to },
            });
        }
        at = at.saturating_add(1);
        let bytes = usize::from(words).saturating_mul(8);
        if tag == 0 {
            all.bytes.resize(all.bytes.len().saturating_add(bytes), 0);
            continue;
        }
        let there = input.get(at..at.saturating_add(bytes).min(input.len())).unwrap_or(&[]);
        all.bytes.extend_from_slice(there);
        at = at.saturating_add(there.len());
        if there.len() < bytes {
            let missing = len64(bytes.saturating_sub(there.len()));
            all.wrong = Some(cut(at, &format!("{} of a run of words as they are missing", are(missing))));
            break;
        }
    }
    all.end = len64(at);
    all
}

fn are(bytes: u64) -> String {
    format!("{} {}", crate::model::num::bytes(bytes), if bytes == 1 { "is" } else { "are" })
}

fn cut(at: usize, what: &str) -> Diagnostic {
    let at = len64(at);
    Diagnostic::new(Code::CpPackedCut, at, at, format!("the packed input ends here, and {what}"))
        .help("the end was lost, or the input is not packed (-f capnp/framed, capnp/flat)")
}

fn too_much(at: usize) -> Diagnostic {
    let at = len64(at);
    let message = format!("the input unpacks to more than {} MiB", limits::CAPNP_UNPACKED >> 20);
    Diagnostic::new(Code::CpPackedSize, at, at, message)
}

/// A finding where a run of words goes on past the end of the last message.
pub fn run_past(unpacked: &Unpacked, end: u64) -> Option<Diagnostic> {
    if end >= len64(unpacked.bytes.len()) {
        return None;
    }
    let place = unpacked.parts.partition_point(|part| to_of(*part) <= end);
    let part = *unpacked.parts.get(place.checked_sub(1)?)?;
    let (at, words, to) = match part {
        Part::Zeros { at, words, to } | Part::Verbatim { at, words, to } => (at, words, to),
        Part::Tag { .. } => return None,
    };
    let inside = end > to || (end == to && words > 0);
    inside.then(|| {
        let past = to.saturating_add(u64::from(words).saturating_mul(WORD)).saturating_sub(end) / WORD;
        let message = format!("the run goes on for {} past the end of the message", count(past, "word", "words"));
        Diagnostic::new(Code::CpPackedCut, at, at.saturating_add(1), message).help("readers refuse that")
    })
}

fn to_of(part: Part) -> u64 {
    match part {
        Part::Tag { to, .. } | Part::Zeros { to, .. } | Part::Verbatim { to, .. } => to,
    }
}

/// What each unpacked byte counts as: the position of its cause in [`wire::LITERAL_CAUSES`].
#[derive(Debug, Default)]
pub struct Causes(Vec<u8>);

impl Causes {
    fn put(&mut self, cause: Cause, bytes: u64) {
        let code = wire::literal(cause).saturating_sub(wire::LITERAL);
        let len = self.0.len().saturating_add(usize::try_from(bytes).unwrap_or(0));
        self.0.resize(len, code);
    }

    fn at(&self, at: u64) -> u8 {
        usize::try_from(at).ok().and_then(|at| self.0.get(at)).copied().unwrap_or(8)
    }
}

impl Sink for Causes {
    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        let cause = cause_of(leaf);
        let each = wire::type_of(leaf.kind.code).and_then(|ty| Some((ty, u64::from(ty.bits()? / 8))));
        match each.filter(|_| leaf.flags.has(Flags::MANY) && leaf.kind.owner != Kind::COMMON) {
            Some((ty, size)) => {
                for value in head.chunks(usize::try_from(size).unwrap_or(1).max(1)) {
                    let wide = words::width(ty, little_endian(value)).min(len64(value.len()));
                    self.put(cause, len64(value.len()).saturating_sub(wide));
                    self.put(Cause::Width, wide);
                }
                self.put(cause, leaf.len().saturating_sub(len64(head.len())));
            }
            None => {
                let wide = width_of(leaf, head);
                self.put(cause, leaf.len().saturating_sub(wide));
                self.put(Cause::Width, wide);
            }
        }
        Ok(())
    }
}

/// Tells the packed layer.
///
/// # Errors
/// What the sink returns.
pub fn tell(
    input: &[u8],
    unpacked: &Unpacked,
    causes: &Causes,
    extra: Option<Diagnostic>,
    owner: u8,
    out: &mut dyn Sink,
) -> Flow {
    let mut layer = Layer { input, causes, owner, words: out.wants_words(), out, at: 0, group: 0, extra };
    layer.open(GroupKind::Root)?;
    layer.heading(unpacked)?;
    let mut parts = unpacked.parts.iter().copied().peekable();
    while let Some(part) = parts.next() {
        let Part::Tag { at, tag, to } = part else { continue };
        let run = parts.next_if(|part| !matches!(part, Part::Tag { .. }));
        layer.word(at, tag, to, run)?;
    }
    layer.end(unpacked)
}

struct Layer<'a> {
    input: &'a [u8],
    causes: &'a Causes,
    owner: u8,
    words: bool,
    out: &'a mut dyn Sink,
    at: u64,
    group: GroupId,
    extra: Option<Diagnostic>,
}

impl Layer<'_> {
    fn open(&mut self, kind: GroupKind) -> Flow {
        let parent = if self.group == 0 { NO_GROUP } else { 0 };
        let start = self.at;
        self.out.open(&Group { id: self.group, parent, kind, step: Step::None, start, again: false })
    }

    fn heading(&mut self, unpacked: &Unpacked) -> Flow {
        if !self.words {
            return Ok(());
        }
        let text = format!(
            "   -- packed: {} -> {}",
            crate::model::num::bytes(len64(self.input.len())),
            count(len64(unpacked.bytes.len()) / WORD, "word", "words")
        );
        self.out.heading(&Heading { text: &text, from: "", rank: 0 })
    }

    /// A tag, its literal bytes, and the run behind it.
    fn word(&mut self, at: u64, tag: u8, to: u64, run: Option<Part>) -> Flow {
        self.group = self.group.wrapping_add(1).max(1);
        if self.group == NO_GROUP {
            self.group = 1;
        }
        self.open(GroupKind::Value)?;
        let literal = at.saturating_add(1);
        let there = self.bytes(literal, u64::from(tag.count_ones())).to_vec();
        let meaning = if self.words { literal_words(tag, &there) } else { String::new() };
        let field = format!("word {to:#04x}");
        self.leaf(at, literal, wire::PACKED_TAG, &field, &meaning)?;
        let places: Vec<u64> = (0..8u64).filter(|bit| tag >> bit & 1 == 1).map(|bit| to.saturating_add(bit)).collect();
        let len = len64(there.len());
        self.literals(literal, len, |index| {
            places.get(usize::try_from(index).unwrap_or(usize::MAX)).copied().unwrap_or(u64::MAX)
        })?;
        match run {
            Some(Part::Zeros { at, words, .. }) => {
                let text = format!("|{} more zero {}", words, if words == 1 { "word" } else { "words" });
                self.leaf(at, at.saturating_add(1), wire::ZERO_WORDS, "", &text)?;
            }
            Some(Part::Verbatim { at, words, to }) => {
                let text = format!("|{} more {} verbatim", words, if words == 1 { "word" } else { "words" });
                let from = at.saturating_add(1);
                self.leaf(at, from, wire::VERBATIM_WORDS, "", &text)?;
                let len = len64(self.bytes(from, u64::from(words).saturating_mul(WORD)).len());
                self.literals(from, len, |index| to.saturating_add(index))?;
            }
            _ => {}
        }
        let group = self.group;
        self.out.close(group, self.at)
    }

    fn bytes(&self, from: u64, len: u64) -> &[u8] {
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.input.len());
        let to = from.saturating_add(usize::try_from(len).unwrap_or(0)).min(self.input.len());
        self.input.get(from..to).unwrap_or(&[])
    }

    /// Literal bytes, one leaf for each run of the same cause.
    fn literals(&mut self, from: u64, len: u64, place: impl Fn(u64) -> u64) -> Flow {
        let mut start = 0;
        while start < len {
            let cause = self.causes.at(place(start));
            let mut end = start.saturating_add(1);
            while end < len && self.causes.at(place(end)) == cause {
                end = end.saturating_add(1);
            }
            let code = wire::LITERAL.saturating_add(cause);
            self.leaf(from.saturating_add(start), from.saturating_add(end), code, "", "")?;
            start = end;
        }
        Ok(())
    }

    fn leaf(&mut self, start: u64, end: u64, code: u8, field: &str, words: &str) -> Flow {
        if end <= start {
            return Ok(());
        }
        if self.words && !(field.is_empty() && words.is_empty()) {
            self.out.say(&Said { words, field, ..Said::default() })?;
        }
        let mut flags = Flags::NONE;
        if self.extra.as_ref().is_some_and(|found| found.start < end)
            && let Some(found) = self.extra.take()
        {
            self.out.diagnostic(&found)?;
            flags = Flags::ERROR;
        }
        let leaf =
            Leaf { start, end, target: NO_TARGET, group: self.group, kind: Kind { owner: self.owner, code }, flags };
        self.at = end;
        let bytes = self.bytes(start, end.saturating_sub(start)).to_vec();
        self.out.leaf(&leaf, &bytes)
    }

    /// What could not be unpacked, and the findings at the end.
    fn end(&mut self, unpacked: &Unpacked) -> Flow {
        let size = len64(self.input.len());
        self.group = 0;
        if self.at < size {
            let leaf = Leaf::new(self.at, size, 0, Kind::UNREAD);
            let bytes = self.bytes(self.at, size.saturating_sub(self.at)).to_vec();
            let (head, rest) = bytes.split_at_checked(limits::PIECE).unwrap_or((&bytes, &[]));
            if let Some(found) = &unpacked.wrong {
                self.out.diagnostic(found)?;
            }
            self.out.leaf(&leaf, head)?;
            for more in rest.chunks(limits::PIECE) {
                self.out.more(more)?;
            }
        } else if let Some(found) = &unpacked.wrong {
            self.out.diagnostic(found)?;
        }
        self.out.close(0, size)
    }
}

/// How the sizes before and after come about: `249 of the 376 bytes are zero and vanish, ..`; none where something
/// could not be unpacked.
pub fn foot(unpacked: &Unpacked, input: &[u8]) -> Option<String> {
    if unpacked.wrong.is_some() {
        return None;
    }
    let (before, after) = (len64(unpacked.bytes.len()), len64(input.len()));
    let tags = len64(unpacked.parts.iter().filter(|part| matches!(part, Part::Tag { .. })).count());
    let counts = len64(unpacked.parts.len()).saturating_sub(tags);
    let extra = tags.saturating_add(counts);
    let zeros = before.saturating_sub(after.saturating_sub(extra));
    Some(format!(
        "packed: {zeros} of the {before} bytes are zero and vanish, {} and {} come in: {before} - {zeros} + {extra} = \
         {after}",
        count(tags, "tag byte", "tag bytes"),
        count(counts, "count", "counts")
    ))
}

/// `2e in byte 4`, `01 in byte 4, 03 in 6`, `all but byte 7`, `all 8 bytes`.
fn literal_words(tag: u8, there: &[u8]) -> String {
    match tag {
        0 => return "zero word".to_string(),
        0xff => return "all 8 bytes".to_string(),
        _ => {}
    }
    let mut text = String::new();
    if tag.count_ones() > 4 {
        let zeros: Vec<String> = (0..8).filter(|bit| tag >> bit & 1 == 0).map(|bit| bit.to_string()).collect();
        return format!("all but {} {}", if zeros.len() == 1 { "byte" } else { "bytes" }, zeros.join(", "));
    }
    let places = (0..8).filter(|bit| tag >> bit & 1 == 1);
    for (at, (bit, byte)) in places.zip(there).enumerate() {
        match at {
            0 => text.push_str(&format!("{byte:02x} in byte {bit}")),
            _ => text.push_str(&format!(", {byte:02x} in {bit}")),
        }
    }
    text
}
