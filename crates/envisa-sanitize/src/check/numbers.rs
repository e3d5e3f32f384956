//! Numbers of what is used again and again.

/// No number.
pub(super) const NOBODY: u32 = u32::MAX;

/// Numbers in use.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Those from here on are free.
    pub used: usize,
    /// And these.
    pub free: Vec<u32>,
}

impl Numbers {
    /// The one that is taken next.
    pub fn next(&self) -> usize {
        self.free.last().map_or(self.used, |n| *n as usize)
    }

    /// One that is free.
    pub fn take(&mut self) -> Option<usize> {
        if let Some(n) = self.free.pop() {
            return Some(n as usize);
        }
        let number = u32::try_from(self.used).ok().filter(|n| *n != NOBODY)?;
        self.used += 1;
        Some(number as usize)
    }

    pub fn clear(&mut self) {
        self.used = 0;
        self.free.clear();
    }
}
