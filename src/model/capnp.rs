//! A Cap'n Proto schema as its walkers use it: structs with the places of their fields, enums, interfaces,
//! constants. It lies beside the record types of [`crate::model::schema::Schema`]: struct N is message N.
//!
//! Names are those of the language's documentation and of `schema.capnp`. Generic structs are written out:
//! `Box(Text)` is a struct of its own beside the declaration `Box(T)`, so that no walker binds parameters.

use crate::model::schema::{MessageId, Place};

/// Index into [`Capnp::enums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// Index into [`Capnp::interfaces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceId(pub u32);

/// Index into [`Capnp::types`]: the type of the elements of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// All that a Cap'n Proto schema says.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Capnp {
    /// Structs and groups, in the order of [`crate::model::schema::Schema::messages`]; written out generic ones
    /// behind all declared ones.
    pub structs: Vec<Struct>,
    /// Enums.
    pub enums: Vec<Enum>,
    /// Interfaces.
    pub interfaces: Vec<Interface>,
    /// Constants.
    pub consts: Vec<Const>,
    /// Declared annotations.
    pub annotations: Vec<AnnotationDeclaration>,
    /// Files, told ones first.
    pub files: Vec<File>,
    /// Element types of lists; each stands here once.
    pub types: Vec<Type>,
}

/// A schema file.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct File {
    /// Its id, `@0x…`.
    pub id: u64,
    /// The name as messages call it.
    pub name: String,
    /// It was told, not imported.
    pub told: bool,
    /// Annotations of the file.
    pub annotations: Vec<Annotation>,
}

/// A struct or group.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Struct {
    /// Its id; of a written out generic struct that of the declaration.
    pub id: u64,
    /// Name within the file, with what it stands in: `Outer.Inner`; a group by its field, `Outer.place`; a
    /// written out generic struct with its bindings, `Box(Text)`.
    pub name: String,
    /// Words of the data section; of a group those of the struct around it.
    pub data_words: u16,
    /// Pointers; of a group those of the struct around it.
    pub pointers: u16,
    /// It is a group: its fields stand in the sections of the struct around it.
    pub is_group: bool,
    /// Where the number stands that says which member of the union is set, in units of 16 bits from the start of
    /// the data section; none where there is no unnamed union.
    pub tag: Option<u32>,
    /// How many members the unnamed union has.
    pub members: u16,
    /// Fields in the order of `schema.capnp`: by ordinal, a group by the lowest ordinal in it.
    pub fields: Vec<Field>,
    /// Names of its own type parameters.
    pub parameters: Vec<String>,
    /// The declaration of which this is written out, with bindings.
    pub instance_of: Option<MessageId>,
    /// It holds parameters, or stands in what holds some, that are not bound: only a declaration.
    pub open: bool,
    /// It holds parameters or results of a method.
    pub of_method: bool,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment, without `#`.
    pub doc: Vec<String>,
    /// It was declared in a file that was told, not in one that was imported.
    pub told: bool,
    /// Position of its file in [`Capnp::files`].
    pub file: u32,
    /// Where it is declared.
    pub place: Place,
}

/// A field of a struct or group.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its ordinal, `@3`; groups have none but `union @3`.
    pub ordinal: Option<u16>,
    /// Its place in the order of the source, counted from 0.
    pub order: u16,
    /// The number in the union's tag that stands for it; none for what is in no union.
    pub tag: Option<u16>,
    /// Where and what it is.
    pub kind: FieldKind,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// Where it is declared.
    pub place: Place,
}

/// Where and what a field is.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// A value of its own.
    Slot(Slot),
    /// A group, or a named union.
    Group(MessageId),
}

/// A field with a value of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// What it is.
    pub ty: Type,
    /// Its place: in the data section in multiples of its own size ([`Type::bits`]), of a pointer its number in
    /// the pointer section; 0 for `Void`.
    pub offset: u32,
    /// The value of stored zeros or of a null pointer.
    pub default: Value,
    /// The schema says the default.
    pub explicit: bool,
}

