//! Formats of images, and images of them as tests give them.

use crate::harness::{Rng, Texels, World};
use envisa::ImageShape;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum As {
    Unorm,
    Snorm,
    Sint,
    Uint,
    Half,
    Float,
}

/// A format: OpenCL's codes of order and type, channels stored, bytes of each, how they convert.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Format(pub u32, pub u32, pub &'static [usize], pub usize, pub As);

pub const FORMATS: [Format; 11] = [
    Format(0x10b5, 0x10d2, &[0, 1, 2, 3], 1, As::Unorm),
    Format(0x10b6, 0x10d2, &[2, 1, 0, 3], 1, As::Unorm),
    Format(0x10b0, 0x10d2, &[0], 1, As::Unorm),
    Format(0x10b1, 0x10d2, &[3], 1, As::Unorm),
    Format(0x10b2, 0x10d3, &[0, 1], 2, As::Unorm),
    Format(0x10b5, 0x10d1, &[0, 1, 2, 3], 2, As::Snorm),
    Format(0x10b5, 0x10d7, &[0, 1, 2, 3], 1, As::Sint),
    Format(0x10b0, 0x10dc, &[0], 4, As::Uint),
    Format(0x10b2, 0x10db, &[0, 1], 2, As::Uint),
    Format(0x10b5, 0x10dd, &[0, 1, 2, 3], 2, As::Half),
    Format(0x10b5, 0x10de, &[0, 1, 2, 3], 4, As::Float),
];

fn half_to_single(x: u16) -> f32 {
    half::f16::from_bits(x).to_f32()
}

impl Format {
    pub fn bytes(self) -> usize {
        self.2.len() * self.3
    }

    pub fn int(self) -> bool {
        matches!(self.4, As::Sint | As::Uint)
    }

    /// One in a channel of the answer.
    pub fn one(self) -> u32 {
        if self.int() { 1 } else { 1f32.to_bits() }
    }

    /// R, G, B, A of a texel: what is not stored is 0, alpha 1.
    pub fn decode(self, texel: &[u8]) -> [u32; 4] {
        let mut out = [0, 0, 0, self.one()];
        for (k, &c) in self.2.iter().enumerate() {
            let x = texel[k * self.3..][..self.3].iter().rev().fold(0u64, |x, b| x << 8 | *b as u64);
            let bits = 8 * self.3 as u32;
            let signed = (x << (64 - bits)) as i64 >> (64 - bits);
            out[c] = match self.4 {
                As::Unorm => ((x as f64 / ((1u64 << bits) - 1) as f64) as f32).to_bits(),
                As::Snorm => ((signed as f64 / ((1i64 << (bits - 1)) - 1) as f64).max(-1.0) as f32).to_bits(),
                As::Sint => signed as u32,
                As::Uint | As::Float => x as u32,
                As::Half => half_to_single(x as u16).to_bits(),
            };
        }
        out
    }

    /// Writes the channels that are given.
    pub fn encode(self, texel: &mut [u8], channels: [Option<u32>; 4]) {
        for (k, &c) in self.2.iter().enumerate() {
            let Some(v) = channels[c] else { continue };
            let bits = 8 * self.3 as u32;
            let f = f32::from_bits(v) as f64;
            let max = ((1u64 << (bits - 1)) - 1) as i64;
            let x = match self.4 {
                As::Unorm => (f * ((1u64 << bits) - 1) as f64)
                    .round_ties_even()
                    .clamp(0.0, ((1u64 << bits) - 1) as f64) as u64,
                As::Snorm => ((f * max as f64).round_ties_even() as i64).clamp(-max - 1, max) as u64,
                As::Sint => (v as i32 as i64).clamp(-max - 1, max) as u64,
                As::Uint => (v as u64).min(u64::MAX >> (64 - bits)),
                As::Float => v as u64,
                As::Half => half::f16::from_f32(f32::from_bits(v)).to_bits() as u64,
            };
            texel[k * self.3..][..self.3].copy_from_slice(&x.to_le_bytes()[..self.3]);
        }
    }

    /// A number to write.
    pub fn value(self, rng: &mut Rng) -> u64 {
        match self.4 {
            As::Sint | As::Uint => {
                [rng.next() as u32, rng.below(300) as u32, (rng.below(300) as u32).wrapping_neg()]
                    [rng.below(3) as usize] as u64
            }
            _ => (rng.below(2600) as f32 / 1000.0 - 1.3).to_bits() as u64,
        }
    }
}

/// An image of a shape and format in the texels' buffer.
pub fn image(shape: ImageShape, f: Format) -> Texels {
    let (height, depth) = match shape {
        ImageShape::D1 | ImageShape::Buffer => (1, 1),
        ImageShape::D1Array => (1, 3),
        ImageShape::D2 => (4, 1),
        ImageShape::D2Array | ImageShape::D3 => (2, 3),
        ImageShape::Cube => (2, 6),
    };
    Texels {
        shape,
        width: 7,
        height,
        depth,
        samples: 1,
        levels: 1,
        order: f.0,
        ty: f.1,
        texel: f.bytes() as u32,
    }
}

/// First byte of a texel, from the table of shapes on page TYPED_ATOMIC; there is one level of detail.
pub fn place(i: &Texels, [u, v, r, lod]: [i64; 4]) -> Option<usize> {
    let (row, plane) = match i.shape {
        ImageShape::D1 | ImageShape::Buffer => (0, 0),
        ImageShape::D1Array => (0, v),
        ImageShape::D2 => (v, 0),
        ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => (v, r),
    };
    let inside = |x: i64, n: u32| (0..n as i64).contains(&x);
    let there = inside(u, i.width) && inside(row, i.height) && inside(plane, i.depth) && lod == 0;
    there.then(|| {
        plane as usize * i.slice() as usize + row as usize * i.row() as usize + (u as u32 * i.texel) as usize
    })
}

pub fn letters(channels: u32) -> String {
    "RGBA".chars().enumerate().filter(|(k, _)| channels >> k & 1 != 0).map(|(_, l)| l).collect()
}

pub fn texel(w: &World, at: usize, f: Format) -> Vec<u8> {
    w.texels[at..at + f.bytes()].to_vec()
}
