//! The command's verbs and their options.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use envisa_suite::build_comparison::seconds;
use envisa_suite::kernel::Device;
use envisa_suite::launch::SizeSet;
use envisa_suite::peer::Peer;
use envisa_suite::performance::Part;
use envisa_suite::{build_comparison, clrandom, foreign, programs, reductions};

/// Test kernels, conformance tests and benchmarks that compare envisa with other implementations (peers).
#[derive(Parser)]
#[command(name = "envisa-suite", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Verb,
}

/// Choices of the part `checks`, none of which is written to the report.
#[derive(clap::Args, Clone, Copy)]
pub struct CheckingHow {
    /// Part `checks`: the device whose code is run.
    #[arg(long, default_value = "pvc", conflicts_with = "write")]
    pub device: Device,
    /// Part `checks`: leave Oclgrind out.
    #[arg(long, conflicts_with = "write")]
    pub no_oclgrind: bool,
}

#[derive(Subcommand)]
pub enum Verb {
    /// List the kernels with their features, devices and checks of results.
    List {
        #[command(flatten)]
        only: Only,
        /// Show instead how many kernels use each feature.
        #[arg(long)]
        features: bool,
    },
    /// Run every kernel on the installed peers, and compare their results with each other.
    Peers {
        #[command(flatten)]
        only: Only,
        /// The peers to run; the first one is the reference.
        #[arg(long, value_delimiter = ',', default_value = "pocl")]
        peer: Vec<Peer>,
    },
    /// Compile the kernels with ocloc and write the committed corpus.
    Corpus {
        #[command(flatten)]
        only: Only,
        /// Only these devices.
        #[arg(long, value_delimiter = ',')]
        device: Vec<Device>,
        /// The compiler. By default, `ocloc` on the PATH.
        #[arg(long)]
        ocloc: Option<PathBuf>,
        /// The output folder.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Write nothing, but fail if the committed corpus differs from the compiler's output.
        #[arg(long)]
        check: bool,
    },
    /// Compare envisa's results with PoCL's, on every device.
    Conformance {
        #[command(flatten)]
        only: Only,
        /// Only these devices.
        #[arg(long, value_delimiter = ',')]
        device: Vec<Device>,
        /// The number of host threads for envisa; 0 for all.
        #[arg(long, default_value_t = 0)]
        jobs: usize,
        /// A folder that `corpus --out` wrote, to use instead of the committed corpus. Kernels that it lacks are left out.
        #[arg(long, conflicts_with = "write")]
        corpus: Option<PathBuf>,
        /// Further peers to compare with PoCL. With `--write`, the default is oclgrind and intel.
        #[arg(long, value_delimiter = ',')]
        witness: Vec<Peer>,
        /// Compile the kernels with this compiler, by default for bmg, ptl, pvc and dg2. With `--write`, only this
        /// compiler's part of the page is written.
        #[arg(long, value_name = "OCLOC", conflicts_with_all = ["corpus", "witness", "out"])]
        newer: Option<PathBuf>,
        /// Write the report to `docs/CONFORMANCE.md`; only for all kernels and devices.
        #[arg(long)]
        write: bool,
        /// Write the report to this file.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Measure the time of envisa and its peers, alternately in one run. Needs the release build.
    Bench {
        #[command(flatten)]
        only: Only,
        /// The device whose code envisa runs; pvc has doubles and DPAS.
        #[arg(long, default_value = "pvc")]
        device: Device,
        /// The peers. Those that are not installed are left out.
        #[arg(long, value_delimiter = ',', default_value = "pocl,intel")]
        peer: Vec<Peer>,
        /// Compare with Oclgrind only, at the kernels' `slow` sizes, so that it finishes every run.
        #[arg(long, conflicts_with = "peer")]
        oclgrind: bool,
        /// The number of timed rounds. By default 7, or 3 with Oclgrind.
        #[arg(long)]
        repeats: Option<usize>,
        /// The least total time of the launches in one sample, for envisa and for each peer.
        #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.1")]
        window: Duration,
        /// The most seconds that a sample on a peer may take, including the resets of buffers.
        #[arg(long, default_value_t = 20)]
        limit: u64,
        /// The number of host threads for envisa; 0 for all.
        #[arg(long, default_value_t = 0)]
        jobs: usize,
        /// Write the block of `docs/PERFORMANCE.md`, its record and its plot; only for all kernels.
        #[arg(long)]
        write: bool,
        /// Write the record (JSON) to this file.
        #[arg(long)]
        json: Option<PathBuf>,
        /// Write the plot (SVG) to this file.
        #[arg(long)]
        svg: Option<PathBuf>,
    },
    /// Run `--check` and Oclgrind on kernels with one bug each, and on their corrected versions.
    Checks {
        #[command(flatten)]
        only: Only,
        /// Only these devices.
        #[arg(long, value_delimiter = ',')]
        device: Vec<Device>,
        /// Leave Oclgrind out.
        #[arg(long)]
        no_oclgrind: bool,
        /// Write the report to `docs/CHECKS.md`; only for all cases and devices.
        #[arg(long)]
        write: bool,
    },
    /// Run random programs on the engines, and compare the results with the model of the specification.
    Random {
        /// The number of programs.
        #[arg(long, default_value_t = 20_000)]
        programs: u64,
        /// The number of the first program. A program is determined by its number.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Write the report to `docs/RANDOM-PROGRAMS.md`.
        #[arg(long)]
        write: bool,
    },
    /// Reduce known failures inside of larger programs, and compare the results with those of a person and of creduce.
    Reductions(reductions::Args),
    /// Run random programs in OpenCL C through the driver, and compare the results with other implementations.
    OpenclRandom(clrandom::Args),
    /// Run such programs on one platform.
    #[command(hide = true)]
    OpenclRandomWorker(clrandom::Work),
    /// Show for each kernel which instructions native code leaves to the interpreter.
    Native {
        #[command(flatten)]
        only: Only,
        /// The devices whose code is compiled.
        #[arg(long, value_delimiter = ',', default_value = "pvc")]
        device: Vec<Device>,
    },
    /// Measure the time from vISA text to an executable program, and compare it with GenX_IR.
    Translation {
        #[command(flatten)]
        only: Only,
        /// The device whose texts are translated.
        #[arg(long, default_value = "dg2")]
        device: Device,
        /// The number of runs of each. The least time counts.
        #[arg(long, default_value_t = 5)]
        repeats: usize,
        /// Write the block of `docs/PERFORMANCE.md`; only for all kernels.
        #[arg(long)]
        write: bool,
        /// Write the record (JSON) to this file.
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// Measure all of `docs/PERFORMANCE.md`: kernels, command, checks, translation, assembler, verifier; needs the release build.
    Performance {
        #[command(flatten)]
        only: Only,
        /// Only these parts, for instance those that failed before.
        #[arg(long, value_delimiter = ',', value_name = "PART")]
        part: Vec<Part>,
        #[command(flatten)]
        how: CheckingHow,
        /// Write each part's block, record and plot as soon as it is measured, and the summary; only for all kernels.
        #[arg(long)]
        write: bool,
    },
    /// Compare the speed of each benchmark kernel with that of another build of this command, or with its speed without
    /// some environment variables: both run side by side, sample by sample. Fails where a kernel is slower than allowed.
    Gate {
        #[command(flatten)]
        only: Only,
        #[command(flatten)]
        options: build_comparison::Options,
    },
    /// Fetch foreign programs and run their tests on envisa and its peers. Needs the release build.
    Programs {
        /// Only programs whose name contains one of these.
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// The drivers that run them. Those that are not installed are left out.
        #[arg(long, value_delimiter = ',', default_value = "envisa,pocl,intel")]
        on: Vec<programs::Side>,
        /// Run them only on envisa, under `envisa exec --check`.
        #[arg(long, conflicts_with = "on")]
        check: bool,
        /// Write `docs/PROGRAMS.md` and its record, the part of each program as soon as it has run.
        #[arg(long)]
        write: bool,
    },
    /// Hold the checks against suites of kernels that others made, and against bugs planted in these.
    Foreign(foreign::Args),
    /// Time everyday kernels of many kinds on envisa's driver, PoCL and Intel's CPU runtime, and compare their results.
    Survey(foreign::survey::Args),
    /// Repeat a kept launch on one platform.
    #[command(hide = true)]
    ForeignWorker(foreign::replay::Work),
    /// Run one kernel on one platform in this process.
    #[command(hide = true)]
    PeerWorker {
        path: PathBuf,
        #[arg(long)]
        id: String,
        #[arg(long)]
        platform: String,
        #[arg(long)]
        out: PathBuf,
        #[arg(long)]
        serve: Option<SizeSet>,
    },
}

/// The choice of kernels.
#[derive(clap::Args)]
pub struct Only {
    /// Only kernels whose id (GROUP/NAME) contains one of these.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
}
