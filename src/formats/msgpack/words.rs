//! How MessagePack leaves are told: their words, values, bits, and the notes of a lesson.

use super::read;
use super::wire::{self, First};
use crate::formats::{Note, Seen, Telling};
use crate::model::bytemap::{Bits, Flags, Leaf};
use crate::model::value::Scalar;
use crate::wire::reader::{big_endian, bytes_of_signed, bytes_of_unsigned};

/// Bytes of a leaf that count as width: what an integer or float spends beyond its shortest form.
pub fn width(leaf: &Leaf, head: &[u8]) -> u64 {
    match leaf.kind.code {
        wire::UINT_VALUE => leaf.len().saturating_sub(bytes_of_unsigned(big_endian(head))),
        wire::INT_VALUE => leaf.len().saturating_sub(bytes_of_signed(read::signed(head))),
        wire::FLOAT64_VALUE => read::float64(head).filter(|value| fits_float32(*value)).map_or(0, |_| 4),
        _ => 0,
    }
}

/// Whether a float32 holds the value exactly; a NaN counts as one that it holds.
fn fits_float32(value: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the cast is the question: does the value survive it")]
    let narrow = value as f32;
    f64::from(narrow) == value || value.is_nan()
}

/// Whether the leaf is a key with head and content, not the head of a container.
fn whole_key(leaf: &Leaf) -> bool {
    let container = matches!(leaf.kind.code, wire::FIXMAP | wire::FIXARRAY | wire::ARRAY16..=wire::MAP32);
    leaf.flags.has(Flags::KEY) && leaf.kind.code <= wire::NEVER_USED && (leaf.len() > 1 || !container)
}

/// Appends what a leaf says, see [`crate::formats::Format::tell`].
pub fn tell(leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
    if whole_key(leaf) {
        if telling == Telling::Alone {
            out.push_str(&key(leaf, head));
        }
        return;
    }
    let text = match telling {
        Telling::Row => in_row(leaf, head),
        Telling::Alone => alone(leaf, head),
    };
    out.push_str(&text);
}

/// A key whole, with the name of its form.
fn key(leaf: &Leaf, head: &[u8]) -> String {
    let name = wire::name(leaf.kind.code);
    match object_value(leaf, head) {
        Some(value) if leaf.len() <= len64(head.len()) => format!("key {}, {name}", read::short(&value)),
        _ => format!("key, {name} of {} bytes", leaf.len()),
    }
}

/// The value of a leaf that is a whole object.
fn object_value<'a>(leaf: &Leaf, head: &'a [u8]) -> Option<Scalar<'a>> {
    let first = wire::first(*head.first()?);
    let content = head.get(usize::try_from(first.head_bytes()).ok()?..)?;
    (first.kind == leaf.kind.code).then(|| read::scalar(first, head, content, 0).0)
}

/// What a leaf adds to the meaning of its field's row: `fixstr` and then `"ytgl"`.
fn in_row(leaf: &Leaf, head: &[u8]) -> String {
    let name = wire::name(leaf.kind.code);
    match leaf.kind.code {
        wire::POSITIVE_FIXINT | wire::NEGATIVE_FIXINT => format!("{name} {}", fixint(head)),
        wire::FIXMAP | wire::FIXARRAY => format!("{name}, {}", counted(leaf.kind.code, low_nibble(head))),
        wire::ELEMENTS | wire::ENTRIES => format!(", {}", counted(leaf.kind.code, big_endian(head))),
        wire::LENGTH => String::new(),
        wire::FIXSTR if fixstr_len(head) == 0 => format!("{name} \"\""),
        wire::EXT_TYPE => format!("type {}", head.first().map_or(0, |byte| byte.cast_signed())),
        wire::BIN_CONTENT | wire::EXT_CONTENT => format!(", {}", bytes(leaf.len())),
        wire::NEVER_USED => "never used".to_string(),
        _ if leaf.kind.code <= wire::MAP32 => name.to_string(),
        _ => content(leaf, head).unwrap_or_else(|| bytes(leaf.len())),
    }
}

/// What a leaf says when it has a row of its own.
fn alone(leaf: &Leaf, head: &[u8]) -> String {
    let name = wire::name(leaf.kind.code);
    match leaf.kind.code {
        wire::LENGTH => bytes(big_endian(head)),
        wire::ELEMENTS | wire::ENTRIES => counted(leaf.kind.code, big_endian(head)),
        wire::FIXSTR => format!("{name}, {}", bytes(fixstr_len(head))),
        wire::NIL | wire::TRUE | wire::FALSE => name.to_string(),
        wire::EXT_TYPE => format!("ext type {}", head.first().map_or(0, |byte| byte.cast_signed())),
        wire::BIN_CONTENT | wire::EXT_CONTENT => bytes(leaf.len()),
        _ => in_row(leaf, head),
    }
}

