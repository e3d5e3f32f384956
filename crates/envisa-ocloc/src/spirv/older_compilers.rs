//! SPIR-V as older compilers take it: Intel's of 2022 refuses some of what later versions of SPIR-V brought, or breaks down on it.
//! Each is said here by what was there before, with the same meaning:
//!
//! - A load of one component of a built-in variable, by an access chain, is a load of the whole and an extraction.
//! - Reads and writes of images do not say how integers are extended (1.4): the image's format does.
//! - Comparisons and differences of pointers (1.4) are those of integers.
//! - What is not so is equal to false.
//!
//! (The format: SPIR-V specification, 2.3, 3.14 and 3.42.)

use std::collections::{BTreeMap, BTreeSet};

use super::{Instruction, Rewriting};

mod op {
    pub const MEMORY_MODEL: u32 = 14;
    pub const TYPE_BOOL: u32 = 20;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_POINTER: u32 = 32;
    pub const CONSTANT: u32 = 43;
    pub const CONSTANT_NULL: u32 = 46;
    pub const FUNCTION: u32 = 54;
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const DECORATE: u32 = 71;
    pub const VECTOR_EXTRACT_DYNAMIC: u32 = 77;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const IMAGE_SAMPLE_IMPLICIT_LOD: u32 = 87;
    pub const IMAGE_SAMPLE_EXPLICIT_LOD: u32 = 88;
    pub const IMAGE_FETCH: u32 = 95;
    pub const IMAGE_READ: u32 = 98;
    pub const IMAGE_WRITE: u32 = 99;
    pub const CONVERT_PTR_TO_U: u32 = 117;
    pub const I_SUB: u32 = 130;
    pub const S_DIV: u32 = 135;
    pub const LOGICAL_EQUAL: u32 = 164;
    pub const LOGICAL_NOT: u32 = 168;
    pub const I_EQUAL: u32 = 170;
    pub const I_NOT_EQUAL: u32 = 171;
    pub const PTR_EQUAL: u32 = 401;
    pub const PTR_NOT_EQUAL: u32 = 402;
    pub const PTR_DIFF: u32 = 403;
}

const BUILT_IN: u32 = 11;
/// `SignExtend` and `ZeroExtend` among the operands of an image's accesses.
const EXTENDS: u32 = 0x3000;
const PHYSICAL_64: u32 = 2;

/// The module so; `None` if it says nothing that would be said in another way, or is none of little-endian SPIR-V.
pub fn for_older_compilers(spirv: &[u8]) -> Option<Vec<u8>> {
    let mut module = Rewriting::of(spirv)?;
    let all = module.all.clone();
    let first = all.iter().position(|i| i.op == op::FUNCTION).unwrap_or(all.len());
    let facts = Facts::of(&module, &all);
    let changed = [
        load_whole_built_ins(&mut module, &all[first..], &facts),
        leave_extensions_to_formats(&mut module, &all[first..]),
        compare_pointers_as_integers(&mut module, &all, first, &facts),
        compare_with_false(&mut module, &all, first),
    ];
    if changed.contains(&true) { module.finish() } else { None }
}

/// What is known of a module's types, constants and variables, by id.
#[derive(Default)]
struct Facts {
    /// Component and number of vectors.
    vectors: BTreeMap<u32, (u32, u32)>,
    /// Bytes of integers and floating-point numbers.
    scalars: BTreeMap<u32, u32>,
    /// What pointers point to.
    pointers: BTreeMap<u32, u32>,
    /// Of 32 bits and of more.
    constants: BTreeMap<u32, u64>,
    /// Built-in variables that are vectors, with the vector's type.
    built_ins: BTreeMap<u32, u32>,
    is_64_bits: bool,
}

impl Facts {
    fn of(module: &Rewriting, all: &[Instruction]) -> Facts {
        let mut facts = Facts::default();
        let mut decorated = BTreeSet::new();
        for i in all {
            match (i.op, module.operands(i)) {
                (op::DECORATE, [id, BUILT_IN, ..]) => {
                    decorated.insert(*id);
                }
                (op::MEMORY_MODEL, [addressing, ..]) => facts.is_64_bits = *addressing == PHYSICAL_64,
                (op::TYPE_VECTOR, [id, component, n]) => {
                    facts.vectors.insert(*id, (*component, *n));
                }
                (op::TYPE_INT | op::TYPE_FLOAT, [id, bits, ..]) => {
                    facts.scalars.insert(*id, bits / 8);
                }
                (op::TYPE_POINTER, [id, _, of]) => {
                    facts.pointers.insert(*id, *of);
                }
                (op::CONSTANT, [_, id, low, rest @ ..]) => {
                    let high = rest.first().copied().unwrap_or_default();
                    facts.constants.insert(*id, u64::from(high) << 32 | u64::from(*low));
                }
                (op::VARIABLE, [kind, id, ..]) if decorated.contains(id) => {
                    let vector = facts.pointers.get(kind).filter(|of| facts.vectors.contains_key(of));
                    facts.built_ins.extend(vector.map(|of| (*id, *of)));
                }
                _ => {}
            }
        }
        facts
    }

