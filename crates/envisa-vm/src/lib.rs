//! The machine: register file, memory, scheduler, dispatch, the interpreter.

pub mod check;
pub mod dispatch;
pub mod exec;
pub mod link;
pub mod memory;
pub mod messages;
pub mod observer;
pub mod regs;
pub mod scheduler;
pub mod stats;
pub mod thread;
pub mod trap;

pub use check::{Checks, Finding, FindingKind, Other, RaceAccess};
pub use link::{LinkError, Linked, ModuleData};
pub use scheduler::{Executable, Outcome, Progress, RunOptions, run, run_observed};
pub use stats::{Fidelity, FidelityLine, Stats};
pub use trap::{Cause, Trap};
