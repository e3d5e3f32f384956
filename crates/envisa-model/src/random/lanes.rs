//! What compilers make of work-items: vectors that every instruction accesses whole or by halves, computed from
//! local ids, scalars and immediates, written again in branches and loops by instructions of other kinds; and
//! gathers and scatters at such addresses.

use super::*;

/// Variables by the way they are accessed.
#[derive(Default)]
pub(super) struct Pools {
    /// Whole.
    vectors: Vec<usize>,
    /// By eight channels at a time, too.
    halves: Vec<usize>,
    /// Of one element.
    scalars: Vec<usize>,
    /// Whole, and nothing writes them.
    fixed: Vec<usize>,
}

impl Pools {
    /// Variables that are accessed whole.
    pub fn vectors(&self) -> Vec<usize> {
        self.vectors.clone()
    }

    /// Variables of one element.
    pub fn scalars(&self) -> Vec<usize> {
        self.scalars.clone()
    }
}

/// Small numbers, some of them at the edges.
const NUMBERS: [i64; 18] =
    [0, 1, 2, 3, 4, 4, 8, 12, 16, 32, 60, 64, 256, -1, -4, -64, 0x7fff_ffff, -0x8000_0000];

/// Work-items of a group for a program that has local ids: one thread or two, the last one perhaps with some of its
/// channels only.
pub(super) fn local(r: &mut Rng, simd: usize) -> Option<[usize; 3]> {
    if r.below(5) < 2 {
        return None;
    }
    let n = simd * r.pick(&[1, 1, 1, 2]);
    Some(match r.below(8) {
        0 => [8, n / 8, 1],
        1 => [n / 4, 2, 2],
        2 => [1, n, 1],
        3 => [n - 3, 1, 1],
        4 if n >= 32 => [16, n / 16, 1],
        5 => [1 + r.below(n), 1, 1],
        _ => [n, 1, 1],
    })
}

impl Gen {
    pub(super) fn declare_lanes(&mut self) {
        let simd = self.p.simd;
        for k in 0..5 {
            let ty = if k % 2 == 0 { T::Ud } else { T::D };
            let v = self.lane_var(ty, simd);
            self.lanes.vectors.push(v);
        }
        for _ in 0..3 {
            let v = self.lane_var(T::Ud, simd);
            self.lanes.halves.push(v);
        }
        for ty in [T::Ud, T::D, T::Ud] {
            let v = self.lane_var(ty, 1);
            self.lanes.scalars.push(v);
        }
        for ty in [T::Ud, T::D] {
            let v = self.lane_var(ty, simd);
            self.lanes.fixed.push(v);
            // As many bytes as there are, or the first half of them.
            let bytes = 4 * simd / self.r.pick(&[1, 1, 2]);
            self.given(v, bytes);
        }
        if self.one_in(3) {
            let v = self.r.pick(&[self.lanes.vectors[0], self.lanes.halves[0]]);
            let bytes = 4 * simd / self.r.pick(&[1, 2]);
            self.given(v, bytes);
        }
        if self.one_in(2) {
            let v = self.lanes.scalars[0];
            self.given(v, 4);
        }
    }

    /// A variable of its own of so many elements: the same, a step apart, or any.
    fn lane_var(&mut self, ty: T, n: usize) -> usize {
        let (first, step) = (self.number(), self.number());
        let kind = self.r.below(3);
        let init = (0..n)
            .map(|k| match kind {
                0 => first,
                1 => first.wrapping_add(step.wrapping_mul(k as i64)),
                _ => 4 * self.r.below(64) as i64,
            })
            .map(|x| x as u64 & ty.mask())
            .collect();
        self.p.vars.push(Var { ty, init, home: Home::Apart });
        self.p.vars.len() - 1
    }

    /// The launch puts the first bytes of a variable there.
    fn given(&mut self, v: usize, bytes: usize) {
        let v = &mut self.p.vars[v];
        v.home = Home::Given(bytes);
        v.init[bytes / 4..].fill(0);
    }

    fn number(&mut self) -> i64 {
        self.r.pick(&NUMBERS)
    }

