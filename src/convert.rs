//! Conversion: a first reading that finds out what the writer must know ahead, a second that writes.

use std::io::{BufWriter, Write};

use crate::formats::json::tagged::TagReader;
use crate::formats::{EncodeOptions, Format};
use crate::inspect::Inspection;
use crate::model::events::{Flow, Sink, Stop};
use crate::model::survey::Survey;

/// Bytes written at once.
const BUFFER: usize = 256 * 1024;

/// What an input becomes.
pub struct Conversion<'a> {
    /// The target format.
    pub format: &'static dyn Format,
    /// Its variant.
    pub variant: &'static str,
    /// How it is written.
    pub options: EncodeOptions<'a>,
}

impl Conversion<'_> {
    /// The first reading. The input must be readable twice.
    ///
    /// # Errors
    /// What stopped the walk; a tagged form that is none is [`Stop::Refused`].
    pub fn survey(&self, inspection: &mut Inspection) -> Result<Survey, Stop> {
        let mut survey = Survey::new(self.format.wants(self.variant));
        self.walk(inspection, &mut survey)?;
        Ok(survey)
    }

    /// The second reading, which writes; returns what was written otherwise than it is, a sentence each.
    ///
    /// # Errors
    /// What stopped the walk; a value without a form in the target is [`Stop::Refused`].
    pub fn write(
        &self,
        inspection: &mut Inspection,
        survey: &Survey,
        out: &mut dyn Write,
    ) -> Result<Vec<String>, Stop> {
        let mut buffer = BufWriter::with_capacity(BUFFER, out);
        let mut encoder = self.format.encoder(self.variant, self.options, survey, &mut buffer);
        self.walk(inspection, &mut *encoder)?;
        encoder.finish()?;
        let mut losses = self.format.losses(survey);
        losses.extend(encoder.losses());
        drop(encoder);
        buffer.flush()?;
        Ok(losses)
    }

    /// Values of a text may be tagged forms of what the text cannot hold; a text takes them as they are.
    fn walk(&self, inspection: &mut Inspection, sink: &mut dyn Sink) -> Flow {
        let from_text = inspection.format.is_some_and(|format| format.info().text);
        if from_text && !self.format.info().text {
            let mut reader = TagReader::new(sink);
            inspection.walk(&mut reader)?;
        } else {
            inspection.walk(sink)?;
        }
        Ok(())
    }
}
