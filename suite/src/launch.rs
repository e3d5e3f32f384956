//! A kernel's header made concrete: sizes evaluated, inputs generated.

use std::collections::BTreeMap;

use envisa::values::{HostValue, ValueSpec};

use crate::compare::Check;
use crate::expr;
use crate::kernel::{Extent, KernelFile};

/// Which of a kernel's sizes to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSet {
    /// The small ones, for results.
    Conformance,
    /// The large ones, for time.
    Bench,
}

/// Order of an image's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelOrder {
    /// One channel.
    R,
    /// Two channels.
    Rg,
    /// Four channels.
    Rgba,
    /// Four channels, blue first.
    Bgra,
}

impl ChannelOrder {
    /// Number of channels stored.
    pub const fn channels(self) -> u64 {
        match self {
            ChannelOrder::R => 1,
            ChannelOrder::Rg => 2,
            ChannelOrder::Rgba | ChannelOrder::Bgra => 4,
        }
    }
}

/// How an image's channels are stored and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelType {
    /// Signed bytes, read as integers.
    I8,
    /// Unsigned bytes, read as integers.
    U8,
    /// Signed 16-bit integers.
    I16,
    /// Unsigned 16-bit integers.
    U16,
    /// Signed 32-bit integers.
    I32,
    /// Unsigned 32-bit integers.
    U32,
    /// Unsigned bytes, read as 0.0 to 1.0.
    Unorm8,
    /// Unsigned 16-bit integers, read as 0.0 to 1.0.
    Unorm16,
    /// Signed bytes, read as -1.0 to 1.0.
    Snorm8,
    /// binary16.
    F16,
    /// binary32.
    F32,
}

impl ChannelType {
    /// Bytes of one channel.
    pub const fn size(self) -> u64 {
        match self {
            ChannelType::I8 | ChannelType::U8 | ChannelType::Unorm8 | ChannelType::Snorm8 => 1,
            ChannelType::I16 | ChannelType::U16 | ChannelType::Unorm16 | ChannelType::F16 => 2,
            ChannelType::I32 | ChannelType::U32 | ChannelType::F32 => 4,
        }
    }
}

/// An image's shape and format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// 2 or 3.
    pub dims: u32,
    /// Width, height, depth in texels; depth 1 for 2D.
    pub size: [u64; 3],
    /// Order of the channels.
    pub order: ChannelOrder,
    /// Type of the channels.
    pub channel: ChannelType,
}

/// What a sampler does outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// Undefined outside.
    None,
    /// The border colour.
    Clamp,
    /// The nearest edge texel.
    ClampToEdge,
    /// Periodic (normalised coordinates only).
    Repeat,
    /// Periodic, every second period mirrored (normalised coordinates only).
    MirroredRepeat,
}

/// A sampler object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerSpec {
    /// What happens outside.
    pub addressing: Addressing,
    /// Linear rather than nearest filtering.
    pub linear: bool,
    /// Coordinates from 0 to 1 rather than texels.
    pub normalized: bool,
}

/// What is passed for an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// A global or constant buffer with its initial content.
    Buffer(HostValue),
    /// A value's bytes.
    Scalar(Vec<u8>),
    /// Local memory of so many bytes.
    Local(u64),
    /// An image with its initial texels.
    Image(ImageSpec, HostValue),
    /// A sampler.
    Sampler(SamplerSpec),
}

/// An argument ready to be passed.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchArg {
    /// Name in the source.
    pub name: String,
    /// What is passed.
    pub value: ArgValue,
    /// For outputs: how the final content is compared.
    pub check: Option<Check>,
}

/// Everything needed to run a kernel once.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Number of dimensions, 1 to 3.
    pub dims: u32,
    /// Work-items; ones beyond `dims`.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u64; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Arguments in order.
    pub args: Vec<LaunchArg>,
}

/// A run's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// Final content of the arguments that have a check: index and value.
    pub values: Vec<(usize, HostValue)>,
    /// What `printf` wrote.
    pub printed: String,
    /// Seconds of each timed run, in order; empty if none was timed.
    pub seconds: Vec<f64>,
}

