//! The cost of the checks: time under `--check` against the same engine without checks, native code and Oclgrind's checks,
//! and the memory of the command.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::{Mean, PeerTimes, Sample, Spread, ratio, sample, time};
use crate::clock;
use crate::command_cost::{self, Run, mib};
use crate::conformance::hold;
use crate::envisa_engine::{Failure, Loaded};
use crate::kernel::{Device, KernelFile};
use crate::launch::{Launch, Outputs, SizeSet};
use crate::machine::Machine;
use crate::peer::{Peer, Served};
use crate::report::{Table, cell};

/// How it is measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose code envisa runs.
    pub device: Device,
    /// Is Oclgrind measured, too?
    pub oclgrind: bool,
    /// Rounds; in each, everybody gives one sample.
    pub repeats: usize,
    /// A sample launches until its launches took this long together, at least once.
    pub window: Duration,
    /// What Oclgrind may take for a sample, resets and outputs included.
    pub limit: Duration,
    /// What a run of the command may take, for its memory.
    pub run_limit: Duration,
}

/// What checking a kernel costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// `GROUP/NAME`.
    pub kernel: String,
    /// Work-items of a launch.
    pub work_items: u64,
    /// The peer runs other code: see the kernel.
    pub other_code: bool,
    /// Mean seconds of a launch under the checks, round by round.
    pub checked: Vec<f64>,
    /// The same by the interpreter without them.
    pub interpreted: Vec<f64>,
    /// The same by native code; none where there is none.
    pub native: Vec<f64>,
    /// Oclgrind's, with its checks; ratios are its time over that under envisa's checks.
    pub oclgrind: PeerTimes,
    /// Findings, of which these kernels have none.
    pub findings: usize,
    /// What the checks did not look at, and why.
    pub not_checked: Option<String>,
    /// Why there is no result.
    pub failure: Option<String>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checking {
    /// Where.
    pub machine: Machine,
    /// Whose code envisa ran.
    pub device: String,
    /// Times are of processors, on all threads together, and not of the wall's clock.
    pub processor_time: bool,
    /// Rounds.
    pub repeats: usize,
    /// Seconds that the launches of a sample take together, at least.
    pub window: f64,
    /// Oclgrind's version, or why it was left out.
    pub oclgrind: String,
    /// Kernels.
    pub kernels: Vec<Cost>,
    /// Benchmark kernels that state no `slow` sizes.
    pub left_out: Vec<String>,
    /// `envisa run --check` at the benchmark's sizes.
    pub runs: Vec<Run>,
}

/// The environment that has Oclgrind's driver look for data races and for what nothing wrote.
const OCLGRIND_CHECKS: [(&str, &str); 2] = [("OCLGRIND_DATA_RACES", "1"), ("OCLGRIND_UNINITIALIZED", "1")];

/// Measures the benchmark kernels among `kernels`; `say` hears of each as it is done.
pub fn run(envisa: &Path, kernels: &[KernelFile], options: &Options, mut say: impl FnMut(&str)) -> Checking {
    let mut out = Checking {
        machine: Machine::here(),
        device: options.device.name().to_owned(),
        processor_time: clock::is_cpu(),
        repeats: options.repeats,
        window: options.window.as_secs_f64(),
        oclgrind: String::new(),
        kernels: Vec::new(),
        left_out: Vec::new(),
        runs: Vec::new(),
    };
    for k in kernels.iter().filter(|k| k.header.bench.is_some() && k.devices().contains(&options.device)) {
        if k.header.slow.is_none() {
            out.left_out.push(k.id.clone());
            continue;
        }
        let mut cost = Cost::of(k);
        if let Err(why) = cost.measure(k, options, &mut out.oclgrind) {
            cost.failure = Some(why);
        }
        say(&format!(
            "{}: {}",
            k.id,
            cost.over(&cost.interpreted).map_or_else(|| "no time".to_owned(), |s| ratio(s.median))
        ));
        out.kernels.push(cost);
    }
    out.runs = command_cost::memory(envisa, kernels, options.device, &["--check"], options.run_limit, say);
    out
}

/// A round's sample of envisa's and its outputs.
fn step(loaded: &mut Loaded<'_>, window: Duration) -> Result<(Sample, Outputs), String> {
    let taken = sample(window, || {
        loaded.reset();
        loaded.seconds()
    })?;
    Ok((taken, loaded.outputs()))
}

impl Cost {
    fn of(k: &KernelFile) -> Cost {
        Cost {
            kernel: k.id.clone(),
            work_items: 0,
            other_code: k.differs_on_peers(),
            checked: Vec::new(),
            interpreted: Vec::new(),
            native: Vec::new(),
            oclgrind: PeerTimes::of(Peer::Oclgrind),
            findings: 0,
            not_checked: None,
            failure: None,
        }
    }

