//! Variables of functions: which of them have a value at every read.
//!
//! Where the first half of the compiler does not optimise, each variable of the source is in memory. Those that every path
//! gives a value before it uses them may go into registers; of all others accesses stay, so that what nothing wrote is not
//! replaced by whatever suits the optimiser.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Instruction, Rewriting, text};
use super::types::{Shape, Types};

mod op {
    pub const NAME: u32 = 5;
    pub const LINE: u32 = 8;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const EXT_INST: u32 = 12;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_END: u32 = 56;
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const COPY_MEMORY_SIZED: u32 = 64;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const BITCAST: u32 = 124;
    pub const LABEL: u32 = 248;
    pub const BRANCH: u32 = 249;
    pub const BRANCH_CONDITIONAL: u32 = 250;
    pub const SWITCH: u32 = 251;
    pub const LIFETIME_START: u32 = 256;
    pub const LIFETIME_STOP: u32 = 257;
}

/// The storage class.
const FUNCTION: u32 = 7;
/// The instruction of debug information.
const DEBUG_DECLARE: u32 = 28;
/// Most bits that are followed of a function: blocks times variables.
const MOST_BITS: usize = 1 << 26;

/// What is known of a module's variables.
#[derive(Default)]
pub(super) struct Variables {
    settled: BTreeSet<u32>,
    /// The sets of instructions that tell debuggers of the source.
    debug: BTreeSet<u32>,
    /// Variables that these name.
    declared: BTreeSet<u32>,
    /// Loads of variables that are stored once: what was stored.
    values: BTreeMap<u32, u32>,
    /// What is stored to variables that are only loaded and stored.
    stored: BTreeMap<u32, Vec<u32>>,
    /// Pointers to elements of arrays of pointers: the array.
    elements: BTreeMap<u32, u32>,
}

/// What an instruction does with a variable.
enum Does {
    /// It gives it a value as a whole.
    Sets(u32),
    /// It uses it in some way.
    Uses(u32),
}

impl Variables {
    pub fn of(module: &Rewriting, types: &Types) -> Variables {
        let mut all = Variables::default();
        let imports = module.all.iter().filter(|i| i.op == op::EXT_INST_IMPORT);
        let debug: BTreeSet<u32> = imports
            .filter_map(|i| match module.operands(i) {
                [id, name @ ..] if text(name).contains("DebugInfo") => Some(*id),
                _ => None,
            })
            .collect();
        let mut from = 0;
        for (at, i) in module.all.iter().enumerate() {
            match i.op {
                op::FUNCTION => from = at,
                op::FUNCTION_END => all.function(&Function::of(module, types, &debug, &module.all[from..at])),
                op::EXT_INST => {
                    if let [_, _, set, DEBUG_DECLARE, _, variable, ..] = module.operands(i)
                        && debug.contains(set)
                    {
                        all.declared.insert(*variable);
                    }
                }
                _ => {}
            }
        }
        all.debug = debug;
        all
    }

    /// Does an instruction tell debuggers where a variable is that may go into registers? The second half of the compiler then
    /// follows the values that the variable has, and may lose some of them where ways meet.
    pub fn is_debug_value(&self, module: &Rewriting, i: &Instruction) -> bool {
        matches!(
            (i.op, module.operands(i)),
            (op::EXT_INST, [_, _, set, DEBUG_DECLARE, _, variable, ..])
                if self.debug.contains(set) && self.is_always_assigned(*variable)
        )
    }

    /// Is it a variable of the source, as far as the module's debug information says? The compiler makes others of its own, as
    /// for structures that functions return.
    pub fn is_of_source(&self, variable: u32) -> bool {
        self.declared.is_empty() || self.declared.contains(&variable)
    }

    /// Has a variable a value wherever it is used?
    pub fn is_always_assigned(&self, variable: u32) -> bool {
        self.settled.contains(&variable)
    }

    /// What a load gives, where the variable is stored only once.
    pub fn value(&self, load: u32) -> Option<u32> {
        self.values.get(&load).copied()
    }

    /// All that is stored to a variable that is only loaded and stored.
    pub fn stored(&self, variable: u32) -> Option<&[u32]> {
        self.stored.get(&variable).map(Vec::as_slice)
    }

    /// The array of pointers that a pointer is to an element of.
    pub fn array(&self, pointer: u32) -> Option<u32> {
        self.elements.get(&pointer).copied()
    }

