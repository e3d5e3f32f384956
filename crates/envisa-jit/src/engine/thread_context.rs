//! What generated code keeps of a thread.

use std::ops::Range;

use super::Variant;
use envisa_machine::local_shadow::Noting;

use crate::context_layout::{Site, at};

/// A cache line of a context.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub [u32; 16]);

/// What generated code keeps of a thread, beside its registers.
pub(super) struct Context {
    pub lines: Vec<Line>,
    pub waits: Range<usize>,
    /// Where the addresses of symbols are, and how many.
    symbols: (u32, u32),
}

impl Context {
    pub fn new(v: &Variant, sites: *mut Site, call: *const ()) -> Context {
        let c = &v.compiled;
        let mut it = Context {
            lines: vec![Line([0; 16]); (c.context as usize).div_ceil(64).max(1)],
            waits: at::WAITS as usize / 4..at::WAITS as usize / 4 + c.waits.len(),
            symbols: (c.symbols, v.symbols),
        };
        for (k, x) in c.pool.iter().enumerate() {
            it.set(c.pool_at + 4 * k as u32, *x);
        }
        it.set64(at::SITES, sites as u64);
        it.set64(at::CALL, call as u64);
        it
    }

    /// Puts the addresses of symbols there.
    pub fn link(&mut self, symbols: &[u64]) {
        let (first, count) = self.symbols;
        for k in 0..count {
            // One that the launch does not have is nowhere.
            self.set64(first + 8 * k, symbols.get(k as usize).copied().unwrap_or(0));
        }
    }

    pub fn set(&mut self, at: u32, x: u32) {
        self.lines[at as usize / 64].0[at as usize % 64 / 4] = x;
    }

    pub fn get(&self, at: u32) -> u32 {
        self.lines[at as usize / 64].0[at as usize % 64 / 4]
    }

    pub fn set64(&mut self, at: u32, x: u64) {
        self.set(at, x as u32);
        self.set(at + 4, (x >> 32) as u32);
    }

    /// Puts bytes there, at a multiple of four.
    pub fn put(&mut self, at: u32, bytes: &[u8]) {
        for (k, b) in bytes.chunks(4).enumerate() {
            let mut all = [0; 4];
            all[..b.len()].copy_from_slice(b);
            self.set(at + 4 * k as u32, u32::from_le_bytes(all));
        }
    }

    pub fn get64(&self, at: u32) -> u64 {
        u64::from(self.get(at)) | u64::from(self.get(at + 4)) << 32
    }

    /// What accesses to shared local memory are noted with.
    pub fn note_with(&mut self, noting: Option<Noting<'_>>) {
        for (k, word) in (0..).zip(noting_words(noting)) {
            self.set(at::SHADOW + 4 * k, word);
        }
    }

    /// The channels that wait, by label; nobody does afterwards.
    pub fn take_waiting(&mut self) -> Vec<u32> {
        let all = self.waits.clone().map(|w| self.get(4 * w as u32)).collect();
        self.no_waiting();
        all
    }

    /// So many wait, by label.
    pub fn set_waiting(&mut self, all: &[u32]) {
        for (w, channels) in self.waits.clone().zip(all) {
            self.set(4 * w as u32, *channels);
        }
    }

    /// Nobody waits.
    pub fn no_waiting(&mut self) {
        for w in self.waits.clone() {
            self.set(4 * w as u32, 0);
        }
    }
}

/// What accesses to shared local memory are noted with, as a context has it from [`at::SHADOW`] on.
pub(super) fn noting_words(noting: Option<Noting<'_>>) -> [u32; 4] {
    let Some(Noting { shadow, earlier, first }) = noting else { return [0; 4] };
    let words = shadow.words().as_ptr() as u64;
    [words as u32, (words >> 32) as u32, first, earlier]
}
