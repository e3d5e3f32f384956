//! What a program does, by the pages: sets of channels walk through its tree.
//!
//! Numbers of integers are exact; the destination cuts or clamps them once (chapter 2). Floats are exact values
//! of their sources, rounded once to the destination's format, as `%cr0` says.

use crate::num::*;
use crate::program::*;

/// What a program leaves.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// The kernel's variables.
    pub vars: Vec<Vec<u64>>,
    /// Predicates.
    pub preds: Vec<u32>,
    /// The buffer.
    pub data: Vec<u8>,
}

/// Why a program does not end well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A flat access outside of the buffer, or, where that is asked for, at no multiple of its size.
    Astray,
    /// More statements than anybody waits for.
    Long,
}

/// Statements that a run executes at most.
const MOST: usize = 50_000;

struct Machine<'a> {
    p: &'a Program,
    kernel: Vec<Vec<u64>>,
    /// Variables of each function.
    functions: Vec<Vec<Vec<u64>>>,
    preds: Vec<u32>,
    arg: Vec<Vec<u64>>,
    retval: Vec<u64>,
    ids: [Vec<u64>; 3],
    data: Vec<u8>,
    slm: Vec<u8>,
    base: u64,
    steps: usize,
    mode: Mode,
    /// The function that runs; `None`: the kernel.
    function: Option<usize>,
}

/// Runs a program whose buffer is at `base`: its threads one after the other. The registers are those that the last
/// one leaves.
///
/// # Errors
/// Where it does not end well.
pub fn run(p: &Program, base: u64) -> Result<State, Stop> {
    let mut state = State { vars: Vec::new(), preds: Vec::new(), data: p.data.clone() };
    for _ in 0..p.groups {
        let mut slm = vec![0; SLM];
        for thread in 0..p.threads() {
            let mut m = Machine {
                p,
                kernel: p.vars.iter().map(|v| v.init.clone()).collect(),
                functions: p.functions.iter().map(|f| vec![vec![0; ELEMENTS]; f.vars.len()]).collect(),
                preds: p.preds.clone(),
                arg: vec![vec![0; ELEMENTS]; 8],
                retval: vec![0; ELEMENTS],
                ids: [0, 1, 2].map(|d| p.ids(thread, d)),
                data: state.data,
                slm,
                base,
                steps: 0,
                mode: Mode(p.cr0),
                function: None,
            };
            m.block(&p.body, p.mask(thread), &mut Vec::new())?;
            (state, slm) = (State { vars: m.kernel, preds: m.preds, data: m.data }, m.slm);
        }
    }
    Ok(state)
}

