//! The golden vectors, both ways: what each input is, and that writing gives the same bytes again.
//!
//! `tests/data/golden/manifest.json` names them; each was made or judged by another implementation.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that goes wrong may end at once"
)]

mod common;

use std::collections::BTreeMap;

use common::{Golden, file, golden, golden_of, json, run};
use serde_json::{Value as Json, json as build};
use wireinspect::model::value::{Node, Scalar, Value};

const CAUSES: [&str; 13] = [
    "payload",
    "key",
    "length",
    "type",
    "pointer",
    "table",
    "padding",
    "terminator",
    "default",
    "framing",
    "names",
    "punctuation",
    "unread",
];

/// The ledgers that design.md section 5 works out by hand.
const LEDGERS: [(&str, &str); 11] = [
    ("document.capnp.binary", "payload 96 width 74 pointer 104 padding 76 terminator 10 framing 16"),
    ("document.capnp.packed", "payload 96 pointer 27 framing 56"),
    ("document.flatbuffers", "payload 97 width 74 length 44 pointer 88 table 94 padding 33 terminator 10"),
    ("document.flatbuffers.bare", "payload 96 width 74 length 44 pointer 84 table 80 padding 28 terminator 10"),
    ("document.protobuf", "payload 96 width 3 key 37 length 19"),
    ("document.protostuff", "payload 96 width 3 key 37 length 10 type 9"),
    ("document.msgpack", "payload 96 width 4 key 196 length 21 type 8"),
    ("document.msgpack.int-keys", "payload 96 width 4 key 30 length 21 type 8"),
    ("peer_update.msgpack.map-camel-keys", "payload 267 width 18 key 328 length 23 type 20"),
    ("document.json", "payload 123 key 226 punctuation 99"),
    ("document.json.camel", "payload 123 key 218 punctuation 99"),
];

/// Texts that no reader takes for their schema, but which are JSON: only a conversion to that schema can
/// refuse them.
fn is_json_that_does_not_fit(golden: &Golden) -> bool {
    golden.id.starts_with("bad.json.") && errors(&explained(golden, false).0) == 0
}

/// Path of the schema of a vector, and its type.
fn schema_args(golden: &Golden) -> [String; 4] {
    let schema = format!("tests/data/{}", golden.text("schema"));
    ["-s".to_string(), schema, "-t".to_string(), golden.text("root").to_string()]
}

/// What `explain --to json` makes of a vector, and its exit status.
fn explained(golden: &Golden, typed: bool) -> (Json, i32) {
    let told = format!("{}/{}", golden.format, golden.told());
    let mut args: Vec<String> = ["explain", "--to", "json", "-f", &told].map(str::to_string).to_vec();
    if golden.variant == "base64" {
        args.extend(["-e", "base64"].map(str::to_string));
    }
    if typed {
        args.extend(schema_args(golden));
    }
    args.push(golden.path.clone());
    let mut ran = run(&args);
    assert!(ran.status == 0 || ran.status == 1, "{}: {ran:?}", golden.id);
    if golden.id == "bad.json.double_overflow" {
        // A JSON number keeps its text, and this one is past what serde_json holds.
        ran.out = ran.text().replace("1e400", "1e300").into_bytes();
    }
    (ran.json(), ran.status)
}

/// Each vector without schema, and with one where it has one.
fn each_reading(all: &[Golden]) -> impl Iterator<Item = (&Golden, bool)> {
    let readings = |golden: &Golden| if golden.typed().is_some() { vec![false, true] } else { vec![false] };
    all.iter().flat_map(move |golden| readings(golden).into_iter().map(move |typed| (golden, typed)))
}

/// Bad vectors whose place is defensibly another than the manifest's: deep nesting is wrong at its first byte
/// there, and here at the level past the limit; a container that is cut is wrong where the bytes end.
fn is_wrong_elsewhere(id: &str) -> bool {
    // A FlatBuffer that is cut is wrong at the offset that leads past the end.
    let cut = id.starts_with("bad.fb.trunc_") || id.starts_with("bad.fb.fan_out") || id == "bad.fb.sized_read_as_plain";
    // A flat segment says nothing of its length: the first pointer past the end is wrong.
    let cut = cut || id == "bad.cap.flat_cut_word" || id == "bad.cap.amplify_shared_lists";
    id.contains("nest_") || id == "bad.mp.array32_65536_cut" || cut
}

