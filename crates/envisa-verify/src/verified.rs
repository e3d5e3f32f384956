//! The proof token: a module that went through the verifier, or at least through the structural check.

use std::ops::Deref;

use envisa_isa::Module;

use crate::structure;

/// A module whose structure is sound and, unless it came from [`Verified::assume`], that breaks no
/// error-level rule on the platforms it was verified for.
///
/// The structural part is what engines rely on in order not to panic: every operand is of a kind its
/// slot accepts, every index (variable, alias chain, address, predicate, label, sampler, surface,
/// string, attribute) points at something that exists, field values are among those the table lists,
/// regions and execution sizes have legal codes, and every label that is branched to is placed exactly
/// once. What an operand touches may still lie outside its variable or outside the register file:
/// the reference compiler's own output does so, and lowering bounds it.
#[derive(Clone, Debug)]
pub struct Verified<M = Module>(M);

impl<M> Verified<M> {
    pub(crate) fn new(m: M) -> Self {
        Verified(m)
    }

    /// The module.
    pub fn into_inner(self) -> M {
        self.0
    }
}

impl Verified<Module> {
    /// Takes a module as it is, for `--no-verify`: only the structural check is made, whatever the
    /// other rules say.
    ///
    /// # Errors
    /// The module's structural defects, when it has any: it then cannot be executed at all.
    pub fn assume(module: Module) -> Result<Self, Vec<structure::Defect>> {
        let defects = structure::check(&module);
        if defects.is_empty() { Ok(Verified(module)) } else { Err(defects) }
    }
}

impl<M> Deref for Verified<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}
