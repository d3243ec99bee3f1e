//! Inputs: files, standard input, bytes given as the argument itself; what was told about them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use crate::cli::{EncodingArg, Failure, InputArgs, format_by_name};
use crate::formats;
use crate::framing::text::{self, Encoding};
use crate::inspect::{EncodingChoice, Inspection, Options, Told};
use crate::model::schema::SchemaError;
use crate::model::words::slips;
use crate::schema;
use crate::wire::reader::Window;

/// A number, decimal or with `0x` in hex.
///
/// # Errors
/// The text is neither.
pub fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.replace('_', "").parse(),
    };
    parsed.map_err(|_| "expected a number such as 18 or 0x12".to_string())
}

/// `A..B` ranges, comma separated, half open; either end may be left out.
///
/// # Errors
/// What is wrong with the text.
pub fn ranges(text: &str) -> Result<Vec<(u64, u64)>, String> {
    text.split(',').map(range).collect()
}

/// One `A..B` range.
///
/// # Errors
/// What is wrong with the text.
pub fn range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or_else(|| "expected a range such as 0x10..0x22".to_string())?;
    let from = if from.is_empty() { 0 } else { number(from)? };
    let to = if to.is_empty() { u64::MAX } else { number(to)? };
    if from < to { Ok((from, to)) } else { Err(format!("{text} is empty: a range ends before its second number")) }
}

/// The inputs of a command line; standard input where none is named.
pub fn names(args: &InputArgs) -> Vec<&OsStr> {
    if args.inputs.is_empty() { vec![OsStr::new("-")] } else { args.inputs.iter().map(AsRef::as_ref).collect() }
}

/// Looks whether all of several inputs are there, before anything is printed of the first.
///
/// # Errors
/// The first one that is not.
pub fn check(names: &[&OsStr], args: &InputArgs) -> Result<(), Failure> {
    if names.len() < 2 {
        return Ok(());
    }
    for name in names {
        let (_, path) = prefix(name)?;
        if path != "-" && std::fs::metadata(path).map_or(true, |meta| meta.is_dir()) {
            open(name, args)?;
        }
    }
    Ok(())
}

/// Opens one input.
///
/// # Errors
/// No such file, a folder, a file that cannot be read, a format that is not known.
pub fn open(name: &OsStr, args: &InputArgs) -> Result<Inspection, Failure> {
    let (told, path) = prefix(name)?;
    let options = options(args, told)?;
    if path == "-" {
        return inspect("stdin", stdin(args)?, &options);
    }
    let shown = formats::printable(&Path::new(path).display().to_string()).into_owned();
    if shown.is_empty() {
        return Err(Failure::usage("error[file]: an empty name; - or nothing reads standard input"));
    }
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(file_error(&shown, "is a folder, not a file")),
        Ok(meta) => {
            let file = File::open(path).map_err(|error| file_error(&shown, &plain(&error)))?;
            let window =
                if meta.is_file() { Ok(from_file(file, meta.len(), args)) } else { from_pipe(Box::new(file), args) };
            inspect(&shown, window.map_err(|error| file_error(&shown, &plain(&error)))?, &options)
        }
        // Bytes as hex or base64 may be longer than any file name.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => {
            argument(path, &options, &shown)
        }
        Err(error) => Err(file_error(&shown, &plain(&error))),
    }
}

/// What `FORMAT:PATH` tells, and the path behind it; names of formats only, so that `./pb:x` is a path.
type Prefix<'a> = (Option<&'a str>, &'a OsStr);

fn prefix(name: &OsStr) -> Result<Prefix<'_>, Failure> {
    let Some((before, path)) = name.to_str().and_then(|name| name.split_once(':')) else { return Ok((None, name)) };
    let format = before.split('/').next().unwrap_or("");
    if formats::by_name(format).is_none() {
        return Ok((None, name));
    }
    format_by_name(before)?;
    Ok((Some(before), OsStr::new(path)))
}

/// What the command line tells about an input.
fn options(args: &InputArgs, told: Option<&str>) -> Result<Options, Failure> {
    let mut options = Options { depth: args.limit_depth, ..Options::default() };
    bind(args, &mut options)?;
    if let Some(name) = told.or(args.format.as_deref()) {
        let named = match &args.variant {
            Some(variant) if told.is_none() && !name.contains('/') => format!("{name}/{variant}"),
            _ => name.to_string(),
        };
        let (format, variant) = format_by_name(&named)?;
        (options.format, options.variant) = (Some(format), variant);
    }
    options.encoding = match args.encoding {
        EncodingArg::Auto => EncodingChoice::Auto,
        EncodingArg::Raw => EncodingChoice::Raw,
        EncodingArg::Hex => EncodingChoice::Told(Encoding::Hex),
        EncodingArg::Base64 => EncodingChoice::Told(Encoding::Base64),
        EncodingArg::Escaped => EncodingChoice::Told(Encoding::Escaped),
        EncodingArg::Decimal => EncodingChoice::Told(Encoding::Decimal),
        EncodingArg::Xxd => EncodingChoice::Told(Encoding::Xxd),
        EncodingArg::Dump => EncodingChoice::Told(Encoding::Dump),
    };
    Ok(options)
}

/// A schema that cannot be used, in a line; the message can be read all the same.
fn schema_error(error: &SchemaError) -> Failure {
    Failure::usage(format!("{}; without -s the message can still be read by field number", unusable_words(error)))
}

