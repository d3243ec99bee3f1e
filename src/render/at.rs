//! One offset: the leaf that owns it, what it means, and the groups around it.

use std::io::{self, Write};

use crate::formats::{self, Format, Telling};
use crate::model::bytemap::{Bits, Group, GroupId, GroupKind, Kind, Leaf, NO_TARGET};
use crate::model::diag::Diagnostic;
use crate::model::events::{Flow, Heading, Inner, PathStack, Said, Sink, Spoken};
use crate::model::num;
use crate::render::wrap;

/// Leaves that lead to the offset and are named.
const POINTING: usize = 12;

/// Bytes of a leaf that are printed.
const SHOWN: usize = 32;

/// Looks for the leaf at an offset while a walk passes by.
pub struct At {
    offset: u64,
    format: Option<&'static dyn Format>,
    paths: PathStack,
    open: Vec<Around>,
    /// The leaf, once found.
    found: Option<Found>,
    /// The place nearest to the offset, from below, that leaves lead to.
    target: u64,
    /// Those leaves.
    pointing: Vec<(u64, String)>,
    findings: Vec<Diagnostic>,
    /// The line above the object that is told.
    heading: Option<(String, String)>,
    spoken: Spoken,
    /// What follows is of a layer inside the message.
    inner: bool,
}

/// A group around the leaf.
#[derive(Debug, Clone)]
struct Around {
    id: GroupId,
    kind: GroupKind,
    /// Length of its path, which is the beginning of the leaf's.
    path: usize,
    start: u64,
    end: Option<u64>,
}

/// What is known of the leaf.
struct Found {
    leaf: Leaf,
    head: Vec<u8>,
    path: String,
    around: Vec<Around>,
    spoken: Spoken,
    heading: Option<(String, String)>,
}

impl At {
    /// Looks for the leaf that owns the byte at `offset`.
    pub fn new(offset: u64, format: Option<&'static dyn Format>) -> At {
        At {
            offset,
            format,
            paths: PathStack::default(),
            open: Vec::new(),
            found: None,
            target: 0,
            heading: None,
            pointing: Vec::new(),
            findings: Vec::new(),
            spoken: Spoken::default(),
            inner: false,
        }
    }

    /// Whether the offset lies in the input.
    pub fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Writes what was found.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let Some(found) = &self.found else { return Ok(()) };
        let leaf = &found.leaf;
        let info = formats::kind_info(leaf.kind);
        let (cause, wide) = (formats::cause_of(leaf), formats::width_of(leaf, &found.head));
        let bytes: Vec<String> = found.head.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
        let more = if leaf.len() > u64::try_from(bytes.len()).unwrap_or(0) { " .." } else { "" };
        let mut words = String::new();
        match self.format {
            _ if !found.spoken.words.is_empty() => words.push_str(found.spoken.words.trim_start_matches('|')),
            Some(format) if leaf.kind.owner != Kind::COMMON => {
                format.tell(leaf, &found.head, Telling::Alone, &mut words)
            }
            _ => words.push_str(&super::hexdump::common_words(leaf)),
        }
        words.push_str(&found.spoken.more);
        let of = if leaf.len() > 1 {
            format!(", byte {} of {}", self.offset - leaf.start + 1, leaf.len())
        } else {
            String::new()
        };
        writeln!(out, "{:#04x} is in {:#04x}..{:#04x}{of}", self.offset, leaf.start, leaf.end)?;
        writeln!(out, "  bytes    {}{more}", bytes.join(" "))?;
        writeln!(out, "  path     {}", if found.path.is_empty() { "(the whole message)" } else { &found.path })?;
        writeln!(out, "  kind     {}", info.name)?;
        for (index, line) in wrap::lines(&words, width.saturating_sub(11)).iter().enumerate() {
            writeln!(out, "  {:<8} {line}", if index == 0 { "meaning" } else { "" })?;
        }
        let width_part = if wide > 0 { format!(", {wide} of them width") } else { String::new() };
        writeln!(out, "  counts   {} as {}{width_part}", num::bytes(leaf.len()), cause.name())?;
        for reading in &found.spoken.readings {
            writeln!(out, "  reading  {} {}: {}", reading.kind, reading.value, reading.why)?;
        }
        let bits = self.format.map(|format| format.bits(leaf, &found.head)).unwrap_or_default();
        self.bits(&bits, out)?;
        if leaf.target != NO_TARGET {
            writeln!(out, "  leads to {:#04x}", leaf.target)?;
        }
        if let Some((text, from)) = &found.heading {
            writeln!(out, "{}", format!("  object   {text}  {from}").trim_end())?;
        }
        let here = self.target == leaf.start || self.target == self.offset;
        for (from, path) in self.pointing.iter().filter(|_| here).take(POINTING) {
            writeln!(out, "  from     {from:#04x} {path}")?;
        }
        let more = self.pointing.len().saturating_sub(POINTING);
        if here && more > 0 {
            writeln!(out, "  from     {} more", num::count(num::len64(more), "place", "places"))?;
        }
        let scattered = self.format.is_some_and(|format| format.info().scattered);
        let mut last = String::new();
        for around in found.around.iter().rev().filter(|around| around.kind != GroupKind::Root) {
            let path = found.path.get(..around.path).unwrap_or(&found.path);
            let line = words_of(around, path, scattered);
            // A message and the struct at its root have the same name.
            if line != last {
                writeln!(out, "  inside   {line}")?;
            }
            last = line;
        }
        for one in self.findings.iter().filter(|one| one.start < leaf.end && one.end > leaf.start) {
            writeln!(out, "  {:<8} {}: {}", one.severity().name(), one.code.text(), one.message)?;
        }
        Ok(())
    }

    /// Keeps who leads to the place that is nearest to the offset from below.
    fn point(&mut self, leaf: &Leaf) {
        if leaf.target == NO_TARGET || leaf.target > self.offset || leaf.target < self.target {
            return;
        }
        if leaf.target > self.target {
            self.pointing.clear();
            self.target = leaf.target;
        }
        self.pointing.push((leaf.start, self.paths.path().to_string()));
    }

    fn bits(&self, bits: &[Bits], out: &mut dyn Write) -> io::Result<()> {
        for (name, value) in joined(bits) {
            writeln!(out, "  {:<8} {name} = {value}", "")?;
        }
        for (index, bit) in bits.iter().enumerate() {
            let size = usize::try_from(bit.hi.saturating_sub(bit.lo)).unwrap_or(0).saturating_add(1);
            let label = if index == 0 { "bits" } else { "" };
            let span = if bit.hi == bit.lo { bit.hi.to_string() } else { format!("{}..{}", bit.hi, bit.lo) };
            writeln!(out, "  {label:<8} {span:<7} {:0size$b}  {} {}", bit.value, bit.name, bit.value)?;
        }
        Ok(())
    }
}

