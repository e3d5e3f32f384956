//! Maps and sets by numbers that this crate counts itself: nobody chooses them, and a multiplication spreads them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// By instructions, cells, bytes of the register file.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<Spread>>;

/// Spreads numbers over all bits.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Spread(u64);

impl Spread {
    fn add(&mut self, x: u64) {
        // An odd number whose bits look random.
        self.0 = (self.0.rotate_left(26) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        // Maps look at the lowest bits and at the highest ones.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut all = [0; 8];
            all[..part.len()].copy_from_slice(part);
            self.add(u64::from_le_bytes(all));
        }
    }

    fn write_u32(&mut self, x: u32) {
        self.add(x.into());
    }

    fn write_u64(&mut self, x: u64) {
        self.add(x);
    }

    fn write_usize(&mut self, x: usize) {
        self.add(x as u64);
    }
}
