//! Numbers of channels, which programs make of constants in parts: they are written whole, where the last part is made.
//!
//! Who reads a vector that was stored in parts waits for all of these stores.

use envisa_lower::analysis::{LaneVector, lane_vectors};

use super::*;

impl Emit<'_> {
    /// Such vectors, by what makes them: nothing is done for a part, and for the last one all of it is written.
    pub(super) fn find_lane_vectors(&self) -> Map<Pc, Option<LaneVector>> {
        let first_block = 0..self.blocks.first().copied().unwrap_or(0);
        let mut all = Map::default();
        if !self.stops.is_empty() || self.cells.are_shared() {
            // Code may be left anywhere, or is that of a function.
            return all;
        }
        for v in lane_vectors(self.p.parts(), |pc| first_block.contains(&pc)) {
            let in_run = |pc: &Pc| self.runs.iter().any(|r| (r.first..r.end).contains(pc));
            let alone = |pc: &Pc| {
                let mut inside = true;
                self.cells.accesses(self.p.parts(), *pc, &mut |a| {
                    let c = self.cells.get(a.cell);
                    inside &= !a.write || v.at <= c.offset && c.offset + c.bytes <= v.at + 64;
                });
                inside && !self.deferred.skips(*pc) && !in_run(pc)
            };
            let Some((last, before)) = v.makers.split_last() else { continue };
            if before.is_empty() || self.in_memory(v.at, 64).is_err() || !v.makers.iter().all(alone) {
                continue;
            }
            all.extend(before.iter().map(|pc| (*pc, None)));
            all.insert(*last, Some(v.clone()));
        }
        all
    }

    /// Writes a vector of numbers.
    pub(super) fn put_lane_vector(&mut self, v: &LaneVector) {
        let dword = |k: usize| u32::from(v.words[2 * k]) | u32::from(v.words[2 * k + 1]) << 16;
        let from = self.literals(std::array::from_fn(dword));
        self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(from), Lanes::All);
        let to = self.reg(v.at);
        self.a.store(STORE32, Width::Z, to, 0, Lanes::All);
    }
}
