//! Readings of LEN content in words.

use crate::formats::quoted;
use crate::model::events::Reading;
use crate::model::num;
use crate::model::value::{Scalar, plain_words};

use crate::formats::protobuf::wire::{self, Varint, WireType};

use super::scan::{Field, Fields};
use super::{Guess, weigh};

/// Characters after which a value is cut.
const LONG: usize = 60;
/// Bytes of a text that a value repeats.
const TEXT: usize = 40;
/// Bytes that a value shows in hex.
const HEX: usize = 16;

/// One reading with its value.
pub fn reading(guess: Guess, content: &[u8]) -> Reading {
    let value = match guess {
        Guess::Text => text(content),
        Guess::Message => message(content),
        Guess::Varints => varints(content),
        Guess::Fixed32 => list(content.chunks_exact(4).map(|group| fixed(group, true))),
        Guess::Fixed64 => list(content.chunks_exact(8).map(|group| fixed(group, true))),
        Guess::Bytes => hex(content),
    };
    Reading { kind: guess.name(), value, why: speaks(guess, content) }
}

/// What speaks for a reading, a few words.
fn speaks(guess: Guess, content: &[u8]) -> String {
    match guess {
        Guess::Text => text_is(content),
        Guess::Message => {
            let fields = Fields::new(content, true).count();
            format!(
                "{} to the last byte",
                if fields == 1 { "1 field fits".into() } else { format!("{fields} fields fit") }
            )
        }
        Guess::Varints => {
            let count = varints_in(content).count();
            format!("{count} varints in their shortest form")
        }
        Guess::Fixed32 => format!("{} alike", num::count(num::len64(content.len() / 4), "group of 4", "groups of 4")),
        Guess::Fixed64 => format!("{} alike", num::count(num::len64(content.len() / 8), "group of 8", "groups of 8")),
        Guess::Bytes => String::new(),
    }
}

/// Why a reading was taken, one sentence without a full stop.
pub fn why(best: Guess, content: &[u8], message: Option<weigh::Message>, leaned: bool) -> String {
    if leaned {
        let plural = match best {
            Guess::Text => "texts",
            Guess::Message => "messages",
            Guess::Varints | Guess::Fixed32 | Guess::Fixed64 => "packed runs",
            Guess::Bytes => "bytes",
        };
        return format!("{} wins: earlier values of this field are {plural}", best.name());
    }
    match (best, message) {
        (Guess::Text, _) => format!("text wins: {}", text_is(content)),
        (Guess::Message, Some(seen)) if seen.fields > 1 => {
            let numbers = match seen.lowest == seen.highest {
                true => format!("all with number {}", seen.lowest),
                false => format!("with numbers {} to {}", seen.lowest, seen.highest),
            };
            format!("message wins: {} fields fit to the last byte, {numbers}", seen.fields)
        }
        (Guess::Message, _) => "message wins: tag and value fit to the last byte".to_string(),
        (Guess::Bytes, _) => String::new(),
        _ => format!("{} wins: {}", best.name(), speaks(best, content)),
    }
}

/// `all 11 bytes are letters`
fn text_is(content: &[u8]) -> String {
    let letters = content.iter().all(u8::is_ascii_alphabetic);
    if content.len() == 1 {
        return format!("its one byte is {}", if letters { "a letter" } else { "printable" });
    }
    let count = num::bytes(num::len64(content.len()));
    match () {
        () if letters => format!("all {count} are letters"),
        () if content.iter().all(u8::is_ascii_alphanumeric) => format!("all {count} are letters and digits"),
        () if content.is_ascii() => format!("all {count} are printable"),
        () => format!("all {count} are UTF-8 that is printable"),
    }
}

fn text(content: &[u8]) -> String {
    let shown = content.get(..TEXT).unwrap_or(content);
    if shown.len() == content.len() {
        return quoted(content);
    }
    // A character that the cut would halve is left out.
    let whole = std::str::from_utf8(shown).map_or_else(|error| error.valid_up_to(), str::len);
    let mut out = quoted(shown.get(..whole).unwrap_or(shown));
    out.insert_str(out.len().saturating_sub(1), "...");
    out
}

fn hex(content: &[u8]) -> String {
    let shown: Vec<String> = content.iter().take(HEX).map(|byte| format!("{byte:02x}")).collect();
    format!("{}{}", shown.join(" "), if content.len() > HEX { " ..." } else { "" })
}

/// `{10: 76, 8: 0x50554f5247524559}`
fn message(content: &[u8]) -> String {
    let mut out = String::from("{");
    let mut open = 0usize;
    for field in Fields::new(content, true) {
        let ends = field.wire == WireType::EGroup;
        if !ends && out.len() > 1 && !out.ends_with('{') {
            out.push_str(", ");
        }
        if out.len() > LONG {
            out.push_str("...");
            break;
        }
        match field.wire {
            WireType::EGroup => {
                open = open.saturating_sub(1);
                out.push('}');
            }
            WireType::SGroup => {
                open = open.saturating_add(1);
                out.push_str(&format!("{}: {{", field.number));
            }
            _ => out.push_str(&format!("{}: {}", field.number, value(&field))),
        }
    }
    out.extend(std::iter::repeat_n('}', open.min(LONG)));
    out.push('}');
    out
}

fn value(field: &Field<'_>) -> String {
    match field.wire {
        WireType::Varint => field.value.to_string(),
        WireType::I64 => fixed(&field.value.to_le_bytes(), false),
        WireType::I32 => fixed(&wire::low32(field.value).to_le_bytes(), false),
        _ if weigh::text(field.content, true).is_some_and(|text| text.clean) => text(field.content),
        _ => num::bytes(num::len64(field.content.len())),
    }
}

/// Four or eight bytes: a float where they look like one, else `0x..`, or decimal in a list.
fn fixed(group: &[u8], decimal: bool) -> String {
    let bits = wire::little_endian(group);
    let wide = group.len() == 8;
    let float = if wide { weigh::is_double(bits) } else { weigh::is_float(bits) };
    if float && !group.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        let value =
            if wide { Scalar::F64(f64::from_bits(bits)) } else { Scalar::F32(f32::from_bits(wire::low32(bits))) };
        return plain_words(&value).unwrap_or_default();
    }
    match (decimal, wide) {
        (true, _) => bits.to_string(),
        (false, true) => format!("0x{bits:016x}"),
        (false, false) => format!("0x{bits:08x}"),
    }
}

fn varints_in(content: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut at = 0usize;
    std::iter::from_fn(move || match wire::varint(content.get(at..)?) {
        Varint::Whole(value, len) => {
            at = at.saturating_add(len);
            Some(value)
        }
        _ => None,
    })
}

fn varints(content: &[u8]) -> String {
    list(varints_in(content).map(|value| value.to_string()))
}

/// `[3, 270, 86942]`
fn list(values: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for value in values {
        if out.len() > 1 {
            out.push_str(", ");
        }
        if out.len() > LONG {
            out.push_str("...");
            break;
        }
        out.push_str(&value);
    }
    out.push(']');
    out
}
