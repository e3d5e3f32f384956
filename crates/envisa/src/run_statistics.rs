//! Statistics of a run.

use crate::engine_choice::Left;
use envisa_interp::Executable;
use envisa_lower::Program;
use envisa_sanitize::stats::Traffic;
use envisa_sanitize::{Fidelity, Stats};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// Statistics of a run, as they are shown.
#[derive(Clone, Debug, Serialize)]
pub struct Statistics {
    /// Instructions executed, by all threads.
    pub instructions: u64,
    /// Threads.
    pub threads: u64,
    /// Work-items.
    pub work_items: u64,
    /// Share of channels that ran, 0 to 1.
    pub channel_use: f64,
    /// Branches.
    pub branches: u64,
    /// Branches that split the active channels.
    pub divergent_branches: u64,
    /// Waits at barriers.
    pub barriers: u64,
    /// Traffic, by kind of memory.
    pub memory: Vec<MemoryLine>,
    /// Seconds from the first group's start to the last one's end; observing is part of it.
    pub seconds: f64,
    /// What native code does of it when nobody observes; `None` if that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
    /// Executed operations and how true to the device their results are, the least true first.
    pub fidelity: Vec<FidelityEntry>,
}

/// Traffic of one kind of memory.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryLine {
    /// `global`, `local`, `surface`, `scratch`.
    pub kind: &'static str,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Atomics.
    pub atomics: u64,
    /// Accesses, of one channel each; a block is one.
    pub accesses: u64,
}

/// What native code does of a run: observed, all is interpreted.
#[derive(Clone, Debug, Serialize)]
pub struct Native {
    /// Share of the executed instructions that have native code, 0 to 1.
    pub share: f64,
    /// What it is made for: `AVX2` or `AVX-512`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'static str>,
    /// Why there is no native code at all for this launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What the interpreter does, the most frequent first.
    pub left: Vec<LeftEntry>,
    /// Why threads that wait for each other take turns by the machine's scheduler, in all groups or in some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheduled: Vec<&'static str>,
}

/// Instructions that the interpreter does for native code.
#[derive(Clone, Debug, Serialize)]
pub struct LeftEntry {
    /// The instruction's number in its function, as `$n` in faults.
    pub instruction: u32,
    /// Why.
    pub reason: &'static str,
    /// Times executed.
    pub count: u64,
}

impl Native {
    /// Of what native code leaves to the interpreter, by program counter of the improved program.
    pub(crate) fn new(stats: &Stats, executable: &Executable, left: Left) -> Native {
        let level = crate::engine_choice::native_level();
        let left = match left {
            Ok(left) => left,
            Err(why) => {
                return Native {
                    share: 0.0,
                    level,
                    refused: Some(why),
                    left: Vec::new(),
                    scheduled: Vec::new(),
                };
            }
        };
        let mut count: HashMap<_, u64> = HashMap::new();
        for (i, (times, _)) in executable.program().code().iter().zip(&stats.instructions) {
            *count.entry((i.function, i.source)).or_default() += times;
        }
        let all = stats.executed().max(1);
        let mut entries: Vec<LeftEntry> = Vec::new();
        for (pc, reason) in left.instructions {
            let improved = executable.optimized();
            let Some(i) = improved.code().get(pc as usize) else { continue };
            // One of the improved program may come of several; and several of one, which counts once.
            let sources = improved.upper(pc).iter().map(|u| u.source);
            for instruction in std::iter::once(i.source).chain(sources) {
                let count = count.remove(&(i.function, instruction)).unwrap_or(0);
                if count > 0 {
                    entries.push(LeftEntry { instruction, reason, count });
                }
            }
        }
        entries.sort_by_key(|e| std::cmp::Reverse(e.count));
        let interpreted: u64 = entries.iter().map(|e| e.count).sum();
        Native {
            share: 1.0 - interpreted as f64 / all as f64,
            level,
            refused: None,
            left: entries,
            scheduled: left.scheduled,
        }
    }
}

