//! Fields of structs: their order, their types and their places.

use std::collections::HashSet;

use crate::model::capnp::{Field, FieldKind, Slot, Type, Value};
use crate::model::schema::{Finding, MessageId};
use crate::schema::capnp::annotations::{Owner, Pending};
use crate::schema::capnp::ast::{Applied, Decl, DeclKind, Expr, Number, Param, Word};
use crate::schema::capnp::ids;
use crate::schema::capnp::layout::{Layout, ScopeId, UnionId};
use crate::schema::capnp::lexer::Fault;
use crate::schema::capnp::link::Linker;
use crate::schema::capnp::nodes::NodeId;
use crate::schema::capnp::types::Implicit;

/// A field, group or union while its struct is laid out; the first is the struct itself.
struct Member<'a> {
    parent: usize,
    /// Where it stands.
    scope: ScopeId,
    /// The union that it is, or that is in it without a name.
    union: Option<UnionId>,
    in_union: bool,
    name: &'a Word,
    ordinal: Option<Number>,
    order: u16,
    what: Is<'a>,
    annotations: &'a [Applied],
    doc: &'a [String],
    /// Position among the fields of what it stands in, when its turn came.
    position: Option<usize>,
    /// Members of its union whose turn came.
    tags: u16,
}

#[derive(Clone, Copy)]
enum Is<'a> {
    /// Type, default, and whether it is a parameter of a method.
    Field(&'a Expr, Option<&'a Expr>, bool),
    /// Its number, and whether it is a named union.
    Group(MessageId, bool),
}

/// A struct while it is laid out.
struct Draft<'a> {
    node: NodeId,
    /// The next group's number.
    next: u32,
    layout: Layout,
    members: Vec<Member<'a>>,
    /// What has an ordinal.
    sorted: Vec<(u64, usize)>,
}

impl<'a> Linker<'a> {
    /// Fields of a struct.
    ///
    /// # Errors
    /// A field that contradicts another one, or whose type is not known.
    pub fn structure(&mut self, node: NodeId, decl: &'a Decl, id: MessageId) -> Result<(), Fault> {
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        self.annotate(node, &decl.annotations, "struct", Owner::Struct(at))?;
        let mut draft = Draft::new(node, id, &decl.name);
        draft.members(&decl.inner, 0, Layout::TOP).map_err(|fault| fault.of(self.file_of(node)))?;
        self.lay_out(draft, Implicit::default())
    }

    /// Fields of the parameters or results of a method.
    ///
    /// # Errors
    /// As for [`Linker::structure`].
    pub fn params(
        &mut self,
        node: NodeId,
        name: &'a Word,
        id: MessageId,
        params: &'a [Param],
        implicit: Implicit<'_>,
    ) -> Result<(), Fault> {
        let mut draft = Draft::new(node, id, name);
        let mut known = HashSet::new();
        for (order, param) in params.iter().enumerate() {
            if !known.insert(param.name.text.as_str()) {
                return Err(self.fault(node, param.name.at, format!("`{}` is declared twice", param.name.text)));
            }
            draft.param(param, u16::try_from(order).unwrap_or(u16::MAX));
        }
        self.lay_out(draft, implicit)
    }

    fn lay_out(&mut self, mut draft: Draft<'a>, implicit: Implicit<'_>) -> Result<(), Fault> {
        let node = draft.node;
        draft.sorted.sort_by_key(|(ordinal, _)| *ordinal);
        let numbers = draft.sorted.iter().filter_map(|(_, at)| draft.members.get(*at)?.ordinal);
        self.in_order(node, numbers)?;
        for (_, at) in std::mem::take(&mut draft.sorted) {
            self.place(&mut draft, at);
            let Some(member) = draft.members.get(at) else { continue };
            match member.what {
                Is::Field(ty, default, _) => {
                    let slot = self.slot(&mut draft, at, (ty, default), implicit)?;
                    self.set_kind(&draft, at, FieldKind::Slot(slot));
                }
                Is::Group(..) => {
                    let added = member.union.is_none_or(|union| draft.layout.add_tag(union));
                    if !added {
                        let place = member.ordinal.map_or(member.name.at, |(_, at)| at);
                        return Err(self
                            .fault(node, place, "the ordinal of a union is above those of several of its members")
                            .help("one member at most may be older than the union"));
                    }
                }
            }
        }
        self.finish(&mut draft)
    }

