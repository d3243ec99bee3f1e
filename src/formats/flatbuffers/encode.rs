//! Writes FlatBuffers by a schema, from the values of JSON or of another format; the bytes are those that `flatc -b`
//! writes for the same values in the same order, or those of another known writer ([`FlatWriter`]).
//!
//! ```text
//! events ── step ──> the innermost frame says what is due
//!                     Table: a name, then its value     Vector, Array: elements     Struct: members
//!                     a child is written when it ends, and kept as an offset for what holds it
//! ```

pub use finish::{OwnedKey, owned};

mod finish;
mod order;
mod scalars;
mod structs;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::io::Write;

use crate::formats::flatbuffers::builder::Builder;
use crate::formats::target::{found_words, nearest, shown};
use crate::formats::{EncodeOptions, Encoder, FlatOrder, FlatWriter};
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::events::{Flow, Misfit, PathStack, Sink, Stop};
use crate::model::flat::{EnumId, Field, Flat, Object, Of, Shape as FieldShape};
use crate::model::limits::FLATBUFFERS_DEPTH;
use crate::model::num::count;
use crate::model::schema::{Bound, MessageId};
use crate::model::value::{Event, Long, Scalar, Shape};

/// A writer of a variant. Without a schema it refuses whatever comes.
pub fn encoder<'a>(variant: &str, options: EncodeOptions<'a>, out: &'a mut dyn Write) -> Box<dyn Encoder + 'a> {
    let flat = options.schema.and_then(|bound| Some((bound, bound.schema.flat.as_deref()?)));
    let Some((bound, flat)) = flat else {
        return Box::new(Refuses("converting to FlatBuffers needs a schema: -s FILE.fbs, and -t TYPE".to_string()));
    };
    let writer = Writer::new(variant == "size-prefixed", bound, flat, options, out);
    if options.flat.order == FlatOrder::Met { Box::new(writer) } else { Box::new(order::Ordered::new(writer)) }
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

/// A value that waits for what holds it.
#[derive(Debug, Clone, Copy)]
enum Stored {
    /// A scalar of so many bytes.
    Scalar { bits: u64, size: u8 },
    /// The position of an object.
    Offset(u64),
    /// A struct, at this place of [`Writer::structs`].
    Struct { from: usize, len: usize, align: u64 },
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

/// A container of the input, by what it becomes. `from` is where its values begin in [`Writer::values`].
#[derive(Debug, Clone, Copy)]
enum Frame {
    Table {
        ty: MessageId,
        due: Due,
        from: usize,
        structs: usize,
        start: u64,
    },
    /// A struct whose bytes are at `at` of [`Writer::structs`]; `seen` counts its members.
    Struct {
        ty: MessageId,
        due: Due,
        at: usize,
        seen: usize,
        start: u64,
    },
    /// A vector; `types` says where the types of its unions begin in [`Writer::types`].
    Vector {
        of: Of,
        wide: bool,
        from: usize,
        structs: usize,
        types: Option<usize>,
        place: usize,
        owner: MessageId,
    },
    /// An array in a struct.
    Array {
        of: Of,
        at: usize,
        count: u16,
        next: u16,
    },
    /// A buffer inside.
    Nested,
    /// Left out; so many containers are open in it.
    Skip {
        depth: usize,
    },
    /// Held back until the type of a union is known; so many containers are open.
    Held {
        place: usize,
        depth: usize,
        key: bool,
        found: bool,
    },
}

/// An event that was held back, with where it stood.
#[derive(Debug)]
struct Held {
    event: OwnedEvent,
    start: u64,
    path: String,
}

#[derive(Debug)]
enum OwnedEvent {
    Begin(Shape, Option<u64>),
    End,
    Scalar(Scalar<'static>),
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    prefix: bool,
    flat: &'a Flat,
    root: MessageId,
    ignore_unknown: bool,
    style: FlatWriter,
    builder: Builder,
    /// Builders of the buffers around the one that is being written.
    outer: Vec<Builder>,
    frames: Vec<Frame>,
    values: Vec<(usize, Stored)>,
    /// Fields of tables whose values are being gathered, innermost last.
    pending: Vec<usize>,
    structs: Vec<u8>,
    /// Types of the unions in vectors, for each vector of types that was met: owner frame, field, numbers.
    types: Vec<(usize, usize, Vec<u64>)>,
    names: HashMap<MessageId, Places, foldhash::fast::FixedState>,
    long: Vec<u8>,
    queue: VecDeque<Held>,
    held: Vec<Held>,
    replayed: Option<(u64, String)>,
    paths: PathStack,
    opened: u64,
    last: (u64, u64),
    start: u64,
    written: u64,
    ignored: u64,
}

impl<'a> Writer<'a> {
    fn new(
        prefix: bool,
        bound: Bound<'a>,
        flat: &'a Flat,
        options: EncodeOptions<'a>,
        out: &'a mut dyn Write,
    ) -> Writer<'a> {
        Writer {
            out,
            prefix,
            flat,
            root: bound.root,
            ignore_unknown: options.ignore_unknown,
            style: options.flat,
            builder: Builder::new(!options.flat.own_vtables),
            outer: Vec::new(),
            frames: Vec::new(),
            values: Vec::new(),
            pending: Vec::new(),
            structs: Vec::new(),
            types: Vec::new(),
            names: HashMap::default(),
            long: Vec::new(),
            queue: VecDeque::new(),
            held: Vec::new(),
            replayed: None,
            paths: PathStack::default(),
            opened: 0,
            last: (0, 0),
            start: 0,
            written: 0,
            ignored: 0,
        }
    }

    /// A misfit at the value that is being taken.
    fn misfit<T>(&self, message: impl Into<String>, help: impl Into<String>) -> Result<T, Stop> {
        self.misfit_at(self.start, message, help)
    }

    fn misfit_at<T>(&self, start: u64, message: impl Into<String>, help: impl Into<String>) -> Result<T, Stop> {
        let path = self.replayed.as_ref().map_or(self.paths.path(), |(_, path)| path).to_string();
        Err(Stop::Misfit(Misfit { start, path, message: message.into(), help: help.into() }))
    }

    /// `expected an object, found 5`
    fn expected<T>(&self, what: &str, found: &Event<'_>) -> Result<T, Stop> {
        self.misfit(format!("expected {what}, found {}", found_words(found)), "")
    }

    fn object(&self, ty: MessageId) -> Option<&'a Object> {
        self.flat.object(ty)
    }

    /// Takes an event where the innermost frame stands.
    fn step(&mut self, event: &Event<'_>) -> Flow {
        match self.frames.last().copied() {
            None => self.top(event),
            Some(Frame::Table { ty, due, .. } | Frame::Struct { ty, due, .. }) => self.in_object(ty, due, event),
            Some(Frame::Vector { of, .. }) => self.in_vector(of, event),
            Some(Frame::Array { of, at, count, next, .. }) => self.in_array(of, at, count, next, event),
            Some(Frame::Nested) => Ok(()),
            Some(Frame::Skip { depth }) => {
                self.skip(depth, event);
                Ok(())
            }
            Some(Frame::Held { place, depth, key, found }) => self.hold(place, depth, key, found, event),
        }
    }

    /// The root table is due.
    fn top(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Message(_) => Ok(()),
            Event::Begin(Shape::Map, _) if self.written == 0 => self.begin_table(self.root),
            _ if self.written > 0 => Err(Stop::Refused("several messages: a FlatBuffer holds one".to_string())),
            _ => self.expected("an object", event),
        }
    }

    fn begin_table(&mut self, ty: MessageId) -> Flow {
        if self.object(ty).is_some_and(|object| object.is_struct) {
            return self.misfit("the root of a buffer is a table, not a struct", "-t NAME tells another type");
        }
        let tables = self.frames.iter().filter(|frame| matches!(frame, Frame::Table { .. })).count();
        if tables >= FLATBUFFERS_DEPTH {
            return self
                .misfit(format!("more than {FLATBUFFERS_DEPTH} tables within each other"), "verifiers stop there");
        }
        let (from, structs, start) = (self.values.len(), self.structs.len(), self.start);
        self.frames.push(Frame::Table { ty, due: Due::Name, from, structs, start });
        Ok(())
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
        if let Some(Frame::Table { due, .. } | Frame::Struct { due, .. }) = self.frames.last_mut() {
            *due = next;
        }
    }

    fn in_object(&mut self, ty: MessageId, due: Due, event: &Event<'_>) -> Flow {
        match (due, event) {
            (_, Event::End) => self.end_object(),
            (Due::Name, Event::Scalar(Scalar::Text(name))) => self.name(ty, name),
            (Due::Name, Event::Scalar(Scalar::Uint(number))) => self.name(ty, number.to_string().as_bytes()),
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
                self.field(ty, place, event)
            }
        }
    }

    /// The name of a member.
    fn name(&mut self, ty: MessageId, name: &[u8]) -> Flow {
        let Some(object) = self.object(ty) else { return Ok(()) };
        let text = String::from_utf8_lossy(name);
        if let Some(place) = self.place(ty, object, &text) {
            self.set_due(Due::Value(place));
            return Ok(());
        }
        if self.ignore_unknown {
            self.ignored = self.ignored.saturating_add(1);
            self.set_due(Due::Ignored);
            return Ok(());
        }
        let near = nearest(&text, object.fields.iter().map(|field| field.name.as_str()));
        let near = if near.is_empty() { near } else { format!("{near}; ") };
        let start = self.replayed.as_ref().map_or(self.opened, |(start, _)| *start);
        let sentence = format!("{} has no field `{}`", object.name, shown(&text));
        self.misfit_at(start, sentence, format!("{near}--ignore-unknown leaves it out"))
    }

    /// Position of the field with this name; where none has it, of the one that has it without case and underscores.
    fn place(&mut self, ty: MessageId, object: &'a Object, name: &str) -> Option<usize> {
        let names = self.names.entry(ty).or_insert_with(|| {
            let mut names = Places::default();
            for (place, field) in object.fields.iter().enumerate() {
                names.entry(plain(&field.name)).or_insert(place);
            }
            // A name as it is goes before what only looks like it.
            for (place, field) in object.fields.iter().enumerate() {
                names.insert(field.name.clone(), place);
            }
            names
        });
        names.get(name).or_else(|| names.get(&plain(name))).copied()
    }

    /// The value of a field or member.
    fn field(&mut self, ty: MessageId, place: usize, event: &Event<'_>) -> Flow {
        let Some(field) = self.object(ty).and_then(|object| object.fields.get(place)) else { return Ok(()) };
        if matches!(event, Event::Scalar(Scalar::Null | Scalar::Missing)) {
            return Ok(());
        }
        if let Some(Frame::Struct { at, .. }) = self.frames.last().copied() {
            return self.member(field, at, event);
        }
        if self.has_value(place) {
            let start = self.replayed.as_ref().map_or(self.opened, |(start, _)| *start);
            return self.misfit_at(start, format!("`{}` stands there twice", field.name), "");
        }
        match field.ty.shape {
            FieldShape::Vector | FieldShape::Vector64 => self.vector(ty, place, field, event),
            FieldShape::Array(_) => Ok(()),
            FieldShape::One => self.single(place, field, event),
        }
    }

    fn table_from(&self) -> usize {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| if let Frame::Table { from, .. } = frame { Some(*from) } else { None })
            .unwrap_or(0)
    }

    /// Whether a field of the innermost table has a value already.
    fn has_value(&self, place: usize) -> bool {
        self.values.get(self.table_from()..).is_some_and(|values| values.iter().any(|(known, _)| *known == place))
    }

    fn single(&mut self, place: usize, field: &'a Field, event: &Event<'_>) -> Flow {
        match (field.ty.of, event) {
            (Of::Table(id), Event::Begin(Shape::Map, _)) => {
                self.pending.push(place);
                self.begin_table(id)
            }
            (Of::Struct(id), Event::Begin(Shape::Map, _)) => {
                self.pending.push(place);
                self.begin_struct(id)
            }
            (Of::Table(_) | Of::Struct(_), _) => self.expected("an object", event),
            (Of::Union(id), _) => self.union(place, id, event),
            (Of::Text, _) => {
                let at = self.text(event, field.shared)?;
                self.keep(place, Stored::Offset(at));
                Ok(())
            }
            (of, _) => {
                let stored = self.scalar(of, Some(field), event)?;
                self.keep(place, stored);
                Ok(())
            }
        }
    }

    fn keep(&mut self, place: usize, stored: Stored) {
        self.values.push((place, stored));
    }

    fn text(&mut self, event: &Event<'_>, shared: bool) -> Result<u64, Stop> {
        match event {
            Event::Scalar(Scalar::Text(text)) if std::str::from_utf8(text).is_ok() => {
                Ok(self.builder.string(text, shared))
            }
            Event::Scalar(Scalar::Text(_)) => self.misfit("expected text, found bytes that are not UTF-8", ""),
            _ => self.expected("text in quotes", event),
        }
    }

    fn scalar(&mut self, of: Of, field: Option<&Field>, event: &Event<'_>) -> Result<Stored, Stop> {
        let noun = || scalars::noun(self.flat, of);
        let Event::Scalar(value) = event else { return self.expected(&noun(), event) };
        let hash = field.and_then(|field| field.hash.as_deref());
        let Some(size) = self.flat.scalar(of).map(crate::model::flat::Scalar::size) else {
            return self.expected(&noun(), event);
        };
        match scalars::bits(self.flat, of, hash, value) {
            Some(bits) => Ok(Stored::Scalar { bits, size }),
            None => {
                let sentence = format!("expected {}, found {}", noun(), found_words(event));
                self.misfit(sentence, scalars::help(self.flat, of, value))
            }
        }
    }

    /// The value of a union: of the type that stands beside it. Where that comes later, the rest is held back.
    fn union(&mut self, place: usize, id: EnumId, event: &Event<'_>) -> Flow {
        let from = self.table_from();
        let ty = self.values.get(from..).unwrap_or(&[]).iter().find_map(|(known, stored)| match stored {
            Stored::Scalar { bits, .. } if known.saturating_add(1) == place => Some(*bits),
            _ => None,
        });
        let Some(ty) = ty else {
            self.frames.push(Frame::Held { place, depth: 0, key: false, found: false });
            return self.hold(place, 0, false, false, event);
        };
        let one = self.flat.enumeration(id);
        let member = i64::try_from(ty).ok().and_then(|ty| one?.member(ty)).and_then(|member| member.member);
        self.union_value(place, member, event)
    }

    fn union_value(&mut self, place: usize, member: Option<Of>, event: &Event<'_>) -> Flow {
        if matches!(event, Event::Begin(Shape::Map, _)) && matches!(self.frames.last(), Some(Frame::Table { .. })) {
            self.pending.push(place);
        }
        match (member, event) {
            (None, _) => self.misfit("the type of this union is NONE, so it has no value", "leave the value out"),
            (Some(Of::Table(id)), Event::Begin(Shape::Map, _)) => self.begin_table(id),
            (Some(Of::Struct(id)), Event::Begin(Shape::Map, _)) => self.begin_struct(id),
            (Some(Of::Text), _) => {
                let at = self.text(event, false)?;
                self.keep(place, Stored::Offset(at));
                Ok(())
            }
            _ => self.expected("an object", event),
        }
    }
}

