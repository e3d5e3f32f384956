//! A zebin read whole: metadata, vISA text by kernel, program-scope data, notes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::dwarf::{self, LocalVariable};
use crate::elf::{self, Elf, Relocation, Section, Symbol};
use crate::ze_info::{Warning, ZeInfo, ZeInfoError};
use crate::{Error, Notes};

/// `.kernel` says this, and no name, unless the build asked for names.
const NO_NAME: &str = "kernel";

/// A zebin, checked: every index and offset in it is in range.
#[derive(Clone, Debug, PartialEq)]
pub struct ZebinFile {
    /// The launch metadata.
    pub ze_info: ZeInfo,
    /// What it was compiled for.
    pub notes: Notes,
    /// The container.
    pub elf: Elf,
    /// vISA sections in file order, each with what it belongs to.
    pub visa: Vec<VisaSection>,
    /// What was not understood and ignored.
    pub warnings: Vec<Warning>,
}

/// What a vISA section's text defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum VisaOwner {
    /// A kernel: its index in [`ZeInfo::kernels`].
    Kernel(usize),
    /// A function for stack calls, named by [`VisaSection::function`].
    Function,
    /// It could not be told; a warning says so.
    Unknown,
}

/// A section of vISA text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisaSection {
    /// Index into [`Elf::sections`].
    pub section: usize,
    /// What it defines.
    pub owner: VisaOwner,
    /// The function's name, from the section's.
    pub function: Option<String>,
    /// The name in the text's `.kernel` directive, unless it is the placeholder `kernel`. In a function's
    /// text it is the kernel that the function was compiled along with.
    pub kernel_name: Option<String>,
}

/// Kind of program-scope data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum DataKind {
    /// `.data.const`.
    Const,
    /// `.data.const.string`: string literals, as for `printf`.
    ConstString,
    /// `.data.global`: keeps its content across launches.
    Global,
    /// `.bss.const`: zeros.
    ZeroConst,
    /// `.bss.global`: zeros at first.
    ZeroGlobal,
}

impl DataKind {
    /// From a section's name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            ".data.const" => Some(DataKind::Const),
            ".data.const.string" => Some(DataKind::ConstString),
            ".data.global" => Some(DataKind::Global),
            ".bss.const" => Some(DataKind::ZeroConst),
            ".bss.global" => Some(DataKind::ZeroGlobal),
            _ => None,
        }
    }
}

/// A section of program-scope data.
#[derive(Clone, Copy, Debug)]
pub struct DataSection<'a> {
    /// Index into [`Elf::sections`].
    pub index: usize,
    /// Its kind.
    pub kind: DataKind,
    /// Its content; for the zero kinds empty, with [`DataSection::size`] to go by.
    pub bytes: &'a [u8],
    /// Its size in bytes. A hostile file may claim any number for the zero kinds.
    pub size: u64,
}

impl ZebinFile {
    /// Reads a zebin.
    ///
    /// # Errors
    /// If it is not one, is damaged, or its metadata is wrong. What is merely unknown is in
    /// [`ZebinFile::warnings`].
    pub fn parse(bytes: &[u8]) -> Result<ZebinFile, Error> {
        Self::from_elf(Elf::parse(bytes)?)
    }

    /// The variables that each kernel declares in shared local memory, where debug information tells them (`-g`).
    ///
    /// # Errors
    /// What of it is damaged or not known.
    pub fn local_variables(&self) -> Result<BTreeMap<String, Vec<LocalVariable>>, String> {
        let section =
            |name: &str| self.elf.sections.iter().find(|s| s.name == name).map(|s| s.data.as_slice());
        match (section(".debug_info"), section(".debug_abbrev")) {
            (Some(info), Some(abbrev)) => dwarf::local_variables(info, abbrev),
            (Some(_), None) => Err(".debug_abbrev is missing".into()),
            (None, _) => Ok(BTreeMap::new()),
        }
    }

