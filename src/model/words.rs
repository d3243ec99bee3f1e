//! Words that were mistyped.

/// Characters to put in, take out or change (Levenshtein).
pub fn slips(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(row.first_mut().unwrap_or(&mut 0), index.saturating_add(1));
        let mut left = index.saturating_add(1);
        for (b, place) in to.iter().zip(row.iter_mut().skip(1)) {
            let change = diagonal.saturating_add(usize::from(a != *b));
            diagonal = *place;
            *place = change.min(diagonal.saturating_add(1)).min(left.saturating_add(1));
            left = *place;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The names that a mistyped one may stand for, nearest first, at most three; letter case is no difference.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> =
        names.map(|name| (slips(&word, &name.to_lowercase()), name)).filter(|(slips, _)| *slips <= allowed).collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(
            [slips("order.prto", "order.proto"), slips("a", "a"), slips("", "ab"), slips("kitten", "sitting")],
            [1, 0, 2, 3]
        );
    }

    #[test]
    fn near_names_are_few_and_the_nearest_comes_first() {
        let names = ["Order", "OrderLine", "Border", "Item", "order"];
        assert_eq!(nearest("Ordr", names.into_iter()), ["Order", "order"]);
        assert_eq!(nearest("ORDER", names.into_iter()), ["Order", "order", "Border"]);
        assert_eq!(nearest("x", names.into_iter()), [""; 0]);
    }
}
