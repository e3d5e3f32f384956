//! Builds functions from programs.

mod blocks;
mod compute;
mod labels;
mod messages;
mod operands;
mod pieces;
mod ssa;

use std::collections::HashMap;
use std::fmt;

use envisa_isa::{Combine, predefined};
use envisa_lower::{Dst, Inst as Lowered, Modifier, Op, Pc, Program, RegOffset, Src, Touched};
use envisa_sem::FpMode;

use crate::func::{Block, Elem, Func, InstId, Origin, Type, Value};
use crate::inst::{Escape, Home, Inst, Logic, Shuffle};
use crate::operation_classes::{Class, class};

pub use messages::types_of;

use labels::Labels;
use pieces::Pieces;
use ssa::{Ssa, Var, Wanted};

/// Which channels threads of a variant start with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dispatch {
    /// All of them.
    All,
    /// The first ones, so many.
    First(u8),
    /// It is seen when a thread starts.
    Any,
}

/// What a function is built for, and how much of it there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Channels.
    pub dispatch: Dispatch,
    /// Values, for each instruction of the program and besides: beyond them nothing is built.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { dispatch: Dispatch::All, budget: 256 }
    }
}

/// Why no function was built of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotBuilt {
    /// The instruction.
    pub pc: Pc,
    /// Why.
    pub reason: &'static str,
}

impl fmt::Display for NotBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {}: {}", self.pc, self.reason)
    }
}

impl std::error::Error for NotBuilt {}

/// Why an instruction is left to the interpreter.
pub(crate) struct No(pub &'static str);

/// Builds a function of a program: of its kernel, for one variant.
///
/// # Errors
/// Calls, jumps through tables, channels that wait where nothing joins them, and more values than the budget.
pub fn build(p: &Program, options: &Options) -> Result<Func, NotBuilt> {
    Builder::new(p, options)?.run()
}

pub(crate) struct Builder<'a> {
    p: &'a Program,
    dispatch: Dispatch,
    budget: u64,
    f: Func,
    ssa: Ssa,
    pieces: Pieces,
    labels: Labels,
    end: Pc,
    /// The block that begins at an instruction.
    at: HashMap<Pc, Block>,
    /// By label: the block that looks whether any wait there.
    resumes: Vec<Option<Block>>,
    /// The block that instructions go to.
    cur: Block,
    pc: Pc,
    converged: bool,
    /// Instructions of the entry block before all others.
    prologue: Vec<InstId>,
    constants: HashMap<(u64, Type), Value>,
    inputs: HashMap<(RegOffset, Type, u32), Value>,
    /// `%cr0`, where it is known.
    cr0: Option<u32>,
    /// Where `%cr0` is in the register file.
    cr0_at: RegOffset,
}

