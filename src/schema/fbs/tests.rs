//! Schemas as whole: source against what flatc compiles of it, includes, errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::model::flat::{Absent, Enum, Field, Flat, Object, Of, Shape, Type};
use crate::model::schema::{Schema, SchemaError};
use crate::schema::Request;
use crate::schema::fbs::load;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas/flatbuffers").join(name)
}

fn of(paths: &[PathBuf]) -> Result<Schema, SchemaError> {
    load(&Request { files: paths.to_vec(), include: Vec::new() })
}

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

fn loaded(files: &[(&str, &str)]) -> Result<Schema, SchemaError> {
    let folder = folder(files);
    of(&[folder.path().join(files[0].0)]).map_err(|mut error| {
        error.place.file = error.place.file.rsplit('/').next().unwrap().to_string();
        error
    })
}

/// The schema of one file.
fn schema(text: &str) -> Flat {
    *loaded(&[("a.fbs", text)]).unwrap_or_else(|error| panic!("{error}: {text}")).flat.unwrap()
}

/// The error of one file as `line:column message; help`, without folders.
fn refused(text: &str) -> String {
    match loaded(&[("a.fbs", text)]) {
        Ok(_) => "accepted".to_string(),
        Err(error) => {
            let text = error.to_string();
            let words =
                text.split(' ').map(|word| if word.starts_with('/') { word.rsplit('/').next().unwrap() } else { word });
            words.collect::<Vec<_>>().join(" ").replacen("a.fbs:", "", 1)
        }
    }
}

fn name_of(flat: &Flat, of: Of) -> String {
    match of {
        Of::Scalar(scalar) => scalar.name().to_string(),
        Of::Text => "string".to_string(),
        Of::Enum(id) => format!("enum {}", flat.enumeration(id).unwrap().name),
        Of::UnionType(id) => format!("type of {}", flat.enumeration(id).unwrap().name),
        Of::Union(id) => format!("union {}", flat.enumeration(id).unwrap().name),
        Of::Struct(id) => format!("struct {}", flat.object(id).unwrap().name),
        Of::Table(id) => format!("table {}", flat.object(id).unwrap().name),
        Of::Raw(size) => format!("{size} bytes"),
    }
}

fn type_of(flat: &Flat, ty: Type) -> String {
    let name = name_of(flat, ty.of);
    match ty.shape {
        Shape::One => name,
        Shape::Vector => format!("[{name}]"),
        Shape::Vector64 => format!("[{name}] 64"),
        Shape::Array(len) => format!("[{name}:{len}]"),
    }
}

/// All that is known of a type and has room in a compiled schema, one fact a line.
fn object_facts(flat: &Flat, object: &Object) -> String {
    let of_field = |field: &Field| {
        let field = Field { place: Default::default(), ..field.clone() };
        // Defaults of strings and vectors have no room there, and flatc writes 0 for numbers above the largest long.
        let default = match &field.default {
            Absent::Text(_) | Absent::EmptyVector => "None".to_string(),
            Absent::Uint(_) => "Int(0)".to_string(),
            Absent::Float(number) if number.is_nan() => "Float(NaN)".to_string(),
            other => format!("{other:?}"),
        };
        let nested = field.nested.map(|id| flat.object(id).unwrap().name.clone());
        let ty = type_of(flat, field.ty);
        format!(
            "{default} {nested:?} {ty} {:?}",
            Field { default: Absent::None, nested: None, ty: Type::one(Of::Text), ..field }
        )
    };
    let fields: Vec<String> = object.fields.iter().map(of_field).collect();
    let rest = Object { fields: Vec::new(), told: true, place: Default::default(), ..object.clone() };
    format!("{rest:?}\n{}", fields.join("\n"))
}

fn enum_facts(flat: &Flat, one: &Enum) -> String {
    let values: Vec<String> = one
        .values
        .iter()
        .map(|value| {
            let member = value.member.map(|of| name_of(flat, of));
            format!("{} {} {member:?} {:?} {:?}", value.name, value.number, value.attributes, value.doc)
        })
        .collect();
    let rest = Enum { values: Vec::new(), told: true, place: Default::default(), ..one.clone() };
    format!("{rest:?}\n{}", values.join("\n"))
}

