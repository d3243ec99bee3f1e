//! What a first reading finds out for the second one that writes: sizes of containers, odd maps,
//! the number of messages, and whether the input is sound.
//!
//! Every conversion reads twice, so that output can be streamed although the target wants to know things
//! ahead (how many entries a map has, whether all its keys are text). What is kept for that is a byte or
//! a bit for each container.

use std::collections::HashMap;

use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Sink};
use crate::model::value::{Event, Long, Scalar, Shape};

/// Container sizes from here on stand in a side table.
const SMALL: u64 = 255;

/// Facts about an input, by the ordinal of each container (0, 1, … in the order of `Begin` events).
#[derive(Debug, Default)]
pub struct Survey {
    /// Messages in a row.
    pub messages: u64,
    /// Findings, counted.
    pub tally: Tally,
    /// The findings that are told one by one.
    pub found: Vec<Diagnostic>,
    /// Containers so far.
    pub containers: u64,
    small: Vec<u8>,
    large: HashMap<u64, u64>,
    /// A bit for each container up to the last odd map.
    odd_maps: Vec<u64>,
    /// What the values are that some formats lack.
    pub oddities: Oddities,
    open: Vec<Open>,
    want: Want,
    long_key: bool,
}

/// Values that not every format has a form for, counted.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Oddities {
    /// Maps that have a key which is no text.
    pub keyed_maps: u64,
    /// The first such key.
    pub first_key: Option<Scalar<'static>>,
    /// Containers as keys; the first odd key is one where `first_key` is none.
    pub container_keys: u64,
    /// Maps that have one key twice.
    pub doubled_maps: u64,
    /// Maps whose only key is a name that the target format takes for something else.
    pub reserved_maps: u64,
    /// Bytes as values.
    pub bins: u64,
    /// NaN and infinities as values.
    pub specials: u64,
    /// Values that damage took.
    pub missing: u64,
}

/// What to find out beyond messages and findings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Number of elements or entries of each container.
    pub counts: bool,
    /// Maps that are no plain objects: with a key that is not text, or with one key twice.
    pub odd_maps: bool,
    /// Names that make a map odd whose only key they are.
    pub reserved: &'static [&'static str],
}

#[derive(Debug)]
struct Open {
    ordinal: u64,
    shape: Shape,
    items: u64,
    /// Its first key is a reserved name.
    reserved: bool,
    /// It has a key that is not text, and that has been counted.
    keyed: bool,
    /// It has a key twice, and that has been counted.
    doubled: bool,
}

impl Survey {
    /// A survey that finds out `want`.
    pub fn new(want: Want) -> Survey {
        Survey { want, ..Survey::default() }
    }

    /// Elements or entries of container number `ordinal`.
    pub fn count(&self, ordinal: u64) -> u64 {
        let small = usize::try_from(ordinal).ok().and_then(|at| self.small.get(at)).copied().unwrap_or(0);
        if u64::from(small) < SMALL { u64::from(small) } else { self.large.get(&ordinal).copied().unwrap_or(SMALL) }
    }

    /// Whether container number `ordinal` is a map with a key that is not text, with one key twice, or
    /// with nothing but a reserved name.
    pub fn is_odd_map(&self, ordinal: u64) -> bool {
        let (word, bit) = place(ordinal);
        self.odd_maps.get(word).is_some_and(|bits| bits >> bit & 1 == 1)
    }

    fn mark_odd(&mut self, ordinal: u64) {
        let (word, bit) = place(ordinal);
        if self.odd_maps.len() <= word {
            self.odd_maps.resize(word.saturating_add(1), 0);
        }
        if let Some(bits) = self.odd_maps.get_mut(word) {
            *bits |= 1 << bit;
        }
    }

    /// The innermost map has a key that is not text.
    fn odd_key(&mut self, key: Option<&Scalar<'_>>) {
        let Some(open) = self.open.last_mut() else { return };
        let ordinal = open.ordinal;
        if !std::mem::replace(&mut open.keyed, true) {
            let first = self.oddities.keyed_maps == 0;
            self.oddities.keyed_maps = self.oddities.keyed_maps.saturating_add(1);
            if first {
                self.oddities.first_key = key.map(|key| key.clone().into_owned());
            }
        }
        self.oddities.container_keys = self.oddities.container_keys.saturating_add(u64::from(key.is_none()));
        self.mark_odd(ordinal);
    }

