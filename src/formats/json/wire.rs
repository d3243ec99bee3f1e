//! What RFC 8259 writes down: the kinds of leaves, the six structural characters, white space, the
//! three literals and the two-character escapes. No other file here has numbers of the wire.

use crate::model::bytemap::{Cause, Kind, KindInfo};

/// What a leaf of a JSON text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `{` (begin-object, section 2).
    ObjectBegin,
    /// `}` (end-object).
    ObjectEnd,
    /// `[` (begin-array).
    ArrayBegin,
    /// `]` (end-array).
    ArrayEnd,
    /// `:` (name-separator).
    Colon,
    /// `,` (value-separator).
    Comma,
    /// A quotation mark around a string value (section 7).
    Quote,
    /// The name of a member with its quotes (section 4).
    Name,
    /// What stands between the quotes of a string value, escapes as written.
    String,
    /// A number (section 6).
    Number,
    /// `true`, `false` or `null` (section 3).
    Literal,
    /// Blanks, tabs and line ends between tokens (section 2).
    WhiteSpace,
    /// U+FEFF in front of the text, which section 8.1 forbids to write.
    ByteOrderMark,
}

/// Names and causes, in the order of [`Token`].
pub const KINDS: [KindInfo; 13] = [
    KindInfo { name: "object begin", cause: Cause::Punctuation },
    KindInfo { name: "object end", cause: Cause::Punctuation },
    KindInfo { name: "array begin", cause: Cause::Punctuation },
    KindInfo { name: "array end", cause: Cause::Punctuation },
    KindInfo { name: "colon", cause: Cause::Punctuation },
    KindInfo { name: "comma", cause: Cause::Punctuation },
    KindInfo { name: "quote", cause: Cause::Punctuation },
    KindInfo { name: "name", cause: Cause::Key },
    KindInfo { name: "string", cause: Cause::Payload },
    KindInfo { name: "number", cause: Cause::Payload },
    KindInfo { name: "literal", cause: Cause::Payload },
    KindInfo { name: "white space", cause: Cause::Padding },
    KindInfo { name: "byte order mark", cause: Cause::Framing },
];

impl Token {
    /// Every token, in the order of [`KINDS`].
    pub const ALL: [Token; 13] = [
        Token::ObjectBegin,
        Token::ObjectEnd,
        Token::ArrayBegin,
        Token::ArrayEnd,
        Token::Colon,
        Token::Comma,
        Token::Quote,
        Token::Name,
        Token::String,
        Token::Number,
        Token::Literal,
        Token::WhiteSpace,
        Token::ByteOrderMark,
    ];

    /// The kind of its leaves.
    pub fn kind(self, owner: u8) -> Kind {
        Kind { owner, code: self as u8 }
    }

    /// The token of a kind code.
    pub fn of_code(code: u8) -> Option<Token> {
        Token::ALL.get(usize::from(code)).copied()
    }
}

/// The character that begins and ends a string.
pub const QUOTE: u8 = b'"';
/// The character that begins an escape.
pub const BACKSLASH: u8 = b'\\';
/// The character that ends a line.
pub const LINE_FEED: u8 = b'\n';
/// The other one that does, alone or in front of it.
pub const CARRIAGE_RETURN: u8 = b'\r';
/// The first character that may stand unescaped in a string.
pub const FIRST_PRINTABLE: u8 = 0x20;
/// U+FEFF in UTF-8.
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// U+FEFF in UTF-16, highest byte first and lowest byte first.
pub const UTF16_MARKS: [[u8; 2]; 2] = [[0xfe, 0xff], [0xff, 0xfe]];
/// The three literals (section 3).
pub const LITERALS: [&str; 3] = ["true", "false", "null"];
/// Bytes of an escape such as `\n`.
pub const SHORT_ESCAPE: usize = 2;
/// Bytes of an escape such as `\u00e9`.
pub const LONG_ESCAPE: usize = 6;

