//! Folds constants, joins equal values, and removes unused ones.

use std::collections::HashMap;

use envisa_lower::Op;

use crate::eval;
use crate::flow::Flow;
use crate::func::{Block, Def, Func, InstId, Type, Value};
use crate::inst::{Effect, Inst, Logic, Shuffle, Target, Terminator};

use super::params::{self, replace_values, resolve_replacement};

/// See the module.
pub fn run(f: &mut Func) {
    f.facts.clear();
    let flow = Flow::new(f);
    let mut s = Simplifier {
        instead: (0..f.value_count() as u32).map(Value).collect(),
        seen: HashMap::new(),
        f,
        flow,
    };
    s.run();
    params::run(f);
    remove_dead_code(f);
}

struct Simplifier<'a> {
    f: &'a mut Func,
    flow: Flow,
    instead: Vec<Value>,
    /// Instructions by what they do, and the blocks they are in: the last ones.
    seen: HashMap<(Inst, Type), Vec<(Block, Value)>>,
}

/// How many instructions that do the same are looked at.
const LOOKED_AT: usize = 4;

/// What an instruction becomes.
enum Becomes {
    /// Another value.
    Value(Value),
    /// Another instruction.
    Inst(Inst),
}

impl Simplifier<'_> {
    fn run(&mut self) {
        for b in self.flow.order.clone() {
            let insts = std::mem::take(&mut self.f.block_mut(b).insts);
            let mut kept = Vec::with_capacity(insts.len());
            for i in insts {
                let mut inst = std::mem::replace(self.f.inst_mut(i), Inst::Const(0));
                inst.operands_mut(&mut |v| *v = resolve_replacement(&mut self.instead, *v));
                *self.f.inst_mut(i) = inst;
                if !self.inst(b, i, &mut kept) {
                    kept.push(i);
                }
            }
            self.f.block_mut(b).insts = kept;
            self.end(b);
        }
        let mut instead = std::mem::take(&mut self.instead);
        replace_values(self.f, &mut instead);
    }

    /// The lanes of a value, if they are known.
    fn lanes(&self, v: Value) -> Option<Vec<u64>> {
        match self.f.def_inst(v)? {
            Inst::Const(bits) => Some(vec![*bits; self.f.ty(v).lanes as usize]),
            Inst::Lanes(bits) => Some(bits.clone()),
            _ => None,
        }
    }

    /// Looks at an instruction; `true` if it goes.
    fn inst(&mut self, b: Block, i: InstId, kept: &mut Vec<InstId>) -> bool {
        // Rules that make another instruction are tried again on that: so often at most.
        for _ in 0..8 {
            if self.f.inst(i).inst.effect() != Effect::Pure {
                return false;
            }
            match self.rule(i) {
                Some(Becomes::Value(v)) => {
                    let first = self.f.inst(i).first;
                    self.instead[first.index()] = v;
                    return true;
                }
                Some(Becomes::Inst(inst)) => *self.f.inst_mut(i) = inst,
                None => break,
            }
        }
        if let Some(results) = self.folded(i) {
            let d = self.f.inst(i);
            let (first, origin) = (d.first, d.origin);
            for (lanes, k) in results.into_iter().zip(0..) {
                let v = Value(first.0 + k);
                let ty = self.f.ty(v);
                let inst = constant_inst(&lanes);
                let id = self.f.make(inst, &[ty], origin);
                kept.push(id);
                let new = self.f.inst(id).first;
                self.instead.push(new);
                self.instead[v.index()] = self.number(b, id).unwrap_or(new);
            }
            return true;
        }
        match self.number(b, i) {
            None => false,
            Some(same) => {
                let d = self.f.inst(i);
                for k in 0..d.results {
                    self.instead[d.first.index() + k as usize] = Value(same.0 + k);
                }
                true
            }
        }
    }

    /// The first result of an instruction that does the same and dominates this one; else notes this one.
    fn number(&mut self, b: Block, i: InstId) -> Option<Value> {
        let d = self.f.inst(i);
        let (key, first) = ((d.inst.clone(), self.f.ty(d.first)), d.first);
        let list = self.seen.entry(key).or_default();
        let found = list.iter().rev().take(LOOKED_AT).find(|(at, _)| self.flow.dominates(*at, b));
        if let Some((_, v)) = found {
            return Some(*v);
        }
        list.push((b, first));
        None
    }

    /// The results of an instruction whose operands are all known.
    fn folded(&self, i: InstId) -> Option<Vec<Vec<u64>>> {
        let d = self.f.inst(i);
        if matches!(d.inst, Inst::Const(_) | Inst::Lanes(_)) {
            return None;
        }
        let mut known = true;
        d.inst
            .operands(&mut |v| known &= matches!(self.f.def_inst(v), Some(Inst::Const(_) | Inst::Lanes(_))));
        if !known {
            return None;
        }
        eval::pure(self.f, d, &|v| self.lanes(v))
    }

    fn rule(&self, i: InstId) -> Option<Becomes> {
        let d = self.f.inst(i);
        let ty = self.f.ty(d.first);
        match &d.inst {
            Inst::Select { mask, args: [a, b] } => self.select(*mask, *a, *b),
            Inst::Logic { op, args: [a, b] } => self.logic(*op, *a, *b),
            Inst::Vote { arg, .. } => match self.f.def_inst(*arg) {
                _ if self.f.ty(*arg).lanes == 1 => Some(Becomes::Value(*arg)),
                Some(Inst::Splat(v)) => Some(Becomes::Value(*v)),
                _ => None,
            },
            Inst::FromBits(v) => match self.f.def_inst(*v) {
                Some(Inst::ToBits(mask)) if self.f.ty(*mask) == ty => Some(Becomes::Value(*mask)),
                _ => None,
            },
            Inst::Shuffle(s) => self.shuffle(s, ty),
            Inst::Convert { from, to, sat: false, arg, .. } if from.is_int() && to.is_int() => {
                // Back to what was made wider.
                match self.f.def_inst(*arg) {
                    Some(Inst::Convert { from: first, to: wide, sat: false, arg, .. })
                        if first.is_int()
                            && wide.is_int()
                            && first.size() == to.size()
                            && wide.size() > to.size() =>
                    {
                        Some(Becomes::Value(*arg))
                    }
                    _ => None,
                }
            }
            Inst::Arith { what, args } if what.number.is_int() && what.negate == 0 => {
                let constant = |k: usize| self.f.constant(args[k]);
                let all = ty.elem.all();
                match what.op {
                    Op::Add | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Asr if constant(1) == Some(0) => {
                        Some(Becomes::Value(args[0]))
                    }
                    Op::Add | Op::Or | Op::Xor if constant(0) == Some(0) => Some(Becomes::Value(args[1])),
                    Op::Mul if constant(1) == Some(1) => Some(Becomes::Value(args[0])),
                    Op::And if constant(1) == Some(all) || args[0] == args[1] => {
                        Some(Becomes::Value(args[0]))
                    }
                    Op::Or if args[0] == args[1] => Some(Becomes::Value(args[0])),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn select(&self, mask: Value, a: Value, b: Value) -> Option<Becomes> {
        if a == b {
            return Some(Becomes::Value(a));
        }
        match self.f.constant(mask) {
            Some(0) => return Some(Becomes::Value(b)),
            Some(_) => return Some(Becomes::Value(a)),
            None => {}
        }
        // What the same mask chose before.
        if let Some(Inst::Select { mask: m, args: [x, _] }) = self.f.def_inst(a)
            && *m == mask
        {
            return Some(Becomes::Inst(Inst::Select { mask, args: [*x, b] }));
        }
        if let Some(Inst::Select { mask: m, args: [_, y] }) = self.f.def_inst(b)
            && *m == mask
        {
            return Some(Becomes::Inst(Inst::Select { mask, args: [a, *y] }));
        }
        None
    }

    fn logic(&self, op: Logic, a: Value, b: Value) -> Option<Becomes> {
        use Becomes::{Inst as Another, Value as Same};
        let (x, y) = (self.f.constant(a), self.f.constant(b));
        match (op, x, y) {
            (Logic::And | Logic::Or, ..) if a == b => Some(Same(a)),
            (Logic::And, Some(1), _) | (Logic::Or | Logic::Xor, Some(0), _) => Some(Same(b)),
            (Logic::And, _, Some(1)) | (Logic::Or | Logic::Xor | Logic::AndNot, _, Some(0)) => Some(Same(a)),
            (Logic::And | Logic::AndNot, Some(0), _) | (Logic::Or, Some(1), _) => Some(Same(a)),
            (Logic::And, _, Some(0)) | (Logic::Or, _, Some(1)) => Some(Same(b)),
            (Logic::Xor | Logic::AndNot, ..) if a == b => Some(Another(Inst::Const(0))),
            (Logic::AndNot, _, Some(1)) => Some(Another(Inst::Const(0))),
            (Logic::AndNot, Some(1), _) => Some(Another(Inst::Logic { op: Logic::Xor, args: [b, a] })),
            // Not not.
            (Logic::Xor, _, Some(1)) => match self.f.def_inst(a) {
                Some(Inst::Logic { op: Logic::Xor, args: [inner, one] })
                    if self.f.constant(*one) == Some(1) =>
                {
                    Some(Same(*inner))
                }
                _ => None,
            },
            (Logic::And, ..) => self.both(a, b).or_else(|| self.both(b, a)),
            _ => None,
        }
    }

    /// Lanes of `a` that are of `b`, too.
    fn both(&self, a: Value, b: Value) -> Option<Becomes> {
        match self.f.def_inst(b)? {
            // Not those of.
            Inst::Logic { op: Logic::Xor, args: [inner, one] } if self.f.constant(*one) == Some(1) => {
                Some(Becomes::Inst(Inst::Logic { op: Logic::AndNot, args: [a, *inner] }))
            }
            // Lanes of it already.
            Inst::Logic { op: Logic::And, args } if args.contains(&a) => Some(Becomes::Value(b)),
            Inst::Logic { op: Logic::AndNot, args: [inner, _] } if *inner == a => Some(Becomes::Value(b)),
            // In its lanes it is the first.
            Inst::Select { mask, args: [x, _] } if *mask == a => {
                Some(Becomes::Inst(Inst::Logic { op: Logic::And, args: [a, *x] }))
            }
            _ => None,
        }
    }

    fn shuffle(&self, s: &Shuffle, ty: Type) -> Option<Becomes> {
        let units_of = |v: Value| {
            let t = self.f.ty(v);
            (if s.unit == 0 { t.lanes.into() } else { t.bytes() / u32::from(s.unit) }) as u16
        };
        // Where each operand begins, and those that are looked at.
        let mut begins = vec![0u16];
        for v in &s.args {
            begins.push(begins[begins.len() - 1] + units_of(*v));
        }
        let of = |u: u16| begins.partition_point(|b| *b <= u) - 1;
        if let [v] = s.args[..]
            && self.f.ty(v) == ty
            && s.slice() == Some(0)
        {
            return Some(Becomes::Value(v));
        }
        if let Some(first) = s.slice()
            && begins.contains(&first)
            && s.args.len() > 1
            && self.f.ty(s.args[of(first)]) == ty
        {
            return Some(Becomes::Value(s.args[of(first)]));
        }
        if let ([v], [_]) = (&s.args[..], &s.units[..])
            && let Some(Inst::Splat(v)) = self.f.def_inst(*v)
            && self.f.ty(*v) == ty
        {
            return Some(Becomes::Value(*v));
        }
        // Through shuffles by the same unit.
        let mut args: Vec<Value> = Vec::new();
        let mut starts: Vec<u16> = Vec::new();
        let mut next = 0u16;
        let mut units = Vec::with_capacity(s.units.len());
        for u in &s.units {
            let k = of(*u);
            let (mut v, mut at) = (s.args[k], u - begins[k]);
            if let Some(Inst::Shuffle(inner)) = self.f.def_inst(v)
                && inner.unit == s.unit
            {
                at = inner.units[at as usize];
                for a in &inner.args {
                    v = *a;
                    if at < units_of(v) {
                        break;
                    }
                    at -= units_of(v);
                }
            }
            let place = match args.iter().position(|a| *a == v) {
                Some(place) => place,
                None => {
                    args.push(v);
                    starts.push(next);
                    next = next.checked_add(units_of(v))?;
                    args.len() - 1
                }
            };
            units.push(starts[place] + at);
        }
        // More operands than before are no gain.
        if args.len() > s.args.len() || args == s.args && units == s.units {
            return None;
        }
        Some(Becomes::Inst(Inst::Shuffle(Box::new(Shuffle { args, unit: s.unit, units }))))
    }

    /// A branch on what is known.
    fn end(&mut self, b: Block) {
        let mut end = std::mem::replace(&mut self.f.block_mut(b).end, Terminator::Return);
        end.operands_mut(&mut |v| *v = resolve_replacement(&mut self.instead, *v));
        if let Terminator::Branch { mask, then, other } = &end {
            let known = match self.lanes(*mask) {
                Some(lanes) => Some(lanes.iter().any(|x| *x != 0)),
                None if then == other => Some(true),
                None => None,
            };
            let vote = match self.f.def_inst(*mask) {
                // A branch asks whether any is true.
                Some(Inst::Vote { all: false, arg }) => Some(*arg),
                _ => None,
            };
            let clone = |t: &Target| t.clone();
            end = match (known, vote) {
                (Some(true), _) => Terminator::Jump(clone(then)),
                (Some(false), _) => Terminator::Jump(clone(other)),
                (None, Some(mask)) => Terminator::Branch { mask, then: clone(then), other: clone(other) },
                (None, None) => end,
            };
        }
        self.f.block_mut(b).end = end;
    }
}

/// An instruction for lanes that are known.
fn constant_inst(lanes: &[u64]) -> Inst {
    if lanes.iter().all(|x| *x == lanes[0]) { Inst::Const(lanes[0]) } else { Inst::Lanes(lanes.to_vec()) }
}

/// Leaves out pure instructions and parameters that nobody uses.
pub fn remove_dead_code(f: &mut Func) {
    let mut used = vec![false; f.value_count()];
    let mut work = Vec::new();
    // What each parameter is handed.
    let mut handed: Vec<Vec<Value>> = vec![Vec::new(); f.value_count()];
    for b in f.blocks() {
        let d = f.block(b);
        for i in d.insts.iter().filter(|i| f.inst(**i).inst.effect() != Effect::Pure) {
            f.inst(*i).inst.operands(&mut |v| work.push(v));
        }
        match &d.end {
            Terminator::Branch { mask, .. } => work.push(*mask),
            Terminator::Barrier { reads, .. } => work.extend(reads.iter().map(|h| h.value)),
            Terminator::Jump(_) | Terminator::Return | Terminator::Trap(_) => {}
        }
        for t in d.end.targets() {
            for (p, v) in f.block(t.block).params.iter().zip(&t.args) {
                handed[p.index()].push(*v);
            }
        }
    }
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut used[v.index()], true) {
            continue;
        }
        match f.def(v) {
            Def::Param(..) => work.append(&mut handed[v.index()]),
            Def::Result(i, _) if f.inst(i).inst.effect() == Effect::Pure => {
                f.inst(i).inst.operands(&mut |v| work.push(v));
            }
            Def::Result(..) | Def::Gone => {}
        }
    }
    for b in f.blocks() {
        let mut insts = std::mem::take(&mut f.block_mut(b).insts);
        insts.retain(|i| f.inst(*i).inst.effect() != Effect::Pure || f.results(*i).any(|v| used[v.index()]));
        f.block_mut(b).insts = insts;
    }
    params::remove(f, &|v| !used[v.index()]);
}
