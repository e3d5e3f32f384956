//! Launches that come again use what launches before left. Whatever changed meanwhile, they come to what a launch comes
//! to on a device of its own that interprets it.

use std::path::Path;

use envisa::isa::Platform;
use envisa::{Arg, Buffer, Config, Device, Engine, Kernel, Launch, Module, Outcome, Source};

const PLATFORMS: [(Platform, &str); 4] =
    [(Platform::Skl, "skl"), (Platform::Tgllp, "tgllp"), (Platform::Dg2, "dg2"), (Platform::Pvc, "pvc")];

/// What a kernel takes behind an input and, unless it prints, an output.
#[derive(Clone, Copy, PartialEq, Debug)]
enum More {
    Nothing,
    Float,
    Local,
    Prints,
}

/// Kernels with a range of three dimensions, shared local memory and barriers, private memory, calls through a stack,
/// and text that they print.
const KERNELS: [(&str, More); 5] = [
    ("bench/stencil3d", More::Float),
    ("bench/reduction", More::Local),
    ("private/bytes", More::Nothing),
    ("call/stack_calls", More::Nothing),
    ("printf/basic", More::Prints),
];

/// What a launch depends on.
#[derive(Clone, PartialEq, Debug)]
struct Asked {
    global: [u64; 3],
    local: [u64; 3],
    offset: [u64; 3],
    dims: usize,
    number: f32,
    local_bytes: u64,
    engine: Engine,
    threads: usize,
    check: bool,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Where in the buffers the arguments begin, and how much of the output's buffer the argument leaves out.
    from: u64,
    cut: u64,
}

/// What it came to.
#[derive(PartialEq, Debug)]
struct Came {
    input: Vec<u8>,
    output: Vec<u8>,
    fault: String,
    dropped: String,
    printed: String,
    findings: Vec<String>,
}

impl Came {
    fn of(outcome: Outcome, [input, output]: [&Buffer; 2]) -> Came {
        let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group, f.active_channels));
        let findings = outcome.findings.unwrap_or_default();
        Came {
            input: input.to_vec(),
            output: output.to_vec(),
            fault: format!("{fault:?}"),
            dropped: format!("{:?}", outcome.dropped),
            printed: outcome.printed,
            findings: findings.iter().map(|f| format!("{} {:?}", f.code, f.place)).collect(),
        }
    }
}

fn kernel(device: &Device, platform: &str, path: &str) -> Kernel {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../suite/corpus/{platform}/{path}.zebin"));
    let zebin = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let module = Module::load(device, path, Source::Zebin(&zebin)).expect("it loads");
    module.kernel(path.split('/').next_back().unwrap_or_default()).expect("it is there")
}

impl Asked {
    fn launch(&self, more: More, [input, output]: [&Buffer; 2]) -> Launch {
        let part = |b: &Buffer, cut: u64| {
            let end = b.len().saturating_sub(cut).max(self.from.min(b.len()));
            b.slice(self.from.min(b.len())..end).expect("it is inside")
        };
        let n = self.dims;
        let launch = Launch::range(&self.global[..n], &self.local[..n])
            .offset(&self.offset[..n])
            .engine(self.engine)
            .host_threads(self.threads)
            .check(self.check)
            .arg(0, part(input, 0));
        match more {
            More::Prints => launch,
            More::Nothing => launch.arg(1, part(output, self.cut)),
            More::Float => launch.arg(1, part(output, self.cut)).arg(2, self.number),
            More::Local => launch.arg(1, part(output, self.cut)).arg(2, Arg::local(self.local_bytes)),
        }
    }

    /// On a device of its own.
    fn alone(&self, (platform, name): (Platform, &str), path: &str, more: More) -> Came {
        let device = Device::new(Config::new(platform).memory(1 << 26));
        let kernel = kernel(&device, name, path);
        let buffer = |bytes: &[u8]| device.buffer_from("b", bytes).expect("there is memory");
        let [input, output] = [buffer(&self.input), buffer(&self.output)];
        let asked = Asked { engine: Engine::Unoptimized, threads: 1, ..self.clone() };
        let launch = asked.launch(more, [&input, &output]);
        Came::of(device.run(&kernel, &launch).expect("it is launched"), [&input, &output])
    }
}

/// Small numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn bytes(&mut self, n: u64) -> Vec<u8> {
        // Floats of ordinary size.
        (0..n / 4).flat_map(|_| (self.below(1000) as f32 * 0.25).to_le_bytes()).collect()
    }
}

