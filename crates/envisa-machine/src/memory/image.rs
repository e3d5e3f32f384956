//! Images: texels in an allocation.

use super::AllocationId;
use envisa_sem::image::{ChannelOrder, ChannelType, ImageFormat};

/// Shape of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageShape {
    /// A row of texels.
    D1,
    /// Rows, each an image of its own.
    D1Array,
    /// Rows of texels.
    D2,
    /// Planes, each an image of its own.
    D2Array,
    /// Planes of rows of texels.
    D3,
    /// Six faces (+x, -x, +y, -y, +z, -z) a cube, each an image of its own.
    Cube,
}

/// An image: where its texels are and how they read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Its shape.
    pub shape: ImageShape,
    /// Texels in a row.
    pub width: u32,
    /// Rows; 1 for one-dimensional images.
    pub height: u32,
    /// Planes of a 3D image, layers of an array; else 1.
    pub depth: u32,
    /// Samples of a texel, each a plane of its own: those of a layer follow one another.
    pub samples: u32,
    /// Levels of detail, each half as wide, high and deep as the one before, at least a texel. They follow one another;
    /// those after the first are packed.
    pub levels: u32,
    /// Bytes from row to row.
    pub row_pitch: u32,
    /// Bytes from plane to plane.
    pub slice_pitch: u64,
    /// Channel order, as OpenCL numbers it (`CL_RGBA` is 0x10b5).
    pub channel_order: u32,
    /// Channel data type, as OpenCL numbers it (`CL_UNORM_INT8` is 0x10d2).
    pub channel_type: u32,
    /// Bytes of a texel.
    pub texel_bytes: u32,
    /// First byte of the texels in their allocation.
    pub start: u64,
    /// Where the texels are.
    pub allocation: AllocationId,
}

impl Image {
    /// Its texels' format, if that is one of OpenCL's.
    pub fn format(&self) -> Option<ImageFormat> {
        let order = ChannelOrder::from_cl(self.channel_order);
        let ty = ChannelType::from_cl(self.channel_type);
        order.zip(ty).and_then(|(order, ty)| ImageFormat::new(order, ty))
    }

    /// Offset in the allocation of the texel at `(x, y, z)`, layers counted by the last coordinate the
    /// shape has; `None` outside the image.
    #[inline]
    pub fn texel(&self, x: u32, y: u32, z: u32) -> Option<usize> {
        self.sample_offset([x, y, z], 0)
    }

    /// As [`Image::texel`], for one of the samples of the texel.
    #[inline]
    pub fn sample_offset(&self, [x, y, z]: [u32; 3], sample: u32) -> Option<usize> {
        let (row, plane) = match self.shape {
            ImageShape::D1 => (0, 0),
            ImageShape::D1Array => (0, y),
            ImageShape::D2 => (y, 0),
            ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => (y, z),
        };
        if x >= self.width || row >= self.height || plane >= self.depth || sample >= self.samples {
            return None;
        }
        let slice = u64::from(plane) * u64::from(self.samples) + u64::from(sample);
        let offset = slice
            .checked_mul(self.slice_pitch)?
            .checked_add(self.start)?
            .checked_add(u64::from(row) * u64::from(self.row_pitch))?
            .checked_add(u64::from(x) * u64::from(self.texel_bytes))?;
        usize::try_from(offset).ok()
    }

    /// A level of detail, as an image of its own; `None` if there is none.
    pub fn level(&self, level: u32) -> Option<Image> {
        // No image has more: its first level would have sides of 2^31.
        if level >= self.levels.min(32) {
            return None;
        }
        let mut image = Image { levels: 1, ..*self };
        for _ in 0..level {
            let planes = u64::from(image.depth).checked_mul(u64::from(image.samples))?;
            image.start = image.start.checked_add(image.slice_pitch.checked_mul(planes)?)?;
            let half = |n: u32| (n / 2).max(1);
            image.width = half(image.width);
            if !matches!(image.shape, ImageShape::D1 | ImageShape::D1Array) {
                image.height = half(image.height);
            }
            if image.shape == ImageShape::D3 {
                image.depth = half(image.depth);
            }
            image.row_pitch = image.width.checked_mul(image.texel_bytes)?;
            image.slice_pitch = u64::from(image.row_pitch) * u64::from(image.height);
        }
        Some(image)
    }

    /// Bytes of all texels of the first level, tightly packed.
    pub fn packed_bytes(&self) -> Option<u64> {
        u64::from(self.width)
            .checked_mul(u64::from(self.height))?
            .checked_mul(u64::from(self.depth))?
            .checked_mul(u64::from(self.samples))?
            .checked_mul(u64::from(self.texel_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_of_a_1d_array_are_the_second_coordinate() {
        let image = Image {
            shape: ImageShape::D1Array,
            width: 4,
            height: 1,
            depth: 3,
            samples: 1,
            levels: 1,
            row_pitch: 16,
            slice_pitch: 16,
            channel_order: 0x10b5,
            channel_type: 0x10d2,
            texel_bytes: 4,
            start: 0,
            allocation: AllocationId(0),
        };
        assert_eq!(image.texel(1, 2, 99), Some(36));
        assert_eq!(image.texel(1, 3, 0), None);
        assert_eq!(image.texel(4, 0, 0), None);
        assert_eq!(image.packed_bytes(), Some(48));
        assert_eq!(Image { start: 8, ..image }.texel(1, 2, 99), Some(44));
        let flat = Image { shape: ImageShape::D2, height: 3, depth: 1, ..image };
        assert_eq!(flat.texel(3, 2, 7), Some(44));
        assert_eq!(flat.texel(0, 3, 0), None);
        let layers =
            Image { shape: ImageShape::D2Array, height: 2, depth: 3, samples: 4, slice_pitch: 40, ..image };
        assert_eq!(layers.sample_offset([3, 1, 2], 1), Some(9 * 40 + 16 + 12));
        assert_eq!(layers.sample_offset([3, 1, 2], 4), None);
        assert_eq!(layers.texel(0, 0, 1), Some(160));
    }

    #[test]
    fn levels_follow_one_another() {
        let image = Image {
            shape: ImageShape::D3,
            width: 5,
            height: 2,
            depth: 4,
            samples: 1,
            levels: 3,
            row_pitch: 24,
            slice_pitch: 50,
            channel_order: 0x10b5,
            channel_type: 0x10d2,
            texel_bytes: 4,
            start: 8,
            allocation: AllocationId(0),
        };
        assert_eq!(image.level(0), Some(Image { levels: 1, ..image }));
        let first = image.level(1).unwrap();
        assert_eq!((first.width, first.height, first.depth), (2, 1, 2));
        assert_eq!((first.start, first.row_pitch, first.slice_pitch), (208, 8, 8));
        let second = image.level(2).unwrap();
        assert_eq!((second.width, second.height, second.depth, second.start), (1, 1, 1, 224));
        assert_eq!(image.level(3), None);
        assert_eq!(Image { levels: u32::MAX, start: u64::MAX, ..image }.level(31), None);
    }
}
