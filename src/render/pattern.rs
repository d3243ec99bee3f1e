//! The path that `--path` asks for: as dumps print it, with `[]` for every element and `{}` for every key.

use std::str::FromStr;

/// A path to show, with all that lies below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        Ok(Pattern(text.to_string()))
    }
}

impl Pattern {
    /// The text it was made from.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a path is the one asked for, or lies below it.
    pub fn covers(&self, path: &str) -> bool {
        let mut rest = path;
        let mut wanted = self.0.as_str();
        loop {
            // Up to the next bracket pair that stands for anything, the texts are the same.
            let wild = ["[]", "{}"].iter().filter_map(|pair| Some((wanted.find(pair)?, *pair))).min();
            let Some((at, pair)) = wild else {
                let Some(below) = rest.strip_prefix(wanted) else { return false };
                return below.is_empty() || wanted.is_empty() || below.starts_with(['.', '[', '{']);
            };
            let (before, after) = wanted.split_at_checked(at).unwrap_or((wanted, ""));
            let (open, close) = pair.split_at_checked(1).unwrap_or(("", ""));
            let inside = rest.strip_prefix(before).and_then(|rest| rest.strip_prefix(open));
            let Some((_, behind)) = inside.and_then(|inside| inside.split_once(close)) else { return false };
            rest = behind;
            wanted = after.strip_prefix(pair).unwrap_or("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_covers_itself_and_what_lies_below() {
        let covers = |pattern: &str, path: &str| Pattern(pattern.to_string()).covers(path);
        assert!(covers("items[3]", "items[3]") && covers("items[3]", "items[3].sku") && covers("a", "a{b c}"));
        assert!(!covers("items[3]", "items[33]") && !covers("item", "items") && !covers("a.b", "a"));
        assert!(covers("", "anything"), "the root is above everything");
    }

    #[test]
    fn empty_brackets_stand_for_every_element_and_key() {
        let covers = |pattern: &str, path: &str| Pattern(pattern.to_string()).covers(path);
        assert!(covers("recs[].name", "recs[17].name") && covers("m{}.x[]", "m{a b}.x[2]"));
        assert!(!covers("recs[].name", "recs[17].names") && !covers("recs[].name", "recs"));
    }
}
