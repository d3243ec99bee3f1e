//! Input that is read as a whole: by formats whose parts lie anywhere in it, and pipes that are read twice.

use std::io::{Seek as _, Write as _};

use crate::formats::{self, Sample};
use crate::inspect::Inspection;
use crate::model::limits;
use crate::wire::reader::{ReadError, Window};

impl Inspection {
    /// All of the message, where a format can only be told by bytes that lie anywhere in it.
    pub(super) fn all_if_needed(&mut self, first: &[u8], sample: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        let cut = Sample { bytes: first, complete: false };
        match formats::ALL.iter().any(|format| format.needs_all(&cut)) {
            false => Ok(None),
            true if self.complete => Ok(Some(sample.to_vec())),
            true => {
                self.hold()?;
                self.window.all(u64::MAX)
            }
        }
    }

    /// Takes all of a pipe into memory, where its format reads it so anyway.
    pub(super) fn hold(&mut self) -> Result<(), ReadError> {
        if self.window.size().is_none()
            && let Some(bytes) = self.window.all(u64::MAX)?
        {
            self.window = Window::memory(bytes);
        }
        Ok(())
    }

    /// Copies what a pipe still holds into a temporary file, so that it can be read twice.
    ///
    /// # Errors
    /// The pipe cannot be read, or the file not written.
    pub fn spool(&mut self) -> Result<(), ReadError> {
        if self.window.size().is_some() {
            return Ok(());
        }
        let mut file = tempfile::tempfile()?;
        let mut at = 0u64;
        loop {
            let piece = self.window.at(at, limits::PIECE)?;
            if piece.is_empty() {
                break;
            }
            file.write_all(piece)?;
            at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(0));
        }
        file.rewind()?;
        self.size = Some(at);
        self.window = Window::file(file, at, 0);
        Ok(())
    }
}