    /// A statement of these.
    pub(super) fn lanes(&mut self, at: At, out: &mut Vec<Stmt>) {
        match self.r.below(13) {
            0 => self.halves(at, out),
            12 if !self.p.halves => self.shuffle(at, out),
            1 | 2 => {
                let i = self.scalar(at);
                out.push(Stmt::Inst(i));
            }
            3..=5 => self.lane_access(at, out),
            _ => {
                let i = self.vector(at);
                out.push(Stmt::Inst(i));
            }
        }
    }

    /// A shuffle between neighbours: by numbers that are known, mostly.
    fn shuffle(&mut self, at: At, out: &mut Vec<Stmt>) {
        self.p.shuffles = true;
        let n = self.p.simd.min(16);
        let exec =
            Exec { n, first: n * self.r.below(self.p.simd / n), no_mask: at.together && self.one_in(6) };
        let (vectors, fixed) = (self.lanes.vectors.clone(), self.lanes.fixed.clone());
        let all = [vectors.clone(), fixed].concat();
        let from = self.r.pick(&all);
        let alike: Vec<usize> =
            vectors.into_iter().filter(|v| self.p.vars[*v].ty == self.p.vars[from].ty).collect();
        let to = self.r.pick(&alike);
        let lanes = match self.r.below(8) {
            0 => Lanes::Own(self.r.pick(&all)),
            1 => Lanes::Times(self.r.pick(&[0, 3, 5, 31])),
            2 | 3 => Lanes::Further(self.r.pick(&[1, 2, 7, 15, 30])),
            _ => Lanes::Xor(self.r.pick(&[1, 2, 4, 8, 16, 3, 31])),
        };
        let guard = self.one_in(6).then(|| self.guard());
        out.push(Stmt::Shuffle(Shuffle { exec, guard, to, from, lanes }));
    }

    /// All channels, or those of a half of 32.
    fn whole(&mut self, at: At) -> Exec {
        let no_mask = at.together && self.one_in(6);
        if self.p.simd == 32 && self.one_in(3) {
            return Exec { n: 16, first: 16 * self.r.below(2), no_mask };
        }
        Exec { n: self.p.simd, first: 0, no_mask }
    }

    pub(super) fn own(v: usize, e: Exec, modifier: Mod) -> Src {
        let region = if e.n == 1 { (0, 1, 0) } else { (1, 1, 0) };
        Src::Region { place: Place::Own(v), element: e.first, region, modifier }
    }

    fn one(v: usize, modifier: Mod) -> Src {
        Src::Region { place: Place::Own(v), element: 0, region: (0, 1, 0), modifier }
    }

    fn small(&mut self) -> Src {
        let (n, ty) = (self.number(), self.r.pick(&[T::Ud, T::D]));
        Src::Imm { ty, bits: n as u64 & ty.mask() }
    }

    /// The same in all channels.
    fn uniform(&mut self, modifier: Mod) -> Src {
        if self.one_in(2) {
            return self.small();
        }
        let all = self.lanes.scalars.clone();
        Self::one(self.r.pick(&all), modifier)
    }

    fn lane_source(&mut self, e: Exec, signs: bool) -> Src {
        let modifier = if signs && self.one_in(6) { Mod::Neg } else { Mod::None };
        let (vectors, halves, fixed) =
            (self.lanes.vectors.clone(), self.lanes.halves.clone(), self.lanes.fixed.clone());
        match self.r.below(12) {
            0..=4 => Self::own(self.r.pick(&vectors), e, modifier),
            5 => Self::own(self.r.pick(&halves), e, modifier),
            6 => Self::own(self.r.pick(&fixed), e, modifier),
            _ => self.uniform(modifier),
        }
    }

