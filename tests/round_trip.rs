//! Values survive being written and read again; other implementations read the same values.
//!
//! What JSON cannot keep is declared here, in [`through_json`]: bytes become text, a float32 becomes a
//! float64, NaN and infinities become text.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::borrow::Cow;

use common::{Random, decode, golden_of};
use wireinspect::convert::Conversion;
use wireinspect::formats::{self, EncodeOptions};
use wireinspect::inspect::{Inspection, Options};
use wireinspect::model::value::{Node, Scalar, Value};
use wireinspect::wire::reader::Window;

/// Reads `bytes` as one format and writes them in another, as `convert` does.
fn convert(from: &str, to: &str, bytes: &[u8]) -> Vec<u8> {
    let options = Options { format: formats::by_name(from), ..Options::default() };
    let window = Window::memory(bytes.to_vec());
    let mut inspection = Inspection::open("test".to_string(), window, &options).unwrap();
    let format = formats::by_name(to).unwrap();
    let conversion = Conversion { format, variant: "plain", options: EncodeOptions::default() };
    let survey = conversion.survey(&mut inspection).unwrap();
    assert!(!survey.walk.has_errors(), "{:?}", survey.walk.found);
    let mut out = Vec::new();
    conversion.write(&mut inspection, &survey, &mut out).unwrap();
    out
}

/// The messages of an input as trees.
fn trees(format: &str, bytes: &[u8]) -> Vec<Value> {
    decode(format, bytes).messages().iter().map(|node| node.value.clone()).collect()
}

fn node(value: Value) -> Node {
    Node { value, group: 0 }
}

/// A seeded tree of at most `depth` levels, with keys of every kind.
fn tree(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        5 => Value::List((0..random.below(20)).map(|_| node(tree(random, depth - 1))).collect()),
        6 | 7 => Value::Map(
            (0..random.below(18)).map(|at| (key(random, depth, at), node(tree(random, depth - 1)))).collect(),
        ),
        _ => Value::Scalar(scalar(random)),
    }
}

fn key(random: &mut Random, depth: usize, at: usize) -> Node {
    match random.below(10) {
        0 => node(tree(random, depth.saturating_sub(2))),
        1 => node(Value::Scalar(scalar(random))),
        2 => node(Value::Scalar(Scalar::Uint(at as u64))),
        // Names that stand for something in paths and in tagged forms.
        3 => {
            node(text(["", "a b", "$map", "$ext", "$timestamp", "a.b", "[0]", "{x}", "é", "\"\\\n"][random.below(10)]))
        }
        _ => node(text(&format!("name{at}"))),
    }
}

fn text(text: &str) -> Value {
    Value::Scalar(Scalar::Text(Cow::Owned(text.as_bytes().to_vec())))
}

fn scalar(random: &mut Random) -> Scalar<'static> {
    // Numbers of any size, the boundaries of the forms among them.
    let shift = random.below(64) as u32;
    let near = (1u64 << shift).wrapping_add(random.below(3) as u64).wrapping_sub(1);
    match random.below(14) {
        0 => Scalar::Null,
        1 => Scalar::Bool(random.below(2) == 0),
        2 => Scalar::Uint(random.next() >> shift),
        3 => Scalar::Uint(near),
        4 => Scalar::Int(-1 - (near >> 1) as i64),
        5 => Scalar::Int(i64::MIN >> shift),
        6 => Scalar::F32(f32::from_bits(random.next() as u32)),
        7 => Scalar::F64(f64::from_bits(random.next())),
        8 => Scalar::F64([0.0, -0.0, 1.0, 1.5, -1e300, f64::INFINITY, f64::NAN, 5e-324][random.below(8)]),
        9 => Scalar::Bytes(Cow::Owned(blob(random))),
        // -1 is the type of timestamps.
        10 => Scalar::Ext([0, 1, 127, -128, -2][random.below(5)], Cow::Owned(blob(random))),
        11 => Scalar::Timestamp((random.next() >> shift) as i64, [0, 1, 999_999_999][random.below(3)]),
        12 => Scalar::Timestamp(-((random.next() >> shift >> 1) as i64), 500),
        _ => Scalar::Text(Cow::Owned(letters(random))),
    }
}

