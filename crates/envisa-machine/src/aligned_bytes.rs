//! Bytes of which vectors are loaded: they begin with a cache line, so that no vector of a line's size lies in two.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// So many bytes from the beginning of a cache line on.
#[derive(Default)]
pub struct AlignedBytes {
    /// What was allocated: more, as an allocation begins where it likes.
    all: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBytes {
    /// Zeros.
    pub fn zeroed(len: usize) -> AlignedBytes {
        let all = vec![0; len + LINE];
        // Of an interpreter that knows no addresses (Miri) it may be no place inside.
        let start = all.as_ptr().align_offset(LINE).min(LINE);
        AlignedBytes { all, start, len }
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.all.get(self.start..self.start + self.len).unwrap_or_default()
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.all.get_mut(self.start..self.start + self.len).unwrap_or_default()
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &AlignedBytes) -> bool {
        **self == **other
    }
}

impl Eq for AlignedBytes {}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_with_a_line_and_so_do_their_copies() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let mut bytes = AlignedBytes::zeroed(len);
            bytes.iter_mut().zip(1..).for_each(|(b, n)| *b = n as u8);
            let copy = bytes.clone();
            assert_eq!((bytes.len(), &copy), (len, &bytes));
            assert!(bytes.iter().zip(1..).all(|(b, n)| *b == n as u8));
            if len > 0 && !cfg!(miri) {
                assert_eq!([bytes.as_ptr().align_offset(LINE), copy.as_ptr().align_offset(LINE)], [0; 2]);
            }
        }
    }
}
