//! Types of a request, with generic structs bound as the source reader binds them.

use capnp::schema_capnp::{brand, type_};

use crate::model::capnp::{Capnp, Type};
use crate::model::schema::MessageId;
use crate::schema::capnp::cgr::Broken;
use crate::schema::capnp::cgr::nodes::{DEPTH, Nodes, What};
use crate::schema::capnp::generics::{Bindings, Generics};

/// Types of lists; far above the largest known schemas.
const MOST: usize = 1 << 14;

/// What types are read with.
pub struct Types<'a> {
    /// The declarations.
    pub nodes: Nodes<'a>,
    /// The model.
    pub capnp: Capnp,
    /// Uses of generic structs.
    pub generics: Generics,
}

impl<'a> Types<'a> {
    /// A type that is used in the node `scope`.
    ///
    /// # Errors
    /// It is of no declaration of the request, or nests too deep.
    pub fn ty(&mut self, ty: type_::Reader<'a>, scope: u64) -> Result<Type, Broken> {
        self.inner(ty, scope, 0)
    }

    fn inner(&mut self, ty: type_::Reader<'a>, scope: u64, depth: usize) -> Result<Type, Broken> {
        if depth > DEPTH {
            return Err(Broken(format!("has types more than {DEPTH} deep in one another")));
        }
        let depth = depth.saturating_add(1);
        Ok(match ty.which()? {
            type_::Void(()) => Type::Void,
            type_::Bool(()) => Type::Bool,
            type_::Int8(()) => Type::Int8,
            type_::Int16(()) => Type::Int16,
            type_::Int32(()) => Type::Int32,
            type_::Int64(()) => Type::Int64,
            type_::Uint8(()) => Type::Uint8,
            type_::Uint16(()) => Type::Uint16,
            type_::Uint32(()) => Type::Uint32,
            type_::Uint64(()) => Type::Uint64,
            type_::Float32(()) => Type::Float32,
            type_::Float64(()) => Type::Float64,
            type_::Text(()) => Type::Text,
            type_::Data(()) => Type::Data,
            type_::List(list) => {
                let element = self.inner(list.get_element_type()?, scope, depth)?;
                if self.capnp.types.len() > MOST {
                    return Err(Broken(format!("has more than {MOST} types of lists")));
                }
                self.capnp.list_of(element)
            }
            type_::Enum(one) => match self.nodes.what.get(&one.get_type_id()) {
                Some(What::Enum(id)) => Type::Enum(*id),
                _ => return Err(missing("enum", one.get_type_id())),
            },
            type_::Struct(one) => Type::Struct(self.structure(one.get_type_id(), one.get_brand()?, scope, depth)?),
            type_::Interface(one) => match self.nodes.what.get(&one.get_type_id()) {
                Some(What::Interface(id)) => Type::Interface(*id),
                _ => return Err(missing("interface", one.get_type_id())),
            },
            type_::AnyPointer(any) => self.any(any)?,
        })
    }

    fn any(&self, any: type_::any_pointer::Reader<'a>) -> Result<Type, Broken> {
        use type_::any_pointer::{self, unconstrained};
        Ok(match any.which()? {
            any_pointer::Unconstrained(any) => match any.which()? {
                unconstrained::AnyKind(()) => Type::AnyPointer,
                unconstrained::Struct(()) => Type::AnyStruct,
                unconstrained::List(()) => Type::AnyList,
                unconstrained::Capability(()) => Type::Capability,
            },
            any_pointer::Parameter(parameter) => {
                let (of, index) = (self.nodes.record(parameter.get_scope_id()), parameter.get_parameter_index());
                match of.filter(|of| index < self.parameters(*of)) {
                    Some(of) => Type::Parameter { of, index },
                    None => Type::AnyPointer,
                }
            }
            any_pointer::ImplicitMethodParameter(_) => Type::AnyPointer,
        })
    }

    /// A struct with its bindings.
    ///
    /// # Errors
    /// It is no struct of the request.
    pub fn structure(
        &mut self,
        id: u64,
        brand: brand::Reader<'a>,
        scope: u64,
        depth: usize,
    ) -> Result<MessageId, Broken> {
        let of = self.nodes.record(id).ok_or_else(|| missing("struct", id))?;
        let bindings = self.bindings(id, brand, scope, depth)?;
        Ok(self.generics.bind(of, bindings))
    }

    /// What the parameters of a node and what it stands in are bound to, outermost first. Unbound ones are left
    /// out but inside their own declaration, where they would be taken for what they are there.
    ///
    /// # Errors
    /// A type that is not of the request.
    pub fn bindings(
        &mut self,
        id: u64,
        brand: brand::Reader<'a>,
        scope: u64,
        depth: usize,
    ) -> Result<Bindings, Broken> {
        let mut chain: Vec<u64> = self.nodes.chain(id).collect();
        chain.reverse();
        let mut all = Bindings::new();
        for one in chain {
            let Some(of) = self.nodes.record(one) else { continue };
            if self.parameters(of) == 0 {
                continue;
            }
            let (bound, inherited) = self.bound(one, brand, scope, depth)?;
            let inside = self.nodes.chain(scope).any(|around| around == one);
            for index in 0..self.parameters(of) {
                let from = Type::Parameter { of, index };
                match bound.as_ref().and_then(|types| types.get(usize::from(index))) {
                    Some(to) => all.push((from, *to)),
                    None if inherited => all.push((from, from)),
                    None if inside => all.push((from, Type::AnyPointer)),
                    None => {}
                }
            }
        }
        Ok(all)
    }

    /// What a brand says of the parameters of one scope, and whether they mean what they mean around it.
    fn bound(
        &mut self,
        of: u64,
        brand: brand::Reader<'a>,
        scope: u64,
        depth: usize,
    ) -> Result<(Option<Vec<Type>>, bool), Broken> {
        if let Some(one) = brand.get_scopes()?.iter().find(|one| one.get_scope_id() == of) {
            match one.which()? {
                brand::scope::Inherit(()) => return Ok((None, true)),
                brand::scope::Bind(bindings) => {
                    let mut types = Vec::new();
                    for binding in bindings? {
                        types.push(match binding.which()? {
                            brand::binding::Unbound(()) => Type::AnyPointer,
                            brand::binding::Type(ty) => self.inner(ty?, scope, depth)?,
                        });
                    }
                    return Ok((Some(types), false));
                }
            }
        }
        Ok((None, false))
    }

    fn parameters(&self, of: MessageId) -> u16 {
        let count = self.capnp.record(of).map_or(0, |one| one.parameters.len());
        u16::try_from(count).unwrap_or(u16::MAX)
    }
}

/// What is used but not there.
pub fn missing(what: &str, id: u64) -> Broken {
    Broken(format!("uses an {what} @0x{id:016x} that it does not have").replace("an struct", "a struct"))
}
