//! Decides, by the facts, how the addresses of each access lie to each other.

use envisa_lower::Extend;

use crate::facts::Facts;
use crate::func::{Func, InstId};
use crate::inst::{Access, AccessShape, Inst};

/// See the module. It works the facts out anew.
pub fn run(f: &mut Func) {
    super::facts::run(f);
    for b in f.blocks() {
        for k in 0..f.block(b).insts.len() {
            let i: InstId = f.block(b).insts[k];
            let Inst::Access(a) = &f.inst(i).inst else { continue };
            let shape = shape_of_access(f, a);
            if let Inst::Access(a) = f.inst_mut(i) {
                a.shape = shape;
            }
        }
    }
}

fn shape_of_access(f: &Func, a: &Access) -> AccessShape {
    if a.block || a.lanes == 1 {
        return AccessShape::Uniform;
    }
    let Some(step) = step(f, a) else { return AccessShape::Gather };
    let consecutive = a.elements & a.elements.wrapping_add(1) == 0;
    let count = a.elements.count_ones();
    match (step, i32::try_from(step)) {
        (0, _) => AccessShape::Uniform,
        (_, Ok(step)) if count == 1 && a.elements == 1 && step == i32::from(a.element) => AccessShape::Row,
        (_, Ok(step)) if consecutive => AccessShape::Strided { step, elements: count as u8 },
        _ => AccessShape::Gather,
    }
}

/// Bytes from lane to lane.
fn step(f: &Func, a: &Access) -> Option<i64> {
    let address: Facts = f.facts(a.address);
    if let Some(stride) = a.stride {
        return f.facts(stride).constant().map(|s| s as i64);
    }
    let elem = f.ty(a.address).elem;
    let mut step = address.step?;
    if u32::from(a.bits) > elem.bits() && step != 0 {
        // Sums that wrap in fewer bits are none in more.
        let half = elem.all() >> 1;
        let positive = address.greatest <= half && step.unsigned_abs().saturating_mul(32) < half;
        if !positive || a.extend == Extend::Sign && elem.bits() < 32 {
            return None;
        }
    }
    step = step.checked_mul(a.scale.into())?;
    Some(if a.bits == 32 { i64::from(step as i32) } else { step })
}