fn blob(random: &mut Random) -> Vec<u8> {
    let count = [0, 1, 2, 3, 4, 8, 15, 16, 17, 255, 256, 300][random.below(12)];
    random.bytes(count)
}

fn letters(random: &mut Random) -> Vec<u8> {
    const LETTERS: [&str; 9] = ["a", "Z", " ", "\"", "\\", "\n", "é", "😀", "\u{0}"];
    let count = [0, 1, 10, 20, 31, 32, 33, 255, 256][random.below(9)];
    (0..count).map(|_| LETTERS[random.below(9)]).collect::<String>().into_bytes()
}

/// Writes a tree with rmpv, so that reading is tested against another writer.
fn with_rmpv(value: &Value) -> rmpv::Value {
    match value {
        Value::List(items) => rmpv::Value::Array(items.iter().map(|item| with_rmpv(&item.value)).collect()),
        Value::Map(entries) => rmpv::Value::Map(
            entries.iter().map(|(key, value)| (with_rmpv(&key.value), with_rmpv(&value.value))).collect(),
        ),
        Value::Scalar(scalar) => match scalar {
            Scalar::Null => rmpv::Value::Nil,
            Scalar::Bool(value) => rmpv::Value::from(*value),
            Scalar::Uint(value) => rmpv::Value::from(*value),
            Scalar::Int(value) => rmpv::Value::from(*value),
            Scalar::F32(value) => rmpv::Value::F32(*value),
            Scalar::F64(value) => rmpv::Value::F64(*value),
            Scalar::Text(text) => rmpv::Value::from(std::str::from_utf8(text).unwrap()),
            Scalar::Bytes(bytes) => rmpv::Value::Binary(bytes.to_vec()),
            Scalar::Ext(kind, bytes) => rmpv::Value::Ext(*kind, bytes.to_vec()),
            Scalar::Timestamp(seconds, nanos) => rmpv::Value::Ext(-1, timestamp(*seconds, *nanos)),
            Scalar::Missing | Scalar::Number(_) => panic!("no MessagePack value: {scalar:?}"),
        },
    }
}

/// Content of the shortest timestamp, by the specification ("Timestamp extension type").
fn timestamp(seconds: i64, nanos: u32) -> Vec<u8> {
    match (u64::try_from(seconds), nanos) {
        (Ok(seconds), 0) if seconds < 1 << 32 => (seconds as u32).to_be_bytes().to_vec(),
        (Ok(seconds), nanos) if seconds < 1 << 34 => (u64::from(nanos) << 34 | seconds).to_be_bytes().to_vec(),
        _ => [&nanos.to_be_bytes()[..], &seconds.to_be_bytes()[..]].concat(),
    }
}

fn written_by_rmpv(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &with_rmpv(value)).unwrap();
    bytes
}

/// Equal values, floats by their bits, so that NaN and -0 count.
fn assert_same(mine: &Value, other: &Value) {
    match (mine, other) {
        (Value::List(mine), Value::List(other)) => {
            assert_eq!(mine.len(), other.len());
            mine.iter().zip(other).for_each(|(mine, other)| assert_same(&mine.value, &other.value));
        }
        (Value::Map(mine), Value::Map(other)) => {
            assert_eq!(mine.len(), other.len());
            for ((key, value), (other_key, other_value)) in mine.iter().zip(other) {
                assert_same(&key.value, &other_key.value);
                assert_same(&value.value, &other_value.value);
            }
        }
        (Value::Scalar(Scalar::F32(mine)), Value::Scalar(Scalar::F32(other))) => {
            assert_eq!(mine.to_bits(), other.to_bits())
        }
        (Value::Scalar(Scalar::F64(mine)), Value::Scalar(Scalar::F64(other))) => {
            assert_eq!(mine.to_bits(), other.to_bits())
        }
        // A number that is not negative may come back as unsigned.
        (Value::Scalar(Scalar::Int(mine)), Value::Scalar(Scalar::Uint(other))) => {
            assert_eq!(u64::try_from(*mine), Ok(*other))
        }
        (Value::Scalar(mine), Value::Scalar(other)) => assert_eq!(mine, other),
        _ => panic!("{mine:?} is no {other:?}"),
    }
}

