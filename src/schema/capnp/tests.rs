//! `.capnp` files as wholes: errors, scopes, generics, values, imports, and layout as the compiler has it.

use std::fs;
use std::path::PathBuf;

use crate::model::capnp::{Capnp, FieldKind, Struct, Type, Value};
use crate::model::schema::{Finding, SchemaError};
use crate::schema::capnp::link::load;

const ID: &str = "@0xbf5147cbbecf40c1;";

/// A folder of files, in a repository of its own.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn files(files: &[(&str, &str)]) -> Result<(Capnp, Vec<Finding>), SchemaError> {
    let folder = folder(files);
    load(&[folder.path().join(files[0].0)], &[])
}

fn capnp(source: &str) -> Capnp {
    let (capnp, findings) = files(&[("a.capnp", &format!("{ID}\n{source}"))]).unwrap();
    assert_eq!(findings, []);
    capnp
}

/// The error of a source that stands in the second line, without the file.
fn error(source: &str) -> String {
    let error = files(&[("a.capnp", &format!("{ID}\n{source}"))]).unwrap_err();
    let text = error.to_string();
    text.split_once(".capnp:2:").map_or(text.clone(), |(_, rest)| rest.to_string())
}

fn record<'a>(capnp: &'a Capnp, name: &str) -> &'a Struct {
    capnp.structs.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Type of a field as the language writes it.
fn field_type(capnp: &Capnp, of: &str, field: &str) -> String {
    match &record(capnp, of).field_by_name(field).unwrap().kind {
        FieldKind::Slot(slot) => capnp.type_name(slot.ty),
        FieldKind::Group(id) => capnp.type_name(Type::Struct(*id)),
    }
}

fn default(capnp: &Capnp, of: &str, field: &str) -> Value {
    match &record(capnp, of).field_by_name(field).unwrap().kind {
        FieldKind::Slot(slot) => slot.default.clone(),
        FieldKind::Group(_) => panic!("a group"),
    }
}

fn constant(capnp: &Capnp, name: &str) -> Value {
    capnp.consts.iter().find(|one| one.name == name).unwrap().value.clone()
}

/// `Name words+pointers tag N of M: field=tag@offset`, one line a struct or group, sorted.
fn layout(capnp: &Capnp) -> String {
    let mut lines: Vec<String> = capnp.structs.iter().map(line).collect();
    lines.sort();
    lines.join("\n")
}

fn line(one: &Struct) -> String {
    let tag = one.tag.map_or(String::new(), |tag| format!(" tag {tag} of {}", one.members));
    let fields = one.fields.iter().map(|field| {
        let place = match &field.kind {
            FieldKind::Slot(slot) => slot.offset.to_string(),
            FieldKind::Group(_) => "group".into(),
        };
        let tag = field.tag.map_or(String::new(), |tag| format!("={tag}"));
        format!(" {}{tag}@{place}", field.name)
    });
    format!("{} {}+{}{tag}:{}", one.name, one.data_words, one.pointers, fields.collect::<String>())
}

