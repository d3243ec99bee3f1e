//! The inspection as data: one JSON object (`--to json`), or a line an item as the walk goes (`jsonl`).
//! The shapes are those of design.md section 4.

use std::io::Write;

use crate::convert;
use crate::formats::{self, Run, json_string};
use crate::inspect::{Inspection, Layer};
use crate::model::bytemap::{Bits, Cause, Flags, Group, GroupId, Leaf, NO_TARGET};
use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Inner, PathStack, Said, Sink, Spoken, Stop};
use crate::size::Causes;

/// Writes the whole object. The input must be readable twice.
///
/// # Errors
/// What stopped a walk.
pub fn write(out: &mut dyn Write, inspection: &mut Inspection) -> Result<Tally, Stop> {
    write!(out, "{{{}", opening(inspection))?;
    write!(out, ",\"layers\":[")?;
    for (number, layer) in inspection.outer.iter().enumerate() {
        outer_layer(out, layer, number)?;
        write!(out, ",")?;
    }
    let number = inspection.layer();
    write!(out, "{{{},\"spans\":[", layer_head(inspection, number))?;
    let mut spans = Spans::new(out, None);
    (spans.base, spans.layer) = (number, number);
    let walked = inspection.walk(&mut spans)?;
    let found = std::mem::take(&mut spans.found);
    write!(out, "]}}],\"value\":")?;
    value(out, inspection)?;
    write!(out, ",\"diagnostics\":[")?;
    let mut first = true;
    let outer =
        inspection.outer.iter().enumerate().flat_map(|(at, layer)| layer.found.iter().map(move |found| (at, found)));
    for (layer, found) in outer.chain(found.iter().map(|(layer, found)| (*layer, found))) {
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        write!(out, "{comma}{{{}}}", diagnostic(found, layer))?;
    }
    writeln!(out, "]}}")?;
    Ok(walked.tally)
}

/// Writes a line for each layer, span and finding as they come, and a last one with the sums.
///
/// # Errors
/// What stopped the walk.
pub fn write_lines(out: &mut dyn Write, inspection: &mut Inspection) -> Result<Tally, Stop> {
    for (number, layer) in inspection.outer.iter().enumerate() {
        writeln!(out, "{{\"layer\":{{{}}}}}", head_of(layer, number))?;
        let mut spans = Spans::new(out, Some(number));
        layer_leaves(layer, &mut spans)?;
    }
    let number = inspection.layer();
    writeln!(out, "{{\"layer\":{{{}}},{}}}", layer_head(inspection, number), opening(inspection))?;
    let mut spans = Spans::new(out, Some(number));
    (spans.base, spans.layer) = (number, number);
    let walked = inspection.walk(&mut spans)?;
    let causes: Vec<String> =
        spans.causes.present().map(|(cause, bytes)| format!("{}:{bytes}", json_string(cause.name()))).collect();
    let exit = u8::from(walked.tally.errors > 0 || inspection.outer_errors() > 0);
    let causes = causes.join(",");
    writeln!(out, "{{\"end\":{{\"size\":{},\"causes\":{{{causes}}},\"exit\":{exit}}}}}", walked.size)?;
    Ok(walked.tally)
}

/// The members in front of the layers.
fn opening(inspection: &Inspection) -> String {
    let size = inspection.size.map_or("null".to_string(), |size| size.to_string());
    let format = inspection.format.map_or("null".to_string(), |format| json_string(format.info().name));
    let root = inspection.root_name().map_or("null".to_string(), json_string);
    let variant = inspection.format.map_or("null".to_string(), |_| json_string(inspection.variant));
    let chosen: Vec<String> = inspection
        .chosen
        .iter()
        .map(|chosen| {
            let others: Vec<String> = chosen.others.iter().map(|other| json_string(other)).collect();
            format!(
                "{{\"what\":{},\"value\":{},\"why\":{},\"others\":[{}]}}",
                json_string(chosen.what),
                json_string(&chosen.value),
                json_string(&chosen.why),
                others.join(",")
            )
        })
        .collect();
    format!(
        "\"tool\":{{\"name\":\"wireinspect\",\"version\":{}}},\"input\":{{\"name\":{},\"size\":{size}}},\"format\":{format},\"variant\":{variant},\"root\":{root},\"chosen\":[{}]",
        json_string(env!("CARGO_PKG_VERSION")),
        json_string(&inspection.name),
        chosen.join(",")
    )
}

