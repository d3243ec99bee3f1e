//! `.proto` source as a descriptor, with the places where things stand.

use prost::Message as _;
use prost_types::source_code_info::Location;

use crate::schema::proto::desc::{self, Field, FieldOptions, File, Record};
use crate::schema::proto::editions::{self, Edits, Rewritten};
use crate::schema::proto::features;
use crate::schema::proto::lexer::{self, Fault};

/// A source that was read: finds lines and columns.
#[derive(Debug)]
pub struct Source {
    /// The text as it was read.
    text: String,
    /// The text as it was parsed, if it was rewritten.
    parsed: Option<(String, Edits)>,
    /// Places by path in the descriptor, sorted.
    locations: Vec<Location>,
    /// The edition's name where it is newer than all known ones.
    pub newer: Option<String>,
}

impl Source {
    /// Line and column of what a path in the descriptor leads to, or of what it stands in.
    pub fn line_column(&self, path: &[i32]) -> (usize, usize) {
        let mut path = path;
        loop {
            let found = self.locations.binary_search_by(|location| location.path.as_slice().cmp(path));
            if let Some(location) = found.ok().and_then(|at| self.locations.get(at)) {
                return line_column(&self.text, self.offset(&location.span));
            }
            match path.split_last() {
                Some((_, rest)) => path = rest,
                None => return (1, 1),
            }
        }
    }

    /// Where the source stands that a span of the parser tells.
    fn offset(&self, span: &[i32]) -> usize {
        let number = |at: usize| span.get(at).and_then(|number| usize::try_from(*number).ok()).unwrap_or(0);
        let text = self.parsed.as_ref().map_or(self.text.as_str(), |(text, _)| text);
        let line = match number(0).checked_sub(1) {
            Some(before) => text.match_indices('\n').nth(before).map_or(0, |(at, _)| at.saturating_add(1)),
            None => 0,
        };
        let at = line.saturating_add(number(1));
        self.parsed.as_ref().map_or(at, |(_, edits)| edits.original(at))
    }
}

/// Line and column, both counted from 1, of a place in a text.
pub fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = (0..=at.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or("");
    let line = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap_or("");
    (line.saturating_add(1), last.chars().count().saturating_add(1))
}

/// Reads source.
///
/// # Errors
/// What is wrong in it, and where.
pub fn parse(name: &str, text: &str) -> Result<(File, Source), Fault> {
    let tokens = lexer::tokens(text)?;
    let rewritten = editions::rewrite(text, &tokens)?;
    let parsed = rewritten.as_ref().map_or(text, |rewritten| rewritten.text.as_str());
    let mut proto = protox_parse::parse(name, parsed).map_err(|error| fault(&error, text, rewritten.as_ref()))?;
    let locations = proto.source_code_info.take().map(|info| info.location).unwrap_or_default();
    // What the parser made is valid, and so are its bytes.
    let mut file = File::decode(proto.encode_to_vec().as_slice()).map_err(|error| Fault {
        at: 0,
        message: error.to_string(),
        help: "",
    })?;
    complete(&mut file);
    let (mut newer, mut both) = (None, None);
    if let Some(rewritten) = rewritten {
        if rewritten.edition.is_some() {
            file.syntax = Some("editions".into());
            file.edition = rewritten.edition;
        }
        newer = rewritten.newer;
        both = Some((rewritten.text, rewritten.edits));
    }
    Ok((file, Source { text: text.to_string(), parsed: both, locations, newer }))
}

/// An error of the parser in our words.
fn fault(error: &protox_parse::ParseError, text: &str, rewritten: Option<&Rewritten>) -> Fault {
    let told = error.to_string();
    let at = match error.span() {
        Some(span) => rewritten.map_or(span.start, |rewritten| rewritten.edits.original(span.start)),
        None if told.starts_with("multiple package") => second_package(text),
        None => text.trim_end().len(),
    };
    let is_import = text.get(at..).is_some_and(|rest| rest.starts_with(['"', '\'']));
    let help = match told.as_str() {
        _ if told.starts_with("fields must have a label") => {
            "only proto3 and editions leave it out: `syntax` tells which"
        }
        _ if told.starts_with("unknown syntax") => "there are proto2, proto3 and `edition = \"2023\"` and later",
        "invalid group name" if is_import => "it may not hold backslashes, empty parts, `.` or `..`",
        "invalid group name" => "it begins with a capital letter",
        _ => "",
    };
    let message = match told.as_str() {
        _ if told.starts_with("fields must have a label") => {
            "expected a label (optional, repeated or required): proto2 asks for one".to_string()
        }
        "invalid group name" if is_import => "no path that an import may have".to_string(),
        _ => one_line(&told),
    };
    Fault { at, message, help }
}

/// A message of the parser may hold a comment or a long string.
fn one_line(message: &str) -> String {
    let line: String = message.trim_end_matches("\n'").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= 160 {
        return line;
    }
    format!("{}...", line.chars().take(157).collect::<String>())
}

