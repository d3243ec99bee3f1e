//! Names in the order of the files: what each one stands for, as flatc finds it.
//!
//! flatc reads once, from the top. An enumeration or union has to be there already when it is named. A table or
//! struct may come later: the name then waits, without the namespace it is used in, for the next declaration that is
//! called so, in whatever namespace; or, with dots, for the declaration of that full name. What still waits at the
//! end is an error.

use std::collections::HashMap;

use crate::model::flat::EnumId;
use crate::model::schema::{MessageId, SchemaError};
use crate::schema::fbs::ast::{self, Base, Name, Shape};
use crate::schema::fbs::files::{Files, Loaded};
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::link::Named;

/// What the name at a place in a file, both as numbers, stands for.
pub type Uses = HashMap<(usize, usize), Named>;

/// What a name led to while reading.
#[derive(Debug, Clone, Copy)]
enum Reached {
    Enum(EnumId),
    Slot(usize),
}

enum Event<'a> {
    Enum(&'a ast::Enum, EnumId),
    Object(&'a ast::Object, MessageId),
    Service(&'a ast::Service),
    Root(&'a Name),
}

#[derive(Default)]
struct Reader {
    file: usize,
    enums: HashMap<String, EnumId>,
    objects: HashMap<String, usize>,
    /// What is declared; nothing while it is waited for.
    slots: Vec<Option<MessageId>>,
    uses: Vec<((usize, usize), Reached)>,
}

/// Finds what the names in all files stand for. Names that stand for nothing are left out.
///
/// # Errors
/// A struct that holds one whose declaration is not there yet; a field that is called as a type.
pub fn uses(files: &Files) -> Result<Uses, SchemaError> {
    let (mut enums, mut objects) = (0u32, 0u32);
    let mut all: Vec<Vec<(usize, Event<'_>)>> = Vec::new();
    for loaded in &files.sources {
        let mut events = Vec::new();
        for one in &loaded.file.enums {
            events.push((one.head.at, Event::Enum(one, EnumId(enums))));
            enums = enums.saturating_add(1);
        }
        for one in &loaded.file.objects {
            events.push((one.head.at, Event::Object(one, MessageId(objects))));
            objects = objects.saturating_add(1);
        }
        events.extend(loaded.file.services.iter().map(|one| (one.head.at, Event::Service(one))));
        events.extend(loaded.file.roots.iter().map(|one| (one.at, Event::Root(one))));
        events.sort_by_key(|(at, _)| *at);
        all.push(events);
    }
    let mut reader = Reader::default();
    for number in &files.order {
        let Some((loaded, events)) = files.sources.get(*number).zip(all.get(*number)) else { continue };
        reader.file = *number;
        for (_, event) in events {
            reader.event(event, loaded)?;
        }
    }
    Ok(reader.done())
}

impl Reader {
    fn event(&mut self, event: &Event<'_>, loaded: &Loaded) -> Result<(), SchemaError> {
        match event {
            Event::Enum(one, id) => {
                self.enums.insert(one.head.full(), *id);
                for value in &one.values {
                    match &value.member {
                        // Without an alias a member is a table or struct, whatever else is called so.
                        Some(Base::Named(name)) if !value.aliased => self.use_object(name),
                        Some(Base::Named(name)) => self.use_any(name),
                        _ => continue,
                    };
                }
            }
            Event::Object(object, id) => {
                self.declare(object, *id);
                for field in &object.fields {
                    self.field(field, object.is_struct).map_err(|fault| loaded.error(fault))?;
                }
            }
            Event::Service(service) => {
                for (_, request, response) in &service.calls {
                    self.use_any(request);
                    self.use_any(response);
                }
            }
            Event::Root(name) => {
                let full = qualified(&name.space, &name.text);
                if let Some(slot) = self.objects.get(&name.text).or_else(|| self.objects.get(&full)) {
                    self.uses.push(((self.file, name.at), Reached::Slot(*slot)));
                }
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &ast::Field, in_struct: bool) -> Result<(), Fault> {
        let own = Name { text: field.head.name.clone(), space: field.head.space.clone(), at: field.head.at };
        if around(&own).chain([own.text.clone()]).any(|full| self.objects.contains_key(&full)) {
            return Err(Fault::new(own.at, format!("the field `{}` is called as a table or struct", own.text))
                .help("flatc refuses that where the type is declared, or used, up to here"));
        }
        if let Base::Named(name) = &field.ty.of {
            let reached = self.use_any(name);
            if let Reached::Slot(slot) = reached {
                self.known(field, name, slot)?;
            }
            if let (true, Reached::Slot(slot)) = (in_struct, reached)
                && self.is_open(slot)
            {
                return Err(Fault::new(name.at, format!("`{}` is no struct that is declared up to here", name.text))
                    .help("what a struct holds is declared in front of it"));
            }
        }
        if let Some(name) = field.nested() {
            self.use_object(&name);
        }
        Ok(())
    }

    /// Checks that a struct is declared in front of a field whose attributes are for structs only.
    fn known(&self, field: &ast::Field, name: &Name, slot: usize) -> Result<(), Fault> {
        let asking = match field.ty.shape {
            Shape::One => ["native_inline", "key"],
            _ => ["vector64", "offset64"],
        };
        match asking.iter().find_map(|asking| field.head.attribute(asking)) {
            Some(attribute) if self.is_open(slot) => {
                let message = format!("`{}` asks for a struct, and `{}` is none up to here", attribute.name, name.text);
                Err(Fault::new(attribute.at, message).help("declare the struct in front of its use"))
            }
            _ => Ok(()),
        }
    }

    /// A declaration: what waits for it is found.
    fn declare(&mut self, object: &ast::Object, id: MessageId) {
        let full = object.head.full();
        let slot = match self.waiting(&object.head.name) {
            Some(slot) => {
                self.objects.remove(&object.head.name);
                slot
            }
            None => self.waiting(&full).unwrap_or_else(|| self.slot()),
        };
        self.objects.insert(full, slot);
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = Some(id);
        }
    }

    fn slot(&mut self) -> usize {
        self.slots.push(None);
        self.slots.len().saturating_sub(1)
    }

    fn waiting(&self, name: &str) -> Option<usize> {
        self.objects.get(name).copied().filter(|slot| self.is_open(*slot))
    }

    fn is_open(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(Option::is_none)
    }

    fn use_any(&mut self, name: &Name) -> Reached {
        match around(name).find_map(|full| self.enums.get(&full)) {
            Some(id) => {
                let reached = Reached::Enum(*id);
                self.uses.push(((self.file, name.at), reached));
                reached
            }
            None => self.use_object(name),
        }
    }

    fn use_object(&mut self, name: &Name) -> Reached {
        let waits = self.waiting(&name.text);
        let slot = waits.or_else(|| around(name).find_map(|full| self.objects.get(&full).copied()));
        let slot = slot.unwrap_or_else(|| {
            let slot = self.slot();
            self.objects.insert(name.text.clone(), slot);
            slot
        });
        self.uses.push(((self.file, name.at), Reached::Slot(slot)));
        Reached::Slot(slot)
    }

    fn done(self) -> Uses {
        let slots = self.slots;
        let found = |reached| match reached {
            Reached::Enum(id) => Some(Named::Enum(id)),
            Reached::Slot(slot) => slots.get(slot).copied().flatten().map(Named::Object),
        };
        self.uses.into_iter().filter_map(|(place, reached)| Some((place, found(reached)?))).collect()
    }
}

/// The full names that a name may stand for: in its namespace, then in those around it.
pub fn around(name: &Name) -> impl Iterator<Item = String> + '_ {
    let mut space = Some(name.space.as_str());
    std::iter::from_fn(move || {
        let now = space?;
        space = if now.is_empty() { None } else { Some(now.rsplit_once('.').map_or("", |(around, _)| around)) };
        Some(qualified(now, &name.text))
    })
}

fn qualified(space: &str, name: &str) -> String {
    if space.is_empty() { name.to_string() } else { format!("{space}.{name}") }
}
