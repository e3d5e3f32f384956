//! Programs: from source, SPIR-V or binaries to modules for devices.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use envisa_runtime::build::{BuildFailure, Input, NotBuilt, Output, build};
use opencl_sys as cl;

use super::context::Context;
use super::error::{Error, Result};
use super::handle::{Object, Slot};
use super::platform::Device;
use super::source_lines::SourceWithLines;
use super::spirv;
use crate::device::{Module, SourceText, Written};

/// A program.
pub struct Program {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// The devices it is for.
    pub devices: Vec<Arc<Device>>,
    /// What it was made from.
    pub source: Source,
    builds: Mutex<Vec<Build>>,
    constants: Mutex<BTreeMap<u32, Vec<u8>>>,
    /// Kernels made from it.
    pub kernels: AtomicUsize,
}

/// What a program was made from.
#[derive(Debug)]
pub enum Source {
    /// OpenCL C.
    Text(String),
    /// SPIR-V.
    Il(Vec<u8>),
    /// Binaries, which the builds hold.
    Binary,
    /// Other programs.
    Linked,
}

/// A program's state for one device.
#[derive(Clone, Default)]
pub struct Build {
    /// `CL_BUILD_*`.
    pub status: i32,
    /// The user's options.
    pub options: String,
    /// What the compiler said.
    pub log: String,
    /// `CL_PROGRAM_BINARY_TYPE_*`.
    pub kind: u32,
    /// SPIR-V of a compiled program, of the parts of a library, or of a binary that must be rebuilt.
    pub spirv: Vec<Arc<Vec<u8>>>,
    /// Texts that a compiled program was made of, while mistakes are looked for.
    pub sources: Vec<SourceText>,
    /// What runs.
    pub module: Option<Arc<Module>>,
}

impl Build {
    /// The log: what the compiler said, and what shows in its code (unless `-w` asks for no warnings).
    pub fn log_for_device(&self, device: &Device) -> String {
        let quiet = self.options.split_whitespace().any(|o| o == "-w");
        let module = self.module.as_ref().filter(|_| !quiet);
        format!("{}{}", self.log, module.map_or("", |m| device.machine.unwritten(m)))
    }
}

impl Object for Program {
    const INVALID: Error = Error::INVALID_PROGRAM;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// What a library may say of programs that are linked with it.
const LINK_OPTIONS: [&str; 7] = [
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeroes",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-no-subgroup-ifp",
];

/// A header that a compilation may include: its name and the program with its text.
pub type Header = (String, Arc<Program>);

impl Program {
    /// A new program, not built.
    pub fn new(context: Arc<Context>, devices: Vec<Arc<Device>>, source: Source) -> Arc<Program> {
        let none = Build { status: cl::CL_BUILD_NONE, ..Build::default() };
        let builds = vec![none; devices.len()];
        Program::with_builds(context, devices, source, builds)
    }

    /// A program whose builds are known.
    pub fn with_builds(
        context: Arc<Context>,
        devices: Vec<Arc<Device>>,
        source: Source,
        builds: Vec<Build>,
    ) -> Arc<Program> {
        Arc::new(Program {
            slot: Slot::default(),
            context,
            devices,
            source,
            builds: Mutex::new(builds),
            constants: Mutex::default(),
            kernels: AtomicUsize::new(0),
        })
    }

    /// The state of a binary for a device.
    ///
    /// # Errors
    /// If it is nothing that can run here.
    pub fn read_binary(device: &Device, bytes: &[u8]) -> Result<Build> {
        if spirv::is_spirv(bytes) {
            return Ok(Build {
                status: cl::CL_BUILD_NONE,
                kind: cl::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                spirv: vec![Arc::new(bytes.to_vec())],
                ..Build::default()
            });
        }
        if let Some(parts) = library_parts(bytes) {
            return Ok(Build {
                status: cl::CL_BUILD_NONE,
                kind: cl::CL_PROGRAM_BINARY_TYPE_LIBRARY,
                spirv: parts?,
                ..Build::default()
            });
        }
        let kind = cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        match Module::load(device.spec, "program", bytes.to_vec(), Vec::new()) {
            Ok(module) => Ok(Build {
                status: cl::CL_BUILD_NONE,
                kind,
                module: Some(Arc::new(module)),
                ..Build::default()
            }),
            Err(why) => match crate::device::spirv_of(bytes) {
                // Compiled without its vISA text, but what it was compiled from is there.
                Some(spirv) => Ok(Build {
                    status: cl::CL_BUILD_NONE,
                    kind,
                    spirv: vec![Arc::new(spirv)],
                    ..Build::default()
                }),
                None => {
                    if crate::log::log_settings().compiler {
                        crate::log::line(&format!("envisa: a binary was refused: {why}"));
                    }
                    Err(Error::INVALID_BINARY)
                }
            },
        }
    }

