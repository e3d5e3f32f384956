//! Random programs: every type, modifier, region, mask and predicate, control flow and calls of all kinds, and
//! what compilers do around memory: indices that are extended, scaled and added to, across blocks and calls; vectors
//! that are accessed whole, made of local ids and scalars, and are addresses ([`lanes`]).

mod calls;
mod lanes;
mod predicates;
mod quads;

use crate::num::*;
use crate::program::*;

/// Bytes of the buffer.
pub const DATA: usize = 4096;
/// Nested loops at most.
const LOOPS: usize = 2;
/// Predicates that any instruction may write.
const FREE_PREDS: usize = 4;
/// The one that branches by local ids go by.
const BY_ID: usize = FREE_PREDS + LOOPS;

/// `%cr0`: all denormals kept mostly; four directions; some or all flushed.
const MODES: [u32; 10] = [0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x4e0, 0x4f0, 0x440, 0x80, 0x30];

/// What integer instructions do on all devices, as often as they stand here.
const INTEGER_OPS: &[Op] = {
    use Op::*;
    &[
        Mov,
        Mov,
        Mov,
        Sel,
        Sel,
        Cmp(0),
        Cmp(0),
        Add,
        Add,
        Add,
        Mul,
        Mad,
        Mulh,
        Avg,
        Min,
        Max,
        Div,
        Op::Mod,
        And,
        Or,
        Xor,
        Not,
        Shl,
        Shl,
        Shr,
        Shr,
        Asr,
        Asr,
        Bfe,
        Bfi,
        Bfrev,
        Cbit,
        Fbh,
        Fbl,
        Lzd,
        Addc,
        Subb,
    ]
};

/// What surrounds a statement.
#[derive(Clone, Copy)]
struct At {
    /// Enclosing blocks.
    blocks: usize,
    loops: usize,
    /// Every channel is there: instructions may ignore the mask.
    together: bool,
    /// All threads of the group come here as often.
    meets: bool,
    /// Subroutines and functions from these numbers on may be called.
    sub: usize,
    function: usize,
}

struct Gen {
    r: Rng,
    p: Program,
    /// Variables that any instruction may write.
    free: Vec<usize>,
    /// Variables for addresses, of `ud` and of `uq`.
    narrow: Vec<usize>,
    wide: Vec<usize>,
    counters: Vec<usize>,
    limits: Vec<usize>,
    /// Limits that are the same in all channels.
    even: Vec<usize>,
    lanes: lanes::Pools,
    /// Vectors of quads that are read by halves, too.
    split: Vec<usize>,
    /// Variables are registers of their own, which instructions access whole, channel by channel.
    tidy: bool,
    /// The mode changes in the middle.
    modes: bool,
    barriers: predicates::Barriers,
    /// Nothing is written to memory: threads of a group take turns, and what they write others would read.
    quiet: bool,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut r = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0);
    for _ in 0..4 {
        r.next();
    }
    let device = r.pick(&DEVICES);
    let simd = r.pick(&[8, 16, 16, 32, 32, 32]);
    let cr0 = r.pick(&MODES);
    // Compilers change the mode around a division, and nowhere else.
    let modes = r.below(3) == 0;
    let tidy = r.below(2) == 0;
    let halves = tidy && simd == 2 * HALF && device.grf == 2 * HALF && r.below(6) != 0;
    let local = lanes::local(&mut r, simd);
    let mut g = Gen {
        p: Program {
            device,
            simd,
            halves,
            shuffles: false,
            cr0,
            local,
            groups: r.pick(&[1, 1, 2]),
            vars: Vec::new(),
            preds: Vec::new(),
            body: Vec::new(),
            subs: Vec::new(),
            functions: Vec::new(),
            order: Vec::new(),
            data: Vec::new(),
        },
        r,
        free: Vec::new(),
        narrow: Vec::new(),
        wide: Vec::new(),
        counters: Vec::new(),
        limits: Vec::new(),
        even: Vec::new(),
        lanes: lanes::Pools::default(),
        split: Vec::new(),
        tidy,
        modes,
        barriers: predicates::Barriers::default(),
        quiet: false,
    };
    g.declare();
    g.choose_barriers();
    g.quiet = g.barriers.kind.is_some() && g.p.threads() > 1;
    // Native code of what calls is made by functions, with less known: most programs are none of these.
    if !tidy || g.one_in(5) {
        // There are local ids, and halves, where there are no functions.
        g.calls(local.is_none() && !halves);
    }
    let together = (0..g.p.threads()).all(|t| g.p.mask(t).count_ones() as usize == simd);
    let at = At { together, meets: true, ..g.called(0) };
    let n = 6 + g.r.below(10);
    g.p.body = g.block(at, n, 3);
    g.p
}

