//! The walk: finds the objects ([`super::objects`]), then tells them in the order of the file, with the bytes
//! between them.

use crate::formats::Context;
use crate::formats::capnp::chart::{Chart, Teller};
use crate::formats::capnp::faults::{Fault, Wrong};
use crate::formats::capnp::layout::Shapes;
use crate::formats::capnp::message::{self, Messages};
use crate::formats::capnp::objects::{self, Object, What};
use crate::formats::capnp::packed::Unpacked;
use crate::formats::capnp::{canonical_form, gaps, lists, packed, pointers, structs, wire};
use crate::formats::scattered::NONE;
use crate::model::bytemap::{Flags, GroupKind, Step};
use crate::model::events::{Flow, Inner, Sink};
use crate::model::num::{count, len64, push_number};
use crate::model::schema::MessageId;
use crate::wire::reader::{Bytes, Window};

/// Walks an input.
///
/// # Errors
/// What stopped the walk.
pub fn decode(input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    let bytes = input.all(u64::MAX)?.unwrap_or_default();
    if !is_packed(context.variant) {
        return words(Bytes(&bytes), context, None, out);
    }
    let unpacked = packed::unpack(&bytes, true);
    let inner = Bytes(&unpacked.bytes);
    let mut causes = packed::Causes::default();
    words(inner, context, None, &mut causes)?;
    let found = messages(inner, context.variant);
    let past = packed::run_past(&unpacked, found.end);
    let unpacked = told_at_end(unpacked, &found, len64(bytes.len()));
    let inner = Bytes(&unpacked.bytes);
    if bytes.is_empty() {
        let empty = Fault { start: 0, end: 0, what: Wrong::Empty };
        out.diagnostic(&empty.told())?;
    }
    packed::tell(&bytes, &unpacked, &causes, past, context.owner, out)?;
    if unpacked.bytes.is_empty() {
        return Ok(());
    }
    let name = if context.variant == "packed" { "Cap'n Proto, framed" } else { "Cap'n Proto, flat" };
    let (end, size) = (len64(bytes.len()), inner.len());
    out.layer(&Inner { name, by: "packed", start: 0, end, size })?;
    let sizes = if out.wants_words() { packed::foot(&unpacked, &bytes) } else { None };
    words(inner, context, sizes, out)
}

/// Words that a segment table announces and that are missing are missing at the end of the packed bytes.
fn told_at_end(mut unpacked: Unpacked, messages: &Messages, size: u64) -> Unpacked {
    if unpacked.wrong.is_none()
        && let Some(fault) = messages.faults.iter().find(|fault| fault.what.is_cut())
    {
        unpacked.wrong = Some(Fault { start: size, end: size, what: fault.what }.told());
    }
    unpacked
}

/// Whether a variant packs its words.
pub fn is_packed(variant: &str) -> bool {
    matches!(variant, "packed" | "flat-packed")
}

/// The words of an input: unpacked where the variant packs them.
pub fn unpacked(bytes: Vec<u8>, variant: &str) -> Vec<u8> {
    if is_packed(variant) { packed::unpack(&bytes, false).bytes } else { bytes }
}

/// The messages of unpacked bytes, by the variant.
pub fn messages(bytes: Bytes<'_>, variant: &str) -> Messages {
    match variant {
        "flat" | "flat-packed" | "canonical" => message::flat(bytes),
        _ => message::framed(bytes),
    }
}

/// The schema that messages are read by, and their type.
pub fn schema_of<'a>(context: &Context<'a>) -> Option<(Shapes<'a>, Option<MessageId>)> {
    let capnp = context.schema?.capnp.as_deref()?;
    Some((Shapes::new(capnp), context.root))
}

/// Walks unpacked bytes; `sizes` is what the foot says of their packing.
fn words(bytes: Bytes<'_>, context: &Context<'_>, sizes: Option<String>, out: &mut dyn Sink) -> Flow {
    let mut messages = messages(bytes, context.variant);
    if is_packed(context.variant) {
        messages.faults.retain(|fault| !fault.what.is_cut());
    }
    let schema = schema_of(context);
    let (shapes, root) = match &schema {
        Some((shapes, root)) => (Some(shapes), *root),
        None => (None, None),
    };
    let found = objects::search(bytes, &messages, shapes, root, context.depth);
    let chart = Chart::new(&messages, &found, shapes);
    let mut walk = Walk { teller: Teller::new(bytes, &chart, context.owner, out), next: 0, segment: None };
    walk.all()?;
    if walk.teller.words {
        let line = canonical_form::line(bytes, &messages, &found);
        walk.teller.out.foot(&[Some(line), sizes].into_iter().flatten().collect::<Vec<_>>().join("\n"))?;
    }
    Ok(())
}

/// The second half of a walk: objects in the order of the file.
pub struct Walk<'a> {
    /// What is told through.
    pub teller: Teller<'a>,
    /// The next object.
    pub next: u32,
    /// The last segment that had a heading.
    segment: Option<u32>,
}

