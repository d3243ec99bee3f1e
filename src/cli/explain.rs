//! `wireinspect explain`: the annotated dump, and its other forms.

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::output::{self, Output};
use crate::cli::{ColorArg, Failure, INPUT_ERROR, InputArgs, Outcome, USAGE_ERROR, input, stopped};
use crate::formats::Format;
use crate::inspect::{Inspection, Walked};
use crate::model::diag::{Diagnostic, Tally};
use crate::model::events::{Flow, Sink, Stop, Tee};
use crate::model::limits;
use crate::model::num;
use crate::render::at::At;
use crate::render::grid::Grid;
use crate::render::head::{self, Preview};
use crate::render::hexdump::Dump;
use crate::render::pattern::Pattern;
use crate::render::types::Types;
use crate::render::{Notes, Rows, View, diagnostics, foot, json, overview, panel, relay};
use crate::size::Ledger;

/// Rows of the dump below an overview.
const OVERVIEW_ROWS: u64 = 16;

/// Lines of a grid on a terminal where not all are asked for.
const GRID_LINES: u64 = 64;

/// Options of `explain`.
#[derive(Debug, Args, Clone)]
pub struct ExplainArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What comes out
    #[arg(long, value_enum, default_value = "hex", value_name = "FORM")]
    to: Form,
    /// Where it goes, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What a row is
    #[arg(long, value_enum, default_value = "fields")]
    rows: RowsArg,
    /// Bit fields of each leaf
    #[arg(long)]
    bits: bool,
    /// How often a note on how bytes are read is printed
    #[arg(long, value_enum, default_value = "first")]
    notes: NotesArg,
    /// Rows only: no head, no foot
    #[arg(long)]
    no_head: bool,
    /// Full paths in every row, for grep
    #[arg(long, value_enum, default_value = "short")]
    paths: PathsArg,
    /// In which order objects that point at each other are told (FlatBuffers)
    #[arg(long, value_enum, default_value = "file")]
    order: OrderArg,
    /// Nothing elided: the bytes of all rows, joined, are the input
    #[arg(long)]
    all: bool,
    /// What the byte at this offset is, and what lies around it
    #[arg(long, value_name = "OFFSET", value_parser = input::number, conflicts_with_all = ["range", "path", "all"])]
    at: Option<u64>,
    /// Only rows that touch these ranges, half open: 0x16..0x22,40..64
    #[arg(long, value_name = "A..B", value_parser = input::ranges)]
    range: Option<std::vec::Vec<(u64, u64)>>,
    /// Only rows at or below this path
    // The help has brackets, which documentation would take for links.
    #[arg(
        long,
        value_name = "PATH",
        help = "Only rows at or below this path: items[3].sku, or items[].sku for every element"
    )]
    path: Option<Pattern>,
    /// Only groups down to this depth; 1 is the fields of the message
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Only the first N elements of each list, and N messages
    #[arg(long, value_name = "N")]
    max_items: Option<u64>,
    /// Only these messages of several in a row, counted from 0: 3..7, or 3
    #[arg(long, value_name = "N..M", value_parser = messages)]
    message: Option<(u64, u64)>,
    /// The map of an outer layer (1 is the outermost), not of the message in it
    #[arg(long, value_name = "N")]
    layer: Option<usize>,
    /// Columns [default: the terminal's, else COLUMNS, else 100]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Colour
    #[arg(long, value_enum, default_value = "auto")]
    color: ColorArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The annotated dump
    Hex,
    /// A hexdump with the cause of each byte below it
    Grid,
    /// Fields and meanings without bytes
    Tree,
    /// One JSON object an input
    Json,
    /// JSON, a line for each span as it comes
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowsArg {
    /// A field a row
    Fields,
    /// A leaf a row
    Leaf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NotesArg {
    /// Each kind once
    First,
    /// Each time
    All,
    /// Never
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// As they stand in the file
    File,
    /// As a reader reaches them: the root, then what it leads to
    Logical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PathsArg {
    /// The last step, and all of it where a container opens
    Short,
    /// All of it
    Full,
}

/// `N..M` or `N`.
fn messages(text: &str) -> Result<(u64, u64), String> {
    match text.parse::<u64>() {
        Ok(one) => Ok((one, one.saturating_add(1))),
        Err(_) => input::range(text),
    }
}

/// Runs the subcommand; the status is the worst of all inputs.
///
/// # Errors
/// A file or format that is not there.
pub fn run(args: &ExplainArgs) -> Outcome {
    if let Some(path) = &args.output {
        refuse_form_name(path)?;
    }
    refuse_combinations(args)?;
    let names = input::names(&args.input);
    input::check(&names, &args.input)?;
    let mut status = 0;
    let mut out = None;
    for (index, name) in names.iter().enumerate() {
        let mut inspection = input::open(name, &args.input)?;
        let out = match &mut out {
            Some(out) => out,
            None => out.insert(open_output(args, &mut inspection)?),
        };
        if index > 0 && !matches!(args.to, Form::Json | Form::Jsonl) {
            writeln!(out)?;
        }
        if names.len() > 1 && lacks_head(args) {
            writeln!(out, "{}:", inspection.name)?;
        }
        let one = match explain(out, &mut inspection, args) {
            Ok(status) => status,
            Err(stop @ Stop::Closed) => return stopped(stop, &inspection.name),
            Err(stop) => stopped(stop, &inspection.name)?,
        };
        status = status.max(one);
    }
    match out.map_or(Ok(()), Output::finish) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
        other => other?,
    }
    Ok(status)
}

/// Whether the form has no head that names the input.
fn lacks_head(args: &ExplainArgs) -> bool {
    let for_people = !matches!(args.to, Form::Json | Form::Jsonl);
    for_people && (args.no_head || args.at.is_some() || args.to == Form::Grid || is_filtered(args))
}

fn is_filtered(args: &ExplainArgs) -> bool {
    args.range.is_some() || args.path.is_some()
}

/// Options that choose rows say nothing to forms without rows: refused, not ignored.
fn refuse_combinations(args: &ExplainArgs) -> Result<(), Failure> {
    let rows = [
        ("--path", args.path.is_some()),
        ("--depth", args.depth.is_some()),
        ("--max-items", args.max_items.is_some()),
        ("--message", args.message.is_some()),
        ("--rows leaf", args.rows == RowsArg::Leaf),
        ("--bits", args.bits),
    ];
    let places = [("--range", args.range.is_some()), ("--at", args.at.is_some()), ("--layer", args.layer.is_some())];
    let (form, refused): (&str, Vec<_>) = match args.to {
        Form::Json => ("json", rows.iter().chain(&places).collect()),
        Form::Jsonl => ("jsonl", rows.iter().chain(&places).collect()),
        Form::Grid => ("grid", rows.iter().collect()),
        Form::Tree => ("tree", rows.iter().filter(|(name, _)| matches!(*name, "--rows leaf" | "--bits")).collect()),
        Form::Hex => return Ok(()),
    };
    match refused.iter().find(|(_, used)| *used) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!(
            "error[usage]: {name} chooses rows of the dump and means nothing with --to {form}; leave one of them out"
        ))),
    }
}

