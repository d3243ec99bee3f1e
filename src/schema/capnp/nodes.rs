//! The declarations of all files, numbered: what can be found by name, and the structs, enums and interfaces
//! that stand for them in the model, still without types.

use std::collections::HashMap;

use crate::model::capnp::{
    AnnotationDeclaration, Capnp, Const, Enum, EnumId, File, Interface, InterfaceId, Struct, Type, Value,
};
use crate::model::schema::{Finding, MessageId};
use crate::schema::capnp::ast::{Decl, DeclKind, Params, Word};
use crate::schema::capnp::files::{Files, Loaded};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::parse::TARGETS;
use crate::schema::capnp::{check, ids};

/// Position in [`Nodes::all`].
pub type NodeId = usize;

/// Something that can be found by name.
#[derive(Debug)]
pub struct Node<'a> {
    /// Its declaration; none of a file.
    pub decl: Option<&'a Decl>,
    /// Position of its file.
    pub file: usize,
    /// What it stands in; none of a file.
    pub parent: Option<NodeId>,
    /// Its id.
    pub id: u64,
    /// Name within the file.
    pub name: String,
    /// What stands in it, by name.
    pub names: HashMap<&'a str, NodeId>,
    /// What it is.
    pub what: What,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A file.
    File,
    /// A struct.
    Struct(MessageId),
    /// An enum.
    Enum(EnumId),
    /// An interface.
    Interface(InterfaceId),
    /// A constant, by its position.
    Const(usize),
    /// An annotation, by its position.
    Annotation(usize),
    /// Another name for something.
    Using,
}

/// All declarations.
#[derive(Debug, Default)]
pub struct Nodes<'a> {
    /// Files first, in their order.
    pub all: Vec<Node<'a>>,
    /// Structs of the parameters and results of each method, by interface and position in its block.
    pub methods: HashMap<(NodeId, usize), (Option<MessageId>, Option<MessageId>)>,
    /// The model, with names and ids only.
    pub capnp: Capnp,
    /// What is odd.
    pub findings: Vec<Finding>,
}

