//! Protobuf: values, writing and rewriting by small schemas, against bytes that protoc and python-protobuf give.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

use std::io::Write as _;
use std::sync::Arc;

use wireinspect::convert::Conversion;
use wireinspect::formats::{self, Dress, EncodeOptions};
use wireinspect::inspect::{EncodingChoice, Inspection, Options, Told};
use wireinspect::model::events::Stop;
use wireinspect::model::schema::{Bound, Schema};
use wireinspect::model::value::TreeBuilder;
use wireinspect::schema::{Request, load};
use wireinspect::wire::reader::Window;

const SOURCE: &str = r#"
    syntax = "proto3";
    package t;
    import "google/protobuf/any.proto";
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/duration.proto";
    import "google/protobuf/field_mask.proto";
    import "google/protobuf/wrappers.proto";
    enum Color { RED = 0; GREEN = 1; BLUE = 2; }
    message M {
      int32 a = 1;
      string b = 2;
      M next = 3;
      repeated int32 r = 4;
      map<string, int32> by_name = 5;
      oneof kind { int32 number = 6; M inner = 7; }
      optional uint64 big = 8;
      float f = 9;
      Color color = 10;
      bytes raw = 11;
      google.protobuf.Any any = 12;
      google.protobuf.Value value = 13;
      google.protobuf.Timestamp at = 14;
      google.protobuf.Duration span = 15;
      google.protobuf.FieldMask mask = 16;
      google.protobuf.Int64Value wrapped = 17;
      sint32 s = 18;
      repeated google.protobuf.Value several = 19;
    }
"#;

const PROTO2: &str = r#"
    syntax = "proto2";
    package t;
    enum Closed { FIRST = 1; SECOND = 2; }
    message M {
      required int32 id = 1;
      optional Closed closed = 7;
      repeated Closed closeds = 8;
      extensions 100 to max;
    }
    extend M { optional string note = 100; }
"#;

fn schema(source: &str) -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.proto");
    std::fs::File::create(&file).unwrap().write_all(source.as_bytes()).unwrap();
    Arc::new(load(&Request { files: vec![file], include: Vec::new() }).unwrap().remove(0))
}

