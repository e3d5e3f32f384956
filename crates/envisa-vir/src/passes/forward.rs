//! What was stored or loaded at a place a moment ago is not loaded again: within a block, at virtual addresses.
//!
//! (Accesses outside of a surface or of local memory are dropped and read zeros, so there a load need not give what was
//! stored.)

use std::collections::HashMap;

use envisa_isa::Type as Number;
use envisa_sem::FpMode;

use crate::func::{Block, Elem, Func, InstId, Origin, Type, Value};
use crate::inst::{Access, AccessKind, AccessShape, Effect, Inst, Window};

use super::params::replace_values;

/// See the module. It goes by the shapes of accesses.
pub fn run(f: &mut Func) {
    let mut instead: Vec<Value> = (0..f.value_count() as u32).map(Value).collect();
    let mut any = false;
    for b in f.blocks() {
        any |= block(f, b, &mut instead);
    }
    if any {
        replace_values(f, &mut instead);
    }
}

/// What is in memory at a place, in the lanes of a mask.
struct There {
    mask: Value,
    values: Vec<Value>,
}

/// The place alone: accesses of the same one are equal.
fn without_value(a: &Access) -> Access {
    let (shape, kind) = (AccessShape::Gather, AccessKind::Load);
    Access { pc: 0, mask: a.address, data: Vec::new(), shape, kind, ..a.clone() }
}

/// Do lanes access different bytes?
fn lanes_are_disjoint(a: &Access) -> bool {
    match a.shape {
        AccessShape::Row => true,
        AccessShape::Strided { step, elements } => {
            step.unsigned_abs() >= u32::from(elements) * u32::from(a.element)
        }
        AccessShape::Uniform => a.lanes == 1,
        AccessShape::Gather | AccessShape::Halves { .. } | AccessShape::Clamped => false,
    }
}

fn block(f: &mut Func, b: Block, instead: &mut Vec<Value>) -> bool {
    let insts = std::mem::take(&mut f.block_mut(b).insts);
    let mut there: HashMap<Access, There> = HashMap::new();
    let mut kept = Vec::with_capacity(insts.len());
    let mut any = false;
    for i in insts {
        let access = match &f.inst(i).inst {
            Inst::Access(a) => (**a).clone(),
            other => {
                if other.effect() != Effect::Pure && !matches!(other, Inst::Spend { .. } | Inst::Mode(_)) {
                    there.clear();
                }
                kept.push(i);
                continue;
            }
        };
        let place = without_value(&access);
        match access.kind {
            AccessKind::Load if access.window == Window::Flat => {
                let results: Vec<Type> = f.results(i).map(|v| f.ty(v)).collect();
                let fits =
                    |(v, ty): (&Value, &Type)| f.ty(*v) == *ty || !access.block && f.ty(*v).lanes == ty.lanes;
                // Blocks at one place may be of different sizes.
                let same =
                    |t: &There| t.values.len() == results.len() && t.values.iter().zip(&results).all(fits);
                let sure = |t: &&There| (t.mask == access.mask || f.constant(t.mask) == Some(1)) && same(t);
                if let Some(t) = there.get(&place).filter(sure) {
                    let values = t.values.clone();
                    forward_to_load(f, i, &values, instead, &mut kept);
                    any = true;
                    continue;
                }
                let values = f.results(i).collect();
                there.insert(place, There { mask: access.mask, values });
            }
            AccessKind::Load => {}
            AccessKind::Store => {
                // Local memory has no virtual address; surfaces have.
                if access.window != Window::Slm {
                    there.clear();
                }
                if access.window == Window::Flat && lanes_are_disjoint(&access) {
                    there.insert(place, There { mask: access.mask, values: access.data });
                }
            }
            AccessKind::Atomic => there.clear(),
        }
        kept.push(i);
    }
    f.block_mut(b).insts = kept;
    any
}

/// Replaces a load's results; what was stored is as wide as in memory.
fn forward_to_load(
    f: &mut Func,
    load: InstId,
    values: &[Value],
    instead: &mut Vec<Value>,
    kept: &mut Vec<InstId>,
) {
    let results: Vec<Value> = f.results(load).collect();
    let origin: Origin = f.inst(load).origin;
    for (result, from) in results.into_iter().zip(values) {
        let (have, want) = (f.ty(*from), f.ty(result));
        instead[result.index()] = if have == want {
            *from
        } else {
            let id = f.make(zero_extend(have, want, *from), &[want], origin);
            instead.push(f.inst(id).first);
            kept.push(id);
            f.inst(id).first
        };
    }
}

/// Bits with zeros above.
fn zero_extend(from: Type, to: Type, arg: Value) -> Inst {
    let unsigned = |e: Elem| match e {
        Elem::Mask | Elem::I8 => Number::Ub,
        Elem::I16 => Number::Uw,
        Elem::I32 => Number::Ud,
        Elem::I64 => Number::Uq,
    };
    let (from, to) = (unsigned(from.elem), unsigned(to.elem));
    Inst::Convert { from, to, sat: false, operand: false, mode: FpMode::OPENCL, arg }
}
