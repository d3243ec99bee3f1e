//! The objects of an input as a [`Chart`], with what the words of a dump need.

use crate::formats::capnp::layout::Shapes;
use crate::formats::capnp::message::Messages;
use crate::formats::capnp::objects::{Object, Objects, Reach, What};
use crate::formats::capnp::wire::ElementSize;
use crate::formats::scattered;
use crate::model::bytemap::{GroupKind, Step};
use crate::model::diag::{Diagnostic, Severity};
use crate::model::num::push_number;

/// Everything that was found, and the schema it is told by.
pub struct Chart<'a> {
    /// Its messages and segments.
    pub messages: &'a Messages,
    /// Its objects.
    pub objects: &'a Objects,
    /// The schema, where there is one.
    pub shapes: Option<&'a Shapes<'a>>,
    /// Objects by the pointer that leads to them first.
    by_pointer: Vec<(u64, u32)>,
}

/// The teller of a walk.
pub type Teller<'a> = scattered::Teller<'a, Chart<'a>>;

impl<'a> Chart<'a> {
    /// A chart of what was found.
    pub fn new(messages: &'a Messages, objects: &'a Objects, shapes: Option<&'a Shapes<'a>>) -> Chart<'a> {
        let led = |object: &Object| object.refs > 0 && !matches!(object.what, What::Pad);
        let mut by_pointer: Vec<(u64, u32)> = (0u32..)
            .zip(&objects.list)
            .filter(|(_, object)| led(object))
            .map(|(number, object)| (object.from, number))
            .collect();
        by_pointer.sort_unstable();
        Chart { messages, objects, shapes, by_pointer }
    }

    /// An object by its number.
    pub fn object(&self, number: u32) -> Option<&'a Object> {
        self.objects.list.get(usize::try_from(number).ok()?)
    }

    /// The object to which the pointer at an offset is the first that leads.
    pub fn led_from(&self, at: u64) -> Option<u32> {
        let place = self.by_pointer.binary_search_by_key(&at, |(from, _)| *from).ok()?;
        self.by_pointer.get(place).map(|(_, number)| *number)
    }

    /// Whether an object begins at an offset.
    pub fn begins(&self, at: u64) -> bool {
        let list = &self.objects.list;
        let from = list.partition_point(|object| object.start < at);
        list.get(from..).unwrap_or(&[]).iter().take_while(|object| object.start == at).any(|object| object.end > at)
    }

    /// The path of a pointer member of an object's type.
    pub fn member(&self, object: &Object, position: u16) -> Option<&'a str> {
        let What::Struct { ty: Some(ty), .. } = object.what else { return None };
        let shape = self.shapes?.shape(ty)?;
        shape.pointers.get(usize::from(position)).map(|member| member.path.as_str())
    }
}

impl scattered::Chart for Chart<'_> {
    fn count(&self) -> usize {
        self.objects.list.len()
    }

    fn parent(&self, number: u32) -> Option<(u32, u32)> {
        self.object(number).map(|object| (object.parent, object.level))
    }

    fn kind(&self, number: u32) -> GroupKind {
        match self.object(number).map(|object| object.what) {
            Some(What::Layer) => GroupKind::Root,
            Some(What::Message(_) | What::Struct { .. }) => GroupKind::Record,
            Some(What::List { size: ElementSize::Pointer, .. }) => GroupKind::List,
            Some(What::Structs { .. }) => GroupKind::List,
            Some(What::List { .. } | What::Pad) | None => GroupKind::Value,
        }
    }

    fn step<'a>(&'a self, number: u32, text: &'a mut String) -> Step<'a> {
        let Some(object) = self.object(number) else { return Step::None };
        match object.reach {
            Reach::Same => Step::None,
            Reach::Message(number) => Step::Message(u64::from(number)),
            Reach::Index(index) => Step::Index(u64::from(index)),
            Reach::Member(position) => {
                let parent = self.object(object.parent);
                Step::Name(parent.and_then(|parent| self.member(parent, position)).unwrap_or(""))
            }
            Reach::Pointer(index) => {
                push_pointer(text, index);
                Step::Name(text)
            }
        }
    }

    fn fault(&self, at: usize) -> Option<(u64, u64, Severity)> {
        self.objects.faults.get(at).map(|fault| (fault.start, fault.end, fault.what.severity()))
    }

    fn diagnostic(&self, at: usize, _open: &[u32]) -> Option<Diagnostic> {
        self.objects.faults.get(at).map(|fault| fault.told())
    }
}

/// The name of a pointer that no schema names: `ptr2`.
pub fn push_pointer(text: &mut String, index: u16) {
    text.push_str("ptr");
    push_number(text, u64::from(index));
}

/// The name of a data word that no schema names: `word2`.
pub fn push_word(text: &mut String, index: u64) {
    text.push_str("word");
    push_number(text, index);
}
