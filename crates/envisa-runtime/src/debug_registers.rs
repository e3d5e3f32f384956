//! The processor's debug registers, by which the operating system counts how often a thread uses a few bytes of memory.
//! Neither the memory nor what the thread does changes.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};

/// What `perf_event_open` is told, up to the length of the bytes.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_kind: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    access: u32,
    address: u64,
    bytes: u64,
}

const BREAKPOINT: u32 = 5;
const READ_OR_WRITE: u32 = 3;
/// It begins switched off, and counts what the program's own code does.
const OFF_AND_OF_THE_PROGRAM: u64 = 1 | 1 << 5 | 1 << 6;
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;

/// A counter for each of some words, of the thread that made it.
#[derive(Debug)]
pub struct Watch {
    counters: Vec<File>,
}

impl Watch {
    /// Watches the first and the last word of some memory, switched off; `None` if the registers are in use, or the system
    /// gives none.
    pub fn new(range: &Range<u64>) -> Option<Watch> {
        let counters: Vec<File> =
            words(range).into_iter().filter_map(|(at, len)| open_counter(at, len)).collect();
        (!counters.is_empty()).then_some(Watch { counters })
    }

    /// Counts from now on, or not.
    pub fn set(&self, on: bool) {
        for counter in &self.counters {
            // SAFETY: the call has no argument, and the descriptor is open.
            unsafe { libc::ioctl(counter.as_raw_fd(), if on { ENABLE } else { DISABLE }, 0) };
        }
    }

    /// Has the thread used one of the words?
    pub fn was_used(&self) -> bool {
        let counted = |mut counter: &File| {
            let mut count = [0; 8];
            counter.read_exact(&mut count).is_ok() && u64::from_le_bytes(count) > 0
        };
        self.counters.iter().any(counted)
    }
}

/// The largest aligned words at both ends of a range: a register watches one, two, four or eight bytes.
fn words(range: &Range<u64>) -> Vec<(u64, u64)> {
    let largest = |fits: &dyn Fn(u64) -> bool| [8, 4, 2, 1].into_iter().find(|n| fits(*n));
    let bytes = range.end.saturating_sub(range.start);
    let first = largest(&|n| range.start.is_multiple_of(n) && n <= bytes).map(|n| (range.start, n));
    let last = largest(&|n| range.end.is_multiple_of(n) && n <= bytes).map(|n| (range.end - n, n));
    let mut all: Vec<_> = first.into_iter().chain(last).collect();
    all.dedup();
    all
}

fn open_counter(address: u64, bytes: u64) -> Option<File> {
    let attributes = Attributes {
        kind: BREAKPOINT,
        size: size_of::<Attributes>() as u32,
        config: 0,
        sample_period: 0,
        sample_kind: 0,
        read_format: 0,
        flags: OFF_AND_OF_THE_PROGRAM,
        wakeup: 0,
        access: READ_OR_WRITE,
        address,
        bytes,
    };
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // SAFETY: the attributes are as large as they say; what comes back is a new descriptor or an error.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC) as i32
    };
    // SAFETY: the descriptor is new, and nobody else's.
    (fd >= 0).then(|| unsafe { File::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_word_of_a_range_are_watched() {
        assert_eq!(words(&(16..64)), [(16, 8), (56, 8)]);
        assert_eq!(words(&(4..18)), [(4, 4), (16, 2)]);
        assert_eq!(words(&(8..16)), [(8, 8)]);
        assert_eq!(words(&(3..4)), [(3, 1)]);
        assert_eq!(words(&(5..5)), []);
    }

    #[test]
    fn uses_are_counted_while_it_is_on() {
        let mut memory = vec![0u64; 8];
        let start = memory.as_mut_ptr();
        let from = start as u64;
        // Some systems give no registers.
        let Some(watch) = Watch::new(&(from..from + 64)) else { return };
        let read = |i: usize| {
            // SAFETY: it is one of the vector's elements.
            unsafe { start.add(i).read_volatile() }
        };
        read(0);
        watch.set(true);
        read(3);
        assert!(!watch.was_used());
        read(7);
        watch.set(false);
        assert!(watch.was_used());
    }
}
