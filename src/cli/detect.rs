//! `wireinspect detect`: which format each input is, with the evidence.

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};

use crate::cli::output::{self, Output};
use crate::cli::{INPUT_ERROR, InputArgs, Outcome, input};
use crate::render::{detected, wrap};

/// Options of `detect`.
#[derive(Debug, Args, Clone)]
pub struct DetectArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What comes out
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    to: Form,
    /// Columns [default: the terminal's, else COLUMNS, else 100]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines for people
    Text,
    /// One JSON object
    Json,
}

/// Runs the subcommand: status 1 where no format fits an input.
///
/// # Errors
/// A file that is not there, output that cannot be written.
pub fn run(args: &DetectArgs) -> Outcome {
    let names = input::names(&args.input);
    input::check(&names, &args.input)?;
    let shown: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let name_width = shown.iter().map(|name| wrap::width(name)).max().unwrap_or(0).clamp(8, 28);
    let width = output::width(args.width);
    let mut out = Output::open(None)?;
    let mut status = 0;
    let mut first = true;
    if args.to == Form::Json {
        write!(out, "{{\"inputs\":[")?;
    }
    for name in names {
        let inspection = input::open(name, &args.input)?;
        if inspection.format.is_none() {
            status = status.max(INPUT_ERROR);
        }
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        let written = match args.to {
            Form::Json => write!(out, "{comma}").and_then(|()| detected::write_json(&mut out, &inspection)),
            Form::Text => detected::write(&mut out, &inspection, name_width, width),
        };
        if let Err(error) = written {
            return if error.kind() == io::ErrorKind::BrokenPipe { Ok(0) } else { Err(error.into()) };
        }
    }
    if args.to == Form::Json {
        writeln!(out, "]}}")?;
    }
    match out.finish() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(status),
    }
}
