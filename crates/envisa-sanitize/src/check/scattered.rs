//! Messages whose channels access dwords here and there: what they have in common is found once, and the dwords
//! are looked at one by one. The same is found as row by row.

use envisa_lower::{Message, Simt};
use envisa_machine::thread::{AccessKind, AccessSpace, Machine};

use super::Checks;
use super::adjacent_accesses::Row;
use super::interest::Class;
use super::memory_content::RowHome;
use super::order_by_atomics::Accessing;
use super::races_between_groups::{Accessor, LINE};
use super::races_in_group::{ChannelRange, CurrentAccesses, RaceAccess, Run, SLM, several_channels};

/// Fewest runs of dwords side by side that are looked at so, and most dwords of each on average: a line of them, which is
/// looked at as one.
const RUNS: usize = 4;
const EACH: usize = LINE / 4;

/// A dword that channels access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dword {
    /// Where it is.
    pub key: u64,
    /// What is stored there.
    pub value: u32,
    /// Whose it is: a channel, or several.
    pub by: u8,
    /// The channel that is told of.
    told: u8,
}

/// Do two of these, which are stored, lie at one place? Yes also where it only may be.
fn collide(dwords: &[Dword]) -> bool {
    let mut seen = [0u64; 16];
    dwords.iter().any(|d| {
        let at = (d.key >> 2 ^ d.key >> 12 ^ d.key >> 22) as usize;
        let (word, bit) = (&mut seen[at / 64 % 16], 1 << (at % 64));
        let twice = *word & bit != 0;
        *word |= bit;
        twice
    })
}

impl Checks {
    /// Looks at what a message accessed; false if it is none of these, or not where it is meant to be, and nothing is
    /// done.
    pub(super) fn scattered(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) -> bool {
        let Message::Simt(s) = message else { return false };
        if m.accesses.rows().len() < RUNS || !self.is_plain(m, pc, s) {
            return false;
        }
        let mut dwords = std::mem::take(&mut self.dwords);
        let done = self.collect(m, pc, (message, s, first), &mut dwords)
            && self.all(m, pc, (message, s, first), &dwords);
        self.dwords = dwords;
        done
    }

    fn all(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        (message, s, first): (&Message, &Simt, u32),
        dwords: &[Dword],
    ) -> bool {
        let hull = dwords.iter().fold((u64::MAX, 0), |(a, b), d| (a.min(d.key), b.max(d.key)));
        let local = hull.0 & SLM != 0;
        let class = match local {
            true if self.is_local(m, message, hull) => Class::Watched,
            true => return false,
            false => match self.one_class(m, message, hull) {
                Some(class) => class,
                None => return false,
            },
        };
        if class == Class::Apart
            || class == Class::Quiet && s.write
            || local && !self.local_content(dwords, s.write)
        {
            return false;
        }
        if s.write && collide(dwords) {
            self.conflicts(m, pc, message, first);
        }
        if class == Class::Watched {
            self.race_dwords(m, pc, s, dwords, local);
        }
        true
    }

    /// The dwords that a message's channels access; false if there are others, if they lie side by side, or outside.
    fn collect(
        &self,
        m: &Machine<'_>,
        pc: u32,
        (message, s, first): (&Message, &Simt, u32),
        dwords: &mut Vec<Dword>,
    ) -> bool {
        dwords.clear();
        let (Some(data), all) = (s.data, self.sites.are_all_results_used(pc)) else { return false };
        let (mut runs, mut next) = (0, 0);
        // The single accesses that are one row: where it begins, how many, and whether all read the same.
        let mut together: Option<(u64, u64, bool)> = None;
        for row in m.accesses.rows() {
            let a = &row.first;
            let key = match (a.space, a.place) {
                (AccessSpace::Slm, _) => SLM | a.address,
                (AccessSpace::Flat | AccessSpace::Surface(_), Some(place)) => place,
                _ => return false,
            };
            if a.outside || a.bytes != u32::from(s.element) || key & 3 != 0 {
                return false;
            }
            if row.count == 1 && !all && !self.sites.is_result_used(message, a, row.part) {
                together = None;
                continue;
            }
            together = match (row.count, together) {
                (2.., _) => None,
                (_, Some((start, n, same))) if start == key && !s.write && (same || n == 1) => {
                    let one = dwords.len().saturating_sub(a.bytes as usize / 4);
                    dwords[one..].iter_mut().for_each(|d| d.by = several_channels(d.told));
                    together = Some((start, n + 1, true));
                    continue;
                }
                (_, Some((start, n, false))) if start.wrapping_add(n * u64::from(a.bytes)) == key => {
                    Some((start, n + 1, false))
                }
                _ => Some((key, 1, false)),
            };
            let several = row.same && row.count > 1;
            let channels = match row.parts {
                _ if row.same => 1,
                0 | 1 => row.count,
                parts => row.count / parts,
            };
            let mut key = key;
            for n in 0..channels {
                let told = a.channel.wrapping_add(n as u8);
                let by = if several { several_channels(told) } else { told };
                let channel = u32::from(told).saturating_sub(first);
                for part in row.part..row.part + row.parts.max(1) {
                    if !all && !self.sites.is_result_used(message, a, part) {
                        key = key.wrapping_add(u64::from(a.bytes));
                        continue;
                    }
                    let register = data + part * s.component_stride + channel * u32::from(s.slot);
                    for byte in (0..a.bytes).step_by(4) {
                        let value = if s.write { m.t.regs.peek(register + byte) } else { 0 };
                        runs += usize::from(key != next);
                        dwords.push(Dword { key, value, by, told });
                        key = key.wrapping_add(4);
                        next = key;
                    }
                }
            }
        }
        runs >= RUNS && dwords.len() < EACH * runs
    }

