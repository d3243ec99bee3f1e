//! The window on an input: the only code that slices it. Every read names its offset, is checked,
//! and comes back short only at the end of the input.
//!
//! A file is read by position through a buffer, a pipe through a buffer that only moves forward, and
//! bytes in memory are handed out in place. No memory is taken by a length that stands in the input:
//! callers ask for at most [`crate::model::limits::PIECE`] bytes at a time.

use std::fs::File;
use std::io::{self, Read};

use crate::model::events::Stop;

/// Bytes read at once.
const CHUNK: usize = 128 * 1024;

/// Input that cannot be read; kept apart from output that cannot be written.
#[derive(Debug)]
pub struct ReadError(pub io::Error);

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError(error)
    }
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Stop {
        Stop::Read(error.0)
    }
}

enum Source {
    Memory,
    File(File),
    Pipe(Box<dyn Read>),
}

/// A window on the bytes of one input. Offsets count from the first byte that was chosen (`--skip`).
pub struct Window {
    source: Source,
    buffer: Vec<u8>,
    /// Offset of the first byte in `buffer`.
    base: u64,
    /// Bytes at the start of the source that do not count.
    skip: u64,
    /// Bytes behind which the input ends, where that is known or was told.
    size: Option<u64>,
    /// The source has no byte behind the buffer.
    ended: bool,
}

impl Window {
    /// Bytes in memory.
    pub fn memory(bytes: Vec<u8>) -> Window {
        let size = u64::try_from(bytes.len()).ok();
        Window { source: Source::Memory, buffer: bytes, base: 0, skip: 0, size, ended: true }
    }

    /// A regular file of `size` bytes, of which the first `skip` are left out.
    pub fn file(file: File, size: u64, skip: u64) -> Window {
        let size = Some(size.saturating_sub(skip));
        Window { source: Source::File(file), buffer: Vec::new(), base: 0, skip, size, ended: false }
    }

    /// A pipe, read once from front to back.
    ///
    /// # Errors
    /// The first `skip` bytes cannot be read.
    pub fn pipe(mut pipe: Box<dyn Read>, skip: u64) -> io::Result<Window> {
        io::copy(&mut pipe.by_ref().take(skip), &mut io::sink())?;
        Ok(Window { source: Source::Pipe(pipe), buffer: Vec::new(), base: 0, skip: 0, size: None, ended: false })
    }

    /// Ends the window behind `length` bytes.
    pub fn limit(&mut self, length: u64) {
        self.size = Some(self.size.map_or(length, |size| size.min(length)));
        if matches!(self.source, Source::Memory)
            && let Ok(length) = usize::try_from(length)
        {
            self.buffer.truncate(length);
        }
    }

    /// Size in bytes where it is known before the end: not for a pipe.
    pub fn size(&self) -> Option<u64> {
        if matches!(self.source, Source::Pipe(_)) { None } else { self.size }
    }

    /// Whether the input can be read again from its start.
    pub fn rereadable(&self) -> bool {
        !matches!(self.source, Source::Pipe(_)) || self.base == 0
    }

    /// Up to `want` bytes from offset `at` on; fewer only where the input ends.
    ///
    /// # Errors
    /// The source cannot be read, or a pipe is asked for bytes that have passed.
    #[inline]
    pub fn at(&mut self, at: u64, want: usize) -> Result<&[u8], ReadError> {
        let held = at.checked_sub(self.base).and_then(|from| usize::try_from(from).ok());
        let held = held.filter(|from| from.checked_add(want).is_some_and(|to| to <= self.buffer.len()));
        let from = match held {
            Some(from) => from,
            None => self.fill(at, want)?,
        };
        let to = from.saturating_add(want).min(self.buffer.len());
        Ok(self.buffer.get(from..to).unwrap_or(&[]))
    }

    /// The byte at an offset, or none behind the end.
    ///
    /// # Errors
    /// As for [`Window::at`].
    #[inline]
    pub fn byte(&mut self, at: u64) -> Result<Option<u8>, ReadError> {
        Ok(self.at(at, 1)?.first().copied())
    }