/// The content of a str, number or timestamp in words; none where it is cut.
fn content(leaf: &Leaf, head: &[u8]) -> Option<String> {
    let cut = leaf.flags.has(Flags::ERROR);
    Some(match leaf.kind.code {
        wire::STR_CONTENT => text(leaf, head),
        _ if cut => return Some(format!("{} of it", bytes(leaf.len()))),
        wire::UINT_VALUE => big_endian(head).to_string(),
        wire::INT_VALUE => read::signed(head).to_string(),
        wire::FLOAT32_VALUE => ryu::Buffer::new().format(read::float32(head)?).to_string(),
        wire::FLOAT64_VALUE => ryu::Buffer::new().format(read::float64(head)?).to_string(),
        wire::TIMESTAMP32 | wire::TIMESTAMP64 | wire::TIMESTAMP96 => time(leaf.kind.code, head)?,
        _ => return None,
    })
}

/// A timestamp as people write it, and its seconds.
fn time(kind: u8, head: &[u8]) -> Option<String> {
    let (secs, nanos) = read::timestamp(head)?;
    let name = wire::name(kind);
    let exact = if nanos == 0 { format!("{secs} s") } else { format!("{secs} s + {nanos} ns") };
    Some(match read::utc(secs, nanos) {
        Some(utc) => format!("{name}: {utc} ({exact})"),
        None => format!("{name}: {exact}, past the years that a date can have"),
    })
}

/// Text in quotes, control characters escaped; of a long one what is held of it.
fn text(leaf: &Leaf, head: &[u8]) -> String {
    let shown = crate::formats::quoted(head);
    if leaf.len() > len64(head.len()) { format!("{shown}.. {} in all", bytes(leaf.len())) } else { shown }
}

fn fixint(head: &[u8]) -> i64 {
    let byte = head.first().copied().unwrap_or(0);
    if byte < 0x80 { i64::from(byte) } else { i64::from(byte.cast_signed()) }
}

fn low_nibble(head: &[u8]) -> u64 {
    head.first().map_or(0, |byte| u64::from(byte & 0x0f))
}

fn fixstr_len(head: &[u8]) -> u64 {
    head.first().map_or(0, |byte| u64::from(byte & 0x1f))
}

/// `4 entries`, `1 element`.
fn counted(kind: u8, count: u64) -> String {
    let map = matches!(kind, wire::FIXMAP | wire::ENTRIES);
    match (map, count) {
        (true, 1) => "1 entry".to_string(),
        (true, _) => format!("{count} entries"),
        (false, 1) => "1 element".to_string(),
        (false, _) => format!("{count} elements"),
    }
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_string() } else { format!("{count} bytes") }
}

/// The value of a leaf as JSON text.
pub fn value(leaf: &Leaf, head: &[u8]) -> Option<String> {
    if leaf.len() > len64(head.len()) || leaf.flags.has(Flags::ERROR) {
        return None;
    }
    if whole_key(leaf) {
        return object_value(leaf, head).as_ref().map(json);
    }
    let number = |value: f64| json(&Scalar::F64(value));
    Some(match leaf.kind.code {
        wire::POSITIVE_FIXINT | wire::NEGATIVE_FIXINT => fixint(head).to_string(),
        wire::NIL => "null".to_string(),
        wire::TRUE => "true".to_string(),
        wire::FALSE => "false".to_string(),
        wire::FIXMAP | wire::FIXARRAY => low_nibble(head).to_string(),
        wire::FIXSTR => fixstr_len(head).to_string(),
        wire::LENGTH | wire::ELEMENTS | wire::ENTRIES | wire::UINT_VALUE => big_endian(head).to_string(),
        wire::EXT_TYPE | wire::INT_VALUE => read::signed(head).to_string(),
        wire::FLOAT32_VALUE => json(&Scalar::F32(read::float32(head)?)),
        wire::FLOAT64_VALUE => number(read::float64(head)?),
        wire::STR_CONTENT => json(&Scalar::Text(head.into())),
        wire::BIN_CONTENT | wire::EXT_CONTENT => json(&Scalar::Bytes(head.into())),
        wire::TIMESTAMP32 | wire::TIMESTAMP64 | wire::TIMESTAMP96 => {
            let (secs, nanos) = read::timestamp(head)?;
            read::utc(secs, nanos).map_or_else(|| format!("[{secs},{nanos}]"), |utc| format!("\"{utc}\""))
        }
        _ => return None,
    })
}

