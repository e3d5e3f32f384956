//! Images and samplers as text: `2d:640,480:rgba:unorm8`, `clamp_to_edge:linear:normalized`.

use crate::values::{ElemType, HostValue};
pub use envisa::{
    Addressing, ChannelOrder, ChannelType, Compare, ImageDesc, ImageFormat, ImageShape, Mip, Reduction,
    Sampler,
};

/// Most texels in a row of an image, and most of an image over a buffer.
const MOST_TEXELS: [u32; 2] = [16384, 1 << 27];

/// Reads `2d:W,H:ORDER:FORMAT`; instead of `2d:W,H` also `1d:W`, `1dbuffer:W`, `1darray:W,LAYERS`, `2darray:W,H,LAYERS`,
/// `3d:W,H,D`, and of several samples a texel `2dms:W,H,SAMPLES` or `2dmsarray:W,H,LAYERS,SAMPLES`. Of several levels of
/// detail `:levelsN` follows.
///
/// # Errors
/// A sentence that shows the notation.
pub fn parse_image(text: &str) -> Result<ImageDesc, String> {
    let bad = || {
        format!(
            "cannot read the image `{text}`: expected SHAPE:ORDER:FORMAT, where SHAPE is 1d:W, 1dbuffer:W, \
             1darray:W,LAYERS, 2d:W,H, 2darray:W,H,LAYERS, 2dms:W,H,SAMPLES, 2dmsarray:W,H,LAYERS,SAMPLES, 3d:W,H,D \
             or cube:SIDE,FACES, ORDER is r, a, rg, ra, rgb, rgba, \
             bgra, argb, abgr, rx, rgx, rgbx, luminance, intensity, depth, srgb, srgbx, srgba or sbgra, and FORMAT \
             is i8, u8, i16, u16, i32, u32, unorm8, unorm16, snorm8, snorm16, unorm565, unorm555, unorm101010, \
             unorm1010102, f16 or f32; :levelsN may follow"
        )
    };
    let parts = text.split(':').collect::<Vec<_>>();
    let [kind, extents, order, format, ref more @ ..] = parts[..] else { return Err(bad()) };
    let levels = match more {
        [] => 1,
        [levels] => levels.strip_prefix("levels").and_then(|n| n.parse().ok()).ok_or_else(bad)?,
        _ => return Err(bad()),
    };
    let shape = match kind {
        "1d" => ImageShape::D1,
        "1dbuffer" => ImageShape::Buffer,
        "1darray" => ImageShape::D1Array,
        "2d" | "2dms" => ImageShape::D2,
        "2darray" | "2dmsarray" => ImageShape::D2Array,
        "3d" => ImageShape::D3,
        "cube" => ImageShape::Cube,
        _ => return Err(bad()),
    };
    let most = MOST_TEXELS[usize::from(shape == ImageShape::Buffer)];
    let mut extents: Vec<u32> =
        extents.split(',').map(|e| e.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
    let samples = if kind.contains("ms") { extents.pop().ok_or_else(bad)? } else { 1 };
    if !matches!(samples, 1 | 2 | 4 | 8 | 16) {
        return Err(format!("the image `{text}`: a texel has 1, 2, 4, 8 or 16 samples"));
    }
    let size = match (shape, &extents[..]) {
        (ImageShape::D1 | ImageShape::Buffer, &[width]) => [width, 1, 1],
        (ImageShape::D1Array, &[width, layers]) => [width, 1, layers],
        (ImageShape::D2, &[width, height]) => [width, height, 1],
        (ImageShape::D2Array | ImageShape::D3, &[width, height, depth]) => [width, height, depth],
        (ImageShape::Cube, &[side, faces]) => [side, side, faces],
        _ => return Err(bad()),
    };
    if extents.iter().any(|e| !(1..=most).contains(e)) {
        return Err(format!("the image `{text}`: extents are 1 to {most}"));
    }
    let order = match order {
        "r" => ChannelOrder::R,
        "a" => ChannelOrder::A,
        "rg" => ChannelOrder::Rg,
        "ra" => ChannelOrder::Ra,
        "rgb" => ChannelOrder::Rgb,
        "argb" => ChannelOrder::Argb,
        "abgr" => ChannelOrder::Abgr,
        "rx" => ChannelOrder::Rx,
        "rgx" => ChannelOrder::Rgx,
        "rgbx" => ChannelOrder::Rgbx,
        "luminance" => ChannelOrder::Luminance,
        "intensity" => ChannelOrder::Intensity,
        "depth" => ChannelOrder::Depth,
        "srgb" => ChannelOrder::Srgb,
        "srgbx" => ChannelOrder::SrgbX,
        "srgba" => ChannelOrder::SrgbA,
        "sbgra" => ChannelOrder::SbgrA,
        "rgba" => ChannelOrder::Rgba,
        "bgra" => ChannelOrder::Bgra,
        _ => return Err(bad()),
    };
    let channel = match format {
        "i8" => ChannelType::Sint8,
        "u8" => ChannelType::Uint8,
        "i16" => ChannelType::Sint16,
        "u16" => ChannelType::Uint16,
        "i32" => ChannelType::Sint32,
        "u32" => ChannelType::Uint32,
        "unorm8" => ChannelType::Unorm8,
        "unorm16" => ChannelType::Unorm16,
        "snorm16" => ChannelType::Snorm16,
        "unorm565" => ChannelType::Unorm565,
        "unorm555" => ChannelType::Unorm555,
        "unorm101010" => ChannelType::Unorm101010,
        "unorm1010102" => ChannelType::Unorm1010102,
        "snorm8" => ChannelType::Snorm8,
        "f16" => ChannelType::Half,
        "f32" => ChannelType::Float,
        _ => return Err(bad()),
    };
    let format = ImageFormat::new(order, channel).ok_or_else(bad)?;
    // Layers are of all levels.
    let depth = if shape == ImageShape::D3 { size[2] } else { 1 };
    let most = size[0].max(size[1]).max(depth).ilog2() + 1;
    if !(1..=most).contains(&levels) || levels > 1 && (samples > 1 || shape == ImageShape::Buffer) {
        return Err(format!(
            "the image `{text}`: it has 1 to {most} levels, and one if it has samples or is a buffer"
        ));
    }
    Ok(ImageDesc { samples, levels, ..ImageDesc::packed(shape, size, format) })
}

/// The image that a picture is: 8 or 16 bits a channel, read as 0.0 to 1.0.
///
/// # Errors
/// Where it is not a picture that an image can be made of, what to write instead.
pub fn of_picture(value: &HostValue) -> Result<ImageDesc, String> {
    let [height, width, channels] = value.shape[..] else {
        return Err("an image needs its shape: image:2d:W,H:rgba:unorm8=VALUE, or a PNG".to_owned());
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
        other => return Err(format!("a picture must have u8 or u16 channels, but this one has {other}")),
    };
    if [height, width].iter().any(|n| !(1..=16384).contains(n)) {
        return Err(format!("images have 1 to 16384 texels a side, this has {width} x {height}"));
    }
    let format = ImageFormat::new(order, channel).ok_or("images have no such format")?;
    Ok(ImageDesc::packed(ImageShape::D2, [width as u32, height as u32, 1], format))
}

/// Reads `ADDRESSING:nearest|linear:normalized|unnormalized`, after which a comparison (`less`, `less_equal`, …) and
/// `minimum` or `maximum`, and `mip_nearest` or `mip_linear` may follow, each after a colon.
///
/// # Errors
/// A sentence that shows the notation.
pub fn parse_sampler(text: &str) -> Result<Sampler, String> {
    let bad = || {
        format!(
            "cannot read the sampler `{text}`: ADDRESSING:nearest|linear:normalized|unnormalized, and then :never, \
             :less, :equal, :less_equal, :greater, :not_equal, :greater_equal or :always, :minimum or :maximum, and \
             :mip_nearest or :mip_linear"
        )
    };
    let parts = text.split(':').collect::<Vec<_>>();
    let [addressing, filter, coords, ref more @ ..] = parts[..] else { return Err(bad()) };
    let addressing = Addressing::ALL.into_iter().find(|a| a.name() == addressing).ok_or_else(bad)?;
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
    let mut sampler = Sampler::new(addressing, linear, normalized);
    for word in more {
        let compare = match *word {
            "never" => Compare::Never,
            "less" => Compare::Less,
            "equal" => Compare::Equal,
            "less_equal" => Compare::LessEqual,
            "greater" => Compare::Greater,
            "not_equal" => Compare::NotEqual,
            "greater_equal" => Compare::GreaterEqual,
            "always" => Compare::Always,
            "minimum" | "maximum" if sampler.reduction == Reduction::Average => {
                sampler.reduction = if *word == "minimum" { Reduction::Minimum } else { Reduction::Maximum };
                continue;
            }
            "mip_nearest" | "mip_linear" if sampler.mip == Mip::None => {
                sampler.mip = if *word == "mip_nearest" { Mip::Nearest } else { Mip::Linear };
                continue;
            }
            _ => return Err(bad()),
        };
        if sampler.compare.replace(compare).is_some() {
            return Err(bad());
        }
    }
    Ok(sampler)
}

/// Type of what an image stores for a channel; of packed formats, of a whole texel.
pub const fn element_type_of_format(format: ImageFormat) -> ElemType {
    match format.channel_type() {
        ChannelType::Sint8 | ChannelType::Snorm8 => ElemType::I8,
        ChannelType::Uint8 | ChannelType::Unorm8 => ElemType::U8,
        ChannelType::Sint16 | ChannelType::Snorm16 => ElemType::I16,
        ChannelType::Uint16 | ChannelType::Unorm16 | ChannelType::Unorm565 | ChannelType::Unorm555 => {
            ElemType::U16
        }
        ChannelType::Sint32 => ElemType::I32,
        ChannelType::Uint32 | ChannelType::Unorm101010 | ChannelType::Unorm1010102 => ElemType::U32,
        ChannelType::Half => ElemType::F16,
        ChannelType::Float => ElemType::F32,
    }
}

/// Extents of an image's content as an array: (depth or layers,) (samples,) height, width, channels; of
/// several levels a row.
pub fn array_shape(image: &ImageDesc) -> Vec<u64> {
    if image.levels > 1 {
        // Levels are of different sizes: one after another.
        return vec![image.bytes() / element_type_of_format(image.format).size() as u64];
    }
    let mut shape = vec![
        u64::from(image.width),
        (image.format.texel_bytes() / element_type_of_format(image.format).size()) as u64,
    ];
    if matches!(image.shape, ImageShape::D2 | ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube) {
        shape.insert(0, u64::from(image.height));
    }
    if image.samples > 1 {
        shape.insert(0, u64::from(image.samples));
    }
    if matches!(image.shape, ImageShape::D1Array | ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube) {
        shape.insert(0, u64::from(image.depth));
    }
    shape
}

/// The type of OpenCL C that an image is of.
pub const fn type_name(image: &ImageDesc) -> &'static str {
    match image.shape {
        ImageShape::D1 => "image1d_t",
        ImageShape::Buffer => "image1d_buffer_t",
        ImageShape::D1Array => "image1d_array_t",
        ImageShape::D2 if image.samples > 1 => "image2d_msaa_t",
        ImageShape::D2 => "image2d_t",
        ImageShape::D2Array if image.samples > 1 => "image2d_array_msaa_t",
        ImageShape::D2Array => "image2d_array_t",
        ImageShape::D3 => "image3d_t",
        ImageShape::Cube => "imagecube_t",
    }
}

/// Whether an argument of this type of OpenCL C (which may say how it is accessed) takes such an image.
pub fn accepts_image_argument(image: &ImageDesc, ty: &str) -> bool {
    let ty = ty.rsplit(' ').next().unwrap_or(ty);
    let plain = ty.replace("_depth", "").replace("_ro_t", "_t").replace("_wo_t", "_t").replace("_rw_t", "_t");
    !plain.starts_with("image") || plain == type_name(image)
}
