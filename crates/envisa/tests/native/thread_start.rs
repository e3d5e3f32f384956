//! Native code that starts the threads of many groups itself: results, and where it stops, are the interpreter's.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Cancel, Config, Device, Engine, Fault, FaultKind, Kernel, Launch, Module, Source};

/// Each thread of sixteen channels has 64 bytes of the buffer, in the order of groups and threads; it counts to its
/// number plus one there.
const COUNT: &str = r#"
.version 3.6
.kernel "count"
.kernel_attr Target="cm"
.decl Size v_type=G type=ud num_elts=4
.decl N v_type=G type=ud num_elts=1
.decl I v_type=G type=ud num_elts=1
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl At v_type=G type=ud num_elts=16 align=wordx32
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl P v_type=P num_elts=1
.decl A v_type=G type=uq num_elts=1 align=qword
.decl To v_type=G type=uq num_elts=16 align=wordx32
.input A offset=64 size=8
.input Size offset=96 size=16
.function "count_main"
mul (M1, 1) N(0,0)<1> %r0(0,7)<0;1,0> Size(0,1)<0;1,0>
add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> %r0(0,6)<0;1,0>
mul (M1, 1) N(0,0)<1> N(0,0)<0;1,0> Size(0,0)<0;1,0>
add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> %r0(0,1)<0;1,0>
mul (M1, 1) N(0,0)<1> N(0,0)<0;1,0> Size(0,2)<0;1,0>
and (M1, 1) I(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> I(0,0)<0;1,0>
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
shl (M1, 16) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
shl (M1, 1) I(0,0)<1> N(0,0)<0;1,0> 0x6:ud
add (M1, 16) At(0,0)<1> At(0,0)<1;1,0> I(0,0)<0;1,0>
mov (M1, 16) X(0,0)<1> 0x0:ud
mov (M1, 1) I(0,0)<1> 0x0:ud
again:
add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
add (M1, 16) To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_store.ugm (M1, 16) flat[To]:a64 X:d32
add (M1, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud
cmp.le (M1, 1) P I(0,0)<0;1,0> N(0,0)<0;1,0>
(P) jmp (M1, 1) again
ret (M1, 1)
"#;

/// What a run left, and how it stopped.
type Left = (Vec<u8>, Option<Box<Fault>>);

fn count(engine: Engine, groups: [u32; 3], threads: u32, bytes: usize, limit: u64) -> Left {
    left(COUNT, engine, groups, threads, bytes, limit)
}

fn left(text: &str, engine: Engine, groups: [u32; 3], threads: u32, bytes: usize, limit: u64) -> Left {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    let buffer = device.buffer("a", bytes as u64).expect("there is memory");
    let size: Vec<u8> = [groups[0], groups[1], threads, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let launch = Launch::threads(&groups, threads)
        .arg("A", &buffer)
        .arg("Size", size)
        .engine(engine)
        .host_threads(1)
        .limit(limit);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    (buffer.to_vec(), outcome.fault)
}

#[test]
fn a_fault_is_told_of_the_thread_that_it_happens_in() {
    for (groups, threads) in [([5, 2, 2], 3), ([1, 1, 1], 1), ([7, 1, 1], 1), ([1, 6, 1], 2), ([2, 1, 3], 4)]
    {
        let all = (groups.iter().product::<u32>() * threads) as usize;
        for most in [all, all - 1, all / 2, 1, 0] {
            // A row that is cut begins inside.
            for bytes in [64 * most, 64 * most + 36].into_iter().filter(|b| *b > 0) {
                let [a, b] =
                    [Engine::Interpreter, Engine::Native].map(|e| count(e, groups, threads, bytes, u64::MAX));
                assert_eq!(a.1.is_some(), bytes < 64 * all, "{:?}", a.1);
                assert_eq!(a, b, "{groups:?} groups of {threads}, {bytes} bytes");
            }
        }
    }
}

/// What a thread loads before it loops is fetched for those after it: nobody sees it, also where that is nobody's.
#[test]
fn rows_before_a_loop_are_each_threads_own() {
    let load = "\
add (M1, 16) To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_load.ugm (M1, 16) X:d32 flat[To]:a64
";
    let text = COUNT.replace("mov (M1, 16) X(0,0)<1> 0x0:ud\n", load);
    for (groups, threads) in [([9, 2, 2], 3), ([1, 1, 1], 1), ([40, 1, 1], 1), ([1, 8, 1], 2)] {
        let all = (groups.iter().product::<u32>() * threads) as usize;
        for bytes in [64 * all, 64 * all - 28, 32 * all] {
            let [a, b] = [Engine::Interpreter, Engine::Native]
                .map(|e| left(&text, e, groups, threads, bytes, u64::MAX));
            assert_eq!(a.1.is_some(), bytes < 64 * all, "{:?}", a.1);
            assert_eq!(a, b, "{groups:?} groups of {threads}, {bytes} bytes");
        }
    }
}

/// Groups find their local memory empty, also where threads that do not wait for each other share it: each adds to what
/// the one before left in the group. Faults amid a row are told of their group.
#[test]
fn local_memory_is_each_groups_own() {
    let shared = "\
shl (M1, 16) Slot(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
lsc_load.slm (M1, 16) X:d32 flat[Slot]:a32
";
    let text = COUNT
        .replace(".decl X ", ".decl Slot v_type=G type=ud num_elts=16 align=wordx32\n.decl X ")
        .replace("mov (M1, 16) X(0,0)<1> 0x0:ud\n", shared)
        .replace("ret (M1, 1)\n", "lsc_store.slm (M1, 16) flat[Slot]:a32 X:d32\nret (M1, 1)\n");
    for (groups, threads) in [([7u32, 3, 1], 1u32), ([5, 2, 2], 3), ([1, 4, 1], 2), ([300, 1, 1], 1)] {
        let all = groups.iter().product::<u32>() * threads;
        for (short, limit) in [(0, u64::MAX), (64, u64::MAX), (64 * (all / 3), u64::MAX), (0, 40)] {
            let run = |engine| {
                let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
                let kernel = only_kernel(&device, &text);
                let buffer = device.buffer("a", u64::from(64 * all - short)).expect("there is memory");
                let size: Vec<u8> =
                    [groups[0], groups[1], threads, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
                let launch = Launch::threads(&groups, threads)
                    .arg("A", &buffer)
                    .arg("Size", size)
                    .local_memory(64)
                    .engine(engine)
                    .host_threads(1)
                    .limit(limit);
                let outcome = device.run(&kernel, &launch).expect("it is launched");
                (buffer.to_vec(), outcome.fault)
            };
            let (want, got) = (run(Engine::Interpreter), run(Engine::Native));
            assert_eq!(
                want.1, got.1,
                "{groups:?} groups of {threads}, {short} bytes too short, limit {limit}"
            );
            assert!(
                want.0 == got.0,
                "{groups:?} groups of {threads}, {short} bytes too short, limit {limit}"
            );
            if short == 0 && limit == u64::MAX {
                assert!(want.1.is_none(), "{:?}", want.1);
                let first = |n: u32| want.0[64 * n as usize] as u32;
                // The second group's first thread begins anew.
                assert_eq!(first(threads) & 0xff, (threads + 1) & 0xff);
            }
        }
    }
}

#[test]
fn a_limit_is_each_threads_own() {
    let (groups, threads) = ([6, 2, 1], 2);
    let all = 24;
    let (mut stopped, mut ended) = (0, 0);
    for limit in [1, 5, 6, 30, 59, 60, 61, 119, 120, 121, 130, 1000] {
        let [a, b] =
            [Engine::Interpreter, Engine::Native].map(|e| count(e, groups, threads, 64 * all, limit));
        match &a.1 {
            Some(f) => {
                assert_eq!(f.kind, FaultKind::Limit);
                stopped += 1;
            }
            None => ended += 1,
        }
        assert_eq!(a, b, "limit {limit}");
    }
    assert!(stopped > 5 && ended > 0, "{stopped}, {ended}");
}

fn compiled(name: &str) -> (Device, Kernel) {
    compiled_for(Platform::Pvc, &format!("bench/{name}"))
}

/// A kernel of the suite, by its group and name.
fn compiled_for(platform: Platform, name: &str) -> (Device, Kernel) {
    let device = Device::new(Config::new(platform).memory(1 << 24));
    let of = match platform {
        Platform::Pvc => "pvc",
        Platform::Dg2 => "dg2",
        Platform::Skl => "skl",
        _ => "tgllp",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../suite/corpus/{of}/{name}.zebin"));
    let zebin = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = name.rsplit('/').next().unwrap_or(name);
    let module = Module::load(&device, name, Source::Zebin(&zebin)).expect("it loads");
    let kernel = module.kernel(name).expect("it is there");
    (device, kernel)
}

#[test]
fn groups_of_any_size_in_three_dimensions() {
    let (device, kernel) = compiled("stencil3d");
    let global = [37u64, 11, 5];
    let n = global.iter().product::<u64>() as usize;
    let data: Vec<u8> = (0..n).flat_map(|i| (i as f32 * 0.75).to_le_bytes()).collect();
    let sizes = [
        [8, 4, 4],
        [37, 1, 1],
        [16, 2, 1],
        [32, 1, 1],
        [5, 3, 2],
        [1, 1, 1],
        [64, 1, 1],
        [33, 1, 2],
        [3, 11, 5],
    ];
    for local in sizes {
        // The last one's buffer is too short.
        for short in [0, 4, 4 * (n as u64 / 2), 4 * (n as u64 - 3)] {
            let run = |engine| {
                let input = device.buffer_from("in", &data).expect("there is memory");
                let out = device.buffer("out", 4 * n as u64 - short).expect("there is memory");
                let launch = Launch::range(&global, &local)
                    .arg("in", &input)
                    .arg("out", &out)
                    .arg("a", 0.125f32)
                    .engine(engine)
                    .host_threads(1);
                let outcome = device.run(&kernel, &launch).expect("it is launched");
                let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group, f.threads));
                assert_eq!(fault.is_some(), short > 0);
                (out.to_vec(), fault)
            };
            assert_eq!(run(Engine::Interpreter), run(Engine::Native), "{local:?}, {short} bytes too short");
        }
    }
}

#[test]
fn a_launch_of_threads_without_loops_is_cancelled_between_them() {
    let text = ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n.decl X v_type=G type=ud num_elts=8 align=GRF\n\
                .decl T6 v_type=T num_elts=1\n.input T6 offset=64 size=4\n.function \"k_main\"\n\
                oword_st (2) T6 0x0:ud X.0\nret (M1, 1)\n";
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, text);
    for engine in [Engine::Interpreter, Engine::Native] {
        let cancel = Cancel::new();
        let buffer = device.buffer("out", 64).expect("there is memory");
        let launch =
            Launch::threads(&[1 << 20, 1 << 20], 64).arg("T6", &buffer).engine(engine).cancel(&cancel);
        let (fault, took) = std::thread::scope(|s| {
            let run = s.spawn(|| device.run(&kernel, &launch).expect("it is launched"));
            std::thread::sleep(Duration::from_millis(20));
            let start = Instant::now();
            cancel.cancel();
            (run.join().expect("no panic").fault.expect("it was cancelled"), start.elapsed())
        });
        assert_eq!(fault.kind, FaultKind::Cancelled);
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

/// Sizes of groups whose threads have one row of all channels, two rows, or a row that does not fill them; and buffers
/// that end within a row, a channel or a byte of it too early.
#[test]
fn rows_of_all_channels_and_of_half_of_them() {
    let cases: [(&str, [u64; 2], &[&str], usize); 3] = [
        // Bytes, and words that begin at each of them; both buffers.
        ("sobel", [96, 24], &["in", "out"], 1),
        ("median", [96, 24], &["in", "out"], 1),
        ("blur", [96, 24], &["in", "out"], 4),
    ];
    for (name, global, buffers, element) in cases {
        let (device, kernel) = compiled(name);
        let n = (global[0] * global[1]) as usize * element;
        let data: Vec<u8> = match element {
            1 => (0..n).map(|i| (i * i / 3 + 7 * i) as u8).collect(),
            _ => (0..n / 4).flat_map(|i| (i as u32).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect(),
        };
        let mut faults = 0;
        for local in [[32, 1], [32, 8], [96, 2], [16, 16], [16, 2], [8, 8], [24, 3], [48, 1], [1, 24]] {
            for (which, short) in [(0, 0), (0, 1), (0, 30), (1, 1), (1, 17), (1, n / 2 + 5), (0, n - 40)] {
                let run = |engine, as_asked: bool| {
                    let made: Vec<_> = (0..2)
                        .map(|k| {
                            let end = if k == which { n - short } else { n };
                            device.buffer_from(buffers[k], &data[..end]).expect("there is memory")
                        })
                        .collect();
                    let launch = Launch::range(&global, &local).engine(engine).host_threads(1);
                    let launch = buffers.iter().zip(&made).fold(launch, |l, (name, b)| l.arg(*name, b));
                    let outcome = match as_asked {
                        true => envisa::internals::run_as_asked(&device, &kernel, &launch),
                        false => device.run(&kernel, &launch),
                    };
                    let outcome = outcome.unwrap_or_else(|e| panic!("{name}: {e}"));
                    let fault =
                        outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group, f.threads));
                    (made.iter().map(|b| b.to_vec()).collect::<Vec<_>>(), fault)
                };
                let [a, b] = [Engine::Interpreter, Engine::Native].map(|engine| run(engine, true));
                faults += usize::from(a.1.is_some());
                assert!(
                    a == b,
                    "{name}, {local:?}, buffer {which} {short} bytes too short: {:?}, {:?}",
                    a.1,
                    b.1
                );
                // In other groups other work-items have run when one faults.
                let c = run(Engine::Native, false);
                assert!(
                    a.1 == c.1 && (a.1.is_some() || a.0 == c.0),
                    "{name}, {local:?}: {:?}, {:?}",
                    a.1,
                    c.1
                );
            }
        }
        assert!(faults > 20, "{name}: {faults}");
    }
}

#[test]
fn pairs_of_elements_in_rows_and_out_of_rows() {
    let (device, kernel) = compiled("fft_step");
    let bytes = |n: usize, f: f32| -> Vec<u8> {
        (0..2 * n).flat_map(|i| (i as f32 * f).sin().to_le_bytes()).collect()
    };
    // Butterflies of fewer than sixteen leave the row; of a group's last thread some channels are off.
    for half in [1u32, 2, 4, 8, 16, 32, 256] {
        for (items, local) in [(512u64, 64u64), (512, 32), (500, 50), (37, 37), (96, 24)] {
            let n = (2 * items as usize).next_multiple_of(2 * half as usize);
            // Tables of few entries lie in one window of a vector, if that is all inside.
            for (short, more) in [(0, 0), (0, 40), (8, 7), (4, 0)] {
                let run = |engine| {
                    let data = device.buffer_from("data", &bytes(n, 0.37)[short..]).expect("there is memory");
                    let twiddle =
                        device.buffer_from("twiddle", &bytes(half as usize + more, 0.11)).expect("memory");
                    let launch = Launch::range(&[items], &[local])
                        .arg("data", &data)
                        .arg("twiddle", &twiddle)
                        .arg("half_len", half)
                        .engine(engine)
                        .host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group));
                    (data.to_vec(), fault)
                };
                let [a, b] = [Engine::Interpreter, Engine::Native].map(run);
                assert_eq!(a, b, "{half}, {items} by {local}, {short} bytes too short");
            }
        }
    }
}

#[test]
fn places_that_are_rows_now_and_then() {
    let (device, kernel) = compiled("gather_cache");
    let n = 1 << 16;
    let table: Vec<u8> = (0..n as u32).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    // Scattered for long, as rows, as rows of eight, and in turns; each for as many work-items as the number says.
    type Place = fn(u32) -> u32;
    let (scattered, row): (Place, Place) = (|i| i.wrapping_mul(40_503), |i| i);
    let (halves, clamped): (Place, Place) = (|i| i & 7 | (i & !7) << 1, |i| i.max((i & !15) + 3));
    let phases: [(Place, u32); 14] = [
        (scattered, 30_000),
        (row, 4_000),
        (halves, 3_000),
        (row, 64),
        (halves, 16),
        (scattered, 64),
        (halves, 480),
        (clamped, 64),
        (halves, 2_000),
        (scattered, 500),
        (row, 64),
        (scattered, 600),
        (row, 16),
        (scattered, 600),
    ];
    let mut index: Vec<u32> = Vec::new();
    for (place, count) in phases.into_iter().cycle() {
        let first = index.len() as u32;
        index.extend((first..first + count).map(|i| place(i) % n as u32));
        if index.len() >= n {
            break;
        }
    }
    index.truncate(n);
    for astray in [None, Some(n - 3), Some(45_000), Some(100)] {
        let mut index = index.clone();
        if let Some(at) = astray {
            index[at] = n as u32 + 5;
        }
        let index: Vec<u8> = index.iter().flat_map(|i| i.to_le_bytes()).collect();
        let run = |engine| {
            let table = device.buffer_from("table", &table).expect("there is memory");
            let index = device.buffer_from("index", &index).expect("there is memory");
            let out = device.buffer("out", 4 * n as u64).expect("there is memory");
            let launch = Launch::range(&[n as u64], &[64])
                .arg("table", &table)
                .arg("index", &index)
                .arg("out", &out)
                .arg("mask", n as u32 - 1)
                .engine(engine)
                .host_threads(1);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group));
            assert_eq!(fault.is_some(), astray.is_some());
            (out.to_vec(), fault)
        };
        assert!(run(Engine::Interpreter) == run(Engine::Native), "{astray:?}");
    }
}