    /// Gives a member its position among the fields around it, and those around it theirs.
    fn place(&mut self, draft: &mut Draft<'a>, at: usize) {
        let Some(member) = draft.members.get(at) else { return };
        if at == 0 || member.position.is_some() {
            return;
        }
        let parent = member.parent;
        self.place(draft, parent);
        let Some(of) = draft.group(parent) else { return };
        let Some(member) = draft.members.get(at) else { return };
        let field = Field {
            name: member.name.text.clone(),
            ordinal: member.ordinal.and_then(|(ordinal, _)| u16::try_from(ordinal).ok()),
            order: member.order,
            tag: None,
            kind: match member.what {
                Is::Group(id, _) => FieldKind::Group(id),
                Is::Field(..) => {
                    FieldKind::Slot(Slot { ty: Type::Void, offset: 0, default: Value::Void, explicit: false })
                }
            },
            annotations: Vec::new(),
            doc: member.doc.to_vec(),
            place: self
                .files
                .all
                .get(self.file_of(draft.node))
                .map(|file| file.place(member.name.at))
                .unwrap_or_default(),
        };
        let in_union = member.in_union;
        let fields = self.capnp.structs.get_mut(of).map(|one| &mut one.fields);
        let position = fields.map(|fields| {
            fields.push(field);
            fields.len().saturating_sub(1)
        });
        let tag = draft.members.get_mut(parent).filter(|_| in_union).map(|parent| {
            parent.tags = parent.tags.saturating_add(1);
            parent.tags.saturating_sub(1)
        });
        if let Some(member) = draft.members.get_mut(at) {
            member.position = position;
        }
        if let Some(field) = self.field(draft, at) {
            field.tag = tag;
        }
    }

    fn field(&mut self, draft: &Draft<'a>, at: usize) -> Option<&mut Field> {
        let member = draft.members.get(at)?;
        self.capnp.structs.get_mut(draft.group(member.parent)?)?.fields.get_mut(member.position?)
    }

    fn set_kind(&mut self, draft: &Draft<'a>, at: usize, kind: FieldKind) {
        if let Some(field) = self.field(draft, at) {
            field.kind = kind;
        }
    }

    fn slot(
        &mut self,
        draft: &mut Draft<'a>,
        at: usize,
        of: (&'a Expr, Option<&'a Expr>),
        implicit: Implicit<'_>,
    ) -> Result<Slot, Fault> {
        let (ty, default) = of;
        let ty = self.ty(draft.node, ty, implicit)?;
        let scope = draft.members.get(at).map_or(Layout::TOP, |member| member.scope);
        let offset = match ty.bits() {
            None => draft.layout.add_pointer(scope),
            Some(0) => {
                draft.layout.add_void(scope);
                0
            }
            Some(bits) => draft.layout.add_data(scope, usize::try_from(bits.trailing_zeros()).unwrap_or(0)),
        };
        if let Some(value) = default {
            let member = draft.members.get(at);
            let (of, position) = (member.and_then(|one| draft.group(one.parent)), member.and_then(|one| one.position));
            if let (Some(of), Some(position)) = (of, position) {
                self.pending.push(Pending::Default { of, position, value, scope: draft.node });
            }
        }
        Ok(Slot { ty, offset, default: Value::zero(ty), explicit: default.is_some() })
    }

