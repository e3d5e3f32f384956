//! Functions that all work-items of a sub-group or group have to come to, as kernels that were compiled for checks tell of
//! them (OpenCL C, 6.15.16 and 6.15.19).
//!
//! Compiled code goes on with those that are there, and so do devices; what comes of it is undefined.

use std::collections::HashMap;

use envisa_machine::check_reports::{self, FIELDS, ReportHeader, ReportedAccess};
use envisa_machine::thread::{Machine, Mask};

use super::{Checks, FindingKind, barriers};

/// Numbers of work-items of one, two or three dimensions: the first is the last field.
type From = [u64; FIELDS - 1];

/// The broadcasts of the group that runs.
#[derive(Debug, Default)]
pub(super) struct Broadcasts {
    /// By the thread and the instruction: the channels that came to the broadcast that is running, and how many came before.
    threads: HashMap<(u32, u32), (Mask, u32)>,
    /// By the instruction, which broadcast of it, and the thread if it is one of a sub-group: from whom.
    from: HashMap<(u32, u32, u32), From>,
}

impl Broadcasts {
    /// A thread starts, as the first of its group or not.
    pub fn start(&mut self, first: bool) {
        if first && !self.from.is_empty() {
            *self = Broadcasts::default();
        }
    }

    /// A channel comes to a broadcast from somebody; gives whom another one named, if that is another.
    fn differs(&mut self, (pc, thread, channel): (u32, u32, u32), own: bool, from: From) -> Option<From> {
        let (came, nth) = self.threads.entry((thread, pc)).or_default();
        if *came >> channel & 1 != 0 {
            (*came, *nth) = (0, *nth + 1);
        }
        *came |= 1 << channel;
        let whose = if own { thread } else { u32::MAX };
        let first = *self.from.entry((pc, *nth, whose)).or_insert(from);
        (first != from).then_some(first)
    }
}

impl Checks {
    /// Channels of a thread come to what all work-items of the sub-group have to come to; or of the group, as the bound says.
    pub(super) fn check_collective(&mut self, m: &Machine<'_>, pc: u32, noted: Mask, bound: u32) {
        let code = m.env.program.code().get(pc as usize);
        // An instruction may be of some channels only, and others have one of their own.
        let here = code.filter(|i| i.channels > 1 && !i.no_mask);
        let of = here.map_or(Mask::MAX, |i| {
            let all = if i.channels >= 32 { Mask::MAX } else { (1 << i.channels) - 1 };
            all << i.first
        });
        let all = m.t.dispatch;
        let came = m.t.mask & all & (noted | !of);
        if came != all {
            let subject = || {
                let (came, all) = (came.count_ones(), all.count_ones());
                match bound {
                    check_reports::BARRIER => barriers::describe_missing(came, all),
                    check_reports::OF_GROUP => format!(
                        "only {came} of the {all} work-items of a sub-group come to a function that all of the group have to call"
                    ),
                    _ => format!(
                        "only {came} of the {all} work-items of a sub-group come to a function that all of them have to call"
                    ),
                }
            };
            if bound != 0 {
                self.short.insert(m.t.index, m.t.mask);
            }
            let missing = (all & !came).trailing_zeros();
            self.note(m, pc, FindingKind::DivergentBarrier, missing, subject).absent = true;
        }
    }

    /// A sub-group moves a block: what its work-items move of it has to be in one buffer, if its start is.
    pub(super) fn block(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        channel: u32,
        what: &ReportHeader,
        fields: &[u64; FIELDS],
    ) {
        let (most, elements, address) = (fields[1], fields[2], fields[FIELDS - 1]);
        let there = u64::from(m.t.dispatch.count_ones());
        let bytes = (elements.saturating_sub(1) * most + there) * u64::from(what.bytes);
        let Some((_, range)) = m.env.memory.allocation_of(address) else { return };
        let end = address.saturating_add(bytes);
        if end <= range.end {
            return;
        }
        let subject = || {
            let does = if what.does == ReportedAccess::Writes { "writes" } else { "reads" };
            let name = m.env.memory.nearest(address).map_or("memory", |(a, _)| m.env.names.of(a));
            let (over, has) = (end - range.end, range.end - range.start);
            format!("{does} a block of {bytes} bytes, {over} of them past the end of {name}, which has {has}")
        };
        self.note(m, pc, FindingKind::OutOfBounds, channel, subject);
    }

    /// A channel tells whose value it is given by a broadcast in its sub-group or group.
    pub(super) fn broadcasts(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        channel: u32,
        (of_sub_group, fields): (bool, &[u64; FIELDS]),
    ) {
        let mut from = [0; FIELDS - 1];
        from.copy_from_slice(&fields[1..]);
        let Some(first) = self.broadcasts.differs((pc, m.t.index, channel), of_sub_group, from) else {
            return;
        };
        let number = |from: From| match from {
            [0, 0, .., x] => x.to_string(),
            [y, z, .., x] => format!("({x}, {y}, {z})"),
        };
        let subject = || {
            let whole = if of_sub_group { "sub-group" } else { "group" };
            format!(
                "a broadcast from work-item {}, while other work-items of the {whole} broadcast from work-item {}",
                number(from),
                number(first)
            )
        };
        self.note(m, pc, FindingKind::DivergentBarrier, channel, subject);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(x: u64) -> From {
        let mut from = [0; FIELDS - 1];
        from[FIELDS - 2] = x;
        from
    }

    #[test]
    fn the_nth_broadcasts_of_threads_belong_together() {
        let mut all = Broadcasts::default();
        // Two threads of two channels, and a broadcast in a loop.
        for thread in 0..2 {
            for round in 0..3 {
                for channel in 0..2 {
                    assert_eq!(all.differs((7, thread, channel), false, of(round)), None);
                }
            }
        }
        assert_eq!(all.differs((7, 2, 0), false, of(1)), Some(of(0)));
        // Sub-groups each have their own.
        assert_eq!(all.differs((9, 0, 0), true, of(1)), None);
        assert_eq!(all.differs((9, 1, 0), true, of(2)), None);
        assert_eq!(all.differs((9, 1, 1), true, of(3)), Some(of(2)));
        all.start(true);
        assert_eq!(all.differs((7, 2, 0), false, of(1)), None);
    }
}
