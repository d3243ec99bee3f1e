//! One schema file: what it is by its bytes, and the sentence for what cannot be read.

use std::path::Path;

use prost::Message as _;

use crate::schema::file::{Problem, bytes, problem};
use crate::schema::proto::desc;

/// What a file holds.
#[derive(Debug)]
pub enum Content {
    /// Source.
    Source(String),
    /// Descriptors.
    Set(desc::FileSet),
}

/// Reads a file.
///
/// # Errors
/// It is not there, or is no schema.
pub fn read(path: &Path) -> Result<Content, Problem> {
    content(path, bytes(path, ".proto")?)
}

fn content(path: &Path, bytes: Vec<u8>) -> Result<Content, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(problem(if bytes.is_empty() { "is empty" } else { "holds only white space" }, ""));
    }
    // Both a set and a single descriptor begin with field 1; so does source that begins with an empty line.
    if bytes.first() == Some(&b'\n')
        && let Some(set) = descriptors(&bytes)
    {
        return Ok(Content::Set(set));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !is_binary(&text) => {
            let text = text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text);
            match other_language(path, &text) {
                Some(other) => Err(problem(format!("is {other}, not a Protobuf schema"), READS)),
                None => Ok(Content::Source(text)),
            }
        }
        Ok(text) => Err(binary(path, text.as_bytes())),
        Err(error) => Err(binary(path, error.as_bytes())),
    }
}

/// Whether text is none: short descriptors may be UTF-8 by chance.
fn is_binary(text: &str) -> bool {
    let odd = |byte: u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && byte != 0x0b;
    text.contains('\0') || (text.starts_with('\n') && text.bytes().any(odd))
}

/// What can be read.
const READS: &str = "expected a .proto file, or descriptors as `protoc -o` or `buf build -o` write them";

/// A set of descriptors, or a single one. Any bytes may be a message of unknown fields, so files need names.
fn descriptors(bytes: &[u8]) -> Option<desc::FileSet> {
    let named = |file: &desc::File| file.name.as_ref().is_some_and(|name| !name.is_empty());
    if let Ok(set) = desc::FileSet::decode(bytes)
        && !set.file.is_empty()
        && set.file.iter().all(named)
    {
        return Some(set);
    }
    let one = desc::File::decode(bytes).ok()?;
    let declares = !one.message_type.is_empty() || !one.enum_type.is_empty() || !one.extension.is_empty();
    (named(&one) && declares).then(|| desc::FileSet { file: vec![one] })
}

/// The sentence for bytes that are no text.
fn binary(path: &Path, bytes: &[u8]) -> Problem {
    let is_set = ["desc", "pb", "binpb", "protoset", "fds"].iter().any(|ending| has_ending(path, ending));
    // The name of the first file stands near the start of every set.
    let start = bytes.get(..bytes.len().min(300)).unwrap_or(bytes);
    let names_a_file = start.windows(6).any(|part| part == b".proto");
    if bytes.first() == Some(&b'\n') && (is_set || names_a_file) {
        let error =
            desc::FileSet::decode(bytes).err().map_or_else(|| "its files have no names".into(), |e| e.to_string());
        let reason = error.rsplit(": ").next().unwrap_or("").to_string();
        return problem(format!("the descriptors in it are cut or damaged: {reason}"), "write the file again");
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return problem("is compressed with gzip", "unpack it first");
    }
    if bytes.get(4..8) == Some(b"BFBS") {
        return problem("is a FlatBuffers schema in binary form, not a Protobuf schema", READS);
    }
    match std::str::from_utf8(bytes) {
        Err(error) if is_mostly_text(bytes) => {
            let at = error.valid_up_to();
            let line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count().saturating_add(1);
            let byte = bytes.get(at).copied().unwrap_or(0);
            problem(format!("is not UTF-8: byte 0x{byte:02x} in line {line}"), "save it as UTF-8")
        }
        _ => problem("is neither text nor a set of descriptors", READS),
    }
}

fn is_mostly_text(bytes: &[u8]) -> bool {
    let odd = bytes.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count();
    odd.saturating_mul(50) < bytes.len()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Another schema language, by the file's name or its first words.
fn other_language(path: &Path, text: &str) -> Option<&'static str> {
    if has_ending(path, "proto") {
        return None;
    }
    for (ending, language) in [
        ("fbs", "a FlatBuffers schema"),
        ("capnp", "a Cap'n Proto schema"),
        ("thrift", "a Thrift schema"),
        ("avsc", "an Avro schema"),
        ("json", "JSON"),
    ] {
        if has_ending(path, ending) {
            return Some(language);
        }
    }
    let text = text.trim_start();
    match text.as_bytes().first() {
        Some(b'{') => Some("JSON"),
        Some(b'@') if text.starts_with("@0x") => Some("a Cap'n Proto schema"),
        Some(b'<') => Some("XML or HTML"),
        _ if STATEMENTS.contains(&first_word(text)) => None,
        _ => Some("text of another kind"),
    }
}

/// Words that a statement of a schema begins with; an empty one stands for a semicolon.
const STATEMENTS: [&str; 12] =
    ["", "syntax", "edition", "package", "import", "option", "message", "enum", "extend", "service", "export", "local"];

/// The first word of source behind its comments.
fn first_word(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match rest.get(..2) {
            Some("//") => rest.split_once('\n').map_or("", |(_, behind)| behind),
            Some("/*") => rest.split_once("*/").map_or("", |(_, behind)| behind),
            _ => break,
        };
        rest = behind.trim_start();
    }
    if rest.starts_with(';') {
        return "";
    }
    let word = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    if word.is_empty() { "?" } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, bytes: &[u8]) -> String {
        match content(Path::new(name), bytes.to_vec()) {
            Ok(Content::Source(text)) => format!("source {text}"),
            Ok(Content::Set(set)) => format!("set of {}", set.file.len()),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn what_a_file_is_shows_in_its_bytes() {
        let file = desc::File { name: Some("a.proto".into()), ..desc::File::default() };
        let with = desc::File { message_type: vec![desc::Record::default()], ..file.clone() };
        let set = desc::FileSet { file: vec![file] }.encode_to_vec();
        for (name, bytes, expected) in [
            ("a.proto", &b"\xef\xbb\xbfmessage M {}"[..], "source message M {}"),
            ("a.proto", b"\n\nmessage M {}", "source \n\nmessage M {}"),
            ("x.bin", &set, "set of 1"),
            ("x.bin", &with.encode_to_vec(), "set of 1"),
            ("x.desc", &set[..set.len() - 1], "the descriptors in it are cut or damaged: buffer underflow"),
            ("a.proto", b"", "is empty"),
            ("a.proto", b" \n", "holds only white space"),
            ("a.fbs", b"table T {}", "is a FlatBuffers schema, not a Protobuf schema"),
            ("a.txt", b"/* a */ // b\nmessage M {}", "source /* a */ // b\nmessage M {}"),
            ("a.md", b"# A title\nIt's text", "is text of another kind, not a Protobuf schema"),
            ("a", b"{\"a\": 1}", "is JSON, not a Protobuf schema"),
            ("a", b"@0xdeadbeef;", "is a Cap'n Proto schema, not a Protobuf schema"),
            ("a.proto", b"message M {}\n// caf\xe9", "is not UTF-8: byte 0xe9 in line 2"),
            ("a.proto", b"\x00\x01\x02\xff", "is neither text nor a set of descriptors"),
            ("a", b"a\0b", "is neither text nor a set of descriptors"),
        ] {
            assert_eq!(told(name, bytes), expected, "{name}");
        }
    }
}