    /// Tags, ids and sizes, when all fields have their places.
    fn finish(&mut self, draft: &mut Draft<'a>) -> Result<(), Fault> {
        let node = draft.node;
        for at in 0..draft.members.len() {
            self.place(draft, at);
            self.finish_group(draft, at);
            self.annotate_member(draft, at)?;
        }
        let (words, pointers) = (u16::try_from(draft.layout.words), u16::try_from(draft.layout.pointers));
        let (Ok(words), Ok(pointers)) = (words, pointers) else {
            let at = draft.members.first().map_or(0, |member| member.name.at);
            return Err(self.fault(node, at, "a section of the struct has more than 65535 words"));
        };
        for at in 0..draft.members.len() {
            let one = draft.group(at).and_then(|at| self.capnp.structs.get_mut(at));
            if let Some(one) = one {
                (one.data_words, one.pointers) = (words, pointers);
            }
        }
        if draft.layout.refused {
            self.warn_of_overlap(draft);
        }
        Ok(())
    }

    fn finish_group(&mut self, draft: &mut Draft<'a>, at: usize) {
        let Some(of) = draft.group(at) else { return };
        let Some(member) = draft.members.get(at) else { return };
        let (members, parent, position) = (member.tags, member.parent, member.position);
        let tag = member.union.and_then(|union| {
            draft.layout.add_tag(union);
            draft.layout.tag(union)
        });
        let around = draft.group(parent).and_then(|at| self.capnp.structs.get(at)).map_or(0, |one| one.id);
        let Some(one) = self.capnp.structs.get_mut(of) else { return };
        (one.tag, one.members) = (tag, if tag.is_some() { members } else { 0 });
        if at != 0 {
            let position = position.and_then(|position| u16::try_from(position).ok()).unwrap_or(u16::MAX);
            one.id = ids::group(around, position);
        }
    }

    fn annotate_member(&mut self, draft: &Draft<'a>, at: usize) -> Result<(), Fault> {
        let Some(member) = draft.members.get(at).filter(|_| at != 0) else { return Ok(()) };
        let (Some(of), Some(position)) = (draft.group(member.parent), member.position) else { return Ok(()) };
        let target = match member.what {
            Is::Field(_, _, true) => "param",
            Is::Field(..) => "field",
            Is::Group(_, true) => "union",
            Is::Group(_, false) => "group",
        };
        self.annotate(draft.node, member.annotations, target, Owner::Field(of, position))
    }

    fn warn_of_overlap(&mut self, draft: &Draft<'a>) {
        let Some(loaded) = self.files.all.get(self.file_of(draft.node)) else { return };
        let Some(name) = draft.members.first().map(|member| member.name) else { return };
        self.findings.push(Finding {
            code: "layout-issue-344",
            place: loaded.place(name.at),
            message: format!("the compiler refuses `{}`: old ones let fields of its unions overlap", name.text),
            help: "fields are placed as with CAPNP_IGNORE_ISSUE_344=1".into(),
        });
    }
}

