//! What the driver does with bytes that no format fits, and how it looks for findings alone.

use super::title;
use crate::formats::Candidate;
use crate::formats::plain::PLAIN_TEXT;
use crate::framing::magic;
use crate::model::bytemap::{Group, GroupKind, Kind, Leaf, NO_GROUP, Step};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::value::Event;
use crate::wire::reader::Window;

/// Hands on findings alone.
pub struct Findings<'a>(pub &'a mut dyn Sink);

impl Sink for Findings<'_> {
    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.0.diagnostic(found)
    }
}

/// Hands on values alone.
pub struct Values<'a>(pub &'a mut dyn Sink);

impl Sink for Values<'_> {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        self.0.value(event)
    }

    fn duplicate_key(&mut self) -> Flow {
        self.0.duplicate_key()
    }

    fn left_out(&mut self, sentence: &str) -> Flow {
        self.0.left_out(sentence)
    }
}

/// Bytes that no format fits: one leaf a piece, and one error that says why none fits.
pub fn unrecognised(window: &mut Window, candidates: &[Candidate], out: &mut dyn Sink) -> Flow {
    let first = window.at(0, 32)?.to_vec();
    let (code, message, help) = match candidates.first() {
        _ if window.byte(0)?.is_none() => {
            let help = "every format of this version has at least one byte for a message";
            (Code::EmptyInput, "0 bytes: nothing to decode".to_string(), help)
        }
        _ if magic::named(&first).is_some() => {
            let what = magic::named(&first).unwrap_or("something else");
            let help = "-f FORMAT reads it as that format anyway, as far as it goes";
            (
                Code::UnknownFormat,
                format!("by its first bytes this is {what}, not a message in a format that is known here"),
                help,
            )
        }
        Some(best) if best.format == PLAIN_TEXT && best.score > 0 => {
            let help = "-f FORMAT reads it as that format anyway; -e hex and others read bytes written as text";
            (Code::UnknownFormat, "plain text, not a message in a format that is known here".to_string(), help)
        }
        _ => {
            let why: Vec<String> = candidates
                .iter()
                .filter_map(|candidate| Some(format!("not {}: {}", title(candidate.format), candidate.contra.first()?)))
                .collect();
            let help = "-f FORMAT reads it as that format anyway, as far as it goes";
            (Code::UnknownFormat, format!("no format fits ({})", why.join("; ")), help)
        }
    };
    out.open(&Group { id: 0, parent: NO_GROUP, kind: GroupKind::Root, step: Step::None, start: 0, again: false })?;
    out.diagnostic(&Diagnostic::new(code, 0, 0, message).help(help))?;
    let mut at = 0u64;
    loop {
        let piece = window.at(at, limits::PIECE)?;
        if piece.is_empty() {
            return out.close(0, at);
        }
        let end = at.saturating_add(u64::try_from(piece.len()).unwrap_or(0));
        out.leaf(&Leaf::new(at, end, 0, Kind::UNREAD), piece)?;
        at = end;
    }
}
