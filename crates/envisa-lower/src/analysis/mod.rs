//! What compilers want to know of a program: how control flows and where channels wait, which registers are
//! accessed as one, and where their values are still wanted.
//!
//! - [`Flow`]: the control-flow graph of channels and of the thread, and the labels where channels may wait;
//! - [`Cells`]: the register file cut into the pieces that instructions access;
//! - [`known_result`]: what instructions make of numbers that are known before the program runs;
//! - [`takes_global_ids_alone`]: programs whose groups may be divided in other ways;
//! - [`unwritten`]: reads of registers that nothing writes;
//! - [`Liveness`]: which cells a channel, and which the thread, may still read.
//!
//! All are worked out on request from a [`crate::Program`]; none changes it.

mod bits;
mod cells;
mod flow;
mod global_ids;
mod known_result;
mod lane_words;
mod liveness;
mod ranges;
mod unwritten;

pub use cells::{Access, Cell, CellId, CellKind, Cells};
pub use flow::{Flow, NotAnalysed};
pub use global_ids::{IdPlaces, multiplies_ids, takes_global_ids_alone};
pub use known_result::{integer, is_small_integer, known_result, known_values};
pub use lane_words::{LaneVector, lane_vectors, lane_words};
pub use liveness::Liveness;
pub use unwritten::{Unwritten, unwritten};
