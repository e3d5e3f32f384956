//! Instructions whose operands are found through address registers: dwords that each channel finds by itself.

use super::pointed::Found;
use super::*;

impl Emit<'_> {
    /// An instruction with operands that are found by address registers.
    pub(super) fn indirect(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
        let before = (self.a.here(), self.later.len());
        if self.gather_dwords(pc, i)? {
            return Ok(());
        }
        self.a.back(before.0);
        self.later.truncate(before.1);
        self.pointed(pc, i)
    }

    /// A move of dwords that each channel finds by an address of its own: `false` if it is none. An address that is no
    /// variable's goes the slow way, which faults.
    fn gather_dwords(&mut self, pc: Pc, i: &Inst) -> Result<bool, Why> {
        let Src::Indirect { per_address_log2: 0, ty: from, modifier: Modifier::None, .. } = i.src[0] else {
            return Ok(false);
        };
        let (Some(f), Dst::Reg { offset: to, ty, stride: 1, sat: false }) = (Found::source(&i.src[0]), i.dst)
        else {
            return Ok(false);
        };
        let n = u32::from(i.channels);
        if i.op != Op::Mov || ty.size() != 4 || from.size() != 4 || ty.is_float() != from.is_float() || n < 8
        {
            return Ok(false);
        }
        let parts = self.parts(i, 4)?;
        let (entry, back) = (self.a.label(), self.a.label());
        let r = self.p.registers();
        let homes = r.address_base..r.address_base + 64 * r.address_homes.len() as u32;
        let written = to..to + 4 * n;
        if parts.len() > 1 && written.start < homes.end && homes.start < written.end {
            return Ok(false);
        }
        // All addresses are looked at before anything is written.
        for part in &parts {
            let on = self.on(pc, part)?;
            self.places(f, part, 6 + part.index as u8, on, Some(entry))?;
        }
        for part in &parts {
            let (v, w) = (6 + part.index as u8, part.width);
            let on = self.transfer_mask(pc, part);
            let to = to + 4 * part.lane;
            match on {
                Some(on) => self.a.rrr(Code::VEX_Korw_kr_kr_kr, kreg(5), kreg(on), kreg(on)),
                None => {
                    self.a.ri(Code::Mov_r32_imm32, Register::EAX, (1 << part.lanes) - 1);
                    self.a.rr(Code::VEX_Kmovw_kr_r32, kreg(5), Register::EAX);
                }
            }
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            let m = Mem::indexed(REGS, Register::None, 1, i64::from(homes.start));
            self.a.gather(VPGATHERDD, w, 0, m, v, 5);
            let mask = self.lanes(pc, part, to)?;
            self.store_part(to, 0, 4, part, mask)?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(true)
    }
}
