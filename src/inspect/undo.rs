//! Text that holds bytes: told, or found out because the bytes fit a format better than the text does.

use std::io;

use super::inside::{holds_any, inside_score, whole_lines};
use super::{Chosen, EncodingChoice, Inspection, Layer, Options, rank};
use crate::formats::Sample;
use crate::framing::text::{self, Encoding, Undone};
use crate::model::limits;
use crate::wire::reader::ReadError;

impl Inspection {
    /// Undoes a text encoding, if there is one; the bytes inside.
    pub(super) fn undo(&mut self, sample: &[u8], options: &Options) -> Result<Option<Vec<u8>>, ReadError> {
        let told = match options.encoding {
            EncodingChoice::Raw => return Ok(None),
            EncodingChoice::Told(encoding) => Some(encoding),
            EncodingChoice::Auto if options.format.is_some_and(|format| format.info().text) => return Ok(None),
            EncodingChoice::Auto => None,
        };
        let (text, undone) = match told {
            Some(encoding) => {
                let text = self.window.all(limits::TEXT_INPUT)?.ok_or_else(too_long)?;
                let undone = text::undo(&text, encoding);
                (text, undone)
            }
            None => match self.guess_encoding(sample, options)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let (layer, inside) = layer(text, undone);
        self.outer.push(layer);
        self.complete = true;
        Ok(Some(inside))
    }

    /// Takes a text encoding only where the bytes in it fit a format better than the text does.
    fn guess_encoding(&mut self, sample: &[u8], options: &Options) -> Result<Option<(Vec<u8>, Undone)>, ReadError> {
        let head = if self.complete { sample } else { whole_lines(sample) };
        let outside = rank(&Sample { bytes: head, complete: self.complete }, options);
        let mut best: Option<(u32, Undone)> = None;
        let mut hex = None;
        for undone in text::guess(head) {
            if undone.encoding == Encoding::Hex && holds_any(&undone, options, self.complete) {
                hex = Some(undone.clone());
            }
            let score = inside_score(&undone, head, &outside, options, self.complete);
            if let Some(score) = score.filter(|score| best.as_ref().is_none_or(|(other, _)| score > other)) {
                best = Some((score, undone));
            }
        }
        let Some((_, best)) = best else { return Ok(None) };
        // Digits of hex are characters of base64 too: base64 has the text only if the hex is of no format.
        let undone = if best.encoding == Encoding::Base64 { hex.unwrap_or(best) } else { best };
        let (text, undone) = match self.complete {
            true => (sample.to_vec(), undone),
            false => match self.undo_all(undone.encoding)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        self.chosen.push(Chosen {
            what: "encoding",
            value: undone.encoding.name().to_string(),
            why: format!(
                "all of the text is {}, and the bytes in it fit a format better; -e raw reads the text itself",
                undone.detail
            ),
            others: vec!["raw".to_string()],
        });
        Ok(Some((text, undone)))
    }

    /// Undoes an encoding that the beginning of a long text has, if all of the text has it.
    fn undo_all(&mut self, encoding: Encoding) -> Result<Option<(Vec<u8>, Undone)>, ReadError> {
        // A pipe cannot be read again, so it is spooled before its text is tried.
        self.spool()?;
        let Some(text) = self.window.all(limits::TEXT_INPUT)? else { return Ok(None) };
        let undone = text::undo(&text, encoding);
        Ok(undone.found.is_empty().then_some((text, undone)))
    }
}

/// A text with its notation undone: the layer, and the bytes it holds.
fn layer(bytes: Vec<u8>, undone: Undone) -> (Layer, Vec<u8>) {
    let Undone { encoding, said, leaves, found, bytes: inside, .. } = undone;
    (Layer { by: encoding.name(), said, bytes, leaves, found }, inside)
}

fn too_long() -> ReadError {
    ReadError(io::Error::other(format!("text that holds bytes is undone up to {} MiB", limits::TEXT_INPUT >> 20)))
}
