//! FlatBuffers: values, writing and rewriting by small schemas. Bytes are those of flatc 25.12.19.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong may end at once"
)]

use std::io::Write as _;
use std::sync::Arc;

use wireinspect::convert::Conversion;
use wireinspect::formats::{self, EncodeOptions, FlatOrder, FlatPads, FlatWriter};
use wireinspect::inspect::{EncodingChoice, Inspection, Options, Told};
use wireinspect::model::events::Stop;
use wireinspect::model::schema::{Bound, Schema};
use wireinspect::schema::{Request, load};
use wireinspect::wire::reader::Window;

const SOURCE: &str = r#"
    namespace q;
    enum Kind : byte { None = 0, One, Two }
    enum Flags : ubyte (bit_flags) { A, B, C }
    struct S { a: byte; b: long; }
    struct Fixed { n: [short:3]; }
    struct P { id: uint (key); v: ubyte; }
    table K { id: string (key); n: int; }
    table In { x: int = 5; y: string; s: S; z: double; }
    union U { In, K, S, t: string }
    table R {
      name: string; i: int = 7; small_number: ubyte; kind: Kind; flags: Flags;
      e: [int]; bytes: [ubyte]; ss: [S]; ps: [P]; ks: [K]; fixed: Fixed;
      u: U; us: [U]; nested: [ubyte] (nested_flatbuffer: "In"); fx: [ubyte] (flexbuffer);
      aligned: [ubyte] (force_align: 16); first: string (shared); second: string (shared);
      hashed: uint (hash: "fnv1a_32"); must: Must; next: R; d: double; f: float;
    }
    table Must { s: string (required); }
    root_type R;
    file_identifier "QQQQ";
"#;

fn schema() -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.fbs");
    std::fs::File::create(&file).unwrap().write_all(SOURCE.as_bytes()).unwrap();
    Arc::new(load(&Request { files: vec![file], include: Vec::new() }).unwrap().remove(0))
}

/// `format/variant`
fn told(name: &str) -> (&'static dyn formats::Format, Option<&'static formats::Variant>) {
    let (format, variant) = name.split_once('/').unwrap_or((name, "plain"));
    let format = formats::by_name(format).unwrap();
    (format, format.info().variants.iter().find(|known| known.name == variant))
}

/// What comes out, and what is said of it.
fn convert(from: &str, to: &str, input: &[u8], flat: FlatWriter) -> Result<(Vec<u8>, Vec<String>), Stop> {
    let schema = schema();
    let root = schema.flat.as_ref().unwrap().root;
    let (format, variant) = told(from);
    let schemas = vec![Told { schema: schema.clone(), root }];
    let options =
        Options { format: Some(format), variant, encoding: EncodingChoice::Raw, schemas, ..Options::default() };
    let mut inspection = Inspection::open("test".to_string(), Window::memory(input.to_vec()), &options).unwrap();
    let (format, variant) = told(to);
    let bound = Bound { schema: &schema, root: root.unwrap() };
    let options = EncodeOptions { schema: Some(bound), flat, ..EncodeOptions::default() };
    let conversion = Conversion { format, variant: variant.unwrap().name, options };
    let mut out = Vec::new();
    let readings = conversion.survey(&mut inspection)?;
    let losses = conversion.write(&mut inspection, &readings, &mut out)?;
    Ok((out, losses))
}

fn written(json: &str) -> Vec<u8> {
    convert("json", "flatbuffers", json.as_bytes(), FlatWriter::default()).unwrap().0
}

fn written_by(json: &str, flat: FlatWriter) -> Vec<u8> {
    convert("json", "flatbuffers", json.as_bytes(), flat).unwrap().0
}

/// The path of the misfit, what it says, what it helps with.
fn misfit(json: &str) -> String {
    match convert("json", "flatbuffers", json.as_bytes(), FlatWriter::default()) {
        Err(Stop::Misfit(misfit)) => format!("{}: {}; {}", misfit.path, misfit.message, misfit.help),
        other => panic!("{json}: {other:?}"),
    }
}

