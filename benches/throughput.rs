//! How many bytes a second are detected, walked, dumped and converted, in memory: `cargo bench`.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot run should stop")]

use std::io::{Write, sink};
use std::sync::Arc;

use divan::Bencher;
use divan::counter::BytesCount;
use wireinspect::convert::Conversion;
use wireinspect::formats::{EncodeOptions, by_name};
use wireinspect::inspect::{Inspection, Options, Told};
use wireinspect::model::events::Nothing;
use wireinspect::model::schema::{Bound, MessageId, Schema};
use wireinspect::render::View;
use wireinspect::render::hexdump::Dump;
use wireinspect::schema::{Request, load};
use wireinspect::size::Ledger;
use wireinspect::wire::reader::Window;

const RECORDS: u64 = 2000;

fn main() {
    divan::main();
}

/// A batch of records as JSON text: numbers of all sizes, text, lists, nested objects.
fn json() -> Vec<u8> {
    let mut text = Vec::from(*b"{\"recs\":[");
    for n in 0..RECORDS {
        let comma = if n == 0 { "" } else { "," };
        let score = n.wrapping_mul(2_654_435_761) % 200_000;
        write!(
            text,
            "{comma}{{\"id\":{},\"name\":\"sensor-{n:06}\",\"active\":{},\"score\":{}.{:03},\"pos\":{{\"x\":{},\"y\":-{n}}},\
             \"samples\":[1,200,{n},70000],\"tags\":[\"alpha\",\"eu-west\"]}}",
            10_000_000_000u64 + n * 37,
            n % 2 == 0,
            score / 1000,
            score % 1000,
            n % 5000
        )
        .unwrap();
    }
    text.extend_from_slice(b"]}");
    text
}

/// The inputs of most benches; `-bare` is without a schema.
const FORMATS: [&str; 8] =
    ["protobuf", "protobuf-bare", "flatbuffers", "flatbuffers-bare", "capnp", "capnp-bare", "msgpack", "json"];

/// What the records are, in the language of a format: a file's ending, and its text.
fn source(format: &str) -> Option<(&'static str, &'static str)> {
    match format {
        "protobuf" => Some((
            "proto",
            "syntax = \"proto3\"; message Batch { repeated Rec recs = 1; }
             message Rec { int64 id = 1; string name = 2; bool active = 3; double score = 4; Point pos = 5;
                           repeated uint32 samples = 6; repeated string tags = 7; }
             message Point { int32 x = 1; sint32 y = 2; }",
        )),
        "flatbuffers" => Some((
            "fbs",
            "struct Point { x: int; y: int; }
             table Rec { id: long; name: string; active: bool; score: double; pos: Point; samples: [uint];
                         tags: [string]; }
             table Batch { recs: [Rec]; } root_type Batch;",
        )),
        "capnp" => Some((
            "capnp",
            "@0xc5a1b2c3d4e5f607; struct Batch { recs @0 :List(Rec); }
             struct Rec { id @0 :Int64; name @1 :Text; active @2 :Bool; score @3 :Float64; pos @4 :Point;
                          samples @5 :List(UInt32); tags @6 :List(Text); }
             struct Point { x @0 :Int32; y @1 :Int32; }",
        )),
        _ => None,
    }
}

/// The schema of a format, and the type of the whole.
fn schema(format: &str) -> Option<(Arc<Schema>, MessageId)> {
    let (ending, text) = source(format)?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench").with_extension(ending);
    std::fs::write(&file, text).unwrap();
    let schema = load(&Request { files: vec![file], include: Vec::new() }).unwrap().remove(0);
    let root = schema.find_message("Batch").unwrap();
    Some((Arc::new(schema), root))
}

fn open(bytes: Vec<u8>, format: &str) -> Inspection {
    let mut options = Options { format: by_name(format.trim_end_matches("-bare")), ..Options::default() };
    if let Some((schema, root)) = schema(format) {
        options.schemas = vec![Told { schema, root: Some(root) }];
    }
    Inspection::open("bench".to_string(), Window::memory(bytes), &options).unwrap()
}

fn convert(bytes: Vec<u8>, from: &str, to: &str, out: &mut dyn Write) {
    let mut inspection = open(bytes, from);
    let schema = schema(to);
    let bound = schema.as_ref().map(|(schema, root)| Bound { schema, root: *root });
    let format = by_name(to).unwrap();
    let options = EncodeOptions { schema: bound, ..EncodeOptions::default() };
    let conversion = Conversion { format, variant: format.info().variants.first().unwrap().name, options };
    let survey = conversion.survey(&mut inspection).unwrap();
    conversion.write(&mut inspection, &survey, out).unwrap();
}

fn input(format: &str) -> Vec<u8> {
    let mut made = json();
    if format != "json" {
        let bytes = std::mem::take(&mut made);
        convert(bytes, "json", format.trim_end_matches("-bare"), &mut made);
    }
    made
}

#[divan::bench(args = FORMATS)]
fn open_and_detect(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        Inspection::open("bench".to_string(), Window::memory(bytes.clone()), &Options::default()).unwrap().variant
    });
}

#[divan::bench(args = FORMATS)]
fn walk(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| inspection.walk(&mut Nothing).unwrap().size);
}

#[divan::bench(args = FORMATS)]
fn ledger_by_field(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut ledger = Ledger::default();
        inspection.walk(&mut ledger).unwrap();
        ledger.rows
    });
}

#[divan::bench(args = FORMATS)]
fn dump(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    let view = View { width: 100, ..View::default() };
    let inspection_format = inspection.format;
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut out = sink();
        let mut dump = Dump::new(&mut out, inspection_format, view.clone(), 1 << 20, Default::default());
        inspection.walk(&mut dump).unwrap();
        dump.finish().unwrap();
    });
}

#[divan::bench(args = [
    "protobuf json", "flatbuffers json", "capnp json", "protobuf msgpack", "msgpack json", "json msgpack",
    "json protobuf", "json flatbuffers", "json capnp",
])]
fn converted(bencher: Bencher<'_, '_>, pair: &str) {
    let (from, to) = pair.split_once(' ').unwrap();
    let bytes = input(from);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| convert(bytes.clone(), from, to, &mut sink()));
}
