//! Points and spans of time and field masks as ProtoJSON writes them, and back.

use std::fmt::Write as _;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z, the first instant that ProtoJSON has.
const FIRST: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z, the last second.
const LAST: i64 = 253_402_300_799;
/// Seconds of the longest span: 10,000 years.
const LONGEST: i64 = 315_576_000_000;
/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// Days of 400 years.
const ERA: i64 = 146_097;

/// Appends a point in time: `2024-01-01T00:00:00.500Z`. False where ProtoJSON has no form for it.
pub fn push_timestamp(seconds: i64, nanos: i64, out: &mut String) -> bool {
    if !(FIRST..=LAST).contains(&seconds) || !(0..NANOS).contains(&nanos) {
        return false;
    }
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let time = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    push_fraction(nanos, out);
    out.push('Z');
    true
}

/// Appends a span of time: `-3.500s`. False where ProtoJSON has no form for it.
pub fn push_duration(seconds: i64, nanos: i64, out: &mut String) -> bool {
    let range = -LONGEST..=LONGEST;
    let clash = seconds < 0 && nanos > 0 || seconds > 0 && nanos < 0;
    if !range.contains(&seconds) || nanos <= -NANOS || nanos >= NANOS || clash {
        return false;
    }
    if seconds < 0 || nanos < 0 {
        out.push('-');
    }
    let _ = write!(out, "{}", seconds.unsigned_abs());
    push_fraction(nanos.saturating_abs(), out);
    out.push('s');
    true
}

