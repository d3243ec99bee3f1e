//! Generic structs, written out: `Box(Text)` becomes a struct of its own, whose fields have the types that the
//! parameters are bound to.
//!
//! A binding is a pair of [`Type::Parameter`] and what it stands for. While a schema is put together, a use of a
//! generic struct is [`Generics::bind`], whose answer is the number that the written out struct will have;
//! [`Generics::write_out`] then makes those structs, and further ones that only they use.

use std::collections::HashMap;

use crate::model::capnp::{Capnp, Field, FieldKind, Type};
use crate::model::schema::MessageId;

/// Structs that are written out before the rest is read as declared: a struct that holds itself with other
/// bindings (`Node(List(T))` in `Node(T)`) has no end.
const MOST: usize = 4096;

/// What parameters are bound to, each once, in the order of scopes from the outermost.
pub type Bindings = Vec<(Type, Type)>;

/// Uses of generic structs.
#[derive(Debug, Default)]
pub struct Generics {
    declared: usize,
    uses: Vec<(MessageId, Bindings)>,
    known: HashMap<(MessageId, Bindings), MessageId>,
}

impl Generics {
    /// None yet, in a schema with so many declared structs and groups.
    pub fn new(declared: usize) -> Generics {
        Generics { declared, ..Generics::default() }
    }

    /// The struct that a declared one is with these bindings. Parameters that nothing binds are not among them;
    /// inside the declaration itself they are bound to themselves. Without bindings it is the declaration.
    pub fn bind(&mut self, of: MessageId, bindings: Bindings) -> MessageId {
        if bindings.is_empty() || bindings.iter().all(|(from, to)| from == to) {
            return of;
        }
        if let Some(known) = self.known.get(&(of, bindings.clone())) {
            return *known;
        }
        if self.uses.len() >= MOST {
            return of;
        }
        let id = number(self.declared.saturating_add(self.uses.len()));
        self.uses.push((of, bindings.clone()));
        self.known.insert((of, bindings), id);
        id
    }

    /// Makes the structs of all uses. `capnp` has all declared structs, and none else.
    pub fn write_out(mut self, capnp: &mut Capnp) {
        debug_assert_eq!(capnp.structs.len(), self.declared);
        mark_open(capnp);
        let mut at = 0;
        while let Some((of, bindings)) = self.uses.get(at).cloned() {
            self.one(capnp, of, &bindings);
            at = at.saturating_add(1);
        }
        name(capnp, &self.uses, self.declared);
    }

    fn one(&mut self, capnp: &mut Capnp, of: MessageId, bindings: &Bindings) {
        let mut one = capnp.record(of).cloned().unwrap_or_default();
        let mut fields = std::mem::take(&mut one.fields);
        for field in &mut fields {
            self.rebind(capnp, field, bindings);
        }
        one.fields = fields;
        one.instance_of = Some(of);
        one.open = bindings.iter().any(|(_, to)| is_open(capnp, *to, &self.uses));
        capnp.structs.push(one);
    }

    fn rebind(&mut self, capnp: &mut Capnp, field: &mut Field, bindings: &Bindings) {
        match &mut field.kind {
            FieldKind::Slot(slot) => slot.ty = self.bound(capnp, slot.ty, bindings),
            FieldKind::Group(id) => *id = self.struct_bound(capnp, *id, bindings),
        }
    }

    /// A type with parameters replaced.
    pub fn bound(&mut self, capnp: &mut Capnp, ty: Type, bindings: &Bindings) -> Type {
        match ty {
            Type::Parameter { .. } => bindings.iter().find(|(from, _)| *from == ty).map_or(ty, |(_, to)| *to),
            Type::List(element) => {
                let element = capnp.element(element);
                let element = self.bound(capnp, element, bindings);
                capnp.list_of(element)
            }
            Type::Struct(id) => Type::Struct(self.struct_bound(capnp, id, bindings)),
            other => other,
        }
    }

