//! What a first reading finds out for the second one that writes: sizes of containers, odd maps,
//! the number of messages, and whether the input is sound.
//!
//! Every conversion reads twice, so that output can be streamed in constant memory although the
//! target wants to know things ahead (how many entries a map has, whether all its keys are text).

use std::collections::{BTreeSet, HashMap};

use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Sink};
use crate::model::value::{Event, Long, Scalar, Shape};

/// Name of the JSON object that stands for a MessagePack ext object: `{"$ext":[type,"hex"]}`.
pub const TAG_EXT: &str = "$ext";
/// Name of the one that stands for a map that no JSON object can hold: `{"$map":[[k,v],…]}`.
pub const TAG_MAP: &str = "$map";
/// Name of the one that stands for a point in time: `{"$timestamp":[seconds,nanoseconds]}`.
pub const TAG_TIMESTAMP: &str = "$timestamp";

/// Whether an object whose only name this is would read as a tagged form.
pub fn is_tag(name: &[u8]) -> bool {
    [TAG_EXT, TAG_MAP, TAG_TIMESTAMP].iter().any(|tag| tag.as_bytes() == name)
}

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
    /// Maps that have a key which is not text, or one key twice, or only the name of a tagged form.
    odd_maps: BTreeSet<u64>,
    /// The first key met that is not text.
    odd_key: Option<&'static str>,
    /// Bytes as values.
    bins: u64,
    /// NaN and infinities as values.
    specials: u64,
    /// Values that damage took.
    missing: u64,
    open: Vec<Open>,
    want: Want,
    long_key: bool,
}

/// What to find out beyond messages and findings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Number of elements or entries of each container.
    pub counts: bool,
    /// Maps that a JSON object cannot hold.
    pub odd_maps: bool,
}

#[derive(Debug)]
struct Open {
    ordinal: u64,
    shape: Shape,
    items: u64,
    /// Its first key is the name of a tagged form.
    tag: bool,
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
    /// with nothing but a key that would make the object read as a tagged form.
    pub fn is_odd_map(&self, ordinal: u64) -> bool {
        self.odd_maps.contains(&ordinal)
    }

    /// Marks a map as one that a JSON object cannot hold.
    fn mark_odd(&mut self) {
        if let Some(open) = self.open.last() {
            self.odd_maps.insert(open.ordinal);
        }
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
            self.odd_key.get_or_insert(if shape == Shape::Map { "a map" } else { "an array" });
            self.mark_odd();
        }
        self.count_item();
        self.open.push(Open { ordinal: self.containers, shape, items: 0, tag: false });
        self.containers = self.containers.saturating_add(1);
        if self.want.counts {
            self.small.push(0);
        }
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if open.items.div_ceil(2) == 1 && open.tag {
            self.odd_maps.insert(open.ordinal);
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
            match (scalar, self.open.last_mut()) {
                (Scalar::Text(text), Some(open)) => open.tag |= open.items == 0 && is_tag(text),
                (other, _) => {
                    self.odd_key.get_or_insert(key_word(other));
                    self.mark_odd();
                }
            }
        } else {
            match scalar {
                Scalar::Bytes(_) => self.bins = self.bins.saturating_add(1),
                Scalar::F32(value) if !value.is_finite() => self.specials = self.specials.saturating_add(1),
                Scalar::F64(value) if !value.is_finite() => self.specials = self.specials.saturating_add(1),
                Scalar::Missing => self.missing = self.missing.saturating_add(1),
                _ => {}
            }
        }
        self.count_item();
    }

    /// What a JSON text of these values writes otherwise than they are, a sentence each.
    pub fn written_otherwise(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.odd_maps.is_empty() {
            let maps = self.odd_maps.len();
            let maps = if maps == 1 { "1 map".to_string() } else { format!("{maps} maps") };
            let key = self.odd_key.map_or("one key twice".to_string(), |key| format!("{key} as key"));
            sentences.push(format!(
                "{maps} that no JSON object can hold ({key}), written as {{\"{TAG_MAP}\": [[key, value], ...]}}"
            ));
        }
        if self.bins > 0 {
            let bins = if self.bins == 1 { "1 bin".to_string() } else { format!("{} bins", self.bins) };
            sentences.push(format!("{bins} written as base64 text, which reads back as text"));
        }
        if self.specials > 0 {
            let floats = if self.specials == 1 { "1 float".to_string() } else { format!("{} floats", self.specials) };
            sentences.push(format!(
                "{floats} that JSON has no number for written as \"NaN\", \"Infinity\" or \"-Infinity\""
            ));
        }
        if self.missing > 0 {
            let values = if self.missing == 1 { "1 value".to_string() } else { format!("{} values", self.missing) };
            sentences.push(format!("{values} that the damage took written as null"));
        }
        sentences
    }
}

/// What a key that is no text is, in a sentence.
fn key_word(key: &Scalar<'_>) -> &'static str {
    match key {
        Scalar::Null | Scalar::Missing => "nil",
        Scalar::Bool(_) => "a boolean",
        Scalar::Uint(_) | Scalar::Int(_) => "an integer",
        Scalar::F32(_) | Scalar::F64(_) | Scalar::Number(_) => "a number",
        Scalar::Text(_) => "text",
        Scalar::Bytes(_) => "a bin",
        Scalar::Ext(..) => "an ext object",
        Scalar::Timestamp(..) => "a timestamp",
    }
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
        if self.want.odd_maps {
            self.mark_odd();
        }
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
                    // A key too long to hold is never compared with others, but it may be text.
                    if self.long_key && self.want.odd_maps && of != Long::Text {
                        self.mark_odd();
                    }
                    self.bins = self.bins.saturating_add(u64::from(of == Long::Bytes && !self.long_key));
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
