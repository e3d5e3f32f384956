//! Elements found through address registers.

use super::each::{Array, PLACE};
use super::*;

/// Where an operand's addresses are, and what is added to each.
#[derive(Clone, Copy)]
struct Found {
    address: RegOffset,
    bytes: i16,
    /// One address is all channels'.
    single: bool,
    /// From one channel to the next, then.
    step: u32,
}

impl Emit<'_> {
    /// A move of dwords that each channel, or all of them together, find by an address register. An address that is
    /// no variable's goes the slow way, which faults.
    pub(super) fn indirect(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
        let Src::Indirect { address, bytes, per_address_log2, ty: from, strides, modifier: Modifier::None } =
            i.src[0]
        else {
            return Err("a source that is no plain register");
        };
        let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else {
            return Err("an unusual destination");
        };
        if i.op != Op::Mov || ty.size() != 4 || from.size() != 4 || ty.is_float() != from.is_float() {
            return Err("an indirect source of a rare kind");
        }
        let n = u32::from(i.channels);
        let single = 1u32 << per_address_log2.min(5) >= n;
        if !single && per_address_log2 != 0 {
            return Err("an address for some channels");
        }
        let step = if single { strides.step(n).ok_or("a region of rows")? * 4 } else { 0 };
        let parts = self.parts(i, 4)?;
        let (entry, back) = (self.a.label(), self.a.label());
        let homes = self.found(pc, &parts, Found { address, bytes, single, step }, entry)?;
        let written = to..to + 4 * n;
        if parts.len() > 1 && written.start < homes.end && homes.start < written.end {
            return Err("a part would overwrite what a later one reads");
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
            // Of one channel, the others' masks are zero.
            self.a.gather(VPGATHERDD, w.max(Width::Y), 0, m, v, 5);
            if part.lanes == 1 {
                let m = self.reg(to);
                self.a.mr(Code::EVEX_Vmovd_rm32_xmm, m, vreg(0, Width::X));
                continue;
            }
            let mask = self.lanes(pc, part, to)?;
            self.store_part(to, 0, 4, part, mask)?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Leaves where elements are, counted from the first variable that addresses may name, in registers 6 and 7; goes to
    /// `entry` where one is none of such a variable. Gives where those variables are.
    fn found(&mut self, pc: Pc, parts: &[Part], of: Found, entry: Label) -> Result<Range<u32>, Why> {
        let Found { address, bytes, single, step } = of;
        let r = self.p.registers();
        // Where the variable ends that a chunk of addresses belongs to.
        if r.address_homes.len() > 32 {
            return Err("a large file of indirect registers");
        }
        let end = |k: usize| r.address_homes.get(k).map_or(0, |h| h.1);
        let ends = [0, 16].map(|first| std::array::from_fn(|k| end(first + k)));
        if parts[0].lanes == 1 {
            self.certain(pc)?;
        }
        if single {
            self.in_memory(address, 2)?;
        }
        let ends = ends.map(|e| self.literals(e));
        // All addresses are looked at before anything is written.
        for part in parts {
            let (v, w) = (6 + part.index as u8, part.width);
            let on = self.on(pc, part)?;
            let at = address + if single { 0 } else { 2 * part.lane };
            if single {
                let m = self.reg(at);
                self.a.rm(Code::Movzx_r32_rm16, Register::EAX, m);
                self.a.rr(SPREAD[w as usize], vreg(v, w), Register::EAX);
            } else {
                let words = self.convertible(at, 2 * part.lanes, v)?;
                self.a.v2(VPMOVZXWD, w, v, words, Lanes::All);
            }
            // Hardware adds in 16 bits.
            let add = |k: u32| (bytes as u16 as u32).wrapping_add(step * (part.lane + k)) & 0xffff;
            if (0..16).any(|k| add(k) != 0) {
                let add = self.literals(std::array::from_fn(|k| add(k as u32)));
                self.a.v3(VPADDD, w, v, v, Opd::Mem(add), Lanes::All);
                let low = self.literal(0xffff);
                self.a.v3(VPANDD, w, v, v, Opd::Bcast(low), Lanes::All);
            }
            // Chunks past the last one end at zero.
            self.a.v2i(VPSRLD, w, 1, Opd::Reg(v), 6, Lanes::All);
            let few = self.literal(32);
            self.a.vcmp(VPCMPUD, w, 5, 1, Opd::Bcast(few), 1, on);
            self.a.v2(VMOVDQU32, Width::Z, 2, Opd::Mem(ends[0]), Lanes::All);
            self.a.v3(VPERMI2D, Width::Z, 1, 2, Opd::Mem(ends[1]), Lanes::All);
            let four = self.literal(4);
            self.a.v3(VPADDD, w, 2, v, Opd::Bcast(four), Lanes::All);
            self.a.vcmp(VPCMPUD, w, 5, 2, Opd::Reg(1), 2, Some(5));
            // Those that pass are those that run.
            match on {
                Some(on) => self.a.rrr(Code::VEX_Kxorw_kr_kr_kr, kreg(5), kreg(5), kreg(on)),
                None => {
                    self.a.ri(Code::Mov_r32_imm32, Register::EAX, (1 << part.lanes) - 1);
                    self.a.rr(Code::VEX_Kmovw_kr_r32, kreg(0), Register::EAX);
                    self.a.rrr(Code::VEX_Kandw_kr_kr_kr, kreg(5), kreg(5), kreg(0));
                    self.a.rrr(Code::VEX_Kxorw_kr_kr_kr, kreg(5), kreg(5), kreg(0));
                }
            }
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(5));
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        Ok(r.address_base..r.address_base + 64 * r.address_homes.len() as u32)
    }

    /// A move of dwords to where each channel, or all of them together, find it by an address register.
    pub(super) fn move_indirect(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
        let Dst::Indirect { address, bytes, per_address_log2, ty, stride, sat: false } = i.dst else {
            return Err("an unusual destination");
        };
        let Src::Reg { offset, ty: from, modifier: Modifier::None, .. } = i.src[0] else {
            return Err("an indirect destination of what is no plain register");
        };
        let n = u32::from(i.channels);
        if i.op != Op::Mov || ty.size() != 4 || from.size() != 4 || ty.is_float() != from.is_float() {
            return Err("an indirect destination of a rare kind");
        }
        let single = 1u32 << per_address_log2.min(5) >= n;
        if !single && per_address_log2 != 0 {
            return Err("an address for some channels");
        }
        let parts = self.parts(i, 4)?;
        let (entry, back) = (self.a.label(), self.a.label());
        let step = if single { u32::from(stride) * 4 } else { 0 };
        let homes = self.found(pc, &parts, Found { address, bytes, single, step }, entry)?;
        // All of the source is read before anything is written.
        if parts.len() > 1 && offset < homes.end && homes.start < offset + 4 * n {
            return Err("a part would overwrite what a later one reads");
        }
        let place = Mem::indexed(REGS, PLACE[1], 1, i64::from(homes.start));
        for part in &parts {
            let (v, w) = (6 + part.index as u8, part.width);
            self.a.store(STORE32, w, Array::Places.all(), v, Lanes::All);
            if part.lanes == 1 {
                self.in_memory(offset, 4)?;
                let m = self.reg(offset);
                self.a.rm(Code::Mov_r32_rm32, Register::EDX, m);
                self.a.mr(Code::Mov_rm32_r32, Array::First.all(), Register::EDX);
            } else {
                let s = self.source(i, 0, part, 0)?;
                let d = self.in_register(s, part, 0);
                self.a.store(STORE32, w, Array::First.all(), d, Lanes::All);
            }
            let on = self.transfer_mask(pc, part);
            self.each(part, on, |e| {
                e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
                e.a.rm(Code::Mov_r32_rm32, Register::EDX, Array::First.one(4));
                e.a.mr(Code::Mov_rm32_r32, place, Register::EDX);
                Ok(())
            })?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }
}
