//! How fast the formats are read.

fn main() {}
