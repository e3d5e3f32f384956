//! Modules: the output of a compiler or assembler, loaded onto a device.

use crate::buffer::{Allocation, Buffer};
use crate::device::{Device, Inner};
use crate::error::Error;
use crate::kernel::{Code, Kernel};
use crate::source::{Functions, SourceText};
use envisa_diag::{Diagnostic, FileId, Files};
use envisa_isa::{ObjectKind, Platform, Platforms, predefined};
use envisa_machine::ModuleData;
use envisa_machine::memory::Place;
use envisa_text::ParseOptions;
use envisa_verify::Verified;
use envisa_zebin::dwarf::LocalVariable;
use envisa_zebin::{DeviceFamily, ZebinFile};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// A module's bytes, by format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Source<'a> {
    /// A zebin that IGC compiled from OpenCL C or SPIR-V, and that contains its vISA: `ocloc compile … -internal_options
    /// "-cl-intel-allow-zebin -ze-emit-zebin-visa-sections"`.
    Zebin(&'a [u8]),
    /// A CISA binary of hand-written vISA.
    Isa(&'a [u8]),
    /// Hand-written vISA text in UTF-8.
    Text(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Recognises the format by the bytes: an ELF file is a zebin, a binary begins with `CISA`, and a text has a `.version`
    /// near its beginning.
    pub fn detect(bytes: &'a [u8]) -> Option<Source<'a>> {
        let head = &bytes[..bytes.len().min(4096)];
        if bytes.starts_with(b"\x7fELF") {
            Some(Source::Zebin(bytes))
        } else if envisa_binary::is_cisa(bytes) {
            Some(Source::Isa(bytes))
        } else if head.windows(8).any(|w| w == b".version") {
            Some(Source::Text(bytes))
        } else {
            None
        }
    }

    /// The platform for which a zebin was compiled; `None` for hand-written vISA.
    ///
    /// # Errors
    /// [`Error::Module`]: the file is not a zebin, or its device is unknown.
    pub fn platform(&self) -> Result<Option<Platform>, Error> {
        match self {
            Source::Zebin(bytes) => {
                family(&ZebinFile::parse(bytes).map_err(module)?).map(|d| Some(d.platform()))
            }
            Source::Isa(_) | Source::Text(_) => Ok(None),
        }
    }

    /// The kernels of a zebin that has no vISA for them, or none with instructions.
    ///
    /// # Errors
    /// [`Error::Module`]: the file is not a zebin.
    pub fn kernels_without_visa(&self) -> Result<Vec<String>, Error> {
        let Source::Zebin(bytes) = self else { return Ok(Vec::new()) };
        let zebin = ZebinFile::parse(bytes).map_err(module)?;
        Ok(zebin.kernels_without_visa().map(|k| k.name.clone()).collect())
    }
}

fn module(e: impl std::fmt::Display) -> Error {
    Error::Module(e.to_string())
}

fn family(zebin: &ZebinFile) -> Result<DeviceFamily, Error> {
    let known = zebin.notes.device();
    known.ok_or_else(|| {
        let all = DeviceFamily::ALL.map(DeviceFamily::name).join(", ");
        module(format!("its notes name no device known here ({all})"))
    })
}

/// How a module is loaded.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Whether to refuse modules with errors of the verifier. If not, every structurally sound module runs.
    pub verify: bool,
    /// The number of channels of a thread of hand-written code: 1, 8, 16 or 32. Without it, the `SimdSize` attribute or
    /// the width of the widest instruction.
    pub simd: Option<u32>,
    /// The source files of the module, which reports quote.
    pub sources: Vec<SourceText>,
    /// vISA texts of a zebin's kernels, as the compiler dumps them. They replace the texts in the zebin. Zebins of
    /// vector-compute code have no vISA, or vISA without instructions ([`Source::kernels_without_visa`]).
    pub visa: Vec<SourceText>,
    /// Whether variables at program scope lie at the same addresses on the host and on the device. If not, the device
    /// chooses their addresses.
    pub variables_at_host_addresses: bool,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            verify: true,
            simd: None,
            sources: Vec::new(),
            visa: Vec::new(),
            variables_at_host_addresses: false,
        }
    }
}