impl Machine<'_> {
    fn ty(&self, place: Place) -> T {
        match (place, self.function) {
            (Place::Own(v), None) => self.p.vars[v].ty,
            (Place::Own(v), Some(f)) => self.p.functions[f].vars[v],
            (Place::Id(_), _) => T::Uw,
            _ => T::Ud,
        }
    }

    fn elements(&mut self, place: Place) -> &mut Vec<u64> {
        match (place, self.function) {
            (Place::Own(v) | Place::Dwords(v), None) => &mut self.kernel[v],
            (Place::Own(v) | Place::Dwords(v), Some(f)) => &mut self.functions[f][v],
            (Place::Arg(k), _) => &mut self.arg[k],
            (Place::Retval, _) => &mut self.retval,
            (Place::Id(d), _) => &mut self.ids[d],
        }
    }

    /// Runs a block for these channels; `left` has, for each enclosing block, the channels that left it. Gives
    /// the channels that reach its end.
    fn block(&mut self, stmts: &[Stmt], mask: u32, left: &mut Vec<u32>) -> Result<u32, Stop> {
        let mut mask = mask;
        for s in stmts {
            if mask == 0 {
                break;
            }
            self.steps += 1;
            if self.steps > MOST {
                return Err(Stop::Long);
            }
            mask = self.stmt(s, mask, left)?;
        }
        Ok(mask)
    }

    fn stmt(&mut self, s: &Stmt, mask: u32, left: &mut Vec<u32>) -> Result<u32, Stop> {
        let chosen = |m: &Self, pred: usize, invert: bool| m.preds[pred] ^ if invert { u32::MAX } else { 0 };
        match s {
            Stmt::Inst(i) => self.inst(i, mask),
            Stmt::Access(a) => self.access(a, mask)?,
            Stmt::Shuffle(s) => self.shuffle(s, mask),
            Stmt::If { pred, invert, then, other } => {
                let yes = chosen(self, *pred, *invert);
                left.push(0);
                let a = self.block(then, mask & yes, left)?;
                let b = self.block(other, mask & !yes, left)?;
                return Ok(a | b | left.pop().unwrap_or(0));
            }
            Stmt::Loop { counter, limit, pred, body } => {
                let each = |mask: u32| (0..ELEMENTS).filter(move |k| mask >> k & 1 != 0);
                for k in each(mask) {
                    self.kernel[*counter][k] = 0;
                }
                left.push(0);
                let (mut inside, mut done) = (mask, 0);
                while inside != 0 {
                    self.steps += 1;
                    if self.steps > MOST {
                        return Err(Stop::Long);
                    }
                    inside = self.block(body, inside, left)?;
                    let mut again = 0;
                    for k in each(inside) {
                        let next = T::D.int(self.kernel[*counter][k]) + 1;
                        self.kernel[*counter][k] = T::D.wrap(next, false);
                        again |= ((next < T::D.int(self.kernel[*limit][k])) as u32) << k;
                    }
                    self.preds[*pred] = self.preds[*pred] & !inside | again;
                    done |= inside & !again;
                    inside = again;
                }
                return Ok(done | left.pop().unwrap_or(0));
            }
            Stmt::Leave { pred, invert, blocks } => {
                let go = mask & chosen(self, *pred, *invert);
                let at = left.len() - blocks;
                left[at] |= go;
                return Ok(mask & !go);
            }
            Stmt::Call { sub, guard } => {
                let exec = Exec { n: self.p.simd, first: 0, no_mask: false };
                let go = self.enabled(exec, *guard, mask);
                self.block(&self.p.subs[*sub], go, &mut Vec::new())?;
            }
            Stmt::Mode(cr0) => self.mode = Mode(*cr0),
            // Threads write nothing that others read.
            Stmt::Barrier(..) => {}
            Stmt::Fcall { function, .. } => {
                let caller = self.function.replace(*function);
                self.block(&self.p.functions[*function].body, mask, &mut Vec::new())?;
                self.function = caller;
            }
        }
        Ok(mask)
    }

    /// Channels of an instruction that run, from bit 0 on.
    fn enabled(&self, exec: Exec, guard: Option<Guard>, mask: u32) -> u32 {
        let full = (u64::MAX >> (64 - exec.n)) as u32;
        let on = if exec.no_mask { full } else { mask >> exec.first & full };
        let Some(g) = guard else { return on };
        let bits = self.preds[g.pred] >> exec.first & full;
        let yes = match g.combine {
            0 => bits,
            1 => {
                if bits != 0 {
                    full
                } else {
                    0
                }
            }
            _ => {
                if bits == full {
                    full
                } else {
                    0
                }
            }
        };
        on & if g.invert { !yes } else { yes }
    }

    /// The type and the bits of a source in a channel.
    fn bits(&mut self, s: &Src, k: usize) -> (T, u64, Mod) {
        match *s {
            Src::Region { place, element, region: (v, w, h), modifier } => {
                let at = element + k / w * v + k % w * h;
                let bits = match place {
                    Place::Dwords(_) => self.elements(place)[at / 2] >> (at % 2 * 32) & 0xffff_ffff,
                    _ => self.elements(place)[at],
                };
                (self.ty(place), bits, modifier)
            }
            Src::Imm { ty, bits } => (ty, bits & ty.mask(), Mod::None),
            Src::Base => (T::Uq, self.base, Mod::None),
            Src::Eight { signed, bits } => {
                let nibble = u64::from(bits >> (4 * (k % 8)) & 15);
                let ty = if signed { T::W } else { T::Uw };
                (ty, if signed && nibble > 7 { nibble | 0xfff0 } else { nibble }, Mod::None)
            }
            Src::Pred(p) => (T::Ud, self.preds[p].into(), Mod::None),
        }
    }

    /// What writes a predicate but compares: bits of other channels stay.
    fn predicate(&mut self, i: &Inst, p: usize, mask: u32) {
        let mut on = self.enabled(i.exec, None, mask);
        let bits = match (i.op, &i.srcs[..]) {
            (Op::Setp, [s @ Src::Region { region: (1.., ..), .. }]) => {
                (0..i.exec.n).fold(0, |bits, k| bits | (self.bits(s, k).1 as u32 & 1) << k)
            }
            (Op::Setp, [s]) => {
                on = self.enabled(Exec { no_mask: true, ..i.exec }, None, mask);
                self.bits(s, 0).1 as u32
            }
            (op, srcs) => {
                let all: Vec<u32> = srcs.iter().map(|s| self.bits(s, 0).1 as u32 >> i.exec.first).collect();
                match (op, &all[..]) {
                    (Op::And, [a, b]) => a & b,
                    (Op::Or, [a, b]) => a | b,
                    (Op::Xor, [a, b]) => a ^ b,
                    (Op::Not, [a]) => !a,
                    (op, _) => unreachable!("{op:?} of predicates"),
                }
            }
        };
        self.preds[p] = self.preds[p] & !(on << i.exec.first) | (bits & on) << i.exec.first;
    }

    fn inst(&mut self, i: &Inst, mask: u32) {
        if let (Dst::Pred(p), false) = (i.dst, matches!(i.op, Op::Cmp(_))) {
            return self.predicate(i, p, mask);
        }
        let is_sel = i.op == Op::Sel;
        let on = self.enabled(i.exec, if is_sel { None } else { i.guard }, mask);
        if on == 0 {
            return;
        }
        let pick = if is_sel { self.enabled(Exec { no_mask: true, ..i.exec }, i.guard, 0) } else { 0 };
        let channels: Vec<usize> = (0..i.exec.n).filter(|k| on >> k & 1 != 0).collect();
        let mode = self.mode;
        // All sources are read before anything is written.
        let mut results = Vec::new();
        for &k in &channels {
            let mut srcs: Vec<Value> = Vec::new();
            for s in &i.srcs {
                let (ty, bits, modifier) = self.bits(s, k);
                srcs.push(Value::new(ty, bits, modifier));
            }
            if is_sel {
                srcs = vec![srcs[(pick >> k & 1 == 0) as usize].clone()];
            }
            let (dst, sat) = match i.dst {
                Dst::Elements { place, sat, .. } => (self.ty(place), sat),
                Dst::Pred(_) => (T::Ud, false),
            };
            results.push((k, compute_result(i.op, dst, sat, &srcs, mode)));
        }
        for &(k, (bits, _)) in &results {
            match i.dst {
                Dst::Elements { place: place @ Place::Dwords(_), element, stride, .. } => {
                    let (quad, by) = ((element + k * stride) / 2, (element + k * stride) % 2 * 32);
                    let quad = &mut self.elements(place)[quad];
                    *quad = *quad & !(0xffff_ffff << by) | bits << by;
                }
                Dst::Elements { place, element, stride, .. } => {
                    self.elements(place)[element + k * stride] = bits;
                }
                Dst::Pred(p) => {
                    let at = i.exec.first + k;
                    self.preds[p] = self.preds[p] & !(1 << at) | ((bits != 0) as u32) << at;
                }
            }
        }
        if let Some((v, element)) = i.second {
            for &(k, (_, second)) in &results {
                self.elements(Place::Own(v))[element + k] = second;
            }
        }
    }

    /// All elements are read before any is written.
    fn shuffle(&mut self, s: &Shuffle, mask: u32) {
        let on = self.enabled(s.exec, s.guard, mask);
        let from = self.elements(Place::Own(s.from)).clone();
        let own = match s.lanes {
            Lanes::Own(v) => self.elements(Place::Own(v)).clone(),
            _ => vec![0; from.len()],
        };
        let to = self.elements(Place::Own(s.to));
        for channel in (0..s.exec.n).filter(|k| on >> k & 1 != 0).map(|k| s.exec.first + k) {
            to[channel] = from[s.lanes.of(channel, from.len(), own[channel])];
        }
    }

    fn access(&mut self, a: &Access, mask: u32) -> Result<(), Stop> {
        let on = self.enabled(a.exec, a.guard, mask);
        // Page SVM_GATHER asks for multiples of the size; the others take any address.
        let aligned = a.how == Addressing::Flat && !self.p.device.lsc;
        for k in (0..a.exec.n).filter(|k| on >> k & 1 != 0) {
            let address = self.elements(Place::Own(a.address))[k];
            let address = address.wrapping_add(a.offset as i64 as u64);
            let at = match a.how {
                Addressing::Surface => address as u32 as u64,
                // Of an address in shared local memory 28 bits count.
                Addressing::Slm => address & 0x0fff_ffff,
                Addressing::Flat => address.wrapping_sub(self.base),
            };
            let bytes = if a.how == Addressing::Slm { SLM } else { self.data.len() };
            let inside = |at: &usize| *at <= bytes - 4 && (at.is_multiple_of(4) || !aligned);
            let range = match usize::try_from(at).ok().filter(inside) {
                Some(range) => range,
                // Beyond a surface, or shared local memory, nothing is written and zeros are read.
                None if a.how != Addressing::Flat => {
                    if !a.write {
                        self.elements(Place::Own(a.data))[k] = 0;
                    }
                    continue;
                }
                None => return Err(Stop::Astray),
            };
            let x = self.elements(Place::Own(a.data))[k] as u32;
            let memory = if a.how == Addressing::Slm { &mut self.slm } else { &mut self.data };
            if a.write {
                memory[range..range + 4].copy_from_slice(&x.to_le_bytes());
            } else {
                let d = &memory[range..range + 4];
                let x = u32::from_le_bytes([d[0], d[1], d[2], d[3]]);
                self.elements(Place::Own(a.data))[k] = x.into();
            }
        }
        Ok(())
    }
}