fn errors(out: &Json) -> usize {
    out["diagnostics"].as_array().unwrap().iter().filter(|found| found["severity"] == "error").count()
}

/// Checks the leaves of one layer, whose sums by cause it returns.
fn partition<'a>(golden: &Golden, layer: &'a Json) -> BTreeMap<&'a str, u64> {
    let mut at = 0;
    let mut sums = BTreeMap::<&str, u64>::new();
    for span in layer["spans"].as_array().unwrap() {
        let number = |name: &str| span[name].as_u64().unwrap();
        let (start, end, width, cause) = (number("start"), number("end"), number("width"), span["cause"].as_str());
        let cause = cause.unwrap();
        assert!(start == at && end > start, "{}: {span}", golden.id);
        assert!(CAUSES.contains(&cause), "{}: {span}", golden.id);
        assert!(width <= end - start, "{}: {span}", golden.id);
        let payload = if cause == "payload" { end - start - width } else { 0 };
        assert_eq!(number("payload"), payload, "{}: {span}", golden.id);
        assert!(width == 0 || cause == "payload", "{}: {span}", golden.id);
        assert!(!"ABC".contains(golden.section) || cause != "unread", "{}: {span}", golden.id);
        *sums.entry(cause).or_default() += end - start - width;
        *sums.entry("width").or_default() += width;
        at = end;
    }
    assert_eq!(Some(at), layer["size"].as_u64(), "{}", golden.id);
    sums.retain(|_, bytes| *bytes > 0);
    sums
}

#[test]
fn every_vector_is_partitioned_with_causes_of_the_closed_list_and_the_width_rule() {
    let all = golden();
    assert_eq!(all.len(), 873);
    for (golden, typed) in each_reading(&all) {
        let (out, status) = explained(golden, typed);
        let layers = out["layers"].as_array().unwrap();
        // Base64 holds the message, a compressed frame holds one, packed words are a layer.
        let inside =
            usize::from(["long.protobuf.base64", "short.protobuf.base64", "pb.grpc_gzip"].contains(&&*golden.id))
                + usize::from(golden.told().contains("packed") && !golden.bytes.is_empty());
        assert_eq!(layers.len(), 1 + inside, "{}", golden.id);
        assert_eq!(layers[0]["size"].as_u64(), Some(golden.bytes.len() as u64), "{}", golden.id);
        let sums: Vec<_> = layers.iter().map(|layer| partition(golden, layer)).collect();
        if let Some((_, ledger)) = LEDGERS.iter().find(|(id, _)| *id == golden.id)
            && (typed || golden.typed().is_none())
        {
            let words: Vec<&str> = ledger.split(' ').collect();
            let by_hand: BTreeMap<&str, u64> = words.chunks(2).map(|two| (two[0], two[1].parse().unwrap())).collect();
            assert_eq!(sums[0], by_hand, "{}", golden.id);
        }
        assert_eq!(status == 1, errors(&out) > 0, "{}: the status says whether there is an error", golden.id);
        // A union of a type that the schema does not have is refused by the verifier.
        if "ABCD".contains(golden.section) && golden.text("verifier") != "rejected" {
            // Also those with a str that is not UTF-8, which one reader takes and another refuses: a warning.
            assert_eq!(status, 0, "{}: {}", golden.id, out["diagnostics"]);
        }
    }
    assert!(LEDGERS.iter().all(|(id, _)| all.iter().any(|golden| golden.id == *id)));
}

#[test]
fn the_library_gives_the_ledgers_that_were_worked_out_by_hand() {
    for golden in golden() {
        let checker = golden.read_as().decode(&golden.message());
        if let Some((_, ledger)) = LEDGERS.iter().find(|(id, _)| *id == golden.id) {
            assert_eq!(checker.causes(), *ledger, "{}", golden.id);
        }
        golden.untyped_as().decode(&golden.message());
    }
}

#[test]
fn a_decoder_whose_words_nobody_wants_says_the_same_bytes() {
    for golden in golden() {
        for read in [golden.untyped_as(), golden.read_as()] {
            let (heard, silent) = (read.decode(&golden.message()), read.decode_silent(&golden.message()));
            let leaves = |checker: &common::Checker| checker.rows.iter().map(|row| row.leaf).collect::<Vec<_>>();
            assert_eq!(leaves(&heard), leaves(&silent), "{}", golden.id);
            assert_eq!(heard.groups, silent.groups, "{}", golden.id);
            assert_eq!(heard.found, silent.found, "{}", golden.id);
        }
    }
}

