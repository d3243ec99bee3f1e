//! The head of a dump: what the input is, why, what it says, how to read the rows. Made from a first
//! reading of the input's first MiB.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::formats::{Format, Nouns};
use crate::inspect::Inspection;
use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::num;
use crate::model::value::{Event, Scalar, Shape, plain_words, utc};
use crate::render::style::Paint;
use crate::render::types::Types;
use crate::render::{Rows, View, wrap};

/// Characters of the value that the head tells: two lines.
const VALUE_CHARS: usize = 170;

/// Scalar elements of a list that the value tells.
const ELEMENTS: u64 = 8;

/// Characters of one text in the value.
const TEXT_CHARS: usize = 40;

/// Bytes and elements that a list of containers has at most where it is told in full.
const LIST_BYTES: usize = 60;
const LIST_ELEMENTS: u64 = 4;

/// Events of a value that are looked at: the values of a long input take no longer than this.
const MOST_EVENTS: u64 = 4_000_000;

/// Columns that the labels of a head take.
const LABEL: usize = 9;

/// What a first reading finds for the head.
#[derive(Debug)]
pub struct Preview {
    types: Types,
    /// Keys that are numbers stand for names.
    numbers: bool,
    nouns: Option<Nouns>,
    text: String,
    open: Vec<Open>,
    /// Containers within a part that is only summarised.
    skipped: usize,
    messages: u64,
    first: Option<(Shape, u64)>,
    /// The first container says how much it holds.
    announced: bool,
    /// All of the input is read: what is counted is all there is.
    complete: bool,
    /// Events that may still come.
    left: u64,
    /// Findings told.
    pub found: Vec<Diagnostic>,
    /// Findings counted.
    pub tally: Tally,
}

/// An open container of the value.
#[derive(Debug)]
struct Open {
    shape: Shape,
    announced: Option<u64>,
    items: u64,
    /// A list of containers: where it is long, only their number is told.
    summary: Option<Shape>,
    /// Such a list is told in full as long as it is short: where its text begins.
    told_from: Option<usize>,
    /// The type of its elements, where they have one.
    noun: Option<String>,
}

