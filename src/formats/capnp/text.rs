//! A message in the words of the schema language, `(name = "x", tags = [1, 2])`, as `capnp convert json:text` writes
//! it.

use crate::formats::capnp::builder::{Arena, Object};
use crate::formats::capnp::wire::ElementSize;
use crate::model::capnp::{Capnp, Field, FieldKind, Slot, Struct, Type, Value};
use crate::model::schema::MessageId;

/// Bytes of an item that stands on one line with others.
const INLINE_VALUE: usize = 24;
/// Bytes of all items of a struct that stand on one line.
const INLINE_STRUCT: usize = 64;
/// Structs and lists within each other that are written; groups count. The writer takes no more.
const DEEPEST: usize = 256;

/// A message as text, without a line end.
pub fn message(capnp: &Capnp, arena: &mut Arena, root: usize, id: MessageId) -> String {
    let mut printer = Printer { capnp, arena };
    printer.record(root, id, 1, true)
}

struct Printer<'a> {
    capnp: &'a Capnp,
    arena: &'a mut Arena,
}

impl Printer<'_> {
    /// A struct or group in parentheses. `level` says how far lines in it are set in, `own_line` that it begins one.
    fn record(&mut self, at: usize, id: MessageId, level: usize, own_line: bool) -> String {
        let Some(record) = self.capnp.record(id).filter(|_| level < DEEPEST) else { return "()".to_string() };
        let set = self.set_member(at, record);
        let mut items = Vec::new();
        for (position, field) in record.fields.iter().enumerate() {
            let is_set = set == Some(position);
            if field.tag.is_some() && !is_set {
                continue;
            }
            if let Some(value) = self.field(at, field, is_set, level) {
                items.push(format!("{} = {value}", field.name));
            }
        }
        let total: usize = items.iter().map(String::len).sum();
        format!("({})", delimited(&items, level, own_line, total <= INLINE_STRUCT))
    }

    /// Position of the member of the union that is set; none of one that is not told, since it is the first and null.
    fn set_member(&self, at: usize, record: &Struct) -> Option<usize> {
        let number = self.arena.bits(at, u64::from(record.tag?).saturating_mul(16), 16);
        let position = record.fields.iter().position(|field| field.tag.is_some_and(|tag| u64::from(tag) == number))?;
        match record.fields.get(position).map(|field| &field.kind) {
            Some(FieldKind::Slot(slot)) if number == 0 && slot.ty.is_pointer() => {
                (self.arena.pointer(at, slot.offset) != 0).then_some(position)
            }
            _ => Some(position),
        }
    }

    fn field(&mut self, at: usize, field: &Field, is_set: bool, level: usize) -> Option<String> {
        let level = level.saturating_add(1);
        match &field.kind {
            FieldKind::Group(group) => Some(self.record(at, *group, level, false)),
            FieldKind::Slot(slot) if slot.ty.is_pointer() => {
                let place = match self.arena.pointer(at, slot.offset) {
                    0 if !is_set => return None,
                    0 => self.default(slot),
                    place => place,
                };
                Some(self.object(place, slot.ty, level, false))
            }
            FieldKind::Slot(slot) => {
                let width = slot.ty.bits().unwrap_or(0);
                let from = u64::from(slot.offset).saturating_mul(u64::from(width));
                let bits = self.arena.bits(at, from, width) ^ slot.default.mask();
                Some(self.scalar(slot.ty, bits))
            }
        }
    }

    /// What a null pointer stands for, as an object.
    fn default(&mut self, slot: &Slot) -> usize {
        let place = match (&slot.default, slot.ty) {
            (Value::Text(text), _) => self.arena.add_text(text.as_bytes()),
            (Value::Data(bytes), _) => {
                self.arena.add_list(ElementSize::Byte, crate::model::num::len64(bytes.len()), bytes)
            }
            (_, Type::Text) => self.arena.add_text(b""),
            (_, Type::Struct(id)) => {
                let sizes = self.capnp.record(id).map_or((0, 0), |record| (record.data_words, record.pointers));
                Some(self.arena.add_struct(sizes.0, sizes.1))
            }
            _ => self.arena.add_list(ElementSize::Void, 0, &[]),
        };
        place.unwrap_or(0)
    }

    fn object(&mut self, place: usize, ty: Type, level: usize, own_line: bool) -> String {
        match ty {
            Type::Text => {
                let bytes = self.bytes(place);
                quoted(bytes.strip_suffix(&[0]).unwrap_or(&bytes), true)
            }
            Type::Data => quoted(&self.bytes(place), false),
            Type::List(of) => self.list(place, self.capnp.element(of), level, own_line),
            Type::Struct(id) => self.record(place, id, level, own_line),
            Type::Interface(_) | Type::Capability => "<external capability>".to_string(),
            _ => "<opaque pointer>".to_string(),
        }
    }

    /// The elements of a list of bytes.
    fn bytes(&self, place: usize) -> Vec<u8> {
        let Object::List { count, .. } = self.arena.object(place) else { return Vec::new() };
        let mut bytes: Vec<u8> = self.arena.elements(place).iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(usize::try_from(count).unwrap_or(0));
        bytes
    }

    fn list(&mut self, place: usize, of: Type, level: usize, own_line: bool) -> String {
        let count = match self.arena.object(place) {
            Object::List { count, .. } | Object::Structs { count, .. } => count,
            Object::Struct { .. } => 0,
        };
        let next = level.saturating_add(1);
        let items: Vec<String> = if of.is_pointer() && level < DEEPEST {
            let places = self.arena.elements(place).to_vec();
            let places = places.into_iter().map(|place| usize::try_from(place).unwrap_or(0));
            places.map(|place| self.object(place, of, next, true)).collect()
        } else {
            (0..count).map(|index| self.scalar(of, self.element(place, of, index))).collect()
        };
        format!("[{}]", delimited(&items, level, own_line, true))
    }

    /// The bits of an element that is stored in place.
    fn element(&self, place: usize, of: Type, index: u64) -> u64 {
        let width = of.bits().unwrap_or(0);
        let from = index.saturating_mul(u64::from(width));
        let word = usize::try_from(from / 64).ok().and_then(|at| self.arena.elements(place).get(at)).copied();
        let mask = u64::MAX.checked_shr(64u32.saturating_sub(width)).unwrap_or(0);
        word.unwrap_or(0) >> (from % 64) & mask
    }

    fn scalar(&self, ty: Type, bits: u64) -> String {
        let low = u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
        match ty {
            Type::Void => "void".to_string(),
            Type::Bool => (bits & 1 == 1).to_string(),
            Type::Int8 => u8::try_from(bits & 0xff).unwrap_or(0).cast_signed().to_string(),
            Type::Int16 => u16::try_from(bits & 0xffff).unwrap_or(0).cast_signed().to_string(),
            Type::Int32 => low.cast_signed().to_string(),
            Type::Int64 => bits.cast_signed().to_string(),
            Type::Float32 => float32(f32::from_bits(low)),
            Type::Float64 => float64(f64::from_bits(bits)),
            Type::Enum(id) => {
                let name = u16::try_from(bits).ok().and_then(|number| self.capnp.enumeration(id)?.name_of(number));
                name.map_or_else(|| format!("({bits})"), str::to_string)
            }
            _ => bits.to_string(),
        }
    }
}

