//! How long 100,000 instructions of real kernels take: `cargo bench -p envisa-verify`; `-- --json FILE` leaves
//! the figures in a file too, from which `envisa-suite performance` makes the block of `docs/PERFORMANCE.md`.
//!
//! The instructions are those of the corpus in `suite/corpus`, parsed beforehand, again and again until
//! there are enough. Time is the thread's own where the system tells it (Linux), else the clock's; the
//! least of several rounds counts.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use envisa_isa::{Module, Platform, Platforms};
use envisa_text::ParseOptions;
use envisa_verify::{Options, check};
use envisa_zebin::ZebinFile;

const INSTRUCTIONS: usize = 100_000;
const ROUNDS: usize = 9;

fn zebins(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            zebins(&path, out);
        } else if path.extension().is_some_and(|e| e == "zebin") {
            out.push(path);
        }
    }
}

/// The kernels of the corpus for a platform, each a module, until there are enough instructions; and how
/// many there are.
fn kernels(platform: Platform) -> (Vec<Module>, usize) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/corpus");
    let mut paths = Vec::new();
    zebins(&corpus.join(platform.name().to_ascii_lowercase()), &mut paths);
    paths.sort();
    let mut modules = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).expect("a readable zebin");
        let zebin = ZebinFile::parse(&bytes).expect("a zebin");
        for kernel in zebin.kernels() {
            let Ok(visa) = zebin.kernel_visa(&kernel.name) else { continue };
            let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
            modules.push(envisa_text::parse(&zebin.visa_text(visa), Default::default(), &options).module);
        }
    }
    let size = |m: &Module| m.objects.iter().map(|o| o.insts.len()).sum::<usize>();
    let mut out: Vec<Module> = Vec::new();
    let mut n = 0;
    for m in modules.iter().cycle() {
        if n >= INSTRUCTIONS {
            break;
        }
        n += size(m);
        out.push(m.clone());
    }
    (out, n)
}

/// Time this thread has run.
fn now(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match stat.split_whitespace().next().and_then(|n| n.parse().ok()) {
        Some(nanos) => Duration::from_nanos(nanos),
        None => start.elapsed(),
    }
}

fn main() {
    let start = Instant::now();
    let mut rows = Vec::new();
    for platform in [Platform::Dg2, Platform::Pvc] {
        let (modules, n) = kernels(platform);
        let one = Platforms::of(&[platform]);
        for (what, platforms, lints) in [
            ("rules", one, false),
            ("rules and lints", one, true),
            ("rules and lints, all platforms", Platforms::ALL, true),
        ] {
            let options = Options { platforms, lints, ..Options::default() };
            let mut best = Duration::MAX;
            let mut found = 0;
            for _ in 0..ROUNDS {
                let before = now(start);
                found = modules.iter().map(|m| check(m, &options).len()).sum();
                best = best.min(now(start) - before);
            }
            rows.push(serde_json::json!({
                "platform": platform.name(),
                "kernels": modules.len(),
                "instructions": n,
                "what": what,
                "platforms": platforms.iter().count(),
                "seconds": best.as_secs_f64(),
                "findings": found,
            }));
        }
    }
    let record = serde_json::json!({ "rounds": ROUNDS, "rows": rows });
    let record = serde_json::to_string_pretty(&record).expect("a record") + "\n";
    print!("{record}");
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--json") {
        std::fs::write(&args[at + 1], record).expect("the record can be written");
    }
}
