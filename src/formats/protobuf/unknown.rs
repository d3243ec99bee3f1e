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
    /// Their numbers, each once, as many as a sentence lists.
    numbers: Vec<u32>,
    /// There are more.
    more: bool,
}

impl Unknown {
    /// Counts a field with so many bytes.
    pub fn count(&mut self, number: u32, bytes: usize) {
        self.fields = self.fields.saturating_add(1);
        self.bytes = self.bytes.saturating_add(len64(bytes));
        if self.numbers.contains(&number) {
            return;
        }
        if self.numbers.len() < LISTED { self.numbers.push(number) } else { self.more = true }
    }

    /// What is left out, in a sentence; none where nothing is.
    pub fn sentence(&self) -> Option<String> {
        let mut numbers = self.numbers.clone();
        numbers.sort_unstable();
        let listed: Vec<String> = numbers.iter().map(u32::to_string).collect();
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
