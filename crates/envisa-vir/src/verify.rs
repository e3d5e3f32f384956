//! Checks the rules of the IR. It runs after every pass.

use std::fmt;

use envisa_isa::Type as Number;

use crate::flow::Flow;
use crate::func::{Block, Def, Elem, Func, InstId, Type, Value};
use crate::inst::{Access, AccessKind, AccessShape, Inst, Shuffle, Terminator, Window};
use crate::operation_classes;

/// What is wrong with a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bad {
    /// The block.
    pub block: Block,
    /// The instruction, as text; empty: the block's end or its parameters.
    pub inst: String,
    /// What.
    pub what: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.block, self.inst, self.what)
    }
}

impl std::error::Error for Bad {}

/// Looks at a function: that definitions dominate uses, types, lanes, masks, windows.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(f: &Func) -> Result<(), Bad> {
    Verifier::new(f).run()
}

struct Verifier<'a> {
    f: &'a Func,
    flow: Flow,
    /// By instruction: its place in its block; of those in none `u32::MAX`.
    place: Vec<(Block, u32)>,
}

impl<'a> Verifier<'a> {
    fn new(f: &'a Func) -> Verifier<'a> {
        Verifier { f, flow: Flow::new(f), place: vec![(Block::ENTRY, u32::MAX); f.inst_count()] }
    }

    fn run(&mut self) -> Result<(), Bad> {
        let f = self.f;
        let order = self.flow.order.clone();
        for b in &order {
            let d = f.block(*b);
            let bad = |what: String| Err(Bad { block: *b, inst: String::new(), what });
            if *b == Block::ENTRY && (!d.params.is_empty() || !self.flow.preds(*b).is_empty()) {
                return bad("the entry has parameters or predecessors".into());
            }
            for (k, p) in d.params.iter().enumerate() {
                if f.def(*p) != Def::Param(*b, k as u32) {
                    return bad(format!("{p} is not a parameter {k}"));
                }
            }
            for (i, k) in d.insts.iter().zip(0..) {
                if self.place[i.index()].1 != u32::MAX {
                    return bad(format!("{i} is in two places"));
                }
                self.place[i.index()] = (*b, k);
            }
        }
        for b in &order {
            let d = f.block(*b);
            for (i, k) in d.insts.iter().zip(0..) {
                let looked =
                    self.uses(*b, k, |each| f.inst(*i).inst.operands(each)).and_then(|()| self.inst(*i));
                looked.map_err(|what| Bad { block: *b, inst: f.inst(*i).inst.to_string(), what })?;
            }
            let looked = self.uses(*b, u32::MAX, |each| d.end.operands(each)).and_then(|()| self.end(&d.end));
            looked.map_err(|what| Bad { block: *b, inst: d.end.to_string(), what })?;
        }
        Ok(())
    }

    /// Operands of what stands at a place of a block.
    fn uses(&self, b: Block, at: u32, visit: impl FnOnce(&mut dyn FnMut(Value))) -> Result<(), String> {
        let mut wrong = None;
        visit(&mut |v| {
            let here = match self.f.def(v) {
                Def::Param(block, _) => self.flow.reaches(block) && self.flow.dominates(block, b),
                Def::Result(i, _) => {
                    let (block, k) = self.place[i.index()];
                    k != u32::MAX && if block == b { k < at } else { self.flow.dominates(block, b) }
                }
                Def::Gone => false,
            };
            if !here {
                wrong.get_or_insert(v);
            }
        });
        wrong.map_or(Ok(()), |v| Err(format!("{v} is not defined here")))
    }

    fn end(&self, end: &Terminator) -> Result<(), String> {
        let f = self.f;
        if let Terminator::Branch { mask, .. } = end
            && !f.ty(*mask).is_mask()
        {
            return Err("it branches on what is not a mask".into());
        }
        for t in end.targets() {
            let params = &f.block(t.block).params;
            if params.len() != t.args.len() || params.iter().zip(&t.args).any(|(p, a)| f.ty(*p) != f.ty(*a)) {
                return Err(format!("{} takes other values", t.block));
            }
        }
        Ok(())
    }

    fn inst(&self, i: InstId) -> Result<(), String> {
        let (f, d) = (self.f, self.f.inst(i));
        let types: Vec<Type> = f.results(i).map(|v| f.ty(v)).collect();
        if types.iter().any(|t| !t.lanes.is_power_of_two() || t.lanes > 32) {
            return Err("lanes are not a power of two up to 32".into());
        }
        let ty = |v: &Value| f.ty(*v);
        let need = |yes: bool, what: &str| if yes { Ok(()) } else { Err(what.to_owned()) };
        let results = match &d.inst {
            Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) => 0,
            Inst::Access(a) => return self.access(a, &types),
            Inst::Escape(e) => {
                need(ty(&e.exec) == Type::mask(f.simd), "its execution mask is not the thread's")?;
                e.writes.len()
            }
            Inst::Arith { what, .. } => self.arith_results(what),
            Inst::Exact { what, .. } if what.op == envisa_lower::Op::Add3o => 2,
            _ => 1,
        };
        need(types.len() == results, "it has another number of results")?;
        let Some(&first) = types.first() else { return Ok(()) };
        let of = |number: Number| first.of(Elem::of(number));
        let all = |args: &[Value], want: Type| {
            need(args.iter().all(|v| ty(v) == want), "an operand has another type")
        };
        match &d.inst {
            Inst::Const(bits) => need(bits & !first.elem.all() == 0, "more bits than a lane"),
            Inst::Lanes(bits) => need(bits.len() == first.lanes as usize, "another number of lanes"),
            Inst::Input { .. } => need(!first.is_mask(), "a mask in registers"),
            Inst::Dispatch => need(first == Type::mask(f.simd), "another number of channels"),
            Inst::Arith { what, args } => {
                need(args.len() == operation_classes::arity(what.op), "another number of operands")?;
                all(args, of(what.number))?;
                let madw = what.op == envisa_lower::Op::Madw;
                need(first == if madw { first.of(Elem::I32) } else { of(what.number) }, "another result")?;
                need(crate::eval::eval_arith(what, [1; 4]).is_some(), "there is no such operation")
            }
            Inst::Exact { what, args } => {
                need(args.len() == what.from.len(), "another number of operands")?;
                let lanes = first.lanes;
                let fits = |(v, (number, _)): (&Value, &(Number, _))| {
                    ty(v) == Type { elem: Elem::of(*number), lanes }
                };
                need(args.iter().zip(&what.from).all(fits), "an operand has another type")?;
                let cmp = what.op == envisa_lower::Op::Cmp;
                need(first.elem == if cmp { Elem::Mask } else { Elem::of(what.to) }, "another result")
            }
            Inst::Modify { number, arg, .. } => {
                all(&[*arg], of(*number)).and(need(first == of(*number), "another result"))
            }
            Inst::Cmp { number, args, .. } => all(args, of(*number)).and(need(first.is_mask(), "no mask")),
            Inst::Select { mask, args } => {
                all(args, first)?;
                need(ty(mask) == first.of(Elem::Mask), "another mask")
            }
            Inst::Convert { from, to, arg, .. } => {
                need(first == of(*to), "another result").and(all(&[*arg], of(*from)))
            }
            Inst::Splat(v) => need(ty(v) == Type { lanes: 1, ..first }, "more than one lane"),
            Inst::Shuffle(s) => self.shuffle(s, first),
            Inst::Logic { args, .. } => all(args, first).and(need(first.is_mask(), "no mask")),
            Inst::Vote { arg, .. } => need(ty(arg).is_mask() && first == Type::mask(1), "no mask"),
            Inst::ToBits(v) => need(ty(v).is_mask() && first == Type::new(Elem::I32, 1), "no mask"),
            Inst::FromBits(v) => need(first.is_mask() && ty(v) == Type::new(Elem::I32, 1), "no mask"),
            Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) | Inst::Access(_) | Inst::Escape(_) => Ok(()),
        }
    }

    fn arith_results(&self, what: &crate::inst::Arith) -> usize {
        match operation_classes::class(what.op) {
            operation_classes::Class::Two(_) | operation_classes::Class::Early(_) => 2,
            _ => 1,
        }
    }

    fn shuffle(&self, s: &Shuffle, to: Type) -> Result<(), String> {
        let types: Vec<Type> = s.args.iter().map(|v| self.f.ty(*v)).collect();
        let (units, have): (u32, u32) = if to.is_mask() {
            (to.lanes.into(), types.iter().map(|t| u32::from(t.lanes)).sum())
        } else {
            let unit = u32::from(s.unit).max(1);
            if !to.elem.bytes().is_multiple_of(unit) {
                return Err("a unit is more than a lane".into());
            }
            (to.bytes() / unit, types.iter().map(|t| t.bytes()).sum::<u32>() / unit)
        };
        if types.iter().any(|t| t.is_mask() != to.is_mask()) || to.is_mask() != (s.unit == 0) {
            return Err("masks and bits".into());
        }
        if s.units.len() != units as usize || s.units.iter().any(|u| u32::from(*u) >= have) {
            return Err("units that do not exist".into());
        }
        Ok(())
    }

    fn access(&self, a: &Access, results: &[Type]) -> Result<(), String> {
        let f = self.f;
        let need = |yes: bool, what: &str| if yes { Ok(()) } else { Err(what.to_owned()) };
        let lanes = u32::from(a.lanes);
        need(f.ty(a.mask) == Type::mask(lanes), "a mask of another number of lanes")?;
        let address = f.ty(a.address);
        let one = a.block || a.stride.is_some();
        need(u32::from(address.lanes) == if one { 1 } else { lanes }, "another number of addresses")?;
        need(!address.is_mask() && address.elem != Elem::I8, "addresses of another size")?;
        let scalar = |v: Option<Value>| v.is_none_or(|v| f.ty(v) == Type::new(Elem::I64, 1));
        need([a.stride, a.base, a.origin].into_iter().all(scalar), "a scalar that is none")?;
        match a.window {
            Window::Surface(v) | Window::Handle(v) | Window::Scratch(v) => {
                need(f.ty(v).lanes == 1, "a surface by lane")?;
            }
            Window::Flat | Window::Slm | Window::State | Window::Arguments => {}
        }
        let count = a.elements.count_ones() as usize;
        let moved = |t: Type| a.block || t.lanes == a.lanes && t.elem.bytes() >= a.element.into();
        need(results.iter().all(|t| moved(*t)), "another result")?;
        need(a.data.iter().all(|v| moved(f.ty(*v))), "other data")?;
        match a.kind {
            AccessKind::Load => {
                need(a.data.is_empty() && (a.block || results.len() == count), "another load")?
            }
            AccessKind::Store => {
                need(results.is_empty() && (a.block || a.data.len() == count), "another store")?
            }
            AccessKind::Atomic => {
                need(results.len() <= 1 && a.data.len() <= 2 && count == 1, "another atomic")?
            }
        }
        let row = !matches!(a.shape, AccessShape::Row) || count == 1;
        need(row && (a.bits == 32 || a.bits == 64), "a row of more than one element")
    }
}
