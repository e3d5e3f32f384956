//! The suite's command: list, peers, corpus, conformance, bench.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use envisa_suite::compare::{Check, Comparison, compare, compare_lines};
use envisa_suite::corpus;
use envisa_suite::envisa_side::run_on_envisa;
use envisa_suite::kernel::{Device, KernelFile, discover, kernel_folder};
use envisa_suite::launch::{Launch, Outputs, SizeSet};
use envisa_suite::peer::{self, Peer};
use envisa_suite::report::{Table, cell, suspicions};

/// Kernels, conformance and benchmarks of envisa against its peers.
#[derive(Parser)]
#[command(name = "envisa-suite", version)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the kernels with their features, devices and checks.
    List {
        /// Only kernels whose id contains this.
        filter: Option<String>,
        /// Show how many kernels exercise each feature instead.
        #[arg(long)]
        features: bool,
    },
    /// Run every kernel on the installed peers and hold them against each other.
    Peers {
        /// Only kernels whose id contains this.
        filter: Option<String>,
        /// The peers to run; the first one is the reference.
        #[arg(long, value_delimiter = ',', default_value = "pocl")]
        peer: Vec<Peer>,
    },
    /// Compile the kernels with ocloc and write the committed corpus.
    Corpus {
        /// Only kernels whose id contains this.
        filter: Option<String>,
        /// Only these devices.
        #[arg(long, value_delimiter = ',')]
        device: Vec<Device>,
        /// The compiler; `ocloc` on PATH unless told.
        #[arg(long)]
        ocloc: Option<PathBuf>,
        /// Where to write.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Write nothing; fail where the committed corpus differs from what the compiler gives.
        #[arg(long)]
        check: bool,
    },
    /// Hold envisa's results against PoCL's, on every device; writes a table.
    Conformance {
        /// Only kernels whose id contains this.
        filter: Option<String>,
        /// Only these devices.
        #[arg(long, value_delimiter = ',')]
        device: Vec<Device>,
        /// Write the table to this file instead of standard output.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Time envisa against its peers, alternating in one run; writes a table.
    Bench {
        /// Only kernels whose id contains this.
        filter: Option<String>,
        /// The device whose code envisa runs.
        #[arg(long, default_value = "dg2")]
        device: Device,
        /// The peers.
        #[arg(long, value_delimiter = ',', default_value = "pocl")]
        peer: Vec<Peer>,
        /// Timed runs of each.
        #[arg(long, default_value_t = 5)]
        repeats: u32,
        /// Time the peers alone.
        #[arg(long)]
        peers_only: bool,
    },
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
        bench: bool,
        #[arg(long, default_value_t = 0)]
        repeats: u32,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Verb::List { filter, features } => list(filter.as_deref(), features),
        Verb::Peers { filter, peer } => peers(filter.as_deref(), &peer),
        Verb::Corpus { filter, device, ocloc, out, check } => {
            let folder = out.unwrap_or_else(corpus::corpus_folder);
            write_corpus(filter.as_deref(), &device, ocloc.as_deref(), &folder, check)
        }
        Verb::Conformance { filter, device, out } => conformance(filter.as_deref(), &device, out.as_deref()),
        Verb::Bench { filter, device, peer, repeats, peers_only } => {
            bench(filter.as_deref(), device, &peer, repeats, peers_only)
        }
        Verb::PeerWorker { path, id, platform, out, bench, repeats } => {
            let set = if bench { SizeSet::Bench } else { SizeSet::Conformance };
            peer::worker(&path, &id, &platform, &out, set, repeats).map(|()| true)
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("envisa-suite: {why}");
            ExitCode::from(2)
        }
    }
}

fn kernels(filter: Option<&str>) -> Result<Vec<KernelFile>, String> {
    let mut all = discover(&kernel_folder()).map_err(|e| e.to_string())?;
    all.retain(|k| filter.is_none_or(|f| k.id.contains(f)));
    if all.is_empty() { Err("no kernel matches".to_owned()) } else { Ok(all) }
}