    /// All bytes, or none where there are more than `most`; a pipe has then lost what was read.
    ///
    /// # Errors
    /// As for [`Window::at`].
    pub fn all(&mut self, most: u64) -> Result<Option<Vec<u8>>, ReadError> {
        if self.size.is_some_and(|size| size > most) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        loop {
            let at = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let piece = self.at(at, CHUNK)?;
            if piece.is_empty() {
                return Ok(Some(bytes));
            }
            if at > most {
                return Ok(None);
            }
            bytes.extend_from_slice(piece);
        }
    }

    /// Makes the bytes from `at` on available, `want` of them if there are so many, and returns the
    /// position of `at` in the buffer.
    #[cold]
    fn fill(&mut self, at: u64, want: usize) -> io::Result<usize> {
        if !matches!(self.source, Source::Memory) {
            self.drop_before(at)?;
            while !self.ended && self.buffer.len() < want {
                self.read_more(want)?;
            }
        }
        let from = at.saturating_sub(self.base);
        Ok(usize::try_from(from).unwrap_or(usize::MAX).min(self.buffer.len()))
    }

    /// Moves the buffer so that it starts at `at`.
    fn drop_before(&mut self, at: u64) -> io::Result<()> {
        let passed = at.checked_sub(self.base).and_then(|n| usize::try_from(n).ok());
        match passed {
            Some(passed) if passed <= self.buffer.len() => {
                self.buffer.drain(..passed);
                self.base = at;
            }
            _ => self.jump(at)?,
        }
        Ok(())
    }

    /// Goes to an offset outside the buffer: free in a file, by reading on in a pipe.
    fn jump(&mut self, at: u64) -> io::Result<()> {
        if let Source::Pipe(_) = self.source {
            let far = at.checked_sub(self.base).ok_or_else(|| io::Error::other("a pipe cannot be read again"))?;
            let buffered = u64::try_from(self.buffer.len()).unwrap_or(u64::MAX);
            let mut ahead = far.saturating_sub(buffered);
            self.base = at.saturating_sub(ahead);
            self.buffer.clear();
            while ahead > 0 && !self.ended {
                self.read_more(0)?;
                let got = u64::try_from(self.buffer.len()).unwrap_or(u64::MAX).min(ahead);
                ahead = ahead.saturating_sub(got);
                self.base = self.base.saturating_add(got);
                self.buffer.drain(..usize::try_from(got).unwrap_or(0));
            }
            return Ok(());
        }
        self.buffer.clear();
        self.base = at;
        self.ended = false;
        Ok(())
    }

    /// Reads one more chunk behind the buffer.
    fn read_more(&mut self, want: usize) -> io::Result<()> {
        let old = self.buffer.len();
        let at = self.base.saturating_add(u64::try_from(old).unwrap_or(u64::MAX));
        let left = self.size.map_or(u64::MAX, |size| size.saturating_sub(at));
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK.max(want.saturating_sub(old)));
        if room == 0 {
            self.ended = true;
            return Ok(());
        }
        self.buffer.resize(old.saturating_add(room), 0);
        let free = self.buffer.get_mut(old..).unwrap_or(&mut []);
        let got = match &mut self.source {
            Source::Memory => Ok(0),
            Source::File(file) => read_at(file, free, at.saturating_add(self.skip)),
            Source::Pipe(pipe) => retry(|| pipe.read(free)),
        };
        self.buffer.truncate(old.saturating_add(*got.as_ref().unwrap_or(&0)));
        self.ended = got? == 0;
        Ok(())
    }
}

/// Reads at a position without moving the file's own.
fn read_at(file: &File, free: &mut [u8], at: u64) -> io::Result<usize> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileExt as _;
        retry(|| file.read_at(free, at))
    }
    #[cfg(windows)]
    {
        use std::os::windows::fs::FileExt as _;
        retry(|| file.seek_read(free, at))
    }
}

