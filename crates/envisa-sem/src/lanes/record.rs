//! A sequence as data: for compilers, which want to know where a value is used last before they give it a
//! register.
//!
//! ```
//! use envisa_sem::lanes::Sequence;
//! use envisa_sem::math::Function;
//!
//! let s = Sequence::of(Function::Exp, 1);
//! assert_eq!(f32::from_bits(s.run(&[3f32.to_bits()])), 8.0);
//! ```

use super::{Apply, Lanes, Rounded, Scalar};

/// A step's number, and that of the value (or truth value) it makes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u16);

/// An operation of [`Lanes`], by its method's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum LaneOp {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Fnma,
    Fms,
    Min,
    Max,
    Rint,
    IntToFloat,
    And,
    Or,
    Xor,
    Shl(u32),
    Shr(u32),
    Sar(u32),
    Iadd,
    Isub,
    Lt,
    Eq,
    Unordered,
    Ilt,
    Ult,
    Ieq,
    Both,
    Either,
    /// Mask, then, else.
    Select,
    /// Of the table of this number in [`Sequence::tables`].
    Table(usize),
    /// Value, the rounded number as a single, its bits.
    Scale,
}

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An argument.
    Argument(usize),
    /// These bits in every lane.
    Bits(u32),
    /// An operation on up to three earlier values; unused places repeat the first.
    Op(LaneOp, [Value; 3]),
    /// If no lane of `mask` is set, the steps up to `end` may be skipped: the last of them are
    /// [`Step::Merge`], which then are their `usual` values; nothing else within is used behind `end`.
    Rarely {
        /// The lanes that need the steps.
        mask: Value,
        /// The first step behind them.
        end: usize,
    },
    /// `mask ? other : usual`, at the end of steps that [`Step::Rarely`] begins.
    Merge {
        /// The lanes that take `other`.
        mask: Value,
        /// Made by a step that may be skipped.
        other: Value,
        /// Made before.
        usual: Value,
    },
}

/// A straight line of steps; each value is named by the step that makes it.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The steps, none of them without use.
    pub steps: Vec<Step>,
    /// The tables of [`LaneOp::Table`].
    pub tables: Vec<[u32; 16]>,
    /// The value that the sequence computes.
    pub result: Value,
    /// For each step: the last step that uses its value (its own number if none does).
    pub last_use: Vec<usize>,
}

impl Sequence {
    /// Records a function of one or two values.
    pub fn of(f: impl Apply, arguments: usize) -> Sequence {
        let mut r = Recorder::default();
        let a = r.push(Step::Argument(0));
        let b = if arguments > 1 { r.push(Step::Argument(1)) } else { a };
        let result = f.apply(&mut r, a, b);
        r.finish(result)
    }

    /// Computes it, every step, for these arguments.
    ///
    /// # Panics
    /// Fewer arguments than the sequence has.
    pub fn run(&self, arguments: &[u32]) -> u32 {
        let l = &mut Scalar;
        let mut v: Vec<u32> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let at = |x: &Value| v[x.0 as usize];
            let r = match step {
                Step::Argument(i) => arguments[*i],
                Step::Bits(bits) => *bits,
                Step::Rarely { .. } => 0,
                Step::Merge { mask, other, usual } => l.select(at(mask) != 0, at(other), at(usual)),
                Step::Op(op, [a, b, c]) => one(l, *op, [at(a), at(b), at(c)], &self.tables),
            };
            v.push(r);
        }
        v[self.result.0 as usize]
    }
}

/// One operation; truth values are 0 and 1.
fn one(l: &mut Scalar, op: LaneOp, [a, b, c]: [u32; 3], tables: &[[u32; 16]]) -> u32 {
    match op {
        LaneOp::Add => l.add(a, b),
        LaneOp::Sub => l.sub(a, b),
        LaneOp::Mul => l.mul(a, b),
        LaneOp::Div => l.div(a, b),
        LaneOp::Fma => l.fma(a, b, c),
        LaneOp::Fnma => l.fnma(a, b, c),
        LaneOp::Fms => l.fms(a, b, c),
        LaneOp::Min => l.min(a, b),
        LaneOp::Max => l.max(a, b),
        LaneOp::Rint => l.rint(a),
        LaneOp::IntToFloat => l.int_to_float(a),
        LaneOp::And => l.and(a, b),
        LaneOp::Or => l.or(a, b),
        LaneOp::Xor => l.xor(a, b),
        LaneOp::Shl(n) => l.shl(a, n),
        LaneOp::Shr(n) => l.shr(a, n),
        LaneOp::Sar(n) => l.sar(a, n),
        LaneOp::Iadd => l.iadd(a, b),
        LaneOp::Isub => l.isub(a, b),
        LaneOp::Lt => l.lt(a, b) as u32,
        LaneOp::Eq => l.eq(a, b) as u32,
        LaneOp::Unordered => l.unordered(a, b) as u32,
        LaneOp::Ilt => l.ilt(a, b) as u32,
        LaneOp::Ult => l.ult(a, b) as u32,
        LaneOp::Ieq => l.ieq(a, b) as u32,
        LaneOp::Both => a & b,
        LaneOp::Either => a | b,
        LaneOp::Select => l.select(a != 0, b, c),
        LaneOp::Table(t) => l.table(&tables[t], a),
        LaneOp::Scale => l.scale(a, Rounded { float: b, bits: c }),
    }
}

/// Lanes whose operations are written down.
#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
    tables: Vec<[u32; 16]>,
}

impl Recorder {
    fn push(&mut self, step: Step) -> Value {
        self.steps.push(step);
        Value(u16::try_from(self.steps.len() - 1).expect("a sequence is short"))
    }

