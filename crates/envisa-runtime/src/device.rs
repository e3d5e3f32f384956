//! The one place that knows envisa: modules, kernels and launches on a virtual GPU.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

pub use envisa::diag::unknown;
use envisa::diag::{Diagnostic, Files, TextOptions, render_json, render_text};
use envisa::isa::Platform;
use envisa::zebin::ze_info::{AddrSpace, ArgType, MemoryUsage, PayloadArgument};
use envisa::zebin::{DeviceFamily, ZebinFile};
pub use envisa::{Addressing, ChannelOrder, ChannelType, ImageFormat, ImageShape, Sampler, SourceText};
use envisa::{Arg, ArgKey, Config, Engine, Footprint, ImageDesc, LoadOptions, Source};

use crate::device_properties::Spec;
use crate::host_memory::{Backing, Region};
use crate::report::Reported;

/// A virtual GPU.
pub struct Machine {
    device: envisa::Device,
    /// Variables at program scope lie at addresses of the host.
    shared_variables: bool,
}

/// A compiled module.
pub struct Module {
    bytes: Arc<Vec<u8>>,
    name: String,
    /// Texts that it was compiled from, for findings to quote.
    sources: Vec<SourceText>,
    /// On its device, once a kernel was asked for.
    loaded: Mutex<Option<envisa::Module>>,
    /// Its kernels, in the order of the source.
    pub kernels: Vec<KernelInfo>,
    /// Symbols that it uses and nobody defines.
    pub undefined: Vec<String>,
    /// Bytes of its variables at program scope.
    pub global_bytes: u64,
    /// The program's own build, where this one is for checks or a debugger.
    own_build: Option<OwnBuild>,
    /// See [`Machine::unwritten`].
    unwritten: OnceLock<String>,
}

/// Most reads of a kernel that the log tells of.
const MOST_UNWRITTEN: usize = 4;

/// Compiles what a program would have without checks; `None` if that fails.
pub type Compile = Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>;

/// What a program is given as its binary.
struct OwnBuild {
    compile: Compile,
    made: OnceLock<Arc<Vec<u8>>>,
}

/// What is known of a kernel without loading it.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// What tells its module from others.
    pub id: u64,
    /// Its arguments.
    pub args: Vec<ArgInfo>,
    /// Work-items of a sub-group.
    pub simd: u32,
    /// Shared local memory that is fixed, in bytes.
    pub slm: u64,
    /// Private memory of a work-item, in bytes.
    pub private: u64,
    /// Registers spilled, in bytes.
    pub spill: u64,
    /// The size that groups must have.
    pub required_group: Option<[usize; 3]>,
    /// The size that sub-groups must have by the source; 0 if none.
    pub required_sub_group: u32,
    /// Attributes as the source has them.
    pub attributes: String,
}

impl KernelInfo {
    /// What reports call an argument.
    pub fn argument(&self, index: usize) -> String {
        match self.args.get(index).and_then(|a| a.source.as_ref()) {
            Some(source) if !source.name.is_empty() => format!("argument {index} (`{}`)", source.name),
            _ => format!("argument {index}"),
        }
    }

    /// What jobs call an argument: by its name, or by its index where it has none, as in SPIR-V.
    pub fn job_name(&self, index: usize) -> String {
        let source = self.args.get(index).and_then(|a| a.source.as_ref()).filter(|s| !s.name.is_empty());
        source.map_or_else(|| index.to_string(), |s| s.name.clone())
    }
}

/// Kinds of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgKind {
    /// A number or a structure.
    Value,
    /// A pointer to global or constant memory.
    Buffer,
    /// Shared local memory.
    Local,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct ArgInfo {
    /// What is passed.
    pub kind: ArgKind,
    /// Bytes of a value: those of its type, or that the kernel uses at least; 0 if not known.
    pub size: usize,
    /// The size is that of its type.
    pub exact: bool,
    /// Its name, type and qualifiers as the source has them, if they were kept.
    pub source: Option<SourceInfo>,
}

/// An argument as the source has it.
#[derive(Clone, Debug)]
pub struct SourceInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// `__global` and so on.
    pub address: String,
    /// `read_only` and so on.
    pub access: String,
    /// `const` and so on.
    pub qualifiers: String,
}

/// The data of a module, and the bytes of a variable in it.
pub type Variable = (Arc<Backing>, std::ops::Range<usize>);

