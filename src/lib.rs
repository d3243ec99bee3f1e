//! Shows what every byte of a binary message is.

pub mod cli;
pub mod convert;
pub mod formats;
pub mod framing;
pub mod inspect;
pub mod model;
pub mod render;
pub mod size;
pub mod wire;
