//! Where output goes: standard output, a pager, a file that is written whole or not at all; and the
//! width and colour it has there.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cli::{ColorArg, Failure};

/// Columns where nothing says how many there are.
const WIDTH: usize = 100;

/// The narrowest output; a narrower terminal wraps.
const NARROWEST: usize = 60;

/// Bytes written at once.
const BUFFER: usize = 256 * 1024;

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes lines to stderr at once, so that those of two programs never mix; a stderr that takes nothing is
/// no reason to fail.
pub fn tell(lines: &str) {
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// Columns: told, else the terminal's, else COLUMNS, else 100.
pub fn width(told: Option<usize>) -> usize {
    told.or_else(|| is_terminal().then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0)))
        .or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
        .filter(|width| *width > 0)
        .unwrap_or(WIDTH)
        .max(NARROWEST)
}

/// Whether to colour: told, else as NO_COLOR, CLICOLOR_FORCE and the terminal say.
pub fn color(told: ColorArg, to_file: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match told {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
        ColorArg::Auto if set("CLICOLOR_FORCE") => true,
        ColorArg::Auto => !to_file && is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// A place for output.
pub enum Output {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A pager's input.
    Pager(Child, Option<BufWriter<std::process::ChildStdin>>),
    /// A device, pipe or the like, written straight.
    Straight(BufWriter<File>),
    /// A file that takes its name only when it is whole.
    Staged(BufWriter<tempfile::NamedTempFile>, PathBuf),
}

impl Output {
    /// Standard output, or a file.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn open(path: Option<&Path>) -> Result<Output, Failure> {
        match path {
            None => Ok(Output::stdout()),
            Some(path) if path == Path::new("-") => Ok(Output::stdout()),
            Some(path) => Output::file(path).map_err(|error| {
                let problem = crate::cli::input::plain(&error);
                Failure::usage(format!("error[file]: -o {}: {problem}", path.display()))
            }),
        }
    }

    fn stdout() -> Output {
        Output::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    fn file(path: &Path) -> io::Result<Output> {
        let there = std::fs::metadata(path);
        if there.as_ref().is_ok_and(|meta| !meta.is_file()) {
            if there.is_ok_and(|meta| meta.is_dir()) {
                return Err(io::Error::other("is a folder"));
            }
            return Ok(Output::Straight(BufWriter::new(File::options().write(true).open(path)?)));
        }
        // Through a link the file it leads to is replaced, and the link stays.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".wireinspect-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // As any new file: the umask takes away what the user does not want. An old one keeps its own.
            let mode = std::fs::metadata(&target).map_or(0o666, |meta| meta.permissions().mode());
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        Ok(Output::Staged(BufWriter::with_capacity(BUFFER, builder.tempfile_in(folder)?), target))
    }

    /// The user's pager, or standard output where there is none.
    pub fn pager() -> Output {
        let wanted = std::env::var("PAGER").unwrap_or_else(|_| "less -RFX".to_string());
        let mut words = wanted.split_whitespace();
        let Some(program) = words.next().filter(|program| *program != "cat") else { return Output::stdout() };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "RFX");
        }
        match command.spawn() {
            Ok(mut child) => {
                let input = child.stdin.take().map(|input| BufWriter::with_capacity(BUFFER, input));
                Output::Pager(child, input)
            }
            Err(_) => Output::stdout(),
        }
    }

    /// All has been written: buffers are emptied, a staged file takes its name, a pager is waited for.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush(),
            Output::Straight(mut out) => out.flush(),
            Output::Pager(mut child, input) => {
                if let Some(mut input) = input {
                    quiet(input.flush())?;
                }
                child.wait().map(|_| ())
            }
            Output::Staged(out, target) => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(target).map(|_| ()).map_err(|error| error.error)
            }
        }
    }
}

/// A reader that went away is no error.
fn quiet(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Straight(out) => out.write(bytes),
            Output::Staged(out, _) => out.write(bytes),
            Output::Pager(_, Some(out)) => out.write(bytes),
            Output::Pager(_, None) => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::Straight(out) => out.flush(),
            Output::Staged(out, _) => out.flush(),
            Output::Pager(_, Some(out)) => out.flush(),
            Output::Pager(_, None) => Ok(()),
        }
    }
}