/// Exchanges at all distances, loads and stores: rows, two rows of eight, and none; also in buffers that end too early.
#[test]
fn exchanges_at_any_distance() {
    let (device, kernel) = compiled("bitonic_step");
    for (stage, pass) in (0..9u32).flat_map(|stage| (0..=stage).map(move |pass| (stage, pass))) {
        for (items, local) in [(512u64, 64u64), (512, 32), (500, 50), (96, 24)] {
            let n = (2 * items).next_multiple_of(2 << (stage - pass)) as u32;
            for short in [0, 1, 4, 40] {
                let data: Vec<u8> =
                    (0..n).flat_map(|i| (i.wrapping_mul(0x9e37_79b9) >> 3).to_le_bytes()).collect();
                let run = |engine| {
                    let data = device.buffer_from("data", &data[short..]).expect("there is memory");
                    let launch = Launch::range(&[items], &[local])
                        .arg("data", &data)
                        .arg("stage", stage)
                        .arg("pass", pass)
                        .engine(engine)
                        .host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group));
                    (data.to_vec(), fault)
                };
                let [a, b] = [Engine::Interpreter, Engine::Native].map(run);
                assert!(
                    a == b,
                    "stage {stage}, pass {pass}, {items} by {local}, {short} bytes too short: {:?}",
                    a.1
                );
            }
        }
    }
}

