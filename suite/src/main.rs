//! The suite's command: list, peers, corpus, conformance, bench, translation, performance, programs.

mod cli;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use cli::{CheckingHow, Cli, Only, Verb};
use envisa_suite::bench;
use envisa_suite::build_comparison;
use envisa_suite::check_cost;
use envisa_suite::checks;
use envisa_suite::clock;
use envisa_suite::clrandom;
use envisa_suite::compare::Check;
use envisa_suite::conformance::{self, hold};
use envisa_suite::corpus;
use envisa_suite::foreign;
use envisa_suite::kernel::{CORPUS_DEVICES, Device, KernelFile, discover, kernel_folder};
use envisa_suite::launch::SizeSet;
use envisa_suite::machine::Machine;
use envisa_suite::peer::{self, Peer};
use envisa_suite::performance::{self, Part, docs_folder, json_of, publish, write_text};
use envisa_suite::reductions;
use envisa_suite::report::{Table, block, cell, replace_block, suspicions};
use envisa_suite::{
    command_cost, driver_speed, native_coverage, newer_compiler, programs, random, toolchain, translate,
};

/// How kernels are timed beside the peers that compile.
fn kernel_options() -> bench::Options {
    bench::Options {
        device: Device::Pvc,
        sizes: SizeSet::Bench,
        peers: vec![Peer::Pocl, Peer::Intel],
        repeats: 7,
        window: Duration::from_millis(100),
        limit: Duration::from_secs(20),
        jobs: 0,
        others: vec![Device::Dg2, Device::Tgllp, Device::Skl],
    }
}

/// How kernels are timed beside Oclgrind, at sizes that it finishes.
fn oclgrind_options() -> bench::Options {
    bench::Options {
        sizes: SizeSet::Slow,
        peers: vec![Peer::Oclgrind],
        repeats: 3,
        others: Vec::new(),
        ..kernel_options()
    }
}

/// How kernels are timed by one host program for everybody.
fn driver_options() -> bench::Options {
    bench::Options {
        peers: vec![Peer::Driver, Peer::Pocl, Peer::Intel],
        others: Vec::new(),
        ..kernel_options()
    }
}

/// How checking is measured: Oclgrind's checks take several times as long as it does without.
fn check_options(how: CheckingHow) -> check_cost::Options {
    check_cost::Options {
        device: how.device,
        oclgrind: !how.no_oclgrind,
        repeats: 3,
        window: Duration::from_millis(100),
        limit: Duration::from_secs(30),
        run_limit: Duration::from_secs(300),
    }
}

