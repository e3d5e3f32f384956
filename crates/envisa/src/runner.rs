//! Running kernels: from a zebin to loaded programs, buffers, launches and results.
//!
//! ```no_run
//! use envisa::runner::{Arg, Launch, Module, RunOptions, Session};
//!
//! let mut session = Session::new(1 << 30);
//! let module = Module::from_zebin("vadd.zebin", &std::fs::read("vadd.zebin")?, &mut session)?;
//! let kernel = module.kernel("vadd")?;
//! let a = session.buffer("a", &[0; 4096])?;
//! let launch = Launch {
//!     dims: 1,
//!     global: [1024, 1, 1],
//!     local: [64, 1, 1],
//!     offset: [0; 3],
//!     args: vec![Arg::Buffer(a, 0)],
//! };
//! let outcome = session.run(&kernel, &launch, &RunOptions::default())?;
//! assert!(outcome.trap.is_none());
//! let result = session.bytes(a);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use envisa_diag::{Diagnostic, FileId, Files};
use envisa_interp::Executable;
use envisa_isa::{Platform, Platforms};
use envisa_machine::dispatch::{self, Resources};
use envisa_machine::memory::{Memory, MemoryError};
use envisa_machine::thread::Status;
use envisa_machine::trap::Stand;
use envisa_machine::{Linked, ModuleData, Trap};
use envisa_sanitize::{Finding, FindingKind};
use envisa_text::ParseOptions;
use envisa_verify::Verified;
use envisa_zebin::ze_info::{ArgInfo, Kernel};
use envisa_zebin::{DeviceFamily, ZebinFile};
use std::time::Duration;

pub use envisa_machine::dispatch::{Arg, Launch, LaunchError, Sampler, SamplerAddress};
pub use envisa_machine::memory::{AllocationId, Image, ImageShape};
pub use envisa_machine::{Progress, RunOptions};

