//! Cap'n Proto (capnproto.org, "Encoding Spec"). Objects are reached by pointers and lie anywhere in their segments,
//! so the whole message is in memory: [`wire`] has the standard's numbers, [`message`] finds the segments, [`objects`]
//! follows the pointers, [`decode`] tells the bytes in the order of the file.
//!
//! ```text
//! resolve   one pointer, over landing pads          layout   fields by their place in a struct
//! structs lists pointers gaps                       what is told of each
//! packed    the packed encoding as a layer          canonical_form   whether it is, and what breaks it
//! values names                                      to JSON, with the annotations of json.capnp
//! encode builder pack canonical text rewrite        to Cap'n Proto
//! judge detect fit                                  how well bytes, variants and types hold together
//! ```

mod builder;
mod canonical;
mod canonical_form;
mod chart;
mod decode;
mod detect;
mod encode;
mod faults;
mod fit;
mod gaps;
mod judge;
mod layout;
mod lists;
mod message;
mod names;
mod notes;
mod objects;
mod pack;
mod packed;
mod pointers;
mod resolve;
mod rewrite;
mod structs;
mod text;
mod values;
mod words;

pub mod wire;

use std::io;

use crate::formats::{
    Candidate, Context, Counts, Dress, EncodeOptions, Encoder, Fit, Format, Info, Note, Nouns, Run, Sample, Seen,
    Telling, Variant,
};
use crate::model::bytemap::{Bits, Cause, Kind, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::schema::{Language, Schema};
use crate::model::survey::{Survey, Want};
use crate::wire::reader::{ReadError, Window};

/// The format.
pub struct CapnProto;

static INFO: Info = Info {
    name: "capnp",
    short: &["cp"],
    title: "Cap'n Proto",
    extensions: &["capnp.bin", "bin", "packed"],
    variants: &[
        Variant { name: "framed", about: "segments behind a table of their sizes; several messages in a row" },
        Variant { name: "packed", about: "framed, zeros squeezed out" },
        Variant { name: "flat", about: "one segment without a table" },
        Variant { name: "flat-packed", about: "one segment without a table, zeros squeezed out" },
        Variant { name: "canonical", about: "one segment without a table, in the only way its values can be written" },
        Variant { name: "text", about: "in the words of the schema language; written only" },
    ],
    text: false,
    about: include_str!("format.md"),
    schema: "gives names, types and defaults (.capnp, a CodeGeneratorRequest); without one structs, lists and text \
             are shown",
    read: "a word (8 bytes) a row: offset, bytes, field, meaning. -> where a pointer leads, <- where it stands; \
           +2w: 2 words past the pointer's own end. 0x.. is hex, from the file's start.",
    nouns: Nouns { map: "struct", entry: "field", entries: "fields", list: "list", message: "message" },
    depth: limits::CAPNP_DEPTH,
    big_endian: false,
    scattered: true,
    row: 8,
    values_tell: true,
    language: Some(Language::Capnp),
};

impl Format for CapnProto {
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

    fn values(&self, input: &mut Window, context: &Context<'_>, dress: Dress, out: &mut dyn Sink) -> Flow {
        values::values(input, context, dress, out)
    }

    fn messages(&self, input: &mut Window, context: &Context<'_>) -> Result<u64, ReadError> {
        values::messages_in(input, context)
    }

    fn width(&self, leaf: &Leaf, head: &[u8]) -> u64 {
        words::leaf_width(leaf, head)
    }

    fn tell(&self, leaf: &Leaf, head: &[u8], telling: Telling, out: &mut String) {
        words::tell(leaf, head, telling, out);
    }

    fn value(&self, leaf: &Leaf, head: &[u8]) -> Option<String> {
        words::value(leaf, head)
    }

    fn run(&self, leaf: &Leaf, head: &[u8]) -> Option<Run> {
        words::run(leaf, head)
    }

    fn bits(&self, leaf: &Leaf, head: &[u8]) -> Vec<Bits> {
        words::bits(leaf, head)
    }

    fn notes(&self, row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
        notes::notes(row, wanted)
    }

    fn row(&self, leaf: &Leaf) -> usize {
        // A tag, its word and a count.
        if leaf.kind.code >= wire::PACKED_TAG && leaf.kind.owner != Kind::COMMON { 10 } else { INFO.row }
    }

    fn legend(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::Pointer => "pointers",
            Cause::Width => "integer bytes beyond the shortest form",
            Cause::Type => "tags of unions",
            Cause::Framing => "segment table, list tags, tags and counts of packing",
            Cause::Padding => "rest of words",
            Cause::Default => "fields that are all zero",
            other => crate::formats::common_legend(other),
        }
    }

    fn legend_of(&self, cause: Cause, counts: &Counts) -> Option<String> {
        if cause != Cause::Framing || counts.of_kind(wire::PACKED_TAG) > 0 {
            return None;
        }
        let words = |codes: [u8; 3]| codes.iter().map(|code| counts.of_kind(*code)).sum::<u64>().saturating_mul(4);
        let table = words([wire::SEGMENT_COUNT, wire::SEGMENT_SIZE, wire::TABLE_PADDING]);
        let tags = counts.of_kind(wire::TAG_COUNT);
        let (table, word) = (format!("segment table {table}"), if tags == 1 { "list tag" } else { "list tags" });
        let tags = (tags > 0).then(|| format!("{word} {}", tags.saturating_mul(wire::WORD)));
        Some([Some(table), tags].into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    fn foot(&self, counts: &Counts) -> Vec<String> {
        counts.lines.clone()
    }

    fn rewrite(
        &self,
        input: &mut Window,
        context: &Context<'_>,
        variant: &str,
        out: &mut dyn io::Write,
    ) -> Option<Flow> {
        rewrite::rewrite(input, context, variant, out)
    }

    fn wants(&self, _variant: &str) -> Want {
        Want::default()
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