fn list(filter: Option<&str>, features: bool) -> Result<bool, String> {
    let all = kernels(filter)?;
    if features {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for f in all.iter().flat_map(|k| &k.header.features) {
            *count.entry(f).or_default() += 1;
        }
        let mut t = Table::new(["feature", "kernels"]);
        for (f, n) in count {
            t.row([f.to_owned(), n.to_string()]);
        }
        print!("{}", t.to_markdown());
        return Ok(true);
    }
    let mut t = Table::new(["kernel", "about", "devices", "checks", "bench"]);
    for k in &all {
        let devices: Vec<&str> = k.devices().iter().map(|d| d.name()).collect();
        let checks: Vec<String> = k
            .header
            .args
            .iter()
            .filter_map(|a| Check::parse(a.check.as_deref()?).ok().map(|c| format!("{}: {c}", a.name)))
            .collect();
        let bench = if k.header.bench.is_some() { "yes" } else { "" };
        t.row([k.id.clone(), k.header.about.clone(), devices.join(" "), checks.join("; "), bench.to_owned()]);
    }
    print!("{}", t.to_markdown());
    println!("\n{} kernels", all.len());
    Ok(true)
}

/// Compares a run with the reference's, output by output.
fn hold(launch: &Launch, want: &Outputs, got: &Outputs, printf: bool) -> Vec<(String, Comparison)> {
    let mut all = Vec::new();
    for (index, value) in &want.values {
        let arg = &launch.args[*index];
        let check = arg.check.unwrap_or(Check::Exact);
        let c = match got.values.iter().find(|(i, _)| i == index) {
            Some((_, other)) => compare(value, other, check),
            None => {
                Comparison { shape_error: Some("the output is missing".to_owned()), ..Comparison::default() }
            }
        };
        all.push((arg.name.clone(), c));
    }
    if printf {
        all.push(("printf".to_owned(), compare_lines(&want.printed, &got.printed)));
    }
    all
}

fn peers(filter: Option<&str>, peers: &[Peer]) -> Result<bool, String> {
    let mut good = true;
    let mut head = vec!["kernel".to_owned()];
    head.extend(peers.iter().map(|p| p.name().to_owned()));
    let mut t = Table::new(head);
    let mut described = BTreeMap::new();
    for k in kernels(filter)? {
        let launch = Launch::new(&k, SizeSet::Conformance, true).map_err(|e| format!("{}: {e}", k.id))?;
        let mut row = vec![k.id.clone()];
        let mut reference = None;
        for p in peers {
            match peer::run(*p, &k, SizeSet::Conformance, 0) {
                Err(why) => {
                    good = false;
                    row.push(format!("FAIL: {why}"));
                }
                Ok(run) => {
                    described.insert(p.name(), run.describe.clone());
                    let text = match &reference {
                        None => {
                            let odd = suspicions(&k, &launch, &run.outputs);
                            good &= odd.is_empty();
                            let text = if odd.is_empty() {
                                "ran".to_owned()
                            } else {
                                format!("ODD: {}", odd.join("; "))
                            };
                            reference = Some(run.outputs);
                            text
                        }
                        Some(want) => {
                            let held = hold(&launch, want, &run.outputs, k.header.printf.is_some());
                            good &= held.iter().all(|(_, c)| c.passed());
                            held.iter()
                                .map(|(n, c)| format!("{n}: {}", cell(c)))
                                .collect::<Vec<_>>()
                                .join("; ")
                        }
                    };
                    row.push(text);
                }
            }
        }
        t.row(row);
    }
    for (name, text) in described {
        println!("{name}: {text}");
    }
    print!("\n{}", t.to_markdown());
    Ok(good)
}

fn devices_of<'a>(k: &'a KernelFile, only: &'a [Device]) -> impl Iterator<Item = Device> + 'a {
    k.devices().iter().copied().filter(move |d| only.is_empty() || only.contains(d))
}