/// A source's value in a channel.
#[derive(Clone)]
struct Value {
    ty: T,
    /// Of a float, the modifier applied; of an integer as they are.
    bits: u64,
    /// An integer's value, the modifier applied.
    int: i128,
    modified: bool,
    /// Is a float negated, its modifier's last part?
    negated: bool,
}

impl Value {
    fn new(ty: T, bits: u64, modifier: Mod) -> Value {
        let modified = modifier != Mod::None;
        if ty.is_float() {
            let bits = match modifier {
                Mod::Neg => bits ^ ty.sign(),
                Mod::Abs => bits & !ty.sign(),
                Mod::NegAbs => bits | ty.sign(),
                _ => bits,
            };
            let negated = matches!(modifier, Mod::Neg | Mod::NegAbs);
            return Value { ty, bits, int: 0, modified, negated };
        }
        let x = ty.int(bits);
        let int = match modifier {
            Mod::None => x,
            Mod::Neg => -x,
            Mod::Abs => x.abs(),
            Mod::NegAbs => -x.abs(),
            Mod::Not => !x,
        };
        Value { ty, bits, int, modified, negated: false }
    }

    fn num(&self, mode: Mode) -> Num {
        decode(self.ty, mode.flush(self.ty, self.bits))
    }
}

/// A result's bits, and those of the second destination.
fn compute_result(op: Op, dst: T, sat: bool, s: &[Value], mode: Mode) -> (u64, u64) {
    match op {
        Op::Mov | Op::Sel => return (convert_value(dst, sat, &s[0], mode), 0),
        Op::Addc => {
            let sum = s[0].bits + s[1].bits;
            return (sum & 0xffff_ffff, sum >> 32);
        }
        Op::Subb => {
            return (s[0].bits.wrapping_sub(s[1].bits) & 0xffff_ffff, (s[0].bits < s[1].bits) as u64);
        }
        _ => {}
    }
    if let Op::Cmp(relation) = op {
        let all = if compare(relation, s, mode) { dst.mask() } else { 0 };
        return (all, 0);
    }
    if s.iter().any(|v| v.ty.is_float()) {
        return (compute_float(op, dst, sat, s, mode), 0);
    }
    (dst.wrap(integer_of(op, dst, s), sat), 0)
}

