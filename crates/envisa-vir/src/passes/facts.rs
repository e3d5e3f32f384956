//! Works out what is known of each value: one sparse pass, to a fixpoint where blocks go back.

use envisa_lower::Op;

use crate::facts::Facts;
use crate::flow::Flow;
use crate::func::{Elem, Func, InstData, Type, Value};
use crate::inst::{Arith, Inst, Shuffle};

/// Rounds over all blocks after which what still changes is given up.
const ROUNDS: usize = 4;

/// See the module.
pub fn run(f: &mut Func) {
    let order = Flow::new(f).order;
    // Nothing comes here yet.
    let mut facts: Vec<Option<Facts>> = vec![None; f.value_count()];
    for round in 0.. {
        let mut changed = false;
        for b in &order {
            let d = f.block(*b);
            for i in &d.insts {
                let d = f.inst(*i);
                for v in f.results(*i) {
                    let new = facts_of_result(f, d, f.ty(v), &|v| facts[v.index()].unwrap_or_default());
                    if facts[v.index()] != Some(new) {
                        facts[v.index()] = Some(new);
                        changed = true;
                    }
                }
            }
            for t in d.end.targets() {
                for (p, v) in f.block(t.block).params.iter().zip(&t.args) {
                    let Some(new) = facts[v.index()] else { continue };
                    let ty = f.ty(*p);
                    let mut joined = facts[p.index()].map_or(new, |old| join(old, new));
                    if round >= ROUNDS && facts[p.index()] != Some(joined) {
                        joined = no_facts(ty);
                    }
                    if facts[p.index()] != Some(joined) {
                        facts[p.index()] = Some(joined);
                        changed = true;
                    }
                }
            }
        }
        if !changed || round > 2 * ROUNDS + 64 {
            break;
        }
    }
    f.facts = facts.into_iter().map(Option::unwrap_or_default).collect();
}

/// What is known of any value of a type.
fn no_facts(ty: Type) -> Facts {
    let one = ty.lanes == 1;
    Facts { low_zeros: 0, uniform: one, step: one.then_some(0), least: 0, greatest: ty.elem.all() }
}

/// What holds of both.
fn join(a: Facts, b: Facts) -> Facts {
    Facts {
        low_zeros: a.low_zeros.min(b.low_zeros),
        uniform: a.uniform && b.uniform,
        step: if a.step == b.step { a.step } else { None },
        least: a.least.min(b.least),
        greatest: a.greatest.max(b.greatest),
    }
}

/// Lanes that are known.
fn facts_of_lanes(lanes: &[u64], elem: Elem) -> Facts {
    let step = if lanes.len() > 1 { lanes[1].wrapping_sub(lanes[0]) } else { 0 };
    let even = lanes.windows(2).all(|w| (w[1].wrapping_sub(w[0]) ^ step) & elem.all() == 0);
    let all = lanes.iter().fold(0, |a, b| a | b);
    Facts {
        low_zeros: all.trailing_zeros().min(elem.bits()) as u8,
        uniform: lanes.iter().all(|x| *x == lanes[0]),
        step: even.then_some(signed(step, elem)),
        least: lanes.iter().copied().min().unwrap_or(0),
        greatest: lanes.iter().copied().max().unwrap_or(0),
    }
}

/// Bits of a lane as a signed number.
fn signed(x: u64, elem: Elem) -> i64 {
    let shift = 64 - elem.bits();
    (x << shift) as i64 >> shift
}