/// The types of integers.
fn ints(d: Device, quads: bool) -> Vec<T> {
    let mut all = vec![T::Ub, T::B, T::Uw, T::W, T::Ud, T::D];
    if d.quads && quads {
        all.extend([T::Uq, T::Q]);
    }
    all
}

impl Gen {
    fn one_in(&mut self, n: usize) -> bool {
        self.r.below(n) == 0
    }

    fn var(&mut self, ty: T, init: Vec<u64>) -> usize {
        let home = if self.tidy { Home::Apart } else { Home::Image };
        self.p.vars.push(Var { ty, init, home });
        self.p.vars.len() - 1
    }

    /// Elements of a variable that any instruction may write.
    fn elements(&self) -> usize {
        if self.tidy { self.p.simd } else { ELEMENTS }
    }

    fn declare(&mut self) {
        let mut types = ints(self.p.device, true);
        types.extend([T::F, T::Hf]);
        if self.p.device.quads {
            types.push(T::Df);
        }
        for ty in types {
            for _ in 0..2 + (ty.size() == 4) as usize {
                let init = (0..self.elements()).map(|_| self.r.value(ty)).collect();
                let v = self.var(ty, init);
                self.free.push(v);
            }
        }
        for _ in 0..3 {
            let v = self.var(T::Ud, vec![0; self.elements()]);
            self.narrow.push(v);
        }
        for _ in 0..if self.p.device.quads { 3 } else { 0 } {
            let v = self.var(T::Uq, vec![0; self.elements()]);
            self.wide.push(v);
        }
        for _ in 0..LOOPS {
            let v = self.var(T::D, vec![0; self.elements()]);
            self.counters.push(v);
            let init = (0..self.elements()).map(|_| self.r.below(4) as u64).collect();
            let v = self.var(T::D, init);
            self.limits.push(v);
            let times = self.r.below(4) as u64;
            let v = self.var(T::D, vec![times; self.elements()]);
            self.even.push(v);
        }
        self.declare_lanes();
        self.declare_quads();
        let all = u32::MAX >> (32 - self.p.simd);
        self.p.preds = (0..=BY_ID).map(|_| self.r.next() as u32 & all).collect();
        self.p.data = (0..DATA / 4).flat_map(|_| (self.r.next() as u32).to_le_bytes()).collect();
    }

    fn all(&self) -> Exec {
        Exec { n: self.p.simd, first: 0, no_mask: false }
    }

    /// Part of the mask.
    fn exec(&mut self, at: At) -> Exec {
        let mut n = self.r.pick(&[1, 2, 4, 8, 8, 16, 16, 32]);
        while n > self.p.simd {
            n /= 2;
        }
        if self.one_in(3) {
            n = self.p.simd;
        }
        if self.tidy && !self.one_in(12) {
            n = if self.one_in(4) { self.p.simd.min(16) } else { self.p.simd };
        }
        let step = n.max(4);
        let first = step * self.r.below(self.p.simd / step);
        Exec { n, first, no_mask: at.together && self.one_in(4) }
    }

    fn guard(&mut self) -> Guard {
        Guard {
            pred: self.r.below(FREE_PREDS),
            invert: self.one_in(2),
            // Of all channels no half knows.
            combine: if self.p.halves { 0 } else { self.r.pick(&[0, 0, 0, 0, 1, 2]) },
        }
    }

    fn of_type(&mut self, ty: T) -> usize {
        let all: Vec<usize> = self.free.iter().copied().filter(|v| self.p.vars[*v].ty == ty).collect();
        self.r.pick(&all)
    }

