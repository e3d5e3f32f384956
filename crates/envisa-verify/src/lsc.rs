//! LSC messages: shapes by data size, caching, addresses, platforms.

use envisa_isa::Inst;
use envisa_isa::desc::InstDesc;

use crate::check::Ctx;
use crate::special::Check;

/// Which rules look at which rows.
pub(crate) const CHECKS: &[(&str, Check)] = &[];

pub(crate) fn check(_: &mut Ctx, _: &Inst, _: &'static InstDesc) {}

/// Does the message go to shared local memory?
pub(crate) fn is_slm(_: &Ctx, _: &Inst) -> bool {
    false
}

/// Does the fence order accesses to shared local memory?
pub(crate) fn fences_slm(_: &Ctx, _: &Inst) -> bool {
    true
}
