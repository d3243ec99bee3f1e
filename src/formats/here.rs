//! Where a writer is in its input: what its refusals name, events that are held back with their places, long values
//! put together from their pieces.

use std::borrow::Cow;

use crate::model::bytemap::{Group, Leaf};
use crate::model::events::{Misfit, PathStack, Stop};
use crate::model::value::{Event, Long, Scalar, Shape};

/// A place in the input, kept up by what a [`Sink`](crate::model::events::Sink) is told.
#[derive(Debug, Default)]
pub struct Here {
    paths: PathStack,
    /// Where the innermost group begins.
    opened: u64,
    /// Start and end of the last leaf.
    last: (u64, u64),
    /// Where the value that is being taken begins.
    pub start: u64,
    /// Where the event that is being taken stands, if it was held back.
    pub replayed: Option<(u64, String)>,
    /// A long value that comes in pieces.
    long: Vec<u8>,
}

impl Here {
    /// A group begins.
    pub fn open(&mut self, group: &Group<'_>) {
        self.paths.push(group.step);
        self.opened = group.start;
    }

    /// The innermost group ends.
    pub fn close(&mut self) {
        self.paths.pop();
    }

    /// A leaf was told.
    pub fn leaf(&mut self, leaf: &Leaf) {
        self.last = (leaf.start, leaf.end);
    }

    /// The path of the innermost group.
    pub fn group_path(&self) -> &str {
        self.paths.path()
    }

    /// The path of what is being taken.
    pub fn path(&self) -> &str {
        self.replayed.as_ref().map_or(self.paths.path(), |(_, path)| path)
    }

    /// Where the name or group of what is being taken begins.
    pub fn begun(&self) -> u64 {
        self.replayed.as_ref().map_or(self.opened, |(start, _)| *start)
    }

    /// An event of the input, its place noted; none for a piece of a value that is not whole.
    pub fn event<'e>(&mut self, event: Event<'e>) -> Option<Event<'e>> {
        // A bracket or quote comes before what it begins, a number or literal behind it.
        self.start = match event {
            Event::Begin(..) | Event::Scalar(Scalar::Text(_)) | Event::Piece { .. } => self.last.0,
            Event::Message(_) | Event::End | Event::Scalar(_) => self.last.1,
        };
        let Event::Piece { of, bytes, first, last, .. } = event else { return Some(event) };
        if first {
            self.long.clear();
        }
        self.long.extend_from_slice(bytes);
        if !last {
            return None;
        }
        let whole = Cow::Owned(std::mem::take(&mut self.long));
        Some(Event::Scalar(match of {
            Long::Text => Scalar::Text(whole),
            Long::Bytes => Scalar::Bytes(whole),
            Long::Ext(kind) => Scalar::Ext(kind, whole),
        }))
    }

    /// A refusal of what is being taken, at an offset.
    pub fn misfit(&self, start: u64, message: impl Into<String>, help: impl Into<String>) -> Stop {
        Stop::Misfit(Misfit { start, path: self.path().to_string(), message: message.into(), help: help.into() })
    }
}

/// An event that is held back, with its place.
#[derive(Debug, Clone)]
pub struct Held {
    /// The event.
    pub what: What,
    /// Where it stands.
    pub start: u64,
    /// Its path; empty where that can be told later.
    pub path: Box<str>,
}

/// Events that can be held back.
#[derive(Debug, Clone)]
pub enum What {
    /// A container begins.
    Begin(Shape),
    /// It ends.
    End,
    /// A value.
    Scalar(Scalar<'static>),
}

impl What {
    /// What an event is.
    pub fn of(event: &Event<'_>) -> What {
        match event {
            Event::Begin(shape, _) => What::Begin(*shape),
            Event::Scalar(value) => What::Scalar(value.clone().into_owned()),
            Event::End | Event::Message(_) | Event::Piece { .. } => What::End,
        }
    }
}

impl Held {
    /// Holds an event back.
    pub fn new(event: &Event<'_>, here: &Here) -> Held {
        Held { what: What::of(event), start: here.start, path: here.path().into() }
    }

    /// The event again.
    pub fn event(&self) -> Event<'_> {
        match &self.what {
            What::Begin(shape) => Event::Begin(*shape, None),
            What::End => Event::End,
            What::Scalar(value) => Event::Scalar(value.clone()),
        }
    }
}

/// Containers that are open behind an event.
pub fn depth_behind(depth: usize, event: &Event<'_>) -> usize {
    match event {
        Event::Begin(..) => depth.saturating_add(1),
        Event::End => depth.saturating_sub(1),
        _ => depth,
    }
}
