//! The driver as programs see it: found by the system's OpenCL loader, called through its dispatch table.
//!
//! Without a loader or Intel's compiler the tests say that they did not run, and fail where
//! `ENVISA_REQUIRE_ORACLES` is set.
#![allow(unsafe_code, unused_unsafe, reason = "calls a C interface")]

mod cl;
mod handles;
mod memory;
mod programs;
mod python;
mod queues;
mod stress;
