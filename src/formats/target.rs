//! Sentences on values that do not fit the schema of a target, the same for all formats that are written by one.

use std::borrow::Cow;

use crate::formats::json_string;
use crate::model::value::{Event, Scalar, Shape, plain_words};
use crate::model::words;

/// Characters of a value that a sentence repeats.
const SHOWN: usize = 40;

/// What stands there, for a sentence.
pub fn found_words(event: &Event<'_>) -> String {
    match event {
        Event::Begin(Shape::List, _) => "an array".to_string(),
        Event::Begin(Shape::Map, _) => "an object".to_string(),
        Event::Scalar(Scalar::Null | Scalar::Missing) => "null".to_string(),
        Event::Scalar(Scalar::Text(text)) => json_string(&shown(&String::from_utf8_lossy(text))),
        Event::Scalar(Scalar::Bytes(_)) => "bytes".to_string(),
        Event::Scalar(Scalar::Ext(..)) => "an ext object".to_string(),
        Event::Scalar(Scalar::Timestamp(..)) => "a timestamp".to_string(),
        Event::Scalar(value) => shown(&plain_words(value).unwrap_or_default()).into_owned(),
        Event::Message(_) | Event::End | Event::Piece { .. } => "nothing".to_string(),
    }
}

/// The beginning of a long text.
pub fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).unwrap_or(text))),
        None => Cow::Borrowed(text),
    }
}

/// `did you mean …?`, where something is near.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    match words::nearest(wanted, names).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => String::new(),
    }
}