fn bytes(hex: &str) -> Vec<u8> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(hex.replace(' ', "").as_bytes()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// `format/variant`
fn told(name: &str) -> (&'static dyn formats::Format, Option<&'static formats::Variant>) {
    let (format, variant) = name.split_once('/').unwrap_or((name, "plain"));
    let format = formats::by_name(format).unwrap();
    (format, format.info().variants.iter().find(|known| known.name == variant))
}

fn open(source: Option<&str>, from: &str, input: &[u8]) -> Inspection {
    let (format, variant) = told(from);
    let schemas = source.map(schema).into_iter().map(|schema| {
        let root = schema.message_by_full_name("t.M");
        Told { schema, root: Some(root.unwrap()) }
    });
    let schemas = schemas.collect();
    let options =
        Options { format: Some(format), variant, encoding: EncodingChoice::Raw, schemas, ..Options::default() };
    Inspection::open("test".to_string(), Window::memory(input.to_vec()), &options).unwrap()
}

/// What comes out, and what is said of it.
fn convert(source: Option<&str>, from: &str, to: &str, input: &[u8]) -> Result<(Vec<u8>, Vec<String>), Stop> {
    let mut inspection = open(source, from, input);
    let (format, variant) = told(to);
    let target = inspection.told(told("protobuf").0).cloned();
    let bound = target.as_ref().and_then(|told| Some(Bound { schema: &told.schema, root: told.root? }));
    let options = EncodeOptions { schema: bound, ..EncodeOptions::default() };
    let conversion = Conversion { format, variant: variant.unwrap().name, options };
    let readings = conversion.survey(&mut inspection)?;
    let mut out = Vec::new();
    let losses = conversion.write(&mut inspection, &readings, &mut out)?;
    Ok((out, losses))
}

fn json_of(source: Option<&str>, from: &str, input: &str) -> (String, Vec<String>) {
    let (out, losses) = convert(source, from, "json", &bytes(input)).unwrap();
    (String::from_utf8(out).unwrap().trim_end().to_string(), losses)
}

fn json(source: &str, input: &str) -> String {
    json_of(Some(source), "protobuf", input).0
}

fn write(source: &str, variant: &str, text: &str) -> Result<String, Stop> {
    Ok(hex(&convert(Some(source), "json", &format!("protobuf/{variant}"), text.as_bytes())?.0))
}

fn rewritten(source: Option<&str>, from: &str, to: &str, input: &str) -> Result<String, Stop> {
    let (from, to) = (format!("protobuf/{from}"), format!("protobuf/{to}"));
    Ok(hex(&convert(source, &from, &to, &bytes(input))?.0))
}

fn misfit(source: &str, text: &str) -> (u64, String, String) {
    match write(source, "plain", text) {
        Err(Stop::Misfit(misfit)) => (misfit.start, misfit.path, misfit.message),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn occurrences_merge_and_the_last_one_wins() {
    assert_eq!(json(SOURCE, "0801 120161 0802 2002 2003"), r#"{"a":2,"b":"a","r":[2,3]}"#);
    assert_eq!(json(SOURCE, "1a020801 1a03120162"), r#"{"next":{"a":1,"b":"b"}}"#);
    assert_eq!(json(SOURCE, "2004 22020506"), r#"{"r":[4,5,6]}"#, "packed and not");
}

#[test]
fn a_later_member_of_a_oneof_drops_the_others() {
    assert_eq!(json(SOURCE, "3a020801 3007"), r#"{"number":7}"#);
    assert_eq!(json(SOURCE, "3a020801 3007 3a03120162"), r#"{"inner":{"b":"b"}}"#);
    assert_eq!(json(SOURCE, "3000"), r#"{"number":0}"#);
}

#[test]
fn entries_of_a_map_by_key_with_defaults_for_what_is_missing() {
    assert_eq!(
        json(SOURCE, "2a050a01611001 2a050a01621002 2a050a01611003"),
        r#"{"byName":{"a":3,"b":2}}"#,
        "the last one counts, where the first one stood"
    );
    assert_eq!(json(SOURCE, "2a00 2a030a016b 2a0510050a0176"), r#"{"byName":{"":0,"k":0,"v":5}}"#);
    let many: String = (b'a'..=b'z').chain(b'a'..=b'z').map(|key| format!("2a050a01{key:02x}1001")).collect();
    assert_eq!(json(SOURCE, &many).matches(':').count(), 27);
}

#[test]
fn numbers_as_proto_json_has_them() {
    assert_eq!(json(SOURCE, "08ffffffffffffffffff01"), r#"{"a":-1}"#);
    assert_eq!(json(SOURCE, "088580808010"), r#"{"a":5}"#, "readers keep the low 32 bits");
    assert_eq!(json(SOURCE, "40ffffffffffffffffff01"), r#"{"big":"18446744073709551615"}"#);
    assert_eq!(json(SOURCE, "0800 1200 4000"), r#"{"big":"0"}"#, "defaults only where they can be told apart");
    assert_eq!(json(SOURCE, "4dcdcccc3d"), r#"{"f":0.1}"#);
    assert_eq!(json(SOURCE, "4d0000807f"), r#"{"f":"Infinity"}"#);
    assert_eq!(json(SOURCE, "4d00000080"), r#"{"f":-0.0}"#);
    assert_eq!(json(SOURCE, "5002"), r#"{"color":"BLUE"}"#);
    assert_eq!(json(SOURCE, "5063"), r#"{"color":99}"#);
    assert_eq!(json(SOURCE, "5a020102"), r#"{"raw":"AQI="}"#);
}

#[test]
fn types_with_a_form_of_their_own() {
    let url = hex(b"type.googleapis.com/t.M");
    assert_eq!(json(SOURCE, &format!("621d0a17{url}12020805")), r#"{"any":{"@type":"type.googleapis.com/t.M","a":5}}"#);
    assert_eq!(json(SOURCE, "62080a01781203010203"), r#"{"any":{"@type":"x","value":"AQID"}}"#);
    assert_eq!(json(SOURCE, "6200"), r#"{"any":{}}"#);
    assert_eq!(json(SOURCE, "6a00"), r#"{"value":null}"#);
    assert_eq!(json(SOURCE, "6a11320f0a0911000000000000f83f0a02 2001"), r#"{"value":[1.5,true]}"#);
    assert_eq!(json(SOURCE, "7206088081c8ac06"), r#"{"at":"2024-01-01T00:00:00Z"}"#);
    assert_eq!(json(SOURCE, "7206 10ffffffff0f"), r#"{"at":{"nanos":-1}}"#, "no point in time has such nanoseconds");
    assert_eq!(json(SOURCE, "7a0d 08fdffffffffffffffff0110 00"), r#"{"span":"-3s"}"#);
    assert_eq!(json(SOURCE, "82010b 0a07666f6f5f626172 0a0061"), r#"{"mask":{"paths":["foo_bar",""]}}"#);
    assert_eq!(json(SOURCE, "8a0102 0805"), r#"{"wrapped":"5"}"#);
}

#[test]
fn what_the_schema_does_not_know_is_left_out_and_counted() {
    let (text, notes) = json_of(Some(SOURCE), "protobuf", "e80401 0801 f00402 0a0178");
    assert_eq!(text, r#"{"a":1}"#);
    let sentence = "3 unknown fields (numbers 1, 77 = 1, 78 = 2; 9 bytes) are not in this schema and are left out";
    assert_eq!(notes, [sentence]);
}

#[test]
fn numbers_without_a_name_are_unknown_in_a_closed_enumeration() {
    assert_eq!(json(PROTO2, "0801 3803 4001 4009 4002"), r#"{"id":1,"closeds":["FIRST","SECOND"]}"#);
    assert_eq!(json(PROTO2, "0801 4203010902"), r#"{"id":1,"closeds":["FIRST","SECOND"]}"#);
    assert_eq!(rewritten(Some(PROTO2), "plain", "plain", "0801 4203010902").unwrap(), "0801400140024009");
}

#[test]
fn extensions_by_their_full_name_both_ways() {
    assert_eq!(json(PROTO2, "0801 a2060178"), r#"{"id":1,"[t.note]":"x"}"#);
    assert_eq!(write(PROTO2, "plain", r#"{"[t.note]":"x","id":1}"#).unwrap(), "0801a2060178");
}

#[test]
fn damage_keeps_what_came_before() {
    assert_eq!(json(SOURCE, "0801 1205 6162"), r#"{"a":1}"#, "cut text is no text");
    assert_eq!(json(SOURCE, "1a0a 0801 1205 61"), r#"{"next":{"a":1}}"#);
    assert_eq!(json(SOURCE, "0801 07"), r#"{"a":1}"#, "no such wire type");
    assert_eq!(json(SOURCE, "22050102"), r#"{"r":[1,2]}"#);
}

#[test]
fn rows_of_messages_are_lists() {
    let of = |from: &str, input: &str| json_of(Some(SOURCE), from, input).0;
    assert_eq!(of("protobuf/delimited", "020801 00"), r#"[{"a":1},{}]"#);
    assert_eq!(of("protobuf/delimited", ""), "[]");
    assert_eq!(of("protobuf/grpc", "00000000020801 8000000001ff"), r#"[{"a":1}]"#, "trailers are no message");
    assert_eq!(write(SOURCE, "delimited", r#"[{"a":1},{}]"#).unwrap(), "02080100");
    assert_eq!(write(SOURCE, "grpc", r#"{"a":1} {}"#).unwrap(), "000000000208010000000000");
    assert!(matches!(write(SOURCE, "plain", "{} {}"), Err(Stop::Refused(_))));
}

#[test]
fn without_a_schema_fields_are_numbered() {
    let of = |input: &str| json_of(None, "protobuf", input).0;
    assert_eq!(of("2001 0802 2003"), r#"{"4":[1,3],"1":2}"#);
    assert_eq!(of("13 0801 14"), r#"{"2":{"1":1}}"#);
    assert_eq!(of("08ffffffffffffffffff01"), r#"{"1":"18446744073709551615"}"#);
}

#[test]
fn the_plain_dress_keeps_numbers_and_times() {
    let mut tree = TreeBuilder::default();
    let input = bytes("4005 7206088081c8ac06 2a050a01611001");
    open(Some(SOURCE), "protobuf", &input).values(Dress::Plain, &mut tree).unwrap();
    let told = format!("{:?}", tree.messages);
    assert!(told.contains("Uint(5)") && told.contains("Timestamp(1704067200, 0)") && told.contains("Int(1)"), "{told}");
}

#[test]
fn fields_are_written_in_the_order_of_their_numbers() {
    assert_eq!(
        write(SOURCE, "plain", r#"{"r":[1,300],"b":"x","a":1,"by_name":{"k":0}}"#).unwrap(),
        "08011201782203 01ac02 2a050a016b1000".replace(' ', "")
    );
    assert_eq!(write(SOURCE, "plain", r#"{"a":1,"a":2}"#).unwrap(), "0802", "of one name twice the last one counts");
    assert_eq!(write(SOURCE, "plain", r#"{"a":0,"big":0,"b":null}"#).unwrap(), "4000");
    let long = "x".repeat(200);
    let text = format!(r#"{{"next":{{"b":"{long}"}}}}"#);
    assert!(write(SOURCE, "plain", &text).unwrap().starts_with("1acb0112c80178"));
}

#[test]
fn values_in_all_forms_that_readers_take() {
    let known = [
        (r#"{"a":"1e2"}"#, "0864"),
        (r#"{"a":1.0}"#, "0801"),
        (r#"{"f":"NaN"}"#, "4d0000c07f"),
        (r#"{"color":"GREEN"}"#, "5001"),
        (r#"{"color":2}"#, "5002"),
        (r#"{"raw":"-_8"}"#, "5a02fbff"),
        (r#"{"value":null}"#, "6a020800"),
        (r#"{"several":[null,1,{"k":[]}]}"#, "9a01020800 9a010911000000000000f03f 9a010d2a0b0a090a016b12043202 0a00"),
        (r#"{"at":"2024-01-01T01:00:00+01:00"}"#, "7206088081c8ac06"),
        (r#"{"span":"-0.5s"}"#, "7a0b1080b6ca91feffffffff01"),
        (r#"{"mask":"fooBar,x"}"#, "82010c0a07666f6f5f6261720a0178"),
        (r#"{"wrapped":"5"}"#, "8a01020805"),
        (r#"{"wrapped":0}"#, "8a0100"),
        (r#"{"s":-1}"#, "900101"),
        (r#"{"any":{}}"#, "6200"),
        (r#"{"any":{"@type":"x","value":"AQID"}}"#, "62080a01781203010203"),
    ];
    for (text, expected) in known {
        if text.contains("several") {
            // Lengths depend on one another: read back.
            assert_eq!(json(SOURCE, &write(SOURCE, "plain", text).unwrap()), text.replace(",1,", ",1.0,"));
        } else {
            assert_eq!(write(SOURCE, "plain", text).unwrap(), expected, "{text}");
        }
    }
}

#[test]
fn the_type_of_an_any_may_come_last() {
    let first = r#"{"any":{"@type":"x.y/t.M","a":1,"next":{"any":{"@type":"x.y/t.M","b":"z"}}}}"#;
    let last = r#"{"any":{"a":1,"next":{"any":{"b":"z","@type":"x.y/t.M"}},"@type":"x.y/t.M"}}"#;
    let written = write(SOURCE, "plain", first).unwrap();
    assert_eq!(written, write(SOURCE, "plain", last).unwrap());
    assert_eq!(json(SOURCE, &written), first);
    let (start, path, message) = misfit(SOURCE, r#"{"any":{"a":"x","@type":"x.y/t.M"}}"#);
    assert_eq!((start, path.as_str()), (12, "any.a"), "{message}");
}

#[test]
fn what_does_not_fit_is_refused_where_it_stands() {
    let known = [
        (r#"{"a":"abc"}"#, 5, "a", "expected an int32, found \"abc\""),
        (r#"{"a":2147483648}"#, 5, "a", "expected an int32, found 2147483648"),
        (r#"{"f":1e39}"#, 5, "f", "expected a float, found 1e39"),
        (r#"{"a":1, "nope":2}"#, 8, "nope", "t.M has no field `nope`"),
        (r#"{"r":[1,null]}"#, 8, "r[1]", "null is no element of a repeated field"),
        (r#"{"number":1,"inner":{}}"#, 12, "inner", "oneof `kind` has `number` already"),
        (r#"{"by_name":{"k":"x"}}"#, 16, "by_name.k", "expected an int32, found \"x\""),
        (r#"{"any":{"a":1}}"#, 7, "any", "an Any needs \"@type\""),
        (r#"{"any":{"@type":"x","a":1}}"#, 20, "any.a", "the schema does not have this type"),
        ("[{}]", 0, "", "expected an object, found an array"),
    ];
    for (text, start, path, message) in known {
        let found = misfit(SOURCE, text);
        assert_eq!((found.1.as_str(), found.2.as_str()), (path, message), "{text}");
        if !message.contains("does not have this type") {
            assert_eq!(found.0, start, "{text}");
        }
    }
    assert_eq!(misfit(PROTO2, "{}").2, "required field `id` is missing");
    let deep = format!("{}{}", r#"{"next":"#.repeat(102), "}".repeat(102).replacen('}', "{}}", 1));
    assert_eq!(misfit(SOURCE, &deep).2, "more than 100 messages within each other");
}

#[test]
fn rewriting_merges_sorts_and_keeps_what_is_unknown() {
    assert_eq!(
        rewritten(Some(SOURCE), "plain", "plain", "e80405 980000 1201 78 088100 12 01 79").unwrap(),
        "0801120179e80405980000"
    );
    assert_eq!(rewritten(Some(SOURCE), "plain", "plain", "2001 2002").unwrap(), "22020102");
    assert_eq!(
        rewritten(Some(SOURCE), "plain", "groups", "1a020801 2a050a01611001").unwrap(),
        "1b08011c2b0b0a016110010c2c"
    );
    assert_eq!(
        rewritten(Some(SOURCE), "groups", "plain", "1b08011c 2b0b0a016110010c2c").unwrap(),
        "1a0208012a050a01611001"
    );
    assert_eq!(rewritten(Some(SOURCE), "delimited", "grpc", "020801 00").unwrap(), "000000000208010000000000");
    assert!(matches!(rewritten(Some(SOURCE), "delimited", "plain", "020801 00"), Err(Stop::Refused(_))));
    assert_eq!(
        rewritten(None, "delimited", "plain", "03 088100").unwrap(),
        "088100",
        "without a schema the bytes stay"
    );
    assert!(matches!(rewritten(None, "plain", "groups", "0801"), Err(Stop::Refused(_))));
}
