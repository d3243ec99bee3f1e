//! What JSON writes otherwise than it is, in sentences.

use crate::formats::json::tagged::MAP;
use crate::model::num::{count, listed};
use crate::model::survey::Oddities;
use crate::model::value::Scalar;

/// A sentence for each kind of value that JSON has no form of its own for.
pub fn sentences(oddities: &Oddities) -> Vec<String> {
    let mut sentences = Vec::new();
    let reasons = map_reasons(oddities);
    if !reasons.is_empty() {
        let reasons = listed(&reasons);
        sentences.push(format!("{reasons}, which no JSON object holds, written as {{\"{MAP}\": [[key, value], ...]}}"));
    }
    if oddities.bins > 0 {
        let bins = count(oddities.bins, "bin", "bins");
        sentences.push(format!("{bins} written as base64 text, which reads back as text"));
    }
    if oddities.specials > 0 {
        let floats = count(oddities.specials, "float", "floats");
        sentences
            .push(format!("{floats} that JSON has no number for written as \"NaN\", \"Infinity\" or \"-Infinity\""));
    }
    if oddities.missing > 0 {
        let values = count(oddities.missing, "value", "values");
        sentences.push(format!("{values} that the damage took written as null"));
    }
    sentences
}

fn map_reasons(oddities: &Oddities) -> Vec<String> {
    let mut reasons = Vec::new();
    let maps = |number| count(number, "map", "maps");
    if oddities.keyed_maps > 0 {
        let key = oddities.first_key.as_ref().map_or("an array or a map", key_word);
        reasons.push(format!("{} with {key} as key", maps(oddities.keyed_maps)));
    }
    if oddities.doubled_maps > 0 {
        reasons.push(format!("{} with one key twice", maps(oddities.doubled_maps)));
    }
    if oddities.reserved_maps > 0 {
        reasons.push(format!("{} that would read as another value", maps(oddities.reserved_maps)));
    }
    reasons
}

/// What a key that is no text is, in a sentence.
fn key_word(key: &Scalar<'_>) -> &'static str {
    match key {
        Scalar::Null | Scalar::Missing => "nil",
        Scalar::Bool(_) => "a boolean",
        Scalar::Uint(_) | Scalar::Int(_) => "an integer",
        Scalar::F32(_) | Scalar::F64(_) | Scalar::Number(_) => "a number",
        Scalar::Text(_) => "text that is not UTF-8",
        Scalar::Bytes(_) => "a bin",
        Scalar::Ext(..) => "an ext object",
        Scalar::Timestamp(..) => "a timestamp",
    }
}
