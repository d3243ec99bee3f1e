//! Writes messages by a schema, from the values of JSON as `capnp convert` reads them, or of another format; the bytes
//! are those of `capnp convert json:binary`. What does not fit the schema is refused by name and place.
//!
//! ```text
//! events ── step ──> the innermost frame says what is due ──> deliver ──> Arena ── lay_out ──> words
//!                     Struct: a name, then its value            │ a list is whole
//!                     List, Bytes: elements in scratch          └──> a pointer of the object around it
//!                     Hold: a member of a union whose tag comes later
//! ```

mod frames;
mod hold;
mod json_value;
mod lookup;
mod parts;
mod scalars;
mod unions;

use std::borrow::Cow;
use std::io::Write;

use crate::formats::capnp::builder::{Arena, Form, lay_out};
use crate::formats::capnp::encode::frames::{Due, Frame, Target};
use crate::formats::capnp::encode::hold::Waiting;
use crate::formats::capnp::encode::lookup::{Lookup, Way};
use crate::formats::capnp::encode::unions::Unions;
use crate::formats::capnp::names::JSON_VALUE;
use crate::formats::capnp::{pack, text};
use crate::formats::here::{Held, Here, depth_behind};
use crate::formats::target::{found_words, nearest, shown};
use crate::formats::{EncodeOptions, Encoder};
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::capnp::{Capnp, Field, FieldKind, Struct, Type};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::limits::CAPNP_DEPTH;
use crate::model::num::{count, len64};
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

/// Words that are made bytes at once.
const CHUNK: usize = 4096;

/// A writer of a variant. Without a schema it refuses whatever comes.
pub fn encoder<'a>(variant: &str, options: EncodeOptions<'a>, out: &'a mut dyn Write) -> Box<dyn Encoder + 'a> {
    let bound = options.schema.and_then(|bound| Some((bound.schema.capnp.as_deref()?, bound.root)));
    match bound {
        Some((capnp, root)) => Box::new(Writer::new(Dialect::of(variant), capnp, root, options, out)),
        None => Box::new(Refuses),
    }
}

/// Refuses everything: there is no schema.
struct Refuses;

impl Refuses {
    fn refuse(&self) -> Flow {
        Err(Stop::Refused("converting to Cap'n Proto needs a schema: -s SCHEMA and -t TYPE".to_string()))
    }
}

impl Sink for Refuses {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, _event: Event<'_>) -> Flow {
        self.refuse()
    }
}

impl Encoder for Refuses {
    fn finish(&mut self) -> Flow {
        self.refuse()
    }
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Framed,
    Packed,
    Flat,
    FlatPacked,
    Canonical,
    Text,
}

impl Dialect {
    fn of(variant: &str) -> Dialect {
        match variant {
            "packed" => Dialect::Packed,
            "flat" => Dialect::Flat,
            "flat-packed" => Dialect::FlatPacked,
            "canonical" => Dialect::Canonical,
            "text" => Dialect::Text,
            _ => Dialect::Framed,
        }
    }

    /// Whether messages can follow each other.
    fn is_row(self) -> bool {
        matches!(self, Dialect::Framed | Dialect::Packed | Dialect::Text)
    }
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    dialect: Dialect,
    capnp: &'a Capnp,
    root: MessageId,
    stream: bool,
    ignore_unknown: bool,
    lookup: Lookup<'a>,
    arena: Arena,
    frames: Vec<Frame>,
    /// Objects within each other.
    depth: usize,
    /// Elements of open lists that are stored in place; bools a byte each.
    bytes: Vec<u8>,
    /// Elements of open lists that are objects.
    pointers: Vec<u64>,
    unions: Unions,
    waiting: Vec<Waiting>,
    held: Vec<Held>,
    /// Name of the member that is held, and where it stands.
    held_name: (String, u64),
    /// The root of the message that is being written.
    message: Option<usize>,
    messages: u64,
    ignored: u64,
    /// Where it is in the input.
    here: Here,
}

