//! Stores that the compiler would remove although they are volatile.
//!
//! Of a store whose address is the same for all channels it keeps one channel. So that the others' values are seen, too,
//! such an address gets something added that is zero, and of which the compiler does not know that. And it keeps no store
//! to local memory in a module that nowhere loads of it: so there is a load, which is never executed.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::super::Instruction;
use super::super::debugger_frames::after_variables;
use super::{ALIGNED, Access, CROSS_WORKGROUP, Checking, FUNCTION, VOLATILE, WORKGROUP, op};

mod own {
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const I_NOT_EQUAL: u32 = 171;
    pub const BITCAST: u32 = 124;
    pub const PHI: u32 = 245;
}

/// Built-in variables that are the same for all work-items of a group: sizes, numbers of groups, the group's id, the
/// offset, dimensions.
const UNIFORM: [u32; 7] = [24, 25, 26, 30, 31, 32, 33];
/// `vstoren`, and all of `vstore_half` and `vstorea_half`.
const STORES_VECTORS: [u32; 7] = [172, 175, 176, 177, 178, 180, 181];
/// Instructions that compute a number of others: conversions, arithmetic, comparisons and choices, bits.
const COMPUTES: [RangeInclusive<u32>; 4] = [109..=124, 126..=152, 164..=191, 194..=205];

impl Checking {
    /// Sees to it that a store to memory that work-items share is all channels'.
    pub(super) fn make_store_unconditional(&mut self, i: &Instruction, access: &Access) {
        let Some((class @ (WORKGROUP | CROSS_WORKGROUP), _)) = self.types.pointer(access.pointer) else {
            return;
        };
        if i.op != op::STORE {
            return;
        }
        if class == WORKGROUP && !self.loads {
            self.load_never(i.at, access.pointer);
        }
        if !self.is_uniform(access.pointer, &mut BTreeSet::new()) {
            return;
        }
        let (Some(zero), Some(ty)) = (self.zero, self.types.type_of(access.pointer)) else { return };
        let at = i.at;
        let value = self.make(at, own::LOAD, &[zero, VOLATILE | ALIGNED, 8]);
        let pointer = self.module.id();
        self.module.put(at, own::PTR_ACCESS_CHAIN, &[ty, pointer, access.pointer, value]);
        self.module.words[at + 1] = pointer;
        self.zero_used = true;
    }

    /// The same of `vstore` and `vstore_half`: what is zero is added to the number of the vector.
    pub(super) fn make_vector_store_unconditional(&mut self, i: &Instruction) {
        let &[_, _, set, function, _, offset, pointer, ..] = self.module.operands(i) else { return };
        if i.op != op::EXT_INST || !STORES_VECTORS.contains(&function) || !self.types.is_opencl(set) {
            return;
        }
        let shared = self
            .types
            .pointer(pointer)
            .is_some_and(|(class, _)| matches!(class, WORKGROUP | CROSS_WORKGROUP));
        let mut seen = BTreeSet::new();
        let long = self.types.type_of(offset) == Some(self.ids.long);
        if !shared || !long || !self.is_uniform(pointer, &mut seen) || !self.is_uniform(offset, &mut seen) {
            return;
        }
        let Some(zero) = self.zero else { return };
        let at = i.at;
        let value = self.make(at, own::LOAD, &[zero, VOLATILE | ALIGNED, 8]);
        let sum = self.make(at, op::I_ADD, &[offset, value]);
        // Behind the type, the number, the set, the function and the data.
        self.module.words[at + 6] = sum;
        self.zero_used = true;
    }

