//! The declarations of a file and of all that it includes as one [`Flat`].
//!
//! Names are looked up in the order in which flatc reads the files, since it decides what a name means: tables
//! and structs may be named before they are declared, enumerations may not, and what is named without namespace
//! before its declaration is the next type of that name, whatever its namespace.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::flat::{Call, EnumId, Flat, Object, Of, Scalar, Service};
use crate::model::schema::{Finding, MessageId, Place, SchemaError};
use crate::model::words::nearest;
use crate::schema::fbs::attributes::{Attributes, BUILT_IN, given};
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::layout;
use crate::schema::fbs::lexer::{Fault, Spot, short};
use crate::schema::fbs::merge::Moves;
use crate::schema::fbs::syntax::{Attribute, Item, Name, Record, ServiceDecl};

/// Links files; those that are included stand before those that include them, the one that was told is last.
///
/// # Errors
/// What flatc refuses, at its place.
pub fn link(files: &[Loaded]) -> Result<(Flat, Vec<Finding>), SchemaError> {
    let mut linker = Linker::new(files);
    for (at, file) in files.iter().enumerate() {
        linker.file = at;
        linker.open(at.saturating_add(1) == files.len());
        for item in &file.source.items {
            linker.item(item).map_err(|fault| linker.error(fault))?;
        }
    }
    if let Some((file, at)) = files.last().and_then(|file| file.source.data.map(|at| (file, at)))
        && linker.flat.root.is_none()
    {
        let place = Place { file: file.shown.clone(), line: at.line, column: at.column };
        let message = "data in JSON behind a schema without root type".to_string();
        return Err(SchemaError { place, message, help: "say what it is of: root_type T;".to_string() });
    }
    linker.finish()
}

/// A type that was named and not declared yet.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    name: String,
    place: Place,
}

/// A name that some file declares, whether or not it counts yet.
#[derive(Debug)]
struct Declared {
    what: &'static str,
    place: Place,
}

pub(super) struct Linker<'a> {
    pub(super) flat: Flat,
    pub(super) file: usize,
    pub(super) namespace: String,
    files: &'a [Loaded],
    /// Tables and structs by full name; those that are not declared yet by the name that was written.
    objects: HashMap<String, usize>,
    /// Of each object the first mention, until it is declared.
    wanted: Vec<Option<Wanted>>,
    /// Objects in the order of their declarations.
    order: Vec<usize>,
    enums: HashMap<String, EnumId>,
    attributes: HashSet<String>,
    declared: BTreeMap<String, Declared>,
    found: Vec<Finding>,
}

