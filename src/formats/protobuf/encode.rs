//! Writes Protobuf by a schema, from the values of JSON (ProtoJSON, as its readers take it) or of another
//! format. What does not fit the schema is refused by name and place.
//!
//! ```text
//! events ── step ──> the innermost frame says what is due ──> Buffer ── a message is whole ──> out
//!                     Message: a name, then the value of its field
//!                     Elements, Entries: those of a repeated field, of a map
//!                     Object, List: a Struct, a ListValue        Any…: see [`any`]
//! ```

mod any;
pub mod buffer;
mod dynamic;
mod many;
mod scalars;

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use crate::formats::here::Here;
use crate::formats::protobuf::encode::any::Held;
use crate::formats::protobuf::encode::buffer::Buffer;
use crate::formats::protobuf::unframe;
use crate::formats::protobuf::values::NULL_VALUE;
use crate::formats::protobuf::wire::WireType;
use crate::formats::target::{found_words, nearest, shown};
use crate::formats::{EncodeOptions, Encoder};
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::limits::PROTOBUF_DEPTH;
use crate::model::num::count;
use crate::model::schema::{Bound, Cardinality, Field, FieldKind, Message, MessageId, Presence, Schema, WellKnown};
use crate::model::survey::Survey;
use crate::model::value::{Event, Scalar, Shape};

/// A writer of a variant. Without a schema it refuses whatever comes.
pub fn encoder<'a>(
    variant: &str,
    options: EncodeOptions<'a>,
    _survey: &'a Survey,
    out: &'a mut dyn Write,
) -> Box<dyn Encoder + 'a> {
    let writable = [unframe::PLAIN, unframe::DELIMITED, unframe::GRPC, unframe::GROUPS];
    match (options.schema, writable.iter().find(|known| **known == variant)) {
        (Some(bound), Some(variant)) => Box::new(Writer::new(variant, bound, options.ignore_unknown, out)),
        (None, _) => Box::new(Refuses("converting to Protobuf needs a schema: -s SCHEMA and -t TYPE".to_string())),
        (_, None) => {
            Box::new(Refuses(format!("protobuf/{variant} is only read; plain, delimited and grpc are written")))
        }
    }
}

/// Refuses everything, for one reason.
struct Refuses(String);

impl Sink for Refuses {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, _event: Event<'_>) -> Flow {
        Err(Stop::Refused(self.0.clone()))
    }
}

impl Encoder for Refuses {
    fn finish(&mut self) -> Flow {
        Err(Stop::Refused(self.0.clone()))
    }
}

/// What is due next in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Name,
    /// The value of the field at a position.
    Value(usize),
    /// A value that is left out.
    Ignored,
}

/// A container of the input, by what it becomes. `open` is how many things stay open behind it.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// The list around the messages of a row.
    Rows,
    /// A message.
    Message { id: MessageId, due: Due, members: usize, oneofs: usize, start: u64, open: usize },
    /// A repeated field; `packed` says that tag and length stand once.
    Elements { id: MessageId, place: usize, packed: bool, open: usize },
    /// A map; `key` says that a key is due.
    Entries { id: MessageId, place: usize, key: bool, open: usize },
    /// A Struct.
    Object { key: bool, open: usize },
    /// A ListValue.
    List { open: usize },
    /// An Any of which nothing is known yet.
    Any { start: u64, open: usize },
    /// Its type comes next.
    AnyType { open: usize },
    /// An Any whose type comes later: everything is held back. `depth` containers are open in it.
    AnyHeld { start: u64, depth: usize, open: usize },
    /// An Any of a type with a form of its own, or of none that is known: its `value`.
    AnyValue { inner: Option<MessageId>, seen: bool, due: bool, start: u64, open: usize },
    /// Left out; so many containers are open in it.
    Skip { depth: usize },
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    variant: &'static str,
    schema: &'a Schema,
    root: MessageId,
    ignore_unknown: bool,
    /// Types that have a required field, by number.
    requires: Vec<bool>,
    names: HashMap<MessageId, HashMap<&'a str, usize>>,
    buffer: Buffer,
    frames: Vec<Frame>,
    /// Oneofs of the open messages that have a member, with its number.
    oneofs: Vec<(u32, u32)>,
    /// What an Any held back, to be taken before anything else.
    queue: VecDeque<Held>,
    held: Vec<Held>,
    /// A message has begun.
    active: bool,
    written: u64,
    ignored: u64,
    /// Where it is in the input.
    here: Here,
}

