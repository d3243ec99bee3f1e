//! Compiled FlatBuffers schemas, `.bfbs`: what `flatc -b --schema` writes. Itself a FlatBuffer, of the type
//! `reflection.Schema`; read, and verified first, by the library that FlatBuffers generates for it.

use flatbuffers::{ForwardsUOffset, Vector};
use flatbuffers_reflection::reflection::{self, BaseType};

use crate::model::flat::{
    Absent, Call, Enum, EnumId, EnumValue, Field, Flat, Object, Of, Scalar, Service, Shape, Type,
};
use crate::model::schema::{MessageId, Place};

/// The file identifier of a compiled schema, at offset 4.
const IDENTIFIER: &[u8] = b"BFBS";

/// Tables that a schema may have: far above the largest known ones.
const MOST_TABLES: usize = 4_000_000;

/// Whether a file is a compiled schema, by its identifier.
pub fn is_bfbs(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(IDENTIFIER)
}

/// Reads a compiled schema. Its types are in the order of the file, alphabetical by full name.
///
/// # Errors
/// A sentence on what the verifier refuses, or on a type that is not there.
pub fn read(bytes: &[u8]) -> Result<Flat, String> {
    let options = flatbuffers::VerifierOptions { max_tables: MOST_TABLES, ..Default::default() };
    let schema = reflection::root_as_schema_with_opts(&options, bytes)
        .map_err(|error| format!("is no compiled FlatBuffers schema: {}", first_line(&error.to_string())))?;
    let mut flat = Flat::default();
    let reader = Reader { enums: schema.enums(), objects: schema.objects() };
    for one in schema.enums() {
        flat.enums.push(reader.enumeration(&one)?);
    }
    for object in schema.objects() {
        flat.objects.push(reader.object(&object)?);
    }
    for service in schema.services().into_iter().flatten() {
        flat.services.push(reader.service(&service)?);
    }
    flat.root = match schema.root_table() {
        Some(root) => Some(reader.object_named(root.name())?),
        None => None,
    };
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_string);
    flat.identifier = schema.file_ident().and_then(|ident| ident.as_bytes().try_into().ok());
    flat.extension = text(schema.file_ext());
    Ok(flat)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").trim_end_matches('.').to_string()
}

type Offsets<'a, T> = Vector<'a, ForwardsUOffset<T>>;

struct Reader<'a> {
    enums: Offsets<'a, reflection::Enum<'a>>,
    objects: Offsets<'a, reflection::Object<'a>>,
}

impl<'a> Reader<'a> {
    fn enumeration(&self, one: &reflection::Enum<'a>) -> Result<Enum, String> {
        let base = scalar(one.underlying_type().base_type())
            .ok_or_else(|| format!("`{}` is stored as no integer", one.name()))?;
        let attributes = attributes(one.attributes());
        let mut values = Vec::new();
        for value in one.values() {
            let member = match value.union_type() {
                Some(ty) if ty.base_type() != BaseType::None => Some(self.of(ty.base_type(), ty.index())?),
                _ => None,
            };
            values.push(EnumValue {
                name: value.name().to_string(),
                number: value.value(),
                member,
                attributes: self::attributes(value.attributes()),
                doc: doc(value.documentation()),
            });
        }
        if base == Scalar::Ulong {
            values.sort_by_key(|value| value.number.cast_unsigned());
        } else {
            values.sort_by_key(|value| value.number);
        }
        Ok(Enum {
            name: one.name().to_string(),
            base,
            is_union: one.is_union(),
            bit_flags: has(&attributes, "bit_flags"),
            values,
            attributes,
            doc: doc(one.documentation()),
            told: true,
            place: place(one.declaration_file()),
        })
    }

    fn object(&self, object: &reflection::Object<'a>) -> Result<Object, String> {
        let mut fields = Vec::new();
        for field in object.fields() {
            fields.push(self.field(&field)?);
        }
        if object.is_struct() {
            fields.sort_by_key(|field| field.offset);
        } else {
            fields.sort_by_key(|field| field.id);
        }
        let attributes = attributes(object.attributes());
        Ok(Object {
            name: object.name().to_string(),
            is_struct: object.is_struct(),
            align: u32::try_from(object.minalign()).unwrap_or(1),
            size: u32::try_from(object.bytesize()).unwrap_or(0),
            fields,
            original_order: has(&attributes, "original_order"),
            attributes,
            doc: doc(object.documentation()),
            told: true,
            place: place(object.declaration_file()),
        })
    }

    fn field(&self, field: &reflection::Field<'a>) -> Result<Field, String> {
        let ty = self.ty(&field.type_()).map_err(|why| format!("field `{}`: {why}", field.name()))?;
        let attributes = attributes(field.attributes());
        let value = |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let nested = match value("nested_flatbuffer") {
            Some(name) => self.find(&name),
            None => None,
        };
        Ok(Field {
            name: field.name().to_string(),
            id: field.id(),
            ty,
            offset: u32::from(field.offset()),
            padding: u32::from(field.padding()),
            default: absent(field, ty, self),
            required: field.required(),
            // The compiler calls all that an offset leads to optional; here it is said of scalars alone.
            optional: field.optional() && ty.shape == Shape::One && !ty.is_offset() && !matches!(ty.of, Of::Struct(_)),
            deprecated: field.deprecated(),
            key: field.key(),
            offset64: field.offset64(),
            nested,
            flexbuffer: has(&attributes, "flexbuffer"),
            shared: has(&attributes, "shared"),
            hash: value("hash"),
            doc: doc(field.documentation()),
            attributes,
            place: Place::default(),
        })
    }

