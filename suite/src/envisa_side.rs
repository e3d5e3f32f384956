//! The one place where the suite meets envisa's engine.

use crate::kernel::{Device, KernelFile};
use crate::launch::{Launch, Outputs};

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
    let _ = (launch, repeats);
    Err(format!(
        "cannot run {} on {}: the envisa library offers no dispatch of zebin kernels yet",
        kernel.id,
        device.name()
    ))
}
