//! Subroutines and functions, and calls of them.

use super::*;

impl Gen {
    /// Where the code of what is called begins, with `loops` around it; subroutines and functions that are there for
    /// barriers are the first, and others do not call them.
    pub(super) fn called(&self, loops: usize) -> At {
        let first = self.barriers.halves.len();
        let threads = self.p.threads();
        At { blocks: 0, loops, together: false, meets: threads == 1, sub: first, function: first }
    }

    /// Subroutines and functions, the last first, as each calls later ones.
    pub(super) fn calls(&mut self, functions: bool) {
        let halves = self.barriers.halves.clone();
        let subs = halves.len() + self.r.below(3);
        let functions = if functions { halves.len() + self.r.below(4) } else { 0 };
        self.p.subs = vec![Vec::new(); subs];
        self.p.functions = vec![Function { vars: Vec::new(), body: Vec::new() }; functions];
        for k in (0..functions).rev() {
            let mut f = self.function(k);
            if let Some(half) = halves.get(k) {
                f.body = self.with_barrier(f.body, *half);
            }
            self.p.functions[k] = f;
        }
        for k in (0..subs).rev() {
            let mut at = self.called(LOOPS);
            // Others call those that are for barriers.
            let barrier = k < halves.len();
            at.sub = if barrier { subs } else { k + 1 };
            at.meets &= !barrier;
            let n = 1 + self.r.below(4);
            let body = self.block(at, n, 1);
            self.p.subs[k] = match halves.get(k) {
                Some(half) => self.with_barrier(body, *half),
                None => body,
            };
        }
        self.p.order = (0..functions).collect();
        for k in (1..functions).rev() {
            let other = self.r.below(k + 1);
            self.p.order.swap(k, other);
        }
    }

    /// Calls a function from `first` on with a small number and a dword.
    pub(super) fn call(&mut self, first: usize, small: Place, second: Place, out: &mut Vec<Stmt>) {
        let function = first + self.r.below(self.p.functions.len() - first);
        self.call_of(function, small, second, out);
    }

    pub(super) fn call_of(&mut self, function: usize, small: Place, second: Place, out: &mut Vec<Stmt>) {
        out.push(self.simple(Op::And, Place::Arg(0), &[place(small), imm(T::Ud, 15)]));
        out.push(self.simple(Op::Mov, Place::Arg(1), &[place(second)]));
        out.push(Stmt::Fcall { function, by_address: self.one_in(3) });
    }

    /// A function: of what it is given it makes an index, before or after it calls others, and a result.
    fn function(&mut self, k: usize) -> Function {
        let vars = vec![T::Ud; 5];
        let own = Place::Own;
        let mut body = Vec::new();
        body.push(self.simple(Op::Mov, own(0), &[place(Place::Arg(1))]));
        for v in 1..5 {
            body.push(self.simple(Op::Mov, own(v), &[imm(T::Ud, v as u64)]));
        }
        // The index is kept in a variable, scaled at once, or scaled after the call.
        let now = self.one_in(2);
        if now {
            body.push(self.simple(Op::Shl, own(2), &[place(Place::Arg(0)), imm(T::Ud, 2)]));
        } else {
            body.push(self.simple(Op::Mov, own(1), &[place(Place::Arg(0))]));
        }
        let next = (k + 1).max(self.barriers.halves.len());
        let calls = next < self.p.functions.len() && !self.one_in(3);
        if calls {
            let (a, b) = (own(self.r.below(2)), own(self.r.below(2)));
            self.call(next, a, b, &mut body);
            body.push(self.simple(Op::Add, own(0), &[place(own(0)), place(Place::Retval)]));
        }
        if !now {
            body.push(self.simple(Op::Shl, own(2), &[place(own(1)), imm(T::Ud, 2)]));
        }
        if self.one_in(2) {
            let c = 4 * self.r.below(60) as u64;
            body.push(self.simple(Op::Add, own(2), &[place(own(2)), imm(T::Ud, c)]));
        }
        if self.p.device.lsc && !self.one_in(4) {
            let exec = self.all();
            let write = self.one_in(3) && !self.quiet;
            let data = if write { 0 } else { 3 };
            body.push(Stmt::Access(Access {
                write,
                how: Addressing::Surface,
                exec,
                guard: None,
                address: 2,
                offset: 0,
                data,
            }));
        }
        let op = self.r.pick(&[Op::Add, Op::Xor, Op::Mul]);
        body.push(self.simple(op, own(4), &[place(own(0)), place(own(3))]));
        body.push(self.simple(Op::Add, own(4), &[place(own(4)), place(own(2))]));
        body.push(self.simple(Op::Mov, Place::Retval, &[place(own(4))]));
        Function { vars, body }
    }
}
