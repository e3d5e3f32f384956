//! Lines that locked operations will want, fetched iterations before.
//!
//! A locked operation waits for its line, and little behind it goes on: a loop of them takes the time of all their
//! misses, one after the other. Where the places are read from memory themselves, in rows along which the loop goes
//! (edges of a graph, keys to be put into a table), the next ones are read early, and their lines fetched: a line that
//! is fetched for nothing, or at a place that there is not, changes nothing.

use std::ops::RangeInclusive;

use envisa_lower::analysis::{Cells, Flow};
use envisa_lower::{Message, Op, Pc, Program, Space, Src};

use super::memory::{PTR, address_form};
use super::per_channel::{Array, PLACE};
use super::row_streams::{find_loops, gather};
use super::*;
use crate::context_layout::{SITE, site};
use crate::sites::gather_of;

/// What fetched places are counted from: those of the locked operation, and those of a store.
const BASES: [Register; 2] = [Register::R10, Register::R11];

/// How many iterations, and how many of stores.
const AHEAD: i32 = 2;
const STORES_AHEAD: i32 = 1;

/// Through how many instructions it is looked for what places are made of.
const MOST_STEPS: u32 = 8;

/// A load of places that a locked operation goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub pc: Pc,
    /// From one iteration's index to the next one's, as native code counts them.
    step: i32,
    /// Where the operation goes.
    to: Goes,
    /// Where a store behind it goes, if it does by the same places: the next locked operation waits for all of these, too.
    stored: Option<Goes>,
}

/// Where what is loaded is a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Goes {
    /// The message's site.
    site: u32,
    /// Places are multiplied by this.
    scale: u32,
    /// What is loaded is shifted left by this to be a place.
    shift: u32,
    /// Places have 64 bits; the dwords of the scalar that is added to them to be addresses, if one is.
    wide: bool,
    base: Option<[RegOffset; 2]>,
}

/// A program's loads of this kind.
pub(crate) fn lines(p: &Program, flow: &Flow, cells: &Cells) -> Map<Pc, Line> {
    let mut all = Map::default();
    if !p.messages().iter().any(|m| matches!(m, Message::Atomic(_))) {
        return all;
    }
    for at in find_loops(p, flow) {
        for pc in at.clone() {
            let (Some(s), channels) = (gather(p, pc), p.code()[pc as usize].channels) else { continue };
            let (Some(data), Ok(of)) = (s.data, address_form(p, s)) else { continue };
            let indices = !of.wide && of.and.is_none() && of.scale <= 8 && of.before <= 8;
            if p.code()[pc as usize].first != 0 || !matches!(channels, 16 | 32) || !indices {
                continue;
            }
            let step = step(p, cells, &at, s.address).and_then(|step| step.checked_mul(1 << of.before));
            let Some(step) = step else { continue };
            let later = |from: Pc| at.clone().filter(move |later| *later > from);
            let goes = |later: Pc| Some((later, goes(p, &at, later, data)?));
            let locked = |(pc, _): &(Pc, Goes)| matches!(message(p, *pc), Some(Message::Atomic(_)));
            let Some((atomic, to)) = later(pc).filter_map(goes).find(locked) else { continue };
            let stored = later(atomic).filter_map(goes).find(|g| !locked(g)).map(|g| g.1);
            all.entry(pc).or_insert(Line { pc, step, to, stored });
        }
    }
    all
}

fn message(p: &Program, pc: Pc) -> Option<&Message> {
    let i = p.code().get(pc as usize).filter(|i| i.op == Op::Message)?;
    p.messages().get(i.aux as usize)
}

/// Where a locked operation or a store of a loop goes, if it does by what was loaded.
fn goes(p: &Program, at: &RangeInclusive<Pc>, pc: Pc, data: RegOffset) -> Option<Goes> {
    let (s, space) = match message(p, pc)? {
        Message::Atomic(a) => (gather_of(a), a.space),
        Message::Simt(s) if s.write && s.elements == 1 => (s.clone(), s.space),
        _ => return None,
    };
    let to = address_form(p, &s).ok()?;
    let (shift, base) = address_computation(p, at, s.address, data)?;
    let plain = base.is_none() && to.added.is_none() && to.and.is_none() && to.scale <= 8;
    let alike = to.before == 0 && (to.wide || plain) && !matches!(space, Space::Slm);
    let site = p.code()[pc as usize].aux;
    alike.then_some(Goes { site, scale: to.scale, shift, wide: to.wide, base })
}

