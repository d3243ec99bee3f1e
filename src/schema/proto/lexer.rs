//! Tokens of `.proto` source, enough of them to see the structure: names, brackets, strings.
//!
//! It reads comments and strings the way protox-parse does, and refuses what the two might read differently,
//! so that depth counted here is the depth that the parser meets.

use std::ops::Range;

/// Brackets that may be open at once; protoc's own limits are 32 for messages and 100 for options.
pub const DEPTH: usize = 64;

/// A piece of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Word,
    /// A number, roughly.
    Number,
    /// A string with its quotes.
    Text,
    /// Anything else: one ASCII character, or 0 for a character beyond ASCII.
    Sign(u8),
}

/// What is wrong with a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where, in bytes.
    pub at: usize,
    /// What.
    pub message: String,
    /// What to try; may be empty.
    pub help: &'static str,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), help: "" }
    }
}

/// All tokens of a source, comments and spaces left out.
///
/// # Errors
/// A string or comment that does not end, or holds what it must not; brackets that nest too deep.
pub fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut depth) = (0usize, 0usize);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at.saturating_add(1)).copied();
        let (kind, end) = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => {
                at = at.saturating_add(1);
                continue;
            }
            b'#' => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if next == Some(b'/') => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if next == Some(b'*') => {
                at = comment_end(source, at)?;
                continue;
            }
            b'"' | b'\'' => (Kind::Text, text_end(bytes, at)?),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => (Kind::Word, run(bytes, at, is_word)),
            b'0'..=b'9' => (Kind::Number, run(bytes, at, |byte| is_word(byte) || byte == b'.')),
            0x80.. => (Kind::Sign(0), run(bytes, at, |byte| byte >= 0x80)),
            _ => (Kind::Sign(byte), at.saturating_add(1)),
        };
        match byte {
            b'{' | b'[' | b'<' | b'(' => depth = depth.saturating_add(1),
            b'}' | b']' | b'>' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return Err(Fault::new(at, format!("brackets nest deeper than {DEPTH} levels")));
        }
        tokens.push(Token { kind, span: at..end });
        at = end;
    }
    Ok(tokens)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The end of a run of bytes of one sort.
fn run(bytes: &[u8], at: usize, sort: impl Fn(u8) -> bool) -> usize {
    let len = bytes.iter().skip(at).take_while(|byte| sort(**byte)).count();
    at.saturating_add(len)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    run(bytes, at, |byte| byte != b'\n')
}

fn comment_end(source: &str, at: usize) -> Result<usize, Fault> {
    let start = at.saturating_add(2);
    let rest = source.get(start..).unwrap_or("");
    let Some(len) = rest.find("*/") else {
        return Err(Fault::new(at, "a comment begins here and does not end: expected '*/'"));
    };
    // protoc refuses it too, and the parser counts the levels.
    if let Some(inner) = rest.get(..len).and_then(|comment| comment.find("/*")) {
        let message = "'/*' inside a comment: block comments do not nest";
        return Err(Fault::new(start.saturating_add(inner), message));
    }
    Ok(start.saturating_add(len).saturating_add(2))
}

/// The end of a string, behind its closing quote.
fn text_end(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let quote = bytes.get(start).copied().unwrap_or(b'"');
    let mut at = start.saturating_add(1);
    loop {
        match bytes.get(at).copied() {
            None | Some(b'\n') => {
                return Err(Fault::new(start, "a string begins here and does not end in its line"));
            }
            Some(0) => return Err(Fault::new(at, "a zero byte in a string")),
            Some(b'\\') => at = escape_end(bytes, at)?,
            Some(byte) if byte == quote => return Ok(at.saturating_add(1)),
            Some(_) => at = at.saturating_add(1),
        }
    }
}

/// The end of an escape in a string.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let digits = |skip: usize, most: usize, radix: u32| {
        let rest = bytes.iter().skip(at.saturating_add(skip)).take(most);
        rest.take_while(|byte| char::from(**byte).is_digit(radix)).count()
    };
    let len = match bytes.get(at.saturating_add(1)).copied() {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'?' | b'\\' | b'\'' | b'"') => 2,
        Some(b'x' | b'X') if digits(2, 2, 16) > 0 => digits(2, 2, 16).saturating_add(2),
        Some(b'0'..=b'3') => digits(1, 3, 8).saturating_add(1),
        Some(b'4'..=b'7') if digits(1, 3, 8) < 3 => digits(1, 3, 8).saturating_add(1),
        Some(b'u') if digits(2, 4, 16) == 4 => 6,
        Some(b'U') if digits(2, 8, 16) == 8 => 10,
        _ => return Err(Fault::new(at, "no escape that a string may have")),
    };
    Ok(at.saturating_add(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).unwrap().into_iter().map(|token| &source[token.span]).collect()
    }

    #[test]
    fn comments_and_strings_hide_what_they_hold() {
        let source = "a /* { \" */ = 'it\\'s {' // [\n; # <\n b.c \"/*\" 1.5e3 é$";
        assert_eq!(texts(source), ["a", "=", "'it\\'s {'", ";", "b", ".", "c", "\"/*\"", "1.5e3", "é", "$"]);
    }

    #[test]
    fn what_does_not_end_is_refused_where_it_begins() {
        for (source, at, words) in [
            ("a \"b\nc\"", 2, "a string begins"),
            ("a 'b", 2, "a string begins"),
            ("a /* b", 2, "a comment begins"),
            ("/* /* */", 3, "'/*' inside"),
            ("'\\q'", 1, "no escape"),
            ("'\\400'", 1, "no escape"),
            ("'\\u12'", 1, "no escape"),
            ("'a\0'", 2, "a zero byte"),
        ] {
            let error = tokens(source).unwrap_err();
            assert_eq!(error.at, at, "{source:?}");
            assert!(error.message.starts_with(words), "{source:?}: {}", error.message);
        }
    }

    #[test]
    fn depth_is_limited() {
        assert!(tokens(&"{".repeat(DEPTH)).is_ok());
        for bracket in ["{", "[", "<", "(", "[{<("] {
            let error = tokens(&bracket.repeat(200_000)).unwrap_err();
            assert_eq!(error.at, DEPTH);
        }
    }
}
