//! The one place where the suite meets envisa's engine.

use envisa::runner::{AllocationId, Arg, Module, RunOptions, Sampler, SamplerAddress, Session};
use envisa::values::HostValue;

use crate::corpus;
use crate::kernel::{Device, KernelFile};
use crate::launch::{Addressing, ArgValue, Launch, Outputs};

/// Memory of the machine, in bytes: more is a mistake in a header.
const MEMORY: u64 = 8 << 30;

/// Runs `kernel`, compiled for `device`, on envisa: once for its outputs, then `repeats` times, timed.
///
/// # Errors
/// A sentence that says what is missing or went wrong.
pub fn run_on_envisa(
    kernel: &KernelFile,
    device: Device,
    launch: &Launch,
    repeats: u32,
) -> Result<Outputs, String> {
    let here = |e: String| format!("{} on {}: {e}", kernel.id, device.name());
    let path = corpus::corpus_path(&corpus::corpus_folder(), device, kernel);
    let bytes = std::fs::read(&path).map_err(|e| here(format!("{}: {e}", path.display())))?;
    let mut session = Session::new(MEMORY);
    let module = Module::from_zebin(&kernel.id, &bytes, &mut session).map_err(|e| here(e.to_string()))?;
    let loaded = module.kernel(kernel.function()).map_err(|e| here(e.to_string()))?;

    let mut args = Vec::new();
    let mut buffers: Vec<Option<AllocationId>> = Vec::new();
    for a in &launch.args {
        let buffer = match &a.value {
            ArgValue::Buffer(v) | ArgValue::Image(_, v) => {
                Some(session.buffer(&a.name, &v.bytes).map_err(|e| here(e.to_string()))?)
            }
            _ => None,
        };
        args.push(match (&a.value, buffer) {
            (ArgValue::Image(spec, _), Some(id)) => Arg::Image(spec.image(id)),
            (_, Some(id)) => Arg::Buffer(id, 0),
            (ArgValue::Scalar(bytes), _) => Arg::Value(bytes.clone()),
            (ArgValue::Local(n), _) => Arg::Local(*n),
            (ArgValue::Sampler(s), _) => Arg::Sampler(Sampler {
                address: match s.addressing {
                    Addressing::None => SamplerAddress::None,
                    Addressing::Clamp => SamplerAddress::ClampToBorder,
                    Addressing::ClampToEdge => SamplerAddress::ClampToEdge,
                    Addressing::Repeat => SamplerAddress::Repeat,
                    Addressing::MirroredRepeat => SamplerAddress::Mirror,
                },
                linear: s.linear,
                normalized: s.normalized,
            }),
            _ => return Err(here(format!("argument `{}` cannot be passed", a.name))),
        });
        buffers.push(buffer);
    }
    let how = envisa::runner::Launch {
        dims: launch.dims,
        global: launch.global,
        local: launch.local.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        offset: launch.offset,
        args,
    };
    let options = RunOptions::default();
    let mut run = |session: &mut Session| {
        let outcome = session.run(&loaded, &how, &options).map_err(|e| here(e.to_string()))?;
        match &outcome.trap {
            Some(trap) => Err(here(trap.to_string())),
            None => Ok(outcome),
        }
    };
    let first = run(&mut session)?;
    let mut values = Vec::new();
    for (i, a) in launch.args.iter().enumerate() {
        if a.check.is_none() {
            continue;
        }
        if let (ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(id)) = (&a.value, buffers[i]) {
            let mut out: HostValue = v.clone();
            out.bytes = session.bytes(id).to_vec();
            values.push((i, out));
        }
    }
    let mut seconds = Vec::new();
    for _ in 0..repeats {
        // Every run starts from the same content.
        for (a, id) in launch.args.iter().zip(&buffers) {
            if let (ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(id)) = (&a.value, id) {
                session.bytes(*id).copy_from_slice(&v.bytes);
            }
        }
        let start = std::time::Instant::now();
        run(&mut session)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(Outputs { values, printed: first.printed, seconds })
}
