//! Values: literals by the type that is asked for, and constants.

use std::collections::HashMap;

use crate::model::capnp::{FieldKind, Type, Value};
use crate::model::schema::{Finding, MessageId};
use crate::model::words::nearest;
use crate::schema::capnp::annotations::{self, Pending};
use crate::schema::capnp::ast::{Element, Expr, ExprKind};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::link::Linker;
use crate::schema::capnp::nodes::{NodeId, What};
use crate::schema::capnp::types::{Implicit, Ref};

/// How deep values may lead through one another: lists and structs in one another, and constants.
const DEPTH: usize = 250;

/// Values that a schema may have in all, those that constants bring in again counted again: constants of
/// constants can double with each line.
const MOST: usize = 4 << 20;

/// Bytes of text that count as one value.
const BYTES: usize = 32;

/// Constants while they are read.
#[derive(Debug, Default)]
pub struct Constants<'a> {
    all: HashMap<usize, Constant<'a>>,
    /// Values so far.
    made: usize,
}

#[derive(Debug, Clone, Copy)]
struct Constant<'a> {
    scope: NodeId,
    value: &'a Expr,
    state: State,
    /// Values in it.
    size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Done,
}

impl<'a> Constants<'a> {
    /// A constant that is to be read.
    pub fn add(&mut self, at: usize, scope: NodeId, value: &'a Expr) {
        self.all.insert(at, Constant { scope, value, state: State::New, size: 0 });
    }
}

impl<'a> Linker<'a> {
    /// Reads all values.
    ///
    /// # Errors
    /// A value that does not fit its type.
    pub fn values(&mut self) -> Result<(), Fault> {
        for one in std::mem::take(&mut self.pending) {
            match one {
                Pending::Const(at) => _ = self.constant_value(at, 0)?,
                Pending::Default { of, position, value, scope } => self.default(of, position, value, scope)?,
                Pending::Annotation { owner, position, ty, value, scope } => {
                    let value = self.value(value, ty, scope, 0)?;
                    let list = annotations::of(&mut self.capnp, owner);
                    if let Some(one) = list.and_then(|list| list.get_mut(position)) {
                        one.value = value;
                    }
                }
            }
        }
        Ok(())
    }

    fn default(&mut self, of: usize, position: usize, value: &'a Expr, scope: NodeId) -> Result<(), Fault> {
        let field = self.capnp.structs.get(of).and_then(|one| one.fields.get(position));
        let Some(FieldKind::Slot(slot)) = field.map(|field| &field.kind) else { return Ok(()) };
        let made = self.value(value, slot.ty, scope, 0)?;
        let field = self.capnp.structs.get_mut(of).and_then(|one| one.fields.get_mut(position));
        if let Some(FieldKind::Slot(slot)) = field.map(|field| &mut field.kind) {
            slot.default = made;
        }
        Ok(())
    }

    /// Reads a constant, if it is not read yet; gives how many values it has.
    fn constant_value(&mut self, at: usize, depth: usize) -> Result<usize, Fault> {
        let Some(constant) = self.constants.all.get_mut(&at) else { return Ok(0) };
        match constant.state {
            State::Done => return Ok(constant.size),
            State::Begun => {
                let (scope, place) = (constant.scope, constant.value.at);
                return Err(self.fault(scope, place, "the constant is made of itself"));
            }
            State::New => constant.state = State::Begun,
        }
        let (scope, expr) = (constant.scope, constant.value);
        let before = self.constants.made;
        let ty = self.capnp.consts.get(at).map_or(Type::Void, |one| one.ty);
        let value = self.value(expr, ty, scope, depth)?;
        let size = self.constants.made.saturating_sub(before);
        if let Some(one) = self.capnp.consts.get_mut(at) {
            one.value = value;
        }
        if let Some(constant) = self.constants.all.get_mut(&at) {
            (constant.state, constant.size) = (State::Done, size);
        }
        Ok(size)
    }

    fn count(&mut self, more: usize, scope: NodeId, at: usize) -> Result<(), Fault> {
        self.constants.made = self.constants.made.saturating_add(more);
        if self.constants.made > MOST {
            return Err(self.fault(scope, at, format!("more than {MOST} values in the schema")));
        }
        Ok(())
    }

