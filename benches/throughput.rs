//! How many bytes a second are detected, walked, dumped and converted, in memory: `cargo bench`.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot run should stop")]

use std::io::{Write, sink};

use divan::Bencher;
use divan::counter::BytesCount;
use wireinspect::convert::Conversion;
use wireinspect::formats::{EncodeOptions, by_name};
use wireinspect::inspect::{Inspection, Options};
use wireinspect::model::events::Nothing;
use wireinspect::render::View;
use wireinspect::render::hexdump::Dump;
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

fn open(bytes: Vec<u8>, format: &str) -> Inspection {
    let options = Options { format: by_name(format), ..Options::default() };
    Inspection::open("bench".to_string(), Window::memory(bytes), &options).unwrap()
}

fn convert(bytes: Vec<u8>, from: &str, to: &str, out: &mut dyn Write) {
    let mut inspection = open(bytes, from);
    let conversion = Conversion { format: by_name(to).unwrap(), variant: "plain", options: EncodeOptions::default() };
    let survey = conversion.survey(&mut inspection).unwrap();
    conversion.write(&mut inspection, &survey, out).unwrap();
}

fn input(format: &str) -> Vec<u8> {
    if format == "json" { json() } else { msgpack() }
}

#[divan::bench(args = ["msgpack", "json"])]
fn open_and_detect(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        Inspection::open("bench".to_string(), Window::memory(bytes.clone()), &Options::default()).unwrap().variant
    });
}

#[divan::bench(args = ["msgpack", "json"])]
fn walk(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| inspection.walk(&mut Nothing).unwrap().size);
}

#[divan::bench(args = ["msgpack", "json"])]
fn ledger_by_field(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut ledger = Ledger::default();
        inspection.walk(&mut ledger).unwrap();
        ledger.rows
    });
}

#[divan::bench(args = ["msgpack", "json"])]
fn dump(bencher: Bencher<'_, '_>, format: &str) {
    let bytes = input(format);
    let mut inspection = open(bytes.clone(), format);
    let view = View { width: 100, ..View::default() };
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut out = sink();
        let mut dump = Dump::new(&mut out, by_name(format), view.clone(), 1 << 20, Default::default());
        inspection.walk(&mut dump).unwrap();
        dump.finish().unwrap();
    });
}

#[divan::bench(args = ["msgpack json", "json msgpack"])]
fn converted(bencher: Bencher<'_, '_>, pair: &str) {
    let (from, to) = pair.split_once(' ').unwrap();
    let bytes = input(from);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| convert(bytes.clone(), from, to, &mut sink()));
}
