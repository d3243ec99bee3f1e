//! The formats: what one is ([`Format`]), the list of all ([`ALL`]), and which of them fits an input.
//!
//! A further format is one folder beside these, one `mod` line and one entry in [`ALL`]: its names in
//! help and completions, its row in README, detection and every invariant test follow from that.
//! Formats never call each other.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use crate::model::bytemap::{Bits, COMMON_KINDS, Cause, Flags, Kind, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::schema::{Bound, Language, MessageId, Schema};
use crate::model::survey::{Survey, Want};
use crate::wire::reader::{ReadError, Window};

pub mod capnp;
pub mod flatbuffers;
pub mod given;
pub mod here;
pub mod json;
pub mod msgpack;
pub mod names;
pub mod plain;
pub mod probe;
pub mod protobuf;
pub mod raw;
pub mod scattered;
pub mod target;

/// Every format, in the order of help texts and tables.
pub static ALL: &[&dyn Format] =
    &[&protobuf::Protobuf, &flatbuffers::FlatBuffers, &capnp::CapnProto, &msgpack::MessagePack, &json::Json];

/// A way of writing a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// The name behind the slash: `msgpack/plain`.
    pub name: &'static str,
    /// What it is, half a line.
    pub about: &'static str,
}

/// What a format calls the shapes of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nouns {
    /// A container of keys and values: `map`, `object`.
    pub map: &'static str,
    /// One of its entries: `entry`, `member`.
    pub entry: &'static str,
    /// Its entries: `entries`, `members`.
    pub entries: &'static str,
    /// A container of elements: `array`.
    pub list: &'static str,
    /// A complete value at the top: `object`, `document`.
    pub message: &'static str,
}

/// Facts about a format that need no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name on the command line and in JSON.
    pub name: &'static str,
    /// Shorter names for it.
    pub short: &'static [&'static str],
    /// The name in sentences.
    pub title: &'static str,
    /// Usual endings of its files, without dot.
    pub extensions: &'static [&'static str],
    /// Its variants; the first is the one that is written where none is told.
    pub variants: &'static [Variant],
    /// Text that a terminal may be fed, and that holds no bytes in another notation.
    pub text: bool,
    /// What explains the format to a newcomer (`format.md`).
    pub about: &'static str,
    /// One line for tables: what a schema does for it.
    pub schema: &'static str,
    /// How to read the rows of a dump, up to two lines.
    pub read: &'static str,
    /// Its words.
    pub nouns: Nouns,
    /// Containers within each other that its common readers take, from [`crate::model::limits`].
    pub depth: usize,
    /// Numbers stand with their highest byte first.
    pub big_endian: bool,
    /// Objects lie apart from what leads to them: rows are not set in, and a heading opens each.
    pub scattered: bool,
    /// Bytes of a row at most, where the format has a grid of its own; 0 where a row holds what fits.
    pub row: usize,
    /// [`Format::values`] sends the findings too that keep readers from a value, so that one reading does.
    pub values_tell: bool,
    /// The language of the schemas that say what its messages are, if any; values come from [`Format::values`]
    /// then, apart from the walk.
    pub language: Option<Language>,
}

impl Info {
    /// Whether a schema says what its messages are.
    pub fn bound(&self) -> bool {
        self.language.is_some()
    }
}

/// What a decoder is told besides the input.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Position of the format in [`ALL`], the owner of the kinds it reports.
    pub owner: u8,
    /// The variant that was chosen or told.
    pub variant: &'static str,
    /// Containers within each other before a branch is cut.
    pub depth: usize,
    /// The schema, where there is one.
    pub schema: Option<&'a Schema>,
    /// The type of a message in it, where it is known.
    pub root: Option<MessageId>,
}

impl<'a> Context<'a> {
    /// Schema and type, where both are known.
    pub fn bound(&self) -> Option<Bound<'a>> {
        Some(Bound { schema: self.schema?, root: self.root? })
    }
}

/// In which dress values leave a format whose values have more than one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dress {
    /// As the format's own mapping to JSON writes them (ProtoJSON).
    #[default]
    Json,
    /// As they are: numbers as numbers, bytes as bytes, points in time as such.
    Plain,
}

/// Whether a leaf is told within the row of its field, or alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// Its part of the meaning of a field row; keys tell nothing there.
    Row,
    /// Complete, for a row of its own and for JSON.
    Alone,
}

/// Bytes of a leaf that notes look at.
pub const SEEN: usize = 16;

/// A leaf with its first bytes, at most [`SEEN`] of them; held in place, since every row has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The leaf.
    pub leaf: Leaf,
    bytes: [u8; SEEN],
    len: u8,
}

