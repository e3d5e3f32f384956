//! Texel formats of typed surfaces: bytes to four channels and back.
//!
//! Conversions follow the OpenCL C specification's section on image channel types. A texel's channels are
//! four dwords, R G B A: singles for normalised and float formats, integers for the others.

use crate::convert::f32_to_hf;
use crate::float_mode::Rounding;
use crate::lane::Hf;

/// Which channels a texel stores, in which order (`cl_channel_order`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum ChannelOrder {
    R = 0x10b0,
    A = 0x10b1,
    Rg = 0x10b2,
    Ra = 0x10b3,
    Rgb = 0x10b4,
    Rgba = 0x10b5,
    Bgra = 0x10b6,
    Argb = 0x10b7,
    Intensity = 0x10b8,
    Luminance = 0x10b9,
    Rx = 0x10ba,
    Rgx = 0x10bb,
    Rgbx = 0x10bc,
    Depth = 0x10bd,
    Srgb = 0x10bf,
    SrgbX = 0x10c0,
    SrgbA = 0x10c1,
    SbgrA = 0x10c2,
    Abgr = 0x10c3,
}

impl ChannelOrder {
    const ALL: [ChannelOrder; 19] = {
        use ChannelOrder::*;
        [
            R, A, Rg, Ra, Rgb, Rgba, Bgra, Argb, Intensity, Luminance, Rx, Rgx, Rgbx, Depth, Srgb, SrgbX,
            SrgbA, SbgrA, Abgr,
        ]
    };

    /// The order of this `cl_channel_order`. Depth with stencil is not supported.
    pub fn from_cl(code: u32) -> Option<ChannelOrder> {
        Self::ALL.into_iter().find(|&o| o as u32 == code)
    }

    /// What each stored element is: a channel 0..=3 (R G B A), or 4 for padding.
    pub const fn stored(self) -> &'static [u8] {
        use ChannelOrder::*;
        match self {
            R | Intensity | Luminance | Depth => &[0],
            A => &[3],
            Rg => &[0, 1],
            Ra => &[0, 3],
            Rgb | Srgb => &[0, 1, 2],
            Rgba | SrgbA => &[0, 1, 2, 3],
            Bgra | SbgrA => &[2, 1, 0, 3],
            Argb => &[3, 0, 1, 2],
            Abgr => &[3, 2, 1, 0],
            Rx => &[0, 4],
            Rgx => &[0, 1, 4],
            Rgbx | SrgbX => &[0, 1, 2, 4],
        }
    }

    const fn is_srgb(self) -> bool {
        use ChannelOrder::*;
        matches!(self, Srgb | SrgbX | SrgbA | SbgrA)
    }
}

/// How a channel is stored (`cl_channel_type`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum ChannelType {
    Snorm8 = 0x10d0,
    Snorm16 = 0x10d1,
    Unorm8 = 0x10d2,
    Unorm16 = 0x10d3,
    /// 5, 6, 5 bits; red in the high bits.
    Unorm565 = 0x10d4,
    /// 5 bits each; red in bits 14:10, bit 15 undefined.
    Unorm555 = 0x10d5,
    /// 10 bits each in a dword; red in bits 29:20.
    Unorm101010 = 0x10d6,
    Sint8 = 0x10d7,
    Sint16 = 0x10d8,
    Sint32 = 0x10d9,
    Uint8 = 0x10da,
    Uint16 = 0x10db,
    Uint32 = 0x10dc,
    Half = 0x10dd,
    Float = 0x10de,
    /// 10 bits each and 2 of alpha; red in bits 31:22.
    Unorm1010102 = 0x10e0,
}

impl ChannelType {
    const ALL: [ChannelType; 16] = {
        use ChannelType::*;
        [
            Snorm8,
            Snorm16,
            Unorm8,
            Unorm16,
            Unorm565,
            Unorm555,
            Unorm101010,
            Sint8,
            Sint16,
            Sint32,
            Uint8,
            Uint16,
            Uint32,
            Half,
            Float,
            Unorm1010102,
        ]
    };

    /// The type of this `cl_channel_type`. 24-bit depth is not supported.
    pub fn from_cl(code: u32) -> Option<ChannelType> {
        Self::ALL.into_iter().find(|&t| t as u32 == code)
    }

    /// Are the channels integers rather than singles?
    pub const fn is_int(self) -> bool {
        use ChannelType::*;
        matches!(self, Sint8 | Sint16 | Sint32 | Uint8 | Uint16 | Uint32)
    }

    /// Bytes of one stored channel, or of the texel if packed.
    const fn size(self) -> usize {
        use ChannelType::*;
        match self {
            Snorm8 | Unorm8 | Sint8 | Uint8 => 1,
            Snorm16 | Unorm16 | Sint16 | Uint16 | Half | Unorm565 | Unorm555 => 2,
            Sint32 | Uint32 | Float | Unorm101010 | Unorm1010102 => 4,
        }
    }

