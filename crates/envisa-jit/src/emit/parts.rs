//! The parts of an instruction that are done at once, and the masks of their channels.

use super::*;

/// A part of an instruction: as many lanes as one vector register holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Which.
    pub index: u32,
    /// Lanes.
    pub lanes: u32,
    /// First lane, counted in the instruction.
    pub lane: u32,
    /// The first lane's channel.
    pub channel: u32,
    /// Of the type that it computes in.
    pub width: Width,
    /// Bytes of that type.
    pub bytes: u32,
}

impl Emit<'_> {
    /// The parts of an instruction whose channels compute in a type of so many bytes, but for those whose channels are
    /// off whenever it is executed. There is one at least.
    pub fn parts(&self, i: &Inst, bytes: u32) -> Result<Vec<Part>, Unsupported> {
        let all = self.all_parts(i, bytes)?;
        let on: Vec<Part> = all.iter().filter(|p| self.may_run(i, p.channel, p.lanes)).copied().collect();
        Ok(if on.is_empty() { all } else { on })
    }

    /// May any of so many channels run when the instruction at hand, or one that is executed with it, is executed?
    pub fn may_run(&self, i: &Inst, channel: u32, lanes: u32) -> bool {
        i.no_mask || lanes == 1 || self.active.at(self.now) >> channel & (u32::MAX >> (32 - lanes)) != 0
    }

    /// Is the first channel of a part the only one of it that may run then?
    pub fn runs_alone(&self, i: &Inst, part: &Part) -> bool {
        let of = u32::MAX >> (32 - part.lanes);
        part.lanes > 1 && !i.no_mask && self.active.at(self.now) >> part.channel & of == 1
    }

    /// The parts of all channels.
    pub fn all_parts(&self, i: &Inst, bytes: u32) -> Result<Vec<Part>, Unsupported> {
        let n = u32::from(i.channels);
        if n == 1 {
            let channel = i.first.into();
            return Ok(vec![Part { index: 0, lanes: 1, lane: 0, channel, width: Width::X, bytes }]);
        }
        if n < 8 {
            return Err("fewer than eight channels");
        }
        let lanes = n.min(64 / bytes);
        Ok((0..n / lanes)
            .map(|index| Part {
                index,
                lanes,
                lane: index * lanes,
                channel: u32::from(i.first) + index * lanes,
                width: Width::of(lanes * bytes),
                bytes,
            })
            .collect())
    }

    /// Would a later part read what an earlier one wrote?
    pub fn hazard(&self, i: &Inst, parts: &[Part]) -> bool {
        let Dst::Reg { offset: to, ty, stride, .. } = i.dst else { return false };
        if parts.len() < 2 {
            return false;
        }
        let written = |p: &Part| {
            let step = u32::from(stride) * ty.size();
            to + p.lane * step..to + (p.lane + p.lanes) * step
        };
        i.src.iter().any(|s| {
            let Src::Reg { offset, ty, strides, constant: false, .. } = *s else { return false };
            let read = |p: &Part| {
                let (mut low, mut high) = (u32::MAX, 0);
                for l in p.lane..p.lane + p.lanes {
                    let e = offset + strides.element(l) * ty.size();
                    (low, high) = (low.min(e), high.max(e + ty.size()));
                }
                low..high
            };
            parts.iter().enumerate().any(|(k, a)| {
                parts[k + 1..].iter().any(|b| {
                    let (w, r) = (written(a), read(b));
                    w.start < r.end && r.start < w.end
                })
            })
        })
    }

    /// The execution mask of a part in a mask register; `MASK` may be overwritten.
    pub fn exec(&mut self, part: &Part) -> K {
        let k = EXEC[(part.channel / 16) as usize & 1];
        match part.channel % 16 {
            0 => k,
            _ => {
                // A part may begin in one of the two and end in the other.
                let all = [MASK, EXEC[1], EXEC[0]].map(mask_register);
                self.a.rrr(Code::VEX_Kunpckwd_kr_kr_kr, all[0], all[1], all[2]);
                self.a.rri(
                    Code::VEX_Kshiftrd_kr_kr_imm8,
                    mask_register(MASK),
                    mask_register(MASK),
                    part.channel as i32,
                );
                MASK
            }
        }
    }

    /// A predicate's bits of a part, as they are, in `k`; registers 1 to 5 may be overwritten where it is made here.
    pub fn pred(&mut self, offset: RegOffset, part: &Part, k: K) -> Result<(), Unsupported> {
        if let Some(chain) = self.deferred.pred(self.now, offset) {
            return self.chain(chain, part, k, None);
        }
        self.kept_pred(offset, part, k)
    }

    /// The same of one that is where it is kept.
    pub fn kept_pred(&mut self, offset: RegOffset, part: &Part, k: K) -> Result<(), Unsupported> {
        let m = self.reg(offset + part.channel / 8);
        match part.channel % 8 {
            0 if part.lanes == 16 => self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(k), m),
            0 => self.a.rm(Code::VEX_Kmovb_kr_km8, mask_register(k), m),
            _ => return Err("channels that do not begin at a byte"),
        }
        Ok(())
    }

    /// Writes a predicate's bits of a part.
    pub fn set_pred(&mut self, pc: Pc, offset: RegOffset, part: &Part, k: K) -> Result<(), Unsupported> {
        let i = self.inst(pc);
        if !part.channel.is_multiple_of(8) {
            return Err("channels that do not begin at a byte");
        }
        let id = self.cells.at(offset).ok_or("a predicate that is no cell")?;
        let all = i.no_mask || self.all_active(pc) || self.live.may_write_unmasked(pc, id);
        if !all {
            // Bits of channels that are off stay.
            let e = self.exec(part);
            self.a.kkk(Code::VEX_Kandw_kr_kr_kr, k, k, e);
            self.kept_pred(offset, part, 5)?;
            self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, 5, e, 5);
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, k, k, 5);
        }
        let m = self.reg(offset + part.channel / 8);
        if part.lanes == 16 {
            self.a.mr(Code::VEX_Kmovw_m16_kr, m, mask_register(k));
        } else {
            self.a.mr(Code::VEX_Kmovb_m8_kr, m, mask_register(k));
        }
        Ok(())
    }

    /// The lanes that a part of an instruction writes of a destination: `None` for all of them.
    pub fn lanes(&mut self, pc: Pc, part: &Part, to: RegOffset) -> Result<Option<K>, Unsupported> {
        self.held = self.find_lanes(pc, part, to)?;
        Ok(self.held)
    }

    pub(super) fn find_lanes(
        &mut self,
        pc: Pc,
        part: &Part,
        to: RegOffset,
    ) -> Result<Option<K>, Unsupported> {
        let i = self.inst(pc);
        let predicated = i.pred.offset != 0 && i.op != Op::Sel;
        let id = self.cells.at(to).ok_or("a destination that is no cell")?;
        let exec =
            !(i.no_mask || self.all_active(pc) || (!predicated && self.live.may_write_unmasked(pc, id)));
        if !predicated {
            return Ok(exec.then(|| self.exec(part)));
        }
        if i.pred.combine != Combine::None {
            return Err("a predicate of all channels");
        }
        self.pred(i.pred.offset, part, PRED)?;
        if i.pred.invert {
            self.a.kk(Code::VEX_Knotw_kr_kr, PRED, PRED);
        }
        if exec {
            let e = self.exec(part);
            self.a.kkk(Code::VEX_Kandw_kr_kr_kr, PRED, PRED, e);
        }
        Ok(Some(PRED))
    }
}
