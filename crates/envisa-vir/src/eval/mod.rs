//! Executes functions, one thread after the other, slowly and by `envisa-sem` alone: what passes and back ends are held
//! against.

mod arith;
mod pure;
mod thread;

pub use arith::{Operands, apply_modifier, compare, convert_lane, eval_arith, eval_exact};
pub use pure::pure;
pub use thread::{Accessed, Halt, Paused, Thread, World};
