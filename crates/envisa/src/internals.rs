//! For the tests of the rooms behind the library: modules that no reader made, observers of the machine, the
//! machine's own faults. No part of the interface: it changes with the rooms.

use std::sync::Arc;

use crate::device::Device;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::launch::{Launch, Regroup};
use crate::module::{LoadOptions, Module};
use crate::run::{Outcome, Run};
use envisa_diag::{FileId, Files};
use envisa_isa::Type;
use envisa_lower::{Extend, Message, Program, REGISTER_PADDING, Src};
use envisa_machine::Trap;
use envisa_machine::fallback_counts::FallbackCounts;
use envisa_machine::observer::Observer;

/// Loads a module of hand-written code that somebody made; `ids` are the files of its objects.
///
/// # Errors
/// As [`Module::load`].
pub fn load(
    device: &Device,
    name: &str,
    module: envisa_isa::Module,
    ids: Vec<FileId>,
    files: Files,
    options: &LoadOptions,
) -> Result<Module, Error> {
    Module::of_isa(device, name, module, ids, files, options)
}

/// The program that a kernel was lowered to.
pub fn program(kernel: &Kernel) -> &Program {
    kernel.code.program()
}

/// The program that runs without an observer.
pub fn optimized(kernel: &Kernel) -> &Program {
    kernel.code.executable.optimized()
}

/// What the optimiser made of a kernel's halves: of those of channels, and of those of quads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct JoinCounts {
    /// Instructions that became part of another one.
    pub instructions: u64,
    /// Messages that move quads whole.
    pub quads: u64,
    /// Messages that add what was added up in halves.
    pub sums: u64,
}

/// That of a kernel.
pub fn join_counts(kernel: &Kernel) -> JoinCounts {
    let p = optimized(kernel).parts();
    let first = program(kernel).registers().bytes - REGISTER_PADDING;
    let mut joined = JoinCounts { instructions: p.upper.len() as u64, ..JoinCounts::default() };
    for m in &p.messages {
        let Message::Simt(s) = m else { continue };
        joined.quads += u64::from(s.is_paired());
        // Its origin is made for it.
        joined.sums += u64::from(
            s.extend == Extend::Zero
                && matches!(s.origin, Src::Reg { offset, ty: Type::Uq, .. } if offset >= first),
        );
    }
    joined
}

/// Runs a launch; gives how often native code asked the machine for each instruction of the optimised program.
///
/// # Errors
/// As [`Device::run`].
pub fn run_counting_fallbacks(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
) -> Result<(Outcome, Vec<u64>), Error> {
    let asked = Arc::new(FallbackCounts::new(optimized(kernel)));
    let launch = Launch { asked: Some(asked.clone()), ..launch.clone() };
    Ok((device.run(kernel, launch)?, asked.counts()))
}

/// Runs a launch; gives the machine's fault, too.
///
/// # Errors
/// As [`Device::run`].
pub fn run(device: &Device, kernel: &Kernel, launch: &Launch) -> Result<(Outcome, Option<Box<Trap>>), Error> {
    Run::new(device, kernel, launch.clone())?
        .execute(None::<&mut crate::launch_observers::Instruments>)
        .map(|d| (d.outcome, d.trap))
}

/// Runs a launch in the groups that it asks for, whatever would be faster.
///
/// # Errors
/// As [`Device::run`].
pub fn run_as_asked(device: &Device, kernel: &Kernel, launch: &Launch) -> Result<Outcome, Error> {
    device.run(kernel, Launch { regroup: Regroup::Never, ..launch.clone() })
}

/// Runs a launch natively in groups of another shape than it asks for; `None`: it has to run in its own.
///
/// # Errors
/// As [`Device::run`].
pub fn run_in_other_groups(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
) -> Result<Option<Outcome>, Error> {
    let launch = Launch { regroup: Regroup::Anyhow, engine: Some(crate::Engine::Native), ..launch.clone() };
    let done =
        Run::new(device, kernel, launch)?.execute(None::<&mut crate::launch_observers::Instruments>)?;
    Ok(done.regrouped.then_some(done.outcome))
}

/// Runs a launch under an observer of the machine.
///
/// # Errors
/// As [`Device::run`].
pub fn observe<O: Observer>(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    observer: &mut O,
) -> Result<(Outcome, Option<Box<Trap>>), Error> {
    Run::new(device, kernel, launch.clone())?.execute(Some(observer)).map(|d| (d.outcome, d.trap))
}
