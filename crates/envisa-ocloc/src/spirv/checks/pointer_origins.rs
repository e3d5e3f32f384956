//! Pointers that may lead into several variables: each is accompanied by the start and the size of the variable that it
//! leads into.
//!
//! An address does not tell which variable was meant. So what holds such a pointer gets companions: a variable, or an array,
//! two of its own; a selection two more selections; a parameter of a function two more parameters, which every call gives.
//! What nothing is known of begins at zero and has no end.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Instruction;
use super::super::debugger_frames::after_variables;
use super::types::Shape;
use super::{Access, Checking, FUNCTION, GENERIC, WORKGROUP, op, pointer_path};

mod own {
    pub const TYPE_ARRAY: u32 = 28;
    pub const VARIABLE: u32 = 59;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const SELECT: u32 = 169;
    pub const PHI: u32 = 245;
    pub const LOOP_MERGE: u32 = 246;
    pub const SELECTION_MERGE: u32 = 247;
    pub const UNREACHABLE: u32 = 255;
}

/// The storage class of constants.
const UNIFORM_CONSTANT: u32 = 0;
/// The bits of a generic pointer that are an address: the others tell which memory it is of.
const ADDRESS: u64 = u64::MAX >> 3;
/// Most elements of an array of pointers that is followed.
const MOST_ELEMENTS: u64 = 32;

/// Where a variable begins, and its bytes: numbers of 64 bits.
pub(super) type Origin = [u32; 2];

/// What is known of where pointers lead.
#[derive(Default)]
pub(super) struct Origins {
    /// By pointer.
    known: BTreeMap<u32, Origin>,
    /// The companions of variables that hold pointers.
    holders: BTreeMap<u32, Origin>,
    /// Parameters of these functions have companions.
    functions: BTreeSet<u32>,
    /// Types of functions, of arrays and of pointers to these that were added.
    types: BTreeMap<Vec<u32>, u32>,
}

impl Checking {
    /// What an access is held against whose pointer may lead into several variables: the bytes from where the one that it
    /// leads into begins, that number's limit, and the variable's bytes. `None` where nothing is known.
    pub(super) fn origin_of(&mut self, at: usize, access: &Access) -> Option<[u32; 3]> {
        if !self.is_followed(access.pointer) {
            return None;
        }
        let [start, bytes] = self.origin(at, access.pointer)?;
        let address = self.make(at, op::CONVERT_PTR_TO_U, &[access.pointer]);
        let mut offset = self.make(at, op::I_SUB, &[address, start]);
        if self.types.pointer(access.pointer).is_some_and(|(class, _)| class == GENERIC) {
            let mask = self.constant(ADDRESS);
            offset = self.make(at, op::BITWISE_AND, &[offset, mask]);
        }
        let last = self.constant(access.bytes.wrapping_sub(1));
        let limit = self.make(at, op::I_SUB, &[bytes, last]);
        Some([offset, limit, bytes])
    }

    /// Can a pointer be to a variable of the module's?
    fn is_followed(&self, pointer: u32) -> bool {
        let class = self.types.pointer(pointer).map(|(class, _)| class);
        matches!(class, Some(UNIFORM_CONSTANT | WORKGROUP | FUNCTION | GENERIC))
            && !self.types.is_copied(pointer)
    }