impl Preview {
    /// A preview in the words of a format, of all of an input or of its first MiB.
    pub fn new(format: Option<&'static dyn Format>, complete: bool, types: Types) -> Preview {
        Preview {
            numbers: format.is_some_and(|format| format.info().bound()),
            types,
            nouns: format.map(|format| format.info().nouns),
            text: String::new(),
            open: Vec::new(),
            skipped: 0,
            messages: 0,
            first: None,
            announced: false,
            complete,
            left: MOST_EVENTS,
            found: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Messages in a row.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The value in one or two lines.
    pub fn value(&self) -> String {
        if self.text.chars().count() <= VALUE_CHARS {
            return self.text.clone();
        }
        let kept: String = self.text.chars().take(VALUE_CHARS - 4).collect();
        format!("{kept} ...")
    }

    /// `one map of 4 entries`, `5 objects in a row`; of an input that was read in part only what it announces.
    pub fn what(&self) -> String {
        if !self.complete {
            return self.what_begins();
        }
        let Some(nouns) = self.nouns else { return "nothing that is known here".to_string() };
        match (self.messages, self.first) {
            (0, _) => "no value".to_string(),
            (1, _) if self.types.root().is_some() => format!("one {}", self.types.root().unwrap_or_default()),
            (many, _) if self.types.root().is_some() => {
                format!("{many} {} messages in a row", self.types.root().unwrap_or_default())
            }
            (1, Some((Shape::Map, count))) => {
                format!("one {} of {}", nouns.map, num::count(count, nouns.entry, nouns.entries))
            }
            (1, Some((Shape::List, count))) => {
                format!("one {} of {}", nouns.list, num::count(count, "element", "elements"))
            }
            (1, None) => "one value".to_string(),
            (many, _) => format!("{many} {}s in a row", nouns.message),
        }
    }

    fn what_begins(&self) -> String {
        let Some(nouns) = self.nouns else { return "nothing that is known here".to_string() };
        if let Some(root) = self.types.root() {
            return if self.messages > 1 { format!("many {root} messages in a row") } else { format!("one {root}") };
        }
        match (self.messages, self.first, self.announced) {
            (0 | 1, Some((Shape::Map, count)), true) => {
                format!("one {} of {}", nouns.map, num::count(count, nouns.entry, nouns.entries))
            }
            (0 | 1, Some((Shape::List, count)), true) => {
                format!("one {} of {}", nouns.list, num::count(count, "element", "elements"))
            }
            (0 | 1, Some((Shape::Map, _)), false) => format!("one {}", nouns.map),
            (0 | 1, Some((Shape::List, _)), false) => format!("one {}", nouns.list),
            (0 | 1, None, _) => "one value".to_string(),
            _ => format!("many {}s in a row", nouns.message),
        }
    }

    /// What findings add to rows, by offset.
    pub fn remarks(&self) -> HashMap<u64, String> {
        self.found.iter().flat_map(|found| found.remarks.iter().cloned()).collect()
    }

    fn full(&self) -> bool {
        // Four bytes a character at most, so the byte length is a cheap upper bound.
        self.text.len() > VALUE_CHARS.saturating_mul(4)
    }

    /// No more is looked at: what is open ends with what it announces.
    fn cut(&mut self) {
        self.complete = false;
        self.skipped = 0;
        while let Some(open) = self.open.last() {
            if open.shape == Shape::Map {
                let more = match (open.items, open.items % 2) {
                    _ if self.text.ends_with(" ...}") => "",
                    (0, _) => "...",
                    (_, 1) => ": ...",
                    _ => ", ...",
                };
                self.text.push_str(more);
            }
            self.end();
        }
    }

    /// Whether a list of containers is still told in full. Where it gets long, what was told of it is taken back.
    fn tells_containers(&mut self, index: u64) -> bool {
        let Some(open) = self.open.last_mut() else { return false };
        if index == 0 {
            open.told_from = self.complete.then_some(self.text.len());
            self.text.push_str(if self.complete { "[" } else { "" });
        }
        let Some(from) = open.told_from else { return false };
        if index >= LIST_ELEMENTS || self.text.len().saturating_sub(from) > LIST_BYTES {
            open.told_from = None;
            self.text.truncate(from);
            return false;
        }
        self.text.push_str(if index > 0 { ", " } else { "" });
        true
    }

    /// Punctuation in front of the next item; false where items are not told one by one.
    fn before_item(&mut self, item: Option<Shape>) -> bool {
        if self.skipped > 0 {
            return false;
        }
        let full = self.full();
        let Some(open) = self.open.last_mut() else {
            if self.messages > 1 && !self.text.is_empty() {
                self.text.push_str(", ");
            }
            return !full;
        };
        let index = open.items;
        open.items = open.items.saturating_add(1);
        if open.shape == Shape::List {
            if index == 0 {
                open.summary = item;
                if item.is_none() {
                    self.text.push('[');
                }
            }
            if open.summary.is_some() {
                return !full && self.tells_containers(index);
            }
            if index >= ELEMENTS || full {
                return false;
            }
            if index > 0 {
                self.text.push_str(", ");
            }
            return true;
        }
        if full {
            return false;
        }
        match (index, index % 2) {
            (0, _) => {}
            (_, 1) => self.text.push_str(": "),
            _ => self.text.push_str(", "),
        }
        true
    }

    fn begin(&mut self, shape: Shape, announced: Option<u64>) {
        // Values that are gathered from a part of the input count what is in that part.
        let announced = announced.filter(|_| self.complete || !self.numbers);
        if self.open.is_empty() && self.skipped == 0 && self.messages == 1 && self.first.is_none() {
            self.first = Some((shape, announced.unwrap_or(0)));
            self.announced = announced.is_some();
        }
        if !self.before_item(Some(shape)) {
            self.skipped = self.skipped.saturating_add(1);
            return;
        }
        if shape == Shape::Map {
            self.text.push('{');
        }
        let noun = self.types.elements();
        self.open.push(Open { shape, announced, items: 0, summary: None, told_from: None, noun });
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let Some(open) = self.open.pop() else { return };
        let entries = if open.shape == Shape::Map { open.items.div_ceil(2) } else { open.items };
        if self.open.is_empty()
            && self.messages == 1
            && let Some((_, count)) = &mut self.first
        {
            *count = open.announced.unwrap_or(entries);
        }
        if open.shape == Shape::Map {
            self.text.push('}');
            return;
        }
        let nouns = self.nouns.unwrap_or(Nouns {
            map: "map",
            entry: "entry",
            entries: "entries",
            list: "array",
            message: "object",
        });
        let count = if self.complete { entries } else { open.announced.unwrap_or(0) };
        let missing = open.announced.unwrap_or(0).saturating_sub(count);
        let in_full = open.told_from.is_some_and(|from| self.ends_short(from));
        match open.summary {
            Some(_) if in_full => self.text.push(']'),
            Some(shape) => {
                let noun = if shape == Shape::Map { nouns.map } else { nouns.list };
                let (one, many) = match open.noun {
                    Some(name) => (name.clone(), name),
                    None => (noun.to_string(), format!("{noun}s")),
                };
                let words = match count {
                    0 if !self.complete => many,
                    count => num::count(count, &one, &many),
                };
                self.text.push_str(&format!("[{words}]"));
            }
            None if open.items == 0 => self.text.push_str("[]"),
            None if count > ELEMENTS => {
                let more = count.saturating_sub(ELEMENTS);
                let missing = if missing > 0 { format!(", {missing} missing") } else { String::new() };
                self.text.push_str(&format!(", ... {more} more{missing}]"));
            }
            None => self.text.push(']'),
        }
    }

    /// Whether a list of containers that was told in full so far ends as a short one; else that is taken back.
    fn ends_short(&mut self, from: usize) -> bool {
        let short = self.complete && self.text.len().saturating_sub(from) <= LIST_BYTES;
        if !short {
            self.text.truncate(from);
        }
        short
    }

    fn scalar(&mut self, value: &Scalar<'_>, is_key: bool) {
        if self.before_item(None) {
            self.text.push_str(&scalar_words(value, is_key, self.numbers));
        }
    }

    fn at_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.shape == Shape::Map && open.items.is_multiple_of(2))
    }
}

