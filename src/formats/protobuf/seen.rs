//! Which fields stood in a message, and how often: for the index of the next value, for what a later value
//! replaces, and for required fields.

use std::collections::HashMap;

use super::wire::WireType;
use crate::model::limits;

/// Numbers that are kept in a list; more go into a table.
const FEW: usize = 12;

/// Numbers above those of fields stand for oneofs.
const ONEOF: u32 = 1 << 30;

/// Counts by field number. A message has few fields as a rule, and a list of them beats a table.
#[derive(Debug, Default)]
pub struct Seen {
    few: Vec<(u32, u64)>,
    /// Wire types of the first fields, where no schema tells; none once a second one was told.
    wires: Vec<(u32, Option<WireType>)>,
    many: Option<HashMap<u32, u64, foldhash::fast::FixedState>>,
}

impl Seen {
    /// How often a field stood so far.
    pub fn count(&self, number: u32) -> u64 {
        match &self.many {
            None => self.few.iter().find(|(known, _)| *known == number).map_or(0, |(_, count)| *count),
            Some(many) => many.get(&number).copied().unwrap_or(0),
        }
    }

    /// Counts `times` further values of a field; how many there were before.
    pub fn add(&mut self, number: u32, times: u64) -> u64 {
        if self.many.is_none()
            && let Some((_, count)) = self.few.iter_mut().find(|(known, _)| *known == number)
        {
            let before = *count;
            *count = before.saturating_add(times);
            return before;
        }
        let before = self.count(number);
        self.set(number, before.saturating_add(times));
        before
    }

    /// Notes that a member of a oneof was set; the member that was set before it.
    pub fn set_oneof(&mut self, oneof: u32, number: u32) -> Option<u32> {
        let key = ONEOF | oneof;
        let before = u32::try_from(self.count(key)).ok().filter(|before| *before != 0);
        self.set(key, u64::from(number));
        before
    }

    /// Forgets everything but its memory, for the next message.
    pub fn clear(&mut self) {
        self.few.clear();
        self.wires.clear();
        self.many = None;
    }

    /// The last value of a field does not count after all.
    pub fn take_back(&mut self, number: u32) {
        let count = self.count(number);
        self.set(number, count.saturating_sub(1));
    }

    /// Notes the wire type of a field; that of earlier values, the first time it was another one.
    pub fn set_wire(&mut self, number: u32, wire: WireType, before: u64) -> Option<WireType> {
        let at = self.wires.iter().position(|(known, _)| *known == number);
        let Some((_, known)) = at.and_then(|at| self.wires.get_mut(at)) else {
            if before == 0 && self.wires.len() < FEW {
                self.wires.push((number, Some(wire)));
            }
            return None;
        };
        match *known {
            Some(earlier) if earlier != wire => {
                // Told once.
                *known = None;
                Some(earlier)
            }
            _ => None,
        }
    }

    fn set(&mut self, number: u32, count: u64) {
        if let Some(many) = &mut self.many {
            // Past this many different numbers (damage, or an attack) further ones all look like the first.
            if many.len() < limits::LEDGER_PATHS || many.contains_key(&number) {
                many.insert(number, count);
            }
            return;
        }
        if let Some((_, place)) = self.few.iter_mut().find(|(known, _)| *known == number) {
            *place = count;
        } else if self.few.len() < FEW {
            self.few.push((number, count));
        } else {
            let mut many: HashMap<u32, u64, _> = self.few.drain(..).collect();
            many.insert(number, count);
            self.many = Some(many);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_few_and_many_numbers_alike() {
        let mut seen = Seen::default();
        for round in 0..3u64 {
            for number in 1..40u32 {
                assert_eq!(seen.add(number, 1), round, "field {number}");
            }
        }
        assert_eq!([seen.count(39), seen.count(40)], [3, 0]);
        assert_eq!([seen.set_oneof(0, 5), seen.set_oneof(0, 6), seen.set_oneof(1, 5)], [None, Some(5), None]);
    }
}