/// A kernel, ready to be launched.
pub type Kernel = envisa::Kernel;

/// A value for an argument.
#[derive(Clone, Debug)]
pub enum Value {
    /// So many bytes of memory, from an offset of a backing on.
    Memory(Arc<Backing>, usize, usize),
    /// A pointer into shared memory: to an offset of a backing. The bytes before may be reached as well.
    Shared(Arc<Backing>, usize),
    /// No memory.
    Null,
    /// An address of shared memory.
    Pointer(usize),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// So many bytes of shared local memory.
    Local(usize),
    /// An image.
    Image(Box<ImageValue>),
    /// A sampler.
    Sampler(Sampler),
}

/// An image as kernels see it.
#[derive(Clone, Debug)]
pub struct ImageValue {
    /// Its dimensions.
    pub shape: ImageShape,
    /// Texels in x, y and z or layers.
    pub size: [u32; 3],
    /// Bytes from row to row.
    pub row_pitch: u32,
    /// Bytes from plane to plane.
    pub slice_pitch: u64,
    /// What a texel is.
    pub format: ImageFormat,
    /// The texels.
    pub texels: Region,
}

/// Sizes of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Dimensions: 1 to 3.
    pub dims: u32,
    /// First global id.
    pub offset: [u64; 3],
    /// Work-items.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u32; 3],
}

/// What a launch consists of.
pub struct Launch<'a> {
    /// The device's name.
    pub device: &'a str,
    /// The module.
    pub module: &'a [u8],
    /// The kernel.
    pub info: &'a KernelInfo,
    /// Sizes.
    pub range: &'a Range,
    /// Arguments.
    pub args: &'a [Value],
    /// Shared memory that it may reach by pointers in memory.
    pub shared: &'a [Arc<Backing>],
    /// Which arguments are buffers that kernels may not read, as the program said.
    pub unreadable: &'a [usize],
    /// What the program was built from, where that was OpenCL C, for captures.
    pub source: Option<Written<'a>>,
    /// All groups run at once: they may wait for each other. Such a launch is not checked.
    pub all_at_once: bool,
}

/// A program in OpenCL C, as the host program built it.
#[derive(Clone, Debug)]
pub struct Written<'a> {
    /// Its text.
    pub text: &'a str,
    /// Options of the build.
    pub options: String,
}

/// Addresses of memory, which are the host's too.
pub type Addresses = std::ops::Range<u64>;

/// In which order groups and threads run (`ENVISA_ORDER`).
fn order_of_environment() -> envisa::Order {
    static ORDER: std::sync::OnceLock<envisa::Order> = std::sync::OnceLock::new();
    *ORDER.get_or_init(|| match std::env::var("ENVISA_ORDER").map(|o| o.parse()) {
        Ok(Ok(order)) => order,
        Ok(Err(why)) => {
            crate::log::print_warning(&format!("ENVISA_ORDER: {why}"));
            envisa::Order::Forward
        }
        Err(_) => envisa::Order::Forward,
    })
}

/// Is a finding about the content of an argument?
fn is_in(f: &envisa::Finding, info: &KernelInfo, argument: usize) -> bool {
    let source = info.args.get(argument).and_then(|a| a.source.as_ref());
    let Some(name) = source.map(|s| s.name.as_str()).filter(|n| !n.is_empty()) else { return false };
    f.kind == envisa::FindingKind::UninitialisedMemory
        && f.subject
            .strip_prefix("buffer ")
            .and_then(|s| s.strip_prefix(name))
            .is_some_and(|s| s.starts_with(' '))
}

/// What a launch gave.
#[derive(Debug)]
pub struct Report {
    /// What the kernel printed.
    pub printed: String,
    /// The fault that ended it.
    pub fault: Option<Reported>,
    /// What checks found.
    pub findings: Vec<Reported>,
    /// What they did not look at.
    pub not_checked: Option<String>,
    /// Addresses that it read, and that it wrote, if that was looked at.
    pub footprint: Option<Footprint>,
    /// Addresses without content, of which findings tell how they were used.
    pub followed: Vec<Addresses>,
    /// Work-items of the range.
    pub work_items: u64,
    /// Time that it ran.
    pub time: Duration,
}

