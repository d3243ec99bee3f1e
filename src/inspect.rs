//! The driver: from an input to its layers, format, map, values and findings.
//!
//! [`Inspection::open`] undoes text encodings and chooses the format, with reasons;
//! [`Inspection::walk`] decodes into a sink and checks on the way that every byte has one owner, that
//! groups nest, and that no flood of findings gets through.

use std::io;
use std::sync::Arc;

use crate::formats::plain::{self, PLAIN_TEXT, TEXT_SCORE};
use crate::formats::{self, Candidate, Context, Dress, Fit, Format, Sample, Variant};
use crate::framing::magic;
use crate::framing::text::{self, Encoding};
use crate::model::diag::{Code, Diagnostic, Severity, Tally};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::guard::Guard;
use crate::model::limits;
use crate::model::num::{len64, listed};
use crate::model::schema::{Bound, MessageId, Schema};
use crate::wire::reader::{ReadError, Window};

mod held;
mod inside;
mod preview;
mod undo;
mod unrecognised;

use unrecognised::unrecognised;

/// The lowest score at which a format is chosen: weak evidence is enough where nothing else fits, and is
/// called weak.
const CHOSEN_SCORE: u32 = 30;

/// The score below which evidence is called weak.
const WEAK_SCORE: u32 = 250;

/// The lowest score inside base64 that may be a word as well.
const NOT_A_WORD: u32 = 600;

/// Types that a choice names besides the one that was taken.
const OTHER_TYPES: usize = 5;

/// Rivals that the reason of a choice rules out one by one.
const RIVALS: usize = 2;

/// The score from which another variant than the told one is named.
const CLEAR_SCORE: u32 = 700;

/// How far ahead another format must be before a told one is doubted.
const DOUBT: u32 = 500;

/// How the bytes of an input are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodingChoice {
    /// Text in a known notation is undone where what it holds fits better than the text itself.
    #[default]
    Auto,
    /// The input is the bytes.
    Raw,
    /// The input is text in this notation.
    Told(Encoding),
}

/// What the user said about an input.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, if told.
    pub format: Option<&'static dyn Format>,
    /// The variant, if told.
    pub variant: Option<&'static Variant>,
    /// The text encoding.
    pub encoding: EncodingChoice,
    /// Containers within each other, where the format's own limit is not wanted.
    pub depth: Option<usize>,
    /// The schemas that were told, one a language.
    pub schemas: Vec<Told>,
}

/// A schema that was told, and the type of a message in it where that was told too.
#[derive(Debug, Clone)]
pub struct Told {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The type.
    pub root: Option<MessageId>,
}

impl Options {
    /// The schema of the language that a format's messages are declared in.
    pub fn told(&self, format: &dyn Format) -> Option<&Told> {
        let language = format.info().language?;
        self.schemas.iter().find(|told| told.schema.language == language)
    }
}

/// A choice the driver made, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What was chosen: `format`, `encoding`.
    pub what: &'static str,
    /// What it is now.
    pub value: String,
    /// Why.
    pub why: String,
    /// What else it could have been.
    pub others: Vec<String>,
}

/// An outer layer, whose bytes become the next one.
#[derive(Debug, Clone)]
pub struct Layer {
    /// What undid it, for the `from` of the next layer: `hex`.
    pub by: &'static str,
    /// How headings say it: `26 hex digits`.
    pub said: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its map.
    pub leaves: text::Map,
    /// Findings in it.
    pub found: Vec<Diagnostic>,
}

/// An input, opened: its outer layers undone, its format chosen.
pub struct Inspection {
    /// How messages call it.
    pub name: String,
    /// Size of the input in bytes, where known before its end.
    pub size: Option<u64>,
    /// Layers around the message, outermost first.
    pub outer: Vec<Layer>,
    /// The format; none where nothing fits.
    pub format: Option<&'static dyn Format>,
    /// The variant.
    pub variant: &'static str,
    /// What was chosen and why.
    pub chosen: Vec<Chosen>,
    /// All readings of the message, best first.
    pub candidates: Vec<Candidate>,
    /// What else the input is by its first bytes: `a PNG image`.
    pub named: Option<&'static str>,
    /// Findings of the choice itself.
    pub found: Vec<Diagnostic>,
    /// All of the message is in memory.
    pub complete: bool,
    /// The first bytes of the message, where it is not.
    sample: Vec<u8>,
    window: Window,
    depth: Option<usize>,
    schemas: Vec<Told>,
}

