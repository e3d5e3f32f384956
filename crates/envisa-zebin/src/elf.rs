//! The ELF container as parts: sections, symbols and relocations, read and written.

use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, Rel as _, Rela as _, SectionHeader as _, SectionTable, Sym as _};
use object::write::{StringId, elf as out};
use object::{Endianness, LittleEndian as LE, SectionIndex, SymbolIndex};

use crate::Error;

/// `e_machine` of Intel Graphics Technology.
pub const EM_INTELGT: u16 = 205;
/// SPIR-V.
pub const SHT_ZEBIN_SPIRV: u32 = 0xff00_0009;
/// `.ze_info`.
pub const SHT_ZEBIN_ZEINFO: u32 = 0xff00_0011;
/// `.gtpin_info`.
pub const SHT_ZEBIN_GTPIN_INFO: u32 = 0xff00_0012;
/// `.visaasm`.
pub const SHT_ZEBIN_VISAASM: u32 = 0xff00_0013;
/// `.misc.*`.
pub const SHT_ZEBIN_MISC: u32 = 0xff00_0014;
/// `.pisa`.
pub const SHT_ZEBIN_PISA: u32 = 0xff00_0015;
/// The device binary of the older OpenCL container, with patch tokens.
const SHT_OPENCL_DEVICE_BINARY: u32 = 0xff00_0005;
/// `e_type`s of the older OpenCL containers.
const OPENCL_TYPES: std::ops::RangeInclusive<u16> = 0xff01..=0xff05;

/// The section table of a file.
type Sections<'a> = SectionTable<'a, FileHeader64<LE>>;

/// A symbol's name and section in the file that is written.
type SymbolPlace = (Option<StringId>, Option<out::SectionIndex>);

/// Where a section is in the file that is written.
struct Placed {
    index: out::SectionIndex,
    name: StringId,
    align: usize,
    offset: usize,
}

