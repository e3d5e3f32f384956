//! The virtual GPU for library users: memory, modules, launches.
//!
//! ```no_run
//! use envisa::machine::{Arg, Launch, Machine};
//! use envisa::isa::Platform;
//!
//! let mut gpu = Machine::new(Platform::Pvc);
//! let module = gpu.load_zebin(&std::fs::read("vadd.zebin")?)?;
//! let kernel = gpu.kernel(&module, "vadd")?;
//! let a = gpu.buffer("a", 4096)?;
//! let launch = Launch {
//!     dims: 1,
//!     global: [1024, 1, 1],
//!     local: [64, 1, 1],
//!     offset: [0; 3],
//!     args: vec![Arg::Buffer(a, 0)],
//! };
//! let report = gpu.launch(&module, &kernel, &launch)?;
//! assert!(report.outcome.trap.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use envisa_diag::{Diagnostic, FileId, Severity};
use envisa_isa::Platform;
use envisa_verify::Verified;
use envisa_vm::dispatch::{self, Resources};
use envisa_vm::memory::{AllocationId, Memory};
use envisa_vm::observer::Observer;
use envisa_vm::{Executable, Linked, ModuleData, Outcome, RunOptions};
use envisa_zebin::ZebinFile;

pub use envisa_vm::dispatch::{Arg, Launch};

/// Most bytes a machine's memory holds unless told otherwise.
const DEFAULT_MEMORY: u64 = 16 << 30;

/// Why something could not be loaded or launched. (A guest's fault is no error: see [`Report`].)
#[derive(Clone, Debug)]
pub enum Error {
    /// A sentence.
    Message(String),
    /// The vISA text has errors.
    Text(Vec<Diagnostic>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Message(s) => f.write_str(s),
            Error::Text(d) => match d.iter().find(|d| d.severity == Severity::Error) {
                Some(first) => write!(f, "the vISA text has errors: {}", first.message),
                None => f.write_str("the vISA text has errors"),
            },
        }
    }
}

impl std::error::Error for Error {}

fn message(e: impl fmt::Display) -> Error {
    Error::Message(e.to_string())
}

/// A zebin with its program-scope data in the machine's memory.
pub struct Module {
    /// The file.
    pub zebin: ZebinFile,
    /// Addresses of its data.
    pub data: ModuleData,
}

/// A kernel, ready to launch.
pub struct Kernel {
    /// Its launch metadata.
    pub info: envisa_zebin::Kernel,
    /// Its program.
    pub exe: Executable,
    linked: Linked,
}

/// What a launch came to.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed.
    pub printed: String,
}

/// The virtual GPU.
pub struct Machine {
    platform: Platform,
    /// The address space.
    pub memory: Memory,
    /// How to run.
    pub options: RunOptions,
}

impl Machine {
    /// A machine of a platform, with empty memory.
    pub fn new(platform: Platform) -> Machine {
        Machine { platform, memory: Memory::new(DEFAULT_MEMORY), options: RunOptions::default() }
    }

    /// Allocates a zeroed buffer.
    ///
    /// # Errors
    /// Where memory is exhausted.
    pub fn buffer(&mut self, name: &str, bytes: u64) -> Result<AllocationId, Error> {
        self.memory.allocate(name, bytes).map_err(message)
    }

    /// Bytes of a buffer.
    pub fn bytes(&mut self, buffer: AllocationId) -> &mut [u8] {
        self.memory.get_mut(buffer).block.bytes()
    }

    /// Loads a zebin and its program-scope data.
    ///
    /// # Errors
    /// Where the file is damaged or memory is exhausted.
    pub fn load_zebin(&mut self, bytes: &[u8]) -> Result<Module, Error> {
        let zebin = ZebinFile::parse(bytes).map_err(message)?;
        let data = ModuleData::load(&mut self.memory, &zebin).map_err(message)?;
        Ok(Module { zebin, data })
    }