    /// A source of a type.
    fn src(&mut self, ty: T, e: Exec, modifiers: &[Mod], immediate: bool) -> Src {
        if immediate && ty.size() > 1 && self.one_in(6) {
            let mut bits = self.r.value(ty);
            while ty.is_float() && ty.is_nan(bits) {
                bits = self.r.value(ty);
            }
            return Src::Imm { ty, bits };
        }
        let modifier = if self.one_in(3) { self.r.pick(modifiers) } else { Mod::None };
        if self.tidy {
            return self.tidy_src(ty, e, modifier);
        }
        let v = self.of_type(ty);
        let place = Place::Own(v);
        let (v, w, h) = self.r.pick(&[
            (1, 1, 0),
            (1, 1, 0),
            (1, 1, 0),
            (1, 1, 0),
            (0, 1, 0),
            (2, 1, 0),
            (0, 2, 1),
            (0, 4, 1),
            (4, 4, 1),
            (4, 2, 2),
            (8, 4, 2),
            (16, 8, 2),
            (1, 4, 0),
        ]);
        let n = e.n;
        let region = match w <= n {
            true => (v, w, h),
            false => (1, 1, 0),
        };
        let last =
            |(v, w, h): (usize, usize, usize)| (0..n).map(|k| k / w * v + k % w * h).max().unwrap_or(0);
        let region = if last(region) < ELEMENTS { region } else { (1, 1, 0) };
        let region = if n == 1 { (0, 1, 0) } else { region };
        let room = ELEMENTS - last(region);
        // The channels' own elements mostly.
        let element = if e.first < room && !self.one_in(4) { e.first } else { self.r.below(room) };
        Src::Region { place, element, region, modifier }
    }

    fn dst(&mut self, ty: T, e: Exec, sat: bool) -> Dst {
        if self.tidy {
            let v = self.of_type(ty);
            return Dst::Elements { place: Place::Own(v), element: e.first, stride: 1, sat };
        }
        let mut stride = self.r.pick(&[1, 1, 1, 1, 2, 4]);
        while (e.n - 1) * stride >= ELEMENTS {
            stride /= 2;
        }
        let room = ELEMENTS - (e.n - 1) * stride;
        let element = if e.first < room && !self.one_in(4) { e.first } else { self.r.below(room) };
        let v = self.of_type(ty);
        Dst::Elements { place: Place::Own(v), element, stride, sat }
    }

    fn block(&mut self, at: At, n: usize, depth: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..n {
            self.statement(at, depth, &mut out);
        }
        out
    }

    fn statement(&mut self, at: At, depth: usize, out: &mut Vec<Stmt>) {
        let meets = at.meets && self.p.threads() == 1;
        let inner = At { blocks: at.blocks + 1, together: false, meets, ..at };
        match self.r.below(46) {
            0 | 1 if depth > 0 && self.p.local.is_some() && self.one_in(2) => {
                self.by_id(depth - 1, inner, out);
            }
            0 | 1 if depth > 0 => {
                let (a, b) = (1 + self.r.below(3), self.r.below(3));
                let (pred, invert) = (self.r.below(FREE_PREDS), self.one_in(2));
                let then = self.block(inner, a, depth - 1);
                let other = self.block(inner, b, depth - 1);
                out.push(Stmt::If { pred, invert, then, other });
            }
            2 if depth > 0 && at.loops < LOOPS => {
                let n = 1 + self.r.below(3);
                // Channels that all go round as often, and do not leave, stay together.
                let even = at.together && self.one_in(2);
                let (limits, inner) = match even {
                    true => (&self.even, At { blocks: 0, ..at }),
                    false => (&self.limits, inner),
                };
                let (counter, limit) = (self.counters[at.loops], limits[at.loops]);
                let body = self.block(At { loops: at.loops + 1, ..inner }, n, depth - 1);
                out.push(Stmt::Loop { counter, limit, pred: FREE_PREDS + at.loops, body });
            }
            3 if at.blocks > 0 => {
                let blocks = 1 + self.r.below(at.blocks);
                let (pred, invert) = (self.r.below(FREE_PREDS), self.one_in(2));
                out.push(Stmt::Leave { pred, invert, blocks });
            }
            4 if at.sub < self.p.subs.len() => {
                let sub = at.sub + self.r.below(self.p.subs.len() - at.sub);
                let guard = self.one_in(2).then(|| self.guard());
                out.push(Stmt::Call { sub, guard });
            }
            5 | 6 if at.function < self.p.functions.len() => {
                let ud = self.of_type(T::Ud);
                let x = self.of_type(T::Ud);
                self.call(at.function, Place::Own(ud), Place::Own(x), out);
                let to = Place::Own(self.of_type(T::Ud));
                out.push(self.simple(Op::Mov, to, &[place(Place::Retval)]));
            }
            7..=10 => self.access(at, depth, out),
            24..=33 if self.one_in(4) => self.quads(at, out),
            24..=33 => self.lanes(at, out),
            34..=37 => self.truths(at, out),
            38..=40 => {
                let i = self.in_place(at, None);
                out.push(Stmt::Inst(i));
            }
            41 => self.numbers(at, out),
            42 => {
                let s = self.as_number(at);
                out.push(s);
            }
            43 if at.meets => self.barrier(at, out),
            44 | 45 if self.modes => out.push(Stmt::Mode(self.r.pick(&MODES))),
            11..=15 => {
                let i = self.float(at);
                out.push(Stmt::Inst(i));
            }
            _ => {
                let i = self.integer(at);
                out.push(Stmt::Inst(i));
            }
        }
    }

