//! Means of texels that are no bytes: sums of doubles, texel by texel, as the machine makes them.

use super::image::{Place, TEXELS};
use super::memory::ON;
use super::*;
use crate::image_variants::Source;
use envisa_lower::Sample;
use envisa_sem::sampler::NAN;

impl Emit<'_> {
    /// Means of texels that are no bytes, of eight of a message's channels at a time.
    pub(super) fn sample_sums(
        &mut self,
        pc: Pc,
        p: &mut Place<'_>,
        s: &Sample,
        at: [Option<RegOffset>; 3],
        (data, on): (RegOffset, Option<K>),
    ) -> Result<(), Unsupported> {
        let whole = p.part;
        let channels = || (0..4usize).filter(|c| s.channels >> c & 1 != 0);
        // Where the results of the first eight wait for the others: no call is made meanwhile.
        let wait = |c: usize, half: u32| Mem::at(CTX, at::VECTORS + 64 * c as u32 + 32 * half);
        for half in 0..whole.lanes / 8 {
            p.part = Part { lanes: 8, lane: whole.lane + 8 * half, width: Width::Y, ..whole };
            let here = at.map(|at| at.map(|at| at + 32 * half));
            let (along, layer) = self.directions(p, here)?;
            for a in &along {
                let (from, to) = (a.weight.ok_or("a weight")?, p.pool.take()?);
                self.a.v2(VCVTPS2PD, Width::Z, to, Opd::Reg(from), Lanes::All);
                p.pool.give(from);
                p.counts.push(to);
            }
            for c in channels() {
                let source = p.kind.texel.source(c as u32);
                if !matches!(source, Source::Zero | Source::One) {
                    let v = p.pool.take()?;
                    self.a.v3(VPXORD, Width::Z, v, v, Opd::Reg(v), Lanes::All);
                    p.sums[c] = Some(v);
                }
            }
            self.rows(p, &along, layer)?;
            std::mem::take(&mut p.counts).into_iter().for_each(|v| p.pool.give(v));
            let mut to = data + 4 * p.part.lane;
            for c in channels() {
                let v = match p.sums[c].take() {
                    Some(v) => {
                        self.a.v2(VCVTPD2PS, Width::Z, v, Opd::Reg(v), Lanes::All);
                        let nan = self.literal(NAN);
                        self.a.vcmp(VCMPPS, Width::Y, TEXELS, v, Opd::Reg(v), 3, None);
                        self.a.v2(VPBROADCASTD, Width::Y, v, Opd::Mem(nan), Lanes::Of(TEXELS));
                        v
                    }
                    None => {
                        let v = p.pool.take()?;
                        self.fixed_channel(p, p.kind.texel.source(c as u32), v);
                        v
                    }
                };
                if whole.lanes == 8 {
                    let k = self.load_lanes(pc, to, on);
                    self.store_part(to, v, 4, &p.part, k)?;
                } else {
                    self.a.store(STORE32, Width::Y, wait(c, half), v, Lanes::All);
                }
                p.pool.give(v);
                to += s.component_stride;
            }
        }
        p.part = whole;
        if whole.lanes == 16 {
            let mut to = data + 4 * whole.lane;
            for c in channels() {
                let v = p.pool.take()?;
                self.a.v2(VMOVDQU32, Width::Z, v, Opd::Mem(wait(c, 0)), Lanes::All);
                let k = self.load_lanes(pc, to, on);
                self.store_part(to, v, 4, &whole, k)?;
                p.pool.give(v);
                to += s.component_stride;
            }
        }
        Ok(())
    }

    /// Adds a row's texels to the sums; its offset's vector is free afterwards.
    pub(super) fn add_row(
        &mut self,
        p: &mut Place<'_>,
        columns: &[V],
        row: V,
        (second_row, second_plane): (bool, bool),
    ) -> Result<(), Unsupported> {
        let (z, all) = (Width::Z, Lanes::All);
        // The other half's channels are not asked for before their turn.
        let counts = ON[(p.part.index as usize + 1) & 1];
        let one = self.literals(std::array::from_fn(|k| if k % 2 == 1 { 0x3ff0_0000 } else { 0 }));
        let zero = self.literals([0; 16]);
        for (n, x) in columns.iter().enumerate() {
            let (offset, weight, t) = (p.pool.take()?, p.pool.take()?, p.pool.take()?);
            self.a.v3(VPADDD, p.part.width, offset, row, Opd::Reg(*x), all);
            for (axis, second) in [n == 1, second_row, second_plane].into_iter().enumerate() {
                let Some(&count) = p.counts.get(axis) else { continue };
                let to = if axis == 0 { weight } else { t };
                self.a.v2(VMOVDQU64, z, to, if second { Opd::Reg(count) } else { Opd::Mem(one) }, all);
                if !second {
                    self.a.v3(VSUBPD, z, to, to, Opd::Reg(count), all);
                }
                if axis > 0 {
                    self.a.v3(VMULPD, z, weight, weight, Opd::Reg(t), all);
                }
            }
            // What does not count may be anything.
            self.a.vcmp(VCMPPD, z, counts, weight, Opd::Mem(zero), 6, None);
            for c in 0..4 {
                let Some(sum) = p.sums[c] else { continue };
                self.texels_at(p, p.kind.texel.source(c as u32), offset, n, t)?;
                self.a.v2(VCVTPS2PD, z, t, Opd::Reg(t), all);
                self.a.v3(VMULPD, z, t, weight, Opd::Reg(t), all);
                self.a.v3(VADDPD, z, sum, sum, Opd::Reg(t), Lanes::Of(counts));
            }
            [offset, weight, t].into_iter().for_each(|v| p.pool.give(v));
        }
        p.pool.give(row);
        Ok(())
    }
}
