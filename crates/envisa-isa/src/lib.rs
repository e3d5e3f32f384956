//! What vISA is: types, platforms, limits, the instruction table, operands and the module model.

pub mod atomic;
pub mod desc;
mod exec;
pub mod footprint;
pub mod limits;
pub mod lsc;
mod module;
mod module_comparison;
mod name;
mod operand;
pub mod operation;
mod platform;
pub mod predefined;
mod soundness;
mod span;
pub mod systolic;
pub mod table;
mod types;

pub use desc::InstDesc;
pub use desc::{FieldName, PartName, SlotName};
pub use exec::{Combine, Exec, ExecMask, Pred};
pub use module::*;
pub use operand::{Modifier, Operand, Region, StateClass, VarId};
pub use platform::{Platform, Platforms};
pub use soundness::{Fault, HANDLES_SINCE, Limits, Unsound};
pub use span::Span;
pub use table::{Op, TABLE};
pub use types::{Type, TypeSet};
