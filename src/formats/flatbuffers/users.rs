//! Who uses a vtable, in words: `used by 7 tables: document.items[0,1,3..7]`.

use crate::formats::flatbuffers::found::{Found, Object, Reach, What};
use crate::formats::flatbuffers::tell::{path_of, shown};
use crate::model::flat::Flat;
use crate::model::num::push_number;
use crate::model::schema::MessageId;

/// Users and ranges that are named one by one.
const NAMED: usize = 4;

/// The tables that use each vtable.
#[derive(Debug, Default)]
pub struct Users {
    starts: Vec<usize>,
    list: Vec<u32>,
}

impl Users {
    /// Gathers them.
    pub fn of(found: &Found) -> Users {
        let count = found.vtables.len();
        let mut starts = vec![0usize; count.saturating_add(1)];
        let mut sum = 0usize;
        for (shared, start) in found.vtables.iter().zip(&mut starts) {
            *start = sum;
            sum = sum.saturating_add(usize::try_from(shared.users).unwrap_or(0));
        }
        if let Some(last) = starts.last_mut() {
            *last = sum;
        }
        let mut filled = starts.clone();
        let mut list = vec![0u32; sum];
        for (number, object) in (0u32..).zip(&found.objects) {
            let vtable = usize::try_from(object.vtable).ok().filter(|vtable| *vtable < count);
            let Some(place) = vtable.and_then(|vtable| filled.get_mut(vtable)) else { continue };
            if let Some(entry) = list.get_mut(*place) {
                *entry = number;
            }
            *place = place.saturating_add(1);
        }
        Users { starts, list }
    }

    /// The users of a vtable.
    pub fn list(&self, vtable: u32) -> &[u32] {
        let Ok(at) = usize::try_from(vtable) else { return &[] };
        let from = self.starts.get(at).copied().unwrap_or(0);
        let to = self.starts.get(at.saturating_add(1)).copied().unwrap_or(from);
        self.list.get(from..to).unwrap_or(&[])
    }

    /// The types of its users, each once.
    pub fn types(&self, vtable: u32, found: &Found) -> Vec<Option<MessageId>> {
        let mut types = Vec::new();
        for object in self.list(vtable).iter().filter_map(|number| object(found, *number)) {
            if let What::Table(ty) = object.what
                && !types.contains(&ty)
            {
                types.push(ty);
            }
        }
        types
    }

    /// The users in words.
    pub fn words(&self, vtable: u32, found: &Found, flat: Option<&Flat>) -> String {
        let list = self.list(vtable);
        let types = self.types(vtable, found);
        let named = |number: u32| {
            let path = shown(&path_of(found, flat, number));
            match object(found, number).map(|object| object.what) {
                Some(What::Table(Some(ty))) if types.len() > 1 => {
                    let name = flat.and_then(|flat| flat.object(ty)).map_or("", |object| object.short_name());
                    format!("{path} as {name}")
                }
                _ => path,
            }
        };
        match list {
            [] => "used by nobody".to_string(),
            [one] => format!("used by {}", named(*one)),
            many => {
                let words = if types.len() > 1 { None } else { elements(many, found, flat) };
                let words = words.unwrap_or_else(|| {
                    let mut paths: Vec<String> = many.iter().take(NAMED).map(|number| named(*number)).collect();
                    if many.len() > NAMED {
                        paths.push("...".to_string());
                    }
                    paths.join(", ")
                });
                format!("used by {} tables: {words}", many.len())
            }
        }
    }
}

fn object(found: &Found, number: u32) -> Option<&Object> {
    found.objects.get(usize::try_from(number).ok()?)
}

/// Elements of one vector: its path, and their places in ranges.
fn elements(list: &[u32], found: &Found, flat: Option<&Flat>) -> Option<String> {
    let parent = object(found, *list.first()?)?.parent;
    let mut indexes = Vec::new();
    for number in list {
        let object = object(found, *number).filter(|object| object.parent == parent)?;
        let Reach::Index(index) = object.reach else { return None };
        indexes.push(index);
    }
    indexes.sort_unstable();
    let mut text = shown(&path_of(found, flat, parent));
    text.push('[');
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    for (at, (first, last)) in ranges.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        if at >= NAMED.saturating_mul(2) {
            text.push_str("...");
            break;
        }
        push_number(&mut text, *first);
        if last > first {
            text.push_str(if last.saturating_sub(*first) == 1 { "," } else { ".." });
            push_number(&mut text, *last);
        }
    }
    text.push(']');
    Some(text)
}
