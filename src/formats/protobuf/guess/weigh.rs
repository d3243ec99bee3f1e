//! How well bytes fit a reading, in points, four to a bit: about how many times likelier the reading makes
//! them than bytes without meaning, as a power of two. What is rare in real messages costs as much as it is
//! rare; what chance rarely makes earns as much.

use crate::formats::protobuf::wire::{self, Varint, WireType};

use super::scan::{Fault, Field, Fields};

/// Bytes of a text that are weighed one by one; the rest counts like them.
const TEXT_LOOK: usize = 512;
/// Fields that are weighed; behind them only their form counts.
const FIELDS_LOOK: usize = 256;
/// Levels of messages inside each other that are weighed.
const LEVELS: u8 = 3;
/// Elements of a packed run that are weighed.
const RUN_LOOK: usize = 512;
/// Field numbers above this one are nearly never given.
const RARE: u32 = 50_000;
/// A number of as many bits as a negative varint of ten bytes counts for.
const NEGATIVE: u64 = 1 << 59;
/// More than this is not counted for one value.
const MOST: i32 = 80;

/// The logarithm of a number to base 2, in quarters; 0 for 0.
pub fn log2(value: u64) -> i32 {
    let Some(whole) = value.checked_ilog2() else { return 0 };
    let next = if whole >= 2 { value >> (whole - 2) & 3 } else { value << (2 - whole) & 3 };
    i32::try_from(whole).unwrap_or(0) * 4 + i32::try_from(next).unwrap_or(0)
}

fn small(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX / 64).min(i32::MAX / 64)
}

/// What a look at bytes as text gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// How well they fit.
    pub points: i32,
    /// No control character but tabs and line ends.
    pub clean: bool,
    /// They are ASCII.
    pub ascii: bool,
}

/// Control characters that texts do not have.
fn is_control(byte: u8) -> bool {
    (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f
}

/// Weighs bytes as text; none if they are no UTF-8. Unless `complete`, the end may cut a character.
pub fn text(bytes: &[u8], complete: bool) -> Option<Text> {
    let sample = bytes.get(..TEXT_LOOK).unwrap_or(bytes);
    let (sample_text, cut) = utf8(sample, complete && sample.len() == bytes.len())?;
    let ascii = sample.is_ascii();
    let points = if ascii { ascii_points(sample) } else { sample_text.chars().map(char_points).sum() };
    // A line end in front is rare in text, and is the tag of field 1.
    let front = match sample.first() {
        Some(b'\n') => 40,
        Some(b'\r' | b'\t') => 20,
        _ => 0,
    };
    let points = points - front - if cut { 4 } else { 0 };
    if points < -64 && bytes.len() > TEXT_LOOK {
        // Text of this kind does not exist; the rest need not be read.
        return Some(Text { points, clean: false, ascii });
    }
    let rest = bytes.get(sample.len()..).unwrap_or(&[]);
    let rest_ascii = rest.is_ascii();
    if !rest_ascii || (cut && !rest.is_empty()) {
        utf8(bytes, complete)?;
    }
    let controls = bytes.iter().filter(|byte| is_control(**byte)).count();
    let scale = small(bytes.len().checked_div(sample.len().max(1)).unwrap_or(1).max(1));
    Some(Text { points: points.saturating_mul(scale), clean: controls == 0, ascii: ascii && rest_ascii })
}

/// The bytes as text, and whether the end cuts a character.
fn utf8(bytes: &[u8], complete: bool) -> Option<(&str, bool)> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text, false)),
        Err(error) if error.error_len().is_none() && !complete => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or(&[]);
            Some((std::str::from_utf8(whole).unwrap_or(""), true))
        }
        Err(_) => None,
    }
}

fn ascii_points(bytes: &[u8]) -> i32 {
    bytes.iter().map(|byte| byte_points(*byte)).sum()
}

fn byte_points(byte: u8) -> i32 {
    match byte {
        b'a'..=b'z' => 13,
        b'A'..=b'Z' | b' ' => 11,
        b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b':' => 10,
        b'!'..=b'~' => 5,
        b'\t' | b'\n' | b'\r' => 4,
        _ => -34,
    }
}

