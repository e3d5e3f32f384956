//! Images and samplers.

use std::sync::Arc;

use envisa_runtime::device::{ChannelOrder, ChannelType, ImageFormat, ImageShape, ImageValue, Sampler};
use envisa_runtime::device_properties::{IMAGE_2D, IMAGE_LAYERS};
use envisa_runtime::host_memory::{Backing, Layout3, Region};

use super::device::Device;
use super::error::{Error, Result};
use super::memory::next_id;

/// An image: its texels lie in rows, without gaps.
pub struct Image {
    shape: ImageShape,
    format: ImageFormat,
    /// Texels, rows, planes; layers are planes.
    size: [usize; 3],
    backing: Arc<Backing>,
    /// What tells its memory from other memory.
    pub id: u64,
}

/// A sampler, as kernels take it.
pub struct SamplerObject(pub Sampler);

/// What an image is to be, as the interface numbers it.
#[derive(Clone, Copy, Debug)]
pub struct ImageRequest {
    /// `ZE_IMAGE_TYPE_*`.
    pub kind: u32,
    /// `ZE_IMAGE_FORMAT_LAYOUT_*`.
    pub layout: u32,
    /// `ZE_IMAGE_FORMAT_TYPE_*`.
    pub channel: u32,
    /// `ZE_IMAGE_FORMAT_SWIZZLE_*` of the four channels.
    pub swizzle: [u32; 4],
    /// Texels, rows, planes.
    pub size: [u64; 3],
    /// Layers of arrays.
    pub layers: u32,
}

/// Most texels of an image over a buffer.
pub const MOST_BUFFER: u64 = 1 << 27;

/// The format.
fn image_format(w: &ImageRequest) -> Result<ImageFormat> {
    use ChannelType as T;
    // Bits of a channel, and channels, by the number of the layout.
    let (bits, channels) = match w.layout {
        0 => (8, 1),
        1 => (16, 1),
        2 => (32, 1),
        3 => (8, 2),
        4 => (8, 4),
        5 => (16, 2),
        6 => (16, 4),
        7 => (32, 2),
        8 => (32, 4),
        _ => return Err(Error::UNSUPPORTED_IMAGE_FORMAT),
    };
    let order = match (channels, w.swizzle) {
        (1, _) => ChannelOrder::R,
        (2, _) => ChannelOrder::Rg,
        // Blue first.
        (_, [2, 1, 0, _]) => ChannelOrder::Bgra,
        (_, [0, 1, 2, _]) => ChannelOrder::Rgba,
        _ => return Err(Error::UNSUPPORTED_IMAGE_FORMAT),
    };
    let channel = match (w.channel, bits) {
        (0, 8) => T::Uint8,
        (0, 16) => T::Uint16,
        (0, 32) => T::Uint32,
        (1, 8) => T::Sint8,
        (1, 16) => T::Sint16,
        (1, 32) => T::Sint32,
        (2, 8) => T::Unorm8,
        (2, 16) => T::Unorm16,
        (3, 8) => T::Snorm8,
        (3, 16) => T::Snorm16,
        (4, 16) => T::Half,
        (4, 32) => T::Float,
        _ => return Err(Error::UNSUPPORTED_IMAGE_FORMAT),
    };
    ImageFormat::new(order, channel).ok_or(Error::UNSUPPORTED_IMAGE_FORMAT)
}

/// What an image is to be, if the device can have it.
fn checked(device: &Device, wanted: &ImageRequest) -> Result<(ImageShape, ImageFormat, [usize; 3])> {
    if !device.spec.images {
        return Err(Error::UNSUPPORTED_FEATURE);
    }
    let format = image_format(wanted)?;
    let [w, h, d] = wanted.size;
    let (most, layers) = (IMAGE_2D as u64, IMAGE_LAYERS as u64);
    let n = u64::from(wanted.layers);
    let (shape, size, limits) = match wanted.kind {
        0 => (ImageShape::D1, [w, 1, 1], [most, 1, 1]),
        1 => (ImageShape::D1Array, [w, 1, n], [most, 1, layers]),
        2 => (ImageShape::D2, [w, h, 1], [most, most, 1]),
        3 => (ImageShape::D2Array, [w, h, n], [most, most, layers]),
        4 => (ImageShape::D3, [w, h, d], [most, most, layers]),
        5 => (ImageShape::Buffer, [w, 1, 1], [MOST_BUFFER, 1, 1]),
        _ => return Err(Error::INVALID_ENUMERATION),
    };
    if size.contains(&0) || size.iter().zip(limits).any(|(n, most)| *n > most) {
        return Err(Error::UNSUPPORTED_SIZE);
    }
    Ok((shape, format, size.map(|n| n as usize)))
}

