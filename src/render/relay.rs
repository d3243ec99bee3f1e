//! A walk and its rendering side by side: what the decoder reports is kept in batches and replayed to the
//! sink on a thread of its own, in the same order. For large inputs, whose output costs more than the walk.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use crate::inspect::{Inspection, Walked};
use crate::model::bytemap::{Group, GroupId, GroupKind, Leaf, Step};
use crate::model::diag::Diagnostic;
use crate::model::events::{Flow, Heading, Inner, Reading, Said, Sink, Stop, Tee};

/// Events of a batch.
const EVENTS: usize = 8 * 1024;

/// Bytes of a batch, beyond which it goes as it is.
const BYTES: usize = 512 * 1024;

/// Batches that may wait.
const WAITING: usize = 4;

/// Walks an input on this thread, and lets `render` follow on another one; `beside` is told on this one.
///
/// # Errors
/// What stopped the walk or the rendering.
pub fn walk(
    inspection: &mut Inspection,
    render: &mut (dyn Sink + Send),
    beside: &mut dyn Sink,
) -> Result<Walked, Stop> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let (back, spare) = channel();
        let words = render.wants_words();
        let follower = scope.spawn(move || follow(&receiver, &back, render));
        let mut relay = Relay { batch: Batch::default(), sender, spare, words };
        let walked = inspection.walk(&mut Tee { first: &mut relay, second: beside });
        let sent = relay.send();
        // Nothing more comes: the follower ends behind the last batch.
        drop(relay);
        let rendered = follower.join().unwrap_or_else(|_| Err(Stop::Internal("the renderer panicked".to_string())));
        // What stopped the rendering is why nothing more could be sent.
        rendered?;
        sent?;
        walked
    })
}

/// Replays batches as they come, and gives their memory back.
fn follow(receiver: &Receiver<Batch>, back: &Sender<Batch>, render: &mut dyn Sink) -> Flow {
    for mut batch in receiver {
        batch.replay(render)?;
        batch.clear();
        // The walk may have ended already.
        let _ = back.send(batch);
    }
    Ok(())
}

/// Keeps events, and hands full batches on.
struct Relay {
    batch: Batch,
    sender: SyncSender<Batch>,
    spare: Receiver<Batch>,
    words: bool,
}

impl Relay {
    /// Hands the batch on where it is full.
    fn check(&mut self) -> Flow {
        if self.batch.events.len() < EVENTS && self.batch.bytes.len() < BYTES {
            return Ok(());
        }
        self.send()
    }

    fn send(&mut self) -> Flow {
        let empty = self.spare.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.batch, empty);
        // The follower has stopped, and says itself why.
        self.sender.send(full).map_err(|_| Stop::Enough)
    }
}

/// An event without its bytes, which stand in the batch in the order of the events.
enum Kept {
    Open {
        id: GroupId,
        parent: GroupId,
        kind: GroupKind,
        step: KeptStep,
        start: u64,
        again: bool,
    },
    Leaf(Leaf, usize),
    More(usize),
    Close(GroupId, u64),
    Found(Box<Diagnostic>),
    Said(KeptSaid),
    Heading(usize, usize, u32),
    /// As [`Sink::foot`].
    Foot(usize),
    Layer {
        name: usize,
        by: &'static str,
        start: u64,
        end: u64,
        size: u64,
    },
}

/// Words, as the lengths of their texts.
struct KeptSaid {
    words: usize,
    more: usize,
    value: Option<usize>,
    why: usize,
    field: usize,
    refs: u32,
    joins: bool,
    behind: usize,
    doubt: bool,
    readings: Vec<Reading>,
}

/// A step with the lengths of its texts.
enum KeptStep {
    None,
    Message(u64),
    Name(usize),
    Key(usize),
    Index(u64),
    Field(usize, u64),
    Entry(usize, usize),
}

/// Events in order, and the bytes and texts in them.
#[derive(Default)]
struct Batch {
    events: Vec<Kept>,
    bytes: Vec<u8>,
}