    fn struct_bound(&mut self, capnp: &mut Capnp, id: MessageId, bindings: &Bindings) -> MessageId {
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        // A use within the declaration: what its bindings stand for is bound in turn.
        if let Some((of, inner)) = at.checked_sub(self.declared).and_then(|at| self.uses.get(at)).cloned() {
            let inner = inner.into_iter().map(|(from, to)| (from, self.bound(capnp, to, bindings))).collect();
            return self.bind(of, inner);
        }
        // A declaration named inside its own scope (a struct that holds itself, a group) keeps the bindings.
        let own: Bindings = bindings.iter().filter(|(from, _)| is_parameter_of(capnp, *from, id)).copied().collect();
        if capnp.record(id).is_some_and(|one| one.open) { self.bind(id, own) } else { id }
    }
}

fn number(at: usize) -> MessageId {
    MessageId(u32::try_from(at).unwrap_or(u32::MAX))
}

/// Whether a parameter may occur in a struct: it is its own, or that of what it stands in.
fn is_parameter_of(capnp: &Capnp, parameter: Type, id: MessageId) -> bool {
    let Type::Parameter { of, .. } = parameter else { return false };
    let (Some(outer), Some(inner)) = (capnp.record(of), capnp.record(id)) else { return false };
    outer.file == inner.file
        && inner.name.strip_prefix(outer.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Marks the declarations that have parameters, and those inside them: [`Generics::bound`] asks for it.
pub fn mark_open(capnp: &mut Capnp) {
    let generic: Vec<(u32, String)> =
        capnp.structs.iter().filter(|one| !one.parameters.is_empty()).map(|one| (one.file, one.name.clone())).collect();
    for one in &mut capnp.structs {
        one.open = generic.iter().any(|(file, name)| {
            *file == one.file
                && one.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
    }
}

fn is_open(capnp: &Capnp, ty: Type, uses: &[(MessageId, Bindings)]) -> bool {
    match ty {
        Type::Parameter { .. } => true,
        Type::List(element) => is_open(capnp, capnp.element(element), uses),
        Type::Struct(id) => {
            let at = usize::try_from(id.0).unwrap_or(usize::MAX);
            let declared = capnp.structs.iter().take_while(|one| one.instance_of.is_none()).count();
            match at.checked_sub(declared).and_then(|at| uses.get(at)) {
                Some((_, bindings)) => bindings.iter().any(|(_, to)| is_open(capnp, *to, uses)),
                None => capnp.record(id).is_some_and(|one| one.open),
            }
        }
        _ => false,
    }
}

/// Names the written out structs by their bindings: `Box(Text)`, `Outer(Text).Inner`.
fn name(capnp: &mut Capnp, uses: &[(MessageId, Bindings)], declared: usize) {
    // Bindings that are themselves written out are named first; the depth of one in another is small.
    for _ in 0..NAMED_DEPTH {
        for (at, (of, bindings)) in uses.iter().enumerate() {
            let name = bound_name(capnp, *of, bindings);
            if let Some(one) = capnp.structs.get_mut(declared.saturating_add(at)) {
                one.name = name;
            }
        }
    }
}

/// How deep bindings are named one in another.
const NAMED_DEPTH: usize = 4;

fn bound_name(capnp: &Capnp, of: MessageId, bindings: &Bindings) -> String {
    let Some(declaration) = capnp.record(of) else { return String::new() };
    let mut name = declaration.name.clone();
    // From the innermost scope: what stands behind is not moved then.
    for one in scopes(bindings).iter().rev() {
        let Some(outer) = capnp.record(*one) else { continue };
        let types: Vec<String> = (0..outer.parameters.len())
            .map(|index| {
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                let from = Type::Parameter { of: *one, index };
                bindings
                    .iter()
                    .find(|(known, _)| *known == from)
                    .map_or_else(|| "AnyPointer".to_string(), |(_, to)| capnp.type_name(*to))
            })
            .collect();
        if name.is_char_boundary(outer.name.len()) && name.len() < LONGEST {
            name.insert_str(outer.name.len(), &format!("({})", types.join(", ")));
        }
    }
    name
}

/// Longest name of a written out struct to which bindings are still added.
const LONGEST: usize = 512;

/// The structs whose parameters are bound, outermost first.
fn scopes(bindings: &Bindings) -> Vec<MessageId> {
    let mut all: Vec<MessageId> = Vec::new();
    for (from, _) in bindings {
        if let Type::Parameter { of, .. } = from
            && !all.contains(of)
        {
            all.push(*of);
        }
    }
    all
}
