//! Lines of an offset and bytes, as xxd, hexdump, od and tcpdump print them.

use super::reading::{Fit, Misfit, Notation, Read, Reading, count, is_blank, line, nibble, pair, rank, run};
use crate::model::num::len64;

/// Bytes that `*` lines may stand for. They cost one character each time, so a small text could
/// announce any amount.
const SQUEEZED: u64 = 16 * 1024 * 1024;

/// Fewest and most digits of an offset.
const OFFSET_DIGITS: std::ops::RangeInclusive<usize> = 4..=16;

/// Fewest digits of the offset in front of words: without them any groups of four digits would be
/// such a dump.
const WORD_OFFSET_DIGITS: usize = 6;

/// The lines that one tool prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `00000000: 0a04 4142  ..AB`: groups of any size, in byte order.
    Xxd,
    /// `0x0000:  4500 0034`: likewise, behind 0x.
    Tcpdump,
    /// `00000000  0a 04 41 42  |..AB|`: single bytes.
    Bytes,
    /// `0000000 040a 4241`: 16-bit words, lowest byte first.
    Words,
}

/// A line with an offset.
struct Row<'a> {
    style: Option<Style>,
    offset: &'a [u8],
    /// Groups of digits: position in the line, and length.
    groups: Vec<(usize, usize)>,
    /// A group that is none: position and length.
    bad: Option<(usize, usize)>,
    /// The text column stands between bars, as `hexdump -C` and `od` z print it.
    fence: Option<u8>,
}

/// What was read so far.
struct State {
    style: Option<Style>,
    offsets: Offsets,
    lines: u64,
    fenced: Option<u8>,
    ended: bool,
    /// Where the bytes of the last row begin, for `*`.
    last: usize,
    /// A `*` waits for the next offset: its place in the text.
    squeeze: Option<usize>,
    squeezed: u64,
}

/// Reads lines of offset and bytes.
pub(super) fn read(reading: &mut Reading<'_>) -> Read {
    let mut state = State {
        style: None,
        offsets: Offsets::default(),
        lines: 0,
        fenced: None,
        ended: false,
        last: 0,
        squeeze: None,
        squeezed: 0,
    };
    while !reading.rest().is_empty() {
        let (len, whole) = line(reading.rest());
        let end = reading.at.saturating_add(whole);
        one_line(reading, len, &mut state)?;
        reading.frame_to(end);
    }
    if let Some(at) = state.squeeze {
        reading.complain(at, at.saturating_add(1), "an offset expected behind `*`, the text ends", "")?;
    }
    if reading.strict && !state.is_sure() {
        return Err(Misfit);
    }
    let said = format!("{} dump of {}", state.detail(), count(state.lines, "line"));
    Ok(Notation { detail: state.detail(), rank: rank::COLUMNS, said })
}

impl State {
    /// Whether a guess may take it: a single line of groups could be any hex.
    fn is_sure(&self) -> bool {
        let marked = matches!(self.style, Some(Style::Xxd | Style::Tcpdump)) || self.fenced.is_some();
        self.style.is_some() && (marked || self.lines > 1 || self.ended)
    }

    fn detail(&self) -> &'static str {
        match (self.style, self.fenced) {
            (Some(Style::Tcpdump), _) => "tcpdump -x",
            (Some(Style::Bytes), Some(b'|')) => "hexdump -C",
            (Some(Style::Bytes), _) => "od",
            (Some(Style::Words), _) => "hexdump",
            (Some(Style::Xxd) | None, _) => "xxd",
        }
    }
}

fn one_line(reading: &mut Reading<'_>, len: usize, state: &mut State) -> Fit {
    let text = reading.rest().get(..len).unwrap_or(&[]);
    if text.trim_ascii().is_empty() {
        return Ok(());
    }
    if text == b"*" && state.lines > 0 {
        state.squeeze = Some(reading.at);
        return Ok(());
    }
    match Row::of(text, state.style) {
        Some(row) => one_row(reading, &row, state),
        None => reading.misfit(len, "an offset and bytes"),
    }
}