    fn mismatch(&self, scope: NodeId, expr: &Expr, ty: Type) -> Fault {
        let here = match &expr.kind {
            ExprKind::Int(number) => format!("`{number}`"),
            ExprKind::Negative(number) => format!("`-{number}`"),
            ExprKind::Float(number) => format!("`{number}`"),
            ExprKind::Text(_) => "a string".to_string(),
            ExprKind::Binary(_) => "bytes".to_string(),
            ExprKind::List(_) => "a list".to_string(),
            ExprKind::Tuple(_) => "a struct".to_string(),
            ExprKind::Embed(_) => "an embedded file".to_string(),
            _ => format!("`{}`", expr.told()),
        };
        self.fault(scope, expr.at, format!("expected a value of {}, here is {here}", self.capnp.type_name(ty)))
    }

    /// A value of a type.
    fn value(&mut self, expr: &Expr, ty: Type, scope: NodeId, depth: usize) -> Result<Value, Fault> {
        if depth > DEPTH {
            return Err(self.fault(scope, expr.at, format!("values nest more than {DEPTH} deep")));
        }
        self.count(1, scope, expr.at)?;
        if let Type::Parameter { .. } = ty {
            let name = self.capnp.type_name(ty);
            return Err(self.fault(scope, expr.at, format!("what a value of `{name}` is, is not known here")));
        }
        let depth = depth.saturating_add(1);
        if let (Type::Struct(id), true) = (ty, is_simple(expr)) {
            return self.first_field(expr, id, scope, depth);
        }
        match &expr.kind {
            ExprKind::Int(number) => self.integer(expr, ty, scope, i128::from(*number)),
            ExprKind::Negative(number) => self.integer(expr, ty, scope, -i128::from(*number)),
            ExprKind::Float(number) => float(ty, *number).ok_or_else(|| self.mismatch(scope, expr, ty)),
            ExprKind::Text(bytes) => self.bytes(expr, ty, scope, bytes.clone()),
            ExprKind::Binary(bytes) if ty == Type::Data => self.bytes(expr, ty, scope, bytes.clone()),
            ExprKind::Binary(_) => Err(self.mismatch(scope, expr, ty)),
            ExprKind::Embed(name) => self.embed(expr, ty, scope, name),
            ExprKind::List(items) => {
                let Type::List(element) = ty else { return Err(self.mismatch(scope, expr, ty)) };
                let element = self.capnp.element(element);
                let mut all = Vec::new();
                for item in items {
                    all.push(self.value(item, element, scope, depth)?);
                }
                Ok(Value::List(all))
            }
            ExprKind::Tuple(elements) => {
                let Type::Struct(id) = ty else { return Err(self.mismatch(scope, expr, ty)) };
                self.structured(elements, id, scope, depth)
            }
            ExprKind::Name(name) => match self.word(name, ty) {
                Some(value) => Ok(value),
                None => self.referred(expr, ty, scope, depth),
            },
            _ => self.referred(expr, ty, scope, depth),
        }
    }

    /// A struct of which only the first field is told, `"foo"` for `(text = "foo")`: so a field can become a struct
    /// without any change where it is used.
    fn first_field(&mut self, expr: &Expr, id: MessageId, scope: NodeId, depth: usize) -> Result<Value, Fault> {
        match self.first_type(id) {
            Some(ty) => Ok(Value::Struct(vec![(0, self.value(expr, ty, scope, depth)?)])),
            None => Err(self.mismatch(scope, expr, Type::Struct(id))),
        }
    }

    /// The type of the first field, unless that is a struct or group itself.
    fn first_type(&self, id: MessageId) -> Option<Type> {
        match &self.capnp.record(id)?.fields.first()?.kind {
            FieldKind::Slot(slot) if !matches!(slot.ty, Type::Struct(_)) => Some(slot.ty),
            _ => None,
        }
    }

    /// A word that is a value by itself.
    fn word(&self, name: &str, ty: Type) -> Option<Value> {
        match (ty, name) {
            (Type::Enum(id), _) => {
                let names = &self.capnp.enumeration(id)?.enumerants;
                let at = names.iter().position(|one| one.name == name)?;
                Some(Value::Enum(u16::try_from(at).ok()?))
            }
            (Type::Void, "void") => Some(Value::Void),
            (Type::Bool, "true") => Some(Value::Bool(true)),
            (Type::Bool, "false") => Some(Value::Bool(false)),
            (Type::Interface(_), "null") => Some(Value::Null),
            (_, "nan") => float(ty, f64::NAN),
            (_, "inf") => float(ty, f64::INFINITY),
            _ => None,
        }
    }

