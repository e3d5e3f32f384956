//! Predicates that are written in parts and what goes by them, instructions that write what they read, and barriers,
//! here or in what is called.

use super::*;

/// What waits or signals at a barrier: the subroutine and the function for each part.
#[derive(Default)]
pub(super) struct Barriers {
    /// The program's kind of barrier, if it has any.
    pub kind: Option<Barrier>,
    /// Parts that subroutines and functions of the same number have.
    pub halves: Vec<Half>,
}

impl Gen {
    /// Whether a program has barriers, of which kind, and which parts of them are called.
    pub(super) fn choose_barriers(&mut self) {
        if !self.one_in(3) {
            return;
        }
        let mut kinds = vec![Barrier::Whole];
        if self.p.device.split_barriers() {
            kinds.push(Barrier::Split);
        }
        if self.p.device.named_barriers() {
            kinds.push(Barrier::Named);
        }
        let kind = self.r.pick(&kinds);
        self.barriers.kind = Some(kind);
        self.barriers.halves = match kind {
            Barrier::Whole => vec![Half::Both],
            _ => vec![Half::Signal, Half::Wait, Half::Both],
        };
    }

    /// A part of a barrier among statements, anywhere.
    pub(super) fn with_barrier(&mut self, mut body: Vec<Stmt>, half: Half) -> Vec<Stmt> {
        if let Some(kind) = self.barriers.kind {
            let at = self.r.below(body.len() + 1);
            body.insert(at, Stmt::Barrier(kind, half));
        }
        body
    }

    /// A barrier: whole, or its signal and its wait apart; each here, in a subroutine or in a function.
    pub(super) fn barrier(&mut self, at: At, out: &mut Vec<Stmt>) {
        let Some(kind) = self.barriers.kind else { return };
        if kind == Barrier::Whole || self.one_in(3) {
            return self.part_of_barrier(kind, Half::Both, out);
        }
        self.part_of_barrier(kind, Half::Signal, out);
        for _ in 0..self.r.below(3) {
            let i = self.integer(at);
            out.push(Stmt::Inst(i));
        }
        self.part_of_barrier(kind, Half::Wait, out);
    }

    fn part_of_barrier(&mut self, kind: Barrier, half: Half, out: &mut Vec<Stmt>) {
        let called = self.barriers.halves.iter().position(|h| *h == half);
        match (called, self.r.below(3)) {
            (Some(sub), 1) if sub < self.p.subs.len() => out.push(Stmt::Call { sub, guard: None }),
            (Some(function), 2) if function < self.p.functions.len() => {
                let (small, second) = (self.of_type(T::Ud), self.of_type(T::Ud));
                self.call_of(function, Place::Own(small), Place::Own(second), out);
            }
            _ => out.push(Stmt::Barrier(kind, half)),
        }
    }

    /// Some of a predicate's channels, and rarely all.
    fn some(&mut self, at: At) -> Exec {
        let n = self.r.pick(&[1, 1, 2, 4, 8, 8, 16, 16, 32]).min(self.p.simd);
        // What is written by halves is what each of them has.
        let n = if self.p.halves { n.min(HALF) } else { n };
        let first = n.max(4) * self.r.below(self.p.simd / n.max(4));
        Exec { n, first, no_mask: at.together && self.one_in(2) }
    }

    /// Mostly all channels.
    fn most(&mut self, at: At) -> Exec {
        match self.one_in(5) {
            true => self.some(at),
            false => Exec { no_mask: at.together && self.one_in(4), ..self.all() },
        }
    }

    fn type_of_any(&mut self, floats: bool) -> T {
        let mut all = ints(self.p.device, true);
        if floats {
            all.extend([T::F, T::Hf]);
            all.extend(self.p.device.quads.then_some(T::Df));
        }
        self.r.pick(&all)
    }

    /// The channels' own elements of a variable.
    fn own_elements(&self, v: usize, e: Exec, modifier: Mod) -> Src {
        let region = if e.n == 1 { (0, 1, 0) } else { (1, 1, 0) };
        Src::Region { place: Place::Own(v), element: e.first, region, modifier }
    }

    /// A small number of a type, or of a wider one where there are no immediates of that.
    fn near(&mut self, ty: T) -> Src {
        let ty = match ty {
            T::Ub => T::Uw,
            T::B => T::W,
            ty => ty,
        };
        let n = self.r.pick(&[0, 0, 0, 1, 2, 3, 8, 15, 16]);
        if ty.is_float() {
            return Src::Imm {
                ty,
                bits: if n == 0 { 0 } else { self.r.pick(&[ty.one(), ty.one() | ty.sign()]) },
            };
        }
        Src::Imm { ty, bits: n }
    }