fn json(bytes: &[u8]) -> String {
    let (out, losses) = convert("flatbuffers", "json", bytes, FlatWriter::default()).unwrap();
    assert!(losses.is_empty(), "{losses:?}");
    String::from_utf8(out).unwrap().trim_end().to_string()
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

#[test]
fn what_is_written_is_read_back() {
    for text in [
        "{}",
        r#"{"name":"x","i":8,"small_number":3,"kind":"Two","flags":"A C","e":[1,-2],"bytes":[0,255]}"#,
        r#"{"ss":[{"a":1,"b":-2}],"fixed":{"n":[1,2,3]},"must":{"s":""},"next":{"next":{"name":"in"}}}"#,
        r#"{"u_type":"In","u":{"y":"a"},"us_type":["S","t","K"],"us":[{"a":1,"b":2},"text",{"id":"k"}]}"#,
        r#"{"nested":{"y":"inner","z":0.5},"fx":{"a":[1,2.5,"x",null,true],"b":-300}}"#,
        r#"{"d":0.1,"f":0.1}"#,
    ] {
        assert_eq!(json(&written(text)), text);
    }
}

#[test]
fn floats_that_are_no_numbers_are_words() {
    assert_eq!(json(&written(r#"{"d":"-inf","f":"nan"}"#)), r#"{"d":"-Infinity","f":"NaN"}"#);
}

#[test]
fn a_flexbuffer_is_made_of_a_json_value() {
    let bytes = written(r#"{"fx":{"b":1,"a":[1,2.5,"x",null,true]}}"#);
    // The content as flatc writes it: keys in the order in which they come, then the parts from the inside out.
    let content = "6200610001780000000000000005000000010000000000204002000000000000000000000100000004090e14001a2\
                   601020000000000050112000000";
    assert!(hex(&bytes).contains(&content[..12]), "{}", hex(&bytes));
    for (text, content) in
        [("[1,2,3]", "03010203040404062801"), ("\"text\"", "0474657874000514 01"), ("[]", "00002801")]
    {
        let bytes = written(&format!("{{\"fx\":{text}}}"));
        assert!(hex(&bytes).contains(&content.replace(' ', "")), "{text}: {}", hex(&bytes));
    }
}

#[test]
fn a_union_may_stand_before_its_type() {
    let behind = written(r#"{"name":"n","u_type":"K","u":{"id":"k","n":1}}"#);
    assert_eq!(written(r#"{"name":"n","u":{"id":"k","n":1},"u_type":"K"}"#), behind);
    let nested = r#"{"next":{"u":"text","u_type":4},"u":{"x":1},"u_type":"In","us":["s"],"us_type":["t"]}"#;
    let kept = r#"{"u_type":"In","u":{"x":1},"us_type":["t"],"us":["s"],"next":{"u_type":"t","u":"text"}}"#;
    assert_eq!(json(&written(nested)), kept);
    assert!(misfit(r#"{"u":{"x":1}}"#).starts_with("u: `u` is a union, and `u_type` does not say"));
    assert!(misfit(r#"{"u_type":"NONE","u":{"x":1}}"#).starts_with("u: `u_type` is 0"));
}

#[test]
fn elements_with_a_key_are_sorted_by_it() {
    let text = r#"{"ps":[{"id":3,"v":1},{"id":1,"v":2},{"id":3,"v":3},{"id":2,"v":4}],"ks":[{"id":"b"},{"id":"ab"}]}"#;
    // flatc keeps no order among equal keys: this is the one it leaves.
    let sorted =
        r#"{"ps":[{"id":1,"v":2},{"id":2,"v":4},{"id":3,"v":3},{"id":3,"v":1}],"ks":[{"id":"ab"},{"id":"b"}]}"#;
    assert_eq!(json(&written(text)), sorted);
}

#[test]
fn a_hundred_thousand_equal_keys_take_no_time() {
    let elements = vec![r#"{"id":1,"v":2}"#; 100_000].join(",");
    assert!(written(&format!("{{\"ps\":[{elements}]}}")).len() > 800_000);
}

#[test]
fn numbers_and_names_in_all_their_forms() {
    let plain = written(r#"{"i":31,"small_number":3,"kind":"Two","flags":"A C","hashed":1335831723}"#);
    for text in [
        r#"{"i":"0x1F","smallNumber":"3 ","kind":2,"flags":5,"hashed":1335831723}"#,
        r#"{"i":"31","SMALL_NUMBER":3.0,"kind":"Kind.Two","flags":"C  A","hashed":"hello"}"#,
    ] {
        assert_eq!(hex(&written(text)), hex(&plain));
    }
    assert_eq!(written(r#"{"$schema":"a","i":null,"name":null}"#), written("{}"));
}

#[test]
fn what_does_not_fit_is_refused_by_name_and_place() {
    for (text, sentence) in [
        (r#"{"nane":"x"}"#, "nane: q.R has no field `nane`; did you mean `name`?; --ignore-unknown leaves it out"),
        (r#"{"i":3000000000}"#, "i: expected int from -2147483648 to 2147483647, found 3000000000; "),
        (r#"{"e":[1,"x"]}"#, "e[1]: expected int from -2147483648 to 2147483647, found \"x\"; "),
        (r#"{"kind":"Twoo"}"#, "kind: expected a value of Kind, found \"Twoo\"; did you mean `Two`?"),
        (r#"{"name":1}"#, "name: expected a string, found 1; "),
        (r#"{"next":[]}"#, "next: expected an object, found an array; "),
        (r#"{"must":{}}"#, "must: required field `s` of q.Must is missing; "),
        (r#"{"ss":[{"a":1}]}"#, "ss[0]: struct q.S needs all of its 2 members, found 1; "),
        (r#"{"fixed":{"n":[1,2]}}"#, "fixed.n: expected an array of 3, found 2; "),
        (r#"{"fixed":{"n":[1,2,3,4]}}"#, "fixed.n[3]: expected an array of 3, found more; "),
        (r#"{"us_type":["t"],"us":["a","b"]}"#, "us[1]: `us_type` has no type for it; "),
    ] {
        assert_eq!(misfit(text), sentence);
    }
    let deep = format!("{}{{}}{}", "{\"next\":".repeat(64), "}".repeat(64));
    assert!(misfit(&deep).contains("more than 64 tables within each other"));
}

#[test]
fn writers_differ_in_order_and_padding_only() {
    let text = r#"{"second":"b","name":"","e":[],"ss":[{"a":1,"b":2}],"next":{"name":"x"},"i":7}"#;
    let cpp = FlatWriter { order: FlatOrder::Schema, pads: FlatPads::Dropped, ..FlatWriter::default() };
    let declared = FlatWriter { order: FlatOrder::Declared, ..cpp };
    let own = FlatWriter { own_vtables: true, ..FlatWriter::default() };
    let forced = FlatWriter { force_defaults: true, ..FlatWriter::default() };
    let kept = r#"{"name":"","e":[],"ss":[{"a":1,"b":2}],"second":"b","next":{"name":"x"}}"#;
    assert_eq!(json(&written(text)), kept);
    assert_eq!(json(&written_by(text, declared)), kept);
    assert_eq!(json(&written_by(text, own)), kept);
    assert_eq!(json(&written_by(text, cpp)), kept.replace(r#""name":"","e":[],"#, ""));
    assert_eq!(json(&written_by(text, forced)), kept.replace(r#""e""#, r#""i":7,"e""#));
    // The order of the input decides nothing where that of the schema does.
    let turned = r#"{"i":7,"next":{"name":"x"},"ss":[{"b":2,"a":1}],"e":[],"name":"","second":"b"}"#;
    for writer in [cpp, declared] {
        assert_eq!(written_by(text, writer), written_by(turned, writer));
        let wrong = r#"{"i":1,"next":{"e":[1,2,{}]},"name":"x"}"#;
        match convert("json", "flatbuffers", wrong.as_bytes(), writer) {
            Err(Stop::Misfit(misfit)) => assert_eq!((misfit.path.as_str(), misfit.start), ("next.e[2]", 24)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_buffer_becomes_size_prefixed_and_plain_again_with_all_of_its_bytes() {
    let plain = written(r#"{"name":"x","d":0.5,"ss":[{"a":1,"b":2}]}"#);
    let (sized, _) = convert("flatbuffers", "flatbuffers/size-prefixed", &plain, FlatWriter::default()).unwrap();
    assert_eq!(usize::try_from(u32::from_le_bytes(sized[..4].try_into().unwrap())).unwrap(), sized.len() - 4);
    // `force_align: 16` is the largest alignment of the schema: all objects move by as much.
    assert_eq!((&sized[8..12], &sized[12..24]), (&b"QQQQ"[..], &[0; 12][..]));
    assert_eq!(sized[24..], plain[8..]);
    let (again, _) = convert("flatbuffers/size-prefixed", "flatbuffers", &sized, FlatWriter::default()).unwrap();
    assert_eq!(json(&again), json(&plain));
    let (same, _) = convert("flatbuffers", "flatbuffers", &plain, FlatWriter::default()).unwrap();
    assert_eq!(same, plain);
}