    fn integer(&self, expr: &Expr, ty: Type, scope: NodeId, number: i128) -> Result<Value, Fault> {
        let (low, high) = match ty {
            Type::Int8 => (i128::from(i8::MIN), i128::from(i8::MAX)),
            Type::Int16 => (i128::from(i16::MIN), i128::from(i16::MAX)),
            Type::Int32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
            Type::Int64 | Type::Float32 | Type::Float64 if number < 0 => (i128::from(i64::MIN), 0),
            Type::Int64 => (0, i128::from(i64::MAX)),
            Type::Uint8 => (0, i128::from(u8::MAX)),
            Type::Uint16 => (0, i128::from(u16::MAX)),
            Type::Uint32 => (0, i128::from(u32::MAX)),
            Type::Uint64 | Type::Float32 | Type::Float64 => (0, i128::from(u64::MAX)),
            _ => return Err(self.mismatch(scope, expr, ty)),
        };
        if number < low || number > high {
            let name = self.capnp.type_name(ty);
            let message = format!("{number} does not fit {name}");
            return Err(self.fault(scope, expr.at, message).help(range(ty)));
        }
        Ok(whole(ty, number))
    }

    fn bytes(&mut self, expr: &Expr, ty: Type, scope: NodeId, bytes: Vec<u8>) -> Result<Value, Fault> {
        self.count(bytes.len() / BYTES, scope, expr.at)?;
        match ty {
            Type::Data => Ok(Value::Data(bytes)),
            Type::Text => Ok(Value::Text(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(bad) => String::from_utf8_lossy(bad.as_bytes()).into_owned(),
            })),
            _ => Err(self.mismatch(scope, expr, ty)),
        }
    }

    fn embed(&mut self, expr: &Expr, ty: Type, scope: NodeId, name: &str) -> Result<Value, Fault> {
        if !matches!(ty, Type::Text | Type::Data | Type::Struct(_)) {
            return Err(self.mismatch(scope, expr, ty).help("files are embedded as Text, Data or a struct"));
        }
        let bytes = match self.files.embedded(self.file_of(scope), name) {
            Ok(bytes) => bytes,
            Err(problem) => return self.not_embedded(expr, ty, scope, problem.message),
        };
        match ty {
            Type::Struct(_) => self.not_embedded(expr, ty, scope, "a message is not read as a value".into()),
            _ => self.bytes(expr, ty, scope, bytes),
        }
    }

    /// A default that is not known need not keep the schema from use.
    fn not_embedded(&mut self, expr: &Expr, ty: Type, scope: NodeId, message: String) -> Result<Value, Fault> {
        let loaded = self.files.all.get(self.file_of(scope));
        self.findings.push(Finding {
            code: "embed-missing",
            place: loaded.map(|loaded| loaded.place(expr.at)).unwrap_or_default(),
            message: format!("the file is not embedded: {message}"),
            help: "the value is taken as empty".into(),
        });
        Ok(Value::zero(ty))
    }

    fn structured(&mut self, elements: &[Element], id: MessageId, scope: NodeId, depth: usize) -> Result<Value, Fault> {
        let mut all: Vec<(u16, Value)> = Vec::new();
        for element in elements {
            let Some(name) = &element.name else {
                return Err(self.fault(scope, element.value.at, "expected the name of a field in front, `name = ...`"));
            };
            let fields = self.capnp.record(id).map_or(&[][..], |one| &one.fields);
            let Some(at) = fields.iter().position(|field| field.name == name.text) else {
                let near = nearest(&name.text, fields.iter().map(|field| field.name.as_str()));
                let help = near.first().map_or_else(String::new, |near| format!("did you mean `{near}`?"));
                let of = self.capnp.record(id).map_or("", |one| one.name.as_str());
                return Err(self.fault(scope, name.at, format!("no field `{}` in `{of}`", name.text)).help(help));
            };
            let Some(field) = fields.get(at) else { continue };
            let tagged: Vec<usize> = match field.tag {
                Some(_) => {
                    (0..fields.len()).filter(|at| fields.get(*at).is_some_and(|one| one.tag.is_some())).collect()
                }
                None => vec![at],
            };
            let value = match field.kind {
                FieldKind::Slot(ref slot) => {
                    let ty = slot.ty;
                    self.value(&element.value, ty, scope, depth)?
                }
                FieldKind::Group(group) => match &element.value.kind {
                    ExprKind::Tuple(inner) => self.structured(inner, group, scope, depth)?,
                    _ => self.first_field(&element.value, group, scope, depth)?,
                },
            };
            // A field that is set again, or another member of the union, takes the place.
            all.retain(|(known, _)| !tagged.contains(&usize::from(*known)));
            all.push((u16::try_from(at).unwrap_or(u16::MAX), value));
        }
        Ok(Value::Struct(all))
    }

    /// The value of a constant.
    fn referred(&mut self, expr: &Expr, ty: Type, scope: NodeId, depth: usize) -> Result<Value, Fault> {
        let found = match self.find(scope, expr, Implicit::default(), 0) {
            Ok(found) => found,
            Err(fault) => return Err(self.no_enumerant(expr, ty, fault)),
        };
        let node = match found {
            Ref::Node(node, _) => node,
            Ref::Missing => {
                let message = format!("`{}` is of a file that was not found", expr.told());
                return Err(self.fault(scope, expr.at, message).help("-I DIR adds a place to look"));
            }
            Ref::Type(_) | Ref::List => return Err(self.mismatch(scope, expr, ty)),
        };
        let Some(What::Const(at)) = self.nodes.get(node).map(|node| node.what) else {
            return Err(self.fault(scope, expr.at, format!("`{}` is no constant", expr.told())));
        };
        if let ExprKind::Name(name) = &expr.kind {
            let around = self.nodes.get(node).and_then(|node| node.parent).and_then(|parent| self.nodes.get(parent));
            let around = around.filter(|node| node.parent.is_some()).map_or("", |node| node.name.as_str());
            return Err(self
                .fault(scope, expr.at, format!("the constant `{name}` needs a dot in its name"))
                .help(format!("write `{around}.{name}`")));
        }
        let size = self.constant_value(at, depth)?;
        self.count(size, scope, expr.at)?;
        let Some(one) = self.capnp.consts.get(at) else { return Ok(Value::zero(ty)) };
        let (given, value) = (one.ty, one.value.clone());
        let first = match ty {
            Type::Struct(id) if given != ty => self.first_type(id).filter(|ty| given == *ty),
            _ => None,
        };
        if first.is_some() {
            return Ok(Value::Struct(vec![(0, value)]));
        }
        match value {
            Value::Int(number) => self.integer(expr, ty, scope, i128::from(number)),
            Value::Uint(number) => self.integer(expr, ty, scope, i128::from(number)),
            Value::Float32(number) => float(ty, f64::from(number)).ok_or_else(|| self.mismatch(scope, expr, ty)),
            Value::Float64(number) => float(ty, number).ok_or_else(|| self.mismatch(scope, expr, ty)),
            value if given == ty => Ok(value),
            // A pointer of any kind takes what has a kind of its own.
            value @ (Value::Struct(_) | Value::List(_)) if ty == Type::AnyPointer || ty == any_of(&value) => Ok(value),
            _ => Err(self.mismatch(scope, expr, ty)),
        }
    }

    /// Where an enum is asked for, names near are its own.
    fn no_enumerant(&self, expr: &Expr, ty: Type, fault: Fault) -> Fault {
        let (Type::Enum(id), ExprKind::Name(name)) = (ty, &expr.kind) else { return fault };
        let Some(one) = self.capnp.enumeration(id) else { return fault };
        let near = nearest(name, one.enumerants.iter().map(|one| one.name.as_str()));
        let help = near.first().map_or_else(String::new, |near| format!("did you mean `{near}`?"));
        Fault { message: format!("no `{name}` in the enum `{}`", one.name), help, ..fault }
    }
}