    /// Of a packed format, the low bit and the width of R, G, B, A.
    const fn fields(self) -> Option<[(u32, u32); 4]> {
        use ChannelType::*;
        match self {
            Unorm565 => Some([(11, 5), (5, 6), (0, 5), (0, 0)]),
            Unorm555 => Some([(10, 5), (5, 5), (0, 5), (0, 0)]),
            Unorm101010 => Some([(20, 10), (10, 10), (0, 10), (0, 0)]),
            Unorm1010102 => Some([(22, 10), (12, 10), (2, 10), (0, 2)]),
            _ => None,
        }
    }
}

/// A texel format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageFormat {
    order: ChannelOrder,
    ty: ChannelType,
}

impl std::fmt::Display for ImageFormat {
    /// As `envisa run` takes it: `rgba:unorm8`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ty = match self.ty {
            ChannelType::Half => "f16".to_owned(),
            ChannelType::Float => "f32".to_owned(),
            ty => format!("{ty:?}").to_lowercase().replace("sint", "i").replace("uint", "u"),
        };
        write!(f, "{}:{ty}", format!("{:?}", self.order).to_lowercase())
    }
}

impl ImageFormat {
    /// A format, if OpenCL allows the combination: packed types with their own orders, sRGB with 8-bit
    /// unsigned, BGRA, ARGB and ABGR with 8 bits, intensity and luminance without integers, depth with
    /// 16-bit unsigned and float.
    pub fn new(order: ChannelOrder, ty: ChannelType) -> Option<ImageFormat> {
        use ChannelOrder::*;
        use ChannelType::*;
        let ok = match ty {
            Unorm565 | Unorm555 | Unorm101010 => matches!(order, Rgb | Rgbx),
            Unorm1010102 => order == Rgba,
            _ => match order {
                Srgb | SrgbX | SrgbA | SbgrA => ty == Unorm8,
                Bgra | Argb | Abgr => matches!(ty, Unorm8 | Snorm8 | Sint8 | Uint8),
                Intensity | Luminance => !ty.is_int(),
                Depth => matches!(ty, Unorm16 | Float),
                // Three bytes a texel exist only packed.
                Rgb | Rgbx | Rx | Rgx => matches!(order, Rx | Rgx),
                _ => true,
            },
        };
        ok.then_some(ImageFormat { order, ty })
    }

    /// The order.
    pub const fn order(self) -> ChannelOrder {
        self.order
    }

    /// The channels' type.
    pub const fn channel_type(self) -> ChannelType {
        self.ty
    }

    /// Are the channels bytes that stand for 0 to 1, one step as large as the other? Filters mix those as numbers.
    pub const fn is_bytes(self) -> bool {
        matches!(self.ty, ChannelType::Unorm8) && !self.order.is_srgb()
    }

    /// Are colours those of sRGB, which are not linear?
    pub const fn is_srgb(self) -> bool {
        self.order.is_srgb()
    }

    /// Do channels share bytes?
    pub const fn is_packed(self) -> bool {
        self.ty.fields().is_some()
    }

    /// Where a texel has a channel, 0..=3 (R G B A): the first of its bits, and how many; `None` where it has it not.
    pub fn bits(self, channel: u8) -> Option<(u32, u32)> {
        if let Some(fields) = self.ty.fields() {
            return fields.get(channel as usize).copied().filter(|(_, width)| *width != 0);
        }
        let from = match (self.order, channel) {
            (ChannelOrder::Intensity, _) | (ChannelOrder::Luminance, 0..=2) => 0,
            _ => channel,
        };
        let bits = 8 * self.ty.size() as u32;
        let at = self.order.stored().iter().position(|&c| c == from)?;
        Some((at as u32 * bits, bits))
    }

    /// Bytes of a texel.
    pub const fn texel_bytes(self) -> usize {
        if self.ty.fields().is_some() { self.ty.size() } else { self.ty.size() * self.order.stored().len() }
    }

    /// Reads a texel. Channels it does not store are 0, alpha 1 (for `A`, colours 0); intensity fills all
    /// four, luminance the colours. sRGB colours become linear. `None` if the slice is too short.
    pub fn decode(self, texel: &[u8]) -> Option<[u32; 4]> {
        let one = if self.ty.is_int() { 1 } else { 1f32.to_bits() };
        let mut out = [0, 0, 0, one];
        let texel = texel.get(..self.texel_bytes())?;
        if let Some(fields) = self.ty.fields() {
            let word = from_little_endian(texel);
            for (channel, (low, width)) in out.iter_mut().zip(fields) {
                if width != 0 {
                    let max = (1u32 << width) - 1;
                    *channel = ((word >> low & max) as f32 / max as f32).to_bits();
                }
            }
            return Some(out);
        }
        if self.ty == ChannelType::Unorm8 && self.order == ChannelOrder::Rgba {
            return Some(std::array::from_fn(|c| UNORM8[texel[c] as usize]));
        }
        for (bytes, &channel) in texel.chunks_exact(self.ty.size()).zip(self.order.stored()) {
            if channel < 4 {
                let x = self.ty.load(from_little_endian(bytes));
                let linear = self.order.is_srgb() && channel < 3;
                out[channel as usize] = if linear { from_srgb(f32::from_bits(x)).to_bits() } else { x };
            }
        }
        match self.order {
            ChannelOrder::Intensity => out = [out[0]; 4],
            ChannelOrder::Luminance => out = [out[0], out[0], out[0], one],
            _ => {}
        }
        Some(out)
    }