/// Why something cannot be loaded or launched.
#[derive(Debug)]
pub enum LaunchProblem {
    /// Memory is exhausted.
    Memory(String),
    /// The kernel is not supported, or the launch does not fit.
    Other(String),
}

impl std::fmt::Display for LaunchProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchProblem::Memory(s) | LaunchProblem::Other(s) => f.write_str(s),
        }
    }
}

impl From<envisa::Error> for LaunchProblem {
    fn from(e: envisa::Error) -> LaunchProblem {
        match e {
            envisa::Error::Memory(s) => LaunchProblem::Memory(s),
            envisa::Error::Diagnostics(d) => LaunchProblem::Other(render_diagnostics(&d.list, &d.files)),
            e => LaunchProblem::Other(e.to_string()),
        }
    }
}

/// Is it a file of the compiler's in which there is nothing to execute?
fn is_without_code(bytes: &[u8]) -> bool {
    let Ok(elf) = envisa::zebin::Elf::parse(bytes) else { return false };
    let has = |start| elf.sections.iter().any(|s| s.name.starts_with(start));
    (has(".note.intelgt") || has(".spv")) && !has(".text")
}

/// What an argument is by the pieces of the payload that are of it.
fn kind_of(pieces: &[&PayloadArgument], source: Option<&SourceInfo>) -> ArgKind {
    for p in pieces {
        match (p.arg_type, p.addrspace) {
            (ArgType::ArgByvalue, _) => return ArgKind::Value,
            (ArgType::ArgBypointer, Some(AddrSpace::Local)) => return ArgKind::Local,
            (ArgType::ArgBypointer, Some(AddrSpace::Image)) => return ArgKind::Image,
            (ArgType::ArgBypointer, Some(AddrSpace::Sampler)) => return ArgKind::Sampler,
            (ArgType::ArgBypointer, _) => return ArgKind::Buffer,
            _ => {}
        }
    }
    // Not used by the kernel: only the source tells.
    let Some(source) = source else { return ArgKind::Value };
    match source.address.as_str() {
        _ if source.type_name.starts_with("image") && source.type_name.ends_with("_t") => ArgKind::Image,
        _ if source.type_name == "sampler_t" => ArgKind::Sampler,
        "__local" => ArgKind::Local,
        "__global" | "__constant" if source.type_name.ends_with('*') => ArgKind::Buffer,
        _ => ArgKind::Value,
    }
}

impl Module {
    /// Reads a zebin that was compiled for a device. Of a text without kernels the compiler makes a file without metadata: a
    /// program of none.
    ///
    /// # Errors
    /// If it is none, is damaged, is for another device, or lacks its vISA text.
    pub fn load(spec: &Spec, name: &str, bytes: Vec<u8>, sources: Vec<SourceText>) -> Result<Module, String> {
        let zebin = match ZebinFile::parse(&bytes) {
            Ok(zebin) => zebin,
            Err(envisa::zebin::Error::NoZeInfo) if is_without_code(&bytes) => {
                return Ok(Module::of_kernels(name, bytes, sources, Vec::new()));
            }
            Err(e) => return Err(e.to_string()),
        };
        match zebin.notes.device() {
            Some(device) if device.to_string() == spec.name => {}
            Some(device) => return Err(format!("the binary is for {device}, not for {}", spec.name)),
            None => {
                return Err(format!(
                    "the binary's notes name no device that is known here, such as {}",
                    spec.name
                ));
            }
        }
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&bytes, &mut hasher);
        let id = std::hash::Hasher::finish(&hasher);
        let mut kernels = Vec::new();
        for kernel in zebin.kernels() {
            zebin.kernel_visa(&kernel.name).map_err(|e| e.to_string())?;
            kernels.push(describe(&zebin, kernel, id));
        }
        let global_bytes = zebin.data_sections().map(|d| d.size).sum();
        let undefined = zebin.unresolved().into_iter().map(str::to_owned).collect();
        Ok(Module { undefined, global_bytes, ..Module::of_kernels(name, bytes, sources, kernels) })
    }

    fn of_kernels(name: &str, bytes: Vec<u8>, sources: Vec<SourceText>, kernels: Vec<KernelInfo>) -> Module {
        Module {
            bytes: Arc::new(bytes),
            name: name.to_owned(),
            sources,
            kernels,
            undefined: Vec::new(),
            global_bytes: 0,
            own_build: None,
            unwritten: OnceLock::new(),
            loaded: Mutex::default(),
        }
    }

    /// The zebin that runs.
    pub fn bytes(&self) -> &Arc<Vec<u8>> {
        &self.bytes
    }

    /// The same, of another build than the program's own.
    pub(crate) fn with_own_build(self, compile: Compile) -> Module {
        Module { own_build: Some(OwnBuild { compile, made: OnceLock::new() }), ..self }
    }

    /// The zebin of the program's own build: it may keep it, and run it where nothing is looked for.
    pub fn binary(&self) -> &Arc<Vec<u8>> {
        let Some(own) = &self.own_build else { return &self.bytes };
        own.made.get_or_init(|| (own.compile)().map_or_else(|| Arc::clone(&self.bytes), Arc::new))
    }
}