    /// An instruction of all channels on their own elements.
    fn simple(&self, op: Op, to: Place, srcs: &[Src]) -> Stmt {
        let dst = Dst::Elements { place: to, element: 0, stride: 1, sat: false };
        Stmt::Inst(Inst { op, exec: self.all(), guard: None, dst, second: None, srcs: srcs.to_vec() })
    }

    /// A load or store, and before it what makes its addresses.
    fn access(&mut self, at: At, depth: usize, out: &mut Vec<Stmt>) {
        let flat = self.p.device.quads && self.one_in(2);
        let n = if self.p.device.lsc { self.r.pick(&[8, 16, 32]) } else { self.r.pick(&[8, 16]) };
        let n = n.min(self.p.simd);
        let n = if self.tidy && self.p.device.lsc { self.p.simd } else { n };
        let first = n * self.r.below(self.p.simd / n);
        let exec = Exec { n, first, no_mask: at.together && self.one_in(6) };
        let (address, temps) = self.address(at, depth, (exec, flat), out);
        // What the address was made of changes before it is used.
        if self.one_in(3) {
            let v = self.r.pick(&temps);
            if v != address {
                out.push(step(exec, Op::Add, v, vec![own(v), imm(T::Ud, 4)]));
            }
        }
        if self.one_in(6) {
            self.statement(At { loops: LOOPS, ..at }, depth.min(1), out);
        }
        let write = self.one_in(3) && !self.quiet;
        let data = if write { self.r.pick(&[T::Ud, T::D]) } else { self.r.pick(&[T::Ud, T::D, T::F]) };
        let data = self.of_type(data);
        let offset = match (self.p.device.lsc, flat) {
            (false, true) => 0,
            (true, _) if self.one_in(2) => 0,
            _ => 4 * self.r.below(32) as i32,
        };
        let how = if flat { Addressing::Flat } else { Addressing::Surface };
        let guard = self.one_in(4).then(|| self.guard());
        out.push(Stmt::Access(Access { write, how, exec, guard, address, offset, data }));
    }