/// Each thread writes what it is by the state register, by bytes and words of its header, and by its hardware slot.
const STATE: &str = r#"
.version 3.6
.kernel "state"
.kernel_attr Target="cm"
.kernel_attr BarrierCnt=1
.decl Size v_type=G type=ud num_elts=4
.decl N v_type=G type=ud num_elts=1
.decl Header v_type=G type=ub num_elts=32 alias=<%r0, 0>
.decl Words v_type=G type=uw num_elts=16 alias=<%r0, 0>
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl A v_type=G type=uq num_elts=1 align=qword
.decl To v_type=G type=uq num_elts=1 align=qword
.input A offset=64 size=8
.input Size offset=96 size=16
.function "state_main"
mul (M1, 1) N(0,0)<1> %r0(0,6)<0;1,0> Size(0,0)<0;1,0>
add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> %r0(0,1)<0;1,0>
mul (M1, 1) N(0,0)<1> N(0,0)<0;1,0> Size(0,2)<0;1,0>
mov (M1, 1) X(0,0)<1> Header(0,8)<0;1,0>
add (M1, 1) N(0,0)<1> N(0,0)<0;1,0> X(0,0)<0;1,0>
mov (M1, 1) X(0,1)<1> Header(0,9)<0;1,0>
mov (M1, 1) X(0,2)<1> Header(0,4)<0;1,0>
mov (M1, 1) X(0,3)<1> Words(0,3)<0;1,0>
mov (M1, 1) X(0,4)<1> Header(0,21)<0;1,0>
mov (M1, 1) X(0,5)<1> Words(0,12)<0;1,0>
mov (M1, 1) X(0,6)<1> %sr0(0,0)<0;1,0>
mov (M1, 1) X(0,7)<1> %hw_id(0,0)<0;1,0>
BARRIER
shl (M1, 1) N(0,0)<1> N(0,0)<0;1,0> 0x5:ud
add (M1, 1) To(0,0)<1> A(0,0)<0;1,0> N(0,0)<0;1,0>
lsc_store.ugm (M1, 1) flat[To]:a64 X:d32x8t
ret (M1, 1)
"#;

