//! The command line: its types, what runs for each subcommand, and the exit status.
//!
//! 0 clean; 1 an error in an input; 2 usage or file error; 3 a broken rule of our own.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::formats;
use crate::model::events::Stop;
use crate::model::limits;
use crate::model::words::slips;

pub mod completions;
pub mod convert;
pub mod detect;
pub mod explain;
pub mod help;
pub mod input;
pub mod output;
pub mod schema;

/// Exit status of a run with an error in an input.
pub const INPUT_ERROR: u8 = 1;

/// Exit status of a usage or file error.
pub const USAGE_ERROR: u8 = 2;

/// Exit status where a rule of this project is broken.
pub const INTERNAL_ERROR: u8 = 3;

/// Shows what every byte of a binary message is, and converts it.
#[derive(Debug, Parser)]
#[command(name = "wireinspect", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(override_usage = "wireinspect [explain] INPUT...\n       wireinspect <COMMAND> ...")]
#[command(after_help = "Examples:
  wireinspect message.bin                             what every byte of a file is
  wireinspect 82a7636f6d70616374c3a6736368656d6100    the same of pasted hex or base64
  curl -s URL | wireinspect --max-items 3             a pipe, three elements of each list
  wireinspect convert message.msgpack --to json       another format
  wireinspect help msgpack                            a format, byte by byte")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Annotated dump: what every byte is (the main job)
    Explain(explain::ExplainArgs),
    /// Into another format
    Convert(convert::ConvertArgs),
    /// Which format it is, with the evidence
    Detect(detect::DetectArgs),
    /// The types of a schema, with the places of their fields on the wire
    Schema(schema::SchemaArgs),
    /// Help on a command or a format
    Help(help::HelpArgs),
    /// Completions for a shell, or the man page
    Completions(completions::CompletionsArgs),
}

/// Which inputs, and how their bytes are found.
#[derive(Debug, Args, Clone)]
pub struct InputArgs {
    /// Files; - or nothing reads standard input; FORMAT:PATH tells the format; hex or base64 is taken as it is
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,
    /// The format, else it is found out: FORMAT or FORMAT/VARIANT
    #[arg(short = 'f', long, value_name = "FORMAT[/VARIANT]")]
    pub format: Option<String>,
    /// The variant of the format
    #[arg(long, value_name = "VARIANT", requires = "format")]
    pub variant: Option<String>,
    /// Schema: .proto, .fbs, .bfbs, or a descriptor set; may be given several times
    #[arg(short, long, value_name = "FILE")]
    pub schema: Vec<PathBuf>,
    /// Folder to look for imports in; the schema's own and those above it are searched anyway
    #[arg(short = 'I', long, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Type of the message: full name, or a short one that is clear [default: the one that fits best]
    #[arg(short = 't', long = "type", value_name = "NAME", requires = "schema")]
    pub root: Option<String>,
    /// Text that holds bytes is undone first
    #[arg(short, long, value_enum, default_value = "auto", hide_possible_values = false)]
    pub encoding: EncodingArg,
    /// Leave out the first N bytes of the input
    #[arg(long, value_name = "N", value_parser = input::number)]
    pub skip: Option<u64>,
    /// Read only N bytes of the input
    #[arg(long, value_name = "N", value_parser = input::number)]
    pub length: Option<u64>,
    /// Containers within each other that are decoded, at most 10000
    #[arg(long, value_name = "N", value_parser = depth)]
    pub limit_depth: Option<usize>,
}

/// A depth within what paths allow.
fn depth(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(depth) if (1..=limits::DEEPEST).contains(&depth) => Ok(depth),
        _ => Err(format!("expected a number from 1 to {}", limits::DEEPEST)),
    }
}

/// Names of the text encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodingArg {
    /// Found out, and said
    Auto,
    /// None: the input is the bytes
    Raw,
    /// Hex digits in any spelling
    Hex,
    /// Base64 or base64url
    Base64,
    /// \x0a, \012 and \n in text
    Escaped,
    /// Numbers from 0 to 255
    Decimal,
    /// xxd, hexdump, od
    Xxd,
    /// The dump that this program prints
    Dump,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A failure that ends the whole run: one line on stderr, exit status 2 or 3.
#[derive(Debug)]
pub struct Failure {
    /// Exit status.
    pub status: u8,
    /// The line, without newline.
    pub line: String,
}

impl Failure {
    /// A usage, file or schema error.
    pub fn usage(line: impl Into<String>) -> Failure {
        Failure { status: USAGE_ERROR, line: line.into() }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(format!("error[output]: {}", input::plain(&error)))
    }
}

/// How a run ended: an exit status, or a failure.
pub type Outcome = Result<u8, Failure>;