impl<'a> Walk<'a> {
    fn all(&mut self) -> Flow {
        self.teller.enter(0)?;
        self.next = 1;
        while let Some(object) = self.teller.chart.object(self.next).copied() {
            let number = self.next;
            self.next = number.saturating_add(1);
            if object.end <= self.teller.at && !matches!(object.what, What::Message(_)) {
                continue;
            }
            gaps::up_to(self, object.start)?;
            self.tell(number, &object)?;
        }
        let end = self.teller.bytes.len();
        gaps::up_to(self, end)?;
        self.teller.finish()
    }

    fn tell(&mut self, number: u32, object: &Object) -> Flow {
        self.teller.enter(number)?;
        match object.what {
            What::Layer => Ok(()),
            What::Message(at) => self.table(number, at),
            What::Struct { ty, data, pointers } => {
                let heading = structs::heading(&self.teller, object, ty);
                self.heading(object, &heading, &pointers::from_words(object))?;
                structs::tell(self, object, ty, (data, pointers))
            }
            What::List { .. } => lists::tell(self, object),
            What::Structs { .. } => lists::structs(self, number, object),
            What::Pad => pointers::pad(self, object),
        }
    }

    /// The segment table of a message, and its root pointer.
    fn table(&mut self, number: u32, at: u32) -> Flow {
        let messages = self.teller.chart.messages;
        let Some(message) = usize::try_from(at).ok().and_then(|at| messages.list.get(at)).copied() else {
            return Ok(());
        };
        if messages.list.len() > 1 {
            let text = format!("   -- message {at}: {:#04x}..{:#04x}", message.start, message.end);
            self.teller.heading(self.rank(number), &text, "")?;
        } else {
            self.teller.heading(self.rank(number), "", "")?;
        }
        if message.table_end > message.start {
            self.sizes(message.start, message.count, message.table_end)?;
        }
        let Some(segment) = self.segment_of(message.first) else { return Ok(()) };
        if segment.0.saturating_add(wire::WORD) > segment.1 {
            return Ok(());
        }
        let heading = self.segment_heading(message.first).unwrap_or_default();
        self.teller.heading(self.rank(number), &heading, "")?;
        pointers::tell(self, segment.0, message.first, Step::None, "(root pointer)")
    }

    fn sizes(&mut self, start: u64, segments: u32, table_end: u64) -> Flow {
        let teller = &mut self.teller;
        teller.enter_field(Step::None, GroupKind::Value)?;
        if teller.words {
            let said = teller.say();
            said.field.push_str("(segment table)");
            said.words = format!("{} (stored - 1)", count(u64::from(segments), "segment", "segments"));
        }
        let mut at = start.saturating_add(4);
        teller.leaf(start, at, wire::SEGMENT_COUNT, None, Flags::NONE)?;
        for number in 0..segments {
            let words = u64::from(teller.bytes.u32(at).unwrap_or(0));
            if teller.words {
                let said = teller.say();
                said.words.push('|');
                push_number(&mut said.words, words);
                if number == 0 {
                    said.words.push_str(if words == 1 { " word" } else { " words" });
                }
            }
            teller.leaf(at, at.saturating_add(4), wire::SEGMENT_SIZE, None, Flags::NONE)?;
            at = at.saturating_add(4);
        }
        if teller.words {
            teller.say().words.push_str("|padding");
        }
        teller.leaf(at, table_end, wire::TABLE_PADDING, None, Flags::NONE)?;
        teller.leave_field()
    }

    /// The line above an object; in front of the first one in a segment stands that of the segment.
    ///
    /// # Errors
    /// What the sink returns.
    pub fn heading(&mut self, object: &Object, text: &str, from: &str) -> Flow {
        if !self.teller.words {
            return Ok(());
        }
        match self.segment_heading(object.segment) {
            Some(segment) if !text.is_empty() => self.teller.heading(object.rank, &format!("{segment}\n{text}"), from),
            Some(segment) => self.teller.heading(object.rank, &segment, ""),
            None => self.teller.heading(object.rank, text, from),
        }
    }

    /// The heading of a segment that had none yet.
    fn segment_heading(&mut self, segment: u32) -> Option<String> {
        let messages = self.teller.chart.messages;
        let message = messages.list.iter().rev().find(|message| message.first <= segment)?;
        if self.segment == Some(segment) || !self.teller.words {
            return None;
        }
        self.segment = Some(segment);
        if message.table_end == message.start {
            return None;
        }
        let (start, end) = self.segment_of(segment)?;
        let words = count(end.saturating_sub(start) / wire::WORD, "word", "words");
        Some(format!("   -- segment {}: {words}, {start:#04x}..{end:#04x}", segment.saturating_sub(message.first)))
    }

    fn segment_of(&self, number: u32) -> Option<(u64, u64)> {
        let segment = self.teller.chart.messages.segments.get(usize::try_from(number).ok()?)?;
        Some((segment.start, segment.end))
    }

    fn rank(&self, number: u32) -> u32 {
        self.teller.chart.object(number).map_or(NONE, |object| object.rank)
    }
}