    /// Where a device's state is.
    ///
    /// # Errors
    /// If the program is not for the device.
    pub fn index(&self, device: &Arc<Device>) -> Result<usize> {
        self.devices.iter().position(|d| Arc::ptr_eq(d, device)).ok_or(Error::INVALID_DEVICE)
    }

    /// The state for a device.
    ///
    /// # Errors
    /// If the program is not for the device.
    pub fn build_of(&self, device: &Arc<Device>) -> Result<Build> {
        let at = self.index(device)?;
        Ok(self.builds.lock().unwrap()[at].clone())
    }

    /// The states for all devices.
    pub fn builds(&self) -> Vec<Build> {
        self.builds.lock().unwrap().clone()
    }

    /// What runs on a device, if it was built.
    pub fn module(&self, device: &Arc<Device>) -> Option<Arc<Module>> {
        let build = self.build_of(device).ok()?;
        if build.status == cl::CL_BUILD_SUCCESS { build.module } else { None }
    }

    /// Sets a specialisation constant.
    ///
    /// # Errors
    /// If there is none of this id, or its size is another.
    pub fn set_constant(&self, id: u32, value: Vec<u8>) -> Result<()> {
        let Source::Il(il) = &self.source else { return Err(Error::INVALID_PROGRAM) };
        let size = *spirv::specialization_constant_sizes(il).get(&id).ok_or(Error::INVALID_SPEC_ID)?;
        if size != value.len() {
            return Err(Error::INVALID_VALUE);
        }
        self.constants.lock().unwrap().insert(id, value);
        Ok(())
    }

    /// Kernels must be gone before a program is built again.
    fn idle(&self) -> Result<()> {
        if self.kernels.load(Ordering::Relaxed) > 0 {
            return Err(Error::INVALID_OPERATION);
        }
        Ok(())
    }

    /// The text that was built for a device, and its options; `None` if captures are not wanted or it was made from no text.
    pub fn text_for(&self, device: &Arc<Device>) -> Option<Written<'_>> {
        let Source::Text(text) = &self.source else { return None };
        let at = self.index(device).ok()?;
        envisa_runtime::capture::is_wanted()
            .then(|| Written { text, options: self.builds.lock().unwrap()[at].options.clone() })
    }

    fn set(&self, at: usize, build: Build) {
        self.builds.lock().unwrap()[at] = build;
    }

    /// Builds for devices.
    ///
    /// # Errors
    /// If it does not build for one of them; the log says why.
    pub fn build(&self, devices: &[Arc<Device>], options: &str) -> Result<()> {
        self.idle()?;
        let mut result = Ok(());
        for device in devices {
            let at = self.index(device)?;
            let old = self.builds.lock().unwrap()[at].clone();
            self.set(at, Build { status: cl::CL_BUILD_IN_PROGRESS, options: options.into(), ..old.clone() });
            let made = match (&self.source, &old.module, &old.spirv[..]) {
                (Source::Text(text), ..) => build_text(device, text, options),
                (Source::Il(il), ..) => {
                    let constants = self.constants.lock().unwrap().clone();
                    match spirv::set_specialization_constants(il, &constants) {
                        Some(il) => run(device, &Input::Spirv(&il), options, Vec::new()),
                        None => {
                            Err((Error::INVALID_VALUE, "a specialisation constant does not fit\n".into()))
                        }
                    }
                }
                (Source::Binary, Some(module), _) => Ok((module.clone(), String::new())),
                (Source::Binary, None, [il]) if old.kind != cl::CL_PROGRAM_BINARY_TYPE_LIBRARY => {
                    run(device, &Input::Spirv(il), options, Vec::new())
                }
                _ => return Err(Error::INVALID_OPERATION),
            };
            let build = match made {
                Ok((module, log)) => Build {
                    status: cl::CL_BUILD_SUCCESS,
                    options: options.into(),
                    log,
                    kind: cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
                    module: Some(module),
                    ..Build::default()
                },
                Err((e, log)) => {
                    result = Err(e);
                    Build { status: cl::CL_BUILD_ERROR, options: options.into(), log, ..Build::default() }
                }
            };
            self.set(at, build);
        }
        result
    }

