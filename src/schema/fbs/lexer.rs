//! Tokens of `.fbs` source, one at a time, each with its place and the doc comment before it.

/// A place in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spot {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// What is wrong with a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Spot,
    /// What was expected and what stands there.
    pub message: String,
    /// What to try; may be empty.
    pub help: String,
}

impl Fault {
    /// A fault without advice.
    pub fn new(at: Spot, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), help: String::new() }
    }

    /// A fault with advice.
    pub fn helped(at: Spot, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), help: help.into() }
    }
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The end of the source.
    End,
    /// A name or keyword.
    Word,
    /// A string; the text is without quotes and escapes.
    Text,
    /// An integer, decimal or hexadecimal, with its sign.
    Int,
    /// A number with a point or exponent, or an infinity with its sign.
    Float,
    /// Any other character that may stand alone.
    Sign(char),
}

/// A piece of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text, of a string without quotes and escapes.
    pub text: String,
    /// Where it begins.
    pub at: Spot,
    /// Lines of the doc comment between the token before and this one, without their slashes.
    pub docs: Vec<String>,
    /// A string that is printable ASCII and has no escapes.
    pub plain: bool,
    /// `(` follows at once: a function.
    pub call: bool,
}

impl Token {
    /// The token in a sentence.
    pub fn shown(&self) -> String {
        match self.kind {
            Kind::End => "the end of the file".to_string(),
            Kind::Text => format!("the string \"{}\"", short(&self.text)),
            Kind::Word | Kind::Int | Kind::Float => format!("`{}`", short(&self.text)),
            Kind::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Characters of a text that messages quote.
const QUOTED: usize = 60;

/// A text as messages quote it: cut where it is long, in one line.
pub fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED).is_some() {
        shown.push('…');
    }
    shown
}

/// Reads tokens.
#[derive(Debug)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The place of `counted`, from which places further on are counted.
    spot: Spot,
    counted: usize,
}

impl<'a> Lexer<'a> {
    /// A reader at the start of a source; a byte order mark is skipped.
    pub fn new(text: &'a str) -> Lexer<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Lexer { text, at: 0, spot: Spot { line: 1, column: 1 }, counted: 0 }
    }