/// Surrogates that come first of a pair.
const HIGH_SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdbff;
/// Surrogates that come second.
const LOW_SURROGATES: std::ops::RangeInclusive<u32> = 0xdc00..=0xdfff;
/// The first character that UTF-16 writes as a pair.
const FIRST_PAIR: u32 = 0x1_0000;

/// Whether a code unit is the first of a surrogate pair.
pub fn is_high_surrogate(unit: u32) -> bool {
    HIGH_SURROGATES.contains(&unit)
}

/// The character of a surrogate pair, if `low` is a second half.
pub fn pair(high: u32, low: u32) -> Option<char> {
    if !LOW_SURROGATES.contains(&low) {
        return None;
    }
    let upper = high.checked_sub(*HIGH_SURROGATES.start())?.checked_shl(10)?;
    let lower = low.checked_sub(*LOW_SURROGATES.start())?;
    char::from_u32(FIRST_PAIR.checked_add(upper)?.checked_add(lower)?)
}

/// The character that a letter behind a backslash stands for (section 7), `u` apart.
pub fn escaped(letter: u8) -> Option<u8> {
    match letter {
        b'"' | b'\\' | b'/' => Some(letter),
        b'b' => Some(0x08),
        b'f' => Some(0x0c),
        b'n' => Some(LINE_FEED),
        b'r' => Some(CARRIAGE_RETURN),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// The letter behind the backslash by which a character is written, where it has one.
pub fn escape_letter(byte: u8) -> Option<u8> {
    match byte {
        b'"' | b'\\' => Some(byte),
        0x08 => Some(b'b'),
        0x0c => Some(b'f'),
        LINE_FEED => Some(b'n'),
        CARRIAGE_RETURN => Some(b'r'),
        b'\t' => Some(b't'),
        _ => None,
    }
}

/// Whether a byte is white space between tokens (section 2).
pub fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | LINE_FEED | CARRIAGE_RETURN)
}

/// White space of other standards, which is none here.
const ODD_SPACES: [(char, &str); 21] = [
    ('\u{b}', "a vertical tab"),
    ('\u{c}', "a form feed"),
    ('\u{85}', "a next line character"),
    ('\u{a0}', "a no-break space"),
    ('\u{2000}', "an en quad"),
    ('\u{2001}', "an em quad"),
    ('\u{2002}', "an en space"),
    ('\u{2003}', "an em space"),
    ('\u{2004}', "a three-per-em space"),
    ('\u{2005}', "a four-per-em space"),
    ('\u{2006}', "a six-per-em space"),
    ('\u{2007}', "a figure space"),
    ('\u{2008}', "a punctuation space"),
    ('\u{2009}', "a thin space"),
    ('\u{200a}', "a hair space"),
    ('\u{200b}', "a zero width space"),
    ('\u{2028}', "a line separator"),
    ('\u{2029}', "a paragraph separator"),
    ('\u{202f}', "a narrow no-break space"),
    ('\u{3000}', "an ideographic space"),
    ('\u{feff}', "a byte order mark"),
];

/// The white space of other standards at the start, and its name.
pub fn odd_space(bytes: &[u8]) -> Option<(char, &'static str)> {
    if !matches!(bytes.first(), Some(0x0b | 0x0c | 0xc2 | 0xe2 | 0xe3 | 0xef)) {
        return None;
    }
    let begins = |c: char| bytes.starts_with(c.encode_utf8(&mut [0; 4]).as_bytes());
    ODD_SPACES.into_iter().find(|(c, _)| begins(*c))
}

/// What a byte can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A string or name.
    Quote,
    /// `{` or `[`.
    Open(Bracket),
    /// `}` or `]`.
    Close(Bracket),
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// A number or literal, or what somebody took for one.
    Word,
    /// Nothing.
    Other,
}

/// The two kinds of brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// `{` and `}`.
    Object,
    /// `[` and `]`.
    Array,
}

impl Bracket {
    /// The token of the opening one.
    pub fn begin(self) -> Token {
        match self {
            Bracket::Object => Token::ObjectBegin,
            Bracket::Array => Token::ArrayBegin,
        }
    }