/// `-o json` where `--to json` was meant.
///
/// # Errors
/// The name is that of a form or format, and no such file exists.
pub fn refuse_form_name(path: &std::path::Path) -> Result<(), Failure> {
    let name = path.to_str().unwrap_or("");
    let form =
        Form::value_variants().iter().filter_map(ValueEnum::to_possible_value).any(|form| form.get_name() == name);
    if (form || crate::formats::by_name(name).is_some()) && !path.exists() {
        return Err(Failure::usage(format!(
            "error[usage]: -o {name} names a file; did you mean --to {name}? (-o ./{name} writes the file)"
        )));
    }
    Ok(())
}

fn open_output(args: &ExplainArgs, inspection: &mut Inspection) -> Result<Output, Failure> {
    let terminal = args.output.is_none() && output::is_terminal();
    // An overview is a screenful, whatever the input.
    let overview = terminal && wants_overview(inspection, args).is_ok_and(|wants| wants);
    let long = args.all || (!inspection.complete && !overview) || (args.to == Form::Tree && is_long(inspection)?);
    if terminal && long && matches!(args.to, Form::Hex | Form::Grid | Form::Tree) && args.at.is_none() {
        return Ok(Output::pager());
    }
    Output::open(args.output.as_deref())
}

/// One input in the form that was asked for.
fn explain(out: &mut Output, inspection: &mut Inspection, args: &ExplainArgs) -> Result<u8, Stop> {
    let tally = match args.to {
        Form::Json => {
            inspection.spool()?;
            json::write(out, inspection)?
        }
        Form::Jsonl => json::write_lines(out, inspection)?,
        Form::Hex | Form::Grid | Form::Tree => return people(out, inspection, args),
    };
    Ok(status(&tally, inspection))
}

