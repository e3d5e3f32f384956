//! Jobs: one kernel, its sizes, arguments, outputs and expectations, from the command line or a TOML file.
//!
//! ```toml
//! file = "vadd.zebin"           # or vadd.cl, with a device
//! kernel = "vadd"               # may be left out if there is only one
//! global = [1024]
//! local = [64]
//!
//! [args]                        # by name, or by index as "0"
//! a = "iota:f32:1024"
//! b = "fill:f32:1024:1"
//! c = "zeros:f32:1024"
//! n = 1024
//! picture = { image = "2d:640,480:rgba:unorm8", value = "@in.png" }
//! nearest = { sampler = "clamp_to_edge:nearest:unnormalized" }
//!
//! [[outputs]]
//! arg = "c"
//! file = "c.npy"                # written if given
//! print = 8                     # elements printed, if given
//! expect = "@expected.npy"      # compared if given
//! check = "exact"               # or "ulp 4", "abs 1e-6", "rel 1e-3 abs 1e-6", "set"
//! ```
//!
//! Paths are relative to the file.

use crate::compare::{self, Check, Comparison};
use crate::images;
use crate::runner::{AllocationId, Arg, Image, Launch, LoadedKernel, Module, Session};
use crate::values::{ElemType, HostValue, ValueSpec, parse_scalar};
use envisa_zebin::build::Build;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A job as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// A zebin, or OpenCL C or SPIR-V to compile first.
    pub file: PathBuf,
    /// The kernel; empty for the only one.
    #[serde(default)]
    pub kernel: String,
    /// The device to compile for; must fit the zebin if that is given.
    #[serde(default)]
    pub device: Option<String>,
    /// Options of the compiler.
    #[serde(default)]
    pub options: String,
    /// Work-items, one to three dimensions.
    pub global: Vec<u64>,
    /// Work-items a group; what the kernel requires, or a guess, if empty.
    #[serde(default)]
    pub local: Vec<u32>,
    /// First global id.
    #[serde(default)]
    pub offset: Vec<u64>,
    /// Arguments by name or index.
    #[serde(default)]
    pub args: BTreeMap<String, ArgText>,
    /// What to do with results.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// Host threads; 0 for all cores.
    #[serde(default)]
    pub jobs: usize,
    /// Branches and calls a thread may take; 0 for no limit.
    #[serde(default)]
    pub limit: u64,
    /// Look for races, uninitialised reads and the like.
    #[serde(default)]
    pub check: bool,
}

/// An argument as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum ArgText {
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A value of [`crate::values`]'s notation.
    Text(String),
    /// An image and its texels.
    Image {
        /// Shape and format: `2d:W,H:rgba:unorm8`.
        image: String,
        /// Texels.
        value: String,
    },
    /// A sampler: `clamp_to_edge:nearest:unnormalized`.
    Sampler {
        /// See [`crate::images::parse_sampler`].
        sampler: String,
    },
}

/// What to do with an argument's content after the run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name or index of the argument.
    pub arg: String,
    /// Where to write it.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// How many elements to print.
    #[serde(default)]
    pub print: Option<u64>,
    /// What it should be.
    #[serde(default)]
    pub expect: Option<String>,
    /// How it is compared; exact if not said.
    #[serde(default)]
    pub check: Option<String>,
    /// Shape for writing and printing, slowest dimension first: `[480, 640, 4]`.
    #[serde(default)]
    pub shape: Option<Vec<u64>>,
}

/// Greatest size of one argument, and of all memory of a job, in bytes.
pub const MEMORY_LIMIT: u64 = 8 << 30;