/// A section other than the symbol, string and relocation tables, which are [`Symbol`]s and
/// [`Relocation`]s here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name, as `.data.const`.
    pub name: String,
    /// `sh_type`.
    pub sh_type: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addralign`.
    pub align: u64,
    /// Its content; empty for `SHT_NOBITS`.
    pub data: Vec<u8>,
    /// Its size in bytes: of `data`, or of the zeros that a `SHT_NOBITS` section stands for. Not bounded
    /// by the file's size in the latter case.
    pub size: u64,
    /// Where it lay in the file that was read.
    pub file_offset: u64,
}

impl Section {
    /// A section with content.
    pub fn new(name: impl Into<String>, sh_type: u32, flags: u64, data: impl Into<Vec<u8>>) -> Self {
        let data = data.into();
        let size = data.len() as u64;
        Section { name: name.into(), sh_type, flags, align: 1, data, size, file_offset: 0 }
    }

    /// Whether it stands for zeros that the file does not hold.
    pub fn is_zero_init(&self) -> bool {
        self.sh_type == elf::SHT_NOBITS
    }
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Index into [`Elf::sections`]; none if undefined, absolute or in a table.
    pub section: Option<usize>,
    /// Whether this module lacks its definition.
    pub undefined: bool,
    /// Offset in its section.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
    /// `STT_*`: 0 none, 1 object, 2 function.
    pub kind: u8,
    /// `STB_*`: 0 local, 1 global, 2 weak.
    pub binding: u8,
}

/// What a relocation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelocKind {
    /// Nothing.
    None,
    /// Symbol plus addend, 64 bits.
    Addr64,
    /// The low 32 bits of it.
    Addr32,
    /// The high 32 bits of it.
    Addr32Hi,
    /// Deprecated: offset of the per-thread payload.
    PerThreadPayloadOffset32,
    /// A global 32-bit immediate.
    GlobalImm32,
    /// A send instruction's offset, for binding-table patching.
    Send,
    /// 16 bits of an address or immediate.
    Addr16,
    /// A number the specification does not list.
    Other(u32),
}

impl RelocKind {
    /// From `r_type`.
    pub const fn from_raw(raw: u32) -> Self {
        match raw {
            0 => RelocKind::None,
            1 => RelocKind::Addr64,
            2 => RelocKind::Addr32,
            3 => RelocKind::Addr32Hi,
            4 => RelocKind::PerThreadPayloadOffset32,
            5 => RelocKind::GlobalImm32,
            6 => RelocKind::Send,
            7 => RelocKind::Addr16,
            other => RelocKind::Other(other),
        }
    }

    /// The `r_type`.
    pub const fn raw(self) -> u32 {
        match self {
            RelocKind::None => 0,
            RelocKind::Addr64 => 1,
            RelocKind::Addr32 => 2,
            RelocKind::Addr32Hi => 3,
            RelocKind::PerThreadPayloadOffset32 => 4,
            RelocKind::GlobalImm32 => 5,
            RelocKind::Send => 6,
            RelocKind::Addr16 => 7,
            RelocKind::Other(raw) => raw,
        }
    }

    /// How many bytes it patches, where that is known.
    pub const fn width(self) -> Option<u64> {
        match self {
            RelocKind::None => Some(0),
            RelocKind::Addr64 => Some(8),
            RelocKind::Addr32
            | RelocKind::Addr32Hi
            | RelocKind::PerThreadPayloadOffset32
            | RelocKind::GlobalImm32 => Some(4),
            RelocKind::Addr16 => Some(2),
            RelocKind::Send | RelocKind::Other(_) => None,
        }
    }
}

/// A place in a section to be patched with a symbol's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The section patched: index into [`Elf::sections`].
    pub section: usize,
    /// Offset in it.
    pub offset: u64,
    /// The symbol: index into [`Elf::symbols`].
    pub symbol: usize,
    /// What to write.
    pub kind: RelocKind,
    /// What to add; none if it is the value in place (`SHT_REL`).
    pub addend: Option<i64>,
}

/// An ELF file of a GPU module, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elf {
    /// `EI_ABIVERSION`: 1, or 2 for Xe3P without compatibility mode; older compilers write 0.
    pub abi_version: u8,
    /// `e_type`.
    pub e_type: u16,
    /// `e_machine`.
    pub e_machine: u16,
    /// `e_flags`.
    pub e_flags: u32,
    /// Sections with content, in file order.
    pub sections: Vec<Section>,
    /// Symbols without the null symbol, in file order.
    pub symbols: Vec<Symbol>,
    /// Relocations, in file order.
    pub relocations: Vec<Relocation>,
}

fn malformed_error(offset: u64, what: impl Into<String>) -> Error {
    Error::Elf { offset, message: what.into() }
}

impl Elf {
    /// Takes an ELF file apart. No content is interpreted.
    ///
    /// # Errors
    /// [`Error::NotZebin`] for other formats, named where they are recognised; [`Error::Elf`] where the
    /// tables are cut, overlap the end or contradict each other.
    pub fn parse(bytes: &[u8]) -> Result<Elf, Error> {
        check_elf_identity(bytes)?;
        let len = bytes.len() as u64;
        let header = FileHeader64::<LE>::parse(bytes).map_err(|e| malformed_error(0, e.to_string()))?;
        let e_type = header.e_type(LE);
        if OPENCL_TYPES.contains(&e_type) {
            return Err(Error::PatchTokens);
        }
        let shoff = header.e_shoff(LE);
        let table = u64::from(header.e_shnum(LE)) * 64;
        if shoff.checked_add(table).is_none_or(|end| end > len) {
            return Err(malformed_error(
                shoff,
                format!("the section table ends beyond the file's {len} bytes: cut short?"),
            ));
        }
        let table = header.sections(LE, bytes).map_err(|e| malformed_error(shoff, e.to_string()))?;
        let mut elf = Elf {
            abi_version: header.e_ident().abi_version,
            e_type,
            e_machine: header.e_machine(LE),
            e_flags: header.e_flags(LE),
            ..Elf::default()
        };
        let ours = elf.read_sections(bytes, shoff, &table)?;
        let symtab = elf.read_symbols(bytes, &table, &ours)?;
        elf.read_relocations(bytes, &table, symtab, &ours)?;
        Ok(elf)
    }

    /// Copies the sections; gives by the file's index which of ours each became.
    fn read_sections(
        &mut self,
        bytes: &[u8],
        shoff: u64,
        table: &Sections<'_>,
    ) -> Result<Vec<Option<usize>>, Error> {
        let len = bytes.len() as u64;
        let mut ours: Vec<Option<usize>> = vec![None; table.len()];
        let mut copied = 0u64;
        for (index, header) in table.enumerate() {
            let at = shoff + 64 * index.0 as u64;
            let sh_type = header.sh_type(LE);
            if sh_type == SHT_OPENCL_DEVICE_BINARY {
                return Err(Error::PatchTokens);
            }
            if matches!(
                sh_type,
                elf::SHT_NULL | elf::SHT_STRTAB | elf::SHT_SYMTAB | elf::SHT_REL | elf::SHT_RELA
            ) {
                continue;
            }
            let name = table.section_name(LE, header).map_err(|e| malformed_error(at, e.to_string()))?;
            let name = String::from_utf8_lossy(name).into_owned();
            let data = header.data(LE, bytes).map_err(|_| {
                malformed_error(at, format!("section `{name}` ends beyond the file's {len} bytes"))
            })?;
            // Sections of a sound file are disjoint: a hostile one must not multiply its size.
            copied += data.len() as u64;
            if copied > len {
                return Err(malformed_error(at, format!("section `{name}` overlaps others")));
            }
            ours[index.0] = Some(self.sections.len());
            self.sections.push(Section {
                name,
                sh_type,
                flags: header.sh_flags(LE),
                align: header.sh_addralign(LE),
                data: data.to_vec(),
                size: if sh_type == elf::SHT_NOBITS { header.sh_size(LE) } else { data.len() as u64 },
                file_offset: header.sh_offset(LE),
            });
        }
        Ok(ours)
    }

    /// Reads the symbol table, if there is one, and gives its index.
    fn read_symbols(
        &mut self,
        bytes: &[u8],
        table: &Sections<'_>,
        ours: &[Option<usize>],
    ) -> Result<Option<SectionIndex>, Error> {
        let len = bytes.len() as u64;
        let Some((index, header)) = table.enumerate().find(|(_, h)| h.sh_type(LE) == elf::SHT_SYMTAB) else {
            return Ok(None);
        };
        let at = header.sh_offset(LE);
        let symbols = table
            .symbols(LE, bytes, elf::SHT_SYMTAB)
            .map_err(|e| malformed_error(at, format!("symbol table (section {}): {e}", index.0)))?;
        let mut text = 0u64;
        for symbol in symbols.iter().skip(1) {
            let name = symbol.name(LE, symbols.strings()).map_err(|e| malformed_error(at, e.to_string()))?;
            // Names may share bytes; together they must not outgrow the file by much.
            text += name.len() as u64;
            if text > len.saturating_mul(4) {
                return Err(malformed_error(at, "symbol names overlap without bound"));
            }
            let shndx = symbol.st_shndx(LE);
            let section = match shndx {
                elf::SHN_UNDEF | elf::SHN_ABS | elf::SHN_COMMON | elf::SHN_XINDEX => None,
                index => *ours.get(usize::from(index)).ok_or_else(|| {
                    malformed_error(at, format!("a symbol lies in section {index} of {}", ours.len()))
                })?,
            };
            self.symbols.push(Symbol {
                name: String::from_utf8_lossy(name).into_owned(),
                section,
                undefined: shndx == elf::SHN_UNDEF,
                value: symbol.st_value(LE),
                size: symbol.st_size(LE),
                kind: symbol.st_type(),
                binding: symbol.st_bind(),
            });
        }
        Ok(Some(index))
    }

    /// Reads the relocations of our sections.
    fn read_relocations(
        &mut self,
        bytes: &[u8],
        table: &Sections<'_>,
        symtab: Option<SectionIndex>,
        ours: &[Option<usize>],
    ) -> Result<(), Error> {
        let len = bytes.len() as u64;
        let mut read = 0u64;
        for (index, header) in table.enumerate() {
            let sh_type = header.sh_type(LE);
            if !matches!(sh_type, elf::SHT_REL | elf::SHT_RELA) {
                continue;
            }
            let at = header.sh_offset(LE);
            let fail =
                |what: String| malformed_error(at, format!("relocations (section {}): {what}", index.0));
            read += header.sh_size(LE);
            if read > len {
                return Err(fail("they overlap others".into()));
            }
            if Some(SectionIndex(header.sh_link(LE) as usize)) != symtab {
                return Err(fail("they do not belong to the symbol table".into()));
            }
            let target = ours.get(header.sh_info(LE) as usize).copied().flatten();
            let section = target.ok_or_else(|| fail("they do not name a section".into()))?;
            let entries: Vec<(u64, u32, u32, Option<i64>)> = if sh_type == elf::SHT_REL {
                let table = header.rel(LE, bytes).map_err(|e| fail(e.to_string()))?;
                let rels = table.map_or(&[][..], |(rels, _)| rels);
                rels.iter().map(|r| (r.r_offset(LE), r.r_sym(LE), r.r_type(LE), None)).collect()
            } else {
                let table = header.rela(LE, bytes).map_err(|e| fail(e.to_string()))?;
                let rels = table.map_or(&[][..], |(rels, _)| rels);
                let entry = |r: &elf::Rela64<LE>| {
                    (r.r_offset(LE), r.r_sym(LE, false), r.r_type(LE, false), Some(r.r_addend(LE)))
                };
                rels.iter().map(entry).collect()
            };
            for (offset, symbol, raw, addend) in entries {
                let kind = RelocKind::from_raw(raw);
                let symbol =
                    SymbolIndex(symbol as usize).0.checked_sub(1).filter(|&s| s < self.symbols.len());
                let symbol = symbol.ok_or_else(|| fail("one names no symbol".into()))?;
                let size = self.sections[section].size;
                let end = offset.checked_add(kind.width().unwrap_or(0));
                if end.is_none_or(|end| end > size) {
                    return Err(fail(format!("one at {offset:#x} lies beyond its section's {size} bytes")));
                }
                self.relocations.push(Relocation { section, offset, symbol, kind, addend });
            }
        }
        Ok(())
    }

    /// The relocations in one table per section patched and form: the section, is there an explicit addend, the
    /// relocations, the table's name.
    #[allow(clippy::type_complexity)]
    fn relocation_tables(&self) -> Result<Vec<(usize, bool, Vec<&Relocation>, String)>, Error> {
        let bad = |what: String| Error::Write { message: what };
        let mut tables: Vec<(usize, bool, Vec<&Relocation>, String)> = Vec::new();
        for reloc in &self.relocations {
            let section = self.sections.get(reloc.section);
            let section = section.ok_or_else(|| bad(format!("relocation in section {}", reloc.section)))?;
            if reloc.symbol >= self.symbols.len() {
                return Err(bad(format!("relocation against symbol {}", reloc.symbol)));
            }
            let explicit = reloc.addend.is_some();
            match tables.iter_mut().find(|t| t.0 == reloc.section && t.1 == explicit) {
                Some(table) => table.2.push(reloc),
                None => {
                    let prefix = if explicit { ".rela" } else { ".rel" };
                    tables.push((reloc.section, explicit, vec![reloc], format!("{prefix}{}", section.name)));
                }
            }
        }
        Ok(tables)
    }

    /// Writes the parts as an ELF file, tables behind the sections. File offsets are chosen anew.
    ///
    /// # Errors
    /// [`Error::Write`] if an index in a symbol or relocation is out of range, or a table is too large.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let bad = |what: String| Error::Write { message: what };
        let (order, moved, locals) = self.symbol_order();
        let tables = self.relocation_tables()?;
        if self.sections.len() + tables.len() >= usize::from(elf::SHN_LORESERVE) - 8 {
            return Err(bad("too many sections".into()));
        }
        let has_symbols = !self.symbols.is_empty();
        let mut bytes = Vec::new();
        let mut w = out::Writer::new(Endianness::Little, true, &mut bytes);
        w.reserve_file_header();
        w.reserve_null_section_index();
        let places = self.reserve_sections(&mut w)?;
        let mut sym_names = Vec::new();
        if has_symbols {
            w.reserve_symtab_section_index();
            w.reserve_strtab_section_index();
            w.reserve_null_symbol_index();
            sym_names = self.reserve_symbols(&mut w, &order, &places)?;
        }
        let mut table_places = Vec::new();
        for (_, explicit, relocs, name) in &tables {
            w.reserve_section_index();
            let name = w.add_section_name(name.as_bytes());
            let entry = if *explicit { 24 } else { 16 };
            table_places.push((name, w.reserve(relocs.len() * entry, 8)));
        }
        w.reserve_shstrtab_section_index();
        if has_symbols {
            w.reserve_symtab();
            w.reserve_strtab();
        }
        w.reserve_shstrtab();
        w.reserve_section_headers();

        w.write_file_header(&out::FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: self.abi_version,
            e_type: self.e_type,
            e_machine: self.e_machine,
            e_entry: 0,
            e_flags: self.e_flags,
        })
        .map_err(|e| bad(e.to_string()))?;
        for (section, place) in self.sections.iter().zip(&places) {
            w.pad_until(place.offset);
            w.write(&section.data);
        }
        for ((_, explicit, relocs, _), (_, offset)) in tables.iter().zip(&table_places) {
            w.pad_until(*offset);
            for reloc in relocs {
                let rel = out::Rel {
                    r_offset: reloc.offset,
                    r_sym: moved[reloc.symbol],
                    r_type: reloc.kind.raw(),
                    r_addend: reloc.addend.unwrap_or(0),
                };
                w.write_relocation(*explicit, &rel);
            }
        }
        if has_symbols {
            w.write_null_symbol();
            self.write_symbols(&mut w, &order, &sym_names);
            w.write_strtab();
        }
        w.write_shstrtab();
        w.write_null_section_header();
        for (section, place) in self.sections.iter().zip(&places) {
            w.write_section_header(&out::SectionHeader {
                name: Some(place.name),
                sh_type: section.sh_type,
                sh_flags: section.flags,
                sh_addr: 0,
                sh_offset: place.offset as u64,
                sh_size: if section.is_zero_init() { section.size } else { section.data.len() as u64 },
                sh_link: 0,
                sh_info: 0,
                sh_addralign: place.align as u64,
                sh_entsize: 0,
            });
        }
        if has_symbols {
            w.write_symtab_section_header(locals);
            w.write_strtab_section_header();
        }
        let symtab = if has_symbols { w.symtab_index() } else { out::SectionIndex(0) };
        for ((section, explicit, relocs, _), &(name, offset)) in tables.iter().zip(&table_places) {
            w.write_relocation_section_header(
                name,
                places[*section].index,
                symtab,
                offset,
                relocs.len(),
                *explicit,
            );
        }
        w.write_shstrtab_section_header();
        Ok(bytes)
    }

    /// ELF wants local symbols first; relocations follow the move. Gives the symbols in that order, where each has moved, and
    /// where those that are not local begin.
    fn symbol_order(&self) -> (Vec<usize>, Vec<u32>, u32) {
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|&i| self.symbols[i].binding != elf::STB_LOCAL);
        let mut moved = vec![0u32; self.symbols.len()];
        for (new, &old) in order.iter().enumerate() {
            moved[old] = new as u32 + 1;
        }
        let locals = 1 + self.symbols.iter().filter(|s| s.binding == elf::STB_LOCAL).count() as u32;
        (order, moved, locals)
    }

    /// Reserves the sections' headers and contents.
    fn reserve_sections<'a>(&'a self, w: &mut out::Writer<'a>) -> Result<Vec<Placed>, Error> {
        let mut places = Vec::with_capacity(self.sections.len());
        for section in &self.sections {
            if section.name.contains('\0') {
                return Err(Error::Write { message: format!("section name {:?}", section.name) });
            }
            let index = w.reserve_section_index();
            let name = w.add_section_name(section.name.as_bytes());
            let align = usize::try_from(section.align.clamp(1, 4096)).unwrap_or(1);
            let align = if align.is_power_of_two() { align } else { 1 };
            let offset = w.reserve(section.data.len(), align);
            places.push(Placed { index, name, align, offset });
        }
        Ok(places)
    }

    /// Reserves the symbols, in this order; gives their names and sections.
    fn reserve_symbols<'a>(
        &'a self,
        w: &mut out::Writer<'a>,
        order: &[usize],
        places: &[Placed],
    ) -> Result<Vec<SymbolPlace>, Error> {
        let bad = |what: String| Error::Write { message: what };
        let mut sym_names = Vec::new();
        for &i in order {
            let symbol = &self.symbols[i];
            let section = match symbol.section {
                Some(s) => Some(places.get(s).ok_or_else(|| bad(format!("symbol in section {s}")))?.index),
                None => None,
            };
            if symbol.name.contains('\0') {
                return Err(bad(format!("symbol name {:?}", symbol.name)));
            }
            let name = (!symbol.name.is_empty()).then(|| w.add_string(symbol.name.as_bytes()));
            w.reserve_symbol_index(section);
            sym_names.push((name, section));
        }
        Ok(sym_names)
    }

    /// Writes the symbols, in this order.
    fn write_symbols(&self, w: &mut out::Writer<'_>, order: &[usize], names: &[SymbolPlace]) {
        for (&i, &(name, section)) in order.iter().zip(names) {
            let symbol = &self.symbols[i];
            let absent = if symbol.undefined { elf::SHN_UNDEF } else { elf::SHN_ABS };
            w.write_symbol(&out::Sym {
                name,
                section,
                st_info: (symbol.binding << 4) | (symbol.kind & 15),
                st_other: 0,
                st_shndx: absent,
                st_value: symbol.value,
                st_size: symbol.size,
            });
        }
    }
}

/// Refuses what is not a 64-bit little-endian ELF file, and says what it is.
fn check_elf_identity(bytes: &[u8]) -> Result<(), Error> {
    let not = |what: &str| Err(Error::NotZebin { found: what.to_owned() });
    match bytes {
        [] => not("an empty file"),
        [0x7f, b'E', b'L', b'F', ..] => match bytes.get(4..6) {
            Some([2, 1]) if bytes.len() >= 64 => Ok(()),
            Some([2, 1]) | None => {
                Err(malformed_error(bytes.len() as u64, "the file ends in the ELF header"))
            }
            Some([1, 1]) => not("a 32-bit ELF file"),
            _ => not("a big-endian or invalid ELF file"),
        },
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => {
            not("an archive of binaries for several devices; build for one device, or unpack it with `ar x`")
        }
        [0x03, 0x02, 0x23, 0x07, ..] | [0x07, 0x23, 0x02, 0x03, ..] => {
            not("SPIR-V, which has to be built for a device first")
        }
        [b'B', b'C', 0xc0, 0xde, ..] => not("LLVM bitcode"),
        [b'C', b'I', b'S', b'A', ..] => not("a vISA binary (.isa)"),
        _ if bytes.starts_with(b".version") => not("vISA text (.visaasm)"),
        _ => not("no known format"),
    }
}
