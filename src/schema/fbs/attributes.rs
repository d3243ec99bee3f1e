//! Attributes: those that the compiler knows, and those that a file declares.

use crate::schema::fbs::ast::Head;
use crate::schema::fbs::files::Loaded;
use crate::schema::fbs::lexer::Fault;

/// Attributes that need no declaration (flatc 25.12, `known_attributes_`).
pub const KNOWN: [&str; 27] = [
    "deprecated",
    "required",
    "key",
    "shared",
    "hash",
    "id",
    "force_align",
    "bit_flags",
    "original_order",
    "nested_flatbuffer",
    "csharp_partial",
    "streaming",
    "idempotent",
    "cpp_type",
    "cpp_ptr_type",
    "cpp_ptr_type_get",
    "cpp_str_type",
    "cpp_str_flex_ctor",
    "native_inline",
    "native_custom_alloc",
    "native_type",
    "native_type_pack_name",
    "native_default",
    "flexbuffer",
    "private",
    "vector64",
    "offset64",
];

/// Checks that the attributes of a declaration are known or declared.
///
/// # Errors
/// The first that is not.
pub fn check(head: &Head, loaded: &Loaded) -> Result<(), Fault> {
    for attribute in &head.attributes {
        let name = attribute.name.as_str();
        match loaded.declared.get(name) {
            _ if KNOWN.contains(&name) => continue,
            Some(from) if *from < attribute.at => continue,
            Some(_) => {
                return Err(Fault::new(attribute.at, format!("attribute `{name}` is declared only below"))
                    .help("put its declaration in front of its use"));
            }
            None => {}
        }
        let near = crate::model::words::nearest(name, KNOWN.into_iter());
        let help = match near.first() {
            Some(near) => format!("did you mean `{near}`? Attributes of your own are declared: attribute \"{name}\";"),
            None => format!("attributes of your own are declared: attribute \"{name}\";"),
        };
        return Err(Fault::new(attribute.at, format!("attribute `{name}` is not declared")).help(help));
    }
    Ok(())
}

/// Names and values in alphabetical order.
pub fn sorted(head: &Head) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> =
        head.attributes.iter().map(|one| (one.name.clone(), one.value.clone())).collect();
    pairs.sort();
    pairs
}