impl Job {
    /// Reads a TOML file; its paths become relative to the current folder.
    ///
    /// # Errors
    /// A sentence with the place.
    pub fn read(path: &Path) -> Result<Job, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut job: Job = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        job.file = folder.join(&job.file);
        for arg in job.args.values_mut() {
            match arg {
                ArgText::Text(text) | ArgText::Image { value: text, .. } => rebase(text, folder),
                _ => {}
            }
        }
        for output in &mut job.outputs {
            output.file = output.file.take().map(|f| folder.join(f));
            if let Some(expect) = &mut output.expect {
                rebase(expect, folder);
            }
        }
        Ok(job)
    }

    /// Reads the zebin, or makes it.
    ///
    /// # Errors
    /// A sentence on what went wrong.
    pub fn zebin(&self) -> Result<(String, Vec<u8>), String> {
        let name = self.file.display().to_string();
        let source = matches!(self.file.extension().and_then(|e| e.to_str()), Some("cl" | "spv"));
        if !source {
            let bytes = std::fs::read(&self.file).map_err(|e| format!("{name}: {e}"))?;
            return Ok((name, bytes));
        }
        let device = self.device.as_deref().ok_or("to compile the kernel, say for which device")?;
        let built =
            Build::new(&self.file, device).options(self.options.clone()).run().map_err(|e| e.to_string())?;
        Ok((name, built.bytes))
    }
}

/// Makes the file of `@FILE` relative to a folder.
fn rebase(text: &mut String, folder: &Path) {
    if let Some(file) = text.strip_prefix('@') {
        *text = format!("@{}", folder.join(file).display());
    }
}

/// An argument in memory.
struct Bound {
    name: String,
    allocation: AllocationId,
    elem: ElemType,
    shape: Vec<u64>,
}

/// A job with everything in memory, ready to run.
pub struct Ready {
    /// The memory.
    pub session: Session,
    /// The kernel.
    pub kernel: LoadedKernel,
    /// Sizes and arguments.
    pub launch: Launch,
    bound: Vec<Option<Bound>>,
    /// Content of each buffer before the run, for repeated runs.
    outputs: Vec<Output>,
}

/// A result.
#[derive(Debug)]
pub struct Delivered {
    /// The argument.
    pub name: String,
    /// Its content.
    pub value: HostValue,
    /// How it compares with what was expected, if something was.
    pub comparison: Option<(Check, Comparison)>,
}

impl Ready {
    /// Loads the kernel and fills memory.
    ///
    /// # Errors
    /// What does not fit: [`JobError`].
    pub fn new(job: &Job, verify: bool) -> Result<Ready, JobError> {
        let (name, bytes) = job.zebin().map_err(JobError::Usage)?;
        let mut session = Session::new(MEMORY_LIMIT);
        let module = Module::from_zebin(&name, &bytes, &mut session)?;
        if let Some(device) = &job.device
            && module.device().as_str() != device
        {
            return Err(JobError::Usage(format!("{name} is for {}, not {device}", module.device().as_str())));
        }
        let kernel = module.kernel_with(&job.kernel, verify)?;
        let launch = sizes(job, &kernel)?;
        let mut ready = Ready { session, kernel, launch, bound: Vec::new(), outputs: job.outputs.clone() };
        ready.bind(job)?;
        Ok(ready)
    }

    /// Index of an argument by name or index.
    fn index(&self, key: &str) -> Result<usize, JobError> {
        index(&self.kernel, key)
    }

    fn bind(&mut self, job: &Job) -> Result<(), JobError> {
        let count = argument_count(&self.kernel);
        let mut texts: Vec<Option<&ArgText>> = vec![None; count];
        for (key, text) in &job.args {
            let slot = &mut texts[self.index(key)?];
            if slot.replace(text).is_some() {
                return Err(JobError::Usage(format!("argument `{key}` is given twice")));
            }
        }
        for (i, text) in texts.into_iter().enumerate() {
            let name = argument_name(&self.kernel, i);
            let ty = argument_type(&self.kernel, i);
            let Some(text) = text else {
                let what = if ty.is_empty() { String::new() } else { format!(" ({ty})") };
                return Err(JobError::Usage(format!("argument `{name}`{what} is not given")));
            };
            let (arg, bound) = self.argument(&name, &ty, text).map_err(|e| e.of_argument(&name))?;
            self.launch.args.push(arg);
            self.bound.push(bound);
        }
        for output in &self.outputs {
            let i = self.index(&output.arg)?;
            if self.bound[i].is_none() {
                return Err(JobError::Usage(format!(
                    "argument `{}` is neither buffer nor image",
                    output.arg
                )));
            }
        }
        Ok(())
    }