fn describe(zebin: &ZebinFile, kernel: &envisa::zebin::Kernel, id: u64) -> KernelInfo {
    let found = zebin.ze_info.arguments(kernel);
    let count = found.iter().map(|a| a.index as usize + 1).max().unwrap_or(0);
    // An index that makes no sense is refused by the launch; here it must not take memory.
    let mut args =
        vec![ArgInfo { kind: ArgKind::Value, size: 0, exact: false, source: None }; count.min(4096)];
    for a in &found {
        let Some(slot) = args.get_mut(a.index as usize) else { continue };
        let mut declared = 0;
        slot.source = a.info.map(|i| {
            let (type_name, size) = i.type_and_size();
            declared = size.unwrap_or(0) as usize;
            SourceInfo {
                name: i.name.clone().unwrap_or_default(),
                type_name: type_name.to_owned(),
                address: i.address_qualifier.clone(),
                access: i.access_qualifier.clone(),
                qualifiers: i.type_qualifiers.clone(),
            }
        });
        slot.kind = kind_of(&a.payload, slot.source.as_ref());
        let values = || a.payload.iter().filter(|p| p.arg_type == ArgType::ArgByvalue);
        let start = |p: &PayloadArgument| p.source_offset.unwrap_or(0) as usize;
        let used = values().map(|p| start(p) + p.size as usize).max().unwrap_or(0);
        // A structure that others than OpenCL C pass is a pointer to it in SPIR-V, and its size that of a pointer: then parts
        // of it begin behind that. What is used counts whole quarters of registers, and may end behind the type.
        let type_name = slot.source.as_ref().map_or("", |s| &s.type_name);
        let whole = values().all(|p| start(p) < declared);
        slot.exact = declared > 0 && whole && !type_name.is_empty() && !type_name.ends_with('*');
        slot.size = if slot.exact { declared } else { used };
    }
    let env = &kernel.execution_env;
    let required_group = env.required_work_group_size.filter(|r| *r != [0; 3]);
    let user = &kernel.user_attributes;
    let mut attributes = Vec::new();
    if let Some([x, y, z]) = user.reqd_work_group_size.or(required_group) {
        attributes.push(format!("__attribute__((reqd_work_group_size({x}, {y}, {z})))"));
    }
    if let Some([x, y, z]) = user.work_group_size_hint {
        attributes.push(format!("__attribute__((work_group_size_hint({x}, {y}, {z})))"));
    }
    if let Some(size) = user.intel_reqd_sub_group_size {
        attributes.push(format!("__attribute__((intel_reqd_sub_group_size({size})))"));
    }
    if let Some(hint) = &user.vec_type_hint {
        attributes.push(format!("__attribute__((vec_type_hint({hint})))"));
    }
    // Older compilers say it of the memory only.
    let spaces = kernel.per_thread_memory_buffers.iter().filter(|b| b.usage == MemoryUsage::SpillFillSpace);
    let spilled = spaces.map(|b| u64::from(b.size)).sum::<u64>();
    KernelInfo {
        name: kernel.name.clone(),
        id,
        args,
        simd: env.simd_size,
        slm: u64::from(env.slm_size),
        private: u64::from(env.private_size),
        spill: u64::from(env.spill_size).max(spilled),
        required_group: required_group.map(|r| r.map(|n| n as usize)),
        required_sub_group: env.required_sub_group_size,
        attributes: attributes.join(" "),
    }
}

/// Threads that run kernels: `ENVISA_THREADS`, or as many as the host has.
fn thread_count() -> usize {
    static JOBS: OnceLock<usize> = OnceLock::new();
    *JOBS
        .get_or_init(|| std::env::var("ENVISA_THREADS").ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0))
}