#[test]
fn fields_have_the_places_that_the_compiler_gives_them() {
    let capnp = capnp(
        "struct Holes { a @0 :Bool; b @1 :UInt32; c @2 :UInt8; d @3 :UInt16; e @4 :Bool; f @5 :UInt64; g @6 :UInt8;
           h @7 :UInt16; i @8 :Text; j @9 :Bool; }
         struct Shared {
           union {
             a @0 :UInt16; b @1 :UInt32;
             g :group { x @2 :UInt8; y @3 :UInt64; z @4 :Bool; t @5 :Text; }
             v @6 :Void;
           }
           tail @7 :UInt16;
           named :union { p @8 :Data; q @9 :Float64; r @10 :Int8; }
         }
         struct Retro { old @0 :UInt8; u @2! :union { a @1 :UInt8; b @3 :UInt32; } late @4 :UInt8; }
         struct Nested {
           union {
             a :union { x @0 :Bool; y @1 :UInt8; }
             b :group { p @2 :UInt32; union { k @3 :Text; l @4 :Void; } }
           }
           c @5 :UInt16;
         }
         struct Second { u :union { a @0 :Void; b @1 :Void; } w :union { c @2 :UInt64; d @3 :UInt64; } }",
    );
    // capnp 0.9.2, compile -o-.
    assert_eq!(
        layout(&capnp),
        "Holes 3+1: a@0 b@1 c@1 d@1 e@1 f@1 g@16 h@9 i@0 j@2
Nested 2+1 tag 2 of 2: a=0@group b=1@group c@4
Nested.a 2+1 tag 1 of 2: x=0@0 y=1@0
Nested.b 2+1 tag 3 of 2: p@0 k=0@0 l=1@0
Retro 2+0: old@0 u@group late@8
Retro.u 2+0 tag 1 of 2: a=0@1 b=1@1
Second 2+0: u@group w@group
Second.u 2+0 tag 0 of 2: a=0@0 b=1@0
Second.w 2+0 tag 1 of 2: c=0@1 d=1@1
Shared 4+2 tag 1 of 4: a=0@0 b=1@1 g=2@group v=3@0 tail@8 named@group
Shared.g 4+2: x@0 y@1 z@8 t@0
Shared.named 4+2 tag 9 of 3: p=0@1 q=1@3 r=2@24"
    );
}

#[test]
fn a_layout_that_the_compiler_refuses_is_a_warning() {
    let source = "struct A { union {
        g :union { a @3 :UInt16; h :group { b @0 :Bool; } } c @2 :UInt16; d @1 :UInt32; } }";
    let (_, found) = files(&[("a.capnp", &format!("{ID} {source}"))]).unwrap();
    let codes: Vec<&str> = found.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["layout-issue-344"]);
}

#[test]
fn declared_structs_come_in_the_order_of_the_source_with_their_groups_behind_them() {
    let capnp = capnp(
        "struct B { struct Inner {} g :group { x @0 :Text; h :group { y @1 :Text; } } union { u @2 :Void; v :group { w @3 :Void; } } }
         interface I { f @0 (a :Text) -> (b :Text); struct J {} }
         struct A {}",
    );
    let names: Vec<&str> = capnp.structs.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["B", "B.g", "B.g.h", "B.v", "B.Inner", "I.f$Params", "I.f$Results", "I.J", "A"]);
    assert!(capnp.structs.iter().all(|one| one.told));
    assert!(record(&capnp, "I.f$Params").of_method);
}

#[test]
fn names_are_looked_up_from_the_inside() {
    let capnp = capnp(
        "struct A {
           one @0 :B; two @1 : .B; three @2 :C.D; four @3 :Alias; five @4 :List(E);
           struct B { up @0 :C; text @1 :Text; }
           using Alias = .C.D;
         }
         struct B {}
         struct C { struct D {} }
         enum E { e @0; }",
    );
    let types = ["one", "two", "three", "four", "five"].map(|field| field_type(&capnp, "A", field));
    assert_eq!(types, ["A.B", "B", "C.D", "C.D", "List(E)"]);
    assert_eq!(field_type(&capnp, "A.B", "up"), "C");
}

#[test]
fn generic_structs_are_written_out_for_their_bindings() {
    let capnp = capnp(
        "struct Box(T) { value @0 :T; list @1 :Inner; g :group { again @2 :T = null; } struct Inner { t @0 :T; } }
         struct Use { a @0 :Box(Text); b @1 :Box(Box(Data)); c @2 :Box; d @3 :Box(Text).Inner; e @4 :Alias(Data); }
         using Alias = Box;"
            .replace(" = null", "")
            .as_str(),
    );
    let types = ["a", "b", "c", "d", "e"].map(|field| field_type(&capnp, "Use", field));
    assert_eq!(types, ["Box(Text)", "Box(Box(Data))", "Box", "Box(Text).Inner", "Box(Data)"]);
    assert_eq!(field_type(&capnp, "Box(Text)", "value"), "Text");
    assert_eq!(field_type(&capnp, "Box(Text)", "list"), "Box(Text).Inner");
    assert_eq!(field_type(&capnp, "Box(Text).Inner", "t"), "Text");
    assert_eq!(field_type(&capnp, "Box(Text)", "g"), "Box(Text).g");
    assert_eq!(field_type(&capnp, "Box(Text).g", "again"), "Text");
    assert!(record(&capnp, "Box").open && !record(&capnp, "Box(Text)").open);
}

