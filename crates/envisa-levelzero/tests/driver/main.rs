//! The driver as the loader takes it: by its tables. Without Intel's compiler the tests say that they did not run, and
//! fail where `ENVISA_REQUIRE_ORACLES` is set.
#![allow(unsafe_code, reason = "calls a C interface")]

mod any_arguments;
mod commands;
mod cooperative;
mod cost;
mod doors;
mod hostile;
mod images;
mod ipc;
mod mistakes;
mod modules;
mod mutable;
mod opencl;
mod queries;
mod reserved;
mod stress;
mod variables;
mod ze;
