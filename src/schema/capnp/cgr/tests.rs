//! Requests against what the compiler says of them.
