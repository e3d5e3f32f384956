//! Rectangles of an image's bytes.

use super::memory::PTR;
use super::*;
use crate::context_layout::site;
use envisa_lower::Media;

impl Emit<'_> {
    /// Moves a rectangle that is inside of the image; others are the machine's.
    pub(super) fn media(&mut self, i: &Inst, pc: Pc, m: &Media) -> Result<(), Unsupported> {
        let Some(Kind::Bytes) = self.kind(i) else { return Err("an image of a rare kind") };
        let Some(data) = m.data else { return Err("a prefetch") };
        if i.pred.offset != 0 || m.lines != (0, 1) {
            return Err("a block of a rare kind");
        }
        if !m.width.is_multiple_of(4) || !m.align.max(1).is_power_of_two() {
            return Err("a block of a rare size");
        }
        let (entry, back) = (self.a.label(), self.a.label());
        self.of_kind(i, Kind::Bytes, entry);
        let inside = [(&m.x, Register::EAX, Register::RAX), (&m.y, Register::ESI, Register::RSI)];
        for ((from, r, wide), field) in inside.into_iter().zip([site::COUNT, site::LAST16]) {
            self.load_int(from, [r, wide], false, 0)?;
            let count = self.site(i, field);
            self.a.rm(Code::Cmp_r32_rm32, r, count);
            self.a.jump(Code::Jae_rel32_64, entry);
        }
        if m.align > 1 {
            self.a.ri(Code::Test_rm32_imm32, Register::EAX, i32::from(m.align) - 1);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        let (pitch, pointer) = (self.site(i, site::LAST), self.site(i, site::POINTER));
        self.a.rm(Code::Imul_r32_rm32, Register::ESI, pitch);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        self.a.rr(Code::Add_r64_rm64, Register::RAX, Register::RSI);
        for row in 0..u32::from(m.height) {
            if row > 0 {
                self.a.rm(Code::Mov_r32_rm32, Register::ESI, pitch);
                self.a.rr(Code::Add_r64_rm64, Register::RAX, Register::RSI);
            }
            let (at, mut done) = (data + row * u32::from(m.pitch), 0);
            while done < u32::from(m.width) {
                let n = 1 << (u32::from(m.width) - done).ilog2();
                let place = Mem::indexed(PTR, Register::RAX, 1, i64::from(done));
                self.move_bytes(at + done, n, place, m.write)?;
                done += n;
            }
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }
}
