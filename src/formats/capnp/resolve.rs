//! One pointer: where it leads, over landing pads, and whether what is there is what is due.

use crate::formats::capnp::faults::{self, Fault, Wrong};
use crate::formats::capnp::message::Segment;
use crate::formats::capnp::wire::{self, ElementSize, Pointer, WORD, pointer};
use crate::model::capnp::{Capnp, Type};
use crate::wire::reader::Bytes;

/// Where a pointer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Offset of its word.
    pub at: u64,
    /// Its segment, counted over all messages.
    pub segment: u32,
}

/// A pointer, with its landing pads behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Where the pointer stands.
    pub from: u64,
    /// The word that describes the object: the pointer itself, or that of its landing pad.
    pub word: u64,
    /// Where that word stands.
    pub word_at: u64,
    /// Where the object begins; meaningless for a null pointer and a capability.
    pub start: Option<u64>,
    /// The segment of the object, and where that begins and ends.
    pub segment: u32,
    bounds: Bounds,
    /// The landing pad: where it stands, its words, and its segment.
    pub pad: Option<(u64, u64, u32)>,
    /// Its offset must be zero and is not.
    pub pad_offset: bool,
}

/// Where a segment begins, ends, and would end if the input were whole.
type Bounds = (u64, u64, u64);

/// What is at the end of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    /// A struct.
    Struct {
        /// Words of its data section.
        data: u16,
        /// Its pointers.
        pointers: u16,
    },
    /// A list.
    List {
        /// How elements are stored.
        size: ElementSize,
        /// Elements.
        count: u32,
    },
    /// A list of structs.
    Structs {
        /// Elements.
        count: u32,
        /// Data words of each.
        data: u16,
        /// Pointers of each.
        pointers: u16,
    },
}

/// An object that is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// What it is.
    pub is: Is,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte; of a list up to the end of its last word.
    pub end: u64,
    /// Words that a reader counts for it.
    pub words: u64,
    /// What is wrong with it, but does not keep readers from taking it: where, and what.
    pub wrong: Option<(u64, Wrong)>,
}

/// Follows a pointer to the word that describes its object. `segments` are those of its message, and the number of
/// the first of them.
///
/// # Errors
/// A landing pad that makes no sense.
pub fn resolve(bytes: Bytes<'_>, (segments, first): (&[Segment], u32), place: Place) -> Result<Found, Fault> {
    let word = bytes.u64(place.at).unwrap_or(0);
    let bounds = |segment: u32| {
        let at = usize::try_from(segment.saturating_sub(first)).ok()?;
        segments.get(at).map(|one| (one.start, one.end, one.due_end()))
    };
    let here = |what| Fault { start: place.at, end: place.at.saturating_add(WORD), what };
    let mut found = Found {
        from: place.at,
        word,
        word_at: place.at,
        start: None,
        segment: place.segment,
        bounds: bounds(place.segment).unwrap_or((0, 0, 0)),
        pad: None,
        pad_offset: false,
    };
    let Pointer::Far { double, place: words, segment } = pointer(word) else {
        found.start = start(word, place.at);
        return Ok(found);
    };
    let count = u32::try_from(segments.len()).unwrap_or(u32::MAX);
    let number = first.saturating_add(segment);
    let Some((from, end, due)) = bounds(number) else { return Err(here(Wrong::NoSegment(segment, count))) };
    let pad = from.saturating_add(u64::from(words).saturating_mul(WORD));
    let size = if double { 2 } else { 1 };
    if pad.saturating_add(size * WORD) > end {
        return Err(here(Wrong::PadOutside(pad, end)));
    }
    found.pad = Some((pad, size, number));
    let there = |at: u64, what| Fault { start: at, end: at.saturating_add(WORD), what };
    let inner = bytes.u64(pad).unwrap_or(0);
    if !double {
        if matches!(pointer(inner), Pointer::Far { .. }) {
            return Err(there(pad, Wrong::PadIsFar));
        }
        (found.word, found.word_at, found.segment, found.bounds) = (inner, pad, number, (from, end, due));
        found.start = start(inner, pad);
        return Ok(found);
    }
    let Pointer::Far { double: false, place: words, segment } = pointer(inner) else {
        return Err(there(pad, Wrong::PadNotFar));
    };
    let number = first.saturating_add(segment);
    let Some((from, end, due)) = bounds(number) else { return Err(there(pad, Wrong::NoSegment(segment, count))) };
    let tag_at = pad.saturating_add(WORD);
    let tag = bytes.u64(tag_at).unwrap_or(0);
    let offset = match pointer(tag) {
        Pointer::Struct { offset, .. } | Pointer::List { offset, .. } => offset,
        Pointer::Null => 0,
        _ => return Err(there(tag_at, Wrong::PadNoObject)),
    };
    (found.word, found.word_at, found.segment, found.bounds) = (tag, tag_at, number, (from, end, due));
    found.start = Some(from.saturating_add(u64::from(words).saturating_mul(WORD)));
    found.pad_offset = offset != 0;
    Ok(found)
}

