//! What stands around and between the items of a list in source code.

use super::reading::{is_white, run};

/// Bytes of code in front of a list, and behind it, at most.
const CODE: usize = 512;

/// Bytes of a comment at most. Where none is closed, each that is opened costs this search.
const COMMENT: usize = 1024;

/// The code around a list of bytes. Offsets count from where the search began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Enclosure {
    /// The bracket or quote that opens it.
    pub open: u8,
    /// Offset of the first byte inside.
    pub start: usize,
    /// Offset of the closing bracket or quote.
    pub end: usize,
}

/// The brackets, or quotes, that hold the items: those of the first sort in `openers` that have only
/// code around them.
pub(super) fn enclosure(text: &[u8], openers: &[u8]) -> Option<Enclosure> {
    openers.iter().find_map(|open| enclosed_by(text, *open))
}

fn enclosed_by(text: &[u8], open: u8) -> Option<Enclosure> {
    let head = text.get(..CODE).unwrap_or(text);
    // `[u8; 4] = [` and `[4]byte([`: only the last square bracket opens the list.
    let at = if open == b'[' { memchr::memrchr(open, head)? } else { memchr::memchr(open, head)? };
    let start = at.saturating_add(1);
    let end = start.saturating_add(memchr::memchr(closer(open), text.get(start..)?)?);
    let inside = text.get(start..end)?;
    let tail = text.get(end.saturating_add(1)..)?;
    let fits = starts_items(inside, open) && is_head(text.get(..at)?) && is_tail(tail);
    fits.then_some(Enclosure { open, start, end })
}

fn closer(open: u8) -> u8 {
    match open {
        b'{' => b'}',
        b'[' => b']',
        b'(' => b')',
        b'<' => b'>',
        quote => quote,
    }
}

/// Whether a list can begin so; what is quoted is looked at by its reader.
fn starts_items(inside: &[u8], open: u8) -> bool {
    let first = inside.iter().copied().find(|byte| !is_white(*byte));
    match (open, first) {
        (b'{' | b'(', Some(first)) => first.is_ascii_hexdigit() || matches!(first, b'-' | b'/' | b'('),
        (b'[', Some(first)) => first.is_ascii_hexdigit() || matches!(first, b'-' | b'/' | b'(' | b'"' | b'\''),
        (b'<', _) => inside.starts_with(b"Buffer "),
        _ => true,
    }
}

/// Whether the text in front of a literal ends in an assignment, a call or a name with a colon, or
/// there is none.
pub(super) fn is_called(head: &[u8]) -> bool {
    matches!(head.trim_ascii().last(), None | Some(b'=' | b'(' | b'&' | b':'))
}

/// Whether the text in front of a list is code. It must not hold bytes that would be lost with it,
/// so an assignment, a call or a single name is asked for.
fn is_head(head: &[u8]) -> bool {
    let head = head.trim_ascii();
    let printable = head.iter().all(|byte| byte.is_ascii_graphic() || is_white(*byte));
    let code = is_called(head) || head.contains(&b'=') || head.starts_with(b"new ");
    let name = !head.iter().any(|byte| is_white(*byte)) && !head.iter().all(u8::is_ascii_hexdigit);
    printable && (code || name)
}

/// Whether the text behind a list is the end of a statement, or the length that `xxd -i` adds.
fn is_tail(tail: &[u8]) -> bool {
    let is_end = |byte: u8| is_white(byte) || matches!(byte, b')' | b']' | b'}' | b';' | b',');
    let mut rest = tail.get(run(tail, is_end)..).unwrap_or(&[]).trim_ascii();
    for ending in [&b");"[..], b")", b";"] {
        rest = rest.strip_suffix(ending).unwrap_or(rest).trim_ascii();
    }
    let named = [&b"\"hex\""[..], b"'hex'", b"\"base64\"", b"'base64'"].contains(&rest);
    rest.is_empty() || named || (rest.len() < CODE && rest.starts_with(b"unsigned int ") && !rest.contains(&b'{'))
}

/// Length of what stands between two items here: separators, comments and casts; 0 if an item does.
pub(super) fn gap(text: &[u8], is_separator: fn(u8) -> bool) -> usize {
    let mut at = 0usize;
    loop {
        let rest = text.get(at..).unwrap_or(&[]);
        let len = run(rest, is_separator);
        let len = if len == 0 { comment(rest) } else { len };
        if len == 0 {
            return at;
        }
        at = at.saturating_add(len);
    }
}

/// Length of the comment, or of Java's cast, that begins here.
fn comment(text: &[u8]) -> usize {
    if text.starts_with(b"/*") {
        let near = text.get(..COMMENT).unwrap_or(text);
        memchr::memmem::find(near, b"*/").map_or(0, |end| end.saturating_add(2))
    } else if text.starts_with(b"//") {
        memchr::memchr(b'\n', text).unwrap_or(text.len())
    } else if text.starts_with(b"(byte)") {
        b"(byte)".len()
    } else {
        0
    }
}

/// Length of the word of letters, digits and `_` that begins here, at least 1.
pub(super) fn word(text: &[u8]) -> usize {
    run(text, |byte| byte.is_ascii_alphanumeric() || byte == b'_').max(1)
}
