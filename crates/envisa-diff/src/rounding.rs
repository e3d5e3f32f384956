//! What roundings can add up to: a bound on how far a float can be from the exact result, by the way it was computed.
//!
//! Each operation adds an error of its own and passes on those of its sources, to the first order (Higham, Accuracy and
//! Stability of Numerical Algorithms, chapter 3). Where a value with an error goes into what is not arithmetic of floats
//! (bits, comparisons, integers), nothing is said.

use crate::stores::Site;
use crate::trace::{Event, Trace, WHOLE};
use crate::values::Slice;
use envisa::isa::{Modifier, Type};
use envisa::lower::{Dst, Op, Src};
use envisa::machine::group::log::Place;
use std::collections::HashMap;

/// A float of so many bytes.
pub fn float(bits: u64, bytes: u32) -> f64 {
    match bytes {
        2 => half::f16::from_bits(bits as u16).to_f64(),
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The distance from 1 to the next number.
fn float_epsilon(bytes: u32) -> f64 {
    match bytes {
        2 => 9.765_625e-4,
        4 => f32::EPSILON.into(),
        _ => f64::EPSILON,
    }
}

/// Units in the last place that the hardware's functions may be away.
const FUNCTION: f64 = 4.0;

/// How far the stores' values can be apart, if all that differs are roundings; `None` if that cannot be told.
pub fn rounding_bound(slices: [&Slice<'_, '_, '_>; 2], sites: [Site; 2], bytes: u32) -> Option<f64> {
    let mut sum = 0.0;
    for (slice, site) in slices.into_iter().zip(sites) {
        sum += Errors { slice, bytes, known: HashMap::new() }.of(&site)?;
    }
    Some(sum)
}

/// Are two values no further apart than that?
pub fn is_within_bound(a: u64, b: u64, bytes: u32, bound: f64) -> bool {
    let (a, b) = (float(a, bytes), float(b, bytes));
    (a - b).abs() <= bound
}

struct Errors<'x, 's, 'a> {
    slice: &'x Slice<'x, 's, 'a>,
    bytes: u32,
    /// By definition: its value's error.
    known: HashMap<(usize, u8), Option<f64>>,
}

/// A source's value with its error.
type Known = (f64, f64);

impl Errors<'_, '_, '_> {
    fn trace(&self) -> &Trace {
        self.slice.trace
    }

    /// The error of what a store writes.
    fn of(&mut self, site: &Site) -> Option<f64> {
        let mut behind = self.slice.definitions_behind(site);
        let store = *behind.first()?;
        behind.sort_unstable();
        for node in behind.iter().filter(|n| **n != store) {
            let error = self.error(*node);
            self.known.insert(*node, error);
        }
        // Of what the store reads, its data: what has the value that it writes.
        let data = self.slice.inputs(store).into_iter().filter(|n| self.bits(*n) == Some(site.value));
        let errors: Vec<Option<f64>> = data.map(|n| self.known.get(&n).copied().flatten()).collect();
        errors.into_iter().reduce(|a, b| Some(a?.max(b?)))?
    }

    fn bits(&self, (i, channel): (usize, u8)) -> Option<u64> {
        let e = self.trace().events.get(i)?;
        self.trace().writes(e).iter().find(|p| p.channel == channel).map(|p| p.bits)
    }

    fn error(&mut self, node: (usize, u8)) -> Option<f64> {
        let (i, channel) = node;
        let slice = self.slice;
        let e = slice.trace.events.get(i)?;
        let inst = slice.inst(e)?;
        if inst.op == Op::Message {
            let loads = slice.trace.loads(e).iter().filter(|p| p.channel == channel || channel == WHOLE);
            let before = loads.flat_map(|p| slice.definitions(0, p.place, p.bytes.into(), None, i));
            return before.map(|n| self.stored(n)).try_fold(0.0f64, |a, b| Some(a.max(b?)));
        }
        let Dst::Reg { ty, .. } = inst.dst else {
            return self.exact(node);
        };
        if !ty.is_float() {
            return self.exact(node);
        }
        let result = float(self.bits(node)?, ty.size());
        let mut sources = Vec::new();
        for src in &inst.src {
            if let Some(known) = self.source(e, i, src, channel)? {
                sources.push(known);
            }
        }
        propagated_error(inst.op, &sources, result, float_epsilon(ty.size().min(self.bytes)))
    }

    /// The error of what a store in this group left in memory.
    fn stored(&self, node: (usize, u8)) -> Option<f64> {
        let e = self.slice.trace.events.get(node.0)?;
        let bits = self.trace().writes(e).iter().find(|p| p.channel == node.1)?.bits;
        let data = self.slice.inputs(node).into_iter().filter(|n| self.bits(*n) == Some(bits));
        data.map(|n| self.known.get(&n).copied().flatten()).try_fold(0.0f64, |a, b| Some(a.max(b?)))
    }

    /// What is not arithmetic of floats has no error if its sources have none.
    fn exact(&self, node: (usize, u8)) -> Option<f64> {
        let none = |n: &(usize, u8)| self.known.get(n) == Some(&Some(0.0));
        self.slice.inputs(node).iter().all(none).then_some(0.0)
    }

    /// A source's value and error; `Some(None)` if there is none.
    fn source(&self, e: &Event, i: usize, src: &Src, channel: u8) -> Option<Option<Known>> {
        let Src::Reg { offset, ty, strides, modifier, .. } = *src else {
            return matches!(src, Src::None | Src::Pred { .. }).then_some(None);
        };
        let k = if channel == WHOLE { 0 } else { u32::from(channel) };
        let at = offset + strides.element(k) * ty.size();
        let constants = &self.slice.s.program().registers().constants;
        let (bits, error) = match constants.get(at as usize..(at + ty.size()) as usize) {
            Some(bytes) => (crate::trace::number(bytes), 0.0),
            None => {
                let found = self.slice.definitions(e.thread, Place::Register(at), ty.size().into(), None, i);
                let [node] = found[..] else { return None };
                (self.bits(node)?, self.known.get(&node).copied().flatten()?)
            }
        };
        let value = value(bits, ty)?;
        let value = match modifier {
            Modifier::None => value,
            Modifier::Neg => -value,
            Modifier::Abs => value.abs(),
            _ => -value.abs(),
        };
        Some(Some((value, error)))
    }
}

fn value(bits: u64, ty: Type) -> Option<f64> {
    if ty.is_float() {
        return Some(float(bits, ty.size()));
    }
    let unused = 64 - 8 * ty.size().clamp(1, 8);
    let signed = (bits << unused) as i64 >> unused;
    Some(if ty.is_signed() { signed as f64 } else { bits as f64 })
}

/// The error of a result, of those of the sources.
fn propagated_error(op: Op, sources: &[Known], result: f64, epsilon: f64) -> Option<f64> {
    let own = epsilon * result.abs();
    let error = match (op, sources) {
        (Op::Mov, [(_, e)]) => *e,
        (Op::Sel | Op::Min | Op::Max, all) => all.iter().map(|s| s.1).fold(0.0, f64::max),
        (Op::Add, [(_, ea), (_, eb)]) => ea + eb,
        (Op::Mul, [(a, ea), (b, eb)]) => a.abs() * eb + b.abs() * ea + ea * eb,
        (Op::Mad, [(a, ea), (b, eb), (_, ec)]) => {
            a.abs() * eb + b.abs() * ea + ea * eb + ec + epsilon * (a * b).abs()
        }
        (Op::Div, [(_, ea), (b, eb)]) => (ea + result.abs() * eb) / b.abs() + FUNCTION * own,
        (Op::Inv, [(a, ea)]) => ea / (a * a) + FUNCTION * own,
        (Op::Sqrt, [(_, ea)]) => ea / (2.0 * result.abs()).max(f64::MIN_POSITIVE) + FUNCTION * own,
        (Op::Rsqrt, [(a, ea)]) => ea * result.abs() / (2.0 * a.abs()) + FUNCTION * own,
        (Op::Exp, [(_, ea)]) => result.abs() * std::f64::consts::LN_2 * ea + FUNCTION * own,
        (Op::Log, [(a, ea)]) => ea / (a.abs() * std::f64::consts::LN_2) + FUNCTION * epsilon,
        (Op::Sin | Op::Cos, [(_, ea)]) => ea + FUNCTION * epsilon,
        (_, all) if all.iter().all(|s| s.1 == 0.0) => return Some(0.0),
        _ => return None,
    };
    Some(error + own)
}