/// Three, six or nine digits, as many as are needed.
fn push_fraction(nanos: i64, out: &mut String) {
    let _ = match nanos {
        0 => Ok(()),
        _ if nanos % 1_000_000 == 0 => write!(out, ".{:03}", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => write!(out, ".{:06}", nanos / 1_000),
        _ => write!(out, ".{nanos:09}"),
    };
}

/// Year, month and day of a day counted from 1970-01-01 (the proleptic Gregorian calendar).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(EPOCH);
    let (era, day_of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    // Months count from March, so that a leap day is the last of its year.
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// The day of a date, counted from 1970-01-01; none where the calendar has no such date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let number = era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH;
    (civil(number) == (year, month, day)).then_some(number)
}

/// Takes digits from the front of a text, exactly `count` of them.
fn digits(text: &mut &str, count: usize) -> Option<i64> {
    let (number, behind) = text.split_at_checked(count)?;
    let all = number.bytes().all(|byte| byte.is_ascii_digit());
    *text = behind;
    if all { number.parse().ok() } else { None }
}

fn literal(text: &mut &str, one: char) -> Option<()> {
    *text = text.strip_prefix(one)?;
    Some(())
}

/// Takes a fraction of up to nine digits, as nanoseconds; 0 where there is none.
fn fraction(text: &mut &str) -> Option<i64> {
    let Some(behind) = text.strip_prefix('.') else { return Some(0) };
    let len = behind.bytes().take_while(u8::is_ascii_digit).count();
    *text = behind;
    let scale = u32::try_from(9usize.checked_sub(len)?).ok().filter(|_| len > 0)?;
    digits(text, len)?.checked_mul(10i64.checked_pow(scale)?)
}

/// Seconds and nanoseconds of a point in time (RFC 3339); none where it is none, or outside the range.
pub fn timestamp(mut text: &str) -> Option<(i64, i64)> {
    let text = &mut text;
    let year = digits(text, 4)?;
    literal(text, '-')?;
    let month = digits(text, 2)?;
    literal(text, '-')?;
    let day = digits(text, 2)?;
    literal(text, 'T')?;
    let hour = digits(text, 2).filter(|hour| *hour < 24)?;
    literal(text, ':')?;
    let minute = digits(text, 2).filter(|minute| *minute < 60)?;
    literal(text, ':')?;
    let second = digits(text, 2).filter(|second| *second < 60)?;
    let nanos = fraction(text)?;
    let shift = offset(text)?;
    let seconds = days(year, month, day)? * DAY + hour * 3600 + minute * 60 + second - shift;
    (FIRST..=LAST).contains(&seconds).then_some((seconds, nanos))
}

/// `Z`, `+01:00`: seconds ahead of UTC; nothing may stand behind it.
fn offset(text: &mut &str) -> Option<i64> {
    let sign = match text.chars().next()? {
        'Z' => return (text.len() == 1).then_some(0),
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    *text = text.get(1..)?;
    let hours = digits(text, 2).filter(|hours| *hours < 24)?;
    literal(text, ':')?;
    let minutes = digits(text, 2).filter(|minutes| *minutes < 60)?;
    text.is_empty().then_some(sign * (hours * 3600 + minutes * 60))
}

/// Seconds and nanoseconds of a span of time, both of one sign.
pub fn duration(text: &str) -> Option<(i64, i64)> {
    let text = text.strip_suffix('s')?;
    let (sign, mut text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let text = &mut text;
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let seconds = digits(text, len).filter(|seconds| len > 0 && *seconds <= LONGEST)?;
    let nanos = fraction(text)?;
    text.is_empty().then_some((sign * seconds, sign * nanos))
}

/// Appends a path of a field mask in lowerCamelCase. False where it would not read back as the same path.
pub fn push_path(path: &str, out: &mut String) -> bool {
    let mut raise = false;
    for c in path.chars() {
        match c {
            '_' if raise => return false,
            '_' => raise = true,
            'A'..='Z' => return false,
            'a'..='z' if raise => {
                out.push(c.to_ascii_uppercase());
                raise = false;
            }
            _ if raise => return false,
            ',' => return false,
            _ => out.push(c),
        }
    }
    !raise
}

/// The path that a lowerCamelCase one stands for; none where it has an underscore.
pub fn path(camel: &str) -> Option<String> {
    let mut out = String::new();
    for c in camel.chars() {
        match c {
            '_' => return None,
            'A'..='Z' => {
                out.push('_');
                out.push(c.to_ascii_lowercase());
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(seconds: i64, nanos: i64) -> String {
        let mut out = String::new();
        let fits = push_timestamp(seconds, nanos, &mut out);
        assert_eq!(fits, !out.is_empty());
        out
    }

    #[test]
    fn points_in_time_both_ways() {
        let known = [
            (FIRST, 0, "0001-01-01T00:00:00Z"),
            (LAST, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (-1, 500_000_000, "1969-12-31T23:59:59.500Z"),
            (1_709_164_800, 1_000, "2024-02-29T00:00:00.000001Z"),
        ];
        for (seconds, nanos, text) in known {
            assert_eq!(stamp(seconds, nanos), text);
            assert_eq!(timestamp(text), Some((seconds, nanos)));
        }
        assert_eq!(stamp(LAST + 1, 0), "");
        assert_eq!(timestamp("2024-01-01T01:30:00+01:30"), Some((1_704_067_200, 0)));
        let bad = ["2024-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z"];
        assert!(bad.iter().all(|text| timestamp(text).is_none()));
        assert_eq!(timestamp("0001-01-01T00:00:00+00:01"), None, "before the first instant");
    }

    #[test]
    fn spans_of_time_both_ways() {
        let mut out = String::new();
        assert!(push_duration(-3, -500_000_000, &mut out));
        assert_eq!(out, "-3.500s");
        assert_eq!(duration("-3.500s"), Some((-3, -500_000_000)));
        assert_eq!(duration("0.5s"), Some((0, 500_000_000)));
        assert!(["3", "s", "1.s", "1.0000000001s", "315576000001s", "+1s"].iter().all(|text| duration(text).is_none()));
        assert!(!push_duration(1, -1, &mut String::new()));
    }

    #[test]
    fn paths_that_do_not_read_back_are_refused() {
        let mut out = String::new();
        assert!(push_path("foo_bar.a", &mut out));
        assert_eq!((out.as_str(), path("fooBar.a")), ("fooBar.a", Some("foo_bar.a".to_string())));
        assert!(["fooBar", "foo__bar", "foo_", "foo_1"].iter().all(|bad| !push_path(bad, &mut String::new())));
    }
}