/// Name, size and origin of the layer that holds the message.
fn layer_head(inspection: &Inspection, number: usize) -> String {
    let size = inspection.message_size().map_or("null".to_string(), |size| size.to_string());
    match (inspection.outer.last(), number.checked_sub(1)) {
        (Some(layer), Some(below)) => {
            let (end, by) = (layer.bytes.len(), json_string(layer.by));
            format!(
                "\"name\":\"message\",\"size\":{size},\"from\":{{\"layer\":{below},\"start\":0,\"end\":{end},\"by\":{by}}}"
            )
        }
        _ => format!("\"name\":\"file\",\"size\":{size},\"from\":null"),
    }
}

fn head_of(layer: &Layer, number: usize) -> String {
    let name = if number == 0 { "file" } else { layer.by };
    format!("\"name\":{},\"size\":{},\"from\":null", json_string(name), layer.bytes.len())
}

fn outer_layer(out: &mut dyn Write, layer: &Layer, number: usize) -> Flow {
    write!(out, "{{{},\"spans\":[", head_of(layer, number))?;
    let mut spans = Spans::new(out, None);
    layer_leaves(layer, &mut spans)?;
    write!(out, "]}}")?;
    Ok(())
}

/// Sends the leaves of an outer layer, each behind the findings on it, to a sink.
///
/// # Errors
/// What the sink returns.
pub fn layer_leaves(layer: &Layer, sink: &mut dyn Sink) -> Flow {
    let mut found = layer.found.iter().peekable();
    for leaf in layer.leaves.iter() {
        while let Some(found) = found.next_if(|found| found.start < leaf.end) {
            sink.diagnostic(found)?;
        }
        let (start, end) = (usize::try_from(leaf.start).unwrap_or(0), usize::try_from(leaf.end).unwrap_or(usize::MAX));
        let bytes = layer.bytes.get(start..end).unwrap_or(&[]);
        let (head, rest) = bytes.split_at_checked(crate::model::limits::PIECE).unwrap_or((bytes, &[]));
        sink.leaf(&leaf, head)?;
        for piece in rest.chunks(crate::model::limits::PIECE) {
            sink.more(piece)?;
        }
    }
    Ok(())
}

/// The value, exactly as `convert --to json` writes it; null where no format was found.
fn value(out: &mut dyn Write, inspection: &mut Inspection) -> Flow {
    if inspection.format.is_none() {
        return Ok(write!(out, "null")?);
    }
    if convert::json(inspection, out)? { Ok(()) } else { Ok(write!(out, "null")?) }
}

/// A finding as the members of an object.
pub fn diagnostic(found: &Diagnostic, layer: usize) -> String {
    format!(
        "\"code\":{},\"severity\":{},\"layer\":{layer},\"start\":{},\"end\":{},\"path\":{},\"message\":{},\"help\":{}",
        json_string(found.code.text()),
        json_string(found.severity().name()),
        found.start,
        found.end,
        json_string(&found.path),
        json_string(&found.message),
        if found.help.is_empty() { "null".to_string() } else { json_string(&found.help) }
    )
}

/// Writes each leaf as a span.
struct Spans<'a> {
    out: &'a mut dyn Write,
    /// The layer to name in each line; none inside the array of the one object.
    line: Option<usize>,
    first: bool,
    paths: PathStack,
    causes: Causes,
    found: Vec<(usize, Diagnostic)>,
    text: String,
    spoken: Spoken,
    /// Number of the message's layer.
    base: usize,
    /// Number of the layer that is open.
    layer: usize,
}

impl<'a> Spans<'a> {
    fn new(out: &'a mut dyn Write, line: Option<usize>) -> Spans<'a> {
        Spans {
            out,
            line,
            first: true,
            paths: PathStack::default(),
            causes: Causes::default(),
            found: Vec::new(),
            text: String::new(),
            spoken: Spoken::default(),
            base: 0,
            layer: 0,
        }
    }
}

impl Sink for Spans<'_> {
    fn open(&mut self, group: &Group<'_>) -> Flow {
        self.paths.push(group.step);
        Ok(())
    }