fn one_row(reading: &mut Reading<'_>, row: &Row<'_>, state: &mut State) -> Fit {
    if row.style.is_some() && state.style.is_none() {
        state.style = row.style;
    }
    if state.style.is_none() || (reading.strict && (row.bad.is_some() || state.ended)) {
        return reading.misfit(line(reading.rest()).0, "an offset and bytes");
    }
    state.offsets.begin(row.offset, state.style);
    expand(reading, row, state)?;
    if row.groups.is_empty() && row.bad.is_none() {
        state.ended = true;
        drop_filler(reading, row, state);
    } else {
        state.lines = state.lines.saturating_add(1);
    }
    check_offset(reading, row, state)?;
    if !row.groups.is_empty() {
        state.last = reading.bytes.len();
    }
    state.fenced = state.fenced.or(row.fence);
    groups(reading, row, state.style == Some(Style::Words))
}

/// Owns the groups of a row; all between and behind them frames.
fn groups(reading: &mut Reading<'_>, row: &Row<'_>, swap: bool) -> Fit {
    let start = reading.at;
    for (at, len) in &row.groups {
        reading.frame_to(start.saturating_add(*at));
        let (twos, _) = reading.rest().get(..*len).unwrap_or(&[]).as_chunks::<2>();
        let from = reading.bytes.len();
        reading.bytes.extend(twos.iter().filter_map(|[high, low]| pair(*high, *low)));
        if swap {
            reading.bytes.get_mut(from..).unwrap_or(&mut []).reverse();
        }
        reading.carry(*len);
        reading.digits = reading.digits.saturating_add(len64(*len));
    }
    let Some((at, len)) = row.bad else { return Ok(()) };
    reading.frame_to(start.saturating_add(at));
    reading.misfit(len, "groups of hex digits")
}

/// Repeats the last row up to the offset behind a `*`.
fn expand(reading: &mut Reading<'_>, row: &Row<'_>, state: &mut State) -> Fit {
    let Some(star) = state.squeeze.take() else { return Ok(()) };
    let before = len64(reading.bytes.len());
    let pattern = state.last..reading.bytes.len();
    let missing = state.offsets.missing(row.offset, before, len64(pattern.len()));
    let total = missing.map(|missing| state.squeezed.saturating_add(missing)).filter(|total| *total <= SQUEEZED);
    let (Some(missing), Some(total)) = (missing, total) else {
        state.offsets.rebase(row.offset, before);
        let message = format!("whole rows, in all at most {SQUEEZED} bytes, expected for `*`, the next offset differs");
        return reading.complain(star, star.saturating_add(1), &message, "");
    };
    state.squeezed = total;
    let end = reading.bytes.len().saturating_add(usize::try_from(missing).unwrap_or(0));
    while reading.bytes.len() < end {
        state.last = reading.bytes.len();
        reading.bytes.extend_from_within(pattern.clone());
    }
    Ok(())
}

/// The last word of an odd number of bytes is filled with a zero, which the last offset leaves out.
fn drop_filler(reading: &mut Reading<'_>, row: &Row<'_>, state: &State) {
    let one_less = len64(reading.bytes.len().saturating_sub(1));
    let odd = state.style == Some(Style::Words) && reading.bytes.last() == Some(&0);
    if odd && state.offsets.clone().fit(row.offset, one_less) {
        reading.bytes.pop();
    }
}

fn check_offset(reading: &mut Reading<'_>, row: &Row<'_>, state: &mut State) -> Fit {
    let before = len64(reading.bytes.len());
    if state.offsets.fit(row.offset, before) {
        return Ok(());
    }
    state.offsets.rebase(row.offset, before);
    let message = format!("the offset behind {before} bytes expected, `{}` stands there", row.offset.escape_ascii());
    let lead = memchr::memmem::find(reading.rest(), row.offset).unwrap_or(0);
    let start = reading.at.saturating_add(lead);
    reading.complain(start, start.saturating_add(row.offset.len()), &message, "")
}

