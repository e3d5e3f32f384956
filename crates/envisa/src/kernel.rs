//! Kernels, and what is known about them.

use crate::device::Device;
use crate::error::Error;
use crate::fault::Place;
use crate::launch::ArgKey;
use crate::module::{Contents, LoadOptions, Module};
use crate::source::{Functions, Quoted, SourceText};
use envisa_diag::{Diagnostic, FileId, Files};
use envisa_interp::Executable;
use envisa_isa::predefined::var;
use envisa_isa::{ObjectKind, Platform, Type};
use envisa_lower::analysis::{IdPlaces, multiplies_ids, takes_global_ids_alone};
use envisa_lower::{InputClass, InputSlot, LowerError, Message, Program, Touched};
use envisa_machine::ContentionHistory;
use envisa_machine::dispatch::{MAX_GROUP_ITEMS, MAX_GROUP_THREADS, PayloadLayout, RecentLaunches};
use envisa_machine::{Linked, ModuleData};
use envisa_sanitize::ProgramFacts;
use envisa_verify::Verified;
use envisa_zebin::dwarf::LocalVariable;
use envisa_zebin::ze_info::{self, AddrMode, AddrSpace, AllocationType, ArgInfo, ArgType, MemoryUsage};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A kernel of a module, which it keeps alive. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) module: Module,
    pub(crate) code: Arc<Code>,
}

/// An argument: of compiled kernels as in the source, of hand-written ones an `.input` or a surface.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Argument {
    /// Its index.
    pub index: u32,
    /// Its name; the index where the compiler kept none.
    pub name: String,
    /// Its type in the source (`float*`, `uint4`), or the vISA type; empty where it is not known.
    pub type_name: String,
    /// What it takes.
    pub kind: ArgumentKind,
    /// `__global`, `__local`, `__constant`, `__private`; empty where it is not known.
    pub address_qualifier: String,
    /// `NONE`, `read_only` and so on; empty where it is not known.
    pub access_qualifier: String,
    /// `NONE`, or any of `const`, `restrict`, `volatile`, `pipe`; empty where it is not known.
    pub type_qualifiers: String,
}

/// What an argument takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A value.
    Value {
        /// Its bytes in the source; 0 where that is not known.
        bytes: u32,
        /// Its bytes in the payload, there rounded up to 4; 0 where that is not known.
        payload_bytes: u32,
    },
    /// The address of a buffer, or null.
    Buffer,
    /// Shared local memory.
    Local,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// A general input of hand-written code: at most so many bytes, or the address of a buffer.
    Input {
        /// Its bytes.
        bytes: u32,
    },
    /// A surface of hand-written code: a buffer or an image.
    Surface,
    /// Nothing: the kernel does not use it.
    Unused,
}

/// What a kernel asks for. Sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Attributes {
    /// Channels of a thread: work-items of a sub-group.
    pub simd: u32,
    /// Registers of a thread; 0 where that is not known.
    pub registers: u32,
    /// The only group size it takes.
    pub required_group_size: Option<[u32; 3]>,
    /// The group size that its author had in mind.
    pub group_size_hint: Option<[u32; 3]>,
    /// The sub-group size its author demanded.
    pub required_sub_group_size: Option<u32>,
    /// The type that its author hinted at for vectorisation.
    pub vec_type_hint: Option<String>,
    /// Most work-items of a group.
    pub max_group_items: u64,
    /// Shared local memory of a group, without that of arguments.
    pub local_memory: u64,
    /// Private memory of a work-item.
    pub private_memory: u64,
    /// Memory of a thread for spilled registers.
    pub spill_memory: u64,
    /// Its groups wait at barriers.
    pub barriers: bool,
    /// It prints.
    pub prints: bool,
}

/// A variable of a kernel's vISA.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Variable {
    /// Its name, as declared.
    pub name: String,
    /// Type of its elements.
    pub ty: Type,
    /// Number of elements.
    pub elements: u16,
}