/// `mov`, and what `sel` does with the source it picks.
fn convert_value(dst: T, sat: bool, s: &Value, mode: Mode) -> u64 {
    if !s.ty.is_float() {
        if !dst.is_float() {
            return dst.wrap(s.int, sat);
        }
        let bits = encode(dst, &integer(s.int), mode.rm());
        return finish_result(dst, bits, mode, sat);
    }
    if !dst.is_float() {
        return to_int(dst, &decode(s.ty, s.bits));
    }
    if s.ty == dst {
        return if sat { finish_result(dst, s.bits, mode, true) } else { s.bits };
    }
    // To a wider format exactly, denormals too (chapter 2, Float to Float with Higher Precision).
    let wider = s.ty.float().0 < dst.float().0 && s.ty.float().1 <= dst.float().1;
    if s.ty.is_nan(s.bits) {
        return finish_result(dst, nan_as(dst, s.ty, s.bits), mode, sat);
    }
    if wider {
        let bits = encode(dst, &decode(s.ty, s.bits), mode.rm());
        return if sat { saturate_bits(dst, bits) } else { bits };
    }
    finish_result(dst, encode(dst, &s.num(mode), mode.rm()), mode, sat)
}

fn compare(relation: u8, s: &[Value], mode: Mode) -> bool {
    use std::cmp::Ordering::*;
    let order = if s[0].ty.is_float() {
        match (s[0].num(mode), s[1].num(mode)) {
            (Num::Nan, _) | (_, Num::Nan) => None,
            (a, b) => {
                let (a, b) = (
                    f64::from_bits(encode(T::Df, &a, Rm::Even)),
                    f64::from_bits(encode(T::Df, &b, Rm::Even)),
                );
                Some(if a < b {
                    Less
                } else if a > b {
                    Greater
                } else {
                    Equal
                })
            }
        }
    } else {
        Some(s[0].int.cmp(&s[1].int))
    };
    match relation {
        0 => order == Some(Equal),
        1 => order != Some(Equal),
        2 => order == Some(Greater),
        3 => matches!(order, Some(Greater | Equal)),
        4 => order == Some(Less),
        _ => matches!(order, Some(Less | Equal)),
    }
}