    fn function(&mut self, f: &Function<'_>) {
        let settled = f.settled();
        // Stored once, loaded, and nothing else.
        for (variable, stored) in &f.stored {
            if let ([value], true, false) =
                (&stored[..], settled.contains(variable), f.taken.contains(variable))
            {
                let loads = f.loads.iter().filter(|(_, of)| of == variable);
                self.values.extend(loads.map(|(load, _)| (*load, *value)));
            }
        }
        let plain = f.stored.iter().filter(|(variable, _)| !f.taken.contains(variable));
        self.stored.extend(plain.map(|(variable, values)| (*variable, values.clone())));
        self.elements.extend(&f.elements);
        self.settled.extend(settled);
    }
}

/// A block: what it does with variables, and where it goes.
#[derive(Default)]
struct Block {
    does: Vec<Does>,
    next: Vec<u32>,
}

/// A function as far as its variables go.
struct Function<'a> {
    types: &'a Types,
    /// With their numbers; and those with an initialiser.
    variables: BTreeMap<u32, usize>,
    initialised: BTreeSet<u32>,
    /// Pointers that are cast from a variable's.
    casts: BTreeMap<u32, u32>,
    elements: BTreeMap<u32, u32>,
    /// By label, in the order of the text.
    blocks: Vec<(u32, Block)>,
    stored: BTreeMap<u32, Vec<u32>>,
    loads: Vec<(u32, u32)>,
    /// Variables of which somebody has the address.
    taken: BTreeSet<u32>,
}

