//! Turns the tagged forms that [`super::encode`] writes back into what they stand for.
//!
//! [`TagReader`] stands between a decoder of JSON and a sink that wants the values. It holds back the
//! start of a map until its shape is clear; a shape that does not fit goes on as it was. `$map` is
//! the exception: its pairs stream, so that one which turns out not to be a list of pairs is refused.

use std::borrow::Cow;

use data_encoding::HEXLOWER_PERMISSIVE;

use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::diag::Diagnostic;
use crate::model::events::{Flow, Sink, Stop};
use crate::model::value::{Event, Long, Scalar, Shape};

/// Name of the object that stands for a MessagePack ext object: `{"$ext":[type,"hex"]}`.
pub const EXT: &str = "$ext";
/// Name of the one that stands for a map that no JSON object can hold: `{"$map":[[k,v],…]}`.
pub const MAP: &str = "$map";
/// Name of the one that stands for a point in time: `{"$timestamp":[seconds,nanoseconds]}`.
pub const TIMESTAMP: &str = "$timestamp";
/// All of them: an object whose only name is one of these reads as a tagged form.
pub const TAGS: &[&str] = &[EXT, MAP, TIMESTAMP];

fn is_tag(name: &[u8]) -> bool {
    TAGS.iter().any(|tag| tag.as_bytes() == name)
}

/// Nanoseconds of a second.
const NANOS: u32 = 1_000_000_000;

/// Where an event stands that is no longer held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// In an ordinary container.
    Plain,
    /// In the list of pairs of a `$map`.
    Pairs,
    /// In a pair, with so many items so far.
    Pair(u8),
    /// Behind the list of pairs.
    MapEnd,
    /// Behind the hexadecimal digits of an ext object that came in pieces; so many ends are due.
    ExtEnd(u8),
}

/// A sink that reads tagged forms and hands everything to another one.
pub struct TagReader<'a> {
    inner: &'a mut dyn Sink,
    levels: Vec<Level>,
    /// The start of a map that may be a tagged form.
    held: Vec<Event<'static>>,
    /// The type of an ext object whose digits come in pieces, and a digit that waits for its pair.
    long: Option<(i8, Option<u8>)>,
}