    /// One argument: what is passed, and where its data is.
    fn argument(&mut self, name: &str, ty: &str, text: &ArgText) -> Result<(Arg, Option<Bound>), JobError> {
        let text = match text {
            ArgText::Int(n) => n.to_string(),
            ArgText::Float(x) => x.to_string(),
            ArgText::Text(t) => t.clone(),
            ArgText::Sampler { sampler } => {
                let spec = images::parse_sampler(sampler).map_err(JobError::Usage)?;
                return Ok((Arg::Sampler(spec.sampler()), None));
            }
            ArgText::Image { image, value } => {
                let spec = images::parse_image(image).map_err(JobError::Usage)?;
                let texels = data(value)?;
                return self.image(name, &spec, texels).map(|(a, b)| (a, Some(b)));
            }
        };
        // `image:2d:W,H:rgba:unorm8=VALUE`, for the command line.
        if let Some((image, value)) = text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
            let spec = images::parse_image(image).map_err(JobError::Usage)?;
            return self.image(name, &spec, data(value)?).map(|(a, b)| (a, Some(b)));
        }
        if let Some(sampler) = text.strip_prefix("sampler:") {
            let spec = images::parse_sampler(sampler).map_err(JobError::Usage)?;
            return Ok((Arg::Sampler(spec.sampler()), None));
        }
        if ty.starts_with("image") {
            // A picture says its own size; its texels are 0.0 to 1.0.
            let value = data(&text)?;
            let spec = picture(&value).ok_or_else(|| {
                JobError::Usage(
                    "an image wants its shape: image:2d:W,H:rgba:unorm8=VALUE, or a PNG with @".into(),
                )
            })?;
            return self.image(name, &spec, value).map(|(a, b)| (a, Some(b)));
        }
        let spec = ValueSpec::parse(&text).map_err(JobError::usage)?;
        let pointer = ty.ends_with('*');
        match spec {
            ValueSpec::Local(bytes) => Ok((Arg::Local(bytes), None)),
            ValueSpec::Number(number) if pointer => {
                if parse_scalar(ElemType::U64, &number).is_ok_and(|b| b == [0; 8]) {
                    return Ok((Arg::Null, None));
                }
                Err(JobError::Usage(format!(
                    "it is a pointer; `{number}` is no buffer (0 is the null pointer)"
                )))
            }
            ValueSpec::Number(number) => {
                let elem = scalar_type(ty).ok_or_else(|| {
                    JobError::Usage(format!("its type `{ty}` is no number; write TYPE:VALUE or @FILE"))
                })?;
                Ok((Arg::Value(parse_scalar(elem, &number).map_err(JobError::usage)?), None))
            }
            ValueSpec::Literal { ty: given, bytes } if !pointer => {
                if let Some(elem) = scalar_type(ty)
                    && (given.elem != elem || given.lanes != 1)
                {
                    return Err(JobError::Usage(format!("it is a {ty}, not {given}")));
                }
                Ok((Arg::Value(bytes), None))
            }
            ValueSpec::File(_) if !pointer && !ty.is_empty() => {
                let value = spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?;
                Ok((Arg::Value(value.bytes), None))
            }
            spec => {
                let value = spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?;
                if let Some(elem) = pointed_type(ty)
                    && elem != value.elem
                    && !matches!(spec, ValueSpec::File(_))
                {
                    return Err(JobError::Usage(format!("it points to {ty}, not {}", value.elem)));
                }
                // Raw bytes read as what the argument points to.
                let elem = match pointed_type(ty) {
                    Some(e) if value.elem == ElemType::U8 && value.bytes.len() % e.size() == 0 => e,
                    _ => value.elem,
                };
                let shape = if elem == value.elem {
                    value.shape.clone()
                } else {
                    vec![(value.bytes.len() / elem.size()) as u64]
                };
                let allocation = self.session.buffer(&format!("buffer {name}"), &value.bytes)?;
                let bound = Bound { name: name.to_owned(), allocation, elem, shape };
                Ok((Arg::Buffer(allocation, 0), Some(bound)))
            }
        }
    }

    fn image(
        &mut self,
        name: &str,
        spec: &images::ImageSpec,
        texels: HostValue,
    ) -> Result<(Arg, Bound), JobError> {
        if texels.bytes.len() as u64 != spec.bytes() {
            return Err(JobError::Usage(format!(
                "the image takes {} bytes, its value has {}",
                spec.bytes(),
                texels.bytes.len()
            )));
        }
        let allocation = self.session.buffer(&format!("image {name}"), &texels.bytes)?;
        let image: Image = spec.image(allocation);
        let mut shape = vec![spec.size[1], spec.size[0], spec.order.channels()];
        if spec.dims == 3 {
            shape.insert(0, spec.size[2]);
        }
        let bound = Bound { name: name.to_owned(), allocation, elem: texels.elem, shape };
        Ok((Arg::Image(image), bound))
    }

    /// Content of an argument after the run.
    ///
    /// # Errors
    /// Where there is no such argument, or it is neither buffer nor image.
    pub fn content(&mut self, key: &str) -> Result<HostValue, JobError> {
        let i = self.index(key)?;
        let Some(Some(bound)) = self.bound.get(i) else {
            return Err(JobError::Usage(format!("argument `{key}` is neither buffer nor image")));
        };
        let (elem, shape) = (bound.elem, bound.shape.clone());
        let bytes = self.session.bytes(bound.allocation).to_vec();
        Ok(HostValue { elem, shape, bytes })
    }

    /// Results that the job asks for, compared where it says what to expect. Files are written.
    ///
    /// # Errors
    /// Where a file cannot be read or written, or a shape does not fit.
    pub fn deliver(&mut self) -> Result<Vec<(Output, Delivered)>, JobError> {
        let mut all = Vec::new();
        for output in self.outputs.clone() {
            let mut value = self.content(&output.arg)?;
            if let Some(shape) = &output.shape {
                let elements = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
                if elements != Some(value.len() as u64) {
                    return Err(JobError::Usage(format!(
                        "output `{}`: {} elements do not have the shape {shape:?}",
                        output.arg,
                        value.len()
                    )));
                }
                value.shape = shape.clone();
            }
            let comparison = match &output.expect {
                None => None,
                Some(text) => {
                    let check =
                        Check::parse(output.check.as_deref().unwrap_or("exact")).map_err(JobError::Usage)?;
                    let want = data(text).map_err(|e| e.of_argument(&output.arg))?;
                    Some((check, compare::compare(&want, &value, check)))
                }
            };
            if let Some(file) = &output.file {
                value.write(file).map_err(JobError::usage)?;
            }
            let i = self.index(&output.arg)?;
            let name = self.bound[i].as_ref().map_or(output.arg.clone(), |b| b.name.clone());
            all.push((output, Delivered { name, value, comparison }));
        }
        Ok(all)
    }
}

