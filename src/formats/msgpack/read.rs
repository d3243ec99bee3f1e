//! What the bytes of one object say: its value, and what is odd about how it is written.

use std::borrow::Cow;

use super::wire::{self, First};
use crate::model::bytemap::Flags;
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::limits;
use crate::model::num::len64;
use crate::model::value::{Long, Scalar, plain_words, utc};
use crate::wire::reader::big_endian;

/// The value of an object that is held whole, and findings on it. `all` is the object from its first
/// byte, `content` what follows its head, `at` its offset.
pub fn scalar<'a>(first: First, all: &[u8], content: &'a [u8], at: u64) -> (Scalar<'a>, Vec<Diagnostic>) {
    let byte = all.first().copied().unwrap_or(0);
    let mut found = Vec::new();
    let value = match first.kind {
        wire::NIL => Scalar::Null,
        wire::FALSE => Scalar::Bool(false),
        wire::TRUE => Scalar::Bool(true),
        wire::FLOAT32 => float32(content).map_or(Scalar::Missing, Scalar::F32),
        wire::FLOAT64 => float64(content).map_or(Scalar::Missing, Scalar::F64),
        wire::POSITIVE_FIXINT => Scalar::Uint(u64::from(byte)),
        wire::NEGATIVE_FIXINT => Scalar::Int(i64::from(byte.cast_signed())),
        wire::UINT8..=wire::UINT64 => Scalar::Uint(big_endian(content)),
        wire::INT8..=wire::INT64 => Scalar::Int(signed(content)),
        wire::BIN8..=wire::BIN32 => Scalar::Bytes(Cow::Borrowed(content)),
        _ if first.is_str() => Scalar::Text(Cow::Borrowed(content)),
        _ if first.is_ext() => {
            let kind = ext_type(first, all).unwrap_or(0);
            return ext(first, kind, content, at);
        }
        _ => Scalar::Missing,
    };
    match &value {
        Scalar::Uint(value) => found.extend(long_int(first.kind, i128::from(*value), at)),
        Scalar::Int(value) => found.extend(long_int(first.kind, i128::from(*value), at)),
        Scalar::Text(text) => {
            found.extend(long_head(first.kind, len64(text.len()), at));
            let begin = at.saturating_add(first.head_bytes());
            found.extend(bad_text(text, begin, all));
        }
        Scalar::Bytes(bytes) => found.extend(long_head(first.kind, len64(bytes.len()), at)),
        _ => {}
    }
    (value, found)
}

/// An ext object: a timestamp by the specification, or bytes of the application's own type.
fn ext<'a>(first: First, kind: i8, content: &'a [u8], at: u64) -> (Scalar<'a>, Vec<Diagnostic>) {
    let raw = Scalar::Ext(kind, Cow::Borrowed(content));
    let begin = at.saturating_add(first.head_bytes());
    let end = begin.saturating_add(len64(content.len()));
    if kind != wire::TIMESTAMP_TYPE {
        return (raw, long_head(first.kind, len64(content.len()), at).into_iter().collect());
    }
    let Some((secs, nanos)) = timestamp(content) else {
        let message = format!("ext type -1 is a timestamp of 4, 8 or 12 bytes, this one has {}", content.len());
        let help = "a type of an application's own is 0 to 127";
        return (raw, vec![Diagnostic::new(Code::MpTimestampLength, at, end.max(at + 1), message).help(help)]);
    };
    if nanos > wire::NANOS_MAX {
        let message = format!("a timestamp with {nanos} nanoseconds; a second has 999999999 at most");
        return (raw, vec![Diagnostic::new(Code::MpTimestampNanos, begin, end, message)]);
    }
    let shortest = shortest_timestamp(secs, nanos);
    let mut found = Vec::new();
    if shortest < len64(content.len()) {
        let takes = first.head_bytes().saturating_add(len64(content.len()));
        let message = format!(
            "timestamp {} takes {takes} bytes, timestamp {} would take {}",
            content.len().saturating_mul(8),
            shortest.saturating_mul(8),
            shortest.saturating_add(2)
        );
        found.push(Diagnostic::new(Code::MpNonMinimal, at, end, message));
    } else {
        found.extend(long_head(first.kind, len64(content.len()), at));
    }
    (Scalar::Timestamp(secs, nanos), found)
}

