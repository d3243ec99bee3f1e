//! Passing over whole objects without taking them apart: no stack, however deep they nest.

use super::wire::{self, Body};
use crate::model::num::len64;
use crate::model::value::Shape;
use crate::wire::reader::big_endian;

/// Skips whole objects without taking them apart: a count of objects due, and content still to pass.
pub struct Skip {
    /// Objects still to pass.
    pub pending: u64,
    /// Content bytes still to pass.
    pub content: u64,
}

impl Default for Skip {
    fn default() -> Skip {
        Skip { pending: 1, content: 0 }
    }
}

impl Skip {
    /// Whether something is still to pass.
    pub fn is_due(&self) -> bool {
        self.pending > 0 || self.content > 0
    }

    /// Passes over what it can of `bytes` and says how many bytes that were; a head that is cut by
    /// the end of `bytes` is left, unless it stands first.
    pub fn over(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0usize;
        loop {
            let pass = usize::try_from(self.content).unwrap_or(usize::MAX).min(bytes.len().saturating_sub(at));
            at = at.saturating_add(pass);
            self.content = self.content.saturating_sub(len64(pass));
            if self.content > 0 || self.pending == 0 {
                return at;
            }
            let Some(first) = bytes.get(at).map(|byte| wire::first(*byte)) else { return at };
            let head_len = usize::try_from(first.head_bytes()).unwrap_or(usize::MAX);
            let Some(head) = bytes.get(at..at.saturating_add(head_len)) else {
                return if at == 0 { bytes.len() } else { at };
            };
            at = at.saturating_add(head_len);
            self.content = first.content_len(head);
            let inside = match first.body {
                Body::Few(shape, count) => items(shape, count),
                Body::Many(shape, _) => items(shape, head.get(1..).map_or(0, big_endian)),
                _ => 0,
            };
            self.pending = self.pending.saturating_sub(1).saturating_add(inside);
        }
    }
}

fn items(shape: Shape, count: u64) -> u64 {
    if shape == Shape::Map { count.saturating_mul(2) } else { count }
}
