//! Dwords that channels find by address registers whose numbers are known are picked out of vectors.
//!
//! Compilers make shuffles between neighbours out of the numbers of the channels: what each channel looks for is computed, made
//! an address of a register, and found through that. Where all of it is made of numbers that are known before the program runs,
//! one instruction picks the dwords ([`Op::Pick`]), and nobody needs the addresses any more.
//!
//! What instructions make is followed block by block. What the block makes that is executed first and once is known everywhere,
//! if nothing else writes it.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, range_of_access};
use crate::analysis::known_result;
use crate::program::*;

/// Most vectors that are known at once.
const MOST: usize = 64;

/// Elements side by side that are known.
struct Known {
    at: RegOffset,
    bytes: Vec<u8>,
    /// Bytes of an element.
    element: u32,
    /// The channel that the first one is of; `None` if those of inactive channels are known, too.
    first: Option<u8>,
}

impl Known {
    fn range(&self) -> Range<RegOffset> {
        self.at..self.at + self.bytes.len() as u32
    }

    /// Bytes that a channel reads, if they are known to it.
    fn read(&self, channel: u32, r: &Range<RegOffset>) -> Option<&[u8]> {
        let offset = r.start.checked_sub(self.at)?;
        let bytes = self.bytes.get(offset as usize..(r.end - self.at) as usize)?;
        let last = offset + (r.end - r.start).saturating_sub(1);
        let own = |first: u8| [offset, last].iter().all(|at| u32::from(first) + at / self.element == channel);
        self.first.is_none_or(own).then_some(bytes)
    }
}

/// Does what is described above.
pub(super) fn pick_known_dwords(p: &mut ProgramParts, blocks: &Blocks) {
    if !p.code.iter().any(|i| address_of(i).is_some()) {
        return;
    }
    // The block that is executed first and once, if there is one.
    let first = p.functions.first().map(|f| f.entry).filter(|entry| blocks.in_entry(*entry));
    let is_first = |pc: Pc| first.is_some_and(|entry| blocks.same(entry, pc));
    let (mut always, mut known): (Vec<Known>, Vec<Known>) = (Vec::new(), Vec::new());
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            if is_first(pc as Pc - 1) {
                drop_written_elsewhere(p, is_first, &mut known);
                always.append(&mut known);
            }
            known.clear();
        }
        if let Some((pick, which)) = pick(p, &p.code[pc], known.iter().chain(&always)) {
            p.picks.push(which);
            p.code[pc] = pick;
        }
        let i = &p.code[pc];
        let new = result(p, i, known.iter().chain(&always));
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            known.retain(|k| k.range().end <= r.start || r.end <= k.range().start);
        });
        if known.len() == MOST {
            known.remove(0);
        }
        known.extend(new);
    }
}

/// Drops what any instruction outside of the first block writes.
fn drop_written_elsewhere(p: &ProgramParts, is_first: impl Fn(Pc) -> bool, known: &mut Vec<Known>) {
    for (_, i) in (0..).zip(&p.code).filter(|(pc, _)| !is_first(*pc)) {
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            known.retain(|k| k.range().end <= r.start || r.end <= k.range().start);
        });
    }
}

/// What an instruction makes, if it is known.
fn result<'a>(
    p: &'a ProgramParts,
    i: &Inst,
    known: impl Iterator<Item = &'a Known> + Clone,
) -> Option<Known> {
    let made = |whole: bool| {
        let read = |k: u32, r: Range<RegOffset>| {
            let channel = u32::from(i.first) + k;
            let mut known = known.clone().filter(|known| !whole || known.first.is_none());
            known.find_map(|known| known.read(channel, &r))
        };
        known_result(p, i, &read)
    };
    // Inactive channels of what is read may hold anything: so do they of what is made.
    let whole = if i.no_mask { made(true) } else { None };
    let first = if whole.is_some() { None } else { Some(i.first) };
    let (at, bytes) = whole.or_else(|| made(false))?;
    let element = bytes.len() as u32 / u32::from(i.channels);
    Some(Known { at, bytes, element, first })
}

