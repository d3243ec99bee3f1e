//! Fields of tables and members of structs: their types, defaults and attributes, checked as flatc checks them.

use std::collections::HashSet;

use crate::model::flat::{Absent, Field, Of, Scalar, Shape, Type};
use crate::model::schema::MessageId;
use crate::schema::fbs::attributes::Attributes;
use crate::schema::fbs::enums::shape;
use crate::schema::fbs::layout::Layout;
use crate::schema::fbs::lexer::{Fault, Spot, short};
use crate::schema::fbs::link::Linker;
use crate::schema::fbs::syntax::{FieldDecl, Name, Record, Value, ValueKind};
use crate::schema::fbs::value::{self, Number};

/// The fields of one table or struct so far.
pub(super) struct Members {
    pub(super) fields: Vec<Field>,
    pub(super) layout: Layout,
    names: HashSet<String>,
    key: Option<String>,
}

/// What a field's default is.
struct Default {
    absent: Absent,
    /// `= null`.
    null: bool,
    /// A string or vector that is not absent.
    given: bool,
    /// The number, for what only takes some.
    number: i128,
}

impl Linker<'_> {
    pub(super) fn members(&mut self, record: &Record, own: usize) -> Result<Members, Fault> {
        let mut members = Members { fields: Vec::new(), layout: Layout::new(), names: HashSet::new(), key: None };
        for decl in &record.fields {
            self.field(record, decl, own, &mut members)?;
        }
        clash(record, &members.fields)?;
        Ok(members)
    }

    fn field(&mut self, record: &Record, decl: &FieldDecl, own: usize, members: &mut Members) -> Result<(), Fault> {
        let name = &decl.name.text;
        if self.object_named(name).is_some() {
            let message = format!("field `{name}` has the name of a table or struct");
            return Err(Fault::helped(decl.name.at, message, "give it another name, lower-case for example"));
        }
        let mut ty = Type { shape: shape(decl.ty.many), of: self.of(&decl.ty.name) };
        if record.is_struct {
            self.in_struct(ty, &decl.ty.name, own)?;
        } else if let Shape::Array(_) = ty.shape {
            let message = format!("`{name}` is an array in a table: arrays stand in structs only");
            return Err(Fault::helped(decl.ty.name.at, message, "make it a vector, or wrap it in a struct"));
        }
        let default = self.default(ty, decl, record.is_struct)?;
        let attributes = self.attributes(&decl.attributes)?;
        hash(ty, &attributes, |of| self.flat.scalar(of))?;
        let offset64 = self.offset64(&mut ty, &attributes, decl)?;
        let key = attributes.has("key");
        let (required, optional) = self.presence(record, decl, ty, &attributes, &default)?;
        self.key(ty, &attributes, &default, decl, members)?;
        self.enum_default(ty, decl, &default)?;
        others(record, decl, ty, &attributes)?;
        let nested = self.nested(ty, &attributes)?;
        if let Some(given) = attributes.get("flexbuffer")
            && !(ty.shape == Shape::Vector && self.flat.scalar(ty.of) == Some(Scalar::Ubyte))
        {
            return Err(Fault::new(given.at, "`flexbuffer` is for vectors of ubyte"));
        }
        let mut field = Field::new(name.clone(), 0, ty);
        field.default = default.absent;
        (field.required, field.optional, field.key, field.offset64) = (required, optional, key, offset64);
        field.deprecated = attributes.has("deprecated");
        (field.flexbuffer, field.shared) = (attributes.has("flexbuffer"), attributes.has("shared"));
        field.hash = attributes.get("hash").map(|given| given.text.clone());
        field.nested = nested;
        field.attributes = pairs(&attributes);
        field.doc.clone_from(&decl.docs);
        field.place = self.place(decl.name.at);
        if let Of::Union(id) = ty.of {
            let kind = Type { shape: ty.shape, of: Of::UnionType(id) };
            self.add(union_type(&field, kind, &attributes, decl)?, decl.name.at, members, false)?;
        }
        self.add(field, decl.name.at, members, record.is_struct)
    }

    fn add(&self, mut field: Field, at: Spot, members: &mut Members, is_struct: bool) -> Result<(), Fault> {
        if !members.names.insert(field.name.clone()) {
            let message = format!("field `{}` is there already", field.name);
            let help = if field.name.ends_with("_type") { "a union `u` has a field `u_type` as well" } else { "" };
            return Err(Fault::helped(at, message, help));
        }
        field.id = u16::try_from(members.fields.len()).unwrap_or(u16::MAX);
        if is_struct {
            field.offset = members.layout.member(field.ty, &self.flat, members.fields.last_mut(), at)?;
        }
        members.fields.push(field);
        Ok(())
    }

    /// What a struct may hold: scalars, structs that are declared already, and arrays of both.
    fn in_struct(&self, ty: Type, name: &Name, own: usize) -> Result<(), Fault> {
        let message = match ty.of {
            Of::Scalar(_) | Of::Enum(_) if ty.shape != Shape::Vector => return Ok(()),
            Of::Table(id) | Of::Struct(id) if usize::try_from(id.0).ok() == Some(own) => {
                return Err(Fault::helped(name.at, "a struct that contains itself", "make it a table"));
            }
            Of::Table(id) if !self.is_declared(id) => return Err(self.unknown("struct", &name.text, name.at)),
            Of::Struct(_) if ty.shape != Shape::Vector => return Ok(()),
            _ if ty.shape == Shape::Vector => "a vector in a struct".to_string(),
            Of::Text => "a string in a struct".to_string(),
            Of::Union(_) => "a union in a struct".to_string(),
            _ => format!("table `{}` in a struct", short(&name.text)),
        };
        Err(Fault::helped(name.at, message, "structs hold scalars, structs and arrays of them; make it a table"))
    }

    fn default(&self, ty: Type, decl: &FieldDecl, in_struct: bool) -> Result<Default, Fault> {
        let Some(told) = &decl.default else { return Ok(Default::none(ty, self.flat.scalar(ty.of))) };
        let refuse = |what: &str| {
            let message = format!("{what} has no default of its own, found {}", value::shown(told));
            Err(Fault::helped(told.at, message, "only scalars and strings have one, and vectors `[]`"))
        };
        if let Of::Table(id) = ty.of
            && !self.is_declared(id)
        {
            return Err(self.unknown("type", &decl.ty.name.text, decl.ty.name.at));
        }
        match (ty.shape, ty.of) {
            (Shape::Vector | Shape::Vector64, _) if told.kind == ValueKind::Empty => {
                return Ok(Default { absent: Absent::EmptyVector, null: false, given: true, number: 0 });
            }
            (Shape::Vector | Shape::Vector64, _) => return refuse("a vector other than `[]`"),
            (Shape::Array(_), _) => return refuse("an array"),
            (Shape::One, Of::Text) => return text(told),
            (Shape::One, Of::Struct(_)) => return refuse("a struct"),
            (Shape::One, Of::Table(_)) => return refuse("a table"),
            (Shape::One, _) => {}
        }
        let Some(scalar) = self.flat.scalar(ty.of) else { return refuse("a union") };
        let number = value::number(told, scalar, &|word| self.named(ty, word))?;
        let is_zero = matches!(number, Number::Int(0)) || (scalar.is_float() && told.text == "0");
        if in_struct && !is_zero {
            return Err(Fault::helped(told.at, "a default in a struct: members are always there", "remove it"));
        }
        let int = if let Number::Int(number) = number { number } else { 0 };
        Ok(Default { absent: number.absent(), null: number == Number::Null, given: false, number: int })
    }

    /// The number of a word in a default: a value of the field's own enumeration, else `Enum.Value`.
    fn named(&self, ty: Type, word: &str) -> Result<u64, String> {
        let (one, word, shown) = match ty.of {
            Of::Enum(id) => (self.flat.enumeration(id), word, word),
            _ => {
                let Some((name, value)) = word.split_once('.') else {
                    return Err(format!("expected a number, found `{}`", short(word)));
                };
                let id = self.enum_named(name).ok_or_else(|| format!("no enum `{}`", short(name)))?;
                (self.flat.enumeration(id), value, word)
            }
        };
        let values = one.map_or(&[][..], |one| one.values.as_slice());
        match values.iter().find(|value| value.name == word) {
            Some(value) => Ok(value.number.cast_unsigned()),
            None => {
                let name = one.map_or("", |one| one.name.as_str());
                let near = crate::model::words::nearest(word, values.iter().map(|value| value.name.as_str()));
                let near = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                Err(format!("enum `{name}` has no value `{}`{near}", short(shown)))
            }
        }
    }

    /// `vector64` and `offset64`.
    fn offset64(&self, ty: &mut Type, attributes: &Attributes, decl: &FieldDecl) -> Result<bool, Fault> {
        let mut wide = false;
        if let Some(given) = attributes.get("vector64") {
            if ty.shape != Shape::Vector {
                return Err(Fault::new(given.at, "`vector64` is for vectors"));
            }
            ty.shape = Shape::Vector64;
            wide = true;
        }
        let Some(given) = attributes.get("offset64").or_else(|| attributes.get("vector64")) else {
            return Ok(wide);
        };
        let right = match (ty.shape, ty.of) {
            (Shape::One, Of::Text) => true,
            (Shape::Vector | Shape::Vector64, Of::Scalar(_) | Of::Struct(_)) => true,
            (Shape::Vector | Shape::Vector64, Of::Table(id)) if !self.is_declared(id) => {
                return Err(self.unknown("struct", &decl.ty.name.text, decl.ty.name.at));
            }
            _ => false,
        };
        if right {
            return Ok(true);
        }
        let message = format!("`{}` cannot have an offset of 64 bits", decl.name.text);
        Err(Fault::helped(given.at, message, "strings and vectors of scalars or structs can"))
    }

    /// Whether a field is required, and whether absent is a value of its own.
    fn presence(
        &self,
        record: &Record,
        decl: &FieldDecl,
        ty: Type,
        attributes: &Attributes,
        default: &Default,
    ) -> Result<(bool, bool), Fault> {
        let told = attributes.get("required");
        if record.is_struct {
            return match told {
                Some(given) => Err(Fault::new(given.at, "a member of a struct is always there: remove `required`")),
                None => Ok((false, false)),
            };
        }
        let is_scalar = ty.shape == Shape::One && self.flat.scalar(ty.of).is_some();
        if let Some(given) = told.filter(|_| is_scalar) {
            let message = format!("scalar `{}` cannot be required: it has a default", decl.name.text);
            return Err(Fault::helped(given.at, message, "`= null` tells absent from every value"));
        }
        let is_text = ty.shape == Shape::One && ty.of == Of::Text;
        let required = told.is_some() || (is_text && attributes.has("key"));
        let optional = if is_scalar { default.null } else { !(required || default.given) };
        Ok((required, optional))
    }

    fn key(
        &self,
        ty: Type,
        attributes: &Attributes,
        default: &Default,
        decl: &FieldDecl,
        members: &mut Members,
    ) -> Result<(), Fault> {
        let Some(given) = attributes.get("key") else { return Ok(()) };
        let name = &decl.name.text;
        if let Some(first) = &members.key {
            return Err(Fault::new(given.at, format!("`{first}` is the key already, `{name}` cannot be one")));
        }
        members.key = Some(name.clone());
        let is_scalar = self.flat.scalar(ty.of).is_some();
        let right = match ty.shape {
            Shape::One => is_scalar || matches!(ty.of, Of::Text | Of::Struct(_)),
            Shape::Array(_) => is_scalar || matches!(ty.of, Of::Struct(_)),
            Shape::Vector | Shape::Vector64 => false,
        };
        if !right {
            let message = format!("`{name}` cannot be a key");
            return Err(Fault::helped(given.at, message, "keys are scalars, strings, structs or arrays of scalars"));
        }
        if default.null {
            return Err(Fault::new(given.at, format!("`{name}` may be absent, a key may not: remove `= null`")));
        }
        Ok(())
    }

    /// The default of an enumeration is one of its values, unless they are flags.
    fn enum_default(&self, ty: Type, decl: &FieldDecl, default: &Default) -> Result<(), Fault> {
        let Of::Enum(id) = ty.of else { return Ok(()) };
        let Some(one) = self.flat.enumeration(id) else { return Ok(()) };
        if default.null && one.values.iter().any(|value| value.name == "null") {
            let message = format!("`null` is a value of `{}`, and means absent", one.name);
            return Err(Fault::new(decl.name.at, message));
        }
        if matches!(ty.shape, Shape::Vector | Shape::Vector64) || default.null || one.bit_flags {
            return Ok(());
        }
        if one
            .values
            .iter()
            .any(|value| i128::from(value.number) == default.number || wide(value.number, one.base) == default.number)
        {
            return Ok(());
        }
        let at = decl.default.as_ref().map_or(decl.name.at, |told| told.at);
        let message = format!("the default {} of `{}` is no value of `{}`", default.number, decl.name.text, one.name);
        let first = one.values.first().map_or("", |value| value.name.as_str());
        Err(Fault::helped(at, message, format!("write `= {first}` for example, or give the enum a value 0")))
    }

    fn nested(&mut self, ty: Type, attributes: &Attributes) -> Result<Option<MessageId>, Fault> {
        let Some(given) = attributes.get("nested_flatbuffer") else { return Ok(None) };
        if !given.is_text {
            let message = "`nested_flatbuffer` needs the name of a table in quotes";
            return Err(Fault::helped(given.at, message, "write (nested_flatbuffer: \"T\")"));
        }
        let is_vector = matches!(ty.shape, Shape::Vector | Shape::Vector64);
        if !(is_vector && self.flat.scalar(ty.of) == Some(Scalar::Ubyte)) {
            return Err(Fault::new(given.at, "`nested_flatbuffer` is for vectors of ubyte"));
        }
        let at = self.use_object(&Name { text: given.text.clone(), at: given.at });
        Ok(Some(MessageId(u32::try_from(at).unwrap_or(u32::MAX))))
    }
}