    /// The next token; the end of the source again and again.
    ///
    /// # Errors
    /// A character, number, string or comment that may not stand there.
    pub fn read(&mut self) -> Result<Token, Fault> {
        let docs = self.space()?;
        let start = self.at;
        let at = self.spot_of(start);
        let mut token = Token { kind: Kind::End, text: String::new(), at, docs, plain: false, call: false };
        let Some(byte) = self.peek(0) else { return Ok(token) };
        token.kind = match byte {
            b'"' | b'\'' => {
                (token.text, token.plain) = self.string(byte, at)?;
                Kind::Text
            }
            byte if is_start(byte) => {
                self.run(|byte| is_start(byte) || byte.is_ascii_digit());
                Kind::Word
            }
            b'+' | b'-' => self.signed(at)?,
            b'0'..=b'9' => self.number(at)?,
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(at)?,
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b';' | b'=' | b'.' => {
                self.at = self.at.saturating_add(1);
                Kind::Sign(char::from(byte))
            }
            _ => return Err(self.illegal(at)),
        };
        if token.kind != Kind::Text {
            token.text = self.text.get(start..self.at).unwrap_or("").to_string();
        }
        token.call = self.peek(0) == Some(b'(');
        Ok(token)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.saturating_add(ahead)).copied()
    }

    fn run(&mut self, sort: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let len = rest.iter().take_while(|byte| sort(**byte)).count();
        self.at = self.at.saturating_add(len);
        len
    }

    /// The place of a byte; places are asked for in ascending order.
    fn spot_of(&mut self, at: usize) -> Spot {
        for char in self.text.get(self.counted..at).unwrap_or("").chars() {
            if char == '\n' {
                self.spot = Spot { line: self.spot.line.saturating_add(1), column: 1 };
            } else {
                self.spot.column = self.spot.column.saturating_add(1);
            }
        }
        self.counted = self.counted.max(at);
        self.spot
    }

    fn here(&mut self) -> Spot {
        self.spot_of(self.at)
    }

    /// Skips spaces and comments; lines of doc comments are kept.
    fn space(&mut self) -> Result<Vec<String>, Fault> {
        let mut docs = Vec::new();
        let mut own_line = self.at == 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'\n'), _) => {
                    own_line = true;
                    self.at = self.at.saturating_add(1);
                }
                (Some(b' ' | b'\r' | b'\t'), _) => self.at = self.at.saturating_add(1),
                (Some(b'/'), Some(b'/')) => self.line_comment(own_line, &mut docs)?,
                (Some(b'/'), Some(b'*')) => self.block_comment()?,
                _ => return Ok(docs),
            }
        }
    }

    fn line_comment(&mut self, own_line: bool, docs: &mut Vec<String>) -> Result<(), Fault> {
        let start = self.at;
        self.run(|byte| byte != b'\n' && byte != b'\r');
        if let Some(doc) = self.text.get(start..self.at).and_then(|line| line.strip_prefix("///")) {
            if !own_line {
                let at = self.spot_of(start);
                let message = "a doc comment `///` behind something: it belongs to what follows it";
                return Err(Fault::helped(at, message, "put it on a line of its own, or write `//`"));
            }
            docs.push(doc.to_string());
        }
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), Fault> {
        let inside = self.at.saturating_add(2);
        match self.text.get(inside..).and_then(|rest| rest.find("*/")) {
            Some(len) => {
                self.at = inside.saturating_add(len).saturating_add(2);
                Ok(())
            }
            None => Err(Fault::new(self.here(), "a comment begins here and does not end: expected `*/`")),
        }
    }

    fn illegal(&mut self, at: Spot) -> Fault {
        let char = self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or('\0');
        let message = match char {
            '\0' => "a zero byte: schemas are text".to_string(),
            '|' => "`|` cannot stand here".to_string(),
            ' '..='~' => format!("`{char}` cannot stand here"),
            _ => format!("the character {} cannot stand here: names are ASCII", char.escape_unicode()),
        };
        let help = if char == '|' { "write sums of bit flags as one string, \"Red Green\"" } else { "" };
        Fault::helped(at, message, help)
    }

    /// A sign alone where a name follows, `-pi`; else a number.
    fn signed(&mut self, at: Spot) -> Result<Kind, Fault> {
        let rest = self.text.get(self.at.saturating_add(1)..).unwrap_or("");
        let is_infinity = rest.strip_prefix("inf").is_some_and(|behind| !behind.starts_with(is_word));
        if is_infinity {
            self.at = self.at.saturating_add(4);
            return Ok(Kind::Float);
        }
        if rest.bytes().next().is_some_and(is_start) {
            let sign = if self.peek(0) == Some(b'-') { '-' } else { '+' };
            self.at = self.at.saturating_add(1);
            return Ok(Kind::Sign(sign));
        }
        self.number(at)
    }

    /// A number: sign, digits, point, exponent; hexadecimal ones have an exponent of two where they have a point.
    fn number(&mut self, at: Spot) -> Result<Kind, Fault> {
        let start = self.at;
        if matches!(self.peek(0), Some(b'+' | b'-')) {
            self.at = self.at.saturating_add(1);
        }
        let is_hex = self.peek(0) == Some(b'0') && matches!(self.peek(1), Some(b'x' | b'X'));
        if is_hex {
            self.at = self.at.saturating_add(2);
        }
        let digit = |byte: u8| if is_hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
        let mut digits = self.run(digit);
        let has_point = self.peek(0) == Some(b'.');
        if has_point {
            self.at = self.at.saturating_add(1);
            digits = digits.saturating_add(self.run(digit));
        }
        let mut right = digits > 0;
        let marks = if is_hex { [b'p', b'P'] } else { [b'e', b'E'] };
        let has_exponent = right && self.peek(0).is_some_and(|byte| marks.contains(&byte));
        if has_exponent {
            self.at = self.at.saturating_add(1);
            if matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at = self.at.saturating_add(1);
            }
            right = self.run(|byte| byte.is_ascii_digit()) > 0;
        }
        right &= !(is_hex && has_point && !has_exponent) && self.peek(0) != Some(b'.');
        if right {
            return Ok(if has_point || has_exponent { Kind::Float } else { Kind::Int });
        }
        if self.at == start {
            self.at = self.at.saturating_add(1);
        }
        let shown = short(self.text.get(start..self.at).unwrap_or(""));
        Err(Fault::new(at, format!("`{shown}` is no number")))
    }

    /// A string without its quotes and escapes, and whether it is plain.
    fn string(&mut self, quote: u8, start: Spot) -> Result<(String, bool), Fault> {
        self.at = self.at.saturating_add(1);
        let mut out: Vec<u8> = Vec::new();
        let mut plain = true;
        let mut surrogate: Option<u32> = None;
        loop {
            let Some(byte) = self.peek(0) else {
                return Err(Fault::new(start, "a string begins here and does not end"));
            };
            let is_unit = byte == b'\\' && self.peek(1) == Some(b'u');
            if surrogate.is_some() && !is_unit {
                return Err(Fault::new(self.here(), "half of a surrogate pair, without the second `\\u`"));
            }
            match byte {
                byte if byte == quote => break,
                0..0x20 => {
                    let message = "a string begins here and does not end in its line";
                    return Err(Fault::helped(start, message, "write `\\n` for a new line in it"));
                }
                b'\\' if is_unit => {
                    plain = false;
                    surrogate = self.unit(surrogate, &mut out)?;
                }
                b'\\' => {
                    plain = false;
                    let byte = self.escape()?;
                    out.push(byte);
                }
                _ => {
                    plain &= (b' '..=b'~').contains(&byte);
                    out.push(byte);
                    self.at = self.at.saturating_add(1);
                }
            }
        }
        self.at = self.at.saturating_add(1);
        match String::from_utf8(out) {
            Ok(text) => Ok((text, plain)),
            Err(_) => Err(Fault::new(start, "the string is not UTF-8")),
        }
    }

    /// An escape of one byte.
    fn escape(&mut self) -> Result<u8, Fault> {
        let at = self.here();
        let byte = match self.peek(1) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(same @ (b'"' | b'\'' | b'\\' | b'/')) => same,
            Some(b'x') => {
                self.at = self.at.saturating_add(2);
                let number = self.hex(2, at)?;
                return Ok(u8::try_from(number).unwrap_or(0));
            }
            _ => return Err(Fault::new(at, "no escape that a string may have")),
        };
        self.at = self.at.saturating_add(2);
        Ok(byte)
    }

    /// `\uXXXX`: appends a character, or gives back the first half of a pair.
    fn unit(&mut self, before: Option<u32>, out: &mut Vec<u8>) -> Result<Option<u32>, Fault> {
        let at = self.here();
        self.at = self.at.saturating_add(2);
        let unit = self.hex(4, at)?;
        let number = match (before, unit) {
            (None, 0xd800..=0xdbff) => return Ok(Some(unit)),
            (Some(high), 0xdc00..=0xdfff) => 0x1_0000u32.saturating_add((high & 0x3ff) << 10) | (unit & 0x3ff),
            (None, _) if !(0xdc00..=0xdfff).contains(&unit) => unit,
            _ => return Err(Fault::new(at, "half of a surrogate pair, without the other")),
        };
        let char = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(None)
    }

    fn hex(&mut self, digits: usize, at: Spot) -> Result<u32, Fault> {
        let text = self.text.get(self.at..self.at.saturating_add(digits)).unwrap_or("");
        if text.len() != digits || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Fault::new(at, format!("the escape needs {digits} hexadecimal digits")));
        }
        self.at = self.at.saturating_add(digits);
        Ok(u32::from_str_radix(text, 16).unwrap_or(0))
    }
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