fn scalar_words(value: &Scalar<'_>, is_key: bool, numbers: bool) -> String {
    match value {
        Scalar::Null => "null".to_string(),
        Scalar::Missing => "(missing)".to_string(),
        Scalar::Text(text) => {
            let whole = String::from_utf8_lossy(text);
            // Field numbers stand for names where no schema was told.
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
            if is_key && (crate::model::bytemap::is_plain_name(&whole) || numbers && plain(&whole)) {
                return whole.to_string();
            }
            let kept: String = whole.chars().take(TEXT_CHARS).collect();
            let quoted = crate::formats::quoted(kept.as_bytes());
            if kept.len() < whole.len() { format!("{quoted}..") } else { quoted }
        }
        Scalar::Bytes(bytes) => num::bytes(u64::try_from(bytes.len()).unwrap_or(0)),
        Scalar::Ext(kind, bytes) => format!("ext {kind} of {}", num::bytes(num::len64(bytes.len()))),
        Scalar::Timestamp(secs, nanos) => utc(*secs, *nanos).unwrap_or_else(|| format!("{secs} s")),
        plain => plain_words(plain).unwrap_or_default(),
    }
}

impl Sink for Preview {
    fn wants_values(&self) -> bool {
        true
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        // The end of a sample looks like a cut.
        if !self.complete {
            return Ok(());
        }
        if self.tally.count(found.severity()) {
            self.found.push(found.clone());
        }
        Ok(())
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        let Some(left) = self.left.checked_sub(1) else {
            self.cut();
            return Err(Stop::Enough);
        };
        self.left = left;
        self.types.follow(&event);
        match event {
            Event::Message(number) => self.messages = number.saturating_add(1),
            Event::Begin(shape, announced) => self.begin(shape, announced),
            Event::End => self.end(),
            Event::Scalar(value) => {
                let is_key = self.at_key();
                self.scalar(&value, is_key);
            }
            Event::Piece { total, first: true, .. } => {
                let words = total.map_or("a long value".to_string(), |total| format!("{total} bytes"));
                if self.before_item(None) {
                    self.text.push_str(&words);
                }
            }
            Event::Piece { .. } => {}
        }
        Ok(())
    }
}

/// `, 1 ERROR, 2 warnings`, or nothing.
fn findings(tally: &Tally) -> String {
    let mut text = String::new();
    if tally.errors > 0 {
        text.push_str(&format!(", {}", num::count(tally.errors, "ERROR", "ERRORS")));
    }
    if tally.warnings > 0 {
        text.push_str(&format!(", {}", num::count(tally.warnings, "warning", "warnings")));
    }
    text
}

