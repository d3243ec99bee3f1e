//! Values in the order of the schema, for writers that do not take them as they come: each message is held whole and
//! sent again.

use crate::formats::flatbuffers::encode::Writer;
use crate::formats::{Encoder, FlatOrder};
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::flat::{Flat, Of, Shape as FieldShape};
use crate::model::schema::MessageId;
use crate::model::value::{Event, Node, Scalar, Shape, TreeBuilder, Value};

/// Holds a message and hands it on in order.
pub struct Ordered<'a> {
    inner: Writer<'a>,
    tree: TreeBuilder,
}

impl<'a> Ordered<'a> {
    /// In front of a writer.
    pub fn new(inner: Writer<'a>) -> Ordered<'a> {
        Ordered { inner, tree: TreeBuilder::default() }
    }

    fn hand_on(&mut self) -> Flow {
        let (flat, root) = (self.inner.flat, self.inner.root);
        let drop_empty = self.inner.style.order == FlatOrder::Schema;
        for message in std::mem::take(&mut self.tree.messages) {
            let mut sorter = Sorter { flat, drop_empty, out: &mut self.inner };
            sorter.send(message, Some(Of::Table(root)))?;
        }
        Ok(())
    }
}

impl Sink for Ordered<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.inner.open(group)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.inner.close(id, end)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        self.inner.leaf(leaf, head)
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        self.tree.value(event)
    }
}

impl Encoder for Ordered<'_> {
    fn finish(&mut self) -> Flow {
        self.hand_on()?;
        self.inner.finish()
    }

    fn losses(&self) -> Vec<String> {
        self.inner.losses()
    }
}

/// What is still to be sent.
enum Work {
    Value(Node, Option<Of>),
    End,
}

struct Sorter<'a, 's> {
    flat: &'a Flat,
    drop_empty: bool,
    out: &'s mut Writer<'a>,
}

impl Sorter<'_, '_> {
    fn send(&mut self, node: Node, of: Option<Of>) -> Flow {
        let mut list = vec![Work::Value(node, of)];
        while let Some(work) = list.pop() {
            match work {
                Work::End => self.out.value(Event::End)?,
                Work::Value(node, of) => match node.value {
                    Value::Scalar(scalar) => self.out.value(Event::Scalar(scalar))?,
                    Value::List(items) => {
                        self.out.value(Event::Begin(Shape::List, None))?;
                        list.push(Work::End);
                        list.extend(items.into_iter().rev().map(|item| Work::Value(item, of)));
                    }
                    Value::Map(entries) => {
                        self.out.value(Event::Begin(Shape::Map, None))?;
                        list.push(Work::End);
                        let entries = self.sorted(entries, of);
                        for (key, value, of) in entries.into_iter().rev() {
                            list.push(Work::Value(value, of));
                            list.push(Work::Value(key, None));
                        }
                    }
                },
            }
        }
        Ok(())
    }

    /// The members of an object in the order of its type, each with what it is.
    fn sorted(&self, entries: Vec<(Node, Node)>, of: Option<Of>) -> Vec<(Node, Node, Option<Of>)> {
        let ty = match of {
            Some(Of::Table(id) | Of::Struct(id)) => Some(id),
            _ => None,
        };
        let object = ty.and_then(|id: MessageId| self.flat.object(id));
        let mut named: Vec<(usize, Node, Node, Option<Of>)> = Vec::new();
        let union = self.member_of(&entries, ty);
        for (key, value) in entries {
            let name = match &key.value {
                Value::Scalar(Scalar::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            };
            let place = object.and_then(|object| object.fields.iter().position(|field| field.name == name));
            let field = place.and_then(|place| object?.fields.get(place));
            let empty = match &value.value {
                Value::List(items) => items.is_empty(),
                Value::Scalar(Scalar::Text(text)) => {
                    text.is_empty() && field.is_some_and(|field| field.ty.of == Of::Text)
                }
                _ => false,
            };
            let is_vector = field.is_some_and(|field| !matches!(field.ty.shape, FieldShape::Array(_)));
            if self.drop_empty && empty && is_vector && !field.is_some_and(|field| field.required) {
                continue;
            }
            let of = match field.map(|field| field.ty.of) {
                Some(Of::Union(_)) => union.iter().find(|(at, _)| Some(*at) == place).map(|(_, of)| *of),
                Some(_) if field.is_some_and(|field| field.nested.is_some()) => {
                    field.and_then(|field| field.nested).map(Of::Table)
                }
                other => other,
            };
            named.push((place.unwrap_or(usize::MAX), key, value, of));
        }
        named.sort_by_key(|(place, ..)| *place);
        named.into_iter().map(|(_, key, value, of)| (key, value, of)).collect()
    }

    /// The members that the unions of an object hold, by position.
    fn member_of(&self, entries: &[(Node, Node)], ty: Option<MessageId>) -> Vec<(usize, Of)> {
        let Some(object) = ty.and_then(|id| self.flat.object(id)) else { return Vec::new() };
        let mut found = Vec::new();
        for (key, value) in entries {
            let (Value::Scalar(Scalar::Text(name)), Value::Scalar(Scalar::Text(member))) = (&key.value, &value.value)
            else {
                continue;
            };
            let place = object.fields.iter().position(|field| field.name.as_bytes() == name.as_ref());
            let field = place.and_then(|place| object.fields.get(place));
            let Some((place, Of::UnionType(id))) = place.zip(field.map(|field| field.ty.of)) else { continue };
            let one = self.flat.enumeration(id);
            let value = one.and_then(|one| one.values.iter().find(|value| value.name.as_bytes() == member.as_ref()));
            if let Some(of) = value.and_then(|value| value.member) {
                found.push((place.saturating_add(1), of));
            }
        }
        found
    }
}
