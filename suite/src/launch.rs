//! A kernel's header made concrete: sizes evaluated, inputs generated.

use std::collections::BTreeMap;

pub use envisa_client::{Addressing, ArgValue, ImageDesc, ImageShape, Launch, LaunchArg, Outputs, Sampler};
use envisa_harness::images::{parse_image, parse_sampler};
use envisa_harness::values::ValueSpec;

use crate::compare::Check;
use crate::expr;
use crate::kernel::{Extent, KernelFile};

/// Which of a kernel's sizes to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SizeSet {
    /// The small ones, for results.
    Conformance,
    /// The large ones, for time.
    Bench,
    /// Those between, for time against a peer that takes hundreds of times as long.
    Slow,
}

/// Data of one argument larger than this are refused: a mistake in a header.
const ARG_LIMIT: u64 = 1 << 30;

/// Evaluates a kernel's header for `set`; `peer` takes the peers' group size.
///
/// # Errors
/// A sentence naming the argument or size and what is wrong.
pub fn launch(kernel: &KernelFile, set: SizeSet, peer: bool) -> Result<Launch, String> {
    let h = &kernel.header;
    let sizes = match set {
        SizeSet::Conformance => &h.sizes,
        SizeSet::Bench => h.bench.as_ref().ok_or("the kernel has no benchmark sizes")?,
        SizeSet::Slow => h.slow.as_ref().ok_or("the kernel has no sizes for slow peers")?,
    };
    let triple = |extents: &[Extent]| -> Result<[u64; 3], String> {
        let mut out = [1; 3];
        for (slot, e) in out.iter_mut().zip(extents) {
            *slot = match e {
                Extent::Number(n) => *n,
                Extent::Expr(text) => expr::evaluate(text, sizes).map_err(|e| e.to_string())?,
            };
            if *slot == 0 || *slot > u64::from(u32::MAX) {
                return Err(format!("an extent of {slot} is out of range"));
            }
        }
        Ok(out)
    };
    let local = match (&h.peer_local, &h.bench_local) {
        (Some(l), _) if peer => l,
        (_, Some(l)) if set != SizeSet::Conformance => l,
        _ => &h.local,
    };
    let mut offset = [0; 3];
    offset[..h.offset.len()].copy_from_slice(&h.offset);
    let mut args = Vec::new();
    for a in &h.args {
        let value = arg_value(a, sizes).map_err(|e| format!("argument `{}`: {e}", a.name))?;
        let check = match (&a.bench_check, set) {
            (Some(check), SizeSet::Bench | SizeSet::Slow) => Some(check),
            _ => a.check.as_ref(),
        };
        let check = check.map(|c| Check::parse(c)).transpose()?;
        if check.is_some() && !matches!(value, ArgValue::Buffer(_) | ArgValue::Image(..)) {
            return Err(format!("argument `{}`: only buffers and images can be outputs", a.name));
        }
        args.push(LaunchArg { name: a.name.clone(), value, check });
    }
    let launch = Launch {
        dims: h.global.len() as u32,
        global: triple(&h.global)?,
        local: triple(local)?,
        offset,
        args,
    };
    if peer && launch.global.iter().zip(launch.local).any(|(g, l)| g % l != 0) {
        return Err("the group size must divide the range on peers: state `peer_local`".to_owned());
    }
    Ok(launch)
}

fn arg_value(a: &crate::kernel::ArgHeader, sizes: &BTreeMap<String, u64>) -> Result<ArgValue, String> {
    let spec = |text: &str| -> Result<ValueSpec, String> {
        let text = expr::substitute(text, sizes).map_err(|e| e.to_string())?;
        ValueSpec::parse(&text).map_err(|e| e.to_string())
    };
    let data = |text: &str| spec(text)?.materialize(ARG_LIMIT).map_err(|e| e.to_string());
    if let Some(text) = &a.buffer {
        return Ok(ArgValue::Buffer(data(text)?));
    }
    if let Some(text) = &a.bytes {
        let mut bytes = Vec::new();
        for part in text.split_whitespace() {
            match spec(part)? {
                ValueSpec::Literal { bytes: b, .. } => bytes.extend(b),
                _ => return Err(format!("`{part}` is not a literal")),
            }
        }
        return Ok(ArgValue::Scalar(bytes));
    }
    if let Some(text) = &a.sampler {
        return parse_sampler(text).map(ArgValue::Sampler);
    }
    let text = a.value.as_deref().ok_or("it has no value")?;
    if let Some(image) = &a.image {
        let image = parse_image(&expr::substitute(image, sizes).map_err(|e| e.to_string())?)?;
        let texels = data(text)?;
        let want = image.bytes();
        if texels.bytes.len() as u64 != want {
            return Err(format!("the image takes {want} bytes, its value has {}", texels.bytes.len()));
        }
        return Ok(ArgValue::Image(image, texels));
    }
    match spec(text)? {
        ValueSpec::Literal { bytes, .. } => Ok(ArgValue::Scalar(bytes)),
        ValueSpec::Local(n) => Ok(ArgValue::Local(n)),
        ValueSpec::Number(n) => Err(format!("write the type of `{n}`, as in `i32:{n}`")),
        ValueSpec::File(_) => Err("kernels of the suite use no files".to_owned()),
        generated => generated.materialize(ARG_LIMIT).map(ArgValue::Buffer).map_err(|e| e.to_string()),
    }
}
