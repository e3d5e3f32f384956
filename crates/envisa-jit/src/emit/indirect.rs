//! Instructions whose operands are found through address registers: dwords that each channel finds by itself.

use super::gather::Places;
use super::indirect_elements::Found;
use super::*;

/// How many instructions before one its addresses are looked for.
const NEARBY: usize = 256;

impl Emit<'_> {
    /// An instruction with operands that are found by address registers.
    pub(super) fn indirect(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let before = (self.a.here(), self.later.len());
        if self.gather_dwords(pc, i)? {
            return Ok(());
        }
        self.a.back(before.0);
        self.later.truncate(before.1);
        self.indirect_instruction(pc, i)
    }

    /// A move of dwords that each channel finds by an address of its own: `false` if it is none. An address that is no
    /// variable's goes the slow way, which faults.
    fn gather_dwords(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
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
        let homes = r.addressable();
        let written = to..to + 4 * n;
        if parts.len() > 1 && written.start < homes.end && homes.start < written.end {
            return Ok(false);
        }
        let near = self.near(pc, i, f, &parts)?;
        // All addresses are looked at before anything is written.
        for part in &parts {
            let on = self.on(pc, part)?;
            self.places(f, part, 6 + part.index as u8, on, Some(entry))?;
        }
        for part in &parts {
            let v = 6 + part.index as u8;
            let on = self.transfer_mask(pc, part);
            let to = to + 4 * part.lane;
            self.load_dwords(part, Places { base: REGS, index: v, scale: 1, plus: homes.start }, on);
            let mask = self.lanes(pc, part, to)?;
            self.store_part(to, 0, 4, part, mask)?;
        }
        if let Some(done) = near {
            self.a.bind(done);
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(true)
    }

    /// The same where all channels find dwords of one variable that one or two vectors hold, as they do who shuffle:
    /// these are permuted. Leaves where it goes then, if there is such a variable; what follows does the rest.
    fn near(&mut self, pc: Pc, i: &Inst, f: Found, parts: &[Part]) -> Result<Option<Label>, Unsupported> {
        let two = |aim: &Range<u32>| (8..=128).contains(&(aim.end - aim.start));
        let Some(aim) = self.aim(pc, f.address).filter(two) else { return Ok(None) };
        let Dst::Reg { offset: to, .. } = i.dst else { return Ok(None) };
        let bytes = aim.end - aim.start;
        let (far, done) = (self.a.label(), self.a.label());
        for part in parts {
            let (v, w) = (6 + part.index as u8, part.width);
            let on = self.on(pc, part)?;
            self.places(f, part, v, on, None)?;
            if aim.start != 0 {
                let first = self.literal(aim.start);
                self.a.v3(VPSUBD, w, v, v, Opd::Bcast(first), Lanes::All);
            }
            // Those between elements become large ones.
            self.a.v2i(VPRORD, w, v, Opd::Reg(v), 2, Lanes::All);
            let elements = self.literal(bytes / 4);
            self.a.vcmp(VPCMPUD, w, 5, v, Opd::Bcast(elements), 5, on);
            self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
            self.a.jump(Code::Jne_rel32_64, far);
        }
        let at = self.p.registers().address_base + aim.start;
        let whole = self.reg(at);
        if bytes <= 64 {
            // As wide as it is written: CPUs forward no more than one store's bytes.
            self.a.v2(VMOVDQU32, Width::of(bytes), 0, Opd::Mem(whole), Lanes::All);
        }
        for part in parts {
            let v = 6 + part.index as u8;
            if bytes <= 64 {
                self.a.v3(VPERMD, Width::Z, v, v, Opd::Reg(0), Lanes::All);
            } else {
                self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(whole), Lanes::All);
                self.a.v3(VPERMI2D, Width::Z, v, 0, Opd::Mem(whole.plus(64)), Lanes::All);
            }
            let to = to + 4 * part.lane;
            let mask = self.lanes(pc, part, to)?;
            self.store_part(to, v, 4, part, mask)?;
        }
        self.a.jmp(done);
        self.a.bind(far);
        Ok(Some(done))
    }

    /// The variable that address registers were made from nearby, as addresses name it.
    pub(super) fn aim(&self, pc: Pc, address: RegOffset) -> Option<Range<u32>> {
        let r = self.p.registers();
        let wanted = self.cells.at(address)?;
        for before in (0..pc).rev().take(NEARBY) {
            let i = self.inst(before);
            if matches!(i.op, Op::Goto | Op::Join | Op::Ret | Op::Call | Op::Fcall | Op::Ifcall) {
                return None;
            }
            let mut written = false;
            self.cells.accesses(self.p.parts(), before, &mut |a| written |= a.write && a.cell == wanted);
            if !written {
                continue;
            }
            let first = i.src.iter().find_map(|s| crate::affine_vectors::constant(self.p, s))?;
            let (start, end) = *r.address_homes.get(usize::try_from(first / 64).ok()?)?;
            return (i.op == Op::Add && start < end).then_some(start..end);
        }
        None
    }
}