/// How places that begin somewhere are made from data that do: shifted left, and a scalar of two dwords added to them, by
/// one addition or, dword by dword, two. What is written to other elements is not looked at: what is fetched is a guess.
fn address_computation(
    p: &Program,
    at: &RangeInclusive<Pc>,
    places: RegOffset,
    data: RegOffset,
) -> Option<(u32, Option<[RegOffset; 2]>)> {
    let writer = |to: RegOffset| {
        at.clone()
            .rev()
            .map(|pc| &p.code()[pc as usize])
            .find(|i| matches!(i.dst, Dst::Reg { offset, .. } if offset == to))
    };
    let (mut now, mut shift, mut base) = (places, 0, None);
    for _ in 0..MOST_STEPS {
        if now == data {
            return Some((shift, base));
        }
        let i = writer(now)?;
        now = match (i.op, scalar_and_other(i)) {
            (Op::Mov, _) => vector(&i.src[0])?,
            (Op::Shl, _) => {
                shift +=
                    u32::try_from(crate::affine_vectors::constant(p, &i.src[1])?).ok().filter(|n| *n < 32)?;
                vector(&i.src[0])?
            }
            (Op::Add | Op::Addc, Some((low, bytes, other))) if base.is_none() => {
                let high = if bytes == 8 { low + 4 } else { upper_addend(&writer, places + 4)? };
                base = Some([low, high]);
                other
            }
            _ => return None,
        };
    }
    None
}

/// The scalar that is added to make upper dwords, which are copied perhaps.
fn upper_addend<'a>(
    writer: &impl Fn(RegOffset) -> Option<&'a Inst>,
    mut now: RegOffset,
) -> Option<RegOffset> {
    for _ in 0..MOST_STEPS {
        let i = writer(now)?;
        match (i.op, scalar_and_other(i)) {
            (Op::Mov, _) => now = vector(&i.src[0])?,
            (Op::Add, Some((high, 4, _))) => return Some(high),
            _ => return None,
        }
    }
    None
}

/// Where a source begins that is different from channel to channel.
fn vector(s: &Src) -> Option<RegOffset> {
    match *s {
        Src::Reg { offset, shape, modifier: Modifier::None, .. } if shape != Shape::Scalar => Some(offset),
        _ => None,
    }
}

/// Of two sources the one that is a scalar, which no immediate is, with its bytes, and the other one.
fn scalar_and_other(i: &Inst) -> Option<(RegOffset, u32, RegOffset)> {
    let scalar = |s: &Src| match *s {
        Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: false, .. } => {
            matches!(ty.size(), 4 | 8).then_some((offset, ty.size()))
        }
        _ => None,
    };
    let [a, b] = [&i.src[0], &i.src[1]];
    let (s, other) = scalar(a).map(|s| (s, b)).or_else(|| scalar(b).map(|s| (s, a)))?;
    Some((s.0, s.1, vector(other)?))
}

/// How far a loop goes on in an iteration with what begins there, if by one addition of a constant, or to something that
/// is shifted by one.
fn step(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>, offset: RegOffset) -> Option<i32> {
    let i = only_writer(p, cells, at, offset)?;
    match (i.op, i.dst, i.src[0]) {
        (Op::Shl, Dst::Reg { offset: to, .. }, Src::Reg { offset: from, modifier: Modifier::None, .. })
            if to == offset && from != to =>
        {
            let by = crate::affine_vectors::constant(p, &i.src[1]).filter(|n| (0..32).contains(n))?;
            added_constant(p, only_writer(p, cells, at, from)?, from)?
                .checked_mul(1i32.checked_shl(by as u32)?)
        }
        _ => added_constant(p, i, offset),
    }
}