    /// Whether the next item of the innermost container is a key.
    fn at_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.shape == Shape::Map && open.items.is_multiple_of(2))
    }

    fn count_item(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.items = open.items.saturating_add(1);
        }
    }

    fn begin(&mut self, shape: Shape) {
        if self.want.odd_maps && self.at_key() {
            self.odd_key(None);
        }
        self.count_item();
        self.open.push(Open {
            ordinal: self.containers,
            shape,
            items: 0,
            reserved: false,
            keyed: false,
            doubled: false,
        });
        self.containers = self.containers.saturating_add(1);
        if self.want.counts {
            self.small.push(0);
        }
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if open.items.div_ceil(2) == 1 && open.reserved {
            self.oddities.reserved_maps = self.oddities.reserved_maps.saturating_add(1);
            self.mark_odd(open.ordinal);
        }
        if !self.want.counts {
            return;
        }
        let count = if open.shape == Shape::Map { open.items.div_ceil(2) } else { open.items };
        let small = u8::try_from(count.min(SMALL)).unwrap_or(u8::MAX);
        if let Some(place) = usize::try_from(open.ordinal).ok().and_then(|at| self.small.get_mut(at)) {
            *place = small;
        }
        if count >= SMALL {
            self.large.insert(open.ordinal, count);
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        if self.want.odd_maps && self.at_key() {
            self.key(scalar);
        } else {
            let counted = match scalar {
                Scalar::Bytes(_) => Some(&mut self.oddities.bins),
                Scalar::F32(value) if !value.is_finite() => Some(&mut self.oddities.specials),
                Scalar::F64(value) if !value.is_finite() => Some(&mut self.oddities.specials),
                Scalar::Missing => Some(&mut self.oddities.missing),
                _ => None,
            };
            if let Some(count) = counted {
                *count = count.saturating_add(1);
            }
        }
        self.count_item();
    }

    fn key(&mut self, key: &Scalar<'_>) {
        let reserved = self.want.reserved;
        match (key, self.open.last_mut()) {
            // Two keys that are no UTF-8 may look the same once they are written.
            (Scalar::Text(text), Some(open)) if std::str::from_utf8(text).is_ok() => {
                open.reserved |= open.items == 0 && reserved.iter().any(|name| name.as_bytes() == &text[..]);
            }
            _ => self.odd_key(Some(key)),
        }
    }
}

/// Word and bit of a container in a table of bits.
fn place(ordinal: u64) -> (usize, u32) {
    (usize::try_from(ordinal / 64).unwrap_or(usize::MAX - 1), u32::try_from(ordinal % 64).unwrap_or(0))
}

impl Sink for Survey {
    fn wants_values(&self) -> bool {
        true
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        if self.tally.count(found.severity()) {
            self.found.push(found.clone());
        }
        Ok(())
    }

    fn duplicate_key(&mut self) -> Flow {
        let Some(open) = self.open.last_mut().filter(|_| self.want.odd_maps) else { return Ok(()) };
        let ordinal = open.ordinal;
        if !std::mem::replace(&mut open.doubled, true) {
            self.oddities.doubled_maps = self.oddities.doubled_maps.saturating_add(1);
        }
        self.mark_odd(ordinal);
        Ok(())
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Message(number) => self.messages = number.saturating_add(1),
            Event::Begin(shape, _) => self.begin(shape),
            Event::End => self.end(),
            Event::Scalar(scalar) => self.scalar(&scalar),
            Event::Piece { of, first, last, .. } => {
                if first {
                    self.long_key = self.at_key();
                }
                if last {
                    if self.long_key && self.want.odd_maps && of != Long::Text {
                        let empty = std::borrow::Cow::Borrowed(&[][..]);
                        let key = if of == Long::Bytes { Scalar::Bytes(empty) } else { Scalar::Ext(0, empty) };
                        self.odd_key(Some(&key));
                    } else if of == Long::Bytes {
                        self.oddities.bins = self.oddities.bins.saturating_add(1);
                    }
                    self.count_item();
                }
            }
        }
        Ok(())
    }
}

impl Survey {
    /// Whether the input has an error.
    pub fn has_errors(&self) -> bool {
        self.tally.errors > 0
    }
}