impl<'a> Row<'a> {
    /// The row on this line, if it begins with an offset.
    fn of(text: &'a [u8], style: Option<Style>) -> Option<Row<'a>> {
        let blank = run(text, is_blank);
        let prefixed = text.get(blank..)?.starts_with(b"0x");
        let start = blank.saturating_add(if prefixed { 2 } else { 0 });
        let digits = run(text.get(start..)?.get(..17).or(text.get(start..))?, |byte| nibble(byte).is_some());
        let end = start.saturating_add(digits);
        let colon = text.get(end) == Some(&b':');
        let behind = end.saturating_add(usize::from(colon));
        let stands_alone = text.get(behind).is_none_or(|byte| is_blank(*byte));
        if !OFFSET_DIGITS.contains(&digits) || !stands_alone {
            return None;
        }
        let offset = text.get(start..end)?;
        let mut row = Row { style: None, offset, groups: Vec::new(), bad: None, fence: None };
        let mut columns = Columns { text, colon, style, at: behind };
        while columns.step(&mut row) {}
        row.style = row.own_style(colon, prefixed);
        let same = style.is_none() || row.groups.is_empty() || row.style == style;
        same.then_some(row)
    }

    /// The style that offset and groups show.
    fn own_style(&self, colon: bool, prefixed: bool) -> Option<Style> {
        let all = |len| self.groups.iter().all(|group| group.1 == len);
        match self.groups.first() {
            None => None,
            Some(_) if colon => Some(if prefixed { Style::Tcpdump } else { Style::Xxd }),
            Some(_) if all(2) => Some(Style::Bytes),
            Some(_) if all(4) && self.offset.len() >= WORD_OFFSET_DIGITS => Some(Style::Words),
            Some(_) => None,
        }
    }
}

/// The groups of a line, one after the other.
struct Columns<'a> {
    text: &'a [u8],
    colon: bool,
    style: Option<Style>,
    at: usize,
}

impl Columns<'_> {
    /// Takes the next group; false where the groups end.
    fn step(&mut self, row: &mut Row<'_>) -> bool {
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let gap = run(rest, is_blank);
        let group = rest.get(gap..).unwrap_or(&[]);
        let fence = group.first().copied().filter(|byte| matches!(byte, b'|' | b'>') && gap > 0);
        if gap == 0 || group.is_empty() || fence.is_some() || (!row.groups.is_empty() && gap > self.widest(row)) {
            row.fence = fence.filter(|_| !self.colon);
            return false;
        }
        let len = run(group, |byte| !is_blank(byte));
        let at = self.at.saturating_add(gap);
        let digits = group.iter().take(len).all(|byte| nibble(*byte).is_some());
        if digits && self.is_width(len, row) {
            row.groups.push((at, len));
            self.at = at.saturating_add(len);
            return true;
        }
        // Two blanks end the groups before a text column without bars; one blank does not.
        if gap == 1 || row.groups.is_empty() {
            row.bad = Some((at, self.text.len().saturating_sub(at)));
        }
        false
    }

    /// Blanks that may stand between two groups.
    fn widest(&self, row: &Row<'_>) -> usize {
        match row.groups.first() {
            _ if self.colon => 1,
            Some((_, 2)) => 2,
            _ => 8,
        }
    }

    fn is_width(&self, len: usize, row: &Row<'_>) -> bool {
        if self.colon {
            // The last group of a line may be shorter.
            let first = row.groups.first().map_or(len, |group| group.1);
            return len.is_multiple_of(2) && len <= first;
        }
        match self.style {
            Some(Style::Words) => len == 4,
            Some(Style::Bytes) => len == 2,
            _ => matches!(len, 2 | 4) && row.groups.first().is_none_or(|group| group.1 == len),
        }
    }
}