impl<'a> Linker<'a> {
    fn new(files: &'a [Loaded]) -> Linker<'a> {
        Linker {
            flat: Flat::default(),
            file: 0,
            namespace: String::new(),
            files,
            objects: HashMap::new(),
            wanted: Vec::new(),
            order: Vec::new(),
            enums: HashMap::new(),
            attributes: BUILT_IN.iter().map(|name| (*name).to_string()).collect(),
            declared: declared(files),
            found: Vec::new(),
        }
    }

    /// A file begins without namespace; root type, identifier and extension are those of the file that was told.
    fn open(&mut self, told: bool) {
        self.namespace.clear();
        if told {
            self.flat.root = None;
            self.flat.identifier = None;
            self.flat.extension = None;
        }
    }

    pub(super) fn place(&self, at: Spot) -> Place {
        let file = self.files.get(self.file).map_or(String::new(), |file| file.shown.clone());
        Place { file, line: at.line, column: at.column }
    }

    pub(super) fn is_told(&self) -> bool {
        self.files.get(self.file).is_some_and(|file| file.told)
    }

    fn error(&self, fault: Fault) -> SchemaError {
        SchemaError { place: self.place(fault.at), message: fault.message, help: fault.help }
    }

    /// A finding in the file that is read.
    pub(super) fn find(&mut self, code: &'static str, at: Spot, message: String, help: &str) {
        self.found.push(Finding { code, place: self.place(at), message, help: help.to_string() });
    }

    pub(super) fn full(&self, name: &str) -> String {
        if self.namespace.is_empty() { name.to_string() } else { format!("{}.{name}", self.namespace) }
    }

    fn item(&mut self, item: &Item) -> Result<(), Fault> {
        match item {
            Item::Namespace(name) => self.namespace.clone_from(name),
            Item::Record(record) => self.record(record)?,
            Item::Enum(one) => self.enumeration(one)?,
            Item::Root(name) => self.root(name)?,
            Item::Identifier(text) => {
                let bytes: [u8; 4] = text.text.as_bytes().try_into().map_err(|_| {
                    let len = text.text.len();
                    Fault::new(text.at, format!("a file identifier of {len} bytes, expected exactly 4 characters"))
                })?;
                self.flat.identifier = Some(bytes);
            }
            Item::Extension(text) => {
                self.flat.extension = Some(text.text.clone()).filter(|text| !text.is_empty());
            }
            Item::Attribute(name) => {
                self.attributes.insert(name.text.clone());
            }
            Item::Service(service) => self.service(service)?,
        }
        Ok(())
    }

    /// The names that a name may stand for, from the innermost namespace outwards; `skip` inner ones are left out.
    fn scopes(&self, name: &str, skip: usize) -> Vec<String> {
        let parts: Vec<&str> = self.namespace.split('.').filter(|part| !part.is_empty()).collect();
        let Some(inner) = parts.len().checked_sub(skip) else { return Vec::new() };
        let scope = |len: usize| parts.get(..len).unwrap_or(&[]).join(".");
        let full = |scope: String| if scope.is_empty() { name.to_string() } else { format!("{scope}.{name}") };
        (0..=inner).rev().map(|len| full(scope(len))).collect()
    }

    /// An enumeration or union by a name in the namespace that is open.
    pub(super) fn enum_named(&self, name: &str) -> Option<EnumId> {
        self.scopes(name, 0).iter().find_map(|name| self.enums.get(name).copied())
    }

    fn is_wanted(&self, at: usize) -> bool {
        self.wanted.get(at).is_some_and(Option::is_some)
    }

    /// A table or struct by a name in the namespace that is open.
    pub(super) fn object_named(&self, name: &str) -> Option<usize> {
        let wanted = |key: &str| self.objects.get(key).copied().filter(|at| self.is_wanted(*at));
        let full = self.full(name);
        let outer = || self.scopes(name, 1).iter().find_map(|name| self.objects.get(name).copied());
        wanted(name).or_else(|| self.objects.get(&full).copied()).or_else(outer)
    }

    /// A table or struct that is used; it may be declared later.
    pub(super) fn use_object(&mut self, name: &Name) -> usize {
        if let Some(at) = self.object_named(&name.text) {
            return at;
        }
        let at = self.flat.objects.len();
        self.flat.objects.push(Object { align: 1, ..Object::default() });
        self.wanted.push(Some(Wanted { name: name.text.clone(), place: self.place(name.at) }));
        self.objects.insert(name.text.clone(), at);
        at
    }

    /// Whether a table or struct is declared.
    pub(super) fn is_declared(&self, id: MessageId) -> bool {
        usize::try_from(id.0).is_ok_and(|at| !self.is_wanted(at))
    }

    /// A new table or struct, or one that was named before.
    fn define(&mut self, name: &Name) -> Result<usize, Fault> {
        let full = self.full(&name.text);
        let known = |key: &str| self.objects.get(key).copied();
        if self.enums.contains_key(&full) {
            return Err(self.twice(&full, name.at));
        }
        let at = match known(&name.text).filter(|at| self.is_wanted(*at)) {
            Some(at) => {
                if full != name.text {
                    if known(&full).is_some_and(|at| !self.is_wanted(at)) {
                        return Err(self.twice(&full, name.at));
                    }
                    self.objects.remove(&name.text);
                }
                at
            }
            None => match known(&full) {
                Some(at) if self.is_wanted(at) => at,
                Some(_) => return Err(self.twice(&full, name.at)),
                None => {
                    self.flat.objects.push(Object { align: 1, ..Object::default() });
                    self.wanted.push(None);
                    self.flat.objects.len().saturating_sub(1)
                }
            },
        };
        if let Some(wanted) = self.wanted.get_mut(at) {
            *wanted = None;
        }
        self.objects.insert(full, at);
        self.order.push(at);
        Ok(at)
    }

    /// The fault of a name that stands for something already.
    pub(super) fn twice(&self, full: &str, at: Spot) -> Fault {
        let message = match self.declared.get(full) {
            Some(first) if first.place != self.place(at) => {
                format!("`{full}` is declared already, as {} at {}", first.what, first.place)
            }
            _ => format!("`{full}` is declared already"),
        };
        Fault::helped(at, message, "give it another name or namespace")
    }

    /// Adds an enumeration under its name.
    pub(super) fn add_enum(&mut self, full: &str, one: crate::model::flat::Enum) {
        let id = EnumId(u32::try_from(self.flat.enums.len()).unwrap_or(u32::MAX));
        self.enums.insert(full.to_string(), id);
        self.flat.enums.push(one);
    }

    /// Whether a declared type has this full name.
    pub(super) fn is_taken(&self, full: &str) -> bool {
        self.enums.contains_key(full) || self.objects.get(full).is_some_and(|at| !self.is_wanted(*at))
    }

    /// What a name in the place of a type stands for.
    pub(super) fn of(&mut self, name: &Name) -> Of {
        let scalar = |scalar: &Scalar| scalar.name() == name.text || scalar.sized_name() == name.text;
        if let Some(scalar) = Scalar::ALL.into_iter().find(|one| scalar(one)) {
            return Of::Scalar(scalar);
        }
        if name.text == "string" {
            return Of::Text;
        }
        if let Some(id) = self.enum_named(&name.text) {
            let is_union = self.flat.enumeration(id).is_some_and(|one| one.is_union);
            return if is_union { Of::Union(id) } else { Of::Enum(id) };
        }
        let at = self.use_object(name);
        self.object_of(at)
    }

    /// The type of an object as far as it is known: what is not declared yet counts as a table.
    fn object_of(&self, at: usize) -> Of {
        let id = MessageId(u32::try_from(at).unwrap_or(u32::MAX));
        let is_struct = self.flat.objects.get(at).is_some_and(|object| object.is_struct);
        if is_struct { Of::Struct(id) } else { Of::Table(id) }
    }

    /// Attributes as a map.
    pub(super) fn attributes(&mut self, list: &[Attribute]) -> Result<Attributes, Fault> {
        let mut all = Attributes::default();
        for one in list {
            let name = &one.name.text;
            if !self.attributes.contains(name) {
                return Err(self.undeclared(&one.name));
            }
            let value = given(one.value.as_ref(), one.name.at)?;
            if all.has(name) {
                let message = format!("attribute `{name}` stands here twice: the first one counts");
                self.find("attribute-twice", one.name.at, message, "");
                continue;
            }
            all.0.insert(name.clone(), value);
        }
        Ok(all)
    }

    fn undeclared(&self, name: &Name) -> Fault {
        let near = nearest(&name.text, self.attributes.iter().map(String::as_str));
        let help = match near.first() {
            Some(near) => format!(
                "did you mean `{near}`? Own attributes are declared first: attribute \"{}\";",
                short(&name.text)
            ),
            None => format!("declare it first: attribute \"{}\";", short(&name.text)),
        };
        let message = format!("attribute `{}` is not declared", short(&name.text));
        Fault::helped(name.at, message, self.missing().map_or(help, |missing| missing))
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        let at = self.define(&record.name)?;
        let full = self.full(&record.name.text);
        let attributes = self.attributes(&record.attributes)?;
        let is_struct = record.is_struct;
        if let Some(object) = self.flat.objects.get_mut(at) {
            object.name.clone_from(&full);
            object.is_struct = is_struct;
        }
        let members = self.members(record, at)?;
        let mut fields = members.fields;
        let (mut size, mut align) = (0, 1);
        if is_struct {
            (size, align) = members.layout.finish(&attributes, fields.last_mut(), record.name.at)?;
        } else {
            let spots = |name: &str| spot_of(record, name);
            layout::slots(&mut fields, &spots, record.name.at)?;
        }
        if size > layout::OFFSETS {
            let message = format!("`{full}` has {size} bytes: flatc keeps offsets in a struct in 16 bits");
            self.find("struct-large", record.name.at, message, "keep structs below 65536 bytes");
        }
        let object = Object {
            name: full,
            is_struct,
            align,
            size,
            fields,
            original_order: attributes.has("original_order"),
            attributes: attributes.pairs(),
            doc: record.docs.clone(),
            told: self.is_told(),
            place: self.place(record.name.at),
        };
        if let Some(place) = self.flat.objects.get_mut(at) {
            *place = object;
        }
        Ok(())
    }

    fn root(&mut self, name: &Name) -> Result<(), Fault> {
        let known = |key: &str| self.objects.get(key).copied();
        let Some(at) = known(&name.text).or_else(|| known(&self.full(&name.text))) else {
            return Err(self.unknown("root type", &name.text, name.at));
        };
        if self.flat.objects.get(at).is_some_and(|object| object.is_struct) {
            let message = format!("the root type `{}` is a struct, expected a table", name.text);
            return Err(Fault::helped(name.at, message, "wrap the struct in a table"));
        }
        self.flat.root = Some(MessageId(u32::try_from(at).unwrap_or(u32::MAX)));
        Ok(())
    }

    fn service(&mut self, decl: &ServiceDecl) -> Result<(), Fault> {
        let full = self.full(&decl.name.text);
        if self.flat.services.iter().any(|known| known.name == full) {
            return Err(Fault::new(decl.name.at, format!("service `{full}` is declared already")));
        }
        self.attributes(&decl.attributes)?;
        let mut calls: Vec<Call> = Vec::new();
        for call in &decl.calls {
            if calls.iter().any(|known| known.name == call.name.text) {
                return Err(Fault::new(call.name.at, format!("call `{}` is declared already", call.name.text)));
            }
            let (request, response) = (self.message(&call.request)?, self.message(&call.response)?);
            let attributes = self.attributes(&call.attributes)?.pairs();
            calls.push(Call { name: call.name.text.clone(), request, response, attributes, doc: call.docs.clone() });
        }
        self.flat.services.push(Service { name: full, calls, doc: decl.docs.clone() });
        Ok(())
    }

    /// What a call sends or brings back: a table.
    fn message(&mut self, name: &Name) -> Result<MessageId, Fault> {
        if self.enum_named(&name.text).is_none() {
            let at = self.use_object(name);
            if let Of::Table(id) = self.object_of(at) {
                return Ok(id);
            }
        }
        Err(Fault::new(name.at, format!("`{}` is no table: calls send tables", name.text)))
    }

    /// The fault of a name that stands for nothing.
    pub(super) fn unknown(&self, what: &str, name: &str, at: Spot) -> Fault {
        Fault::helped(at, format!("no {what} `{}`", short(name)), self.advice(name, Some(at)))
    }

    /// What to try for a name that stands for nothing.
    fn advice(&self, name: &str, at: Option<Spot>) -> String {
        let same = |full: &str| full == name || full.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
        if let Some((full, found)) = self.declared.iter().find(|(full, _)| same(full)) {
            let what = found.what;
            let here = self.files.get(self.file).is_some_and(|file| file.shown == found.place.file);
            let is_below = here && at.is_some_and(|at| found.place.line > at.line);
            if is_below || full == name {
                let place = if here { format!("in line {}", found.place.line) } else { format!("at {}", found.place) };
                return format!("{what} `{full}` is declared {place}, behind its use: move it up");
            }
            return format!("there is {what} `{full}`: write it with its namespace");
        }
        if let Some(missing) = self.missing() {
            return missing;
        }
        let names = self.declared.keys().map(|full| full.rsplit('.').next().unwrap_or(full));
        let builtin = Scalar::ALL.iter().flat_map(|scalar| [scalar.name(), scalar.sized_name()]).chain(["string"]);
        if builtin.clone().any(|known| known == name) {
            return "a member of a union that is no table or struct needs a name: text:string".to_string();
        }
        // A name of one letter is near to all of them.
        let is_word = name.chars().nth(1).is_some();
        match nearest(name, names.chain(builtin)).first().filter(|_| is_word) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it, or include the file that does".to_string(),
        }
    }

