//! `wireinspect convert`: reads twice, writes once, and nothing where the input has an error.

use std::io::{self, Seek as _};
use std::path::PathBuf;

use clap::Args;

use crate::cli::output::{self, Output};
use crate::cli::{Failure, INPUT_ERROR, InputArgs, Outcome, explain, format_by_name, input, stopped};
use crate::convert::Conversion;
use crate::formats::EncodeOptions;
use crate::inspect::Inspection;
use crate::model::events::Stop;
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
    /// Write what could be decoded of an input with errors
    #[arg(long)]
    partial: bool,
    /// Write binary to a terminal
    #[arg(long)]
    force: bool,
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
    let options = EncodeOptions { pretty: args.pretty, ..EncodeOptions::default() };
    let conversion = Conversion { format, variant: variant.map_or("plain", |variant| variant.name), options };
    match convert(&mut inspection, &conversion, args) {
        Ok(status) => Ok(status),
        Err(Problem::Stop(stop)) => stopped(stop, &name),
        Err(Problem::Failure(failure)) => Err(failure),
    }
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

fn convert(inspection: &mut Inspection, conversion: &Conversion<'_>, args: &ConvertArgs) -> Result<u8, Problem> {
    inspection.spool().map_err(Stop::from)?;
    let survey = conversion.survey(inspection)?;
    let mut lines = diagnostics::outer(inspection);
    lines.push_str(&diagnostics::lines(&inspection.name, &survey.found, &survey.tally));
    let bad = survey.has_errors() || inspection.outer_errors() > 0;
    let refused = bad && (!args.partial || survey.messages == 0);
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
        conversion.write(inspection, &survey, &mut out)?
    } else {
        // A value that the target refuses shows only while it is written: nothing goes out before.
        let mut spool = tempfile::SpooledTempFile::new(SPOOL);
        let losses = conversion.write(inspection, &survey, &mut spool)?;
        spool.rewind()?;
        io::copy(&mut spool, &mut out)?;
        losses
    };
    out.finish()?;
    let lines: String =
        losses.iter().map(|sentence| format!("{}: note[convert]: {sentence}\n", inspection.name)).collect();
    output::tell(&lines);
    Ok(if bad { INPUT_ERROR } else { 0 })
}
