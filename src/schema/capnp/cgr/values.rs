//! Values of a request: pointers in them are read by the types of the schema itself.

use capnp::private::layout::StructReader;
use capnp::schema_capnp::{node, value};
use capnp::traits::IntoInternalStructReader as _;
use capnp::{any_pointer, any_pointer_list, data, primitive_list, struct_list, text};

use crate::model::capnp::{Capnp, FieldKind, Slot, Type, Value};
use crate::model::schema::MessageId;
use crate::schema::capnp::annotations;
use crate::schema::capnp::cgr::Broken;
use crate::schema::capnp::cgr::fill::{Later, Target};
use crate::schema::capnp::cgr::nodes::told;

/// How deep values may nest.
const DEPTH: usize = 250;

/// Values that a schema may have in all: elements without bits need no bytes.
const MOST: usize = 4 << 20;

/// Bytes of text that count as one value.
const BYTES: usize = 32;

/// Reads values and puts them where they belong.
///
/// # Errors
/// A value is none of its type, or nests too deep.
pub fn read(capnp: &mut Capnp, all: Vec<Later<'_>>) -> Result<(), Broken> {
    let mut made = 0;
    for one in all {
        let mut reader = Reader { capnp, made };
        let value = reader.value(one.value, one.ty)?;
        made = reader.made;
        put(capnp, one.target, value);
    }
    Ok(())
}

fn put(capnp: &mut Capnp, target: Target, value: Value) {
    let to = match target {
        Target::Default(of, at) => {
            let field = capnp.structs.get_mut(of).and_then(|one| one.fields.get_mut(at));
            match field.map(|field| &mut field.kind) {
                Some(FieldKind::Slot(slot)) => Some(&mut slot.default),
                _ => None,
            }
        }
        Target::Const(at) => capnp.consts.get_mut(at).map(|one| &mut one.value),
        Target::Annotation(owner, at) => {
            annotations::of(capnp, owner).and_then(|list| list.get_mut(at)).map(|one| &mut one.value)
        }
    };
    if let Some(to) = to {
        *to = value;
    }
}

/// A value of bits, which needs no struct; none of a pointer.
///
/// # Errors
/// The value is not of the kind that the type has.
pub fn number(value: value::Reader<'_>, ty: Type) -> Result<Option<Value>, Broken> {
    let which = value.which()?;
    if !fits(&which, ty) {
        let ty = ty.keyword().unwrap_or("its type");
        return Err(Broken(format!("expected a value of {ty}, here is another kind")));
    }
    Ok(Some(match which {
        value::Void(()) => Value::Void,
        value::Bool(set) => Value::Bool(set),
        value::Int8(number) => Value::Int(i64::from(number)),
        value::Int16(number) => Value::Int(i64::from(number)),
        value::Int32(number) => Value::Int(i64::from(number)),
        value::Int64(number) => Value::Int(number),
        value::Uint8(number) => Value::Uint(u64::from(number)),
        value::Uint16(number) => Value::Uint(u64::from(number)),
        value::Uint32(number) => Value::Uint(u64::from(number)),
        value::Uint64(number) => Value::Uint(number),
        value::Float32(number) => Value::Float32(number),
        value::Float64(number) => Value::Float64(number),
        value::Enum(number) if ty == Type::Uint16 => Value::Uint(u64::from(number)),
        value::Enum(number) => Value::Enum(number),
        _ => return Ok(None),
    }))
}

struct Reader<'c> {
    capnp: &'c Capnp,
    made: usize,
}