    /// What makes addresses: random steps that lead to them. Gives the variable that has them, and those that were used on
    /// the way.
    fn address(
        &mut self,
        at: At,
        depth: usize,
        (exec, flat): (Exec, bool),
        out: &mut Vec<Stmt>,
    ) -> (usize, Vec<usize>) {
        let (narrow, wide) = (self.narrow.clone(), self.wide.clone());
        let mut now = self.r.pick(&narrow);
        let source = self.of_type(T::Ud);
        // Elements side by side, or far apart.
        let target = self.r.pick(&[2, 2, 2, 3, 3, 4, 5, 6]) as u64;
        let most = 15u64 >> target.saturating_sub(3);
        out.push(step(exec, Op::And, now, vec![own(source), imm(T::Ud, most)]));
        let mut temps = narrow;
        let mut extended = !flat;
        let (mut shift, mut based) = (0, !flat);
        for _ in 0..12 {
            if shift == target && extended && based {
                break;
            }
            // Something else in between: it may change where the index came from, or call.
            if self.one_in(5) {
                self.statement(At { loops: LOOPS, ..at }, depth.min(1), out);
            }
            let to = if self.one_in(4) { now } else { self.r.pick(&temps) };
            match self.r.below(4) {
                0 if !extended => {
                    temps = wide.clone();
                    let to = self.r.pick(&temps);
                    out.push(step(exec, Op::Mov, to, vec![own(now)]));
                    (now, extended) = (to, true);
                }
                1 if shift < target && self.one_in(4) => {
                    // All but the lowest bits go; those that stay go by the next shift.
                    let (ty, count) =
                        self.r.pick(&[(T::D, -1i64), (T::D, -2), (T::W, -1), (T::Ud, 31), (T::Uw, 63)]);
                    out.push(step(exec, Op::Shl, to, vec![own(now), imm(ty, count as u64 & ty.mask())]));
                    now = to;
                }
                1 if shift < target => {
                    let k = 1 + self.r.below((target - shift) as usize) as u64;
                    // The count may have more bits than a shift looks at.
                    let bits = if flat && extended { 64 } else { 32 };
                    let (ty, count) = self.r.pick(&[
                        (T::Ud, k),
                        (T::Ud, k),
                        (T::D, k),
                        (T::Uw, k),
                        (T::Ud, k + bits),
                        (T::D, (k as i64 - bits as i64) as u64 & T::D.mask()),
                        (T::W, (k as i64 - bits as i64) as u64 & T::W.mask()),
                    ]);
                    out.push(step(exec, Op::Shl, to, vec![own(now), imm(ty, count)]));
                    (now, shift) = (to, shift + k);
                }
                2 if shift == target => {
                    let (ty, c) = match self.r.below(8) {
                        0 => (T::Ud, 0x8000_0000),
                        1 => (T::D, (-4i64) as u64 & T::D.mask()),
                        2 => (T::W, (-8i64) as u64 & T::W.mask()),
                        _ => (T::Ud, 4 * self.r.below(40) as u64),
                    };
                    out.push(step(exec, Op::Add, to, vec![own(now), imm(ty, c)]));
                    now = to;
                    // A sum that wraps comes back; what went below comes up again.
                    let back = match c {
                        0x8000_0000 if !flat || !extended => imm(T::Ud, c),
                        0x8000_0000 => imm(T::D, c),
                        _ => imm(T::Ud, 64),
                    };
                    out.push(step(exec, Op::Add, to, vec![own(now), back]));
                }
                3 if flat && extended && !based && shift == target => {
                    let srcs =
                        if self.one_in(2) { vec![own(now), Src::Base] } else { vec![Src::Base, own(now)] };
                    out.push(step(exec, Op::Add, to, srcs));
                    (now, based) = (to, true);
                }
                _ => {}
            }
        }
        if !extended {
            let to = self.r.pick(&wide);
            out.push(step(exec, Op::Mov, to, vec![own(now)]));
            now = to;
        }
        if shift < target {
            out.push(step(exec, Op::Shl, now, vec![own(now), imm(T::Ud, target - shift)]));
        }
        if !based {
            out.push(step(exec, Op::Add, now, vec![own(now), Src::Base]));
        }
        (now, temps)
    }