#[test]
fn bad_vectors_have_an_error_near_the_place_and_accepted_ones_have_none() {
    let all: Vec<Golden> = golden().into_iter().filter(|golden| golden.section == 'E').collect();
    let mut rejected = 0;
    for (golden, typed) in each_reading(&all) {
        let (out, status) = explained(golden, typed);
        if !typed && golden.typed().is_some() || is_json_that_does_not_fit(golden) {
            // Wrong by the schema only, which a conversion finds.
            continue;
        }
        match golden.text("verdict") {
            "reject" => {
                rejected += 1;
                assert!(status == 1 && errors(&out) > 0, "{}: {}", golden.id, golden.text("wrong"));
                let offset = golden.entry["offset"].as_u64().unwrap();
                let near = |found: &Json| {
                    let (start, end) = (found["start"].as_u64().unwrap(), found["end"].as_u64().unwrap());
                    found["severity"] == "error" && start <= offset + 16 && offset <= end + 16
                };
                let near = out["diagnostics"].as_array().unwrap().iter().any(near);
                let place = near || is_wrong_elsewhere(&golden.id);
                assert!(place, "{}: wrong at {offset}: {}", golden.id, out["diagnostics"]);
            }
            // FlatBuffers' verifiers let pass what no writer makes: a vtable of size 0, a table that is its own vtable.
            "accept" if golden.format == "flatbuffers" => {}
            "accept" => assert_eq!((status, errors(&out)), (0, 0), "{}: {}", golden.id, out["diagnostics"]),
            "mixed" => {}
            other => panic!("{}: verdict {other}", golden.id),
        }
    }
    assert!(rejected > 120, "{rejected}");
}

#[test]
fn json_that_does_not_fit_its_schema_is_refused_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("made.pb");
    let mut refused = 0;
    for golden in golden().iter().filter(|golden| golden.id.starts_with("bad.json.")) {
        let mut args = vec!["convert".to_string(), "-f".to_string(), "json".to_string()];
        args.extend(["--to".to_string(), "protobuf".to_string(), golden.path.clone()]);
        args.extend(schema_args(golden));
        args.extend(["-o".to_string(), target.to_str().unwrap().to_string()]);
        let ran = run(&args);
        if golden.text("verdict") != "reject" {
            assert!(ran.status < 2, "{}: {}", golden.id, ran.err);
            continue;
        }
        refused += 1;
        assert_eq!((ran.status, ran.out.len()), (1, 0), "{}: {}: {}", golden.id, golden.text("wrong"), ran.err);
        assert!(!target.exists(), "{}: a file of what was refused", golden.id);
        if golden.bytes.is_empty() {
            continue;
        }
        let offset = usize::try_from(golden.entry["offset"].as_u64().unwrap()).unwrap();
        let before = &golden.bytes[..offset.min(golden.bytes.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        // A misfit has `FILE:LINE:COLUMN:`, damage has it in the sentence. Columns count from 1.
        let place = format!("{}:{line}:", golden.path);
        let words = format!("line {line}, column ");
        let column = ran.err.split_once(&place).or_else(|| ran.err.split_once(&words));
        let column =
            column.and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
        let column = column.unwrap_or_else(|| panic!("{}: no line and column: {}", golden.id, ran.err));
        let due = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        assert!(column.abs_diff(due) <= 16 || is_wrong_elsewhere(&golden.id), "{}: {}", golden.id, ran.err);
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn what_readers_disagree_on_is_an_error_where_the_specification_forbids_it() {
    // c1 is never used; -1 is the specification's own type; nanoseconds end at 999999999; 1024 levels are
    // past the limit of 512.
    for name in
        ["never_used_c1", "never_used_c1_inside", "timestamp_fixext1", "timestamp_64_nanos_too_big", "nest_1024"]
    {
        let found = golden().into_iter().find(|golden| golden.id == format!("bad.mp.{name}")).unwrap();
        assert_eq!(found.text("verdict"), "mixed");
        assert!(common::decode("msgpack", &found.bytes).has_error(), "{name}");
    }
}

/// Names compared without case, `_` and `-`; what equals the default is as if absent.
fn plain(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let names = members.iter().map(|(name, value)| (name.replace(['_', '-'], "").to_lowercase(), plain(value)));
            let default = |value: &Json| {
                value.is_null()
                    || *value == build!(false)
                    || value.as_f64() == Some(0.0)
                    || *value == build!("")
                    || *value == build!([])
                    || *value == build!({})
            };
            Json::Object(names.filter(|(_, value)| !default(value)).collect())
        }
        Json::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Equal, numbers and numeric strings alike; floats exactly, or within 1e-6 where the oracle lost digits.
fn same(a: &Json, b: &Json, lossy: bool) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other, lossy)))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, lossy)),
        _ if a == b => true,
        _ => {
            let number = |value: &Json| match value {
                Json::Number(number) => number.as_f64(),
                Json::String(text) => text.parse().ok(),
                _ => None,
            };
            let (Some(a), Some(b)) = (number(a), number(b)) else { return false };
            a == b || lossy && (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
        }
    }
}