fn facts_of_result(f: &Func, d: &InstData, ty: Type, of: &dyn Fn(Value) -> Facts) -> Facts {
    let none = no_facts(ty);
    let mut uniform = true;
    let mut any = false;
    d.inst.operands(&mut |v| {
        any = true;
        uniform &= of(v).uniform;
    });
    // Of the same operands all lanes make the same.
    let same = if uniform && any { Facts { uniform: true, step: Some(0), ..none } } else { none };
    match &d.inst {
        Inst::Const(bits) => facts_of_lanes(&[*bits], ty.elem),
        Inst::Lanes(bits) => facts_of_lanes(bits, ty.elem),
        Inst::Input { offset, step } => f.known(*offset, *step, ty).unwrap_or(match step {
            0 => Facts { uniform: true, step: Some(0), ..none },
            _ => none,
        }),
        Inst::Arith { what, args } if d.results == 1 && what.number.is_int() => {
            let a: Vec<Facts> = args.iter().map(|v| of(*v)).collect();
            Facts { uniform: same.uniform, ..facts_of_arith(what, &a, ty, same) }
        }
        Inst::Select { mask, args: [a, b] } => {
            let both = join(of(*a), of(*b));
            let chosen = of(*mask).uniform;
            Facts {
                uniform: both.uniform && chosen || both.constant().is_some() || ty.lanes == 1,
                step: if chosen || both.constant().is_some() { both.step } else { none.step },
                ..both
            }
        }
        Inst::Convert { from, to, sat: false, arg, .. } if from.is_int() && to.is_int() => {
            facts_of_conversion(of(*arg), Elem::of(*from), from.is_signed(), ty, same)
        }
        Inst::Splat(v) => Facts { uniform: true, step: Some(0), ..of(*v) },
        Inst::Shuffle(s) => facts_of_shuffle(f, s, ty, of).unwrap_or(same),
        Inst::Exact { .. }
        | Inst::Arith { .. }
        | Inst::Modify { .. }
        | Inst::Cmp { .. }
        | Inst::Convert { .. } => same,
        Inst::Logic { .. } | Inst::Vote { .. } | Inst::ToBits(_) | Inst::FromBits(_) => {
            // Which bits of a dword are set differs by lane.
            if matches!(d.inst, Inst::FromBits(_)) { none } else { same }
        }
        Inst::Dispatch
        | Inst::Spend { .. }
        | Inst::Fence(_)
        | Inst::Mode(_)
        | Inst::Access(_)
        | Inst::Escape(_) => none,
    }
}

fn facts_of_conversion(a: Facts, from: Elem, from_signed: bool, ty: Type, same: Facts) -> Facts {
    let narrower = ty.elem.bits() <= from.bits();
    let fits = a.greatest <= ty.elem.all();
    if narrower {
        return Facts {
            low_zeros: a.low_zeros.min(ty.elem.bits() as u8),
            step: a.step.map(|s| signed(s as u64, ty.elem)),
            least: if fits { a.least } else { 0 },
            greatest: if fits { a.greatest } else { ty.elem.all() },
            uniform: a.uniform || ty.lanes == 1,
        };
    }
    let positive = a.greatest <= from.all() >> 1;
    let small = |s: i64| s.unsigned_abs().saturating_mul(32) < from.all() >> 1;
    // Sums that do not wrap stay sums.
    let step = a.step.filter(|s| *s == 0 || positive && small(*s));
    let same_value = positive || !from_signed;
    Facts {
        low_zeros: if a.least == 0 && a.greatest == 0 { ty.elem.bits() as u8 } else { a.low_zeros },
        uniform: a.uniform || ty.lanes == 1,
        step,
        least: if same_value { a.least } else { same.least },
        greatest: if same_value { a.greatest } else { same.greatest },
    }
}

fn facts_of_shuffle(f: &Func, s: &Shuffle, ty: Type, of: &dyn Fn(Value) -> Facts) -> Option<Facts> {
    let whole = s.unit > 0 && u32::from(s.unit) == ty.elem.bytes();
    if !whole || s.args.iter().any(|v| f.ty(*v).elem != ty.elem) {
        return None;
    }
    let mut all = s.args.iter().map(|v| of(*v)).reduce(join)?;
    let one = ty.lanes == 1 || s.units.iter().all(|u| *u == s.units[0]);
    let row = s.args.len() == 1 && s.slice().is_some();
    all.uniform = one || all.uniform && s.args.len() == 1;
    all.step = match () {
        () if one => Some(0),
        () if row => all.step,
        () if all.uniform => Some(0),
        () => None,
    };
    Some(all)
}

