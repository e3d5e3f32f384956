//! Products of quads that were worked out in dwords are one instruction.
//!
//! Devices without products of 64 bits add up `a * b` of the lower dwords, the upper half of that, and what the upper dwords
//! contribute, and join both halves by moves.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, range_of_access};
use crate::program::*;

/// How far back what makes a half is looked for.
const FAR: u32 = 64;
/// Most moves between what makes a half and who reads it, and most sums.
const DEEPEST: u32 = 6;

/// Does what is described above.
pub(super) fn join_quad_products(p: &mut ProgramParts, blocks: &Blocks) {
    let products: Vec<(Pc, Product)> =
        (0..p.code.len() as Pc).filter_map(|pc| Some((pc, Product::of(p, blocks, pc)?))).collect();
    let mut keep = vec![true; p.code.len()];
    for (pc, product) in &products {
        p.code[*pc as usize] = product.instruction(p, *pc);
        keep[product.lower as usize] = false;
    }
    if !products.is_empty() {
        super::dead_code::remove_instructions(p, &keep);
    }
}

/// Two factors, and where their product goes.
struct Product {
    /// What joins the lower half.
    lower: Pc,
    to: RegOffset,
    factors: [Src; 2],
}

/// Dwords as an instruction reads them.
#[derive(Clone, Copy)]
pub(super) struct Dwords {
    pub src: Src,
    pub reader: Pc,
}

/// Quads whose upper half an instruction joins to the lower one.
pub(super) struct JoinedQuads {
    /// What joins the lower half.
    pub lower: Pc,
    pub to: RegOffset,
    /// The lower and the upper dwords.
    pub halves: [Dwords; 2],
}

/// What adds up to the upper half: the upper half of the product of the lower dwords, and other products.
#[derive(Default)]
struct Upper {
    mulh: Option<Pc>,
    products: Vec<Pc>,
}

impl Product {
    /// The product whose upper half an instruction joins to the lower one.
    fn of(p: &ProgramParts, blocks: &Blocks, pc: Pc) -> Option<Product> {
        let view = View { p, blocks, at: pc };
        let JoinedQuads { lower, to, halves: [low, high] } = view.joined_quads()?;
        let product = view.definition_past_moves(low, DEEPEST)?;
        let mut upper = Upper::default();
        view.add_up(high, DEEPEST, &mut upper)?;
        let mulh = upper.mulh?;
        let (mul, h) = (&p.code[product as usize], &p.code[mulh as usize]);
        let plain = |i: &Inst| matches!(i.exec, ExecType::U32 | ExecType::I32);
        if mul.op != Op::Mul || !plain(mul) || h.exec != ExecType::U32 {
            return None;
        }
        let unsigned = |s: &Src| matches!(s, Src::Reg { ty: Type::Ud, modifier: Modifier::None, .. });
        let lowers = [h.src[0], h.src[1]].map(|src| Dwords { src, reader: mulh.min(product) });
        let both = |(d, s): (&Dwords, &Src)| are_same_bytes(&d.src, s) && unsigned(&d.src) && view.stays(d);
        if !lowers.iter().zip(&mul.src).all(both) {
            return None;
        }
        // What the upper dword of each factor is multiplied by is the lower one of the other.
        let mut uppers: [Option<Dwords>; 2] = [None; 2];
        for product in upper.products {
            let src = p.code[product as usize].src;
            if src[..2].iter().any(|s| view.is_zero(s)) {
                continue;
            }
            let of = [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)];
            let (factor, other) = of.into_iter().find_map(|(factor, lower, other)| {
                let fits = uppers[factor].is_none() && are_same_bytes(&src[lower], &lowers[1 - factor].src);
                (fits && view.stays(&Dwords { src: src[lower], reader: product })).then_some((factor, other))
            })?;
            uppers[factor] = Some(Dwords { src: src[other], reader: product }).filter(|d| view.stays(d));
            uppers[factor]?;
        }
        let factor = |n: usize| view.factor(lowers[n], uppers[n]);
        Some(Product { lower, to, factors: [factor(0)?, factor(1)?] })
    }

    fn instruction(&self, p: &ProgramParts, pc: Pc) -> Inst {
        let [a, b] = self.factors;
        Inst {
            op: Op::Mul,
            exec: ExecType::I64,
            dst: Dst::Reg { offset: self.to, ty: Type::Q, stride: 1, sat: false },
            src: [a, b, Src::None, Src::None],
            ..p.code[pc as usize]
        }
    }
}

/// What is before an instruction in its block.
pub(super) struct View<'a> {
    pub p: &'a ProgramParts,
    pub blocks: &'a Blocks,
    pub at: Pc,
}