#[test]
fn an_unbound_name_inside_its_own_declaration_is_bound_to_any_pointer() {
    let capnp = capnp(
        "struct Node(T) { next @0 :Node; same @1 :Node(T); value @2 :T; pair @3 :Pair(T, Text); }
         struct Pair(K, V) { k @0 :K; v @1 :V; both @2 :Pair(V, K); }
         struct Use { n @0 :Node(Data); }",
    );
    assert_eq!(field_type(&capnp, "Node", "next"), "Node(AnyPointer)");
    assert_eq!(field_type(&capnp, "Node", "same"), "Node");
    assert_eq!(field_type(&capnp, "Node(Data)", "same"), "Node(Data)");
    assert_eq!(field_type(&capnp, "Node(Data)", "pair"), "Pair(Data, Text)");
    assert_eq!(field_type(&capnp, "Pair(Data, Text)", "both"), "Pair(Text, Data)");
}

#[test]
fn parameters_of_interfaces_are_any_pointers_and_those_of_methods_belong_to_their_structs() {
    let capnp =
        capnp("interface I(T) { f @0 [U] (a :T, b :U) -> (c :U); g @1 () -> stream; h @2 I(T).S -> S; struct S {} }");
    let types = [("I.f$Params", "a"), ("I.f$Params", "b"), ("I.f$Results", "c")];
    assert_eq!(types.map(|(of, field)| field_type(&capnp, of, field)), ["AnyPointer", "U", "U"]);
    let interface = &capnp.interfaces[0];
    assert!(interface.methods[1].streaming);
    assert_eq!(capnp.record(interface.methods[1].results).unwrap().name, "StreamResult");
    assert_eq!(capnp.record(interface.methods[2].parameters).unwrap().name, "I.S");
}

#[test]
fn values_are_read_by_their_types() {
    let capnp = capnp(
        r#"const neg :Int8 = -0x80; const oct :UInt8 = 0377; const big :UInt64 = 18446744073709551615;
        const half :Float32 = 5e-1; const whole :Float64 = 3; const low :Float64 = -inf; const none :Void = void;
        const text :Text = "a\x41\n\"" "b"; const data :Data = 0x"00 fF"; const raw :Data = "\xff";
        const list :List(List(Bool)) = [[true], [], [.yes, false,]]; const yes :Bool = true;
        const point :Point = (y = E.here, x = -1, z = (w = "q")); const first :Point = 7;
        const other :Int16 = .neg; const bracketed :Int16 = (5); const e :Color = green;
        const block :Text =
          `one \n
          `two
        ;
        struct Point { x @0 :Int32; y @1 :Int32; z :group { w @2 :Text; } union { l @3 :Void; m @4 :Void; } }
        struct E { const here :Int32 = 9; }
        enum Color { red @0; green @1; }"#,
    );
    let expected = [
        ("neg", Value::Int(-128)),
        ("oct", Value::Uint(255)),
        ("big", Value::Uint(u64::MAX)),
        ("half", Value::Float32(0.5)),
        ("whole", Value::Float64(3.0)),
        ("low", Value::Float64(f64::NEG_INFINITY)),
        ("none", Value::Void),
        ("text", Value::Text("aA\n\"b".into())),
        ("data", Value::Data(vec![0, 255])),
        ("raw", Value::Data(vec![255])),
        ("other", Value::Int(-128)),
        ("bracketed", Value::Int(5)),
        ("e", Value::Enum(1)),
        ("block", Value::Text("one \\n\ntwo\n".into())),
        ("first", Value::Struct(vec![(0, Value::Int(7))])),
    ];
    for (name, value) in expected {
        assert_eq!(constant(&capnp, name), value, "{name}");
    }
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    let lists = vec![Value::List(vec![yes.clone()]), Value::List(vec![]), Value::List(vec![yes, no])];
    assert_eq!(constant(&capnp, "list"), Value::List(lists));
    let group = Value::Struct(vec![(0, Value::Text("q".into()))]);
    assert_eq!(constant(&capnp, "point"), Value::Struct(vec![(1, Value::Int(9)), (0, Value::Int(-1)), (2, group)]));
}

