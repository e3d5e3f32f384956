//! Filters of images that are all inside their memory, for a message's channels in one go: what the general way of
//! `sampler` computes, bit by bit, without asking for each texel what holds for all. Places at the edges of an image
//! go the general way.

use envisa_sem::Hf;
use envisa_sem::image::{ChannelOrder, ChannelType, unorm8};
use envisa_sem::sampler::{Axis, Reduction, interpolate, of_bytes, single_of_sum};

use super::sampler::Filter;
use super::typed::Texels;
use crate::memory::ImageShape;

/// How texels become four channels.
trait Decode: Copy {
    /// The channels as bytes, where that is what they are.
    fn bytes(self, texels: &Texels<'_>, at: usize) -> [f32; 4] {
        self.read(texels, at).map(|x| f32::from_bits(x) * 255.0)
    }

    /// The texel at a place inside the block.
    fn read(self, texels: &Texels<'_>, at: usize) -> [u32; 4];
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident, $bytes:literal: |$b:ident| $texel:expr $(, $mixed:expr)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        struct $name;
        impl Decode for $name {
            #[inline(always)]
            fn read(self, texels: &Texels<'_>, at: usize) -> [u32; 4] {
                let $b: [u8; $bytes] = texels.block().read::<$bytes>(at).unwrap_or([0; $bytes]);
                $texel
            }

            $(
                #[inline(always)]
                fn bytes(self, texels: &Texels<'_>, at: usize) -> [f32; 4] {
                    let $b: [u8; $bytes] = texels.block().read::<$bytes>(at).unwrap_or([0; $bytes]);
                    $mixed.map(f32::from)
                }
            )?
        }
    )*};
}

const ONE: u32 = 1f32.to_bits();

fn word(b: &[u8], k: usize) -> u32 {
    u32::from_le_bytes([b[4 * k], b[4 * k + 1], b[4 * k + 2], b[4 * k + 3]])
}

fn half_float_at(b: &[u8], k: usize) -> u32 {
    f32::from(Hf(u16::from_le_bytes([b[2 * k], b[2 * k + 1]]))).to_bits()
}

formats! {
    /// Normalised bytes.
    Rgba8, 4: |b| [unorm8(b[0]), unorm8(b[1]), unorm8(b[2]), unorm8(b[3])], b;
    /// The same, blue first.
    Bgra8, 4: |b| [unorm8(b[2]), unorm8(b[1]), unorm8(b[0]), unorm8(b[3])], [b[2], b[1], b[0], b[3]];
    /// One normalised byte.
    R8, 1: |b| [unorm8(b[0]), 0, 0, ONE], [b[0], 0, 0, 255];
    /// Singles, or dwords.
    Rgba32, 16: |b| [word(&b, 0), word(&b, 1), word(&b, 2), word(&b, 3)];
    /// One single.
    R32f, 4: |b| [word(&b, 0), 0, 0, ONE];
    /// Halves.
    Rgba16f, 8: |b| [half_float_at(&b, 0), half_float_at(&b, 1), half_float_at(&b, 2), half_float_at(&b, 3)];
    /// Unsigned bytes.
    Rgba8ui, 4: |b| [b[0].into(), b[1].into(), b[2].into(), b[3].into()];
}

/// Any other format.
#[derive(Clone, Copy)]
struct Other;

impl Decode for Other {
    fn read(self, texels: &Texels<'_>, at: usize) -> [u32; 4] {
        texels.read(at)
    }
}

/// Where the texels of an image are.
#[derive(Clone, Copy)]
struct Layout {
    start: usize,
    texel: usize,
    row: usize,
    slice: usize,
}

/// The coordinates of a channel, and the offsets added to them.
pub(super) type Place = ([f32; 3], [i32; 3]);

/// The texels of channels, for which `place` gives coordinates; `false` where the filter is none of those that are done
/// here. `slow` does channels at edges.
pub(super) fn filter_row(
    filter: &Filter<'_>,
    mask: u32,
    place: impl Fn(usize) -> Place,
    slow: impl FnMut(usize) -> [u32; 4],
    out: &mut [[u32; 32]; 4],
) -> bool {
    let texels = filter.texels;
    let image = texels.image;
    if filter.compare.is_some() || filter.reduction != Reduction::Average {
        return false;
    }
    let Some(layout) = layout_inside_block(texels) else { return false };
    let dimensions = match image.shape {
        ImageShape::D2 => 2,
        ImageShape::D3 => 3,
        _ => return false,
    };
    use {ChannelOrder as O, ChannelType as T};
    macro_rules! with {
        ($decode:expr) => {{
            let mixes = filter.mixes_bytes();
            let all = Channels { texels, axes: &filter.axes, layout, decode: $decode, mixes };
            match (filter.linear, dimensions) {
                (true, 2) => all.run(mask, place, slow, out, |a, at| a.filter_bilinear(at)),
                (true, _) => all.run(mask, place, slow, out, |a, at| a.filter_trilinear(at)),
                (false, 2) => all.run(mask, place, slow, out, |a, at| a.nearest::<2>(at)),
                (false, _) => all.run(mask, place, slow, out, |a, at| a.nearest::<3>(at)),
            }
        }};
    }
    match (texels.format.order(), texels.format.channel_type()) {
        (O::Rgba, T::Unorm8) => with!(Rgba8),
        (O::Bgra, T::Unorm8) => with!(Bgra8),
        (O::R, T::Unorm8) => with!(R8),
        (O::Rgba, T::Float | T::Uint32 | T::Sint32) => with!(Rgba32),
        (O::R, T::Float) => with!(R32f),
        (O::Rgba, T::Half) => with!(Rgba16f),
        (O::Rgba, T::Uint8) => with!(Rgba8ui),
        _ => with!(Other),
    }
    true
}