    /// Bytes of a type, if that is simple to say.
    fn size(&self, ty: u32) -> Option<u32> {
        if let Some((component, n)) = self.vectors.get(&ty) {
            return Some(self.scalars.get(component)? * if *n == 3 { 4 } else { *n });
        }
        if self.pointers.contains_key(&ty) {
            return Some(if self.is_64_bits { 8 } else { 4 });
        }
        self.scalars.get(&ty).copied()
    }
}

/// One component of a built-in variable: the vector's type, the variable, and the component's id.
type Component = (u32, u32, u32);

/// Access chains to components of built-in variables, by their ids.
fn components(module: &Rewriting, body: &[Instruction], facts: &Facts) -> BTreeMap<u32, Component> {
    let mut chains = BTreeMap::new();
    for i in body {
        let (id, base, index) = match (i.op, module.operands(i)) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, id, base, index]) => (id, base, index),
            (op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, id, base, element, index])
                if facts.constants.get(element) == Some(&0) =>
            {
                (id, base, index)
            }
            _ => continue,
        };
        if let Some(vector) = facts.built_ins.get(base) {
            chains.insert(*id, (*vector, *base, *index));
        }
    }
    // Whoever does more with one than to load from it keeps it.
    for i in body {
        let operands = module.operands(i);
        let used = match i.op {
            op::LOAD => continue,
            op::STORE => &operands[..operands.len().min(2)],
            op::ACCESS_CHAIN..=op::IN_BOUNDS_PTR_ACCESS_CHAIN if operands.len() > 2 => &operands[2..],
            _ => operands,
        };
        for id in used {
            chains.remove(id);
        }
    }
    chains
}

fn load_whole_built_ins(module: &mut Rewriting, body: &[Instruction], facts: &Facts) -> bool {
    let chains = components(module, body, facts);
    for i in body {
        let operands = module.operands(i).to_vec();
        match (i.op, &operands[..]) {
            (op::LOAD, [ty, id, from, ..]) if chains.contains_key(from) => {
                let (vector, variable, index) = chains[from];
                let whole = module.id();
                module.remove(i);
                module.put(i.end, op::LOAD, &[vector, whole, variable]);
                match facts.constants.get(&index) {
                    Some(n) => module.put(i.end, op::COMPOSITE_EXTRACT, &[*ty, *id, whole, *n as u32]),
                    None => module.put(i.end, op::VECTOR_EXTRACT_DYNAMIC, &[*ty, *id, whole, index]),
                }
            }
            (op::ACCESS_CHAIN..=op::IN_BOUNDS_PTR_ACCESS_CHAIN, [_, id, ..]) if chains.contains_key(id) => {
                module.remove(i);
            }
            _ => {}
        }
    }
    !chains.is_empty()
}

fn leave_extensions_to_formats(module: &mut Rewriting, body: &[Instruction]) -> bool {
    let mut changed = false;
    for i in body {
        // How many operands are in front of the mask.
        let before = match i.op {
            op::IMAGE_SAMPLE_IMPLICIT_LOD
            | op::IMAGE_SAMPLE_EXPLICIT_LOD
            | op::IMAGE_FETCH
            | op::IMAGE_READ => 4,
            op::IMAGE_WRITE => 3,
            _ => continue,
        };
        let at = i.at + 1 + before;
        if at >= i.end || module.words[at] & EXTENDS == 0 {
            continue;
        }
        changed = true;
        module.words[at] &= !EXTENDS;
        // A mask that says nothing is left out.
        if module.words[at] == 0 && at + 1 == i.end {
            module.words[i.at] -= 1 << 16;
            module.removed.insert(at, at + 1);
        }
    }
    changed
}

