//! Access to input bytes.

pub mod reader;
