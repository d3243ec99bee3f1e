//! What numbers and bytes without a type most likely mean: points in time, UUIDs, addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::formats::protobuf::guess::weigh;
use crate::formats::protobuf::wire;
use crate::model::value::utc;

/// 2000-01-01 and 2100-01-01 in seconds.
const YEARS: std::ops::Range<u64> = 946_684_800..4_102_444_800;

/// A float of so few significant digits is no integer by chance.
const ROUND: usize = 5;

/// The point in time that an integer likely is: `2023-11-14T22:13:20Z as seconds`.
pub fn of_integer(value: u64) -> Option<String> {
    let units: [(u64, &str); 4] =
        [(1, "seconds"), (1_000, "milliseconds"), (1_000_000, "microseconds"), (1_000_000_000, "nanoseconds")];
    units.into_iter().find_map(|(each, unit)| {
        let secs = value / each;
        if !YEARS.contains(&secs) {
            return None;
        }
        let nanos = (value % each).saturating_mul(1_000_000_000 / each);
        Some(format!("{} as {unit}", utc(i64::try_from(secs).ok()?, u32::try_from(nanos).ok()?)?))
    })
}

/// The point in time that eight fixed bytes likely are, as an integer or a double.
pub fn of_fixed64(bits: u64) -> Option<String> {
    of_integer(bits).or_else(|| of_double(f64::from_bits(bits)))
}

fn of_double(value: f64) -> Option<String> {
    // Whole milliseconds up to 2100 are exact in a double.
    for (each, unit) in [(1.0, "seconds"), (1_000.0, "milliseconds")] {
        let time = jiff::SignedDuration::try_from_secs_f64(value / each).ok()?;
        let secs = time.as_secs();
        if u64::try_from(secs).is_ok_and(|secs| YEARS.contains(&secs)) {
            let millis = u32::try_from(time.subsec_millis()).ok()?;
            return Some(format!("{} as {unit}", utc(secs, millis.saturating_mul(1_000_000))?));
        }
    }
    None
}

/// What bytes likely are: `like a UUID: 550e8400-e29b-41d4-a716-446655440000`.
pub fn of_bytes(bytes: &[u8]) -> Option<String> {
    if let Some(uuid) = uuid(bytes) {
        return Some(format!("like a UUID: {uuid}"));
    }
    let (version, address) = ip(bytes)?;
    Some(format!("like an {version} address: {address}"))
}

/// Sixteen bytes as a UUID, where version and variant are those of RFC 9562.
pub fn uuid(bytes: &[u8]) -> Option<String> {
    let bytes: &[u8; 16] = bytes.try_into().ok()?;
    let [_, _, _, _, _, _, version, _, variant, ..] = bytes;
    if !(1..=8).contains(&(version >> 4)) || variant >> 6 != 2 {
        return None;
    }
    let mut out = String::with_capacity(36);
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{byte:02x}"));
    }
    Some(out)
}

/// Four or sixteen bytes as an address that hosts have, with its kind.
pub fn ip(bytes: &[u8]) -> Option<(&'static str, String)> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        let text = four.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let host = matches!(four, [1..=223, ..]) && !text;
        return host.then(|| ("IPv4", Ipv4Addr::from(four).to_string()));
    }
    let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
    let [first, ..] = address.segments();
    let host = first >> 13 == 1 || first >> 6 == 0x3fa || first >> 9 == 0x7e || address.to_ipv4_mapped().is_some();
    host.then(|| ("IPv6", address.to_string()))
}

/// What four fixed bytes likely are, as an integer; nothing where they are a float that people write.
pub fn of_fixed32(bits: u64) -> Option<String> {
    let low = wire::low32(bits);
    if weigh::is_float(u64::from(low)) && significant_digits(f32::from_bits(low)) <= ROUND {
        return None;
    }
    of_integer(u64::from(low))
}

/// Digits of the shortest decimal of a float.
fn significant_digits(value: f32) -> usize {
    let text = format!("{value:e}");
    text.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_as_points_in_time() {
        let time = |value| of_integer(value).unwrap();
        assert_eq!(time(1_700_000_000), "2023-11-14T22:13:20Z as seconds");
        assert_eq!(time(1_700_000_000_123), "2023-11-14T22:13:20.123Z as milliseconds");
        assert_eq!(time(1_700_000_000_000_001), "2023-11-14T22:13:20.000001Z as microseconds");
        assert_eq!(time(1_700_000_000_000_000_001), "2023-11-14T22:13:20.000000001Z as nanoseconds");
        for other in [0, 55613, 946_684_799, 4_102_444_800, u64::MAX] {
            assert_eq!(of_integer(other), None, "{other}");
        }
        assert_eq!(of_fixed64(1_700_000_000.5f64.to_bits()).unwrap(), "2023-11-14T22:13:20.5Z as seconds");
        assert_eq!(of_fixed64(f64::NAN.to_bits()), None);
    }

    #[test]
    fn round_floats_are_no_points_in_time() {
        for float in ["0000c03f", "cdcccc3f", "00409c44"] {
            let bytes = data_encoding::HEXLOWER.decode(float.as_bytes()).unwrap();
            assert_eq!(of_fixed32(wire::little_endian(&bytes)), None, "{float}");
        }
        assert_eq!(of_fixed32(1_700_000_000).unwrap(), "2023-11-14T22:13:20Z as seconds");
        assert_eq!(of_fixed32(1_100_000_001).unwrap(), "2004-11-09T11:33:21Z as seconds");
    }

    #[test]
    fn bytes_as_uuids_and_addresses() {
        let hex = |text: &str| data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
        let of = |text| of_bytes(&hex(text));
        assert_eq!(
            of("550e8400e29b41d4a716446655440000").unwrap(),
            "like a UUID: 550e8400-e29b-41d4-a716-446655440000"
        );
        assert_eq!(of("0a000001").unwrap(), "like an IPv4 address: 10.0.0.1");
        assert_eq!(of("20010db8000000000000000000000001").unwrap(), "like an IPv6 address: 2001:db8::1");
        assert_eq!(of("fe800000000000000000000000000001").unwrap(), "like an IPv6 address: fe80::1");
        assert_eq!(of("00000000000000000000ffff0a000001").unwrap(), "like an IPv6 address: ::ffff:10.0.0.1");
        for other in ["", "00000001", "e0000001", "61626364", "d41d8cd98f00b204e9800998ecf8427e", "00112233"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
