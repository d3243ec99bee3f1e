//! Values, apart from how they are written: a stream of events, and the tree that it builds.
//!
//! Lossless and in wire order: duplicate keys stay, keys may be anything, text keeps the bytes it
//! has. A map's items alternate key, value.

use std::borrow::Cow;

use crate::model::bytemap::{Group, GroupId, NO_GROUP};
use crate::model::events::{Flow, Sink};

/// A value without parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar<'a> {
    /// nil, null.
    Null,
    /// An announced value that the input does not have (damage).
    Missing,
    /// A boolean.
    Bool(bool),
    /// An integer written as not negative.
    Uint(u64),
    /// An integer written as signed.
    Int(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A JSON number by its text.
    Number(Cow<'a, str>),
    /// Text; UTF-8 unless the input is damaged.
    Text(Cow<'a, [u8]>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// A MessagePack ext object: application type and content.
    Ext(i8, Cow<'a, [u8]>),
    /// A point in time: seconds since 1970-01-01T00:00:00Z and nanoseconds, 0 to 999,999,999.
    Timestamp(i64, u32),
}

impl Scalar<'_> {
    /// The same value with its own memory.
    pub fn into_owned(self) -> Scalar<'static> {
        match self {
            Scalar::Null => Scalar::Null,
            Scalar::Missing => Scalar::Missing,
            Scalar::Bool(v) => Scalar::Bool(v),
            Scalar::Uint(v) => Scalar::Uint(v),
            Scalar::Int(v) => Scalar::Int(v),
            Scalar::F32(v) => Scalar::F32(v),
            Scalar::F64(v) => Scalar::F64(v),
            Scalar::Number(v) => Scalar::Number(Cow::Owned(v.into_owned())),
            Scalar::Text(v) => Scalar::Text(Cow::Owned(v.into_owned())),
            Scalar::Bytes(v) => Scalar::Bytes(Cow::Owned(v.into_owned())),
            Scalar::Ext(t, v) => Scalar::Ext(t, Cow::Owned(v.into_owned())),
            Scalar::Timestamp(s, n) => Scalar::Timestamp(s, n),
        }
    }
}

/// A number or boolean as people write it; none for the other scalars.
pub fn plain_words(value: &Scalar<'_>) -> Option<String> {
    Some(match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Uint(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::F32(value) => float32_words(*value),
        Scalar::F64(value) => ryu::Buffer::new().format(*value).to_string(),
        Scalar::Number(text) => text.to_string(),
        _ => return None,
    })
}

/// A float32 by its shortest decimal, a whole one with all of its digits: the shortest form of 2^31 would
/// be 2147483600.
pub fn float32_words(value: f32) -> String {
    if value.fract() == 0.0 {
        ryu::Buffer::new().format(f64::from(value)).to_string()
    } else {
        ryu::Buffer::new().format(value).to_string()
    }
}

/// A point in time as people write it, where the calendar of years -9999 to 9999 reaches it.
pub fn utc(secs: i64, nanos: u32) -> Option<String> {
    jiff::Timestamp::new(secs, i32::try_from(nanos).ok()?).ok().map(|time| time.to_string())
}

/// A value with parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Elements.
    List,
    /// Keys and values in turn.
    Map,
}

/// What a long value, sent in pieces, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// As [`Scalar::Text`].
    Text,
    /// As [`Scalar::Bytes`].
    Bytes,
    /// As [`Scalar::Ext`], with its type.
    Ext(i8),
}

/// One step through a value tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A message begins; messages in a row are counted from 0.
    Message(u64),
    /// A container begins, with the number of elements or entries it announces.
    Begin(Shape, Option<u64>),
    /// The innermost container ends.
    End,
    /// A value without parts.
    Scalar(Scalar<'a>),
    /// A part of a value too long to hold at once. `total` is its length in bytes where the input
    /// announces it. Text is cut anywhere, also inside a character.
    Piece {
        /// What it is a part of.
        of: Long,
        /// Length of the whole in bytes, where known.
        total: Option<u64>,
        /// The part.
        bytes: &'a [u8],
        /// The first part.
        first: bool,
        /// The last part.
        last: bool,
    },
}

/// A node of a value tree, with the group its bytes stand in.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The group it came from; [`NO_GROUP`] where there is none.
    pub group: GroupId,
}

/// A value tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value without parts.
    Scalar(Scalar<'static>),
    /// Elements.
    List(Vec<Node>),
    /// Entries, in wire order.
    Map(Vec<(Node, Node)>),
}

/// Builds the trees of all messages of an input.
#[derive(Debug, Default)]
pub struct TreeBuilder {
    /// Finished messages.
    pub messages: Vec<Node>,
    open: Vec<(Shape, GroupId, Vec<Node>)>,
    groups: Vec<GroupId>,
    long: Vec<u8>,
}

impl TreeBuilder {
    fn group(&self) -> GroupId {
        self.groups.last().copied().unwrap_or(NO_GROUP)
    }

    fn put(&mut self, node: Node) {
        match self.open.last_mut() {
            Some((_, _, items)) => items.push(node),
            None => self.messages.push(node),
        }
    }

    fn put_scalar(&mut self, scalar: Scalar<'static>) {
        let group = self.group();
        self.put(Node { value: Value::Scalar(scalar), group });
    }

    fn end(&mut self) {
        let Some((shape, group, items)) = self.open.pop() else { return };
        let value = match shape {
            Shape::List => Value::List(items),
            Shape::Map => Value::Map(pairs(items)),
        };
        self.put(Node { value, group });
    }
}

/// Items of a map in turn as entries; a key without value (damage) gets a missing one.
fn pairs(items: Vec<Node>) -> Vec<(Node, Node)> {
    let mut items = items.into_iter();
    let mut entries = Vec::new();
    while let Some(key) = items.next() {
        let missing = Node { value: Value::Scalar(Scalar::Missing), group: key.group };
        entries.push((key, items.next().unwrap_or(missing)));
    }
    entries
}

impl Sink for TreeBuilder {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.groups.push(group.id);
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        self.groups.pop();
        Ok(())
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Message(_) => {}
            Event::Begin(shape, _) => self.open.push((shape, self.group(), Vec::new())),
            Event::End => self.end(),
            Event::Scalar(scalar) => self.put_scalar(scalar.into_owned()),
            Event::Piece { of, bytes, first, last, .. } => {
                if first {
                    self.long.clear();
                }
                self.long.extend_from_slice(bytes);
                if last {
                    let bytes = Cow::Owned(std::mem::take(&mut self.long));
                    self.put_scalar(match of {
                        Long::Text => Scalar::Text(bytes),
                        Long::Bytes => Scalar::Bytes(bytes),
                        Long::Ext(kind) => Scalar::Ext(kind, bytes),
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::float32_words;

    #[test]
    fn a_whole_float32_has_all_of_its_digits() {
        assert_eq!([float32_words(2_147_483_648.0), float32_words(0.1)], ["2147483648.0", "0.1"]);
    }
}
