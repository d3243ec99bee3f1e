//! JSON (RFC 8259): facts, detection, and the parts behind [`Format`].

mod decode;
mod detect;
pub mod encode;
mod losses;
mod recover;
mod strings;
pub mod tagged;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod wire;
mod words;

use std::io;

use crate::formats::json::encode::JsonWriter;
use crate::formats::{
    Candidate, Context, Counts, EncodeOptions, Encoder, Format, Info, Note, Nouns, Sample, Seen, Telling, Variant,
};
use crate::model::bytemap::{Bits, Cause, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::survey::{Survey, Want};
use crate::wire::reader::Window;

/// The format.
pub struct Json;

/// The one variant so far.
pub const PLAIN: &str = "plain";

static INFO: Info = Info {
    name: "json",
    short: &[],
    title: "JSON",
    extensions: &["json", "jsonl", "ndjson"],
    variants: &[Variant { name: PLAIN, about: "values as they are; one text, or several in a row" }],
    text: true,
    about: include_str!("format.md"),
    schema: "not needed",
    read: "offset, bytes, field, meaning. A | parts name|colon|value|comma; bytes set further right lie\n\
           inside a container. A row is a member with the comma and line end behind it.",
    nouns: Nouns { map: "object", entry: "member", entries: "members", list: "array", message: "document" },
    depth: limits::JSON_DEPTH,
    big_endian: false,
    scattered: false,
    row: 0,
    language: None,
};

impl Format for Json {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn kinds(&self) -> &'static [KindInfo] {
        &wire::KINDS
    }

    fn detect(&self, sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
        detect::detect(sample, context)
    }

    fn decode(&self, input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
        decode::decode(input, context, out)
    }

    fn width(&self, _leaf: &Leaf, _head: &[u8]) -> u64 {
        0
    }

    fn tell(&self, leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
        words::tell(leaf, head, telling, out);
    }

    fn value(&self, leaf: &Leaf, head: &[u8]) -> Option<String> {
        words::value(leaf, head)
    }

    fn bits(&self, _leaf: &Leaf, _head: &[u8]) -> Vec<Bits> {
        Vec::new()
    }

    fn notes(&self, row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
        words::notes(row, wanted)
    }

    fn legend(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::Payload => "numbers, literals, text between quotes",
            Cause::Key => "names, with their quotes",
            Cause::Padding => "white space",
            Cause::Punctuation => "quotes, brackets, colons, commas",
            other => crate::formats::common_legend(other),
        }
    }

    fn foot(&self, counts: &Counts) -> Vec<String> {
        crate::formats::names::line(counts).into_iter().collect()
    }

    fn wants(&self, _variant: &str) -> Want {
        Want { counts: false, odd_maps: true, reserved: tagged::TAGS }
    }

    fn losses(&self, survey: &Survey) -> Vec<String> {
        losses::sentences(&survey.oddities)
    }

    fn encoder<'a>(
        &self,
        _variant: &str,
        options: EncodeOptions<'a>,
        survey: &'a Survey,
        out: &'a mut dyn io::Write,
    ) -> Box<dyn Encoder + 'a> {
        Box::new(JsonWriter::new(out, options.pretty, survey, true).stream(options.stream))
    }
}