    fn measure(&mut self, k: &KernelFile, options: &Options, described: &mut String) -> Result<(), String> {
        let launch = crate::launch::launch(k, SizeSet::Slow, false)?;
        self.work_items = launch.work_items();
        let said = |e: Failure| e.to_string();
        let mut checking = Loaded::checking(k, options.device, &launch, 0).map_err(said)?;
        let mut plain = Loaded::new(k, options.device, &launch, 0).map_err(said)?;
        let native = plain.is_native();
        let served = if options.oclgrind {
            Served::start(Peer::Oclgrind, k, SizeSet::Slow, Duration::from_secs(300), &OCLGRIND_CHECKS)
        } else {
            Err("it was not asked for".to_owned())
        };
        let mut peer = served.map_err(|why| self.oclgrind.failure = Some(why)).ok();
        if described.is_empty() {
            let why = self.oclgrind.failure.as_deref().unwrap_or_default();
            *described = peer.as_ref().map_or_else(|| format!("left out: {why}"), |p| p.describe.clone());
        }
        let first = checking.check().map_err(said)?;
        self.findings = first.findings.len();
        self.not_checked = first.not_checked;
        // The first round warms caches and is held, but not timed.
        for round in 0..=options.repeats {
            let window = if round > 0 { options.window } else { Duration::ZERO };
            let (sample, outputs) = step(&mut checking, window)?;
            let keep = |times: &mut Vec<f64>, sample: Sample| {
                if round > 0 {
                    times.push(sample.seconds);
                }
            };
            keep(&mut self.checked, sample);
            plain.engine(envisa::Engine::Interpreter);
            let (sample, reference) = step(&mut plain, window)?;
            keep(&mut self.interpreted, sample);
            held(&launch, &reference, &outputs).map_err(|why| format!("under the checks, {why}"))?;
            if native {
                plain.engine(envisa::Engine::Native);
                let (sample, outputs) = step(&mut plain, window)?;
                keep(&mut self.native, sample);
                held(&launch, &reference, &outputs).map_err(|why| format!("native code, {why}"))?;
            }
            let Some(p) = &mut peer else { continue };
            match p.step(window, options.limit) {
                Ok((sample, theirs)) => {
                    keep(&mut self.oclgrind.seconds, sample);
                    if round > 0 {
                        self.oclgrind.launches.push(sample.launches);
                    }
                    if let Err(why) = held(&launch, &theirs, &outputs) {
                        self.oclgrind.differs.get_or_insert(why);
                    }
                }
                Err(why) if why.starts_with("it did not finish") => {
                    self.oclgrind.beyond = Some(options.limit.as_secs_f64());
                    peer = None;
                }
                Err(why) => {
                    self.oclgrind.failure = Some(why);
                    peer = None;
                }
            }
        }
        let ratios: Vec<f64> = self.oclgrind.seconds.iter().zip(&self.checked).map(|(o, c)| o / c).collect();
        self.oclgrind.ratio = Spread::of(&ratios);
        Ok(())
    }

    /// Time under the checks over that of `others`, round by round.
    pub fn over(&self, others: &[f64]) -> Option<Spread> {
        Spread::of(&self.checked.iter().zip(others).map(|(c, o)| c / o).collect::<Vec<f64>>())
    }
}

/// Are these the results, within the bounds that the kernel states?
fn held(launch: &Launch, want: &Outputs, got: &Outputs) -> Result<(), String> {
    match hold(launch, want, got, false).iter().find(|h| !h.1.passed()) {
        Some((name, c)) => Err(format!("{name}: {}", cell(c))),
        None => Ok(()),
    }
}

/// Geometric mean of ratios, and the largest with its kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// The mean.
    pub mean: f64,
    /// Kernels that it is over.
    pub kernels: usize,
    /// The largest.
    pub worst: f64,
    /// Whose it is.
    pub worst_kernel: String,
}

impl Means {
    fn of(ratios: impl Iterator<Item = (String, f64)>) -> Option<Means> {
        let all: Vec<(String, f64)> = ratios.collect();
        let (worst_kernel, worst) = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.clone();
        let mean = (all.iter().map(|r| r.1.ln()).sum::<f64>() / all.len() as f64).exp();
        Some(Means { mean, kernels: all.len(), worst, worst_kernel })
    }
}

/// Bytes beyond the buffers that checking may take.
fn most(buffers: u64) -> u64 {
    buffers.saturating_mul(3).saturating_add(256 << 20)
}

impl Checking {
    /// Time under the checks over that of the interpreter without them.
    pub fn over_interpreter(&self) -> Option<Means> {
        self.means(|c| &c.interpreted)
    }