fn second_package(text: &str) -> usize {
    let tokens = lexer::tokens(text).unwrap_or_default();
    let is_package = |token: &&lexer::Token| text.get(token.span.clone()) == Some("package");
    tokens.iter().filter(is_package).nth(1).map_or(0, |token| token.span.start)
}

/// What protoc adds to what the parser made: features of map entries, the form of defaults.
fn complete(file: &mut File) {
    let mut rest: Vec<&mut Record> = file.message_type.iter_mut().collect();
    file.extension.iter_mut().for_each(plain_default);
    while let Some(record) = rest.pop() {
        record.extension.iter_mut().for_each(plain_default);
        record.field.iter_mut().for_each(plain_default);
        let Record { field, nested_type, .. } = record;
        for entry in nested_type.iter_mut() {
            if entry.options.as_ref().is_some_and(|options| options.map_entry == Some(true)) {
                let of = field.iter().find(|field| field.type_name.is_some() && field.type_name == entry.name);
                features_of_entry(of, entry);
            }
        }
        rest.extend(nested_type.iter_mut());
    }
}

/// Key and value of a map entry have the features of the map field.
fn features_of_entry(field: Option<&Field>, entry: &mut Record) {
    let written = field.and_then(|field| field.options.as_ref()).map_or(&[][..], |options| &options.uninterpreted);
    let uninterpreted: Vec<_> = written.iter().filter(|option| features::is_feature(option)).cloned().collect();
    if !uninterpreted.is_empty() {
        for part in &mut entry.field {
            part.options = Some(FieldOptions { uninterpreted: uninterpreted.clone(), ..FieldOptions::default() });
        }
    }
}

/// Defaults of floating-point fields have the form of C's `%.15g`, or `%.17g` where that is not exact.
fn plain_default(field: &mut Field) {
    let is_float =
        field.r#type == Some(i32::from(desc::Type::Double)) || field.r#type == Some(i32::from(desc::Type::Float));
    if let Some(value) = field.default_value.as_ref().filter(|_| is_float).and_then(|text| text.parse::<f64>().ok()) {
        field.default_value = Some(c_style(value));
    }
}

fn c_style(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let exact = |digits: &usize| format!("{value:.*e}", digits.saturating_sub(1)).parse() == Ok(value);
    let digits = if exact(&15) { 15usize } else { 17 };
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
    };
    if exponent < -4 || exponent >= i32::try_from(digits).unwrap_or(17) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.unsigned_abs());
    }
    let behind = i32::try_from(digits).unwrap_or(17).saturating_sub(1).saturating_sub(exponent);
    trim(&format!("{value:.*}", usize::try_from(behind).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, usize, String) {
        let fault = parse("x.proto", text).unwrap_err();
        let (line, column) = line_column(text, fault.at);
        (line, column, fault.message)
    }

    #[test]
    fn errors_stand_at_their_line_and_column() {
        for (text, line, column, message) in [
            ("syntax = \"proto3\";\nmessage M {\n  int32 a = 1\n}\n", 4, 1, "expected ';' or '[', but found '}'"),
            ("edition = \"2023\";\nmessage M {\n  int32 a = 1; int32 b 2;\n}", 3, 24, "expected '=', but found '2'"),
            ("edition = \"2024\"; message É { int32 a = 1; }", 1, 27, "invalid token"),
            (
                "message M {",
                1,
                12,
                "expected a message field, oneof, reserved range, enum, message, option or '}', but reached end of file",
            ),
            (
                "message M { int32 a = 1; }",
                1,
                13,
                "expected a label (optional, repeated or required): proto2 asks for one",
            ),
            ("import \"../a.proto\";", 1, 8, "no path that an import may have"),
            ("syntax = \"proto4\";", 1, 10, "unknown syntax 'proto4'"),
            ("package a;\npackage b;", 2, 1, "multiple package names specified"),
            (
                "syntax = \"proto3\"; message M { /* ä */ int32 a = 0; }",
                1,
                50,
                "message numbers must be between 1 and 536870911",
            ),
        ] {
            assert_eq!(fault(text), (line, column, message.to_string()), "{text}");
        }
    }

    #[test]
    fn floats_have_the_form_of_protoc() {
        for (value, text) in [
            (0.1, "0.1"),
            (1e20, "1e+20"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1e+15"),
            (123456789012345.0, "123456789012345"),
            (2.0, "2"),
            (-0.0, "-0"),
            (1.0 / 3.0, "0.33333333333333331"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(c_style(value), text);
        }
    }

    #[test]
    fn places_are_those_of_the_source_that_was_read() {
        let text = "edition = \"2023\";\nmessage M {\n  int32 a = 1; X b = 2;\n}\n";
        let (_, source) = parse("x.proto", text).unwrap();
        assert_eq!(source.line_column(&[4, 0, 2, 1, 6]), (3, 16));
        assert_eq!(source.line_column(&[4, 0, 2, 1, 1]), (3, 18));
        assert_eq!(source.line_column(&[4, 0, 9, 9]), (2, 1));
    }
}