/// Offsets in each base that is still possible, the likeliest first: what the offset of the first
/// byte would be. Differences wrap, so that a wrong offset cannot overflow.
#[derive(Debug, Clone, Default)]
struct Offsets {
    bases: Vec<(u32, u64)>,
}

impl Offsets {
    /// Takes the first offset of a text.
    fn begin(&mut self, offset: &[u8], style: Option<Style>) {
        if !self.bases.is_empty() {
            return;
        }
        // od prints octal offsets of 7 digits, where hexdump -C has 8 of hex.
        let octal_first = style == Some(Style::Bytes) && offset.len() == 7;
        let order = if octal_first { [8, 16, 10] } else { [16, 8, 10] };
        self.bases = order.into_iter().filter_map(|radix| Some((radix, parse(offset, radix)?))).collect();
    }

    /// Whether an offset fits the bytes before it; bases in which it does not are given up.
    fn fit(&mut self, offset: &[u8], before: u64) -> bool {
        let fits = |base: &(u32, u64)| parse(offset, base.0) == Some(base.1.wrapping_add(before));
        let fitting: Vec<_> = self.bases.iter().copied().filter(fits).collect();
        let any = !fitting.is_empty();
        if any {
            self.bases = fitting;
        }
        any
    }

    /// Believes an offset that did not fit.
    fn rebase(&mut self, offset: &[u8], before: u64) {
        for (radix, base) in &mut self.bases {
            *base = parse(offset, *radix).map_or(*base, |at| at.wrapping_sub(before));
        }
    }

    /// Bytes in whole rows between those before and an offset, in the likeliest base.
    fn missing(&self, offset: &[u8], before: u64, row: u64) -> Option<u64> {
        self.bases.iter().find_map(|(radix, base)| {
            let missing = parse(offset, *radix)?.checked_sub(base.wrapping_add(before))?;
            (row > 0 && missing.is_multiple_of(row)).then_some(missing)
        })
    }
}

