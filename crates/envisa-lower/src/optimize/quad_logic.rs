//! Logic of quads that was worked out in dwords is one instruction, and so are copies of quads by halves.
//!
//! Devices without logic of 64 bits take quads apart, combine the lower dwords and the upper ones, and join both halves by
//! moves. Who reads a scalar that was stored by halves waits for both stores as well.

use std::collections::HashSet;

use envisa_isa::{Modifier, Type};

use super::quad_products::{Dwords, JoinedQuads, View};
use super::{Blocks, fold_addresses::constant};
use crate::Message;
use crate::program::*;

/// Most moves between what makes a half and who reads it.
const DEEPEST: u32 = 6;

/// Quads that are made at an instruction, which joins their upper half to the lower one.
struct Logic {
    pc: Pc,
    /// What joins the lower half.
    lower: Pc,
    to: RegOffset,
    op: Op,
    aux: u32,
    src: [Src; 3],
    /// What makes both halves, if instructions do that.
    makers: Option<[Pc; 2]>,
}

/// Does what is described above.
pub(super) fn join_quad_logic(p: &mut ProgramParts, blocks: &Blocks) {
    let whole = read_whole(p);
    let mut found: Vec<Logic> = Vec::new();
    for pc in 0..p.code.len() as Pc {
        // Two scalars that nobody reads as one are best as two.
        let wanted = |l: &Logic| p.code[pc as usize].channels > 1 || whole.contains(&l.to);
        found.extend(Logic::of(p, blocks, pc, &found).filter(wanted));
    }
    let mut keep = vec![true; p.code.len()];
    for l in &found {
        let [a, b, c] = l.src;
        p.code[l.pc as usize] = Inst {
            op: l.op,
            aux: l.aux,
            exec: ExecType::I64,
            dst: Dst::Reg { offset: l.to, ty: Type::Q, stride: 1, sat: false },
            src: [a, b, c, Src::None],
            ..p.code[l.pc as usize]
        };
        keep[l.lower as usize] = false;
    }
    if !found.is_empty() {
        super::dead_code::remove_instructions(p, &keep);
    }
}

/// Where quads are that are read as such.
fn read_whole(p: &ProgramParts) -> HashSet<RegOffset> {
    let sources = p.code.iter().flat_map(|i| i.src);
    let origins = p.messages.iter().filter_map(|m| match m {
        Message::Simt(s) => Some(s.origin),
        Message::Block(b) => Some(b.origin),
        _ => None,
    });
    let quad = |s: Src| match s {
        Src::Reg { offset, ty, constant: false, .. } => (ty.size() == 8).then_some(offset),
        _ => None,
    };
    sources.chain(origins).filter_map(quad).collect()
}

/// How many sources an operation on bits has.
fn sources(op: Op) -> Option<usize> {
    match op {
        Op::Not => Some(1),
        Op::And | Op::Or | Op::Xor => Some(2),
        Op::Bfn => Some(3),
        _ => None,
    }
}

impl Logic {
    /// The quads whose upper half an instruction joins to the lower one.
    fn of(p: &ProgramParts, blocks: &Blocks, pc: Pc, before: &[Logic]) -> Option<Logic> {
        let view = View { p, blocks, at: pc };
        let JoinedQuads { lower, to, halves: [low, high] } = view.joined_quads()?;
        let none = [Src::None; 3];
        let made = |op, aux, src, makers| Some(Logic { pc, lower, to, op, aux, src, makers });
        if let Some(quads) = quads_of_halves(&view, low, high, before) {
            return made(Op::Mov, 0, [quads, Src::None, Src::None], None);
        }
        let lowest = view.definition_past_moves(low, DEEPEST)?;
        let l = &p.code[lowest as usize];
        let count = sources(l.op).filter(|_| is_plain_dword_logic(l))?;
        let mut src = none;
        let half = |k: usize| Dwords { src: l.src[k], reader: lowest };
        if let Some(highest) = view.definition_past_moves(high, DEEPEST) {
            let h = &p.code[highest as usize];
            if (h.op, h.aux) == (l.op, l.aux) && is_plain_dword_logic(h) {
                for (k, s) in src.iter_mut().enumerate().take(count) {
                    *s = quads_of_halves(&view, half(k), Dwords { src: h.src[k], reader: highest }, before)?;
                }
                return made(l.op, l.aux, src, Some([lowest, highest]));
            }
        }
        // A constant of which the upper half changes nothing.
        let c = (0..count).find(|k| constant(p, &l.src[*k]).is_some()).filter(|_| count == 2)?;
        let negative = (constant(p, &l.src[c])? as u32 as i32) < 0;
        let changes_nothing = match l.op {
            Op::Or | Op::Xor => Type::Ud,
            Op::And if negative => Type::D,
            _ => return None,
        };
        src[0] = quads_of_halves(&view, half(1 - c), high, before)?;
        src[1] = constant_upper_dword(&l.src[c], changes_nothing)?;
        made(l.op, l.aux, src, None)
    }
}

/// Does an instruction combine dwords as they are?
fn is_plain_dword_logic(i: &Inst) -> bool {
    matches!(i.exec, ExecType::I32 | ExecType::U32) && matches!(i.dst, Dst::Reg { sat: false, .. })
}

/// A constant dword as one of a type, which says what its upper half is.
fn constant_upper_dword(s: &Src, as_type: Type) -> Option<Src> {
    let mut s = *s;
    match &mut s {
        Src::Reg { ty, modifier: Modifier::None, .. } if ty.size() == 4 && ty.is_int() => *ty = as_type,
        _ => return None,
    }
    Some(s)
}

/// Quads that have these halves, as they are at the last instruction.
fn quads_of_halves(view: &View<'_>, low: Dwords, high: Dwords, before: &[Logic]) -> Option<Src> {
    if let (Some(l), Some(h)) = (constant(view.p, &low.src), constant(view.p, &high.src)) {
        return match (l as u32, h as u32) {
            (_, 0) => constant_upper_dword(&low.src, Type::Ud),
            (0x8000_0000.., u32::MAX) => constant_upper_dword(&low.src, Type::D),
            _ => None,
        };
    }
    if let Some(quads) = view.quads(low, high) {
        return Some(quads);
    }
    // What was joined before, of the same halves.
    let makers = [view.definition_past_moves(low, DEEPEST)?, view.definition_past_moves(high, DEEPEST)?];
    let joined = before.iter().rev().find(|j| j.makers == Some(makers))?;
    let n = u32::from(view.p.code[view.at as usize].channels);
    let there = view.writer(joined.to..joined.to + 8 * n, view.at) == Some(joined.pc);
    (there && view.writes_same_channels(joined.pc)).then(|| view.quad(joined.to))
}
