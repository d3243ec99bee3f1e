//! Events that are held back: a union that comes before its type, and whole messages where the order of the schema
//! decides the layout.

use crate::formats::flatbuffers::encode::Writer;
use crate::formats::flatbuffers::encode::frames::{Due, Frame};
use crate::formats::here::{Held, What, depth_behind};
use crate::model::bytemap::Step;
use crate::model::events::{Flow, Misfit, PathStack, Stop};
use crate::model::value::{Event, Scalar, Shape};

/// A union whose type has not come.
#[derive(Debug)]
pub struct Waiting {
    /// Frames that are open, its table the innermost.
    frames: usize,
    /// Position of the field.
    place: usize,
    events: Vec<Held>,
}

/// A stretch of a held message that is being taken.
enum Cursor {
    /// Events from one to another.
    Run(usize, usize),
    /// Members of a table by position of name and value, the last first; then its end.
    Members(Vec<(usize, usize)>),
}

impl Writer<'_> {
    /// Takes an event of the input, and what it sets free.
    pub(super) fn take(&mut self, event: Event<'_>) -> Flow {
        if self.layout.schema_order {
            self.whole.push(Held { what: What::of(&event), start: self.here.start, path: Box::default() });
            self.open = depth_behind(self.open, &event);
            return if self.open == 0 { self.take_whole() } else { Ok(()) };
        }
        self.step(event)?;
        self.drain()
    }

    /// Takes what is queued.
    fn drain(&mut self) -> Flow {
        while let Some(events) = self.queue.last_mut() {
            match events.next() {
                Some(held) => self.replay(&held)?,
                None => drop(self.queue.pop()),
            }
        }
        Ok(())
    }

    fn replay(&mut self, held: &Held) -> Flow {
        let (before, start) = (self.here.replayed.take(), self.here.start);
        self.here.start = held.start;
        self.here.replayed = Some((held.start, held.path.to_string()));
        self.step(held.event())?;
        (self.here.replayed, self.here.start) = (before, start);
        Ok(())
    }

    /// Begins to hold the union at a position.
    pub(super) fn begin_hold(&mut self, place: usize, event: &Event<'_>) -> Flow {
        self.held.clear();
        self.frames.push(Frame::Hold { depth: 0, place });
        self.in_hold(0, place, event)
    }

    pub(super) fn in_hold(&mut self, depth: usize, place: usize, event: &Event<'_>) -> Flow {
        let held = Held::new(event, &self.here);
        self.held.push(held);
        let depth = depth_behind(depth, event);
        if depth > 0 {
            if let Some(frame) = self.frames.last_mut() {
                *frame = Frame::Hold { depth, place };
            }
            return Ok(());
        }
        self.frames.pop();
        let events = std::mem::take(&mut self.held);
        self.waiting.push(Waiting { frames: self.frames.len(), place, events });
        self.set_due(Due::Name);
        Ok(())
    }

    /// Whether the union at a position of the innermost table waits for its type.
    pub(super) fn waits(&self, place: usize) -> Option<usize> {
        let frames = self.frames.len();
        self.waiting.iter().rposition(|waiting| waiting.frames == frames && waiting.place == place)
    }

    /// Refuses a table that ends while a union of it waits.
    pub(super) fn refuse_waiting(&self) -> Flow {
        let frames = self.frames.len();
        let Some(waiting) = self.waiting.iter().find(|waiting| waiting.frames == frames) else { return Ok(()) };
        let Some(Frame::Table { id, .. }) = self.frames.last() else { return Ok(()) };
        let name = self.field(*id, waiting.place).map_or("", |field| field.name.as_str());
        let start = waiting.events.first().map_or(self.here.start, |held| held.start);
        let path = waiting.events.first().map_or(String::new(), |held| held.path.to_string());
        Err(Stop::Misfit(Misfit {
            start,
            path,
            message: format!("`{name}` is a union, and `{name}_type` does not say what it holds"),
            help: String::new(),
        }))
    }

    /// The type at a position has come: the union behind it is taken next, if it waits.
    pub(super) fn release(&mut self, place: usize) {
        let union = place.saturating_add(1);
        if let Some(at) = self.waits(union) {
            let waiting = self.waiting.swap_remove(at);
            self.set_due(Due::Value(union));
            self.queue.push(waiting.events.into_iter());
        }
    }

    /// Takes a whole message, the members of its tables in the order of the schema.
    fn take_whole(&mut self) -> Flow {
        let events = std::mem::take(&mut self.whole);
        let ends = ends(&events);
        let mut at = 0;
        self.take_in_order(&events, &ends, &mut at).map_err(|stop| match stop {
            Stop::Misfit(misfit) if misfit.path.is_empty() => {
                Stop::Misfit(Misfit { path: path_to(&events, &ends, at), ..misfit })
            }
            other => other,
        })
    }

    /// As [`Writer::take_whole`]; `taken` is the position of the event that was taken last.
    fn take_in_order(&mut self, events: &[Held], ends: &[usize], taken: &mut usize) -> Flow {
        let mut cursors = vec![Cursor::Run(0, events.len())];
        while let Some(cursor) = cursors.last_mut() {
            match cursor {
                Cursor::Run(at, end) if *at >= *end => drop(cursors.pop()),
                Cursor::Run(at, _) => {
                    let now = *at;
                    *at = now.saturating_add(1);
                    let Some(held) = events.get(now) else { continue };
                    *taken = now;
                    self.replay(held)?;
                    self.drain()?;
                    if matches!(held.what, What::Begin(Shape::Map)) && self.table_began() {
                        let end = ends.get(now).copied().unwrap_or(events.len());
                        // The end itself is taken by the run.
                        *at = end.saturating_sub(1);
                        let members = self.members(events, ends, (now.saturating_add(1), end.saturating_sub(1)));
                        cursors.push(Cursor::Members(members));
                    }
                }
                Cursor::Members(members) => match members.pop() {
                    Some((name, value)) => {
                        *taken = name;
                        if let Some(held) = events.get(name) {
                            self.replay(held)?;
                        }
                        cursors.push(Cursor::Run(value, ends.get(value).copied().unwrap_or(value)));
                    }
                    None => drop(cursors.pop()),
                },
            }
        }
        Ok(())
    }

    /// Whether the innermost frame is a table in which nothing has come.
    fn table_began(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Table { next: 0, due: Due::Name, .. }))
    }

    /// Names and values of the table that has begun, by the positions of their fields, the last first.
    fn members(&mut self, events: &[Held], ends: &[usize], (from, to): (usize, usize)) -> Vec<(usize, usize)> {
        let Some(Frame::Table { id, .. }) = self.frames.last().copied() else { return Vec::new() };
        let Some(object) = self.flat.object(id) else { return Vec::new() };
        let (mut members, mut at) = (Vec::new(), from);
        while at < to {
            let value = at.saturating_add(1);
            let place = match events.get(at).map(|held| &held.what) {
                Some(What::Scalar(Scalar::Text(name))) => self.place(id, object, &String::from_utf8_lossy(name)),
                _ => None,
            };
            members.push((place.unwrap_or(usize::MAX), at, value));
            at = ends.get(value).copied().unwrap_or(to);
        }
        members.sort_by_key(|(place, at, _)| std::cmp::Reverse((*place, *at)));
        members.into_iter().map(|(_, name, value)| (name, value)).collect()
    }
}

