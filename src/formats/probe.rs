//! What a decoder makes of a sample, in numbers: the raw material of detection.

use crate::formats::{Context, Format, Sample};
use crate::model::bytemap::{Group, Leaf, Step};
use crate::model::diag::{Code, Diagnostic, Severity};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::value::{Event, Shape};
use crate::wire::reader::Window;

/// Numbers over a sample.
#[derive(Debug, Default, Clone)]
pub struct Probe {
    /// Messages begun.
    pub messages: u64,
    /// Messages that are containers.
    pub containers: u64,
    /// Shape and announced size of the first message, if it is a container.
    pub first: Option<(Shape, Option<u64>)>,
    /// Where the second message begins.
    pub second_at: Option<u64>,
    /// Leaves.
    pub leaves: u64,
    /// Leaves of one byte.
    pub single_bytes: u64,
    /// Groups whose step is a plain name.
    pub names: u64,
    /// Groups whose step is any other key.
    pub odd_keys: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Text that is not UTF-8.
    pub bad_texts: u64,
    /// The first error, if there is one that the end of an incomplete sample does not explain.
    pub error: Option<Diagnostic>,
    /// Errors counted.
    pub errors: u64,
    depth: u64,
    at: u64,
}

impl Probe {
    /// Decodes a sample and counts.
    pub fn of(format: &dyn Format, sample: &Sample<'_>, context: &Context<'_>) -> Probe {
        let mut probe = Probe::default();
        let mut window = Window::memory(sample.bytes.to_vec());
        if let Err(Stop::Internal(problem)) = format.decode(&mut window, context, &mut probe) {
            probe.errors = probe.errors.saturating_add(1);
            probe.error = Some(Diagnostic::new(Code::UnknownFormat, probe.at, probe.at, problem));
        }
        let end = u64::try_from(sample.bytes.len()).unwrap_or(u64::MAX);
        if !sample.complete && probe.error.as_ref().is_some_and(|error| error.end >= end) {
            probe.errors = probe.errors.saturating_sub(1);
            probe.error = None;
        }
        probe
    }
}

impl Sink for Probe {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        match group.step {
            Step::Name(_) | Step::Field(..) => self.names = self.names.saturating_add(1),
            Step::Key(_) | Step::Entry(..) => self.odd_keys = self.odd_keys.saturating_add(1),
            Step::None | Step::Message(_) | Step::Index(_) => {}
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, _head: &[u8]) -> Flow {
        self.leaves = self.leaves.saturating_add(1);
        self.single_bytes = self.single_bytes.saturating_add(u64::from(leaf.len() == 1));
        self.at = leaf.end;
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        match found.severity() {
            Severity::Error => {
                self.errors = self.errors.saturating_add(1);
                if self.error.is_none() {
                    self.error = Some(found.clone());
                }
            }
            Severity::Warning => {
                self.warnings = self.warnings.saturating_add(1);
                self.bad_texts = self.bad_texts.saturating_add(u64::from(found.code == Code::MpInvalidUtf8));
            }
            Severity::Note => {}
        }
        Ok(())
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Message(number) => {
                self.messages = number.saturating_add(1);
                self.depth = 0;
                if number == 1 {
                    self.second_at = Some(self.at);
                }
            }
            Event::Begin(shape, size) => {
                if self.depth == 0 {
                    self.containers = self.containers.saturating_add(1);
                    if self.messages == 1 {
                        self.first = Some((shape, size));
                    }
                }
                self.depth = self.depth.saturating_add(1);
            }
            Event::End => self.depth = self.depth.saturating_sub(1),
            Event::Scalar(_) | Event::Piece { .. } => {}
        }
        Ok(())
    }
}