fn compare_pointers_as_integers(
    module: &mut Rewriting,
    all: &[Instruction],
    first: usize,
    facts: &Facts,
) -> bool {
    let is_of_pointers = |i: &&Instruction| matches!(i.op, op::PTR_EQUAL | op::PTR_NOT_EQUAL | op::PTR_DIFF);
    let body = &all[first..];
    let comparisons: Vec<&Instruction> = body.iter().filter(is_of_pointers).collect();
    let bits = if facts.is_64_bits { 64 } else { 32 };
    let is_integer = |i: &&Instruction| i.op == op::TYPE_INT && module.operands(i)[1..] == [bits, 0];
    let Some(integer) = all[..first].iter().find(is_integer).map(|i| module.operands(i)[0]) else {
        return false;
    };
    let mut changed = false;
    for i in comparisons {
        let &[ty, id, a, b] = module.operands(i) else { continue };
        // The pointers' type is the first operand of what makes them.
        let made = |i: &&Instruction| {
            module.operands(i).get(1) == Some(&a) && facts.pointers.contains_key(&module.operands(i)[0])
        };
        let element = all.iter().find(made).and_then(|i| facts.size(facts.pointers[&module.operands(i)[0]]));
        let same_type = facts.scalars.get(&ty) == Some(&(bits / 8));
        let element = match i.op {
            op::PTR_DIFF => match element.filter(|_| same_type) {
                Some(bytes) => Some(bytes),
                None => continue,
            },
            _ => None,
        };
        changed = true;
        let [left, right] = [module.id(), module.id()];
        module.remove(i);
        module.put(i.end, op::CONVERT_PTR_TO_U, &[integer, left, a]);
        module.put(i.end, op::CONVERT_PTR_TO_U, &[integer, right, b]);
        match (i.op, element) {
            (op::PTR_EQUAL, _) => module.put(i.end, op::I_EQUAL, &[ty, id, left, right]),
            (op::PTR_DIFF, Some(bytes)) => {
                let [apart, size] = [module.id(), module.id()];
                let value: &[u32] = if bits == 64 { &[bytes, 0] } else { &[bytes] };
                module.put(all[first].at, op::CONSTANT, &[&[ty, size], value].concat());
                module.put(i.end, op::I_SUB, &[ty, apart, left, right]);
                module.put(i.end, op::S_DIV, &[ty, id, apart, size]);
            }
            _ => module.put(i.end, op::I_NOT_EQUAL, &[ty, id, left, right]),
        }
    }
    changed
}

fn compare_with_false(module: &mut Rewriting, all: &[Instruction], first: usize) -> bool {
    let Some(boolean) = all.iter().find(|i| i.op == op::TYPE_BOOL).map(|i| module.operands(i)[0]) else {
        return false;
    };
    let mut no = None;
    for i in all[first..].iter().filter(|i| i.op == op::LOGICAL_NOT) {
        let &[ty, id, value] = module.operands(i) else { continue };
        // There are vectors of them, too.
        if ty != boolean {
            continue;
        }
        let no = *no.get_or_insert_with(|| {
            let no = module.id();
            module.put(all[first].at, op::CONSTANT_NULL, &[boolean, no]);
            no
        });
        module.remove(i);
        module.put(i.end, op::LOGICAL_EQUAL, &[ty, id, value, no]);
    }
    no.is_some()
}

#[cfg(test)]
mod tests {
    use super::super::{BOUND, MAGIC, instruction};
    use super::*;

    fn module(body: &[Vec<u32>]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x1_0400, 0, 50, 0];
        words.extend(body.iter().flatten());
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    /// Types, constants 0 (9) and 2 (10), the built-in variable 8, and what is in front of the function's body.
    fn start() -> Vec<u32> {
        [
            instruction(op::MEMORY_MODEL, &[PHYSICAL_64, 2]),
            instruction(op::DECORATE, &[8, BUILT_IN, 28]),
            instruction(op::TYPE_INT, &[2, 32, 0]),
            instruction(op::TYPE_INT, &[3, 64, 0]),
            instruction(op::TYPE_VECTOR, &[4, 3, 3]),
            instruction(op::TYPE_POINTER, &[5, 5, 4]),
            instruction(op::TYPE_POINTER, &[6, 5, 3]),
            instruction(op::TYPE_POINTER, &[7, 5, 2]),
            instruction(op::VARIABLE, &[5, 8, 5]),
            instruction(op::CONSTANT, &[2, 9, 0]),
            instruction(op::CONSTANT, &[2, 10, 2]),
        ]
        .concat()
    }

    fn function(body: &[Vec<u32>]) -> Vec<u32> {
        [instruction(op::FUNCTION, &[1, 20, 0, 21]), body.concat()].concat()
    }

    fn with_bound(mut module: Vec<u8>, bound: u8) -> Vec<u8> {
        module[4 * BOUND] = bound;
        module
    }

    #[test]
    fn components_of_built_ins_are_taken_from_the_whole() {
        let chain = |id, index| instruction(op::IN_BOUNDS_PTR_ACCESS_CHAIN, &[6, id, 8, 9, index]);
        // The alignment of the second load is the number of the first chain's id.
        let load = |id, from| instruction(op::LOAD, &[3, id, from, 2, 30]);
        let old = function(&[chain(30, 10), load(31, 30), chain(32, 40), load(33, 32)]);
        let whole = |id| instruction(op::LOAD, &[4, id, 8]);
        let new = function(&[
            whole(50),
            instruction(op::COMPOSITE_EXTRACT, &[3, 31, 50, 2]),
            whole(51),
            instruction(op::VECTOR_EXTRACT_DYNAMIC, &[3, 33, 51, 40]),
        ]);
        let made = for_older_compilers(&module(&[start(), old]));
        assert_eq!(made, Some(with_bound(module(&[start(), new]), 52)));
        // Other variables' components, other elements, and what is more than loaded.
        let other = instruction(op::IN_BOUNDS_PTR_ACCESS_CHAIN, &[6, 30, 8, 10, 10]);
        assert_eq!(for_older_compilers(&module(&[start(), function(&[other, load(31, 30)])])), None);
        let stored = instruction(op::STORE, &[34, 30]);
        assert_eq!(for_older_compilers(&module(&[start(), function(&[chain(30, 10), stored])])), None);
    }

