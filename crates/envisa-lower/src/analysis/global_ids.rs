//! Programs whose work-items depend on their global ids alone: such launches may be divided into other groups.
//!
//! Two things are shown of every instruction, whatever way control takes. A channel reads no other channel's values: what is
//! written for channels is read by the same channels, and what is read as a scalar was written as one. And the halves of
//! global ids, products of groups' numbers and sizes and local ids, are only ever added up, each with the other of its
//! dimension; nothing else is made of them. Sums of them count as long as they are not whole ids, with the factors that
//! they have taken.

use std::collections::BTreeMap;
use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_isa::{Combine, Type};

use crate::inst::{Dst, ExecType, Inst, Op, Src};
use crate::messages::{Message, Space};
use crate::program::ProgramParts;
use crate::registers::RegOffset;
use crate::touched::Touched;

/// Where in a launch's register image is what a program is told of groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdPlaces {
    /// The numbers of the group, dwords.
    pub group: [u32; 3],
    /// The rows of local ids, words, and bytes from row to row; `None`: there are none.
    pub local: Option<(u32, u32)>,
    /// Three dwords each: the size of groups.
    pub sizes: Vec<u32>,
    /// Bytes that say anything else about groups or threads.
    pub others: Vec<Range<u32>>,
}

/// Do the program's work-items depend on their global ids alone? Each one does the same then whatever the groups are, if
/// sizes of groups times their numbers stay below 2^31. Work-items do not wait for each other or change what others read.
pub fn takes_global_ids_alone(p: &ProgramParts, places: &IdPlaces) -> bool {
    is_channelwise(p)
        && Channels::new(p, places).is_some_and(|c| c.stay_apart(p))
        && Halves::add_up(p, places)
}

/// Are there only messages and operations that are a channel's own, or the same for all?
fn is_channelwise(p: &ProgramParts) -> bool {
    let reaches = |s: &Space| {
        matches!(s, Space::Flat | Space::Bti(_) | Space::Bindless(_) | Space::Table(_) | Space::Handle(_))
    };
    let message = |m: &Message| match m {
        Message::Simt(s) => reaches(&s.space),
        Message::Block(b) => reaches(&b.space),
        Message::Typed(_) | Message::Sample(_) | Message::Info(_) => true,
        _ => false,
    };
    let op = |i: &Inst| match i.op {
        Op::Mov
        | Op::PredLogic
        | Op::Cmp
        | Op::Message
        | Op::Join
        | Op::Goto
        | Op::Ret
        | Op::End
        | Op::Nop => true,
        op => op.is_computation(),
    };
    p.simd > 1
        && !p.has_barrier
        && p.functions.len() == 1
        && p.messages.iter().all(message)
        && p.code.iter().all(op)
}

/// Nobody writes the byte.
const NOBODY: u8 = 255;
/// It is the same for all channels.
const SAME: u8 = 254;
/// It has the bits of a predicate of channels.
const BITS: u8 = 253;
/// Several channels write it.
const SEVERAL: u8 = 252;

/// By byte of the register file, whose it is: a channel, or one of the above.
struct Channels(Vec<u8>);

impl Channels {
    /// `None`: a write of which it is not known.
    fn new(p: &ProgramParts, places: &IdPlaces) -> Option<Channels> {
        let mut it = Channels(vec![NOBODY; p.registers.bytes as usize]);
        it.mark(0..p.registers.constants.len() as u32, SAME)?;
        for i in &p.inputs {
            it.mark(i.offset..i.offset + i.bytes, SAME)?;
        }
        if let Some((first, row)) = places.local {
            for (d, lane) in (0..3).flat_map(|d| (0..p.simd).map(move |lane| (d, lane))) {
                if let Some(at) = register(p, first + d * row + 2 * lane, 2) {
                    it.0.get_mut(at as usize..at as usize + 2)?.fill(lane as u8);
                }
            }
        }
        for i in &p.code {
            let mut known = true;
            i.writes(p, &mut |t| known &= it.write(i, &t).is_some());
            known.then_some(())?;
        }
        Some(it)
    }