/// The exit status of a walk that stopped; `name` is the input it read.
///
/// # Errors
/// Every stop but those that are no fault.
pub fn stopped(stop: Stop, name: &str) -> Outcome {
    match stop {
        Stop::Enough | Stop::Closed => Ok(0),
        Stop::Read(error) => Err(Failure::usage(format!("error[file]: {name}: {}", input::plain(&error)))),
        Stop::Write(error) => Err(Failure::usage(format!("error[output]: {}", input::plain(&error)))),
        Stop::Refused(why) => {
            output::tell(&format!("{name}: error[convert]: {why}\n"));
            Ok(INPUT_ERROR)
        }
        Stop::Misfit(misfit) => {
            output::tell(&format!(
                "{name}:{:#04x}: error[convert-misfit]: {}: {}\n",
                misfit.start, misfit.path, misfit.message
            ));
            Ok(INPUT_ERROR)
        }
        Stop::Internal(problem) => Err(Failure {
            status: INTERNAL_ERROR,
            line: format!("error[internal]: {name}: {problem}; please report it with the input"),
        }),
    }
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let status = run(args).unwrap_or_else(|failure| {
        output::tell(&format!("{}\n", failure.line));
        failure.status
    });
    ExitCode::from(status)
}

fn run(args: Vec<OsString>) -> Outcome {
    let args = with_command(args);
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| Failure::usage(first_line(&error)))?;
    match cli.command {
        Command::Explain(args) => explain::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Detect(args) => detect::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Help(args) => help::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}

/// The command with what follows from [`formats::ALL`].
pub fn command() -> clap::Command {
    let formats = help::format_lines();
    Cli::command()
        .mut_subcommand("explain", |explain| explain.after_help(formats.clone()))
        .mut_subcommand("convert", |convert| convert.after_help(formats.clone()))
        .mut_subcommand("detect", |detect| detect.after_help(formats))
}

/// Help and version are no errors; everything else is one line.
fn usage(error: &clap::Error) -> Outcome {
    if error.use_stderr() {
        return Err(Failure::usage(first_line(error)));
    }
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::from(error)),
        _ => Ok(0),
    }
}

/// The sentence of a usage error with its tip, without the usage block.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("unknown usage").trim_start_matches("error: ").to_string();
    // A list (missing arguments) goes on in the next line.
    let more = if first.ends_with(':') { lines.next().unwrap_or("") } else { "" };
    let line_of =
        |start: &str| text.lines().map(str::trim).find_map(|line| line.strip_prefix(start).map(str::to_string));
    let values =
        line_of("[possible values:").map(|values| format!("there are {}", values.trim().trim_end_matches(']')));
    let tip = line_of("tip: ").or(values).unwrap_or_else(|| "see --help".to_string());
    format!("error[usage]: {}; {tip}", format!("{first} {more}").trim_end())
}

/// `wireinspect FILE` explains, `decode` converts to JSON: the command that was left out goes in.
fn with_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let first = args.get(1).and_then(|arg| arg.to_str()).unwrap_or("").to_string();
    let known = Cli::command().get_subcommands().any(|command| command.get_name() == first);
    match first.as_str() {
        "decode" => {
            args.splice(1..2, ["convert", "--to", "json"].map(OsString::from));
        }
        "-h" | "--help" | "-V" | "--version" => {}
        _ if known => {}
        _ => args.insert(1.min(args.len()), OsString::from("explain")),
    }
    args
}

/// A command whose name differs from a word by a slip or two.
pub fn similar_command(word: &str) -> Option<String> {
    let commands = Cli::command();
    let names = commands.get_subcommands().map(|command| (slips(word, command.get_name()), command.get_name()));
    let best = names.filter(|(slips, name)| *slips <= 2 && *slips < name.len() / 2).min();
    best.map(|(_, name)| name.to_string())
}

/// A format and variant by `FORMAT` or `FORMAT/VARIANT`.
///
/// # Errors
/// Neither is known; the sentence lists what is.
pub fn format_by_name(
    text: &str,
) -> Result<(&'static dyn formats::Format, Option<&'static formats::Variant>), Failure> {
    let (name, variant) = text.split_once('/').map_or((text, None), |(name, variant)| (name, Some(variant)));
    let Some(format) = formats::by_name(name) else {
        let known: Vec<&str> = formats::ALL.iter().map(|format| format.info().name).collect();
        return Err(Failure::usage(format!("error[usage]: no format `{name}`; there are {}", known.join(", "))));
    };
    let Some(wanted) = variant else { return Ok((format, None)) };
    let variants = format.info().variants;
    match variants.iter().find(|variant| variant.name == wanted) {
        Some(variant) => Ok((format, Some(variant))),
        None => {
            let known: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
            let known = known.join(", ");
            Err(Failure::usage(format!("error[usage]: {name} has no variant `{wanted}`; there is {known}")))
        }
    }
}
