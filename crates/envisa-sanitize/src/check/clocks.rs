//! How far threads had come, by memory.

use envisa_lower::fence;

use super::races_in_group::SLM;

/// How far each thread had come.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(pub Vec<u32>);

impl Clock {
    pub fn get(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = (*a).max(*b);
        }
    }

    pub fn set(&mut self, thread: u32, to: u32) {
        let t = thread as usize;
        if self.0.len() <= t {
            self.0.resize(t + 1, 0);
        }
        self.0[t] = to;
    }
}

/// By memory: of what others did there, up to when it is known.
pub(super) type Known = [Clock; MEMORIES.len()];

/// Bit of a fence that covers images, beside those of [`fence`]: one of global memory does so, unless it is told otherwise.
pub(super) const IMAGES: u32 = 1 << 31;

/// The bits of fences of each memory that is told apart, and whose index a key has.
pub(super) const MEMORIES: [u32; 3] = [fence::GLOBAL, fence::LOCAL, IMAGES];

/// The index of the memory that images are.
pub(super) const OF_IMAGES: usize = 2;

/// The memory that a key is of, if it is of no image.
pub(super) fn memory(key: u64) -> usize {
    usize::from(key & SLM != 0)
}