impl<'a> TagReader<'a> {
    /// A reader in front of `inner`.
    pub fn new(inner: &'a mut dyn Sink) -> TagReader<'a> {
        TagReader { inner, levels: Vec::new(), held: Vec::new(), long: None }
    }

    /// Takes an event that is not held back.
    fn pass(&mut self, event: Event<'_>) -> Flow {
        match self.levels.last_mut() {
            Some(Level::Pairs) => return self.between_pairs(&event),
            Some(Level::MapEnd) if event != Event::End => {
                return Err(refused("an object with \"$map\" has another member"));
            }
            Some(Level::ExtEnd(_)) => return self.behind_ext(&event),
            Some(Level::Pair(items)) => match (&event, *items) {
                (Event::End, 2) => {
                    self.levels.pop();
                    return Ok(());
                }
                (Event::End, _) => return Err(refused("an item of \"$map\" has less than two items")),
                (Event::Piece { first: false, .. }, _) => {}
                (_, 2) => return Err(refused("an item of \"$map\" has more than two items")),
                _ => *items = items.saturating_add(1),
            },
            Some(Level::Plain | Level::MapEnd) | None => {}
        }
        match event {
            Event::Begin(Shape::Map, _) => self.held.push(owned(event)),
            Event::Begin(Shape::List, _) => {
                self.levels.push(Level::Plain);
                self.inner.value(event)?;
            }
            Event::End => {
                self.levels.pop();
                self.inner.value(event)?;
            }
            Event::Message(_) | Event::Scalar(_) | Event::Piece { .. } => self.inner.value(event)?,
        }
        Ok(())
    }

    /// An event where a pair is due.
    fn between_pairs(&mut self, event: &Event<'_>) -> Flow {
        let next = match event {
            Event::Begin(Shape::List, _) => {
                self.levels.push(Level::Pair(0));
                return Ok(());
            }
            Event::End => Level::MapEnd,
            Event::Message(_) | Event::Begin(Shape::Map, _) | Event::Scalar(_) | Event::Piece { .. } => {
                return Err(refused("an item of \"$map\" is no list"));
            }
        };
        if let Some(level) = self.levels.last_mut() {
            *level = next;
        }
        Ok(())
    }

    /// The ends behind an ext object that came in pieces.
    fn behind_ext(&mut self, event: &Event<'_>) -> Flow {
        if *event != Event::End {
            return Err(refused("an object with \"$ext\" has more than a type and hexadecimal digits"));
        }
        match self.levels.last_mut() {
            Some(Level::ExtEnd(due)) if *due > 1 => *due = due.saturating_sub(1),
            _ => {
                self.levels.pop();
            }
        }
        Ok(())
    }

    /// Takes the next event behind those that are held.
    fn hold(&mut self, event: Event<'_>) -> Flow {
        if let (Event::Piece { first: true, of: Long::Text, .. }, Some(kind)) = (&event, self.ext_type()) {
            self.held.clear();
            self.long = Some((kind, None));
            return self.long_ext(&event);
        }
        self.held.push(owned(event));
        match fit(&self.held) {
            Fit::Open => Ok(()),
            Fit::Map => {
                self.held.clear();
                self.levels.push(Level::Pairs);
                self.inner.value(Event::Begin(Shape::Map, None))
            }
            Fit::Scalar(scalar) => {
                self.held.clear();
                self.inner.value(Event::Scalar(scalar))
            }
            Fit::Not => self.let_go(),
        }
    }

    /// The held events are no tagged form.
    fn let_go(&mut self) -> Flow {
        let held = std::mem::take(&mut self.held);
        let last = held.len().saturating_sub(1);
        for (at, event) in held.into_iter().enumerate() {
            if at == 0 {
                // The map itself has been counted where it stands.
                self.levels.push(Level::Plain);
                self.inner.value(event)?;
            } else if at == last {
                // What did not fit may begin a tagged form of its own.
                self.value(event)?;
            } else {
                self.pass(event)?;
            }
        }
        Ok(())
    }

    /// The type of the ext object whose digits come next.
    fn ext_type(&self) -> Option<i8> {
        match self.held.as_slice() {
            [_, Event::Scalar(Scalar::Text(name)), Event::Begin(Shape::List, _), Event::Scalar(kind)]
                if name.as_ref() == EXT.as_bytes() =>
            {
                number(kind)
            }
            _ => None,
        }
    }

    /// A piece of the digits of an ext object.
    fn long_ext(&mut self, event: &Event<'_>) -> Flow {
        let (Event::Piece { bytes, first, last, .. }, Some((kind, waiting))) = (event, self.long.take()) else {
            return Err(Stop::Internal("a long string is interrupted".to_owned()));
        };
        let mut digits: Vec<u8> = waiting.into_iter().chain(bytes.iter().copied()).collect();
        let odd = if digits.len().is_multiple_of(2) { None } else { digits.pop() };
        if *last && odd.is_some() {
            return Err(refused("the text in \"$ext\" has an odd number of hexadecimal digits"));
        }
        let bytes = HEXLOWER_PERMISSIVE.decode(&digits);
        let bytes = bytes.map_err(|_| refused("the text in \"$ext\" is not hexadecimal"))?;
        if *last {
            self.levels.push(Level::ExtEnd(2));
        } else {
            self.long = Some((kind, odd));
        }
        self.inner.value(Event::Piece { of: Long::Ext(kind), total: None, bytes: &bytes, first: *first, last: *last })
    }
}

impl Sink for TagReader<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.inner.open(group)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        self.inner.leaf(leaf, head)
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        self.inner.more(bytes)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.inner.close(id, end)
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.inner.diagnostic(found)
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        if self.long.is_some() {
            self.long_ext(&event)
        } else if self.held.is_empty() {
            self.pass(event)
        } else if matches!(event, Event::Piece { .. }) && self.ext_type().is_none() {
            // Pieces are not held: no form but `$ext` has a long text.
            let first = matches!(event, Event::Piece { first: true, .. });
            if first {
                self.let_go()?;
            }
            self.pass(event)
        } else {
            self.hold(event)
        }
    }

    fn wants_values(&self) -> bool {
        self.inner.wants_values()
    }
}

