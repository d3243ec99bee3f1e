//! A FlatBuffers schema as its walkers use it: tables with slots, structs with offsets, enumerations and
//! unions. It lies beside the record types of [`crate::model::schema::Schema`]: object N is message N.
//!
//! Names are those of the FlatBuffers documentation and of `reflection.fbs`.

use crate::model::schema::{MessageId, Place};

/// Index into [`Flat::enums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// All that a FlatBuffers schema says beyond names.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Flat {
    /// Tables and structs, in the order of [`crate::model::schema::Schema::messages`].
    pub objects: Vec<Object>,
    /// Enumerations and unions.
    pub enums: Vec<Enum>,
    /// Services of `rpc_service`.
    pub services: Vec<Service>,
    /// The type that `root_type` names.
    pub root: Option<MessageId>,
    /// What `file_identifier` says, four bytes.
    pub identifier: Option<[u8; 4]>,
    /// What `file_extension` says.
    pub extension: Option<String>,
    /// Nobody declared these types: they were guessed from the bytes, and fields are named by their number.
    pub guessed: bool,
}

/// A table or struct.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Object {
    /// Full name, `suite.Document`.
    pub name: String,
    /// A struct: its members stand in place, without vtable.
    pub is_struct: bool,
    /// Bytes that its start is a multiple of: of a struct its own alignment, of a table 1 or what
    /// `force_align` says.
    pub align: u32,
    /// Bytes of a struct, inner and last gaps included; 0 for a table.
    pub size: u32,
    /// Fields by id; of a struct in order of offset.
    pub fields: Vec<Field>,
    /// `original_order`: fields are written in the order of the schema, not by size.
    pub original_order: bool,
    /// Attributes as written, with their values, in alphabetical order of names.
    pub attributes: Vec<(String, String)>,
    /// Lines of its doc comment, without slashes.
    pub doc: Vec<String>,
    /// It was declared in a file that was told, not in one that was included.
    pub told: bool,
    /// Where it is declared.
    pub place: Place,
}

/// A field of a table or member of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its slot, counted from 0; of a struct its position.
    pub id: u16,
    /// What a value of it is.
    pub ty: Type,
    /// In a struct bytes from its start; in a table the place of its slot in a vtable, 4 + 2 * id.
    pub offset: u32,
    /// Bytes of gap behind a struct member.
    pub padding: u32,
    /// What an absent field means.
    pub default: Absent,
    /// `required`: absent is an error.
    pub required: bool,
    /// `= null`: absent is a value of its own.
    pub optional: bool,
    /// `deprecated`: not read any more.
    pub deprecated: bool,
    /// `key`: vectors of the table are sorted by it.
    pub key: bool,
    /// `offset64`, or a vector64: the offset in the table has 8 bytes.
    pub offset64: bool,
    /// `nested_flatbuffer`: the type of the buffer inside.
    pub nested: Option<MessageId>,
    /// `flexbuffer`: the bytes are a FlexBuffer.
    pub flexbuffer: bool,
    /// `shared`: equal strings are stored once.
    pub shared: bool,
    /// `hash`: JSON texts of it are hashed, `fnv1_16` to `fnv1a_64`.
    pub hash: Option<String>,
    /// Attributes as written, with their values, in alphabetical order of names.
    pub attributes: Vec<(String, String)>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// Where it is declared.
    pub place: Place,
}

/// What an absent field means.
#[derive(Debug, Clone, PartialEq)]
pub enum Absent {
    /// Nothing: an offset, or an optional scalar.
    None,
    /// An integer, bool or enumerated value.
    Int(i64),
    /// An unsigned integer above `i64::MAX`.
    Uint(u64),
    /// A float or double.
    Float(f64),
    /// A string.
    Text(String),
    /// An empty vector.
    EmptyVector,
}

/// A scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 1 byte, 0 or 1.
    Bool,
    /// 1 byte, signed.
    Byte,
    /// 1 byte.
    Ubyte,
    /// 2 bytes, signed.
    Short,
    /// 2 bytes.
    Ushort,
    /// 4 bytes, signed.
    Int,
    /// 4 bytes.
    Uint,
    /// 8 bytes, signed.
    Long,
    /// 8 bytes.
    Ulong,
    /// 4 bytes, IEEE 754.
    Float,
    /// 8 bytes, IEEE 754.
    Double,
}

