//! Makes a zebin from parts.

use crate::elf::{self, Elf, Relocation, Section, Symbol};
use crate::{Error, Notes};

/// Gathers the parts of a zebin: metadata first, then sections, symbols and relocations.
#[derive(Clone, Debug)]
pub struct Writer {
    elf: Elf,
    ze_info: String,
    notes: Notes,
}

impl Writer {
    /// A zebin with this `.ze_info` text, which is not checked.
    pub fn new(ze_info: impl Into<String>) -> Self {
        let elf =
            Elf { abi_version: 1, e_type: object::elf::ET_REL, e_machine: elf::EM_INTELGT, ..Elf::default() };
        Writer { elf, ze_info: ze_info.into(), notes: Notes::default() }
    }

    /// The notes to write; none by default.
    #[must_use]
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }

    /// Adds a vISA text: a function's if named, else the next kernel's.
    #[must_use]
    pub fn visa(self, function: Option<&str>, text: &str) -> Self {
        let name = function.map_or_else(|| ".visaasm".to_owned(), |f| format!(".visaasm.{f}"));
        self.section(Section::new(name, elf::SHT_ZEBIN_VISAASM, 0, text))
    }

    /// Adds a section. Sections are numbered from 0 in the order added.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.elf.sections.push(section);
        self
    }

    /// Adds a symbol. Symbols are numbered from 0 in the order added.
    #[must_use]
    pub fn symbol(mut self, symbol: Symbol) -> Self {
        self.elf.symbols.push(symbol);
        self
    }

    /// Adds a relocation, by those numbers.
    #[must_use]
    pub fn relocation(mut self, relocation: Relocation) -> Self {
        self.elf.relocations.push(relocation);
        self
    }

    /// The file.
    ///
    /// # Errors
    /// As [`Elf::write`].
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let mut elf = self.elf;
        elf.sections.push(Section::new(".ze_info", elf::SHT_ZEBIN_ZEINFO, 0, self.ze_info));
        let notes = self.notes.write();
        if !notes.is_empty() {
            let mut section = Section::new(".note.intelgt.compat", object::elf::SHT_NOTE, 0, notes);
            section.align = 4;
            elf.sections.push(section);
        }
        elf.write()
    }
}
