//! Blocks that the application has of the C library, and whether memory that it gives is as large as it says. Looked at only while
//! mistakes are looked for.
//!
//! `freed_memory` tells of blocks as they come and go. A block that was there before it listened is not
//! known, nor are variables and memory of other allocators: of these nothing is said.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// What the application asked for.
    bytes: u64,
    /// What the C library said of its size.
    usable: u64,
}

/// Blocks by their addresses.
static BLOCKS: Mutex<BTreeMap<u64, Block>> = Mutex::new(BTreeMap::new());
/// A block came or went that was not noted: nothing is known any more.
static LOST: AtomicBool = AtomicBool::new(false);

/// How often it is tried to note a block: whoever holds the list may be a thread that a new process does not have.
const TRIES: u32 = 10_000;

/// The list; none once it is no longer right.
fn lock_blocks() -> Option<MutexGuard<'static, BTreeMap<u64, Block>>> {
    for _ in 0..TRIES {
        if LOST.load(Ordering::Relaxed) {
            return None;
        }
        match BLOCKS.try_lock() {
            Ok(blocks) => return Some(blocks),
            Err(TryLockError::Poisoned(_)) => break,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    LOST.store(true, Ordering::Relaxed);
    None
}

/// The application has a block of this size now, of which the C library says that it has so many bytes.
pub fn note_allocated_block(at: u64, bytes: u64, usable: u64) {
    if at == 0 {
        return;
    }
    let Some(mut blocks) = lock_blocks() else { return };
    // What was there went without a word.
    while let Some((&old, block)) = blocks.range(..at + bytes.max(1)).next_back()
        && old + block.bytes.max(1) > at
    {
        blocks.remove(&old);
    }
    blocks.insert(at, Block { bytes, usable });
}

/// How many bytes a block has, as the C library says; zero of none.
#[allow(unsafe_code)]
pub(crate) fn usable_size(pointer: *mut c_void) -> u64 {
    // SAFETY: it is a block of the C library's, or null; or the words before it can be read, from which the size is told.
    unsafe { libc::malloc_usable_size(pointer) as u64 }
}

/// A block is no more.
pub fn note_freed_block(at: u64) {
    if let Some(mut blocks) = lock_blocks() {
        blocks.remove(&at);
    }
}

/// The block in which an address is.
fn block(at: u64) -> Option<(u64, Block)> {
    let blocks = lock_blocks()?;
    let (start, block) = blocks.range(..=at).next_back()?;
    (at - start < block.bytes).then_some((*start, *block))
}

/// How many bytes a block has from an address on, if the address is in one.
fn bytes_left_in_block(at: u64) -> Option<u64> {
    let (start, block) = block(at)?;
    let is_there = is_there(start - 8) && usable_size(start as *mut c_void) == block.usable;
    is_there.then(|| start + block.bytes - at)
}

/// Can the application read a byte there?
#[allow(unsafe_code)]
fn is_there(at: u64) -> bool {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: at as *mut _, iov_len: 1 };
    // SAFETY: the system copies one byte to `byte`, or gives an error; nothing else is accessed.
    let copied =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    // Some systems do not allow it.
    copied == 1 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// The application gives memory, of which a command uses all these bytes. Tells of memory that has fewer.
pub fn check_block_size(range: &Range<u64>, does: &str) {
    if !crate::report::is_checking() || range.is_empty() {
        return;
    }
    let bytes = range.end - range.start;
    let text = match bytes_left_in_block(range.start) {
        Some(room) if room < bytes => format!("a block of the program's, which ends after {room}"),
        Some(_) => return,
        None if is_there(range.start) && !is_there(range.end - 1) => {
            "memory of the program, which ends before that".to_owned()
        }
        None => return,
    };
    crate::report::report_host_mistake("host memory", &format!("{bytes} bytes are {does} {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_by_the_addresses_in_it() {
        // Addresses where no memory of a test is.
        let at = |address| block(address).map(|(start, block)| (start, block.bytes));
        note_allocated_block(0x1000, 0x20, 0x28);
        assert_eq!(
            [0xfff, 0x1000, 0x101f, 0x1020].map(at),
            [None, Some((0x1000, 0x20)), Some((0x1000, 0x20)), None]
        );
        note_allocated_block(0x1000, 0x10, 0x18);
        assert_eq!(at(0x1010), None);
        // What is there now takes the place of what was.
        note_allocated_block(0xff8, 0x100, 0x108);
        assert_eq!(at(0x1000), Some((0xff8, 0x100)));
        note_freed_block(0xff8);
        assert_eq!(at(0x1000), None);
    }

    #[test]
    fn a_block_has_room_up_to_what_was_asked_for() {
        let memory = Box::new([0u8; 100]);
        let at = memory.as_ptr() as u64;
        note_allocated_block(at, 100, usable_size(at as *mut c_void));
        assert_eq!(bytes_left_in_block(at + 1), Some(99));
        // It is another one by now.
        note_allocated_block(at, 100, 3);
        assert_eq!(bytes_left_in_block(at + 1), None);
        note_freed_block(at);
    }

    #[test]
    fn memory_that_is_not_mapped_is_not_there() {
        let here = 0u8;
        assert!(is_there(&raw const here as u64));
        // Some systems do not say.
        assert!(!is_there(8) || !is_there(1 << 46));
    }
}