#[test]
fn defaults_stand_on_fields_and_on_what_is_written_out() {
    let capnp = capnp(
        r#"struct Box(T) { n @0 :Int32 = 5; t @1 :T; l @2 :List(Text) = ["x"]; }
        struct Use { b @0 :Box(Text) = (n = 6, t = "y"); f @1 :Float32 = nan; zero @2 :UInt8; }"#,
    );
    assert_eq!(default(&capnp, "Box(Text)", "n"), Value::Int(5));
    assert_eq!(default(&capnp, "Box(Text)", "l"), Value::List(vec![Value::Text("x".into())]));
    let fields = vec![(0, Value::Int(6)), (1, Value::Text("y".into()))];
    assert_eq!(default(&capnp, "Use", "b"), Value::Struct(fields));
    assert!(matches!(default(&capnp, "Use", "f"), Value::Float32(number) if number.is_nan()));
    assert_eq!(default(&capnp, "Use", "zero"), Value::Uint(0));
}

#[test]
fn annotations_have_their_types_and_values() {
    let capnp = capnp(
        r#"$note("file");
        annotation note @0xe47b15dd2c7bd5b5 (*) :Text; annotation mark (field, union) :Void; annotation p (param) :P;
        struct P { x @0 :Int8; y @1 :Int8; }
        struct A $note("struct") { a @0 :Text $mark $note("field"); u :union $mark { b @1 :Void; c @2 :Void; } }
        interface I { f @0 (a :Text $p(x = 1, y = 2)); }"#,
    );
    assert_eq!(capnp.files[0].annotations[0].value, Value::Text("file".into()));
    let a = record(&capnp, "A");
    assert_eq!((a.annotations[0].id, a.annotations[0].name.as_str()), (0xe47b_15dd_2c7b_d5b5, "note"));
    assert_eq!(a.fields[0].annotations[0].value, Value::Void);
    assert_eq!(a.fields[1].annotations[0].name, "mark");
    let param = &record(&capnp, "I.f$Params").fields[0].annotations[0];
    assert_eq!(param.value, Value::Struct(vec![(0, Value::Int(1)), (1, Value::Int(2))]));
    assert_eq!(capnp.annotations[0].targets.len(), 12);
}

#[test]
fn doc_comments_stand_behind_what_they_tell_of() {
    let capnp = capnp(
        "struct A {  # one
           #  two
           # three

           # none
           a @0 :Text;  # same line
           b @1 :Text;
           # next line

           c @2 :Text;

           # too far
         }
         enum E { x @0; }
         # behind the block",
    );
    let a = record(&capnp, "A");
    assert_eq!(a.doc, ["one", " two", "three"]);
    assert_eq!([&a.fields[0].doc, &a.fields[1].doc], [&["same line"], &["next line"]]);
    assert!(a.fields[2].doc.is_empty());
    assert_eq!(capnp.enums[0].doc, ["behind the block"]);
}

