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

/// Appends a number; several times as fast as formatting it.
pub fn push_number(out: &mut String, number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at = at.saturating_sub(1);
        if let Some(place) = digits.get_mut(at) {
            *place = b'0' | u8::try_from(rest % 10).unwrap_or(0);
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.push_str(digits.get(at..).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or(""));
}

/// Appends a number with its sign.
pub fn push_signed(out: &mut String, number: i64) {
    if number < 0 {
        out.push('-');
    }
    push_number(out, number.unsigned_abs());
}

/// Appends an offset as text shows it: `0x0a`, with two digits at least.
pub fn push_offset(out: &mut String, offset: u64) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    out.push_str("0x");
    let used = 16u32.saturating_sub(offset.leading_zeros() / 4).max(2);
    for index in (0..used).rev() {
        let digit = usize::try_from(offset >> (index * 4) & 0x0f).unwrap_or(0);
        out.push(DIGITS.get(digit).copied().unwrap_or('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_pushed_as_formatting_writes_them() {
        for number in [0, 7, 10, 99, 100, 12345, u64::from(u32::MAX), u64::MAX] {
            let (mut decimal, mut hex) = (String::new(), String::new());
            push_number(&mut decimal, number);
            push_offset(&mut hex, number);
            assert_eq!((decimal, hex), (number.to_string(), format!("{number:#04x}")));
        }
        let mut signed = String::new();
        push_signed(&mut signed, i64::MIN);
        assert_eq!(signed, i64::MIN.to_string());
    }
}