    /// An instruction on integers, whose operands have types that are legal for it.
    fn integer(&mut self, at: At) -> Inst {
        use Op::{Add, Add3, Addc, Asr, Avg, Cmp, Dp4a, Max, Min, Mov, Rol, Ror, Sel, Shl, Shr, Subb};
        let d = self.p.device;
        let exec = self.exec(at);
        let op = self.integer_op();
        let (dsts, srcs, count) = self.integer_types(op);
        let dst = self.r.pick(&dsts);
        let one = self.r.pick(&srcs);
        let mut types: Vec<T> =
            (0..count).map(|_| if self.one_in(2) { one } else { self.r.pick(&srcs) }).collect();
        if matches!(op, Op::Mulh | Op::Bfe | Op::Bfi | Rol | Ror) {
            types = vec![dst; count];
        }
        if matches!(op, Shl | Shr | Asr | Rol | Ror) {
            let counts = ints(d, true);
            types[1] = self.r.pick(&counts);
        }
        let modifiers = integer_modifiers(op);
        let mut srcs: Vec<Src> = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            // A shift's count is bits.
            let of_count = k == 1 && matches!(op, Shl | Asr | Rol | Ror | Shr);
            srcs.push(self.src(*ty, exec, if of_count { &[Mod::None] } else { modifiers }, k + 1 == count));
        }
        if matches!(op, Op::Div | Op::Mod) {
            let ty = self.r.pick(&[T::Uw, T::W, T::Ud, T::D]);
            let bits = match self.r.value(ty) {
                0 => 3,
                x => x,
            };
            srcs[1] = Src::Imm { ty, bits };
        }
        let sat =
            matches!(op, Mov | Sel | Add | Add3 | Avg | Min | Max | Op::Mod | Shr | Dp4a) && self.one_in(3);
        let dst = match op {
            Cmp(_) if !self.one_in(3) => Dst::Pred(self.r.below(FREE_PREDS)),
            Addc | Subb => {
                let v = self.of_type(T::Ud);
                let element = if self.tidy { exec.first } else { 0 };
                Dst::Elements { place: Place::Own(v), element, stride: 1, sat: false }
            }
            _ => self.dst(dst, exec, sat),
        };
        let element = if self.tidy { exec.first } else { 0 };
        let second = matches!(op, Addc | Subb).then(|| (self.of_type(T::Ud), element));
        let guard = match op {
            Sel => Some(self.guard()),
            Cmp(_) | Min | Max => None,
            _ => self.one_in(4).then(|| self.guard()),
        };
        // A predicate has a place for each channel of the mask.
        Inst { op, exec, guard, dst, second, srcs }
    }

    fn integer_op(&mut self) -> Op {
        let d = self.p.device;
        let mut ops = INTEGER_OPS.to_vec();
        if d.gen12 {
            ops.extend([Op::Rol, Op::Ror, Op::Dp4a]);
        }
        if d.xehp {
            ops.extend([Op::Add3, Op::Add3, Op::Bfn(0)]);
        }
        match self.r.pick(&ops) {
            Op::Cmp(_) => Op::Cmp(self.r.below(6) as u8),
            Op::Bfn(_) => Op::Bfn(self.r.next() as u8),
            op => op,
        }
    }

    /// The types that the destination may have, those that sources may have, and how many sources there are.
    fn integer_types(&mut self, op: Op) -> (Vec<T>, Vec<T>, usize) {
        use Op::{
            Add, Add3, Addc, And, Asr, Avg, Bfe, Bfi, Bfn, Cmp, Div, Dp4a, Fbh, Mad, Max, Min, Mov, Mul,
            Mulh, Not, Or, Rol, Ror, Sel, Shl, Shr, Subb, Xor,
        };
        let d = self.p.device;
        let small = ints(d, false);
        let any = ints(d, true);
        let dwords = vec![T::Ud, T::D];
        let words = vec![T::Ud, T::D, T::Uw, T::W];
        match op {
            Mov => (any.clone(), any, 1),
            Sel | Cmp(_) | Min | Max | Add => (any.clone(), any, 2),
            Mul if d.quads && self.one_in(3) => (vec![T::Q, T::Uq], dwords, 2),
            Mul | Div | Op::Mod | Avg => (small.clone(), small, 2),
            Mad => (small.clone(), small, 3),
            Add3 => (words.clone(), words, 3),
            And | Or | Xor => (any.clone(), any, 2),
            Not => (any.clone(), any, 1),
            Shl => (any.clone(), any, 2),
            Shr => {
                let unsigned: Vec<T> = any.into_iter().filter(|t| !t.is_signed()).collect();
                (unsigned.clone(), unsigned, 2)
            }
            Asr => {
                let signed: Vec<T> = any.into_iter().filter(|t| t.is_signed()).collect();
                (signed.clone(), signed, 2)
            }
            Rol | Ror if d.quads => (vec![T::Uw, T::Ud, T::Uq], vec![T::Uw, T::Ud, T::Uq], 2),
            Rol | Ror => (vec![T::Uw, T::Ud], vec![T::Uw, T::Ud], 2),
            Bfn(_) => (words.clone(), words, 3),
            Bfe => (dwords.clone(), dwords, 3),
            Bfi => (dwords.clone(), dwords, 4),
            Mulh => (dwords.clone(), dwords, 2),
            Dp4a => (dwords.clone(), dwords, 3),
            Fbh => (vec![T::Ud], dwords, 1),
            Addc | Subb => (vec![T::Ud], vec![T::Ud], 2),
            _ => (vec![T::Ud], vec![T::Ud], 1),
        }
    }

    fn float(&mut self, at: At) -> Inst {
        use Op::{Add, Cmp, Divm, Mad, Max, Min, Mov, Mul, Rndd, Rnde, Rndu, Rndz, Sel, Sqrtm};
        let d = self.p.device;
        let exec = self.exec(at);
        let mut ops = vec![
            Mov,
            Mov,
            Mov,
            Mov,
            Sel,
            Cmp(0),
            Add,
            Add,
            Mul,
            Mul,
            Mad,
            Mad,
            Min,
            Max,
            Rndd,
            Rndu,
            Rnde,
            Rndz,
        ];
        if d.quads {
            ops.extend([Divm, Sqrtm]);
        }
        let op = match self.r.pick(&ops) {
            Cmp(_) => Cmp(self.r.below(6) as u8),
            op => op,
        };
        let mut floats = vec![T::F, T::F, T::Hf];
        if d.quads {
            floats.push(T::Df);
        }
        let t = match op {
            Rndd | Rndu | Rnde | Rndz => T::F,
            Divm | Sqrtm => self.r.pick(&[T::F, T::Df]),
            _ => self.r.pick(&floats),
        };
        let count = match op {
            Mov | Rndd | Rndu | Rnde | Rndz | Sqrtm => 1,
            Mad => 3,
            _ => 2,
        };
        let mut types = vec![t; count];
        let mut dst = t;
        if matches!(op, Mul | Mad) && t != T::Df && self.one_in(3) {
            types = (0..count).map(|_| self.r.pick(&[T::F, T::Hf])).collect();
            dst = self.r.pick(&[T::F, T::Hf]);
        }
        if op == Mov {
            let mut all = ints(d, true);
            all.extend(&floats);
            // From a float or to one.
            let other = self.r.pick(&all);
            if self.one_in(2) { dst = other } else { types[0] = other }
        }
        let arith: &[Mod] = &[Mod::Neg, Mod::Abs, Mod::NegAbs];
        let srcs = (0..count).map(|k| self.src(types[k], exec, arith, k + 1 == count)).collect();
        let sat = matches!(op, Mov | Sel | Add | Mul | Mad | Min | Max) && self.one_in(5);
        let dst = match op {
            Cmp(_) => Dst::Pred(self.r.below(FREE_PREDS)),
            _ => self.dst(dst, exec, sat),
        };
        let guard = match op {
            Sel => Some(self.guard()),
            Cmp(_) | Min | Max => None,
            _ => self.one_in(4).then(|| self.guard()),
        };
        Inst { op, exec, guard, dst, second: None, srcs }
    }
}

