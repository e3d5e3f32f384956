//! What a thread's registers hold when it starts.

use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_lower::{InputClass, Program};

use crate::dispatch::Prepared;
use crate::regs::all_channels;
use crate::thread::{Mask, Thread};

/// What a thread's registers start with, worked out once.
pub(crate) struct Loader {
    /// `(register, image, bytes)`: the inputs.
    copies: Vec<(u32, u32, u32)>,
    /// Those that differ from thread to thread, or that the program overwrites.
    again: Vec<(u32, u32, u32)>,
    /// Everything that is not a constant.
    all: Range<u32>,
    /// What the program writes of that, and may read before it does.
    fresh: Vec<Range<u32>>,
    /// What the program writes of that, and never reads before it does.
    stale: Vec<Range<u32>>,
    /// All channels.
    full: Mask,
}

impl Loader {
    pub fn new(p: &Program, prepared: &Prepared) -> Loader {
        let r0 = p.registers.predefined[var::R0 as usize];
        let image = prepared.image.len() as u32;
        let mut copies = vec![(r0, 0, 64.min(image))];
        let mut add = |to: u32, from: u32, bytes: u32| {
            let bytes = bytes.min(image.saturating_sub(from));
            if bytes == 0 {
                return;
            }
            // Neighbours in both become one copy.
            if let Some(last) = copies.last_mut()
                && copies_meet(*last, (to, from))
            {
                last.2 += bytes;
                return;
            }
            copies.push((to, from, bytes));
        };
        for i in &p.inputs {
            if i.class == InputClass::General {
                add(i.offset, i.image, i.bytes);
            } else {
                add(i.offset, i.image, 4);
            }
        }
        let written = written(p);
        let meet = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
        let varying: Vec<Range<u32>> = prepared.varying().collect();
        let again = copies
            .iter()
            .filter(|(to, from, bytes)| {
                let (to, from) = (*to..to + bytes, *from..from + bytes);
                varying.iter().any(|v| meet(v, &from)) || written.iter().any(|w| meet(w, &to))
            })
            .copied()
            .collect();
        let mut fresh: Vec<Range<u32>> = Vec::new();
        let mut stale = Vec::new();
        for w in &written {
            let mut at = w.start;
            for f in p.registers.fresh.iter().filter(|f| meet(w, f)) {
                let both = w.start.max(f.start)..w.end.min(f.end);
                stale.push(at..both.start);
                at = both.end;
                fresh.push(both);
            }
            stale.push(at..w.end);
        }
        stale.retain(|s| !s.is_empty());
        Loader {
            copies,
            again,
            all: p.registers.constants.len() as u32..p.registers.bytes,
            fresh,
            stale,
            full: all_channels(p.simd as usize),
        }
    }

    /// For engines that zero themselves what threads with all channels read before they write it, from
    /// `zeroed_from` on, and that say which registers these read.
    pub fn trim(&mut self, zeroed_from: u32, reads: &dyn Fn(Range<u32>) -> bool) {
        self.again.retain(|(to, _, bytes)| reads(*to..to + bytes));
        self.fresh.retain(|r| r.start < zeroed_from && reads(r.clone()));
    }

    /// Makes a register file ready for a thread that starts with these channels.
    pub fn load(&self, t: &mut Thread, image: &[u8], channels: Mask) {
        let whole = !t.loaded || channels != self.full;
        // After a thread that lacks channels everything is as at the very start.
        t.loaded = true;
        if whole {
            t.regs.slice_mut(self.all.start, self.all.end - self.all.start).fill(0);
        } else {
            if cfg!(debug_assertions) {
                // Tests see to it that what is not cleared is not read.
                for r in &self.stale {
                    t.regs.slice_mut(r.start, r.end - r.start).fill(0xa5);
                }
            }
            for r in &self.fresh {
                t.regs.slice_mut(r.start, r.end - r.start).fill(0);
            }
        }
        for (to, from, bytes) in if whole { &self.copies } else { &self.again } {
            let from = &image[*from as usize..(*from + *bytes) as usize];
            let to = t.regs.slice_mut(*to, *bytes);
            if to.len() == from.len() {
                copy(to, from);
            }
        }
    }
}

/// Copies few bytes: whole registers without a call, and with stores as large as the loads that follow.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<64>();
    let (from, from_rest) = from.as_chunks::<64>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    let (to, to_rest) = to_rest.as_chunks_mut::<32>();
    let (from, from_rest) = from_rest.as_chunks::<32>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    if !from_rest.is_empty() {
        to_rest.copy_from_slice(from_rest);
    }
}

/// Chunks of the register file that the program writes, as ranges of bytes in ascending order.
fn written(p: &Program) -> Vec<Range<u32>> {
    let r = &p.registers;
    let mut chunks = vec![false; r.bytes.div_ceil(64) as usize];
    let mut mark = |range: Range<u32>| {
        for c in range.start / 64..range.end.div_ceil(64) {
            if let Some(c) = chunks.get_mut(c as usize) {
                *c = true;
            }
        }
    };
    let anywhere = r.address_base..r.address_base + 64 * r.address_homes.len() as u32;
    for i in &p.code {
        i.writes(p, &mut |t| mark(t.range(i.channels as u32).unwrap_or(anywhere.clone())));
    }
    // Of a call that saves them, a function's own variables are written on return.
    p.functions.iter().flat_map(|f| &f.locals).for_each(|l| mark(l.clone()));
    // Written by a thread's start.
    for id in [var::R0, var::HW_ID, var::SR0, var::GROUP_ID_X, var::GROUP_ID_Y, var::GROUP_ID_Z] {
        mark(r.predefined[id as usize]..r.predefined[id as usize] + 4);
    }
    let mut out: Vec<Range<u32>> = Vec::new();
    for c in (0..chunks.len()).filter(|c| chunks[*c]) {
        let at = c as u32 * 64;
        match out.last_mut() {
            Some(last) if last.end == at => last.end += 64,
            _ => out.push(at..at + 64),
        }
    }
    out
}

fn copies_meet(last: (u32, u32, u32), next: (u32, u32)) -> bool {
    last.0 + last.2 == next.0 && last.1 + last.2 == next.1 && last.1 != 0
}