    /// Compiles for linking.
    ///
    /// # Errors
    /// If it does not compile for one of the devices; the log says why.
    pub fn compile(&self, devices: &[Arc<Device>], options: &str, headers: &[Header]) -> Result<()> {
        self.idle()?;
        let mut files = Vec::new();
        for (name, program) in headers {
            let Source::Text(text) = &program.source else { return Err(Error::INVALID_PROGRAM) };
            files.push((name.clone(), text.clone().into_bytes()));
        }
        let mut result = Ok(());
        for device in devices {
            let at = self.index(device)?;
            let told = match &self.source {
                Source::Text(text)
                    if crate::report::is_checking()
                        || envisa_runtime::source_lines::is_built_for_debugging() =>
                {
                    Some(SourceWithLines::new(text, options))
                }
                _ => None,
            };
            let shown = |log: &str| told.as_ref().map_or_else(|| log.to_owned(), |t| t.log(log));
            let made = match &self.source {
                Source::Text(text) => {
                    let input = Input::Source(text.as_bytes(), &files);
                    let options = told.as_ref().map_or(options, |t| &t.options);
                    crate::compiler::compiler_service().compile(
                        device.spec.name,
                        &input,
                        options,
                        Output::Spirv,
                    )
                }
                Source::Il(il) => {
                    let constants = self.constants.lock().unwrap().clone();
                    let bytes =
                        spirv::set_specialization_constants(il, &constants).ok_or(Error::INVALID_VALUE)?;
                    Ok(envisa_ocloc::Compiled { bytes, log: String::new(), cached: false })
                }
                _ => return Err(Error::INVALID_OPERATION),
            };
            let build = match made {
                Ok(compiled) => Build {
                    status: cl::CL_BUILD_SUCCESS,
                    options: options.into(),
                    log: shown(&compiled.log),
                    kind: cl::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                    spirv: vec![Arc::new(compiled.bytes)],
                    sources: match &told {
                        Some(told) => std::iter::once(told.source.clone())
                            .chain(files.iter().map(header_text))
                            .collect(),
                        None => Vec::new(),
                    },
                    module: None,
                },
                Err(e) => {
                    result = Err(build_failure(BuildFailure::of(&e), Error::COMPILE_PROGRAM_FAILURE));
                    let log = shown(e.log());
                    Build { status: cl::CL_BUILD_ERROR, options: options.into(), log, ..Build::default() }
                }
            };
            self.set(at, build);
        }
        result
    }

    /// Links compiled programs into a new one.
    ///
    /// # Errors
    /// If an input is not compiled for a device that another is compiled for.
    pub fn link(
        context: &Arc<Context>,
        devices: &[Arc<Device>],
        options: &str,
        inputs: &[Arc<Program>],
    ) -> Result<(Arc<Program>, Result<()>)> {
        let library = options.split_whitespace().any(|w| w == "-create-library");
        let rest: Vec<&str> = options
            .split_whitespace()
            .filter(|w| !matches!(*w, "-create-library" | "-enable-link-options"))
            .collect();
        if library && rest.iter().any(|option| !LINK_OPTIONS.contains(option)) {
            return Err(Error::INVALID_LINKER_OPTIONS);
        }
        let compile_options = rest.join(" ");
        let mut builds = Vec::new();
        let mut result = Ok(());
        for device in devices {
            let (mut parts, mut sources) = (Vec::new(), Vec::new());
            for input in inputs {
                let build = input.build_of(device)?;
                if build.spirv.is_empty() {
                    return Err(Error::INVALID_OPERATION);
                }
                parts.extend(build.spirv);
                sources.extend(build.sources);
            }
            let done = Build { status: cl::CL_BUILD_SUCCESS, options: options.into(), ..Build::default() };
            // A library is its parts: what they use of each other is looked for when a program is made of them.
            builds.push(if library {
                Build { kind: cl::CL_PROGRAM_BINARY_TYPE_LIBRARY, spirv: parts, sources, ..done }
            } else {
                let modules: Vec<Vec<u8>> = parts.iter().map(|p| p.to_vec()).collect();
                match run(device, &Input::Link(&modules), &compile_options, sources) {
                    Ok((module, log)) => {
                        let kind = cl::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
                        Build { kind, log, module: Some(module), ..done }
                    }
                    Err((e, log)) => {
                        let refused = e == Error::BUILD_PROGRAM_FAILURE;
                        result = Err(if refused { Error::LINK_PROGRAM_FAILURE } else { e });
                        Build { status: cl::CL_BUILD_ERROR, log, ..done }
                    }
                }
            });
        }
        let program = Program::with_builds(context.clone(), devices.to_vec(), Source::Linked, builds);
        Ok((program, result))
    }

