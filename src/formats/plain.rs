//! The reading as plain text: what an input is that is no message.

use crate::formats::{Candidate, Level, Sample};

/// Name of the candidate for text that is no message.
pub const PLAIN_TEXT: &str = "text";

/// Score of plain text: beats a run of small integers, loses against a message that fits.
pub const TEXT_SCORE: u32 = 300;

/// The reading as text that is no message.
pub fn detect(sample: &Sample<'_>) -> Candidate {
    let mut candidate = Candidate {
        format: PLAIN_TEXT,
        variant: "plain",
        level: Level::Possible,
        score: 0,
        pro: Vec::new(),
        contra: Vec::new(),
    };
    match std::str::from_utf8(sample.bytes) {
        _ if sample.bytes.is_empty() => candidate.contra.push("0 bytes".to_string()),
        Err(error) if sample.complete || error.error_len().is_some() => {
            let at = error.valid_up_to();
            let byte = sample.bytes.get(at).copied().unwrap_or(0);
            let problem = match (error.error_len(), byte) {
                (None, _) => "begins a UTF-8 character that the end cuts",
                (Some(_), 0xc2..=0xf4) => "begins a UTF-8 character that does not go on",
                (Some(_), _) => "cannot begin a UTF-8 character",
            };
            candidate.contra.push(format!("{at:#04x}: {byte:02x} {problem}"));
        }
        _ => {
            let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
            match sample.bytes.iter().position(control) {
                Some(at) => {
                    let byte = sample.bytes.get(at).copied().unwrap_or(0);
                    candidate.contra.push(format!("{at:#04x}: {byte:02x} is a control character"));
                }
                None => {
                    candidate.score = TEXT_SCORE;
                    candidate.pro.push("printable UTF-8 throughout".to_string());
                }
            }
        }
    }
    candidate
}
