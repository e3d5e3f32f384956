//! Groups whose threads wait for each other at barriers: native code lets them take turns itself. Random programs of
//! barriers, shared local memory, loops, channels that part, threads that end early and accesses that fault leave and
//! report the same as the interpreter.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Cancel, Config, Device, Engine, Fault, FaultKind, Launch, Module, Source};

/// Of each thread: its index `O`, its number `N` in the launch, its lanes' numbers in the group `L`, their places in
/// shared local memory `At`, and their values `X`.
const BEGIN: &str = r#"
.version 3.6
.kernel "turns"
.kernel_attr Target="cm"
.decl Size v_type=G type=ud num_elts=4
.decl O v_type=G type=ud num_elts=1
.decl N v_type=G type=ud num_elts=1
.decl C0 v_type=G type=ud num_elts=1
.decl C1 v_type=G type=ud num_elts=1
.decl C2 v_type=G type=ud num_elts=1
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl L v_type=G type=ud num_elts=16 align=wordx32
.decl At v_type=G type=ud num_elts=16 align=wordx32
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl Y v_type=G type=ud num_elts=16 align=wordx32
.decl Z v_type=G type=ud num_elts=16 align=wordx32
.decl One v_type=G type=ud num_elts=16 align=wordx32
.decl P v_type=P num_elts=16
.decl Q v_type=P num_elts=1
.decl A v_type=G type=uq num_elts=1 align=qword
.decl To v_type=G type=uq num_elts=16 align=wordx32
.input A offset=64 size=8
.input Size offset=96 size=16
.function "turns_main"
and (M1_NM, 1) O(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
mul (M1_NM, 1) N(0,0)<1> %r0(0,7)<0;1,0> Size(0,1)<0;1,0>
add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> %r0(0,6)<0;1,0>
mul (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> Size(0,0)<0;1,0>
add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> %r0(0,1)<0;1,0>
mul (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> Size(0,2)<0;1,0>
add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> O(0,0)<0;1,0>
mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v
add (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
mov (M1, 16) L(0,0)<1> Lane(0,0)<1;1,0>
shl (M1_NM, 1) C0(0,0)<1> O(0,0)<0;1,0> 0x4:ud
add (M1, 16) L(0,0)<1> L(0,0)<1;1,0> C0(0,0)<0;1,0>
shl (M1, 16) At(0,0)<1> L(0,0)<1;1,0> 0x2:ud
shl (M1_NM, 1) C0(0,0)<1> N(0,0)<0;1,0> 0x6:ud
and (M1, 16) Y(0,0)<1> At(0,0)<1;1,0> 0x3f:ud
add (M1, 16) Y(0,0)<1> Y(0,0)<1;1,0> C0(0,0)<0;1,0>
add (M1, 16) To(0,0)<1> Y(0,0)<1;1,0> A(0,0)<0;1,0>
mul (M1, 16) X(0,0)<1> L(0,0)<1;1,0> 0x9e3779b1:ud
add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> N(0,0)<0;1,0>
mov (M1, 16) One(0,0)<1> 0x1:ud
mov (M1, 16) Z(0,0)<1> 0x0:ud
"#;

const END: &str = "\
lsc_store.ugm (M1, 16) flat[To]:a64 X:d32
over:
ret (M1, 16)
";

/// Programs in the making.
struct Maker {
    dice: Dice,
    text: String,
    labels: u32,
    /// Loops around, and joins: labels may part the channels only outside of other such.
    depth: u32,
    parted: bool,
    /// Subroutines and functions, if programs have such; and whether one is in the making.
    subroutines: Option<Vec<String>>,
    inside: bool,
}

impl Maker {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    fn steps(&mut self, most: u64) {
        for _ in 0..1 + self.dice.below(most) {
            self.step();
        }
    }

    fn step(&mut self) {
        let n = self.dice.below(1 << 16);
        match self.dice.below(16) {
            0..=4 => {
                if self.dice.below(2) == 0 {
                    self.line("lsc_fence.slm.none.group");
                }
                self.line("barrier");
            }
            5 | 6 => self.line("lsc_store.slm (M1, 16) flat[At]:a32 X:d32"),
            7 | 8 => {
                // What another lane left there.
                self.line(&format!("xor (M1, 16) Y(0,0)<1> At(0,0)<1;1,0> 0x{:x}:ud", n << 2 & 0x1fc));
                self.line("lsc_load.slm (M1, 16) Y:d32 flat[Y]:a32");
                self.line("mul (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 0x5:ud");
                self.line("add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>");
            }
            9 => {
                self.line(&format!("and (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> 0x{:x}:ud", n << 2 & 0x1fc));
                self.line("lsc_atomic_iadd.slm (M1, 16) Y:d32 flat[Y]:a32 One %null");
                self.line("xor (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>");
            }
            10 => {
                // Arithmetic of vectors that live across.
                self.line("add (M1, 16) Z(0,0)<1> Z(0,0)<1;1,0> X(0,0)<1;1,0>");
                self.line("xor (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Z(0,0)<1;1,0>");
            }
            11 => self.line("lsc_store.ugm (M1, 16) flat[To]:a64 X:d32"),
            12 if self.depth < 3 => {
                let (l, c) = (self.label(), format!("C{}", self.depth));
                self.line(&format!("mov (M1_NM, 1) {c}(0,0)<1> 0x{:x}:ud", 1 + n % 4));
                if n & 0xf00 == 0 {
                    // Some threads go round more often.
                    self.line(&format!("add (M1_NM, 1) {c}(0,0)<1> {c}(0,0)<0;1,0> O(0,0)<0;1,0>"));
                }
                self.line(&format!("{l}:"));
                self.depth += 1;
                self.steps(4);
                self.depth -= 1;
                self.line(&format!("add (M1_NM, 1) {c}(0,0)<1> {c}(0,0)<0;1,0> 0xffffffff:ud"));
                self.line(&format!("cmp.ne (M1_NM, 1) Q {c}(0,0)<0;1,0> 0x0:ud"));
                self.line(&format!("(Q) jmp (M1, 1) {l}"));
            }
            13 if !self.parted => {
                // Channels part; a barrier between is executed by some of them.
                let l = self.label();
                self.line(&format!("and (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> 0x{:x}:ud", 1 + n % 7));
                self.line("cmp.ne (M1, 16) P Y(0,0)<1;1,0> 0x0:ud");
                self.line(&format!("(P) goto (M1, 16) {l}"));
                self.parted = true;
                let depth = std::mem::replace(&mut self.depth, 3);
                self.steps(3);
                self.depth = depth;
                self.parted = false;
                self.line(&format!("{l}:"));
            }
            14 if n.is_multiple_of(8) && !self.parted && !self.inside => {
                self.line(&format!("cmp.eq (M1_NM, 1) Q O(0,0)<0;1,0> 0x{:x}:ud", n >> 3 & 7));
                self.line("(Q) jmp (M1, 1) over");
            }
            15 if self.subroutines.as_ref().is_some_and(|s| s.len() < 4) => self.subroutine(n),
            // Left to the interpreter.
            _ => self.line(
                "fbl (M1, 16) Y(0,0)<1> X(0,0)<1;1,0>\nadd (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>",
            ),
        }
    }

    /// Calls a subroutine of some more steps, by all channels that are here, or by half of them.
    fn subroutine(&mut self, n: u64) {
        let name = self.label();
        let mask = ["(M1, 16)", "(M1, 1)", "(M1, 8)", "(M3, 8)"][(n >> 4 & 3) as usize];
        self.line(&format!("call {mask} {name}"));
        let outer = std::mem::take(&mut self.text);
        let (inside, parted) = (std::mem::replace(&mut self.inside, true), self.parted);
        // Channels may part in there, too.
        self.parted = false;
        self.steps(5);
        if n & 0x100 != 0 {
            // Some return early: half of them, or by a predicate.
            self.line(&format!("and (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> 0x{:x}:ud", 1 + n % 7));
            self.line("cmp.ne (M1, 16) P Y(0,0)<1;1,0> 0x0:ud");
            self.line(["ret (M1, 8)", "(P) ret (M1, 16)", "(!P) ret (M3, 8)"][(n >> 9) as usize % 3]);
            self.line("add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 0x7:ud");
        }
        (self.inside, self.parted) = (inside, parted);
        let body = std::mem::replace(&mut self.text, outer);
        let all = format!(".function \"{name}\"\n{name}:\n{body}ret (M1, 16)\n");
        self.subroutines.get_or_insert_default().push(all);
    }

    fn program(seed: u64, calls: bool) -> String {
        let subroutines = calls.then(Vec::new);
        let (dice, text) = (Dice(seed), BEGIN.into());
        let mut m = Maker { dice, text, labels: 0, depth: 0, parted: false, subroutines, inside: false };
        m.line("barrier");
        if calls {
            m.subroutine(seed);
        }
        m.steps(24);
        m.text + END + &m.subroutines.unwrap_or_default().concat()
    }
}

/// What a run left, and how it stopped.
type Left = (Vec<u8>, Option<Box<Fault>>);

/// How a program is launched.
#[derive(Clone, Copy, Debug)]
struct How {
    groups: [u32; 3],
    threads: u32,
    bytes: usize,
    limit: u64,
}

fn run(text: &str, engine: Engine, how: How) -> Left {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    if engine == Engine::Native && device_is_native() {
        kernel.native_listing().unwrap_or_else(|e| panic!("it has native code: {e}\n{text}"));
    }
    let buffer = device.buffer("a", how.bytes as u64).expect("there is memory");
    let [x, y, _] = how.groups;
    let size: Vec<u8> = [x, y, how.threads, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let launch = Launch::threads(&how.groups, how.threads)
        .arg("A", &buffer)
        .arg("Size", size)
        .engine(engine)
        .host_threads(1)
        .limit(how.limit);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    (buffer.to_vec(), outcome.fault)
}

/// The same, on a thread of its own: one that never ends fails.
fn run_in_time(text: &str, engine: Engine, how: How) -> Left {
    let (send, receive) = std::sync::mpsc::channel();
    let own = text.to_owned();
    std::thread::spawn(move || send.send(run(&own, engine, how)));
    let left = receive.recv_timeout(Duration::from_secs(60));
    left.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}"))
}

/// Has this host native code for anything?
fn device_is_native() -> bool {
    static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS.get_or_init(|| {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let text = format!("{BEGIN}{END}");
        let module = Module::load(&device, "turns", Source::Text(text.as_bytes())).expect("it loads");
        module.kernel("turns").expect("it is there").is_native()
    })
}

#[test]
fn random_programs_with_barriers() {
    let kinds = random_programs(0..400, false);
    let count = |kind: Option<FaultKind>| kinds.iter().filter(|k| **k == kind).count();
    let told = [None, Some(FaultKind::Limit), Some(FaultKind::Deadlock)].map(count);
    assert!(told[0] > 150 && told[1] > 10 && told[2] > 10, "{told:?}");
    assert!(kinds.len() > told.iter().sum::<usize>() + 10, "accesses fault: {told:?}");
}

/// The same with subroutines: barriers, loops and ways out are in there as well.
#[test]
fn random_programs_with_barriers_and_calls() {
    let kinds = random_programs(1000..1300, true);
    let count = |kind: Option<FaultKind>| kinds.iter().filter(|k| **k == kind).count();
    let told = [None, Some(FaultKind::Limit), Some(FaultKind::Deadlock)].map(count);
    assert!(told[0] > 80 && told[1] > 8 && told[2] > 8, "{told:?}");
    assert!(kinds.len() > told.iter().sum::<usize>() + 8, "accesses fault: {told:?}");
}

fn random_programs(seeds: std::ops::Range<u64>, calls: bool) -> Vec<Option<FaultKind>> {
    let mut kinds: Vec<Option<FaultKind>> = Vec::new();
    for seed in seeds {
        let mut dice = Dice(seed ^ 0x5eed);
        let text = Maker::program(seed, calls);
        let threads = [1, 2, 3, 4, 8][dice.below(5) as usize];
        let groups = [[1, 1, 1], [3, 1, 1], [2, 2, 1], [1, 3, 2], [5, 1, 2]][dice.below(5) as usize];
        let all = (64 * threads * groups.iter().product::<u32>()) as usize;
        let bytes = if dice.below(4) == 0 { (4 * dice.below(all as u64 / 4)).max(4) as usize } else { all };
        let limit = if dice.below(4) == 0 { dice.below(60) } else { u64::MAX };
        let how = How { groups, threads, bytes, limit };
        let [a, b] = [Engine::Interpreter, Engine::Native].map(|e| run(&text, e, how));
        assert_eq!(a.1, b.1, "seed {seed}, {how:?}\n{text}");
        assert_eq!(a.0, b.0, "seed {seed}, {how:?}\n{text}");
        kinds.push(a.1.map(|f| f.kind));
    }
    kinds
}

/// A thread spends a turn and more between two barriers, so that the others of its group have theirs meanwhile.
#[test]
fn turns_that_end_between_barriers() {
    let spin = "\
cmp.eq (M1_NM, 1) Q O(0,0)<0;1,0> WHO:ud
(!Q) jmp (M1, 1) quick
mov (M1_NM, 1) C0(0,0)<1> 0x60000:ud
slow:
add (M1_NM, 1) C0(0,0)<1> C0(0,0)<0;1,0> 0xffffffff:ud
add (M1_NM, 1) C1(0,0)<1> C0(0,0)<0;1,0> 0x1:ud
cmp.ne (M1_NM, 1) Q C0(0,0)<0;1,0> 0x0:ud
(Q) jmp (M1, 1) slow
quick:
lsc_atomic_iadd.slm (M1, 16) Y:d32 flat[Z]:a32 One %null
add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>
";
    for (before, who) in [("", 0), ("", 2), ("barrier\n", 1), ("barrier\nbarrier\n", 3)] {
        let spin = spin.replace("WHO", &format!("0x{who:x}"));
        let text = format!(
            "{BEGIN}{before}{spin}barrier\n{}{END}",
            "add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>\n"
        );
        for limit in [u64::MAX, 1 << 20, 1 << 22] {
            let how = How { groups: [2, 1, 1], threads: 4, bytes: 64 * 8, limit };
            let [a, b] = [Engine::Interpreter, Engine::Native].map(|e| run(&text, e, how));
            assert_eq!(a.1.is_some(), limit == 1 << 20, "{:?}", a.1);
            assert_eq!(a, b, "{before}{who}, {limit}");
        }
    }
}

#[test]
fn threads_that_meet_at_a_barrier_for_ever_are_cancelled() {
    let text = format!("{BEGIN}again:\nbarrier\njmp (M1, 1) again\n{END}");
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, &text);
    for (engine, threads) in
        [(Engine::Interpreter, 4), (Engine::Native, 4), (Engine::Interpreter, 1), (Engine::Native, 1)]
    {
        let cancel = Cancel::new();
        let buffer = device.buffer("a", 64 * 16).expect("there is memory");
        let launch = Launch::threads(&[4, 1, 1], threads)
            .arg("A", &buffer)
            .arg("Size", vec![0; 16])
            .engine(engine)
            .cancel(&cancel);
        let (fault, took) = std::thread::scope(|s| {
            let run = s.spawn(|| device.run(&kernel, &launch).expect("it is launched"));
            std::thread::sleep(Duration::from_millis(50));
            let start = Instant::now();
            cancel.cancel();
            (run.join().expect("no panic").fault.expect("it was cancelled"), start.elapsed())
        });
        assert_eq!(fault.kind, FaultKind::Cancelled);
        assert_eq!(fault.threads.iter().filter(|t| t.group == fault.group).count(), threads as usize);
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

/// Compiled kernels, in groups of any size: also of one thread, and with a last thread that lacks channels.
#[test]
fn groups_of_compiled_kernels() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let load = |name: &str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../suite/corpus/pvc/bench/{name}.zebin"));
        let zebin = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = Module::load(&device, name, Source::Zebin(&zebin)).expect("it loads");
        module.kernel(name).expect("it is there")
    };
    let kernel = load("reduction");
    let n = 960usize;
    let data: Vec<u8> = (0..n as u32).flat_map(|i| i.wrapping_mul(0x9e37_79b1).to_le_bytes()).collect();
    for local in [32u64, 64, 96, 16, 48, 40, 192, 480, 1] {
        let groups = n as u64 / local;
        for short in [0, 4, 2 * groups] {
            let run = |engine| {
                let input = device.buffer_from("in", &data).expect("there is memory");
                let out = device.buffer("out", (4 * groups - short).max(1)).expect("there is memory");
                let launch = Launch::range(&[n as u64], &[local])
                    .arg("in", &input)
                    .arg("out", &out)
                    .arg("tmp", envisa::Arg::Local(4 * local))
                    .engine(engine)
                    .host_threads(1);
                let outcome = device.run(&kernel, &launch).expect("it is launched");
                assert_eq!(outcome.fault.is_some(), short > 0, "{:?}", outcome.fault);
                let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group, f.threads));
                (out.to_vec(), fault)
            };
            assert_eq!(run(Engine::Interpreter), run(Engine::Native), "{local}, {short} bytes too short");
        }
    }
}

/// Halves of threads that are rows of a group's tile: what the second half accesses is known by what the first does, and
/// all of it is inside or is not; also where groups' local memory is too small. Tiles whose edges are clamped are picked
/// out of what is around them.
#[test]
fn threads_of_two_rows_each() {
    type Left = (Vec<u8>, Option<(String, u32, Option<u32>, u32, [u32; 3])>);
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let load = |name: &str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../suite/corpus/pvc/bench/{name}.zebin"));
        let zebin = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = Module::load(&device, name, Source::Zebin(&zebin)).expect("it loads");
        module.kernel(name).expect("it is there")
    };
    let floats = |n: usize| -> Vec<u8> { (0..n).flat_map(|i| (i as f32 * 0.37).to_le_bytes()).collect() };
    let left = |kernel: &envisa::Kernel, launch: Launch, out: &envisa::Buffer| -> Left {
        let outcome = device.run(kernel, launch.host_threads(1)).expect("it is launched");
        let fault =
            outcome.fault.map(|f| (f.code.to_string(), f.place.instruction, f.channel, f.thread, f.group));
        (out.to_vec(), fault)
    };
    let mut faults = 0;
    let mut same = |what: &str, run: &dyn Fn(Engine) -> Left| {
        let (want, got) = (run(Engine::Interpreter), run(Engine::Native));
        faults += usize::from(want.1.is_some());
        assert_eq!(want, got, "{what}");
    };
    let hotspot = load("hotspot");
    // All tiles have an edge of the chip in them, or some do.
    for tiles in [1u64, 2, 4] {
        let (size, cells) = (tiles * 12, (tiles * tiles * 144) as usize);
        for short in [0u64, 4, 64, 2 * cells as u64] {
            same(&format!("hotspot, {tiles} tiles, {short} bytes too short"), &|engine| {
                let power = device.buffer_from("power", &floats(cells)).expect("there is memory");
                let all = floats(cells);
                let warm = &all[..all.len() - if short == 64 { 64 } else { 0 }];
                let warm = device.buffer_from("warm", warm).expect("there is memory");
                let out = device.buffer("out", 4 * cells as u64 - short).expect("there is memory");
                let launch = Launch::range(&[16 * tiles, 16 * tiles], &[16, 16]).engine(engine);
                let launch = launch.arg("warm", &warm).arg("power", &power).arg("out", &out);
                left(&hotspot, launch.arg("size", size as i32), &out)
            });
        }
    }
    let forward = load("backprop_forward");
    for (hidden, short) in [(32u64, 0u64), (48, 0), (16, 4), (32, 96)] {
        same(&format!("backprop_forward, {hidden} units, {short} bytes too short"), &|engine| {
            let input = device.buffer_from("input", &floats(64)).expect("there is memory");
            let weight =
                device.buffer_from("weight", &floats(64 * hidden as usize)).expect("there is memory");
            let out = device.buffer("partial", 16 * hidden - short).expect("there is memory");
            let launch = Launch::range(&[hidden, 64], &[16, 16]).engine(engine);
            let launch = launch.arg("input", &input).arg("weight", &weight).arg("partial", &out);
            left(&forward, launch.arg("hidden", hidden as u32), &out)
        });
    }
    // Both halves go to the same places, one after the other.
    let reduction = load("reduction");
    for local in [[16u64, 2], [16, 4], [32, 2], [8, 4], [16, 1]] {
        for (memory, short) in [(256u64, 0), (64, 0), (60, 0), (28, 0), (256, 16)] {
            same(&format!("reduction, {local:?}, {memory} bytes, {short} too short"), &|engine| {
                let input = device.buffer_from("in", &floats(96)).expect("there is memory");
                let out = device.buffer("out", 4 * 96 - short).expect("there is memory");
                let launch =
                    Launch::range(&[96, 8], &local).engine(engine).arg("in", &input).arg("out", &out);
                left(&reduction, launch.arg("tmp", envisa::Arg::Local(memory)), &out)
            });
        }
    }
    assert!(faults > 10, "{faults} faults");
}

