//! Hex digits: plain, separated, prefixed, or as a list in source code.

use super::list::{enclosure, gap, word};
use super::reading::{Fit, Misfit, Notation, Read, Reading, count, is_white, nibble, pair, rank, run};

/// Reads hex digits.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    let around = enclosure(reading.rest(), b"{[\"'(<");
    let end = around.map_or(reading.text.len(), |found| reading.at.saturating_add(found.end));
    let open = around.map(|found| found.open);
    if let Some(found) = around {
        let name = if found.open == b'<' { b"Buffer ".len() } else { 0 };
        reading.frame(found.start.saturating_add(name));
    }
    let shape = Shape::of(reading, end)?;
    items(reading, end, shape)?;
    if around.is_some() {
        reading.frame(usize::MAX);
    }
    let said = count(reading.digits, "hex digit");
    Ok(Notation { detail: detail(open), rank: shape.rank(open), said })
}

fn detail(open: Option<u8>) -> &'static str {
    match open {
        Some(b'{') => "C array",
        Some(b'[' | b'(') => "hex list",
        Some(b'<') => "Node.js buffer",
        _ => "hex",
    }
}

/// What may stand between two bytes, quotes included: `["0a", "1b"]`.
fn is_separator(byte: u8) -> bool {
    is_white(byte) || matches!(byte, b',' | b';' | b':' | b'-' | b'|' | b'"' | b'\'' | b'`')
}

/// A word that is hex: `0a`, `0x0a`, `0ah`, `0a1b2c`.
#[derive(Debug, Clone, Copy)]
struct Token {
    /// Bytes of `0x`.
    lead: usize,
    digits: usize,
    /// Bytes of the `h` behind.
    tail: usize,
}

impl Token {
    /// The token that begins here, unless it goes on as some other word.
    fn at(text: &[u8]) -> Option<Token> {
        let lead = if matches!(text.first_chunk(), Some(b"0x" | b"0X")) { 2 } else { 0 };
        let rest = text.get(lead..)?;
        let digits = run(rest, |byte| nibble(byte).is_some());
        let behind = rest.get(digits..)?;
        let tail = usize::from(lead == 0 && matches!(behind.first(), Some(b'h' | b'H')));
        let more = behind.get(tail).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        (digits > 0 && !more).then_some(Token { lead, digits, tail })
    }

    fn len(self) -> usize {
        self.lead.saturating_add(self.digits).saturating_add(self.tail)
    }

    /// It says by itself that it is hex.
    fn is_marked(self) -> bool {
        self.lead > 0 || self.tail > 0
    }
}

/// How the digits of a text are grouped, which decides what a single digit means.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    tokens: u64,
    marked: u64,
    longest: usize,
    single: bool,
    /// A byte below 16 is written with its zero, so a single digit is a mistake.
    zero_filled: bool,
}

impl Shape {
    /// The shape of the text from here to an offset.
    fn of(reading: &Reading<'_>, end: usize) -> Result<Shape, Misfit> {
        let mut shape = Shape::default();
        let mut rest = reading.until(end);
        while !rest.is_empty() {
            let between = gap(rest, is_separator);
            let token = if between == 0 { Token::at(rest) } else { None };
            if reading.strict && between == 0 && token.is_none() {
                return Err(Misfit);
            }
            if let Some(token) = token {
                shape.add(token, rest.first() == Some(&b'0'));
            }
            let len = if between > 0 { between } else { token.map_or_else(|| word(rest), Token::len) };
            rest = rest.get(len..).unwrap_or(&[]);
        }
        Ok(shape)
    }

    fn add(&mut self, token: Token, zero: bool) {
        self.tokens = self.tokens.saturating_add(1);
        self.marked = self.marked.saturating_add(u64::from(token.is_marked()));
        self.longest = self.longest.max(token.digits);
        self.single |= token.digits == 1;
        self.zero_filled |= token.digits == 2 && zero && !token.is_marked();
    }

    /// Every token is one byte, whether it has one digit or two.
    fn is_list(self) -> bool {
        self.tokens > 1 && self.single && self.longest <= 2 && !self.zero_filled
    }