/// What an instruction adds to what begins there, if it does so.
fn added_constant(p: &Program, i: &Inst, offset: RegOffset) -> Option<i32> {
    match (i.op, i.dst, i.src[0]) {
        (Op::Add, Dst::Reg { offset: to, .. }, Src::Reg { offset: from, .. })
            if (to, from) == (offset, offset) =>
        {
            crate::affine_vectors::constant(p, &i.src[1]).and_then(|n| i32::try_from(n).ok())
        }
        _ => None,
    }
}

/// The instruction of a loop that writes what begins there, if there is one only.
fn only_writer<'a>(
    p: &'a Program,
    cells: &Cells,
    at: &RangeInclusive<Pc>,
    offset: RegOffset,
) -> Option<&'a Inst> {
    let cell = cells.at(offset)?;
    let mut writers = at.clone().filter(|pc| {
        let mut found = false;
        cells.accesses(p.parts(), *pc, &mut |a| found |= a.write && a.cell == cell);
        found
    });
    let (Some(pc), None) = (writers.next(), writers.next()) else { return None };
    p.code().get(pc as usize)
}

/// Most lines of a load that are fetched for the next thread.
const MOST_LINES: u32 = 32;

/// Loads of loops in which each channel goes along a row of its own, by where their loop begins: those that no other loop
/// contains. Sorted.
pub(crate) fn rows(p: &Program, flow: &Flow) -> Vec<(Pc, Pc)> {
    let (all, mut first) = (find_loops(p, flow), Pc::MAX);
    // By where they end, the last first: those around one come before it.
    let outer = all.iter().rev().filter(|at| {
        let inner = first <= *at.start();
        first = first.min(*at.start());
        !inner
    });
    let mut rows: Vec<(Pc, Pc)> = outer
        .flat_map(|at| at.clone().map(|pc| (*at.start(), pc)))
        .filter(|(_, pc)| {
            let i = &p.code()[*pc as usize];
            gather(p, *pc).is_some_and(|s| matches!(s.space, Space::Flat | Space::Bti(_)))
                && i.first == 0
                && matches!(i.channels, 16 | 32)
        })
        .collect();
    rows.sort_unstable();
    rows
}

