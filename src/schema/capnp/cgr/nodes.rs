//! The declarations of a request, numbered in the order in which a reader of the source meets them: those of the
//! requested files first, each with what stands in it; then what was imported, as far as the request has it.

use std::collections::{HashMap, HashSet};

use capnp::schema_capnp::{code_generator_request, field, node};
use capnp::text;

use crate::model::capnp::{
    AnnotationDeclaration, Capnp, Const, Enum, EnumId, File, Interface, InterfaceId, Struct, Type, Value,
};
use crate::model::schema::{MessageId, Place};
use crate::schema::capnp::cgr::Broken;

/// Declarations that stand in one another, and scopes of one.
pub const DEPTH: usize = 200;

/// Declarations of a request, and files; a hundred times the largest known ones.
const MOST: u32 = 1 << 17;

/// What a node is in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A file, by its position.
    File(usize),
    /// A struct or group.
    Struct(MessageId),
    /// An enum.
    Enum(EnumId),
    /// An interface.
    Interface(InterfaceId),
    /// A constant, by its position.
    Const(usize),
    /// An annotation, by its position.
    Annotation(usize),
}

/// All declarations.
#[derive(Default)]
pub struct Nodes<'a> {
    /// The nodes by their ids.
    pub by_id: HashMap<u64, node::Reader<'a>>,
    /// What they are in the model.
    pub what: HashMap<u64, What>,
    /// Their ids, in the order of the model.
    pub order: Vec<u64>,
    /// The model, with names and ids only.
    pub capnp: Capnp,
}

/// Where a declaration stands.
#[derive(Clone, Copy)]
struct Around<'n> {
    name: &'n str,
    file: usize,
    depth: usize,
}