/// A schema that cannot be used, in a line.
pub fn unusable(error: &SchemaError) -> Failure {
    Failure::usage(unusable_words(error))
}

fn unusable_words(error: &SchemaError) -> String {
    let SchemaError { place, message, help } = error;
    let help = if help.is_empty() { String::new() } else { format!("; {help}") };
    format!("error[schema]: {place}: {message}{help}")
}

/// Reads the schema that was told, and finds the type in it.
fn bind(args: &InputArgs, options: &mut Options) -> Result<(), Failure> {
    if args.schema.is_empty() {
        return Ok(());
    }
    let request = schema::Request { files: args.schema.clone(), include: args.include.clone() };
    for schema in schema::load(&request).map_err(|error| schema_error(&error))? {
        options.schemas.push(Told { schema: Arc::new(schema), root: None });
    }
    match &args.root {
        Some(name) => told_type(name, options),
        None => Ok(()),
    }
}

/// The type that `-t` names, in each schema that has it; `fb:NAME` means the schema of that format.
fn told_type(name: &str, options: &mut Options) -> Result<(), Failure> {
    let (only, name) = match name.split_once(':').map(|(format, name)| (formats::by_name(format), name)) {
        Some((Some(format), name)) => (format.info().language, name),
        _ => (None, name),
    };
    let (mut wrong, mut found) = (None, false);
    for told in options.schemas.iter_mut().filter(|told| only.is_none_or(|only| only == told.schema.language)) {
        match told.schema.find_message(name) {
            Ok(root) => (told.root, found) = (Some(root), true),
            Err(why) => wrong = wrong.or(Some(why)),
        }
    }
    if found {
        return Ok(());
    }
    let why = wrong.unwrap_or_else(|| "none of the schemas is in the language of that format".to_string());
    Err(Failure::usage(format!("error[schema]: {why}")))
}

fn inspect(name: &str, window: Window, options: &Options) -> Result<Inspection, Failure> {
    Inspection::open(name.to_string(), window, options).map_err(|error| file_error(name, &plain(&error.0)))
}

/// Standard input: a file that was redirected can be read by position, a pipe only once.
fn stdin(args: &InputArgs) -> Result<Window, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        crate::cli::output::tell(
            "reading what is typed or pasted here: hex, base64, a C array, a dump; Ctrl-D ends it\n",
        );
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        if let Ok(file) = stdin.as_fd().try_clone_to_owned().map(File::from)
            && let Ok(meta) = file.metadata()
            && meta.is_file()
        {
            return Ok(from_file(file, meta.len(), args));
        }
    }
    from_pipe(Box::new(stdin), args).map_err(|error| file_error("stdin", &plain(&error)))
}

fn from_file(file: File, size: u64, args: &InputArgs) -> Window {
    let mut window = Window::file(file, size, args.skip.unwrap_or(0));
    if let Some(length) = args.length {
        window.limit(length);
    }
    window
}

fn from_pipe(pipe: Box<dyn io::Read>, args: &InputArgs) -> io::Result<Window> {
    let mut window = Window::pipe(pipe, args.skip.unwrap_or(0))?;
    if let Some(length) = args.length {
        window.limit(length);
    }
    Ok(window)
}

/// Bytes given as the argument itself, where no such file exists and the text holds a message.
fn argument(path: &OsStr, options: &Options, shown: &str) -> Result<Inspection, Failure> {
    let text = path.to_str().unwrap_or("");
    let told = matches!(options.encoding, EncodingChoice::Told(_));
    if told || !text::guess(text.as_bytes()).is_empty() {
        let inspection = inspect("argument", Window::memory(text.as_bytes().to_vec()), options)?;
        if !inspection.outer.is_empty() {
            return Ok(inspection);
        }
    }
    let near = similar(Path::new(path)).map_or(String::new(), |near| format!("; {near} exists"));
    let near = match crate::cli::similar_command(text) {
        Some(command) if near.is_empty() => format!("; did you mean the command `{command}`?"),
        _ => near,
    };
    let hint = if !text::guess(text.as_bytes()).is_empty() && near.is_empty() {
        "; as hex or base64 it holds no message either (-e hex or -e base64 reads it all the same)"
    } else {
        ""
    };
    Err(file_error(shown, &format!("no such file{near}{hint}")))
}

/// A file beside the missing one whose name differs by a slip or two.
fn similar(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut best: Option<(usize, String)> = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten().take(1000) {
        let Some(other) = entry.file_name().to_str().map(str::to_string) else { continue };
        let slips = slips(name, &other);
        if slips <= 2 && slips < name.chars().count() / 2 && best.as_ref().is_none_or(|(least, _)| slips < *least) {
            best = Some((slips, path.with_file_name(&other).display().to_string()));
        }
    }
    best.map(|(_, name)| name)
}

fn file_error(name: &str, problem: &str) -> Failure {
    Failure::usage(format!("error[file]: {name}: {problem}"))
}

/// An I/O error without the number of the operating system and the names of temporary files.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.split(" at path ").next().unwrap_or(text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_hex_or_decimal_and_half_open() {
        assert_eq!(number("0x12"), Ok(18));
        assert_eq!(ranges("0..0x29,0x82..0x8d"), Ok(vec![(0, 0x29), (0x82, 0x8d)]));
        assert_eq!(range("..4"), Ok((0, 4)));
        assert!(range("4..4").is_err() && range("4").is_err() && number("0xg").is_err());
    }
}