/// Threads that look at parts of their header or at `%sr0` start by native code, too, whether they wait or not.
#[test]
fn threads_start_with_what_they_are() {
    for platform in [Platform::Pvc, Platform::Dg2] {
        let device = Device::new(Config::new(platform).memory(1 << 24));
        for barrier in ["", "barrier"] {
            let text = STATE.replace("BARRIER", barrier);
            let kernel = only_kernel(&device, &text);
            for (groups, threads) in [([7u32, 3, 1], 4u32), ([300, 1, 1], 2), ([1, 2, 1], 8)] {
                let all = groups.iter().product::<u32>() * threads;
                let run = |engine, statistics| {
                    let buffer = device.buffer("a", 32 * u64::from(all)).expect("there is memory");
                    let size: Vec<u8> =
                        [groups[0], groups[1], threads, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
                    let launch = Launch::threads(&groups, threads)
                        .arg("A", &buffer)
                        .arg("Size", size)
                        .engine(engine)
                        .host_threads(1)
                        .statistics(statistics);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
                    (buffer.to_vec(), outcome.statistics.and_then(|s| s.native))
                };
                let [a, b] = [Engine::Interpreter, Engine::Native].map(|e| run(e, false).0);
                assert_eq!(a, b, "{platform:?}, {groups:?} groups of {threads}, {barrier}");
                let dwords: Vec<u32> =
                    a.chunks(4).map(|x| u32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
                // Each is another thread, in its place.
                for (k, x) in dwords.chunks(8).enumerate() {
                    assert_eq!((x[0], x[2]), (k as u32 % threads, (k as u32 / threads % groups[0]) & 0xff));
                    assert_eq!(x[6] & 7, x[7] & 7, "%sr0 and %hw_id of thread {k}");
                }
                let slots: std::collections::BTreeSet<u32> =
                    dwords.chunks(8).take(threads as usize).map(|x| x[6]).collect();
                assert_eq!(slots.len(), threads as usize, "threads of a group share a slot");
                if let Some(native) = run(Engine::Native, true).1 {
                    assert!(native.scheduled.is_empty(), "{:?}", native.scheduled);
                }
            }
        }
    }
}

/// Whole vectors of each channel, neighbours of its own, and elements far from each other: by groups that fill their
/// threads and by others, in buffers that end early.
#[test]
fn elements_at_a_step() {
    let (mut faults, mut runs) = (0, 0);
    for platform in [Platform::Pvc, Platform::Dg2, Platform::Skl, Platform::Tgllp] {
        let (device, kernel) = compiled_for(platform, "vector/steps");
        let n = 192usize;
        let data: Vec<u8> = (0..64 * n + 64).map(|i| (i * i / 3 + 7 * i) as u8).collect();
        for which in 0..24 {
            // What the case reaches of either buffer, about.
            for (local, short) in [(32, 0), (48, 0), (64, 60 * n), (64, 62 * n + 5), (96, 63 * n)] {
                for cut in if short == 0 { 0..1 } else { 0..2 } {
                    let run = |engine| {
                        let ends = [0, 1].map(|k| data.len() - if k == cut { short } else { 0 });
                        let a = device.buffer_from("a", &data[..ends[0]]).expect("there is memory");
                        let b = device.buffer("b", ends[1] as u64).expect("there is memory");
                        let launch = Launch::range(&[n as u64], &[local])
                            .arg("a", &a)
                            .arg("b", &b)
                            .arg("which", which)
                            .engine(engine)
                            .host_threads(1);
                        let outcome = device.run(&kernel, &launch).expect("it is launched");
                        let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group));
                        (b.to_vec(), fault)
                    };
                    let [want, got] = [Engine::Interpreter, Engine::Native].map(run);
                    faults += usize::from(want.1.is_some());
                    runs += 1;
                    assert_eq!(
                        want.1, got.1,
                        "{platform:?}, {which}, {local}, buffer {cut} {short} too short"
                    );
                    assert!(
                        want.0 == got.0,
                        "{platform:?}, {which}, {local}, buffer {cut} {short} too short"
                    );
                }
            }
        }
    }
    assert!(faults > runs / 10 && faults < runs / 2, "{faults} of {runs}");
}