    fn service(&self, service: &reflection::Service<'a>) -> Result<Service, String> {
        let mut calls = Vec::new();
        for call in service.calls().into_iter().flatten() {
            calls.push(Call {
                name: call.name().to_string(),
                request: self.object_named(call.request().name())?,
                response: self.object_named(call.response().name())?,
                attributes: attributes(call.attributes()),
                doc: doc(call.documentation()),
            });
        }
        Ok(Service { name: service.name().to_string(), calls, doc: doc(service.documentation()) })
    }

    fn ty(&self, ty: &reflection::Type<'a>) -> Result<Type, String> {
        let shape = match ty.base_type() {
            BaseType::Vector => Shape::Vector,
            BaseType::Vector64 => Shape::Vector64,
            BaseType::Array => Shape::Array(ty.fixed_length()),
            _ => Shape::One,
        };
        let base = if shape == Shape::One { ty.base_type() } else { ty.element() };
        Ok(Type { shape, of: self.of(base, ty.index())? })
    }

    fn of(&self, base: BaseType, index: i32) -> Result<Of, String> {
        let at = usize::try_from(index).ok();
        let object = || match at.filter(|at| *at < self.objects.len()) {
            Some(at) => Ok((self.objects.get(at), id(at))),
            None => Err(format!("has no type {index}")),
        };
        let one = at.filter(|at| *at < self.enums.len()).map(|at| EnumId(id(at)));
        Ok(match base {
            BaseType::String => Of::Text,
            BaseType::Obj => {
                let (object, id) = object()?;
                if object.is_struct() { Of::Struct(MessageId(id)) } else { Of::Table(MessageId(id)) }
            }
            BaseType::Union => Of::Union(one.ok_or("is of a union that is not there")?),
            BaseType::UType => Of::UnionType(one.ok_or("is of a union that is not there")?),
            other => match (scalar(other), one) {
                (Some(_), Some(one)) => Of::Enum(one),
                (Some(scalar), None) => Of::Scalar(scalar),
                (None, _) => return Err(format!("has a base type that is not known, {}", other.0)),
            },
        })
    }

    fn object_named(&self, name: &str) -> Result<MessageId, String> {
        self.find(name).ok_or_else(|| format!("has no type `{name}`"))
    }

    /// A type by its full name, or by the end of it: attributes may leave the namespace out.
    fn find(&self, name: &str) -> Option<MessageId> {
        let at = self.objects.iter().position(|object| object.name() == name);
        let short = || {
            let mut ends = self
                .objects
                .iter()
                .enumerate()
                .filter(|(_, object)| object.name().strip_suffix(name).is_some_and(|before| before.ends_with('.')));
            ends.next().map(|(at, _)| at)
        };
        at.or_else(short).map(|at| MessageId(id(at)))
    }
}

fn absent(field: &reflection::Field<'_>, ty: Type, reader: &Reader<'_>) -> Absent {
    if ty.shape != Shape::One || field.optional() {
        return Absent::None;
    }
    let enumerated = |id: EnumId| {
        let at = usize::try_from(id.0).ok().filter(|at| *at < reader.enums.len())?;
        scalar(reader.enums.get(at).underlying_type().base_type())
    };
    let scalar = match ty.of {
        Of::Scalar(scalar) => Some(scalar),
        Of::Enum(id) | Of::UnionType(id) => enumerated(id),
        _ => None,
    };
    match scalar {
        None => Absent::None,
        Some(scalar) if scalar.is_float() => Absent::Float(field.default_real()),
        Some(Scalar::Ulong) if field.default_integer() < 0 => Absent::Uint(field.default_integer().cast_unsigned()),
        Some(_) => Absent::Int(field.default_integer()),
    }
}

fn scalar(base: BaseType) -> Option<Scalar> {
    Some(match base {
        BaseType::Bool => Scalar::Bool,
        BaseType::Byte => Scalar::Byte,
        BaseType::UByte | BaseType::UType => Scalar::Ubyte,
        BaseType::Short => Scalar::Short,
        BaseType::UShort => Scalar::Ushort,
        BaseType::Int => Scalar::Int,
        BaseType::UInt => Scalar::Uint,
        BaseType::Long => Scalar::Long,
        BaseType::ULong => Scalar::Ulong,
        BaseType::Float => Scalar::Float,
        BaseType::Double => Scalar::Double,
        _ => return None,
    })
}

fn attributes(from: Option<Offsets<'_, reflection::KeyValue<'_>>>) -> Vec<(String, String)> {
    let pairs = from.into_iter().flatten();
    pairs.map(|pair| (pair.key().to_string(), pair.value().unwrap_or("").to_string())).collect()
}

fn has(attributes: &[(String, String)], name: &str) -> bool {
    attributes.iter().any(|(known, _)| known == name)
}

fn doc(from: Option<Offsets<'_, &str>>) -> Vec<String> {
    from.into_iter().flatten().map(str::to_string).collect()
}

fn place(file: Option<&str>) -> Place {
    // The compiler writes the path from the folder of the first file: `//suite.fbs`.
    Place { file: file.unwrap_or("").trim_start_matches("//").to_string(), ..Place::default() }
}

fn id(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