fn facts(flat: &Flat) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for object in &flat.objects {
        facts.insert(object.name.clone(), object_facts(flat, object));
    }
    for one in &flat.enums {
        facts.insert(one.name.clone(), enum_facts(flat, one));
    }
    for service in &flat.services {
        let name = |id| flat.object(id).unwrap().name.clone();
        let calls = service.calls.iter().map(|call| {
            format!("{} {} {} {:?} {:?}", call.name, name(call.request), name(call.response), call.attributes, call.doc)
        });
        facts.insert(service.name.clone(), format!("{:?}\n{}", service.doc, calls.collect::<Vec<_>>().join("\n")));
    }
    let root = flat.root.map(|id| flat.object(id).unwrap().name.clone());
    facts.insert("root".to_string(), format!("{root:?} {:?} {:?}", flat.identifier, flat.extension));
    facts
}

#[test]
fn source_says_what_flatc_compiles_of_it() {
    for name in ["suite", "fbzoo", "fbzoo_old", "peer", "peer_update", "language"] {
        let source = of(&[data(&format!("{name}.fbs"))]).unwrap_or_else(|error| panic!("{error}"));
        let compiled = of(&[data(&format!("{name}.bfbs"))]).unwrap();
        let (source, compiled) = (facts(&source.flat.unwrap()), facts(&compiled.flat.unwrap()));
        assert_eq!(source.keys().collect::<Vec<_>>(), compiled.keys().collect::<Vec<_>>(), "{name}");
        for (key, facts) in &source {
            assert_eq!(facts, &compiled[key], "{name}: {key}");
        }
    }
}

#[test]
fn struct_members_lie_where_flatc_lays_them() {
    let flat = schema("struct S { a:byte; b:[short:3]; c:ulong; d:bool; } struct F (force_align: 32) { s:S; x:byte; }");
    let places =
        |object: &Object| -> Vec<_> { object.fields.iter().map(|field| (field.offset, field.padding)).collect() };
    let (s, f) = (&flat.objects[0], &flat.objects[1]);
    assert_eq!((s.size, s.align, places(s)), (24, 8, vec![(0, 1), (2, 0), (8, 0), (16, 7)]));
    assert_eq!((f.size, f.align, places(f)), (32, 32, vec![(0, 0), (24, 7)]));
}

