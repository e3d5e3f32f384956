//! Dwords that channels get from known places: permuted vectors.

use super::*;

/// Dwords of a vector register.
const LANES: u32 = 16;

impl Emit<'_> {
    pub(super) fn pick(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let (Dst::Reg { offset: to, stride: 1, .. }, Src::Reg { offset: from, .. }) = (i.dst, i.src[0])
        else {
            return Err("a pick of dwords that are not side by side");
        };
        let which = self.p.picks()[i.aux as usize].clone();
        let n = u32::from(i.channels);
        let parts = self.parts(i, 4)?;
        let read = from..from + 4 * n * i.picked_vectors(self.p.parts());
        if parts.len() > 1 && to < read.end && read.start < to + 4 * n {
            return Err("a part would overwrite what a later one reads");
        }
        for part in &parts {
            let which = &which[part.lane as usize..][..part.lanes as usize];
            let mask = self.lanes(pc, part, to + 4 * part.lane)?;
            let whole = mask.is_none() && part.lanes == LANES;
            let home = self.home(to + 4 * part.lane, 4 * part.lanes).filter(|_| whole);
            let v = self.permuted(i, part, which, home.unwrap_or(0))?;
            if home != Some(v) {
                self.store_part(to + 4 * part.lane, v, 4, part, mask)?;
            }
        }
        Ok(())
    }

    /// The dwords of a part's channels; in `to`, if that is none of the registers that they come from.
    fn permuted(&mut self, i: &Inst, part: &Part, which: &[u8], to: V) -> Result<V, Unsupported> {
        let lanes = part.lanes;
        let mut vectors: Vec<u32> = which.iter().map(|k| u32::from(*k) / lanes).collect();
        vectors.sort_unstable();
        vectors.dedup();
        let mut sources = Vec::new();
        for (k, tmp) in vectors.iter().zip(1..) {
            let of = Part { index: *k, lane: k * lanes, channel: u32::from(i.first) + k * lanes, ..*part };
            let source = self.source(i, 0, &of, tmp)?;
            let source = self.in_register(source, &of, tmp);
            if source != tmp && lanes < LANES {
                // What a home has behind a shorter vector is nobody's.
                self.a.v2(VMOVDQU32, part.width, tmp, Opd::Reg(source), Lanes::All);
            }
            sources.push(if lanes < LANES { tmp } else { source });
        }
        let mut places: Vec<u32> = which
            .iter()
            .map(|k| {
                let vector = vectors.iter().position(|v| *v == u32::from(*k) / lanes).unwrap_or(0);
                vector as u32 * LANES + u32::from(*k) % lanes
            })
            .collect();
        places.resize(LANES as usize, 0);
        let places = self.literals(std::array::from_fn(|k| places[k]));
        let to = if sources.contains(&to) { 0 } else { to };
        // Shorter vectors are the lower parts of whole ones.
        self.a.v2(VMOVDQU32, Width::Z, to, Opd::Mem(places), Lanes::All);
        match sources[..] {
            [one] => self.a.v3(VPERMD, Width::Z, to, to, Opd::Reg(one), Lanes::All),
            [one, other] => self.a.v3(VPERMI2D, Width::Z, to, one, Opd::Reg(other), Lanes::All),
            _ => return Err("dwords of more than two vectors"),
        }
        Ok(to)
    }
}