/// What the start of a map is.
enum Fit {
    /// It may still become a tagged form.
    Open,
    /// It is the start of a `$map`.
    Map,
    /// It is a complete tagged form.
    Scalar(Scalar<'static>),
    /// It is an ordinary map.
    Not,
}

fn fit(held: &[Event<'static>]) -> Fit {
    let Some((Event::Scalar(Scalar::Text(name)), behind)) = held.get(1..).and_then(<[_]>::split_first) else {
        return Fit::Not;
    };
    if !is_tag(name) {
        return Fit::Not;
    }
    match behind {
        [] => Fit::Open,
        [Event::Begin(Shape::List, _)] if name.as_ref() == MAP.as_bytes() => Fit::Map,
        [Event::Begin(Shape::List, _), items @ ..] if name.as_ref() == EXT.as_bytes() => ext(items),
        [Event::Begin(Shape::List, _), items @ ..] if name.as_ref() == TIMESTAMP.as_bytes() => timestamp(items),
        _ => Fit::Not,
    }
}

/// The items behind `{"$ext":[`.
fn ext(items: &[Event<'static>]) -> Fit {
    match items {
        [] => Fit::Open,
        [Event::Scalar(kind), behind @ ..] => match (number::<i8>(kind), behind) {
            (Some(_), []) => Fit::Open,
            (Some(kind), [Event::Scalar(Scalar::Text(digits)), ends @ ..]) => {
                match HEXLOWER_PERMISSIVE.decode(digits) {
                    Ok(bytes) => complete(ends, Scalar::Ext(kind, Cow::Owned(bytes))),
                    Err(_) => Fit::Not,
                }
            }
            _ => Fit::Not,
        },
        _ => Fit::Not,
    }
}

/// The items behind `{"$timestamp":[`.
fn timestamp(items: &[Event<'static>]) -> Fit {
    match items {
        [] => Fit::Open,
        [Event::Scalar(seconds), behind @ ..] => match (number::<i64>(seconds), behind) {
            (Some(_), []) => Fit::Open,
            (Some(seconds), [Event::Scalar(nanos), ends @ ..]) => match number::<u32>(nanos) {
                Some(nanos) if nanos < NANOS => complete(ends, Scalar::Timestamp(seconds, nanos)),
                _ => Fit::Not,
            },
            _ => Fit::Not,
        },
        _ => Fit::Not,
    }
}

/// A tagged form is complete when its list and its map have ended.
fn complete(ends: &[Event<'static>], scalar: Scalar<'static>) -> Fit {
    match ends {
        [] | [Event::End] => Fit::Open,
        [Event::End, Event::End] => Fit::Scalar(scalar),
        _ => Fit::Not,
    }
}

fn number<T: std::str::FromStr>(scalar: &Scalar<'_>) -> Option<T> {
    if let Scalar::Number(text) = scalar { text.parse().ok() } else { None }
}

fn refused(what: &str) -> Stop {
    Stop::Refused(format!("{what}: \"$map\" holds a list of [key, value], \"$ext\" holds [type, \"hex\"]"))
}

/// The same event with its own memory. Pieces never come here.
fn owned(event: Event<'_>) -> Event<'static> {
    match event {
        Event::Message(number) => Event::Message(number),
        Event::Begin(shape, count) => Event::Begin(shape, count),
        Event::End | Event::Piece { .. } => Event::End,
        Event::Scalar(scalar) => Event::Scalar(scalar.into_owned()),
    }
}