fn write_corpus(
    filter: Option<&str>,
    only: &[Device],
    ocloc: Option<&Path>,
    folder: &Path,
    check: bool,
) -> Result<bool, String> {
    let (mut files, mut bytes, mut good) = (0, 0, true);
    for k in kernels(filter)? {
        for d in devices_of(&k, only) {
            let product = corpus::compile(ocloc, &k, d);
            let product = match product {
                Ok(p) => p,
                Err(why) => {
                    eprintln!("{} on {}: {why}", k.id, d.name());
                    good = false;
                    continue;
                }
            };
            let path = corpus::corpus_path(folder, d, &k);
            files += 1;
            bytes += product.len();
            if check {
                if std::fs::read(&path).ok().as_deref() != Some(&product[..]) {
                    eprintln!("{} differs from what the compiler gives", path.display());
                    good = false;
                }
                continue;
            }
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
            }
            envisa::values::HostValue::from_raw(product).write(&path).map_err(|e| e.to_string())?;
        }
    }
    println!("{files} files, {bytes} bytes");
    Ok(good)
}

fn conformance(filter: Option<&str>, only: &[Device], out: Option<&Path>) -> Result<bool, String> {
    let mut good = true;
    let mut t = Table::new(["kernel", "device", "output", "bound", "result"]);
    let mut reference = String::new();
    for k in kernels(filter)? {
        let on_peer = Launch::new(&k, SizeSet::Conformance, true).map_err(|e| format!("{}: {e}", k.id))?;
        let launch = Launch::new(&k, SizeSet::Conformance, false).map_err(|e| format!("{}: {e}", k.id))?;
        let want = peer::run(Peer::Pocl, &k, SizeSet::Conformance, 0)
            .map_err(|e| format!("{} on PoCL: {e}", k.id))?;
        reference.clone_from(&want.describe);
        for d in devices_of(&k, only) {
            let got = run_on_envisa(&k, d, &launch, 0)?;
            for (name, c) in hold(&on_peer, &want.outputs, &got, k.header.printf.is_some()) {
                good &= c.passed();
                let bound = on_peer.args.iter().find(|a| a.name == name).and_then(|a| a.check);
                let bound = bound.map_or_else(|| "lines".to_owned(), |b| b.to_string());
                t.row([k.id.clone(), d.name().to_owned(), name, bound, cell(&c)]);
            }
        }
    }
    let text = format!("Reference: {reference}\n\n{}", t.to_markdown());
    match out {
        Some(path) => {
            envisa::values::HostValue::from_raw(text.into_bytes()).write(path).map_err(|e| e.to_string())?
        }
        None => print!("{text}"),
    }
    Ok(good)
}

fn bench(
    filter: Option<&str>,
    device: Device,
    peers: &[Peer],
    repeats: u32,
    peers_only: bool,
) -> Result<bool, String> {
    let mut good = true;
    let mut head = vec!["kernel".to_owned(), "work-items".to_owned()];
    if !peers_only {
        head.push("envisa, items/s".to_owned());
    }
    head.extend(peers.iter().map(|p| format!("{}, items/s", p.name())));
    let mut t = Table::new(head);
    for k in kernels(filter)?.iter().filter(|k| k.header.bench.is_some()) {
        let launch = Launch::new(k, SizeSet::Bench, false).map_err(|e| format!("{}: {e}", k.id))?;
        let items = launch.work_items();
        let rate = |seconds: &[f64]| {
            let mut s = seconds.to_vec();
            s.sort_by(f64::total_cmp);
            s.get(s.len() / 2).map_or_else(|| "-".to_owned(), |m| format!("{:.3e}", items as f64 / m))
        };
        let mut row = vec![k.id.clone(), items.to_string()];
        let ours = if peers_only { None } else { Some(run_on_envisa(k, device, &launch, repeats)?) };
        if let Some(ours) = &ours {
            row.push(rate(&ours.seconds));
        }
        for p in peers {
            match peer::run(*p, k, SizeSet::Bench, repeats) {
                Ok(run) => {
                    let mut text = rate(&run.outputs.seconds);
                    if let Some(ours) = &ours {
                        let held = hold(&launch, &run.outputs, ours, false);
                        if let Some((name, c)) = held.iter().find(|(_, c)| !c.passed()) {
                            good = false;
                            text = format!("{text} (results differ: {name}: {})", cell(c));
                        }
                    }
                    row.push(text);
                }
                Err(why) => {
                    good = false;
                    row.push(format!("FAIL: {why}"));
                }
            }
        }
        t.row(row);
    }
    print!("{}", t.to_markdown());
    Ok(good)
}
