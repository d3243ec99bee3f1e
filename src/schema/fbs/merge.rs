//! Several schemas as one: types of the same name are the same type.

use std::collections::HashMap;

use crate::model::flat::{Enum, EnumId, Flat, Object, Of};
use crate::model::schema::{Finding, MessageId, SchemaError};

/// New positions of types.
#[derive(Debug)]
pub struct Moves {
    /// Of each object the position where it goes.
    pub objects: Vec<usize>,
    /// Likewise of each enumeration and union.
    pub enums: Vec<usize>,
}

impl Moves {
    /// Rewrites all that points at types; the types themselves stay where they are.
    pub fn apply(&self, flat: &mut Flat) {
        for field in flat.objects.iter_mut().flat_map(|object| object.fields.iter_mut()) {
            field.ty.of = self.of(field.ty.of);
            field.nested = field.nested.map(|id| self.object(id));
        }
        for value in flat.enums.iter_mut().flat_map(|one| one.values.iter_mut()) {
            value.member = value.member.map(|of| self.of(of));
        }
        for call in flat.services.iter_mut().flat_map(|service| service.calls.iter_mut()) {
            (call.request, call.response) = (self.object(call.request), self.object(call.response));
        }
        flat.root = flat.root.map(|id| self.object(id));
    }

    fn of(&self, of: Of) -> Of {
        match of {
            Of::Enum(id) => Of::Enum(self.enumeration(id)),
            Of::UnionType(id) => Of::UnionType(self.enumeration(id)),
            Of::Union(id) => Of::Union(self.enumeration(id)),
            Of::Struct(id) => Of::Struct(self.object(id)),
            Of::Table(id) => Of::Table(self.object(id)),
            Of::Scalar(_) | Of::Text | Of::Raw(_) => of,
        }
    }

    fn object(&self, id: MessageId) -> MessageId {
        moved(&self.objects, id.0).map_or(id, MessageId)
    }

    fn enumeration(&self, id: EnumId) -> EnumId {
        moved(&self.enums, id.0).map_or(id, EnumId)
    }
}

fn moved(moves: &[usize], from: u32) -> Option<u32> {
    let to = moves.get(usize::try_from(from).ok()?)?;
    u32::try_from(*to).ok()
}

/// Adds the types of another schema. Root type, identifier and extension are those of the first that has one.
///
/// # Errors
/// A name is a table or struct here and an enumeration there.
pub fn merge(into: &mut Flat, mut other: Flat, found: &mut Vec<Finding>) -> Result<(), SchemaError> {
    let objects: HashMap<String, usize> = names(into.objects.iter().map(|object| &object.name));
    let enums: HashMap<String, usize> = names(into.enums.iter().map(|one| &one.name));
    let both = |place: &crate::model::schema::Place, name: &str| SchemaError {
        place: place.clone(),
        message: format!("`{name}` is an enumeration in one schema and none in the other"),
        help: "tell only one of them".to_string(),
    };
    if let Some(object) = other.objects.iter().find(|object| enums.contains_key(&object.name)) {
        return Err(both(&object.place, &object.name));
    }
    if let Some(one) = other.enums.iter().find(|one| objects.contains_key(&one.name)) {
        return Err(both(&one.place, &one.name));
    }
    let moves = Moves {
        objects: positions(&objects, other.objects.iter().map(|object| &object.name)),
        enums: positions(&enums, other.enums.iter().map(|one| &one.name)),
    };
    moves.apply(&mut other);
    for object in other.objects {
        match objects.get(&object.name).and_then(|at| into.objects.get_mut(*at)) {
            Some(known) => {
                known.told |= object.told;
                if !same_object(known, &object) {
                    found.push(differs(&object.name, &known.place, &object.place));
                }
            }
            None => into.objects.push(object),
        }
    }
    for one in other.enums {
        match enums.get(&one.name).and_then(|at| into.enums.get_mut(*at)) {
            Some(known) => {
                known.told |= one.told;
                if !same_enum(known, &one) {
                    found.push(differs(&one.name, &known.place, &one.place));
                }
            }
            None => into.enums.push(one),
        }
    }
    for service in other.services {
        if !into.services.iter().any(|known| known.name == service.name) {
            into.services.push(service);
        }
    }
    into.root = into.root.or(other.root);
    into.identifier = into.identifier.or(other.identifier);
    into.extension = into.extension.take().or(other.extension);
    Ok(())
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> HashMap<String, usize> {
    names.enumerate().map(|(at, name)| (name.clone(), at)).collect()
}

/// Where types go: to their namesakes, else behind all that is there.
fn positions<'a>(known: &HashMap<String, usize>, names: impl Iterator<Item = &'a String>) -> Vec<usize> {
    let mut next = known.len();
    let position = |name: &String| {
        known.get(name).copied().unwrap_or_else(|| {
            next = next.saturating_add(1);
            next.saturating_sub(1)
        })
    };
    names.map(position).collect()
}

fn differs(name: &str, first: &crate::model::schema::Place, place: &crate::model::schema::Place) -> Finding {
    Finding {
        code: "type-differs",
        place: place.clone(),
        message: format!("declares `{name}`, but not as {first} does"),
        help: "the first one is used".to_string(),
    }
}

/// Whether two tables or structs of one name are laid out alike.
fn same_object(a: &Object, b: &Object) -> bool {
    let fields = |object: &Object| -> Vec<_> {
        object.fields.iter().map(|field| (field.name.clone(), field.id, field.ty, field.offset)).collect()
    };
    (a.is_struct, a.size, a.align) == (b.is_struct, b.size, b.align) && fields(a) == fields(b)
}

fn same_enum(a: &Enum, b: &Enum) -> bool {
    let values = |one: &Enum| -> Vec<_> {
        one.values.iter().map(|value| (value.name.clone(), value.number, value.member)).collect()
    };
    (a.base, a.is_union) == (b.base, b.is_union) && values(a) == values(b)
}
