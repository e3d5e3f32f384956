//! Kernels that check themselves: SPIR-V whose accesses to memory stay one by one, as they are written, and whose indices
//! and addresses are held against the types that they are of.
//!
//! Optimised code does not tell whether an index led from one array into its neighbour, nor that it was one of a row, nor
//! which accesses the compiler merged, widened, moved or left out. So loads and stores of memory that work-items share
//! become volatile; and in front of each access
//!
//! - every index of an array is held against the number of its elements,
//! - the offset in a variable is held against its bytes, where pointers into it were computed,
//! - the address is held against the alignment of its type, where a pointer to something smaller was cast.
//!
//! What is wrong is told by stores to an address of its own ([`envisa_zebin::reports`]), from a function that is inlined,
//! so that its instructions have the line of the access. (The format: SPIR-V specification, 3.42.)

mod path;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use envisa_zebin::reports::{self, Does, Kind, What};

use super::{Instruction, Rewriting, literal};
use path::{Path, Step};
use types::{Shape, Types};

mod op {
    pub const NAME: u32 = 5;
    pub const CAPABILITY: u32 = 17;
    pub const TYPE_VOID: u32 = 19;
    pub const TYPE_BOOL: u32 = 20;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_POINTER: u32 = 32;
    pub const TYPE_FUNCTION: u32 = 33;
    pub const CONSTANT: u32 = 43;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const FUNCTION_END: u32 = 56;
    pub const FUNCTION_CALL: u32 = 57;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const S_CONVERT: u32 = 114;
    pub const CONVERT_PTR_TO_U: u32 = 117;
    pub const CONVERT_U_TO_PTR: u32 = 120;
    pub const I_ADD: u32 = 128;
    pub const I_MUL: u32 = 132;
    pub const U_GREATER_THAN_EQUAL: u32 = 174;
    pub const BITWISE_AND: u32 = 199;
    pub const ATOMIC_LOAD: u32 = 227;
    pub const ATOMIC_STORE: u32 = 228;
    pub const ATOMIC_XOR: u32 = 242;
    pub const LABEL: u32 = 248;
    pub const BRANCH: u32 = 249;
    pub const BRANCH_CONDITIONAL: u32 = 250;
    pub const RETURN: u32 = 253;
}

const CAPABILITY_INT64: u32 = 11;
/// Storage classes.
const WORKGROUP: u32 = 4;
const CROSS_WORKGROUP: u32 = 5;
const GENERIC: u32 = 8;
/// Bits of a memory access.
const VOLATILE: u32 = 1;
const ALIGNED: u32 = 2;
/// The added function's name.
const NAME: &str = "envisa.check";

/// The module so; `None` if it is no module of little-endian SPIR-V, or has no functions.
pub fn with_checks(spirv: &[u8]) -> Option<Vec<u8>> {
    let module = Rewriting::of(spirv)?;
    let first = module.all.iter().find(|i| i.op == op::FUNCTION)?.at;
    let types = Types::of(&module);
    let mut checking = Checking::new(module, types, first);
    let all = checking.module.all.clone();
    for i in &all {
        if i.op == op::LABEL {
            checking.known.clear();
        }
        if let Some(access) = checking.access(i) {
            checking.check(i.at, &access);
            checking.stays(i, &access);
        }
    }
    if checking.used {
        checking.function();
    }
    checking.module.finish()
}

/// An access to memory.
struct Access {
    pointer: u32,
    does: Does,
    bytes: u64,
    /// What the address is a multiple of; 1 if nothing is asked for.
    align: u64,
    /// Where the bits of the memory access are, or would be; `None` of an atomic.
    bits: Option<usize>,
}

/// What of a module's ids and types the checks use.
struct Ids {
    void: u32,
    long: u32,
    check: u32,
}

struct Checking {
    module: Rewriting,
    types: Types,
    ids: Ids,
    /// In front of the first function.
    first: usize,
    constants: BTreeMap<u64, u32>,
    /// What has been checked in this block: value, limit, what.
    known: BTreeSet<(u32, u64, u64)>,
    used: bool,
}

impl Checking {
    fn new(mut module: Rewriting, types: Types, first: usize) -> Checking {
        let find = |module: &Rewriting, op: u32, operands: &[u32]| {
            let is = |i: &&Instruction| i.op == op && module.operands(i).get(1..) == Some(operands);
            module.all.iter().find(is).map(|i| module.operands(i)[0])
        };
        let mut declared = |op: u32, operands: &[u32]| match find(&module, op, operands) {
            Some(id) => id,
            None => {
                let id = module.id();
                let all: Vec<u32> = std::iter::once(id).chain(operands.iter().copied()).collect();
                module.put(first, op, &all);
                id
            }
        };
        let (void, long) = (declared(op::TYPE_VOID, &[]), declared(op::TYPE_INT, &[64, 0]));
        let ids = Ids { void, long, check: module.id() };
        Checking {
            module,
            types,
            ids,
            first,
            constants: BTreeMap::new(),
            known: BTreeSet::new(),
            used: false,
        }
    }