/// A type: how many values, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    /// How many values, and where.
    pub shape: Shape,
    /// What each is.
    pub of: Of,
}

/// How many values, and where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One.
    One,
    /// A vector behind an offset, its count in 4 bytes.
    Vector,
    /// A vector behind an 8-byte offset, its count in 8 bytes (`vector64`).
    Vector64,
    /// So many in place, in a struct.
    Array(u16),
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Of {
    /// A scalar.
    Scalar(Scalar),
    /// An enumerated value, stored as [`Enum::base`].
    Enum(EnumId),
    /// Which member of a union a value is, stored as [`Enum::base`]. The field of the union has the next id.
    UnionType(EnumId),
    /// A string behind an offset.
    Text,
    /// A struct in place.
    Struct(MessageId),
    /// A table behind an offset.
    Table(MessageId),
    /// A member of a union behind an offset.
    Union(EnumId),
    /// Bytes whose type nobody knows, so many of them ([`Flat::guessed`] only).
    Raw(u8),
}

/// An enumeration or union.
#[derive(Debug, Clone, PartialEq)]
pub struct Enum {
    /// Full name.
    pub name: String,
    /// How values, or types of a union, are stored: an integer type.
    pub base: Scalar,
    /// It is a union.
    pub is_union: bool,
    /// `bit_flags`: values are sums of powers of two.
    pub bit_flags: bool,
    /// Values, smallest first.
    pub values: Vec<EnumValue>,
    /// Attributes as written, with their values, in alphabetical order of names.
    pub attributes: Vec<(String, String)>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// It was declared in a file that was told, not in one that was included.
    pub told: bool,
    /// Where it is declared.
    pub place: Place,
}

/// A value of an enumeration, or a member of a union.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumValue {
    /// Its name; of a union the alias, or the name of the type with `.` as `_`.
    pub name: String,
    /// The number; of `ulong` the same 64 bits.
    pub number: i64,
    /// What a union holds under this number: a table, a struct or a string; none for `NONE`.
    pub member: Option<Of>,
    /// Attributes as written, with their values, in alphabetical order of names.
    pub attributes: Vec<(String, String)>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

/// A service of `rpc_service`.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// Full name.
    pub name: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

/// A call of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// The table that is sent.
    pub request: MessageId,
    /// The table that comes back.
    pub response: MessageId,
    /// Attributes as written, with their values, in alphabetical order of names.
    pub attributes: Vec<(String, String)>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

impl Scalar {
    /// All scalar types.
    pub const ALL: [Scalar; 11] = [
        Scalar::Bool,
        Scalar::Byte,
        Scalar::Ubyte,
        Scalar::Short,
        Scalar::Ushort,
        Scalar::Int,
        Scalar::Uint,
        Scalar::Long,
        Scalar::Ulong,
        Scalar::Float,
        Scalar::Double,
    ];

    /// Bytes that a value takes, and whose multiple its place is.
    pub fn size(self) -> u8 {
        match self {
            Scalar::Bool | Scalar::Byte | Scalar::Ubyte => 1,
            Scalar::Short | Scalar::Ushort => 2,
            Scalar::Int | Scalar::Uint | Scalar::Float => 4,
            Scalar::Long | Scalar::Ulong | Scalar::Double => 8,
        }
    }

    /// The name in schemas; each has a second one, `int32` for `int`.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Byte => "byte",
            Scalar::Ubyte => "ubyte",
            Scalar::Short => "short",
            Scalar::Ushort => "ushort",
            Scalar::Int => "int",
            Scalar::Uint => "uint",
            Scalar::Long => "long",
            Scalar::Ulong => "ulong",
            Scalar::Float => "float",
            Scalar::Double => "double",
        }
    }

    /// The second name in schemas, with the number of bits: what dumps call it.
    pub fn sized_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Byte => "int8",
            Scalar::Ubyte => "uint8",
            Scalar::Short => "int16",
            Scalar::Ushort => "uint16",
            Scalar::Int => "int32",
            Scalar::Uint => "uint32",
            Scalar::Long => "int64",
            Scalar::Ulong => "uint64",
            Scalar::Float => "float32",
            Scalar::Double => "float64",
        }
    }

    /// Whether negative values exist.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::Byte | Scalar::Short | Scalar::Int | Scalar::Long | Scalar::Float | Scalar::Double)
    }

    /// Whether it is `float` or `double`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double)
    }
}

