//! What `detect` prints: the best reading of each input, and what rules out the nearest rival.

use std::io::{self, Write};

use crate::formats::{Candidate, json_string};
use crate::inspect::Inspection;
use crate::render::wrap;

/// Writes the readings of one input as text.
///
/// # Errors
/// Output that cannot be written.
pub fn write(out: &mut dyn Write, inspection: &Inspection, name_width: usize, width: usize) -> io::Result<()> {
    let size = inspection.size.map_or("-".to_string(), |size| size.to_string());
    let mut name = inspection.name.as_str();
    if wrap::width(name) > name_width {
        writeln!(out, "{name}")?;
        name = "";
    }
    let mut size = size.as_str();
    let left = name_width.saturating_add(12);
    let mut line = |label: &str, text: &str, out: &mut dyn Write| -> io::Result<()> {
        let at = left.saturating_add(17);
        for (index, part) in wrap::lines(text, width.saturating_sub(at).max(30)).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            writeln!(out, "{name:<name_width$}  {size:>8}  {label:<15}  {part}")?;
            (name, size) = ("", "");
        }
        Ok(())
    };
    for layer in &inspection.outer {
        line(layer.by, &layer.said, out)?;
    }
    let Some(best) = inspection.candidates.first() else { return Ok(()) };
    let known = inspection.format.is_some() || inspection.is_text();
    let label = if known { best.format.to_string() } else { "none of these".to_string() };
    let mut pro = best.pro.join(", ");
    pro.push_str(&format!("{}{}", if pro.is_empty() { "" } else { "; " }, best.level.name()));
    if !best.contra.is_empty() && known {
        pro.push_str(&format!(", although {}", best.contra.join(", ")));
    }
    let none = match inspection.named {
        Some(name) => format!("by its first bytes it is {name}"),
        None => "no format that is known here fits".to_string(),
    };
    line(&label, if known { &pro } else { &none }, out)?;
    for rival in inspection.candidates.iter().skip(usize::from(known)) {
        if let Some(reason) = rival.contra.first() {
            line(&format!("not {}", rival.format), reason, out)?;
        } else if rival.score > 0 {
            let evidence = format!("{}, {}", rival.pro.join(", "), rival.level.name());
            line(&format!("or {}", rival.format), &evidence, out)?;
        }
    }
    Ok(())
}

/// Writes the readings of one input as a JSON object.
///
/// # Errors
/// Output that cannot be written.
pub fn write_json(out: &mut dyn Write, inspection: &Inspection) -> io::Result<()> {
    let size = inspection.size.map_or("null".to_string(), |size| size.to_string());
    let framing: Vec<String> = inspection.outer.iter().map(|layer| json_string(layer.by)).collect();
    let framing = framing.join(",");
    let list = |wanted: bool| -> String {
        let chosen = inspection.candidates.iter().filter(|candidate| (candidate.score > 0) == wanted);
        chosen.map(|candidate| json(candidate, &framing)).collect::<Vec<_>>().join(",")
    };
    let named = inspection.named.map_or("null".to_string(), json_string);
    write!(
        out,
        "{{\"name\":{},\"size\":{size},\"candidates\":[{}],\"ruled_out\":[{}],\"looks_like\":{named}}}",
        json_string(&inspection.name),
        list(true),
        list(false)
    )
}

fn json(candidate: &Candidate, framing: &str) -> String {
    let list = |texts: &[String]| texts.iter().map(|text| json_string(text)).collect::<Vec<_>>().join(",");
    format!(
        "{{\"format\":{},\"variant\":{},\"framing\":[{framing}],\"root\":null,\"level\":{},\"score\":{},\"for\":[{}],\"against\":[{}]}}",
        json_string(candidate.format),
        json_string(candidate.variant),
        json_string(candidate.level.name()),
        candidate.score,
        list(&candidate.pro),
        list(&candidate.contra)
    )
}
