//! Types of tables that were found: which tables are of one, and the fields of each.

use std::collections::HashMap;

use crate::formats::flatbuffers::found::{Found, NONE, Object, Reach, What};
use crate::formats::flatbuffers::table::Slot;
use crate::model::flat::{self, Field, Flat, Of, Type};
use crate::model::schema::MessageId;
use crate::wire::reader::Bytes;

/// Rounds in which types that are of one slot are put together.
const ROUNDS: usize = 6;

/// What a field of a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// So many bytes in place.
    Raw(u64),
    Text,
    /// A table, by its object.
    Table(u32),
    /// A vector of bytes in place.
    Numbers(u8),
    Texts,
    /// A vector of tables, by its object.
    Tables(u32),
}

impl Kind {
    /// What tables of one type have to agree on.
    fn shape(self) -> u8 {
        match self {
            Kind::Raw(_) => 0,
            Kind::Text => 1,
            Kind::Table(_) => 2,
            Kind::Numbers(_) => 3,
            Kind::Texts => 4,
            Kind::Tables(_) => 5,
        }
    }
}

/// The fields of one table.
type Fields = Vec<(u16, Kind)>;

/// The types, and that of the root.
pub fn of(bytes: Bytes<'_>, found: &Found) -> (Flat, MessageId) {
    let tables = tables(bytes, found);
    let mut sets = Sets { parents: (0..found.objects.len()).collect() };
    by_shape(found, &tables, &mut sets);
    by_place(found, &tables, &mut sets);
    flat(found, &tables, &mut sets)
}

/// The fields of each table, by the number of its object; of what is no table none.
fn tables(bytes: Bytes<'_>, found: &Found) -> Vec<Option<Fields>> {
    let mut slots: Vec<Slot> = Vec::new();
    let each = found.objects.iter().map(|object| {
        let What::Table(_) = object.what else { return None };
        let vtable = usize::try_from(object.vtable).ok().and_then(|at| found.vtables.get(at))?.vtable;
        let buffer = *found.buffers.get(usize::try_from(object.buffer).ok()?)?;
        vtable.slots(bytes, object.start, buffer, None, None, &mut slots);
        let usable = slots.iter().filter(|slot| slot.usable);
        let mut fields: Fields = usable.map(|slot| (slot.id, kind(bytes, found, slot))).collect();
        fields.sort_by_key(|(id, _)| *id);
        Some(fields)
    });
    each.collect()
}

/// What a slot holds: the object that its offset leads to, if it leads to one.
fn kind(bytes: Bytes<'_>, found: &Found, slot: &Slot) -> Kind {
    let target = bytes.u32(slot.at).map(|offset| slot.at.saturating_add(u64::from(offset)));
    let target = target.filter(|_| slot.width == 4);
    let Some((number, object)) = target.and_then(|target| object_at(found, target)) else {
        return Kind::Raw(slot.width);
    };
    match object.what {
        What::Table(_) => Kind::Table(number),
        What::Text => Kind::Text,
        What::Vector(elements) => match elements.of {
            Of::Text => Kind::Texts,
            Of::Table(_) => Kind::Tables(number),
            Of::Raw(width) => Kind::Numbers(width),
            _ => Kind::Raw(slot.width),
        },
        What::Head | What::Struct(_) => Kind::Raw(slot.width),
    }
}

fn object_at(found: &Found, start: u64) -> Option<(u32, &Object)> {
    let at = found.objects.partition_point(|object| object.start < start);
    let object = found.objects.get(at).filter(|object| object.start == start)?;
    Some((u32::try_from(at).ok()?, object))
}

/// Which objects belong together.
struct Sets {
    parents: Vec<usize>,
}

impl Sets {
    fn of(&mut self, at: usize) -> usize {
        let mut root = at;
        while let Some(next) = self.parents.get(root).copied().filter(|next| *next != root) {
            root = next;
        }
        let mut place = at;
        while let Some(next) = self.parents.get(place).copied().filter(|next| *next != root) {
            if let Some(entry) = self.parents.get_mut(place) {
                *entry = root;
            }
            place = next;
        }
        root
    }

