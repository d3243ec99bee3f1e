//! Full names: what the files declare, and what a name means where it stands.

use std::collections::{HashMap, HashSet};

use crate::model::schema::Named;

/// Declared names and the files that declare them.
#[derive(Debug, Default)]
pub struct Names {
    types: HashMap<String, (Named, usize)>,
    packages: HashMap<String, HashSet<usize>>,
    /// Files that each file sees: itself, its imports, and what those import publicly.
    visible: Vec<HashSet<usize>>,
}

/// What a name was found to mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The type.
    pub named: Named,
    /// The file that declares it.
    pub file: usize,
    /// That file is imported where the name stands.
    pub imported: bool,
}

impl Names {
    /// Names that stand in files that see each other so.
    pub fn new(visible: Vec<HashSet<usize>>) -> Names {
        Names { visible, ..Names::default() }
    }

    /// Notes the package of a file, and the packages around it.
    pub fn package(&mut self, file: usize, package: &str) {
        let mut name = package;
        while !name.is_empty() {
            self.packages.entry(name.to_string()).or_default().insert(file);
            name = name.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
    }

    /// Notes a type; the file that declares it already, if there is one.
    pub fn declare(&mut self, file: usize, full_name: &str, named: Named) -> Option<usize> {
        if let Some((_, first)) = self.types.get(full_name) {
            return Some(*first);
        }
        self.types.insert(full_name.to_string(), (named, file));
        None
    }

    /// All names of types.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// What a name means in a scope of a file: in what the file imports, else in any file.
    pub fn resolve(&self, file: usize, scope: &str, name: &str) -> Option<Meaning> {
        let seen = self.visible.get(file)?;
        let meaning = |(named, of): (Named, usize), imported| Meaning { named, file: of, imported };
        self.lookup(scope, name, &|of| seen.contains(&of))
            .map(|found| meaning(found, true))
            .or_else(|| self.lookup(scope, name, &|_| true).map(|found| meaning(found, false)))
    }

    /// Scopes from the innermost outwards; the first one that has the name's first part decides. protoc gives
    /// up if the rest is not there; here the search goes on.
    fn lookup(&self, scope: &str, name: &str, sees: &dyn Fn(usize) -> bool) -> Option<(Named, usize)> {
        let exact = |full: &str| self.types.get(full).copied().filter(|(_, file)| sees(*file));
        if let Some(full) = name.strip_prefix('.') {
            return exact(full);
        }
        let first = name.split('.').next().unwrap_or(name);
        let mut scope = scope;
        loop {
            let within = |part: &str| if scope.is_empty() { part.to_string() } else { format!("{scope}.{part}") };
            let opens =
                first.len() == name.len() || exact(&within(first)).is_some() || self.is_package(&within(first), sees);
            if let Some(found) = Some(within(name)).filter(|_| opens).and_then(|full| exact(&full)) {
                return Some(found);
            }
            if scope.is_empty() {
                return None;
            }
            scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
    }

    fn is_package(&self, name: &str, sees: &dyn Fn(usize) -> bool) -> bool {
        self.packages.get(name).is_some_and(|files| files.iter().any(|file| sees(*file)))
    }
}

/// A field's name in JSON: each letter behind an underscore is a capital, underscores go.
pub fn json_name(name: &str) -> String {
    let mut json = String::with_capacity(name.len());
    let mut capital = false;
    for c in name.chars() {
        match c {
            '_' => capital = true,
            _ if capital => {
                json.push(c.to_ascii_uppercase());
                capital = false;
            }
            _ => json.push(c),
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::MessageId;

    #[test]
    fn the_innermost_scope_that_one_can_see_decides() {
        let mut names = Names::new(vec![HashSet::from([0]), HashSet::from([0, 1])]);
        names.package(0, "a.b");
        names.package(1, "a");
        for (id, (file, name)) in [(0, "a.b.M"), (0, "a.b.M.N"), (1, "a.N"), (1, "a.M")].into_iter().enumerate() {
            let id = MessageId(u32::try_from(id).unwrap());
            assert_eq!(names.declare(file, name, Named::Message(id)), None);
        }
        assert_eq!(names.declare(1, "a.N", Named::Message(MessageId(9))), Some(1));
        for (file, scope, name, id, imported) in [
            (0, "a.b.M", "N", 1, true),
            (0, "a.b", "N", 2, false),
            (1, "a", "b.M", 0, true),
            (1, "a.x", "b.M.N", 1, true),
            (1, "", ".a.M", 3, true),
            (0, "a.b.M", "M", 0, true),
            (0, "a.b.M", "a.M", 3, false),
        ] {
            let meaning = names.resolve(file, scope, name).unwrap();
            let named = Named::Message(MessageId(id));
            assert_eq!((meaning.named, meaning.imported), (named, imported), "{name} in {scope}");
        }
        assert_eq!(names.resolve(0, "a.b", "X"), None);
        assert_eq!(names.resolve(0, "a.b", ".M"), None);
    }

    #[test]
    fn names_in_json_are_those_of_protoc() {
        for (name, json) in [
            ("two_words", "twoWords"),
            ("f_1", "f1"),
            ("double__underscore", "doubleUnderscore"),
            ("trailing_", "trailing"),
            ("_lead", "Lead"),
            ("CAPS_NAME", "CAPSNAME"),
            ("camelAlready", "camelAlready"),
        ] {
            assert_eq!(json_name(name), json);
        }
    }
}
