//! Conversion: a first reading that finds out what the writer must know ahead, a second that writes.

use std::io::{BufWriter, Write};

use crate::formats::json::encode::JsonWriter;
use crate::formats::json::tagged::{TAGS, TagReader};
use crate::formats::{Dress, EncodeOptions, Encoder, FlatWriter, Format};
use crate::inspect::Inspection;
use crate::model::bytemap::{Group, GroupId, Leaf};
use crate::model::diag::Diagnostic;
use crate::model::events::{Flow, Sink, Stop, Tee};
use crate::model::schema::{Message, MessageId, Schema};
use crate::model::survey::{Survey, Want};
use crate::model::value::{Event, Scalar};

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

/// What the first reading found out.
#[derive(Debug, Default)]
pub struct Readings {
    /// The walk over the bytes: findings and, where the values come from it, facts about them.
    pub walk: Survey,
    /// Facts about values that do not come from the walk.
    values: Option<Survey>,
}

impl Readings {
    /// The facts about the values.
    fn survey(&self) -> &Survey {
        self.values.as_ref().unwrap_or(&self.walk)
    }

    /// Whether nothing could be decoded.
    pub fn is_empty(&self) -> bool {
        self.survey().messages == 0
    }
}

/// Whether the source's values come from [`Format::values`].
fn maps_values(inspection: &Inspection) -> bool {
    inspection.format.is_some_and(|format| format.info().bound())
}

/// Whether the source is a row of messages even where it holds one or none.
fn is_stream(inspection: &Inspection) -> bool {
    inspection.format.is_some_and(|format| format.is_stream(inspection.context(format).variant))
}

impl Conversion<'_> {
    /// The first reading. The input must be readable twice.
    ///
    /// # Errors
    /// What stopped the walk; a tagged form that is none is [`Stop::Refused`].
    pub fn survey(&self, inspection: &mut Inspection) -> Result<Readings, Stop> {
        let want = self.format.wants(self.variant);
        if !maps_values(inspection) {
            let mut walk = Survey::new(want);
            self.send(inspection, &mut walk)?;
            return Ok(Readings { walk, values: None });
        }
        let mut walk = Survey::default();
        inspection.walk(&mut walk)?;
        // Every such input has a message, if an empty one, but for a row of them.
        let mut values = Survey::new(want);
        values.messages = 1;
        if want.counts && !self.rewrites(inspection) {
            values.messages = 0;
            inspection.values(self.dress(), &mut values)?;
        }
        Ok(Readings { walk, values: Some(values) })
    }

    /// Whether one reading does: the target wants to know nothing ahead, and what is written can be thrown away.
    pub fn reads_once(&self, inspection: &Inspection) -> bool {
        !maps_values(inspection) && !self.format.info().text && self.format.wants(self.variant) == Want::default()
    }

    /// The only reading: writes, and finds out what is wrong. What was written counts only where nothing is.
    ///
    /// # Errors
    /// As for [`Conversion::write`].
    pub fn once(&self, inspection: &mut Inspection, out: &mut dyn Write) -> Result<(Readings, Vec<String>), Stop> {
        let mut buffer = BufWriter::with_capacity(BUFFER, out);
        let options = EncodeOptions { stream: is_stream(inspection), ..self.options };
        let (nothing, mut beside) = (Survey::default(), Beside(Survey::default()));
        let mut encoder = self.format.encoder(self.variant, options, &nothing, &mut buffer);
        let notes = {
            let mut noted = Noted { inner: &mut *encoder, notes: Vec::new() };
            self.send(inspection, &mut Tee { first: &mut noted, second: &mut beside })?;
            noted.notes
        };
        let survey = beside.0;
        let mut losses = Vec::new();
        if !survey.has_errors() && survey.messages > 0 {
            encoder.finish()?;
            losses = self.format.losses(&survey);
            losses.extend(encoder.losses());
            losses.extend(notes);
        }
        drop(encoder);
        buffer.flush()?;
        Ok((Readings { walk: survey, values: None }, losses))
    }

    /// The second reading, which writes; returns what was written otherwise than it is, a sentence each.
    ///
    /// # Errors
    /// What stopped the walk; a value without a form in the target is [`Stop::Refused`].
    pub fn write(
        &self,
        inspection: &mut Inspection,
        readings: &Readings,
        out: &mut dyn Write,
    ) -> Result<Vec<String>, Stop> {
        let mut buffer = BufWriter::with_capacity(BUFFER, out);
        if self.rewrites(inspection)
            && let Some(written) = inspection.rewrite(self.variant, &mut buffer)
        {
            written?;
            buffer.flush()?;
            return Ok(Vec::new());
        }
        let stream = is_stream(inspection) || (maps_values(inspection) && inspection.message_count()? > 1);
        let options = EncodeOptions { stream, ..self.options };
        let survey = readings.survey();
        let mut encoder = self.format.encoder(self.variant, options, survey, &mut buffer);
        let notes = self.send_noted(inspection, &mut *encoder)?;
        encoder.finish()?;
        let mut losses = self.format.losses(survey);
        losses.extend(encoder.losses());
        losses.extend(notes);
        drop(encoder);
        buffer.flush()?;
        Ok(losses)
    }

    /// Whether the way leads from a format to itself, byte by byte: not where another layout is asked for.
    fn rewrites(&self, inspection: &Inspection) -> bool {
        let same = |source: &dyn Format| source.info().name == self.format.info().name;
        maps_values(inspection) && inspection.format.is_some_and(same) && self.options.flat == FlatWriter::default()
    }

    /// The dress that suits the target.
    fn dress(&self) -> Dress {
        if self.format.info().text { Dress::Json } else { Dress::Plain }
    }

    /// Sends the values to an encoder; returns what the source leaves out.
    fn send_noted(&self, inspection: &mut Inspection, encoder: &mut dyn Encoder) -> Result<Vec<String>, Stop> {
        let mut noted = Noted { inner: encoder, notes: Vec::new() };
        self.send(inspection, &mut noted)?;
        Ok(noted.notes)
    }

    /// Sends what the source holds. Values of a text may be tagged forms of what the text cannot hold; a
    /// text takes them as they are, and so does a format with a mapping of its own.
    fn send(&self, inspection: &mut Inspection, sink: &mut dyn Sink) -> Flow {
        let from_text = inspection.format.is_some_and(|format| format.info().text);
        if maps_values(inspection) {
            inspection.values(self.dress(), sink)?;
        } else if from_text && !self.format.info().text && !self.format.info().bound() {
            let mut reader = TagReader::new(sink);
            inspection.walk(&mut reader)?;
        } else {
            inspection.walk(sink)?;
        }
        Ok(())
    }
}

