//! What every test of text that holds bytes goes through: the leaves partition the text, and only
//! what a finding speaks of is unread.

use super::{Encoding, Undone, guess, undo};
use crate::model::bytemap::{Kind, Leaf, Partition};

/// Fails unless the leaves are what they promise.
pub fn check(text: &[u8], undone: &Undone) {
    let mut map = Partition::default();
    let leaves: Vec<Leaf> = undone.leaves.iter().collect();
    for leaf in &leaves {
        map.take(leaf).unwrap();
    }
    map.finish(text.len() as u64).unwrap();
    let touching = |pair: &[Leaf]| (pair[0].kind, pair[0].flags) != (pair[1].kind, pair[1].flags);
    assert!(leaves.windows(2).all(touching), "neighbours of one kind are merged");
    if undone.found.is_empty() {
        assert!(leaves.iter().all(|leaf| leaf.kind == Kind::CARRIER || leaf.kind == Kind::FRAMING));
    }
    for found in &undone.found {
        assert!(found.start <= found.end && found.end <= text.len() as u64, "{found:?}");
    }
}

/// Undoes a told notation.
pub fn told(text: &[u8], encoding: Encoding) -> Undone {
    let undone = undo(text, encoding);
    check(text, &undone);
    undone
}

/// All guesses, each of which must agree with the same notation told.
pub fn guesses(text: &[u8]) -> Vec<Undone> {
    let all = guess(text);
    for undone in &all {
        check(text, undone);
        assert_eq!(undone.found, [], "a guess leaves nothing over");
        let again = told(text, undone.encoding);
        assert_eq!((&again.bytes, &again.found), (&undone.bytes, &undone.found), "{}", text.escape_ascii());
    }
    for encoding in Encoding::ALL {
        told(text, encoding);
    }
    all
}

/// The bytes of the best guess, its form, and what a heading says.
#[track_caller]
pub fn best(text: &[u8]) -> (Vec<u8>, &'static str, String) {
    let first = guesses(text).into_iter().next().unwrap_or_else(|| panic!("no guess for {}", text.escape_ascii()));
    (first.bytes, first.detail, first.said)
}

/// The carried text of a reading.
pub fn carried(text: &[u8], undone: &Undone) -> String {
    let carrier = undone.leaves.iter().filter(|leaf| leaf.kind == Kind::CARRIER);
    let pieces = carrier.map(|leaf| text[place(leaf.start)..place(leaf.end)].escape_ascii().to_string());
    pieces.collect::<Vec<_>>().join(" ")
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}

/// Bytes of a hex text without separators.
pub fn bytes(hex: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(hex.replace(' ', "").as_bytes()).unwrap()
}

/// A row of random numbers that is the same each time.
pub struct Random(pub u64);

impl Random {
    /// The next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn place(&mut self, len: usize) -> usize {
        place(self.below(len as u64))
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..8 + self.below(most)).map(|_| self.below(256).to_le_bytes()[0]).collect()
    }
}

fn joined(bytes: &[u8], between: &str, item: impl Fn(&u8) -> String) -> String {
    bytes.iter().map(item).collect::<Vec<_>>().join(between)
}

fn rows(bytes: &[u8], row: impl Fn(usize, &[u8]) -> String) -> String {
    bytes.chunks(16).enumerate().map(|(at, row_bytes)| row(at * 16, row_bytes)).collect()
}

/// The same bytes in every notation that has an encoder in a line.
fn written(bytes: &[u8]) -> Vec<(Encoding, String)> {
    let hex = |byte: &u8| format!("{byte:02x}");
    let octal = |byte: &u8| {
        if byte.is_ascii_alphabetic() { (*byte as char).to_string() } else { format!("\\{byte:03o}") }
    };
    vec![
        (Encoding::Hex, joined(bytes, "", hex)),
        (Encoding::Hex, joined(bytes, " ", |byte| format!("{byte:02X}"))),
        (Encoding::Hex, joined(bytes, ":", hex)),
        (Encoding::Hex, joined(bytes, ", ", |byte| format!("0x{byte:x}"))),
        (
            Encoding::Hex,
            format!("unsigned char x[] = {{\n{}\n}};\n", joined(bytes, ",\n", |byte| format!("0x{byte:02x}"))),
        ),
        (Encoding::Hex, format!("0x{}", joined(bytes, "", hex))),
        (Encoding::Hex, format!("<Buffer {}>", joined(bytes, " ", hex))),
        (Encoding::Base64, data_encoding::BASE64.encode(bytes)),
        (Encoding::Base64, data_encoding::BASE64URL_NOPAD.encode(bytes)),
        (Encoding::Base64, data_encoding::BASE64_MIME.encode(bytes)),
        (Encoding::Escaped, joined(bytes, "", |byte| format!("\\x{byte:02x}"))),
        (Encoding::Escaped, format!("b\"{}\"", joined(bytes, "", octal))),
        (Encoding::Escaped, joined(bytes, "", |byte| byte.escape_ascii().to_string())),
        (Encoding::Decimal, joined(bytes, " ", u8::to_string)),
        (Encoding::Decimal, format!("[{}]\n", joined(bytes, ", ", u8::to_string))),
        (Encoding::Decimal, format!("{{ {} }}", joined(bytes, ",", |byte| byte.cast_signed().to_string()))),
        (
            Encoding::Xxd,
            rows(bytes, |at, row| {
                format!(
                    "{at:08x}: {}  {}\n",
                    row.chunks(2).map(|two| joined(two, "", hex)).collect::<Vec<_>>().join(" "),
                    ".".repeat(row.len())
                )
            }),
        ),
        (
            Encoding::Xxd,
            rows(bytes, |at, row| format!("{at:08x}  {:<49} |{}|\n", joined(row, " ", hex), ".".repeat(row.len()))),
        ),
        (
            Encoding::Dump,
            rows(bytes, |at, row| {
                format!("{at:04x}    {}    .name  string \"be ef\"\n      ^^ a note\n", joined(row, "|", hex))
            }),
        ),
    ]
}