impl<'a> Function<'a> {
    fn of(
        module: &'a Rewriting,
        types: &'a Types,
        debug: &BTreeSet<u32>,
        body: &[Instruction],
    ) -> Function<'a> {
        let mut f = Function {
            types,
            variables: BTreeMap::new(),
            initialised: BTreeSet::new(),
            casts: BTreeMap::new(),
            elements: BTreeMap::new(),
            blocks: Vec::new(),
            stored: BTreeMap::new(),
            loads: Vec::new(),
            taken: BTreeSet::new(),
        };
        for i in body {
            let operands = module.operands(i);
            match (i.op, operands) {
                (op::VARIABLE, [_, id, FUNCTION, rest @ ..]) => {
                    let number = f.variables.len();
                    f.variables.entry(*id).or_insert(number);
                    if !rest.is_empty() {
                        f.initialised.insert(*id);
                    }
                }
                (op::LABEL, [id, ..]) => f.blocks.push((*id, Block::default())),
                (op::NAME | op::LINE | op::LIFETIME_START | op::LIFETIME_STOP, _) => {}
                (op::EXT_INST, [_, _, set, ..]) if debug.contains(set) => {}
                _ => f.instruction(i.op, operands),
            }
        }
        f
    }

    /// The variable that an id is a pointer to the start of.
    fn whole(&self, id: u32) -> Option<u32> {
        self.casts.get(&id).copied().or_else(|| self.variables.contains_key(&id).then_some(id))
    }

    /// Is it a pointer to an element of a variable that is an array of pointers?
    fn is_element(&self, pointer: u32, array: u32) -> bool {
        let shape = |of: u32| self.types.get(of).map(|t| &t.shape);
        let pointee = |of: u32| self.types.pointer(of).and_then(|(_, to)| shape(to));
        let element = match pointee(array) {
            Some(Shape::Array(element, _)) => shape(*element),
            _ => None,
        };
        self.variables.contains_key(&array)
            && matches!((element, pointee(pointer)), (Some(Shape::Pointer(..)), Some(Shape::Pointer(..))))
    }

    fn bytes_of_pointee(&self, pointer: u32) -> u64 {
        let pointee = self.types.pointer(pointer).and_then(|(_, to)| self.types.get(to));
        pointee.map_or(u64::MAX, |t| t.bytes)
    }

    fn instruction(&mut self, op: u32, operands: &[u32]) {
        let mut does = Vec::new();
        let mut uses = |f: &mut Self, ids: &[u32]| {
            for id in ids {
                if let Some(variable) = f.whole(*id) {
                    f.taken.insert(variable);
                    does.push(Does::Uses(variable));
                }
            }
        };
        match (op, operands) {
            (op::LOAD, [_, id, pointer, ..]) if self.variables.contains_key(pointer) => {
                self.loads.push((*id, *pointer));
                does.push(Does::Uses(*pointer));
            }
            (op::LOAD, [_, _, pointer, ..]) => uses(self, &[*pointer]),
            (op::STORE, [pointer, value, ..]) => {
                uses(self, &[*value]);
                if let Some(array) = self.elements.get(pointer) {
                    self.stored.entry(*array).or_default().push(*value);
                }
                if let Some(variable) = self.whole(*pointer) {
                    self.stored.entry(variable).or_default().push(*value);
                    let is_whole = self.bytes_of_pointee(*pointer) >= self.bytes_of_pointee(variable);
                    does.push(if is_whole { Does::Sets(variable) } else { Does::Uses(variable) });
                }
            }
            (op::COPY_MEMORY_SIZED, [to, from, size, ..]) => {
                uses(self, &[*from]);
                if let Some(variable) = self.whole(*to) {
                    self.taken.insert(variable);
                    let bytes = self.types.constant(*size).map_or(0, |n| n as u64);
                    let is_whole = bytes >= self.bytes_of_pointee(variable);
                    does.push(if is_whole { Does::Sets(variable) } else { Does::Uses(variable) });
                }
            }
            (op::BITCAST, [_, id, from]) => {
                if let Some(variable) = self.whole(*from) {
                    self.casts.insert(*id, variable);
                }
            }
            (op::ACCESS_CHAIN..=op::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, id, array, ..])
                if self.is_element(*id, *array) =>
            {
                self.elements.insert(*id, *array);
                does.push(Does::Uses(*array));
            }
            (op::BRANCH, [to]) => self.goes(&[*to]),
            (op::BRANCH_CONDITIONAL, [_, yes, no, ..]) => self.goes(&[*yes, *no]),
            // Whatever of its literals is not a label is none of a block.
            (op::SWITCH, [_, targets @ ..]) => self.goes(targets),
            _ => uses(self, operands),
        }
        if let Some((_, block)) = self.blocks.last_mut() {
            block.does.extend(does);
        }
    }

    fn goes(&mut self, to: &[u32]) {
        if let Some((_, block)) = self.blocks.last_mut() {
            block.next.extend_from_slice(to);
        }
    }

    /// The variables that have a value wherever they are used.
    fn settled(&self) -> BTreeSet<u32> {
        let words = self.variables.len().div_ceil(64);
        if words * 64 * self.blocks.len() > MOST_BITS {
            return BTreeSet::new();
        }
        let place: BTreeMap<u32, usize> =
            self.blocks.iter().enumerate().map(|(n, (label, _))| (*label, n)).collect();
        let set = |bits: &mut Vec<u64>, variable: &u32| {
            if let Some(n) = self.variables.get(variable) {
                bits[n / 64] |= 1 << (n % 64);
            }
        };
        // Nobody has come to a block yet: as if all had a value there.
        let mut have = vec![vec![u64::MAX; words]; self.blocks.len()];
        let Some(entry) = have.first_mut() else { return BTreeSet::new() };
        entry.fill(0);
        self.initialised.iter().for_each(|v| set(entry, v));
        let mut wait: Vec<usize> = vec![0];
        let mut seen = vec![false; self.blocks.len()];
        while let Some(at) = wait.pop() {
            seen[at] = true;
            let (_, block) = &self.blocks[at];
            let mut after = have[at].clone();
            block.does.iter().for_each(|does| match does {
                Does::Sets(v) => set(&mut after, v),
                Does::Uses(_) => {}
            });
            for next in block.next.iter().filter_map(|label| place.get(label)) {
                let mut changed = !seen[*next];
                for (have, after) in have[*next].iter_mut().zip(&after) {
                    changed |= *have & !after != 0;
                    *have &= after;
                }
                if changed && !wait.contains(next) {
                    wait.push(*next);
                }
            }
        }
        let mut settled: BTreeSet<u32> = self.variables.keys().copied().collect();
        for ((_, block), mut have) in self.blocks.iter().zip(have) {
            for does in &block.does {
                match does {
                    Does::Sets(v) => set(&mut have, v),
                    Does::Uses(v) => {
                        if self.variables.get(v).is_some_and(|n| have[n / 64] >> (n % 64) & 1 == 0) {
                            settled.remove(v);
                        }
                    }
                }
            }
        }
        settled
    }
}
