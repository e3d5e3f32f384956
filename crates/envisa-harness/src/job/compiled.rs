//! A job of a compiled kernel: sizes and arguments against its metadata.

use super::deliver::Form;
use super::{ArgText, Job, JobError, MEMORY_LIMIT, Output, SAME, Source, data, same_buffer};
use crate::images;
use crate::observe::Watch;
use crate::values::{ElemType, FileKind, HostValue, ValueSpec, ValueType, parse_scalar, shape_of};
use envisa::diag::did_you_mean;
use envisa::runner::{
    AllocationId, Arg, Launch, LaunchError, LoadedKernel, Module, Outcome, RunError, RunOptions, Session,
};
use envisa::zebin::ze_info::{AddrMode, AddrSpace, ArgType};
use std::path::Path;

/// An argument in memory.
struct Bound {
    name: String,
    allocation: AllocationId,
    /// First byte of the argument in it.
    offset: u64,
    elem: ElemType,
    shape: Vec<u64>,
}

/// A compiled kernel with everything in memory, ready to run.
pub struct CompiledReady {
    /// The memory.
    pub session: Session,
    /// The kernel.
    pub kernel: LoadedKernel,
    /// Sizes and arguments.
    pub launch: Launch,
    bound: Vec<Option<Bound>>,
    pub(super) outputs: Vec<Output>,
    pub(super) messages: String,
    pub(super) warnings: Vec<String>,
}

/// What metadata says that an argument is.
enum Kind {
    /// A value of so many bytes; 0 if not known.
    Value(u64),
    Buffer,
    Local,
    Image,
    Sampler,
    /// Nothing: the kernel does not use it.
    Unused,
}

impl CompiledReady {
    pub(super) fn new(job: &Job, source: Source) -> Result<CompiledReady, JobError> {
        for (given, option) in [
            (job.platform.is_some(), "platform"),
            (!job.groups.is_empty(), "groups"),
            (job.threads.is_some(), "threads"),
            (job.simd.is_some(), "simd"),
            (job.slm.is_some(), "slm"),
        ] {
            if given {
                return Err(JobError::Usage(format!(
                    "`{option}` is for hand-written code; a zebin says it itself"
                )));
            }
        }
        let mut session = Session::new(MEMORY_LIMIT);
        let module = Module::from_zebin(&source.name, &source.bytes, &mut session)?;
        if let Some(device) = &job.device
            && !source.compiled_now
            && module.device().as_str() != device
        {
            return Err(JobError::Usage(format!(
                "{} is for {}, not {device}",
                source.name,
                module.device().as_str()
            )));
        }
        let kernel = module.kernel_with(&job.kernel, !job.no_verify).map_err(|e| match e {
            RunError::NoKernel(name, all) if name.is_empty() => JobError::Usage(format!(
                "the module has {} kernels; say which, as --kernel {}: {}",
                all.len(),
                all.first().map_or("", String::as_str),
                all.join(", ")
            )),
            RunError::NoKernel(name, all) => JobError::Usage(format!(
                "there is no kernel `{name}`; the module has {}{}",
                all.join(", "),
                did_you_mean(&name, all.iter().map(String::as_str))
            )),
            e => e.into(),
        })?;
        let launch = sizes(job, &kernel)?;
        let mut ready = CompiledReady {
            session,
            kernel,
            launch,
            bound: Vec::new(),
            outputs: job.outputs.clone(),
            messages: source.messages,
            warnings: module.zebin().warnings.iter().map(|w| format!("{}: {w}", source.name)).collect(),
        };
        ready.bind(job)?;
        Ok(ready)
    }

    pub(super) fn run(&mut self, options: &RunOptions, watch: &mut Watch) -> Result<Outcome, JobError> {
        let done = if watch.is_idle() {
            self.session.run(&self.kernel, &self.launch, options)
        } else {
            self.session.observe(&self.kernel, &self.launch, options, watch)
        };
        done.map_err(|e| match e {
            RunError::Launch(LaunchError::Argument(i, what)) => {
                JobError::Usage(what).of_argument(&argument_name(&self.kernel, i as usize))
            }
            e => e.into(),
        })
    }