    /// Is it one of these, of whose channels nothing is wanted but the usual?
    fn is_plain(&self, m: &Machine<'_>, pc: u32, s: &Simt) -> bool {
        let facts = &self.facts;
        let whole = matches!((s.element, s.slot), (4, 4) | (8, 8)) && !s.upper;
        let vector = || {
            let i = m.env.program.code().get(pc as usize);
            i.is_none_or(|i| i.channels == 1 || i.no_mask && u32::from(i.channels) < m.env.program.simd())
        };
        whole
            && !(self.pending || self.group.is_changing(m.t.index))
            && (self.all_read || !s.write)
            && !(facts.hints || facts.in_step || facts.program.at_length)
            && !vector()
    }

    /// Are all dwords from the first to the last where a message that accesses some of them may?
    fn is_local(&self, m: &Machine<'_>, message: &Message, (low, high): (u64, u64)) -> bool {
        let Some(first) = m.accesses.rows().first() else { return false };
        let (mut access, count) = (first.first, (high - low) / 4 + 1);
        access.address = low & !SLM;
        let row = Row { access, from: 0, count: count as usize, part: 0, same: false, one: true, parts: 1 };
        self.is_inside(m, message, &[row])
    }

    /// What all dwords from the first to the last are looked at for; `None` if not for the same, or if what they hold
    /// is followed.
    fn one_class(&mut self, m: &Machine<'_>, message: &Message, (low, high): (u64, u64)) -> Option<Class> {
        let mut access = m.accesses.rows().first()?.first;
        access.place = Some(low);
        let count = usize::try_from((high - low) / 4 + 1).ok()?;
        let row = Row { access, from: 0, count, part: 0, same: false, one: true, parts: 1 };
        let constant = access.kind != AccessKind::Read && self.meets_constant(&row);
        if constant || !matches!(self.contents.row_home(m, message, &row), RowHome::None) {
            return None;
        }
        let class = self.class(m, low);
        (self.last.0.contains(&low) && self.last.0.contains(&high)).then_some(class)
    }

    /// Has shared local memory content that is read there? What is stored gives it some.
    fn local_content(&mut self, dwords: &[Dword], write: bool) -> bool {
        let offsets = dwords.iter().map(|d| d.key & !SLM);
        if write {
            offsets.for_each(|at| self.contents.set_local_dword(at));
            return true;
        }
        offsets.fold(true, |all, at| all & self.contents.has_local_dword(at))
    }

    fn race_dwords(&mut self, m: &Machine<'_>, pc: u32, s: &Simt, dwords: &[Dword], local: bool) {
        let access = if s.write { RaceAccess::Write } else { RaceAccess::Read };
        let now =
            CurrentAccesses { thread: m.t.index, pc, access, loads: false, compares: false, images: false };
        let mut found = Vec::new();
        self.group.dwords(dwords, now, |n, race| found.push((n, race)));
        for (n, race) in found {
            self.race(m, (pc, access, dwords[n].told), dwords[n].key, race);
        }
        let number = self.sites.number(m.group.id);
        let Some(who) = Accessor::new(number, m.t.index, pc).filter(|_| !local) else { return };
        let told = self.group.has_acquired();
        if !told {
            self.launch.dwords(dwords, who, access);
        }
        if self.facts.program.hands_over() {
            for d in dwords {
                let values = &d.value.to_le_bytes();
                let run = Run { key: d.key, bytes: 4, by: ChannelRange::single(d.by), values };
                let by = Accessing { who, told, clock: self.group.clock(m.t.index) };
                self.handed.access(&run, by, access);
            }
        }
    }
}