    fn from_elf(elf: Elf) -> Result<ZebinFile, Error> {
        let section = elf.sections.iter().find(|s| s.sh_type == elf::SHT_ZEBIN_ZEINFO);
        let section = section.or_else(|| elf.sections.iter().find(|s| s.name == ".ze_info"));
        let text = &section.ok_or(Error::NoZeInfo)?.data;
        let text = std::str::from_utf8(text).map_err(|e| {
            let line = text[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u32 + 1;
            ZeInfoError { path: String::new(), line, message: "not UTF-8".into() }
        })?;
        // Some compilers end the text with a zero byte.
        let (ze_info, mut warnings) = ZeInfo::parse(text.trim_end_matches('\0'))?;
        let mut notes = Notes::default();
        if let Some(section) = elf.sections.iter().find(|s| s.name == ".note.intelgt.compat") {
            let (found, complaints) = Notes::parse(&section.data);
            notes = found;
            warnings.extend(complaints.into_iter().map(|message| Warning {
                path: section.name.clone(),
                line: 0,
                message,
            }));
        }
        for section in &elf.sections {
            let known_data = DataKind::from_name(&section.name).is_some();
            let like_data = section.name.starts_with(".data") || section.name.starts_with(".bss");
            if like_data && !known_data {
                let message = "unknown data section, ignored".into();
                warnings.push(Warning { path: section.name.clone(), line: 0, message });
            }
        }
        warn_of_slm(&ze_info, &notes, &mut warnings);
        let visa = match_visa(&elf, &ze_info, &mut warnings);
        Ok(ZebinFile { ze_info, notes, elf, visa, warnings })
    }

    /// Writes it anew.
    ///
    /// # Errors
    /// As [`Elf::write`]; a file that was read can be written.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        self.elf.write()
    }

