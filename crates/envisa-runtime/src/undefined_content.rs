//! Memory whose content is undefined, and that the application may write at any time: shared memory that was just made, and what is
//! mapped with `CL_MAP_WRITE_INVALIDATE_REGION`. It gets words at random; where they still are, nothing was written. Looked at only
//! while mistakes are looked for.
#![allow(unsafe_code)]

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::OnceLock;

use crate::command_order::Ranges;
use crate::host_memory::Region;

/// Bytes of a word.
const WORD: usize = 4;
/// The most that is filled: the application may have no use for the rest.
const MOST: usize = 64 << 20;

/// What this process has at an address.
fn word(at: usize) -> u32 {
    static KEY: OnceLock<u64> = OnceLock::new();
    let key = *KEY.get_or_init(|| RandomState::new().hash_one(0));
    let x = (at as u64 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// The addresses of the whole words among these.
fn words(range: &Range<u64>) -> impl Iterator<Item = usize> + use<> {
    let (first, end) = ((range.start as usize).next_multiple_of(WORD), range.end as usize);
    (first..end.saturating_sub(WORD - 1)).step_by(WORD)
}

/// Fills memory of a buffer; `false` if it has too many bytes.
pub fn fill_with_pattern(memory: &Region) -> bool {
    if memory.len() > MOST {
        return false;
    }
    for at in words(&memory.range()) {
        // SAFETY: inside of the region, whose bytes are moved by raw writes only.
        unsafe { (at as *mut u32).write_volatile(word(at)) };
    }
    true
}

/// Where it still is as it was filled.
pub fn unwritten_ranges(memory: &Region) -> Ranges {
    let mut all = Ranges::default();
    let mut from = None;
    for at in words(&memory.range()) {
        // SAFETY: inside of the region, whose bytes are moved by raw reads only.
        let is = unsafe { (at as *const u32).read_volatile() } == word(at);
        match (is, from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                all.add(start as u64..at as u64);
                from = None;
            }
            _ => {}
        }
    }
    if let Some(start) = from {
        all.add(start as u64..words(&memory.range()).last().map_or(start, |at| at + WORD) as u64);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_nobody_wrote_are_as_they_were() {
        let mut memory = [0u32; 8];
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the array is there until the end, and used by raw pointers alone meanwhile.
        let region = unsafe { Region::host(start.add(1), 30) };
        assert!(fill_with_pattern(&region));
        let from = start as u64;
        let holes = || unwritten_ranges(&region).within(&(from..from + 32));
        assert_eq!(holes(), std::slice::from_ref(&(from + 4..from + 28)));
        // SAFETY: inside of the array.
        unsafe { start.add(13).write_volatile(start.add(13).read_volatile() ^ 1) };
        assert_eq!(holes(), [from + 4..from + 12, from + 16..from + 28]);
    }
}
