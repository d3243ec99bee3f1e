//! What a schema does not know, counted for the sentence that says so.

use crate::model::num::len64;

/// Unknown numbers that a sentence lists.
const LISTED: usize = 8;

/// Fields that a schema does not know, counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Fields.
    pub fields: u64,
    /// Their bytes, tags included.
    pub bytes: u64,
    /// Their numbers, each once, as many as a sentence lists, and the first value of each that is a number.
    numbers: Vec<(u32, Option<u64>)>,
    /// There are more.
    more: bool,
    /// NaN and infinities in a google.protobuf.Value, which has no form for them in JSON.
    pub endless: u64,
}

impl Unknown {
    /// Counts a field with so many bytes, and its value where that is a number.
    pub fn count(&mut self, number: u32, bytes: usize, value: Option<u64>) {
        self.fields = self.fields.saturating_add(1);
        self.bytes = self.bytes.saturating_add(len64(bytes));
        if self.numbers.iter().any(|(known, _)| *known == number) {
            return;
        }
        if self.numbers.len() < LISTED { self.numbers.push((number, value)) } else { self.more = true }
    }

    /// What JSON takes for something else, in a sentence; none where there is nothing.
    pub fn misread(&self) -> Option<String> {
        let numbers = crate::model::num::count(self.endless, "number", "numbers");
        (self.endless > 0).then(|| {
            format!(
                "{numbers} of google.protobuf.Value cannot be told in JSON (NaN or infinite): written as text, which \
                 reads back as a string; other writers refuse the message"
            )
        })
    }

    /// What is left out, in a sentence; none where nothing is.
    pub fn sentence(&self) -> Option<String> {
        let mut numbers = self.numbers.clone();
        numbers.sort_unstable();
        let shown = |(number, value): &(u32, Option<u64>)| match value {
            Some(value) => format!("{number} = {value}"),
            None => number.to_string(),
        };
        let listed: Vec<String> = numbers.iter().map(shown).collect();
        let more = if self.more { ", …" } else { "" };
        let noun = if listed.len() == 1 { "number" } else { "numbers" };
        let numbers = format!("{noun} {}{more}", listed.join(", "));
        let bytes = crate::model::num::bytes(self.bytes);
        match self.fields {
            0 => None,
            1 => Some(format!("1 unknown field ({numbers}; {bytes}) is not in this schema and is left out")),
            many => Some(format!("{many} unknown fields ({numbers}; {bytes}) are not in this schema and are left out")),
        }
    }
}
