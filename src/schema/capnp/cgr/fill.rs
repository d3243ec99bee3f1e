//! What declarations hold: fields, enumerants, methods, and the annotations and documentation of all of them.

use std::collections::HashMap;

use capnp::schema_capnp::{annotation, code_generator_request, enumerant, field, method, node, value};
use capnp::struct_list;

use crate::model::capnp::{
    Annotation, Capnp, Enumerant, Field, FieldKind, InterfaceId, Method, Slot, Struct, Type, Value,
};
use crate::model::schema::{MessageId, Place};
use crate::schema::capnp::annotations::{self, Owner};
use crate::schema::capnp::cgr::Broken;
use crate::schema::capnp::cgr::nodes::{Nodes, What, told};
use crate::schema::capnp::cgr::types::{Types, missing};
use crate::schema::capnp::cgr::values;
use crate::schema::capnp::generics::{self, Generics};

/// Fields of a request in all; a hundred times the largest known ones.
const MOST_FIELDS: usize = 1 << 20;

/// The name of the struct that streaming methods give.
const STREAM: u64 = 0x995f_9a33_77c0_b16e;

/// A discriminant of what is in no union.
const NONE: u16 = 0xffff;

/// Where a value goes that is read when all structs are there.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// The default of a field, by struct and position.
    Default(usize, usize),
    /// A constant, by its position.
    Const(usize),
    /// An annotation, by its position on something.
    Annotation(Owner, usize),
}

/// A value that is read when all structs are there.
pub struct Later<'a> {
    /// Where it goes.
    pub target: Target,
    /// Its type.
    pub ty: Type,
    /// The value.
    pub value: value::Reader<'a>,
}

/// Documentation of a node and its members.
type Docs<'a> = HashMap<u64, node::source_info::Reader<'a>>;

struct Filler<'a> {
    types: Types<'a>,
    docs: Docs<'a>,
    later: Vec<Later<'a>>,
    fields: usize,
}

/// Fills in what declarations hold, and writes generic structs out. Gives the values that are left to read.
///
/// # Errors
/// The request contradicts itself.
pub fn fill<'a>(
    mut nodes: Nodes<'a>,
    request: code_generator_request::Reader<'a>,
) -> Result<(Capnp, Vec<Later<'a>>), Broken> {
    let mut capnp = std::mem::take(&mut nodes.capnp);
    generics::mark_open(&mut capnp);
    let docs = request.get_source_info()?.iter().map(|info| (info.get_id(), info)).collect();
    let order = std::mem::take(&mut nodes.order);
    let generics = Generics::new(capnp.structs.len());
    let mut filler = Filler { types: Types { nodes, capnp, generics }, docs, later: Vec::new(), fields: 0 };
    for id in order {
        let found = (filler.types.nodes.by_id.get(&id).copied(), filler.types.nodes.what.get(&id).copied());
        if let (Some(node), Some(what)) = found {
            filler.node(node, what).map_err(|broken| within(node, broken))?;
        }
    }
    let Types { mut capnp, generics, .. } = filler.types;
    generics.write_out(&mut capnp);
    Ok((capnp, filler.later))
}

fn within(node: node::Reader<'_>, broken: Broken) -> Broken {
    let name = node.get_display_name().map(told).unwrap_or_default();
    if name.is_empty() { broken } else { Broken(format!("{broken}, in `{name}`")) }
}

/// Lines of a comment.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}

impl<'a> Filler<'a> {
    fn node(&mut self, node: node::Reader<'a>, what: What) -> Result<(), Broken> {
        let id = node.get_id();
        let doc = match self.docs.get(&id) {
            Some(info) => lines(&told(info.get_doc_comment()?)),
            None => Vec::new(),
        };
        let owner = match (what, node.which()?) {
            (What::File(at), _) => Owner::File(at),
            (What::Struct(of), node::Struct(inner)) => self.structure(of, id, inner, doc)?,
            (What::Enum(of), node::Enum(inner)) => {
                let at = usize::try_from(of.0).unwrap_or(usize::MAX);
                self.enumeration(at, id, inner)?;
                if let Some(one) = self.types.capnp.enums.get_mut(at) {
                    one.doc = doc;
                }
                Owner::Enum(at)
            }
            (What::Interface(of), node::Interface(inner)) => self.interface(of, id, inner, doc)?,
            (What::Const(at), node::Const(inner)) => {
                let ty = self.types.ty(inner.get_type()?, id)?;
                self.later.push(Later { target: Target::Const(at), ty, value: inner.get_value()? });
                if let Some(one) = self.types.capnp.consts.get_mut(at) {
                    (one.ty, one.doc) = (ty, doc);
                }
                Owner::Nothing
            }
            (What::Annotation(at), node::Annotation(inner)) => {
                let ty = self.types.ty(inner.get_type()?, id)?;
                if let Some(one) = self.types.capnp.annotations.get_mut(at) {
                    (one.ty, one.doc) = (ty, doc);
                }
                Owner::Nothing
            }
            _ => Owner::Nothing,
        };
        self.annotate(node.get_annotations()?, owner, id)
    }

