//! Protobuf (protobuf.dev, "Encoding"): tags and values; names and types stand in a schema. [`wire`] has the
//! standard's numbers, [`decode`] walks, [`guess`] reads what no schema tells, [`words`] tells it, [`values`]
//! sends the merged values, [`encode`] writes.

mod decode;
mod detect;
mod encode;
mod gather;
mod fit;
mod frames;
mod guess;
mod unframe;
mod notes;
mod records;
mod rewrite;
mod times;
mod unknown;
mod values;
mod words;

pub mod wire;
