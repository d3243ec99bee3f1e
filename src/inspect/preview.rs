//! A first reading, for what the head of a dump says ahead.

use crate::formats::Dress;
use crate::inspect::Inspection;
use crate::inspect::unrecognised::{Findings, Values};
use crate::model::events::{Flow, Sink, Stop};
use crate::wire::reader::Window;

impl Inspection {
    /// Whether a preview reads all of the message: it is in memory, or its objects may lie anywhere in it.
    pub fn previews_all(&self) -> bool {
        self.complete || self.format.is_some_and(|format| format.info().scattered)
    }

    /// Decodes only the first MiB, for what the head of a dump says ahead; errors at its end mean nothing. Values
    /// whose parts lie anywhere in the input are those of all of it.
    ///
    /// # Errors
    /// What stopped the walk, other than the sink having seen enough.
    pub fn preview(&mut self, sink: &mut dyn Sink) -> Flow {
        let walked = if self.format.is_some_and(|format| format.info().bound()) {
            self.preview_bound(sink)
        } else if self.complete {
            self.walk(sink).map(|_| ())
        } else if let Some(format) = self.format {
            let mut window = Window::memory(self.sample.clone());
            format.decode(&mut window, &self.context(format), sink)
        } else {
            Ok(())
        };
        match walked {
            Err(Stop::Enough) => Ok(()),
            other => other,
        }
    }

    /// The findings of a walk, then the values, which come apart from it; both of what is in memory. Where objects
    /// lie scattered the values are those of all of the input, and the sink ends them where it has seen enough.
    fn preview_bound(&mut self, sink: &mut dyn Sink) -> Flow {
        let Some(format) = self.format else { return Ok(()) };
        if self.complete {
            self.walk(&mut Findings(sink))?;
            // The walk has told what is wrong.
            return self.values(Dress::Plain, &mut Values(sink));
        }
        if self.previews_all() {
            self.hold()?;
            return self.values(Dress::Plain, sink);
        }
        let mut window = Window::memory(self.sample.clone());
        format.values(&mut window, &self.context(format), Dress::Plain, sink)
    }
}