/// Local ids, rotated as words, which the machine does for native code, one for each work-item.
const ROTATED_IDS: &str = r#"
.version 4.1
.kernel "k"
.decl LX v_type=G type=uw num_elts=32 align=wordx32
.decl R v_type=G type=uw num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl G v_type=G type=ud num_elts=1
.decl A v_type=G type=uq num_elts=1 align=qword
.decl To v_type=G type=uq num_elts=32 align=wordx32
.input LX offset=64 size=64
.input A offset=256 size=8
.kernel_attr Target="3d"
.kernel_attr SimdSize=32
.kernel_attr PerThreadInputSize=192
.function "k_main"
BARRIER
rol (M1, 32) R(0,0)<1> LX(0,0)<1;1,0> 0x3:uw
mov (M1, 32) X(0,0)<1> R(0,0)<1;1,0>
mov (M1, 32) At(0,0)<1> LX(0,0)<1;1,0>
mul (M1_NM, 1) G(0,0)<1> %r0(0,1)<0;1,0> 0x100:ud
shl (M1, 32) At(0,0)<1> At(0,0)<1;1,0> 0x2:ud
add (M1, 32) At(0,0)<1> At(0,0)<1;1,0> G(0,0)<0;1,0>
add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_store.ugm (M1, 32) flat[To]:a64 X:d32
ret (M1, 32)
"#;

