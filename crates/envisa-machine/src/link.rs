//! Program-scope data and functions: addresses, relocations, symbols.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use envisa_lower::Program;
use envisa_zebin::{DataKind, DataSection, RelocKind, ZebinFile};

use crate::memory::{Allocation, AllocationId, Block, Memory, MemoryError, Permission, Place};

/// Address of a program's first function; they are this far apart.
const FUNCTION_STEP: u64 = 64;
/// Addresses of functions, where nothing else is: 32-bit, never null.
const FUNCTION_BASE: u64 = 0x4000_0000;
/// Most bytes a section of data may have.
const MAX_SECTION: u64 = 1 << 30;
/// Bytes around data at addresses of the host that are nobody's.
const GUARD: usize = 4096;

/// Why data could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// Memory is exhausted.
    Memory(MemoryError),
    /// The file contradicts itself.
    Malformed(String),
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LinkError::Memory(e) => e.fmt(f),
            LinkError::Malformed(s) => f.write_str(s),
        }
    }
}

impl std::error::Error for LinkError {}

impl From<MemoryError> for LinkError {
    fn from(e: MemoryError) -> LinkError {
        LinkError::Memory(e)
    }
}

/// A module's program-scope data in memory. Globals keep their content from launch to launch.
#[derive(Clone, Debug, Default)]
pub struct ModuleData {
    /// Addresses of symbols.
    pub symbols: HashMap<String, u64>,
    /// Address of `.data.const` and what follows, or of `.bss.const` where there is no such; 0 if there is neither.
    pub const_base: u64,
    /// The same of `.data.global` and `.bss.global`.
    pub global_base: u64,
    /// The allocations.
    own: Vec<AllocationId>,
    /// Where symbols lie in them.
    variables: HashMap<String, Variable>,
    /// Names of functions that kernels may call, in order: all kernels know a function by one address.
    functions: Vec<String>,
}

/// A variable at program scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The allocation that it lies in: an index into [`ModuleData::allocations`].
    pub allocation: usize,
    /// Its bytes there.
    pub bytes: Range<u64>,
}

/// Bytes for data of a module.
fn allocate_data(
    memory: &Memory,
    name: &str,
    bytes: u64,
    place: Place,
    permission: Permission,
) -> Result<AllocationId, MemoryError> {
    let len = usize::try_from(bytes).map_err(|_| MemoryError::Host(bytes))?;
    let block = match place {
        Place::Anywhere => Block::zeroed(len),
        Place::HostAddress => Block::new_with_guard_pages(len, GUARD),
    };
    memory.import(name, block.ok_or(MemoryError::Host(bytes))?, place, permission)
}

impl ModuleData {
    /// Allocates and initialises a module's data. Whoever loads it frees its [allocations](ModuleData::allocations).
    ///
    /// # Errors
    /// [`LinkError`]; nothing stays allocated then.
    pub fn load(memory: &Memory, zebin: &ZebinFile, place: Place) -> Result<ModuleData, LinkError> {
        let mut functions: Vec<String> = zebin.functions_visa().filter_map(|f| f.function.clone()).collect();
        functions.sort_unstable();
        functions.dedup();
        let mut out = ModuleData { functions, ..ModuleData::default() };
        let done = out.load_sections(memory, zebin, place);
        if let Err(e) = done {
            for id in &out.own {
                memory.free(*id);
            }
            return Err(e);
        }
        Ok(out)
    }

    /// What was allocated.
    pub fn allocations(&self) -> &[AllocationId] {
        &self.own
    }