    /// An instruction on vectors.
    fn vector(&mut self, at: At) -> Inst {
        use Op::{Add, Add3, And, Mad, Max, Min, Mov, Mul, Or, Sel, Shl, Xor};
        let exec = self.whole(at);
        let mut ops = vec![
            Mov, Mov, Mov, Add, Add, Add, Add, Mul, Mul, Mad, Mad, Shl, Shl, And, Or, Xor, Min, Max, Sel,
        ];
        if self.p.device.xehp {
            ops.extend([Add3, Add3]);
        }
        let op = self.r.pick(&ops);
        let signs = !matches!(op, And | Or | Xor);
        let srcs = match op {
            Mov if self.p.local.is_some() && self.one_in(2) => {
                let d = self.r.pick(&[0, 0, 0, 1, 1, 2]);
                let modifier = if self.one_in(8) { Mod::Neg } else { Mod::None };
                vec![Src::Region { place: Place::Id(d), element: exec.first, region: (1, 1, 0), modifier }]
            }
            Mov => vec![self.lane_source(exec, signs)],
            Shl => vec![self.lane_source(exec, signs), self.count()],
            Mul | Mad => {
                let (a, mut b) = (self.lane_source(exec, signs), self.uniform(Mod::None));
                if self.one_in(6) {
                    b = self.lane_source(exec, false);
                }
                let mut all = vec![a, b];
                if op == Mul && self.one_in(4) && !matches!(all[0], Src::Imm { .. }) {
                    all.swap(0, 1);
                }
                if op == Mad {
                    all.push(self.lane_source(exec, signs));
                }
                all
            }
            Add3 => (0..3).map(|_| self.lane_source(exec, signs)).collect(),
            _ => (0..2).map(|_| self.lane_source(exec, signs)).collect(),
        };
        let all = self.lanes.vectors.clone();
        let to = self.r.pick(&all);
        // Rarely the ids themselves are written over.
        let ids = self.p.local.is_some() && op != Sel && self.one_in(40);
        let place = if ids { Place::Id(self.r.below(3)) } else { Place::Own(to) };
        let sat = !ids && matches!(op, Mov | Add | Min | Max) && self.one_in(12);
        let dst = Dst::Elements { place, element: exec.first, stride: 1, sat };
        let guard = (op == Sel || (!matches!(op, Min | Max) && self.one_in(7))).then(|| self.guard());
        Inst { op, exec, guard, dst, second: None, srcs }
    }

    /// A shift's count.
    fn count(&mut self) -> Src {
        if self.one_in(6) {
            return self.uniform(Mod::None);
        }
        let (ty, n) = self.r.pick(&[
            (T::Ud, 1),
            (T::Ud, 2),
            (T::D, 2),
            (T::Ud, 3),
            (T::Uw, 4),
            (T::Ud, 31),
            (T::D, -1),
            (T::Ud, 34),
        ]);
        Src::Imm { ty, bits: n as i64 as u64 & ty.mask() }
    }

    /// An instruction of one channel.
    fn scalar(&mut self, at: At) -> Inst {
        use Op::{Add, And, Mad, Max, Mov, Mul, Shl};
        let exec = Exec { n: 1, first: 0, no_mask: at.together && !self.one_in(6) };
        let op = self.r.pick(&[Mov, Add, Add, Mul, Mad, Shl, And, Max]);
        let signs = op != And;
        let source = |g: &mut Self| {
            let modifier = if signs && g.one_in(6) { Mod::Neg } else { Mod::None };
            g.uniform(modifier)
        };
        let srcs = match op {
            Mov => vec![source(self)],
            Shl => vec![source(self), self.count()],
            Mad => (0..3).map(|_| source(self)).collect(),
            _ => (0..2).map(|_| source(self)).collect(),
        };
        let all = self.lanes.scalars.clone();
        let to = Place::Own(self.r.pick(&all));
        let guard = (op != Max && self.one_in(12)).then(|| self.guard());
        let dst = Dst::Elements { place: to, element: 0, stride: 1, sat: false };
        Inst { op, exec, guard, dst, second: None, srcs }
    }

    /// A vector that is made by eight channels at a time, all of them or some.
    fn halves(&mut self, at: At, out: &mut Vec<Stmt>) {
        let op = self.r.pick(&[Op::Addc, Op::Addc, Op::Subb, Op::Add, Op::Xor]);
        let all = self.lanes.halves.clone();
        let to = self.r.pick(&all);
        let second = self.r.pick(&all.iter().copied().filter(|v| *v != to).collect::<Vec<_>>());
        let parts: Vec<usize> = match self.one_in(4) {
            true => vec![self.r.below(self.p.simd / 8)],
            false => (0..self.p.simd / 8).collect(),
        };
        let from = [self.lanes.halves.clone(), self.lanes.fixed.clone()].concat();
        let (a, b) = (self.r.pick(&from), self.r.pick(&from));
        let uniform = self.one_in(3).then(|| self.uniform(Mod::None));
        let guard = self.one_in(8).then(|| self.guard());
        let no_mask = at.together && self.one_in(6);
        let carries = matches!(op, Op::Addc | Op::Subb);
        for k in parts {
            let exec = Exec { n: 8, first: 8 * k, no_mask };
            let unsigned = |s: Src| match s {
                Src::Imm { bits, .. } => Src::Imm { ty: T::Ud, bits },
                s => s,
            };
            let ud = |g: &Self, v: usize| if carries && g.p.vars[v].ty != T::Ud { to } else { v };
            let first = Self::own(ud(self, a), exec, Mod::None);
            let other = match uniform {
                Some(Src::Region { place: Place::Own(v), .. }) if carries && self.p.vars[v].ty != T::Ud => {
                    Self::own(to, exec, Mod::None)
                }
                Some(s) => unsigned(s),
                None => Self::own(ud(self, b), exec, Mod::None),
            };
            let dst = Dst::Elements { place: Place::Own(to), element: exec.first, stride: 1, sat: false };
            let second = carries.then_some((second, exec.first));
            out.push(Stmt::Inst(Inst { op, exec, guard, dst, second, srcs: vec![first, other] }));
        }
    }

