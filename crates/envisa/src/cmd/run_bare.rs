//! `envisa run` of hand-written vISA: text or binary, without a compiler's metadata.

use crate::cmd::{Done, Failure, Message};
use crate::io;
use envisa::bare::{BareArg, BareKernel, BareLaunch, BareOptions, FinalRegisters};
use envisa::images;
use envisa::isa::{Platform, Type};
use envisa::job::MEMORY_LIMIT;
use envisa::runner::{AllocationId, RunError, RunOptions, Session};
use envisa::values::{ElemType, HostValue, ValueSpec, parse_scalar};
use std::fmt::Write;
use std::path::Path;

/// Options of hand-written code.
#[derive(clap::Args)]
pub struct BareArgs {
    /// Hand-written code: the platform whose rules it follows.
    #[arg(long, value_name = "PLATFORM", value_parser = crate::cmd::platform)]
    platform: Option<Platform>,
    /// Hand-written code: thread groups.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    groups: Vec<u32>,
    /// Hand-written code: threads a group.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: u32,
    /// Hand-written code: channels a thread; by default the `SimdSize` attribute or the widest instruction.
    #[arg(long, value_name = "N")]
    simd: Option<u32>,
    /// Hand-written code: shared local memory a group, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10)]
    slm: u64,
}

/// A run that was asked for.
pub struct Request<'a> {
    /// The file.
    pub file: &'a Path,
    /// The kernel; empty for the first.
    pub kernel: &'a str,
    /// `NAME=VALUE`.
    pub args: &'a [String],
    /// `NAME=FILE`.
    pub outs: &'a [String],
    /// `NAME[:N]`.
    pub prints: &'a [String],
    /// How to run.
    pub options: RunOptions,
    /// Verify first.
    pub verify: bool,
    /// The rest.
    pub bare: &'a BareArgs,
    /// How to report.
    pub message: &'a Message,
}

/// Is it hand-written vISA, by its name?
pub fn is_bare(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "visaasm" || e == "isa" || e == "asm")
}

/// A buffer or image that was made for an argument.
struct Made {
    name: String,
    allocation: AllocationId,
    elem: ElemType,
}

/// Runs the command.
pub fn run(request: Request<'_>) -> Done {
    let mut report = request.message.report();
    let platform = request
        .bare
        .platform
        .ok_or("hand-written code needs the platform whose rules it follows: --platform SKL")?;
    let options = BareOptions {
        platform,
        kernel: request.kernel.to_owned(),
        simd: request.bare.simd,
        verify: request.verify,
    };
    if options.simd.is_some_and(|n| !matches!(n, 1 | 8 | 16 | 32)) {
        return Err("--simd is 1, 8, 16 or 32".into());
    }
    let bytes = io::read(request.file)?;
    let mut kernel = match BareKernel::load(&request.file.display().to_string(), &bytes, &options) {
        Ok(kernel) => kernel,
        Err(RunError::Text(diagnostics, files)) => {
            report.files = *files;
            report.diagnostics = diagnostics;
            return report.finish();
        }
        Err(e) => return Err(Failure(format!("{}: {e}", request.file.display()))),
    };
    let mut groups = [1; 3];
    if request.bare.groups.len() > 3 {
        return Err("--groups has one to three numbers".into());
    }
    groups[..request.bare.groups.len()].copy_from_slice(&request.bare.groups);

    let mut session = Session::new(MEMORY_LIMIT);
    let mut made = Vec::new();
    let mut args = Vec::new();
    for text in request.args {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure(format!("--arg {text}: expected NAME=VALUE")));
        };
        let arg = argument(&kernel, &mut session, &mut made, name, value)
            .map_err(|e| Failure(format!("--arg {name}: {e}")))?;
        args.push((name.to_owned(), arg));
    }
    let wanted = wanted(&kernel, &made, &request)?;
    let variables: Vec<&str> = wanted.iter().filter(|w| w.made.is_none()).map(|w| w.name.as_str()).collect();
    let launch = BareLaunch { groups, threads: request.bare.threads, slm_bytes: request.bare.slm, args };
    let mut last = FinalRegisters::of(&variables);
    let done = if variables.is_empty() {
        session.run_bare(&kernel, &launch, &request.options)
    } else {
        session.observe_bare(&kernel, &launch, &request.options, &mut last)
    };
    let outcome = done.map_err(|e| Failure(e.to_string()))?;
    let first = last.threads.into_values().next().unwrap_or_default();
    let mut registers = first.into_iter();
    for w in &wanted {
        let value = match w.made {
            Some(i) => {
                let bytes = session.bytes(made[i].allocation).to_vec();
                HostValue {
                    elem: made[i].elem,
                    shape: vec![(bytes.len() / made[i].elem.size()) as u64],
                    bytes,
                }
            }
            None => {
                let bytes = registers.next().unwrap_or_default();
                let elem = kernel.variable(&w.name).and_then(|(ty, _)| elem_of(ty)).unwrap_or(ElemType::U8);
                HostValue { elem, shape: vec![(bytes.len() / elem.size()) as u64], bytes }
            }
        };
        match &w.to {
            To::File(path) => {
                value.write(path).map_err(|e| Failure(e.to_string()))?;
                io::print(&format!("{} -> {}\n", w.name, path.display()))?;
            }
            To::Print(n) => io::print(&shown(&w.name, &value, *n))?,
        }
    }
    if let Some(trap) = &outcome.trap {
        report.diagnostics.push(kernel.diagnose(trap));
        report.files = std::mem::take(&mut kernel.files);
    }
    report.finish()
}

