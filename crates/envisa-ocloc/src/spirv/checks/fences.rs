//! Fences of which compiled code does not tell what they are for: those of barriers, of atomics for a group alone and of
//! nothing but themselves are the same instruction, and so are those of buffers and of images.

use super::op;
use super::{
    CROSS_WORKGROUP, Checking, GENERIC, IMAGE_MEMORY, Instruction, Kind, ReportHeader, ReportedAccess,
};
use super::{CROSS_WORKGROUP_MEMORY, SUB_GROUP};
use crate::spirv::debugger_frames::after_variables;
use envisa_zebin::check_reports::{ALONE, COVERS_BUFFERS, COVERS_IMAGES, FOR_GROUP, IMAGES_APART};

const TYPE_IMAGE: u32 = 25;
/// The access qualifier of images that are read and written (3.17).
const READ_WRITE: u32 = 2;
/// Scopes of no more than a group (3.27): a group, a sub-group, a work-item.
const OF_GROUP: std::ops::RangeInclusive<i64> = 2..=4;
/// Memory semantics that order something (3.25).
const ORDERS: i64 = 0x1e;

impl Checking {
    /// Notes where such a fence begins, and where it is over.
    pub(super) fn fences(&mut self, i: &Instruction) {
        let bound = self.kind_of_fence(i) | self.covered(i);
        if bound != 0 {
            self.note_fences(i.at, bound);
            self.note_fences(i.end, 0);
        }
    }

    /// A kernel that may read images that it writes tells at its start that its fences say whether they cover images.
    pub(super) fn fences_of_images(&mut self, n: usize) {
        let is_kernel =
            self.module.operands(&self.module.all[n]).get(1).is_some_and(|id| self.kernels.contains(id));
        if let Some(at) = after_variables(&self.module.all, n).filter(|_| is_kernel && self.reads_back()) {
            self.note_fences(at, IMAGES_APART);
            self.note_fences(at, 0);
        }
    }

    fn note_fences(&mut self, at: usize, bound: u32) {
        self.note(at, ReportHeader { kind: Kind::Fences, does: ReportedAccess::Reads, bytes: 0, bound });
    }

    /// ReportedAccess the module have images that are read and written?
    fn reads_back(&self) -> bool {
        let images = self.module.all.iter().filter(|i| i.op == TYPE_IMAGE);
        images.map(|i| self.module.operands(i)).any(|operands| operands.get(8) == Some(&READ_WRITE))
    }

    /// ReportHeader a barrier's or a fence's own covers, where that matters; a barrier of a sub-group has none.
    fn covered(&self, i: &Instruction) -> u32 {
        let semantics = match (i.op, self.module.operands(i)) {
            (op::CONTROL_BARRIER, &[scope, _, semantics])
                if self.types.constant(scope) != Some(SUB_GROUP) =>
            {
                semantics
            }
            (op::MEMORY_BARRIER, &[_, semantics]) => semantics,
            _ => return 0,
        };
        // Flags that are no constant may be any.
        let Some(semantics) = self.types.constant(semantics).filter(|_| self.reads_back()) else { return 0 };
        let bits = [(IMAGE_MEMORY, COVERS_IMAGES), (CROSS_WORKGROUP_MEMORY, COVERS_BUFFERS)];
        bits.iter()
            .filter(|(bit, _)| semantics & bit != 0)
            .fold(IMAGES_APART, |all, (_, covers)| all | covers)
    }

    fn kind_of_fence(&self, i: &Instruction) -> u32 {
        let operands = self.module.operands(i);
        let (pointer, scope, semantics) = match (i.op, operands) {
            (op::MEMORY_BARRIER, _) => return ALONE,
            (op::ATOMIC_STORE, &[pointer, scope, semantics, ..]) => (pointer, scope, semantics),
            (op::ATOMIC_LOAD..=op::ATOMIC_XOR, &[_, _, pointer, scope, semantics, ..]) => {
                (pointer, scope, semantics)
            }
            _ => return 0,
        };
        let Some((class, _)) = self.types.pointer(pointer) else { return 0 };
        let narrow = self.types.constant(scope).is_some_and(|scope| OF_GROUP.contains(&scope));
        let orders = self.types.constant(semantics).is_some_and(|s| s & ORDERS != 0);
        if narrow && orders && matches!(class, CROSS_WORKGROUP | GENERIC) { FOR_GROUP } else { 0 }
    }
}
