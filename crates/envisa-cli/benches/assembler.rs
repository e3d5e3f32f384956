//! Assembler and disassembler beside GenX_IR, in one run: `cargo bench -p envisa --bench assembler`.
//!
//! Prints its figures; `-- --json FILE` leaves them in a file too, from which `envisa-suite performance` makes the
//! block of `docs/PERFORMANCE.md`. Without GenX_IR it says so, and fails where `ENVISA_REQUIRE_ORACLES=1`.

use envisa::binary::{ReadOptions, WriteOptions, read_with, write};
use envisa::diag::FileId;
use envisa::isa::Platform;
use envisa::text::{ParseOptions, PrintOptions, parse, print};
use envisa_smith::generate::Rng;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const INSTRUCTIONS: usize = 100_000;
/// Runs in one process, of which the median counts, and of a command, of which the least does.
const RUNS: usize = 15;
/// Runs of GenX_IR, of which the least counts.
const REFERENCE_RUNS: usize = 3;

/// A kernel of ordinary instructions, deterministic: moves, arithmetic, compares, branches, messages.
fn kernel(instructions: usize) -> String {
    let mut rng = Rng::new(1);
    let mut var = || 32 + rng.below(400);
    let mut s = String::from(".version 4.1\n.kernel \"generated\"\n");
    for i in 32..432 {
        let _ = writeln!(s, ".decl V{i:04} v_type=G type=d num_elts=16 align=32word");
    }
    s.push_str(".decl P1 v_type=P num_elts=32\n.decl T6 v_type=T num_elts=1\n.kernel_attr Target=\"cm\"\n");
    for i in 0..instructions {
        let (a, b, c, d) = (var(), var(), var(), var());
        let _ = match i % 8 {
            0 => writeln!(s, "    add (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> V{c:04}(0,0)<0;1,0>"),
            1 => {
                writeln!(s, "    mul (M5, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> 0x{:x}:d", i & 0x7fff_ffff)
            }
            2 => writeln!(s, "    mov (M1_NM, 1) V{a:04}(0,0)<1> V{b:04}(0,1)<0;1,0>"),
            3 => writeln!(s, "    gather4_scaled.R (M1, 16) T6 0x0:ud V{a:04}.0 V{b:04}.0"),
            4 => writeln!(s, "    cmp.lt (M1, 16) P1 V{a:04}(0,0)<1;1,0> V{b:04}(0,0)<1;1,0>"),
            5 => writeln!(
                s,
                "    (P1) mad (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> V{c:04}(0,0)<1;1,0> V{d:04}(0,0)<1;1,0>"
            ),
            6 => writeln!(
                s,
                "    (!P1) sel (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> (-)V{c:04}(0,0)<1;1,0>"
            ),
            _ => writeln!(s, "    shl (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> V{c:04}(0,0)<1;1,0>"),
        };
    }
    s.push_str("    ret (M1, 1)\n");
    s
}

/// Processor time of this thread in seconds, so that a busy machine changes little.
fn now() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).expect("Linux tells processor times");
    ns / 1e9
}

/// Processor time of the children that have ended, user and system, in seconds (to 10 ms).
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold blanks.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}

