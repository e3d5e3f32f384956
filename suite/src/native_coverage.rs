//! Which executed instructions native code leaves to the interpreter, over every launch of the corpus.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::envisa_engine::Loaded;
use crate::kernel::{CORPUS_DEVICES, Device, KernelFile};
use crate::launch::SizeSet;
use crate::machine::Machine;
use crate::report::Table;

/// The least share of the executed instructions that is to be native.
pub const GOAL: f64 = 0.999;
/// Launches that the report names: those with the most interpreted instructions.
const NAMED: usize = 20;

/// What was executed of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// Instructions, by all threads.
    pub instructions: u64,
    /// Of these, what the interpreter does for native code: why, and how many.
    pub left: Vec<(String, u64)>,
}

impl Executed {
    /// Instructions that the interpreter does.
    pub fn interpreted(&self) -> u64 {
        self.left.iter().map(|(_, n)| n).sum()
    }
}

/// A kernel's launch by the code for a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct One {
    /// The kernel's id.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// What was executed, or why that is not known.
    pub executed: Result<Executed, String>,
}

/// All of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Native {
    /// Where.
    pub machine: Machine,
    /// The instruction set that native code is made for.
    pub level: String,
    /// In the kernels' and devices' order.
    pub launches: Vec<One>,
}

/// Launches each of `kernels` on each device of the corpus at the sizes of conformance.
///
/// # Errors
/// Where a header is not a launch.
pub fn run(kernels: &[KernelFile]) -> Result<Native, String> {
    let (mut launches, mut level) = (Vec::new(), None);
    for k in kernels {
        let launch =
            crate::launch::launch(k, SizeSet::Conformance, false).map_err(|e| format!("{}: {e}", k.id))?;
        for device in CORPUS_DEVICES.into_iter().filter(|d| k.devices().contains(d)) {
            let loaded = Loaded::new(k, device, &launch, 1);
            let executed = loaded.and_then(|mut l| l.executed()).map_err(|e| e.to_string());
            let executed = executed.map(|(executed, made_for)| {
                level = made_for.or(level);
                executed
            });
            launches.push(One { kernel: k.id.clone(), device: device.name().to_owned(), executed });
        }
    }
    Ok(Native { machine: Machine::here(), level: level.unwrap_or("nothing").to_owned(), launches })
}

/// Prints a line a kernel and device: instructions with native code of all, the time it took, and why others have none.
/// `false` if some kernel has none at all: it would run, by the interpreter, and nobody would see why it is slow.
///
/// # Errors
/// Where a kernel does not load.
pub fn list(kernels: &[KernelFile], devices: &[Device]) -> Result<bool, String> {
    let (mut some, mut none) = (0, 0);
    for k in kernels {
        for device in devices.iter().filter(|d| k.devices().contains(d)) {
            let sizes = if k.header.bench.is_some() { SizeSet::Bench } else { SizeSet::Conformance };
            let launch = crate::launch::launch(k, sizes, false)?;
            let loaded = Loaded::new(k, *device, &launch, 1).map_err(|e| format!("{}: {e}", k.id))?;
            let head = format!("{:<28} {:<6}", k.id, device.name());
            match loaded.native() {
                Ok(n) => {
                    println!("{head} {n}");
                    some += 1;
                }
                Err(why) => {
                    println!("{head} none: {why}");
                    none += 1;
                }
            }
        }
    }
    println!("{some} kernels have native code, {none} have none");
    Ok(none == 0)
}

impl Native {
    /// Executed instructions, and of these those that the interpreter did.
    pub fn count(&self) -> (u64, u64) {
        let known = self.launches.iter().filter_map(|l| l.executed.as_ref().ok());
        known.fold((0, 0), |(all, left), e| (all + e.instructions, left + e.interpreted()))
    }

    /// The share of the executed instructions that is native, 0 to 1; none where nothing was executed.
    pub fn share(&self) -> Option<f64> {
        let (all, left) = self.count();
        (all > 0).then(|| 1.0 - left as f64 / all as f64)
    }

