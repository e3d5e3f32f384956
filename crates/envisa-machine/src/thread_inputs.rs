//! Which parts of threads' images of inputs differ from thread to thread, and what is there.

use std::ops::Range;

/// Where a group's ids in x, y and z are in an image.
pub const GROUP_IDS: [Range<u32>; 3] = [4..8, 24..28, 28..32];
/// Bytes of r0, with which an image begins, that are a thread's own or its group's.
pub const OF_THREAD: Range<u32> = 0..32;

/// The inputs of a launch's threads.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Work-items of a group.
    pub local: [u32; 3],
    /// Where in an image local ids are, a row for each dimension.
    pub payload: Range<u32>,
    /// Bytes from the ids of one dimension to those of the next; 0 where there are no such rows.
    pub row_bytes: u32,
    /// Where else images of different groups differ.
    pub others: Vec<Range<u32>>,
    /// All groups have so many work-items; else the last ones have fewer.
    pub even: bool,
}

impl Inputs {
    /// Have all threads the same bytes in this part of their images?
    pub fn is_same(&self, part: Range<u32>) -> bool {
        let varying = [&OF_THREAD, &self.payload].into_iter().chain(&self.others);
        varying.into_iter().all(|v| v.end <= part.start || part.end <= v.start)
    }

    /// Of which dimension the local ids are whose row begins there in an image.
    pub fn dimension_of(&self, image: u32) -> Option<usize> {
        let at = image.checked_sub(self.payload.start).filter(|_| self.payload.contains(&image))?;
        let row = at.checked_div(self.row_bytes)?;
        (row < 3 && row * self.row_bytes == at).then_some(row as usize)
    }
}
