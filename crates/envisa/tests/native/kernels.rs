//! The kernels of the tests, from their texts.

use envisa::isa::Platform;
use envisa::{
    Config, Device, Engine, Executed, Fault, Kernel, Launch, LoadOptions, Module, Observer, Outcome, Source,
    Wants,
};

/// How many of so many random programs a test runs: all of them in optimised builds, as CI's, else a fifth.
pub const fn share(all: u64) -> u64 {
    if cfg!(debug_assertions) { all / 5 } else { all }
}

/// How a host without native code begins to say so.
pub const NO_CPU: &str = "native code needs";

/// The only kernel of a text.
pub fn only_kernel(device: &Device, text: &str) -> Kernel {
    loaded(device, text, &LoadOptions::default())
}

/// The same of a text that the verifier refuses.
pub fn unverified_kernel(device: &Device, text: &str) -> Kernel {
    loaded(device, text, &LoadOptions { verify: false, ..LoadOptions::default() })
}

fn loaded(device: &Device, text: &str, options: &LoadOptions) -> Kernel {
    Module::load_with(device, "k.visaasm", Source::Text(text.as_bytes()), options)
        .and_then(|module| module.kernel(""))
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Who is told of every instruction sees the program as it was written.
struct Witness;

impl Observer for Witness {
    fn wants(&self) -> Wants {
        Wants { instructions: true, ..Wants::default() }
    }

    fn instruction(&mut self, _: &Executed<'_>) {}
}

/// How a launch ends on an engine; `None`: by the program as it was written.
pub fn outcome(device: &Device, kernel: &Kernel, launch: Launch, engine: Option<Engine>) -> Outcome {
    match engine {
        Some(e) => device.run(kernel, launch.engine(e)).expect("it is launched"),
        None => {
            let launch = device.launch(kernel, &launch).expect("it fits");
            launch.observe(&mut Witness).expect("it runs")
        }
    }
}

/// What a program for PVC leaves in its only buffer, `A`, of so many zeros, on an engine; it does not fault.
pub fn stored(text: &str, bytes: u64, engine: Option<Engine>) -> Vec<u8> {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, text);
    let buffer = device.buffer("a", bytes).expect("there is memory");
    let outcome = outcome(&device, &kernel, Launch::threads(&[1, 1, 1], 1).arg("A", &buffer), engine);
    assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
    buffer.to_vec()
}

/// What a program leaves in its only buffer, and how it faults.
pub type Left = (Vec<u8>, Option<Box<Fault>>);

/// What a program leaves in its only buffer, `A`, of so many zeros, how it faults, and its native code where it ran as that.
pub fn left_and_listing(
    text: &str,
    platform: Platform,
    engine: Engine,
    bytes: u32,
) -> (Left, Option<String>) {
    let device = Device::new(Config::new(platform).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    let buffer = device.buffer("a", bytes.into()).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("A", &buffer).engine(engine);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    let listing = (engine == Engine::Native && kernel.is_native())
        .then(|| kernel.native_listing().expect("there is native code"));
    ((buffer.to_vec(), outcome.fault), listing)
}

/// Instructions that number the channels in `Lane`, a vector of words.
pub fn lane_numbers(channels: u32) -> String {
    let mut text = String::from("mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n");
    for n in [8, 16].into_iter().take_while(|n| *n < channels) {
        text += &format!("add (M1, {n}) Lane(0,{n})<1> Lane(0,0)<1;1,0> {n:#x}:uw\n");
    }
    text
}
