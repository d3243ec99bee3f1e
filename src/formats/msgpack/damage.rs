//! Objects that the end of the input cuts: what is there, and what is missing, of them and around them.

use super::decode::{Walker, count_kind};
use super::wire::{self, Body, First};
use crate::model::bytemap::Flags;
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::Flow;
use crate::model::num;
use crate::model::value::{Scalar, Shape};

impl Walker<'_> {
    /// The input ends between the first byte and the content; `sizes` bytes stand there.
    pub(super) fn cut_head(&mut self, first: First, sizes: u64) -> Flow {
        self.cut = true;
        let (start, end) = (self.at, self.at.saturating_add(1).saturating_add(sizes));
        let due = first.head_bytes().saturating_sub(1).saturating_sub(sizes);
        let what = format!("this {} lacks {} of its head", wire::name(first.kind), num::bytes(due));
        let found = self.cut_off(start, end, format!("{what}{}", self.then_missing()));
        self.out.diagnostic(&found)?;
        let flags = self.key_flag().with(Flags::ERROR);
        let length = match first.body {
            Body::Many(shape, _) => count_kind(shape),
            _ => wire::LENGTH,
        };
        self.put(1, first.kind, flags)?;
        self.put(sizes.min(first.sizing_bytes()), length, flags)?;
        self.put(sizes.saturating_sub(first.sizing_bytes()), wire::EXT_TYPE, flags)?;
        self.scalar(Scalar::Missing)
    }

    /// The input ends inside the content: `there` of `len` bytes stand there.
    pub(super) fn cut_content(&mut self, first: First, kind: u8, there: u64, len: u64, flags: Flags) -> Flow {
        self.cut = true;
        let begin = self.at.saturating_add(first.head_bytes());
        let from = if there == 0 { self.at } else { begin };
        let found = self.cut_off(from, begin.saturating_add(there), self.lacks(first, there, len));
        self.out.diagnostic(&found)?;
        let flags = flags.with(Flags::ERROR);
        self.put_head(first, first.sizing_bytes(), flags)?;
        self.put(there, kind, flags)?;
        self.scalar(Scalar::Missing)
    }

    pub(super) fn lacks(&self, first: First, there: u64, len: u64) -> String {
        let (name, short) = (wire::name(first.kind), len.saturating_sub(there));
        let are = if short == 1 { "is" } else { "are" };
        format!("{short} of the {} of this {name} {are} missing{}", num::bytes(len), self.then_missing())
    }

    pub(super) fn then_missing(&self) -> String {
        let missing = self.missing();
        if missing.is_empty() { String::new() } else { format!(", then {missing}") }
    }

    /// A finding that the input is cut, with what that means for the containers around.
    pub(super) fn cut_off(&self, start: u64, end: u64, message: String) -> Diagnostic {
        let mut found = Diagnostic::new(Code::MpCut, start, end, message)
            .help(format!("everything before {:#04x} is complete; was the input cut off?", self.at.min(start)));
        for frame in &self.frames {
            let (begun, all) = (frame.units(frame.done), frame.units(frame.total));
            if begun < all {
                found.remarks.push((frame.head, format!("{begun} begun")));
            }
        }
        found
    }

    /// What the open containers still announce: `1 element of the array at 0x03 and 2 entries …`
    pub(super) fn missing(&self) -> String {
        let mut parts = Vec::new();
        let mut more = 0usize;
        let Some(innermost) = self.frames.last() else { return String::new() };
        for frame in self.frames.iter().rev() {
            let half = frame.shape == Shape::Map && frame.done % 2 == 1;
            let left = frame.units(frame.total).saturating_sub(frame.units(frame.done));
            let (unit, of) = match (frame.shape, left) {
                (Shape::Map, 1) => ("entry", "map"),
                (Shape::Map, _) => ("entries", "map"),
                (Shape::List, 1) => ("element", "array"),
                (Shape::List, _) => ("elements", "array"),
            };
            if parts.len() >= 3 {
                more = more.saturating_add(usize::from(left > 0));
                continue;
            }
            if half && std::ptr::eq(frame, innermost) {
                parts.push("the value of this key".to_string());
            }
            if left > 0 {
                parts.push(format!("{left} {unit} of the {of} at {:#04x}", frame.head));
            }
        }
        if more > 0 {
            parts.push(format!("parts of {more} more containers"));
        }
        num::listed(&parts)
    }
}
