//! Writing: not without a schema.

use std::io::Write;

use crate::formats::{EncodeOptions, Encoder};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::value::Event;

/// A writer of a variant. Without a schema it refuses whatever comes.
pub fn encoder<'a>(_variant: &str, _options: EncodeOptions<'a>, _out: &'a mut dyn Write) -> Box<dyn Encoder + 'a> {
    Box::new(Refuses)
}

/// Refuses everything: there is no schema.
struct Refuses;

impl Refuses {
    fn refuse(&self) -> Flow {
        Err(Stop::Refused("converting to Cap'n Proto needs a schema: -s SCHEMA and -t TYPE".to_string()))
    }
}

impl Sink for Refuses {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, _event: Event<'_>) -> Flow {
        self.refuse()
    }
}

impl Encoder for Refuses {
    fn finish(&mut self) -> Flow {
        self.refuse()
    }
}