/// A module on a device. Cheap to clone; its data is freed when the last clone and the last of its kernels are
/// dropped.
#[derive(Clone)]
pub struct Module(pub(crate) Arc<Loaded>);

pub(crate) struct Loaded {
    device: Arc<Inner>,
    name: String,
    options: LoadOptions,
    form: Form,
    /// Kernels asked for before.
    kernels: Mutex<HashMap<String, Arc<Code>>>,
}

/// What it came as.
enum Form {
    Compiled(Box<Contents>),
    Written { module: Box<Verified>, ids: Vec<FileId>, files: Arc<Files> },
}

/// What a zebin holds.
pub(crate) struct Contents {
    pub zebin: ZebinFile,
    pub data: ModuleData,
    /// The bytes of that.
    allocations: Vec<Arc<Allocation>>,
    /// The variables of its kernels in shared local memory, by kernel; or why its debug information cannot be read.
    pub local_variables: Result<BTreeMap<String, Vec<LocalVariable>>, String>,
    /// The functions of its source.
    pub functions: Arc<Functions>,
}

impl Module {
    /// Loads a module onto a device. Reports use `name`, for instance the name of a file.
    ///
    /// # Errors
    /// [`Error::Module`], [`Error::Diagnostics`]: it is damaged, is for another platform, lacks its vISA, or its
    /// vISA has errors (of zebins, said when a kernel is asked for); [`Error::Memory`].
    pub fn load(device: &Device, name: &str, source: Source<'_>) -> Result<Module, Error> {
        Module::load_with(device, name, source, &LoadOptions::default())
    }