/// Calls again what a signal interrupted.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// All bytes of an input that is read in any order. Numbers are little-endian; what lies outside is none.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// Number of bytes.
    pub fn len(self) -> u64 {
        crate::model::num::len64(self.0.len())
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The bytes of a range; none if any of them is not there.
    pub fn range(self, start: u64, end: u64) -> Option<&'a [u8]> {
        self.0.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// The bytes of a range as far as they are there.
    pub fn clipped(self, start: u64, end: u64) -> &'a [u8] {
        let end = end.min(self.len());
        self.range(start.min(end), end).unwrap_or(&[])
    }

    /// So many bytes from an offset on.
    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        let from = usize::try_from(at).ok()?;
        self.0.get(from..)?.first_chunk::<N>().copied()
    }

    /// The byte at an offset.
    pub fn u8(self, at: u64) -> Option<u8> {
        self.array::<1>(at).map(u8::from_le_bytes)
    }

    /// Two bytes, unsigned.
    pub fn u16(self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    /// Four bytes, unsigned.
    pub fn u32(self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// Four bytes, signed.
    pub fn i32(self, at: u64) -> Option<i32> {
        self.array(at).map(i32::from_le_bytes)
    }

    /// Eight bytes, unsigned.
    pub fn u64(self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }
}

/// An unsigned little-endian number of up to 8 bytes; what is longer keeps its first 8.
pub fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A little-endian number in two's complement of up to 8 bytes.
pub fn little_endian_signed(bytes: &[u8]) -> i64 {
    let unused = 64u32.saturating_sub(u32::try_from(bytes.len().min(8)).unwrap_or(8).saturating_mul(8));
    match unused {
        64 => 0,
        unused => (little_endian(bytes) << unused).cast_signed() >> unused,
    }
}

/// An unsigned big-endian number of up to 8 bytes; what is longer keeps its last 8.
pub fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The fewest bytes that hold `value` unsigned, at least 1.
pub fn bytes_of_unsigned(value: u64) -> u64 {
    u64::from(64 - value.leading_zeros()).div_ceil(8).max(1)
}

/// The fewest bytes that hold `value` in two's complement, or unsigned where it is not negative.
pub fn bytes_of_signed(value: i64) -> u64 {
    match u64::try_from(value) {
        Ok(value) => bytes_of_unsigned(value),
        // One bit more than the magnitude needs, for the sign.
        Err(_) => u64::from(65 - (!value).leading_zeros()).div_ceil(8).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its bytes in small parts, as a pipe may.
    struct Drip(Vec<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = into.len().min(3).min(self.0.len() - self.1);
            into[..count].copy_from_slice(&self.0[self.1..self.1 + count]);
            self.1 += count;
            Ok(count)
        }
    }

    #[test]
    fn a_pipe_and_memory_give_the_same_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut pipe = Window::pipe(Box::new(Drip(bytes.clone(), 0)), 0).unwrap();
        let mut memory = Window::memory(bytes);
        for (at, want) in [(0, 1), (0, 300), (10, 5), (200, 10), (250, 10), (256, 1), (400, 2)] {
            assert_eq!(pipe.at(at, want).unwrap(), memory.at(at, want).unwrap(), "{want} bytes at {at}");
        }
        assert!(pipe.at(0, 1).is_err(), "what has passed is gone");
    }

    #[test]
    fn a_file_can_be_read_in_any_order_and_from_a_skipped_start() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..400_000u32).map(|n| n.to_le_bytes()[1]).collect();
        file.write_all(&bytes).unwrap();
        let mut window = Window::file(file, 400_000, 7);
        window.limit(399_990);
        assert_eq!(window.at(300_000, 4).unwrap(), &bytes[300_007..300_011]);
        assert_eq!(window.at(0, 4).unwrap(), &bytes[7..11]);
        assert_eq!(window.at(399_988, 10).unwrap(), &bytes[399_995..399_997]);
        assert_eq!(window.size(), Some(399_990));
    }

    #[test]
    fn the_fewest_bytes_of_an_integer_are_those_of_design_section_5() {
        let unsigned = [(0, 1), (255, 1), (256, 2), (55613, 2), (65536, 3), (u64::MAX, 8)];
        assert!(unsigned.iter().all(|(v, n)| bytes_of_unsigned(*v) == *n));
        let signed = [(-1, 1), (-128, 1), (-129, 2), (-32768, 2), (-32769, 3), (i64::MIN, 8), (255, 1), (128, 1)];
        assert!(signed.iter().all(|(v, n)| bytes_of_signed(*v) == *n));
    }
}