    /// Reads, checks and lowers a kernel's vISA, with the functions it can call.
    ///
    /// # Errors
    /// Where there is no such kernel, or its text has errors.
    pub fn kernel(&self, module: &Module, name: &str) -> Result<Kernel, Error> {
        let zebin = &module.zebin;
        let info = zebin.ze_info.kernel(name).ok_or_else(|| {
            let names: Vec<&str> = zebin.kernels().map(|k| k.name.as_str()).collect();
            message(format!("there is no kernel `{name}`; the module has {}", names.join(", ")))
        })?;
        let mut texts = vec![zebin.visa_text(zebin.kernel_visa(name).map_err(message)?)];
        for section in zebin.functions_visa() {
            // A function's text names the kernel it was compiled along with.
            if section.kernel_name.as_deref().is_none_or(|k| k == name) {
                texts.push(zebin.visa_text(section));
            }
        }
        let units: Vec<(&str, FileId)> =
            texts.iter().enumerate().map(|(i, t)| (t.as_ref(), FileId(i as u32))).collect();
        let options = envisa_text::ParseOptions { platform: Some(self.platform), ..Default::default() };
        let parsed = envisa_text::parse_units(&units, &options);
        if !parsed.complete {
            return Err(Error::Text(parsed.diagnostics));
        }
        let module_ = Verified::assume(parsed.module).map_err(|d| {
            message(d.first().map_or_else(|| "the module is malformed".to_owned(), |d| d.message.clone()))
        })?;
        let lowering =
            envisa_lower::Options { platform: self.platform, simd: Some(info.execution_env.simd_size) };
        let program = envisa_lower::lower(&module_, "", &lowering).map_err(message)?;
        let linked = Linked::new(&program, &module.data);
        let exe = Executable::new(program).map_err(message)?;
        Ok(Kernel { info: info.clone(), exe, linked })
    }

    /// Launches a kernel.
    ///
    /// # Errors
    /// Where sizes and arguments do not fit the kernel.
    pub fn launch(&mut self, module: &Module, kernel: &Kernel, launch: &Launch) -> Result<Report, Error> {
        self.run(module, kernel, launch, |exe, p, m, l, o| envisa_vm::run(exe, p, m, l, o))
    }

    /// Launches a kernel with an observer.
    ///
    /// # Errors
    /// As of [`Machine::launch`].
    pub fn launch_observed<O: Observer>(
        &mut self,
        module: &Module,
        kernel: &Kernel,
        launch: &Launch,
        observer: &mut O,
    ) -> Result<Report, Error> {
        self.run(module, kernel, launch, |exe, p, m, l, o| envisa_vm::run_observed(exe, p, m, l, o, observer))
    }

    fn run(
        &mut self,
        module: &Module,
        kernel: &Kernel,
        launch: &Launch,
        go: impl FnOnce(&Executable, &dispatch::Prepared, &Memory, &Linked, &RunOptions) -> Outcome,
    ) -> Result<Report, Error> {
        let program = kernel.exe.program();
        let mark = self.memory.mark();
        // As many hardware slots as threads can be live on this host.
        let items: u64 = launch.local.iter().map(|n| *n as u64).product();
        let threads = items.div_ceil(program.simd.max(1) as u64).min(u32::MAX as u64) as u32;
        let slots = self.options.slots(u64::MAX, threads.min(dispatch::MAX_GROUP_THREADS));
        let resources = Resources {
            memory: &mut self.memory,
            grf_bytes: program.grf_bytes,
            dummy_local_ids: matches!(
                self.platform,
                Platform::Bdw
                    | Platform::Chv
                    | Platform::Skl
                    | Platform::Bxt
                    | Platform::Icllp
                    | Platform::Tgllp
            ),
            slots,
            least_image: program.inputs.iter().map(|i| i.image + i.bytes).max().unwrap_or(0),
            const_base: module.data.const_base,
            global_base: module.data.global_base,
            stack_calls: program.functions.len() > 1,
        };
        let prepared = dispatch::prepare(&kernel.info, launch, resources).map_err(message)?;
        let outcome = go(&kernel.exe, &prepared, &self.memory, &kernel.linked, &self.options);
        let mut printed = String::new();
        if let Some(id) = prepared.printf {
            printed = dispatch::decode_printf(&self.memory, &self.memory.get(id).block).text;
        }
        self.memory.release(mark);
        Ok(Report { outcome, printed })
    }
}
