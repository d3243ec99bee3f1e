//! Our own dump, read back: a lesson can be edited and run again.
//!
//! ```text
//! 000f! 22|03|01 ac                          4                     2 of 3 bytes
//! |   | |                                  offset, mark, bytes; then two blanks, then what is told
//! ```
//! Lines that begin otherwise are headings, notes, carets and ledgers.

use crate::model::diag::{Code, Diagnostic};
use crate::model::num::len64;

use super::reading::{Fit, Misfit, Notation, Read, Reading, count, line, nibble, pair, rank, run};

/// Fewest digits of an offset.
const OFFSET_DIGITS: usize = 4;

/// Blanks in front of what is no byte, from which on it is taken for the next column.
const DEEPEST: usize = 24;

/// What was read so far.
#[derive(Debug, Default)]
struct State {
    rows: u64,
    /// What the first byte's offset would be by the last offset that was believed; offsets wrap.
    base: Option<u64>,
    /// An offset that does not fit was told; the rest follows from it.
    shifted: bool,
    /// Bytes were left out, so the next offset is believed.
    elided: bool,
    /// A line that is none of a dump stands behind a row, which only a foot may.
    foot: bool,
}

/// Reads a dump.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    let mut state = State::default();
    while !reading.rest().is_empty() {
        let (len, whole) = line(reading.rest());
        let end = reading.at.saturating_add(whole);
        one_line(reading, len, &mut state)?;
        reading.frame_to(end);
    }
    if state.rows == 0 {
        let end = reading.text.len();
        let help = "a row of a dump looks like this: 000f! 22|03|01 ac";
        reading.complain(0, end, "lines with an offset and bytes expected, there is none", help)?;
    }
    Ok(Notation { detail: "dump", rank: rank::DUMP, said: format!("dump of {}", count(state.rows, "row")) })
}

fn one_line(reading: &mut Reading<'_>, len: usize, state: &mut State) -> Fit {
    let text = reading.rest().get(..len).unwrap_or(&[]);
    match Head::of(text) {
        Some(head) if head.is_empty_row(text) => empty_row(reading, head, text, state),
        Some(head) => row(reading, head, text, state),
        None => heading(reading, text, state),
    }
}

/// A line without bytes.
fn heading(reading: &mut Reading<'_>, text: &[u8], state: &mut State) -> Fit {
    let told = text.trim_ascii_start();
    if state.rows > 0 && told.starts_with(b"... ") && told.get(4).is_some_and(u8::is_ascii_digit) {
        state.elided = true;
        let message = "the dump is not complete: bytes are left out here";
        let end = reading.at.saturating_add(text.len());
        return reading.complain(reading.at, end, message, "print it with --all, which prints every byte");
    }
    state.foot |= state.rows > 0 && !matches!(text.first(), None | Some(b' ' | b'\t'));
    Ok(())
}

/// The start of a row.
#[derive(Debug, Clone, Copy)]
struct Head {
    offset: u64,
    /// Digits of the offset.
    digits: usize,
    /// Where the bytes begin.
    start: usize,
}

impl Head {
    /// The start of the row on this line, if it is one: offset, mark, a blank.
    fn of(text: &[u8]) -> Option<Head> {
        let digits = run(text.get(..17).unwrap_or(text), |byte| nibble(byte).is_some());
        let shape = text.get(digits..).and_then(<[u8]>::first_chunk);
        if digits < OFFSET_DIGITS || !matches!(shape, Some([b' ' | b'!' | b'?', b' '])) {
            return None;
        }
        let offset = u64::from_str_radix(std::str::from_utf8(text.get(..digits)?).ok()?, 16).ok()?;
        let gap = run(text.get(digits.saturating_add(1)..)?, |byte| byte == b' ');
        Some(Head { offset, digits, start: digits.saturating_add(1).saturating_add(gap) })
    }

    /// The byte column is empty, as where somebody deleted the bytes of a row.
    fn is_empty_row(self, text: &[u8]) -> bool {
        let deep = self.start > self.digits.saturating_add(DEEPEST);
        self.start == text.len() || (deep && text.get(self.start..).and_then(pair_at).is_none())
    }
}

fn empty_row(reading: &mut Reading<'_>, head: Head, text: &[u8], state: &mut State) -> Fit {
    if state.rows == 0 && head.start == text.len() {
        return heading(reading, text, state);
    }
    check_offset(reading, head, state)
}

