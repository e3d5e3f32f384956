//! Speed: every benchmark kernel on envisa and on its peers, the same source and sizes, alternating.

mod sections;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::compiling::{Translated, translated};
use crate::conformance::hold;
use crate::envisa_engine::Loaded;
use crate::expr;
use crate::kernel::{Device, KernelFile};
use crate::launch::{Launch, Outputs, SizeSet};
use crate::machine::Machine;
use crate::machine_limits::Limits;
use crate::peer::{Peer, Served};
use crate::report::cell;

/// What to run and how often.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose code envisa runs.
    pub device: Device,
    /// Which of a kernel's sizes; a kernel without them is left out and named.
    pub sizes: SizeSet,
    /// Peers, of which those that are not installed are named and left out.
    pub peers: Vec<Peer>,
    /// Rounds; in each, everybody gives one sample.
    pub repeats: usize,
    /// A sample launches until its launches took this long together, at least once.
    pub window: Duration,
    /// What a peer may take for a sample, resets and outputs included.
    pub limit: Duration,
    /// Host threads of envisa; 0: all.
    pub jobs: usize,
    /// Devices whose code envisa runs as well.
    pub others: Vec<Device>,
}

/// Least, middle and largest of several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Least.
    pub min: f64,
    /// Middle: half of them are no larger.
    pub median: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of `values`; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut v = values.to_vec();
        v.sort_by(f64::total_cmp);
        let (first, last) = (*v.first()?, *v.last()?);
        let middle = v.len() / 2;
        let median = if v.len().is_multiple_of(2) { (v[middle - 1] + v[middle]) / 2.0 } else { v[middle] };
        Some(Spread { min: first, median, max: last })
    }
}

/// A sample: launches one after the other, each on the initial content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Mean seconds of a launch.
    pub seconds: f64,
    /// Launches.
    pub launches: u64,
}

/// Takes a sample, the same way for envisa and its peers: `launch` gives the buffers their initial content, untimed,
/// launches, and tells the launch's seconds; again and again until these sum to `window`, at least once.
///
/// # Errors
/// The first of `launch`.
pub fn sample(window: Duration, mut launch: impl FnMut() -> Result<f64, String>) -> Result<Sample, String> {
    let (mut total, mut launches) = (0.0, 0);
    loop {
        total += launch()?;
        launches += 1;
        if total >= window.as_secs_f64() {
            return Ok(Sample { seconds: total / launches as f64, launches });
        }
    }
}

/// What a peer came to on a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerTimes {
    /// The peer.
    pub peer: String,
    /// Mean seconds of a launch, round by round.
    pub seconds: Vec<f64>,
    /// Launches in each round.
    pub launches: Vec<u64>,
    /// Its time over envisa's of the same round: above one, envisa is faster.
    pub ratio: Option<Spread>,
    /// It did not finish a sample within so many seconds: the ratio is at least that over envisa's.
    pub beyond: Option<f64>,
    /// Why there is no time.
    pub failure: Option<String>,
    /// The first output that differed from envisa's, in any round.
    pub differs: Option<String>,
}

/// What the code for another device came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OtherCode {
    /// The device.
    pub device: String,
    /// Mean seconds of a launch, round by round.
    pub seconds: Vec<f64>,
    /// Why there is no time.
    pub failure: Option<String>,
}

impl KernelTimes {
    /// What stands behind its name.
    pub(crate) fn mark(&self) -> &'static str {
        match (self.other_code, &self.device) {
            (true, _) => " †",
            (false, Some(_)) => " ‡",
            (false, None) => "",
        }
    }
}

impl OtherCode {
    /// A peer's time over that of this code, round by round.
    fn ratio(&self, peer: &PeerTimes) -> Option<Spread> {
        let ratios: Vec<f64> = peer.seconds.iter().zip(&self.seconds).map(|(t, s)| t / s).collect();
        Spread::of(&ratios)
    }
}

/// A mean over kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Geometric mean of the ratios.
    pub ratio: f64,
    /// Kernels that it is over.
    pub kernels: usize,
    /// So many of the ratios are least values, because the peer passed the time limit.
    pub least: usize,
}

