//! Interfaces: what they extend, and their methods.

use crate::model::capnp::{InterfaceId, Method, Type};
use crate::model::schema::MessageId;
use crate::schema::capnp::annotations::Owner;
use crate::schema::capnp::ast::{Decl, DeclKind, Expr, Params};
use crate::schema::capnp::bundle;
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::link::Linker;
use crate::schema::capnp::nodes::{NodeId, What};
use crate::schema::capnp::types::Implicit;

impl<'a> Linker<'a> {
    /// What an interface extends, and its methods.
    ///
    /// # Errors
    /// A name that is not known, or an ordinal that is wrong.
    pub fn interface(
        &mut self,
        node: NodeId,
        decl: &'a Decl,
        id: InterfaceId,
        extends: &'a [Expr],
    ) -> Result<(), Fault> {
        let one = usize::try_from(id.0).unwrap_or(usize::MAX);
        self.annotate(node, &decl.annotations, "interface", Owner::Interface(one))?;
        for expr in extends {
            let Type::Interface(other) = self.ty(node, expr, Implicit::default())? else {
                return Err(self.fault(node, expr.at, format!("`{}` is no interface", expr.told())));
            };
            if let Some(made) = self.capnp.interfaces.get_mut(one) {
                made.extends.push(other);
            }
        }
        let methods = decl.inner.iter().enumerate().filter(|(_, one)| matches!(one.kind, DeclKind::Method { .. }));
        let mut sorted: Vec<(u16, usize, &'a Decl)> = methods
            .enumerate()
            .map(|(order, (at, method))| (u16::try_from(order).unwrap_or(u16::MAX), at, method))
            .collect();
        sorted.sort_by_key(|(_, _, method)| method.ordinal.map(|(ordinal, _)| ordinal));
        self.in_order(node, sorted.iter().filter_map(|(_, _, method)| method.ordinal))?;
        for (number, (order, at, method)) in sorted.into_iter().enumerate() {
            self.method(node, (one, number), method, (order, at))?;
        }
        Ok(())
    }

    fn method(&mut self, node: NodeId, of: (usize, usize), decl: &'a Decl, at: (u16, usize)) -> Result<(), Fault> {
        let DeclKind::Method { takes, gives } = &decl.kind else { return Ok(()) };
        let (order, place) = at;
        let (takes_id, gives_id) = self.nodes.methods.get(&(node, place)).copied().unwrap_or_default();
        let parameters = self.side(node, decl, takes, takes_id)?;
        let results = self.side(node, decl, gives, gives_id)?;
        let method = Method {
            name: decl.name.text.clone(),
            order,
            parameters,
            results,
            streaming: matches!(gives, Params::Stream(_)),
            annotations: Vec::new(),
            doc: decl.doc.clone(),
        };
        let (one, number) = of;
        if let Some(made) = self.capnp.interfaces.get_mut(one) {
            made.methods.push(method);
        }
        self.annotate(node, &decl.annotations, "method", Owner::Method(one, number))
    }

    /// The struct of the parameters or results of a method.
    fn side(
        &mut self,
        node: NodeId,
        decl: &'a Decl,
        params: &'a Params,
        listed: Option<MessageId>,
    ) -> Result<MessageId, Fault> {
        match (params, listed) {
            (Params::Listed(params), id) => {
                let id = id.unwrap_or(MessageId(u32::MAX));
                let implicit = Implicit { names: &decl.parameters, of: Some(id) };
                self.params(node, &decl.name, id, params, implicit)?;
                Ok(id)
            }
            (Params::Struct(expr), _) => {
                let implicit = Implicit { names: &decl.parameters, of: None };
                match self.ty(node, expr, implicit)? {
                    Type::Struct(id) => Ok(id),
                    _ => Err(self
                        .fault(node, expr.at, format!("`{}` is no struct", expr.told()))
                        .help("parameters stand in brackets, `(name :Text)`, or are a struct")),
                }
            }
            (Params::Stream(at), _) => self.stream(node, *at),
        }
    }

    fn stream(&self, node: NodeId, at: usize) -> Result<MessageId, Fault> {
        let loaded = self.files.all.get(self.file_of(node));
        let file = loaded.and_then(|loaded| loaded.imports.get(bundle::STREAM));
        let found = file.and_then(|file| self.nodes.get(*file)).and_then(|file| file.names.get("StreamResult"));
        match found.and_then(|found| self.nodes.get(*found)).map(|found| found.what) {
            Some(What::Struct(id)) => Ok(id),
            _ => Err(self.fault(node, at, format!("no StreamResult in {}", bundle::STREAM))),
        }
    }
}
