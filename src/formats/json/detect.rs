//! Whether an input is JSON: it is read, and what that gives is the evidence.

use crate::formats::json::wire::{BYTE_ORDER_MARK, Class, class, is_white};
use crate::formats::json::{PLAIN, decode};
use crate::formats::{Candidate, Context, Level, Sample};
use crate::model::bytemap::{Flags, Group, GroupId, GroupKind, Kind, Leaf};
use crate::model::diag::{Diagnostic, Severity};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::num::{count, len64};
use crate::wire::reader::Window;

/// Errors after which the reading stops.
const ENOUGH: u64 = 50;
/// Of a hundred bytes, how many must make sense where there is an error.
const MOST: u64 = 80;
/// Of a hundred bytes, how many must make sense where the first member or element is sound.
const MUCH: u64 = 40;

/// Counts what a reading gives.
#[derive(Default)]
struct Probe {
    /// Errors that count.
    errors: u64,
    first: Option<Diagnostic>,
    /// Where the sample ends, if the input goes on behind it.
    cut_at: Option<u64>,
    documents: u64,
    /// Kind of the first document, and its items.
    shape: Option<GroupKind>,
    items: u64,
    open: u64,
    /// The first member or element of the first document ended without an error.
    first_item_sound: bool,
    /// Bytes seen, and those of them that are no error.
    seen: u64,
    good: u64,
}

impl Sink for Probe {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        match self.open {
            0 => {}
            1 => {
                self.documents = self.documents.saturating_add(1);
                self.shape.get_or_insert(group.kind);
            }
            2 if self.documents == 1 => self.items = self.items.saturating_add(1),
            _ => {}
        }
        self.open = self.open.saturating_add(1);
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        self.open = self.open.saturating_sub(1);
        if self.open == 2 && self.items == 1 && self.first.is_none() {
            self.first_item_sound = true;
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, _head: &[u8]) -> Flow {
        self.seen = leaf.end;
        if leaf.kind != Kind::UNREAD && !leaf.flags.has(Flags::ERROR) {
            self.good = self.good.saturating_add(leaf.len());
        }
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        // Where the sample was cut, something is always missing.
        let at_cut = self.cut_at.is_some_and(|end| found.end >= end);
        if found.severity() != Severity::Error || at_cut {
            return Ok(());
        }
        self.errors = self.errors.saturating_add(1);
        self.first.get_or_insert_with(|| found.clone());
        if self.errors >= ENOUGH { Err(Stop::Enough) } else { Ok(()) }
    }
}

/// What speaks for and against JSON.
pub fn detect(sample: &Sample<'_>, context: &Context<'_>) -> Candidate {
    let cut_at = if sample.complete { None } else { Some(len64(sample.bytes.len())) };
    if let Some(contra) = cannot_begin(sample.bytes) {
        return candidate(Level::Possible, 0, String::new(), contra);
    }
    let mut probe = Probe { cut_at, ..Probe::default() };
    let mut window = Window::memory(sample.bytes.to_vec());
    // Memory can always be read, and the probe only stops when it has enough.
    let _ = decode::decode(&mut window, context, &mut probe);
    judge(&probe, sample)
}

/// Whether a text that is no JSON was meant as such: `{"` or `{'` in front, or both brackets of one pair
/// around it.
fn meant_as_json(bytes: &[u8]) -> bool {
    let white = |byte: &&u8| !is_white(**byte);
    let mut shown = bytes.iter().filter(white);
    let (first, second) = (shown.next(), shown.next());
    let last = bytes.iter().rev().find(white);
    match (first, last) {
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => true,
        (Some(b'{'), _) => matches!(second, Some(b'"' | b'\'')),
        _ => false,
    }
}

