//! DPAS. On bytes: sums of four products a dword, by the CPU's own. On floats: products and sums of singles, in the
//! order that [`envisa_sem::dpas`] has them.

use envisa_sem::dpas::{Accumulator, Dpas, Precision};

use super::*;

/// The accumulator, by turns; a row's dword of activations; what their sign takes; what is to be taken off again.
const SUMS: [V; 2] = [0, 4];
const DWORD: V = 1;
const SIGN: V = 2;
const MORE: V = 3;
/// Weights that are not in a register.
const WEIGHTS: V = 6;

/// On floats: rows that are summed at a time, in the first registers; a depth's weights, of both elements of their
/// dwords; products.
const ROWS: u32 = 4;
const WIDE: [V; 2] = [4, 5];
const PRODUCTS: [V; 2] = [6, 7];
/// Activations as singles, and the weights of halves: no call is made meanwhile.
const VALUES_AT: u32 = at::VECTORS;
const WEIGHTS_AT: u32 = at::VECTORS + 512;

/// A DPAS: its shape and its operands.
struct Operands {
    /// Of activations.
    precision: Precision,
    weights_precision: Precision,
    depth: u32,
    repeat: u32,
    to: RegOffset,
    ty: Type,
    acc: Option<RegOffset>,
    acc_ty: Type,
    weights: RegOffset,
    values: RegOffset,
}

