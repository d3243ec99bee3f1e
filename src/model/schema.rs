//! A schema as the decoders use it, whatever language it was written in: records with numbered fields,
//! enumerations, and what resolves their names.
//!
//! Everything is looked up by index ([`MessageId`], [`EnumId`]), so that a decoder's stack holds numbers and
//! no references. Names are the standard's full names, without a leading dot.

use std::collections::HashMap;

use crate::model::capnp::{self, Capnp};
use crate::model::flat::{Flat, Of, Scalar, Shape};

/// Index into [`Schema::messages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(pub u32);

/// Index into [`Schema::enums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// All that was read for one input.
#[derive(Debug, Default, Clone)]
pub struct Schema {
    /// Record types, in the order in which the files declare them.
    pub messages: Vec<Message>,
    /// Enumerations, likewise.
    pub enums: Vec<Enum>,
    /// Messages and enumerations by full name.
    names: HashMap<String, Named>,
    /// Names of the files that were told, as messages call them.
    pub files: Vec<String>,
    /// What is odd in them.
    pub found: Vec<Finding>,
    /// The language they are written in.
    pub language: Language,
    /// What FlatBuffers lays out by: object N belongs to message N.
    pub flat: Option<Box<Flat>>,
    /// What Cap'n Proto lays out by: struct N belongs to message N.
    pub capnp: Option<Box<Capnp>>,
}

/// A schema language. Each input takes the schemas of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// `.proto` and descriptor sets.
    #[default]
    Proto,
    /// `.fbs` and `.bfbs`.
    Fbs,
    /// `.capnp` and a CodeGeneratorRequest.
    Capnp,
}

impl Language {
    /// How sentences call a schema file of it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Proto => ".proto",
            Language::Fbs => ".fbs",
            Language::Capnp => ".capnp",
        }
    }
}

/// What a full name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A record type.
    Message(MessageId),
    /// An enumeration.
    Enum(EnumId),
}

/// A place in a schema file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as messages call it.
    pub file: String,
    /// Line, counted from 1; 0 where it is not known.
    pub line: usize,
    /// Column in characters, counted from 1; 0 where it is not known.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.column) {
            (0, _) => write!(f, "{}", self.file),
            (line, 0) => write!(f, "{}:{line}", self.file),
            (line, column) => write!(f, "{}:{line}:{column}", self.file),
        }
    }
}

/// Something odd in a schema that loads all the same: a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The code that users search for: `import-missing`.
    pub code: &'static str,
    /// Where.
    pub place: Place,
    /// What was expected and what stands there.
    pub message: String,
    /// What to try; empty if there is nothing to say.
    pub help: String,
}

/// A schema that cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// Where.
    pub place: Place,
    /// What was expected and what stands there, one line.
    pub message: String,
    /// What to try; empty if there is nothing to say.
    pub help: String,
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl std::error::Error for SchemaError {}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

/// A record type.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// Full name, `suite.Document`.
    pub full_name: String,
    /// Name without the package, `Document` or `Outer.Inner`.
    pub name: String,
    /// Fields by number, extensions that are known for it among them.
    pub fields: Vec<Field>,
    /// Positions in `fields`, by number; numbers below [`DENSE`] only. 0 is none, else position + 1.
    dense: Vec<u16>,
    /// Names of its oneofs; those that only carry proto3 `optional` are left out.
    pub oneofs: Vec<String>,
    /// It is the entry of a map field: field 1 is the key, field 2 the value.
    pub map_entry: bool,
    /// It has the MessageSet wire format.
    pub message_set: bool,
    /// Types whose meaning the standard knows.
    pub well_known: WellKnown,
    /// It was declared in a file that was told, not in one that was imported.
    pub told: bool,
    /// Ranges of numbers that are set aside for extensions, half open.
    pub extension_ranges: Vec<(u32, u32)>,
    /// Numbers that are reserved, half open.
    pub reserved: Vec<(u32, u32)>,
}

/// Field numbers up to which a table is kept.
const DENSE: u32 = 256;

/// A field of a record type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub number: u32,
    /// Its name; an extension has its full name in brackets, `[pkg.name]`.
    pub name: String,
    /// Its name in JSON.
    pub json: String,
    /// What a value of it is.
    pub kind: FieldKind,
    /// How many values it may have.
    pub cardinality: Cardinality,
    /// Whether absent and default can be told apart.
    pub presence: Presence,
    /// Repeated values are written as one packed run.
    pub packed: bool,
    /// Text that is not UTF-8 is refused by readers.
    pub utf8: bool,
    /// Position in [`Message::oneofs`].
    pub oneof: Option<u32>,
    /// The declared default, as the descriptor has it.
    pub default: Option<String>,
    /// It extends the message from outside.
    pub extension: bool,
    /// It is marked as deprecated.
    pub deprecated: bool,
}