#[test]
fn what_was_told_and_where_it_stands_is_kept() {
    let files =
        [("a.fbs", "include \"b.fbs\";\n table A {\n  é:B;}".replace('é', "e")), ("b.fbs", "table B {}".into())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let flat = *loaded(&files).unwrap().flat.unwrap();
    let told: Vec<_> = flat.objects.iter().map(|object| (object.name.as_str(), object.told)).collect();
    assert_eq!(told, [("B", false), ("A", true)]);
    let place = &flat.objects[1].fields[0].place;
    assert_eq!((place.line, place.column), (3, 3));
}

#[test]
fn text_defaults_and_large_numbers_are_kept_though_a_compiled_schema_has_no_room_for_them() {
    let flat =
        schema("table T { a:string = \"x\\n\"; b:[int] = []; c:ulong = 18446744073709551615; d:string = \"0\"; }");
    let defaults: Vec<_> = flat.objects[0].fields.iter().map(|field| field.default.clone()).collect();
    assert_eq!(defaults, [Absent::Text("x\n".into()), Absent::EmptyVector, Absent::Uint(u64::MAX), Absent::None]);
}

#[test]
fn what_flatc_refuses_is_refused_at_its_place() {
    for (text, error) in [
        ("table T { a:Foo; } table Fooo {}", "1:13: no type `Foo`; did you mean `Fooo`?"),
        ("table T { a:strin; }", "1:13: no type `strin`; did you mean `string`?"),
        (
            "table T { a:E; }\nenum E:int { A }",
            "1:13: no type `E`; enum `E` is declared in line 2, behind its use: move it up",
        ),
        (
            "table T { a:E = A; }\nenum E:int { A }",
            "1:13: no type `E`; enum `E` is declared in line 2, behind its use: move it up",
        ),
        (
            "namespace a; enum E:int { A }\nnamespace b; table T { a:E; }",
            "2:26: no type `E`; there is enum `a.E`: write it with its namespace",
        ),
        (
            "table T {} table T {}",
            "1:18: `T` is declared already, as table at a.fbs:1:7; give it another name or namespace",
        ),
        (
            "enum T:int { A } struct T { a:int; }",
            "1:25: `T` is declared already, as enum at a.fbs:1:6; give it another name or namespace",
        ),
        ("table T { a:int; a:int; }", "1:18: field `a` is there already"),
        (
            "union U { T } table T { u:U; u_type:int; }",
            "1:30: field `u_type` is there already; a union `u` has a field `u_type` as well",
        ),
        (
            "table T { a:int (id: 0); b:int; }",
            "1:26: field `b` has no id, others of the table have one; give every field an id, or none",
        ),
        (
            "table T { a:int (id: 0); b:int (id: 2); }",
            "1:26: no field has id 1, the next one is `b` with 2; ids run from 0 without gaps; keep a deleted field and mark it as deprecated",
        ),
        (
            "table T { a:int (id: 0); b:int (id: 0); }",
            "1:26: `a` and `b` have the same id 0; a union takes the id before its own, too",
        ),
        (
            "union U { T } table T { u:U (id: 0); }",
            "1:34: union `u` has id 0, and its type needs the id before; a union takes two ids, tell the second: 1 or more",
        ),
        (
            "struct S { a:string; }",
            "1:14: a string in a struct; structs hold scalars, structs and arrays of them; make it a table",
        ),
        (
            "table T {} struct S { t:T; }",
            "1:25: table `T` in a struct; structs hold scalars, structs and arrays of them; make it a table",
        ),
        (
            "struct S { a:[int]; }",
            "1:15: a vector in a struct; structs hold scalars, structs and arrays of them; make it a table",
        ),
        ("struct S { a:int; s:S; }", "1:21: a struct that contains itself; make it a table"),
        (
            "struct A { b:B; } struct B { a:A; }",
            "1:14: no struct `B`; struct `B` is declared in line 1, behind its use: move it up",
        ),
        ("struct S {}", "1:8: a struct without members; give it a member, or make it a table"),
        (
            "table T { a:[int:3]; }",
            "1:14: `a` is an array in a table: arrays stand in structs only; make it a vector, or wrap it in a struct",
        ),
        ("struct S { a:[int:0]; }", "1:19: expected the length of the array, 1 to 65535, found `0`"),
        (
            "table T { a:int (required); }",
            "1:18: scalar `a` cannot be required: it has a default; `= null` tells absent from every value",
        ),
        ("table T { a:int (key); b:int (key); }", "1:31: `a` is the key already, `b` cannot be one"),
        (
            "table T { a:[int] (key); }",
            "1:20: `a` cannot be a key; keys are scalars, strings, structs or arrays of scalars",
        ),
        ("table T { a:int = null (key); }", "1:25: `a` may be absent, a key may not: remove `= null`"),
        (
            "enum E:byte { A = 128 }",
            "1:19: `A` is 128, but byte holds -128 to 127; choose a wider type behind the name of the enum",
        ),
        (
            "enum E:ubyte { A = 255, B }",
            "1:25: `B` is 256, but ubyte holds 0 to 255; choose a wider type behind the name of the enum",
        ),
        (
            "enum E:ubyte (bit_flags) { A = 8 }",
            "1:28: flag `A` is bit 8, but ubyte has bits 0 to 7; numbers of bit flags are bits, not values",
        ),
        ("enum E:int { A, B = 0 }", "1:17: `A` and `B` are both 0; each value needs a number of its own"),
        ("enum E:int { A, A = 3 }", "1:17: value `A` is there already"),
        (
            "enum E:float { A }",
            "1:8: the values are stored as `float`, expected an integer type; write byte, ubyte, short, ushort, int, uint, long or ulong",
        ),
        ("enum E { A }", "1:8: expected `:` and an integer type, found `{`; write `enum E:byte`"),
        (
            "enum E:int { A = 1 } table T { e:E; }",
            "1:32: the default 0 of `e` is no value of `E`; write `= A` for example, or give the enum a value 0",
        ),
        ("enum E:int { Red } table T { e:E = Rad; }", "1:36: enum `E` has no value `Rad`; did you mean `Red`?"),
        (
            "struct S (force_align: 12) { a:int; }",
            "1:24: `force_align` is 12; it has to be a power of two from 4 to 32",
        ),
        ("table T (foo) {}", "1:10: attribute `foo` is not declared; declare it first: attribute \"foo\";"),
        (
            "table T { a:int (deprecate); }",
            "1:18: attribute `deprecate` is not declared; did you mean `deprecated`? Own attributes are declared first: attribute \"deprecate\";",
        ),
        (
            "table T { a:[[int]]; }",
            "1:14: a vector of vectors: vectors hold no vectors; put the inner vector into a table",
        ),
        ("table T { a:byte = 200; }", "1:20: 200 does not fit into byte, -128 to 127"),
        ("table T { a:int = 1.5; }", "1:19: expected a default of type int, found `1.5`"),
        ("table T { a:float = x; }", "1:21: expected a number, found `x`"),
        (
            "table T { a:float = sqrt(2); }",
            "1:21: no function `sqrt`; there are deg, rad, sin, cos, tan, asin, acos and atan",
        ),
        (
            "table T { a:T = 1; }",
            "1:17: a table has no default of its own, found `1`; only scalars and strings have one, and vectors `[]`",
        ),
        ("struct S { a:int = 1; }", "1:20: a default in a struct: members are always there; remove it"),
        ("root_type T;", "1:11: no root type `T`; declare it, or include the file that does"),
        (
            "root_type T; table T {}",
            "1:11: no root type `T`; table `T` is declared in line 1, behind its use: move it up",
        ),
        (
            "struct S { a:int; } root_type S;",
            "1:31: the root type `S` is a struct, expected a table; wrap the struct in a table",
        ),
        ("table T {} file_identifier \"ABC\";", "1:28: a file identifier of 3 bytes, expected exactly 4 characters"),
        ("table T { a:[int] (nested_flatbuffer: \"T\"); }", "1:39: `nested_flatbuffer` is for vectors of ubyte"),
        (
            "table T { a:[ubyte] (nested_flatbuffer: \"X\"); }",
            "1:41: no type `X`; declare it, or include the file that does",
        ),
        ("table T { a:[string] (flexbuffer); }", "1:23: `flexbuffer` is for vectors of ubyte"),
        (
            "table T { a:[string] (offset64); }",
            "1:23: `a` cannot have an offset of 64 bits; strings and vectors of scalars or structs can",
        ),
        ("table T { a:int (hash: \"md5\"); }", "1:24: no hash `md5` of 32 bits; there are fnv1_32 and fnv1a_32"),
        ("table T { a:int (shared); }", "1:18: `shared` is for strings"),
        (
            "struct S { a:int (deprecated); }",
            "1:19: member `a` of a struct cannot be deprecated: its bytes are always there",
        ),
        (
            "table T { a:[int]; a_length:int; }",
            "1:20: field `a_length` has the name of a function that code gets for `a`; give it another name",
        ),
        (
            "table T {} table U { T:int; }",
            "1:22: field `T` has the name of a table or struct; give it another name, lower-case for example",
        ),
        (
            "union U { int }",
            "1:11: no type `int`; a member of a union that is no table or struct needs a name: text:string",
        ),
        (
            "union U { A:int }",
            "1:13: member `A` is of type `int`; unions hold tables, structs and strings: wrap it in a table",
        ),
        (
            "table T {} include \"b.fbs\";",
            "1:12: an include behind a declaration; move all includes to the top of the file",
        ),
        (
            "tabl T {}",
            "1:1: expected table, struct, enum, union, namespace, root_type, file_identifier, file_extension, attribute or rpc_service, found `tabl`; did you mean table?",
        ),
        ("table T { a:int }", "1:17: expected `;` behind the field, found `}`"),
        ("table T { a:int; ", "1:18: expected the name of a field, or `}`, found the end of the file"),
        (
            "table T { a:int; /// doc\n }",
            "1:18: a doc comment `///` behind something: it belongs to what follows it; put it on a line of its own, or write `//`",
        ),
        ("/* open", "1:1: a comment begins here and does not end: expected `*/`"),
        (
            "table T { a:string = \"x; }\n",
            "1:22: a string begins here and does not end in its line; write `\\n` for a new line in it",
        ),
        ("table Tä {}", "1:8: the character \\u{e4} cannot stand here: names are ASCII"),
        (
            "enum E:ubyte (bit_flags) { A, B } table T { e:E = A | B; }",
            "1:53: `|` cannot stand here; write sums of bit flags as one string, \"Red Green\"",
        ),
        ("// nothing", "1:11: holds no declaration"),
        ("{ \"a\": 1 }", "1:1: holds data, no declaration; a schema declares tables: `table T { … }`"),
        ("rpc_service S { A(T):T; } struct T { a:int; }", "accepted"),
        ("struct T { a:int; } rpc_service S { A(T):T; }", "1:39: `T` is no table: calls send tables"),
    ] {
        assert_eq!(refused(text), error, "{text}");
    }
}

#[test]
fn brackets_nest_no_deeper_than_the_grammar() {
    for bracket in ["[", "{", "(", "<", "table T { a:", "table T { a:[", "sin(", "/*"] {
        assert_ne!(refused(&bracket.repeat(200_000)), "accepted");
        assert_ne!(refused(&format!("table T {{ a:float = {}", bracket.repeat(200_000))), "accepted");
        assert_ne!(refused(&format!("table T {{}} root_type T; {}", bracket.repeat(200_000))), "accepted");
    }
    let functions = |depth: usize| format!("table T {{ a:float = {}1{}; }}", "sin(".repeat(depth), ")".repeat(depth));
    assert_eq!(refused(&functions(64)), "accepted");
    assert_eq!(refused(&functions(65)), "1:277: functions nest deeper than 64 levels");
    let structs: String = (1..40).map(|at| format!("struct S{at} {{ a:[S{}:65535]; }}", at - 1)).collect();
    assert!(
        refused(&format!("struct S0 {{ a:long; }} {structs}"))
            .ends_with("the struct is larger than 2 GiB, more than a buffer holds")
    );
}

#[test]
fn slips_in_schemas_are_errors_and_never_panics() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    let sources =
        ["suite", "fbzoo", "peer", "language"].map(|name| fs::read_to_string(data(&format!("{name}.fbs"))).unwrap());
    let mut accepted = 0;
    for round in 0..1500 {
        let mut bytes = sources[round % sources.len()].replace("include \"sub/shared.fbs\";", "").into_bytes();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => drop(bytes.remove(at)),
                1 => bytes.truncate(at.max(1)),
                2 => bytes[at] = u8::try_from(random(256)).unwrap(),
                _ => {
                    let piece: Vec<u8> = bytes[at..(at + random(40)).min(bytes.len())].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(source) = super::parse::parse(&text) {
            let file = super::files::Loaded { source, shown: "a".into(), told: true, missing: Vec::new() };
            accepted += usize::from(super::link::link(&[file]).is_ok());
        }
    }
    assert!(accepted > 20, "{accepted}");
}

#[test]
fn a_damaged_compiled_schema_is_an_error_and_never_a_panic() {
    let bytes = fs::read(data("language.bfbs")).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        let _ = super::bfbs::read(&damaged);
        let _ = super::bfbs::read(&bytes[..at]);
    }
}