/// A tile's rows are summed by ever fewer threads, of which some have one row only: also in code of halves, where what the
/// other half accesses was never seen. Rows of few groups and of many follow each other.
#[test]
fn sums_by_ever_fewer_rows() {
    let devices =
        [("pvc", Platform::Pvc), ("dg2", Platform::Dg2), ("tgllp", Platform::Tgllp), ("skl", Platform::Skl)];
    let floats = |n: u64| -> Vec<u8> { (0..n).flat_map(|i| (i as f32 * 0.37).to_le_bytes()).collect() };
    let mut faults = 0;
    for (name, platform) in devices {
        let device = Device::new(Config::new(platform).memory(1 << 24));
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../suite/corpus/{name}/bench/backprop_forward.zebin"));
        let zebin = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = Module::load(&device, name, Source::Zebin(&zebin)).expect("it loads");
        let kernel = module.kernel("backprop_forward").expect("it is there");
        let sizes = [(32u64, 64u64), (48, 160), (16, 64), (144, 48), (160, 64), (128, 48), (64, 640)];
        for ((hidden, rows), short) in
            sizes.into_iter().flat_map(|s| [0, 4, 96, 4 * s.0 + 68].map(|short| (s, short)))
        {
            let run = |engine| {
                let input = device.buffer_from("input", &floats(rows)).expect("there is memory");
                let weight = device.buffer_from("weight", &floats(rows * hidden)).expect("there is memory");
                let out = device.buffer("partial", rows / 4 * hidden - short).expect("there is memory");
                let launch = Launch::range(&[hidden, rows], &[16, 16]).engine(engine).host_threads(1);
                let launch = launch.arg("input", &input).arg("weight", &weight).arg("partial", &out);
                let outcome =
                    device.run(&kernel, launch.arg("hidden", hidden as u32)).expect("it is launched");
                let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group, f.threads));
                ([input, weight, out].map(|b| b.to_vec()), fault)
            };
            let [want, got] = [Engine::Interpreter, Engine::Native].map(run);
            faults += usize::from(want.1.is_some());
            assert_eq!(want, got, "{name}, {hidden} units, {rows} rows, {short} bytes too short");
        }
    }
    // Surfaces do without what is outside.
    assert!(faults > 20, "{faults} faults");
}

