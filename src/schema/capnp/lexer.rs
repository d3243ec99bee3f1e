//! `.capnp` source as tokens, with places, and the doc comments behind a declaration.

/// What is wrong with a file, at a byte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Position of the file.
    pub file: usize,
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
        Fault { file: 0, at, message: message.into(), help: String::new() }
    }

    /// The same with advice.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Fault {
        Fault { help: help.into(), ..self }
    }

    /// The same in another file.
    #[must_use]
    pub fn of(self, file: usize) -> Fault {
        Fault { file, ..self }
    }
}

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'a> {
    /// A name or keyword; they are not told apart.
    Word(&'a str),
    /// A whole number.
    Int(u64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A string, its escapes undone.
    Text(Vec<u8>),
    /// Bytes, `0x"00 ff"`.
    Binary(Vec<u8>),
    /// Signs that stand together, `->`.
    Op(&'a str),
    /// A bracket, a comma or a semicolon.
    Sign(char),
    /// Nothing more comes.
    End,
}

/// Characters of signs; those that stand together are one.
const OPERATORS: &str = "!$%&*+-./:<=>?@^|~";

/// Characters of a token that messages show.
const SHOWN: usize = 40;

/// The tokens of a text, one at a time.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    /// Offset behind the current token.
    next: usize,
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
        let mut lexer = Lexer { text, next, kind: Kind::End, at: 0 };
        lexer.advance()?;
        Ok(lexer)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.next..).unwrap_or("")
    }

    /// How messages call the current token.
    pub fn told(&self) -> String {
        if self.kind == Kind::End {
            return "the end of the file".to_string();
        }
        let raw = self.text.get(self.at..self.next).unwrap_or("");
        if raw.chars().count() <= SHOWN {
            return format!("`{}`", raw.escape_debug());
        }
        format!("`{}...`", raw.chars().take(SHOWN).collect::<String>().escape_debug())
    }

    /// Goes on to the next token.
    ///
    /// # Errors
    /// What cannot be a token.
    pub fn advance(&mut self) -> Result<(), Fault> {
        self.skip();
        self.at = self.next;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.kind = Kind::End;
            return Ok(());
        };
        match first {
            '"' => self.string(),
            '`' => {
                self.block_line();
                Ok(())
            }
            '0'..='9' if rest.starts_with("0x\"") => self.binary(),
            '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => {
                let len = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                self.take(len, Kind::Word);
                Ok(())
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => {
                self.kind = Kind::Sign(first);
                self.next = self.next.saturating_add(1);
                Ok(())
            }
            _ if OPERATORS.contains(first) => {
                let len = rest.find(|c: char| !OPERATORS.contains(c)).unwrap_or(rest.len());
                self.take(len, Kind::Op);
                Ok(())
            }
            _ => {
                let help = if first == '\'' { "strings stand in double quotes" } else { "comments begin with #" };
                Err(Fault::new(self.at, format!("`{}` begins nothing", first.escape_debug())).help(help))
            }
        }
    }

    fn take(&mut self, len: usize, kind: fn(&'a str) -> Kind<'a>) {
        self.kind = kind(self.rest().get(..len).unwrap_or(""));
        self.next = self.next.saturating_add(len);
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
            self.next = self.next.saturating_add(rest.len().saturating_sub(trimmed.len()));
            if !trimmed.starts_with('#') {
                return;
            }
            let len = trimmed.find('\n').unwrap_or(trimmed.len());
            self.next = self.next.saturating_add(len);
        }
    }

    /// The doc comment behind the current token: lines that begin with `#`, from the same line or the next one.
    pub fn doc(&self) -> Vec<String> {
        let mut rest = self.rest().trim_start_matches([' ', '\t', '\r']);
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        let mut lines = Vec::new();
        while let Some(comment) = rest.trim_start_matches([' ', '\t']).strip_prefix('#') {
            let (line, behind) = comment.split_once('\n').unwrap_or((comment, ""));
            let line = line.trim_end_matches('\r');
            lines.push(line.strip_prefix(' ').unwrap_or(line).to_string());
            rest = behind;
        }
        lines
    }

    fn number(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let raw = rest.get(..number_len(rest)).unwrap_or("");
        self.next = self.next.saturating_add(raw.len());
        let (digits, base) = match raw.strip_prefix("0x") {
            Some(hex) => (hex, 16),
            None if raw.starts_with('0') => (raw, 8),
            None => (raw, 10),
        };
        if let Ok(number) = u64::from_str_radix(digits, base) {
            self.kind = Kind::Int(number);
            return Ok(());
        }
        let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
        if is_number {
            return Err(Fault::new(self.at, format!("{} needs more than 64 bits", self.told())));
        }
        let is_float = raw.contains(['.', 'e', 'E']) && base != 16;
        match raw.parse::<f64>().ok().filter(|_| is_float) {
            Some(number) => {
                self.kind = Kind::Float(number);
                Ok(())
            }
            None if base == 8 => {
                let help = "numbers that begin with 0 are octal, with 0x hexadecimal";
                Err(Fault::new(self.at, format!("{} is no number", self.told())).help(help))
            }
            None => Err(Fault::new(self.at, format!("{} is no number", self.told()))),
        }
    }

    /// `0x"00 ff"`
    fn binary(&mut self) -> Result<(), Fault> {
        let start = self.next;
        let body = self.text.get(start.saturating_add(3)..).unwrap_or("");
        let (mut bytes, mut half) = (Vec::new(), None);
        for (at, c) in body.char_indices() {
            let place = start.saturating_add(3).saturating_add(at);
            match (c, c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()), half) {
                ('"', _, None) => {
                    self.kind = Kind::Binary(bytes);
                    self.next = place.saturating_add(1);
                    return Ok(());
                }
                (_, Some(digit), None) => half = Some(digit),
                (_, Some(digit), Some(high)) => {
                    bytes.push(high << 4 | digit);
                    half = None;
                }
                (' ' | '\t' | '\n' | '\r', _, None) => {}
                (_, _, Some(_)) => {
                    return Err(Fault::new(place, "expected the second hex digit of a byte"));
                }
                (_, _, None) => {
                    return Err(Fault::new(place, format!("expected hex digits, here is `{}`", c.escape_debug())));
                }
            }
        }
        Err(Fault::new(start, "bytes begin here that never end").help("close them with \""))
    }

    /// A line of a text block, from a backtick to its end; it has no escapes, and keeps its line feed.
    fn block_line(&mut self) {
        let body = self.text.get(self.next.saturating_add(1)..).unwrap_or("");
        let (line, feed) = body.split_once('\n').map_or((body, 0), |(line, _)| (line, 1));
        self.next = self.next.saturating_add(1).saturating_add(line.len()).saturating_add(feed);
        let mut text = line.trim_end_matches('\r').as_bytes().to_vec();
        text.push(b'\n');
        self.kind = Kind::Text(text);
    }

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.next;
        let body = self.text.get(start.saturating_add(1)..).unwrap_or("").as_bytes();
        let mut text = Vec::new();
        let mut at = 0usize;
        while let Some(byte) = body.get(at).copied() {
            let place = start.saturating_add(1).saturating_add(at);
            at = at.saturating_add(1);
            match byte {
                b'"' => {
                    self.kind = Kind::Text(text);
                    self.next = place.saturating_add(1);
                    return Ok(());
                }
                b'\n' => break,
                b'\\' => {
                    let Some((byte, len)) = escape(body.get(at..).unwrap_or(&[])) else {
                        return Err(Fault::new(place, "an escape that is not known")
                            .help("there are \\a \\b \\f \\n \\r \\t \\v \\' \\\" \\\\ \\? \\xHH \\OOO"));
                    };
                    text.push(byte);
                    at = at.saturating_add(len);
                }
                _ => text.push(byte),
            }
        }
        Err(Fault::new(start, "a string begins here that does not end in its line").help("close it with a quote"))
    }
}

/// The byte that stands behind a backslash, and how many characters that takes.
fn escape(body: &[u8]) -> Option<(u8, usize)> {
    let digit = |at: usize, base: u32| char::from(*body.get(at)?).to_digit(base);
    let simple = match body.first()? {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        c @ (b'\'' | b'"' | b'\\' | b'?') => *c,
        b'x' => {
            let value = digit(1, 16)?.saturating_mul(16).saturating_add(digit(2, 16)?);
            return Some((u8::try_from(value).ok()?, 3));
        }
        b'0'..=b'7' => {
            let len = (0..3).take_while(|at| digit(*at, 8).is_some()).count();
            let value = (0..len).fold(0u32, |sum, at| sum.saturating_mul(8).saturating_add(digit(at, 8).unwrap_or(0)));
            return Some((u8::try_from(value & 0xff).ok()?, len));
        }
        _ => return None,
    };
    Some((simple, 1))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Bytes of the number that a text begins with, and of letters that stand against it.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let hex = text.starts_with("0x");
    let mut len = 0usize;
    while let Some(byte) = bytes.get(len).copied() {
        let before = len.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(0);
        let exponent = !hex && matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || exponent) {
            break;
        }
        len = len.saturating_add(1);
    }
    len
}
