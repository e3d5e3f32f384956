//! Bytes and words that messages load into dwords, and store out of dwords, stay there.
//!
//! Compilers pack what they loaded by a move, compute in words, and extend what they store. A conversion reads the dwords
//! themselves here. Of what a store takes the lower bits of, only these matter: sums, products and logic are made in dwords, whatever
//! their upper bits become.

use envisa_isa::{Modifier, Type};

use super::fold_addresses::{Place, Search};
use super::{Blocks, CHUNK, Uses, chunks_of_range, range_of_access};
use crate::Message;
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Most instructions between a store and what it stores is made of.
const DEEPEST: u32 = 6;
/// Most instructions that are made anew.
const MOST: usize = 256;

/// Does what is described above.
pub(super) fn keep_in_dwords(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    read_unpacked(p, uses, blocks);
    let mut made = Made {
        room: p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK),
        insts: Vec::new(),
    };
    let mut stored = Vec::new();
    let readers = count_readers(p);
    for pc in 0..p.code.len() {
        let Some((data, bits)) = stored_bits(p, pc) else { continue };
        let search = Search { p, uses, blocks, dominators: &None, at: Place::of(pc, &p.code[pc]) };
        let Some(from) = search.whole_definition_before(data, 4, pc as Pc) else { continue };
        let i = &p.code[from as usize];
        let size = narrow_size(&i.src[0]).filter(|size| i.op == Op::Mov && is_plain(i) && 8 * size >= bits);
        let before = made.insts.len();
        // Who else reads the dwords would see other upper bits.
        let mut data = chunks_of_range(data..data + 4 * u32::from(i.channels));
        let alone = data.all(|c| readers.get(c as usize) == Some(&1));
        match size.and_then(|_| search.dwords(&i.src[0], from, bits, DEEPEST, &mut made)) {
            Some(src) if made.insts.len() < MOST && alone => stored.push((from, src)),
            _ => made.insts.truncate(before),
        }
    }
    for (pc, src) in stored {
        p.code[pc as usize].src[0] = src;
    }
    if !made.insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((made.room + REGISTER_PADDING).next_multiple_of(CHUNK));
        made.insts.sort_by_key(|i| i.0);
        super::insert(p, made.insts);
    }
}

/// Instructions to put in, and where there is room for what they make.
struct Made {
    room: RegOffset,
    insts: Vec<(Pc, Inst)>,
}

/// Where a message has the dwords of which it stores the lower bits, and how many.
fn stored_bits(p: &ProgramParts, pc: usize) -> Option<(RegOffset, u32)> {
    let i = &p.code[pc];
    let Some(Message::Simt(s)) = p.messages.get(i.aux as usize).filter(|_| i.op == Op::Message) else {
        return None;
    };
    let one =
        (s.write, s.elements, s.slot, s.upper) == (true, 1, 4, false) && s.element < 4 && i.channels >= 8;
    Some((s.data.filter(|_| one)?, 8 * u32::from(s.element)))
}

/// The bytes of an integer narrower than a dword, of which there is one for each channel.
fn narrow_size(s: &Src) -> Option<u32> {
    match *s {
        Src::Reg {
            ty,
            shape: Shape::Contiguous | Shape::General,
            modifier: Modifier::None,
            constant: false,
            ..
        } => (ty.is_int() && ty.size() < 4).then_some(ty.size()),
        _ => None,
    }
}

/// Are narrow integers parts of dwords, one of each?
fn is_in_dwords(s: &Src) -> bool {
    matches!(*s, Src::Reg { ty, strides: Strides { vertical, width_log2: 0, .. }, .. }
        if u32::from(vertical) * ty.size() == 4)
}

/// Are integers made, as they are, for all channels that run?
fn is_plain(i: &Inst) -> bool {
    matches!(i.dst, Dst::Reg { ty, sat: false, .. } if ty.is_int())
        && matches!(i.exec, ExecType::I32 | ExecType::U32)
        && i.pred == Pred::default()
        && i.dst2 == 0
}

/// How many instructions and messages read of each chunk.
fn count_readers(p: &ProgramParts) -> Vec<u32> {
    let mut all = vec![0; p.registers.bytes.div_ceil(CHUNK) as usize];
    for i in &p.code {
        i.reads(p, &mut |t| {
            for c in chunks_of_range(range_of_access(&t, i.channels, p)) {
                if let Some(n) = all.get_mut(c as usize) {
                    *n += 1;
                }
            }
        });
    }
    all
}

/// Lets conversions to dwords and floats read the dwords that their bytes or words were packed from.
fn read_unpacked(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    for pc in 0..p.code.len() {
        let i = &p.code[pc];
        let wide = matches!(i.dst, Dst::Reg { ty: Type::D | Type::Ud | Type::F, stride: 1, .. });
        if i.op != Op::Mov || !wide || i.channels < 8 || narrow_size(&i.src[0]).is_none() {
            continue;
        }
        let search = Search { p, uses, blocks, dominators: &None, at: Place::of(pc, i) };
        let (mut src, mut from) = (i.src[0], i.src[0]);
        for _ in 0..DEEPEST {
            let Some(s) = search.unpacked(&from, pc as Pc) else { break };
            from = s;
            // A part of what another move packs is worth reading where all of it comes from.
            if is_in_dwords(&from) {
                src = from;
            }
        }
        if let Some(dwords) = search.loaded(&src, pc as Pc) {
            src = dwords;
        }
        p.code[pc].src[0] = src;
    }
}