fn status(tally: &Tally, inspection: &Inspection) -> u8 {
    if tally.errors > 0 || inspection.outer_errors() > 0 { INPUT_ERROR } else { 0 }
}

/// The forms for people: head, body, foot, and findings on stderr.
fn people(out: &mut Output, inspection: &mut Inspection, args: &ExplainArgs) -> Result<u8, Stop> {
    let view = view(args);
    if let Some(offset) = args.at {
        return at(out, inspection, offset, &view);
    }
    if let Some(number) = args.layer {
        return layer(out, inspection, number, &view);
    }
    let mut preview = Preview::new(inspection.format, inspection.previews_all(), Types::of(inspection));
    inspection.preview(&mut preview)?;
    if inspection.complete && args.message.is_some_and(|(from, _)| from >= preview.messages()) {
        return Ok(nothing_matches(inspection, args, 0));
    }
    let heads = !args.no_head && !is_filtered(args);
    if heads && args.to != Form::Grid {
        head::write(out, inspection, &preview, args.input.format.is_some(), &view)?;
    }
    if inspection.format.is_none() {
        return unknown(out, inspection, &view);
    }
    let narrowed = is_filtered(args) || args.message.is_some();
    let (walked, found) = if wants_overview(inspection, args)? {
        large(out, inspection, &view, &preview)?
    } else {
        let (walked, found, rows) = body(out, inspection, args, &view, &preview, heads)?;
        if rows == 0 && narrowed && walked.size > 0 {
            return Ok(nothing_matches(inspection, args, walked.size));
        }
        (walked, found)
    };
    if args.output.is_none() && output::is_terminal() {
        out.flush()?;
    }
    report(inspection, &found, &walked.tally);
    Ok(status(&walked.tally, inspection))
}

/// A selection without a row is a slip, not a result.
fn nothing_matches(inspection: &Inspection, args: &ExplainArgs, size: u64) -> u8 {
    let (name, why) = match (&args.path, &args.range) {
        (Some(path), _) => {
            (format!("--path {}", path.text()), "no row has this path; --paths full prints them all".to_string())
        }
        (None, Some(_)) => ("--range".to_string(), format!("the input has {size:#x} bytes")),
        (None, None) => ("--message".to_string(), "the input has no such message; they count from 0".to_string()),
    };
    output::tell(&format!("error[usage]: {}: nothing at {name}: {why}\n", inspection.name));
    USAGE_ERROR
}

/// A terminal gets an overview of what would not fit on a few screens.
fn wants_overview(inspection: &mut Inspection, args: &ExplainArgs) -> Result<bool, Stop> {
    let narrowed = args.range.is_some() || args.path.is_some() || args.max_items.is_some() || args.message.is_some();
    let asked = narrowed || args.all || args.depth.is_some() || args.rows == RowsArg::Leaf || args.to != Form::Hex;
    if asked || args.output.is_some() || !output::is_terminal() {
        return Ok(false);
    }
    if !inspection.complete {
        return Ok(true);
    }
    Ok(rows(inspection)? > limits::ROWS_ON_A_SCREEN)
}

/// Rows that a dump of an input in memory has.
fn rows(inspection: &mut Inspection) -> Result<u64, Stop> {
    let mut ledger = Ledger::default();
    inspection.walk(&mut ledger)?;
    Ok(ledger.rows)
}

