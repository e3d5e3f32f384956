//! A bit for each byte, in words of 64.

use std::ops::Range;

/// The bits of `bytes` bytes from `offset` on, word by word.
#[inline]
pub(crate) fn words(offset: u32, bytes: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = offset.saturating_add(bytes);
    (offset / 64..end.div_ceil(64)).map(move |w| {
        let from = offset.saturating_sub(w * 64).min(64);
        let to = (end - w * 64).min(64);
        let bits = if to == 64 { u64::MAX } else { (1 << to) - 1 };
        (w as usize, if from == 64 { 0 } else { bits & (u64::MAX << from) })
    })
}

/// Adds the addresses of a word's set bits, of which the first stands for `start`, to ranges in order before it.
pub(crate) fn add_set(all: &mut Vec<Range<u64>>, start: u64, mut word: u64) {
    while word != 0 {
        let from = word.trailing_zeros();
        let bits = (word >> from).trailing_ones();
        word &= u64::MAX.checked_shl(from + bits).unwrap_or(0);
        let (from, bits) = (start + u64::from(from), u64::from(bits));
        match all.last_mut() {
            Some(last) if last.end == from => last.end += bits,
            _ => all.push(from..from + bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_ranges() {
        let mut all = Vec::new();
        for (start, word) in [(64, 0x8000_0000_0000_0ff1), (128, u64::MAX), (192, 1), (256, 0), (320, 6)] {
            add_set(&mut all, start, word);
        }
        assert_eq!(all, [64..65, 68..76, 127..193, 321..323]);
    }
}