fn parse(offset: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(offset).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::check::{best, bytes, carried, guesses, told};

    /// 40 bytes of a message, 64 zeros, both again, and an x: what the tools below were given.
    fn sample() -> Vec<u8> {
        let head = bytes("0a086274696d6370786d10041a060a02616c1003220c0a047974676c100a18bdb20322110a0a7364");
        [&head[..], &[0; 64], &head, &[0; 64], b"x"].concat()
    }

    const XXD_40: &str = r#"00000000: 0a08 6274 696d 6370 786d 1004 1a06 0a02  ..btimcpxm......
00000010: 616c 1003 220c 0a04 7974 676c 100a 18bd  al.."...ytgl....
00000020: b203 2211 0a0a 7364                      .."...sd
"#;
    const XXD_WIDE: &str = r#"00000000: 0A 08 62 74 69 6D 63 70 78 6D  ..btimcpxm
0000000a: 10 04 1A 06 0A 02 61 6C 10 03  ......al..
00000014: 22 0C 0A 04 79 74 67 6C 10 0A  "...ytgl..
0000001e: 18 BD B2 03 22 11 0A 0A 73 64  ...."...sd
"#;
    const OD_TEXT: &str = r#"000000 0a 08 62 74 69 6d 63 70 78 6d 10 04 1a 06 0a 02  >..btimcpxm......<
000010 61 6c 10 03 22 0c 0a 04 79 74 67 6c 10 0a 18 bd  >al.."...ytgl....<
000020 b2 03 22 11 0a 0a 73 64                          >.."...sd<
000028
"#;
    const HEXDUMP_C: &str = r#"00000000  0a 08 62 74 69 6d 63 70  78 6d 10 04 1a 06 0a 02  |..btimcpxm......|
00000010  61 6c 10 03 22 0c 0a 04  79 74 67 6c 10 0a 18 bd  |al.."...ytgl....|
00000020  b2 03 22 11 0a 0a 73 64  00 00 00 00 00 00 00 00  |.."...sd........|
00000030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000060  00 00 00 00 00 00 00 00  0a 08 62 74 69 6d 63 70  |..........btimcp|
00000070  78 6d 10 04 1a 06 0a 02  61 6c 10 03 22 0c 0a 04  |xm......al.."...|
00000080  79 74 67 6c 10 0a 18 bd  b2 03 22 11 0a 0a 73 64  |ytgl......"...sd|
00000090  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
000000d0  78                                                |x|
000000d1
"#;
    const HEXDUMP: &str = r#"0000000 080a 7462 6d69 7063 6d78 0410 061a 020a
0000010 6c61 0310 0c22 040a 7479 6c67 0a10 bd18
0000020 03b2 1122 0a0a 6473 0000 0000 0000 0000
0000030 0000 0000 0000 0000 0000 0000 0000 0000
*
0000060 0000 0000 0000 0000 080a 7462 6d69 7063
0000070 6d78 0410 061a 020a 6c61 0310 0c22 040a
0000080 7479 6c67 0a10 bd18 03b2 1122 0a0a 6473
0000090 0000 0000 0000 0000 0000 0000 0000 0000
*
00000d0 0078
00000d1
"#;
    const OD: &str = r#"0000000 0a 08 62 74 69 6d 63 70 78 6d 10 04 1a 06 0a 02
0000020 61 6c 10 03 22 0c 0a 04 79 74 67 6c 10 0a 18 bd
0000040 b2 03 22 11 0a 0a 73 64 00 00 00 00 00 00 00 00
0000060 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000140 00 00 00 00 00 00 00 00 0a 08 62 74 69 6d 63 70
0000160 78 6d 10 04 1a 06 0a 02 61 6c 10 03 22 0c 0a 04
0000200 79 74 67 6c 10 0a 18 bd b2 03 22 11 0a 0a 73 64
0000220 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000320 78
0000321
"#;
    const OD_DECIMAL: &str = r#"0000000 0a 08 62 74 69 6d 63 70 78 6d 10 04 1a 06 0a 02
0000016 61 6c 10 03 22 0c 0a 04 79 74 67 6c 10 0a 18 bd
0000032 b2 03 22 11 0a 0a 73 64 00 00 00 00 00 00 00 00
0000048 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000096 00 00 00 00 00 00 00 00 0a 08 62 74 69 6d 63 70
0000112 78 6d 10 04 1a 06 0a 02 61 6c 10 03 22 0c 0a 04
0000128 79 74 67 6c 10 0a 18 bd b2 03 22 11 0a 0a 73 64
0000144 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000208 78
0000209
"#;
    const OD_WORDS: &str = r#"0000000 080a 7462 6d69 7063 6d78 0410 061a 020a
0000020 6c61 0310 0c22 040a 7479 6c67 0a10 bd18
0000040 03b2 1122 0a0a 6473 0000 0000 0000 0000
0000060 0000 0000 0000 0000 0000 0000 0000 0000
*
0000140 0000 0000 0000 0000 080a 7462 6d69 7063
0000160 6d78 0410 061a 020a 6c61 0310 0c22 040a
0000200 7479 6c67 0a10 bd18 03b2 1122 0a0a 6473
0000220 0000 0000 0000 0000 0000 0000 0000 0000
*
0000320 0078
0000321
"#;
    const XXD_ZEROS: &str = r#"00000000: 0a08 6274 696d 6370 786d 1004 1a06 0a02  ..btimcpxm......
00000010: 616c 1003 220c 0a04 7974 676c 100a 18bd  al.."...ytgl....
00000020: b203 2211 0a0a 7364 0000 0000 0000 0000  .."...sd........
00000030: 0000 0000 0000 0000 0000 0000 0000 0000  ................
*
00000060: 0000 0000 0000 0000 0a08 6274 696d 6370  ..........btimcp
00000070: 786d 1004 1a06 0a02 616c 1003 220c 0a04  xm......al.."...
00000080: 7974 676c 100a 18bd b203 2211 0a0a 7364  ytgl......"...sd
00000090: 0000 0000 0000 0000 0000 0000 0000 0000  ................
*
000000d0: 78                                       x
"#;

    #[test]
    fn what_the_tools_print_is_read_back() {
        let short = [(XXD_40, "xxd", 3), (XXD_WIDE, "xxd", 4), (OD_TEXT, "od", 3)];
        for (text, detail, lines) in short {
            let expected = (sample()[..40].to_vec(), detail, format!("{detail} dump of {lines} lines"));
            assert_eq!(best(text.as_bytes()), expected);
        }
        let long = [HEXDUMP_C, HEXDUMP, OD, OD_DECIMAL, OD_WORDS, XXD_ZEROS];
        let details = ["hexdump -C", "hexdump", "od", "od", "hexdump", "xxd"];
        for (text, detail) in long.into_iter().zip(details) {
            let (read, form, _) = best(text.as_bytes());
            assert_eq!((read, form), (sample(), detail), "{text}");
        }
    }

    #[test]
    fn packets_of_tcpdump_are_read() {
        let text = b"\t0x0000:  4500 0034 1c46 4000  E..4.F@.\n\t0x0008:  4006 b1\t\t\t@..\n";
        assert_eq!(best(text), (bytes("450000341c4640004006b1"), "tcpdump -x", "tcpdump -x dump of 2 lines".into()));
    }

    #[test]
    fn offsets_and_text_columns_frame() {
        let text = b"00000000: 0a04 4142  ..AB\n00000004: 43        C\n";
        assert_eq!(carried(text, &told(text, Encoding::Xxd)), "0a04 4142 43");
    }

    #[test]
    fn an_offset_that_does_not_fit_is_told_and_the_bytes_read() {
        let text = XXD_40.replace("00000020:", "00000021:");
        assert!(guesses(text.as_bytes()).iter().all(|guess| guess.encoding != Encoding::Xxd));
        let undone = told(text.as_bytes(), Encoding::Xxd);
        assert_eq!((undone.bytes, undone.found.len()), (sample()[..40].to_vec(), 1));
        let message = "the offset behind 32 bytes expected, `00000021` stands there (line 3)";
        assert_eq!(undone.found[0].message, message);
        assert_eq!(undone.found[0].start, text.find("00000021").unwrap() as u64);
    }

    #[test]
    fn a_squeeze_is_bounded_and_needs_an_end() {
        for end in ["7fffffff0", "00000018", ""] {
            let text = format!("00000000  {}|................|\n*\n{end}\n", "00 ".repeat(16));
            let undone = told(text.as_bytes(), Encoding::Xxd);
            assert_eq!((undone.bytes.len(), undone.found.len()), (16, 1), "{end} {:?}", undone.found);
        }
    }

    #[test]
    fn a_digit_lost_or_wrong_is_an_error_at_its_place() {
        let undone = told(b"00000000: 0a04 4g42 43  ..A\n", Encoding::Xxd);
        assert_eq!((undone.bytes, undone.found[0].start), (bytes("0a04"), 15));
        let prose = told(b"$ xxd message\n00000000: 0a04\n", Encoding::Xxd);
        assert_eq!((prose.bytes, prose.found[0].start, prose.found[0].end), (bytes("0a04"), 0, 13));
    }

    #[test]
    fn groups_of_hex_without_offsets_are_no_guess() {
        for text in [&b"0a04 4142 4344"[..], b"deadbeef 01 02 03", b"deadbeef 01 02 03\ndeadbeef 04 05 06\n"] {
            let xxd = guesses(text).into_iter().find(|guess| guess.encoding == Encoding::Xxd);
            assert_eq!(xxd, None, "{}", text.escape_ascii());
        }
    }
}