    /// Time under the checks over that of native code.
    pub fn over_native(&self) -> Option<Means> {
        self.means(|c| &c.native)
    }

    fn means(&self, others: impl Fn(&Cost) -> &Vec<f64>) -> Option<Means> {
        let ratio = |c: &Cost| Some((c.kernel.clone(), c.over(others(c))?.median));
        Means::of(self.kernels.iter().filter(|c| c.failure.is_none()).filter_map(ratio))
    }

    /// Oclgrind's time over that under envisa's checks; a sample that passed the time limit counts as the limit.
    pub fn oclgrind(&self) -> Option<Mean> {
        let (mut logs, mut least) = (Vec::new(), 0);
        for c in self.kernels.iter().filter(|c| !c.other_code && c.failure.is_none()) {
            match (c.oclgrind.ratio, c.oclgrind.beyond, Spread::of(&c.checked)) {
                (_, Some(limit), Some(ours)) => {
                    logs.push((limit / ours.median).ln());
                    least += 1;
                }
                (Some(r), ..) => logs.push(r.median.ln()),
                _ => {}
            }
        }
        let kernels = logs.len();
        let ratio = (logs.iter().sum::<f64>() / kernels as f64).exp();
        (kernels > 0).then_some(Mean { ratio, kernels, least })
    }

    /// The run that takes the largest part of the memory that it may.
    pub fn worst_run(&self) -> Option<&Run> {
        let share = |r: &Run| r.beyond() as f64 / most(r.buffers) as f64;
        let ran = self.runs.iter().filter(|r| r.failure.is_none());
        ran.max_by(|a, b| share(a).total_cmp(&share(b)))
    }

    /// Does no run take more memory than it may, and has each its figures?
    pub fn memory_holds(&self) -> bool {
        !self.runs.is_empty()
            && self.runs.iter().all(|r| r.failure.is_none() && r.beyond() <= most(r.buffers))
    }