/// Positions of fields by name.
type Places = HashMap<String, usize, foldhash::fast::FixedState>;

/// A name without case and underscores.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

impl Sink for Writer<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.paths.push(group.step);
        self.opened = group.start;
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        self.paths.pop();
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, _head: &[u8]) -> Flow {
        self.last = (leaf.start, leaf.end);
        Ok(())
    }

    fn path(&self) -> Option<&str> {
        Some(self.paths.path())
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        // A bracket or quote comes before what it begins, a number or literal behind it.
        self.start = match event {
            Event::Begin(..) | Event::Scalar(Scalar::Text(_)) | Event::Piece { .. } => self.last.0,
            Event::Message(_) | Event::End | Event::Scalar(_) => self.last.1,
        };
        if let Event::Piece { of, bytes, first, last, .. } = event {
            if first {
                self.long.clear();
            }
            self.long.extend_from_slice(bytes);
            if !last {
                return Ok(());
            }
            let whole = Cow::Owned(std::mem::take(&mut self.long));
            self.step(&Event::Scalar(match of {
                Long::Text => Scalar::Text(whole),
                Long::Bytes => Scalar::Bytes(whole),
                Long::Ext(kind) => Scalar::Ext(kind, whole),
            }))?;
        } else {
            self.step(&event)?;
        }
        self.replay()
    }
}

impl Encoder for Writer<'_> {
    fn finish(&mut self) -> Flow {
        if self.written == 0 {
            return Err(Stop::Refused("no message to write".to_string()));
        }
        Ok(self.out.flush()?)
    }

    fn losses(&self) -> Vec<String> {
        let names = count(self.ignored, "name", "names");
        let sentence = format!("{names} that the type does not have left out");
        if self.ignored > 0 { vec![sentence] } else { Vec::new() }
    }
}