    /// The text of a vISA section. Where the compiler did not know the kernel's name and wrote another, the text has
    /// the metadata's.
    pub fn visa_text(&self, visa: &VisaSection) -> Cow<'_, str> {
        let data = self.elf.sections.get(visa.section).map_or(&[][..], |s| &s.data);
        let end = data.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&data[..end]);
        let (VisaOwner::Kernel(index), None) = (&visa.owner, &visa.kernel_name) else { return text };
        match self.ze_info.kernels.get(*index).and_then(|k| with_name(&text, &k.name)) {
            Some(named) => Cow::Owned(named),
            None => text,
        }
    }

    /// The vISA section of a kernel.
    ///
    /// # Errors
    /// [`Error::NoKernel`] if the metadata has no such kernel, [`Error::NoVisa`] if it has no vISA text.
    pub fn kernel_visa(&self, kernel: &str) -> Result<&VisaSection, Error> {
        let Some(index) = self.ze_info.kernels.iter().position(|k| k.name == kernel) else {
            let names: Vec<&str> = self.kernels().map(|k| k.name.as_str()).take(20).collect();
            return Err(Error::NoKernel { kernel: kernel.to_owned(), available: names.join(", ") });
        };
        let visa = self.visa.iter().find(|v| v.owner == VisaOwner::Kernel(index));
        visa.ok_or_else(|| Error::NoVisa { kernel: kernel.to_owned() })
    }

    /// The kernels whose vISA text is missing, or has no instructions: what the vector compiler makes.
    pub fn kernels_without_visa(&self) -> impl Iterator<Item = &crate::Kernel> {
        let has_code = |name: &str| {
            self.kernel_visa(name).is_ok_and(|v| {
                self.elf.sections.get(v.section).is_some_and(|s| s.data.split(|&b| b == b'\n').any(is_code))
            })
        };
        self.kernels().filter(move |k| !has_code(&k.name))
    }

    /// Adds a vISA text from elsewhere: a dump of the compiler. A kernel's takes the place of its own; a function's
    /// joins those that there are.
    ///
    /// # Errors
    /// [`Error::NoKernel`] if the text is not a function's, and names no kernel of this file.
    pub fn add_visa(&mut self, text: &[u8]) -> Result<(), Error> {
        if let Some(name) = named_by(text, b".global_function") {
            let section = self.elf.sections.len();
            let section_name = format!(".visaasm.{name}");
            self.elf.sections.push(Section::new(section_name, elf::SHT_ZEBIN_VISAASM, 0, text));
            let owner = VisaOwner::Function;
            self.visa.push(VisaSection { section, owner, function: Some(name), kernel_name: None });
            return Ok(());
        }
        let name = kernel_name(text).unwrap_or_default();
        let Some(index) = self.ze_info.kernels.iter().position(|k| k.name == name) else {
            let names: Vec<&str> = self.kernels().map(|k| k.name.as_str()).take(20).collect();
            return Err(Error::NoKernel { kernel: name, available: names.join(", ") });
        };
        let owner = VisaOwner::Kernel(index);
        self.visa.retain(|v| v.owner != owner);
        let section = self.elf.sections.len();
        let section_name = format!(".visaasm.{name}");
        self.elf.sections.push(Section::new(section_name, elf::SHT_ZEBIN_VISAASM, 0, text));
        self.visa.push(VisaSection { section, owner, function: None, kernel_name: Some(name) });
        Ok(())
    }

    /// The vISA sections of functions for stack calls.
    pub fn functions_visa(&self) -> impl Iterator<Item = &VisaSection> {
        self.visa.iter().filter(|v| v.owner == VisaOwner::Function)
    }

    /// Does it have a function of this name that others can see?
    pub fn exports_function(&self, name: &str) -> bool {
        const FUNCTION: u8 = 2;
        const GLOBAL: u8 = 1;
        let is = |s: &Symbol| s.name == name && !s.undefined && (s.kind, s.binding) == (FUNCTION, GLOBAL);
        self.elf.symbols.iter().any(is)
    }

    /// The kernels that can be launched: all but the compiler's symbol carrier.
    pub fn kernels(&self) -> impl Iterator<Item = &crate::Kernel> {
        self.ze_info.kernels.iter().filter(|k| !k.is_symbol_table())
    }

    /// Program-scope data, in file order.
    pub fn data_sections(&self) -> impl Iterator<Item = DataSection<'_>> {
        self.elf.sections.iter().enumerate().filter_map(|(index, s)| {
            let kind = DataKind::from_name(&s.name)?;
            Some(DataSection { index, kind, bytes: &s.data, size: s.size })
        })
    }

    /// Symbols that lie in program-scope data.
    pub fn data_symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.elf
            .symbols
            .iter()
            .filter(|s| self.section_of(s).is_some_and(|s| DataKind::from_name(&s.name).is_some()))
    }

    /// The section a symbol lies in.
    pub fn section_of(&self, symbol: &Symbol) -> Option<&Section> {
        self.elf.sections.get(symbol.section?)
    }

    /// Relocations of program-scope data.
    pub fn data_relocations(&self) -> impl Iterator<Item = &Relocation> {
        self.elf
            .relocations
            .iter()
            .filter(|r| DataKind::from_name(&self.elf.sections[r.section].name).is_some())
    }

    /// Names that are used and defined nowhere, sorted, each once. `ocloc` does not report them. What the driver itself
    /// fills into native code, by the names `__INTEL_PATCH_…` and `__INTEL_PER_THREAD_OFF`, is no such name.
    pub fn unresolved(&self) -> Vec<&str> {
        let used = self.elf.relocations.iter().map(|r| &self.elf.symbols[r.symbol]);
        let native = |name: &str| name.starts_with("__INTEL_PATCH_") || name == "__INTEL_PER_THREAD_OFF";
        let missing = used.filter(|s| s.undefined && !native(&s.name));
        let mut names: Vec<&str> = missing.map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The SPIR-V it was compiled from, if kept.
    pub fn spirv(&self) -> Option<&[u8]> {
        let section = self.elf.sections.iter().find(|s| s.sh_type == elf::SHT_ZEBIN_SPIRV);
        section.map(|s| s.data.as_slice())
    }

    /// The options it was compiled with, if kept.
    pub fn build_options(&self) -> Option<Cow<'_, str>> {
        let section = self.elf.sections.iter().find(|s| s.name == ".misc.buildOptions")?;
        let end = section.data.iter().position(|&b| b == 0).unwrap_or(section.data.len());
        Some(String::from_utf8_lossy(&section.data[..end]))
    }

    /// Whether its kernels may be launched with groups that do not divide the range: compiled as OpenCL C 2.0 or later
    /// and without `-cl-uniform-work-group-size`. The default is OpenCL C 1.2, which has whole groups only.
    pub fn allows_partial_groups(&self) -> bool {
        let Some(options) = self.build_options() else { return false };
        let standard = options.split_whitespace().filter_map(|w| w.strip_prefix("-cl-std=CL")).next_back();
        let version = standard.and_then(|s| {
            let (major, minor) =
                s.trim_start_matches("C++").split_once('.').unwrap_or((s.trim_start_matches("C++"), "0"));
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().unwrap_or(0)))
        });
        // C++ for OpenCL is based on 2.0 or 3.0.
        let modern = version.is_some_and(|v| v >= (2, 0)) || standard.is_some_and(|s| s.starts_with("C++"));
        modern && !options.split_whitespace().any(|w| w == "-cl-uniform-work-group-size")
    }

    /// Whether it holds machine code of a kernel or function.
    pub fn has_machine_code(&self) -> bool {
        self.elf.sections.iter().any(|s| s.name == ".text" || s.name.starts_with(".text."))
    }

    /// A zebin of the same kernels with only what running their vISA takes: metadata, vISA text (without
    /// comments that fill a whole line), data with its symbols and relocations, notes and build options.
    /// Undefined symbols and what refers to them go too, as they are used by machine code only.
    #[must_use]
    pub fn strip(&self) -> ZebinFile {
        let keep = |s: &Section| {
            matches!(s.sh_type, elf::SHT_ZEBIN_ZEINFO | elf::SHT_ZEBIN_VISAASM)
                || DataKind::from_name(&s.name).is_some()
                || matches!(s.name.as_str(), ".note.intelgt.compat" | ".misc.buildOptions" | ".ze_info")
        };
        let mut elf =
            Elf { sections: Vec::new(), symbols: Vec::new(), relocations: Vec::new(), ..self.elf.clone() };
        let mut sections = vec![None; self.elf.sections.len()];
        for (i, section) in self.elf.sections.iter().enumerate().filter(|(_, s)| keep(s)) {
            sections[i] = Some(elf.sections.len());
            elf.sections.push(section.clone());
        }
        for section in elf.sections.iter_mut().filter(|s| s.sh_type == elf::SHT_ZEBIN_VISAASM) {
            section.data = strip_comments(&section.data);
            section.size = section.data.len() as u64;
        }
        let mut symbols = vec![None; self.elf.symbols.len()];
        for (i, symbol) in self.elf.symbols.iter().enumerate() {
            if let Some(section) = symbol.section.and_then(|s| sections[s]) {
                symbols[i] = Some(elf.symbols.len());
                elf.symbols.push(Symbol { section: Some(section), ..symbol.clone() });
            }
        }
        for reloc in &self.elf.relocations {
            if let (Some(section), Some(symbol)) = (sections[reloc.section], symbols[reloc.symbol]) {
                elf.relocations.push(Relocation { section, symbol, ..reloc.clone() });
            }
        }
        let visa = self
            .visa
            .iter()
            .filter_map(|v| Some(VisaSection { section: sections[v.section]?, ..v.clone() }))
            .collect();
        ZebinFile {
            ze_info: self.ze_info.clone(),
            notes: self.notes.clone(),
            elf,
            visa,
            warnings: self.warnings.clone(),
        }
    }
}