#[test]
fn values_of_records_equal_their_canonical_json() {
    let mut compared = 0;
    for golden in golden().iter().filter(|golden| "ABC".contains(golden.section)) {
        // Field numbers and positions stand for names there: nothing to compare with by name.
        if ["map-int-keys", "struct-as-array"].contains(&golden.variant.as_str()) {
            continue;
        }
        // A double[] is a message of its own in Protostuff, so the value has another shape than the record.
        if ["telemetry.protostuff", "telemetry.protostuff-pb"].contains(&golden.id.as_str()) {
            continue;
        }
        let value = &explained(golden, golden.typed().is_some()).0["value"];
        let canonical = json(&file(&format!("tests/data/golden/{}", golden.text("canonical")))).unwrap();
        let lossy = golden.entry["lossy"] == true;
        let (want, mut got) = (plain(&canonical), plain(value));
        let wrapped = golden.text("root_path").replace('_', "");
        if golden.format == "flatbuffers" && !wrapped.is_empty() {
            got = got[wrapped].clone();
        }
        if golden.variant == "flatc-json" {
            // FlatBuffers' own JSON wraps the record in a table of all records.
            got = got[golden.text("record").replace('_', "")].clone();
        }
        if ["protostuff-delimited", "delimited-stream"].contains(&golden.variant.as_str()) {
            // The items of a batch one after the other.
            got = build!({ "items": got });
        } else if golden.told() == "delimited" {
            got = got[0].clone();
        }
        assert!(same(&want, &got, lossy), "{}: {want} {got}", golden.id);
        // Where the writer kept the names, the order is the record's too.
        if golden.variant.starts_with("map-string-keys") && !golden.variant.ends_with("bin") {
            let name = |name: &String| name.replace('_', "").to_lowercase();
            let names = |value: &Json| value.as_object().unwrap().keys().map(name).collect::<Vec<_>>();
            assert_eq!(names(value), names(&canonical), "{}", golden.id);
        }
        compared += 1;
    }
    assert!(compared > 95, "{compared}");
}

/// The one vector whose float32 is written with other digits of the same number: 1.4013e-45 is 1e-45.
fn is_told_float(want: &Json, got: &Json) -> bool {
    let float = |value: &Json| value["fFloat"].to_string().parse::<f32>().ok();
    let rest = |value: &Json| value["fDouble"].clone();
    float(want).is_some()
        && float(want) == float(got)
        && rest(want) == rest(got)
        && want.as_object().unwrap().len() == 2
}

#[test]
fn values_of_protobuf_edge_cases_are_those_of_the_manifest() {
    let (mut compared, mut named) = (0, 0);
    for golden in golden_of("protobuf").iter().filter(|golden| "DE".contains(golden.section)) {
        let (Some(want), "accept" | "") =
            (golden.entry.get("json").filter(|json| !json.is_null()), golden.text("verdict"))
        else {
            continue;
        };
        if golden.id == "bad.pb.string_invalid_utf8_proto2" {
            // The manifest shows Python's bytes; U+FFFD stands for what is not UTF-8 here.
            assert_eq!(explained(golden, true).0["value"], build!({ "id": 1, "text": "a\u{fffd}b" }));
            continue;
        }
        let got = &explained(golden, true).0["value"];
        if golden.variant == "grpc-frame" {
            // Told with the names of the schema there.
            assert!(same(&plain(want), &plain(got), false), "{}: {want} {got}", golden.id);
            named += 1;
        } else {
            assert!(is_told_float(want, got) || want == got, "{}: {want} {got}", golden.id);
            compared += 1;
        }
    }
    assert!(compared > 70 && named == 4, "{compared} {named}");
}

