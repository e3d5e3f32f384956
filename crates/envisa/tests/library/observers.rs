//! Observers of the library's users: what they are told is what the kernel did, and nothing changes by it.

use envisa::isa::Platform;
use envisa::{
    AccessKind, Accessed, Config, Device, Executed, Kernel, Launch, Module, Observer, Source, Space, Wants,
};
use std::collections::BTreeMap;

/// Each channel adds its number to what it finds, through local memory.
const TEXT: &[u8] = b"\
.version 4.1
.kernel \"k\"
.decl X v_type=G type=ud num_elts=8 align=GRF
.decl T6 v_type=T num_elts=1
.input X offset=32 size=32
.input T6 offset=64 size=4
.kernel_attr SimdSize=8
add (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
oword_st (2) T6 0x0:ud X.0
ret (M1,8)
";

#[derive(Default)]
struct Everything {
    wants: Wants,
    instructions: BTreeMap<u32, u64>,
    accesses: Vec<Accessed>,
    threads: (u32, u32),
    last: Vec<u8>,
    lines: Vec<u32>,
}

impl Observer for Everything {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn instruction(&mut self, i: &Executed<'_>) {
        assert_eq!(i.function(), "k");
        *self.instructions.entry(i.index()).or_default() += 1;
        self.last = i.variable("X").expect("it is declared").to_vec();
        assert!(i.variable("NONE").is_none());
        self.lines.push(i.place().visa.expect("it is text").line);
    }

    fn access(&mut self, access: &Accessed, by: &Executed<'_>) {
        assert!(by.channels != 0);
        self.accesses.push(*access);
    }

    fn thread_started(&mut self, _: [u32; 3], _: u32) {
        self.threads.0 += 1;
    }

    fn thread_ended(&mut self, _: [u32; 3], _: u32) {
        self.threads.1 += 1;
    }
}

fn observed(wants: Wants) -> (Everything, Vec<u8>) {
    let device = Device::new(Config::new(Platform::Skl));
    let kernel: Kernel =
        Module::load(&device, "k.visaasm", Source::Text(TEXT)).expect("it is right").kernel("k").expect("k");
    let out = device.buffer("out", 32).expect("memory");
    let x: Vec<u8> = (0..8u32).flat_map(|i| (10 * i).to_le_bytes()).collect();
    let launch = Launch::threads(&[3], 2).arg("X", x).arg("T6", &out).host_threads(2);
    let mut seen = Everything { wants, ..Everything::default() };
    let outcome = device.launch(&kernel, &launch).expect("it fits").observe(&mut seen).expect("it runs");
    assert!(outcome.fault.is_none());
    (seen, out.to_vec())
}

#[test]
fn all_that_a_kernel_does_is_told() {
    let (seen, out) = observed(Wants::ALL);
    let want: Vec<u8> = (0..8u32).flat_map(|i| (10 * i + 1).to_le_bytes()).collect();
    assert_eq!(out, want);
    assert_eq!(seen.last, want, "variables are told as the instruction left them");
    assert_eq!(
        seen.instructions,
        BTreeMap::from([(0, 6), (1, 6), (2, 6)]),
        "six threads, three instructions"
    );
    assert_eq!(seen.threads, (6, 6));
    assert_eq!(seen.lines.iter().filter(|l| **l == 8).count(), 6);
    assert_eq!(seen.accesses.iter().map(|a| a.bytes).sum::<u32>(), 6 * 32);
    assert!(
        seen.accesses
            .iter()
            .all(|a| a.kind == AccessKind::Write && matches!(a.space, Space::Surface(_)) && !a.outside)
    );
}

#[test]
fn only_what_is_wanted_is_told() {
    let (seen, out) = observed(Wants { accesses: true, ..Wants::default() });
    assert_eq!(out[..4], 1u32.to_le_bytes());
    assert!(!seen.accesses.is_empty() && seen.instructions.is_empty() && seen.threads == (0, 0));
    let (seen, out) = observed(Wants::default());
    assert_eq!(out[..4], 1u32.to_le_bytes());
    assert!(seen.accesses.is_empty() && seen.instructions.is_empty() && seen.threads == (0, 0));
}

#[test]
fn checks_are_observers_of_their_own() {
    let device = Device::new(Config::new(Platform::Skl));
    let kernel =
        Module::load(&device, "k.visaasm", Source::Text(TEXT)).expect("it is right").kernel("k").expect("k");
    let out = device.buffer("out", 32).expect("memory");
    let launch = Launch::threads(&[1], 1).arg("X", vec![0; 32]).arg("T6", &out).check(true);
    let mut seen = Everything::default();
    let refused = device.launch(&kernel, &launch).expect("it fits").observe(&mut seen);
    assert!(refused.is_err());
}
