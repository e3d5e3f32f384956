//! When findings arise in a launch that is debugged: at which execution of which instruction.

use crate::finding::Finding;
use crate::kernel::Code;
use crate::launch::Launch;
use crate::run::{check_facts, work_items};
use envisa_machine::dispatch::Prepared;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask};
use envisa_machine::{RunOptions, thread_order::Order};
use envisa_sanitize::{Checks, Key, LaunchFacts};
use std::collections::HashMap;

/// A finding, and the execution of an instruction at which it arose.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FindingPositions {
    /// What was found.
    pub finding: Finding,
    /// The instruction, by program counter.
    pub pc: u32,
    /// How often the finding's thread had executed the instruction before. Of a race between groups, which is only found at
    /// the end, 0.
    pub before: u64,
}

/// Runs a launch with checks and hints, by the interpreter on one host thread. Memory is left as the launch leaves it.
pub(crate) fn find_positions(
    code: &Code,
    launch: &Launch,
    prepared: &Prepared,
    (limit, order): (u64, Order),
) -> Vec<FindingPositions> {
    let facts = LaunchFacts { alone: false, hints: true, ..check_facts(code, launch) };
    let options = RunOptions { jobs: 1, limit, order, ..RunOptions::default() };
    let mut watch = Watch { checks: Checks::new(facts), executed: Vec::new(), at: HashMap::new() };
    envisa_interp::run_observed(&code.executable, prepared, &code.linked, &options, (&mut watch, None));
    let items = work_items(code, launch, prepared);
    let one = |(key, f): (Key, envisa_sanitize::Finding)| FindingPositions {
        pc: key.0,
        before: watch.at.get(&key).copied().unwrap_or(0),
        finding: Finding::new(code, &f, items.as_ref()),
    };
    watch.checks.findings_at().into_iter().map(one).collect()
}

/// The checks, and how often instructions were executed.
struct Watch {
    checks: Checks,
    /// By thread of the group and program counter.
    executed: Vec<Vec<u32>>,
    /// Of findings, how often their thread had executed the instruction before.
    at: HashMap<Key, u64>,
}

impl Observer for Watch {
    // One host thread runs all groups: nobody forks it.
    fn fork(&self) -> Self {
        Watch { checks: self.checks.fork(), executed: Vec::new(), at: HashMap::new() }
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, other: Self) {
        self.checks.merge(other.checks);
    }

    fn start(&mut self, m: &Machine<'_>) {
        let (thread, instructions) = (m.t.index as usize, m.env.program.code().len());
        if self.executed.len() <= thread {
            self.executed.resize_with(thread + 1, || vec![0; instructions]);
        }
        self.executed[thread].fill(0);
        self.checks.start(m);
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        self.checks.before(m, pc, mask);
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        self.checks.after(m, pc, mask, next);
        let thread = m.t.index as usize;
        if self.checks.so_far().len() > self.at.len() {
            for key in self.checks.so_far() {
                let executed = self.executed.get(thread).and_then(|t| t.get(key.0 as usize)).copied();
                // What is found at another instruction is of the last time that this one was executed.
                let before = executed.unwrap_or(0).saturating_sub(u32::from(key.0 != pc));
                self.at.entry(*key).or_insert(before.into());
            }
        }
        if let Some(n) = self.executed.get_mut(thread).and_then(|t| t.get_mut(pc as usize)) {
            *n = n.saturating_add(1);
        }
    }
}