/// Items on one line where all are short, else a line each. What does not begin a line itself goes on on the next.
fn delimited(items: &[String], level: usize, own_line: bool, may: bool) -> String {
    if may && items.iter().all(|item| item.len() <= INLINE_VALUE && !item.contains('\n')) {
        return items.join(", ");
    }
    let line = format!("\n{}", "  ".repeat(level));
    let first = if own_line { " " } else { &line };
    format!("{first}{} ", items.join(&format!(",{line}")))
}

/// Bytes in quotes, escaped as in C; characters beyond ASCII stay in a text.
fn quoted(bytes: &[u8], is_text: bool) -> String {
    let mut text = vec![b'"'];
    for byte in bytes {
        match byte {
            0x07 => text.extend(b"\\a"),
            0x08 => text.extend(b"\\b"),
            0x0c => text.extend(b"\\f"),
            b'\n' => text.extend(b"\\n"),
            b'\r' => text.extend(b"\\r"),
            b'\t' => text.extend(b"\\t"),
            0x0b => text.extend(b"\\v"),
            b'\'' => text.extend(b"\\'"),
            b'"' => text.extend(b"\\\""),
            b'\\' => text.extend(b"\\\\"),
            0..0x20 | 0x7f => text.extend(format!("\\{byte:03o}").bytes()),
            0x80.. if !is_text => text.extend(format!("\\{byte:03o}").bytes()),
            byte => text.push(*byte),
        }
    }
    text.push(b'"');
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A float64 with 15 digits, or with 17 where it needs more.
fn float64(value: f64) -> String {
    let short = general(value, 15);
    if short.parse() == Ok(value) || !value.is_finite() { short } else { general(value, 17) }
}

/// A float32 with 6 digits, or with 8.
fn float32(value: f32) -> String {
    let short = general(f64::from(value), 6);
    if short.parse() == Ok(value) || !value.is_finite() { short } else { general(f64::from(value), 8) }
}

/// As `%.*g` in C, without the plus of an exponent.
fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if (-4..limit).contains(&exponent) {
        let behind = usize::try_from(limit.saturating_sub(1).saturating_sub(exponent)).unwrap_or(0);
        return trimmed(&format!("{value:.behind$}")).to_string();
    }
    let sign = if exponent < 0 { "-" } else { "" };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
}

/// A decimal without zeros behind its end.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_the_reference_writes_them() {
        let known = [
            (5e-324, "4.94065645841247e-324"),
            (1e-7, "1e-07"),
            (0.1, "0.1"),
            (1e15, "1e15"),
            (1e20, "1e20"),
            (123_456_789_012_345_680.0, "1.2345678901234568e17"),
            (-0.0, "-0"),
            (123_456_789.125, "123456789.125"),
            (0.0001, "0.0001"),
        ];
        for (value, text) in known {
            assert_eq!(float64(value), text);
        }
        let narrow = [(8_589_973_504.0, "8.5899735e09"), (1e6, "1e06"), (0.006, "0.006"), (100_000.0, "100000")];
        for (value, text) in narrow {
            assert_eq!(float32(value), text);
        }
    }

    #[test]
    fn items_that_are_long_get_a_line_each() {
        let items = ["a = 1".to_string(), format!("b = {}", "x".repeat(30))];
        assert_eq!(delimited(&items[..1], 2, false, true), "a = 1");
        assert_eq!(delimited(&items, 2, true, true), format!(" a = 1,\n    {} ", items[1]));
        assert_eq!(delimited(&items, 2, false, true), format!("\n    a = 1,\n    {} ", items[1]));
    }
}