/// Numbers the declarations of all files.
///
/// # Errors
/// A name that is declared twice, or stands where it cannot.
pub fn number<'a>(files: &'a Files) -> Result<Nodes<'a>, Fault> {
    let mut nodes = Nodes::default();
    for (file, loaded) in files.all.iter().enumerate() {
        let id = loaded.file.id.map_or_else(|| ids::child(0, loaded.last_name()), |(id, _)| id);
        if loaded.file.id.is_none() {
            nodes.findings.push(Finding {
                code: "file-id-missing",
                place: loaded.place(0),
                message: "the file has no id: one is made of its name".into(),
                help: format!("a line `@0x{id:016x};` keeps the ids as they are"),
            });
        }
        let name = loaded.shown.clone();
        nodes.capnp.files.push(File { id, name: name.clone(), told: loaded.told, annotations: Vec::new() });
        let names = HashMap::new();
        nodes.all.push(Node { decl: None, file, parent: None, id, name, names, what: What::File });
    }
    for (file, loaded) in files.all.iter().enumerate() {
        check::names(&loaded.file.decls, check::Around::File).map_err(|fault| fault.of(file))?;
        nodes.inside(file, &loaded.file.decls, files);
    }
    nodes.same_ids(files)?;
    Ok(nodes)
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'a> Nodes<'a> {
    /// Ids that two declarations have: copies of a file that both are imported are no harm.
    fn same_ids(&mut self, files: &Files) -> Result<(), Fault> {
        let mut known: HashMap<u64, &Node<'_>> = HashMap::new();
        for node in self.all.iter().filter(|node| node.what != What::Using) {
            let Some(other) = known.insert(node.id, node) else { continue };
            let number = node.decl.and_then(|decl| decl.id).map(|(_, at)| at);
            let at = number.or(node.decl.map(|decl| decl.name.at)).unwrap_or(0);
            let message = format!("`{}` has the id of `{}`, 0x{:016x}", node.name, other.name, node.id);
            if node.file == other.file {
                return Err(Fault::new(at, message).help("`capnp id` makes another").of(node.file));
            }
            if let Some(loaded) = files.all.get(node.file).filter(|_| node.parent.is_none()) {
                let place = loaded.place(loaded.file.id.map_or(0, |(_, at)| at));
                let help = "is it a copy of the same file?".to_string();
                self.findings.push(Finding { code: "id-twice", place, message, help });
            }
        }
        Ok(())
    }

    /// A node; none only for a number that is not of this schema.
    pub fn get(&self, id: NodeId) -> Option<&Node<'a>> {
        self.all.get(id)
    }

    /// A node and what it stands in, from the inside.
    pub fn chain(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |at| self.all.get(*at)?.parent)
    }

    /// Type parameters of a node.
    pub fn parameters(&self, id: NodeId) -> &'a [Word] {
        self.all.get(id).and_then(|node| node.decl).map_or(&[], |decl| &decl.parameters)
    }

    fn inside(&mut self, parent: NodeId, decls: &'a [Decl], files: &'a Files) {
        for decl in decls {
            let what = match &decl.kind {
                DeclKind::Struct => What::Struct(MessageId(position(self.capnp.structs.len()))),
                DeclKind::Enum => What::Enum(EnumId(position(self.capnp.enums.len()))),
                DeclKind::Interface(_) => What::Interface(InterfaceId(position(self.capnp.interfaces.len()))),
                DeclKind::Const(..) => What::Const(self.capnp.consts.len()),
                DeclKind::Annotation(..) => What::Annotation(self.capnp.annotations.len()),
                DeclKind::Using(_) => What::Using,
                _ => continue,
            };
            self.one(parent, decl, what, files);
        }
    }

    fn one(&mut self, parent: NodeId, decl: &'a Decl, what: What, files: &'a Files) {
        let Some((file, around, outer)) = self.get(parent).map(|node| (node.file, node.id, node)) else { return };
        let text = decl.name.text.as_str();
        let name = if outer.parent.is_none() { text.to_string() } else { format!("{}.{text}", outer.name) };
        let id = decl.id.map_or_else(|| ids::child(around, text), |(id, _)| id);
        let node = self.all.len();
        let names = HashMap::new();
        self.all.push(Node { decl: Some(decl), file, parent: Some(parent), id, name: name.clone(), names, what });
        if let Some(outer) = self.all.get_mut(parent) {
            outer.names.insert(text, node);
        }
        self.model(node, decl, what, (id, name), files);
        self.inside(node, &decl.inner, files);
    }

    /// What stands for a declaration in the model.
    fn model(&mut self, node: NodeId, decl: &'a Decl, what: What, called: (u64, String), files: &'a Files) {
        let file = self.get(node).map_or(0, |node| node.file);
        let Some(loaded) = files.all.get(file) else { return };
        let (told, doc, place) = (loaded.told, decl.doc.clone(), loaded.place(decl.name.at));
        let (id, name) = called;
        match what {
            What::Struct(_) => {
                let parameters = decl.parameters.iter().map(|one| one.text.clone()).collect();
                let file = position(file);
                let one = Struct { id, name, parameters, doc, told, file, place, ..Struct::default() };
                self.capnp.structs.push(one.clone());
                self.groups(&one, &decl.inner, loaded);
            }
            What::Enum(_) => {
                self.capnp.enums.push(Enum { id, name, doc, told, place, ..Enum::default() });
            }
            What::Interface(_) => {
                self.capnp.interfaces.push(Interface {
                    id,
                    name: name.clone(),
                    doc,
                    told,
                    place,
                    ..Interface::default()
                });
                self.method_structs(node, decl, (id, &name), loaded);
            }
            What::Const(_) => {
                self.capnp.consts.push(Const { id, name, ty: Type::Void, value: Value::Void, doc, told });
            }
            What::Annotation(_) => {
                let targets = targets(decl);
                self.capnp.annotations.push(AnnotationDeclaration { id, name, ty: Type::Void, targets, doc, told });
            }
            What::Using | What::File => {}
        }
    }

    /// Groups and named unions behind their struct, in the order of the source.
    fn groups(&mut self, around: &Struct, decls: &'a [Decl], loaded: &Loaded) {
        for decl in decls.iter().filter(|decl| matches!(decl.kind, DeclKind::Union | DeclKind::Group)) {
            if decl.name.text.is_empty() {
                self.groups(around, &decl.inner, loaded);
                continue;
            }
            let one = Struct {
                name: format!("{}.{}", around.name, decl.name.text),
                is_group: true,
                doc: decl.doc.clone(),
                told: around.told,
                of_method: around.of_method,
                file: around.file,
                place: loaded.place(decl.name.at),
                ..Struct::default()
            };
            self.capnp.structs.push(one.clone());
            self.groups(&one, &decl.inner, loaded);
        }
    }

    fn method_structs(&mut self, node: NodeId, decl: &'a Decl, interface: (u64, &str), loaded: &Loaded) {
        let (id, name) = interface;
        let file = self.get(node).map_or(0, |node| position(node.file));
        for (at, method) in decl.inner.iter().enumerate() {
            let DeclKind::Method { takes, gives } = &method.kind else { continue };
            let ordinal = method.ordinal.and_then(|(ordinal, _)| u16::try_from(ordinal).ok()).unwrap_or(u16::MAX);
            let mut one = |params: &Params, results: bool| {
                let Params::Listed(_) = params else { return None };
                let what = if results { "Results" } else { "Params" };
                self.capnp.structs.push(Struct {
                    id: ids::method(id, ordinal, results),
                    name: format!("{name}.{}${what}", method.name.text),
                    parameters: method.parameters.iter().map(|one| one.text.clone()).collect(),
                    of_method: true,
                    told: loaded.told,
                    file,
                    place: loaded.place(method.name.at),
                    ..Struct::default()
                });
                Some(MessageId(position(self.capnp.structs.len().saturating_sub(1))))
            };
            let both = (one(takes, false), one(gives, true));
            self.methods.insert((node, at), both);
        }
    }
}

/// What an annotation may stand on.
fn targets(decl: &Decl) -> Vec<&'static str> {
    let DeclKind::Annotation(targets, _) = &decl.kind else { return Vec::new() };
    let is_one = |target: &&&'static str| targets.iter().any(|one| one.text == "*" || one.text == **target);
    TARGETS.iter().filter(is_one).copied().collect()
}