impl Seen {
    /// Takes the first bytes of `head`.
    pub fn new(leaf: &Leaf, head: &[u8]) -> Seen {
        // Put together in a register: bytes that are written one by one and read as one are slow.
        let first = head.iter().take(SEEN).rev().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
        let bytes = first.to_le_bytes();
        let len = u8::try_from(head.len().min(SEEN)).unwrap_or(0);
        Seen { leaf: *leaf, bytes, len }
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// An explanation below a row, with carets under the bytes it speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Which kind of note: each appears once a dump.
    pub id: &'static str,
    /// Ranges of bytes, half open.
    pub carets: Vec<(u64, u64)>,
    /// One or two sentences.
    pub text: String,
}

/// Counts over a whole input, for the foot of a dump.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Names and keys that are plain names, with how often each is written; not more than
    /// [`crate::model::limits::LEDGER_PATHS`] different ones.
    pub names: HashMap<String, NameCount, foldhash::fast::FixedState>,
    /// Some of them are no plain names.
    pub odd: bool,
    /// Leaves by the code of their kind, keys left out.
    pub kinds: Vec<u64>,
    /// What the walk says on the whole input.
    pub lines: Vec<String>,
}

/// How often a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameCount {
    /// Times.
    pub times: u64,
    /// Names met before it.
    pub order: usize,
}

impl Counts {
    /// Notes that a kind occurs.
    pub fn kind(&mut self, leaf: &Leaf) {
        if leaf.kind.owner == Kind::COMMON || leaf.flags.has(Flags::KEY) {
            return;
        }
        self.kinds.resize(usize::from(u8::MAX) + 1, 0);
        if let Some(place) = self.kinds.get_mut(usize::from(leaf.kind.code)) {
            *place = place.saturating_add(1);
        }
    }

    /// Leaves of a kind.
    pub fn of_kind(&self, code: u8) -> u64 {
        self.kinds.get(usize::from(code)).copied().unwrap_or(0)
    }

    /// Names of the kinds of a format that occur and have this cause.
    pub fn kind_names(&self, format: &dyn Format, cause: Cause) -> Vec<&'static str> {
        let present = format.kinds().iter().zip(&self.kinds).filter(|(_, times)| **times > 0);
        present.filter(|(info, _)| info.cause == cause).map(|(info, _)| info.name).collect()
    }

    /// Counts a name, or a key that is no plain name.
    pub fn name(&mut self, name: &str, plain: bool) {
        self.odd |= !plain;
        let order = self.names.len();
        if let Some(count) = self.names.get_mut(name) {
            count.times = count.times.saturating_add(1);
        } else if order < crate::model::limits::LEDGER_PATHS {
            self.names.insert(name.to_string(), NameCount { times: 1, order });
        }
    }
}

/// How sure a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It could be, and so could much else.
    Possible,
    /// It fits, and little else does.
    Likely,
    /// It fits in a way that other data practically never do.
    Certain,
}

impl Level {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Possible => "possible",
            Level::Likely => "likely",
            Level::Certain => "certain",
        }
    }
}

/// One reading of an input, with what speaks for and against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Name of the format, or `text` for plain text.
    pub format: &'static str,
    /// Name of the variant.
    pub variant: &'static str,
    /// How sure.
    pub level: Level,
    /// 0 to 1000; orders candidates, and is no probability.
    pub score: u32,
    /// Evidence.
    pub pro: Vec<String>,
    /// Counter-evidence, with the byte that rules the reading out where there is one.
    pub contra: Vec<String>,
}

/// The bytes from which a format is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The first bytes of the input.
    pub bytes: &'a [u8],
    /// They are all of it.
    pub complete: bool,
}

/// Writes values in a format; takes them as a [`Sink`].
pub trait Encoder: Sink {
    /// Everything has been sent.
    ///
    /// # Errors
    /// Output that cannot be written.
    fn finish(&mut self) -> Flow;

    /// What was written otherwise than it is, a sentence each.
    fn losses(&self) -> Vec<String> {
        Vec::new()
    }
}

/// How to write, beyond the variant.
#[derive(Debug, Clone, Copy, Default)]
pub struct EncodeOptions<'a> {
    /// Text with line ends and indentation.
    pub pretty: bool,
    /// The messages are a row even where there is one or none.
    pub stream: bool,
    /// The schema and type to write by, where there is one.
    pub schema: Option<Bound<'a>>,
    /// Names that the type does not have are left out, not refused.
    pub ignore_unknown: bool,
    /// In which of the ways of known writers a FlatBuffer is written.
    pub flat: FlatWriter,
}

