//! Speed: every benchmark kernel on envisa and on its peers, the same source and sizes, alternating.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::compiling::{Translated, translated};
use crate::conformance::hold;
use crate::envisa_side::Loaded;
use crate::expr;
use crate::kernel::{Device, KernelFile};
use crate::launch::{Launch, SizeSet};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::peer::{Peer, Served};
use crate::report::{Table, cell};

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
    let mut out = KernelTimes {
        kernel: k.id.clone(),
        work_items: 0,
        seconds: Vec::new(),
        launches: Vec::new(),
        spread: None,
        failure: None,
        bytes: None,
        flops: None,
        of_limit: None,
        device: (device != options.device).then(|| device.name().to_owned()),
        other_code: k.differs_on_peers(),
        bound: k.header.bound.clone(),
        peers: Vec::new(),
        native: None,
        others: Vec::new(),
    };
    let sizes = match options.sizes {
        SizeSet::Conformance => None,
        SizeSet::Bench => k.header.bench.as_ref(),
        SizeSet::Slow => k.header.slow.as_ref(),
    };
    let sizes = sizes.unwrap_or(&k.header.sizes);
    let number = |text: &String| expr::evaluate(text, sizes).ok().map(|n| n as f64);
    out.bytes = k.header.cost.as_ref().and_then(|c| number(&c.bytes));
    out.flops = k.header.cost.as_ref().and_then(|c| number(c.flops.as_ref()?));
    let launch = match Launch::new(k, options.sizes, false) {
        Ok(launch) => launch,
        Err(why) => return KernelTimes { failure: Some(why), ..out },
    };
    out.work_items = launch.work_items();
    // At the usual sizes, where an interpreter is done soon.
    let usual = Launch::new(k, SizeSet::Conformance, false);
    out.native = usual.ok().and_then(|l| translated(k, device, &l));
    let mut others = Vec::new();
    for device in options.others.iter().filter(|d| can(d)) {
        let device_name = device.name().to_owned();
        let mut times = OtherCode { device: device_name, seconds: Vec::new(), failure: None };
        let loaded = Loaded::new(k, *device, &launch, options.jobs);
        let loaded = loaded.map_err(|why| times.failure = Some(why.to_string())).ok();
        others.push((loaded, times));
    }
    let mut ours = match Loaded::new(k, device, &launch, options.jobs) {
        Ok(ours) => ours,
        Err(why) => return KernelTimes { failure: Some(why.to_string()), ..out },
    };
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
    // Oclgrind takes hundreds of times as long: at the benchmark's sizes one run says it all.
    let runs_once = |times: &PeerTimes| options.sizes != SizeSet::Slow && times.peer == Peer::Oclgrind.name();
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
        for (loaded, times) in &mut others {
            let Some(l) = loaded else { continue };
            let taken = sample(window, || {
                l.reset();
                l.seconds()
            });
            match taken {
                Ok(taken) if round > 0 => times.seconds.push(taken.seconds),
                Ok(_) => {
                    // Held once, against the code whose results the peers are held against in every round.
                    let held = hold(&launch, &outputs, &l.outputs(), false);
                    let bad = held.iter().find(|h| !h.1.passed());
                    times.failure = bad.map(|(name, c)| format!("{name}: {}", cell(c)));
                }
                Err(why) => times.failure = Some(why),
            }
            if times.failure.is_some() {
                *loaded = None;
            }
        }
        for (worker, times) in &mut served {
            let Some(w) = worker else { continue };
            match w.step(window, options.limit) {
                Ok((sample, theirs)) => {
                    let once = runs_once(times);
                    if round > 0 || once {
                        times.seconds.push(sample.seconds);
                        times.launches.push(sample.launches);
                    }
                    if let Some((name, c)) =
                        hold(&launch, &theirs, &outputs, false).iter().find(|h| !h.1.passed())
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
    out.spread = Spread::of(&out.seconds);
    out.others = others.into_iter().map(|(_, times)| times).collect();
    for (_, mut times) in served {
        let ratios: Vec<f64> = if runs_once(&times) {
            out.spread.iter().zip(&times.seconds).map(|(s, t)| t / s.median).collect()
        } else {
            times.seconds.iter().zip(&out.seconds).map(|(t, s)| t / s).collect()
        };
        times.ratio = Spread::of(&ratios);
        out.peers.push(times);
    }
    out
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

    /// The section of the report.
    pub fn section(&self, command: &str, plot: &str, record: &str) -> String {
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Running kernels\n\n\
             Written by `{command}`; the record of the run is \
             [{record}]({record}).\n\n\
             - machine: {}\n\
             - the machine's limits, measured in the same run with all threads: {}B/s (`a = b + s * c` on floats, each array \
             counted once), {}FLOP/s (independent float multiply-adds, two each)\n\
             - envisa runs the code that `ocloc` made for {}",
            self.machine.describe(),
            prefixed(self.limits.bandwidth),
            prefixed(self.limits.flops),
            self.device
        );
        for (name, what) in &self.peers {
            let _ = writeln!(t, "- {name}: {what}");
        }
        let _ = writeln!(
            t,
            "\nEvery kernel of `suite/kernels/bench` runs from the same source and at the same sizes on envisa \
             and its peers. After one warm-up round, there are {} rounds. In each round, each implementation \
             gives one sample: it launches the kernel repeatedly until the launches took {} s together (at least \
             one launch). The buffers are restored to their initial content before each launch, and this is not \
             timed. The sample is the mean time of a launch, from the call to its end, with the program built \
             and the buffers allocated. So each implementation runs at its steady rate, including the cost of \
             launching, and does not pay for cold caches and sleeping threads that a slow peer left behind. \
             After every sample, the outputs are compared within the bound that the kernel states. A ratio is \
             the peer's time divided by envisa's time in the same round (above 1: envisa is faster), written as \
             `median (least–largest)`. Oclgrind takes hundreds of times as long and has its own section, \
             [Running kernels against Oclgrind](#running-kernels-against-oclgrind). *Of limit* is the time that \
             the least possible traffic or arithmetic takes at the machine's limits, divided by envisa's time. \
             For kernels marked †, the peers run other code, because they lack half arithmetic, DPAS or \
             shuffles; these kernels are not part of the means. Kernels marked ‡ use images. The compiler has no \
             code with images for this device, so envisa runs the code for dg2; these kernels have a mean of \
             their own. *Native* is the share of executed instructions that have native code. *Compile* is the \
             compile time per instruction, including the work that is done once per kernel and once per way of \
             running its threads; it is the median of five compilations from scratch, for a launch at the \
             kernel's usual sizes. *Code* is the size of the resulting x86 code.\n",
            self.repeats, self.window
        );
        let peers: Vec<&String> = self.peers.iter().map(|(name, _)| name).collect();
        let mut head: Vec<String> =
            ["kernel", "work-items", "time", "items/s", "rate", "of limit", "native", "compile", "code"]
                .map(str::to_owned)
                .to_vec();
        head.extend(peers.iter().map(|p| format!("ratio to {p}")));
        let mut table = Table::new(head);
        for k in &self.kernels {
            let name = k.kernel.trim_start_matches("bench/");
            let mark = k.mark();
            let mut row = vec![format!("{name}{mark}"), k.work_items.to_string()];
            match k.spread {
                Some(s) => {
                    row.push(time(s.median));
                    row.push(prefixed(k.work_items as f64 / s.median).trim().to_owned());
                    row.push(match (k.flops, k.bytes) {
                        (Some(f), Some(b)) if f / self.limits.flops > b / self.limits.bandwidth => {
                            format!("{}FLOP/s", prefixed(f / s.median))
                        }
                        (_, Some(b)) => format!("{}B/s", prefixed(b / s.median)),
                        _ => "–".to_owned(),
                    });
                    row.push(k.of_limit.map_or_else(|| "–".to_owned(), |x| format!("{:.1} %", x * 100.0)));
                }
                None => row.extend(["no result", "–", "–", "–"].map(str::to_owned)),
            }
            match k.native {
                Some(n) => row.extend([
                    format!("{:.1} %", 100.0 * n.share),
                    time(n.seconds / n.instructions.max(1) as f64),
                    if n.bytes > 0 {
                        format!("{:.1} KiB", n.bytes as f64 / 1024.0)
                    } else {
                        "–".to_owned()
                    },
                ]),
                None => row.extend(["–", "–", "–"].map(str::to_owned)),
            }
            for peer in &peers {
                let cell = k.peers.iter().find(|p| p.peer == **peer);
                row.push(cell.map_or_else(|| "–".to_owned(), |p| p.cell(k.spread)));
            }
            table.row(row);
        }
        t.push_str(&table.to_markdown());
        t.push('\n');
        t.extend(self.compiling_sentence().map(|s| s + "\n"));
        for peer in peers {
            self.write_mean(&mut t, peer);
        }
        self.write_bounds(&mut t);
        self.write_others(&mut t);
        let _ = writeln!(t, "\n![ratios]({plot})");
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }

    /// What bounds the kernels that Intel's CPU runtime runs faster.
    fn write_bounds(&self, t: &mut String) {
        let peer = Peer::Intel.name();
        let below = |k: &&KernelTimes| {
            let ratio = k.peers.iter().find(|p| p.peer == peer).and_then(|p| p.ratio);
            ratio.is_some_and(|r| r.median < 1.0)
        };
        let below: Vec<&KernelTimes> = self.kernels.iter().filter(below).collect();
        if below.is_empty() {
            return;
        }
        let _ = writeln!(t, "\nKernels that run faster on {peer}, and the reasons:\n");
        for k in below {
            let bound = k.bound.as_deref().unwrap_or("**not looked into**");
            let _ = writeln!(t, "- {}: {bound}", k.kernel.trim_start_matches("bench/"));
        }
    }

    /// The table of the code for other devices, if there is any.
    fn write_others(&self, t: &mut String) {
        let mut devices: Vec<&str> = Vec::new();
        for o in self.kernels.iter().flat_map(|k| &k.others) {
            if !devices.contains(&o.device.as_str()) {
                devices.push(&o.device);
            }
        }
        if devices.is_empty() {
            return;
        }
        let _ = writeln!(
            t,
            "\nThe next table has the same kernels, compiled for other devices, with 8 and 16 channels and with \
             surfaces for buffers, measured in the same rounds. It shows the median of the peer's time divided \
             by the time of this code. A – means that the compiler has no code for the device.\n"
        );
        let columns: Vec<(&str, &str)> =
            devices.iter().flat_map(|d| self.peers.iter().map(move |p| (*d, p.0.as_str()))).collect();
        let mut head = vec!["kernel".to_owned()];
        head.extend(columns.iter().map(|(d, p)| format!("{d}, ratio to {p}")));
        let mut table = Table::new(head);
        let mut logs = vec![Vec::new(); columns.len()];
        for k in &self.kernels {
            let mark = k.mark();
            let mut row = vec![format!("{}{mark}", k.kernel.trim_start_matches("bench/"))];
            for ((device, peer), logs) in columns.iter().zip(&mut logs) {
                let other = k.others.iter().find(|o| o.device == *device);
                let peer = k.peers.iter().find(|p| p.peer == *peer);
                let spread = other.zip(peer).and_then(|(o, p)| o.ratio(p));
                if let (Some(s), false) = (spread, k.other_code) {
                    logs.push(s.median.ln());
                }
                row.push(spread.map_or_else(|| "–".to_owned(), |s| ratio(s.median)));
            }
            table.row(row);
        }
        t.push_str(&table.to_markdown());
        t.push('\n');
        for ((device, peer), logs) in columns.iter().zip(&logs).filter(|c| !c.1.is_empty()) {
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            let _ = writeln!(
                t,
                "- code for {device}, geometric mean against {peer}: {} over {} kernels",
                ratio(mean),
                logs.len()
            );
        }
    }

    /// The section of the report on the run with everybody held to AVX2.
    pub fn avx2_section(&self, command: &str, record: &str) -> String {
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Running kernels with AVX2\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n\
             - envisa runs the code that `ocloc` made for {}, by native code for AVX2 (`ENVISA_LEVEL=avx2`)",
            self.machine.describe(),
            self.device
        );
        for (name, what) in &self.peers {
            let _ = writeln!(t, "- {name}, held to AVX2 (`CL_CONFIG_CPU_TARGET_ARCH=core-avx2`): {what}");
        }
        let _ = writeln!(
            t,
            "\nThis section measures native code for CPUs without AVX-512, as most computers have. The method is \
             that of the section on running kernels, with {} rounds and samples of {} s.\n",
            self.repeats, self.window
        );
        let peers: Vec<&String> = self.peers.iter().map(|(name, _)| name).collect();
        let mut head: Vec<String> = ["kernel", "work-items", "time"].map(str::to_owned).to_vec();
        head.extend(peers.iter().map(|p| format!("ratio to {p}")));
        let mut table = Table::new(head);
        for k in &self.kernels {
            let mark = k.mark();
            let mut row = vec![
                format!("{}{mark}", k.kernel.trim_start_matches("bench/")),
                k.work_items.to_string(),
                k.spread.map_or_else(|| "no result".to_owned(), |s| time(s.median)),
            ];
            for peer in &peers {
                let cell = k.peers.iter().find(|p| p.peer == **peer);
                row.push(cell.map_or_else(|| "–".to_owned(), |p| p.cell(k.spread)));
            }
            table.row(row);
        }
        t.push_str(&table.to_markdown());
        t.push('\n');
        t.extend(self.compiling_sentence().map(|s| s + "\n"));
        for peer in peers {
            self.write_mean(&mut t, peer);
        }
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }

    /// The section of the report on the run against Oclgrind alone.
    pub fn oclgrind_section(&self, command: &str, plot: &str, record: &str) -> String {
        let peer = Peer::Oclgrind.name();
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Running kernels against Oclgrind\n\n\
             Written by `{command}`; the record of the run is \
             [{record}]({record}).\n\n\
             - machine: {}\n\
             - envisa runs the code that `ocloc` made for {}",
            self.machine.describe(),
            self.device
        );
        for (name, what) in &self.peers {
            let _ = writeln!(t, "- {name}: {what}");
        }
        let _ = writeln!(
            t,
            "\nThe method is that of the section above, but with the sizes that a kernel states as `slow`, so \
             that Oclgrind finishes a launch in about a second. After one warm-up round, there are {} rounds, in \
             each of which envisa and Oclgrind give one sample: the mean time of launches on the initial \
             content, repeated until they took {} s together (at least one launch). Outputs are compared after \
             every sample. The ratio is Oclgrind's time divided by envisa's time in the same round, which equals \
             envisa's work-items per second divided by Oclgrind's. Both use all hardware threads and check every \
             access against the bounds of the buffers. Oclgrind interprets LLVM IR; envisa runs vISA as native \
             code where it has native code. Kernels marked † are not part of the mean.\n",
            self.repeats, self.window
        );
        let mut table = Table::new(["kernel", "work-items", "envisa", peer, "ratio"]);
        for k in &self.kernels {
            let name = k.kernel.trim_start_matches("bench/");
            let mark = k.mark();
            let theirs = k.peers.iter().find(|p| p.peer == peer);
            let seconds = theirs.and_then(|p| Spread::of(&p.seconds));
            table.row([
                format!("{name}{mark}"),
                k.work_items.to_string(),
                k.spread.map_or_else(|| "no result".to_owned(), |s| time(s.median)),
                seconds.map_or_else(|| "–".to_owned(), |s| time(s.median)),
                theirs.map_or_else(|| "–".to_owned(), |p| p.cell(k.spread)),
            ]);
        }
        t.push_str(&table.to_markdown());
        t.push('\n');
        self.write_mean(&mut t, peer);
        if !self.left_out.is_empty() {
            let _ = writeln!(t, "- left out, as they state no `slow` sizes: {}", self.left_out.join(", "));
        }
        let _ = writeln!(t, "\n![ratios]({plot})");
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }

    /// One line with a peer's mean, where there is one.
    fn write_mean(&self, t: &mut String, peer: &str) {
        for (of, mean) in [("", self.mean(peer)), (" of those marked ‡", self.mean_over(peer, true))] {
            let Some(Mean { ratio: mean, kernels: n, least }) = mean else { continue };
            let mean = ratio(mean);
            let _ = match least {
                0 => writeln!(t, "- geometric mean{of} against {peer}: {mean} over {n} kernels"),
                _ => writeln!(
                    t,
                    "- geometric mean{of} against {peer}: at least {mean} over {n} kernels, on {least} of which it \
                     passed the time limit"
                ),
            };
        }
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