/// What runs kernels: `ENVISA_ENGINE`.
fn engine_of_environment() -> Engine {
    Engine::from_environment().unwrap_or_else(|e| {
        crate::log::print_warning(&format!("ENVISA_ENGINE: {e}"));
        Engine::Auto
    })
}

fn platform(spec: &Spec) -> Platform {
    let device: DeviceFamily =
        spec.name.parse().expect("every device of the driver is one of the compiler's");
    device.platform()
}

impl Machine {
    /// A GPU with so much memory.
    pub fn new(spec: &'static Spec, memory: u64) -> Machine {
        let config = Config::new(platform(spec))
            .memory(memory)
            .threads(thread_count())
            .engine(engine_of_environment());
        Machine { device: envisa::Device::new(config), shared_variables: false }
    }

    /// The same, whose modules' variables at program scope have one address on the host and on the device.
    #[must_use]
    pub fn share_variables(self) -> Machine {
        Machine { shared_variables: true, ..self }
    }

    /// The module on the device: loaded once.
    fn loaded_module(&self, module: &Module) -> Result<envisa::Module, LaunchProblem> {
        let mut loaded = module.loaded.lock().unwrap();
        if let Some(loaded) = &*loaded {
            return Ok(loaded.clone());
        }
        let options = LoadOptions {
            sources: module.sources.clone(),
            variables_at_host_addresses: self.shared_variables,
            ..LoadOptions::default()
        };
        let source = Source::Zebin(&module.bytes);
        let made = envisa::Module::load_with(&self.device, &module.name, source, &options)?;
        *loaded = Some(made.clone());
        Ok(made)
    }

    /// Makes memory reachable for all kernels, by pointers in memory, too.
    ///
    /// # Errors
    /// If the device's memory is exhausted.
    pub fn make_reachable(&self, backing: &Arc<Backing>) -> Result<(), LaunchProblem> {
        backing.buffer_on(&self.device, 0..0)?;
        Ok(())
    }

    /// The address by which kernels of a module call a function of it that others can see; `None` if there is none.
    ///
    /// # Errors
    /// If the module cannot be loaded.
    pub fn function_address(&self, module: &Module, name: &str) -> Result<Option<u64>, LaunchProblem> {
        Ok(self.loaded_module(module)?.function_address(name))
    }

    /// The data of a module that has a variable of this name, and the variable's bytes in it; `None` if there is none.
    ///
    /// # Errors
    /// If the module cannot be loaded.
    pub fn variable(&self, module: &Module, name: &str) -> Result<Option<Variable>, LaunchProblem> {
        let Some((variable, data)) = self.loaded_module(module)?.variable(name) else { return Ok(None) };
        let start = (variable.address() - data.address()) as usize;
        let bytes = start..start + variable.len() as usize;
        Ok(Backing::of_buffer(data).map(|backing| (backing, bytes)))
    }

    /// Makes a kernel ready: done once for each.
    ///
    /// # Errors
    /// If there is no such kernel, or envisa cannot run it.
    pub fn kernel(&self, module: &Module, name: &str) -> Result<Kernel, LaunchProblem> {
        Ok(self.loaded_module(module)?.kernel(name)?)
    }