    /// Where the variable begins that a pointer leads into, as it is known at a place behind the pointer.
    fn origin(&mut self, at: usize, pointer: u32) -> Option<Origin> {
        if let Some(known) = self.origins.known.get(&pointer) {
            return Some(*known);
        }
        if let Some(value) = self.variables.value(pointer) {
            return self.origin(at, value);
        }
        let i = *self.types.definition(pointer)?;
        let operands = self.module.operands(&i).to_vec();
        match (i.op, &operands[..]) {
            (own::VARIABLE, _) => {
                let (_, pointee) = self.types.pointer(pointer)?;
                let bytes = self.types.get(pointee).map(|t| t.bytes).filter(|n| *n > 0)?;
                Some([self.make(at, op::CONVERT_PTR_TO_U, &[pointer]), self.constant(bytes)])
            }
            (step, [_, _, base, ..]) if pointer_path::is_step(step) => self.origin(at, *base),
            (op::LOAD, [_, _, from, ..]) => {
                let (variable, chain) = self.holder(*from)?;
                let companions = self.companions(variable)?;
                let made = companions.map(|c| {
                    let place = self.element(i.end, c, chain.as_ref());
                    self.make(i.end, op::LOAD, &[place])
                });
                self.origins.known.insert(pointer, made);
                Some(made)
            }
            (own::SELECT, [_, _, which, a, b]) => {
                let [a, b] = [*a, *b].map(|p| self.origin_or_none(i.at, p));
                let made = [0, 1].map(|n| self.make(i.at, own::SELECT, &[*which, a[n], b[n]]));
                self.origins.known.insert(pointer, made);
                Some(made)
            }
            (own::PHI, [_, _, pairs @ ..]) => {
                let made = [self.module.id(), self.module.id()];
                self.origins.known.insert(pointer, made);
                let mut all = [vec![self.ids.long, made[0]], vec![self.ids.long, made[1]]];
                for pair in pairs.chunks_exact(2) {
                    let end = self.end_of(pair[1])?;
                    let from = self.origin_or_none(end, pair[0]);
                    (0..2).for_each(|n| all[n].extend([from[n], pair[1]]));
                }
                all.iter().for_each(|operands| self.module.put(i.at, own::PHI, operands));
                Some(made)
            }
            (op::FUNCTION_PARAMETER, _) => {
                self.parameters(i.at);
                self.origins.known.get(&pointer).copied()
            }
            _ => None,
        }
    }

    fn origin_or_none(&mut self, at: usize, pointer: u32) -> Origin {
        match self.origin(at, pointer) {
            Some(origin) => origin,
            None => [self.constant(0), self.constant(u64::MAX >> 1)],
        }
    }

    /// The variable whose value, or the array of which an element, a pointer is of: with the instruction that takes it.
    fn holder(&self, pointer: u32) -> Option<(u32, Option<Instruction>)> {
        let i = *self.types.definition(pointer)?;
        if i.op == own::VARIABLE {
            return self.variables.stored(pointer).map(|_| (pointer, None));
        }
        let array = self.variables.array(pointer)?;
        self.variables.stored(array).map(|_| (array, Some(i)))
    }

    /// The place in a companion that is as an element's in the array.
    fn element(&mut self, at: usize, companion: u32, chain: Option<&Instruction>) -> u32 {
        let Some(i) = chain else { return companion };
        let indices = self.module.operands(i)[3..].to_vec();
        let ty = self.pointer_to(self.ids.long);
        let id = self.module.id();
        let all: Vec<u32> = [ty, id, companion].into_iter().chain(indices).collect();
        self.module.put(at, i.op, &all);
        id
    }

    /// The companions of a variable, which all stores to it keep up.
    fn companions(&mut self, variable: u32) -> Option<Origin> {
        if let Some(known) = self.origins.holders.get(&variable) {
            return Some(*known);
        }
        let (_, pointee) = self.types.pointer(variable)?;
        let count = match self.types.get(pointee)?.shape {
            Shape::Array(_, count) if count <= MOST_ELEMENTS => Some(count),
            Shape::Pointer(..) => None,
            _ => return None,
        };
        let declared = self.types.definition(variable)?.at;
        let n = self.module.all.iter().rposition(|i| i.op == op::FUNCTION && i.at < declared)?;
        let begin = after_variables(&self.module.all, n)?;
        let long = self.ids.long;
        let ty = match count {
            Some(count) => {
                let count = self.constant(count);
                self.added_type(own::TYPE_ARRAY, &[long, count])
            }
            None => long,
        };
        let ty = self.pointer_to(ty);
        let made = [self.module.id(), self.module.id()];
        self.origins.holders.insert(variable, made);
        let unknown = [self.constant(0), self.constant(u64::MAX >> 1)];
        let element = self.pointer_to(long);
        for (id, none) in made.into_iter().zip(unknown) {
            self.module.put_first(begin, own::VARIABLE, &[ty, id, FUNCTION]);
            for n in 0..count.unwrap_or(1) {
                let mut place = id;
                if count.is_some() {
                    let (zero, n) = (self.constant(0), self.constant(n));
                    place = self.module.id();
                    self.module.put(begin, own::PTR_ACCESS_CHAIN, &[element, place, id, zero, n]);
                }
                self.module.put(begin, op::STORE, &[place, none]);
            }
        }
        let stores: Vec<Instruction> =
            self.module.all[n..].iter().take_while(|i| i.op != op::FUNCTION_END).copied().collect();
        for i in stores.iter().filter(|i| i.op == op::STORE) {
            let &[to, value, ..] = self.module.operands(i) else { continue };
            let Some((_, chain)) = self.holder(to).filter(|h| h.0 == variable) else { continue };
            let from = self.origin_or_none(i.at, value);
            for n in 0..2 {
                let place = self.element(i.at, made[n], chain.as_ref());
                self.module.put(i.at, op::STORE, &[place, from[n]]);
            }
        }
        Some(made)
    }

