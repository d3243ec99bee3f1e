//! `wireinspect help`: on commands, and on formats byte by byte.

use std::io::{self, Write as _};

use clap::Args;

use crate::cli::{Failure, Outcome, command};
use crate::formats;

/// Options of `help`.
#[derive(Debug, Args, Clone)]
pub struct HelpArgs {
    /// A command, a format, or `formats` for their names
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

/// Prints help on a topic.
///
/// # Errors
/// No such topic.
pub fn run(args: &HelpArgs) -> Outcome {
    let mut whole = command();
    let text = match args.topic.as_deref() {
        None => whole.render_long_help().to_string(),
        Some("formats") => formats::ALL.iter().map(|format| format!("{}\n", format.info().name)).collect(),
        Some(topic) => match (whole.find_subcommand_mut(topic), formats::by_name(topic)) {
            (Some(found), _) => found.clone().bin_name(format!("wireinspect {topic}")).render_long_help().to_string(),
            (None, Some(format)) => format.info().about.to_string(),
            (None, None) => {
                let known: Vec<&str> = formats::ALL.iter().map(|format| format.info().name).collect();
                let known = known.join(", ");
                return Err(Failure::usage(format!(
                    "error[usage]: no help on `{topic}`; there is help on each command, and on {known}"
                )));
            }
        },
    };
    match write!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(0),
    }
}

/// The formats with their variants, for help texts.
pub fn format_lines() -> String {
    let mut text = String::from("Formats:\n");
    for format in formats::ALL {
        let info = format.info();
        let short = if info.short.is_empty() { String::new() } else { format!(" ({})", info.short.join(", ")) };
        let variants: Vec<&str> = info.variants.iter().map(|variant| variant.name).collect();
        let name = format!("{}{short}", info.name);
        text.push_str(&format!("  {name:<14} {:<12} variants: {}\n", info.title, variants.join(", ")));
    }
    text
}

/// The table of formats in README, made from [`formats::ALL`].
pub fn format_table() -> String {
    let mut text = String::from("| format | names | variants | files | schema |\n|---|---|---|---|---|\n");
    for format in formats::ALL {
        let info = format.info();
        let code = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
        let names: Vec<&str> = std::iter::once(info.name).chain(info.short.iter().copied()).collect();
        let variants: Vec<&str> = info.variants.iter().map(|variant| variant.name).collect();
        let files: Vec<String> = info.extensions.iter().map(|ending| format!("`.{ending}`")).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            info.title,
            code(&names),
            code(&variants),
            files.join(" "),
            info.schema
        ));
    }
    text
}