/// The values that stand in several pieces, put together; the first piece is the highest.
fn joined(bits: &[Bits]) -> Vec<(&'static str, u64)> {
    let mut joined: Vec<(&'static str, u64, usize)> = Vec::new();
    for bit in bits {
        let size = bit.hi.saturating_sub(bit.lo).saturating_add(1);
        match joined.last_mut().filter(|(name, ..)| *name == bit.name) {
            Some((_, value, pieces)) => {
                *value = value.checked_shl(size).unwrap_or(0) | bit.value;
                *pieces = pieces.saturating_add(1);
            }
            None => joined.push((bit.name, bit.value, 1)),
        }
    }
    joined.into_iter().filter(|(.., pieces)| *pieces > 1).map(|(name, value, _)| (name, value)).collect()
}

/// What a byte is inside of.
fn words_of(around: &Around, path: &str, scattered: bool) -> String {
    let kind = match around.kind {
        GroupKind::Element | GroupKind::Item => "element",
        GroupKind::Root => "input",
        GroupKind::Record => "record",
        GroupKind::Map => "map",
        GroupKind::List => "list",
        GroupKind::Value => "field",
        GroupKind::Part => "part of",
    };
    let path = if path.is_empty() { "(the whole message)" } else { path };
    match around.end {
        // Its bytes lie in several places.
        _ if scattered => format!("{kind} {path}"),
        Some(end) => format!("{:#04x}..{end:#04x} {kind} {path}", around.start),
        None => format!("{:#04x}.. {kind} {path}", around.start),
    }
}

impl Sink for At {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.paths.push(group.step);
        let path = self.paths.path().len();
        self.open.push(Around { id: group.id, kind: group.kind, path, start: group.start, end: None });
        Ok(())
    }

    fn wants_words(&self) -> bool {
        true
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        self.spoken.hear(said);
        Ok(())
    }

    fn heading(&mut self, heading: &Heading<'_>) -> Flow {
        let text = heading.text.trim_start_matches([' ', '-']);
        self.heading = (!text.is_empty()).then(|| (text.to_string(), heading.from.to_string()));
        Ok(())
    }

    fn layer(&mut self, _layer: &Inner<'_>) -> Flow {
        self.inner = true;
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        if self.inner {
            return Ok(());
        }
        if leaf.start <= self.offset && self.offset < leaf.end {
            let path = self.paths.path().to_string();
            let spoken = self.spoken.clone();
            self.found = Some(Found {
                leaf: *leaf,
                head: head.to_vec(),
                path,
                around: self.open.clone(),
                spoken,
                heading: self.heading.clone(),
            });
        }
        self.point(leaf);
        self.spoken.forget();
        Ok(())
    }

    fn close(&mut self, id: GroupId, end: u64) -> Flow {
        self.paths.pop();
        self.open.pop();
        if let Some(found) = &mut self.found
            && let Some(around) = found.around.iter_mut().find(|around| around.id == id)
        {
            around.end = Some(end);
        }
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.findings.push(found.clone());
        Ok(())
    }
}
