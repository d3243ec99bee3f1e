//! Names resolved: what a name stands for where it is used, and types with their bindings.

use crate::model::capnp::Type;
use crate::model::num::count;
use crate::model::schema::MessageId;
use crate::model::words::nearest;
use crate::schema::capnp::ast::{DeclKind, Element, Expr, ExprKind, Word};
use crate::schema::capnp::generics::Bindings;
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::link::Linker;
use crate::schema::capnp::nodes::{NodeId, What};

/// How many names may lead through one another: those that others stand for, and parts of names.
const DEPTH: usize = 300;

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Ref {
    /// A declaration, with what is known of the parameters of it and what it stands in.
    Node(NodeId, Brand),
    /// A built-in type, a list, or a parameter.
    Type(Type),
    /// `List` without an element type.
    List,
    /// Something in a file that was not found.
    Missing,
}

/// What type parameters are bound to.
#[derive(Debug, Clone, Default)]
pub struct Brand {
    /// Declarations that are applied to types.
    bound: Vec<(NodeId, Vec<Type>)>,
    /// Declarations whose parameters mean what they mean where the name is used.
    inherited: Vec<NodeId>,
}

/// Type parameters of a method.
#[derive(Debug, Clone, Copy, Default)]
pub struct Implicit<'a> {
    /// Their names.
    pub names: &'a [Word],
    /// The struct of parameters or results that has them as its own.
    pub of: Option<MessageId>,
}

/// The built-in types.
const BUILTIN: [Type; 18] = [
    Type::Void,
    Type::Bool,
    Type::Int8,
    Type::Int16,
    Type::Int32,
    Type::Int64,
    Type::Uint8,
    Type::Uint16,
    Type::Uint32,
    Type::Uint64,
    Type::Float32,
    Type::Float64,
    Type::Text,
    Type::Data,
    Type::AnyPointer,
    Type::AnyStruct,
    Type::AnyList,
    Type::Capability,
];

