//! Which types are shown.

use std::collections::HashSet;

use crate::model::capnp::{Capnp, FieldKind, Type};
use crate::model::schema::MessageId;
use crate::render::schema::View;

/// The types that are shown, by their positions.
#[derive(Debug, Default)]
pub struct Shown {
    /// Structs and groups.
    pub structs: HashSet<MessageId>,
    /// Enums.
    pub enums: HashSet<usize>,
    /// Interfaces.
    pub interfaces: HashSet<usize>,
}

/// What one type uses, and whether that is followed through declarations.
struct Walk<'c> {
    capnp: &'c Capnp,
    shown: Shown,
    open: Vec<Type>,
    /// Declarations are shown because something uses them, not only written out structs and groups.
    follow: bool,
}

/// The types to show: one and what it holds, or all that were told with what is written out for them.
pub fn shown(capnp: &Capnp, view: &View) -> Shown {
    let mut walk = Walk { capnp, shown: Shown::default(), open: Vec::new(), follow: view.root.is_some() };
    match view.root {
        Some(root) => walk.open.push(Type::Struct(root)),
        None => walk.told(view.all),
    }
    while let Some(ty) = walk.open.pop() {
        walk.one(ty);
    }
    walk.shown
}

impl Walk<'_> {
    fn told(&mut self, all: bool) {
        let capnp = self.capnp;
        for (id, one) in (0u32..).map(MessageId).zip(&capnp.structs) {
            if (one.told || all) && one.instance_of.is_none() {
                self.structure(id);
            }
        }
        self.shown.enums = positions(capnp.enums.iter().map(|one| one.told || all));
        self.shown.interfaces = positions(capnp.interfaces.iter().map(|one| one.told || all));
        for at in self.shown.interfaces.clone() {
            self.methods(at);
        }
        self.open.extend(capnp.consts.iter().filter(|one| one.told || all).map(|one| one.ty));
        self.open.extend(capnp.annotations.iter().filter(|one| one.told || all).map(|one| one.ty));
    }

    fn structure(&mut self, id: MessageId) {
        if !self.shown.structs.insert(id) {
            return;
        }
        let fields = self.capnp.record(id).map_or(&[][..], |one| &one.fields);
        self.open.extend(fields.iter().map(|field| match &field.kind {
            FieldKind::Slot(slot) => slot.ty,
            FieldKind::Group(id) => Type::Struct(*id),
        }));
    }

    fn methods(&mut self, at: usize) {
        let methods = self.capnp.interfaces.get(at).map_or(&[][..], |one| &one.methods);
        self.open.extend(methods.iter().flat_map(|one| [one.parameters, one.results]).map(Type::Struct));
        if self.follow {
            let extends = self.capnp.interfaces.get(at).map_or(&[][..], |one| &one.extends);
            self.open.extend(extends.iter().map(|id| Type::Interface(*id)));
        }
    }

    fn one(&mut self, ty: Type) {
        match ty {
            Type::List(element) => self.open.push(self.capnp.element(element)),
            Type::Struct(id) => {
                let own = self.capnp.record(id).is_some_and(|one| one.instance_of.is_some() || one.is_group);
                if self.follow || own {
                    self.structure(id);
                }
            }
            Type::Enum(id) if self.follow => {
                self.shown.enums.insert(usize::try_from(id.0).unwrap_or(usize::MAX));
            }
            Type::Interface(id) if self.follow => {
                let at = usize::try_from(id.0).unwrap_or(usize::MAX);
                if self.shown.interfaces.insert(at) {
                    self.methods(at);
                }
            }
            _ => {}
        }
    }
}

fn positions(is: impl Iterator<Item = bool>) -> HashSet<usize> {
    is.enumerate().filter(|(_, is)| *is).map(|(at, _)| at).collect()
}
