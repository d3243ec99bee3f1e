//! Writes values as JSON while they come in.
//!
//! What JSON lacks takes the tagged forms of design.md section 4. Which maps are no JSON objects,
//! and how many messages there are, was found out by a first reading (the [`Survey`]).

use std::io::{self, Write};

use data_encoding::{BASE64, Encoding, HEXLOWER};

use crate::formats::Encoder;
use crate::formats::json::tagged::{EXT, MAP, TIMESTAMP};
use crate::formats::json::wire::{FIRST_PRINTABLE, QUOTE, escape_letter};
use crate::model::events::{Flow, Sink, Stop};
use crate::model::survey::Survey;
use crate::model::value::{Event, Long, Scalar, Shape};

/// Bytes that base64 writes as four digits.
const BASE64_BLOCK: usize = 3;
/// Bytes turned into digits at once, whole blocks of base64.
const DIGITS_FROM: usize = 1024 * BASE64_BLOCK;
/// Spaces a level.
const INDENT: &[u8] = b"  ";

/// How an open container is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `[…]`, also around several messages.
    List,
    /// `{…}`
    Object,
    /// `{"$map":[[k,v],…]}`
    Pairs,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    form: Form,
    /// Items so far; keys and values of a map count apart.
    items: u64,
}

/// A writer of JSON.
pub struct JsonWriter<'a> {
    out: &'a mut dyn Write,
    pretty: bool,
    newline: bool,
    survey: &'a Survey,
    /// A list stands around the messages however many there are.
    stream: bool,
    open: Vec<Open>,
    /// Containers begun so far, counted as the survey counts them.
    containers: u64,
    /// End of a piece that cannot be written yet: a cut character, or one or two bytes for base64.
    carry: Vec<u8>,
    started: bool,
}

