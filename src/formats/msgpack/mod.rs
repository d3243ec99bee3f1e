//! MessagePack (specification: github.com/msgpack/msgpack, spec.md). Describes itself, so it needs no
//! schema: [`wire`] has the standard's numbers, [`decode`] walks, [`read`] says what bytes mean,
//! [`words`] tells it, [`encode`] writes.

mod damage;
mod decode;
mod detect;
mod encode;
mod keys;
mod notes;
mod objects;
mod read;
mod skip;
mod words;

pub mod wire;

use std::io;

use crate::formats::{
    Candidate, Context, Counts, EncodeOptions, Encoder, Format, Info, Note, Nouns, Sample, Seen, Telling, Variant,
};
use crate::model::bytemap::{Bits, Cause, KindInfo, Leaf};
use crate::model::events::{Flow, Sink};
use crate::model::limits;
use crate::model::survey::{Survey, Want};
use crate::wire::reader::Window;

/// The format.
pub struct MessagePack;

static INFO: Info = Info {
    name: "msgpack",
    short: &["mp"],
    title: "MessagePack",
    extensions: &["msgpack", "mpack", "mp"],
    variants: &[Variant { name: "plain", about: "objects one after the other" }],
    text: false,
    about: include_str!("format.md"),
    schema: "not needed: every object says what it is",
    read: "offset, bytes, field, meaning. A | parts key|head|value; bytes set further right lie inside a \
           container. An object's first byte says what it is. Hex offsets are written 0x..; a range ends \
           before its second number.",
    nouns: Nouns { map: "map", entry: "entry", entries: "entries", list: "array", message: "object" },
    depth: limits::MSGPACK_DEPTH,
    big_endian: true,
    scattered: false,
    row: 0,
    language: None,
};

impl Format for MessagePack {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn kinds(&self) -> &'static [KindInfo] {
        wire::KINDS
    }

    fn detect(&self, sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
        detect::detect(sample, context)
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
            Cause::Key => "names, with their heads",
            Cause::Length => "heads that hold a length or count",
            Cause::Type => "heads that hold neither",
            other => crate::formats::common_legend(other),
        }
    }

    fn foot(&self, counts: &Counts) -> Vec<String> {
        crate::formats::names::line(counts).into_iter().collect()
    }

    fn wants(&self, _variant: &str) -> Want {
        Want { counts: true, ..Want::default() }
    }

    fn encoder<'a>(
        &self,
        _variant: &str,
        _options: EncodeOptions<'a>,
        survey: &'a Survey,
        out: &'a mut dyn io::Write,
    ) -> Box<dyn Encoder + 'a> {
        Box::new(encode::Writer::new(out, survey))
    }
}
