//! The parts of google/protobuf/descriptor.proto that a schema is made of. Parsed source and descriptor sets
//! both come in this form, so that one linker serves both.
//!
//! Options that a parser has not interpreted stand beside the interpreted ones; features.rs reads both.

use prost::{Enumeration, Message};

/// A set of files, as `protoc -o` and `buf build` write it.
#[derive(Clone, PartialEq, Message)]
pub struct FileSet {
    /// The files, imported ones first.
    #[prost(message, repeated, tag = "1")]
    pub file: Vec<File>,
}

/// A file.
#[derive(Clone, PartialEq, Message)]
pub struct File {
    /// Its name as imports call it.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// The package.
    #[prost(string, optional, tag = "2")]
    pub package: Option<String>,
    /// Names of imported files.
    #[prost(string, repeated, tag = "3")]
    pub dependency: Vec<String>,
    /// Record types at the top.
    #[prost(message, repeated, tag = "4")]
    pub message_type: Vec<Record>,
    /// Enumerations at the top.
    #[prost(message, repeated, tag = "5")]
    pub enum_type: Vec<Enumerated>,
    /// Extension fields at the top.
    #[prost(message, repeated, tag = "7")]
    pub extension: Vec<Field>,
    /// Options.
    #[prost(message, optional, tag = "8")]
    pub options: Option<FileOptions>,
    /// Positions in `dependency` of public imports.
    #[prost(int32, repeated, packed = "false", tag = "10")]
    pub public_dependency: Vec<i32>,
    /// `proto2` (or absent), `proto3` or `editions`.
    #[prost(string, optional, tag = "12")]
    pub syntax: Option<String>,
    /// The edition's number.
    #[prost(int32, optional, tag = "14")]
    pub edition: Option<i32>,
    /// What buf writes beside each file.
    #[prost(message, optional, tag = "8042")]
    pub buf: Option<BufFile>,
}

/// What buf writes beside each file.
#[derive(Clone, PartialEq, Message)]
pub struct BufFile {
    /// The file is only imported.
    #[prost(bool, optional, tag = "1")]
    pub is_import: Option<bool>,
}

/// A record type.
#[derive(Clone, PartialEq, Message)]
pub struct Record {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Its fields.
    #[prost(message, repeated, tag = "2")]
    pub field: Vec<Field>,
    /// Record types inside.
    #[prost(message, repeated, tag = "3")]
    pub nested_type: Vec<Record>,
    /// Enumerations inside.
    #[prost(message, repeated, tag = "4")]
    pub enum_type: Vec<Enumerated>,
    /// Numbers set aside for extensions.
    #[prost(message, repeated, tag = "5")]
    pub extension_range: Vec<Range>,
    /// Extension fields declared inside, of whatever type.
    #[prost(message, repeated, tag = "6")]
    pub extension: Vec<Field>,
    /// Options.
    #[prost(message, optional, tag = "7")]
    pub options: Option<RecordOptions>,
    /// Its oneofs, real ones first.
    #[prost(message, repeated, tag = "8")]
    pub oneof_decl: Vec<Oneof>,
    /// Reserved numbers.
    #[prost(message, repeated, tag = "9")]
    pub reserved_range: Vec<Range>,
}

/// A range of numbers, half open.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Range {
    /// The first.
    #[prost(int32, optional, tag = "1")]
    pub start: Option<i32>,
    /// The one behind the last.
    #[prost(int32, optional, tag = "2")]
    pub end: Option<i32>,
}

/// A oneof.
#[derive(Clone, PartialEq, Message)]
pub struct Oneof {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Options.
    #[prost(message, optional, tag = "2")]
    pub options: Option<OneofOptions>,
}

/// A field.
#[derive(Clone, PartialEq, Message)]
pub struct Field {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// The type that it extends.
    #[prost(string, optional, tag = "2")]
    pub extendee: Option<String>,
    /// Its number.
    #[prost(int32, optional, tag = "3")]
    pub number: Option<i32>,
    /// Its label.
    #[prost(enumeration = "Label", optional, tag = "4")]
    pub label: Option<i32>,
    /// Its type; absent where a name has yet to be looked up.
    #[prost(enumeration = "Type", optional, tag = "5")]
    pub r#type: Option<i32>,
    /// The name of its type; with a leading dot it is a full one.
    #[prost(string, optional, tag = "6")]
    pub type_name: Option<String>,
    /// Its default.
    #[prost(string, optional, tag = "7")]
    pub default_value: Option<String>,
    /// Options.
    #[prost(message, optional, tag = "8")]
    pub options: Option<FieldOptions>,
    /// Position of its oneof.
    #[prost(int32, optional, tag = "9")]
    pub oneof_index: Option<i32>,
    /// Its name in JSON.
    #[prost(string, optional, tag = "10")]
    pub json_name: Option<String>,
    /// Its oneof only carries the word `optional`.
    #[prost(bool, optional, tag = "17")]
    pub proto3_optional: Option<bool>,
}

/// Labels of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum Label {
    /// `optional`, or none.
    Optional = 1,
    /// `required`.
    Required = 2,
    /// `repeated`.
    Repeated = 3,
}

