//! Writes a buffer by a schema, from the values of JSON as flatc reads them, or of another format; the bytes are
//! those of `flatc -b`, or of another writer ([`Layout`]). What does not fit the schema is refused by name and
//! place.
//!
//! ```text
//! events ── step ──> the innermost frame says what is due ──> deliver ──> slots, scratch, offsets
//!                     Table: a name, then its value             │ a table or vector is whole
//!                     Struct, Array: in scratch, in place       └──> Builder
//!                     Vector: elements        Hold: a union whose type comes later
//! ```

mod flex;
mod frames;
mod hold;
mod parts;
pub mod scalars;
mod sort;

use std::collections::HashMap;
use std::io::Write;

use crate::formats::flatbuffers::builder::{Builder, Layout};
use crate::formats::flatbuffers::encode::flex::FlexBuilder;
use crate::formats::flatbuffers::encode::frames::{Due, Frame, Slot, Stored};
use crate::formats::flatbuffers::encode::hold::Waiting;
use crate::formats::flatbuffers::rewrite::SIZE_PREFIXED;
use crate::formats::here::{Held, Here, depth_behind};
use crate::formats::target::{found_words, nearest, shown};
use crate::formats::{EncodeOptions, Encoder};
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::flat::{Field, Flat, Object};
use crate::model::limits::FLATBUFFERS_DEPTH;
use crate::model::num::count;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar, Shape};

/// A writer of a variant. Without a schema it refuses whatever comes.
pub fn encoder<'a>(variant: &str, options: EncodeOptions<'a>, out: &'a mut dyn Write) -> Box<dyn Encoder + 'a> {
    let bound = options.schema.and_then(|bound| Some((bound.schema.flat.as_deref()?, bound.root)));
    match bound {
        Some((flat, root)) => Box::new(Writer::new(variant == SIZE_PREFIXED, flat, root, options, out)),
        None => Box::new(Refuses),
    }
}

/// Refuses everything: there is no schema.
struct Refuses;

impl Refuses {
    fn refuse(&self) -> Flow {
        Err(Stop::Refused("converting to FlatBuffers needs a schema: -s SCHEMA and -t TYPE".to_string()))
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

struct Writer<'a> {
    out: &'a mut dyn Write,
    size_prefix: bool,
    flat: &'a Flat,
    root: MessageId,
    layout: Layout,
    ignore_unknown: bool,
    /// Positions of the fields that must be there, by object.
    required: Vec<Vec<usize>>,
    names: HashMap<MessageId, HashMap<&'a str, usize>>,
    builder: Builder,
    /// Buffers around the one that is being written.
    outer: Vec<Builder>,
    frames: Vec<Frame>,
    /// Fields of open tables.
    slots: Vec<Slot>,
    /// Structs, and elements that are no offsets, until their table or vector is whole.
    scratch: Vec<u8>,
    /// Elements that are offsets.
    offsets: Vec<u64>,
    /// Types of vectors of unions: how many frames are open around the table, position of the field, types.
    kinds: Vec<(usize, usize, Vec<u64>)>,
    placed: Vec<(u16, u64)>,
    flex: Option<FlexBuilder>,
    /// Open tables.
    tables: usize,
    /// A union that came before its type.
    held: Vec<Held>,
    waiting: Vec<Waiting>,
    /// What is to be taken before anything else, the last first.
    queue: Vec<std::vec::IntoIter<Held>>,
    /// All of a message, where its order is not that of the schema.
    whole: Vec<Held>,
    /// Containers open in `whole`.
    open: usize,
    done: bool,
    ignored: u64,
    /// Where it is in the input.
    here: Here,
}

impl<'a> Writer<'a> {
    fn new(
        size_prefix: bool,
        flat: &'a Flat,
        root: MessageId,
        options: EncodeOptions<'a>,
        out: &'a mut dyn Write,
    ) -> Writer<'a> {
        let required = |object: &Object| {
            let fields = object.fields.iter().enumerate();
            fields.filter(|(_, field)| field.required && !object.is_struct).map(|(place, _)| place).collect()
        };
        Writer {
            out,
            size_prefix,
            flat,
            root,
            layout: Layout::of(options.flat),
            ignore_unknown: options.ignore_unknown,
            required: flat.objects.iter().map(required).collect(),
            names: HashMap::new(),
            builder: Builder::default(),
            outer: Vec::new(),
            frames: Vec::new(),
            slots: Vec::new(),
            scratch: Vec::new(),
            offsets: Vec::new(),
            kinds: Vec::new(),
            placed: Vec::new(),
            flex: None,
            tables: 0,
            held: Vec::new(),
            waiting: Vec::new(),
            queue: Vec::new(),
            whole: Vec::new(),
            open: 0,
            done: false,
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

    fn field(&self, id: MessageId, place: usize) -> Option<&'a Field> {
        self.flat.object(id)?.fields.get(place)
    }

    /// Takes an event where the innermost frame stands.
    fn step(&mut self, event: Event<'_>) -> Flow {
        match self.frames.last().copied() {
            None => self.top(&event),
            Some(Frame::Table { id, due, .. }) => self.in_table(id, due, event),
            Some(Frame::Struct { id, base, due, .. }) => self.in_struct(id, base, due, &event),
            Some(Frame::Vector { id, place, count, .. }) => self.in_vector(id, place, count, &event),
            Some(Frame::Array { of, base, next, len, .. }) => self.in_array(of, base, (next, len), &event),
            Some(Frame::Flex) => self.in_flex(&event),
            Some(Frame::Hold { depth, place }) => self.in_hold(depth, place, &event),
            Some(Frame::Skip { depth }) => {
                self.skip(depth, &event);
                Ok(())
            }
        }
    }