fn row(reading: &mut Reading<'_>, head: Head, text: &[u8], state: &mut State) -> Fit {
    check_offset(reading, head, state)?;
    if reading.strict && (state.foot || is_hexdump_row(text.get(head.start..).unwrap_or(&[]))) {
        return Err(Misfit);
    }
    state.rows = state.rows.saturating_add(1);
    reading.frame(head.start);
    let end = reading.at.saturating_add(text.len().saturating_sub(head.start));
    while reading.at < end {
        let rest = reading.until(end);
        if rest.starts_with(b"  ") {
            // A bar with nothing behind it: the column ends here all the same.
            let (at, help) = (reading.at, "write the byte, or take the bar away");
            return reading.complain(at.saturating_sub(1), at, "two hex digits a byte expected behind the bar", help);
        }
        let Some(byte) = pair_at(rest) else {
            let len = run(rest, |byte| !matches!(byte, b' ' | b'|')).max(1);
            reading.misfit(len, "two hex digits a byte")?;
            if !separator(reading, end) {
                return Ok(());
            }
            continue;
        };
        reading.bytes.push(byte);
        reading.carry(2);
        reading.digits = reading.digits.saturating_add(2);
        if !separator(reading, end) {
            return Ok(());
        }
    }
    Ok(())
}

/// The byte here, unless its digits go on.
fn pair_at(text: &[u8]) -> Option<u8> {
    let (high, low) = (text.first()?, text.get(1)?);
    pair(*high, *low).filter(|_| matches!(text.get(2), None | Some(b' ' | b'|')))
}

/// Passes what stands between two bytes; false where the byte column ends.
fn separator(reading: &mut Reading<'_>, end: usize) -> bool {
    let rest = reading.until(end);
    let more = match rest.first_chunk() {
        Some([b' ', b' ']) | None => false,
        Some([b' ' | b'|', _]) => true,
        Some(_) => return true,
    };
    reading.frame(usize::from(more));
    more
}

/// `hexdump -C` prints two blanks after 8 bytes, where the byte column of a dump would end.
fn is_hexdump_row(bytes: &[u8]) -> bool {
    let behind = bytes.get(23..).unwrap_or(&[]);
    let parted = behind.starts_with(b"  ") && !behind.starts_with(b"   ");
    parted && behind.get(2..).and_then(pair_at).is_some()
}

