//! `.fbs` source as tokens, with places and doc comments.

use std::borrow::Cow;

/// What is wrong with a file, at a byte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Offset in the text.
    pub at: usize,
    /// What was expected and what stands there.
    pub message: String,
    /// What to try; may be empty.
    pub help: String,
}

impl Fault {
    /// A fault without advice.
    pub fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), help: String::new() }
    }

    /// The same with advice.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Fault {
        Fault { help: help.into(), ..self }
    }
}

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'a> {
    /// A name or keyword; they are not told apart.
    Word(&'a str),
    /// A number as written, with its sign.
    Number(&'a str),
    /// A string, its escapes undone.
    Text(Cow<'a, str>),
    /// Any other character.
    Sign(char),
    /// Nothing more comes.
    End,
}

impl Kind<'_> {
    /// How messages call it.
    pub fn told(&self) -> String {
        match self {
            Kind::Word(text) | Kind::Number(text) => format!("`{text}`"),
            Kind::Text(text) => format!("\"{}\"", text.escape_debug()),
            Kind::Sign(sign) => format!("`{}`", sign.escape_debug()),
            Kind::End => "the end of the file".to_string(),
        }
    }
}

/// The tokens of a text, one at a time.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    next: usize,
    /// Doc comments in front of the current token, without their slashes.
    pub doc: Vec<String>,
    /// The current token.
    pub kind: Kind<'a>,
    /// Where it begins.
    pub at: usize,
}

impl<'a> Lexer<'a> {
    /// The first token of a text.
    ///
    /// # Errors
    /// What cannot be a token.
    pub fn new(text: &'a str) -> Result<Lexer<'a>, Fault> {
        let next = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut lexer = Lexer { text, next, doc: Vec::new(), kind: Kind::End, at: 0 };
        lexer.advance()?;
        Ok(lexer)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.next..).unwrap_or("")
    }

    /// Goes on to the next token.
    ///
    /// # Errors
    /// What cannot be a token.
    pub fn advance(&mut self) -> Result<(), Fault> {
        self.doc.clear();
        self.skip()?;
        self.at = self.next;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.kind = Kind::End;
            return Ok(());
        };
        let signed = matches!(first, '+' | '-');
        let second = rest.chars().nth(1).unwrap_or(' ');
        if first == '"' || first == '\'' {
            return self.string(first);
        }
        let digit = |c: char| c.is_ascii_digit() || c == '.';
        let is_number =
            first.is_ascii_digit() || (first == '.' && second.is_ascii_digit()) || (signed && digit(second));
        if is_number {
            let len = number_len(rest);
            self.take(len, Kind::Number);
        } else if is_word_start(first) || (signed && is_word_start(second)) {
            let sign = usize::from(signed);
            let len =
                rest.get(sign..).unwrap_or("").find(|c| !is_word(c)).map_or(rest.len(), |len| len.saturating_add(sign));
            self.take(len, Kind::Word);
        } else {
            self.kind = Kind::Sign(first);
            self.next = self.next.saturating_add(first.len_utf8());
        }
        Ok(())
    }

    fn take(&mut self, len: usize, kind: fn(&'a str) -> Kind<'a>) {
        self.kind = kind(self.rest().get(..len).unwrap_or(""));
        self.next = self.next.saturating_add(len);
    }

    /// Passes white space and comments; doc comments are kept.
    fn skip(&mut self) -> Result<(), Fault> {
        let mut own_line = self.next == 0;
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            own_line |= rest.get(..rest.len().saturating_sub(trimmed.len())).is_some_and(|blank| blank.contains('\n'));
            self.next = self.next.saturating_add(rest.len().saturating_sub(trimmed.len()));
            if trimmed.starts_with("//") {
                let line = trimmed.lines().next().unwrap_or("");
                if let Some(doc) = line.strip_prefix("///") {
                    if !own_line {
                        return Err(Fault::new(self.next, "a doc comment behind something else in its line")
                            .help("put it into a line of its own, in front of what it is about, or begin it with //"));
                    }
                    self.doc.push(doc.to_string());
                }
                self.next = self.next.saturating_add(line.len());
            } else if trimmed.starts_with("/*") {
                let Some(end) = trimmed.find("*/") else {
                    return Err(Fault::new(self.next, "a comment begins here that never ends").help("close it with */"));
                };
                self.next = self.next.saturating_add(end).saturating_add(2);
            } else {
                return Ok(());
            }
        }
    }

    fn string(&mut self, quote: char) -> Result<(), Fault> {
        let start = self.next;
        let body = self.text.get(start.saturating_add(1)..).unwrap_or("");
        // Bytes, for \x gives single ones.
        let mut text = Vec::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    let text = String::from_utf8(text).map_err(|_| {
                        Fault::new(start, "a string whose escapes are no UTF-8")
                            .help("\\xXX is one byte; \\uXXXX is a character")
                    })?;
                    self.kind = Kind::Text(Cow::Owned(text));
                    self.next = start.saturating_add(at).saturating_add(2);
                    return Ok(());
                }
                '\\' => {
                    let place = start.saturating_add(at).saturating_add(1);
                    if escape(&mut chars, &mut text).is_none() {
                        return Err(Fault::new(place, "an escape that is not known")
                            .help("there are \\n \\t \\r \\b \\f \\\" \\\\ \\/ \\uXXXX \\xXX"));
                    }
                }
                '\n' | '\r' => break,
                '\0'..' ' => {
                    let place = start.saturating_add(at).saturating_add(1);
                    let message = format!("a control character in a string, {:#04x}", u32::from(c));
                    return Err(Fault::new(place, message).help("write it as \\t or \\xXX"));
                }
                _ => text.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        Err(Fault::new(start, "a string begins here that does not end in its line").help("close it with a quote"))
    }
}