    /// Gives the parameters of the function around a place companions, and all calls of it, too; not those of a kernel.
    fn parameters(&mut self, at: usize) -> Option<()> {
        let all = self.module.all.clone();
        let n = all.iter().rposition(|i| i.op == op::FUNCTION && i.at < at)?;
        let [_, id, _, kind] = *self.module.operands(&all[n]) else { return None };
        if self.kernels.contains(&id) || !self.origins.functions.insert(id) {
            return None;
        }
        let body = || all[n + 1..].iter().take_while(|i| i.op != op::FUNCTION_END);
        let parameters: Vec<Instruction> =
            body().filter(|i| i.op == op::FUNCTION_PARAMETER).copied().collect();
        body().find(|i| i.op == op::LABEL)?;
        let ids = parameters.iter().map(|i| self.module.operands(i).get(1).copied().unwrap_or(0));
        let followed: Vec<usize> =
            ids.clone().enumerate().filter(|(_, id)| self.is_followed(*id)).map(|(n, _)| n).collect();
        let ids: Vec<u32> = ids.collect();
        let declared = all
            .iter()
            .find(|i| i.op == op::TYPE_FUNCTION && self.module.operands(i).first() == Some(&kind))?;
        let mut operands = self.module.operands(declared)[1..].to_vec();
        operands.extend(vec![self.ids.long; 2 * followed.len()]);
        let kind = self.added_type(op::TYPE_FUNCTION, &operands);
        self.module.words[all[n].at + 4] = kind;
        let end = parameters.last()?.end;
        for n in &followed {
            let made = [self.module.id(), self.module.id()];
            made.iter().for_each(|id| {
                self.module.put(end, op::FUNCTION_PARAMETER, &[self.ids.long, *id]);
            });
            self.origins.known.insert(ids[*n], made);
        }
        for i in all.iter().filter(|i| i.op == op::FUNCTION_CALL) {
            let operands = self.module.operands(i).to_vec();
            let [_, _, called, arguments @ ..] = &operands[..] else { continue };
            if *called != id {
                continue;
            }
            for n in &followed {
                let origin = arguments.get(*n).map(|a| self.origin_or_none(i.at, *a));
                self.module.append(i, &origin?);
            }
        }
        Some(())
    }

    /// In front of what ends a block.
    fn end_of(&self, label: u32) -> Option<usize> {
        let all = &self.module.all;
        let n = all.iter().position(|i| i.op == op::LABEL && self.module.operands(i) == [label])?;
        let ends = |i: &Instruction| (op::BRANCH..=own::UNREACHABLE).contains(&i.op);
        let merges = |i: &Instruction| matches!(i.op, own::LOOP_MERGE | own::SELECTION_MERGE);
        all[n..].iter().find(|i| ends(i) || merges(i)).map(|i| i.at)
    }

    /// A pointer to something in a function.
    pub(super) fn pointer_to(&mut self, ty: u32) -> u32 {
        if ty != self.ids.long {
            return self.added_type(op::TYPE_POINTER, &[FUNCTION, ty]);
        }
        if let Some(id) = self.ids.variable {
            return id;
        }
        let id = self.added_type(op::TYPE_POINTER, &[FUNCTION, ty]);
        self.ids.variable = Some(id);
        id
    }

    /// A type: as it is declared, or added.
    fn added_type(&mut self, op: u32, operands: &[u32]) -> u32 {
        let key: Vec<u32> = std::iter::once(op).chain(operands.iter().copied()).collect();
        if let Some(id) = self.origins.types.get(&key) {
            return *id;
        }
        let is = |i: &&Instruction| i.op == op && self.module.operands(i).get(1..) == Some(operands);
        let known = self.module.all.iter().find(is).map(|i| self.module.operands(i)[0]);
        let id = known.unwrap_or_else(|| {
            let id = self.module.id();
            let all: Vec<u32> = std::iter::once(id).chain(operands.iter().copied()).collect();
            self.module.put(self.first, op, &all);
            id
        });
        self.origins.types.insert(key, id);
        id
    }
}