fn facts_of_arith(what: &Arith, a: &[Facts], ty: Type, same: Facts) -> Facts {
    let (all, bits) = (ty.elem.all(), ty.elem.bits());
    let cut = |s: i64| signed(s as u64, ty.elem);
    let zip = |f: fn(i64, i64) -> i64| match (a[0].step, a[1].step) {
        (Some(x), Some(y)) => Some(cut(f(x, y))),
        _ => None,
    };
    let range = |least: Option<u64>, greatest: Option<u64>| match (least, greatest) {
        (Some(l), Some(g)) if g <= all => (l, g),
        _ => (0, all),
    };
    let with = |low_zeros: u8, step: Option<i64>, (least, greatest): (u64, u64)| Facts {
        low_zeros: low_zeros.min(bits as u8),
        step: if same.uniform { Some(0) } else { step },
        least,
        greatest,
        ..same
    };
    let product = |x: Facts, y: Facts| {
        let step = match (x.constant(), y.constant()) {
            (Some(c), _) => y.step.map(|s| cut(s.wrapping_mul(c as i64))),
            (_, Some(c)) => x.step.map(|s| cut(s.wrapping_mul(c as i64))),
            _ => None,
        };
        let r = range(x.least.checked_mul(y.least), x.greatest.checked_mul(y.greatest));
        with(x.low_zeros.saturating_add(y.low_zeros), step, r)
    };
    let sum = |x: Facts, y: Facts| {
        let step = match (x.step, y.step) {
            (Some(x), Some(y)) => Some(cut(x.wrapping_add(y))),
            _ => None,
        };
        let r = range(x.least.checked_add(y.least), x.greatest.checked_add(y.greatest));
        with(x.low_zeros.min(y.low_zeros), step, r)
    };
    match what.op {
        Op::Add if what.negate == 0 => sum(a[0], a[1]),
        Op::Add3 if what.negate == 0 => sum(sum(a[0], a[1]), a[2]),
        Op::Add if what.negate == 2 => {
            with(a[0].low_zeros.min(a[1].low_zeros), zip(i64::wrapping_sub), (0, all))
        }
        Op::Mul => product(a[0], a[1]),
        Op::Mad if what.negate == 0 => sum(product(a[0], a[1]), a[2]),
        Op::Shl => match a[1].constant() {
            Some(n) if n < u64::from(bits) => {
                let r = range(a[0].least.checked_mul(1 << n), a[0].greatest.checked_mul(1 << n));
                with(a[0].low_zeros + n as u8, a[0].step.map(|s| cut(s.wrapping_shl(n as u32))), r)
            }
            _ => same,
        },
        Op::Shr => match a[1].constant() {
            Some(n) if n < u64::from(bits) => {
                with(a[0].low_zeros.saturating_sub(n as u8), None, (a[0].least >> n, a[0].greatest >> n))
            }
            _ => same,
        },
        Op::And => {
            let r = (0, a[0].greatest.min(a[1].greatest));
            with(a[0].low_zeros.max(a[1].low_zeros), None, r)
        }
        Op::Or => {
            let apart = |x: Facts, y: Facts| y.low_zeros < 64 && x.greatest >> y.low_zeros == 0;
            if apart(a[0], a[1]) || apart(a[1], a[0]) {
                return sum(a[0], a[1]);
            }
            let top = (a[0].greatest | a[1].greatest).checked_ilog2().map_or(0, |n| u64::MAX >> (63 - n));
            with(a[0].low_zeros.min(a[1].low_zeros), None, (a[0].least.max(a[1].least), top))
        }
        Op::Min | Op::Max => {
            // Where both are below the sign bit, signs do not matter.
            let half = all >> 1;
            let plain = !what.number.is_signed() || a[0].greatest <= half && a[1].greatest <= half;
            let (f, zeros) =
                (if what.op == Op::Min { u64::min } else { u64::max }, a[0].low_zeros.min(a[1].low_zeros));
            let r =
                if plain { (f(a[0].least, a[1].least), f(a[0].greatest, a[1].greatest)) } else { (0, all) };
            with(zeros, None, r)
        }
        _ => same,
    }
}