/// The first address register of a move of dwords that each channel finds by an address of its own.
fn address_of(i: &Inst) -> Option<(RegOffset, i16)> {
    let Src::Indirect { address, bytes, per_address_log2: 0, ty, modifier: Modifier::None, .. } = i.src[0]
    else {
        return None;
    };
    let Dst::Reg { ty: made, stride: 1, sat: false, .. } = i.dst else { return None };
    let dwords = ty.size() == 4 && made.size() == 4 && ty.is_float() == made.is_float();
    (i.op == Op::Mov && i.channels >= 8 && dwords).then_some((address, bytes))
}

/// The instruction that picks what a move finds by known addresses, and which dwords those are.
fn pick<'a>(
    p: &ProgramParts,
    i: &Inst,
    known: impl Iterator<Item = &'a Known> + Clone,
) -> Option<(Inst, Vec<u8>)> {
    let (address, plus) = address_of(i)?;
    let n = u32::from(i.channels);
    let place = |k: u32| {
        let (at, channel) = (address + 2 * k, u32::from(i.first) + k);
        // Channels that are off have no addresses of which anything is known.
        let mut known = known.clone().filter(|known| !i.no_mask || known.first.is_none());
        let word = known.find_map(|known| known.read(channel, &(at..at + 2)))?;
        Some(u32::from(u16::from_le_bytes([word[0], word[1]]).wrapping_add(plus as u16)))
    };
    let places: Vec<u32> = (0..n).map(place).collect::<Option<_>>()?;
    let r = &p.registers;
    let (start, end) = r.address_homes.get(*places.first()? as usize / 64).copied()?;
    if places.iter().any(|at| at % 4 != 0 || *at < start || at + 4 > end) {
        return None;
    }
    // Vectors begin where the variable's do.
    let vector = 4 * n;
    let first = start + (places.iter().min()? - start) / vector * vector;
    let which: Vec<u8> =
        places.iter().map(|at| u8::try_from((at - first) / 4)).collect::<Result<_, _>>().ok()?;
    let vectors = u32::from(*which.iter().max()?) / n + 1;
    let offset = r.address_base + first;
    let read = offset..offset + vectors * vector;
    let Dst::Reg { offset: to, .. } = i.dst else { return None };
    let apart = to + vector <= read.start || read.end <= to;
    if vectors > (32 / n).clamp(1, 2) || first + vectors * vector > end || !(apart || n <= 16) {
        return None;
    }
    let strides = Strides::CONTIGUOUS;
    let source = Src::Reg {
        offset,
        ty: Type::Ud,
        strides,
        shape: strides.shape(n),
        modifier: Modifier::None,
        constant: false,
    };
    let pick = Inst {
        op: Op::Pick,
        exec: ExecType::U32,
        dst: Dst::Reg { offset: to, ty: Type::Ud, stride: 1, sat: false },
        src: [source, Src::None, Src::None, Src::None],
        aux: p.picks.len() as u32,
        ..*i
    };
    Some((pick, which))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What channels made that may be off, each knows of its own element alone.
    #[test]
    fn channels_know_their_own_elements() {
        let mut known = Known { at: 64, bytes: (0..32).collect(), element: 2, first: Some(8) };
        let two = |at: u8| Some(vec![at, at + 1]);
        let read = |known: &Known, channel, r| known.read(channel, &r).map(<[u8]>::to_vec);
        assert_eq!([read(&known, 8, 64..66), read(&known, 23, 94..96)], [two(0), two(30)]);
        assert_eq!([read(&known, 9, 64..66), read(&known, 8, 64..68)], [None, None]);
        known.first = None;
        assert_eq!([read(&known, 9, 64..66), read(&known, 8, 66..68)], [two(0), two(2)]);
        assert_eq!([read(&known, 8, 62..64), read(&known, 8, 95..97)], [None, None], "not all is known");
    }
}
