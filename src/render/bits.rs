//! Bit fields in words and in columns.

use crate::model::bytemap::Bits;

/// Bit fields in words, pieces of one value together: `fixmap 1000, entries 0100 = 4`.
pub fn bit_words(bits: &[Bits]) -> String {
    let mut words: Vec<(&str, String)> = Vec::new();
    for bit in bits {
        let size = usize::try_from(bit.hi.saturating_sub(bit.lo)).unwrap_or(0).saturating_add(1);
        let digits = format!("{:0size$b}", bit.value);
        match words.last_mut().filter(|(name, _)| *name == bit.name) {
            Some((_, joined)) => {
                joined.push(' ');
                joined.push_str(&digits);
            }
            None => words.push((bit.name, digits)),
        }
    }
    let words: Vec<String> = words.into_iter().map(|(name, digits)| format!("{name} {digits}")).collect();
    words.join(", ")
}

/// The bits byte by byte, two blanks between bytes, parted where the fields part.
pub fn bits_in_row(bits: &[Bits]) -> String {
    let mut text = String::new();
    let mut before = None;
    for bit in bits {
        let byte = bit.lo / 8;
        let gap = match before {
            None => "",
            Some(before) if before == byte => " ",
            Some(_) => "  ",
        };
        let size = usize::try_from(bit.hi.saturating_sub(bit.lo)).unwrap_or(0).saturating_add(1);
        text.push_str(&format!("{gap}{:0size$b}", bit.value));
        before = Some(byte);
    }
    text
}