impl<'a> JsonWriter<'a> {
    /// A writer to `out`; `pretty` breaks and indents lines, `newline` ends the last one.
    pub fn new(out: &'a mut dyn Write, pretty: bool, survey: &'a Survey, newline: bool) -> JsonWriter<'a> {
        let (open, carry) = (Vec::new(), Vec::new());
        JsonWriter { out, pretty, newline, survey, stream: false, open, containers: 0, carry, started: false }
    }

    /// Writes a list even around one message, or none.
    #[must_use]
    pub fn stream(self, stream: bool) -> JsonWriter<'a> {
        JsonWriter { stream, ..self }
    }

    /// Starts the list around several messages.
    fn message(&mut self) -> Flow {
        if !self.started && (self.stream || self.survey.messages > 1) {
            self.out.write_all(b"[")?;
            self.open.push(Open { form: Form::List, items: 0 });
        }
        self.started = true;
        Ok(())
    }

    /// What stands in front of the next item.
    fn before(&mut self) -> Flow {
        self.started = true;
        let Some(Open { form, items }) = self.open.last().copied() else { return Ok(()) };
        let (first, second) = (items == 0, !items.is_multiple_of(2));
        match form {
            Form::Object if second => {
                let colon: &[u8] = if self.pretty { b": " } else { b":" };
                return Ok(self.out.write_all(colon)?);
            }
            Form::Pairs if second => {
                let comma: &[u8] = if self.pretty { b", " } else { b"," };
                return Ok(self.out.write_all(comma)?);
            }
            Form::List | Form::Object | Form::Pairs => {}
        }
        if !first {
            self.out.write_all(b",")?;
        }
        self.line()?;
        if form == Form::Pairs {
            self.out.write_all(b"[")?;
        }
        Ok(())
    }

    /// What stands behind an item.
    fn after(&mut self) -> Flow {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.items = open.items.saturating_add(1);
        if open.form == Form::Pairs && open.items.is_multiple_of(2) {
            self.out.write_all(b"]")?;
        }
        Ok(())
    }

    /// Begins a line where lines are broken.
    fn line(&mut self) -> Flow {
        if self.pretty {
            self.out.write_all(b"\n")?;
            for _ in &self.open {
                self.out.write_all(INDENT)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, shape: Shape) -> Flow {
        self.check_key(false)?;
        self.before()?;
        let odd = self.survey.is_odd_map(self.containers);
        self.containers = self.containers.saturating_add(1);
        let form = match shape {
            Shape::List => Form::List,
            Shape::Map if odd => Form::Pairs,
            Shape::Map => Form::Object,
        };
        match form {
            Form::List => self.out.write_all(b"[")?,
            Form::Object => self.out.write_all(b"{")?,
            Form::Pairs => self.tag(MAP)?,
        }
        self.open.push(Open { form, items: 0 });
        Ok(())
    }

    fn end(&mut self) -> Flow {
        let Some(open) = self.open.last().copied() else { return Ok(()) };
        // A key without value, which only a damaged input has.
        if open.form != Form::List && !open.items.is_multiple_of(2) {
            self.scalar(&Scalar::Missing)?;
        }
        self.open.pop();
        if open.items > 0 {
            self.line()?;
        }
        match open.form {
            Form::List => self.out.write_all(b"]")?,
            Form::Object => self.out.write_all(b"}")?,
            Form::Pairs => self.out.write_all(b"]}")?,
        }
        self.after()
    }

    /// `{"$map":[`: an object with one member that is a list.
    fn tag(&mut self, name: &str) -> Flow {
        let space = if self.pretty { " " } else { "" };
        Ok(write!(self.out, "{{\"{name}\":{space}[")?)
    }

    /// Refuses what cannot be the name of a member; the survey has sent such maps elsewhere.
    fn check_key(&self, text: bool) -> Flow {
        let at_key = |open: &Open| open.form == Form::Object && open.items.is_multiple_of(2);
        if !text && self.open.last().is_some_and(at_key) {
            return Err(Stop::Internal("a key that is not text reached a JSON object".to_owned()));
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) -> Flow {
        self.check_key(matches!(scalar, Scalar::Text(_)))?;
        self.before()?;
        match scalar {
            Scalar::Null | Scalar::Missing => self.out.write_all(b"null")?,
            Scalar::Bool(true) => self.out.write_all(b"true")?,
            Scalar::Bool(false) => self.out.write_all(b"false")?,
            Scalar::Uint(value) => self.out.write_all(itoa::Buffer::new().format(*value).as_bytes())?,
            Scalar::Int(value) => self.out.write_all(itoa::Buffer::new().format(*value).as_bytes())?,
            // Whoever reads it reads a float64, so it is written as the float64 it is.
            Scalar::F32(value) => self.float(f64::from(*value))?,
            Scalar::F64(value) => self.float(*value)?,
            Scalar::Number(text) => self.out.write_all(text.as_bytes())?,
            Scalar::Text(bytes) => self.whole(Long::Text, bytes)?,
            Scalar::Bytes(bytes) => self.whole(Long::Bytes, bytes)?,
            Scalar::Ext(kind, bytes) => self.whole(Long::Ext(*kind), bytes)?,
            Scalar::Timestamp(seconds, nanos) => {
                self.tag(TIMESTAMP)?;
                let space = if self.pretty { " " } else { "" };
                write!(self.out, "{seconds},{space}{nanos}]}}")?;
            }
        }
        self.after()
    }

    fn float(&mut self, value: f64) -> Flow {
        let mut buffer = ryu::Buffer::new();
        let text = match value.is_finite() {
            true => buffer.format_finite(value),
            false if value.is_nan() => "\"NaN\"",
            false if value > 0.0 => "\"Infinity\"",
            false => "\"-Infinity\"",
        };
        Ok(self.out.write_all(text.as_bytes())?)
    }

    fn whole(&mut self, of: Long, bytes: &[u8]) -> Flow {
        self.piece_begin(of)?;
        self.piece(of, bytes)?;
        self.piece_end(of)
    }

    fn piece_begin(&mut self, of: Long) -> Flow {
        self.carry.clear();
        match of {
            Long::Text | Long::Bytes => self.out.write_all(b"\"")?,
            Long::Ext(kind) => {
                self.tag(EXT)?;
                let space = if self.pretty { " " } else { "" };
                write!(self.out, "{kind},{space}\"")?;
            }
        }
        Ok(())
    }

    fn piece(&mut self, of: Long, bytes: &[u8]) -> Flow {
        match of {
            Long::Text => self.text(bytes),
            Long::Bytes => self.base64(bytes),
            Long::Ext(_) => self.digits(&HEXLOWER, bytes),
        }
    }

    fn piece_end(&mut self, of: Long) -> Flow {
        match of {
            Long::Text if !self.carry.is_empty() => self.out.write_all("\u{fffd}".as_bytes())?,
            Long::Bytes => self.out.write_all(BASE64.encode(&self.carry).as_bytes())?,
            Long::Text | Long::Ext(_) => {}
        }
        self.carry.clear();
        self.out.write_all(if matches!(of, Long::Ext(_)) { b"\"]}" } else { b"\"" })?;
        Ok(())
    }

    /// Text that may begin and end inside a character.
    fn text(&mut self, bytes: &[u8]) -> Flow {
        if self.carry.is_empty() {
            return self.text_from(bytes);
        }
        let mut joined = std::mem::take(&mut self.carry);
        joined.extend_from_slice(bytes);
        self.text_from(&joined)
    }

    fn text_from(&mut self, bytes: &[u8]) -> Flow {
        let mut left = bytes;
        loop {
            let bad = match std::str::from_utf8(left) {
                Ok(_) => return Ok(write_escaped(self.out, left)?),
                Err(bad) => bad,
            };
            let (valid, behind) = left.split_at_checked(bad.valid_up_to()).unwrap_or((left, &[]));
            write_escaped(self.out, valid)?;
            match bad.error_len() {
                Some(len) => {
                    self.out.write_all("\u{fffd}".as_bytes())?;
                    left = behind.get(len..).unwrap_or(&[]);
                }
                None => {
                    self.carry.extend_from_slice(behind);
                    return Ok(());
                }
            }
        }
    }

    /// Bytes of which the last one or two wait for those that complete a block.
    fn base64(&mut self, bytes: &[u8]) -> Flow {
        let need = if self.carry.is_empty() { 0 } else { BASE64_BLOCK.saturating_sub(self.carry.len()) };
        let (head, rest) = bytes.split_at_checked(need).unwrap_or((bytes, &[]));
        self.carry.extend_from_slice(head);
        if self.carry.len() == BASE64_BLOCK {
            self.out.write_all(BASE64.encode(&self.carry).as_bytes())?;
            self.carry.clear();
        }
        let blocks = rest.len().saturating_sub(rest.len() % BASE64_BLOCK);
        let (whole, tail) = rest.split_at_checked(blocks).unwrap_or((rest, &[]));
        self.digits(&BASE64, whole)?;
        self.carry.extend_from_slice(tail);
        Ok(())
    }

    fn digits(&mut self, encoding: &Encoding, bytes: &[u8]) -> Flow {
        for blocks in bytes.chunks(DIGITS_FROM) {
            self.out.write_all(encoding.encode(blocks).as_bytes())?;
        }
        Ok(())
    }
}

impl Sink for JsonWriter<'_> {
    fn wants_values(&self) -> bool {
        true
    }

    fn value(&mut self, event: Event<'_>) -> Flow {
        match event {
            Event::Message(_) => self.message(),
            Event::Begin(shape, _) => self.begin(shape),
            Event::End => self.end(),
            Event::Scalar(scalar) => self.scalar(&scalar),
            Event::Piece { of, bytes, first, last, .. } => {
                if first {
                    self.check_key(of == Long::Text)?;
                    self.before()?;
                    self.piece_begin(of)?;
                }
                self.piece(of, bytes)?;
                if last {
                    self.piece_end(of)?;
                    self.after()?;
                }
                Ok(())
            }
        }
    }
}

impl Encoder for JsonWriter<'_> {
    fn finish(&mut self) -> Flow {
        if self.stream {
            self.message()?;
        }
        while !self.open.is_empty() {
            self.end()?;
        }
        // An input without any message still gives JSON.
        if !self.started {
            self.out.write_all(b"null")?;
        }
        if self.newline {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Writes UTF-8 with the escapes that a string needs, in runs that need none.
///
/// # Errors
/// Output that cannot be written.
pub fn write_escaped(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    let mut left = text;
    while let Some(at) = left.iter().position(|byte| *byte < FIRST_PRINTABLE || matches!(*byte, QUOTE | b'\\')) {
        let (plain, behind) = left.split_at_checked(at).unwrap_or((left, &[]));
        out.write_all(plain)?;
        let Some((&byte, rest)) = behind.split_first() else { return Ok(()) };
        match escape_letter(byte) {
            Some(letter) => out.write_all(&[b'\\', letter])?,
            None => write!(out, "\\u{byte:04x}")?,
        }
        left = rest;
    }
    out.write_all(left)
}

/// Text as a JSON string with its quotes.
pub fn quoted(text: &str) -> String {
    let mut out = vec![QUOTE];
    // Writing to memory cannot fail.
    let _ = write_escaped(&mut out, text.as_bytes());
    out.push(QUOTE);
    String::from_utf8(out).unwrap_or_default()
}
