//! Annotations where they are applied: what they are, whether they may stand there, and where their values go.

use crate::model::capnp::{Annotation, Capnp, Type, Value};
use crate::schema::capnp::ast::{Applied, Expr};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::link::Linker;
use crate::schema::capnp::nodes::{NodeId, What};
use crate::schema::capnp::types::{Implicit, Ref};

/// What an annotation stands on, by positions in the model.
#[derive(Debug, Clone, Copy)]
pub enum Owner {
    /// What the model keeps no annotations of.
    Nothing,
    /// A file.
    File(usize),
    /// A struct.
    Struct(usize),
    /// A field of a struct or group.
    Field(usize, usize),
    /// An enum.
    Enum(usize),
    /// A name of an enum.
    Enumerant(usize, usize),
    /// An interface.
    Interface(usize),
    /// A method of an interface.
    Method(usize, usize),
}

/// A value that is read when all types are there.
#[derive(Debug)]
pub enum Pending<'a> {
    /// The default of a field.
    Default {
        /// Position of the struct.
        of: usize,
        /// Position of the field.
        position: usize,
        /// The value.
        value: &'a Expr,
        /// Where it stands.
        scope: NodeId,
    },
    /// A constant, by its position.
    Const(usize),
    /// The value of an annotation.
    Annotation {
        /// What it stands on.
        owner: Owner,
        /// Its position there.
        position: usize,
        /// Its type.
        ty: Type,
        /// The value.
        value: &'a Expr,
        /// Where it stands.
        scope: NodeId,
    },
}

/// The annotations of something.
pub fn of(capnp: &mut Capnp, owner: Owner) -> Option<&mut Vec<Annotation>> {
    Some(match owner {
        Owner::Nothing => return None,
        Owner::File(at) => &mut capnp.files.get_mut(at)?.annotations,
        Owner::Struct(at) => &mut capnp.structs.get_mut(at)?.annotations,
        Owner::Field(at, field) => &mut capnp.structs.get_mut(at)?.fields.get_mut(field)?.annotations,
        Owner::Enum(at) => &mut capnp.enums.get_mut(at)?.annotations,
        Owner::Enumerant(at, one) => &mut capnp.enums.get_mut(at)?.enumerants.get_mut(one)?.annotations,
        Owner::Interface(at) => &mut capnp.interfaces.get_mut(at)?.annotations,
        Owner::Method(at, one) => &mut capnp.interfaces.get_mut(at)?.methods.get_mut(one)?.annotations,
    })
}

impl<'a> Linker<'a> {
    /// Annotations of something; `target` is what that is.
    ///
    /// # Errors
    /// A name that is no annotation, one that may not stand here, one without its value.
    pub fn annotate(&mut self, scope: NodeId, applied: &'a [Applied], target: &str, owner: Owner) -> Result<(), Fault> {
        for one in applied {
            self.one_annotation(scope, one, target, owner)?;
        }
        Ok(())
    }

    fn one_annotation(&mut self, scope: NodeId, one: &'a Applied, target: &str, owner: Owner) -> Result<(), Fault> {
        let (name, at) = (one.name.told(), one.name.at);
        let found = self.find(scope, &one.name, Implicit::default(), 0)?;
        let (node, brand) = match found {
            // The import that is missing has been told.
            Ref::Missing => return Ok(()),
            Ref::Node(node, brand) => (node, brand),
            Ref::Type(_) | Ref::List => return Err(self.fault(scope, at, format!("`{name}` is no annotation"))),
        };
        let what = self.nodes.get(node).map(|node| (node.what, node.id));
        let Some((What::Annotation(position), id)) = what else {
            return Err(self.fault(scope, at, format!("`{name}` is no annotation")));
        };
        let targets = self.capnp.annotations.get(position).map(|one| one.targets.clone()).unwrap_or_default();
        if !targets.contains(&target) {
            let help = format!("it is declared for {}", targets.join(", "));
            return Err(self.fault(scope, at, format!("`{name}` may not stand on a {target}")).help(help));
        }
        let ty = self.annotation_type(node, &brand)?;
        let list = of(&mut self.capnp, owner);
        let position = list.as_ref().map_or(0, |list| list.len());
        if let Some(list) = list {
            list.push(Annotation { id, name: name.clone(), value: Value::Void, ty });
        }
        match &one.value {
            Some(value) => self.pending.push(Pending::Annotation { owner, position, ty, value, scope }),
            None if ty == Type::Void => {}
            None => {
                let told = self.capnp.type_name(ty);
                return Err(self
                    .fault(scope, at, format!("`{name}` has no value here"))
                    .help(format!("expected a {told} in brackets behind it")));
            }
        }
        Ok(())
    }
}