impl Inspection {
    /// Opens an input: looks at its first MiB, undoes a text encoding, chooses a format.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn open(name: String, mut window: Window, options: &Options) -> Result<Inspection, ReadError> {
        let size = window.size();
        let sample = window.at(0, limits::SAMPLE + 1)?;
        let complete = sample.len() <= limits::SAMPLE;
        let sample = sample.get(..limits::SAMPLE).unwrap_or(sample).to_vec();
        let mut inspection = Inspection {
            // A name may hold what a terminal obeys.
            name: formats::printable(&name).into_owned(),
            size: if complete && size.is_none() { u64::try_from(sample.len()).ok() } else { size },
            outer: Vec::new(),
            format: None,
            variant: "plain",
            chosen: Vec::new(),
            candidates: Vec::new(),
            named: None,
            found: Vec::new(),
            complete,
            sample: Vec::new(),
            window,
            depth: options.depth,
            schemas: options.schemas.clone(),
        };
        let sample = match inspection.undo(&sample, options)? {
            Some(inner) => inner,
            None => sample,
        };
        let first = sample.get(..limits::SAMPLE).unwrap_or(&sample);
        let complete = inspection.complete && first.len() == sample.len();
        inspection.found.extend(schema_findings(options));
        let all = if complete { None } else { inspection.all_if_needed(first, &sample)? };
        inspection.choose(&Sample { bytes: all.as_deref().unwrap_or(first), complete }, options);
        inspection.say_unused_schema();
        if inspection.complete {
            inspection.window = Window::memory(sample);
        } else {
            inspection.sample = sample;
        }
        Ok(inspection)
    }

    /// Says so where a schema was told that the format has no use for.
    fn say_unused_schema(&mut self) {
        let Some(format) = self.format.filter(|format| !self.schemas.is_empty() && self.told(*format).is_none()) else {
            return;
        };
        let title = format.info().title;
        let message = match format.info().language {
            None => format!("the schema is not used: {title} is read without"),
            Some(language) => format!("the schema is not used: one for {title} is a {} file", language.name()),
        };
        self.found.push(Diagnostic::new(Code::SchemaUnused, 0, 0, message));
    }

    /// Chooses the format, or checks the one that was told.
    fn choose(&mut self, sample: &Sample<'_>, options: &Options) {
        // Whether a told format fits is asked without the telling; a schema is evidence, not a choice.
        let open = Options { format: None, variant: None, ..options.clone() };
        self.candidates = rank(sample, &open);
        self.named = magic::named(sample.bytes);
        if let Some(told) = options.format {
            self.format = Some(told);
            self.variant = options.variant.map_or_else(|| self.found_variant(told), |variant| variant.name);
            self.doubt(told);
            self.doubt_variant(told, options);
            self.choose_root(sample, told);
            return;
        }
        let Some(best) = self.candidates.first().filter(|best| best.score >= CHOSEN_SCORE) else { return };
        if self.named.is_some() && best.score < TEXT_SCORE {
            return;
        }
        let Some(format) = formats::by_name(best.format) else { return };
        self.format = Some(format);
        self.variant = best.variant;
        let rivals =
            self.candidates.iter().skip(1).filter(|rival| rival.score > 0).map(|rival| rival.format.to_string());
        let chosen =
            Chosen { what: "format", value: best.format.to_string(), why: self.why(), others: rivals.collect() };
        self.chosen.push(chosen);
        self.choose_root(sample, format);
    }

    /// Chooses the type of a message, where a schema was told and no type: the only one, or the one that
    /// fits best.
    fn choose_root(&mut self, sample: &Sample<'_>, format: &dyn Format) {
        let told = self.told(format).filter(|told| told.root.is_none());
        let Some(schema) = told.map(|told| told.schema.clone()) else { return };
        let fits = format.fits(sample, &self.context(format), &schema);
        let name = |fit: &Fit| schema.message(fit.root).map_or(String::new(), |message| message.full_name.clone());
        let Some(best) = fits.first() else { return };
        if let Some(told) = self.schemas.iter_mut().find(|told| Arc::ptr_eq(&told.schema, &schema)) {
            told.root = Some(best.root);
        }
        self.chosen.push(Chosen {
            what: "type",
            value: name(best),
            why: best.why.clone(),
            others: fits.iter().skip(1).take(OTHER_TYPES).map(name).collect(),
        });
        let ties: Vec<String> = fits.iter().skip(1).filter(|fit| fit.score == best.score).map(name).collect();
        if !ties.is_empty() {
            let verb = if ties.len() == 1 { "fits" } else { "fit" };
            let message = format!("{} {verb} as well as {}", listed(&ties), name(best));
            self.found.push(
                Diagnostic::new(Code::TypeTied, 0, 0, message).help("-t NAME settles it; the first of them was taken"),
            );
        }
    }

    /// The variant of a told format that was not told with it: the one that fits, unless the evidence is weak.
    fn found_variant(&mut self, told: &dyn Format) -> &'static str {
        let first = told.info().variants.first().map_or("plain", |variant| variant.name);
        let candidate = self.candidates.iter().find(|candidate| candidate.format == told.info().name);
        let Some(candidate) = candidate.filter(|candidate| candidate.score >= WEAK_SCORE) else { return first };
        if candidate.variant != first {
            let value = format!("{}/{}", candidate.format, candidate.variant);
            let why = candidate.pro.join(", ");
            self.chosen.push(Chosen { what: "variant", value, why, others: vec![first.to_string()] });
        }
        candidate.variant
    }

    /// Warns where a told format fits much worse than another.
    fn doubt(&mut self, told: &dyn Format) {
        let name = told.info().name;
        let score = self.candidates.iter().find(|c| c.format == name).map_or(0, |c| c.score);
        let Some(best) = self.candidates.first().filter(|best| best.format != name) else { return };
        if best.score < score.saturating_add(DOUBT) {
            return;
        }
        let why = best.pro.first().map(String::as_str).unwrap_or("it fits better");
        let message = format!("told to be {}, but {} fits better: {why}", told.info().title, title(best.format));
        self.found.push(
            Diagnostic::new(Code::FormatDoubt, 0, 0, message).help("without -f the best fitting format is taken"),
        );
    }

    /// Warns where a told variant is not the one that clearly fits. A canonical form is one of another variant.
    fn doubt_variant(&mut self, told: &dyn Format, options: &Options) {
        let Some(variant) = options.variant.filter(|variant| variant.name != "canonical") else { return };
        let name = told.info().name;
        let found = self.candidates.iter().find(|candidate| candidate.format == name);
        let Some(found) = found.filter(|found| found.variant != variant.name && found.score >= CLEAR_SCORE) else {
            return;
        };
        let why = found.pro.first().map(String::as_str).unwrap_or("it fits better");
        let message = format!("told to be {name}/{}, but it looks like {name}/{}: {why}", variant.name, found.variant);
        let help = format!("-f {name} alone finds the variant");
        self.found.push(Diagnostic::new(Code::FormatDoubt, 0, 0, message).help(help));
    }

    /// Why the first candidate was chosen, in a sentence: its evidence, and what rules out the others;
    /// where none was, what rules out each.
    pub fn why(&self) -> String {
        let mut parts = Vec::new();
        let mut against = 0;
        for (place, candidate) in self.candidates.iter().enumerate() {
            let chosen = place == 0 && (self.format.is_some() || candidate.format == PLAIN_TEXT);
            if chosen && !candidate.pro.is_empty() {
                parts.push(candidate.pro.join(", "));
            } else if let Some(reason) = candidate.contra.first() {
                against += 1;
                // Where something was chosen, the nearest rivals say enough; `detect` names them all.
                if against > RIVALS && self.format.is_some() {
                    continue;
                }
                parts.push(format!("as {}, {reason}", title(candidate.format)));
            }
        }
        let weak = self.format.is_some() && self.candidates.first().is_some_and(|best| best.score < WEAK_SCORE);
        if weak { format!("weak evidence: {}", parts.join("; ")) } else { parts.join("; ") }
    }

    /// What the format's decoder is told.
    pub fn context(&self, format: &dyn Format) -> Context<'_> {
        let first = format.info().variants.first().map_or("plain", |variant| variant.name);
        let told = format.info().variants.iter().find(|variant| variant.name == self.variant);
        Context {
            owner: formats::owner_of(format),
            variant: told.map_or(first, |variant| variant.name),
            depth: self.depth.unwrap_or(format.info().depth),
            schema: self.told(format).map(|told| &*told.schema),
            root: self.told(format).and_then(|told| told.root),
        }
    }

    /// The schema and the type of a message, where both are known.
    pub fn bound(&self) -> Option<Bound<'_>> {
        let told = self.told(self.format?)?;
        Some(Bound { schema: &told.schema, root: told.root? })
    }

    /// Full name of the type of a message, where it is known.
    pub fn root_name(&self) -> Option<&str> {
        let bound = self.bound()?;
        Some(bound.schema.message(bound.root)?.full_name.as_str())
    }

    /// The schema that was told for messages of a format, and their type where it is known.
    pub fn told(&self, format: &dyn Format) -> Option<&Told> {
        let language = format.info().language?;
        self.schemas.iter().find(|told| told.schema.language == language)
    }

    /// The schema that was told for the messages of this input, to keep.
    pub fn shared_schema(&self) -> Option<Arc<Schema>> {
        Some(self.told(self.format?)?.schema.clone())
    }

    /// The schema that was told for the messages of this input.
    pub fn schema(&self) -> Option<&Schema> {
        Some(&*self.told(self.format?)?.schema)
    }

    /// Size of the message's layer where it is known.
    pub fn message_size(&self) -> Option<u64> {
        self.window.size()
    }

    /// Whether the input is best read as plain text.
    pub fn is_text(&self) -> bool {
        self.candidates.first().is_some_and(|best| best.format == PLAIN_TEXT && best.score > 0)
    }

    /// Errors in the layers around the message.
    pub fn outer_errors(&self) -> u64 {
        let found = self.outer.iter().flat_map(|layer| &layer.found);
        len64(found.filter(|found| found.severity() == Severity::Error).count())
    }

    /// Number of the layer that holds the message.
    pub fn layer(&self) -> usize {
        self.outer.len()
    }

    /// Whether [`Inspection::walk`] can be called again.
    pub fn rereadable(&self) -> bool {
        self.window.rereadable()
    }

    /// Direct access to the message's bytes, for panels of what nothing recognised.
    pub fn window(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Sends the values of all messages to a sink, in this dress.
    ///
    /// # Errors
    /// What stopped the walk.
    pub fn values(&mut self, dress: Dress, sink: &mut dyn Sink) -> Flow {
        let Some(format) = self.format else { return Ok(()) };
        let mut window = std::mem::replace(&mut self.window, Window::memory(Vec::new()));
        let walked = format.values(&mut window, &self.context(format), dress, sink);
        self.window = window;
        walked
    }

    /// How many messages there are, in formats whose values come apart from the walk.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn message_count(&mut self) -> Result<u64, ReadError> {
        let Some(format) = self.format else { return Ok(0) };
        let mut window = std::mem::replace(&mut self.window, Window::memory(Vec::new()));
        let count = format.messages(&mut window, &self.context(format));
        self.window = window;
        count
    }

    /// Writes the messages as the same format again, in another variant; none where the format has no way of
    /// its own for that.
    pub fn rewrite(&mut self, variant: &str, out: &mut dyn io::Write) -> Option<Flow> {
        let format = self.format?;
        let mut window = std::mem::replace(&mut self.window, Window::memory(Vec::new()));
        let written = format.rewrite(&mut window, &self.context(format), variant, out);
        self.window = window;
        written
    }

    /// Decodes the message into a sink; returns its size in bytes and the findings, counted.
    ///
    /// # Errors
    /// What stopped the walk. A break of the byte map is [`Stop::Internal`].
    pub fn walk(&mut self, sink: &mut dyn Sink) -> Result<Walked, Stop> {
        let mut guard = Guard::new(sink);
        for found in &self.found {
            guard.diagnostic(found)?;
        }
        match self.format {
            Some(format) => {
                // The window is lent out beside the schema, so it leaves its place for the walk.
                let mut window = std::mem::replace(&mut self.window, Window::memory(Vec::new()));
                let walked = format.decode(&mut window, &self.context(format), &mut guard);
                self.window = window;
                walked?;
            }
            None => unrecognised(&mut self.window, &self.candidates, &mut guard)?,
        }
        let size = guard.at();
        let known = if self.window.byte(size)?.is_some() { size.saturating_add(1) } else { size };
        guard.finish(known)?;
        Ok(Walked { size, tally: guard.tally })
    }
}

