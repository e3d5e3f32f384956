//! Formats of images.

use opencl_sys as cl;

use super::error::{Error, Result};
use crate::device::{self, ImageFormat};

/// Channel order and data type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// `CL_RGBA` and so on.
    pub order: u32,
    /// `CL_UNORM_INT8` and so on.
    pub channel: u32,
}

const TYPES: &[u32] = &[
    cl::CL_UNORM_INT8,
    cl::CL_UNORM_INT16,
    cl::CL_SIGNED_INT8,
    cl::CL_SIGNED_INT16,
    cl::CL_SIGNED_INT32,
    cl::CL_UNSIGNED_INT8,
    cl::CL_UNSIGNED_INT16,
    cl::CL_UNSIGNED_INT32,
    cl::CL_HALF_FLOAT,
    cl::CL_FLOAT,
    cl::CL_SNORM_INT8,
    cl::CL_SNORM_INT16,
];

/// Formats of images of a kind with these flags, as Intel's driver reports them.
pub fn supported_formats(flags: u64, kind: u32) -> Vec<Format> {
    let of = |order: u32, types: &[u32]| -> Vec<Format> {
        types.iter().map(|&channel| Format { order, channel }).collect()
    };
    let mut all = Vec::new();
    for order in [cl::CL_RGBA, cl::CL_R, cl::CL_RG] {
        all.extend(of(order, TYPES));
    }
    all.extend(of(cl::CL_BGRA, &[cl::CL_UNORM_INT8]));
    all.extend(of(cl::CL_A, &[cl::CL_UNORM_INT8]));
    // What kernels can only read has more.
    if flags & (cl::CL_MEM_READ_ONLY | cl::CL_MEM_KERNEL_READ_AND_WRITE) == cl::CL_MEM_READ_ONLY {
        let norms = [cl::CL_UNORM_INT8, cl::CL_UNORM_INT16, cl::CL_HALF_FLOAT, cl::CL_FLOAT];
        all.extend(of(cl::CL_INTENSITY, &norms));
        all.extend(of(cl::CL_LUMINANCE, &norms));
        all.extend(of(cl::CL_A, &norms[1..]));
        all.extend(of(cl::CL_sRGBA, &norms[..1]));
        all.extend(of(cl::CL_sBGRA, &norms[..1]));
    }
    if matches!(kind, cl::CL_MEM_OBJECT_IMAGE2D | cl::CL_MEM_OBJECT_IMAGE2D_ARRAY) {
        all.extend(of(cl::CL_DEPTH, &[cl::CL_FLOAT, cl::CL_UNORM_INT16]));
    }
    all
}

impl Format {
    /// Channels of a texel.
    ///
    /// # Errors
    /// If the order is none of the standard's.
    pub fn channels(self) -> Result<usize> {
        Ok(match self.order {
            cl::CL_R | cl::CL_A | cl::CL_INTENSITY | cl::CL_LUMINANCE | cl::CL_DEPTH | cl::CL_Rx => 1,
            cl::CL_RG | cl::CL_RA | cl::CL_RGx => 2,
            cl::CL_RGB | cl::CL_RGBx | cl::CL_sRGB | cl::CL_sRGBx => 3,
            cl::CL_RGBA | cl::CL_BGRA | cl::CL_ARGB | cl::CL_ABGR | cl::CL_sRGBA | cl::CL_sBGRA => 4,
            _ => return Err(Error::INVALID_IMAGE_FORMAT_DESCRIPTOR),
        })
    }

    /// Bytes of a texel.
    ///
    /// # Errors
    /// If order or data type are none of the standard's.
    pub fn texel(self) -> Result<usize> {
        let channel = match self.channel {
            cl::CL_SNORM_INT8 | cl::CL_UNORM_INT8 | cl::CL_SIGNED_INT8 | cl::CL_UNSIGNED_INT8 => 1,
            cl::CL_SNORM_INT16
            | cl::CL_UNORM_INT16
            | cl::CL_SIGNED_INT16
            | cl::CL_UNSIGNED_INT16
            | cl::CL_HALF_FLOAT => 2,
            cl::CL_SIGNED_INT32 | cl::CL_UNSIGNED_INT32 | cl::CL_FLOAT => 4,
            cl::CL_UNORM_SHORT_565 | cl::CL_UNORM_SHORT_555 => return self.channels().map(|_| 2),
            cl::CL_UNORM_INT_101010 | cl::CL_UNORM_INT_101010_2 => return self.channels().map(|_| 4),
            _ => return Err(Error::INVALID_IMAGE_FORMAT_DESCRIPTOR),
        };
        Ok(channel * self.channels()?)
    }

    /// A texel of a colour, given as four floats, ints or unsigned ints by the data type.
    ///
    /// # Errors
    /// If the machine does not know the format.
    pub fn encode(self, colour: [u32; 4]) -> Result<Vec<u8>> {
        device::texel(self.to_machine_format()?, colour).ok_or(Error::IMAGE_FORMAT_NOT_SUPPORTED)
    }

    /// As the machine has it.
    ///
    /// # Errors
    /// If the machine does not know the format.
    pub fn to_machine_format(self) -> Result<ImageFormat> {
        device::image_format(self.order, self.channel).ok_or(Error::IMAGE_FORMAT_NOT_SUPPORTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_texels() {
        let f = |order, channel| Format { order, channel };
        let colour = [1.0f32, 0.5, 0.0, 2.0].map(f32::to_bits);
        assert_eq!(f(cl::CL_RGBA, cl::CL_UNORM_INT8).encode(colour).unwrap(), [255, 128, 0, 255]);
        assert_eq!(f(cl::CL_BGRA, cl::CL_UNORM_INT8).encode(colour).unwrap(), [0, 128, 255, 255]);
        assert_eq!(f(cl::CL_R, cl::CL_HALF_FLOAT).encode(colour).unwrap(), [0, 0x3c]);
        assert_eq!(f(cl::CL_RG, cl::CL_SIGNED_INT8).encode([300, -300i32 as u32, 0, 0]).unwrap(), [127, 128]);
        assert_eq!(f(cl::CL_RGBA, cl::CL_FLOAT).texel(), Ok(16));
        assert!(f(0, cl::CL_FLOAT).texel().is_err());
    }
}
