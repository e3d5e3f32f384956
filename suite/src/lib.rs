//! Kernels, conformance and benchmarks of envisa against its peers.
//!
//! A kernel is one file, `suite/kernels/GROUP/NAME.cl`, whose leading comment states everything the suite
//! needs ([`kernel::Header`]). The folder is walked: adding a file adds a kernel.

pub use envisa_harness::compare;
pub mod bench;
pub mod build_comparison;
pub mod check_cost;
pub mod checks;
pub mod clock;
pub mod clrandom;
pub mod command_cost;
pub mod compile_cache;
pub mod compiling;
pub mod conformance;
pub mod corpus;
pub mod driver_speed;
pub mod envisa_engine;
pub mod expr;
pub mod foreign;
pub mod kernel;
pub mod launch;
pub mod machine;
pub mod machine_limits;
pub mod native_coverage;
pub mod newer_compiler;
pub mod parallel;
pub mod peer;
pub mod peer_disagreements;
pub mod performance;
pub mod plot;
pub mod programs;
pub mod random;
pub mod random_checks;
pub mod random_places;
pub mod reductions;
pub mod report;
pub mod toolchain;
pub mod translate;
