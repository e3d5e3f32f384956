//! Quads that were moved by halves are moved whole.
//!
//! Devices without messages of 64 bits load the lower and the upper dwords of quads into two vectors and make quads of
//! them by moves of a few channels each; and take quads apart before they store them. Here the message has both dwords
//! of a channel side by side ([`Simt::is_paired`](crate::Simt::is_paired)) where the quads are, and the moves go.

use std::ops::Range;

use envisa_isa::Modifier;

use super::{Blocks, chunks_of_range, range_of_access};
use crate::Message;
use crate::program::*;

/// How far from the message its moves are looked for.
const FAR: usize = 96;

/// Vectors of dwords as a message has them, and the quads that are made of them, or that they are.
struct Halves {
    /// The lower dwords; behind them are the upper ones.
    data: RegOffset,
    channels: u32,
    first: u32,
    no_mask: bool,
    write: bool,
    /// Where the quads are, once a move has told.
    quads: Option<RegOffset>,
    /// Halves of quads, by channel and half, that are moved.
    moved: u64,
}

/// Does what is described above.
pub(super) fn join_quad_moves(p: &mut ProgramParts, blocks: &Blocks) {
    let messages: Vec<usize> = (0..p.code.len()).filter(|pc| Halves::of(p, *pc).is_some()).collect();
    if messages.is_empty() {
        return;
    }
    // Registers and those who read them; how often a message is named.
    let (mut readers, mut named) = (Vec::new(), vec![0u32; p.messages.len()]);
    for (pc, i) in p.code.iter().enumerate() {
        i.reads(p, &mut |t| {
            readers.extend(chunks_of_range(range_of_access(&t, i.channels, p)).map(|c| (c, pc)))
        });
        if i.op == Op::Message {
            named[i.aux as usize] += 1;
        }
    }
    readers.sort_unstable();
    readers.dedup();
    let mut keep = vec![true; p.code.len()];
    for pc in messages {
        let aux = p.code[pc].aux as usize;
        let Some(halves) = Halves::of(p, pc).filter(|_| named[aux] == 1) else { continue };
        let found = match halves.write {
            true => halves.taken_apart(p, blocks, pc),
            false => halves.put_together(p, blocks, pc, &readers),
        };
        let Some((quads, moves)) = found else { continue };
        if let Message::Simt(s) = &mut p.messages[aux] {
            (s.data, s.slot, s.component_stride) = (Some(quads), 8, 4);
        }
        moves.into_iter().for_each(|pc| keep[pc] = false);
    }
    super::dead_code::remove_instructions(p, &keep);
}

impl Halves {
    fn of(p: &ProgramParts, pc: usize) -> Option<Halves> {
        let i = &p.code[pc];
        let Some(Message::Simt(s)) = p.messages.get(i.aux as usize).filter(|_| i.op == Op::Message) else {
            return None;
        };
        let channels = u32::from(i.channels);
        let dwords = (s.elements, s.element, s.slot, s.component_stride) == (0b11, 4, 4, 4 * channels);
        let plain = dwords && !s.upper && s.stride == Src::None && i.pred == Pred::default();
        (plain && channels >= 8).then_some(Halves {
            data: s.data.filter(|d| *d >= p.registers.locals_start)?,
            channels,
            first: i.first.into(),
            no_mask: i.no_mask,
            write: s.write,
            quads: None,
            moved: 0,
        })
    }

    fn all(&self) -> u64 {
        u64::MAX >> (64 - 2 * self.channels)
    }

    fn data(&self) -> Range<RegOffset> {
        self.data..self.data + 8 * self.channels
    }

    fn quads(&self) -> Range<RegOffset> {
        self.quads.map_or(0..0, |q| q..q.saturating_add(8 * self.channels))
    }

