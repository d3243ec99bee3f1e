//! Values without a schema: words in hex, pointers by number, bytes that look like text as text.

use std::borrow::Cow;

use super::{Frame, Sections, Writer, blob, words_of};
use crate::formats::capnp::resolve::{Place, Target};
use crate::formats::capnp::wire::{ElementSize, Pointer, WORD, pointer};
use crate::model::capnp::Type;
use crate::model::events::Flow;
use crate::model::num::len64;
use crate::model::value::{Event, Scalar, Shape as Container};
use crate::wire::reader::little_endian;

/// The type that numbers of an element size are sent as.
pub fn number_type(size: ElementSize) -> Type {
    match size {
        ElementSize::Void => Type::Void,
        ElementSize::Bit => Type::Bool,
        ElementSize::Byte => Type::Uint8,
        ElementSize::TwoBytes => Type::Uint16,
        ElementSize::FourBytes => Type::Uint32,
        _ => Type::Uint64,
    }
}

impl Writer<'_, '_> {
    /// Begins a struct of which only words and pointers are known.
    pub fn blind(&mut self, at: Sections) -> Flow {
        self.unnamed = true;
        self.out.value(Event::Begin(Container::Map, None))?;
        self.stack.push(Frame::Blind { at, next: 0 });
        Ok(())
    }

    /// The next word or pointer of a struct; what is zero is left out.
    pub fn blind_part(&mut self, index: u64) -> Flow {
        let Some(Frame::Blind { at, .. }) = self.stack.last().cloned() else { return Ok(()) };
        let words = len64(words_of(self.bytes, at).len()) / WORD;
        if index < words {
            let place = at.at.saturating_add(index.saturating_mul(WORD));
            let word = little_endian(self.bytes.clipped(place, place.saturating_add(WORD)));
            if word == 0 {
                return Ok(());
            }
            self.text(&format!("word{index}"))?;
            return self.text(&format!("{word:#018x}"));
        }
        let number = index.saturating_sub(words);
        if number >= u64::from(at.pointers) {
            return self.end();
        }
        let place = at.at.saturating_add(at.bytes).saturating_add(number.saturating_mul(WORD));
        let word = self.bytes.u64(place).unwrap_or(0);
        if word == 0 {
            return Ok(());
        }
        self.text(&format!("ptr{number}"))?;
        if let Pointer::Capability(index) = pointer(word) {
            return self.text(&format!("capability {index}"));
        }
        self.pointer(Place { at: place, segment: at.segment }, None)
    }

    /// Bytes of no known type: text where they look like it, else an array.
    pub fn blind_bytes(&mut self, target: &Target) -> Flow {
        let bytes = blob(self.bytes, target);
        match bytes.split_last() {
            Some((0, text)) if std::str::from_utf8(text).is_ok_and(|text| !text.contains('\0')) => {
                self.send(Scalar::Text(Cow::Borrowed(text)))
            }
            _ => self.bytes_of(target),
        }
    }
}
