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
//! Variables of functions stay in memory where they may be read before they have a value (`variables`), and asynchronous
//! copies tell where they begin and end, and who waits for them (`copies`).
//!
//! What is wrong is told by stores to an address of its own ([`envisa_zebin::check_reports`]), from a function that is inlined,
//! so that its instructions have the line of the access. (The format: SPIR-V specification, 3.42.)

mod arithmetic;
mod called_names;
mod copies;
mod debug_names;
mod fences;
mod images;
mod local_names;
mod macros;
mod pointer_origins;
mod pointer_path;
mod private_names;
mod sub_groups;
mod types;
mod uniform;
mod variables;
mod whole_values;

use std::collections::{BTreeMap, BTreeSet};

use envisa_zebin::check_reports::{self, Kind, ReportHeader, ReportedAccess};

use super::{Instruction, Rewriting, string_operands};
use arithmetic::Arithmetic;
use called_names::CalledNames;
use copies::Copies;
use pointer_origins::Origins;
use pointer_path::{Part, Path, Step};
use types::{Shape, Types};
use variables::Variables;
use whole_values::Pieces;

mod op {
    pub const NAME: u32 = 5;
    pub const STRING: u32 = 7;
    pub const ENTRY_POINT: u32 = 15;
    pub const LINE: u32 = 8;
    pub const EXT_INST: u32 = 12;
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
    pub const COPY_MEMORY_SIZED: u32 = 64;
    pub const S_CONVERT: u32 = 114;
    pub const CONVERT_PTR_TO_U: u32 = 117;
    pub const CONVERT_U_TO_PTR: u32 = 120;
    pub const I_ADD: u32 = 128;
    pub const I_SUB: u32 = 130;
    pub const I_MUL: u32 = 132;
    pub const U_GREATER_THAN_EQUAL: u32 = 174;
    pub const SHIFT_LEFT_LOGICAL: u32 = 196;
    pub const BITWISE_OR: u32 = 197;
    pub const BITWISE_AND: u32 = 199;
    pub const CONTROL_BARRIER: u32 = 224;
    pub const MEMORY_BARRIER: u32 = 225;
    pub const GROUP_ALL: u32 = 261;
    pub const GROUP_BROADCAST: u32 = 263;
    pub const GROUP_S_MAX: u32 = 271;
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
const FUNCTION: u32 = 7;
const GENERIC: u32 = 8;
/// Bits of a function's control.
const DONT_INLINE: u32 = 2;
const OPT_NONE: u32 = 0x1_0000;
/// Bits of a memory access.
const VOLATILE: u32 = 1;
const ALIGNED: u32 = 2;
/// The scope that a sub-group is, and bits of memory semantics (3.25, 3.27).
const SUB_GROUP: i64 = 3;
const WORKGROUP_MEMORY: i64 = 0x100;
const CROSS_WORKGROUP_MEMORY: i64 = 0x200;
const IMAGE_MEMORY: i64 = 0x800;
/// Instructions of OpenCL's extended set.
const VLOADN: u32 = 171;
const VSTOREN: u32 = 172;
const VLOAD_HALFN: u32 = 174;
const VSTORE_HALFN: u32 = 177;
const VSTORE_HALFN_R: u32 = 178;
const VLOADA_HALFN: u32 = 179;
const VSTOREA_HALFN: u32 = 180;
const VSTOREA_HALFN_R: u32 = 181;
/// The added function's name.
const NAME: &str = "envisa.check";

/// The module so, with checks of arithmetic or without; `None` if it is not a module of little-endian SPIR-V, or has no functions.
/// `texts` are those that it was made of, with their names, as far as they are known, and `options` the compiler's.
pub fn with_checks(
    spirv: &[u8],
    texts: &[(&str, &[u8])],
    options: &str,
    arithmetic: bool,
) -> Option<Vec<u8>> {
    let module = Rewriting::of(spirv)?;
    let first = module.all.iter().find(|i| i.op == op::FUNCTION)?.at;
    let types = Types::of(&module);
    let mut checking = Checking::new(module, types, first);
    checking.called_names = CalledNames::of(&checking.module, texts, options);
    checking.own_alignments = texts.is_empty() || texts.iter().any(|t| lowers_alignments(t.1));
    checking.arithmetic = arithmetic.then(|| Arithmetic::of(&checking.module));
    let all = checking.module.all.clone();
    let mut copies = Copies::of(&mut checking);
    for (n, i) in all.iter().enumerate() {
        match i.op {
            op::LABEL => checking.known.clear(),
            op::LINE => checking.column(i),
            op::FUNCTION => {
                checking.optimise(i);
                checking.begin(n);
                checking.private_names(n);
                checking.local_names(n);
                checking.fences_of_images(n);
            }
            op::FUNCTION_END => checking.end(),
            _ => {}
        }
        if checking.variables.is_debug_value(&checking.module, i) {
            checking.module.remove(i);
            continue;
        }
        if let Some(copies) = &mut copies {
            copies.instruction(&mut checking, i);
        }
        checking.copies(i);
        checking.together(i);
        checking.whole_values(i);
        checking.changes(i);
        checking.fences(i);
        checking.check_sub_group_operation(i);
        checking.check_image_access(i);
        checking.arithmetic(i);
        if let Some(access) = checking.access(i) {
            let types = &checking.types;
            let path = Path::of(&checking.module, types, &checking.variables, access.pointer);
            if let Some(path) = &path {
                checking.check(i.at, &access, path);
            }
            checking.stays(i, &access, path.map(|p| p.root));
            checking.make_store_unconditional(i, &access);
        }
        checking.make_vector_store_unconditional(i);
    }
    if checking.used {
        checking.function();
    }
    checking.module.finish()
}

/// An access to memory.
struct Access {
    pointer: u32,
    does: ReportedAccess,
    bytes: u64,
    /// What the address is a multiple of; 1 if nothing is asked for.
    align: u64,
    /// Where the bits of the memory access are, or would be; `None` of an atomic.
    bits: Option<usize>,
    /// It is so many times its bytes behind the pointer.
    times: Option<u32>,
}

/// What of a module's ids and types the checks use.
struct Ids {
    void: u32,
    long: u32,
    check: u32,
    /// A pointer to memory of buffers, and what is true or false: once they are used.
    pointer: Option<u32>,
    bool: Option<u32>,
    /// A pointer to a number of 64 bits in a variable of a function.
    variable: Option<u32>,
    /// The variable that is built in of how many work-items a sub-group has at most.
    sub_group_size: Option<u32>,
}

struct Checking {
    module: Rewriting,
    types: Types,
    variables: Variables,
    ids: Ids,
    /// In front of the first function.
    first: usize,
    constants: BTreeMap<u64, u32>,
    /// What has been checked in this block: value, limit, what.
    known: BTreeSet<(u32, u64, u64)>,
    used: bool,
    /// The variable of this function that is zero, if it is used, and where it goes.
    zero: Option<u32>,
    zero_used: bool,
    zero_at: Option<usize>,
    /// There is a load from local memory that stays.
    loads: bool,
    origins: Origins,
    /// The file, line and column of what follows, and what is called there.
    line: [u32; 3],
    called_names: CalledNames,
    /// What is known for checks of arithmetic, if they are wanted.
    arithmetic: Option<Arithmetic>,
    /// The functions that kernels are, and the parameters of all others.
    kernels: BTreeSet<u32>,
    parameters: BTreeSet<u32>,
    pieces: Pieces,
    /// The source may have types that ask for less than others of their kind: what accesses ask for is all that is known.
    own_alignments: bool,
}

/// May a text have a type whose attributes ask for less than others of its kind: packed ones, or ones that are aligned by fewer
/// than 16 bytes or by what is no number?
fn lowers_alignments(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let asks_for = |rest: &str| {
        let inside = rest.trim_start_matches('_').trim_start().strip_prefix('(')?;
        let digits = inside.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        Some(digits[..end].parse().unwrap_or(0))
    };
    let aligned = text.match_indices("aligned").filter_map(|(at, word)| asks_for(&text[at + word.len()..]));
    text.contains("packed") || aligned.into_iter().any(|bytes: u64| bytes < 16)
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
        let ids = Ids {
            void,
            long,
            check: module.id(),
            pointer: None,
            bool: None,
            variable: None,
            sub_group_size: None,
        };
        let variables = Variables::of(&module, &types);
        let kernels = copies::kernel_functions(&module);
        let parameters = parameters_of_others(&module, &kernels);
        let pieces = Pieces::of(&module, &types, &variables);
        Checking {
            module,
            types,
            variables,
            ids,
            first,
            constants: BTreeMap::new(),
            known: BTreeSet::new(),
            used: false,
            zero: None,
            zero_used: false,
            zero_at: None,
            loads: false,
            origins: Origins::default(),
            line: [0; 3],
            called_names: CalledNames::default(),
            arithmetic: None,
            kernels,
            parameters,
            pieces,
            own_alignments: true,
        }
    }