    /// The token of the closing one.
    pub fn end(self) -> Token {
        match self {
            Bracket::Object => Token::ObjectEnd,
            Bracket::Array => Token::ArrayEnd,
        }
    }
}

/// What a byte can begin.
pub fn class(byte: u8) -> Class {
    match byte {
        QUOTE => Class::Quote,
        b'{' => Class::Open(Bracket::Object),
        b'[' => Class::Open(Bracket::Array),
        b'}' => Class::Close(Bracket::Object),
        b']' => Class::Close(Bracket::Array),
        b':' => Class::Colon,
        b',' => Class::Comma,
        byte if is_word(byte) => Class::Word,
        _ => Class::Other,
    }
}

/// Whether a byte belongs to a run that is judged whole as a number or literal.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

/// Whether a word is meant as a number, by its first byte.
pub fn begins_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether a word is meant as not a number or as infinity, which JSON does not know.
pub fn is_special(word: &[u8]) -> bool {
    let unsigned = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    let is = |name: &&str| unsigned.eq_ignore_ascii_case(name.as_bytes());
    ["nan", "inf", "infinity"].iter().any(is)
}

/// How a word fits the grammar of numbers (section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It is one.
    Whole,
    /// It is the beginning of one.
    Begun,
    /// It is none.
    Not,
}

/// Judges a word by `number = [ minus ] int [ frac ] [ exp ]`.
pub fn number_fit(word: &[u8]) -> Fit {
    let rest = word.strip_prefix(b"-").unwrap_or(word);
    let rest = match rest {
        [b'0', rest @ ..] => rest,
        [b'1'..=b'9', ..] => behind_digits(rest),
        [] => return Fit::Begun,
        _ => return Fit::Not,
    };
    let rest = match rest {
        [b'.'] => return Fit::Begun,
        [b'.', digits @ ..] if behind_digits(digits).len() < digits.len() => behind_digits(digits),
        _ => rest,
    };
    match rest {
        [] => Fit::Whole,
        [b'e' | b'E'] | [b'e' | b'E', b'+' | b'-'] => Fit::Begun,
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => {
            if behind_digits(digits).is_empty() {
                Fit::Whole
            } else {
                Fit::Not
            }
        }
        _ => Fit::Not,
    }
}

/// Judges a word as a literal.
pub fn literal_fit(word: &[u8]) -> Fit {
    if LITERALS.iter().any(|literal| literal.as_bytes() == word) {
        Fit::Whole
    } else if LITERALS.iter().any(|literal| literal.as_bytes().starts_with(word)) {
        Fit::Begun
    } else {
        Fit::Not
    }
}

/// What stands behind the digits at the start.
fn behind_digits(text: &[u8]) -> &[u8] {
    let len = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.get(len..).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_grammar_of_section_6() {
        for word in ["0", "-0", "10", "-1.5", "0.5", "1e5", "1E+5", "1.25e-10", "100000000000000000000"] {
            assert_eq!(number_fit(word.as_bytes()), Fit::Whole, "{word}");
        }
        for word in ["-", "1.", "1e", "1E+", "-0.", "0e-"] {
            assert_eq!(number_fit(word.as_bytes()), Fit::Begun, "{word}");
        }
        for word in ["+1", "01", "-01", ".5", "1.e5", "0x1F", "1_000", "1.5.2", "--1", "1e5.5", "-Infinity", "1-"] {
            assert_eq!(number_fit(word.as_bytes()), Fit::Not, "{word}");
        }
    }

    #[test]
    fn a_surrogate_pair_makes_one_character() {
        assert_eq!(pair(0xd83d, 0xde00), Some('\u{1f600}'));
        assert_eq!(pair(0xdbff, 0xdfff), Some(char::MAX));
        assert_eq!(pair(0xd83d, 0x0041), None);
    }

    #[test]
    fn every_token_has_its_kind() {
        for (code, token) in Token::ALL.iter().enumerate() {
            assert_eq!(usize::from(token.kind(0).code), code);
        }
        assert_eq!(Token::of_code(13), None);
    }
}