/// Why a job cannot run.
#[derive(Debug)]
pub enum JobError {
    /// It is written wrongly, or a file is not there.
    Usage(String),
    /// The kernel cannot run.
    Run(crate::runner::RunError),
}

impl JobError {
    fn usage(e: impl std::fmt::Display) -> JobError {
        JobError::Usage(e.to_string())
    }

    fn of_argument(self, name: &str) -> JobError {
        match self {
            JobError::Usage(s) => JobError::Usage(format!("argument `{name}`: {s}")),
            other => other,
        }
    }
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobError::Usage(s) => f.write_str(s),
            JobError::Run(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for JobError {}

impl From<crate::runner::RunError> for JobError {
    fn from(e: crate::runner::RunError) -> JobError {
        JobError::Run(e)
    }
}

fn data(text: &str) -> Result<HostValue, JobError> {
    ValueSpec::parse(text).and_then(|s| s.materialize(MEMORY_LIMIT)).map_err(JobError::usage)
}

/// The image that a picture of 8-bit channels is.
fn picture(value: &HostValue) -> Option<images::ImageSpec> {
    let [height, width, channels] = value.shape[..] else { return None };
    let order = match channels {
        1 => images::ChannelOrder::R,
        2 => images::ChannelOrder::Rg,
        4 => images::ChannelOrder::Rgba,
        _ => return None,
    };
    let channel = match value.elem {
        ElemType::U8 => images::ChannelType::Unorm8,
        ElemType::U16 => images::ChannelType::Unorm16,
        _ => return None,
    };
    Some(images::ImageSpec { dims: 2, size: [width, height, 1], order, channel })
}

fn argument_count(kernel: &LoadedKernel) -> usize {
    let named = kernel.args.iter().map(|a| a.index);
    let paid = kernel.metadata.payload_arguments.iter().filter_map(|p| p.arg_index);
    let bound = kernel.metadata.binding_table_indices.iter().map(|b| b.arg_index);
    // Metadata is foreign: an index is not taken at its word.
    named.chain(paid).chain(bound).filter(|i| *i < 4096).max().map_or(0, |i| i as usize + 1)
}

fn argument_name(kernel: &LoadedKernel, i: usize) -> String {
    let info = kernel.args.iter().find(|a| a.index as usize == i);
    info.and_then(|a| a.name.clone()).unwrap_or_else(|| i.to_string())
}

/// The type as in the source (`float*`); empty if it is not known.
fn argument_type(kernel: &LoadedKernel, i: usize) -> String {
    let info = kernel.args.iter().find(|a| a.index as usize == i);
    info.map_or(String::new(), |a| a.type_and_size().0.to_owned())
}

fn index(kernel: &LoadedKernel, key: &str) -> Result<usize, JobError> {
    let count = argument_count(kernel);
    let by_name = (0..count).find(|i| argument_name(kernel, *i) == key);
    let by_index = || key.parse::<usize>().ok().filter(|i| *i < count);
    by_name.or_else(by_index).ok_or_else(|| {
        let names: Vec<String> = (0..count).map(|i| argument_name(kernel, i)).collect();
        JobError::Usage(format!(
            "the kernel has no argument `{key}`; it takes {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ))
    })
}

/// Type of a scalar argument.
fn scalar_type(ty: &str) -> Option<ElemType> {
    Some(match ty {
        "char" => ElemType::I8,
        "uchar" | "unsigned char" | "bool" => ElemType::U8,
        "short" => ElemType::I16,
        "ushort" | "unsigned short" => ElemType::U16,
        "int" => ElemType::I32,
        "uint" | "unsigned int" => ElemType::U32,
        "long" => ElemType::I64,
        "ulong" | "unsigned long" | "size_t" => ElemType::U64,
        "half" => ElemType::F16,
        "float" => ElemType::F32,
        "double" => ElemType::F64,
        _ => return None,
    })
}

/// Element type of what a pointer points to, through vectors.
fn pointed_type(ty: &str) -> Option<ElemType> {
    let base = ty.strip_suffix('*')?;
    scalar_type(base.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Sizes of a launch; a group size that is not given is what the kernel requires, or a guess.
fn sizes(job: &Job, kernel: &LoadedKernel) -> Result<Launch, JobError> {
    let dims = job.global.len();
    if !(1..=3).contains(&dims) {
        return Err(JobError::Usage(format!("{dims} global sizes: there are 1 to 3 dimensions")));
    }
    if !job.local.is_empty() && job.local.len() != dims || job.offset.len() > dims {
        return Err(JobError::Usage(format!("global, local and offset must all have {dims} dimensions")));
    }
    let mut launch =
        Launch { dims: dims as u32, global: [1; 3], local: [1; 3], offset: [0; 3], args: Vec::new() };
    launch.global[..dims].copy_from_slice(&job.global);
    launch.offset[..job.offset.len()].copy_from_slice(&job.offset);
    let required = kernel.metadata.execution_env.required_work_group_size.filter(|r| *r != [0; 3]);
    if !job.local.is_empty() {
        launch.local[..dims].copy_from_slice(&job.local);
    } else if let Some(required) = required {
        launch.local = required;
    } else {
        // The largest divisor of the first size that one group may have, at most 256.
        let n = launch.global[0];
        launch.local[0] = (1..=256u32).rev().find(|d| n.is_multiple_of(u64::from(*d))).unwrap_or(1);
    }
    Ok(launch)
}
