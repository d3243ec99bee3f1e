//! Declarations of all files as one [`Capnp`]: names resolved, structs laid out, generic ones written out, values
//! of constants, defaults and annotations.
//!
//! Types come first, then layout, then the structs that uses of generic ones are; values last, as they are read
//! by the fields of structs.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::model::capnp::{Capnp, Enumerant, Field, FieldKind, Value};
use crate::model::num::count;
use crate::model::schema::{Finding, SchemaError};
use crate::schema::Request;
use crate::schema::capnp::annotations::{Owner, Pending};
use crate::schema::capnp::ast::{Decl, DeclKind, Expr, Number};
use crate::schema::capnp::files::{self, Files};
use crate::schema::capnp::generics::{self, Generics};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::nodes::{self, NodeId, Nodes, What};
use crate::schema::capnp::types::{Implicit, Ref};
use crate::schema::capnp::values::Constants;

/// A schema while it is put together.
pub struct Linker<'a> {
    /// The files.
    pub files: &'a Files,
    /// What can be found by name.
    pub nodes: Nodes<'a>,
    /// The model.
    pub capnp: Capnp,
    /// Uses of generic structs.
    pub generics: Generics,
    /// What names stand for that were asked for.
    pub aliases: HashMap<NodeId, Ref>,
    /// Values that are read when all types are there.
    pub pending: Vec<Pending<'a>>,
    /// Values of constants.
    pub constants: Constants<'a>,
    /// What is odd.
    pub findings: Vec<Finding>,
}

/// Reads `.capnp` files and all that they import.
///
/// # Errors
/// A file cannot be read, is no schema, or contradicts itself or another one.
pub fn load(files: &[PathBuf], include: &[PathBuf]) -> Result<(Capnp, Vec<Finding>), SchemaError> {
    let request = Request { files: files.to_vec(), include: include.to_vec() };
    let files = files::load(&request)?;
    let linked = linked(&files);
    linked.map_err(|fault| match files.all.get(fault.file) {
        Some(loaded) => loaded.error(fault),
        None => SchemaError { place: Default::default(), message: fault.message, help: fault.help },
    })
}

fn linked(files: &Files) -> Result<(Capnp, Vec<Finding>), Fault> {
    let mut nodes = nodes::number(files)?;
    let (capnp, mut findings) = (std::mem::take(&mut nodes.capnp), files.missing.clone());
    findings.append(&mut nodes.findings);
    let mut linker = Linker {
        files,
        generics: Generics::new(capnp.structs.len()),
        nodes,
        capnp,
        aliases: HashMap::new(),
        pending: Vec::new(),
        constants: Constants::default(),
        findings,
    };
    generics::mark_open(&mut linker.capnp);
    for node in 0..linker.nodes.all.len() {
        linker.node(node)?;
    }
    let generics = std::mem::take(&mut linker.generics);
    generics.write_out(&mut linker.capnp);
    linker.values()?;
    copy_values(&mut linker.capnp);
    Ok((linker.capnp, linker.findings))
}

impl<'a> Linker<'a> {
    /// A fault in the file of a node.
    pub fn fault(&self, node: NodeId, at: usize, message: impl Into<String>) -> Fault {
        Fault::new(at, message).of(self.file_of(node))
    }

    /// The file of a node.
    pub fn file_of(&self, node: NodeId) -> usize {
        self.nodes.get(node).map_or(0, |node| node.file)
    }

    fn node(&mut self, at: NodeId) -> Result<(), Fault> {
        let Some(node) = self.nodes.get(at) else { return Ok(()) };
        let Some(decl) = node.decl else {
            let annotations = self.files.all.get(node.file).map_or(&[][..], |loaded| &loaded.file.annotations);
            let file = node.file;
            return self.annotate(at, annotations, "file", Owner::File(file));
        };
        match (node.what, &decl.kind) {
            (What::Struct(id), _) => self.structure(at, decl, id),
            (What::Enum(id), _) => self.enumeration(at, decl, usize::try_from(id.0).unwrap_or(usize::MAX)),
            (What::Interface(id), DeclKind::Interface(extends)) => self.interface(at, decl, id, extends),
            (What::Const(one), DeclKind::Const(ty, value)) => self.constant(at, decl, one, (ty, value)),
            (What::Annotation(one), DeclKind::Annotation(_, ty)) => {
                let ty = self.ty(at, ty, Implicit::default())?;
                if let Some(declared) = self.capnp.annotations.get_mut(one) {
                    declared.ty = ty;
                }
                self.annotate(at, &decl.annotations, "annotation", Owner::Nothing)
            }
            (What::Using, DeclKind::Using(_)) => self.using(at, decl),
            _ => Ok(()),
        }
    }