    /// As [`Module::load`], with options.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_with(
        device: &Device,
        name: &str,
        source: Source<'_>,
        options: &LoadOptions,
    ) -> Result<Module, Error> {
        let form = match source {
            Source::Zebin(bytes) => compiled(device, name, bytes, options)?,
            Source::Isa(bytes) => binary(device.platform(), name, bytes, options)?,
            Source::Text(bytes) => text(device.platform(), name, bytes, options)?,
        };
        Ok(Module::of_form(device, name, form, options))
    }

    /// A module of hand-written code that somebody made.
    pub(crate) fn of_isa(
        device: &Device,
        name: &str,
        module: envisa_isa::Module,
        ids: Vec<FileId>,
        files: Files,
        options: &LoadOptions,
    ) -> Result<Module, Error> {
        let form = written(device.platform(), module, ids, files, options)?;
        Ok(Module::of_form(device, name, form, options))
    }

    fn of_form(device: &Device, name: &str, form: Form, options: &LoadOptions) -> Module {
        Module(Arc::new(Loaded {
            device: device.0.clone(),
            name: name.to_owned(),
            options: options.clone(),
            form,
            kernels: Mutex::default(),
        }))
    }

    /// Its device.
    pub fn device(&self) -> Device {
        Device(self.0.device.clone())
    }

    /// Is it of this device?
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.device, &device.0)
    }

    /// The name of the module in reports.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the module was compiled (a zebin), and not written by hand.
    pub fn is_compiled(&self) -> bool {
        matches!(self.0.form, Form::Compiled(_))
    }

    /// The zebin's contents, if it is one.
    pub fn zebin(&self) -> Option<&ZebinFile> {
        match &self.0.form {
            Form::Compiled(contents) => Some(&contents.zebin),
            Form::Written { .. } => None,
        }
    }

    /// Names of its kernels.
    pub fn kernel_names(&self) -> Vec<String> {
        match &self.0.form {
            Form::Compiled(contents) => contents.zebin.kernels().map(|k| k.name.clone()).collect(),
            Form::Written { module, .. } => {
                let kernels = module.objects.iter().filter(|o| o.kind == ObjectKind::Kernel);
                kernels.map(|o| o.name.clone()).collect()
            }
        }
    }

    /// The bytes of a variable at program scope, and the whole data that it is part of; `None` if the module has no
    /// variable of this name that others can see.
    pub fn variable(&self, name: &str) -> Option<(Buffer, Buffer)> {
        let Form::Compiled(contents) = &self.0.form else { return None };
        let variable = contents.data.variable(name)?;
        let whole = Buffer::whole(contents.allocations.get(variable.allocation)?.clone());
        Some((whole.slice(variable.bytes.clone()).ok()?, whole))
    }

    /// The address by which kernels call a function that others can see; `None` if the module has no such function.
    pub fn function_address(&self, name: &str) -> Option<u64> {
        let Form::Compiled(contents) = &self.0.form else { return None };
        contents.zebin.exports_function(name).then(|| contents.data.function(name))?
    }

    /// Messages about metadata and debug information of a zebin that is unknown or damaged, and therefore ignored.
    pub fn warnings(&self) -> Vec<String> {
        let Form::Compiled(contents) = &self.0.form else { return Vec::new() };
        let mut all: Vec<String> = contents.zebin.warnings.iter().map(ToString::to_string).collect();
        if let Err(why) = &contents.local_variables {
            all.push(format!(
                "debug information cannot be read: {why}; the names and extents of variables in local memory are not \
                 known, so accesses are not checked against them"
            ));
        }
        all
    }

    /// The kernel with this name. An empty name stands for the only kernel, or for the first of hand-written code. A
    /// kernel is lowered only once.
    ///
    /// # Errors
    /// [`Error::NoKernel`]; [`Error::Module`], [`Error::Diagnostics`]: its vISA has errors or cannot be run.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let known = |e: std::sync::PoisonError<_>| std::sync::PoisonError::into_inner(e);
        if let Some(code) = self.0.kernels.lock().unwrap_or_else(known).get(name) {
            return Ok(Kernel { module: self.clone(), code: code.clone() });
        }
        let names = self.kernel_names();
        let found = match (name, &names[..]) {
            ("", [only]) => Some(only),
            ("", [first, ..]) if !self.is_compiled() => Some(first),
            (name, all) => all.iter().find(|n| *n == name),
        };
        let Some(found) = found else {
            return Err(Error::NoKernel { name: name.to_owned(), available: names });
        };
        if let Some(code) = self.0.kernels.lock().unwrap_or_else(known).get(found) {
            return Ok(Kernel { module: self.clone(), code: code.clone() });
        }
        let code = Arc::new(match &self.0.form {
            Form::Compiled(contents) => self.compiled_kernel(contents, found)?,
            Form::Written { module, ids, files } => {
                let texts = named(module, ids);
                Code::written(module, found, self.device().platform(), &self.0.options, texts, files.clone())?
            }
        });
        self.0.kernels.lock().unwrap_or_else(known).insert(found.clone(), code.clone());
        Ok(Kernel { module: self.clone(), code })
    }

    fn compiled_kernel(&self, contents: &Contents, name: &str) -> Result<Code, Error> {
        let zebin = &contents.zebin;
        let platform = self.device().platform();
        let Some(metadata) = zebin.kernels().find(|k| k.name == name) else {
            return Err(Error::NoKernel { name: name.to_owned(), available: self.kernel_names() });
        };
        let mut files = Files::new();
        let visa = zebin.kernel_visa(name).map_err(module)?;
        let mut texts = vec![(name.to_owned(), zebin.visa_text(visa).into_owned())];
        for f in zebin.functions_visa() {
            let label = f.function.clone().unwrap_or_default();
            // A function's text names the kernel that it was compiled along with.
            if f.kernel_name.as_deref().is_none_or(|k| k == name) {
                texts.push((label, zebin.visa_text(f).into_owned()));
            }
        }
        if texts.iter().any(|(_, text)| text.contains("ifcall")) {
            // What addresses may be of: functions that others can see, which were compiled along with no kernel.
            for f in zebin.functions_visa() {
                let label = f.function.clone().unwrap_or_default();
                if zebin.exports_function(&label) && texts.iter().all(|(known, _)| *known != label) {
                    texts.push((label, zebin.visa_text(f).into_owned()));
                }
            }
        }
        let mut ids = Vec::new();
        for (label, text) in &texts {
            ids.push(files.add_text(format!("{}:{label}", self.0.name), text.clone().into_bytes()));
        }
        let units: Vec<(&str, FileId)> =
            texts.iter().zip(&ids).map(|((_, text), id)| (text.as_str(), *id)).collect();
        let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
        let parsed = envisa_text::parse_units(&units, &options);
        if !parsed.complete {
            return Err(Error::diagnostics(parsed.diagnostics, files));
        }
        let verified = match verified(parsed.module, &parsed.files, platform, self.0.options.verify) {
            Ok(verified) => verified,
            Err(list) => return Err(Error::diagnostics(list, files)),
        };
        let texts = named(&verified, &parsed.files);
        Code::compiled(&verified, contents, metadata, platform, texts, (files, &self.0.options.sources))
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Module({:?})", self.0.name)
    }
}