/// A type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Nothing.
    Void,
    /// A bit.
    Bool,
    /// 8 bits, signed.
    Int8,
    /// 16 bits, signed.
    Int16,
    /// 32 bits, signed.
    Int32,
    /// 64 bits, signed.
    Int64,
    /// 8 bits.
    Uint8,
    /// 16 bits.
    Uint16,
    /// 32 bits.
    Uint32,
    /// 64 bits.
    Uint64,
    /// 32 bits, IEEE 754.
    Float32,
    /// 64 bits, IEEE 754.
    Float64,
    /// Text: a list of bytes with a NUL at its end.
    Text,
    /// Bytes.
    Data,
    /// A list.
    List(TypeId),
    /// 16 bits, named.
    Enum(EnumId),
    /// A struct behind a pointer, in lists in place.
    Struct(MessageId),
    /// A capability.
    Interface(InterfaceId),
    /// Any pointer.
    AnyPointer,
    /// Any struct.
    AnyStruct,
    /// Any list.
    AnyList,
    /// Any capability.
    Capability,
    /// A type parameter that is not bound, by its position in [`Struct::parameters`] of the struct `of`.
    Parameter {
        /// Whose parameter it is.
        of: MessageId,
        /// Position.
        index: u16,
    },
}

/// A value in a schema: a default, a constant, an annotation.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Void,
    /// A bit.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A 32-bit float.
    Float32(f32),
    /// A 64-bit float.
    Float64(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Data(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A named number.
    Enum(u16),
    /// A struct: positions in [`Struct::fields`] with their values; of a group a struct again.
    Struct(Vec<(u16, Value)>),
    /// A null pointer.
    Null,
}

/// An annotation on a declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The id of its declaration.
    pub id: u64,
    /// Its name as declared, `Json.name` for `$Json.name`.
    pub name: String,
    /// What it is applied with.
    pub value: Value,
    /// The type of the value.
    pub ty: Type,
}

/// An annotation that can be applied.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationDeclaration {
    /// Its id.
    pub id: u64,
    /// Name within the file.
    pub name: String,
    /// The type of its values.
    pub ty: Type,
    /// What it may stand on, in the words of the language: `field`, `struct`; all of them for `*`.
    pub targets: Vec<&'static str>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// It was declared in a file that was told.
    pub told: bool,
}

/// An enum.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Enum {
    /// Its id.
    pub id: u64,
    /// Name within the file.
    pub name: String,
    /// Enumerants by number.
    pub enumerants: Vec<Enumerant>,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// It was declared in a file that was told.
    pub told: bool,
    /// Where it is declared.
    pub place: Place,
}

/// A name of an enum; its number is its position.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Enumerant {
    /// The name.
    pub name: String,
    /// Its place in the order of the source, counted from 0.
    pub order: u16,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

/// An interface.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Interface {
    /// Its id.
    pub id: u64,
    /// Name within the file.
    pub name: String,
    /// Interfaces it extends.
    pub extends: Vec<InterfaceId>,
    /// Methods by number.
    pub methods: Vec<Method>,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// It was declared in a file that was told.
    pub told: bool,
    /// Where it is declared.
    pub place: Place,
}

/// A method of an interface; its number is its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The name.
    pub name: String,
    /// Its place in the order of the source, counted from 0.
    pub order: u16,
    /// The struct of its parameters.
    pub parameters: MessageId,
    /// The struct of its results; of a streaming method `StreamResult`.
    pub results: MessageId,
    /// Declared `-> stream`.
    pub streaming: bool,
    /// Annotations in order of declaration.
    pub annotations: Vec<Annotation>,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Const {
    /// Its id.
    pub id: u64,
    /// Name within the file.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: Value,
    /// Lines of its doc comment.
    pub doc: Vec<String>,
    /// It was declared in a file that was told.
    pub told: bool,
}

impl Type {
    /// Bits that a value takes in a data section or list; none for pointers and structs.
    pub fn bits(self) -> Option<u32> {
        Some(match self {
            Type::Void => 0,
            Type::Bool => 1,
            Type::Int8 | Type::Uint8 => 8,
            Type::Int16 | Type::Uint16 | Type::Enum(_) => 16,
            Type::Int32 | Type::Uint32 | Type::Float32 => 32,
            Type::Int64 | Type::Uint64 | Type::Float64 => 64,
            _ => return None,
        })
    }

    /// Whether a field of it is a pointer.
    pub fn is_pointer(self) -> bool {
        self.bits().is_none()
    }