    fn bind(&mut self, job: &Job) -> Result<(), JobError> {
        let count = argument_count(&self.kernel);
        let mut texts: Vec<Option<&ArgText>> = vec![None; count];
        for (key, text) in &job.args {
            let slot = &mut texts[index(&self.kernel, key)?];
            if slot.replace(text).is_some() {
                return Err(JobError::Usage(format!(
                    "argument `{key}` is given twice, by name and by index"
                )));
            }
        }
        let missing: Vec<String> = (0..count)
            .filter(|i| texts[*i].is_none())
            .map(|i| match argument_type(&self.kernel, i) {
                ty if ty.is_empty() => format!("`{}`", argument_name(&self.kernel, i)),
                ty => format!("`{}` ({ty})", argument_name(&self.kernel, i)),
            })
            .collect();
        match &missing[..] {
            [] => {}
            [one] => return Err(JobError::Usage(format!("argument {one} is not given"))),
            all => return Err(JobError::Usage(format!("arguments are not given: {}", all.join(", ")))),
        }
        let texts: Vec<String> = texts.into_iter().flatten().map(ArgText::text).collect();
        let mut made: Vec<Option<(Arg, Option<Bound>)>> = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            let name = argument_name(&self.kernel, i);
            let own = !text.starts_with(SAME);
            made.push(match own {
                true => Some(self.argument(i, &name, text).map_err(|e| e.of_argument(&name))?),
                false => None,
            });
        }
        // What is another argument's is made when that one is.
        for (i, text) in texts.iter().enumerate() {
            if let Some(of) = text.strip_prefix(SAME) {
                let name = argument_name(&self.kernel, i);
                made[i] = Some(self.same(i, &name, of, &made).map_err(|e| e.of_argument(&name))?);
            }
        }
        for (arg, bound) in made.into_iter().flatten() {
            self.launch.args.push(arg);
            self.bound.push(bound);
        }
        Ok(())
    }

    /// `arg:NAME[+BYTES]`: the buffer of another argument, from a byte on.
    fn same(
        &self,
        i: usize,
        name: &str,
        of: &str,
        made: &[Option<(Arg, Option<Bound>)>],
    ) -> Result<(Arg, Option<Bound>), JobError> {
        let (of, offset) = same_buffer(of)?;
        if !matches!(self.kind(i), Kind::Buffer | Kind::Unused) {
            return Err(JobError::Usage("only a buffer can be that of another argument".into()));
        }
        let Some(Some((Arg::Buffer(allocation, from), Some(other)))) = made.get(index(&self.kernel, of)?)
        else {
            return Err(JobError::Usage(format!("argument `{of}` has no buffer of its own")));
        };
        let bytes = other.shape.iter().product::<u64>() * other.elem.size() as u64;
        if offset > bytes {
            return Err(JobError::Usage(format!("`{of}` has {bytes} bytes, fewer than {offset}")));
        }
        let elem = pointed_type(&argument_type(&self.kernel, i)).unwrap_or(other.elem);
        let shape = match (offset, elem.size() == other.elem.size()) {
            (0, true) => other.shape.clone(),
            _ => vec![(bytes - offset) / elem.size() as u64],
        };
        let offset = from + offset;
        let bound = Bound { name: name.to_owned(), allocation: *allocation, offset, elem, shape };
        Ok((Arg::Buffer(*allocation, offset), Some(bound)))
    }

    /// What metadata says of an argument.
    fn kind(&self, i: usize) -> Kind {
        let ty = argument_type(&self.kernel, i);
        let info = self.kernel.args.iter().find(|a| a.index as usize == i);
        if info.is_some_and(|a| a.address_qualifier == "__local") {
            return Kind::Local;
        }
        if ty.ends_with('*') {
            return Kind::Buffer;
        }
        if ty.starts_with("image") {
            return Kind::Image;
        }
        if ty == "sampler_t" {
            return Kind::Sampler;
        }
        let mut bytes = 0;
        for p in self.kernel.metadata.payload_arguments.iter().filter(|p| p.arg_index == Some(i as u32)) {
            match (p.arg_type, p.addrmode, p.addrspace) {
                (ArgType::ArgByvalue, ..) => {
                    bytes = bytes.max(u64::from(p.source_offset.unwrap_or(0)) + u64::from(p.size));
                }
                (ArgType::ArgBypointer, Some(AddrMode::Slm), _) => return Kind::Local,
                (ArgType::ArgBypointer, _, Some(AddrSpace::Image)) => return Kind::Image,
                (ArgType::ArgBypointer, _, Some(AddrSpace::Sampler)) => return Kind::Sampler,
                (ArgType::ArgBypointer | ArgType::BufferAddress | ArgType::BufferOffset, ..) => {
                    return Kind::Buffer;
                }
                _ => {}
            }
        }
        match (bytes, info) {
            (0, None) => Kind::Unused,
            (n, _) => Kind::Value(n),
        }
    }

    /// One argument: what is passed, and where its data is.
    fn argument(&mut self, i: usize, name: &str, text: &str) -> Result<(Arg, Option<Bound>), JobError> {
        let usage = |s: String| Err(JobError::Usage(s));
        let ty = argument_type(&self.kernel, i);
        let a_ty = if ty.is_empty() { String::new() } else { format!(" ({ty})") };
        match self.kind(i) {
            Kind::Image => self.image(name, &ty, text),
            Kind::Sampler => match text.strip_prefix("sampler:") {
                Some(sampler) => {
                    let spec = images::parse_sampler(sampler).map_err(JobError::Usage)?;
                    Ok((Arg::Sampler(spec.sampler()), None))
                }
                None => usage(format!(
                    "it is a sampler; write sampler:ADDRESSING:nearest|linear:normalized|unnormalized, not `{text}`"
                )),
            },
            Kind::Local => match ValueSpec::parse(text) {
                Ok(ValueSpec::Local(bytes)) => Ok((Arg::Local(bytes), None)),
                _ => usage(format!("it is local memory{a_ty}; write local:BYTES, not `{text}`")),
            },
            Kind::Buffer | Kind::Unused if text.starts_with("image:") => {
                usage(format!("it is a buffer{a_ty}, not an image"))
            }
            Kind::Value(_) if text.starts_with("image:") || text.starts_with("sampler:") => {
                usage(format!("it is a value{a_ty}; `{text}` is none"))
            }
            Kind::Buffer | Kind::Unused if text.starts_with("sampler:") => {
                usage(format!("it is a buffer{a_ty}, not a sampler"))
            }
            Kind::Value(bytes) => value(&ty, self.stated_size(i), bytes, text).map(|v| (Arg::Value(v), None)),
            Kind::Buffer | Kind::Unused => self.buffer(name, &ty, text),
        }
    }

    /// Size of an argument as the source has it, in bytes.
    fn stated_size(&self, i: usize) -> Option<u64> {
        let info = self.kernel.args.iter().find(|a| a.index as usize == i)?;
        info.type_and_size().1.map(u64::from)
    }

    fn buffer(&mut self, name: &str, ty: &str, text: &str) -> Result<(Arg, Option<Bound>), JobError> {
        let a_ty = if ty.is_empty() { String::new() } else { format!(" ({ty})") };
        let spec = ValueSpec::parse(text).map_err(JobError::usage)?;
        let value = match &spec {
            ValueSpec::Local(_) => {
                return Err(JobError::Usage(format!("it is a buffer{a_ty}, not local memory")));
            }
            ValueSpec::Number(number) => {
                if parse_scalar(ElemType::U64, number).is_ok_and(|b| b == [0; 8]) {
                    return Ok((Arg::Null, None));
                }
                return Err(JobError::Usage(format!(
                    "it is a buffer{a_ty}; `{number}` is none (0 is the null pointer)"
                )));
            }
            // Before any data are made.
            ValueSpec::Generated { ty: given, .. }
            | ValueSpec::Literal { ty: given, .. }
            | ValueSpec::List { ty: given, .. } => {
                if let Some(elem) = pointed_type(ty)
                    && elem != given.elem
                {
                    return Err(JobError::Usage(format!("it points to {elem}{a_ty}, not to {}", given.elem)));
                }
                // Made in place: the largest values are.
                if let ValueSpec::Generated { count, .. } = &spec
                    && let Some(bytes) = spec.generated_bytes(MEMORY_LIMIT).map_err(JobError::usage)?
                {
                    let allocation = self.session.zeros(&format!("buffer {name}"), bytes)?;
                    spec.generate(self.session.bytes(allocation));
                    let (elem, shape) = (given.elem, shape_of(*given, *count));
                    let bound = Bound { name: name.to_owned(), allocation, offset: 0, elem, shape };
                    return Ok((Arg::Buffer(allocation, 0), Some(bound)));
                }
                spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?
            }
            ValueSpec::File(_) => spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?,
        };
        let mut elem = value.elem;
        if let (Some(wanted), ValueSpec::File(path)) = (pointed_type(ty), &spec) {
            elem = read_as(wanted, &a_ty, path, &value)?;
        }
        let shape = if elem.size() == value.elem.size() {
            value.shape.clone()
        } else {
            vec![(value.bytes.len() / elem.size()) as u64]
        };
        let allocation = self.session.buffer(&format!("buffer {name}"), &value.bytes)?;
        let bound = Bound { name: name.to_owned(), allocation, offset: 0, elem, shape };
        Ok((Arg::Buffer(allocation, 0), Some(bound)))
    }

    /// `image:SHAPE:FORMAT=VALUE`, or a picture that says its own size.
    fn image(&mut self, name: &str, ty: &str, text: &str) -> Result<(Arg, Option<Bound>), JobError> {
        let (spec, texels) = match text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
            Some((image, value)) => (images::parse_image(image).map_err(JobError::Usage)?, data(value)?),
            None if text.starts_with('@') => {
                let value = data(text)?;
                let spec = images::of_picture(&value);
                (spec.map_err(JobError::Usage)?, value)
            }
            None => {
                return Err(JobError::Usage(format!(
                    "it is an image: write image:2d:W,H:rgba:unorm8=VALUE or @FILE.png, not `{text}`"
                )));
            }
        };
        if !spec.fits(ty) {
            return Err(JobError::Usage(format!("it is an {ty}; an {} is given", spec.type_name())));
        }
        if texels.bytes.len() as u64 != spec.bytes() {
            return Err(JobError::Usage(format!(
                "the image takes {} bytes, its value has {}",
                spec.bytes(),
                texels.bytes.len()
            )));
        }
        let allocation = self.session.buffer(&format!("image {name}"), &texels.bytes)?;
        let (elem, shape) = (spec.elem(), spec.shape());
        let bound = Bound { name: name.to_owned(), allocation, offset: 0, elem, shape };
        Ok((Arg::Image(spec.image(allocation)), Some(bound)))
    }

    fn bound(&self, key: &str) -> Result<&Bound, JobError> {
        let i = index(&self.kernel, key)?;
        match self.bound.get(i) {
            Some(Some(bound)) => Ok(bound),
            _ => Err(JobError::Usage(format!(
                "argument `{key}` is neither buffer nor image: it has no result"
            ))),
        }
    }

    pub(super) fn form(&self, key: &str) -> Result<Form, JobError> {
        let b = self.bound(key)?;
        Ok(Form { name: b.name.clone(), elem: b.elem, shape: b.shape.clone() })
    }

    /// Content of an argument.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Vec<u8>, JobError> {
        let bound = self.bound(key)?;
        let (allocation, elem) = (bound.allocation, bound.elem.size());
        let (from, count) = (bound.offset as usize, bound.shape.iter().product::<u64>() as usize);
        Ok(self.session.bytes(allocation)[from..from + count * elem].to_vec())
    }

    /// Content of an argument, with its type.
    ///
    /// # Errors
    /// Where there is no such argument, or it is neither buffer nor image.
    pub fn content(&mut self, key: &str) -> Result<HostValue, JobError> {
        let Form { elem, shape, .. } = self.form(key)?;
        Ok(HostValue { elem, shape, bytes: self.bytes(key)? })
    }
}