/// A kernel's program and what its launches and reports need.
pub(crate) struct Code {
    pub name: String,
    pub executable: Executable,
    pub linked: Linked,
    pub arguments: Vec<Argument>,
    /// What reports of launches call buffers and images that are given as them.
    pub argument_names: Arc<[String]>,
    pub attributes: Attributes,
    pub variables: Vec<Variable>,
    /// Files of the kernel's and the functions' texts, by function name.
    pub texts: Vec<(String, FileId)>,
    pub files: Arc<Files>,
    /// The file of each of the program's sources, where its text was given.
    pub sources: Vec<Option<Quoted>>,
    /// Of compiled kernels.
    pub metadata: Option<Metadata>,
    /// Launches that may come again.
    pub remembered: RecentLaunches,
    /// What launches found out about how to spread them.
    pub learnt: Arc<ContentionHistory>,
    /// What checks know of the program, once one was launched with them.
    facts: OnceLock<Arc<ProgramFacts>>,
    /// It can run in rows, once it was asked.
    runs_in_rows: OnceLock<bool>,
}

/// What is known of the variables that a kernel declares in shared local memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalVariables {
    /// It declares none. (Hand-written code has none that are apart.)
    None,
    /// It declares some, and where they lie is not known: that is in debug information.
    Unknown,
    /// Where they lie is known, and accesses are held against it.
    Known,
}

/// What a compiled kernel's launches need.
pub(crate) struct Metadata {
    pub kernel: ze_info::Kernel,
    /// The end of the last input in the register image.
    pub least_image: u32,
    pub const_base: u64,
    pub global_base: u64,
    /// The last groups of a range may be smaller.
    pub partial_groups: bool,
    /// What it declares in shared local memory, where that is known.
    pub local_variables: Vec<LocalVariable>,
    /// The functions of the source.
    pub functions: Arc<Functions>,
    /// The addresses and the names of the program's variables.
    pub variables: Vec<(Range<u64>, String)>,
}

/// The addresses and the names of the program's variables.
fn program_variables(data: &ModuleData) -> Vec<(Range<u64>, String)> {
    let range = |(name, address): (&String, &u64)| {
        let bytes = data.variable(name)?.bytes.clone();
        Some((*address..address.checked_add(bytes.end - bytes.start)?, name.clone()))
    };
    data.symbols.iter().filter_map(range).collect()
}

/// Metadata is foreign: greater indices of arguments are not taken at their word.
const MAX_ARGUMENTS: u32 = 4096;

/// A read of registers that no instruction of the kernel writes: its compiler forgot to compute something.
#[derive(Clone, Debug)]
pub struct Unwritten {
    /// The instruction that reads.
    pub place: Place,
    /// How many bytes the read spans.
    pub bytes: u32,
}

impl Unwritten {
    /// In a sentence, with the line of the source where it is known.
    pub fn message(&self, kernel: &Kernel) -> String {
        let line = self.place.source.as_ref().map_or(String::new(), |l| format!("{}:{}: ", l.file, l.line));
        let written = self.place.written(&kernel.code).unwrap_or_default();
        let written = written.split("///").next().unwrap_or_default().trim();
        format!(
            "{line}in kernel `{}` `{written}` reads {} bytes of registers that nothing writes: its result is undefined",
            self.place.kernel, self.bytes
        )
    }
}

impl Kernel {
    /// Reads of registers that no instruction of the kernel and its functions writes, and that are not inputs.
    pub fn unwritten(&self) -> Vec<Unwritten> {
        self.code.unwritten()
    }
}

impl Kernel {
    /// Its native code as text: x86 with the instructions that it is of, the lines of the source that these are of where
    /// they are known, and why any is left to the interpreter.
    ///
    /// # Errors
    /// Why there is none.
    pub fn native_listing(&self) -> Result<String, String> {
        crate::engine_choice::native_listing(&self.code)
    }

    /// Makes its native code anew, and tells what that took.
    ///
    /// # Errors
    /// Why there is none: what the code has that none is made of, or that it is more than time and memory are given for.
    pub fn make_native(&self) -> Result<crate::engine_choice::NativeCode, String> {
        crate::engine_choice::make_native_code(&self.code)
    }

