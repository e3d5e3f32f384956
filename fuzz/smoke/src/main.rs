//! Runs mutated inputs through the fuzz targets: `cargo run --release -p envisa-fuzz-smoke -- --inputs 1000000`.

use envisa_fuzz_smoke::{TARGETS, Target, free, memory, mutate, share};
use envisa_smith::generate::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// An input takes no longer; generous, since a busy machine counts as well.
const TIME: Duration = Duration::from_secs(5);
/// An input that takes as long ends the run.
const HANG: Duration = Duration::from_secs(30);
/// An input takes no more memory for each of its bytes, after [`free`].
const FACTOR: usize = 100;

struct Settings {
    inputs: u64,
    seed: u64,
    threads: usize,
    only: Option<String>,
}

const USAGE: &str = "usage: envisa-fuzz-smoke [--inputs N] [--seed N] [--threads N] [--target NAME]

Runs N mutated inputs (1,000,000) on the targets binary, text, zebin, ze_info, npy, job, program, message, protocol, expression and
dwarf, or on one.
What breaks a promise is kept below tests/fuzz-cases. Exit code 1 if anything does.";

fn settings() -> Result<Settings, String> {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut s = Settings { inputs: 1_000_000, seed: 1, threads, only: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        let number = || value.parse::<u64>().map_err(|e| format!("{arg} {value}: {e}"));
        match arg.as_str() {
            "--inputs" => s.inputs = number()?,
            "--seed" => s.seed = number()?,
            "--threads" => s.threads = (number()? as usize).clamp(1, 256),
            "--target" if TARGETS.iter().any(|(n, _)| *n == value) => s.only = Some(value),
            _ => return Err(USAGE.into()),
        }
    }
    Ok(s)
}

fn main() -> ExitCode {
    let settings = match settings() {
        Ok(s) => s,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    };
    // What panics is caught and told below.
    std::panic::set_hook(Box::new(|_| {}));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = root.join("tests/fuzz-cases");
    let mut failed = false;
    let targets: Vec<_> =
        TARGETS.iter().filter(|(n, _)| settings.only.as_deref().is_none_or(|o| o == *n)).collect();
    for (name, target) in &targets {
        let work = Work {
            name,
            target: *target,
            source: mutate::Source::new(name, &root),
            cases: cases.join(name),
            failed: AtomicBool::new(false),
            slowest: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            current: (0..settings.threads).map(|_| Mutex::default()).collect(),
            running: AtomicUsize::new(settings.threads),
        };
        let inputs = if targets.len() == 1 { settings.inputs } else { settings.inputs * share(name) / 100 };
        let start = Instant::now();
        std::thread::scope(|scope| {
            for t in 0..settings.threads as u64 {
                let work = &work;
                let share =
                    inputs / settings.threads as u64 + u64::from(t < inputs % settings.threads as u64);
                scope.spawn(move || {
                    work.run(settings.seed << 8 | t, t as usize, share);
                    work.running.fetch_sub(1, Ordering::Release);
                });
            }
            scope.spawn(|| work.watch());
        });
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name}: {inputs} inputs from {} seeds in {seconds:.1} s ({:.0}/s); slowest {} us, most memory {} KiB",
            work.source.len(),
            inputs as f64 / seconds,
            work.slowest.into_inner(),
            work.largest.into_inner() >> 10,
        );
        failed |= work.failed.into_inner();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// An input at work, and since when.
type Current = (Instant, Vec<u8>);

struct Work<'a> {
    name: &'a str,
    target: Target,
    source: mutate::Source,
    cases: PathBuf,
    failed: AtomicBool,
    slowest: AtomicU64,
    largest: AtomicU64,
    /// What each thread is at, and since when.
    current: Vec<Mutex<Option<Current>>>,
    /// Threads at work.
    running: AtomicUsize,
}

impl Work<'_> {
    /// Ends the run at an input that does not end.
    fn watch(&self) {
        while self.running.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(100));
            for slot in &self.current {
                let hung = match &*slot.lock().unwrap_or_else(|e| e.into_inner()) {
                    Some((since, input)) if since.elapsed() > HANG => Some(input.clone()),
                    _ => None,
                };
                if let Some(input) = hung {
                    self.keep(&input, &format!("did not end in {HANG:?}"));
                    std::process::exit(1);
                }
            }
        }
    }

    fn run(&self, seed: u64, thread: usize, inputs: u64) {
        let mut rng = Rng::new(seed);
        let mut input = Vec::new();
        for _ in 0..inputs {
            self.source.input(&mut rng, &mut input);
            let start = Instant::now();
            *self.current[thread].lock().unwrap_or_else(|e| e.into_inner()) = Some((start, input.clone()));
            let (result, bytes) = memory::peak(|| catch_unwind(AssertUnwindSafe(|| (self.target)(&input))));
            let time = start.elapsed();
            *self.current[thread].lock().unwrap_or_else(|e| e.into_inner()) = None;
            self.slowest.fetch_max(time.as_micros() as u64, Ordering::Relaxed);
            self.largest.fetch_max(bytes as u64, Ordering::Relaxed);
            let complaint = match result {
                Err(panic) => Some(format!("panicked: {}", message(&*panic))),
                Ok(()) if time > TIME => Some(format!("took {time:?}")),
                Ok(()) if bytes > free(self.name) + FACTOR * input.len() => {
                    Some(format!("took {bytes} bytes for an input of {}", input.len()))
                }
                Ok(()) => None,
            };
            if let Some(complaint) = complaint {
                self.keep(&input, &complaint);
            }
        }
    }

    fn keep(&self, input: &[u8], complaint: &str) {
        // The first is told; more of them are usually the same.
        let first = !self.failed.swap(true, Ordering::Relaxed);
        let hash = input
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ *b as u64).wrapping_mul(0x0100_0000_01b3));
        let path = self.cases.join(format!("{hash:016x}"));
        let kept = std::fs::create_dir_all(&self.cases).and_then(|()| std::fs::write(&path, input));
        if first {
            eprintln!("{}: {complaint}\n  input: {} ({:?})", self.name, path.display(), kept);
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "something that is not text".into())
}