fn char_points(c: char) -> i32 {
    let width = small(c.len_utf8());
    match c {
        '\0'..='\x7f' => u8::try_from(c).map_or(0, byte_points),
        // What editors and terminals put between letters, and signs.
        '\u{a0}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' => 5 * width,
        '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{1f000}'..='\u{1faff}' => 5 * width,
        '\u{fffd}' => 0,
        _ if c.is_alphanumeric() => 9 * width,
        // Combining signs of scripts that need them lie between their letters.
        '\u{900}'..='\u{109f}' => 5 * width,
        _ => -24,
    }
}

/// What a look at bytes as fields gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Message {
    /// How well they fit.
    pub points: i32,
    /// Fields at the top.
    pub fields: usize,
    /// The lowest number.
    pub lowest: u32,
    /// The highest number.
    pub highest: u32,
}

/// Weighs bytes as a message; none if they are none.
pub fn message(bytes: &[u8], complete: bool) -> Option<Message> {
    weigh_message(bytes, complete, LEVELS)
}

fn weigh_message(bytes: &[u8], complete: bool, levels: u8) -> Option<Message> {
    let (seen, fault) = weigh_fields(bytes, complete, levels);
    if fault.is_some() { None } else { Some(seen) }
}

/// Weighs the fields up to the first fault, and tells it.
pub fn up_to_fault(bytes: &[u8], complete: bool) -> (Message, Option<Fault>) {
    weigh_fields(bytes, complete, LEVELS)
}

fn weigh_fields(bytes: &[u8], complete: bool, levels: u8) -> (Message, Option<Fault>) {
    let mut fields = Fields::new(bytes, complete);
    let mut seen = Message { lowest: u32::MAX, ..Message::default() };
    let mut known = Known::default();
    while let Some(field) = fields.next() {
        seen.fields = seen.fields.saturating_add(1);
        (seen.lowest, seen.highest) = (seen.lowest.min(field.number), seen.highest.max(field.number));
        if seen.fields <= FIELDS_LOOK {
            let points = known.tag(&field).saturating_add(value(&field, fields.left(), complete, levels));
            seen.points = seen.points.saturating_add(points);
        } else if !field.minimal {
            seen.points = seen.points.saturating_sub(60);
        }
    }
    (seen, fields.fault)
}

/// Numbers met so far.
#[derive(Default)]
struct Known {
    last: u32,
    /// Wire types of the low numbers.
    wires: [Option<WireType>; 32],
}

impl Known {
    /// Points of a tag: numbers ascend in small steps or repeat, and keep their wire type.
    fn tag(&mut self, field: &Field<'_>) -> i32 {
        let mut points = 32 * small(field.tag_len) - wire_cost(field.wire);
        let known = usize::try_from(field.number).ok().and_then(|number| self.wires.get_mut(number));
        if let Some(known) = known {
            let changes = known.is_some_and(|wire| wire != field.wire) && field.wire != WireType::EGroup;
            points -= if changes { 28 } else { 0 };
            *known = Some(field.wire);
        }
        points -= match field.number.checked_sub(self.last) {
            Some(0) => 6,
            Some(step) => 4 + log2(u64::from(step)) * 3 / 2,
            None if field.wire == WireType::EGroup => 6,
            None => 20 + log2(u64::from(field.number)),
        };
        points -= if field.minimal { 0 } else { 60 };
        self.last = field.number;
        // Numbers that large are nearly never given.
        points.min(if field.number > RARE { -20 } else { MOST })
    }
}

fn wire_cost(wire: WireType) -> i32 {
    match wire {
        WireType::Varint | WireType::Len => 5,
        WireType::I64 | WireType::I32 => 13,
        WireType::SGroup => 28,
        WireType::EGroup => 4,
    }
}

