//! Fences of which compiled code does not tell what they are for: those of barriers, of atomics for a group alone and of
//! nothing but themselves are the same instruction.

use super::op;
use super::{CROSS_WORKGROUP, Checking, GENERIC, Instruction, Kind, ReportHeader, ReportedAccess};
use envisa_zebin::check_reports::{ALONE, FOR_GROUP};

/// Scopes of no more than a group (3.27): a group, a sub-group, a work-item.
const OF_GROUP: std::ops::RangeInclusive<i64> = 2..=4;
/// Memory semantics that order something (3.25).
const ORDERS: i64 = 0x1e;

impl Checking {
    /// Notes where such a fence begins, and where it is over.
    pub(super) fn fences(&mut self, i: &Instruction) {
        let Some(bound) = self.kind_of_fence(i) else { return };
        for (at, bound) in [(i.at, bound), (i.end, 0)] {
            self.note(at, ReportHeader { kind: Kind::Fences, does: ReportedAccess::Reads, bytes: 0, bound });
        }
    }

    fn kind_of_fence(&self, i: &Instruction) -> Option<u32> {
        let operands = self.module.operands(i);
        let (pointer, scope, semantics) = match (i.op, operands) {
            (op::MEMORY_BARRIER, _) => return Some(ALONE),
            (op::ATOMIC_STORE, &[pointer, scope, semantics, ..]) => (pointer, scope, semantics),
            (op::ATOMIC_LOAD..=op::ATOMIC_XOR, &[_, _, pointer, scope, semantics, ..]) => {
                (pointer, scope, semantics)
            }
            _ => return None,
        };
        let (class, _) = self.types.pointer(pointer)?;
        let narrow = self.types.constant(scope).is_some_and(|scope| OF_GROUP.contains(&scope));
        let orders = self.types.constant(semantics).is_some_and(|s| s & ORDERS != 0);
        (narrow && orders && matches!(class, CROSS_WORKGROUP | GENERIC)).then_some(FOR_GROUP)
    }
}