#[test]
fn imports_are_found_beside_below_and_among_the_bundled_files() {
    let text = r#"@0xbf5147cbbecf40c1;
        using Json = import "/capnp/compat/json.capnp"; using import "/deep/c.capnp".C;
        struct A { b @0 :import "sub/b.capnp".B; c @1 :C $Json.name("see"); d @2 :Text = embed "sub/text"; }"#;
    let b = "@0xbf5147cbbecf40c2; struct B { a @0 :import \"../a.capnp\".A; }";
    let c = "@0xbf5147cbbecf40c3; struct C {}";
    let all = [("a.capnp", text), ("sub/b.capnp", b), ("inc/deep/c.capnp", c), ("sub/text", "hello")];
    let folder = folder(&all);
    let told: PathBuf = folder.path().join("a.capnp");
    let (capnp, findings) = load(&[told], &[folder.path().join("inc")]).unwrap();
    assert_eq!(findings, []);
    assert_eq!(
        [field_type(&capnp, "A", "b"), field_type(&capnp, "A", "c"), field_type(&capnp, "B", "a")],
        ["B", "C", "A"]
    );
    assert_eq!(record(&capnp, "A").fields[1].annotations[0].name, "Json.name");
    assert_eq!(default(&capnp, "A", "d"), Value::Text("hello".into()));
    assert!(record(&capnp, "A").told && !record(&capnp, "B").told);
    assert!(capnp.files[0].told && !capnp.files[1].told);
}

#[test]
fn what_is_not_found_is_a_warning_where_only_annotations_need_it() {
    let source = "using Java = import \"/java.capnp\"; $Java.package(\"x\"); struct A { d @0 :Data = embed \"gone\"; }";
    let (capnp, found) = files(&[("a.capnp", source)]).unwrap();
    let codes: Vec<&str> = found.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["import-missing", "file-id-missing", "embed-missing"]);
    assert_eq!(default(&capnp, "A", "d"), Value::Null);
    assert_eq!(
        error("struct A { a @0 :import \"gone.capnp\".B; }"),
        "18: `import \"gone.capnp\".B` is of a file that was not found; -I DIR adds a place to look"
    );
}

#[test]
fn a_file_without_id_has_the_same_one_wherever_it_lies() {
    let one = files(&[("a.capnp", "struct A {}")]).unwrap().0;
    let other = files(&[("a.capnp", "struct A {} struct B {}")]).unwrap().0;
    assert_eq!((one.files[0].id, one.structs[0].id), (other.files[0].id, other.structs[0].id));
    assert!(one.files[0].id >> 63 == 1);
}

