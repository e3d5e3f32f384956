//! The driver as the loader takes it: by its tables. Without Intel's compiler the tests say that they did not run, and
//! fail where `ENVISA_REQUIRE_ORACLES` is set.
#![allow(unsafe_code, reason = "calls a C interface")]

mod commands;
mod hostile;
mod images;
mod mistakes;
mod modules;
mod ze;