    /// What is known of the variables that it declares in shared local memory.
    pub fn local_variables(&self) -> LocalVariables {
        match &self.code.metadata {
            Some(m) if m.kernel.execution_env.slm_size == 0 => LocalVariables::None,
            Some(m) if m.local_variables.is_empty() => LocalVariables::Unknown,
            Some(_) => LocalVariables::Known,
            None => LocalVariables::None,
        }
    }

    /// May what it does depend on the order in which its threads run, although nothing races? Some instruction gives them
    /// what an atomic found.
    pub fn depends_on_order(&self) -> bool {
        self.code.program().messages().iter().any(|m| match m {
            Message::Atomic(a) => a.dst.is_some(),
            Message::TypedAtomic(a) => a.dst.is_some(),
            _ => false,
        })
    }

    /// Can native code run it, on this host?
    pub fn is_native(&self) -> bool {
        crate::engine_choice::can_run(&self.code.executable)
    }

    /// Its module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.module.device()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.code.name
    }

    /// Was it compiled, rather than written by hand?
    pub fn is_compiled(&self) -> bool {
        self.code.metadata.is_some()
    }

    /// Takes it an image, where the device has none? A sentence that says so: the compiler leaves out all accesses to images
    /// there, so that registers are read that nothing writes, and no launch runs it.
    pub fn missing_image(&self) -> Option<String> {
        let image = self.arguments().iter().find(|a| a.kind == ArgumentKind::Image)?;
        (!self.device().caps().images).then(|| {
            format!(
                "kernel `{}` takes an image (argument `{}`), but the device has no images: the compiler leaves out all accesses to it",
                self.name(),
                image.name
            )
        })
    }

    /// How many dimensions of the range it looks at: the last one whose local or group ids an instruction reads. `None` of
    /// hand-written code.
    pub fn dimensions(&self) -> Option<u32> {
        let kernel = &self.code.metadata.as_ref()?.kernel;
        let ids = kernel.per_thread_payload_arguments.iter().find(|a| a.arg_type == ArgType::LocalId);
        let (before, bytes) = ids.map_or((0, 0), |a| (u64::from(a.offset), u64::from(a.size)));
        let program = self.code.program();
        let reads = |is_id: &dyn Fn(&Touched, u32) -> bool| {
            program.code().iter().any(|inst| {
                let mut found = false;
                inst.reads(program.parts(), &mut |t| found |= is_id(&t, inst.channels.into()));
                found
            })
        };
        // Behind r0 each dimension has a block of rows, if the kernel has local ids.
        let block = bytes / 3;
        let rows = |d: u32| {
            let first = u64::from(program.platform().grf_bytes()) + before + u64::from(d) * block;
            program.inputs().iter().filter(move |i| (first..first + block).contains(&i.image.into()))
        };
        let r0 = program.registers().predefined[var::R0 as usize];
        let is_read = |d: &u32| {
            // A group's id is a dword of r0; instructions that copy all of r0 do not count.
            let group = r0 + 20 + 4 * d;
            let group_id = |t: &Touched, _| t.channel(0) == Some(group..group + 4);
            let local_ids = |t: &Touched, channels: u32| {
                let read = |i: &InputSlot| {
                    t.range(channels).is_some_and(|r| r.start < i.offset + i.bytes && i.offset < r.end)
                };
                rows(*d).any(read)
            };
            reads(&group_id) || reads(&local_ids)
        };
        Some([2, 1].into_iter().find(is_read).map_or(1, |d| d + 1))
    }

    /// Its arguments, by index.
    pub fn arguments(&self) -> &[Argument] {
        &self.code.arguments
    }

    /// An argument by its name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments().iter().find(|a| a.name == name)
    }

    /// The argument that a key names.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::Launch`]: there is none.
    pub fn find(&self, key: &ArgKey) -> Result<&Argument, Error> {
        crate::bound_arguments::find(&self.code, key).map(|i| &self.code.arguments[i])
    }

    /// Says which arguments would be missing from a launch that gives these.
    ///
    /// # Errors
    /// [`Error::Launch`].
    pub fn check_given(&self, keys: &[ArgKey]) -> Result<(), Error> {
        let mut given = vec![false; self.arguments().len()];
        if !self.is_compiled() {
            // What lies in r0 is the machine's.
            for (given, input) in given.iter_mut().zip(self.code.program().inputs()) {
                *given = input.image < 32;
            }
        }
        for key in keys {
            // Hand-written code is also given what is none of its inputs: surfaces and samplers by number.
            if self.is_compiled() || matches!(key, ArgKey::Name(_) | ArgKey::Index(_)) {
                given[crate::bound_arguments::find(&self.code, key)?] = true;
            }
        }
        crate::bound_arguments::check_given(self.arguments(), &given)
    }

    /// What it asks for.
    pub fn attributes(&self) -> &Attributes {
        &self.code.attributes
    }

    /// The variables of its vISA.
    pub fn variables(&self) -> &[Variable] {
        &self.code.variables
    }

    /// A variable by its name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().iter().find(|v| v.name == name)
    }

    /// Number of its instructions, those of the functions that it calls among them.
    pub fn instructions(&self) -> usize {
        self.code.program().code().len()
    }

    /// The texts that faults and findings point into.
    pub fn files(&self) -> &Arc<Files> {
        &self.code.files
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({:?} of {:?})", self.name(), self.module.name())
    }
}