/// Why the first byte rules JSON out, if it does.
fn cannot_begin(bytes: &[u8]) -> Option<String> {
    let start = if bytes.starts_with(&BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = bytes.get(start..).unwrap_or(&[]);
    let Some(at) = text.iter().position(|byte| !is_white(*byte)) else {
        let what = if bytes.is_empty() { "no byte" } else { "only white space" };
        return Some(format!("{what}: a JSON text has a value"));
    };
    let byte = text.get(at).copied().unwrap_or(0);
    // A comment is not JSON either, but much that is nearly JSON begins with one.
    let begins = matches!(class(byte), Class::Quote | Class::Open(_) | Class::Word) || matches!(byte, b'/' | b'#');
    let at = start.saturating_add(at);
    if begins { None } else { Some(format!("{at:#04x}: {byte:02x} cannot begin a JSON text")) }
}

fn candidate(level: Level, score: u32, pro: String, contra: String) -> Candidate {
    let list = |text: String| if text.is_empty() { Vec::new() } else { vec![text] };
    Candidate { format: "json", variant: PLAIN, level, score, pro: list(pro), contra: list(contra) }
}

fn judge(probe: &Probe, sample: &Sample<'_>) -> Candidate {
    let complete = sample.complete;
    let whole = if complete { "complete to the last byte" } else { "without error as far as it was read" };
    let contra = probe.first.as_ref().map(|found| found.message.clone()).unwrap_or_default();
    let container = matches!(probe.shape, Some(GroupKind::Map | GroupKind::List));
    if probe.first.is_some() {
        let most = probe.good.saturating_mul(100) >= probe.seen.saturating_mul(MOST);
        if container && most && probe.items > 0 {
            let pro = format!("{}, {} of its first {} bytes read as JSON", what(probe), probe.good, probe.seen);
            return candidate(Level::Likely, 600, pro, contra);
        }
        let much = probe.good.saturating_mul(100) >= probe.seen.saturating_mul(MUCH);
        if container && much && probe.first_item_sound {
            let pro = format!("{}, the first of them sound", what(probe));
            return candidate(Level::Possible, 350, pro, contra);
        }
        if container && meant_as_json(sample.bytes) {
            let pro = "its brackets and quotes are those of a JSON text".to_owned();
            return candidate(Level::Possible, 340, pro, contra);
        }
        return candidate(Level::Possible, if container { 50 } else { 20 }, String::new(), contra);
    }
    let pro = format!("{}, {whole}", what(probe));
    match probe.shape {
        Some(GroupKind::Map | GroupKind::List) => {
            candidate(Level::Certain, if complete { 950 } else { 930 }, pro, contra)
        }
        _ => {
            let contra = "a number, text in quotes or a literal alone is also plain text".to_owned();
            candidate(Level::Possible, 320, pro, contra)
        }
    }
}

/// `one object of 4 members`
fn what(probe: &Probe) -> String {
    if probe.documents > 1 {
        return format!("{} JSON texts in a row", probe.documents);
    }
    match probe.shape {
        Some(GroupKind::Map) => format!("one object of {}", count(probe.items, "member", "members")),
        Some(GroupKind::List) => format!("one array of {}", count(probe.items, "element", "elements")),
        _ => "one value without parts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &[u8], complete: bool) -> Candidate {
        detect(
            &Sample { bytes: text, complete },
            &Context { owner: 0, variant: "plain", depth: 512, schema: None, root: None },
        )
    }

    #[test]
    fn complete_objects_and_arrays_are_certain() {
        let found = detected(br#"{"a":1,"b":[2],"c":{},"d":null}"#, true);
        assert_eq!((found.level, found.score), (Level::Certain, 950));
        assert_eq!(found.pro, ["one object of 4 members, complete to the last byte"]);
        assert_eq!(detected(b"[1]\n[2]\n", true).pro, ["2 JSON texts in a row, complete to the last byte"]);
    }

    #[test]
    fn a_cut_sample_counts_only_if_the_input_ends_there() {
        for cut in [r#"{"a":[1,2"#, r#"{"a":"x\u00"#, r#"{"a":tr"#, r#"{"a":-"#, "{\"a\":\"\u{c3}"] {
            assert_eq!(detected(cut.as_bytes(), false).level, Level::Certain, "{cut}");
            assert_ne!(detected(cut.as_bytes(), true).level, Level::Certain, "{cut}");
        }
    }

    #[test]
    fn other_bytes_say_why_not() {
        let found = detected(&[0x84, 0xa2], true);
        assert_eq!((found.score, found.contra[0].as_str()), (0, "0x00: 84 cannot begin a JSON text"));
        assert_eq!(detected(b"[section]\nkey = value\n", true).level, Level::Possible);
        assert_eq!(detected(b"hello world", true).level, Level::Possible);
        assert!(detected(b"12", true).score < 500);
    }

    #[test]
    fn nearly_json_is_likely_and_names_the_place() {
        let found = detected(br#"{"name":"a long enough text","b":[1,2,3,],"c":"more text"}"#, true);
        assert_eq!(found.level, Level::Likely);
        assert!(found.contra[0].starts_with("line 1, column 41: "), "{}", found.contra[0]);
    }
}