impl Type {
    /// One value in place or behind an offset.
    pub const fn one(of: Of) -> Type {
        Type { shape: Shape::One, of }
    }

    /// A vector.
    pub const fn vector(of: Of) -> Type {
        Type { shape: Shape::Vector, of }
    }

    /// Whether a table holds an offset to it: strings, vectors, tables and union values.
    pub fn is_offset(self) -> bool {
        match self.shape {
            Shape::Vector | Shape::Vector64 => true,
            Shape::Array(_) => false,
            Shape::One => self.of.is_offset(),
        }
    }
}

impl Of {
    /// Whether a value stands behind an offset.
    pub fn is_offset(self) -> bool {
        matches!(self, Of::Text | Of::Table(_) | Of::Union(_))
    }
}

impl Flat {
    /// A table or struct; none only for a number that is not of this schema.
    pub fn object(&self, id: MessageId) -> Option<&Object> {
        self.objects.get(usize::try_from(id.0).ok()?)
    }

    /// An enumeration or union; none only for a number that is not of this schema.
    pub fn enumeration(&self, id: EnumId) -> Option<&Enum> {
        self.enums.get(usize::try_from(id.0).ok()?)
    }

    /// The scalar that a value is stored as; none where it is no scalar.
    pub fn scalar(&self, of: Of) -> Option<Scalar> {
        match of {
            Of::Scalar(scalar) => Some(scalar),
            Of::Enum(id) | Of::UnionType(id) => Some(self.enumeration(id)?.base),
            Of::Text | Of::Struct(_) | Of::Table(_) | Of::Union(_) | Of::Raw(_) => None,
        }
    }

    /// Bytes that one value takes where it stands: a scalar, a struct, or an offset of 4 bytes.
    pub fn width(&self, of: Of) -> u64 {
        match of {
            Of::Scalar(_) | Of::Enum(_) | Of::UnionType(_) => self.scalar(of).map_or(1, |s| u64::from(s.size())),
            Of::Struct(id) => self.object(id).map_or(1, |object| u64::from(object.size.max(1))),
            Of::Text | Of::Table(_) | Of::Union(_) => 4,
            Of::Raw(size) => u64::from(size.max(1)),
        }
    }

    /// Bytes that the place of one value is a multiple of.
    pub fn align(&self, of: Of) -> u64 {
        match of {
            Of::Struct(id) => self.object(id).map_or(1, |object| u64::from(object.align.max(1))),
            // Nobody knows: what was guessed need not be aligned.
            Of::Raw(_) => 1,
            other => self.width(other),
        }
    }

    /// The name of a value of an enumeration.
    pub fn value_name(&self, id: EnumId, number: i64) -> Option<&str> {
        let one = self.enumeration(id)?;
        one.values.iter().find(|value| value.number == number).map(|value| value.name.as_str())
    }
}

impl Object {
    /// A field by its id; ids may have gaps in schemas that were guessed.
    pub fn field(&self, id: u16) -> Option<&Field> {
        let there = self.fields.get(usize::from(id)).filter(|field| field.id == id);
        there
            .or_else(|| self.fields.binary_search_by_key(&id, |field| field.id).ok().and_then(|at| self.fields.get(at)))
    }

    /// A field by its name.
    pub fn field_by_name(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The name without namespace.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

impl Enum {
    /// The member of a union that a number stands for.
    pub fn member(&self, number: i64) -> Option<&EnumValue> {
        self.values.iter().find(|value| value.number == number)
    }

    /// The name without namespace.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

impl Field {
    /// A field with nothing but name, slot and type.
    pub fn new(name: String, id: u16, ty: Type) -> Field {
        Field {
            name,
            id,
            ty,
            offset: 4u32.saturating_add(u32::from(id).saturating_mul(2)),
            padding: 0,
            default: Absent::None,
            required: false,
            optional: false,
            deprecated: false,
            key: false,
            offset64: false,
            nested: None,
            flexbuffer: false,
            shared: false,
            hash: None,
            attributes: Vec::new(),
            doc: Vec::new(),
            place: Place::default(),
        }
    }
}