    fn close(&mut self, _id: GroupId, _end: u64) -> Flow {
        self.paths.pop();
        Ok(())
    }

    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        if self.line.is_some() {
            writeln!(self.out, "{{\"diagnostic\":{{{}}}}}", diagnostic(found, self.layer))?;
        } else {
            self.found.push((self.layer, found.clone()));
        }
        Ok(())
    }

    fn wants_words(&self) -> bool {
        true
    }

    fn path(&self) -> Option<&str> {
        Some(self.paths.path())
    }

    fn say(&mut self, said: &Said<'_>) -> Flow {
        self.spoken.hear(said);
        Ok(())
    }

    fn layer(&mut self, layer: &Inner<'_>) -> Flow {
        self.layer = self.layer.saturating_add(1);
        let head = format!(
            "\"name\":{},\"size\":{},\"from\":{{\"layer\":{},\"start\":{},\"end\":{},\"by\":{}}}",
            json_string(layer.name),
            layer.size,
            self.base,
            layer.start,
            layer.end,
            json_string(layer.by)
        );
        if self.line.is_some() {
            writeln!(self.out, "{{\"layer\":{{{head}}}}}")?;
        } else {
            write!(self.out, "]}},{{{head},\"spans\":[")?;
        }
        self.first = true;
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, head: &[u8]) -> Flow {
        if self.layer == self.base {
            self.causes.add(leaf, head);
        }
        let format = formats::ALL.get(usize::from(leaf.kind.owner));
        let (cause, width) = (formats::cause_of(leaf), formats::width_of(leaf, head));
        let payload = if cause == Cause::Payload { leaf.len().saturating_sub(width) } else { 0 };
        self.text.clear();
        match format {
            _ if !self.spoken.words.is_empty() => self.text.push_str(self.spoken.words.trim_start_matches('|')),
            Some(format) => format.tell(leaf, head, formats::Telling::Alone, &mut self.text),
            None => self.text.push_str(&super::hexdump::common_words(leaf)),
        }
        self.text.push_str(&self.spoken.more);
        let said = self.spoken.value.take();
        let value = said.or_else(|| format?.value(leaf, head)).unwrap_or_else(|| "null".to_string());
        let bits = format.map(|format| format.bits(leaf, head)).unwrap_or_default();
        let target = if leaf.target == NO_TARGET { "null".to_string() } else { leaf.target.to_string() };
        let run = format.and_then(|format| format.run(leaf, head)).map_or(String::new(), |run| {
            let Run { count, stride, first, last } = run;
            format!(",\"count\":{count},\"stride\":{stride},\"first\":{first},\"last\":{last}")
        });
        let comma = if std::mem::take(&mut self.first) || self.line.is_some() { "" } else { "," };
        let layer = self.line.map_or(String::new(), |_| format!("\"layer\":{},", self.layer));
        let name = formats::kind_info(leaf.kind).name;
        let span = format!(
            "{comma}{{{layer}\"start\":{},\"end\":{},\"kind\":{},\"cause\":\"{}\",\"payload\":{payload},\"width\":{width},\"path\":{},\"depth\":{},\"text\":{},\"value\":{value},\"bits\":[{}],\"target\":{target},\"refs\":{}{run},\"status\":\"{}\",\"readings\":[{}],\"mark\":null}}",
            leaf.start,
            leaf.end,
            json_string(name),
            cause.name(),
            json_string(self.paths.path()),
            self.paths.depth().saturating_sub(2),
            json_string(&self.text),
            bits_json(&bits),
            self.spoken.refs,
            status(leaf.flags),
            readings(&self.spoken),
        );
        self.spoken.forget();
        self.out.write_all(span.as_bytes())?;
        if self.line.is_some() {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// The readings that compete, as the items of an array.
fn readings(spoken: &Spoken) -> String {
    let parts: Vec<String> = spoken
        .readings
        .iter()
        .map(|reading| {
            let (kind, value, why) =
                (json_string(reading.kind), json_string(&reading.value), json_string(&reading.why));
            format!("{{\"kind\":{kind},\"value\":{value},\"why\":{why}}}")
        })
        .collect();
    parts.join(",")
}

fn bits_json(bits: &[Bits]) -> String {
    let parts: Vec<String> = bits
        .iter()
        .map(|bit| {
            format!(
                "{{\"hi\":{},\"lo\":{},\"name\":{},\"value\":{}}}",
                bit.hi,
                bit.lo,
                json_string(bit.name),
                bit.value
            )
        })
        .collect();
    parts.join(",")
}

fn status(flags: Flags) -> &'static str {
    if flags.has(Flags::ERROR) {
        "error"
    } else if flags.has(Flags::WARNING) {
        "warning"
    } else {
        "ok"
    }
}
