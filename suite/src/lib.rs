//! Kernels, conformance and benchmarks of envisa against its peers.
//!
//! A kernel is one file, `suite/kernels/GROUP/NAME.cl`, whose leading comment states everything the suite
//! needs ([`kernel::Header`]). The folder is walked: adding a file adds a kernel.

pub use envisa_harness::compare;
pub mod bench;
pub mod checking;
pub mod checks;
pub mod clock;
pub mod clrandom;
pub mod compiling;
pub mod conformance;
pub mod corpus;
pub mod envisa_side;
pub mod expr;
pub mod foreign;
pub mod gate;
pub mod ir;
pub mod kernel;
pub mod launch;
pub mod limits;
pub mod machine;
pub mod native;
pub mod newer;
pub mod peer;
pub mod performance;
pub mod plot;
pub mod programs;
pub mod random;
pub mod random_checks;
pub mod report;
pub mod runs;
pub mod through;
pub mod toolchain;
pub mod translate;
pub mod witness;