/// Statistics say when, and why, the machine's scheduler has the threads of a group take turns.
#[test]
fn who_takes_turns_is_told() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/corpus/pvc/bench/reduction.zebin");
    let zebin = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let module = Module::load(&device, "reduction", Source::Zebin(&zebin)).expect("it loads");
    let kernel = module.kernel("reduction").expect("it is there");
    if !kernel.is_native() {
        let _ = writeln!(std::io::stderr(), "NOT RUN: this host has no native code");
        return;
    }
    let (input, out) = (device.buffer("in", 3840), device.buffer("out", 96));
    let (input, out) = (input.expect("there is memory"), out.expect("there is memory"));
    for local in [64, 16, 40] {
        let launch = Launch::range(&[960], &[local])
            .arg("in", &input)
            .arg("out", &out)
            .arg("tmp", envisa::Arg::Local(4 * local))
            .engine(Engine::Native)
            .statistics(true);
        let outcome = device.run(&kernel, &launch).expect("it is launched");
        let native = outcome.statistics.and_then(|s| s.native).expect("it was asked for");
        assert_eq!(native.scheduled, [""; 0], "groups of {local}");
        assert!(native.refused.is_none() && native.share > 0.9, "{native:?}");
    }
}

/// Every kind of barrier, whole or as a signal and a wait, each of them in the kernel or in what it calls by every kind of
/// call, in groups of one thread and of several: what threads left before it is there behind it, and all of them end.
#[test]
fn barriers_in_what_is_called() {
    const ADDS: &str = "add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 0x10000:ud\n";
    let kinds: [(&str, &[&str]); 3] = [
        ("whole", &["barrier\n"]),
        ("split", &["sbarrier.signal\n", "sbarrier.wait\n"]),
        ("named", &["nbarrier.signal 0x1:ub THREADS:ub\n", "nbarrier.wait 0x1:ub\n"]),
    ];
    let calls = ["", "call (M1, 16) CALLED\n", "fcall (M1, 16) CALLED 0 0\n", "CALLED"];
    let mut programs = 0;
    for (kind, parts) in kinds {
        // By which call each part is, and one call of something else.
        for (way, threads) in (0..4 * calls.len().pow(2)).flat_map(|w| [(w, 1), (w, 2), (w, 4)]) {
            let (ways, more) = ([way % 4, way / 4 % 4], way / 16);
            if parts.len() == 1 && ways[1] != 0 {
                continue;
            }
            // Subroutines are the kernel's, and stand before functions.
            let (mut subroutines, mut functions) = (String::new(), String::new());
            let target = ".kernel_attr Target=\"cm\"\n";
            let address = ".decl F v_type=G type=uq num_elts=1 align=qword\n";
            let mut text = BEGIN.replace(target, &format!("{target}.kernel_attr NBarrierCnt=2\n{address}"));
            let mut call = |way: usize, name: &str, body: &str, text: &mut String| {
                let (subroutine, function) = (
                    format!(".function \"{name}\"\n{name}:\n{ADDS}{body}{ADDS}ret (M1, 16)\n"),
                    format!(
                        ".global_function \"{name}\"\n.decl V v_type=G type=ud num_elts=16 align=wordx32\n\
                         .kernel_attr Target=\"cm\"\n.kernel_attr ArgSize=0\n.kernel_attr RetValSize=0\n\
                         mov (M1, 16) V(0,0)<1> 0x1:ud\n{body}add (M1, 16) V(0,0)<1> V(0,0)<1;1,0> 0x1:ud\n\
                         fret (M1, 16)\n"
                    ),
                );
                match way {
                    0 => text.push_str(body),
                    3 => {
                        let _ = writeln!(text, "faddr {name} F(0,0)<1>\nifcall (M1, 16) F(0,0)<0;1,0> 0 0");
                        functions += &function;
                    }
                    w => {
                        *text += &calls[w].replace("CALLED", name);
                        match w {
                            1 => subroutines += &subroutine,
                            _ => functions += &function,
                        }
                    }
                }
            };
            text += "lsc_store.slm (M1, 16) flat[At]:a32 X:d32\n";
            for (k, part) in parts.iter().enumerate() {
                let part = part.replace("THREADS", &format!("{threads:#x}"));
                call(ways[k], &format!("s{k}"), &part, &mut text);
            }
            if more != 0 {
                call(more, "more", "", &mut text);
            }
            let other = 64 * (threads - 1);
            let _ = writeln!(text, "xor (M1, 16) Y(0,0)<1> At(0,0)<1;1,0> {other:#x}:ud");
            text += "lsc_load.slm (M1, 16) Y:d32 flat[Y]:a32\nadd (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>\n";
            text += END;
            text = text + &subroutines + &functions;
            let how = How { groups: [2, 1, 1], threads, bytes: 128 * threads as usize, limit: 1 << 16 };
            let [a, b] = [Engine::Interpreter, Engine::Native].map(|e| run_in_time(&text, e, how));
            assert!(a.1.is_none(), "{kind}, {ways:?}, {more}, {threads} threads: {:?}\n{text}", a.1);
            assert_eq!(a, b, "{kind}, {ways:?}, {more}, {threads} threads\n{text}");
            programs += 1;
        }
    }
    assert_eq!(programs, 3 * (16 + 64 + 64));
}
