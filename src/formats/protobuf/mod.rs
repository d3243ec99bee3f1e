//! Protobuf (protobuf.dev, "Encoding"): tags and values; names and types stand in a schema. [`wire`] has the
//! standard's numbers, [`decode`] walks, [`guess`] reads what no schema tells, [`words`] tells it, [`values`]
//! sends the merged values, [`encode`] writes.

mod chain;
mod content;
mod damage;
mod decode;
mod detect;
mod encode;
mod fields;
mod fit;
mod frames;
mod gather;
mod guess;
mod gzip;
mod likely;
mod messages;
mod notes;
mod packed;
mod peek;
mod records;
mod rewrite;
mod seen;
mod times;
mod unframe;
mod unknown;
mod values;
mod words;

pub mod wire;

use std::io;

use crate::formats::{
    Candidate, Context, Counts, Dress, EncodeOptions, Encoder, Fit, Format, Info, Note, Nouns, Sample, Seen, Telling,
    Variant,
};
use crate::model::bytemap::{Bits, Cause, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::num::{count, listed};
use crate::model::schema::{Language, Schema};
use crate::model::survey::{Survey, Want};
use crate::wire::reader::Window;

/// The format.
pub struct Protobuf;

static INFO: Info = Info {
    name: "protobuf",
    short: &["pb", "proto"],
    title: "Protobuf",
    extensions: &["pb", "bin", "binpb", "protobuf"],
    variants: &[
        Variant { name: "plain", about: "one message" },
        Variant { name: "delimited", about: "messages behind their length, a varint" },
        Variant { name: "grpc", about: "messages behind gRPC's flags and length" },
        Variant { name: "groups", about: "nested messages as groups, as Protostuff writes them" },
    ],
    text: false,
    about: include_str!("format.md"),
    schema: ".proto or a descriptor set (-s): names and types; without one, field numbers and guesses",
    read: "offset, bytes, field, meaning. A | parts tag|length|value; bytes set further right lie inside a \
           message. Hex offsets are written 0x..; a range ends before its second number.",
    nouns: Nouns { map: "message", entry: "field", entries: "fields", list: "list", message: "message" },
    depth: limits::PROTOBUF_DEPTH,
    big_endian: false,
    scattered: false,
    row: 0,
    language: Some(Language::Proto),
};

impl Format for Protobuf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn kinds(&self) -> &'static [KindInfo] {
        wire::KINDS
    }

    fn detect(&self, sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
        detect::detect(sample, context)
    }

    fn fits(&self, sample: &Sample<'_>, context: &Context<'_>, schema: &Schema) -> Vec<Fit> {
        fit::fits(sample, context, schema)
    }

    fn decode(&self, input: &mut Window, context: &Context<'_>, out: &mut dyn Sink) -> Flow {
        decode::decode(input, context, out)
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

    fn bits(&self, leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
        words::bits(leaf, head)
    }

    fn notes(&self, row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
        notes::notes(row, wanted)
    }

    fn legend(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::Width => "integer bytes beyond the shortest form",
            Cause::Key => "field tags",
            Cause::Length => "lengths",
            Cause::Type => "tags that end a group",
            other => crate::formats::common_legend(other),
        }
    }

    fn foot(&self, counts: &Counts) -> Vec<String> {
        let sum = |codes: &[u8]| codes.iter().map(|code| counts.of_kind(*code)).sum::<u64>();
        let parts = [
            (sum(&[wire::STRING, wire::TEXT]), "string", "strings"),
            (sum(&[wire::BYTES, wire::BLOB]), "byte string", "byte strings"),
            (sum(&INTEGERS), "integer", "integers"),
            (sum(&[wire::ENUM]), "enum value", "enum values"),
            (sum(&[wire::BOOL]), "boolean", "booleans"),
            (sum(&[wire::FLOAT, wire::DOUBLE]), "float", "floats"),
            (sum(&[wire::MESSAGE_LENGTH]), "nested message", "nested messages"),
            (sum(&[wire::SGROUP]), "group", "groups"),
            (sum(&[wire::PACKED_LENGTH]), "packed run", "packed runs"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(number, ..)| *number > 0)
            .map(|(number, one, many)| count(*number, one, many))
            .collect();
        if parts.is_empty() { Vec::new() } else { vec![listed(&parts)] }
    }

    fn wants(&self, _variant: &str) -> Want {
        Want::default()
    }

    fn values(&self, input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
        values::values(input, context, dress, out)
    }

    fn is_stream(&self, variant: &str) -> bool {
        unframe::is_stream(variant)
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
        survey: &'a Survey,
        out: &'a mut dyn io::Write,
    ) -> Box<dyn Encoder + 'a> {
        encode::encoder(variant, options, survey, out)
    }
}

/// Kinds that are whole numbers.
const INTEGERS: [u8; 13] = [
    wire::VARINT,
    wire::I32,
    wire::I64,
    wire::INT32,
    wire::INT64,
    wire::UINT32,
    wire::UINT64,
    wire::SINT32,
    wire::SINT64,
    wire::FIXED32,
    wire::FIXED64,
    wire::SFIXED32,
    wire::SFIXED64,
];