impl Default {
    /// Where none is told.
    fn none(ty: Type, scalar: Option<Scalar>) -> Default {
        let absent = match scalar.filter(|_| ty.shape == Shape::One) {
            Some(scalar) if scalar.is_float() => Absent::Float(0.0),
            Some(_) => Absent::Int(0),
            None => Absent::None,
        };
        Default { absent, null: false, given: false, number: 0 }
    }
}

/// A value of `ulong` as it is meant.
fn wide(number: i64, base: Scalar) -> i128 {
    if base == Scalar::Ulong { i128::from(number.cast_unsigned()) } else { i128::from(number) }
}

fn text(told: &Value) -> Result<Default, Fault> {
    if told.kind != ValueKind::Text {
        return Err(Fault::new(told.at, format!("expected a string in quotes, found {}", value::shown(told))));
    }
    // flatc holds "0" for no default.
    let given = told.text != "0";
    let absent = if given { Absent::Text(told.text.clone()) } else { Absent::None };
    Ok(Default { absent, null: false, given, number: 0 })
}

/// Attributes as compiled schemas have them.
fn pairs(attributes: &Attributes) -> Vec<(String, String)> {
    let mut pairs = attributes.pairs();
    if attributes.has("cpp_type") && !attributes.has("cpp_ptr_type") {
        pairs.push(("cpp_ptr_type".to_string(), "naked".to_string()));
        pairs.sort();
    }
    pairs
}

