//! Map keys: the group of their entry, their one leaf, and whether they stand twice.

use std::borrow::Cow;

use super::decode::Walker;
use super::read;
use super::wire::{self, Body, First};
use crate::model::bytemap::{Flags, Group, GroupKind, NO_GROUP, Step, is_plain_name, next_group};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::Flow;
use crate::model::keys::Seen;
use crate::model::limits;
use crate::model::num::{self, len64};
use crate::model::value::{Event, Long, Scalar};

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
        if extent <= len64(limits::PIECE) {
            self.short_key(first, extent)
        } else {
            self.blob(first, Flags::KEY.with(Flags::NESTED))
        }
    }

    /// Opens the group of an entry whose key is no container.
    pub(super) fn open_entry(&mut self, first: First, extent: u64) -> Flow {
        let kind = self.kind_at(self.at.saturating_add(extent))?;
        let wanted = usize::try_from(extent).unwrap_or(usize::MAX).min(limits::PATH_NAME * 4 + 16);
        let bytes = self.input.at(self.at, wanted)?;
        // A key that the end cuts has no name yet.
        let cut = len64(bytes.len()) < extent.min(len64(wanted)) || first.body == Body::NeverUsed;
        let name = if cut { format!("@{:#04x}", self.at) } else { read::key_name(first, bytes) };
        let step = if !cut && first.is_str() && is_plain_name(&name) { Step::Name(&name) } else { Step::Key(&name) };
        let (id, parent) = (self.next_group, self.groups.last().copied().unwrap_or(NO_GROUP));
        self.out.open(&Group { id, parent, kind, step, start: self.at, again: false })?;
        self.groups.push(id);
        self.next_group = next_group(self.next_group);
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
        if whole && let Some(scope) = self.frames.last().map(|frame| frame.scope) {
            let (class, same) = key_identity(&value);
            self.keys.name(scope);
            self.keys.feed(&[class]);
            self.keys.feed(&same);
            let known = self.keys.done(scope, start);
            if matches!(known, Seen::Before(_)) {
                self.out.duplicate_key()?;
            }
            found.extend(twice(known, &mut self.told_full, || read::short(&value), start, end));
        }
        if self.values {
            self.out.value(Event::Scalar(if whole { value } else { Scalar::Missing }))?;
        }
        let mut flags = read::flags(&found).with(Flags::KEY);
        if !whole {
            found.clear();
            self.cut = true;
            flags = Flags::KEY.with(Flags::ERROR);
            let short = extent.saturating_sub(end.saturating_sub(start));
            let message = format!("this key, {}, lacks {}", wire::article(first.kind), num::bytes(short));
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

    /// A key too long to hold begins: what follows is hashed as it passes.
    pub(super) fn begin_long_key(&mut self, flags: Flags, of: Long) {
        if let Some(scope) = self.frames.last().map(|frame| frame.scope).filter(|_| flags.has(Flags::KEY)) {
            let class = match of {
                Long::Text => TEXT,
                Long::Bytes => BYTES,
                Long::Ext(_) => EXT,
            };
            self.keys.name(scope);
            self.keys.feed(&[class]);
        }
    }

    /// That key has passed.
    pub(super) fn end_long_key(&mut self, flags: Flags, start: u64) -> Flow {
        let Some(scope) = self.frames.last().map(|frame| frame.scope).filter(|_| flags.has(Flags::KEY)) else {
            return Ok(());
        };
        let known = self.keys.done(scope, start);
        if matches!(known, Seen::Before(_)) {
            self.out.duplicate_key()?;
        }
        let size = self.at.saturating_sub(start);
        let told = twice(known, &mut self.told_full, || format!("of {}", num::bytes(size)), start, self.at);
        told.map_or(Ok(()), |found| self.out.diagnostic(&found))
    }
}

/// The finding on a key that stands twice, or of which nobody knows; that is told once.
fn twice(known: Seen, told: &mut bool, key: impl Fn() -> String, start: u64, end: u64) -> Option<Diagnostic> {
    match known {
        Seen::New => None,
        Seen::Before(first) => {
            let message = format!("key {} stands in this map twice, first at {first:#04x}", key());
            Some(Diagnostic::new(Code::MpDuplicateKey, start, end, message).help("most readers keep the last one"))
        }
        Seen::Unknown if std::mem::replace(told, true) => None,
        Seen::Unknown => {
            let most = limits::REMEMBERED_KEYS;
            let message = format!("more than {most} keys: from here on nobody looked for keys that stand twice");
            Some(Diagnostic::new(Code::MpKeysNotCompared, start, end, message))
        }
    }
}

/// Classes of keys: two keys are equal where class and bytes are.
const TEXT: u8 = 4;
const BYTES: u8 = 5;
const EXT: u8 = 6;

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
        Scalar::Text(text) => (TEXT, Cow::Borrowed(text)),
        Scalar::Bytes(bytes) => (BYTES, Cow::Borrowed(bytes)),
        Scalar::Ext(kind, bytes) => (EXT, Cow::Owned([&kind.to_le_bytes()[..], bytes].concat())),
        Scalar::Timestamp(secs, nanos) => (7, owned(&[&secs.to_le_bytes()[..], &nanos.to_le_bytes()[..]].concat())),
    }
}
