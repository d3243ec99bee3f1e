//! What a `.fbs` file declares, before names are resolved.

use crate::model::flat::Scalar;

/// A file.
#[derive(Debug, Default)]
pub struct File {
    /// Files it includes, with the place of the name.
    pub includes: Vec<(String, usize)>,
    /// Tables and structs.
    pub objects: Vec<Object>,
    /// Enumerations and unions.
    pub enums: Vec<Enum>,
    /// Services.
    pub services: Vec<Service>,
    /// What `root_type` names; the last one counts.
    pub roots: Vec<Name>,
    /// What `file_identifier` says.
    pub identifier: Option<[u8; 4]>,
    /// What `file_extension` says.
    pub extension: Option<String>,
    /// Attributes that it declares, with their places.
    pub attributes: Vec<(String, usize)>,
    /// Where data in JSON begins that stands behind the declarations.
    pub data: Option<usize>,
}

/// A name that is used, with the namespace it is used in.
#[derive(Debug, Clone, Default)]
pub struct Name {
    /// The name, with dots.
    pub text: String,
    /// The namespace around it.
    pub space: String,
    /// Its place.
    pub at: usize,
}

/// What all declarations have.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// The name.
    pub name: String,
    /// The namespace around it.
    pub space: String,
    /// Attributes, in the order of the source.
    pub attributes: Vec<Attribute>,
    /// Doc comments.
    pub doc: Vec<String>,
    /// Its place.
    pub at: usize,
}

impl Head {
    /// The name with its namespace.
    pub fn full(&self) -> String {
        if self.space.is_empty() { self.name.clone() } else { format!("{}.{}", self.space, self.name) }
    }

    /// An attribute by its name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.name == name)
    }

    /// Whether an attribute is there.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value as written; empty where it has none.
    pub value: String,
    /// Whether a string or a number was written.
    pub given: Given,
    /// Its place.
    pub at: usize,
}

/// How the value of an attribute is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// There is none.
    Nothing,
    /// As a number.
    Number,
    /// In quotes.
    Text,
}

/// A table or struct.
#[derive(Debug)]
pub struct Object {
    /// Name and the rest.
    pub head: Head,
    /// A struct.
    pub is_struct: bool,
    /// Fields, in the order of the source.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Debug)]
pub struct Field {
    /// Name and the rest.
    pub head: Head,
    /// Its type.
    pub ty: Type,
    /// Its default.
    pub default: Option<(Value, usize)>,
}

impl Field {
    /// The type of the buffer inside, as an attribute names it.
    pub fn nested(&self) -> Option<Name> {
        let attribute = self.head.attribute("nested_flatbuffer").filter(|one| one.given == Given::Text)?;
        Some(Name { text: attribute.value.clone(), space: self.head.space.clone(), at: attribute.at })
    }
}

/// A type.
#[derive(Debug, Clone)]
pub struct Type {
    /// What one value is.
    pub of: Base,
    /// How many.
    pub shape: Shape,
    /// Its place.
    pub at: usize,
}

/// What one value is.
#[derive(Debug, Clone)]
pub enum Base {
    /// A scalar.
    Scalar(Scalar),
    /// A string.
    Text,
    /// A name.
    Named(Name),
}

/// How many values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One.
    One,
    /// A vector.
    Vector,
    /// So many in place.
    Array(u16),
}

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(String),
    /// A word, with dots: `null`, `true`, `Red`, `Color.Red`.
    Word(String),
    /// A string.
    Text(String),
    /// What a function gave, `rad(180)`.
    Computed(String),
    /// `[]`
    Empty,
}

/// An enumeration or union.
#[derive(Debug)]
pub struct Enum {
    /// Name and the rest.
    pub head: Head,
    /// A union.
    pub is_union: bool,
    /// The type behind the colon.
    pub base: Option<(Type, usize)>,
    /// Values or members.
    pub values: Vec<EnumValue>,
}

/// A value or member.
#[derive(Debug)]
pub struct EnumValue {
    /// Name and the rest; of a member without alias the name of its type with `_` for dots.
    pub head: Head,
    /// What a member is.
    pub member: Option<Base>,
    /// A member with a name of its own, `alias: Type`.
    pub aliased: bool,
    /// The number, where one is written.
    pub number: Option<(String, usize)>,
}

/// A service.
#[derive(Debug)]
pub struct Service {
    /// Name and the rest.
    pub head: Head,
    /// Its calls: head, request, response.
    pub calls: Vec<(Head, Name, Name)>,
}