impl Emit<'_> {
    /// `dst = acc + activations × weights`, a row of the result after the other.
    pub(super) fn dpas(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        let n = u32::from(i.channels);
        let Dst::Reg { offset: to, ty, sat: false, .. } = i.dst else { return Err("a DPAS of a rare kind") };
        let of = |t: Type| match t {
            Type::D => Ok(Accumulator::D),
            Type::Ud => Ok(Accumulator::Ud),
            Type::F => Ok(Accumulator::F),
            Type::Hf => Ok(Accumulator::Hf),
            Type::Bf => Ok(Accumulator::Bf),
            _ => Err("a DPAS that there is not"),
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
        let d = Operands {
            precision: v,
            weights_precision: w,
            depth,
            repeat,
            to,
            ty,
            acc,
            acc_ty,
            weights,
            values,
        };
        if ty.is_float() { self.float_dpas(pc, &d) } else { self.byte_dpas(pc, &d) }
    }

    /// On bytes.
    fn byte_dpas(&mut self, pc: Pc, d: &Operands) -> Result<(), Unsupported> {
        let &Operands { depth, repeat, to, acc, weights, values, .. } = d;
        let i = self.inst(pc);
        let (n, channel) = (u32::from(i.channels), i.first.into());
        if !self.vnni {
            return Err("a CPU without sums of four products");
        }
        // The CPU's products are of bytes without a sign by bytes with one.
        let (values_first, moved) = match (d.precision, d.weights_precision) {
            (Precision::U8, Precision::S8) => (true, false),
            (Precision::S8, Precision::S8) => (true, true),
            (Precision::S8, Precision::U8) => (false, false),
            (Precision::U8, Precision::U8) => (false, true),
            _ => return Err("a DPAS on parts of bytes"),
        };
        let (row, width) = (4 * n, Width::of(4 * n));
        let out = to..to + repeat * row;
        let meets = |at: u32, bytes: u32| at < out.end && out.start < at + bytes;
        let own = acc.is_none_or(|a| a == to || !meets(a, repeat * row));
        if !own || meets(weights, depth * row) || meets(values, repeat * depth * 4) {
            return Err("a DPAS that writes what it reads");
        }
        self.in_memory(values, repeat * depth * 4)?;
        if moved {
            // Values are taken 128 larger, and 128 times the weights' sum is taken off again; those without a sign 128
            // less, which is one, and as much is added.
            let sign = self.literal(0x8080_8080);
            self.a.v2(VPBROADCASTD, width, SIGN, Opd::Mem(sign), Lanes::All);
            self.a.v3(VPXORD, width, MORE, MORE, Opd::Reg(MORE), Lanes::All);
            for j in 0..depth {
                let b = self.data_in(weights + j * row, row, WEIGHTS)?;
                let (first, second) = if values_first { (SIGN, b) } else { (b, SIGN) };
                self.a.v3(VPDPBUSD, width, MORE, first, Opd::Reg(second), Lanes::All);
            }
        }
        for m in 0..repeat {
            let sum = SUMS[m as usize % 2];
            match acc {
                Some(a) => {
                    let a = self.data_in(a + m * row, row, sum)?;
                    if moved {
                        self.a.v3(VPSUBD, width, sum, a, Opd::Reg(MORE), Lanes::All);
                    } else if a != sum {
                        self.a.v2(VMOVDQU32, width, sum, Opd::Reg(a), Lanes::All);
                    }
                }
                None => {
                    self.a.v3(VPXORD, width, sum, sum, Opd::Reg(sum), Lanes::All);
                    if moved {
                        self.a.v3(VPSUBD, width, sum, sum, Opd::Reg(MORE), Lanes::All);
                    }
                }
            }
            for j in 0..depth {
                let value = self.reg(values + 4 * (m * depth + j));
                if !values_first {
                    let b = self.data_in(weights + j * row, row, WEIGHTS)?;
                    let mut by = Opd::Bcast(value);
                    if moved {
                        self.a.v3(VPXORD, width, DWORD, SIGN, by, Lanes::All);
                        by = Opd::Reg(DWORD);
                    }
                    self.a.v3(VPDPBUSD, width, sum, b, by, Lanes::All);
                    continue;
                }
                if moved {
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
            let part = Part { index: 0, lanes: n, lane: 0, channel, width, bytes: 4 };
            let k = self.lanes(pc, &part, to + m * row)?;
            self.store_part(to + m * row, sum, 4, &part, k)?;
        }
        Ok(())
    }

    /// The same on floats: some rows at a time, depth after depth, so that a depth's weights are made singles once for
    /// all of them.
    fn float_dpas(&mut self, pc: Pc, f: &Operands) -> Result<(), Unsupported> {
        let pair = match f.precision {
            Precision::Hf | Precision::Bf => true,
            Precision::Tf32 => false,
            _ => return Err("a DPAS on floats of eight bits or fewer"),
        };
        let n = u32::from(self.inst(pc).channels);
        let (row, all) = (4 * n, Lanes::All);
        let w = Width::of(row);
        let (to_row, acc_row) = (n * f.ty.size(), n * f.acc_ty.size());
        // What later rows read, the first ones may have written.
        let meets = |at: u32, bytes: u32, rows: u32| at < f.to + rows * to_row && f.to < at + bytes;
        let halves = f.precision == Precision::Hf && f.repeat > ROWS;
        for first in (ROWS..f.repeat).step_by(ROWS as usize) {
            let rest = f.repeat - first;
            let acc = f.acc.is_some_and(|a| meets(a + first * acc_row, rest * acc_row, first));
            if acc || (!halves && meets(f.weights, f.depth * row, first)) {
                return Err("a DPAS that writes what it reads");
            }
        }
        self.values_as_singles(f)?;
        for first in (0..f.repeat).step_by(ROWS as usize) {
            let rows = first..f.repeat.min(first + ROWS);
            for m in rows.clone() {
                self.float_accumulator(f, n, m, (m - first) as V)?;
            }
            for j in 0..f.depth {
                let kept = Mem::at(CTX, WEIGHTS_AT + 128 * j);
                if first > 0 && halves {
                    for (k, v) in WIDE.into_iter().enumerate() {
                        self.a.v2(VMOVDQU32, w, v, Opd::Mem(kept.plus(64 * k as u32)), all);
                    }
                } else {
                    self.float_weights(f, j, row)?;
                    if halves {
                        for (k, v) in WIDE.into_iter().enumerate() {
                            self.a.store(STORE32, w, kept.plus(64 * k as u32), v, all);
                        }
                    }
                }
                for m in rows.clone() {
                    let k = m * f.depth + j;
                    let sum = (m - first) as V;
                    let value = Mem::at(CTX, VALUES_AT + if pair { 8 * k } else { 4 * k });
                    self.a.v3(VMULPS, w, PRODUCTS[0], WIDE[0], Opd::Bcast(value), all);
                    if pair {
                        self.a.v3(VMULPS, w, PRODUCTS[1], WIDE[1], Opd::Bcast(value.plus(4)), all);
                        self.a.v3(VADDPS, w, PRODUCTS[0], PRODUCTS[0], Opd::Reg(PRODUCTS[1]), all);
                    }
                    self.a.v3(VADDPS, w, sum, sum, Opd::Reg(PRODUCTS[0]), all);
                }
            }
            for m in rows {
                self.float_result(pc, f, m, (m - first) as V)?;
            }
        }
        Ok(())
    }

    /// Puts all activations, as singles, where they are taken from one by one. Stores are of 32 bytes: not all CPUs
    /// forward the second half of a longer one.
    fn values_as_singles(&mut self, f: &Operands) -> Result<(), Unsupported> {
        let (y, all) = (Width::Y, Lanes::All);
        let (size, v) = (f.precision.bits() / 8, PRODUCTS[0]);
        let step = 8 * size;
        let bytes = 4 * f.repeat * f.depth;
        if !bytes.is_multiple_of(step) {
            return Err("a DPAS of few activations");
        }
        for k in 0..bytes / step {
            let from = self.packed_floats(f.values + k * step, step, v)?;
            match f.precision {
                Precision::Hf => self.a.v2(VCVTPH2PS, y, v, from, all),
                Precision::Bf => {
                    self.a.v2(VPMOVZXWD, y, v, from, all);
                    self.a.v2i(VPSLLD, y, v, Opd::Reg(v), 16, all);
                }
                _ => {
                    let bits = self.literal(!0x1fff);
                    self.a.v2(VPBROADCASTD, y, PRODUCTS[1], Opd::Mem(bits), all);
                    self.a.v3(VPANDD, y, v, PRODUCTS[1], from, all);
                }
            }
            self.a.store(STORE32, y, Mem::at(CTX, VALUES_AT + 32 * k), v, all);
        }
        Ok(())
    }

    /// Elements side by side: in memory, or in one register.
    fn packed_floats(&mut self, at: RegOffset, bytes: u32, tmp: V) -> Result<Opd, Unsupported> {
        let cell = self.cells.at(at).map(|id| *self.cells.get(id));
        if cell.is_some_and(|c| c.offset + c.bytes >= at + bytes) {
            return self.convertible(at, bytes, tmp);
        }
        self.in_memory(at, bytes)?;
        Ok(Opd::Mem(self.reg(at)))
    }

    /// The weights of a depth, as singles.
    fn float_weights(&mut self, f: &Operands, j: u32, row: u32) -> Result<(), Unsupported> {
        let (w, all, [low, high]) = (Width::of(row), Lanes::All, WIDE);
        let b = self.data_in(f.weights + j * row, row, PRODUCTS[0])?;
        match f.precision {
            Precision::Hf => {
                self.a.v2i(VPSRLD, w, high, Opd::Reg(b), 16, all);
                for (v, from) in [(low, b), (high, high)] {
                    self.a.store_to_reg(VPMOVDW, w, v, from);
                    self.a.v2(VCVTPH2PS, w, v, Opd::Reg(v), all);
                }
            }
            Precision::Bf => {
                let bits = self.literal(0xffff_0000);
                self.a.v2i(VPSLLD, w, low, Opd::Reg(b), 16, all);
                self.a.v3(VPANDD, w, high, b, Opd::Bcast(bits), all);
            }
            _ => {
                let bits = self.literal(!0x1fff);
                self.a.v3(VPANDD, w, low, b, Opd::Bcast(bits), all);
            }
        }
        Ok(())
    }

    /// What a row's sums begin with.
    fn float_accumulator(&mut self, f: &Operands, n: u32, m: u32, to: V) -> Result<(), Unsupported> {
        let (w, all) = (Width::of(4 * n), Lanes::All);
        let Some(acc) = f.acc else {
            self.a.v3(VPXORD, w, to, to, Opd::Reg(to), all);
            return Ok(());
        };
        let bytes = n * f.acc_ty.size();
        let at = acc + m * bytes;
        match f.acc_ty {
            Type::Hf | Type::Bf => {
                let from = self.packed_floats(at, bytes, to)?;
                if f.acc_ty == Type::Hf {
                    self.a.v2(VCVTPH2PS, w, to, from, all);
                } else {
                    self.a.v2(VPMOVZXWD, w, to, from, all);
                    self.a.v2i(VPSLLD, w, to, Opd::Reg(to), 16, all);
                }
            }
            _ => {
                let v = self.data_in(at, bytes, to)?;
                self.copy_reg(to, v, w);
            }
        }
        Ok(())
    }

    /// Writes a row of sums, rounded once if its elements have 16 bits.
    fn float_result(&mut self, pc: Pc, f: &Operands, m: u32, sum: V) -> Result<(), Unsupported> {
        let i = self.inst(pc);
        let n = u32::from(i.channels);
        let (w, all) = (Width::of(4 * n), Lanes::All);
        let part = Part { index: 0, lanes: n, lane: 0, channel: i.first.into(), width: w, bytes: 4 };
        let size = f.ty.size();
        let at = f.to + m * n * size;
        match f.ty {
            Type::F => {
                let k = self.lanes(pc, &part, at)?;
                return self.store_part(at, sum, 4, &part, k);
            }
            Type::Hf => {
                self.a.cvt_half(w, sum, sum, 0);
                self.a.v2(VPMOVZXWD, w, sum, Opd::Reg(sum), all);
            }
            _ => self.brain_floats(w, sum),
        }
        // By dwords: AVX2 has no masks of words.
        if let Some(k) = self.lanes(pc, &part, at)? {
            let [new, _] = WIDE;
            self.copy_reg(new, sum, w);
            let old = self.packed_floats(at, n * size, sum)?;
            self.a.v2(VPMOVZXWD, w, sum, old, all);
            self.a.v2(VMOVDQU32, w, sum, Opd::Reg(new), Lanes::Of(k));
        }
        self.a.store_to_reg(VPMOVDW, w, sum, sum);
        self.store_part(at, sum, size, &part, None)
    }

    /// Singles to brain floats in the low words of dwords, to nearest even.
    fn brain_floats(&mut self, w: Width, v: V) {
        let (all, [t, _]) = (Lanes::All, WIDE);
        let [one, most, quiet] = [1, 0x7fff, 0x40].map(|x| self.literal(x));
        self.a.vcmp(VCMPPS, w, 5, v, Opd::Reg(v), 3, None);
        self.a.v2i(VPSRLD, w, t, Opd::Reg(v), 16, all);
        self.a.v3(VPORD, w, PRODUCTS[0], t, Opd::Bcast(quiet), all);
        self.a.v3(VPANDD, w, t, t, Opd::Bcast(one), all);
        self.a.v3(VPADDD, w, t, t, Opd::Bcast(most), all);
        self.a.v3(VPADDD, w, v, v, Opd::Reg(t), all);
        self.a.v2i(VPSRLD, w, v, Opd::Reg(v), 16, all);
        self.a.v2(VMOVDQU32, w, v, Opd::Reg(PRODUCTS[0]), Lanes::Of(5));
    }
}
