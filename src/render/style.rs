//! Colour, by cause: the sixteen colours that every terminal has, never the only carrier of a fact.

use owo_colors::{OwoColorize as _, Style};

use crate::model::bytemap::Cause;
use crate::model::diag::Severity;

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Colour on or off.
    pub fn new(on: bool) -> Paint {
        Paint { on }
    }

    /// Whether there is colour.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// Appends `text` in the colour of a cause.
    pub fn cause(self, cause: Cause, text: &str, out: &mut String) {
        self.styled(by_cause(cause), text, out);
    }

    /// Appends `text` as what a reader may skip: offsets, notes.
    pub fn dim(self, text: &str, out: &mut String) {
        self.styled(Style::new().dimmed(), text, out);
    }

    /// Appends `text` as a heading.
    pub fn bold(self, text: &str, out: &mut String) {
        self.styled(Style::new().bold(), text, out);
    }

    /// Appends `text` in the colour of a severity.
    pub fn severity(self, severity: Severity, text: &str, out: &mut String) {
        let style = match severity {
            Severity::Error => Style::new().red().bold(),
            Severity::Warning => Style::new().yellow(),
            Severity::Note => Style::new().dimmed(),
        };
        self.styled(style, text, out);
    }

    fn styled(self, style: Style, text: &str, out: &mut String) {
        if self.on && !text.is_empty() {
            out.push_str(&text.style(style).to_string());
        } else {
            out.push_str(text);
        }
    }
}

fn by_cause(cause: Cause) -> Style {
    let style = Style::new();
    match cause {
        Cause::Payload => style.green(),
        Cause::Width => style.bright_green(),
        Cause::Key | Cause::Names => style.cyan(),
        Cause::Length => style.yellow(),
        Cause::Type => style.magenta(),
        Cause::Pointer => style.blue(),
        Cause::Table => style.bright_blue(),
        Cause::Padding | Cause::Terminator => style.dimmed(),
        Cause::Default => style.bright_green(),
        Cause::Framing => style.bright_magenta(),
        Cause::Punctuation => style.dimmed(),
        Cause::Unread => style.red(),
    }
}
