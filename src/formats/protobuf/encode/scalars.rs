//! Single values of a text or another format as a field's kind stores them.

use crate::formats::given::{base64, float, float32, integer, parts};
use crate::formats::protobuf::wire;
use crate::model::schema::{FieldKind, Schema};
use crate::model::value::Scalar;

/// Appends a value as a field of this kind stores it, without tag; whether it is the kind's default. None
/// where the value does not fit.
pub fn push(kind: &FieldKind, value: &Scalar<'_>, schema: &Schema, out: &mut Vec<u8>) -> Option<bool> {
    let number = match kind {
        FieldKind::String | FieldKind::Bytes | FieldKind::Opaque(_) => return push_bytes(kind, value, out),
        FieldKind::Double => {
            let bits = float(value)?.to_bits();
            out.extend_from_slice(&bits.to_le_bytes());
            return Some(bits == 0);
        }
        FieldKind::Float => {
            let bits = float32(value)?.to_bits();
            out.extend_from_slice(&bits.to_le_bytes());
            return Some(bits == 0);
        }
        FieldKind::Bool => match value {
            Scalar::Bool(value) => u64::from(*value),
            _ => return None,
        },
        FieldKind::Enum(id) => {
            let number = enumerated(schema.enumeration(*id)?, value)?;
            i64::from(number).cast_unsigned()
        }
        FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 => {
            let number = i64::from(i32::try_from(integer(value)?).ok()?);
            if *kind == FieldKind::Sint32 { wire::zigzag(number) } else { number.cast_unsigned() }
        }
        FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 => {
            let number = i64::try_from(integer(value)?).ok()?;
            if *kind == FieldKind::Sint64 { wire::zigzag(number) } else { number.cast_unsigned() }
        }
        FieldKind::Uint32 | FieldKind::Fixed32 => u64::from(u32::try_from(integer(value)?).ok()?),
        FieldKind::Uint64 | FieldKind::Fixed64 => u64::try_from(integer(value)?).ok()?,
        FieldKind::Message(_) | FieldKind::Group(_) => return None,
    };
    match kind {
        FieldKind::Fixed32 | FieldKind::Sfixed32 => out.extend_from_slice(&wire::low32(number).to_le_bytes()),
        FieldKind::Fixed64 | FieldKind::Sfixed64 => out.extend_from_slice(&number.to_le_bytes()),
        _ => wire::push_varint(number, out),
    }
    Some(number == 0)
}

fn push_bytes(kind: &FieldKind, value: &Scalar<'_>, out: &mut Vec<u8>) -> Option<bool> {
    let decoded;
    let bytes: &[u8] = match (kind, value) {
        (FieldKind::String, Scalar::Text(text)) => std::str::from_utf8(text).ok()?.as_bytes(),
        (FieldKind::String, _) => return None,
        (_, Scalar::Bytes(bytes)) => bytes,
        (_, Scalar::Text(text)) => {
            decoded = base64(text)?;
            &decoded
        }
        _ => return None,
    };
    push_len(bytes, out);
    Some(bytes.is_empty())
}

/// Appends bytes behind their length.
pub fn push_len(bytes: &[u8], out: &mut Vec<u8>) {
    wire::push_varint(crate::model::num::len64(bytes.len()), out);
    out.extend_from_slice(bytes);
}

/// The number of a value by name or number; numbers without a name only where the enumeration is open.
fn enumerated(known: &crate::model::schema::Enum, value: &Scalar<'_>) -> Option<i32> {
    if let Scalar::Text(text) = value
        && let Some(number) = std::str::from_utf8(text).ok().and_then(|name| known.number_of(name))
    {
        return Some(number);
    }
    if matches!(value, Scalar::Null) && known.full_name == super::NULL_VALUE {
        return Some(0);
    }
    let number = i32::try_from(integer(value)?).ok()?;
    (!known.closed || known.name_of(number).is_some()).then_some(number)
}

/// The key of a map, which a text has as text whatever its kind.
pub fn key(kind: &FieldKind, key: &Scalar<'_>) -> Option<Scalar<'static>> {
    match (kind, key) {
        (FieldKind::Bool, Scalar::Text(text)) => match text.as_ref() {
            b"true" => Some(Scalar::Bool(true)),
            b"false" => Some(Scalar::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

/// What a value should be, with its article.
pub fn noun(kind: &FieldKind, schema: &Schema) -> String {
    match kind {
        FieldKind::Enum(id) => {
            format!("a value of {}", schema.enumeration(*id).map_or("an enumeration", |known| &known.full_name))
        }
        FieldKind::Bytes | FieldKind::Opaque(_) => "base64".to_string(),
        _ => {
            let word = kind.keyword().unwrap_or("message");
            let article = if word.starts_with('i') { "an" } else { "a" };
            format!("{article} {word}")
        }
    }
}

/// What may stand there, where that helps.
pub fn help(kind: &FieldKind, value: &Scalar<'_>, schema: &Schema) -> String {
    let range = |from: String, to: String| format!("{} holds {from} to {to}", noun(kind, schema));
    let out_of_range = integer(value).is_some()
        || matches!(value, Scalar::Number(text) if parts(text).is_some_and(|(_, _, fraction, _)| fraction.is_empty()));
    match kind {
        FieldKind::Enum(id) => {
            let names = schema.enumeration(*id).map(|known| known.values.as_slice()).unwrap_or(&[]);
            let wanted = match value {
                Scalar::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            };
            super::nearest(&wanted, names.iter().map(|(_, name)| name.as_str()))
        }
        FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 if out_of_range => {
            range(i32::MIN.to_string(), i32::MAX.to_string())
        }
        FieldKind::Uint32 | FieldKind::Fixed32 if out_of_range => range("0".into(), u32::MAX.to_string()),
        FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 if out_of_range => {
            range(i64::MIN.to_string(), i64::MAX.to_string())
        }
        FieldKind::Uint64 | FieldKind::Fixed64 if out_of_range => range("0".into(), u64::MAX.to_string()),
        FieldKind::Bool => "true or false, without quotes".to_string(),
        _ => String::new(),
    }
}
