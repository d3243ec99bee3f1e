//! Members of a union that come before its discriminator: they wait, and are taken when it has come.

use crate::formats::capnp::encode::Writer;
use crate::formats::capnp::encode::frames::{Due, Frame};
use crate::formats::here::{Held, depth_behind};
use crate::model::events::{Flow, Misfit, Stop};
use crate::model::value::Event;

/// A member whose union is not known yet.
#[derive(Debug)]
pub struct Waiting {
    /// Frames that are open, its object the innermost.
    frames: usize,
    name: String,
    /// Where the name stands.
    start: u64,
    events: Vec<Held>,
}

impl Writer<'_> {
    pub(super) fn begin_hold(&mut self, event: &Event<'_>) -> Flow {
        self.held.clear();
        self.frames.push(Frame::Hold { depth: 0 });
        self.in_hold(0, event)
    }

    pub(super) fn in_hold(&mut self, depth: usize, event: &Event<'_>) -> Flow {
        let held = Held::new(event, &self.here);
        self.held.push(held);
        let depth = depth_behind(depth, event);
        if depth > 0 {
            if let Some(frame) = self.frames.last_mut() {
                *frame = Frame::Hold { depth };
            }
            return Ok(());
        }
        self.frames.pop();
        let events = std::mem::take(&mut self.held);
        let (name, start) = std::mem::take(&mut self.held_name);
        self.waiting.push(Waiting { frames: self.frames.len(), name, start, events });
        self.set_due(Due::Name);
        Ok(())
    }

    /// Takes what waits in the innermost object, which is about to end. What has to wait again, since a union in a
    /// union is not known yet, is taken in the next round.
    pub(super) fn release(&mut self) -> Flow {
        let frames = self.frames.len();
        let mut before = usize::MAX;
        loop {
            let from = self.waiting.iter().rposition(|one| one.frames != frames).map_or(0, |at| at.saturating_add(1));
            let waiting = self.waiting.split_off(from);
            let Some(first) = waiting.first() else { return Ok(()) };
            if waiting.len() >= before {
                return self.refuse_waiting(first);
            }
            before = waiting.len();
            for one in waiting {
                self.replay_member(&one)?;
            }
        }
    }

    fn replay_member(&mut self, one: &Waiting) -> Flow {
        let Some(Frame::Struct { at, id, .. }) = self.frames.last().copied() else { return Ok(()) };
        let (before, start) = (self.here.replayed.take(), self.here.start);
        let path = one.events.first().map_or("", |held| &held.path);
        self.here.replayed = Some((one.start, path.to_string()));
        self.name(at, id, &one.name)?;
        self.held_name.1 = one.start;
        for held in &one.events {
            self.here.start = held.start;
            self.here.replayed = Some((held.start, held.path.to_string()));
            self.step(&held.event())?;
        }
        (self.here.replayed, self.here.start) = (before, start);
        Ok(())
    }

    fn refuse_waiting(&mut self, one: &Waiting) -> Flow {
        let path = one.events.first().map_or(String::new(), |held| held.path.to_string());
        Err(Stop::Misfit(Misfit {
            start: one.start,
            path,
            message: format!("`{}` belongs to a union, and nothing says which member of it is set", one.name),
            help: String::new(),
        }))
    }
}