/// Points of what stands behind a tag; `left`: bytes behind the field.
fn value(field: &Field<'_>, left: usize, complete: bool, levels: u8) -> i32 {
    match field.wire {
        WireType::Varint => varint_points(field.value, field.value_len),
        WireType::I64 => fixed64_points(field.value),
        WireType::I32 => fixed32_points(field.value),
        WireType::Len => length_points(field, left) + content_points(field.content, complete || left > 0, levels),
        WireType::SGroup | WireType::EGroup => 0,
    }
}

fn varint_points(value: u64, len: usize) -> i32 {
    match (len, value) {
        (_, 0 | 1) => 16,
        (_, 2..=15) => 8,
        (1, _) => 0,
        (2, _) => -2,
        (3 | 4, _) => 1,
        (5..=8, _) => 8,
        (9, _) => 20,
        // A negative number, of 32 bits or few more.
        _ if value >> 40 == (1 << 24) - 1 => MOST,
        _ => 32,
    }
}

fn fixed64_points(value: u64) -> i32 {
    match value {
        0..0x1_0000_0000 => 64,
        _ if is_double(value) => 16 + round(value, 16),
        0x1_0000_0000..0x000f_ffff_ffff_ffff => 40,
        // Nanoseconds of this century.
        0x0d00_0000_0000_0000..0x3900_0000_0000_0000 => 4,
        _ => -8,
    }
}

fn fixed32_points(value: u64) -> i32 {
    match value {
        0..0x1_0000 => 40,
        _ if is_float(value) => 8 + round(value, 10),
        0x1_0000..0x100_0000 => 20,
        _ => -8,
    }
}

/// Points of a float with few digits: its low bits are zero. Below `from` of them that is chance.
fn round(bits: u64, from: u32) -> i32 {
    let zeros = bits.trailing_zeros();
    if zeros >= from { i32::try_from(zeros).unwrap_or(0) * 3 } else { 0 }
}

/// Whether the bits are a double that people write: its magnitude between 2^-40 and 2^40.
pub fn is_double(bits: u64) -> bool {
    let exponent = bits >> 52 & 0x7ff;
    exponent.abs_diff(1023) <= 40
}

/// Whether the bits are a float that people write: its magnitude between 2^-24 and 2^24.
pub fn is_float(bits: u64) -> bool {
    let exponent = bits >> 23 & 0xff;
    exponent.abs_diff(127) <= 24
}

fn length_points(field: &Field<'_>, left: usize) -> i32 {
    let known = 32 * small(field.value_len);
    if u64::try_from(field.content.len()).is_ok_and(|len| len < field.value) {
        // Cut: that it ends where the message ends cannot be seen.
        return 4;
    }
    let cost = match (field.content.len(), left) {
        (0, _) => 12,
        // It ends where the message ends.
        (_, 0) => 6,
        (length, _) => 4 + log2(u64::try_from(left.saturating_add(length)).unwrap_or(u64::MAX)),
    };
    known - cost
}

/// Points of LEN content inside a message: those of the best reading of it.
fn content_points(content: &[u8], complete: bool, levels: u8) -> i32 {
    if content.is_empty() {
        return 0;
    }
    let text = text(content, complete).filter(|text| text.clean).map_or(-8, |text| text.points);
    if text > 0 && content.first() != Some(&b'\n') {
        return text;
    }
    let inner = if levels > 1 { weigh_message(content, complete, levels - 1) } else { None };
    let points = inner.map_or(text, |inner| text.max(inner.points));
    if points > 0 { points } else { points.max(run_points(content, complete)) }
}

/// Points of the best reading as a packed run, where it has more than one element.
fn run_points(content: &[u8], complete: bool) -> i32 {
    let runs = [varints(content, complete), fixed(content, 4, complete), fixed(content, 8, complete)];
    let several = runs.into_iter().flatten().filter(|run| run.elements > 1);
    several.map(|run| run.points - 16).max().unwrap_or(i32::MIN)
}

/// What a look at bytes as a packed run gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// How well they fit.
    pub points: i32,
    /// Elements.
    pub elements: usize,
}