/// What differs between writers of FlatBuffers; the default is what `flatc -b` does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlatWriter {
    /// In which order objects and fields are written.
    pub order: FlatOrder,
    /// What becomes of the padding in front of structs.
    pub pads: FlatPads,
    /// Each table has a vtable of its own.
    pub own_vtables: bool,
    /// Scalars that hold their default are written all the same.
    pub force_defaults: bool,
}

/// In which order objects and fields are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlatOrder {
    /// Children as they come, fields by size: flatc.
    #[default]
    Met,
    /// Children as the schema declares them, empty ones left out, fields by size: the object API of C++.
    Schema,
    /// Children and fields as the schema declares them: Swift, Python.
    Declared,
}

/// What becomes of the padding in front of structs that are not written in place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlatPads {
    /// It stays where the struct was made.
    #[default]
    Kept,
    /// There is none.
    Dropped,
}

/// The values of a leaf that holds many of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How many.
    pub count: u64,
    /// Bytes from one to the next.
    pub stride: u64,
    /// The first one as JSON text.
    pub first: String,
    /// The last one.
    pub last: String,
}

/// How well a message fits a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The type.
    pub root: MessageId,
    /// Orders types, higher is better; types with the same score tie.
    pub score: i64,
    /// No error, no unknown field, no wire type that clashes.
    pub clean: bool,
    /// What speaks for it, or against it: `fields 3 and 4 unknown`.
    pub why: String,
}

/// A format: how to find it, walk it, tell its bytes and write it.
pub trait Format: Sync {
    /// Its facts.
    fn info(&self) -> &'static Info;

    /// Its kinds of leaves, indexed by [`Kind::code`].
    fn kinds(&self) -> &'static [KindInfo];

    /// What speaks for and against this format; always an answer, if only "no, because".
    fn detect(&self, sample: &Sample<'_>, context: &Context<'_>) -> Candidate;

    /// Whether a sample that is cut may be of this format and bytes behind it would show that.
    fn needs_all(&self, _sample: &Sample<'_>) -> bool {
        false
    }

    /// Walks the input and reports groups, leaves, values and findings. Damage is reported and
    /// walked around, never returned.
    ///
    /// # Errors
    /// What stopped the walk, see [`crate::model::events::Stop`].
    fn decode(&self, input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow;

    /// The values of all messages as [`Sink::value`] events, merged and in the order of the type where the
    /// format says so. Formats whose values stand in the order of the bytes leave it at the walk.
    ///
    /// # Errors
    /// As for [`Format::decode`].
    fn values(&self, input: &mut Window, context: &Context<'_>, _dress: Dress, out: &mut dyn Sink) -> Flow {
        self.decode(input, context, out)
    }

    /// How many messages an input holds, in formats whose values come from [`Format::values`].
    ///
    /// # Errors
    /// Input that cannot be read.
    fn messages(&self, _input: &mut Window, _context: &Context<'_>) -> Result<u64, ReadError> {
        Ok(1)
    }

    /// Whether this variant is a row of messages even where it holds one or none.
    fn is_stream(&self, _variant: &str) -> bool {
        false
    }

    /// The types of a schema by how well a message fits them, best first; empty where the format has none.
    fn fits(&self, _sample: &Sample<'_>, _context: &Context<'_>, _schema: &Schema) -> Vec<Fit> {
        Vec::new()
    }

    /// How many of a leaf's bytes count as width (design.md section 5), from its first bytes.
    fn width(&self, leaf: &Leaf, head: &[u8]) -> u64;

    /// Appends what a leaf says. A part that begins with a comma joins the one before it.
    fn tell(&self, leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String);

    /// The value of a leaf as JSON text, where it has one of its own.
    fn value(&self, leaf: &Leaf, head: &[u8]) -> Option<String>;

    /// The values of a leaf that holds many of its kind.
    fn run(&self, _leaf: &Leaf, _head: &[u8]) -> Option<Run> {
        None
    }

    /// The bit fields of a leaf.
    fn bits(&self, leaf: &Leaf, head: &[u8]) -> Vec<Bits>;

    /// Notes on a row, by its leaves. `wanted` says whether a note with this identity is to be told, and
    /// is asked before its text is made.
    fn notes(&self, row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note>;

    /// Bytes that the row of a leaf holds at most; 0 where it holds what fits.
    fn row(&self, _leaf: &Leaf) -> usize {
        self.info().row
    }

    /// What a cause is in this format, for the legend of a ledger.
    fn legend(&self, cause: Cause) -> &'static str;

    /// The same by what was met, where that can be told closer.
    fn legend_of(&self, _cause: Cause, _counts: &Counts) -> Option<String> {
        None
    }

    /// Lines for the foot of a dump, above the ledger.
    fn foot(&self, counts: &Counts) -> Vec<String>;

    /// Messages of this format written as this format again, in another variant: byte by byte, so that
    /// what a value tree does not hold stays. None where the way over the values does.
    fn rewrite(
        &self,
        _input: &mut Window,
        _context: &Context<'_>,
        _variant: &str,
        _out: &mut dyn io::Write,
    ) -> Option<Flow> {
        None
    }

    /// What a writer of this variant wants to know ahead.
    fn wants(&self, variant: &str) -> Want;

    /// What a file in this format holds otherwise than the values are, a sentence each; what shows only
    /// while writing comes from [`Encoder::losses`].
    fn losses(&self, _survey: &Survey) -> Vec<String> {
        Vec::new()
    }

    /// A writer of a variant.
    fn encoder<'a>(
        &self,
        variant: &str,
        options: EncodeOptions<'a>,
        survey: &'a Survey,
        out: &'a mut dyn io::Write,
    ) -> Box<dyn Encoder + 'a>;
}

/// What a cause is, where a format has no words of its own for it.
pub fn common_legend(cause: Cause) -> &'static str {
    match cause {
        Cause::Payload => "values",
        Cause::Width => "number bytes beyond the shortest form",
        Cause::Key => "names and keys",
        Cause::Length => "lengths and counts",
        Cause::Type => "types",
        Cause::Pointer => "offsets",
        Cause::Table => "vtables and the soffsets to them",
        Cause::Padding => "padding",
        Cause::Terminator => "NULs",
        Cause::Default => "stored defaults",
        Cause::Framing => "framing",
        Cause::Names => "names of fields",
        Cause::Punctuation => "punctuation",
        Cause::Unread => "bytes that nobody could place",
    }
}

