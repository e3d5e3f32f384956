//! The shadow of shared local memory: for each dword, the last write, the last read, and a read of another work-item than that,
//! of the interval between two barriers that runs. Native code keeps it for an observer that looks for races, and stops at
//! what may be one.
//!
//! An access is a word: the number of its interval, the number of its message, the thread and the channel, from the highest
//! bits on. What is less than the interval's first word belongs to earlier intervals; zero is no access of the group.

use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of local memory that have a shadow, and of each of its parts.
pub const BYTES: u32 = 1 << 17;
const DWORDS: usize = BYTES as usize / 4;

/// The bits of a word that say who makes an access.
pub const CHANNEL_BITS: u32 = 0x1f;
/// The same of the thread alone.
pub const THREAD_BITS: u32 = 0xfe0;
/// The lowest bit of the thread.
pub const THREAD: u32 = 5;
/// The lowest bit of the message's number.
pub const MESSAGE: u32 = 12;
/// The lowest bit of the interval's number.
pub const INTERVAL: u32 = 22;
/// Threads of a group that have a number.
pub const MOST_THREADS: u32 = 1 << (MESSAGE - THREAD);
/// Messages that have a number.
pub const MOST_MESSAGES: usize = 1 << (INTERVAL - MESSAGE);
/// Intervals that have a number.
pub const MOST_INTERVALS: u32 = 1 << (32 - INTERVAL);

/// The parts of a shadow, one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The last write.
    Write = 0,
    /// The last read that a work-item made which had not read since another one did.
    Read = 1,
    /// A read of another work-item than that.
    Other = 2,
}

/// The shadow of a group's local memory.
#[derive(Debug)]
pub struct Shadow(Box<[AtomicU32]>);

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow((0..3 * DWORDS).map(|_| AtomicU32::new(0)).collect())
    }
}

impl Shadow {
    /// The word of a dword.
    pub fn get(&self, part: Part, dword: usize) -> u32 {
        self.part(part).get(dword).map_or(0, |w| w.load(Ordering::Relaxed))
    }

    /// Changes the word of a dword.
    pub fn set(&self, part: Part, dword: usize, word: u32) {
        if let Some(w) = self.part(part).get(dword) {
            w.store(word, Ordering::Relaxed);
        }
    }

    /// The words of a part, dword by dword.
    pub fn part(&self, part: Part) -> &[AtomicU32] {
        &self.0[part as usize * DWORDS..][..DWORDS]
    }

    /// All words, as native code finds them.
    pub fn words(&self) -> &[AtomicU32] {
        &self.0
    }
}

/// What native code notes the accesses of a thread with.
#[derive(Clone, Copy, Debug)]
pub struct Noting<'a> {
    /// Where.
    pub shadow: &'a Shadow,
    /// The last word of earlier intervals; 0 if nothing is to be noted: native code stops at each message then.
    pub earlier: u32,
    /// The word of an access by the thread's first channel, by message 0.
    pub first: u32,
}

/// Messages whose accesses native code may note.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Noted {
    /// Their program counters, in the order of their numbers.
    pub messages: Vec<u32>,
    /// The channels of a thread are in order among themselves.
    pub in_step: bool,
}