    fn op(&mut self, op: LaneOp, v: &[Value]) -> Value {
        let at = |i: usize| v.get(i).copied().unwrap_or(v[0]);
        self.push(Step::Op(op, [at(0), at(1), at(2)]))
    }

    /// The sequence without steps that nothing uses, constants first and each once.
    fn finish(self, result: Value) -> Sequence {
        let mut used = vec![false; self.steps.len()];
        used[result.0 as usize] = true;
        for i in (0..self.steps.len()).rev() {
            if used[i] {
                sources(&self.steps[i]).into_iter().flatten().for_each(|v| used[v.0 as usize] = true);
            }
        }
        // A skip is of use if one of its merges is.
        for (i, step) in self.steps.iter().enumerate() {
            if let Step::Rarely { mask, end } = step {
                used[i] = (i + 1..*end).any(|j| used[j] && matches!(self.steps[j], Step::Merge { .. }));
                debug_assert!(!used[i] || used[mask.0 as usize]);
            }
        }
        let mut out: Vec<Step> = Vec::new();
        let mut new = vec![Value(0); self.steps.len()];
        let constant = |s: &Step| matches!(s, Step::Bits(_));
        for (i, step) in self.steps.iter().enumerate().filter(|(i, s)| used[*i] && constant(s)) {
            let at = out.iter().position(|s| s == step).unwrap_or(out.len());
            if at == out.len() {
                out.push(step.clone());
            }
            new[i] = Value(at as u16);
        }
        for (i, step) in self.steps.iter().enumerate().filter(|(i, s)| used[*i] && !constant(s)) {
            new[i] = Value(out.len() as u16);
            let to = |v: &Value| new[v.0 as usize];
            out.push(match step {
                Step::Op(op, v) => Step::Op(*op, [to(&v[0]), to(&v[1]), to(&v[2])]),
                Step::Merge { mask, other, usual } => {
                    Step::Merge { mask: to(mask), other: to(other), usual: to(usual) }
                }
                // The end is found below: steps are still to come.
                Step::Rarely { mask, end } => Step::Rarely { mask: to(mask), end: *end },
                other => other.clone(),
            });
        }
        let kept = |end: usize| (0..end).filter(|i| used[*i] && !constant(&self.steps[*i])).count();
        let constants = out.iter().filter(|s| constant(s)).count();
        for step in &mut out {
            if let Step::Rarely { end, .. } = step {
                *end = constants + kept(*end);
            }
        }
        let mut last_use: Vec<usize> = (0..out.len()).collect();
        for (i, step) in out.iter().enumerate() {
            for v in sources(step).into_iter().flatten() {
                last_use[v.0 as usize] = i;
            }
        }
        last_use[new[result.0 as usize].0 as usize] = out.len();
        Sequence { steps: out, tables: self.tables, result: new[result.0 as usize], last_use }
    }
}

/// The values that a step uses.
fn sources(step: &Step) -> [Option<Value>; 3] {
    match step {
        Step::Op(_, v) => v.map(Some),
        Step::Rarely { mask, .. } => [Some(*mask), None, None],
        Step::Merge { mask, other, usual } => [Some(*mask), Some(*other), Some(*usual)],
        Step::Argument(_) | Step::Bits(_) => [None; 3],
    }
}

macro_rules! record {
    ($($name:ident($($a:ident),*) $op:ident;)*) => {$(
        fn $name(&mut self, $($a: Value),*) -> Value {
            self.op(LaneOp::$op, &[$($a),*])
        }
    )*};
}

impl Lanes for Recorder {
    type V = Value;
    type M = Value;

    fn bits(&mut self, bits: u32) -> Value {
        self.push(Step::Bits(bits))
    }
    record! {
        add(a, b) Add;
        sub(a, b) Sub;
        mul(a, b) Mul;
        div(a, b) Div;
        fma(a, b, c) Fma;
        fnma(a, b, c) Fnma;
        fms(a, b, c) Fms;
        min(a, b) Min;
        max(a, b) Max;
        rint(a) Rint;
        int_to_float(a) IntToFloat;
        and(a, b) And;
        or(a, b) Or;
        xor(a, b) Xor;
        iadd(a, b) Iadd;
        isub(a, b) Isub;
        lt(a, b) Lt;
        eq(a, b) Eq;
        unordered(a, b) Unordered;
        ilt(a, b) Ilt;
        ult(a, b) Ult;
        ieq(a, b) Ieq;
        both(a, b) Both;
        either(a, b) Either;
        select(m, a, b) Select;
    }
    fn shl(&mut self, a: Value, count: u32) -> Value {
        self.op(LaneOp::Shl(count), &[a])
    }
    fn shr(&mut self, a: Value, count: u32) -> Value {
        self.op(LaneOp::Shr(count), &[a])
    }
    fn sar(&mut self, a: Value, count: u32) -> Value {
        self.op(LaneOp::Sar(count), &[a])
    }
    fn table(&mut self, table: &[u32; 16], index: Value) -> Value {
        self.tables.push(*table);
        self.op(LaneOp::Table(self.tables.len() - 1), &[index])
    }
    fn scale(&mut self, a: Value, n: Rounded<Value>) -> Value {
        self.op(LaneOp::Scale, &[a, n.float, n.bits])
    }
    fn rarely<const N: usize>(
        &mut self,
        mask: Value,
        usual: [Value; N],
        f: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let start = self.push(Step::Rarely { mask, end: 0 });
        let other = f(self);
        let mut out = usual;
        for i in 0..N {
            out[i] = self.push(Step::Merge { mask, other: other[i], usual: usual[i] });
        }
        let end = self.steps.len();
        self.steps[start.0 as usize] = Step::Rarely { mask, end };
        out
    }
}
