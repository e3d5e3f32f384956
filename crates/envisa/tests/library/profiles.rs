//! Profiles of small kernels, whose numbers are known.

use envisa::isa::Platform;
use envisa::{Config, Counts, Device, Launch, Module, Profile, Source};

/// Eight channels store to the places that they are given.
const STORE: &str = "\
.version 4.1
.kernel \"k\"
.decl Values v_type=G type=ud num_elts=8 align=GRF
.decl Places v_type=G type=ud num_elts=8 align=GRF
.input Values offset=32 size=32
.input Places offset=64 size=32
SURFACE
.kernel_attr SimdSize=8
scatter.4 (M1,8) SURFACE_NAME 0x0:ud Places.0 Values.0
gather.4 (M1,8) SURFACE_NAME 0x0:ud Places.0 Values.0
ret (M1,8)
";

/// Channels of at least 4 add one.
const BRANCH: &str = "\
.version 4.1
.kernel \"k\"
.decl X v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=8
.input X offset=32 size=32
.kernel_attr SimdSize=8
cmp.lt (M1,8) P1 X(0,0)<1;1,0> 0x4:ud
(P1) goto (M1,8) skip
add (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
skip:
ret (M1,8)
";

/// Thread n of the group subtracts one n times, then all meet.
const MEET: &str = "\
.version 4.1
.kernel \"k\"
.decl I v_type=G type=ud num_elts=1 align=dword
.decl P1 v_type=P num_elts=1
.kernel_attr SimdSize=8
and (M1,1) I(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
again:
cmp.eq (M1,1) P1 I(0,0)<0;1,0> 0x0:ud
(P1) goto (M1,1) meet
add (M1,1) I(0,0)<1> I(0,0)<0;1,0> -0x1:d
jmp (M1,1) again
meet:
barrier
ret (M1,8)
";

fn profiled(
    text: &str,
    launch: impl FnOnce(&Device, Launch) -> Launch,
    threads: u32,
    groups: u32,
) -> Profile {
    let device = Device::new(Config::new(Platform::Skl));
    let module = Module::load(&device, "k.visaasm", Source::Text(text.as_bytes())).expect("it is right");
    let kernel = module.kernel("k").expect("k");
    let launch = launch(&device, Launch::threads(&[groups], threads)).profile(true).trace(true);
    let outcome = device.run(&kernel, &launch).expect("it runs");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    outcome.profile.expect("it was asked for")
}

fn of(p: &Profile, instruction: &str) -> Counts {
    p.instructions
        .iter()
        .find(|i| i.text.contains(instruction))
        .unwrap_or_else(|| panic!("{instruction}"))
        .counts
}

fn words(of: impl IntoIterator<Item = u32>) -> Vec<u8> {
    of.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn stored(surface: &str, step: u32) -> Profile {
    let declared = format!(".decl {surface} v_type=T num_elts=1\n.input {surface} offset=96 size=4");
    let local = surface == "%slm";
    let text = STORE
        .replace("SURFACE_NAME", surface)
        .replace("SURFACE\n", &if local { String::new() } else { format!("{declared}\n") });
    // Places count elements of four bytes.
    let places = words((0..8).map(|i| i * step));
    let launch = |device: &Device, launch: Launch| {
        let launch = launch.arg("Values", words(0..8)).arg("Places", places);
        if local {
            return launch.local_memory(4096);
        }
        launch.arg(surface, device.buffer("out", 4096).expect("memory"))
    };
    profiled(&text, launch, 1, 1)
}

#[test]
fn strided_stores_touch_more_lines() {
    for (step, lines) in [(1, 1), (2, 1), (4, 2), (16, 8), (0, 1)] {
        let p = stored("T6", step);
        for what in ["scatter", "gather"] {
            let c = of(&p, what);
            assert_eq!((c.executed, c.accesses, c.channels, c.possible_channels), (1, 8, 8, 8));
            assert_eq!((c.cache_lines, c.least_cache_lines), (lines, 1), "{what}, step {step}");
            assert_eq!((c.bank_steps, c.least_bank_steps), (0, 0));
        }
        assert_eq!((of(&p, "scatter").bytes_written, of(&p, "scatter").bytes_read), (32, 0));
        assert_eq!((of(&p, "gather").bytes_written, of(&p, "gather").bytes_read), (0, 32));
    }
}

#[test]
fn strides_of_local_memory_meet_in_banks() {
    for (step, stores, loads) in [(1, 1, 1), (2, 1, 1), (4, 2, 2), (16, 8, 8), (17, 1, 1), (0, 8, 1)] {
        let p = stored("%slm", step);
        let (s, l) = (of(&p, "scatter"), of(&p, "gather"));
        assert_eq!((s.bank_steps, s.least_bank_steps), (stores, 1), "step {step}");
        assert_eq!((l.bank_steps, l.least_bank_steps), (loads, 1), "step {step}");
        assert_eq!((s.cache_lines, l.cache_lines), (0, 0));
    }
}

#[test]
fn branches_that_split_channels_are_divergent() {
    for (x, divergent, adding) in [(words(0..8), 1, 4), (words(8..16), 0, 8), (words([0; 8]), 0, 0)] {
        let p = profiled(BRANCH, |_, l| l.arg("X", x), 2, 3);
        assert_eq!((p.threads, p.groups), (6, 3));
        let goto = of(&p, "goto");
        assert_eq!((goto.branches, goto.divergent_branches), (6, 6 * divergent));
        // Nobody comes to an instruction that all channels branch over.
        let add = p.instructions.iter().find(|i| i.text.contains("add")).map_or(0, |i| i.counts.channels);
        assert_eq!(add, 6 * adding);
        assert_eq!(of(&p, "cmp").executed, 6);
    }
}

#[test]
fn who_comes_first_waits_for_the_last() {
    let p = profiled(MEET, |_, l| l, 3, 40);
    let meet = of(&p, "barrier");
    // Each round is four instructions: threads 0, 1 and 2 wait for 8, 4 and 0.
    assert_eq!((meet.barrier_waits, meet.waited), (3 * 40, 12 * 40));
    assert_eq!(of(&p, "cmp").executed, (1 + 2 + 3) * 40);
    let trace = p.trace.as_ref().expect("it was asked for");
    assert_eq!((trace.groups_left_out, trace.spans_left_out), (8, 0));
    assert_eq!(trace.threads.len(), 3 * 32);
    let second = &trace.threads[4];
    assert_eq!((second.group, second.thread), ([1, 0, 0], 1));
    let spans: Vec<_> = second.spans.iter().map(|s| (s.what, s.start, s.end)).collect();
    // and, cmp, goto, add, jmp, cmp, goto, barrier; four more of thread 2; ret.
    assert_eq!(spans, [("run", 0, 8), ("barrier", 8, 12), ("run", 12, 13)]);
    assert_eq!(second.end, 13);
}

#[test]
fn any_number_of_host_threads_tells_the_same() {
    let with = |n| {
        let p = profiled(MEET, |_, l| l.host_threads(n), 3, 40);
        (p.instructions, p.total, p.trace)
    };
    assert_eq!(with(1), with(2));
}
