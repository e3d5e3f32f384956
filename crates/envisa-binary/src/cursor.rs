//! Reading little-endian fields within bounds.

use crate::error::{Problem, ReadError};

/// A place in the file and the end of what may be read.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

type Result<T> = std::result::Result<T, ReadError>;

impl<'a> Cursor<'a> {
    /// Reads `bytes[start..]`; offsets in errors are those of `bytes`, which begins the file.
    pub fn new(bytes: &'a [u8], start: usize) -> Cursor<'a> {
        Cursor { bytes, pos: start.min(bytes.len()) }
    }

    /// Offset of the next byte in the file.
    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The byte that was read last.
    pub fn last(&self) -> u8 {
        self.pos.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(0)
    }

    /// Bytes left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }

    #[cold]
    fn truncated(&self, what: &str, needed: u64) -> ReadError {
        ReadError::new(self.pos, what, Problem::Truncated { needed, left: self.left() })
    }

    /// The next `N` bytes.
    #[inline(always)]
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        match self.bytes.get(self.pos..).and_then(|b| b.first_chunk::<N>()) {
            Some(b) => {
                self.pos += N;
                Ok(*b)
            }
            None => Err(self.truncated(what, N as u64)),
        }
    }

    #[inline(always)]
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.take::<1>(what)?[0])
    }

    #[inline(always)]
    pub fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.take(what)?))
    }

    #[inline(always)]
    pub fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(what)?))
    }

    #[inline(always)]
    pub fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(what)?))
    }

    /// An unsigned number of 1, 2 or 4 bytes.
    #[inline(always)]
    pub fn uint(&mut self, width: u8, what: &'static str) -> Result<u32> {
        match width {
            1 => self.u8(what).map(u32::from),
            2 => self.u16(what).map(u32::from),
            _ => self.u32(what),
        }
    }

    /// The next `len` bytes.
    #[inline]
    pub fn slice(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        match self.bytes.get(self.pos..).and_then(|b| b.get(..len)) {
            Some(b) => {
                self.pos += len;
                Ok(b)
            }
            None => Err(self.truncated(what, len as u64)),
        }
    }

    /// Bytes up to a NUL, which is skipped.
    pub fn until_nul(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.pos..];
        match rest.iter().position(|b| *b == 0) {
            Some(n) => {
                self.pos += n + 1;
                Ok(&rest[..n])
            }
            None => Err(self.truncated(what, rest.len() as u64 + 1)),
        }
    }

    /// `count` records of at least `each` bytes must still fit; checked before memory is taken for them.
    pub fn require(&self, count: u32, each: usize, what: &'static str) -> Result<usize> {
        let needed = count as u64 * each as u64;
        if needed > self.left() as u64 {
            return Err(self.truncated(what, needed));
        }
        Ok(count as usize)
    }
}
