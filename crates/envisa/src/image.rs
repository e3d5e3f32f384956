//! Images and samplers.

use crate::buffer::Buffer;
use crate::error::Error;
use envisa_machine::memory;

pub use envisa_machine::dispatch::{Mip, Sampler};
pub use envisa_sem::image::{ChannelOrder, ChannelType, ImageFormat};
pub use envisa_sem::sampler::{Addressing, Compare, Reduction};

/// Texels of an image over a buffer: what a surface state can say.
const MAX_BUFFER_TEXELS: u32 = 1 << 27;

/// Shape of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageShape {
    /// A row of texels.
    D1,
    /// A row of texels over a buffer, which may be longer than other rows.
    Buffer,
    /// Rows, each an image of its own.
    D1Array,
    /// Rows of texels.
    D2,
    /// Planes, each an image of its own.
    D2Array,
    /// Planes of rows of texels.
    D3,
    /// Six faces (+x, -x, +y, -y, +z, -z) a cube, each an image of its own; several cubes are an array.
    Cube,
}

/// What an image is: its shape and format, and how its texels lie in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageDesc {
    /// Its shape.
    pub shape: ImageShape,
    /// Texels in a row.
    pub width: u32,
    /// Rows; 1 for one-dimensional images.
    pub height: u32,
    /// Planes of a 3D image, layers of an array, faces of cubes; else 1.
    pub depth: u32,
    /// Samples of a texel: 1, 2, 4, 8 or 16, more than one in `D2` and `D2Array`. Each is a plane of its own: those of a
    /// layer follow one another.
    pub samples: u32,
    /// Levels of detail, each half as wide, high and deep as the one before, at least a texel. They follow one another,
    /// those after the first packed; one if texels have several samples.
    pub levels: u32,
    /// Its format.
    pub format: ImageFormat,
    /// Bytes from row to row; 0: tightly packed.
    pub row_pitch: u32,
    /// Bytes from plane to plane, or from layer to layer; 0: tightly packed.
    pub slice_pitch: u64,
}

impl ImageDesc {
    /// A tightly packed image; `extents` are width, height, and depth or layers, as far as the shape has them.
    pub fn packed(shape: ImageShape, extents: [u32; 3], format: ImageFormat) -> ImageDesc {
        let [width, height, depth] = extents;
        ImageDesc { shape, width, height, depth, samples: 1, levels: 1, format, row_pitch: 0, slice_pitch: 0 }
    }

    /// Bytes of a texel.
    pub const fn texel_bytes(&self) -> u32 {
        self.format.texel_bytes() as u32
    }

    /// Bytes from row to row.
    pub const fn row_bytes(&self) -> u64 {
        match self.row_pitch {
            0 => self.width as u64 * self.texel_bytes() as u64,
            pitch => pitch as u64,
        }
    }

    /// Bytes from plane to plane.
    pub const fn slice_bytes(&self) -> u64 {
        match self.slice_pitch {
            0 => self.row_bytes() * self.height as u64,
            pitch => pitch,
        }
    }

    /// Bytes from the first texel to behind the last, of all levels.
    pub fn bytes(&self) -> u64 {
        let (mut level, mut before) = (*self, 0u64);
        for _ in 1..self.levels.min(32) {
            let planes = u64::from(level.depth) * u64::from(level.samples);
            before = before.saturating_add(level.slice_bytes().saturating_mul(planes));
            level = level.next();
        }
        before.saturating_add(level.level_bytes())
    }

    /// The level after the first.
    fn next(&self) -> ImageDesc {
        let half = |n: u32| (n / 2).max(1);
        let depth = if self.shape == ImageShape::D3 { half(self.depth) } else { self.depth };
        let (width, height) = (half(self.width), half(self.height));
        ImageDesc { width, height, depth, row_pitch: 0, slice_pitch: 0, ..*self }
    }

    /// Bytes from the first texel to behind the last of the first level.
    const fn level_bytes(&self) -> u64 {
        let last_row = (self.height as u64).saturating_sub(1).saturating_mul(self.row_bytes());
        let planes = (self.depth as u64).saturating_mul(self.samples as u64);
        let last_plane = planes.saturating_sub(1).saturating_mul(self.slice_bytes());
        last_plane.saturating_add(last_row).saturating_add(self.width as u64 * self.texel_bytes() as u64)
    }

