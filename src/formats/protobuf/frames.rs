//! Streams of messages: each behind its length (`delimited`), or behind gRPC's flags and length (`grpc`).

use super::decode::{Walker, ahead};
use super::gzip::inflated;
use super::wire::{self, FLAG_COMPRESSED, FLAG_STREAM_END, FLAG_TRAILERS, Varint};
use crate::formats::Context;
use crate::model::bytemap::{Flags, GroupKind, Kind, Step};
use crate::model::diag::{Code, Diagnostic};
use crate::model::events::{Flow, Inner, Said, Stop};
use crate::model::limits;
use crate::model::num::{bytes, len64, push_offset};
use crate::wire::reader::{Window, big_endian};

/// Bytes in front of a gRPC message: one of flags, four of length.
const PREFIX: usize = 5;

/// A compressed frame, undone.
struct Inflated {
    number: u64,
    start: u64,
    end: u64,
    bytes: Vec<u8>,
}

impl Walker<'_> {
    /// Messages behind their length, a varint.
    pub(super) fn delimited(&mut self) -> Flow {
        self.open(GroupKind::Root, Step::None)?;
        let mut number = 0u64;
        while self.input.byte(self.at)?.is_some() {
            self.open(GroupKind::Record, Step::Message(number))?;
            self.delimited_message(number)?;
            number = number.saturating_add(1);
        }
        self.no_messages(number)?;
        self.close()
    }

    fn no_messages(&mut self, number: u64) -> Flow {
        if number > 0 {
            return Ok(());
        }
        self.out.diagnostic(&Diagnostic::new(Code::PbEmpty, 0, 0, "0 bytes: a stream without messages"))
    }

    fn delimited_message(&mut self, number: u64) -> Flow {
        let head = self.input.at(self.at, wire::MAX_VARINT)?;
        let there = len64(head.len());
        let (len, length_len) = match wire::varint(head) {
            Varint::Whole(value, len) => (value, len64(len)),
            Varint::Cut(_) => {
                let text = format!("the length of message {number} is a varint without an end");
                let end = self.at.saturating_add(there);
                self.out.diagnostic(&Diagnostic::new(Code::PbFrameCut, self.at, end, text))?;
                self.put(there, wire::FRAME_LENGTH, Flags::ERROR)?;
                return self.close();
            }
            Varint::TooLong => {
                let run = super::damage::run_of_varint(self.input.at(self.at, limits::PIECE)?);
                let found = super::damage::too_long(&format!("the length of message {number}"), self.at, run);
                self.out.diagnostic(&found)?;
                self.put(run, wire::FRAME_LENGTH, Flags::ERROR)?;
                return self.rest_unread();
            }
        };
        let mut flags = Flags::NONE;
        let shortest = len64(wire::varint_len(len));
        if length_len > shortest {
            let end = self.at.saturating_add(length_len);
            let extra = bytes(length_len.saturating_sub(shortest));
            let text = format!("length {len} in {length_len} bytes, {shortest} would do: {extra} more");
            self.out.diagnostic(&Diagnostic::new(Code::PbNonMinimal, self.at, end, text))?;
            flags = Flags::WARNING;
        }
        let end = self.frame_end(number, length_len, len)?;
        let cut = end.is_none();
        if cut {
            flags = flags.with(Flags::ERROR);
        }
        self.say_range("a message of ", self.at.saturating_add(length_len), len)?;
        self.put(length_len, wire::FRAME_LENGTH, flags)?;
        self.message(end.unwrap_or(self.size), cut)
    }

    /// Words on a length: `a message of 155 bytes 0x02..0x9d`.
    fn say_range(&mut self, what: &str, from: u64, len: u64) -> Flow {
        if !self.wants {
            return Ok(());
        }
        let mut words = format!("{what}{}", bytes(len));
        if len > 0 {
            words.push(' ');
            push_offset(&mut words, from);
            words.push_str("..");
            push_offset(&mut words, from.saturating_add(len));
        }
        self.out.say(&Said { words: &words, ..Said::default() })
    }

    /// Where the content of a frame ends; none, and a finding, where it reaches past the input. Behind a
    /// pipe only the walk will show.
    fn frame_end(&mut self, number: u64, prefix: u64, len: u64) -> Result<Option<u64>, Stop> {
        let from = self.at.saturating_add(prefix);
        let end = from.saturating_add(len);
        self.look_ahead(prefix.saturating_add(len))?;
        if end <= self.size {
            return Ok(Some(end));
        }
        let missing = end.saturating_sub(self.size);
        let verb = if missing == 1 { "is" } else { "are" };
        let text = format!(
            "message {number} has {}, {from:#04x}..{end:#04x}, but the input ends at {:#04x}: {missing} {verb} missing",
            bytes(len),
            self.size
        );
        let found = Diagnostic::new(Code::PbFrameCut, self.at, self.size.max(from), text)
            .help("cut off, or no stream of messages with a length in front of each");
        self.out.diagnostic(&found)?;
        Ok(None)
    }

    /// All up to the end of the input is unread; closes the message's group.
    fn rest_unread(&mut self) -> Flow {
        loop {
            let want = if self.size == u64::MAX { limits::PIECE } else { usize::MAX };
            let left = usize::try_from(self.size.saturating_sub(self.at)).unwrap_or(usize::MAX).min(want);
            let there = if self.size == u64::MAX {
                len64(self.input.at(self.at, left)?.len())
            } else {
                self.size.saturating_sub(self.at)
            };
            if there == 0 {
                return self.close();
            }
            self.put_kind(there, Kind::UNREAD, Flags::ERROR)?;
        }
    }

    /// gRPC messages, and what else its relatives put into frames.
    pub(super) fn grpc(&mut self) -> Flow {
        self.open(GroupKind::Root, Step::None)?;
        let mut inflated = Vec::new();
        let mut undone = 0u64;
        let mut number = 0u64;
        while self.input.byte(self.at)?.is_some() {
            self.open(GroupKind::Record, Step::Message(number))?;
            let left = limits::INFLATED.saturating_sub(undone);
            if let Some(one) = self.grpc_frame(number, left)? {
                undone = undone.saturating_add(len64(one.bytes.len()));
                inflated.push(one);
            }
            number = number.saturating_add(1);
        }
        self.no_messages(number)?;
        self.close()?;
        self.inner_layers(inflated)
    }

    fn grpc_frame(&mut self, number: u64, left: u64) -> Result<Option<Inflated>, Stop> {
        let head = self.input.at(self.at, PREFIX)?;
        let Ok([flags, length @ ..]) = <[u8; PREFIX]>::try_from(head) else {
            let there = len64(head.len());
            let text = format!("frame {number} has {there} of 5 bytes of flags and length");
            let end = self.at.saturating_add(there);
            self.out.diagnostic(&Diagnostic::new(Code::PbFrameCut, self.at, end, text))?;
            self.put(there.min(1), wire::FRAME_FLAGS, Flags::ERROR)?;
            if there > 1 {
                self.put(there.saturating_sub(1), wire::FRAME_LENGTH, Flags::ERROR)?;
            }
            self.close()?;
            return Ok(None);
        };
        let len = big_endian(&length);
        let first = self.input.at(self.at, PREFIX + 1)?.get(PREFIX).copied();
        let known = self.known_flags(number, flags, first)?;
        let end = self.frame_end(number, len64(PREFIX), len)?;
        let there = end.unwrap_or(self.size).saturating_sub(self.at).saturating_sub(len64(PREFIX));
        let content =
            if flags & FLAG_COMPRESSED != 0 && end.is_some() { self.inflate(number, there, left)? } else { None };
        self.put(1, wire::FRAME_FLAGS, known)?;
        self.say_range("|", self.at.saturating_add(4), len)?;
        self.put(4, wire::FRAME_LENGTH, if end.is_none() { Flags::ERROR } else { Flags::NONE })?;
        let start = self.at;
        let kind = match flags {
            0 => return self.message(end.unwrap_or(self.size), end.is_none()).map(|()| None),
            _ if flags & FLAG_COMPRESSED != 0 => wire::COMPRESSED,
            _ => wire::TRAILERS,
        };
        if self.size == u64::MAX {
            let leaf_flags = if content.is_none() && kind == wire::COMPRESSED { Flags::ERROR } else { Flags::NONE };
            self.put_content(len, kind, leaf_flags)?;
        } else if there > 0 {
            let bad = kind == wire::COMPRESSED && content.is_none();
            self.put(there, kind, if bad || end.is_none() { Flags::ERROR } else { Flags::NONE })?;
        }
        let end = self.at;
        self.close()?;
        Ok(content.map(|bytes| Inflated { number, start, end, bytes }))
    }

    /// A finding on flags that gRPC does not define.
    fn known_flags(&mut self, number: u64, flags: u8, first: Option<u8>) -> Result<Flags, Stop> {
        if matches!(flags, 0 | FLAG_COMPRESSED | FLAG_TRAILERS) || flags == FLAG_TRAILERS | FLAG_COMPRESSED
            // Connect ends a stream with JSON.
            || flags == FLAG_STREAM_END && first == Some(b'{')
        {
            return Ok(Flags::NONE);
        }
        let text = format!("flags {flags:02x} in frame {number}: gRPC defines 00 and 01, gRPC-Web 80 and 81 too");
        let mut found = Diagnostic::new(Code::PbFrameFlags, self.at, self.at.saturating_add(1), text);
        if flags & !FLAG_COMPRESSED == FLAG_STREAM_END {
            found = found.help("Connect marks the end of a stream so; what follows is JSON, not a message");
        }
        self.out.diagnostic(&found)?;
        Ok(Flags::ERROR)
    }

    /// The content of a compressed frame, undone, with room for `left` bytes; none, and a finding, where that
    /// cannot be.
    fn inflate(&mut self, number: u64, len: u64, left: u64) -> Result<Option<Vec<u8>>, Stop> {
        let from = self.at.saturating_add(len64(PREFIX));
        let want = usize::try_from(len.min(limits::INFLATED)).unwrap_or(0);
        let compressed = ahead(self.input, self.at, from, want)?;
        if compressed.len() < want {
            // A pipe that ends before: the content says so.
            return Ok(None);
        }
        let (out, problem) = inflated(compressed, left.saturating_add(1));
        match problem {
            None if len64(out.len()) > left => {
                let text = format!(
                    "frame {number} is not undone: compressed frames have more than {} here",
                    bytes(limits::INFLATED)
                );
                let end = from.saturating_add(len);
                self.out.diagnostic(&Diagnostic::new(Code::PbFrameCompressed, from, end, text))?;
                Ok(None)
            }
            None => Ok(Some(out)),
            Some(error) => {
                let text = format!("frame {number} says that it is compressed, and is no whole gzip: {error}");
                let help = "which compression is meant stands in a header outside the frame; gzip is tried here";
                let end = from.saturating_add(len);
                self.out.diagnostic(&Diagnostic::new(Code::PbFrameCompressed, from, end, text).help(help))?;
                Ok(None)
            }
        }
    }

    /// The compressed frames, undone: a layer each.
    fn inner_layers(&mut self, inflated: Vec<Inflated>) -> Flow {
        for one in inflated {
            let name = format!("message {}", one.number);
            let size = len64(one.bytes.len());
            self.out.layer(&Inner { name: &name, by: "gzip", start: one.start, end: one.end, size })?;
            let context = Context {
                owner: self.owner,
                variant: "plain",
                depth: self.depth,
                schema: self.schema,
                root: self.root,
            };
            let mut window = Window::memory(one.bytes);
            Walker::new(&mut window, &context, self.out).plain(Step::Message(one.number))?;
        }
        Ok(())
    }
}
