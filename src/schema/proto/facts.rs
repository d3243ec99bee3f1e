//! What descriptors say, one fact a function; link.rs puts them together.

use crate::model::num::listed;
use crate::model::schema::FieldKind;
use crate::schema::proto::desc::{self, Type};
use crate::schema::proto::features::{self, Features};
use crate::schema::proto::files::{Import, Loaded};

/// A name in a scope.
pub fn child(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_string() } else { format!("{scope}.{name}") }
}

/// A path with two more steps.
pub fn step(path: &[i32], tag: i32, at: usize) -> Vec<i32> {
    let mut path = path.to_vec();
    path.extend([tag, i32::try_from(at).unwrap_or(i32::MAX)]);
    path
}

/// The name without the package.
pub fn local(full_name: &str, package: &str) -> String {
    let rest = full_name.strip_prefix(package).unwrap_or(full_name);
    rest.strip_prefix('.').unwrap_or(rest).to_string()
}

/// Whether a record is the entry of a map field.
pub fn is_map_entry(record: &desc::Record) -> bool {
    record.options.as_ref().is_some_and(|options| options.map_entry == Some(true))
}

/// What a missing import means for the fields of the file.
pub fn missing_help(import: &Import, names: &[String], loaded: &Loaded) -> String {
    let folder = |import: &str| import.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.replace('/', "."));
    let package = |name: &str| {
        let name = name.strip_prefix('.').unwrap_or(name);
        name.rsplit_once('.').map_or(String::new(), |(package, _)| package.to_string())
    };
    let missing = || loaded.imports.iter().filter(|import| import.file.is_none() && !import.option);
    // By custom the folder is the package; a name that no folder fits may be in any of the files.
    let may_hold = |name: &&String| {
        let fits = |import: &str| !folder(import).is_empty() && folder(import) == package(name);
        !import.option && (fits(&import.name) || !missing().any(|other| fits(&other.name)))
    };
    let names: Vec<String> = names.iter().filter(may_hold).map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return "only options use it, so it is left out; -I DIR adds a place to look".into();
    }
    let listed = match names.get(..3) {
        Some(first) if names.len() > 3 => format!("{} and more", first.join(", ")),
        _ => listed(&names),
    };
    let stay = if names.len() == 1 { "stays" } else { "stay" };
    format!("{listed} {stay} bytes; -I DIR adds a place to look")
}

/// Whether a field's type is an entry that stands beside it.
pub fn names_entry(field: &desc::Field, entry: &desc::Record) -> bool {
    let name = field.type_name.as_deref().unwrap_or("");
    Some(name.rsplit('.').next().unwrap_or(name)) == entry.name.as_deref()
}

/// The features of what stands in a oneof.
pub fn with_oneof(features: Features, record: &desc::Record, oneof: Option<usize>) -> Features {
    let options = oneof.and_then(|at| record.oneof_decl.get(at)).and_then(|oneof| oneof.options.as_ref());
    options.map_or(features, |options| features.with(options.features.as_ref(), &options.uninterpreted))
}

/// The features of a file.
pub fn file_features(file: &desc::File) -> Features {
    let edition = match file.syntax.as_deref() {
        Some("proto3") => features::PROTO3,
        Some("editions") => file.edition.unwrap_or(features::FIRST),
        _ => file.edition.unwrap_or(features::PROTO2),
    };
    let features = Features::of_edition(edition);
    match &file.options {
        Some(options) => features.with(options.features.as_ref(), &options.uninterpreted),
        None => features,
    }
}

/// Positions of a record's oneofs among the real ones, and the names of those.
pub fn oneofs(record: &desc::Record) -> (Vec<Option<u32>>, Vec<String>) {
    let mut synthetic = vec![false; record.oneof_decl.len()];
    for field in record.field.iter().filter(|field| field.proto3_optional == Some(true)) {
        let at = field.oneof_index.and_then(|at| usize::try_from(at).ok());
        if let Some(entry) = at.and_then(|at| synthetic.get_mut(at)) {
            *entry = true;
        }
    }
    let (mut positions, mut names) = (Vec::new(), Vec::new());
    for (oneof, is_synthetic) in record.oneof_decl.iter().zip(synthetic) {
        if is_synthetic {
            positions.push(None);
        } else {
            positions.push(u32::try_from(names.len()).ok());
            names.push(oneof.name.clone().unwrap_or_default());
        }
    }
    (positions, names)
}

/// Ranges of numbers.
pub fn ranges(ranges: &[desc::Range]) -> Vec<(u32, u32)> {
    let number = |number: Option<i32>| u32::try_from(number.unwrap_or(0)).unwrap_or(0);
    ranges.iter().map(|range| (number(range.start), number(range.end))).collect()
}

/// The kind of a type that has no name.
pub fn scalar(ty: Type) -> Option<FieldKind> {
    Some(match ty {
        Type::Double => FieldKind::Double,
        Type::Float => FieldKind::Float,
        Type::Int64 => FieldKind::Int64,
        Type::Uint64 => FieldKind::Uint64,
        Type::Int32 => FieldKind::Int32,
        Type::Fixed64 => FieldKind::Fixed64,
        Type::Fixed32 => FieldKind::Fixed32,
        Type::Bool => FieldKind::Bool,
        Type::String => FieldKind::String,
        Type::Bytes => FieldKind::Bytes,
        Type::Uint32 => FieldKind::Uint32,
        Type::Sfixed32 => FieldKind::Sfixed32,
        Type::Sfixed64 => FieldKind::Sfixed64,
        Type::Sint32 => FieldKind::Sint32,
        Type::Sint64 => FieldKind::Sint64,
        Type::Group | Type::Message | Type::Enum => return None,
    })
}
