//! What attributes of a field ask for that its type does not have, and names that get into each other's way.

use crate::model::flat::{Field, Flat, Of, Scalar, Shape, Type};
use crate::schema::fbs::ast;
use crate::schema::fbs::lexer::Fault;

/// Hash functions that `hash` may name, the width of their values in bytes at the end.
const HASHES: [(&str, u8); 6] =
    [("fnv1_16", 2), ("fnv1a_16", 2), ("fnv1_32", 4), ("fnv1a_32", 4), ("fnv1_64", 8), ("fnv1a_64", 8)];

/// Checks a field whose type is known.
///
/// # Errors
/// The first attribute that the field cannot have.
pub fn of_field(field: &ast::Field, object: &ast::Object, made: &Field, flat: &Flat) -> Result<(), Fault> {
    let asked = Asked { field, in_struct: object.is_struct, ty: made.ty };
    asked.hash(flat)?;
    asked.required()?;
    asked.key(made)?;
    asked.large()?;
    asked.rest()
}

struct Asked<'a> {
    field: &'a ast::Field,
    in_struct: bool,
    ty: Type,
}

impl Asked<'_> {
    /// Refuses an attribute that is there although it must not be.
    fn only(&self, name: &str, allowed: bool, message: &str, help: &str) -> Result<(), Fault> {
        match self.field.head.attribute(name) {
            Some(attribute) if !allowed => Err(Fault::new(attribute.at, message).help(help)),
            _ => Ok(()),
        }
    }

    fn is_scalar(&self) -> bool {
        self.ty.shape == Shape::One && matches!(self.ty.of, Of::Scalar(_) | Of::Enum(_))
    }

    fn is_vector(&self) -> bool {
        matches!(self.ty.shape, Shape::Vector | Shape::Vector64)
    }

    fn hash(&self, flat: &Flat) -> Result<(), Fault> {
        let Some(attribute) = self.field.head.attribute("hash") else { return Ok(()) };
        let width = match flat.scalar(self.ty.of).filter(|scalar| !scalar.is_float()).map(Scalar::size) {
            Some(width @ (2 | 4 | 8)) if !matches!(self.ty.shape, Shape::Array(_)) => width,
            _ => {
                return Err(Fault::new(attribute.at, "only short, ushort, int, uint, long and ulong are hashed"));
            }
        };
        let fits = |of: u8| u64::from(of) == u64::from(width);
        if HASHES.iter().any(|(name, of)| *name == attribute.value && fits(*of)) {
            return Ok(());
        }
        let there: Vec<&str> = HASHES.iter().filter(|(_, of)| fits(*of)).map(|(name, _)| *name).collect();
        Err(Fault::new(attribute.at, format!("no hash function `{}` of {width} bytes", attribute.value))
            .help(format!("there are {}", there.join(", "))))
    }

    fn required(&self) -> Result<(), Fault> {
        self.only(
            "required",
            !self.is_scalar() && !self.in_struct,
            "only what an offset leads to, or a struct in a table, can be required",
            "`= null` tells an absent scalar from its default",
        )?;
        self.only("deprecated", !self.in_struct, "members of a struct cannot be deprecated", "")
    }

    fn key(&self, made: &Field) -> Result<(), Fault> {
        let may = match self.ty.shape {
            Shape::One => matches!(self.ty.of, Of::Scalar(_) | Of::Enum(_) | Of::Struct(_) | Of::Text),
            Shape::Array(_) => true,
            _ => false,
        };
        self.only("key", may, "a key is a scalar, an enumeration, a struct or a string", "")?;
        self.only("key", !made.optional, "a key is always there: it cannot be `= null`", "give it a default")
    }

    /// Offsets and lengths of 64 bits.
    fn large(&self) -> Result<(), Fault> {
        let scalars = matches!(self.ty.of, Of::Scalar(_) | Of::Enum(_) | Of::Struct(_));
        let message = "only vectors of scalars or structs have a length of 64 bits";
        self.only("vector64", self.is_vector() && scalars, message, "")?;
        let one_text = self.ty == Type::one(Of::Text);
        let message = "only strings and vectors of scalars or structs have an offset of 64 bits";
        self.only("offset64", one_text || self.is_vector() && scalars, message, "")
    }

    fn rest(&self) -> Result<(), Fault> {
        self.only("shared", self.ty == Type::one(Of::Text), "only strings can be shared", "")?;
        let bytes = self.is_vector() && self.ty.of == Of::Scalar(Scalar::Ubyte);
        self.only("flexbuffer", bytes, "a FlexBuffer is a vector of ubyte", "")?;
        let by_value = match self.ty.shape {
            Shape::One => matches!(self.ty.of, Of::Struct(_)),
            Shape::Vector => matches!(self.ty.of, Of::Struct(_) | Of::Table(_)),
            _ => false,
        };
        let message = "native_inline is for structs, and for vectors of structs or tables";
        self.only("native_inline", by_value, message, "")?;
        let hashed = self.field.head.has("hash");
        self.only("cpp_type", hashed, "cpp_type is for fields that have a `hash`", "")?;
        self.only(
            "native_custom_alloc",
            false,
            "native_custom_alloc is for tables and structs, not for their fields",
            "",
        )
    }
}

/// Names of fields that code made of the schema also has for another field: `a_length` beside a vector `a`.
///
/// # Errors
/// The first such field.
pub fn clashes(object: &ast::Object, made: &[Field]) -> Result<(), Fault> {
    type Is = fn(&Field) -> bool;
    let union: Is = |field| field.ty.shape == Shape::One && matches!(field.ty.of, Of::Union(_));
    let vector: Is = |field| matches!(field.ty.shape, Shape::Vector);
    let text: Is = |field| field.ty == Type::one(Of::Text);
    let suffixes = [
        ("_type", union),
        ("Type", union),
        ("_length", vector),
        ("Length", vector),
        ("_byte_vector", text),
        ("ByteVector", text),
    ];
    for field in made.iter().filter(|field| !matches!(field.ty.of, Of::UnionType(_))) {
        for (suffix, is) in suffixes {
            let Some(base) = field.name.strip_suffix(suffix).filter(|base| !base.is_empty()) else { continue };
            if made.iter().any(|other| other.name == base && is(other)) {
                let at = object.fields.iter().find(|known| known.head.name == field.name);
                let at = at.map_or(object.head.at, |field| field.head.at);
                let message = format!("`{}` is also what generated code has for `{base}`", field.name);
                return Err(Fault::new(at, message).help("flatc refuses such a pair: rename one of them"));
            }
        }
    }
    Ok(())
}