fn compute_float(op: Op, dst: T, sat: bool, s: &[Value], mode: Mode) -> u64 {
    let x: Vec<Num> = s.iter().map(|v| v.num(mode)).collect();
    let rm = mode.rm();
    let exact = match op {
        Op::Add => add(&x[0], &x[1], rm),
        Op::Mul => mul(&x[0], &x[1]),
        Op::Mad => add(&mul(&x[0], &x[1]), &x[2], rm),
        Op::Divm => div(&x[0], &x[1]),
        Op::Sqrtm => sqrt(&x[0]),
        Op::Min | Op::Max => {
            // One NaN: the other; two, or equal: the second.
            let first = match (&x[0], &x[1]) {
                (Num::Nan, _) => false,
                (_, Num::Nan) => true,
                _ => compare(if op == Op::Min { 4 } else { 2 }, s, mode),
            };
            x[!first as usize].clone()
        }
        Op::Rndd | Op::Rndu | Op::Rnde | Op::Rndz => round_to_integral(op, &x[0]),
        op => unreachable!("{op:?} of floats"),
    };
    let bits = if let Num::Nan = exact { nan_of(op, dst, s) } else { encode(dst, &exact, rm) };
    finish_result(dst, bits, mode, sat)
}

/// A NaN in another format, or its own: quiet, with the upper bits of its payload.
fn nan_as(dst: T, from: T, bits: u64) -> u64 {
    let ((f, _), (g, _)) = (from.float(), dst.float());
    let payload = bits & ((1 << f) - 1);
    let payload = if g > f { payload << (g - f) } else { payload >> (f - g) };
    dst.nan() | payload | if bits & from.sign() != 0 { dst.sign() } else { 0 }
}

/// Which NaN a result is: the first source that is one, made quiet; else the negative one without payload. A
/// negated source of a sum is subtracted: it keeps its sign, and comes last in a difference of two.
fn nan_of(op: Op, dst: T, s: &[Value]) -> u64 {
    let bits = |v: &Value| match op {
        Op::Add | Op::Mad if v.negated => v.bits ^ v.ty.sign(),
        _ => v.bits,
    };
    let mut order: Vec<&Value> = s.iter().collect();
    match op {
        Op::Add if s[0].negated && !s[1].negated => order.swap(0, 1),
        // Both are: the second, as it is, but for conversions.
        Op::Min | Op::Max => {
            let widest = s.iter().filter(|v| v.ty.is_float()).all(|v| v.ty.float() <= s[1].ty.float());
            if s[1].ty == dst && widest {
                return s[1].bits;
            }
            order.swap(0, 1);
        }
        _ => {}
    }
    match order.into_iter().find(|v| v.ty.is_float() && v.ty.is_nan(v.bits)) {
        Some(v) => nan_as(dst, v.ty, bits(v)),
        None => dst.nan() | dst.sign(),
    }
}