    /// The one message is due.
    fn top(&mut self, event: &Event<'_>) -> Flow {
        if self.done {
            return Err(Stop::Refused("several messages: a FlatBuffer holds one".to_string()));
        }
        match event {
            Event::Begin(Shape::Map, _) => self.begin_table(self.root, false),
            _ => self.expected("an object", event),
        }
    }

    fn begin_table(&mut self, id: MessageId, nested: bool) -> Flow {
        if self.tables >= FLATBUFFERS_DEPTH {
            let message = format!("more than {FLATBUFFERS_DEPTH} tables within each other");
            return self.misfit(message, "FlatBuffers verifiers stop there");
        }
        self.tables = self.tables.saturating_add(1);
        if nested {
            self.outer.push(std::mem::take(&mut self.builder));
        }
        let (slots, scratch, start) = (self.slots.len(), self.scratch.len(), self.here.start);
        self.frames.push(Frame::Table { id, due: Due::Name, next: 0, slots, scratch, start, nested });
        Ok(())
    }

    fn skip(&mut self, depth: usize, event: &Event<'_>) {
        match depth_behind(depth, event) {
            0 => drop(self.frames.pop()),
            depth => self.frames.last_mut().into_iter().for_each(|frame| *frame = Frame::Skip { depth }),
        }
    }

    fn set_due(&mut self, to: Due) {
        if let Some(Frame::Table { due, .. } | Frame::Struct { due, .. }) = self.frames.last_mut() {
            *due = to;
        }
    }

    fn in_table(&mut self, id: MessageId, due: Due, event: Event<'_>) -> Flow {
        match (due, &event) {
            (_, Event::End) => self.end_table(),
            (Due::Name, Event::Scalar(Scalar::Text(name))) => self.name(id, name),
            (Due::Name, Event::Scalar(Scalar::Uint(number))) => self.name(id, number.to_string().as_bytes()),
            (Due::Name, _) => self.expected("the name of a field", &event),
            (Due::Ignored, _) => {
                self.set_due(Due::Name);
                if matches!(event, Event::Begin(..)) {
                    self.frames.push(Frame::Skip { depth: 1 });
                }
                Ok(())
            }
            (Due::Value(_), Event::Scalar(Scalar::Null | Scalar::Missing)) => {
                self.set_due(Due::Name);
                Ok(())
            }
            (Due::Value(place), _) => self.field_value(id, place, &event),
        }
    }

    /// The name of a field or member.
    fn name(&mut self, id: MessageId, name: &[u8]) -> Flow {
        let Some(object) = self.flat.object(id) else { return Ok(()) };
        let text = String::from_utf8_lossy(name);
        if let Some(place) = self.place(id, object, &text) {
            if let Some(Frame::Table { next, .. } | Frame::Struct { next, .. }) = self.frames.last_mut() {
                *next = place.saturating_add(1);
            }
            self.set_due(Due::Value(place));
            return Ok(());
        }
        if self.ignore_unknown || text == "$schema" {
            self.ignored = self.ignored.saturating_add(u64::from(text != "$schema"));
            self.set_due(Due::Ignored);
            return Ok(());
        }
        let near = nearest(&text, object.fields.iter().map(|field| field.name.as_str()));
        let near = if near.is_empty() { near } else { format!("{near}; ") };
        let start = self.here.begun();
        let sentence = format!("{} has no field `{}`", object.name, shown(&text));
        self.misfit_at(start, sentence, format!("{near}--ignore-unknown leaves it out"))
    }

    /// Position of the field with this name, or of the one that other styles of writing call so.
    fn place(&mut self, id: MessageId, object: &'a Object, name: &str) -> Option<usize> {
        // Objects of one type mostly have their members in one order, that of the schema.
        if let Some(Frame::Table { next, .. } | Frame::Struct { next, .. }) = self.frames.last()
            && object.fields.get(*next).is_some_and(|field| field.name == name)
        {
            return Some(*next);
        }
        let names = self.names.entry(id).or_insert_with(|| {
            object.fields.iter().enumerate().map(|(place, field)| (field.name.as_str(), place)).collect()
        });
        let exact = names.get(name).copied();
        exact.or_else(|| {
            let wanted = folded(name);
            object.fields.iter().position(|field| folded(&field.name) == wanted)
        })
    }

    /// A value is whole: it goes to the frame around it.
    fn deliver(&mut self, stored: Stored) -> Flow {
        match self.frames.last().copied() {
            None => self.finish_root(stored),
            Some(Frame::Table { id, due: Due::Value(place), .. }) => self.deliver_field(id, place, stored),
            Some(Frame::Vector { id, place, .. }) => {
                self.deliver_element(id, place, stored);
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// The root is whole.
    fn finish_root(&mut self, stored: Stored) -> Flow {
        let Stored::Offset(root) = stored else { return Ok(()) };
        self.builder.finish(root, self.flat.identifier, self.size_prefix);
        self.done = true;
        Ok(self.out.write_all(self.builder.written())?)
    }
}

/// Letters and digits of a name, all of them small.
fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
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
            Some(event) => self.take(event),
        }
    }
}

impl Encoder for Writer<'_> {
    fn finish(&mut self) -> Flow {
        if !self.done {
            return Err(Stop::Refused("no message: a FlatBuffer holds one".to_string()));
        }
        Ok(self.out.flush()?)
    }

    fn losses(&self) -> Vec<String> {
        let names = count(self.ignored, "name", "names");
        let sentence = format!("{names} that the type does not have left out");
        if self.ignored > 0 { vec![sentence] } else { Vec::new() }
    }
}