    fn mark(&mut self, at: Range<u32>, whose: u8) -> Option<()> {
        for b in self.0.get_mut(at.start as usize..at.end as usize)? {
            *b = if *b == NOBODY || *b == whose { whose } else { SEVERAL };
        }
        Some(())
    }

    fn write(&mut self, i: &Inst, t: &Touched) -> Option<()> {
        if i.channels == 1 {
            return self.mark(t.range(1)?, SAME);
        }
        if let Touched::Whole { offset, bytes } = *t {
            return self.mark(offset..offset + bytes, if i.op == Op::Message { SAME } else { BITS });
        }
        (0..u32::from(i.channels)).try_for_each(|k| self.mark(t.channel(k)?, i.first + k as u8))
    }

    /// Does every instruction read what is of its own channels, or the same for all?
    fn stay_apart(&self, p: &ProgramParts) -> bool {
        p.code.iter().all(|i| {
            // A scalar that only some ways through the program write is not the same for all channels.
            let makes = i.dst != Dst::None || i.op == Op::Message;
            let alone = i.channels > 1 || i.no_mask || i.facts.converged || !makes;
            let predicates = i.src.iter().filter_map(|s| match s {
                Src::Pred { offset, .. } => Some(*offset),
                _ => None,
            });
            let own = [i.pred.offset].into_iter().filter(|o| *o != 0).chain(predicates).collect::<Vec<_>>();
            let mut apart = alone && i.pred.combine == Combine::None;
            i.reads(p, &mut |t| apart &= self.reads(i, &t, &own));
            apart
        })
    }

    fn reads(&self, i: &Inst, t: &Touched, predicates: &[RegOffset]) -> bool {
        let are = |at: Range<u32>, whose: &[u8]| {
            self.0
                .get(at.start as usize..at.end as usize)
                .is_some_and(|b| b.iter().all(|b| whose.contains(b)))
        };
        match *t {
            Touched::Whole { offset, bytes } if i.channels > 1 && predicates.contains(&offset) => {
                are(offset..offset + bytes, &[BITS, NOBODY])
            }
            Touched::Whole { offset, bytes } => are(offset..offset + bytes, &[SAME, NOBODY]),
            Touched::Region { strides, .. } if strides.step(i.channels.into()) == Some(0) => {
                t.channel(0).is_some_and(|at| are(at, &[SAME, NOBODY]))
            }
            _ if i.channels == 1 => t.range(1).is_some_and(|at| are(at, &[SAME, NOBODY])),
            Touched::Region { together, .. } if together != 1 => false,
            _ => (0..u32::from(i.channels))
                .all(|k| t.channel(k).is_some_and(|at| are(at, &[i.first + k as u8, NOBODY]))),
        }
    }
}

/// Where in the register file bytes of the image are.
fn register(p: &ProgramParts, image: u32, bytes: u32) -> Option<RegOffset> {
    if image + bytes <= p.grf_bytes {
        return Some(p.registers.predefined[var::R0 as usize] + image);
    }
    let within = |i: &&crate::program::InputSlot| i.image <= image && image + bytes <= i.image + i.bytes;
    p.inputs.iter().find(within).map(|i| i.offset + image - i.image)
}

/// What a value has of the halves of global ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    /// The number of a group.
    Group(usize),
    /// The size of groups.
    Size(usize),
    /// Products of these and local ids, so many times each.
    Sum { groups: [i64; 3], locals: [i64; 3] },
}

impl Half {
    const NONE: Half = Half::Sum { groups: [0; 3], locals: [0; 3] };

    /// Is it one of the halves itself, below 2^31?
    fn is_one(self) -> bool {
        match self {
            Half::Sum { groups, locals } => groups.into_iter().chain(locals).map(i64::abs).sum::<i64>() == 1,
            _ => true,
        }
    }

    /// Is it nothing but whole ids?
    fn is_whole(self) -> bool {
        matches!(self, Half::Sum { groups, locals } if groups == locals)
    }