/// The integral value in the operation's direction.
fn round_to_integral(op: Op, x: &Num) -> Num {
    let Num::Fin { neg, mag, exp, .. } = x else { return x.clone() };
    if *exp >= 0 || mag.is_zero() {
        return x.clone();
    }
    let down = exp.unsigned_abs();
    let (low, rest) = mag.shr(down);
    let half = mag.shr(down - 1).0.low() & 1 != 0;
    let below = mag.shr(down - 1).1;
    let up = match op {
        Op::Rndd => *neg && rest,
        Op::Rndu => !*neg && rest,
        Op::Rnde => half && (below || low.low() & 1 != 0),
        _ => false,
    };
    let mag = if up { low.add(&Big::new(1)) } else { low };
    Num::Fin { neg: *neg, mag, exp: 0, more: false }
}

/// Bits of the count that a shift looks at: by the destination and the first source.
fn count(dst: T, s: &[Value]) -> u32 {
    let mask = if dst.size() == 8 || s[0].ty.size() == 8 { 63 } else { 31 };
    s[1].int as u32 & mask
}

/// The exact result of an operation on integers.
fn integer_of(op: Op, dst: T, s: &[Value]) -> i128 {
    let i = |k: usize| s[k].int;
    let low = |k: usize| s[k].int as u32;
    let rotated = |left: bool| {
        let (bits, n) = (s[0].ty.bits(), i(1) as u32 % s[0].ty.bits());
        let n = if left { n } else { (bits - n) % bits };
        let x = s[0].bits as u128;
        ((x << n | x >> (bits - n)) & s[0].ty.mask() as u128) as i128
    };
    match op {
        Op::Add => i(0) + i(1),
        Op::Add3 => i(0) + i(1) + i(2),
        Op::Mul => i(0).wrapping_mul(i(1)),
        Op::Mad => i(0).wrapping_mul(i(1)).wrapping_add(i(2)),
        Op::Mulh => (i(0) * i(1)) >> 32,
        Op::Avg => (i(0) + i(1) + 1) >> 1,
        Op::Min => i(0).min(i(1)),
        Op::Max => i(0).max(i(1)),
        Op::Div => i(0) / i(1),
        Op::Mod => i(0) % i(1),
        Op::And => i(0) & i(1),
        Op::Or => i(0) | i(1),
        Op::Xor => i(0) ^ i(1),
        Op::Not => !i(0),
        Op::Shl => i(0).wrapping_shl(count(dst, s)),
        Op::Shr => {
            let bits = if dst.size() == 8 || s[0].ty.size() == 8 { 64 } else { 32 };
            debug_assert!(!s[0].modified);
            (i(0) & ((1 << bits) - 1)) >> count(dst, s)
        }
        Op::Asr => i(0) >> count(dst, s),
        Op::Rol => rotated(true),
        Op::Ror => rotated(false),
        Op::Bfn(table) => (0..8).filter(|row| table >> row & 1 != 0).fold(0, |out, row| {
            let pick = |k: usize| if row >> k & 1 != 0 { i(k) } else { !i(k) };
            out | pick(0) & pick(1) & pick(2)
        }),
        Op::Bfe => {
            let (width, offset) = (low(0) & 31, low(1) & 31);
            let x = i(2) >> offset & ((1 << width) - 1);
            let top = width != 0 && x >> (width - 1) & 1 != 0;
            if s[2].ty.is_signed() && top { x - (1 << width) } else { x }
        }
        Op::Bfi => {
            let (width, offset) = (low(0) & 31, low(1) & 31);
            let mask = ((1u64 << width) - 1) << offset;
            (((low(2) as u64) << offset) & mask | low(3) as u64 & !mask) as u32 as i128
        }
        Op::Bfrev => low(0).reverse_bits() as i128,
        Op::Cbit => s[0].bits.count_ones() as i128,
        Op::Fbl => {
            if low(0) == 0 {
                u32::MAX as i128
            } else {
                low(0).trailing_zeros() as i128
            }
        }
        Op::Lzd => low(0).leading_zeros() as i128,
        Op::Fbh => {
            let x = if s[0].ty.is_signed() && i(0) < 0 { !low(0) } else { low(0) };
            if x == 0 { u32::MAX as i128 } else { x.leading_zeros() as i128 }
        }
        Op::Dp4a => {
            let byte = |v: &Value, k: u32| {
                let x = v.int >> (8 * k) & 0xff;
                if v.ty.is_signed() && x > 127 { x - 256 } else { x }
            };
            i(0) + (0..4).map(|k| byte(&s[1], k) * byte(&s[2], k)).sum::<i128>()
        }
        op => unreachable!("{op:?} of integers"),
    }
}
