//! Schemas as whole: source against the descriptors that protoc makes of it, imports, errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::model::schema::{Cardinality, Enum, FieldKind, Message, Presence, Schema, SchemaError};
use crate::schema::Request;
use crate::schema::proto::load;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas").join(name)
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

/// Findings as `code line:column message; help`, without folders.
fn findings(schema: &Schema) -> Vec<String> {
    let line = |finding: &crate::model::schema::Finding| {
        let place = format!("{}:{}", finding.place.line, finding.place.column);
        let text = format!("{} {place} {}; {}", finding.code, finding.message, finding.help);
        let words =
            text.split(' ').map(|word| if word.starts_with('/') { word.rsplit('/').next().unwrap() } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    schema.found.iter().map(line).collect()
}

/// All that is known of a type, indexes replaced by names.
fn facts(schema: &Schema) -> BTreeMap<String, String> {
    let kind = |kind: &FieldKind| match kind {
        FieldKind::Message(id) => format!("message {}", schema.message(*id).unwrap().full_name),
        FieldKind::Group(id) => format!("group {}", schema.message(*id).unwrap().full_name),
        FieldKind::Enum(id) => format!("enum {}", schema.enumeration(*id).unwrap().full_name),
        other => format!("{other:?}"),
    };
    let message = |message: &Message| {
        let fields: Vec<String> =
            message.fields.iter().map(|field| format!("{} | {field:?}", kind(&field.kind))).collect();
        let strip = |text: String| match (text.find("kind: "), text.find(", cardinality")) {
            (Some(from), Some(to)) => format!("{}{}", &text[..from], &text[to..]),
            _ => text,
        };
        let fields: Vec<String> = fields.into_iter().map(strip).collect();
        format!(
            "{} {:?} {} {} {:?} {:?} {:?}\n{}",
            message.name,
            message.oneofs,
            message.map_entry,
            message.message_set,
            message.well_known,
            message.extension_ranges,
            message.reserved,
            fields.join("\n")
        )
    };
    let one = |one: &Enum| format!("{} {:?} {}", one.name, one.values, one.closed);
    let messages = schema.messages.iter().map(|found| (found.full_name.clone(), message(found)));
    messages.chain(schema.enums.iter().map(|found| (found.full_name.clone(), one(found)))).collect()
}

#[test]
fn source_and_descriptors_of_protoc_are_the_same_schema() {
    for name in [
        "suite",
        "corners",
        "suite_groups",
        "pbzoo",
        "pbzoo2",
        "pbset",
        "editions/wire23",
        "editions/legacy23",
        "editions/wire24",
    ] {
        let source = of(&[data(&format!("{name}.proto"))]).unwrap();
        let set = of(&[data(&format!("{name}.desc"))]).unwrap();
        assert_eq!(findings(&source), [""; 0], "{name}");
        assert_eq!(findings(&set), [""; 0], "{name}");
        let (source, set) = (facts(&source), facts(&set));
        for (full_name, facts) in &set {
            // Files that only hold options are bundled without what they hold.
            if !full_name.starts_with("pb.") && !full_name.starts_with("google.protobuf.F") {
                assert_eq!(source.get(full_name).unwrap(), facts, "{name}: {full_name}");
            }
        }
        assert!(source.keys().all(|key| set.contains_key(key) || key.starts_with("google.protobuf.")));
    }
}

#[test]
fn features_of_an_edition_reach_the_fields() {
    let schema = of(&[data("editions/wire23.proto")]).unwrap();
    let message = schema.message(schema.find_message("ed23.Fields").unwrap()).unwrap();
    let field = |name: &str| message.field_by_name(name).unwrap();
    let presence = |name: &str| field(name).presence;
    assert_eq!(presence("implicit"), Presence::Implicit);
    assert_eq!(presence("explicit"), Presence::Explicit);
    assert_eq!(presence("required"), Presence::Required);
    assert_eq!(presence("child"), Presence::Explicit);
    assert_eq!(presence("number"), Presence::Explicit);
    assert_eq!(presence("[ed23.ext_a]"), Presence::Explicit);
    assert!(matches!(field("delimited").kind, FieldKind::Group(_)));
    assert!(matches!(field("[ed23.Fields.optionalx.group_ext]").kind, FieldKind::Group(_)));
    assert!(matches!(field("child").kind, FieldKind::Message(_)));
    assert!(field("packed").packed && field("kinds").packed && !field("expanded").packed);
    assert!(field("text").utf8 && !field("loose").utf8);
    assert_eq!(field("map").cardinality, Cardinality::Map);
    assert_eq!(field("explicit").default.as_deref(), Some("7"));
    assert_eq!(field("name").json, "called");
    assert!(field("raw").deprecated);
    assert_eq!(message.oneofs, ["choice"]);
    let legacy = of(&[data("editions/legacy23.proto")]).unwrap();
    let message = legacy.message(legacy.find_message("M").unwrap()).unwrap();
    let map = message.field_by_name("map").unwrap();
    let entry = legacy.message(map.kind.message().unwrap()).unwrap();
    assert!(matches!(map.kind, FieldKind::Message(_)) && matches!(entry.field(2).unwrap().kind, FieldKind::Message(_)));
    let closed = |name: &str| legacy.enums.iter().find(|one| one.name == name).unwrap().closed;
    assert!(closed("M.E") && !closed("M.Open"));
}

#[test]
fn extensions_and_well_known_types_are_found() {
    let schema = of(&[data("pbzoo2.proto")]).unwrap();
    let two = schema.message(schema.find_message("Two").unwrap()).unwrap();
    let group = two.field(104).unwrap();
    assert_eq!((group.name.as_str(), group.json.as_str()), ("[zoo2.extgroup]", "[zoo2.extgroup]"));
    assert!(group.extension && matches!(group.kind, FieldKind::Group(_)));
    assert_eq!(two.field(200).unwrap().name, "[zoo2.Scope.nested_ext]");
    assert_eq!(two.field(3).unwrap().name, "single");
    for name in ["Any", "Duration", "Timestamp", "FieldMask", "Struct", "Value", "ListValue", "Empty", "BoolValue"] {
        let id = schema.message_by_full_name(&format!("google.protobuf.{name}")).unwrap();
        assert!(!schema.message(id).unwrap().told);
    }
}

#[test]
fn what_a_file_imports_is_looked_for_in_the_folders_above_it_and_in_the_bundle() {
    let schema = loaded(&[
        (
            "api/v1/order.proto",
            "syntax = 'proto3'; package api.v1; import 'common/id.proto'; import 'near.proto'; \
          import 'google/type/money.proto'; message Order { common.Id id = 1; Near n = 2; google.type.Money m = 3; }",
        ),
        ("common/id.proto", "syntax = 'proto3'; package common; message Id { string v = 1; }"),
        (
            "api/v1/near.proto",
            "syntax = 'proto3'; package api.v1; import public 'far.proto'; message Near { Far f = 1; }",
        ),
        ("far.proto", "syntax = 'proto3'; package api; message Far {}"),
    ])
    .unwrap();
    assert_eq!(findings(&schema), [""; 0]);
    assert!(schema.message(schema.find_message("Order").unwrap()).unwrap().told);
    assert!(!schema.message(schema.find_message("Id").unwrap()).unwrap().told);
    assert!(schema.find_message("google.type.Money").is_ok());
}

#[test]
fn missing_imports_are_warnings() {
    let schema = loaded(&[(
        "a.proto",
        "syntax = \"proto3\";\nimport \"x/options.proto\";\nmessage M { string s = 1 [(x.rule) = { min: 1 }]; }",
    )])
    .unwrap();
    let found = findings(&schema);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("import-missing 2:1 \"x/options.proto\" not found in "), "{found:?}");
    assert!(found[0].ends_with("; only options use it, so it is left out; -I DIR adds a place to look"), "{found:?}");
    let schema = loaded(&[(
        "a.proto",
        "syntax = \"proto3\";\nimport \"x/t.proto\";\nimport \"y/o.proto\";\nmessage M {\n  x.T t = 1;\n  \
         map<string, x.U> m = 2; x.T u = 3;\n}",
    )])
    .unwrap();
    let found = findings(&schema);
    assert!(found[0].ends_with("; `x.T` and `x.U` stay bytes; -I DIR adds a place to look"), "{found:?}");
    assert!(found[1].contains("only options use it"), "{found:?}");
    let rest = &found[2..];
    assert_eq!(
        rest,
        [
            "type-unresolved 5:3 no file declares `x.T`: fields of this type are left as bytes; one of its imports was not found",
            "type-unresolved 6:3 no file declares `x.U`: fields of this type are left as bytes; one of its imports was not found",
        ]
    );
    let id = schema.find_message("M").unwrap();
    assert_eq!(schema.message(id).unwrap().field(1).unwrap().kind, FieldKind::Opaque("x.T".into()));
}

#[test]
fn a_broken_import_is_told_once() {
    let schema = loaded(&[
        ("a.proto", "syntax='proto3'; import 'b.proto'; import 'c.proto'; message A { B b = 1; }"),
        ("b.proto", "syntax='proto3'; message B {\n"),
        ("c.proto", "syntax='proto3'; import 'b.proto'; message C {}"),
    ])
    .unwrap();
    let found = findings(&schema);
    let codes: Vec<&str> = found.iter().filter_map(|told| told.split(' ').next()).collect();
    assert_eq!(codes, ["import-broken", "type-unresolved"], "{found:?}");
}

#[test]
fn an_import_for_options_supplies_no_types() {
    let schema = loaded(&[(
        "a.proto",
        "edition = '2024'; package ed;\nimport 'ed/m.proto';\nimport option 'ed/x.proto';\nmessage A { ed.M m = 1; }",
    )])
    .unwrap();
    let found = findings(&schema);
    assert!(found[0].ends_with("; `ed.M` stays bytes; -I DIR adds a place to look"), "{found:?}");
    assert!(found[1].starts_with("import-missing 3:1 \"ed/x.proto\" not found in "), "{found:?}");
    assert!(found[1].ends_with("; only options use it, so it is left out; -I DIR adds a place to look"), "{found:?}");
    let alone =
        loaded(&[("a.proto", "edition = '2024'; package ed;\nimport option 'ed/x.proto';\nmessage A { ed.M m = 1; }")])
            .unwrap();
    let found = findings(&alone);
    assert!(found[0].contains("only options use it"), "{found:?}");
    assert!(found[1].ends_with("left as bytes; "), "{found:?}");
}

#[test]
fn odd_schemas_load_with_a_warning() {
    let cases: [(&[(&str, &str)], &str); 7] = [
        (
            &[("a.proto", "syntax='proto3'; package p; message Order {} message M {\n Ordr o = 1; }")],
            "type-unresolved 2:2 no file declares `Ordr`: fields of this type are left as bytes; there is `p.Order`",
        ),
        (
            &[("a.proto", "edition = '2031'; message M { int32 a = 1; }")],
            "edition-newer 1:1 edition 2031 is newer than this program: read with the defaults of 2026; ",
        ),
        (
            &[
                ("a.proto", "syntax='proto3'; import 'b.proto'; message A { B b = 1; }"),
                ("b.proto", "syntax='proto3';\nimport 'a.proto'; message B { A a = 1; }"),
            ],
            "import-cycle 2:1 a.proto imports b.proto imports a.proto again; protoc refuses this",
        ),
        (
            &[
                ("a.proto", "syntax='proto3'; import 'b.proto';\nmessage A { C c = 1; }"),
                ("b.proto", "syntax='proto3'; import 'c.proto'; message B { C c = 1; }"),
                ("c.proto", "syntax='proto3'; message C {}"),
            ],
            "import-unlisted 2:13 `C` is declared in c.proto, which is not imported here; found all the same; protoc \
             asks for the import",
        ),
        (
            &[
                ("a.proto", "syntax='proto3'; import 'b.proto'; message A {}"),
                ("b.proto", "syntax='proto3'; message B {}\nmessage A {}"),
            ],
            "type-duplicate 2:9 `A` is declared in a.proto too; the first one is used",
        ),
        (
            &[(
                "a.proto",
                "syntax='proto2'; message A { extensions 1 to 9; }\nextend A { optional int32 a = 1; optional int32 b = 1; }",
            )],
            "extension-duplicate 2:53 `[b]` has the number 1, which `[a]` of `A` has already; the first one is used",
        ),
        (
            &[
                ("a.proto", "syntax='proto3'; import 'b.proto'; message A {}"),
                ("b.proto", "syntax='proto3'; message B {\n"),
            ],
            "import-broken 1:29 expected a message field, oneof, reserved range, enum, message, option or '}', but reached \
             end of file; it is left out",
        ),
    ];
    for (files, expected) in cases {
        let schema = loaded(files).unwrap();
        assert_eq!(findings(&schema)[0], expected);
    }
}

#[test]
fn a_file_that_is_told_and_imported_is_read_once() {
    let files = [
        ("api/a.proto", "syntax='proto3'; package p; import 'api/b.proto'; message A { B b = 1; }"),
        ("api/b.proto", "syntax='proto3'; package p; message B { int32 x = 1; }"),
        ("copy/api/b.proto", "syntax='proto3'; package p; message B { int32 x = 1; }"),
    ];
    let folder = folder(&files);
    let path = |name: &str| folder.path().join(name);
    for told in [["api/a.proto", "api/b.proto"], ["api/b.proto", "api/a.proto"], ["copy/api/b.proto", "api/a.proto"]] {
        let schema = of(&[path(told[0]), path(told[1])]).unwrap();
        assert_eq!(findings(&schema), [""; 0], "{told:?}");
        assert_eq!(schema.files.len(), 2);
        assert!(schema.message(schema.find_message("B").unwrap()).unwrap().told);
    }
    let below = load(&Request { files: vec!["a.proto".into()], include: vec![path("api"), path("copy")] }).unwrap();
    assert_eq!((findings(&below), below.files), (vec![], vec!["a.proto".to_string()]));
}

#[test]
fn errors_name_file_line_and_column() {
    for (text, expected) in [
        ("syntax = \"proto3\";\nmessage M {\n  int32 a = 1\n}\n", "a.proto:4:1: expected ';' or '[', but found '}'"),
        (
            "syntax = 'proto3';\nmessage M { int32 a = 1; int32 b = 1; }",
            "a.proto:2:36: `b` has the number 1, which `a` of `M` has already; give it a number of its own",
        ),
        ("syntax = 'proto3';\nmessage M {}\nenum M { A = 0; }", "a.proto:2:9: `M` is declared twice in this file"),
        ("edition = '2023';\nmessage M { int32 ä = 1; }", "a.proto:2:19: invalid token"),
        (
            "edition = '2023';\nmessage M { int32 a = 1; optional int32 b = 2; }",
            "a.proto:2:26: `optional` is no word of editions; leave it out; features.field_presence tells what absent means",
        ),
        ("", "a.proto: is empty"),
        ("message M { // \"\n string s = \"x\n }", "a.proto:2:13: a string begins here and does not end in its line"),
    ] {
        assert_eq!(loaded(&[("a.proto", text)]).unwrap_err().to_string(), expected);
    }
    let deep = format!("syntax='proto3'; {}", "message M {".repeat(200_000));
    let error = loaded(&[("a.proto", &deep)]).unwrap_err();
    assert_eq!((error.message.as_str(), error.place.column), ("brackets nest deeper than 64 levels", 17 + 65 * 11));
    let deep = format!("syntax='proto3'; {}", "message M {".repeat(40));
    let error = loaded(&[("a.proto", &deep)]).unwrap_err();
    assert_eq!(error.message, "reached maximum recursion limit for nested messages");
}

#[test]
fn a_file_that_is_not_there_is_told_with_one_that_is() {
    let folder = folder(&[("order.proto", "message M {}")]);
    let of_name = |name: &str| of(&[folder.path().join(name)]).unwrap_err();
    let error = of_name("order.prto");
    assert_eq!(error.message, "no such file");
    assert!(error.help.ends_with("/order.proto exists"), "{}", error.help);
    assert_eq!(of_name("else.proto").help, "");
    assert_eq!(of_name(".").message, "is a folder, not a file");
}

#[test]
fn parts_of_descriptor_sets_never_load_by_halves() {
    let bytes = fs::read(data("suite.desc")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.desc");
    for len in (1..bytes.len()).step_by(7) {
        fs::write(&path, &bytes[..len]).unwrap();
        match of(std::slice::from_ref(&path)) {
            Err(error) => assert!(!error.message.is_empty()),
            // Between two files the set is whole.
            Ok(schema) => assert!(!schema.files.is_empty()),
        }
    }
}

#[test]
fn broken_source_is_an_error_and_never_a_panic() {
    let mut random = 12345u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(random >> 33).unwrap() % below
    };
    let pieces = [
        "{", "}", "[", "]", "<", ">", "(", ")", ";", "=", "\"", "'", "\\", "\n", "//", "/*", "*/", "#", "-", "é", "\0",
        "1", "0x", "1e", ".", ",", "group", "optional", "oneof", "map", "reserved", "edition", "to", "max", "inf",
        "099",
    ];
    for name in ["suite", "pbzoo2", "editions/wire23", "editions/wire24"] {
        let text = fs::read_to_string(data(&format!("{name}.proto"))).unwrap();
        for _ in 0..1500 {
            let mut changed: Vec<char> = text.chars().collect();
            for _ in 0..=next(4) {
                let (at, len) = (next(changed.len()), next(12));
                let end = (at + len).min(changed.len());
                let piece: Vec<char> = pieces[next(pieces.len())].chars().collect();
                changed.splice(at..end, piece);
            }
            let changed: String = changed.into_iter().collect();
            if let Ok((_, source)) = super::source::parse("x.proto", &changed) {
                assert!(source.line_column(&[4, 0, 2, 0, 6]).0 > 0);
            }
        }
    }
}

#[test]
fn sets_tell_imports_apart_and_a_lone_descriptor_is_enough() {
    use super::desc::{BufFile, Field, File, FileSet, Record, Type};
    use prost::Message as _;
    let record = |name: &str, of: Option<&str>| Record {
        name: Some(name.into()),
        field: of
            .map(|of| Field {
                name: Some("f".into()),
                number: Some(1),
                r#type: Some(Type::Message as i32),
                type_name: Some(of.into()),
                ..Field::default()
            })
            .into_iter()
            .collect(),
        ..Record::default()
    };
    let file = |name: &str, record: Record, import: Option<&str>, is_import| File {
        name: Some(name.into()),
        package: Some("p".into()),
        dependency: import.map(str::to_string).into_iter().collect(),
        message_type: vec![record],
        syntax: Some("proto3".into()),
        buf: Some(BufFile { is_import: Some(is_import) }),
        ..File::default()
    };
    let other = file("b.proto", record("B", None), None, true);
    let own = file("a.proto", record("A", Some(".p.B")), Some("b.proto"), false);
    let folder = folder(&[("x", "")]);
    let path = folder.path().join("image.bin");
    fs::write(&path, FileSet { file: vec![other, own.clone()] }.encode_to_vec()).unwrap();
    let schema = of(std::slice::from_ref(&path)).unwrap();
    assert_eq!(findings(&schema), [""; 0]);
    let told = |name: &str| schema.message(schema.find_message(name).unwrap()).unwrap().told;
    assert!(told("A") && !told("B"));
    let mut own = own;
    own.message_type.push(record("T", Some(".google.protobuf.Timestamp")));
    own.dependency.push("google/protobuf/timestamp.proto".into());
    fs::write(&path, own.encode_to_vec()).unwrap();
    let schema = of(&[path]).unwrap();
    let found = findings(&schema);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("import-missing 0:0 \"b.proto\" not found in ")
            && found[0].contains("; `.p.B` stays bytes")
    );
    assert!(found[1].starts_with("type-unresolved 0:0 no file declares `.p.B`"));
}

#[test]
fn thousands_of_slips_are_told_in_a_few_lines_and_in_little_time() {
    let started = std::time::Instant::now();
    let many = |line: &dyn Fn(usize) -> String| (1..=15_000).map(line).collect::<String>();
    let cases = [
        format!("syntax='proto3'; message M {{ {} }}", many(&|n| format!("T{n} f{n} = {n};\n"))),
        format!("syntax='proto3'; {}", many(&|n| format!("import 'a/{n}.proto';\n"))),
        format!("edition='2023'; message M {{ {} }}", many(&|n| format!("map<int32, M> f{n} = {n};\n"))),
        format!(
            "syntax='proto2'; message M {{ extensions 1 to max; }} extend M {{ {} }}",
            many(&|n| format!("optional int32 f{n} = {};\n", n / 2 + 1))
        ),
    ];
    for text in &cases {
        let schema = loaded(&[("a.proto", text)]).unwrap();
        assert!(schema.found.len() <= 130, "{}", schema.found.len());
    }
    let package = format!("syntax='proto3'; package a{};", ".a".repeat(20_000));
    assert_eq!(
        loaded(&[("a.proto", &package)]).unwrap_err().message,
        "the name of the package has more than 100 parts"
    );
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
