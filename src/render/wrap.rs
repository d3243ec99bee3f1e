//! Fits text into columns: wrapping for sentences, cutting for names and meanings.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    // Control characters are escaped long before, so that ASCII takes a column each.
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Wraps sentences at blanks into lines of at most `columns`; a word that is longer stands alone.
pub fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let joined = width(&line).saturating_add(1).saturating_add(width(word));
        if !line.is_empty() && joined > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps text at blanks into lines of at most `columns`, and breaks words that are longer.
pub fn broken(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut broken = Vec::new();
    for line in lines(text, columns) {
        let mut part = String::new();
        let mut used = 0usize;
        for c in line.chars() {
            let wide = c.width().unwrap_or(0);
            if used.saturating_add(wide) > columns {
                broken.push(std::mem::take(&mut part));
                used = 0;
            }
            part.push(c);
            used = used.saturating_add(wide);
        }
        broken.push(part);
    }
    broken
}

/// Wraps what several leaves say, behind each other with `|` between, into lines of at most `columns`: between two of
/// them where that does.
pub fn parts(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive('|') {
        match lines.last_mut().filter(|line| width(line).saturating_add(width(part)) <= columns) {
            Some(line) => line.push_str(part),
            None => lines.push(part.to_string()),
        }
    }
    lines.iter().flat_map(|line| broken(line, columns)).collect()
}

/// The text, or its beginning and `...` where it is wider than `columns`.
pub fn cut_right(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut kept = String::new();
    let mut used = 3usize;
    for c in text.chars() {
        used = used.saturating_add(c.width().unwrap_or(0));
        if used > columns {
            break;
        }
        kept.push(c);
    }
    format!("{kept}...")
}

/// The text, or `..` and its end where it is wider than `columns`.
pub fn cut_left(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut kept = Vec::new();
    let mut used = 2usize;
    for c in text.chars().rev() {
        used = used.saturating_add(c.width().unwrap_or(0));
        if used > columns {
            break;
        }
        kept.push(c);
    }
    kept.reverse();
    format!("..{}", kept.into_iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_together_where_they_fit() {
        assert_eq!(parts("struct -> 0x10 (+0w)|1 data|3 ptr", 24), ["struct -> 0x10 (+0w)|", "1 data|3 ptr"]);
        assert_eq!(parts("1 segment (stored - 1)|46 words", 17), ["1 segment (stored", "- 1)|", "46 words"]);
        assert_eq!(parts("short|x", 17), ["short|x"]);
    }

    #[test]
    fn text_is_wrapped_at_blanks_and_cut_at_either_end() {
        assert_eq!(lines("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(lines("abcdefgh i", 5), ["abcdefgh", "i"]);
        assert_eq!(cut_right("abcdefgh", 6), "abc...");
        assert_eq!(cut_left("items[0].sku", 8), "..0].sku");
        assert_eq!(cut_right("€€€", 3), "€€€");
    }
}
