//! Running hand-written modules: inputs by their `.input` names, surfaces by name or binding-table index.
//!
//! ```
//! use envisa::bare::{BareArg, BareKernel, BareLaunch, BareOptions};
//! use envisa::isa::Platform;
//! use envisa::runner::{RunOptions, Session};
//!
//! let text = "\
//! .version 4.1
//! .kernel \"scale\"
//! .decl X v_type=G type=f num_elts=8 align=GRF
//! .decl T6 v_type=T num_elts=1
//! .input X offset=32 size=32
//! .input T6 offset=64 size=4
//! .kernel_attr SimdSize=8
//! mul (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x40000000:f
//! oword_st (2) T6 0x0:ud X.0
//! ret (M1,8)
//! ";
//! let kernel = BareKernel::load("scale.visaasm", text.as_bytes(), &BareOptions::new(Platform::Skl))?;
//! let mut session = Session::new(1 << 20);
//! let out = session.buffer("out", &[0; 32])?;
//! let x: Vec<u8> = (0..8).flat_map(|i| (i as f32).to_le_bytes()).collect();
//! let launch = BareLaunch {
//!     args: vec![("X".into(), BareArg::Bytes(x)), ("T6".into(), BareArg::Buffer(out, 0))],
//!     ..BareLaunch::default()
//! };
//! let outcome = session.run_bare(&kernel, &launch, &RunOptions::default())?;
//! assert!(outcome.trap.is_none());
//! assert_eq!(session.bytes(out)[12..16], 6f32.to_le_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::runner::{AllocationId, Image, LaunchError, NoObserver, RunError, Session, not_lowered, verified};
use envisa_diag::{Diagnostic, FileId, Files};
use envisa_interp::Executable;
use envisa_isa::{Module, ObjectKind, Platform, Type, predefined};
use envisa_lower::{InputClass, InputSlot, Program};
use envisa_machine::dispatch;
use envisa_machine::memory::{BufferSurface, Surface, SurfaceTable};
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Status};
use envisa_machine::{Linked, ModuleData, Outcome, RunOptions, Trap};
use envisa_sanitize::Finding;
use envisa_text::ParseOptions;
use std::collections::BTreeMap;

/// How a hand-written module is loaded.
#[derive(Clone, Debug)]
pub struct BareOptions {
    /// The device.
    pub platform: Platform,
    /// The kernel's name; empty for the first.
    pub kernel: String,
    /// Channels of a thread; without it, the `SimdSize` attribute or the widest instruction decides.
    pub simd: Option<u32>,
    /// Refuse what the verifier refuses. Off, anything that is structurally sound runs.
    pub verify: bool,
}

impl BareOptions {
    /// The first kernel, verified.
    pub fn new(platform: Platform) -> BareOptions {
        BareOptions { platform, kernel: String::new(), simd: None, verify: true }
    }
}

/// What an input, a surface or a binding-table index is given.
#[derive(Clone, Debug)]
pub enum BareArg {
    /// The bytes of a general input, from its first on; what they do not cover is zero.
    Bytes(Vec<u8>),
    /// A buffer from a byte offset on: bound to a surface, or its 64-bit address in a general input.
    Buffer(AllocationId, u64),
    /// An image, for a surface.
    Image(Image),
    /// A sampler, for a sampler input or a sampler index (`S<number>`).
    Sampler(dispatch::Sampler),
}

/// A launch of a hand-written kernel.
#[derive(Clone, Debug)]
pub struct BareLaunch {
    /// Thread groups in x, y and z.
    pub groups: [u32; 3],
    /// Threads a group.
    pub threads: u32,
    /// Bytes of shared local memory a group.
    pub slm_bytes: u64,
    /// By name: an input, a declared surface (`T6`), or a binding-table index (`bti:3`).
    pub args: Vec<(String, BareArg)>,
}

impl Default for BareLaunch {
    /// One group of one thread with 64 KiB of shared local memory.
    fn default() -> BareLaunch {
        BareLaunch { groups: [1; 3], threads: 1, slm_bytes: 64 << 10, args: Vec::new() }
    }
}

