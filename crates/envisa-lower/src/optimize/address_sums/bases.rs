//! Addresses of 64 bits that a program makes once, by halves, and adds offsets to later: those of private arrays.

use envisa_isa::Type;

use super::*;

/// Eight channels' addresses: vectors of lower and upper dwords that are written once, before all else, and what they are
/// the sum of, which stays as well.
pub(super) struct Base {
    /// The number of the first channel.
    channel: u32,
    low: RegOffset,
    high: RegOffset,
    /// Where they are as quads, if they are.
    quads: Option<RegOffset>,
    pub sum: Sum,
}

/// All that a program makes.
pub(super) fn find_bases(p: &ProgramParts, blocks: &Blocks, uses: &Uses) -> Vec<Base> {
    let mut all = Vec::new();
    if uses.calls {
        return all;
    }
    // What a subroutine begins with is executed at each call, for those channels that call.
    let first = |pc: &usize| p.code[*pc].function == 0 && blocks.in_entry(*pc as Pc);
    for pc in (0..p.code.len()).filter(first).filter(|pc| p.code[*pc].op == Op::Addc) {
        let search = Search { p, blocks, uses, bases: &[], pc };
        for lane in (0..u32::from(p.code[pc].channels) / PIECE).map(|k| k * PIECE) {
            all.extend(search.base(lane));
        }
    }
    all
}

/// The one whose halves are these, or which is these quads, from a channel on.
pub(super) fn find_by_halves(all: &[Base], channel: u32, low: RegOffset, high: RegOffset) -> Option<&Base> {
    all.iter().find(|b| (b.channel, b.low, b.high) == (channel, low, high))
}

pub(super) fn find_by_quads(all: &[Base], channel: u32, quads: RegOffset) -> Option<&Base> {
    all.iter().find(|b| (b.channel, b.quads) == (channel, Some(quads)))
}

impl Search<'_> {
    /// That whose lower dwords this instruction adds up, from one of its channels on.
    fn base(&self, lane: u32) -> Option<Base> {
        let pc = self.pc;
        let i = &self.p.code[pc];
        let Dst::Reg { offset, stride: 1, sat: false, .. } = i.dst else { return None };
        let channel = u32::from(i.first) + lane;
        if i.dst2 == 0 || !is_plain_dword(i) {
            return None;
        }
        let (low, carry) = (offset + 4 * lane, i.dst2 + 4 * lane);
        let (offsets, below) = self.vector_and_scalar(i, lane)?;
        let later = || self.after(pc);
        let (high, above, signed) = later().find_map(|q| self.upper_half(q, channel, carry, pc, offsets))?;
        let halves = [scalar(&below)?, scalar(&above)?];
        let dwords = |at: RegOffset| at..at + 4 * PIECE;
        let once = |r: Range<RegOffset>| self.uses.only_writer(r).is_some();
        let kept = |r: Range<RegOffset>| self.uses.only_within(r, self.blocks.before(pc as Pc));
        let stays = |s: &Src| match *s {
            Src::Reg { offset, constant: false, .. } => kept(offset..offset + 4),
            _ => true,
        };
        let all = once(dwords(low)) && once(dwords(high)) && kept(dwords(offsets));
        if !all || !halves.iter().all(stays) {
            return None;
        }
        let quads = later().find_map(|q| self.as_quads(q, low, high));
        Some(Base { channel, low, high, quads, sum: Sum { offsets, halves, plus: None, signed } })
    }

    /// Those behind an instruction in its block.
    fn after(&self, pc: usize) -> impl Iterator<Item = usize> + '_ {
        let same = move |q: &usize| self.blocks.same(pc as Pc, *q as Pc);
        (pc + 1..self.p.code.len()).take(FAR).take_while(same)
    }

    /// What an instruction adds to a carry to make the upper dwords of an address: these, the scalar, and whether offsets are
    /// extended by their sign.
    fn upper_half(
        &self,
        pc: usize,
        channel: u32,
        carry: RegOffset,
        made: usize,
        offsets: RegOffset,
    ) -> Option<(RegOffset, Src, bool)> {
        let i = &self.p.code[pc];
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
        let lane = channel.checked_sub(i.first.into()).filter(|l| self.runs(i, *l, channel))?;
        if !is_dword(ty) || !is_plain_dword(i) {
            return None;
        }
        let d = Definition { pc, lane, carries: false };
        let others = self.beside_carry(&d, channel, carry, made)?;
        let (scalars, vectors): (Vec<Src>, Vec<Src>) =
            others.iter().partition(|s| self.vector(i, s, lane).is_none());
        let [above] = scalars[..] else { return None };
        let signed = match vectors[..] {
            [] => false,
            [v] => {
                let at = self.vector(i, &v, lane)?;
                let sign = self.definition(at, channel, pc).filter(|s| !s.carries)?;
                let shift = &self.p.code[sign.pc];
                let all = shift.op == Op::Asr && constant(self.p, &shift.src[1]) == Some(31);
                let of = matches!(shift.src[0], Src::Reg { ty: Type::D, .. });
                (all && of && self.vector(shift, &shift.src[0], sign.lane) == Some(offsets))
                    .then_some(true)?
            }
            _ => return None,
        };
        Some((offset + 4 * lane, above, signed))
    }

    /// Where two vectors of dwords are put together to quads, which nothing else writes: by this instruction the lower ones.
    fn as_quads(&self, pc: usize, low: RegOffset, high: RegOffset) -> Option<RegOffset> {
        let moved = |pc: usize, from: RegOffset| {
            let i = &self.p.code[pc];
            let Dst::Reg { offset, ty, stride: 2, sat: false } = i.dst else { return None };
            let source = self.vector(i, &i.src[0], 0)?;
            let lane = from.checked_sub(source).filter(|x| x.is_multiple_of(4))? / 4;
            let whole = i.op == Op::Mov && is_dword(ty) && is_plain_dword(i);
            (whole && lane + PIECE <= i.channels.into()).then_some(offset + 8 * lane)
        };
        let quads = moved(pc, low).filter(|at| at % 8 == 0)?;
        let upper = self.after(pc).find(|q| moved(*q, high) == Some(quads + 4))?;
        let own = [pc as Pc, upper as Pc];
        let alone = chunks_of_range(quads..quads + 8 * PIECE)
            .all(|c| self.uses.writers(c).iter().all(|w| own.contains(&w.1)));
        alone.then_some(quads)
    }
}
