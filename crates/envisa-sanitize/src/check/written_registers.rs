//! Which bytes of a thread's registers something has written: one bit a byte.

use crate::byte_bits::words;

/// Written bytes of a register file.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Vec<u64>);

impl Written {
    /// Nothing is, of this many bytes.
    pub fn clear(&mut self, bytes: u32) {
        self.0.clear();
        self.0.resize((bytes as usize).div_ceil(64), 0);
    }

    /// Bytes are written.
    pub fn set(&mut self, offset: u32, bytes: u32) {
        for (w, bits) in words(offset, bytes) {
            if let Some(w) = self.0.get_mut(w) {
                *w |= bits;
            }
        }
    }

    /// Bytes are as good as not written.
    pub fn unset(&mut self, offset: u32, bytes: u32) {
        for (w, bits) in words(offset, bytes) {
            if let Some(w) = self.0.get_mut(w) {
                *w &= !bits;
            }
        }
    }

    /// Is any byte written? (An element of which part was written is not complained of: values are packed
    /// byte by byte and read whole.)
    pub fn any(&self, offset: u32, bytes: u32) -> bool {
        words(offset, bytes).any(|(w, bits)| self.0.get(w).is_none_or(|w| w & bits != 0))
    }

    /// Are all of these bits of words?
    #[inline]
    pub fn holds(&self, bits: &[(u32, u64)]) -> bool {
        bits.iter().all(|(w, bits)| self.0.get(*w as usize).is_none_or(|w| w & bits == *bits))
    }

    /// These bits of words are written.
    #[inline]
    pub fn add(&mut self, bits: &[(u32, u64)]) {
        for (w, bits) in bits {
            if let Some(w) = self.0.get_mut(*w as usize) {
                *w |= bits;
            }
        }
    }

    /// All that another has not.
    pub fn add_others(&mut self, other: &Written) {
        self.0.iter_mut().zip(&other.0).for_each(|(w, o)| *w |= !o);
    }

    /// Bytes are written that another has not.
    pub fn set_others(&mut self, offset: u32, bytes: u32, other: &Written) {
        for (w, bits) in words(offset, bytes) {
            if let (Some(to), Some(o)) = (self.0.get_mut(w), other.0.get(w)) {
                *to |= bits & !o;
            }
        }
    }

    /// Is nothing written?
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    /// What another has.
    pub fn copy(&mut self, other: &Written) {
        self.0.clone_from(&other.0);
    }

    /// Are all bytes written?
    pub fn all(&self, offset: u32, bytes: u32) -> bool {
        words(offset, bytes).all(|(w, bits)| self.0.get(w).is_none_or(|w| w & bits == bits))
    }

    /// The first 16 bytes of which nothing is written: the least that a block message moves, so that compilers
    /// store less as 16 bytes.
    pub fn first_unwritten(&self, offset: u32, bytes: u32) -> Option<u32> {
        (0..bytes)
            .step_by(16)
            .map(|i| (offset + i, (bytes - i).min(16)))
            .find(|(at, n)| !self.any(*at, *n))
            .map(|h| h.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_a_byte() {
        let mut shadow = Written::default();
        shadow.clear(256);
        for (offset, bytes) in [(0, 1), (3, 4), (60, 8), (64, 64), (130, 0), (255, 1)] {
            shadow.set(offset, bytes);
        }
        for b in 0..256u32 {
            let written = b == 0 || (3..7).contains(&b) || (60..128).contains(&b) || b == 255;
            assert_eq!(shadow.any(b, 1), written, "{b}");
            assert_eq!(shadow.all(b, 1), written, "{b}");
        }
        assert!(shadow.any(120, 16) && !shadow.all(120, 16));
        assert!(shadow.all(60, 68));
        assert!(!shadow.any(128, 127));
        assert_eq!(shadow.first_unwritten(64, 80), Some(128));
        assert_eq!(shadow.first_unwritten(60, 68), None);
        // 16 bytes of which one is written are none.
        assert_eq!(shadow.first_unwritten(0, 16), None);
        assert_eq!(shadow.first_unwritten(0, 20), Some(16));
        shadow.unset(0, 8);
        assert_eq!(shadow.first_unwritten(0, 8), Some(0));
    }
}
