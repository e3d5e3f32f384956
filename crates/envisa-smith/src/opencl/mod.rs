//! Random programs in OpenCL C whose results the standard defines: see [`kernel`].

mod expr;
mod kernel;
mod kinds;
mod later;
mod own;
mod places;
mod together;
mod types;

pub use kernel::{INPUT, Kernel, Knobs, OWN, PREAMBLE, SHARED, Statement, kernel};
pub use own::{redefinition_of, replaceable_functions, written_out};
pub use types::{LARGE, Size};
