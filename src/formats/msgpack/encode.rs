//! Writes MessagePack: each value in its shortest form, in the order in which values come.
//!
//! Sizes of containers come from the survey, since a source may not know them ahead.

use std::io::Write;

use rmp::encode as mp;

use super::read;
use super::wire;
use crate::formats::Encoder;
use crate::model::events::{Flow, Sink, Stop};
use crate::model::num::{count, len64};
use crate::model::survey::Survey;
use crate::model::value::{Event, Long, Scalar, Shape};

/// A writer of `msgpack/plain`: maps with the keys of the source, floats as wide as they come,
/// JSON numbers as integers where they are written as such, else as float64.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    survey: &'a Survey,
    /// Number of the next container.
    ordinal: u64,
    /// Content of a long value whose length its source does not announce.
    held: Vec<u8>,
    /// Numbers whose digits a float64 does not all hold.
    rounded: u64,
}

impl<'a> Writer<'a> {
    /// A writer to `out`; `survey` knows the size of every container.
    pub fn new(out: &'a mut dyn Write, survey: &'a Survey) -> Writer<'a> {
        Writer { out, survey, ordinal: 0, held: Vec::new(), rounded: 0 }
    }

    fn begin(&mut self, shape: Shape) -> Flow {
        let count = self.survey.count(self.ordinal);
        self.ordinal = self.ordinal.saturating_add(1);
        let Ok(count) = u32::try_from(count) else {
            return Err(Stop::Refused(format!("{count} elements: a MessagePack container holds 4294967295 at most")));
        };
        let written = match shape {
            Shape::List => mp::write_array_len(&mut self.out, count),
            Shape::Map => mp::write_map_len(&mut self.out, count),
        };
        done(written)
    }

    fn scalar(&mut self, value: &Scalar<'_>) -> Flow {
        let out = &mut self.out;
        match value {
            Scalar::Null | Scalar::Missing => done(mp::write_nil(out)),
            Scalar::Bool(value) => done(mp::write_bool(out, *value)),
            Scalar::Uint(value) => done(mp::write_uint(out, *value)),
            Scalar::Int(value) => done(mp::write_sint(out, *value)),
            Scalar::F32(value) => done(mp::write_f32(out, *value)),
            Scalar::F64(value) => done(mp::write_f64(out, *value)),
            Scalar::Number(text) => self.number(text),
            Scalar::Text(text) => self.head_and(Long::Text, len64(text.len()), text),
            Scalar::Bytes(bytes) => self.head_and(Long::Bytes, len64(bytes.len()), bytes),
            Scalar::Ext(kind, bytes) => self.head_and(Long::Ext(*kind), len64(bytes.len()), bytes),
            Scalar::Timestamp(secs, nanos) => self.timestamp(*secs, *nanos),
        }
    }

    /// A JSON number: an integer where it is written without point and exponent, else a float64.
    fn number(&mut self, text: &str) -> Flow {
        let out = &mut self.out;
        if !text.starts_with('-')
            && let Ok(value) = text.parse::<u64>()
        {
            return done(mp::write_uint(out, value));
        }
        // -0 is no integer: the sign would be lost.
        if text != "-0"
            && let Ok(value) = text.parse::<i64>()
        {
            return done(mp::write_sint(out, value));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.rounded = self.rounded.saturating_add(u64::from(loses_digits(text, value)));
                done(mp::write_f64(out, value))
            }
            _ => Err(Stop::Refused(format!(
                "the number {text} does not fit a float64, the widest number of MessagePack"
            ))),
        }
    }

    fn head_and(&mut self, of: Long, len: u64, first: &[u8]) -> Flow {
        let Ok(len) = u32::try_from(len) else {
            return Err(Stop::Refused(format!("{len} bytes: a MessagePack str, bin or ext holds 4294967295 at most")));
        };
        let out = &mut self.out;
        match of {
            Long::Text => done(mp::write_str_len(out, len))?,
            Long::Bytes => done(mp::write_bin_len(out, len))?,
            Long::Ext(kind) => done(mp::write_ext_meta(out, len, kind))?,
        }
        Ok(self.out.write_all(first)?)
    }

    /// The shortest of the three timestamps that holds the time.
    fn timestamp(&mut self, secs: i64, nanos: u32) -> Flow {
        let content = match read::shortest_timestamp(secs, nanos) {
            4 => u32::try_from(secs).unwrap_or(0).to_be_bytes().to_vec(),
            8 => (u64::from(nanos) << 34 | secs.cast_unsigned()).to_be_bytes().to_vec(),
            _ => [&nanos.to_be_bytes()[..], &secs.to_be_bytes()[..]].concat(),
        };
        self.head_and(Long::Ext(wire::TIMESTAMP_TYPE), len64(content.len()), &content)
    }

    fn piece(&mut self, of: Long, total: Option<u64>, bytes: &[u8], first: bool, last: bool) -> Flow {
        match total {
            Some(total) if first => self.head_and(of, total, bytes),
            Some(_) => Ok(self.out.write_all(bytes)?),
            None => {
                if first {
                    self.held.clear();
                }
                self.held.extend_from_slice(bytes);
                if !last {
                    return Ok(());
                }
                let held = std::mem::take(&mut self.held);
                self.head_and(of, len64(held.len()), &held)
            }
        }
    }
}

impl Sink for Writer<'_> {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Message(_) | Event::End => Ok(()),
            Event::Begin(shape, _) => self.begin(shape),
            Event::Scalar(value) => self.scalar(&value),
            Event::Piece { of, total, bytes, first, last } => self.piece(of, total, bytes, first, last),
        }
    }
}

impl Encoder for Writer<'_> {
    fn finish(&mut self) -> Flow {
        Ok(self.out.flush()?)
    }

    fn losses(&self) -> Vec<String> {
        let numbers = count(self.rounded, "number", "numbers");
        let sentence = format!("{numbers} with more digits than a float64 holds, or closer to 0, rounded to one");
        if self.rounded > 0 { vec![sentence] } else { Vec::new() }
    }
}

/// Whether a decimal has more significant digits than every float64 gives back, or became 0.
fn loses_digits(text: &str, value: f64) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').trim_end_matches('0').len();
    significant > SIGNIFICANT || (value == 0.0 && significant > 0)
}

/// Decimal digits up to which the shortest form of a float64 gives a number back.
const SIGNIFICANT: usize = 17;

/// The outcome of a writer of the library as a flow.
fn done<T, E: Into<std::io::Error>>(written: Result<T, E>) -> Flow {
    written.map(|_| ()).map_err(|error| Stop::from(error.into()))
}