    /// The keyword of a built-in type; none for lists and declared types.
    pub fn keyword(self) -> Option<&'static str> {
        Some(match self {
            Type::Void => "Void",
            Type::Bool => "Bool",
            Type::Int8 => "Int8",
            Type::Int16 => "Int16",
            Type::Int32 => "Int32",
            Type::Int64 => "Int64",
            Type::Uint8 => "UInt8",
            Type::Uint16 => "UInt16",
            Type::Uint32 => "UInt32",
            Type::Uint64 => "UInt64",
            Type::Float32 => "Float32",
            Type::Float64 => "Float64",
            Type::Text => "Text",
            Type::Data => "Data",
            Type::AnyPointer => "AnyPointer",
            Type::AnyStruct => "AnyStruct",
            Type::AnyList => "AnyList",
            Type::Capability => "Capability",
            Type::List(_) | Type::Enum(_) | Type::Struct(_) | Type::Interface(_) | Type::Parameter { .. } => {
                return None;
            }
        })
    }
}

impl Value {
    /// The value of zeros, or of a null pointer.
    pub fn zero(ty: Type) -> Value {
        match ty {
            Type::Void => Value::Void,
            Type::Bool => Value::Bool(false),
            Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => Value::Int(0),
            Type::Uint8 | Type::Uint16 | Type::Uint32 | Type::Uint64 => Value::Uint(0),
            Type::Float32 => Value::Float32(0.0),
            Type::Float64 => Value::Float64(0.0),
            Type::Enum(_) => Value::Enum(0),
            _ => Value::Null,
        }
    }

    /// The bits that stored bits are xored with, lowest first; 0 for pointers.
    pub fn mask(&self) -> u64 {
        match self {
            Value::Bool(set) => u64::from(*set),
            Value::Int(number) => number.cast_unsigned(),
            Value::Uint(number) => *number,
            Value::Float32(number) => u64::from(number.to_bits()),
            Value::Float64(number) => number.to_bits(),
            Value::Enum(number) => u64::from(*number),
            _ => 0,
        }
    }
}

impl Capnp {
    /// A struct or group; none only for a number that is not of this schema.
    pub fn record(&self, id: MessageId) -> Option<&Struct> {
        self.structs.get(usize::try_from(id.0).ok()?)
    }

    /// An enum; none only for a number that is not of this schema.
    pub fn enumeration(&self, id: EnumId) -> Option<&Enum> {
        self.enums.get(usize::try_from(id.0).ok()?)
    }

    /// An interface; none only for a number that is not of this schema.
    pub fn interface(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.get(usize::try_from(id.0).ok()?)
    }

    /// The type of the elements of a list.
    pub fn element(&self, id: TypeId) -> Type {
        usize::try_from(id.0).ok().and_then(|at| self.types.get(at)).copied().unwrap_or(Type::AnyPointer)
    }

    /// The list type of elements of this type.
    pub fn list_of(&mut self, element: Type) -> Type {
        let at = self.types.iter().position(|known| *known == element).unwrap_or_else(|| {
            self.types.push(element);
            self.types.len().saturating_sub(1)
        });
        Type::List(TypeId(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// A type as the language writes it: `List(Int32)`, `Outer.Inner`.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::List(id) => format!("List({})", self.type_name(self.element(id))),
            Type::Enum(id) => self.enumeration(id).map_or_else(String::new, |one| one.name.clone()),
            Type::Struct(id) => self.record(id).map_or_else(String::new, |one| one.name.clone()),
            Type::Interface(id) => self.interface(id).map_or_else(String::new, |one| one.name.clone()),
            Type::Parameter { of, index } => {
                let names = self.record(of).map_or(&[][..], |one| &one.parameters);
                names.get(usize::from(index)).cloned().unwrap_or_else(|| "AnyPointer".to_string())
            }
            other => other.keyword().unwrap_or("").to_string(),
        }
    }
}

impl Struct {
    /// A field by its name.
    pub fn field_by_name(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The member of the unnamed union that a tag stands for.
    pub fn member(&self, tag: u16) -> Option<&Field> {
        self.fields.iter().find(|field| field.tag == Some(tag))
    }

    /// The name without what it stands in.
    pub fn short_name(&self) -> &str {
        // A binding may hold a dot: `Box(Outer.Inner)`.
        let head = self.name.find('(').unwrap_or(self.name.len());
        let start = self.name.get(..head).and_then(|name| name.rfind('.')).map_or(0, |dot| dot.saturating_add(1));
        self.name.get(start..).unwrap_or(&self.name)
    }
}

impl Enum {
    /// The name of a number.
    pub fn name_of(&self, number: u16) -> Option<&str> {
        self.enumerants.get(usize::from(number)).map(|one| one.name.as_str())
    }
}