impl Batch {
    fn clear(&mut self) {
        self.events.clear();
        self.bytes.clear();
    }

    fn keep(&mut self, bytes: &[u8]) -> usize {
        self.bytes.extend_from_slice(bytes);
        bytes.len()
    }

    fn keep_step(&mut self, step: Step<'_>) -> KeptStep {
        match step {
            Step::None => KeptStep::None,
            Step::Message(number) => KeptStep::Message(number),
            Step::Name(name) => KeptStep::Name(self.keep(name.as_bytes())),
            Step::Key(key) => KeptStep::Key(self.keep(key.as_bytes())),
            Step::Index(index) => KeptStep::Index(index),
            Step::Field(name, index) => KeptStep::Field(self.keep(name.as_bytes()), index),
            Step::Entry(name, key) => KeptStep::Entry(self.keep(name.as_bytes()), self.keep(key.as_bytes())),
        }
    }

    fn replay(&self, out: &mut dyn Sink) -> Flow {
        let mut cursor = Cursor { bytes: &self.bytes };
        for event in &self.events {
            match event {
                Kept::Open { id, parent, kind, step, start, again } => {
                    let step = cursor.step(step);
                    let (id, parent, kind, start, again) = (*id, *parent, *kind, *start, *again);
                    out.open(&Group { id, parent, kind, step, start, again })?;
                }
                Kept::Leaf(leaf, len) => out.leaf(leaf, cursor.take(*len))?,
                Kept::More(len) => out.more(cursor.take(*len))?,
                Kept::Close(id, end) => out.close(*id, *end)?,
                Kept::Found(found) => out.diagnostic(found)?,
                Kept::Said(kept) => {
                    let (words, more) = (cursor.text(kept.words), cursor.text(kept.more));
                    let value = kept.value.map(|len| cursor.text(len));
                    let (why, field) = (cursor.text(kept.why), cursor.text(kept.field));
                    let (behind, joins) = (cursor.text(kept.behind), kept.joins);
                    let (readings, doubt, refs) = (kept.readings.as_slice(), kept.doubt, kept.refs);
                    out.say(&Said { words, more, value, readings, doubt, why, field, refs, joins, behind })?;
                }
                Kept::Heading(text, from, rank) => {
                    let (text, from) = (cursor.text(*text), cursor.text(*from));
                    out.heading(&Heading { text, from, rank: *rank })?;
                }
                Kept::Foot(line) => out.foot(cursor.text(*line))?,
                Kept::Layer { name, by, start, end, size } => {
                    let name = cursor.text(*name);
                    out.layer(&Inner { name, by, start: *start, end: *end, size: *size })?;
                }
            }
        }
        Ok(())
    }
}

/// The bytes of a batch that are not replayed yet.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (now, later) = self.bytes.split_at_checked(len).unwrap_or((self.bytes, &[]));
        self.bytes = later;
        now
    }

    fn text(&mut self, len: usize) -> &'a str {
        // What was kept from a text is one.
        std::str::from_utf8(self.take(len)).unwrap_or("")
    }

    fn step(&mut self, step: &KeptStep) -> Step<'a> {
        match step {
            KeptStep::None => Step::None,
            KeptStep::Message(number) => Step::Message(*number),
            KeptStep::Name(len) => Step::Name(self.text(*len)),
            KeptStep::Key(len) => Step::Key(self.text(*len)),
            KeptStep::Index(index) => Step::Index(*index),
            KeptStep::Field(len, index) => Step::Field(self.text(*len), *index),
            KeptStep::Entry(name, key) => Step::Entry(self.text(*name), self.text(*key)),
        }
    }
}