/// Numbers the declarations of a request.
///
/// # Errors
/// Too many of them, or too deep in one another.
pub fn number(request: code_generator_request::Reader<'_>) -> Result<Nodes<'_>, Broken> {
    let mut nodes = Nodes::default();
    let all = request.get_nodes()?;
    if all.len() > MOST {
        return Err(Broken(format!("has {} declarations, more than {MOST}", all.len())));
    }
    for node in all {
        nodes.by_id.entry(node.get_id()).or_insert(node);
    }
    let mut told = HashSet::new();
    for file in request.get_requested_files()? {
        if let Some(node) = nodes.by_id.get(&file.get_id()).copied().filter(|_| told.insert(file.get_id())) {
            nodes.file(node, true)?;
        }
    }
    for node in all {
        if matches!(node.which()?, node::File(())) {
            nodes.file(node, false)?;
        }
    }
    for id in nodes.order.clone() {
        if let (Some(node), Some(What::File(file))) = (nodes.by_id.get(&id).copied(), nodes.what.get(&id).copied()) {
            nodes.inside(node, Around { name: "", file, depth: 0 })?;
        }
    }
    // What stands in something that the request leaves out, then what stands in nothing.
    for parted in [true, false] {
        for node in all {
            if !parted || !nodes.by_id.contains_key(&node.get_scope_id()) {
                nodes.alone(node)?;
            }
        }
    }
    Ok(nodes)
}

/// Text as it is; what is no UTF-8 in it is replaced.
pub fn told(text: text::Reader<'_>) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'a> Nodes<'a> {
    /// A struct or group by its id.
    pub fn record(&self, id: u64) -> Option<MessageId> {
        match self.what.get(&id)? {
            What::Struct(id) => Some(*id),
            _ => None,
        }
    }

    /// A node and what it stands in, from the inside.
    pub fn chain(&self, id: u64) -> impl Iterator<Item = u64> + '_ {
        let around = |id: &u64| self.by_id.get(id).map(|node| node.get_scope_id()).filter(|id| *id != 0);
        std::iter::successors(Some(id), around).take(DEPTH)
    }

    fn add(&mut self, id: u64, what: What) {
        self.what.insert(id, what);
        self.order.push(id);
    }

    fn file(&mut self, node: node::Reader<'a>, is_told: bool) -> Result<(), Broken> {
        let id = node.get_id();
        if !self.what.contains_key(&id) {
            self.add(id, What::File(self.capnp.files.len()));
            let name = told(node.get_display_name()?);
            self.capnp.files.push(File { id, name, told: is_told, annotations: Vec::new() });
        }
        Ok(())
    }

    /// A declaration that nothing names: it takes its name from its display name, `a.capnp:Outer.Inner`.
    fn alone(&mut self, node: node::Reader<'a>) -> Result<(), Broken> {
        if self.what.contains_key(&node.get_id()) {
            return Ok(());
        }
        let shown = told(node.get_display_name()?);
        let (file, name) = shown.rsplit_once(':').unwrap_or(("", &shown));
        let known = self.capnp.files.iter().position(|one| one.name == file);
        let at = known.unwrap_or(self.capnp.files.len());
        if known.is_none() {
            self.capnp.files.push(File { name: file.to_string(), ..File::default() });
        }
        self.one(node, name.to_string(), Around { name: "", file: at, depth: 0 })
    }

    /// What stands in a file, struct or interface.
    fn inside(&mut self, node: node::Reader<'a>, around: Around<'_>) -> Result<(), Broken> {
        for nested in node.get_nested_nodes()? {
            if let Some(node) = self.by_id.get(&nested.get_id()).copied() {
                let short = told(nested.get_name()?);
                let name = if around.name.is_empty() { short } else { format!("{}.{short}", around.name) };
                self.one(node, name, around)?;
            }
        }
        Ok(())
    }

    fn one(&mut self, node: node::Reader<'a>, name: String, around: Around<'_>) -> Result<(), Broken> {
        let id = node.get_id();
        if self.what.contains_key(&id) {
            return Ok(());
        }
        if around.depth > DEPTH {
            return Err(Broken(format!("has declarations more than {DEPTH} deep in one another")));
        }
        let depth = around.depth.saturating_add(1);
        let file = self.capnp.files.get(around.file);
        let is_told = file.is_some_and(|file| file.told);
        let place = Place { file: file.map(|file| file.name.clone()).unwrap_or_default(), ..Place::default() };
        match node.which()? {
            node::File(()) => return Ok(()),
            node::Struct(of) => {
                let mut one = Struct { id, name: name.clone(), told: is_told, place, ..Struct::default() };
                one.file = position(around.file);
                self.record_of(node, of, one)?;
                self.groups(of, Around { name: &name, depth, ..around })?;
            }
            node::Enum(_) => {
                self.add(id, What::Enum(EnumId(position(self.capnp.enums.len()))));
                self.capnp.enums.push(Enum { id, name, told: is_told, place, ..Enum::default() });
                return Ok(());
            }
            node::Interface(of) => {
                self.add(id, What::Interface(InterfaceId(position(self.capnp.interfaces.len()))));
                let one = Interface { id, name: name.clone(), told: is_told, place, ..Interface::default() };
                self.capnp.interfaces.push(one);
                self.methods(of, Around { name: &name, depth, ..around })?;
            }
            node::Const(_) => {
                self.add(id, What::Const(self.capnp.consts.len()));
                let (ty, value) = (Type::Void, Value::Void);
                self.capnp.consts.push(Const { id, name, ty, value, doc: Vec::new(), told: is_told });
                return Ok(());
            }
            node::Annotation(of) => {
                self.add(id, What::Annotation(self.capnp.annotations.len()));
                let (ty, targets, doc) = (Type::Void, targets(of), Vec::new());
                self.capnp.annotations.push(AnnotationDeclaration { id, name, ty, targets, doc, told: is_told });
                return Ok(());
            }
        }
        self.inside(node, Around { name: &name, depth, ..around })
    }

    fn record_of(&mut self, node: node::Reader<'a>, of: node::struct_::Reader<'a>, one: Struct) -> Result<(), Broken> {
        self.add(one.id, What::Struct(MessageId(position(self.capnp.structs.len()))));
        let mut parameters = Vec::new();
        for parameter in node.get_parameters()? {
            parameters.push(told(parameter.get_name()?));
        }
        let members = of.get_discriminant_count();
        self.capnp.structs.push(Struct {
            data_words: of.get_data_word_count(),
            pointers: of.get_pointer_count(),
            is_group: of.get_is_group(),
            tag: (members > 0).then(|| of.get_discriminant_offset()),
            members,
            parameters,
            ..one
        });
        Ok(())
    }

    /// Groups and named unions behind their struct, in the order of the source.
    fn groups(&mut self, of: node::struct_::Reader<'a>, around: Around<'_>) -> Result<(), Broken> {
        let mut groups = Vec::new();
        for field in of.get_fields()? {
            if let field::Group(group) = field.which()? {
                groups.push((field.get_code_order(), field.get_name()?, group.get_type_id()));
            }
        }
        groups.sort_by_key(|(order, ..)| *order);
        for (_, name, id) in groups {
            let node = self.by_id.get(&id).copied();
            if let Some(node) = node.filter(is_group) {
                self.one(node, format!("{}.{}", around.name, told(name)), around)?;
            }
        }
        Ok(())
    }

    /// Structs of parameters and results, in the order of the source.
    fn methods(&mut self, of: node::interface::Reader<'a>, around: Around<'_>) -> Result<(), Broken> {
        let mut methods = Vec::new();
        for method in of.get_methods()? {
            let both = [(method.get_param_struct_type(), "Params"), (method.get_result_struct_type(), "Results")];
            methods.push((method.get_code_order(), method.get_name()?, both));
        }
        methods.sort_by_key(|(order, ..)| *order);
        for (_, name, both) in methods {
            for (id, what) in both {
                // Those that are declared elsewhere stand in something.
                let node = self.by_id.get(&id).copied().filter(|node| node.get_scope_id() == 0);
                let Some(node) = node.filter(|node| matches!(node.which(), Ok(node::Struct(_)))) else { continue };
                self.one(node, format!("{}.{}${what}", around.name, told(name)), around)?;
                let one = self.record(id).and_then(|id| usize::try_from(id.0).ok());
                if let Some(one) = one.and_then(|at| self.capnp.structs.get_mut(at)) {
                    one.of_method = true;
                }
            }
        }
        Ok(())
    }
}

fn is_group(node: &node::Reader<'_>) -> bool {
    matches!(node.which(), Ok(node::Struct(of)) if of.get_is_group())
}

/// What an annotation may stand on.
fn targets(of: node::annotation::Reader<'_>) -> Vec<&'static str> {
    let all = [
        (of.get_targets_file(), "file"),
        (of.get_targets_const(), "const"),
        (of.get_targets_enum(), "enum"),
        (of.get_targets_enumerant(), "enumerant"),
        (of.get_targets_struct(), "struct"),
        (of.get_targets_field(), "field"),
        (of.get_targets_union(), "union"),
        (of.get_targets_group(), "group"),
        (of.get_targets_interface(), "interface"),
        (of.get_targets_method(), "method"),
        (of.get_targets_param(), "param"),
        (of.get_targets_annotation(), "annotation"),
    ];
    all.into_iter().filter(|(is, _)| *is).map(|(_, target)| target).collect()
}
