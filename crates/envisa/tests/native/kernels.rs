//! The kernels of the tests, from their texts.

use envisa::{
    Device, Engine, Executed, Kernel, Launch, LoadOptions, Module, Observer, Outcome, Source, Wants,
};

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