impl Search<'_> {
    /// The region that narrow integers were moved from, as they are, and still are.
    fn unpacked(&self, s: &Src, reader: Pc) -> Option<Src> {
        let n = u32::from(self.at.channels);
        let Src::Reg { offset, ty, strides, modifier, .. } = *s else { return None };
        let size = narrow_size(s)?;
        let step = strides.step(n)?;
        // Where the vector of which these are parts begins, and how large its elements are.
        let whole = step * size;
        let part = offset % whole;
        let from = offset - part;
        if !matches!(whole, 1 | 2) || self.p.registers.bytes < from + n * whole {
            return None;
        }
        let pc = self.whole_definition_before(from, whole, reader)?;
        let d = &self.p.code[pc as usize];
        let Src::Reg { offset: at, strides: region, .. } = d.src[0] else { return None };
        if d.op != Op::Mov || !is_plain(d) || narrow_size(&d.src[0]) != Some(whole) {
            return None;
        }
        let far = region.step(n)? * whole;
        let stays = self.stable(pc, at..at + (n - 1) * far + whole);
        let vertical = u8::try_from(far / size).ok().filter(|_| matches!(far, 1 | 2 | 4) && stays)?;
        let strides = Strides { vertical, ..Strides::CONTIGUOUS };
        Some(Src::Reg { offset: at + part, ty, strides, shape: strides.shape(n), modifier, constant: false })
    }

    /// The dwords that a message has loaded these integers into, extended by zeros, if they are these.
    fn loaded(&self, s: &Src, reader: Pc) -> Option<Src> {
        let n = u32::from(self.at.channels);
        let Src::Reg { offset, ty: ty @ (Type::Ub | Type::Uw), strides, .. } = *s else { return None };
        let pc = self
            .uses
            .last_before(offset..offset + 4 * n, reader)
            .filter(|pc| self.blocks.same(*pc, reader))?;
        let i = &self.p.code[pc as usize];
        let Some(Message::Simt(s)) = self.p.messages.get(i.aux as usize).filter(|_| i.op == Op::Message)
        else {
            return None;
        };
        let alike = (i.channels, i.first, i.pred) == (self.at.channels, self.at.first, Pred::default())
            && (i.no_mask || !self.at.no_mask);
        let whole = (s.write, s.data, s.elements, u32::from(s.element), s.slot, s.upper)
            == (false, Some(offset), 1, ty.size(), 4, false);
        (alike && whole && strides.step(n)? * ty.size() == 4).then_some(vector(
            offset,
            Type::Ud,
            Modifier::None,
        ))
    }

    /// Dwords whose lower bits are those of a source as an instruction reads it, made there where they are not yet.
    fn dwords(&self, s: &Src, reader: Pc, bits: u32, depth: u32, made: &mut Made) -> Option<Src> {
        let n = u32::from(self.at.channels);
        let Src::Reg { offset, ty, shape, strides, modifier, .. } = *s else { return None };
        if !ty.is_int()
            || ty.size() > 4
            || 8 * ty.size() < bits
            || !matches!(modifier, Modifier::None | Modifier::Neg)
        {
            return None;
        }
        let size = ty.size();
        if shape == Shape::Scalar {
            return Some(*s);
        }
        if strides.step(n)? * size == 4 && offset.is_multiple_of(4) {
            return Some(vector(offset, Type::D, modifier));
        }
        if shape != Shape::Contiguous || depth == 0 {
            return None;
        }
        let pc = self.whole_definition_before(offset, size, reader)?;
        let d = self.p.code[pc as usize];
        let low =
            matches!(d.op, Op::Mov | Op::Add | Op::Add3 | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not);
        let signs = matches!(d.op, Op::Add | Op::Add3 | Op::Mul);
        let fits = |s: &Src| signs || !matches!(s, Src::Reg { modifier: Modifier::Neg, .. });
        if !low || !is_plain(&d) || !d.src.iter().all(fits) || self.blocks.before(pc).is_empty() {
            return None;
        }
        let mut src = [Src::None; 4];
        for (to, s) in src.iter_mut().zip(&d.src).filter(|s| *s.1 != Src::None) {
            *to = self.dwords(s, pc, bits, depth - 1, made)?;
        }
        if let (Op::Mov, Src::Reg { offset, shape: Shape::Contiguous, .. }) = (d.op, src[0])
            && self.stable(pc, offset..offset + 4 * n)
        {
            return Some(vector(offset, Type::D, modifier));
        }
        let at = made.room;
        made.room += (4 * n).next_multiple_of(CHUNK);
        let dst = Dst::Reg { offset: at, ty: Type::D, stride: 1, sat: false };
        made.insts.push((pc, Inst { dst, src, exec: ExecType::I32, ..d }));
        Some(vector(at, Type::D, modifier))
    }
}

/// One integer a channel.
fn vector(offset: RegOffset, ty: Type, modifier: Modifier) -> Src {
    let strides = Strides::CONTIGUOUS;
    Src::Reg { offset, ty, strides, shape: Shape::Contiguous, modifier, constant: false }
}