fn shown(name: &str, value: &HostValue, n: usize) -> String {
    let count = n.min(value.len());
    let elements: Vec<String> = (0..count).filter_map(|i| value.display(i)).collect();
    let rest = if count < value.len() { ", …" } else { "" };
    let mut out = String::new();
    let _ = writeln!(out, "{name} ({} x {}): {}{rest}", value.len(), value.elem, elements.join(", "));
    out
}

/// What is to be shown or written after the run.
struct Wanted {
    name: String,
    /// Of what was made for an argument, which; else it is a variable.
    made: Option<usize>,
    to: To,
}

enum To {
    File(std::path::PathBuf),
    Print(usize),
}

fn wanted(kernel: &BareKernel, made: &[Made], request: &Request<'_>) -> Result<Vec<Wanted>, Failure> {
    let mut out = Vec::new();
    let mut add = |name: &str, to: To| {
        let place = made.iter().position(|m| m.name == name);
        if place.is_none() && kernel.variable(name).is_none() {
            return Err(Failure(format!("`{name}` is neither a buffer that was given nor a variable")));
        }
        out.push(Wanted { name: name.to_owned(), made: place, to });
        Ok(())
    };
    for text in request.prints {
        // `bti:3` has a colon of its own.
        let colon = text.strip_prefix("bti:").map_or(text.find(':'), |rest| rest.find(':').map(|i| i + 4));
        let (name, n) = match colon {
            Some(i) => (&text[..i], &text[i + 1..]),
            None => (text.as_str(), "16"),
        };
        let n = n.parse().map_err(|_| Failure(format!("--print {text}: `{n}` is no number")))?;
        add(name, To::Print(n))?;
    }
    for text in request.outs {
        let Some((name, file)) = text.split_once('=') else {
            return Err(Failure(format!("--out {text}: expected NAME=FILE")));
        };
        add(name, To::File(file.into()))?;
    }
    Ok(out)
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

fn argument(
    kernel: &BareKernel,
    session: &mut Session,
    made: &mut Vec<Made>,
    name: &str,
    text: &str,
) -> Result<BareArg, String> {
    let data = |text: &str| -> Result<HostValue, String> {
        let spec = ValueSpec::parse(text).map_err(|e| e.to_string())?;
        spec.materialize(MEMORY_LIMIT).map_err(|e| e.to_string())
    };
    let mut buffer = |session: &mut Session, value: HostValue| {
        let allocation =
            session.buffer(&format!("buffer {name}"), &value.bytes).map_err(|e| e.to_string())?;
        made.push(Made { name: name.to_owned(), allocation, elem: value.elem });
        Ok::<_, String>(allocation)
    };
    if let Some((image, value)) = text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
        let spec = images::parse_image(image)?;
        let value = data(value)?;
        if value.bytes.len() as u64 != spec.bytes() {
            return Err(format!(
                "the image takes {} bytes, its value has {}",
                spec.bytes(),
                value.bytes.len()
            ));
        }
        let allocation = buffer(session, value)?;
        return Ok(BareArg::Image(spec.image(allocation)));
    }
    if let Some(sampler) = text.strip_prefix("sampler:") {
        return Ok(BareArg::Sampler(images::parse_sampler(sampler)?.sampler()));
    }
    if let Some(value) = text.strip_prefix("buffer:") {
        let value = data(value)?;
        return Ok(BareArg::Buffer(buffer(session, value)?, 0));
    }
    let variable = kernel.variable(name);
    let spec = ValueSpec::parse(text).map_err(|e| e.to_string())?;
    if let (ValueSpec::Number(number), Some((ty, _))) = (&spec, variable) {
        let elem = elem_of(ty).ok_or_else(|| format!("no number has the type {}", ty.name()))?;
        return Ok(BareArg::Bytes(parse_scalar(elem, number).map_err(|e| e.to_string())?));
    }
    let address = matches!(variable, Some((Type::Uq | Type::Q, 1)))
        && matches!(spec, ValueSpec::Generated { .. } | ValueSpec::File(_));
    let value = spec.materialize(MEMORY_LIMIT).map_err(|e| e.to_string())?;
    match variable {
        Some(_) if !address => Ok(BareArg::Bytes(value.bytes)),
        _ => Ok(BareArg::Buffer(buffer(session, value)?, 0)),
    }
}