#[test]
fn includes_are_found_beside_the_file_and_above_it() {
    let schema = loaded(&[
        (
            "api/v1/a.fbs",
            "include \"common/b.fbs\"; include \"c.fbs\"; include \"../d.fbs\"; table A { b:B; c:C; d:D; }",
        ),
        ("common/b.fbs", "include \"e.fbs\"; include \"api/v1/a.fbs\"; table B { e:E; }"),
        ("common/e.fbs", "table E {}"),
        ("api/v1/c.fbs", "table C {} root_type C; file_identifier \"CCCC\";"),
        ("api/d.fbs", "struct D { a:int; }"),
    ]);
    let schema = schema.unwrap_or_else(|error| panic!("{error}"));
    let flat = schema.flat.unwrap();
    let names: Vec<&str> = flat.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!((names, flat.root, flat.identifier), (vec!["E", "B", "C", "D", "A"], None, None));
    assert_eq!(schema.found, []);
}

#[test]
fn a_missing_include_is_a_warning_unless_something_needs_it() {
    let schema = loaded(&[("a.fbs", "include \"gone.fbs\";\ntable A {}")]).unwrap();
    let found = &schema.found[0];
    assert_eq!((found.code, found.place.line), ("include-missing", 1));
    assert_eq!(found.message, "include \"gone.fbs\" is not found; nothing needs it");
    let error = loaded(&[("a.fbs", "include \"gone.fbs\";\ntable A { b:B; }")]).unwrap_err();
    assert_eq!((error.place.line, error.message.as_str()), (2, "no type `B`"));
    assert!(error.help.starts_with("\"gone.fbs\", included at"), "{}", error.help);
    assert!(error.help.ends_with(":1, is not found: tell its folder with -I"), "{}", error.help);
}