/// A kernel's times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KernelTimes {
    /// `GROUP/NAME`.
    pub kernel: String,
    /// Work-items of a launch.
    pub work_items: u64,
    /// Mean seconds of a launch on envisa, round by round.
    pub seconds: Vec<f64>,
    /// Launches in each round.
    pub launches: Vec<u64>,
    /// Their spread.
    pub spread: Option<Spread>,
    /// Why envisa gave no result.
    pub failure: Option<String>,
    /// Least bytes to and from memory.
    pub bytes: Option<f64>,
    /// Least operations.
    pub flops: Option<f64>,
    /// Share of the limit that envisa reaches, 0 to 1.
    pub of_limit: Option<f64>,
    /// Whose code envisa ran, where the compiler has none for the device that the others are of.
    #[serde(default)]
    pub device: Option<String>,
    /// The peers run other code: see the kernel.
    pub other_code: bool,
    /// What its time is spent on, where a peer takes less: as the kernel says.
    #[serde(default)]
    pub bound: Option<String>,
    /// The peers.
    pub peers: Vec<PeerTimes>,
    /// What native code makes of the kernel.
    #[serde(default)]
    pub native: Option<Translated>,
    /// The same by the code for other devices.
    #[serde(default)]
    pub others: Vec<OtherCode>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    /// Where.
    pub machine: Machine,
    /// Its limits.
    pub limits: Limits,
    /// Whose code envisa ran.
    pub device: String,
    /// Rounds.
    pub repeats: usize,
    /// Seconds that the launches of a sample take together, at least.
    pub window: f64,
    /// Seconds that a sample on a peer may take.
    pub limit: f64,
    /// Benchmark kernels without the sizes that were asked for.
    pub left_out: Vec<String>,
    /// Peers with their versions; those left out, with the reason.
    pub peers: Vec<(String, String)>,
    /// Kernels.
    pub kernels: Vec<KernelTimes>,
}

/// Runs the benchmark kernels among `kernels`; `say` hears of each kernel as it is done.
pub fn run(kernels: &[KernelFile], options: &Options, mut say: impl FnMut(&str)) -> Bench {
    let mut out = Bench {
        machine: Machine::here(),
        limits: Limits::measure(),
        device: options.device.name().to_owned(),
        repeats: options.repeats,
        window: options.window.as_secs_f64(),
        limit: options.limit.as_secs_f64(),
        left_out: Vec::new(),
        peers: Vec::new(),
        kernels: Vec::new(),
    };
    let sized = |k: &KernelFile| options.sizes == SizeSet::Conformance || k.header.bench.is_some();
    for k in kernels.iter().filter(|k| sized(k)) {
        if options.sizes == SizeSet::Slow && k.header.slow.is_none() {
            out.left_out.push(k.id.clone());
            continue;
        }
        let mut one = run_one(k, options, &mut out.peers);
        if let (Some(bytes), Some(s)) = (one.bytes, one.spread) {
            one.of_limit = Some(out.limits.least_seconds(bytes, one.flops.unwrap_or(0.0)) / s.median);
        }
        say(&format!("{}: {}", k.id, one.spread.map_or_else(|| "no time".to_owned(), |s| time(s.median))));
        out.kernels.push(one);
    }
    out
}

fn run_one(k: &KernelFile, options: &Options, described: &mut Vec<(String, String)>) -> KernelTimes {
    let can = |d: &Device| k.devices().contains(d);
    let device = [options.device, Device::Dg2].into_iter().find(can).unwrap_or(k.devices()[0]);
    let mut out = nothing_yet(k, device, options);
    let launch = match crate::launch::launch(k, options.sizes, false) {
        Ok(launch) => launch,
        Err(why) => return KernelTimes { failure: Some(why), ..out },
    };
    out.work_items = launch.work_items();
    // At the usual sizes, where an interpreter is done soon.
    let usual = crate::launch::launch(k, SizeSet::Conformance, false);
    out.native = usual.ok().and_then(|l| translated(k, device, &l));
    let mut others = other_code(k, options, &launch);
    let mut ours = match Loaded::new(k, device, &launch, options.jobs) {
        Ok(ours) => ours,
        Err(why) => return KernelTimes { failure: Some(why.to_string()), ..out },
    };
    let mut served = serve(k, options, device, described);
    // The first round warms caches and is held, but not timed.
    for round in 0..=options.repeats {
        let window = if round > 0 { options.window } else { Duration::ZERO };
        let mine = sample(window, || {
            ours.reset();
            ours.seconds()
        });
        let (mine, outputs) = match mine {
            Ok(sample) => (sample, ours.outputs()),
            Err(why) => return KernelTimes { failure: Some(why), ..out },
        };
        if round > 0 {
            out.seconds.push(mine.seconds);
            out.launches.push(mine.launches);
        }
        let round = Round { timed: round > 0, window, launch: &launch, outputs: &outputs };
        for (loaded, times) in &mut others {
            round.of_other_code(loaded, times);
        }
        for (worker, times) in &mut served {
            round.of_peer(worker, times, options);
        }
    }
    out.spread = Spread::of(&out.seconds);
    out.others = others.into_iter().map(|(_, times)| times).collect();
    for (_, mut times) in served {
        let ratios: Vec<f64> = if runs_once(&times, options) {
            out.spread.iter().zip(&times.seconds).map(|(s, t)| t / s.median).collect()
        } else {
            times.seconds.iter().zip(&out.seconds).map(|(t, s)| t / s).collect()
        };
        times.ratio = Spread::of(&ratios);
        out.peers.push(times);
    }
    out
}

