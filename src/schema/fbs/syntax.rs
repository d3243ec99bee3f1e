//! What a `.fbs` file declares, as it stands there: names are not looked up yet, values have no type.

use crate::schema::fbs::lexer::Spot;

/// A name, perhaps with dots, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it begins.
    pub at: Spot,
}

/// A file.
#[derive(Debug, Default)]
pub struct Source {
    /// Files that it includes, in order.
    pub includes: Vec<Name>,
    /// What follows the includes.
    pub items: Vec<Item>,
    /// Where data in JSON begins, behind the schema.
    pub data: Option<Spot>,
}

/// A declaration.
#[derive(Debug)]
pub enum Item {
    /// `namespace a.b;`
    Namespace(String),
    /// `table` or `struct`.
    Record(Record),
    /// `enum` or `union`.
    Enum(EnumDecl),
    /// `root_type T;`
    Root(Name),
    /// `file_identifier "ABCD";`
    Identifier(Name),
    /// `file_extension "abc";`
    Extension(Name),
    /// `attribute "name";`
    Attribute(Name),
    /// `rpc_service`.
    Service(ServiceDecl),
}

/// A table or struct.
#[derive(Debug)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// `struct`.
    pub is_struct: bool,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Fields in order.
    pub fields: Vec<FieldDecl>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}

/// A field.
#[derive(Debug)]
pub struct FieldDecl {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeName,
    /// What stands behind `=`.
    pub default: Option<Value>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}

/// How many values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    /// One.
    One,
    /// `[T]`
    Vector,
    /// `[T:N]`
    Array(u16),
}

/// A type.
#[derive(Debug)]
pub struct TypeName {
    /// How many.
    pub many: Many,
    /// Of what.
    pub name: Name,
}

/// An enumeration or union.
#[derive(Debug)]
pub struct EnumDecl {
    /// Its name.
    pub name: Name,
    /// `union`.
    pub is_union: bool,
    /// The type behind `:`.
    pub base: Option<TypeName>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Values in order.
    pub values: Vec<ValueDecl>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}

/// A value of an enumeration, or a member of a union.
#[derive(Debug)]
pub struct ValueDecl {
    /// Its name; of a member without alias the name of its type.
    pub name: Name,
    /// The type behind an alias.
    pub ty: Option<TypeName>,
    /// The number behind `=`.
    pub number: Option<Name>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}

/// An attribute in brackets.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// What stands behind `:`.
    pub value: Option<Value>,
}

/// A value, not yet of any type.
#[derive(Debug, Clone)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Its text, with its sign.
    pub text: String,
    /// Where it begins.
    pub at: Spot,
    /// A string that is printable ASCII and has no escapes.
    pub plain: bool,
    /// Functions around it, the outermost first: `sin(rad(90))`.
    pub functions: Vec<Name>,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A name.
    Word,
    /// A string.
    Text,
    /// An integer.
    Int,
    /// A number with point or exponent.
    Float,
    /// `[]`
    Empty,
}

/// A service.
#[derive(Debug)]
pub struct ServiceDecl {
    /// Its name.
    pub name: Name,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Its calls.
    pub calls: Vec<CallDecl>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}

/// A call of a service.
#[derive(Debug)]
pub struct CallDecl {
    /// Its name.
    pub name: Name,
    /// What is sent.
    pub request: Name,
    /// What comes back.
    pub response: Name,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
}