#[test]
fn an_error_in_an_included_file_stands_there() {
    let error = loaded(&[("a.fbs", "include \"b.fbs\"; table A {}"), ("b.fbs", "\n table B { a:X; }")]).unwrap_err();
    assert_eq!((error.place.file.as_str(), error.place.line, error.place.column), ("b.fbs", 2, 14));
    let error = loaded(&[("a.fbs", "include \"b.fbs\"; table A {}"), ("b.fbs", "\n table")]).unwrap_err();
    assert_eq!((error.place.file.as_str(), error.place.line), ("b.fbs", 2));
}

#[test]
fn several_schemas_are_one_and_differences_are_told() {
    let folder = folder(&[
        ("a.fbs", "include \"c.fbs\"; table A { x:X; } table T { a:int; } root_type A; file_identifier \"AAAA\";"),
        ("b.fbs", "include \"c.fbs\"; enum E:int { Z } table B { x:X; t:T; e:E; } table T { b:int; } root_type B;"),
        ("c.fbs", "struct X { x:int; }"),
        ("d.fbs", "struct E { x:int; }"),
    ]);
    let path = |name: &str| folder.path().join(name);
    let schema = of(&[path("a.fbs"), path("b.fbs"), path("a.fbs")]).unwrap();
    let flat = schema.flat.as_ref().unwrap();
    let names: Vec<&str> = flat.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["X", "A", "T", "B"]);
    assert_eq!(flat.root.and_then(|id| flat.object(id)).unwrap().name, "A");
    let types: Vec<String> = flat.objects[3].fields.iter().map(|field| type_of(flat, field.ty)).collect();
    assert_eq!(types, ["struct X", "table T", "enum E"]);
    let codes: Vec<_> = schema.found.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["type-differs"]);
    let error = of(&[path("b.fbs"), path("d.fbs")]).unwrap_err();
    assert_eq!(error.message, "`E` is an enumeration in one schema and none in the other");
}

