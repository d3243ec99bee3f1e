//! What a decoded input is, whatever its format: leaves and groups ([`bytemap`]), the events a
//! decoder reports ([`events`]), values ([`value`]), findings ([`diag`]) and limits ([`limits`]).
//!
//! Nothing here reads input, knows a format or prints.

pub mod bytemap;
pub mod capnp;
pub mod diag;
pub mod events;
pub mod find;
pub mod flat;
pub mod guard;
pub mod keys;
pub mod limits;
pub mod num;
pub mod schema;
pub mod survey;
pub mod utf8;
pub mod value;
pub mod words;
