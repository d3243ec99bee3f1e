//! Ids of what declares none: the first 64 bits of an MD5 over the parent's id and the name, as the compiler
//! derives them.

use md5::{Digest as _, Md5};

/// Ids have their highest bit set.
const HIGHEST: u64 = 1 << 63;

/// The id of a named declaration.
pub fn child(parent: u64, name: &str) -> u64 {
    hashed(parent, name.as_bytes())
}

/// The id of a group, by its position among the fields of what it stands in.
pub fn group(parent: u64, position: u16) -> u64 {
    hashed(parent, &position.to_le_bytes())
}

/// The id of the parameters or results of a method.
pub fn method(interface: u64, ordinal: u16, results: bool) -> u64 {
    let [low, high] = ordinal.to_le_bytes();
    hashed(interface, &[low, high, u8::from(results)])
}

fn hashed(parent: u64, rest: &[u8]) -> u64 {
    let mut md5 = Md5::new();
    md5.update(parent.to_le_bytes());
    md5.update(rest);
    let first = md5.finalize().iter().take(8).fold(0u64, |id, byte| id << 8 | u64::from(*byte));
    first | HIGHEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_compiler() {
        // capnp compile -o- of `@0xbf5147cbbecf40c1; struct A { g :group { a @0 :Int8; } }
        // interface I { f @0 (); }`
        let file = 0xbf51_47cb_becf_40c1;
        assert_eq!(child(file, "A"), 17_488_804_589_371_249_172);
        assert_eq!(group(child(file, "A"), 0), 11_792_086_565_184_031_136);
        let interface = child(file, "I");
        assert_eq!(interface, 15_691_403_660_231_427_353);
        assert_eq!(method(interface, 0, false), 10_903_272_959_418_598_817);
        assert_eq!(method(interface, 0, true), 16_401_068_831_733_330_946);
    }
}