/// How many values a field may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    /// One.
    Singular,
    /// Any number.
    Repeated,
    /// Any number of entries; the kind is the message of an entry.
    Map,
}

/// Whether absent and default can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// No: the default is not written.
    Implicit,
    /// Yes.
    Explicit,
    /// Yes, and absent is an error.
    Required,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// A 64-bit float.
    Double,
    /// A 32-bit float.
    Float,
    /// 32 bits, signed, a varint.
    Int32,
    /// 64 bits, signed, a varint.
    Int64,
    /// 32 bits, unsigned, a varint.
    Uint32,
    /// 64 bits, unsigned, a varint.
    Uint64,
    /// 32 bits, signed, a zigzag varint.
    Sint32,
    /// 64 bits, signed, a zigzag varint.
    Sint64,
    /// 32 bits, unsigned, always four bytes.
    Fixed32,
    /// 64 bits, unsigned, always eight bytes.
    Fixed64,
    /// 32 bits, signed, always four bytes.
    Sfixed32,
    /// 64 bits, signed, always eight bytes.
    Sfixed64,
    /// A boolean.
    Bool,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A named number.
    Enum(EnumId),
    /// A record behind its length.
    Message(MessageId),
    /// A record between group tags (proto2 groups, editions DELIMITED).
    Group(MessageId),
    /// A type that could not be found, by its name: bytes.
    Opaque(String),
}

impl FieldKind {
    /// The record type of a value that is one.
    pub fn message(&self) -> Option<MessageId> {
        match self {
            FieldKind::Message(id) | FieldKind::Group(id) => Some(*id),
            _ => None,
        }
    }

    /// Whether repeated values may be written as one packed run.
    pub fn is_packable(&self) -> bool {
        !matches!(
            self,
            FieldKind::String | FieldKind::Bytes | FieldKind::Message(_) | FieldKind::Group(_) | FieldKind::Opaque(_)
        )
    }

    /// The keyword of a scalar type: `int32`; none for named types.
    pub fn keyword(&self) -> Option<&'static str> {
        Some(match self {
            FieldKind::Double => "double",
            FieldKind::Float => "float",
            FieldKind::Int32 => "int32",
            FieldKind::Int64 => "int64",
            FieldKind::Uint32 => "uint32",
            FieldKind::Uint64 => "uint64",
            FieldKind::Sint32 => "sint32",
            FieldKind::Sint64 => "sint64",
            FieldKind::Fixed32 => "fixed32",
            FieldKind::Fixed64 => "fixed64",
            FieldKind::Sfixed32 => "sfixed32",
            FieldKind::Sfixed64 => "sfixed64",
            FieldKind::Bool => "bool",
            FieldKind::String => "string",
            FieldKind::Bytes => "bytes",
            FieldKind::Enum(_) | FieldKind::Message(_) | FieldKind::Group(_) | FieldKind::Opaque(_) => return None,
        })
    }
}

/// Types whose meaning the standard knows (package `google.protobuf`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WellKnown {
    /// None of them.
    #[default]
    No,
    /// A message of any type, with the type's name.
    Any,
    /// A point in time.
    Timestamp,
    /// A span of time.
    Duration,
    /// A set of field paths.
    FieldMask,
    /// A JSON object.
    Struct,
    /// A JSON value.
    Value,
    /// A JSON array.
    ListValue,
    /// Nothing.
    Empty,
    /// One scalar, in field 1, that may be absent.
    Wrapper,
}

impl WellKnown {
    /// The well-known type of a full name.
    pub fn of(full_name: &str) -> WellKnown {
        match full_name.strip_prefix("google.protobuf.") {
            Some("Any") => WellKnown::Any,
            Some("Timestamp") => WellKnown::Timestamp,
            Some("Duration") => WellKnown::Duration,
            Some("FieldMask") => WellKnown::FieldMask,
            Some("Struct") => WellKnown::Struct,
            Some("Value") => WellKnown::Value,
            Some("ListValue") => WellKnown::ListValue,
            Some("Empty") => WellKnown::Empty,
            Some(
                "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
                | "BoolValue" | "StringValue" | "BytesValue",
            ) => WellKnown::Wrapper,
            _ => WellKnown::No,
        }
    }
}

