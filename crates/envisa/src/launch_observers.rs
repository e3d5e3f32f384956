//! The observers of a launch: checks, statistics, registers.

use envisa_machine::local_shadow::Noting;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask, Status};
use envisa_sanitize::{Checks, Footprint, Profile, Stats};
use std::collections::BTreeMap;
use std::ops::Range;

/// Any of the observers together. With none of them a run goes unobserved, at full speed.
#[derive(Default)]
pub(crate) struct Instruments {
    pub checks: Option<Checks>,
    pub stats: Option<Stats>,
    pub profile: Option<Profile>,
    pub footprint: Option<Footprint>,
    pub registers: Option<FinalRegisters>,
}

impl Observer for Instruments {
    fn fork(&self) -> Self {
        Instruments {
            checks: self.checks.as_ref().map(Observer::fork),
            stats: self.stats.as_ref().map(Observer::fork),
            profile: self.profile.as_ref().map(Observer::fork),
            footprint: self.footprint.as_ref().map(Observer::fork),
            registers: self.registers.as_ref().map(Observer::fork),
        }
    }

    fn merge(&mut self, other: Self) {
        merge(&mut self.checks, other.checks);
        merge(&mut self.stats, other.stats);
        merge(&mut self.profile, other.profile);
        merge(&mut self.footprint, other.footprint);
        merge(&mut self.registers, other.registers);
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        if let Some(o) = &mut self.checks {
            o.before(m, pc, mask);
        }
        if let Some(o) = &mut self.stats {
            o.before(m, pc, mask);
        }
        if let Some(o) = &mut self.profile {
            o.before(m, pc, mask);
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        if let Some(o) = &mut self.checks {
            o.after(m, pc, mask, next);
        }
        if let Some(o) = &mut self.stats {
            o.after(m, pc, mask, next);
        }
        if let Some(o) = &mut self.profile {
            o.after(m, pc, mask, next);
        }
        if let Some(o) = &mut self.footprint {
            o.after(m, pc, mask, next);
        }
        if let Some(o) = &mut self.registers {
            o.after(m, pc, mask, next);
        }
    }

    fn wants_none(&mut self, m: &Machine<'_>) -> bool {
        !self.has_others() && self.checks.as_mut().is_some_and(|checks| checks.wants_none(m))
    }

    fn passes(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) -> bool {
        !self.has_others() && self.checks.as_mut().is_some_and(|checks| checks.passes(m, pc, mask))
    }

    fn local_shadow(&mut self, m: &Machine<'_>) -> Option<Noting<'_>> {
        if self.has_others() {
            return None;
        }
        self.checks.as_mut()?.local_shadow(m)
    }

    fn local_range(&self, pc: u32) -> Range<u32> {
        self.checks.as_ref().map_or(0..0, |checks| checks.local_range(pc))
    }

    fn wants_all(&self, thread: u32) -> bool {
        self.has_others() || self.checks.as_ref().is_none_or(|checks| checks.wants_all(thread))
    }

    fn accessed(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        // Who is told only of accesses is alone.
        if let Some(checks) = &mut self.checks {
            checks.accessed(m, pc, mask, next);
        }
    }

    fn forget(&mut self, m: &Machine<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.forget(m);
        }
    }

    fn start(&mut self, m: &Machine<'_>) {
        if let Some(o) = &mut self.checks {
            o.start(m);
        }
        if let Some(o) = &mut self.stats {
            o.start(m);
        }
        if let Some(o) = &mut self.profile {
            o.start(m);
        }
    }
}

impl Instruments {
    /// Is there another observer than the checks?
    fn has_others(&self) -> bool {
        self.stats.is_some() || self.profile.is_some() || self.footprint.is_some() || self.registers.is_some()
    }
}

fn merge<O: Observer>(mine: &mut Option<O>, other: Option<O>) {
    if let (Some(mine), Some(other)) = (mine, other) {
        mine.merge(other);
    }
}

/// Keeps the content of variables when threads end (or are stopped by a fault).
#[derive(Default)]
pub(crate) struct FinalRegisters {
    pub wanted: Vec<String>,
    /// Bytes of each variable wanted, by group and thread.
    pub threads: BTreeMap<([u32; 3], u32), Vec<Vec<u8>>>,
}

impl Observer for FinalRegisters {
    fn fork(&self) -> Self {
        FinalRegisters { wanted: self.wanted.clone(), threads: BTreeMap::new() }
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, other: Self) {
        self.threads.extend(other.threads);
    }

    fn before(&mut self, _: &Machine<'_>, _: u32, _: Mask) {}

    fn after(&mut self, m: &Machine<'_>, _: u32, _: Mask, _: u32) {
        if !matches!(m.t.status, Status::Done | Status::Trapped) {
            return;
        }
        let vars = m.env.program.functions().first().map_or(&[][..], |f| &f.vars);
        let content = self.wanted.iter().map(|name| {
            let home = vars.iter().find(|v| v.name == *name);
            home.map_or(Vec::new(), |v| m.t.regs.slice(v.offset, v.declared).to_vec())
        });
        self.threads.insert((m.group.id, m.t.index), content.collect());
    }
}