    /// The includes that are not there, in a sentence.
    fn missing(&self) -> Option<String> {
        let all = self.files.iter().flat_map(|file| file.missing.iter().map(move |name| (file, name)));
        let mut all = all.map(|(file, name)| {
            format!("\"{}\", included at {}:{}, is not found", short(&name.text), file.shown, name.at.line)
        });
        let first = all.next()?;
        Some(match all.count() {
            0 => format!("{first}: tell its folder with -I"),
            more => format!("{first}, nor are {more} others: tell their folder with -I"),
        })
    }

    fn finish(mut self) -> Result<(Flat, Vec<Finding>), SchemaError> {
        if let Some(wanted) = self.wanted.iter().flatten().next() {
            let message = format!("no type `{}`", short(&wanted.name));
            let spot = Spot { line: wanted.place.line, column: wanted.place.column };
            return Err(SchemaError {
                place: wanted.place.clone(),
                message,
                help: self.advice(&wanted.name, Some(spot)),
            });
        }
        self.by_kind();
        let mut objects = vec![0; self.flat.objects.len()];
        for (to, from) in self.order.iter().enumerate() {
            if let Some(entry) = objects.get_mut(*from) {
                *entry = to;
            }
        }
        let moves = Moves { objects, enums: (0..self.flat.enums.len()).collect() };
        moves.apply(&mut self.flat);
        let mut sorted: Vec<(usize, Object)> =
            moves.objects.into_iter().zip(std::mem::take(&mut self.flat.objects)).collect();
        sorted.sort_by_key(|(at, _)| *at);
        self.flat.objects = sorted.into_iter().map(|(_, object)| object).collect();
        for (file, name) in self.files.iter().flat_map(|file| file.missing.iter().map(move |name| (file, name))) {
            let place = Place { file: file.shown.clone(), line: name.at.line, column: name.at.column };
            let message = format!("include \"{}\" is not found; nothing needs it", short(&name.text));
            let help = "flatc refuses this; tell its folder with -I".to_string();
            self.found.push(Finding { code: "include-missing", place, message, help });
        }
        Ok((self.flat, self.found))
    }