    /// Launches that interpreted something, those that did so most often first.
    pub fn worst(&self) -> Vec<(&One, &Executed)> {
        let mut all: Vec<(&One, &Executed)> =
            self.launches.iter().filter_map(|l| Some((l, l.executed.as_ref().ok()?))).collect();
        all.retain(|(_, e)| e.interpreted() > 0);
        all.sort_by_key(|(_, e)| std::cmp::Reverse(e.interpreted()));
        all
    }

    /// Why instructions are interpreted, and how many, most first.
    fn reasons(&self) -> Vec<(&str, u64)> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (why, n) in self.launches.iter().filter_map(|l| l.executed.as_ref().ok()).flat_map(|e| &e.left) {
            *counts.entry(why).or_default() += n;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        counts
    }

    /// Launches of which nothing is known.
    pub fn complaints(&self) -> Vec<String> {
        let failed = |l: &One| Some(format!("{} on {}: {}", l.kernel, l.device, l.executed.as_ref().err()?));
        self.launches.iter().filter_map(failed).collect()
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let (all, left) = self.count();
        let share = |part: u64, of: u64| format!("{:.3} %", 100.0 * part as f64 / of.max(1) as f64);
        let mut t = format!(
            "## Share of native code\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}; native code for {}\n\n\
             Every kernel of `suite/kernels` runs the code of each device for which it is compiled, at the sizes \
             of the conformance tests: {} launches. Every executed instruction of every thread is counted. An \
             instruction counts as interpreted if native code leaves it to the interpreter, or if its launch has \
             no native code. Calls and returns, which the engine performs between native functions, count as \
             native.\n\n\
             Native: {} of {all} executed instructions; the interpreter's: {left}.\n\n",
            self.machine.describe(),
            self.level,
            self.launches.len(),
            share(all - left, all),
        );
        let mut table = Table::new(["why", "executed", "of all"]);
        for (why, n) in self.reasons() {
            table.row([why.to_owned(), n.to_string(), share(n, all)]);
        }
        if !table.is_empty() {
            t.push_str(&table.to_markdown());
            t.push('\n');
        }
        let worst = self.worst();
        let mut table = Table::new(["kernel", "device", "executed", "interpreted", "native", "why"]);
        for (l, e) in worst.iter().take(NAMED) {
            let why: Vec<String> = e.left.iter().map(|(why, n)| format!("{n} {why}")).collect();
            table.row([
                l.kernel.clone(),
                l.device.clone(),
                e.instructions.to_string(),
                e.interpreted().to_string(),
                share(e.instructions - e.interpreted(), e.instructions),
                why.join("; "),
            ]);
        }
        if !table.is_empty() {
            let _ = writeln!(
                t,
                "{} launches interpret something; those that do so most often:\n\n{}",
                worst.len(),
                table.to_markdown().trim_end()
            );
        }
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kernel: &str, instructions: u64, left: &[(&str, u64)]) -> One {
        let left = left.iter().map(|(why, n)| ((*why).to_owned(), *n)).collect();
        let executed = Ok(Executed { instructions, left });
        One { kernel: kernel.to_owned(), device: "pvc".to_owned(), executed }
    }

    #[test]
    fn instructions_are_counted_and_not_kernels_averaged() {
        let mut n = Native { machine: Machine::here(), level: "AVX2".to_owned(), launches: Vec::new() };
        assert_eq!(n.share(), None);
        n.launches.push(one("small", 10, &[("rare", 4), ("odd", 1)]));
        n.launches.push(one("large", 990, &[("odd", 5)]));
        n.launches.push(one("whole", 1000, &[]));
        assert_eq!((n.count(), n.share()), ((2000, 10), Some(0.995)));
        assert_eq!(n.reasons(), [("odd", 6), ("rare", 4)]);
        assert_eq!(n.worst().iter().map(|w| w.0.kernel.as_str()).collect::<Vec<_>>(), ["small", "large"]);
        assert!(n.complaints().is_empty());
        let text = n.section("command", "record.json");
        assert!(
            text.contains("Native: 99.500 % of 2000 executed instructions; the interpreter's: 10."),
            "{text}"
        );
        assert!(!text.contains("whole"), "{text}");
        let failed = One { executed: Err("it faults".to_owned()), ..one("bad", 0, &[]) };
        n.launches.push(failed);
        assert_eq!(n.complaints(), ["bad on pvc: it faults"]);
        assert_eq!(n.count(), (2000, 10));
    }
}