/// Compares an offset with the number of bytes before it, until one does not fit.
fn check_offset(reading: &mut Reading<'_>, head: Head, state: &mut State) -> Fit {
    let before = len64(reading.bytes.len());
    let base = state.base.filter(|_| !state.elided).unwrap_or(head.offset.wrapping_sub(before));
    state.base = Some(base);
    state.elided = false;
    let due = base.wrapping_add(before);
    if due == head.offset || state.shifted {
        return Ok(());
    }
    if reading.strict {
        return Err(Misfit);
    }
    state.shifted = true;
    let (differ, word) = match due.checked_sub(head.offset) {
        Some(more) => (more, "more"),
        None => (head.offset.wrapping_sub(due), "fewer"),
    };
    let bytes = count(differ, "byte");
    let line = reading.line_of(reading.at);
    let message = format!(
        "the row says {:#04x}, but {bytes} {word} than that stand before it; read on as they stand (line {line})",
        head.offset
    );
    let start = len64(reading.at);
    let end = start.saturating_add(len64(head.digits));
    reading.report(Diagnostic::new(Code::DumpOffset, start, end, message));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::check::{best, bytes, check, guesses, told};
    use super::super::{Encoding, Undone};
    use crate::model::diag::Code;

    const DOCUMENT: &str = include_str!("../../../tests/data/dump/document.txt");
    const MSGPACK: &[u8] = include_bytes!("../../../samples/document.msgpack");
    const PROTOBUF: &[u8] = include_bytes!("../../../tests/data/dump/protobuf.bin");

    fn edited(from: &str, to: &str) -> Undone {
        assert_eq!(DOCUMENT.matches(from).count(), 1, "{from}");
        told(DOCUMENT.replace(from, to).as_bytes(), Encoding::Dump)
    }

    #[test]
    fn the_drawings_give_their_bytes_back() {
        assert_eq!(best(DOCUMENT.as_bytes()), (MSGPACK.to_vec(), "dump", "dump of 51 rows".into()));
        let drawing = include_bytes!("../../../tests/data/dump/protobuf.txt");
        assert_eq!(best(drawing).0, PROTOBUF);
        let windows = DOCUMENT.replace('\n', "\r\n");
        assert_eq!(best(windows.as_bytes()).0, MSGPACK);
    }

    #[test]
    fn a_byte_edited_is_the_byte_read() {
        let undone = edited("0025    a7 76", "0025    A7 77");
        assert_eq!((undone.bytes[0x26], undone.bytes.len(), undone.found.len()), (0x77, 325, 0));
    }

    #[test]
    fn a_byte_inserted_or_deleted_is_read_as_it_stands_and_told_once() {
        let longer = edited("0053    83  ", "0053    83 c0");
        assert_eq!(longer.bytes.len(), 326);
        assert_eq!((longer.found.len(), longer.found[0].code), (1, Code::DumpOffset));
        let start = DOCUMENT.find("\n0054").unwrap() as u64 + 2;
        assert_eq!((longer.found[0].start, longer.found[0].end), (start, start + 4));
        let message = "the row says 0x54, but 1 byte more than that stand before it; read on as they stand (line 27)";
        assert_eq!(longer.found[0].message, message);
        let shorter = edited("|62 74 69 6d 63 70 78 6d ", "|62 74 69 6d 63 70 78    ");
        assert_eq!((shorter.bytes.len(), shorter.found.len()), (324, 1));
        assert!(shorter.found[0].message.contains("1 byte fewer"));
        let empty = edited("0035    83      ", "0035            ");
        assert_eq!((empty.bytes.len(), empty.found.len()), (324, 1));
    }

    #[test]
    fn a_digit_lost_or_wrong_is_an_error_at_its_place() {
        for to in ["0053    8   ", "0053    8g  ", "0053    g   "] {
            let undone = edited("0053    83  ", to);
            assert_eq!((undone.bytes.len(), undone.found[0].code), (324, Code::EncodingBad), "{to}");
            assert_eq!(undone.found[0].start, DOCUMENT.find("0053  ").unwrap() as u64 + 8);
        }
        let text = DOCUMENT.replace("0053    83  ", "0053    8g  ");
        assert!(guesses(text.as_bytes()).is_empty());
    }

    #[test]
    fn a_grid_and_rows_with_marks_are_read() {
        let grid = b"p value  w extra width  k tag  l length\n0000  0a 08 62 74 69 6d 63 70 78 6d 10 04 1a 06 0a 02   ..btimcpxm......\n      k  l  p  p  p  p  p  p  p  p  k  p  k  l  k  l\n0010  61 6c 10 03                                       al..\n      p  p  k  p\n";
        assert_eq!(best(grid).0, PROTOBUF[..20]);
        let marks = b"000a! 22|03|01 ac     4     2 of 3 bytes\n         ^^           ERROR\n000e? 00\n";
        assert_eq!(best(marks).0, bytes("220301ac00"));
    }

    #[test]
    fn an_incomplete_dump_is_an_error() {
        let text = b"0000  0a|08\n      ... 312 more bytes\n013a  62 74\n3 bytes\n";
        let undone = told(text, Encoding::Dump);
        assert_eq!((undone.bytes, undone.found.len()), (bytes("0a086274"), 1));
        assert!(undone.found[0].message.contains("not complete") && undone.found[0].help.contains("--all"));
        assert!(guesses(text).is_empty());
    }

    #[test]
    fn headings_ledgers_and_words_hold_no_bytes() {
        for line in [
            "9130197 bytes = payload 6449292",
            "dead beef",
            "155 bytes = payload 96",
            "feed: 12",
            "   0000  0a",
            "00000000",
        ] {
            let text = format!("{line}\n0000  0a|08\n0002  0b\n{line}\n");
            assert_eq!(told(text.as_bytes(), Encoding::Dump).bytes, bytes("0a080b"), "{line}");
        }
        let nothing = told(b"dead beef\n", Encoding::Dump);
        assert_eq!((nothing.bytes.len(), nothing.found.len()), (0, 1));
        check(b"dead beef\n", &nothing);
    }

    #[test]
    fn hexdump_rows_are_no_dump() {
        let text = b"00000000  0a 08 62 74 69 6d 63 70  78 6d 10 04 1a 06 0a 02  |..btimcpxm......|\n00000010\n";
        let all = guesses(text);
        assert!(all.iter().all(|guess| guess.encoding != Encoding::Dump));
        assert_eq!((all[0].detail, all[0].bytes.len()), ("hexdump -C", 16));
    }

    #[test]
    fn a_slip_in_a_byte_ends_with_its_column() {
        let slips = [
            ("0000  82|0x                                         .ad  fixstr", "two hex digits a byte expected, `0x`"),
            (
                "0000  82|                                           .ad  fixstr",
                "two hex digits a byte expected behind the bar",
            ),
            ("0000  82|0g  status  positive fixint 4", "two hex digits a byte expected, `0g`"),
        ];
        for (text, message) in slips {
            let undone = told(text.as_bytes(), Encoding::Dump);
            assert_eq!(undone.bytes, [0x82], "names of fields are no bytes: {text}");
            assert_eq!(undone.found.len(), 1, "one slip, one finding: {text}");
            assert!(undone.found[0].message.starts_with(message), "{}", undone.found[0].message);
        }
    }
}
