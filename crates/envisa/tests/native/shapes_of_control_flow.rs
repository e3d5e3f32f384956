//! Time and memory of native code as control flow grows: loops one after another and in each other, joins far behind their branches,
//! many instructions between barriers. Programs that need more than a budget have no native code, and soon say why.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Config, Device};

const SHAPES: [&str; 6] =
    ["loops", "nested loops", "far joins", "barriers", "barriers in loops", "branches at barriers"];
/// Statements of the smaller program, and how much larger the other one is.
const FEW: usize = 500;
const TIMES: usize = 8;

/// A program of so many statements of a shape.
fn program(shape: &str, n: usize) -> String {
    const VARIABLES: usize = 64;
    let mut t = String::from(
        ".version 3.6\n.kernel \"grows\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=16\n\
         .decl T6 v_type=T num_elts=1\n.input T6 offset=32 size=4\n.decl P v_type=P num_elts=16\n",
    );
    for k in 0..VARIABLES {
        let _ = writeln!(t, ".decl X{k} v_type=G type=d num_elts=16 align=wordx32");
    }
    t += ".function \"grows_main\"\n";
    for k in 0..VARIABLES {
        let _ = writeln!(t, "mov (M1, 16) X{k}(0,0)<1> {k:#x}:d");
    }
    let sum = |k: usize| {
        let [a, b] = [k % VARIABLES, (k + 1) % VARIABLES];
        format!("add (M1, 16) X{a}(0,0)<1> X{a}(0,0)<1;1,0> X{b}(0,0)<1;1,0>\n")
    };
    let less = |k: usize| format!("cmp.lt (M1, 16) P X{}(0,0)<1;1,0> 0x3:d\n", k % VARIABLES);
    for k in 0..n {
        match shape {
            "loops" => {
                let _ = write!(t, "l{k}:\n{}{}(P) goto (M1, 16) l{k}\n", sum(k), less(k));
            }
            "nested loops" => {
                let _ = write!(t, "l{k}:\n{}", sum(k));
            }
            "far joins" => {
                let _ = write!(t, "{}(P) goto (M1, 16) l{k}\n{}", less(k), sum(k));
            }
            "barriers" => {
                let _ = write!(t, "{}{}", sum(k), if k % 50 == 0 { "barrier\n" } else { "" });
            }
            "barriers in loops" => {
                let _ = write!(t, "l{k}:\n{}barrier\n{}(P) goto (M1, 16) l{k}\n", sum(k), less(k));
            }
            _ => {
                let _ = write!(t, "{}(P) goto (M1, 16) l{k}\n{}l{k}:\nbarrier\n", less(k), sum(k));
            }
        }
    }
    for k in (0..n).rev() {
        match shape {
            "nested loops" => {
                let _ = writeln!(t, "{}(P) goto (M1, 16) l{k}", less(k));
            }
            "far joins" => {
                let _ = write!(t, "l{}:\n{}", n - 1 - k, sum(k));
            }
            _ => {}
        }
    }
    for k in 0..VARIABLES {
        let _ = writeln!(t, "oword_st (4) T6 {:#x}:ud X{k}.0", 4 * k);
    }
    t += "ret (M1, 16)\n";
    t
}

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
    let device = Device::new(Config::new(Platform::Pvc));
    let kernel = only_kernel(&device, &program(shape, n.parse().expect("a number")));
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
fn measured(shape: &str, n: usize) -> BTreeMap<String, u64> {
    let own = std::env::current_exe().expect("the test is a file");
    let out = Command::new(own)
        .args([
            "--ignored",
            "--exact",
            "shapes_of_control_flow::one_shape",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("SHAPE", format!("{shape}*{n}"))
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
fn time_and_memory_grow_with_control_flow() {
    for shape in SHAPES {
        let (few, many) = (measured(shape, FEW), measured(shape, TIMES * FEW));
        println!("{shape}: {few:?}, {many:?}");
        assert!(many.contains_key("memory"), "{shape}: {many:?}");
        for (what, took) in many {
            let least = if what == "memory" { 4096 } else { 10_000 };
            let most = few.get(&what).copied().unwrap_or(0).max(least) * 3 * TIMES as u64;
            assert!(took < most, "{shape}: {what} of {} statements: {took}, of {FEW}: {few:?}", TIMES * FEW);
        }
    }
}