/// The field that says which member of a union a value is.
fn union_type(union: &Field, kind: Type, attributes: &Attributes, decl: &FieldDecl) -> Result<Field, Fault> {
    let mut field = Field::new(format!("{}_type", union.name), 0, kind);
    field.place = union.place.clone();
    field.deprecated = union.deprecated;
    if kind.shape == Shape::One {
        field.default = Absent::Int(0);
    } else {
        (field.required, field.optional) = (union.required, union.optional);
    }
    if let Some(given) = attributes.get("id") {
        let id = crate::schema::fbs::number::integer(&given.text).filter(|id| (1..=65_535).contains(id));
        let Some(id) = id else {
            let message = format!("union `{}` has id {}, and its type needs the id before", decl.name.text, given.text);
            return Err(Fault::helped(given.at, message, "a union takes two ids, tell the second: 1 or more"));
        };
        field.attributes.push(("id".to_string(), id.saturating_sub(1).to_string()));
    }
    Ok(field)
}

fn hash(ty: Type, attributes: &Attributes, scalar: impl Fn(Of) -> Option<Scalar>) -> Result<(), Fault> {
    let Some(given) = attributes.get("hash") else { return Ok(()) };
    let scalar = if matches!(ty.shape, Shape::Array(_)) { None } else { scalar(ty.of) };
    let bits = match scalar {
        Some(Scalar::Short | Scalar::Ushort) => 16,
        Some(Scalar::Int | Scalar::Uint) => 32,
        Some(Scalar::Long | Scalar::Ulong) => 64,
        _ => return Err(Fault::new(given.at, "`hash` is for integers of 16, 32 and 64 bits")),
    };
    let names = [format!("fnv1_{bits}"), format!("fnv1a_{bits}")];
    if names.contains(&given.text) {
        return Ok(());
    }
    let message = format!("no hash `{}` of {bits} bits", short(&given.text));
    Err(Fault::helped(given.at, message, format!("there are {} and {}", names[0], names[1])))
}

