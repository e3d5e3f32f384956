//! Operations on bits, of bytes and words side by side: no element is made a dword first.

use super::*;

impl Emit<'_> {
    /// Does an operation on the bits of up to 64 bytes of narrow elements, where all channels run: `false` if it is another.
    pub(super) fn packed(&mut self, pc: Pc, i: &Inst) -> Result<bool, Why> {
        let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return Ok(false) };
        let bytes = u32::from(i.channels) * ty.size();
        let sources = match i.op {
            Op::Mov | Op::Not => 1,
            Op::And | Op::Or | Op::Xor => 2,
            Op::Bfn => 3,
            _ => return Ok(false),
        };
        let bits = matches!(i.exec, ExecType::I32 | ExecType::U32) && ty.is_int() && ty.size() < 4;
        let all =
            self.cells.at(to).is_some_and(|c| self.live.unmasked(pc, c)) || i.no_mask || self.all_active(pc);
        if !bits || !all || i.pred.offset != 0 || !matches!(bytes, 16 | 32 | 64) {
            return Ok(false);
        }
        let mut from = [Opd::Reg(0); 3];
        for (s, from) in i.src.iter().zip(&mut from).take(sources) {
            let Src::Reg { offset, ty: of, shape, modifier: Modifier::None, .. } = *s else {
                return Ok(false);
            };
            *from = match crate::shape::constant(self.p, s) {
                // As often as it goes into a dword.
                Some(x) if ty.size() == 2 => Opd::Bcast(self.literal((x as u32 & 0xffff) * 0x1_0001)),
                Some(x) => Opd::Bcast(self.literal((x as u32 & 0xff) * 0x101_0101)),
                None if of.is_int() && of.size() == ty.size() && shape == Shape::Contiguous => {
                    if self.in_memory(offset, bytes).is_err() {
                        return Ok(false);
                    }
                    Opd::Mem(self.reg(offset))
                }
                None => return Ok(false),
            };
        }
        if self.in_memory(to, bytes).is_err() {
            return Ok(false);
        }
        let w = Width::of(bytes);
        let part = Part { index: 0, lanes: bytes / 4, lane: 0, channel: 0, width: w, bytes: 4 };
        let [a, b, c] = from;
        match i.op {
            Op::Bfn => {
                let (b, c) = (self.in_register(b, &part, 1), self.in_register(c, &part, 0));
                self.copy_reg(0, c, w);
                self.a.v3i(VPTERNLOGD, w, 0, b, a, i.aux & 0xff, Lanes::All);
            }
            op => {
                let a = self.in_register(a, &part, 0);
                match op {
                    Op::And => self.a.v3(VPANDD, w, 0, a, b, Lanes::All),
                    Op::Or => self.a.v3(VPORD, w, 0, a, b, Lanes::All),
                    Op::Xor => self.a.v3(VPXORD, w, 0, a, b, Lanes::All),
                    Op::Not => self.a.v3i(VPTERNLOGD, w, 0, a, Opd::Reg(a), 0x55, Lanes::All),
                    _ => {}
                }
            }
        }
        self.a.store(STORE32, w, self.reg(to), 0, Lanes::All);
        Ok(true)
    }
}