/// Writes the head.
///
/// # Errors
/// Output that cannot be written.
pub fn write(
    out: &mut dyn Write,
    inspection: &Inspection,
    preview: &Preview,
    told: bool,
    view: &View,
) -> io::Result<()> {
    let paint = Paint::new(view.color);
    let mut first = String::new();
    let mut title = format!("{}: ", inspection.name);
    for layer in &inspection.outer {
        title.push_str(&format!("{} -> ", layer.said));
    }
    if let Some(size) = inspection.message_size() {
        title.push_str(&format!("{} of ", num::bytes(size)));
    }
    match (inspection.format, inspection.named) {
        (Some(format), _) => {
            title.push_str(format.info().title);
            // Where no variant goes without saying, it is said.
            if format.info().variants.first().is_some_and(|first| first.name != "plain") {
                title.push_str(&format!(", {}", inspection.variant));
            }
        }
        (None, Some(named)) => title.push_str(&format!("no known format, by the first of them {named}")),
        (None, None) if inspection.is_text() => title.push_str("plain text, no message that is known here"),
        (None, None) => title.push_str("no known format"),
    }
    if inspection.format.is_some() {
        let begins = if preview.complete { ", " } else { ", begins with " };
        let unbound = inspection.format.is_some_and(|format| format.info().bound()) && inspection.root_name().is_none();
        let guesses = if unbound { ", no schema: numbers instead of names, types are guesses" } else { "" };
        title.push_str(&format!("{begins}{}{guesses}{}", preview.what(), findings(&preview.tally)));
    }
    let outer = inspection.outer_errors();
    if outer > 0 {
        title.push_str(&format!(", {} around it", num::count(outer, "ERROR", "ERRORS")));
    }
    paint.bold(&title, &mut first);
    writeln!(out, "{first}")?;
    let mut why = Vec::new();
    if !told && !inspection.candidates.is_empty() {
        why.push(inspection.why());
    }
    why.extend(
        inspection
            .chosen
            .iter()
            .filter(|chosen| matches!(chosen.what, "type" | "variant"))
            .map(|chosen| chosen.why.clone()),
    );
    if !why.is_empty() {
        label(out, "why", &why.join("; "), view.width)?;
    }
    let value = preview.value();
    if !value.is_empty() {
        label(out, "value", &value, view.width)?;
    }
    if let Some(format) = inspection.format.filter(|_| view.rows == Rows::Fields) {
        label(out, "read", format.info().read, view.width)?;
    }
    layers(out, inspection, view)?;
    writeln!(out)
}

/// A heading for each layer around the message, with what is wrong in it.
fn layers(out: &mut dyn Write, inspection: &Inspection, view: &View) -> io::Result<()> {
    let paint = Paint::new(view.color);
    for (number, layer) in (1..).zip(&inspection.outer) {
        writeln!(
            out,
            "   -- layer {number}: {} (--layer {number} shows it, -e raw reads the text itself)",
            layer.said
        )?;
        for found in &layer.found {
            let severity = found.severity();
            let label = format!("{} {}", severity.name().to_uppercase(), found.code.text());
            let text = format!("{label} at {:#04x}: {}", found.start, found.message);
            for part in wrap::lines(&text, view.width.saturating_sub(LABEL)) {
                let mut line = String::new();
                paint.severity(severity, &part, &mut line);
                writeln!(out, "      {line}")?;
            }
        }
    }
    Ok(())
}

fn label(out: &mut dyn Write, name: &str, text: &str, width: usize) -> io::Result<()> {
    let room = width.saturating_sub(LABEL).max(30);
    for (index, line) in wrap::lines(text, room).iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        writeln!(out, "  {name:<7}{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn text(text: &str) -> Event<'_> {
        Event::Scalar(Scalar::Text(Cow::Borrowed(text.as_bytes())))
    }

    /// The value `{a: 1, list: [...]}` with `count` elements `{x: 5}`, of which so many events are looked at.
    fn told(count: u64, events: u64) -> String {
        let mut preview = Preview::new(None, true, Types::default());
        preview.left = events;
        let mut send = |event: Event<'_>| Sink::value(&mut preview, event).is_ok();
        let mut all =
            vec![Event::Message(0), Event::Begin(Shape::Map, None), text("a"), Event::Scalar(Scalar::Uint(1))];
        all.extend([text("list"), Event::Begin(Shape::List, Some(count))]);
        for _ in 0..count {
            all.extend([Event::Begin(Shape::Map, None), text("x"), Event::Scalar(Scalar::Uint(5)), Event::End]);
        }
        all.extend([Event::End, Event::End]);
        let _ = all.into_iter().all(&mut send);
        preview.value()
    }

    #[test]
    fn a_short_list_of_containers_is_told_in_full() {
        assert_eq!(told(2, 1000), r#"{a: 1, list: [{x: 5}, {x: 5}]}"#);
        assert_eq!(told(4, 1000), r#"{a: 1, list: [{x: 5}, {x: 5}, {x: 5}, {x: 5}]}"#);
        assert_eq!(told(5, 1000), r#"{a: 1, list: [5 maps]}"#);
        assert_eq!(told(0, 1000), r#"{a: 1, list: []}"#);
    }

    #[test]
    fn a_value_that_is_not_read_to_its_end_says_so() {
        // Seven events, and the list announces 90 elements; other fields may follow.
        assert_eq!(told(90, 7), r#"{a: 1, list: [90 maps], ...}"#);
        assert_eq!(told(90, 5), r#"{a: 1, list: ...}"#);
        assert_eq!(told(90, 3), r#"{a: ...}"#);
        assert_eq!(told(90, 1000), r#"{a: 1, list: [90 maps]}"#);
    }
}