    /// What lies outside of an image: zero in all channels, alpha one where the order has neither alpha nor padding
    /// in its place (the OpenCL C specification's table of border colours).
    pub const fn border(self) -> [u32; 4] {
        use ChannelOrder::*;
        let opaque = matches!(self.order, R | Rg | Rgb | Srgb | Luminance | Depth);
        [
            0,
            0,
            0,
            if !opaque {
                0
            } else if self.ty.is_int() {
                1
            } else {
                1f32.to_bits()
            },
        ]
    }

    /// Writes a texel; padding becomes zero. Normalised channels are clamped and rounded to nearest even
    /// (NaN is 0), integers clamped to the stored type, halves rounded to nearest even. Returns whether
    /// the slice was long enough; if not nothing is written.
    #[must_use]
    pub fn encode(self, channels: [u32; 4], texel: &mut [u8]) -> bool {
        let Some(texel) = texel.get_mut(..self.texel_bytes()) else { return false };
        if let Some(fields) = self.ty.fields() {
            let mut word = 0;
            for (&channel, (low, width)) in channels.iter().zip(fields) {
                if width != 0 {
                    word |= unorm(f32::from_bits(channel), (1 << width) - 1) << low;
                }
            }
            texel.copy_from_slice(&word.to_le_bytes()[..texel.len()]);
            return true;
        }
        for (bytes, &channel) in texel.chunks_exact_mut(self.ty.size()).zip(self.order.stored()) {
            let x = channels.get(channel as usize).map_or(0, |&x| {
                let encoded = self.order.is_srgb() && channel < 3;
                self.ty.store(if encoded { to_srgb(f32::from_bits(x)).to_bits() } else { x })
            });
            bytes.copy_from_slice(&x.to_le_bytes()[..bytes.len()]);
        }
        true
    }
}

/// The singles that bytes stand for, 0 to 1: what images mostly hold, and quotients are slow.
static UNORM8: [u32; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[x] = (x as f32 / 255.0).to_bits();
        x += 1;
    }
    table
};

/// The single that a normalised byte stands for, as bits.
#[inline(always)]
pub fn unorm8(x: u8) -> u32 {
    UNORM8[x as usize]
}

/// Up to four bytes, little-endian.
fn from_little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |x, &b| x << 8 | b as u32)
}

/// `x · max` clamped to 0..=max, to nearest even; NaN is 0.
fn unorm(x: f32, max: u32) -> u32 {
    // In double, so that the product is exact and rounds once; the cast clamps below and takes NaN to 0.
    ((x as f64 * max as f64).round_ties_even() as u32).min(max)
}

fn snorm(x: f32, max: i32) -> i32 {
    ((x as f64 * max as f64).round_ties_even() as i32).clamp(-max - 1, max)
}

impl ChannelType {
    fn load(self, x: u32) -> u32 {
        use ChannelType::*;
        match self {
            Unorm8 => UNORM8[(x & 255) as usize],
            Unorm16 => (x as f32 / 65535.0).to_bits(),
            Snorm8 => (x as i8 as f32 / 127.0).max(-1.0).to_bits(),
            Snorm16 => (x as i16 as f32 / 32767.0).max(-1.0).to_bits(),
            Sint8 => x as i8 as u32,
            Sint16 => x as i16 as u32,
            Half => f32::from(Hf(x as u16)).to_bits(),
            Uint8 | Uint16 | Sint32 | Uint32 | Float => x,
            // Read as fields.
            Unorm565 | Unorm555 | Unorm101010 | Unorm1010102 => x,
        }
    }

    fn store(self, x: u32) -> u32 {
        use ChannelType::*;
        let f = f32::from_bits(x);
        match self {
            Unorm8 => unorm(f, 255),
            Unorm16 => unorm(f, 65535),
            Snorm8 => snorm(f, 127) as u32,
            Snorm16 => snorm(f, 32767) as u32,
            Sint8 => (x as i32).clamp(-128, 127) as u32,
            Sint16 => (x as i32).clamp(-32768, 32767) as u32,
            Uint8 => x.min(255),
            Uint16 => x.min(65535),
            Half => f32_to_hf(f, Rounding::NearestEven).0 as u32,
            Sint32 | Uint32 | Float => x,
            // Written as fields.
            Unorm565 | Unorm555 | Unorm101010 | Unorm1010102 => x,
        }
    }
}

/// The linear value of an sRGB-encoded one in [0, 1].
fn from_srgb(x: f32) -> f32 {
    let x = x as f64;
    (if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }) as f32
}

/// The sRGB encoding of a linear value, clamped to [0, 1]; NaN is 0.
fn to_srgb(x: f32) -> f32 {
    let x = if x > 0.0 { (x as f64).min(1.0) } else { 0.0 };
    (if x < 0.0031308 { x * 12.92 } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }) as f32
}
