//! Program-scope data and functions: addresses, relocations, symbols.

use std::collections::HashMap;
use std::sync::Arc;

use envisa_lower::Program;
use envisa_zebin::{DataKind, RelocKind, ZebinFile};

use crate::memory::{Allocation, AllocationId, Memory, MemoryError};

/// Address of a program's first function; they are this far apart.
const FUNCTION_STEP: u64 = 64;
/// Addresses of functions, where nothing else is: 32-bit, never null.
const FUNCTION_BASE: u64 = 0x4000_0000;
/// Most bytes a section of data may have.
const MAX_SECTION: u64 = 1 << 30;

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
    /// Address of `.data.const`, 0 if there is none.
    pub const_base: u64,
    /// Address of `.data.global`, 0 if there is none.
    pub global_base: u64,
    /// The allocations.
    own: Vec<AllocationId>,
}

impl ModuleData {
    /// Allocates and initialises a module's data.
    ///
    /// # Errors
    /// [`LinkError`]; nothing stays allocated then.
    pub fn load(memory: &Memory, zebin: &ZebinFile) -> Result<ModuleData, LinkError> {
        let mut out = ModuleData::default();
        let done = out.fill(memory, zebin);
        if let Err(e) = done {
            out.free(memory);
            return Err(e);
        }
        Ok(out)
    }

    /// Frees the data, of the memory that it was loaded into. Launches under way keep it as long as they run.
    pub fn free(&self, memory: &Memory) {
        for id in &self.own {
            memory.free(*id);
        }
    }

    fn fill(&mut self, memory: &Memory, zebin: &ZebinFile) -> Result<(), LinkError> {
        let out = self;
        // Section index: address and allocation.
        let mut at: HashMap<usize, Arc<Allocation>> = HashMap::new();
        for s in zebin.data_sections() {
            let size = s.size.max(s.bytes.len() as u64);
            if size > MAX_SECTION {
                return Err(LinkError::Malformed(format!("a data section of {size} bytes")));
            }
            let name = zebin.elf.sections.get(s.index).map_or("data", |s| s.name.as_str());
            let id = match s.kind {
                DataKind::Const => memory.allocate_constant(name, size)?,
                _ => memory.allocate(name, size)?,
            };
            out.own.push(id);
            let Some(a) = memory.get(id) else { continue };
            a.block.copy_in(0, s.bytes);
            match s.kind {
                DataKind::Const => out.const_base = a.base,
                DataKind::Global => out.global_base = a.base,
                _ => {}
            }
            at.insert(s.index, a);
        }
        for s in zebin.data_symbols() {
            if let Some(a) = s.section.and_then(|i| at.get(&i)) {
                out.symbols.insert(s.name.clone(), a.base.wrapping_add(s.value));
            }
        }
        for r in zebin.data_relocations() {
            let (Some(a), Some(symbol)) = (at.get(&r.section), zebin.elf.symbols.get(r.symbol)) else {
                continue;
            };
            let defined = symbol.section.and_then(|i| at.get(&i));
            let Some(defined) = defined else {
                return Err(LinkError::Malformed(format!(
                    "program-scope data refers to `{}`, which is not data of the module",
                    symbol.name
                )));
            };
            let target = defined.base.wrapping_add(symbol.value);
            let block = &a.block;
            let offset = usize::try_from(r.offset).unwrap_or(usize::MAX);
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
        let functions: Vec<u64> =
            (0..program.functions.len() as u64).map(|i| FUNCTION_BASE + i * FUNCTION_STEP).collect();
        let symbols = program
            .symbols
            .iter()
            .map(|s| {
                let function = program.functions.iter().position(|f| f.name == *s);
                match function {
                    Some(i) => functions[i],
                    None => data.symbols.get(s).copied().unwrap_or(0),
                }
            })
            .collect();
        Linked { symbols, functions }
    }
}
