//! What native code costs before it runs: time to compile it, and its size.

use serde::{Deserialize, Serialize};

use crate::bench::{Bench, KernelTimes, Spread, time};
use crate::envisa_engine::Loaded;
use crate::kernel::{Device, KernelFile};
use crate::launch::Launch;
use crate::translate::line;

/// How often each kernel is compiled.
const TIMES: usize = 5;

/// Most seconds an instruction, as the goal has it.
pub const GOAL: f64 = 5e-6;

/// What native code makes of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Translated {
    /// Share of the executed instructions that have native code, 0 to 1.
    pub share: f64,
    /// Instructions.
    pub instructions: usize,
    /// Seconds that they take to compile: the median.
    pub seconds: f64,
    /// The same of the first time, when code and tables of the compiler are cold.
    #[serde(default)]
    pub first: f64,
    /// Bytes of x86 that they become.
    #[serde(default)]
    pub bytes: usize,
}

/// Compiles a kernel's launch again and again, each time from nothing; `None` where it has no native code.
pub fn translated(kernel: &KernelFile, device: Device, launch: &Launch) -> Option<Translated> {
    let mut seconds = Vec::new();
    let mut last = None;
    for _ in 0..TIMES {
        let loaded = Loaded::new(kernel, device, launch, 1).ok()?;
        let (compiled, first) = loaded.compile().ok()?;
        // What it takes without compiling: arguments, payloads, finding the code.
        let (_, again) = loaded.compile().ok()?;
        seconds.push((first - again).max(0.0));
        last = Some((loaded, compiled));
    }
    let (loaded, compiled) = last?;
    Some(Translated {
        share: loaded.native_share().ok()??,
        instructions: compiled.instructions,
        seconds: Spread::of(&seconds)?.median,
        first: seconds[0],
        bytes: compiled.code_bytes,
    })
}

/// Times over all kernels of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compiling {
    /// Kernels.
    pub kernels: usize,
    /// Seconds an instruction: the middle one of the kernels, and of all instructions together.
    pub median: f64,
    /// All together.
    pub all: f64,
    /// The same of the first times.
    pub first: f64,
    /// By least squares: seconds a kernel, and a byte of its code.
    pub fitted: Option<(f64, f64)>,
}

impl Compiling {
    /// Of those kernels that have native code whose size is known.
    pub fn of(kernels: &[KernelTimes]) -> Option<Compiling> {
        let all: Vec<Translated> = kernels.iter().filter_map(|k| k.native).filter(|n| n.bytes > 0).collect();
        let each: Vec<f64> = all.iter().map(|n| n.seconds / n.instructions.max(1) as f64).collect();
        let instructions: usize = all.iter().map(|n| n.instructions).sum();
        let sum = |of: fn(&Translated) -> f64| all.iter().map(of).sum::<f64>() / instructions.max(1) as f64;
        let points: Vec<(f64, f64)> = all.iter().map(|n| (n.bytes as f64, n.seconds)).collect();
        Some(Compiling {
            kernels: all.len(),
            median: Spread::of(&each)?.median,
            all: sum(|n| n.seconds),
            first: sum(|n| n.first),
            fitted: line(&points),
        })
    }

    /// Does it hold the goal, by the middle kernel as by all instructions?
    pub fn holds(&self) -> bool {
        self.median <= GOAL && self.all <= GOAL
    }

    /// For the summary.
    pub fn measured(&self) -> String {
        format!("{}; of all instructions together {}", time(self.median), time(self.all))
    }
}

impl Bench {
    /// What compiling took, in a sentence of the report.
    pub(crate) fn compiling_sentence(&self) -> Option<String> {
        let c = Compiling::of(&self.kernels)?;
        let fitted = c.fitted.map_or_else(String::new, |(kernel, byte)| {
            let sign = if kernel < 0.0 { "-" } else { "" };
            format!(
                "; by least squares over the kernels {sign}{} a kernel and {} a KiB of its code",
                time(kernel.abs()),
                time(1024.0 * byte)
            )
        });
        Some(format!(
            "- compiling an instruction of {} kernels: {} in the median kernel, {} over all instructions ({} the first time){fitted}",
            c.kernels,
            time(c.median),
            time(c.all),
            time(c.first)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_costs_and_what_its_code_does() {
        let of = |instructions: usize, bytes: usize| Translated {
            share: 1.0,
            instructions,
            seconds: 19e-6 + 1e-8 * bytes as f64,
            first: 40e-6,
            bytes,
        };
        let mut kernel = crate::bench::KernelTimes::default();
        let mut all = Vec::new();
        for native in [Some(of(10, 1000)), Some(of(10, 3000)), None, Some(of(20, 8000))] {
            kernel.native = native;
            all.push(kernel.clone());
        }
        let c = Compiling::of(&all).expect("three have native code");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert_eq!(c.kernels, 3);
        assert!(near(c.median, 4.9e-6) && near(c.all, 4.425e-6) && near(c.first, 3e-6), "{c:?}");
        assert!(c.fitted.is_some_and(|f| near(f.0, 19e-6) && near(f.1, 1e-8)), "{c:?}");
        assert!(c.holds());
        all[1].native = Some(Translated { seconds: 1e-3, ..of(10, 3000) });
        assert!(!Compiling::of(&all).expect("three have native code").holds());
        assert_eq!(Compiling::of(&all[2..3]), None);
    }
}
