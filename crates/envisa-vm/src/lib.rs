//! The machine: register file, memory, scheduler, dispatch, the interpreter.

pub mod dispatch;
pub mod memory;
