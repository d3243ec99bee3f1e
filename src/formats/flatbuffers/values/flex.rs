//! FlexBuffers (documentation, "FlexBuffers"): values that describe themselves, written back to front.
//!
//! ```text
//! file     values ... root value, its packed type u8, its width in bytes u8
//! packed type   type << 2 | width: 0 is 1 byte, 1 is 2, 2 is 4, 3 is 8
//! offset   backwards from where it stands             string, blob   length, bytes (text has a NUL behind it)
//! vector   length, elements, a packed type for each   typed vector   length, elements
//! map      offset of the vector of keys, its width, then a vector of the values
//! ```

use std::borrow::Cow;

use crate::model::events::{Flow, Sink, Stop};
use crate::model::value::{Event, Scalar, Shape};
use crate::wire::reader::{Bytes, little_endian, little_endian_signed};

/// What a value is: the numbers of `FBT_` in flexbuffers.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Int,
    Uint,
    Float,
    Key,
    Text,
    Bool,
    Blob,
    /// A number behind an offset.
    Indirect(Number),
    Map,
    Vector,
    /// A vector of one type, its length in front.
    Typed(Element),
    /// So many elements of one type, without length.
    Fixed(Element, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Int,
    Uint,
    Float,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Number(Number),
    Key,
    Text,
    Bool,
}

impl Kind {
    fn of(number: u8) -> Option<Kind> {
        const NUMBERS: [Number; 3] = [Number::Int, Number::Uint, Number::Float];
        let numbered = |from: u8| NUMBERS.get(usize::from(number.saturating_sub(from) % 3)).copied();
        Some(match number {
            0 => Kind::Null,
            1 => Kind::Int,
            2 => Kind::Uint,
            3 => Kind::Float,
            4 => Kind::Key,
            5 => Kind::Text,
            6..=8 => Kind::Indirect(numbered(6)?),
            9 => Kind::Map,
            10 => Kind::Vector,
            11..=13 => Kind::Typed(Element::Number(numbered(11)?)),
            14 => Kind::Typed(Element::Key),
            15 => Kind::Typed(Element::Text),
            16..=24 => Kind::Fixed(Element::Number(numbered(16)?), u64::from(number.saturating_sub(16) / 3 + 2)),
            25 => Kind::Blob,
            26 => Kind::Bool,
            36 => Kind::Typed(Element::Bool),
            _ => return None,
        })
    }
}

impl Element {
    fn kind(self) -> Kind {
        match self {
            Element::Number(Number::Int) => Kind::Int,
            Element::Number(Number::Uint) => Kind::Uint,
            Element::Number(Number::Float) => Kind::Float,
            Element::Key => Kind::Key,
            Element::Text => Kind::Text,
            Element::Bool => Kind::Bool,
        }
    }
}

/// A value: where it stands, the width of that place, and what its packed type says.
#[derive(Debug, Clone, Copy)]
struct Item {
    at: u64,
    place: u64,
    kind: Kind,
    width: u64,
}

impl Item {
    fn new(at: u64, place: u64, packed: u8) -> Option<Item> {
        Some(Item { at, place, kind: Kind::of(packed >> 2)?, width: 1 << (packed & 3) })
    }
}

/// Elements that are being sent.
#[derive(Debug, Clone, Copy)]
struct Row {
    at: u64,
    width: u64,
    next: u64,
    count: u64,
    /// The type of all, or none where each has its own behind the elements.
    element: Option<Element>,
    /// Of a map, where its keys begin and how wide their offsets are.
    keys: Option<(u64, u64)>,
}

/// A FlexBuffer whose root is there.
pub struct Reader<'a> {
    bytes: Bytes<'a>,
    root: Item,
}

