//! What takes time: a launch on an immediate list and through the OpenCL driver, in turns in one process; a wait for an
//! event.
//!
//! Run by `cargo test --release -p envisa-levelzero --test driver -- --ignored cost`, on a machine that does nothing else.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::opencl::OpenCl;
use crate::ze::*;

const TEXT: &str = "kernel void add(global unsigned *x, unsigned v) { x[get_global_id(0)] += v; }";
/// Launches that are measured together, fewer than the system lets a process do at once where others have work, and how
/// often both take turns.
const LAUNCHES: u32 = 100;
const TURNS: usize = 300;
/// What times differ by when nothing does.
const NOISE: f64 = 1.1;

/// Launches through OpenCL, each with its end waited for: seconds of one.
fn through_opencl(cl: &OpenCl, kernel: usize, groups: usize, group: usize) -> f64 {
    let (all, one) = (groups * group, group);
    let (launch, finish) = (cl.function("clEnqueueNDRangeKernel"), cl.function("clFinish"));
    let args = [cl.queue, kernel, 1, 0, of(&all), of(&one), 0, 0, 0];
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        // SAFETY: as the specification says.
        unsafe {
            assert_eq!(call(launch, &args), 0);
            assert_eq!(call(finish, &[cl.queue]), 0);
        }
    }
    start.elapsed().as_secs_f64() / f64::from(LAUNCHES)
}

/// The least of several times: the others have the work of other processes in them.
fn least(all: &[f64]) -> f64 {
    all.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "it measures times, on a machine that does nothing else"]
fn a_launch_on_an_immediate_list_costs_no_more_than_through_opencl() {
    let Some(d) = driver() else { return };
    let group = 256;
    let Some(cl) = OpenCl::new() else { return };
    let il = spirv(TEXT);
    let theirs = cl.kernel(cl.program(&il), "add");
    cl.arg(theirs, 0, cl.buffer(&vec![0u32; group * 64]));
    cl.arg(theirs, 1, 3u32);
    let (result, module, log) = d.module(0, &il);
    assert_eq!(result, SUCCESS, "{log}");
    let kernel = d.kernel(module, "add", group);
    let x = d.shared(&vec![0u32; group * 64]);
    d.arg(kernel, 0, x.as_ptr());
    d.arg(kernel, 1, 3u32);
    let list = d.immediate(0);
    let launch = d.function("zeCommandListAppendLaunchKernel");
    let finish = d.function("zeCommandListHostSynchronize");
    let here = |groups: u32| {
        let groups = [groups, 1, 1];
        let args = [list, kernel, of(&groups), 0, 0, 0];
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: as the specification says.
            unsafe {
                assert_eq!(call(launch, &args), SUCCESS);
                assert_eq!(call(finish, &[list, FOREVER]), SUCCESS);
            }
        }
        start.elapsed().as_secs_f64() / f64::from(LAUNCHES)
    };
    for groups in [1u32, 64] {
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(here(groups));
            others.push(through_opencl(&cl, theirs, groups as usize, group));
        }
        let (ours, others) = (1e6 * least(&ours), 1e6 * least(&others));
        let ratio = ours / others;
        writeln!(
            std::io::stderr(),
            "{groups} groups: {ours:.2} us on an immediate list, {others:.2} us through OpenCL, ratio {ratio:.2}"
        )
        .expect("somebody reads");
        assert!(ratio <= NOISE, "{groups} groups cost {ratio:.2} times as much");
    }
    // Each launch was done: of the first group twice as often.
    let each = 3 * LAUNCHES * TURNS as u32;
    assert_eq!((x[0], x[group], x[64 * group - 1]), (2 * each, each, each));
}

/// A wait that nothing ends is over when its time is, also where another process might end it: whoever sleeps to the end is
/// woken late, by up to a tenth of a millisecond. A quarter of the waits count.
#[test]
#[ignore = "it measures times, on a machine that does nothing else"]
fn waits_end_in_time() {
    let Some(d) = driver() else { return };
    let wanted = Duration::from_millis(5);
    // Visible to the host, and to other processes.
    for flags in [1u64, 1 | 2] {
        let pool = d.make("zeEventPoolCreate", &[d.context, of(&[0u64, 0, flags | 1 << 32]), 0, 0]);
        let event = d.make("zeEventCreate", &[pool, zeros()]);
        let mut late: Vec<_> = (0..20)
            .map(|_| {
                let start = Instant::now();
                let result = d.call("zeEventHostSynchronize", &[event, wanted.as_nanos() as usize]);
                assert_eq!(result, NOT_READY);
                start.elapsed().checked_sub(wanted).expect("it waits as long")
            })
            .collect();
        late.sort_unstable();
        assert!(late[4] < Duration::from_micros(10), "{late:?} late, with flags {flags}");
    }
}
