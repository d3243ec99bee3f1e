//! The messages of a stream, without looking into them: behind varint lengths, or in gRPC frames.

use super::wire::{self, FLAG_STREAM_END, FLAG_TRAILERS, Varint};

/// Bytes of a gRPC frame's header.
const HEADER: usize = 5;

/// How messages follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A varint length in front of each.
    Delimited,
    /// A flag byte and four bytes of length, the highest first.
    Grpc,
}

impl Framing {
    /// The framing of a variant; none where it has none.
    pub fn of(variant: &str) -> Option<Framing> {
        match variant {
            "delimited" => Some(Framing::Delimited),
            "grpc" => Some(Framing::Grpc),
            _ => None,
        }
    }

    /// The variant's name.
    pub fn variant(self) -> &'static str {
        match self {
            Framing::Delimited => "delimited",
            Framing::Grpc => "grpc",
        }
    }
}

/// A frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The flags; 0 where the framing has none.
    pub flags: u8,
    /// Where its content begins.
    pub start: usize,
    /// Its content.
    pub content: &'a [u8],
    /// All of it is there.
    pub whole: bool,
}

impl Frame<'_> {
    /// It holds a message that can be read: neither compressed nor trailers, nor the end of a Connect stream.
    pub fn is_message(&self) -> bool {
        self.flags == 0
    }
}

/// Whether the flags of a frame say that it holds trailers, as gRPC-Web has it.
pub fn has_trailers(flags: u8) -> bool {
    flags & FLAG_TRAILERS != 0
}

/// Whether the flags of a frame say that it ends the stream, as Connect has it.
pub fn ends_stream(flags: u8) -> bool {
    flags & FLAG_TRAILERS == 0 && flags & FLAG_STREAM_END != 0
}

/// Reads frames one by one.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    framing: Framing,
    complete: bool,
    /// What ended the chain before the last byte, and where.
    pub fault: Option<(usize, String)>,
}

impl<'a> Frames<'a> {
    /// The frames of these bytes; unless `complete`, the end may cut one.
    pub fn new(bytes: &'a [u8], framing: Framing, complete: bool) -> Frames<'a> {
        Frames { bytes, at: 0, framing, complete, fault: None }
    }

    fn stop<T>(&mut self, at: usize, problem: String, by_cut: bool) -> Option<T> {
        if self.complete || !by_cut {
            self.fault = Some((at, problem));
        }
        self.at = self.bytes.len();
        None
    }

    /// Flags, length, and bytes of the header.
    fn header(&mut self) -> Option<(u8, u64, usize)> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        match self.framing {
            Framing::Delimited => match wire::varint(rest) {
                Varint::Whole(length, len) => Some((0, length, len)),
                Varint::Cut(_) => self.stop(self.at, "the last length does not end".to_string(), true),
                Varint::TooLong => self.stop(self.at, "no length has more than 10 bytes".to_string(), false),
            },
            Framing::Grpc => {
                let Some([flags, a, b, c, d]) = rest.first_chunk::<HEADER>().copied() else {
                    return self.stop(self.at, format!("{} of 5 bytes of a frame's header", rest.len()), true);
                };
                if !matches!(flags, 0..=2 | 0x80 | 0x81) {
                    return self.stop(self.at, format!("{flags:02x} is no flag byte of a frame"), false);
                }
                Some((flags, u64::from(u32::from_be_bytes([a, b, c, d])), HEADER))
            }
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let at = self.at;
        let (flags, length, header) = self.header()?;
        let start = at.saturating_add(header);
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(content) => {
                self.at = start.saturating_add(content.len());
                Some(Frame { flags, start, content, whole: true })
            }
            None if !self.complete && length <= u64::from(u32::MAX) => {
                self.at = self.bytes.len();
                Some(Frame { flags, start, content: rest, whole: false })
            }
            None => {
                let problem = format!("the length says {}, {} are left", crate::model::num::bytes(length), rest.len());
                self.stop(at, problem, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_both_kinds() {
        let mut frames = Frames::new(&[2, 8, 1, 0, 2, 8, 2], Framing::Delimited, true);
        let contents: Vec<&[u8]> = frames.by_ref().map(|frame| frame.content).collect();
        assert_eq!(contents, [&[8u8, 1][..], &[], &[8, 2]]);
        assert_eq!(frames.fault, None);
        let grpc = [0, 0, 0, 0, 2, 8, 1, 0x80, 0, 0, 0, 1, b'x'];
        let frames: Vec<bool> = Frames::new(&grpc, Framing::Grpc, true).map(|frame| frame.is_message()).collect();
        assert_eq!(frames, [true, false]);
    }

    #[test]
    fn a_chain_that_breaks_says_where() {
        let fault = |bytes: &[u8], framing, complete| {
            let mut frames = Frames::new(bytes, framing, complete);
            frames.by_ref().for_each(drop);
            frames.fault
        };
        let said = |at: usize, words: &str| Some((at, words.to_string()));
        assert_eq!(fault(&[2, 8, 1, 9, 8], Framing::Delimited, true), said(3, "the length says 9 bytes, 1 are left"));
        assert_eq!(fault(&[2, 8, 1, 9, 8], Framing::Delimited, false), None);
        assert_eq!(fault(&[7, 0, 0, 0, 0], Framing::Grpc, true), said(0, "07 is no flag byte of a frame"));
        assert_eq!(fault(&[0, 0, 0], Framing::Grpc, true), said(0, "3 of 5 bytes of a frame's header"));
    }
}