impl<'a> Reader<'a> {
    /// None where the last two bytes, or what they speak of, are no root.
    pub fn new(bytes: Bytes<'a>) -> Option<Reader<'a>> {
        let end = bytes.len();
        let place = u64::from(bytes.u8(end.checked_sub(1)?)?);
        let packed = bytes.u8(end.checked_sub(2)?)?;
        let at = end.checked_sub(2)?.checked_sub(place)?;
        let reader = Reader { bytes, root: Item::new(at, place, packed)? };
        // A root that is not there makes the bytes something else.
        let there = matches!(place, 1 | 2 | 4 | 8)
            && (reader.row(reader.root).is_some() || reader.scalar(reader.root).is_some());
        there.then_some(reader)
    }

    /// Sends the value, up to `most` values and `depth` containers; returns how much that was, and whether it was
    /// all.
    pub fn send(&self, most: u64, depth: usize, out: &mut dyn Sink) -> Result<(u64, bool), Stop> {
        let (mut rows, mut spent, mut whole) = (Vec::new(), 0u64, true);
        self.item(self.root, &mut rows, depth, &mut whole, out)?;
        while let Some(row) = rows.last_mut() {
            if row.next >= row.count || spent >= most {
                whole &= row.next >= row.count;
                rows.pop();
                out.value(Event::End)?;
                continue;
            }
            let now = *row;
            row.next = row.next.saturating_add(1);
            spent = spent.saturating_add(1);
            if let Some((keys, width)) = now.keys {
                let at = keys.saturating_add(now.next.saturating_mul(width));
                let key = self.behind(at, width).and_then(|start| self.key(start));
                let Some(key) = key else {
                    whole = false;
                    continue;
                };
                spent = spent.saturating_add(u64::try_from(key.len()).unwrap_or(u64::MAX));
                out.value(Event::Scalar(Scalar::Text(Cow::Borrowed(key))))?;
            }
            match self.element(now) {
                Some(item) => {
                    let sent = self.item(item, &mut rows, depth, &mut whole, out)?;
                    spent = spent.saturating_add(sent);
                }
                None => {
                    whole = false;
                    out.value(Event::Scalar(Scalar::Missing))?;
                }
            }
        }
        Ok((spent, whole))
    }

    /// Sends a value, or begins it where it has parts; returns the bytes of a text.
    fn item(
        &self,
        item: Item,
        rows: &mut Vec<Row>,
        depth: usize,
        whole: &mut bool,
        out: &mut dyn Sink,
    ) -> Result<u64, Stop> {
        if let Some(row) = self.row(item).filter(|_| rows.len() < depth) {
            let shape = if row.keys.is_some() { Shape::Map } else { Shape::List };
            rows.push(row);
            begin(shape, out)?;
            return Ok(0);
        }
        let scalar = self.scalar(item).unwrap_or(Scalar::Missing);
        *whole &= scalar != Scalar::Missing;
        let len = match &scalar {
            Scalar::Text(bytes) | Scalar::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            _ => 0,
        };
        out.value(Event::Scalar(scalar))?;
        Ok(len)
    }

    /// The number at an offset, of 1, 2, 4 or 8 bytes.
    fn unsigned(&self, at: u64, width: u64) -> Option<u64> {
        Some(little_endian(self.bytes.range(at, at.checked_add(width)?)?))
    }

    /// Where the offset at a place leads.
    fn behind(&self, at: u64, width: u64) -> Option<u64> {
        at.checked_sub(self.unsigned(at, width)?)
    }

    /// The text that ends with a NUL.
    fn key(&self, start: u64) -> Option<&'a [u8]> {
        let rest = self.bytes.range(start, self.bytes.len())?;
        rest.split(|byte| *byte == 0).next().filter(|key| key.len() < rest.len())
    }

    /// The length in front of a place.
    fn length(&self, start: u64, width: u64) -> Option<u64> {
        self.unsigned(start.checked_sub(width)?, width)
    }