#[test]
fn errors_tell_what_was_expected_and_what_stands_there() {
    let all = [
        ("strct A {}", "1: expected a declaration, here is `strct`; did you mean `struct`?"),
        ("struct A { a @0 :Int32 =-1; }", "24: expected `;` behind `a`, here is `=-`; signs are kept apart by spaces"),
        ("struct A { a :Text; }", "12: the field `a` has no ordinal; expected `@` and a number behind the name"),
        ("struct A { a @0 :Text }", "23: expected `;` behind `a`, here is `}`"),
        ("struct A {", "10: a block begins here that never ends; close it with }"),
        ("struct A @0x1 {}", "11: an id has its highest bit set, `0x1` has not; `capnp id` makes one"),
        ("struct A { a_b @0 :Text; }", "12: names have no underscores, here is `a_b`; write `aB`"),
        ("struct a {}", "8: names of types begin with a capital letter, here is `a`"),
        ("struct A { a @0 :Text; a @1 :Text; }", "24: `a` is declared twice"),
        (
            "struct A { b @1 :Bool; }",
            "15: expected @0, here is @1: 1 ordinal is left out; ordinals go from 0 without gaps",
        ),
        ("struct A { a @65536 :Text; }", "15: ordinals end at 65535, here is `65536`"),
        ("struct A { u :union { a @0 :Int32; } }", "12: a union has two members at least, this has one"),
        ("struct A { g :group {} }", "12: the group `g` has no member"),
        ("struct A { a @0 :Teext; }", "18: no `Teext` is declared; did you mean `Text`?"),
        ("struct A { a @0 :B.Cx; } struct B { struct Cc {} }", "20: no `Cx` in `B`; did you mean `Cc`?"),
        (
            "struct A { a @0 :B; } using B = C; using C = B;",
            "33: `C` stands for itself, or for too many names in a row",
        ),
        ("struct A { a @0 :List(AnyPointer); }", "18: a list cannot be of `AnyPointer`: how large is one?"),
        ("struct A { a @0 :Box(Int32); } struct Box(T) {}", "22: `Int32` is no pointer, and only pointers bind"),
        ("struct A { a @0 :Box(Text, A); } struct Box(T) {}", "18: `Box` takes 1 type, here are 2"),
        ("struct A { a @0 :Int8 = 200; }", "25: 200 does not fit Int8; it goes from -2^7 to 2^7 - 1"),
        ("struct A { a @0 :Text = 5; }", "25: expected a value of Text, here is `5`"),
        ("struct A { a @0 :E = xx; } enum E {xy @0; }", "22: no `xx` in the enum `E`; did you mean `xy`?"),
        ("struct A { a @0 :A = (y = 1); }", "23: no field `y` in `A`; did you mean `a`?"),
        (
            "struct A { a @0 :Int32 = b; } const b :Int32 = 3;",
            "26: the constant `b` needs a dot in its name; write `.b`",
        ),
        ("const a :Int32 = .b; const b :Int32 = .a;", "18: the constant is made of itself"),
        ("struct A $b {} annotation b(enum) :Text;", "11: `b` may not stand on a struct; it is declared for enum"),
        ("annotation a(strct) :Text;", "14: no target `strct`; did you mean `struct`?"),
        ("interface I extends(A) {} struct A {}", "21: `A` is no interface"),
    ];
    for (source, expected) in all {
        assert_eq!(error(source), expected, "{source}");
    }
    let twice = error("enum E { a @0; b @1; c @1; }");
    assert!(twice.starts_with("25: the ordinal @1 is used twice; the first is at "), "{twice}");
}

#[test]
fn nothing_nests_without_end() {
    let many = |text: &str| text.repeat(200_000);
    let deep = [
        many("struct A { "),
        format!("const a :Text = {}", many("(")),
        format!("const a :Text = {}", many("[")),
        format!("const a :{}", many("List(")),
        format!("const a :A{}", many(".A")),
        format!("const a :A{}", many("(A)")),
        format!("struct A {{ {}", many("a :group { ")),
        format!("struct A {{ {}", many("union { ")),
    ];
    for source in deep {
        let error = error(&source);
        assert!(error.contains("deep"), "{error}");
    }
}

#[test]
fn names_and_constants_that_lead_through_many_others_end() {
    let chain = |line: fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    let names = chain(|at| format!("using A{at} = A{};\n", at + 1));
    assert!(files(&[("a.capnp", &format!("{ID}{names} struct A20000 {{}}"))]).is_err());
    let constants = chain(|at| format!("const a{at} :Int8 = .a{};\n", at + 1));
    assert!(files(&[("a.capnp", &format!("{ID}{constants} const a20000 :Int8 = 1;"))]).is_err());
    // Each line doubles what the line before it has.
    let list = |depth: usize| format!("{}Int8{}", "List(".repeat(depth), ")".repeat(depth));
    let doubling: String =
        (1..40).map(|at| format!("const a{at} :{} = [.a{}, .a{}];", list(at), at - 1, at - 1)).collect();
    assert!(error(&format!("const a0 :Int8 = 1;{doubling}")).contains("values in the schema"));
    // A struct that holds itself with other bindings.
    let (capnp, _) = files(&[("a.capnp", &format!("{ID} struct A(T) {{ a @0 :A(List(A(T))); t @1 :T; }}"))]).unwrap();
    assert!(capnp.structs.len() > 1);
}