/// Warns of kernels whose static SLM exceeds what their device has: the compiler does not.
fn warn_of_slm(info: &ZeInfo, notes: &Notes, warnings: &mut Vec<Warning>) {
    let Some(device) = notes.device() else { return };
    let most = envisa_isa::limits::shared_local_memory(device.platform());
    for (i, kernel) in info.kernels.iter().enumerate() {
        let size = kernel.execution_env.slm_size;
        if u64::from(size) > most {
            let path = format!("kernels[{i}].execution_env.slm_size");
            let message =
                format!("kernel `{}` uses {size} bytes of SLM, a group on {device} has {most}", kernel.name);
            warnings.push(Warning { path, line: 0, message });
        }
    }
}

/// Removes lines that hold a comment only, and comments and spaces at the ends of lines.
fn strip_comments(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&b| b == b'\n') {
        // A comment starts at `//` outside of quotes.
        let mut quoted = false;
        let mut end = line.len();
        for (i, &byte) in line.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b'/' if !quoted && line.get(i + 1) == Some(&b'/') => {
                    end = i;
                    break;
                }
                _ => {}
            }
        }
        let kept = line[..end].trim_ascii_end();
        if kept.is_empty() && end < line.len() && line.trim_ascii_start().starts_with(b"//") {
            continue;
        }
        out.extend_from_slice(kept);
        if line.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
    out
}

/// The name in a text's `.kernel` directive, which stands near its start.
fn kernel_name(text: &[u8]) -> Option<String> {
    named_by(text, b".kernel")
}