/// What a tree is after it has been JSON: the declared losses.
fn through_json(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(|item| node(through_json(&item.value))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (node(through_json(&key.value)), node(through_json(&value.value))))
                .collect(),
        ),
        Value::Scalar(Scalar::Bytes(bytes)) => text(&data_encoding::BASE64.encode(bytes)),
        // A float32 comes back as the float64 of the same value.
        Value::Scalar(Scalar::F32(value)) => through_json(&Value::Scalar(Scalar::F64(f64::from(*value)))),
        Value::Scalar(Scalar::F64(value)) if value.is_nan() => text("NaN"),
        Value::Scalar(Scalar::F64(value)) if value.is_infinite() => {
            text(if *value > 0.0 { "Infinity" } else { "-Infinity" })
        }
        Value::Scalar(other) => Value::Scalar(other.clone()),
    }
}

#[test]
fn seeded_trees_survive_msgpack() {
    for seed in 0..400 {
        let value = tree(&mut Random::new(seed), 4);
        let bytes = written_by_rmpv(&value);
        let read = trees("msgpack", &bytes);
        assert_eq!(read.len(), 1);
        assert_same(&value, &read[0]);
        // rmpv writes the shortest forms, and so do we.
        assert_eq!(convert("msgpack", "msgpack", &bytes), bytes, "seed {seed}");
    }
}

#[test]
fn seeded_trees_survive_json_but_for_the_declared_losses() {
    let mut tagged = [0; 3];
    for seed in 0..400 {
        let value = tree(&mut Random::new(1000 + seed), 4);
        let bytes = written_by_rmpv(&value);
        let json = convert("msgpack", "json", &bytes);
        common::json(&json).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let text = String::from_utf8_lossy(&json);
        for (count, tag) in tagged.iter_mut().zip(["{\"$map\":", "{\"$ext\":", "{\"$timestamp\":"]) {
            *count += usize::from(text.contains(tag));
        }
        let back = convert("json", "msgpack", &json);
        let read = trees("msgpack", &back);
        assert_eq!(read.len(), 1, "seed {seed}");
        assert_same(&through_json(&value), &read[0]);
        // A second time nothing is lost any more.
        assert_eq!(convert("json", "msgpack", &convert("msgpack", "json", &back)), back, "seed {seed}");
    }
    assert!(tagged.iter().all(|count| *count > 50), "every tagged form occurs: {tagged:?}");
}

#[test]
fn several_messages_are_a_list_in_json() {
    // Declared: a stream becomes a list, since JSON to MessagePack writes one value for one value.
    let stream = common::hex("81a16101 92c0c3");
    assert_eq!(convert("msgpack", "json", &stream), b"[{\"a\":1},[null,true]]\n");
    assert_eq!(convert("msgpack", "msgpack", &stream), stream);
    assert_eq!(convert("json", "msgpack", b"{\"a\":1} [null,true]"), stream);
}

#[test]
fn json_numbers_keep_their_value_in_msgpack() {
    let cases = [
        ("0", "00"),
        ("-1", "ff"),
        ("127", "7f"),
        ("128", "cc80"),
        ("-33", "d0df"),
        ("18446744073709551615", "cfffffffffffffffff"),
        ("-9223372036854775808", "d38000000000000000"),
        ("18446744073709551616", "cb43f0000000000000"),
        ("1.0", "cb3ff0000000000000"),
        ("1e2", "cb4059000000000000"),
        ("-0", "cb8000000000000000"),
        ("0.1", "cb3fb999999999999a"),
    ];
    for (text, bytes) in cases {
        assert_eq!(convert("json", "msgpack", text.as_bytes()), common::hex(bytes), "{text}");
    }
}