/// What is a value without names, lists and brackets.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Negative(_) | ExprKind::Float(_) | ExprKind::Text(_) => true,
        ExprKind::Name(name) => matches!(name.as_str(), "void" | "true" | "false" | "nan" | "inf"),
        _ => false,
    }
}

/// The built-in type of all values of this kind.
fn any_of(value: &Value) -> Type {
    if matches!(value, Value::List(_)) { Type::AnyList } else { Type::AnyStruct }
}

fn range(ty: Type) -> String {
    match ty.bits() {
        Some(bits) if matches!(ty, Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64) => {
            format!("it goes from -2^{0} to 2^{0} - 1", bits.saturating_sub(1))
        }
        Some(bits) if !matches!(ty, Type::Float32 | Type::Float64) => format!("it goes from 0 to 2^{bits} - 1"),
        _ => String::new(),
    }
}

/// A whole number that fits its type.
#[expect(clippy::cast_precision_loss, reason = "rounding to the nearest float is what is wanted")]
fn whole(ty: Type, number: i128) -> Value {
    match ty {
        Type::Float32 => Value::Float32(number as f32),
        Type::Float64 => Value::Float64(number as f64),
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => Value::Int(i64::try_from(number).unwrap_or(0)),
        _ => Value::Uint(u64::try_from(number).unwrap_or(0)),
    }
}

/// A number of a float type; none for other types.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest float is what is wanted")]
fn float(ty: Type, number: f64) -> Option<Value> {
    match ty {
        Type::Float32 => Some(Value::Float32(number as f32)),
        Type::Float64 => Some(Value::Float64(number)),
        _ => None,
    }
}