/// What is known of a kernel besides its program.
struct Described {
    arguments: Vec<Argument>,
    attributes: Attributes,
    variables: Vec<Variable>,
    metadata: Option<Metadata>,
}

impl Code {
    /// Of a compiled kernel.
    pub(crate) fn compiled(
        module: &Verified,
        contents: &Contents,
        metadata: &ze_info::Kernel,
        platform: Platform,
        texts: Vec<(String, FileId)>,
        (files, given): (Files, &[SourceText]),
    ) -> Result<Code, Error> {
        let Contents { zebin, data, local_variables, functions, .. } = contents;
        // Nothing depends on them but what reports call memory, and checks that say so: see `Module::warnings`.
        let local_variables = local_variables.as_ref().ok().and_then(|all| all.get(&metadata.name));
        // A thread of vector-compute code is one work-item, with all channels.
        let simd = match metadata.execution_env.simd_size {
            1 => 32,
            simd => simd,
        };
        let dummy = crate::run::dummy_local_ids(platform);
        let payload = PayloadLayout::new(metadata, platform.grf_bytes(), dummy);
        let private = payload.ok().and_then(|layout| layout.private_memory(metadata));
        let options = envisa_lower::Options { platform, simd: Some(simd), private };
        let program = lowered(module, &metadata.name, &options, &texts, &files)?;
        let launch = Metadata {
            kernel: metadata.clone(),
            least_image: program.inputs().iter().map(|i| i.image.saturating_add(i.bytes)).max().unwrap_or(0),
            partial_groups: zebin.allows_partial_groups(),
            local_variables: local_variables.cloned().unwrap_or_default(),
            functions: Arc::clone(functions),
            variables: program_variables(data),
            const_base: data.const_base,
            global_base: data.global_base,
        };
        let described = Described {
            arguments: arguments(metadata, zebin.ze_info.args_info(&metadata.name)),
            attributes: attributes(metadata, &program),
            variables: variables(module, program.name()),
            metadata: Some(launch),
        };
        Code::new(program, described, data, texts, (files, given))
    }