fn from_rmpv(value: &rmpv::Value) -> Value {
    match value {
        rmpv::Value::Nil => Value::Scalar(Scalar::Null),
        rmpv::Value::Boolean(value) => Value::Scalar(Scalar::Bool(*value)),
        rmpv::Value::Integer(value) => Value::Scalar(match (value.as_u64(), value.as_i64()) {
            (Some(value), _) => Scalar::Uint(value),
            (None, value) => Scalar::Int(value.unwrap()),
        }),
        rmpv::Value::F32(value) => Value::Scalar(Scalar::F32(*value)),
        rmpv::Value::F64(value) => Value::Scalar(Scalar::F64(*value)),
        rmpv::Value::String(value) => Value::Scalar(Scalar::Text(Cow::Owned(value.as_bytes().to_vec()))),
        rmpv::Value::Binary(value) => Value::Scalar(Scalar::Bytes(Cow::Owned(value.clone()))),
        rmpv::Value::Ext(-1, bytes) => Value::Scalar(match bytes.len() {
            4 => Scalar::Timestamp(i64::from(u32::from_be_bytes(bytes[..].try_into().unwrap())), 0),
            8 => {
                let both = u64::from_be_bytes(bytes[..].try_into().unwrap());
                Scalar::Timestamp((both % (1 << 34)) as i64, (both >> 34) as u32)
            }
            12 => Scalar::Timestamp(
                i64::from_be_bytes(bytes[4..].try_into().unwrap()),
                u32::from_be_bytes(bytes[..4].try_into().unwrap()),
            ),
            other => panic!("a timestamp of {other} bytes"),
        }),
        rmpv::Value::Ext(kind, bytes) => Value::Scalar(Scalar::Ext(*kind, Cow::Owned(bytes.clone()))),
        rmpv::Value::Array(items) => Value::List(items.iter().map(|item| node(from_rmpv(item))).collect()),
        rmpv::Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (node(from_rmpv(key)), node(from_rmpv(value)))).collect())
        }
    }
}

#[test]
fn rmpv_reads_the_same_values_from_every_valid_vector() {
    let mut compared = 0;
    for golden in golden_of("msgpack").iter().filter(|golden| "ABCD".contains(golden.section)) {
        let mut left = &golden.bytes[..];
        let mine = trees("msgpack", &golden.bytes);
        for mine in &mine {
            let other = rmpv::decode::read_value(&mut left).unwrap_or_else(|error| panic!("{}: {error}", golden.id));
            assert_same(mine, &from_rmpv(&other));
        }
        assert!(left.is_empty(), "{}", golden.id);
        compared += 1;
    }
    assert!(compared > 130, "{compared}");
}

#[test]
fn rmpv_and_we_refuse_the_same_changed_vectors() {
    // One byte of a small vector changed: where rmpv reads one value to the end, so do we, and the other way.
    let small: Vec<_> = golden_of("msgpack").into_iter().filter(|golden| golden.bytes.len() < 200).collect();
    let (mut sound, mut broken) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(5_000_000 + seed);
        let mut bytes = small[random.below(small.len())].bytes.clone();
        let at = random.below(bytes.len().max(1));
        if bytes.is_empty() {
            continue;
        }
        bytes[at] = random.byte();
        let mine = common::decode("msgpack", &bytes);
        let mut left = &bytes[..];
        let mut others = Vec::new();
        let mut error = None;
        while !left.is_empty() && error.is_none() {
            match rmpv::decode::read_value(&mut left) {
                Ok(value) => others.push(value),
                Err(problem) => error = Some(problem.to_string()),
            }
        }
        // rmpv reads c1 as nil, has no idea of timestamps, and goes deeper.
        let own: &[&str] = &["mp-never-used", "mp-depth", "mp-timestamp-length", "mp-timestamp-nanos"];
        if mine.codes().iter().any(|code| own.contains(code)) {
            continue;
        }
        assert_eq!(mine.has_error(), error.is_some(), "{bytes:02x?}: {:?} {error:?}", mine.codes());
        if error.is_none() {
            sound += 1;
            assert_eq!(mine.messages().len(), others.len(), "{bytes:02x?}");
            for (mine, other) in mine.messages().iter().zip(&others) {
                assert_same(&mine.value, &from_rmpv(other));
            }
        } else {
            broken += 1;
        }
    }
    assert!(sound > 500 && broken > 500, "{sound} {broken}");
}

