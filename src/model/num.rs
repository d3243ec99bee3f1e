//! Numbers: lengths as offsets, and numbers with their nouns.

/// A length in memory as an offset or size in an input.
pub fn len64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A number with its noun: `1 entry`, `3 entries`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A number of bytes in words: `1 byte`, `3 bytes`.
pub fn bytes(number: u64) -> String {
    count(number, "byte", "bytes")
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed<T: AsRef<str>>(parts: &[T]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}
