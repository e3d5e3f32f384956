//! Which ways of branches a channel has gone when it comes to an instruction, and whether all that have gone these come to
//! it.

use std::collections::BTreeSet;

use envisa_isa::Combine;
use envisa_lower::{Inst, Op, Pc, Program};

use super::pointer_flows::targets;

/// Branches that are told apart.
const MOST_BRANCHES: usize = 512;
/// How often a program is gone through until nothing changes any more.
const MOST_ROUNDS: usize = 64;

/// A branch, and whether a channel took it.
pub(super) type Way = (Pc, bool);

/// By message, the ways that all channels have gone which come to it.
#[derive(Debug, Default)]
pub(super) struct Guards {
    branches: Vec<Pc>,
    /// By program counter, ascending.
    messages: Vec<Guard>,
}

/// What leads to a message.
#[derive(Debug)]
struct Guard {
    pc: Pc,
    ways: Set,
    /// Whoever goes these ways comes to it.
    decide: bool,
}

/// Ways: two bits a branch.
type Set = Vec<u64>;

/// Code that is run from its first instruction to its last.
struct Block {
    start: Pc,
    end: Pc,
    /// What each channel has gone that comes here; `None` as long as none is known to come.
    ways: Option<Set>,
}

impl Guards {
    /// Looks at a program of one function.
    pub fn of(p: &Program) -> Guards {
        let code = p.code();
        let branches: Vec<Pc> = (0..).zip(code).filter(|(_, i)| is_two_way(i)).map(|(pc, _)| pc).collect();
        if branches.len() > MOST_BRANCHES {
            return Guards::default();
        }
        let mut out = Guards { branches, messages: Vec::new() };
        let Some(blocks) = out.blocks(p) else { return out };
        for block in &blocks {
            let mut messages =
                (block.start..block.end).filter(|pc| code[*pc as usize].op == Op::Message).peekable();
            if let (Some(ways), Some(_)) = (&block.ways, messages.peek()) {
                let decide = !out.can_miss(p, &blocks, (block.start, ways));
                out.messages.extend(messages.map(|pc| Guard { pc, ways: ways.clone(), decide }));
            }
        }
        out
    }

    /// Can a channel that goes these ways, where it comes to their branches, end without coming to a block?
    fn can_miss(&self, p: &Program, blocks: &[Block], (to, ways): (Pc, &Set)) -> bool {
        let mut seen = vec![false; blocks.len()];
        let mut open: Vec<Pc> = p.functions().iter().take(1).map(|f| f.entry).collect();
        while let Some(start) = open.pop() {
            let Ok(n) = blocks.binary_search_by_key(&start, |block| block.start) else { return true };
            if start == to || std::mem::replace(&mut seen[n], true) {
                continue;
            }
            let next = self.successors(p, blocks[n].end - 1);
            if next.is_empty() || self.leaves(p, blocks[n].end - 1, ways) {
                return true;
            }
            // The other way of a branch has the other one of its two bits.
            open.extend(
                next.into_iter().filter(|(_, bit)| bit.is_none_or(|bit| !has(ways, bit ^ 1))).map(|n| n.0),
            );
        }
        false
    }

    /// Can a channel that goes these ways end at an instruction?
    fn leaves(&self, p: &Program, pc: Pc, ways: &Set) -> bool {
        let returns = p.code().get(pc as usize).is_none_or(|i| matches!(i.op, Op::Ret | Op::Fret));
        let branch = self.branches.binary_search(&pc).ok();
        returns && branch.is_none_or(|n| !has(ways, 2 * n))
    }

    /// Does each channel come to a message that has gone these ways, as far as it came to their branches?
    pub fn decide(&self, message: Pc) -> bool {
        self.guard(message).is_some_and(|guard| guard.decide)
    }

    fn guard(&self, message: Pc) -> Option<&Guard> {
        let at = self.messages.binary_search_by_key(&message, |guard| guard.pc).ok()?;
        self.messages.get(at)
    }