/// serde_json's reading of a text.
fn from_serde(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Scalar(Scalar::Null),
        serde_json::Value::Bool(value) => Value::Scalar(Scalar::Bool(*value)),
        serde_json::Value::Number(number) => Value::Scalar(Scalar::Number(Cow::Owned(number.to_string()))),
        serde_json::Value::String(value) => text(value),
        serde_json::Value::Array(items) => Value::List(items.iter().map(|item| node(from_serde(item))).collect()),
        serde_json::Value::Object(members) => {
            Value::Map(members.iter().map(|(name, value)| (node(text(name)), node(from_serde(value)))).collect())
        }
    }
}

/// A number keeps its digits here, and is a number of the machine there.
fn assert_same_json(mine: &Value, other: &Value) {
    match (mine, other) {
        (Value::Scalar(Scalar::Number(mine)), Value::Scalar(Scalar::Number(other))) => {
            let number = |text: &str| text.parse::<f64>().unwrap();
            assert_eq!(number(mine).to_bits(), number(other).to_bits(), "{mine} {other}");
        }
        (Value::List(mine), Value::List(other)) => {
            assert_eq!(mine.len(), other.len());
            mine.iter().zip(other).for_each(|(mine, other)| assert_same_json(&mine.value, &other.value));
        }
        (Value::Map(mine), Value::Map(other)) => {
            assert_eq!(mine.len(), other.len());
            for ((key, value), (other_key, other_value)) in mine.iter().zip(other) {
                assert_same_json(&key.value, &other_key.value);
                assert_same_json(&value.value, &other_value.value);
            }
        }
        _ => assert_same(mine, other),
    }
}

#[test]
fn serde_json_reads_the_same_values_from_every_valid_text_and_refuses_the_same_ones() {
    let mut compared = 0;
    for golden in golden_of("json") {
        let checker = decode("json", &golden.bytes);
        // Declared: a number past the range of a float64 is JSON here, and too large there; duplicates stay here;
        // depth is a limit of ours that serde_json does not have in these tests.
        let own = ["json-number-range", "json-duplicate-key", "json-depth"];
        if checker.codes().iter().any(|code| own.contains(code)) {
            continue;
        }
        let other = common::json(&golden.bytes);
        assert_eq!(checker.has_error(), other.is_err(), "{}: {:?} {other:?}", golden.id, checker.codes());
        if let Ok(other) = other {
            assert_eq!(checker.messages().len(), 1, "{}", golden.id);
            assert_same_json(&checker.messages()[0].value, &from_serde(&other));
            compared += 1;
        }
    }
    assert!(compared > 90, "{compared}");
}

#[test]
fn serde_json_and_we_refuse_the_same_changed_texts() {
    let small: Vec<_> = golden_of("json").into_iter().filter(|golden| (1..500).contains(&golden.bytes.len())).collect();
    let (mut sound, mut broken) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(6_000_000 + seed);
        let mut bytes = small[random.below(small.len())].bytes.clone();
        let at = random.below(bytes.len());
        bytes[at] =
            if random.below(2) == 0 { random.byte() } else { b"0123456789{}[],:\"\\eE+-. nulltrue"[random.below(32)] };
        let mine = decode("json", &bytes);
        let other = common::json(&bytes);
        // Several texts in a row are allowed here, and a byte order mark is a warning.
        let own = ["json-number-range", "json-duplicate-key", "json-depth", "json-byte-order-mark"];
        if mine.codes().iter().any(|code| own.contains(code)) || mine.messages().len() != 1 {
            continue;
        }
        if mine.has_error() {
            broken += 1;
        } else {
            sound += 1;
        }
        assert_eq!(
            mine.has_error(),
            other.is_err(),
            "{:?}: {:?} {other:?}",
            String::from_utf8_lossy(&bytes),
            mine.codes()
        );
        if let (false, Ok(other)) = (mine.has_error(), other) {
            assert_same_json(&mine.messages()[0].value, &from_serde(&other));
        }
    }
    assert!(sound > 500 && broken > 500, "{sound} {broken}");
}