/// A scalar as JSON text; what JSON has no form for as text.
fn json(value: &Scalar<'_>) -> String {
    let float = |value: f64, text: String| {
        if value.is_nan() {
            "\"NaN\"".to_string()
        } else if value.is_infinite() {
            if value > 0.0 { "\"Infinity\"".to_string() } else { "\"-Infinity\"".to_string() }
        } else {
            text
        }
    };
    match value {
        Scalar::Null | Scalar::Missing => "null".to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Uint(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::F32(value) => float(f64::from(*value), ryu::Buffer::new().format(*value).to_string()),
        Scalar::F64(value) => float(*value, ryu::Buffer::new().format(*value).to_string()),
        Scalar::Number(text) => text.to_string(),
        Scalar::Text(text) => crate::formats::json_string(&String::from_utf8_lossy(text)),
        Scalar::Bytes(bytes) => format!("\"{}\"", data_encoding::BASE64.encode(bytes)),
        Scalar::Ext(..) | Scalar::Timestamp(..) => crate::formats::json_string(&read::short(value)),
    }
}

/// The bit fields of a leaf: the parts of its first byte, and the two numbers of a timestamp 64.
pub fn bits(leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
    let byte = u64::from(head.first().copied().unwrap_or(0));
    let split = |lo: u32, mark: &'static str, rest: &'static str| {
        let mask = (1u64 << lo) - 1;
        vec![
            Bits { hi: 7, lo, name: mark, value: byte >> lo },
            Bits { hi: lo - 1, lo: 0, name: rest, value: byte & mask },
        ]
    };
    match leaf.kind.code {
        wire::POSITIVE_FIXINT => split(7, "positive fixint", "value"),
        wire::NEGATIVE_FIXINT => split(5, "negative fixint", "value + 32"),
        wire::FIXMAP => split(4, "fixmap", "entries"),
        wire::FIXARRAY => split(4, "fixarray", "elements"),
        wire::FIXSTR => split(5, "fixstr", "bytes"),
        wire::TIMESTAMP64 if head.len() == 8 => timestamp64_bits(head),
        _ => Vec::new(),
    }
}

/// 30 bits of nanoseconds, then 34 bits of seconds, highest byte first: seven pieces.
fn timestamp64_bits(head: &[u8]) -> Vec<Bits> {
    let mut bits = Vec::new();
    for (index, byte) in (0u32..).zip(head) {
        let (low, value) = (index * 8, u64::from(*byte));
        let whole = |name| Bits { hi: low + 7, lo: low, name, value };
        match index {
            0..=2 => bits.push(whole("nanoseconds")),
            3 => {
                bits.push(Bits { hi: low + 7, lo: low + 2, name: "nanoseconds", value: value >> 2 });
                bits.push(Bits { hi: low + 1, lo: low, name: "seconds", value: value & 3 });
            }
            _ => bits.push(whole("seconds")),
        }
    }
    bits
}

/// Notes on a row, one for each form that it has, key and value of one form together.
pub fn notes(row: &[Seen]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for seen in row {
        let Some(first) = seen.head.first().map(|byte| wire::first(*byte)) else { continue };
        if seen.leaf.kind.code > wire::MAP32 || first.kind != seen.leaf.kind.code {
            continue;
        }
        let Some((id, text)) = note(first, seen, row) else { continue };
        let carets = carets(first, seen, row);
        match notes.iter_mut().find(|note| note.id == id) {
            Some(same) => {
                same.carets.extend(carets);
                if let Some((_, mine)) = text.split_once(":: ") {
                    same.text = format!("{}, {mine}", same.text);
                }
            }
            None => notes.push(Note { id, carets, text: text.replacen(":: ", ": ", 1) }),
        }
    }
    notes
}

/// The bytes a note speaks of: the first byte, and the number behind it.
fn carets(first: First, seen: &Seen, row: &[Seen]) -> Vec<(u64, u64)> {
    let start = seen.leaf.start;
    let mut carets = vec![(start, start.saturating_add(1))];
    let numeric = matches!(first.kind, wire::FLOAT32..=wire::INT64 | wire::ARRAY16..=wire::MAP32);
    if numeric && !seen.leaf.flags.has(Flags::KEY) {
        let behind = row.iter().find(|other| other.leaf.start == start.saturating_add(1));
        carets.extend(behind.map(|other| (other.leaf.start, other.leaf.end)));
    }
    carets
}

/// A note's identity and text; what stands behind `:: ` speaks of this object and joins the text of
/// another object of the same form in the row.
fn note(first: First, seen: &Seen, row: &[Seen]) -> Option<(&'static str, String)> {
    let byte = seen.head.first().copied()?;
    let role = if seen.leaf.flags.has(Flags::KEY) { "the key" } else { "the value" };
    let value = row.iter().find(|other| other.leaf.start == seen.leaf.start.saturating_add(1));
    let number = value.map(|value| &value.head[..]).unwrap_or(&[]);
    let hex: String = number.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(match first.kind {
        wire::FIXMAP | wire::FIXARRAY => {
            let id = if first.kind == wire::FIXMAP { "fixmap" } else { "fixarray" };
            let (high, low) = (byte >> 4, byte & 0x0f);
            (id, format!("{byte:02x} = {high:04b} {low:04b}: {id}, the low four bits hold the count"))
        }
        wire::FIXSTR => {
            let about = "a0..bf = fixstr, the low five bits hold the length";
            ("fixstr", format!("{about}:: {byte:02x} = {} ({role})", bytes(u64::from(byte & 0x1f))))
        }
        wire::POSITIVE_FIXINT => ("positive fixint", "00..7f = positive fixint: the byte is the value".to_string()),
        wire::NEGATIVE_FIXINT => {
            let text = format!("e0..ff = negative fixint: the byte less 256, {byte:02x} = {byte} - 256");
            ("negative fixint", text)
        }
        wire::NIL => ("nil", "c0 = nil, one byte".to_string()),
        wire::FALSE | wire::TRUE => ("bool", "c2 = false, c3 = true, one byte each".to_string()),
        wire::UINT8..=wire::INT64 => integer_note(first, byte, &hex),
        wire::FLOAT32 => ("float32", format!("{byte:02x} = float32: IEEE 754 binary32, highest byte first")),
        wire::FLOAT64 => float_note(byte, number),
        wire::STR8..=wire::STR32 | wire::BIN8..=wire::EXT32 => sized_note(first, byte),
        wire::ARRAY16..=wire::MAP32 => {
            let sizes = first.sizing_bytes();
            (wire::name(first.kind), format!("{byte:02x} = {}: the count in {sizes} bytes, highest first", wire::name(first.kind)))
        }
        wire::FIXEXT1..=wire::FIXEXT16 => fixext_note(first, byte),
        _ => return None,
    })
}

fn integer_note(first: First, byte: u8, hex: &str) -> (&'static str, String) {
    let name = wire::name(first.kind);
    let follow = match first.body {
        wire::Body::Fixed(1) => "one byte follows".to_string(),
        wire::Body::Fixed(count) => format!("{} bytes follow, highest first", number_word(count)),
        _ => String::new(),
    };
    let sign = if (wire::INT8..=wire::INT64).contains(&first.kind) { ", two's complement" } else { "" };
    (name, format!("{byte:02x} = {name}, {follow}{sign}: 0x{hex}"))
}

fn float_note(byte: u8, content: &[u8]) -> (&'static str, String) {
    let base = format!("{byte:02x} = float64: IEEE 754 binary64, highest byte first");
    match read::float64(content) {
        Some(value) if fits_float32(value) => {
            ("float64 as float32", format!("{base}. A float32 holds this value too, in 5 bytes and not 9"))
        }
        _ => ("float64", base),
    }
}

fn sized_note(first: First, byte: u8) -> (&'static str, String) {
    let name = wire::name(first.kind);
    let sizes = first.sizing_bytes();
    let size = if sizes == 1 { "1 byte".to_string() } else { format!("{sizes} bytes, highest first") };
    let ext = if first.is_ext() { ", then the application's type" } else { "" };
    (name, format!("{byte:02x} = {name}: the length in {size}{ext}, then the content"))
}

fn fixext_note(first: First, byte: u8) -> (&'static str, String) {
    let name = wire::name(first.kind);
    let content = match first.body {
        wire::Body::Fixed(count) => bytes(count),
        _ => String::new(),
    };
    let text = format!("{byte:02x} = {name}: one byte of type (-1 is a timestamp, 0..127 the application's own), then {content}");
    (name, text)
}

fn number_word(count: u64) -> &'static str {
    match count {
        2 => "two",
        4 => "four",
        8 => "eight",
        _ => "more",
    }
}


fn len64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