    /// Types that were named before they were declared counted as tables: the structs among them.
    fn by_kind(&mut self) {
        let is_struct: Vec<bool> = self.flat.objects.iter().map(|object| object.is_struct).collect();
        let right = |of: &mut Of| {
            if let Of::Table(id) | Of::Struct(id) = *of {
                let is_struct = usize::try_from(id.0).ok().and_then(|at| is_struct.get(at)) == Some(&true);
                *of = if is_struct { Of::Struct(id) } else { Of::Table(id) };
            }
        };
        for field in self.flat.objects.iter_mut().flat_map(|object| object.fields.iter_mut()) {
            right(&mut field.ty.of);
        }
        for value in self.flat.enums.iter_mut().flat_map(|one| one.values.iter_mut()) {
            value.member.iter_mut().for_each(right);
        }
    }
}

/// Where a field is declared; of the type of a union where the union is.
fn spot_of(record: &Record, name: &str) -> Spot {
    let by = |name: &str| record.fields.iter().find(|field| field.name.text == name).map(|field| field.name.at);
    by(name).or_else(|| by(name.strip_suffix("_type")?)).unwrap_or(record.name.at)
}

/// All types that files declare, by full name.
fn declared(files: &[Loaded]) -> BTreeMap<String, Declared> {
    let mut all = BTreeMap::new();
    for file in files {
        let mut namespace = "";
        for item in &file.source.items {
            let (name, what) = match item {
                Item::Namespace(name) => {
                    namespace = name;
                    continue;
                }
                Item::Record(record) => (&record.name, if record.is_struct { "struct" } else { "table" }),
                Item::Enum(one) => (&one.name, if one.is_union { "union" } else { "enum" }),
                _ => continue,
            };
            let full = if namespace.is_empty() { name.text.clone() } else { format!("{namespace}.{}", name.text) };
            let place = Place { file: file.shown.clone(), line: name.at.line, column: name.at.column };
            all.entry(full).or_insert(Declared { what, place });
        }
    }
    all
}
