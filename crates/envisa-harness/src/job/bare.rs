//! A job of hand-written vISA: text or binary, without a compiler's metadata.

use super::deliver::Form;
use super::{Job, JobError, MEMORY_LIMIT, Output, SAME, Source, data, same_buffer};
use crate::images;
use crate::observe::Watch;
use crate::values::{ElemType, HostValue, ValueSpec, parse_scalar};
use envisa::bare::{BareArg, BareKernel, BareLaunch, BareOptions, FinalRegisters};
use envisa::diag::did_you_mean;
use envisa::isa::{Platform, Type};
use envisa::lower::InputClass;
use envisa::runner::{AllocationId, Outcome, RunOptions, Session};

/// A buffer or image that was made for an argument.
struct Made {
    name: String,
    allocation: AllocationId,
    elem: ElemType,
    shape: Vec<u64>,
}

/// Hand-written code with everything in memory, ready to run.
pub struct BareReady {
    /// The memory.
    pub session: Session,
    /// The kernel.
    pub kernel: BareKernel,
    /// Sizes and arguments.
    pub launch: BareLaunch,
    made: Vec<Made>,
    /// Outputs that are variables.
    variables: Vec<String>,
    pub(super) outputs: Vec<Output>,
}

impl BareReady {
    pub(super) fn new(job: &Job, source: Source) -> Result<BareReady, JobError> {
        let usage = |s: &str| Err(JobError::Usage(s.to_owned()));
        if !job.global.is_empty() || !job.local.is_empty() || !job.offset.is_empty() {
            return usage(
                "hand-written code has no work-items: give thread groups and threads (--groups, --threads) instead of --global, --local and --offset",
            );
        }
        if job.device.is_some() {
            return usage("hand-written code follows a platform's rules: --platform SKL, not --device");
        }
        let Some(platform) = &job.platform else {
            return usage("hand-written code needs the platform whose rules it follows: --platform SKL");
        };
        let platform = Platform::from_name(platform).ok_or_else(|| {
            let all: Vec<&str> = Platform::ALL.iter().map(|p| p.name()).collect();
            JobError::Usage(format!(
                "no platform is called `{platform}`; there are {}{}",
                all.join(", "),
                did_you_mean(platform, all.iter().copied())
            ))
        })?;
        if job.simd.is_some_and(|n| !matches!(n, 1 | 8 | 16 | 32)) {
            return usage("a thread has 1, 8, 16 or 32 channels (--simd)");
        }
        let options =
            BareOptions { platform, kernel: job.kernel.clone(), simd: job.simd, verify: !job.no_verify };
        let kernel = BareKernel::load(&source.name, &source.bytes, &options)?;
        let mut launch = BareLaunch::default();
        if job.groups.len() > 3 {
            return usage("there are one to three dimensions of groups");
        }
        launch.groups[..job.groups.len()].copy_from_slice(&job.groups);
        launch.threads = job.threads.unwrap_or(launch.threads);
        launch.slm_bytes = job.slm.unwrap_or(launch.slm_bytes);
        let outputs = job.outputs.clone();
        let session = Session::new(MEMORY_LIMIT);
        let mut ready =
            BareReady { session, kernel, launch, made: Vec::new(), variables: Vec::new(), outputs };
        // What is another argument's is made when that one is.
        let (same, own): (Vec<_>, Vec<_>) =
            job.args.iter().map(|(name, text)| (name, text.text())).partition(|(_, t)| t.starts_with(SAME));
        for (name, text) in own.into_iter().chain(same) {
            let arg = ready.argument(name, &text).map_err(|e| e.of_argument(name))?;
            ready.launch.args.push((name.clone(), arg));
        }
        for output in &ready.outputs {
            if ready.made.iter().any(|m| m.name == output.arg) {
                continue;
            }
            if ready.kernel.variable(&output.arg).is_none() {
                let all = ready.kernel.variable_names();
                return Err(JobError::Usage(format!(
                    "`{}` is neither a buffer that was given nor a variable{}",
                    output.arg,
                    did_you_mean(&output.arg, all)
                )));
            }
            ready.variables.push(output.arg.clone());
        }
        Ok(ready)
    }

    pub(super) fn run(&mut self, options: &RunOptions, watch: &mut Watch) -> Result<Outcome, JobError> {
        if !self.variables.is_empty() {
            let names: Vec<&str> = self.variables.iter().map(String::as_str).collect();
            watch.registers = Some(FinalRegisters::of(&names));
        }
        let done = if watch.is_idle() {
            self.session.run_bare(&self.kernel, &self.launch, options)
        } else {
            self.session.observe_bare(&self.kernel, &self.launch, options, watch)
        };
        let done = done?;
        let groups = self.launch.groups.iter().fold(1u64, |n, g| n.saturating_mul(u64::from(*g)));
        let a_group = u64::from(self.launch.threads) * u64::from(self.kernel.program().simd);
        Ok(Outcome {
            trap: done.trap,
            printed: String::new(),
            printed_incomplete: false,
            work_items: groups.saturating_mul(a_group),
            time: done.elapsed,
        })
    }