/// An enumeration.
#[derive(Debug, Clone, Default)]
pub struct Enum {
    /// Full name.
    pub full_name: String,
    /// Name without the package.
    pub name: String,
    /// Numbers and names in the order of declaration; of aliases the first one names a number.
    pub values: Vec<(i32, String)>,
    /// Names by number.
    by_number: HashMap<i32, usize>,
    /// Unknown numbers are no values of it (proto2): the field counts as unknown.
    pub closed: bool,
}

impl Enum {
    /// An enumeration of these values.
    pub fn new(full_name: String, name: String, values: Vec<(i32, String)>, closed: bool) -> Enum {
        let mut by_number = HashMap::new();
        for (place, (number, _)) in values.iter().enumerate() {
            by_number.entry(*number).or_insert(place);
        }
        Enum { full_name, name, values, by_number, closed }
    }

    /// The name of a number.
    pub fn name_of(&self, number: i32) -> Option<&str> {
        let place = *self.by_number.get(&number)?;
        self.values.get(place).map(|(_, name)| name.as_str())
    }

    /// The number of a name.
    pub fn number_of(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(_, known)| known == name).map(|(number, _)| *number)
    }
}

impl Message {
    /// A record type without fields; the others of its facts are as in [`Message::default`].
    pub fn new(full_name: String, name: String) -> Message {
        Message { well_known: WellKnown::of(&full_name), full_name, name, ..Message::default() }
    }

    /// Sorts the fields by number and prepares the lookup; call it after the last change of `fields`.
    pub fn index(&mut self) {
        self.fields.sort_by_key(|field| field.number);
        let highest = self.fields.iter().map(|field| field.number).filter(|number| *number < DENSE).max();
        let len = highest.map_or(0, |highest| highest.saturating_add(1));
        self.dense = vec![0; usize::try_from(len).unwrap_or(0)];
        for (place, field) in self.fields.iter().enumerate() {
            let entry = usize::try_from(field.number).ok().and_then(|number| self.dense.get_mut(number));
            if let (Some(entry), Ok(place)) = (entry, u16::try_from(place.saturating_add(1))) {
                *entry = place;
            }
        }
    }

    /// Position in [`Message::fields`] of a number.
    pub fn position(&self, number: u32) -> Option<usize> {
        if number < DENSE {
            let place = self.dense.get(usize::try_from(number).ok()?)?;
            return usize::from(*place).checked_sub(1);
        }
        self.fields.binary_search_by_key(&number, |field| field.number).ok()
    }

    /// A field by its number.
    pub fn field(&self, number: u32) -> Option<&Field> {
        self.fields.get(self.position(number)?)
    }

    /// A field by its name or its name in JSON.
    pub fn field_by_name(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.json == name || field.name == name)
    }
}

impl Schema {
    /// The schema of FlatBuffers types: a record type for each table and struct, with what all formats share
    /// of its fields (numbers are ids), and the types themselves in [`Schema::flat`].
    pub fn of_flat(flat: Flat, files: Vec<String>, found: Vec<Finding>) -> Schema {
        let mut schema = Schema { files, found, language: Language::Fbs, ..Schema::default() };
        for object in &flat.objects {
            let mut message = Message::new(object.name.clone(), object.short_name().to_string());
            message.told = object.told;
            message.fields = object.fields.iter().map(|field| flat_field(field, &flat)).collect();
            message.index();
            schema.add_message(message);
        }
        schema.flat = Some(Box::new(flat));
        schema
    }

    /// The schema of Cap'n Proto types: a record type for each struct and group, with what all formats share of
    /// its fields (numbers are ordinals), and the types themselves in [`Schema::capnp`].
    pub fn of_capnp(capnp: Capnp, files: Vec<String>, found: Vec<Finding>) -> Schema {
        let mut schema = Schema { files, found, language: Language::Capnp, ..Schema::default() };
        for one in &capnp.structs {
            let mut message = Message::new(one.name.clone(), one.short_name().to_string());
            message.told = one.told && !one.is_group && !one.open && !one.of_method;
            message.fields = one.fields.iter().filter_map(|field| capnp_field(field, &capnp)).collect();
            message.index();
            schema.add_message(message);
        }
        schema.capnp = Some(Box::new(capnp));
        schema
    }

    /// Adds a record type.
    pub fn add_message(&mut self, message: Message) -> MessageId {
        let id = MessageId(u32::try_from(self.messages.len()).unwrap_or(u32::MAX));
        self.names.insert(message.full_name.clone(), Named::Message(id));
        self.messages.push(message);
        id
    }

    /// Adds an enumeration.
    pub fn add_enum(&mut self, one: Enum) -> EnumId {
        let id = EnumId(u32::try_from(self.enums.len()).unwrap_or(u32::MAX));
        self.names.insert(one.full_name.clone(), Named::Enum(id));
        self.enums.push(one);
        id
    }

