//! A Level Zero driver whose devices are virtual Intel GPUs.
//!
//! The library is a driver that the Level Zero loader opens (`ZE_ENABLE_ALT_DRIVERS`) and asks for tables of entry points
//! ([`tables`]). `api` is the C interface, `core` what it does, on what the doors share (`envisa-runtime`). `envisa exec`
//! sets a program's environment so that it is used.

mod abi;
mod api;
mod caller;
mod core;
pub mod tables;
