//! Tests of the `.capnp` reader as a whole.