impl View<'_> {
    /// The quads whose upper half the last instruction joins to the lower one, which nobody reads in between.
    pub fn joined_quads(&self) -> Option<JoinedQuads> {
        let i = &self.p.code[self.at as usize];
        let stride = if i.channels == 1 { 1 } else { 2 };
        let half = |i: &Inst| match i.dst {
            Dst::Reg { offset, ty: Type::D | Type::Ud, stride: s, sat: false }
                if s == stride || i.channels == 1 =>
            {
                Some(offset)
            }
            _ => None,
        };
        if i.op != Op::Mov || i.pred != Pred::default() {
            return None;
        }
        let to = half(i)?.checked_sub(4).filter(|to| to.is_multiple_of(8))?;
        let quads = to..to + 8 * u32::from(i.channels);
        let lower = self
            .writer(quads.clone(), self.at)
            .filter(|l| self.writes_same_channels(*l) && !self.reads(quads, *l))?;
        let l = &self.p.code[lower as usize];
        if l.op != Op::Mov || half(l) != Some(to) {
            return None;
        }
        let halves = [(l, lower), (i, self.at)].map(|(i, reader)| Dwords { src: i.src[0], reader });
        Some(JoinedQuads { lower, to, halves })
    }

    /// The last instruction before another one that writes any of these bytes.
    pub fn writer(&self, bytes: Range<RegOffset>, before: Pc) -> Option<Pc> {
        let near = (before.saturating_sub(FAR)..before).rev();
        let mut here = near.take_while(|pc| self.blocks.same(*pc, self.at));
        here.find(|pc| {
            let i = &self.p.code[*pc as usize];
            let mut writes = false;
            i.writes(self.p, &mut |t| {
                let r = range_of_access(&t, i.channels, self.p);
                writes |= r.start < bytes.end && bytes.start < r.end;
            });
            writes
        })
    }

    /// Does anything behind an instruction read any of these bytes before the last one?
    fn reads(&self, bytes: Range<RegOffset>, behind: Pc) -> bool {
        (behind + 1..self.at).any(|pc| {
            let i = &self.p.code[pc as usize];
            let mut reads = false;
            i.reads(self.p, &mut |t| {
                let r = range_of_access(&t, i.channels, self.p);
                reads |= r.start < bytes.end && bytes.start < r.end;
            });
            reads
        })
    }

    /// Does an instruction write for the channels that the last one writes for?
    pub fn writes_same_channels(&self, pc: Pc) -> bool {
        let (i, last) = (&self.p.code[pc as usize], &self.p.code[self.at as usize]);
        (i.channels, i.first, i.no_mask, i.function)
            == (last.channels, last.first, last.no_mask, last.function)
            && i.pred == Pred::default()
            && i.dst2 == 0
    }

    /// The bytes of dwords, if these are integers as they are: one for each channel, or one for all.
    fn bytes(&self, s: &Src) -> Option<Range<RegOffset>> {
        let n = u32::from(self.p.code[self.at as usize].channels);
        match *s {
            Src::Reg { offset, ty: Type::D | Type::Ud, shape, strides, modifier: Modifier::None, .. } => {
                match shape {
                    Shape::Contiguous => Some(offset..offset + 4 * n),
                    _ if strides.step(n) == Some(0) => Some(offset..offset + 4),
                    _ if strides.step(n) == Some(2) => Some(offset..offset + 8 * n - 4),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Are dwords the same at the last instruction as where they were read?
    fn stays(&self, d: &Dwords) -> bool {
        let Src::Reg { constant, .. } = d.src else { return false };
        let changed = |bytes| self.writer(bytes, self.at).is_some_and(|w| w >= d.reader);
        constant || self.at - d.reader < FAR && self.bytes(&d.src).is_some_and(|bytes| !changed(bytes))
    }

    /// The instruction that makes dwords, one for each channel of the last one.
    fn made(&self, d: Dwords) -> Option<Pc> {
        let bytes = self.bytes(&d.src)?;
        let pc = self.writer(bytes.clone(), d.reader).filter(|pc| self.writes_same_channels(*pc))?;
        let Dst::Reg { offset, ty: Type::D | Type::Ud, stride: 1, sat: false } = self.p.code[pc as usize].dst
        else {
            return None;
        };
        let n = u32::from(self.p.code[pc as usize].channels);
        (bytes == (offset..offset + 4 * n)).then_some(pc)
    }

    /// The same, past moves.
    pub fn definition_past_moves(&self, d: Dwords, depth: u32) -> Option<Pc> {
        let pc = self.made(d)?;
        let i = &self.p.code[pc as usize];
        match i.op {
            Op::Mov if depth > 0 => {
                self.definition_past_moves(Dwords { src: i.src[0], reader: pc }, depth - 1)
            }
            _ => Some(pc),
        }
    }

    fn add_up(&self, d: Dwords, depth: u32, all: &mut Upper) -> Option<()> {
        let pc = self.definition_past_moves(d, DEEPEST)?;
        let i = &self.p.code[pc as usize];
        match i.op {
            Op::Add if depth > 0 && matches!(i.exec, ExecType::I32 | ExecType::U32) => {
                for src in [i.src[0], i.src[1]] {
                    self.add_up(Dwords { src, reader: pc }, depth - 1, all)?;
                }
                Some(())
            }
            Op::Mulh => all.mulh.replace(pc).is_none().then_some(()),
            Op::Mul if matches!(i.exec, ExecType::I32 | ExecType::U32) => {
                all.products.push(pc);
                Some(())
            }
            _ => None,
        }
    }

    fn is_zero(&self, s: &Src) -> bool {
        super::fold_addresses::constant(self.p, s) == Some(0)
    }

    /// Quads whose lower and upper dwords are these; where there are no upper ones, the lower ones extended.
    fn factor(&self, lower: Dwords, upper: Option<Dwords>) -> Option<Src> {
        let Some(upper) = upper else {
            let Src::Reg { ty, strides, .. } = lower.src else { return None };
            let n = u32::from(self.p.code[self.at as usize].channels);
            return (ty == Type::Ud && strides.step(n).is_some_and(|s| s < 2)).then_some(lower.src);
        };
        self.quads(lower, upper)
    }

    /// Quads whose lower and upper dwords these are: one for each channel, or one for all.
    pub fn quads(&self, lower: Dwords, upper: Dwords) -> Option<Src> {
        let n = u32::from(self.p.code[self.at as usize].channels);
        let scalar = |d: &Dwords| match d.src {
            Src::Reg { offset, strides, constant: false, .. } => {
                (n > 1 && strides.step(n) == Some(0) && self.bytes(&d.src).is_some() && self.stays(d))
                    .then_some(offset)
            }
            _ => None,
        };
        if let (Some(low), Some(high)) = (scalar(&lower), scalar(&upper)) {
            let (strides, shape, modifier) = (Strides::SCALAR, Shape::Scalar, Modifier::None);
            let src = Src::Reg { offset: low, ty: Type::Q, strides, shape, modifier, constant: false };
            return (low.is_multiple_of(8) && high == low + 4).then_some(src);
        }
        let (lower, upper) = (self.half(lower, 0)?, self.half(upper, 4)?);
        (lower == upper).then_some(lower)
    }

    /// Quads from there on, one for each channel of the last instruction.
    pub fn quad(&self, offset: RegOffset) -> Src {
        let (strides, shape) = match self.p.code[self.at as usize].channels {
            1 => (Strides::SCALAR, Shape::Scalar),
            _ => (Strides::CONTIGUOUS, Shape::Contiguous),
        };
        Src::Reg { offset, ty: Type::Q, strides, shape, modifier: Modifier::None, constant: false }
    }

    /// The quads that dwords are a half of, as they are at the last instruction still: the earliest ones, which more is known of.
    fn half(&self, mut d: Dwords, at: u32) -> Option<Src> {
        let n = u32::from(self.p.code[self.at as usize].channels);
        let mut found = None;
        for _ in 0..DEEPEST {
            let Src::Reg { offset, strides: region, constant: false, .. } = d.src else { break };
            let whole = if n == 1 { Some(2) } else { region.step(n) };
            let quads = offset.checked_sub(at).filter(|q| q.is_multiple_of(8) && whole == Some(2));
            if let Some(offset) = quads.filter(|_| self.stays(&d)) {
                found = Some(self.quad(offset));
            }
            let Some(from) = self.copied(d) else { break };
            d = from;
        }
        found
    }

    /// What a move copies to dwords; of a scalar, also one of both of its halves.
    fn copied(&self, d: Dwords) -> Option<Dwords> {
        let copies = |pc: &Pc| self.p.code[*pc as usize].op == Op::Mov;
        if let Some(pc) = self.made(d).filter(copies) {
            return Some(Dwords { src: self.p.code[pc as usize].src[0], reader: pc });
        }
        let bytes = self.bytes(&d.src).filter(|b| b.len() == 4)?;
        let pc = self.writer(bytes.clone(), d.reader).filter(copies)?;
        let i = &self.p.code[pc as usize];
        let Dst::Reg { offset: to, ty: Type::D | Type::Ud, stride: 1, sat: false } = i.dst else {
            return None;
        };
        let both = (i.channels, i.first, i.no_mask, i.pred) == (2, 0, true, Pred::default());
        let Src::Reg { offset: from, ty: Type::D | Type::Ud, shape: Shape::Contiguous, .. } = i.src[0] else {
            return None;
        };
        let Src::Reg { strides, shape, .. } = d.src else { return None };
        let half = bytes.start.checked_sub(to).filter(|half| both && [0, 4].contains(half))?;
        let src = Src::Reg {
            offset: from + half,
            ty: Type::Ud,
            strides,
            shape,
            modifier: Modifier::None,
            constant: false,
        };
        self.bytes(&i.src[0])?;
        Some(Dwords { src, reader: pc })
    }
}

/// Are the operands the same bytes, whatever sign they are said to have?
fn are_same_bytes(a: &Src, b: &Src) -> bool {
    match (*a, *b) {
        (Src::Reg { offset: a, strides: s, .. }, Src::Reg { offset: b, strides: t, .. }) => (a, s) == (b, t),
        _ => false,
    }
}
