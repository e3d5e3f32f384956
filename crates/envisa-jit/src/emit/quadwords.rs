//! Quads, of which a register has eight.

use super::*;

impl Emit<'_> {
    /// Moves quads, consecutive ones (`row`) or one for all, a register at a time.
    pub(super) fn move_quads(
        &mut self,
        pc: Pc,
        part: &Part,
        (m, row, write): (Mem, bool, bool),
        to: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        for h in self.halves_on(pc, part) {
            let to = to + 64 * h;
            let k = self.mask_of_eight(on, h);
            if write {
                let v = self.data_in(to, 64, 0)?;
                self.a.store(STORE64, Width::Z, m.plus(64 * h), v, k.map_or(Lanes::All, Lanes::Of));
            } else {
                let loaded = if self.load_lanes(pc, to, on).is_some() { k } else { None };
                let v = self.home(to, 64);
                let dst = v.unwrap_or(0);
                // What is off may lie outside.
                let l = match (v, loaded, k) {
                    (Some(_), Some(k), _) => Lanes::Of(k),
                    (_, _, Some(k)) => Lanes::Zero(k),
                    _ => Lanes::All,
                };
                if row {
                    self.a.v2(VMOVDQU64, Width::Z, dst, Opd::Mem(m.plus(64 * h)), l);
                } else {
                    self.a.v2(VPBROADCASTQ, Width::Z, dst, Opd::Mem(m), l);
                }
                if v.is_none() {
                    let sub = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
                    self.store_part(to, 0, 8, &sub, loaded)?;
                }
            }
        }
        Ok(())
    }

    /// The eights of a part's channels any of which may run.
    pub(super) fn halves_on(&self, pc: Pc, part: &Part) -> Vec<u32> {
        let i = self.inst(pc);
        (0..part.lanes.div_ceil(8))
            .filter(|h| self.may_run(i, part.channel + 8 * h, part.lanes.min(8)))
            .collect()
    }

    /// A mask of eight channels of sixteen.
    pub(super) fn mask_of_eight(&mut self, on: Option<K>, h: u32) -> Option<K> {
        let k = on?;
        if h == 0 {
            return Some(k);
        }
        self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(7), mask_register(k), 8);
        Some(7)
    }
}