    fn rank(self, open: Option<u8>) -> u8 {
        match open {
            Some(b'{' | b'<') => rank::PREFIXED_HEX,
            _ if self.marked > 0 => rank::PREFIXED_HEX,
            _ if self.tokens > 1 => rank::SPACED_HEX,
            _ => rank::PLAIN_HEX,
        }
    }
}

fn items(reading: &mut Reading<'_>, end: usize, shape: Shape) -> Fit {
    while reading.at < end {
        let rest = reading.until(end);
        let between = gap(rest, is_separator);
        if between > 0 {
            reading.frame(between);
            continue;
        }
        match Token::at(rest) {
            Some(token) => item(reading, token, shape)?,
            None => reading.misfit(word(rest), "hex digits")?,
        }
    }
    Ok(())
}

fn item(reading: &mut Reading<'_>, token: Token, shape: Shape) -> Fit {
    let each = token.is_marked() && (shape.marked > 1 || token.digits == 1);
    // Assemblers put a zero in front of a letter: 0FFh.
    let zero = usize::from(token.tail > 0 && token.digits == 3 && reading.rest().first() == Some(&b'0'));
    if each && token.digits.saturating_sub(zero) > 2 {
        return reading.unread(
            token.len(),
            "one byte of two hex digits expected, a longer word stands there",
            "the order of the bytes in a word is not known: write them one by one, 0x12, 0x34",
        );
    }
    reading.frame(token.lead.saturating_add(zero));
    let digits = token.digits.saturating_sub(zero);
    if each || shape.is_list() {
        single(reading, digits)
    } else {
        pairs(reading, digits)?
    };
    reading.frame(token.tail);
    Ok(())
}

/// One byte of one or two digits.
fn single(reading: &mut Reading<'_>, digits: usize) {
    let value = match reading.rest().get(..digits) {
        Some([low]) => nibble(*low),
        Some([high, low]) => pair(*high, *low),
        _ => None,
    };
    reading.bytes.extend(value);
    carry(reading, digits);
}

/// Bytes of two digits each; a digit left over is half a byte.
fn pairs(reading: &mut Reading<'_>, digits: usize) -> Fit {
    let even = digits & !1;
    if even < digits && reading.strict {
        return Err(Misfit);
    }
    let (twos, _) = reading.rest().get(..even).unwrap_or(&[]).as_chunks::<2>();
    reading.bytes.extend(twos.iter().filter_map(|[high, low]| pair(*high, *low)));
    carry(reading, even);
    if even == digits {
        return Ok(());
    }
    let odd = reading.rest().first().copied().unwrap_or(b'?').escape_ascii();
    let message = format!("two hex digits a byte expected, `{odd}` stands alone at the end of {digits} digits");
    reading.unread(1, &message, "a digit is missing, or one too many")
}

