//! placeholder
pub fn of_integer(_v: u64) -> Option<String> {
    None
}
pub fn of_fixed64(_v: u64) -> Option<String> {
    None
}
pub fn of_bytes(_b: &[u8]) -> Option<String> {
    None
}