/// Writes the values of an input as JSON on one line, without a line end: what `convert --to json` writes.
/// False, and nothing written, where it has none.
///
/// # Errors
/// What stopped the walk.
pub fn json(inspection: &mut Inspection, out: &mut dyn Write) -> Result<bool, Stop> {
    let stream = is_stream(inspection) || (maps_values(inspection) && inspection.message_count()? > 1);
    if maps_values(inspection) {
        let mut survey = Survey::default();
        survey.messages = 1;
        let mut writer = JsonWriter::new(out, false, &survey, false).stream(stream);
        inspection.values(Dress::Json, &mut writer)?;
        writer.finish()?;
        return Ok(true);
    }
    let mut survey = Survey::new(Want { counts: false, odd_maps: true, reserved: TAGS });
    inspection.walk(&mut survey)?;
    if survey.messages == 0 && !stream {
        return Ok(false);
    }
    let mut writer = JsonWriter::new(out, false, &survey, false).stream(stream);
    inspection.walk(&mut writer)?;
    writer.finish()?;
    Ok(true)
}

/// The type that names at the top of the first message fit: the only one of the files that were told, or
/// the only one that has them all. Else the types there are.
///
/// # Errors
/// Full names of the types that compete.
pub fn best_type(inspection: &mut Inspection, schema: &Schema) -> Result<MessageId, Vec<String>> {
    let told: Vec<(MessageId, &Message)> = schema.roots().filter(|(_, message)| message.told).collect();
    if let [(only, _)] = told[..] {
        return Ok(only);
    }
    let mut names = TopNames::default();
    // A walk that fails says so when it is made for its own sake.
    let _ = inspection.walk(&mut names);
    let fits = |message: &Message| {
        !names.names.is_empty() && names.names.iter().all(|name| message.field_by_name(name).is_some())
    };
    let fitting: Vec<&(MessageId, &Message)> = told.iter().filter(|(_, message)| fits(message)).collect();
    match fitting[..] {
        [(only, _)] => Ok(*only),
        [] => Err(told.iter().map(|(_, message)| message.full_name.clone()).collect()),
        _ => Err(fitting.iter().map(|(_, message)| message.full_name.clone()).collect()),
    }
}

/// Names of the outermost map of the first message.
#[derive(Default)]
struct TopNames {
    names: Vec<String>,
    depth: usize,
    items: usize,
}

impl Sink for TopNames {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        if self.depth == 1
            && self.items.is_multiple_of(2)
            && let Event::Scalar(Scalar::Text(name)) = &event
        {
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
        let item = match event {
            Event::Begin(..) => {
                self.depth = self.depth.saturating_add(1);
                self.depth == 2
            }
            Event::End => {
                self.depth = self.depth.saturating_sub(1);
                false
            }
            Event::Scalar(_) | Event::Piece { last: true, .. } => self.depth == 1,
            Event::Message(_) | Event::Piece { .. } => false,
        };
        self.items = self.items.saturating_add(usize::from(item));
        if self.depth == 0 && !self.names.is_empty() { Err(Stop::Enough) } else { Ok(()) }
    }
}

/// Finds out what is wrong and how many messages there are, and nothing else.
struct Beside(Survey);

impl Sink for Beside {
    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.0.diagnostic(found)
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        if let Event::Message(_) = event {
            self.0.messages = self.0.messages.saturating_add(1);
        }
        Ok(())
    }
}

/// Hands everything to an encoder and keeps what is said beside it.
struct Noted<'a> {
    inner: &'a mut dyn Encoder,
    notes: Vec<String>,
}

impl Sink for Noted<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.inner.open(group)
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        self.inner.leaf(leaf, head)
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.inner.close(id, end)
    }

    fn path(&self) -> Option<&str> {
        self.inner.path()
    }

    fn left_out(&mut self, sentence: &str) -> Flow {
        self.notes.push(sentence.to_string());
        Ok(())
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        self.inner.value(event)
    }

    fn wants_values(&self) -> bool {
        true
    }
}
