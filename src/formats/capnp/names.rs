//! Names in JSON: those of the schema, or what the annotations of `json.capnp` make of them ($Json.name, flatten,
//! discriminator, base64, hex).

use crate::model::capnp::{Annotation, Capnp, EnumId, Enumerant, Field, FieldKind, Struct, Type, Value};
use crate::model::schema::MessageId;

/// `$Json.name`.
pub const NAME: u64 = 0xfa5b_1fd6_1c2e_7c3d;
/// `$Json.flatten`.
pub const FLATTEN: u64 = 0x82d3_e852_af03_36bf;
/// `$Json.discriminator`.
pub const DISCRIMINATOR: u64 = 0xcfa7_94e8_d19a_0162;
/// `$Json.base64`.
pub const BASE64: u64 = 0xd7d8_7945_0a25_3e4b;
/// `$Json.hex`.
pub const HEX: u64 = 0xf061_e22f_0ae5_c7b5;
/// `struct Value` of `json.capnp`: any JSON.
pub const JSON_VALUE: u64 = 0xa3fa_7845_f919_dd83;

/// How the bytes of a `Data` field stand in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bytes {
    /// As an array of numbers.
    Numbers,
    /// As base64.
    Base64,
    /// As hex digits.
    Hex,
}

/// A field in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// As a member of a union: what the discriminator says.
    pub tag: String,
    /// The fields of its struct stand beside it, their names behind this prefix.
    pub flatten: Option<String>,
    /// How its bytes are written.
    pub bytes: Bytes,
    /// The discriminator of the union in its group.
    pub inner: Option<Discriminator>,
}

/// The field that says which member of a union is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discriminator {
    /// Its name; empty for the union's own.
    pub name: String,
    /// The name under which every member stands; empty for their own.
    pub value: String,
}

/// A struct in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Its fields, as in [`Struct::fields`].
    pub fields: Vec<Named>,
    /// The discriminator of its unnamed union, where the struct says one.
    pub own: Option<Discriminator>,
}

/// The names of a schema.
pub struct Names {
    made: Vec<Shape>,
    /// Names of enumerants, by enum.
    enums: Vec<Vec<String>>,
}

impl Names {
    /// The names of all structs and enums.
    pub fn new(capnp: &Capnp) -> Names {
        let name = |one: &Enumerant| text(&one.annotations, NAME).unwrap_or_else(|| one.name.clone());
        Names {
            made: capnp.structs.iter().map(|record| make(capnp, record)).collect(),
            enums: capnp.enums.iter().map(|one| one.enumerants.iter().map(name).collect()).collect(),
        }
    }

    /// The names of a struct.
    pub fn shape(&self, id: MessageId) -> Option<&Shape> {
        self.made.get(usize::try_from(id.0).ok()?)
    }

    /// The name of an enumerant.
    pub fn enumerant(&self, id: EnumId, number: u16) -> Option<&str> {
        self.enums.get(usize::try_from(id.0).ok()?)?.get(usize::from(number)).map(String::as_str)
    }
}

fn make(capnp: &Capnp, record: &Struct) -> Shape {
    let fields = record.fields.iter().map(|field| named(capnp, field)).collect();
    Shape { fields, own: discriminator(capnp, &record.annotations) }
}

fn named(capnp: &Capnp, field: &Field) -> Named {
    let name = text(&field.annotations, NAME).unwrap_or_else(|| field.name.clone());
    let has = |id: u64| field.annotations.iter().any(|one| one.id == id);
    let is_struct = match &field.kind {
        FieldKind::Group(_) => true,
        FieldKind::Slot(slot) => matches!(slot.ty, Type::Struct(_)),
    };
    let flatten = field.annotations.iter().find(|one| one.id == FLATTEN && is_struct);
    let bytes = match (has(BASE64), has(HEX)) {
        (true, _) => Bytes::Base64,
        (_, true) => Bytes::Hex,
        _ => Bytes::Numbers,
    };
    Named {
        tag: name.clone(),
        name,
        flatten: flatten.map(|one| member(capnp, one, "prefix").unwrap_or_default()),
        bytes,
        inner: discriminator(capnp, &field.annotations),
    }
}

fn discriminator(capnp: &Capnp, annotations: &[Annotation]) -> Option<Discriminator> {
    let one = annotations.iter().find(|one| one.id == DISCRIMINATOR)?;
    let part = |name: &str| member(capnp, one, name).unwrap_or_default();
    Some(Discriminator { name: part("name"), value: part("valueName") })
}

/// A text member of the struct that an annotation is applied with.
fn member(capnp: &Capnp, annotation: &Annotation, name: &str) -> Option<String> {
    let (Value::Struct(values), Type::Struct(id)) = (&annotation.value, annotation.ty) else { return None };
    let record = capnp.record(id)?;
    values.iter().find_map(|(at, value)| match value {
        Value::Text(text) if record.fields.get(usize::from(*at))?.name == name => Some(text.clone()),
        _ => None,
    })
}

fn text(annotations: &[Annotation], id: u64) -> Option<String> {
    annotations.iter().find(|one| one.id == id).and_then(|one| match &one.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    })
}