    fn check(&self, max_side: u32) -> Result<(), String> {
        let flat = matches!(self.shape, ImageShape::D1 | ImageShape::Buffer | ImageShape::D1Array);
        let max_side = if self.shape == ImageShape::Buffer { MAX_BUFFER_TEXELS } else { max_side };
        let layered = matches!(
            self.shape,
            ImageShape::D1Array | ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube
        );
        let sides = [self.width, self.height, self.depth];
        if sides.iter().any(|n| !(1..=max_side).contains(n)) {
            let [w, h, d] = sides;
            return Err(format!("an image of {w} x {h} x {d} texels: 1 to {max_side} a side"));
        }
        if (flat && self.height != 1) || (!layered && self.depth != 1) {
            return Err(format!("a {:?} image has no such height or depth", self.shape));
        }
        if self.shape == ImageShape::Cube && (self.width != self.height || !self.depth.is_multiple_of(6)) {
            return Err("a cube has six square faces".into());
        }
        let plane = matches!(self.shape, ImageShape::D2 | ImageShape::D2Array);
        if !matches!(self.samples, 1 | 2 | 4 | 8 | 16) || self.samples > 1 && !plane {
            return Err(format!("a {:?} image has no {} samples a texel", self.shape, self.samples));
        }
        let most = self.width.max(self.height).max(if self.shape == ImageShape::D3 { self.depth } else { 1 });
        let several = self.levels > 1;
        if !(1..=most.ilog2() + 1).contains(&self.levels)
            || several && (self.samples > 1 || self.shape == ImageShape::Buffer)
        {
            return Err(format!("a {:?} image of {most} texels has no {} levels", self.shape, self.levels));
        }
        let tight = u64::from(self.width) * u64::from(self.texel_bytes());
        if self.row_bytes() < tight || self.row_bytes() > u64::from(u32::MAX) {
            return Err(format!("rows of {tight} bytes do not fit a pitch of {} bytes", self.row_bytes()));
        }
        if (layered || several || self.samples > 1)
            && self.slice_bytes() < self.row_bytes() * u64::from(self.height)
        {
            return Err(format!("planes do not fit a pitch of {} bytes", self.slice_bytes()));
        }
        Ok(())
    }
}

/// An image: texels in a buffer, which it keeps alive.
#[derive(Clone, Debug)]
pub struct Image {
    desc: ImageDesc,
    buffer: Buffer,
}

impl Image {
    pub(crate) fn new(desc: ImageDesc, buffer: Buffer, max_side: u32) -> Result<Image, Error> {
        desc.check(max_side).map_err(Error::Range)?;
        if desc.bytes() > buffer.len() {
            return Err(Error::Range(format!(
                "the image takes {} bytes, {} has {}",
                desc.bytes(),
                buffer.name(),
                buffer.len()
            )));
        }
        Ok(Image { desc, buffer })
    }

    /// What it is.
    pub fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// Where its texels are.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(crate) fn machine(&self) -> memory::Image {
        let d = &self.desc;
        memory::Image {
            shape: match d.shape {
                ImageShape::D1 | ImageShape::Buffer => memory::ImageShape::D1,
                ImageShape::D1Array => memory::ImageShape::D1Array,
                ImageShape::D2 => memory::ImageShape::D2,
                ImageShape::D2Array => memory::ImageShape::D2Array,
                ImageShape::D3 => memory::ImageShape::D3,
                ImageShape::Cube => memory::ImageShape::Cube,
            },
            width: d.width,
            height: d.height,
            depth: d.depth,
            samples: d.samples,
            levels: d.levels,
            row_pitch: d.row_bytes() as u32,
            slice_pitch: d.slice_bytes(),
            channel_order: d.format.order() as u32,
            channel_type: d.format.channel_type() as u32,
            texel_bytes: d.texel_bytes(),
            start: self.buffer.allocation().1,
            allocation: self.buffer.allocation().0.id,
        }
    }
}