/// Seconds and nanoseconds of a timestamp of 4, 8 or 12 bytes ("Timestamp extension type").
pub fn timestamp(content: &[u8]) -> Option<(i64, u32)> {
    match content.len() {
        4 => Some((i64::try_from(big_endian(content)).ok()?, 0)),
        8 => {
            let both = big_endian(content);
            let nanos = u32::try_from(both >> 34).ok()?;
            Some((i64::try_from(both & 0x3_ffff_ffff).ok()?, nanos))
        }
        12 => {
            let (nanos, secs) = content.split_at_checked(4)?;
            Some((signed(secs), u32::try_from(big_endian(nanos)).ok()?))
        }
        _ => None,
    }
}

/// Content bytes of the shortest timestamp.
pub fn shortest_timestamp(secs: i64, nanos: u32) -> u64 {
    match secs {
        0..=0xffff_ffff if nanos == 0 => 4,
        0..=0x3_ffff_ffff => 8,
        _ => 12,
    }
}

/// A binary32, highest byte first.
pub fn float32(content: &[u8]) -> Option<f32> {
    content.try_into().ok().map(f32::from_be_bytes)
}

/// A binary64, highest byte first.
pub fn float64(content: &[u8]) -> Option<f64> {
    content.try_into().ok().map(f64::from_be_bytes)
}

/// Two's complement of up to 8 bytes, highest first.
pub fn signed(content: &[u8]) -> i64 {
    let bits = u32::try_from(content.len().min(8)).unwrap_or(8).saturating_mul(8);
    let shift = 64u32.saturating_sub(bits);
    if shift >= 64 { 0 } else { (big_endian(content) << shift).cast_signed() >> shift }
}

/// The application type of an ext object, from its head.
pub fn ext_type(first: First, head: &[u8]) -> Option<i8> {
    let at = usize::try_from(first.head_bytes().checked_sub(1)?).ok()?;
    head.get(at).map(|byte| byte.cast_signed())
}

/// The kind of an object's content, from its head.
pub fn content_kind(first: First, head: &[u8]) -> u8 {
    match first.kind {
        wire::FLOAT32 => wire::FLOAT32_VALUE,
        wire::FLOAT64 => wire::FLOAT64_VALUE,
        wire::UINT8..=wire::UINT64 => wire::UINT_VALUE,
        wire::INT8..=wire::INT64 => wire::INT_VALUE,
        wire::BIN8..=wire::BIN32 => wire::BIN_CONTENT,
        _ if first.is_ext() && ext_type(first, head) == Some(wire::TIMESTAMP_TYPE) => match first.content_len(head) {
            4 => wire::TIMESTAMP32,
            8 => wire::TIMESTAMP64,
            12 => wire::TIMESTAMP96,
            _ => wire::EXT_CONTENT,
        },
        _ if first.is_ext() => wire::EXT_CONTENT,
        _ => wire::STR_CONTENT,
    }
}

/// What content sent in pieces is.
pub fn long_of(first: First, head: &[u8]) -> Long {
    if first.is_ext() {
        Long::Ext(ext_type(first, head).unwrap_or(0))
    } else if first.is_str() {
        Long::Text
    } else {
        Long::Bytes
    }
}

/// An integer in a longer form than it needs.
fn long_int(kind: u8, value: i128, at: u64) -> Option<Diagnostic> {
    let shortest = wire::shortest_int(value)?;
    let (takes, would) = (wire::int_bytes(kind), wire::int_bytes(shortest));
    if would >= takes {
        return None;
    }
    let message =
        format!("{value} as {} takes {takes} bytes, {} would take {would}", wire::name(kind), wire::name(shortest));
    Some(Diagnostic::new(Code::MpNonMinimal, at, at.saturating_add(takes), message))
}

/// A length or count in a longer head than it needs.
pub fn long_head(kind: u8, size: u64, at: u64) -> Option<Diagnostic> {
    let shortest = wire::shortest_head(kind, size);
    let (takes, would) = (wire::head_bytes(kind), wire::head_bytes(shortest));
    if would >= takes {
        return None;
    }
    let message = format!(
        "the head of this {} takes {takes} bytes; for {size} {} would do, which takes {would}",
        wire::name(kind),
        wire::article(shortest)
    );
    Some(Diagnostic::new(Code::MpNonMinimal, at, at.saturating_add(takes), message))
}