    /// Kernels without figures, with findings, and results that differ.
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for c in &self.kernels {
            all.extend(c.failure.iter().map(|why| format!("{}: {why}", c.kernel)));
            if c.findings > 0 {
                all.push(format!("{}: {} findings, where there is nothing to find", c.kernel, c.findings));
            }
            all.extend(c.not_checked.iter().map(|why| format!("{}: {why}", c.kernel)));
            all.extend(c.oclgrind.differs.iter().map(|d| format!("{} against Oclgrind: {d}", c.kernel)));
        }
        let runs = self.runs.iter();
        all.extend(runs.filter_map(|r| Some(format!("{}, memory: {}", r.kernel, r.failure.as_ref()?))));
        all
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let mut t = String::new();
        let clock =
            if self.processor_time { "processor time, on all threads together" } else { "the wall's clock" };
        let _ = writeln!(
            t,
            "## Checking\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n\
             - envisa runs the code that `ocloc` made for {}\n\
             - Oclgrind, with `--data-races --uninitialized`: {}\n\n\
             The kernels of the benchmark run at their `slow` sizes. After one warm-up round, there are {} \
             rounds, in each of which each implementation gives one sample: the mean time of launches on the \
             initial content, repeated until they took {} s together (at least one launch), measured by {clock}. \
             Launches with checks use all hardware threads and record what memory they access, as those of a program \
             under `envisa exec --check` do. *Over interpreter* and *over native \
             code* are the time with `--check` divided by the time of the interpreter and of native code without \
             it. *Oclgrind* is Oclgrind's time with checks divided by envisa's time with checks (above 1: envisa \
             is faster). All ratios are of times in the same round, written as `median (least–largest)`. Results \
             are compared after every sample. For kernels marked †, Oclgrind runs other code; these kernels are \
             not part of its mean.\n",
            self.machine.describe(),
            self.device,
            self.oclgrind,
            self.repeats,
            self.window
        );
        let mut table = Table::new([
            "kernel",
            "work-items",
            "checked",
            "over interpreter",
            "over native code",
            "Oclgrind",
        ]);
        for c in &self.kernels {
            let mark = if c.other_code { " †" } else { "" };
            let ours = Spread::of(&c.checked).filter(|_| c.failure.is_none());
            let over = |others: &[f64]| {
                c.over(others).map_or_else(
                    || "–".to_owned(),
                    |r| format!("{} ({}–{})", ratio(r.median), ratio(r.min), ratio(r.max)),
                )
            };
            table.row([
                format!("{}{mark}", c.kernel.trim_start_matches("bench/")),
                c.work_items.to_string(),
                ours.map_or_else(|| "no result".to_owned(), |s| time(s.median)),
                over(&c.interpreted),
                over(&c.native),
                c.oclgrind.cell(ours),
            ]);
        }
        t.push_str(&table.to_markdown());
        t.push('\n');
        self.write_means(&mut t);
        self.write_memory(&mut t);
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }

    fn write_means(&self, t: &mut String) {
        for (what, means) in
            [("the interpreter", self.over_interpreter()), ("native code", self.over_native())]
        {
            let Some(m) = means else { continue };
            let _ = writeln!(
                t,
                "- checked over {what}: geometric mean {} of {} kernels, at worst {} ({})",
                ratio(m.mean),
                m.kernels,
                ratio(m.worst),
                m.worst_kernel.trim_start_matches("bench/")
            );
        }
        if let Some(m) = self.oclgrind() {
            let least = match m.least {
                0 => String::new(),
                n => format!(", on {n} of which it passed the time limit, which then counts as its time"),
            };
            let _ = writeln!(
                t,
                "- Oclgrind's checks over envisa's: geometric mean {} of {} kernels{least}",
                ratio(m.ratio),
                m.kernels
            );
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(t, "- left out, as they state no `slow` sizes: {}", self.left_out.join(", "));
        }
    }

    fn write_memory(&self, t: &mut String) {
        let _ = writeln!(
            t,
            "\nMemory: the largest resident set of the process (`VmHWM`, read every half millisecond) of `envisa \
             run --check` with the benchmark's sizes and all hardware threads, minus the size of the kernel's \
             buffers. The limit is three times the size of the buffers plus 256 MiB.\n"
        );
        let mut table = Table::new(["kernel", "buffers", "beyond the buffers", "at most", "holds", "time"]);
        for r in &self.runs {
            let name = r.kernel.trim_start_matches("bench/").to_owned();
            match &r.failure {
                Some(why) => table.row([name, why.clone()]),
                None => table.row([
                    name,
                    format!("{:.1} MiB", mib(r.buffers)),
                    format!("{:.1} MiB", mib(r.beyond())),
                    format!("{:.0} MiB", mib(most(r.buffers))),
                    (if r.beyond() <= most(r.buffers) { "yes" } else { "**no**" }).to_owned(),
                    time(r.seconds),
                ]),
            }
        }
        t.push_str(&table.to_markdown());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(kernel: &str, checked: f64, interpreted: f64, native: Option<f64>) -> Cost {
        Cost {
            kernel: kernel.to_owned(),
            work_items: 1,
            other_code: false,
            checked: vec![checked],
            interpreted: vec![interpreted],
            native: native.into_iter().collect(),
            oclgrind: PeerTimes::of(Peer::Oclgrind),
            findings: 0,
            not_checked: None,
            failure: None,
        }
    }

    #[test]
    fn means_and_bounds() {
        let (mut a, mut b) = (cost("bench/a", 8.0, 4.0, Some(0.5)), cost("bench/b", 8.0, 1.0, None));
        a.oclgrind.ratio = Spread::of(&[3.0]);
        // It finished the first rounds and then passed the limit: the limit counts.
        b.oclgrind.ratio = Spread::of(&[1.0]);
        b.oclgrind.beyond = Some(96.0);
        let run = |buffers, beyond| Run {
            kernel: "bench/a".to_owned(),
            buffers,
            resident: buffers + beyond,
            seconds: 1.0,
            failure: None,
        };
        let mut c = Checking {
            machine: Machine::here(),
            device: "pvc".to_owned(),
            processor_time: false,
            repeats: 1,
            window: 0.1,
            oclgrind: "none".to_owned(),
            kernels: vec![a, b],
            left_out: Vec::new(),
            runs: vec![run(1 << 20, 259 << 20), run(1 << 30, 1 << 30)],
        };
        let over = c.over_interpreter().expect("two kernels");
        assert!((over.mean - 4.0).abs() < 1e-9 && over.kernels == 2, "{over:?}");
        assert_eq!((over.worst, over.worst_kernel.as_str()), (8.0, "bench/b"));
        assert_eq!(c.over_native().map(|m| (m.worst, m.kernels)), Some((16.0, 1)));
        let oclgrind = c.oclgrind().expect("two kernels");
        assert!((oclgrind.ratio - 6.0).abs() < 1e-9, "{oclgrind:?}");
        assert_eq!((oclgrind.kernels, oclgrind.least), (2, 1));
        assert_eq!(c.worst_run().map(|r| r.buffers), Some(1 << 20));
        assert!(c.memory_holds() && c.complaints().is_empty());
        c.runs[0].resident += 1;
        assert!(!c.memory_holds());
        c.kernels[0].findings = 2;
        c.kernels[1].failure = Some("it faults".to_owned());
        assert_eq!(c.complaints().len(), 2);
        // A kernel without a result is in no mean.
        assert_eq!(c.over_interpreter().map(|m| m.kernels), Some(1));
    }
}
