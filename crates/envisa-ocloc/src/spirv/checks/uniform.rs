//! Stores that the compiler would remove although they are volatile.
//!
//! Of a store whose address is the same for all channels it keeps one channel. So that the others' values are seen, too,
//! such an address gets something added that is zero, and of which the compiler does not know that. And it keeps no store
//! to local memory in a module that nowhere loads of it: so there is a load, which is never executed.

use super::super::Instruction;
use super::super::debugger_frames::behind_variables;
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
    pub const U_CONVERT: u32 = 113;
    pub const BITCAST: u32 = 124;
    pub const BITWISE_AND: u32 = 199;
    pub const SHIFT_RIGHT_LOGICAL: u32 = 194;
}

/// Built-in variables that are the same for all work-items of a group: sizes, numbers of groups, the group's id, the
/// offset, dimensions.
const UNIFORM: [u32; 7] = [24, 25, 26, 30, 31, 32, 33];
/// How far the address is followed.
const DEEPEST: u32 = 24;

impl Checking {
    /// Sees to it that a store to memory that work-items share is all channels'.
    pub(super) fn by_all(&mut self, i: &Instruction, access: &Access) {
        let Some((class @ (WORKGROUP | CROSS_WORKGROUP), _)) = self.types.pointer(access.pointer) else {
            return;
        };
        if i.op != op::STORE {
            return;
        }
        if class == WORKGROUP && !self.loads {
            self.load_never(i.at, access.pointer);
        }
        if !self.is_uniform(access.pointer, DEEPEST) {
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
        self.zero_at = behind_variables(&self.module.all, n);
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
    /// is lost but time.
    fn is_uniform(&self, id: u32, depth: u32) -> bool {
        if self.types.constant(id).is_some() {
            return true;
        }
        let Some(i) = self.types.made(id).filter(|_| depth > 0) else { return false };
        let operands = self.module.operands(i);
        let all = |ids: &[u32]| ids.iter().all(|id| self.is_uniform(*id, depth - 1));
        match (i.op, operands) {
            (own::FUNCTION_PARAMETER, _) => true,
            (own::VARIABLE, [_, id, ..]) => {
                self.types.built_in(*id).is_none_or(|which| UNIFORM.contains(&which))
            }
            (own::LOAD, [_, id, from, ..]) => match (self.variables.value(*id), self.variables.stored(*from))
            {
                (Some(value), _) => self.is_uniform(value, depth - 1),
                (None, Some(values)) => {
                    // What a loop counts begins somewhere, and goes on from itself.
                    values.iter().all(|value| self.is_uniform(*value, depth / 2))
                }
                (None, None) => self.is_uniform(*from, depth - 1),
            },
            (own::COMPOSITE_EXTRACT, [_, _, of, ..]) => self.is_uniform(*of, depth - 1),
            (own::U_CONVERT..=op::S_CONVERT | own::BITCAST, [_, _, of]) => self.is_uniform(*of, depth - 1),
            (own::ACCESS_CHAIN..=own::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, _, rest @ ..]) => all(rest),
            (op::I_ADD..=op::I_MUL | own::SHIFT_RIGHT_LOGICAL..=own::BITWISE_AND, [_, _, rest @ ..]) => {
                all(rest)
            }
            _ => false,
        }
    }
}