impl Linker<'_> {
    /// A type.
    ///
    /// # Errors
    /// The name is not known, or stands for no type.
    pub fn ty(&mut self, scope: NodeId, expr: &Expr, implicit: Implicit<'_>) -> Result<Type, Fault> {
        self.inner_type(scope, expr, implicit, 0)
    }

    fn inner_type(&mut self, scope: NodeId, expr: &Expr, of: Implicit<'_>, depth: usize) -> Result<Type, Fault> {
        let found = self.find(scope, expr, of, depth)?;
        self.as_type(scope, expr, &found)
    }

    fn as_type(&mut self, scope: NodeId, expr: &Expr, found: &Ref) -> Result<Type, Fault> {
        match found {
            Ref::Type(ty) => Ok(*ty),
            Ref::List => {
                Err(self.fault(scope, expr.at, "`List` without the type of its elements").help("write `List(Text)`"))
            }
            Ref::Missing => Err(self
                .fault(scope, expr.at, format!("`{}` is of a file that was not found", expr.told()))
                .help("-I DIR adds a place to look")),
            Ref::Node(node, brand) => match self.nodes.get(*node).map(|node| node.what) {
                Some(What::Struct(id)) => {
                    let bindings = self.bindings(scope, *node, brand);
                    Ok(Type::Struct(self.generics.bind(id, bindings)))
                }
                Some(What::Enum(id)) => Ok(Type::Enum(id)),
                Some(What::Interface(id)) => Ok(Type::Interface(id)),
                _ => Err(self.fault(scope, expr.at, format!("`{}` is no type", expr.told()))),
            },
        }
    }

    /// What the parameters of a struct and what it stands in are bound to, outermost first. Unbound ones are left
    /// out but inside their own declaration, where they would be taken for what they are there.
    fn bindings(&self, scope: NodeId, node: NodeId, brand: &Brand) -> Bindings {
        let mut chain: Vec<NodeId> = self.nodes.chain(node).collect();
        chain.reverse();
        let mut all = Vec::new();
        for one in chain {
            let Some(What::Struct(id)) = self.nodes.get(one).map(|node| node.what) else { continue };
            let bound = brand.bound.iter().find(|(of, _)| *of == one).map(|(_, types)| types);
            let inherited = brand.inherited.contains(&one);
            let inside = self.nodes.chain(scope).any(|around| around == one);
            for index in 0..self.nodes.parameters(one).len() {
                let from = Type::Parameter { of: id, index: u16::try_from(index).unwrap_or(u16::MAX) };
                match bound.and_then(|types| types.get(index)) {
                    Some(to) => all.push((from, *to)),
                    None if inherited => all.push((from, from)),
                    None if inside => all.push((from, Type::AnyPointer)),
                    None => {}
                }
            }
        }
        all
    }

    /// What a name stands for.
    ///
    /// # Errors
    /// It is not known, or no name.
    pub fn find(&mut self, scope: NodeId, expr: &Expr, implicit: Implicit<'_>, depth: usize) -> Result<Ref, Fault> {
        if depth > DEPTH {
            let message = format!("`{}` stands for itself, or for too many names in a row", expr.told());
            return Err(self.fault(scope, expr.at, message));
        }
        let depth = depth.saturating_add(1);
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(at) = implicit.names.iter().position(|one| one.text == *name) {
                    let index = u16::try_from(at).unwrap_or(u16::MAX);
                    return Ok(Ref::Type(implicit.of.map_or(Type::AnyPointer, |of| Type::Parameter { of, index })));
                }
                self.named(scope, name, expr.at, depth)
            }
            ExprKind::Absolute(name) => {
                let file = self.nodes.chain(scope).last().unwrap_or(scope);
                let all = Brand::default();
                match self.member(file, &all, name, depth)? {
                    Some(found) => Ok(found),
                    None => Err(self.unknown(scope, name, expr.at, &[file])),
                }
            }
            ExprKind::Import(name) => {
                let file = self.file_of(scope);
                let found = self.files.all.get(file).and_then(|loaded| loaded.imports.get(name));
                Ok(found.map_or(Ref::Missing, |file| Ref::Node(*file, Brand::default())))
            }
            ExprKind::Member(of, name) => {
                let found = self.find(scope, of, implicit, depth)?;
                self.member_of(scope, of, &found, name, depth)
            }
            ExprKind::Apply(of, elements) => {
                let found = self.find(scope, of, implicit, depth)?;
                let mut types = Vec::new();
                for element in elements {
                    types.push(self.argument(scope, element, implicit, depth)?);
                }
                self.apply(scope, expr, found, elements, types)
            }
            _ => Err(self.fault(scope, expr.at, "expected a name, here is a value")),
        }
    }

    fn member_of(&mut self, scope: NodeId, of: &Expr, found: &Ref, name: &Word, depth: usize) -> Result<Ref, Fault> {
        match found {
            Ref::Missing => Ok(Ref::Missing),
            Ref::Node(node, brand) => match self.member(*node, brand, &name.text, depth)? {
                Some(found) => Ok(found),
                None => {
                    let fault = self.unknown(scope, &name.text, name.at, &[*node]);
                    let told = of.told();
                    Err(Fault { message: format!("no `{}` in `{told}`", name.text), ..fault })
                }
            },
            Ref::Type(_) | Ref::List => {
                Err(self.fault(scope, name.at, format!("no `{}` in `{}`", name.text, of.told())))
            }
        }
    }

    fn argument(&mut self, scope: NodeId, element: &Element, of: Implicit<'_>, depth: usize) -> Result<Type, Fault> {
        if let Some(name) = &element.name {
            return Err(self.fault(scope, name.at, "types are not bound by name"));
        }
        self.inner_type(scope, &element.value, of, depth)
    }

    fn apply(
        &mut self,
        scope: NodeId,
        expr: &Expr,
        found: Ref,
        elements: &[Element],
        types: Vec<Type>,
    ) -> Result<Ref, Fault> {
        match found {
            Ref::Missing => Ok(Ref::Missing),
            Ref::List => self.list(scope, expr, &types),
            Ref::Type(_) => Err(self.fault(scope, expr.at, format!("`{}` takes no types", expr.told()))),
            Ref::Node(node, mut brand) => {
                let expected = self.nodes.parameters(node).len();
                if expected != types.len() {
                    let takes = count(u64::try_from(expected).unwrap_or(0), "type", "types");
                    let message = format!("`{}` takes {takes}, here are {}", expr.told(), types.len());
                    return Err(self.fault(scope, expr.at, message));
                }
                if brand.bound.iter().any(|(of, _)| *of == node) {
                    return Err(self.fault(scope, expr.at, format!("`{}` has its types already", expr.told())));
                }
                for (ty, element) in types.iter().zip(elements) {
                    if !ty.is_pointer() {
                        let message = format!("`{}` is no pointer, and only pointers bind", self.capnp.type_name(*ty));
                        return Err(self.fault(scope, element.value.at, message));
                    }
                }
                brand.bound.push((node, types));
                Ok(Ref::Node(node, brand))
            }
        }
    }

    fn list(&mut self, scope: NodeId, expr: &Expr, types: &[Type]) -> Result<Ref, Fault> {
        let [element] = types else {
            return Err(self.fault(scope, expr.at, format!("`List` takes 1 type, here are {}", types.len())));
        };
        if matches!(element, Type::AnyPointer | Type::AnyStruct | Type::Parameter { .. }) {
            let name = self.capnp.type_name(*element);
            return Err(self.fault(scope, expr.at, format!("a list cannot be of `{name}`: how large is one?")));
        }
        Ok(Ref::Type(self.capnp.list_of(*element)))
    }

    /// A name as it is seen from a scope.
    fn named(&mut self, scope: NodeId, name: &str, at: usize, depth: usize) -> Result<Ref, Fault> {
        let chain: Vec<NodeId> = self.nodes.chain(scope).collect();
        for (skip, around) in chain.iter().enumerate() {
            let brand = Brand { bound: Vec::new(), inherited: chain.iter().skip(skip).copied().collect() };
            if let Some(found) = self.member(*around, &brand, name, depth)? {
                return Ok(found);
            }
            if let Some(index) = self.nodes.parameters(*around).iter().position(|one| one.text == name) {
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                return Ok(Ref::Type(match self.nodes.get(*around).map(|node| node.what) {
                    Some(What::Struct(of)) => Type::Parameter { of, index },
                    _ => Type::AnyPointer,
                }));
            }
        }
        if name == "List" {
            return Ok(Ref::List);
        }
        if let Some(ty) = BUILTIN.into_iter().find(|ty| ty.keyword() == Some(name)) {
            return Ok(Ref::Type(ty));
        }
        Err(self.unknown(scope, name, at, &chain))
    }

    /// What stands in a declaration by this name.
    fn member(&mut self, of: NodeId, brand: &Brand, name: &str, depth: usize) -> Result<Option<Ref>, Fault> {
        let Some(node) = self.nodes.get(of).and_then(|node| node.names.get(name)).copied() else { return Ok(None) };
        let Some((decl, What::Using)) = self.nodes.get(node).map(|node| (node.decl, node.what)) else {
            return Ok(Some(Ref::Node(node, brand.clone())));
        };
        let Some(DeclKind::Using(target)) = decl.map(|decl| &decl.kind) else { return Ok(None) };
        if !self.aliases.contains_key(&node) {
            let found = self.find(of, target, Implicit::default(), depth)?;
            self.aliases.insert(node, found);
        }
        let found = self.aliases.get(&node).cloned();
        Ok(found.map(|found| self.through(of, &found, brand)))
    }

    /// What a name stands for that is declared in a scope, seen from outside with bindings for that scope.
    fn through(&mut self, declared_in: NodeId, found: &Ref, brand: &Brand) -> Ref {
        let mut bindings = Bindings::new();
        for one in self.nodes.chain(declared_in).filter(|one| !brand.inherited.contains(one)) {
            let Some(What::Struct(id)) = self.nodes.get(one).map(|node| node.what) else { continue };
            let bound = brand.bound.iter().find(|(of, _)| *of == one).map(|(_, types)| types);
            for index in 0..self.nodes.parameters(one).len() {
                let from = Type::Parameter { of: id, index: u16::try_from(index).unwrap_or(u16::MAX) };
                bindings.push((from, bound.and_then(|types| types.get(index)).copied().unwrap_or(Type::AnyPointer)));
            }
        }
        if bindings.is_empty() {
            return found.clone();
        }
        match found {
            Ref::Type(ty) => Ref::Type(self.generics.bound(&mut self.capnp, *ty, &bindings)),
            Ref::Node(node, inner) => {
                let mut bound = inner.bound.clone();
                for (_, types) in &mut bound {
                    for ty in types {
                        *ty = self.generics.bound(&mut self.capnp, *ty, &bindings);
                    }
                }
                let outer = brand.bound.iter().filter(|(of, _)| inner.inherited.contains(of)).cloned();
                bound.extend(outer);
                let kept = inner.inherited.iter().filter(|one| brand.inherited.contains(one)).copied();
                Ref::Node(*node, Brand { bound, inherited: kept.collect() })
            }
            other => other.clone(),
        }
    }

    /// The type of the values of an annotation, with what its scope is bound to where it is applied.
    ///
    /// # Errors
    /// The type is not known.
    pub fn annotation_type(&mut self, node: NodeId, brand: &Brand) -> Result<Type, Fault> {
        let Some(DeclKind::Annotation(_, ty)) = self.nodes.get(node).and_then(|node| node.decl).map(|decl| &decl.kind)
        else {
            return Ok(Type::Void);
        };
        let ty = self.ty(node, ty, Implicit::default())?;
        Ok(match self.through(node, &Ref::Type(ty), brand) {
            Ref::Type(bound) => bound,
            _ => ty,
        })
    }

    fn unknown(&self, scope: NodeId, name: &str, at: usize, around: &[NodeId]) -> Fault {
        let fault = self.fault(scope, at, format!("no `{name}` is declared"));
        if name == "Object" {
            return fault.help("it is called AnyPointer");
        }
        let names = around.iter().filter_map(|one| self.nodes.get(*one)).flat_map(|node| node.names.keys().copied());
        let parameters = around.iter().flat_map(|one| self.nodes.parameters(*one)).map(|one| one.text.as_str());
        let builtin = BUILTIN.iter().filter_map(|ty| ty.keyword()).chain(["List"]);
        let near = nearest(name, names.chain(parameters).chain(builtin));
        match near.first() {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault,
        }
    }
}