#[test]
fn int_keys_and_positions_hold_the_values_of_the_record_in_its_order() {
    fn leaves(value: &Json, out: &mut Vec<Json>) {
        match value {
            Json::Object(members) => members.values().for_each(|value| leaves(value, out)),
            Json::Array(items) => items.iter().for_each(|value| leaves(value, out)),
            other => out.push(other.clone()),
        }
    }
    fn tree_leaves(node: &Node, out: &mut Vec<Json>) {
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| tree_leaves(item, out)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| tree_leaves(value, out)),
            Value::Scalar(scalar) => out.push(to_json(&Value::Scalar(scalar.clone()))),
        }
    }
    let mut compared = 0;
    for golden in golden() {
        if !["map-int-keys", "struct-as-array"].contains(&golden.variant.as_str()) {
            continue;
        }
        let (mut want, mut got) = (Vec::new(), Vec::new());
        leaves(&json(&file(&format!("tests/data/golden/{}", golden.text("canonical")))).unwrap(), &mut want);
        let checker = common::decode("msgpack", &golden.bytes);
        checker.messages().iter().for_each(|node| tree_leaves(node, &mut got));
        // A map of the record is a map here too, so only its values count on both sides. Bytes are base64 in JSON.
        assert_eq!(got.len(), want.len(), "{}", golden.id);
        for (got, want) in got.iter().zip(&want) {
            assert!(same(got, want, false), "{}: {got} {want}", golden.id);
        }
        compared += 1;
    }
    assert_eq!(compared, 13);
}

