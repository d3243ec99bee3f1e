//! The walk.

use crate::formats::Context;
use crate::model::bytemap::{Group, GroupKind, Kind, Leaf, NO_GROUP, Step};
use crate::model::events::{Flow, Sink};
use crate::wire::reader::Window;

/// Walks a buffer.
///
/// # Errors
/// What stopped the walk.
pub fn decode(input: &mut Window, _context: &Context<'_>, out: &mut dyn Sink) -> Flow {
    out.open(&Group { id: 0, parent: NO_GROUP, kind: GroupKind::Root, step: Step::None, start: 0, again: false })?;
    let mut at = 0;
    loop {
        let piece = input.at(at, crate::model::limits::PIECE)?;
        if piece.is_empty() {
            break;
        }
        let end = at + crate::model::num::len64(piece.len());
        out.leaf(&Leaf::new(at, end, 0, Kind::UNREAD), piece)?;
        at = end;
    }
    out.close(0, at)
}
