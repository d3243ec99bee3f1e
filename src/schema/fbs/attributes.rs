//! Attributes: the 27 that schemas know, and what may stand behind `:`.

use std::collections::BTreeMap;

use crate::schema::fbs::lexer::{Fault, Spot, short};
use crate::schema::fbs::number;
use crate::schema::fbs::syntax::{Value, ValueKind};

/// Attributes that need no `attribute "name";`.
pub const BUILT_IN: [&str; 27] = [
    "bit_flags",
    "cpp_ptr_type",
    "cpp_ptr_type_get",
    "cpp_str_flex_ctor",
    "cpp_str_type",
    "cpp_type",
    "csharp_partial",
    "deprecated",
    "flexbuffer",
    "force_align",
    "hash",
    "id",
    "idempotent",
    "key",
    "native_custom_alloc",
    "native_default",
    "native_inline",
    "native_type",
    "native_type_pack_name",
    "nested_flatbuffer",
    "offset64",
    "original_order",
    "private",
    "required",
    "shared",
    "streaming",
    "vector64",
];

/// The value of an attribute; one without has `0`, as compiled schemas say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The value.
    pub text: String,
    /// It is a string.
    pub is_text: bool,
    /// Where the attribute stands.
    pub at: Spot,
}

/// The attributes of one thing, by name.
#[derive(Debug, Default)]
pub struct Attributes(pub BTreeMap<String, Given>);

impl Attributes {
    /// An attribute.
    pub fn get(&self, name: &str) -> Option<&Given> {
        self.0.get(name)
    }

    /// Whether it is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Names and values, in alphabetical order.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(name, given)| (name.clone(), given.text.clone())).collect()
    }
}

/// What a value is behind an attribute: a string, or an integer of 32 bits.
///
/// # Errors
/// It is something else.
pub fn given(value: Option<&Value>, at: Spot) -> Result<Given, Fault> {
    let Some(value) = value else {
        return Ok(Given { text: "0".to_string(), is_text: false, at });
    };
    match value.kind {
        ValueKind::Text if value.functions.is_empty() => {
            Ok(Given { text: value.text.clone(), is_text: true, at: value.at })
        }
        ValueKind::Int if value.functions.is_empty() => {
            match number::integer(&value.text).and_then(|number| i32::try_from(number).ok()) {
                Some(number) => Ok(Given { text: number.to_string(), is_text: false, at: value.at }),
                None => Err(Fault::new(value.at, format!("`{}` does not fit into 32 bits", short(&value.text)))),
            }
        }
        _ => {
            let message = format!("expected a string or an integer, found `{}`", short(&value.text));
            Err(Fault::helped(value.at, message, "write names in quotes"))
        }
    }
}