    /// Of a kernel written by hand.
    pub(crate) fn written(
        module: &Verified,
        name: &str,
        platform: Platform,
        options: &LoadOptions,
        texts: Vec<(String, FileId)>,
        files: Arc<Files>,
    ) -> Result<Code, Error> {
        let given = &options.sources;
        let options = envisa_lower::Options { platform, simd: options.simd, private: None };
        let program = lowered(module, name, &options, &texts, &files)?;
        let variables = variables(module, program.name());
        let arguments = (0..)
            .zip(program.inputs())
            .map(|(index, input)| {
                let (kind, type_name) = match input.class {
                    InputClass::General => {
                        let declared = variables.iter().find(|v| v.name == input.name);
                        let ty = declared.map_or(String::new(), |v| v.ty.name().to_owned());
                        (ArgumentKind::Input { bytes: input.bytes }, ty)
                    }
                    InputClass::Surface => (ArgumentKind::Surface, "surface".to_owned()),
                    InputClass::Sampler => (ArgumentKind::Sampler, "sampler".to_owned()),
                };
                Argument { index, name: input.name.clone(), type_name, kind, ..Argument::unknown(index) }
            })
            .collect();
        let attributes = Attributes {
            simd: program.simd(),
            max_group_items: u64::from(MAX_GROUP_THREADS) * u64::from(program.simd()),
            barriers: program.has_barrier(),
            ..Attributes::default()
        };
        let described = Described { arguments, attributes, variables, metadata: None };
        let files = Arc::unwrap_or_clone(files);
        Code::new(program, described, &ModuleData::default(), texts, (files, given))
    }

    /// Do the work-items of a compiled kernel depend on their global ids alone, and do neighbours access neighbouring memory?
    pub(crate) fn accesses_neighbouring_memory(&self) -> bool {
        *self.runs_in_rows.get_or_init(|| {
            let along = self.id_order()[0].into();
            let far = |at: IdPlaces| multiplies_ids(self.executable.optimized().parts(), &at, along);
            self.takes_global_ids_alone() && !self.id_places().is_some_and(far)
        })
    }

    /// Do the work-items of a compiled kernel depend on their global ids alone?
    pub(crate) fn takes_global_ids_alone(&self) -> bool {
        let Some(kernel) = self.metadata.as_ref().map(|m| &m.kernel) else { return false };
        let any_size = kernel.execution_env.required_work_group_size.is_none_or(|size| size == [0; 3]);
        let alone = |at: IdPlaces| takes_global_ids_alone(self.executable.optimized().parts(), &at);
        any_size && self.id_places().is_some_and(alone)
    }

    /// Where a compiled kernel is told of groups.
    fn id_places(&self) -> Option<IdPlaces> {
        let kernel = self.metadata.as_ref().map(|m| &m.kernel)?;
        let program = self.executable.optimized();
        let dummy = crate::run::dummy_local_ids(program.platform());
        PayloadLayout::new(kernel, program.grf_bytes(), dummy).ok().map(|layout| layout.id_places(kernel))
    }

    /// The order in which a compiled kernel's local ids run, fastest first.
    pub(crate) fn id_order(&self) -> [u8; 3] {
        let env = self.metadata.as_ref().map(|m| &m.kernel.execution_env);
        match env.map_or([0; 3], |e| e.work_group_walk_order_dimensions) {
            [0, 0, 0] => [0, 1, 2],
            dimensions => dimensions.map(|d| d.min(2) as u8),
        }
    }

    /// Of a program and what is known of its kernel; `given` are the texts of sources.
    fn new(
        program: Program,
        described: Described,
        data: &ModuleData,
        texts: Vec<(String, FileId)>,
        (mut files, given): (Files, &[SourceText]),
    ) -> Result<Code, Error> {
        let Described { arguments, attributes, variables, metadata } = described;
        let sources = crate::source::resolve(program.source_files(), given, &mut files);
        let linked = Linked::new(&program, data);
        let name = program.name().to_owned();
        let executable = Executable::new(program).map_err(|e| Error::Module(e.to_string()))?;
        let files = Arc::new(files);
        let remembered = RecentLaunches::new(executable.optimized());
        Ok(Code {
            name,
            executable,
            linked,
            argument_names: arguments.iter().map(Argument::of_memory).collect(),
            arguments,
            attributes,
            variables,
            texts,
            files,
            sources,
            metadata,
            remembered,
            learnt: Arc::default(),
            facts: OnceLock::new(),
            runs_in_rows: OnceLock::new(),
        })
    }