    /// The documentation of a member of a node, by its position there.
    fn member_doc(&self, of: u64, at: usize) -> Result<Vec<String>, Broken> {
        let Some(info) = self.docs.get(&of) else { return Ok(Vec::new()) };
        let members = info.get_members()?;
        match u32::try_from(at).ok().and_then(|at| members.try_get(at)) {
            Some(member) => Ok(lines(&told(member.get_doc_comment()?))),
            None => Ok(Vec::new()),
        }
    }

    fn structure(
        &mut self,
        of: MessageId,
        id: u64,
        inner: node::struct_::Reader<'a>,
        doc: Vec<String>,
    ) -> Result<Owner, Broken> {
        let at = usize::try_from(of.0).unwrap_or(usize::MAX);
        let place = self.record(at).map(|one| one.place.clone()).unwrap_or_default();
        for (position, field) in inner.get_fields()?.iter().enumerate() {
            self.fields = self.fields.saturating_add(1);
            if self.fields > MOST_FIELDS {
                return Err(Broken(format!("has more than {MOST_FIELDS} fields")));
            }
            let made = self.field(field, (at, position), id, place.clone());
            let made = made.map_err(|broken| Broken(format!("{broken}, field {position}")))?;
            if let Some(one) = self.record(at) {
                one.fields.push(made);
            }
            self.annotate(field.get_annotations()?, Owner::Field(at, position), id)?;
        }
        if let Some(one) = self.record(at) {
            one.doc = doc;
        }
        Ok(Owner::Struct(at))
    }

    fn record(&mut self, at: usize) -> Option<&mut Struct> {
        self.types.capnp.structs.get_mut(at)
    }

    fn field(&mut self, field: field::Reader<'a>, at: (usize, usize), id: u64, place: Place) -> Result<Field, Broken> {
        let kind = match field.which()? {
            field::Group(group) => {
                let of = group.get_type_id();
                FieldKind::Group(self.types.nodes.record(of).ok_or_else(|| missing("struct", of))?)
            }
            field::Slot(slot) => FieldKind::Slot(self.slot(slot, at, id)?),
        };
        let ordinal = match field.get_ordinal().which()? {
            field::ordinal::Implicit(()) => None,
            field::ordinal::Explicit(ordinal) => Some(ordinal),
        };
        Ok(Field {
            name: told(field.get_name()?),
            ordinal,
            order: field.get_code_order(),
            tag: Some(field.get_discriminant_value()).filter(|tag| *tag != NONE),
            kind,
            annotations: Vec::new(),
            doc: self.member_doc(id, at.1)?,
            place,
        })
    }

    fn slot(&mut self, slot: field::slot::Reader<'a>, at: (usize, usize), id: u64) -> Result<Slot, Broken> {
        let ty = self.types.ty(slot.get_type()?, id)?;
        let explicit = slot.get_had_explicit_default();
        let (mut default, value) = (Value::zero(ty), slot.get_default_value()?);
        if ty.is_pointer() && explicit {
            self.later.push(Later { target: Target::Default(at.0, at.1), ty, value });
        } else if explicit {
            // Values of structs are stored with the defaults of their fields, so these are there first.
            default = values::number(value, ty)?.unwrap_or(default);
        }
        Ok(Slot { ty, offset: slot.get_offset(), default, explicit })
    }

    fn enumeration(&mut self, at: usize, id: u64, inner: node::enum_::Reader<'a>) -> Result<(), Broken> {
        for (number, one) in inner.get_enumerants()?.iter().enumerate() {
            let one: enumerant::Reader<'a> = one;
            let doc = self.member_doc(id, number)?;
            let name = told(one.get_name()?);
            if let Some(made) = self.types.capnp.enums.get_mut(at) {
                made.enumerants.push(Enumerant { name, order: one.get_code_order(), annotations: Vec::new(), doc });
            }
            self.annotate(one.get_annotations()?, Owner::Enumerant(at, number), id)?;
        }
        Ok(())
    }