/// A value of the tree as the JSON that `convert --to json` writes, by the rules of design.md section 4.
fn to_json(value: &Value) -> Json {
    let float = |value: f64, shortest: String| match value {
        _ if value.is_nan() => build!("NaN"),
        _ if value.is_infinite() => build!(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => json(shortest.as_bytes()).unwrap(),
    };
    match value {
        Value::List(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        Value::Map(entries) => {
            let mut names: Vec<String> = Vec::new();
            for (key, _) in entries {
                match &key.value {
                    Value::Scalar(Scalar::Text(text)) => names.push(String::from_utf8_lossy(text).into_owned()),
                    _ => names.clear(),
                }
            }
            let mut unique = names.clone();
            unique.sort();
            unique.dedup();
            if unique.len() < entries.len() {
                let pairs = entries.iter().map(|(key, value)| build!([to_json(&key.value), to_json(&value.value)]));
                return build!({ "$map": pairs.collect::<Vec<_>>() });
            }
            Json::Object(names.into_iter().zip(entries.iter().map(|(_, value)| to_json(&value.value))).collect())
        }
        Value::Scalar(scalar) => match scalar {
            Scalar::Null | Scalar::Missing => Json::Null,
            Scalar::Bool(value) => build!(value),
            Scalar::Uint(value) => build!(value),
            Scalar::Int(value) => build!(value),
            Scalar::F32(value) => float(f64::from(*value), format!("{:?}", f64::from(*value))),
            Scalar::F64(value) => float(*value, format!("{value:?}")),
            Scalar::Number(text) => json(text.as_bytes()).unwrap(),
            Scalar::Text(text) => build!(String::from_utf8_lossy(text)),
            Scalar::Bytes(bytes) => build!(data_encoding::BASE64.encode(bytes)),
            Scalar::Ext(kind, bytes) => build!({ "$ext": [kind, data_encoding::HEXLOWER.encode(bytes)] }),
            Scalar::Timestamp(seconds, nanos) => build!({ "$timestamp": [seconds, nanos] }),
        },
    }
}

/// Whether a value of the tree is the one that the manifest tells with its tagged forms.
fn is_told(value: &Value, told: &Json) -> bool {
    let tag = told.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let bytes = |text: &Json| common::hex(text.as_str().unwrap());
    match (value, tag.map(|(name, inner)| (name.as_str(), inner))) {
        (Value::Scalar(Scalar::Bytes(mine)), Some(("$bin", inner))) => mine[..] == bytes(inner)[..],
        (Value::Scalar(Scalar::Ext(kind, mine)), Some(("$ext", inner))) => {
            inner[0].as_i64() == Some(i64::from(*kind)) && mine[..] == bytes(&inner[1])[..]
        }
        (Value::Scalar(Scalar::Timestamp(seconds, nanos)), Some(("$timestamp", inner))) => {
            inner[0].as_i64() == Some(*seconds) && inner[1].as_u64() == Some(u64::from(*nanos))
        }
        (Value::Scalar(Scalar::Text(mine)), Some(("$str_bytes", inner))) => mine[..] == bytes(inner)[..],
        (Value::Scalar(Scalar::F32(mine)), Some(("$float", inner))) => is_float(f64::from(*mine), inner),
        (Value::Scalar(Scalar::F64(mine)), Some(("$float", inner))) => is_float(*mine, inner),
        (Value::Map(entries), Some(("$map", pairs))) => {
            let pairs = pairs.as_array().unwrap();
            entries.len() == pairs.len()
                && entries
                    .iter()
                    .zip(pairs)
                    .all(|((key, value), pair)| is_told(&key.value, &pair[0]) && is_told(&value.value, &pair[1]))
        }
        (Value::Map(entries), _) => {
            let Some(members) = told.as_object() else { return false };
            entries.len() == members.len()
                && entries.iter().zip(members).all(|((key, value), (name, told))| {
                    is_told(&key.value, &build!(name)) && is_told(&value.value, told)
                })
        }
        (Value::List(items), _) => {
            let Some(told) = told.as_array() else { return false };
            items.len() == told.len() && items.iter().zip(told).all(|(item, told)| is_told(&item.value, told))
        }
        (Value::Scalar(scalar), _) => match scalar {
            Scalar::Null => told.is_null(),
            Scalar::Bool(value) => told.as_bool() == Some(*value),
            Scalar::Uint(value) => told.as_u64() == Some(*value),
            Scalar::Int(value) => told.as_i64() == Some(*value),
            Scalar::F32(value) => told.is_f64() && told.as_f64().map(f64::to_bits) == Some(f64::from(*value).to_bits()),
            Scalar::F64(value) => told.is_f64() && told.as_f64().map(f64::to_bits) == Some(value.to_bits()),
            Scalar::Text(text) => told.as_str().map(str::as_bytes) == Some(text),
            _ => false,
        },
    }
}

fn is_float(value: f64, told: &Json) -> bool {
    match told.as_str().unwrap() {
        "nan" => value.is_nan(),
        "inf" => value == f64::INFINITY,
        "-inf" => value == f64::NEG_INFINITY,
        other => panic!("$float {other}"),
    }
}

#[test]
fn values_of_msgpack_edge_cases_are_those_of_the_manifest() {
    let mut compared = 0;
    for golden in golden_of("msgpack").iter().filter(|golden| golden.section == 'D') {
        let checker = common::decode("msgpack", &golden.bytes);
        let Some(told) = golden.entry.get("value") else { continue };
        let messages = checker.messages();
        let told: Vec<Json> = match told.get("$stream") {
            Some(stream) => stream.as_array().unwrap().clone(),
            None => vec![told.clone()],
        };
        assert_eq!(messages.len(), told.len(), "{}", golden.id);
        for (message, told) in messages.iter().zip(&told) {
            assert!(is_told(&message.value, told), "{}: {:?} {told}", golden.id, message.value);
        }
        compared += 1;
    }
    assert!(compared > 90, "{compared}");
}

#[test]
fn the_json_value_of_msgpack_has_the_tagged_forms_of_the_design() {
    for golden in golden_of("msgpack").iter().filter(|golden| "ABCD".contains(golden.section)) {
        let checker = common::decode("msgpack", &golden.bytes);
        let trees: Vec<Json> = checker.messages().iter().map(|node| to_json(&node.value)).collect();
        let want = if let [one] = &trees[..] { one.clone() } else { Json::Array(trees) };
        let got = explained(golden, false).0["value"].clone();
        assert!(got == want, "{}: {got} {want}", golden.id);
    }
}

/// Vectors whose writer did not take the shortest form.
fn non_minimal(golden: &Golden) -> bool {
    const LONG: [&str; 10] = [
        "mp.marker_c5",
        "mp.marker_c6",
        "mp.marker_c8",
        "mp.marker_c9",
        "mp.marker_d9",
        "mp.marker_db",
        "mp.marker_dc",
        "mp.marker_dd",
        "mp.int_nonminimal",
        "mp.timestamp_nonminimal",
    ];
    LONG.contains(&golden.id.as_str())
}

fn rewritten(path: &str, bytes: &[u8]) -> Vec<u8> {
    let ran = run(&["convert", "-f", "msgpack", "--to", "msgpack", path]);
    assert_eq!(ran.status, 0, "{path}: {ran:?}");
    assert!(ran.out.len() <= bytes.len(), "{path}: never longer");
    ran.out
}

#[test]
fn minimal_vectors_come_back_byte_for_byte_and_others_shrink_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut equal, mut shrunk) = (0, 0);
    for golden in golden_of("msgpack").iter().filter(|golden| "ABCD".contains(golden.section)) {
        let once = rewritten(&golden.path, &golden.bytes);
        if non_minimal(golden) {
            assert!(once.len() < golden.bytes.len(), "{}", golden.id);
            let path = common::put(folder.path(), "once", &once);
            assert_eq!(rewritten(&path, &once), once, "{}: stable", golden.id);
            shrunk += 1;
        } else if golden.id == "mp.int64_positive" {
            // As short, but a number that is not negative is written unsigned.
            assert_eq!((once.len(), once[0], &once[1..]), (9, 0xcf, &golden.bytes[1..]));
        } else {
            assert!(once == golden.bytes, "{}: not the same bytes again", golden.id);
            equal += 1;
        }
        let warned = common::decode("msgpack", &golden.bytes).codes().contains(&"mp-non-minimal");
        assert_eq!(warned, non_minimal(golden), "{}", golden.id);
    }
    assert!(equal > 120 && shrunk == 10, "{equal} {shrunk}");
}

