//! Declarations of all files as one [`Flat`]: names resolved, slots and values numbered, structs laid out.

use std::collections::HashMap;

use crate::model::flat::{Call, EnumId, Flat, Object, Of, Service};
use crate::model::schema::{MessageId, Schema, SchemaError};
use crate::model::words::nearest;
use crate::schema::fbs::ast::{self, Base, Head, Name};
use crate::schema::fbs::files::{Files, Loaded};
use crate::schema::fbs::lexer::Fault;
use crate::schema::fbs::order::{self, Uses};
use crate::schema::fbs::{attributes, enums, fields, layout};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A table or struct.
    Object(MessageId),
    /// An enumeration or union.
    Enum(EnumId),
}

/// The names of all files.
pub struct Names<'a> {
    /// Files, told ones first.
    pub files: &'a Files,
    all: HashMap<String, Named>,
    uses: Uses,
    /// Whether each object is a struct.
    structs: Vec<bool>,
    /// Whether each enumeration is a union.
    unions: Vec<bool>,
}

/// Links the files of a schema.
///
/// # Errors
/// The first declaration that contradicts itself or another one.
pub fn link(mut files: Files) -> Result<Schema, SchemaError> {
    let mut flat = Flat::default();
    if !files.sources.is_empty() {
        flat = linked(&files)?;
    }
    for compiled in std::mem::take(&mut files.compiled) {
        merge(&mut flat, compiled);
    }
    files.missing.append(&mut files.found);
    Ok(Schema::of_flat(flat, files.told, files.missing))
}

fn linked(files: &Files) -> Result<Flat, SchemaError> {
    let names = Names::of(files)?;
    let mut flat = Flat::default();
    for (loaded, one) in each(files, |file| &file.enums) {
        let made = enums::make(one, &names, loaded).map_err(|fault| loaded.error(fault))?;
        flat.enums.push(made);
    }
    for (loaded, object) in each(files, |file| &file.objects) {
        flat.objects.push(declared(object, loaded).map_err(|fault| loaded.error(fault))?);
    }
    for (at, (loaded, object)) in each(files, |file| &file.objects).enumerate() {
        let fields = fields::make(object, &names, &flat, loaded).map_err(|fault| loaded.error(fault))?;
        if let Some(made) = flat.objects.get_mut(at) {
            made.fields = fields;
        }
    }
    let wrong = |(at, message): (usize, String)| {
        let (loaded, object) = each(files, |file| &file.objects).nth(at)?;
        Some(loaded.error(Fault::new(object.head.at, message)))
    };
    if let Err(fault) = layout::all(&mut flat) {
        return Err(wrong(fault).unwrap_or_else(|| SchemaError {
            place: Default::default(),
            message: "a struct contains itself".into(),
            help: String::new(),
        }));
    }
    for (loaded, service) in each(files, |file| &file.services) {
        flat.services.push(self::service(service, &names, loaded).map_err(|fault| loaded.error(fault))?);
    }
    for loaded in files.sources.iter().filter(|loaded| loaded.told) {
        heads(&mut flat, loaded, &names).map_err(|fault| loaded.error(fault))?;
    }
    Ok(flat)
}

/// All declarations of a kind, with their files.
fn each<'a, T>(
    files: &'a Files,
    list: fn(&'a ast::File) -> &'a Vec<T>,
) -> impl Iterator<Item = (&'a Loaded, &'a T)> + 'a {
    files.sources.iter().flat_map(move |loaded| list(&loaded.file).iter().map(move |one| (loaded, one)))
}

/// An object without its fields.
fn declared(object: &ast::Object, loaded: &Loaded) -> Result<Object, Fault> {
    let head = &object.head;
    attributes::check(head, loaded)?;
    Ok(Object {
        name: head.full(),
        is_struct: object.is_struct,
        align: 1,
        size: 0,
        fields: Vec::new(),
        original_order: head.has("original_order"),
        attributes: attributes::sorted(head),
        doc: head.doc.clone(),
        told: loaded.told,
        place: loaded.place(head.at),
    })
}

fn service(service: &ast::Service, names: &Names<'_>, loaded: &Loaded) -> Result<Service, Fault> {
    let mut calls: Vec<Call> = Vec::new();
    for (head, request, response) in &service.calls {
        if calls.iter().any(|call| call.name == head.name) {
            return Err(Fault::new(head.at, format!("`{}` has two calls `{}`", service.head.name, head.name)));
        }
        attributes::check(head, loaded)?;
        calls.push(Call {
            name: head.name.clone(),
            request: names.table(request, loaded)?,
            response: names.table(response, loaded)?,
            attributes: attributes::sorted(head),
            doc: head.doc.clone(),
        });
    }
    Ok(Service { name: service.head.full(), calls, doc: service.head.doc.clone() })
}

/// Root type, identifier and extension of a file that was told; those of included files do not count.
fn heads(flat: &mut Flat, loaded: &Loaded, names: &Names<'_>) -> Result<(), Fault> {
    for root in &loaded.file.roots {
        flat.root = Some(names.table(root, loaded)?);
    }
    flat.identifier = loaded.file.identifier.or(flat.identifier);
    flat.extension = loaded.file.extension.clone().or_else(|| flat.extension.take());
    Ok(())
}

