//! Map keys: the group of their entry, their one leaf, and whether they stand twice.

use std::borrow::Cow;

use super::decode::Walker;
use super::read;
use super::wire::{self, Body, First};
use crate::model::bytemap::{Flags, Group, GroupKind, NO_GROUP, Step, is_plain_name};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::Flow;
use crate::model::keys::Seen;
use crate::model::limits;
use crate::model::num::{self, len64};
use crate::model::value::{Event, Scalar};

impl Walker<'_> {
    /// A map key: the entry's group opens, with the key as its step.
    pub(super) fn key(&mut self) -> Flow {
        let first = match self.input.byte(self.at)? {
            Some(byte) => wire::first(byte),
            None => return Ok(()),
        };
        if matches!(first.body, Body::Few(..) | Body::Many(..)) {
            let step = format!("@{:#04x}", self.at);
            self.open(GroupKind::Value, Step::Key(&step))?;
            self.open_here(Step::None)?;
            self.keys_open = self.keys_open.saturating_add(1);
            let open = self.frames.len();
            self.object(true)?;
            if self.frames.len() == open {
                self.keys_open = self.keys_open.saturating_sub(1);
                self.close()?;
            }
            return Ok(());
        }
        let extent = self.extent(first)?;
        self.open_entry(first, extent)?;
        if first.body == Body::NeverUsed {
            return self.never_used();
        }
        if extent <= len64(limits::PIECE) { self.short_key(first, extent) } else { self.blob(first, Flags::KEY) }
    }

    /// Opens the group of an entry whose key is no container.
    pub(super) fn open_entry(&mut self, first: First, extent: u64) -> Flow {
        let kind = self.kind_at(self.at.saturating_add(extent))?;
        let wanted = usize::try_from(extent).unwrap_or(usize::MAX).min(limits::PATH_NAME * 4 + 16);
        let bytes = self.input.at(self.at, wanted)?;
        let name = read::key_name(first, bytes);
        let step = if first.is_str() && is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        let (id, parent) = (self.next_group, self.groups.last().copied().unwrap_or(NO_GROUP));
        self.out.open(&Group { id, parent, kind, step, start: self.at })?;
        self.groups.push(id);
        self.next_group = self.next_group.saturating_add(1);
        Ok(())
    }

    /// A key that is held whole: one leaf, head and content.
    pub(super) fn short_key(&mut self, first: First, extent: u64) -> Flow {
        let (start, wanted) = (self.at, usize::try_from(extent).unwrap_or(limits::PIECE));
        let bytes = self.input.at(start, wanted)?;
        let whole = bytes.len() == wanted;
        let end = start.saturating_add(len64(bytes.len()));
        let content = usize::try_from(first.head_bytes()).ok().and_then(|head| bytes.get(head..)).unwrap_or(&[]);
        let (value, mut found) = read::scalar(first, bytes, content, start);
        if whole && let Some(frame) = self.frames.last() {
            let (class, same) = key_identity(&value);
            self.keys.name(frame.scope);
            self.keys.feed(&[class]);
            self.keys.feed(&same);
            match self.keys.done(frame.scope, start) {
                Seen::New => {}
                Seen::Before(first_at) => {
                    self.out.duplicate_key()?;
                    found.push(duplicate(&value, start, end, first_at));
                }
                Seen::Unknown if self.told_full => {}
                Seen::Unknown => {
                    self.told_full = true;
                    found.push(not_compared(start, end));
                }
            }
        }
        if self.values {
            self.out.value(Event::Scalar(if whole { value } else { Scalar::Missing }))?;
        }
        let mut flags = Flags::KEY;
        if whole {
            flags = read::flags(&found).with(flags);
        } else {
            found.clear();
            self.cut = true;
            flags = flags.with(Flags::ERROR);
            let short = extent.saturating_sub(end.saturating_sub(start));
            let message = format!("this key, a {}, lacks {}", wire::name(first.kind), num::bytes(short));
            found.push(self.cut_off(start, end, format!("{message}{}", self.then_missing())));
        }
        for one in &found {
            self.out.diagnostic(one)?;
        }
        let leaf = self.leaf_to(end, first.kind, flags);
        self.out.leaf(&leaf, self.input.at(start, wanted)?)?;
        self.at = end;
        Ok(())
    }
}

/// A class and bytes that are equal where two keys are the same value, however written.
fn key_identity<'a>(value: &'a Scalar<'_>) -> (u8, Cow<'a, [u8]>) {
    let owned = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
    match value {
        Scalar::Null | Scalar::Missing | Scalar::Number(_) => (0, owned(&[])),
        Scalar::Bool(value) => (1, owned(&[u8::from(*value)])),
        Scalar::Uint(value) => (2, owned(&i128::from(*value).to_le_bytes())),
        Scalar::Int(value) => (2, owned(&i128::from(*value).to_le_bytes())),
        Scalar::F32(value) => (3, owned(&f64::from(*value).to_le_bytes())),
        Scalar::F64(value) => (3, owned(&value.to_le_bytes())),
        Scalar::Text(text) => (4, Cow::Borrowed(text)),
        Scalar::Bytes(bytes) => (5, Cow::Borrowed(bytes)),
        Scalar::Ext(kind, bytes) => (6, Cow::Owned([&kind.to_le_bytes()[..], bytes].concat())),
        Scalar::Timestamp(secs, nanos) => (7, owned(&[&secs.to_le_bytes()[..], &nanos.to_le_bytes()[..]].concat())),
    }
}

fn duplicate(key: &Scalar<'_>, start: u64, end: u64, first_at: u64) -> Diagnostic {
    let message = format!("key {} stands in this map twice, first at {first_at:#04x}", read::short(key));
    Diagnostic::new(Code::MpDuplicateKey, start, end, message).help("most readers keep the last one")
}

fn not_compared(start: u64, end: u64) -> Diagnostic {
    let message =
        format!("more than {} keys: from here on nobody looked for keys that stand twice", limits::REMEMBERED_KEYS);
    Diagnostic::new(Code::MpKeysNotCompared, start, end, message)
}