/// Text that is not UTF-8, with the likeliest reason.
fn bad_text(text: &[u8], begin: u64, all: &[u8]) -> Option<Diagnostic> {
    let error = std::str::from_utf8(text).err()?;
    let bad_at = error.valid_up_to();
    let mut found = not_utf8(begin, begin.saturating_add(len64(bad_at)), begin.saturating_add(len64(text.len())));
    let bad = text.get(bad_at..).unwrap_or(&[]);
    let good = text.get(..bad_at).and_then(|good| std::str::from_utf8(good).ok()).unwrap_or("");
    if let Some(hint) = surrogates(bad) {
        found.help = hint;
    } else if bad_at > 0 && bad.first().is_some_and(|byte| (0x80..=0xbf).contains(byte)) {
        let announced = text.len();
        let first = all.first().copied().unwrap_or(0);
        found.help = format!(
            "the text {good:?} is followed by what looks like the next object; its head {first:02x} announces \
             {announced} bytes: was the text edited without its length?"
        );
    }
    Some(found)
}

/// Surrogates written in three bytes each (CESU-8), which UTF-8 forbids.
fn surrogates(bad: &[u8]) -> Option<String> {
    let unit = |bytes: &[u8]| match bytes {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
            Some(0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(third & 0x3f))
        }
        _ => None,
    };
    let high = unit(bad)?;
    let low = bad.get(3..).and_then(unit);
    let whole = low
        .filter(|low| (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(low))
        .and_then(|low| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
    Some(match (whole, low) {
        (Some(whole), Some(low)) => {
            let mut buffer = [0u8; 4];
            let right: Vec<String> = whole.encode_utf8(&mut buffer).bytes().map(|byte| format!("{byte:02x}")).collect();
            format!(
                "the surrogate pair {high:04X} {low:04X}, three bytes each; U+{:04X} in UTF-8 is {}",
                u32::from(whole),
                right.join(" ")
            )
        }
        _ => format!("the surrogate {high:04X}, which has no place in UTF-8"),
    })
}

/// A str whose bytes from `bad` on are not UTF-8.
pub fn not_utf8(begin: u64, bad: u64, end: u64) -> Diagnostic {
    let message = format!(
        "a str that is not UTF-8 from {bad:#04x} on, byte {} of its text",
        bad.saturating_sub(begin).saturating_add(1)
    );
    let help = "some readers refuse it; bytes that are no text belong into a bin";
    Diagnostic::new(Code::MpInvalidUtf8, bad, end, message).help(help)
}

/// The flags that findings put on their leaf.
pub fn flags(found: &[Diagnostic]) -> Flags {
    match found.iter().map(Diagnostic::severity).max() {
        Some(Severity::Error) => Flags::ERROR,
        Some(Severity::Warning) => Flags::WARNING,
        Some(Severity::Note) | None => Flags::NONE,
    }
}

/// The text of a key for a path, from the object's bytes; cut to what a path repeats.
pub fn key_name(first: First, all: &[u8]) -> String {
    let content = usize::try_from(first.head_bytes()).ok().and_then(|head| all.get(head..)).unwrap_or(&[]);
    if first.is_str() {
        let text = cut(&String::from_utf8_lossy(content));
        // In quotes where it would read like the key of another type: 19 and "19" may stand side by side.
        let like_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '"' | '@'));
        let like_number = like_number || text.starts_with("bin ") || text.starts_with("ext ");
        return if like_number { format!("{text:?}") } else { text };
    }
    cut(&short(&scalar(first, all, content, 0).0))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(limits::PATH_NAME) {
        Some((at, _)) => format!("{}..", text.get(..at).unwrap_or("")),
        None => text.to_string(),
    }
}

/// A value in few characters, for keys in sentences and paths.
pub fn short(value: &Scalar<'_>) -> String {
    let hex = |bytes: &[u8]| {
        let shown: String = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        if bytes.len() > 8 { format!("{shown}..") } else { shown }
    };
    match value {
        Scalar::Null => "nil".to_string(),
        Scalar::Missing => "(missing)".to_string(),
        Scalar::Text(text) => format!("{:?}", cut(&String::from_utf8_lossy(text))),
        Scalar::Bytes(bytes) => format!("bin {}", hex(bytes)),
        Scalar::Ext(kind, bytes) => format!("ext {kind} {}", hex(bytes)),
        Scalar::Timestamp(secs, nanos) => utc(*secs, *nanos).unwrap_or_else(|| format!("{secs} s")),
        plain => plain_words(plain).unwrap_or_default(),
    }
}