/// Types of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum Type {
    /// `double`.
    Double = 1,
    /// `float`.
    Float = 2,
    /// `int64`.
    Int64 = 3,
    /// `uint64`.
    Uint64 = 4,
    /// `int32`.
    Int32 = 5,
    /// `fixed64`.
    Fixed64 = 6,
    /// `fixed32`.
    Fixed32 = 7,
    /// `bool`.
    Bool = 8,
    /// `string`.
    String = 9,
    /// `group`.
    Group = 10,
    /// A record type.
    Message = 11,
    /// `bytes`.
    Bytes = 12,
    /// `uint32`.
    Uint32 = 13,
    /// An enumeration.
    Enum = 14,
    /// `sfixed32`.
    Sfixed32 = 15,
    /// `sfixed64`.
    Sfixed64 = 16,
    /// `sint32`.
    Sint32 = 17,
    /// `sint64`.
    Sint64 = 18,
}

/// An enumeration.
#[derive(Clone, PartialEq, Message)]
pub struct Enumerated {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Its values.
    #[prost(message, repeated, tag = "2")]
    pub value: Vec<EnumValue>,
    /// Options.
    #[prost(message, optional, tag = "3")]
    pub options: Option<EnumOptions>,
}

/// A value of an enumeration.
#[derive(Clone, PartialEq, Message)]
pub struct EnumValue {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Its number.
    #[prost(int32, optional, tag = "2")]
    pub number: Option<i32>,
}

/// Options of a file.
#[derive(Clone, PartialEq, Message)]
pub struct FileOptions {
    /// Features told for all of the file.
    #[prost(message, optional, tag = "50")]
    pub features: Option<FeatureSet>,
    /// Options as written.
    #[prost(message, repeated, tag = "999")]
    pub uninterpreted: Vec<Uninterpreted>,
}

/// Options of a record type.
#[derive(Clone, PartialEq, Message)]
pub struct RecordOptions {
    /// It has the MessageSet wire format.
    #[prost(bool, optional, tag = "1")]
    pub message_set_wire_format: Option<bool>,
    /// It is the entry of a map.
    #[prost(bool, optional, tag = "7")]
    pub map_entry: Option<bool>,
    /// Features told for it.
    #[prost(message, optional, tag = "12")]
    pub features: Option<FeatureSet>,
    /// Options as written.
    #[prost(message, repeated, tag = "999")]
    pub uninterpreted: Vec<Uninterpreted>,
}

/// Options of a field.
#[derive(Clone, PartialEq, Message)]
pub struct FieldOptions {
    /// Repeated values are packed, or are not.
    #[prost(bool, optional, tag = "2")]
    pub packed: Option<bool>,
    /// It is marked as deprecated.
    #[prost(bool, optional, tag = "3")]
    pub deprecated: Option<bool>,
    /// Features told for it.
    #[prost(message, optional, tag = "21")]
    pub features: Option<FeatureSet>,
    /// Options as written.
    #[prost(message, repeated, tag = "999")]
    pub uninterpreted: Vec<Uninterpreted>,
}

/// Options of a oneof.
#[derive(Clone, PartialEq, Message)]
pub struct OneofOptions {
    /// Features told for it.
    #[prost(message, optional, tag = "1")]
    pub features: Option<FeatureSet>,
    /// Options as written.
    #[prost(message, repeated, tag = "999")]
    pub uninterpreted: Vec<Uninterpreted>,
}

/// Options of an enumeration.
#[derive(Clone, PartialEq, Message)]
pub struct EnumOptions {
    /// Features told for it.
    #[prost(message, optional, tag = "7")]
    pub features: Option<FeatureSet>,
    /// Options as written.
    #[prost(message, repeated, tag = "999")]
    pub uninterpreted: Vec<Uninterpreted>,
}

/// Features as a descriptor has them: numbers of the enumerations in `google.protobuf.FeatureSet`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct FeatureSet {
    /// EXPLICIT 1, IMPLICIT 2, LEGACY_REQUIRED 3.
    #[prost(int32, optional, tag = "1")]
    pub field_presence: Option<i32>,
    /// OPEN 1, CLOSED 2.
    #[prost(int32, optional, tag = "2")]
    pub enum_type: Option<i32>,
    /// PACKED 1, EXPANDED 2.
    #[prost(int32, optional, tag = "3")]
    pub repeated_field_encoding: Option<i32>,
    /// VERIFY 2, NONE 3.
    #[prost(int32, optional, tag = "4")]
    pub utf8_validation: Option<i32>,
    /// LENGTH_PREFIXED 1, DELIMITED 2.
    #[prost(int32, optional, tag = "5")]
    pub message_encoding: Option<i32>,
}

/// An option as written.
#[derive(Clone, PartialEq, Message)]
pub struct Uninterpreted {
    /// The parts of its name.
    #[prost(message, repeated, tag = "2")]
    pub name: Vec<NamePart>,
    /// A word.
    #[prost(string, optional, tag = "3")]
    pub identifier_value: Option<String>,
    /// What stood in braces.
    #[prost(string, optional, tag = "8")]
    pub aggregate_value: Option<String>,
}

/// A part of an option's name.
#[derive(Clone, PartialEq, Message)]
pub struct NamePart {
    /// Its text.
    #[prost(string, required, tag = "1")]
    pub name_part: String,
    /// It stood in parentheses.
    #[prost(bool, required, tag = "2")]
    pub is_extension: bool,
}
