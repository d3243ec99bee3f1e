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

fn msgpack() -> Vec<u8> {
    let mut made = Vec::new();
    convert(json(), "json", "msgpack", &mut made);
    made
}

/// What the records are as Protobuf.
const SCHEMA: &str = "syntax = \"proto3\"; package bench;
message Batch { repeated Rec recs = 1; }
message Rec { int64 id = 1; string name = 2; bool active = 3; double score = 4; Point pos = 5; repeated uint32 samples = 6;
  repeated string tags = 7; }
message Point { int32 x = 1; sint32 y = 2; }
";

/// The schema, and the type of the whole.
fn schema() -> (Arc<Schema>, MessageId) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.proto");
    std::fs::write(&file, SCHEMA).unwrap();
    let schema = load(&Request { files: vec![file], include: Vec::new() }).unwrap().remove(0);
    let root = schema.find_message("Batch").unwrap();
    (Arc::new(schema), root)
}

fn protobuf() -> Vec<u8> {
    let (schema, root) = schema();
    let bound = Bound { schema: &schema, root };
    let mut inspection = open(json(), "json");
    let options = EncodeOptions { schema: Some(bound), ..EncodeOptions::default() };
    let conversion = Conversion { format: by_name("protobuf").unwrap(), variant: "plain", options };
    let survey = conversion.survey(&mut inspection).unwrap();
    let mut made = Vec::new();
    conversion.write(&mut inspection, &survey, &mut made).unwrap();
    made
}

/// `protobuf` has its schema, `protobuf-bare` has none.
fn open(bytes: Vec<u8>, format: &str) -> Inspection {
    let mut options = Options { format: by_name(format.trim_end_matches("-bare")), ..Options::default() };
    if format == "protobuf" {
        let (schema, root) = schema();
        options.schemas = vec![Told { schema, root: Some(root) }];
    }
    Inspection::open("bench".to_string(), Window::memory(bytes), &options).unwrap()
}

fn convert(bytes: Vec<u8>, from: &str, to: &str, out: &mut dyn Write) {
    let mut inspection = open(bytes, from);
    let conversion = Conversion { format: by_name(to).unwrap(), variant: "plain", options: EncodeOptions::default() };
    let survey = conversion.survey(&mut inspection).unwrap();
    conversion.write(&mut inspection, &survey, out).unwrap();
}

fn input(format: &str) -> Vec<u8> {
    match format {
        "json" => json(),
        "msgpack" => msgpack(),
        _ => protobuf(),
    }
}

#[divan::bench(args = ["protobuf", "protobuf-bare", "msgpack", "json"])]
fn open_and_detect(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        Inspection::open("bench".to_string(), Window::memory(bytes.clone()), &Options::default()).unwrap().variant
    });
}

#[divan::bench(args = ["protobuf", "protobuf-bare", "msgpack", "json"])]
fn walk(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| inspection.walk(&mut Nothing).unwrap().size);
}

#[divan::bench(args = ["protobuf", "protobuf-bare", "msgpack", "json"])]
fn ledger_by_field(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut ledger = Ledger::default();
        inspection.walk(&mut ledger).unwrap();
        ledger.rows
    });
}

#[divan::bench(args = ["protobuf", "protobuf-bare", "msgpack", "json"])]
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

#[divan::bench(args = ["protobuf json", "protobuf msgpack", "msgpack json", "json msgpack"])]
fn converted(bencher: Bencher<'_, '_>, pair: &str) {
    let (from, to) = pair.split_once(' ').unwrap();
    let bytes = input(from);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| convert(bytes.clone(), from, to, &mut sink()));
}