/// A hand-written kernel, ready to be launched.
pub struct BareKernel {
    executable: Executable,
    linked: Linked,
    /// Files of the kernel's and the functions' texts, by name.
    texts: Vec<(String, FileId)>,
    /// Sources, for reports.
    pub files: Files,
    types: Vec<(String, Type, u16)>,
}

/// Where a binding that the caller did not number goes: from the top, so that numbered ones stay free.
const FIRST_FREE_BTI: u32 = 240;

impl BareKernel {
    /// Loads vISA text or a CISA binary.
    ///
    /// # Errors
    /// [`RunError`]: what is wrong with the text or the binary, or why it cannot be run.
    pub fn load(name: &str, bytes: &[u8], options: &BareOptions) -> Result<BareKernel, RunError> {
        let mut files = Files::new();
        if envisa_binary::is_cisa(bytes) {
            let id = files.add_binary(name, bytes.to_vec());
            let read = envisa_binary::ReadOptions::for_platform(options.platform);
            return match envisa_binary::read_with(bytes, &read) {
                Ok(module) => {
                    let ids = vec![id; module.objects.len()];
                    BareKernel::of_module(module, &ids, files, options)
                }
                Err(e) => Err(RunError::Text(vec![e.to_diagnostic(id)], Box::new(files))),
            };
        }
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
                return Err(RunError::Text(vec![d], Box::new(files)));
            }
        };
        let parse = ParseOptions { platform: Some(options.platform), ..ParseOptions::default() };
        let parsed = envisa_text::parse_units(&[(text, id)], &parse);
        if !parsed.complete {
            return Err(RunError::Text(parsed.diagnostics, Box::new(files)));
        }
        BareKernel::of_module(parsed.module, &parsed.files, files, options)
    }

    /// Loads a module; `ids` are the files of its objects.
    ///
    /// # Errors
    /// As [`BareKernel::load`].
    pub fn of_module(
        mut module: Module,
        ids: &[FileId],
        files: Files,
        options: &BareOptions,
    ) -> Result<BareKernel, RunError> {
        let texts: Vec<(String, FileId)> =
            module.objects.iter().map(|o| o.name.clone()).zip(ids.iter().copied()).collect();
        // A surface that is declared and no input is given its state as if it were one.
        for o in module.objects.iter_mut().filter(|o| o.kind == ObjectKind::Kernel) {
            let mut end = o.inputs.iter().map(|i| i.offset as i32 + i32::from(i.size)).max().unwrap_or(64);
            for k in 0..o.surfaces.len() as u32 {
                let id = u32::from(predefined::FIRST_SURFACE) + k;
                if o.inputs.iter().any(|i| i.kind & 7 == 2 && i.id == id) {
                    continue;
                }
                let Ok(offset) = i16::try_from(end.max(64)) else { break };
                o.inputs.push(envisa_isa::Input {
                    kind: 2,
                    id,
                    offset,
                    size: 4,
                    span: o.surfaces[k as usize].span,
                });
                end = i32::from(offset) + 4;
            }
        }
        let module = match verified(module, ids, options.platform, options.verify) {
            Ok(module) => module,
            Err(diagnostics) => return Err(RunError::Text(diagnostics, Box::new(files))),
        };
        let lower = envisa_lower::Options { platform: options.platform, simd: options.simd };
        let program = match envisa_lower::lower(&module, &options.kernel, &lower) {
            Ok(program) => program,
            Err(e) => return Err(not_lowered(e, &texts, files)),
        };
        let object = module.objects.iter().find(|o| o.kind == ObjectKind::Kernel && o.name == program.name);
        let types = object.map_or(Vec::new(), |o| {
            o.vars.iter().map(|v| (o.strings.get(v.name).unwrap_or("").to_owned(), v.ty, v.elems)).collect()
        });
        let linked = Linked::new(&program, &ModuleData::default());
        let executable = Executable::new(program).map_err(RunError::Lower)?;
        Ok(BareKernel { executable, linked, texts, files, types })
    }

    /// Element type and number of elements of a general variable of the kernel.
    pub fn variable(&self, name: &str) -> Option<(Type, u16)> {
        self.types.iter().find(|(n, ..)| n == name).map(|(_, ty, elems)| (*ty, *elems))
    }

    /// Names of the kernel's general variables, as declared.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(name, ..)| name.as_str())
    }

    /// The lowered program.
    pub fn program(&self) -> &Program {
        self.executable.program()
    }

    /// Its inputs and surfaces.
    pub fn inputs(&self) -> &[InputSlot] {
        &self.program().inputs
    }

    /// A fault as a diagnostic that points into the kernel's text.
    pub fn diagnose(&self, trap: &Trap) -> Diagnostic {
        crate::runner::diagnose(&self.texts, trap)
    }

    /// What a check found, as a diagnostic that points into the kernel's text.
    pub fn finding(&self, finding: &Finding) -> Diagnostic {
        crate::runner::finding(&self.texts, &self.program().name, finding)
    }

    /// The register image and the surfaces of a launch.
    fn bind(&self, session: &Session, launch: &BareLaunch) -> Result<Bound, LaunchError> {
        let end = |i: &InputSlot| (i.image as usize).saturating_add(i.bytes as usize);
        let bytes = self.inputs().iter().map(end).max().unwrap_or(0).max(64);
        let mut bound = Bound {
            image: vec![0; bytes.next_multiple_of(64)],
            surfaces: SurfaceTable::default(),
            samplers: Vec::new(),
        };
        let wrong = |name: &str, what: String| Err(LaunchError::Size(format!("`{name}`: {what}")));
        let (mut free, mut seen) = (FIRST_FREE_BTI, Vec::new());
        for (name, arg) in &launch.args {
            if seen.contains(&name) {
                return wrong(name, "is given twice".into());
            }
            seen.push(name);
            if let Some(bti) = name.strip_prefix("bti:") {
                let Ok(bti) = bti.parse::<u32>() else {
                    return wrong(name, "a binding-table index is a number".into());
                };
                let Some(surface) = surface_of(session, arg) else {
                    return wrong(name, "a buffer or an image can be bound".into());
                };
                if !bound.surfaces.bind(session.memory(), bti, surface) {
                    return wrong(name, "there is no such binding-table index".into());
                }
                continue;
            }
            if let Some(index) = name.strip_prefix("sampler:") {
                match (index.parse::<usize>(), arg) {
                    (Ok(i), BareArg::Sampler(s)) if i < 256 => {
                        bound.samplers.resize(bound.samplers.len().max(i + 1), None);
                        bound.samplers[i] = Some(*s);
                        continue;
                    }
                    _ => return wrong(name, "a sampler of an index below 256 is expected".into()),
                }
            }
            let Some(input) = self.inputs().iter().find(|i| i.name == *name) else {
                let all: Vec<&str> = self.inputs().iter().map(|i| i.name.as_str()).collect();
                let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
                return wrong(name, format!("the kernel has no such input or surface; it has {all}"));
            };
            if input.image < 32 {
                let why = "it lies in r0, which the machine fills; declare it with `offset=32` or more";
                return wrong(name, why.into());
            }
            let value = match (input.class, arg) {
                (InputClass::General, BareArg::Bytes(b)) => b.clone(),
                (InputClass::General, BareArg::Buffer(id, offset)) => {
                    let Some(a) = session.memory().get(*id) else {
                        return wrong(name, "the buffer is none of this session".into());
                    };
                    a.base.wrapping_add(*offset).to_le_bytes().to_vec()
                }
                (InputClass::Surface, arg) => {
                    let Some(surface) = surface_of(session, arg) else {
                        return wrong(name, "it is a surface: a buffer or an image is expected".into());
                    };
                    if !bound.surfaces.bind(session.memory(), free, surface) {
                        return wrong(name, "the buffer or image is none of this session".into());
                    }
                    free += 1;
                    (free - 1).to_le_bytes().to_vec()
                }
                (InputClass::Sampler, BareArg::Sampler(s)) => {
                    bound.samplers.push(Some(*s));
                    (bound.samplers.len() as u32 - 1).to_le_bytes().to_vec()
                }
                (InputClass::Sampler, _) => return wrong(name, "it is a sampler".into()),
                (InputClass::General, _) => return wrong(name, "a value or a buffer is expected".into()),
            };
            if value.len() > input.bytes as usize {
                let why = format!("{} bytes are given, the input has {}", value.len(), input.bytes);
                return wrong(name, why);
            }
            let at = input.image as usize;
            bound.image[at..at + value.len()].copy_from_slice(&value);
        }
        Ok(bound)
    }
}

