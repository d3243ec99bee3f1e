//! `.proto` source as a descriptor, with the places where things stand.

use std::collections::HashMap;

use prost::Message as _;
use prost_types::source_code_info::Location;

use crate::schema::proto::desc::{self, Field, FieldOptions, File, Record, Uninterpreted};
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
    /// Positions of the imports that only options use.
    pub option_imports: Vec<usize>,
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
    let (mut newer, mut both, mut option_imports) = (None, None, Vec::new());
    if let Some(rewritten) = rewritten {
        if rewritten.edition.is_some() {
            file.syntax = Some("editions".into());
            file.edition = rewritten.edition;
        }
        newer = rewritten.newer;
        option_imports = rewritten.option_imports;
        both = Some((rewritten.text, rewritten.edits));
    }
    Ok((file, Source { text: text.to_string(), parsed: both, locations, newer, option_imports }))
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
        let with_features: HashMap<&str, Vec<Uninterpreted>> = field.iter().filter_map(told_features).collect();
        for entry in nested_type.iter_mut().filter(|_| !with_features.is_empty()) {
            let is_entry = entry.options.as_ref().is_some_and(|options| options.map_entry == Some(true));
            let told = entry.name.as_deref().and_then(|name| with_features.get(name));
            if let Some(uninterpreted) = told.filter(|_| is_entry) {
                for part in &mut entry.field {
                    let uninterpreted = uninterpreted.clone();
                    part.options = Some(FieldOptions { uninterpreted, ..FieldOptions::default() });
                }
            }
        }
        rest.extend(nested_type.iter_mut());
    }
}

/// The features that a field tells, by the name of its type: key and value of a map entry have those of the map.
fn told_features(field: &Field) -> Option<(&str, Vec<Uninterpreted>)> {
    let options = field.options.as_ref()?.uninterpreted.iter();
    let told: Vec<Uninterpreted> = options.filter(|option| features::is_feature(option)).cloned().collect();
    Some((field.type_name.as_deref()?, told)).filter(|(_, told)| !told.is_empty())
}

/// Defaults of floating-point fields have the form of C's `%g`, with more digits where six or fifteen are not
/// exact.
fn plain_default(field: &mut Field) {
    let ty = field.r#type.and_then(|number| desc::Type::try_from(number).ok());
    let Some(text) = &field.default_value else { return };
    let plain = match ty {
        Some(desc::Type::Double) => text.parse::<f64>().ok().map(|value| {
            let exact = c_style(value, 15).parse() == Ok(value);
            c_style(value, if exact { 15 } else { 17 })
        }),
        Some(desc::Type::Float) => text.parse::<f32>().ok().map(|value| {
            let exact = c_style(f64::from(value), 6).parse() == Ok(value);
            c_style(f64::from(value), if exact { 6 } else { 9 })
        }),
        _ => return,
    };
    field.default_value = plain.or_else(|| field.default_value.take());
}

/// A number as `%.*g` writes it.
fn c_style(value: f64, digits: i32) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let places = |number: i32| usize::try_from(number).unwrap_or(0);
    let text = format!("{value:.*e}", places(digits.saturating_sub(1)));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
    };
    if exponent < -4 || exponent >= digits {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.unsigned_abs());
    }
    let behind = digits.saturating_sub(1).saturating_sub(exponent);
    trim(&format!("{value:.*}", places(behind)))
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
        let default = |ty: desc::Type, text: &str| {
            let default_value = Some(text.to_string());
            let mut field = Field { r#type: Some(ty as i32), default_value, ..Field::default() };
            plain_default(&mut field);
            field.default_value.unwrap()
        };
        for (text, double, float) in [
            ("0.1", "0.1", "0.1"),
            ("100000000000000000000", "1e+20", "1e+20"),
            ("1.5e-7", "1.5e-07", "1.5e-07"),
            ("1e15", "1e+15", "1e+15"),
            ("123456789012345", "123456789012345", "1.23456788e+14"),
            ("2.0", "2", "2"),
            ("-0", "-0", "-0"),
            ("0.3333333333333333", "0.33333333333333331", "0.333333343"),
            ("-inf", "-inf", "-inf"),
            ("nan", "nan", "nan"),
        ] {
            assert_eq!(default(desc::Type::Double, text), double);
            assert_eq!(default(desc::Type::Float, text), float);
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