    /// The elements of a container; none where it is none, or they are not all there.
    fn row(&self, item: Item) -> Option<Row> {
        let width = item.width;
        let (element, keyed, fixed) = match item.kind {
            Kind::Map => (None, true, None),
            Kind::Vector => (None, false, None),
            Kind::Typed(element) => (Some(element), false, None),
            Kind::Fixed(element, count) => (Some(element), false, Some(count)),
            _ => return None,
        };
        let at = self.behind(item.at, item.place)?;
        let count = match fixed {
            Some(count) => count,
            None => self.length(at, width)?,
        };
        let each = if element.is_none() { width.checked_add(1)? } else { width };
        self.bytes.range(at, at.checked_add(count.checked_mul(each)?)?)?;
        let keys = if keyed { Some(self.keys(at, width, count)?) } else { None };
        Some(Row { at, width, next: 0, count, element, keys })
    }

    /// Where the keys of a map begin, and how wide they are.
    fn keys(&self, at: u64, width: u64, count: u64) -> Option<(u64, u64)> {
        let place = at.checked_sub(width.checked_mul(3)?)?;
        let keys = self.behind(place, width)?;
        let each = self.unsigned(place.checked_add(width)?, width).filter(|each| matches!(each, 1 | 2 | 4 | 8))?;
        self.bytes.range(keys, keys.checked_add(count.checked_mul(each)?)?)?;
        Some((keys, each))
    }

    fn element(&self, row: Row) -> Option<Item> {
        let at = row.at.checked_add(row.next.checked_mul(row.width)?)?;
        match row.element {
            Some(element) => Some(Item { at, place: row.width, kind: element.kind(), width: 1 }),
            None => {
                let types = row.at.checked_add(row.count.checked_mul(row.width)?)?;
                Item::new(at, row.width, self.bytes.u8(types.checked_add(row.next)?)?)
            }
        }
    }

    /// A value without parts.
    fn scalar(&self, item: Item) -> Option<Scalar<'a>> {
        let Item { at, place, width, .. } = item;
        match item.kind {
            Kind::Null => Some(Scalar::Null),
            Kind::Bool => Some(Scalar::Bool(self.unsigned(at, place)? != 0)),
            Kind::Int => self.number(Number::Int, at, place),
            Kind::Uint => self.number(Number::Uint, at, place),
            Kind::Float => self.number(Number::Float, at, place),
            Kind::Indirect(number) => self.number(number, self.behind(at, place)?, width),
            Kind::Key => Some(Scalar::Text(Cow::Borrowed(self.key(self.behind(at, place)?)?))),
            Kind::Text | Kind::Blob => {
                let start = self.behind(at, place)?;
                let end = start.checked_add(self.length(start, width)?)?;
                let bytes = Cow::Borrowed(self.bytes.range(start, end)?);
                Some(if item.kind == Kind::Text { Scalar::Text(bytes) } else { Scalar::Bytes(bytes) })
            }
            Kind::Map | Kind::Vector | Kind::Typed(_) | Kind::Fixed(..) => None,
        }
    }

    fn number(&self, number: Number, at: u64, width: u64) -> Option<Scalar<'a>> {
        let bytes = self.bytes.range(at, at.checked_add(width)?)?;
        Some(match number {
            Number::Int => Scalar::Int(little_endian_signed(bytes)),
            Number::Uint => Scalar::Uint(little_endian(bytes)),
            Number::Float => Scalar::F64(match bytes.len() {
                4 => f64::from(f32::from_bits(u32::try_from(little_endian(bytes)).ok()?)),
                8 => f64::from_bits(little_endian(bytes)),
                2 => half(u16::try_from(little_endian(bytes)).ok()?),
                _ => return None,
            }),
        })
    }
}

fn begin(shape: Shape, out: &mut dyn Sink) -> Flow {
    out.value(Event::Begin(shape, None))
}

/// A float16: 1 bit sign, 5 bits exponent, 10 bits fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent.saturating_sub(15)),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}