/// What native code reads in the payload, or finds in registers that nothing writes, is the thread's own where the machine
/// executes an instruction of it.
#[test]
fn the_machine_finds_each_threads_ids() {
    const GROUPS: u64 = 5;
    let info = "version: '1.20'\nkernels:\n  - name: k\n    execution_env: { grf_count: 128, simd_size: 32 }\n    \
        payload_arguments:\n      - { arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, \
        addrspace: global, access_type: readwrite }\n    per_thread_payload_arguments:\n      - { arg_type: local_id, \
        offset: 0, size: 192 }\n";
    for barrier in ["", "barrier"] {
        let text = ROTATED_IDS.replace("BARRIER", barrier);
        let product = envisa::zebin::DeviceFamily::Pvc.product();
        let notes = envisa::zebin::Notes { product_family: Some(product), ..Default::default() };
        let zebin = envisa::zebin::Writer::new(info.to_owned()).notes(notes).visa(None, &text).finish();
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
        let module = Module::load(&device, "k", Source::Zebin(&zebin.expect("it is written")));
        let kernel = module.and_then(|m| m.kernel("k")).expect("it loads");
        for engine in [Engine::Interpreter, Engine::Native] {
            let buffer = device.buffer("a", 256 * GROUPS).expect("there is memory");
            let launch =
                Launch::range(&[64 * GROUPS], &[64]).arg(0u32, &buffer).engine(engine).host_threads(1);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
            let want: Vec<u8> = (0..64 * GROUPS as u32)
                .flat_map(|i| u32::from((i as u16 % 64).rotate_left(3)).to_le_bytes())
                .collect();
            assert_eq!(buffer.to_vec(), want, "{engine:?} {barrier}");
        }
    }
}
