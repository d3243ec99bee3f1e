//! Unions: which member is set, and who said so.

use crate::formats::capnp::encode::Writer;
use crate::formats::capnp::encode::frames::{Due, Target};
use crate::formats::capnp::encode::lookup::folded;
use crate::formats::target::nearest;
use crate::model::capnp::{FieldKind, Struct, Type};
use crate::model::events::Flow;
use crate::model::schema::MessageId;
use crate::model::value::{Event, Scalar};

/// What is known of a union of an open object.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Frames that are open, its object the innermost.
    frames: usize,
    /// The object.
    at: usize,
    /// The struct or group.
    id: MessageId,
    /// Its discriminator has come.
    told: bool,
    /// The member whose value has come.
    member: Option<u16>,
}

/// The unions of open objects.
#[derive(Debug, Default)]
pub struct Unions {
    known: Vec<Known>,
    /// Members that a later one has replaced.
    pub replaced: u64,
}

impl Unions {
    fn find(&self, frames: usize, at: usize, id: MessageId) -> Option<usize> {
        let here = self.known.iter().rev().take_while(|known| known.frames >= frames).count();
        let from = self.known.len().saturating_sub(here);
        let found = self.known.get(from..)?.iter().position(|known| known.at == at && known.id == id)?;
        Some(from.saturating_add(found))
    }

    /// Whether the discriminator of a union has come.
    pub fn told(&self, frames: usize, at: usize, id: MessageId) -> bool {
        self.find(frames, at, id).and_then(|found| self.known.get(found)).is_some_and(|known| known.told)
    }

    fn note(&mut self, frames: usize, at: usize, id: MessageId, member: Option<u16>) {
        if let Some(known) = self.find(frames, at, id).and_then(|found| self.known.get_mut(found)) {
            let other = member.is_some() && known.member.is_some() && known.member != member;
            self.replaced = self.replaced.saturating_add(u64::from(other));
            known.told |= member.is_none();
            known.member = member.or(known.member);
            return;
        }
        self.known.push(Known { frames, at, id, told: member.is_none(), member });
    }

    /// Objects deeper than so many frames are whole.
    pub fn forget(&mut self, frames: usize) {
        while self.known.last().is_some_and(|known| known.frames > frames) {
            self.known.pop();
        }
    }
}

impl Writer<'_> {
    /// Position of the member that the tag of a union says.
    pub(super) fn set_member(&self, at: usize, id: MessageId) -> Option<usize> {
        let record = self.record(id)?;
        let number = self.arena.bits(at, tag_bit(record)?, 16);
        record.fields.iter().position(|field| field.tag.is_some_and(|tag| u64::from(tag) == number))
    }

    /// A field gets a value: if it is the member of a union, that one is set.
    pub(super) fn choose(&mut self, target: Target) {
        let Some(record) = self.record(target.id) else { return };
        let Some(tag) = record.fields.get(target.field).and_then(|field| field.tag) else { return };
        let Some(bit) = tag_bit(record) else { return };
        self.arena.set_bits(target.at, bit, 16, u64::from(tag));
        self.unions.note(self.frames.len(), target.at, target.id, Some(tag));
    }

    /// The discriminator of a union.
    pub(super) fn tag(&mut self, at: usize, id: MessageId, event: &Event<'_>) -> Flow {
        let Event::Scalar(Scalar::Text(text)) = event else { return self.expected("the name of a member", event) };
        let text = String::from_utf8_lossy(text);
        let table = self.lookup.table(id);
        let other = || {
            let wanted = folded(&text);
            table.members.iter().find(|(name, _)| folded(name) == wanted).map(|(_, position)| *position)
        };
        let Some(field) = table.members.get(&*text).copied().or_else(other) else {
            let help = nearest(&text, table.members.keys().map(String::as_str));
            let what = self.capnp.type_name(Type::Struct(id));
            return self.misfit(format!("the union of {what} has no member `{}`", super::shown(&text)), help);
        };
        // What stands in the member that is set already may have come before this.
        if self.set_member(at, id) != Some(field)
            && let Some(record) = self.record(id)
            && let (Some(bit), Some(tag)) = (tag_bit(record), record.fields.get(field).and_then(|field| field.tag))
        {
            self.arena.set_bits(at, bit, 16, u64::from(tag));
            self.clear(Target { at, id, field });
        }
        self.unions.note(self.frames.len(), at, id, None);
        self.set_due(Due::Name);
        Ok(())
    }

    /// A field holds zeros again; of a group the fields outside its union, and the first member of that.
    pub(super) fn clear(&mut self, target: Target) {
        let mut due = vec![target];
        while let Some(target) = due.pop() {
            match self.field(target).map(|field| &field.kind) {
                Some(FieldKind::Group(group)) => self.clear_group(target.at, *group, &mut due),
                Some(FieldKind::Slot(slot)) => match slot.ty.bits() {
                    Some(width) => {
                        let from = u64::from(slot.offset).saturating_mul(u64::from(width));
                        self.arena.set_bits(target.at, from, width, 0);
                    }
                    None => self.arena.set_pointer(target.at, slot.offset, 0),
                },
                None => {}
            }
        }
    }

    fn clear_group(&mut self, at: usize, id: MessageId, due: &mut Vec<Target>) {
        let Some(record) = self.record(id) else { return };
        if let Some(bit) = tag_bit(record) {
            self.arena.set_bits(at, bit, 16, 0);
        }
        let cleared = record.fields.iter().enumerate().filter(|(_, field)| field.tag.is_none_or(|tag| tag == 0));
        due.extend(cleared.map(|(field, _)| Target { at, id, field }));
    }
}

/// Where the tag of a struct's union stands.
fn tag_bit(record: &Struct) -> Option<u64> {
    record.tag.map(|tag| u64::from(tag).saturating_mul(16))
}