impl Reader<'_> {
    fn count(&mut self, more: usize) -> Result<(), Broken> {
        self.made = self.made.saturating_add(more);
        if self.made > MOST { Err(Broken(format!("has more than {MOST} values"))) } else { Ok(()) }
    }

    fn value(&mut self, value: value::Reader<'_>, ty: Type) -> Result<Value, Broken> {
        if let Some(value) = number(value, ty)? {
            return Ok(value);
        }
        Ok(match value.which()? {
            value::Text(text) => self.text(text?)?,
            value::Data(bytes) => self.data(bytes?)?,
            value::List(any) | value::Struct(any) | value::AnyPointer(any) => self.pointer(any, ty, 0)?,
            _ => Value::Null,
        })
    }

    fn text(&mut self, text: text::Reader<'_>) -> Result<Value, Broken> {
        self.count(text.len() / BYTES)?;
        Ok(Value::Text(told(text)))
    }

    fn data(&mut self, bytes: data::Reader<'_>) -> Result<Value, Broken> {
        self.count(bytes.len() / BYTES)?;
        Ok(Value::Data(bytes.to_vec()))
    }

    fn pointer(&mut self, any: any_pointer::Reader<'_>, ty: Type, depth: usize) -> Result<Value, Broken> {
        if depth > DEPTH {
            return Err(Broken(format!("has values more than {DEPTH} deep in one another")));
        }
        self.count(1)?;
        if any.is_null() {
            return Ok(Value::Null);
        }
        match ty {
            Type::Text => self.text(any.get_as()?),
            Type::Data => self.data(any.get_as()?),
            Type::List(element) => self.list(any, self.capnp.element(element), depth),
            Type::Struct(id) => self.structure(&inner(any.get_as()?), id, depth),
            // What it points to has no type: it is said that there is something.
            Type::AnyPointer | Type::AnyStruct | Type::AnyList | Type::Parameter { .. } => {
                Ok(match any.get_as::<node::Reader<'_>>() {
                    Ok(_) => Value::Struct(Vec::new()),
                    Err(_) => Value::List(Vec::new()),
                })
            }
            _ => Ok(Value::Null),
        }
    }

    fn list(&mut self, any: any_pointer::Reader<'_>, element: Type, depth: usize) -> Result<Value, Broken> {
        macro_rules! numbers {
            ($number:ty, $of:expr) => {{
                let list = any.get_as::<primitive_list::Reader<'_, $number>>()?;
                self.count(usize::try_from(list.len()).unwrap_or(usize::MAX))?;
                list.iter().map($of).collect()
            }};
        }
        let depth = depth.saturating_add(1);
        Ok(Value::List(match element {
            Type::Void => numbers!((), |()| Value::Void),
            Type::Bool => numbers!(bool, Value::Bool),
            Type::Int8 => numbers!(i8, |number| Value::Int(i64::from(number))),
            Type::Int16 => numbers!(i16, |number| Value::Int(i64::from(number))),
            Type::Int32 => numbers!(i32, |number| Value::Int(i64::from(number))),
            Type::Int64 => numbers!(i64, Value::Int),
            Type::Uint8 => numbers!(u8, |number| Value::Uint(u64::from(number))),
            Type::Uint16 => numbers!(u16, |number| Value::Uint(u64::from(number))),
            Type::Uint32 => numbers!(u32, |number| Value::Uint(u64::from(number))),
            Type::Uint64 => numbers!(u64, Value::Uint),
            Type::Float32 => numbers!(f32, Value::Float32),
            Type::Float64 => numbers!(f64, Value::Float64),
            Type::Enum(_) => numbers!(u16, Value::Enum),
            Type::Struct(id) => {
                let mut all = Vec::new();
                for one in any.get_as::<struct_list::Reader<'_, node::Owned>>()? {
                    all.push(self.structure(&inner(one), id, depth)?);
                }
                all
            }
            _ => {
                let mut all = Vec::new();
                for one in any.get_as::<any_pointer_list::Reader<'_>>()?.iter() {
                    all.push(self.pointer(one?, element, depth)?);
                }
                all
            }
        }))
    }

    /// A struct: fields that are not as in a struct of zeros and null pointers.
    fn structure(&mut self, stored: &StructReader<'_>, id: MessageId, depth: usize) -> Result<Value, Broken> {
        if depth > DEPTH {
            return Err(Broken(format!("has values more than {DEPTH} deep in one another")));
        }
        let depth = depth.saturating_add(1);
        let capnp = self.capnp;
        let Some(record) = capnp.record(id) else { return Ok(Value::Struct(Vec::new())) };
        self.count(record.fields.len().saturating_add(1))?;
        let tag = record.tag.and_then(|at| usize::try_from(at).ok()).map(|at| stored.get_data_field::<u16>(at));
        let mut all = Vec::new();
        for (at, field) in (0u16..).zip(&record.fields) {
            if field.tag.is_some() && field.tag != tag {
                continue;
            }
            let value = match &field.kind {
                FieldKind::Group(group) => {
                    Some(self.structure(stored, *group, depth)?).filter(|value| *value != Value::Struct(Vec::new()))
                }
                FieldKind::Slot(slot) => match self.number(stored, slot) {
                    Some(value) => Some(value).filter(|value| value.mask() != slot.default.mask()),
                    None => {
                        let pointer = usize::try_from(slot.offset).unwrap_or(usize::MAX);
                        let any = any_pointer::Reader::new(stored.get_pointer_field(pointer));
                        Some(self.pointer(any, slot.ty, depth)?).filter(|value| *value != Value::Null)
                    }
                },
            };
            // The first member of a union is set if none is told.
            let said = field.tag.is_some_and(|tag| tag != 0);
            let empty = || match &field.kind {
                FieldKind::Group(_) => Value::Struct(Vec::new()),
                FieldKind::Slot(slot) if slot.ty.is_pointer() => Value::Null,
                FieldKind::Slot(slot) => slot.default.clone(),
            };
            if let Some(value) = value.or_else(|| said.then(empty)) {
                all.push((at, value));
            }
        }
        Ok(Value::Struct(all))
    }

    /// A field of bits.
    fn number(&self, stored: &StructReader<'_>, slot: &Slot) -> Option<Value> {
        let at = usize::try_from(slot.offset).unwrap_or(usize::MAX);
        let mask = slot.default.mask();
        let [a, b, c, d, ..] = mask.to_le_bytes();
        let (byte, half, word) = (a, u16::from_le_bytes([a, b]), u32::from_le_bytes([a, b, c, d]));
        Some(match slot.ty {
            Type::Void => Value::Void,
            Type::Bool => Value::Bool(stored.get_bool_field(at) ^ (mask != 0)),
            Type::Int8 => Value::Int(i64::from(stored.get_data_field::<i8>(at) ^ byte.cast_signed())),
            Type::Int16 => Value::Int(i64::from(stored.get_data_field::<i16>(at) ^ half.cast_signed())),
            Type::Int32 => Value::Int(i64::from(stored.get_data_field::<i32>(at) ^ word.cast_signed())),
            Type::Int64 => Value::Int(stored.get_data_field::<i64>(at) ^ mask.cast_signed()),
            Type::Uint8 => Value::Uint(u64::from(stored.get_data_field::<u8>(at) ^ byte)),
            Type::Uint16 => Value::Uint(u64::from(stored.get_data_field::<u16>(at) ^ half)),
            Type::Uint32 => Value::Uint(u64::from(stored.get_data_field::<u32>(at) ^ word)),
            Type::Uint64 => Value::Uint(stored.get_data_field::<u64>(at) ^ mask),
            Type::Float32 => Value::Float32(f32::from_bits(stored.get_data_field::<u32>(at) ^ word)),
            Type::Float64 => Value::Float64(f64::from_bits(stored.get_data_field::<u64>(at) ^ mask)),
            Type::Enum(_) => Value::Enum(stored.get_data_field::<u16>(at) ^ half),
            _ => return None,
        })
    }
}

