//! Images and samplers as text: `2d:640,480:rgba:unorm8`, `clamp_to_edge:linear:normalized`.

use crate::values::{ElemType, HostValue};
use envisa::runner::{AllocationId, Image, ImageShape, Sampler, SamplerAddress};

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
    /// 1, 2 or 3.
    pub dims: u32,
    /// An array of such images.
    pub array: bool,
    /// A 1D image over a buffer, which may be longer than others.
    pub buffer: bool,
    /// Width, height in texels; depth or number of layers, else 1.
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

/// Most texels in a row of an image, and most of an image over a buffer.
const MOST_TEXELS: [u64; 2] = [16384, 1 << 27];

/// Reads `2d:W,H:ORDER:FORMAT`; instead of `2d:W,H` also `1d:W`, `1dbuffer:W`, `1darray:W,LAYERS`, `2darray:W,H,LAYERS`
/// or `3d:W,H,D`.
///
/// # Errors
/// A sentence that shows the notation.
pub fn parse_image(text: &str) -> Result<ImageSpec, String> {
    let bad = || {
        format!(
            "cannot read the image `{text}`: expected SHAPE:ORDER:FORMAT, where SHAPE is 1d:W, 1dbuffer:W, \
             1darray:W,LAYERS, 2d:W,H, 2darray:W,H,LAYERS or 3d:W,H,D, ORDER is r, rg, rgba or bgra, and FORMAT is \
             i8, u8, i16, u16, i32, u32, unorm8, unorm16, snorm8, f16 or f32"
        )
    };
    let [kind, extents, order, format] = text.split(':').collect::<Vec<_>>()[..] else { return Err(bad()) };
    let (dims, array) = match kind {
        "1d" | "1dbuffer" => (1, false),
        "1darray" => (1, true),
        "2d" => (2, false),
        "2darray" => (2, true),
        "3d" => (3, false),
        _ => return Err(bad()),
    };
    let buffer = kind == "1dbuffer";
    let most = MOST_TEXELS[usize::from(buffer)];
    let extents: Vec<u64> =
        extents.split(',').map(|e| e.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
    if extents.len() != dims as usize + usize::from(array) {
        return Err(bad());
    }
    if extents.iter().any(|e| !(1..=most).contains(e)) {
        return Err(format!("the image `{text}`: extents are 1 to {most}"));
    }
    let mut size = [1; 3];
    size[..extents.len()].copy_from_slice(&extents);
    if dims == 1 && array {
        // Layers are counted by the last of the three.
        size.swap(1, 2);
    }
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
    Ok(ImageSpec { dims, array, buffer, size, order, channel })
}

/// The image that a picture is: 8 or 16 bits a channel, read as 0.0 to 1.0.
///
/// # Errors
/// Where it is no picture that an image can be made of, what to write instead.
pub fn of_picture(value: &HostValue) -> Result<ImageSpec, String> {
    let [height, width, channels] = value.shape[..] else {
        return Err("an image wants its shape: image:2d:W,H:rgba:unorm8=VALUE, or a PNG".to_owned());
    };
    let order = match channels {
        1 => ChannelOrder::R,
        2 => ChannelOrder::Rg,
        4 => ChannelOrder::Rgba,
        n => {
            return Err(format!(
                "images have 1, 2 or 4 channels, the picture has {n}; save it with an alpha channel"
            ));
        }
    };
    let channel = match value.elem {
        ElemType::U8 => ChannelType::Unorm8,
        ElemType::U16 => ChannelType::Unorm16,
        other => return Err(format!("a picture has u8 or u16 channels, this has {other}")),
    };
    if [height, width].iter().any(|n| !(1..=16384).contains(n)) {
        return Err(format!("images have 1 to 16384 texels a side, this has {width} x {height}"));
    }
    Ok(ImageSpec { dims: 2, array: false, buffer: false, size: [width, height, 1], order, channel })
}

/// Reads `ADDRESSING:nearest|linear:normalized|unnormalized`.
///
/// # Errors
/// A sentence that shows the notation.
pub fn parse_sampler(text: &str) -> Result<SamplerSpec, String> {
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

impl ImageSpec {
    /// Bytes of a texel.
    pub const fn texel_bytes(&self) -> u64 {
        self.order.channels() * self.channel.size()
    }

    /// Bytes of all texels, tightly packed.
    pub fn bytes(&self) -> u64 {
        self.size.iter().product::<u64>().saturating_mul(self.texel_bytes())
    }

    /// Type of a channel's content.
    pub const fn elem(&self) -> ElemType {
        match self.channel {
            ChannelType::I8 | ChannelType::Snorm8 => ElemType::I8,
            ChannelType::U8 | ChannelType::Unorm8 => ElemType::U8,
            ChannelType::I16 => ElemType::I16,
            ChannelType::U16 | ChannelType::Unorm16 => ElemType::U16,
            ChannelType::I32 => ElemType::I32,
            ChannelType::U32 => ElemType::U32,
            ChannelType::F16 => ElemType::F16,
            ChannelType::F32 => ElemType::F32,
        }
    }

    /// The type of OpenCL C that it is of.
    pub const fn type_name(&self) -> &'static str {
        match (self.dims, self.array, self.buffer) {
            (1, _, true) => "image1d_buffer_t",
            (1, false, _) => "image1d_t",
            (1, true, _) => "image1d_array_t",
            (3, ..) => "image3d_t",
            (_, true, _) => "image2d_array_t",
            _ => "image2d_t",
        }
    }

    /// Whether an argument of this type of OpenCL C (which may say how it is accessed) takes such an image.
    pub fn fits(&self, ty: &str) -> bool {
        let ty = ty.rsplit(' ').next().unwrap_or(ty);
        let plain =
            ty.replace("_depth", "").replace("_ro_t", "_t").replace("_wo_t", "_t").replace("_rw_t", "_t");
        !plain.starts_with("image") || plain == self.type_name()
    }

    /// Extents of its content as an array: (depth or layers,) height, width, channels.
    pub fn shape(&self) -> Vec<u64> {
        let [width, height, depth] = self.size;
        let mut shape = vec![width, self.order.channels()];
        if self.dims > 1 {
            shape.insert(0, height);
        }
        if self.dims == 3 || self.array {
            shape.insert(0, depth);
        }
        shape
    }

    /// The image whose texels are in this allocation, tightly packed.
    pub fn image(&self, allocation: AllocationId) -> Image {
        let [width, height, depth] = self.size.map(|n| n as u32);
        let row_pitch = width * self.texel_bytes() as u32;
        Image {
            shape: match (self.dims, self.array) {
                (1, false) => ImageShape::D1,
                (1, true) => ImageShape::D1Array,
                (3, _) => ImageShape::D3,
                (_, true) => ImageShape::D2Array,
                _ => ImageShape::D2,
            },
            width,
            height,
            depth,
            row_pitch,
            slice_pitch: u64::from(row_pitch) * u64::from(height),
            channel_order: self.order.cl(),
            channel_type: self.channel.cl(),
            texel_bytes: self.texel_bytes() as u32,
            allocation,
        }
    }
}

impl ChannelOrder {
    /// OpenCL's number of it.
    pub const fn cl(self) -> u32 {
        match self {
            ChannelOrder::R => 0x10b0,
            ChannelOrder::Rg => 0x10b2,
            ChannelOrder::Rgba => 0x10b5,
            ChannelOrder::Bgra => 0x10b6,
        }
    }
}

impl ChannelType {
    /// OpenCL's number of it.
    pub const fn cl(self) -> u32 {
        match self {
            ChannelType::Snorm8 => 0x10d0,
            ChannelType::Unorm8 => 0x10d2,
            ChannelType::Unorm16 => 0x10d3,
            ChannelType::I8 => 0x10d7,
            ChannelType::I16 => 0x10d8,
            ChannelType::I32 => 0x10d9,
            ChannelType::U8 => 0x10da,
            ChannelType::U16 => 0x10db,
            ChannelType::U32 => 0x10dc,
            ChannelType::F16 => 0x10dd,
            ChannelType::F32 => 0x10de,
        }
    }
}

impl SamplerSpec {
    /// As the machine takes it.
    pub const fn sampler(&self) -> Sampler {
        Sampler {
            address: match self.addressing {
                Addressing::None => SamplerAddress::None,
                Addressing::Clamp => SamplerAddress::ClampToBorder,
                Addressing::ClampToEdge => SamplerAddress::ClampToEdge,
                Addressing::Repeat => SamplerAddress::Repeat,
                Addressing::MirroredRepeat => SamplerAddress::Mirror,
            },
            linear: self.linear,
            normalized: self.normalized,
        }
    }
}
