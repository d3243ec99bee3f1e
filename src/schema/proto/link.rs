//! Descriptors of all files as one [`Schema`]: names become indexes, features become facts of fields.

use std::collections::{HashMap, HashSet};

use crate::model::schema::{
    Cardinality, Enum, EnumId, Field, FieldKind, Finding, Message, MessageId, Named, Place, Presence, Schema,
    SchemaError,
};
use crate::model::words::slips;
use crate::schema::proto::desc::{self, Label, Type};
use crate::schema::proto::facts::{
    child, file_features, is_map_entry, local, missing_help, names_entry, oneofs, ranges, scalar, step, with_oneof,
};
use crate::schema::proto::features::{self, Features, FieldPresence};
use crate::schema::proto::files::{Files, Import, Loaded};
use crate::schema::proto::names::{Meaning, Names, json_name};

/// Findings of one kind that are told, at most; a schema of thousands of slips says it once.
const TOLD: usize = 64;

/// Names that are compared with one that was found nowhere.
const NEAR: usize = 4096;

/// Parts that the name of a package may have; each one is a scope to look in.
const PACKAGE_PARTS: usize = 100;

/// Field numbers in descriptor.proto, parts of the paths that places have.
mod path {
    pub const FILE_PACKAGE: i32 = 2;
    pub const FILE_IMPORT: i32 = 3;
    pub const FILE_MESSAGE: i32 = 4;
    pub const FILE_ENUM: i32 = 5;
    pub const FILE_EXTENSION: i32 = 7;
    pub const MESSAGE_FIELD: i32 = 2;
    pub const MESSAGE_MESSAGE: i32 = 3;
    pub const MESSAGE_ENUM: i32 = 4;
    pub const MESSAGE_EXTENSION: i32 = 6;
    pub const NAME: i32 = 1;
    pub const FIELD_EXTENDEE: i32 = 2;
    pub const FIELD_NUMBER: i32 = 3;
    pub const FIELD_TYPE_NAME: i32 = 6;
}

/// A record type with what it stands in.
struct Flat<'a> {
    file: usize,
    record: &'a desc::Record,
    /// The record around it.
    outer: Option<&'a desc::Record>,
    full_name: String,
    features: Features,
    path: Vec<i32>,
    id: MessageId,
}

/// An extension field with what it stands in.
struct Extension<'a> {
    file: usize,
    field: &'a desc::Field,
    scope: String,
    features: Features,
    path: Vec<i32>,
}

/// Where a field stands.
struct Scope<'a> {
    file: usize,
    name: &'a str,
    features: Features,
    path: &'a [i32],
    in_map_entry: bool,
}

struct Linker<'a> {
    files: &'a [Loaded],
    names: Names,
    schema: Schema,
    flats: Vec<Flat<'a>>,
    extensions: Vec<Extension<'a>>,
    /// Positions of the fields of extended messages, by number.
    extended: HashMap<MessageId, HashMap<u32, usize>>,
    /// Names that were found nowhere, by file.
    unresolved: HashMap<usize, Vec<String>>,
    /// Pairs of a file and one that it should import.
    unlisted: HashSet<(usize, usize)>,
    found: Vec<Finding>,
}

/// Makes a schema of files.
///
/// # Errors
/// Two fields of a type have one number, or two types of a file one name.
pub fn link(files: Files) -> Result<Schema, SchemaError> {
    let Files { files, told, found, searched } = files;
    let mut linker = Linker {
        files: &files,
        names: Names::new(visible(&files)),
        schema: Schema::default(),
        flats: Vec::new(),
        extensions: Vec::new(),
        extended: HashMap::new(),
        unresolved: HashMap::new(),
        unlisted: HashSet::new(),
        found: Vec::new(),
    };
    (linker.schema.files, linker.schema.found) = (told, found);
    for (at, loaded) in files.iter().enumerate() {
        linker.declare(at, loaded)?;
    }
    linker.fields()?;
    linker.extend();
    let found = linker.missing(&searched);
    let mut schema = linker.schema;
    schema.found.extend(found);
    schema.found.extend(linker.found);
    schema.messages.iter_mut().for_each(Message::index);
    Ok(schema)
}

/// What each file sees: itself, its imports, and what those import publicly.
fn visible(files: &[Loaded]) -> Vec<HashSet<usize>> {
    let imports = |at: usize| files.get(at).map_or(&[][..], |loaded| loaded.imports.as_slice());
    let of = |at: usize| {
        let mut seen = HashSet::from([at]);
        let mut rest: Vec<usize> = imports(at).iter().filter_map(|import| import.file).collect();
        while let Some(next) = rest.pop() {
            if seen.insert(next) {
                rest.extend(imports(next).iter().filter(|import| import.public).filter_map(|import| import.file));
            }
        }
        seen
    };
    (0..files.len()).map(of).collect()
}

