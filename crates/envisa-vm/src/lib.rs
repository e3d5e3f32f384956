//! The machine: register file, memory, scheduler, dispatch, the interpreter.

pub mod dispatch;
pub mod exec;
pub mod memory;
mod messages;
pub mod observer;
pub mod regs;
pub mod thread;
pub mod trap;