/// Why a module cannot be loaded or a kernel cannot be run.
#[derive(Debug)]
pub enum RunError {
    /// The zebin is damaged, or lacks what running needs.
    Zebin(String),
    /// Its vISA text has errors; they are in the module's files.
    Text(Vec<Diagnostic>, Box<Files>),
    /// There is no kernel of this name; the names there are.
    NoKernel(String, Vec<String>),
    /// The kernel cannot be lowered.
    Lower(String),
    /// Sizes or arguments do not fit the kernel.
    Launch(LaunchError),
    /// Memory is exhausted.
    Memory(MemoryError),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Zebin(s) | RunError::Lower(s) => f.write_str(s),
            RunError::Text(d, _) => match d.iter().find(|d| d.is_error()) {
                Some(first) => write!(f, "the vISA text has errors; the first: {}", first.message),
                None => f.write_str("the vISA text has errors"),
            },
            RunError::NoKernel(name, all) => {
                write!(f, "there is no kernel `{name}`; the module has {}", all.join(", "))
            }
            RunError::Launch(e) => e.fmt(f),
            RunError::Memory(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<LaunchError> for RunError {
    fn from(e: LaunchError) -> RunError {
        RunError::Launch(e)
    }
}

impl From<MemoryError> for RunError {
    fn from(e: MemoryError) -> RunError {
        RunError::Memory(e)
    }
}

/// A machine's memory: buffers, and the data of modules. It outlives launches.
pub struct Session {
    memory: Memory,
}

/// What a launch gave.
#[derive(Debug)]
pub struct Outcome {
    /// The fault that ended it, if one did.
    pub trap: Option<Box<Trap>>,
    /// What the kernel printed.
    pub printed: String,
    /// Some of what the kernel printed was lost.
    pub printed_incomplete: bool,
    /// Work-items of the range.
    pub work_items: u64,
    /// Time that running took, without preparation.
    pub time: Duration,
}

/// A zebin, loaded: its data is in a session's memory.
pub struct Module {
    zebin: ZebinFile,
    device: DeviceFamily,
    platform: Platform,
    name: String,
    data: ModuleData,
}

/// A kernel, ready to be launched.
pub struct LoadedKernel {
    /// Launch metadata.
    pub metadata: Kernel,
    /// What is known of its arguments: names, types.
    pub args: Vec<ArgInfo>,
    executable: Executable,
    linked: Linked,
    device: DeviceFamily,
    const_base: u64,
    global_base: u64,
    /// Files of the kernel's and the functions' texts, by function name.
    texts: Vec<(String, FileId)>,
    /// Sources, for reports.
    pub files: Files,
    least_image: u32,
    partial_groups: bool,
}

impl Session {
    /// A session whose memory is at most `limit` bytes.
    pub fn new(limit: u64) -> Session {
        Session { memory: Memory::new(limit) }
    }

    /// A buffer with this content.
    ///
    /// # Errors
    /// Where memory is exhausted.
    pub fn buffer(&mut self, name: &str, content: &[u8]) -> Result<AllocationId, RunError> {
        let id = self.memory.allocate(name, content.len() as u64)?;
        if let Some(a) = self.memory.get(id) {
            a.block.copy_in(0, content);
        }
        Ok(id)
    }

    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// Where the memory's limit or the host's is exceeded.
    pub fn zeros(&mut self, name: &str, bytes: u64) -> Result<AllocationId, RunError> {
        Ok(self.memory.allocate(name, bytes)?)
    }

    /// The bytes of a buffer.
    ///
    /// # Panics
    /// If it is none of this session.
    pub fn bytes(&mut self, id: AllocationId) -> &mut [u8] {
        self.memory.bytes(id).expect("a buffer of this session")
    }

    /// The address space.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// Where sizes or arguments do not fit, or memory is exhausted. A fault of the kernel is no error:
    /// it is in the outcome.
    pub fn run(
        &mut self,
        kernel: &LoadedKernel,
        launch: &Launch,
        options: &RunOptions,
    ) -> Result<Outcome, RunError> {
        self.launch(kernel, launch, options, None::<&mut NoObserver>)
    }

    /// Runs a kernel under an observer.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn observe<O: envisa_machine::observer::Observer>(
        &mut self,
        kernel: &LoadedKernel,
        launch: &Launch,
        options: &RunOptions,
        observer: &mut O,
    ) -> Result<Outcome, RunError> {
        self.launch(kernel, launch, options, Some(observer))
    }

    fn launch<O: envisa_machine::observer::Observer>(
        &mut self,
        kernel: &LoadedKernel,
        launch: &Launch,
        options: &RunOptions,
        observer: Option<&mut O>,
    ) -> Result<Outcome, RunError> {
        check_values(&kernel.args, launch)?;
        let items = launch.local.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
        let simd = u64::from(kernel.metadata.execution_env.simd_size.max(1));
        let threads = items.min(dispatch::MAX_GROUP_ITEMS).div_ceil(simd).max(1) as u32;
        // Sizes that make no sense are refused by `prepare`; here they must only not overflow.
        let groups = (0..3).fold(1u64, |n, d| {
            n.saturating_mul(launch.global[d].div_ceil(u64::from(launch.local[d].max(1))).max(1))
        });
        let prepared = dispatch::prepare(
            &kernel.metadata,
            launch,
            Resources {
                memory: &self.memory,
                grf_bytes: kernel.device.grf_bytes(),
                dummy_local_ids: matches!(kernel.device, DeviceFamily::Skl | DeviceFamily::Tgllp),
                slots: options.slots(groups, threads),
                least_image: kernel.least_image,
                const_base: kernel.const_base,
                global_base: kernel.global_base,
                stack_calls: kernel.program().functions.len() > 1,
                partial_groups: kernel.partial_groups,
            },
        )?;
        let (exe, linked) = (&kernel.executable, &kernel.linked);
        let done = match observer {
            Some(observer) => envisa_interp::run_observed(exe, &prepared, linked, options, observer),
            None => envisa_interp::run(exe, &prepared, linked, options),
        };
        let printed = prepared.printed().unwrap_or_default();
        Ok(Outcome {
            trap: done.trap,
            printed: printed.text,
            printed_incomplete: printed.incomplete,
            work_items: launch.global.iter().fold(1u64, |n, d| n.saturating_mul(*d)),
            time: done.elapsed,
        })
    }
}

/// Values have the size that the source says: what is shorter or longer was meant for something else.
fn check_values(args: &[ArgInfo], launch: &Launch) -> Result<(), RunError> {
    for info in args {
        let (ty, Some(size)) = info.type_and_size() else { continue };
        if let Some(Arg::Value(bytes)) = launch.args.get(info.index as usize)
            && size > 0
            && bytes.len() != size as usize
        {
            let why = format!("its type {ty} has {size} bytes, {} are given", bytes.len());
            return Err(LaunchError::Argument(info.index, why).into());
        }
    }
    Ok(())
}

/// Stands where there is no observer; nobody makes one.
pub(crate) enum NoObserver {}

impl envisa_machine::observer::Observer for NoObserver {
    fn fork(&self) -> Self {
        match *self {}
    }
    fn merge(&mut self, _: Self) {}
    fn before(&mut self, _: &envisa_machine::thread::Machine<'_>, _: u32, _: u32) {}
    fn after(&mut self, _: &envisa_machine::thread::Machine<'_>, _: u32, _: u32, _: u32) {}
}

/// The platform whose rules a device's kernels follow.
pub fn platform_of(device: DeviceFamily) -> Platform {
    match device {
        DeviceFamily::Skl => Platform::Skl,
        DeviceFamily::Tgllp => Platform::Tgllp,
        DeviceFamily::Dg2 => Platform::Dg2,
        DeviceFamily::Pvc => Platform::Pvcxt,
    }
}

impl Module {
    /// Reads a zebin and puts its data into the session's memory.
    ///
    /// # Errors
    /// Where it is no zebin, is for an unknown device, lacks its vISA text, or its data is damaged.
    pub fn from_zebin(name: &str, bytes: &[u8], session: &mut Session) -> Result<Module, RunError> {
        let zebin = ZebinFile::parse(bytes).map_err(|e| RunError::Zebin(format!("{name}: {e}")))?;
        let device = zebin.notes.device().ok_or_else(|| {
            RunError::Zebin(format!("{name}: its notes name no device known here (skl, tgllp, dg2, pvc)"))
        })?;
        let missing = zebin.unresolved();
        if !missing.is_empty() {
            return Err(RunError::Zebin(format!("{name}: undefined: {}", missing.join(", "))));
        }
        let data =
            ModuleData::load(&session.memory, &zebin).map_err(|e| RunError::Zebin(format!("{name}: {e}")))?;
        Ok(Module { device, platform: platform_of(device), name: name.to_owned(), data, zebin })
    }

    /// Names of its kernels.
    pub fn kernel_names(&self) -> Vec<String> {
        self.zebin.kernels().map(|k| k.name.clone()).collect()
    }

    /// The device it is for.
    pub fn device(&self) -> DeviceFamily {
        self.device
    }

    /// The zebin.
    pub fn zebin(&self) -> &ZebinFile {
        &self.zebin
    }

    /// Parses, verifies and lowers a kernel. Without a name (empty), the only one.
    ///
    /// # Errors
    /// Where there is no such kernel, or its text does not verify or lower.
    pub fn kernel(&self, name: &str) -> Result<LoadedKernel, RunError> {
        self.kernel_with(name, true)
    }

    /// As [`Module::kernel`]; `verify` off takes any text that is structurally sound.
    ///
    /// # Errors
    /// As [`Module::kernel`].
    pub fn kernel_with(&self, name: &str, verify: bool) -> Result<LoadedKernel, RunError> {
        let names = self.kernel_names();
        let metadata = match (name, &names[..]) {
            ("", [only]) => self.zebin.ze_info.kernel(only),
            (name, _) => self.zebin.kernels().find(|k| k.name == name),
        };
        let Some(metadata) = metadata else {
            return Err(RunError::NoKernel(name.to_owned(), names));
        };
        let mut files = Files::new();
        let visa = self.zebin.kernel_visa(&metadata.name).map_err(|e| RunError::Zebin(e.to_string()))?;
        let mut texts = vec![(metadata.name.clone(), self.zebin.visa_text(visa).into_owned())];
        for f in self.zebin.functions_visa() {
            let label = f.function.clone().unwrap_or_default();
            // A function's text names the kernel that it was compiled along with.
            if f.kernel_name.as_deref().is_none_or(|k| k == metadata.name) {
                texts.push((label, self.zebin.visa_text(f).into_owned()));
            }
        }
        let mut ids = Vec::new();
        for (label, text) in &texts {
            ids.push(files.add_text(format!("{}:{label}", self.name), text.clone().into_bytes()));
        }
        let units: Vec<(&str, FileId)> =
            texts.iter().zip(&ids).map(|((_, text), id)| (text.as_str(), *id)).collect();
        let options = ParseOptions { platform: Some(self.platform), ..ParseOptions::default() };
        let parsed = envisa_text::parse_units(&units, &options);
        if !parsed.complete {
            return Err(RunError::Text(parsed.diagnostics, Box::new(files)));
        }
        let named: Vec<(String, FileId)> =
            parsed.module.objects.iter().map(|o| o.name.clone()).zip(parsed.files.iter().copied()).collect();
        let verified = match verified(parsed.module, &parsed.files, self.platform, verify) {
            Ok(verified) => verified,
            Err(diagnostics) => return Err(RunError::Text(diagnostics, Box::new(files))),
        };
        let lower =
            envisa_lower::Options { platform: self.platform, simd: Some(metadata.execution_env.simd_size) };
        let program = match envisa_lower::lower(&verified, &metadata.name, &lower) {
            Ok(program) => program,
            Err(e) => return Err(not_lowered(e, &named, files)),
        };
        let least_image = program.inputs.iter().map(|i| i.image.saturating_add(i.bytes)).max().unwrap_or(0);
        let linked = Linked::new(&program, &self.data);
        let executable = Executable::new(program).map_err(RunError::Lower)?;
        Ok(LoadedKernel {
            args: self.zebin.ze_info.args_info(&metadata.name).to_vec(),
            metadata: metadata.clone(),
            executable,
            linked,
            device: self.device,
            const_base: self.data.const_base,
            global_base: self.data.global_base,
            texts: named,
            files,
            least_image,
            partial_groups: self.zebin.allows_partial_groups(),
        })
    }
}

/// Verifies a module for a platform; errors come back as diagnostics.
pub(crate) fn verified(
    module: envisa_isa::Module,
    files: &[FileId],
    platform: Platform,
    verify: bool,
) -> Result<Verified, Vec<Diagnostic>> {
    let file = |object: usize| files.get(object).copied().unwrap_or(FileId(0));
    if verify {
        let options = envisa_verify::Options { platforms: Platforms::of(&[platform]), ..Default::default() };
        let (findings, verified) = envisa_verify::verify(module, &options);
        return verified.ok_or_else(|| findings.iter().map(|f| f.diagnostic(file(f.object))).collect());
    }
    Verified::assume(module).map_err(|defects| {
        defects
            .iter()
            .map(|d| {
                Diagnostic::error(d.code.to_string(), d.message.clone()).primary(
                    file(d.object),
                    (d.span.start, d.span.end),
                    "",
                )
            })
            .collect()
    })
}

impl LoadedKernel {
    /// The lowered program.
    pub fn program(&self) -> &envisa_lower::Program {
        self.executable.program()
    }

    /// A fault as a diagnostic that points into the kernel's text.
    pub fn diagnose(&self, trap: &Trap) -> Diagnostic {
        diagnose(&self.texts, trap)
    }

    /// What a check found, as a diagnostic that points into the kernel's text.
    pub fn finding(&self, found: &Finding) -> Diagnostic {
        finding(&self.texts, &self.program().name, found)
    }
}

/// What lowering refuses, at its place where it has one.
pub(crate) fn not_lowered(e: envisa_lower::LowerError, texts: &[(String, FileId)], files: Files) -> RunError {
    match e {
        envisa_lower::LowerError::Malformed { function, span, message, .. } => {
            let d = Diagnostic::error("E0700", format!("cannot be run: {message}")).primary(
                file_of(texts, &function),
                (span.start, span.end),
                "",
            );
            RunError::Text(vec![d], Box::new(files))
        }
        envisa_lower::LowerError::NoKernel { name, kernels } => RunError::NoKernel(name, kernels),
        e => RunError::Lower(e.to_string()),
    }
}

/// The file of a function.
fn file_of(texts: &[(String, FileId)], function: &str) -> FileId {
    texts.iter().find(|(name, _)| name == function).or(texts.first()).map_or(FileId(0), |t| t.1)
}

/// What a check found as a diagnostic; `texts`: the file of each function, by name.
pub(crate) fn finding(texts: &[(String, FileId)], kernel: &str, f: &Finding) -> Diagnostic {
    let (code, message) = match f.kind {
        FindingKind::UninitialisedRead => {
            ("F0002", format!("reads {}, which nothing has written", f.subject))
        }
        FindingKind::StoreConflict => (
            "F0003",
            format!("two channels store different values to {}: which one stays is undefined", f.subject),
        ),
        FindingKind::Race => {
            ("F0004", format!("a data race for {}: nothing orders two accesses to it", f.subject))
        }
    };
    let [x, y, z] = f.group;
    let times = if f.count == 1 { "once".to_owned() } else { format!("{} times in all", f.count) };
    if let Some((access, other)) = &f.race {
        let [u, v, w] = other.group;
        return Diagnostic::error(code, message)
            .primary(
                file_of(texts, &f.function),
                (f.span.start, f.span.end),
                format!("thread {} of group ({x}, {y}, {z}) {access} it", f.thread),
            )
            .secondary(
                file_of(texts, &other.function),
                (other.span.start, other.span.end),
                format!("thread {} of group ({u}, {v}, {w}) {} it", other.thread, other.access),
            )
            .note(format!(
                "kernel `{kernel}`, instructions ${} and ${}; {times}",
                f.instruction, other.instruction
            ));
    }
    Diagnostic::error(code, message)
        .primary(file_of(texts, &f.function), (f.span.start, f.span.end), format!("channel {}", f.channel))
        .note(format!(
            "first by kernel `{kernel}`, group ({x}, {y}, {z}), thread {}, instruction ${}; {times}",
            f.thread, f.instruction
        ))
}

/// A fault as a diagnostic; `texts`: the file of each function, by name.
pub(crate) fn diagnose(texts: &[(String, FileId)], trap: &Trap) -> Diagnostic {
    let file = file_of(texts, &trap.function);
    let mut d = Diagnostic::error("F0001", trap.cause.to_string()).primary(
        file,
        (trap.span.start, trap.span.end),
        match trap.channel {
            Some(c) => format!("channel {c}"),
            None => String::new(),
        },
    );
    let [x, y, z] = trap.group;
    d = d.note(format!(
        "kernel `{}`, group ({x}, {y}, {z}), thread {}, instruction ${}, active channels {:#x}",
        trap.kernel, trap.thread, trap.instruction, trap.mask
    ));
    // Where every thread of the group stands: those at one place together.
    let mut places: Vec<(&Stand, Vec<u32>)> = Vec::new();
    // The thread that faulted has the first mark.
    let others = trap.threads.iter().filter(|s| !(s.status == Status::Trapped && s.thread == trap.thread));
    for stand in others {
        let here = |(s, _): &&mut (&Stand, Vec<u32>)| {
            (s.status, s.instruction, &s.function) == (stand.status, stand.instruction, &stand.function)
        };
        match places.iter_mut().find(here) {
            Some((_, threads)) => threads.push(stand.thread),
            None => places.push((stand, vec![stand.thread])),
        }
    }
    for (stand, threads) in places.iter().take(16) {
        let what = match stand.status {
            Status::Ready => "can go on",
            Status::Barrier => "waits at the barrier",
            Status::Yielded => "lets others go on",
            Status::SplitWait => "waits at the split barrier",
            Status::Named(_) => "waits at a named barrier",
            Status::Fused => "waits for the thread it is fused with",
            Status::Done => "has ended",
            Status::Trapped => "was stopped",
        };
        let who = match &threads[..] {
            [one] => format!("thread {one}"),
            many => format!("each of threads {}", ranges(many)),
        };
        if stand.status == Status::Done {
            d = d.note(format!("{who} {what}"));
            continue;
        }
        let at = if matches!(stand.status, Status::Ready) { ", next here" } else { " here" };
        d = d.secondary(
            file_of(texts, &stand.function),
            (stand.span.start, stand.span.end),
            format!("{who} {what}{at}"),
        );
    }
    d
}

/// `0-3, 7`, of ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => parts.push((*n, *n)),
        }
    }
    let one = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}