/// Does launch after launch with the kernel, with one thing changed before each, or nothing. `changes`: which
/// things, by their numbers below. Gives how many faulted and how many dropped accesses.
fn sequence(
    platform: (Platform, &str),
    (path, more): (&str, More),
    changes: &[u64],
    steps: usize,
) -> (usize, usize) {
    let device = Device::new(Config::new(platform.0).memory(1 << 26));
    let kernel = kernel(&device, platform.1, path);
    let mut numbers = Numbers(path.len() as u64 + platform.1.len() as u64);
    let dims = if more == More::Float { 3 } else { 1 };
    let local = if dims == 3 { [8, 4, 1] } else { [32, 1, 1] };
    let mut now = Asked {
        global: if dims == 3 { [16, 8, 3] } else { [128, 1, 1] },
        local,
        offset: [0; 3],
        dims,
        number: 0.5,
        local_bytes: 512,
        engine: Engine::Native,
        threads: 1,
        check: false,
        input: numbers.bytes(4096),
        output: numbers.bytes(4096),
        from: 0,
        cut: 0,
    };
    let buffer = |bytes: &[u8]| device.buffer_from("b", bytes).expect("there is memory");
    let [mut input, mut output] = [buffer(&now.input), buffer(&now.output)];
    let mut others = Vec::new();
    let (mut faulted, mut dropped) = (0, 0);
    for step in 0..steps {
        let what = changes[numbers.below(changes.len() as u64) as usize];
        match what {
            0 => {
                for d in 0..dims {
                    now.global[d] = now.local[d] * (1 + numbers.below(if d == 0 { 4 } else { 2 }));
                }
            }
            1 => {
                let sizes = if dims == 3 {
                    [[4, 4, 2], [8, 4, 1], [3, 5, 1]]
                } else {
                    [[32, 1, 1], [16, 1, 1], [20, 1, 1]]
                };
                now.local = sizes[numbers.below(3) as usize];
                (0..dims).for_each(|d| now.global[d] = now.local[d] * 2);
            }
            2 => now.offset[0] = numbers.below(3) * 4,
            3 => now.number = numbers.below(7) as f32,
            4 => now.local_bytes = 128 * (1 + numbers.below(4)),
            5 => now.engine = [Engine::Native, Engine::Unoptimized][numbers.below(2) as usize],
            6 => now.threads = 1 + numbers.below(2) as usize,
            7 => now.check = !now.check,
            8 => {
                now.input = numbers.bytes(4096);
                input.write(0, &now.input).expect("it fits");
            }
            // Other memory of the same size, and of less.
            9 => input = buffer(&now.input),
            10 | 11 => {
                let less = 64 + 64 * numbers.below(8);
                now.output = numbers.bytes(if what == 10 { 4096 } else { less });
                // The one before is gone first: the new one may be where it was.
                drop(std::mem::replace(&mut output, buffer(&[])));
                output = buffer(&now.output);
            }
            12 => now.from = 64 * numbers.below(3),
            13 => now.cut = [0, 0, 400, 3000][numbers.below(4) as usize],
            14 => others.push(buffer(&[7; 256])),
            15 => drop(others.pop()),
            _ => {}
        }
        let expected = now.alone(platform, path, more);
        let launch = now.launch(more, [&input, &output]);
        let mut came = Came::of(device.run(&kernel, &launch).expect("it is launched"), [&input, &output]);
        faulted += usize::from(expected.fault != "None");
        dropped += usize::from(expected.dropped != "None");
        if now.threads > 1 && expected.fault != "None" {
            // How far the other groups came is nobody's promise.
            came.output.clone_from(&expected.output);
            came.dropped.clone_from(&expected.dropped);
            output.write(0, &expected.output).expect("it fits");
        }
        if now.threads > 1 {
            // Nor is the order in which groups print, or findings of several groups come.
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines.join("\n")
            };
            assert_eq!(sorted(&came.printed), sorted(&expected.printed), "{platform:?}, {path}, step {step}");
            came.printed.clone_from(&expected.printed);
        }
        assert!(
            came == expected,
            "{platform:?}, {path}, step {step} ({what}):\n{came:?}\n{expected:?}\n{now:?}"
        );
        (now.input, now.output) = (expected.input, expected.output);
    }
    (faulted, dropped)
}

#[test]
fn launches_come_to_what_they_come_to_alone() {
    let (mut faulted, mut dropped) = (0, 0);
    let changes: Vec<u64> = (0..18).collect();
    for platform in PLATFORMS {
        for kernel in KERNELS {
            let (f, d) = sequence(platform, kernel, &changes, 60);
            faulted += f;
            dropped += d;
        }
    }
    assert!(faulted > 30 && dropped > 30, "{faulted} faulted, {dropped} dropped accesses");
}

/// Programs that step through time change a number, or the places in buffers, and nothing else.
#[test]
fn arguments_change_and_sizes_do_not() {
    for platform in PLATFORMS {
        for kernel in [KERNELS[0], KERNELS[1]] {
            sequence(platform, kernel, &[3, 3, 3, 4, 4, 4, 8, 9, 12, 12, 13, 16], 60);
        }
    }
}

/// What a launch reached that is none of its arguments, and was freed, the same launch does not reach again.
#[test]
fn what_was_freed_is_not_reached_again() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 26));
    let kernel = kernel(&device, "pvc", "launch/group");
    let buffer = |name: &str| device.buffer(name, 256).expect("there is memory");
    let (near, far) = (buffer("near"), buffer("far"));
    let between = far.address().checked_sub(near.address()).expect("it is behind");
    assert!(between.is_multiple_of(4));
    // By its number, a work-item's element is in the other buffer.
    let launch = Launch::range(&[64], &[64])
        .offset(&[between / 4])
        .arg(0, &near)
        .arg(1, 3u32)
        .engine(Engine::Native)
        .host_threads(1);
    for round in 1..=3u32 {
        let outcome = device.run(&kernel, &launch).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        assert_eq!(far.to_vec()[..4], (3 * round).to_le_bytes());
    }
    drop(far);
    for _ in 0..2 {
        let fault = device.run(&kernel, &launch).expect("it is launched").fault.expect("nothing is there");
        let access = fault.access.as_ref().map(|a| a.address);
        assert_eq!((fault.code, access), ("F0001", Some(near.address() + between)), "{}", fault.message);
    }
}
