//! The messages of an input one by one, whatever stands around them: nothing, a length, gRPC's flags and
//! length, the head of the Confluent registry. Used where values count and not the bytes.

use crate::formats::protobuf::gather::MOST;
use crate::formats::protobuf::gzip::inflated;
use crate::formats::protobuf::wire::{self, FLAG_COMPRESSED, MAX_VARINT, Varint};
use crate::model::events::{Flow, Stop};
use crate::model::limits::{INFLATED, PIECE};
use crate::model::num::len64;
use crate::wire::reader::{Window, big_endian};

/// One message, nothing around it.
pub const PLAIN: &str = "plain";
/// A varint with the length in front of each message.
pub const DELIMITED: &str = "delimited";
/// A byte with flags and four with the length in front of each message.
pub const GRPC: &str = "grpc";
/// Nested messages between group tags.
pub const GROUPS: &str = "groups";
/// A schema registry's number in front of the one message.
pub const CONFLUENT: &str = "confluent";

/// Bytes in front of a gRPC message.
pub const GRPC_HEAD: u64 = 5;
/// Confluent: a zero byte and the number of the schema.
const CONFLUENT_HEAD: u64 = 5;

/// Whether a variant holds a row of messages.
pub fn is_stream(variant: &str) -> bool {
    matches!(variant, DELIMITED | GRPC)
}

/// Hands each message to `take`, with the flags in front of it undone; one that the end cuts is handed over
/// as far as it goes.
///
/// # Errors
/// What `take` returns, or an input that cannot be read or held.
pub fn each(input: &mut Window, variant: &str, take: &mut dyn FnMut(u64, &[u8]) -> Flow) -> Flow {
    match variant {
        DELIMITED => delimited(input, take),
        GRPC => grpc(input, take),
        CONFLUENT => {
            let from = behind_confluent(input)?;
            let bytes = held(input, from, u64::MAX)?;
            take(0, &bytes)
        }
        _ => match input.all(MOST)? {
            Some(bytes) => take(0, &bytes),
            None => Err(too_long()),
        },
    }
}

fn too_long() -> Stop {
    Stop::Refused(format!("a Protobuf message of more than {MOST} bytes: no reader takes more than 2 GiB"))
}

/// Up to `len` bytes from an offset on.
fn held(input: &mut Window, from: u64, len: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    while len64(bytes.len()) < len {
        let want = usize::try_from(len.saturating_sub(len64(bytes.len()))).unwrap_or(PIECE).min(PIECE);
        let piece = input.at(from.saturating_add(len64(bytes.len())), want)?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(piece);
        if len64(bytes.len()) > MOST {
            return Err(too_long());
        }
    }
    Ok(bytes)
}

/// Offset of the message behind the number of a schema and the path to the message's type.
fn behind_confluent(input: &mut Window) -> Result<u64, Stop> {
    let mut at = CONFLUENT_HEAD;
    let mut read = |at: &mut u64| -> Result<Option<i64>, Stop> {
        let Varint::Whole(value, len) = wire::varint(input.at(*at, MAX_VARINT)?) else { return Ok(None) };
        *at = at.saturating_add(len64(len));
        Ok(Some(wire::unzigzag(value)))
    };
    let mut left = read(&mut at)?.unwrap_or(0);
    while left > 0 && read(&mut at)?.is_some() {
        left = left.saturating_sub(1);
    }
    Ok(at)
}

fn delimited(input: &mut Window, take: &mut dyn FnMut(u64, &[u8]) -> Flow) -> Flow {
    let (mut at, mut number) = (0u64, 0u64);
    while let Varint::Whole(length, len) = wire::varint(input.at(at, MAX_VARINT)?) {
        let from = at.saturating_add(len64(len));
        let bytes = held(input, from, length)?;
        take(number, &bytes)?;
        if len64(bytes.len()) < length {
            break;
        }
        (at, number) = (from.saturating_add(length), number.saturating_add(1));
    }
    Ok(())
}

fn grpc(input: &mut Window, take: &mut dyn FnMut(u64, &[u8]) -> Flow) -> Flow {
    let (mut at, mut number, mut most) = (0u64, 0u64, INFLATED);
    loop {
        let head = input.at(at, usize::try_from(GRPC_HEAD).unwrap_or(0))?;
        let Some((&flags, length)) = head.split_first().filter(|(_, length)| length.len() == 4) else { return Ok(()) };
        let length = big_endian(length);
        let from = at.saturating_add(GRPC_HEAD);
        at = from.saturating_add(length);
        // Other flags stand in front of what is no message: trailers (80, 81), the end of a stream (02).
        if !matches!(flags, 0 | FLAG_COMPRESSED) {
            continue;
        }
        let mut bytes = held(input, from, length)?;
        if flags == FLAG_COMPRESSED {
            // What cannot be undone is the walk's to report.
            (bytes, _) = inflated(&bytes, most);
            most = most.saturating_sub(len64(bytes.len()));
        }
        take(number, &bytes)?;
        number = number.saturating_add(1);
    }
}

/// Appends a message with what a variant puts in front of it.
///
/// # Errors
/// A length that gRPC has no room for.
pub fn frame(variant: &str, message: &[u8], out: &mut Vec<u8>) -> Flow {
    match variant {
        DELIMITED => wire::push_varint(len64(message.len()), out),
        GRPC => {
            let Ok(length) = u32::try_from(message.len()) else { return Err(too_long()) };
            out.push(0);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {}
    }
    out.extend_from_slice(message);
    Ok(())
}
