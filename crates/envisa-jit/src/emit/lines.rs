//! Lines that locked operations will want, fetched iterations before.
//!
//! A locked operation waits for its line, and little behind it goes on: a loop of them takes the time of all their
//! misses, one after the other. Where the places are read from memory themselves, in rows along which the loop goes
//! (edges of a graph, keys to be put into a table), the next ones are read early, and their lines fetched: a line that
//! is fetched for nothing, or at a place that there is not, changes nothing.

use std::ops::RangeInclusive;

use envisa_lower::analysis::{Cells, Flow};
use envisa_lower::{Message, Op, Pc, Program, Space, Src};

use super::each::{Array, PLACE};
use super::memory::{Form, PTR, form};
use super::streams::{gather, loops};
use super::*;
use crate::layout::{SITE, site};
use crate::sites::gather_of;

/// How many iterations.
const AHEAD: i32 = 2;

/// A load of places that a locked operation goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub pc: Pc,
    /// From one iteration's index to the next one's, as native code counts them.
    step: i32,
    /// The operation's site.
    site: u32,
    /// Its places are multiplied by this.
    scale: u32,
}

/// A program's loads of this kind.
pub(crate) fn lines(p: &Program, flow: &Flow, cells: &Cells) -> Vec<Line> {
    let mut all = Vec::new();
    for at in loops(p, flow) {
        for pc in at.clone() {
            let (Some(s), channels) = (gather(p, pc), p.code()[pc as usize].channels) else { continue };
            let (Some(data), Ok(of)) = (s.data, form(p, s)) else { continue };
            let plain =
                |f: Form| !f.wide && f.before == 0 && f.added.is_none() && f.and.is_none() && f.scale <= 8;
            if !matches!(channels, 16 | 32) || !plain(of) {
                continue;
            }
            let Some(step) = step(p, cells, &at, s.address) else { continue };
            let locked = at.clone().filter(|later| *later > pc).find_map(|later| {
                let i = &p.code()[later as usize];
                match p.messages().get(i.aux as usize) {
                    Some(Message::Atomic(a)) if i.op == Op::Message && a.address == data => {
                        let to = form(p, &gather_of(a)).ok()?;
                        (plain(to) && !matches!(a.space, Space::Slm)).then_some((i.aux, to.scale))
                    }
                    _ => None,
                }
            });
            let Some((site, scale)) = locked else { continue };
            if !all.iter().any(|l: &Line| l.pc == pc) {
                all.push(Line { pc, step, site, scale });
            }
        }
    }
    all
}

/// How far a loop goes on in an iteration with what begins there, if by one addition of a constant.
fn step(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>, offset: RegOffset) -> Option<i32> {
    let cell = cells.at(offset)?;
    let mut writers = at.clone().filter(|pc| {
        let mut found = false;
        cells.accesses(p.parts(), *pc, &mut |a| found |= a.write && a.cell == cell);
        found
    });
    let (Some(pc), None) = (writers.next(), writers.next()) else { return None };
    let i = &p.code()[pc as usize];
    match (i.op, i.dst, i.src[0], i.src[1]) {
        (Op::Add, Dst::Reg { offset: to, .. }, Src::Reg { offset: from, .. }, _)
            if (to, from) == (offset, offset) =>
        {
            crate::shape::constant(p, &i.src[1]).and_then(|n| i32::try_from(n).ok())
        }
        _ => None,
    }
}

/// Most lines of a load that are fetched for the next thread.
const MOST_LINES: u32 = 32;

/// Loads of loops in which each channel goes along a row of its own, by where their loop begins: those that no other loop
/// contains.
pub(crate) fn rows(p: &Program, flow: &Flow) -> Vec<(Pc, Pc)> {
    let all = loops(p, flow);
    let inner = |at: &RangeInclusive<Pc>| {
        all.iter().any(|other| other != at && other.contains(at.start()) && other.contains(at.end()))
    };
    let outer = all.iter().filter(|at| !inner(at));
    outer
        .flat_map(|at| at.clone().map(|pc| (*at.start(), pc)))
        .filter(|(_, pc)| {
            let channels = p.code()[*pc as usize].channels;
            gather(p, *pc).is_some_and(|s| matches!(s.space, Space::Flat | Space::Bti(_)))
                && matches!(channels, 16 | 32)
        })
        .collect()
}

impl Emit<'_> {
    /// Fetches what the next thread's channels will load first in a loop that begins here, where they go along rows that
    /// begin one after another, not next to each other: what a thread waits for is the beginnings of its rows, as the CPU's
    /// prefetchers follow none of so many. The next thread is taken to go on where this one's rows end; what is fetched may
    /// be nothing's.
    pub(super) fn fetch_rows(&mut self, head: Pc) {
        for k in 0..self.rows.len() {
            let (at, pc) = self.rows[k];
            let i = *self.inst(pc);
            let Some(s) = gather(self.p, pc).filter(|_| at == head) else { continue };
            let (Ok(form), Some(first)) = (form(self.p, s), self.first(s.address)) else { continue };
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
        self.lines.iter().find(|l| l.pc == pc).copied()
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
    ) -> Result<(), Why> {
        let i = *self.inst(pc);
        for (k, (part, v)) in parts.iter().zip(index).enumerate() {
            self.lay_out(part.width, Array::Places.all().plus(64 * k as u32), *v);
        }
        let body = |e: &mut Self| {
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
            e.a.rm(Code::Mov_r32_rm32, Register::EDX, Mem::indexed(PTR, PLACE[1], scale, 0));
            e.fetch_lines(line, &i, scale, Register::EDX);
            e.collect(parts, Register::EDX);
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

    /// Fetches what the lane's place, just loaded, and the next iterations' stand for. The lane's index is left alone.
    fn fetch_lines(&mut self, line: &Line, i: &Inst, scale: u32, value: Register) {
        let (esi, rsi) = (Register::ESI, Register::RSI);
        let of = |field: u32| Mem::at(SITES, line.site * SITE + field);
        self.a.rm(Code::Mov_r64_rm64, Register::R10, of(site::POINTER));
        let fetched = Mem::indexed(Register::R10, rsi, line.scale, 0);
        self.a.rr(Code::Mov_r32_rm32, esi, value);
        self.a.rm(Code::Sub_r32_rm32, esi, of(site::LOW));
        self.a.m(Code::Prefetchw_m8, fetched);
        for ahead in 1..=AHEAD {
            // That iteration's index, where it passes.
            self.a.rr(Code::Mov_r32_rm32, esi, PLACE[0]);
            self.a.ri(Code::Add_rm32_imm32, esi, line.step.wrapping_mul(ahead));
            self.a.rm(Code::Cmp_r32_rm32, esi, self.site(i, site::COUNT));
            self.a.rr(Code::Cmovae_r32_rm32, esi, PLACE[0]);
            self.a.rm(Code::Mov_r32_rm32, esi, Mem::indexed(PTR, rsi, scale, 0));
            self.a.rm(Code::Sub_r32_rm32, esi, of(site::LOW));
            self.a.m(Code::Prefetchw_m8, fetched);
        }
    }
}