/// Whether an input in memory has more rows than a few screens show.
fn is_long(inspection: &mut Inspection) -> Result<bool, Failure> {
    match rows(inspection) {
        Ok(rows) => Ok(rows > limits::ROWS_ON_A_SCREEN),
        Err(stop) => stopped(stop, &inspection.name).map(|_| false),
    }
}

/// Dump, grid or tree, with the foot.
fn body(
    out: &mut Output,
    inspection: &mut Inspection,
    args: &ExplainArgs,
    view: &View,
    preview: &Preview,
    heads: bool,
) -> Result<(Walked, Vec<Diagnostic>, u64), Stop> {
    // A pipe does not say how long it is: eight digits hold what anyone pipes through.
    let size = inspection.message_size().unwrap_or(1 << 32);
    let mut findings = Findings::default();
    let format = inspection.format;
    if args.to == Form::Grid {
        if heads || view.ranges.is_empty() {
            let mut ledger = Ledger::default();
            if inspection.rereadable() && inspection.complete {
                inspection.walk(&mut ledger)?;
                writeln!(out, "{}", foot::key(ledger.causes.present().map(|(cause, _)| cause)))?;
            }
        }
        let most = (output::is_terminal() && !args.all && args.output.is_none() && view.ranges.is_empty())
            .then_some(GRID_LINES);
        let high_first = format.is_some_and(|format| format.info().big_endian);
        let mut grid = Grid::new(out, view.color, size, high_first, view.ranges.clone(), most);
        let walked = inspection.walk(&mut Tee { first: &mut grid, second: &mut findings })?;
        grid.finish()?;
        return Ok((walked, findings.found, 1));
    }
    let mut dump = Dump::new(out, format, view.clone(), size, preview.remarks());
    // Of a large input the rows are made on a second thread while the first one goes on.
    let walked = match inspection.complete {
        true => inspection.walk(&mut Tee { first: &mut dump, second: &mut findings })?,
        false => relay::walk(inspection, &mut dump, &mut findings)?,
    };
    dump.finish()?;
    let rows = dump.rows;
    let (causes, counts) = (std::mem::take(&mut dump.causes), std::mem::take(&mut dump.counts));
    if heads {
        foot::write(out, format.map(|format| format as &dyn Format), &causes, &counts, view)?;
    }
    Ok((walked, findings.found, rows))
}

/// The overview: a table of fields, then the first element of each list.
fn large(
    out: &mut Output,
    inspection: &mut Inspection,
    view: &View,
    preview: &Preview,
) -> Result<(Walked, Vec<Diagnostic>), Stop> {
    let mut ledger = Ledger::default();
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    let size = inspection.message_size().unwrap_or(0x1_0000_0000);
    let few = View { max_items: Some(1), max_rows: Some(OVERVIEW_ROWS), notes: Notes::None, ..view.clone() };
    let mut dump = Dump::new(&mut rows, inspection.format, few, size, preview.remarks());
    let walked = {
        let mut both = Tee { first: &mut ledger, second: &mut findings };
        inspection.walk(&mut Tee { first: &mut dump, second: &mut both })?
    };
    dump.finish()?;
    let example = dump.example.take();
    drop(dump);
    writeln!(
        out,
        "         {} in all. Here: what is in it, and the first element of each list. More:\n         \
         {}  --all (a pipe or file gets all of it without asking)\n",
        num::count(ledger.rows.saturating_sub(ledger.parts), "field", "fields"),
        overview::ways_on(example.as_ref())
    )?;
    overview::write(out, inspection.format.map(|format| format as &dyn Format), &ledger, view)?;
    writeln!(out)?;
    out.write_all(&rows)?;
    Ok((walked, findings.found))
}

/// Bytes that nothing recognised: a plain panel.
fn unknown(out: &mut Output, inspection: &mut Inspection, view: &View) -> Result<u8, Stop> {
    let mut findings = Findings::default();
    let walked = if view.all {
        // Rows that can be read back as input, which the panel of the library cannot.
        let size = inspection.message_size().unwrap_or(1 << 32);
        let mut dump = Dump::new(out, None, view.clone(), size, Default::default());
        let walked = inspection.walk(&mut Tee { first: &mut dump, second: &mut findings })?;
        dump.finish()?;
        walked
    } else {
        panel::write(out, inspection.window(), view)?;
        inspection.walk(&mut findings)?
    };
    out.flush()?;
    report(inspection, &findings.found, &walked.tally);
    Ok(status(&walked.tally, inspection))
}

