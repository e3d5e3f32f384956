//! Random legal modules, random programs in OpenCL C, mutations of inputs, and planted miscompiles.

pub mod generate;
pub mod mutate;
pub mod opencl;
pub mod plant;