/// What is odd in the schema that was told.
fn schema_findings(options: &Options) -> Vec<Diagnostic> {
    let found = options.schemas.iter().flat_map(|told| &told.schema.found);
    let told = found.map(|one| {
        let message = format!("{}: warning[{}]: {}", one.place, one.code, one.message);
        Diagnostic::new(Code::SchemaFinding, 0, 0, message).help(one.help.clone())
    });
    told.collect()
}

/// The outcome of a walk.
#[derive(Debug, Clone)]
pub struct Walked {
    /// Bytes of the message's layer.
    pub size: u64,
    /// Findings, counted.
    pub tally: Tally,
}

/// What a decoder is told while nothing is chosen yet.
fn context<'a>(format: &dyn Format, options: &'a Options) -> Context<'a> {
    let first = format.info().variants.first().map_or("plain", |variant| variant.name);
    Context {
        owner: formats::owner_of(format),
        variant: options.variant.map_or(first, |variant| variant.name),
        depth: options.depth.unwrap_or(format.info().depth),
        schema: options.told(format).map(|told| &*told.schema),
        root: options.told(format).and_then(|told| told.root),
    }
}

/// All readings of a sample, best first: those of every format, or of the told one, and plain text.
pub fn rank(sample: &Sample<'_>, options: &Options) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = formats::ALL
        .iter()
        .filter(|format| options.format.is_none_or(|told| told.info().name == format.info().name))
        .map(|format| format.detect(sample, &context(*format, options)))
        .collect();
    candidates.push(plain::detect(sample));
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
    candidates
}

fn title(format: &str) -> &'static str {
    formats::by_name(format).map_or("text", |format| format.info().title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Inspection {
        let window = Window::memory(text.as_bytes().to_vec());
        Inspection::open("stdin".to_string(), window, &Options::default()).unwrap()
    }

    #[test]
    fn hex_that_fits_a_format_is_no_base64() {
        for text in ["0880e1dbb706", "088ba39cb006", "08880510a101", "0893ca01104a"] {
            let inspection = opened(text);
            assert_eq!(inspection.outer.first().map(|layer| layer.by), Some("hex"), "{text}");
            assert_eq!(inspection.format.map(|format| format.info().name), Some("protobuf"), "{text}");
        }
        // The empty reply of gRPC, and base64 that is no hex.
        assert_eq!(opened("00 00 00 00 00").variant, "grpc");
        assert_eq!(opened("AAAAAAwIARDABxoFL3Rlc3Q=").outer.first().map(|layer| layer.by), Some("base64"));
        assert!(opened("12345678").outer.is_empty());
    }
}
