//! Quads that are made whole and read by halves, and the other way round, as compilers do for devices that add and shift quads,
//! but multiply and combine their dwords.

use super::*;

impl Gen {
    /// Vectors of quads: where all channels' go into one instruction.
    pub(super) fn declare_quads(&mut self) {
        if !self.p.device.quads || self.p.device.grf < 64 || self.p.halves {
            return;
        }
        for k in 0..4 {
            let init = (0..self.p.simd).map(|_| self.quad()).collect();
            let ty = if k % 2 == 0 { T::Q } else { T::Uq };
            self.p.vars.push(Var { ty, init, home: Home::Apart });
            self.split.push(self.p.vars.len() - 1);
        }
    }

    fn quad(&mut self) -> u64 {
        let edges = [0, 1, 0xffff_ffff, 0x8000_0000, 1 << 32, 1 << 63, u64::MAX, 0x7fff_ffff];
        match self.one_in(2) {
            true => self.r.pick(&edges),
            false => (self.r.below(1 << 30) as u64) << self.r.below(35),
        }
    }

    fn wide_source(&mut self, e: Exec, signs: bool) -> Src {
        let modifier = if signs && self.one_in(6) { Mod::Neg } else { Mod::None };
        match self.r.below(8) {
            0 => Src::Imm { ty: T::Q, bits: self.quad() },
            1 | 2 => Self::own(self.r.pick(&self.lanes.vectors()), e, Mod::None),
            _ => Self::own(self.r.pick(&self.split.clone()), e, modifier),
        }
    }

    /// Some statements of these, one after the other: so much is made of each other that halves are worth registers.
    pub(super) fn quads(&mut self, at: At, out: &mut Vec<Stmt>) {
        if self.split.is_empty() || self.p.halves {
            return self.lanes(at, out);
        }
        for _ in 0..1 + self.r.below(5) {
            let i = if self.one_in(2) { self.on_quads() } else { self.on_halves() };
            out.push(Stmt::Inst(i));
        }
    }

    /// An instruction on whole quads.
    fn on_quads(&mut self) -> Inst {
        use Op::{Add, And, Asr, Mov, Or, Rol, Ror, Shl, Shr, Xor};
        let exec = Exec { n: self.p.simd, first: 0, no_mask: false };
        let op = self.r.pick(&[Mov, Add, Add, Add, And, Or, Xor, Shl, Shr, Asr, Rol, Ror]);
        let to = self.r.pick(&self.split.clone());
        let mut all = vec![self.wide_source(exec, matches!(op, Mov | Add))];
        match op {
            Mov => {}
            Shl | Shr | Asr | Rol | Ror => {
                let ty = if matches!(op, Shr | Rol | Ror) { T::Uq } else { T::Q };
                let wide =
                    self.split.iter().copied().filter(|v| self.p.vars[*v].ty == ty).collect::<Vec<_>>();
                let count = self.r.pick(&[0, 1, 5, 13, 30, 31, 32, 33, 47, 63]);
                all =
                    vec![Self::own(self.r.pick(&wide), exec, Mod::None), Src::Imm { ty: T::Uw, bits: count }];
            }
            _ => all.push(self.wide_source(exec, false)),
        }
        let to = match op {
            Shr | Rol | Ror => self.split[1 + 2 * self.r.below(2)],
            _ => to,
        };
        let guard = self.one_in(12).then(|| self.guard());
        let dst = Dst::Elements { place: Place::Own(to), element: 0, stride: 1, sat: false };
        Inst { op, exec, guard, dst, second: None, srcs: all }
    }

    /// An instruction on lower or upper dwords, of up to sixteen channels.
    fn on_halves(&mut self) -> Inst {
        use Op::{Add, And, Mov, Mul, Mulh, Or, Xor};
        let n = self.p.simd.min(16);
        let first = n * self.r.below(self.p.simd / n);
        let exec = Exec { n, first, no_mask: false };
        let half = |g: &mut Self| {
            let place = Place::Dwords(g.r.pick(&g.split.clone()));
            Src::Region { place, element: 2 * first + g.r.below(2), region: (2, 1, 0), modifier: Mod::None }
        };
        let vectors: Vec<usize> =
            self.lanes.vectors().into_iter().filter(|v| self.p.vars[*v].ty == T::Ud).collect();
        let op = self.r.pick(&[Mov, Add, Mul, Mulh, And, Or, Xor]);
        let (into, vector) = (self.one_in(3), self.r.pick(&vectors));
        let srcs = match op {
            _ if into => vec![Self::own(vector, exec, Mod::None), half(self)],
            Mov => vec![half(self)],
            _ => {
                vec![half(self), if self.one_in(2) { half(self) } else { Self::own(vector, exec, Mod::None) }]
            }
        };
        let srcs = if op == Mov { srcs[..1].to_vec() } else { srcs };
        let dst = match into {
            true => {
                let place = Place::Dwords(self.r.pick(&self.split.clone()));
                Dst::Elements { place, element: 2 * first + self.r.below(2), stride: 2, sat: false }
            }
            false => Dst::Elements { place: Place::Own(vector), element: first, stride: 1, sat: false },
        };
        let guard = self.one_in(12).then(|| self.guard());
        Inst { op, exec, guard, dst, second: None, srcs }
    }
}
