//! An OpenCL client: launches kernels on whatever OpenCL implementation is installed, PoCL or Intel's CPU runtime for example, to
//! compare their results with envisa's.
//!
//! The OpenCL loader is opened at run time, so that nothing is needed to build. `session` is the crate's only unsafe module.

mod launch;
mod session;

pub use launch::{Addressing, ArgValue, ImageDesc, ImageShape, Launch, LaunchArg, Outputs, Sampler};
pub use opencl3::program::Program;
pub use session::{Loaded, Parameter, Session};
