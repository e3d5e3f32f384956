//! Maps by addresses: a hash that costs a multiplication.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads addresses.
#[derive(Default)]
pub(crate) struct AddressHash(u64);

impl Hasher for AddressHash {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u64(*b as u64);
        }
    }
    fn write_u64(&mut self, x: u64) {
        let x = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = x ^ x >> 32;
    }
}

/// By addresses, or by their pages.
pub(crate) type Map<T> = HashMap<u64, T, BuildHasherDefault<AddressHash>>;