    /// What an instruction accesses; `None` if nothing.
    fn access(&self, i: &Instruction) -> Option<Access> {
        let operands = self.module.operands(i);
        let (pointer, does, bits) = match i.op {
            op::LOAD => (*operands.get(2)?, Does::Reads, Some(i.at + 4)),
            op::STORE => (*operands.first()?, Does::Writes, Some(i.at + 3)),
            op::ATOMIC_STORE => (*operands.first()?, Does::Changes, None),
            op::ATOMIC_LOAD..=op::ATOMIC_XOR => (*operands.get(2)?, Does::Changes, None),
            _ => return None,
        };
        let (_, pointee) = self.types.pointer(pointer)?;
        let ty = self.types.get(pointee)?;
        let said = bits.filter(|at| *at < i.end);
        let align = match said.map(|at| (self.module.words[at], at + 1)) {
            Some((bits, at)) if bits & ALIGNED != 0 && at < i.end => u64::from(self.module.words[at]),
            _ if bits.is_none() => ty.bytes,
            _ => 1,
        };
        Some(Access { pointer, does, bytes: ty.bytes, align, bits })
    }

    /// Makes an access volatile, if it is of memory that work-items share.
    fn stays(&mut self, i: &Instruction, access: &Access) {
        let Some((class, pointee)) = self.types.pointer(access.pointer) else { return };
        let data = self.types.get(pointee).is_some_and(|t| !matches!(t.shape, Shape::Other));
        let Some(at) = access.bits.filter(|_| data && matches!(class, WORKGROUP | CROSS_WORKGROUP | GENERIC))
        else {
            return;
        };
        if at < i.end {
            self.module.words[at] |= VOLATILE;
        } else {
            self.module.words[i.at] += 1 << 16;
            self.module.added.entry(i.end).or_default().push(VOLATILE);
        }
    }

    /// Puts what an access is held against in front of it.
    fn check(&mut self, at: usize, access: &Access) {
        let Some(path) = Path::of(&self.module, &self.types, access.pointer) else { return };
        let what = |kind, bound: u64| What {
            kind,
            does: access.does,
            bytes: u16::try_from(access.bytes).unwrap_or(u16::MAX),
            bound: u32::try_from(bound).unwrap_or(u32::MAX),
        };
        for step in &path.steps {
            let Step::Index { index, elements, flat, text } = step else { continue };
            let kind = if *flat { Kind::FlatIndex } else { Kind::Index };
            if self.types.constant(*index).is_some_and(|n| (0..*elements as i64).contains(&n)) {
                continue;
            }
            let value = self.long(at, *index);
            self.call(at, value, *elements, what(kind, *elements), text);
        }
        if let Some(bytes) = path.object.filter(|_| path.computed) {
            let mut sum = None;
            for step in &path.steps {
                let term = match step {
                    Step::Index { .. } => continue,
                    Step::Offset { index: None, bytes } => self.constant(*bytes),
                    Step::Offset { index: Some(index), bytes } => {
                        let (index, bytes) = (self.long(at, *index), self.constant(*bytes));
                        self.make(at, op::I_MUL, &[index, bytes])
                    }
                };
                sum = Some(match sum {
                    Some(sum) => self.make(at, op::I_ADD, &[sum, term]),
                    None => term,
                });
            }
            let limit = (bytes + 1).saturating_sub(access.bytes);
            if let Some(sum) = sum {
                self.call(at, sum, limit, what(Kind::Offset, bytes), &path.text);
            }
        }
        if path.cast_from < access.align && access.align.is_power_of_two() {
            let address = self.make(at, op::CONVERT_PTR_TO_U, &[access.pointer]);
            let mask = self.constant(access.align - 1);
            let beyond = self.make(at, op::BITWISE_AND, &[address, mask]);
            self.call(at, beyond, 1, what(Kind::Alignment, access.align), &path.text);
        }
    }

    /// A constant of 64 bits.
    fn constant(&mut self, value: u64) -> u32 {
        if let Some(id) = self.constants.get(&value) {
            return *id;
        }
        let id = self.module.id();
        self.module.put(self.first, op::CONSTANT, &[self.ids.long, id, value as u32, (value >> 32) as u32]);
        self.constants.insert(value, id);
        id
    }

    /// A number of 64 bits.
    fn make(&mut self, at: usize, op: u32, operands: &[u32]) -> u32 {
        let id = self.module.id();
        let all: Vec<u32> = [self.ids.long, id].iter().chain(operands).copied().collect();
        self.module.put(at, op, &all);
        id
    }

    /// An index as a number of 64 bits: indices have signs (OpAccessChain).
    fn long(&mut self, at: usize, index: u32) -> u32 {
        match self.types.constant(index) {
            Some(value) => self.constant(value as u64),
            None if self.types.type_of(index) == Some(self.ids.long) => index,
            None => self.make(at, op::S_CONVERT, &[index]),
        }
    }

