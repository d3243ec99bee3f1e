//! `wireinspect schema`: the types of schemas, and where their bytes stand.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::output::{self, Output};
use crate::cli::{ColorArg, Failure, Outcome};
use crate::model::schema::{Schema, SchemaError};
use crate::render::schema::{Picked, json, pick, write};
use crate::render::style::Paint;
use crate::schema;

/// Options of `schema`.
#[derive(Debug, Args, Clone)]
pub struct SchemaArgs {
    /// Schemas: .proto, a descriptor set, .fbs or .bfbs
    #[arg(value_name = "SCHEMA", required = true)]
    files: Vec<PathBuf>,
    /// Folder to look for imports and includes in; the schema's own and those above it are searched anyway
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Only this type and what it needs: full name, or a short one that is clear; may be given several times
    #[arg(short = 't', long = "type", value_name = "NAME")]
    types: Vec<String>,
    /// What comes out
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    to: Form,
    /// File for the output, written whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Columns [default: the terminal's, else COLUMNS, else 100]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Colour
    #[arg(long, value_enum, default_value = "auto")]
    color: ColorArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Tables for people
    Text,
    /// One JSON object
    Json,
}

/// Runs the subcommand.
///
/// # Errors
/// A schema that cannot be read, a type that is not there, output that cannot be written.
pub fn run(args: &SchemaArgs) -> Outcome {
    let request = schema::Request { files: args.files.clone(), include: args.include.clone() };
    let schemas = schema::load(&request).map_err(|error| failure(&error))?;
    let picked = picks(&schemas, &args.types)?;
    let mut out = Output::open(args.output.as_deref())?;
    let written = match args.to {
        Form::Json => print_json(&mut out, &picked, !args.types.is_empty()),
        Form::Text => print_text(&mut out, &picked, args),
    };
    match written.and_then(|()| out.finish()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
        other => other?,
    }
    // Programs find them in the object.
    if args.to == Form::Text {
        let found = schemas.iter().flat_map(|schema| &schema.found);
        let lines: String = found.map(|found| format!("warning[{}]: {found}\n", found.code)).collect();
        output::tell(&lines);
    }
    Ok(0)
}

fn failure(error: &SchemaError) -> Failure {
    Failure::usage(format!("error[schema]: {error}"))
}

/// What is shown of each schema. A type that is asked for has to be in one of them; the others are left out.
fn picks<'a>(schemas: &'a [Schema], names: &[String]) -> Result<Vec<(&'a Schema, Picked)>, Failure> {
    let mut picked = Vec::new();
    let mut wrong = None;
    for schema in schemas {
        match pick(schema, names) {
            Ok(types) => picked.push((schema, types)),
            Err(why) => wrong = wrong.or(Some(why)),
        }
    }
    match wrong {
        Some(why) if picked.is_empty() => Err(Failure::usage(format!("error[schema]: {why}"))),
        _ => Ok(picked),
    }
}

fn print_json(out: &mut Output, picked: &[(&Schema, Picked)], is_part: bool) -> io::Result<()> {
    write!(out, "{{\"schemas\":[")?;
    for (index, (schema, types)) in picked.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(out, "{comma}{}", json(schema, is_part.then_some(types)))?;
    }
    writeln!(out, "]}}")
}

fn print_text(out: &mut Output, picked: &[(&Schema, Picked)], args: &SchemaArgs) -> io::Result<()> {
    let width = output::width(args.width);
    let paint = Paint::new(output::color(args.color, args.output.is_some()));
    for (index, (schema, types)) in picked.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write(out, schema, types, width, paint)?;
    }
    Ok(())
}
