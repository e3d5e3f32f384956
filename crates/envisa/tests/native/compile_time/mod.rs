//! Time and memory of native code as programs grow, at each level of vector instructions. Programs that need more than a budget
//! have no native code, and soon say why.

mod control_flow;
mod instructions;

use std::collections::BTreeMap;
use std::process::Command;

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Config, Device};

/// Statements of the smaller program, and how much larger the other one is.
const FEW: usize = 500;
const TIMES: usize = 8;

/// The most memory that this process had, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Microseconds for which this thread has run.
fn time_run() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let run: u64 = status.split(' ').next().and_then(|n| n.parse().ok()).expect("nanoseconds");
    run / 1000
}

/// One program, in a process of its own: the memory that its native code took, and the time of each pass; or why there is none.
#[test]
#[ignore = "started by the test below"]
fn one_shape() {
    let Ok(what) = std::env::var("SHAPE") else { return };
    let (shape, n) = what.split_once('*').expect("a shape and a number");
    let n = n.parse().expect("a number");
    let program = match control_flow::SHAPES.contains(&shape) {
        true => control_flow::program(shape, n),
        false => instructions::program(shape, n),
    };
    let device = Device::new(Config::new(Platform::Pvc));
    let kernel = only_kernel(&device, &program);
    let (before, start) = (most_memory(), time_run());
    let passes = match kernel.make_native() {
        Ok(made) => made.passes,
        Err(why) => {
            println!("without: {why}");
            Vec::new()
        }
    };
    println!("took: {} memory", most_memory() - before);
    println!("took: {} all", time_run() - start);
    for (pass, time) in passes {
        println!("took: {} {pass}", time.as_micros());
    }
}

/// KiB of memory, and microseconds of a processor for all and for each pass, by name.
fn measured(shape: &str, n: usize, level: &str) -> BTreeMap<String, u64> {
    let own = std::env::current_exe().expect("the test is a file");
    let out = Command::new(own)
        .args(["--ignored", "--exact", "compile_time::one_shape", "--nocapture", "--test-threads=1"])
        .env("SHAPE", format!("{shape}*{n}"))
        .env("ENVISA_LEVEL", level)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{shape}, {n}: {text}{}", String::from_utf8_lossy(&out.stderr));
    for why in text.lines().filter(|l| l.contains("without: ")) {
        println!("{shape}, {n}: {why}");
    }
    let line = |l: &str| {
        let (number, what) = l.split_once("took: ")?.1.split_once(' ')?;
        Some((what.to_owned(), number.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Eight times as much takes about eight times as long and as much memory, not sixty-four times, in every pass. What takes less than
/// 10 ms or 4 MiB of the smaller program may have that.
#[test]
fn time_and_memory_grow_as_programs_do() {
    let shapes = control_flow::SHAPES.into_iter().chain(instructions::SHAPES);
    for (shape, level) in shapes.flat_map(|s| [(s, "avx512"), (s, "avx2")]) {
        let (few, many) = (measured(shape, FEW, level), measured(shape, TIMES * FEW, level));
        println!("{shape}, {level}: {few:?}, {many:?}");
        assert!(many.contains_key("memory"), "{shape}, {level}: {many:?}");
        for (what, took) in many {
            let least = if what == "memory" { 4096 } else { 10_000 };
            let most = few.get(&what).copied().unwrap_or(0).max(least) * 2 * TIMES as u64;
            let size = TIMES * FEW;
            assert!(took < most, "{shape}, {level}: {what} of {size} statements: {took}, of {FEW}: {few:?}");
        }
    }
}