    /// What a module's kernels read of registers that nothing in it writes, in lines for its build log: mistakes of the
    /// compiler leave such reads. Of a kernel with images on a device without them, a line says that instead. A kernel that
    /// cannot be run for another reason has none. This takes time, and is done when it is asked for.
    pub fn unwritten<'m>(&self, module: &'m Module) -> &'m str {
        module.unwritten.get_or_init(|| {
            let mut lines = String::new();
            for kernel in module.kernels.iter().filter_map(|k| self.kernel(module, &k.name).ok()) {
                if let Some(message) = kernel.missing_image() {
                    lines.push_str(&format!("warning[W0825]: {message}\n"));
                    continue;
                }
                for read in kernel.unwritten().iter().take(MOST_UNWRITTEN) {
                    lines.push_str(&format!("warning[W0824]: {}\n", read.message(&kernel)));
                }
            }
            lines
        })
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// If sizes or arguments do not fit, or memory is exhausted. A fault of the kernel is in the report.
    pub fn launch(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<Report, LaunchProblem> {
        let Launch { info, range, args, shared, unreadable, all_at_once, .. } = *launch;
        // Memory is found by its address: what kernels reach by pointers must be there, nothing more.
        for backing in shared {
            backing.buffer_on(&self.device, 0..0)?;
        }
        let dims = range.dims as usize;
        let local = range.local.map(u64::from);
        let checking = crate::report::is_checking() && !all_at_once;
        let mut launch = envisa::Launch::range(&range.global[..dims], &local[..dims])
            .offset(&range.offset[..dims])
            .check(checking)
            .hints(checking && crate::report::wants_hints())
            .order(order_of_environment())
            .stray_register_reads(!checking)
            .footprint(checking)
            .rough_reads(crate::command_order::are_all_in_order())
            .all_groups_at_once(all_at_once);
        let (mut given, mut followed) = (Vec::with_capacity(args.len()), Vec::new());
        for (i, value) in args.iter().enumerate() {
            let memory = match value {
                Value::Memory(backing, offset, bytes) => Some((backing, *offset, *bytes)),
                Value::Shared(backing, offset) => Some((backing, *offset, backing.len() - *offset)),
                _ => None,
            };
            if let Some((backing, offset, bytes)) = memory.filter(|_| checking) {
                let start = (backing.address() + offset) as u64;
                let all = start..start + bytes as u64;
                // A kernel may not count on what is in there, whoever wrote it.
                let holes = if unreadable.contains(&i) { vec![all] } else { backing.unwritten_parts(&all) };
                followed.extend(holes.iter().cloned());
                launch = launch.fresh_ranges(holes);
                if backing.has_records() {
                    launch = launch.records(Some(start..start + bytes as u64));
                }
            }
            given.push((ArgKey::Index(i as u32), self.argument_value(value, info.args.get(i))?));
        }
        if checking {
            note_records(info, args);
        }
        let outcome = self.device.run(kernel, launch.args(given))?;
        let wrong = outcome.fault.is_some() || outcome.findings.as_ref().is_some_and(|f| !f.is_empty());
        let page = match wrong && crate::report::wants_page() {
            true => page(kernel, info, args, outcome.footprint.as_ref()),
            false => serde_json::Value::Null,
        };
        let page = Arc::new(page);
        let told = |code: &str, place: &envisa::Place, other: u32, d: Diagnostic, data| Reported {
            page: Arc::clone(&page),
            key: format!(
                "{code}:{}:{}:{}:{other}:{:x}",
                place.kernel, place.function, place.instruction, info.id
            ),
            diagnostic: render_json(kernel.files(), std::slice::from_ref(&d)),
            text: render_diagnostics(&[d], kernel.files()),
            data,
        };
        let fault = outcome.fault.map(|f| {
            let data = serde_json::to_value(&*f).unwrap_or_default();
            told(f.code, &f.place, 0, f.diagnostic(), data)
        });
        let found = outcome.findings.unwrap_or_default();
        let findings = found.iter().map(|f| {
            let data = serde_json::to_value(f).unwrap_or_default();
            let other = f.race.as_ref().map_or(0, |r| r.other.instruction);
            let mut d = f.diagnostic();
            if unreadable.iter().any(|i| is_in(f, info, *i)) {
                let said = d.message.replace("which nothing has written", "which was made for writing only");
                d.message = said.into();
            }
            told(f.code, &f.place, other, d, data)
        });
        let findings = findings.collect();
        Ok(Report {
            printed: outcome.printed,
            fault,
            findings,
            not_checked: match all_at_once && crate::report::is_checking() {
                true => Some("its groups run all at once, which is not checked".into()),
                false => outcome.not_checked,
            },
            footprint: outcome.footprint,
            followed,
            work_items: outcome.work_items,
            time: outcome.time,
        })
    }

    fn argument_value(&self, value: &Value, about: Option<&ArgInfo>) -> Result<Arg, LaunchProblem> {
        Ok(match value {
            Value::Memory(backing, offset, bytes) => {
                let end = backing.surface_end(*offset + *bytes);
                Arg::Buffer(backing.buffer_on(&self.device, *offset..end)?)
            }
            Value::Shared(backing, offset) => {
                Arg::Within(backing.buffer_on(&self.device, *offset..backing.len())?)
            }
            Value::Null => Arg::Null,
            Value::Pointer(address) => {
                let text = format!("an argument points to {address:#x}, which is not shared memory");
                return Err(LaunchProblem::Other(text));
            }
            Value::Bytes(bytes) => {
                let size = about.map_or(0, |a| a.size);
                let most = if size == 0 { bytes.len() } else { size.min(bytes.len()) };
                Arg::Bytes(bytes[..most].to_vec())
            }
            Value::Local(bytes) => Arg::Local(*bytes as u64),
            Value::Image(image) => {
                let desc = image_desc(image);
                let Some(backing) = image.texels.backing() else {
                    return Err(LaunchProblem::Other("the image has no memory".into()));
                };
                let offset = image.texels.address() - backing.address();
                let buffer = backing.buffer_on(&self.device, offset..offset + image.texels.len())?;
                Arg::Image(self.device.image(&desc, &buffer)?)
            }
            Value::Sampler(s) => Arg::Sampler(*s),
        })
    }
}

