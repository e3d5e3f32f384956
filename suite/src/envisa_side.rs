//! The one place where the suite meets envisa's engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use envisa::machine::trap::Cause;
use envisa::runner::{self, AllocationId, Arg, LoadedKernel, Module, RunOptions, Session};

use crate::corpus;
use crate::kernel::{Device, KernelFile};
use crate::launch::{Addressing, ArgValue, Launch, Outputs};

/// Memory of the machine, in bytes: more is a mistake in a header.
const MEMORY: u64 = 8 << 30;
/// Instructions that one thread of a kernel may execute: a kernel of the suite that takes more hangs.
const LIMIT: u64 = 2_000_000_000;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// envisa refuses an instruction, and names it.
    Unsupported(String),
    /// A fault, an error or a crash where there should have been a result.
    Failed(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Unsupported(why) | Failure::Failed(why)) = self;
        f.write_str(why)
    }
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

/// A kernel loaded with its buffers, ready to be launched any number of times.
pub struct Loaded<'a> {
    launch: &'a Launch,
    session: Session,
    kernel: LoadedKernel,
    how: runner::Launch,
    buffers: Vec<Option<AllocationId>>,
    options: RunOptions,
}

impl<'a> Loaded<'a> {
    /// Loads `kernel`'s product for `device` and makes the launch's buffers; `jobs`: host threads, 0 for all.
    ///
    /// # Errors
    /// Where the product is missing or does not load, or an argument cannot be passed.
    pub fn new(
        kernel: &KernelFile,
        device: Device,
        launch: &'a Launch,
        jobs: usize,
    ) -> Result<Loaded<'a>, Failure> {
        let path = corpus::corpus_path(&corpus::corpus_folder(), device, kernel);
        let bytes = std::fs::read(&path).map_err(|e| failed(format!("{}: {e}", path.display())))?;
        let mut session = Session::new(MEMORY);
        let module = Module::from_zebin(&kernel.id, &bytes, &mut session).map_err(failed)?;
        let loaded = module.kernel(kernel.function()).map_err(failed)?;
        let (mut args, mut buffers) = (Vec::new(), Vec::new());
        for a in &launch.args {
            let buffer = match &a.value {
                ArgValue::Buffer(v) | ArgValue::Image(_, v) => {
                    Some(session.buffer(&a.name, &v.bytes).map_err(failed)?)
                }
                _ => None,
            };
            args.push(match (&a.value, buffer) {
                (ArgValue::Image(spec, _), Some(id)) => Arg::Image(spec.image(id)),
                (_, Some(id)) => Arg::Buffer(id, 0),
                (ArgValue::Scalar(bytes), _) => Arg::Value(bytes.clone()),
                (ArgValue::Local(n), _) => Arg::Local(*n),
                (ArgValue::Sampler(s), _) => Arg::Sampler(runner::Sampler {
                    address: match s.addressing {
                        Addressing::None => runner::SamplerAddress::None,
                        Addressing::Clamp => runner::SamplerAddress::ClampToBorder,
                        Addressing::ClampToEdge => runner::SamplerAddress::ClampToEdge,
                        Addressing::Repeat => runner::SamplerAddress::Repeat,
                        Addressing::MirroredRepeat => runner::SamplerAddress::Mirror,
                    },
                    linear: s.linear,
                    normalized: s.normalized,
                }),
                _ => return Err(failed(format!("argument `{}` cannot be passed", a.name))),
            });
            buffers.push(buffer);
        }
        let how = runner::Launch {
            dims: launch.dims,
            global: launch.global,
            local: launch.local.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            offset: launch.offset,
            args,
        };
        let options = RunOptions { jobs, limit: LIMIT, ..RunOptions::default() };
        Ok(Loaded { launch, session, kernel: loaded, how, buffers, options })
    }

    /// Gives every buffer its initial content.
    pub fn reset(&mut self) {
        for (a, id) in self.launch.args.iter().zip(&self.buffers) {
            if let (ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(id)) = (&a.value, id) {
                self.session.bytes(*id).copy_from_slice(&v.bytes);
            }
        }
    }

    /// Launches once: what it printed, and the seconds from the call to the end of the last group.
    ///
    /// # Errors
    /// A fault of the kernel, with its place, or a launch that envisa refuses.
    pub fn run(&mut self) -> Result<(String, f64), Failure> {
        let start = Instant::now();
        let outcome = self.session.run(&self.kernel, &self.how, &self.options).map_err(failed)?;
        let seconds = start.elapsed().as_secs_f64();
        match &outcome.trap {
            None => Ok((outcome.printed, seconds)),
            Some(trap) if matches!(trap.cause, Cause::Unsupported { .. }) => {
                Err(Failure::Unsupported(trap.cause.to_string()))
            }
            Some(trap) => Err(failed(format!(
                "{} (group {:?}, thread {}, instruction ${} of `{}`, channel {:?})",
                trap.cause, trap.group, trap.thread, trap.instruction, trap.function, trap.channel
            ))),
        }
    }

    /// Launches once: its seconds alone.
    ///
    /// # Errors
    /// As [`Loaded::run`], in words.
    pub fn seconds(&mut self) -> Result<f64, String> {
        self.run().map(|(_, seconds)| seconds).map_err(|e| e.to_string())
    }

    /// Launches once under the checks: what they find.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn check(&mut self) -> Result<Vec<envisa::sanitize::Finding>, Failure> {
        let mut checks = envisa::sanitize::Checks::default();
        let outcome =
            self.session.observe(&self.kernel, &self.how, &self.options, &mut checks).map_err(failed)?;
        match &outcome.trap {
            None => Ok(checks.findings()),
            Some(trap) => Err(failed(trap)),
        }
    }

    /// The content of the arguments that have a check.
    pub fn outputs(&mut self) -> Outputs {
        let mut values = Vec::new();
        for (i, a) in self.launch.args.iter().enumerate() {
            if let (true, ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(id)) =
                (a.check.is_some(), &a.value, self.buffers[i])
            {
                let mut out = v.clone();
                out.bytes.copy_from_slice(self.session.bytes(id));
                values.push((i, out));
            }
        }
        Outputs { values, printed: String::new() }
    }
}

/// Runs `kernel`, compiled for `device`, once on envisa with `jobs` host threads (0: all).
///
/// # Errors
/// Why there is no result. A panic of envisa is one of the reasons: the run goes on.
pub fn run_on_envisa(
    kernel: &KernelFile,
    device: Device,
    launch: &Launch,
    jobs: usize,
) -> Result<Outputs, Failure> {
    let one = || {
        let mut loaded = Loaded::new(kernel, device, launch, jobs)?;
        let (printed, _) = loaded.run()?;
        Ok(Outputs { printed, ..loaded.outputs() })
    };
    catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|payload| {
        let why = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("of an unknown kind");
        Err(failed(format!("envisa panicked: {why}")))
    })
}
