//! Notes for newcomers: how offsets are counted, what a slot of 0 means, how a string ends.

use crate::formats::flatbuffers::wire;
use crate::formats::{Note, Seen};
use crate::wire::reader::{little_endian, little_endian_signed};

/// Notes on a row.
pub fn notes(row: &[Seen], wanted: &mut dyn FnMut(&'static str) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut add = |id: &'static str, carets: &[&Seen], text: &dyn Fn() -> String| {
        if wanted(id) {
            let carets = carets.iter().map(|seen| (seen.leaf.start, seen.leaf.end)).collect();
            notes.push(Note { id, carets, text: text() });
        }
    };
    for seen in row {
        let leaf = &seen.leaf;
        match leaf.kind.code {
            wire::UOFFSET if leaf.start <= wire::OFFSET => {
                let offset = little_endian(seen.head());
                add("fb-uoffset", &[seen], &|| {
                    format!(
                        "lowest byte first; counted from where the offset stands: {:#04x} + {offset:#04x} = {:#04x}",
                        leaf.start,
                        leaf.start.saturating_add(offset)
                    )
                });
            }
            wire::SOFFSET => soffset(seen, &mut add),
            wire::VOFFSET_SLOT if little_endian(seen.head()) == 0 => {
                add("fb-slot-zero", &[seen], &|| {
                    "a slot of 0: this field is not in the table, and readers take its default".to_string()
                });
            }
            _ => {}
        }
    }
    string(row, &mut add);
    notes
}

type Add<'a> = dyn FnMut(&'static str, &[&Seen], &dyn Fn() -> String) + 'a;

fn soffset(seen: &Seen, add: &mut Add<'_>) {
    let (at, offset) = (seen.leaf.start, little_endian_signed(seen.head()));
    let to = seen.leaf.target;
    match offset {
        0 => {}
        1.. => add("fb-soffset", &[seen], &|| {
            format!("an soffset is subtracted: {at:#04x} - {offset:#04x} = {to:#04x}, the vtable")
        }),
        _ => add("fb-soffset-behind", &[seen], &|| {
            let forward = offset.unsigned_abs();
            format!(
                "-{forward:#04x} is negative: {at:#04x} + {forward:#04x} = {to:#04x}, the vtable comes after the table"
            )
        }),
    }
}

/// How a string ends, below the first one that ends with zeros.
fn string(row: &[Seen], add: &mut Add<'_>) {
    let place = |code: u8| row.iter().position(|seen| seen.leaf.kind.code == code && !is_common(seen));
    let (Some(length), Some(nul)) = (place(wire::LENGTH), place(wire::NUL)) else { return };
    let Some(parts) = row.get(length..).filter(|_| row.len() > nul.saturating_add(1)) else { return };
    let told: Vec<&Seen> = parts.iter().filter(|seen| seen.leaf.kind.code != wire::STRING || is_common(seen)).collect();
    add("fb-string", &told, &|| "length without the NUL; NUL; zeros up to what comes next".to_string());
}

fn is_common(seen: &Seen) -> bool {
    seen.leaf.kind.owner == crate::model::bytemap::Kind::COMMON
}