impl<'a> Linker<'a> {
    /// Notes all types of a file, in the order of declaration, each before those inside it.
    fn declare(&mut self, file: usize, loaded: &'a Loaded) -> Result<(), SchemaError> {
        let package = loaded.file.package.as_deref().unwrap_or("");
        if package.split('.').count() > PACKAGE_PARTS {
            let message = format!("the name of the package has more than {PACKAGE_PARTS} parts");
            return Err(SchemaError { place: loaded.place(&[path::FILE_PACKAGE]), message, help: String::new() });
        }
        self.names.package(file, package);
        let features = file_features(&loaded.file);
        for (at, one) in loaded.file.enum_type.iter().enumerate() {
            self.enumeration(file, one, package, features, &[path::FILE_ENUM, i32::try_from(at).unwrap_or(0)])?;
        }
        self.note_extensions(file, &loaded.file.extension, package, features, &[], path::FILE_EXTENSION);
        let flat = |record: &'a desc::Record, outer, scope: &str, features: Features, path| {
            let features = match &record.options {
                Some(options) => features.with(options.features.as_ref(), &options.uninterpreted),
                None => features,
            };
            let full_name = child(scope, record.name.as_deref().unwrap_or(""));
            Flat { file, record, outer, full_name, features, path, id: MessageId(0) }
        };
        let top = loaded.file.message_type.iter().enumerate().rev();
        let mut rest: Vec<Flat> =
            top.map(|(at, record)| flat(record, None, package, features, step(&[], path::FILE_MESSAGE, at))).collect();
        while let Some(next) = rest.pop() {
            for (at, one) in next.record.enum_type.iter().enumerate() {
                let path = step(&next.path, path::MESSAGE_ENUM, at);
                self.enumeration(file, one, &next.full_name, next.features, &path)?;
            }
            let extensions = &next.record.extension;
            let path = &next.path;
            self.note_extensions(file, extensions, &next.full_name, next.features, path, path::MESSAGE_EXTENSION);
            for (at, inner) in next.record.nested_type.iter().enumerate().rev() {
                let path = step(&next.path, path::MESSAGE_MESSAGE, at);
                rest.push(flat(inner, Some(next.record), &next.full_name, next.features, path));
            }
            self.message(next)?;
        }
        Ok(())
    }

    fn note_extensions(
        &mut self,
        file: usize,
        fields: &'a [desc::Field],
        scope: &str,
        features: Features,
        path: &[i32],
        tag: i32,
    ) {
        for (at, field) in fields.iter().enumerate() {
            let (scope, path) = (scope.to_string(), step(path, tag, at));
            self.extensions.push(Extension { file, field, scope, features, path });
        }
    }

    fn message(&mut self, mut flat: Flat<'a>) -> Result<(), SchemaError> {
        let Some(loaded) = self.files.get(flat.file) else { return Ok(()) };
        let id = MessageId(u32::try_from(self.schema.messages.len()).unwrap_or(u32::MAX));
        if let Some(first) = self.names.declare(flat.file, &flat.full_name, Named::Message(id)) {
            return self.declared_twice(flat.file, first, &flat.full_name, &flat.path);
        }
        let options = flat.record.options.as_ref();
        let is_set = options.is_some_and(|options| {
            options.message_set_wire_format == Some(true)
                || features::word(&options.uninterpreted, "message_set_wire_format") == Some("true")
        });
        let name = local(&flat.full_name, loaded.file.package.as_deref().unwrap_or(""));
        let mut message = Message::new(flat.full_name.clone(), name);
        message.oneofs = oneofs(flat.record).1;
        message.map_entry = is_map_entry(flat.record);
        message.message_set = is_set;
        message.told = loaded.told;
        message.extension_ranges = ranges(&flat.record.extension_range);
        message.reserved = ranges(&flat.record.reserved_range);
        flat.id = self.schema.add_message(message);
        self.flats.push(flat);
        Ok(())
    }

    fn enumeration(
        &mut self,
        file: usize,
        one: &desc::Enumerated,
        scope: &str,
        features: Features,
        path: &[i32],
    ) -> Result<(), SchemaError> {
        let Some(loaded) = self.files.get(file) else { return Ok(()) };
        let features = match &one.options {
            Some(options) => features.with(options.features.as_ref(), &options.uninterpreted),
            None => features,
        };
        let full_name = child(scope, one.name.as_deref().unwrap_or(""));
        let id = EnumId(u32::try_from(self.schema.enums.len()).unwrap_or(u32::MAX));
        if let Some(first) = self.names.declare(file, &full_name, Named::Enum(id)) {
            return self.declared_twice(file, first, &full_name, path);
        }
        let values = one.value.iter().map(|value| (value.number.unwrap_or(0), value.name.clone().unwrap_or_default()));
        let name = local(&full_name, loaded.file.package.as_deref().unwrap_or(""));
        self.schema.add_enum(Enum::new(full_name, name, values.collect(), features.closed));
        Ok(())
    }

    /// A name that stands for two types: an error in one file, a warning in two.
    fn declared_twice(&mut self, file: usize, first: usize, name: &str, path: &[i32]) -> Result<(), SchemaError> {
        let Some(loaded) = self.files.get(file) else { return Ok(()) };
        if file != first && self.is_told_enough("type-duplicate") {
            return Ok(());
        }
        let mut path = path.to_vec();
        path.push(path::NAME);
        let place = loaded.place(&path);
        if file == first {
            let message = format!("`{name}` is declared twice in this file");
            return Err(SchemaError { place, message, help: String::new() });
        }
        let other = self.files.get(first).map_or("", |loaded| loaded.shown.as_str());
        let message = format!("`{name}` is declared in {other} too");
        self.tell("type-duplicate", place, message, "the first one is used".into());
        Ok(())
    }

    fn tell(&mut self, code: &'static str, place: Place, message: String, help: String) {
        if !self.is_told_enough(code) {
            self.found.push(Finding { code, place, message, help });
        }
    }

    /// Whether there are as many findings of a code as are told.
    fn is_told_enough(&self, code: &str) -> bool {
        self.found.iter().filter(|finding| finding.code == code).count() >= TOLD
    }

    /// Fills in the fields of all messages.
    fn fields(&mut self) -> Result<(), SchemaError> {
        for flat in std::mem::take(&mut self.flats) {
            let (positions, _) = oneofs(flat.record);
            let mut numbers: HashMap<u32, &str> = HashMap::new();
            let mut fields = Vec::with_capacity(flat.record.field.len());
            for (at, field) in flat.record.field.iter().enumerate() {
                let path = step(&flat.path, path::MESSAGE_FIELD, at);
                let oneof = field.oneof_index.and_then(|at| usize::try_from(at).ok());
                let scope = Scope {
                    file: flat.file,
                    name: &flat.full_name,
                    features: with_oneof(flat.features, flat.record, oneof),
                    path: &path,
                    in_map_entry: is_map_entry(flat.record),
                };
                let number = self.number(field, &scope)?;
                let mut made = self.field(field, number, &scope, flat.outer.zip(Some(flat.record)));
                made.oneof = oneof.and_then(|at| positions.get(at).copied().flatten());
                if oneof.is_some() && made.presence == Presence::Implicit {
                    made.presence = Presence::Explicit;
                }
                if let Some(other) = numbers.insert(number, field.name.as_deref().unwrap_or("")) {
                    return Err(self.number_twice(&made.name, number, other, &scope));
                }
                fields.push(made);
            }
            if let Some(message) = self.schema.messages.get_mut(usize::try_from(flat.id.0).unwrap_or(usize::MAX)) {
                message.fields = fields;
            }
        }
        Ok(())
    }

    /// A field's number; the parser has checked those of source.
    fn number(&self, field: &desc::Field, scope: &Scope) -> Result<u32, SchemaError> {
        let number = field.number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        number.ok_or_else(|| SchemaError {
            place: self.place(scope, path::FIELD_NUMBER),
            message: format!("field `{}` of `{}` has no number", field.name.as_deref().unwrap_or(""), scope.name),
            help: String::new(),
        })
    }

    fn number_twice(&self, name: &str, number: u32, other: &str, scope: &Scope) -> SchemaError {
        SchemaError {
            place: self.place(scope, path::FIELD_NUMBER),
            message: format!("`{name}` has the number {number}, which `{other}` of `{}` has already", scope.name),
            help: "give it a number of its own".into(),
        }
    }

    fn place(&self, scope: &Scope, part: i32) -> Place {
        let mut path = scope.path.to_vec();
        path.push(part);
        self.files.get(scope.file).map(|loaded| loaded.place(&path)).unwrap_or_default()
    }

    fn field(
        &mut self,
        field: &desc::Field,
        number: u32,
        scope: &Scope,
        map: Option<(&desc::Record, &desc::Record)>,
    ) -> Field {
        let options = field.options.as_ref();
        let features = match options {
            Some(options) => scope.features.with(options.features.as_ref(), &options.uninterpreted),
            None => scope.features,
        };
        let told = |interpreted: fn(&desc::FieldOptions) -> Option<bool>, name: &str| {
            let options = options?;
            interpreted(options).or_else(|| features::word(&options.uninterpreted, name).map(|word| word == "true"))
        };
        let (kind, is_map) = self.kind(field, features, scope, map);
        let is_repeated = field.label == Some(i32::from(Label::Repeated));
        let is_message = matches!(kind, FieldKind::Message(_) | FieldKind::Group(_) | FieldKind::Opaque(_));
        let presence = match features.presence {
            _ if is_repeated => Presence::Implicit,
            _ if field.label == Some(i32::from(Label::Required)) => Presence::Required,
            FieldPresence::Required => Presence::Required,
            FieldPresence::Implicit if !is_message => Presence::Implicit,
            _ => Presence::Explicit,
        };
        let cardinality = match (is_repeated, is_map) {
            (true, true) => Cardinality::Map,
            (true, false) => Cardinality::Repeated,
            (false, _) => Cardinality::Singular,
        };
        let name = field.name.clone().unwrap_or_default();
        Field {
            number,
            json: field.json_name.clone().unwrap_or_else(|| json_name(&name)),
            packed: is_repeated
                && kind.is_packable()
                && told(|options| options.packed, "packed").unwrap_or(features.packed),
            utf8: kind == FieldKind::String && features.utf8,
            deprecated: told(|options| options.deprecated, "deprecated") == Some(true),
            default: field.default_value.clone(),
            name,
            kind,
            cardinality,
            presence,
            oneof: None,
            extension: false,
        }
    }

    /// What a value of a field is, and whether it is the entry of a map.
    fn kind(
        &mut self,
        field: &desc::Field,
        features: Features,
        scope: &Scope,
        map: Option<(&desc::Record, &desc::Record)>,
    ) -> (FieldKind, bool) {
        let ty = field.r#type.and_then(|number| Type::try_from(number).ok());
        if let Some(scalar) = ty.and_then(scalar) {
            return (scalar, false);
        }
        let name = field.type_name.as_deref().unwrap_or("");
        let Some(meaning) = self.names.resolve(scope.file, scope.name, name) else {
            self.unresolved(name, scope, map);
            return (FieldKind::Opaque(name.strip_prefix('.').unwrap_or(name).to_string()), false);
        };
        self.check_import(&meaning, name, scope, map);
        match meaning.named {
            Named::Enum(id) => (FieldKind::Enum(id), false),
            Named::Message(id) => {
                let is_entry = self.schema.message(id).is_some_and(|message| message.map_entry);
                // Maps keep their lengths whatever the encoding of messages is, and so do their values.
                let delimited = features.delimited && !is_entry && !scope.in_map_entry;
                let is_group = ty == Some(Type::Group) || delimited;
                (if is_group { FieldKind::Group(id) } else { FieldKind::Message(id) }, is_entry)
            }
        }
    }

    /// Where a field's type is written: for the value of a map, that is where the map is.
    fn type_place(&self, scope: &Scope, map: Option<(&desc::Record, &desc::Record)>) -> Place {
        if let (true, Some((outer, entry))) = (scope.in_map_entry, map)
            && let Some(at) = outer.field.iter().position(|field| names_entry(field, entry))
            && let Some(of_outer) = scope.path.len().checked_sub(4).and_then(|len| scope.path.get(..len))
        {
            let mut path = step(of_outer, path::MESSAGE_FIELD, at);
            path.push(path::FIELD_TYPE_NAME);
            return self.files.get(scope.file).map(|loaded| loaded.place(&path)).unwrap_or_default();
        }
        self.place(scope, path::FIELD_TYPE_NAME)
    }

    /// Tells a name that no file declares, once a file.
    fn unresolved(&mut self, name: &str, scope: &Scope, map: Option<(&desc::Record, &desc::Record)>) {
        if let Some(help) = self.first_unresolved(name, scope.file) {
            let place = self.type_place(scope, map);
            let message = format!("no file declares `{name}`: fields of this type are left as bytes");
            self.tell("type-unresolved", place, message, help);
        }
    }

    /// Notes a name that was not found; what to say of it the first time.
    fn first_unresolved(&mut self, name: &str, file: usize) -> Option<String> {
        let names = self.unresolved.entry(file).or_default();
        if names.iter().any(|known| known == name) || names.len() > TOLD {
            return None;
        }
        names.push(name.to_string());
        let lacks = |loaded: &Loaded| loaded.imports.iter().any(|import| import.file.is_none() && !import.option);
        if self.files.get(file).is_some_and(lacks) {
            return Some("one of its imports was not found".into());
        }
        Some(self.near(name).map(|near| format!("there is `{near}`")).unwrap_or_default())
    }

    /// A type whose name without its scopes differs by a slip or two.
    fn near(&self, name: &str) -> Option<&str> {
        let last = |name: &'_ str| name.rsplit('.').next().unwrap_or("").to_lowercase();
        let word = last(name);
        let allowed = (word.chars().count() / 3).min(2);
        let near = self.names.all().take(NEAR).map(|full| (slips(&word, &last(full)), full));
        near.filter(|(slips, _)| *slips <= allowed).min().map(|(_, full)| full)
    }

    /// Tells a file whose types are used without its being imported.
    fn check_import(
        &mut self,
        meaning: &Meaning,
        name: &str,
        scope: &Scope,
        map: Option<(&desc::Record, &desc::Record)>,
    ) {
        if meaning.imported || !self.unlisted.insert((scope.file, meaning.file)) {
            return;
        }
        let place = self.type_place(scope, map);
        let other = self.files.get(meaning.file).map_or("", |loaded| loaded.shown.as_str());
        let message = format!("`{name}` is declared in {other}, which is not imported here");
        self.tell("import-unlisted", place, message, "found all the same; protoc asks for the import".into());
    }

    /// Adds extension fields to the messages that they extend.
    fn extend(&mut self) {
        for extension in std::mem::take(&mut self.extensions) {
            let scope = Scope {
                file: extension.file,
                name: &extension.scope,
                features: extension.features,
                path: &extension.path,
                in_map_entry: false,
            };
            let Ok(number) = self.number(extension.field, &scope) else { continue };
            let extendee = extension.field.extendee.as_deref().unwrap_or("");
            let of = match self.names.resolve(extension.file, &extension.scope, extendee) {
                Some(Meaning { named: Named::Message(id), .. }) => id,
                _ => {
                    self.extends_nothing(extendee, &scope);
                    continue;
                }
            };
            let mut made = self.field(extension.field, number, &scope, None);
            let full_name = child(&extension.scope, &made.name);
            made.name = format!("[{full_name}]");
            made.json = made.name.clone();
            made.extension = true;
            if made.presence == Presence::Implicit && made.cardinality == Cardinality::Singular {
                made.presence = Presence::Explicit;
            }
            self.add_extension(of, made, &scope);
        }
    }

    fn add_extension(&mut self, of: MessageId, made: Field, scope: &Scope) {
        let at = usize::try_from(of.0).unwrap_or(usize::MAX);
        let Some(message) = self.schema.messages.get_mut(at) else { return };
        let numbers = self.extended.entry(of).or_insert_with(|| {
            message.fields.iter().enumerate().map(|(at, field)| (field.number, at)).collect::<HashMap<u32, usize>>()
        });
        let Some(other) = numbers.get(&made.number).and_then(|at| message.fields.get(*at)) else {
            numbers.insert(made.number, message.fields.len());
            message.fields.push(made);
            return;
        };
        if other.name != made.name {
            let message = format!(
                "`{}` has the number {}, which `{}` of `{}` has already",
                made.name, made.number, other.name, message.full_name
            );
            if !self.is_told_enough("extension-duplicate") {
                let place = self.place(scope, path::FIELD_NUMBER);
                self.tell("extension-duplicate", place, message, "the first one is used".into());
            }
        }
    }

    fn extends_nothing(&mut self, extendee: &str, scope: &Scope) {
        if let Some(help) = self.first_unresolved(extendee, scope.file) {
            let place = self.place(scope, path::FIELD_EXTENDEE);
            let message = format!("no file declares `{extendee}`: its extensions here are left out");
            self.tell("type-unresolved", place, message, help);
        }
    }

    /// Tells imports that were not found, with the types that are missing for it.
    fn missing(&self, searched: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        for (at, loaded) in self.files.iter().enumerate() {
            let names = self.unresolved.get(&at).map_or(&[][..], Vec::as_slice);
            let is_missing = |import: &Import| import.file.is_none() && !import.broken;
            for (place, import) in loaded.imports.iter().enumerate().filter(|(_, import)| is_missing(import)) {
                if found.len() >= TOLD {
                    return found;
                }
                found.push(Finding {
                    code: "import-missing",
                    place: loaded.place(&step(&[], path::FILE_IMPORT, place)),
                    message: format!("\"{}\" not found in {searched}", import.name.escape_debug()),
                    help: missing_help(import, names, loaded),
                });
            }
        }
        found
    }
}