/// Runs random programs on all host threads; `true` if the model and the engines agree on all of them.
fn random_programs(first: u64, programs: u64, write: bool) -> Result<bool, String> {
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let count = random::Count::default();
    let part = |k: u64| first + programs * k / threads..first + programs * (k + 1) / threads;
    let failures = std::thread::scope(|s| {
        let run = |k| {
            let (part, count) = (part(k), &count);
            s.spawn(move || random::hold(part, &random::WAYS, count, 10))
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        let mut failures = Vec::new();
        for t in running {
            failures.extend(t.join().map_err(|_| "a host thread panicked: not all programs were run")?);
        }
        Ok::<_, String>(failures)
    })?;
    for f in &failures {
        println!("{f}");
    }
    let text = random::report(first, programs, &count, &failures, start.elapsed());
    println!("{text}");
    if write {
        let wrong: Vec<String> = failures.iter().map(|f| format!("program {}: {}", f.seed, f.what)).collect();
        // The page's other section is another command's.
        let page = docs_folder().join("RANDOM-PROGRAMS.md");
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        let other = old.find(clrandom::HEAD).map_or(String::new(), |at| format!("\n{}", &old[at..]));
        publish(&page, &format!("{text}{other}"), &wrong)?;
    }
    Ok(failures.is_empty())
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Verb::List { only, features } => list(&only, features),
        Verb::Peers { only, peer } => peers(&only, &peer),
        Verb::Corpus { only, device, ocloc, out, check } => {
            let folder = out.unwrap_or_else(corpus::corpus_folder);
            write_corpus(&only, &device, ocloc.as_deref(), &folder, check)
        }
        Verb::Conformance { only, device, jobs, newer: Some(ocloc), write, .. } => {
            newer(&only, &device, jobs, &ocloc, write)
        }
        Verb::Conformance { only, device, jobs, corpus, witness, write, out, newer: None } => {
            if let Some(folder) = corpus {
                corpus::use_folder(folder);
            }
            conformance(&only, &device, jobs, &witness, write, out.as_deref())
        }
        Verb::Bench { only, device, peer, oclgrind, repeats, window, limit, jobs, write, json, svg } => {
            let usual = if oclgrind { oclgrind_options() } else { kernel_options() };
            let options = bench::Options {
                device,
                peers: if oclgrind { usual.peers } else { peer },
                repeats: repeats.unwrap_or(usual.repeats),
                window,
                limit: Duration::from_secs(limit),
                jobs,
                others: if device == usual.device { usual.others } else { Vec::new() },
                sizes: usual.sizes,
            };
            let part = if oclgrind { Part::Oclgrind } else { Part::Kernels };
            run_bench(&only, &options, part, write, json.as_deref(), svg.as_deref())
        }
        Verb::Checks { only, device, no_oclgrind, write } => {
            checks::command(&only.only, &device, !no_oclgrind, write)
        }
        Verb::Foreign(args) => foreign::command(&args),
        Verb::Survey(args) => foreign::survey::command(&args),
        Verb::Reductions(args) => reductions::command(&args),
        Verb::OpenclRandom(args) => clrandom::command(&args),
        Verb::ForeignWorker(work) => foreign::replay::work(&work).map(|()| true),
        Verb::OpenclRandomWorker(work) => clrandom::work(&work).map(|()| true),
        Verb::Random { programs, first, write } => random_programs(first, programs, write),
        Verb::Native { only, device } => kernels(&only).and_then(|all| native_coverage::list(&all, &device)),
        Verb::Translation { only, device, repeats, write, json } => {
            translation(&only, device, repeats, write, json.as_deref())
        }
        Verb::Performance { only, part, how, write } => performance(&only, &part, how, write),
        Verb::Gate { only, options } => build_comparison::command(&only.only, options),
        Verb::Programs { only, on, check, write } => programs::command(&only, &on, check, write),
        Verb::PeerWorker { path, id, platform, out, serve } => {
            peer::worker(&path, &id, &platform, &out, serve).map(|()| true)
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

fn kernels(only: &Only) -> Result<Vec<KernelFile>, String> {
    let mut all = discover(&kernel_folder()).map_err(|e| e.to_string())?;
    all.retain(|k| only.only.is_empty() || only.only.iter().any(|f| k.id.contains(f.as_str())));
    if all.is_empty() { Err("no kernel matches".to_owned()) } else { Ok(all) }
}

fn list(only: &Only, features: bool) -> Result<bool, String> {
    let all = kernels(only)?;
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

fn peers(only: &Only, peers: &[Peer]) -> Result<bool, String> {
    let mut good = true;
    let mut head = vec!["kernel".to_owned()];
    head.extend(peers.iter().map(|p| p.name().to_owned()));
    let mut t = Table::new(head);
    let mut described = BTreeMap::new();
    for k in kernels(only)? {
        let launch = envisa_suite::launch::launch(&k, SizeSet::Conformance, true)
            .map_err(|e| format!("{}: {e}", k.id))?;
        let mut row = vec![k.id.clone()];
        let mut reference = None;
        for p in peers {
            match peer::run(*p, &k) {
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

fn write_corpus(
    only: &Only,
    devices: &[Device],
    ocloc: Option<&Path>,
    folder: &Path,
    check: bool,
) -> Result<bool, String> {
    let written = corpus::write(&kernels(only)?, devices, ocloc, folder, check)?;
    for (id, device, why) in &written.wrong {
        eprintln!("{id} on {}: {why}", device.name());
    }
    println!("{} files, {} bytes", written.files, written.bytes);
    Ok(written.wrong.is_empty())
}

/// Compiles the kernels with another compiler, and holds them as the committed ones.
fn newer(only: &Only, devices: &[Device], jobs: usize, ocloc: &Path, write: bool) -> Result<bool, String> {
    if write && !(only.only.is_empty() && devices.is_empty()) {
        return Err("`docs/CONFORMANCE.md` is written for all kernels and devices only".to_owned());
    }
    let devices = if devices.is_empty() { &newer_compiler::DEVICES[..] } else { devices };
    let run = newer_compiler::run(&kernels(only)?, devices, jobs, ocloc)?;
    let section = run.section(&Machine::here());
    println!("{section}");
    for failure in run.conformance.failures() {
        println!("{failure}");
    }
    if write {
        let path = docs_folder().join("CONFORMANCE.md");
        let old = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        publish(&path, &replace_block(&old, newer_compiler::BLOCK, &section), &run.conformance.failures())?;
    }
    Ok(run.conformance.good())
}

fn conformance(
    only: &Only,
    devices: &[Device],
    jobs: usize,
    witnesses: &[Peer],
    write: bool,
    out: Option<&Path>,
) -> Result<bool, String> {
    if write && !(only.only.is_empty() && devices.is_empty()) {
        return Err("`docs/CONFORMANCE.md` is written for all kernels and devices only".to_owned());
    }
    let devices = if devices.is_empty() { &CORPUS_DEVICES[..] } else { devices };
    let usual = [Peer::Oclgrind, Peer::Intel];
    let witnesses = if write && witnesses.is_empty() { &usual[..] } else { witnesses };
    let run = conformance::run(&kernels(only)?, devices, witnesses, jobs)?;
    let page = docs_folder().join("CONFORMANCE.md");
    // Today's compiler need not be here: what was measured with it stays.
    let old = std::fs::read_to_string(&page).unwrap_or_default();
    let document = run.document(&Machine::here(), block(&old, newer_compiler::BLOCK));
    if let Some(path) = out {
        write_text(path, &document)?;
    }
    print!("{}", run.table().to_markdown());
    println!("\n{}\n{}", run.summary(), run.witness_section());
    for failure in run.failures() {
        println!("{failure}");
    }
    if write {
        publish(&page, &document, &run.failures())?;
    }
    Ok(run.good())
}

/// Refuses to write what only a whole, optimised run may say.
fn may_write(only: &Only) -> Result<(), String> {
    if !only.only.is_empty() {
        return Err("`docs/PERFORMANCE.md` is written for all kernels only".to_owned());
    }
    if cfg!(debug_assertions) {
        return Err("`docs/PERFORMANCE.md` is written by the release build only".to_owned());
    }
    if clock::is_cpu() {
        return Err(
            "`docs/PERFORMANCE.md` has times by the wall's clock: unset ENVISA_BENCH_CLOCK".to_owned()
        );
    }
    Ok(())
}

fn run_bench(
    only: &Only,
    options: &bench::Options,
    part: Part,
    write: bool,
    json: Option<&Path>,
    svg: Option<&Path>,
) -> Result<bool, String> {
    if write {
        may_write(only)?;
    }
    let run = bench::run(&kernels(only)?, options, |line| eprintln!("{line}"));
    let (command, plot, record) = (part.command(), part.plot(), part.record());
    let section = match part {
        Part::Oclgrind => run.oclgrind_section(&command, &plot, &record),
        _ => run.section(&command, &plot, &record),
    };
    leave(part, &run, &section, &run.complaints(), write)?;
    if write {
        write_text(&docs_folder().join(plot), &run.plot())?;
    }
    if let Some(path) = json {
        write_text(path, &json_of(&run)?)?;
    }
    if let Some(path) = svg {
        write_text(path, &run.plot())?;
    }
    Ok(run.good())
}

fn translation(
    only: &Only,
    device: Device,
    repeats: usize,
    write: bool,
    json: Option<&Path>,
) -> Result<bool, String> {
    let part = Part::Translation;
    if write {
        may_write(only)?;
    }
    let run = translate::run(&kernels(only)?, device, repeats)?;
    let section = run.section(&part.command(), &part.record());
    leave(part, &run, &section, &[], write)?;
    if let Some(path) = json {
        write_text(path, &json_of(&run)?)?;
    }
    Ok(true)
}

/// Measures the parts asked for, all unless told, one after the other. A part that fails does not end the run.
fn performance(only: &Only, parts: &[Part], how: CheckingHow, write: bool) -> Result<bool, String> {
    if write {
        may_write(only)?;
    }
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|p| parts.is_empty() || parts.contains(p)).collect();
    let start = Instant::now();
    let say = |text: &str| eprintln!("[{:4.0} s] {text}", start.elapsed().as_secs_f64());
    say("building what is measured");
    // All that is needed is built now: nothing compiles while something is measured.
    let mut envisa = Err("it is not needed".to_owned());
    let mut wrong = Vec::new();
    for part in &parts {
        let built = match part {
            Part::Runs | Part::Checks => {
                envisa = command_cost::build_command();
                envisa.as_ref().map(|_| ()).map_err(Clone::clone)
            }
            Part::Assembler => toolchain::build("envisa-cli", "assembler"),
            Part::Verifier => toolchain::build("envisa-verify", "verify"),
            Part::Driver | Part::Foreign => command_cost::build_driver(),
            Part::Kernels | Part::Avx2 | Part::Oclgrind | Part::Native | Part::Translation => Ok(()),
        };
        if let Err(why) = built {
            wrong.push((*part, why));
        }
    }
    for (n, part) in parts.iter().enumerate() {
        if wrong.iter().any(|(p, _)| p == part) {
            continue;
        }
        say(&format!("part {} of {}: {}", n + 1, parts.len(), part.name()));
        // A panic is one of the ways in which a part fails.
        let one = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            measure(*part, only, how, envisa.as_deref(), write)
        }));
        match one.unwrap_or_else(|_| Err("it panicked".to_owned())) {
            Ok(true) => {}
            Ok(false) => wrong.push((*part, "see what it says".to_owned())),
            Err(why) => wrong.push((*part, why)),
        }
    }
    say("done");
    for (part, why) in &wrong {
        eprintln!("{} failed: {why}", part.name());
    }
    if !wrong.is_empty() {
        let names: Vec<String> = wrong.iter().map(|(p, _)| p.name()).collect();
        eprintln!("again: {} --part {}", performance::COMMAND, names.join(","));
    }
    Ok(wrong.is_empty())
}

/// Times kernels with envisa and Intel's CPU runtime held to AVX2, in a process of its own: both look at what they are
/// held to once.
fn held_to_avx2(only: &Only) -> Result<bench::Bench, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let record = folder.path().join("record.json");
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut bench = std::process::Command::new(this);
    bench.args(["bench", "--peer", "intel", "--json"]).arg(&record);
    for id in &only.only {
        bench.args(["--only", id]);
    }
    bench.env("ENVISA_LEVEL", "avx2").env("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2");
    bench.stdout(std::process::Stdio::null());
    bench.status().map_err(|e| e.to_string())?;
    toolchain::read_record(&record)
}

/// Shows a part's section, and writes it and its record where that is asked for.
fn leave(
    part: Part,
    record: &impl serde::Serialize,
    section: &str,
    wrong: &[String],
    write: bool,
) -> Result<(), String> {
    println!("{section}");
    if write { performance::write(&docs_folder(), part, record, section, wrong) } else { Ok(()) }
}

/// Measures one part; false where it has something to complain of.
fn measure(
    part: Part,
    only: &Only,
    how: CheckingHow,
    envisa: Result<&Path, &String>,
    write: bool,
) -> Result<bool, String> {
    let (command, record) = (part.command(), part.record());
    match part {
        Part::Kernels => run_bench(only, &kernel_options(), part, write, None, None),
        Part::Avx2 => {
            let run = held_to_avx2(only)?;
            leave(part, &run, &run.avx2_section(&command, &record), &run.complaints(), write)?;
            Ok(run.good())
        }
        Part::Oclgrind => run_bench(only, &oclgrind_options(), part, write, None, None),
        Part::Driver => {
            let say = |line: &str| eprintln!("{line}");
            let (small, large): (Vec<KernelFile>, Vec<KernelFile>) =
                kernels(only)?.into_iter().partition(|k| k.id.starts_with(driver_speed::SMALL));
            let mut run = bench::run(&large, &driver_options(), say);
            let usual = bench::Options { sizes: SizeSet::Conformance, ..driver_options() };
            let small = bench::run(&small, &usual, say);
            run.kernels.extend(small.kernels);
            // Told of what ran, and nothing did where there are small ones only.
            if run.peers.is_empty() {
                run.peers = small.peers;
            }
            let section = driver_speed::section(&run, &command, &record);
            leave(part, &run, &section, &run.complaints(), write)?;
            Ok(run.good())
        }
        Part::Translation => translation(only, Device::Dg2, 5, write, None),
        Part::Native => {
            let run = native_coverage::run(&kernels(only)?)?;
            leave(part, &run, &run.section(&command, &record), &run.complaints(), write)?;
            Ok(run.complaints().is_empty())
        }
        Part::Runs => {
            let envisa = envisa.map_err(Clone::clone)?;
            let run = command_cost::run(envisa, &kernels(only)?, Device::Pvc, |line| eprintln!("{line}"))?;
            let section = run.section(&command, &record);
            leave(part, &run, &section, &run.complaints(), write)?;
            Ok(run.complaints().is_empty())
        }
        Part::Checks => {
            let envisa = envisa.map_err(Clone::clone)?;
            let run =
                check_cost::run(envisa, &kernels(only)?, &check_options(how), |line| eprintln!("{line}"));
            let section = run.section(&command, &record);
            leave(part, &run, &section, &run.complaints(), write)?;
            Ok(run.complaints().is_empty())
        }
        Part::Assembler => {
            let run = toolchain::Assembler::measure()?;
            let section = run.section(&command, &record);
            leave(part, &run, &section, &[], write)?;
            Ok(true)
        }
        Part::Foreign => foreign::measure(&only.only, write),
        Part::Verifier => {
            let run = toolchain::Verifier::measure()?;
            let section = run.section(&command, &record);
            leave(part, &run, &section, &[], write)?;
            Ok(true)
        }
    }
}