    /// See [`Kernel::unwritten`].
    pub(crate) fn unwritten(&self) -> Vec<Unwritten> {
        let program = self.program();
        let of = |u: &envisa_lower::analysis::Unwritten| {
            let inst = program.code().get(u.pc as usize)?;
            let function = program.functions().get(usize::from(inst.function))?;
            let place = Place::new(self, &function.name, inst.source, inst.span);
            Some(Unwritten { place, bytes: u.bytes })
        };
        envisa_lower::analysis::unwritten(program).iter().filter_map(of).collect()
    }

    /// What checks know of the program.
    pub(crate) fn facts(&self) -> Arc<ProgramFacts> {
        Arc::clone(self.facts.get_or_init(|| Arc::new(ProgramFacts::of(self.program(), false))))
    }

    pub(crate) fn program(&self) -> &Program {
        self.executable.program()
    }

    /// The file of a function.
    pub(crate) fn file_of(&self, function: &str) -> FileId {
        file_of(&self.texts, function)
    }
}

fn file_of(texts: &[(String, FileId)], function: &str) -> FileId {
    texts.iter().find(|(name, _)| name == function).or(texts.first()).map_or(FileId(0), |t| t.1)
}

/// Lowers a kernel; what lowering refuses is said at its place where it has one.
fn lowered(
    module: &Verified,
    name: &str,
    options: &envisa_lower::Options,
    texts: &[(String, FileId)],
    files: &Files,
) -> Result<Program, Error> {
    envisa_lower::lower(module, name, options).map_err(|e| match e {
        LowerError::Malformed { function, span, message, .. } => {
            let file = file_of(texts, &function);
            let d = Diagnostic::error("E0700", format!("cannot be run: {message}")).primary(file, span, "");
            Error::Diagnostics(crate::error::Diagnostics { list: vec![d], files: Arc::new(files.clone()) })
        }
        LowerError::NoKernel { name, kernels } => Error::NoKernel { name, available: kernels },
        e @ LowerError::TooLarge { .. } => Error::Unsupported(e.to_string()),
        e => Error::Module(e.to_string()),
    })
}

fn variables(module: &Verified, kernel: &str) -> Vec<Variable> {
    let object = module.objects.iter().find(|o| o.kind == ObjectKind::Kernel && o.name == kernel);
    let Some(o) = object else { return Vec::new() };
    let name = |v: &envisa_isa::GeneralVar| o.strings.get(v.name).unwrap_or("").to_owned();
    o.vars.iter().map(|v| Variable { name: name(v), ty: v.ty, elements: v.elems }).collect()
}

impl Argument {
    fn unknown(index: u32) -> Argument {
        Argument {
            index,
            name: index.to_string(),
            type_name: String::new(),
            kind: ArgumentKind::Unused,
            address_qualifier: String::new(),
            access_qualifier: String::new(),
            type_qualifiers: String::new(),
        }
    }

    /// What reports call a buffer or image that is given as it and has no name of its own.
    fn of_memory(&self) -> String {
        let what = if self.kind == ArgumentKind::Image { "image" } else { "buffer" };
        format!("{what} {}", self.name)
    }

    /// ` (float*)`, or nothing where the type is not known.
    pub(crate) fn of_type(&self) -> String {
        if self.type_name.is_empty() { String::new() } else { format!(" ({})", self.type_name) }
    }
}

