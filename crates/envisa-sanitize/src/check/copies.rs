//! Asynchronous copies of a group (OpenCL C, 6.13.10), as kernels that were compiled for checks tell of them.
//!
//! All work-items of a group have to come to a copy, with the same arguments. What it accesses is ordered after what a
//! barrier ordered before it, and before nothing until its event is waited for: see [`Group`](super::races_in_group::Group).

use std::collections::BTreeSet;

use envisa_machine::check_reports::{ALL_EVENTS, FIELDS};
use envisa_machine::thread::{Machine, Mask};

use super::{Checks, FindingKind};

/// The copies of the group that runs.
#[derive(Debug, Default)]
pub(super) struct Copies {
    all: Vec<Copy>,
    threads: Vec<Mine>,
    /// A thread that came to the kernel's end, and how many copies it had begun.
    ended: Option<(u32, usize)>,
}

#[derive(Debug)]
struct Copy {
    pc: u32,
    event: u64,
    arguments: [u64; FIELDS - 1],
}

/// What a thread knows of copies.
#[derive(Debug, Default)]
struct Mine {
    begun: usize,
    /// The channels that came to the one that runs.
    running: Option<Mask>,
    waited: BTreeSet<usize>,
    ended: Mask,
}

/// What differs, in the order of the fields.
const ARGUMENTS: [&str; FIELDS - 1] = ["destination", "source", "number of elements", "stride", "event"];

impl Copies {
    /// A thread starts, as the first of its group or not.
    pub fn start(&mut self, thread: u32, first: bool) {
        if first && !(self.all.is_empty() && self.threads.is_empty()) {
            *self = Copies::default();
        }
        if let Some(mine) = self.threads.get_mut(thread as usize) {
            *mine = Mine::default();
        }
    }

    fn mine(&mut self, thread: u32) -> &mut Mine {
        let t = thread as usize;
        if self.threads.len() <= t {
            self.threads.resize_with(t + 1, Mine::default);
        }
        &mut self.threads[t]
    }
}

impl Checks {
    /// A channel, of those that came to a copy at once, tells of it: its number, and the fields of its report.
    pub(super) fn copy_begins(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        (channel, came): (u32, Mask),
        (number, fields): (u32, &[u64; FIELDS]),
    ) {
        let mut arguments = [0; FIELDS - 1];
        arguments.copy_from_slice(&fields[1..]);
        let given = arguments[FIELDS - 2];
        let event = if given == 0 { u64::from(number) } else { given };
        let mine = self.copies.mine(m.t.index);
        let begins = mine.running.is_none();
        *mine.running.get_or_insert(0) |= came;
        mine.begun += usize::from(begins);
        let n = mine.begun - 1;
        if begins {
            // A work-item that is alone has no others whose part of the copy it would have to wait for.
            let alone = m.t.index == 0 && m.t.dispatch.count_ones() == 1;
            self.group.copy_begins(m.t.index, n, alone);
        }
        let Some(first) = self.copies.all.get(n) else {
            self.copies.all.push(Copy { pc, event, arguments });
            return;
        };
        let differs = first.arguments.iter().zip(&arguments).position(|(a, b)| a != b);
        if begins && first.pc != pc {
            let subject =
                || "an asynchronous copy, while another thread of the group is at another one".to_owned();
            self.note(m, pc, FindingKind::DivergentBarrier, channel, subject);
        } else if let Some(at) = differs {
            let (theirs, ours) = (first.arguments[at], arguments[at]);
            let subject = || {
                format!(
                    "an asynchronous copy, which all work-items of the group make together, has another {} here than for \
                     others: {ours:#x}, not {theirs:#x}",
                    ARGUMENTS[at]
                )
            };
            self.note(m, pc, FindingKind::AsyncCopy, channel, subject);
        }
    }

    /// A thread has done its part of a copy.
    pub(super) fn copy_ends(&mut self, m: &Machine<'_>, pc: u32) {
        self.group.copy_ends(m.t.index);
        let Some(came) = self.copies.mine(m.t.index).running.take() else { return };
        let all = m.t.dispatch;
        if came != all {
            let subject = || {
                let (came, all) = (came.count_ones(), all.count_ones());
                format!(
                    "only {came} of the {all} work-items of a sub-group come to an asynchronous copy of the group"
                )
            };
            let missing = (all & !came).trailing_zeros();
            self.note(m, pc, FindingKind::DivergentBarrier, missing, subject).absent = true;
        }
    }

    /// A thread waits for an event.
    pub(super) fn waits(&mut self, m: &Machine<'_>, pc: u32, channel: u32, event: u64) {
        let begun = self.copies.mine(m.t.index).begun;
        let known: Vec<usize> = (0..begun)
            .filter(|n| event == ALL_EVENTS || self.copies.all.get(*n).is_some_and(|c| c.event == event))
            .collect();
        if known.is_empty() && event != ALL_EVENTS {
            let subject =
                || "waits for an event that is none of an asynchronous copy of this group".to_owned();
            self.note(m, pc, FindingKind::AsyncCopy, channel, subject);
        }
        for n in known {
            self.copies.mine(m.t.index).waited.insert(n);
            self.group.copy_is_known(m.t.index, n);
        }
    }

    /// Channels of a thread come to the kernel's end.
    pub(super) fn kernel_ends(&mut self, m: &Machine<'_>, _: u32, channels: Mask) {
        let thread = m.t.index;
        let mine = self.copies.mine(thread);
        mine.ended |= channels;
        if mine.ended != m.t.dispatch {
            return;
        }
        let begun = mine.begun;
        let open: Vec<usize> = (0..begun).filter(|n| !mine.waited.contains(n)).collect();
        for n in open {
            let Some(pc) = self.copies.all.get(n).map(|c| c.pc) else { continue };
            let subject = || "an asynchronous copy that is not waited for before the kernel ends".to_owned();
            self.note(m, pc, FindingKind::AsyncCopy, 0, subject);
        }
        let (other, theirs) = *self.copies.ended.get_or_insert((thread, begun));
        if theirs != begun
            && let Some(pc) = self.copies.all.get(theirs.min(begun)).map(|c| c.pc)
        {
            let without = if theirs < begun { other } else { thread };
            let subject = || {
                format!(
                    "an asynchronous copy that thread {without} of the group does not come to, and others do"
                )
            };
            self.note(m, pc, FindingKind::DivergentBarrier, 0, subject);
        }
    }
}
