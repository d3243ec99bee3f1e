//! Any: an object whose `@type` says what the others are. Where it does not come first, what comes before it
//! is held back and taken behind it.

use std::borrow::Cow;

use crate::formats::protobuf::encode::{Frame, Writer, shown};
use crate::model::events::Flow;
use crate::model::schema::{MessageId, WellKnown};
use crate::model::value::{Event, Scalar};

/// Name of the member that says the type.
const AT_TYPE: &[u8] = b"@type";
/// Name of the member that holds a value with a form of its own.
const VALUE: &[u8] = b"value";

/// An event that is held back, with where it stands.
#[derive(Debug)]
pub struct Held {
    event: Event<'static>,
    start: u64,
    path: String,
}

impl Writer<'_> {
    fn put(&mut self, frame: Frame) {
        if let Some(last) = self.frames.last_mut() {
            *last = frame;
        }
    }

    /// In an Any of which nothing is known yet.
    pub(super) fn in_any(&mut self, start: u64, open: usize, event: Event<'_>) -> Flow {
        match &event {
            // Without anything in it, it is the empty Any.
            Event::End => {
                self.frames.pop();
                self.buffer.close_to(open);
                Ok(())
            }
            Event::Scalar(Scalar::Text(name)) if name.as_ref() == AT_TYPE => {
                self.put(Frame::AnyType { open });
                Ok(())
            }
            _ => {
                self.put(Frame::AnyHeld { start, depth: 0, open });
                self.hold(start, 0, open, event)
            }
        }
    }

    /// Holds an event back; where the object ends, its type goes first.
    pub(super) fn hold(&mut self, start: u64, depth: usize, open: usize, event: Event<'_>) -> Flow {
        let ends = matches!(event, Event::End) && depth == 0;
        let depth = match event {
            Event::Begin(..) => depth.saturating_add(1),
            Event::End => depth.saturating_sub(1),
            _ => depth,
        };
        let place = self.here.replayed.clone().unwrap_or_else(|| (self.here.start, self.here.group_path().to_string()));
        self.held.push(Held { event: owned(event), start: place.0, path: place.1 });
        if !ends {
            self.put(Frame::AnyHeld { start, depth, open });
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        let Some(at) = type_at(&held) else {
            return self.misfit_at(
                start,
                "an Any needs \"@type\"",
                "it names the type: \"type.googleapis.com/pkg.Name\"",
            );
        };
        let behind = held.split_off(at.saturating_add(2).min(held.len()));
        let told = held.split_off(at.min(held.len()));
        for one in told.into_iter().chain(held).chain(behind).rev() {
            self.queue.push_front(one);
        }
        self.put(Frame::Any { start, open });
        Ok(())
    }

    /// Takes what was held back.
    pub(super) fn replay(&mut self) -> Flow {
        while let Some(Held { event, start, path }) = self.queue.pop_front() {
            self.here.start = start;
            self.here.replayed = Some((start, path));
            self.step(event)?;
        }
        self.here.replayed = None;
        Ok(())
    }

    /// The value of `@type`.
    pub(super) fn any_type(&mut self, open: usize, event: &Event<'_>) -> Flow {
        let Event::Scalar(Scalar::Text(url)) = event else { return self.expected("the name of a type", event) };
        if !url.is_empty() {
            self.buffer.len_field(1, url);
        }
        let name = std::str::from_utf8(url).ok().and_then(|url| url.rsplit('/').next());
        let inner = name.and_then(|name| self.schema.message_by_full_name(name));
        match inner.map(|inner| (inner, self.well_known(inner))) {
            Some((inner, WellKnown::No)) => {
                self.frames.pop();
                self.buffer.begin_unless_empty(2);
                self.begin_message(inner, open);
            }
            _ => self.put(Frame::AnyValue { inner, seen: false, due: false, start: self.here.start, open }),
        }
        Ok(())
    }

    /// In an Any whose type has a form of its own: `value`.
    pub(super) fn any_value(
        &mut self,
        (inner, seen, due): (Option<MessageId>, bool, bool),
        start: u64,
        open: usize,
        event: &Event<'_>,
    ) -> Flow {
        if due {
            self.put(Frame::AnyValue { inner, seen: true, due: false, start, open });
            return self.any_content(inner, event);
        }
        match event {
            Event::End => {
                let empty = inner.is_some_and(|inner| self.well_known(inner) == WellKnown::Empty);
                if !seen && !empty {
                    return self.misfit_at(start, "an Any of this type needs \"value\"", "");
                }
                self.frames.pop();
                self.buffer.close_to(open);
                Ok(())
            }
            Event::Scalar(Scalar::Text(name)) if name.as_ref() == VALUE && !seen => {
                self.put(Frame::AnyValue { inner, seen, due: true, start, open });
                Ok(())
            }
            _ if inner.is_none() => {
                let help = "an Any of unknown type is taken with its bytes alone: {\"@type\", \"value\": base64}";
                self.misfit_at(start, "the schema does not have this type", help)
            }
            _ => {
                let start = self.here.begun();
                let name = match event {
                    Event::Scalar(Scalar::Text(name)) => String::from_utf8_lossy(name).into_owned(),
                    _ => String::new(),
                };
                self.misfit_at(start, format!("an Any of this type has \"value\" only, not `{}`", shown(&name)), "")
            }
        }
    }

    fn any_content(&mut self, inner: Option<MessageId>, event: &Event<'_>) -> Flow {
        let open = self.buffer.open();
        if let Some(inner) = inner {
            self.buffer.begin_unless_empty(2);
            return self.message_value(inner, event, open);
        }
        let bytes = match event {
            Event::Scalar(Scalar::Text(text)) => crate::formats::given::base64(text).map(Cow::Owned),
            Event::Scalar(Scalar::Bytes(bytes)) => Some(Cow::Borrowed(bytes.as_ref())),
            _ => None,
        };
        match bytes {
            Some(bytes) if bytes.is_empty() => Ok(()),
            Some(bytes) => {
                self.buffer.len_field(2, &bytes);
                Ok(())
            }
            None => self.expected("base64, since the schema does not have this type", event),
        }
    }
}

/// Where among the members of an object its `@type` stands.
fn type_at(held: &[Held]) -> Option<usize> {
    let (mut depth, mut items) = (0usize, 0usize);
    for (at, one) in held.iter().enumerate() {
        match &one.event {
            Event::Begin(..) => depth = depth.saturating_add(1),
            Event::End => {
                depth = depth.saturating_sub(1);
                items = items.saturating_add(usize::from(depth == 0));
            }
            Event::Scalar(scalar) if depth == 0 => {
                let name = items.is_multiple_of(2);
                items = items.saturating_add(1);
                if name && matches!(scalar, Scalar::Text(text) if text.as_ref() == AT_TYPE) {
                    return Some(at);
                }
            }
            Event::Scalar(_) | Event::Message(_) | Event::Piece { .. } => {}
        }
    }
    None
}

/// The same event with its own memory; pieces have been joined before.
fn owned(event: Event<'_>) -> Event<'static> {
    match event {
        Event::Message(number) => Event::Message(number),
        Event::Begin(shape, count) => Event::Begin(shape, count),
        Event::End | Event::Piece { .. } => Event::End,
        Event::Scalar(scalar) => Event::Scalar(scalar.into_owned()),
    }
}
