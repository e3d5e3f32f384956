//! Dwords that are the halves of quads are worked out as quads.
//!
//! Devices without products, compares, choices and logic of 64 bits take quads apart, do all that to the lower dwords and to the
//! upper ones, and join both halves by moves; in another block, maybe. Here every vector of dwords has a number for its value
//! ([`values`]), which says of which quads it is a half, or from what it was made. Where quads are put together of two halves,
//! or compared by them, what made these is done to quads, too ([`expressions`]). What was done to dwords has no reader any
//! more then, and goes ([`super::dead_code`]).

mod compares;
mod expressions;
mod values;

use envisa_isa::Type;

use super::dominators::Dominators;
use super::quad_products::{JoinedQuads, View};
use super::{Blocks, CHUNK, Uses};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use values::{Id, Values};

/// Fewer channels are left as they are.
const LEAST: u8 = 8;
/// Most vectors of quads that get registers.
const MOST: usize = 512;

/// What is put in the place of instructions, or before them.
struct Edits {
    put_in: Vec<(Pc, Inst)>,
    instead: Vec<(Pc, Inst)>,
    dropped: Vec<Pc>,
    /// Where the next register is.
    room: RegOffset,
    made: usize,
}

impl Edits {
    fn take(&mut self, bytes: u32) -> RegOffset {
        let at = self.room;
        self.room += bytes.next_multiple_of(CHUNK);
        self.made += 1;
        at
    }
}

/// Does what is described above; `false` if there is nothing to do.
pub(super) fn work_out_as_quads(p: &mut ProgramParts, blocks: &Blocks) -> bool {
    let leaves = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp);
    if p.functions.len() != 1 || p.code.iter().any(leaves) || !p.code.iter().any(has_quads) {
        return false;
    }
    let Some(dominators) = Dominators::new(p, blocks) else { return false };
    let uses = Uses::new(p);
    let room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let edits = Edits { put_in: Vec::new(), instead: Vec::new(), dropped: Vec::new(), room, made: 0 };
    let mut values = Values::new(p, blocks, &uses, &dominators, edits);
    let mut compared = Vec::new();
    for pc in 0..p.code.len() as Pc {
        if let Some(j) = values.joined(pc) {
            values.make_joined(pc, &j);
        } else if let Some(compare) = values.compare(pc) {
            values.edits.instead.push((pc, compare));
            compared.push(pc);
        }
        values.note(pc);
    }
    values.drop_compares_of_halves(&compared);
    let edits = values.edits;
    let changed = apply(p, edits);
    if changed {
        super::dead_code::remove_dead_code(p);
    }
    changed
}

/// Does an instruction name a vector of quads?
fn has_quads(i: &Inst) -> bool {
    let wide = |ty: Type| matches!(ty, Type::Q | Type::Uq);
    let source = |s: &Src| matches!(s, Src::Reg { ty, shape: Shape::Contiguous, .. } if wide(*ty));
    i.channels >= LEAST && (matches!(i.dst, Dst::Reg { ty, .. } if wide(ty)) || i.src.iter().any(source))
}

impl Values<'_> {
    /// The quads whose upper half an instruction joins to the lower one, and the numbers of both halves.
    fn joined(&mut self, pc: Pc) -> Option<(JoinedQuads, [Id; 2])> {
        let i = &self.p.code[pc as usize];
        if i.channels < LEAST || i.no_mask || i.op != Op::Mov {
            return None;
        }
        let joined = (View { p: self.p, blocks: self.blocks, at: pc }).joined_quads()?;
        let [low, high] = joined.halves;
        let low = self.of_source(&low.src, low.reader)?;
        let high = self.of_source(&high.src, high.reader)?;
        Some((joined, [low, high]))
    }

    /// Makes joined quads by one instruction, if it is known of what, and notes what they are.
    fn make_joined(&mut self, pc: Pc, (joined, [low, high]): &(JoinedQuads, [Id; 2])) {
        let here = self.found(*low, *high, pc, Type::Q);
        let of = self.p.code[pc as usize];
        let mov = |s: Src| (Op::Mov, 0, Pred::default(), [s, Src::None, Src::None]);
        let made = match here {
            Some(s) => Some(mov(s)),
            None => self.at_once(*low, *high, pc).or_else(|| self.quads(*low, *high, pc, Type::Q).map(mov)),
        };
        if let Some(made) = made {
            self.edits.instead.push((pc, expressions::instruction(&of, made, joined.to)));
            self.edits.dropped.push(joined.lower);
        }
        self.note_joined(pc, joined.to, [*low, *high]);
    }
}

fn apply(p: &mut ProgramParts, edits: Edits) -> bool {
    if edits.instead.is_empty() {
        return false;
    }
    for (pc, i) in edits.instead {
        p.code[pc as usize] = i;
    }
    let mut put_in = edits.put_in;
    put_in.sort_by_key(|m| m.0);
    let before = |pc: Pc| put_in.partition_point(|m| m.0 <= pc) as Pc;
    let dropped: Vec<Pc> = edits.dropped.into_iter().map(|pc| pc + before(pc)).collect();
    p.registers.bytes = p.registers.bytes.max((edits.room + REGISTER_PADDING).next_multiple_of(CHUNK));
    super::insert(p, put_in);
    let mut keep = vec![true; p.code.len()];
    dropped.into_iter().for_each(|pc| keep[pc as usize] = false);
    super::dead_code::remove_instructions(p, &keep);
    let f = &p.functions[0];
    crate::flow::analyse_divergence(&mut p.code, &p.tables, f.entry, f.end, p.simd);
    true
}
