//! The names that a message writes, and how often: a sentence for the foot of a dump.

use std::collections::BTreeMap;

use crate::formats::{Counts, NameCount};
use crate::model::num::listed;

/// Names that a sentence lists before it only counts.
const LISTED_NAMES: usize = 5;

/// How often names are written, in one sentence; none where there is no name.
///
/// `9 names are written 30 times: sku, qty and price_minor 8 times each, the other six once`
pub fn line(counts: &Counts) -> Option<String> {
    let mut in_order: Vec<(&str, NameCount)> =
        counts.names.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    in_order.sort_by_key(|(_, count)| count.order);
    let mut by_count: BTreeMap<std::cmp::Reverse<u64>, Vec<&str>> = BTreeMap::new();
    for (name, count) in in_order {
        by_count.entry(std::cmp::Reverse(count.times)).or_default().push(name);
    }
    let groups: Vec<(u64, Vec<&str>)> = by_count.into_iter().map(|(count, names)| (count.0, names)).collect();
    let all = counts.names.len();
    let total = counts.names.values().fold(0u64, |sum, count| sum.saturating_add(count.times));
    let (one, many) = if counts.odd { ("key", "keys") } else { ("name", "names") };
    match groups.as_slice() {
        [] => None,
        [(count, names)] if all == 1 => {
            Some(format!("1 {one} is written {}: {}", times(*count), names.first().unwrap_or(&"")))
        }
        [(count, names)] if all <= LISTED_NAMES => {
            Some(format!("{all} {many} are written {} each: {}", times(*count), listed(names)))
        }
        [(count, _)] => Some(format!("{all} {many} are written {} each", times(*count))),
        groups => Some(format!("{all} {many} are written {total} times: {}", grouped(groups))),
    }
}

/// Names by how often they are written, the most frequent first; the last ones are only counted.
fn grouped(groups: &[(u64, Vec<&str>)]) -> String {
    let mut parts = Vec::new();
    let mut room = LISTED_NAMES;
    let mut left = groups;
    while let Some(((count, names), behind)) = left.split_first() {
        let last_many = behind.is_empty() && names.len() > 1 && !parts.is_empty();
        if names.len() > room || last_many {
            break;
        }
        room = room.saturating_sub(names.len());
        let each = if names.len() > 1 && *count > 1 { " each" } else { "" };
        parts.push(format!("{} {}{each}", listed(names), times(*count)));
        left = behind;
    }
    parts.extend(others(left, parts.is_empty()));
    parts.join(", ")
}

/// The names that are not listed: `the other six once`.
fn others(groups: &[(u64, Vec<&str>)], none_listed: bool) -> Option<String> {
    let number: usize = groups.iter().map(|(_, names)| names.len()).sum();
    let (most, least) = (groups.first()?.0, groups.last()?.0);
    let who = match (none_listed, number) {
        (true, _) => "each".to_owned(),
        (false, 1) => "the other".to_owned(),
        (false, _) => format!("the other {}", number_word(number)),
    };
    let each = if !none_listed && number > 1 && most > 1 { " each" } else { "" };
    Some(match most == least {
        true => format!("{who} {}{each}", times(most)),
        false => format!("{who} {least} to {most} times"),
    })
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// A number in words up to twelve.
fn number_word(number: usize) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[(&str, u64)]) -> Option<String> {
        let mut counts = Counts::default();
        for (name, times) in names {
            (0..*times).for_each(|_| counts.name(name, true));
        }
        super::line(&counts)
    }

    #[test]
    fn the_line_of_names_reads_well_for_few_and_many() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("id", 1)]).unwrap(), "1 name is written once: id");
        assert_eq!(of(&[("id", 7)]).unwrap(), "1 name is written 7 times: id");
        assert_eq!(of(&[("a", 1), ("b", 1)]).unwrap(), "2 names are written once each: a and b");
        assert_eq!(of(&[("a", 2), ("b", 1)]).unwrap(), "2 names are written 3 times: a twice, b once");
        let document =
            [("sku", 8), ("qty", 8), ("price_minor", 8), ("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("f", 1)];
        let expected = "9 names are written 30 times: sku, qty and price_minor 8 times each, the other six once";
        assert_eq!(of(&document).unwrap(), expected);
        let many: Vec<(String, u64)> = (0..20).map(|n| (format!("n{n}"), 3 + n % 2)).collect();
        let many: Vec<(&str, u64)> = many.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(of(&many).unwrap(), "20 names are written 70 times: each 3 to 4 times");
    }
}