/// Median of some runs, in seconds of processor time.
fn time<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut all: Vec<f64> = (0..runs)
        .map(|_| {
            let start = now();
            drop(black_box(run()));
            now() - start
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The run of a process that took the least `of`.
fn least(runs: usize, of: impl Fn(&Used) -> f64, run: impl Fn() -> Used) -> Used {
    (0..runs).map(|_| run()).min_by(|a, b| of(a).total_cmp(&of(b))).expect("a run")
}

/// What a process took: seconds of processor time and in all, and its greatest resident set in MiB, as far as it was seen.
struct Used {
    seconds: f64,
    wall: f64,
    mib: f64,
}

fn resident(pid: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn process(program: &Path, dir: &Path, args: &[&str]) -> Used {
    let (start, before) = (Instant::now(), children());
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let pid = child.id().to_string();
    let mut mib: f64 = 0.0;
    loop {
        mib = mib.max(resident(&pid));
        if child.try_wait().expect("a child can be waited for").is_some() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "{} takes too long", program.display());
        std::thread::sleep(Duration::from_micros(500));
    }
    Used { seconds: children() - before, wall: start.elapsed().as_secs_f64(), mib }
}

/// Does in a process of its own what the commands do, and tells its greatest resident set in MiB.
fn child(what: &str, input: &str, output: &str) {
    let bytes = std::fs::read(input).expect("the input is there");
    let out = match what {
        "as" => {
            let text = String::from_utf8(bytes).expect("a text");
            let parsed = parse(&text, FileId(0), &ParseOptions::default());
            assert!(parsed.complete);
            write(&parsed.module, &WriteOptions::default()).expect("it can be written")
        }
        _ => {
            let module =
                read_with(&bytes, &ReadOptions::for_platform(Platform::Skl)).expect("it can be read");
            print(&module, &PrintOptions::default()).expect("it can be printed").into_bytes()
        }
    };
    std::fs::write(output, out).expect("the output can be written");
    println!("{}", resident("self"));
}

/// Greatest resident set of [`child`], in MiB.
fn child_mib(what: &str, input: &Path, output: &Path) -> f64 {
    let me = std::env::current_exe().expect("a program");
    let out = Command::new(me).arg("--child").arg(what).arg(input).arg(output).output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().parse().expect("a number")
}

fn genx_ir() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|d| d.join("GenX_IR")).find(|p| p.is_file());
    if found.is_none() {
        let message = "GenX_IR is not installed (libigc-tools): nothing to compare with";
        assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none_or(|v| v != "1"), "{message}");
        eprintln!("{message}");
    }
    found
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--child") {
        return child(&args[at + 1], &args[at + 2], &args[at + 3]);
    }
    let dir = tempfile::tempdir().expect("a folder");
    let (text_path, isa_path) = (dir.path().join("in.visaasm"), dir.path().join("in.isa"));
    let back = dir.path().join("back.visaasm");
    let text = kernel(INSTRUCTIONS);
    std::fs::write(&text_path, &text).expect("the text is written");

    let options = ParseOptions::default();
    let parsed = parse(&text, FileId(0), &options);
    assert!(parsed.complete, "the text reads");
    let bytes = write(&parsed.module, &WriteOptions::default()).expect("it can be written");
    let module = read_with(&bytes, &ReadOptions::for_platform(Platform::Skl)).expect("it can be read");
    let printed = print(&module, &PrintOptions::default()).expect("it can be printed");
    assert_eq!(parsed.module.first_difference(&module), None);

    let assembling = time(RUNS, || {
        let parsed = parse(black_box(&text), FileId(0), &options);
        write(&parsed.module, &WriteOptions::default())
    });
    let disassembling = time(RUNS, || {
        let module =
            read_with(black_box(&bytes), &ReadOptions::for_platform(Platform::Skl)).expect("it can be read");
        print(&module, &PrintOptions::default())
    });
    let envisa = Path::new(env!("CARGO_BIN_EXE_envisa"));
    let wall = |args: &[&str]| least(RUNS, |u| u.wall, || process(envisa, dir.path(), args)).wall;
    let record = serde_json::json!({
        "instructions": INSTRUCTIONS,
        "runs": RUNS,
        "reference_runs": REFERENCE_RUNS,
        "text_bytes": text.len(),
        "binary_bytes": bytes.len(),
        "printed_bytes": printed.len(),
        "parse": time(RUNS, || parse(black_box(&text), FileId(0), &options)),
        "write": time(RUNS, || write(black_box(&parsed.module), &WriteOptions::default())),
        "assemble": assembling,
        "assemble_mib": child_mib("as", &text_path, &isa_path),
        "command_as": wall(&["as", "in.visaasm", "-o", "in.isa"]),
        "read": time(RUNS, || read_with(black_box(&bytes), &ReadOptions::for_platform(Platform::Skl))),
        "print": time(RUNS, || print(black_box(&module), &PrintOptions::default())),
        "disassemble": disassembling,
        "disassemble_mib": child_mib("dis", &isa_path, &back),
        "command_dis": wall(&["dis", "in.isa", "-o", "back.visaasm"]),
        "genx_ir": genx_ir().map(|program| reference(&program, dir.path(), &text)),
    });
    let record = serde_json::to_string_pretty(&record).expect("a record") + "\n";
    print!("{record}");
    if let Some(at) = args.iter().position(|a| a == "--json") {
        std::fs::write(&args[at + 1], record).expect("the record can be written");
    }
}

/// GenX_IR on the same text.
fn reference(program: &Path, dir: &Path, text: &str) -> serde_json::Value {
    // A statement that it does not know, after everything else, ends it as soon as all is parsed and
    // its instructions are built.
    std::fs::write(dir.join("parse.visaasm"), format!("{text}    no_such_instruction\n"))
        .expect("the text is written");
    std::fs::write(dir.join("empty.visaasm"), ".version 4.1\n.kernel \"k\"\n    no_such\n")
        .expect("the text is written");
    let run = |file: &str, more: &[&str]| {
        let args: Vec<&str> =
            [file, "-platform", "SKL", "-noverifyCISA"].iter().chain(more).copied().collect();
        least(REFERENCE_RUNS, |u| u.seconds, || process(program, dir, &args))
    };
    let start = run("empty.visaasm", &[]).seconds;
    let all = run("in.visaasm", &["-stopafter", "CFG", "-outputCisaBinaryName", "o.isa"]);
    serde_json::json!({
        "start": start,
        "parse": (run("parse.visaasm", &[]).seconds - start).max(1e-9),
        "all": all.seconds,
        "mib": all.mib,
    })
}