/// Data of one argument larger than this are refused: a mistake in a header.
const ARG_LIMIT: u64 = 1 << 30;

impl Launch {
    /// Evaluates a kernel's header for `set`; `peer` takes the peers' group size.
    ///
    /// # Errors
    /// A sentence naming the argument or size and what is wrong.
    pub fn new(kernel: &KernelFile, set: SizeSet, peer: bool) -> Result<Launch, String> {
        let h = &kernel.header;
        let sizes = match set {
            SizeSet::Conformance => &h.sizes,
            SizeSet::Bench => h.bench.as_ref().ok_or("the kernel has no benchmark sizes")?,
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
            (_, Some(l)) if set == SizeSet::Bench => l,
            _ => &h.local,
        };
        let mut offset = [0; 3];
        offset[..h.offset.len()].copy_from_slice(&h.offset);
        let mut args = Vec::new();
        for a in &h.args {
            let value = arg_value(a, sizes).map_err(|e| format!("argument `{}`: {e}", a.name))?;
            let check = a.check.as_deref().map(Check::parse).transpose()?;
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

    /// Number of work-items.
    pub fn work_items(&self) -> u64 {
        self.global.iter().product()
    }
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
                _ => return Err(format!("`{part}` is no literal")),
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
        let want = image.size.iter().product::<u64>() * image.order.channels() * image.channel.size();
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

fn parse_image(text: &str) -> Result<ImageSpec, String> {
    let bad = || format!("cannot read the image `{text}`: 2d:W,H:ORDER:FORMAT or 3d:W,H,D:ORDER:FORMAT");
    let [kind, extents, order, format] = text.split(':').collect::<Vec<_>>()[..] else { return Err(bad()) };
    let dims: u32 = match kind {
        "2d" => 2,
        "3d" => 3,
        _ => return Err(bad()),
    };
    let extents: Vec<u64> =
        extents.split(',').map(|e| e.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
    if extents.len() != dims as usize || extents.iter().any(|e| !(1..=16384).contains(e)) {
        return Err(bad());
    }
    let mut size = [1; 3];
    size[..extents.len()].copy_from_slice(&extents);
    let order = match order {
        "r" => ChannelOrder::R,
        "rg" => ChannelOrder::Rg,
        "rgba" => ChannelOrder::Rgba,
        "bgra" => ChannelOrder::Bgra,
        _ => return Err(bad()),
    };
    let channel = match format {
        "i8" => ChannelType::I8,
        "u8" => ChannelType::U8,
        "i16" => ChannelType::I16,
        "u16" => ChannelType::U16,
        "i32" => ChannelType::I32,
        "u32" => ChannelType::U32,
        "unorm8" => ChannelType::Unorm8,
        "unorm16" => ChannelType::Unorm16,
        "snorm8" => ChannelType::Snorm8,
        "f16" => ChannelType::F16,
        "f32" => ChannelType::F32,
        _ => return Err(bad()),
    };
    Ok(ImageSpec { dims, size, order, channel })
}

fn parse_sampler(text: &str) -> Result<SamplerSpec, String> {
    let bad =
        || format!("cannot read the sampler `{text}`: ADDRESSING:nearest|linear:normalized|unnormalized");
    let [addressing, filter, coords] = text.split(':').collect::<Vec<_>>()[..] else { return Err(bad()) };
    let addressing = match addressing {
        "none" => Addressing::None,
        "clamp" => Addressing::Clamp,
        "clamp_to_edge" => Addressing::ClampToEdge,
        "repeat" => Addressing::Repeat,
        "mirrored_repeat" => Addressing::MirroredRepeat,
        _ => return Err(bad()),
    };
    let linear = match filter {
        "nearest" => false,
        "linear" => true,
        _ => return Err(bad()),
    };
    let normalized = match coords {
        "normalized" => true,
        "unnormalized" => false,
        _ => return Err(bad()),
    };
    Ok(SamplerSpec { addressing, linear, normalized })
}
