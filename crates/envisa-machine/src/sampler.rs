//! Samplers: how images are read.

use envisa_sem::sampler::{Addressing, Compare, Reduction};

/// A sampler's state: how images are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// What happens outside of the image.
    pub addressing: Addressing,
    /// Linear rather than nearest filtering.
    pub linear: bool,
    /// Coordinates from 0 to 1 rather than texels.
    pub normalized: bool,
    /// What messages that compare hold a texel's red against: the reference has to be this of it.
    pub compare: Option<Compare>,
    /// What linear filtering makes of its texels.
    pub reduction: Reduction,
    /// The channels of the border: bits of singles, or integers where the image has those. `None`: what OpenCL
    /// says, transparent black, opaque where the format has no alpha.
    pub border: Option<[u32; 4]>,
    /// How levels of detail are chosen.
    pub mip: Mip,
    /// Least and greatest level of detail.
    pub levels: [Level; 2],
}

/// What a sampler does with an image's levels of detail.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mip {
    /// The first level alone.
    #[default]
    None,
    /// The nearest level; of two as near the larger one, with more texels.
    Nearest,
    /// The levels on either side, mixed.
    Linear,
}

/// A level of detail, in 256ths, as sampler states hold it.
pub type Level = u16;

impl Sampler {
    /// A sampler as OpenCL has them: without comparisons, with OpenCL's border.
    pub const fn new(addressing: Addressing, linear: bool, normalized: bool) -> Sampler {
        Sampler {
            addressing,
            linear,
            normalized,
            compare: None,
            reduction: Reduction::Average,
            border: None,
            mip: Mip::None,
            levels: [0, 14 * 256],
        }
    }

    /// Does it say what lies outside of an image?
    pub const fn defines_outside(&self) -> bool {
        !matches!(self.addressing, Addressing::None)
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
