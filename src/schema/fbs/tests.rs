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
