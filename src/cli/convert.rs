//! `wireinspect convert`: reads twice, writes once, and nothing where the input has an error.

use std::io::{self, Seek as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::cli::output::{self, Output};
use crate::cli::{Failure, INPUT_ERROR, InputArgs, Outcome, explain, format_by_name, input, stopped};
use crate::convert::{self, Conversion};
use crate::formats::{EncodeOptions, FlatOrder, FlatPads, FlatWriter, Format};
use crate::inspect::Inspection;
use crate::model::diag::Code;
use crate::model::events::{Misfit, Stop};
use crate::model::limits::PIECE;
use crate::model::num::{len64, listed};
use crate::model::schema::{Bound, MessageId, Schema};
use crate::render::diagnostics;

/// Output held in memory before it goes to a temporary file.
const SPOOL: usize = 8 * 1024 * 1024;

/// Options of `convert`.
#[derive(Debug, Args, Clone)]
pub struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What comes out: FORMAT or FORMAT/VARIANT
    #[arg(long, value_name = "FORMAT[/VARIANT]")]
    to: Option<String>,
    /// Where it goes, instead of standard output; written whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Text with line ends and indentation
    #[arg(long)]
    pretty: bool,
    /// Leave out names that the type of the target does not have
    #[arg(long)]
    ignore_unknown: bool,
    /// FlatBuffers: in the way of which writer the bytes are written
    #[arg(long, value_enum, default_value = "flatc", value_name = "WRITER")]
    fb_writer: FbWriter,
    /// FlatBuffers: write scalars that hold their default
    #[arg(long)]
    fb_force_defaults: bool,
    /// FlatBuffers: a vtable for each table, none shared
    #[arg(long)]
    fb_own_vtables: bool,
    /// Write what could be decoded of an input with errors
    #[arg(long)]
    partial: bool,
    /// Write binary to a terminal
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FbWriter {
    /// As flatc -b: children as they come, fields by size
    Flatc,
    /// As the object API of C++: children in the order of the schema, empty ones left out
    Cpp,
    /// As Swift and Python: children and fields in the order of the schema
    Declared,
}

/// In which way a FlatBuffer is written.
fn flat_writer(args: &ConvertArgs) -> FlatWriter {
    let (order, pads) = match args.fb_writer {
        FbWriter::Flatc => (FlatOrder::Met, FlatPads::Kept),
        FbWriter::Cpp => (FlatOrder::Schema, FlatPads::Dropped),
        FbWriter::Declared => (FlatOrder::Declared, FlatPads::Dropped),
    };
    FlatWriter { order, pads, own_vtables: args.fb_own_vtables, force_defaults: args.fb_force_defaults }
}

/// Runs the subcommand.
///
/// # Errors
/// A file or format that is not there, several inputs, binary for a terminal.
pub fn run(args: &ConvertArgs) -> Outcome {
    if let Some(path) = &args.output {
        explain::refuse_form_name(path)?;
    }
    let Some(to) = &args.to else {
        return Err(Failure::usage("error[usage]: convert needs --to FORMAT, such as --to json".to_string()));
    };
    let (format, variant) = format_by_name(to)?;
    let names = input::names(&args.input);
    let [name] = names[..] else {
        return Err(Failure::usage("error[usage]: convert takes one input; run it once for each".to_string()));
    };
    if args.output.is_none() && output::is_terminal() && !format.info().text && !args.force {
        let title = format.info().title;
        let hint = "-o FILE, a pipe, or --force";
        return Err(Failure::usage(format!(
            "error[usage]: {title} is binary and standard output is a terminal; {hint}"
        )));
    }
    let mut inspection = input::open(name, &args.input)?;
    let name = inspection.name.clone();
    let (schema, root) = target_type(&mut inspection, format)?;
    let schema = schema.as_deref().zip(root).map(|(schema, root)| Bound { schema, root });
    let ignore_unknown = args.ignore_unknown;
    let flat = flat_writer(args);
    let options = EncodeOptions { pretty: args.pretty, schema, ignore_unknown, flat, ..EncodeOptions::default() };
    let conversion = Conversion { format, variant: variant.map_or("plain", |variant| variant.name), options };
    match convert(&mut inspection, &conversion, args) {
        Ok(status) => Ok(status),
        Err(Problem::Stop(Stop::Misfit(misfit))) => Ok(told_misfit(&mut inspection, &misfit)),
        Err(Problem::Stop(stop)) => stopped(stop, &name),
        Err(Problem::Failure(failure)) => Err(failure),
    }
}

/// Schema and type that the target is written by, where it needs them.
fn target_type(inspection: &mut Inspection, format: &dyn Format) -> Result<TargetType, Failure> {
    let same = inspection.format.is_some_and(|source| source.info().name == format.info().name);
    let target = if same { inspection.format.unwrap_or(format) } else { format };
    let (schema, root) = inspection.told(target).map_or((None, None), |told| (Some(told.schema.clone()), told.root));
    if !format.info().bound() || same {
        return Ok((schema, root));
    }
    let title = format.info().title;
    let Some(schema) = schema else {
        let sentence =
            format!("converting to {title} needs a schema: -s SCHEMA, and -t TYPE where it has several types");
        return Err(Failure::usage(format!("error[usage]: {sentence}")));
    };
    if root.is_some() {
        return Ok((Some(schema), root));
    }
    if let Some(root) = schema.flat.as_deref().and_then(|flat| flat.root) {
        return Ok((Some(schema), Some(root)));
    }
    match convert::best_type(inspection, &schema) {
        Ok(root) => Ok((Some(schema), Some(root))),
        Err(types) if types.is_empty() => {
            Err(Failure::usage("error[usage]: the schema has no type to write by".to_string()))
        }
        Err(types) => {
            let types = listed(&types);
            Err(Failure::usage(format!("error[usage]: converting to {title} needs -t TYPE: the schema has {types}")))
        }
    }
}

type TargetType = (Option<Arc<Schema>>, Option<MessageId>);

/// Tells a value that does not fit its schema, by line and column where the input is text.
fn told_misfit(inspection: &mut Inspection, misfit: &Misfit) -> u8 {
    let place = match inspection.format {
        Some(format) if format.info().text => {
            let (line, column) = line_and_column(inspection, misfit.start);
            format!("{line}:{column}")
        }
        _ => format!("{:#04x}", misfit.start),
    };
    let path = if misfit.path.is_empty() { String::new() } else { format!("{}: ", misfit.path) };
    let help = if misfit.help.is_empty() { String::new() } else { format!("; {}", misfit.help) };
    let code = format!("{}-misfit", inspection.format.map_or("convert", |format| format.info().name));
    output::tell(&format!("{}:{place}: error[{code}]: {path}{}{help}\n", inspection.name, misfit.message));
    INPUT_ERROR
}

/// Line and column, in characters, of an offset in a text; both counted from 1.
fn line_and_column(inspection: &mut Inspection, offset: u64) -> (u64, u64) {
    let (mut line, mut column, mut at) = (1u64, 1u64, 0u64);
    while at < offset {
        let want = usize::try_from(offset.saturating_sub(at)).unwrap_or(PIECE).min(PIECE);
        let Ok(piece) = inspection.window().at(at, want) else { break };
        if piece.is_empty() {
            break;
        }
        for byte in piece {
            match byte {
                b'\n' => (line, column) = (line.saturating_add(1), 1),
                // Bytes that go on with a character are none of their own.
                0x80..=0xbf => {}
                _ => column = column.saturating_add(1),
            }
        }
        at = at.saturating_add(len64(piece.len()));
    }
    (line, column)
}

enum Problem {
    Stop(Stop),
    Failure(Failure),
}

impl From<Stop> for Problem {
    fn from(stop: Stop) -> Problem {
        Problem::Stop(stop)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::Stop(Stop::from(error))
    }
}

/// Converts in one reading, where the target lets it be done and nothing is wrong. What is wrong is told by the way
/// that reads twice.
fn in_one_reading(
    inspection: &mut Inspection,
    conversion: &Conversion<'_>,
    args: &ConvertArgs,
) -> Result<Option<u8>, Problem> {
    if args.partial || inspection.outer_errors() > 0 || !conversion.reads_once(inspection) {
        return Ok(None);
    }
    let mut spool = tempfile::SpooledTempFile::new(SPOOL);
    let (readings, losses) = match conversion.once(inspection, &mut spool) {
        Ok(done) => done,
        Err(Stop::Misfit(_)) => return Ok(None),
        Err(stop) => return Err(stop.into()),
    };
    if readings.walk.has_errors() || readings.is_empty() {
        return Ok(None);
    }
    output::tell(&diagnostics::lines(&inspection.name, &readings.walk.found, &readings.walk.tally));
    let mut out = Output::open(args.output.as_deref()).map_err(Problem::Failure)?;
    spool.rewind()?;
    io::copy(&mut spool, &mut out)?;
    out.finish()?;
    tell_losses(inspection, &losses);
    Ok(Some(0))
}

fn tell_losses(inspection: &Inspection, losses: &[String]) {
    let lines: String =
        losses.iter().map(|sentence| format!("{}: note[convert]: {sentence}\n", inspection.name)).collect();
    output::tell(&lines);
}

fn convert(inspection: &mut Inspection, conversion: &Conversion<'_>, args: &ConvertArgs) -> Result<u8, Problem> {
    inspection.spool().map_err(Stop::from)?;
    if conversion.options.schema.is_some() {
        // It is used: the target is written by it.
        inspection.found.retain(|found| found.code != Code::SchemaUnused);
    }
    if let Some(status) = in_one_reading(inspection, conversion, args)? {
        return Ok(status);
    }
    let readings = conversion.survey(inspection)?;
    let walk = &readings.walk;
    let mut lines = diagnostics::outer(inspection);
    lines.push_str(&diagnostics::lines(&inspection.name, &walk.found, &walk.tally));
    let bad = walk.has_errors() || inspection.outer_errors() > 0;
    let refused = bad && (!args.partial || readings.is_empty());
    if refused {
        let hint = if args.partial { "nothing could be decoded" } else { "--partial writes what can be decoded" };
        lines.push_str(&format!("{}: nothing written, the input has errors; {hint}\n", inspection.name));
    }
    output::tell(&lines);
    if refused {
        return Ok(INPUT_ERROR);
    }
    let mut out = Output::open(args.output.as_deref()).map_err(Problem::Failure)?;
    let losses = if matches!(out, Output::Staged(..)) || conversion.format.info().text {
        conversion.write(inspection, &readings, &mut out)?
    } else {
        // A value that the target refuses shows only while it is written: nothing goes out before.
        let mut spool = tempfile::SpooledTempFile::new(SPOOL);
        let losses = conversion.write(inspection, &readings, &mut spool)?;
        spool.rewind()?;
        io::copy(&mut spool, &mut out)?;
        losses
    };
    out.finish()?;
    tell_losses(inspection, &losses);
    Ok(if bad { INPUT_ERROR } else { 0 })
}
