//! A buffer as the other variant, byte by byte: what no schema knows stays.
//!
//! ```text
//! plain          root  [identifier]        objects ...      offsets count from where they stand, so objects move
//! size-prefixed  size  root  [identifier]  gap  objects ...   together; only the root offset is written anew
//! ```
//!
//! Objects keep the alignment they have: the gap makes them move by a multiple of the largest one.

use std::io::Write;

use crate::formats::Context;
use crate::formats::flatbuffers::wire;
use crate::model::events::{Flow, Stop};
use crate::model::flat::Flat;
use crate::wire::reader::{Bytes, Window};

/// The variant with a size in front.
pub const SIZE_PREFIXED: &str = "size-prefixed";

/// The alignment of the largest scalar: what objects need where no schema says otherwise.
const ALIGN: u64 = 8;

/// Writes a buffer in a variant.
///
/// # Errors
/// Input that cannot be read, or is too short or too large for a buffer; output that cannot be written.
pub fn rewrite(input: &mut Window, context: &Context<'_>, variant: &str, out: &mut dyn Write) -> Flow {
    let Some(bytes) = input.all(wire::LARGEST)? else {
        return Err(Stop::Refused(format!("more than {} bytes, the most that offsets reach", wire::LARGEST)));
    };
    let (from, to) = (context.variant == SIZE_PREFIXED, variant == SIZE_PREFIXED);
    if from == to {
        return Ok(out.write_all(&bytes)?);
    }
    let flat = context.schema.and_then(|schema| schema.flat.as_deref());
    let data = Bytes(&bytes);
    let start = if from { wire::OFFSET } else { 0 };
    let header = start.saturating_add(header(data, start, flat));
    let gap = if to { alignment(flat).saturating_sub(wire::OFFSET) } else { wire::OFFSET };
    let root = data.u32(start).and_then(|root| root.checked_add(u32::try_from(gap).ok()?));
    let (Some(root), Some(identifier)) = (root, data.range(start.saturating_add(wire::OFFSET), header)) else {
        return Err(Stop::Refused("too short for a buffer: its root offset has 4 bytes".to_string()));
    };
    let rest = data.clipped(header, data.len());
    if to {
        let size = data.len().saturating_add(gap);
        let size = u32::try_from(size).map_err(|_| Stop::Refused("too large for a size of 4 bytes".to_string()))?;
        out.write_all(&size.to_le_bytes())?;
    }
    out.write_all(&root.to_le_bytes())?;
    out.write_all(identifier)?;
    for _ in 0..gap {
        out.write_all(&[0])?;
    }
    Ok(out.write_all(rest)?)
}

/// Bytes of the root offset and, where there is one, the identifier. Objects begin behind that.
fn header(data: Bytes<'_>, start: u64, flat: Option<&Flat>) -> u64 {
    let at = start.saturating_add(wire::OFFSET);
    let bytes = data.range(at, at.saturating_add(wire::IDENTIFIER)).unwrap_or(&[]);
    let named = match flat.and_then(|flat| flat.identifier) {
        Some(identifier) => bytes == identifier,
        // A vtable that begins with letters would have thousands of slots.
        None => bytes.len() == 4 && bytes.iter().all(|byte| byte.is_ascii_alphanumeric()),
    };
    wire::OFFSET.saturating_add(if named { wire::IDENTIFIER } else { 0 })
}

/// The largest alignment that a type of a schema needs.
fn alignment(flat: Option<&Flat>) -> u64 {
    let objects = flat.map_or(&[][..], |flat| &flat.objects);
    let structs = objects.iter().map(|object| u64::from(object.align));
    let fields = objects.iter().flat_map(|object| &object.fields).flat_map(|field| &field.attributes);
    let forced = fields.filter(|(name, _)| name == "force_align").filter_map(|(_, value)| value.parse().ok());
    structs.chain(forced).filter(|align: &u64| align.is_power_of_two()).fold(ALIGN, u64::max)
}
