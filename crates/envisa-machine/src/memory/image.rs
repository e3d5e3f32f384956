//! Images: texels in an allocation.

use super::AllocationId;

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
    /// Offset in the allocation of the texel at `(x, y, z)`, layers counted by the last coordinate the
    /// shape has; `None` outside the image.
    #[inline]
    pub fn texel(&self, x: u32, y: u32, z: u32) -> Option<usize> {
        self.sample([x, y, z], 0)
    }

    /// The same of a sample of the texel.
    #[inline]
    pub fn sample(&self, [x, y, z]: [u32; 3], sample: u32) -> Option<usize> {
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

    /// Bytes of all texels, tightly packed.
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
        assert_eq!(layers.sample([3, 1, 2], 1), Some(9 * 40 + 16 + 12));
        assert_eq!(layers.sample([3, 1, 2], 4), None);
        assert_eq!(layers.texel(0, 0, 1), Some(160));
    }
}