impl<'a> Builder<'a> {
    fn new(p: &'a Program, options: &Options) -> Result<Builder<'a>, NotBuilt> {
        let end = p.functions().first().map_or(0, |f| f.end);
        let code = &p.code()[..end as usize];
        for (pc, i) in (0..).zip(code) {
            let no = |reason| Err(NotBuilt { pc, reason });
            match class(i.op) {
                Class::Refused(reason) => return no(reason),
                Class::Goto if i.aux >= end => return no("a branch leaves the function"),
                _ if u32::from(i.channels) > 32 || !i.channels.is_power_of_two() => {
                    return no("an odd number of channels");
                }
                _ => {}
            }
        }
        let simd = p.simd();
        // A variant that lacks channels has branches that all active ones take, as any.
        let parts = |i: &Lowered| {
            i.channels > 1 && (i.pred.offset != 0 || i.first != 0 || u32::from(i.channels) < simd)
        };
        let labels = Labels::new(p, end, &parts);
        if let Some(l) = labels.at.iter().find(|l| code.get(**l as usize).is_none_or(|i| i.op != Op::Join)) {
            return Err(NotBuilt { pc: *l, reason: "channels wait where nothing joins them" });
        }
        let mut f = Func::new(p.name(), simd);
        f.register_bytes = p.registers().bytes;
        let cr0_at = p.registers().predefined[predefined::var::CR0 as usize];
        let resumes = vec![None; labels.at.len()];
        Ok(Builder {
            p,
            dispatch: options.dispatch,
            budget: options.budget.saturating_mul(u64::from(end) + 1000),
            f,
            ssa: Ssa::default(),
            pieces: Pieces::new(p, 0..end as usize),
            labels,
            end,
            at: HashMap::new(),
            resumes,
            cur: Block::ENTRY,
            pc: 0,
            converged: false,
            prologue: Vec::new(),
            constants: HashMap::new(),
            inputs: HashMap::new(),
            cr0: Some(FpMode::START.0),
            cr0_at,
        })
    }

    fn origin(&self) -> Origin {
        let first = self.p.code().get(self.pc as usize).map_or(0, |i| i.first);
        Origin { pc: self.pc, first }
    }

    fn push(&mut self, inst: Inst, ty: Type) -> Value {
        let origin = self.origin();
        self.f.push1(self.cur, inst, ty, origin)
    }

    fn push2(&mut self, inst: Inst, types: [Type; 2]) -> [Value; 2] {
        let all = self.push_all(inst, &types);
        [all[0], all[1]]
    }

    fn push_all(&mut self, inst: Inst, types: &[Type]) -> Vec<Value> {
        let origin = self.origin();
        let id = self.f.push(self.cur, inst, types, origin);
        self.f.results(id).collect()
    }

    /// An instruction of the entry block, before all others.
    fn first(&mut self, inst: Inst, ty: Type) -> Value {
        let id = self.f.make(inst, &[ty], Origin::default());
        self.prologue.push(id);
        self.f.inst(id).first
    }

    fn constant(&mut self, bits: u64, ty: Type) -> Value {
        let bits = bits & ty.elem.all();
        if let Some(v) = self.constants.get(&(bits, ty)) {
            return *v;
        }
        let v = self.first(Inst::Const(bits), ty);
        self.constants.insert((bits, ty), v);
        v
    }

    fn lanes(&mut self, bits: Vec<u64>, ty: Type) -> Value {
        self.first(Inst::Lanes(bits), ty)
    }

    fn input(&mut self, offset: RegOffset, ty: Type, step: u32) -> Value {
        if let Some(v) = self.inputs.get(&(offset, ty, step)) {
            return *v;
        }
        let v = self.first(Inst::Input { offset, step }, ty);
        self.inputs.insert((offset, ty, step), v);
        v
    }

    // Variables.

    fn exec_var(&self) -> Var {
        (self.pieces.all.len() + self.pieces.predicates.len()) as Var
    }

    fn wait_var(&self, label: usize) -> Var {
        self.exec_var() + 1 + label as Var
    }

    fn read_var(&mut self, var: Var, ty: Type) -> Value {
        self.read_at(self.cur, var, ty)
    }

    /// A variable at the end of a block; at the start of a thread registers are inputs, predicates too.
    fn read_at(&mut self, b: Block, var: Var, ty: Type) -> Value {
        let (pieces, predicates) = (self.pieces.all.len(), self.pieces.predicates.len());
        let k = var as usize;
        let value = if k < pieces {
            let p = self.pieces.all[k];
            (Inst::Input { offset: p.offset, step: p.ty.elem.bytes() }, ty)
        } else if k < pieces + predicates {
            (Inst::Input { offset: self.pieces.predicates[k - pieces].offset, step: 0 }, ty)
        } else if k == pieces + predicates {
            return self.read_exec(b);
        } else {
            (Inst::Const(0), ty)
        };
        // Waiting channels: nobody waits before the first branch to a label.
        let since = k.checked_sub(pieces + predicates + 1).map_or(0, |label| self.labels.since(label));
        let prologue = &mut self.prologue;
        let mut start = |f: &mut Func| {
            let mut make = |inst, ty| {
                let id = f.make(inst, &[ty], Origin::default());
                prologue.push(id);
                f.inst(id).first
            };
            if ty.is_mask() && k < pieces + predicates {
                let bits = make(value.0.clone(), Type::new(Elem::I32, 1));
                return make(Inst::FromBits(bits), ty);
            }
            make(value.0.clone(), value.1)
        };
        self.ssa.read(&mut self.f, b, Wanted { var, ty, since }, &mut start)
    }

    fn read_exec(&mut self, b: Block) -> Value {
        let wanted = Wanted { var: self.exec_var(), ty: Type::mask(self.f.simd), since: 0 };
        let start = self.dispatched();
        self.ssa.read(&mut self.f, b, wanted, &mut |_| start)
    }

    fn write_var(&mut self, var: Var, v: Value) {
        self.ssa.write(self.cur, var, v);
    }

    // Masks.

    /// The channels that the thread starts with.
    fn dispatched(&mut self) -> Value {
        let ty = Type::mask(self.f.simd);
        match self.dispatch {
            Dispatch::All => self.constant(1, ty),
            Dispatch::First(n) => {
                let key = (2, ty);
                if let Some(v) = self.constants.get(&key) {
                    return *v;
                }
                let bits = (0..self.f.simd).map(|k| u64::from(k < u32::from(n))).collect();
                let v = self.lanes(bits, ty);
                self.constants.insert(key, v);
                v
            }
            Dispatch::Any => {
                let key = (2, ty);
                if let Some(v) = self.constants.get(&key) {
                    return *v;
                }
                let v = self.first(Inst::Dispatch, ty);
                self.constants.insert(key, v);
                v
            }
        }
    }

    /// Active channels, of all of the thread.
    fn exec(&mut self) -> Value {
        if self.converged { self.dispatched() } else { self.read_exec(self.cur) }
    }

    fn logic(&mut self, op: Logic, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.push(Inst::Logic { op, args: [a, b] }, ty)
    }

    fn not(&mut self, mask: Value) -> Value {
        let ones = self.constant(1, self.f.ty(mask));
        self.logic(Logic::Xor, mask, ones)
    }

    /// Lanes of a mask from one on; beyond its own ones false.
    fn mask_lanes(&mut self, mask: Value, first: u32, lanes: u32) -> Value {
        let has = u32::from(self.f.ty(mask).lanes);
        if first == 0 && lanes == has {
            return mask;
        }
        let mut args = vec![mask];
        if first + lanes > has {
            args.push(self.constant(0, Type::mask(1)));
        }
        let units = (first..first + lanes).map(|k| k.min(has) as u16).collect();
        self.push(Inst::Shuffle(Box::new(Shuffle { args, unit: 0, units })), Type::mask(lanes))
    }

    /// A mask of which lanes from one on are another's.
    fn with_lanes(&mut self, mask: Value, first: u32, other: Value) -> Value {
        let (ty, n) = (self.f.ty(mask), u32::from(self.f.ty(other).lanes));
        let has = u32::from(ty.lanes);
        if first == 0 && n == has {
            return other;
        }
        let units =
            (0..has).map(|k| if k >= first && k < first + n { has + k - first } else { k } as u16).collect();
        self.push(Inst::Shuffle(Box::new(Shuffle { args: vec![mask, other], unit: 0, units })), ty)
    }

    /// Lanes of a predicate.
    fn predicate_lanes(&mut self, offset: RegOffset, first: u32, lanes: u32) -> Value {
        let Some(k) = self.pieces.predicate(offset) else { return self.constant(0, Type::mask(lanes)) };
        let ty = Type::mask(self.pieces.predicates[k].lanes);
        let all = self.read_var((self.pieces.all.len() + k) as Var, ty);
        self.mask_lanes(all, first, lanes)
    }

    /// Sets lanes of a predicate, those of the mask.
    fn set_predicate(&mut self, offset: RegOffset, first: u32, bits: Value, mask: Option<Value>) {
        let Some(k) = self.pieces.predicate(offset) else { return };
        let (var, ty) = ((self.pieces.all.len() + k) as Var, Type::mask(self.pieces.predicates[k].lanes));
        let n = u32::from(self.f.ty(bits).lanes);
        let mut bits = bits;
        if let Some(mask) = mask {
            let old = self.predicate_lanes(offset, first, n);
            bits = self.push(Inst::Select { mask, args: [bits, old] }, Type::mask(n));
        }
        let whole = first == 0 && n == u32::from(ty.lanes);
        let all = if whole { bits } else { self.read_var(var, ty) };
        let all = self.with_lanes(all, first, bits);
        self.write_var(var, all);
    }

    /// The channels of an instruction that its predicate says; `None`: all.
    fn predicate(&mut self, i: &Lowered) -> Option<Value> {
        if i.pred.offset == 0 {
            return None;
        }
        let lanes = u32::from(i.channels);
        let mut bits = self.predicate_lanes(i.pred.offset, u32::from(i.first), lanes);
        if i.pred.combine != Combine::None {
            let all = i.pred.combine == Combine::All;
            bits = self.push(Inst::Vote { all, arg: bits }, Type::mask(1));
            if lanes > 1 {
                bits = self.push(Inst::Splat(bits), Type::mask(lanes));
            }
        }
        Some(if i.pred.invert { self.not(bits) } else { bits })
    }

    /// The active channels of an instruction; `None`: all.
    fn active(&mut self, i: &Lowered) -> Option<Value> {
        let (first, lanes) = (u32::from(i.first), u32::from(i.channels));
        let all = self.converged && self.dispatch == Dispatch::All && first + lanes <= self.f.simd;
        if i.no_mask || all {
            return None;
        }
        let exec = self.exec();
        Some(self.mask_lanes(exec, first, lanes))
    }

    /// The channels that an instruction is executed for; `None`: all.
    fn guard(&mut self, i: &Lowered) -> Result<Option<Value>, No> {
        let (active, predicate) = (self.active(i), self.predicate(i));
        Ok(match (active, predicate) {
            (Some(a), Some(p)) => Some(self.logic(Logic::And, a, p)),
            (one, None) | (None, one) => one,
        })
    }

    // Modes.

    /// The mode that an operation rounds in.
    fn mode_of(&self, float: bool) -> Result<FpMode, No> {
        if !float {
            return Ok(FpMode::OPENCL);
        }
        match self.cr0 {
            Some(cr0) if FpMode(cr0).is_ieee() => Ok(FpMode::OPENCL),
            Some(cr0) => Ok(FpMode(cr0)),
            None => Err(No("a mode of floats that is not known")),
        }
    }

    /// Does an instruction write `%cr0`?
    fn writes_mode(&self, i: &Lowered) -> bool {
        let at = |offset| (self.cr0_at..self.cr0_at + 64).contains(&offset);
        matches!(i.dst, Dst::Reg { offset, .. } if at(offset))
    }

    /// A write of `%cr0`: of a constant, or it is left to the interpreter and no longer known.
    fn write_mode(&mut self, i: &Lowered) -> Result<(), No> {
        let sure = i.no_mask || self.converged && i.first == 0;
        let whole = matches!(i.dst, Dst::Reg { offset, ty, sat: false, .. } if offset == self.cr0_at && ty.size() == 4 && ty.is_int());
        let constants = &self.p.registers().constants;
        let (cr0, at) = (self.cr0, self.cr0_at);
        let known = |s: &Src| match *s {
            Src::Reg { offset, ty, modifier: Modifier::None, .. } if ty.is_int() && ty.size() == 4 => {
                if offset == at {
                    return cr0;
                }
                let bytes = constants.get(offset as usize..offset as usize + 4)?;
                Some(u32::from_le_bytes(bytes.try_into().ok()?))
            }
            _ => None,
        };
        let (a, b) = (known(&i.src[0]), known(&i.src[1]));
        let value = match (i.op, a, b) {
            _ if i.channels != 1 || i.pred.offset != 0 || !sure || !whole => None,
            (Op::Mov, Some(a), _) => Some(a),
            (Op::Or, Some(a), Some(b)) => Some(a | b),
            (Op::And, Some(a), Some(b)) => Some(a & b),
            (Op::Xor, Some(a), Some(b)) => Some(a ^ b),
            _ => None,
        };
        self.cr0 = value;
        let Some(value) = value else { return Err(No("a mode of floats that is not known")) };
        self.push_all(Inst::Mode(value), &[]);
        let bits = self.constant(u64::from(value), Type::new(Elem::I32, 1));
        self.write(&[self.cr0_at], bits, None)
    }

    /// An instruction is left to the interpreter.
    fn escape(&mut self, i: &Lowered, reason: &'static str) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let n = u32::from(i.channels);
        let registers = self.p.registers();
        let mut note = |t: Touched, write: bool| {
            let list = if write { &mut writes } else { &mut reads };
            match t.range(n) {
                Some(range) => list.push(range),
                None => list.extend(registers.address_taken()),
            }
        };
        i.reads(self.p.parts(), &mut |t| note(t, false));
        i.writes(self.p.parts(), &mut |t| note(t, true));
        let vars = |b: &Self, ranges: &[std::ops::Range<u32>]| {
            let mut all: Vec<Var> = Vec::new();
            for r in ranges {
                all.extend(
                    b.pieces.touching(r.clone()).filter(|k| b.pieces.all[*k].written).map(|k| k as Var),
                );
                let p = &b.pieces.predicates;
                let from = p.partition_point(|p| p.offset + 4 <= r.start);
                let to = from + p[from..].partition_point(|p| p.offset < r.end);
                all.extend((from..to).map(|k| (b.pieces.all.len() + k) as Var));
            }
            all.sort_unstable();
            all.dedup();
            all
        };
        // A written value is read as well: other channels' bytes stay.
        let written = vars(self, &writes);
        reads.extend(writes);
        let homes = self.homes(&vars(self, &reads));
        let exec = self.exec();
        let (offsets, types): (Vec<_>, Vec<_>) = written.iter().map(|v| self.home(*v)).unzip();
        let escape = Escape { pc: self.pc, exec, reads: homes, writes: offsets, reason };
        let results = self.push_all(Inst::Escape(Box::new(escape)), &types);
        for (var, value) in written.into_iter().zip(results) {
            self.write_var(var, value);
        }
    }

    /// Where a piece or predicate is, and its type.
    fn home(&self, var: Var) -> (RegOffset, Type) {
        let pieces = self.pieces.all.len();
        match self.pieces.all.get(var as usize) {
            Some(p) => (p.offset, p.ty),
            None => {
                let p = self.pieces.predicates[var as usize - pieces];
                (p.offset, Type::mask(p.lanes))
            }
        }
    }

    fn homes(&mut self, vars: &[Var]) -> Vec<Home> {
        let mut out = Vec::new();
        for var in vars {
            let (offset, ty) = self.home(*var);
            out.push(Home { offset, value: self.read_var(*var, ty) });
        }
        out
    }

    /// An instruction that is not a branch.
    fn inst(&mut self, i: &Lowered) {
        let class = class(i.op);
        let done = match class {
            _ if self.writes_mode(i) => self.write_mode(i),
            Class::Arith(_) | Class::Two(_) | Class::Early(_) => self.arith(i, class),
            Class::Move => self.mov(i),
            Class::Select => self.sel(i),
            Class::Compare => self.cmp(i),
            Class::PredicateLogic => self.predicate_logic(i),
            Class::SetPredicate => self.setp(i),
            Class::PredicateMove => self.mov_predicate(i),
            Class::Enables => self.enables(i),
            Class::Message => self.message(i),
            Class::Fence => {
                self.push_all(Inst::Fence(self.pc), &[]);
                Ok(())
            }
            Class::Nothing | Class::Join => Ok(()),
            Class::Split => Err(No("a signal")),
            Class::Interpreted(reason) | Class::Refused(reason) => Err(No(reason)),
            Class::Goto | Class::Return | Class::Barrier | Class::Fault => Ok(()),
        };
        if let Err(No(reason)) = done {
            self.escape(i, reason);
        }
    }
}