    /// Names of the kernels, of the first device it was built for.
    ///
    /// # Errors
    /// If it was not built.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let module = self.devices.iter().find_map(|d| self.module(d));
        let module = module.ok_or(Error::INVALID_PROGRAM_EXECUTABLE)?;
        Ok(module.kernels.iter().map(|k| k.name.clone()).collect())
    }
}

impl Build {
    /// Its binary: what runs, or what it is linked from; empty if there is none.
    pub fn binary(&self) -> Arc<Vec<u8>> {
        match (&self.module, &self.spirv[..]) {
            (Some(module), _) => module.binary().clone(),
            (None, [one]) if self.kind != cl::CL_PROGRAM_BINARY_TYPE_LIBRARY => one.clone(),
            (None, []) => Arc::default(),
            (None, parts) => {
                let mut bytes = LIBRARY.to_vec();
                for part in parts {
                    bytes.extend((part.len() as u64).to_le_bytes());
                    bytes.extend(&**part);
                }
                Arc::new(bytes)
            }
        }
    }
}

/// Begins the binary of a library; each of its parts follows behind its length, which has eight bytes.
const LIBRARY: &[u8; 16] = b"envisa library\n1";

/// The parts of a library; `None` if it is none.
fn library_parts(bytes: &[u8]) -> Option<Result<Vec<Arc<Vec<u8>>>>> {
    let mut rest = bytes.strip_prefix(LIBRARY)?;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let part = rest.split_first_chunk::<8>().and_then(|(length, rest)| {
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
        });
        let Some((part, behind)) = part.filter(|(part, _)| spirv::is_spirv(part)) else {
            return Some(Err(Error::INVALID_BINARY));
        };
        parts.push(Arc::new(part.to_vec()));
        rest = behind;
    }
    Some(if parts.is_empty() { Err(Error::INVALID_BINARY) } else { Ok(parts) })
}

fn build_failure(why: BuildFailure, refused: Error) -> Error {
    match why {
        BuildFailure::NoCompiler => Error::COMPILER_NOT_AVAILABLE,
        BuildFailure::Options if refused == Error::COMPILE_PROGRAM_FAILURE => Error::INVALID_COMPILER_OPTIONS,
        BuildFailure::Options if refused == Error::LINK_PROGRAM_FAILURE => Error::INVALID_LINKER_OPTIONS,
        BuildFailure::Options => Error::INVALID_BUILD_OPTIONS,
        BuildFailure::Refused | BuildFailure::Crashed => refused,
    }
}

/// A header, for findings to quote.
fn header_text((name, text): &(String, Vec<u8>)) -> SourceText {
    SourceText { name: name.clone(), text: text.clone() }
}

/// What runs on a device, and the compiler's log; or the error and the log.
type Made = std::result::Result<(Arc<Module>, String), (Error, String)>;

/// Compiles a text.
fn build_text(device: &Device, text: &str, options: &str) -> Made {
    let input = Input::Source(text.as_bytes(), &[]);
    if !crate::report::is_checking() && !envisa_runtime::source_lines::is_built_for_debugging() {
        return run(device, &input, options, Vec::new());
    }
    let told = SourceWithLines::new(text, options);
    run(device, &input, &told.options, vec![told.source.clone()])
        .map(|(module, log)| (module, told.log(&log)))
        .map_err(|(e, log)| (e, told.log(&log)))
}

/// Compiles what runs on a device; `sources` are the texts it is of.
fn run(device: &Device, input: &Input<'_>, options: &str, sources: Vec<SourceText>) -> Made {
    let (module, mut log) = build(device.spec, input, options, sources)
        .map_err(|NotBuilt { why, log }| (build_failure(why, Error::BUILD_PROGRAM_FAILURE), log))?;
    if !module.undefined.is_empty() {
        for name in &module.undefined {
            log.push_str(&format!("error: undefined reference to `{name}()'\n"));
        }
        return Err((Error::BUILD_PROGRAM_FAILURE, log));
    }
    Ok((module, log))
}