/// The layout of an image whose texels are all inside the block.
fn layout_inside_block(texels: &Texels<'_>) -> Option<Layout> {
    let image = texels.image;
    let last = [image.width.checked_sub(1)?, image.height.checked_sub(1)?, image.depth.checked_sub(1)?];
    texels.texel([0; 3])?;
    texels.texel(last)?;
    Some(Layout {
        start: usize::try_from(image.start).ok()?,
        texel: image.texel_bytes as usize,
        row: image.row_pitch as usize,
        slice: usize::try_from(image.slice_pitch).ok()?,
    })
}

struct Channels<'a, D> {
    texels: &'a Texels<'a>,
    axes: &'a [Axis; 3],
    layout: Layout,
    decode: D,
    /// Texels are means of bytes.
    mixes: bool,
}

impl<D: Decode> Channels<'_, D> {
    #[inline(always)]
    fn run(
        &self,
        mask: u32,
        place: impl Fn(usize) -> Place,
        mut slow: impl FnMut(usize) -> [u32; 4],
        out: &mut [[u32; 32]; 4],
        one: impl Fn(&Self, Place) -> Option<[u32; 4]>,
    ) {
        let mut left = mask;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let texel = one(self, place(i)).unwrap_or_else(|| slow(i));
            for (row, x) in out.iter_mut().zip(texel) {
                row[i] = x;
            }
        }
    }

    #[inline(always)]
    fn texel_offset(&self, [x, y, z]: [u32; 3]) -> usize {
        let l = self.layout;
        l.start + z as usize * l.slice + y as usize * l.row + x as usize * l.texel
    }

    #[inline(always)]
    fn nearest<const N: usize>(&self, (at, offsets): Place) -> Option<[u32; 4]> {
        let mut index = [0; 3];
        for k in 0..N {
            index[k] = self.axes[k].inside(at[k], offsets[k])?;
        }
        Some(self.decode.read(self.texels, self.texel_offset(index)))
    }

    #[inline(always)]
    fn filter_bilinear(&self, (at, offsets): Place) -> Option<[u32; 4]> {
        let (x, u) = self.axes[0].between(at[0], offsets[0])?;
        let (y, v) = self.axes[1].between(at[1], offsets[1])?;
        let first = self.texel_offset([x, y, 0]);
        if self.mixes {
            return Some(of_bytes(self.mixed_rows(first, u, v)).map(f32::to_bits));
        }
        let [u, v] = [u, v].map(f64::from);
        let mut sum = [0f64; 4];
        self.add_weighted_corners(&mut sum, first, (1.0 - u, u), 1.0 - v, 1.0);
        self.add_weighted_corners(&mut sum, first + self.layout.row, (1.0 - u, u), v, 1.0);
        Some(sum.map(|x| single_of_sum(x).to_bits()))
    }

    #[inline(always)]
    fn filter_trilinear(&self, (at, offsets): Place) -> Option<[u32; 4]> {
        let (x, u) = self.axes[0].between(at[0], offsets[0])?;
        let (y, v) = self.axes[1].between(at[1], offsets[1])?;
        let (z, w) = self.axes[2].between(at[2], offsets[2])?;
        let mut first = self.texel_offset([x, y, z]);
        if self.mixes {
            let [a, b] = [0, self.layout.slice].map(|plane| self.mixed_rows(first + plane, u, v));
            return Some(of_bytes(interpolate(a, b, w)).map(f32::to_bits));
        }
        let [u, v, w] = [u, v, w].map(f64::from);
        let mut sum = [0f64; 4];
        for plane in [1.0 - w, w] {
            for (k, row) in [1.0 - v, v].into_iter().enumerate() {
                let at = first + k * self.layout.row;
                self.add_weighted_corners(&mut sum, at, (1.0 - u, u), row, plane);
            }
            first += self.layout.slice;
        }
        Some(sum.map(|x| single_of_sum(x).to_bits()))
    }

    /// The mean of the bytes of two neighbours in each of two rows.
    #[inline(always)]
    fn mixed_rows(&self, first: usize, u: f32, v: f32) -> [f32; 4] {
        let [a, b] = [0, self.layout.row].map(|row| {
            let [a, b] =
                [0, self.layout.texel].map(|texel| self.decode.bytes(self.texels, first + row + texel));
            interpolate(a, b, u)
        });
        interpolate(a, b, v)
    }

    /// Adds two neighbours in a row and a plane that have weights.
    #[inline(always)]
    fn add_weighted_corners(
        &self,
        sum: &mut [f64; 4],
        at: usize,
        (first, second): (f64, f64),
        row: f64,
        plane: f64,
    ) {
        for (at, weight) in [(at, first * row * plane), (at + self.layout.texel, second * row * plane)] {
            // What does not count may be anything.
            if weight > 0.0 {
                let texel = self.decode.read(self.texels, at);
                for (s, x) in sum.iter_mut().zip(texel) {
                    *s += weight * f64::from(f32::from_bits(x));
                }
            }
        }
    }
}