    /// What an instruction accesses; `None` if nothing.
    fn access(&self, i: &Instruction) -> Option<Access> {
        let operands = self.module.operands(i);
        let (pointer, does, bits) = match i.op {
            op::LOAD => (*operands.get(2)?, ReportedAccess::Reads, Some(i.at + 4)),
            op::STORE => (*operands.first()?, ReportedAccess::Writes, Some(i.at + 3)),
            op::ATOMIC_STORE => (*operands.first()?, ReportedAccess::Changes, None),
            op::ATOMIC_LOAD..=op::ATOMIC_XOR => (*operands.get(2)?, ReportedAccess::Changes, None),
            op::EXT_INST => return self.vector(operands),
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
        Some(Access { pointer, does, bytes: ty.bytes, align, bits, times: None })
    }

    /// Holds what a copy of a structure or of an array accesses against the variables that it is of.
    fn copies(&mut self, i: &Instruction) {
        let (op::COPY_MEMORY_SIZED, &[to, from, size, ..]) = (i.op, self.module.operands(i)) else { return };
        let Some(bytes) = self.types.constant(size).and_then(|n| u64::try_from(n).ok()) else { return };
        for (pointer, does) in [(from, ReportedAccess::Reads), (to, ReportedAccess::Writes)] {
            let access = Access { pointer, does, bytes, align: 1, bits: None, times: None };
            if let Some(path) = Path::of(&self.module, &self.types, &self.variables, pointer) {
                self.check(i.at, &access, &path);
            }
        }
    }

    /// What `vload`, `vstore` and those of halves access: a vector of elements, so many of them behind a pointer to an
    /// element. Those of aligned halves ask for an address that is a multiple of the vector.
    fn vector(&self, operands: &[u32]) -> Option<Access> {
        let (pointer, does, offset, vector, function) = match operands {
            [ty, _, set, function @ (VLOADN | VLOAD_HALFN | VLOADA_HALFN), offset, pointer, ..]
                if self.types.is_opencl(*set) =>
            {
                (*pointer, ReportedAccess::Reads, *offset, *ty, *function)
            }
            [
                _,
                _,
                set,
                function @ (VSTOREN | VSTORE_HALFN | VSTORE_HALFN_R | VSTOREA_HALFN | VSTOREA_HALFN_R),
                data,
                offset,
                pointer,
                ..,
            ] if self.types.is_opencl(*set) => {
                (*pointer, ReportedAccess::Writes, *offset, self.types.type_of(*data)?, *function)
            }
            _ => return None,
        };
        let aligned = function >= VLOADA_HALFN;
        let elements = self.types.elements(vector).or((function != VLOADN).then_some(1))?;
        let (_, pointee) = self.types.pointer(pointer)?;
        let element = self.types.get(pointee)?.bytes;
        // Vectors of three aligned halves are as far apart as vectors of four.
        let times = Some(offset).filter(|_| !aligned || elements != 3);
        let align = if aligned { element * elements.next_power_of_two() } else { 1 };
        Some(Access { pointer, does, bytes: element * elements, align, bits: None, times })
    }

    /// The number of a line gets its column, which compilers do not hand on.
    fn column(&mut self, i: &Instruction) {
        let &[file, line, column] = self.module.operands(i) else { return };
        self.line = [file, line, column];
        let fits = line >> check_reports::COLUMN == 0 && column >> check_reports::COLUMN_BITS == 0;
        if let Some(word) = self.module.words.get_mut(i.at + 2).filter(|_| fits) {
            *word = line | column << check_reports::COLUMN;
        }
    }

    /// A function that the first half left as it is written may be optimised by the second.
    fn optimise(&mut self, i: &Instruction) {
        if let Some(control) = self.module.words.get_mut(i.at + 3).filter(|_| i.at + 3 < i.end)
            && *control & OPT_NONE != 0
        {
            *control &= !(OPT_NONE | DONT_INLINE);
        }
    }

    /// Makes an access volatile, if it is of memory that work-items share, or of a variable that may have no value.
    fn stays(&mut self, i: &Instruction, access: &Access, root: Option<u32>) {
        let Some((class, pointee)) = self.types.pointer(access.pointer) else { return };
        let data = self.types.get(pointee).is_some_and(|t| !matches!(t.shape, Shape::Other));
        let matters = match class {
            WORKGROUP | CROSS_WORKGROUP | GENERIC => data,
            FUNCTION => data && !root.is_some_and(|variable| self.variables.is_always_assigned(variable)),
            _ => false,
        };
        let Some(at) = access.bits.filter(|_| matters) else { return };
        if at < i.end {
            self.module.words[at] |= VOLATILE;
        } else {
            self.module.append(i, &[VOLATILE]);
        }
    }

    /// Puts what an access is held against in front of it.
    fn check(&mut self, at: usize, access: &Access, path: &Path) {
        let what = |kind, bound: u64| ReportHeader {
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
        if let Some(bytes) =
            path.object.filter(|_| path.computed || path.into.is_some() || access.times.is_some())
        {
            let offset = match path.into {
                Some(variable) => Some(self.apart(at, access.pointer, variable)),
                None => self.offset(at, &path.steps),
            };
            if let Some(sum) = self.behind(at, access, offset) {
                let limit = (bytes + 1).saturating_sub(access.bytes);
                self.call(at, sum, limit, what(Kind::Offset, bytes), &path.text);
            }
        }
        if let Some(Part { from, bytes }) = path.part {
            let offset = self.offset(at, &path.steps[from..]);
            if let Some(sum) = self.behind(at, access, offset) {
                let limit = (bytes + 1).saturating_sub(access.bytes);
                self.call(at, sum, limit, what(Kind::Offset, bytes), &path.text);
            }
        }
        if path.object.is_none()
            && let Some([offset, limit, bytes]) = self.origin_of(at, access)
            && let Some(offset) = self.behind(at, access, Some(offset))
        {
            let known = self.constant(what(Kind::Offset, 0).pack());
            let bits = self.constant(u64::from(u32::BITS));
            let bound = self.make(at, op::SHIFT_LEFT_LOGICAL, &[bytes, bits]);
            let what = self.make(at, op::BITWISE_OR, &[known, bound]);
            let name = check_reports::name_words(&shorten_text(&path.text)).map(|word| self.constant(word));
            self.call_with(at, [offset, limit, what], &name);
        }
        // Who calls a function may have cast what it is given; a kernel is given buffers as they are.
        let given = self.parameters.contains(&path.root);
        let align = self.asked_for(access, path);
        let of = self.own_alignment(access.pointer).unwrap_or(u64::MAX);
        if (given || path.cast_from.min(of) < align) && align > 1 && align.is_power_of_two() {
            let address = self.make(at, op::CONVERT_PTR_TO_U, &[access.pointer]);
            let mask = self.constant(align - 1);
            let beyond = self.make(at, op::BITWISE_AND, &[address, mask]);
            self.call(at, beyond, 1, what(Kind::Alignment, align), &path.text);
        }
    }

    /// What an access's address has to be a multiple of. Of an element of a variable's array whose pointer is cast as it is,
    /// compilers know the alignment, and ask for no more; the type to which it is cast does, unless it has one of its own.
    fn asked_for(&self, access: &Access, path: &Path) -> u64 {
        let variable = path.object.is_some() && !self.own_alignments;
        let known = variable && access.bits.is_some() && access.align > 1 && access.align == path.cast_from;
        let own = self.own_alignment(access.pointer).filter(|own| known && *own > access.align);
        own.unwrap_or(access.align)
    }

    /// The alignment of what a pointer points to, as its type has it; `None` of what is no data.
    fn own_alignment(&self, pointer: u32) -> Option<u64> {
        let pointee = self.types.pointer(pointer).and_then(|(_, to)| self.types.get(to));
        pointee.filter(|t| t.shape != Shape::Other).map(|t| t.align)
    }

    /// An offset with what the access itself adds to it.
    fn behind(&mut self, at: usize, access: &Access, offset: Option<u32>) -> Option<u32> {
        let Some(times) = access.times else { return offset };
        let (times, bytes) = (self.long(at, times), self.constant(access.bytes));
        let more = self.make(at, op::I_MUL, &[times, bytes]);
        Some(match offset {
            Some(offset) => self.make(at, op::I_ADD, &[offset, more]),
            None => more,
        })
    }

    /// How many bytes behind a variable's start a pointer is.
    fn apart(&mut self, at: usize, pointer: u32, variable: u32) -> u32 {
        let address = self.make(at, op::CONVERT_PTR_TO_U, &[pointer]);
        let start = self.make(at, op::CONVERT_PTR_TO_U, &[variable]);
        self.make(at, op::I_SUB, &[address, start])
    }

    /// How many bytes steps add to where they begin; `None` if none.
    fn offset(&mut self, at: usize, steps: &[Step]) -> Option<u32> {
        let mut sum = None;
        for step in steps {
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
        sum
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

    /// Notes a barrier of a sub-group, of which the compiler leaves nothing.
    fn together(&mut self, i: &Instruction) {
        let (op::CONTROL_BARRIER, &[scope, _, semantics]) = (i.op, self.module.operands(i)) else { return };
        if self.types.constant(scope) != Some(SUB_GROUP) {
            return;
        }
        // Flags that are no constant may be any.
        let all = WORKGROUP_MEMORY | CROSS_WORKGROUP_MEMORY | IMAGE_MEMORY;
        let semantics = self.types.constant(semantics).unwrap_or(all);
        let memories = [
            (WORKGROUP_MEMORY, check_reports::LOCAL),
            (CROSS_WORKGROUP_MEMORY, check_reports::GLOBAL),
            (IMAGE_MEMORY, check_reports::IMAGES),
        ];
        let bound = memories.iter().filter(|m| semantics & m.0 != 0).fold(0, |all, m| all | m.1);
        self.note(i.at, ReportHeader { kind: Kind::Together, does: ReportedAccess::Reads, bytes: 0, bound });
    }

    /// Notes an atomic of 64 bits in local memory: most devices have none, and the compiler makes several accesses of it.
    fn changes(&mut self, i: &Instruction) {
        let Some(access) = self.access(i).filter(|a| a.does == ReportedAccess::Changes && a.bytes == 8)
        else {
            return;
        };
        if self.types.pointer(access.pointer).is_some_and(|(class, _)| matches!(class, WORKGROUP | GENERIC)) {
            for (at, kind) in [(i.at, Kind::Changes), (i.end, Kind::Changed)] {
                self.note(at, ReportHeader { kind, does: ReportedAccess::Changes, bytes: 8, bound: 0 });
            }
        }
    }

    /// Reports a value that is not below a limit.
    fn call(&mut self, at: usize, value: u32, limit: u64, what: ReportHeader, text: &str) {
        if !self.known.insert((value, limit, what.pack())) {
            return;
        }
        let name = check_reports::name_words(&shorten_text(text)).map(|word| self.constant(word));
        let (limit, what) = (self.constant(limit), self.constant(what.pack()));
        self.call_with(at, [value, limit, what], &name);
    }

    /// Reports a value in any case, with these in place of a name.
    fn report(&mut self, at: usize, value: u32, what: ReportHeader, others: &[u32]) {
        let mut fields = [self.constant(0); check_reports::NAME_WORDS];
        fields.iter_mut().zip(others).for_each(|(to, id)| *to = *id);
        let (none, what) = (self.constant(0), self.constant(what.pack()));
        self.call_with(at, [value, none, what], &fields);
    }

    /// Reports a value that is not below a limit.
    fn call_with(&mut self, at: usize, values: [u32; 3], fields: &[u32; check_reports::NAME_WORDS]) {
        self.used = true;
        let mut operands = vec![self.ids.void, self.module.id(), self.ids.check];
        operands.extend(values);
        operands.extend(fields);
        self.module.put(at, op::FUNCTION_CALL, &operands);
    }

    /// What is true or false.
    fn bool_type(&mut self) -> u32 {
        if let Some(id) = self.ids.bool {
            return id;
        }
        let known = self.module.all.iter().find(|i| i.op == op::TYPE_BOOL);
        let known = known.and_then(|i| self.module.operands(i).first().copied());
        let id = known.unwrap_or_else(|| {
            let id = self.module.id();
            self.module.put(self.first, op::TYPE_BOOL, &[id]);
            id
        });
        self.ids.bool = Some(id);
        id
    }

    /// A pointer to a number of 64 bits in a buffer.
    fn pointer_type(&mut self) -> u32 {
        if let Some(id) = self.ids.pointer {
            return id;
        }
        let long = self.ids.long;
        let is_pointer = |i: &&Instruction| {
            i.op == op::TYPE_POINTER && self.module.operands(i).get(1..) == Some(&[CROSS_WORKGROUP, long])
        };
        let known = self.module.all.iter().find(is_pointer).map(|i| self.module.operands(i)[0]);
        let id = known.unwrap_or_else(|| {
            let id = self.module.id();
            self.module.put(self.first, op::TYPE_POINTER, &[id, CROSS_WORKGROUP, long]);
            id
        });
        self.ids.pointer = Some(id);
        id
    }

    /// Notes something.
    fn note(&mut self, at: usize, what: ReportHeader) {
        self.used = true;
        let (pointer, to) = (self.pointer_type(), self.module.id());
        let (address, what) = (self.constant(check_reports::NOTE), self.constant(what.pack()));
        self.module.put(at, op::CONVERT_U_TO_PTR, &[pointer, to, address]);
        self.module.put(at, op::STORE, &[to, what, VOLATILE | ALIGNED, 8]);
    }

    /// The function that reports.
    fn function(&mut self) {
        let (bool_type, pointer) = (self.bool_type(), self.pointer_type());
        let Ids { void, long, check, .. } = self.ids;
        let (first, end) = (self.first, self.module.words.len());
        let all = self.module.all.clone();
        // No other has so many parameters of this kind, most likely; where one has, that is its type, too.
        let parameters = [long; 2 + check_reports::FIELDS - 1];
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
            let operands: Vec<u32> = std::iter::once(check).chain(string_operands(NAME)).collect();
            self.module.put(name.at, op::NAME, &operands);
        }
        let is_long = |i: &&Instruction| {
            i.op == op::CAPABILITY && self.module.operands(i).first() == Some(&CAPABILITY_INT64)
        };
        if !all.iter().any(|i| is_long(&i)) {
            self.module.put(all.first().map_or(end, |i| i.at), op::CAPABILITY, &[CAPABILITY_INT64]);
        }
        let addresses: Vec<u32> = check_reports::addresses()
            .step_by(check_reports::FIELD_BYTES as usize)
            .map(|a| self.constant(a))
            .collect();
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

/// The parameters of functions that are no kernels.
fn parameters_of_others(module: &Rewriting, kernels: &BTreeSet<u32>) -> BTreeSet<u32> {
    let (mut all, mut of_kernel) = (BTreeSet::new(), true);
    for i in &module.all {
        match (i.op, module.operands(i)) {
            (op::FUNCTION, [_, id, ..]) => of_kernel = kernels.contains(id),
            (op::FUNCTION_PARAMETER, [_, id]) if !of_kernel => {
                all.insert(*id);
            }
            _ => {}
        }
    }
    all
}

/// As much of a text's end as fits into a report.
fn shorten_text(text: &str) -> String {
    let most = check_reports::NAME_WORDS * check_reports::FIELD_BYTES as usize;
    if text.len() <= most {
        return text.to_owned();
    }
    let from = (text.len() - most + 3..text.len()).find(|at| text.is_char_boundary(*at));
    format!("...{}", &text[from.unwrap_or(text.len())..])
}

#[cfg(test)]
mod tests;
