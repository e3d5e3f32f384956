//! Consecutive bytes at one address.

use super::memory::PTR;
use super::*;
use crate::context_layout::site;
use envisa_lower::{Block, Space};

impl Emit<'_> {
    /// Consecutive bytes at one address.
    pub(super) fn block(&mut self, pc: Pc, i: &Inst, b: &Block) -> Result<(), Unsupported> {
        let Some(data) = b.data else { return Err("a prefetch") };
        if i.pred.offset != 0 {
            return Err("a block by a predicate");
        }
        let window = match b.space {
            Space::Flat if !b.wraps => None,
            Space::Slm => Some(0x0fff_ffff),
            Space::GeneralState | Space::Scratch(_) => Some(u32::MAX),
            Space::Bti(_) => Some(u32::MAX),
            _ => return Err("a block of a rare kind"),
        };
        let Ok(offset) = i32::try_from(b.offset) else { return Err("a block far off") };
        if b.masked {
            self.certain(pc)?;
        }
        if !b.scale.is_power_of_two() || b.bytes > 512 || !b.bytes.is_multiple_of(4) {
            return Err("a block of a rare size");
        }
        let (entry, back) = (self.a.label(), self.a.label());
        match &b.space {
            Space::Scratch(handle) => self.scratch(i, handle, entry)?,
            Space::Bti(at) => self.surface(i, at, entry)?,
            _ => {}
        }
        self.load_int(&b.address, [Register::EAX, Register::RAX], true, 0)?;
        if b.scale > 1 {
            self.a.ri(Code::Shl_rm64_imm8, Register::RAX, b.scale.trailing_zeros() as i32);
        }
        if b.origin != Src::None {
            self.load_int(&b.origin, [Register::ESI, Register::RSI], true, 0)?;
            self.a.rr(Code::Add_r64_rm64, Register::RAX, Register::RSI);
        }
        // A flat address's offset is in the key.
        if window.is_some() && offset != 0 {
            self.a.ri(Code::Add_rm64_imm32, Register::RAX, offset);
        }
        if let Some(and) = window.filter(|a| *a != u32::MAX) {
            self.a.ri(Code::And_rm32_imm32, Register::EAX, and as i32);
        } else if window.is_some() && b.wraps {
            self.a.rr(Code::Mov_r32_rm32, Register::EAX, Register::EAX);
        }
        if b.align > 1 && !(b.scale.is_multiple_of(b.align) && (offset as u32).is_multiple_of(b.align)) {
            if window.is_none() && !(offset as u32).is_multiple_of(b.align) {
                return Err("a block whose offset is not aligned");
            }
            self.a.ri(Code::Test_EAX_imm32, Register::EAX, b.align as i32 - 1);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        let (key, wide, pointer) =
            (self.site(i, site::KEY), self.site(i, site::WIDE), self.site(i, site::POINTER));
        if window.is_none() {
            self.a.rm(Code::Sub_r64_rm64, Register::RAX, key);
        }
        self.a.rm(Code::Cmp_r64_rm64, Register::RAX, wide);
        self.a.jump(Code::Jae_rel32_64, entry);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        let mut done = 0;
        while done < b.bytes {
            let m = Mem::indexed(PTR, Register::RAX, 1, i64::from(done));
            let at = data + done;
            let rest = b.bytes - done;
            let n = match rest {
                64.. => 64,
                32.. => 32,
                16.. => 16,
                8.. => 8,
                _ => 4,
            };
            self.move_bytes(at, n, m, b.write)?;
            done += n;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Moves 4, 8, 16, 32 or 64 bytes between memory and the register file; `rsi` may be overwritten.
    pub(super) fn move_bytes(
        &mut self,
        at: RegOffset,
        n: u32,
        m: Mem,
        write: bool,
    ) -> Result<(), Unsupported> {
        let home = self.home(at, n);
        if home.is_none() {
            self.in_memory(at, n)?;
        }
        let r = self.reg(at);
        let (from, to) = if write { (r, m) } else { (m, r) };
        match n {
            8 => {
                self.a.rm(Code::Mov_r64_rm64, Register::RSI, from);
                self.a.mr(Code::Mov_rm64_r64, to, Register::RSI);
            }
            4 => {
                self.a.rm(Code::Mov_r32_rm32, Register::ESI, from);
                self.a.mr(Code::Mov_rm32_r32, to, Register::ESI);
            }
            n => {
                let w = Width::of(n);
                match (write, home) {
                    (true, Some(v)) => self.a.store(STORE32, w, m, v, Lanes::All),
                    (false, Some(v)) => self.a.v2(VMOVDQU32, w, v, Opd::Mem(m), Lanes::All),
                    _ => {
                        self.a.v2(VMOVDQU32, w, 0, Opd::Mem(from), Lanes::All);
                        self.a.store(STORE32, w, to, 0, Lanes::All);
                    }
                }
            }
        }
        Ok(())
    }
}