    #[test]
    fn images_do_not_say_how_integers_are_extended() {
        let sample = |mask| instruction(op::IMAGE_SAMPLE_EXPLICIT_LOD, &[4, 30, 31, 32, mask, 33]);
        let old = function(&[
            instruction(op::IMAGE_READ, &[4, 30, 31, 32, 0x2000]),
            instruction(op::IMAGE_WRITE, &[31, 32, 30, 0x1000]),
            sample(0x1002),
        ]);
        let new = function(&[
            instruction(op::IMAGE_READ, &[4, 30, 31, 32]),
            instruction(op::IMAGE_WRITE, &[31, 32, 30]),
            sample(2),
        ]);
        let plain = module(&[start(), new]);
        assert_eq!(for_older_compilers(&module(&[start(), old])).as_ref(), Some(&plain));
        assert_eq!(for_older_compilers(&plain), None);
    }

    #[test]
    fn pointers_are_compared_as_integers() {
        let pointer = |id| instruction(op::LOAD, &[7, id, 41]);
        let both = |a, b| {
            let convert = |id, of| instruction(op::CONVERT_PTR_TO_U, &[3, id, of]);
            [convert(a, 30), convert(b, 31)].concat()
        };
        let of = |op, ty, id| instruction(op, &[ty, id, 30, 31]);
        let old = function(&[
            pointer(30),
            pointer(31),
            of(op::PTR_EQUAL, 42, 32),
            of(op::PTR_NOT_EQUAL, 42, 33),
            of(op::PTR_DIFF, 3, 34),
        ]);
        let new = function(&[
            pointer(30),
            pointer(31),
            both(50, 51),
            instruction(op::I_EQUAL, &[42, 32, 50, 51]),
            both(52, 53),
            instruction(op::I_NOT_EQUAL, &[42, 33, 52, 53]),
            both(54, 55),
            instruction(op::I_SUB, &[3, 56, 54, 55]),
            instruction(op::S_DIV, &[3, 34, 56, 57]),
        ]);
        let size = instruction(op::CONSTANT, &[3, 57, 4, 0]);
        let made = for_older_compilers(&module(&[start(), old]));
        assert_eq!(made, Some(with_bound(module(&[start(), size, new]), 58)));
        // Of elements whose size is not known here.
        let unknown = function(&[instruction(op::LOAD, &[5, 30, 41]), of(op::PTR_DIFF, 2, 34)]);
        assert_eq!(for_older_compilers(&module(&[start(), unknown])), None);
    }

    #[test]
    fn what_is_not_so_is_equal_to_false() {
        let types = [instruction(op::TYPE_BOOL, &[11]), instruction(op::TYPE_VECTOR, &[12, 11, 2])].concat();
        let not = |ty, id, of| instruction(op::LOGICAL_NOT, &[ty, id, of]);
        let old = function(&[not(11, 30, 29), not(11, 31, 30), not(12, 32, 33)]);
        let equal = |id, of| instruction(op::LOGICAL_EQUAL, &[11, id, of, 50]);
        let new = function(&[equal(30, 29), equal(31, 30), not(12, 32, 33)]);
        let no = instruction(op::CONSTANT_NULL, &[11, 50]);
        let made = for_older_compilers(&module(&[start(), types.clone(), old]));
        assert_eq!(made, Some(with_bound(module(&[start(), types.clone(), no, new]), 51)));
        assert_eq!(for_older_compilers(&module(&[start(), types, function(&[not(12, 32, 33)])])), None);
    }

    #[test]
    fn what_is_no_module_is_left_alone() {
        let body = function(&[
            instruction(op::IN_BOUNDS_PTR_ACCESS_CHAIN, &[6, 30, 8, 9, 10]),
            instruction(op::LOAD, &[3, 31, 30]),
            instruction(op::PTR_DIFF, &[3, 34, 31, 31]),
        ]);
        let all = module(&[start(), body]);
        for n in 0..all.len() {
            let _ = for_older_compilers(&all[..n]);
            let mut changed = all.clone();
            changed[n] ^= 0xff;
            let _ = for_older_compilers(&changed);
        }
        assert_eq!(for_older_compilers(b"no module at all"), None);
    }
}