    fn multiply(self, n: i64) -> Option<Half> {
        let Half::Sum { groups, locals } = self else { return None };
        let all = |x: [i64; 3]| Some([x[0].checked_mul(n)?, x[1].checked_mul(n)?, x[2].checked_mul(n)?]);
        Some(Half::Sum { groups: all(groups)?, locals: all(locals)? })
    }

    fn plus(self, other: Half) -> Option<Half> {
        let (Half::Sum { groups: a, locals: b }, Half::Sum { groups: c, locals: d }) = (self, other) else {
            return None;
        };
        let all = |x: [i64; 3], y: [i64; 3]| {
            Some([x[0].checked_add(y[0])?, x[1].checked_add(y[1])?, x[2].checked_add(y[2])?])
        };
        Some(Half::Sum { groups: all(a, c)?, locals: all(b, d)? })
    }

    fn product(self, other: Half) -> Option<Half> {
        match (self, other) {
            (Half::Group(d), Half::Size(e)) | (Half::Size(e), Half::Group(d)) if d == e => {
                let mut groups = [0; 3];
                groups[d] = 1;
                Some(Half::Sum { groups, locals: [0; 3] })
            }
            _ => None,
        }
    }
}

/// A half that is kept in registers.
#[derive(Clone, Copy)]
struct Kept {
    half: Half,
    /// Nothing was added to it.
    pure: bool,
    bytes: u32,
    /// Bytes from channel to channel; 0: a scalar.
    step: u32,
    channels: u32,
}

/// Where halves of global ids are.
struct Halves<'a> {
    p: &'a ProgramParts,
    kept: BTreeMap<RegOffset, Kept>,
    /// Bytes that are of halves, or that nobody may read.
    taken: Vec<bool>,
    /// How many instructions write bytes, at most two.
    writers: Vec<u8>,
}

impl<'a> Halves<'a> {
    /// Are halves only added up to whole ids?
    fn add_up(p: &'a ProgramParts, places: &IdPlaces) -> bool {
        let Some(mut it) = Halves::new(p, places) else { return false };
        let mut followed = vec![false; p.code.len()];
        for (pc, i) in p.code.iter().enumerate() {
            if it.touches(i) {
                if it.follow(i).is_none() {
                    return false;
                }
                followed[pc] = true;
            }
        }
        // Nobody read one before it was there.
        p.code.iter().zip(followed).all(|(i, followed)| followed || !it.touches(i))
    }

