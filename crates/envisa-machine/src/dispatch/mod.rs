//! Dispatch: from a launch to the register image of every thread, surfaces and memory.
//!
//! The image of a thread is `r0 | per-thread payload (local ids) | cross-thread payload (arguments)`;
//! the program's inputs are copied out of it. How the parts are laid out was observed on IGC's kernels.

mod build;
mod implicit;
mod launch;
mod launch_cache;
mod payload_layout;
mod prepared;
mod printf;
mod regroup;
#[cfg(test)]
mod tests;
mod threads;

pub use crate::sampler::{Mip, Sampler};
pub use build::{prepare_from, prepare_launch};
pub use launch::{Arg, Launch, LaunchError, Resources};
pub use launch_cache::{LaunchKey, ReadyLaunch, RecentLaunches};
pub use payload_layout::PayloadLayout;
pub use prepared::{Prepared, prepare_bare};
pub use printf::{Printed, decode as decode_printf};
pub use regroup::{any_other_groups, better_groups};
pub use threads::{GroupClass, Threads};

/// Largest capacity of the printf buffer: what IGC's code assumes, in bytes.
pub const PRINTF_BYTES: u64 = 4 << 20;
/// Work-items a group can have at most.
pub const MAX_GROUP_ITEMS: u64 = 1024;
/// Groups a launch can have at most: far more than anybody waits for, and products of them fit 64 bits.
pub const MAX_GROUPS: u64 = 1 << 48;
/// Threads a group can have at most: their index is a byte of r0.
pub const MAX_GROUP_THREADS: u32 = 256;
/// Largest payload accepted, in bytes.
pub const MAX_PAYLOAD: u64 = 1 << 20;
/// Largest scratch or private space of a thread or channel accepted, in bytes.
pub const MAX_PRIVATE: u64 = 256 << 20;