/// Text with everything escaped that a terminal would obey or hide: control characters, line ends,
/// characters that turn the direction of writing. Quotes and backslashes stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let tame = |c: char| matches!(c, ' '..='~') || c.escape_debug().len() == 1;
    if text.chars().all(tame) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if tame(c) { c.to_string() } else { c.escape_debug().to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Text in quotes for people: control characters and quotes escaped, bytes that are not UTF-8 as `\xff`.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().saturating_add(2));
    quote(bytes, &mut out);
    out
}

/// Appends what [`quoted`] returns.
pub fn quote(bytes: &[u8], out: &mut String) {
    out.push('"');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(plain) => out.push_str(text),
        _ => escape(bytes, out),
    }
    out.push('"');
}

fn escape(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' => out.push(c),
                _ => out.extend(c.escape_debug()),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
}

/// A JSON string.
pub fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Position of a format in [`ALL`].
pub fn owner_of(format: &dyn Format) -> u8 {
    let name = format.info().name;
    ALL.iter().position(|other| other.info().name == name).and_then(|at| u8::try_from(at).ok()).unwrap_or(Kind::COMMON)
}

/// A format by its name or a short name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.info().name == name || format.info().short.contains(&name))
}

/// Name and cause of a kind.
pub fn kind_info(kind: Kind) -> KindInfo {
    let table = match ALL.get(usize::from(kind.owner)) {
        Some(format) => format.kinds(),
        None => &COMMON_KINDS[..],
    };
    table.get(usize::from(kind.code)).copied().unwrap_or(KindInfo { name: "unread", cause: Cause::Unread })
}

/// What a leaf's bytes count as, but for those that count as width.
pub fn cause_of(leaf: &Leaf) -> Cause {
    let own = kind_info(leaf.kind).cause;
    if own == Cause::Payload && leaf.flags.has(Flags::DEFAULT) {
        return Cause::Default;
    }
    if leaf.flags.has(Flags::KEY) && own != Cause::Unread { Cause::Key } else { own }
}

/// How many of a leaf's bytes count as width.
pub fn width_of(leaf: &Leaf, head: &[u8]) -> u64 {
    if leaf.flags.has(Flags::KEY) || leaf.flags.has(Flags::DEFAULT) {
        return 0;
    }
    if let Some(told) = leaf.flags.told_width() {
        return told.min(leaf.len());
    }
    ALL.get(usize::from(leaf.kind.owner)).map_or(0, |format| format.width(leaf, head).min(leaf.len()))
}