impl<'a> Draft<'a> {
    fn new(node: NodeId, id: MessageId, name: &'a Word) -> Draft<'a> {
        let root = Member {
            parent: 0,
            scope: Layout::TOP,
            union: None,
            in_union: false,
            name,
            ordinal: None,
            order: 0,
            what: Is::Group(id, false),
            annotations: &[],
            doc: &[],
            position: None,
            tags: 0,
        };
        let next = id.0.saturating_add(1);
        Draft { node, next, layout: Layout::default(), members: vec![root], sorted: Vec::new() }
    }

    /// Position of the struct that a member is.
    fn group(&self, at: usize) -> Option<usize> {
        match self.members.get(at)?.what {
            Is::Group(id, _) => usize::try_from(id.0).ok(),
            Is::Field(..) => None,
        }
    }

    fn param(&mut self, param: &'a Param, order: u16) {
        self.sorted.push((u64::from(order), self.members.len()));
        self.members.push(Member {
            parent: 0,
            scope: Layout::TOP,
            union: None,
            in_union: false,
            name: &param.name,
            ordinal: Some((u64::from(order), param.name.at)),
            order,
            what: Is::Field(&param.ty, param.default.as_ref(), true),
            annotations: &param.annotations,
            doc: &[],
            position: None,
            tags: 0,
        });
    }

    /// Adds a field, group or named union; gives its position.
    fn add(&mut self, decl: &'a Decl, parent: usize, scope: ScopeId, order: &mut u16, in_union: bool) -> usize {
        let what = match &decl.kind {
            DeclKind::Field(ty, default) => Is::Field(ty, default.as_ref(), false),
            kind => {
                let id = MessageId(self.next);
                self.next = self.next.saturating_add(1);
                Is::Group(id, matches!(kind, DeclKind::Union))
            }
        };
        let at = self.members.len();
        if let Some((ordinal, _)) = decl.ordinal {
            self.sorted.push((ordinal, at));
        }
        self.members.push(Member {
            parent,
            scope,
            union: None,
            in_union,
            name: &decl.name,
            ordinal: decl.ordinal,
            order: *order,
            what,
            annotations: &decl.annotations,
            doc: &decl.doc,
            position: None,
            tags: 0,
        });
        *order = order.saturating_add(1);
        at
    }

    /// Members of a struct or group, and of a union that has no name in it.
    fn members(&mut self, decls: &'a [Decl], parent: usize, scope: ScopeId) -> Result<(), Fault> {
        let mut order = 0;
        for decl in decls {
            match &decl.kind {
                DeclKind::Field(..) => _ = self.add(decl, parent, scope, &mut order, false),
                DeclKind::Group => {
                    let at = self.add(decl, parent, scope, &mut order, false);
                    self.group_members(decl, at, scope)?;
                }
                DeclKind::Union if decl.name.text.is_empty() => {
                    let union = self.layout.union(scope);
                    self.set_union(parent, union);
                    self.union_members(decl, parent, union, &mut order)?;
                }
                DeclKind::Union => {
                    let at = self.add(decl, parent, scope, &mut order, false);
                    let union = self.layout.union(scope);
                    self.set_union(at, union);
                    self.union_members(decl, at, union, &mut 0)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn group_members(&mut self, decl: &'a Decl, at: usize, scope: ScopeId) -> Result<(), Fault> {
        if decl.inner.is_empty() {
            return Err(Fault::new(decl.name.at, format!("the group `{}` has no member", decl.name.text)));
        }
        self.members(&decl.inner, at, scope)
    }

    fn set_union(&mut self, at: usize, union: UnionId) {
        if let Some(member) = self.members.get_mut(at) {
            member.union = Some(union);
        }
    }

    fn union_members(&mut self, decl: &'a Decl, parent: usize, union: UnionId, order: &mut u16) -> Result<(), Fault> {
        if decl.inner.len() < 2 {
            let has = if decl.inner.is_empty() { "none" } else { "one" };
            return Err(Fault::new(decl.name.at, format!("a union has two members at least, this has {has}")));
        }
        for decl in &decl.inner {
            match &decl.kind {
                DeclKind::Field(..) => {
                    let scope = self.layout.member(union);
                    self.add(decl, parent, scope, order, true);
                }
                DeclKind::Group => {
                    let scope = self.layout.member(union);
                    let at = self.add(decl, parent, scope, order, true);
                    self.group_members(decl, at, scope)?;
                }
                DeclKind::Union if decl.name.text.is_empty() => {
                    return Err(Fault::new(decl.name.at, "a union cannot hold a union without a name"));
                }
                DeclKind::Union => {
                    let scope = self.layout.member(union);
                    let at = self.add(decl, parent, scope, order, true);
                    let inner = self.layout.union(scope);
                    self.set_union(at, inner);
                    self.union_members(decl, at, inner, &mut 0)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
