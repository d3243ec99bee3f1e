//! `wireinspect completions`: scripts for shells, and the man page; the files in `completions/` are
//! what this prints.

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};
use clap_complete::{Shell, generate};

use crate::cli::{Outcome, command};

/// Options of `completions`.
#[derive(Debug, Args, Clone)]
pub struct CompletionsArgs {
    /// For what
    #[arg(value_enum)]
    target: Target,
}

/// What can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// PowerShell
    Powershell,
    /// The man page
    Man,
}

impl Target {
    /// The file in `completions/` that holds it.
    pub fn file(self) -> &'static str {
        match self {
            Target::Bash => "wireinspect.bash",
            Target::Zsh => "_wireinspect",
            Target::Fish => "wireinspect.fish",
            Target::Powershell => "_wireinspect.ps1",
            Target::Man => "wireinspect.1",
        }
    }
}

/// The generated text.
///
/// # Errors
/// The man page cannot be rendered.
pub fn generated(target: Target) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut command = command();
    let shell = match target {
        Target::Bash => Shell::Bash,
        Target::Zsh => Shell::Zsh,
        Target::Fish => Shell::Fish,
        Target::Powershell => Shell::PowerShell,
        Target::Man => {
            let man = clap_mangen::Man::new(command).date("");
            man.render_title(&mut text)?;
            man.render_name_section(&mut text)?;
            man.render_synopsis_section(&mut text)?;
            man.render_description_section(&mut text)?;
            man_commands(&mut text)?;
            return Ok(text);
        }
    };
    generate(shell, &mut command, "wireinspect", &mut text);
    Ok(text)
}

/// The options of every subcommand, so that one page holds them all.
fn man_commands(text: &mut Vec<u8>) -> io::Result<()> {
    for sub in command().get_subcommands() {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(text, ".SH \"WIREINSPECT {}\"\n{about}", sub.get_name().to_uppercase())?;
        let name = sub.get_name().to_uppercase();
        let man = clap_mangen::Man::new(sub.clone());
        let mut section = Vec::new();
        man.render_options_section(&mut section)?;
        let section = String::from_utf8_lossy(&section).replacen(".SH OPTIONS", &format!(".SH OPTIONS OF {name}"), 1);
        text.extend_from_slice(section.as_bytes());
    }
    Ok(())
}

/// Prints what was asked for.
///
/// # Errors
/// Output that cannot be written.
pub fn run(args: &CompletionsArgs) -> Outcome {
    match io::stdout().write_all(&generated(args.target)?) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(0),
    }
}
