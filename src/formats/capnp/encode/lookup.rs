//! From a name in the input to the field of a struct: by the names of JSON first ([`Names`]), then in any way of
//! writing them.

use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;

use crate::formats::capnp::names::{Discriminator, Names, Shape};
use crate::model::capnp::{Capnp, FieldKind, Type};
use crate::model::schema::MessageId;

/// What a name in an object stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The field at a position.
    Field(usize),
    /// A field of the struct at a position, whose fields stand beside it; its name lies behind so many bytes.
    Into {
        /// Position of the struct.
        field: usize,
        /// Bytes of the prefix.
        prefix: usize,
        /// The struct is a member of the union.
        member: bool,
    },
    /// Which member of the union is set.
    Tag,
    /// The value of the member that is set.
    Member,
}

/// The names of a struct.
#[derive(Debug, Default)]
pub struct Table {
    ways: HashMap<String, Way, FixedState>,
    /// Names in small letters and digits alone, with the name as it is.
    folded: HashMap<String, String, FixedState>,
    /// Positions of the members of the union, by what the discriminator calls them.
    pub members: HashMap<String, usize, FixedState>,
    /// What the discriminator is called.
    pub tag: Option<String>,
    /// All names, as the struct declares them.
    pub names: Vec<String>,
}

impl Table {
    /// What a name stands for, and the name as the table has it.
    pub fn find(&self, name: &str) -> Option<(Way, &str)> {
        let (known, way) = match self.ways.get_key_value(name) {
            Some(exact) => exact,
            None => self.ways.get_key_value(self.folded.get(&folded(name))?)?,
        };
        Some((*way, known))
    }

    fn add(&mut self, name: &str, way: Way) {
        if self.ways.insert(name.to_string(), way).is_none() {
            self.names.push(name.to_string());
        }
        self.folded.entry(folded(name)).or_insert_with(|| name.to_string());
    }
}

/// Letters and digits of a name, all of them small.
pub fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// The tables of a schema, each made when it is first asked for.
pub struct Lookup<'a> {
    capnp: &'a Capnp,
    /// The names that JSON has.
    pub names: Names,
    /// Discriminators of groups, which stand on the field.
    inner: HashMap<MessageId, Discriminator>,
    tables: HashMap<MessageId, Rc<Table>, FixedState>,
}

impl<'a> Lookup<'a> {
    /// Tables of this schema.
    pub fn new(capnp: &'a Capnp) -> Lookup<'a> {
        let names = Names::new(capnp);
        let mut inner = HashMap::new();
        for (id, record) in (0u32..).map(MessageId).zip(&capnp.structs) {
            let Some(shape) = names.shape(id) else { continue };
            for (field, named) in record.fields.iter().zip(&shape.fields) {
                let (FieldKind::Group(group), Some(said)) = (&field.kind, &named.inner) else { continue };
                let mut said = said.clone();
                // Only beside the group's fields the name of the group is that of the discriminator.
                if said.name.is_empty() && named.flatten.is_some() {
                    said.name.clone_from(&field.name);
                }
                inner.insert(*group, said);
            }
        }
        Lookup { capnp, names, inner, tables: HashMap::default() }
    }

    /// The table of a struct or group.
    pub fn table(&mut self, id: MessageId) -> Rc<Table> {
        if let Some(known) = self.tables.get(&id) {
            return Rc::clone(known);
        }
        // A struct that is flattened into itself finds this one.
        self.tables.insert(id, Rc::default());
        let made = Rc::new(self.make(id));
        self.tables.insert(id, Rc::clone(&made));
        made
    }

    fn discriminator(&self, id: MessageId) -> Option<Discriminator> {
        self.inner.get(&id).or_else(|| self.names.shape(id)?.own.as_ref()).cloned()
    }

    fn make(&mut self, id: MessageId) -> Table {
        let mut table = Table::default();
        let capnp = self.capnp;
        let Some(record) = capnp.record(id) else { return table };
        let shape: Shape = self.names.shape(id).cloned().unwrap_or_default();
        let said = self.discriminator(id);
        let value = said.as_ref().map_or("", |said| &said.value);
        if let Some(said) = &said {
            if !said.name.is_empty() {
                table.add(&said.name, Way::Tag);
                table.tag = Some(said.name.clone());
            }
            if !value.is_empty() {
                table.add(value, Way::Member);
            }
        }
        for (position, (field, named)) in record.fields.iter().zip(&shape.fields).enumerate() {
            let member = field.tag.is_some();
            if member {
                table.members.insert(named.tag.clone(), position);
            }
            let inner = match &field.kind {
                FieldKind::Group(id) => Some(*id),
                FieldKind::Slot(slot) => {
                    if let Type::Struct(id) = slot.ty {
                        Some(id)
                    } else {
                        None
                    }
                }
            };
            match (&named.flatten, inner) {
                (Some(prefix), Some(inner)) => {
                    for name in &self.table(inner).names {
                        table.add(
                            &format!("{prefix}{name}"),
                            Way::Into { field: position, prefix: prefix.len(), member },
                        );
                    }
                }
                _ if member && !value.is_empty() => {}
                _ => table.add(&named.name, Way::Field(position)),
            }
        }
        // The names of the schema stand behind those of JSON.
        for (position, (field, named)) in record.fields.iter().zip(&shape.fields).enumerate() {
            if named.name != field.name
                && matches!(table.ways.get(&named.name), Some(Way::Field(at)) if *at == position)
            {
                table.folded.entry(folded(&field.name)).or_insert_with(|| named.name.clone());
            }
        }
        table
    }
}
