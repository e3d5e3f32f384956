//! DPAS on bytes: sums of four products a dword, by the CPU's own.

use envisa_sem::dpas::{Accumulator, Dpas, Precision};

use super::*;

/// The accumulator, by turns; a row's dword of activations; what their sign takes; what is to be taken off again.
const SUMS: [V; 2] = [0, 4];
const DWORD: V = 1;
const SIGN: V = 2;
const MORE: V = 3;
/// Weights that are not in a register.
const WEIGHTS: V = 6;

impl Emit<'_> {
    /// `dst = acc + activations × weights`, a row of the result after the other.
    pub(super) fn dpas(&mut self, pc: Pc) -> Result<(), Why> {
        if !self.vnni {
            return Err("a CPU without sums of four products");
        }
        let i = *self.inst(pc);
        let n = u32::from(i.channels);
        let Dst::Reg { offset: to, ty, sat: false, .. } = i.dst else { return Err("a DPAS of a rare kind") };
        let of = |t: Type| match t {
            Type::D => Ok(Accumulator::D),
            Type::Ud => Ok(Accumulator::Ud),
            _ => Err("a DPAS on floats"),
        };
        let (acc, acc_ty) = match i.src[0] {
            Src::Reg { offset, ty, .. } => (Some(offset), ty),
            _ => (None, ty),
        };
        let (Src::Reg { offset: weights, .. }, Src::Reg { offset: values, .. }) = (i.src[1], i.src[2]) else {
            return Err("a DPAS of a rare kind");
        };
        if i.pred.offset != 0 {
            return Err("a DPAS by a predicate");
        }
        let code = |c: u32| Precision::from_code(c as u8).ok_or("a precision that means nothing");
        let (w, v) = (code(i.aux & 0xff)?, code(i.aux >> 8 & 0xff)?);
        let (depth, repeat) = (i.aux >> 16 & 0xff, i.aux >> 24);
        if Dpas::new(w, v, depth, repeat, n, of(ty)?, of(acc_ty)?, false).is_err() {
            return Err("a DPAS that there is not");
        }
        // The CPU's products are of bytes without a sign by bytes with one.
        let (values_first, signed) = match (v, w) {
            (Precision::U8, Precision::S8) => (true, false),
            (Precision::S8, Precision::S8) => (true, true),
            (Precision::S8, Precision::U8) => (false, false),
            _ => return Err("a DPAS on bytes without signs, or on parts of bytes"),
        };
        let (row, width) = (4 * n, Width::of(4 * n));
        let out = to..to + repeat * row;
        let meets = |at: u32, bytes: u32| at < out.end && out.start < at + bytes;
        let own = acc.is_none_or(|a| a == to || !meets(a, repeat * row));
        if !own || meets(weights, depth * row) || meets(values, repeat * depth * 4) {
            return Err("a DPAS that writes what it reads");
        }
        self.in_memory(values, repeat * depth * 4)?;
        if signed {
            // Values are taken 128 larger, and 128 times the weights' sum is taken off again.
            let sign = self.literal(0x8080_8080);
            self.a.v2(VPBROADCASTD, width, SIGN, Opd::Mem(sign), Lanes::All);
            self.a.v3(VPXORD, width, MORE, MORE, Opd::Reg(MORE), Lanes::All);
            for j in 0..depth {
                let b = self.data_in(weights + j * row, row, WEIGHTS)?;
                self.a.v3(VPDPBUSD, width, MORE, SIGN, Opd::Reg(b), Lanes::All);
            }
        }
        for m in 0..repeat {
            let sum = SUMS[m as usize % 2];
            match acc {
                Some(a) => {
                    let a = self.data_in(a + m * row, row, sum)?;
                    if signed {
                        self.a.v3(VPSUBD, width, sum, a, Opd::Reg(MORE), Lanes::All);
                    } else if a != sum {
                        self.a.v2(VMOVDQU32, width, sum, Opd::Reg(a), Lanes::All);
                    }
                }
                None => {
                    self.a.v3(VPXORD, width, sum, sum, Opd::Reg(sum), Lanes::All);
                    if signed {
                        self.a.v3(VPSUBD, width, sum, sum, Opd::Reg(MORE), Lanes::All);
                    }
                }
            }
            for j in 0..depth {
                let value = self.reg(values + 4 * (m * depth + j));
                if !values_first {
                    let b = self.data_in(weights + j * row, row, WEIGHTS)?;
                    self.a.v3(VPDPBUSD, width, sum, b, Opd::Bcast(value), Lanes::All);
                    continue;
                }
                if signed {
                    self.a.v3(VPXORD, width, DWORD, SIGN, Opd::Bcast(value), Lanes::All);
                } else {
                    self.a.v2(VPBROADCASTD, width, DWORD, Opd::Mem(value), Lanes::All);
                }
                let at = weights + j * row;
                let b = match self.home(at, row) {
                    Some(b) => Opd::Reg(b),
                    None if self.step(at).is_some() => Opd::Reg(self.data_in(at, row, WEIGHTS)?),
                    None => {
                        self.in_memory(at, row)?;
                        Opd::Mem(self.reg(at))
                    }
                };
                self.a.v3(VPDPBUSD, width, sum, DWORD, b, Lanes::All);
            }
            let part = Part { index: 0, lanes: n, lane: 0, channel: i.first.into(), width, bytes: 4 };
            let k = self.lanes(pc, &part, to + m * row)?;
            self.store_part(to + m * row, sum, 4, &part, k)?;
        }
        Ok(())
    }
}