/// The arguments that metadata knows of.
fn arguments(kernel: &ze_info::Kernel, infos: &[ArgInfo]) -> Vec<Argument> {
    let named = infos.iter().map(|a| a.index);
    let paid = kernel.payload_arguments.iter().filter_map(|p| p.arg_index);
    let bound = kernel.binding_table_indices.iter().map(|b| b.arg_index);
    let last = named.chain(paid).chain(bound).filter(|i| *i < MAX_ARGUMENTS).max();
    let one = |index: u32| {
        let mut argument = Argument::unknown(index);
        let info = infos.iter().find(|a| a.index == index);
        if let Some(info) = info {
            // SPIR-V need not have names.
            if let Some(name) = info.name.as_ref().filter(|n| !n.is_empty()) {
                argument.name.clone_from(name);
            }
            info.type_and_size().0.clone_into(&mut argument.type_name);
            argument.address_qualifier.clone_from(&info.address_qualifier);
            argument.access_qualifier.clone_from(&info.access_qualifier);
            argument.type_qualifiers.clone_from(&info.type_qualifiers);
        }
        argument.kind = kind(kernel, index, info);
        argument
    };
    last.map_or(Vec::new(), |last| (0..=last).map(one).collect())
}

/// What metadata says of an argument.
fn kind(kernel: &ze_info::Kernel, index: u32, info: Option<&ArgInfo>) -> ArgumentKind {
    let (ty, stated) = info.map_or(("", None), ArgInfo::type_and_size);
    if info.is_some_and(|a| a.address_qualifier == "__local") {
        return ArgumentKind::Local;
    }
    if ty.ends_with('*') {
        return ArgumentKind::Buffer;
    }
    if ty.starts_with("image") {
        return ArgumentKind::Image;
    }
    if ty == "sampler_t" {
        return ArgumentKind::Sampler;
    }
    let mut payload_bytes = 0;
    for p in kernel.payload_arguments.iter().filter(|p| p.arg_index == Some(index)) {
        match (p.arg_type, p.addrmode, p.addrspace) {
            (ArgType::ArgByvalue, ..) => {
                payload_bytes = payload_bytes.max(p.source_offset.unwrap_or(0).saturating_add(p.size));
            }
            (ArgType::ArgBypointer, Some(AddrMode::Slm), _) => return ArgumentKind::Local,
            (ArgType::ArgBypointer, _, Some(AddrSpace::Image)) => return ArgumentKind::Image,
            (ArgType::ArgBypointer, _, Some(AddrSpace::Sampler)) => return ArgumentKind::Sampler,
            (ArgType::ArgBypointer | ArgType::BufferAddress | ArgType::BufferOffset, ..) => {
                return ArgumentKind::Buffer;
            }
            _ => {}
        }
    }
    match (payload_bytes, info) {
        (0, None) => ArgumentKind::Unused,
        (payload_bytes, _) => ArgumentKind::Value { bytes: stated.unwrap_or(0), payload_bytes },
    }
}

fn attributes(kernel: &ze_info::Kernel, program: &Program) -> Attributes {
    let (env, user) = (&kernel.execution_env, &kernel.user_attributes);
    let simd = env.simd_size.max(1);
    let mut private = u64::from(env.private_size);
    let mut spill = u64::from(env.spill_size);
    for b in &kernel.per_thread_memory_buffers {
        match (b.usage, b.allocation) {
            (MemoryUsage::SpillFillSpace, _) => spill = spill.max(u64::from(b.size)),
            (MemoryUsage::PrivateSpace, AllocationType::Global) if b.is_simt_thread => {
                private = private.max(u64::from(b.size));
            }
            (MemoryUsage::PrivateSpace, AllocationType::Global) => {
                private = private.max(u64::from(b.size / simd));
            }
            _ => {}
        }
    }
    Attributes {
        simd: env.simd_size,
        registers: env.grf_count,
        required_group_size: env.required_work_group_size.filter(|r| *r != [0; 3]),
        group_size_hint: user.work_group_size_hint,
        required_sub_group_size: Some(env.required_sub_group_size).filter(|n| *n != 0),
        vec_type_hint: user.vec_type_hint.clone(),
        max_group_items: MAX_GROUP_ITEMS.min(u64::from(MAX_GROUP_THREADS) * u64::from(simd)),
        local_memory: u64::from(env.slm_size),
        private_memory: private,
        spill_memory: spill,
        barriers: env.barrier_count > 0 || program.has_barrier(),
        prints: env.has_printf_calls
            || kernel.payload_arguments.iter().any(|p| p.arg_type == ArgType::PrintfBuffer),
    }
}