impl Sink for Relay {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        let step = self.batch.keep_step(group.step);
        let Group { id, parent, kind, start, again, .. } = *group;
        self.batch.events.push(Kept::Open { id, parent, kind, step, start, again });
        self.check()
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        let len = self.batch.keep(head);
        self.batch.events.push(Kept::Leaf(*leaf, len));
        self.check()
    }

    fn more(&mut self, bytes: &[u8]) -> Flow {
        let len = self.batch.keep(bytes);
        self.batch.events.push(Kept::More(len));
        self.check()
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.batch.events.push(Kept::Close(id, end));
        self.check()
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.batch.events.push(Kept::Found(Box::new(found.clone())));
        self.check()
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        let words = self.batch.keep(said.words.as_bytes());
        let more = self.batch.keep(said.more.as_bytes());
        let value = said.value.map(|value| self.batch.keep(value.as_bytes()));
        let why = self.batch.keep(said.why.as_bytes());
        let field = self.batch.keep(said.field.as_bytes());
        let behind = self.batch.keep(said.behind.as_bytes());
        let (doubt, refs, joins, readings) = (said.doubt, said.refs, said.joins, said.readings.to_vec());
        let kept = KeptSaid { words, more, value, why, field, refs, joins, behind, doubt, readings };
        self.batch.events.push(Kept::Said(kept));
        self.check()
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Flow {
        let (text, from) = (self.batch.keep(heading.text.as_bytes()), self.batch.keep(heading.from.as_bytes()));
        self.batch.events.push(Kept::Heading(text, from, heading.rank));
        self.check()
    }

    fn wants_words(&self) -> bool {
        self.words
    }

    fn foot(&mut self, line: &str) -> Flow {
        let line = self.batch.keep(line.as_bytes());
        self.batch.events.push(Kept::Foot(line));
        self.check()
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        let name = self.batch.keep(layer.name.as_bytes());
        let Inner { by, start, end, size, .. } = *layer;
        self.batch.events.push(Kept::Layer { name, by, start, end, size });
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use crate::inspect::Options;
    use crate::model::num::len64;
    use crate::wire::reader::Window;

    /// Writes down what it is told.
    #[derive(Default)]
    struct Log(Vec<String>);

    impl Sink for Log {
        fn open(&mut self, group: &Group<'_>) -> Flow {
            self.0.push(format!("{group:?}"));
            Ok(())
        }

        fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
            self.0.push(format!("{leaf:?} {head:?}"));
            Ok(())
        }

        fn close(&mut self, id: GroupId, end: u64) -> Flow {
            self.0.push(format!("close {id} {end}"));
            Ok(())
        }

        fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
            self.0.push(found.message.clone());
            Ok(())
        }

        fn wants_words(&self) -> bool {
            true
        }

        fn say(&mut self, said: &Said<'_>) -> Flow {
            self.0.push(format!("{said:?}"));
            Ok(())
        }
    }

    fn inspection(bytes: &[u8]) -> Inspection {
        let options = Options { format: formats::by_name("protobuf"), ..Options::default() };
        Inspection::open("test".to_string(), Window::memory(bytes.to_vec()), &options).unwrap()
    }

    #[test]
    fn a_follower_is_told_the_same_in_the_same_order() {
        // Field 1: a text; field 2: a message; field 3: a length past the end.
        let bytes: Vec<u8> = [b"\x0a\x02hi\x12\x02\x08\x01".repeat(20_000), b"\x1a\x05x".to_vec()].concat();
        let (mut direct, mut beside, mut followed) = (Log::default(), Log::default(), Log::default());
        inspection(&bytes).walk(&mut direct).unwrap();
        let walked = walk(&mut inspection(&bytes), &mut followed, &mut beside).unwrap();
        assert_eq!((walked.size, walked.tally.errors), (len64(bytes.len()), 1));
        assert!(direct.0.len() > EVENTS, "more than one batch");
        assert!(direct.0 == followed.0);
    }

    #[test]
    fn what_stops_the_follower_stops_the_walk() {
        struct Refuses;
        impl Sink for Refuses {
            fn leaf(&mut self, _leaf: &Leaf, _head: &[u8]) -> Flow {
                Err(Stop::Closed)
            }
        }
        let bytes = b"\x08\x01".repeat(100_000);
        let stopped = walk(&mut inspection(&bytes), &mut Refuses, &mut Log::default());
        assert!(matches!(stopped, Err(Stop::Closed)));
    }
}