    /// The halves of quads that an instruction moves, by channel and half, and where the quads are; of none but those
    /// which the message does.
    fn moves(&self, i: &Inst) -> Option<(u64, RegOffset)> {
        let Dst::Reg { offset: to, ty, stride, sat: false } = i.dst else { return None };
        let Src::Reg { offset: from, ty: of, strides, modifier: Modifier::None, constant: false, .. } =
            i.src[0]
        else {
            return None;
        };
        let n = u32::from(i.channels);
        let plain = i.op == Op::Mov && i.pred == Pred::default() && i.dst2 == 0 && n > 1;
        let dwords = matches!(i.exec, ExecType::I32 | ExecType::U32)
            && [ty, of].iter().all(|t| t.is_int() && t.size() == 4);
        let (apart, together, step) = match self.write {
            true => (from, to, (strides.step(n), stride.into()) == (Some(2), 1)),
            false => (to, from, (strides.step(n), u32::from(stride)) == (Some(1), 2)),
        };
        if !plain || !dwords || !step {
            return None;
        }
        let inside = together.checked_sub(self.data)? / 4;
        let (half, lane) = (inside / self.channels, inside % self.channels);
        let same = (i.no_mask, u32::from(i.first)) == (self.no_mask, self.first + lane);
        let quads = apart.checked_sub(8 * lane + 4 * half)?;
        let fits = half < 2 && lane + n <= self.channels && together.is_multiple_of(4);
        (fits && same && quads.is_multiple_of(8) && self.quads.is_none_or(|q| q == quads)).then(|| {
            let lanes = (lane..lane + n).fold(0, |all, l| all | 1 << (2 * l + half));
            (lanes, quads)
        })
    }

    /// Of a load: the quads that are made of what it loads, where nothing else is, and the moves that make them.
    fn put_together(
        mut self,
        p: &ProgramParts,
        blocks: &Blocks,
        pc: usize,
        readers: &[(u32, usize)],
    ) -> Option<(RegOffset, Vec<usize>)> {
        let (mut moves, mut between) = (Vec::new(), Vec::new());
        for at in pc + 1..p.code.len().min(pc + FAR) {
            if !blocks.same(pc as Pc, at as Pc) {
                return None;
            }
            let Some((lanes, quads)) = self.moves(&p.code[at]).filter(|m| m.0 & self.moved == 0) else {
                between.push(at);
                continue;
            };
            self.quads = Some(quads);
            self.moved |= lanes;
            moves.push(at);
            if self.moved == self.all() {
                break;
            }
        }
        // The quads are there earlier than they were, and their halves nowhere else.
        let (data, quads) = (self.data(), self.quads());
        let apart = data.end <= quads.start || quads.end <= data.start;
        let local = quads.start >= p.registers.locals_start;
        let only = chunks_of_range(data.clone()).all(|c| {
            let from = readers.partition_point(|r| r.0 < c);
            readers[from..].iter().take_while(|r| r.0 == c).all(|r| moves.contains(&r.1))
        });
        if self.moved != self.all() || !apart || !local || !only {
            return None;
        }
        between.retain(|at| at < moves.last().unwrap_or(&pc));
        let quiet = between.iter().all(|at| !may_write(p, *at, &data) && !may_touch(p, *at, &quads));
        (quiet && !may_touch(p, pc, &quads)).then_some((quads.start, moves))
    }

    /// Of a store: the quads that it stores. Who else reads their halves finds them.
    fn taken_apart(
        mut self,
        p: &ProgramParts,
        blocks: &Blocks,
        pc: usize,
    ) -> Option<(RegOffset, Vec<usize>)> {
        for at in (pc.saturating_sub(FAR)..pc).rev() {
            if !blocks.same(at as Pc, pc as Pc) {
                return None;
            }
            let found = self.moves(&p.code[at]).filter(|m| m.0 & self.moved == 0);
            if let Some((lanes, quads)) = found {
                self.quads = Some(quads);
                self.moved |= lanes;
            } else if may_write(p, at, &self.data()) {
                return None;
            }
            if self.moved == self.all() {
                let quads = self.quads();
                let same = (at..pc).all(|at| !may_write(p, at, &quads));
                return (same && quads.start >= p.registers.locals_start)
                    .then_some((quads.start, Vec::new()));
            }
        }
        None
    }
}

fn ranges_overlap(a: &Range<RegOffset>, b: &Range<RegOffset>) -> bool {
    a.start < b.end && b.start < a.end
}

/// May an instruction write any of these bytes?
fn may_write(p: &ProgramParts, pc: usize, bytes: &Range<RegOffset>) -> bool {
    let i = &p.code[pc];
    let mut found = false;
    i.writes(p, &mut |t| found |= ranges_overlap(&range_of_access(&t, i.channels, p), bytes));
    found
}

/// May it read or write them?
fn may_touch(p: &ProgramParts, pc: usize, bytes: &Range<RegOffset>) -> bool {
    let i = &p.code[pc];
    let mut found = may_write(p, pc, bytes);
    i.reads(p, &mut |t| found |= ranges_overlap(&range_of_access(&t, i.channels, p), bytes));
    found
}