/// The type as which a file's content is passed where the kernel takes a pointer to `wanted`: raw bytes have the
/// pointer's type, arrays their own, and a picture's pixels may be one whole number each.
fn read_as(wanted: ElemType, a_ty: &str, path: &Path, value: &HostValue) -> Result<ElemType, JobError> {
    let alike = value.elem.size() == wanted.size() && value.elem.is_float() == wanted.is_float();
    let wrong =
        |held: String| Err(JobError::Usage(format!("it points to {wanted}{a_ty}, the file holds {held}")));
    match FileKind::of(path) {
        FileKind::Raw if value.bytes.len().is_multiple_of(wanted.size()) => Ok(wanted),
        FileKind::Raw => wrong(format!("{} bytes, no multiple of {}", value.bytes.len(), wanted.size())),
        FileKind::Npy if alike => Ok(value.elem),
        FileKind::Npy => wrong(value.elem.to_string()),
        FileKind::Png if alike => Ok(value.elem),
        FileKind::Png => {
            let pixel = value.shape.last().copied().unwrap_or(1) * value.elem.size() as u64;
            if !wanted.is_float() && pixel == wanted.size() as u64 {
                Ok(wanted)
            } else {
                wrong(format!("a picture of {} channels of {}", value.shape.last().unwrap_or(&1), value.elem))
            }
        }
    }
}