    fn new(p: &'a ProgramParts, places: &IdPlaces) -> Option<Halves<'a>> {
        let bytes = p.registers.bytes as usize;
        let mut it = Halves { p, kept: BTreeMap::new(), taken: vec![false; bytes], writers: vec![0; bytes] };
        for i in &p.code {
            let mut known = true;
            i.writes(p, &mut |t| match t.range(i.channels.into()) {
                Some(at) => it.writers[at.start as usize..at.end as usize]
                    .iter_mut()
                    .for_each(|n| *n = (*n + 1).min(2)),
                None => known = false,
            });
            known.then_some(())?;
        }
        for (var, at) in p.registers.predefined.iter().enumerate() {
            if !matches!(var as u32, var::NULL | var::CR0) && var < var::SCRATCHLOC as usize + 1 {
                it.taken.get_mut(*at as usize..*at as usize + p.grf_bytes as usize)?.fill(true);
            }
        }
        let (mut scalars, mut locals) = (Vec::new(), Vec::new());
        for d in 0..3 {
            scalars.push((places.group[d], Half::Group(d)));
            scalars.extend(places.sizes.iter().map(|at| (at + 4 * d as u32, Half::Size(d))));
            let mut one = [0; 3];
            one[d] = 1;
            let row = places.local.map(|(first, row)| first + d as u32 * row);
            locals.extend(row.map(|at| (at, Half::Sum { groups: [0; 3], locals: one })));
        }
        for (image, half) in scalars {
            if let Some(at) = register(p, image, 4) {
                it.record_half(at, Kept { half, pure: true, bytes: 4, step: 0, channels: 1 }, 0)?;
            }
        }
        for (image, half) in locals {
            if let Some(at) = register(p, image, 2 * p.simd) {
                it.record_half(at, Kept { half, pure: true, bytes: 2, step: 2, channels: p.simd }, 0)?;
            }
        }
        for other in &places.others {
            for image in other.clone() {
                if let Some(at) = register(p, image, 1) {
                    *it.taken.get_mut(at as usize)? = true;
                }
            }
        }
        Some(it)
    }

    /// Has a half from now on in these registers, which so many instructions write.
    fn record_half(&mut self, at: RegOffset, kept: Kept, writers: u8) -> Option<()> {
        for k in 0..kept.channels {
            let at = (at + k * kept.step) as usize;
            let bytes = at..at + kept.bytes as usize;
            if self.writers.get(bytes.clone())?.iter().any(|n| *n != writers) {
                return None;
            }
            self.taken.get_mut(bytes)?.fill(true);
        }
        self.kept.insert(at, kept);
        Some(())
    }

    /// Does it read anything of them?
    fn touches(&self, i: &Inst) -> bool {
        let mut any = false;
        let channels = u32::from(i.channels);
        i.reads(self.p, &mut |t| {
            let taken = |at: Range<u32>| {
                self.taken.get(at.start as usize..at.end as usize).is_none_or(|b| b.contains(&true))
            };
            any |= (0..channels.max(1)).any(|k| t.channel(k).is_none_or(taken));
        });
        any
    }

    /// Follows an instruction that reads some of them.
    ///
    /// `None`: it makes something else of them.
    fn follow(&mut self, i: &Inst) -> Option<()> {
        let Dst::Reg { offset, ty, stride, sat: false } = i.dst else { return None };
        let whole = |e| matches!(e, ExecType::I32 | ExecType::U32 | ExecType::I64 | ExecType::U64);
        if !whole(i.exec) || i.pred.offset != 0 || !is_whole_number(ty) || ty.size() < 4 || i.dst2 != 0 {
            return None;
        }
        let [a, b, c, d] = i.src;
        let wide = ty.size() == 8 || matches!(i.exec, ExecType::I64 | ExecType::U64);
        let mut pure = i.op != Op::Add && i.op != Op::Add3;
        let mut operand = |s: Src| self.half_of_operand(i, &s, wide, &mut pure);
        let half = match i.op {
            Op::Mov => operand(a)?,
            Op::Add | Op::Add3 if d == Src::None => {
                let sources = [a, b, c].into_iter().filter(|s| *s != Src::None);
                sources.map(&mut operand).try_fold(Half::NONE, |sum, half| sum.plus(half?))?
            }
            Op::Mul => self.product(i, a, b, wide, &mut pure)?,
            Op::Mad => {
                let added = operand(c)?;
                pure = false;
                self.product(i, a, b, wide, &mut pure)?.plus(added)?
            }
            Op::Shl => {
                let by = self.constant(b)?;
                pure = false;
                let mut unused = false;
                self.half_of_operand(i, &a, wide, &mut unused)?
                    .multiply(1 << u32::try_from(by).ok().filter(|by| *by < 31)?)?
            }
            _ => return None,
        };
        if half.is_whole() {
            return Some(());
        }
        // A sum of 32 bits may have lost its carry, and with it what later makes it a whole id in 64.
        let narrow = matches!(i.exec, ExecType::I32 | ExecType::U32);
        if ty.size() == 8 && narrow && !pure {
            return None;
        }
        let step = if i.channels == 1 { 0 } else { u32::from(stride) * ty.size() };
        let pure = pure && half.is_one();
        self.record_half(offset, Kept { half, pure, bytes: ty.size(), step, channels: i.channels.into() }, 1)
    }

    /// What a source has of halves.
    ///
    /// `None`: it reads them in another way than they were written.
    fn half_of_operand(&self, i: &Inst, s: &Src, wide: bool, pure: &mut bool) -> Option<Half> {
        let Src::Reg { offset, ty, strides, modifier, .. } = *s else { return None };
        let channels = u32::from(i.channels);
        let step = strides.step(channels)? * ty.size();
        let taken = (0..channels).any(|k| {
            let at = (offset + strides.element(k) * ty.size()) as usize;
            self.taken[at..at + ty.size() as usize].contains(&true)
        });
        if !taken {
            *pure = false;
            return Some(Half::NONE);
        }
        let (at, kept) = self.kept.range(..=offset).next_back()?;
        // Of a vector, some of its channels.
        let own = match offset - at {
            0 => channels <= kept.channels || step == 0,
            behind => step > 0 && behind % step == 0 && behind / step + channels <= kept.channels,
        };
        let as_written = own && kept.bytes == ty.size() && kept.step == step;
        let plain = modifier == envisa_isa::Modifier::None && is_whole_number(ty);
        if !as_written || !plain || (wide && ty.size() < 8 && !kept.pure) {
            return None;
        }
        *pure &= kept.pure;
        Some(kept.half)
    }

    fn product(&self, i: &Inst, a: Src, b: Src, wide: bool, pure: &mut bool) -> Option<Half> {
        match (self.constant(a), self.constant(b)) {
            (Some(n), _) => {
                *pure = false;
                self.half_of_operand(i, &b, wide, pure)?.multiply(n)
            }
            (_, Some(n)) => {
                *pure = false;
                self.half_of_operand(i, &a, wide, pure)?.multiply(n)
            }
            _ => {
                let [x, y] =
                    [self.half_of_operand(i, &a, wide, pure)?, self.half_of_operand(i, &b, wide, pure)?];
                if x == Half::NONE && y == Half::NONE { Some(Half::NONE) } else { x.product(y) }
            }
        }
    }

    /// The number that an immediate is.
    fn constant(&self, s: Src) -> Option<i64> {
        let Src::Reg { offset, ty, constant: true, modifier: envisa_isa::Modifier::None, .. } = s else {
            return None;
        };
        let at = self.p.registers.constants.get(offset as usize..(offset + ty.size()) as usize)?;
        let mut all = [0; 8];
        all[..at.len()].copy_from_slice(at);
        let n = u64::from_le_bytes(all);
        Some(match ty {
            Type::D => n as u32 as i32 as i64,
            Type::W => n as u16 as i16 as i64,
            Type::Ud | Type::Uw => n as i64,
            _ => return None,
        })
    }
}

fn is_whole_number(ty: Type) -> bool {
    matches!(ty, Type::D | Type::Ud | Type::Q | Type::Uq | Type::W | Type::Uw)
}

/// Is what the ids of a dimension are in multiplied by anything but constants, as numbers of rows are by their lengths?
/// Neighbours in the dimension access memory far apart then.
pub fn multiplies_ids(p: &ProgramParts, places: &IdPlaces, dimension: u32) -> bool {
    let mut of_id = vec![false; p.registers.bytes as usize];
    let Some((first, row)) = places.local else { return false };
    let Some(at) = register(p, first + dimension * row, 2 * p.simd) else { return false };
    of_id[at as usize..(at + 2 * p.simd) as usize].fill(true);
    let is = |of_id: &[bool], s: &Src| match *s {
        Src::Reg { offset, constant: false, .. } => of_id[offset as usize],
        _ => false,
    };
    let constant = |s: &Src| matches!(s, Src::Reg { constant: true, .. });
    loop {
        let mut more = false;
        for i in &p.code {
            let Dst::Reg { offset, ty, stride, .. } = i.dst else { continue };
            if !is_whole_number(ty) || !i.src.iter().any(|s| is(&of_id, s)) {
                continue;
            }
            let [a, b, ..] = &i.src;
            let factor = |x: &Src, y: &Src| is(&of_id, x) && !constant(y);
            if matches!(i.op, Op::Mul | Op::Mad | Op::Madw) && (factor(a, b) || factor(b, a)) {
                return true;
            }
            for k in 0..u32::from(i.channels) {
                let at = (offset + k * u32::from(stride) * ty.size()) as usize;
                let bytes = &mut of_id[at..at + ty.size() as usize];
                more |= bytes.contains(&false);
                bytes.fill(true);
            }
        }
        if !more {
            return false;
        }
    }
}
