//! Which types of a schema are shown.

use std::collections::BTreeSet;

use crate::model::flat::{Flat, Of};
use crate::model::schema::{FieldKind, MessageId, Schema};

/// The types that are shown, by their positions.
#[derive(Debug, Default)]
pub struct Picked {
    /// Messages, tables and structs.
    pub messages: BTreeSet<usize>,
    /// Enumerations and unions.
    pub enums: BTreeSet<usize>,
    /// Services are shown: no type was asked for.
    pub services: bool,
    /// Types of included files that are not shown.
    pub hidden: usize,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Message(usize),
    Enum(usize),
}

/// The types of the files that were told; where names are given those types, and all that they need.
///
/// # Errors
/// A name is unknown, or could be one of several types.
pub fn pick(schema: &Schema, names: &[String]) -> Result<Picked, String> {
    let mut picked = Picked { services: names.is_empty(), ..Picked::default() };
    if names.is_empty() {
        let needed = needed(schema, told(schema));
        picked.messages.extend(needed.messages.iter().filter(|at| is_told(schema, **at)));
        match &schema.flat {
            Some(flat) => picked.enums.extend((0..flat.enums.len()).filter(|at| is_told_enum(flat, *at))),
            // Nothing says which file an enumeration of Protobuf stands in: those that are used are shown.
            None => picked.enums.clone_from(&needed.enums),
        }
        let all = needed.messages.len().saturating_add(needed.enums.len());
        let shown = needed.messages.intersection(&picked.messages).count();
        let shown_enums = needed.enums.intersection(&picked.enums).count();
        picked.hidden = all.saturating_sub(shown).saturating_sub(shown_enums);
        return Ok(picked);
    }
    let mut start = Vec::new();
    for name in names {
        start.push(named(schema, name)?);
    }
    let needed = needed(schema, start);
    Ok(Picked { services: false, ..needed })
}

/// All types of a schema for programs: those that Protobuf brings along only where they are used.
pub fn all(schema: &Schema) -> Picked {
    let mut picked = needed(schema, told(schema));
    picked.services = true;
    match &schema.flat {
        Some(flat) => {
            picked.messages.extend(0..flat.objects.len());
            picked.enums.extend(0..flat.enums.len());
        }
        None => {
            let own = |name: &str| !name.starts_with("google.");
            let messages = schema.messages.iter().enumerate().filter(|(_, one)| own(&one.full_name));
            picked.messages.extend(messages.map(|(at, _)| at));
            let enums = schema.enums.iter().enumerate().filter(|(_, one)| own(&one.full_name));
            picked.enums.extend(enums.map(|(at, _)| at));
        }
    }
    picked
}

fn is_told(schema: &Schema, at: usize) -> bool {
    schema.messages.get(at).is_some_and(|message| message.told)
}

fn is_told_enum(flat: &Flat, at: usize) -> bool {
    flat.enums.get(at).is_some_and(|one| one.told)
}

fn told(schema: &Schema) -> Vec<Node> {
    let messages = (0..schema.messages.len()).filter(|at| is_told(schema, *at)).map(Node::Message);
    let mut all: Vec<Node> = messages.collect();
    match &schema.flat {
        Some(flat) => all.extend((0..flat.enums.len()).filter(|at| is_told_enum(flat, *at)).map(Node::Enum)),
        None => {
            let own = schema.enums.iter().enumerate().filter(|(_, one)| in_told_package(schema, &one.full_name));
            all.extend(own.map(|(at, _)| Node::Enum(at)));
        }
    }
    all
}

/// Whether an enumeration of Protobuf stands in the package of a message that was told.
fn in_told_package(schema: &Schema, name: &str) -> bool {
    let package = super::namespace(name);
    schema.messages.iter().any(|message| {
        let own = message.full_name.strip_suffix(message.name.as_str()).map(|own| own.trim_end_matches('.'));
        message.told && (own == Some(package) || message.full_name == package)
    })
}

/// Types and all that their fields name.
fn needed(schema: &Schema, start: Vec<Node>) -> Picked {
    let mut picked = Picked::default();
    let mut queue = start;
    while let Some(node) = queue.pop() {
        let is_new = match node {
            Node::Message(at) => picked.messages.insert(at),
            Node::Enum(at) => picked.enums.insert(at),
        };
        if is_new {
            uses(schema, node, &mut queue);
        }
    }
    picked
}

fn uses(schema: &Schema, node: Node, queue: &mut Vec<Node>) {
    match (&schema.flat, node) {
        (Some(flat), Node::Message(at)) => {
            for field in flat.objects.get(at).iter().flat_map(|object| &object.fields) {
                queue.extend(of(field.ty.of));
                queue.extend(field.nested.and_then(message));
            }
        }
        (Some(flat), Node::Enum(at)) => {
            let values = flat.enums.get(at).into_iter().flat_map(|one| &one.values);
            queue.extend(values.filter_map(|value| value.member.and_then(of)));
        }
        (None, Node::Message(at)) => {
            for field in schema.messages.get(at).iter().flat_map(|message| &message.fields) {
                queue.extend(match &field.kind {
                    FieldKind::Message(id) | FieldKind::Group(id) => message(*id),
                    FieldKind::Enum(id) => usize::try_from(id.0).ok().map(Node::Enum),
                    _ => None,
                });
            }
        }
        (None, Node::Enum(_)) => {}
    }
}

fn of(of: Of) -> Option<Node> {
    match of {
        Of::Enum(id) | Of::UnionType(id) | Of::Union(id) => usize::try_from(id.0).ok().map(Node::Enum),
        Of::Struct(id) | Of::Table(id) => message(id),
        Of::Scalar(_) | Of::Text | Of::Raw(_) => None,
    }
}

fn message(id: MessageId) -> Option<Node> {
    usize::try_from(id.0).ok().map(Node::Message)
}

/// The type of a name: enumerations and unions as well.
fn named(schema: &Schema, name: &str) -> Result<Node, String> {
    let enums: Vec<&str> = match &schema.flat {
        Some(flat) => flat.enums.iter().map(|one| one.name.as_str()).collect(),
        None => schema.enums.iter().map(|one| one.full_name.as_str()).collect(),
    };
    let exact = enums.iter().position(|full| *full == name);
    let short = |full: &str| full.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
    match schema.find_message(name) {
        Ok(id) if exact.is_none() => message(id).ok_or_else(|| format!("no type `{name}`")),
        other => match (exact.or_else(|| enums.iter().position(|full| short(full))), other) {
            (Some(at), _) => Ok(Node::Enum(at)),
            (None, Err(why)) => Err(why),
            (None, Ok(id)) => message(id).ok_or_else(|| format!("no type `{name}`")),
        },
    }
}
