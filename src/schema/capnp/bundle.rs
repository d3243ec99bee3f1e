//! The files that come with Cap'n Proto and are imported as `/capnp/...`.

/// Name and text of a bundled file, by the name it is imported with.
pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, _)| *known == name).copied()
}

/// What the results of methods declared `-> stream` are.
pub const STREAM: &str = "/capnp/stream.capnp";

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("bundled", $name)))),*]
    };
}

/// Names and texts.
const FILES: &[(&str, &str)] = bundled![
    "/capnp/c++.capnp",
    "/capnp/compat/json.capnp",
    "/capnp/persistent.capnp",
    "/capnp/rpc.capnp",
    "/capnp/rpc-twoparty.capnp",
    "/capnp/schema.capnp",
    "/capnp/stream.capnp",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::capnp::files::resolved;
    use crate::schema::capnp::parse;

    #[test]
    fn every_bundled_file_can_be_read_and_imports_bundled_files_only() {
        for (name, text_of) in FILES {
            let file = parse::parse(text_of).unwrap();
            assert!(file.id.is_some(), "{name}");
            for import in file.imports {
                assert!(find(&resolved(name, &import.text)).is_some(), "{name} imports {}", import.text);
            }
        }
    }
}