    /// The ways that all channels have gone which come to a message.
    pub fn before(&self, message: Pc) -> impl Iterator<Item = Way> + '_ {
        let guard = self.guard(message);
        let all = self.branches.iter().enumerate();
        all.flat_map(move |(n, pc)| [(*pc, false), (*pc, true)].into_iter().zip(2 * n..))
            .filter(move |(_, bit)| guard.is_some_and(|guard| has(&guard.ways, *bit)))
            .map(|(way, _)| way)
    }

    /// The blocks of a program with the ways that lead to them; `None` if these are not found.
    fn blocks(&self, p: &Program) -> Option<Vec<Block>> {
        let code = p.code();
        let mut starts: BTreeSet<Pc> =
            targets(p).into_iter().filter(|pc| (*pc as usize) < code.len()).collect();
        starts.insert(0);
        let leaves = |i: &Inst| matches!(i.op, Op::Goto | Op::SwitchJmp | Op::Ret | Op::End);
        starts.extend(
            (1..).zip(code).filter(|(pc, i)| leaves(i) && (*pc as usize) < code.len()).map(|(pc, _)| pc),
        );
        let starts: Vec<Pc> = starts.into_iter().collect();
        let ends = starts.iter().copied().skip(1).chain([code.len() as Pc]);
        let block = |(start, end)| Block { start, end, ways: None };
        let mut blocks: Vec<Block> = starts.iter().copied().zip(ends).map(block).collect();
        let entry = p.functions().first()?.entry;
        blocks[starts.binary_search(&entry).ok()?].ways =
            Some(vec![0; (2 * self.branches.len()).div_ceil(64)]);
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for n in 0..blocks.len() {
                let Some(ways) = blocks[n].ways.clone() else { continue };
                let last = blocks[n].end - 1;
                for (to, way) in self.successors(p, last) {
                    let Ok(to) = starts.binary_search(&to) else { return None };
                    let mut ways = ways.clone();
                    if let Some(bit) = way {
                        ways[bit / 64] |= 1 << (bit % 64);
                    }
                    changed |= blocks[to].meet(ways);
                }
            }
            if !changed {
                return Some(blocks);
            }
        }
        None
    }

    /// Where channels may go from an instruction that a block ends with, and the bit of the way.
    fn successors(&self, p: &Program, last: Pc) -> Vec<(Pc, Option<usize>)> {
        let i = &p.code()[last as usize];
        let bit = |taken: bool| Some(2 * self.branches.binary_search(&last).ok()? + usize::from(taken));
        // Of channels that a branch is not for its predicate says nothing.
        let next = (last + 1, bit(false).filter(|_| is_for_all(i, p.simd())));
        let mut all = match i.op {
            Op::Goto if goes_always(i, p.simd()) => return vec![(i.aux, None)],
            Op::Goto => vec![(i.aux, bit(true)), next],
            Op::SwitchJmp => {
                let table = p.tables().get(i.aux as usize).into_iter().flatten();
                table.map(|to| (*to, None)).chain([(last + 1, None)]).collect()
            }
            Op::End => return Vec::new(),
            Op::Ret | Op::Fret if goes_always(i, p.simd()) => return Vec::new(),
            _ => vec![next],
        };
        all.retain(|(to, _)| (*to as usize) < p.code().len());
        all
    }
}

fn has(ways: &Set, bit: usize) -> bool {
    ways.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
}

impl Block {
    /// Channels come here, too, that have gone these ways. Is less known than before?
    fn meet(&mut self, ways: Set) -> bool {
        match &mut self.ways {
            None => {
                self.ways = Some(ways);
                true
            }
            Some(known) => {
                let mut less = false;
                for (known, other) in known.iter_mut().zip(ways) {
                    less |= *known & !other != 0;
                    *known &= other;
                }
                less
            }
        }
    }
}

/// Is it a branch (or a return) of which the predicate says which way each channel goes?
fn is_two_way(i: &Inst) -> bool {
    matches!(i.op, Op::Goto | Op::Ret | Op::Fret) && i.pred.offset != 0 && i.pred.combine == Combine::None
}

/// Do all channels go that come to it?
fn goes_always(i: &Inst, simd: u32) -> bool {
    i.pred.offset == 0 && is_for_all(i, simd)
}

/// Is a branch for all channels? One of a single channel is.
fn is_for_all(i: &Inst, simd: u32) -> bool {
    i.channels == 1 || i.first == 0 && u32::from(i.channels) >= simd
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_lower::{Dst, ExecType, Facts, Message, Pred, ProgramParts, Registers, Simt, Src};

    fn inst(op: Op) -> Inst {
        Inst {
            op,
            channels: 32,
            first: 0,
            no_mask: false,
            pred: Pred::default(),
            exec: ExecType::None,
            dst: Dst::None,
            src: [Src::None; 4],
            aux: 0,
            dst2: 0,
            span: Default::default(),
            source: 0,
            function: 0,
            depth: 0,
            facts: Facts::default(),
        }
    }

    /// A message that a branch of so many channels leads past.
    fn guarded(channels: u8) -> Guards {
        let pred = Pred { offset: 192, ..Pred::default() };
        let code = vec![
            Inst { channels, pred, aux: 2, ..inst(Op::Goto) },
            inst(Op::Message),
            inst(Op::Ret),
            inst(Op::End),
        ];
        let registers =
            Registers { bytes: 8192, constants: vec![0; 64], locals_start: 256, ..Registers::default() };
        let messages = vec![Message::Simt(Simt {
            address: 512,
            data: Some(1024),
            component_stride: 128,
            ..Simt::default()
        })];
        let parts = ProgramParts { name: "k".into(), registers, messages, ..ProgramParts::default() };
        Guards::of(&Program::new(parts.with_code(code)).expect("it fits together"))
    }

    #[test]
    fn a_branch_for_some_channels_says_nothing_of_the_others() {
        let of = |guards: &Guards| (guards.before(1).collect::<Vec<Way>>(), guards.decide(1));
        assert_eq!(of(&guarded(32)), (vec![(0, false)], true));
        assert_eq!(of(&guarded(16)), (Vec::new(), false));
    }
}
