//! The types behind a stream of values: which of them a list's elements have, for the words of a head.

use std::sync::Arc;

use crate::inspect::Inspection;
use crate::model::schema::{Cardinality, Field, MessageId, Schema};
use crate::model::value::{Event, Scalar, Shape};

/// What an open container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The fields of a type; none where it is not known.
    Fields(Option<MessageId>),
    /// Entries whose values have a type.
    Entries(Option<MessageId>),
    /// Elements that have a type.
    Elements(Option<MessageId>),
}

/// Follows values through a schema.
#[derive(Debug, Default)]
pub struct Types {
    schema: Option<Arc<Schema>>,
    root: Option<MessageId>,
    open: Vec<(Holds, u64)>,
    /// What the next value is.
    next: Option<Holds>,
}

impl Types {
    /// The types of an input's messages.
    pub fn of(inspection: &Inspection) -> Types {
        let bound = inspection.bound().filter(|_| inspection.root_name().is_some());
        let root = bound.map(|bound| bound.root);
        let schema = root.and_then(|_| inspection.shared_schema());
        Types { schema, root, open: Vec::new(), next: None }
    }

    /// Full name of the type of a message.
    pub fn root(&self) -> Option<&str> {
        Some(self.schema.as_ref()?.message(self.root?)?.full_name.as_str())
    }

    /// Name of the type of the elements of the innermost list.
    pub fn elements(&self) -> Option<String> {
        let (Holds::Elements(Some(id)), _) = self.open.last()? else { return None };
        Some(self.schema.as_ref()?.message(*id)?.name.clone())
    }

    /// Takes the next event.
    pub fn follow(&mut self, event: &Event<'_>) {
        if self.schema.is_none() {
            return;
        }
        match event {
            Event::Message(_) => self.next = Some(Holds::Fields(self.root)),
            Event::Begin(shape, _) => {
                let holds = self.next_value(*shape);
                self.open.push((holds, 0));
            }
            Event::End => {
                self.open.pop();
                self.passed();
            }
            Event::Scalar(Scalar::Text(name)) if self.at_key() => {
                self.next = std::str::from_utf8(name).ok().and_then(|name| self.field(name));
                self.passed();
            }
            Event::Scalar(_) => self.passed(),
            Event::Piece { last, .. } if *last => self.passed(),
            Event::Piece { .. } => {}
        }
    }

    /// An item of the innermost container is complete.
    fn passed(&mut self) {
        if let Some((_, items)) = self.open.last_mut() {
            *items = items.saturating_add(1);
        }
    }

    fn at_key(&self) -> bool {
        let is_map = |holds: &Holds| !matches!(holds, Holds::Elements(_));
        self.open.last().is_some_and(|(holds, items)| is_map(holds) && items.is_multiple_of(2))
    }

    /// What a field of the innermost message holds; an entry of a map, what its values are.
    fn field(&self, name: &str) -> Option<Holds> {
        let (holds, _) = self.open.last()?;
        let schema = self.schema.as_ref()?;
        let id = match holds {
            Holds::Fields(id) => (*id)?,
            Holds::Entries(value) => return Some(Holds::Fields(*value)),
            Holds::Elements(_) => return None,
        };
        let field = schema.message(id)?.field_by_name(name)?;
        Some(holds_of(field, schema))
    }

    /// What a container that begins holds.
    fn next_value(&mut self, shape: Shape) -> Holds {
        let next = match self.open.last() {
            Some((Holds::Elements(id), _)) => Some(Holds::Fields(*id)),
            _ => self.next.take(),
        };
        match (next, shape) {
            (Some(holds @ (Holds::Fields(_) | Holds::Entries(_))), Shape::Map) => holds,
            (Some(holds @ Holds::Elements(_)), Shape::List) => holds,
            (_, Shape::Map) => Holds::Fields(None),
            (_, Shape::List) => Holds::Elements(None),
        }
    }
}

fn holds_of(field: &Field, schema: &Schema) -> Holds {
    let id = field.kind.message();
    match field.cardinality {
        Cardinality::Singular => Holds::Fields(id),
        Cardinality::Repeated => Holds::Elements(id),
        Cardinality::Map => {
            let value = id.and_then(|id| schema.message(id)?.field(2)?.kind.message());
            Holds::Entries(value)
        }
    }
}