    /// A compare into a predicate.
    fn compared(&mut self, e: Exec, pred: usize) -> Stmt {
        let ty = self.type_of_any(true);
        let left = self.src(ty, e, &[Mod::Neg, Mod::Abs], false);
        let right = match self.one_in(2) {
            true => self.near(ty),
            false => self.src(ty, e, &[Mod::Neg], true),
        };
        let (op, dst) = (Op::Cmp(self.r.below(6) as u8), Dst::Pred(pred));
        Stmt::Inst(Inst { op, exec: e, guard: None, dst, second: None, srcs: vec![left, right] })
    }

    /// Writes some bits of a predicate, or all.
    pub(super) fn bits(&mut self, at: At, pred: usize) -> Stmt {
        let exec = self.some(at);
        match self.r.below(4) {
            0 => {
                // Of a scalar, or of each channel.
                let ty = self.r.pick(&[T::Ud, T::Uw, T::D]);
                let src = match self.r.below(3) {
                    0 => Src::Imm { ty: T::Ud, bits: self.r.value(T::Ud) },
                    1 if exec.n > 1 => {
                        let v = self.of_type(ty);
                        self.own_elements(v, exec, Mod::None)
                    }
                    _ => {
                        let all = self.lanes.scalars();
                        let v = self.r.pick(&all);
                        self.own_elements(v, Exec { n: 1, first: 0, ..exec }, Mod::None)
                    }
                };
                let dst = Dst::Pred(pred);
                Stmt::Inst(Inst { op: Op::Setp, exec, guard: None, dst, second: None, srcs: vec![src] })
            }
            1 => self.logic(exec, pred),
            _ => self.compared(exec, pred),
        }
    }

    /// Logic of predicates, the one that is written among them or not.
    fn logic(&mut self, exec: Exec, pred: usize) -> Stmt {
        let op = self.r.pick(&[Op::And, Op::Or, Op::Xor, Op::Not]);
        let n = if op == Op::Not { 1 } else { 2 };
        let mut srcs: Vec<Src> = (0..n).map(|_| Src::Pred(self.r.below(FREE_PREDS))).collect();
        if self.one_in(2) {
            srcs[self.r.below(n)] = Src::Pred(pred);
        }
        Stmt::Inst(Inst { op, exec, guard: None, dst: Dst::Pred(pred), second: None, srcs })
    }

    /// All bits of a predicate as a number, or some from one.
    pub(super) fn as_number(&mut self, at: At) -> Stmt {
        let pred = self.r.below(FREE_PREDS);
        if !at.together || self.one_in(2) {
            return self.bits(at, pred);
        }
        let exec = Exec { n: 1, first: 0, no_mask: true };
        let all = self.lanes.scalars();
        let place = Place::Own(self.r.pick(&all));
        let dst = Dst::Elements { place, element: 0, stride: 1, sat: false };
        Stmt::Inst(Inst { op: Op::Mov, exec, guard: None, dst, second: None, srcs: vec![Src::Pred(pred)] })
    }

    /// A predicate that is compared for, written in parts, and gone by, in any order.
    pub(super) fn truths(&mut self, at: At, out: &mut Vec<Stmt>) {
        let pred = self.r.below(FREE_PREDS);
        let e = self.most(at);
        out.push(self.compared(e, pred));
        for _ in 0..1 + self.r.below(4) {
            let s = match self.r.below(6) {
                0 => {
                    let e = self.most(at);
                    self.logic(e, pred)
                }
                1 | 2 => self.bits(at, pred),
                3 => {
                    let e = self.most(at);
                    self.compared(e, pred)
                }
                _ => Stmt::Inst(self.in_place(at, Some(pred))),
            };
            out.push(s);
        }
    }