impl Image {
    /// A new image.
    ///
    /// # Errors
    /// If the device has none, or not of this format or size; if memory is exhausted.
    pub fn new(device: &Device, wanted: &ImageRequest) -> Result<Arc<Image>> {
        let (shape, format, size) = checked(device, wanted)?;
        let bytes = size.iter().try_fold(format.texel_bytes(), |a, n| a.checked_mul(*n));
        let bytes = bytes.filter(|b| *b as u64 <= device.memory).ok_or(Error::UNSUPPORTED_SIZE)?;
        let backing = Backing::allocate(bytes, 0).ok_or(Error::OUT_OF_DEVICE_MEMORY)?;
        Ok(Arc::new(Image { shape, format, size, backing, id: next_id() }))
    }

    /// The same texels as an image of another format.
    ///
    /// # Errors
    /// If it is of another size, or its texels have other sizes.
    pub fn view(&self, device: &Device, wanted: &ImageRequest) -> Result<Arc<Image>> {
        let (shape, format, size) = checked(device, wanted)?;
        if format.texel_bytes() != self.format.texel_bytes() {
            return Err(Error::UNSUPPORTED_IMAGE_FORMAT);
        }
        if shape != self.shape || size != self.size {
            return Err(Error::INVALID_ARGUMENT);
        }
        Ok(Arc::new(Image { shape, format, size, backing: self.backing.clone(), id: self.id }))
    }

    /// Its bytes, those of a row, and those of a plane.
    pub fn bytes(&self) -> (u64, u64, u64) {
        let (row, slice) = self.pitches();
        (self.backing.len() as u64, row as u64, slice as u64)
    }

    fn pitches(&self) -> (usize, usize) {
        let row = self.size[0] * self.format.texel_bytes();
        (row, row * self.size[1])
    }

    /// As kernels take it.
    pub fn value(&self) -> ImageValue {
        let (row, slice) = self.pitches();
        let layered = matches!(self.shape, ImageShape::D1Array | ImageShape::D2Array | ImageShape::D3);
        ImageValue {
            shape: self.shape,
            size: self.size.map(|n| n as u32),
            row_pitch: row as u32,
            slice_pitch: if layered { slice as u64 } else { 0 },
            format: self.format,
            texels: self.backing.region(),
        }
    }

    /// A box of texels, all of them if none is given: where it lies, and its bytes, rows, planes.
    ///
    /// # Errors
    /// If it is not inside.
    pub fn part(&self, part: Option<([u32; 3], [u32; 3])>) -> Result<(Region, Layout3, [usize; 3])> {
        let whole = ([0; 3], self.size.map(|n| n as u32));
        let (mut origin, mut size) = part.unwrap_or(whole);
        if self.shape == ImageShape::D1Array && part.is_some() {
            // Layers are the second of what is given.
            (origin, size) = ([origin[0], 0, origin[1]], [size[0], 1, size[1].max(1)]);
        }
        // Dimensions that an image does not have may be left out, and begin anywhere, as with Intel's driver; of no width
        // is no texel.
        let has = match self.shape {
            ImageShape::D1 | ImageShape::Buffer => [true, false, false],
            ImageShape::D2 => [true, true, false],
            _ => [true; 3],
        };
        let size = [size[0], size[1].max(1), size[2].max(1)].map(|n| n as usize);
        let origin = [0, 1, 2].map(|d| if has[d] { origin[d] as usize } else { 0 });
        if (0..3).any(|d| origin[d] + size[d] > self.size[d]) {
            return Err(Error::INVALID_SIZE);
        }
        let (row, slice) = self.pitches();
        let texel = self.format.texel_bytes();
        let offset = origin[2] * slice + origin[1] * row + origin[0] * texel;
        Ok((self.backing.region(), Layout3 { offset, row, slice }, [size[0] * texel, size[1], size[2]]))
    }

    /// Whether texels of the one are those of the other.
    pub fn has_same_texels(&self, other: &Image) -> bool {
        self.format == other.format
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_the_machine_or_refused() {
        let wanted = |layout, channel, swizzle| ImageRequest {
            kind: 2,
            layout,
            channel,
            swizzle,
            size: [1; 3],
            layers: 0,
        };
        let rgba = [0, 1, 2, 3];
        let f = image_format(&wanted(4, 2, rgba)).unwrap();
        assert_eq!((f.order(), f.channel_type()), (ChannelOrder::Rgba, ChannelType::Unorm8));
        let f = image_format(&wanted(4, 2, [2, 1, 0, 3])).unwrap();
        assert_eq!((f.order(), f.channel_type()), (ChannelOrder::Bgra, ChannelType::Unorm8));
        let f = image_format(&wanted(2, 4, rgba)).unwrap();
        assert_eq!((f.order(), f.channel_type()), (ChannelOrder::R, ChannelType::Float));
        for (layout, channel) in [(9, 0), (2, 2), (0, 4), (45, 0), (u32::MAX, 0), (0, 9)] {
            assert_eq!(image_format(&wanted(layout, channel, rgba)), Err(Error::UNSUPPORTED_IMAGE_FORMAT));
        }
        assert!(image_format(&wanted(4, 0, [3, 2, 1, 0])).is_err());
    }
}