    /// Reports a value that is not below a limit.
    fn call(&mut self, at: usize, value: u32, limit: u64, what: What, text: &str) {
        let what = what.pack();
        if !self.known.insert((value, limit, what)) {
            return;
        }
        self.used = true;
        let id = self.module.id();
        let mut operands = vec![self.ids.void, id, self.ids.check, value, self.constant(limit)];
        operands.push(self.constant(what));
        for word in reports::name_words(&shortened(text)) {
            operands.push(self.constant(word));
        }
        self.module.put(at, op::FUNCTION_CALL, &operands);
    }

    /// The function that reports.
    fn function(&mut self) {
        let Ids { void, long, check } = self.ids;
        let (first, end) = (self.first, self.module.words.len());
        let all = self.module.all.clone();
        let bool_type = all.iter().find(|i| i.op == op::TYPE_BOOL);
        let bool_type =
            bool_type.and_then(|i| self.module.operands(i).first().copied()).unwrap_or_else(|| {
                let id = self.module.id();
                self.module.put(first, op::TYPE_BOOL, &[id]);
                id
            });
        let is_pointer = |i: &&Instruction| {
            i.op == op::TYPE_POINTER && self.module.operands(i).get(1..) == Some(&[CROSS_WORKGROUP, long])
        };
        let pointer = all.iter().find(is_pointer).map(|i| self.module.operands(i)[0]);
        let pointer = pointer.unwrap_or_else(|| {
            let id = self.module.id();
            self.module.put(first, op::TYPE_POINTER, &[id, CROSS_WORKGROUP, long]);
            id
        });
        // No other has so many parameters of this kind, most likely; where one has, that is its type, too.
        let parameters = [long; 2 + reports::FIELDS - 1];
        let is_kind = |i: &&Instruction| {
            i.op == op::TYPE_FUNCTION
                && self.module.operands(i).get(1) == Some(&void)
                && self.module.operands(i).get(2..) == Some(&parameters)
        };
        let kind = all.iter().find(is_kind).map(|i| self.module.operands(i)[0]);
        let kind = kind.unwrap_or_else(|| {
            let id = self.module.id();
            let all: Vec<u32> = [id, void].into_iter().chain(parameters).collect();
            self.module.put(first, op::TYPE_FUNCTION, &all);
            id
        });
        if let Some(name) = all.iter().find(|i| i.op == op::NAME) {
            let operands: Vec<u32> = std::iter::once(check).chain(literal(NAME)).collect();
            self.module.put(name.at, op::NAME, &operands);
        }
        let is_long = |i: &&Instruction| {
            i.op == op::CAPABILITY && self.module.operands(i).first() == Some(&CAPABILITY_INT64)
        };
        if !all.iter().any(|i| is_long(&i)) {
            self.module.put(all.first().map_or(end, |i| i.at), op::CAPABILITY, &[CAPABILITY_INT64]);
        }
        let addresses: Vec<u32> =
            reports::addresses().step_by(reports::FIELD_BYTES as usize).map(|a| self.constant(a)).collect();
        let m = &mut self.module;
        m.put(end, op::FUNCTION, &[void, check, 0, kind]);
        let parameters: Vec<u32> = parameters
            .iter()
            .map(|_| {
                let id = m.id();
                m.put(end, op::FUNCTION_PARAMETER, &[long, id]);
                id
            })
            .collect();
        let [begin, bad, report, done] = [m.id(), m.id(), m.id(), m.id()];
        m.put(end, op::LABEL, &[begin]);
        m.put(end, op::U_GREATER_THAN_EQUAL, &[bool_type, bad, parameters[0], parameters[1]]);
        m.put(end, op::BRANCH_CONDITIONAL, &[bad, report, done]);
        m.put(end, op::LABEL, &[report]);
        // What it is, its name, and at last the value.
        let fields = parameters[2..].iter().chain(&parameters[..1]);
        for (field, address) in fields.zip(addresses) {
            let to = m.id();
            m.put(end, op::CONVERT_U_TO_PTR, &[pointer, to, address]);
            m.put(end, op::STORE, &[to, *field, VOLATILE | ALIGNED, 8]);
        }
        m.put(end, op::BRANCH, &[done]);
        m.put(end, op::LABEL, &[done]);
        m.put(end, op::RETURN, &[]);
        m.put(end, op::FUNCTION_END, &[]);
    }
}

/// As much of a text's end as fits into a report.
fn shortened(text: &str) -> String {
    let most = reports::NAME_WORDS * reports::FIELD_BYTES as usize;
    if text.len() <= most {
        return text.to_owned();
    }
    let from = (text.len() - most + 3..text.len()).find(|at| text.is_char_boundary(*at));
    format!("...{}", &text[from.unwrap_or(text.len())..])
}

#[cfg(test)]
mod tests;