/// The name that a directive near the beginning of a text gives.
fn named_by(text: &[u8], directive: &[u8]) -> Option<String> {
    for line in text.split(|&b| b == b'\n').take(64) {
        let Some(rest) = line.trim_ascii().strip_prefix(directive) else { continue };
        if !rest.first().is_some_and(u8::is_ascii_whitespace) {
            continue;
        }
        let rest = rest.trim_ascii();
        let name = match rest.strip_prefix(b"\"") {
            Some(quoted) => quoted.split(|&b| b == b'"').next().unwrap_or_default(),
            None => rest.split(|b| b.is_ascii_whitespace()).next().unwrap_or_default(),
        };
        return Some(String::from_utf8_lossy(name).into_owned()).filter(|n| n != NO_NAME && !n.is_empty());
    }
    None
}

/// Is a line of vISA text an instruction: no directive, label or comment?
fn is_code(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !matches!(line[0], b'.' | b'/' | 0) && !line.ends_with(b":")
}

/// The text with this name in its `.kernel` directive; `None` where that cannot be.
fn with_name(text: &str, name: &str) -> Option<String> {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    let line = text.lines().take(64).find(|l| l.trim_start().starts_with(".kernel "))?;
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let old = line.find(&format!("\"{NO_NAME}\""))?;
    let named =
        |_: &()| format!("{}\"{name}\"{}", &text[..start + old], &text[start + old + NO_NAME.len() + 2..]);
    (!name.is_empty() && name.chars().all(plain)).then_some(()).as_ref().map(named)
}

/// Finds out what every vISA section defines.
///
/// A kernel's section is `.visaasm`, a function's `.visaasm.<function>`; newer compilers may also name a
/// kernel's section after the kernel. Names in the texts decide where they are real; otherwise the order.
fn match_visa(elf: &Elf, info: &ZeInfo, warnings: &mut Vec<Warning>) -> Vec<VisaSection> {
    let is_visa = |s: &Section| {
        s.sh_type == elf::SHT_ZEBIN_VISAASM || s.name == ".visaasm" || s.name.starts_with(".visaasm.")
    };
    let by_name: std::collections::HashMap<&str, usize> =
        info.kernels.iter().enumerate().map(|(i, k)| (k.name.as_str(), i)).collect();
    let mut taken = vec![false; info.kernels.len()];
    let mut take = |name: &str| {
        let index = *by_name.get(name)?;
        (!std::mem::replace(&mut taken[index], true)).then_some(index)
    };
    let mut visa: Vec<VisaSection> = Vec::new();
    for (section, s) in elf.sections.iter().enumerate().filter(|(_, s)| is_visa(s)) {
        let suffix = s.name.strip_prefix(".visaasm.").filter(|n| !n.is_empty());
        let kernel_name = kernel_name(&s.data);
        let owner = match (suffix, &kernel_name) {
            (Some(suffix), _) => take(suffix).map_or(VisaOwner::Function, VisaOwner::Kernel),
            (None, Some(name)) => take(name).map_or(VisaOwner::Unknown, VisaOwner::Kernel),
            (None, None) => VisaOwner::Unknown,
        };
        let function = suffix.filter(|_| owner == VisaOwner::Function).map(str::to_owned);
        visa.push(VisaSection { section, owner, function, kernel_name });
    }
    // What has no usable name is matched by order, which says something only if the numbers agree.
    let open: Vec<usize> = (0..taken.len()).filter(|&i| !taken[i]).collect();
    let nameless: Vec<usize> = (0..visa.len())
        .filter(|&i| visa[i].owner == VisaOwner::Unknown && visa[i].kernel_name.is_none())
        .collect();
    if open.len() == nameless.len() {
        for (&kernel, &section) in open.iter().zip(&nameless) {
            visa[section].owner = VisaOwner::Kernel(kernel);
        }
    }
    for v in visa.iter().filter(|v| v.owner == VisaOwner::Unknown) {
        let message = match &v.kernel_name {
            Some(name) => {
                format!("vISA text of `{name}`, which is not a kernel or has its text already; ignored")
            }
            None => format!("{} unnamed vISA texts for {} kernels; ignored", nameless.len(), open.len()),
        };
        let path = elf.sections[v.section].name.clone();
        warnings.push(Warning { path, line: 0, message });
    }
    visa
}
