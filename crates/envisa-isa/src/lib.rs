//! What vISA is: types, platforms, limits, the instruction table, operands and the module model.

mod types;
pub use types::{Type, TypeSet};