    /// A gather or scatter whose addresses are one of the vectors.
    fn lane_access(&mut self, at: At, out: &mut Vec<Stmt>) {
        let n = if self.p.device.lsc { self.p.simd } else { self.p.simd.min(16) };
        let first = n * self.r.below(self.p.simd / n);
        let exec = Exec { n, first, no_mask: at.together && self.one_in(8) };
        let how = self.r.pick(&[Addressing::Surface, Addressing::Slm]);
        let all = self.lanes.vectors.clone();
        let address = self.r.pick(&all);
        let data = match self.r.below(4) {
            0 => self.of_type(T::Ud),
            1 => self.r.pick(&self.lanes.halves.clone()),
            _ => self.r.pick(&all),
        };
        let write = self.one_in(2) && !self.quiet;
        let offset = if self.one_in(2) { 0 } else { 4 * self.r.below(32) as i32 };
        let guard = self.one_in(4).then(|| self.guard());
        out.push(Stmt::Access(Access { write, how, exec, guard, address, offset, data }));
    }

    /// A branch of the channels whose local id, or what a vector holds, is so much at most, or whatever it is to be:
    /// what compilers make of the rounds of a reduction.
    pub(super) fn by_id(&mut self, depth: usize, at: At, out: &mut Vec<Stmt>) {
        let exec = self.all();
        let modifier = if self.one_in(8) { Mod::Neg } else { Mod::None };
        let id = Place::Id(self.r.pick(&[0, 0, 0, 1, 2]));
        let mut left = Src::Region { place: id, element: 0, region: (1, 1, 0), modifier };
        if self.one_in(2) {
            let v = self.r.pick(&self.lanes.vectors.clone());
            if self.one_in(2) {
                let dst = Dst::Elements { place: Place::Own(v), element: 0, stride: 1, sat: false };
                let srcs = vec![left];
                out.push(Stmt::Inst(Inst { op: Op::Mov, exec, guard: None, dst, second: None, srcs }));
            }
            left = Self::own(v, exec, Mod::None);
        }
        let bits = self.r.pick(&[0, 0, 1, 1, 2, 3, 4, 7, 8, 8, 15, 16, 17, 24, 31]);
        let right = Src::Imm { ty: self.r.pick(&[T::Uw, T::D, T::Ud]), bits };
        let (op, dst) = (Op::Cmp(self.r.below(6) as u8), Dst::Pred(BY_ID));
        let srcs = vec![left, right];
        out.push(Stmt::Inst(Inst { op, exec, guard: None, dst, second: None, srcs }));
        let (a, b) = (1 + self.r.below(5), self.r.below(3));
        let then = self.block(at, a, depth);
        let other = self.block(at, b, depth);
        out.push(Stmt::If { pred: BY_ID, invert: self.one_in(2), then, other });
    }

    /// A source of a type where variables are accessed whole.
    pub(super) fn tidy_src(&mut self, ty: T, e: Exec, modifier: Mod) -> Src {
        let scalars: Vec<usize> =
            self.lanes.scalars.iter().copied().filter(|v| self.p.vars[*v].ty == ty).collect();
        if !scalars.is_empty() && self.one_in(4) {
            return Self::one(self.r.pick(&scalars), modifier);
        }
        Self::own(self.of_type(ty), e, modifier)
    }
}