    /// Puts two together; true where they were apart.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.of(one), self.of(other));
        let (first, second) = (one.min(other), one.max(other));
        if let Some(entry) = self.parents.get_mut(second) {
            *entry = first;
        }
        first != second
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// Tables with one vtable and fields of the same kinds.
fn by_shape(found: &Found, tables: &[Option<Fields>], sets: &mut Sets) {
    let mut known: HashMap<(u32, Vec<u8>), usize, foldhash::fast::FixedState> = HashMap::default();
    for (at, (object, fields)) in found.objects.iter().zip(tables).enumerate() {
        let Some(fields) = fields else { continue };
        // A table without fields says nothing of its type.
        if fields.is_empty() {
            continue;
        }
        let shape = fields.iter().map(|(_, kind)| kind.shape()).collect();
        let first = *known.entry((object.vtable, shape)).or_insert(at);
        sets.join(first, at);
    }
}

/// Tables of one vector, and those in one slot of one type: unless the byte in the slot before says that they differ.
fn by_place(found: &Found, tables: &[Option<Fields>], sets: &mut Sets) {
    for _ in 0..ROUNDS {
        let mut changed = false;
        let mut vectors: HashMap<u32, usize, foldhash::fast::FixedState> = HashMap::default();
        for (at, object) in found.objects.iter().enumerate() {
            let is_table = matches!(object.what, What::Table(_));
            if let (true, Reach::Index(_)) = (is_table, object.reach) {
                let first = *vectors.entry(object.parent).or_insert(at);
                changed |= sets.join(first, at);
            }
        }
        let mut slots: HashMap<(usize, u16, bool), usize, foldhash::fast::FixedState> = HashMap::default();
        for (at, fields) in tables.iter().enumerate() {
            for (id, kind) in fields.iter().flatten() {
                let (child, is_vector) = match kind {
                    Kind::Table(child) => (*child, false),
                    Kind::Tables(vector) => match vectors.get(vector) {
                        Some(first) => (number(*first), true),
                        None => continue,
                    },
                    _ => continue,
                };
                if is_union(fields.as_deref().unwrap_or(&[]), *id) {
                    continue;
                }
                let Ok(child) = usize::try_from(child) else { continue };
                let key = (sets.of(at), *id, is_vector);
                let first = *slots.entry(key).or_insert(child);
                changed |= sets.join(first, child);
            }
        }
        if !changed {
            break;
        }
    }
}

/// Whether a slot may be that of a union: the one before holds one byte.
fn is_union(fields: &[(u16, Kind)], id: u16) -> bool {
    id > 0 && fields.iter().any(|(other, kind)| other.saturating_add(1) == id && *kind == Kind::Raw(1))
}

/// The types: one for each set of tables, in the order of the file.
fn flat(found: &Found, tables: &[Option<Fields>], sets: &mut Sets) -> (Flat, MessageId) {
    let mut ids: HashMap<usize, MessageId, foldhash::fast::FixedState> = HashMap::default();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (at, fields) in tables.iter().enumerate() {
        if fields.is_none() {
            continue;
        }
        let set = sets.of(at);
        let next = MessageId(number(members.len()));
        let id = *ids.entry(set).or_insert(next);
        if id == next {
            members.push(Vec::new());
        }
        if let Some(list) = usize::try_from(id.0).ok().and_then(|id| members.get_mut(id)) {
            list.push(at);
        }
    }
    let mut flat = Flat { guessed: true, ..Flat::default() };
    for (at, list) in members.iter().enumerate() {
        let fields = fields_of(found, tables, list, sets, &ids);
        let name = format!("T{at}");
        flat.objects.push(flat::Object { name, align: 1, fields, told: true, ..flat::Object::default() });
    }
    if flat.objects.is_empty() {
        flat.objects.push(flat::Object { name: "T0".to_string(), align: 1, told: true, ..flat::Object::default() });
    }
    (flat, MessageId(0))
}

/// The fields of a type: those on which all its tables agree. The others are read for each table by itself.
fn fields_of(
    found: &Found,
    tables: &[Option<Fields>],
    list: &[usize],
    sets: &mut Sets,
    ids: &HashMap<usize, MessageId, foldhash::fast::FixedState>,
) -> Vec<Field> {
    let mut merged: std::collections::BTreeMap<u16, Option<Type>> = std::collections::BTreeMap::new();
    for at in list {
        for (id, kind) in tables.get(*at).and_then(Option::as_ref).into_iter().flatten() {
            let ty = type_of(found, *kind, sets, ids);
            let entry = merged.entry(*id).or_insert(ty);
            *entry = match (*entry, ty) {
                (Some(one), Some(other)) => agreed(one, other),
                _ => None,
            };
        }
    }
    let known = merged.into_iter().filter_map(|(id, ty)| Some((id, ty?)));
    known.map(|(id, ty)| Field::new(id.to_string(), id, ty)).collect()
}

/// What two tables say of one field, where that is the same; of bytes in place the fewer.
fn agreed(one: Type, other: Type) -> Option<Type> {
    match (one.of, other.of) {
        _ if one == other => Some(one),
        (Of::Raw(a), Of::Raw(b)) if one.shape == other.shape => Some(Type { of: Of::Raw(a.min(b)), ..one }),
        _ => None,
    }
}

fn type_of(
    found: &Found,
    kind: Kind,
    sets: &mut Sets,
    ids: &HashMap<usize, MessageId, foldhash::fast::FixedState>,
) -> Option<Type> {
    let mut table = |object: u32| ids.get(&sets.of(usize::try_from(object).ok()?)).copied();
    Some(match kind {
        Kind::Raw(width) => Type::one(Of::Raw(u8::try_from(width).ok()?)),
        Kind::Text => Type::one(Of::Text),
        Kind::Table(object) => Type::one(Of::Table(table(object)?)),
        Kind::Numbers(width) => Type::vector(Of::Raw(width)),
        Kind::Texts => Type::vector(Of::Text),
        Kind::Tables(vector) => {
            let first = found.objects.get(usize::try_from(vector).ok()?)?;
            Type::vector(Of::Table(table(element(found, vector, first)?)?))
        }
    })
}

/// The first table in the file that a vector leads to.
fn element(found: &Found, vector: u32, object: &Object) -> Option<u32> {
    let from = found.objects.partition_point(|other| other.start <= object.start);
    let rest = found.objects.get(from..)?;
    let at = rest.iter().position(|other| other.parent == vector && matches!(other.what, What::Table(_)))?;
    u32::try_from(from.saturating_add(at)).ok()
}
