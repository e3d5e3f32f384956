//! Numbers at a step that a program puts into words itself, once and before anything else: those of its channels, of which
//! addresses of private memory are made.

use std::ops::Range;

use envisa_isa::{Modifier, Type};
use envisa_lower::analysis::Flow;
use envisa_lower::{Dst, Inst, Op, Pc, Program, RegOffset, Src};

use super::Seed;
use crate::number_maps::Map;

/// By the first byte of each word: what it has, and the instruction that wrote it.
type Words = Map<RegOffset, (u16, Pc)>;

/// The halves of vectors of words that the first block writes and nothing else does, and that nothing reads before.
pub(crate) fn lane_numbers(p: &Program, flow: &Flow, first_block: Range<Pc>) -> Vec<Seed> {
    let mut words = written_in(p, first_block.clone());
    if words.is_empty() {
        return Vec::new();
    }
    let anywhere = p.registers().addressable();
    for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
        let i = &p.code()[pc as usize];
        let n = u32::from(i.channels);
        let mut drop_words = |of: Option<Range<u32>>, keeps: &dyn Fn(Pc) -> bool| {
            let of = of.unwrap_or(anywhere.clone());
            words.retain(|at, (_, by)| at + 2 <= of.start || of.end <= *at || keeps(*by));
        };
        i.writes(p.parts(), &mut |t| drop_words(t.range(n), &|by| by == pc));
        if first_block.contains(&pc) {
            i.reads(p.parts(), &mut |t| drop_words(t.range(n), &|by| by < pc));
        }
    }
    let half = |at: RegOffset| -> Option<[u16; 16]> {
        let all: Option<Vec<u16>> = (0..16).map(|k| words.get(&(at + 2 * k)).map(|w| w.0)).collect();
        let all: [u16; 16] = all?.try_into().ok()?;
        let step = all[1].wrapping_sub(all[0]);
        all.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step)).then_some(all)
    };
    let mut found: Vec<Seed> = Vec::new();
    let mut starts: Vec<RegOffset> = words.keys().copied().filter(|at| at % 32 == 0).collect();
    starts.sort_unstable();
    for offset in starts {
        let Some(own) = half(offset) else { continue };
        let step = i32::from(own[1] - own[0]);
        let before = offset.checked_sub(32).and_then(half).filter(|b| i32::from(b[1] - b[0]) == step);
        let jump = before.map(|b| i32::from(own[0]) - i32::from(b[0]));
        found.push(Seed { offset, step, lanes: 16, jump });
    }
    found
}

/// The words that instructions of the first block write of numbers, for all channels.
fn written_in(p: &Program, block: Range<Pc>) -> Words {
    let mut words = Words::default();
    for pc in block {
        let i = &p.code()[pc as usize];
        let Some((offset, values)) = made(p, i, &words) else { continue };
        for (k, x) in (0..).zip(values) {
            words.insert(offset + 2 * k, (x, pc));
        }
    }
    words
}

/// What an instruction makes of numbers, or of words that have some.
fn made(p: &Program, i: &Inst, words: &Words) -> Option<(RegOffset, Vec<u16>)> {
    let Dst::Reg { offset, ty: Type::W | Type::Uw, stride: 1, sat: false } = i.dst else { return None };
    if !i.no_mask || i.pred.offset != 0 || i.dst2 != 0 || offset % 2 != 0 {
        return None;
    }
    let value = |s: &Src, k: u32| -> Option<u16> {
        let Src::Reg { offset, ty, strides, modifier: Modifier::None, constant, .. } = *s else {
            return None;
        };
        if !ty.is_int() || !matches!(ty.size(), 2 | 4) {
            return None;
        }
        let at = offset + strides.element(k) * ty.size();
        match constant {
            // The low word of a number is its first one.
            true => {
                let b = p.registers().constants.get(at as usize..at as usize + 2)?;
                Some(u16::from_le_bytes([b[0], b[1]]))
            }
            false => words.get(&at).filter(|_| ty.size() == 2).map(|w| w.0),
        }
    };
    let all = (0..u32::from(i.channels)).map(|k| match i.op {
        Op::Mov => value(&i.src[0], k),
        Op::Add => Some(value(&i.src[0], k)?.wrapping_add(value(&i.src[1], k)?)),
        _ => None,
    });
    Some((offset, all.collect::<Option<_>>()?))
}