/// The file of each function, by name.
fn named(module: &envisa_isa::Module, ids: &[FileId]) -> Vec<(String, FileId)> {
    module.objects.iter().map(|o| o.name.clone()).zip(ids.iter().copied()).collect()
}

fn compiled(device: &Device, name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Form, Error> {
    let here = |e: &dyn std::fmt::Display| Error::Module(format!("{name}: {e}"));
    let mut zebin = ZebinFile::parse(bytes).map_err(|e| here(&e))?;
    for text in &options.visa {
        zebin.add_visa(&text.text).map_err(|e| Error::Module(format!("{}: {e}", text.name)))?;
    }
    let family = family(&zebin).map_err(|e| here(&e))?;
    let (wanted, is) = (family.platform(), device.platform());
    // The two steppings run the same code.
    if wanted != is && (wanted, is) != (Platform::Pvcxt, Platform::Pvc) {
        let what = format!("is compiled for {}, the device is {}", family.name(), is.name());
        return Err(here(&what));
    }
    let missing = zebin.unresolved();
    if !missing.is_empty() {
        return Err(here(&format!("undefined: {}", missing.join(", "))));
    }
    let place = if options.variables_at_host_addresses { Place::HostAddress } else { Place::Anywhere };
    let data = ModuleData::load(device.0.memory(), &zebin, place).map_err(|e| here(&e))?;
    let allocations = data.allocations().iter().map(|id| Allocation::of(&device.0, *id));
    let allocations = allocations.collect::<Result<Vec<_>, Error>>()?;
    let local_variables = zebin.local_variables();
    let functions = Arc::new(Functions::of(zebin.spirv()));
    Ok(Form::Compiled(Box::new(Contents { zebin, data, allocations, local_variables, functions })))
}

fn binary(platform: Platform, name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Form, Error> {
    let mut files = Files::new();
    let id = files.add_binary(name, bytes.to_vec());
    match envisa_binary::read_with(bytes, &envisa_binary::ReadOptions::for_platform(platform)) {
        Ok(module) => {
            let ids = vec![id; module.objects.len()];
            written(platform, module, ids, files, options)
        }
        Err(e) => Err(Error::diagnostics(vec![e.to_diagnostic(id)], files)),
    }
}

fn text(platform: Platform, name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Form, Error> {
    let mut files = Files::new();
    let id = files.add_text(name, bytes.to_vec());
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            let at = e.valid_up_to() as u32;
            let d = Diagnostic::error("E0001", "the text is not UTF-8").primary(
                id,
                (at, at + 1),
                "this byte begins no character",
            );
            return Err(Error::diagnostics(vec![d], files));
        }
    };
    let parse = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
    let parsed = envisa_text::parse_units(&[(text, id)], &parse);
    if !parsed.complete {
        return Err(Error::diagnostics(parsed.diagnostics, files));
    }
    written(platform, parsed.module, parsed.files, files, options)
}

fn written(
    platform: Platform,
    mut module: envisa_isa::Module,
    ids: Vec<FileId>,
    files: Files,
    options: &LoadOptions,
) -> Result<Form, Error> {
    // A surface that is declared and no input is given its state as if it were one.
    for o in module.objects.iter_mut().filter(|o| o.kind == ObjectKind::Kernel) {
        let mut end = o.inputs.iter().map(|i| i.offset as i32 + i32::from(i.size)).max().unwrap_or(64);
        for k in 0..o.surfaces.len() as u32 {
            let id = u32::from(predefined::FIRST_SURFACE) + k;
            if o.inputs.iter().any(|i| i.kind & 7 == 2 && i.id == id) {
                continue;
            }
            let Ok(offset) = i16::try_from(end.max(64)) else { break };
            let span = o.surfaces[k as usize].span;
            o.inputs.push(envisa_isa::Input { kind: 2, id, offset, size: 4, span });
            end = i32::from(offset) + 4;
        }
    }
    match verified(module, &ids, platform, options.verify) {
        Ok(module) => Ok(Form::Written { module: Box::new(module), ids, files: Arc::new(files) }),
        Err(list) => Err(Error::diagnostics(list, files)),
    }
}

/// Verifies a module for a platform; errors come back as diagnostics.
fn verified(
    module: envisa_isa::Module,
    files: &[FileId],
    platform: Platform,
    verify: bool,
) -> Result<Verified, Vec<Diagnostic>> {
    let file = |object: usize| files.get(object).copied().unwrap_or_default();
    if verify {
        let options = envisa_verify::Options { platforms: Platforms::of(&[platform]), ..Default::default() };
        let (findings, verified) = envisa_verify::verify(module, &options);
        return verified.ok_or_else(|| findings.iter().map(|f| f.diagnostic(file(f.object))).collect());
    }
    Verified::assume(module).map_err(|defects| {
        defects
            .iter()
            .map(|d| {
                Diagnostic::error(d.code.to_string(), d.message.clone()).primary(file(d.object), d.span, "")
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, Config, Launch};
    use envisa_zebin::Section;

    /// A zebin with these sections of debug information: what is warned of. It runs all the same, under the checks too.
    fn warned(sections: &[(&str, &[u8])]) -> Vec<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vadd/vadd.zebin");
        let mut zebin = ZebinFile::parse(&std::fs::read(path).expect("the example")).expect("a zebin");
        for (name, data) in sections {
            zebin.elf.sections.push(Section::new(*name, 1, 0, *data));
        }
        let bytes = zebin.write().expect("what was read");
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24).threads(1).red_zones(true));
        let module = Module::load(&device, "vadd.zebin", Source::Zebin(&bytes)).expect("it loads");
        let ones: Vec<u8> = [1f32; 64].iter().flat_map(|x| x.to_le_bytes()).collect();
        let [a, b, c] = ["a", "b", "c"].map(|name| device.buffer_from(name, &ones).expect("memory"));
        let launch = Launch::range(&[64], &[64]).arg(0, &a).arg(1, &b).arg(2, &c).arg(3, Arg::from(64i32));
        let kernel = module.kernel("vadd").expect("its kernel");
        let outcome = device.run(&kernel, launch.check(true).hints(true)).expect("it is launched");
        assert!(outcome.fault.is_none() && outcome.findings.is_some_and(|f| f.is_empty()));
        assert_eq!(c.to_vec(), [2f32; 64].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        module.warnings()
    }

    #[test]
    fn debug_information_that_cannot_be_read_is_told() {
        assert_eq!(warned(&[]), [""; 0]);
        // A unit of one kind of entries without attributes, and the same in the next version.
        let (unit, kinds) = ([8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1], [1, 0x11, 0, 0, 0, 0]);
        assert_eq!(warned(&[(".debug_info", &unit), (".debug_abbrev", &kinds)]), [""; 0]);
        let mut version_5 = unit;
        version_5[4] = 5;
        let told = |info: &[u8], kinds: Option<&[u8]>, why: &str| {
            let mut sections = vec![(".debug_info", info)];
            sections.extend(kinds.map(|k| (".debug_abbrev", k)));
            let warnings = warned(&sections);
            let [warning] = &warnings[..] else { panic!("{why}: {warnings:?}") };
            assert!(warning.starts_with(&format!("debug information cannot be read: {why}")), "{warning}");
        };
        told(&version_5, Some(&kinds), "DWARF 5");
        told(&unit[..11], Some(&kinds), "a unit is cut off");
        told(&[0xff; 12], Some(&kinds), "a unit of 64-bit DWARF");
        told(&unit, Some(&[]), "");
        told(&unit, None, ".debug_abbrev is missing");
    }
}