    /// Loads from local memory if what is zero is not.
    fn load_never(&mut self, at: usize, pointer: u32) {
        let Some(zero) = self.zero else { return };
        self.loads = true;
        self.zero_used = true;
        let (void, long) = (self.ids.void, self.ids.long);
        let local = self.module.id();
        self.module.put(self.first, op::TYPE_POINTER, &[local, WORKGROUP, long]);
        let [load, kind] = [self.module.id(), self.module.id()];
        self.module.put(self.first, op::TYPE_FUNCTION, &[kind, void, local, long]);
        let [to, call] = [self.module.id(), self.module.id()];
        self.module.put(at, own::BITCAST, &[local, to, pointer]);
        let value = self.make(at, own::LOAD, &[zero, VOLATILE | ALIGNED, 8]);
        self.module.put(at, op::FUNCTION_CALL, &[void, call, load, to, value]);
        let (bool_type, none, end) = (self.bool_type(), self.constant(0), self.module.words.len());
        let m = &mut self.module;
        let [from, value, begin, never, done, is, loaded] = std::array::from_fn(|_| m.id());
        m.put(end, op::FUNCTION, &[void, load, 0, kind]);
        m.put(end, own::FUNCTION_PARAMETER, &[local, from]);
        m.put(end, own::FUNCTION_PARAMETER, &[long, value]);
        m.put(end, op::LABEL, &[begin]);
        m.put(end, own::I_NOT_EQUAL, &[bool_type, is, value, none]);
        m.put(end, op::BRANCH_CONDITIONAL, &[is, never, done]);
        m.put(end, op::LABEL, &[never]);
        m.put(end, own::LOAD, &[long, loaded, from, VOLATILE | ALIGNED, 8]);
        m.put(end, op::BRANCH, &[done]);
        m.put(end, op::LABEL, &[done]);
        m.put(end, op::RETURN, &[]);
        m.put(end, op::FUNCTION_END, &[]);
    }

    /// A function begins: it may need a variable of its own that is zero.
    pub(super) fn begin(&mut self, n: usize) {
        self.zero = Some(self.module.id());
        self.zero_used = false;
        self.zero_at = after_variables(&self.module.all, n);
    }

    /// A function ends: it gets the variable, if it needs it.
    pub(super) fn end(&mut self) {
        let (Some(zero), Some(at), true) = (self.zero, self.zero_at, self.zero_used) else { return };
        let (long, none) = (self.ids.long, self.constant(0));
        let pointer = self.pointer_to(long);
        // In front of what else was put there.
        let mut words = super::super::instruction(own::VARIABLE, &[pointer, zero, FUNCTION]);
        words.extend(super::super::instruction(op::STORE, &[zero, none, VOLATILE | ALIGNED, 8]));
        self.module.added.entry(at).or_default().splice(..0, words);
    }

    /// Is a value the same for all work-items of a group, as far as is seen here? Where it is not and this says so, nothing
    /// is lost but time. What was looked at is no longer looked into: what a loop counts comes from itself.
    fn is_uniform(&self, id: u32, seen: &mut BTreeSet<u32>) -> bool {
        if self.types.constant(id).is_some() || !seen.insert(id) {
            return true;
        }
        let Some(i) = self.types.definition(id) else { return false };
        let operands = self.module.operands(i);
        let parts: Vec<u32> = match (i.op, operands) {
            (own::VARIABLE, [_, id, ..]) => {
                return self.types.built_in(*id).is_none_or(|which| UNIFORM.contains(&which));
            }
            (own::LOAD, [_, id, from, ..]) => match (self.variables.value(*id), self.variables.stored(*from))
            {
                (Some(value), _) => vec![value],
                (None, Some(values)) => values.to_vec(),
                (None, None) => vec![*from],
            },
            (own::COMPOSITE_EXTRACT, [_, _, of, ..]) => vec![*of],
            (own::PHI, [_, _, ways @ ..]) => ways.iter().step_by(2).copied().collect(),
            (op::EXT_INST, [_, _, _, _, rest @ ..]) => rest.to_vec(),
            (op::FUNCTION_CALL, [_, _, _, rest @ ..]) => rest.to_vec(),
            (own::ACCESS_CHAIN..=own::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, _, rest @ ..]) => rest.to_vec(),
            (n, [_, _, rest @ ..]) if COMPUTES.iter().any(|all| all.contains(&n)) => rest.to_vec(),
            // Each work-item gets another number.
            (op::ATOMIC_LOAD..=op::ATOMIC_XOR, _) => return false,
            // What a function is given, and what else may be the same.
            _ => return true,
        };
        parts.iter().all(|id| self.is_uniform(*id, seen))
    }
}