/// An observer that keeps the content of variables when threads end (or are stopped by a fault).
#[derive(Clone, Debug, Default)]
pub struct FinalRegisters {
    wanted: Vec<String>,
    /// Bytes of each variable wanted, by group and thread.
    pub threads: BTreeMap<([u32; 3], u32), Vec<Vec<u8>>>,
}

impl FinalRegisters {
    /// Keeps these variables of the kernel (as they are declared); of a name that does not exist, nothing.
    pub fn of(names: &[&str]) -> FinalRegisters {
        FinalRegisters { wanted: names.iter().map(|n| (*n).to_owned()).collect(), threads: BTreeMap::new() }
    }
}

impl Observer for FinalRegisters {
    fn fork(&self) -> Self {
        FinalRegisters { wanted: self.wanted.clone(), threads: BTreeMap::new() }
    }

    fn merge(&mut self, other: Self) {
        self.threads.extend(other.threads);
    }

    fn before(&mut self, _: &Machine<'_>, _: u32, _: u32) {}

    fn after(&mut self, m: &Machine<'_>, _: u32, _: u32, _: u32) {
        if !matches!(m.t.status, Status::Done | Status::Trapped) {
            return;
        }
        let vars = m.env.program.functions.first().map_or(&[][..], |f| &f.vars);
        let content = self.wanted.iter().map(|name| {
            let home = vars.iter().find(|v| v.name == *name);
            home.map_or(Vec::new(), |v| m.t.regs.slice(v.offset, v.declared).to_vec())
        });
        self.threads.insert((m.group.id, m.t.index), content.collect());
    }
}

/// What a launch binds.
struct Bound {
    image: Vec<u8>,
    surfaces: SurfaceTable,
    samplers: Vec<Option<dispatch::Sampler>>,
}

fn surface_of(session: &Session, arg: &BareArg) -> Option<Surface> {
    match arg {
        BareArg::Buffer(id, offset) => {
            Some(Surface::Buffer(BufferSurface::rest_of(&*session.memory().get(*id)?, *offset)))
        }
        BareArg::Image(image) => Some(Surface::Image(*image)),
        _ => None,
    }
}

impl Session {
    /// Runs a hand-written kernel.
    ///
    /// # Errors
    /// Where the launch does not fit the kernel. A fault of the kernel is no error: it is in the outcome.
    pub fn run_bare(
        &mut self,
        kernel: &BareKernel,
        launch: &BareLaunch,
        options: &RunOptions,
    ) -> Result<Outcome, RunError> {
        self.bare(kernel, launch, options, None::<&mut NoObserver>)
    }

    /// Runs a hand-written kernel under an observer.
    ///
    /// # Errors
    /// As [`Session::run_bare`].
    pub fn observe_bare<O: Observer>(
        &mut self,
        kernel: &BareKernel,
        launch: &BareLaunch,
        options: &RunOptions,
        observer: &mut O,
    ) -> Result<Outcome, RunError> {
        self.bare(kernel, launch, options, Some(observer))
    }

    fn bare<O: Observer>(
        &mut self,
        kernel: &BareKernel,
        launch: &BareLaunch,
        options: &RunOptions,
        observer: Option<&mut O>,
    ) -> Result<Outcome, RunError> {
        let bound = kernel.bind(self, launch)?;
        let simd = kernel.program().simd;
        let mut prepared = dispatch::prepare_bare(
            self.memory(),
            launch.groups,
            launch.threads,
            simd,
            bound.image,
            bound.surfaces,
            launch.slm_bytes,
        )?;
        prepared.samplers = bound.samplers;
        let (exe, linked) = (&kernel.executable, &kernel.linked);
        Ok(match observer {
            Some(o) => envisa_interp::run_observed(exe, &prepared, linked, options, o),
            None => envisa_interp::run(exe, &prepared, linked, options),
        })
    }
}