    /// Looks up what a name stands for even if nothing uses it.
    fn using(&mut self, at: NodeId, decl: &'a Decl) -> Result<(), Fault> {
        let parent = self.nodes.get(at).and_then(|node| node.parent).unwrap_or(at);
        let DeclKind::Using(target) = &decl.kind else { return Ok(()) };
        if !self.aliases.contains_key(&at) {
            let found = self.find(parent, target, Implicit::default(), 0)?;
            self.aliases.insert(at, found);
        }
        Ok(())
    }

    fn constant(&mut self, at: NodeId, decl: &'a Decl, one: usize, of: (&'a Expr, &'a Expr)) -> Result<(), Fault> {
        let (ty, value) = of;
        let ty = self.ty(at, ty, Implicit::default())?;
        if let Some(declared) = self.capnp.consts.get_mut(one) {
            declared.ty = ty;
        }
        self.constants.add(one, at, value);
        self.pending.push(Pending::Const(one));
        self.annotate(at, &decl.annotations, "const", Owner::Nothing)
    }

    fn enumeration(&mut self, at: NodeId, decl: &'a Decl, one: usize) -> Result<(), Fault> {
        self.annotate(at, &decl.annotations, "enum", Owner::Enum(one))?;
        let mut sorted: Vec<(Number, u16, &'a Decl)> = numbered(&decl.inner).collect();
        sorted.sort_by_key(|((ordinal, _), ..)| *ordinal);
        self.in_order(at, sorted.iter().map(|(number, ..)| *number))?;
        for (number, (_, order, value)) in sorted.into_iter().enumerate() {
            let name = value.name.text.clone();
            let made = Enumerant { name, order, annotations: Vec::new(), doc: value.doc.clone() };
            if let Some(declared) = self.capnp.enums.get_mut(one) {
                declared.enumerants.push(made);
            }
            self.annotate(at, &value.annotations, "enumerant", Owner::Enumerant(one, number))?;
        }
        Ok(())
    }

    /// Checks that sorted ordinals begin at 0, and that none is there twice or left out.
    pub fn in_order(&self, node: NodeId, sorted: impl Iterator<Item = Number>) -> Result<(), Fault> {
        let (mut next, mut last) = (0u64, 0usize);
        for (ordinal, at) in sorted {
            if ordinal < next {
                let (first, second) = (last.min(at), last.max(at));
                let there = self.files.all.get(self.file_of(node)).map(|loaded| loaded.place(first).to_string());
                return Err(self
                    .fault(node, second, format!("the ordinal @{ordinal} is used twice"))
                    .help(format!("the first is at {}", there.unwrap_or_default())));
            }
            if ordinal > next {
                let left_out = count(ordinal.saturating_sub(next), "ordinal is", "ordinals are");
                return Err(self
                    .fault(node, at, format!("expected @{next}, here is @{ordinal}: {left_out} left out"))
                    .help("ordinals go from 0 without gaps"));
            }
            (next, last) = (next.saturating_add(1), at);
        }
        Ok(())
    }
}

/// Defaults and annotations of generic structs, on what is written out of them.
pub fn copy_values(capnp: &mut Capnp) {
    let all = &mut capnp.structs;
    for at in 0..all.len() {
        let of = all.get(at).and_then(|one| one.instance_of).and_then(|of| usize::try_from(of.0).ok());
        let Some(of) = of.and_then(|of| all.get(of)) else { continue };
        let (annotations, fields) = (of.annotations.clone(), of.fields.clone());
        if let Some(one) = all.get_mut(at) {
            one.annotations = annotations;
            one.fields.iter_mut().zip(&fields).for_each(|(field, from)| copy_value(field, from));
        }
    }
}

fn copy_value(field: &mut Field, from: &Field) {
    field.annotations.clone_from(&from.annotations);
    if let (FieldKind::Slot(slot), FieldKind::Slot(from)) = (&mut field.kind, &from.kind)
        && from.default != Value::Null
    {
        slot.default.clone_from(&from.default);
    }
}

/// Declarations with an ordinal, and their places in the source.
pub fn numbered(decls: &[Decl]) -> impl Iterator<Item = (Number, u16, &Decl)> {
    let with = decls.iter().filter_map(|decl| Some((decl.ordinal?, decl)));
    with.enumerate().map(|(order, (number, decl))| (number, u16::try_from(order).unwrap_or(u16::MAX), decl))
}
