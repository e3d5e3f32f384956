//! Functions of the math unit.

use super::*;

impl Emit<'_> {
    /// A function of the math unit in single precision.
    pub(super) fn math(&mut self, _: Pc, i: &Inst, part: &Part, to: V, _: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        match i.op {
            Op::Inv => {
                let s = self.source(i, 0, part, 2)?;
                let one = self.literal(1f32.to_bits());
                self.a.v2(VPBROADCASTD, w, 1, Opd::Mem(one), Lanes::All);
                self.a.v3(VDIVPS, w, to, 1, s, lanes);
                Ok(to)
            }
            _ => Err("a function of the math unit"),
        }
    }
}
