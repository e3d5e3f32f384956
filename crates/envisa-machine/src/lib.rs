//! The machine: what threads of a launch have and share, whichever engine runs them. Register file, memory,
//! messages, dispatch, barriers, the scheduler; the traits of engines and observers. It knows no engine.

pub mod aligned_bytes;
pub mod cpu;
pub mod dispatch;
pub mod dropped_accesses;
pub mod engine;
pub mod fallback_counts;
pub mod group;
pub mod interest;
pub mod link;
mod loader;
pub mod local_shadow;
pub mod memory;
pub mod messages;
pub mod observer;
mod offers;
pub mod pool;
pub mod register_file;
pub mod regrouped;
pub mod sampler;
pub mod scheduler;
pub mod start;
pub mod thread;
pub mod thread_inputs;
pub mod thread_order;
pub mod trap;

pub use envisa_zebin::check_reports;
pub use link::{LinkError, Linked, ModuleData, Variable};
pub use scheduler::{ContentionHistory, Outcome, Progress, RunOptions, run};
pub use trap::{Cause, Trap};
