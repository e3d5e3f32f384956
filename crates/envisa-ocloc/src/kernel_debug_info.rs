//! Debug information of modules with several kernels.
//!
//! With `-g` the compiler makes an ELF file of each kernel. It copies the debug information of a single one into the module,
//! and links those of several; its linker (lld) refuses the machine, and the module has none. The files are among what the
//! compiler dumps: here their units are put one behind the other, as that linker would.

use envisa_zebin::{Elf, Section};
use std::path::{Path, PathBuf};

const SHT_PROGBITS: u32 = 1;
const INFO: &str = ".debug_info";
const ABBREVIATIONS: &str = ".debug_abbrev";

/// The module, with the debug information of its kernels if it has none of its own and the dump has it.
pub(crate) fn with_debug_information(module: Vec<u8>, dump: &Path) -> Vec<u8> {
    let files = files_of_kernels(dump);
    if files.is_empty() {
        return module;
    }
    let Ok(mut elf) = Elf::parse(&module) else { return module };
    if elf.sections.iter().any(|s| s.name == INFO) {
        return module;
    }
    let (mut units, mut kinds) = (Vec::new(), Vec::new());
    for bytes in files.iter().filter_map(|path| std::fs::read(path).ok()) {
        let Ok(file) = Elf::parse(&bytes) else { continue };
        let section = |name: &str| file.sections.iter().find(|s| s.name == name).map_or(&[][..], |s| &s.data);
        // Entries would refer to strings by their place.
        if !section(".debug_str").is_empty() {
            continue;
        }
        if let Some(moved) = shift_abbreviations(section(INFO), kinds.len()) {
            units.extend(moved);
            kinds.extend(section(ABBREVIATIONS));
        }
    }
    if units.is_empty() {
        return module;
    }
    for (name, data) in [(INFO, units), (ABBREVIATIONS, kinds)] {
        elf.sections.push(Section::new(name, SHT_PROGBITS, 0, data));
    }
    elf.write().unwrap_or(module)
}

/// The ELF files of the kernels, in the order of their names.
fn files_of_kernels(dump: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(dump).into_iter().flatten().flatten().map(|e| e.path());
    let mut paths: Vec<_> = all.filter(|p| p.extension().is_some_and(|e| e == "elf")).collect();
    paths.sort();
    paths
}

/// Units whose kinds of entries begin so many bytes later; `None` if they are cut off or of another format. (DWARF 4, 7.5.1.1:
/// the length of what follows, a version, and the offset of the kinds of entries.)
fn shift_abbreviations(units: &[u8], by: usize) -> Option<Vec<u8>> {
    let mut units = units.to_vec();
    let mut at = 0;
    while at < units.len() {
        let number = |at: usize| Some(u32::from_le_bytes(units.get(at..at + 4)?.try_into().ok()?));
        let (length, version) = (number(at)?, units.get(at + 4..at + 6)?);
        let end = at.checked_add(4)?.checked_add(length as usize).filter(|end| *end <= units.len())?;
        if !matches!(version, [2..=4, 0]) {
            return None;
        }
        let kinds = number(at + 6)?.checked_add(by.try_into().ok()?)?;
        units.get_mut(at + 6..at + 10)?.copy_from_slice(&kinds.to_le_bytes());
        at = end;
    }
    Some(units)
}

/// The copies that the compiler makes for its linker stay behind where it dumps: removes those of a process,
/// if the dump has what was copied.
pub(crate) fn remove_copies(process: u32, dump: &Path) {
    if files_of_kernels(dump).len() < 2 {
        return;
    }
    let own = format!("_{process}_");
    for entry in std::fs::read_dir("/tmp").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".elf") && name.contains("_simd") && name.contains(&own) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(kinds: u32, rest: &[u8]) -> Vec<u8> {
        let mut unit = (6 + rest.len() as u32).to_le_bytes().to_vec();
        unit.extend([4, 0]);
        unit.extend(kinds.to_le_bytes());
        unit.extend(rest);
        unit
    }

    #[test]
    fn units_are_moved() {
        let old = [unit(0, &[8, 1]), unit(5, &[8])].concat();
        assert_eq!(shift_abbreviations(&old, 7), Some([unit(7, &[8, 1]), unit(12, &[8])].concat()));
        assert_eq!(shift_abbreviations(&[], 7), Some(Vec::new()));
        for n in 1..old.len() {
            let whole = n == unit(0, &[8, 1]).len();
            assert_eq!(shift_abbreviations(&old[..n], 7).is_some(), whole, "{n} bytes");
        }
        assert_eq!(shift_abbreviations(&unit(u32::MAX, &[8]), 1), None);
    }
}
