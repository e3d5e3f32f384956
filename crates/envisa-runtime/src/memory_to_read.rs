//! Memory of the application that commands read which do not block: whether it stays as it is until the application has waited for
//! them. Looked at only while mistakes are looked for.
//!
//! What the memory contains is compared with what it contained when the command was enqueued: when the command runs, and when the
//! application knows that it is over. So it does not depend on time whether a change is seen.

use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Of more bytes nothing is said.
const MOST: u64 = 64 << 20;

/// Memory that a command reads.
#[derive(Debug)]
pub struct MemoryToRead {
    /// Its rows.
    parts: Vec<Range<u64>>,
    /// A number that other bytes hardly have.
    then: u64,
    /// A change was told.
    told: AtomicBool,
}

impl MemoryToRead {
    /// Memory as it is now; none if there is too much of it, or if the system does not let it be read.
    pub fn new(parts: Vec<Range<u64>>) -> Option<Arc<MemoryToRead>> {
        let then = digest(&parts)?;
        Some(Arc::new(MemoryToRead { parts, then, told: AtomicBool::new(false) }))
    }

    /// Is it no longer as it was? That is said once.
    pub fn has_changed(&self) -> bool {
        let now = if self.told.load(Ordering::Relaxed) { None } else { digest(&self.parts) };
        now.is_some_and(|now| now != self.then) && !self.told.swap(true, Ordering::Relaxed)
    }

    /// Is some of it among these bytes?
    pub fn overlaps(&self, range: &Range<u64>) -> bool {
        self.parts.iter().any(|p| p.start < range.end && range.start < p.end)
    }
}

/// A number of bytes that others hardly have. They are copied by the system, which gives an error where there are none: of what a
/// program gives back without a word, too.
fn digest(parts: &[Range<u64>]) -> Option<u64> {
    const PIECE: u64 = 1 << 20;
    if parts.iter().map(|p| p.end - p.start).sum::<u64>() > MOST {
        return None;
    }
    let mut hasher = std::hash::DefaultHasher::new();
    let mut bytes = Vec::new();
    for part in parts {
        let mut at = part.start;
        while at < part.end {
            bytes.resize((part.end - at).min(PIECE) as usize, 0);
            copy_to(&mut bytes, at)?;
            hasher.write(&bytes);
            at += bytes.len() as u64;
        }
    }
    Some(hasher.finish())
}

/// Fills bytes with those at an address; none if they cannot be read.
#[allow(unsafe_code)]
fn copy_to(bytes: &mut [u8], at: u64) -> Option<()> {
    let len = bytes.len();
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let remote = libc::iovec { iov_base: at as *mut _, iov_len: len };
    // SAFETY: the system copies at most `len` bytes to `bytes`, or gives an error; nothing else is accessed.
    let copied =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    (copied == len as isize).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_rows_are_seen_and_told_once() {
        let mut memory = [7u8; 64];
        let at = memory.as_ptr() as u64;
        // Some systems do not allow it.
        let Some(rows) = MemoryToRead::new(vec![at..at + 8, at + 32..at + 40]) else { return };
        memory[10] = 8;
        std::hint::black_box(&mut memory);
        assert!(!rows.has_changed(), "what lies between the rows is not read");
        memory[39] = 8;
        std::hint::black_box(&mut memory);
        assert!(rows.has_changed() && !rows.has_changed());
        assert!(rows.overlaps(&(at + 39..at + 50)) && !rows.overlaps(&(at + 8..at + 32)));
    }

    #[test]
    fn memory_that_is_not_there_is_not_compared() {
        for absent in [8..16, 0..MOST + 1] {
            assert!(MemoryToRead::new(std::iter::once(absent).collect()).is_none());
        }
    }
}
