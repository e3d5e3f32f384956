//! Random programs in OpenCL C whose results the standard defines: see [`kernel`].

mod builtin_definitions;
mod expr;
mod halves_and_packed;
mod kernel;
mod types;
mod unaligned_memory;
mod unions_and_copies;
mod work_item_exchange;

pub use builtin_definitions::{definition_of, redefinition_of, replaceable_functions};
pub use kernel::{INPUT, Kernel, Knobs, OWN, PREAMBLE, SHARED, Statement, kernel};
pub use types::{LARGE, Size};
