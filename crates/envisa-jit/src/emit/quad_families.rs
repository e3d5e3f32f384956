//! Messages whose addresses of 64 bits are known to be side by side as those of another one are.
//!
//! Compilers move a pointer of each channel on by what all channels share, and access memory there again and again. What is
//! added to all channels' addresses leaves them as far apart as they were: of such messages in straight code, the first one
//! looks at its addresses and leaves in the context whether each half's are one row; the others do not look again.

use std::collections::hash_map::Entry;

use envisa_lower::Message;

use super::*;
use crate::fast_maps::Set;

/// Messages by instruction.
#[derive(Default)]
pub(crate) struct QuadFamilies {
    /// Those that look, each with its number.
    leaders: Map<Pc, u32>,
    /// Those that do not, each with the number of the one that looks.
    followers: Map<Pc, u32>,
}

/// A vector of addresses, and which others it is so far from.
struct Member {
    offset: RegOffset,
    bytes: u32,
    family: usize,
}

/// Messages that may follow one another: of one family, and with elements, shifts and channels alike.
type Alike = (usize, u32, u32, u8, u8);

impl QuadFamilies {
    fn new(e: &Emit<'_>) -> QuadFamilies {
        let mut out = QuadFamilies::default();
        let gotos = (0..e.flow.end()).filter(|pc| matches!(e.inst(*pc).op, Op::Goto | Op::Call));
        let targets: Set<Pc> = gotos.map(|pc| e.inst(pc).aux).collect();
        let (mut members, mut families): (Vec<Member>, usize) = (Vec::new(), 0);
        let mut first: Map<Alike, Pc> = Map::default();
        for pc in 0..e.flow.end() {
            let i = e.inst(pc);
            if targets.contains(&pc) || !e.flow.is_reachable(pc) {
                members.clear();
                first.clear();
            }
            if let Some((offset, element, before)) = e.addresses_in_quads(i) {
                let bytes = 8 * u32::from(i.channels);
                let family = match members.iter().find(|m| (m.offset, m.bytes) == (offset, bytes)) {
                    Some(m) => m.family,
                    None => {
                        families += 1;
                        members.push(Member { offset, bytes, family: families });
                        families
                    }
                };
                match first.entry((family, element, before, i.channels, i.first)) {
                    Entry::Occupied(leader) => {
                        let number = out.leaders.len() as u32;
                        let number = *out.leaders.entry(*leader.get()).or_insert(number);
                        out.followers.insert(pc, number);
                    }
                    Entry::Vacant(none) => {
                        none.insert(pc);
                    }
                }
            }
            let moved = e.moved_on(pc, i).and_then(|(from, to)| {
                let bytes = 8 * u32::from(i.channels);
                let m = members.iter().find(|m| (m.offset, m.bytes) == (from, bytes))?;
                Some(Member { offset: to, bytes, family: m.family })
            });
            e.cells.accesses(e.p.parts(), pc, &mut |a| {
                if a.write {
                    let c = e.cells.get(a.cell);
                    members.retain(|m| c.offset + c.bytes <= m.offset || m.offset + m.bytes <= c.offset);
                }
            });
            members.extend(moved);
            if i.op.waits() || !(i.op.is_computation() || matches!(i.op, Op::Mov | Op::Cmp | Op::Message)) {
                // Other threads may use the context meanwhile, or other channels be active.
                members.clear();
                first.clear();
            }
        }
        out
    }
}

impl Emit<'_> {
    fn quad_families(&self) -> &QuadFamilies {
        self.families.get_or_init(|| match self.stops.is_empty() {
            true => QuadFamilies::new(self),
            // Code may be left anywhere.
            false => QuadFamilies::default(),
        })
    }

    /// Where a message has its addresses of 64 bits, the bytes of its elements and how far addresses are shifted.
    fn addresses_in_quads(&self, i: &Inst) -> Option<(RegOffset, u32, u32)> {
        let Some(Message::Simt(s)) = self.p.messages().get(i.aux as usize).filter(|_| i.op == Op::Message)
        else {
            return None;
        };
        let form = memory::address_form(self.p, s).ok()?;
        let whole = i.channels.is_multiple_of(16) && s.elements == 1 && form.wide;
        whole.then_some((s.address, u32::from(s.element), form.before))
    }

    /// From where to where an instruction moves addresses that stay as far apart as they were.
    fn moved_on(&self, pc: Pc, i: &Inst) -> Option<(RegOffset, RegOffset)> {
        let all = i.no_mask || self.full && self.flow.all_channels_active(pc);
        let Dst::Reg { offset: to, ty: Type::Q | Type::Uq, stride: 1, sat: false } = i.dst else {
            return None;
        };
        let wide = matches!(i.exec, ExecType::I64 | ExecType::U64);
        if i.op != Op::Add
            || !all
            || !wide
            || i.pred.offset != 0
            || i.pred.combine != Combine::None
            || i.dst2 != 0
        {
            return None;
        }
        let vector = |s: &Src| match *s {
            Src::Reg {
                offset,
                ty: Type::Q | Type::Uq,
                shape: Shape::Contiguous,
                modifier: Modifier::None,
                ..
            } => Some(offset),
            _ => None,
        };
        let scalar = |s: &Src| matches!(s, Src::Reg { ty, shape: Shape::Scalar, .. } if ty.is_int());
        match (&i.src[0], &i.src[1]) {
            (v, s) | (s, v) if vector(v).is_some() && scalar(s) => Some((vector(v)?, to)),
            _ => None,
        }
    }

    /// Where in the context a number of a family says whether addresses are rows.
    fn seen(&self, number: u32) -> Mem {
        Mem::at(CTX, self.families_at() + 4 * number)
    }

    /// Where the first of these is, and where they end.
    fn families_at(&self) -> u32 {
        at::WAITS + 4 * self.waits.len() as u32 + self.rows_bytes()
    }

    /// The bytes of all of them.
    pub(super) fn families_bytes(&self) -> u32 {
        4 * self.quad_families().leaders.len() as u32
    }

    /// Of a message that looks at its addresses for others: they are no rows until it has seen them.
    pub(super) fn forget_rows(&mut self, pc: Pc) {
        if let Some(number) = self.quad_families().leaders.get(&pc).copied() {
            let m = self.seen(number);
            self.a.mi(Code::Mov_rm32_imm32, m, 0);
        }
    }

    /// It has seen that they are.
    pub(super) fn note_rows(&mut self, pc: Pc) {
        if let Some(number) = self.quad_families().leaders.get(&pc).copied() {
            let m = self.seen(number);
            self.a.mi(Code::Mov_rm32_imm32, m, 1);
        }
    }

    /// Of a message that another one looks for: goes on here if its addresses are rows, else to the label.
    pub(super) fn unless_rows(&mut self, pc: Pc) -> Option<Label> {
        let number = self.quad_families().followers.get(&pc).copied()?;
        let (m, other) = (self.seen(number), self.a.label());
        self.a.mi(Code::Cmp_rm32_imm32, m, 0);
        self.a.jump(Code::Je_rel32_64, other);
        Some(other)
    }
}