fn start(word: u64, at: u64) -> Option<u64> {
    match pointer(word) {
        Pointer::Struct { offset, .. } | Pointer::List { offset, .. } => wire::behind(at, offset),
        _ => None,
    }
}

impl Found {
    /// Where a finding on what the pointer leads to stands: at the word that describes it, or at the pointer.
    pub fn fault_at(&self, what: Wrong, place: Place) -> u64 {
        match what {
            Wrong::TagKind | Wrong::TagTooMuch(..) => self.start.unwrap_or(place.at),
            Wrong::NoTerminator(_) => place.at,
            _ => place.at,
        }
    }

    /// How many words in front of the input a pointer leads.
    fn before(&self) -> Wrong {
        let offset = match pointer(self.word) {
            Pointer::Struct { offset, .. } | Pointer::List { offset, .. } => i64::from(offset),
            _ => 0,
        };
        let at = i64::try_from(self.word_at.saturating_sub(self.bounds.0) / WORD).unwrap_or(0);
        Wrong::BeforeSegment(-(at.saturating_add(1).saturating_add(offset)))
    }

    /// Where an object of so many words is, and those that the segment has: all of them, or what was left of a segment
    /// that is cut.
    fn range(&self, words: u64) -> Result<Room, Wrong> {
        let (from, end, due) = self.bounds;
        let start = self.start.filter(|start| *start >= from).ok_or_else(|| self.before())?;
        let there = end.saturating_sub(start) / WORD;
        let mut wrong = None;
        if end < due && start.saturating_add(words.saturating_mul(WORD)) <= due && words > there {
            let lost = Wrong::Lost(words.saturating_sub(there), words);
            if there == 0 {
                return Err(lost);
            }
            wrong = Some((self.from, lost));
        } else if start > end || (start == end && words > 0) {
            return Err(Wrong::PastSegment(start, end));
        } else if words > there {
            return Err(Wrong::TooLong(words, there));
        }
        let there = words.min(there);
        Ok(Room { start, end: start.saturating_add(there.saturating_mul(WORD)), there, wrong })
    }
}

/// The words of an object that are there.
struct Room {
    start: u64,
    end: u64,
    there: u64,
    wrong: Option<(u64, Wrong)>,
}

impl Room {
    /// Elements that are there, of those that are announced.
    fn elements(&self, count: u32, bits: u64) -> u32 {
        let there = self.there.saturating_mul(64).checked_div(bits);
        there.and_then(|there| u32::try_from(there).ok()).map_or(count, |there| there.min(count))
    }
}

/// What a pointer leads to, if it is what is due; none of a type means anything.
///
/// # Errors
/// What is wrong with it.
pub fn check(bytes: Bytes<'_>, found: &Found, ty: Option<Type>, capnp: Option<&Capnp>) -> Result<Target, Wrong> {
    let nothing = Target { is: Is::Struct { data: 0, pointers: 0 }, start: 0, end: 0, words: 0, wrong: None };
    let mut target = match pointer(found.word) {
        Pointer::Null => nothing,
        Pointer::Other => return Err(Wrong::Reserved),
        Pointer::Capability(_) => match ty {
            Some(Type::Struct(_) | Type::AnyStruct) => return Err(Wrong::NoStruct(faults::Is::Capability)),
            Some(Type::List(_) | Type::AnyList | Type::Text | Type::Data) => {
                return Err(Wrong::NoList(faults::Is::Capability));
            }
            _ => nothing,
        },
        // Pads were followed before.
        Pointer::Far { .. } => return Err(Wrong::PadIsFar),
        Pointer::Struct { data, pointers, .. } => {
            match ty {
                Some(Type::List(_) | Type::AnyList | Type::Text | Type::Data) => {
                    return Err(Wrong::NoList(faults::Is::Struct));
                }
                Some(Type::Interface(_) | Type::Capability) => return Err(Wrong::NoCapability(faults::Is::Struct)),
                _ => {}
            }
            let words = u64::from(data).saturating_add(u64::from(pointers));
            let room = found.range(words)?;
            let least = |due: u16, there: u64| u16::try_from(there).map_or(due, |there| there.min(due));
            let data = least(data, room.there);
            let pointers = least(pointers, room.there.saturating_sub(u64::from(data)));
            Target { is: Is::Struct { data, pointers }, start: room.start, end: room.end, words, wrong: room.wrong }
        }
        Pointer::List { size, count, .. } => {
            match ty {
                Some(Type::Struct(_) | Type::AnyStruct) => return Err(Wrong::NoStruct(faults::Is::List(size))),
                Some(Type::Interface(_) | Type::Capability) => {
                    return Err(Wrong::NoCapability(faults::Is::List(size)));
                }
                _ => {}
            }
            list(bytes, found, size, count, ty, capnp)?
        }
    };
    if found.pad_offset && target.wrong.is_none() {
        target.wrong = Some((found.word_at, Wrong::PadOffset));
    }
    Ok(target)
}