    /// The address of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        let found = self.functions.binary_search_by(|f| f.as_str().cmp(name));
        found.ok().map(|i| FUNCTION_BASE + i as u64 * FUNCTION_STEP)
    }

    /// Where a variable lies.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    fn load_sections(&mut self, memory: &Memory, zebin: &ZebinFile, place: Place) -> Result<(), LinkError> {
        let out = self;
        // Section index: allocation with its number, and where the section starts in it.
        let mut at: HashMap<usize, (Arc<Allocation>, usize, u64)> = HashMap::new();
        let sections: Vec<DataSection<'_>> = zebin.data_sections().collect();
        // Zeros follow the data of their kind: kernels and symbols know one base for both.
        for kinds in [
            &[DataKind::Const, DataKind::ZeroConst][..],
            &[DataKind::ConstString],
            &[DataKind::Global, DataKind::ZeroGlobal],
        ] {
            let parts: Vec<(&DataSection<'_>, u64)> = kinds
                .iter()
                .flat_map(|k| sections.iter().filter(move |s| s.kind == *k))
                .map(|s| (s, s.size.max(s.bytes.len() as u64)))
                .collect();
            let Some((first, _)) = parts.first() else { continue };
            let size = parts.iter().fold(0u64, |n, (_, size)| n.saturating_add(*size));
            if size > MAX_SECTION {
                return Err(LinkError::Malformed(format!("{size} bytes of program-scope data")));
            }
            let name = zebin.elf.sections.get(first.index).map_or("data", |s| s.name.as_str());
            let permission = match kinds[0] {
                DataKind::Const => Permission::ReadOnly,
                _ => Permission::ReadWrite,
            };
            let id = allocate_data(memory, name, size, place, permission)?;
            out.own.push(id);
            let Some(a) = memory.get(id) else { continue };
            match kinds[0] {
                DataKind::Const => out.const_base = a.base,
                DataKind::Global => out.global_base = a.base,
                _ => {}
            }
            let mut start = 0;
            for (section, size) in parts {
                a.block.copy_in(start as usize, section.bytes);
                at.insert(section.index, (a.clone(), out.own.len() - 1, start));
                start += size;
            }
        }
        for s in zebin.data_symbols() {
            if let Some((a, allocation, start)) = s.section.and_then(|i| at.get(&i)) {
                let offset = start.wrapping_add(s.value);
                out.symbols.insert(s.name.clone(), a.base.wrapping_add(offset));
                let bytes = offset..offset.saturating_add(s.size);
                if bytes.end <= a.block.len() as u64 {
                    out.variables.insert(s.name.clone(), Variable { allocation: *allocation, bytes });
                }
            }
        }
        for r in zebin.data_relocations() {
            let (Some((a, _, start)), Some(symbol)) = (at.get(&r.section), zebin.elf.symbols.get(r.symbol))
            else {
                continue;
            };
            let defined = symbol.section.and_then(|i| at.get(&i));
            let Some((defined, _, first)) = defined else {
                return Err(LinkError::Malformed(format!(
                    "program-scope data refers to `{}`, which is not data of the module",
                    symbol.name
                )));
            };
            let target = defined.base.wrapping_add(*first).wrapping_add(symbol.value);
            let block = &a.block;
            let offset = usize::try_from(r.offset.saturating_add(*start)).unwrap_or(usize::MAX);
            let outside =
                || LinkError::Malformed(format!("a relocation at {:#x} is outside of its section", r.offset));
            match r.kind {
                RelocKind::None => {}
                RelocKind::Addr64 => {
                    let place = block.read::<8>(offset).ok_or_else(outside)?;
                    let addend = r.addend.map_or(u64::from_le_bytes(place), |a| a as u64);
                    block.write(offset, target.wrapping_add(addend).to_le_bytes());
                }
                RelocKind::Addr32 | RelocKind::Addr32Hi => {
                    let place = block.read::<4>(offset).ok_or_else(outside)?;
                    let addend = r.addend.map_or(u32::from_le_bytes(place) as u64, |a| a as u64);
                    let sum = target.wrapping_add(addend);
                    let half = if r.kind == RelocKind::Addr32 { sum as u32 } else { (sum >> 32) as u32 };
                    block.write(offset, half.to_le_bytes());
                }
                other => {
                    return Err(LinkError::Malformed(format!(
                        "a relocation {other:?} in program-scope data"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Addresses of a program's symbols and functions.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// By symbol; 0: not defined.
    pub symbols: Vec<u64>,
    /// By function.
    pub functions: Vec<u64>,
}

impl Linked {
    /// Resolves a program's symbols: its own functions, then the module's data.
    pub fn new(program: &Program, data: &ModuleData) -> Linked {
        // Those that the module does not name are behind the others.
        let behind = |i: usize| FUNCTION_BASE + (data.functions.len() + i) as u64 * FUNCTION_STEP;
        let functions = program.functions().iter().enumerate();
        let functions: Vec<u64> =
            functions.map(|(i, f)| data.function(&f.name).unwrap_or_else(|| behind(i))).collect();
        let symbols = program
            .symbols()
            .iter()
            .map(|s| {
                let function = program.functions().iter().position(|f| f.name == *s);
                match function {
                    Some(i) => functions[i],
                    None => data.symbols.get(s).copied().unwrap_or(0),
                }
            })
            .collect();
        Linked { symbols, functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_zebin::{Section, Symbol, Writer};

    const INFO: &str =
        "version: '1.20'\nkernels:\n  - name: k\n    execution_env: { grf_count: 128, simd_size: 8 }\n";
    /// `SHT_PROGBITS`, `SHT_NOBITS`, `SHF_ALLOC`.
    const BITS: u32 = 1;
    const NONE: u32 = 8;
    const FLAGS: u64 = 2;

    fn section(name: &str, bytes: usize, zeros: bool) -> Section {
        let data = if zeros { Vec::new() } else { vec![7; bytes] };
        let made = Section::new(name, if zeros { NONE } else { BITS }, FLAGS, data);
        Section { size: bytes as u64, ..made }
    }

    fn symbol(name: &str, section: usize, value: u64) -> Symbol {
        Symbol {
            name: name.into(),
            section: Some(section),
            undefined: false,
            value,
            size: 4,
            kind: 1,
            binding: 1,
        }
    }

    fn load(writer: Writer) -> (Memory, ModuleData) {
        let bytes = writer.finish().expect("a zebin");
        let memory = Memory::new(1 << 20);
        let data = ModuleData::load(&memory, &ZebinFile::parse(&bytes).expect("reads back"), Place::Anywhere)
            .expect("loads");
        (memory, data)
    }

    #[test]
    fn zeros_follow_the_data_of_their_kind() {
        let (memory, data) = load(
            Writer::new(INFO)
                .section(section(".data.global", 16, false))
                .section(section(".bss.global", 256, true))
                .symbol(symbol("table", 0, 0))
                .symbol(symbol("scratch", 0, 16))
                .symbol(symbol("last", 1, 252)),
        );
        assert_eq!(data.symbols["table"], data.global_base);
        assert_eq!(data.symbols["scratch"], data.global_base + 16);
        assert_eq!(data.symbols["last"], data.global_base + 16 + 252);
        assert_eq!(memory.used(), 272);
        assert_eq!(data.const_base, 0);
        let last = data.variable("last").expect("it lies in the data");
        assert_eq!((last.allocation, last.bytes.clone()), (0, 268..272));
        assert!(data.variable("first").is_none());
    }

    #[test]
    fn zeros_alone_have_a_base() {
        let (_, data) = load(Writer::new(INFO).section(section(".bss.const", 64, true)));
        assert_ne!(data.const_base, 0);
        assert_eq!(data.global_base, 0);
    }
}