/// Weighs bytes as varints, one behind the other; none if they are none, or not in their shortest form.
pub fn varints(bytes: &[u8], complete: bool) -> Option<Run> {
    let (mut at, mut elements, mut widest, mut own, mut looked) = (0usize, 0usize, 0i32, 0i32, 0usize);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (value, len) = match wire::varint(rest) {
            Varint::Whole(value, len) => (value, len),
            Varint::Cut(_) if !complete => break,
            _ => return None,
        };
        if len != wire::varint_len(value) {
            return None;
        }
        at = at.saturating_add(len);
        elements = elements.saturating_add(1);
        if elements <= RUN_LOOK {
            // Negative numbers earn what they earn in a message.
            let value = if len == wire::MAX_VARINT { NEGATIVE } else { value };
            let bits = i32::try_from(u64::BITS - value.leading_zeros()).unwrap_or(64).max(1);
            widest = widest.max(bits);
            own = own.saturating_add(bits * 4);
            looked = at;
        }
    }
    let counted = small(elements.min(RUN_LOOK));
    let alike = counted.saturating_mul(widest).saturating_mul(4);
    let apart = own.saturating_add(counted.saturating_mul(log2(u64::try_from(widest).unwrap_or(1)) - 4));
    let header = 8 + log2(u64::try_from(widest).unwrap_or(1));
    let points = 32i32.saturating_mul(small(looked)).saturating_sub(alike.min(apart)).saturating_sub(header);
    Some(Run { points, elements })
}

/// Weighs bytes as groups of `size`, 4 or 8; none if they are none.
pub fn fixed(bytes: &[u8], size: usize, complete: bool) -> Option<Run> {
    let groups = bytes.chunks_exact(size);
    if complete && !groups.remainder().is_empty() {
        return None;
    }
    let elements = groups.len();
    let mut whole = Span::default();
    let mut exponents = Span::default();
    let (mut floats, mut zeros, mut rounds) = (true, 0i32, 0i32);
    for group in groups.take(RUN_LOOK) {
        let bits = wire::little_endian(group);
        whole.take(bits);
        if bits << 1 == 0 || (size == 4 && bits << 33 == 0) {
            zeros += 1;
            continue;
        }
        if is_special(bits, size) {
            (zeros, rounds) = (zeros + 1, rounds + 60);
            continue;
        }
        let (exponent, float) = match size {
            4 => (bits >> 23 & 0xff, is_float(bits)),
            _ => (bits >> 52 & 0x7ff, is_double(bits)),
        };
        floats &= float;
        exponents.take(exponent);
        rounds += round(bits, if size == 8 { 16 } else { 10 });
    }
    let counted = small(elements.min(RUN_LOOK));
    let width = if size == 8 { 64 } else { 32 };
    let integers = counted * whole.shared(width) * 4 - 20;
    let exponent_bits = if size == 8 { 44 } else { 32 };
    let spread = exponents.highest.saturating_sub(exponents.lowest).saturating_add(2);
    let each = exponent_bits - log2(spread);
    let numbers = (counted - zeros) * each + zeros * 8 + rounds - 24;
    let fits = floats && counted > zeros;
    Some(Run { points: if fits { integers.max(numbers) } else { integers }, elements })
}

/// An infinity, or the common NaN.
fn is_special(bits: u64, size: usize) -> bool {
    let (magnitude, infinity, nan) = match size {
        4 => (bits & 0x7fff_ffff, 0x7f80_0000, 0x7fc0_0000),
        _ => (bits & (u64::MAX >> 1), 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
    };
    magnitude == infinity || magnitude == nan
}

/// The range of some numbers.
struct Span {
    lowest: u64,
    highest: u64,
    any: bool,
}

impl Default for Span {
    fn default() -> Span {
        Span { lowest: u64::MAX, highest: 0, any: false }
    }
}

impl Span {
    fn take(&mut self, value: u64) {
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
        self.any = true;
    }

    /// Of the high bits of numbers of this width, how many each of them could do without: they are zero, or
    /// the same in all.
    fn shared(&self, width: u32) -> i32 {
        if !self.any {
            return 0;
        }
        let used = u64::BITS - self.highest.leading_zeros();
        i32::try_from(width.saturating_sub(used)).unwrap_or(0)
    }
}