    /// An instruction that writes a variable that it reads, or moves to it, of any type, by a predicate or not.
    pub(super) fn in_place(&mut self, at: At, pred: Option<usize>) -> Inst {
        use Op::{Add, And, Mad, Max, Min, Mov, Mul, Not, Or, Sel, Shl, Xor};
        let exec = self.most(at);
        let ty = self.type_of_any(true);
        let op = match ty.is_float() {
            true => self.r.pick(&[Sel, Sel, Mov, Add, Mul, Mad, Min, Max]),
            false if ty.size() == 8 => self.r.pick(&[Sel, Sel, Mov, Add, Min, Max, And, Or, Xor, Not, Shl]),
            false => self.r.pick(&[Sel, Sel, Sel, Mov, Add, Mul, Mad, Min, Max, And, Or, Xor, Not, Shl]),
        };
        let count = match op {
            Mov | Not => 1,
            Mad => 3,
            _ => 2,
        };
        let v = self.of_type(ty);
        let mut srcs: Vec<Src> = Vec::new();
        let own = self.r.below(count);
        for k in 0..count {
            let arith = !matches!(op, And | Or | Xor | Not | Shl);
            let modifier = if arith && self.one_in(8) { Mod::Neg } else { Mod::None };
            srcs.push(match () {
                () if k == own => self.own_elements(v, exec, modifier),
                // Of a shift the count is bits, of three the last one alone may be a number.
                () if (count < 3 || k == 2) && self.one_in(2) => self.near(ty),
                () => self.src(ty, exec, if arith { &[Mod::Neg] } else { &[Mod::None] }, false),
            });
        }
        if op == Mov && self.one_in(2) {
            srcs[0] = self.near(ty);
        }
        if !self.tidy && self.one_in(6) {
            // The elements that it reads are others of those that it writes.
            let room = ELEMENTS + 1 - exec.n;
            if let (Src::Region { element, .. }, true) = (&mut srcs[own], op != Mov && exec.n > 1) {
                *element = self.r.below(room);
            }
        }
        let sat = matches!(op, Sel | Mov | Add | Min | Max) && self.one_in(8);
        let guard = pred.map(|pred| Guard { pred, ..self.guard() }).or_else(|| Some(self.guard()));
        let guard = match op {
            Sel => guard,
            Min | Max => None,
            _ => guard.filter(|_| pred.is_some() || self.one_in(2)),
        };
        let dst = Dst::Elements { place: Place::Own(v), element: exec.first, stride: 1, sat };
        Inst { op, exec, guard, dst, second: None, srcs }
    }

    /// The numbers of channels in words, as compilers make them; and what goes by them.
    pub(super) fn numbers(&mut self, at: At, out: &mut Vec<Stmt>) {
        let ty = self.r.pick(&[T::Uw, T::W, T::Uw, T::Ud]);
        let v = self.of_type(ty);
        let no_mask = at.together && !self.one_in(4);
        let one = |op, n, first, srcs: Vec<Src>| {
            let exec = Exec { n, first, no_mask };
            let dst = Dst::Elements { place: Place::Own(v), element: first, stride: 1, sat: false };
            Stmt::Inst(Inst { op, exec, guard: None, dst, second: None, srcs })
        };
        for first in (0..self.p.simd).step_by(16) {
            let signed = self.one_in(2);
            let bits = if self.one_in(4) { self.r.next() as u32 } else { 0x7654_3210 };
            out.push(one(Op::Mov, 8, first, vec![Src::Eight { signed, bits }]));
            if self.p.simd > 8 {
                // The lower eight, and eight more.
                let exec = Exec { n: 8, first, no_mask };
                let lower = self.own_elements(v, exec, Mod::None);
                let eight = Src::Imm { ty: T::W, bits: 8 };
                out.push(one(Op::Add, 8, first + 8, vec![lower, eight]));
            }
        }
        if self.p.simd == 32 {
            let exec = Exec { n: 16, first: 16, no_mask };
            let upper = self.own_elements(v, exec, Mod::None);
            out.push(one(Op::Add, 16, 16, vec![upper, Src::Imm { ty: T::W, bits: 16 }]));
        }
        let exec = Exec { no_mask: at.together && self.one_in(4), ..self.all() };
        let left = self.own_elements(v, exec, Mod::None);
        if self.one_in(3) {
            let to = self.type_of_any(false);
            let op = self.r.pick(&[Op::Mov, Op::Add, Op::And]);
            let mut srcs = vec![left];
            if op != Op::Mov {
                srcs.push(self.near(ty));
            }
            let (to, guard) = (self.of_type(to), None);
            let dst = Dst::Elements { place: Place::Own(to), element: 0, stride: 1, sat: false };
            out.push(Stmt::Inst(Inst { op, exec, guard, dst, second: None, srcs }));
            return;
        }
        let pred = self.r.below(FREE_PREDS);
        let right = self.near(ty);
        let (op, dst) = (Op::Cmp(self.r.below(6) as u8), Dst::Pred(pred));
        out.push(Stmt::Inst(Inst { op, exec, guard: None, dst, second: None, srcs: vec![left, right] }));
        let i = self.in_place(at, Some(pred));
        out.push(Stmt::Inst(i));
    }
}
