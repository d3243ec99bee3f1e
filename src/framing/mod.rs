//! What carries a message and is no part of it.
//!
//! Everything here works on bytes in memory, knows no format and prints nothing.

pub mod magic;
pub mod text;