fn list(
    bytes: Bytes<'_>,
    found: &Found,
    size: ElementSize,
    count: u32,
    ty: Option<Type>,
    capnp: Option<&Capnp>,
) -> Result<Target, Wrong> {
    let Some(bits) = size.bits() else { return structs(bytes, found, u64::from(count), ty, capnp) };
    let words = u64::from(count).saturating_mul(bits).div_ceil(64);
    let room = found.range(words)?;
    let (start, end) = (room.start, room.end);
    let text = matches!(ty, Some(Type::Text | Type::Data));
    if text && size != ElementSize::Byte {
        return Err(Wrong::Elements(ElementSize::Byte, size));
    }
    if let Some(due) = due(ty, capnp) {
        fits(due, size)?;
    }
    // A list of nothing costs a reader a step for each element all the same.
    let cost = if bits == 0 { u64::from(count) } else { words };
    let mut wrong = room.wrong;
    if ty == Some(Type::Text) && wrong.is_none() {
        let last = start.saturating_add(u64::from(count)).checked_sub(1).and_then(|at| Some((at, bytes.u8(at)?)));
        wrong = match last {
            _ if count == 0 => Some((found.from, Wrong::TextEmpty)),
            Some((at, byte)) if byte != 0 => Some((at, Wrong::NoTerminator(byte))),
            Some((at, _)) => std::str::from_utf8(bytes.clipped(start, at)).err().map(|error| {
                let bad = start.saturating_add(crate::model::num::len64(error.valid_up_to()));
                (bad, Wrong::InvalidUtf8(bad))
            }),
            None => None,
        };
    }
    let count = room.elements(count, bits);
    Ok(Target { is: Is::List { size, count }, start, end, words: cost, wrong })
}

/// A list of structs: a tag, then elements.
fn structs(
    bytes: Bytes<'_>,
    found: &Found,
    words: u64,
    ty: Option<Type>,
    capnp: Option<&Capnp>,
) -> Result<Target, Wrong> {
    let room = found.range(words.saturating_add(1))?;
    let start = room.start;
    if matches!(ty, Some(Type::Text | Type::Data)) {
        return Err(Wrong::Elements(ElementSize::Byte, ElementSize::InlineComposite));
    }
    let (count, data, pointers) = wire::tag(bytes.u64(start).unwrap_or(0)).ok_or(Wrong::TagKind)?;
    let each = u64::from(data).saturating_add(u64::from(pointers));
    let used = u64::from(count).saturating_mul(each);
    if used > words {
        return Err(Wrong::TagTooMuch(used, words));
    }
    match due(ty, capnp) {
        Some(ElementSize::Bit) => return Err(Wrong::Elements(ElementSize::Bit, ElementSize::InlineComposite)),
        Some(ElementSize::Pointer) if pointers == 0 && count > 0 => {
            return Err(Wrong::Elements(ElementSize::Pointer, ElementSize::InlineComposite));
        }
        Some(due)
            if due.bits().is_some_and(|bits| bits > 0) && due != ElementSize::Pointer && data == 0 && count > 0 =>
        {
            return Err(Wrong::Elements(due, ElementSize::InlineComposite));
        }
        _ => {}
    }
    let wrong = room.wrong.or((used < words).then_some((start, Wrong::TagTooLittle(used, words))));
    let (count, end) = match room.there.checked_sub(1) {
        // The element that the end cuts is left out.
        Some(there) if room.wrong.is_some() && each > 0 => {
            let whole = (there / each).min(u64::from(count));
            let end = start.saturating_add(whole.saturating_mul(each).saturating_add(1).saturating_mul(WORD));
            (u32::try_from(whole).unwrap_or(count), end)
        }
        _ => (count, room.end),
    };
    let cost = words.saturating_add(1).saturating_add(if each == 0 { u64::from(count) } else { 0 });
    Ok(Target { is: Is::Structs { count, data, pointers }, start, end, words: cost, wrong })
}

/// How the elements of a list of this type are written.
fn due(ty: Option<Type>, capnp: Option<&Capnp>) -> Option<ElementSize> {
    match ty? {
        Type::List(element) => {
            let element = capnp?.element(element);
            // What a parameter stands for is not known: any pointer.
            Some(ElementSize::of_type(element))
        }
        _ => None,
    }
}

/// Whether elements stored as `size` can be read as `due` (Encoding Spec, "Lists"; the rules of upgrading).
fn fits(due: ElementSize, size: ElementSize) -> Result<(), Wrong> {
    let wrong = Err(Wrong::Elements(due, size));
    let data = |size: ElementSize| if size == ElementSize::Pointer { 0 } else { size.bits().unwrap_or(0) };
    match (due, size) {
        (ElementSize::InlineComposite, ElementSize::Bit) => wrong,
        (ElementSize::InlineComposite, _) | (ElementSize::Void, _) => Ok(()),
        (ElementSize::Bit, ElementSize::Bit) => Ok(()),
        (ElementSize::Bit, _) | (_, ElementSize::Bit) => wrong,
        (ElementSize::Pointer, ElementSize::Pointer) => Ok(()),
        (ElementSize::Pointer, _) => wrong,
        _ if data(size) >= data(due) => Ok(()),
        _ => wrong,
    }
}