    pub(super) fn form(&self, name: &str) -> Result<Form, JobError> {
        if let Some(m) = self.made.iter().find(|m| m.name == name) {
            return Ok(Form { name: m.name.clone(), elem: m.elem, shape: m.shape.clone() });
        }
        let (ty, elems) = self.kernel.variable(name).unwrap_or((Type::Ub, 0));
        let elem = elem_of(ty).unwrap_or(ElemType::U8);
        let bytes = usize::from(elems) * ty.size() as usize;
        Ok(Form { name: name.to_owned(), elem, shape: vec![(bytes / elem.size()) as u64] })
    }

    pub(super) fn bytes(&mut self, name: &str, watch: &Watch) -> Result<Vec<u8>, JobError> {
        if let Some(m) = self.made.iter().find(|m| m.name == name) {
            return Ok(self.session.bytes(m.allocation).to_vec());
        }
        let place = self.variables.iter().position(|v| v == name);
        // Of the first group's first thread.
        let first = watch.registers.as_ref().and_then(|r| r.threads.values().next());
        let bytes = place.and_then(|i| first.and_then(|f| f.get(i)));
        bytes.cloned().ok_or_else(|| JobError::Usage(format!("no thread ended: `{name}` has no content")))
    }

    fn argument(&mut self, name: &str, text: &str) -> Result<BareArg, JobError> {
        let class = self.input(name)?;
        if let Some((image, value)) = text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
            let spec = images::parse_image(image).map_err(JobError::Usage)?;
            let value = data(value)?;
            if value.bytes.len() as u64 != spec.bytes() {
                return Err(JobError::Usage(format!(
                    "the image takes {} bytes, its value has {}",
                    spec.bytes(),
                    value.bytes.len()
                )));
            }
            let allocation = self.session.buffer(&format!("image {name}"), &value.bytes)?;
            let (elem, shape) = (spec.elem(), spec.shape());
            self.made.push(Made { name: name.to_owned(), allocation, elem, shape });
            return Ok(BareArg::Image(spec.image(allocation)));
        }
        if let Some(sampler) = text.strip_prefix("sampler:") {
            return Ok(BareArg::Sampler(images::parse_sampler(sampler).map_err(JobError::Usage)?.sampler()));
        }
        if let Some(of) = text.strip_prefix(SAME) {
            let (of, offset) = same_buffer(of)?;
            let Some(m) = self.made.iter().find(|m| m.name == of) else {
                return Err(JobError::Usage(format!("argument `{of}` has no buffer of its own")));
            };
            if class == InputClass::Sampler {
                return Err(JobError::Usage("it is a sampler".into()));
            }
            return Ok(BareArg::Buffer(m.allocation, offset));
        }
        if let Some(value) = text.strip_prefix("buffer:") {
            return self.buffer(name, data(value)?);
        }
        let variable = self.kernel.variable(name).filter(|_| class == InputClass::General);
        let spec = ValueSpec::parse(text).map_err(JobError::usage)?;
        if let (ValueSpec::Number(number), Some((ty, _))) = (&spec, variable) {
            let elem = elem_of(ty)
                .ok_or_else(|| JobError::Usage(format!("no number has the type {}", ty.name())))?;
            return Ok(BareArg::Bytes(parse_scalar(elem, number).map_err(JobError::usage)?));
        }
        if let ValueSpec::Number(_) | ValueSpec::Local(_) = spec {
            return Err(JobError::Usage(format!(
                "it is a surface: a buffer or an image is expected, not `{text}`"
            )));
        }
        let address = matches!(variable, Some((Type::Uq | Type::Q, 1)))
            && matches!(spec, ValueSpec::Generated { .. } | ValueSpec::List { .. } | ValueSpec::File(_));
        let value = spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?;
        match variable {
            Some(_) if !address => Ok(BareArg::Bytes(value.bytes)),
            _ => self.buffer(name, value),
        }
    }

    /// What an argument's name is the name of.
    fn input(&self, name: &str) -> Result<InputClass, JobError> {
        if name.starts_with("bti:") {
            return Ok(InputClass::Surface);
        }
        if name.starts_with("sampler:") {
            return Ok(InputClass::Sampler);
        }
        let inputs = self.kernel.inputs();
        if let Some(input) = inputs.iter().find(|i| i.name == name) {
            return Ok(input.class);
        }
        let all: Vec<&str> = inputs.iter().map(|i| i.name.as_str()).collect();
        Err(JobError::Usage(format!(
            "the kernel has no such input or surface; it has {}{}",
            if all.is_empty() { "none".to_owned() } else { all.join(", ") },
            did_you_mean(name, all.iter().copied())
        )))
    }

    fn buffer(&mut self, name: &str, value: HostValue) -> Result<BareArg, JobError> {
        let allocation = self.session.buffer(&format!("buffer {name}"), &value.bytes)?;
        self.made.push(Made { name: name.to_owned(), allocation, elem: value.elem, shape: value.shape });
        Ok(BareArg::Buffer(allocation, 0))
    }
}

fn elem_of(ty: Type) -> Option<ElemType> {
    Some(match ty {
        Type::Ud => ElemType::U32,
        Type::D => ElemType::I32,
        Type::Uw | Type::Bf => ElemType::U16,
        Type::W => ElemType::I16,
        Type::Ub => ElemType::U8,
        Type::B => ElemType::I8,
        Type::Uq => ElemType::U64,
        Type::Q => ElemType::I64,
        Type::F => ElemType::F32,
        Type::Df => ElemType::F64,
        Type::Hf => ElemType::F16,
        _ => return None,
    })
}