#[test]
fn source_and_compiled_schema_of_one_file_go_together() {
    let schema = of(&[data("language.fbs"), data("language.bfbs")]).unwrap();
    assert_eq!(schema.found, []);
}

#[test]
fn odd_schemas_load_with_a_warning() {
    for (text, code) in [
        ("table T (private, private) {}", "attribute-twice"),
        ("enum E:int { A, B = 3, C = 3 }", "value-twice"),
        ("struct S { a:[int:60000]; }", "struct-large"),
        ("table T { a:int; } root_type T; { a: [1, { }] }", "schema-data"),
    ] {
        let schema = loaded(&[("a.fbs", text)]).unwrap();
        let codes: Vec<_> = schema.found.iter().map(|found| found.code).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

#[test]
fn files_that_are_no_schema_are_told_as_what_they_are() {
    for (bytes, message) in [
        (&b""[..], "is empty"),
        (b" \n", "holds only white space"),
        (b"\0\x01\x02", "is neither text nor a compiled FlatBuffers schema"),
        (b"\x08\0\0\0BFBS\0\0\0\0", "is no compiled FlatBuffers schema"),
        (b"\xef\xbb\xbftable T { a:int; } // caf\xe9", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.fbs");
        fs::write(&path, bytes).unwrap();
        let said = of(&[path]).map_or_else(|error| error.message, |_| String::new());
        assert!(said.starts_with(message) && said.is_empty() == message.is_empty(), "{said}");
    }
    let error = of(&[data("langage.fbs")]).unwrap_err();
    assert_eq!(error.message, "no such file");
    assert!(error.help.ends_with("language.fbs exists"), "{}", error.help);
}