    fn interface(
        &mut self,
        of: InterfaceId,
        id: u64,
        inner: node::interface::Reader<'a>,
        doc: Vec<String>,
    ) -> Result<Owner, Broken> {
        let at = usize::try_from(of.0).unwrap_or(usize::MAX);
        let mut extends = Vec::new();
        for other in inner.get_superclasses()? {
            match self.types.nodes.what.get(&other.get_id()) {
                Some(What::Interface(other)) => extends.push(*other),
                _ => return Err(missing("interface", other.get_id())),
            }
        }
        if let Some(one) = self.types.capnp.interfaces.get_mut(at) {
            (one.extends, one.doc) = (extends, doc);
        }
        for (number, method) in inner.get_methods()?.iter().enumerate() {
            let made = self.method(method, number, id)?;
            if let Some(one) = self.types.capnp.interfaces.get_mut(at) {
                one.methods.push(made);
            }
            self.annotate(method.get_annotations()?, Owner::Method(at, number), id)?;
        }
        Ok(Owner::Interface(at))
    }

    fn method(&mut self, method: method::Reader<'a>, number: usize, id: u64) -> Result<Method, Broken> {
        let (takes, gives) = (method.get_param_struct_type(), method.get_result_struct_type());
        Ok(Method {
            name: told(method.get_name()?),
            order: method.get_code_order(),
            parameters: self.side(takes, method.get_param_brand()?, id)?,
            results: self.side(gives, method.get_result_brand()?, id)?,
            streaming: gives == STREAM,
            annotations: Vec::new(),
            doc: self.member_doc(id, number)?,
        })
    }

    /// The struct of parameters or results: as declared where the method lists them, for the type parameters of
    /// a method are bound by each call anew.
    fn side(&mut self, of: u64, brand: capnp::schema_capnp::brand::Reader<'a>, id: u64) -> Result<MessageId, Broken> {
        let listed = self.types.nodes.by_id.get(&of).is_some_and(|node| node.get_scope_id() == 0);
        match self.types.nodes.record(of) {
            Some(of) if listed => Ok(of),
            _ => self.types.structure(of, brand, id, 0),
        }
    }

    fn annotate(
        &mut self,
        applied: struct_list::Reader<'a, annotation::Owned>,
        owner: Owner,
        scope: u64,
    ) -> Result<(), Broken> {
        for one in applied {
            let id = one.get_id();
            let declared = self.types.nodes.by_id.get(&id).copied();
            let (name, ty) = match declared.map(|node| node.which()).transpose()? {
                Some(node::Annotation(declared)) => {
                    (self.annotation_name(id), self.annotation_type(one, declared, scope)?)
                }
                _ => (format!("0x{id:016x}"), of_value(one.get_value()?)?),
            };
            let Some(list) = annotations::of(&mut self.types.capnp, owner) else { continue };
            let target = Target::Annotation(owner, list.len());
            list.push(Annotation { id, name, value: Value::zero(ty), ty });
            self.later.push(Later { target, ty, value: one.get_value()? });
        }
        Ok(())
    }

    fn annotation_name(&self, id: u64) -> String {
        match self.types.nodes.what.get(&id) {
            Some(What::Annotation(at)) => {
                self.types.capnp.annotations.get(*at).map(|one| one.name.clone()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// The type of the value, with what the scope of the annotation is bound to where it is applied.
    fn annotation_type(
        &mut self,
        one: annotation::Reader<'a>,
        declared: node::annotation::Reader<'a>,
        scope: u64,
    ) -> Result<Type, Broken> {
        let ty = self.types.ty(declared.get_type()?, one.get_id())?;
        let bindings = self.types.bindings(one.get_id(), one.get_brand()?, scope, 0)?;
        Ok(if bindings.is_empty() { ty } else { self.types.generics.bound(&mut self.types.capnp, ty, &bindings) })
    }
}

/// The type of a value of which nothing else is known.
fn of_value(value: value::Reader<'_>) -> Result<Type, Broken> {
    Ok(match value.which()? {
        value::Void(()) => Type::Void,
        value::Bool(_) => Type::Bool,
        value::Int8(_) => Type::Int8,
        value::Int16(_) => Type::Int16,
        value::Int32(_) => Type::Int32,
        value::Int64(_) => Type::Int64,
        value::Uint8(_) => Type::Uint8,
        value::Uint16(_) | value::Enum(_) => Type::Uint16,
        value::Uint32(_) => Type::Uint32,
        value::Uint64(_) => Type::Uint64,
        value::Float32(_) => Type::Float32,
        value::Float64(_) => Type::Float64,
        value::Text(_) => Type::Text,
        value::Data(_) => Type::Data,
        value::List(_) => Type::AnyList,
        value::Struct(_) => Type::AnyStruct,
        value::Interface(()) => Type::Capability,
        value::AnyPointer(_) => Type::AnyPointer,
    })
}
