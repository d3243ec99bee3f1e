//! Shows what every byte of a binary message is.

pub mod formats;
pub mod framing;
pub mod model;
pub mod wire;