    /// A record type; none only for a number that is not of this schema.
    pub fn message(&self, id: MessageId) -> Option<&Message> {
        self.messages.get(usize::try_from(id.0).ok()?)
    }

    /// An enumeration; none only for a number that is not of this schema.
    pub fn enumeration(&self, id: EnumId) -> Option<&Enum> {
        self.enums.get(usize::try_from(id.0).ok()?)
    }

    /// What a full name stands for; a leading dot is ignored.
    pub fn by_full_name(&self, name: &str) -> Option<Named> {
        self.names.get(name.strip_prefix('.').unwrap_or(name)).copied()
    }

    /// A record type by its full name.
    pub fn message_by_full_name(&self, name: &str) -> Option<MessageId> {
        match self.by_full_name(name) {
            Some(Named::Message(id)) => Some(id),
            _ => None,
        }
    }

    /// Record types that a message may be of: all but map entries.
    pub fn roots(&self) -> impl Iterator<Item = (MessageId, &Message)> + '_ {
        let numbered = (0u32..).map(MessageId).zip(&self.messages);
        numbered.filter(|(_, message)| !message.map_entry)
    }
}

/// What all formats share of a FlatBuffers field. Enumerations stand as the integers they are stored as:
/// their 64 bits have no room in [`Enum`].
fn flat_field(field: &crate::model::flat::Field, flat: &Flat) -> Field {
    let kind = match field.ty.of {
        Of::Scalar(_) | Of::Enum(_) | Of::UnionType(_) => flat_kind(flat.scalar(field.ty.of)),
        Of::Text => FieldKind::String,
        Of::Struct(id) | Of::Table(id) => FieldKind::Message(id),
        Of::Union(_) | Of::Raw(_) => FieldKind::Bytes,
    };
    Field {
        number: u32::from(field.id),
        name: field.name.clone(),
        json: field.name.clone(),
        kind,
        cardinality: if field.ty.shape == Shape::One { Cardinality::Singular } else { Cardinality::Repeated },
        presence: match (field.required, field.optional) {
            (true, _) => Presence::Required,
            (false, true) => Presence::Explicit,
            (false, false) => Presence::Implicit,
        },
        packed: false,
        utf8: true,
        oneof: None,
        default: None,
        extension: false,
        deprecated: field.deprecated,
    }
}

/// What all formats share of a Cap'n Proto field; groups without an ordinal have no number to stand under.
fn capnp_field(field: &capnp::Field, capnp: &Capnp) -> Option<Field> {
    use crate::model::capnp::{FieldKind as Kind, Type};
    let (ty, list) = match &field.kind {
        Kind::Group(id) => (Type::Struct(*id), false),
        Kind::Slot(slot) => match slot.ty {
            Type::List(element) => (capnp.element(element), true),
            other => (other, false),
        },
    };
    let kind = match ty {
        Type::Bool => FieldKind::Bool,
        Type::Int8 | Type::Int16 | Type::Int32 => FieldKind::Int32,
        Type::Uint8 | Type::Uint16 | Type::Uint32 | Type::Enum(_) => FieldKind::Uint32,
        Type::Int64 => FieldKind::Int64,
        Type::Uint64 => FieldKind::Uint64,
        Type::Float32 => FieldKind::Float,
        Type::Float64 => FieldKind::Double,
        Type::Text => FieldKind::String,
        Type::Struct(id) => FieldKind::Message(id),
        _ => FieldKind::Bytes,
    };
    Some(Field {
        number: u32::from(field.ordinal?),
        name: field.name.clone(),
        json: field.name.clone(),
        kind,
        cardinality: if list { Cardinality::Repeated } else { Cardinality::Singular },
        presence: if ty.is_pointer() { Presence::Explicit } else { Presence::Implicit },
        packed: false,
        utf8: true,
        oneof: None,
        default: None,
        extension: false,
        deprecated: false,
    })
}

fn flat_kind(scalar: Option<Scalar>) -> FieldKind {
    match scalar {
        Some(Scalar::Bool) => FieldKind::Bool,
        Some(Scalar::Byte | Scalar::Short | Scalar::Int) => FieldKind::Int32,
        Some(Scalar::Ubyte | Scalar::Ushort | Scalar::Uint) | None => FieldKind::Uint32,
        Some(Scalar::Long) => FieldKind::Int64,
        Some(Scalar::Ulong) => FieldKind::Uint64,
        Some(Scalar::Float) => FieldKind::Float,
        Some(Scalar::Double) => FieldKind::Double,
    }
}

/// A schema with the type that a message is read as.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The type; none where the message is read without.
    pub root: MessageId,
}