/// A struct of any type as what is stored of it.
fn inner(any: node::Reader<'_>) -> StructReader<'_> {
    any.into_internal_struct_reader()
}

/// Whether a value is of the kind that a type has.
fn fits<T, D, A, B, C>(value: &value::Which<T, D, A, B, C>, ty: Type) -> bool {
    match value {
        value::Void(()) => ty == Type::Void,
        value::Bool(_) => ty == Type::Bool,
        value::Int8(_) => ty == Type::Int8,
        value::Int16(_) => ty == Type::Int16,
        value::Int32(_) => ty == Type::Int32,
        value::Int64(_) => ty == Type::Int64,
        value::Uint8(_) => ty == Type::Uint8,
        value::Uint16(_) => ty == Type::Uint16,
        value::Uint32(_) => ty == Type::Uint32,
        value::Uint64(_) => ty == Type::Uint64,
        value::Float32(_) => ty == Type::Float32,
        value::Float64(_) => ty == Type::Float64,
        value::Text(_) => ty == Type::Text,
        value::Data(_) => ty == Type::Data,
        value::List(_) => matches!(ty, Type::List(_) | Type::AnyList),
        value::Enum(_) => matches!(ty, Type::Enum(_) | Type::Uint16),
        value::Struct(_) => matches!(ty, Type::Struct(_) | Type::AnyStruct),
        value::Interface(()) => matches!(ty, Type::Interface(_) | Type::Capability),
        value::AnyPointer(_) => {
            matches!(ty, Type::AnyPointer | Type::AnyStruct | Type::AnyList | Type::Capability | Type::Parameter { .. })
        }
    }
}
