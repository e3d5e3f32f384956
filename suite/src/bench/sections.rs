//! The sections of the report on speed.

use super::{Bench, KernelTimes, Mean, Spread, prefixed, ratio, time};
use crate::peer::Peer;
use crate::report::Table;
use std::fmt::Write as _;

impl Bench {
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
