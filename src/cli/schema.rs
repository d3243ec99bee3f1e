//! `wireinspect schema`: the types of a schema, with the places of their fields on the wire.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::output::{self, Output};
use crate::cli::{ColorArg, Failure, Outcome, explain, input};
use crate::render::schema as render;
use crate::schema::{Request, load};

/// Options of `schema`.
#[derive(Debug, Args, Clone)]
pub struct SchemaArgs {
    /// Schema files: .proto, .fbs, .bfbs, .capnp, a descriptor set, or what `capnp compile -o-` writes
    #[arg(value_name = "SCHEMA", required = true)]
    files: Vec<PathBuf>,
    /// Folder to look for imports in; the schema's own and those above it are searched anyway
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Only this type, and those that it holds
    #[arg(short = 't', long = "type", value_name = "NAME")]
    root: Option<String>,
    /// What comes out
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    to: Form,
    /// Where it goes, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Types of included files too
    #[arg(long)]
    all: bool,
    /// Colour
    #[arg(long, value_enum, default_value = "auto")]
    color: ColorArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines for people
    Text,
    /// One JSON object
    Json,
}

/// Runs the subcommand.
///
/// # Errors
/// A schema that cannot be read, a type that is not in it.
pub fn run(args: &SchemaArgs) -> Outcome {
    if let Some(path) = &args.output {
        explain::refuse_form_name(path)?;
    }
    let request = Request { files: args.files.clone(), include: args.include.clone() };
    let schemas = load(&request).map_err(|error| input::unusable(&error))?;
    let mut out = Output::open(args.output.as_deref())?;
    let color = output::color(args.color, args.output.is_some());
    let mut found = args.root.is_none();
    let mut written = Ok(());
    for schema in &schemas {
        for finding in &schema.found {
            output::tell(&format!("{}: warning[{}]: {}\n", finding.place, finding.code, finding.message));
        }
        let root = match args.root.as_deref().map(|name| schema.find_message(name)) {
            Some(Err(why)) if schemas.len() == 1 => return Err(Failure::usage(format!("error[schema]: {why}"))),
            Some(Err(_)) => continue,
            Some(Ok(root)) => Some(root),
            None => None,
        };
        found = true;
        let view = render::View { root, all: args.all, color };
        written = written.and_then(|()| match args.to {
            Form::Text => render::write(&mut out, schema, &view),
            Form::Json => render::write_json(&mut out, schema, &view),
        });
    }
    if !found {
        let name = args.root.as_deref().unwrap_or("");
        return Err(Failure::usage(format!("error[schema]: none of the schemas has a type `{name}`")));
    }
    match written.and_then(|()| out.flush()).and_then(|()| out.finish()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(0),
    }
}