/// The bytes of an argument that is a value of type `ty`, of `stated` bytes in the source (if known) and
/// `paid` in the payload, there rounded up to 4 (0 if unknown).
fn value(ty: &str, stated: Option<u64>, paid: u64, text: &str) -> Result<Vec<u8>, JobError> {
    let usage = |s: String| Err(JobError::Usage(s));
    let known = vector_type(ty);
    let size = stated.filter(|n| *n > 0);
    match ValueSpec::parse(text).map_err(JobError::usage)? {
        ValueSpec::Number(number) => match known {
            Some(v) if v.lanes == 1 => parse_scalar(v.elem, &number).map_err(JobError::usage),
            Some(v) => usage(format!("its type is {ty}; write {v}:… with {} numbers", v.lanes)),
            None if ty.is_empty() => {
                usage(format!("the metadata does not say its type; write TYPE:VALUE, as i32:{number}"))
            }
            None => usage(format!("its type `{ty}` is no number; write TYPE:VALUE or @FILE")),
        },
        ValueSpec::Literal { ty: given, mut bytes } => {
            if let Some(v) = known {
                if given != v {
                    return usage(format!("its type is {ty}, not {given}"));
                }
                // A vector of three takes the place of four.
                bytes.resize(size.map_or(bytes.len(), |n| n.min(256) as usize).max(bytes.len()), 0);
            } else if let Some(n) = size.filter(|n| *n != bytes.len() as u64) {
                return usage(format!("its type {ty} has {n} bytes, {given} has {}", bytes.len()));
            } else if size.is_none()
                && paid != 0
                && (bytes.len() as u64).next_multiple_of(4) != paid.next_multiple_of(4)
            {
                return usage(format!("it takes {paid} bytes, {given} has {}", bytes.len()));
            }
            Ok(bytes)
        }
        // The bytes of a structure.
        ValueSpec::List { bytes, .. } if known.is_none() && size == Some(bytes.len() as u64) => Ok(bytes),
        spec @ ValueSpec::File(_) => {
            // Longer than any value: a file that was meant for a buffer.
            let value = spec.materialize(1 << 20).map_err(JobError::usage)?;
            match size {
                Some(n) if n != value.bytes.len() as u64 => {
                    usage(format!("its type {ty} has {n} bytes, the file holds {}", value.bytes.len()))
                }
                _ => Ok(value.bytes),
            }
        }
        ValueSpec::Generated { .. } | ValueSpec::List { .. } => usage(format!(
            "it is a value{}; `{text}` is an array",
            if ty.is_empty() { String::new() } else { format!(" ({ty})") }
        )),
        ValueSpec::Local(_) => usage(format!(
            "it is a value{}, not local memory",
            if ty.is_empty() { String::new() } else { format!(" ({ty})") }
        )),
    }
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
            "the kernel has no argument `{key}`; it takes {}{}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            did_you_mean(key, names.iter().map(String::as_str))
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

/// `float` and `float4`.
pub(super) fn vector_type(ty: &str) -> Option<ValueType> {
    let base = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = match &ty[base.len()..] {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    Some(ValueType { elem: scalar_type(base)?, lanes })
}

/// Element type of what a pointer points to, through vectors.
fn pointed_type(ty: &str) -> Option<ElemType> {
    vector_type(ty.strip_suffix('*')?).map(|v| v.elem)
}

/// Sizes of a launch; a group size that is not given is what the kernel requires, or a guess.
fn sizes(job: &Job, kernel: &LoadedKernel) -> Result<Launch, JobError> {
    let dims = job.global.len();
    if dims == 0 {
        return Err(JobError::Usage("say how many work-items there are: --global X[,Y[,Z]]".into()));
    }
    if dims > 3 {
        return Err(JobError::Usage(format!("{dims} global sizes: there are 1 to 3 dimensions")));
    }
    for (what, n) in [("local", job.local.len()), ("offset", job.offset.len())] {
        if n != 0 && n != dims {
            return Err(JobError::Usage(format!("global has {dims} dimensions, {what} has {n}")));
        }
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