impl<'a> Writer<'a> {
    fn new(
        dialect: Dialect,
        capnp: &'a Capnp,
        root: MessageId,
        options: EncodeOptions<'a>,
        out: &'a mut dyn Write,
    ) -> Writer<'a> {
        Writer {
            out,
            dialect,
            capnp,
            root,
            stream: options.stream,
            ignore_unknown: options.ignore_unknown,
            lookup: Lookup::new(capnp),
            arena: Arena::default(),
            frames: Vec::new(),
            depth: 0,
            bytes: Vec::new(),
            pointers: Vec::new(),
            unions: Unions::default(),
            waiting: Vec::new(),
            held: Vec::new(),
            held_name: (String::new(), 0),
            message: None,
            messages: 0,
            ignored: 0,
            here: Here::default(),
        }
    }

    /// A misfit at the value that is being taken.
    fn misfit<T>(&self, message: impl Into<String>, help: impl Into<String>) -> Result<T, Stop> {
        self.misfit_at(self.here.start, message, help)
    }

    fn misfit_at<T>(&self, start: u64, message: impl Into<String>, help: impl Into<String>) -> Result<T, Stop> {
        Err(self.here.misfit(start, message, help))
    }

    /// `expected an object, found 5`
    fn expected<T>(&self, what: &str, found: &Event<'_>) -> Result<T, Stop> {
        self.misfit(format!("expected {what}, found {}", found_words(found)), "")
    }

    fn record(&self, id: MessageId) -> Option<&'a Struct> {
        self.capnp.record(id)
    }

    fn field(&self, target: Target) -> Option<&'a Field> {
        self.record(target.id)?.fields.get(target.field)
    }

    /// Takes an event where the innermost frame stands.
    fn step(&mut self, event: &Event<'_>) -> Flow {
        match self.frames.last().copied() {
            None => self.top(event),
            Some(Frame::Struct { at, id, due, .. }) => self.in_struct(at, id, due, event),
            Some(Frame::List { of, .. }) => self.in_list(of, event),
            Some(Frame::Bytes { bytes }) => self.in_bytes(bytes, event),
            Some(Frame::JsonArray { .. } | Frame::JsonObject { .. }) => self.in_json(event),
            Some(Frame::Hold { depth }) => self.in_hold(depth, event),
            Some(Frame::Skip { depth }) => {
                self.skip(depth, event);
                Ok(())
            }
        }
    }

    /// A message is due.
    fn top(&mut self, event: &Event<'_>) -> Flow {
        if self.messages > 0 && !self.dialect.is_row() {
            return Err(Stop::Refused("several messages: without a segment table there can be one".to_string()));
        }
        let json = self.record(self.root).is_some_and(|record| record.id == JSON_VALUE);
        if !json && !matches!(event, Event::Begin(Shape::Map, _)) {
            return self.expected("an object", event);
        }
        let at = self.add_struct(self.root);
        self.message = Some(at);
        if json { self.json_value(at, self.root, event) } else { self.begin_struct(at, self.root, true) }
    }

    /// A struct of zeros.
    fn add_struct(&mut self, id: MessageId) -> usize {
        let (data, pointers) = self.record(id).map_or((0, 0), |record| (record.data_words, record.pointers));
        self.arena.add_struct(data, pointers)
    }

    /// Fields of an object come next.
    fn begin_struct(&mut self, at: usize, id: MessageId, own: bool) -> Flow {
        if own {
            self.deeper(1)?;
        }
        self.frames.push(Frame::Struct { at, id, due: Due::Name, own });
        Ok(())
    }

    /// So many more objects within each other.
    fn deeper(&mut self, by: usize) -> Flow {
        self.depth = self.depth.saturating_add(by);
        if self.depth > CAPNP_DEPTH {
            let message = format!("more than {CAPNP_DEPTH} structs and lists within each other");
            return self.misfit(message, "Cap'n Proto readers stop there");
        }
        Ok(())
    }

    fn skip(&mut self, depth: usize, event: &Event<'_>) {
        match depth_behind(depth, event) {
            0 => drop(self.frames.pop()),
            depth => self.frames.last_mut().into_iter().for_each(|frame| *frame = Frame::Skip { depth }),
        }
    }

    fn set_due(&mut self, to: Due) {
        if let Some(Frame::Struct { due, .. }) = self.frames.last_mut() {
            *due = to;
        }
    }

    fn in_struct(&mut self, at: usize, id: MessageId, due: Due, event: &Event<'_>) -> Flow {
        match (due, event) {
            (Due::Name, Event::End) => self.end_struct(),
            (Due::Name, Event::Scalar(Scalar::Text(name))) => self.name(at, id, &String::from_utf8_lossy(name)),
            (Due::Name, Event::Scalar(Scalar::Uint(number))) => self.name(at, id, &number.to_string()),
            (Due::Name, _) => self.expected("the name of a field", event),
            (Due::Ignored, _) => {
                self.set_due(Due::Name);
                if matches!(event, Event::Begin(..)) {
                    self.frames.push(Frame::Skip { depth: 1 });
                }
                Ok(())
            }
            (Due::Held, _) => self.begin_hold(event),
            (Due::Tag(at, id), _) => self.tag(at, id, event),
            (Due::Value(target), _) => self.field_value(target, event),
        }
    }

    /// The name of a field.
    fn name(&mut self, at: usize, id: MessageId, name: &str) -> Flow {
        if let Some(due) = self.place(at, id, name) {
            if due == Due::Held {
                self.held_name = (name.to_string(), self.here.begun());
            }
            self.set_due(due);
            return Ok(());
        }
        if self.ignore_unknown {
            self.ignored = self.ignored.saturating_add(1);
            self.set_due(Due::Ignored);
            return Ok(());
        }
        let table = self.lookup.table(id);
        let near = nearest(name, table.names.iter().map(String::as_str));
        let near = if near.is_empty() { near } else { format!("{near}; ") };
        let start = self.here.begun();
        let sentence = format!("{} has no field `{}`", self.capnp.type_name(Type::Struct(id)), shown(name));
        self.misfit_at(start, sentence, format!("{near}--ignore-unknown leaves it out"))
    }

    /// What a name stands for; none where it stands for nothing.
    fn place(&mut self, mut at: usize, mut id: MessageId, name: &str) -> Option<Due> {
        let mut name = Cow::Borrowed(name);
        // A name of a field beside others can lead through as many structs as there are.
        for _ in 0..CAPNP_DEPTH {
            let table = self.lookup.table(id);
            let (way, known) = table.find(&name)?;
            let set = || self.unions.told(self.frames.len(), at, id).then(|| self.set_member(at, id)).flatten();
            let (field, prefix) = match way {
                Way::Field(field) => return Some(Due::Value(Target { at, id, field })),
                Way::Tag => return Some(Due::Tag(at, id)),
                Way::Member => {
                    return Some(set().map_or(Due::Held, |field| Due::Value(Target { at, id, field })));
                }
                Way::Into { prefix, member: true, .. } => match set() {
                    Some(field) => (field, prefix),
                    None => return Some(Due::Held),
                },
                Way::Into { field, prefix, member: false } => (field, prefix),
            };
            name = Cow::Owned(known.get(prefix..)?.to_string());
            (at, id) = self.inner(Target { at, id, field })?;
        }
        None
    }

    /// The object whose fields stand beside those of the struct around it; made where it is not there.
    fn inner(&mut self, target: Target) -> Option<(usize, MessageId)> {
        match &self.field(target)?.kind {
            FieldKind::Group(id) => Some((target.at, *id)),
            FieldKind::Slot(slot) => {
                let Type::Struct(id) = slot.ty else { return None };
                let known = self.arena.pointer(target.at, slot.offset);
                if known != 0 {
                    return Some((known, id));
                }
                let made = self.add_struct(id);
                self.arena.set_pointer(target.at, slot.offset, made);
                Some((made, id))
            }
        }
    }

    fn end_struct(&mut self) -> Flow {
        self.release()?;
        if let Some(Frame::Struct { own, .. }) = self.frames.pop() {
            self.depth = self.depth.saturating_sub(usize::from(own));
        }
        self.unions.forget(self.frames.len());
        Ok(())
    }

    /// An object is whole: it goes where the frame around it says.
    fn deliver(&mut self, place: Option<usize>) -> Flow {
        let Some(place) = place else {
            return Err(Stop::Refused("a list of more than 536,870,911 elements or words".to_string()));
        };
        match self.frames.last().copied() {
            Some(Frame::Struct { due: Due::Value(target), .. }) => {
                if let Some(FieldKind::Slot(slot)) = self.field(target).map(|field| &field.kind) {
                    self.arena.set_pointer(target.at, slot.offset, place);
                }
                self.set_due(Due::Name);
            }
            Some(Frame::List { .. }) => {
                self.pointers.push(len64(place));
                self.count_element();
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes an event, and writes the message that it completes.
    fn take(&mut self, event: &Event<'_>) -> Flow {
        self.step(event)?;
        if !self.frames.is_empty() {
            return Ok(());
        }
        let Some(root) = self.message.take() else { return Ok(()) };
        self.messages = self.messages.saturating_add(1);
        self.write(root)?;
        self.arena.clear();
        self.depth = 0;
        Ok(())
    }

    /// Writes a whole message.
    fn write(&mut self, root: usize) -> Flow {
        if self.dialect == Dialect::Text {
            let line = text::message(self.capnp, &mut self.arena, root, self.root);
            self.out.write_all(line.as_bytes())?;
            return Ok(self.out.write_all(b"\n")?);
        }
        let form = if self.dialect == Dialect::Canonical { Form::Canonical } else { Form::Full };
        let Some(words) = lay_out(&self.arena, root, form) else {
            return Err(Stop::Refused("a message of more than 4 GiB, which offsets do not reach".to_string()));
        };
        // Number of segments - 1, and words of the only one.
        let table = len64(words.len()) << 32;
        match self.dialect {
            Dialect::Framed => {
                self.out.write_all(&table.to_le_bytes())?;
                write_words(self.out, &words)
            }
            Dialect::Packed => write_packed(self.out, &[&[table], &words]),
            Dialect::FlatPacked => write_packed(self.out, &[&words]),
            Dialect::Flat | Dialect::Canonical | Dialect::Text => write_words(self.out, &words),
        }
    }
}

fn write_words(out: &mut dyn Write, words: &[u64]) -> Flow {
    let mut bytes = Vec::with_capacity(CHUNK.saturating_mul(8));
    for chunk in words.chunks(CHUNK) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|word| word.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Packs pieces, each for itself: no run goes on from one to the next.
fn write_packed(out: &mut dyn Write, pieces: &[&[u64]]) -> Flow {
    let mut packed = Vec::new();
    pieces.iter().for_each(|words| pack::pack(words, &mut packed));
    Ok(out.write_all(&packed)?)
}

impl Sink for Writer<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.here.open(group);
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        self.here.close();
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, _head: &[u8]) -> Flow {
        self.here.leaf(leaf);
        Ok(())
    }

    fn path(&self) -> Option<&str> {
        Some(self.here.group_path())
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match self.here.event(event) {
            Some(Event::Message(_)) | None => Ok(()),
            Some(event) => self.take(&event),
        }
    }
}

impl Encoder for Writer<'_> {
    fn finish(&mut self) -> Flow {
        if self.messages == 0 && !(self.stream && self.dialect.is_row()) {
            return Err(Stop::Refused("no message: there has to be one".to_string()));
        }
        Ok(self.out.flush()?)
    }

    fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        if self.ignored > 0 {
            losses.push(format!("{} that the type does not have left out", count(self.ignored, "name", "names")));
        }
        let replaced = self.unions.replaced;
        if replaced > 0 {
            losses.push(format!(
                "{} of unions left out, where another one comes behind",
                count(replaced, "member", "members")
            ));
        }
        losses
    }
}