/// Attributes that only some fields take.
fn others(record: &Record, decl: &FieldDecl, ty: Type, attributes: &Attributes) -> Result<(), Fault> {
    if let Some(given) = attributes.get("deprecated").filter(|_| record.is_struct) {
        let message =
            format!("member `{}` of a struct cannot be deprecated: its bytes are always there", decl.name.text);
        return Err(Fault::new(given.at, message));
    }
    if let Some(given) = attributes.get("cpp_type").filter(|_| !attributes.has("hash")) {
        return Err(Fault::new(given.at, "`cpp_type` is for fields with `hash`"));
    }
    if let Some(given) = attributes.get("shared").filter(|_| ty != Type::one(Of::Text)) {
        return Err(Fault::new(given.at, "`shared` is for strings"));
    }
    if let Some(given) = attributes.get("native_custom_alloc") {
        return Err(Fault::new(given.at, "`native_custom_alloc` is for tables and structs, not for fields"));
    }
    let inline =
        matches!((ty.shape, ty.of), (Shape::One, Of::Struct(_)) | (Shape::Vector, Of::Struct(_) | Of::Table(_)));
    match attributes.get("native_inline").filter(|_| !inline) {
        Some(given) => Err(Fault::new(given.at, "`native_inline` is for structs and vectors of structs or tables")),
        None => Ok(()),
    }
}

/// The type that generated code gives a function for, by the ending of its name.
fn generated(ending: &str, ty: Type) -> bool {
    match ending {
        "Type" => ty.shape == Shape::One && matches!(ty.of, Of::Union(_)),
        "_length" | "Length" => ty.shape == Shape::Vector,
        _ => ty == Type::one(Of::Text),
    }
}

/// Endings of the names of functions that generated code has for some types.
const ENDINGS: [&str; 5] = ["Type", "_length", "Length", "_byte_vector", "ByteVector"];

fn clash(record: &Record, fields: &[Field]) -> Result<(), Fault> {
    let by_name: std::collections::HashMap<&str, Type> =
        fields.iter().map(|field| (field.name.as_str(), field.ty)).collect();
    for decl in &record.fields {
        let name = decl.name.text.as_str();
        for ending in ENDINGS {
            let Some(base) = name.strip_suffix(ending).filter(|base| !base.is_empty()) else { continue };
            if by_name.get(base).is_some_and(|ty| generated(ending, *ty)) {
                let message = format!("field `{name}` has the name of a function that code gets for `{base}`");
                return Err(Fault::helped(decl.name.at, message, "give it another name"));
            }
        }
    }
    Ok(())
}
