//! What `schema` prints, from small schemas built by hand.

use crate::model::flat::{Absent, Enum, EnumId, EnumValue, Field, Flat, Object, Of, Scalar, Shape, Type};
use crate::model::schema::{MessageId, Place, Schema};
use crate::render::schema::{json, pick, write};
use crate::render::style::Paint;

fn value(name: &str, number: i64) -> EnumValue {
    EnumValue { name: name.to_string(), number, member: None, attributes: Vec::new(), doc: Vec::new() }
}

/// A struct with a gap, flags, and a table that uses both.
fn sample() -> Schema {
    let flags = Enum {
        name: "a.Flags".to_string(),
        base: Scalar::Ubyte,
        is_union: false,
        bit_flags: true,
        values: vec![value("Red", 1), value("Green", 2)],
        attributes: vec![("bit_flags".to_string(), "0".to_string())],
        doc: vec![" Colours.".to_string()],
        told: true,
        place: Place::default(),
    };
    let mut first = Field::new("x".to_string(), 0, Type::one(Of::Enum(EnumId(0))));
    (first.offset, first.padding) = (0, 3);
    let mut second = Field::new("y".to_string(), 1, Type { shape: Shape::Array(2), of: Of::Scalar(Scalar::Int) });
    second.offset = 4;
    let pair = Object {
        name: "a.Pair".to_string(),
        is_struct: true,
        align: 4,
        size: 12,
        fields: vec![first, second],
        told: true,
        ..Object::default()
    };
    let mut flag = Field::new("flags".to_string(), 0, Type::one(Of::Enum(EnumId(0))));
    flag.default = Absent::Int(3);
    flag.doc = vec![" What\u{1b}[31m it has.".to_string()];
    let mut name = Field::new("name".to_string(), 1, Type::one(Of::Text));
    (name.required, name.key) = (true, true);
    let place = Field::new("place".to_string(), 2, Type::one(Of::Struct(MessageId(0))));
    let table =
        Object { name: "a.T".to_string(), align: 1, fields: vec![flag, name, place], told: true, ..Object::default() };
    let other = Object { name: "b.Other".to_string(), align: 1, told: false, ..Object::default() };
    let flat = Flat {
        objects: vec![pair, table, other],
        enums: vec![flags],
        root: Some(MessageId(1)),
        identifier: Some(*b"AB\x1bC"),
        ..Flat::default()
    };
    Schema::of_flat(flat, vec!["a.fbs".to_string()], Vec::new())
}

fn text(schema: &Schema, names: &[&str], width: usize) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
    let mut out = Vec::new();
    write(&mut out, schema, &pick(schema, &names).unwrap(), width, Paint::new(false)).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn tables_have_slots_and_structs_have_gaps() {
    let expected = r#"a.fbs  root type a.T, file identifier "AB\x1bC"

struct a.Pair  12 bytes, 3 of them in gaps, aligned to 4
  offset  bytes  member  type
       0      1  x       Flags
       1      3  (gap)
       4      8  y       [int:2]

table a.T  3 fields, vtable of up to 10 bytes, root type
  id  slot  field  type    in the table  default
            /// What\u{1b}[31m it has.
   0     4  flags  Flags   1 byte        Red|Green
   1     6  name   string  offset                   key, required
   2     8  place  Pair    12 bytes

/// Colours.
enum a.Flags  1 byte (ubyte), sums of flags
  value  bits  name
      1  0x01  Red
      2  0x02  Green
"#;
    assert_eq!(text(&sample(), &[], 100), expected);
}

#[test]
fn a_type_that_is_asked_for_comes_with_what_it_needs() {
    let schema = sample();
    let shown = text(&schema, &["Pair"], 80);
    assert!(shown.contains("struct a.Pair") && shown.contains("enum a.Flags") && !shown.contains("table a.T"));
    assert!(text(&schema, &["Flags"], 80).contains("enum a.Flags"));
    assert!(text(&schema, &["b.Other"], 80).contains("table b.Other  0 fields\n"));
    assert_eq!(pick(&schema, &["Par".to_string()]).unwrap_err(), "no message `Par`; near it: `a.Pair`");
}

#[test]
fn json_holds_all_types_with_their_places() {
    let value = json(&sample(), None);
    assert_eq!((value["root"].as_str(), value["types"].as_array().unwrap().len()), (Some("a.T"), 4));
    let pair = &value["types"][0];
    assert_eq!((pair["size"].as_u64(), pair["fields"][0]["padding"].as_u64()), (Some(12), Some(3)));
    let name = &value["types"][1]["fields"][1];
    assert_eq!(
        (name["slot"].as_u64(), name["bytes"].as_u64(), name["required"].as_bool()),
        (Some(6), Some(4), Some(true))
    );
    assert_eq!(name["type"], serde_json::json!({"shape": "one", "length": null, "kind": "string", "name": "string"}));
}
