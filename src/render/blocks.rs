//! Lines of a dump in the order in which a reader reaches the objects, not in that of the file (`--order logical`).

use std::io::{self, Write};

/// Lines by the place of their object in that order.
#[derive(Debug, Default)]
pub struct Blocks {
    /// For each object that has begun its place, and the lines up to the next one.
    list: Vec<(u32, Vec<u8>)>,
}

impl Blocks {
    /// An object begins.
    pub fn begin(&mut self, rank: u32) {
        self.list.push((rank, Vec::new()));
    }

    /// Adds lines to the object that began last.
    pub fn add(&mut self, lines: &[u8]) {
        match self.list.last_mut() {
            Some((_, text)) => text.extend_from_slice(lines),
            None => self.list.push((0, lines.to_vec())),
        }
    }

    /// Writes all lines.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn write(mut self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        // Of one object a vtable and the object itself keep the order of the file.
        self.list.sort_by_key(|(rank, _)| *rank);
        for (_, text) in &self.list {
            out.write_all(text)?;
        }
        Ok(())
    }
}