/// All channels' own elements.
fn place(place: Place) -> Src {
    Src::Region { place, element: 0, region: (1, 1, 0), modifier: Mod::None }
}

fn imm(ty: T, bits: u64) -> Src {
    Src::Imm { ty, bits }
}

/// The modifiers that sources of an integer instruction may have.
fn integer_modifiers(op: Op) -> &'static [Mod] {
    use Op::{Add, Add3, And, Asr, Avg, Cmp, Div, Mad, Max, Min, Mov, Mul, Not, Or, Sel, Shl, Xor};
    match op {
        And | Or | Xor | Not => &[Mod::Not],
        Mov | Sel | Cmp(_) | Add | Add3 | Mul | Mad | Avg | Min | Max | Div | Op::Mod | Shl | Asr => {
            &[Mod::Neg, Mod::Abs, Mod::NegAbs]
        }
        _ => &[Mod::None],
    }
}

/// All channels' own elements of a variable.
fn own(v: usize) -> Src {
    place(Place::Own(v))
}

/// An instruction of these channels on their own elements.
fn step(exec: Exec, op: Op, to: usize, srcs: Vec<Src>) -> Stmt {
    let dst = Dst::Elements { place: Place::Own(to), element: 0, stride: 1, sat: false };
    Stmt::Inst(Inst { op, exec, guard: None, dst, second: None, srcs })
}
