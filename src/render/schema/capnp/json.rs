//! Cap'n Proto types as JSON. Ids are text, as numbers of 64 bits do not survive all readers.

use serde_json::{Value, json};

use crate::model::capnp::{Annotation, Capnp, Enum, Field, FieldKind, Interface, Struct, Type};
use crate::model::schema::MessageId;
use crate::render::schema::View;
use crate::render::schema::capnp::{places, shown, values};

/// The types as JSON.
pub fn json(capnp: &Capnp, view: &View) -> Value {
    let shown = shown::shown(capnp, view);
    let structs = (0u32..).map(MessageId).zip(&capnp.structs).filter(|(id, _)| shown.structs.contains(id));
    let enums = capnp.enums.iter().enumerate().filter(|(at, _)| shown.enums.contains(at));
    let interfaces = capnp.interfaces.iter().enumerate().filter(|(at, _)| shown.interfaces.contains(at));
    let is_shown = |told: bool| view.root.is_none() && (told || view.all);
    let files =
        capnp.files.iter().filter(|one| is_shown(one.told)).map(
            |one| json!({"name": one.name, "id": hex(one.id), "annotations": annotations(capnp, &one.annotations)}),
        );
    let consts = capnp.consts.iter().filter(|one| is_shown(one.told)).map(|one| {
        json!({
            "name": one.name, "id": hex(one.id), "type": capnp.type_name(one.ty),
            "value": values::json(capnp, one.ty, &one.value), "doc": one.doc,
        })
    });
    let declared = capnp.annotations.iter().filter(|one| is_shown(one.told)).map(|one| {
        json!({
            "name": one.name, "id": hex(one.id), "type": capnp.type_name(one.ty), "targets": one.targets,
            "doc": one.doc,
        })
    });
    json!({
        "language": "capnp",
        "files": files.collect::<Vec<_>>(),
        "structs": structs.map(|(_, one)| structure(capnp, one)).collect::<Vec<_>>(),
        "enums": enums.map(|(_, one)| enumeration(capnp, one)).collect::<Vec<_>>(),
        "interfaces": interfaces.map(|(_, one)| interface(capnp, one)).collect::<Vec<_>>(),
        "consts": consts.collect::<Vec<_>>(),
        "annotations": declared.collect::<Vec<_>>(),
    })
}

fn hex(id: u64) -> String {
    format!("0x{id:016x}")
}

fn annotations(capnp: &Capnp, all: &[Annotation]) -> Value {
    let one = |one: &Annotation| {
        // Source calls it by what it is imported as.
        let declared = capnp.annotations.iter().find(|known| known.id == one.id).map_or(&one.name, |known| &known.name);
        json!({"id": hex(one.id), "name": declared, "value": values::json(capnp, one.ty, &one.value)})
    };
    all.iter().map(one).collect::<Vec<_>>().into()
}

fn structure(capnp: &Capnp, one: &Struct) -> Value {
    json!({
        "name": one.name, "id": hex(one.id), "group": one.is_group, "data_words": one.data_words,
        "pointers": one.pointers, "tag": one.tag.map(|tag| places::json(Type::Uint16, tag)),
        "members": one.members, "parameters": one.parameters,
        "written_out_of": one.instance_of.and_then(|of| capnp.record(of)).map(|of| of.name.clone()),
        "fields": one.fields.iter().map(|field| self::field(capnp, field)).collect::<Vec<_>>(),
        "annotations": annotations(capnp, &one.annotations), "doc": one.doc,
    })
}

fn field(capnp: &Capnp, field: &Field) -> Value {
    let mut value = json!({
        "name": field.name, "ordinal": field.ordinal, "order": field.order, "tag": field.tag,
        "annotations": annotations(capnp, &field.annotations), "doc": field.doc,
    });
    let more = match &field.kind {
        FieldKind::Group(id) => json!({"group": capnp.type_name(Type::Struct(*id))}),
        FieldKind::Slot(slot) => json!({
            "type": capnp.type_name(slot.ty), "place": places::json(slot.ty, slot.offset),
            "default": values::json(capnp, slot.ty, &slot.default), "explicit_default": slot.explicit,
        }),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn enumeration(capnp: &Capnp, one: &Enum) -> Value {
    let values = one.enumerants.iter().enumerate().map(|(number, value)| {
        json!({
            "name": value.name, "number": number, "order": value.order,
            "annotations": annotations(capnp, &value.annotations), "doc": value.doc,
        })
    });
    json!({
        "name": one.name, "id": hex(one.id), "enumerants": values.collect::<Vec<_>>(),
        "annotations": annotations(capnp, &one.annotations), "doc": one.doc,
    })
}

fn interface(capnp: &Capnp, one: &Interface) -> Value {
    let extends = one.extends.iter().filter_map(|id| capnp.interface(*id)).map(|one| one.name.as_str());
    let methods = one.methods.iter().enumerate().map(|(number, method)| {
        json!({
            "name": method.name, "number": number, "order": method.order,
            "parameters": capnp.type_name(Type::Struct(method.parameters)),
            "results": capnp.type_name(Type::Struct(method.results)), "streaming": method.streaming,
            "annotations": annotations(capnp, &method.annotations), "doc": method.doc,
        })
    });
    json!({
        "name": one.name, "id": hex(one.id), "extends": extends.collect::<Vec<_>>(),
        "methods": methods.collect::<Vec<_>>(), "annotations": annotations(capnp, &one.annotations), "doc": one.doc,
    })
}