fn carry(reading: &mut Reading<'_>, digits: usize) {
    reading.carry(digits);
    reading.digits = reading.digits.saturating_add(super::len64(digits));
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::{best, bytes, carried, guesses, told};

    #[test]
    fn common_spellings_of_hex_give_the_same_bytes() {
        let spellings: [(&str, &str); 24] = [
            ("0a1b2c0d", "hex"),
            ("0A1B2C0D\n", "hex"),
            ("0a 1b 2c 0d", "hex"),
            ("0a1b 2c0d", "hex"),
            ("0a:1b:2c:0d", "hex"),
            ("0A-1B-2C-0D", "hex"),
            ("0a,1b,2c,0d", "hex"),
            ("0a;1b;2c;0d;\r\n", "hex"),
            ("0a|1b|2c 0d", "hex"),
            ("0a1b\n2c0d\n", "hex"),
            ("0x0a1b2c0d", "hex"),
            ("0x0a1b 2c0d", "hex"),
            ("0x0a 0X1B 0x2c 0xd", "hex"),
            ("0Ah 1Bh 2Ch 0Dh", "hex"),
            ("\"0a1b2c0d\"", "hex"),
            ("bytes.fromhex(\"0a1b2c0d\")", "hex"),
            ("Buffer.from('0a1b2c0d', 'hex')", "hex"),
            ("[\"0a\", \"1b\", \"2c\", \"0d\"]", "hex list"),
            ("[0x0a, 0x1b, 0x2c, 0x0d]", "hex list"),
            ("let x: [u8; 4] = [0x0a, 0x1b, 0x2c, 0x0d];", "hex list"),
            ("var x = []byte{0x0a, 0x1b, 0x2c, 0x0d}", "C array"),
            ("{0xa,0x1b,0x2c,0xd,}", "C array"),
            ("byte[] x = new byte[] { (byte)0x0a, (byte) 0x1b, 0x2c /* , */, 0x0d };", "C array"),
            ("<Buffer 0a 1b 2c 0d>", "Node.js buffer"),
        ];
        for (text, detail) in spellings {
            let digits = if text.contains("0xd") { if text.contains("0xa,") { 6 } else { 7 } } else { 8 };
            let undone = told(text.as_bytes(), Encoding::Hex);
            assert_eq!((&undone.bytes, undone.found.len()), (&bytes("0a1b2c0d"), 0), "{text} {:?}", undone.found);
            assert_eq!(
                (undone.detail, undone.digits, undone.said),
                (detail, digits, format!("{digits} hex digits")),
                "{text}"
            );
            assert_eq!(
                guesses(text.as_bytes()).iter().any(|guess| guess.encoding == Encoding::Hex),
                digits >= 8,
                "{text}"
            );
        }
    }

    #[test]
    fn a_c_array_of_xxd_keeps_its_length_outside() {
        let text = b"unsigned char _tmp_b40[] = {\n  0x0a, 0x08, 0x62, 0x74, 0x69, 0x6d,\n  0x1a, 0x06\n};\nunsigned int _tmp_b40_len = 8;\n";
        assert_eq!(best(text), (bytes("0a086274696d1a06"), "C array", "16 hex digits".into()));
    }

    #[test]
    fn a_comment_in_front_of_an_array_frames() {
        let text =
            b"/* Frame (4 bytes) */\nstatic const unsigned char pkt1[4] = {\n0x0a, 0x1b, 0x2c, 0x0d /* .. [. */\n};\n";
        assert_eq!(best(text).0, bytes("0a1b2c0d"));
    }

    #[test]
    fn bytes_of_one_digit_stand_alone() {
        let undone = told(b"a, 1b, 0, 11", Encoding::Hex);
        assert_eq!((undone.bytes, undone.found.len()), (bytes("0a1b0011"), 0));
        let mixed = told(b"0a 1b 2", Encoding::Hex);
        assert_eq!((mixed.bytes, mixed.found.len()), (bytes("0a1b"), 1), "others have their zero, so one is lost");
    }

    #[test]
    fn an_odd_digit_is_named_at_its_place() {
        let text = b"0a1b\n2c0d1\n";
        let undone = told(text, Encoding::Hex);
        assert_eq!((&undone.bytes, (undone.found[0].start, undone.found[0].end)), (&bytes("0a1b2c0d"), (9, 10)));
        let message = &undone.found[0].message;
        assert_eq!(message, "two hex digits a byte expected, `1` stands alone at the end of 5 digits (line 2)");
        assert!(guesses(text).iter().all(|guess| guess.encoding != Encoding::Hex));
    }

    #[test]
    fn words_are_refused_since_their_byte_order_is_unknown() {
        let text = b"{0x12345678, 0x9a}";
        let undone = told(text, Encoding::Hex);
        assert_eq!((undone.bytes, undone.found.len()), (vec![0x9a], 1));
        assert!(undone.found[0].help.contains("one by one"));
        assert!(guesses(text).is_empty());
    }

    #[test]
    fn words_that_are_no_hex_are_reported_once_each() {
        let text = b"0a hello 1b (x) 2c";
        let undone = told(text, Encoding::Hex);
        assert_eq!(undone.bytes, bytes("0a1b2c"));
        let places: Vec<_> = undone.found.iter().map(|found| (found.start, found.end)).collect();
        assert_eq!(places, [(3, 8), (12, 15)]);
        assert_eq!(undone.found[0].message, "hex digits expected, `hello` stands there (line 1)");
        assert_eq!(carried(text, &undone), "0a 1b 2c");
    }
}