#[test]
fn records_convert_to_the_msgpack_bytes_of_the_other_writers() {
    // Not `long`: its bytes are base64 text in JSON, and stay text; and where a record holds a float of a whole
    // value, Python's JSON writes `1.0`, which is a float64 here and there.
    let pairs = [
        ("message", "message/map"),
        ("message.camel", "message/map-camel"),
        ("document", "document/map"),
        ("document.camel", "document/map-camel"),
        ("telemetry", "telemetry/map"),
        ("telemetry.camel", "telemetry/map-camel"),
        ("strings", "strings/map"),
        ("strings.camel", "strings/map-camel"),
        ("event", "event/map"),
        ("event.camel", "event/map-camel"),
        ("batch_document", "batch_document/map"),
        ("batch_document.camel", "batch_document/map-camel"),
        ("short", "short/map"),
        ("long", "long/map"),
        ("peer", "peer/map"),
        ("peer.snake", "peer/map-snake"),
        ("peer_update", "peer_update/map"),
    ];
    for (record, vector) in pairs {
        let ran = run(&["convert", &format!("tests/data/golden/records/{record}.json"), "--to", "msgpack"]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{record}");
        let want = file(&format!("tests/data/golden/vectors/{vector}.msgpack"));
        assert!(ran.out == want, "{record}: {} bytes, {} due", ran.out.len(), want.len());
    }
}

/// Runs `convert` by the schema of a vector.
fn converted(golden: &Golden, from: &str, to: &str, path: &str) -> Vec<u8> {
    let mut args: Vec<String> = ["convert", "-f", from, "--to", to, path].map(str::to_string).to_vec();
    args.extend(schema_args(golden));
    let ran = run(&args);
    assert_eq!(ran.status, 0, "{}: {}", golden.id, ran.err);
    ran.out
}

/// The bytes that the Python reader writes of what it read, where the manifest says which.
fn reserialized(golden: &Golden) -> Option<Vec<u8>> {
    let told = match &golden.entry["reserialized"] {
        Json::Object(members) => members["python"].clone(),
        told => told.clone(),
    };
    match told.as_str()? {
        "same" => Some(golden.bytes.clone()),
        cut if cut.ends_with("...") => None,
        hex => Some(common::hex(hex)),
    }
}

#[test]
fn protojson_of_the_records_makes_the_bytes_of_the_other_writers_and_back() {
    let all = golden();
    let mut made = 0;
    for text in all.iter().filter(|golden| golden.variant.starts_with("protojson") && "ABC".contains(golden.section)) {
        let binary = all
            .iter()
            .find(|golden| {
                golden.format == "protobuf"
                    && golden.variant == "binary"
                    && golden.text("record") == text.text("record")
            })
            .unwrap();
        assert!(converted(text, "json", "protobuf", &text.path) == binary.bytes, "{}", text.id);
        if text.variant == "protojson" {
            let json = converted(binary, "protobuf", "json", &binary.path);
            assert_eq!(common::json(&json), common::json(&text.bytes), "{}", text.id);
        }
        made += 1;
    }
    assert_eq!(made, 15);
}

#[test]
fn protojson_edge_cases_make_the_bytes_of_the_reference() {
    let mut made = 0;
    for golden in golden_of("json").iter().filter(|golden| golden.section == 'D') {
        let told = match golden.entry.get("protobuf_hex") {
            Some(Json::Object(members)) => members["python"].clone(),
            Some(told) => told.clone(),
            None => continue,
        };
        let bytes = converted(golden, "json", "protobuf", &golden.path);
        assert_eq!(bytes, common::hex(told.as_str().unwrap()), "{}", golden.id);
        made += 1;
    }
    assert_eq!(made, 27);
}

/// Vectors whose JSON is not all that is in them, or has it in another order: unknown fields and the bits of
/// a NaN, which JSON does not hold, entries of maps, which Python sorts in its JSON, and a Value without a
/// member, which Python prints as null.
const MORE_THAN_JSON: [&str; 14] = [
    "pb.nan_payload",
    "pb.wrong_wire_type",
    "pb.unknown_all_types",
    "pb.unknown_in_nested",
    "pb.maps_all",
    "pb.map_duplicate_key",
    "pb.map_missing_parts",
    "pb.map_entry_extras",
    "pb.value_empty",
    "pb.field_number_max_unknown",
    "pb.group_unknown_nest_50",
    "pb.extension_unknown",
    "pb.closed_enum_unknown",
    "pb.group_as_message_wire",
];

#[test]
fn protobuf_edge_cases_make_their_bytes_again_from_their_json() {
    let folder = tempfile::tempdir().unwrap();
    let (mut same, mut less) = (0, Vec::new());
    let all = golden_of("protobuf");
    for golden in all.iter().filter(|golden| golden.section == 'D') {
        let (Some(json), Some(want)) = (golden.entry.get("json").filter(|json| !json.is_null()), reserialized(golden))
        else {
            continue;
        };
        let path = common::put(folder.path(), "value.json", json.to_string().as_bytes());
        if converted(golden, "json", "protobuf", &path) == want {
            same += 1;
        } else {
            less.push(golden.id.as_str());
        }
    }
    assert_eq!(less, MORE_THAN_JSON);
    assert!(same > 50, "{same}");
}

#[test]
fn protobuf_values_go_through_json_and_come_back_as_they_are_written() {
    // The way over our own JSON is the way over the reference's: both make the same bytes.
    let folder = tempfile::tempdir().unwrap();
    for golden in golden_of("protobuf").iter().filter(|golden| golden.section == 'D' && golden.told() == "plain") {
        let Some(json) = golden.entry.get("json").filter(|json| !json.is_null()) else { continue };
        let theirs = common::put(folder.path(), "theirs.json", json.to_string().as_bytes());
        let ours = common::put(folder.path(), "ours.json", &converted(golden, "protobuf", "json", &golden.path));
        let [theirs, ours] = [theirs, ours].map(|path| converted(golden, "json", "protobuf", &path));
        if golden.text("root") == "zoo.Maps" || golden.id == "pb.known_all" {
            // Entries stand in another order.
            let [theirs, ours] = [theirs, ours].map(|mut bytes| (bytes.sort_unstable(), bytes).1);
            assert_eq!(theirs, ours, "{}", golden.id);
        } else {
            assert_eq!(theirs, ours, "{}", golden.id);
        }
    }
}

/// Entries in another order than Python's: as Java and Go write them.
const REWRITTEN_OTHERWISE: [&str; 1] = ["pb.map_missing_parts"];

#[test]
fn protobuf_edge_cases_are_rewritten_as_the_reference_does() {
    let (mut same, mut otherwise) = (0, Vec::new());
    let all = golden_of("protobuf");
    for golden in all.iter().filter(|golden| golden.section == 'D') {
        let Some(want) = reserialized(golden) else { continue };
        if converted(golden, "protobuf", "protobuf", &golden.path) == want {
            same += 1;
        } else {
            otherwise.push(golden.id.as_str());
        }
    }
    assert_eq!(otherwise, REWRITTEN_OTHERWISE);
    assert!(same > 50, "{same}");
}