/// The map of an outer layer.
fn layer(out: &mut Output, inspection: &Inspection, number: usize, view: &View) -> Result<u8, Stop> {
    let Some(layer) = number.checked_sub(1).and_then(|at| inspection.outer.get(at)) else {
        let layers = num::count(u64::try_from(inspection.outer.len()).unwrap_or(0), "layer", "layers");
        let _ = writeln!(
            io::stderr(),
            "error[usage]: --layer {number}: {} has {layers} around its message",
            inspection.name
        );
        return Ok(USAGE_ERROR);
    };
    let size = u64::try_from(layer.bytes.len()).unwrap_or(u64::MAX);
    writeln!(out, "{}: layer {number}, {} in {size} bytes of text\n", inspection.name, layer.said)?;
    let mut dump = Dump::new(out, None, View { rows: Rows::Leaves, ..view.clone() }, size, Default::default());
    json::layer_leaves(layer, &mut dump)?;
    dump.finish()?;
    let causes = std::mem::take(&mut dump.causes);
    drop(dump);
    writeln!(out)?;
    foot::ledger(out, None, &causes, None, view)?;
    out.flush()?;
    output::tell(&diagnostics::outer(inspection));
    Ok(status(&Tally::default(), inspection))
}

/// What stands at one offset.
fn at(out: &mut Output, inspection: &mut Inspection, offset: u64, view: &View) -> Result<u8, Stop> {
    let mut at = At::new(offset, inspection.format);
    let walked = inspection.walk(&mut at)?;
    if !at.is_found() {
        let line =
            format!("error[usage]: --at {offset:#04x} is past the end of {}, {} bytes", inspection.name, walked.size);
        output::tell(&format!("{line}\n"));
        return Ok(USAGE_ERROR);
    }
    at.write(out, view.width)?;
    Ok(status(&walked.tally, inspection))
}

/// Findings, on stderr: a line each. Where a terminal has just shown them at their bytes, their number.
fn report(inspection: &Inspection, found: &[Diagnostic], tally: &Tally) {
    let shown = output::is_terminal() && io::stderr().is_terminal() && inspection.format.is_some();
    let lines = if shown && tally.total() > 1 {
        format!("{}: {}, told above at their bytes\n", inspection.name, diagnostics::counted(tally))
    } else {
        let mut lines = diagnostics::outer(inspection);
        lines.push_str(&diagnostics::lines(&inspection.name, found, tally));
        lines
    };
    output::tell(&lines);
}

fn view(args: &ExplainArgs) -> View {
    let terminal = args.output.is_none() && io::stdout().is_terminal();
    View {
        width: output::width(args.width),
        cut: terminal,
        wrap: !terminal && args.width.is_some(),
        color: output::color(args.color, args.output.is_some()),
        notes: match args.notes {
            NotesArg::First => Notes::First,
            NotesArg::All => Notes::All,
            NotesArg::None => Notes::None,
        },
        rows: match (args.to, args.rows) {
            (Form::Tree, _) => Rows::Tree,
            (_, RowsArg::Leaf) => Rows::Leaves,
            (_, RowsArg::Fields) => Rows::Fields,
        },
        bits: args.bits,
        all: args.all,
        // A tree is read for its values, so it has the order in which a reader meets them.
        logical: args.order == OrderArg::Logical || args.to == Form::Tree,
        full_paths: args.paths == PathsArg::Full,
        ranges: args.range.clone().unwrap_or_default(),
        path: args.path.clone(),
        depth: args.depth,
        max_items: args.max_items,
        messages: args.message,
        max_rows: None,
    }
}

/// Gathers findings for stderr.
#[derive(Debug, Default)]
struct Findings {
    found: Vec<Diagnostic>,
}

impl Sink for Findings {
    fn diagnostic(&mut self, found: &Diagnostic) -> Flow {
        self.found.push(found.clone());
        Ok(())
    }
}
