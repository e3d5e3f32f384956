//! Counts, for each instruction, how often an engine asked the machine to execute it. Only tests read the counts: such
//! instructions give right results, but run slowly.

use std::sync::atomic::{AtomicU64, Ordering};

use envisa_lower::{Pc, Program};

/// Counts, by program counter.
#[derive(Debug)]
pub struct FallbackCounts(Vec<AtomicU64>);

impl FallbackCounts {
    /// None yet, of a program's instructions.
    pub fn new(p: &Program) -> FallbackCounts {
        FallbackCounts(p.code().iter().map(|_| AtomicU64::new(0)).collect())
    }

    /// Once more.
    pub fn count(&self, pc: Pc) {
        if let Some(n) = self.0.get(pc as usize) {
            n.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often, by program counter.
    pub fn counts(&self) -> Vec<u64> {
        self.0.iter().map(|n| n.load(Ordering::Relaxed)).collect()
    }
}