#[test]
fn what_is_written_in_a_notation_is_read_back() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..200 {
        let bytes = random.bytes(60);
        for (encoding, text) in written(&bytes) {
            let undone = told(text.as_bytes(), encoding);
            assert_eq!((&undone.bytes, undone.found.len()), (&bytes, 0), "{encoding:?} {text}");
            let all = guesses(text.as_bytes());
            let guessed = all.iter().find(|undone| undone.encoding == encoding);
            // Few escapes are no evidence; two of them are very likely among random bytes.
            if encoding != Encoding::Escaped || text.matches("\\x").count() > 1 || text.starts_with('b') {
                assert_eq!(guessed.map(|undone| &undone.bytes), Some(&bytes), "{encoding:?} {text}");
            }
        }
    }
}

#[test]
fn garbage_in_any_notation_is_owned_to_the_last_byte() {
    let alphabet = b"0123456789abcdefABCDEFxX \n\r\t,;:-|\\\"'{}[]()<>=*+/_uUhn.!?g\x00\xff\xef\xbb\xbf\xfe";
    let mut random = Random(88_172_645_463_325_252);
    for round in 0..20_000u64 {
        let text: Vec<u8> = if round % 2 == 0 {
            (0..random.below(80)).map(|_| alphabet[random.place(alphabet.len())]).collect()
        } else {
            let samples = written(&random.bytes(40));
            let mut text = samples[random.place(samples.len())].1.clone().into_bytes();
            for _ in 0..random.below(4) {
                let at = random.place(text.len());
                match random.below(3) {
                    0 => text[at] = alphabet[random.place(alphabet.len())],
                    1 => text.insert(at, alphabet[random.place(alphabet.len())]),
                    _ => text.truncate(at.max(1)),
                }
            }
            text
        };
        guesses(&text);
    }
}

#[test]
fn what_redirected_output_begins_with_frames() {
    let plain = b"0a 04 41 42 43 44\r\n";
    let marked = [b"\xef\xbb\xbf", &plain[..]].concat();
    let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(plain.iter().flat_map(|byte| [*byte, 0])).collect();
    let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(plain.iter().flat_map(|byte| [0, *byte])).collect();
    for text in [marked, little, big] {
        assert_eq!(best(&text), (bytes("0a0441424344"), "hex", "12 hex digits".into()));
    }
    let len64: Vec<u8> = [0xff, 0xfe].into_iter().chain(b"0a zz".iter().flat_map(|byte| [*byte, 0])).collect();
    let undone = told(&len64, Encoding::Hex);
    assert_eq!((undone.found[0].start, undone.found[0].end), (8, 12), "findings stand where the input has them");
}

#[test]
fn binary_input_and_short_text_are_no_guess() {
    for text in
        [&b""[..], b"\n", b"0a1b2c", b"\x00\x01abcdef0123", b"\x84\xa2id\xa8btimcpxm\xa6status\x04", b"hello, world"]
    {
        assert!(guesses(text).is_empty(), "{}", text.escape_ascii());
    }
    assert_eq!(best(b"0896010a").1, "hex", "8 digits are enough");
}

#[test]
fn names_lead_back_to_their_notation() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::by_name(encoding.name()), Some(encoding));
    }
    assert_eq!(Encoding::by_name("HEX"), None);
}

#[test]
fn the_most_specific_notation_comes_first() {
    let order = |text: &[u8]| guesses(text).iter().map(|undone| undone.detail).collect::<Vec<_>>();
    assert_eq!(order(b"deadbeef"), ["hex", "base64"]);
    assert_eq!(order(b"password"), ["base64"]);
    assert_eq!(order(b"10 20 30 40"), ["hex", "decimal"]);
    assert_eq!(order(b"00000000: 0a04 4142\n"), ["xxd", "hex"]);
    assert_eq!(order(b"0000  0a 04 41 42\n"), ["dump", "hex"]);
}

#[test]
fn findings_past_the_limit_are_counted() {
    let text = "0a zz ".repeat(200);
    let undone = told(text.as_bytes(), Encoding::Hex);
    assert_eq!((undone.bytes.len(), undone.found.len()), (200, 101));
    assert!(undone.found[100].message.starts_with("100 more places"), "{}", undone.found[100].message);
}

#[test]
fn hostile_text_is_read_in_linear_time() {
    let row = "00 ".repeat(500_000);
    let texts = [
        format!("{{0x0a {}", "/* ".repeat(500_000)),
        "a!=\n".repeat(500_000),
        format!("00000000: {row}\n{}", "*\n0007a120\n".repeat(100_000)),
        "\"\\".repeat(500_000),
        "0000  0g ".repeat(200_000),
        format!("[{}", "-".repeat(1_500_000)),
    ];
    let start = std::time::Instant::now();
    for text in &texts {
        guesses(text.as_bytes());
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