/// What is known of a kernel's times before it runs.
fn nothing_yet(k: &KernelFile, device: Device, options: &Options) -> KernelTimes {
    let sizes = match options.sizes {
        SizeSet::Conformance => None,
        SizeSet::Bench => k.header.bench.as_ref(),
        SizeSet::Slow => k.header.slow.as_ref(),
    };
    let sizes = sizes.unwrap_or(&k.header.sizes);
    let number = |text: &String| expr::evaluate(text, sizes).ok().map(|n| n as f64);
    let cost = k.header.cost.as_ref();
    KernelTimes {
        kernel: k.id.clone(),
        work_items: 0,
        seconds: Vec::new(),
        launches: Vec::new(),
        spread: None,
        failure: None,
        bytes: cost.and_then(|c| number(&c.bytes)),
        flops: cost.and_then(|c| number(c.flops.as_ref()?)),
        of_limit: None,
        device: (device != options.device).then(|| device.name().to_owned()),
        other_code: k.differs_on_peers(),
        bound: k.header.bound.clone(),
        peers: Vec::new(),
        native: None,
        others: Vec::new(),
    }
}

/// The kernel's code for other devices, as far as it loads.
fn other_code<'k>(
    k: &'k KernelFile,
    options: &Options,
    launch: &'k Launch,
) -> Vec<(Option<Loaded<'k>>, OtherCode)> {
    let mut others = Vec::new();
    for device in options.others.iter().filter(|d| k.devices().contains(d)) {
        let device_name = device.name().to_owned();
        let mut times = OtherCode { device: device_name, seconds: Vec::new(), failure: None };
        let loaded = Loaded::new(k, *device, launch, options.jobs);
        let loaded = loaded.map_err(|why| times.failure = Some(why.to_string())).ok();
        others.push((loaded, times));
    }
    others
}

/// Starts the peers and adds to `described` their versions, or why they are left out.
fn serve(
    k: &KernelFile,
    options: &Options,
    device: Device,
    described: &mut Vec<(String, String)>,
) -> Vec<(Option<Served>, PeerTimes)> {
    let mut served = Vec::new();
    for p in &options.peers {
        let mut times = PeerTimes::of(*p);
        let device = [("ENVISA_DEVICES", device.name())];
        let environment = if *p == Peer::Driver { &device[..] } else { &[] };
        let worker = Served::start(*p, k, options.sizes, Duration::from_secs(300), environment);
        let version = match &worker {
            Ok(s) => s.describe.clone(),
            Err(why) => {
                times.failure = Some(why.clone());
                format!("left out: {why}")
            }
        };
        if !described.iter().any(|(name, _)| name == p.name()) {
            described.push((p.name().to_owned(), version));
        }
        served.push((worker.ok(), times));
    }
    served
}

/// Oclgrind takes hundreds of times as long: at the benchmark's sizes one run says it all.
fn runs_once(times: &PeerTimes, options: &Options) -> bool {
    options.sizes != SizeSet::Slow && times.peer == Peer::Oclgrind.name()
}

/// A round after envisa's sample of it.
struct Round<'a> {
    timed: bool,
    window: Duration,
    launch: &'a Launch,
    /// Envisa's.
    outputs: &'a Outputs,
}

impl Round<'_> {
    /// A sample of the code for another device, which is given up where it fails.
    fn of_other_code(&self, loaded: &mut Option<Loaded<'_>>, times: &mut OtherCode) {
        let Some(l) = loaded else { return };
        let taken = sample(self.window, || {
            l.reset();
            l.seconds()
        });
        match taken {
            Ok(taken) if self.timed => times.seconds.push(taken.seconds),
            Ok(_) => {
                // Held once, against the code whose results the peers are held against in every round.
                let held = hold(self.launch, self.outputs, &l.outputs(), false);
                let bad = held.iter().find(|h| !h.1.passed());
                times.failure = bad.map(|(name, c)| format!("{name}: {}", cell(c)));
            }
            Err(why) => times.failure = Some(why),
        }
        if times.failure.is_some() {
            *loaded = None;
        }
    }

    /// A sample of a peer, which is given up where it fails or has run often enough.
    fn of_peer(&self, worker: &mut Option<Served>, times: &mut PeerTimes, options: &Options) {
        let Some(w) = worker else { return };
        match w.step(self.window, options.limit) {
            Ok((sample, theirs)) => {
                let once = runs_once(times, options);
                if self.timed || once {
                    times.seconds.push(sample.seconds);
                    times.launches.push(sample.launches);
                }
                if let Some((name, c)) =
                    hold(self.launch, &theirs, self.outputs, false).iter().find(|h| !h.1.passed())
                {
                    times.differs.get_or_insert_with(|| format!("{name}: {}", cell(c)));
                }
                if once {
                    *worker = None;
                }
            }
            Err(why) if why.starts_with("it did not finish") => {
                times.beyond = Some(options.limit.as_secs_f64());
                *worker = None;
            }
            Err(why) => {
                times.failure = Some(why);
                *worker = None;
            }
        }
    }
}