impl<'a> Names<'a> {
    fn of(files: &'a Files) -> Result<Names<'a>, SchemaError> {
        let uses = order::uses(files)?;
        let mut names = Names { files, all: HashMap::new(), uses, structs: Vec::new(), unions: Vec::new() };
        for (loaded, one) in each(files, |file| &file.enums) {
            let id = Named::Enum(EnumId(number(names.unions.len())));
            names.unions.push(one.is_union);
            names.declare(&one.head, id).map_err(|fault| loaded.error(fault))?;
        }
        for (loaded, object) in each(files, |file| &file.objects) {
            let id = Named::Object(MessageId(number(names.structs.len())));
            names.structs.push(object.is_struct);
            names.declare(&object.head, id).map_err(|fault| loaded.error(fault))?;
        }
        Ok(names)
    }

    fn declare(&mut self, head: &Head, id: Named) -> Result<(), Fault> {
        if self.all.insert(head.full(), id).is_some() {
            return Err(Fault::new(head.at, format!("`{}` is declared twice", head.full())));
        }
        Ok(())
    }

    /// What a name stands for at its place in a file.
    pub fn find(&self, name: &Name, loaded: &Loaded) -> Result<Named, Fault> {
        let found = self.uses.get(&(loaded.number, name.at)).copied();
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &Name) -> Fault {
        let declared = order::around(name).find_map(|full| self.all.get(&full).map(|found| (full, found)));
        if let Some((full, found)) = declared {
            let fault = Fault::new(name.at, format!("no type `{}` up to here", name.text));
            return fault.help(match found {
                Named::Enum(_) => format!("`{full}` is declared below; enumerations and unions come before their use"),
                Named::Object(_) => format!(
                    "`{full}` is declared below; use it behind that, or by a name that leads there: alone, or in full"
                ),
            });
        }
        if name.text == "string" {
            return Fault::new(name.at, "no type `string` can be a member by itself")
                .help("give it a name: `Text: string`");
        }
        let last = |name: &'_ str| name.rsplit('.').next().unwrap_or("").len();
        let wanted = name.text.rsplit('.').next().unwrap_or(&name.text);
        let known = self.all.keys().map(|known| known.get(known.len().saturating_sub(last(known))..).unwrap_or(known));
        let mut near = nearest(wanted, known);
        near.dedup();
        let help = match (self.files.missing.first(), near.first()) {
            (Some(missing), _) => format!("{}: {}", missing.place, missing.message),
            (None, Some(near)) => format!("near it: `{near}`"),
            (None, None) => String::new(),
        };
        Fault::new(name.at, format!("no type `{}`", name.text)).help(help)
    }

    /// What a type is.
    pub fn of_base(&self, base: &Base, loaded: &Loaded) -> Result<Of, Fault> {
        match base {
            Base::Scalar(scalar) => Ok(Of::Scalar(*scalar)),
            Base::Text => Ok(Of::Text),
            Base::Named(name) => Ok(match self.find(name, loaded)? {
                Named::Object(id) if self.is_struct(id) => Of::Struct(id),
                Named::Object(id) => Of::Table(id),
                Named::Enum(id) if self.is_union(id) => Of::Union(id),
                Named::Enum(id) => Of::Enum(id),
            }),
        }
    }

    fn is_struct(&self, id: MessageId) -> bool {
        usize::try_from(id.0).ok().and_then(|at| self.structs.get(at)).copied().unwrap_or(false)
    }

    fn is_union(&self, id: EnumId) -> bool {
        usize::try_from(id.0).ok().and_then(|at| self.unions.get(at)).copied().unwrap_or(false)
    }

    /// A table by name.
    pub fn table(&self, name: &Name, loaded: &Loaded) -> Result<MessageId, Fault> {
        match self.find(name, loaded)? {
            Named::Object(id) if !self.is_struct(id) => Ok(id),
            Named::Object(_) => Err(Fault::new(name.at, format!("`{}` is a struct, a table is asked for", name.text))),
            Named::Enum(_) => Err(Fault::new(name.at, format!("`{}` is no table", name.text))),
        }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Puts a compiled schema behind what there is; types of the same name stay as they are.
fn merge(flat: &mut Flat, other: Flat) {
    if flat.objects.is_empty() && flat.enums.is_empty() {
        *flat = other;
        return;
    }
    let (objects, enums) = (number(flat.objects.len()), number(flat.enums.len()));
    let of = |of: Of| match of {
        Of::Struct(id) => Of::Struct(MessageId(id.0.saturating_add(objects))),
        Of::Table(id) => Of::Table(MessageId(id.0.saturating_add(objects))),
        Of::Enum(id) => Of::Enum(EnumId(id.0.saturating_add(enums))),
        Of::Union(id) => Of::Union(EnumId(id.0.saturating_add(enums))),
        Of::UnionType(id) => Of::UnionType(EnumId(id.0.saturating_add(enums))),
        other => other,
    };
    for mut object in other.objects {
        for field in &mut object.fields {
            field.ty.of = of(field.ty.of);
            field.nested = field.nested.map(|id| MessageId(id.0.saturating_add(objects)));
        }
        flat.objects.push(object);
    }
    for mut one in other.enums {
        for value in &mut one.values {
            value.member = value.member.map(of);
        }
        flat.enums.push(one);
    }
    flat.root = flat.root.or(other.root.map(|id| MessageId(id.0.saturating_add(objects))));
    flat.identifier = flat.identifier.or(other.identifier);
    flat.extension = flat.extension.take().or(other.extension);
}