impl Emit<'_> {
    /// Fetches what the next thread's channels will load first in a loop that begins here, where they go along rows that
    /// begin one after another, not next to each other: what a thread waits for is the beginnings of its rows, as the CPU's
    /// prefetchers follow none of so many. The next thread is taken to go on where this one's rows end; what is fetched may
    /// be nothing's.
    pub(super) fn fetch_rows(&mut self, head: Pc) {
        let [from, to] = [head, head + 1].map(|h| self.rows.partition_point(|r| r.0 < h));
        for k in from..to {
            let (_, pc) = self.rows[k];
            let i = *self.inst(pc);
            let Some(s) = gather(self.p, pc) else { continue };
            let (Ok(form), Some(first)) = (address_form(self.p, s), self.first(s.address)) else { continue };
            let Ok(bytes) = u32::try_from(i64::from(first.step) * i64::from(form.scale << form.before))
            else {
                continue;
            };
            let channels = u32::from(i.channels);
            if form.wide || form.scale > 8 || !(8..=1 << 16).contains(&bytes) {
                continue;
            }
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, self.reg(first.at));
            self.a.ri(Code::Add_rm32_imm32, Register::EAX, first.step.wrapping_mul(channels as i32));
            if self.offset(&i, form, Register::EAX).is_err() {
                continue;
            }
            let pointer = self.site(&i, site::POINTER);
            self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
            let step = bytes.max(64);
            for line in 0..(bytes * channels).div_ceil(step).min(MOST_LINES) {
                let m = Mem::indexed(PTR, Register::RAX, form.scale, i64::from(line * step));
                self.a.m(Code::Prefetcht0_m8, m);
            }
        }
    }

    /// What a load of places is for.
    pub(super) fn line(&self, pc: Pc) -> Option<Line> {
        let at_hand = |g: &Goes| g.base.is_none_or(|b| b.iter().all(|at| self.in_memory(*at, 4).is_ok()));
        let line = self.lines.get(&pc).filter(|l| at_hand(&l.to))?;
        Some(Line { stored: line.stored.filter(at_hand), ..*line })
    }

    /// Loads the places of one or two parts into their vectors, lane by lane, and fetches what they and the next ones stand
    /// for.
    pub(super) fn gather_lines(
        &mut self,
        pc: Pc,
        line: &Line,
        parts: &[Part],
        (index, scale): (&[V], u32),
        on: &[Option<K>],
    ) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        for (k, (part, v)) in parts.iter().zip(index).enumerate() {
            self.lay_out(part.width, Array::Places.all().plus(64 * k as u32), *v);
        }
        self.line_base(&line.to, BASES[0]);
        if let Some(stored) = &line.stored {
            self.line_base(stored, BASES[1]);
        }
        let body = |e: &mut Self| {
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
            e.a.rm(Code::Mov_r32_rm32, Register::EDX, Mem::indexed(PTR, PLACE[1], scale, 0));
            e.collect(parts, Register::EDX);
            e.fetch_lines(line, &i, scale, Register::EDX);
            Ok(())
        };
        match *on {
            [low, high] => self.each_of_both([low, high], body)?,
            _ => self.each(&parts[0], on[0], body)?,
        }
        for part in parts {
            self.collected(parts, part);
        }
        Ok(())
    }

    /// Finds what places are counted from, for [`Self::fetch_line`].
    fn line_base(&mut self, goes: &Goes, to: Register) {
        let of = |field: u32| Mem::at(SITES, goes.site * SITE + field);
        self.a.rm(Code::Mov_r64_rm64, to, of(site::POINTER));
        if goes.wide {
            self.a.rm(Code::Sub_r64_rm64, to, of(site::WIDE));
        }
        if let Some([low, high]) = goes.base {
            let [low, high] = [low, high].map(|at| self.reg(at));
            self.a.rm(Code::Mov_r32_rm32, Register::ESI, high);
            self.a.ri(Code::Shl_rm64_imm8, Register::RSI, 32);
            self.a.rr(Code::Add_r64_rm64, to, Register::RSI);
            self.a.rm(Code::Mov_r32_rm32, Register::ESI, low);
            self.a.rr(Code::Add_r64_rm64, to, Register::RSI);
        }
    }

    /// Fetches what the lane's place, just loaded, and the next iterations' stand for. The lane's index is left alone.
    fn fetch_lines(&mut self, line: &Line, i: &Inst, scale: u32, value: Register) {
        let (esi, rsi) = (Register::ESI, Register::RSI);
        for ahead in 0..=AHEAD {
            if ahead > 0 {
                // That iteration's index, where it passes.
                self.a.rr(Code::Mov_r32_rm32, esi, PLACE[0]);
                self.a.ri(Code::Add_rm32_imm32, esi, line.step.wrapping_mul(ahead));
                self.a.rm(Code::Cmp_r32_rm32, esi, self.site(i, site::COUNT));
                self.a.rr(Code::Cmovae_r32_rm32, esi, PLACE[0]);
                self.a.rm(Code::Mov_r32_rm32, value, Mem::indexed(PTR, rsi, scale, 0));
            }
            self.fetch_line(&line.to, BASES[0], value);
            if let Some(stored) = line.stored.filter(|_| ahead <= STORES_AHEAD) {
                self.fetch_line(&stored, BASES[1], value);
            }
        }
    }

    /// Fetches what a loaded dword stands for.
    fn fetch_line(&mut self, goes: &Goes, base: Register, value: Register) {
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, value);
        if goes.shift != 0 {
            self.a.ri(Code::Shl_rm32_imm8, Register::ESI, goes.shift as i32);
        }
        if !goes.wide {
            self.a.rm(Code::Sub_r32_rm32, Register::ESI, Mem::at(SITES, goes.site * SITE + site::LOW));
        }
        self.a.m(Code::Prefetchw_m8, Mem::indexed(base, Register::RSI, goes.scale, 0));
    }
}