/// An image as envisa describes it.
/// What a page needs of a launch.
fn page(
    kernel: &Kernel,
    info: &KernelInfo,
    args: &[Value],
    footprint: Option<&Footprint>,
) -> serde_json::Value {
    let buffers = args.iter().enumerate().filter_map(|(i, value)| {
        let source = info.args.get(i).and_then(|a| a.source.as_ref());
        let name = source.map_or_else(|| format!("argument {i}"), |s| format!("buffer {}", s.name));
        match value {
            Value::Memory(backing, offset, bytes) => Some((name, backing, *offset, *bytes)),
            Value::Shared(backing, offset) => Some((name, backing, *offset, backing.len() - *offset)),
            _ => None,
        }
    });
    crate::report_page::page(kernel.files(), buffers, footprint)
}

fn image_desc(image: &ImageValue) -> ImageDesc {
    let [width, height, depth] = image.size;
    ImageDesc {
        shape: image.shape,
        width,
        height,
        depth,
        samples: 1,
        levels: 1,
        format: image.format,
        row_pitch: image.row_pitch,
        slice_pitch: image.slice_pitch,
    }
}

/// A format by the numbers of channel order and data type that OpenCL gives them; `None` if the machine does not know it.
pub fn image_format(order: u32, channel: u32) -> Option<ImageFormat> {
    ImageFormat::new(ChannelOrder::from_cl(order)?, ChannelType::from_cl(channel)?)
}

/// A texel of a colour, which is four floats, ints or unsigned ints by the data type.
pub fn texel(format: ImageFormat, colour: [u32; 4]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; format.texel_bytes()];
    format.encode(colour, &mut bytes).then_some(bytes)
}

fn render_diagnostics(diagnostics: &[Diagnostic], files: &Files) -> String {
    render_text(files, diagnostics, &TextOptions::default())
}

/// The SPIR-V that a zebin was compiled from, if it was kept.
pub fn spirv_of(zebin: &[u8]) -> Option<Vec<u8>> {
    ZebinFile::parse(zebin).ok()?.spirv().map(<[u8]>::to_vec)
}

/// Notes what later launches may find structures in: what this one is given as such, or may copy them to.
fn note_records(info: &KernelInfo, args: &[Value]) {
    let memory = |value: &'_ Value| match value {
        Value::Memory(backing, ..) | Value::Shared(backing, _) => Some(Arc::clone(backing)),
        _ => None,
    };
    let is_record = |arg: &ArgInfo| {
        let ty = arg.source.as_ref().map_or("", |s| s.type_name.as_str());
        ty.ends_with('*') && ty != "void*" && envisa::sanitize::pointed_bytes(ty).is_none()
    };
    let all: Vec<Arc<Backing>> = args.iter().filter_map(memory).collect();
    if info.args.iter().any(is_record) || all.iter().any(|backing| backing.has_records()) {
        all.iter().for_each(|backing| backing.note_records());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_properties::SPECS;

    #[test]
    fn specs_are_of_known_devices() {
        let mut names: Vec<&str> = SPECS.iter().map(|s| s.name).collect();
        names.sort_unstable();
        assert_eq!(names, envisa::OPENCL_DEVICES.map(DeviceFamily::name));
        for spec in SPECS {
            assert_eq!(spec.slm, envisa::isa::limits::shared_local_memory(platform(spec)), "{}", spec.name);
        }
    }
}
