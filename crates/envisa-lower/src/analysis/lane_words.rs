//! Numbers that a program puts into words itself, once and before anything else: those of its channels, of which
//! addresses of private memory are made.

use std::collections::HashMap;
use std::ops::Range;

use envisa_isa::{Modifier, Type};

use crate::program::*;

/// By the first byte of each word: what it has, and the instruction that wrote it last.
type Words = HashMap<RegOffset, (u16, Pc)>;

/// The words that instructions write that are executed once, before all else, and that nothing else writes, nor reads before
/// the last of these: what they have, by the first byte.
pub fn lane_words(p: &ProgramParts, in_entry: impl Fn(Pc) -> bool) -> HashMap<RegOffset, u16> {
    made_words(p, in_entry).0.into_iter().map(|(at, (x, _))| (at, x)).collect()
}

/// A vector of such words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneVector {
    /// First byte in the register file.
    pub at: RegOffset,
    /// What it has.
    pub words: [u16; 32],
    /// What writes it, in the order of the code; nothing else reads it before the last of these.
    pub makers: Vec<Pc>,
}

/// The vectors of 64 bytes that are such words.
pub fn lane_vectors(p: &ProgramParts, in_entry: impl Fn(Pc) -> bool) -> Vec<LaneVector> {
    let (words, makers) = made_words(p, in_entry);
    let mut starts: Vec<RegOffset> = words.keys().copied().filter(|at| at % 64 == 0).collect();
    starts.sort_unstable();
    let vector = |at: RegOffset| {
        let mut all = [0; 32];
        for (x, k) in all.iter_mut().zip(0..) {
            *x = words.get(&(at + 2 * k))?.0;
        }
        let touches = |of: Option<Range<u32>>| of.is_some_and(|of| of.start < at + 64 && at < of.end);
        let writes = |pc: &Pc| {
            let (i, mut inside) = (&p.code[*pc as usize], false);
            i.writes(p, &mut |t| inside |= touches(t.range(i.channels.into())));
            inside
        };
        let makers: Vec<Pc> = makers.iter().copied().filter(writes).collect();
        // One that makes another vector may read what this one has so far.
        let between = *makers.first()?..*makers.last()? + 1;
        let read = between.filter(|pc| makers.binary_search(pc).is_err()).any(|pc| {
            let (i, mut inside) = (&p.code[pc as usize], false);
            i.reads(p, &mut |t| inside |= touches(t.range(i.channels.into())));
            inside
        });
        (!read).then_some(LaneVector { at, words: all, makers })
    };
    starts.into_iter().filter_map(vector).collect()
}

/// The words, and the instructions that write them or others, in the order of the code.
fn made_words(p: &ProgramParts, in_entry: impl Fn(Pc) -> bool) -> (Words, Vec<Pc>) {
    let (mut words, mut makers) = (Words::new(), Vec::new());
    for (pc, i) in (0..).zip(&p.code).filter(|(pc, _)| in_entry(*pc)) {
        let Some((offset, values)) = made(p, i, &words) else { continue };
        words.extend((0..).zip(values).map(|(k, x)| (offset + 2 * k, (x, pc))));
        makers.push(pc);
    }
    if words.is_empty() {
        return (words, makers);
    }
    let anywhere = p.registers.addressable();
    for (pc, i) in (0..).zip(&p.code).filter(|(pc, _)| makers.binary_search(pc).is_err()) {
        let n = u32::from(i.channels);
        let mut drop_words = |of: Option<Range<u32>>, keeps: &dyn Fn(Pc) -> bool| {
            let of = of.unwrap_or(anywhere.clone());
            words.retain(|at, (_, by)| at + 2 <= of.start || of.end <= *at || keeps(*by));
        };
        i.writes(p, &mut |t| drop_words(t.range(n), &|_| false));
        if in_entry(pc) {
            i.reads(p, &mut |t| drop_words(t.range(n), &|by| by < pc));
        }
    }
    (words, makers)
}

/// What an instruction makes, for all channels, of numbers or of words that have some.
fn made(p: &ProgramParts, i: &Inst, words: &Words) -> Option<(RegOffset, Vec<u16>)> {
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
                let b = p.registers.constants.get(at as usize..at as usize + 2)?;
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
