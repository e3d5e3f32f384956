//! Values that are put together in pieces: vectors whose components are set one by one, bytes that are read as a number.
//!
//! Compiled code that stores one, of which some bytes were never set, looks like that which copies a structure, whose
//! padding has no value and needs none. So stores of such values tell how many bytes of them count.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Instruction, Rewriting};
use super::pointer_path::Path;
use super::types::{Shape, Types};
use super::variables::Variables;
use super::{
    CROSS_WORKGROUP, Checking, FUNCTION, GENERIC, Kind, ReportHeader, ReportedAccess, VSTOREN, WORKGROUP, op,
};

mod own {
    pub const VECTOR_SHUFFLE: u32 = 79;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const BITCAST: u32 = 124;
    pub const SELECT: u32 = 169;
    pub const PHI: u32 = 245;
    pub const RETURN_VALUE: u32 = 254;
}

/// A component of a shuffle that is none of its sources'.
const NO_COMPONENT: u32 = u32::MAX;
/// Most instructions and variables that a value is followed through.
const MOST: usize = 64;

/// How values of a module come about.
#[derive(Default)]
pub(super) struct Pieces {
    /// What functions return, and what their parameters are given.
    passed: BTreeMap<u32, Vec<u32>>,
    /// Bytes of the smallest number or vector that is stored to a variable of a function.
    smallest: BTreeMap<u32, u64>,
}

impl Pieces {
    pub fn of(module: &Rewriting, types: &Types, variables: &Variables) -> Pieces {
        let mut smallest = BTreeMap::<u32, u64>::new();
        for i in module.all.iter().filter(|i| i.op == op::STORE) {
            let &[pointer, value, ..] = module.operands(i) else { continue };
            let Some((FUNCTION, _)) = types.pointer(pointer) else { continue };
            let Some(path) = Path::of(module, types, variables, pointer) else { continue };
            let Some(ty) = types.type_of(value).and_then(|ty| types.get(ty)) else { continue };
            let least = smallest.entry(path.root).or_insert(u64::MAX);
            *least = ty.bytes.min(*least);
        }
        Pieces { passed: passed(module), smallest }
    }
}

fn passed(module: &Rewriting) -> BTreeMap<u32, Vec<u32>> {
    let mut all = BTreeMap::<u32, Vec<u32>>::new();
    let (mut parameters, mut function) = (BTreeMap::<u32, Vec<u32>>::new(), 0);
    for i in &module.all {
        match (i.op, module.operands(i)) {
            (op::FUNCTION, [_, id, ..]) => function = *id,
            (op::FUNCTION_PARAMETER, [_, id]) => parameters.entry(function).or_default().push(*id),
            (own::RETURN_VALUE, [value]) => all.entry(function).or_default().push(*value),
            _ => {}
        }
    }
    for i in module.all.iter().filter(|i| i.op == op::FUNCTION_CALL) {
        let [_, _, called, given @ ..] = module.operands(i) else { continue };
        for (parameter, value) in parameters.get(called).into_iter().flatten().zip(given) {
            all.entry(*parameter).or_default().push(*value);
        }
    }
    all
}

impl Checking {
    /// Notes where a store of such a value begins, and where it is over.
    pub(super) fn whole_values(&mut self, i: &Instruction) {
        let (pointer, value) = match (i.op, self.module.operands(i)) {
            (op::STORE, &[pointer, value, ..]) => (pointer, value),
            (op::EXT_INST, &[_, _, set, VSTOREN, value, _, pointer]) if self.types.is_opencl(set) => {
                (pointer, value)
            }
            _ => return,
        };
        let shared = |class| matches!(class, WORKGROUP | CROSS_WORKGROUP | GENERIC);
        if !self.types.pointer(pointer).is_some_and(|(class, _)| shared(class)) {
            return;
        }
        let Some(bytes) = self.counted(value).filter(|_| self.in_pieces(value, &mut BTreeSet::new())) else {
            return;
        };
        for (at, bytes) in [(i.at, bytes), (i.end, 0)] {
            self.note(at, ReportHeader { kind: Kind::Whole, does: ReportedAccess::Writes, bytes, bound: 0 });
        }
    }

    /// How many bytes of a value count, if it has such as may be missed: vectors of three components are stored as if
    /// they had four.
    fn counted(&self, value: u32) -> Option<u16> {
        let ty = self.types.get(self.types.type_of(value)?)?;
        let bytes = match ty.shape {
            Shape::Number if ty.bytes > 1 => ty.bytes,
            Shape::Vector(of, _) => {
                let element = self.types.get(of).map(|t| t.bytes).filter(|n| *n < 4)?;
                let shuffled = self.types.definition(value).filter(|i| i.op == own::VECTOR_SHUFFLE);
                let components = shuffled.and_then(|i| self.module.operands(i).get(4..));
                let counted = components.and_then(|all| all.iter().position(|c| *c == NO_COMPONENT));
                counted.map_or(ty.bytes, |n| n as u64 * element)
            }
            _ => return None,
        };
        u16::try_from(bytes).ok().filter(|n| *n > 0)
    }

    /// May a part of a value have been set without the rest of it?
    fn in_pieces(&self, value: u32, seen: &mut BTreeSet<u32>) -> bool {
        if !seen.insert(value) || seen.len() > MOST {
            return false;
        }
        let passed = self.pieces.passed.get(&value);
        if let Some(values) = passed {
            return values.iter().any(|v| self.in_pieces(*v, seen));
        }
        let Some(i) = self.types.definition(value) else { return false };
        match (i.op, self.module.operands(i)) {
            (op::LOAD, [ty, _, pointer, ..]) => self.loaded_in_pieces(value, *ty, *pointer, seen),
            (own::BITCAST | own::COMPOSITE_EXTRACT, [_, _, of, ..]) => self.in_pieces(*of, seen),
            (own::VECTOR_SHUFFLE, [_, _, a, b, ..]) | (own::SELECT, [_, _, _, a, b]) => {
                self.in_pieces(*a, seen) || self.in_pieces(*b, seen)
            }
            (own::PHI, [_, _, ways @ ..]) => ways.iter().step_by(2).any(|v| self.in_pieces(*v, seen)),
            (op::FUNCTION_CALL, [_, _, called, ..]) => {
                let returned = self.pieces.passed.get(called);
                returned.is_some_and(|all| all.iter().any(|v| self.in_pieces(*v, seen)))
            }
            _ => false,
        }
    }

    fn loaded_in_pieces(&self, load: u32, ty: u32, pointer: u32, seen: &mut BTreeSet<u32>) -> bool {
        if let Some(value) = self.variables.value(load) {
            return self.in_pieces(value, seen);
        }
        let Some(path) = Path::of(&self.module, &self.types, &self.variables, pointer) else { return false };
        let Some(loaded) = self.types.get(ty) else { return false };
        let Some((class, _)) = self.types.pointer(path.root) else { return false };
        if class != FUNCTION {
            return path.cast_from < loaded.bytes;
        }
        if self.variables.is_always_assigned(path.root) {
            let values = self.variables.stored(path.root);
            return values.is_some_and(|all| all.iter().any(|v| self.in_pieces(*v, seen)));
        }
        let smallest = self.pieces.smallest.get(&path.root).copied().unwrap_or(u64::MAX);
        loaded.shape != Shape::Number || path.cast_from.min(smallest) < loaded.bytes
    }
}