/// What an escape stands for, behind its backslash.
fn escape(chars: &mut std::str::CharIndices<'_>, text: &mut Vec<u8>) -> Option<()> {
    let hex = |len: usize, chars: &mut std::str::CharIndices<'_>| {
        let digits: String = chars.by_ref().take(len).map(|(_, c)| c).collect();
        let all = digits.len() == len && digits.chars().all(|c| c.is_ascii_hexdigit());
        u32::from_str_radix(&digits, 16).ok().filter(|_| all)
    };
    let c = match chars.next()?.1 {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'x' => {
            text.push(u8::try_from(hex(2, chars)?).ok()?);
            return Some(());
        }
        'u' => {
            let high = hex(4, chars)?;
            if (0xd800..0xdc00).contains(&high) {
                let pair = (chars.next()?.1, chars.next()?.1);
                let low = hex(4, chars).filter(|low| pair == ('\\', 'u') && (0xdc00..0xe000).contains(low))?;
                char::from_u32(0x10000u32.saturating_add((high - 0xd800) << 10).saturating_add(low - 0xdc00))?
            } else {
                char::from_u32(high)?
            }
        }
        c @ ('"' | '\\' | '/' | '\'') => c,
        _ => return None,
    };
    text.extend(c.encode_utf8(&mut [0; 4]).bytes());
    Some(())
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Bytes of the number that a text begins with: sign, digits, a fraction, an exponent; hex with 0x.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let mut len = usize::from(matches!(at(0), b'+' | b'-'));
    let hex = at(len) == b'0' && matches!(at(len.saturating_add(1)), b'x' | b'X');
    if hex {
        len = len.saturating_add(2);
    }
    loop {
        let (now, before) = (at(len), at(len.wrapping_sub(1)));
        let exponent = if hex { matches!(before, b'p' | b'P') } else { matches!(before, b'e' | b'E') };
        let part = now.is_ascii_alphanumeric() || now == b'.' || (matches!(now, b'+' | b'-') && exponent && len > 1);
        if !part {
            return len;
        }
        len = len.saturating_add(1);
    }
}

/// Line and column in characters of an offset, both counted from 1.
pub fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count().saturating_add(1);
    let start = before.rfind('\n').map_or(0, |end| end.saturating_add(1));
    let column = before.get(start..).unwrap_or("").chars().count().saturating_add(1);
    (line, column)
}
