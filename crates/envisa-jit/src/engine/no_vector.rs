//! Stands for `vector` in builds without the vector IR (the feature `vector-ir`): nothing is made of it.

use super::*;

/// What code of the vector IR asks the machine to compute: there is none.
#[derive(Clone)]
pub(super) enum Help {}

impl Native {
    /// No variant is made of the vector IR. If the environment asks for that, a warning says why.
    pub(super) fn vector_variant(&self, _: &Key) -> Option<Variant> {
        backend::vector_ir_asked();
        None
    }
}

/// Nothing asks for this.
///
/// # Safety
/// Always safe: it reads nothing. Its other form reads the context.
pub(super) unsafe fn help(_: *mut u8, all: &[Help], _: Pc) -> u32 {
    debug_assert!(all.is_empty());
    exit::STOPPED as u32
}