/// Seconds in the unit that suits them.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A number with a decimal prefix.
pub fn prefixed(n: f64) -> String {
    match n {
        n if n >= 1e12 => format!("{:.2} T", n / 1e12),
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e3 => format!("{:.2} k", n / 1e3),
        n => format!("{n:.2} "),
    }
}

/// A ratio in three digits.
pub fn ratio(r: f64) -> String {
    if r >= 100.0 {
        format!("{r:.0}")
    } else if r >= 10.0 {
        format!("{r:.1}")
    } else {
        format!("{r:.2}")
    }
}

impl PeerTimes {
    /// Nothing yet, of a peer.
    pub(crate) fn of(peer: Peer) -> PeerTimes {
        PeerTimes {
            peer: peer.name().to_owned(),
            seconds: Vec::new(),
            launches: Vec::new(),
            ratio: None,
            beyond: None,
            failure: None,
            differs: None,
        }
    }

    pub(crate) fn cell(&self, ours: Option<Spread>) -> String {
        let mut text = match (self.ratio, self.beyond, &self.failure, ours) {
            (Some(r), ..) if self.seconds.len() > 1 => {
                format!("{} ({}–{})", ratio(r.median), ratio(r.min), ratio(r.max))
            }
            (Some(r), ..) => ratio(r.median),
            (None, Some(limit), _, Some(ours)) => format!("> {}", ratio(limit / ours.median)),
            (None, Some(limit), ..) => format!("> {limit} s"),
            (None, None, Some(_), _) => "no result".to_owned(),
            _ => "–".to_owned(),
        };
        if self.differs.is_some() {
            text.push_str(" **results differ**");
        }
        text
    }
}

impl Bench {
    /// True where every kernel ran, and every result was the peers'.
    pub fn good(&self) -> bool {
        self.complaints().is_empty()
    }

    /// Kernels without a time, and results that differ.
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for k in &self.kernels {
            all.extend(k.failure.iter().map(|why| format!("{}: {why}", k.kernel)));
            let others = k.others.iter().filter_map(|o| Some((o, o.failure.as_ref()?)));
            all.extend(others.map(|(o, why)| format!("{}, code for {}: {why}", k.kernel, o.device)));
            for p in &k.peers {
                all.extend(p.differs.iter().map(|d| format!("{} against {}: {d}", k.kernel, p.peer)));
            }
        }
        all
    }

    /// Geometric mean of a peer's middle ratios over the kernels whose source both run; `None` without any.
    pub fn mean(&self, peer: &str) -> Option<Mean> {
        self.mean_over(peer, false)
    }

    /// The same of the kernels that are of the device, or of those that are of another.
    fn mean_over(&self, peer: &str, other_device: bool) -> Option<Mean> {
        let (mut logs, mut least) = (Vec::new(), 0);
        let of = |k: &&KernelTimes| !k.other_code && k.device.is_some() == other_device;
        for k in self.kernels.iter().filter(of) {
            for p in k.peers.iter().filter(|p| p.peer == peer) {
                match (p.ratio, p.beyond, k.spread) {
                    (Some(r), ..) => logs.push(r.median.ln()),
                    (None, Some(limit), Some(ours)) => {
                        logs.push((limit / ours.median).ln());
                        least += 1;
                    }
                    _ => {}
                }
            }
        }
        let kernels = logs.len();
        (kernels > 0).then(|| Mean {
            ratio: (logs.iter().sum::<f64>() / kernels as f64).exp(),
            kernels,
            least,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::of(&[4.0, 1.0]).map(|s| s.median), Some(2.5));
    }

    #[test]
    fn samples_fill_the_window() {
        let mut n = 0.0;
        let launch = || {
            n += 0.25;
            Ok(n)
        };
        assert_eq!(sample(Duration::from_secs(1), launch), Ok(Sample { seconds: 0.5, launches: 3 }));
        assert_eq!(sample(Duration::ZERO, || Ok(2.0)), Ok(Sample { seconds: 2.0, launches: 1 }));
        assert!(sample(Duration::ZERO, || Err("no".to_owned())).is_err());
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(time(2.5e-6), "2.5 µs");
        assert_eq!(prefixed(3.2e9), "3.20 G");
        assert_eq!(ratio(0.123), "0.12");
        assert_eq!(ratio(1234.5), "1234");
    }
}