/// The path of the event at a position.
fn path_to(events: &[Held], ends: &[usize], at: usize) -> String {
    let (mut path, mut open) = (PathStack::default(), 0);
    // In each container on the way the item that holds the event, or is its name.
    while open < at
        && let Some(What::Begin(shape)) = events.get(open).map(|held| &held.what)
    {
        let (mut item, mut count) = (open.saturating_add(1), 0u64);
        loop {
            let value = if *shape == Shape::Map { item.saturating_add(1) } else { item };
            let end = ends.get(value).copied().unwrap_or(usize::MAX);
            if at < end {
                match events.get(item).map(|held| &held.what) {
                    Some(What::Scalar(Scalar::Text(name))) if *shape == Shape::Map => {
                        path.push(Step::Name(&String::from_utf8_lossy(name)));
                    }
                    Some(What::End) | None => return path.path().to_string(),
                    Some(_) => path.push(Step::Index(count)),
                }
                open = value.max(open.saturating_add(1));
                break;
            }
            (item, count) = (end, count.saturating_add(1));
        }
    }
    path.path().to_string()
}

/// Of each event the position behind the value that it begins.
fn ends(events: &[Held]) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=events.len()).collect();
    let mut open = Vec::new();
    for (at, held) in events.iter().enumerate() {
        match held.what {
            What::Begin(_) => open.push(at),
            What::End => {
                if let Some(end) = open.pop().and_then(|begin| ends.get_mut(begin)) {
                    *end = at.saturating_add(1);
                }
            }
            What::Scalar(_) => {}
        }
    }
    ends
}