/// An operation and how true it is.
#[derive(Clone, Debug, Serialize)]
pub struct FidelityEntry {
    /// The operation and its type: `add.f32`.
    pub operation: String,
    /// Times executed.
    pub count: u64,
    /// `exact`, `approximate`, `unsupported`.
    pub fidelity: &'static str,
    /// The bound of what is approximate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<&'static str>,
}

impl Statistics {
    /// Of a program's run.
    pub(crate) fn new(
        stats: &Stats,
        program: &Program,
        time: Duration,
        work_items: u64,
        native: Option<Native>,
    ) -> Statistics {
        let line = |kind, t: &Traffic| MemoryLine {
            kind,
            bytes_read: t.read,
            bytes_written: t.written,
            atomics: t.atomics,
            accesses: t.accesses,
        };
        Statistics {
            instructions: stats.executed(),
            threads: stats.threads,
            work_items,
            channel_use: stats.channel_use(program),
            branches: stats.branches,
            divergent_branches: stats.divergent,
            barriers: stats.barriers,
            memory: vec![
                line("global", &stats.global),
                line("local", &stats.slm),
                line("surface", &stats.surfaces),
                line("scratch", &stats.scratch),
            ],
            seconds: time.as_secs_f64(),
            native,
            fidelity: stats
                .fidelity(program)
                .into_iter()
                .map(|l| {
                    let (fidelity, bound) = match l.fidelity {
                        Fidelity::Exact => ("exact", None),
                        Fidelity::Approximate(bound) => ("approximate", Some(bound)),
                        Fidelity::Unsupported => ("unsupported", None),
                    };
                    FidelityEntry { operation: l.operation, count: l.count, fidelity, bound }
                })
                .collect(),
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 };
        writeln!(f, "instructions  {} by {} threads", self.instructions, self.threads)?;
        writeln!(f, "channel use   {:.1} %", 100.0 * self.channel_use)?;
        writeln!(
            f,
            "branches      {}, {} divergent ({:.1} %)",
            self.branches,
            self.divergent_branches,
            share(self.divergent_branches, self.branches)
        )?;
        writeln!(f, "barrier waits {}", self.barriers)?;
        for m in self.memory.iter().filter(|m| m.accesses > 0) {
            write!(
                f,
                "{:<13} {} bytes read, {} bytes written, {} accesses",
                m.kind, m.bytes_read, m.bytes_written, m.accesses
            )?;
            match m.atomics {
                0 => writeln!(f)?,
                n => writeln!(f, ", {n} of them atomic")?,
            }
        }
        writeln!(
            f,
            "time          {:.3} ms for {} work-items, observed",
            1e3 * self.seconds,
            self.work_items
        )?;
        if let Some(n) = &self.native {
            match &n.refused {
                Some(why) => writeln!(f, "native        none: {why}")?,
                None => {
                    write!(f, "native        {:.1} % of executed instructions", 100.0 * n.share)?;
                    match n.level {
                        Some(level) => writeln!(f, ", {level}")?,
                        None => writeln!(f)?,
                    }
                }
            }
            for l in &n.left {
                writeln!(
                    f,
                    "  ${:<17} {:>10} times  by the interpreter: {}",
                    l.instruction, l.count, l.reason
                )?;
            }
            for why in &n.scheduled {
                writeln!(f, "  threads take turns by the scheduler: {why}")?;
            }
        }
        let exact: u64 = self.fidelity.iter().filter(|l| l.fidelity == "exact").map(|l| l.count).sum();
        let all: u64 = self.fidelity.iter().map(|l| l.count).sum();
        writeln!(f, "fidelity      {:.1} % of executed operations exact", share(exact, all))?;
        for l in self.fidelity.iter().filter(|l| l.fidelity != "exact") {
            write!(f, "  {:<18} {:>10} times  {}", l.operation, l.count, l.fidelity)?;
            match l.bound {
                Some(bound) => writeln!(f, ": {bound}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
