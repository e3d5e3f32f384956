//! A debugger of kernels: every lane, at source level, forwards and back in time.
//!
//! A [`Session`](session::Session) is a launch on a [`Stage`](envisa::Stage): the interpreter runs it instruction by
//! instruction, on one host thread, each time the same. [`dap`] serves it to editors by the Debug Adapter Protocol,
//! [`terminal`] to people. No engine knows of it.

pub mod breakpoints;
pub mod c_expressions;
pub mod commands;
pub mod dap;
pub mod eval;
pub mod finding_stops;
#[cfg(unix)]
pub mod full_screen;
pub mod hit_counts;
pub mod lane_view;
pub mod lines;
pub mod origin;
pub mod scope;
pub mod session;
pub mod symbols;
pub mod terminal;
pub mod types;
pub mod variable_location;
