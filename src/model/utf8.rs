//! Checks UTF-8 that comes in pieces.

/// A running check: feed it pieces in order, then ask where the first bad byte stands.
#[derive(Debug, Default)]
pub struct Utf8 {
    /// Bytes checked so far.
    passed: u64,
    /// A character cut by the end of the last piece.
    rest: Vec<u8>,
    bad: Option<u64>,
}

impl Utf8 {
    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.bad.is_some() {
            return;
        }
        if self.rest.is_empty() {
            self.check(bytes);
            return;
        }
        // At most 3 bytes wait; with 4 more the character at the seam is whole.
        let (seam, bytes) = bytes.split_at_checked(4).unwrap_or((bytes, &[]));
        let mut joined = std::mem::take(&mut self.rest);
        joined.extend_from_slice(seam);
        self.check(&joined);
        if !bytes.is_empty() {
            self.feed(bytes);
        }
    }

    fn check(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(_) => self.pass(bytes.len()),
            Err(error) => {
                self.pass(error.valid_up_to());
                match error.error_len() {
                    None => self.rest = bytes.get(error.valid_up_to()..).unwrap_or(&[]).to_vec(),
                    Some(_) => self.bad = Some(self.passed),
                }
            }
        }
    }

    fn pass(&mut self, count: usize) {
        self.passed = self.passed.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// Offset of the first byte that is not UTF-8, counted from the first piece.
    pub fn finish(&self) -> Option<u64> {
        self.bad.or(if self.rest.is_empty() { None } else { Some(self.passed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_give_the_verdict_on_the_whole() {
        let texts: [&[u8]; 6] = [b"", "aé€😀z".as_bytes(), b"ab\xffc", b"a\xc3", b"\xed\xa0\xbd", "€".as_bytes()];
        for text in texts {
            let whole = std::str::from_utf8(text).err().map(|error| error.valid_up_to() as u64);
            for size in 1..=5 {
                let mut utf8 = Utf8::default();
                text.chunks(size).for_each(|piece| utf8.feed(piece));
                assert_eq!(utf8.finish(), whole, "{text:x?} in pieces of {size}");
            }
        }
    }
}
