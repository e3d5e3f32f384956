//! Samplers: how images are read.

use envisa_sem::sampler::{Compare, Reduction};

/// A sampler's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    /// How coordinates outside are treated.
    pub address: SamplerAddress,
    /// Linear instead of nearest.
    pub linear: bool,
    /// Coordinates go from 0 to 1.
    pub normalized: bool,
    /// What messages with a reference compare with.
    pub compare: Option<Compare>,
    /// What a linear filter makes of its texels.
    pub reduction: Reduction,
    /// The border's channels, as the format's are: singles or integers. `None`: what OpenCL says, transparent black,
    /// opaque where the format has no alpha.
    pub border: Option<[u32; 4]>,
}

impl Sampler {
    /// A sampler as OpenCL has them.
    pub const fn new(address: SamplerAddress, linear: bool, normalized: bool) -> Sampler {
        Sampler { address, linear, normalized, compare: None, reduction: Reduction::Average, border: None }
    }

    /// The handle by which bindless messages name the sampler of an index: a multiple of 16, as the offset of a
    /// sampler state is, and never zero.
    pub const fn handle(index: u32) -> u32 {
        (index + 1) << 4
    }

    /// The index behind a handle, whose low 4 bits are not part of it.
    pub fn index_of_handle(handle: u32) -> Option<usize> {
        (handle as usize >> 4).checked_sub(1)
    }
}

/// How a sampler treats coordinates outside the image; numbered as payloads carry it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum SamplerAddress {
    /// Undefined outside.
    None = 0,
    /// The border colour.
    ClampToBorder = 1,
    /// The nearest texel.
    ClampToEdge = 2,
    /// The image repeats.
    Repeat = 3,
    /// The image repeats, mirrored.
    Mirror = 4,
}
