//! Features: what editions made of the differences between proto2 and proto3. Every file is read with them,
//! whatever its syntax.

use crate::schema::proto::desc::{FeatureSet, Uninterpreted};

/// Numbers of editions in descriptors (`google.protobuf.Edition`).
pub const PROTO2: i32 = 998;
/// proto3 among the editions.
pub const PROTO3: i32 = 999;
/// The first edition.
pub const FIRST: i32 = 1000;
/// The newest edition whose defaults are known.
pub const NEWEST: i32 = 1002;

/// Editions by their names in source.
pub const EDITIONS: [(&str, i32); 3] = [("2023", FIRST), ("2024", 1001), ("2026", NEWEST)];

/// The features that matter on the wire, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// What absent means.
    pub presence: FieldPresence,
    /// Unknown numbers are no values of the enumeration.
    pub closed: bool,
    /// Repeated numbers are packed.
    pub packed: bool,
    /// Text must be UTF-8.
    pub utf8: bool,
    /// Messages stand between group tags.
    pub delimited: bool,
}

/// `features.field_presence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPresence {
    /// Absent and default differ.
    Explicit,
    /// They do not.
    Implicit,
    /// Absent is an error.
    Required,
}

impl Features {
    /// The defaults of an edition (`protoc --edition_defaults_out`); newer ones are read as the newest known.
    pub fn of_edition(edition: i32) -> Features {
        let proto3 =
            Features { presence: FieldPresence::Implicit, closed: false, packed: true, utf8: true, delimited: false };
        match edition {
            ..=PROTO2 => Features {
                presence: FieldPresence::Explicit,
                closed: true,
                packed: false,
                utf8: false,
                delimited: false,
            },
            PROTO3 => proto3,
            FIRST.. => Features { presence: FieldPresence::Explicit, ..proto3 },
        }
    }

    /// These features with what is told deeper inside.
    pub fn with(self, told: Option<&FeatureSet>, written: &[Uninterpreted]) -> Features {
        let mut features = told.map_or(self, |told| self.with_set(told));
        for option in written {
            features = features.with_set(&feature_set(option));
        }
        features
    }

    fn with_set(mut self, told: &FeatureSet) -> Features {
        match told.field_presence {
            Some(1) => self.presence = FieldPresence::Explicit,
            Some(2) => self.presence = FieldPresence::Implicit,
            Some(3) => self.presence = FieldPresence::Required,
            _ => {}
        }
        let switch = |told: Option<i32>, on: i32, off: i32, kept: bool| match told {
            Some(number) if number == on => true,
            Some(number) if number == off => false,
            _ => kept,
        };
        self.closed = switch(told.enum_type, 2, 1, self.closed);
        self.packed = switch(told.repeated_field_encoding, 1, 2, self.packed);
        self.utf8 = switch(told.utf8_validation, 2, 3, self.utf8);
        self.delimited = switch(told.message_encoding, 2, 1, self.delimited);
        self
    }
}

/// The features that an option as written tells: `features.x = Y` or `features = { x: Y }`.
fn feature_set(option: &Uninterpreted) -> FeatureSet {
    let mut set = FeatureSet::default();
    let plain: Vec<&str> =
        option.name.iter().filter(|part| !part.is_extension).map(|part| part.name_part.as_str()).collect();
    match (plain.as_slice(), option.name.len()) {
        (["features", name], 2) => put(&mut set, name, option.identifier_value.as_deref().unwrap_or("")),
        (["features"], 1) => {
            let text = option.aggregate_value.as_deref().unwrap_or("");
            // Values of other features (`[pb.cpp] { ... }`) have names of their own, so nesting does not matter.
            let words: Vec<&str> = text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| !word.is_empty())
                .collect();
            for pair in words.windows(2) {
                if let [name, value] = pair {
                    put(&mut set, name, value);
                }
            }
        }
        _ => {}
    }
    set
}

/// Sets a feature by the names of it and of its value.
fn put(set: &mut FeatureSet, name: &str, value: &str) {
    let (place, numbers): (&mut Option<i32>, &[(&str, i32)]) = match name {
        "field_presence" => (&mut set.field_presence, &[("EXPLICIT", 1), ("IMPLICIT", 2), ("LEGACY_REQUIRED", 3)]),
        "enum_type" => (&mut set.enum_type, &[("OPEN", 1), ("CLOSED", 2)]),
        "repeated_field_encoding" => (&mut set.repeated_field_encoding, &[("PACKED", 1), ("EXPANDED", 2)]),
        "utf8_validation" => (&mut set.utf8_validation, &[("VERIFY", 2), ("NONE", 3)]),
        "message_encoding" => (&mut set.message_encoding, &[("LENGTH_PREFIXED", 1), ("DELIMITED", 2)]),
        _ => return,
    };
    if let Some((_, number)) = numbers.iter().find(|(known, _)| *known == value) {
        *place = Some(*number);
    }
}

/// A word that an option as written has: `packed = true`.
pub fn word<'a>(written: &'a [Uninterpreted], name: &str) -> Option<&'a str> {
    let option = written
        .iter()
        .find(|option| matches!(option.name.as_slice(), [part] if !part.is_extension && part.name_part == name))?;
    option.identifier_value.as_deref()
}

/// Whether an option is a feature.
pub fn is_feature(option: &Uninterpreted) -> bool {
    option.name.first().is_some_and(|part| !part.is_extension && part.name_part == "features")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::proto::desc::NamePart;

    fn option(names: &[&str], word: Option<&str>, aggregate: Option<&str>) -> Uninterpreted {
        Uninterpreted {
            name: names
                .iter()
                .map(|name| NamePart { name_part: name.to_string(), is_extension: name.contains('.') })
                .collect(),
            identifier_value: word.map(str::to_string),
            aggregate_value: aggregate.map(str::to_string),
        }
    }

    #[test]
    fn features_are_read_as_options_and_as_aggregates() {
        let base = Features::of_edition(FIRST);
        let one = option(&["features", "field_presence"], Some("IMPLICIT"), None);
        let all = option(&["features"], None, Some("enum_type : CLOSED , [ pb.cpp ] { x : 1 } utf8_validation: NONE"));
        let other = option(&["features", "pb.cpp", "enum_type"], Some("CLOSED"), None);
        assert_eq!(base.with(None, &[one]).presence, FieldPresence::Implicit);
        let features = base.with(None, &[all]);
        assert!(features.closed && !features.utf8 && features.packed);
        assert_eq!(base.with(None, &[other]), base);
    }
}
