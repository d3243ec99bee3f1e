//! FlatBuffers (documentation: flatbuffers.dev, "FlatBuffers Internals"). Objects lie scattered and point forward
//! at each other, so the whole buffer is in memory: [`wire`] has the standard's numbers, [`decode`] finds the
//! objects and then tells them in the order of the file, [`words`] says what bytes mean.

mod builder;
mod decode;
mod detect;
mod encode;
mod faults;
mod fields;
mod fit;
mod found;
mod gaps;
mod guess;
mod keys;
mod likely;
mod notes;
mod objects;
mod order;
mod rewrite;
mod structs;
mod table;
mod tables;
mod tell;
mod users;
mod values;
mod vectors;
mod vtables;
mod words;

pub mod wire;

use std::io;

use crate::formats::{
    Candidate, Context, Counts, Dress, EncodeOptions, Encoder, Fit, Format, Info, Note, Nouns, Run, Sample, Seen,
    Telling, Variant,
};
use crate::model::bytemap::{Bits, Cause, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::num::count;
use crate::model::schema::{Language, Schema};
use crate::model::survey::{Survey, Want};
use crate::wire::reader::{Bytes, Window};

/// The format.
pub struct FlatBuffers;

static INFO: Info = Info {
    name: "flatbuffers",
    short: &["fb"],
    title: "FlatBuffers",
    extensions: &["fb", "bin", "bfbs", "tflite", "mon"],
    variants: &[
        Variant { name: "plain", about: "one buffer, its root offset first" },
        Variant { name: "size-prefixed", about: "one buffer behind its size in four bytes" },
    ],
    text: false,
    about: include_str!("format.md"),
    schema: "gives names, types and defaults (.fbs, .bfbs); without one they are guessed",
    read: "offset, bytes, field, meaning, in file order. -> where an offset leads, <- where it stands. A table \
           finds a field by its vtable: +12 is 12 bytes past the table's start. 0x.. is hex.",
    nouns: Nouns { map: "table", entry: "field", entries: "fields", list: "vector", message: "buffer" },
    depth: limits::FLATBUFFERS_DEPTH,
    big_endian: false,
    scattered: true,
    row: 0,
    values_tell: false,
    language: Some(Language::Fbs),
};

impl Format for FlatBuffers {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn kinds(&self) -> &'static [KindInfo] {
        wire::KINDS
    }

    fn detect(&self, sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
        detect::detect(sample, context)
    }

    fn needs_all(&self, sample: &Sample<'_>) -> bool {
        detect::needs_all(Bytes(sample.bytes))
    }

    fn fits(&self, sample: &Sample<'_>, context: &Context<'_>, schema: &Schema) -> Vec<Fit> {
        fit::fits(sample, context, schema)
    }

    fn decode(&self, input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
        decode::decode(input, context, out)
    }

    fn values(&self, input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
        values::values(input, context, dress, out)
    }

    fn width(&self, leaf: &Leaf, head: &[u8]) -> u64 {
        words::width(leaf, head)
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
        notes::notes(row, wanted)
    }

    fn run(&self, leaf: &Leaf, head: &[u8]) -> Option<Run> {
        words::run(leaf, head)
    }

    fn legend(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::Length => "lengths, counts",
            Cause::Width => "integer bytes beyond the shortest form",
            Cause::Type => "types of unions",
            Cause::Framing => "size prefix, identifier",
            other => crate::formats::common_legend(other),
        }
    }

    fn foot(&self, counts: &Counts) -> Vec<String> {
        let parts = [
            (wire::SOFFSET, "table", "tables"),
            (wire::VTABLE_SIZE, "vtable", "vtables"),
            (wire::LENGTH, "string", "strings"),
            (wire::COUNT, "vector", "vectors"),
        ];
        let there = parts.iter().filter(|(code, ..)| counts.of_kind(*code) > 0);
        let words: Vec<String> = there.map(|(code, one, many)| count(counts.of_kind(*code), one, many)).collect();
        vec![words.join(", ")]
    }

    fn wants(&self, _variant: &str) -> Want {
        Want::default()
    }

    fn rewrite(
        &self,
        input: &mut Window,
        context: &Context<'_>,
        variant: &str,
        out: &mut dyn io::Write,
    ) -> Option<Flow> {
        Some(rewrite::rewrite(input, context, variant, out))
    }

    fn encoder<'a>(
        &self,
        variant: &str,
        options: EncodeOptions<'a>,
        _survey: &'a Survey,
        out: &'a mut dyn io::Write,
    ) -> Box<dyn Encoder + 'a> {
        encode::encoder(variant, options, out)
    }
}
