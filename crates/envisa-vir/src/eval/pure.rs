//! What instructions without effects make of their operands.

use crate::func::{Func, InstData, Type, Value};
use crate::inst::{Inst, Logic, Shuffle};

use super::arith::{apply_modifier, compare, convert_lane, eval_arith, eval_exact};

/// The results' lanes of an instruction whose results follow from its operands' lanes alone; `None` if they do not.
pub fn pure(f: &Func, d: &InstData, lanes: &dyn Fn(Value) -> Option<Vec<u64>>) -> Option<Vec<Vec<u64>>> {
    let to = (d.results > 0).then(|| f.ty(d.first))?;
    let n = to.lanes as usize;
    let all = |args: &[Value]| args.iter().map(|v| lanes(*v)).collect::<Option<Vec<_>>>();
    let one = |lanes: Vec<u64>| Some(vec![lanes]);
    let operands = |args: &[Vec<u64>], k: usize| {
        let mut x = [0; 4];
        args.iter().zip(&mut x).for_each(|(a, x)| *x = a[k]);
        x
    };
    let mut out = match &d.inst {
        Inst::Const(bits) => one(vec![*bits; n]),
        Inst::Lanes(bits) => one(bits.clone()),
        Inst::Arith { what, args } => {
            let args = all(args)?;
            let r: Option<Vec<(u64, u64)>> = (0..n).map(|k| eval_arith(what, operands(&args, k))).collect();
            let (first, second): (Vec<u64>, Vec<u64>) = r?.into_iter().unzip();
            Some(if d.results > 1 { vec![first, second] } else { vec![first] })
        }
        Inst::Exact { what, args } => {
            let args = all(args)?;
            let r: Option<Vec<(u64, bool)>> = (0..n).map(|k| eval_exact(what, operands(&args, k))).collect();
            let (bits, holds): (Vec<u64>, Vec<bool>) = r?.into_iter().unzip();
            let holds: Vec<u64> = holds.into_iter().map(u64::from).collect();
            Some(match (to.is_mask(), d.results) {
                (true, _) => vec![holds],
                (false, 1) => vec![bits],
                _ => vec![bits, holds],
            })
        }
        Inst::Modify { modifier, number, arg } => {
            one(lanes(*arg)?.into_iter().map(|x| apply_modifier(*number, *modifier, x)).collect())
        }
        Inst::Cmp { relation, number, mode, args } => {
            let args = all(args)?;
            let holds = |k: usize| u64::from(compare(*number, *relation, *mode, args[0][k], args[1][k]));
            one((0..n).map(holds).collect())
        }
        Inst::Select { mask, args } => {
            let (mask, args) = (lanes(*mask)?, all(args)?);
            one((0..n).map(|k| args[usize::from(mask[k] == 0)][k]).collect())
        }
        Inst::Convert { from, to, sat, operand, mode, arg } => one(lanes(*arg)?
            .into_iter()
            .map(|x| convert_lane(*from, *to, *sat, *operand, *mode, x))
            .collect()),
        Inst::Splat(v) => one(vec![lanes(*v)?[0]; n]),
        Inst::Shuffle(s) => one(eval_shuffle(f, to, s, &all(&s.args)?)),
        Inst::Logic { op, args } => {
            let args = all(args)?;
            let lane = |k: usize| {
                let (a, b) = (args[0][k], args[1][k]);
                match op {
                    Logic::And => a & b,
                    Logic::Or => a | b,
                    Logic::Xor => a ^ b,
                    Logic::AndNot => a & !b,
                }
            };
            one((0..n).map(lane).collect())
        }
        Inst::Vote { all, arg } => {
            let lanes = lanes(*arg)?;
            let yes = if *all { lanes.iter().all(|x| *x != 0) } else { lanes.iter().any(|x| *x != 0) };
            one(vec![yes.into()])
        }
        Inst::ToBits(v) => one(vec![lanes(*v)?.iter().zip(0..).fold(0, |bits, (x, k)| bits | (x & 1) << k)]),
        Inst::FromBits(v) => {
            let bits = lanes(*v)?[0];
            one((0..n).map(|k| bits >> k & 1).collect())
        }
        Inst::Input { .. } | Inst::Dispatch | Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) => None,
        Inst::Access(_) | Inst::Escape(_) => None,
    }?;
    for (lanes, v) in out.iter_mut().zip(d.first.0..) {
        let all = f.ty(Value(v)).elem.all();
        lanes.iter_mut().for_each(|x| *x &= all);
    }
    Some(out)
}

fn eval_shuffle(f: &Func, to: Type, s: &Shuffle, args: &[Vec<u64>]) -> Vec<u64> {
    if s.unit == 0 {
        let all: Vec<u64> = args.iter().flatten().copied().collect();
        return s.units.iter().map(|u| all[*u as usize]).collect();
    }
    let mut bytes = Vec::new();
    for (v, lanes) in s.args.iter().zip(args) {
        let n = f.ty(*v).elem.bytes() as usize;
        lanes.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()[..n]));
    }
    let unit = s.unit as usize;
    let lane = |units: &[u16]| {
        let mut x = [0u8; 8];
        for (j, u) in units.iter().enumerate() {
            x[j * unit..][..unit].copy_from_slice(&bytes[*u as usize * unit..][..unit]);
        }
        u64::from_le_bytes(x)
    };
    s.units.chunks(to.elem.bytes() as usize / unit).map(lane).collect()
}