impl<'a> Writer<'a> {
    fn new(variant: &'static str, bound: Bound<'a>, ignore_unknown: bool, out: &'a mut dyn Write) -> Writer<'a> {
        let requires = |message: &Message| message.fields.iter().any(|field| field.presence == Presence::Required);
        Writer {
            out,
            variant,
            schema: bound.schema,
            root: bound.root,
            ignore_unknown,
            requires: bound.schema.messages.iter().map(requires).collect(),
            names: HashMap::new(),
            buffer: Buffer::default(),
            frames: Vec::new(),
            oneofs: Vec::new(),
            queue: VecDeque::new(),
            held: Vec::new(),
            active: false,
            written: 0,
            ignored: 0,
            here: Here::default(),
        }
    }

    fn groups(&self) -> bool {
        self.variant == unframe::GROUPS
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

    /// Takes an event where the innermost frame stands.
    fn step(&mut self, event: Event<'_>) -> Flow {
        match self.frames.last().copied() {
            None | Some(Frame::Rows) => self.top(&event)?,
            Some(Frame::Message { id, due, .. }) => self.in_message(id, due, &event)?,
            Some(Frame::Elements { id, place, packed, open }) => self.in_elements(id, place, packed, open, &event)?,
            Some(Frame::Entries { id, place, key, open }) => self.in_entries(id, place, key, open, &event)?,
            Some(Frame::Object { key, open }) => self.in_object(key, open, &event)?,
            Some(Frame::List { open }) => self.in_list(open, &event)?,
            Some(Frame::Any { start, open }) => self.in_any(start, open, event)?,
            Some(Frame::AnyType { open }) => self.any_type(open, &event)?,
            Some(Frame::AnyHeld { start, depth, open }) => self.hold(start, depth, open, event)?,
            Some(Frame::AnyValue { inner, seen, due, start, open }) => {
                self.any_value((inner, seen, due), start, open, &event)?;
            }
            Some(Frame::Skip { depth }) => self.skip(depth, &event),
        }
        if self.buffer.open() > PROTOBUF_DEPTH {
            return self.misfit(
                format!("more than {PROTOBUF_DEPTH} messages within each other"),
                "Protobuf readers stop there",
            );
        }
        if self.active && matches!(self.frames.last(), None | Some(Frame::Rows)) {
            self.flush()?;
        }
        Ok(())
    }

    /// A message is whole.
    fn flush(&mut self) -> Flow {
        self.active = false;
        self.written = self.written.saturating_add(1);
        if unframe::is_stream(self.variant) {
            let mut framed = Vec::new();
            unframe::frame(self.variant, &self.buffer.bytes, &mut framed)?;
            self.out.write_all(&framed)?;
        } else if self.written > 1 {
            let sentence = "several messages: protobuf/plain holds one; protobuf/delimited holds a row of them";
            return Err(Stop::Refused(sentence.to_string()));
        } else {
            self.out.write_all(&self.buffer.bytes)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// A message is due, or the list around several.
    fn top(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Message(_) => return Ok(()),
            Event::End => {
                self.frames.pop();
                return Ok(());
            }
            Event::Begin(Shape::List, _) if self.frames.is_empty() && unframe::is_stream(self.variant) => {
                self.frames.push(Frame::Rows);
                return Ok(());
            }
            _ => {}
        }
        self.active = true;
        self.message_value(self.root, event, 0)
    }

    fn skip(&mut self, depth: usize, event: &Event<'_>) {
        let depth = match event {
            Event::Begin(..) => depth.saturating_add(1),
            Event::End => depth.saturating_sub(1),
            _ => depth,
        };
        if depth == 0 {
            self.frames.pop();
        } else if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Skip { depth };
        }
    }

    fn set_due(&mut self, next: Due) {
        if let Some(Frame::Message { due, .. }) = self.frames.last_mut() {
            *due = next;
        }
    }

    fn in_message(&mut self, id: MessageId, due: Due, event: &Event<'_>) -> Flow {
        match (due, event) {
            (_, Event::End) => self.end_message(),
            (Due::Name, Event::Scalar(Scalar::Text(name))) => self.name(id, name),
            (Due::Name, Event::Scalar(Scalar::Uint(number))) => self.name(id, number.to_string().as_bytes()),
            (Due::Name, _) => self.expected("the name of a field", event),
            (Due::Ignored, _) => {
                self.set_due(Due::Name);
                if matches!(event, Event::Begin(..)) {
                    self.frames.push(Frame::Skip { depth: 1 });
                }
                Ok(())
            }
            (Due::Value(place), _) => {
                self.set_due(Due::Name);
                self.field(id, place, event)
            }
        }
    }

    /// The name of a member.
    fn name(&mut self, id: MessageId, name: &[u8]) -> Flow {
        let schema = self.schema;
        let Some(message) = schema.message(id) else { return Ok(()) };
        let text = String::from_utf8_lossy(name);
        if let Some(place) = self.place(id, message, &text) {
            let number = message.fields.get(place).map_or(0, |field| field.number);
            self.buffer.member(number);
            self.set_due(Due::Value(place));
            return Ok(());
        }
        if self.ignore_unknown {
            self.ignored = self.ignored.saturating_add(1);
            self.set_due(Due::Ignored);
            return Ok(());
        }
        let near = nearest(&text, message.fields.iter().flat_map(|field| [field.json.as_str(), field.name.as_str()]));
        let near = if near.is_empty() { near } else { format!("{near}; ") };
        let start = self.here.begun();
        let sentence = format!("{} has no field `{}`", message.full_name, shown(&text));
        self.misfit_at(start, sentence, format!("{near}--ignore-unknown leaves it out"))
    }

    /// Position of the field with this name.
    fn place(&mut self, id: MessageId, message: &'a Message, name: &str) -> Option<usize> {
        let names = self.names.entry(id).or_insert_with(|| {
            let numbered = message.fields.iter().enumerate();
            // A name in JSON goes before the original name of another field.
            let originals = numbered.clone().map(|(place, field)| (field.name.as_str(), place));
            let json =
                numbered.filter(|(_, field)| !field.extension).map(|(place, field)| (field.json.as_str(), place));
            originals.chain(json).collect()
        });
        names.get(name).copied()
    }

    fn field_at(&self, id: MessageId, place: usize) -> Option<&'a Field> {
        self.schema.message(id)?.fields.get(place)
    }

    /// The value of a member.
    fn field(&mut self, id: MessageId, place: usize, event: &Event<'_>) -> Flow {
        let Some(field) = self.field_at(id, place) else { return Ok(()) };
        let open = self.buffer.open();
        let null = matches!(event, Event::Scalar(Scalar::Null | Scalar::Missing));
        if null && !(field.cardinality == Cardinality::Singular && self.takes_null(&field.kind)) {
            return Ok(());
        }
        match (field.cardinality, event) {
            (Cardinality::Singular, _) => {
                self.one_of(id, field)?;
                self.single(id, field, event)
            }
            (Cardinality::Repeated, Event::Begin(Shape::List, _)) => {
                let packed = field.packed && !self.groups() && field.kind.is_packable();
                if packed {
                    self.buffer.begin_unless_empty(field.number);
                }
                self.frames.push(Frame::Elements { id, place, packed, open });
                Ok(())
            }
            (Cardinality::Map, Event::Begin(Shape::Map, _)) => {
                if self.groups() {
                    self.buffer.begin_group_unless_empty(field.number);
                }
                self.frames.push(Frame::Entries { id, place, key: true, open });
                Ok(())
            }
            (Cardinality::Repeated, _) => self.expected("an array", event),
            (Cardinality::Map, _) => self.expected("an object", event),
        }
    }

    /// Whether null is a value of this kind, and not the absence of one.
    fn takes_null(&self, kind: &FieldKind) -> bool {
        match kind {
            FieldKind::Enum(id) => self.schema.enumeration(*id).is_some_and(|known| known.full_name == NULL_VALUE),
            FieldKind::Message(id) | FieldKind::Group(id) => self.well_known(*id) == WellKnown::Value,
            _ => false,
        }
    }

    fn well_known(&self, id: MessageId) -> WellKnown {
        self.schema.message(id).map_or(WellKnown::No, |message| message.well_known)
    }

    /// Refuses a second member of a oneof.
    fn one_of(&mut self, id: MessageId, field: &Field) -> Flow {
        let Some(oneof) = field.oneof else { return Ok(()) };
        let from = match self.frames.last() {
            Some(Frame::Message { oneofs, .. }) => *oneofs,
            _ => 0,
        };
        let open = self.oneofs.get(from..).unwrap_or(&[]);
        let Some((_, other)) = open.iter().find(|(known, _)| *known == oneof).copied() else {
            self.oneofs.push((oneof, field.number));
            return Ok(());
        };
        if other == field.number {
            return Ok(());
        }
        let message = self.schema.message(id);
        let name = message.and_then(|message| message.oneofs.get(usize::try_from(oneof).ok()?)).map_or("", |name| name);
        let other = message.and_then(|message| message.field(other)).map_or("", |field| &field.json);
        let start = self.here.begun();
        self.misfit_at(start, format!("oneof `{name}` has `{other}` already"), "only one member of a oneof may be set")
    }

    /// A single value with its tag.
    fn single(&mut self, id: MessageId, field: &Field, event: &Event<'_>) -> Flow {
        let open = self.buffer.open();
        if let Some(inner) = field.kind.message() {
            self.begin_nested(id, field);
            return self.message_value(inner, event, open);
        }
        let start = self.buffer.bytes.len();
        self.buffer.tag(field.number, WireType::of_kind(&field.kind));
        let default = self.scalar(&field.kind, event)?;
        // Protostuff writes what is there, whatever it is.
        if default
            && field.presence == Presence::Implicit
            && field.cardinality == Cardinality::Singular
            && !self.groups()
        {
            self.buffer.bytes.truncate(start);
        }
        Ok(())
    }

    /// Tag and room for the length of a nested message.
    fn begin_nested(&mut self, id: MessageId, field: &Field) {
        if self.schema.message(id).is_some_and(|message| message.message_set) {
            self.buffer.begin_group(1);
            self.buffer.varint_field(2, u64::from(field.number));
            self.buffer.begin(3);
        } else if self.groups() || matches!(field.kind, FieldKind::Group(_)) {
            self.buffer.begin_group(field.number);
        } else {
            self.buffer.begin(field.number);
        }
    }

    /// A value without parts, without tag; whether it is the default of its kind.
    fn scalar(&mut self, kind: &FieldKind, event: &Event<'_>) -> Result<bool, Stop> {
        let noun = || scalars::noun(kind, self.schema);
        let Event::Scalar(value) = event else { return self.expected(&noun(), event) };
        match scalars::push(kind, value, self.schema, &mut self.buffer.bytes) {
            Some(default) => Ok(default),
            None => {
                let sentence = format!("expected {}, found {}", noun(), found_words(event));
                self.misfit(sentence, scalars::help(kind, value, self.schema))
            }
        }
    }

    /// An object becomes a message of its fields.
    fn begin_message(&mut self, id: MessageId, open: usize) {
        let (members, oneofs) = (self.buffer.members(), self.oneofs.len());
        self.frames.push(Frame::Message { id, due: Due::Name, members, oneofs, start: self.here.start, open });
    }

    fn end_message(&mut self) -> Flow {
        let Some(Frame::Message { id, members, oneofs, start, open, .. }) = self.frames.last().copied() else {
            return Ok(());
        };
        let requires = usize::try_from(id.0).ok().and_then(|at| self.requires.get(at)).copied().unwrap_or(false);
        let fields = self.schema.message(id).map_or(&[][..], |message| &message.fields);
        let missing = |field: &&Field| field.presence == Presence::Required && !self.buffer.has(members, field.number);
        if let Some(field) = fields.iter().filter(|_| requires).find(missing) {
            return self.misfit_at(start, format!("required field `{}` is missing", field.json), "");
        }
        self.buffer.sort(members);
        self.oneofs.truncate(oneofs);
        self.frames.pop();
        self.buffer.close_to(open);
        Ok(())
    }
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

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        let Some(event) = self.here.event(event) else { return Ok(()) };
        self.step(event)?;
        self.replay()
    }
}

impl Encoder for Writer<'_> {
    fn finish(&mut self) -> Flow {
        Ok(self.out.flush()?)
    }

    fn losses(&self) -> Vec<String> {
        let names = count(self.ignored, "name", "names");
        let sentence = format!("{names} that the type does not have left out");
        if self.ignored > 0 { vec![sentence] } else { Vec::new() }
    }
}
